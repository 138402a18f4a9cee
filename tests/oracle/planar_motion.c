// SPDX-License-Identifier: MIT
//
// With T_i the Chebyshev polynomials of x = 2 s/L - 1 and P_i(s) their integrals from 0 to s,
//
//     angle a = sum P_i q_i,   r(s) = integral_0^s e,   e = (cos a, sin a),   n = (-sin a, cos a)
//     dr/dq_i = integral_0^s P_i n,   r'' = sum dr/dq_i q_i'' - integral_0^s a'^2 e
//     M_ij = integral rhoA dr/dq_i . dr/dq_j + rhoI P_i P_j,
//     f_i = -integral rhoA dr/dq_i . (integral_0^s a'^2 e)
//     w_i = integral rhoA gravity dy/dq_i,   K_ij = EI integral T_i T_j,
//     M q'' + f + w + K (q + damping q') = 0
//
// Functions of s are known at the m Gauss points; integral_0^s is exact for the polynomial through
// them.
#include "oracle/planar_motion.h"

#include "oracle/chebyshev.h"
#include "oracle/linear.h"
#include "oracle/ode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 40, N = ORACLE_PLANAR_MOST };

struct oracle_planar_motion {
    oracle_planar_rod rod;
    double w[M];       // weights on [0, L]
    double upto[M][M]; // integral from 0 to s_a of the polynomial that is 1 at s_b, 0 at the others
    double P[N][M];    // integrals of the Chebyshev polynomials
    double K[N][N];
};

oracle_planar_motion *oracle_planar_motion_create(const oracle_planar_rod *rod) {
    oracle_planar_motion *m = oracle_alloc(1, sizeof *m);
    m->rod = *rod;
    double x[M], w[M];
    oracle_gauss(M, x, w);
    oracle_upto(M, x, w, &m->upto[0][0]);
    for (int a = 0; a < M; a++) {
        m->w[a] = rod->L * w[a] / 2;
        for (int i = 0; i < rod->n; i++) m->P[i][a] = rod->L / 2 * oracle_antiderivative(i, x[a]);
        for (int b = 0; b < M; b++) m->upto[a][b] *= rod->L / 2;
        for (int i = 0; i < rod->n; i++) {
            for (int j = 0; j < rod->n; j++) {
                m->K[i][j] +=
                    rod->EI * m->w[a] * oracle_chebyshev(i, x[a]) * oracle_chebyshev(j, x[a]);
            }
        }
    }
    return m;
}

void oracle_planar_motion_destroy(oracle_planar_motion *m) { free(m); }

static void up_to(const oracle_planar_motion *m, const double *y, double *out) {
    for (int a = 0; a < M; a++) {
        out[a] = 0;
        for (int b = 0; b < M; b++) out[a] += m->upto[a][b] * y[b];
    }
}

// Sum of the functions weighted by the coordinates.
static void sum(const oracle_planar_motion *m, const double *q, double *out) {
    for (int a = 0; a < M; a++) {
        out[a] = 0;
        for (int i = 0; i < m->rod.n; i++) out[a] += m->P[i][a] * q[i];
    }
}

// dr/dq_i at all points.
static void slopes(const oracle_planar_motion *m, const double *angle, double dx[N][M],
                   double dy[N][M]) {
    double part[M];
    for (int i = 0; i < m->rod.n; i++) {
        for (int a = 0; a < M; a++) part[a] = -sin(angle[a]) * m->P[i][a];
        up_to(m, part, dx[i]);
        for (int a = 0; a < M; a++) part[a] = cos(angle[a]) * m->P[i][a];
        up_to(m, part, dy[i]);
    }
}

static void rate(void *user, double t, const double *y, double *dy) {
    (void)t;
    const oracle_planar_motion *m = user;
    const oracle_planar_rod *p = &m->rod;
    const int n = p->n;
    const double *q = y, *v = y + n;
    double angle[M], turn[M], rx[N][M], ry[N][M], part[M], cx[M], cy[M];
    sum(m, q, angle);
    sum(m, v, turn);
    slopes(m, angle, rx, ry);
    for (int a = 0; a < M; a++) part[a] = turn[a] * turn[a] * cos(angle[a]);
    up_to(m, part, cx);
    for (int a = 0; a < M; a++) part[a] = turn[a] * turn[a] * sin(angle[a]);
    up_to(m, part, cy);

    double mass[N * N], b[N];
    int pivot[N];
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        for (int j = 0; j < n; j++) {
            b[i] -= m->K[i][j] * (q[j] + p->damping * v[j]);
            double mij = 0;
            for (int a = 0; a < M; a++) {
                mij += m->w[a] * (p->rhoA * (rx[i][a] * rx[j][a] + ry[i][a] * ry[j][a]) +
                                  p->rhoI * m->P[i][a] * m->P[j][a]);
            }
            mass[i * n + j] = mij;
        }
        for (int a = 0; a < M; a++) {
            b[i] += m->w[a] * p->rhoA * (rx[i][a] * cx[a] + ry[i][a] * (cy[a] - p->gravity));
        }
    }
    oracle_factor(n, mass, pivot);
    oracle_solve(n, mass, pivot, 1, b);
    for (int i = 0; i < n; i++) dy[i] = v[i], dy[n + i] = b[i];
}

void oracle_planar_motion_go(oracle_planar_motion *m, double t0, double t1, double tol, double *y) {
    (void)oracle_ode(2 * m->rod.n, rate, m, t0, t1, tol, y);
}

