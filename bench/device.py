#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All measurements of batches on a graphics processor, in calls of some ten minutes: bench/device.py OUT [options].

Each task runs in a process of its own and appends its rows to OUT/rows.jsonl as it goes, so that a call that ends, by its
time or by a fault, keeps what it has; the next call goes on with the tasks that are missing. OUT/report.txt has the tables.
Parts, in this order:
  info        date, commit, processor, driver, compiler, clocks, host
  kernels     kernels of all models below, several at a time, kept in OUT/cache
  throughput  rods of 6 to 36 coordinates and 11 to 41 nodes, tendon arm, soft gripper, 3-RFR robot, snake on ground, 1e2 to 1e6
              robots; the same on one core and on all cores of the host
  arms        256 soft arms of 6 and 36 coordinates: simulated seconds a second, and the error, over the step
  training    examples/python/device_reach.py
  profile     operations of double precision in a step, by ncu if it is there, for the fraction of the peak
  sanitizer   compute-sanitizer on a tree with joints, tendons and laws, if it is there
  examples    motions over 1 s of all examples against robots alone, or why they are refused

Where sinew is built, a machine with NVRTC and without a processor will do:
  cmake --preset bench && cmake --build --preset bench --target python_package
  export PYTHONPATH=build/bench/python
  bench/device.py build/try --device host --small            tries all of it by the program on the host
  bench/device.py --bundle build/bundle                      the package with the libraries that it needs
  bench/device.py build/compiled --architecture sm_90 --parts kernels --cache build/bundle/cache --seconds 3600
  tar czf build/bundle.tgz -C build bundle                   some 60 MB before, 25 packed
These kernels, 2 MB each, take a minute or more of one core, and are used where the text of the library is the same. On the
machine with the processor, whose Python has numpy, cffi and PyTorch, in a checkout with this file:
  tar xzf build/bundle.tgz -C build
  export PYTHONPATH=build/bundle LD_LIBRARY_PATH=build/bundle/lib
  bench/device.py OUT --cache build/bundle/cache --seconds 560 --parts info,throughput,arms,training,profile,sanitizer --single
  bench/device.py OUT --cache build/bundle/cache --seconds 560 --parts info,examples
The second call compiles kernels of the examples, a minute of a core each, and goes on where it ended if it is repeated with
OUT. Where each call begins with an empty OUT, take --skip: so many examples are done already.
"""

import argparse
import concurrent.futures
import contextlib
import ctypes
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parent.parent
PARTS = ["info", "kernels", "throughput", "arms", "training", "profile", "sanitizer", "examples"]
PEAK = 34e12  # operations of double precision a second of an H200, data sheet, without tensor cores

HEAD = """sinew: 1
materials: {silicone: {young: 1 MPa, poisson: 0.48, density: 1070 kg/m^3, damping: 20 ms}}
robot:
  arm: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: silicone, nodes: NODES, strain: STRAIN}}
"""
TENDONS = """actuators:
  cord(k=1..4): {tendon: {along: arm, at: [0, 8 mm*cos(90 deg*k), 8 mm*sin(90 deg*k)]}, effort: 0.2 N*(1 + sin(20*t + k))}
"""
TREE = """sinew: 1
materials: {silicone: {young: 1 MPa, poisson: 0.48, density: 1070 kg/m^3, damping: 20 ms}}
robot:
  base: {on: world, joint: free, body: {mass: 0.2, box: [5 cm, 5 cm, 5 cm]}}
  hip: {on: base, joint: spherical, stiffness: 0.1 N*m, damping: 1 mN*m*s, body: {mass: 0.1, box: [4 cm, 5 cm, 5 cm]}}
  arm: {on: hip, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: silicone, nodes: 6, strain: kirchhoff legendre 2}}
  knee: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.1 N*m, body: {mass: 0.05, box: [3 cm, 3 cm, 3 cm]}}
