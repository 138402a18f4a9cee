#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares result files number by number, to the last bit.

usage: tools/same_results.py BEFORE AFTER

BEFORE and AFTER are folders with result files of the same names, or two files. Prints every data set that differs,
with the first place and the largest difference; texts that differ are listed apart. Exit status 1 where numbers differ.
Needs h5py (Debian: python3-h5py).
"""
import pathlib
import sys

import h5py
import numpy as np


def data_sets(file):
    """Path -> data set, attributes included."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]
        for key, value in item.attrs.items():
            found[f"{name}@{key}"] = value

    file.visititems(visit)
    for key, value in file.attrs.items():
        found[f"@{key}"] = value
    return found


def same_bits(a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def describe(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return f"shape {a.shape} became {b.shape}"
    if a.dtype.names:
        return "records differ"
    differs = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not differs.any():
        return "signs of zero or bits of NaN differ"
    first = tuple(int(i[0]) for i in np.nonzero(differs))
    return f"{int(differs.sum())} of {a.size} numbers, first at {first}, largest by {np.nanmax(np.abs(a - b)):.3g}"


# when a file was made, and checkpoints: which frames have one depends on the clock
IGNORED = ("created", "checkpoint")


def compare(before, after):
    numbers, texts = [], []
    with h5py.File(before) as f, h5py.File(after) as g:
        a, b = data_sets(f), data_sets(g)
    for name in sorted(a.keys() | b.keys()):
        if any(word in name for word in IGNORED):
            continue
        if name not in a or name not in b:
            texts.append(f"{name}: only in {'AFTER' if name in b else 'BEFORE'}")
            continue
        x, y = np.asarray(a[name]), np.asarray(b[name])
        if x.dtype.kind in "OSU" or y.dtype.kind in "OSU":
            if x.shape != y.shape or not np.array_equal(x, y):
                texts.append(f"{name}: text differs")
        elif not same_bits(x, y):
            numbers.append(f"{name}: {describe(x, y)}")
    return numbers, texts


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip())
        return 2
    before, after = map(pathlib.Path, sys.argv[1:])
    pairs = [(before, after)] if before.is_file() else [
        (before / n, after / n) for n in sorted({p.name for d in (before, after) for p in d.glob("*.h5")})]
    differing = 0
    for a, b in pairs:
        if not (a.exists() and b.exists()):
            print(f"{a.name}: only in {'AFTER' if b.exists() else 'BEFORE'}")
            differing += 1
            continue
        numbers, texts = compare(a, b)
        differing += bool(numbers)
        for line in numbers:
            print(f"{a.name}: {line}")
        for line in texts:
            print(f"{a.name}: ({line})")
    print(f"{len(pairs)} files, {differing} with other numbers")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
