# SPDX-License-Identifier: MIT
"""The gallery: a page and a card for an example, and a message for one that takes too long."""
import os
import re
import subprocess
import sys
import unittest

import harness


@unittest.skipUnless(harness.has_viewer(), "built without Node: there is no viewer")
class Gallery(harness.Case):
    def gallery(self, *args):
        # without a browser, whose pictures take seconds: those are tested with the viewer
        path = {**os.environ, "PATH": "/nowhere"}
        done = subprocess.run([sys.executable, harness.SOURCE / "tools/gallery.py", harness.SINEW, "--out", self.folder, *args], env=path,
                              capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout, (self.folder / "index.html").read_text()

    def test_a_card_has_page_picture_and_source(self):
        said, index = self.gallery("--only", "rods/first")
        self.assertRegex(said, r"\[1/1\] rods/first: [\d.]+ s, 1 frame")
        self.assertIn("A soft arm with a weight at its tip", index)
        links = re.findall(r'(?:href|src)="([^"#]+)"', index)
        self.assertEqual(len(links), 3)
        for link in links:
            self.assertTrue((self.folder / link).exists(), link)
        before = (self.folder / "rods_first.html").stat().st_mtime_ns
        self.gallery("--only", "rods/first")
        self.assertEqual((self.folder / "rods_first.html").stat().st_mtime_ns, before)

    def test_examples_that_take_too_long_are_left_out_and_named(self):
        said, index = self.gallery("--only", "rods/flying_rod", "--limit", "0.05")
        self.assertIn("left out: takes longer than 0.05 s", said)
        self.assertIn("rods/flying_rod.yaml: takes longer than 0.05 s", index)


if __name__ == "__main__":
    harness.main()
