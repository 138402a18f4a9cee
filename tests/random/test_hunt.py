# SPDX-License-Identifier: MIT
"""The hunt itself: disagreements are found, shrunk and saved; agreements and reported errors are not."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import command
import comparisons
import families
import hunt
import model_text
import shrink
from comparisons import Verdict, compare

ARM = {"sinew": 1, "title": "An arm", "gravity": 0, "materials": {"m": {"young": 1e6, "poisson": 0.5, "density": 1000.0}},
       "robot": {"arm": {"on": "world", "rod": {"length": 0.3, "section": {"circle": {"radius": 0.01}}, "material": "m",
                                                "strain": "kirchhoff legendre 4"}}},
       "loads": {"push": {"on": "arm.tip", "force": [0, 0.01, 0.02]}, "turn": {"on": "arm.tip", "torque": [0, 0.001, 0]}},
       "study": [{"static": {}}], "probes": {"tip": {"position": "arm.tip"}}}


class Judged(unittest.TestCase):
    """Comparisons, on artificial outcomes."""

    def outcome(self, code=0, err="", **last):
        made = command.Outcome(code, "", err)
        made.last = {"tip.x": 0.0, "tip.y": 0.0, "tip.z": 0.0, **last}
        return made

    def judge(self, name, answer, model=None):
        """The verdict for given answers of the command to each variant."""
        return compare(name, model or ARM, lambda m, variant="plain": answer(variant))

    def test_crash_hang_and_nan_are_finds(self):
        for what, code, err, last in (("crash", -11, "", {}), ("crash", 1, "AddressSanitizer: heap-use", {}),
                                      ("hang", -24, "", {}), ("nan", 0, "", {"tip.x": None}),
                                      ("nan", 1, "m.yaml: residual nan of a force", {}), ("silent", 1, "", {})):
            verdict = self.judge("alive", lambda variant: self.outcome(code, err, **last))
            self.assertEqual((verdict.kind, verdict.what), ("find", what))

    def test_a_run_that_is_slow_is_no_hang(self):
        slow = self.outcome(-24)
        slow.t = [0.0, 0.1]
        self.assertEqual(self.judge("alive", lambda variant: slow).kind, "unsure")

    def test_a_refusal_is_no_find(self):
        self.assertEqual(self.judge("alive", lambda variant: self.outcome(2, "m.yaml:1:1: unknown key")).kind, "refused")

    def test_a_difference_is_a_find_unless_told(self):
        def answer(err):
            return lambda variant: self.outcome(0, err if variant == "plain" else "", **{
                "tip.x": 0.0 if variant == "plain" else 0.009, "looked": 1.0})
        self.assertEqual(self.judge("basis", answer("")).kind, "find")
        self.assertEqual(self.judge("basis", answer("m.yaml: warning: the basis is too poor")).kind, "warned")
        self.assertEqual(self.judge("basis", answer("m.yaml: warning: loop 'a' was open by 3 mm")).kind, "find")

    def test_a_warning_of_a_small_error_does_not_tell_of_a_large_one(self):
        line = "m.yaml: warning: the nodes resolve the shape only to {} of the length"
        self.assertTrue(self.outcome(0, line.format("2e-3")).told(0.03))
        self.assertFalse(self.outcome(0, line.format("7e-5")).told(0.08))

    def test_stable_equilibria_far_apart_are_branches(self):
        def answer(value):
            return lambda variant: self.outcome(**{"tip.x": 0.0 if variant.startswith("plain") else 0.2, "looked": value})
        self.assertEqual(self.judge("path", answer(0.5)).kind, "branch")
        self.assertEqual(self.judge("path", answer(-0.5)).kind, "find")

    def test_energy_that_a_scheme_makes_is_a_find(self):
        moving = {**ARM, "study": [{"dynamic": {"for": 1, "step": 0.1}}]}
        for scheme, kind in ((-0.02, "find"), (0.05, "ok"), (0.2, "find"), (-0.005, "ok")):
            outcome = self.outcome()
            outcome.totals = {"exchanged": 1.0, "scheme": scheme, "balance": 0.0}
            self.assertEqual(self.judge("energy", lambda variant, o=outcome: o, moving).kind, kind)


class Moved(unittest.TestCase):
    def test_a_moved_robot_shows_moved_positions(self):
        run = command.Command()
        other, turn = comparisons.move(ARM)
        plain, elsewhere = run(ARM), run(other)
        self.assertTrue(plain.done and elsewhere.done, plain.err + elsewhere.err)
        self.assertLess(comparisons.apart(ARM, plain, elsewhere, turn), 1e-9)
        self.assertGreater(comparisons.apart(ARM, plain, elsewhere), 0.1)


class Shrunk(unittest.TestCase):
    def test_only_what_disagrees_is_left(self):
        """A command in which a torque moves the tip of one variant."""
        def judged(name, model, run):
            turned = "turn" in model.get("loads", {})
            return Verdict("find", "basis") if turned and "rod" in model["robot"]["arm"] else Verdict("ok")
        with mock.patch.object(shrink, "compare", judged):
            small, verdict, _ = shrink.shrink(ARM, "basis", Verdict("find", "basis"), command.Command())
        self.assertEqual(verdict.kind, "find")
        self.assertEqual(list(small["loads"]), ["turn"])
        self.assertNotIn("materials", small)
        self.assertLess(len(model_text.text(small)), 0.7*len(model_text.text(ARM)))

    def test_a_smaller_disagreement_of_another_sort_is_not_taken(self):
        def judged(name, model, run):
            return Verdict("find", "basis" if "turn" in model.get("loads", {}) else "crash")
        with mock.patch.object(shrink, "compare", judged):
            small, _, _ = shrink.shrink(ARM, "basis", Verdict("find", "basis"), command.Command())
        self.assertIn("turn", small["loads"])


class Saved(unittest.TestCase):
    def test_a_find_is_saved_and_the_status_says_so(self):
        """A basis with too few functions and no warning of the command (here a comparison with zero tolerance)."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(comparisons, "STATIC", -1.0), \
                mock.patch.object(shrink, "LONGEST", 0.0), contextlib.redirect_stdout(io.StringIO()) as out, \
                mock.patch.object(sys, "argv", ["hunt.py", "--case", "rod_static:1", "--comparison", "basis", "--output", folder]):
            self.assertEqual(hunt.main(), 1)
            place = pathlib.Path(folder)
            self.assertIn("basis rod_static:1", (place / "index.txt").read_text())
            self.assertTrue((place / "basis_rod_static_1" / "plain.yaml").exists())
            self.assertTrue((place / "basis_rod_static_1" / "basis.yaml").exists())
            self.assertIn("1 find", out.getvalue())

    def test_without_finds_the_status_is_0(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
                mock.patch.object(sys, "argv", ["hunt.py", "--case", "rod_static:1", "--comparison", "alive", "--output", folder]):
            self.assertEqual(hunt.main(), 0)


class Written(unittest.TestCase):
    def test_models_are_read_as_they_are_meant(self):
        """Words with special characters, booleans and nested maps are read back by the command."""
        run = command.Command()
        for family in families.FAMILIES:
            model, _ = families.draw(family, 5)
            (run.folder / "model.yaml").write_text(model_text.text(model))
            done = run.call("check", "model.yaml")
            self.assertEqual(done.returncode, 0, f"{family}: {done.stderr}\n{model_text.text(model)}")


if __name__ == "__main__":
    unittest.main()
