# SPDX-License-Identifier: MIT
"""Configuration of Sphinx; site/build.py assembles the pages and calls it."""
import importlib.util
import os
import pathlib
import re
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
if os.environ.get("SITE_PYTHON"):
    sys.path[:0] = [os.environ["SITE_PYTHON"]]

project = "Sinew"
author = "the authors of Sinew"
copyright = author  # noqa: A001, the name is Sphinx's
release = version = os.environ.get("SITE_VERSION", "")

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "live"]
if importlib.util.find_spec("sphinx_copybutton"):
    extensions.append("sphinx_copybutton")
root_doc = "index"
source_suffix = {".md": "markdown"}
nitpicky = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

breathe_projects = {"sinew": os.environ.get("SITE_DOXYGEN", "")}
breathe_default_project = "sinew"
breathe_default_members = ("members", "undoc-members")
breathe_show_include = False
primary_domain = "c"
breathe_domain_by_extension = {"h": "c"}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": False}
# the compiled extension may be absent; signatures and texts are in the Python files
if not os.environ.get("SITE_PYTHON"):

    class StandIn:
        """Stands for anything of the extension while the package is imported."""

        def __getattr__(self, name):
            return StandIn()

        def __call__(self, *args, **named):
            return args[0] if args and isinstance(args[0], types.FunctionType) else StandIn()  # a decorator keeps its function

        def __index__(self):
            return 0

        def __iter__(self):
            return iter(())

    extension = types.ModuleType("sinew._sinew")
    extension.ffi = extension.lib = StandIn()
    sys.modules["sinew._sinew"] = extension
    sys.path[:0] = [str(HERE.parent / "python")]
    autodoc_mock_imports = [part for part in ("numpy", "h5py") if not importlib.util.find_spec(part)]

html_theme = "furo"
html_title = "Sinew"
html_static_path = [str(HERE / "static")]
html_css_files = ["sinew.css"]
html_copy_source = False
html_show_search_summary = False  # a page opened as a file cannot fetch others
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#17646d", "color-brand-content": "#17646d"},
    "dark_css_variables": {"color-brand-primary": "#5cc0c9", "color-brand-content": "#5cc0c9"},
}
if os.environ.get("SITE_BRIEF"):  # for its links: the navigation beside each page takes half of the time
    html_theme, html_theme_options, html_sidebars = "basic", {}, {"**": []}
pygments_style = "friendly"
pygments_dark_style = "native"
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["myst.header", "misc.highlighting_failure"]


def plain(app, what, name, obj, options, lines):
    """Texts of the package: names in single backticks, nothing else is markup."""
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)", lambda name: "``" + " ".join(name[1].split()) + "``", "\n".join(lines))
    text = re.sub(r"(?<=\n\n)(?=    \S)", "::\n\n", text)  # indented paragraphs are code
    text = "\n".join(line if line.startswith("    ") else re.sub(r"(?<![\\`\w])([*|])(?=\S)", r"\\\1", line) for line in text.split("\n"))
    lines[:] = text.split("\n")


def setup(app):
    app.connect("autodoc-process-docstring", plain)
    from pygments.lexers.special import TextLexer

    app.add_lexer("csv", TextLexer)
