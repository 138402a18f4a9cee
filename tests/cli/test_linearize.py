# SPDX-License-Identifier: MIT
"""sinew linearize: linear models, printed and written to files."""
import csv
import io
import math

import harness

PENDULUM = """\
sinew: 1
robot:
  arm: {on: world, joint: revolute, axis: y, damping: 0.1, body: {mass: 2 kg, com: [0, 0, -0.5], inertia: [0, 0, 0]}}
actuators: {motor: {joint: arm, effort: 0 N*m}}
initial: {arm: 0.2}
probes: {angle: {angle: arm}}
study: [dynamic: {for: 0.2 s, step: 10 ms}]
record: {every: 50 ms}
runs: {plain: {}, heavy: {arm.body.mass: 4 kg}}
"""


# Two equal cantilevers (EI = 1, 1 kg/m, 1 m) cross at their tips and touch; the upper one is pressed down.
CROSSED = """\
sinew: 1
gravity: 0
parameters: {P: 1 mN}
robot:
  upper: {on: world, pose: {xyz: [0, 0, 0.02]}, rod: &rod {length: 1, section: {stiffness: {bend_y: 1}, inertia: [0, 0, 0, 1, 1, 1]}, strain: {bend_y: legendre 8}, nodes: 24}}
  lower: {on: world, pose: {xyz: [1, -1, 0], rpy: [0, 0, 90 deg]}, rod: *rod}
contacts: {touch: {rods: {between: [upper, lower], radius: 0.01, hard: true}}}
loads: {press: {on: upper.tip, force: [0, 0, -P]}}
probes: {tip: {position: upper.tip}, force: {contact: touch}}
"""


# A block held down on a table by its weight, with a hinged arm on it, and a driven slider beside.
DRIVEN = """\
sinew: 1
robot:
  block: {on: world, pose: {xyz: [0, 0, 0.1]}, joint: prismatic, axis: z, body: {sphere: {radius: 0.1}, mass: 2 kg}}
  arm: {on: block, joint: revolute, axis: y, stiffness: 3 N*m, damping: 0.1, body: {mass: 0.4 kg, com: [0, 0, -0.05]}}
  slider: {on: world, pose: {xyz: [1, 0, 0]}, joint: prismatic, axis: x, body: {mass: 1 kg}}
contacts: {rest: {ground: {on: block, hard: true}}}
actuators: {push: {joint: arm, effort: 0}, slide: {joint: slider, position: 0.1}}
probes: {q: {angle: arm}, w: {rate: arm}, force: {contact: rest}}
"""


