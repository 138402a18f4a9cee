# SPDX-License-Identifier: MIT
"""sinew optimize: optimal motion, gaits and designs against closed forms and independent programs."""
import csv
import pathlib
import unittest

import harness

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "optimal"

# a pendulum of unit mass and length, pushed by a motor; its static angle is that of the torque
SMALL = """\
sinew: 1
gravity: 0
parameters: {a: 0.5, b: 0.2, u: 0}
robot:
  slider: {on: world, joint: prismatic, axis: x, stiffness: 1 N/m, body: {mass: 1 kg}}
actuators:
  push: {joint: slider, effort: (a + 2*b)*(1 N)}
study:
  - static: {}
probes: {y: {value: slider}, square: {law: a^2 + b^2}}
"""


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("try.yaml", SMALL + "optimize: {variables: {a: {}}, minimise: end(y^2)}\n")
        if "without NLopt" in self.sinew("optimize", "try.yaml").err:
            self.skipTest("built without NLopt")
        (self.folder / "try.yaml").unlink()


class Optimal(Case):
    """The reference problems of examples/optimal."""

    def best(self, name, *args):
        reply = self.succeeds("optimize", str(EXAMPLES / f"{name}.yaml"), *args, "--json").json
        self.assertTrue(reply["converged"])
        self.assertLess(reply["violation"], 1e-8)
        return reply, {v["name"]: v["value"] for v in reply["variables"]}

    def close(self, got, wanted, error):
        self.assertLess(abs(got - wanted), error, (got, wanted))

    def test_from_rest_to_rest(self):
        reply, x = self.best("rest_to_rest", "--set", "dynamic.scheme=newmark", "--set", "dynamic.step=2.5 ms")
        self.assertEqual(reply["gradient"], "adjoint")
        # the error of the scheme, (w h)^2/12 of the frequency, was halved twice: 3.4e-2, 8.4e-3, 2.1e-3
        self.close(reply["cost"], 109.0083425377, 3e-3)
        # prices: the cost is a quadratic form of the distance
        self.close(reply["constraints"][0]["price"], 2 * reply["cost"], 1e-7)
        self.close(x["u[0]"], -x["u[49]"], 1e-6)

    def test_from_rest_to_rest_sampled_exactly(self):
        reply, x = self.best("rest_to_rest")
        self.assertEqual(reply["gradient"], "adjoint")
        self.close(reply["cost"] / 109.0083425377, 1, 1e-9)
        self.close(x["u[0]"], 19.10285045, 1e-6)
        self.close(x["u[24]"], 0.23749490, 1e-6)

    def test_from_rest_to_rest_in_other_times(self):
        for name, time, step, cost in (("two", "2 s", "20 ms", 14.2007061139), ("half", "0.5 s", "10 ms", 13689.4370706792)):
            self.write(f"{name}.yaml", f"sinew: 1\ninclude: {EXAMPLES}/rest_to_rest.yaml\nruns: ~\nexpect: ~\n"
                       f"study: [dynamic: {{for: {time}, step: {step}, scheme: gauss6}}]\noptimize: {{variables: {{u: {{until: {time}}}}}}}\n")
            reply = self.succeeds("optimize", f"{name}.yaml", "--json").json
            self.close(reply["cost"] / cost, 1, 1e-9)

    def test_a_slew_without_residual_vibration(self):
        reply, _ = self.best("slew", "--result", "best.h5")
        self.close(reply["cost"], 12.148004911852, 1e-9)  # straight pieces: a quadratic programme by hand
        last = self.succeeds("show", "best.h5", "--json").json["runs"][0]["last"]
        self.close(last["phi"], 1, 1e-9)
        self.assertLess(last["residual"], 1e-8)

    @unittest.skipIf(harness.SLOW, "many runs of lines that others run")
    def test_least_bending_energy_and_the_forces_that_hold_it(self):
        reply, _ = self.best("bending")
        self.close(reply["cost"], 13.2100639990, 1e-7)
        for c, force in zip(reply["constraints"], (-42.260765081, -7.401801631, -7.449744693)):
            self.close(c["price"], force, 2e-6)

    def test_least_bending_energy_through_other_poses(self):
        # start, pose, energy of the smallest extremal, the force in it (references.md, K)
        for start, pose, energy, force in (("c0: 0.5, c1: 0, c2: -3", (0.8, 0.3, 0), 5.9694766104, (-39.896702883, -14.961263581)),
                                           ("c0: 3, c1: 0, c2: 0.1", (0.5, 0.5, "3.141592653589793"), 8.0717436848, (17.937837672, 3.209699686))):
            limits = ", ".join(f"{{value: end(tip.{c}), is: {v}}}" for c, v in zip(("x", "y", "rz"), pose))
            self.write("pose.yaml", f"sinew: 1\ninclude: {EXAMPLES}/bending.yaml\nparameters: {{{start}}}\nruns: ~\nexpect: ~\noptimize: {{subject: [{limits}]}}\n")
            reply = self.succeeds("optimize", "pose.yaml", "--json").json
            self.close(reply["cost"], energy, 1e-8)
            for c, n in zip(reply["constraints"], force):
                self.close(c["price"], n, 3e-6)

    def test_the_best_taper(self):
        reply, x = self.best("cone")
        self.close(reply["cost"], 0.673844992436, 1e-8)
        self.close(x["tau"], 0.565741454089, 1e-5)

    def test_the_best_route(self):
        reply, x = self.best("routing")
        self.close(x["d"], 24**-0.5, 1e-6)
        self.close(x["c"], 0, 1e-6)
        self.assertLess(reply["cost"], 1e-15)

    @unittest.skipIf(harness.SLOW, "many runs of lines that others run")
    def test_a_limit_of_an_extreme_holds_at_all_instants(self):
        # without more than one instant at its limit the search would end after a few evaluations at a corner
        reply, x = self.best("speed_limit")
        self.close(reply["cost"], 15.36, 1e-7)
        self.close(reply["constraints"][2]["value"], 1.2, 1e-9)
        self.close(reply["constraints"][2]["price"], -38.4, 1e-3)
        self.close(x["u[5]"], 4.8, 1e-4)  # 2 v/T1 (1 - t/T1) at half of T1 = 0.25 s
        # of a limit that cannot hold a constraint is named: the mean speed is 1 m/s
        result = self.fails(1, "optimize", str(EXAMPLES / "speed_limit.yaml"), "--set", "v=0.9", "--evaluations", "12")
        self.assertRegex(result.err, "'(max.speed.|end.place.|end.speed.)' (stays|is still) at")

    def test_the_longest_stride(self):
        reply, x = self.best("inchworm_stride")
        self.close(reply["cost"], 1.4027593957026, 1e-7)
        self.close(x["A"], 3.8317059702075, 1e-4)

    def test_the_best_stroke(self):
        reply, x = self.best("three_links_stroke")
        self.assertEqual(reply["gradient"], "adjoint")
        self.close(reply["cost"], 0.139731568, 1e-7)
        self.close(x["A"], 1.506395, 1e-4)
        reply, x = self.best("three_links_stroke", "--run", "phased")
        self.close(reply["cost"], 0.19561167, 1e-7)
        self.close(x["A"], 1.6778, 1e-3)
        self.close(x["psi"], 2.2534, 1e-3)

    def test_the_best_strokes_in_viscous_flow(self):
        reply, x = self.best("slender_links")
        self.close(reply["cost"], 0.246856179, 1e-7)
        self.close(x["A"], 1.633162, 1e-4)
        reply, x = self.best("slender_links", "--run", "efficient")
        self.close(reply["cost"], 0.0113821531, 1e-8)
        self.close(x["A"], 1.332557, 1e-4)


