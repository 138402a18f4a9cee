# SPDX-License-Identifier: MIT
"""Lengths of the legs of Till's Stewart-Gough robot for poses of its plate: statics of six rods by shooting.

Six rods leave a base through holes along z. They are clamped there and in a plate, whose pose is given. The program finds the free
lengths for which only gravity acts on the plate. Each rod is a Cosserat rod in strong form,

    p' = R (e3 + inv(Kse) R'n),   R' = R (inv(Kbt) R'm)^,   n' = -rho A g,   m' = -p' x n

integrated from its base by the classical Runge-Kutta rule. Newton's method finds the forces and moments at the bases and the
lengths. The robot and the path of the plate, along -x at a height of 0.5 m without rotation, are symmetric in y: legs 1, 3, 4
suffice.

    python3 tests/oracle/stewart.py > examples/parallel/stewart_gough.csv

With `euler` the march is that of the text: Euler's rule on 200 points, rotations by quaternions that are not normalised. Its
equilibria have other lengths, and lose stability sooner.

    python3 tests/oracle/stewart.py euler > tests/oracle/till/stewart_gough_euler.csv
"""
import sys
from math import cos, pi, radians, sin

E, NU, RADIUS, RHO, MASS, GRAVITY = 207e9, 0.3, 1e-3, 8000.0, 0.0921, 9.81
AREA, SECOND = pi * RADIUS**2, pi * RADIUS**4 / 4
G = E / (2 * (1 + NU))
EI, GJ, EA, GA = E * SECOND, 2 * G * SECOND, E * AREA, G * AREA
BASE = (-10, 110, 130)  # holes of legs 1, 3, 4; those of 2, 6, 5 are their mirrors
PLATE = (-50, 70, 170)
CIRCLE = 0.087
STEPS = 60
SPEED = 0.08  # m/s
EULER = "euler" in sys.argv[1:]


def hole(angle):
    return CIRCLE * cos(radians(angle)), CIRCLE * sin(radians(angle))


def slope(y, length):
    """Derivative of position, rotation (rows), force and moment by s/length."""
    r, n, m = y[3:12], y[12:15], y[15:18]
    turn = [(r[0 + j] * m[0] + r[3 + j] * m[1] + r[6 + j] * m[2]) for j in range(3)]
    pull = [(r[0 + j] * n[0] + r[3 + j] * n[1] + r[6 + j] * n[2]) for j in range(3)]
    u = (turn[0] / EI, turn[1] / EI, turn[2] / GJ)
    v = (pull[0] / GA, pull[1] / GA, 1 + pull[2] / EA)
    p = [r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2] for i in range(3)]
    d = list(p)
    for i in range(3):
        a, b, c = r[3 * i:3 * i + 3]
        d += [b * u[2] - c * u[1], c * u[0] - a * u[2], a * u[1] - b * u[0]]
    d += [0.0, 0.0, RHO * AREA * GRAVITY]
    d += [n[1] * p[2] - n[2] * p[1], n[2] * p[0] - n[0] * p[2], n[0] * p[1] - n[1] * p[0]]
    return [length * x for x in d]


def turned(h):
    """Rotation matrix, row by row, of a quaternion of any norm."""
    w, x, y, z = h
    s = 2 / (w * w + x * x + y * y + z * z)
    return [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
            s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x),
            s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)]


def march_euler(leg, x, points=200):
    """The same as `march`, by the rule of the text."""
    p, h, n, m = list(hole(BASE[leg])) + [0.0], [1.0, 0.0, 0.0, 0.0], x[:3], x[3:6]
    ds = x[6] / (points - 1)
    for _ in range(points - 1):
        r = turned(h)
        d = slope(p + r + n + m, 1.0)
        u = [sum(r[3 * i + j] * m[i] for i in range(3)) / (EI, EI, GJ)[j] for j in range(3)]
        w, a, b, c = h
        turn = (-a * u[0] - b * u[1] - c * u[2], w * u[0] + b * u[2] - c * u[1],
                w * u[1] + c * u[0] - a * u[2], w * u[2] + a * u[1] - b * u[0])
        h = [s + 0.5 * ds * t for s, t in zip(h, turn)]
        p = [s + ds * t for s, t in zip(p, d[:3])]
        n = [s + ds * t for s, t in zip(n, d[12:15])]
        m = [s + ds * t for s, t in zip(m, d[15:18])]
    return p + turned(h) + n + m


