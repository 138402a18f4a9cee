# SPDX-License-Identifier: MIT
"""Strain functions of the user in model files, and sinew reduce, which finds them in results."""
import csv
import shutil

import harness

# A muscle bends a rod with the stiffness 1 - x/2 by exp(-a x) from its rest curvature on, a = t/2: the snapshots of the
# specification (1.2), whose values come from other programs.
EXPONENTIALS = """\
sinew: 1
gravity: 0
robot:
  arm:
    on: world
    rod:
      length: 1 m
      section: {stiffness: {bend_z: "(1 - x/L/2)*1 N*m^2"}}
      rest: {bend_z: 0.3 1/m}
      strain: {bend_z: legendre 16}
actuators:
  muscle: {stress: {along: arm, bend_z: "-1 N*m*(1 - x/L/2)*exp(-t/(2 s)*x/L)"}}
study: [static: {for: 10 s, step: 1 s}]
probes: {tip: {position: arm.tip}}
runs:
  train: {}
  inside: {muscle.stress.bend_z: "-1 N*m*(1 - x/L/2)*exp(-2.25*x/L)", study: [{static: {for: 1 s, step: 1 s}}]}
  outside: {muscle.stress.bend_z: "-1 N*m*(1 - x/L/2)*exp(-6*x/L)", study: [{static: {for: 1 s, step: 1 s}}]}
"""
SIGMA = [1.633402885, 0.4537593687, 0.07184829126, 7.739790239e-3, 6.1227003e-4]
LOST = [7.332784e-2, 1.813904e-3, 2.093713e-5, 1.306853e-7]
INSIDE = [0.2139024, 0.04239310, 0.004102083, 0.000404031]
OUTSIDE = [0.5723206, 0.1679551, 0.03440169, 0.005519477]
PHI = {0.0: (1.901096, 2.527212, 2.843954), 0.5: (0.935583, -0.969782, -0.627076), 1.0: (0.644018, -1.475986, 2.256999)}

# the same in two strains: bend_y is half of bend_z, with the same stiffness
BOTH = EXPONENTIALS.replace('{bend_z: "(1 - x/L/2)*1 N*m^2"}', '{bend_y: "(1 - x/L/2)*1 N*m^2", bend_z: "(1 - x/L/2)*1 N*m^2"}').replace(
    "strain: {bend_z: legendre 16}", "strain: {bend_y: legendre 16, bend_z: legendre 16}").replace(
    'along: arm, bend_z: "-1', 'along: arm, bend_y: "-0.5 N*m*(1 - x/L/2)*exp(-t/(2 s)*x/L)", bend_z: "-1')  # fmt: skip

# two rods that swing, one of them on elements, and one whose basis jumps
ROBOT = """\
sinew: 1
gravity: [0, 0, -9.81 m/s^2]
materials: {soft: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 20 ms}}
robot:
  upper:
    on: world
    rod: {length: 0.2 m, section: {circle: {radius: 8 mm}}, material: soft, strain: {bend_y: legendre 6, twist: legendre 3}}
  lower:
    on: upper.tip
    rod: {length: 0.1 m, section: {circle: {radius: 6 mm}}, material: soft, strain: {bend_y: linear}, elements: 6}
  last:
    on: lower.tip
    rod: {length: 0.05 m, section: {circle: {radius: 5 mm}}, material: soft, strain: {bend_y: constant}, elements: 2}
loads: {push: {on: last.tip, force: [0, 0, "-0.02 N*poly5(t, 0 s, 0.1 s)"]}}
study: [dynamic: {for: 0.2 s, step: 5 ms}]
probes: {tip: {position: last.tip}}
runs: {train: {}, test: {push.force: [0, 0, "0.02 N*sin(20 1/s*t)"]}}
"""


