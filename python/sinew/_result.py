# SPDX-License-Identifier: MIT
"""Results of a study, read from a result file (docs/results.md)."""

from __future__ import annotations

import html
import importlib
import json
import os
import pathlib
import tempfile
import urllib.parse
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _command
from ._core import OfThisProcess, file_name
from ._errors import FileError
from ._linear import LinearModel, read_model
from ._special import KINDS, SpecialPoint
from ._types import Array, Path


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _step_name(group: str) -> str:
    """Name of a step from that of its group, in which '/', '%' and a single '.' are written as %XX."""
    return urllib.parse.unquote(group)


def library(name: str, purpose: str) -> Any:
    """A library that not everyone needs; where it is missing, the message names its package."""
    try:
        return importlib.import_module(name)
    except ImportError as e:
        package = "python3-" + name.split(".")[0]
        raise ImportError(f"{purpose} by {name.split('.')[0]}, which is not installed (Debian: {package})") from e


class Run(OfThisProcess, Mapping[str, Array]):
    """One run: its frames as numpy arrays, read from the file when they are asked for.

    `run["tip"]` is a probe and has the shape (frames, components), (frames,) for a scalar,
    (frames, stations, components) for a probe along a rod; `run["tip.x"]` is one of its columns. All values are SI.
    """

    _instead = "open its file again by sinew.Result(path)"

    def __init__(self, group: Any, path: str):
        self._in_file, self.path = group, path
        self.name = _text(group.attrs["name"])
        self.title = _text(group.attrs["title"])
        self._columns = [_text(c) for c in group["column"][:]]
        probes = [_text(c) for c in group["column_probe"][:]]
        components = [_text(c) for c in group["column_component"][:]]
        self._probes: dict[str, tuple[int, int]] = {}  # name -> first column, end
        for i, probe in enumerate(probes):
            first, _ = self._probes.get(probe, (i, i))
            self._probes[probe] = (first, i + 1)
        self._stations = group["column_station"][:]
        self.components = {p: components[a:b] for p, (a, b) in self._probes.items()}
        """Names of the components of each probe, repeated for each station of a probe along a rod."""

    @property
    def _group(self) -> Any:
        if not self._in_file:
            raise ValueError(f"{self.path} was closed; refresh() of the result opens it again, arrays read before stay valid")
        return self._in_file

    # ---- frames

    def _array(self, name: str) -> Array:
        # datasets other than `t` may be ahead of it while the file grows
        return np.asarray(self._group[name][: self._group["t"].shape[0]])

    @property
    def t(self) -> Array:
        """Time of each frame, s, (frames,)."""
        return np.asarray(self._group["t"][:])

    @property
    def q(self) -> Array:
        """Coordinates, (frames, nq), in the order of `coordinates`: rad, m, strains in 1/m and plain numbers."""
        return self._array("q")

    @property
    def v(self) -> Array:
        """Velocities, (frames, nv), rad/s, m/s and strain rates in SI units."""
        return self._array("v")

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates, such as `arm.bend_y.0` and `hinge.angle`."""
        return [_text(n) for n in self._group["q_name"][:]]

    def poses(self, link: str | None = None) -> Array:
        """World poses of the nodes, (frames, nodes, 4, 4), positions in m; of one link, in the order of arc length."""
        pose = self._array("pose")
        if link is not None:
            pose = pose[:, self._nodes(link)]
        w, x, y, z = np.moveaxis(pose[..., 3:], -1, 0)
        out = np.zeros(pose.shape[:-1] + (4, 4))
        out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
        out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
        out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
        out[..., :3, 3] = pose[..., :3]
        out[..., 3, 3] = 1
        return out

    def positions(self, link: str | None = None) -> Array:
        """World positions of the nodes, m, (frames, nodes, 3)."""
        position = self._array("pose")[..., :3]
        return position if link is None else position[:, self._nodes(link)]

    def _nodes(self, link: str) -> npt.NDArray[np.intp]:
        nodes = np.flatnonzero(self._group["node_link"][:] == link.encode())
        if nodes.size == 0:
            names = sorted({_text(n) for n in self._group["node_link"][:]})
            raise KeyError(f"no link '{link}' has nodes; there are {', '.join(names)}")
        return nodes

    def arc_lengths(self, link: str) -> Array:
        """Arc lengths of the nodes of a rod, m, in the order of `poses(link)`."""
        return np.asarray(self._group["node_x"][:][self._nodes(link)])

    def _named(self, name: str) -> dict[str, Array]:
        values = self._array(name)
        return {_text(n): values[:, i] for i, n in enumerate(self._group[name].attrs["names"])}

    @property
    def energy(self) -> dict[str, Array]:
        """Energy account, J: kinetic, elastic, gravity, dissipated, work, scheme, balance, each (frames,)."""
        return self._named("energy")

    @property
    def stats(self) -> dict[str, Array]:
        """Solver statistics of each frame, plain numbers: iterations, residual, stability, estimated errors and others."""
        return self._named("stats")

    @property
    def stages(self) -> dict[str, slice]:
        """Steps of the study: name -> slice of its frames."""
        index = self._array("stage_index")
        out = {}
        for i, name in enumerate(self._group["stage"][:]):
            frames = np.flatnonzero(index == i)
            if frames.size:
                out[_text(name)] = slice(int(frames[0]), int(frames[-1]) + 1)
        return out

    def _fold_columns(self) -> dict[int, dict[str, Array]]:
        """Derivatives of folds: step -> constant of the file -> values, (frames,)."""
        out: dict[int, dict[str, Array]] = {}
        if "fold" in self._group:
            g, values = self._group, self._array("fold")
            for i, (m, step) in enumerate(zip(g["fold_by"][:], g["fold_step"][:])):
                out.setdefault(int(step), {})[_text(m)] = values[:, i]
        return out

    @property
    def special_points(self) -> dict[int, SpecialPoint]:
        """Special points of `path` steps: frame -> point. `v[frame]` is the mode of a fold, bifurcation or cusp."""
        stats, index = self.stats, self._array("stage_index")
        folds = self._fold_columns()
        names, found, out = [_text(n) for n in self._group["stage"][:]], Counter[tuple[int, int]](), {}
        for k in np.flatnonzero(stats["special"]):
            step, kind = int(index[k]), int(stats["special"][k])
            found[step, kind] += 1
            frequency = float(stats["frequency"][k]) if KINDS[kind] == "flutter" else np.nan
            out[int(k)] = SpecialPoint(names[step], KINDS[kind], found[step, kind], int(stats["path"][k]), float(stats["parameter"][k]),
                                       float(stats["arc"][k]), int(stats["multiplicity"][k]), int(stats["negative"][k]),
                                       frequency, {m: float(x[k]) for m, x in folds.get(step, {}).items()
                                                   if KINDS[kind] == "fold"})  # fmt: skip
        return out

    @property
    def linear(self) -> dict[str, LinearModel]:
        """Linear models made by the `linearize` steps of the run, by the names of the steps."""
        steps = self._group["linear"] if "linear" in self._group else {}
        found = {_step_name(name): read_model(steps[name]) for name in steps}
        order = [_text(name) for name in self._group["stage"][:]]
        return {name: m for name in order if (m := found.get(name)) is not None}

    @property
    def overrides(self) -> dict[str, float | str]:
        """Values by which the run differs from its file: numbers in SI units where they are constant, else texts."""
        if "override" not in self._group:
            return {}
        g = self._group
        return {_text(p): float(v) if np.isfinite(v) else _text(s)
                for p, v, s in zip(g["override"][:], g["override_value"][:], g["override_text"][:])}  # fmt: skip

    @property
    def state(self) -> str:
        """`pending`, `running`, `finished`, `failed` or `stopped`."""
        return _text(self._group["status"][()]["state"])

    @property
    def message(self) -> str:
        """Reason of a failed or stopped run."""
        return _text(self._group["status"][()]["message"])

    @property
    def scene(self) -> dict[str, Any]:
        """How the robot looks (docs/results.md)."""
        return dict(json.loads(_text(self._group["scene"][()])))

    # ---- probes, as a mapping

    def __getitem__(self, name: str) -> Array:
        if name in self._probes:
            first, end = self._probes[name]
            values = self._group["columns"][: self._group["t"].shape[0], first:end]
            stations = int(self._stations[end - 1]) + 1
            if stations > 0:
                values = values.reshape(len(values), stations, -1)
            scalar = values.shape[-1] == 1 and self.components[name][0] == ""
            return np.asarray(values[..., 0] if scalar else values)
        if name in self._columns:
            return np.asarray(self._group["columns"][: self._group["t"].shape[0], self._columns.index(name)])
        raise self._unknown(name)

    def _unknown(self, name: str) -> KeyError:
        return KeyError(f"no probe '{name}'; there are {', '.join(self._probes) or 'none'}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._probes)

    def __len__(self) -> int:
        return len(self._probes)

    def unit(self, name: str) -> str:
        """Unit of a probe, or of one of its columns (`tip.x`); empty for plain numbers and where units differ."""
        units: dict[str, dict[str, str]] = {p["name"]: p["units"] for p in self.scene["probes"]}
        if name in units:
            of_probe = set(units[name].values())
            return of_probe.pop() if len(of_probe) == 1 else ""
        if name not in self._columns:
            raise self._unknown(name)
        i = self._columns.index(name)
        return units[next(p for p, (a, b) in self._probes.items() if a <= i < b)][self._component(i)]

    def _component(self, column: int) -> str:
        return _text(self._group["column_component"][column])

    # ---- to other libraries

    def to_pandas(self) -> Any:
        """All columns of the probes as a pandas.DataFrame with the time as its index."""
        pandas = library("pandas", "tables are made")
        columns = self._group["columns"][: self._group["t"].shape[0]]
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"), columns=self._columns)

    def to_xarray(self) -> Any:
        """Probes, coordinates and energies as an xarray.Dataset over `t`."""
        xarray = library("xarray", "labelled arrays are made")
        data: dict[str, Any] = {}
        labels: dict[str, Any] = {"t": ("t", self.t, {"unit": "s"}), "coordinate": self.coordinates}
        for name in self:
            values = self[name]
            dims = ["t"]
            if values.ndim == 3:
                dims.append(f"{name}_station")
            if values.ndim > 1:
                dims.append(f"{name}_component")
                labels[f"{name}_component"] = self.components[name][: values.shape[-1]]
            data[name] = (dims, values, {"unit": self.unit(name)})
        data["q"] = (["t", "coordinate"], self.q)
        for name, values in self.energy.items():
            data[f"energy_{name}"] = (["t"], values, {"unit": "J"})
        return xarray.Dataset(data, coords=labels,
                              attrs={"run": self.name, "title": self.title})  # fmt: skip

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draw probes, or columns such as `tip.x`, over time; returns the matplotlib axes."""
        plt = library("matplotlib.pyplot", "curves are drawn")
        ax = ax if ax is not None else plt.figure().gca()
        for name in names or tuple(self)[:1]:
            values = self[name]
            flat = values.reshape(len(values), -1)
            labels = self.components.get(name, [""])
            for i in range(flat.shape[1]):
                label = labels[i] if i < len(labels) else ""
                ax.plot(self.t, flat[:, i], label=f"{name}.{label}" if label else name)
        ax.set_xlabel("t [s]")
        units = {self.unit(n) for n in names or tuple(self)[:1]}
        ax.set_ylabel(f"[{units.pop()}]" if len(units) == 1 and units != {""} else "")
        ax.legend()
        return ax

    def page(self) -> str:
        """The page of `sinew view` for this run, as text."""
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "page.html")
            _command.call("view", self.path, "--run", self.name, "-o", output)
            return pathlib.Path(output).read_text(encoding="utf-8")

    def view(self, path: Path | None = None) -> Page | None:
        """Show the run in a browser or, in a notebook, inline; `path`: only write the page there."""
        if path is not None:
            pathlib.Path(path).write_text(self.page(), encoding="utf-8")
            return None
        return Page(self.page())

    def _repr_html_(self) -> str:
        return Page(self.page())._repr_html_()

    def __repr__(self) -> str:
        if not self._in_file:
            return f"<sinew.Run '{self.name}': its file is closed>"
        t = self.t
        span = f", t = {t[0]:g} .. {t[-1]:g} s" if len(t) else ""
        return f"<sinew.Run '{self.name}': {self.state}, {len(t)} frames{span}; probes {', '.join(self) or 'none'}>"


