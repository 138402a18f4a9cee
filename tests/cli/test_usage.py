# SPDX-License-Identifier: MIT
"""Arguments, help and version."""
import math
import os
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

    # The strain field of B4.10 on two slices, which meet at the only node.
    def test_check_tells_the_slices_nearest_to_the_bounds_of_expansions(self):
        self.write("field.yaml", """
sinew: 1
title: a strain field
gravity: 0
robot:
  rod:
    on: world
    rod:
      length: 1 m
      section: {stiffness: {bend_z: 1 N*m^2}}
      strain: {twist: 0.5 + sin(3*x), bend_y: 2*cos(2*x), bend_z: 1 + x^2, stretch: 0.1*x, shear_y: 0.05*x,
        shear_z: -0.1*cos(x)}
      nodes: 1
study: [static: ]
""")
        rod = self.succeeds("check", "field.yaml", "--curvature", "5", "--json").json["runs"][0]["robot"]["rod"]["rod"]
        turn, norm = rod["slice_turn"], rod["slice_norm"]
        self.assertAlmostEqual(turn["bound"], 3.14159265, 7)

        def integral(stretched, a, b, n=2000):  # midpoints
            total = 0
            for k in range(n):
                x = a + (b - a) * (k + 0.5) / n
                kappa = (0.5 + math.sin(3 * x), 2 * math.cos(2 * x), 1 + x * x)
                eps = (1 + 0.1 * x, 0.05 * x, -0.1 * math.cos(x))
                curved = sum(u * u for u in kappa)
                total += math.sqrt(2 * curved + sum(u * u for u in eps) if stretched else curved) * (b - a) / n
            return total

        self.assertAlmostEqual(integral(False, 0, 1), 2.215517, 5)  # (ref)
        self.assertAlmostEqual(integral(True, 0, 1), 3.306714, 5)
        self.assertAlmostEqual(turn["largest"], max(integral(False, 0, 0.5), integral(False, 0.5, 1)), 6)
        self.assertAlmostEqual(norm["largest"], max(integral(True, 0, 0.5), integral(True, 0.5, 1)), 6)
        self.assertAlmostEqual(rod["slice_length"]["bound"], 0.3627599, 6)
        self.assertAlmostEqual(rod["slice_length_by_norm"], 0.2556592, 6)
        self.assertAlmostEqual(rod["slice_length"]["to"] - rod["slice_length"]["from"], 0.5, 12)
        # one Chebyshev grid: the end pose of B4.10
        grid = self.succeeds("check", "field.yaml", "--grid", "21", "--json").json["runs"][0]["grids"]["rod"]
        for got, want in zip(grid["tip"], (0.612660783621, 0.619213270823, -0.379581072545)):
            self.assertAlmostEqual(got, want, 11)
        self.assertEqual(grid["pieces"], 1)
        self.assertTrue(1e-4 < grid["difference"] < 1e-1 and grid["drift"] < 1e-12)  # Magnus on two slices
        self.assertIn("1 piece, tip differs", self.succeeds("check", "field.yaml", "--grid", "9").out)
        self.assertIn("--grid", self.fails(2, "check", "field.yaml", "--grid", "2").err)
        self.assertIn("whole number", self.fails(2, "check", "field.yaml", "--grid", "4.5").err)
        text = self.succeeds("check", "field.yaml", "--curvature", "5", "--set", "rod.rod.integrator=fer 4").out
        self.assertIn("of 1.72 rad (slice from ", text)
        self.assertIn("beyond both bounds: give more nodes", text)
        self.assertIn("number", self.fails(2, "check", "field.yaml", "--curvature", "sharp").err)

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
        reader, writer = os.pipe()
        os.close(reader)  # before the start: the command may have written everything within a few milliseconds
        result = subprocess.run([harness.SINEW, "help"], stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)

    def test_a_full_disk_behind_standard_output_is_said(self):
        with open("/dev/full", "w") as full:
            result = self.sinew("help", stdout=full)
        self.assertEqual(result.code, 1)
        self.assertIn("No space left", result.err)


if __name__ == "__main__":
    harness.main()
