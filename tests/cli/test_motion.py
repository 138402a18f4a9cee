# SPDX-License-Identifier: MIT
"""Rods in motion through the command: static, change, dynamic in sequence; runs that are stopped or cannot continue."""
import json
import math
import re
import signal

import harness

# a soft rod deflected sideways by a force is released and oscillates; at the end it is held again
SWING = """\
sinew: 1
title: Pulled aside, let go
gravity: [9.81 m/s^2, 0, 0]
materials: {gel: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 5 ms}}
robot:
  arm: {on: world, rod: {length: 40 cm, section: {circle: {radius: 10 mm}}, material: gel, nodes: 12, strain: {bend_z: chebyshev 3}}}
loads:
  pull: {on: arm.tip, force: [0, 0.1 N, 0]}
study:
  - static: {name: aside}
  - change: {pull: off}
  - dynamic: {name: swing, for: 0.5 s, step: 5 ms}
probes: {tip: {position: arm.tip}, e: energy}
"""

# the same for a very long time
LONG = SWING.replace("for: 0.5 s, step: 5 ms", "for: 10000 s, step: 1 ms")

# a wind load that has a value only for 0.3 s
BROKEN = SWING.replace("  - change: {pull: off}\n", "").replace("[0, 0.1 N, 0]", "[0, 0.1 N*sqrt(0.3 - t/(1 s)), 0]")

SCHEMES = ("generalized-alpha", "newmark", "hht", "wbz", "euler", "trapezoidal", "bdf2", "bdf-alpha", "conserving",
           "rk4", "adaptive", "stiff")


