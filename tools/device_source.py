#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the text that a graphics processor compiles: device_source.py OUT COMPILER [FLAGS..].

The compiler's preprocessor turns src/gpu/device_engine.inc into one text without includes. Spellings change:
- compound literals of C, `(snw_twist){..}`, become C++'s `snw_twist{..}`;
- whole numbers of the structs in CONSTANT may be constants of the kernel: `nv` of a model is one where the macro
  SNW_MODEL_nv is defined, and six of them, `comp` of a rod, where SNW_ROD_comp_0 to SNW_ROD_comp_5 are;
- arrays at Magnus points have as many entries as the macro SNW_POINTS says;
- with the macro SNW_FLOATS `double` is float, and so are literals, each of which is SNW_R(literal).
OUT is a C source with the text (src/gpu/device_text.h). Beside it, with the suffix .lists.h, are the names of these
numbers as lists SNW_MODEL_LIST(X) and so on, and of the sixes as SNW_MODEL_SIXES(X).
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
# struct, prefix of the macros, members that are computed on the device or differ from rod to rod
CONSTANT = [
    ("snw_model", "SNW_MODEL", ("most_variable_columns", "most_loop")),
    ("snw_rod", "SNW_ROD", ("link", "dof0", "root", "seg0", "point0", "law_adr")),
    ("snw_rule", "SNW_RULE", ("kind",)),
    ("snw_slice", "SNW_SLICE", ("rod", "phi", "field")),
]


# headers of C that the sources include; src/gpu/device_prelude.hpp has what the device needs of them
ABSENT = "float inttypes limits math stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string".split()


