#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of the kernels of bench/kernels.c, counted by valgrind's callgrind and compared with bench/kernels.txt.

Counts depend on compiler, build and vector units, so that a line of bench/kernels.txt is compared only where all of them
are the same. A kernel may need 5 % more instructions than written there. Growth is compared everywhere: a chain of twice
the links needs about twice the instructions for accelerations, four times those for its full matrices; Newton's equations of
a rod of three times the elements three times as many, with fluid, ground, tendons, springs and loops.

usage: bench/kernels.py PROGRAM COMPILER BUILD [--write]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

SLACK = 1.05
# most instructions of the larger robot over those of the smaller one
GROWTH = {("chain_forward", "twice_forward"): 2.1, ("chain_mass", "twice_mass"): 4.2, ("chain_tangent", "twice_tangent"): 4.2} | {
    (f"long_{kind}", f"longer_{kind}"): 3.1 for kind in ("fluid", "contact", "tendon", "loop")}
STORE = pathlib.Path(__file__).with_name("kernels.txt")


def vector_units():
    try:
        flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        return "unknown"
    return "avx2" if flags and " avx2" in flags[1] else "sse2"


def count(program):
    """Instructions by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/out"
        call = ["valgrind", "--tool=callgrind", "--toggle-collect=kernel_*", f"--callgrind-out-file={file}", program]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"kernels: valgrind failed\n{done.stderr[-2000:]}")
        table = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", file], capture_output=True, text=True,
                               check=True).stdout
        counts = {}
        for n, name in re.findall(r"^\s*([\d,]+).*:kernel_(\w+)", table, re.M):  # a line for each file it has code of
            counts[name] = max(counts.get(name, 0), int(n.replace(",", "")))
        return counts


def stored():
    """{(where, kernel): instructions}"""
    lines = [line for line in STORE.read_text().splitlines() if line and not line.startswith("#")] if STORE.exists() else []
    return {(where, name): int(n) for where, name, n in (line.rsplit(maxsplit=2) for line in lines)}


def main():
    program, compiler, build = sys.argv[1:4]
    where = f"{compiler} {build} {vector_units()}"
    found, known = count(program), stored()
    if len(found) < 10:
        sys.exit(f"kernels: callgrind has counted {len(found)} kernels only: {', '.join(sorted(found))}")
    if sys.argv[4:] == ["--write"]:
        known = {key: n for key, n in known.items() if key[0] != where} | {(where, k): n for k, n in found.items()}
        head = "# instructions of the kernels of bench/kernels.c, by compiler, build and vector units: bench/kernels.py --write\n"
        STORE.write_text(head + "".join(f"{w} {k} {n}\n" for (w, k), n in sorted(known.items())))
        return 0
    faults = []
    for name in sorted(found):
        before = known.get((where, name))
        print(f"{name:20} {found[name]:10d}" + (f"  {found[name] / before - 1:+8.2%}" if before else ""))
        if before and found[name] > SLACK * before:
            faults.append(f"{name} takes {found[name]} instructions, {found[name] / before - 1:.1%} more than the {before} of "
                          f"bench/kernels.txt; find out why, or write the new count (--write)")
    for (small, large), most in GROWTH.items():
        growth = found[large] / found[small]
        print(f"{large} over {small}: {growth:.2f}")
        if growth > most:
            faults.append(f"{large} takes {growth:.2f} times the instructions of {small}, at most {most} are due")
    if not any(key[0] == where for key in known):
        print(f"no counts of '{where}' in bench/kernels.txt: only growth is compared")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
