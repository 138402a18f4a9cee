# SPDX-License-Identifier: MIT
"""Model files on pages: a block of YAML that is a whole model gets a link that opens it in the playground.

A block marked `live`, ```yaml live, has the model itself below it, to be changed and run. Both are there if the playground
was built (SITE_PLAYGROUND is its folder on the site); else the block is plain text.
"""
import base64
import json
import os
import re
import zlib

from docutils import nodes


def packed(text):
    """Text in an address, as playground/README.md describes it: deflate without header, base64 for addresses."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.urlsafe_b64encode(deflate.compress(text.encode()) + deflate.flush()).decode().rstrip("=")


def name_of(text):
    found = re.match(r"# (\S+\.\w+)\n", text)
    return found[1] if found else None


def needed(text, files):
    """Files that a model names, with those that they name in turn; None where one is missing."""
    found = {}
    names = re.findall(r"[\w.-]+\.(?:yaml|csv|stl|obj)\b", re.sub(r"#.*", "", text))
    for name in names:
        if name not in files:
            return None
        more = needed(files[name], {k: v for k, v in files.items() if k != name})
        if more is None:
            return None
        found |= {name: files[name], **more}
    return found


def fragment(text, files):
    """What stands behind the # of the playground's address; None: the model needs files that are not there."""
    if not re.search(r"^sinew: 1$", text, re.M):
        return None
    others = needed(text, files)
    if others is None:
        return None
    return f"p={packed(json.dumps({'model': text, 'files': others}))}" if others else f"m={packed(text)}"


def add_links(app, doctree, docname):
    folder = os.environ.get("SITE_PLAYGROUND", "")
    if not folder:
        return
    files, up = dict(app.env.sinew_files), "../" * docname.count("/")
    for block in list(doctree.findall(nodes.literal_block)):
        text = block.astext() + "\n"
        if name_of(text):
            files[name_of(text)] = text  # pages tell a story: a file is the last one of its name
        if block.get("language") != "yaml":
            continue
        model = fragment(text, {k: v for k, v in files.items() if k != name_of(text)})
        if model is None:
            continue
        code = f'<p class="live"><a href="{up}{folder}/index.html#{model}">Open in the playground</a></p>'
        if "live" in block.get("classes", []):
            code = f'<iframe class="live" loading="lazy" title="the model, to be changed and run" src="{up}{folder}/embed.html#{model}"></iframe>' + code
        block.parent.insert(block.parent.index(block) + 1, nodes.raw("", code, format="html"))


def collect(app, env, docnames):
    """Named files of the reference of the language, which its pages share."""
    env.sinew_files = {}
    for docname in sorted(env.found_docs):
        if docname.startswith("language/"):
            with open(env.doc2path(docname), encoding="utf-8") as page:
                for text in re.findall(r"^```(?:yaml|csv)\n(.*?)^```$", page.read(), re.S | re.M):
                    if name_of(text):
                        env.sinew_files[name_of(text)] = text


def setup(app):
    app.connect("env-before-read-docs", collect)
    app.connect("doctree-resolved", add_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
