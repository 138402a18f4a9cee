# SPDX-License-Identifier: MIT
"""Results in other libraries' forms: tables, labelled arrays, curves, pages."""

import pathlib

import numpy as np
import pytest

import sinew


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    from conftest import ARM

    path = tmp_path_factory.mktemp("tables") / "arm.yaml"
    path.write_text(ARM)
    result = sinew.run(path, runs="main")
    yield result.only()
    result.close()


def test_pandas(run):
    pandas = pytest.importorskip("pandas", reason="python3-pandas is not installed")
    table = run.to_pandas()
    assert isinstance(table, pandas.DataFrame) and table.index.name == "t"
    assert np.array_equal(table.index, run.t)
    assert np.array_equal(table[["tip.x", "tip.y", "tip.z"]].to_numpy(), run["tip"])
    assert np.array_equal(table["angle"], run["angle"])


def test_xarray(run):
    xarray = pytest.importorskip("xarray", reason="python3-xarray is not installed")
    data = run.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data["tip"].dims == ("t", "tip_component") and data["tip"].attrs["unit"] == "m"
    assert list(data["tip_component"].values) == ["x", "y", "z"]
    assert np.array_equal(data["tip"].sel(tip_component="z"), run["tip.z"])
    assert data["wire"].dims == ("t", "wire_station", "wire_component") and data["wire"].shape == (len(run.t), 3, 6)
    assert np.array_equal(data["q"].sel(coordinate="base.angle"), run.q[:, 0])
    assert np.array_equal(data["energy_elastic"], run.energy["elastic"])
    assert float(data["t"][-1]) == pytest.approx(0.1)


def test_plot(run):
    matplotlib = pytest.importorskip("matplotlib", reason="python3-matplotlib is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ax = run.plot("tip")
    assert [line.get_label() for line in ax.lines] == ["tip.x", "tip.y", "tip.z"]
    assert np.array_equal(ax.lines[2].get_ydata(), run["tip.z"]) and np.array_equal(ax.lines[2].get_xdata(), run.t)
    assert ax.get_xlabel() == "t [s]" and ax.get_ylabel() == "[m]"
    assert run.plot("tip.x", "angle", ax=plt.figure().gca()).get_ylabel() == ""  # m and rad
    with pytest.raises(KeyError, match="no probe 'tipp'"):
        run.plot("tipp")
    plt.close("all")


def test_view(run, tmp_path):
    page = tmp_path / "arm.html"
    try:
        run.view(page)
    except sinew.Error as failure:
        pytest.skip(f"no viewer: {failure}")
    text = page.read_text()
    assert text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    inline = run.view()._repr_html_()
    assert inline.startswith("<iframe srcdoc=") and "<script" not in inline  # all of it is escaped
    assert pathlib.Path(run.path).exists()


@pytest.mark.parametrize("call,module", [("to_pandas", "pandas"), ("to_xarray", "xarray"), ("plot", "matplotlib")])
def test_a_missing_library_is_named_with_its_package(run, monkeypatch, call, module):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, module + ".pyplot", None)
    with pytest.raises(ImportError, match=f"Debian: python3-{module}"):
        getattr(run, call)()
