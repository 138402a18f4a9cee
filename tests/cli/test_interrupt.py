# SPDX-License-Identifier: MIT
"""Runs that are stopped, killed, or cannot be computed keep the frames recorded so far."""
import json
import random
import signal
import time

import harness


class Interrupt(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("long.yaml", harness.LONG)

    def started(self, *args):
        """A run that has written frames."""
        process = self.start("run", "long.yaml", *args)
        self.wait_until(lambda: "long.h5" in self.files(), process)
        return process

    def test_interrupt_closes_the_file_and_says_where(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.started()
                time.sleep(0.2)
                process.send_signal(number)
                out, err = process.communicate(timeout=harness.PATIENCE)
                self.assertEqual(process.returncode, 1, err)
                self.assertRegex(err, r"long.yaml: stopped at t = [0-9.e+]+ s, results kept in long.h5")
                self.assertIn("stopped", out)
                text = self.succeeds("show", "long.h5").out
                self.assertIn("main: stopped", text)
                self.assertEqual(self.files(), ["long.h5", "long.yaml"])
                (self.folder / "long.h5").unlink()

    def test_a_run_whose_file_is_taken_away_ends(self):
        process = self.started()
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml", "-o", "long.h5")
        _, err = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("another run", err)
        self.assertNotIn("kept", err)
        self.assertIn("Clamped rod", self.succeeds("show", "long.h5").out)

    def test_interrupt_answers_in_json_too(self):
        process = self.started("--json")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=harness.PATIENCE)
        reply = json.loads(out)
        self.assertEqual(reply["exit"], 1)
        self.assertEqual(reply["error"]["status"], "stopped on request")

    def test_computations_that_keep_nothing_end_at_once(self):
        self.write("link.yaml", """\
            sinew: 1
            robot: {bob: {on: world, joint: revolute, axis: y, damping: 0.1, body: {mass: 1, com: [1, 0, 0]}}}
            actuators: {motor: {joint: bob, effort: 0}}
            probes: {a: {angle: bob}}
            study: [dynamic: {for: 1000 s, step: 1 ms}]
            """)
        self.write("way.csv", "t,a\n0,0\n900,1\n")
        for args in (["gradient", "link.yaml", "--of", "end(a)", "--by", "bob.damping"],
                     ["linearize", "link.yaml", "--at", "1000 s"],
                     ["track", "link.yaml", "--targets", "way.csv", "--step", "1 ms"]):  # fmt: skip
            with self.subTest(command=args[0]):
                process = self.start(*args)
                self.wait_for_work(process, 0.1)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=harness.PATIENCE)
                self.assertEqual(process.returncode, -signal.SIGINT)

    def test_a_series_of_targets_keeps_its_rows(self):
        self.write("link.yaml", """\
            sinew: 1
            robot: {bob: {on: world, joint: revolute, axis: y, body: {mass: 1, com: [0, 0, -1]}}}
            actuators: {motor: {joint: bob, effort: 0}}
            probes: {a: {angle: bob}}
            """)
        self.write("way.csv", "t,a\n" + "".join(f"{k},{0.1 + k % 7 / 10}\n" for k in range(30000)))
        process = self.start("solve", "link.yaml", "--targets", "way.csv", "-o", "u.csv")
        process.stdout.readline()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("stopped after the targets at t =", err)
        rows = (self.folder / "u.csv").read_text().splitlines()
        self.assertTrue(1 < len(rows) < 30000)

    def test_a_growing_file_can_be_read(self):
        process = self.started()
        first = self.succeeds("show", "long.h5", "--json").json["runs"][0]
        self.assertEqual(first["state"], "running")
        self.assertGreater(first["frames"], 0)
        self.wait_until(lambda: self.frames("long.h5") > first["frames"], process, 0.2)
        process.kill()

    def test_a_killed_run_leaves_a_file_that_can_be_read(self):
        dice = random.Random(2)
        for _ in range(3 if harness.SLOW else 8):
            process = self.started()
            time.sleep(dice.uniform(0, 1.5))
            process.kill()
            process.wait()
            run = self.succeeds("show", "long.h5", "--json", "--probe", "tip").json["runs"][0]
            self.assertGreater(run["frames"], 0)
            self.assertEqual(len(run["t"]), run["frames"])
            self.assertTrue(all(v is not None for v in run["values"]["tip.x"]))
            (self.folder / "long.h5").unlink()

    def test_killed_at_any_moment_of_the_start_leaves_the_old_file_or_a_good_one(self):
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml", "-o", "long.h5")
        dice = random.Random(3)
        for _ in range(5 if harness.SLOW else 12):
            process = self.start("run", "long.yaml")
            time.sleep(dice.uniform(0, 0.08))
            process.kill()
            process.wait()
            self.succeeds("show", "long.h5")


