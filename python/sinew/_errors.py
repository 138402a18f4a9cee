# SPDX-License-Identifier: MIT
"""Exceptions: one for each status of the C library."""

from __future__ import annotations

import re


class Error(Exception):
    """A failed call. `text` says what is wrong and what to do; `file`, `line` and `column` say where in the model.

    `line` and `column` count from 1; `file`, `line` and `column` are None where the failure has no place in a file.
    """

    def __init__(self, text: str, file: str | None = None, line: int | None = None, column: int | None = None):
        self.text, self.file, self.line, self.column = text, file or None, line or None, column or None
        place = self.file or ""
        if self.line:
            place += f":{self.line}" + (f":{self.column}" if self.column else "")
        super().__init__(f"{place}: {text}" if place else text)


class ArgumentError(Error, ValueError):
    """An argument is outside its documented domain; nothing has changed."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class ModelError(Error, ValueError):
    """The model is not well formed, or inconsistent."""


class SingularError(Error, ArithmeticError):
    """A matrix is singular: a coordinate without mass, or a singular configuration of the loops."""


class NotConverged(Error, ArithmeticError):
    """An iteration did not converge; `text` says how far it got. `result` of `fit` and `optimize`: the last point."""

    result: object = None


class Stopped(Error):
    """Stopped on request. What was computed is kept."""


# text of a status in the C library -> exception
_BY_STATUS = {
    "argument outside its documented domain": ArgumentError,
    "file could not be read or written": FileError,
    "input is not a well formed document": ModelError,
    "model is inconsistent": ModelError,
    "matrix is singular to working precision": SingularError,
    "iteration did not converge": NotConverged,
    "stopped on request": Stopped,
}


# Remedies that the messages of the library name, as C and the command write them -> as Python does. A test compares
# the table with the messages.
REMEDIES = {
    "snw_batch_start": "Batch.start",
    "snw_device_batch_set_points": "DeviceBatch.points",
    "snw_device_batch_set_probes": "DeviceBatch.probes",
    "snw_device_batch_start": "DeviceBatch.start",
    "snw_robot_start": "Robot.simulate",
    "snw_robot_set_activation": "controls[name] = value",
    "snw_robot_set_actuator": "controls[name] = value",
    "snw_robot_set_effort": "controls[name] = value",
    "snw_robot_set_gas": "controls[name] = value",
    "snw_robot_set_motion": "controls[name] = value, or controls.move",
    "--resume": "resume=True",
    "--run": "runs=",
    "--set": "set=",
    "--step": "step=",
    "-o": "output=",
}
_REMEDY = re.compile(r"(?<![\w-])(snw_\w+|--?[a-z]+)(?![\w-])")


def in_python(text: str) -> str:
    """A message of the library with the remedies of Python."""
    return _REMEDY.sub(lambda found: REMEDIES.get(found[0], found[0]), text)


def error_of(status: str, text: str, file: str | None = None, line: int | None = None,
             column: int | None = None) -> Exception:  # fmt: skip
    """Exception for the text of a status of the C library."""
    if status == "out of memory":
        return MemoryError(text)
    return _BY_STATUS.get(status, Error)(text, file, line, column)
