# SPDX-License-Identifier: MIT
"""Studies: `run` does all runs of a model file as the command does, `Study` one run in memory."""

from __future__ import annotations

import functools
import os
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from ._core import OfThisProcess, c_text, exception_of, file_name, file_path, new_error, override_list, raise_error, text, view
from ._errors import Error, in_python
from ._inverse import InverseSolution, copy_solution
from ._linear import LinearModel, copy_model
from ._model import Model, dict_text, model_of
from ._robot import Robot
from ._result import Result, library
from ._sinew import ffi, lib
from ._special import SpecialPoint
from ._types import Array, Overrides, Path, Pointer

Progress = Callable[[str, float, float], None]
"""Function of the name of a step, the time (s) and the fraction that is done."""


class SinewWarning(UserWarning):
    """A warning of a study, such as a basis or a step that is too coarse."""


def run(model: Path | Mapping[str, Any], output: Path | None = None, *, runs: str | list[str] | None = None,
        set: Overrides | None = None, progress: bool | Progress = False, resume: bool = False) -> Result:  # fmt: skip
    """Do the study of a model, every run of it, and return its `Result`.

    `model`: a model file, or dictionaries with the keys of the model language. `output`: the result file; without it
    the results live in a temporary file as long as the returned object. `runs`: names of the runs to do. `set`: overrides
    {path: value}. `progress`: True for a line on standard error, or a function of the name of the step, the time (s) and
    the fraction that is done. `resume`: go on with an interrupted `output`.

    The result file has the bits of that of `sinew run`. Warnings of the study are Python warnings (`SinewWarning`). A run
    that fails raises the exception of its status with `.result`, what was computed until then; Ctrl-C raises
    KeyboardInterrupt likewise, and `resume` continues.
    """
    if isinstance(model, (Model, Robot)):
        raise TypeError("sinew.run reads a model file; the study of a Model is Study(model).run(), that of a robot's model "
                        "Study(robot.model).run()")  # fmt: skip
    if resume and output is None:
        raise TypeError("resume=True goes on with the result file of an interrupted run: give it as output=")
    library("h5py", "result files are read")  # not only when the study is done
    hooks, names = _Hooks(progress), [c_text(name, "a run") for name in ([runs] if isinstance(runs, str) else runs or [])]
    count, texts, _kept = override_list(set)
    folder = tempfile.TemporaryDirectory(prefix="sinew-") if output is None or isinstance(model, Mapping) else None
    place = folder.name if folder is not None else ""
    if isinstance(model, Mapping):
        path = os.path.join(place, "model.yaml")
        pathlib.Path(path).write_text(dict_text(model), encoding="utf-8")
    else:
        path = file_name(model)
    target = os.path.join(place, "result.h5") if output is None else file_name(output)
    kept = [ffi.new("char[]", name) for name in names]
    choice, listed = ffi.new("snw_study_choice *"), ffi.new("char *[]", kept)
    choice.nset, choice.set = count, texts  # C does not keep these alive
    choice.nrun, choice.run, choice.resume = len(names), listed, resume
    before, err = _stamp(target), new_error()
    status = lib.snw_study_write(file_path(path), file_path(target), choice, hooks.c, err)
    hooks.finish()
    failure = hooks.failure or (None if status == lib.SNW_OK else exception_of(err, set or ()))
    result = Result(target) if failure is None or _stamp(target) not in (None, before) else None
    if result is not None and output is None:
        result._temporary = folder
    elif folder is not None:
        folder.cleanup()
    if failure is not None:
        failure.result = result  # type: ignore[attr-defined]  # any exception may carry it
        raise failure
    assert result is not None  # as nothing failed
    return result


def _stamp(path: str) -> tuple[int, int, int] | None:
    """Tells whether a file was written; None: there is none."""
    try:
        info = os.stat(path)
    except FileNotFoundError:
        return None
    return info.st_ino, info.st_mtime_ns, info.st_size


def _line(step: str, t: float, fraction: float) -> None:
    print(f"\r{step}  t = {t:.4g} s  {100 * fraction:3.0f} %", end="", file=sys.stderr, flush=True)


