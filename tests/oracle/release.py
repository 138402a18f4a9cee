# SPDX-License-Identifier: MIT
"""Motion of a steel wire in air after a weight is cut off its tip, with the noise of a camera: references.md T3.2.

The program uses neither the rods nor the time formulas of the library. The wire does not stretch or shear. In its plane, x down
and z along the clamp, its angle is a(s) = sum P_i(s) q_i with P_i the derivatives of the modes of a clamped beam, and with e =
(sin a, cos a), n = (cos a, -sin a)

    r = int_0^s e,   r_i = dr/dq_i = int_0^s P_i n,   r'' = sum r_i q_i'' - int_0^s a'^2 e
    int rhoA r_i.(r'' - g) + rhoI P_i a'' + EI P_i' a_s + C r_i.(e ve|ve| + n vn|vn|) = F.r_i(L),   v = sum r_i q_i'

with integrals by Gauss quadrature, and the classical Runge-Kutta method in time.
"""
import random
from math import cos, cosh, pi, sin, sinh

from examples import secant
from limbs import dot, gauss, legendre, solve

EI, RHO, DRAG = 0.0380, 7602.0, 2.12e-3  # table 5: N m^2, kg/m^3, kg/m^2
LENGTH, DIAMETER, G, WEIGHT = 0.408, 1.42e-3, 9.81, 0.1962
NOISE, EVERY, ROWS = 0.5e-3, 5e-3, 120  # noise of the camera, m; interval between rows, s; their number


def times(a, b):
    return [x * y for x, y in zip(a, b)]


def mode_slope(i, x):
    """Derivative at x in [0, 1] of mode i = 0, 1, .. of a clamped beam, and its wave number."""
    k = secant(lambda k: cos(k) + 1 / cosh(k), pi * (i + 0.5) + 0.3 * (i == 0), pi * (i + 0.5) + 0.01)
    ratio = (cosh(k) + cos(k)) / (sinh(k) + sin(k))
    return sinh(k * x) + sin(k * x) - ratio * (cosh(k * x) - cos(k * x)), k


class Wire:
    """The wire with n modes and m points along it."""

    def __init__(self, n=6, m=20):
        area = pi / 4 * DIAMETER**2
        self.n, self.rhoA, self.rhoI = n, RHO * area, RHO * pi / 64 * DIAMETER**4
        x, w = map(list, gauss(m))
        self.w = [LENGTH * c for c in w]
        self.P = [[mode_slope(i, c)[0] for c in x] for i in range(n)]
        # P_i' are orthogonal, and their squares have the mean k^2
        self.stiff = [EI * mode_slope(i, 0)[1]**2 / LENGTH for i in range(n)]
        # int_0^s of a function known at the points, by its series of Legendre polynomials
        p = [legendre(m, 2 * c - 1) for c in x]
        upto = [[2 * c] + [(q[k + 1] - q[k - 1]) / (2 * k + 1) for k in range(1, m)] for c, q in zip(x, p)]
        self.upto = [[self.w[b] * sum((k + 0.5) * p[b][k] * upto[a][k] for k in range(m)) for b in range(m)] for a in range(m)]

    def place(self, q):
        """Sine and cosine of the angle, x and z of r_i."""
        angle = [dot(q, column) for column in zip(*self.P)]
        s, c = [sin(a) for a in angle], [cos(a) for a in angle]
        rx = [[dot(row, part) for row in self.upto] for part in (times(p, c) for p in self.P)]
        rz = [[-dot(row, part) for row in self.upto] for part in (times(p, s) for p in self.P)]
        return s, c, rx, rz

    def tip(self, q):
        s, c, _, _ = self.place(q)
        return dot(self.w, s), dot(self.w, c)

    def rest(self, pull):
        """Coordinates in equilibrium with a force along x at the tip."""
        def balance(q):
            _, c, rx, _ = self.place(q)
            return [k * a - self.rhoA * G * dot(self.w, x) - pull * dot(self.w, times(p, c))
                    for k, a, x, p in zip(self.stiff, q, rx, self.P)]
        q = [0.0] * self.n
        for _ in range(20):
            now, columns = balance(q), []
            for j in range(self.n):
                there = balance(q[:j] + [q[j] + 1e-6] + q[j + 1:])
                columns.append([(a - b) / 1e-6 for a, b in zip(there, now)])
            q = [a - b for a, b in zip(q, solve([list(row) for row in zip(*columns)], now))]
        return q

    def rate(self, y):
        q, v = y[:self.n], y[self.n:]
        s, c, rx, rz = self.place(q)
        square = [dot(v, column)**2 for column in zip(*self.P)]
        ax, az = times(square, s), times(square, c)
        vx, vz = ([dot(v, column) for column in zip(*r)] for r in (rx, rz))
        fx, fz = [], []
        for a, row in enumerate(self.upto):
            along, across = s[a] * vx[a] + c[a] * vz[a], c[a] * vx[a] - s[a] * vz[a]
            along, across = DRAG * along * abs(along), DRAG * across * abs(across)
            fx.append(self.w[a] * (s[a] * along + c[a] * across - self.rhoA * (dot(row, ax) + G)))
            fz.append(self.w[a] * (c[a] * along - s[a] * across - self.rhoA * dot(row, az)))
        mass = [[0.0] * self.n for _ in q]
        for i in range(self.n):
            wx, wz, wp = (times(self.w, r[i]) for r in (rx, rz, self.P))
            for j in range(i + 1):
                mass[i][j] = mass[j][i] = self.rhoA * (dot(wx, rx[j]) + dot(wz, rz[j])) + self.rhoI * dot(wp, self.P[j])
        return v + solve(mass, [-k * a - dot(x, fx) - dot(z, fz) for k, a, x, z in zip(self.stiff, q, rx, rz)])

    def step(self, y, h):
        a = self.rate(y)
        b = self.rate([p + h / 2 * d for p, d in zip(y, a)])
        c = self.rate([p + h / 2 * d for p, d in zip(y, b)])
        d = self.rate([p + h * e for p, e in zip(y, c)])
        return [p + h / 6 * (i + 2 * j + 2 * k + l) for p, i, j, k, l in zip(y, a, b, c, d)]


def motion(rows=ROWS, parts=20, wire=None):
    """x and z of the tip at intervals of EVERY seconds after the cut, with `parts` steps in each."""
    wire = wire or Wire()
    y = wire.rest(WEIGHT) + [0.0] * wire.n
    for _ in range(rows):
        for _ in range(parts):
            y = wire.step(y, EVERY / parts)
        yield wire.tip(y[:wire.n])


def example(rows=ROWS):
    """The text of examples/identification/release.csv, or its first rows."""
    chance = random.Random(2019)
    lines = ["t,tip.x,tip.z"]
    for k, point in enumerate(motion(rows), 1):
        lines.append(f"{k * EVERY:.3f}," + ",".join(f"{c + chance.gauss(0, NOISE):.6f}" for c in point))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(example(), end="")
