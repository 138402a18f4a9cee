#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Work and precision: errors of both engines over the processor time that the command takes.

bench/work_precision.py build/sinew OUT [-n REPETITIONS]

Each run of the models in bench/work_precision is computed by a command of its own, with all else at its
default; its work is the smallest processor time of some repetitions, less that of `sinew --version`. The error is
the distance of a probe from that of run `fine`, of the strain engine with many more functions; the finest run
of the other engine says how far that reference can be trusted. Writes OUT/NAME.svg and OUT/NAME.png by
`sinew plot`, and tables in Markdown to standard output.
"""

import argparse
import json
import pathlib
import resource
import subprocess

HERE = pathlib.Path(__file__).parent / "work_precision"
PROBES = {"follower": "tip.x", "fall": "tip.x", "tendon": "tip.x"}


def processor_time(command):
    """Processor time of a command, s; the parts of user and system are less exact than their sum."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(command, repetitions):
    return min(processor_time(command) for _ in range(repetitions))


def measure(sinew, model, out, repetitions):
    """All runs of a model into one file; the names of the runs with their work in s."""
    results = out / f"{model.stem}.h5"
    start = least([sinew, "--version"], repetitions)
    subprocess.run([sinew, "run", model, "-f", "-q", "-o", results], check=True, stderr=subprocess.DEVNULL)
    listed = subprocess.run([sinew, "show", results, "--json"], check=True, capture_output=True, text=True)
    names = [run["run"] for run in json.loads(listed.stdout)["runs"]]
    works = {}
    for name in names:
        alone = out / "alone.h5"
        works[name] = 1.0
        if name != "fine":
            command = [sinew, "run", model, "--run", name, "-f", "-q", "-o", alone]
            works[name] = least(command, repetitions) - start
    return results, works


def draw(sinew, results, works, probe, out):
    """Figures by `sinew plot`; its table of errors."""
    numbers = "processor time in s=" + ",".join(f"{t:.6g}" for t in works.values())
    command = [sinew, "plot", results, "--convergence", numbers, "--probe", probe, "--against", "fine"]
    for suffix in ("svg", "png"):
        subprocess.run([*command, "--size", "120x80", "-o", out / f"{results.stem}.{suffix}"], check=True,
                       stdout=subprocess.DEVNULL)
    shown = subprocess.run([*command, "--json", "-o", out / f"{results.stem}.svg"], check=True,
                           capture_output=True, text=True)
    return json.loads(shown.stdout)["convergence"]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("sinew", type=pathlib.Path)
    args.add_argument("out", type=pathlib.Path)
    args.add_argument("-n", "--repetitions", type=int, default=7)
    given = args.parse_args()
    sinew = given.sinew.resolve()
    given.out.mkdir(parents=True, exist_ok=True)
    for name, probe in PROBES.items():
        results, works = measure(sinew, HERE / f"{name}.yaml", given.out, given.repetitions)
        print(f"\n| {name} | processor time, s | error of {probe}, m |\n| --- | --- | --- |")
        for row in draw(sinew, results, works, probe, given.out):
            if row["run"] != "fine":
                print(f"| {row['run']} | {works[row['run']]:.3f} | {row[probe]:.2e} |")


if __name__ == "__main__":
    main()
