# SPDX-License-Identifier: MIT
"""sinew gradient: table, JSON, CSV, and what is refused."""
import csv
import io
import math

import harness

SPRING = """\
sinew: 1
gravity: 0
parameters: {k: 40 N/m, F: 3 N}
robot: {mass: {on: world, joint: prismatic, axis: x, stiffness: k, damping: 1 N*s/m, body: {mass: 2 kg}}}
actuators: {push: {joint: mass, effort: F}}
study: [static, dynamic: {name: swing, for: 0.5 s, step: 10 ms}]
probes: {place: {value: mass}}
runs: {plain: {}, adaptive: {swing.scheme: adaptive}}
"""


# x" = -w^2 x + F [x >= c]; derivatives at 0.7 s in closed form
PLACE = """\
sinew: 1
parameters: {w: 2, F: -3 N, c: 0.4 m, v0: 1.5 m/s, T: 0.3 s}
gravity: 0
robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: w^2*1 N/m, body: {mass: 1 kg}}}
initial: {cart: {rate: v0}}
probes: {x: {position: cart}}
loads: {push: {on: cart, force: [F, 0, 0], when: x.x >= c}}
study: [dynamic: {for: 0.7 s, step: 10 ms, scheme: gauss6}]
runs: {place: {}, time: {push.when: t >= T}}
"""


