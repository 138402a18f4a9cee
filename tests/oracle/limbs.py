# SPDX-License-Identifier: MIT
"""Motion of two flexible limbs in a plane, hinged together at their tips, independent of Sinew.

Each limb is an inextensible rod with a joint at its root. Its curvature is a sum of Legendre polynomials, so the
angle of a section is a sum of their antiderivatives, and positions are integrals of its cosine and sine, by the
polynomial through the Gauss points. Lagrange's equations are written out in position and angle, without slices or exponentials.
The first coordinate of a limb is the angle of its root, free or driven.
"""
from math import cos, pi, radians, sin, sqrt


def legendre(n, x):
    """P_0 .. P_n at x."""
    p = [1.0, x]
    for k in range(2, n + 1):
        p.append(((2 * k - 1) * x * p[-1] - (k - 1) * p[-2]) / k)
    return p[:n + 1]


def gauss(n):
    """Gauss points and weights on [0, 1]."""
    points = []
    for i in range(n):
        x = cos(pi * (i + 0.75) / (n + 0.5))
        for _ in range(50):
            p = legendre(n, x)
            slope = n * (x * p[n] - p[n - 1]) / (x * x - 1)
            x -= p[n] / slope
        points.append(((1 - x) / 2, 1 / ((1 - x * x) * slope**2)))
    return zip(*points)


POINTS, WEIGHTS = map(list, gauss(12))
N = len(POINTS)


def cumulative():
    """Matrix whose row i integrates the polynomial through values at the points, from 0 to point i."""
    def through(j, x):
        value = 1.0
        for m in range(N):
            if m != j:
                value *= (x - POINTS[m]) / (POINTS[j] - POINTS[m])
        return value
    return [[sum(w * x * through(j, p * x) for p, w in zip(POINTS, WEIGHTS)) for j in range(N)] for x in POINTS]


UP_TO = cumulative()


def dot(a, b):
    return sum(map(float.__mul__, a, b))


