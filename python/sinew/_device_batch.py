# SPDX-License-Identifier: MIT
"""Many robots of one model on a graphics processor: `Batch(.., device="cuda")`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, cast

import numpy as np

from ._core import OfThisProcess, c_text, new_error, override_list, raise_error, text
from ._device_array import DeviceArray, address_of
from ._errors import ArgumentError, Error
from ._model import Model, model_of
from ._robot import Robot, steps_options
from ._sinew import ffi, lib
from ._types import Array, Mask, Overrides, Path, Pointer, Value
from ._units import read, seconds


def compile_kernels(robot: Robot | Model | Path, architecture: str = "sm_90", *, precision: str = "double", kernels: str = "full",
                    run: str | None = None, set: Overrides | None = None) -> None:  # fmt: skip
    """Compile the kernels of `Batch(robot, .., device="cuda")` for processors of an architecture and keep them on disk.

    They lie in `$XDG_CACHE_HOME/sinew`, or `~/.cache/sinew`, where batches find them with the same version of sinew. NVRTC is
    needed, a processor and its driver are not: compile where there are many cores, and copy the folder. "sm_90" are H100 and H200.
    """
    model, err = model_of(robot.model if isinstance(robot, Robot) else robot, run=run, set=set), new_error()
    how = options_of(precision, kernels)
    if lib.snw_device_batch_compile(model._m, c_text(architecture, "an architecture"), how, err) != lib.SNW_OK:
        raise_error(err)


def options_of(precision: str, kernels: str) -> Pointer:
    """Options of a batch."""
    if precision not in ("double", "single"):
        raise ArgumentError(f"precision is 'double' or 'single', not {precision!r}")
    if kernels not in ("full", "quick"):
        raise ArgumentError(f"kernels are 'full' or 'quick', not {kernels!r}")
    return ffi.new("snw_device_batch_options *", {"single_precision": precision == "single", "quick_kernels": kernels == "quick"})


class DeviceParameters(MutableMapping[str, "Value | Array"]):
    """Values of the robots by path: `parameters["silicone.young"] = values`, (n,) or one for all, in SI units or as texts.

    Robots whose values change wait for their next start. What the model has in common for all robots stays: the structure,
    numbers of functions and nodes. The host makes a model for each robot, which takes some 0.1 ms, and the device keeps it.
    """

    def __init__(self, batch: DeviceBatch):
        self._batch = batch
        self._set: dict[str, list[Value]] = {}

    def __setitem__(self, path: str, value: Value | Array) -> None:
        self.update({path: value})

    def update(self, values: Mapping[str, Value | Array]) -> None:  # type: ignore[override]  # of a mapping only, all at once
        """Set several values at once."""
        n, wanted = self._batch.n, dict(self._set)
        for path, value in values.items():
            if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > 0:
                wanted[path] = list(cast("Sequence[Value]", value))
            else:
                wanted[path] = [cast(Value, value)] * n
            if len(wanted[path]) != n:
                raise ArgumentError(f"'{path}' needs {n} values, but has {len(wanted[path])}")
        for i in range(n):
            count, texts, _kept = override_list({path: value[i] for path, value in wanted.items()})
            try:
                self._batch._call(lib.snw_device_batch_set_parameters, i, count, texts)
            except Error as failure:
                raise type(failure)(f"robot {i}: {failure.text}; it and those behind it keep their values", failure.file,
                                    failure.line, failure.column) from None  # fmt: skip
        self._set = wanted

    def __getitem__(self, path: str) -> Array:
        """Values of all robots, SI, (n,)."""
        if path not in self._set:
            return np.full(self._batch.n, self._batch.model.quantity(path)[0])
        return np.array([read(x)[0] if isinstance(x, str) else x for x in self._set[path]])

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._batch.model.has(path)

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


class DeviceBatch(OfThisProcess):
    """n robots of one model on a graphics processor, with states and inputs of their own; made by `Batch(.., device=..)`.

    >>> batch = sinew.Batch("arm.yaml", 100_000, device="cuda")
    >>> batch.take("cord(1)")                     # its tension is batch.u from now on, not the law of the file
    >>> q, u = torch.from_dlpack(batch.q), torch.from_dlpack(batch.u)     # views of the device's memory
    >>> batch.start(step="10 ms")
    >>> u[:, 0] = tensions                        # on the device
    >>> batch.step(count=10)                      # q has the new coordinates
    >>> batch.reset(failed=True)                  # robots that have failed begin again from their `home`
    >>> batch.q.get(), batch.failed               # copies on the host: (n, nq), mask of robots whose step did not converge

    All robots have the same time. A robot that fails, also by numbers that are not finite, stays where it is, is in
    `status` and disturbs no other. `device`: "cuda", "cuda:1", ..; "host": the same program on this processor, for tests.
    What the device does not compute is refused with its name. `kernels`: "quick" ones are compiled in some seconds instead of
    a minute or more, for first trials; they make the same motions in more time.

    Calls return before their work is done: it is queued in one stream of the device, at first the legacy default stream, in
    which PyTorch computes as well, so that both are in order. Whoever computes in another stream sets `stream`, or calls
    `wait()`.
    """

    _instead = "make another one of the same model"

    def __init__(self, robot: Robot | Model | Path, n: int, *, device: str, precision: str = "double", kernels: str = "full",
                 run: str | None = None, set: Overrides | None = None):  # fmt: skip
        model = model_of(robot.model if isinstance(robot, Robot) else robot, run=run, set=set)
        out, self._err = ffi.new("snw_device_batch **"), new_error()
        name, how = c_text(device, "a device"), options_of(precision, kernels)
        if lib.snw_device_batch_create_with(model._m, n, name, how, out, self._err) != lib.SNW_OK:
            raise_error(self._err)
        self._b = ffi.gc(out[0], lib.snw_device_batch_close)
        self.model, self.device, self.n, self.precision, self.kernels = model, device, n, precision, kernels
        self._index = int(device[5:] or 0) if device.startswith("cuda") else 0
        self.nq, self.nv = lib.snw_device_batch_nq(self._b), lib.snw_device_batch_nv(self._b)
        self.q = DeviceArray(self, lib.snw_device_batch_q(self._b), self.nq)
        """Coordinates, SI, (n, nq): written before `start`, read after steps."""
        self.v = DeviceArray(self, lib.snw_device_batch_v(self._b), self.nv)
        """Velocities, SI, (n, nv), likewise."""
        self.u = DeviceArray(self, lib.snw_device_batch_u(self._b), lib.snw_device_batch_inputs(self._b))
        """Inputs of the actuators, SI, (n, inputs); they act for actuators that were taken over."""
        self.status = DeviceArray(self, lib.snw_device_batch_status(self._b), 1, np.int32, writeable=False)
        """0 for robots that step, 1 for those that have not been started, more for those that have failed; (n, 1), to read."""
        self.home = DeviceArray(self, lib.snw_device_batch_home(self._b), self.nq + self.nv)
        """Coordinates, then velocities, with which `reset` begins, (n, nq + nv)."""
        self.parameters = DeviceParameters(self)
        """Values of the robots by path, see `DeviceParameters`."""
        if isinstance(robot, Robot):
            self.q[:], self.v[:] = robot.q, robot.v
            self.home[:] = np.concatenate([robot.q, robot.v])
        self._npoint = 0
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
    def bytes(self) -> int:
        """Bytes of the device's memory that the batch has."""
        return int(lib.snw_device_batch_bytes(self._b))

    @property
    def counts(self) -> dict[str, int]:
        """Sums over all robots: Newton iterations, matrices, robots that have failed; waits for the steps under way."""
        out = ffi.new("snw_device_batch_counts *")
        self._call(lib.snw_device_batch_count, out)
        return {"iterations": int(out.iterations), "matrices": int(out.tangents), "failed": int(out.failed)}

    @property
    def t(self) -> float:
        """Time of all robots, s."""
        return float(lib.snw_device_batch_time(self._b))

    @property
    def stream(self) -> int:
        """Handle of the stream (cudaStream_t) in which the work is queued; 0: the legacy default stream.

        Set it to a handle, a `torch.cuda.Stream` or a `cupy.cuda.Stream`; work so far goes before.
        """
        return int(ffi.cast("uintptr_t", lib.snw_device_batch_stream(self._b)))

    @stream.setter
    def stream(self, stream: Any) -> None:
        handle = int(getattr(stream, "cuda_stream", getattr(stream, "ptr", stream)))
        self._call(lib.snw_device_batch_set_stream, ffi.cast("void *", handle))

    def _order(self, stream: int, waits: bool) -> None:
        """What is queued in `stream` waits for the batch; `waits`: the batch waits for it."""
        self._call(lib.snw_device_batch_order, ffi.cast("void *", stream), waits)

    def take(self, actuator: str, taken: bool = True) -> None:
        """Let the columns of `u` replace the law of an actuator for all robots, or no longer."""
        index = list(self.model.actuators).index(self.model.actuators[actuator].name)
        self._call(lib.snw_device_batch_take, index, int(taken))

    def _mask(self, at: Any) -> Pointer:
        """Address of a mask on the device."""
        if at is None:
            return ffi.NULL
        address, self._at = address_of(self, at, (self.n,), "b1 u1", "at")  # kept while the device reads it
        return ffi.cast("unsigned char *", address)

    def start(self, step: float | str, scheme: str | None = None, *, at: Any = None, rho: float | None = None,
              alpha: float | None = None, tolerance: float | None = None, account: bool = True) -> None:  # fmt: skip
        """Start motions from `q`, `v`; `at`: a mask on the device of the robots to start, all unless given.

        `account`: robots fail where the scheme creates energy since steps are too long; without it this is not noticed.
        """
        lib.snw_device_batch_set_account(self._b, int(account))
        how, _kept = steps_options(step, scheme, rho, alpha, tolerance, None, 0)
        self._call(lib.snw_device_batch_start, how, self._mask(at))
        self.dt = seconds(step, "step")

    def restart(self, at: Any = None) -> None:
        """Start again from `q`, `v` with the options of the last start."""
        self._call(lib.snw_device_batch_restart, self._mask(at))

    def reset(self, at: Any = None, *, failed: bool = False) -> None:
        """Start again from `home`, with the options of the last start; `at`: a mask on the device; `failed`: only those that failed."""
        self._call(lib.snw_device_batch_reset, self._mask(at), failed)

    def step(self, dt: float | None = None, count: int = 1, *, inputs: Any = None, probes: Any = None) -> None:
        """Advance all robots that have not failed by `count` steps; returns before they are done.

        `inputs`: the inputs of each step, an array on the device, (count, inputs, n), instead of `u`. `probes`: an array on
        the device, (count, columns, n), that gets the columns of `probes()` at the end of each step.
        """
        pointer, out = ffi.NULL, ffi.NULL
        if inputs is not None:
            address, self._inputs = address_of(self, inputs, (count, *self.u.T.shape), "f8", "inputs")  # likewise
            pointer = ffi.cast("double *", address)
        if probes is not None:
            shape = (count, lib.snw_device_batch_columns(self._b), self.n)
            address, self._seen = address_of(self, probes, shape, "f8", "probes")
            if self.device == "host" and self._seen is not probes:
                raise ArgumentError("'probes' is a contiguous array of doubles, to be written")
            out = ffi.cast("double *", address)
        self._call(lib.snw_device_batch_step_probes, self.dt if dt is None else dt, count, pointer, out)

    def wait(self) -> None:
        """Wait until all steps are done."""
        self._call(lib.snw_device_batch_wait)

    def points(self, nodes: list[int]) -> DeviceArray:
        """Array for the positions of nodes, m, (n, 3 nodes); `update_points` writes it. The last node is -1."""
        out = ffi.new("double **")
        with_all = [node + (self._nodes if node < 0 else 0) for node in nodes]
        self._call(lib.snw_device_batch_set_points, len(nodes), ffi.new("int[]", with_all), ffi.NULL, out)
        self._npoint = len(nodes)
        return DeviceArray(self, out[0], 3 * len(nodes))

    @property
    def point_rates(self) -> DeviceArray:
        """Velocities of the nodes of the last `points`, m/s, (n, 3 nodes); `update_points` writes them."""
        if self._npoint == 0:
            raise ArgumentError("call points() first")
        return DeviceArray(self, lib.snw_device_batch_point_rates(self._b), 3 * self._npoint)

    @property
    def _nodes(self) -> int:
        return int(lib.snw_robot_nodes(Robot(self.model)._r))

    def update_points(self) -> None:
        """Write positions and velocities of the nodes of `points`."""
        self._call(lib.snw_device_batch_update_points)

    def probes(self, names: list[str]) -> DeviceArray:
        """Array for the columns of these probes of the file, SI, (n, columns), side by side; `update_probes` writes it.

        Poses, velocities, strains, coordinates and rates of joints, and lengths, rates and efforts of tendons can be read;
        others are refused by name. Rotation vectors are those within half a turn.
        """
        out, texts = ffi.new("double **"), [ffi.new("char[]", c_text(name, "a probe")) for name in names]
        self._call(lib.snw_device_batch_set_probes, len(names), ffi.new("char *[]", texts), out)
        return DeviceArray(self, out[0], lib.snw_device_batch_columns(self._b), writeable=False)

    def update_probes(self) -> None:
        """Write the columns of `probes`, and the nodes of `points`."""
        self._call(lib.snw_device_batch_update_points)

    @property
    def failed(self) -> Mask:
        """Robots whose start or step failed, a copy on the host; they stay where they are until they are started again."""
        return np.asarray(self.status.get()[:, 0] > 1)

    @property
    def errors(self) -> dict[int, str]:
        """Reasons of the robots that have failed, by their number."""
        status = self.status.get()[:, 0]
        return {int(i): text(lib.snw_device_batch_status_text(int(status[i]))) for i in np.flatnonzero(status > 1)}

    def __repr__(self) -> str:
        return f"<sinew.Batch of {self.n} robots '{self.model.title or self.model.run}' on {self.device}, {self.name}>"
