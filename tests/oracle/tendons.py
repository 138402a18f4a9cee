# SPDX-License-Identifier: MIT
"""Rods pulled by tendons, independent of Sinew.

`hanging` solves the strong form of inextensible rods in a row, with tendons along them and their own weight. The wrench of
rod and tendons together satisfies the equations of a rod without tendons: its force is the weight beyond the section, its moment
follows from dM/ds = -t x N, and curvatures balance it in every section. Shooting finds the moment at the root. `release`
computes the motion of a planar rod after the release of one tendon that had bent it: Lagrange's equations of limbs.py.
"""
from math import cos, pi, sin, sqrt

from limbs import POINTS, WEIGHTS, Limb, dot, legendre, solve


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turned(R, v):
    return [dot(row, v) for row in R]


def turned_back(R, v):
    return [sum(R[i][j] * v[i] for i in range(3)) for j in range(3)]


def bent(rod, ropes, x, moment, K):
    """Curvatures that balance a moment in the section at x, from the guess K; each rope: tension, D and D' as functions of x."""
    for _ in range(20):
        r = [rod["stiffness"][i] * K[i] - moment[i] for i in range(3)]
        J = [[rod["stiffness"][i] if i == j else 0.0 for j in range(3)] for i in range(3)]
        for tension, place, slope in ropes:
            D, dD = place(x), slope(x)
            u = [a + b + c for a, b, c in zip([1.0, 0.0, 0.0], cross(K, D), dD)]
            size = sqrt(dot(u, u))
            t = [a / size for a in u]
            r = [a + tension * b for a, b in zip(r, cross(D, t))]
            for j in range(3):
                way = cross([float(i == j) for i in range(3)], D)
                along = dot(t, way)
                change = cross(D, [(a - along * b) / size for a, b in zip(way, t)])
                for i in range(3):
                    J[i][j] += tension * change[i]
        step = solve(J, r)
        K = [a - b for a, b in zip(K, step)]
        if max(map(abs, step)) < 1e-13:
            return K
    raise ValueError("no balance")


def hanging(rods, ropes, gravity, steps=100):
    """Equilibrium of rods in a row from the origin along x, each with length, stiffness [GJ, EIy, EIz], rhoA, and the numbers of its
    ropes; a rigid piece behind it has a length and a mass in its middle. Each of `ropes` has tension, place(rod number, x), slope(rod number,
    x). Returns ends of the rods, the rotation of the last, the moment at the root."""
    total = sum(rod["length"] * rod["rhoA"] + rod.get("piece", (0.0, 0.0))[1] for rod in rods)

    def shoot(moment, gravity):
        p, R, M, K = [0.0] * 3, [[float(i == j) for j in range(3)] for i in range(3)], list(moment), [0.0] * 3
        passed, ends = 0.0, []
        for number, rod in enumerate(rods):
            mine = [(ropes[k][0], lambda x, k=k, n=number: ropes[k][1](n, x), lambda x, k=k, n=number: ropes[k][2](n, x))
                    for k in rod["ropes"]]
            h = rod["length"] / steps

            def rate(x, p, R, M, rod=rod, mine=mine, before=passed):
                nonlocal K
                K = bent(rod, mine, x, turned_back(R, M), K)
                N = [(total - before - rod["rhoA"] * x) * g for g in gravity]
                t = [row[0] for row in R]
                dR = [[row[1] * K[2] - row[2] * K[1], row[2] * K[0] - row[0] * K[2], row[0] * K[1] - row[1] * K[0]]
                      for row in R]
                return t, dR, [-a for a in cross(t, N)]

            for k in range(steps):
                d = [rate(k * h, p, R, M)]
                for part in (0.5, 0.5, 1.0):
                    f = part * h
                    d.append(rate((k + part) * h, [a + f * b for a, b in zip(p, d[-1][0])],
                                  [[a + f * b for a, b in zip(r, s)] for r, s in zip(R, d[-1][1])],
                                  [a + f * b for a, b in zip(M, d[-1][2])]))
                w = [h / 6, h / 3, h / 3, h / 6]
                p = [a + sum(c * e[0][i] for c, e in zip(w, d)) for i, a in enumerate(p)]
                M = [a + sum(c * e[2][i] for c, e in zip(w, d)) for i, a in enumerate(M)]
                R = [[a + sum(c * e[1][i][j] for c, e in zip(w, d)) for j, a in enumerate(row)]
                     for i, row in enumerate(R)]
            passed += rod["length"] * rod["rhoA"]
            ends.append(p)
            size, mass = rod.get("piece", (0.0, 0.0))
            t = [row[0] for row in R]
            force = [(total - passed - 0.5 * mass) * g for g in gravity]  # mean before and behind its mass
            M = [a - size * b for a, b in zip(M, cross(t, force))]
            p = [a + size * b for a, b in zip(p, t)]
            passed += mass
        return ends, R, M

    moment = [0.0] * 3  # without weight
    for share in (0.25, 0.5, 0.75, 1.0):
        weight = [share * g for g in gravity]
        for _ in range(12):
            ends, R, left = shoot(moment, weight)
            if max(map(abs, left)) < 1e-12:
                break
            e = 1e-6 * (1 + max(map(abs, moment)))
            beside = [shoot([m + e * (i == j) for i, m in enumerate(moment)], weight)[2] for j in range(3)]
            J = [[(beside[j][i] - left[i]) / e for j in range(3)] for i in range(3)]
            moment = [a - b for a, b in zip(moment, solve(J, left))]
    return ends, R, moment