class Functions(harness.Case):
    """Functions in model files."""

    def check(self, strain, code=0):
        self.write("m.yaml", EXPONENTIALS)
        return self.sinew("check", "m.yaml", "--run", "train", "--set", f"arm.rod.strain={{bend_z: {strain}}}", "--json")

    def refused(self, strain, *words):
        result = self.check(strain)
        self.assertEqual(result.code, 2, result)
        for word in words:
            self.assertIn(word, result.err)

    def test_conditioning_is_told(self):
        reply = self.check("[1, x/L, exp(-x/L)]").json
        strain = reply["runs"][0]["robot"]["arm"]["rod"]["strain"]["bend_z"]
        self.assertEqual((strain["basis"], strain["functions"]), ("functions", 3))
        self.assertAlmostEqual(strain["smallest_eigenvalue"] / 3.670251e-4, 1, delta=5e-7)
        self.assertAlmostEqual(strain["condition"] / 7.320902e3, 1, delta=5e-7)
        self.write("m.yaml", EXPONENTIALS)
        near = ("--run", "inside", "--set", "arm.rod.strain={bend_z: [1, exp(-x/L), exp(-1.001*x/L)]}")
        self.assertIn("nearly depends on the others", self.succeeds("check", "m.yaml", *near).out)
        self.assertIn("nearly depends on the others", self.succeeds("run", "m.yaml", *near).err)

    def test_bad_functions_are_refused_with_their_place(self):
        self.write("short.csv", "x, a\n0, 1\n0.5, 2\n0.7, 1\n0.8, 0\n")
        self.write("few.csv", "x, a\n0, 1\n1, 2\n")
        self.write("bad.csv", "x, a\n0, 1\n1, two\n")
        self.refused("[1, cos(x/L)^2, cos(2*x/L)]", "depends on the others", "--set:1:")
        self.refused("[1, log(x/L)]", "function 2 of bend_z, log(x/L), is not a finite number at x = 0 m")
        self.refused("[1, 0*x]", "is zero on the whole rod")
        self.refused("[]", "has no functions")
        self.refused("[{table: short.csv}]", "short.csv goes from 0 to 0.8, the rod from x = 0 to 1")
        self.refused("[{table: few.csv}]", "few.csv has 2 rows", "between: linear")
        self.refused("[{table: few.csv, column: b, between: linear}]", "few.csv, column b: there is no such column")
        self.refused("[{table: bad.csv}]", "bad.csv:3:4", "'two' is not a number")
        self.refused("[{table: none.csv}]", "none.csv", "No such file")
        self.refused("[{column: a}]", "needs 'table'")
        self.refused("[t/(1 s)]", "t")

    def test_tables_are_the_laws_they_sample(self):
        # straight lines through three rows, and cubic splines through samples of a cubic, are what laws say
        self.write("m.yaml", EXPONENTIALS)
        self.write("lines.csv", "x/L, a\n0, 1\n0.25, 0\n1, 3\n")
        rows = "\n".join(f"{k / 8}, {(k / 8)**3}, {1 - (k / 8)**2}" for k in range(9))
        self.write("cubic.csv", f"x, a.1, a.2\n{rows}\n")
        pairs = [("[1, {table: lines.csv, over: x/L, between: linear}]", '[1, "if(x/L < 0.25, 1 - 4*x/L, 4*(x/L - 0.25))"]'),
                 ("[1, {table: cubic.csv, column: a}]", "[1, (x/L)^3, 1 - (x/L)^2]")]  # fmt: skip
        for table, law in pairs:
            tips = []
            for strain in (table, law):
                self.succeeds("run", "m.yaml", "--run", "inside", "--set", f"arm.rod.strain={{bend_z: {strain}}}", "-o", "o.h5", "--force")
                tips.append(self.succeeds("show", "o.h5", "--json").json["runs"][0]["last"]["tip.y"])
            self.assertAlmostEqual(*tips, delta=1e-9)