class Page:
    """A page of the viewer. A notebook shows it inline; `open()` shows it in the browser."""

    def __init__(self, text: str):
        self.text = text

    def open(self) -> None:
        """Show the page in the browser."""
        import webbrowser

        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as f:
            f.write(self.text)
        webbrowser.open(pathlib.Path(f.name).as_uri())

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text)}" style="width: 100%; height: 560px; border: 0" '
                'sandbox="allow-scripts allow-downloads"></iframe>')  # fmt: skip


class Result(OfThisProcess, Mapping[str, Any]):
    """A result file: a mapping of the names of its runs to `Run`.

    Where there is one run, its attributes and probes are those of the result: `result.t`, `result["tip"]`.
    A file may still be growing; `refresh()` then shows its newer frames.
    """

    _instead = "open its file again by sinew.Result(path)"

    def __init__(self, path: Path):
        self.path = file_name(path)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None  # folder that is removed with this object
        self._open()

    def _open(self) -> None:
        try:
            self._file = library("h5py", "result files are read").File(self.path, "r", libver="latest", swmr=True)
        except OSError as e:
            reason = os.strerror(e.errno) if e.errno else "this is not a result file of Sinew"
            raise FileError(f"cannot be read: {reason}", self.path) from e
        if _text(self._file.attrs.get("format", b"")) != "sinew results":
            self._file.close()
            raise ValueError(f"{self.path}: not a result file of Sinew")
        runs = self._file["runs"]
        self._runs = {run.name: run for run in (Run(runs[n], self.path) for n in runs)}

    def refresh(self) -> None:
        """Read the file again, with the frames written since."""
        self.close()
        self._open()

    def close(self) -> None:
        """Close the file; arrays that were read stay valid."""
        self._file.close()

    def __enter__(self) -> "Result":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def runs(self) -> dict[str, Run]:
        """Runs by name, in the order of the model."""
        return dict(self._runs)

    @property
    def model(self) -> str:
        """Text of the model."""
        if not self._file:
            raise ValueError(f"{self.path} was closed; refresh() opens it again")
        return _text(self._file["model"][()])

    def only(self) -> Run:
        """The run of a result that has one."""
        if len(self._runs) != 1:
            raise KeyError(f"there are {len(self._runs)} runs: choose one of {', '.join(self._runs)}")
        return next(iter(self._runs.values()))

    def __getitem__(self, name: str) -> Any:
        if name in self._runs:
            return self._runs[name]
        return self.only()[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if len(self._runs) != 1 and hasattr(Run, name):
            raise AttributeError(f"'{name}' is that of a run, and there are {len(self._runs)}: choose one of {', '.join(self._runs)}")
        if len(self._runs) != 1:
            raise AttributeError(f"'Result' object has no attribute '{name}'")
        return getattr(self.only(), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "page.html")
            _command.call("view", self.path, "-o", output)
            return Page(pathlib.Path(output).read_text(encoding="utf-8"))._repr_html_()

    def __repr__(self) -> str:
        return f"<sinew.Result {self.path}: " + "; ".join(repr(r)[len("<sinew.Run "):-1] for r in self._runs.values()) + ">"