class _Hooks:
    """Hooks of a study in Python. An exception in one of them, Ctrl-C too, ends the study and is kept in `failure`."""

    def __init__(self, progress: Progress | bool, frame: Callable[[], None] | None = None):
        if not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress is True or a function, not {type(progress).__name__}")
        self.progress, self.frame = _line if progress is True else progress or None, frame
        self.failure: BaseException | None = None
        self.warnings: list[str] = []
        self._handle = ffi.new_handle(self)
        self.c = ffi.new("snw_study_hooks *")
        self.c.user = self._handle
        self.c.frame = lib.sinew_study_frame if frame else ffi.NULL
        self.c.progress = lib.sinew_study_progress if self.progress else ffi.NULL
        self.c.cancel = lib.sinew_study_cancel
        self.c.warn = lib.sinew_study_warn

    def finish(self) -> None:
        """End the line of progress and show the warnings, each once."""
        if self.progress is _line:
            print(file=sys.stderr)
        self.warnings = list(dict.fromkeys(self.warnings))
        for line in self.warnings:
            warnings.warn(line, SinewWarning, stacklevel=3)


def _failed(_kind: type[BaseException], value: BaseException, traceback: TracebackType) -> None:
    hooks: _Hooks = ffi.from_handle(traceback.tb_frame.f_locals["user"])
    hooks.failure = hooks.failure or value


@ffi.def_extern(error=lib.SNW_E_STOPPED, onerror=_failed)
def sinew_study_frame(user: Pointer, study: Pointer) -> int:
    ffi.from_handle(user).frame()
    return lib.SNW_OK


@ffi.def_extern(onerror=_failed)
def sinew_study_progress(user: Pointer, step: Pointer, t: float, fraction: float) -> None:
    hooks: _Hooks = ffi.from_handle(user)
    if hooks.failure is None and hooks.progress is not None:
        hooks.progress(text(step), t, fraction)


@ffi.def_extern(error=1, onerror=_failed)
def sinew_study_cancel(user: Pointer) -> bool:
    # entering Python lets it handle signals: Ctrl-C is an exception here
    hooks: _Hooks = ffi.from_handle(user)
    return hooks.failure is not None


@ffi.def_extern(onerror=_failed)
def sinew_study_warn(user: Pointer, line: Pointer) -> None:
    ffi.from_handle(user).warnings.append(in_python(text(line)))


