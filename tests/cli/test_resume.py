# SPDX-License-Identifier: MIT
"""Runs that were killed, stopped or failed and are resumed end with the same bits as an uninterrupted run."""
import random
import re
import shutil
import signal
import subprocess
import time

import harness

# every kind of step, two runs, some seconds in all
STUDY = """\
sinew: 1
title: A study to be interrupted
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 10 ms}}
robot:
  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 4, bend_z: legendre 4}}}
loads:
  push: {on: arm.tip, force: [0, 0.02 N*sin(2*pi*t/(0.3 s)), "0.02 N*step(t, 0.2317 s)"]}
study:
  - static: {name: path, for: 0.1 s, step: 10 ms}
  - dynamic: {name: alpha, for: 2 s, step: 2 ms}
  - change: {name: cured, rubber.young: 2 MPa}
  - dynamic: {name: levels, for: 0.5 s, scheme: bdf2, step: 2 ms}
  - static: {name: settled}
  - dynamic: {name: chosen, from: alpha, for: 0.5 s, adapt: on, step: 10 ms, tolerance: 1e-4}
  - dynamic: {name: kept, for: 0.5 s, scheme: conserving, step: 2 ms}
  - dynamic: {name: stages, for: 0.5 s, scheme: gauss6, step: 5 ms}
  - dynamic: {name: adapted, for: 0.5 s, scheme: gauss4, step: 10 ms, adapt: on}
  - dynamic: {name: damped, for: 0.1 s, scheme: radau5, step: 5 ms}
  - dynamic: {name: reference, for: 0.1 s, scheme: adaptive}
  - dynamic: {name: shot, from: stages, for: 0.1 s, scheme: bdf2, step: 1 ms, engine: shooting}
  - dynamic: {name: last, from: reference, for: 0.5 s, scheme: wbz, step: 2 ms}
probes: {tip: {position: arm.tip}, turn: {rotation: arm.tip}, wire: {wrench: arm, along: 5}, e: energy}
runs: {soft: {}, hard: {rubber.young: 4 MPa}}
"""

if harness.SLOW:
    STUDY = STUDY.replace("for: 2 s", "for: 0.4 s").replace("for: 0.5 s", "for: 0.1 s")

# laws with memory, conditions
LOOP = STUDY.replace("scheme: conserving", "scheme: trapezoidal").replace("bdf2, step: 1 ms, engine: shooting", "hht, step: 1 ms").replace("loads:\n", """\
loads:
  pi: {on: arm.tip, force: [0, 0, -0.5*tip.z - 0.8*integral(tip.z)]}
  held: {on: arm.tip, force: [0, "-0.05*sampled(v.vy, 15 ms)", 0], when: once(tip.z < -0.01)}
  gate: {on: arm.tip, force: [0, 0.01, 0], when: tip.y > 0.01}
""").replace("probes: {", "probes: {v: {velocity: arm.tip}, ")

# one step of motion that takes minutes
ENDLESS = re.sub(r"study:.*?probes", "study: [dynamic: {for: 1000 s, step: 1 ms}]\nprobes", STUDY, flags=re.S)
ENDLESS = re.sub(r"runs:.*", "", ENDLESS)


RUNS = ("soft", "hard")
FIELDS = ("t", "stage_index", "q", "v", "pose", "columns", "energy", "stats")


