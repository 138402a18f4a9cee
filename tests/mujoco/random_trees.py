#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random robots as URDF and MJCF files, imported and compared with MuJoCo by compare.c.

usage: random_trees.py COMPARE_MUJOCO [SEEDS]; without a name it is skipped.
"""
import math
import pathlib
import random
import subprocess
import sys
import tempfile

SKIPPED = 77


def few(dice, n, size=1.0):
    return " ".join(repr(dice.uniform(-size, size)) for _ in range(n))


def direction(dice):
    """A vector that is not near zero."""
    while True:
        v = [dice.uniform(-1, 1) for _ in range(3)]
        if sum(x * x for x in v) > 0.1:
            return " ".join(map(repr, v))


def principal(dice):
    """Mass and principal moments of a box."""
    m, a, b, c = dice.uniform(0.2, 3), *(dice.uniform(0.05, 0.3) for _ in range(3))
    return m, [m / 12 * (b * b + c * c), m / 12 * (a * a + c * c), m / 12 * (a * a + b * b)]


def urdf(dice, n):
    parts = ['<robot name="random"><mujoco><compiler fusestatic="false"/></mujoco>', '<link name="l0"/>']
    for k in range(1, n + 1):
        m, (x, y, z) = principal(dice)
        parts.append(f'<link name="l{k}"><inertial><origin xyz="{few(dice, 3, 0.2)}" rpy="{few(dice, 3, 3)}"/><mass value="{m!r}"/>'
                     f'<inertia ixx="{x!r}" iyy="{y!r}" izz="{z!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>')
        kind = dice.choice(["revolute", "continuous", "prismatic", "fixed"] if k > 1 else ["revolute"])
        parts.append(f'<joint name="j{k}" type="{kind}"><parent link="l{dice.randrange(k)}"/><child link="l{k}"/>'
                     f'<origin xyz="{few(dice, 3, 0.4)}" rpy="{few(dice, 3, 3)}"/><axis xyz="{direction(dice)}"/>'
                     f'<limit lower="-9" upper="9" effort="1" velocity="1"/><dynamics damping="{dice.uniform(0, 0.5)!r}"/></joint>')
    return "\n".join(parts + ["</robot>"])


def turned(dice, sequence):
    """A rotation in one of the ways of MJCF."""
    return dice.choice([
        "", f'quat="{few(dice, 3)} 0.3"', f'euler="{few(dice, 3, 90)}"', f'axisangle="{direction(dice)} {few(dice, 1, 120)}"',
        f'zaxis="{direction(dice)}"', 'xyaxes="1 0.2 -0.3 0.1 -0.4 1"'])


def geom(dice, sequence):
    kind = dice.choice(["sphere", "capsule", "cylinder", "box", "ellipsoid", "fromto"])
    size = " ".join(repr(dice.uniform(0.02, 0.2)) for _ in range(3))
    shape = (f'type="capsule" fromto="{few(dice, 6, 0.2)}" size="{dice.uniform(0.01, 0.05)!r}"' if kind == "fromto"
             else f'type="{kind}" size="{size}" pos="{few(dice, 3, 0.2)}" {turned(dice, sequence)}')
    mass = dice.choice(["", f'mass="{dice.uniform(0.1, 2)!r}"', f'density="{dice.uniform(100, 3000)!r}"', 'class="light"'])
    return f"<geom {shape} {mass}/>"


def joint(dice, name):
    """Only one coordinate, a ball, or two in series."""
    kind = dice.choice(["hinge", "hinge", "slide", "ball"])
    spring = dice.choice(["", f'stiffness="{dice.uniform(0, 5)!r}"' + (f' springref="{dice.uniform(-40, 40)!r}"' if kind == "hinge" else "")])
    at = dice.choice(["", f'pos="{few(dice, 3, 0.1)}"'])
    ref = dice.choice(["", f'ref="{dice.uniform(-30, 30)!r}"']) if kind == "hinge" else ""
    own = dice.choice(["", f'armature="{dice.uniform(0, 0.1)!r}"', f'damping="{dice.uniform(0, 0.5)!r}"', 'class="stiff"'])
    return kind, f'<joint name="{name}" type="{kind}" axis="{direction(dice)}" {at} {spring} {ref} {own}/>'


def mjcf(dice, n, several):
    sequence = dice.choice(["xyz", "zyx", "XYZ", "zXy"])
    floats = dice.random() < 0.2
    motors, names = [], iter(range(1, n + 1))

    def body(level):
        k = next(names, None)
        if k is None:
            return ""
        inside = []
        if floats and level == 0:
            inside.append("<freejoint/>")
        else:
            for i in range(dice.choice([0, 1, 1, 1, 2]) if level else 1):
                kind, text = joint(dice, f"j{k}_{i}")
                inside.append(text)
                if kind == "ball":
                    break  # MuJoCo has no rotation behind it in the same body
                motors.append((f"j{k}_{i}", kind))
        if dice.random() < 0.5:
            m, (x, y, z) = principal(dice)
            inside.append(f'<inertial pos="{few(dice, 3, 0.2)}" {turned(dice, sequence)} mass="{m!r}" diaginertia="{x!r} {y!r} {z!r}"/>')
        else:
            inside += [geom(dice, sequence) for _ in range(dice.randrange(1, 4) if several else 1)]
        while dice.random() < 0.6 and level < 6:
            inside.append(body(level + 1))
        around = dice.choice(["", 'childclass="stiff"'])
        return f'<body name="b{k}" pos="{few(dice, 3, 0.3)}" {turned(dice, sequence)} {around}>' + "\n".join(inside) + "</body>"

    bodies = [body(0)]
    while (more := body(0)):
        bodies.append(more)
    actuators = []
    for i, (name, _) in enumerate(motors):
        kind = dice.choice(["motor", "position", "velocity", "general", None])
        gear = dice.choice(["", f'gear="{dice.uniform(-3, 3)!r}"'])
        if kind == "position":
            gear += f' kp="{dice.uniform(1, 20)!r}"'
        if kind == "general":
            gear += f' biastype="affine" gainprm="2" biasprm="{few(dice, 3)}"'
        if kind:
            gear += ' class="stiff"' if kind == "velocity" and i % 2 else ""
            actuators.append(f'<{kind} name="a{i}" joint="{name}" {gear}/>')
    return f"""<mujoco model="random">
