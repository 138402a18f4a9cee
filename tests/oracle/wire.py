# SPDX-License-Identifier: MIT
"""Points of a wire that a tendon beside its axis bends to a circular arc, with measurement errors: references.md G7.10, closed form."""
import math
import random

YOUNG, MOMENT, ARM, LENGTH, NOISE = 293e9, 2.1058e-13, 11e-3, 0.25, 0.1e-3


def arc(tension, count):
    """Points of the wire in its plane, at equally spaced stations from root to tip."""
    curvature = tension * ARM / (YOUNG * MOMENT)
    angles = [curvature * LENGTH * k / (count - 1) for k in range(count)]
    return [(math.sin(a) / curvature, (1 - math.cos(a)) / curvature, 0.0) for a in angles]


def rotation(roll, pitch, yaw):
    """Rotation about x, then y, then z of the world."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr]]


def seen(points, turn, shift, chance, noise=NOISE):
    """The points in the rotated and shifted frame of a camera, each number with a random error."""
    return [[s + sum(a * b for a, b in zip(row, p)) + chance.gauss(0, noise) for row, s in zip(turn, shift)]
            for p in points]


def example():
    """The text of examples/identification/young.csv."""
    chance = random.Random(710)
    lines = ["t," + ",".join(f"wire@{k}.{c}" for k in range(11) for c in "xy")]
    for tension in range(1, 11):
        points = seen(arc(tension, 11), rotation(0, 0, math.radians(2)), (1.5e-3, -0.8e-3, 0), chance)
        lines.append(f"{tension}," + ",".join(f"{value:.6f}" for p in points for value in p[:2]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(example(), end="")
