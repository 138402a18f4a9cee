#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a built site: links and anchors lead somewhere, and nothing is fetched from the network.

usage: site/links.py FOLDER
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

# elements that a browser fetches, and the attribute with the address; links that a reader follows are not among them
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "video": "src", "source": "src", "object": "data"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.anchors |= {known[key] for key in ("id", "name") if known.get(key)}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        if tag in FETCHED and known.get(FETCHED[tag]) and known.get("rel") not in ("canonical", "search", "index", "genindex", "next", "prev"):
            self.fetched.append(known[FETCHED[tag]])


def check_site(root, without=("gallery", "playground")):
    """Faults of the pages below `root`, one line each; links into the folders `without` are checked, their pages not."""
    pages = {p: Page(p) for p in sorted(root.rglob("*.html")) if p.relative_to(root).parts[0] not in without}
    faults = []
    for path, page in pages.items():
        name = path.relative_to(root)
        for address in page.links + page.fetched:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme in ("data", "mailto") or address.startswith("javascript:"):
                continue
            if parts.scheme or parts.netloc:
                if address in page.fetched:
                    faults.append(f"{name}: fetches {address}")
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                faults.append(f"{name}: the link {address} leads nowhere")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                faults.append(f"{name}: {parts.path or 'the page'} has no place #{parts.fragment}")
    for sheet in root.glob("_static/**/*.css"):
        faults += [f"{sheet.relative_to(root)}: fetches {a}" for a in re.findall(r"(?:url\(|@import )[\"']?((?:https?:/)?/[^\"') ]+)", sheet.read_text(errors="replace"))]
    return faults


if __name__ == "__main__":
    found = check_site(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(found) or "no dead links")
    sys.exit(bool(found))
