# SPDX-License-Identifier: MIT
import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

import sinew

h5py = pytest.importorskip("h5py")


@pytest.fixture
def model(tmp_path, arm_text):
    path = tmp_path / "arm.yaml"
    path.write_text(arm_text)
    return path


def test_a_study_gives_its_frames(model):
    result = sinew.run(model, runs="main")
    assert result.t[-1] == pytest.approx(0.1)
    assert result["tip"].shape == (len(result.t), 3)
    assert result["angle"].shape == (len(result.t),)
    assert result["wire"].shape == (len(result.t), 3, 6)
    assert np.array_equal(result["tip.x"], result["tip"][:, 0])
    assert result.unit("tip") == "m" and result.unit("e.total") == "N*m"
    assert result.state == "finished"
    assert np.allclose(result.poses("arm")[:, -1, :3, 3], result["tip"], atol=1e-12)
    with pytest.raises(KeyError, match="there are tip"):
        result["tap"]


def test_the_same_robot_in_c_and_python_gives_the_same_bits(model):
    result = sinew.run(model, runs="main")
    study = sinew.Study(model).run()
    assert np.array_equal(study.q, result.q)
    assert np.array_equal(study["tip"], result["tip"])
    assert np.array_equal(study.array("energy")[:, 0], result.energy["kinetic"])


def test_frames_progress_and_exceptions_of_callbacks(model):
    times, fractions = [], []
    sinew.Study(model).run(frame=lambda s: times.append(s.row("t")[0]), progress=lambda n, t, f: fractions.append(f))
    assert times[-1] == pytest.approx(0.1) and fractions[-1] <= 1

    class Enough(Exception):
        pass

    def stop(study):
        if study.row("t")[0] > 0.05:
            raise Enough

    study = sinew.Study(model)
    with pytest.raises(Enough):
        study.run(frame=stop)
    assert 0.05 < study.t[-1] < 0.07


def test_overrides_are_stored_with_the_run(model):
    result = sinew.run(model, set={"E": "2 MPa"}, runs="main")
    assert result.overrides["E"] == 2e6


def test_several_runs_are_a_mapping(model):
    result = sinew.run(model)
    assert list(result) == ["main", "stiff"]
    assert result["stiff"]["tip"].shape[1] == 3
    with pytest.raises(KeyError, match="choose one of main, stiff"):
        result["tip"]


