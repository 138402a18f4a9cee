#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats all C files of the tree, or checks that they are formatted.

usage: tools/format.py [--check] clang-format
"""
import pathlib
import subprocess
import sys

FOLDERS = ("include", "src", "web", "tests", "bench", "examples")


def main():
    args = sys.argv[1:]
    check = "--check" in args
    program = ([a for a in args if a != "--check"] or ["clang-format"])[0]
    root = pathlib.Path(__file__).resolve().parent.parent
    files = sorted(p for d in FOLDERS for p in (root / d).rglob("*.[ch]"))
    mode = ["--dry-run", "-Werror"] if check else ["-i"]
    done = subprocess.run([program, *mode, *files], cwd=root)
    print("format: clean" if done.returncode == 0 else "format: run `make format`")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