class Study(OfThisProcess):
    """The study of one run of a model, in memory; `model`: a `Model` or a model file. `run`, `set`: see `Model`.

    >>> study = sinew.Study(sinew.Model("arm.yaml"))
    >>> study.run()
    >>> study.t, study["tip"]
    """

    _instead = "make another one of the same model"

    def __init__(self, model: Model | Path, *, run: str | None = None, set: Overrides | None = None):
        self.model = model = model_of(model, run=run, set=set)
        self.warnings: list[str] = []
        """Warnings of the last run."""
        out, err = ffi.new("snw_study **"), new_error()
        if lib.snw_study_create(model._m, out, err) != lib.SNW_OK:
            raise_error(err)
        self._s = ffi.gc(out[0], lib.snw_study_close)
        self._columns: list[str] = []
        while True:
            name = lib.snw_study_column(self._s, len(self._columns))
            if not name:
                break
            self._columns.append(text(name))

    def run(self, *, frame: Callable[["Study"], None] | None = None,
            progress: Progress | bool = False, keep: bool = True) -> "Study":  # fmt: skip
        """Run the study from the beginning; returns the study itself.

        `frame`: called with the study at each frame; `row(field)` gives its numbers. `progress`: called with the name of
        the step, the time (s) and the fraction that is done, or True for a line on standard error. `keep`: keep all
        frames in arrays. An exception in a callback and Ctrl-C end the study; the frames until then stay.
        """
        if frame is not None and not callable(frame):
            raise TypeError(f"frame is a function of the study, not {type(frame).__name__}")
        hooks, err = _Hooks(progress, functools.partial(frame, self) if frame else None), new_error()
        status = lib.snw_study_run(self._s, 1 if keep else 0, hooks.c, err)
        hooks.finish()
        self.warnings = hooks.warnings
        if hooks.failure is not None:
            raise hooks.failure
        if status != lib.SNW_OK:
            raise_error(err)
        return self

    def _field(self, name: str) -> int:
        code = {"t": "TIME", "stage_index": "STEP", "columns": "COLUMN"}.get(name, str(name).upper())
        try:
            field: int = getattr(lib, "SNW_FIELD_" + code)
        except AttributeError:
            raise KeyError(f"a frame has no field '{name}'") from None
        return field

    def row(self, field: str) -> Array:
        """The numbers of a field (`t`, `q`, `v`, `pose`, `columns`, `energy`, ..) of the last frame; a copy."""
        code = self._field(field)
        row = lib.snw_study_row(self._s, code)
        if not row:
            raise Error("there is no frame yet: run() the study")
        return np.array(view(row, (lib.snw_study_width(self._s, code),), self._s))

    def array(self, field: str) -> Array:
        """All kept frames of a field, (frames, width), SI units; a copy."""
        code = self._field(field)
        shape = (lib.snw_study_frames(self._s), lib.snw_study_width(self._s, code))
        if 0 in shape:
            return np.empty(shape)
        return np.array(view(lib.snw_study_array(self._s, code), shape, self._s))

    @property
    def t(self) -> Array:
        """Time of the frames, s."""
        return self.array("t")[:, 0]

    @property
    def q(self) -> Array:
        """Coordinates, (frames, nq), SI units."""
        return self.array("q")

    @property
    def v(self) -> Array:
        """Velocities, (frames, nv), SI units."""
        return self.array("v")

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the probes, such as `tip.x`."""
        return list(self._columns)

    def __getitem__(self, name: str) -> Array:
        """Values of a probe in SI units, (frames, columns), or of a column, (frames,)."""
        values = self.array("columns")
        if name in self._columns:
            return values[:, self._columns.index(name)]
        of_probe = [i for i, c in enumerate(self._columns) if c.split(".")[0].split("@")[0] == name]
        if not of_probe:
            raise KeyError(f"no probe '{name}'; there are the columns {', '.join(self._columns) or 'none'}")
        return values[:, of_probe]

    @property
    def special_points(self) -> list[SpecialPoint]:
        """Folds, bifurcations, flutter and cusps found by the `path` steps of the last run."""
        out, record, step = [], ffi.new("snw_special_record *"), ffi.new("int *")
        folds: dict[int, list[str]] = {}
        for k in range(lib.snw_study_width(self._s, lib.SNW_FIELD_FOLD)):
            name = text(lib.snw_study_fold_column(self._s, k, step))
            folds.setdefault(step[0], []).append(name)
        for k in range(lib.snw_study_special_points(self._s)):
            if lib.snw_study_special_point(self._s, k, record) != lib.SNW_OK:
                break
            r = record[0]
            by = {m: self.fold_derivative(k, m) for m in folds.get(r.step, []) if text(r.kind) == "fold"}
            out.append(SpecialPoint(list(self.model.steps)[r.step], text(r.kind), r.number, r.path, r.t, r.arc,
                                    r.multiplicity, r.unstable, r.frequency, by))  # fmt: skip
        return out

    @property
    def inverse(self) -> dict[str, InverseSolution]:
        """Inputs found by the `inverse` steps of the last run, each at its last instant, by the names of the steps."""
        found = {name: lib.snw_study_inverse(self._s, k) for k, name in enumerate(self.model.steps)}
        return {name: copy_solution(m) for name, m in found.items() if m != ffi.NULL}

    @property
    def linear(self) -> dict[str, LinearModel]:
        """Linear models made by the `linearize` steps of the last run, by the names of the steps."""
        found = {name: lib.snw_study_linear(self._s, k) for k, name in enumerate(self.model.steps)}
        return {name: copy_model(m) for name, m in found.items() if m != ffi.NULL}

    def fold_derivative(self, fold: int, parameter: str) -> float:
        """dt/dm of a fold, a position in `special_points`, by a parameter that its step names under `by`; SI units."""
        return float(lib.snw_study_fold_derivative(self._s, fold, parameter.encode()))

    def __repr__(self) -> str:
        return f"<sinew.Study of {self.model!r}: {lib.snw_study_frames(self._s)} frames>"

