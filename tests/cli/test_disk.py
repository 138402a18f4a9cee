# SPDX-License-Identifier: MIT
"""Results that cannot be written are reported, and no incomplete file is left."""
import os
import subprocess
import unittest

import harness


class Disk(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("arm.yaml", harness.ROLLED)

    def test_places_that_cannot_be_written(self):
        os.mkdir(self.folder / "folder")
        for output in ("nowhere/out.h5", "arm.yaml/out.h5", "folder", "/proc/out.h5", "/dev/full"):
            with self.subTest(output=output):
                result = self.sinew("run", "arm.yaml", "-o", output)
                self.assertEqual(result.code, 1, result)
                self.assertIn(output, result.err)
        self.assertEqual(self.files(), ["arm.yaml", "folder"])
        self.assertEqual(os.listdir(self.folder / "folder"), [])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_permission(self):
        os.mkdir(self.folder / "closed", 0o500)
        result = self.fails(1, "run", "arm.yaml", "-o", "closed/out.h5")
        self.assertIn("Permission denied", result.err)

    def test_files_of_a_model_are_never_overwritten(self):
        self.write("base.yaml", 'parameters: {C: "1 N*m*table(\\"moment.csv\\", 2)"}\n')
        self.write("moment.csv", "0,1\n1,1\n")
        os.symlink("moment.csv", self.folder / "link.h5")
        self.write("top.yaml", harness.ROLLED.replace("sinew: 1", "sinew: 1\ninclude: [base.yaml]").replace("parameters: {C: 1 N*m}\n", ""))
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        for output in ("top.yaml", "base.yaml", "moment.csv", "link.h5"):
            result = self.fails(2, "run", "top.yaml", "-o", output)
            self.assertIn("overwrite", result.err)
        self.assertEqual(before, {name: (self.folder / name).read_bytes() for name in self.files()})

    def test_a_disk_that_fills_up_ends_the_run_and_keeps_what_fits(self):
        self.write("long.yaml", harness.LONG)
        result = self.fails(1, "run", "long.yaml", preexec_fn=harness.limit_file_size(600_000))
        self.assertIn("long.h5", result.err)
        self.assertRegex(result.err, "File too large|No space left")
        if "long.h5" in self.files():
            self.succeeds("show", "long.h5")
        self.assertFalse([name for name in self.files() if "partial" in name])

    def test_a_disk_full_from_the_start_leaves_an_older_file_alone(self):
        self.succeeds("run", "arm.yaml", "-o", "out.h5")
        before = (self.folder / "out.h5").read_bytes()
        self.fails(1, "run", "arm.yaml", "-o", "out.h5", preexec_fn=harness.limit_file_size(100))
        self.assertEqual((self.folder / "out.h5").read_bytes(), before)
        self.assertEqual(self.files(), ["arm.yaml", "out.h5"])

    def test_pages_figures_and_exports_say_why_they_cannot_be_written(self):
        self.succeeds("run", "arm.yaml")
        before = self.files()
        for args in (("view", "arm.h5", "-o", "v.html"), ("export", "arm.h5", "--run", "text", "-o", "e.glb"), ("export", "arm.h5", "--run", "text", "-o", "e.gltf"),
                     ("export", "arm.h5", "--run", "text", "-o", "e.pvd"), ("export", "arm.h5", "--run", "text", "-o", "e.csv"), ("plot", "arm.h5", "--shape", "-o", "p.svg"),
                     ("plot", "arm.h5", "--shape", "-o", "p.png"), ("plot", "arm.h5", "--shape", "-o", "p.pdf")):
            if args[0] == "view" and not harness.has_viewer() or args[-1][-3:] in ("png", "pdf") and not harness.has_cairo():
                continue
            with self.subTest(args=args):
                result = self.fails(1, *args, preexec_fn=harness.limit_file_size(10))
                self.assertRegex(result.err, f"^{args[-1][0]}[./].*: cannot be written: (File too large|No space left)", "name and reason")
                self.assertEqual(self.files(), before)

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_a_small_file_system(self):
        small = self.folder / "small"
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", small], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        self.write("long.yaml", harness.LONG)
        result = self.fails(1, "run", "long.yaml", "-o", "small/out.h5")
        self.assertIn("No space left", result.err)
        if (small / "out.h5").exists():
            self.succeeds("show", "small/out.h5")
        self.succeeds("run", "arm.yaml")
        self.addCleanup((small / "rest").unlink, missing_ok=True)
        try:
            with open(small / "rest", "wb", buffering=0) as rest:
                while rest.write(bytes(4096)):
                    pass
        except OSError:
            pass  # full
        if harness.has_viewer():
            self.assertRegex(self.fails(1, "view", "arm.h5", "-o", "small/v.html").err, "^small/v.html: cannot be written: No space left.*the disk is full")

    def test_results_that_cannot_be_printed(self):
        self.succeeds("run", "arm.yaml")
        for args in (("run", "arm.yaml"), ("verify", "arm.yaml"), ("check", "arm.yaml"), ("show", "arm.h5"),
                     ("show", "arm.h5", "--run", "text", "--csv"), ("show", "arm.h5", "--json")):
            with self.subTest(args=args), open("/dev/full", "w") as full:
                result = self.sinew(*args, stdout=full)
                self.assertEqual(result.code, 1, result)
                self.assertIn("No space left", result.err)

    def test_a_closed_standard_output_does_not_end_up_in_the_results(self):
        process = subprocess.run(f"'{harness.SINEW}' run arm.yaml >&-", shell=True, cwd=self.folder,
                                 stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, 1, process.stderr)
        self.succeeds("show", "arm.h5")


if __name__ == "__main__":
    harness.main()
