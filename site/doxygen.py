#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filter of Doxygen: a public header with its plain comments as documentation.

usage: site/doxygen.py HEADER
"""
import re
import sys


def words(text):
    """Text of a comment as Doxygen reads it, without its own marks."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\\", "\\\\").replace("@", "\\@")
    text = text.replace("#", "\\#").replace("%", "\\%")
    return re.sub(r"`([^`]*)`", r"<tt>\1</tt>", text)


def head(lines):
    """The comment at the head of a file; what is indented is code."""
    out, code = ["/** \\file"], False
    for line in lines:
        text = line[2:]
        if text.startswith("   ") != code and text.strip():
            code = not code
            out.append("\\verbatim" if code else "\\endverbatim")
        out.append(text[3:] if code else words(text[1:]))
    return "\n".join(out + ["\\endverbatim"] * code + ["*/"])


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    print(head(lines[2:end]))
    after = False  # the comment continues one that stands behind code
    for line in lines[end:]:
        if line.startswith("// ---"):
            continue  # headings of groups
        code, mark, text = line.partition("//")
        after = bool(mark) and (bool(code.strip()) or after)
        print(f"{code}///{'<' if after else ''}{words(text)}" if mark else line)


main()
