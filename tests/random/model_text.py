# SPDX-License-Identifier: MIT
"""Models as trees of dicts, lists, numbers and words: their YAML text, copies, paths, and their size."""
import copy
import json
import math
import re

# plain scalars of YAML that need no quotes, also inside {} and []
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ .@%()/+*^-]*$")
WORDS = {"true", "false", "null", "yes", "no", "~"}
BLOCK_DEPTH = 2  # maps below this depth are written in one line


def scalar(value):
    """A number or a word as YAML."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        return repr(value)
    if value is None:
        return ""
    if PLAIN.match(value) and value == value.strip() and value.lower() not in WORDS:
        return value
    return json.dumps(value)


def flow(value):
    """A value in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k)}: {flow(v)}".rstrip() for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def block(value, depth):
    """Lines of a map, or of a list of steps."""
    indent = "  " * depth
    for key, item in value.items():
        if isinstance(item, dict) and item and depth + 1 < BLOCK_DEPTH:
            yield f"{indent}{scalar(key)}:"
            yield from block(item, depth + 1)
        elif key == "study":
            yield f"{indent}{key}:"
            for step in item:
                (kind, options), = step.items()
                yield f"{indent}  - {kind}: {flow(options) if options else ''}".rstrip()
        else:
            yield f"{indent}{scalar(key)}: {flow(item)}"


def text(model):
    """The model file."""
    return "\n".join(block(model, 0)) + "\n"


def clone(model):
    return copy.deepcopy(model)


def steps(model, kind):
    """The options of all steps of this kind, to be changed in place."""
    found = []
    for step in model.get("study", []):
        if kind in step:
            if step[kind] is None:
                step[kind] = {}
            found.append(step[kind])
    return found


def rods(model):
    """The rods of a model, to be changed in place."""
    return [link["rod"] for link in model["robot"].values() if "rod" in link]


def norm(values):
    """Length of a vector of numbers; 0 where it holds laws."""
    if not all(isinstance(v, (int, float)) for v in values):
        return 0.0
    return math.sqrt(sum(v*v for v in values))


def size(model):
    """The reference length of differences: rods, offsets and bodies of the longest chain of links."""
    reach = {}

    def own(link):
        apart = link["on"] != "world" or link.get("joint") == "free"  # a free link may fall that far
        total = norm(link.get("pose", {}).get("xyz", [0])) if apart else 0.0
        total += link.get("rod", {}).get("length", 0.0)
        total += max((sum(tube[key] for key in ("straight", "curved", "translation")) for tube in link.get("tubes", {}).values()),
                     default=0.0)
        body = link.get("body", {})
        return total + max(norm(body.get("com", [0])), body.get("sphere", {}).get("radius", 0.0))

    def of(name):
        if name not in reach:
            link = model["robot"][name]
            parent = re.split(r"[.@]", link["on"])[0]
            reach[name] = own(link) + (of(parent) if parent in model["robot"] else 0.0)
        return reach[name]

    return max(max((of(name) for name in model["robot"]), default=0.0), 1e-3)
