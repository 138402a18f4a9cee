# SPDX-License-Identifier: MIT
"""Sweeps: a model for many values of its numbers, on all cores, and the results in one file."""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from ._command import call
from ._core import c_text, exception_of, file_name, file_path, new_error
from ._model import dict_text
from ._result import library
from ._sinew import ffi, lib
from ._types import Array, Path, Pointer

Progress = Callable[[int, int, int, float], None]
"""Function of the rows that are done, those among them that failed, all rows of the call, and the seconds since its begin."""


class Sweep:
    """Results of a sweep, read from its file; `sinew.sweep` makes one.

    >>> s = sinew.Sweep("finger.h5")
    >>> s.parameters["silicone.young"], s.results["reach"], s.state
    """

    def __init__(self, path: Path):
        h5py = library("h5py", "result files are read")
        self.path = file_name(path)
        """Name of the file."""
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        with h5py.File(self.path, "r") as file:
            if "format" not in file.attrs or bytes(file.attrs["format"]) != b"sinew sweep":
                raise ValueError(f"'{self.path}' is not the file of a sweep")
            self.parameters: dict[str, Array] = {name: self._column(file["parameters"][name]) for name in file["parameters"]}
            """Values of the parameters that vary, by path, SI units; words where the plan has words."""
            self.results: dict[str, Array] = {name: file["results"][name][:] for name in file["results"]}
            """Results by name; NaN where a row has none."""
            self.units: dict[str, str] = {
                name: bytes(column.attrs["unit"]).decode() for group in ("parameters", "results") for name, column in file[group].items()
            }
            """SI units of parameters and results by name; empty for plain numbers and where none is known."""
            names = np.array([name.decode() for name in file["state_name"][:]])
            self.state: Array = names[file["state"][:]]
            """State of each row: waiting, done, failed, refused or crashed."""
            self.seconds: Array = file["seconds"][:]
            """Time that each row took; of rows in packs their share."""
            engines = np.array([name.decode() for name in file["engine_name"][:]]) if "engine" in file else np.array(["alone"])
            self.engine: Array = engines[file["engine"][:] if "engine" in file else np.zeros(len(self.state), int)]
            """Engine that stepped each row: alone or packs."""
            texts = (text.decode(errors="replace") for text in file["message/text"][:])
            self.messages: dict[int, str] = dict(zip(map(int, file["message/row"][:]), texts))
            """Why rows failed, by their numbers."""

    @staticmethod
    def _column(column: Any) -> Array:
        values: Array = column[:]
        if "labels" not in column.attrs:
            return values
        return np.array([label.decode() for label in column.attrs["labels"]])[values.astype(int)]

    def __len__(self) -> int:
        return len(self.state)

    def __repr__(self) -> str:
        return f"<sinew.Sweep '{self.path}': {len(self)} rows, {int(np.sum(self.state == 'done'))} done>"

    def series(self, row: int) -> tuple[Array, dict[str, Array]]:
        """Times (s) and columns (SI units) of the series that the plan keeps, of one row."""
        h5py = library("h5py", "result files are read")
        with h5py.File(self.path, "r") as file:
            if "series" not in file:
                raise KeyError("the plan keeps no series; name probes under 'series'")
            s = file["series"]
            part = slice(s["first"][row], s["first"][row] + s["frames"][row])
            values = s["value"][part]
            return s["t"][part], {name.decode(): values[:, k] for k, name in enumerate(s["column"][:])}

    def table(self) -> Any:
        """Parameters, results and states as a DataFrame of pandas."""
        return library("pandas", "tables are made").DataFrame({**self.parameters, **self.results, "state": self.state})

    def report(self, *, pareto: tuple[str, str] | None = None) -> dict[str, Any]:
        """What `sinew sweep OUT.h5 --json` tells: statistics, sensitivity by Sobol' or Morris or correlations, and the rows of
        a Pareto front of two results ('-name': large values are good)."""
        return call("sweep", self.path, *(["--pareto=" + ",".join(pareto)] if pareto else []))


class _Hooks:
    """Hooks of a sweep. An exception in one of them, Ctrl-C too, ends it and is kept in `failure`."""

    def __init__(self, progress: Progress | bool):
        if not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress is True or a function, not {type(progress).__name__}")
        self.progress = _line if progress is True else progress or None
        self.failure: BaseException | None = None
        self._handle = ffi.new_handle(self)
        self.c = ffi.new("snw_sweep_hooks *")
        self.c.user = self._handle
        self.c.progress = lib.sinew_sweep_progress if self.progress else ffi.NULL
        self.c.cancel = lib.sinew_sweep_cancel


