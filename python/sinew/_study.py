# SPDX-License-Identifier: MIT
"""Studies: `run` does all runs of a model file as the command does, `Study` one run in memory."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping

import numpy as np

from . import _command
from ._core import Overrides, ffi, lib, new_error, raise_error, text, view, written
from ._errors import error_of
from ._model import Model
from ._result import Result


class SinewWarning(UserWarning):
    """A warning of a study, such as a basis or a step that is too coarse."""


def run(model: "str | os.PathLike | Mapping", output: str | os.PathLike | None = None, *, runs: str | list[str] | None = None,
        set: Overrides | None = None, progress: bool = False, resume: bool = False) -> Result:  # fmt: skip
    """Do the study of a model, every run of it, and return its `Result`.

    `model`: a model file, or dictionaries with the keys of the model language. `output`: the result file; without it
    the results live in a temporary file as long as the returned object. `runs`: names of the runs to do. `set`: overrides
    {path: value}. `progress`: show the progress on standard error. `resume`: go on with an interrupted `output`.

    Warnings of the study are Python warnings (`SinewWarning`). A run that fails raises the exception of its status with
    `.result`, what was computed until then; Ctrl-C raises KeyboardInterrupt likewise.
    """
    folder = tempfile.TemporaryDirectory(prefix="sinew-")
    if isinstance(model, Mapping):
        path = os.path.join(folder.name, "model.yaml")
        pathlib.Path(path).write_text(json.dumps({"sinew": 1, **model}), encoding="utf-8")
    else:
        path = os.fspath(model)
    target = os.path.join(folder.name, "result.h5") if output is None else os.fspath(output)
    args = [_command.path(), "run", path, "-o", target, "--json", "--force"]
    for name in [runs] if isinstance(runs, str) else runs or []:
        args += ["--run", name]
    for where, value in (set or {}).items():
        args += ["--set", f"{where}={written(value)}"]
    if resume:
        args.remove("--force")
        args.append("--resume")
    process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=None if progress else subprocess.PIPE, text=True)
    interrupted = False
    while True:
        try:
            out, messages = process.communicate()
            break
        except KeyboardInterrupt:  # the command stops between two increments and keeps what it has
            interrupted = True
            process.send_signal(signal.SIGINT)
    for line in (messages or "").splitlines():
        for mark in (": warning: ", ": note: "):
            if mark in line:
                warnings.warn(line.split(mark, 1)[1], SinewWarning, stacklevel=2)
    try:
        reply = json.loads(out)
    except json.JSONDecodeError:
        reply = {}
    result = None
    if os.path.exists(target):
        result = Result(target)
        result._temporary = folder if output is None else None
    if interrupted:
        stop = KeyboardInterrupt("the study was stopped; .result has what was computed")
        stop.result = result
        raise stop
    if process.returncode != 0:
        error = reply.get("error") or next((r["error"] for r in reply.get("runs", []) if r.get("error")), {})
        failure = error_of(error.get("status", ""), error.get("text") or (messages or "").strip() or "the study failed",
                           error.get("file"), error.get("line"), error.get("column"))  # fmt: skip
        failure.result = result
        raise failure
    return result


@ffi.def_extern()
def sinew_study_frame(user, study):
    return ffi.from_handle(user)._frame()


@ffi.def_extern()
def sinew_study_progress(user, step, t, fraction):
    ffi.from_handle(user)._progress(text(step), t, fraction)


@ffi.def_extern()
def sinew_study_cancel(user):
    return ffi.from_handle(user)._cancelled()


@ffi.def_extern()
def sinew_study_warn(user, line):
    ffi.from_handle(user).warnings.append(text(line))


class Study:
    """The study of one run of a model, in memory.

    >>> study = sinew.Study(sinew.Model("arm.yaml"))
    >>> study.run()
    >>> study.t, study["tip"]
    """

    def __init__(self, model: "Model | str | os.PathLike", *, run: str | None = None, set: Overrides | None = None):
        if not isinstance(model, Model):
            model = Model(model, run=run, set=set)
        self.model = model
        self.warnings: list[str] = []
        """Warnings of the last run."""
        out, err = ffi.new("snw_study **"), new_error()
        if lib.snw_study_create(model._m, out, err) != lib.SNW_OK:
            raise_error(err)
        self._s = ffi.gc(out[0], lib.snw_study_close)
        self._columns = []
        while True:
            name = lib.snw_study_column(self._s, len(self._columns))
            if not name:
                break
            self._columns.append(text(name))
        self._on_frame: Callable | None = None
        self._on_progress: Callable | None = None
        self._failure: BaseException | None = None

    def run(self, *, frame: Callable[["Study"], None] | None = None,
            progress: Callable[[str, float, float], None] | bool = False, keep: bool = True) -> "Study":  # fmt: skip
        """Run the study from the beginning; returns the study itself.

        `frame`: called with the study at each frame; `row(field)` gives its numbers. `progress`: called with the name of
        the step, the time (s) and the fraction that is done, or True for a line on standard error. `keep`: keep all
        frames in arrays. An exception in a callback and Ctrl-C end the study; the frames until then stay.
        """
        self._on_frame, self._on_progress, self._failure = frame, self._line if progress is True else progress or None, None
        self.warnings = []
        handle = ffi.new_handle(self)
        hooks = ffi.new("snw_study_hooks *")
        hooks.user = handle
        hooks.frame = lib.sinew_study_frame if frame else ffi.NULL
        hooks.progress = lib.sinew_study_progress if self._on_progress else ffi.NULL
        hooks.cancel = lib.sinew_study_cancel
        hooks.warn = lib.sinew_study_warn
        err = new_error()
        status = lib.snw_study_run(self._s, 1 if keep else 0, hooks, err)
        if progress is True:
            print(file=sys.stderr)
        for line in self.warnings:
            warnings.warn(line, SinewWarning, stacklevel=2)
        if self._failure is not None:
            raise self._failure
        if status != lib.SNW_OK:
            raise_error(err)
        return self

    @staticmethod
    def _line(step: str, t: float, fraction: float) -> None:
        print(f"\r{step}  t = {t:.4g} s  {100 * fraction:3.0f} %", end="", file=sys.stderr, flush=True)

    def _guarded(self, call: Callable, *args) -> int:
        if self._failure is not None:
            return lib.SNW_E_STOPPED
        try:
            call(*args)
        except BaseException as failure:  # raised again by run()
            self._failure = failure
            return lib.SNW_E_STOPPED
        return lib.SNW_OK

    def _frame(self) -> int:
        return self._guarded(self._on_frame, self)

    def _progress(self, *args) -> None:
        self._guarded(self._on_progress, *args)

    def _cancelled(self) -> int:
        # entering Python lets it handle signals, such as Ctrl-C
        return int(self._guarded(lambda: None) != lib.SNW_OK)

    def _field(self, name: str) -> int:
        code = {"t": "TIME", "stage_index": "STEP", "columns": "COLUMN"}.get(name, name.upper())
        try:
            return getattr(lib, "SNW_FIELD_" + code)
        except AttributeError:
            raise KeyError(f"a frame has no field '{name}'") from None

    def row(self, field: str) -> np.ndarray:
        """The numbers of a field (`t`, `q`, `v`, `pose`, `columns`, `energy`, ..) of the last frame; a copy."""
        code = self._field(field)
        return np.array(view(lib.snw_study_row(self._s, code), (lib.snw_study_width(self._s, code),), self._s))

    def array(self, field: str) -> np.ndarray:
        """All kept frames of a field, (frames, width), SI units; a copy."""
        code = self._field(field)
        shape = (lib.snw_study_frames(self._s), lib.snw_study_width(self._s, code))
        if 0 in shape:
            return np.empty(shape)
        return np.array(view(lib.snw_study_array(self._s, code), shape, self._s))

    @property
    def t(self) -> np.ndarray:
        """Time of the frames, s."""
        return self.array("t")[:, 0]

    @property
    def q(self) -> np.ndarray:
        """Coordinates, (frames, nq), SI units."""
        return self.array("q")

    @property
    def v(self) -> np.ndarray:
        """Velocities, (frames, nv), SI units."""
        return self.array("v")

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the probes, such as `tip.x`."""
        return list(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        """Values of a probe in SI units, (frames, columns), or of a column, (frames,)."""
        values = self.array("columns")
        if name in self._columns:
            return values[:, self._columns.index(name)]
        of_probe = [i for i, c in enumerate(self._columns) if c.split(".")[0].split("@")[0] == name]
        if not of_probe:
            raise KeyError(f"no probe '{name}'; there are the columns {', '.join(self._columns) or 'none'}")
        return values[:, of_probe]

    def __repr__(self) -> str:
        return f"<sinew.Study of {self.model!r}: {lib.snw_study_frames(self._s)} frames>"

