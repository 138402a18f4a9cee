# SPDX-License-Identifier: MIT
"""Sweeps from Python, against closed forms."""
import numpy as np
import pytest

import sinew

# a cart on a spring, x = F/k
MODEL = {
    "sinew": 1,
    "gravity": 0,
    "parameters": {"F": "3 N", "k": "2 N/m"},
    "robot": {"cart": {"on": "world", "joint": "prismatic", "axis": "x", "stiffness": "k",
                       "body": {"sphere": {"radius": "4 cm"}, "mass": 1}}},
    "loads": {"push": {"on": "cart", "force": ["F", 0, 0]}},
    "probes": {"x": {"position": "cart"}},
    "study": ["static"],
}  # fmt: skip
PLAN = {
    "sinew": 1,
    "model": "cart.json",
    "vary": {"F": ["1 N", "2 N"], "k": {"from": "1 N/m", "to": "4 N/m", "points": 4}},
    "keep": {"x": "end(x.x)", "energy": "end(k*x.x^2/2)"},
    "series": ["x.x"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.json").write_text(json.dumps(MODEL))
    return tmp_path


def test_a_grid(folder):
    told = []
    s = sinew.sweep(PLAN, workers=2, progress=lambda *rows: told.append(rows))
    assert len(s) == 8 and set(s.state) == {"done"} and s.messages == {}
    force, k = s.parameters["F"], s.parameters["k"]
    assert list(force) == [1] * 4 + [2] * 4 and list(k) == [1, 2, 3, 4] * 2
    assert s.results["x"] == pytest.approx(force / k, abs=1e-9)
    assert s.results["energy"] == pytest.approx(force**2 / k / 2, abs=1e-8)
    assert s.units["x"] == "m" and s.units["energy"] == "N*m"
    t, columns = s.series(5)
    assert columns["x.x"][-1] == s.results["x"][5] and len(t) == 1
    assert told[-1][:3] == (8, 0, 8)
    assert set(s.engine) == {"alone"}  # equilibria
    with pytest.raises(sinew.ArgumentError, match="no dynamic step"):
        sinew.sweep(PLAN, engine="packs")
    found = s.report(pareto=("x", "-energy"))
    assert found["results"][0]["name"] == "x"
    assert s.table()["k"].tolist() == list(k)


def test_an_output_is_kept_and_resumed(folder):
    s = sinew.sweep(PLAN, "out.h5", shard=(1, 2))
    assert list(s.state) == ["waiting"] * 8  # the other shard is missing
    s = sinew.sweep(PLAN, folder / "out.h5", resume=True)
    assert set(s.state) == {"done"} and sinew.Sweep("out.h5").results.keys() == {"x", "energy"}
    assert not (folder / "out.h5.parts").exists()
    with pytest.raises(sinew.ArgumentError, match="has rows of this plan"):
        sinew.sweep(PLAN, "out.h5")
    sinew.sweep({**PLAN, "vary": {"k": ["1 N/m", "2 N/m"]}}, "out.h5", force=True)
    assert len(sinew.Sweep("out.h5")) == 2


def test_failures_and_mistakes(folder):
    s = sinew.sweep({**PLAN, "vary": {"k": ["1 N/m", "-1 N/m"]}})
    assert list(s.state) == ["done", "refused"] and np.isnan(s.results["x"][1]) and "stiffness" in s.messages[1]
    with pytest.raises(sinew.Error, match="'kk'"):
        sinew.sweep({**PLAN, "vary": {"kk": [1, 2]}})
    with pytest.raises(TypeError, match="output="):
        sinew.sweep(PLAN, resume=True)
    with pytest.raises(ZeroDivisionError):
        sinew.sweep(PLAN, progress=lambda *_: 1 / 0)
    (folder / "x.h5").write_text("no")
    with pytest.raises(OSError):
        sinew.Sweep("x.h5")