class Resume(harness.Case):
    def numbers(self, name):
        """All data of the frames of a file: the output of `show`, and the bytes of the datasets where h5dump is
        installed."""
        runs = self.succeeds("show", name, "--json").json["runs"]
        self.assertEqual([r["state"] for r in runs], ["finished"] * len(RUNS))
        found = {run: self.succeeds("show", name, "--csv", "--run", run).out for run in RUNS}
        if shutil.which("h5dump"):
            for place in (f"/runs/{run}/{field}" for run in RUNS for field in FIELDS):
                subprocess.run(["h5dump", "-d", place, "-b", "LE", "-o", "bytes", name], cwd=self.folder, check=True,
                               stdout=subprocess.DEVNULL)
                found[place] = (self.folder / "bytes").read_bytes()
                self.assertTrue(found[place])
            (self.folder / "bytes").unlink()
        return found

    known = {}  # results of uninterrupted runs, and their duration in s

    def whole(self, text=STUDY):
        self.write("study.yaml", text)
        if text not in self.known:
            begin = time.monotonic()
            self.succeeds("run", "study.yaml", "-o", "whole.h5")
            self.known[text] = time.monotonic() - begin, self.numbers("whole.h5")
            (self.folder / "whole.h5").unlink()
        self.seconds, numbers = self.known[text]
        return numbers

    def same(self, got, want):
        self.assertEqual([k for k in want if got[k] != want[k]], [], "the resumed run has other numbers")

    def resumed(self, want):
        """The run continues from where it was killed, and has the numbers of an uninterrupted one."""
        self.succeeds("run", "study.yaml", "-o", "out.h5", "--resume")
        self.same(self.numbers("out.h5"), want)
        (self.folder / "out.h5").unlink()

    def test_killed_at_any_moment_and_resumed_it_has_the_same_bits(self):
        want = self.whole()
        dice = random.Random(4)
        for _ in range(1 if harness.SLOW else 5):
            process = self.start("run", "study.yaml", "-o", "out.h5")
            time.sleep(dice.uniform(0.05, 0.95) * self.seconds)
            process.kill()
            process.wait()
            self.resumed(want)

    def test_killed_in_the_middle_and_resumed_it_has_the_same_bits(self):
        want = self.whole()
        process = self.start("run", "study.yaml", "-o", "out.h5")
        while process.poll() is None:  # examined while it is stopped, so that the time of the examination does not matter
            process.send_signal(signal.SIGSTOP)
            if self.frames("out.h5") > 20:
                break
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        process.kill()
        process.wait()
        self.assertEqual(self.succeeds("show", "out.h5", "--json").json["runs"][0]["state"], "running")
        self.resumed(want)

    def test_ended_after_some_increments_and_resumed_it_has_the_same_bits(self):
        want = self.whole()
        self.succeeds("run", "study.yaml", "-o", "out.h5", "--increments", 150)
        runs = self.succeeds("show", "out.h5", "--json").json["runs"]
        self.assertEqual([r["state"] for r in runs], ["stopped"] * len(RUNS))
        before = [r["frames"] for r in runs]
        self.succeeds("run", "study.yaml", "-o", "out.h5", "--increments", 150, "--resume")
        after = [r["frames"] for r in self.succeeds("show", "out.h5", "--json").json["runs"]]
        self.assertTrue(all(b > a > 20 for a, b in zip(before, after)), (before, after))
        self.resumed(want)

    def test_killed_again_and_again_it_gets_there(self):
        want = self.whole()
        dice = random.Random(5)
        for _ in range(2 if harness.SLOW else 5):
            process = self.start("run", "study.yaml", "-o", "out.h5", "--resume")
            time.sleep(dice.uniform(0.1, 0.5) * self.seconds)
            process.kill()
            process.wait()
        self.succeeds("run", "study.yaml", "-o", "out.h5", "--resume")
        self.same(self.numbers("out.h5"), want)

    def test_a_closed_loop_killed_and_resumed_has_the_same_bits(self):
        want = self.whole(LOOP)
        for part in harness.few((0.2, 0.6), 2):
            process = self.start("run", "study.yaml", "-o", "out.h5")
            time.sleep(part * self.seconds)
            process.kill()
            process.wait()
            self.resumed(want)

    def test_stopped_and_resumed_it_has_the_same_bits(self):
        want = self.whole()
        process = self.start("run", "study.yaml", "-o", "out.h5")
        time.sleep(0.5 * self.seconds)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=harness.PATIENCE)
        self.succeeds("run", "study.yaml", "-o", "out.h5", "--resume")
        self.same(self.numbers("out.h5"), want)
        self.assertEqual(self.files(), ["out.h5", "study.yaml"])

    def test_it_goes_on_and_does_not_begin_anew(self):
        self.write("study.yaml", ENDLESS)
        before = 1
        for args in ([], ["--resume"], ["--resume"]):
            process = self.start("run", "study.yaml", "-o", "out.h5", *args)
            deadline = time.monotonic() + harness.PATIENCE
            frames = 0
            while frames <= before:
                self.assertLess(time.monotonic(), deadline, "no frame is added")
                self.assertIsNone(process.poll(), "ended by itself")
                time.sleep(0.1)
                if "out.h5" in self.files():
                    frames = self.succeeds("show", "out.h5", "--json").json["runs"][0]["frames"]
                    if args:
                        self.assertGreaterEqual(frames, before, "frames are lost")
            process.kill()
            process.wait()
            before = self.succeeds("show", "out.h5", "--json").json["runs"][0]["frames"]

    def test_a_finished_file_is_left_alone(self):
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml")
        before = (self.folder / "arm.h5").read_bytes()
        result = self.succeeds("run", "arm.yaml", "--resume")
        self.assertIn("nothing to resume", result.out)
        self.assertEqual((self.folder / "arm.h5").read_bytes(), before)
        reply = self.succeeds("run", "arm.yaml", "--resume", "--json").json
        self.assertTrue(all(r["kept"] and r["frames"] == 1 for r in reply["runs"]))
        self.assertEqual(self.files(), ["arm.h5", "arm.yaml"])

    def test_without_a_file_it_begins(self):
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml", "--resume")
        self.assertEqual(self.files(), ["arm.h5", "arm.yaml"])

    def test_another_model_is_refused(self):
        self.write("arm.yaml", harness.ROLLED)
        self.succeeds("run", "arm.yaml")
        before = (self.folder / "arm.h5").read_bytes()
        for args in (["--set", "C=3 N*m"], ["--run", "more"]):
            self.assertIn("cannot resume", self.fails(2, "run", "arm.yaml", "--resume", *args).err)
        self.write("arm.yaml", harness.ROLLED.replace("100 MPa", "101 MPa"))
        self.assertIn("the model has changed", self.fails(2, "run", "arm.yaml", "--resume").err)
        self.write("arm.h5", "no results")
        self.fails(2, "run", "arm.yaml", "--resume")
        (self.folder / "arm.h5").write_bytes(before)
        self.assertEqual(self.files(), ["arm.h5", "arm.yaml"])

    def test_another_table_is_refused(self):
        self.write("arm.yaml", harness.ROLLED.replace("C, 0]", "'C*table(\"c.csv\", \"c\")', 0]"))
        self.write("c.csv", "t,c\n0,1\n1,2\n")
        self.succeeds("run", "arm.yaml")
        self.assertIn("nothing to resume", self.succeeds("run", "arm.yaml", "--resume").out)
        self.write("c.csv", "t,c\n0,1\n1,3\n")
        self.assertIn("the model has changed", self.fails(2, "run", "arm.yaml", "--resume").err)


if __name__ == "__main__":
    harness.main()
