# SPDX-License-Identifier: MIT
"""A sketch of a robot for notebooks: its nodes seen from above at an angle, as SVG, without any other program."""

from __future__ import annotations

import html

import numpy as np

from ._core import Parts
from ._types import Array

_COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2")
# world x to the left front, y to the right, z up; rows: right and up of the drawing
_VIEW = np.array([[-0.5, 0.8660254037844386, 0.0], [-0.4330127018922193, -0.25, 0.8660254037844386]])


def svg(positions: Array, links: Parts, width: int = 360, height: int = 260) -> str:
    """Drawing of the nodes (m, world frame) of each link: a line for each link, and a scale."""
    points = positions @ _VIEW.T
    low, high = points.min(axis=0, initial=0.0), points.max(axis=0, initial=0.0)
    size = max(float((high - low).max()), 1e-12)
    scale = 0.8 * min(width, height) / size
    middle = (low + high) / 2

    def at(p: Array) -> str:
        x, y = width / 2 + scale * (p[0] - middle[0]), height / 2 - scale * (p[1] - middle[1])
        return f"{x:.1f},{y:.1f}"

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">']
    for i, axis in enumerate(np.eye(3)):
        tip = axis * 0.12 * size
        x, y = at(_VIEW @ tip).split(",")
        out.append(f'<polyline points="{at(np.zeros(2))} {x},{y}" stroke="#999"/>'
                   f'<text x="{x}" y="{y}" font-size="10" fill="#777">{"xyz"[i]}</text>')  # fmt: skip
    for k, part in enumerate(links[i] for i in range(len(links))):
        own, colour = points[part.nodes], _COLOURS[k % len(_COLOURS)]
        name = f"<title>{html.escape(part.name)}</title>"
        line = " ".join(at(p) for p in own)  # a body may have one node, which is drawn as a dot
        out.append(f'<polyline points="{line} {line if len(own) == 1 else ""}" fill="none" stroke="{colour}" '
                   f'stroke-width="5" stroke-linejoin="round" stroke-linecap="round">{name}</polyline>')  # fmt: skip
    bar = 10.0 ** np.floor(np.log10(size / 2))
    bar *= max(k for k in (1, 2, 5) if k * bar <= size / 2)
    out.append(f'<path d="M 8 {height - 8} h {scale * bar:.1f}" stroke="#555" stroke-width="2"/>'
               f'<text x="8" y="{height - 13}" font-size="11" fill="#555">{bar:g} m</text></svg>')  # fmt: skip
    return "".join(out)
