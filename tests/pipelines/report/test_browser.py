# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests a report of the lab in a real browser. The browser shows the report at
three widths, in light and dark mode, and prints the report to a PDF file. The
runs in the report are few and are computed in virtual time, so the test needs
only seconds.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import zlib

import chromium

SOURCE = pathlib.Path(os.environ["WIRELESS_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WIRELESS_BUILD_DIR"])
LAB = SOURCE / "pipelines" / "lab"
SECONDS_TO_WAIT = 60
WIDTHS = (390, 800, 1400)
PLOTS = 10
# A matrix file, which describes the runs in the report. The second protocol
# loses frames in its short queue. The name of this protocol is long, and its
# pipeline contains a long word. Neither the name nor the word may make the
# page of the report wider than the window.
MATRIX = """
[matrix]
protocols = mine second-protocol-with-a-name-that-is-long
seeds = 1 2
seconds = 1
[link radio]
title = 802.11b with an oven
properties = profile=80211b
interference = none 0-1
[protocol mine]
computed = yes
sender = filesrc location={clip} ! mpegstat location={sent} ! rfc2250pay
receiver = rfc2250depay ! mpegstat location={received} ! fakesink sync=false async=false
[protocol second-protocol-with-a-name-that-is-long]
computed = yes
link = txqueuelen=3
sender = filesrc location={clip} ! mpegstat location={sent} ! identity name=an_element_whose_name_is_longer_than_the_screen_of_a_phone_is_wide ! rfc2250pay mtu=500
receiver = rfc2250depay ! mpegstat location={received} ! fakesink sync=false async=false
"""  # noqa: E501

# JavaScript that returns the elements of a page that extend beyond the right
# edge of the window. Elements inside an element that scrolls or clips its
# content are not returned.
OVERFLOW = """
(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = element => {
    for (; element; element = element.parentElement)
      if (['auto', 'scroll', 'hidden'].includes(
          getComputedStyle(element).overflowX)) return true;
    return false;
  };
  const found = [...document.body.querySelectorAll('*')].filter(
    element => element.getBoundingClientRect().right > width + 1
      && !scrolls(element)).map(element => element.outerHTML.slice(0, 80));
  if (document.documentElement.scrollWidth > width)
    found.push('the page itself');
  return found;
})()
"""
PICTURES = """
[...document.images].map(image => image.complete && image.naturalWidth > 0)
"""
# JavaScript that returns the relative luminance of the text and that of the
# background, as WCAG 2 defines it.
CONTRAST = """
(() => {
  const luminance = color => {
    const [r, g, b] = color.match(/[0-9.]+/g).map(
      part => part / 255).map(part => part <= 0.03928 ? part / 12.92
        : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.body);
  return [luminance(style.color), luminance(style.backgroundColor)];
})()
"""
# JavaScript that opens all parts of the page that can be folded, so that their
# contents are checked, too.
UNFOLD = """
document.querySelectorAll('details').forEach(one => one.open = true)
"""


def drawn_texts(pdf):
    """Returns the number of operators (Tj and TJ) that draw text in the PDF
    data `pdf`.
    """
    found = 0
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S):
        try:
            found += len(re.findall(rb"\bT[jJ]\b", zlib.decompress(stream)))
        except zlib.error:
            # This PDF stream does not contain zlib-compressed text. For
            # example, it may be a picture. It is skipped.
            pass
    return found


