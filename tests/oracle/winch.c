// SPDX-License-Identifier: MIT
//
// Axes of the paper, 1 across and 3 along the arm; u and w are rates about 2, and u x (a1, a3) = u
// (a3, -a1). The tendon at (d, 0) has the tangent b = (v1, v3 - u d). It adds A = T (b.b - b
// b')/|b|^3 to the stiffness of v, and A (0, -d) couples u.
#include "oracle/winch.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double complex cx;

enum { POINTS = 200, STATE = 11, PAST = 9 };
// Entries of the state: position, quaternion (1, 3), v and u or the wrench, q, w, length from the
// motor.
enum { X, Z, H1, H3, S1, S3, SM, Q1, Q3, W, SIGMA };

static const double length = 0.7144, radius = 0.675e-3, young = 207e9, mass = 0.034;
static const double damping = 5e-4, drag = 1e-4, gravity = -9.81;
static const double d = 0.0151, compliance = 1.6e-3, extra = 0.0518, dt = 0.05;

typedef struct arm {
    int n;
    bool wrench, cubic, euler;
    double K1, K3, Kb, m, J; // stiffness, mass and inertia per length
    double c0;
    double H[POINTS][PAST], mid[POINTS][PAST]; // histories at nodes and between
} arm;

static cx size(cx x) { return creal(x) < 0 ? -x : x; }

static void solve3(cx P[3][3], cx f[3]) {
    for (int k = 0; k < 3; k++) {
        for (int i = k + 1; i < 3; i++) {
            const cx m = P[i][k] / P[k][k];
            for (int j = k; j < 3; j++) P[i][j] -= m * P[k][j];
            f[i] -= m * f[k];
        }
    }
    for (int k = 2; k >= 0; k--) {
        for (int j = k + 1; j < 3; j++) f[k] -= P[k][j] * f[j];
        f[k] /= P[k][k];
    }
}

// P <- stiffness of v and u with the tendon's; A <- the tendon's part for v (11, 33, 13); b <- its
// tangent. Returns |b|.
static cx stiffness(const arm *a, cx v1, cx v3, cx u, cx T, cx P[3][3], cx A[3], cx b[2]) {
    b[0] = v1, b[1] = v3 - u * d;
    const cx bb = csqrt(b[0] * b[0] + b[1] * b[1]), k = T / (bb * bb * bb);
    A[0] = k * b[1] * b[1], A[1] = k * b[0] * b[0], A[2] = -k * b[0] * b[1];
    const cx Q[3][3] = {{a->K1 + A[0], A[2], -d * A[2]},
                        {A[2], a->K3 + A[1], -d * A[1]},
                        {-d * A[2], -d * A[1], a->Kb + a->c0 * damping + d * d * A[1]}};
    memcpy(P, Q, sizeof Q);
    return bb;
}

// v, u from the total wrench, by Newton's method.
static void strains(const arm *a, const cx *y, const double *H, cx T, cx s[3]) {
    const double kb = a->Kb + a->c0 * damping;
    s[0] = y[S1] / a->K1, s[1] = 1 + (y[S3] - T) / a->K3;
    s[2] = (y[SM] - damping * H[2] + d * T) / kb;
    for (int i = 0; i < 8; i++) {
        cx P[3][3], A[3], b[2];
        const cx bb = stiffness(a, s[0], s[1], s[2], T, P, A, b);
        cx f[3] = {y[S1] - a->K1 * s[0] - T * b[0] / bb, y[S3] - a->K3 * (s[1] - 1) - T * b[1] / bb,
                   y[SM] - kb * s[2] - damping * H[2] + d * T * b[1] / bb};
        solve3(P, f);
        for (int k = 0; k < 3; k++) s[k] += f[k];
        if (cabs(f[0]) + cabs(f[1]) + cabs(f[2]) < 1e-9)
            break; // quadratic convergence: the next step is below rounding
    }
}

