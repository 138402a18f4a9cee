#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every source of a build with clang: its warnings are errors too. No object files are written.

usage: tools/clang.py build-folder [--tidy] [source ..]

With --tidy clang-tidy is used instead, on the sources of src/. Named sources are checked alone.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def look(entry, folder, tidy):
    """Complaints about one source."""
    if tidy:
        command = ["clang-tidy", "--quiet", "-p", folder, entry["file"]]
    else:
        words = shlex.split(re.sub(r" -o \S+ -c ", " -fsyntax-only ", entry["command"]))
        options = next(i for i, word in enumerate(words) if word.startswith("-"))  # after the compiler and its launcher
        command = ["clang", *words[options:]]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + ("" if tidy else done.stderr)


def main():
    folder, tidy = sys.argv[1], "--tidy" in sys.argv
    named = {str(pathlib.Path(name).resolve()) for name in sys.argv[2:] if name != "--tidy"}
    entries = json.loads((pathlib.Path(folder) / "compile_commands.json").read_text())
    ours = [e for e in entries if pathlib.Path(e["file"]).is_relative_to(ROOT / "src" if tidy else ROOT)]
    # headers by themselves: the sources include them
    ours = [e for e in ours if "/headers/" not in e["file"]]
    # numbers that clang does not have, and C that it does not accept as C++
    ours = [e for e in ours if not re.search(r"tests/(wide|complex)/\w+\.h", e["command"])]
    # C++ of the packs of robots, which is written for the vectors of gcc
    ours = [e for e in ours if e["file"].endswith(".c")]
    ours = [e for e in ours if not named or e["file"] in named]
    if tidy:  # once each: clang-tidy uses all commands that it finds for a file
        ours = list({e["file"]: e for e in reversed(ours)}.values())
    with tempfile.TemporaryDirectory() as chosen, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        (pathlib.Path(chosen) / "compile_commands.json").write_text(json.dumps(ours))
        complaints = [c for c in pool.map(lambda e: look(e, chosen, tidy), ours) if c]
    print("\n".join(complaints) if complaints else f"clang: {len(ours)} sources, nothing to complain about")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
