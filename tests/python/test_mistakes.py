# SPDX-License-Identifier: MIT
"""What users get wrong: nothing is silent, and messages say what to do in Python."""

import copy
import pathlib
import pickle
import re
import sys

import numpy as np
import pytest

import sinew
from sinew._errors import REMEDIES

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"

# actuators of several kinds; a quaternion
HAND = """
sinew: 1
gravity: 0
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}
robot:
  base: {on: world, joint: revolute, axis: y, body: {mass: 0.1, box: [5 cm, 5 cm, 5 cm]}}
  arm: {on: base, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 2}}}
  ball: {on: world, joint: spherical, body: {mass: 1, inertia: [1, 1, 1]}}
actuators:
  motor: {joint: base, effort: 0 N*m}
  wrist: {joint: ball, effort: [0, 0, 0]}
  cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0 N}
probes: {tip: {position: arm.tip}}
study: [dynamic: {for: 10 ms, step: 5 ms}]
"""


@pytest.fixture
def hand():
    return sinew.Robot(text=HAND)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "hand.yaml").write_text(HAND)
    return tmp_path / "hand.yaml"


# ---- messages name what Python has


def literals(folder):
    for file in sorted((SOURCES / folder).glob("*.c")):
        for line in file.read_text().splitlines():
            if not line.startswith("#include"):
                yield from (text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line) if not text.startswith("#"))


def test_remedies_of_c_and_of_the_command_have_one_in_python():
    named = {name for folder in ("robot", "study", "integrate", "shoot", "job") for text in literals(folder)
             if "sinew show" not in text  # a command that a person may give
             for name in re.findall(r"(?<![\w-])(?:snw_\w+|--[a-z]+|-o)(?![\w-])", text)}  # fmt: skip
    named -= {"snw_locomotion_workless_motions", "snw_corrected"}  # in comments on arrays
    named -= {"snw_start", "snw_steps", "snw_points", "snw_model"}  # kernels of a device
    assert named - set(REMEDIES) == set()
    assert {name for name in REMEDIES if name.startswith("snw_")} <= named


@pytest.mark.parametrize("call,message", [
    (lambda r: sinew.Batch(r, 2).step(), r"call Batch.start before the first step"),
    (lambda r: r.controls.move("motor", 0.1), r"use controls\[name\] = value, or give"),
    (lambda r: r.controls.move("cord", 0.1), r"use controls\[name\] = value"),
    (lambda r: (r.q.__setitem__(-1, 5.0), r.pose("arm.tip")), r"a unit quaternion, got one of length .*; divide"),
])  # fmt: skip
def test_messages_name_calls_of_python(hand, call, message):
    with pytest.raises(sinew.ArgumentError, match=message) as seen:
        call(hand)
    assert "snw_" not in str(seen.value)


def test_errors_of_robots_of_a_batch_name_calls_of_python(hand):
    batch = sinew.Batch(hand, 2)
    batch.start("1 ms")
    batch.u[1, 0] = 1e30
    batch.step()
    assert list(batch.errors) == [1] and "snw_" not in batch.errors[1]


def test_messages_of_studies_name_arguments_of_python(path):
    with pytest.raises(sinew.ArgumentError, match="give another output="):
        sinew.run(path, path)
    with pytest.raises(sinew.ModelError, match="'zz' names no parameter") as seen:
        sinew.run(path, set={"zz": 1})
    assert "--set" not in str(seen.value) and seen.value.file is None
    with pytest.raises(sinew.ModelError, match=r"unknown name 'soft' \(value of rubber.young\)"):
        sinew.Model(path, set={"rubber.young": "soft"})


# ---- what is given to constructors


@pytest.mark.parametrize("make", [sinew.Robot, sinew.Study, lambda m, **k: sinew.Batch(m, 2, **k)])
def test_a_model_has_its_run_and_takes_further_values(path, make):
    model = sinew.Model(path)
    with pytest.raises(TypeError, match="has its text and its run already: leave out"):
        make(model, run="main")
    assert make(model, set={"rubber.young": "3 MPa"}).model.value("rubber.young") == 3e6
    assert make(path, run="main").model.run == "main"