class Motion(harness.Case):
    def series(self, file, probe):
        run = self.succeeds("show", file, "--json", "--probe", probe).json["runs"][0]
        return run["t"], run["values"]

    def test_a_controller_whose_target_is_out_of_reach_is_reported(self):
        # against the drag the limited drive reaches 0.5 m/s of 0.7; a displacement that is only measured has no target
        self.write("cart.yaml", """sinew: 1
gravity: 0
parameters: {e: v.vx - 0.7, drive: "limit(-3*e - 5*integral(e), -1, 1)"}
robot: {cart: {on: world, joint: free, body: {mass: 2 kg, sphere: {radius: 10 cm}}}}
loads: {push: {on: cart, force: [drive - 2*v.vx, 0, 0]}}
study: [dynamic: {for: 5 s, step: 20 ms}]
probes: {v: {velocity: cart}, x: {position: cart}}
runs:
  weak: {}
  strong: {drive: -3*e - 5*integral(e)}
  way: {drive: "if(integral(v.vx) < 1, 1, 1)"}
  far: {drive: "limit(-3*(x.x - 5) - integral(x.x - 5), -0.1, 0.1)"}
  near: {drive: "-4*(x.x - 0.1) - 4*integral(x.x - 0.1)"}
""")
        err = self.succeeds("run", "cart.yaml", "-q").err
        self.assertIn("run 'weak': the integrand of 'integral(e)' stays at -0.2", err)
        self.assertIn("run 'far': the integrand of 'integral(x.x - 5)' stays at", err)
        self.assertEqual(err.count("its target is not reached"), 2, err)

    def test_a_proportional_controller_that_rests_beside_its_target_is_noted(self):
        self.write("hold.yaml", """sinew: 1
parameters: {r: 0.5, hold: 20*(r - angle) - 4*speed}
robot: {arm: {on: world, joint: revolute, axis: -y, body: {mass: 1 kg, com: [0.3 m, 0, 0], inertia: [0.01, 0.02, 0.02]}}}
actuators: {elbow: {joint: arm, effort: hold}}
study: [dynamic: {for: 10 s, step: 10 ms}]
probes: {angle: {angle: arm}, speed: {rate: arm}}
runs:
  p: {}
  sampled: {hold: "sampled(20*(r - angle), 20 ms) - 4*speed"}
  limited: {hold: "limit(200*(r - angle), -2, 2) - 4*speed"}
  pi: {hold: 20*(r - angle) - 4*speed + 20*integral(r - angle)}
  forward: {hold: 20*(r - angle) - 4*speed + 9.81*0.3*cos(angle)}
  high: {hold: 2000*(r - angle) - 400*speed}
  spring: {hold: -20*angle - 4*speed}
  over: {hold: "20*(1 - step(t, 5 s))*(r - angle) - 4*speed"}
  moving: {hold: 20*(sin(2*t) - angle) - 4*speed}
  slow: {hold: 20*(r - angle) - 4000*speed}
""")
        result = self.succeeds("run", "hold.yaml", "-q")
        lines = result.err.splitlines()
        self.assertEqual([re.match("hold.yaml: note: run '([a-z]+)'", line)[1] for line in lines], ["p", "sampled", "limited"], result.err)
        # 20 (r - q) = m g l cos q
        found = re.search(r"'elbow' keeps angle at ([\d.]+), off its reference 0.5 \(error ([\d.]+)\)", lines[0])
        q, e = float(found[1]), float(found[2])
        self.assertAlmostEqual(20*(0.5 - q), 9.81*0.3*math.cos(q), 2)
        self.assertAlmostEqual(q + e, 0.5, 3)
        self.assertIn("add an integral", lines[0])
        self.assertIn("at its limit", lines[2])

    def test_static_change_and_dynamic_in_a_row(self):
        self.write("swing.yaml", SWING)
        text = self.succeeds("run", "swing.yaml").out
        for word in ("e.kinetic", "e.dissipated", "e.balance", "results in swing.h5"):
            self.assertIn(word, text)
        t, tip = self.series("swing.h5", "tip")
        y = tip["tip.y"]
        # the equilibrium, the start of the motion at the same position, a hundred steps
        self.assertEqual(len(t), 102)
        self.assertEqual(t[:2], [0, 0])
        self.assertAlmostEqual(y[0], y[1], 12)
        self.assertGreater(y[0], 0.05)
        self.assertAlmostEqual(t[-1], 0.5, 12)
        self.assertLess(min(y), 0, "let go, it swings through")
        self.assertTrue(all(math.isfinite(v) for v in y))

    def test_json_holds_the_last_values_and_the_energy(self):
        self.write("swing.yaml", SWING)
        reply = self.succeeds("run", "swing.yaml", "--json").json
        self.assertIsNone(reply["error"])
        run = reply["runs"][0]
        self.assertEqual(run["status"], "success")
        last = run["last"]
        self.assertGreater(last["e.dissipated"], 0)
        self.assertEqual(last["e.work"], 0)
        self.assertAlmostEqual(last["e.total"], last["e.kinetic"] + last["e.elastic"] + last["e.gravity"], 12)

    def test_all_schemes_swing_alike(self):
        self.write("swing.yaml", SWING.replace("step: 5 ms", "step: 1 ms"))
        want = self.succeeds("run", "swing.yaml", "--json", "--set", "swing.scheme=adaptive").json
        want = want["runs"][0]["last"]
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                got = self.succeeds("run", "swing.yaml", "--json", "-f", "--set", f"swing.scheme={scheme}").json
                got = got["runs"][0]["last"]
                # backward Euler is of first order; the errors of the others are a few thousandths of the amplitude
                within = 2e-2 if scheme == "euler" else 5e-4
                for axis in ("tip.x", "tip.y"):
                    self.assertLess(abs(got[axis] - want[axis]), within, scheme)

    def test_the_conserving_scheme_closes_the_balance(self):
        self.write("swing.yaml", SWING)
        last = self.succeeds("run", "swing.yaml", "--json", "--set", "swing.scheme=conserving").json["runs"][0]["last"]
        self.assertGreater(last["e.dissipated"], 1e-4)
        self.assertLess(abs(last["e.balance"]), 1e-10 * last["e.dissipated"])

    def test_check_names_elements_that_a_scheme_does_not_support(self):
        driven = "actuators: {m: {joint: a, rate: 1}}\n"
        loop = "loops: {l: {join: [world, a], as: spherical}}\n"
        for scheme, text, words in (("conserving", driven, "does not support given positions and rates ('m')"),
                                    ("gauss6", loop, "'gauss6' does not support loops"),
                                    ("radau5", loop, "'radau5' does not support loops")):
            joint = "spherical, pose: {xyz: [1, 0, 0]}" if loop == text else "revolute"
            self.write("a.yaml", f"sinew: 1\nrobot: {{a: {{on: world, joint: {joint}, body: {{mass: 1, sphere: {{radius: 1}}, com: [1, 0, 0]}}}}}}\n"
                       f"{text}study:\n  - dynamic: {{for: 1 s, step: 1 ms, scheme: {scheme}}}\n".replace("join: [world, a]", "join: [world, s]")
                       + ("sites: {s: {on: a, pose: {xyz: [0, 1, 0]}}}\n" if loop == text else ""))
            for command in ("check", "run"):
                err = self.fails(2, command, "a.yaml").err
                self.assertIn("a.yaml:5:5: ", err)
                self.assertIn(words, err)
            self.assertEqual(self.files(), ["a.yaml"])

    def test_a_scheme_misspelt_is_corrected(self):
        self.write("swing.yaml", SWING)
        result = self.fails(2, "run", "swing.yaml", "--set", "swing.scheme=bdf22")
        self.assertIn("did you mean 'bdf2'", result.err)
        self.assertEqual(self.files(), ["swing.yaml"])

    def test_two_runs_give_the_same_bits(self):
        self.write("swing.yaml", SWING)
        a = self.succeeds("run", "swing.yaml", "--json").json["runs"][0]["last"]
        b = self.succeeds("run", "swing.yaml", "--json").json["runs"][0]["last"]
        self.assertEqual(a, b)