def round_rod(length, radius, young, shear, density, ropes):
    I = pi / 4 * radius**4
    return {"length": length, "stiffness": [2 * shear * I, young * I, young * I], "rhoA": density * pi * radius**2,
            "ropes": ropes}


def helix(turns, steps=100):
    """The robot of examples/tendon/helix.yaml: its end and the moment at its root."""
    L, d = 0.3, 6e-3
    rod = round_rod(L, 8e-3, 2e6, 2e6 / 3, 1100.0, [0])
    f = 2 * pi * turns / L
    rope = (10.0, lambda n, x: [0.0, d * cos(f * x), d * sin(f * x)],
            lambda n, x: [0.0, -d * f * sin(f * x), d * f * cos(f * x)])
    ends, _, moment = hanging([rod], [rope], [9.81, 0.0, 0.0], steps)
    return ends[-1], moment


def two_sections(tensions, steps=100):
    """The robot of examples/tendon/two_sections.yaml: ends of both sections and the moment at the root."""
    d = 8e-3
    rods = [round_rod(0.2, 1e-2, 3e6, 1e6, 1100.0, range(6)), round_rod(0.2, 1e-2, 3e6, 1e6, 1100.0, [3, 4, 5])]

    def rope(k):
        a = 2 * pi * k / 3 + (pi / 3 if k > 2 else 0)
        return tensions[k], lambda n, x: [0.0, d * cos(a), d * sin(a)], lambda n, x: [0.0] * 3
    ends, _, moment = hanging(rods, [rope(k) for k in range(6)], [9.81, 0.0, 0.0], steps)
    return ends, moment


def three_sections(tensions, steps=100):
    """The robot of examples/shooting/three_sections.yaml at rest: ends of the sections and the moment at the root."""
    d, first = 8e-3, (0.0, 0.7, -0.7)
    rods = [round_rod(0.12, 1e-2, 2e6, 2e6 / 2.96, 1100.0, range(3 * n, 9)) for n in range(3)]
    for rod in rods[:2]:
        rod["piece"] = (4e-3, 4e-3)

    def rope(k):
        a = 2 * pi * (k % 3 + 1) / 3 + first[k // 3]
        return tensions[k], lambda n, x: [0.0, d * cos(a), d * sin(a)], lambda n, x: [0.0] * 3
    ends, _, moment = hanging(rods, [rope(k) for k in range(9)], [0.0, 0.0, -9.81], steps)
    return ends, moment


def release(place, slope, tension, times, functions=8, h=1e-3):
    """Tip of Boyer's cantilever at the times after the release of a tendon at y = place(x), with a damping time of 10 ms."""
    rod = Limb(0.0, 1.0, 1.0, 1.0, 1.0, 1.0, functions)
    rod.EI, rod.rhoA, rod.rhoI = 1e6 * pi / 4 * 1e-8, 1000 * pi * 1e-4, 1000 * pi / 4 * 1e-8
    m = range(functions)
    P = [legendre(functions, 2 * x - 1)[:functions] for x in POINTS]
    # equilibrium: EI K^2/2 + tension |(1 - y K, y')| is minimal
    c = [0.0] * functions
    for _ in range(30):
        r = [rod.EI / (2 * j + 1) * c[j] for j in m]
        J = [[rod.EI / (2 * j + 1) if i == j else 0.0 for j in m] for i in m]
        for w, x, phi in zip(WEIGHTS, POINTS, P):
            y, dy, K = place(x), slope(x), dot(c, phi)
            u = 1 - y * K
            size = sqrt(u * u + dy * dy)
            for i in m:
                r[i] -= w * tension * y * u / size * phi[i]
                for j in m:
                    J[i][j] += w * tension * y * y * dy * dy / size**3 * phi[i] * phi[j]
        c = [a - b for a, b in zip(c, solve(J, r))]

    def acceleration(q, v):
        M, b, tip, _, _ = rod.look([0.0] + q, [0.0] + v)
        force = [b[1 + j] + 0.01 * rod.EI / (2 * j + 1) * v[j] for j in m]
        return solve([row[1:] for row in M[1:]], [-f for f in force]), tip

    q, v, found = c, [0.0] * functions, []
    for k in range(round(times[-1] / h)):
        dq, dv = [v], [acceleration(q, v)[0]]
        for part in (0.5, 0.5, 1.0):
            at_v = [a + part * h * b for a, b in zip(v, dv[-1])]
            at_q = [a + part * h * b for a, b in zip(q, dq[-1])]
            dq.append(at_v)
            dv.append(acceleration(at_q, at_v)[0])
        q = [a + h / 6 * (b + 2 * e + 2 * d + f) for a, b, e, d, f in zip(q, *dq)]
        v = [a + h / 6 * (b + 2 * e + 2 * d + f) for a, b, e, d, f in zip(v, *dv)]
        if any(abs((k + 1) * h - t) < h / 2 for t in times):
            found.append(acceleration(q, v)[1])
    return found
