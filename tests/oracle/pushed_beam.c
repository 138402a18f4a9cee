// SPDX-License-Identifier: MIT
//
// Deflection w(s, t) at the place s beyond the exit, clamped there. The material of tube i moves
// along s with the speed c_i, so that it accelerates by
//   a_i = w_tt + 2 c_i w_ts + c_i^2 w_ss + c_i' w_s,
// and the tubes push N = sum m_i c_i' (l_i - s) against the exit:
//   sum_i m_i a_i + (sum k_i w_ss)_ss + (N w_s)_s = sum m_i g,   sums over the tubes present at s.
// Galerkin's method with functions of the fixed place s: powers of s from s^2 on, and powers of s -
// l_2 from the second on beyond the end of the second tube, where w_ss jumps; these move with it.
#include "oracle/pushed_beam.h"

#include "math/quadrature.h"
#include "oracle/linear.h"

#include <math.h>
#include <string.h>

// More functions err less in s, but need shorter time steps: in rounding they are nearly dependent.
enum { WHOLE = 6, BEYOND = 3, N = WHOLE + BEYOND, POINTS = 14 };

// A function at a place, and its derivatives by s and t.
typedef struct shape {
    double v, s, ss, t, ts, tt;
} shape;

typedef struct push {
    double x, d, dd; // displacement of a tube with its rates
} push;

static push push_at(const oracle_pushed_tube *tube, double t, double duration) {
    const double u = t / duration, h = tube->push;
    return (push){h * u * u * u * (10 + u * (6 * u - 15)),
                  h / duration * 30 * u * u * (1 - u) * (1 - u),
                  h / (duration * duration) * 60 * u * (1 - u) * (1 - 2 * u)};
}

static shape power(double x, double unit, int n, push moves) {
    const double p = pow(x / unit, n - 2) / (unit * unit);
    const shape f = {.v = p * x * x, .s = n * p * x, .ss = n * (n - 1) * p};
    return (shape){
        f.v, f.s, f.ss, -moves.d * f.s, -moves.d * f.ss, moves.d * moves.d * f.ss - moves.dd * f.s};
}

// Matrices of M a'' + C a' + K a = f at time t.
typedef struct system {
    double M[N * N], C[N * N], K[N * N], f[N];
} system;

static void shapes_at(double s, double unit, double end, push moves, shape to[N]) {
    for (int j = 0; j < WHOLE; j++) to[j] = power(s, unit, j + 2, (push){0});
    for (int j = 0; j < BEYOND; j++)
        to[WHOLE + j] = s > end ? power(s - end, unit, j + 2, moves) : (shape){0};
}

static void assemble(const oracle_pushed_tube tube[2], double gravity, double t, double duration,
                     system *to) {
    double x[POINTS], w[POINTS], end[2];
    push p[2];
    memset(to, 0, sizeof *to);
    snw_gauss(POINTS, x, w);
    for (int i = 0; i < 2; i++) {
        p[i] = push_at(&tube[i], t, duration);
        end[i] = tube[i].length + p[i].x;
    }
    const double unit = tube[0].length + tube[0].push;
    for (int part = 0; part < 2; part++) {
        const double from = part ? end[1] : 0, h = part ? end[0] - end[1] : end[1];
        const int present = part ? 1 : 2;
        for (int k = 0; k < POINTS; k++) {
            const double s = from + h * x[k], dx = h * w[k];
            shape f[N];
            shapes_at(s, unit, end[1], p[1], f);
            for (int i = 0; i < present; i++) {
                const double m = dx * tube[i].mass, c = p[i].d, dc = p[i].dd;
                for (int a = 0; a < N; a++) {
                    to->f[a] += m * gravity * f[a].v;
                    for (int b = 0; b < N; b++) {
                        to->M[a * N + b] += m * f[a].v * f[b].v;
                        to->C[a * N + b] += 2 * m * f[a].v * (f[b].t + c * f[b].s);
                        to->K[a * N + b] +=
                            m * f[a].v *
                                (f[b].tt + 2 * c * f[b].ts + c * c * f[b].ss + dc * f[b].s) +
                            dx * tube[i].k * f[a].ss * f[b].ss -
                            m * dc * (end[i] - s) * f[a].s * f[b].s;
                    }
                }
            }
        }
    }
}

static void solve(int n, double *A, double *x) {
    int pivot[2 * N];
    oracle_factor(n, A, pivot);
    oracle_solve(n, A, pivot, 1, x);
}

// Gauss' method of order four: stages a'' = z_i satisfy the equation at both points.
double oracle_pushed_beam(const oracle_pushed_tube tube[2], double gravity, double duration,
                          int n) {
    static const double r = 0.28867513459481288225; // sqrt(3)/6
    const double c[2] = {0.5 - r, 0.5 + r};
    const double A[2][2] = {{0.25, 0.25 - r}, {0.25 + r, 0.25}}, h = duration / n;
    double a[N], da[N] = {0};
    system at[2];
    assemble(tube, gravity, 0, duration, &at[0]);
    memcpy(a, at[0].f, sizeof a);
    solve(N, at[0].K, a);
    for (int step = 0; step < n; step++) {
        double T[4 * N * N] = {0}, z[2 * N];
        double AA[2][2]; // weights of accelerations in the positions of the stages
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) AA[i][j] = A[i][0] * A[0][j] + A[i][1] * A[1][j];
        }
        for (int i = 0; i < 2; i++) {
            assemble(tube, gravity, (step + c[i]) * h, duration, &at[i]);
            for (int k = 0; k < N; k++) {
                double *row = T + (size_t)(i * N + k) * 2 * N;
                z[i * N + k] = at[i].f[k];
                for (int l = 0; l < N; l++) {
                    const double M = at[i].M[k * N + l], C = at[i].C[k * N + l],
                                 K = at[i].K[k * N + l];
                    z[i * N + k] -= C * da[l] + K * (a[l] + c[i] * h * da[l]);
                    for (int j = 0; j < 2; j++)
                        row[j * N + l] += (i == j ? M : 0) + h * A[i][j] * C + h * h * AA[i][j] * K;
                }
            }
        }
        solve(2 * N, T, z);
        for (int k = 0; k < N; k++) {
            double change = 0;
            for (int i = 0; i < 2; i++) change += 0.5 * (1 - c[i]) * z[i * N + k];
            a[k] += h * (da[k] + h * change);
            da[k] += 0.5 * h * (z[k] + z[N + k]);
        }
    }
    shape f[N];
    double sum = 0;
    shapes_at(tube[0].length + tube[0].push, tube[0].length + tube[0].push,
              tube[1].length + tube[1].push, (push){0}, f);
    for (int k = 0; k < N; k++) sum += f[k].v * a[k];
    return sum;
}
