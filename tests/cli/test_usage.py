# SPDX-License-Identifier: MIT
"""Arguments, help and version."""
import subprocess

import harness


class Usage(harness.Case):
    def test_help_lists_every_command(self):
        text = self.succeeds("--help").out
        for name in ("run", "verify", "check", "show"):
            self.assertIn(f"\n  {name} ", text)
        self.assertEqual(text, self.succeeds("help").out)
        self.assertEqual(text, self.succeeds("-h").out)

    def test_help_of_a_command_is_the_same_both_ways(self):
        for name in ("run", "verify", "check", "show"):
            text = self.succeeds("help", name).out
            self.assertTrue(text.startswith(f"usage: sinew {name}"))
            self.assertEqual(text, self.succeeds(name, "--help").out)

    def test_version_names_compiler_and_libraries(self):
        text = self.succeeds("--version").out
        self.assertRegex(text, r"^sinew \d+\.\d+\.\d+")
        for word in ("compiler", "HDF5", "libfyaml", "OpenBLAS", "SUNDIALS"):
            self.assertIn(word, text)
        self.assertIn("version", self.succeeds("--version", "--json").json)

    def test_libraries_of_few_commands_are_not_loaded_at_start(self):
        listed = subprocess.run(["ldd", harness.SINEW], capture_output=True, text=True)
        if listed.returncode != 0:
            self.skipTest("ldd does not read this program")
        for name in ("cairo", "websockets", "curl", "X11"):
            self.assertNotIn(f"lib{name}", listed.stdout)

    def test_wrong_usage_is_exit_2_and_says_what_to_do(self):
        for args, words in (
            ((), "usage"),
            (("rnu",), "did you mean 'run'"),
            (("frobnicate",), "unknown command 'frobnicate'"),
            (("help", "shw"), "did you mean 'show'"),
            (("run",), "FILE is missing"),
            (("run", "a.yaml", "b.yaml"), "unexpected 'b.yaml'"),
            (("run", "--stt", "x"), "did you mean '--set'"),
            (("run", "--sett=x", "a.yaml"), "did you mean '--set'"),
            (("run", "-x", "a.yaml"), "unknown option '-x'"),
            (("run", "a.yaml", "-o"), "'-o' needs a value"),
            (("run", "a.yaml", "--set"), "'--set' needs a value"),
            (("run", "--json=1", "a.yaml"), "takes no value"),
        ):
            with self.subTest(args=args):
                result = self.fails(2, *args)
                self.assertIn(words, result.err)
                self.assertEqual(result.out, "")

    def test_json_asks_for_an_object_even_when_usage_is_wrong(self):
        reply = self.fails(2, "run", "--json", "--nope").json
        self.assertEqual(reply["exit"], 2)
        self.assertIn("--nope", reply["error"]["text"])

    def test_two_dashes_end_the_options(self):
        self.write("--set", harness.ROLLED)
        self.succeeds("check", "--", "--set")

    def test_values_attach_with_equals_or_follow(self):
        self.write("a.yaml", harness.ROLLED)
        for args in (("--output=x.h5",), ("--output", "x.h5"), ("-o", "x.h5"), ("-ox.h5",), ("-qox.h5",)):
            with self.subTest(args=args):
                self.succeeds("run", "a.yaml", *args)
                self.assertIn("x.h5", self.files())
                (self.folder / "x.h5").unlink()

    def test_a_closed_pipe_is_an_error_not_a_signal(self):
        process = subprocess.Popen([harness.SINEW, "help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.close()
        self.assertEqual(process.wait(), 1)
        self.assertIn("standard output", process.stderr.read())
        process.stderr.close()

    def test_a_full_disk_behind_standard_output_is_said(self):
        with open("/dev/full", "w") as full:
            result = self.sinew("help", stdout=full)
        self.assertEqual(result.code, 1)
        self.assertIn("No space left", result.err)


if __name__ == "__main__":
    harness.main()
