# SPDX-License-Identifier: MIT
"""Steps of the shooting engine from the command line."""
import pathlib
import sys
import unittest

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import release

EXAMPLE = harness.SOURCE / "examples/identification"

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
    def example(self, *options):
        """The fit of the example's about:, and the values found, by name."""
        result = self.sinew("fit", EXAMPLE / "release.yaml", EXAMPLE / "release.csv", "--run", "sheet", "--find", "EI", "--find", "rho",
                            "--find", "C", "--error", "tip=0.5 mm", *options, "--json")
        return result, {f["path"]: f for f in result.json["found"]}

    @unittest.skipIf(harness.SLOW, "many runs of lines that others run")
    def test_stiffness_density_and_drag_from_a_noisy_release(self):
        self.assertTrue((EXAMPLE / "release.csv").read_text().startswith(release.example(8)))
        reply = self.succeeds("run", EXAMPLE / "release.yaml", "--run", "paper", "-o", "true.h5", "--json").json
        self.assertGreater(reply["runs"][0]["real_time"], 0)
        result, found = self.example()
        self.assertEqual(result.code, 0, result)
        for path, true, near in (("EI", release.EI, 1e-3), ("rho", release.RHO, 2e-3), ("C", release.DRAG, 0.01)):
            one = found[path]
            self.assertLess(abs(one["value"] - true), 3.5 * one["standard_error"], one)
            self.assertLess(abs(one["value"] / true - 1), near, one)
            self.assertGreater(abs(one["start"] / true - 1), 10 * abs(one["value"] / true - 1), one)

    @unittest.skipIf(harness.SLOW, "many runs of lines that others run")
    def test_long_steps_show_in_what_is_found(self):
        result, found = self.example("--set", "h=5 ms")
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.err, "the target is not reached: the best fit misses 'tip.x'")
        rho = found["rho"]
        self.assertGreater(release.RHO - rho["value"], 5 * rho["standard_error"], rho)

    # with twice the steps and two modes more it changes by less than a tenth of the noise
    @unittest.skipIf(harness.SLOW, "no line of ours")
    def test_what_made_the_points_is_fine_enough(self):
        for a, b in zip(release.motion(4), release.motion(4, 40, release.Wire(8, 26))):
            for x, y in zip(a, b):
                self.assertLess(abs(x - y), 0.1 * release.NOISE)

    def test_unsupported_elements_are_reported_with_their_location(self):
        self.write("arm.yaml", RELEASE.replace("rod: {on: world,", "rod: {on: world, joint: revolute,"))
        result = self.fails(2, "check", "arm.yaml")
        self.assertIn("arm.yaml:6:3: the shooting engine does not support joints whose position no actuator gives ('rod')", result.err)
        self.assertIn("engine: strain", result.err)

    def test_a_run_that_fails_keeps_its_frames(self):
        text = RELEASE.replace("points: 41}, for: 1.5 s, step: 5 ms", "points: 150, solver: newton}, for: 1 ms, step: 20 us")
        self.write("rod.yaml", text)
        result = self.fails(1, "run", "rod.yaml", "-o", "part.h5")
        self.assertIn("the results so far are kept", result.err)
        self.assertGreaterEqual(len(self.succeeds("show", "part.h5", "--csv").out.splitlines()), 2)


if __name__ == "__main__":
    harness.main()
