#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All measurements of batches on a graphics processor, in calls of some ten minutes: bench/device.py OUT [options].

Each task runs in a process of its own and appends its rows to OUT/rows.jsonl as it goes, so that a call that ends, by its
time or by a fault, keeps what it has; the next call goes on with the tasks that are missing. OUT/report.txt has the tables.
Parts, in this order:
  info        date, commit, processor, driver, compiler, clocks, host
  kernels     kernels of all models below, several at a time, kept in OUT/cache
  variants    some of these with kernels that are compiled fully, and quickly in some ways (KINDS)
  throughput  rods of 6 to 36 coordinates and 11 to 41 nodes, tendon arm, soft gripper, 3-RFR robot, snake on ground, 1e2 to 1e6
              robots; the same on one core and on all cores of the host
  single      rods of 9 and 36 coordinates and the tendon arm in single precision
  arms        256 soft arms of 6 and 36 coordinates: simulated seconds a second, and the error, over the step
  training    examples/python/device_reach.py
  profile     operations of double precision in a step, by ncu if it is there, for the fraction of the peak
  sanitizer   compute-sanitizer on a tree with joints, tendons and laws, if it is there
  examples    motions over 1 s of all examples against robots alone, or why they are refused: first quick kernels of all, several
              at a time, then all motions at once, each in a stream of one process, beside robots alone on the cores

Where sinew is built, a machine with NVRTC and without a processor will do:
  cmake --preset bench && cmake --build --preset bench --target python_package
  export PYTHONPATH=build/bench/python
  bench/device.py build/try --device host --small            tries all of it by the program on the host
  apt-get source --download-only python-cffi               python-cffi_1.15.1.orig.tar.gz
  bench/device.py --bundle build/bundle --cffi python-cffi_1.15.1.orig.tar.gz    the package with the libraries that it needs
  bench/device.py build/compiled --architecture sm_90 --parts kernels --cache build/bundle/cache --seconds 3600
  tar czf build/bundle.tgz -C build bundle                   some 60 MB before, 25 packed
These kernels, 2 MB each, take half a minute to five minutes of one core, and are used where the text of the library is the
same; --models takes some of them. A Python without cffi has its module compiled, where it runs if it has its headers, from the
sources that --cffi puts into the bundle beside libffi (Debian: libffi-dev); or before, by another Python of the same version,
`python3.12 bench/device.py --backend build/bundle`. On the machine with the processor, whose Python has numpy, and PyTorch for
training, in a checkout with this file:
  tar xzf build/bundle.tgz -C build
  export PYTHONPATH=build/bundle LD_LIBRARY_PATH=build/bundle/lib
  bench/device.py OUT --cache build/bundle/cache --seconds 560 --parts info,kernels,variants,throughput,single,arms,training,profile,sanitizer
  bench/device.py OUT --cache build/bundle/cache --seconds 560 --parts info,examples --single