// Derivative of the state along the arm, and z: the values with a history (v, u, q, w, derivatives
// of v and u).
static void along(const arm *a, const cx *y, const double *H, cx T, cx *slope, cx *z) {
    const double c0 = a->c0;
    const cx n = y[H1] * y[H1] + y[H3] * y[H3];
    const cx c = (y[H1] * y[H1] - y[H3] * y[H3]) / n, s = 2 * y[H1] * y[H3] / n;
    const cx q1 = y[Q1], q3 = y[Q3], w = y[W];
    // Inertia, drag and weight across and along.
    const cx f1 = a->m * (w * q3 + c0 * q1 + H[3] - c * gravity) + drag * q1 * size(q1);
    const cx f3 = a->m * (-w * q1 + c0 * q3 + H[4] - s * gravity) + drag * q3 * size(q3);
    const cx fm = a->J * (c0 * w + H[5]);
    cx e[3] = {y[S1], y[S3], y[SM]}, P[3][3], A[3], b[2], r[3];
    if (a->wrench) strains(a, y, H, T, e);
    const cx bb = stiffness(a, e[0], e[1], e[2], T, P, A, b), v1 = e[0], v3 = e[1], u = e[2];
    if (a->wrench) {
        r[0] = f1 - u * y[S3], r[1] = f3 + u * y[S1], r[2] = fm - (v3 * y[S1] - v1 * y[S3]);
    } else {
        const cx n1 = a->K1 * v1, n3 = a->K3 * (v3 - 1);
        const cx t1 = u * (A[0] * b[1] - A[2] * b[0]), t3 = u * (A[2] * b[1] - A[1] * b[0]);
        r[0] = f1 - t1 - u * n3, r[1] = f3 - t3 + u * n1;
        r[2] = fm + d * t3 - (v3 * n1 - v1 * n3) - damping * H[8];
        solve3(P, r);
    }
    const cx v1t = c0 * v1 + H[0], v3t = c0 * v3 + H[1], ut = c0 * u + H[2];
    const cx out[STATE] = {c * v1 + s * v3,
                           c * v3 - s * v1,
                           -0.5 * u * y[H3],
                           0.5 * u * y[H1],
                           r[0],
                           r[1],
                           r[2],
                           v1t - u * q3 + w * v3,
                           v3t + u * q1 - w * v1,
                           ut,
                           bb / (1 + compliance * T)};
    const cx past[PAST] = {v1, v3, u, q1, q3, w, r[0], r[1], r[2]};
    memcpy(slope, out, sizeof out);
    memcpy(z, past, sizeof past);
}

// March from n, m and T at the base; gap <- residual at the tip with the length `paid` out. now
// (unless NULL) <- values with a history.
static void march(const arm *a, const cx guess[4], double paid, cx gap[4], cx *y,
                  double (*now)[PAST]) {
    const cx T = guess[3];
    const double h = length / (a->n - 1), kb = a->Kb + a->c0 * damping;
    cx k[4][STATE], t[STATE], z[PAST];
    for (int i = 0; i < STATE; i++) y[i] = 0;
    y[H1] = 1;
    y[S1] = a->wrench ? guess[0] : guess[0] / a->K1;
    y[S3] = a->wrench ? guess[1] : 1 + guess[1] / a->K3;
    y[SM] = a->wrench ? guess[2] : (guess[2] - damping * a->H[0][2]) / kb;
    y[SIGMA] = extra / (1 + compliance * T);
    for (int j = 0; j < a->n; j++) {
        along(a, y, a->H[j], T, k[0], z);
        for (int i = 0; i < PAST && now; i++) now[j][i] = creal(z[i]);
        if (j == a->n - 1) break;
        for (int i = 0; i < STATE && a->euler; i++) y[i] += h * k[0][i];
        if (a->euler) continue;
        for (int i = 0; i < STATE; i++) t[i] = y[i] + 0.5 * h * k[0][i];
        along(a, t, a->mid[j], T, k[1], z);
        for (int i = 0; i < STATE; i++) t[i] = y[i] + 0.5 * h * k[1][i];
        along(a, t, a->mid[j], T, k[2], z);
        for (int i = 0; i < STATE; i++) t[i] = y[i] + h * k[2][i];
        along(a, t, a->H[j + 1], T, k[3], z);
        for (int i = 0; i < STATE; i++) {
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
        }
    }
    for (int i = 0; i < 3; i++) gap[i] = y[S1 + i];
    if (!a->wrench) {
        const cx b1 = y[S1], b3 = y[S3] - y[SM] * d, bb = csqrt(b1 * b1 + b3 * b3);
        gap[0] = a->K1 * y[S1] + T * b1 / bb;
        gap[1] = a->K3 * (y[S3] - 1) + T * b3 / bb;
        gap[2] = kb * y[SM] + damping * a->H[a->n - 1][2] - d * T * b3 / bb;
    }
    gap[3] = y[SIGMA] - paid;
}

