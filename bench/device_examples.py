# SPDX-License-Identifier: MIT
"""Motions of the examples on a graphics processor against robots alone; the part `examples` of bench/device.py.

A few robots leave nearly all of a processor idle, and processes take turns on it. So all examples move at once in one
process, each in a stream and by a thread of its own, in calls of half a second. Robots alone move in other processes. Both
write their coordinates as they go, so that what is there when the time ends can be compared.
"""

import concurrent.futures
import contextlib
import ctypes
import json
import os
import pathlib
import re
import struct
import threading
import time

from device_models import model_of, push, velocities

ROBOTS, PUSH, STEP, COUNT = 3, 0.02, 2e-3, 500
CHUNK = 50  # most steps of a call
FATAL = r"graphics processor: .* \(7\d\d\)"  # errors after which nothing runs in this process any more
STACK_LIMIT = 0  # CU_LIMIT_STACK_SIZE


def path_of(folder, name, precision, kind):
    return pathlib.Path(folder) / f"{name.replace('/', '-')}.{precision}.{kind}"


def alone(name, folder, count, tolerance):
    """Robots alone, and one more, the last one with velocities that differ in their last digits."""
    import numpy as np

    import sinew

    began, model, failed = time.perf_counter(), model_of(name), {}
    robots = [sinew.Robot(model) for _ in range(ROBOTS + 1)]
    start = velocities(ROBOTS, len(robots[0].v), PUSH)
    motions = []
    for i, robot in enumerate(robots):
        robot.v[:] = start[i] if i < ROBOTS else start[-1] * (1 + 4e-16)
        try:
            motions.append(robot.simulate(STEP, tolerance=tolerance))
        except sinew.Error as failure:
            failed[i] = str(failure)[:200]
            motions.append(None)
    nq = len(robots[0].q)
    with path_of(folder, name, "double", "alone").open("wb") as f:
        f.write(np.array([nq], dtype=float).tobytes())
        for _ in range(count):
            row = np.ones((ROBOTS + 1, 1 + nq))  # has it failed, coordinates
            for i, motion in enumerate(motions):
                if motion is None:
                    continue
                try:
                    motion.step()
                    row[i, 0], row[i, 1:] = 0, robots[i].q
                except sinew.Error as failure:
                    failed[i] = str(failure)[:200]
                    motions[i] = None
            f.write(row.tobytes())
            f.flush()
            if all(motion is None for motion in motions):
                break
    yield {"alone failed": failed, "seconds": time.perf_counter() - began}


# ---- on the device ------------------------------------------------------------------------------


def largest_stack(cache):
    """Bytes of stack that a thread of any kernel in this folder needs, by the compiler's notes in them."""
    most = 0
    for path in pathlib.Path(cache).glob("sinew/*.cubin"):
        for _, size in (struct.unpack("<II", found) for found in re.findall(rb"\x04\x12\x08\x00(.{8})", path.read_bytes(), re.DOTALL)):
            most = max(most, size if size < 600_000 else 0)
    return most


class Driver:
    """The few functions of the CUDA driver that the library does not offer."""

    def __init__(self):
        self.cu, self.context, device = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_int()
        self.check(self.cu.cuInit(0))
        self.check(self.cu.cuDeviceGet(ctypes.byref(device), 0))
        self.check(self.cu.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), device))

    @staticmethod
    def check(result):
        if result:
            raise RuntimeError(f"the driver answers {result}")

    @contextlib.contextmanager
    def current(self):
        unused = ctypes.c_void_p()
        self.check(self.cu.cuCtxPushCurrent_v2(self.context))
        try:
            yield
        finally:
            self.check(self.cu.cuCtxPopCurrent_v2(ctypes.byref(unused)))

    def reserve_stack(self, size):
        """Memory for the stacks of all threads, once: where a launch needs more, it waits for all others."""
        with self.current():
            self.check(self.cu.cuCtxSetLimit(STACK_LIMIT, ctypes.c_size_t(size)))

    def stream(self):
        """A stream that waits for no other."""
        out = ctypes.c_void_p()
        with self.current():
            self.check(self.cu.cuStreamCreate(ctypes.byref(out), 1))
        return out.value

    def zeros(self, n):
        """n bytes on the device, as an array of flags."""
        out = ctypes.c_uint64()
        with self.current():
            self.check(self.cu.cuMemAlloc_v2(ctypes.byref(out), ctypes.c_size_t(n)))
            self.check(self.cu.cuMemsetD8_v2(out, ctypes.c_ubyte(0), ctypes.c_size_t(n)))
        view = type("Zeros", (), {})()
        view.__cuda_array_interface__ = {"shape": (n,), "typestr": "|b1", "version": 3, "data": (out.value, False)}
        return view


