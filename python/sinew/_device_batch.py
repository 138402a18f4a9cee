# SPDX-License-Identifier: MIT
"""Many robots of one model on a graphics processor: `Batch(.., device="cuda")`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import OfThisProcess, c_text, new_error, raise_error, real, text
from ._errors import ArgumentError
from ._model import Model, model_of
from ._robot import Robot, steps_options
from ._sinew import ffi, lib
from ._types import Array, Mask, Overrides, Path, Pointer
from ._units import seconds


class DeviceArray:
    """Numbers (n, columns) in the memory of a device, robot by robot.

    `torch.as_tensor(array, device="cuda")` and `cupy.asarray(array)` see them without a copy
    (`__cuda_array_interface__`); `get()` copies them to NumPy, `array[:] = values` writes them.
    """

    def __init__(self, batch: DeviceBatch, pointer: Pointer, columns: int, dtype: Any = np.float64):
        self._batch, self._pointer = batch, pointer
        self.shape, self.dtype = (batch.n, columns), np.dtype(dtype)

    @property
    def strides(self) -> tuple[int, int]:
        """Bytes from robot to robot and from column to column."""
        return self.dtype.itemsize, self.dtype.itemsize * self.shape[0]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._batch.device == "host":
            raise AttributeError("this batch is on the host; use get()")
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "version": 3, "stream": 1,
                "data": (int(ffi.cast("uintptr_t", self._pointer)), False)}  # fmt: skip

    def get(self) -> Array:
        """A copy in NumPy, (n, columns), SI; waits for the steps under way."""
        out = np.empty(self.shape[::-1], dtype=self.dtype)
        self._batch._call(lib.snw_device_batch_read, self._pointer, out.nbytes, ffi.from_buffer(out))
        return out.T

    def __setitem__(self, key: slice, value: object) -> None:
        if key != slice(None):
            raise ArgumentError("an array on a device is written as a whole, array[:] = values, or through PyTorch or CuPy")
        columns = np.ascontiguousarray(np.broadcast_to(real(value, "values"), self.shape).T, dtype=self.dtype)
        self._batch._call(lib.snw_device_batch_write, ffi.from_buffer(columns), columns.nbytes, self._pointer)

    def __repr__(self) -> str:
        return f"<{self.shape[0]} x {self.shape[1]} {self.dtype} on {self._batch.device}>"


class DeviceBatch(OfThisProcess):
    """n robots of one model on a graphics processor, with states and inputs of their own; made by `Batch(.., device=..)`.

    >>> batch = sinew.Batch("arm.yaml", 100_000, device="cuda")
    >>> batch.take("cord(1)")                     # its tension is batch.u from now on, not the law of the file
    >>> u = torch.as_tensor(batch.u, device="cuda")
    >>> batch.start(step="10 ms")
    >>> u[:, 0] = tensions                        # on the device
    >>> batch.step(count=10)
    >>> batch.q.get(), batch.failed               # (n, nq), mask of robots whose step did not converge

    All robots have the same time and the same parameters. `device`: "cuda", "cuda:1", ..; "host": the same program on this
    processor, for tests. What the device does not compute is refused with its name.
    """

    _instead = "make another one of the same model"

    def __init__(self, robot: Robot | Model | Path, n: int, *, device: str, run: str | None = None,
                 set: Overrides | None = None):  # fmt: skip
        model = model_of(robot.model if isinstance(robot, Robot) else robot, run=run, set=set)
        out, self._err = ffi.new("snw_device_batch **"), new_error()
        if lib.snw_device_batch_create(model._m, n, c_text(device, "a device"), out, self._err) != lib.SNW_OK:
            raise_error(self._err)
        self._b = ffi.gc(out[0], lib.snw_device_batch_close)
        self.model, self.device, self.n = model, device, n
        self.nq, self.nv = lib.snw_device_batch_nq(self._b), lib.snw_device_batch_nv(self._b)
        self.q = DeviceArray(self, lib.snw_device_batch_q(self._b), self.nq)
        """Coordinates, SI, (n, nq): written before `start`, read after steps."""
        self.v = DeviceArray(self, lib.snw_device_batch_v(self._b), self.nv)
        """Velocities, SI, (n, nv), likewise."""
        self.u = DeviceArray(self, lib.snw_device_batch_u(self._b), lib.snw_device_batch_inputs(self._b))
        """Inputs of the actuators, SI, (n, inputs); they act for actuators that were taken over."""
        self.status = DeviceArray(self, lib.snw_device_batch_status(self._b), 1, np.int32)
        """0 for robots that step, (n, 1)."""
        if isinstance(robot, Robot):
            self.q[:], self.v[:] = robot.q, robot.v
        self.dt = 0.0
        """Step of the last start, s."""

    def _call(self, function: Any, *args: Any) -> None:
        if function(self._b, *args, self._err) != lib.SNW_OK:
            raise_error(self._err)

    @property
    def name(self) -> str:
        """The processor."""
        return text(lib.snw_device_batch_name(self._b))

    @property
    def t(self) -> float:
        """Time of all robots, s."""
        return float(lib.snw_device_batch_time(self._b))

    def take(self, actuator: str, taken: bool = True) -> None:
        """Let the columns of `u` replace the law of an actuator for all robots, or no longer."""
        index = list(self.model.actuators).index(self.model.actuators[actuator].name)
        self._call(lib.snw_device_batch_take, index, int(taken))

    def _mask(self, at: Any) -> tuple[Pointer, Any]:
        """Address of a mask on the device, and what keeps it alive."""
        if at is None:
            return ffi.NULL, None
        if self.device == "host":
            mask = np.ascontiguousarray(at, dtype=bool)
            if mask.shape != (self.n,):
                raise ArgumentError(f"'at' is a mask of {self.n}, but has shape {mask.shape}")
            return ffi.from_buffer("unsigned char[]", mask), mask
        if not hasattr(at, "__cuda_array_interface__"):
            raise ArgumentError("'at' is a mask on the device: a tensor of n booleans of PyTorch or CuPy")
        info = at.__cuda_array_interface__
        if info["shape"] != (self.n,) or info["typestr"] not in ("|b1", "|u1") or info.get("strides"):
            raise ArgumentError(f"'at' is a mask of {self.n} booleans, but has shape {info['shape']} of {info['typestr']}")
        return ffi.cast("unsigned char *", info["data"][0]), at

    def start(self, step: float | str, scheme: str | None = None, *, at: Any = None, rho: float | None = None,
              alpha: float | None = None, tolerance: float | None = None, account: bool = True) -> None:  # fmt: skip
        """Start motions from `q`, `v`; `at`: a mask on the device of the robots to start, all unless given.

        `account`: robots fail where the scheme creates energy since steps are too long; without it this is not noticed.
        """
        lib.snw_device_batch_set_account(self._b, int(account))
        how, _kept = steps_options(step, scheme, rho, alpha, tolerance, None, 0)
        pointer, _alive = self._mask(at)
        self._call(lib.snw_device_batch_start, how, pointer)
        self.dt = seconds(step, "step")

    def restart(self, at: Any = None) -> None:
        """Start again from `q`, `v` with the options of the last start."""
        pointer, _alive = self._mask(at)
        self._call(lib.snw_device_batch_restart, pointer)

    def step(self, dt: float | None = None, count: int = 1) -> None:
        """Advance all robots that have not failed by `count` steps; returns before they are done."""
        self._call(lib.snw_device_batch_step, self.dt if dt is None else dt, count)

    def wait(self) -> None:
        """Wait until all steps are done."""
        self._call(lib.snw_device_batch_wait)

    def points(self, nodes: list[int]) -> DeviceArray:
        """Array for the positions of nodes, m, (n, 3 nodes); `update_points` writes it. The last node is -1."""
        out = ffi.new("double **")
        with_all = [node + (self._nodes if node < 0 else 0) for node in nodes]
        self._call(lib.snw_device_batch_set_points, len(nodes), ffi.new("int[]", with_all), ffi.NULL, out)
        return DeviceArray(self, out[0], 3 * len(nodes))

    @property
    def _nodes(self) -> int:
        return int(lib.snw_robot_nodes(Robot(self.model)._r))

    def update_points(self) -> None:
        """Write the positions of the nodes of `points`."""
        self._call(lib.snw_device_batch_update_points)

    @property
    def failed(self) -> Mask:
        """Robots whose start or step failed, a copy on the host; they stay where they are until they are started again."""
        return self.status.get()[:, 0] > 1

    @property
    def errors(self) -> dict[int, str]:
        """Reasons of the robots that have failed, by their number."""
        status = self.status.get()[:, 0]
        return {int(i): text(lib.snw_device_batch_status_text(int(status[i]))) for i in np.flatnonzero(status > 1)}

    def __repr__(self) -> str:
        return f"<sinew.Batch of {self.n} robots '{self.model.title or self.model.run}' on {self.device}, {self.name}>"
