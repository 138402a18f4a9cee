# SPDX-License-Identifier: MIT
"""Tutorials and recipes: their models hold what they expect, their commands work and say what the pages show."""
import re
import sys

import harness

sys.path.insert(0, str(harness.SOURCE / "tools"))
import pages  # noqa: E402

DOCS = harness.SOURCE / "docs"
PAGES = [DOCS / "start.md", *sorted((DOCS / "tutorials").glob("*.md")), *sorted((DOCS / "howto").glob("*.md"))]
# parts of the command that may be left out of a build
PARTS = ("without its viewer", "without cairo", "without NLopt", "without libwebsockets")


class Pages(harness.Case):
    def call(self, words):
        result = self.sinew(*(w for w in words if w != "--open"))
        if not any(part in result.err for part in PARTS):
            self.assertEqual(result.code, 0, result)
        return result.out + result.err

    def test_models_and_commands(self):
        for page in harness.few(PAGES, 4):
            with self.subTest(page=page.name):
                folder = self.folder / page.stem
                folder.mkdir(exist_ok=True)
                self.folder, above = folder, self.folder
                self.assertEqual(list(pages.play(page, folder, self.call)), [])
                self.folder = above

    def test_figures_of_a_page_are_drawn_by_its_commands(self):
        for page in PAGES:
            drawn = {word for kind, mark, text, _ in pages.blocks(page) if kind == "sh" and not mark for word in text.split()}
            for target in re.findall(r"!\[[^\]]*\]\(([^)]+\.svg)\)", page.read_text()):
                with self.subTest(page=page.name, figure=target):
                    self.assertTrue((page.parent / target).exists())
                    self.assertIn(target.rsplit("/", 1)[1], drawn)

    def test_the_comparison_of_output_notices_a_wrong_number_and_a_wrong_word(self):
        said = "  tip.x  0.1850857\n  tip.z  -0.2189810\n"
        self.assertIsNone(pages.missing_line("tip.x 0.1851\n..\ntip.z -0.219\n", said))
        self.assertEqual(pages.missing_line("tip.x 0.19\n", said), "tip.x 0.19")
        self.assertEqual(pages.missing_line("tip.y 0.1851\n", said), "tip.y 0.1851")
        self.assertEqual(pages.missing_line("tip.z -0.219\ntip.x 0.1851\n", said), "tip.x 0.1851")


if __name__ == "__main__":
    harness.main()
