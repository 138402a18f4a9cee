# SPDX-License-Identifier: MIT
"""A minute of random robots: fixed seeds, and comparisons that must hold. `make hunt` runs for hours."""
import sys
import unittest

import command
import families
from comparisons import compare
from model_text import text

SEEDS = (1,)
# under sanitizers only comparisons that reach most code
BRIEF = ("alive", "engines", "energy", "adapt", "engines_motion", "closure")


class Robots(unittest.TestCase):
    """Each test runs all families of a group."""

    maxDiff = None

    def hold(self, names):
        """Every comparison of these families holds for every seed."""
        run = command.Command()
        for name in names:
            for seed in SEEDS:
                run.begin()
                model, comparisons = families.draw(name, seed)
                for comparison in comparisons:
                    if command.SLOW and comparison not in BRIEF:
                        continue
                    with self.subTest(f"{comparison} {name}:{seed}"):
                        verdict = compare(comparison, model, run)
                        self.assertNotEqual(verdict.kind, "find",
                                            f"[{verdict.what}] {verdict.text}\nagain: tests/random/hunt.py --case {name}:{seed} "
                                            f"--comparison {comparison} -v\n{text(model)}")
                        if comparison == "alive":
                            self.assertEqual(verdict.kind, "ok", f"{verdict.text}\n{text(model)}")


class Statics(Robots):
    def test_equilibria_agree(self):
        self.hold(name for name in families.FAMILIES if name.endswith(("_static", "_planar", "_modes", "_swing")))


class Motion(Robots):
    def test_motions_agree(self):
        self.hold(("rod_release", "rod_jump", "rod_flight", "tendon_motion", "driven", "sprung_motion", "tubes_motion", "fluid_motion", "events",
                   "passing", "long_motion"))


class Bodies(Robots):
    def test_motions_of_trees_loops_and_contacts_agree(self):
        self.hold(("tree_motion", "hybrid_motion", "loop_motion", "threaded_motion", "parallel_motion", "upright", "cranks", "drop", "obstacle",
                   "shapes", "touching", "pressed"))


class Families(unittest.TestCase):
    def test_every_family_is_in_a_group(self):
        seen = []
        for group in (Statics, Motion, Bodies):
            case = group()
            case.hold = seen.extend
            for name in unittest.TestLoader().getTestCaseNames(group):
                getattr(case, name)()
        self.assertEqual(sorted(seen), sorted(families.FAMILIES))

    def test_a_seed_is_one_model(self):
        for family in families.FAMILIES:
            self.assertEqual(text(families.draw(family, 7)[0]), text(families.draw(family, 7)[0]))
            self.assertNotEqual(text(families.draw(family, 7)[0]), text(families.draw(family, 8)[0]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
