# SPDX-License-Identifier: MIT
"""Feedback from synthesis to file: gains as laws of the model language, run from files and live, against linear closed loops."""

import pathlib
import sys
import types

import numpy as np
import pytest

import sinew
from sinew import control
from test_linear import MASSES, near

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "control"
PROBES = {
    "balance": ["angle", "bend.bend_y", "rate", "(spin.wy - rate)/(0.4 m)"],
    "flexible_link": ["angle", "(far.bend_y + near.bend_y)/2", "(far.bend_y - near.bend_y)/2", "rate",
                      "(tip_spin.wy - rate)/(0.6 m)", "(2*(tip_spin.wy + rate) - 4*middle.wy)/(0.6 m)"],
}  # fmt: skip
WEIGHTS = {"balance": ([20, 0.1, 0.5, 0.001], 4), "flexible_link": ([10, 2, 0.1, 0.2, 0.05, 0.01], 10)}
QUIET = {"balance": "open", "flexible_link": "free"}


@pytest.mark.parametrize("name", ["balance", "flexible_link"])
def test_a_law_in_a_file_is_the_linear_closed_loop(name, tmp_path):
    """Synthesised, written, run from the file: for small motions the response of A - B K, with an error as the cube of the
    amplitude, since these robots are symmetric."""
    pytest.importorskip("scipy.linalg")
    from scipy.linalg import expm

    robot = sinew.Robot(FOLDER / f"{name}.yaml", run=QUIET[name])
    robot.q[:] = 0
    model = robot.linearize(outputs="angle")
    gain = control.lqr(model, *WEIGHTS[name])
    law = control.law(model, gain.K, PROBES[name])
    errors = []
    for amplitude in (0.05, 0.1):
        text = (FOLDER / f"{name}.yaml").read_text()
        # the law and the start in place of those of the file, as a person would write them
        head, rest = text.split("actuators:")
        rest = rest.split("probes:")[1]
        file = tmp_path / "closed.yaml"
        begin = {"balance": f"initial: {{hub: {amplitude} rad}}", "flexible_link": f"initial: {{arm: {{strain: {{bend_y: {amplitude} 1/m}}}}}}"}
        head = "\n".join(begin[name] if line.startswith("initial:") else line for line in head.splitlines())
        rest = rest.split("expect:")[0].split("runs:")[0]
        file.write_text(f"{head}\nactuators:\n  motor: {{joint: hub, effort: '{law}'}}\nprobes:{rest}")
        result = sinew.Study(file).run()
        x = np.zeros(len(model.states))
        x[0 if name == "balance" else 1] = amplitude
        want = np.array([(expm((model.A - model.B @ gain.K) * t) @ x)[0] for t in result.t])
        errors.append(np.abs(np.asarray(result["angle"]).ravel() - want).max())
        assert errors[-1] < 0.02 * np.abs(want).max()
    assert errors[1] / errors[0] == pytest.approx(8, rel=0.1)


def test_the_circle_has_the_gains_of_its_model():
    """Gains, feedforward and static curvatures of the file against the regulator with integrals; its law closes that loop."""
    pytest.importorskip("scipy.linalg")
    path = FOLDER / "circle.yaml"
    cords = ["across(1)", "across(2)", "forth(1)", "forth(2)"]
    arm = sinew.Robot(path, set={f"{c}.effort": "4 N" for c in cords})
    arm.equilibrium()
    model = arm.linearize(outputs="tip")
    gain = control.lqr(control.integrate(model, ["tip.x", "tip.y"]), [1e-2] * 4 + [1e-4] * 4 + [1e6] * 2, 1.0)
    names = arm.parameters
    near([names[f"k{i}"] for i in range(1, 6)], gain.K[0][[2, 3, 6, 7, 9]], 1e-8)
    shape = -np.linalg.solve(model.A, model.B)[:, 0] / model.dc_gain()[1, 0]
    near([names["f"], names["g1"], names["g2"]], [0.5 / model.dc_gain()[1, 0], shape[2], shape[3]], 1e-6)
    closed = sinew.Robot(path, set={"load": "0 N", "radius": "0 m"})
    closed.equilibrium()
    loop = closed.linearize(outputs="tip")
    poles = np.array([s for s in loop.poles() if abs(s) > 1e-6])  # each tendon of a pair has an integral of its own
    assert len(loop.poles()) - len(poles) == 2
    near(np.sort_complex(np.round(poles, 5)), np.sort_complex(np.round(gain.poles, 5)), 2e-4)


def test_integrals_are_states():
    pytest.importorskip("scipy.linalg")
    model = sinew.Robot(text=MASSES).linearize(outputs="x2")
    more = control.integrate(model, ["x2"])
    assert [s.name for s in more.states][-1] == "integral(x2)" and more.states[-1].unit == "m*s"
    for s in (1.0, 2j):
        near(more.transfer(s), model.transfer(s), 1e-12)
        row = np.linalg.solve(s * np.eye(5) - more.A, more.B)[-1]
        near(row, model.transfer(s)[0] / s, 1e-12)
    assert more.controllability == 5
    with pytest.raises(sinew.ArgumentError, match="continuous"):
        control.integrate(control.zoh(model, 0.1), ["x2"])
    with pytest.raises(sinew.ArgumentError, match="no 'x1'"):
        control.integrate(model, ["x1"])


def test_python_control_gets_matrices_and_names(monkeypatch):
    """`control()` gives the package python-control what its function ss takes; the package itself where it is installed."""
    model = sinew.Robot(text=MASSES).linearize(outputs="x2", step=0.01)
    module = types.ModuleType("control")
    module.ss = lambda *matrices, **names: (matrices, names)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "control", module)
        matrices, names = model.control()
    for got, want in zip(matrices, (model.A, model.B, model.C, model.D)):
        assert got is want
    assert matrices[4] == 0.01 and names["inputs"] == ["push"] and names["outputs"] == ["x2"] and len(names["states"]) == len(model.A)
    real = pytest.importorskip("control", reason="python-control is not installed")
    if not hasattr(real, "StateSpace"):
        pytest.skip("another module of that name")
    near(np.sort_complex(model.control().poles()), np.sort_complex(model.poles()), 1e-6)


@pytest.mark.parametrize("name", ["balance", "circle", "flexible_link"])
def test_closed_loops_run_live(name):
    try:
        play = sinew.Play(FOLDER / f"{name}.yaml")
    except sinew.Error as e:
        if "was built without" in str(e):
            pytest.skip("the command was built without libwebsockets or Node: no live simulation")
        raise
    with play:
        assert play.running