def solve(A, b):
    """x of A x = b, by elimination with pivots."""
    n = len(b)
    rows = [row + [b[i]] for i, row in enumerate(A)]
    for c in range(n):
        pivot = max(range(c, n), key=lambda i: abs(rows[i][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        for i in range(c + 1, n):
            f = rows[i][c] / rows[c][c]
            if f:
                rows[i] = [u - f * v for u, v in zip(rows[i], rows[c])]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


class Limb:
    """A root at (x, 0) with inertia, a flexible strip, a mass at its tip; widths across and out of the plane."""

    def __init__(self, x, length, young, density, across, out, functions, inertia=0.0, mass=0.0, damping=0.0,
                 gravity=0.0):
        self.x, self.L, self.J, self.mass, self.damping, self.g = x, length, inertia, mass, damping, gravity
        self.EI = young * out * across**3 / 12
        self.rhoA, self.rhoI = density * across * out, density * out * across**3 / 12
        self.n = functions
        self.angle = [[1.0] + [length * self.antiderivative(j, s) for j in range(functions)] for s in POINTS]

    @staticmethod
    def antiderivative(j, s):
        p = legendre(j + 1, 2 * s - 1)
        return (p[j + 1] - (p[j - 1] if j else -1)) / (2 * (2 * j + 1))

    def look(self, q, v):
        """Mass matrix, forces out of balance without inertia M a, tip, its derivative, its acceleration without that of the coordinates."""
        m = range(self.n + 1)
        turn = [dot(row, q) for row in self.angle]
        rate = [dot(row, v) for row in self.angle]
        c, s = [cos(a) for a in turn], [sin(a) for a in turn]
        # columns: derivatives of the direction by the coordinates, then its acceleration due to their rates alone
        dx = [[-s[i] * self.angle[i][j] for i in range(N)] for j in m] + [[-r * r * k for r, k in zip(rate, c)]]
        dy = [[c[i] * self.angle[i][j] for i in range(N)] for j in m] + [[-r * r * k for r, k in zip(rate, s)]]
        M, b = [[0.0] * (self.n + 1) for _ in m], [0.0] * (self.n + 1)
        for i in range(N):
            px, py = [self.L * dot(UP_TO[i], d) for d in dx], [self.L * dot(UP_TO[i], d) for d in dy]
            self.point(M, b, px, py, WEIGHTS[i] * self.L * self.rhoA)
            w, f = WEIGHTS[i] * self.L * self.rhoI, self.angle[i]
            for a in m:
                for e in m:
                    M[a][e] += w * f[a] * f[e]
        tx, ty = [self.L * dot(WEIGHTS, d) for d in dx], [self.L * dot(WEIGHTS, d) for d in dy]
        self.point(M, b, tx, ty, self.mass)
        M[0][0] += self.J
        b[0] += self.damping * v[0]
        for j in range(self.n):
            b[1 + j] += self.EI * self.L / (2 * j + 1) * q[1 + j]
        tip = [self.x + self.L * dot(WEIGHTS, c), self.L * dot(WEIGHTS, s)]
        return M, b, tip, [tx[:-1], ty[:-1]], [tx[-1], ty[-1]]

    def point(self, M, b, px, py, mass):
        for a in range(self.n + 1):
            b[a] += mass * (px[a] * px[-1] + py[a] * (py[-1] + self.g))
            for e in range(self.n + 1):
                M[a][e] += mass * (px[a] * px[e] + py[a] * py[e])


class Pair:
    """Two limbs with a common tip. drive(t) gives angle, rate and acceleration of both roots; without it roots are free.
    effort(t, tip velocity, tip derivative) gives the forces on the coordinates of both limbs."""

    def __init__(self, limbs, drive=None, effort=None):
        self.limbs, self.drive, self.effort = limbs, drive, effort
        n = limbs[0].n + 1
        self.free = [i for i in range(2 * n) if not (drive and i % n == 0)]

    def whole(self, t, q, v):
        """All coordinates and rates, and the given accelerations."""
        if not self.drive:
            return q, v, [0.0] * len(q)
        n = self.limbs[0].n
        all_q, all_v, all_a = [], [], []
        for k, (angle, rate, acceleration) in enumerate(self.drive(t)):
            all_q += [angle] + q[k * n:(k + 1) * n]
            all_v += [rate] + v[k * n:(k + 1) * n]
            all_a += [acceleration] + [0.0] * n
        return all_q, all_v, all_a

    def look(self, t, q, v):
        """Mass matrix and forces of the free coordinates; constraint rows of the hinge, its violation, rate and acceleration."""
        q, v, given = self.whole(t, q, v)
        n = self.limbs[0].n + 1
        one, two = self.limbs[0].look(q[:n], v[:n]), self.limbs[1].look(q[n:], v[n:])
        M = [row + [0.0] * n for row in one[0]] + [[0.0] * n + row for row in two[0]]
        b = one[1] + two[1]
        C = [one[3][i] + [-c for c in two[3][i]] for i in range(2)]
        speed = [dot(one[3][i], v[:n]) for i in range(2)]
        if self.effort:
            b = [x - y for x, y in zip(b, self.effort(t, speed, one[3]))]
        f = self.free
        return ([[M[i][j] for j in f] for i in f], [b[i] + dot(M[i], given) for i in f],
                [[C[i][j] for j in f] for i in range(2)], [one[2][i] - two[2][i] for i in range(2)],
                [dot(C[i], v) for i in range(2)],
                [one[4][i] - two[4][i] + dot(C[i], given) for i in range(2)], one[2], speed)

    def tip(self, t, q, v):
        """Position and velocity of the tip."""
        return self.look(t, q, v)[6:]

    def acceleration(self, t, q, v):
        """Accelerations, with Baumgarte stabilisation of the hinge."""
        M, b, C, gap, rate, bias, _, _ = self.look(t, q, v)
        n, pull = len(b), 20.0
        A = [M[i] + [C[0][i], C[1][i]] for i in range(n)] + [C[0] + [0.0, 0.0], C[1] + [0.0, 0.0]]
        return solve(A, [-x for x in b] + [-bias[i] - 2 * pull * rate[i] - pull**2 * gap[i] for i in range(2)])[:n]

    def newton(self, residual, x, tolerance):
        for _ in range(60):
            r = residual(x)
            if max(map(abs, r)) < tolerance:
                return x
            columns = []
            for j in range(len(x)):
                step = 1e-6 * max(1.0, abs(x[j]))
                columns.append([(a - b) / step for a, b in zip(residual(x[:j] + [x[j] + step] + x[j + 1:]), r)])
            x = [a - b for a, b in zip(x, solve([list(row) for row in zip(*columns)], r))]
        raise ArithmeticError("no convergence")

    def rest(self, q):
        """Equilibrium at t = 0 near q, and the forces in the hinge."""
        def residual(x):
            _, b, C, gap, *_ = self.look(0.0, x[:-2], [0.0] * (len(x) - 2))
            return [b[i] + C[0][i] * x[-2] + C[1][i] * x[-1] for i in range(len(b))] + gap
        x = self.newton(residual, q + [0.0, 0.0], 1e-10)
        return x[:-2], x[-2:]

    def runge_kutta(self, q, h, steps):
        """t, q and v after each step of the classical method, from rest."""
        v = [0.0] * len(q)
        for k in range(steps):
            t, dq, dv = k * h, [v], [self.acceleration(k * h, q, v)]
            for part in (0.5, 0.5, 1.0):
                at_v = [a + part * h * b for a, b in zip(v, dv[-1])]
                at_q = [a + part * h * b for a, b in zip(q, dq[-1])]
                dq.append(at_v)
                dv.append(self.acceleration(t + part * h, at_q, at_v))
            q = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(q, *dq)]
            v = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(v, *dv)]
            yield t + h, q, v

    def generalized_alpha(self, q, force, h, steps, rho):
        """The same by the generalized-alpha method with fixed steps, from rest with the forces in the hinge there."""
        am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma, beta = 0.5 - am + af, 0.25 * (1 - am + af)**2
        n = len(q)
        v, a, dv = [0.0] * n, [0.0] * n, [0.0] * n
        for k in range(steps):
            def moved(new):
                to = [((1 - af) * x + af * y - am * z) / (1 - am) for x, y, z in zip(new, dv, a)]
                return (to, [x + h * y + h * h * ((0.5 - beta) * z + beta * w) for x, y, z, w in zip(q, v, a, to)],
                        [y + h * ((1 - gamma) * z + gamma * w) for y, z, w in zip(v, a, to)])

            def residual(x):
                _, at_q, at_v = moved(x[:n])
                M, b, C, gap, *_ = self.look((k + 1) * h, at_q, at_v)
                return ([dot(M[i], x[:n]) + b[i] + C[0][i] * x[n] + C[1][i] * x[n + 1] for i in range(n)] +
                        [g / (beta * h * h) for g in gap])
            x = self.newton(residual, dv + force, 1e-6)
            a, q, v = moved(x[:n])
            dv, force = x[:n], x[n:]
            yield (k + 1) * h, q, v


def tendon_twin():
    """The robot of examples/parallel/tendon_twin.yaml, and its straight configuration."""
    strip = {"young": 293e9, "density": 9538.0, "across": 0.51e-3, "out": 19.05e-3, "functions": 2, "damping": 5e-3}
    limbs = [Limb(0.0, 0.394, inertia=4.268e-3, mass=0.24, **strip), Limb(0.435, 0.48, inertia=3.122e-3, **strip)]
    share, late, d = [2.0, 2.0, 2.5, 2.2], [0.0, 0.5, 0.0, 0.5], 0.011

    def tension(c, t):
        return 1 + 2 * share[c] * (1 - cos(max(t - late[c], 0.0)))

    def effort(t, speed, derivative):
        f = [-0.01 * s / sqrt(speed[0]**2 + speed[1]**2 + 1e-6) for s in speed]
        rubbing = [derivative[0][j] * f[0] + derivative[1][j] * f[1] for j in range(3)]
        bend = [d * (tension(2 * k + 1, t) - tension(2 * k, t)) * limbs[k].L for k in range(2)]
        return [rubbing[0], rubbing[1] + bend[0], rubbing[2], 0.0, bend[1], 0.0]
    robot = Pair(limbs, effort=effort)
    return robot, robot.rest([radians(70), 0.0, 0.0, radians(130), 0.0, 0.0])[0]


def singularity(turn):
    """The robot of examples/parallel/rfrfr_singularity.yaml, whose motors turn by `turn` in 2 s, and its equilibrium."""
    strip = {"young": 36e9, "density": 1900.0, "across": 2.5e-3, "out": 10e-3, "functions": 3, "gravity": 9.81}
    limbs = [Limb(0.0, 0.47, mass=0.2, **strip), Limb(0.0, 0.47, **strip)]

    def drive(t):
        u = min(max((t - 1) / 2, 0.0), 1.0)
        angle = radians(30) - turn * (10 * u**3 - 15 * u**4 + 6 * u**5)
        rate, acceleration = -turn * 30 * (u - u * u)**2 / 2, -turn * (60 * u - 180 * u**2 + 120 * u**3) / 4
        return (angle, rate, acceleration), (-angle, -rate, -acceleration)
    robot = Pair(limbs, drive=drive)
    return (robot, *robot.rest([-1.5, 0.0, 0.0, 1.5, 0.0, 0.0]))
