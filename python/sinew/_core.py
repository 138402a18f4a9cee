# SPDX-License-Identifier: MIT
"""The C library, its statuses as exceptions, its memory as numpy arrays."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ._errors import ArgumentError, Error, error_of
from ._sinew import ffi, lib
from ._types import Array, Numbers, Overrides, Path, Pointer, Value


def text(pointer: Pointer) -> str:
    """A C string; empty for NULL."""
    return ffi.string(pointer).decode() if pointer else ""


def new_error() -> Pointer:
    """Memory for the message of a failed call."""
    return ffi.new("snw_error *")


def raise_error(err: Pointer) -> NoReturn:
    """Raise the exception of a failed call."""
    raise exception_of(err)


def exception_of(err: Pointer) -> Exception:
    """The exception of a failed call from its snw_error."""
    return error_of(text(lib.snw_status_text(err.status)), text(err.text) or text(lib.snw_status_text(err.status)),
                    text(err.file), err.line, err.column)  # fmt: skip


def doubles(array: Array) -> Pointer:
    """Pointer to the numbers of a contiguous array, by rows or by columns."""
    return ffi.from_buffer("double[]", array if array.flags.c_contiguous else array.T)


def view(pointer: Pointer, shape: tuple[int, ...], owner: Pointer) -> Array:
    """Array over memory of the library. It keeps `owner` alive, so that the memory cannot vanish under it."""

    def keep(_: Pointer, _owner: Pointer = owner) -> None:
        pass

    kept = ffi.gc(pointer, keep)
    count = int(np.prod(shape))
    return np.frombuffer(ffi.buffer(kept, 8 * count), dtype=np.float64).reshape(shape)


def vector(value: Numbers, size: int, name: str | int) -> Array:
    """A contiguous array of `size` numbers made from `value`; a number counts as all of them when size is 1."""
    out = np.ascontiguousarray(value, dtype=np.float64)
    if out.size != size or out.ndim > 1:
        raise ArgumentError(f"'{name}' needs {size} number{'s' if size != 1 else ''}, but has shape {out.shape}")
    return out.reshape(size)


def written(value: Value) -> str:
    """Value of an override as the model language writes it; all digits of a number."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def override_list(values: Overrides | None) -> tuple[int, Pointer, list[Pointer]]:
    """Overrides {path: value} as C takes them: their number, an array of strings, and what keeps it alive."""
    kept = [ffi.new("char[]", f"{path}={written(value)}".encode()) for path, value in (values or {}).items()]
    return len(kept), ffi.new("char *[]", kept) if kept else ffi.NULL, kept


@dataclass(frozen=True)
class Part:
    """A part of a model: its name, kind, unit and where its numbers are."""

    kind: str
    """`link`, `joint`, `rod`, `coordinate`, `actuator`, `probe`, .."""
    index: int
    """Number among the parts of its kind."""
    name: str
    type: str
    """Joint of a link, section of a rod, prescribed quantity of an actuator, measured quantity of a probe, .."""
    unit: str
    """SI unit; empty for plain numbers, angles and several units."""
    link: int
    numbers: slice
    """Inputs of an actuator, columns of a probe, constraint rows of a loop."""
    q: slice
    """Its coordinates in `q`."""
    v: slice
    """Its velocities in `v`."""
    nodes: slice
    value: float
    """Length of a rod (m), value of a parameter, arc length of a node (m)."""

    @property
    def size(self) -> int:
        """How many `numbers` it has."""
        return int(self.numbers.stop - self.numbers.start)


def _range(first: int, count: int) -> slice:
    return slice(first, first + count) if first >= 0 else slice(0, 0)


class Parts(Mapping[str, Part]):
    """Parts of one kind: a mapping of names to `Part`, in the order of their numbers."""

    def __init__(self, model: Pointer, kind: str):
        self.kind = kind
        code = getattr(lib, "SNW_PART_" + kind.upper())
        part = ffi.new("snw_part *")
        self._parts: list[Part] = []
        for i in range(lib.snw_robot_model_parts(model, code)):
            if lib.snw_robot_model_part(model, code, i, part) != lib.SNW_OK:
                raise Error(f"{kind} {i} of the model cannot be read")
            self._parts.append(Part(kind, i, text(part.name), text(part.type), text(part.unit), part.link,
                                    _range(part.first, part.size), _range(part.q, part.nq), _range(part.v, part.nv),
                                    _range(part.node, part.nnode), part.value))  # fmt: skip
        self._index: dict[str, Part] = {}
        for p in self._parts:
            self._index.setdefault(p.name, p)

    def __getitem__(self, name: str | int) -> Part:
        if isinstance(name, int):
            return self._parts[name]
        try:
            return self._index[name]
        except KeyError:
            known = ", ".join(self._index) or "none"
            raise KeyError(f"no {self.kind} '{name}'; there are: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        rows = [(p.name, p.type, p.unit) for p in self._parts]
        widths = [max((len(r[i]) for r in rows), default=0) for i in range(3)]
        lines = ("  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows)
        return "\n".join(lines) or f"no {self.kind}s"


class Exclusive:
    """Guard of a robot: a second thread that enters while the first is inside gets an exception."""

    __slots__ = ("_lock", "_what")

    def __init__(self, what: str = "robot"):
        self._lock, self._what = threading.Lock(), what

    def __enter__(self) -> None:
        if not self._lock.acquire(False):
            raise Error(f"the {self._what} is in use by another thread; give each thread its own, such as robot.copy()")

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def file_path(path: Path) -> bytes:
    return os.fsencode(os.fspath(path))
