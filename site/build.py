#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the documentation site, build/site/html/index.html, without a network.

usage: site/build.py SINEW [--out FOLDER] [--python FOLDER] [--gallery FOLDER] [--playground FOLDER] [--quick] [--brief]

The pages are docs/**.md, CONTRIBUTING.md, CHANGELOG.md and the examples, with the values that `sinew verify` finds;
--quick leaves the values out; --brief is for tests of links, without pages of examples and headers and in plain clothes. --python is the built package, without which its extension is replaced by a stand-in.
Pictures and robots in three dimensions come from --gallery, models in the browser from --playground, where they exist.
Exit status 77: Sphinx or one of its parts is not installed.
"""
import argparse
import html
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "tools")]
import validation  # noqa: E402
from cheatsheet import make_cheat_sheet  # noqa: E402
from links import check_site  # noqa: E402

# pages from outside of docs/, and their places on the site
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
NEEDED = {"sphinx": "python3-sphinx", "myst_parser": "python3-myst-parser", "furo": "furo", "breathe": "python3-breathe"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def write(path, text):
    """Writes a file if it is new or differs, so that Sphinx sees what has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def place(path, brief=False):
    """Where a file of the tree is on the site, a path below its root; None where it is not."""
    name = path.relative_to(ROOT).as_posix()
    if brief and name.startswith(("examples", "include")):
        return None
    if name in OUTSIDE:
        return pathlib.PurePosixPath(OUTSIDE[name])
    if name.startswith("docs/") and path.is_file():
        place_ = pathlib.PurePosixPath(name[5:])
        return place_.with_name("index.md") if place_.name == "README.md" else place_
    if name in ("docs/commands", "docs/language"):
        return pathlib.PurePosixPath(name[5:]) / "index.md"
    if name.startswith("include/sinew/"):
        return pathlib.PurePosixPath("c") / (path.stem + ".md")
    if name.startswith("examples/python/notebooks"):
        return pathlib.PurePosixPath("examples/python/index.md")
    if name == "examples" or name.startswith("examples/") and (path.is_dir() or path.suffix in validation.SHOWN):
        return pathlib.PurePosixPath(name) / "index.md" if path.is_dir() else pathlib.PurePosixPath(name).with_suffix(".md")
    return None


def relocate(text, path, here, brief):
    """The text of a page of the tree, with links that lead to the pages of the site."""

    def link(match):
        mark, words, target = match.groups()
        target, _, anchor = target.partition("#")
        if ":" in target or not target:
            return match[0]
        place_ = place((path.parent / target).resolve(), brief)
        if place_ is None:
            return words
        return f"{mark}[{words}]({os.path.relpath(place_, here.parent)}{'#' * bool(anchor)}{anchor})"

    # links are not looked for in code
    parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", text, flags=re.S | re.M)
    text = "".join(part if i % 2 else LINK.sub(link, part) for i, part in enumerate(parts))
    return text.replace("```yaml live\n", "```{code-block} yaml\n:class: live\n\n")


def with_contents(text, here, placed):
    """A page of links with a hidden table of contents, one for each of its headings; pages are placed once."""
    tables = []
    for section in re.split(r"^(?=## )", text, flags=re.M):
        found = [t.partition("#")[0] for _, _, t in LINK.findall(section)]
        pages = []
        for target in found:
            if here.parts[0] == "examples" and not target.endswith("index.md"):
                continue  # examples stand in the tables of their families, not beside every page
            page = os.path.normpath(here.parent / target)
            if target.endswith(".md") and ":" not in target and page not in placed and page != str(here):
                placed.add(page)
                pages.append(target)
        if pages:
            caption = re.match(r"## (.*)", section)
            options = f":hidden:\n:caption: {caption[1]}\n" if caption and here.name == "index.md" and here.parent.name == "" else ":hidden:\n"
            tables.append("```{toctree}\n" + options + "\n" + "\n".join(p.removesuffix(".md") for p in pages) + "\n```\n")
    return text + "\n" + "\n".join(tables)


def assemble(source, options):
    """All pages, in Markdown, under the folder `source`."""
    kept, placed = set(), {"index.md"}
    texts = {}
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix in (".svg", ".png"):
            to = source / place(path)
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists() or to.stat().st_mtime < path.stat().st_mtime:
                shutil.copy2(path, to)
            kept.add(to)
        elif path.suffix == ".md":
            texts[place(path)] = relocate(path.read_text(), path, place(path), options.brief)
    # what is no page of Sphinx, but stands on the site
    others = {"cheat_sheet.pdf": "Cheat sheet, two pages to print"} if not options.brief else {}
    others |= {"playground/index.html": "Playground: models in the browser"} if options.playground.is_dir() else {}
    root = pathlib.PurePosixPath("index.md")
    links = "".join(f'<li><a href="{page}">{words}</a></li>' for page, words in others.items())
    texts[root] = texts[root].replace("<!-- others -->", f"```{{raw}} html\n<ul>{links}</ul>\n```" if links else "")
    for name, to in OUTSIDE.items():
        if name != "README.md":
            to = pathlib.PurePosixPath(to)
            texts[to] = relocate((ROOT / name).read_text(), ROOT / name, to, options.brief)
    for header in [] if options.brief else sorted((ROOT / "include/sinew").glob("*.h")):
        texts[pathlib.PurePosixPath("c") / f"{header.stem}.md"] = (
            f"# {header.name}\n\n```{{eval-rst}}\n.. doxygenfile:: {header.name}\n"
            "   :sections: briefdescription detaileddescription innerclass define typedef enum func var public-attrib\n```\n")
    if not options.brief:
        texts |= {pathlib.PurePosixPath(name): text for name, text in validation.pages(options).items()}
    # pages that list others come first, from the root down
    for here in sorted(texts, key=lambda p: (p.name != "index.md", len(p.parts), str(p))):
        listed = here.name == "index.md" and here.parts[0] != "examples" or len(here.parts) == 2 and here.parts[0] == "examples"
        if listed or here.name in ("c-reference.md", "contributing.md", "validation.md"):
            texts[here] = with_contents(texts[here], here, placed)
    lost = [str(p) for p in texts if str(p) not in placed]
    for here in lost:
        texts[pathlib.PurePosixPath(here)] = "---\norphan: true\n---\n\n" + texts[pathlib.PurePosixPath(here)]
    kept |= {write(source / here, text) for here, text in texts.items()}
    for path in source.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()


def run_doxygen(out):
    """XML of the public headers for breathe."""
    out.mkdir(parents=True, exist_ok=True)
    settings = {
        "PROJECT_NAME": "sinew", "INPUT": ROOT / "include/sinew", "OUTPUT_DIRECTORY": out, "GENERATE_XML": "YES", "GENERATE_HTML": "NO",
        "GENERATE_LATEX": "NO", "QUIET": "YES", "WARNINGS": "NO", "EXTRACT_ALL": "YES", "INPUT_FILTER": HERE / "doxygen.py",
        "FILTER_SOURCE_FILES": "YES", "OPTIMIZE_OUTPUT_FOR_C": "YES", "MACRO_EXPANSION": "YES", "EXPAND_ONLY_PREDEF": "NO",
        "PREDEFINED": "SNW_API:= SNW_NODISCARD:=", "EXCLUDE_SYMBOLS": "X", "MARKDOWN_SUPPORT": "NO", "TYPEDEF_HIDES_STRUCT": "YES", "MAX_INITIALIZER_LINES": 0,
    }
    config = write(out / "Doxyfile", "".join(f"{key} = {value}\n" for key, value in settings.items()))
    subprocess.run(["doxygen", config], check=True, stdout=subprocess.DEVNULL)
    return out / "xml"


def mend_theme(static):
    """Debian's furo is made for a web server: its sheet imports one from the server, its script is a module, which a browser
    does not load from a file. Its sheet also lacks the dark colours for readers who prefer them."""
    sheet, script = static / "styles/furo.css", static / "scripts/furo.js"
    common = pathlib.Path("/usr/share/javascript/normalize.css/normalize.min.css")
    text = sheet.read_text()
    reset = common.read_text() if common.exists() else "body { margin: 0 }"
    text = re.sub(r"@import url\(/javascript/[^)]*\);", lambda _: reset, text)
    dark = re.search(r'body\[data-theme="dark"\] \{\n(    --.*?)\}', text, re.S)
    if dark and "prefers-color-scheme" not in text:
        text += f'\n@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{\n{dark[1]}}} }}\n'
    sheet.write_text(text)
    text = script.read_text()
    if text.startswith("import Gumshoe"):
        script.write_text((static / "scripts/gumshoe-patched.js").read_text() + text.split("\n", 1)[1])


def copy_tree(folder, to):
    if folder and folder.is_dir():
        shutil.copytree(folder, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.h5", "*.json"))
        return True
    return False


def share_viewer(gallery):
    """One copy of the viewer's script for the pages of the gallery; each keeps its data. A page may have been written by an older
    command, so the name of the script has its contents."""
    for page in gallery.rglob("*.html"):
        text = page.read_text()
        before, begin, script = text.rpartition("<script>")
        script, _, after = script.partition("</script>")
        if not begin or 'id="sinew-data"' not in before:
            continue
        shared = gallery / f"viewer-{hashlib.sha256(script.encode()).hexdigest()[:12]}.js"
        if not shared.exists():
            shared.write_text(script)
        # the policy of the page names scripts beside it: by the same server, or as files
        before = before.replace("script-src 'unsafe-inline'", "script-src 'unsafe-inline' 'self' file:", 1)
        page.write_text(f'{before}<script src="{os.path.relpath(shared, page.parent)}"></script>{after}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = lambda p: pathlib.Path(p).resolve()  # noqa: E731
    parser.add_argument("sinew", type=folder)
    parser.add_argument("--out", type=folder, default=ROOT / "build/site")
    parser.add_argument("--python", type=folder)
    parser.add_argument("--gallery", type=folder, default=ROOT / "build/gallery")
    parser.add_argument("--playground", type=folder, default=ROOT / "build/playground")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--brief", action="store_true")
    args = parser.parse_args()
    missing = [package for part, package in NEEDED.items() if not importlib.util.find_spec(part)]
    missing += [] if shutil.which("doxygen") else ["doxygen"]
    if missing:
        print(f"no site: install Debian's {' '.join(missing)}, or run tools/setup.sh site", file=sys.stderr)
        return 77
    out, source = args.out / "html", args.out / "source"
    args.out.mkdir(parents=True, exist_ok=True)
    assemble(source, args)
    version = json.loads(subprocess.run([args.sinew, "--version", "--json"], capture_output=True, check=True).stdout)["version"]
    environment = os.environ | {"SITE_DOXYGEN": str(run_doxygen(args.out / "doxygen")), "SITE_VERSION": version}
    if args.brief:
        environment["SITE_BRIEF"] = "1"
    if args.python and args.python.is_dir():
        environment["SITE_PYTHON"] = str(args.python)
    if copy_tree(args.playground, out / "playground"):
        environment["SITE_PLAYGROUND"] = "playground"
    done = subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-c", HERE, "-d", args.out / "doctrees", source, out],
                          env=environment, check=False)
    if done.returncode:
        return 1
    if not args.brief:
        mend_theme(out / "_static")
    if copy_tree(args.gallery, out / "gallery"):
        share_viewer(out / "gallery")
    make_cheat_sheet(args.sinew, args.out, out / "cheat_sheet.pdf", prints=not args.brief)
    faults = check_site(out)
    if not args.brief and shutil.which("node") and subprocess.run(["node", HERE / "look.mjs", out], check=False).returncode not in (0, 77):
        faults.append("the pages do not look right, see above")
    print("\n".join(faults) if faults else f"open {os.path.relpath(out / 'index.html')} in a browser")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