class Motion:
    """Robots of an example on the device, which write their coordinates after each call."""

    def __init__(self, name, precision, options, driver, none):
        import sinew

        self.name, self.precision, self.count, self.stop = name, precision, options["count"], False
        self.path = path_of(options["folder"], name, precision, "device")
        more = {"kernels": "quick"} | ({"precision": precision} if precision != "double" else {})
        self.batch = sinew.Batch(model_of(name), ROBOTS, device=options["device"], **more)
        push(self.batch, PUSH)
        if driver:
            self.batch.stream = driver.stream()
        # none of them starts or steps yet, but laws have their memory: later it would have to wait for all launches
        self.batch.start(STEP, tolerance=options["tolerance"], at=none)
        self.batch.step(1e-18, count=CHUNK)
        self.batch.wait()
        self.row = {"name": name, "precision": precision, "steps": 0}

    def run(self):
        import numpy as np

        batch, done, chunk, began = self.batch, 0, 1, time.perf_counter()
        batch.restart()
        batch.wait()
        with self.path.open("wb") as f:
            f.write(np.array([batch.nq], dtype=float).tobytes())
            while done < self.count and not self.stop:
                since, now = time.perf_counter(), min(chunk, self.count - done)
                batch.step(count=now)
                batch.wait()
                status = batch.status.get()[:, 0]
                done += now
                f.write(np.concatenate([[done], status, batch.q.get().ravel()]).astype(float).tobytes())
                f.flush()
                self.row |= {"steps": done, "seconds": time.perf_counter() - began}
                if (status > 0).all():
                    break
                chunk = max(1, min(CHUNK, int(0.5 * now / (time.perf_counter() - since))))
        self.row |= {"failed": batch.errors, "iterations": batch.counts["iterations"]}


def together(jobs, options):
    """Rows of the motions of all jobs, [name, precision], as they end; those that do not end in time come last."""
    import numpy as np

    end = time.monotonic() + options["seconds"]
    driver = Driver() if options["device"] != "host" else None
    none = driver.zeros(ROBOTS) if driver else np.zeros(ROBOTS, dtype=bool)
    motions, rows, lock, fatal = {}, [], threading.Lock(), []
    cores = contextlib.nullcontext() if driver else threading.Semaphore(os.cpu_count() or 1)

    def tell(row):
        with lock:
            rows.append(row)

    def refuse(name, precision, failure):
        text = str(failure)[:300]
        tell({"name": name, "precision": precision, "refused": f"{type(failure).__name__}: {text}"})
        if re.search(FATAL, text):
            fatal.append(text)

    def prepare(job):
        for again in (True, False):
            try:
                motions[tuple(job)] = Motion(*job, options, driver, none)
                return
            except Exception as failure:  # the reason belongs into the table
                if not (again and driver and "out of memory" in str(failure)):
                    refuse(*job, failure)
                    return
            driver.reserve_stack(1 << 16)  # there is no room for all at once

    def run(job):
        try:
            with cores:
                motions[job].run()
            tell(motions[job].row | {"ended": True})
        except Exception as failure:
            refuse(*job, failure)

    if driver:
        stack = largest_stack(options["cache"])
        try:
            driver.reserve_stack(max(stack, 1 << 12))
            tell({"stack": stack})
        except RuntimeError as failure:
            tell({"stack": stack, "refused": str(failure)})
    prepare(jobs[0])
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(prepare, jobs[1:]))
    tell({"prepared": len(motions), "seconds": time.monotonic() - end + options["seconds"]})
    threads = [threading.Thread(target=run, args=[job], daemon=True) for job in motions]
    for thread in threads:
        thread.start()
    told = 0
    while True:
        going = any(thread.is_alive() for thread in threads) and not fatal and time.monotonic() < end
        while told < len(rows):
            print(json.dumps(rows[told]), flush=True)
            told += 1
        if not going:
            break
        time.sleep(0.2)
    for motion in motions.values():
        if "failed" not in motion.row and not any(row.get("name") == motion.name and row.get("precision") == motion.precision for row in rows):
            print(json.dumps(motion.row | {"ended": False}), flush=True)
    os._exit(3 if fatal else 0)  # launches under way cannot be called back


# ---- both ---------------------------------------------------------------------------------------


def rows_of(path, numbers):
    """Number of coordinates, which comes first, and the whole rows of a file; numbers(nq) of them in each."""
    import numpy as np

    data = np.fromfile(path, dtype=float)
    nq, data = int(data[0]), data[1:]
    n = numbers(nq)
    return nq, data[: data.size // n * n].reshape(-1, n)


def difference(folder, name, precision):
    """The largest difference of a coordinate at the last step of both; `own`: what the last digits of a start make of it."""
    import numpy as np

    paths = path_of(folder, name, precision, "device"), path_of(folder, name, "double", "alone")
    if not all(path.exists() and path.stat().st_size for path in paths):
        return {}
    nq, device = rows_of(paths[0], lambda nq: 1 + ROBOTS * (1 + nq))
    _, host = rows_of(paths[1], lambda nq: (ROBOTS + 1) * (nq + 1))
    for row in device[::-1]:
        steps, good = int(row[0]), row[1 : 1 + ROBOTS] == 0
        if steps > len(host):
            continue
        q, other = row[1 + ROBOTS :].reshape(ROBOTS, nq), host[steps - 1].reshape(ROBOTS + 1, nq + 1)
        moves, other = other[:, 0] == 0, other[:, 1:]
        good &= moves[:ROBOTS]
        if good.any():
            own = float(np.abs(other[ROBOTS] - other[ROBOTS - 1]).max(initial=0)) if moves[-2:].all() else None
            return {"steps": steps, "robots": int(good.sum()), "difference": float(np.abs(q - other[:ROBOTS])[good].max(initial=0)),
                    "of": float(np.abs(other[:ROBOTS][good]).max(initial=0)), "own": own}  # fmt: skip
    return {}
