# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the scripts that help to review the prose: which texts and numbers they
find.
"""

import unittest

import compare_numbers
import draw_prose

PAGE = """# A heading that is not prose at all

First paragraph, which has
two lines.

| a | table |
| - | ----- |

- An item
  of two lines.
- Another item:

```
code that is not prose
```
Last paragraph.
"""


class DrawTest(unittest.TestCase):
    def test_paragraphs_and_items_are_found_with_their_lines(self):
        self.assertEqual(
            [(text.line, text.text)
             for text in draw_prose.find_paragraphs("a.md", PAGE)],
            [(3, "First paragraph, which has\ntwo lines."),
             (9, "- An item\n  of two lines."), (11, "- Another item:"),
             (16, "Last paragraph.")])

    def test_comments_of_c_are_found_outside_of_strings(self):
        found = draw_prose.find_c_comments(
            "a.c", 'x = "/* no */";\n/* One\n * two */ y;\n')
        self.assertEqual([(text.line, text.text) for text in found],
                         [(2, "One\ntwo")])

    def test_comments_and_docstrings_of_python_are_found(self):
        found = draw_prose.find_python_comments(
            "a.py", '"""Doc."""\n# one\n# two\nx = "# no"\n\n# three\n')
        self.assertEqual([(text.line, text.text) for text in found],
                         [(1, "Doc."), (2, "one\ntwo"), (6, "three")])

    def test_strings_with_data_are_no_docstrings(self):
        found = draw_prose.find_python_comments(
            "a.py", 'x = """data"""\nf("""data""")\n\n\n'
            'def g():\n    # one\n    """Doc."""\n')
        self.assertEqual([(text.line, text.text) for text in found],
                         [(7, "Doc."), (6, "one")])

    def test_a_draw_depends_on_the_seed_alone(self):
        texts = draw_prose.read_paragraphs()
        self.assertEqual(draw_prose.draw(texts, 3, 20),
                         draw_prose.draw(texts, 3, 20))
        self.assertNotEqual(draw_prose.draw(texts, 3, 20),
                            draw_prose.draw(texts, 4, 20))


class NumbersTest(unittest.TestCase):
    def test_numbers_are_found_in_each_notation(self):
        self.assertEqual(
            compare_numbers.find_numbers("1,500 of 2.5 Mbit/s, two 802.11b, "
                                         "6 of H.264 in 30 s"),
            {"1500", "2.5", "2", "6", "30", "802.11"})

    def test_a_number_may_move_and_must_not_get_lost(self):
        before = {"a.md": "It takes 20 ms.\n12 of 15 arrive.", "b.md": ""}
        after = {"a.md": "12 arrive.", "b.md": "Of twenty, 20 ms."}
        self.assertEqual(compare_numbers.find_missing(before, after),
                         {"15": ["a.md:2: 12 of 15 arrive."]})


if __name__ == "__main__":
    unittest.main()
