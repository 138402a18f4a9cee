# SPDX-License-Identifier: MIT
"""linearize as a step of a study: the model in the result file, its exports, what is refused."""
import csv
import io
import math

import harness

# a pendulum of 2 kg on 0.5 m: a'' = -(g/l) sin(a) - 0.2 a' + 2 tau
PENDULUM = """\
sinew: 1
parameters: {M: 2 kg}
robot:
  arm: {on: world, joint: revolute, axis: y, damping: 0.1, body: {mass: M, com: [0, 0, -0.5], inertia: [0, 0, 0]}}
actuators: {motor: {joint: arm, effort: 0 N*m}}
loads: {push: {on: arm, torque: [0, 1 mN*m, 0]}}
probes: {angle: {angle: arm}, tip: {position: arm}, p: poles}
study:
%s
"""


class LinearizeStep(harness.Case):
    def study(self, *steps):
        self.write("p.yaml", PENDULUM % "\n".join(f"  - {s}" for s in steps))

    def models(self, *options):
        self.succeeds("run", "p.yaml", "-o", "out.h5", *options)
        return {m["step_name"]: m for m in self.succeeds("show", "out.h5", "--json").json["runs"][0]["linear"]}

    def refused(self, *steps):
        self.study(*steps)
        return self.fails(2, "check", "p.yaml").err

    def test_models_of_an_equilibrium_and_of_a_motion(self):
        self.study("static:", "linearize: {input: [motor, push.ty, M, t], probe: [angle, tip.x]}",
                   "dynamic: {for: 0.3 s, step: 10 ms}", "change: {M: 4 kg}",
                   "linearize: {name: later, input: motor, probe: angle}")  # fmt: skip
        m = self.models()
        first, later = m["linearize"], m["later"]
        a = math.asin(1e-3 / 9.81)
        self.assertEqual([s["name"] for s in first["states"]], ["arm.angle", "arm.angle.rate"])
        self.assertEqual([u["name"] for u in first["inputs"]], ["motor", "push.ty", "M", "t"])
        self.assertAlmostEqual(first["A"][1][0], -9.81 / 0.5 * math.cos(a), places=9)
        self.assertAlmostEqual(first["A"][1][1], -0.2, places=12)
        for got, want in zip(first["B"][1], [2, 2, -9.81 * 0.5 * math.sin(a) / 0.5, 0]):
            self.assertAlmostEqual(got, want, places=9)
        self.assertAlmostEqual(first["inputs"][2]["value"], 2)
        # of the changed model, at the state where the motion ended
        angle = later["states"][0]["value"]
        self.assertAlmostEqual(later["time"], 0.3)
        self.assertAlmostEqual(later["A"][1][0], -9.81 / 0.5 * math.cos(angle), places=8)
        self.assertAlmostEqual(later["A"][1][1], -0.1, places=10)
        # the probe shows the poles; before the first model there are none
        rows = list(csv.DictReader(io.StringIO(self.succeeds("show", "out.h5", "--csv", "--probe", "p").out)))
        self.assertEqual(rows[0]["p.re1"], "nan")
        self.assertAlmostEqual(float(rows[1]["p.re1"]), -0.1, places=10)
        self.assertAlmostEqual(float(rows[1]["p.im1"]), math.sqrt(9.81 / 0.5 * math.cos(a) - 0.01), places=9)
        self.assertAlmostEqual(float(rows[-1]["p.re1"]), -0.05, places=10)

    def test_it_is_the_model_of_the_command(self):
        self.study("dynamic: {for: 0.2 s, step: 10 ms}", "linearize: {input: motor, step: 20 ms, scheme: bdf2}")
        self.succeeds("run", "p.yaml", "-o", "out.h5")
        self.succeeds("export", "out.h5", "--linear", "linearize", "-o", "step.csv")
        self.succeeds("linearize", "p.yaml", "--at", "0.2 s", "--input", "motor", "--step", "20 ms", "--scheme", "bdf2",
                      "-o", "command.csv")  # fmt: skip
        step, command = ([r for r in csv.reader(io.StringIO((self.folder / f).read_text()))] for f in ("step.csv", "command.csv"))
        self.assertEqual([r[:2] for r in step], [r[:2] for r in command])
        for a, b in zip(step[3:], command[3:]):
            for x, y in zip(a[3:], b[3:]):
                self.assertAlmostEqual(float(x), float(y), places=6)
        for name in ("step.mat", "step.h5"):
            self.succeeds("export", "out.h5", "--linear", "linearize", "-o", name)
        self.assertIn("parasitic: of the scheme", self.succeeds("show", "out.h5", "--linear", "linearize").out)
        self.assertIn("no linear model of a step 'other'", self.fails(2, "export", "out.h5", "--linear", "other", "-o", "x.mat").err)
        self.assertIn("ends in .mat", self.fails(2, "export", "out.h5", "--linear", "linearize", "-o", "x.glb").err)

    def test_stopped_and_resumed_the_file_is_the_same(self):
        self.study("static:", "linearize: {name: a}", "dynamic: {for: 0.2 s, step: 10 ms}", "linearize: {name: b}",
                   "dynamic: {name: c, for: 0.1 s, step: 10 ms}")  # fmt: skip
        whole, text = self.models(), self.succeeds("show", "out.h5", "--csv").out
        for increments in (1, 2, 11, 22, 30):
            self.models("--increments", increments)
            self.succeeds("run", "p.yaml", "-o", "out.h5", "--resume")
            self.assertEqual(self.succeeds("show", "out.h5", "--csv").out, text)
            again = {m["step_name"]: m for m in self.succeeds("show", "out.h5", "--json").json["runs"][0]["linear"]}
            self.assertEqual(again, whole)

    def test_roots_of_the_scheme_are_no_poles_of_the_probe(self):
        # x'' + 0.2 x' + x = 0, h = 1 s: roots of bdf2 from the literature of the scheme (specification 2.8)
        self.write("p.yaml", """\
sinew: 1
gravity: 0
robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: 1 N/m, damping: 0.2, body: {mass: 1 kg, inertia: [0, 0, 0]}}}
probes: {p: poles}
study: [linearize: {step: 1 s, scheme: bdf2}]
""")  # fmt: skip
        m = self.models()["linearize"]
        poles = sorted((p["parasitic"], p["re"], abs(p["im"])) for p in m["poles"])
        for got, want in zip(poles, 2 * [(False, 0.609237905, 0.635111328)] + 2 * [(True, 0.292170546, 0.074555026)]):
            self.assertEqual(got[0], want[0])
            self.assertAlmostEqual(got[1], want[1], places=8)
            self.assertAlmostEqual(got[2], want[2], places=8)
        row = self.succeeds("show", "out.h5", "--csv", "--probe", "p").out.splitlines()[1].split(",")
        self.assertAlmostEqual(float(row[1]), math.log(math.hypot(0.609237905, 0.635111328)), places=8)
        self.assertAlmostEqual(float(row[2]), math.atan2(0.635111328, 0.609237905), places=8)
        self.assertEqual(row[3], "nan")

    def test_mistakes_are_named(self):
        self.assertIn("'pump' is no input", self.refused("linearize: {input: pump}"))
        self.assertIn("no probe 'tap'", self.refused("linearize: {probe: tap}"))
        self.assertIn("'scheme' is of the discrete model", self.refused("linearize: {scheme: bdf2}"))
        self.assertIn("scheme 'newmark' has no 'rho'", self.refused("linearize: {step: 1 ms, scheme: newmark, rho: 0.5}"))
        self.assertIn("'rho' must be from", self.refused("linearize: {step: 1 ms, rho: 2}"))
        self.assertIn("is not a function of the state", self.refused("linearize: {probe: p}"))
        self.assertIn("is changed by step 'change' before the linear model",
                      self.refused("change: {M: 3 kg}", "linearize: {input: M}"))  # fmt: skip

    def test_steps_of_conserving_and_moreau(self):
        """x1 = x0 + h v, v1 = v0 + h a at the middle: the middle rule of the linear oscillator about rest, and in motion."""
        self.study("static:", "linearize: {name: rest, step: 10 ms, scheme: conserving, input: [motor, M], probe: [angle, tip.x]}",
                   "dynamic: {for: 0.3 s, step: 10 ms}",
                   "linearize: {name: moves, step: 10 ms, scheme: moreau, input: [motor, t], probe: angle}")  # fmt: skip
        m = self.models()
        k, d, h = 9.81 / 0.5 * math.cos(math.asin(1e-3 / 9.81)), 0.2, 0.01
        n = 1 + d * h / 2 + k * h * h / 4
        want = [[1 - k * h * h / 2 / n, h / n], [-k * h / n, (1 - d * h / 2 - k * h * h / 4) / n]]
        for got, row in zip(m["rest"]["A"], want):
            for a, b in zip(got, row):
                self.assertAlmostEqual(a, b, places=8)
        self.assertAlmostEqual(m["rest"]["B"][0][0], h * h / n, places=10)  # 2 tau h^2/2
        self.assertTrue(all(not p["parasitic"] for p in m["rest"]["poles"]))
        self.assertEqual([s["name"] for s in m["moves"]["states"]], ["arm.angle", "arm.angle.rate"])
        self.study("linearize: {step: 10 ms, scheme: moreau, probe: root}")
        self.write("p.yaml", (PENDULUM % "  - linearize: {step: 10 ms, scheme: moreau, probe: root}").replace("p: poles", "root: {reaction: arm}"))
        self.assertIn("probe 'root' reads accelerations or forces", self.fails(1, "run", "p.yaml", "-o", "out.h5").err)


if __name__ == "__main__":
    harness.main()
