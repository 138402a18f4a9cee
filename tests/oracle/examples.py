# SPDX-License-Identifier: MIT
"""Independent solutions of examples without a closed form: a double pendulum, a soft arm, three rods, trailers, a tail, a pump."""
from functools import lru_cache
from math import atan, cos, cosh, pi, radians, sin, sinh, sqrt, tan

from limbs import solve

G = 9.81


def double_pendulum(first, times, h=0.01, columns=8):
    """Angles of both points from the vertical at the times, released at (first, 0): extrapolated midpoint steps."""
    l = 0.5

    def rate(y):
        a, b, u, v = y
        c, s = cos(a - b), sin(a - b)
        p, q = -v * v * s - 2 * G / l * sin(a), u * u * s - G / l * sin(b)
        return [u, v, (p - c * q) / (2 - c * c), (2 * q - c * p) / (2 - c * c)]

    def step(y):
        table = []
        for k in range(1, columns + 1):
            part = h / (2 * k)
            last, now = y, [a + part * d for a, d in zip(y, rate(y))]
            for _ in range(2 * k - 1):
                last, now = now, [a + 2 * part * d for a, d in zip(last, rate(now))]
            table.append([(a + b + part * d) / 2 for a, b, d in zip(last, now, rate(now))])
            for j in range(k - 2, -1, -1):
                table[j] = [a + (a - b) / ((k / (j + 1))**2 - 1) for a, b in zip(table[j + 1], table[j])]
        return table[0]
    y, found = [first, 0.0, 0.0, 0.0], []
    for k in range(1, round(times[-1] / h) + 1):
        y = step(y)
        if any(abs(k * h - t) < h / 2 for t in times):
            found.append(y[:2])
    return found


def secant(f, a, b):
    fa, fb = f(a), f(b)
    for _ in range(60):
        if abs(fb) < 1e-14 or fa == fb:
            break
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = f(b)
    return b


def runge_kutta(rate, y, length, steps):
    h = length / steps
    for k in range(steps):
        d = [rate(k * h, y)]
        for part in (0.5, 0.5, 1.0):
            d.append(rate((k + part) * h, [a + part * h * b for a, b in zip(y, d[-1])]))
        y = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, *d)]
    return y


RUBBER = {"L": 0.3, "EI": 20e6 * pi / 4 * 8e-3**4, "rhoA": 1100 * pi * 8e-3**2, "rhoI": 1100 * pi / 4 * 8e-3**4}


def soft_arm():
    """Angles of shoulder and elbow, their torques, x and z of the hand: a heavy elastica on the springs of two motors, by shooting."""
    a, upper, hand, (k1, k2), (g1, g2) = 0.25, 0.4, 0.05, (20.0, 5.0), (radians(60), radians(-60))
    w, P, L, EI = RUBBER["rhoA"] * G, hand * G, RUBBER["L"], RUBBER["EI"]

    def forearm(angle):
        """Moment at the elbow; angle, moment, x and z at the hand."""
        def end(moment):
            return runge_kutta(lambda s, y: [-y[1] / EI, -(P + w * (L - s)) * cos(y[0]), cos(y[0]), sin(y[0])],
                               [angle, moment, 0.0, 0.0], L, 300)
        moment = secant(lambda m: end(m)[1], 0.2, 0.25)
        return moment, end(moment)

    def elbow(angle):
        moment = forearm(angle)[0]
        bent = g2 - moment / k2
        return angle - bent, bent, moment

    def unbalanced(angle):
        q, _, moment = elbow(angle)
        return k1 * (g1 - q) - moment - a * cos(q) * (P + w * L + upper * G / 2)
    angle = secant(unbalanced, -0.1, -0.12)
    q, bent, moment = elbow(angle)
    end = forearm(angle)[1]
    return q, bent, k1 * (g1 - q), moment, a * cos(q) + end[2], a * sin(q) + end[3]


def beam_with_mass(near, mass=0.05):
    """Frequency, near the given one, of the clamped forearm with a mass at its end, rotary inertia included, Hz."""
    L, EI, rhoA, rhoI = (RUBBER[k] for k in ("L", "EI", "rhoA", "rhoI"))

    def determinant(f):
        w2 = (2 * pi * f)**2
        A, B = rhoI * w2 / EI, rhoA * w2 / EI
        k, m = sqrt(sqrt(A * A / 4 + B) - A / 2), sqrt(sqrt(A * A / 4 + B) + A / 2)
        # both solutions that are clamped at 0, with three derivatives, at L
        u = [cosh(k * L) - cos(m * L), k * sinh(k * L) + m * sin(m * L), k**2 * cosh(k * L) + m**2 * cos(m * L),
             k**3 * sinh(k * L) - m**3 * sin(m * L)]
        v = [sinh(k * L) / k - sin(m * L) / m, cosh(k * L) - cos(m * L), k * sinh(k * L) + m * sin(m * L),
             k**2 * cosh(k * L) + m**2 * cos(m * L)]

        def shear(y):
            return EI * y[3] + rhoI * w2 * y[1] + mass * w2 * y[0]
        return EI * (u[2] * shear(v) - v[2] * shear(u)) / near**4
    return secant(determinant, near, near * 1.001)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def product(a, b):
    v = cross(a[1:], b[1:])
    return [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]] + [
        a[0] * b[i + 1] + b[0] * a[i + 1] + v[i] for i in range(3)]


def turned(q, v):
    return product(product(q, [0.0, *v]), [q[0], -q[1], -q[2], -q[3]])[1:]


def about(axis, angle):
    return [cos(angle / 2)] + [sin(angle / 2) * c for c in axis]