def test_a_bad_model_raises_and_warnings_are_warnings(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("sinew: 1\nrobot: {arm: {on: nothing}}\n")
    with pytest.raises(sinew.ModelError, match="nothing"):
        sinew.run(bad)
    coarse = {"materials": {"m": {"young": 1e6, "poisson": 0.5, "density": 1000}}, "gravity": [0, 0, -9.81],
              "robot": {"arm": {"on": "world", "rod": {"length": 0.5, "section": {"circle": {"radius": 0.01}},
                                                       "material": "m", "strain": {"bend_y": "legendre 1"}}}},
              "study": [{"static": None}]}  # fmt: skip
    with pytest.warns(sinew.SinewWarning, match="basis"):
        sinew.run(coarse)


def test_the_page_shows_in_a_notebook(model):
    result = sinew.run(model, runs="main")
    if "iframe" not in (html := result._repr_html_()):
        pytest.skip("no viewer in this build")
    assert html.startswith("<iframe srcdoc=")


def test_python_m_sinew_is_the_command():
    done = subprocess.run([sys.executable, "-m", "sinew", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sinew ")


def test_results_of_other_programs_are_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f["a"] = 1
    with pytest.raises(ValueError, match="not a result file"):
        sinew.Result(tmp_path / "x.h5")


def test_temporary_results_are_removed_with_their_object(model):
    result = sinew.run(model, runs="main")
    path = result.path
    assert os.path.exists(path)
    result.close()
    del result
    import gc

    gc.collect()
    assert not os.path.exists(path)


def numbers(path):
    """All datasets of a result file, by name."""
    out = {}
    with h5py.File(path) as f:
        f.visititems(lambda name, x: out.update({name: x[()]}) if isinstance(x, h5py.Dataset) else None)
    return out


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert np.asarray(a[name]).tobytes() == np.asarray(b[name]).tobytes(), name


def test_a_result_file_has_the_bits_of_the_command(model, tmp_path):
    ours, theirs = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    sinew.run(model, ours, set={"E": "2 MPa"})
    subprocess.run([sinew.command_path(), "run", str(model), "-o", str(theirs), "--set", "E=2 MPa", "-q"], check=True)
    same(numbers(ours), numbers(theirs))


def test_ctrl_c_leaves_a_file_that_is_resumed_to_the_same_bits(model, tmp_path):
    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    sinew.run(model, whole)
    seen = []

    def press(step, t, fraction):
        seen.append((step, fraction))
        if fraction > 0.3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stop:
        sinew.run(model, part, progress=press)
    assert seen[-1][0].startswith("main ") and 0.3 < seen[-1][1] < 0.5
    assert stop.value.result["main"].state == "stopped"
    stop.value.result.close()
    result = sinew.run(model, part, resume=True)
    assert result["stiff"].state == "finished"
    result.close()
    a, b = numbers(whole), numbers(part)
    same({k: v for k, v in a.items() if "checkpoint" not in k}, {k: v for k, v in b.items() if "checkpoint" not in k})


def test_an_older_file_is_not_the_result_of_a_model_that_cannot_be_read(model, tmp_path):
    older = tmp_path / "older.h5"
    sinew.run(model, older, runs="main").close()
    with pytest.raises(sinew.ModelError) as failure:
        sinew.run(model, older, set={"E": "2 s"})
    assert failure.value.result is None
    with pytest.raises(sinew.ArgumentError, match="overwrite the model"):
        sinew.run(model, model)
    with pytest.raises(sinew.ArgumentError, match="no run 'stif'.*stiff"):
        sinew.run(model, runs="stif")


def test_runs_in_threads(model):
    from concurrent.futures import ThreadPoolExecutor

    alone = sinew.run(model, runs="main").q
    with ThreadPoolExecutor(3) as pool:
        for result in pool.map(lambda _: sinew.run(model, runs="main"), range(6)):
            assert np.array_equal(result.q, alone)


TRUSS = """
sinew: 1
gravity: 0
parameters: {k: 1000 N/m}
robot: {apex: {on: world, pose: {xyz: [0, 0.2, 0]}, joint: prismatic, axis: y, body: {mass: 1 kg}}}
springs: {bar(s=1..2): {spring: [{xyz: [2*s - 3, 0, 0]}, apex], rest: sqrt(1.04), stiffness: k}}
loads: {press: {on: apex, force: [0, "-1 N/s*t", 0]}}
study: [path: {name: snap, range: [-4 s, 4 s], by: k}]
probes: {y: {position: apex}}
"""


def test_special_points_of_a_path(tmp_path):
    # von Mises' truss: P* = 2 k b ((l_0/b)^(2/3) - 1)^(3/2) at y* = 0.1147
    path = tmp_path / "truss.yaml"
    path.write_text(TRUSS)
    result, study = sinew.run(path), sinew.Study(path).run()
    points = result.special_points
    assert [p.kind for p in points.values()] == ["fold", "fold"]
    for (frame, p), sign in zip(points.items(), (1, -1)):
        assert p.t == pytest.approx(sign * 3.0191474033, rel=1e-9) == result.t[frame]
        assert p.step == "snap" and p.multiplicity == 1 and np.isnan(p.frequency)
        assert result["y"][frame, 1] == pytest.approx(sign * 0.1147144447, rel=1e-7)
        assert result.v[frame] == pytest.approx([1])  # its mode
    assert [p.t for p in study.special_points] == [p.t for p in points.values()]
    assert study.fold_derivative(0, "k") == pytest.approx(0.0030191474033, rel=1e-8)
    assert np.isnan(study.fold_derivative(0, "none"))
    for k, (frame, p) in enumerate(points.items()):
        assert p.by == study.special_points[k].by == {"k": study.fold_derivative(k, "k")}
        assert study.array("fold")[frame, 0] == p.by["k"]
    assert np.isfinite(study.array("fold")).sum() == 2
