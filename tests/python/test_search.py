# SPDX-License-Identifier: MIT
"""Fits and optimisation from Python, against regression by hand and closed forms."""
import pytest

import sinew

TEXT = """\
sinew: 1
gravity: 0
parameters: {a: 1, b: 0.2 1/s}
robot:
  slider: {on: world, joint: prismatic, axis: x, stiffness: 1 N/m, body: {mass: 1 kg}}
actuators:
  push: {joint: slider, effort: (a + 2 s*b)*(1 N)}
study:
  - static: {for: 5 s, step: 1 s}
probes: {y: {law: a + b*t}, place: {value: slider}, square: {law: a^2 + (b*1 s)^2}}
optimize: {variables: {a: {}, b: {high: 0.3 1/s}}, minimise: end(square), subject: [{value: end(place), is: 1}]}
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "line.yaml"
    path.write_text(TEXT)
    (tmp_path / "line.csv").write_text("t, y\n0, 0.11\n1, 0.93\n2, 2.12\n3, 2.88\n4, 4.05\n5, 5.02\n")
    return path


def test_a_straight_line(model):
    data = model.parent / "line.csv"
    found = sinew.fit(model, data, ["a", "b"])
    assert found.values == pytest.approx({"a": 0.0419047619, "b": 0.9905714286}, abs=1e-9)
    assert found.found[1].standard_error == pytest.approx(0.02539055, abs=1e-8)
    assert "Student" in found.intervals and found.reached and not found.unobservable
    found = sinew.fit(model, data, {"a": 1, "b": "0.5 1/s"}, errors={"y": 0.1}, priors={"b": ("0.9 1/s", "0.02 1/s")})
    assert found.values == pytest.approx({"a": 0.17509804, "b": 0.93729412}, abs=1e-8)
    found = sinew.fit(model, data, ["a", "b"], errors={"y": 0.1}, known=True, bounds={"b": (None, "0.9 1/s")})
    assert found.found[1].bound == "high" and found.found[1].low is None
    with pytest.raises(sinew.ArgumentError, match="no --find"):
        sinew.fit(model, data, "a", errors={"y": 1}, priors={"b": (1, 1)})


def test_a_minimum(model):
    try:
        best = sinew.optimize(model, output=model.parent / "best.yaml")
    except sinew.ArgumentError as error:
        if "NLopt" in str(error):
            pytest.skip("built without NLopt")
        raise
    # a + 2 b = 1 with b at most 0.3
    assert best.values == pytest.approx({"a": 0.4, "b": 0.3}, abs=1e-8)
    assert best.cost == pytest.approx(0.25, abs=1e-9)
    assert best.variables[1].bound == "high" and best.variables[1].price == pytest.approx(-1, abs=1e-6)
    assert best.constraints[0].price == pytest.approx(0.8, abs=1e-6)
    assert "include" in (model.parent / "best.yaml").read_text()
    with pytest.raises(sinew.NotConverged) as failure:
        sinew.optimize(model, set={"b": "-3 1/s"}, evaluations=2)
    last = failure.value.result
    assert 1 <= last.evaluations <= 2 and list(last.values) == ["a", "b"] and not last.variables[0].idle
