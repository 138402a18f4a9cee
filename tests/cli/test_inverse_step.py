# SPDX-License-Identifier: MIT
"""Inverse steps of a study: inputs for desired probes, held by the following steps."""
import math

import harness

# a pendulum with a spring in its hinge: tau = k a + m g l sin(a)
PENDULUM = """\
sinew: 1
parameters: {k: 3}
robot:
  arm: {on: world, joint: revolute, axis: y, stiffness: k, damping: 1, body: {mass: 2 kg, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1]}}
actuators: {motor: {joint: arm, effort: 0.5 N*m}}
loads: {push: {on: arm, torque: [0, "0.3*ramp(t, 0, 1)", 0]}}
probes: {angle: {angle: arm}, tau: {effort: motor}, e: energy}
study:
%s
"""


def torque(angle, k=3.0):
    return k * angle + 2 * 9.81 * 0.5 * math.sin(angle)


def angle_of(tau, k=3.0):
    a = 0.0
    for _ in range(60):
        a -= (torque(a, k) - tau) / (k + 9.81 * math.cos(a))
    return a


class Inverse(harness.Case):
    def study(self, *steps):
        self.write("p.yaml", PENDULUM % "\n".join(f"  - {s}" for s in steps))

    def columns(self, *names):
        rows = self.succeeds("show", "out.h5", "--csv", "--probe", ",".join(names)).out.strip().splitlines()[1:]
        return [[float(x) for x in row.split(",")] for row in rows]

    def run_it(self, *options):
        return self.succeeds("run", "p.yaml", "-o", "out.h5", "--json", *options).json["runs"][0]

    def refused(self, *steps):
        self.study(*steps)
        return self.fails(2, "check", "p.yaml").err

    def test_the_torque_is_found_and_held(self):
        self.study("inverse: {target: {angle: 30 deg}}", "modes: {count: 1}", "static: {for: 1 s, step: 1 s}",
                   "dynamic: {for: 0.2 s, step: 10 ms}")  # fmt: skip
        found = self.run_it()["inverse"]
        tau = torque(math.pi / 6)
        self.assertEqual([f["step"] for f in found], ["inverse"])
        self.assertTrue(found[0]["reached"])
        self.assertAlmostEqual(found[0]["inputs"][0]["value"], tau, places=9)
        self.assertAlmostEqual(found[0]["inputs"][0]["before"], 0.5)
        rows = self.columns("angle", "tau", "e.balance")
        self.assertAlmostEqual(rows[0][1], math.pi / 6, places=9)
        for row in rows:
            self.assertAlmostEqual(row[2], tau, places=9)
            self.assertLess(abs(row[3]), 1e-9)
        # the modes are those of the angle, with its weight: omega^2 = (k + m g l cos a)/(m l^2 + 0.1)
        frequency = math.sqrt((3 + 9.81 * math.cos(math.pi / 6)) / 0.6) / (2 * math.pi)
        self.assertAlmostEqual(self.run_it()["modes"][0]["frequency"], frequency, places=6)
        # at t = 1 s the push acts as well
        self.assertAlmostEqual(self.columns("angle")[-1][1], angle_of(tau + 0.3), places=6)
        text = self.succeeds("run", "p.yaml", "-o", "out.h5").out
        self.assertIn("reached, weighted distance", text)

    def test_a_change_of_the_actuator_releases_it(self):
        self.study("inverse: {target: {angle: 30 deg}}", "change: {k: 6}", "static: {name: held}",
                   "change: {motor.effort: 0.5 N*m}", "static: {name: free}", "static: {from: held, name: again}")  # fmt: skip
        self.run_it()
        angles = [row[1] for row in self.columns("angle")]
        tau = torque(math.pi / 6)
        for got, want in zip(angles, [math.pi / 6, angle_of(tau, 6), angle_of(0.5, 6), angle_of(tau, 6)]):
            self.assertAlmostEqual(got, want, places=9)

    def test_loads_may_be_unknown(self):
        self.study("inverse: {target: {angle: 30 deg}, actuators: [push.ty]}")
        found = self.run_it()["inverse"][0]
        self.assertEqual(found["inputs"][0]["name"], "push.ty")
        self.assertAlmostEqual(found["inputs"][0]["value"], torque(math.pi / 6) - 0.5, places=9)

    def test_a_moving_target_is_followed_within_rates(self):
        self.study("inverse: {target: {angle: 0.5 rad*t/(1 s)}, actuators: {motor: {rate: 5 N*m/s}}, for: 2 s, step: 0.5 s, "
                   "unreachable: nearest}", "dynamic: {for: 10 ms, step: 10 ms}")  # fmt: skip
        result = self.succeeds("run", "p.yaml", "-o", "out.h5")
        self.assertIn("not reached at t = 0.5 s", result.err)
        self.assertIn("'motor' is at the rise its rate allows", result.err)
        push = [0.3 * min(t, 1) for t in (0, 0.5, 1, 1.5, 2)]
        want, tau = [], 0.0
        for k, p in enumerate(push):
            wanted = torque(0.25 * k) - p
            tau = wanted if k == 0 else min(wanted, tau + 2.5)
            want.append(tau)
        rows = self.columns("tau")
        for row, tau in zip(rows, want):
            self.assertAlmostEqual(row[1], tau, places=8)
        self.assertAlmostEqual(rows[-1][1], want[-1], places=8)

    def test_an_unreachable_target_stops_with_the_nearest_point(self):
        self.study("inverse: {target: {angle: 0.5}, actuators: {motor: [0, 2 N*m]}}", "static: {}")
        err = self.fails(1, "run", "p.yaml", "-o", "out.h5").err
        self.assertIn("p.yaml:9", err)
        self.assertIn("'motor' is at the high limit, 2 N*m", err)
        self.assertIn("unreachable: nearest", err)
        rows = self.columns("angle", "tau")
        self.assertEqual(len(rows), 1)
        self.assertAlmostEqual(rows[0][1], angle_of(2), places=9)

    def test_stopped_and_resumed_it_has_the_same_bits(self):
        self.study("inverse: {name: a, target: {angle: 0.1*(1 + t/(1 s))}, for: 0.4 s, step: 50 ms}",
                   "dynamic: {for: 0.2 s, step: 10 ms}",
                   "inverse: {target: {angle: 0.3}, actuators: {motor: {rate: 1 N*m/s}}, interval: 1 s, unreachable: nearest}",
                   "static: {from: a}", "dynamic: {for: 0.1 s, step: 10 ms}")  # fmt: skip
        self.run_it()
        want = self.columns("angle", "tau", "e")
        for increments in (12, 50, 62, 80, 95, 120):
            (self.folder / "out.h5").unlink()
            self.succeeds("run", "p.yaml", "-o", "out.h5", "--increments", increments)
            self.assertLess(len(self.columns("angle")), len(want))
            self.succeeds("run", "p.yaml", "-o", "out.h5", "--resume")
            self.assertEqual(self.columns("angle", "tau", "e"), want)

    def test_numbers_of_the_file_may_be_unknown(self):
        # k a + m g l sin(a) = tau: the spring that gives 0.03 rad, also in the modes and the motion that follow
        a = 0.03
        k = (0.5 - 9.81 * math.sin(a)) / a
        self.study("static:", "inverse: {name: find, target: {angle: 0.03}, actuators: {k: [0.1, 20]}}", "modes: {count: 1}",
                   "change: {motor.effort: 1.5 N*m}", "static: {name: more}", "dynamic: {for: 50 ms, step: 10 ms}")  # fmt: skip
        result = self.run_it()
        found = result["inverse"][0]
        self.assertTrue(found["reached"])
        self.assertAlmostEqual(found["inputs"][0]["value"], k, places=8)
        self.assertEqual(found["inputs"][0]["name"], "k")
        rows = self.columns("angle", "e.balance")
        for row in rows[1:2] + rows[3:4]:  # not the shape of the mode
            self.assertAlmostEqual(row[1], a, places=9)
        for row in rows:
            self.assertLess(abs(row[2]), 1e-9)
        self.assertAlmostEqual(result["modes"][0]["frequency"],
                               math.sqrt((k + 9.81 * math.cos(a)) / 0.6) / (2 * math.pi), places=6)  # fmt: skip
        # after the change the found number stays
        self.assertAlmostEqual(rows[4][1], angle_of(1.5, k), places=9)
        a = math.pi / 6
        # a number that is no parameter, together with an input
        self.study("inverse: {target: {angle: 30 deg, tau: 2 N*m}, actuators: {motor: , arm.body.mass: [0.1 kg, 9 kg]}}")
        found = self.run_it()["inverse"][0]["inputs"]
        mass = (2 - 3 * a) / (9.81 * 0.5 * math.sin(a))
        self.assertAlmostEqual({x["name"]: x["value"] for x in found}["arm.body.mass"], mass, places=7)

    def test_found_numbers_resume_with_the_same_bits(self):
        self.study("static:", "inverse: {name: find, target: {angle: 0.03}, actuators: {k: [0.1, 20]}}",
                   "dynamic: {for: 0.2 s, step: 10 ms}", "change: {motor.effort: 1.5 N*m}",
                   "dynamic: {name: more, for: 0.2 s, step: 10 ms}")  # fmt: skip
        self.succeeds("run", "p.yaml", "-o", "out.h5")
        whole = self.succeeds("show", "out.h5", "--csv").out
        for increments in (5, 15, 25, 38, 45):
            self.succeeds("run", "p.yaml", "-o", "out.h5", "--increments", increments)
            self.succeeds("run", "p.yaml", "-o", "out.h5", "--resume")
            self.assertEqual(self.succeeds("show", "out.h5", "--csv").out, whole)

    def test_numbers_that_cannot_be_unknown_are_named(self):
        find = "inverse: {name: find, target: {angle: 0.03}, actuators: {k: [0.1, 20]}}"
        self.assertIn("cannot vary after step 'find'", self.refused(find, "linearize: {input: k}"))
        self.assertIn("is an unknown of step 'find'", self.refused(find, "change: {k: 2}"))
        self.assertIn("names a step before 'find'", self.refused("static:", find, "static: {name: b, from: static}"))
        self.assertIn("there is no actuator and no load 'kk'", self.refused(find.replace("k:", "kk:")))

    def test_mistakes_are_named(self):
        self.assertIn("needs 'target'", self.refused("inverse: {}"))
        self.assertIn("angel", self.refused("inverse: {target: {angel: 1}}"))
        self.assertIn("needs 1 values", self.refused("inverse: {target: {angle: [1, 2]}}"))
        self.assertIn("p.yaml:9", self.refused("inverse: {target: {angle: 1 m}}"))
        self.assertIn("not a function of the state", self.refused("inverse: {target: {e.work: 1 J}}"))
        self.assertIn("there is no actuator and no load 'moto'", self.refused("inverse: {target: {angle: 1}, actuators: [moto]}"))
        self.assertIn("no value is within both", self.refused("inverse: {target: {angle: 1}, actuators: {motor: [3, 2]}}"))
        self.assertIn("a 'rate' needs a time", self.refused("inverse: {target: {angle: 1}, actuators: {motor: {rate: 1}}}"))
        self.assertIn("given twice", self.refused("inverse: {target: {angle: 1}, actuators: [motor, motor]}"))
        self.assertIn("is no target", self.refused("inverse: {target: {angle: 1}, weight: {tau: 1}}"))
        self.assertIn("kinematic", self.refused("inverse: {target: {angle: 1}}", "kinematic: {for: 1, step: 0.1}"))


if __name__ == "__main__":
    harness.main()