class Small(Case):
    def small(self, block, name="small.yaml"):
        self.write(name, SMALL + block)
        return name

    def test_bounds_and_constraints_have_prices(self):
        # nearest point to the origin on a + 2 b = 1: (0.2, 0.4), square 0.2, whose derivative by the limit is 0.4
        file = self.small("optimize: {variables: {a: {}, b: {}}, minimise: end(square), subject: [{value: end(y), is: 1}]}\n")
        reply = self.succeeds("optimize", file, "-o", "best.yaml", "--json").json
        self.assertAlmostEqual(reply["cost"], 0.2, 9)
        self.assertAlmostEqual(reply["constraints"][0]["price"], 0.4, 7)
        self.succeeds("run", "best.yaml", "-q")
        last = self.succeeds("show", "best.h5", "--json").json["runs"][0]["last"]
        self.assertAlmostEqual(last["y"], 1, 9)
        self.assertAlmostEqual(last["square"], 0.2, 9)
        # b at most 0.3: a = 0.4, square 0.25; d/db (1 - 2b)^2 + b^2 = -4 a + 2 b = -1
        file = self.small("optimize: {variables: {a: {}, b: {high: 0.3}}, minimise: end(square), subject: [{value: end(y), above: 1, below: 7}]}\n")
        shown = self.succeeds("optimize", file).out
        self.assertIn("at its upper bound, price -1", shown)
        reply = self.succeeds("optimize", file, "--json").json
        self.assertAlmostEqual(reply["cost"], 0.25, 9)
        self.assertAlmostEqual(reply["variables"][1]["price"], -1, 6)
        self.assertEqual([v["bound"] for v in reply["variables"]], ["", "high"])
        # the other methods do without equalities
        for method in ("mma", "ccsaq"):
            file = self.small(f"optimize: {{method: {method}, variables: {{a: {{low: 0, high: 1}}, b: {{low: 0, high: 0.3}}}}, minimise: end(square), subject: [{{value: end(y), above: 1}}]}}\n")
            self.assertAlmostEqual(self.succeeds("optimize", file, "--json").json["cost"], 0.25, 5)

    def test_a_variable_without_effect_is_named(self):
        file = self.small("optimize: {variables: {a: {low: -5, high: 5}, u: {}}, minimise: end((y - 0.3)^2)}\n")
        reply = self.succeeds("optimize", file, "--json").json
        self.assertEqual([(v["name"], v["idle"]) for v in reply["variables"]], [("a", False), ("u", True)])
        self.assertRegex(self.succeeds("optimize", file).out, r"u +0 +0 +changes neither cost nor constraints")

    def test_evaluations_that_fail_are_told(self):
        # the farther the slider is to go, the better, and beyond a = 1 there is no such spring
        text = SMALL.replace("stiffness: 1 N/m", "stiffness: sqrt(1 - a)*1 N/m").replace("a: 0.5", "a: 0")
        self.write("wall.yaml", text.replace("(a + 2*b)", "0.2") + "optimize: {variables: {a: {high: 3}}, maximise: end(y)}\n")
        r = self.fails(1, "optimize", "wall.yaml", "--json")
        self.assertRegex(r.err, r"of the gradient is left: .*\. \d+ evaluations? failed, which bounds may prevent, the last one: ")
        self.assertNotEqual(r.json["gradient"], "differences")

    def test_maximum(self):
        file = self.small("optimize: {variables: {a: {low: -1, high: 1}}, maximise: 3 - end((y - 0.9)^2)}\n")
        reply = self.succeeds("optimize", file, "--json").json
        self.assertAlmostEqual(reply["cost"], 3, 9)
        self.assertAlmostEqual(reply["variables"][0]["value"], 0.5, 5)

    def test_constraints_that_cannot_be_met(self):
        file = self.small("optimize: {variables: {a: {low: 0, high: 1}}, minimise: end(square), subject: [{value: end(y), is: 5}]}\n")
        result = self.fails(1, "optimize", file)
        self.assertRegex(result.err, "does not meet|the search ended")
        self.assertIn("at its upper bound", result.out)
        file = self.small("optimize: {variables: {a: {low: 0, high: 1}}, minimise: end(square), subject: [{value: end(y), above: 5}]}\n")
        self.assertIn("does not meet the constraints: 'end(y)' stays at 1.4, below its limit 5", self.fails(1, "optimize", file).err)

    def test_the_least_maximum(self):
        # 1 m in 1 s with |u| <= 8 N in pieces of 25 ms, the least peak of the speed: five full pieces, a part of one, coasting
        model = """\
sinew: 1
gravity: 0
parameters: {u: 0 N, p: 2}
robot: {cart: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg}}}
actuators: {push: {joint: cart, effort: u}}
study: [dynamic: {for: 1 s, step: 25 ms, scheme: gauss4}]
probes: {place: {value: cart}, speed: {rate: cart}, peak: {law: p}}
optimize:
  variables: {u: {law: hold, knots: 40, until: 1 s, unit: N, low: -8, high: 8}, p: {low: 0, high: 5}}
  minimise: end(peak)
  subject: [{value: end(place), is: 1}, {value: end(speed), is: 0}, {value: max(speed - peak), below: 0}]
"""
        self.write("peak.yaml", model)
        reply = self.succeeds("optimize", "peak.yaml", "--json").json
        self.assertAlmostEqual(reply["cost"], 0.85 / 0.725, places=9)
        self.assertAlmostEqual(reply["constraints"][2]["price"], -1, places=6)

    def test_a_fold_is_placed(self):
        # the rise of a truss that snaps through at 10 N, 2 k ((l/b)^(2/3) - 1)^(3/2), l^2 = 1 + rise^2; a sweep shows it
        self.write("truss.yaml", """\
sinew: 1
gravity: 0
parameters: {rise: 0.2 m, P: 1 N/s*t}
robot: {apex: {on: world, pose: {xyz: [0, rise, 0]}, joint: prismatic, axis: y, body: {mass: 1 kg}}}
springs: {bar(i=1..2): {spring: [{xyz: [2*i - 3, 0, 0]}, apex], rest: "sqrt(1 m^2 + rise^2)", stiffness: 1000}}
loads: {press: {on: apex, force: [0, -P, 0]}}
study: [path: {range: [-40 s, 40 s]}]
probes: {load: {law: P}}
optimize: {variables: {rise: {low: 0.1, high: 0.5}}, minimise: (fold(load) - 10)^2, subject: [{value: "fold(2, load)", below: 0}]}
""")
        reply = self.succeeds("optimize", "truss.yaml", "--json").json
        rise = ((1 + 0.005**(2/3))**3 - 1)**0.5
        self.assertAlmostEqual(reply["variables"][0]["value"], rise, places=8)
        self.write("plan.yaml", "sinew: 1\nmodel: truss.yaml\nvary: {rise: [0.1 m, %.12f m]}\nkeep: {peak: fold(load)}\n" % rise)
        self.succeeds("sweep", "plan.yaml")
        self.succeeds("sweep", "plan.h5", "--csv", "rows.csv")
        with open(self.folder / "rows.csv", newline="") as file:
            self.assertAlmostEqual(float(list(csv.DictReader(file))[-1]["peak"]), 10, places=7)

    def test_an_old_table_outlives_a_wrong_model(self):
        self.write("log.csv", "t,x\n1,2\n")
        self.fails(2, "optimize", self.small("optimize: {variables: {a: {}}, minimise: end(z)}\n"), "--log", "log.csv")
        self.assertEqual((self.folder / "log.csv").read_text(), "t,x\n1,2\n")

    def test_a_root_at_zero_is_named(self):
        file = self.small("optimize: {variables: {a: {start: 0}}, minimise: end(square - square)^(1/4) + end(y^2)}\n")
        self.assertIn("no finite derivative", self.fails(1, "optimize", file).err)

    def test_an_interrupted_search_goes_on(self):
        block = "optimize: {variables: {a: {}, b: {}}, minimise: end(square^2 + (y - 2)^4), subject: [{value: end(y), above: 1}]}\n"
        file = self.small(block)
        whole = self.succeeds("optimize", file, "--log", "whole.csv", "--json").json
        rows = (self.folder / "whole.csv").read_text().splitlines(keepends=True)
        self.assertEqual(len(rows), 2 + whole["evaluations"])
        # killed in the middle of a row
        self.write("cut.csv", "".join(rows[:6]) + rows[6][:20])
        again = self.succeeds("optimize", file, "--log", "cut.csv", "--resume", "--json").json
        self.assertEqual(again["cost"], whole["cost"])
        self.assertEqual((self.folder / "cut.csv").read_text(), "".join(rows))
        # of another problem
        result = self.fails(2, "optimize", self.small(block.replace("1}]", "1.5}]"), "other.yaml"), "--log", "cut.csv", "--resume")
        self.assertIn("that of another file", result.err)
        self.write("cut.csv", "t, x\n1, 2\n")
        self.assertIn("no table of", self.fails(2, "optimize", file, "--log", "cut.csv", "--resume").err)
        self.assertIn("name it by --log", self.fails(2, "optimize", file, "--resume").err)

    def test_the_course_is_drawn(self):
        file = self.small("optimize: {variables: {a: {}, b: {}}, minimise: end(square), subject: [{value: end(y), is: 1}]}\n")
        self.succeeds("optimize", file, "--log", "course.csv")
        reply = self.succeeds("plot", "course.csv", "--json").json
        axes = ["cost", "log10 of cost above least", "log10 of violation"]
        self.assertEqual((reply["figure"], [panel["axis"] for panel in reply["panels"]]), ("course.svg", axes))
        self.assertIn("evaluation", (self.folder / "course.svg").read_text())
        # what meets the constraints within 1e-9 has no violation
        rows = (self.folder / "course.csv").read_text().splitlines(keepends=True)
        met = [",".join(row.split(",")[:2] + ["1e-13"] + row.split(",")[3:]) for row in rows[2:]]
        self.write("met.csv", "".join(rows[:2] + met))
        self.assertEqual([panel["axis"] for panel in self.succeeds("plot", "met.csv", "--json").json["panels"]], axes[:2])
        self.write("other.csv", "t, x\n1, 2\n")
        self.assertIn("no table of", self.fails(2, "plot", "other.csv").err)
        self.assertIn("by itself", self.fails(2, "plot", "course.csv", "course.csv").err)

    def test_what_is_wrong_is_named(self):
        for says, block in (
            ("no block 'optimize'", ""),
            ("'variables' are missing", "optimize: {minimise: end(y)}\n"),
            ("there is no cost", "optimize: {variables: {a: {}}}\n"),
            ("give one of them", "optimize: {variables: {a: {}}, minimise: end(y), maximise: end(y)}\n"),
            ("'low' must be below 'high'", "optimize: {variables: {a: {low: 1, high: 0}}, minimise: end(y)}\n"),
            ("'start' must be within", "optimize: {variables: {a: {low: 1, start: 0}}, minimise: end(y)}\n"),
            ("outside of its bounds", "optimize: {variables: {a: {low: 1}}, minimise: end(y)}\n"),
            ("'scale' must be positive", "optimize: {variables: {a: {scale: 0}}, minimise: end(y)}\n"),
            ("belongs to a law", "optimize: {variables: {a: {knots: 3}}, minimise: end(y)}\n"),
            ("needs 'knots' and 'until'", "optimize: {variables: {u: {law: hold}}, minimise: end(y)}\n"),
            ("must end after it begins", "optimize: {variables: {u: {law: hold, knots: 2, until: 0 s}}, minimise: end(y)}\n"),
            ("unknown key 'lower'", "optimize: {variables: {a: {lower: 1}}, minimise: end(y)}\n"),
            ("'is', 'above' or 'below'", "optimize: {variables: {a: {}}, minimise: end(y), subject: [{value: end(y)}]}\n"),
            ("leaves nothing", "optimize: {variables: {a: {}}, minimise: end(y), subject: [{value: end(y), is: 1, below: 2}]}\n"),
            ("scalar 'end(z)'", "optimize: {variables: {a: {}}, minimise: end(z)}\n"),
            ("'nothing'", "optimize: {variables: {nothing: {}}, minimise: end(y)}\n"),
            ("takes no equalities", "optimize: {method: mma, variables: {a: {}}, minimise: end(y), subject: [{value: end(y), is: 1}]}\n"),
            ("2 equalities are more than the 1 variable can meet", "optimize: {variables: {a: {}}, minimise: end(y), "
             "subject: [{value: end(y), is: 1}, {value: end(square), is: 1}]}\n"),  # fmt: skip
        ):
            result = self.fails(2, "optimize", self.small(block))
            self.assertIn(says, result.err)
        file = self.small("optimize: {variables: {a: {}}, minimise: end(y^2)}\n")
        self.assertIn("would overwrite the model", self.fails(2, "optimize", file, "-o", "small.yaml").err)
        self.assertIn("--gradient is", self.fails(2, "optimize", file, "--gradient", "guess").err)
        self.assertIn("used up", self.fails(1, "optimize", file, "--evaluations", "2", "--set", "a=3").err)

    def test_evaluations_are_counted(self):
        # all of them: of the start, of the search and of the result, which is the best so far
        file = self.small("optimize: {variables: {a: {low: -5, high: 5}}, minimise: end((y - 0.3)^2 + y^4)}\n")
        whole = self.fails(1, "optimize", file, "--evaluations", "1", "--set", "a=3", "--json").json
        start = whole["cost"]
        for most in (1, 2, 4, 5):
            result = self.fails(1, "optimize", file, "--evaluations", str(most), "--set", "a=3", "--json", "--log", "l%d.csv" % most).json
            self.assertLessEqual(result["evaluations"], most)
            self.assertGreaterEqual(result["evaluations"], most - 1)
            self.assertLessEqual(result["cost"], start)
            rows = (self.folder / ("l%d.csv" % most)).read_text().splitlines()
            self.assertEqual(len(rows), 2 + result["evaluations"])
        self.assertLess(result["cost"], start)


if __name__ == "__main__":
    harness.main()