void oracle_planar_motion_look(const oracle_planar_motion *m, const double *y, double tip[2],
                               double energy[2]) {
    const int n = m->rod.n;
    double angle[M], turn[M], rx[N][M], ry[N][M];
    sum(m, y, angle);
    sum(m, y + n, turn);
    slopes(m, angle, rx, ry);
    tip[0] = tip[1] = energy[0] = energy[1] = 0;
    for (int a = 0; a < M; a++) {
        double vx = 0, vy = 0;
        for (int i = 0; i < n; i++) vx += rx[i][a] * y[n + i], vy += ry[i][a] * y[n + i];
        tip[0] += m->w[a] * cos(angle[a]), tip[1] += m->w[a] * sin(angle[a]);
        energy[0] +=
            m->w[a] * (m->rod.rhoA * (vx * vx + vy * vy) + m->rod.rhoI * turn[a] * turn[a]) / 2;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) energy[1] += m->K[i][j] * y[i] * y[j] / 2;
    }
}

// ---- backward differences -----------------------------------------------------------------------

typedef struct past {
    double q[N], v[N], a[N]; // coordinates, rates, accelerations
    double Vx[M], Vy[M];     // velocities of the points in the axes of their sections
    double Wx[M], Wy[M];     // their rates
} past;

typedef struct fall {
    const oracle_planar_motion *m;
    double h;
    oracle_difference by;
    bool sections;
    past before, earlier; // one and two steps ago
} fall;

static double backward(const fall *f, double now, double before, double earlier,
                       double rate_before) {
    const oracle_difference *d = &f->by;
    return (d->c0 * now + d->c1 * before + d->c2 * earlier) / f->h + d->d1 * rate_before;
}

// r <- forces out of balance at the coordinates q; now <- values that the next step needs.
static void fall_residual(const fall *f, const double *q, double *r, past *now) {
    const oracle_planar_motion *m = f->m;
    const past *b = &f->before, *e = &f->earlier;
    const int n = m->rod.n;
    double rates[N], acc[N], angle[M], turn[M], spin[M], rx[N][M], ry[N][M], part[M], ax[M], ay[M];
    for (int i = 0; i < n; i++) {
        now->q[i] = q[i];
        now->v[i] = rates[i] = backward(f, q[i], b->q[i], e->q[i], b->v[i]);
        now->a[i] = acc[i] = backward(f, rates[i], b->v[i], e->v[i], b->a[i]);
    }
    sum(m, q, angle);
    sum(m, rates, turn);
    sum(m, acc, spin);
    slopes(m, angle, rx, ry);
    for (int a = 0; a < M; a++) part[a] = -turn[a] * turn[a] * cos(angle[a]);
    up_to(m, part, ax);
    for (int a = 0; a < M; a++) part[a] = -turn[a] * turn[a] * sin(angle[a]);
    up_to(m, part, ay);
    for (int a = 0; a < M; a++) {
        double vx = 0, vy = 0;
        for (int i = 0; i < n; i++) {
            vx += rx[i][a] * rates[i], vy += ry[i][a] * rates[i];
            ax[a] += rx[i][a] * acc[i], ay[a] += ry[i][a] * acc[i];
        }
        const double c = cos(angle[a]), s = sin(angle[a]);
        now->Vx[a] = c * vx + s * vy, now->Vy[a] = -s * vx + c * vy;
        if (!f->sections) continue;
        now->Wx[a] = backward(f, now->Vx[a], b->Vx[a], e->Vx[a], b->Wx[a]);
        now->Wy[a] = backward(f, now->Vy[a], b->Vy[a], e->Vy[a], b->Wy[a]);
        const double x = now->Wx[a] - turn[a] * now->Vy[a], y = now->Wy[a] + turn[a] * now->Vx[a];
        ax[a] = c * x - s * y, ay[a] = s * x + c * y;
    }
    for (int i = 0; i < n; i++) {
        r[i] = 0;
        for (int j = 0; j < n; j++) {
            r[i] += m->K[i][j] * (q[j] + m->rod.damping * rates[j]);
        }
        for (int a = 0; a < M; a++) {
            r[i] +=
                m->w[a] * (m->rod.rhoA * (rx[i][a] * ax[a] + ry[i][a] * (ay[a] + m->rod.gravity)) +
                           m->rod.rhoI * m->P[i][a] * spin[a]);
        }
    }
}

// Newton's method with a matrix by differences: ten iterations are more than enough.
static void fall_step(const fall *f, double *q, past *now) {
    const int n = f->m->rod.n;
    for (int k = 0; k < 10; k++) {
        double J[N * N], r[N], up[N], down[N], x[N];
        int pivot[N];
        for (int j = 0; j < n; j++) {
            const double e = 1e-4;
            memcpy(x, q, sizeof x);
            x[j] = q[j] + e;
            fall_residual(f, x, up, now);
            x[j] = q[j] - e;
            fall_residual(f, x, down, now);
            for (int i = 0; i < n; i++) J[i * n + j] = (up[i] - down[i]) / (2 * e);
        }
        fall_residual(f, q, r, now);
        oracle_factor(n, J, pivot);
        oracle_solve(n, J, pivot, 1, r);
        for (int i = 0; i < n; i++) q[i] -= r[i];
    }
    double r[N];
    fall_residual(f, q, r, now);
}

void oracle_planar_motion_fall(const oracle_planar_motion *m, oracle_difference by, double h,
                               int steps, bool sections, double (*tip)[2]) {
    fall f = {.m = m, .by = by, .h = h, .sections = sections};
    double q[N] = {0};
    for (int k = 0; k < steps; k++) {
        past now = {0};
        fall_step(&f, q, &now);
        f.earlier = f.before, f.before = now;
        double y[2 * N] = {0}, energy[2];
        memcpy(y, q, (size_t)m->rod.n * sizeof *y);
        oracle_planar_motion_look(m, y, tip[k], energy);
    }
}
