# SPDX-License-Identifier: MIT
"""Materials as a person writes them: what is refused and why, failures told with their place, all schemes, resumption."""
import harness

RUBBER = """\
sinew: 1
title: A strip of rubber
gravity: [0, -9.81, 0]
parameters: {F: 0 N}
materials: {rubber: {neo_hookean: 100 kPa, density: 1000}}
robot:
  strip: {on: world, rod: {length: 100 mm, material: rubber, section: {circle: {radius: 10 mm}}, strain: {bend_z: legendre 2, stretch: legendre 2}}}
loads: {pull: {on: strip.tip, force: [F, 0, 0]}}
study: [dynamic: {name: swing, for: 60 ms, step: 1 ms, scheme: conserving}]
probes: {tip: {position: strip.tip}, e: energy}
"""
GEL = RUBBER.replace("neo_hookean: 100 kPa", "young: 300 kPa, poisson: 0.5, relaxation: {of: instant, ratios: [0.4], times: [50 ms]}")
STATIC = "[static: {}]"


def study(text, steps):
    return "\n".join("study: " + steps if line.startswith("study:") else line for line in text.splitlines()) + "\n"


class Materials(harness.Case):
    def refuses(self, text, *words):
        self.write("m.yaml", text)
        done = self.sinew("run", "m.yaml", "-o", "m.h5")
        self.assertEqual(done.code in (1, 2), True, done)
        for word in words:
            self.assertIn(word, done.err)

    def test_bad_materials_are_refused_at_their_place(self):
        change = lambda old, new, text=RUBBER: text.replace(old, new)
        self.refuses(change("neo_hookean: 100 kPa", "neo_hookean: 100 kPa, young: 1 MPa"), "m.yaml:5:44", "'young' follows")
        self.refuses(change("neo_hookean: 100 kPa", "ogden: {mu: [1e5, 1e3], alpha: [2]}"), "'alpha' has 1 numbers and 'mu' 2")
        self.refuses(change("neo_hookean: 100 kPa", "ogden: {mu: [1e5, 1e3], alpha: [2, -2]}"), "mu alpha = -2000 Pa")
        self.refuses(change("neo_hookean: 100 kPa", "mooney_rivlin: [1e4, -2e4]"), "Young's modulus of -60000 Pa")
        self.refuses(change("ratios: [0.4]", "ratios: [1.4]", GEL), "1.4 of the instantaneous modulus")
        self.refuses(change("of: instant, ", "", GEL), "'relaxation' needs 'of'")
        self.refuses(change("times: [50 ms]", "times: [50 ms, 1 s]", GEL), "2 times, 1 moduli")
        self.refuses(change("section: {circle: {radius: 10 mm}}", "section: {area: 1e-4, moments: [2e-9, 1e-9, 1e-9]}"), "needs a shape")

    def test_bad_laws_of_sections_are_refused_at_their_place(self):
        law = lambda text: RUBBER.replace("{circle: {radius: 10 mm}}", "{inertia: [0, 0, 0, 1, 1, 1], " + text + "}").replace("material: rubber, ", "")
        self.refuses(law("energy: 3 kg*stretch^2 + 1 kg*m^2*bend_z^2"), "m.yaml:7", "a force (N) is wanted here")
        self.refuses(law("energy: 3 N*stretch^2 + 4 N*m*stretch*bend_z + 1 N*m^2*bend_z^2"), "not definite without strain")
        self.refuses(law("energy: 3 N*strech^2"), "strech", "stretch")
        self.refuses(law("energy: 3 N"), "does not depend on a strain")
        self.refuses(law("stress: {stretch: 3 N*stretch + 1 N*m^2*bend_z^2, bend_z: 1 N*m^2*bend_z}"), "no potential", "bend_z by stretch")
        (self.folder / "short.csv").write_text("e, M\n0, 0\n1, 2\n3, 4\n")
        self.refuses(law("stress: {stretch: 3 N*stretch, bend_z: {table: short.csv}}"), "on both sides")

    def test_what_a_law_cannot_carry_is_told_with_place_and_strain(self):
        soft = study(RUBBER, STATIC).replace("gravity: [0, -9.81, 0]", "gravity: 0")
        limit = soft.replace("neo_hookean: 100 kPa", "ogden: {mu: [100 kPa], alpha: [0.5]}").replace("F: 0 N", "F: 10.3 N")
        self.refuses(limit, "beyond 0.993505 of the load", "material of rod 'strip'", "stretch 2.3")
        # P' = 0 at l = 3.393022021 (closed form): the last equilibrium is just before
        rows = self.succeeds("show", "m.h5", "--csv", "--probe", "tip.x").out.splitlines()
        self.assertLess(abs(float(rows[-1].split(",")[-1]) / 0.3393022021 - 1), 0.01)
        crushed = RUBBER.replace("study:", "initial: {strip: {strain: {bend_z: 120}}}\nstudy:").replace("conserving", "euler")
        self.refuses(crushed, "a fibre of rod 'strip' would be crushed", "-0.2")

    def test_engines_and_steps_that_cannot_say_so(self):
        self.refuses(study(RUBBER, "[static: {engine: shooting}]"), "shooting engine does not support nonlinear materials")
        self.refuses(study(GEL, "[static: {engine: shooting, relaxation: relaxed}]"), "shooting engine does not support materials with 'relaxation'")
        self.refuses(study(GEL, STATIC), "relaxation: instant")
        self.refuses(study(GEL, "[path: {range: [0, 1]}]"), "depends on how long it has lasted")
        self.write("m.yaml", study(GEL, "[static: {relaxation: relaxed}, dynamic: {for: 10 ms, step: 1 ms}]"))
        self.assertIn("strains of the branches", self.sinew("linearize", "m.yaml", "--at", "5 ms").err)
        self.assertIn("strip.bend_z.0.branch 1", self.succeeds("linearize", "m.yaml").out)
        for scheme in ("conserving", "adaptive", "moreau"):
            self.refuses(GEL.replace("conserving", scheme), f"scheme '{scheme}' does not support materials with 'relaxation'")

    def test_rubber_keeps_its_energy_in_every_scheme(self):
        runs = "runs: {conserving: {}, gauss6: {swing.scheme: gauss6}, newmark: {swing.scheme: newmark}, radau5: {swing.scheme: radau5}}\n"
        self.write("m.yaml", RUBBER + runs)
        self.succeeds("run", "m.yaml", "-o", "m.h5")
        tip, balance = {}, {}
        for run in ("conserving", "gauss6", "newmark", "radau5"):
            rows = self.succeeds("show", "m.h5", "--csv", "--run", run).out.splitlines()
            names, values = rows[0].split(","), [float(x) for x in rows[-1].split(",")]
            tip[run] = values[names.index("tip.y")]
            balance[run] = values[names.index("e.balance")] / abs(values[names.index("e.kinetic")])
        for run, y in tip.items():
            self.assertLess(abs(y / tip["gauss6"] - 1), 1e-2 if run in ("conserving", "newmark") else 1e-6, run)
            self.assertLess(abs(balance[run]), 1e-8, run)

    def test_relaxation_resumes_with_the_same_bits(self):
        steps = "static: {relaxation: relaxed}, dynamic: {for: 1 s, step: 1 ms}, static: {relaxation: instant}, dynamic: {for: 1 s, step: 1 ms, scheme: bdf2}"
        self.write("m.yaml", study(GEL, f"[{steps}]").replace("legendre 2", "legendre 6"))
        self.succeeds("run", "m.yaml", "-o", "whole.h5")
        want = self.succeeds("show", "whole.h5", "--csv").out
        for frames in (200, 1200):
            process = self.start("run", "m.yaml", "-o", "part.h5")
            self.wait_until(lambda: self.frames("part.h5") >= frames, process, 0.005)
            process.kill()
            process.wait()
            self.succeeds("run", "m.yaml", "-o", "part.h5", "--resume")
            self.assertEqual(self.succeeds("show", "part.h5", "--csv").out, want)
            (self.folder / "part.h5").unlink()


if __name__ == "__main__":
    harness.main()