class Linearize(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("p.yaml", PENDULUM)

    def model(self, *options):
        return self.succeeds("linearize", "p.yaml", "--json", *options).json

    def test_a_pendulum_has_its_matrices(self):
        m = self.model()
        self.assertEqual([s["name"] for s in m["states"]], ["arm.angle", "arm.angle.rate"])
        for row, want in zip(m["A"], [[0, 1], [-9.81 / 0.5, -0.1 / 0.5]]):
            for got, x in zip(row, want):
                self.assertAlmostEqual(got, x, places=10)
        self.assertAlmostEqual(m["B"][1][0], 2, places=10)
        self.assertEqual(m["C"], [[1, 0]])
        self.assertEqual((m["controllable"], m["observable"]), (2, 2))
        self.assertAlmostEqual(math.hypot(m["poles"][0]["re"], m["poles"][0]["im"]), math.sqrt(9.81 / 0.5), places=9)

    def test_the_initial_state_and_an_instant(self):
        start = self.model("--at", "start")
        self.assertAlmostEqual(start["A"][1][0], -9.81 / 0.5 * math.cos(0.2), places=9)
        later = self.model("--at", "100 ms")
        self.assertTrue(later["moving"])
        self.assertAlmostEqual(later["time"], 0.1)
        self.assertLess(later["states"][0]["value"], 0.2)
        end = self.model("--at", "end")
        self.assertAlmostEqual(end["time"], 0.2)
        self.assertTrue(end["moving"])
        bad = self.fails(2, "linearize", "p.yaml", "--at", "0.12 s")
        self.assertIn("records no frame", bad.err)

    def test_instants_whose_state_is_more_than_a_frame(self):
        # held inputs of an inverse step, a latch: a 'linearize' step knows them, a frame does not
        head = """\
sinew: 1
gravity: 0
robot: {arm: {on: world, joint: revolute, axis: y, stiffness: 2 N*m, body: {mass: 1 kg, com: [0.3, 0, 0], inertia: [0.01, 0.01, 0.01]}}}
sites: {end: {on: arm, pose: {xyz: [0.3, 0, 0]}}}
probes: {angle: {angle: arm}, end: {position: end}}
"""
        self.write("found.yaml", head + """\
loads: {push: {on: end, force: [0, 0, 0]}}
study:
  - inverse: {target: {angle: 0.5}, actuators: [push.fz]}
  - dynamic: {for: 0.1 s, step: 10 ms}
""")
        self.write("once.yaml", head + """\
loads: {push: {on: end, force: [0, 0, "20 N/m*end.z"], when: once(end.z < -0.1)}}
initial: {arm: {rate: 10}}
study: [dynamic: {for: 0.1 s, step: 10 ms}]
""")
        for file, what in (("found", "inputs that an inverse step has found"), ("once", "samples, latches and captured poses")):
            for at in "end", "0.1 s":
                r = self.fails(2, "linearize", file + ".yaml", "--at", at, "--input", "push.fz", "--probe", "angle")
                self.assertIn(f"frames do not have the {what}", r.err)
                self.assertIn("use a 'linearize' step of the study", r.err)

    def test_a_run_and_an_override(self):
        self.assertAlmostEqual(self.model("--run", "heavy")["B"][1][0], 1, places=10)
        self.assertAlmostEqual(self.model("--set", "arm.damping=0")["A"][1][1], 0, places=12)

    def test_a_step(self):
        m = self.model("--step", "10 ms", "--scheme", "bdf2")
        self.assertEqual(len(m["states"]), 4)
        self.assertEqual(sum(p["parasitic"] for p in m["poles"]), 2)
        text = self.succeeds("linearize", "p.yaml", "--step", "10 ms", "--scheme", "bdf2").out
        self.assertIn("parasitic", text)
        reduced = self.model("--step", "10 ms", "--scheme", "trapezoidal", "--reduce")
        self.assertEqual(len(reduced["states"]), 2)

    def test_files(self):
        self.succeeds("linearize", "p.yaml", "-o", "p.csv")
        with open(self.folder / "p.csv", encoding="utf-8") as file:
            rows = list(csv.reader(io.StringIO(file.read())))
        self.assertEqual(rows[0], ["name", "unit", "value", "arm.angle", "arm.angle.rate", "motor"])
        self.assertAlmostEqual(float(rows[4][3]), -9.81 / 0.5, places=10)
        self.assertEqual(rows[5][0], "angle")
        try:
            import h5py
            import scipy.io
        except ImportError:
            self.skipTest("h5py or scipy is missing")
        self.succeeds("linearize", "p.yaml", "-o", "p.mat")
        mat = scipy.io.loadmat(self.folder / "p.mat")
        self.assertEqual(mat["A"].shape, (2, 2))
        self.assertAlmostEqual(mat["A"][1, 0], -9.81 / 0.5, places=10)
        self.assertEqual([str(name[0]) for name in mat["state_name"].ravel()], ["arm.angle", "arm.angle.rate"])
        self.assertAlmostEqual(abs(mat["pole"][0, 0]), math.sqrt(9.81 / 0.5), places=9)
        self.succeeds("linearize", "p.yaml", "-o", "p.h5")
        with h5py.File(self.folder / "p.h5") as file:
            self.assertAlmostEqual(file["A"][1, 0], -9.81 / 0.5, places=10)
            self.assertEqual(file["input/name"].asstr()[0], "motor")

    def test_hard_contacts_hold(self):
        self.write("crossed.yaml", CROSSED)
        m = self.succeeds("linearize", "crossed.yaml", "--json", "--input", "press.fz", "--probe", "tip.z").json
        # in phase both tips are free, against each other they are supported: (1.8751041, 3.9266023)^2/2 pi
        found = sorted(abs(p["im"]) for p in m["poles"] if p["im"] > 0)
        for got, root in zip(found, (1.8751040687, 3.9266023120, 4.6940911330)):
            self.assertAlmostEqual(got / root**2, 1, places=4)
        # forces of the contact are left out unless they are named, in continuous models and steps; nothing else changes
        every = self.succeeds("linearize", "crossed.yaml", "--json", "--input", "press.fz").json
        some = self.succeeds("linearize", "crossed.yaml", "--json", "--input", "press.fz", "--probe", "tip").json
        self.assertEqual((every["left_out"], some["left_out"]), (3, 0))
        self.assertEqual([o["name"] for o in every["outputs"]], ["tip.x", "tip.y", "tip.z"])
        for matrix in "ABCD":
            self.assertEqual(every[matrix], some[matrix])
        self.write("driven.yaml", DRIVEN)
        every = self.succeeds("linearize", "driven.yaml", "--json").json
        some = self.succeeds("linearize", "driven.yaml", "--json", "--input", "push", "--probe", "q", "--probe", "w").json
        self.assertEqual([i["name"] for i in every["inputs"]], ["push"])
        self.assertEqual([o["name"] for o in every["outputs"]], [o["name"] for o in some["outputs"]])
        self.assertEqual(every["left_out"], 1 + 3)
        for matrix in "ABCD":
            self.assertEqual(every[matrix], some[matrix])
        self.assertIn("is a given motion", self.fails(2, "linearize", "driven.yaml", "--input", "slide", "--probe", "q").err)
        for options, message in (
            (["--probe", "force"], "output 'force' may depend on the forces of hard contacts"),
            (["--probe", "tip", "--set", "P=0 N"], "the hard contact 'touch' touches without force"),
        ):
            with self.subTest(options=options):
                self.assertIn(message, self.fails(2, "linearize", "crossed.yaml", "--input", "press.fz", *options).err)

    def test_wrong_use_is_explained(self):
        for options, message in (
            (["--input", "nothing"], "is no input"),
            (["--probe", "nothing"], "is no output"),
            (["--probe", "angel"], "no such probe or column (did you mean 'angle'?)"),
            (["--at", "middle"], "--at takes static, start, end or a time; 'middle' is none"),
            (["--scheme", "euler"], "--scheme belongs to --step"),
            (["--step", "1 ms", "--scheme", "eular"], "there are conserving, moreau, generalized-alpha, newmark"),
            (["--step", "3 m"], "is a time"),
            (["--step", "0 s"], "must be positive"),
            (["--step", "1 ms", "--scheme", "rk4"], "no linear model"),
            (["-o", "p.txt"], "ends in .mat, .h5 or .csv"),
            (["-o", "none/p.mat"], "does the folder exist?"),
        ):
            with self.subTest(options=options):
                self.assertIn(message, self.fails(2, "linearize", "p.yaml", *options).err)


if __name__ == "__main__":
    harness.main()
