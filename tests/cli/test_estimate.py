# SPDX-License-Identifier: MIT
"""sinew estimate: unknown loads from files of measurements."""
import math

import harness

# a mass on a spring: in equilibrium F = k x; in motion backward Euler
MASS = """\
sinew: 1
gravity: 0
parameters: {k: 20}
robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, damping: 4, body: {mass: 0.5 kg}}}
loads: {push: {on: cart, force: [0 N, 0, 0]}}
actuators: {motor: {joint: cart, effort: 0}}
probes: {at: {value: cart}, speed: {rate: cart}}
"""


class Estimate(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("m.yaml", MASS)

    def measure(self, force, n=200, h=0.01):
        """Motion from rest under a force and a motor that swings, by backward Euler; noise without random numbers."""
        x = v = 0.0
        lines = ["time,at,motor"]
        for k in range(n + 1):
            u = math.sin(0.05 * k)
            if k > 0:
                b = u + force + 0.5 * (x / h**2 + v / h) + 4 * x / h
                new = b / (0.5 / h**2 + 4 / h + 20)
                x, v = new, (new - x) / h
            noise = 1e-4 * math.sin(12.9898 * k * k)
            lines.append(f"{k * h:.4f},{'' if k % 10 == 5 else x + noise:},{u}")
        self.write("data.csv", "\n".join(lines) + "\n")
        return x

    def estimate(self, *options):
        return self.succeeds("estimate", "m.yaml", "-m", "data.csv", "--json", *options).json

    def test_a_robot_that_has_come_to_rest_under_the_load(self):
        # x = F/k all the time: without --settled the filter takes the displacement for a motion
        self.write("data.csv", "time,at\n" + "".join(f"{0.01 * k:.2f},{0.075 + 1e-4 * math.sin(12.9898 * k * k)}\n" for k in range(100)))
        options = ("--noise", "at=0.07 mm", "-u", "push.fx=0 N, 5 N, 1e-6 N")
        (moved,), (settled,) = (self.estimate(*options, *more)["unknown"] for more in ((), ("--settled",)))
        self.assertAlmostEqual(settled["value"], 1.5, delta=3 * settled["deviation"])
        self.assertAlmostEqual(settled["deviation"], 20 * 0.07e-3 / 10, delta=1e-5)  # the mean of 100 numbers
        self.assertGreater(abs(moved["value"] - 1.5), 20 * moved["deviation"])
        # beside a coordinate that is driven, whose row is kept
        self.write("m.yaml", MASS.replace("robot: {", "robot: {held: {on: world, joint: prismatic, axis: y, body: {mass: 1 kg}}, ")
                   .replace("actuators: {", "actuators: {hold: {joint: held, position: 0 m}, "))  # fmt: skip
        (held,) = self.estimate(*options, "--settled")["unknown"]
        self.assertAlmostEqual(held["value"], settled["value"], delta=1e-9)
        self.assertIn("leave one out", self.fails(2, "estimate", "m.yaml", "-m", "data.csv", *options, "--settled", "--moving").err)
        self.write("m.yaml", MASS.replace("stiffness: k, ", ""))
        self.assertIn("nothing restores", self.fails(1, "estimate", "m.yaml", "-m", "data.csv", *options, "--settled").err)

    def test_inputs_that_nothing_shows_are_named(self):
        self.measure(1.5, n=60)
        both = ("-u", "push.fx=0 N, 5 N, 0.01 N", "-u", "push.fy=0 N, 2 N, 0.5 N")
        got = self.succeeds("estimate", "m.yaml", "-m", "data.csv", "--noise", "at=0.07 mm", "--json", *both)
        self.assertIn("the measurements do not show 'push.fy'", got.err)
        (change,) = got.json["unseen"]
        self.assertAlmostEqual(change["push.fy"], math.sqrt(2**2 + 60 * 0.5**2 * 0.01), delta=1e-9)
        self.write("m.yaml", MASS.replace("loads: {", "loads: {pull: {on: cart, force: [0 N, 0, 0]}, "))
        both = ("-u", "push.fx=0 N, 5 N, 0.01 N", "-u", "pull.fx=0 N, 5 N, 0.01 N")
        got = self.succeeds("estimate", "m.yaml", "-m", "data.csv", "--noise", "at=0.07 mm", "--json", *both)
        self.assertIn("do not show this change: 'push.fx' by ", got.err)
        (change,) = got.json["unseen"]
        self.assertAlmostEqual(change["push.fx"], -change["pull.fx"], delta=1e-6)

    def test_a_force_is_found_from_a_motion(self):
        x = self.measure(1.5)
        m = self.estimate("--noise", "at=0.07 mm", "-u", "push.fx=0 N, 5 N, 0.01 N", "-o", "seen.csv")
        (load,) = m["unknown"]
        self.assertEqual((load["name"], load["unit"]), ("push.fx", "N"))
        self.assertLess(abs(load["value"] - 1.5), 4 * load["deviation"])
        self.assertLess(load["deviation"], 0.01)
        self.assertAlmostEqual(m["outputs"][0]["value"], x, delta=1e-4)
        self.assertLess(abs(m["surprise"] - 1), 0.5)
        rows = (self.folder / "seen.csv").read_text().splitlines()
        self.assertEqual(rows[0], "t,push.fx,push.fx.deviation,at,at.deviation,surprise,measured")
        self.assertEqual(len(rows), 202)
        spread = [float(r.split(",")[2]) for r in rows[1:]]
        self.assertGreater(spread[0], 0.0)
        self.assertLess(spread[-1], spread[10])
        said = self.succeeds("estimate", "m.yaml", "-m", "data.csv", "--noise", "at=0.07 mm", "-u", "push.fx=0,5,0.01").out
        self.assertIn("push.fx", said)
        self.assertIn("log-likelihood", said)

    def test_probes_that_are_not_measured(self):
        self.measure(1.5)
        options = ("--noise", "at=0.07 mm", "-u", "push.fx=0 N, 5 N, 0.01 N")
        plain, more = self.estimate(*options), self.estimate(*options, "--probe", "speed", "--probe", "at", "-o", "seen.csv")
        self.assertEqual([o["name"] for o in more["outputs"]], ["at", "speed"])
        self.assertEqual(more["outputs"][0], plain["outputs"][0])
        self.assertEqual(more["unknown"], plain["unknown"])
        # v = (x - x of the step before)/h, but for the correction
        h = 0.01
        speed = more["outputs"][1]
        self.assertGreater(speed["deviation"], 0)
        self.assertLess(speed["deviation"], 1e-3)
        rows = [r.split(",") for r in (self.folder / "seen.csv").read_text().splitlines()]
        self.assertEqual(rows[0][5:7], ["speed", "speed.deviation"])
        at, rate = rows[0].index("at"), rows[0].index("speed")
        slope = (float(rows[-1][at]) - float(rows[-2][at])) / h
        self.assertAlmostEqual(float(rows[-1][rate]), slope, delta=4e-3)
        self.assertIn("'fast' is no probe", self.fails(2, "estimate", "m.yaml", "-m", "data.csv", *options, "--probe", "fast").err)

    def test_a_robot_without_inputs(self):
        # the swing of a mass on a spring from an uncertain start: the filter on 2 states, written out
        self.write("m.yaml", MASS.replace("actuators: {motor: {joint: cart, effort: 0}}\n", "").replace("loads: {push: {on: cart, force: [0 N, 0, 0]}}\n", "")
                   .replace("damping: 4", "damping: 0.5"))  # fmt: skip
        h, m, c, k = 0.01, 0.5, 0.5, 20
        w = 1 / (m + h * c + h * h * k)
        A = [[1 - h * h * w * k, h * w * m], [-h * w * k, w * m]]
        x, lines = [0.05, 0.0], ["time,at", "0,0.05"]
        z, P, r = [0.0, 0.0], [[1e-2, 0.0], [0.0, 1.0]], 1e-8

        def correct(y):
            s = P[0][0] + r
            L, e = (P[0][0] / s, P[1][0] / s), y - z[0]
            z[0], z[1] = z[0] + L[0] * e, z[1] + L[1] * e
            return [[P[i][j] - L[i] * P[0][j] for j in range(2)] for i in range(2)]

        P = correct(0.05)
        for n in range(1, 60):
            x = [A[0][0] * x[0] + A[0][1] * x[1], A[1][0] * x[0] + A[1][1] * x[1]]
            y = x[0] + 1e-4 * math.sin(12.9898 * n * n)
            lines.append(f"{n * h:.2f},{y!r}")
            z = [A[0][0] * z[0] + A[0][1] * z[1], A[1][0] * z[0] + A[1][1] * z[1]]
            P = [[sum(A[i][a] * P[a][b] * A[j][b] for a in range(2) for b in range(2)) for j in range(2)] for i in range(2)]
            P = correct(y)
        self.write("data.csv", "\n".join(lines) + "\n")
        got = self.estimate("--noise", "at=0.1 mm", "--first", "cart.slide=0.1 m", "--first", "cart.slide.rate=1", "--probe", "speed")
        self.assertEqual(got["unknown"], [])
        for o, value, variance in zip(got["outputs"], z, (P[0][0], P[1][1])):
            self.assertAlmostEqual(o["value"], value, delta=1e-9)
            self.assertAlmostEqual(o["deviation"] / math.sqrt(variance), 1, delta=1e-6)

    def test_a_wrong_model_surprises(self):
        self.measure(0.0)
        m = self.estimate("--noise", "at=0.07 mm", "-u", "push.fx=0 N, 0.001 N, 0 N", "--set", "k=40")
        self.assertGreater(m["surprise"], 100)

    def test_longer_gaps_take_several_steps(self):
        self.measure(1.0)
        m = self.estimate("--noise", "at=0.07 mm", "-u", "push.fx=0 N, 5 N, 0.01 N", "--step", "5 ms")
        self.assertAlmostEqual(m["unknown"][0]["value"], 1.0, delta=0.05)

    def test_mistakes_are_told(self):
        self.measure(1.0)
        good = ("--noise", "at=1 mm", "-u", "push.fx=0 N, 5 N, 0.01 N")
        for message, options in (
            ("give the measurements", ("--noise", "at=1 mm")),
            ("give the standard deviation of 'at'", ("-m", "data.csv", "-u", "push.fx=0,1,1")),
            ("takes NAME=VALUE,DEVIATION,WALK", ("-m", "data.csv", "--noise", "at=1 mm", "-u", "push.fx=0 N")),
            ("is in m, expected N", ("-m", "data.csv", "--noise", "at=1 mm", "-u", "push.fx=0 m, 1 m, 1 m")),
            ("is in N, expected m", ("-m", "data.csv", "--noise", "at=1 N", "-u", "push.fx=0,1,1")),
            ("there is no 'tip'", ("-m", "data.csv", "--noise", "tip=1 mm", "-u", "push.fx=0,1,1")),
            ("must be positive, got -0.001 for 'at'", ("-m", "data.csv", "--noise", "at=-1 mm", "-u", "push.fx=0,1,1")),
            ("must not be negative", ("-m", "data.csv", "--noise", "at=1 mm", "-u", "push.fx=0,-1,1")),
            ("must not be negative", ("-m", "data.csv", "--noise", "at=1 mm", "--process", "rates=-1", "-u", "push.fx=0,1,1")),
            ("no whole number of steps", ("-m", "data.csv", "--step", "7 ms", *good)),
            ("is no input", ("-m", "data.csv", "--noise", "at=1 mm", "-u", "wind.fx=0,1,1")),
            ("has no map of its steps", ("-m", "data.csv", "--scheme", "rk4", *good)),
            ("cannot be", ("-m", "nothing.csv", *good)),
            ("cannot be written", ("-m", "data.csv", "-o", "no/where.csv", *good)),
        ):
            with self.subTest(message):
                r = self.sinew("estimate", "m.yaml", *options)
                self.assertNotEqual(r.code, 0)
                self.assertIn(message, r.err)
        self.write("names.csv", "time,nothing\n0,1\n1,2\n")
        self.assertIn("no column of the measurements", self.sinew("estimate", "m.yaml", "-m", "names.csv", *good).err)


if __name__ == "__main__":
    harness.main()
