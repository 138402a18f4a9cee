#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code blocks of pages: finds them, runs them in order, and compares what the commands say with what the page shows.

usage: tools/pages.py SINEW PAGE... [--pictures]

A block of YAML, CSV or XML is a file, named by its first line, `# arm.yaml` or `<!-- arm.urdf -->`. Lines of a block of `sh` are commands; a block of
text behind it shows lines of their output, with `..` for what is left out. Numbers of the output agree to 1 %. A block
with a further word behind its language, ```sh other, is not run, but ```yaml live is. With --pictures the figures that the commands draw
replace those of the same name that the page shows.
"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def blocks(page):
    """Code blocks of a page: language, mark, text, and the name of its file, if it has one."""
    for kind, mark, text in re.findall(r"^```(\w+) ?(\w*)\n(.*?)^```$", page.read_text(), re.S | re.M):
        name = re.match(r"(?:# |<!-- )(\S+\.\w+)(?: -->)?\n", text)
        yield kind, mark, text, name[1] if name else None


def commands(text):
    """Command lines of a block; a line that ends in \\ continues."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def is_line_of(shown, line):
    """The same words, and numbers that agree to 1 %; numbers below 1e-6 are rounding."""
    if NUMBER.sub("0", " ".join(shown.split())) != NUMBER.sub("0", " ".join(line.split())):
        return False
    pairs = zip(map(float, NUMBER.findall(shown)), map(float, NUMBER.findall(line)))
    return all(abs(a - b) <= max(1e-2 * abs(a), 1e-6) for a, b in pairs)


def missing_line(shown, output):
    """First line of a shown text that the output lacks, in its order; None where all are there."""
    lines = iter(output.splitlines())
    for line in shown.splitlines():
        if line.strip() not in ("", "..") and not any(is_line_of(line, other) for other in lines):
            return line
    return None


def play(page, folder, call):
    """Runs a page in a folder; call(words) gives the output of a command. Yields what does not agree."""
    output = ""
    for kind, mark, text, name in blocks(page):
        if mark not in ("", "live"):
            output = None
        elif kind in ("yaml", "csv", "xml"):
            if not name:
                yield f"a block of {kind} has no name: {text[:60]!r}"
                continue
            (folder / name).write_text(text)
            if kind == "yaml" and "sinew: 1\n" in text and "\nmodel: " not in text:  # a plan is checked by its sweep
                call(["verify" if "\nexpect:" in text else "check", name])
        elif kind == "sh":
            output = ""
            for words in commands(text):
                if words[0] != "sinew":
                    yield f"'{words[0]}' is no command of ours; mark the block: ```sh other"
                    continue
                output += call(words[1:])
        elif kind == "text" and output is not None:
            line = missing_line(text, output)
            if line:
                yield f"no command says '{line.strip()}'; they say:\n{output}"


def main():
    sinew = pathlib.Path(sys.argv[1]).resolve()
    faults = 0
    for page in map(pathlib.Path, [a for a in sys.argv[2:] if a != "--pictures"]):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)

            def call(words):
                done = subprocess.run([sinew, *(w for w in words if w != "--open")], cwd=folder, capture_output=True, text=True)
                if done.returncode:
                    print(f"{page}: sinew {' '.join(words)}: {done.stderr}{done.stdout}")
                return done.stdout + done.stderr

            for fault in play(page, folder, call):
                faults += 1
                print(f"{page}: {fault}")
            for target in re.findall(r"!\[[^\]]*\]\(([^)]+\.(?:svg|png))\)", page.read_text()):
                made = folder / pathlib.Path(target).name
                if "--pictures" in sys.argv and made.exists():
                    (page.parent / target).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(made, page.parent / target)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