def _line(done: int, failed: int, total: int, seconds: float) -> None:
    rate = done / seconds if seconds > 0 else 0
    print(f"\r{done} of {total} rows, {failed} failed, {rate:.4g} rows/s", end="", file=sys.stderr, flush=True)


def _failed(_kind: type[BaseException], value: BaseException, traceback: TracebackType) -> None:
    hooks: _Hooks = ffi.from_handle(traceback.tb_frame.f_locals["user"])
    hooks.failure = hooks.failure or value


@ffi.def_extern(onerror=_failed)
def sinew_sweep_progress(user: Pointer, done: int, failed: int, total: int, seconds: float) -> None:
    hooks: _Hooks = ffi.from_handle(user)
    if hooks.failure is None and hooks.progress is not None:
        hooks.progress(done, failed, total, seconds)


@ffi.def_extern(error=1, onerror=_failed)
def sinew_sweep_cancel(user: Pointer) -> bool:
    # entering Python lets it handle signals: Ctrl-C is an exception here
    hooks: _Hooks = ffi.from_handle(user)
    return hooks.failure is not None


def sweep(plan: Path | Mapping[str, Any], output: Path | None = None, *, workers: int | None = None,
          shard: tuple[int, int] | None = None, resume: bool = False, force: bool = False,
          engine: str = "auto", progress: bool | Progress = False) -> Sweep:  # fmt: skip
    """Compute the rows of a plan and return its `Sweep`.

    `plan`: a plan file, or a dictionary with its keys, whose files are relative to the current folder. `output`: the
    result file; without it the results live in a temporary file as long as the returned object. `workers`: processes, one
    for each processor unless given. `shard`: (i, n), only every n-th row from the i-th on. `resume`: compute what an
    interrupted `output` lacks. `force`: replace an output. `engine`: "auto" solves the implicit steps of 4 or 8 rows at
    once where processor, scheme and model allow it, which gives the same results to the tolerance of the solver; "alone"
    computes each row as a run by itself, to the last bit; "packs" is as "auto", but refused where packs do not serve.
    `progress`: True for a line on standard error, or a function of the rows that are done, that failed, all rows, and the
    seconds.

    Rows that fail are rows of the result. Ctrl-C raises KeyboardInterrupt; rows that are done are kept in `output`.

    >>> s = sinew.sweep({"sinew": 1, "model": "arm.yaml", "vary": {"silicone.young": ["1 MPa", "2 MPa"]},
    ...                  "keep": {"drop": "-end(tip.z)"}})
    >>> s.results["drop"]
    """
    if (resume or shard) and output is None:
        raise TypeError("resume and shard go on with a result file: give it as output=")
    library("h5py", "result files are read")
    hooks = _Hooks(progress)
    folder = tempfile.TemporaryDirectory(prefix="sinew-") if output is None or isinstance(plan, Mapping) else None
    place = folder.name if folder is not None else ""
    if isinstance(plan, Mapping):
        given = dict(plan)
        for key in ("model", "table"):
            if key in given:
                given[key] = os.path.abspath(os.fspath(given[key]))
        path = os.path.join(place, "plan.yaml")
        pathlib.Path(path).write_text(dict_text(given), encoding="utf-8")
    else:
        path = file_name(plan)
    target = os.path.join(place, "sweep.h5") if output is None else file_name(output)
    how, err, report = ffi.new("snw_sweep_options *"), new_error(), ffi.new("snw_sweep_report *")
    name, engine_name = ffi.new("char[]", file_path(target)), ffi.new("char[]", c_text(engine, "engine"))
    how.output, how.workers, how.resume, how.force, how.engine = name, workers or 0, resume, force, engine_name
    if shard is not None:
        how.shard, how.shards = shard
    status = lib.snw_sweep_run(file_path(path), how, hooks.c, report, err)
    if hooks.progress is _line:
        print(file=sys.stderr)
    failure = hooks.failure or (None if status == lib.SNW_OK else exception_of(err))
    if failure is not None:
        if folder is not None:
            folder.cleanup()
        raise failure
    result = Sweep(target)
    if output is None:
        result._temporary = folder
    elif folder is not None:
        folder.cleanup()
    return result
