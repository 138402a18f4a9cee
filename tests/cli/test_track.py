# SPDX-License-Identifier: MIT
"""sinew track: inputs for a motion, printed, as JSON and as a table."""
import math

import harness

# a wheel of 0.5 kg m^2: torque = 0.5 a''
WHEEL = """\
sinew: 1
gravity: 0
parameters: {J: 0.5}
robot: {wheel: {on: world, joint: revolute, axis: y, body: {mass: 0, inertia: [J, J, J]}}}
actuators: {motor: {joint: wheel, effort: 0 N*m}}
probes: {angle: {angle: wheel}, rate: {rate: wheel}}
runs: {plain: {}, heavy: {J: 2}}
"""


LOOP = """\
sinew: 1
gravity: 0
robot:
  wheel: {on: world, joint: revolute, axis: y, body: {mass: 0, inertia: [0.5, 0.5, 0.5]}}
  bar: {on: wheel, pose: {xyz: [0, 0, 0.2]}, joint: revolute, axis: y, body: {mass: 2 kg, com: [0.25, 0, 0], inertia: [0.01, 0.01, 0.01]}}
  other: {on: world, pose: {xyz: [0.5, 0, 0]}, joint: revolute, axis: y, body: {mass: 0, inertia: [0.5, 0.5, 0.5]}}
sites: {end: {on: other, pose: {xyz: [0, 0, 0.2]}}, tip: {on: bar, pose: {xyz: [0.5, 0, 0]}}}
loops: {pin: {join: [tip, end], as: revolute, axis: y}}
actuators: {motor: {joint: wheel, effort: 0 N*m}}
probes: {angle: {angle: wheel}, rate: {rate: wheel}}
"""


# a hanging arm bent by four tendons
ARM = """\
sinew: 1
materials: {rubber: {young: 2 MPa, poisson: 0.5, density: 1100 kg/m^3, damping: 20 ms}}
robot:
  arm:
    on: world
    pose: {axis: y, angle: 90 deg}
    rod: {length: 40 cm, section: {circle: {radius: 1 cm}}, material: rubber, strain: {bend_y: legendre 3, bend_z: legendre 3}, nodes: 8}
actuators: {cord(k=1..4): {tendon: {along: arm, at: [0, 8 mm*cos(90 deg*k), 8 mm*sin(90 deg*k)]}, effort: 0 N}}
probes: {tip: {position: arm.tip}}
"""
CORDS = [word for k in range(1, 5) for word in ("-a", f"cord({k})=0 N..{{}} N")]


def circle(radius, steps):
    """Rows of t, tip.x and tip.y: in 1 s around a circle through the point of rest, from rest to rest."""
    turn = [2 * math.pi * s**3 * (10 - 15 * s + 6 * s**2) for s in (n / steps for n in range(steps + 1))]
    return [(n / steps, radius * math.sin(turn[n]), radius * (1 - math.cos(turn[n]))) for n in range(steps + 1)]


def table(rows):
    return "t,tip.x,tip.y\n" + "".join(f"{t:.9g},{x:.12g},{y:.12g}\n" for t, x, y in rows)