class Interrupt(harness.Case):
    def started(self, *args):
        """A run in the middle of its motion."""
        self.write("long.yaml", LONG)
        process = self.start("run", "long.yaml", *args)
        self.wait_until(lambda: self.frames("long.h5") > 3, process, 0.2)
        return process

    def test_an_interrupted_motion_keeps_its_frames(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.started()
                process.send_signal(number)
                out, err = process.communicate(timeout=harness.PATIENCE)
                self.assertEqual(process.returncode, 1, err)
                self.assertRegex(err, r"long.yaml: stopped at t = [0-9.e+-]+ s, results kept in long.h5")
                self.assertIn("stopped", out)
                run = self.succeeds("show", "long.h5", "--json", "--probe", "tip").json["runs"][0]
                self.assertEqual(run["state"], "stopped")
                self.assertGreater(run["frames"], 3)
                t = run["t"]
                self.assertTrue(all(abs(b - a - 1e-3) < 1e-9 for a, b in zip(t[1:], t[2:])), "no frame is missing")
                self.assertTrue(all(v is not None for v in run["values"]["tip.y"]))
                (self.folder / "long.h5").unlink()

    def test_it_answers_in_json_too(self):
        process = self.started("--json")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=harness.PATIENCE)
        reply = json.loads(out)
        self.assertEqual(reply["exit"], 1)
        self.assertEqual(reply["error"]["status"], "stopped on request")


class Divergence(harness.Case):
    def test_a_motion_that_cannot_go_on_keeps_its_frames_and_says_where(self):
        self.write("broken.yaml", BROKEN)
        for scheme in ("generalized-alpha", "bdf2", "conserving", "rk4", "adaptive"):
            with self.subTest(scheme=scheme):
                result = self.fails(1, "run", "broken.yaml", "-f", "--set", f"swing.scheme={scheme}")
                self.assertRegex(result.err, r"t = 0\.3[0-9]* s")
                self.assertIn("results kept in broken.h5", result.err)
                run = self.succeeds("show", "broken.h5", "--json", "--probe", "tip", "--probe", "e").json["runs"][0]
                self.assertEqual(run["state"], "failed")
                self.assertTrue(run["message"])
                self.assertGreater(run["t"][-1], 0.29)
                self.assertLess(run["t"][-1], 0.306)
                for column in run["values"].values():
                    self.assertTrue(all(v is not None for v in column))

    def test_energy_from_nowhere_is_reported(self):
        self.write("swing.yaml", SWING.replace("damping: 5 ms", "damping: 0").replace("0.1 N", "8 N")
                   .replace("chebyshev 3", "chebyshev 6"))
        wild = self.fails(1, "run", "swing.yaml", "--set", "swing.scheme=trapezoidal", "--set", "swing.step=50 ms",
                          "--set", "swing.for=5 s")
        self.assertIn("are missing in the energy balance: the steps are too long", wild.err)
        tame = self.succeeds("run", "swing.yaml", "-f", "--set", "swing.scheme=adaptive")
        self.assertNotIn("missing in the energy balance", tame.err)

    def test_it_answers_in_json_too(self):
        self.write("broken.yaml", BROKEN)
        result = self.fails(1, "run", "broken.yaml", "--json")
        reply = result.json
        self.assertEqual(reply["exit"], 1)
        self.assertIn("no motion found beyond t = 0.3", reply["error"]["text"])
        self.assertLessEqual({"tip.x", "e.balance"}, reply["runs"][0]["last"].keys())


if __name__ == "__main__":
    harness.main()
