# SPDX-License-Identifier: MIT
"""sinew run, check and show on good models."""
import csv
import math
import os
import pty
import select
import subprocess

import harness

EI = math.pi / 4


def rolled_tip(torque):
    kappa = torque / EI
    return math.sin(kappa) / kappa


class Run(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("arm.yaml", harness.ROLLED)

    def test_results_land_beside_under_the_name_of_the_model(self):
        os.mkdir(self.folder / "models")
        self.write("models/finger.v2.yaml", harness.ROLLED)
        text = self.succeeds("run", "models/finger.v2.yaml").out
        self.assertIn("results in finger.v2.h5", text)
        self.assertIn("finger.v2.h5", self.files())

    def test_summary_shows_both_runs_and_their_last_values(self):
        result = self.succeeds("run", "arm.yaml")
        for word in ("text", "more", "tip.x", "iterations", "residual", "condition", "results in arm.h5"):
            self.assertIn(word, result.out)
        self.assertEqual(result.err, "", "nothing but results when piped")

    def test_many_runs_are_summed_up_a_line_each(self):
        self.write("many.yaml", "sinew: 1\ninclude: arm.yaml\nruns: {many: {C: {each: [1, 2, 3, 4, 5, 6, 7]}}}\n")
        lines = self.succeeds("run", "many.yaml").out
        found = [line.split() for line in lines.splitlines() if line.startswith("  many.") and "done" not in line]
        self.assertEqual([line[0] for line in found], [f"many.{k}" for k in range(1, 8)])
        for line, torque in zip(found, range(1, 8)):
            self.assertAlmostEqual(float(line[1]), rolled_tip(torque), 8)

    def test_json_holds_what_the_summary_shows(self):
        reply = self.succeeds("run", "arm.yaml", "--json").json
        self.assertIsNone(reply["error"])
        self.assertEqual([r["run"] for r in reply["runs"]], ["text", "more"])
        for run, torque in zip(reply["runs"], (1, 2)):
            self.assertEqual(run["status"], "success")
            self.assertAlmostEqual(run["last"]["tip.x"], rolled_tip(torque), 9)
            # Legendre polynomials make the stiffness diagonal, and a follower torque adds nothing to it
            self.assertAlmostEqual(run["worst_condition"], 1, 12)

    SAG = ("sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 1070 kg/m^3}}\n"
           "robot: {arm: {on: world, rod: {length: 30 cm, section: {circle: {radius: 1 cm}}, material: m, strain: STRAIN}}}\n"
           "study: [static:]\nprobes: {tip: {position: arm.tip}}\n")

    def test_a_strain_basis_too_small_is_told_with_rod_strain_and_what_to_write(self):
        self.write("sag.yaml", self.SAG.replace("STRAIN", "kirchhoff legendre 1"))
        run = self.succeeds("run", "sag.yaml")
        for word in ("rod 'arm'", "bend_y", "of the rod's length", "write legendre 3 (strain:)"):
            self.assertIn(word, run.err)
        self.assertNotIn("nodes", run.err)
        reply = self.succeeds("run", "sag.yaml", "--json", "-o", "again.h5").json
        more = self.succeeds("run", "sag.yaml", "--set", "arm.rod.strain='kirchhoff legendre 8'", "--json", "-o", "more.h5")
        self.assertEqual(more.err, "")
        a, b = (r["runs"][0]["last"] for r in (reply, more.json))
        true = math.dist([a[f"tip.{c}"] for c in "xyz"], [b[f"tip.{c}"] for c in "xyz"]) / 0.3
        # the largest over all nodes, which need not be that of the tip
        self.assertAlmostEqual(reply["runs"][0]["worst_truncation"] / true, 1, delta=0.2)
        self.assertIn("basis", self.succeeds("show", "sag.h5").out)
        shown = self.succeeds("show", "sag.h5", "--json").json["runs"][0]["errors"]
        self.assertEqual(shown["basis"], reply["runs"][0]["worst_truncation"])

    def test_frequencies_that_a_strain_basis_gets_wrong_are_told_with_their_modes(self):
        text = self.SAG.replace("study: [static:]", "gravity: [0, 0, -0.1]\nstudy: [static:, modes: {count: 4}]")
        self.write("swing.yaml", text.replace("STRAIN", "{bend_y: legendre 2, bend_z: legendre 8}"))
        run = self.succeeds("run", "swing.yaml", "--json")
        modes = run.json["runs"][0]["modes"]
        more = self.succeeds("run", "swing.yaml", "--set", "arm.rod.strain={bend_y: legendre 12, bend_z: legendre 12}", "--json", "-o", "more.h5")
        self.assertEqual(more.err, "")
        off = []
        for a, b in zip(modes, more.json["runs"][0]["modes"]):
            true = 1 - b["frequency"] / a["frequency"]
            self.assertAlmostEqual(a["basis"], true, delta=0.1 * abs(true) + 1e-4)  # nodes are placed to 1e-5
            if a["basis"] > 0.01:
                off.append(a["mode"])
        self.assertTrue(0 < len(off) < 4, off)
        for word in ("rod 'arm'", "bend_y", f"the frequency of mode {off[0]}", "of its value", "write legendre 4 (strain:)"):
            self.assertIn(word, run.err)
        self.assertNotIn("bend_z", run.err)
        worst = max(mode["basis"] for mode in modes)
        self.assertIn(f", frequencies {worst:.1e}", self.succeeds("show", "swing.h5").out)
        errors = self.succeeds("show", "swing.h5", "--json").json["runs"][0]["errors"]
        self.assertEqual(errors["frequencies"], worst)
        self.assertLess(errors["basis"], 0.01)  # of the equilibrium: frequencies are not included

    def test_check_prints_the_errors_of_nodes(self):
        self.write("sag.yaml", self.SAG.replace("STRAIN", "kirchhoff constant"))
        rod = self.succeeds("check", "sag.yaml", "--json").json["runs"][0]["robot"]["arm"]["rod"]
        self.assertLess(rod["geometry_error"], 1e-6)
        self.assertLess(rod["quadrature_error"], 1e-5)
        few = self.succeeds("check", "sag.yaml", "--set", "arm.rod.nodes=1")
        self.assertIn("geometry error", few.out)
        found = float(few.out.split("quadrature error ")[1].split()[0])
        self.assertGreater(found, 0.05)
        self.assertIn("integrate", self.succeeds("run", "sag.yaml", "--set", "arm.rod.nodes=1").err)

    def test_motion_keeps_the_condition_of_its_matrix(self):
        text = ("sinew: 1\nrobot: {a: {on: world, joint: revolute, axis: y, body: {mass: 1, com: [1, 0, 0]}}}\n"
                "study: [dynamic: {for: 0.1 s, step: 10 ms, scheme: SCHEME}]\n")
        for scheme, want in (("generalized-alpha", 1), ("conserving", 1), ("rk4", None)):  # of one unknown
            self.write("one.yaml", text.replace("SCHEME", scheme))
            self.assertEqual(self.succeeds("run", "one.yaml", "--json").json["runs"][0]["worst_condition"], want)

    def test_modes_are_a_table_with_what_moves_most(self):
        self.write("modes.yaml", "sinew: 1\ninclude: arm.yaml\ngravity: 0\nmaterials: {rubber: {density: 1000, damping: 1 ms}}\n"
                   "study: [modes: {name: ringing, count: 2}]\nloads: {roll: {when: off}}\nprobes: {f: frequency}\nruns: {main: {}}\nexpect: []\n")
        lines = [line.split() for line in self.succeeds("run", "modes.yaml", "--run", "main").out.splitlines()]
        head = lines.index(["ringing", "frequency", "damping", "basis", "moves", "most"])
        reply = self.succeeds("run", "modes.yaml", "--run", "main", "--json").json["runs"][0]
        self.assertEqual(reply["frames"], 3)
        self.assertEqual([mode["mode"] for mode in reply["modes"]], [1, 2])
        for line, mode in zip(lines[head + 1:], reply["modes"]):
            self.assertEqual([line[0], line[2], line[5]], [str(mode["mode"]), "Hz", "arm.bend_y"])
            self.assertAlmostEqual(float(line[4]) / mode["basis"], 1, delta=0.05)
            self.assertAlmostEqual(float(line[1]) / mode["frequency"], 1, 5)
            self.assertEqual((mode["step"], mode["null"], mode["moves"]), ("ringing", False, "arm.bend_y"))
            self.assertEqual(reply["last"][f"f.{mode['mode']}"], mode["frequency"])
            self.assertAlmostEqual(mode["damping"] / (1e-3 * math.pi * mode["frequency"]), 1, 9)
        self.assertIn("\n  ringing  the first 2 modes\n", self.succeeds("check", "modes.yaml").out)

    def test_each_run_ends_after_so_many_increments(self):
        self.write("long.yaml", harness.LONG + "runs: {near: {}, far: {path.step: 0.2 s}}\n")
        reply = self.succeeds("run", "long.yaml", "--increments", 20, "--json").json
        self.assertEqual([(r["status"], r["increments"]) for r in reply["runs"]], [("stopped on request", 20)] * 2)
        self.assertEqual((reply["exit"], reply["error"]), (0, None))
        shown = self.succeeds("show", "long.h5", "--json").json["runs"]
        self.assertEqual([r["state"] for r in shown], ["stopped"] * 2)
        # a run that ends before has no message
        self.assertEqual(self.succeeds("run", "arm.yaml", "--increments", 1000).err, "")
        for n in ("0", "-1", "x", "1e20"):
            self.assertIn("--increments is a number", self.fails(2, "run", "arm.yaml", "--increments", n).err)

    def test_quiet_says_nothing(self):
        result = self.succeeds("run", "arm.yaml", "--quiet")
        self.assertEqual((result.out, result.err), ("", ""))

    def test_set_overrides_and_run_chooses(self):
        reply = self.succeeds("run", "arm.yaml", "--json", "--run", "text", "--set", "C=0.5 N*m").json
        self.assertEqual([r["run"] for r in reply["runs"]], ["text"])
        self.assertAlmostEqual(reply["runs"][0]["last"]["tip.x"], rolled_tip(0.5), 9)

    def test_unknown_run_is_said_with_a_suggestion_and_nothing_is_written(self):
        result = self.fails(2, "run", "arm.yaml", "--run", "txet")
        self.assertIn("did you mean 'text'", result.err)
        self.assertEqual(self.files(), ["arm.yaml"])

    def test_a_stem_chooses_all_runs_of_an_each(self):
        self.write("sweep.yaml", harness.ROLLED.split("expect:")[0].replace(
            "runs: {text: {}, more: {C: 2 N*m}}", "runs: {load: {C: {each: [1, 2, 3]}}, other: {}}"))
        reply = self.succeeds("run", "sweep.yaml", "--json", "--run", "load").json
        self.assertEqual([r["run"] for r in reply["runs"]], ["load.1", "load.2", "load.3"])

    def test_results_never_overwrite_the_model(self):
        before = (self.folder / "arm.yaml").read_text()
        self.fails(2, "run", "arm.yaml", "-o", "arm.yaml")
        os.link(self.folder / "arm.yaml", self.folder / "same.h5")
        self.fails(2, "run", "arm.yaml", "-o", "same.h5")
        self.assertEqual((self.folder / "arm.yaml").read_text(), before)

    def test_results_made_otherwise_are_not_replaced_without_a_word(self):
        self.succeeds("run", "arm.yaml")
        self.succeeds("run", "arm.yaml")  # results of the same model, or of an edited one, are replaced
        before = (self.folder / "arm.h5").read_bytes()
        for args, why in ((("--set", "C=3 N*m"), "made without --set C=3 N\\*m"), (("--run", "more"), "run 'text', left out by --run")):
            self.assertRegex(self.fails(2, "run", "arm.yaml", *args).err, f"^arm.h5: contains results.*{why}.*-o NAME.h5.*--force")
            self.assertEqual((self.folder / "arm.h5").read_bytes(), before)
        self.assertEqual(self.succeeds("run", "arm.yaml", "-f", "--set", "C=3 N*m").err, "")
        self.assertIn("made with --set C=3 N*m", self.fails(2, "run", "arm.yaml").err)
        self.assertIn("arm.h5: warning: replaces results made with --set", self.succeeds("run", "arm.yaml", "-o", "arm.h5").err)
        (self.folder / "arm.h5").write_text("notes of mine")
        self.assertIn("cannot be read as results", self.fails(2, "run", "arm.yaml").err)
        self.assertEqual((self.folder / "arm.h5").read_text(), "notes of mine")

    def test_results_keep_the_overrides_of_their_runs(self):
        self.write("sweep.yaml", """\
            sinew: 1
            include: arm.yaml
            runs:
              text: {}
              more: {rolled.tolerance: 1e-9}
              by: {C: {each: [100 N*cm, 2 N*m]}, arm.rod.strain: {each: [{bend_y: legendre 2}, {bend_y: legendre 4}]}}
              at(k=1..2): {C: k*1 N*m}
            """)
        self.succeeds("run", "sweep.yaml", "--set", "gravity=[0, 0, 0]")
        rows = list(csv.DictReader(self.succeeds("show", "sweep.h5", "--at", "end", "--csv").out.splitlines()))
        self.assertEqual([r["C"] for r in rows], ["", "2", "1", "1", "2", "2", "1", "2"], "of the included file too")
        self.assertEqual([r["rolled.tolerance"] for r in rows], ["", "1.0000000000000001e-09"] + 6 * [""])
        self.assertEqual(rows[3]["arm.rod.strain"], "{bend_y: legendre 4}")
        self.assertNotIn("gravity", rows[0], "the same in all runs")
        for row in rows[2:]:
            self.assertAlmostEqual(float(row["tip.x"]), rolled_tip(float(row["C"])), 3 if "2}" in row["arm.rod.strain"] else 8)
        runs = self.succeeds("show", "sweep.h5", "--json").json["runs"]
        self.assertEqual(runs[2]["overrides"], {"C": 1, "arm.rod.strain": "{bend_y: legendre 2}", "gravity": "[0, 0, 0]"})
        self.assertIn("overrides: C: 100 N*cm, arm.rod.strain: {bend_y: legendre 2}", self.succeeds("show", "sweep.h5", "--run", "by.1").out)

    def test_two_runs_give_the_same_bits(self):
        a = self.succeeds("run", "arm.yaml", "--json").json
        b = self.succeeds("run", "arm.yaml", "--json").json
        self.assertEqual([r["last"] for r in a["runs"]], [r["last"] for r in b["runs"]])

    def test_progress_is_drawn_on_a_terminal_and_taken_away(self):
        self.write("long.yaml", harness.LONG)
        try:
            leader, follower = pty.openpty()
        except OSError:
            self.skipTest("no terminals here")
        process = subprocess.Popen([harness.SINEW, "run", "long.yaml"], cwd=self.folder, stderr=follower,
                                   stdout=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
        os.close(follower)
        shown = b""
        try:
            while b"left" not in shown and select.select([leader], [], [], 60)[0]:
                shown += os.read(leader, 4096)
        finally:
            process.terminate()
            while True:
                try:
                    more = os.read(leader, 4096)
                except OSError:
                    break
                if not more:
                    break
                shown += more
            process.wait()
            os.close(leader)
        self.assertIn(b"path", shown)
        self.assertRegex(shown, rb"\d+:\d\d left")
        self.assertIn(b"\r\x1b[K", shown)
        self.assertIn(b"stopped at t = ", shown)


class Check(harness.Case):
    def test_check_explains_the_model_and_writes_nothing(self):
        self.write("arm.yaml", harness.ROLLED)
        text = self.succeeds("check", "arm.yaml").out
        for word in ("rolled up by a tip torque", "3 degrees of freedom", "arm", "bend_y", "legendre", "roll", "tip",
                     "static"):
            self.assertIn(word, text)
        self.assertEqual(self.files(), ["arm.yaml"])

    def test_check_tells_the_story_of_a_study(self):
        study = """study:
  - static: {name: rolled}
  - change: {roll: off}
  - dynamic: {for: 1 s, step: 5 ms}
  - change: {name: cured, rubber.young: 200 MPa, gravity: [0, 0, -9.81]}
  - dynamic: {name: last, from: rolled, for: 2 s, until: t > 1 s, scheme: adaptive}
"""
        self.write("arm.yaml", harness.ROLLED.replace("study:\n  - static: {name: rolled}\n", study))
        text = self.succeeds("check", "arm.yaml").out
        for line in ("change  change of roll", "dynamic  motion for 1 s, generalized-alpha with rho 0.9, steps of 0.005 s",
                     "cured  change of rubber.young, gravity",
                     "last  motion for up to 2 s from where 'rolled' ended, adaptive, steps for an error of 1e-06"):
            self.assertIn("\n  " + line + "\n", text)

    def test_check_explains_to_programs(self):
        self.write("arm.yaml", harness.ROLLED)
        reply = self.succeeds("check", "arm.yaml", "--json").json
        run = reply["runs"][0]
        self.assertEqual(run["degrees_of_freedom"], 3)
        self.assertEqual(run["robot"]["arm"]["rod"]["length"], 1)
        self.assertEqual(run["robot"]["arm"]["rod"]["strain"]["bend_y"]["functions"], 3)


class Show(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml")

    def test_summary_of_a_file(self):
        text = self.succeeds("show", "arm.h5").out
        for word in ("text: finished", "more: finished", "rolled", "tip.x", "e.elastic"):
            self.assertIn(word, text)

    def test_csv_has_a_header_line_then_numbers(self):
        lines = self.succeeds("show", "arm.h5", "--run", "text", "--probe", "tip", "--csv").out.splitlines()
        rows = list(csv.DictReader(lines))
        self.assertEqual(lines[0], "t,tip.x,tip.y,tip.z")
        self.assertAlmostEqual(float(rows[-1]["tip.x"]), rolled_tip(1), 9)

    def test_one_component_of_a_probe(self):
        lines = self.succeeds("show", "arm.h5", "--run", "text", "--probe", "tip.x", "--csv").out.splitlines()
        self.assertEqual(lines[0], "t,tip.x")

    def test_runs_are_compared_a_line_each(self):
        lines = self.succeeds("show", "arm.h5", "--run", "text", "--probe", "tip.x,tip.z", "--csv").out.splitlines()
        self.assertEqual(lines[0], "t,tip.x,tip.z")
        self.assertIn("no probe 'tipp.z' (did you", self.fails(2, "show", "arm.h5", "--run", "text", "--probe", "tip.x,tipp.z").err)
        lines = self.succeeds("show", "arm.h5", "--at", "end", "--probe", "tip").out.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["run", "text", "more"])
        for line, torque, override in zip(lines[1:], (1, 2), ("-", "2")):
            self.assertEqual(line.split()[1], override, "C (N*m), where a run overrides it")
            self.assertAlmostEqual(float(line.split()[2]), rolled_tip(torque), 8)
        rows = list(csv.DictReader(self.succeeds("show", "arm.h5", "--is", "max", "--csv").out.splitlines()))
        self.assertEqual([r["run"] for r in rows], ["text", "more"])
        reply = self.succeeds("show", "arm.h5", "--at", "0", "--probe", "tip.x", "--json").json
        self.assertAlmostEqual(reply["runs"][1]["values"]["tip.x"], rolled_tip(2), 9)
        self.assertIsNone(self.succeeds("show", "arm.h5", "--at", "9", "--probe", "tip.x", "--json")
                          .json["runs"][0]["values"]["tip.x"], "a time that was not reached")

    def test_no_column_is_cut_for_programs(self):
        self.write("wide.yaml", harness.ROLLED.replace("probes: {tip", "probes: {'p(k=1..8)': {position: arm.tip}, tip"))
        self.succeeds("run", "wide.yaml")
        for args in (("--at", "end"), ("--is", "max")):
            rows = list(csv.DictReader(self.succeeds("show", "wide.h5", *args, "--csv").out.splitlines()))
            self.assertEqual(len(rows[0]), 1 + 1 + 9 * 3 + 8, "run, C, nine positions, energies")
            values = self.succeeds("show", "wide.h5", *args, "--json").json["runs"][1]["values"]
            self.assertEqual(len(values), 9 * 3 + 8)
            self.assertAlmostEqual(values["p(8).x"], rolled_tip(2), 9)
        self.assertIn("more columns, see --probe and --csv", self.succeeds("show", "wide.h5", "--at", "end").out)

    def test_impossible_comparisons_of_runs_are_reported(self):
        self.assertRegex(self.fails(2, "show", "arm.h5", "--at", "9").err, "--at 9: these runs go from 0 to")
        self.assertIn("'sinew show --model'", self.fails(2, "run", "arm.h5").err)
        self.assertIn("'sinew run' writes one", self.fails(2, "show", "arm.yaml").err)
        self.assertIn("'end'", self.fails(2, "show", "arm.h5", "--at", "1 m").err)
        self.assertIn("mean", self.fails(2, "show", "arm.h5", "--is", "median").err)
        self.assertIn("one of them", self.fails(2, "show", "arm.h5", "--is", "max", "--at", "end").err)
        self.assertIn("such as --is mean", self.fails(2, "show", "arm.h5", "--over", "0..1").err)
        self.assertIn("'1 s'", self.fails(2, "show", "arm.h5", "--is", "max", "--over", "1 s").err)
        self.assertIn("'2..1'", self.fails(2, "show", "arm.h5", "--is", "max", "--over", "2..1").err)
        self.assertRegex(self.fails(2, "show", "arm.h5", "--is", "max", "--over", "8..9").err, "--over 8: these runs go from 0 to")

    def test_statistics_over_an_interval(self):
        self.write("clock.yaml", "sinew: 1\nrobot: {a: {on: world, joint: revolute, body: {mass: 1, inertia: [1, 1, 1]}}}\n"
                                 "actuators: {m: {joint: a, position: t^2}}\nprobes: {q: {angle: a}}\n"
                                 "study: [dynamic: {for: 4 s, step: 0.5 s}]\n")
        self.succeeds("run", "clock.yaml")
        for over, largest in (("..1.5", 2.25), ("1..3", 9), ("1.5..", 16), ("0.5..2.5", 6.25)):
            reply = self.succeeds("show", "clock.h5", "--is", "max", "--over", over, "--probe", "q", "--json").json
            self.assertAlmostEqual(reply["runs"][0]["values"]["q"], largest, 9, over)

    def test_json_series(self):
        reply = self.succeeds("show", "arm.h5", "--probe", "tip.x", "--json").json
        run = reply["runs"][1]
        self.assertEqual(run["run"], "more")
        self.assertEqual(len(run["t"]), run["frames"])
        self.assertAlmostEqual(run["values"]["tip.x"][-1], rolled_tip(2), 9)

    def test_the_model_is_in_the_file(self):
        self.assertIn("rolled up by a tip torque", self.succeeds("show", "arm.h5", "--model").out)

    def test_a_table_needs_one_run(self):
        self.assertIn("--run", self.fails(2, "show", "arm.h5", "--csv").err)

    def test_unknown_names_are_said(self):
        self.assertIn("did you mean 'text'", self.fails(2, "show", "arm.h5", "--run", "tezt").err)
        self.assertIn("no probe 'nothing'", self.fails(2, "show", "arm.h5", "--run", "text", "--probe", "nothing").err)

    def test_files_that_are_no_results_are_reported(self):
        self.fails(2, "show", "missing.h5")
        self.fails(2, "show", "arm.yaml")
        self.fails(2, "show", ".")
        self.write("empty.h5", b"")
        self.fails(2, "show", "empty.h5")

    def test_cut_or_scrambled_files_never_crash(self):
        whole = (self.folder / "arm.h5").read_bytes()
        for part in (8, 100, 1000, len(whole) // 2, len(whole) - 1):
            self.write("cut.h5", whole[:part])
            self.assertIn(self.sinew("show", "cut.h5").code, (0, 2))
        for k in range(20):
            damaged = bytearray(whole)
            for i in range(k, len(damaged), 211 + 37 * k):
                damaged[i] ^= 0x5A
            self.write("scrambled.h5", bytes(damaged))
            self.assertIn(self.sinew("show", "scrambled.h5").code, (0, 2))


if __name__ == "__main__":
    harness.main()