class Gradient(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", SPRING)

    def test_a_table(self):
        r = self.succeeds("gradient", "s.yaml", "--run", "plain", "--of", "end(place)", "--by", "k,F")
        self.assertIn("end(place) = 0.075", r.out)
        self.assertIn("50 steps, by adjoint", r.out)
        self.assertNotIn("one by one", r.out)

    def test_steps_that_contacts_cut_are_told(self):
        self.write("ball.yaml", """\
sinew: 1
parameters: {h: 5 cm, k: 20000, for: 0.12 s}
robot: {ball: {on: world, joint: prismatic, axis: z, body: {sphere: {radius: 2 cm}, mass: 0.1 kg}}}
initial: {ball: {position: h}}
contacts: {floor: {ground: {on: ball, stiffness: k, damping: 0.3}}}
probes: {p: {position: ball}}
study: [dynamic: {for: for, step: 2 ms}]
""")
        ask = ["gradient", "ball.yaml", "--of", "p.z", "--by", "h"]
        for method in "adjoint", "forward", "differences":
            r = self.succeeds(*ask, "--method", method)
            self.assertRegex(r.out, r"\d+ of the steps have lengths that the motion chose")
            self.assertRegex(r.out, r"other lengths of these steps change the derivatives by up to [0-9.e-]+ of the largest")
        j = self.succeeds(*ask, "--json").json
        self.assertGreater(j["cut_steps"], 3)
        self.assertGreater(j["cut_effect"], 0)
        free = self.succeeds(*ask, "--set", "for=0.05 s", "--json").json
        self.assertEqual((free["steps"], free["cut_steps"], free["cut_effect"]), (25, 0, 0))
        self.assertNotIn("lengths", self.succeeds(*ask, "--set", "for=0.05 s").out)

    def test_a_variable_given_twice(self):
        knots = "F=hold, 3, 0.5 s, N"
        r = self.fails(2, "gradient", "s.yaml", "--run", "plain", "--of", "place", "--by", "k,F", "--knots", knots)
        self.assertIn("'F' is a variable twice, by --by and by --knots; leave one of them out: the law through knots takes the "
                      "place of the number", r.err)
        self.write("c.yaml", "sinew: 1\ninclude: s.yaml\ncommands:\n  gradient:\n    of: place\n    by: [k, F]\n"
                             "    knots: {F: [hold, 3, 0.5 s, N]}\n")
        r = self.fails(2, "gradient", "c.yaml", "--run", "plain")
        self.assertIn("c.yaml:7:13: 'F' is a variable twice, by 'knots' here and by 'by' at c.yaml:6:13", r.err)
        r = self.fails(2, "gradient", "c.yaml", "--run", "plain", "--by", "F")
        self.assertIn("by --by and by knots at c.yaml:7:13", r.err)

    def test_what_costs_more_is_named(self):
        spring = SPRING.replace("actuators", "sites: {hook: {on: world, pose: {xyz: [0, 0.3, 0]}}}\n"
                                "springs: {line: {spring: [hook, mass], force: k/8*x, rest: 0.2}}\nactuators")
        self.write("t.yaml", spring)
        options = ["gradient", "t.yaml", "--run", "plain", "--of", "place", "--by", "F,k"]
        self.assertIn("taken one by one at each step, at a cost of their own: k\n", self.succeeds(*options).out)
        self.assertEqual([v["sampled"] for v in self.succeeds(*options, "--json").json["variables"]], [False, True])

    def test_studies_by_shooting(self):
        # refused with the ways to them: the other engine, and differences of runs by shooting
        self.write("r.yaml", """\
sinew: 1
parameters: {F: 0.2 N, E: 1 MPa}
materials: {rubber: {young: E, poisson: 0.5, density: 1000}}
robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 1 cm}}, material: rubber, strain: kirchhoff legendre 7, nodes: 30}}}
loads: {push: {on: arm.tip, force: [0, F, 0]}}
probes: {tip: {position: arm.tip}}
study: [static: {engine: shooting}]
""")
        options = ("gradient", "r.yaml", "--of", "tip.z", "--by", "E,F")
        why = self.fails(2, *options).err
        self.assertIn("engine: strain", why)
        self.assertIn("'differences'", why)
        exact = self.succeeds(*options, "--set", "static.engine=strain", "--json").json["scalars"][0]["derivative"]
        runs = self.succeeds(*options, "--method", "differences", "--json").json["scalars"][0]["derivative"]
        for a, b in zip(exact, runs):
            self.assertAlmostEqual(a / b, 1, delta=1e-5)

    def test_json_and_csv(self):
        options = ["gradient", "s.yaml", "--run", "plain", "--of", "place", "--of", "mean(place^2)", "--by", "k", "--by", "F"]
        r = self.succeeds(*options, "--json")
        j = r.json
        self.assertEqual(r.out.count('"error"'), 1)
        self.assertEqual((j["sweeps"], j["error"]), (1, None))
        self.assertEqual([v["name"] for v in j["variables"]], ["k", "F"])
        for got, want in zip(j["scalars"][0]["derivative"], [-3 / 1600, 1 / 40]):
            self.assertAlmostEqual(got, want, places=10)
        for got, want in zip(j["scalars"][1]["derivative"], [-2 * 9 / 64000, 6 / 1600]):
            self.assertAlmostEqual(got, want, places=10)
        rows = list(csv.reader(io.StringIO(self.succeeds(*options, "--csv").out)))
        self.assertEqual(rows[0], ["of", "value", "k", "F"])
        self.assertAlmostEqual(float(rows[1][3]), 1 / 40, places=10)

    def test_events(self):
        self.write("p.yaml", PLACE)
        for method in "adjoint", "forward":
            j = self.succeeds("gradient", "p.yaml", "--run", "place", "--of", "x.x", "--of", "max(x.x)", "--by", "w,F,c,v0", "--method", method, "--json").json
            for got, want in zip(j["scalars"][0]["derivative"], [-0.24671300404681, 0.082662681467899, 0.87828743075773, 0.25851488345883]):
                self.assertAlmostEqual(got, want, places=10)
            self.assertGreater(j["scalars"][1]["value"], j["scalars"][0]["value"])
        why = self.fails(2, "gradient", "p.yaml", "--run", "time", "--of", "x.x", "--by", "T").err
        self.assertIn("it moves the time t = 0.3 s at which a law jumps", why)

    def test_steps_that_are_no_equilibria_of_exact_loops_are_refused(self):
        for file, run, why in (("penalty", "spring", "loops by 'penalty' with a given number of 'updates' stay open"),
                               ("boyer3_march", "bent", "a march with 'flow' has no equilibria")):
            path = str(harness.SOURCE / f"examples/parallel/{file}.yaml")
            result = self.fails(2, "gradient", path, "--run", run, "--of", "end(clamp.fx)", "--by", "rod.rod.length")
            self.assertIn(why, result.err)

    def test_a_penalty_that_closes_the_loops(self):
        path, got = str(harness.SOURCE / "examples/parallel/penalty.yaml"), {}
        for run in "exact", "closed":
            j = self.succeeds("gradient", path, "--run", run, "--of", "clamp.fx", "--of", "e.elastic", "--by", "rod.rod.length", "--json").json
            got[run] = [s["derivative"][0] for s in j["scalars"]]
        for a, b in zip(got["exact"], got["closed"]):
            self.assertAlmostEqual(a / b, 1, places=8)

    def test_numbers_that_change_how_long_steps_last(self):
        # x" = a sin(2 pi t/T) from rest: x(T) = a T^2/(2 pi)
        self.write("slew.yaml", """\
sinew: 1
gravity: 0
parameters: {T: 0.75 s, a: 2 N, r: 0.7}
robot: {cart: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg}}}
actuators: {push: {joint: cart, effort: "a*sin(2*pi*t/T)"}}
probes: {place: {value: cart}}
study: [dynamic: {for: T, step: T/50, scheme: gauss6}]
""")
        ask = ["gradient", "slew.yaml", "--of", "place", "--by", "T,a"]
        j = self.succeeds(*ask, "--json").json
        self.assertEqual(j["method"], "differences")
        self.assertEqual([v["sampled"] for v in j["variables"]], [False, False])
        for d, closed in zip(j["scalars"][0]["derivative"], (2*0.75/math.pi, 0.75**2/(2*math.pi))):
            self.assertAlmostEqual(d/closed, 1, delta=1e-8)
        for method in "adjoint", "forward":
            r = self.fails(2, *ask, "--method", method)
            self.assertIn("no derivative by 'T' through the steps taken: it changes 'for' of 'dynamic'", r.err)
        r = self.fails(2, "gradient", "slew.yaml", "--of", "place", "--by", "r", "--method", "adjoint",
                       "--set", "dynamic={for: 1 s, step: 10 ms, rho: r}")
        self.assertIn("it changes 'rho' of 'dynamic'", r.err)
        # a controller with samples: two periods of a free mass under u = -k x(0), then u = -k x(h)
        self.write("samples.yaml", """\
sinew: 1
gravity: 0
parameters: {h: 0.2 s, k: 3 N/m}
robot: {cart: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg}}}
initial: {cart: 0.3 m}
actuators: {push: {joint: cart, effort: "-k*sampled(place, h)"}}
probes: {place: {value: cart}}
study: [dynamic: {for: 0.35 s, step: 10 ms, scheme: gauss4}]
""")
        samples = ["gradient", "samples.yaml", "--of", "place", "--by", "h"]
        x0, k, h, t = 0.3, 3, 0.2, 0.35

        def place(h):
            x, v = x0 * (1 - k * h**2 / 2), -k * x0 * h
            return x + v * (t - h) - k * x * (t - h) ** 2 / 2

        j = self.succeeds(*samples, "--json").json
        self.assertAlmostEqual(j["scalars"][0]["value"], place(h), places=10)
        self.assertAlmostEqual(j["scalars"][0]["derivative"][0], (place(h + 1e-5) - place(h - 1e-5)) / 2e-5, delta=1e-7)
        self.assertIn("it changes 'period' of '", self.fails(2, *samples, "--method", "adjoint").err)
        steps = self.succeeds(*ask, "--set", "dynamic={for: 1 s, step: 10 ms}", "--json").json
        self.assertEqual(steps["method"], "adjoint")

    def test_inverse_steps_and_paths(self):
        # the torque that holds a pendulum at an angle, k q + m g l sin(q)
        self.write("i.yaml", text := """\
sinew: 1
parameters: {k: 0.7 N*m, m: 0.3 kg, l: 0.4 m, q: 0.5}
gravity: [9.81 m/s^2, 0, 0]
robot: {arm: {on: world, joint: revolute, axis: z, stiffness: k, body: {mass: m, com: [l, 0, 0]}}}
actuators: {motor: {joint: arm, effort: 0 N*m}}
probes: {angle: {angle: arm}, torque: {effort: motor}}
study: [inverse: {target: {angle: q}, actuators: {motor: [-5 N*m, 5 N*m]}}]
""")
        k, m, length, q, g = 0.7, 0.3, 0.4, 0.5, 9.81
        r = self.succeeds("gradient", "i.yaml", "--of", "torque", "--of", "angle", "--by", "k,m,q", "--json").json
        self.assertEqual((r["method"], r["estimated_error"] < 1e-10), ("adjoint", True))
        torque, angle = [s["derivative"] for s in r["scalars"]]
        want = [q, g * length * math.sin(q), k + m * g * length * math.cos(q)]
        for got, exact in zip(torque, want):
            self.assertAlmostEqual(got, exact, delta=1e-10)
        for got, exact in zip(angle, [0, 0, 1]):
            self.assertAlmostEqual(got, exact, delta=1e-10)
        # a limit that holds: the torque stays there, and the nearest angle follows k q + m g l sin(q) = 0.8 N*m
        near = ["--set", "inverse.unreachable=nearest", "--set", "inverse.actuators.motor=[-0.8 N*m, 0.8 N*m]"]
        r = self.succeeds("gradient", "i.yaml", "--of", "torque", "--of", "angle", "--by", "k,q", *near, "--json").json
        torque, angle = [s["derivative"] for s in r["scalars"]]
        at = r["scalars"][1]["value"]
        self.assertAlmostEqual(k * at + m * g * length * math.sin(at), 0.8, delta=1e-8)
        for got, exact in zip(torque + angle, [0, 0, -at / (k + m * g * length * math.cos(at)), 0]):
            self.assertAlmostEqual(got, exact, delta=1e-9)
        # a step that finds numbers of the file: by differences, named where another method is asked for
        number = ["--set", "inverse.actuators={l: [0.1 m, 1 m]}", "--set", "motor.effort=1.2 N*m", "--of", "arm_x", "--by", "k"]
        self.write("n.yaml", text.replace("torque:", "arm_x: {law: l}, torque:"))
        r = self.succeeds("gradient", "n.yaml", *number, "--json").json
        self.assertEqual(r["method"], "differences")
        r = self.fails(2, "gradient", "n.yaml", *number, "--method", "adjoint")
        self.assertIn("n.yaml:7", r.err)
        self.assertIn("an inverse step that finds numbers of the file has one by differences of whole runs", r.err)
        # the end of a path of a constant: k q = F l cos(q)
        self.write("p.yaml", """\
sinew: 1
parameters: {k: 0.7 N*m, l: 0.4 m, F: 0.1 N}
gravity: 0
robot: {arm: {on: world, joint: revolute, axis: z, stiffness: k, body: {mass: 1 kg}}}
sites: {end: {on: arm, pose: {xyz: [l, 0, 0]}}}
loads: {push: {on: end, force: [0, F, 0]}}
probes: {angle: {angle: arm}}
study: [path: {of: F, range: [0 N, 2 N]}]
""")
        r = self.succeeds("gradient", "p.yaml", "--of", "angle", "--by", "k,l", "--json").json
        self.assertEqual(r["method"], "differences")
        at, F = r["scalars"][0]["value"], 2
        self.assertAlmostEqual(k * at, F * length * math.cos(at), delta=1e-8)
        slope = k + F * length * math.sin(at)
        for got, exact in zip(r["scalars"][0]["derivative"], [-at / slope, F * math.cos(at) / slope]):
            self.assertAlmostEqual(got, exact, delta=1e-7)

    def test_refusals(self):
        base = ["gradient", "s.yaml", "--run", "plain"]
        self.assertIn("its steps are chosen anew by their error", self.fails(2, "gradient", "s.yaml", "--run", "adaptive", "--of", "place", "--by", "k").err)
        self.assertIn("--of", self.fails(2, *base, "--by", "k").err)
        self.assertIn("--by", self.fails(2, *base, "--of", "place").err)
        self.assertIn("kk", self.fails(2, *base, "--of", "place", "--by", "kk").err)
        self.assertIn("plac", self.fails(2, *base, "--of", "plac", "--by", "k").err)
        self.assertIn("a ')' is missing", self.fails(2, *base, "--of", "end(place", "--by", "k").err)
        self.assertIn("probe 'place' has no 'x': it is one number", self.fails(2, *base, "--of", "place.x", "--by", "k").err)
        self.assertIn("sinew: 'mass' is a map, not a number", self.fails(2, *base, "--of", "place", "--by", "mass").err)
        self.assertIn("adjoint, forward or differences", self.fails(2, *base, "--of", "place", "--by", "k", "--method", "guess").err)


if __name__ == "__main__":
    harness.main()