A call goes on where the last one ended if it is repeated with OUT. Where each begins with an empty OUT, take --skip: so many
examples are done already.
"""

import argparse
import concurrent.futures
import contextlib
import ctypes
import datetime
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import threading
import time

import device_examples
from device_models import MEASURED, MODELS, ROOT, STEP, model_of, push

HERE = pathlib.Path(__file__).resolve()
PARTS = ["info", "kernels", "variants", "throughput", "single", "arms", "training", "profile", "sanitizer", "examples"]
PEAK = 34e12  # operations of double precision a second of an H200, data sheet, without tensor cores

# ---- tasks, each in its own process -------------------------------------------------------------


class Task:
    """A task: its options, and rows() for its results."""

    def __init__(self, options):
        self.device, self.small, self.name = options["device"], options["small"], options["name"]
        self.precision, self.architecture = options.get("precision", "double"), options.get("architecture")
        self.options, self.kind = options, options.get("kernels", "full")
        os.environ["SINEW_NVRTC_OPTIONS"] = KINDS[self.kind]
        self.robots = options.get("robots") or [100, 1000, 10_000, 100_000, 1_000_000]

    def batch(self, model, n):
        import sinew

        return sinew.Batch(model, n, device=self.device, **self.how())

    def how(self):
        more = {} if self.precision == "double" else {"precision": self.precision}
        return more | {"kernels": "quick" if self.kind.startswith("quick") else "full"}

    def kernels(self):
        import sinew

        began = time.perf_counter()
        if self.architecture:
            sinew.compile_kernels(model_of(self.name), self.architecture, **self.how())
        else:
            self.batch(model_of(self.name), 1)
        used = os.times()
        yield {"seconds": time.perf_counter() - began, "processor seconds": used.user + used.system}

    def throughput(self):
        model, step, count = model_of(self.name), STEP.get(self.name, 1e-2), 2 if self.small else 10 if self.options["part"] == "variants" else 20
        rate = 0.0
        for n in [2, 5] if self.small else self.robots:
            if rate and 4 * n * count / rate > (10 if len(self.robots) == 1 else 30):
                count = max(2, count // 4)  # fewer steps
            if rate and 4 * n * count / rate > 40:
                continue
            for account in (True, False):
                batch = self.batch(model, n)
                push(batch, 0.2 if self.name.startswith(("rod", "tendon")) else 0.0)
                batch.start(step, account=account)
                batch.step(count=count if self.small else WARM)
                batch.wait()
                before, began = batch.counts, time.perf_counter()
                batch.step(count=count)
                batch.wait()
                seconds, after = time.perf_counter() - began, batch.counts
                steps = n * count
                rate = max(rate, steps / seconds)
                yield {"robots": n, "account": account, "step": step, "steps/s": steps / seconds, "simulated s/s": steps / seconds * step,
                       "iterations": (after["iterations"] - before["iterations"]) / steps,
                       "matrices": (after["matrices"] - before["matrices"]) / steps, "failed": after["failed"],
                       "bytes": batch.bytes / n, "seconds": seconds, "precision": self.precision}  # fmt: skip
                del batch

    def cores(self):
        """Steps a second on cores of the host, in packs."""
        import sinew

        model, step = model_of(self.name), STEP.get(self.name, 1e-2)
        for threads in (1, os.cpu_count()):
            batch = sinew.Batch(model, (4 if self.small else 64) * threads, threads=threads)
            push(batch, 0.2 if self.name.startswith(("rod", "tendon")) else 0.0)
            batch.start(step)
            batch.step(count=2)
            best, end = float("inf"), time.monotonic() + (0.1 if self.small else 2)
            while time.monotonic() < end:
                began = time.perf_counter()
                batch.step(count=5)
                best = min(best, time.perf_counter() - began)
            yield {"threads": threads, "steps/s": batch.n * 5 / best, "engine": batch.engine()[0], "failed": int(batch.failed.sum())}

    def arms(self):
        """256 arms swing for 1 s; the error of the tips against those of the shortest steps, which come first."""
        import numpy as np

        model, n, length = model_of(self.name), 3 if self.small else 256, 0.02 if self.small else 1.0
        reference, shortest = None, 1e-4 if "PCS" in self.name else 2.5e-4
        for step in [2e-3, 1e-2, 5e-3] if self.small else [shortest, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4]:
            batch = self.batch(model, n)
            push(batch, 0.2)
            nodes = batch.points([-1])
            batch.start(step)
            batch.step(count=1)
            batch.wait()
            count, began = round(length / step), time.perf_counter()
            batch.step(count=count - 1)
            batch.wait()
            seconds = time.perf_counter() - began
            batch.update_points()
            tips, speed = nodes.get(), (count - 1) * step / seconds
            reference = tips if reference is None else reference
            yield {"step": step, "robots": n, "simulated s/s": speed, "robot seconds/s": n * speed,
                   "error": float(np.abs(tips - reference).max() / 0.3), "failed": int(batch.failed.sum())}  # fmt: skip

    def training(self):
        size = ["4", "1", "2"] if self.small else ["8192", "6", "250"]
        began = time.perf_counter()
        command = [sys.executable, str(ROOT / "examples/python/device_reach.py"), self.device, *size]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            for line in child.stdout:
                yield {"seconds": time.perf_counter() - began, "line": line.rstrip()}
        if child.returncode:
            raise RuntimeError(f"device_reach.py ended with {child.returncode}")

    def profile(self):
        """Operations of double precision in a step of a robot: a fused one is two."""
        tool = shutil.which("ncu")
        if not tool or self.device == "host":
            yield {"absent": "ncu" if not tool else "a graphics processor"}
            return
        kinds = {"dadd": 1, "dmul": 1, "dfma": 2}
        metrics = ",".join(f"smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum" for kind in kinds)
        command = [tool, "--csv", "--metrics", metrics, "-k", "snw_steps", "-s", "1", "-c", "1", *self.once(self.robots[0])]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        sums = {}
        for line in out.splitlines():
            for kind in kinds:
                if f"op_{kind}_pred" in line:
                    sums[kind] = float(line.rstrip('"').rsplit('"', 1)[-1].replace(",", ""))
        yield {"operations": sum(kinds[kind] * sums[kind] for kind in kinds) / (self.robots[0] * ONCE_STEPS)}

    def once(self, robots):
        options = json.dumps({"part": "once", "device": self.device, "small": self.small, "name": self.name, "kernels": self.kind,
                              "robots": [robots]})  # fmt: skip
        return [sys.executable, str(HERE), "--task", options]

    def once_rows(self):
        batch = self.batch(model_of(self.name), self.robots[0])
        push(batch, 0.2 if self.name.startswith(("rod", "tendon", "tree")) else 0.0)
        batch.start(STEP.get(self.name, 1e-2), account=False)
        for _ in range(2):
            batch.step(count=ONCE_STEPS)
        batch.reset(failed=True)
        batch.update_points() if batch.points([-1]) else None
        batch.wait()
        yield {"failed": int(batch.failed.sum())}

    def sanitizer(self):
        tool = shutil.which("compute-sanitizer")
        if not tool or self.device == "host":
            yield {"absent": "compute-sanitizer" if not tool else "a graphics processor"}
            return
        done = subprocess.run([tool, "--error-exitcode", "9", *self.once(CHECKED)], capture_output=True, text=True)
        yield {"status": done.returncode, "last": (done.stdout + done.stderr).strip().splitlines()[-1:]}

    def variants(self):
        """Steps a second of one number of robots."""
        yield from self.throughput()

    def alone(self):
        yield from device_examples.alone(self.name, self.options["folder"], self.options["count"], self.options["tolerance"])

    def together(self):
        device_examples.together(self.options["jobs"], self.options)
        yield from ()


# robots of kernels that are compared, and profiled: so many that no threads share one and do its corrections alike
VARIED = {"rod 9 x 21": 131_072, "rod 36 x 21": 65_536, "tendon arm": 131_072, "soft gripper": 100_000, "snake on ground": 100_000, "3-RFR": 20_000}
# kinds of kernels, and their further options; "quick" has NVRTC's --Ofast-compile=min and the second of "mid" already
KINDS = {"full": "", "quick": "", "mid": "--Ofast-compile=mid -Dinline=__forceinline__"}
WARM = 20  # steps before those that are measured: a start limits the first ones
SINGLE, ARMS = ["rod 9 x 21", "rod 36 x 21", "tendon arm"], ["arm PCS 6", "arm GVS 36"]
ONCE_STEPS, CHECKED = 4, 4096  # of a call that is profiled or checked, and its robots where it is checked


def do_task(options):
    """Rows of the task as lines of JSON."""
    task = Task(options)
    rows = {"once": task.once_rows}.get(options["part"]) or getattr(task, options["part"])
    try:
        for row in rows():
            print(json.dumps(row), flush=True)
    except Exception as failure:  # the reason belongs into the table
        print(json.dumps({"refused": f"{type(failure).__name__}: {str(failure)[:300]}"}), flush=True)


KEY = ("part", "name", "precision", "kernels")  # of a task

# ---- the call -----------------------------------------------------------------------------------


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def architecture():
    """Of the processor: sm_90."""
    capability = output_of("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader").splitlines()
    return f"sm_{capability[0].strip().replace('.', '')}" if capability else "sm_90"


def compiler_version():
    for name in [os.environ.get("SINEW_NVRTC", ""), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        with contextlib.suppress(OSError):
            if name and ctypes.CDLL(name).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0:
                return f"NVRTC {major.value}.{minor.value}"
    return "no NVRTC"


def info():
    asked = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,memory.total,power.draw"
    cpu = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "commit": output_of("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"),
            "changed": bool(output_of("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")),
            "processor": output_of("nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader") or "none", "columns": asked,
            "compiler": compiler_version(), "host": cpu[0] if cpu else "", "cores": os.cpu_count(), "load": os.getloadavg()[0]}  # fmt: skip


class Call:
    def __init__(self, args):
        self.args, self.end = args, time.monotonic() + args.seconds
        self.out = pathlib.Path(args.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.cache = pathlib.Path(args.cache or self.out / "cache").resolve()
        self.lock = threading.Lock()
        self.rows_path = self.out / "rows.jsonl"
        self.rows = [json.loads(line) for line in self.rows_path.read_text().splitlines()] if self.rows_path.exists() else []
        self.done = {tuple(r[key] for key in KEY) for r in self.rows if r.get("end")}

    def write(self, row):
        with self.lock, self.rows_path.open("a") as f:
            self.rows.append(row)
            f.write(json.dumps(row) + "\n")

    def left(self):
        return self.end - time.monotonic()

    def child(self, options, limit, take):
        """A task in a process: take(row) gets its rows as they come. Why it ended: "", its status, or its time."""
        environment = os.environ | {"XDG_CACHE_HOME": str(self.cache), "CUDA_DEVICE_MAX_CONNECTIONS": "32", "CUDA_MODULE_LOADING": "EAGER"}
        child = subprocess.Popen([sys.executable, str(HERE), "--task", json.dumps(options)], stdout=subprocess.PIPE, env=environment)
        clock = threading.Timer(max(0.1, limit), child.kill)
        clock.start()
        for line in child.stdout:
            with contextlib.suppress(json.JSONDecodeError):  # the last one of a process that was ended
                take(json.loads(line))
        try:
            status = child.wait(20)
        except subprocess.TimeoutExpired:  # its launches are still being ended
            status = None
        late = not clock.is_alive() or status is None
        clock.cancel()
        return "" if status == 0 else "its time ended" if late else f"it ended with {status}"

    def run(self, part, name, precision="double", limit=200.0, kernels="full", spare=0.0, **more):
        """One task in a process, within the time that is left; its rows as they come."""
        key = dict(zip(KEY, (part, name, precision, kernels)))
        left = min(limit, self.left() - spare)
        if tuple(key.values()) in self.done or left < (1 if self.args.small else 10):
            return []  # it has been done, or is left to the next call
        robots = [int(n) for n in self.args.robots.split(",")] if self.args.robots else None
        options = key | {"device": self.args.device, "small": self.args.small, "architecture": self.args.architecture, "robots": robots}
        rows = []

        def take(row):
            rows.append(row)
            self.write(key | row)

        why = self.child(options | more, left, take)
        self.write(key | {"end": why != "its time ended" or left == limit, "why": why, "at": round(self.args.seconds - self.left(), 1)})
        print(f"{part}: {name}{'' if kernels == 'full' else ', ' + kernels}{'' if precision == 'double' else ', ' + precision}: {why or 'done'}", flush=True)
        return rows

    def all(self, tasks):
        """Tasks, the arguments of run, several at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            return [future.result() for future in [pool.submit(self.run, *task[:-1], **task[-1]) for task in tasks]]

    def names(self):
        found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*/*.yaml"))
        return found[:: len(found) // 3] if self.args.small else found[self.args.skip :]

    def examples(self):
        """Kernels of all, several at a time; then all motions on the device, beside robots alone."""
        done = {(name, precision) for part, name, precision, _ in self.done if part == "examples"}
        precisions = ["double", "single"] if self.args.single else ["double"]
        jobs = [[name, precision] for precision in precisions for name in self.names() if (name, precision) not in done]
        spare = 3 if self.args.small else 25  # s, to compare and to write
        if self.left() < 2 * spare:
            return
        count = 5 if self.args.small else self.args.count
        options = {"count": count, "tolerance": self.args.tolerance, "folder": tempfile.mkdtemp(prefix="sinew-motions-"), "cache": str(self.cache)}
        if self.args.device != "host":
            how = {"kernels": "quick", "architecture": self.args.architecture or architecture(), "limit": 120, "spare": 120}
            rows = self.all([("kernels", *job, how) for job in jobs])
            for job, found in zip(jobs, rows):
                for row in found:
                    if "refused" in row:
                        self.tell_example(job, row, True)
            jobs = [job for job, found in zip(jobs, rows) if any("seconds" in row for row in found)]
        print(f"examples: {len(jobs)} motions from {self.args.seconds - self.left():.0f} s on", flush=True)
        pool = concurrent.futures.ThreadPoolExecutor(max(1, self.args.jobs - 1))
        with pool:
            alone = {name: pool.submit(self.run, "alone", name, limit=0.3 * self.args.seconds, spare=spare - 2, **options)
                     for name in dict.fromkeys(name for name, _ in jobs)}  # fmt: skip
            motions = self.motions(jobs, options, spare)
            concurrent.futures.wait(alone.values())
        reasons = {name: row.get("alone failed") or {"all": row["refused"]} if "refused" in row else {}
                   for name, found in alone.items() for row in found.result()}  # fmt: skip
        for job in jobs:
            row = dict(motions.get(tuple(job), {"refused": "its kernels stopped the processor, or were not started"}))
            if "refused" not in row:
                row |= device_examples.difference(options["folder"], *job) | {"alone failed": reasons.get(job[0]) or {}}
            self.tell_example(job, row, row.pop("ended", "refused" in row))
        shutil.rmtree(options["folder"])

    def tell_example(self, job, row, ended):
        key = dict(zip(KEY, ("examples", *job, "quick")))
        self.write(row | key)
        self.write(key | {"end": ended, "why": "" if ended else "its time ended"})

    def motions(self, jobs, options, spare):
        """Rows of the motions by [name, precision]; where one of them stops the processor, the rest in halves."""
        found = {}

        def take(row):
            if "name" in row:
                found[row["name"], row["precision"]] = row
            else:
                self.write({"part": "together", "name": ""} | row)

        seconds = self.left() - spare
        if seconds < spare or not jobs:
            return found
        why = self.child(options | {"part": "together", "name": "", "device": self.args.device, "small": self.args.small, "jobs": jobs,
                                    "seconds": seconds}, seconds + 10, take)  # fmt: skip
        print(f"examples: {len(found)} of {len(jobs)} motions on the device: {why or 'done'}", flush=True)
        missing = [job for job in jobs if not found.get(tuple(job), {}).get("ended") and "refused" not in found.get(tuple(job), {})]
        missing += [job for job in jobs if re.search(device_examples.FATAL, found.get(tuple(job), {}).get("refused", ""))]
        if why and why != "its time ended" and len(missing) > 1:
            half = len(missing) // 2
            found |= self.motions(missing[:half], options, spare) | self.motions(missing[half:], options, spare)
        return found

    def part(self, part):
        measured = ["rod 9 x 21", "tendon arm", "soft gripper"] if self.args.small else MEASURED
        measured = self.args.models.split(",") if self.args.models else measured
        if part == "info":
            self.write({"part": "info", "name": ""} | info())
        elif part == "kernels":
            self.kernels(measured)
        elif part == "variants":
            for name in [name for name in VARIED if name in measured]:
                for kernels in KINDS:
                    if self.args.device == "host" or self.has_kernels(name, kernels):
                        self.run(part, name, limit=60, kernels=kernels, robots=[VARIED[name]])
        elif part == "throughput":
            for name in measured:
                self.run(part, name, kernels=self.best(name))
                self.run("cores", name)
        elif part == "single":
            for name in SINGLE[: 1 if self.args.small else None]:
                self.run("throughput", name, "single")
        elif part == "arms":
            for name in ARMS:
                if not self.args.models or name in measured:
                    self.run(part, name, limit=240, kernels=self.best(name))
        elif part == "training":
            self.run(part, "reach", limit=300)
        elif part == "profile":
            for name in [name for name in VARIED if name in measured][: 1 if self.args.small else None]:
                self.run(part, name, limit=60, robots=[VARIED[name]], kernels=self.best(name))
        elif part == "sanitizer":
            self.run(part, "tree", limit=150, kernels="quick")
        elif part == "examples":
            self.examples()

    def kernels(self, measured):
        """Kernels of the models, those that take longest first."""
        if self.args.device == "host":
            return
        how = {"architecture": self.args.architecture or architecture(), "limit": self.args.compile_seconds}
        full = measured if self.args.models else [*measured, *ARMS]
        varied = [name for name in measured if name in VARIED]
        tasks = [(name, "double", "full") for name in sorted(full, key=lambda name: name in VARIED and not name.startswith("rod"), reverse=True)]
        tasks += [(name, "double", kind) for name in varied for kind in KINDS if kind != "full"]
        tasks += [("tree", "double", "quick")] + [(name, "single", "full") for name in SINGLE if not self.args.models]
        self.all([("kernels", name, precision, how | {"kernels": kind}) for name, precision, kind in tasks])

    def best(self, name):
        """Full kernels, unless only others are there or asked for."""
        if self.args.kernels:
            return self.args.kernels
        return "quick" if self.has_kernels(name, "quick") and not self.has_kernels(name, "full") else "full"

    def has_kernels(self, name, kernels):
        return any(r["part"] == "kernels" and (r["name"], r["precision"], r["kernels"]) == (name, "double", kernels) and "seconds" in r
                   for r in self.rows)  # fmt: skip


# ---- report -------------------------------------------------------------------------------------


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(x) for x in row) + " |" for row in rows]) + "\n\n"


def report(rows):
    def of(part, **want):
        return [r for r in rows if r["part"] == part and "end" not in r and all(r.get(k) == v for k, v in want.items())]

    text = "# Batches on a graphics processor, measured\n\n"
    for row in of("info"):
        text += f"{row['date']}, commit {row['commit']}{' (changed)' if row['changed'] else ''}; {row['processor']} ({row['columns']}); " \
                f"{row['compiler']}; host {row['host']}, {row['cores']} cores, load {row['load']:.1f}\n\n"  # fmt: skip
    cores = {(r["name"], r["threads"]): r["steps/s"] for r in of("cores") if "threads" in r}
    operations = {r["name"]: r["operations"] for r in of("profile") if "operations" in r}
    most = max((threads for _, threads in cores), default=0)
    lines = []
    for r in of("throughput"):
        if "refused" in r:
            lines.append([r["name"], r["refused"], *[""] * 9])
            continue
        one, all_cores = cores.get((r["name"], 1)), cores.get((r["name"], most))
        peak = f"{100 * operations[r['name']] * r['steps/s'] / PEAK:.0f} %" if r["name"] in operations and not r["account"] else ""
        lines.append([r["name"] + (", quick" if r["kernels"] == "quick" else ""), r["precision"], r["robots"], "with" if r["account"] else "without", f"{r['steps/s']:.3g}",
                      f"{r['simulated s/s']:.3g}", f"{r['iterations']:.2f}", r["failed"], f"{r['bytes']:.0f}", peak,
                      " / ".join(f"{r['steps/s'] / x:.3g}" if x else "" for x in (one, all_cores))])  # fmt: skip
    text += "## Throughput\n\n" + table(["model", "precision", "robots", "account", "steps/s", "simulated s/s", "iterations", "failed", "bytes a robot", "of FP64 peak",
                                        f"times one core / {most} cores"], lines)  # fmt: skip
    rate = {(r["name"], r["kernels"], r["account"]): r["steps/s"] for r in of("variants") if "steps/s" in r}
    text += "## Kernels\n\n" + table(["model", "kernels", "precision", "processor seconds of their compilation", "steps/s with account", "without", "of full ones"],
        [[r["name"], r["kernels"], r["precision"], f"{r['processor seconds']:.1f}", *(f"{rate[r['name'], r['kernels'], account]:.3g}" if (r["name"], r["kernels"], account) in rate else "" for account in (True, False)),
          f"{rate[r['name'], r['kernels'], False] / rate[r['name'], 'full', False]:.3g}" if all((r["name"], kind, False) in rate for kind in (r["kernels"], "full")) else ""]
         for r in of("kernels") if "processor seconds" in r and r["name"] in MODELS])  # fmt: skip
    times = sorted(r["processor seconds"] for r in of("kernels", kernels="quick") if "processor seconds" in r and r["name"] not in MODELS)
    if times:
        text += f"Quick kernels of {len(times)} examples: {times[0]:.1f} to {times[-1]:.1f} s of a core, median {times[len(times) // 2]:.1f}, {sum(times):.0f} in all\n\n"
    text += "## 256 soft arms\n\n" + table(["arm", "step, ms", "simulated s/s", "robot seconds/s", "error of the tip, lengths", "failed"],
        [[r["name"], 1e3 * r["step"], f"{r['simulated s/s']:.3g}", f"{r['robot seconds/s']:.3g}", f"{r['error']:.2g}", r["failed"]]
         if "step" in r else [r["name"], r.get("refused", ""), "", "", "", ""] for r in of("arms")])  # fmt: skip
    text += "## Training\n\n" + "".join(f"    {r['seconds']:7.1f} s  {r['line']}\n" for r in of("training") if "line" in r) + "\n"
    for r in of("sanitizer"):
        result = f"not run: no {r['absent']}" if "absent" in r else r.get("refused") or f"status {r['status']}, {' '.join(r['last'])}"
        text += f"compute-sanitizer: {result}\n\n"
    text += "## Examples against robots alone\n\n"
    found = [r for r in of("examples") if "refused" not in r]
    for precision in ("double", "single"):
        ends = [r["difference"] / (1 if precision == "double" else r["of"] or 1) for r in found if r["precision"] == precision and "difference" in r]
        bounds = [1e-12, 1e-11, 1e-10, 1e-9] if precision == "double" else [1e-5, 1e-4, 1e-3, 1e-2]
        if ends:
            text += f"{precision}: {len(ends)} motions, " + ", ".join(f"{sum(x < bound for x in ends)} below {bound:g}" for bound in bounds) + "\n\n"
    for r in of("together"):
        text += f"{json.dumps({key: value for key, value in r.items() if key != 'part'})}\n\n"
    text += table(["example", "precision", "steps", "largest difference", "of", "of a robot alone from itself, last digits of its start changed", "device s", "remarks"],
        [[r["name"], r["precision"], r.get("steps", 0), f"{r['difference']:.1e}" if "difference" in r else "", f"{r['of']:.3g}" if "of" in r else "",
          f"{r['own']:.1e}" if r.get("own") is not None else "", f"{r.get('seconds', 0):.1f}",
          "; ".join([f"robot {i}: {x}" for i, x in r.get("failed", {}).items()] + [f"robot {i} alone: {x}" for i, x in r["alone failed"].items()])]
         for r in sorted(found, key=lambda r: -r.get("difference", 1e9))])  # fmt: skip
    refused = [r for r in of("examples") if "refused" in r and "single precision serves" not in r["refused"]]
    text += "### Refused\n\n" + table(["example", "precision", "reason"], [[r["name"], r["precision"], r["refused"]] for r in refused])
    ended = [f"{r['part']} {r['name']}: {r['why']}" for r in rows if r.get("why")]
    return text + ("Tasks that did not end: " + "; ".join(ended) + "\n" if ended else "")


# what the module of cffi for another Python is compiled from, beside the package in the bundle
BACKEND = "_cffi_backend"


def backend_sources(folder, archive):
    """backend/ in the bundle: sources of the module, and libffi with its headers."""
    to = folder / "backend"
    with tarfile.open(archive) as files:
        for member in files.getmembers():
            found = re.fullmatch(r"[^/]+/(?:src/)?(c/\w+\.[ch]|cffi/\w+\.h)", member.name)
            if found:
                (to / found[1]).parent.mkdir(parents=True, exist_ok=True)
                (to / found[1]).write_bytes(files.extractfile(member).read())
    include = pathlib.Path("/usr/include") / output_of("gcc", "-print-multiarch")
    for path in (include / "ffi.h", include / "ffitarget.h", pathlib.Path(output_of("gcc", "-print-file-name=libffi_pic.a"))):
        shutil.copy(path, to)


def compile_backend(folder):
    """The module of cffi that the package needs, for the Python that runs this, into the bundle."""
    to = folder / (BACKEND + sysconfig.get_config_var("EXT_SUFFIX"))
    subprocess.run(["gcc", "-O2", "-w", "-shared", "-fPIC", "-DHAVE_SYNC_SYNCHRONIZE", "-DUSE__THREAD", f"-I{sysconfig.get_path('include')}",
                    f"-I{folder / 'backend'}", str(folder / "backend/c" / f"{BACKEND}.c"), "-o", str(to), str(folder / "backend/libffi_pic.a"), "-lpthread"],
                   check=True)  # fmt: skip
    print(to)


def need_backend():
    """Compiles it where the bundle that Python finds has its sources and Python has no cffi."""
    bundles = [pathlib.Path(path) for path in sys.path if (pathlib.Path(path) / "backend/c" / f"{BACKEND}.c").exists()]
    if bundles and not importlib.util.find_spec(BACKEND):
        compile_backend(bundles[0])


def bundle(folder):
    """The package, and the shared libraries that it needs apart from those of every system."""
    import sinew

    package = pathlib.Path(sinew.__file__).parent
    shutil.copytree(package, folder / "sinew", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "lib").mkdir(exist_ok=True)
    everywhere = ("ld-linux", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libresolv.", "libgcc_s.", "libstdc++.")
    for line in output_of("ldd", str(next(package.glob("_sinew*.so")))).splitlines():
        name, _, path = line.strip().partition(" => ")
        if path.startswith("/") and not name.startswith(everywhere):
            shutil.copy(path.split(" (")[0], folder / "lib" / name)
    subprocess.run(["strip", "--strip-unneeded", *folder.rglob("*.so*")], check=True)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", help="folder of the results")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=560, help="time of this call")
    parser.add_argument("--parts", default=",".join(PARTS), help="parts to do, %(default)s")
    parser.add_argument("--models", help="names of the models to measure, separated by commas; all of the list unless given")
    parser.add_argument("--robots", help="numbers of robots to measure, separated by commas; 100 to 1000000 unless given")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2), help="kernels and examples at a time")
    parser.add_argument("--kernels", choices=["full", "quick"], help="of throughput, arms and profile; full ones unless only others have been made")
    parser.add_argument("--compile-seconds", type=float, default=400, help="most for the kernels of a model, %(default)s")
    parser.add_argument("--architecture", help="compile kernels for it, sm_90, without a processor")
    parser.add_argument("--cache", help="folder of the kernels, OUT/cache unless given")
    parser.add_argument("--count", type=int, default=device_examples.COUNT, help="steps of 2 ms of the examples, %(default)s")
    parser.add_argument("--tolerance", type=float, default=1e-14, help="of Newton's method in motions of the examples, %(default)s")
    parser.add_argument("--skip", type=int, default=0, help="examples that are left out, from the first on")
    parser.add_argument("--bundle", help="write the package and its libraries to this folder, and end")
    parser.add_argument("--cffi", help="archive with the sources of cffi, which go into the bundle")
    parser.add_argument("--backend", help="compile the module of cffi for this Python in a bundle, and end")
    parser.add_argument("--small", action="store_true", help="few robots and steps, to try it")
    parser.add_argument("--single", action="store_true", help="examples in single precision, too")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.task:
        do_task(json.loads(args.task))
        return
    if args.bundle:
        bundle(pathlib.Path(args.bundle))
        if args.cffi:
            backend_sources(pathlib.Path(args.bundle), args.cffi)
        return
    if args.backend:
        compile_backend(pathlib.Path(args.backend))
        return
    if not args.out:
        parser.error("name the folder of the results")
    wrong = [part for part in args.parts.split(",") if part not in PARTS]
    if wrong:
        parser.error(f"there is no part '{wrong[0]}'; there are {', '.join(PARTS)}")
    need_backend()
    call = Call(args)
    try:
        for part in args.parts.split(","):
            call.part(part)
    finally:
        (call.out / "report.txt").write_text(report(call.rows))
        print(f"{call.out}/report.txt")


if __name__ == "__main__":
    main()
