# SPDX-License-Identifier: MIT
"""Pages of the examples: story, picture, model and a table of expected and computed values, a page for each family."""
import html
import json
import pathlib
import re
import subprocess

from gallery import FAMILIES, head_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
# files of the examples that have a page, and their language
SHOWN = {".yaml": "yaml", ".c": "c", ".py": "python"}
OTHER = {"c": ("C programs", "Programs that use the library."), "python": ("Python programs", "Programs that use the package.")}


def story(path):
    """The comment at the head of a file, as paragraphs."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:])
    # indented lines are commands and tables
    return "\n".join("    " + text.strip() if text.startswith("   ") else html.escape(text.strip(), quote=False).replace("*", "\\*").replace("_", "\\_")
                     for text in lines)


def verified(sinew, path, kept):
    """What `sinew verify` says of an example; kept until the example or the command changes."""
    note = kept / f"{path.parent.name}_{path.stem}.json"
    if not note.exists() or any(note.stat().st_mtime < p.stat().st_mtime for p in (path, sinew)):
        note.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([sinew, "verify", path, "--json"], capture_output=True, text=True)
        note.write_text(done.stdout)
    return json.loads(note.read_text())["files"][0]


def number(value):
    return "" if value is None else f"{value:.9g}"


def small(value):
    return "" if value is None else f"{value:.1e}"


def table(values):
    """Expected and computed values, a row each."""
    rows = ["| | probe | run | where | computed | reference | error | allowed | source |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for v in values:
        mark = "✓" if v["ok"] else "**missed**"
        wanted = {"below": "below ", "above": "above "}.get(v["how"], "") + number(v["wanted"])
        bound = "" if v["how"] in ("below", "above") else small(v["tolerance"])
        source = html.escape(v["source"] or "", quote=False).replace("|", "\\|").replace("*", "\\*")
        rows.append(f"| {mark} | `{v['probe']}` | {v['run']} | {v['where'].replace('|', ' ')} | {number(v['got'])} | {wanted} | {small(v['error'])} | {bound} | {source} |")
    return "\n".join(rows)


def worst(values):
    """Largest error as a part of what is allowed."""
    parts = [v["error"] / v["tolerance"] for v in values if v["how"] not in ("below", "above") and v["error"] is not None and v["tolerance"]]
    return max(parts, default=None)


def example_page(path, checks, gallery):
    title, _ = head_of(path)
    name = f"{path.parent.name}_{path.stem}"
    parts = [f"# {title}", story(path)]
    picture = next((p for p in (gallery / f"{name}.png", gallery / f"{name}.svg") if p.exists()), None)
    if picture:
        parts.append(f'```{{raw}} html\n<p><a href="../../gallery/{name}.html"><img src="../../gallery/{picture.name}" alt="{html.escape(title)}"></a></p>\n'
                     f'<p><a href="../../gallery/{name}.html">Open it in three dimensions</a></p>\n```')
    if checks and checks["values"]:
        parts += ["## Values", "Each computed value with its reference, the error, and the error that is allowed.", table(checks["values"])]
    parts += ["## Model", f"`examples/{path.parent.name}/{path.name}`", f"```yaml\n{path.read_text().rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def pages(options):
    """Texts of the pages by their path on the site."""
    out, families = {}, []
    kept = options.out / "verified"
    for folder, (name, about) in (FAMILIES | OTHER).items():
        files = sorted(p for p in (ROOT / "examples" / folder).glob("*") if p.suffix in SHOWN)
        if not files:
            continue
        rows = []
        for path in files:
            if path.suffix != ".yaml":
                text = path.read_text().rstrip()
                out[f"examples/{folder}/{path.stem}.md"] = f"# {path.name}\n\n```{SHOWN[path.suffix]}\n{text}\n```\n"
                rows.append((path, path.name, None))
                continue
            checks = None if options.quick else verified(options.sinew, path, kept)
            out[f"examples/{folder}/{path.stem}.md"] = example_page(path, checks, options.gallery)
            rows.append((path, head_of(path)[0], checks))
        out[f"examples/{folder}/index.md"] = family_page(name, about, rows)
        families.append((folder, name, about, rows))
    intro = (ROOT / "docs/validation.md").read_text().split("<!-- values -->")[0]
    out["validation.md"] = intro + summary(families, options.quick)
    out["examples/index.md"] = gallery_page(families, options.gallery)
    return out


def family_page(name, about, rows):
    lines = [f"# {name}", "", about, ""]
    if not any(checks for _, _, checks in rows):
        return "\n".join(lines + [f"- [{title}]({path.stem}.md)" for path, title, _ in rows]) + "\n"
    lines += ["| example | values | missed | largest error, part of the allowed |", "| --- | --- | --- | --- |"]
    for path, title, checks in rows:
        values = checks["values"] if checks else []
        part = worst(values)
        lines.append(f"| [{title.replace('|', ' ')}]({path.stem}.md) | {len(values)} | {sum(not v['ok'] for v in values)} | {'' if part is None else f'{part:.2g}'} |")
    return "\n".join(lines) + "\n"


def summary(families, quick):
    """What docs/validation.md has behind its mark: a table of the families."""
    lines = ["*This build left the values out (`make site QUICK=1`).*", ""] if quick else []
    lines += ["| family | examples | values | missed |", "| --- | --- | --- | --- |"]
    total = [0, 0, 0]
    for folder, name, _, rows in families:
        if folder in OTHER:
            continue
        values = [v for _, _, checks in rows if checks for v in checks["values"]]
        numbers = [len(rows), len(values), sum(not v["ok"] for v in values)]
        total = [a + b for a, b in zip(total, numbers)]
        lines.append(f"| [{name}](examples/{folder}/index.md) | {numbers[0]} | {numbers[1]} | {numbers[2]} |")
    lines.append(f"| all | {total[0]} | {total[1]} | {total[2]} |")
    return "\n".join(lines) + "\n"


def gallery_page(families, gallery):
    lines = ["# Gallery", "", "Every example; a picture opens its page, with the story, the model and its values.", ""]
    for folder, name, about, rows in families:
        lines += [f"## {name}", "", f"{about} [Table](./{folder}/index.md)" if about else f"[Table](./{folder}/index.md)", ""]
        pictured = [(p, t, next((g for g in (gallery / f"{folder}_{p.stem}.png", gallery / f"{folder}_{p.stem}.svg") if g.exists()), None)) for p, t, _ in rows]
        if any(g for _, _, g in pictured):
            cards = "".join(f'<li><a href="{folder}/{p.stem}.html"><img loading="lazy" src="../gallery/{g.name}" alt=""><span>{html.escape(t)}</span></a></li>' for p, t, g in pictured if g)
            lines += [f'```{{raw}} html\n<ul class="cards">{cards}</ul>\n```', ""]
        lines += [f"- [{t}](./{folder}/{p.stem}.md)" for p, t, g in pictured if not g] + [""]
    return "\n".join(lines) + "\n"
