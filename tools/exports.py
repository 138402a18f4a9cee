#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the shared library exports the functions of the public headers and nothing else.

usage: tools/exports.py libsinew.so include/sinew
"""
import pathlib
import re
import subprocess
import sys

DECLARATION = re.compile(r"^SNW_API\b[^;]*?\b(snw_\w+)\(", re.M | re.S)


def main():
    library, headers = sys.argv[1:]
    declared = {name for p in pathlib.Path(headers).glob("*.h") for name in DECLARATION.findall(p.read_text())}
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in lines.splitlines() if line.split()[-2] in "TDBRVW"}
    exported = {name for name in exported if not name.startswith("SINEW_")}
    for name in sorted(declared - exported):
        print(f"{name} is declared and not exported")
    for name in sorted(exported - declared):
        print(f"{name} is exported and not declared with SNW_API")
    print(f"{len(exported)} functions exported, {len(declared)} declared")
    return declared != exported


if __name__ == "__main__":
    sys.exit(main())
