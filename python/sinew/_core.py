# SPDX-License-Identifier: MIT
"""The C library, its statuses as exceptions, its memory as numpy arrays."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ._errors import ArgumentError, Error, error_of, in_python
from ._sinew import ffi, lib
from ._types import Array, Numbers, Overrides, Path, Pointer, Value


def text(pointer: Pointer) -> str:
    """A C string; empty for NULL."""
    return ffi.string(pointer).decode() if pointer else ""


def new_error() -> Pointer:
    """Memory for the message of a failed call."""
    return ffi.new("snw_error *")


def c_text(value: str, what: str) -> bytes:
    """A name as C takes it."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, not {type(value).__name__}")
    if "\0" in value:
        raise ArgumentError(f"{what} has a null character: {value!r}")
    return value.encode()


def raise_error(err: Pointer, paths: Iterable[str] = ()) -> NoReturn:
    """Raise the exception of a failed call; `paths`: of its overrides."""
    raise exception_of(err, paths)


# what the library calls the file of an override
_OVERRIDE = ("--set", "set", "path")


def exception_of(err: Pointer, paths: Iterable[str] = ()) -> Exception:
    """The exception of a failed call from its snw_error; `paths`: of its overrides, which have no place in a file."""
    status = text(lib.snw_status_text(err.status))
    message, file, named = in_python(text(err.text) or status), text(err.file), ", ".join(map(str, paths))
    if file == "set":
        message = message.replace("step 'set' changes", "this changes").replace("make it a run of its own", "open the model with it")
    if file in _OVERRIDE and named:
        return error_of(status, message if f"'{named}'" in message else f"{message} (value of {named})")
    return error_of(status, message, file, err.line, err.column)


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


def real(value: object, name: str | int) -> Array:
    """An array of real numbers made from `value`, whatever its shape; no text, no None, nothing complex."""
    try:
        out = np.asarray(value)
        if out.dtype.kind == "c":
            raise TypeError
        if out.dtype.kind not in "fiub":
            out = np.array([float(x) for x in out.flat], dtype=np.float64).reshape(out.shape)
    except (TypeError, ValueError):
        of = " in SI units" if isinstance(value, str) else ""
        raise ArgumentError(f"'{name}' needs real numbers{of}, not {value!r:.80}") from None
    return out


def number(value: object, name: str) -> float:
    """One real number; None: NaN."""
    out = real(math.nan if value is None else value, name)
    if out.size != 1:
        raise ArgumentError(f"'{name}' needs one number, but has shape {out.shape}")
    return float(out.reshape(()))


def pair(value: object, name: str) -> tuple[float, float]:
    """A lowest and a highest number, None or NaN where there is none."""
    if isinstance(value, str) or not isinstance(value, Iterable) or len(both := list(value)) != 2:
        raise ArgumentError(f"'{name}' needs a lowest and a highest value, (low, high), not {value!r:.80}")
    return number(both[0], name), number(both[1], name)


def vector(value: Numbers, size: int, name: str | int) -> Array:
    """A contiguous array of `size` numbers made from `value`; a number counts as all of them when size is 1."""
    out = np.ascontiguousarray(real(value, name), dtype=np.float64)
    if out.size != size or out.ndim > 1:
        raise ArgumentError(f"'{name}' needs {size} number{'s' if size != 1 else ''}, but has shape {out.shape}")
    return out.reshape(size)


def fill(array: Array, value: Numbers, name: str) -> None:
    """array <- value, which has its shape, or that of its rows, or is one number."""
    numbers = real(value, name)
    try:
        array[...] = numbers
    except ValueError:
        raise ArgumentError(f"'{name}' has the shape {array.shape}, but {numbers.shape} is given") from None


def written(value: object) -> str:
    """Value of an override as the model language writes it; all digits of a number, and its unit where it knows one."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        if not np.isfinite(value):
            raise ArgumentError(f"a value of a model is a finite number, not {value:g}")
        return f"{float(value)!r} {getattr(value, 'unit', '')}".rstrip()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {written(x)}' for key, x in value.items())}}}"
    if not isinstance(value, (int, str)):
        raise TypeError(f"a value of a model is a number, a text or a list of these, not {type(value).__name__}")
    return str(value)


def plain(value: object) -> object:
    """What json does not know, such as arrays and numbers of numpy, as what it knows."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a model has dictionaries, lists, numbers and texts, but no {type(value).__name__}")


def override_list(values: Overrides | None) -> tuple[int, Pointer, list[Pointer]]:
    """Overrides {path: value} as C takes them: their number, an array of strings, and what keeps it alive."""
    if not isinstance(values, (Mapping, type(None))):
        raise TypeError(f"values are set by a dictionary such as {{'silicone.young': '2 MPa'}}, not by {type(values).__name__}")
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
        if isinstance(name, (int, np.integer)):
            if not -len(self._parts) <= name < len(self._parts):
                raise IndexError(f"no {self.kind} number {name}; there are {len(self._parts)}")
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


class OfThisProcess:
    """Base of what cannot be copied by `copy` nor be pickled, since it is memory of the library or an open file."""

    _instead = ""

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} can neither be pickled nor be copied by copy.copy: {self._instead}")


def file_name(path: Path) -> str:
    """The path of a file as a text; refuses what is given by mistake."""
    try:
        name = os.fspath(path)
    except TypeError:
        remedy = {"Model": "; where a Model is wanted, give it alone", "Robot": "; the model of a robot is robot.model",
                  "dict": "; dictionaries are given to from_dict"}.get(type(path).__name__, "")  # fmt: skip
        raise TypeError(f"the path of a file is wanted here, not {type(path).__name__}{remedy}") from None
    name = os.fsdecode(name)
    if "\n" in name:
        raise TypeError("the path of a file is wanted here, and this is a text of several lines; that of a model is given as Model(text=..)")
    if "\0" in name:
        raise ArgumentError(f"a path has no null character: {name!r}")
    return name


def file_path(path: Path) -> bytes:
    return os.fsencode(file_name(path))