class Track(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("w.yaml", WHEEL)

    def test_rest_to_rest(self):
        self.write("end.csv", "t,angle,rate\n0.99,,\n1,1,0\n")
        m = self.succeeds("track", "w.yaml", "--json", "--targets", "end.csv", "--step", "10 ms", "--effort", "1e-12").json
        self.assertTrue(m["converged"])
        self.assertAlmostEqual(m["outputs"][0]["values"][-1], 1, places=6)
        self.assertAlmostEqual(m["outputs"][1]["values"][-1], 0, places=6)
        # 12 J^2 a^2/T^3 with constant inputs over 100 steps
        self.assertAlmostEqual(m["squares"], 3 / (1 - 1e-4), places=4)
        heavy = self.succeeds("track", "w.yaml", "--json", "--targets", "end.csv", "--step", "10 ms", "--effort", "1e-12",
                              "--run", "heavy").json  # fmt: skip
        self.assertAlmostEqual(heavy["squares"] / m["squares"], 16, places=3)

    def test_a_motion_and_its_table(self):
        rows = "".join(f"{0.02 * n:.2f},{0.3 * (1 - math.cos(math.pi * 0.02 * n)):.15g}\n" for n in range(1, 51))
        self.write("way.csv", "t,angle\n" + rows)
        text = self.succeeds("track", "w.yaml", "--targets", "way.csv", "--step", "20 ms", "-o", "torque.csv").out
        self.assertIn("50 steps", text)
        lines = (self.folder / "torque.csv").read_text().splitlines()
        self.assertEqual(lines[0], "t,motor,angle")
        self.assertEqual(len(lines), 51)
        for n in range(1, 51):
            t, _, angle = map(float, lines[n].split(","))
            self.assertAlmostEqual(t, 0.02 * n, places=12)
            self.assertAlmostEqual(angle, 0.3 * (1 - math.cos(math.pi * t)), places=5)

    def test_limits_and_rates(self):
        # 1 rad in the last of 50 steps: the torque rises at its rate, then stays at its limit
        self.write("way.csv", "t,angle\n1,1\n")
        options = ("-a", "motor=-1.5 N*m..1.5 N*m", "--rate", "motor=10 N*m/s")
        m = self.succeeds("track", "w.yaml", "--targets", "way.csv", "--step", "20 ms", "--json", *options).json
        u = [0.0, *m["inputs"][0]["values"]]
        self.assertTrue(max(map(abs, u)) <= 1.5)
        self.assertTrue(all(abs(b - a) <= 0.2 * (1 + 1e-9) for a, b in zip(u, u[1:])))
        self.assertGreater(m["limited"], 0)
        text = self.succeeds("track", "w.yaml", "--targets", "way.csv", "--step", "20 ms", *options).out
        self.assertIn("limits hold", text)

    def test_a_soft_arm_goes_around_a_circle(self):
        self.write("arm.yaml", ARM)
        self.write("way.csv", table(circle(0.05, 50)))
        way = ("arm.yaml", "--targets", "way.csv", "--step", "20 ms", "--json")
        m = self.succeeds("track", *way, *(word.format(20) for word in CORDS)).json
        self.assertLess(max(m["outputs"][i]["largest_error"] for i in (0, 1)), 1e-6)
        cords = [i["values"] for i in m["inputs"]]
        self.assertTrue(min(map(min, cords)) >= 0)
        # cords that pull against each other are of no use to the motion: of two opposite ones one has next to nothing
        self.assertLess(max(min(a, b) for k in (0, 1) for a, b in zip(cords[k], cords[k + 2])), 0.05)

    def test_what_is_out_of_reach_is_told(self):
        # cords of 1 N bend the arm by a fraction of the circle; the nearest motion is found and its errors are told
        self.write("arm.yaml", ARM)
        rows = circle(0.05, 25)
        self.write("way.csv", table(rows))
        way = ("arm.yaml", "--targets", "way.csv", "--step", "40 ms")
        m = self.succeeds("track", *way, "--json", *(word.format(1) for word in CORDS)).json
        self.assertTrue(m["converged"])
        self.assertGreater(m["limited"], 20)
        worst = m["outputs"][1]
        self.assertGreater(worst["largest_error"], 0.03)
        n = round(worst["at"] / 0.04)
        self.assertAlmostEqual(abs(worst["values"][n - 1] - rows[n][2]), worst["largest_error"], places=9)
        self.assertIn("largest error", self.succeeds("track", *way, *(word.format(1) for word in CORDS)).out)

    def test_inputs_that_alternate_are_told(self):
        # targets with corners, without limits: tensions are not negative, and the inputs ring from step to step unless
        # their changes count
        self.write("arm.yaml", ARM)
        corners = "t,tip.x,tip.y\n" + "".join(f"{0.1 * k},{0.03 * (k % 2)},0\n" for k in range(4))
        self.write("way.csv", corners)
        way = ("track", "arm.yaml", "--targets", "way.csv", "--step", "10 ms", "--json")
        rough = self.succeeds(*way)
        self.assertIn("alternate from step to step", rough.err)
        self.assertTrue(min(min(i["values"]) for i in rough.json["inputs"]) >= 0)
        smooth = self.succeeds(*way, "--smooth", "1e-2")
        self.assertNotIn("alternate", smooth.err)
        self.assertLess(smooth.json["alternation"], 0.2 * rough.json["alternation"])
        self.assertLess(max(o["largest_error"] for o in smooth.json["outputs"]), 1e-2)

    def test_a_loop(self):
        # two wheels whose cranks a bar joins, a parallelogram: J = 2 0.5 + 2 0.2^2 = 1.08
        self.write("loop.yaml", LOOP)
        self.write("end.csv", "t,angle,rate\n0.99,,\n1,1,0\n")
        m = self.succeeds("track", "loop.yaml", "--json", "--targets", "end.csv", "--step", "10 ms", "--effort", "1e-12", "--at", "start").json
        self.assertTrue(m["converged"])
        self.assertAlmostEqual(m["squares"] * (1 - 1e-4), 12 * 1.08**2, places=6)
        self.assertEqual(m["start_moved"], 0)

    def test_a_start_that_is_closed_is_told(self):
        self.write("open.yaml", LOOP + "initial: {bar: 0.1}\n")
        self.write("end.csv", "t,angle,rate\n0.99,,\n1,1,0\n")
        got = self.succeeds("track", "open.yaml", "--json", "--targets", "end.csv", "--step", "10 ms", "--at", "start")
        self.assertIn("moves link 'bar' most, by 0.0", got.err)
        # the nearest closed parallelogram is less than 0.1 rad away
        self.assertTrue(1e-3 < got.json["start_moved"] < 0.1)

    def test_wheels_with_given_coordinates(self):
        text = """\
sinew: 1
gravity: 0
robot:
  a: {on: world, joint: planar, body: {mass: 1 kg, com: [0.02 m, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}
  b: {on: a, pose: {xyz: [0.1, 0, 0]}, joint: revolute, body: {mass: 1.2 kg, com: [0.1, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}
sites: {last: {on: b, pose: {xyz: [0.1, 0, 0]}}}
contacts: {one: {wheel: {on: a, axis: y}}}
probes: {q: {angle: b}}
actuators: {turn: {joint: b, %s}}
"""
        self.write("given.yaml", text % "position: 0.1*sin(5*t/(1 s))")
        self.write("way.csv", "t,q\n0.1,0.01\n")
        wrong = self.fails(2, "track", "given.yaml", "--targets", "way.csv", "--step", "20 ms", "--at", "start")
        self.assertIn("'turn' gives a coordinate; give its 'effort' instead", wrong.err)
        self.write("effort.yaml", text % "effort: 0 N*m")
        self.succeeds("track", "effort.yaml", "--targets", "way.csv", "--step", "20 ms", "--at", "start")

    def test_mistakes(self):
        self.write("way.csv", "t,angle\n1,1\n")
        good = ("--targets", "way.csv", "--step", "0.1 s")
        for options, word in (
            ((), "needed"),
            (("--targets", "way.csv"), "needed"),
            (("--targets", "none.csv", "--step", "0.1 s"), "none.csv"),
            (("--targets", "way.csv", "--step", "1 m"), "is a time"),
            (("--targets", "way.csv", "--step", "5 s"), "steps of"),
            (("--targets", "way.csv", "--step", "0"), "steps of"),
            ((*good, "-a", "engine"), "engine"),
            ((*good, "-a", "motor=2..1 N*m"), "leave nothing"),
            ((*good, "--rate", "motor"), "NAME=VALUE"),
            ((*good, "--rate", "engine=1 N/s"), "engine"),
            ((*good, "--at", "end"), "--at"),
            ((*good, "-o", "way.csv"), "way.csv"),
            (("--targets", self.write("x.csv", "x,angle\n1,1\n"), "--step", "0.1 s"), "first column"),
            (("--targets", self.write("n.csv", "t,nothing\n1,1\n"), "--step", "0.1 s"), "nothing"),
        ):
            self.assertIn(word, self.fails(2, "track", "w.yaml", *options).err)


if __name__ == "__main__":
    harness.main()