static void between_nodes(arm *a) {
    for (int j = 0; j + 1 < a->n; j++) {
        for (int i = 0; i < PAST; i++) {
            const int first = j == 0 ? 0 : j == a->n - 2 ? a->n - 4 : j - 1;
            const double h[4] = {a->H[first][i], a->H[first + 1][i], a->H[first + 2][i],
                                 a->H[first + 3][i]};
            a->mid[j][i] = !a->cubic       ? 0.5 * (a->H[j][i] + a->H[j + 1][i])
                           : j == 0        ? (5 * h[0] + 15 * h[1] - 5 * h[2] + h[3]) / 16
                           : j == a->n - 2 ? (5 * h[3] + 15 * h[2] - 5 * h[1] + h[0]) / 16
                                           : (9 * h[1] + 9 * h[2] - h[0] - h[3]) / 16;
        }
    }
}

// Newton's method, the derivative by complex steps.
static winch_instant shoot(arm *a, double guess[4], double paid, double (*now)[PAST]) {
    const double tiny = 1e-40;
    cx x[4], gap[4], y[STATE];
    between_nodes(a);
    for (int it = 0; it < 40; it++) {
        double M[4][5], most = 0;
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 4; i++) x[i] = guess[i] + (i == k ? tiny * _Complex_I : 0);
            march(a, x, paid, gap, y, NULL);
            for (int i = 0; i < 4; i++) M[i][k] = cimag(gap[i]) / tiny, M[i][4] = -creal(gap[i]);
        }
        // Elimination with pivots.
        for (int k = 0; k < 4; k++) {
            int p = k;
            for (int i = k + 1; i < 4; i++) p = fabs(M[i][k]) > fabs(M[p][k]) ? i : p;
            for (int j = 0; j < 5; j++) {
                const double t = M[k][j];
                M[k][j] = M[p][j], M[p][j] = t;
            }
            for (int i = k + 1; i < 4; i++) {
                const double f = M[i][k] / M[k][k];
                for (int j = k; j < 5; j++) M[i][j] -= f * M[k][j];
            }
        }
        for (int k = 3; k >= 0; k--) {
            for (int j = k + 1; j < 4; j++) M[k][4] -= M[k][j] * M[j][4];
            M[k][4] /= M[k][k];
            guess[k] += M[k][4];
            most = fmax(most, fabs(M[k][4]));
        }
        if (most < 1e-9) break; // quadratic convergence, as above
    }
    for (int i = 0; i < 4; i++) x[i] = guess[i];
    march(a, x, paid, gap, y, now);
    return (winch_instant){creal(y[X]), creal(y[Z]), guess[3]};
}

static double paid_out(double t) {
    const double in = fmin(fmax((t - 3.652) / 0.315, 0), 1),
                 out = fmin(fmax((t - 17.63) / 0.31, 0), 1);
    return length + extra - 0.01619 * (in - out);
}

void oracle_winch(winch_how how, int steps, winch_instant *out) {
    static arm a;
    static double level[3][POINTS][PAST];
    const double A = acos(-1) * radius * radius, J = A * radius * radius / 4;
    const double rho = mass / (A * length);
    a = (arm){.n = how.points,
              .wrench = how.wrench,
              .cubic = how.cubic,
              .euler = how.euler,
              .K1 = young / 2.6 * A,
              .K3 = young * A,
              .Kb = young * J,
              .m = rho * A,
              .J = rho * J};
    double guess[4] = {-0.3, how.wrench ? 0 : -2, -0.05, 2};
    out[0] = shoot(&a, guess, paid_out(0), level[0]);
    memcpy(level[1], level[0], sizeof level[0]);
    a.c0 = 1.5 / dt;
    for (int i = 1; i <= steps; i++) {
        for (int j = 0; j < how.points; j++) {
            for (int k = 0; k < PAST; k++) {
                a.H[j][k] = (0.5 * level[1][j][k] - 2 * level[0][j][k]) / dt;
            }
        }
        out[i] = shoot(&a, guess, paid_out(i * dt), level[2]);
        memcpy(level[1], level[0], sizeof level[0]);
        memcpy(level[0], level[2], sizeof level[0]);
    }
}
