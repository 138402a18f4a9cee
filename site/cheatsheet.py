# SPDX-License-Identifier: MIT
"""The cheat sheet: two pages in PDF, printed by Chromium from a page of HTML."""
import html
import json
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def table(part, columns=2, most=None):
    """A part of the language; its first columns."""
    rows = "".join("<tr>" + "".join(f"<td>{'<code>' * (i == 0)}{html.escape(cell)}{'</code>' * (i == 0)}</td>" for i, cell in enumerate(row[:columns])) + "</tr>"
                   for row in part["rows"][:most])
    return f"<table>{rows}</table>"


def keys(part):
    """A part of the language as a line of words."""
    return "<p>" + " ".join(f"<code>{html.escape(row[0])}</code>" for row in part["rows"]) + "</p>"


def page(sinew):
    ask = lambda *words: json.loads(subprocess.run([sinew, *words, "--json"], capture_output=True, check=True).stdout)  # noqa: E731
    parts = {part["name"]: part for part in ask("help", "language")["parts"]}
    commands = ask("help")["commands"]
    text = (HERE / "cheatsheet.html").read_text()
    for name, part in parts.items():
        text = text.replace(f"<!-- keys {name} -->", keys(part)).replace(f"<!-- table {name} -->", table(part))
        text = text.replace(f"<!-- meaning {name} -->", table({"rows": [(r[0], r[2]) for r in part["rows"]]}))
    text = text.replace("<!-- commands -->", table({"rows": [(f"sinew {c['name']}", c["brief"]) for c in commands if c["name"] != "help"]}))
    return text


def make_cheat_sheet(sinew, out, pdf, prints=True):
    """Writes the page, and the PDF if there is a browser; says so if there is none."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    source = out / "cheat_sheet.html"
    source.write_text(page(sinew))
    if not prints:
        return
    if not browser:
        print("no cheat sheet: there is no Chromium")
        return
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--no-pdf-header-footer",
                        f"--print-to-pdf={pdf}", source.as_uri()], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
