# SPDX-License-Identifier: MIT
"""Many robots of one model, stepped on all cores."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ._core import ArgumentError, Overrides, doubles, lib
from ._errors import NotConverged
from ._model import Model
from ._robot import Robot


class _BatchControls(MutableMapping):
    """Inputs of the actuators of all robots: `controls["cord(1)"] = tensions`, (n,), (n, size) or one for all."""

    def __init__(self, batch: "Batch"):
        self._batch = batch

    def __setitem__(self, name: str | int, value) -> None:
        robots = self._batch.robots
        part = self._batch.model.actuators[name]
        size = lib.snw_robot_actuator_size(robots[0]._r, part.index)
        rows = np.broadcast_to(np.asarray(value, dtype=np.float64).reshape(-1, size) if np.ndim(value) else value,
                               (len(robots), size))  # fmt: skip
        for robot, row in zip(robots, rows):
            robot.controls._set(part, row)

    def __getitem__(self, name: str | int) -> np.ndarray:
        return np.array([robot.controls[name] for robot in self._batch.robots])

    def __delitem__(self, name: str | int) -> None:
        for robot in self._batch.robots:
            del robot.controls[name]

    def __iter__(self):
        return iter(self._batch.model.actuators)

    def __len__(self) -> int:
        return len(self._batch.model.actuators)


class _BatchParameters(MutableMapping):
    """Values of the models: `parameters["silicone.young"] = values`, (n,) or one for all. A change restarts the motion."""

    def __init__(self, batch: "Batch"):
        self._batch = batch

    def __setitem__(self, path: str, value) -> None:
        robots = self._batch.robots
        values = [value] * len(robots) if isinstance(value, str) or np.ndim(value) == 0 else list(value)
        if len(values) != len(robots):
            raise ArgumentError(f"'{path}' needs {len(robots)} values, but has {len(values)}")
        self._batch._all(lambda i: robots[i].parameters.update({path: values[i]}))

    def __getitem__(self, path: str) -> np.ndarray:
        return np.array([robot.parameters[path] for robot in self._batch.robots])

    def __delitem__(self, path: str) -> None:
        raise TypeError("values of a model cannot be removed")

    def __iter__(self):
        return iter(self._batch.model.parameter_parts)

    def __len__(self) -> int:
        return len(self._batch.model.parameter_parts)


class Batch:
    """n robots of one model with states, inputs and parameters of their own, stepped together on all cores.

    >>> batch = sinew.Batch(sinew.Model("arm.yaml"), 64)
    >>> batch.q[:] = q0                       # (64, nq); set before start()
    >>> batch.start(step=5e-3)
    >>> batch.controls["cord(1)"] = tensions  # (64,)
    >>> batch.step(count=200)
    >>> batch.probe("tip"), batch.failed      # (64, 3), mask of robots whose step did not converge

    The numbers of each robot are those of a `Robot` stepped alone, to the last bit. `threads`: all cores unless given.
    """

    def __init__(self, robot: "Robot | Model | str | os.PathLike", n: int, *, threads: int | None = None,
                 set: Overrides | None = None):  # fmt: skip
        if n < 1:
            raise ArgumentError(f"a batch needs at least one robot, not {n}")
        model = robot.model if isinstance(robot, Robot) else robot if isinstance(robot, Model) else Model(robot, set=set)
        self.model = model
        self.robots = [Robot(model) for _ in range(n)]
        """The robots, each of which may be used alone between steps."""
        self.n, self.nq, self.nv = n, self.robots[0].nq, self.robots[0].nv
        self.q = np.array([r.q for r in self.robots])
        """Coordinates, (n, nq): written before `start`, read after steps."""
        self.v = np.array([r.v for r in self.robots])
        """Velocities, (n, nv)."""
        if isinstance(robot, Robot):
            self.q[:], self.v[:] = robot.q, robot.v
        self.failed = np.zeros(n, dtype=bool)
        """Robots whose last step did not converge; they stay where they are until the next start."""
        self.controls = _BatchControls(self)
        self.parameters = _BatchParameters(self)
        self._threads = min(n, threads or os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(self._threads)
        self._sims: list = []

    def _all(self, call) -> None:
        """call(i) for each robot, a block of robots per thread; the first exception is raised."""
        blocks = np.array_split(np.arange(self.n), self._threads)
        done = [self._pool.submit(lambda block=block: [call(i) for i in block]) for block in blocks]
        for task in done:
            task.result()

    def start(self, step: float, scheme: str | None = None, *, at: np.ndarray | None = None, **options) -> None:
        """Start motions from `q`, `v` at their robots' times; `at`: a mask of the robots to start, all unless given."""
        at = np.ones(self.n, dtype=bool) if at is None else np.asarray(at, dtype=bool)
        if not self._sims:
            self._sims = [None] * self.n

        def begin(i: int) -> None:
            if at[i]:
                robot = self.robots[i]
                robot.q[:], robot.v[:] = self.q[i], self.v[i]
                self._sims[i] = robot.simulate(step, scheme, **options)

        self._all(begin)
        self.failed[at] = False

    def step(self, dt: float | None = None, count: int = 1) -> None:
        """Advance all robots that have not failed by `count` steps."""
        if not self._sims or any(s is None for s in self._sims):
            raise ArgumentError("call start() before step()")

        def advance(i: int) -> None:
            if self.failed[i]:
                return
            try:
                self._sims[i].step(dt, count)
            except NotConverged:
                self.failed[i] = True
            self.q[i], self.v[i] = self.robots[i].q, self.robots[i].v

        self._all(advance)

    @property
    def t(self) -> np.ndarray:
        """Time of each robot, s."""
        return np.array([robot.t for robot in self.robots])

    def probe(self, name: str) -> np.ndarray:
        """Present values of a probe, (n, columns), or (n,) where it has one column."""
        part = self.model.probes[name]
        out = np.empty((self.n, part.size))
        key = name.encode()
        for i, robot in enumerate(self.robots):
            lib.snw_robot_probe(robot._r, key, part.size, doubles(out[i]))
        return out[:, 0] if part.size == 1 else out

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sinew.Batch of {self.n} robots '{self.model.title or self.model.run}', {self._threads} threads>"
