#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/commands/*.md, the man page docs/sinew.1, the tables of docs/language/*.md and the schema of the editors from the
command's own help.

usage: tools/docs.py [--check] path-of-sinew

With --check nothing is written; it fails when a page is not up to date.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = "written by `make docs` from `sinew help`; change it there"


def exit_table(text):
    rows = [line.split("  ", 1) for line in text.split("\n")]
    return "\n".join(["| status | meaning |", "| --- | --- |", *(f"| {code} | {what} |" for code, what in rows)])


def option_form(option, dash="--"):
    form = f"{dash}{option['name']}" + (f" {option['value']}" if option["value"] else "")
    return (f"-{option['letter']}, " if option["letter"] else "") + form


def page(command, exit_status):
    """One command in Markdown."""
    lines = [f"<!-- {HEAD} -->", f"# sinew {command['name']}", "", command["brief"][0].upper() + command["brief"][1:] + ".", "",
             "```", f"sinew {command['name']} [options] {command['operands']}", "```", "",
             command["about"], "", "## Options", "", "| option | what it does |", "| --- | --- |"]
    for option in command["options"]:
        form = option_form(option).replace("|", "\\|")
        lines.append(f"| `{form}` | {option['help'].replace('|', chr(92) + '|')} |")
    lines += ["", "## Examples", "", "```sh", command["examples"], "```", "", "## Exit status", "", exit_table(exit_status)]
    return "\n".join(lines) + "\n"


def index(help_):
    lines = [f"<!-- {HEAD} -->", "# The command", "", help_["summary"], "", "| command | what it does |", "| --- | --- |"]
    for command in help_["commands"]:
        lines.append(f"| [`sinew {command['name']}`]({command['name']}.md) | {command['brief']} |")
    lines += ["", "Messages go to standard error, results to standard output. With `--json` a command answers with one",
              "object that ends with `error` (`null` when all went well) and `exit`, its exit status.", "",
              exit_table(help_["exit_status"])]
    return "\n".join(lines) + "\n"


def roff(text):
    """Text as troff reads it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def man(help_, version):
    lines = [f'.\\" {HEAD}', f'.TH SINEW 1 "" "sinew {version}" "User Commands"', ".SH NAME",
             "sinew \\- motion of soft, continuum, parallel and hybrid robots", ".SH SYNOPSIS"]
    for command in help_["commands"]:
        lines += [".br", f".B sinew {command['name']}", roff(f"[options] {command['operands']}")]
    lines += [".SH DESCRIPTION", roff(help_["summary"])]
    for command in help_["commands"]:
        lines += [f".SH SINEW {command['name'].upper()}"]
        lines += [roff(command["about"]).replace("\n\n", "\n.PP\n")]
        for option in command["options"]:
            lines += [".TP", f".B {roff(option_form(option))}", roff(option["help"])]
        lines += [".PP", "Examples:", ".PP", ".nf", ".RS", roff(command["examples"]), ".RE", ".fi"]
    lines += [".SH EXIT STATUS"]
    for line in help_["exit_status"].split("\n"):
        code, what = line.split("  ", 1)
        lines += [".TP", f".B {code}", roff(what)]
    return "\n".join(lines) + "\n"


def table(part):
    """One part of the language in Markdown; the first column is the text to type."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in part["rows"]]
    lines = ["| " + " | ".join(part["head"]) + " |", "| --- | --- | --- |"]
    lines += [f"| `{first}` | {second} | {third} |" for first, second, third in rows]
    return "\n".join(lines).replace("|  |", "| |")


def language(folder, parts):
    """Pages of the reference with their tables filled in, each between `<!-- table: rod -->` and `<!-- end -->`."""
    known, seen, pages = {part["name"]: part for part in parts}, [], {}
    for path in sorted(folder.glob("*.md")):

        def fill(mark):
            if mark[1] not in known or mark[1] in seen:
                reason = "another page has the part" if mark[1] in seen else "the language has no part"
                sys.exit(f"{path.relative_to(ROOT)}: {reason} '{mark[1]}'")
            seen.append(mark[1])
            return f"<!-- table: {mark[1]} -->\n{table(known[mark[1]])}\n<!-- end -->"

        pages[path] = re.sub(r"<!-- table: (.*?) -->\n.*?<!-- end -->", fill, path.read_text(), flags=re.S)
    missing = [name for name in known if name not in seen]
    if missing:
        sys.exit(f"docs/language: add '<!-- table: {missing[0]} -->' and '<!-- end -->' to the page where it belongs")
    return pages


def main():
    args = [a for a in sys.argv[1:] if a != "--check"]
    if len(args) != 1:
        sys.exit(__doc__)

    def ask(*words):
        return json.loads(subprocess.run([args[0], *words, "--json"], stdout=subprocess.PIPE, check=True).stdout)

    help_, version = ask("help"), ask("--version")["version"]
    pages = {ROOT / "docs/commands/README.md": index(help_), ROOT / "docs/sinew.1": man(help_, version)}
    for command in help_["commands"]:
        pages[ROOT / f"docs/commands/{command['name']}.md"] = page(command, help_["exit_status"])
    pages |= language(ROOT / "docs/language", ask("help", "language")["parts"])

    schema = json.loads(subprocess.run([args[0], "schema"], stdout=subprocess.PIPE, check=True).stdout)
    pages[ROOT / "editors/vscode/sinew.schema.json"] = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"

    stale = [p for p, text in pages.items() if not p.exists() or p.read_text() != text]
    stale += [p for p in (ROOT / "docs/commands").glob("*.md") if p not in pages]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)}: is not what the help says; run `make docs`")
        return bool(stale)
    for path in stale:
        if path in pages:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path])
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
