#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Has clang look at every source of a build: its warnings are errors too. Nothing is compiled.

usage: tools/clang.py build-folder [--tidy]

With --tidy clang-tidy looks as well, at the sources of src/.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def look(entry, folder, tidy):
    """Complaints about one source."""
    if tidy:
        command = ["clang-tidy", "--quiet", "-p", folder, entry["file"]]
    else:
        words = shlex.split(re.sub(r" -o \S+ -c ", " -fsyntax-only ", entry["command"]))
        options = next(i for i, word in enumerate(words) if word.startswith("-"))  # past the compiler and its launcher
        command = ["clang", *words[options:]]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + ("" if tidy else done.stderr)


def main():
    folder, tidy = sys.argv[1], "--tidy" in sys.argv
    entries = json.loads((pathlib.Path(folder) / "compile_commands.json").read_text())
    ours = [e for e in entries if pathlib.Path(e["file"]).is_relative_to(ROOT / "src" if tidy else ROOT)]
    # numbers that clang does not have, and C that it does not read as C++
    ours = [e for e in ours if not re.search(r"tests/(wide|complex)/\w+\.h", e["command"])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [c for c in pool.map(lambda e: look(e, folder, tidy), ours) if c]
    print("\n".join(complaints) if complaints else f"clang: {len(ours)} sources, nothing to complain about")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
