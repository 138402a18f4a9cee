# SPDX-License-Identifier: MIT
"""Given strains and poses whose rates jump: impulses on the other coordinates (theory.md 3.9.2)."""
import math

import harness

# a cart of 1 kg with a rod that begins to stretch uniformly at t = 0.1 s: the momentum along x stays zero
CART = """\
sinew: 1
gravity: 0
materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000 kg/m^3, damping: 10 ms}}
robot:
  cart: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg}}
  rod: {on: cart, rod: {length: 1 m, section: {circle: {radius: 1 cm}}, material: rubber, strain: {stretch: "LAW"}}}
study: [dynamic: {for: 0.3 s, step: 10 ms}]
probes: {cart: {velocity: cart}, e: energy}
"""
KINK = "0.2*max(0, t - 0.1 s)/(1 s)"

# an arm with free twist on a hinge, which carries another rod: bending given along it, or driven in the same functions
ARM = """\
sinew: 1
gravity: [0, -9.81 m/s^2, 1 m/s^2]
materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000 kg/m^3, damping: 10 ms}}
robot:
  base: {on: world, joint: revolute, axis: z, body: {mass: 0.3 kg, inertia: [0.001, 0.002, 0.003]}}
  arm:
    on: base
    rod:
      length: 0.6 m
      section: {circle: {radius: 2 cm}}
      material: rubber
      nodes: 9
      strain: {twist: legendre 2, bend_z: "1.5 1/m*max(0, t - 0.1 s)/(1 s) + 2 1/m*x/L*min(t, 0.15 s)/(1 s)"}
  hand:
    on: arm@70%
    pose: {xyz: [0, 0.05 m, 0]}
    rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: rubber, strain: {bend_y: legendre 3, bend_z: legendre 3}}
LOOP
study: [dynamic: {for: 0.2 s, step: 2 ms}]
probes: {tip: {position: hand.tip}, v: {velocity: hand.tip}, e: energy}
runs:
  given: {}
  driven:
    arm.rod.strain: {twist: legendre 2, bend_z: monomial 2}
    actuators: {shape: {rod: arm, position: [free, free, "1.5 1/m*max(0, t - 0.1 s)/(1 s)", "2 1/m*min(t, 0.15 s)/(1 s)"]}}
    initial: {arm: {rate: {bend_z: "2 1/m/(1 s)*x/L"}}}
"""
LOOP = "loops: {pin: {between: [hand.tip, world], kind: FIXED}}"

# a pendulum whose pivot begins to move, by its pose or by a driven joint
PIVOT = """\
sinew: 1
gravity: [0, -9.81 m/s^2, 0]
robot:
  pivot: {on: world, PLACE}
  bob: {on: pivot, joint: revolute, axis: z, body: {mass: 1 kg, com: [0.3 m, 0, 0], inertia: [0.01, 0.01, 0.01]}}
ACTUATORS
study: [dynamic: {for: 0.2 s, step: 2 ms, scheme: gauss6}]
probes: {e: energy}
"""
SCHEMES = ["trapezoidal", "generalized-alpha", "bdf2", "euler", "newmark", "hht", "gauss4", "radau5", "rk4", "adaptive", "moreau"]


