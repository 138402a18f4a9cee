# SPDX-License-Identifier: MIT
"""sinew solve: inputs for desired probes, printed and as JSON."""
import math

import harness

# a pendulum with a spring in its hinge: tau = k a + m g l sin(a)
PENDULUM = """\
sinew: 1
parameters: {k: 3}
robot:
  arm: {on: world, joint: revolute, axis: y, stiffness: k, body: {mass: 2 kg, com: [0, 0, -0.5], inertia: [0, 0, 0]}}
actuators: {motor: {joint: arm, effort: 0 N*m}}
sites: {bob: {on: arm, pose: {xyz: [0, 0, -0.5]}}}
probes: {angle: {angle: arm}, bob: {position: bob}}
runs: {plain: {}, stiff: {k: 30}}
"""


def torque(angle, k=3.0):
    return k * angle + 2 * 9.81 * 0.5 * math.sin(angle)


class Solve(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("p.yaml", PENDULUM)

    def solve(self, *options):
        return self.succeeds("solve", "p.yaml", "--json", *options).json

    def test_the_torque_of_an_angle(self):
        m = self.solve("-t", "angle=30 deg")
        self.assertTrue(m["reached"])
        self.assertAlmostEqual(m["inputs"][0]["value"], torque(math.pi / 6), places=9)
        self.assertEqual(m["inputs"][0]["unit"], "N*m")
        stiff = self.solve("-t", "angle=30 deg", "--run", "stiff")
        self.assertAlmostEqual(stiff["inputs"][0]["value"], torque(math.pi / 6, 30), places=8)
        lighter = self.solve("-t", "angle=30 deg", "--set", "arm.body.mass=0")
        self.assertAlmostEqual(lighter["inputs"][0]["value"], math.pi / 2, places=9)

    def test_a_target_of_several_columns(self):
        wanted = f"{-0.5 * math.sin(0.5)}, 0, {-0.5 * math.cos(0.5)}"
        for text in (wanted, f"[{wanted}]"):
            m = self.solve("-t", f"bob={text}")
            self.assertTrue(m["reached"])
            self.assertAlmostEqual(m["inputs"][0]["value"], torque(0.5), places=6)

    def test_a_limit_that_holds(self):
        result = self.fails(1, "solve", "p.yaml", "--json", "-t", "angle=0.5", "-a", "motor=0..2 N*m").json
        motor = result["inputs"][0]
        self.assertFalse(result["reached"])
        self.assertEqual((motor["value"], motor["limit"]), (2, "high"))
        a = result["targets"][0]["value"]
        self.assertAlmostEqual(torque(a), 2, places=9)
        self.assertAlmostEqual(result["distance"], 0.5 - a, places=12)
        # 1/(dtau/da)
        self.assertAlmostEqual(motor["multiplier"], 1 / (3 + 9.81 * math.cos(a)), places=9)
        text = self.fails(1, "solve", "p.yaml", "-t", "angle=0.5", "-a", "motor=..2").out
        self.assertIn("not reached", text)
        self.assertIn("at its high limit", text)

    def test_numbers_of_the_file_as_unknowns(self):
        # k = (tau - m g l sin a)/a
        k = self.solve("-t", "angle=0.1", "-a", "k", "--set", "motor.effort=2")
        self.assertTrue(k["reached"])
        want = (2 - 9.81 * math.sin(0.1)) / 0.1
        self.assertEqual((k["inputs"][0]["name"], k["exact"]), ("k", False))
        self.assertAlmostEqual(k["inputs"][0]["value"], want, places=8)
        # beside an input: the number next to its value in the file, the torque next to zero, each by its range
        both = self.solve("-t", "angle=0.1", "-a", "arm.body.mass=1 kg..3 kg", "-a", "motor=-10..10 N*m")
        mass, tau = (i["value"] for i in both["inputs"])
        self.assertEqual([i["unit"] for i in both["inputs"]], ["kg", "N*m"])
        self.assertAlmostEqual(tau, 0.3 + mass * 9.81 * 0.5 * math.sin(0.1), places=8)
        # least ((m - 2)/2)^2 + (tau/20)^2 along tau = 0.3 + c m
        c = 9.81 * 0.5 * math.sin(0.1)
        self.assertAlmostEqual(mass, (2 / 4 - 0.3 * c / 400) / (1 / 4 + c * c / 400), places=6)
        # a stiffness below zero is no robot: the nearest point is where it ends
        low = self.fails(1, "solve", "p.yaml", "--json", "-t", "angle=0.5", "-a", "k", "--set", "motor.effort=1").json
        self.assertTrue(low["ended"] and low["inputs"][0]["value"] >= 0)
        self.assertIn("is in", self.fails(2, "solve", "p.yaml", "-t", "angle=0.1", "-a", "arm.body.mass=1 m..2 m").err)
        self.assertIn("number of the file 'kk'", self.fails(2, "solve", "p.yaml", "-t", "angle=0.1", "-a", "kk").err)

    def test_the_nearest_point(self):
        # the bob moves on a circle: nearest to (0.4, 0, -0.4) at -45 degrees about y, that is 0.5 away from the hinge
        m = self.fails(1, "solve", "p.yaml", "--json", "-t", "bob=0.4, 0, -0.4").json
        self.assertAlmostEqual(abs(m["inputs"][0]["value"]), torque(math.pi / 4), places=7)
        error = math.sqrt(sum(t["error"] ** 2 for t in m["targets"]))
        self.assertAlmostEqual(error, 0.4 * math.sqrt(2) - 0.5, places=10)

    def test_inputs_that_grow_without_end_need_limits(self):
        # cables that pull against each other come nearer to a point out of reach the more they pull
        self.write("arm.yaml", """\
sinew: 1
gravity: [0, 0, -9.81]
materials: {nitinol: {young: 60 GPa, poisson: 0.33, density: 6450 kg/m^3}}
robot:
  arm:
    on: world
    rod: {length: 20 cm, section: {circle: {radius: 0.7 mm}}, material: nitinol, strain: kirchhoff legendre 4}
    body: {mass: 10 g}
actuators:
  cable(k=1..4): {tendon: {along: arm, at: [0, "8 mm*cos(pi*k/2)", "8 mm*sin(pi*k/2)"], discs: 9 mm}, effort: 0 N}
probes: {tip: {position: arm.tip}}
""")
        r = self.fails(1, "solve", "arm.yaml", "-t", "tip=19 cm, 6 cm, 4 cm")
        self.assertRegex(r.err, "out of reach, the distance may fall without end as inputs grow: give them limits")
        limits = [x for k in range(1, 5) for x in ("-a", f"cable({k})=0 N..40 N")]
        r = self.fails(1, "solve", "arm.yaml", "-t", "tip=19 cm, 6 cm, 4 cm", *limits, "--json")
        distance = math.sqrt(sum(t["error"] ** 2 for t in r.json["targets"]))
        # not farther than with the tip at y and z as asked, 9.1 mm
        self.assertLess(distance, 9.1e-3)

    def test_a_range_of_indices_names_several(self):
        self.write("two.yaml", PENDULUM.replace("actuators: {motor: {joint: arm, effort: 0 N*m}}", "actuators: {motor(j=1..2): {joint: arm, effort: 0 N*m}}"))
        options = ("solve", "two.yaml", "--json", "-t", "angle=0.5", "--rest", "motor(k=1..2)=0")
        one, two = ([i["value"] for i in self.succeeds(*options, *more).json["inputs"]] for more in (
            ("-a", "motor(1)=-9..9 N*m", "-a", "motor(2)=-9..9 N*m"), ("-a", "motor(k=1..2)=-9..9 N*m")))  # fmt: skip
        self.assertEqual(one, two)
        self.assertAlmostEqual(two[0], torque(0.5) / 2, places=8)
        self.assertIn("no names", self.fails(2, *options, "-a", "motor(k=2..1)=-9..9 N*m").err)

    def test_rates(self):
        m = self.fails(1, "solve", "p.yaml", "--json", "-t", "angle=0.5", "-a", "motor", "--rate", "motor=10 N*m/s",
                       "--interval", "100 ms").json  # fmt: skip
        self.assertEqual((m["inputs"][0]["value"], m["inputs"][0]["limit"]), (1, "rise"))
        # the rate holds it outside its limits; the distance would fall beyond it in the first case only
        for low, high, angle, value, limit, falls in ((2, 4, 0.5, 1, "rise", True), (2, 4, -0.5, 1, "rise", False),
                                                      (-4, -2, -0.5, -1, "fall", True), (-4, -2, 0.5, -1, "fall", False)):  # fmt: skip
            m = self.fails(1, "solve", "p.yaml", "--json", "-t", f"angle={angle}", "-a", f"motor={low}..{high} N*m",
                           "--rate", "motor=10 N*m/s", "--interval", "100 ms").json  # fmt: skip
            got = m["inputs"][0]
            self.assertEqual((got["value"], got["limit"], got["multiplier"] > 0), (value, limit, falls))

    def test_a_series_of_targets(self):
        self.write("way.csv", "t,angle\n0,0\n0.5,0.2\n1,0.4\n1.5,\n2,0.4\n")
        self.write("short.csv", "t,angle\n0,0\n0.5,0.2\n1,0.4\n2,0.4\n")
        rows = self.solve("--targets", "short.csv", "-o", "inputs.csv")["rows"]
        self.assertEqual([r["t"] for r in rows], [0, 0.5, 1, 2])
        for row, angle in zip(rows, (0, 0.2, 0.4, 0.4)):
            self.assertTrue(row["reached"])
            self.assertAlmostEqual(row["inputs"][0]["value"], torque(angle), places=8)
        lines = (self.folder / "inputs.csv").read_text().splitlines()
        self.assertEqual(lines[0], "t,motor,reached,distance,stability,motor.limit,motor.multiplier")
        self.assertAlmostEqual(float(lines[2].split(",")[1]), torque(0.2), places=8)
        # a rate of 3 N m/s: 1.5 N m in half a second, and then it catches up
        slow = self.fails(1, "solve", "p.yaml", "--json", "--targets", "short.csv", "-a", "motor", "--rate", "motor=3 N*m/s")
        self.assertEqual([r["reached"] for r in slow.json["rows"]], [True, False, False, True])
        self.assertEqual([r["inputs"][0]["limit"] for r in slow.json["rows"]], ["", "rise", "rise", ""])
        self.assertAlmostEqual(slow.json["rows"][2]["inputs"][0]["value"], 3, places=12)
        # the table of inputs moves the pendulum along the targets
        self.write("played.yaml", PENDULUM.replace("effort: 0 N*m", "effort: '(table(\"inputs.csv\", \"motor\")) N*m'")
                   + "study: [static: {for: 2 s, step: 0.5 s}]\n")  # fmt: skip
        self.succeeds("run", "played.yaml", "--run", "plain", "-o", "played.h5")
        shown = self.succeeds("show", "played.h5", "--probe", "angle", "--csv").out.splitlines()
        angles = {float(row.split(",")[0]): float(row.split(",")[1]) for row in shown[1:]}
        self.assertAlmostEqual(angles[0.5], 0.2, places=8)
        self.assertAlmostEqual(angles[1.0], 0.4, places=8)
        # rows without targets
        self.assertIn("t = 1.5", self.fails(2, "solve", "p.yaml", "--targets", "way.csv").err)
        self.assertIn("first column", self.fails(2, "solve", "p.yaml", "--targets", self.write("w.csv", "x,angle\n0,1\n")).err)
        self.assertIn("either", self.fails(2, "solve", "p.yaml", "--targets", "short.csv", "-t", "angle=0").err)
        self.assertIn("--output", self.fails(2, "solve", "p.yaml", "-o", "i.csv", "-t", "angle=0").err)
        self.assertIn("nothing", self.fails(2, "solve", "p.yaml", "--targets", self.write("n.csv", "t,nothing\n0,1\n")).err)

    def test_mistakes(self):
        for options, word in (
            ((), "no target"),
            (("-t", "angle"), "NAME=VALUE"),
            (("-t", "angle=1 m"), "expected"),
            (("-t", "nothing=1"), "nothing"),
            (("-t", "bob=1, 2"), "2 values for 3 columns"),
            (("-t", "angle=1, 2"), "2 values for 1 column"),
            (("-t", "angle=1", "-t", "angle=2"), "two desired values for 'angle'"),
            (("-t", "bob=0.1, 0, 0.2", "-t", "bob.x=0.3"), "two desired values for 'bob.x'"),
            (("-t", "angle=0.1", "-a", "engine"), "engine"),
            (("-t", "angle=0.1", "-a", "motor=1"), "LOW..HIGH"),
            (("-t", "angle=0.1", "-a", "motor=2..1"), "above"),
            (("-t", "angle=0.1", "-a", "motor=0..1 kg"), "expected"),
            (("-t", "angle=0.1", "--rate", "motor=1"), "--actuator"),
            (("-t", "angle=0.1", "-a", "motor", "--rate", "motor=1"), "--interval"),
            (("-t", "angle=0.1", "--weight", "angle=-1"), "positive"),
            (("-t", "angle=0.1", "--interval", "2 m"), "time"),
        ):
            self.assertIn(word, self.fails(2, "solve", "p.yaml", *options).err)


if __name__ == "__main__":
    harness.main()
