# SPDX-License-Identifier: MIT
"""Steps of the shooting engine from the command line."""
import csv
import io
import random
import unittest

import harness

# the weight release of Till et al. 2019: steel wire, 20 g cut off, air; gravity along x
RELEASE = """\
sinew: 1
gravity: [9.81, 0, 0]
parameters: {E: 190.4 GPa, rho: 7602 kg/m^3, C: 2.12e-3}
materials: {steel: {young: E, shear: 80 GPa, density: rho}}
robot:
  rod: {on: world, pose: {x: z, y: x}, rod: {length: 0.408, section: {circle: {diameter: 1.42 mm}}, material: steel, strain: cosserat legendre 3}}
loads: {weight: {on: rod.tip, force: [0.1962, 0, 0]}}
fluid: {air: {on: [rod], drag: {square: C}}}
study:
  - static: {engine: shooting, shooting: {points: 41}}
  - change: {weight: off}
  - dynamic: {engine: shooting, shooting: {points: 41}, for: 1.5 s, step: 5 ms, scheme: bdf-alpha, alpha: -0.4}
probes: {tip: {position: rod.tip}}
"""


class Shooting(harness.Case):
    @unittest.skipIf(harness.SLOW, "many runs of lines that others run")
    def test_stiffness_density_and_drag_from_a_noisy_release(self):
        self.write("rod.yaml", RELEASE)
        reply = self.succeeds("run", "rod.yaml", "-o", "true.h5", "--json").json
        self.assertGreater(reply["runs"][0]["real_time"], 0)
        rows = list(csv.DictReader(io.StringIO(self.succeeds("show", "true.h5", "--csv").out)))
        chance = random.Random(5)
        lines = ["t,tip.x,tip.z"]
        for row in rows[2::2]:  # the equilibrium, then the start, which is the same instant
            x, z = (float(row[c]) + chance.gauss(0, 5e-4) for c in ("tip.x", "tip.z"))
            lines.append(f"{row['t']},{x!r},{z!r}")
        self.write("camera.csv", "\n".join(lines) + "\n")
        reply = self.succeeds("fit", "rod.yaml", "camera.csv", "--find", "E=200 GPa", "--find", "rho=7800 kg/m^3",
                              "--find", "C=1e-3", "--error", "tip=0.5 mm", "--json").json
        found = {f["path"]: f for f in reply["found"]}
        for path, true, near in (("E", 190.4e9, 2e-3), ("rho", 7602, 2e-3), ("C", 2.12e-3, 0.05)):
            one = found[path]
            self.assertLess(abs(one["value"] - true), 3.5 * one["standard_error"], one)
            self.assertLess(abs(one["value"] / true - 1), near, one)

    def test_what_it_cannot_do_is_said_with_its_place(self):
        self.write("arm.yaml", RELEASE.replace("rod: {on: world,", "rod: {on: world, joint: revolute,"))
        result = self.fails(2, "check", "arm.yaml")
        self.assertIn("arm.yaml:6:3: the shooting engine cannot do joints whose position no actuator gives ('rod')", result.err)
        self.assertIn("engine: strain", result.err)

    def test_a_run_that_fails_keeps_its_frames(self):
        text = RELEASE.replace("points: 41}, for: 1.5 s, step: 5 ms", "points: 150, solver: newton}, for: 1 ms, step: 20 us")
        self.write("rod.yaml", text)
        result = self.fails(1, "run", "rod.yaml", "-o", "part.h5")
        self.assertIn("what was computed is kept", result.err)
        self.assertGreaterEqual(len(self.succeeds("show", "part.h5", "--csv").out.splitlines()), 2)


if __name__ == "__main__":
    harness.main()