class LawJumps(harness.Case):
    def last(self, text, *args):
        self.write("m.yaml", text)
        self.succeeds("run", "m.yaml", *args, "-o", "o.h5", "--force")
        return self.succeeds("show", "o.h5", "--json").json["runs"][0]["last"]

    def test_momentum_is_kept_by_every_scheme(self):
        mass = 1000 * math.pi * 1e-4
        want = -mass * 0.2 / 2 / (1 + mass)
        energy = 0.5 * (1 + mass) * want**2 + mass * (want * 0.2 / 2 + 0.2**2 / 6)
        for scheme in harness.few(SCHEMES, 3):
            with self.subTest(scheme=scheme):
                end = self.last(CART.replace("LAW", KINK), "--set", f"study=[{{dynamic: {{for: 0.3 s, step: 10 ms, scheme: {scheme}}}}}]")
                self.assertAlmostEqual(end["cart.vx"], want, delta=1e-12)
                self.assertAlmostEqual(end["e.work"], energy, delta=1e-12)
                self.assertAlmostEqual(end["e.balance"], 0, delta=1e-14)

    def test_given_strains_act_as_driven_coordinates(self):
        for scheme in harness.few(["gauss6", "trapezoidal", "adaptive"], 1):
            sets = ("--set", f"study=[{{dynamic: {{for: 0.2 s, step: 2 ms, scheme: {scheme}}}}}]")
            text = ARM.replace("LOOP\n", "")
            given, driven = self.last(text, "--run", "given", *sets), self.last(text, "--run", "driven", *sets)
            for key in ("tip.x", "tip.y", "tip.z", "v.vx", "v.vy", "v.vz"):
                self.assertAlmostEqual(given[key], driven[key], delta=2e-8 if key[0] == "v" else 1e-9)
            self.assertGreater(abs(given["v.vy"]), 0.5)
            self.assertAlmostEqual(given["e.balance"], 0, delta=1e-9)

    def test_smoothed_laws_come_near_in_the_limit(self):
        # the kink at 0.1 s made a parabola over a width d: the motion differs by an amount of order d
        text = ARM.replace("LOOP\n", "").replace("2 1/m*x/L*min(t, 0.15 s)/(1 s)", "2 1/m*x/L*t/(1 s)")
        sets = ("--run", "given", "--set", "study=[{dynamic: {for: 0.2 s, step: 1 ms, scheme: gauss6}}]")
        kink = self.last(text, *sets)
        errors = []
        for d in (0.01, 0.005):
            smooth = f"if(t < 0.1 s - {d} s, 0, if(t > 0.1 s + {d} s, t - 0.1 s, (t - 0.1 s + {d} s)^2/(4*{d} s)))"
            near = self.last(text.replace("max(0, t - 0.1 s)", f"({smooth})"), *sets)
            errors.append(max(abs(near[key] - kink[key]) for key in ("v.vx", "v.vy", "v.vz")))
        self.assertLess(errors[0], 0.1)
        self.assertLess(errors[1], 0.6 * errors[0])

    def test_poses_act_as_driven_joints(self):
        law = "0.5 m/s*max(0, t - 0.1 s)"
        pose = self.last(PIVOT.replace("PLACE", f'pose: {{xyz: ["{law}", 0, 0]}}').replace("ACTUATORS\n", ""))
        joint = self.last(PIVOT.replace("PLACE", "joint: prismatic, axis: x").replace(
            "ACTUATORS", f'actuators: {{push: {{joint: pivot, position: "{law}"}}}}'))  # fmt: skip
        for key in ("e.kinetic", "e.gravity", "e.work"):
            self.assertAlmostEqual(pose[key], joint[key], delta=1e-9)
        self.assertAlmostEqual(pose["e.balance"], 0, delta=1e-10)
        # schemes with accounts of their own, the kink also between two steps
        for scheme, text, when in (("moreau", "pose", 0.1), ("moreau", "joint", 0.1), ("conserving", "pose", 0.1), ("moreau", "joint", 0.101)):
            with self.subTest(scheme=scheme, text=text, when=when):
                moved = law.replace("0.1 s", f"{when} s")
                model = PIVOT.replace("PLACE", f'pose: {{xyz: ["{moved}", 0, 0]}}').replace("ACTUATORS\n", "") if text == "pose" else \
                    PIVOT.replace("PLACE", "joint: prismatic, axis: x").replace("ACTUATORS", f'actuators: {{push: {{joint: pivot, position: "{moved}"}}}}')  # fmt: skip
                want = self.last(model)
                self.write("m.yaml", model.replace("gauss6", scheme))
                said = self.succeeds("run", "m.yaml", "-o", "o.h5", "--force").err
                self.assertNotIn("created", said)
                self.assertNotIn("removed", said)
                got = self.succeeds("show", "o.h5", "--json").json["runs"][0]["last"]
                for key in ("e.kinetic", "e.gravity", "e.work"):
                    self.assertAlmostEqual(got[key], want[key], delta=1e-4)

    def test_work_of_jumping_strains_is_left_out_and_told(self):
        self.write("m.yaml", CART.replace("LAW", KINK))
        result = self.sinew("run", "m.yaml")
        self.assertIn("has a jump in its rate", result.err)
        self.assertNotIn("leaves out", result.err)
        result = self.sinew("run", "m.yaml", "--set", "rod.rod.strain.stretch=0.1*step(t, 0.1 s)", "--force")
        self.assertIn("leaves out", result.err)


if __name__ == "__main__":
    harness.main()