def test_a_batch_of_a_robot_takes_further_values(hand):
    hand.q[0] = 0.25
    batch = sinew.Batch(hand, 2, set={"rubber.young": "3 MPa"})
    assert list(batch.parameters["rubber.young"]) == [3e6, 3e6] and batch.q[1, 0] == 0.25
    with pytest.raises(TypeError, match="its run already"):
        sinew.Batch(hand, 2, run="main")


@pytest.mark.parametrize("call,message", [
    (lambda r, p: sinew.Robot(r), r"robot.copy\(\) is another robot"),
    (lambda r, p: sinew.Study(r), "robot.model"),
    (lambda r, p: sinew.run(r), r"Study\(robot.model\).run\(\)"),
    (lambda r, p: sinew.run(r.model), r"Study\(model\).run\(\)"),
    (lambda r, p: sinew.Play(r.model), r"Play.of\(model\)"),
    (lambda r, p: sinew.Robot({"robot": {}}), "from_dict"),
    (lambda r, p: sinew.Robot(HAND), "text="),
    (lambda r, p: sinew.Model.from_dict([1]), "dictionary"),
    (lambda r, p: sinew.Model(p, name="hand"), "name= is for a text"),
    (lambda r, p: sinew.Model(p, run=1), "run is a text, not int"),
    (lambda r, p: sinew.Model(text=b"sinew: 1"), "not bytes"),
    (lambda r, p: sinew.Model(p, set=["rubber.young=1"]), "by a dictionary"),
    (lambda r, p: sinew.Model(p, set={"rubber.young": None}), "not NoneType"),
    (lambda r, p: sinew.run(p, resume=True), "give it as output="),
    (lambda r, p: sinew.run(p, progress=3), "progress is True or a function"),
    (lambda r, p: sinew.Study(p).run(frame=3), "frame is a function"),
    (lambda r, p: r.pose(3), "a place is a text"),
    (lambda r, p: r.probe(0), "a probe is a text"),
    (lambda r, p: sinew.Batch(r, 2).controls.__setitem__("cord", lambda robot: 1.0), "no laws in Python"),
])  # fmt: skip
def test_mistaken_kinds_are_told_with_the_remedy(hand, path, call, message):
    with pytest.raises(TypeError, match=message):
        call(hand, path)


# ---- values


def test_values_of_numpy_are_values(path):
    for value in (np.float32(2e6), np.int64(2000000), np.array(2e6)):
        assert sinew.Robot(path, set={"rubber.young": value}).parameters["rubber.young"] == 2e6
    for g in (np.array([0, 0, -1.5]), (0, 0, -1.5), [np.float64(0), 0, np.float64(-1.5)]):
        model = sinew.Model(path, set={"gravity": g})
        assert sinew.Robot(model).forward_dynamics() is not None and model.value("gravity.3") == -1.5
    tree = {"gravity": np.array([0, 0, -9.81]), "robot": {"b": {"on": "world", "body": {"mass": np.float32(1)}}}}
    assert sinew.Model.from_dict(tree).value("b.body.mass") == 1.0
    with pytest.raises(sinew.ArgumentError, match="finite"):
        sinew.Model(path, set={"rubber.young": np.nan})


def test_values_that_know_their_unit_are_checked(hand):
    young = hand.parameters["rubber.young"]
    with pytest.raises(sinew.ArgumentError, match=r"'cord' is in N, but 1e\+06 Pa is given"):
        hand.controls["cord"] = young
    with pytest.raises(sinew.ArgumentError, match="'cord' is in N"):
        sinew.Batch(hand, 2).controls["cord"] = [young, 1.0]
    with pytest.raises(sinew.ModelError, match="density"):
        hand.parameters["rubber.density"] = young
    hand.parameters["rubber.young"] = young * 2  # a plain number
    hand.parameters["rubber.young"] = young
    assert hand.parameters["rubber.young"] == 1e6
    hand.controls["cord"] = sinew.Quantity(2.0, "N")
    assert hand.u[-1] == 2.0