def march(leg, x):
    """State at the tip of a leg with base force and moment and length x."""
    if EULER:
        return march_euler(leg, x)
    y = list(hole(BASE[leg])) + [0.0, 1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0] + x[:6]
    h, length = 1.0 / STEPS, x[6]
    for _ in range(STEPS):
        a = slope(y, length)
        b = slope([s + 0.5 * h * t for s, t in zip(y, a)], length)
        c = slope([s + 0.5 * h * t for s, t in zip(y, b)], length)
        d = slope([s + h * t for s, t in zip(y, c)], length)
        y = [s + h / 6 * (k + 2 * q + 2 * w + z) for s, k, q, w, z in zip(y, a, b, c, d)]
    return y


def missed(leg, x, plate):
    """Violation of the clamp between tip and plate (six numbers), and the load of the leg on the plate: fx, fz, my."""
    y = march(leg, x)
    px, py = hole(PLATE[leg])
    r, n, m = y[3:12], y[12:15], y[15:18]
    gap = [y[0] - plate[0] - px, y[1] - py, y[2] - plate[1], r[7] - r[5], r[2] - r[6], r[3] - r[1]]
    arm = (px, py, 0.0)
    about = m[1] + arm[2] * n[0] - arm[0] * n[2]
    return gap + [n[0], n[2], about]


def solve(a, b):
    """b <- inv(a) b by elimination."""
    n = len(b)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[p], b[k], b[p] = a[p], a[k], b[p], b[k]
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            if f:
                b[i] -= f * b[k]
                for j in range(k, n):
                    a[i][j] -= f * a[k][j]
    for k in reversed(range(n)):
        b[k] = (b[k] - sum(a[k][j] * b[j] for j in range(k + 1, n))) / a[k][k]
    return b


UNIT = [1e-4] * 3 + [1e-5] * 3 + [1e-6]  # steps of the differences: forces, moments, length


def lengths(plate, x):
    """Newton's method from x, seven numbers for each of legs 1, 3, 4; returns those at the equilibrium."""
    for _ in range(30):
        r, a = [0.0] * 21, [[0.0] * 21 for _ in range(21)]
        r[19] = -MASS * GRAVITY / 2  # half of the plate: three legs of six
        for leg in range(3):
            own = x[7 * leg:7 * leg + 7]
            here = missed(leg, own, plate)
            for i in range(6):
                r[6 * leg + i] = here[i]
            for i in range(3):
                r[18 + i] -= here[6 + i]
            for j in range(7):
                up, down = own[:], own[:]
                up[j] += UNIT[j]
                down[j] -= UNIT[j]
                d = [(s - t) / (2 * UNIT[j]) for s, t in zip(missed(leg, up, plate), missed(leg, down, plate))]
                for i in range(6):
                    a[6 * leg + i][7 * leg + j] = d[i]
                for i in range(3):
                    a[18 + i][7 * leg + j] = -d[6 + i]
        step = solve(a, r)
        x = [s - t for s, t in zip(x, step)]
        if max(abs(t) for t in step) < 1e-11:
            return x
    raise SystemExit("no equilibrium at %g" % plate[0])


def guess(plate):
    """Initial guess from beams that are clamped at one end and guided at the other."""
    x = []
    for leg in range(3):
        b, p = hole(BASE[leg]), hole(PLATE[leg])
        d, z = (p[0] + plate[0] - b[0], p[1] - b[1]), plate[1]
        x += [12 * EI * d[0] / z**3, 12 * EI * d[1] / z**3, -MASS * GRAVITY / 6]
        x += [-6 * EI * d[1] / z**2, 6 * EI * d[0] / z**2, 0.0, z + 0.6 * (d[0]**2 + d[1]**2) / z]
    return x


def main():
    print("# free lengths in m of the legs of Till's Stewart-Gough robot whose plate is at (-0.08 m/s t, 0, 0.5 m), not")
    print("# turned, in equilibrium: by tests/oracle/stewart.py, shooting with the strong form of Cosserat rods")
    if EULER:
        print("# that a march by Euler's rule on 200 points, with quaternions, takes for it")
    print("time, leg1, leg2, leg3, leg4, leg5, leg6")
    x = guess((0.0, 0.5))
    for k in range(101 if EULER else 116):
        at = -0.002 * k
        x = lengths((at, 0.5), x)
        a, b, c = x[6], x[13], x[20]
        print("%.5g, %.12f, %.12f, %.12f, %.12f, %.12f, %.12f" % (-at / SPEED, a, a, b, c, c, b), flush=True)


if __name__ == "__main__":
    main()
