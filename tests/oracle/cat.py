# SPDX-License-Identifier: MIT
"""Rotation of a cat of two rigid halves joined at the waist, with zero angular momentum: examples/locomotion/falling_cat.yaml.

w is the angular velocity of the front half in its own axes, R the attitude of the rear half in these axes and v its relative
angular velocity there:
  I1 w + R I2 R'(w + v) + mu rho x (w x rho + v x c) = 0
rho is the vector from one centre of mass to the other, c that from the waist to the centre of the rear half, mu the reduced mass.
Quaternions are integrated by the classical Runge-Kutta method."""
from math import asin, atan, cos, pi, sin, sqrt, tan

HALF, RADIUS = 0.22, 0.06


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(A, v):
    return [sum(a * x for a, x in zip(row, v)) for row in A]


def product(A, B):
    return [times(list(zip(*B)), row) for row in A]


def solve(A, b):
    """x of A x = b for 3 x 3 matrices: Cramer's rule by triple products of the columns."""
    x, y, z = zip(*A)
    volume = sum(p * q for p, q in zip(x, cross(y, z)))
    return [sum(p * q for p, q in zip(b, cross(*pair))) / volume for pair in ((y, z), (z, x), (x, y))]


def cylinder(mass, radius, length, axis):
    across, along = mass * (radius**2 / 4 + length**2 / 12), mass * radius**2 / 2
    return [[(along if i == axis else across) * (i == j) for j in range(3)] for i in range(3)]


def together(parts):
    """Total mass, centre of mass and inertia about it of parts (mass, centre, inertia)."""
    mass = sum(m for m, _, _ in parts)
    c = [sum(m * p[i] for m, p, _ in parts) / mass for i in range(3)]
    inertia = [[0.0] * 3 for _ in range(3)]
    for m, p, own in parts:
        d = [a - b for a, b in zip(p, c)]
        for i in range(3):
            for j in range(3):
                inertia[i][j] += own[i][j] + m * (sum(x * x for x in d) * (i == j) - d[i] * d[j])
    return mass, c, inertia


def legs(x):
    return [(0.15, [x, y, -0.12], cylinder(0.15, 0.015, 0.14, 2)) for y in (-0.04, 0.04)]


HEAD = (0.4, [HALF + 0.05, 0, 0.04], [[0.4 * 0.4 * 0.05**2 * (i == j) for j in range(3)] for i in range(3)])
TAIL = (0.1, [-HALF - 0.13, 0, 0.02], cylinder(0.1, 0.01, 0.28, 0))
FRONT = together([(1.5, [HALF / 2, 0, 0], cylinder(1.5, RADIUS, HALF, 0)), HEAD, *legs(0.18)])
REAR = together([(1.5, [-HALF / 2, 0, 0], cylinder(1.5, RADIUS, HALF, 0)), TAIL, *legs(-0.18)])


def step(t, start, end):
    u = min(max((t - start) / (end - start), 0), 1)
    return u**3 * (10 - 15 * u + 6 * u * u), 30 * u * u * (1 - u) ** 2 / (end - start)


def waist(t, most):
    """Angles of the waist about y and z, and their rates."""
    (up, dup), (down, ddown), (turn, dturn) = step(t, 0, 0.1), step(t, 0.4, 0.5), step(t, 0.05, 0.45)
    b, db, f, df = most * (up - down), most * (dup - ddown), 2 * pi * turn, 2 * pi * dturn
    q1, q2 = atan(tan(b) * cos(f)), asin(sin(b) * sin(f))
    dq1 = (db / cos(b) ** 2 * cos(f) - tan(b) * sin(f) * df) / (1 + (tan(b) * cos(f)) ** 2)
    dq2 = (cos(b) * sin(f) * db + sin(b) * cos(f) * df) / sqrt(1 - (sin(b) * sin(f)) ** 2)
    return q1, q2, dq1, dq2


def rate(t, most):
    q1, q2, dq1, dq2 = waist(t, most)
    about_y = [[cos(q1), 0, sin(q1)], [0, 1, 0], [-sin(q1), 0, cos(q1)]]
    R = product(about_y, [[cos(q2), -sin(q2), 0], [sin(q2), cos(q2), 0], [0, 0, 1]])
    v = [a + b for a, b in zip([0, dq1, 0], times(about_y, [0, 0, dq2]))]
    (m1, c1, I1), (m2, c2, I2) = FRONT, REAR
    c, mu = times(R, c2), m1 * m2 / (m1 + m2)
    rho = [a - b for a, b in zip(c, c1)]
    J = product(product(R, I2), list(zip(*R)))
    A = [[I1[i][j] + J[i][j] + mu * (sum(x * x for x in rho) * (i == j) - rho[i] * rho[j]) for j in range(3)] for i in range(3)]
    own = [a + mu * b for a, b in zip(times(J, v), cross(rho, cross(v, c)))]
    return solve(A, [-x for x in own])


def turn(most, n):
    """Rotation of the front half after half a second, a quaternion in its own axes."""
    def slope(t, q):
        (w, x, y, z), (a, b, c) = q, rate(t, most)
        return [(-x * a - y * b - z * c) / 2, (w * a + y * c - z * b) / 2, (w * b + z * a - x * c) / 2, (w * c + x * b - y * a) / 2]
    def moved(q, h, k):
        return [a + h * b for a, b in zip(q, k)]
    q, h = [1.0, 0.0, 0.0, 0.0], 0.5 / n
    for i in range(n):
        t = i * h
        k1 = slope(t, q)
        k2 = slope(t + h / 2, moved(q, h / 2, k1))
        k3 = slope(t + h / 2, moved(q, h / 2, k2))
        k4 = slope(t + h, moved(q, h, k3))
        q = [x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(q, k1, k2, k3, k4)]
    return q
