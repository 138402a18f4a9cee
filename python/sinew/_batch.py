# SPDX-License-Identifier: MIT
"""Many robots of one model, stepped on several threads and in packs by the C library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, cast, overload

import numpy as np

from ._core import Exclusive, OfThisProcess, c_text, doubles, fill, new_error, raise_error, real, text, view
from ._device_batch import DeviceBatch
from ._errors import ArgumentError, Error, in_python
from ._model import Model, model_of
from ._robot import Robot, steps_options
from ._sinew import ffi, lib
from ._types import Array, Inputs, Mask, Numbers, Overrides, Path, Pointer, Rows, Value
from ._units import rows, seconds

_interrupts: list[BaseException] = []


def _interrupted(_kind: type[BaseException], value: BaseException, _traceback: TracebackType) -> None:
    _interrupts.append(value)


@ffi.def_extern(error=1, onerror=_interrupted)
def sinew_batch_poll(_user: Pointer) -> int:
    return 0  # entering Python lets it handle signals; Ctrl-C becomes an exception here, which ends the call


class BatchControls(MutableMapping[str, "Rows | Inputs"]):
    """Inputs of the actuators of all robots: `controls["cord(1)"] = tensions`, (n,), (n, size) or one for all.

    Numbers, or texts with units ("3 N") and lists of these. `del controls[name]` returns to the law of the file.
    """

    def __init__(self, batch: "Batch"):
        self._batch = batch

    def __setitem__(self, name: str | int, value: Rows | Inputs) -> None:
        part = self._batch.model.actuators[name]
        if callable(value):
            raise TypeError("a batch has no laws in Python: set numbers before each step, or give the law in the model file")
        plain = isinstance(value, np.ndarray) and value.dtype == np.float64
        numbers = cast(Array, value) if plain else real(rows(part, value), name)
        if part.size == 1 and numbers.ndim == 1:
            numbers = numbers[:, None]
        try:
            self._batch.u[:, part.numbers] = numbers
        except ValueError:
            raise ArgumentError(f"'{name}' needs one value, or {self._batch.n} of size {part.size}, "
                                f"but has shape {np.shape(value)}") from None  # fmt: skip

    def __getitem__(self, name: str | int) -> Array:
        """Present efforts, SI, (n,) or (n, size)."""
        return np.array([robot.controls[name] for robot in self._batch.robots])

    def unit(self, name: str | int) -> str:
        """SI unit in which an actuator is prescribed; empty for plain numbers and several units."""
        return self._batch.model.actuators[name].unit

    def __delitem__(self, name: str | int) -> None:
        self._batch.u[:, self._batch.model.actuators[name].numbers] = lib.snw_input_law()

    def clear(self) -> None:
        """Return to the laws of the file for all actuators."""
        self._batch.u[:] = lib.snw_input_law()

    def __iter__(self) -> Iterator[str]:
        return iter(self._batch.model.actuators)

    def __len__(self) -> int:
        return len(self._batch.model.actuators)

    def __repr__(self) -> str:
        return repr(self._batch.model.actuators)


class BatchParameters(MutableMapping[str, "Value | Array"]):
    """Values of the models: `parameters["silicone.young"] = values`, (n,) or one for all. A change restarts the motion.

    Numbers, or texts with units ("2 MPa") and lists of these.
    """

    def __init__(self, batch: "Batch"):
        self._batch = batch

    def __setitem__(self, path: str, value: Value | Array) -> None:
        robots = self._batch.robots
        if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > 0:
            values = list(cast("Sequence[Value]", value))
        else:
            values = [cast(Value, value)] * len(robots)
        if len(values) != len(robots):
            raise ArgumentError(f"'{path}' needs {len(robots)} values, but has {len(values)}")

        def change(i: int) -> Error | None:
            try:
                robots[i]._change({path: values[i]})
            except Error as failure:
                return failure
            return None

        with self._batch._exclusive:
            pool = ThreadPoolExecutor(self._batch.threads)
            try:
                failures = {i: failure for i, failure in enumerate(pool.map(change, range(len(robots)))) if failure}
            finally:
                pool.shutdown(cancel_futures=True)  # Ctrl-C leaves the robots that were not reached as they are
        for i, failure in failures.items():
            kept = f"{len(failures)} of {len(robots)} robots keep their value"
            raise type(failure)(f"robot {i}: {failure.text}; {kept}", failure.file, failure.line, failure.column)

    def __getitem__(self, path: str) -> Array:
        """Values of all robots, SI, (n,)."""
        return np.array([robot.parameters[path] for robot in self._batch.robots])

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._batch.model.has(path)

    def get(self, path: str, default: Any = None) -> Any:
        """The values of `path`, SI, (n,), or `default` where there are none."""
        return self[path] if path in self else default

    def unit(self, path: str) -> str:
        """SI unit of a value."""
        return self._batch.model.quantity(path)[1]

    def __delitem__(self, path: str) -> None:
        raise TypeError("values of a model cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._batch.model.parameter_parts)

    def __len__(self) -> int:
        return len(self._batch.model.parameter_parts)

    def __repr__(self) -> str:
        return repr(self._batch.model.parameter_parts)


class _Robots(Sequence[Robot]):
    """The robots of a batch; objects for them are made when they are first asked for."""

    def __init__(self, handle: Pointer, n: int, model: Model, exclusive: Exclusive):
        self._handle, self._model, self._exclusive = handle, model, exclusive
        self._made: list[Robot | None] = [None] * n

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, i: int) -> Robot: ...

    @overload
    def __getitem__(self, i: slice) -> list[Robot]: ...

    def __getitem__(self, i: int | slice) -> Robot | list[Robot]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(f"no robot {i}; the batch has {len(self)}")
        robot = self._made[i]
        if robot is None:
            robot = Robot.__new__(Robot)
            robot._err = new_error()
            pointer = lib.snw_batch_robot(self._handle, range(len(self))[i])
            robot._take(pointer, self._model, self._handle, self._exclusive)
            self._made[i] = robot
        return robot

    def __iter__(self) -> Iterator[Robot]:
        return (self[i] for i in range(len(self)))


class Batch(OfThisProcess):
    """n robots of one model with states, inputs and parameters of their own, stepped together on all cores.

    >>> batch = sinew.Batch(sinew.Model("arm.yaml"), 64)
    >>> batch.q[:] = q0                       # (64, nq); set before start()
    >>> batch.start(step=5e-3)
    >>> batch.controls["cord(1)"] = tensions  # (64,)
    >>> batch.step(count=200)                 # one call of the library, without the interpreter's lock
    >>> batch.probe("tip"), batch.failed      # (64, 3), mask of robots whose step did not converge

    Where model and processor allow it (`engine`), robots step in packs of up to `lanes`, 16, 8, 4 or 1. Each then moves as
    a `Robot` alone does to the tolerance of the solver, and to the last bit the same whatever the others do. All other
    robots have the numbers of a `Robot` stepped alone to the last bit. `precision`: "double", or "single" for packs that
    solve their steps with floats, twice as many robots in each; q, v and u are doubles with both. `robot`: a `Robot`,
    with whose q, v and u all begin, a `Model` or a model file. `run`, `set`: see `Model`. `threads`: all cores unless
    given. `device`: "cuda" gives a `DeviceBatch`, whose robots are on a graphics processor.
    """

    _instead = "make another one of the same model"

    def __new__(cls, robot: Robot | Model | Path, n: int, *, device: str | None = None, **options: Any) -> Any:
        if device is None or device == "cpu":
            return super().__new__(cls)
        wrong = sorted(options.keys() - {"run", "set", "precision", "kernels"})
        if wrong:
            raise ArgumentError(f"a batch on a device takes no '{wrong[0]}'")
        return DeviceBatch(robot, n, device=device, **options)

    def __init__(self, robot: Robot | Model | Path, n: int, *, threads: int | None = None, run: str | None = None,
                 set: Overrides | None = None, lanes: int = 16, precision: str = "double",
                 device: str | None = None):  # fmt: skip
        model = model_of(robot.model if isinstance(robot, Robot) else robot, run=run, set=set)
        out, self._err = ffi.new("snw_batch **"), new_error()
        if lib.snw_batch_create(model._m, n, threads or 0, out, self._err) != lib.SNW_OK:
            raise_error(self._err)
        self._b = ffi.gc(out[0], lib.snw_batch_close)
        if lib.snw_batch_set_lanes(self._b, lanes, self._err) != lib.SNW_OK:
            raise_error(self._err)
        if lib.snw_batch_set_precision(self._b, precision.encode(), self._err) != lib.SNW_OK:
            raise_error(self._err)
        self._exclusive = Exclusive("batch")
        self.model = model
        self._robots = _Robots(self._b, n, model, self._exclusive)
        first = self._robots[0]
        self.n, self.nq, self.nv = n, first.nq, first.nv
        self.threads = lib.snw_batch_threads(self._b)
        """Number of threads."""
        self._q = view(lib.snw_batch_q(self._b), (n, self.nq), self._b)
        self._v = view(lib.snw_batch_v(self._b), (n, self.nv), self._b)
        self._u = view(lib.snw_batch_u(self._b), (n, first.u.size), self._b)
        self._t = view(lib.snw_batch_time(self._b), (n,), self._b)
        self._t.flags.writeable = False
        if isinstance(robot, Robot):
            self.q[:], self.v[:], self.u[:] = robot.q, robot.v, robot.u
        self._failures = np.zeros(n, dtype=bool)
        self._failed = self._failures.view()
        self._failed.flags.writeable = False
        self._controls, self._parameters = BatchControls(self), BatchParameters(self)
        self.dt = 0.0
        """Step of the last start, s."""
        lib.snw_batch_set_poll(self._b, lib.sinew_batch_poll, ffi.NULL)

    def engine(self, i: int = 0) -> tuple[str, str]:
        """How robot i is stepped, as "packs of 8 (AVX-512)" or "alone", and why alone."""
        if not 0 <= i < self.n:
            raise IndexError(f"no robot {i}; the batch has {self.n}")
        why = ffi.new("const char **")
        name = text(lib.snw_batch_engine(self._b, i, why))
        return name, text(why[0])

    @property
    def robots(self) -> Sequence[Robot]:
        """The robots, each of which may be used alone between steps."""
        return self._robots

    @property
    def q(self) -> Array:
        """Coordinates, SI, (n, nq): written before `start`, read after steps."""
        return self._q

    @q.setter
    def q(self, value: Numbers) -> None:
        fill(self._q, value, "q")

    @property
    def v(self) -> Array:
        """Velocities, SI, (n, nv), likewise."""
        return self._v

    @v.setter
    def v(self, value: Numbers) -> None:
        fill(self._v, value, "v")

    @property
    def u(self) -> Array:
        """Inputs of the actuators, SI, (n, inputs): the arrays `u` of the robots, to read and write."""
        return self._u

    @u.setter
    def u(self, value: Numbers) -> None:
        fill(self._u, value, "u")

    @property
    def t(self) -> Array:
        """Times of the robots after the last step, s, (n,); to read, `set_time` sets them."""
        return self._t

    @property
    def failed(self) -> Mask:
        """Robots whose step did not converge, a mask to read; they stay where they are until the next start."""
        return self._failed

    @property
    def controls(self) -> BatchControls:
        """Inputs of the actuators, see `BatchControls`."""
        return self._controls

    @property
    def parameters(self) -> BatchParameters:
        """Values of the models by path, SI, see `BatchParameters`."""
        return self._parameters

    def _call(self, function: Callable[..., int], *args: Pointer) -> None:
        """A call of the library; robots that fail by themselves are marked, other failures raise."""
        with self._exclusive:
            status = function(self._b, *args, self._err)
        if status == lib.SNW_OK:
            return
        for i in range(self.n):
            self._failures[i] = lib.snw_batch_error(self._b, i).status != lib.SNW_OK
        if status == lib.SNW_E_STOPPED and _interrupts:
            raise _interrupts.pop()
        if status not in (lib.SNW_E_DIVERGED, lib.SNW_E_SINGULAR):
            raise_error(self._err)

    def _mask(self, at: Mask | None) -> Mask:
        if at is None:
            return np.ones(self.n, dtype=bool)
        mask = np.array(at)  # a copy, since `failed` may be given and changes
        if mask.dtype != bool or mask.shape != (self.n,):
            raise ArgumentError(f"'at' is a mask, {self.n} times True or False, but has shape {mask.shape} of {mask.dtype}")
        return mask

    def start(self, step: float | str, scheme: str | None = None, *, at: Mask | None = None, rho: float | None = None,
              alpha: float | None = None, tolerance: float | None = None, engine: str | None = None,
              points: int = 0) -> None:  # fmt: skip
        """Start motions from `q`, `v` at their robots' times; `at`: a mask of the robots to start, all unless given.

        `step` (s, or a text such as "5 ms"), `scheme` and the other options are those of `Robot.simulate`.
        """
        how, _kept = steps_options(step, scheme, rho, alpha, tolerance, engine, points)
        mask = self._mask(at)
        self._failures[mask] = False
        self._call(lib.snw_batch_start, how, ffi.from_buffer("unsigned char[]", mask))
        self.dt = seconds(step, "step")

    def equilibrium(self, *, at: Mask | None = None) -> None:
        """Move robots from `q` to stable equilibria under their inputs; those that do not get there are in `failed`."""
        self._call(lib.snw_batch_equilibrium, ffi.from_buffer("unsigned char[]", self._mask(at)))

    def step(self, dt: float | None = None, count: int = 1, *, at: Mask | None = None) -> None:
        """Advance all robots that have not failed by `count` steps of dt (that of the start unless given), s.

        `at`: a mask of the robots to step. Robots that fail now are in `failed` and `errors`; nothing is raised for them.
        """
        mask = ffi.NULL if at is None else ffi.from_buffer("unsigned char[]", self._mask(at))
        self._call(lib.snw_batch_step, self.dt if dt is None else dt, count, mask)

    @property
    def errors(self) -> dict[int, str]:
        """Messages of the robots that have failed, by their number."""
        return {int(i): in_python(text(lib.snw_batch_error(self._b, int(i)).text)) for i in np.flatnonzero(self.failed)}

    def probe(self, name: str) -> Array:
        """Present values of a probe, SI, (n, columns), or (n,) where it has one column."""
        size = self.model.probes[name].size
        out = np.empty((self.n, size))
        self._call(lib.snw_batch_probe, c_text(name, "a probe"), doubles(out))
        return out[:, 0] if size == 1 else out

    def set_time(self, t: Numbers, at: Mask | None = None) -> None:
        """Set the time of robots (s), one number or (n,), from which the next `start` goes on."""
        times = np.empty(self.n)
        fill(times, t, "t")
        with self._exclusive:
            for i in np.flatnonzero(self._mask(at)):
                robot = self.robots[int(i)]
                robot._check(lib.snw_robot_set_time(robot._r, times[i]))

    def close(self) -> None:
        """Does nothing; the threads end with the object. For use in `with`."""

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sinew.Batch of {self.n} robots '{self.model.title or self.model.run}', {self.threads} threads>"
