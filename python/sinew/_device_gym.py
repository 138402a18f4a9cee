# SPDX-License-Identifier: MIT
"""Vector environments of the tasks of `sinew.gym` whose robots are on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._batch import Batch
from ._device_array import DeviceArray
from ._device_batch import DeviceBatch
from ._errors import ArgumentError
from ._model import Model
from ._types import Mask, Value
from .gym import AutoresetMode, Box, Info, Reach, Steer, SwingUp, Task, _repeated


class _Arrays:
    """The array library of a device: PyTorch, or NumPy for "host"; both know the operations that the tasks use."""

    def __init__(self, device: str):
        self.device = device
        if device == "host":
            self.lib: Any = np
        else:
            try:
                import torch
            except ImportError:
                raise ArgumentError("environments on a device need PyTorch for their arrays there") from None
            self.lib = torch

    def view(self, array: DeviceArray) -> Any:
        return np.asarray(array) if self.lib is np else self.lib.from_dlpack(array)

    def of(self, values: Any, dtype: str = "float64") -> Any:
        """An array on the device."""
        if self.lib is np:
            return np.asarray(values, dtype=dtype)
        return self.lib.as_tensor(values, dtype=getattr(self.lib, dtype), device=self.device)

    def seed(self, seed: int | None) -> None:
        if self.lib is np:
            self._random: Any = np.random.default_rng(seed)
        else:
            self._random = self.lib.Generator(device=self.device)
            self._random.seed() if seed is None else self._random.manual_seed(seed)

    def uniform(self, low: float, high: float, n: int) -> Any:
        if self.lib is np:
            return self._random.uniform(low, high, n)
        return low + (high - low) * self.lib.rand(n, generator=self._random, dtype=self.lib.float64, device=self.device)

    def columns(self, *parts: Any) -> Any:
        return self.lib.concatenate([part if part.ndim == 2 else part[:, None] for part in parts], 1)


class _DeviceTask:
    """What a task does with all robots at once; the same numbers as the single task."""

    def __init__(self, task: type[Task], batch: DeviceBatch, arrays: _Arrays):
        self.task, self.batch, self.arrays = task, batch, arrays
        for actuator in batch.model.actuators:
            batch.take(actuator)
        self.u, self.home = arrays.view(batch.u), arrays.view(batch.home)
        self.q, self.v = arrays.view(batch.q), arrays.view(batch.v)
        self.measure()

    size = 0

    def measure(self) -> None:
        """Views of what the task observes, which `batch.update_points` writes: the tip of the arm."""
        points = self.batch.points([self.batch.model.rods["arm"].nodes.stop - 1])
        self.tip, self.speed = self.arrays.view(points), self.arrays.view(self.batch.point_rates)

    def begin(self, at: Any) -> None:
        """Choose starts and targets of the robots of the mask `at`."""

    def act(self, action: Any) -> None:
        raise NotImplementedError

    def observe(self) -> Any:
        raise NotImplementedError

    def reward(self, action: Any) -> Any:
        raise NotImplementedError

    def arrived(self, none: Any) -> Any:
        """Mask of robots whose task is done, asked after `reward`; `none`: of no robot."""
        return none


class _DeviceReach(_DeviceTask):
    size = 12
    targets = 256

    def __init__(self, task: type[Reach], batch: DeviceBatch, arrays: _Arrays):  # type: ignore[override]
        super().__init__(task, batch, arrays)
        self.pull = task.pull
        # targets that some tensions hold: the tips at their equilibria, found by the processor's cores
        random, n = np.random.default_rng(1), self.targets
        radius, angle = np.sqrt(random.uniform(0.05, 0.8, n)), random.uniform(-np.pi, np.pi, n)
        other = Batch(batch.model, n)
        other.u[:] = self.pull * np.maximum(np.stack([radius * f for f in (np.cos(angle), np.sin(angle), -np.cos(angle), -np.sin(angle))], 1), 0)
        other.equilibrium()
        self.all = arrays.of(other.probe("tip")[~other.failed])
        self.target = arrays.of(np.zeros((batch.n, 3)))

    def begin(self, at: Any) -> None:
        index = self.arrays.of(self.arrays.uniform(0, len(self.all), self.batch.n), "int64")
        self.target = self.arrays.lib.where(at[:, None], self.all[index], self.target)

    def act(self, action: Any) -> None:
        self.u[:] = self.pull * self.arrays.lib.clip(self.arrays.columns(action, -action), 0, 1)

    def observe(self) -> Any:
        return self.arrays.columns(self.tip, self.speed, self.target, self.tip - self.target)

    def reward(self, action: Any) -> Any:
        return -(((self.tip - self.target) ** 2).sum(1) ** 0.5) / 0.25


class _DeviceSwingUp(_DeviceTask):
    size = 10

    def begin(self, at: Any) -> None:
        k = self.batch.model.coordinates["arm.angle"]
        self.home[:, k] = self.arrays.lib.where(at, self.arrays.uniform(-0.1, 0.1, self.batch.n), self.home[:, k])

    def act(self, action: Any) -> None:
        self.u[:] = self.task.torque * action  # type: ignore[attr-defined]

    def observe(self) -> Any:
        angle, rate = self.q[:, self.batch.model.coordinates["arm.angle"]], self.v[:, self.batch.model.joints["arm"].v.start]
        length = (self.tip[:, 0] ** 2 + self.tip[:, 2] ** 2) ** 0.5
        return self.arrays.columns(self.tip[:, 0] / length, self.tip[:, 2] / length, angle, rate, self.tip, self.speed)

    def reward(self, action: Any) -> Any:
        return self.tip[:, 2] / 0.3 - 1e-3 * action[:, 0] ** 2


class _DeviceSteer(_DeviceTask):
    size = 16

    def measure(self) -> None:
        self.seen = self.arrays.view(self.batch.probes(["head", "speed"]))
        self.target = self.arrays.of(np.zeros((self.batch.n, 2)))
        self.before = self.arrays.of(np.zeros(self.batch.n))

    def begin(self, at: Any) -> None:
        library = self.arrays.lib
        angle = self.arrays.uniform(-np.pi / 2, np.pi / 2, self.batch.n)
        target = 2.0 * library.stack([library.cos(angle), library.sin(angle)], 1)
        self.target = library.where(at[:, None], target, self.target)
        self.before = library.where(at, 2.0, self.before)

    def act(self, action: Any) -> None:
        self.u[:] = self.task.stiffness * self.task.bend * action  # type: ignore[attr-defined]

    def _to(self) -> tuple[Any, Any]:
        """From the head to the target, m, and its length."""
        to = self.target - self.seen[:, :2]
        return to, (to**2).sum(1) ** 0.5

    def observe(self) -> Any:
        to, distance = self._to()
        xx, xy, yx, yy = (self.seen[:, 10 + k] for k in (0, 1, 3, 4))  # of the head's rotation matrix
        ahead, aside = xx * to[:, 0] + yx * to[:, 1], xy * to[:, 0] + yy * to[:, 1]
        w_z, v_x, v_y = (self.seen[:, 19 + k] for k in (2, 3, 4))
        return self.arrays.columns(distance, aside / distance, ahead / distance, v_x, v_y, w_z, self.q[:, 3:], self.v[:, 3:])

    def reward(self, action: Any) -> Any:
        _, distance = self._to()
        nearer, self.before = self.before - distance, distance
        return nearer + self.arrays.lib.where(distance < 0.2, 1.0, 0.0)

    def arrived(self, none: Any) -> Any:
        return self.before < 0.2


_TASKS: dict[type[Task], Any] = {Reach: _DeviceReach, SwingUp: _DeviceSwingUp, Steer: _DeviceSteer}


class DeviceVectorTask:
    """n robots with the same task on a device, stepped together by a `DeviceBatch`, as `VectorTask` does on all cores.

    Actions, observations, rewards and flags are arrays over the robots in the memory of the device: tensors of PyTorch, or
    of NumPy for device "host". Nothing is copied to the host. Targets of `Reach` are drawn from 256 equilibria. A robot
    whose episode ends begins again, by `autoreset_mode`:

    - `SameStep`: at once; `info["final_obs"]` has what the episodes of the mask `info["_final_obs"]` ended with;
    - `Disabled`: when `reset(options={"reset_mask": mask})` says so; until then its rewards go on.

    Robots whose step did not converge end their episode with the reward -10; `info["failed"]` is their mask.
    """

    def __init__(self, task: type[Task], num_envs: int, *, device: str, autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
                 **overrides: Value):  # fmt: skip
        if task not in _TASKS:
            names = ", ".join(t.__name__ for t in _TASKS)
            raise ArgumentError(f"the task {task.__name__} does not run on a device: it is not one of {names}; leave out device=")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            raise ArgumentError("environments on a device begin episodes by SameStep or Disabled")
        model: Model = task._model(overrides)
        self.batch: DeviceBatch = Batch(model, num_envs, device=device)
        self.arrays = _Arrays(device)
        self.arrays.seed(None)
        self.task, self.num_envs = _TASKS[task](task, self.batch, self.arrays), num_envs
        self.limit, self._repeat, self._step_time = task.limit, task.repeat, task.step_time
        self.metadata = {**task.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = Box(-np.inf, np.inf, (self.task.size,), np.float64)
        self.single_action_space = Box(-1.0, 1.0, (task.actions,), np.float64)
        self.observation_space = _repeated(self.single_observation_space, num_envs)
        self.action_space = _repeated(self.single_action_space, num_envs)
        self._status = self.arrays.view(self.batch.status)
        self._count = self.arrays.of(np.zeros(num_envs), "int64")
        self._begun = False

    def _restart(self, at: Any) -> None:
        self.task.begin(at)
        self.task.u[:] = self.arrays.lib.where(at[:, None], 0.0, self.task.u)
        self.batch.reset(at)
        self._count = self.arrays.lib.where(at, 0, self._count)
        self.batch.update_points()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin all episodes, or those of the mask `options["reset_mask"]`."""
        if seed is not None:
            self.arrays.seed(seed)
        everyone: Mask = np.ones(self.num_envs, dtype=bool)
        at = self.arrays.of((options or {}).get("reset_mask", everyone), "bool")
        if not self._begun:
            self.batch.start(self._step_time)
            self._begun, at = True, self.arrays.of(everyone, "bool")
        self._restart(at)
        return self.task.observe(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Info]:
        """What Gymnasium's vector environments return, as arrays on the device."""
        if not self._begun:
            raise RuntimeError("call reset() before step()")
        where = self.arrays.lib.where
        action = self.arrays.lib.clip(self.arrays.of(actions), -1, 1)
        if tuple(action.shape) != self.action_space.shape:
            raise ArgumentError(f"actions have the shape {self.action_space.shape}, but {tuple(action.shape)} is given")
        self.task.act(action)
        self.batch.step(count=self._repeat)
        self.batch.update_points()
        self._count = self._count + 1
        failed = self._status[:, 0] > 1
        reward = where(failed, -10.0, self.task.reward(action))
        terminated = failed | self.task.arrived(failed & False)
        truncated = (self._count >= self.limit) & ~failed
        observation = self.task.observe()
        info: Info = {"failed": failed}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            over = terminated | truncated
            info["final_obs"], info["_final_obs"] = observation, over
            self._restart(over)
            observation = where(over[:, None], self.task.observe(), observation)
        return observation, reward, terminated, truncated, info

    def close(self, **_: object) -> None:
        """Nothing has to be closed."""

    def __repr__(self) -> str:
        return f"<sinew.gym.DeviceVectorTask of {self.num_envs} robots on {self.batch.device}>"
