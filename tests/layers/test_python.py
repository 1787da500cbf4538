# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the imports between the modules of the package pipelines/wirelesslab.
Each directory of the package is a topic. pipelines/README.md lists the topics
in an order in which no topic imports a later one. The imports between modules
must not form a cycle.
"""

import ast
import graphlib
import unittest

from wirelesslab import paths

# The topics of the package in the order of their dependencies: a topic may
# import only modules of itself and of earlier topics. A topic is a directory
# of the package. "" stands for the modules that are directly in the package.
TOPICS = ("", "testbed", "streams", "workloads", "lab", "report", "commands")
NAME = paths.PACKAGE.name


def name_of(path):
    return ".".join(path.relative_to(paths.PIPELINES).with_suffix("").parts)


def imports(path, modules):
    """Yields the names of the modules in `modules` that the file `path`
    imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in modules or node.module in modules:
                    yield whole if whole in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names
                        if alias.name in modules)


def topic(name):
    parts = name.split(".")
    return parts[1] if len(parts) == 3 else ""


class ImportsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = {name_of(path): path for path in paths.PACKAGE.rglob("*.py")
                 if not path.name.startswith("__")}
        cls.graph = {name: set(imports(path, files)) - {name}
                     for name, path in files.items()}

    def test_every_topic_is_known_and_used(self):
        self.assertEqual({topic(name) for name in self.graph}, set(TOPICS))
        self.assertIn(f"{NAME}.testbed.testbed",
                      self.graph[f"{NAME}.streams.placement"])

    def test_no_topic_imports_a_later_one(self):
        for name, imported in self.graph.items():
            for other in imported:
                with self.subTest(name=name, imports=other):
                    self.assertLessEqual(TOPICS.index(topic(other)),
                                         TOPICS.index(topic(name)))

    def test_no_modules_import_each_other_in_a_circle(self):
        graphlib.TopologicalSorter(self.graph).prepare()


if __name__ == "__main__":
    unittest.main()
