# SPDX-License-Identifier: MIT
"""Shrinks a model while its disagreement stays: removes entries, simplifies values, rounds numbers, shortens times.
Greedy delta debugging over the tree of the model."""
import time

from chance import rounded
from comparisons import compare
from model_text import clone

LONGEST = 60.0  # s for one find
KEEP = {"sinew", "title", "robot", "study", "probes"}  # keys of a file that must stay


def shrink(model, name, verdict, run, progress=lambda text: None, longest=LONGEST):
    """The smallest model found with the same kind of disagreement, its verdict, and the variants that show it."""
    deadline = time.monotonic() + min(longest, LONGEST)
    best, tried = model, set()

    def still(candidate):
        nonlocal best, verdict
        key = repr(candidate)
        if key in tried or time.monotonic() > deadline:
            return False
        tried.add(key)
        progress(f"making a find of {name} smaller")
        run.begin()
        try:
            found = compare(name, candidate, run)
        except (KeyError, ValueError, TypeError, IndexError, ZeroDivisionError):
            return False  # the comparison needs the removed entry
        if found.kind != "find" or found.what != verdict.what:
            return False
        best, verdict = candidate, found
        return True

    while changed(lambda: best, still):
        pass
    run.begin()
    verdict = compare(name, best, run)
    return best, verdict, list(run.used)


def changed(best, still):
    """One pass of all simplifications; returns whether any of them was kept."""
    any_held = False
    for simplify in (without_entries, simpler_words, rounder_numbers, shorter_times):
        again = True
        while again:
            again = False
            for candidate in simplify(best()):
                if still(candidate):
                    any_held = again = True
                    break
    return any_held


def paths(tree, at=()):
    """Paths of all values, outer ones first."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield at + (key,), value
    for key, value in items:
        yield from paths(value, at + (key,))


def put(model, path, value):
    """A copy with another value at the path."""
    other = clone(model)
    place = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return other


def without(model, path):
    """A copy without the entry at the path, and without entries that become empty."""
    other = clone(model)
    place = other
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    if len(path) > 1 and place in ({}, []) and path[0] not in ("study",):
        parent = other
        for key in path[:-2]:
            parent = parent[key]
        del parent[path[-2]]
    return other


def without_entries(model):
    """Entries of maps and steps removed, larger ones first."""
    for path, value in sorted(paths(model), key=lambda item: (len(item[0]), -len(repr(item[1])))):
        if len(path) == 1 and path[0] in KEEP or path == ("robot",):
            continue
        if isinstance(path[-1], int) and path[0] != "study":
            continue  # components of vectors are set to zero instead
        try:
            other = without(model, path)
        except (KeyError, IndexError):
            continue
        if other.get("robot") and other.get("probes") and other.get("study") is not None:
            yield other
    if model.get("gravity") != 0:
        yield {**clone(model), "gravity": 0}


def simpler_words(model):
    """Fewer strains, a round section, a joint of one coordinate."""
    for path, value in paths(model):
        if path[-1] == "strain" and isinstance(value, str):
            theory, _, basis = value.partition(" ")
            if theory == "cosserat":
                yield put(model, path, f"kirchhoff {basis}")
            if theory in ("cosserat", "kirchhoff"):
                yield put(model, path, {"bend_y": basis})
                yield put(model, path, {"bend_z": basis})
        if path[-1] == "section" and isinstance(value, dict) and "circle" not in value:
            widths = [w for _, w in paths(value) if isinstance(w, float)]
            if widths:
                yield put(model, path, {"circle": {"radius": rounded(max(widths)/2, 1)}})
        if path[-1] == "joint" and value in ("universal", "cylindrical", "spherical", "planar"):
            yield put(model, path, "revolute")
        if path[-1] in ("x",) and isinstance(value, list):
            for axis in ("z", "-z", "x"):
                yield put(model, path, axis)
        if isinstance(value, list) and len(value) == 3 and sum(v not in (0, 0.0) for v in value) > 1:
            for i in range(3):
                if value[i] not in (0, 0.0):
                    yield put(model, path + (i,), 0)


def rounder_numbers(model):
    """Numbers of one digit, or two."""
    for digits in (1, 2):
        for path, value in paths(model):
            if isinstance(value, float) and rounded(value, digits) != value and path[-1] not in ("every",):
                yield put(model, path, rounded(value, digits))


def shorter_times(model):
    """Motions of half the length."""
    for path, value in paths(model):
        if path[0] == "study" and path[-1] == "for" and isinstance(value, (int, float)) and "record" in model:
            other = put(model, path, rounded(value/2, 10))
            other["record"] = {"every": rounded(value/32, 12)}
            yield other