class Opening(harness.Case):
    """Ctrl-C while a model is being read and prepared: hundreds of runs are to be compiled, and none has started."""

    def setUp(self):
        super().setUp()
        runs = ", ".join(f"r{i}: {{C: {i + 1} N*m}}" for i in range(900))
        model = harness.ROLLED.split("runs:")[0].replace("legendre 3", "legendre 60, bend_z: legendre 60")
        self.write("many.yaml", model + f"runs: {{{runs}}}\n")

    def interrupted(self, *args):
        process = self.start(*args)
        self.wait_for_work(process, 0.3)  # long after the arguments are read, long before the last run
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual(err, "many.yaml: stopped while the model was read; nothing was computed\n")
        self.assertEqual(self.files(), ["many.yaml"])
        return out

    def test_every_command_that_reads_models_says_so(self):
        for command in ("run", "check", "verify"):
            with self.subTest(command=command):
                self.interrupted(command, "many.yaml")

    def test_it_answers_in_json_too(self):
        reply = json.loads(self.interrupted("run", "many.yaml", "--json"))
        self.assertEqual(reply["exit"], 1)
        self.assertEqual(reply["error"]["status"], "stopped on request")


class Reading(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("path.yaml", harness.LONG.replace("100000 s", "200 s"))
        self.succeeds("run", "path.yaml", "-q")

    def test_a_command_that_only_reads_ends_at_once(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("show", "path.h5", "--csv")
            process.stdout.read(1)  # it prints, and soon blocks until more is read
            time.sleep(0.2)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=harness.PATIENCE), -number)

    def test_what_was_being_written_is_gone(self):
        for _ in range(3):
            for output in ("path.csv", "path.pvd"):
                process = self.start("export", "path.h5", "-o", output)
                deadline = time.monotonic() + harness.PATIENCE
                while process.poll() is None and not any("part" in name for name in self.files()):
                    self.assertLess(time.monotonic(), deadline)
                process.send_signal(signal.SIGINT)
                self.assertIn(process.wait(timeout=harness.PATIENCE), (0, 1, -signal.SIGINT))
                self.assertFalse([name for name in self.files() if "part" in name])


class Divergence(harness.Case):
    # a load that becomes NaN in the middle of the path
    BROKEN = harness.LONG.replace("0.2 N*sin(2*pi*t/(10 s))", "0.1 N*sqrt(5 - t/(1 s))").replace("100000 s", "10 s")

    def test_a_failing_run_keeps_its_results_and_says_where(self):
        self.write("broken.yaml", self.BROKEN)
        result = self.fails(1, "run", "broken.yaml")
        self.assertIn("results kept in broken.h5", result.err)
        reply = self.succeeds("show", "broken.h5", "--json", "--probe", "tip").json["runs"][0]
        self.assertEqual(reply["state"], "failed")
        self.assertTrue(reply["message"])
        self.assertLessEqual(reply["t"][-1], 5.0001)
        self.assertGreater(reply["t"][-1], 4.5)
        self.assertTrue(all(v is not None for v in reply["values"]["tip.x"]))

    def test_a_run_that_fails_at_once_leaves_an_older_file_alone(self):
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml", "-o", "broken.h5")
        before = (self.folder / "broken.h5").read_bytes()
        self.write("broken.yaml", self.BROKEN.replace("sqrt(5 - t/(1 s))", "sqrt(-5 - t/(1 s))"))
        self.fails(1, "run", "broken.yaml")
        self.assertEqual((self.folder / "broken.h5").read_bytes(), before)
        self.assertEqual(self.files(), ["arm.yaml", "broken.h5", "broken.yaml"])


if __name__ == "__main__":
    harness.main()
