# SPDX-License-Identifier: MIT
"""sinew workspace: maps printed, as JSON, CSV and HDF5, and drawn by sinew plot."""
import csv
import math
import os
import signal

import harness

# a pendulum with a spring in its hinge, pushed at the bob: tau = k a + m g l sin(a) - f l cos(a)
PENDULUM = """\
sinew: 1
parameters: {k: 3}
robot:
  arm: {on: world, joint: revolute, axis: y, stiffness: k, body: {mass: 2 kg, com: [0, 0, -0.5], inertia: [0, 0, 0]}}
actuators: {motor: {joint: arm, effort: 0 N*m}}
sites: {bob: {on: arm, pose: {xyz: [0, 0, -0.5]}}}
loads: {push: {on: bob, force: [0, 0, 0]}}
probes: {bob: {position: bob}, angle: {angle: arm}}
runs: {plain: {}, stiff: {k: 30}}
"""
MOTOR, PUSH = ("-i", "motor=-4 N*m..4 N*m"), ("-i", "push.fx=-2 N..2 N")


class Workspace(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("p.yaml", PENDULUM)

    def map(self, *options):
        return self.succeeds("workspace", "p.yaml", "--json", *options).json

    def test_the_points_of_a_pendulum(self):
        m = self.map(*MOTOR, *PUSH, "-p", "angle", "--cells", "4", "--cells", "2", "--refine", "0")
        self.assertEqual([c["name"] for c in m["inputs"]], ["motor", "push.fx"])
        self.assertEqual(m["outputs"], [{"name": "angle", "unit": ""}])
        self.assertEqual(len(m["points"]), 15)
        self.assertEqual((m["count"]["inside"], m["count"]["limit"], m["sheets"]), (3, 12, 0))
        for p in m["points"]:
            (tau, f), (a,) = p["u"], p["y"]
            self.assertAlmostEqual(3 * a + 9.81 * math.sin(a) + f * 0.5 * math.cos(a), tau, places=8)
        stiff = self.map(*MOTOR, "-p", "angle", "--cells", "1", "--run", "stiff")
        self.assertAlmostEqual(30 * stiff["points"][-1]["y"][0] + 9.81 * math.sin(stiff["points"][-1]["y"][0]), 4, places=8)

    def test_a_table(self):
        text = self.succeeds("workspace", "p.yaml", *MOTOR, "--cells", "4", "-o", "map.csv").out
        self.assertIn("map in map.csv", text)
        self.assertIn("bob.x", text)
        with open(os.path.join(self.folder, "map.csv"), newline="") as file:
            names, units, *rows = csv.reader(file)
        self.assertEqual(names[:5], ["kind", "motor", "bob.x", "bob.y", "bob.z"])
        self.assertEqual(units[:3], ["unit", "N*m", "m"])
        self.assertEqual(len(rows), 5)
        for row in rows:
            self.assertAlmostEqual(math.hypot(float(row[2]), float(row[4])), 0.5, places=12)

    def test_a_map_that_is_stopped_keeps_its_points(self):
        for work in (0.4, 0.8, 1.6, 3.2):  # of 1.7 s, under sanitizers several times as many, before the first point, too
            process = self.start("workspace", "p.yaml", *MOTOR, *PUSH, "--cells", "300", "-o", "part.csv")
            self.wait_for_work(process, work)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=harness.PATIENCE)
            if "stopped after 0 equilibria" not in err:
                break
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(err, "stopped after [0-9]+ equilibria; this is the map so far, of [0-9]+ points. To end sooner take")
        self.assertIn("map in part.csv", out)
        with open(os.path.join(self.folder, "part.csv"), newline="") as file:
            names, units, *rows = csv.reader(file)
        self.assertTrue(1 < len(rows) < 301**2, len(rows))
        self.assertIn(f" of {len(rows)} points", err)
        for row in rows: # none counts as lost that was not looked for
            self.assertIn(row[0], ("inside", "limit"))
            self.assertAlmostEqual(math.hypot(float(row[3]), float(row[5])), 0.5, places=12)

    def test_a_figure(self):
        self.succeeds("workspace", "p.yaml", *MOTOR, *PUSH, "--cells", "3", "-o", "map.h5")
        drawn = self.succeeds("plot", "map.h5", "--json", "-o", "map.svg").json
        self.assertEqual(drawn["figure"], "map.svg")
        self.succeeds("plot", "map.h5", "--phase", "motor,push.fx", "-o", "inputs.svg")
        with open(os.path.join(self.folder, "inputs.svg")) as file:
            svg = file.read()
        self.assertTrue("limit" in svg and "stability" in svg and "rank" not in svg)
        self.fails(2, "plot", "map.h5", "--shape")
        self.assertIn("no column", self.fails(2, "plot", "map.h5", "--phase", "bob.x,bob.w").err)
        self.assertIn("two columns", self.fails(2, "plot", "map.h5", "--phase", "bob.x").err)
        self.fails(2, "plot", "map.h5", "map.h5")

    def test_a_damaged_map(self):
        self.succeeds("workspace", "p.yaml", *MOTOR, "--cells", "2", "-o", "map.h5")
        with open(os.path.join(self.folder, "map.h5"), "rb") as file:
            whole = file.read()
        for cut in (1, len(whole) // 4, len(whole) // 2, len(whole) - 9):
            with open(os.path.join(self.folder, "cut.h5"), "wb") as file:
                file.write(whole[:cut])
            self.fails(2, "plot", "cut.h5", "-o", "cut.svg")

    def test_mistakes(self):
        for options, word in (
            ((), "no input"),
            (("-i", "motor"), "LOW..HIGH"),
            (("-i", "motor=1"), "LOW..HIGH"),
            (("-i", "motor=1.."), "needs a range"),
            (("-i", "motor=2..1"), "needs a range"),
            (("-i", "motor=0..1 kg"), "expected"),
            (("-i", "push.fx=0..1 m"), "expected"),
            (("-i", "engine=0..1"), "engine"),
            ((*MOTOR, *MOTOR), "twice"),
            ((*MOTOR, "-p", "nothing"), "nothing"),
            ((*MOTOR, "--cells", "0"), "1 to 1000"),
            ((*MOTOR, "--cells", "2", "--cells", "3"), "--cells"),
            ((*MOTOR, "--refine", "1.5"), "whole"),
            ((*MOTOR, "-o", "map.txt"), ".csv or .h5"),
        ):
            self.assertIn(word, self.fails(2, "workspace", "p.yaml", *options).err)


if __name__ == "__main__":
    harness.main()