<compiler eulerseq="{sequence}" angle="degree"/><option gravity="{few(dice, 3, 9)}"/>
<default><geom density="700"/><default class="light"><geom density="50"/></default>
<default class="stiff"><joint damping="0.2" stiffness="0.7"/><velocity kv="0.6"/></default></default>
<worldbody>{''.join(bodies)}</worldbody><actuator>{''.join(actuators)}</actuator></mujoco>"""


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else ""
    if not program:
        print("skipped: libmujoco-dev is not installed")
        sys.exit(SKIPPED)
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    faults, worst, worst_several = 0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for seed in range(seeds):
            dice = random.Random(seed)
            n = dice.randrange(1, 12)
            for kind, text in (("urdf", urdf(dice, n)), ("xml", mjcf(dice, n, False)), ("several.xml", mjcf(dice, n, True))):
                path = pathlib.Path(folder, f"{seed}.{kind}")
                path.write_text(text)
                pairs += [str(path), "-"]
        lines = subprocess.run([program, *pairs], capture_output=True, text=True, check=False).stdout.splitlines()
    if len(lines) != len(pairs) // 2:
        sys.exit(f"{len(lines)} results of {len(pairs) // 2} robots")
    for line in lines:
        name, verdict, *rest = line.split("\t")
        numbers = [float(x) for x in rest[1:]] if verdict == "same" else []
        # rounding errors of some hundred operations on numbers of order one; where a body has several shapes MuJoCo
        # finds principal axes of their sum by an iteration that stops at 1e-6
        loose = 1e-6 if name.endswith("several.xml") else 1e-11
        if verdict != "same" or not all(x < bound for x, bound in zip(numbers, (1e-13, loose, loose))):
            faults += 1
            print(line)
        if loose < 1e-6:
            worst = [max(a, b) for a, b in zip(worst, numbers or worst)]
        else:
            worst_several = [max(a, b) for a, b in zip(worst_several, numbers or worst_several)]
    for which, of in (("one shape for each body", worst), ("several", worst_several)):
        print(f"{which}: poses to {of[0]:.1e}, mass matrices to {of[1]:.1e}, forces to {of[2]:.1e}")
    print(f"{len(lines)} robots, {faults} differ")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