@unittest.skipUnless(chromium.program(), "Chromium is not installed")
class BrowserTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not (BUILD / "gst" / "wirelesslink").is_dir():
            raise unittest.SkipTest("wirelesslink is not built")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        cls.page = cls.directory / "out" / "report.html"
        matrix = cls.directory / "matrix.ini"
        matrix.write_text(MATRIX)
        for words in (("grid", matrix, "--plain", "--output",
                       cls.directory / "out"),
                      ("report", cls.directory / "out")):
            done = subprocess.run(
                [LAB, *words, "--build", BUILD], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=SECONDS_TO_WAIT)
            if "needs the Python module" in done.stdout:
                raise unittest.SkipTest(done.stdout)
            if done.returncode:
                raise AssertionError(done.stdout)
        cls.browser = cls.enterClassContext(chromium.Browser())

    def check(self, width, is_dark):
        self.browser.show(self.page, width, is_dark)
        self.assertEqual(self.browser.evaluate(OVERFLOW), [])
        self.browser.evaluate(UNFOLD)
        self.assertEqual(self.browser.evaluate(OVERFLOW), [])
        pictures = self.browser.evaluate(PICTURES)
        self.assertGreaterEqual(len(pictures), 2 * PLOTS)
        self.assertTrue(all(pictures))
        self.assertEqual(self.browser.errors(), [])
        ink, paper = self.browser.evaluate(CONTRAST)
        self.assertEqual(ink > paper, is_dark)
        # The contrast between text and background must be at least 7, which is
        # the minimum of level AAA in WCAG 2.
        self.assertGreater((max(ink, paper) + 0.05) / (min(ink, paper) + 0.05),
                           7)

    def test_the_report_fits_every_width_in_light_and_dark(self):
        for width in WIDTHS:
            for is_dark in (False, True):
                with self.subTest(width=width, dark=is_dark):
                    self.check(width, is_dark)

    def test_the_first_thing_of_a_group_is_its_findings_and_its_chart(self):
        self.browser.show(self.page, 1400)
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('section h2[id]')].map("
            "head => [head.nextElementSibling.className, head.nextElementSib"
            "ling.nextElementSibling.className])"), [["findings", "chart"]] * 2)
        # Each bar of the chart shows a percentage. The length of the bar in %
        # must equal the number beside it.
        for number, share in self.browser.evaluate(
                "[...document.querySelectorAll('.chart .row:not(.axis)')].map("
                "row => [row.querySelector('.number').textContent, "
                "row.querySelector('.value').getBoundingClientRect().width / "
                "row.querySelector('.bar').clientWidth])"):
            self.assertAlmostEqual(float(number.split()[0]), 100 * share,
                                   delta=0.5)
        self.assertLessEqual(self.browser.evaluate(
            "Math.max(...[...document.querySelectorAll('table.short')].map("
            "table => table.querySelectorAll('th').length))"), 8)

    def test_the_text_of_plots_follows_the_choice_of_the_reader(self):
        plots = list((self.page.parent / "report").glob("*.svg"))
        self.assertGreaterEqual(len(plots), 2 * PLOTS)
        for path in plots:
            text = path.read_text()
            self.assertIn("@media (prefers-color-scheme: dark)", text)
            self.assertIn("var(--ink)", text)
            # A plot is shown in light and in dark mode. Therefore its text must
            # not have a fixed dark colour, and no white rectangle may cover the
            # background of the page.
            self.assertNotIn("fill: #1c2530", text)
            self.assertNotIn("fill: #ffffff", text)

    def test_the_report_can_be_printed(self):
        self.browser.show(self.page, 800)
        pdf = self.browser.pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(drawn_texts(pdf), 100)

    def test_mistakes_are_found(self):
        """The other tests look for certain mistakes in the report. This test
        makes pages with these mistakes, and checks that each mistake is found.
        """
        page = self.directory / "bad.html"
        page.write_text(
            "<body><p style='width: 2000px'>wide</p><img src='none.png'>"
            "<script>nothing.such()</script></body>")
        self.browser.show(page, 390)
        self.assertIn("the page itself", self.browser.evaluate(OVERFLOW))
        self.assertEqual(self.browser.evaluate(PICTURES), [False])
        self.assertRegex(" ".join(self.browser.errors()),
                         "(?s)(FILE_NOT_FOUND.*Uncaught|Uncaught.*"
                         "FILE_NOT_FOUND)")
        page.write_text("<body></body>")
        self.browser.show(page, 390)
        self.assertEqual(drawn_texts(self.browser.pdf()), 0)


if __name__ == "__main__":
    unittest.main()
