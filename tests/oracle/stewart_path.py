# SPDX-License-Identifier: MIT
"""Singularities of Till's Stewart-Gough robot on its path of equilibria, by shooting.

The legs have the lengths of examples/parallel/stewart_gough.csv, a cubic spline of time, for which the plate may go along -x without
rotation; a force pulls the plate along -x. Unknown are the forces and moments at the bases of legs 1, 3, 4 (the others are their mirrors in y), x, z and the tilt of the
plate about y. Pseudo-arc-length continuation follows the equilibria to two folds, where dt/ds changes its sign, which are found by
bisection and secants. Prints t, x, z and tilt. Takes two minutes.

    python3 tests/oracle/stewart_path.py
"""
import os

import numpy as np
from scipy.interpolate import CubicSpline

import stewart as robot

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = np.loadtxt(os.path.join(HERE, "../../examples/parallel/stewart_gough.csv"), delimiter=",", comments="#", skiprows=3)
LENGTH = CubicSpline(TABLE[:, 0], TABLE[:, [1, 3, 4]], bc_type="natural")
PULL = -0.1  # N, along x at the centre of the plate
SIZE = np.array(([10.0] * 3 + [1.0] * 3) * 3 + [0.1, 0.1, 0.1, 1.0])  # of the unknowns: N, N m, m, m, rad, s


def residual(u):
    """Violations of three clamps and the balance of half the plate (fx, fz, my); u: 22 unknowns, or columns of them."""
    px, pz, tilt, t = u[18:]
    c, s = np.cos(tilt), np.sin(tilt)
    out, fx, fz, my = [], PULL / 2, -robot.MASS * robot.GRAVITY / 2, 0
    for leg in range(3):
        y = robot.march(leg, list(u[6 * leg:6 * leg + 6]) + [LENGTH(t)[..., leg]])
        hx, hy = robot.hole(robot.PLATE[leg])
        r, n, m = y[3:12], y[12:15], y[15:18]
        # R = Ry(tilt): columns (c, 0, -s), (0, 1, 0), (s, 0, c); the axial vector of R' r vanishes
        q = [[c * r[j] - s * r[6 + j] for j in range(3)], [r[3 + j] for j in range(3)], [s * r[j] + c * r[6 + j] for j in range(3)]]
        out += [y[0] - px - c * hx, y[1] - hy, y[2] - pz + s * hx, q[2][1] - q[1][2], q[0][2] - q[2][0], q[1][0] - q[0][1]]
        fx, fz = fx - n[0], fz - n[2]
        my = my - m[1] - (-s * hx * n[0] - c * hx * n[2])
    return np.array(out + [fx + 0 * px, fz + 0 * px, my + 0 * px])


def jacobian(u, h=1e-5):
    """Differences of order 4 in units of SIZE, all columns at once."""
    steps = np.diag(SIZE * h)
    f = [residual(u[:, None] + k * steps) for k in (-2, -1, 1, 2)]
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)


def correct(u, tangent):
    for _ in range(30):
        A = np.vstack([jacobian(u), tangent])
        d = np.linalg.solve(A, np.append(-residual(u), 0))
        u = u + SIZE * d
        if np.abs(d).max() < 1e-9:
            return u
    raise ArithmeticError


def tangent_at(u, like):
    A = np.vstack([jacobian(u), like])
    d = np.linalg.solve(A, np.append(np.zeros(21), 1))
    return d / np.linalg.norm(d)


def advance(u, tangent, step):
    v = correct(u + step * SIZE * tangent, tangent)
    return v, tangent_at(v, tangent)


def fold(u, tangent, step):
    """Arc length where dt/ds vanishes between u and u + step, by bisection and secants."""
    low, high = 0.0, step
    f0, f1 = tangent[-1], advance(u, tangent, step)[1][-1]
    for k in range(60):
        at = (low * f1 - high * f0) / (f1 - f0) if k % 2 else 0.5 * (low + high)
        v, w = advance(u, tangent, at)
        if (w[-1] > 0) == (f0 > 0):
            low, f0 = at, w[-1]
        else:
            high, f1 = at, w[-1]
        if high - low < 1e-10:
            break
    return v


def main():
    x = robot.lengths((0.0, 0.5), robot.guess((0.0, 0.5)))
    u = np.concatenate([x[0:6], x[7:13], x[14:20], [0.0, 0.5, 0.0, 0.0]])
    like = np.zeros(22)
    like[-1] = 1
    u = correct(u, like)
    w = tangent_at(u, like)
    step, turned = 0.01, 0
    while turned < 2 and u[-1] < 2.8:
        try:
            v, z = advance(u, w, step)
            good = w @ z > 0.995
        except (ArithmeticError, np.linalg.LinAlgError):
            good = False
        if not good:
            step /= 2
            continue
        if w[-1] * z[-1] < 0:
            f = fold(u, w, step)
            turned += 1
            print("fold: t %.8f x %.8f z %.8f tilt %.8f" % (f[21], f[18], f[19], f[20]), flush=True)
        u, w, step = v, z, min(1.3 * step, 0.1)
    print("end: t %.8f x %.8f z %.8f tilt %.8f" % (u[21], u[18], u[19], u[20]))


if __name__ == "__main__":
    main()
