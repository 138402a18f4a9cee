# SPDX-License-Identifier: MIT
"""Many robots of one model, stepped on several threads by the C library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import cast, overload

import numpy as np

from ._core import Exclusive, doubles, new_error, raise_error, text, vector, view
from ._errors import ArgumentError
from ._model import Model
from ._robot import Robot, steps_options
from ._sinew import ffi, lib
from ._types import Array, Mask, Numbers, Overrides, Path, Pointer, Rows, Value

_interrupts: list[BaseException] = []


def _interrupted(_kind: type[BaseException], value: BaseException, _traceback: TracebackType) -> None:
    _interrupts.append(value)


@ffi.def_extern(error=1, onerror=_interrupted)
def sinew_batch_poll(_user: Pointer) -> int:
    return 0  # entering Python lets it handle signals; Ctrl-C becomes an exception here, which ends the call


class _BatchControls(MutableMapping[str, Rows]):
    """Inputs of the actuators of all robots: `controls["cord(1)"] = tensions`, (n,), (n, size) or one for all."""

    def __init__(self, batch: "Batch"):
        self._batch = batch

    def __setitem__(self, name: str | int, value: Rows) -> None:
        part = self._batch.model.actuators[name]
        numbers = np.asarray(value, dtype=np.float64)
        if part.size == 1 and numbers.ndim == 1:
            numbers = numbers[:, None]
        try:
            self._batch.u[:, part.numbers] = numbers
        except ValueError:
            raise ArgumentError(f"'{name}' needs one value, or {self._batch.n} of size {part.size}, "
                                f"but has shape {np.shape(value)}") from None  # fmt: skip

    def __getitem__(self, name: str | int) -> Array:
        return np.array([robot.controls[name] for robot in self._batch.robots])

    def __delitem__(self, name: str | int) -> None:
        self._batch.u[:, self._batch.model.actuators[name].numbers] = lib.snw_input_law()

    def __iter__(self) -> Iterator[str]:
        return iter(self._batch.model.actuators)

    def __len__(self) -> int:
        return len(self._batch.model.actuators)


class _BatchParameters(MutableMapping[str, "Value | Array"]):
    """Values of the models: `parameters["silicone.young"] = values`, (n,) or one for all. A change restarts the motion."""

    def __init__(self, batch: "Batch"):
        self._batch = batch

    def __setitem__(self, path: str, value: Value | Array) -> None:
        robots = self._batch.robots
        if isinstance(value, str) or np.ndim(value) == 0:
            values = [cast(Value, value)] * len(robots)
        else:
            values = list(cast("Sequence[Value]", value))
        if len(values) != len(robots):
            raise ArgumentError(f"'{path}' needs {len(robots)} values, but has {len(values)}")
        with ThreadPoolExecutor(self._batch.threads) as pool, self._batch._exclusive:
            list(pool.map(lambda i: robots[i]._change({path: values[i]}), range(len(robots))))

    def __getitem__(self, path: str) -> Array:
        return np.array([robot.parameters[path] for robot in self._batch.robots])

    def __delitem__(self, path: str) -> None:
        raise TypeError("values of a model cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._batch.model.parameter_parts)

    def __len__(self) -> int:
        return len(self._batch.model.parameter_parts)


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


class Batch:
    """n robots of one model with states, inputs and parameters of their own, stepped together on all cores.

    >>> batch = sinew.Batch(sinew.Model("arm.yaml"), 64)
    >>> batch.q[:] = q0                       # (64, nq); set before start()
    >>> batch.start(step=5e-3)
    >>> batch.controls["cord(1)"] = tensions  # (64,)
    >>> batch.step(count=200)                 # one call of the library, without the interpreter's lock
    >>> batch.probe("tip"), batch.failed      # (64, 3), mask of robots whose step did not converge

    The numbers of each robot are those of a `Robot` stepped alone, to the last bit. `threads`: all cores unless given.
    """

    def __init__(self, robot: Robot | Model | Path, n: int, *, threads: int | None = None,
                 set: Overrides | None = None):  # fmt: skip
        model = robot.model if isinstance(robot, Robot) else robot if isinstance(robot, Model) else Model(robot, set=set)
        out, self._err = ffi.new("snw_batch **"), new_error()
        if lib.snw_batch_create(model._m, n, threads or 0, out, self._err) != lib.SNW_OK:
            raise_error(self._err)
        self._b = ffi.gc(out[0], lib.snw_batch_close)
        self._exclusive = Exclusive("batch")
        self.model = model
        self.robots: Sequence[Robot] = _Robots(self._b, n, model, self._exclusive)
        """The robots, each of which may be used alone between steps."""
        first = self.robots[0]
        self.n, self.nq, self.nv = n, first.nq, first.nv
        self.threads = lib.snw_batch_threads(self._b)
        """Number of threads."""
        self.q = view(lib.snw_batch_q(self._b), (n, self.nq), self._b)
        """Coordinates, (n, nq): written before `start`, read after steps."""
        self.v = view(lib.snw_batch_v(self._b), (n, self.nv), self._b)
        """Velocities, (n, nv), likewise."""
        self.u = view(lib.snw_batch_u(self._b), (n, first.u.size), self._b)
        """Inputs of the actuators, (n, inputs): the arrays `u` of the robots, to read and write."""
        self.t = view(lib.snw_batch_time(self._b), (n,), self._b)
        """Times of the robots after the last step, s."""
        self.t.flags.writeable = False
        if isinstance(robot, Robot):
            self.q[:], self.v[:], self.u[:] = robot.q, robot.v, robot.u
        self.failed = np.zeros(n, dtype=bool)
        """Robots whose step did not converge; they stay where they are until the next start."""
        self.controls = _BatchControls(self)
        self.parameters = _BatchParameters(self)
        self.dt = 0.0
        """Step of the last start, s."""
        lib.snw_batch_set_poll(self._b, lib.sinew_batch_poll, ffi.NULL)

    def _call(self, function: Callable[..., int], *args: Pointer) -> None:
        """A call of the library; robots that fail by themselves are marked, other failures raise."""
        with self._exclusive:
            status = function(self._b, *args, self._err)
        if status == lib.SNW_OK:
            return
        for i in range(self.n):
            self.failed[i] = lib.snw_batch_error(self._b, i).status != lib.SNW_OK
        if status == lib.SNW_E_STOPPED and _interrupts:
            raise _interrupts.pop()
        if status not in (lib.SNW_E_DIVERGED, lib.SNW_E_SINGULAR):
            raise_error(self._err)

    def _mask(self, at: Mask | None) -> Mask:
        return np.ascontiguousarray(np.broadcast_to(True if at is None else np.asarray(at, dtype=bool), (self.n,)))

    def start(self, step: float, scheme: str | None = None, *, at: Mask | None = None, rho: float | None = None,
              alpha: float | None = None, tolerance: float | None = None, engine: str | None = None,
              points: int = 0) -> None:  # fmt: skip
        """Start motions from `q`, `v` at their robots' times; `at`: a mask of the robots to start, all unless given.

        `step` (s), `scheme` and the other options are those of `Robot.simulate`.
        """
        how, _kept = steps_options(step, scheme, rho, alpha, tolerance, engine, points)
        mask = self._mask(at)
        self.failed[mask] = False
        self._call(lib.snw_batch_start, how, ffi.from_buffer("unsigned char[]", mask))
        self.dt = float(step)

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
        return {int(i): text(lib.snw_batch_error(self._b, int(i)).text) for i in np.flatnonzero(self.failed)}

    def probe(self, name: str) -> Array:
        """Present values of a probe, SI, (n, columns), or (n,) where it has one column."""
        size = self.model.probes[name].size
        out = np.empty((self.n, size))
        self._call(lib.snw_batch_probe, name.encode(), doubles(out))
        return out[:, 0] if size == 1 else out

    def set_time(self, t: Numbers, at: Mask | None = None) -> None:
        """Set the time of robots (s), one number or (n,), from which the next `start` goes on."""
        times = vector(np.broadcast_to(t, (self.n,)), self.n, "t")
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