@pytest.mark.parametrize("bad", [None, "5 mm", 1j, [1.0, None, 2.0], np.ones(3) * 1j, [[1.0], [1.0, 2.0]], object()])
def test_what_is_no_number_is_refused(hand, bad):
    batch = sinew.Batch(hand, 2)
    for call in (lambda: setattr(hand, "q", bad), lambda: hand.move(bad), lambda: hand.controls.__setitem__("cord", bad),
                 lambda: batch.controls.__setitem__("cord", bad), lambda: setattr(batch, "v", bad), lambda: batch.set_time(bad),
                 lambda: hand.mass_solve(bad)):  # fmt: skip
        with pytest.raises(sinew.ArgumentError):
            call()
    assert np.isnan(hand.u).all() and np.isnan(batch.u).all()
    hand.controls["cord"] = lambda robot: bad
    with pytest.raises(sinew.ArgumentError, match="'cord'"):
        hand.simulate(1e-3).step()


@pytest.mark.parametrize("make", [np.float32, np.int64, np.float64, int, lambda x: np.array(x), lambda x: np.array([x])])
def test_numbers_of_all_kinds_are_numbers(hand, make):
    hand.controls["cord"] = make(2)
    batch = sinew.Batch(hand, 3)
    batch.controls["cord"] = make(3)
    assert hand.u[-1] == 2 and np.all(batch.u[:, -1] == 3)
    assert hand.actuators[np.int64(2)].name == "cord" and len(hand.modes(np.int64(2)).frequency) == 2


def test_arrays_of_all_layouts_are_arrays(hand):
    n = hand.nq
    for value in (np.arange(n), np.arange(2.0 * n)[::2], np.arange(n, dtype=np.float32), list(range(n)), np.arange(float(n))[::-1][::-1]):
        hand.q = value
        assert np.array_equal(hand.q, np.asarray(value, dtype=float))
    batch, rows = sinew.Batch(hand, 2), np.asfortranarray(np.arange(2.0 * n).reshape(2, n))
    batch.q = rows
    assert np.array_equal(batch.q, rows)
    with pytest.raises(sinew.ArgumentError, match=rf"'q' has the shape \(2, {n}\), but \(3, {n}\) is given"):
        batch.q = np.zeros((3, n))
    with pytest.raises(sinew.ArgumentError, match="number of modes must not be negative"):
        hand.modes(-1)
    with pytest.raises(IndexError, match="no actuator number 9; there are 3"):
        hand.actuators[9]


# ---- states


def test_arrays_of_a_batch_are_assigned_not_replaced(hand):
    batch = sinew.Batch(hand, 2)
    own = batch.q
    batch.u = np.ones((2, 5))
    batch.q = hand.q
    assert batch.q is own and np.all(batch.robots[1].u == 1)
    for name in ("t", "failed", "controls", "parameters", "robots"):
        with pytest.raises(AttributeError):
            setattr(batch, name, {})
    for name in ("controls", "parameters"):
        with pytest.raises(AttributeError):
            setattr(hand, name, {"cord": 3.0})
    with pytest.raises(ValueError, match="read-only"):
        batch.failed[0] = True


def test_masks_are_masks(hand):
    batch = sinew.Batch(hand, 3)
    for at in ([0, 1, 2], [True], 1, [True, False], np.ones((1, 3), bool)):
        with pytest.raises(sinew.ArgumentError, match="'at' is a mask, 3 times True or False"):
            batch.start(1e-3, at=at)


def test_a_state_written_in_a_motion_is_not_lost(hand):
    sim = hand.simulate(1e-3)
    sim.step()
    hand.move(np.full(hand.nv, 0.1))
    with pytest.raises(sinew.ArgumentError, match="q is not that of the end of the last step; .* call Robot.simulate"):
        sim.step(count=3)
    hand.simulate(1e-3).step()
    batch = sinew.Batch(hand, 2)
    batch.start(1e-3)
    batch.q[1, 0] += 0.1
    with pytest.raises(sinew.ArgumentError, match="state of robot 1 .* call Batch.start"):
        batch.step()
    assert not batch.failed.any()
    batch.start(1e-3)
    batch.step()


def test_values_of_a_batch_tell_which_robots_keep_theirs(hand):
    batch = sinew.Batch(hand, 3)
    with pytest.raises(sinew.ModelError, match="robot 2: a pressure .*; 1 of 3 robots keep their value"):
        batch.parameters["rubber.young"] = ["2 MPa", 3e6, "3 m"]
    assert list(batch.parameters["rubber.young"]) == [2e6, 3e6, 1e6]
    assert batch.parameters.unit("rubber.young") == "Pa"