class Reduce(harness.Case):
    def table(self, name):
        with open(self.folder / name, encoding="utf-8") as file:
            return [[float(v) for v in row] for row in csv.reader(line for line in file if line[0] in "0123456789")]

    def run_all(self, text):
        self.write("m.yaml", text)
        names = [name for name in ("train", "inside", "outside", "test") if f"{name}:" in text]
        for name in names:
            self.succeeds("run", "m.yaml", "--run", name, "-o", f"{name}.h5")

    def test_exponentials_have_the_known_functions(self):
        self.run_all(EXPONENTIALS)
        found = {}
        for n in harness.few((4, 1, 2, 3), 4):
            found[n] = reply = self.succeeds("reduce", "train.h5", "--functions", n, "--test", "inside.h5", "--test", "outside.h5",
                                  "-o", f"modes{n}.csv", "--json").json  # fmt: skip
            self.assertEqual((reply["snapshots"], reply["parent"], reply["functions"]), (11, 16, n))
            self.assertAlmostEqual((1 - reply["energy"]) / LOST[n - 1], 1, delta=2e-6)
            for got, want in zip((t["projection"]["max"] for t in reply["tests"]), (INSIDE[n - 1], OUTSIDE[n - 1])):
                self.assertAlmostEqual(got / want, 1, delta=3e-6)
        for got, want in zip(found[4]["strains"][0]["sigma"], SIGMA):
            self.assertAlmostEqual(got / want, 1, delta=1e-7)
        with open(self.folder / "modes4.csv", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        self.assertEqual(rows[0], ["x/L"] + [f"arm.bend_z.{k}" for k in range(1, 5)])
        table = {float(row[0]): [float(v) for v in row[1:]] for row in rows[1:]}
        for x, phi in PHI.items():
            at = min(table, key=lambda u: abs(u - x))
            self.assertAlmostEqual(at, x, delta=1e-9)
            for got, want in zip(table[at], phi):
                self.assertAlmostEqual(got, want, delta=2e-6)

    def test_energy_chooses_the_number(self):
        self.run_all(EXPONENTIALS)
        reply = self.succeeds("reduce", "train.h5", "--energy", "0.999", "--json").json
        self.assertEqual(reply["functions"], 3)  # 1 - 1.8e-3 is too little
        text = self.succeeds("reduce", "train.h5", "inside.h5", "outside.h5").out
        self.assertIn("15 snapshots", text)

    def test_a_robot_of_many_rods_is_reduced_and_simulated(self):
        self.run_all(ROBOT)
        result = self.succeeds("reduce", "train.h5", "--functions", 5, "--test", "test.h5", "--simulate", "-o", "modes.csv", "--json")
        reply = result.json
        self.assertIn("rod 'last' keeps its functions: its basis jumps", result.err)
        self.assertIn("twist of rod 'upper' gets no function", result.err)
        self.assertEqual(reply["parent"], 6 + 3 + 7)
        self.assertEqual(sum(s["functions"] for s in reply["strains"]), 5)
        test = reply["tests"][0]
        self.assertLess(test["tip"]["max"], 0.02)
        self.assertLessEqual(test["projection"]["mean"], test["strain"]["mean"] * (1 + 1e-6))
        self.assertIn("between: linear", reply["strain"]["lower"])
        # what it says to write does what it simulated
        sets = [w for rod, strain in reply["strain"].items() for w in ("--set", f"{rod}.rod.strain={strain}")]
        self.succeeds("run", "m.yaml", "--run", "test", *sets, "--set", "lower.rod.elements=1", "-o", "again.h5")
        tip = [self.succeeds("show", f, "--json").json["runs"][0]["last"]["tip.z"] for f in ("test.h5", "again.h5")]
        self.assertAlmostEqual(*tip, delta=0.35 * 0.02)

    def test_strains_that_move_together_share_coordinates(self):
        # one decomposition: singular values sqrt(1 + 1/4) of those of bend_z alone, functions over that
        self.write("m.yaml", BOTH)
        self.succeeds("run", "m.yaml", "--run", "train", "-o", "train.h5")
        reply = self.succeeds("reduce", "train.h5", "--functions", 3, "--together", "--test", "train.h5", "--simulate", "-o", "modes.csv",
                              "--json").json  # fmt: skip
        root = 1.25**0.5
        self.assertEqual((reply["functions"], reply["parent"]), (3, 32))
        self.assertEqual(reply["together"], {"arm": "[bend_y, bend_z]"})
        self.assertAlmostEqual((1 - reply["energy"]) / LOST[2], 1, delta=2e-6)
        for got, want in zip(reply["strains"][1]["sigma"], SIGMA):
            self.assertAlmostEqual(got / want / root, 1, delta=1e-7)
        with open(self.folder / "modes.csv", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        table = {float(row[0]): [float(v) for v in row[1:]] for row in rows[1:]}
        for x, phi in PHI.items():
            at = min(table, key=lambda u: abs(u - x))
            for got, want in zip(table[at], [0.5 / root * v for v in phi] + [v / root for v in phi], strict=True):
                self.assertAlmostEqual(got, want, delta=2e-6)
        # the muscles are in the span of the functions but for the energy lost: the reduced robot is the projection
        test = reply["tests"][0]
        self.assertAlmostEqual(test["strain"]["max"] / test["projection"]["max"], 1, delta=1e-3)
        result = self.succeeds("check", "m.yaml", "--run", "train", "--set", f"arm.rod.strain={reply['strain']['arm']}",
                               "--set", f"arm.rod.together={reply['together']['arm']}", "--json").json  # fmt: skip
        strain = result["runs"][0]["robot"]["arm"]["rod"]["strain"]
        self.assertTrue(strain["bend_y"]["together"] and strain["bend_z"]["together"])
        # separate decompositions need twice as many coordinates
        apart = self.succeeds("reduce", "train.h5", "--functions", 3, "--json").json
        self.assertGreater(1 - apart["energy"], 100 * (1 - reply["energy"]))

    def test_a_robot_is_reduced_with_strains_together(self):
        self.run_all(ROBOT)
        result = self.succeeds("reduce", "train.h5", "--functions", 4, "--together", "--test", "test.h5", "--simulate", "-o", "modes.csv",
                               "--json")  # fmt: skip
        self.assertIn("twist of rod 'upper' gets no function", result.err)
        self.assertEqual(result.json["together"], {})
        self.assertLess(result.json["tests"][0]["tip"]["max"], 0.05)

    def test_the_arm_of_the_example_follows_a_motion_that_it_has_not_seen(self):
        for name in ("arm.yaml", "arm_modes.csv"):
            shutil.copy(harness.SOURCE / "examples/reduced" / name, self.folder)
        for name in ("training", "beat"):
            self.succeeds("run", "arm.yaml", "--run", name, "-o", f"{name}.h5")
        use = ("reduce", "training.h5", "--functions", 5, "--test", "beat.h5", "--simulate", "-o", "again.csv", "--json")
        apart = self.succeeds(*use).json["tests"][0]
        together = self.succeeds(*use, "--together").json["tests"][0]
        self.assertLess(together["tip"]["max"], 0.007)
        self.assertGreater(apart["tip"]["max"], 0.05)
        for a, b in zip(self.table("again.csv"), self.table("arm_modes.csv"), strict=True):
            for u, v in zip(a, b, strict=True):
                self.assertAlmostEqual(u, v, delta=1e-3)

    def test_bad_strains_together_are_refused(self):
        self.write("m.yaml", BOTH)
        pairs = "bend_y: [1, x/L], bend_z: [1, x/L]"
        cases = [
            (pairs, "[bend_y]", "list of two strains or more"),
            (pairs, "[bend_y, bend_x]", "names no strain 'bend_x'"),
            (pairs, "[bend_y, bend_y]", "has bend_y twice"),
            (pairs, "[bend_y, stretch]", "names stretch, which has no list of functions"),
            ("bend_y: [1, x/L], bend_z: [1]", "[bend_y, bend_z]", "bend_y has 2, bend_z 1"),
            ("bend_y: [1, 0], bend_z: [1, 0*x]", "[bend_y, bend_z]", "is zero on the whole rod"),
            ("bend_y: [1, x/L, 1 + x/L], bend_z: [1, 0, 1]", "[bend_y, bend_z]", "depends on the others"),
        ]
        for strain, together, words in cases:
            with self.subTest(words=words):
                result = self.sinew("check", "m.yaml", "--run", "train", "--set", f"arm.rod.strain={{{strain}}}",
                                    "--set", f"arm.rod.together={together}")  # fmt: skip
                self.assertEqual(result.code, 2, result)
                self.assertIn(words, result.err)

    def test_wrong_use_is_refused(self):
        self.run_all(ROBOT)
        self.write("other.yaml", harness.ROLLED)
        self.succeeds("run", "other.yaml", "-o", "other.h5")
        cases = [
            (("train.h5", "other.h5"), "run of another robot: it has no rod 'upper'"),
            (("train.h5", "--test", "other.h5"), "run of another robot"),
            (("train.h5", "--rod", "last"), "rod 'last' cannot be reduced: its basis jumps"),
            (("train.h5", "--rod", "thumb"), "the robot has no such rod"),
            (("train.h5", "--functions", "0"), "functions"),
            (("train.h5", "--functions", "2.5"), "whole number"),
            (("train.h5", "--functions", "2", "--energy", "0.9"), "not both"),
            (("train.h5", "--simulate"), "--test"),
            (("train.h5", "--test", "test.h5", "--simulate"), "give -o modes.csv"),
            (("train.h5", "-o", "train.h5"), "overwrite"),
            (("m.yaml",), "m.yaml"),
        ]
        for args, words in cases:
            with self.subTest(args=args):
                self.assertIn(words, self.fails(2, "reduce", *args).err)

    def test_the_functions_of_the_example_are_those_of_its_training(self):
        for name in ("finger.yaml", "finger_modes.csv"):
            shutil.copy(harness.SOURCE / "examples/reduced" / name, self.folder)
        self.succeeds("run", "finger.yaml", "--run", "training", "-o", "training.h5")
        self.succeeds("reduce", "training.h5", "--functions", 4, "-o", "again.csv")
        for a, b in zip(self.table("again.csv"), self.table("finger_modes.csv"), strict=True):
            for u, v in zip(a, b, strict=True):
                self.assertAlmostEqual(u, v, delta=1e-3)


if __name__ == "__main__":
    harness.main()