def three_rods(motors, steps=100):
    """Position of the plate of examples/parallel/three_rods.yaml, its rotation vector and the motors' torques, by
    shooting. Unknowns are moment and force at the feet and the plate's pose; the motors reach their angles in stages."""
    L, R, r, mass = 0.4, 0.2, 0.1, 0.5
    EI, GJ = 40e9 * pi / 4 * 2e-3**4, 40e9 / 2.6 * pi / 2 * 2e-3**4
    weight = 1900 * pi * 2e-3**2 * G
    around = [0.0, radians(120), radians(-120)]

    def rate(_, y):
        q, n = y[3:7], y[10:13]
        tangent = turned(q, [1.0, 0.0, 0.0])
        m = turned([q[0], -q[1], -q[2], -q[3]], y[7:10])
        spin = product(q, [0.0, m[0] / GJ, m[1] / EI, m[2] / EI])
        return tangent + [c / 2 for c in spin] + [-c for c in cross(tangent, n)] + [0.0, 0.0, weight]

    @lru_cache(maxsize=64)
    def tip(k, angle, load, parts):
        root = product(about([0, 0, 1], around[k]), about([0, 1, 0], angle - pi / 2))
        return runge_kutta(rate, [R * cos(around[k]), R * sin(around[k]), 0.0] + root + list(load), L, parts)

    def residual(x, angles, parts):
        size = sqrt(1 + sum(c * c for c in x[21:]))
        pose = [1 / size] + [c / size for c in x[21:]]
        out, force, moment = [], [0.0, 0.0, -mass * G], [0.0, 0.0, 0.0]
        for k in range(3):
            y = tip(k, angles[k], tuple(x[6 * k:6 * k + 6]), parts)
            arm = turned(pose, [r * cos(around[k]), r * sin(around[k]), 0.0])
            out += [y[i] - x[18 + i] - arm[i] for i in range(3)] + y[7:10]
            force = [a - b for a, b in zip(force, y[10:13])]
            moment = [a - b for a, b in zip(moment, cross(arm, y[10:13]))]
        return out + force + moment

    def improve(x, angles, parts):
        for _ in range(20):
            now = residual(x, angles, parts)
            if max(map(abs, now)) < 1e-12:
                break
            columns = []
            for j in range(24):
                there = residual(x[:j] + [x[j] + 1e-7] + x[j + 1:], angles, parts)
                columns.append([(a - b) / 1e-7 for a, b in zip(there, now)])
            x = [a - b for a, b in zip(x, solve([list(row) for row in zip(*columns)], now))]
        return x
    x = [0.0, 0.0, 0.0, 0.0, 0.0, -mass * G / 3] * 3 + [0.0, 0.0, sqrt(L**2 - (R - r)**2), 0.0, 0.0, 0.0]
    straight = -atan((R - r) / sqrt(L**2 - (R - r)**2))
    for part in (0, 0.25, 0.5, 0.75, 1):
        angles = [straight + part * (m - straight) for m in motors]
        x = improve(x, angles, 20)
    x = improve(x, angles, steps)
    size = sqrt(sum(c * c for c in x[21:]))
    turn = 2 * atan(size) / size if size else 2.0
    torque = [sin(around[k]) * x[6 * k] - cos(around[k]) * x[6 * k + 1] for k in range(3)]
    return x[18:21], [turn * c for c in x[21:]], torque


def trailers(speed, steer, bend, time):
    """Position, heading and joint angles of a car with two trailers: the rate of each heading is the lateral velocity of its hitch over
    the trailer's length."""
    base, hitch, first, second = 0.3, 0.05, 0.35, 0.4

    def rate(t, y):
        _, _, heading, a, b = y
        turn = speed * tan(steer(t)) / base
        along, across = speed * cos(a) - hitch * turn * sin(a), -speed * sin(a) - hitch * turn * cos(a)
        one, two = across / first, -along * sin(b) / second
        return [speed * cos(heading), speed * sin(heading), turn, one - turn, two - one]
    return runge_kutta(rate, [0.0, 0.0, 0.0, bend, 0.0], time, round(400 * time))


def thrust(stream, bend, waves, length=0.3, height=0.08, n=120):
    """Lighthill's mean thrust of a tail, from the motion of its fin: < m w z' - m w^2 cos/2 >."""
    def fin(t):
        def rate(s, y):
            return [cos(y[2]), sin(y[2]), bend * s / length * sin(2 * pi * (t - waves * s / length))]
        return runge_kutta(rate, [0.0, 0.0, 0.0], length, n)
    m, d, total = 1000 * pi * (height / 2)**2, 1e-3, 0
    for k in range(n):
        before, now, after, far, near = (fin(k / n + j * d) for j in (-1, 0, 1, 2, -2))
        x, y = ((8 * (after[i] - before[i]) - (far[i] - near[i])) / (12 * d) for i in (0, 1))
        w = y * cos(now[2]) - (x - stream) * sin(now[2])
        total += m * w * y - m * w * w * cos(now[2]) / 2
    return total / n


def pump(flow, leak, time):
    """Pressure and volume of a chamber in a massless finger."""
    A, L, e, E, r, K, delay = 30e-6, 0.1, 4e-3, 1e6, 8e-3, 50e6, 20e-3
    c = A * A * L * (1 / (E * pi * r**2) + e * e / (E * pi / 4 * r**4))

    def pressure(x, y):
        return K * (x - c * y) / (A * L)

    def rate(t, y):
        p = pressure(*y)
        return [flow(t) - leak * p, (p - y[1]) / delay]
    y = runge_kutta(rate, [0.0, 0.0], time, round(10000 * time))
    return pressure(*y), A * L + c * y[1]