def test_options_without_effect_are_refused(hand):
    for options, message in (({"points": 50}, "shooting engine"), ({"alpha": -0.1}, "takes no alpha; it is for bdf-alpha"),
                             ({"scheme": "eular"}, "there are generalized-alpha"), ({"engine": "steam"}, "strain and shooting")):  # fmt: skip
        with pytest.raises(sinew.ArgumentError, match=message):
            hand.simulate(1e-3, **options)


def test_a_law_may_set_and_remove_laws(hand):
    def first(robot):
        robot.controls["cord"] = lambda _: 2.0
        return 0.0

    sim = hand.simulate(1e-3)
    hand.controls["motor"] = first
    sim.step(count=2)
    assert hand.controls["cord"] == 2.0


def test_a_motion_ends_when_another_one_is_started(hand):
    first = hand.simulate(1e-3)
    second = hand.simulate(2e-3, "bdf2")
    for call in (first.step, lambda: first.step(count=2), first.save, lambda: first.restore([]), lambda: first.pull(0, [0, 0, 0], 1.0)):
        with pytest.raises(sinew.ArgumentError, match="another one of the robot was started"):
            call()
    second.step()
    assert first.t == second.t == pytest.approx(2e-3)


def test_mappings_answer_as_dictionaries_do(hand):
    batch = sinew.Batch(hand, 2)
    for thing, values in ((hand, hand.parameters), (batch, batch.parameters)):
        assert "zz" not in values and values.get("zz") is None and "rubber.young" in values
        assert np.all(values.get("rubber.young") == 1e6)
        thing.controls["cord"], thing.controls["motor"] = 2.0, 1.0
        thing.controls.clear()
        assert np.isnan(thing.u).all() and "zz" not in thing.controls and thing.controls.get("zz") is None


def test_a_study_without_frames_says_so(path):
    with pytest.raises(sinew.Error, match=r"no frame yet: run\(\)"):
        sinew.Study(path).row("t")


# ---- copies


def test_copies_are_copies(hand):
    for twin in (copy.copy(hand), copy.deepcopy(hand)):
        twin.q[0] = 0.5
        assert hand.q[0] == 0 and twin.q[0] == 0.5
    assert copy.copy(hand.model) is hand.model and copy.deepcopy(hand.model) is hand.model


def test_what_cannot_be_pickled_says_what_to_do(hand, path):
    sim, batch, study = hand.simulate(1e-3), sinew.Batch(hand, 2), sinew.Study(path)
    for thing, message in ((hand, r"copy\(\)"), (hand.model, "share it"), (sim, r"save\(\)"), (batch, "another one"), (study, "another one")):
        with pytest.raises(TypeError, match=f"a {type(thing).__name__} can neither be pickled .*{message}"):
            pickle.dumps(thing)
    for thing in (sim, batch, study):
        with pytest.raises(TypeError, match="copy.copy"):
            copy.copy(thing)
    again = pickle.loads(pickle.dumps(hand.actuators))
    assert list(again) == ["motor", "wrist", "cord"]


def test_a_library_that_is_missing_is_named_before_the_study(path, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="python3-h5py"):
        sinew.run(path, tmp_path / "hand.h5")
    assert not (tmp_path / "hand.h5").exists()


def test_results_that_are_closed_or_none(path, tmp_path):
    pytest.importorskip("h5py")
    result = sinew.run(path, tmp_path / "hand.h5")
    tip = result["tip"]
    result.close()
    for call in (lambda: result.t, lambda: result["tip"], lambda: result.model):
        with pytest.raises(ValueError, match=r"was closed; refresh\(\)"):
            call()
    assert "closed" in repr(result) and len(tip) == 3
    result.refresh()
    assert np.array_equal(result["tip"], tip)
    with pytest.raises(KeyError, match="no probe 'zz'; there are tip"):
        result.unit("zz")
    with pytest.raises(sinew.FileError, match="No such file"):
        sinew.Result(tmp_path / "none.h5")
    with pytest.raises(sinew.FileError, match="not a result file"):
        sinew.Result(path)
    with pytest.raises(TypeError, match="open its file again"):
        pickle.dumps(result)
    assert not hasattr(result, "shape")