def preprocess(compiler: list[str]) -> str:
    with tempfile.TemporaryDirectory() as empty:
        for name in ABSENT:
            (Path(empty) / f"{name}.h").touch()
        folders = [f"-I{folder}" for folder in (empty, SOURCE.parent / "include", SOURCE)]
        command = [*compiler, "-x", "c++", "-E", "-P", "-std=gnu++20", "-nostdinc", "-nostdinc++", *folders, "-DSNW_DEVICE",
                   str(SOURCE / "gpu/device_engine.inc")]  # fmt: skip
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def constants(text: str, struct: str, prefix: str, own: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """Members of types int and bool as constants where their macros are defined."""
    begin = text.index(f"typedef struct {struct} {{")
    end = text.index(f"\n}} {struct};", begin)
    names: list[str] = []
    sixes: list[str] = []

    def member(found: re.Match[str]) -> str:
        out = []
        for name in re.split(r"\s*,\s*", found[2].strip()):
            if name in own:
                out.append(f"{found[1]} {name};")
                continue
            names.append(name)
            macro = f"{prefix}_{name}"
            out.append(f"\n#ifdef {macro}\n static constexpr {found[1]} {name} = {macro};\n#else\n {found[1]} {name};\n#endif\n")
        return " ".join(out)

    def six(found: re.Match[str]) -> str:
        name = found[1]
        sixes.append(name)
        macro = f"{prefix}_{name}_"
        values = ", ".join(f"{macro}{k}" for k in range(6))
        return f"\n#ifdef {macro}0\n static constexpr int {name}[6] = {{{values}}};\n#else\n int {name}[6];\n#endif\n"

    body = re.sub(r"\b(int|bool) ([a-z_0-9]+(?:\s*,\s*[a-z_0-9]+)*);", member, text[begin:end])
    body = re.sub(r"\bint ([a-z_0-9]+)\[6\];", six, body)
    return text[:begin] + body + text[end:], names, sixes


NARROW = "typedef double narrow;"
PRECISION = """
#ifdef SNW_FLOATS
#define double float
#define SNW_R(x) x##f
#define SNW_DBL_MAX 0x1.fffffep+127f
#define SNW_DBL_MIN 0x1p-126f
#define SNW_DBL_EPSILON 0x1p-23f
#else
#define SNW_R(x) x
#define SNW_DBL_MAX 0x1.fffffffffffffp+1023
#define SNW_DBL_MIN 0x1p-1022
#define SNW_DBL_EPSILON 0x1p-52
#endif
"""


def with_precision(text: str) -> str:
    """Literals and the type of numbers by the macro SNW_FLOATS."""
    literal = r"(?<![\w.])(0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?[pP][+-]?\d+|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])"

    def single(found: re.Match[str]) -> str:
        value = float.fromhex(found[1]) if found[1][:2] in ("0x", "0X") else float(found[1])
        return f"SNW_R({found[1]})" if value == 0 or 1.2e-38 < value < 3.4e38 else found[1]  # float has no others

    text = re.sub(literal, single, text)
    if text.count(NARROW) != 1:
        sys.exit("device_source.py: the type 'narrow' is not defined once")
    return text.replace(NARROW, NARROW + PRECISION)


def plain_tables(text: str) -> str:
    """Tables of C with designators, `{[A] = {..}, [B] = {..}}`, in C++: without them. The compiler checks their order."""
    entry, orders = r"(?<=[{,])\s*\[(SNW_\w+)\] = (?=\{)", ""

    def table(found: re.Match[str]) -> str:
        nonlocal orders
        orders += "".join(f"static_assert(snw_device::{name} == {i});\n" for i, name in enumerate(re.findall(entry, found[0])))
        return re.sub(entry, " ", found[0])

    return re.sub(r"\{\s*\[SNW_\w+\] = \{.*?\};", table, text, flags=re.DOTALL) + orders


def without_obstacles(text: str) -> str:
    """The table of obstacles, whose functions a kernel keeps while it is there, only where the model has contacts."""
    table = r"const \w+ snw_obstacle_table\[\w+\] = \{.*?\};\n"
    text, changed = re.subn(table, r"\n#if !defined(SNW_MODEL_ncontact_point) || SNW_MODEL_ncontact_point > 0\n\g<0>#endif\n", text, flags=re.DOTALL)
    if changed != 1:
        sys.exit("device_source.py: snw_obstacle_table is not defined as expected")
    return text


# Functions with many operations that are called at many places, or rarely within loops, where NVRTC would write them out.
APART = ("snw_expr_value", "snw_expr_jet_t", "snw_expr_jet_signal", "snw_spline_jet", "snw_stumpff_far")


def apart(text: str) -> str:
    for name in APART:
        text, changed = re.subn(rf"(?m)^(\w+ {name}\([^;{{]*\)\s*\{{)", r"__attribute__((noinline)) \1", text)
        if changed != 1:
            sys.exit(f"device_source.py: {name} is not defined as expected")
    return text


def main() -> None:
    out, compiler = Path(sys.argv[1]), sys.argv[2:]
    text = re.sub(r"\((\w+)\)\{", r"\1{", preprocess(compiler))
    text = without_obstacles(plain_tables(text))
    text, changed = re.subn(r"\bSNW_MAGNUS_POINTS = \d+", "SNW_MAGNUS_POINTS = SNW_POINTS", text)
    if changed != 1:
        sys.exit("device_source.py: SNW_MAGNUS_POINTS is not defined as expected")
    # NVRTC 13.0 leaves the members that such a literal omits undefined instead of zero
    wrong = re.search(r"[?:]\s*\w+\{\s*\.[^\n]*", text)
    if wrong:
        sys.exit(f"device_source.py: a literal with named members is an operand of ?: in '{wrong[0]}'; write an if instead")
    text = with_precision(apart(text))
    lists = ""
    for struct, prefix, own in CONSTANT:
        text, names, sixes = constants(text, struct, prefix, own)
        if not names:
            sys.exit(f"device_source.py: {struct} has no members that may be constants")
        lists += f"#define {prefix}_LIST(X) {' '.join(f'X({name})' for name in names)}\n"
        lists += f"#define {prefix}_SIXES(X) {' '.join(f'X({name})' for name in sixes)}\n"
    pieces = [text[i : i + 1500] for i in range(0, len(text), 1500)]  # a literal has at most 4095 characters
    quoted = [piece.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for piece in pieces]
    rows = ",\n".join(f'    "{piece}"' for piece in quoted)
    head = "// written by tools/device_source.py\n"
    out.write_text(f'{head}#include "gpu/device_text.h"\n\nconst char *const snw_device_text[] = {{\n{rows}}};\n'
                   f"const int snw_device_pieces = {len(pieces)};\n")  # fmt: skip
    out.with_suffix(".lists.h").write_text(head + lists)


main()
