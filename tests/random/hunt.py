#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Searches for disagreements on random robots: between engines, schemes, finer settings, and equivalent models.

usage: tests/random/hunt.py [options]

Every case is a family and a seed, `rod_static:17`. A disagreement of which the command did not warn is a find: it
is shrunk and saved with the models that show it, one folder each, and a line of index.txt.
"""
import argparse
import collections
import json
import pathlib
import shutil
import sys
import time

import command
import families
import model_text
import shrink
from comparisons import COMPARISONS, compare

KINDS = ("ok", "warned", "refused", "failed", "branch", "unsure", "find")


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--seconds", type=float, default=60, help="how long to hunt; 60 unless given")
    p.add_argument("--hours", type=float, help="the same in hours")
    p.add_argument("--count", type=int, help="so many seeds of each family instead")
    p.add_argument("--seed", type=int, default=1, help="the first seed; 1 unless given")
    p.add_argument("--family", action="append", choices=families.FAMILIES, help="only this family; may be repeated")
    p.add_argument("--comparison", action="append", choices=COMPARISONS, help="only this comparison; may be repeated")
    p.add_argument("--case", action="append", metavar="FAMILY:SEED", help="only this case; may be repeated")
    p.add_argument("--output", default="build/hunt", help="where finds go; build/hunt unless given")
    p.add_argument("--shrink", type=int, default=3, metavar="N",
                   help="of each sort of find in a family make N small and save the others as drawn; 3 unless given")
    p.add_argument("--print", action="store_true", help="print the models of the cases and run nothing")
    p.add_argument("-v", "--verbose", action="store_true", help="a line for each verdict but ok")
    options = p.parse_args()
    if options.hours is not None:
        options.seconds = 3600*options.hours
    return options


def cases(options):
    """Families in turn, seed by seed."""
    if options.case:
        for case in options.case:
            family, _, seed = case.partition(":")
            yield family, int(seed)
        return
    seed = options.seed
    while options.count is None or seed < options.seed + options.count:
        for family in options.family or families.FAMILIES:
            yield family, seed
        seed += 1


class Hunt:
    """Counts, finds and the time of one hunt."""

    def __init__(self, options):
        self.options = options
        self.output = pathlib.Path(options.output)
        self.run = command.Command()
        self.counts = collections.defaultdict(collections.Counter)  # by comparison
        self.messages = collections.Counter()                       # reasons why models were refused or failed
        self.finds = []
        self.began = time.monotonic()
        self.cases = 0
        self.shown = 0.0

    @property
    def elapsed(self):
        return time.monotonic() - self.began

    def progress(self, name):
        """One line on a terminal, one per minute elsewhere."""
        terminal = sys.stderr.isatty()
        if self.elapsed - self.shown < (1 if terminal else 60):
            return
        self.shown = self.elapsed
        left = "" if self.options.count or self.options.case else f", {max(0, self.options.seconds - self.elapsed):.0f} s left"
        start = "\r" if terminal else ""
        print(f"{start}{self.cases} cases, {len(self.finds)} finds{left}, {name}    ",
              end="" if terminal else "\n", file=sys.stderr, flush=True)

    def case(self, family, seed):
        model, names = families.draw(family, seed)
        self.run.begin()
        self.cases += 1
        for name in names:
            if self.options.comparison and name not in self.options.comparison:
                continue
            self.progress(f"{family}:{seed} {name}")
            self.run.used = []
            verdict = compare(name, model, self.run)
            self.counts[name][verdict.kind] += 1
            if verdict.kind in ("refused", "failed", "unsure"):
                self.messages[f"{verdict.kind} {family} {name}: {verdict.text[:150]}"] += 1
            if self.options.verbose and verdict.kind != "ok":
                print(f"{verdict.kind:8} {family}:{seed} {name}: {verdict.text}")
            if verdict.kind == "find":
                self.keep(family, seed, name, model, verdict)
            if name == "alive" and verdict.kind in ("refused", "find"):
                break

    def keep(self, family, seed, name, model, verdict):
        """Saves a find: as it was drawn, shrunk, with the variants that disagree and the amount."""
        sort = (family, name, verdict.what)
        alike = sum(1 for find in self.finds if find["sort"] == sort)
        used, small = list(self.run.used), model
        if alike < self.options.shrink:
            longest = shrink.LONGEST
            if not self.options.count and not self.options.case:
                longest = max(5.0, self.options.seconds - self.elapsed)
            small, verdict, used = shrink.shrink(model, name, verdict, self.run, self.progress, longest)
        folder = self.output / f"{name}_{family}_{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "drawn.yaml").write_text(model_text.text(model))
        for variant, text in used:
            (folder / f"{variant.replace(', ', '_').replace(' ', '_').replace('/', '_')}.yaml").write_text(text)
        line = f"{name} {family}:{seed} [{verdict.what}] {verdict.text}"
        (folder / "find.txt").write_text(
            f"{line}\n\nplain.yaml is the model under test, the other files its variants, drawn.yaml the model as drawn.\n"
            f"Again: tests/random/hunt.py --case {family}:{seed} --comparison {name} -v\n")
        self.finds.append({"sort": sort, "case": f"{family}:{seed}", "comparison": name, "what": verdict.what,
                           "text": verdict.text, "amount": verdict.amount, "folder": folder.name})
        with open(self.output / "index.txt", "a", encoding="utf-8") as index:
            index.write(f"{folder.name}: {line}\n")
        self.run.begin()

    def summary(self):
        width = max([len(name) for name in self.counts] + [10])
        lines = [f"{'comparison':{width}} " + " ".join(f"{kind:>8}" for kind in KINDS)]
        for name, counter in self.counts.items():
            lines.append(f"{name:{width}} " + " ".join(f"{counter[kind]:8}" for kind in KINDS))
        sorts = collections.Counter((f["comparison"], f["what"], f["sort"][0]) for f in self.finds)
        for (name, what, family), number in sorted(sorts.items()):
            lines.append(f"  {number:4} find{'s' if number > 1 else ' '} of {name} [{what}] in {family}")
        lines.append(f"{self.cases} cases in {self.elapsed:.0f} s, {self.run.processor:.0f} s of processor time, "
                     f"{len(self.finds)} finds{f' in {self.output}' if self.finds else ''}")
        return "\n".join(lines)


def main():
    options = parse()
    if options.print:
        for family, seed in cases(options):
            print(model_text.text(families.draw(family, seed)[0]))
        return 0
    hunt = Hunt(options)
    hunt.output.mkdir(parents=True, exist_ok=True)
    (hunt.output / "index.txt").unlink(missing_ok=True)
    try:
        for family, seed in cases(options):
            if not options.count and not options.case and hunt.elapsed > options.seconds:
                break
            hunt.case(family, seed)
    except KeyboardInterrupt:
        print("\nstopped; what was found is kept", file=sys.stderr)
    summary = hunt.summary()
    print(summary)
    (hunt.output / "summary.txt").write_text(summary + "\n\n" + "\n".join(
        f"{number:5} {text}" for text, number in hunt.messages.most_common()) + "\n")
    (hunt.output / "finds.json").write_text(json.dumps(hunt.finds, indent=1) + "\n")
    return 1 if hunt.finds else 0


if __name__ == "__main__":
    sys.exit(main())
