# SPDX-License-Identifier: MIT
"""Arrays of a batch in the memory of its device, and arrays of others that it reads there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import real
from ._errors import ArgumentError, Error
from ._sinew import ffi, lib
from ._types import Pointer

if TYPE_CHECKING:
    from ._device_batch import DeviceBatch

_HOST, _CUDA = 1, 2  # kinds of devices in DLPack
_CODES = {"i": 0, "u": 1, "f": 2}  # kinds of numbers in DLPack


class DeviceArray:
    """Numbers in the memory of a device, (n, columns), a row for each robot; a view, not a copy.

    >>> q = torch.from_dlpack(batch.q)            # PyTorch; JAX: jax.dlpack.from_dlpack; CuPy: cupy.from_dlpack
    >>> q = torch.as_tensor(batch.q)              # the same by __cuda_array_interface__
    >>> q = np.asarray(batch.q)                   # of a batch on "host"

    They see the numbers that the next calls of the batch write. In memory robots lie side by side, so that rows are not
    contiguous; `T`, (columns, n), is. The view keeps the batch alive. `get()` copies to NumPy, `array[:] = values` writes.
    """

    def __init__(self, batch: DeviceBatch, pointer: Pointer, columns: int, dtype: Any = np.float64, writeable: bool = True):
        self._batch, self._pointer, self._across = batch, pointer, False
        self._columns, self._writeable, self.dtype = columns, writeable, np.dtype(dtype)

    @property
    def T(self) -> DeviceArray:
        """The same numbers, (columns, n), contiguous."""
        out = DeviceArray(self._batch, self._pointer, self._columns, self.dtype, self._writeable)
        out._across = not self._across
        return out

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n = self._batch.n
        return (self._columns, n) if self._across else (n, self._columns)

    @property
    def strides(self) -> tuple[int, int]:
        """Bytes from row to row and from column to column."""
        near, far = self.dtype.itemsize, self.dtype.itemsize * self._batch.n
        return (far, near) if self._across else (near, far)

    @property
    def _address(self) -> int:
        return int(ffi.cast("uintptr_t", self._pointer))

    # ---- views of others

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._batch.device == "host":
            raise AttributeError("this batch is on the host; use numpy.asarray")
        stream = self._batch.stream or 1  # 1: the legacy default stream
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "version": 3, "stream": stream,
                "data": (self._address, not self._writeable)}  # fmt: skip

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._batch.device != "host":
            raise TypeError("these numbers are in the memory of a device: get() copies them to NumPy")
        kept = ffi.gc(ffi.cast("char *", self._pointer), _Keep(self._batch))
        flat = np.frombuffer(ffi.buffer(kept, self.dtype.itemsize * self.shape[0] * self.shape[1]), dtype=self.dtype)
        out = flat.reshape(self._columns, self._batch.n)
        out = out if self._across else out.T
        out.flags.writeable = self._writeable
        changed = dtype is not None and np.dtype(dtype) != self.dtype
        if changed and copy is False:
            raise ValueError(f"numbers of {self.dtype} cannot be seen as {np.dtype(dtype)} without a copy")
        return np.array(out, dtype=dtype) if changed or copy else out

    def __dlpack_device__(self) -> tuple[int, int]:
        """Kind and number of the device, as in DLPack."""
        return (_HOST, 0) if self._batch.device == "host" else (_CUDA, self._batch._index)

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:  # fmt: skip
        """A capsule of DLPack; what the consumer queues in its `stream` waits for the steps so far."""
        device = self.__dlpack_device__()
        if copy or (dl_device is not None and tuple(dl_device) != device):
            raise BufferError("an array of a batch is a view of the memory of its device and is not copied; get() copies to NumPy")
        versioned = max_version is not None and max_version[0] >= 1
        if not self._writeable and not versioned:
            raise BufferError("this array is to be read only, which a consumer without DLPack 1.0 does not know; use get()")
        if device[0] == _CUDA and stream != -1:
            if stream == 0:
                raise BufferError("stream 0 has two meanings in CUDA; give 1 for the legacy default stream")
            self._batch._order(1 if stream is None else stream, False)
        elif device[0] == _HOST and stream is not None:
            raise BufferError("a batch on the host has no streams")
        item, out = self.dtype.itemsize, []
        failed = lib.sinew_dlpack(id(out), id(self), self._address, ffi.new("int[2]", device),
                                  ffi.new("int[2]", (_CODES[self.dtype.kind], 8 * item)), 2,
                                  ffi.new("int64_t[2]", self.shape), ffi.new("int64_t[2]", [s // item for s in self.strides]),
                                  versioned, not self._writeable)  # fmt: skip
        if failed:
            raise Error("no memory for a view of an array")
        return out[0]

    # ---- copies

    def get(self) -> Any:
        """A copy in NumPy, SI; waits for the steps under way."""
        out = np.empty((self._columns, self._batch.n), dtype=self.dtype)
        self._batch._call(lib.snw_device_batch_read, self._pointer, out.nbytes, ffi.from_buffer(out))
        return out if self._across else out.T

    def __setitem__(self, key: slice, value: object) -> None:
        if key != slice(None):
            raise ArgumentError("an array on a device is written as a whole, array[:] = values, or through a view of PyTorch, JAX or CuPy")
        if not self._writeable:
            raise ArgumentError("this array is to be read only")
        try:
            values = np.broadcast_to(real(value, "values"), self.shape)
        except ValueError:
            raise ArgumentError(f"the array has the shape {self.shape}, but {np.shape(value)} is given") from None  # type: ignore[arg-type]
        columns = np.ascontiguousarray(values if self._across else values.T, dtype=self.dtype)
        self._batch._call(lib.snw_device_batch_write, ffi.from_buffer(columns), columns.nbytes, self._pointer)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.shape[0]} x {self.shape[1]} {self.dtype} on {self._batch.device}>"


class _Keep:
    """Keeps a batch alive as long as a view of its memory."""

    def __init__(self, batch: DeviceBatch):
        self._batch = batch

    def __call__(self, _: Pointer) -> None:
        pass


def address_of(batch: DeviceBatch, array: Any, shape: tuple[int, ...], kinds: str, name: str) -> tuple[int, Any]:
    """Address of a contiguous array of others in the memory of the batch's device, and what keeps it alive.

    `kinds`: its number types as in `dtype.str` without the order of bytes, the first of which stands in for others on the
    host. What the batch queues from now on waits for the stream of the array, where the array tells it.
    """
    allowed = kinds.split()
    if batch.device == "host":
        given = np.asarray(array)
        if given.dtype.str[1:] not in allowed:
            given = given.astype(bool) if allowed[0] == "b1" and given.dtype.kind in "iu" else real(given, name).astype(allowed[0])
        if given.shape != shape:
            raise ArgumentError(f"'{name}' has the shape {shape}, but {given.shape} is given")
        given = np.ascontiguousarray(given)
        return int(given.ctypes.data), given
    info = getattr(array, "__cuda_array_interface__", None)
    if info is None:
        raise ArgumentError(f"'{name}' is an array on the device, of PyTorch, JAX or CuPy, not {type(array).__name__}")
    if tuple(info["shape"]) != shape or info["typestr"][1:] not in allowed:
        raise ArgumentError(f"'{name}' has the shape {shape} and type {allowed[0]}, but {tuple(info['shape'])} of {info['typestr']} is given")
    size = int(info["typestr"][2:])
    dense = tuple(int(size * np.prod(shape[k + 1 :])) for k in range(len(shape)))
    if info.get("strides") is not None and tuple(info["strides"]) != dense:
        raise ArgumentError(f"'{name}' is not contiguous; give its .contiguous()")
    if info.get("stream") is not None:
        batch._order(info["stream"], True)
    return int(info["data"][0]), array