probes: {turn: {angle: knee}, tip: {position: knee}}
loads: {push: {on: knee, force: [0, 0.1 N*sin(20*t), -0.1 N*turn]}}
actuators: {pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.2 N*sin(30*t)}}
"""


def rod(functions, nodes):
    return HEAD.replace("NODES", str(nodes)).replace("STRAIN", f"kirchhoff legendre {functions}")


MODELS = {f"rod {3 * f} x {nodes}": rod(f, nodes) for f in (3, 12, 2, 6) for nodes in (21, 11, 41)}
MODELS |= {"tendon arm": rod(3, 21) + TENDONS, "soft gripper": "examples/contact/gripper.yaml",
           "3-RFR": "examples/workspace/three_rfr.yaml", "snake on ground": "examples/locomotion/snake_ground.yaml",
           "tree": TREE,
           "arm PCS 6": HEAD.replace("NODES", "21").replace("STRAIN", "cosserat legendre 1"),
           "arm GVS 36": HEAD.replace("NODES", "41").replace("STRAIN", "cosserat legendre 6")}  # fmt: skip
MEASURED = [name for name in MODELS if name != "tree" and not name.startswith("arm ")]
STEP = {"3-RFR": 5e-3, "snake on ground": 1e-3, "soft gripper": 1e-3}  # s; others 10 ms

# ---- tasks, each in its own process -------------------------------------------------------------


def model_of(name):
    import sinew

    text = MODELS.get(name, name)
    return sinew.Model(text=text) if text.startswith("sinew:") else sinew.Model(ROOT / text)


def push(batch, size):
    """Different velocities of all robots but the first."""
    import numpy as np

    i, k = np.arange(batch.n)[:, None], np.arange(batch.nv)[None, :]
    batch.v[:] = size * np.sin(1.7 * i + 2.3 * k + 0.4 * (i % 97) * k) * (i > 0)


class Task:
    """A task: its options, and rows() for its results."""

    def __init__(self, options):
        self.device, self.small, self.name = options["device"], options["small"], options["name"]
        self.precision, self.architecture = options.get("precision", "double"), options.get("architecture")
        self.robots = options.get("robots") or [100, 1000, 10_000, 100_000, 1_000_000]

    def batch(self, model, n):
        import sinew

        more = {} if self.precision == "double" else {"precision": self.precision}
        return sinew.Batch(model, n, device=self.device, **more)

    def kernels(self):
        import sinew

        began = time.perf_counter()
        if self.architecture:
            sinew.compile_kernels(model_of(self.name), self.architecture, precision=self.precision)
        else:
            self.batch(model_of(self.name), 1)
        yield {"seconds": time.perf_counter() - began}

    def throughput(self):
        model, step, count = model_of(self.name), STEP.get(self.name, 1e-2), 2 if self.small else 20
        rate = 0.0
        for n in [2, 5] if self.small else self.robots:
            if rate and 4 * n * count / rate > 60:
                continue  # it would take more than a minute
            for account in (True, False):
                batch = self.batch(model, n)
                push(batch, 0.2 if self.name.startswith(("rod", "tendon")) else 0.0)
                batch.start(step, account=account)
                batch.step(count=count)
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
        """256 arms swing for 1 s; the error of the tips against steps of 0.1 ms."""
        import numpy as np

        model, n, length = model_of(self.name), 3 if self.small else 256, 0.02 if self.small else 1.0
        tips, rows = {}, []
        for step in [2e-3, 1e-2, 5e-3] if self.small else [1e-4, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4]:
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
            tips[step] = nodes.get()
            rows.append((step, (count - 1) * step / seconds, int(batch.failed.sum())))
        reference = tips[rows[0][0]]
        for step, speed, failed in rows:
            error = np.abs(tips[step] - reference).max() / 0.3
            yield {"step": step, "robots": n, "simulated s/s": speed, "robot seconds/s": n * speed, "error": float(error), "failed": failed}

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
        command = [tool, "--csv", "--metrics", metrics, "-k", "snw_steps", "-s", "1", "-c", "1", *self.once(PROFILED)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        sums = {}
        for line in out.splitlines():
            for kind in kinds:
                if f"op_{kind}_pred" in line:
                    sums[kind] = float(line.rstrip('"').rsplit('"', 1)[-1].replace(",", ""))
        yield {"operations": sum(kinds[kind] * sums[kind] for kind in kinds) / (PROFILED * ONCE_STEPS)}

    def once(self, robots):
        options = json.dumps({"part": "once", "device": self.device, "small": self.small, "name": self.name, "robots": [robots]})
        return [sys.executable, str(HERE), "--task", options]

    def once_rows(self):
        batch = self.batch(model_of(self.name), self.robots[0])
        push(batch, 0.2)
        batch.start(1e-2, account=False)
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

    def examples(self):
        """Three robots of the example, two of them pushed, against robots alone."""
        import numpy as np

        import sinew

        step, count = 2e-3, 5 if self.small else 500
        tolerance = {"tolerance": 1e-12} if self.precision == "double" else {}
        model = model_of(self.name)
        batch = self.batch(model, 3)
        push(batch, 0.02)
        start = batch.v.get()
        batch.start(step, **tolerance)
        batch.step(count=count)
        q, errors, worst, failed = batch.q.get(), batch.errors, 0.0, {}
        for i in range(batch.n):
            robot = sinew.Robot(model)
            robot.v[:] = start[i]
            try:
                robot.simulate(step, tolerance=1e-12).step(count=count)
            except sinew.Error as failure:
                failed[i] = str(failure)[:200]
                continue
            if i not in errors:
                worst = max(worst, float(np.abs(q[i] - robot.q).max(initial=0)))
        yield {"difference": worst, "of": float(np.abs(q).max(initial=0)), "failed": errors, "alone failed": failed, "precision": self.precision}


# robots of a call that is profiled, so many that no threads share one and do its corrections alike; and of one that is checked
PROFILED, CHECKED = 131_072, 4096
ONCE_STEPS = 4


def do_task(options):
    """Rows of the task as lines of JSON."""
    task = Task(options)
    rows = {"once": task.once_rows}.get(options["part"]) or getattr(task, options["part"])
    try:
        for row in rows():
            print(json.dumps(row), flush=True)
    except Exception as failure:  # the reason belongs into the table
        print(json.dumps({"refused": f"{type(failure).__name__}: {str(failure)[:300]}"}), flush=True)


# ---- the call -----------------------------------------------------------------------------------


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


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
        self.rows_path = self.out / "rows.jsonl"
        self.rows = [json.loads(line) for line in self.rows_path.read_text().splitlines()] if self.rows_path.exists() else []
        self.done = {(r["part"], r["name"], r.get("precision", "double")) for r in self.rows if r.get("end")}

    def write(self, row):
        self.rows.append(row)
        with self.rows_path.open("a") as f:
            f.write(json.dumps(row) + "\n")

    def run(self, part, name, precision="double", limit=200.0):
        """One task in a process, within the time that is left; its rows as they come."""
        key = {"part": part, "name": name, "precision": precision}
        left = min(limit, self.end - time.monotonic())
        if tuple(key.values()) in self.done or left < (1 if self.args.small else 10):
            return  # it has been done, or is left to the next call
        options = json.dumps(key | {"device": self.args.device, "small": self.args.small, "architecture": self.args.architecture,
                                    "robots": [int(n) for n in self.args.robots.split(",")] if self.args.robots else None})  # fmt: skip
        environment = os.environ | {"XDG_CACHE_HOME": str(pathlib.Path(self.args.cache or self.out / "cache").resolve())}
        path = self.out / f"task-{os.getpid()}-{abs(hash(options))}"
        with path.open("w") as f:
            child = subprocess.Popen([sys.executable, str(HERE), "--task", options], stdout=f, env=environment)
        try:
            status = child.wait(left)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            status = None
        rows = []
        for line in path.read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):  # the last one of a process that was ended
                rows.append(json.loads(line))
        path.unlink()
        for row in rows:
            self.write(key | row)
        ended = "" if status == 0 else "its time ended" if status is None else f"it ended with {status}"
        at_limit = status is not None or left == limit
        self.write(key | {"end": at_limit, "why": ended, "at": round(time.monotonic() - self.end + self.args.seconds, 1)})
        print(f"{part}: {name}: {ended or 'done'}", flush=True)

    def together(self, part, names, precision="double", limit=400.0):
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(lambda name: self.run(part, name, precision, limit), names))

    def examples(self):
        found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*/*.yaml"))
        return found[:: len(found) // 3] if self.args.small else found[self.args.skip :]

    def part(self, part):
        measured = ["rod 9 x 21", "tendon arm", "soft gripper"] if self.args.small else MEASURED
        measured = self.args.models.split(",") if self.args.models else measured
        if part == "info":
            self.write({"part": "info", "name": ""} | info())
        elif part == "kernels":
            names = [*measured, "tree", "arm PCS 6", "arm GVS 36"] if self.args.device != "host" else []
            names += self.examples() if self.args.examples else []
            self.together(part, names)
            if self.args.single and names:
                self.together(part, ["rod 9 x 21", "rod 36 x 21"], "single")
        elif part == "throughput":
            for name in measured:
                self.run(part, name)
                self.run("cores", name)
            if self.args.single:
                self.run(part, "rod 9 x 21", "single")
                self.run(part, "rod 36 x 21", "single")
        elif part == "arms":
            self.run(part, "arm PCS 6", limit=120)
            self.run(part, "arm GVS 36", limit=240)
        elif part == "training":
            self.run(part, "reach", limit=300)
        elif part == "profile":
            for name in measured[: 1 if self.args.small else 4]:
                self.run(part, name)
        elif part == "sanitizer":
            self.run(part, "tree", limit=300)
        elif part == "examples":
            self.together(part, self.examples())
            if self.args.single:
                self.together(part, self.examples(), "single")


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
        lines.append([r["name"], r["precision"], r["robots"], "with" if r["account"] else "without", f"{r['steps/s']:.3g}",
                      f"{r['simulated s/s']:.3g}", f"{r['iterations']:.2f}", r["failed"], f"{r['bytes']:.0f}", peak,
                      " / ".join(f"{r['steps/s'] / x:.3g}" if x else "" for x in (one, all_cores))])  # fmt: skip
    text += "## Throughput\n\n" + table(["model", "precision", "robots", "account", "steps/s", "simulated s/s", "iterations", "failed", "bytes a robot", "of FP64 peak",
                                        f"times one core / {most} cores"], lines)  # fmt: skip
    text += "## 256 soft arms\n\n" + table(["arm", "step, ms", "simulated s/s", "robot seconds/s", "error of the tip, lengths", "failed"],
        [[r["name"], 1e3 * r["step"], f"{r['simulated s/s']:.3g}", f"{r['robot seconds/s']:.3g}", f"{r['error']:.2g}", r["failed"]]
         if "step" in r else [r["name"], r.get("refused", ""), "", "", "", ""] for r in of("arms")])  # fmt: skip
    text += "## Training\n\n" + "".join(f"    {r['seconds']:7.1f} s  {r['line']}\n" for r in of("training") if "line" in r) + "\n"
    for r in of("sanitizer"):
        result = f"not run: no {r['absent']}" if "absent" in r else r.get("refused") or f"status {r['status']}, {' '.join(r['last'])}"
        text += f"compute-sanitizer: {result}\n\n"
    text += "## Examples against robots alone\n\n"
    text += table(["example", "precision", "largest difference", "of", "remarks"],
        [[r["name"], r["precision"], f"{r['difference']:.1e}", f"{r['of']:.3g}", "; ".join([f"robot {i}: {x}" for i, x in r["failed"].items()] + [f"robot {i} alone: {x}" for i, x in r["alone failed"].items()])]
         for r in of("examples") if "difference" in r])  # fmt: skip
    text += "### Refused\n\n" + table(["example", "reason"], [[r["name"], r["refused"]] for r in of("examples") if "refused" in r])
    ended = [f"{r['part']} {r['name']}: {r['why']}" for r in rows if r.get("why")]
    return text + ("Tasks that did not end: " + "; ".join(ended) + "\n" if ended else "")


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
    parser.add_argument("--architecture", help="compile kernels for it, sm_90, without a processor")
    parser.add_argument("--cache", help="folder of the kernels, OUT/cache unless given")
    parser.add_argument("--examples", action="store_true", help="kernels of the examples, too")
    parser.add_argument("--skip", type=int, default=0, help="examples that are left out, from the first on")
    parser.add_argument("--bundle", help="write the package and its libraries to this folder, and end")
    parser.add_argument("--small", action="store_true", help="few robots and steps, to try it")
    parser.add_argument("--single", action="store_true", help="some of it in single precision, too")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.task:
        do_task(json.loads(args.task))
        return
    if args.bundle:
        bundle(pathlib.Path(args.bundle))
        return
    if not args.out:
        parser.error("name the folder of the results")
    wrong = [part for part in args.parts.split(",") if part not in PARTS]
    if wrong:
        parser.error(f"there is no part '{wrong[0]}'; there are {', '.join(PARTS)}")
    call = Call(args)
    try:
        for part in args.parts.split(","):
            call.part(part)
    finally:
        (call.out / "report.txt").write_text(report(call.rows))
        print(f"{call.out}/report.txt")


if __name__ == "__main__":
    main()
