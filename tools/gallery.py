#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every example, writes a page of each, and an index with a picture of each: build/gallery/index.html.

usage: tools/gallery.py SINEW [--out FOLDER] [--limit SECONDS] [--only PART] [--pictures FOLDER]

Examples that take minutes, those in examples/*/long, are left out, and those that take longer than the limit here
(120 s). Files newer than their example and the command are not made again. Without Chromium the pictures are shapes
drawn by `sinew plot`. With --pictures only those of the README are made, into that folder.
"""
import argparse
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = {
    "rods": ("Rods", "One rod, clamped, free or moved: bent, twisted, wound, buckled and let go."),
    "tendon": ("Tendons", "Rods that cables pull."),
    "fluid": ("Fluids", "Rods that air and water move, from within and from around."),
    "fields": ("Fields", "Magnetised rods and bodies, and fields of force."),
    "parallel": ("Parallel", "Closed loops of rods, from two limbs to Stewart and Gough's six."),
    "hybrid": ("Hybrid", "Rigid links and soft rods, joints, impacts and ground."),
    "imported": ("Imported", "Robots from URDF files that get soft parts."),
    "locomotion": ("Locomotion", "Robots that go somewhere."),
    "shooting": ("Shooting", "Rods by the second engine, along their length."),
    "identification": ("Identification", "Models that measurements find."),
    "contact": ("Contact", "Rods and bodies that touch obstacles, each other and themselves."),
    "tubes": ("Concentric tubes", "Curved tubes in one another that turn and snap."),
    "reduced": ("Reduced models", "Robots with few strain functions, found in the results of larger ones."),
    "paths": ("Paths", "Equilibria followed through folds and branch points."),
    "control": ("Control", "Feedback that balances and damps."),
    "optimal": ("Optimal motion", "Motions, strides and shapes that cost least."),
    "workspace": ("Workspaces", "Robots with maps of where they reach."),
}
for folder in sorted(p.name for p in ROOT.glob("examples/*") if list(p.glob("*.yaml"))):
    FAMILIES.setdefault(folder, (folder.capitalize(), ""))
# best picture of an example, where it is not its end or two thirds of its time: run, fraction of the time
MOMENTS = {
    "contact/plectoneme": {"run": "ply"},
    "contact/twisted_ring": {"run": "fold"},
    "hybrid/dropped_rod": {"share": 0.08},
    "hybrid/two_drones": {"share": 0.3},
    "locomotion/falling_cat": {"run": "weightless", "share": 0.5},
    "locomotion/inchworm": {"share": 0.58},
    "locomotion/snake3d": {"run": "spiral"},
    "parallel/stewart_gough": {"run": "edge"},
    "rods/michell_ring": {"run": "snap", "share": 0.59},
    "rods/sleeve": {"run": "catheter.1"},
    "rods/active_damping": {"share": 0.05},
    "tendon/two_sections": {"keys": ["2"]},
}
# pictures of the README: example, file, and what the job of viewer/shoot.mjs has besides
PICTURES = [
    {"example": "contact/soft_grasp", "picture": "gripper.png", "share": 0.9, "bare": False},
]


def say(text):
    print(text, flush=True)


def head_of(path):
    """Title and first paragraph of the opening comment."""
    text = path.read_text()
    title = re.search(r"^title:\s*(.+)$", text, re.M)
    comment = []
    for line in text.splitlines():
        if not line.startswith("#") or not line[1:].strip():
            break
        comment.append(line[1:].strip())
    return title[1].strip("\"' ") if title else path.stem, " ".join(comment)


class Example:
    def __init__(self, path, out):
        self.path, self.family = path, path.parent.name
        self.name = f"{self.family}_{path.stem}"
        self.title, self.text = head_of(path)
        self.results, self.page = out / f"{self.name}.h5", out / f"{self.name}.html"
        self.picture = out / f"{self.name}.png"
        self.left_out, self.seconds, self.runs, self.frames = "", 0.0, 0, 0

    def is_newer(self, made, *sources):
        return made.exists() and all(made.stat().st_mtime > s.stat().st_mtime for s in (self.path, *sources))

    def run(self, sinew, limit):
        """Results and page; False when it takes too long or fails."""
        note = self.results.with_suffix(".json")
        if not (self.is_newer(self.page, sinew) and note.exists()):
            start = time.monotonic()
            process = subprocess.Popen([sinew, "run", self.path, "-o", self.results], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       text=True)
            try:
                _, words = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.communicate()
                self.left_out = f"takes longer than {limit:g} s"
                return False
            self.seconds = time.monotonic() - start
            if process.returncode:
                self.left_out = words.strip().splitlines()[-1] if words.strip() else "failed"
                return False
            done = subprocess.run([sinew, "view", self.results, "-o", self.page, "--json"], capture_output=True, text=True)
            if done.returncode:
                self.left_out = done.stderr.strip()
                return False
            runs = json.loads(done.stdout)["runs"]
            note.write_text(json.dumps({"seconds": self.seconds, "runs": len(runs), "frames": sum(r["frames"] for r in runs)}))
        for key, value in json.loads(note.read_text()).items():
            setattr(self, key, value)
        return True


def job(e, picture, width, height):
    return {"page": str(e.page), "picture": str(picture), "width": width, "height": height, "bare": True,
            **MOMENTS.get(f"{e.family}/{e.path.stem}", {})}


def shoot(jobs, out, each):
    """Pictures by the browser; False when there is none."""
    listing = out / "pictures.json"
    listing.write_text(json.dumps(jobs))
    try:
        process = subprocess.Popen(["node", ROOT / "viewer/shoot.mjs", listing], stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        say("no pictures: there is no Node")
        return False
    for line in process.stdout:
        each(line.strip())
    return process.wait() != 77


def draw_shapes(sinew, examples):
    """Replacement without a browser."""
    for e in examples:
        e.picture = e.picture.with_suffix(".svg")
        run = MOMENTS.get(f"{e.family}/{e.path.stem}", {}).get("run")
        subprocess.run([sinew, "plot", e.results, "--shape", "--size", "96x60", "-o", e.picture, *(["--run", run] if run else [])],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def take_pictures(sinew, examples, out):
    wanted = [e for e in examples if not (e.picture.exists() and e.picture.stat().st_mtime > e.page.stat().st_mtime)]
    jobs = [job(e, e.picture, 640, 420) for e in wanted]
    count = [0]

    def each(line):
        count[0] += 1
        say(f"  picture {count[0]} of {len(jobs)}: {line.replace(str(out) + '/', '')}")

    if jobs and not shoot(jobs, out, each):
        say("  no browser: pictures are shapes, drawn by sinew plot")
        draw_shapes(sinew, examples)


STYLE = """
:root { color-scheme: light dark; --back: #f6f4ee; --card: #fff; --ink: #21272d; --soft: #667079; --line: #e3dfd5; --mark: #1f7a85 }
@media (prefers-color-scheme: dark) { :root { --back: #14181d; --card: #1d2229; --ink: #e8ebee; --soft: #98a2ac; --line: #2c333b; --mark: #5cc0c9 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
header, main { max-width: 1240px; margin: 0 auto; padding: 0 24px }
header { padding-top: 56px; padding-bottom: 8px }
h1 { font-size: 34px; letter-spacing: -.02em; margin: 0 0 6px }
header p { color: var(--soft); max-width: 62ch; margin: 0 }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin: 20px 0 0 }
nav a { color: var(--ink); text-decoration: none; border: 1px solid var(--line); background: var(--card); border-radius: 999px; padding: 4px 14px; font-size: 14px }
nav a:hover { border-color: var(--mark) }
h2 { font-size: 20px; margin: 44px 0 2px } h2 + p { margin: 0 0 16px; color: var(--soft) }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(272px, 1fr)); gap: 18px; list-style: none; padding: 0; margin: 0 }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; overflow: hidden; display: flex; flex-direction: column; transition: transform .15s, box-shadow .15s }
.card:hover { transform: translateY(-2px); box-shadow: 0 8px 24px #0002 }
.card a { color: inherit; text-decoration: none; display: block }
.card a:focus-visible { outline: 3px solid var(--mark); outline-offset: -3px }
.card img { width: 100%; aspect-ratio: 640 / 420; object-fit: cover; display: block; background: #f2f0ea; border-bottom: 1px solid var(--line) }
.card h3 { font-size: 15.5px; line-height: 1.3; margin: 12px 14px 4px }
.card p { font-size: 13.5px; line-height: 1.45; color: var(--soft); margin: 0 14px 10px }
.card small { display: flex; justify-content: space-between; gap: 8px; margin: auto 14px 12px; color: var(--soft); font-size: 12px }
.card small a { color: var(--mark) }
footer { max-width: 1240px; margin: 0 auto; padding: 36px 24px 60px; color: var(--soft); font-size: 14px }
@media (prefers-reduced-motion: reduce) { .card { transition: none } }
"""


def plural(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def write_index(out, examples, left_out):
    def link(path):
        return html.escape(os.path.relpath(path, out))

    def card(e):
        # the first sentence, without its references
        text = re.sub(r"\s*\([^)]*\)", "", e.text)
        lead = re.match(r".*?(?<!et al)[.:](?=\s|$)", text)
        text = lead[0].rstrip(":.") + "." if lead else text
        return (f'<li class="card"><a href="{link(e.page)}"><img loading="lazy" src="{link(e.picture)}" alt=""><h3>{html.escape(e.title)}</h3>'
                f"<p>{html.escape(text)}</p></a><small><span>{plural(e.runs, 'run')}, {plural(e.frames, 'frame')}</span>"
                f'<a href="{link(e.path)}">{html.escape(e.path.name)}</a></small></li>')

    parts, places = [], []
    for family, (name, text) in FAMILIES.items():
        own = [e for e in examples if e.family == family]
        if own:
            places.append(f'<a href="#{family}">{name} {len(own)}</a>')
            parts.append(f'<h2 id="{family}">{name}</h2><p>{text}</p><ul class="cards">{"".join(map(card, own))}</ul>')
    rest = "".join(f"<li>{html.escape(e.family)}/{html.escape(e.path.name)}: {html.escape(e.left_out)}</li>" for e in left_out)
    (out / "index.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Sinew: examples</title><style>{STYLE}</style><header><h1>Sinew: examples</h1><p>Soft, continuum, parallel and hybrid robots, "
        f"computed here just now. Each picture opens the robot in three dimensions, to be turned and played, beside its curves.</p>"
        f'<nav aria-label="families">{"".join(places)}</nav></header><main>{"".join(parts)}</main><footer>{plural(len(examples), "example")}. '
        f"Those that take minutes, examples/*/long, are left out{', and so are:<ul>' + rest + '</ul>' if rest else '.'}</footer></html>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sinew", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--out", type=lambda p: pathlib.Path(p).resolve(), default=ROOT / "build/gallery")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--only", default="", help="examples whose name has this in it")
    parser.add_argument("--pictures", type=lambda p: pathlib.Path(p).resolve())
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    paths = sorted(ROOT.glob("examples/*/*.yaml"), key=lambda p: (list(FAMILIES).index(p.parent.name), p.stem))
    if args.pictures:
        paths = [ROOT / "examples" / f"{p['example']}.yaml" for p in PICTURES]
    examples, left_out = [], []
    paths = [p for p in paths if args.only in str(p)]
    for i, path in enumerate(paths):
        e = Example(path, args.out)
        good = e.run(args.sinew, args.limit)
        (examples if good else left_out).append(e)
        say(f"  [{i + 1}/{len(paths)}] {e.family}/{path.stem}: {f'{e.seconds:.1f} s, ' + plural(e.frames, 'frame') if good else 'left out: ' + e.left_out}")
    if args.pictures:
        jobs = [job(e, args.pictures / p["picture"], 1360, 820) | {k: p[k] for k in ("share", "bare")}
                for p, e in zip(PICTURES, examples, strict=True)]
        if not shoot(jobs, args.out, say):
            sys.exit(1)
        return
    take_pictures(args.sinew, examples, args.out)
    write_index(args.out, examples, left_out)
    say(f"open {os.path.relpath(args.out / 'index.html')} in a browser")


if __name__ == "__main__":
    main()
