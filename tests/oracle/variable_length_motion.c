// SPDX-License-Identifier: MIT
//
// The material point s from the tip is at the fraction x = 1 - s/l of the free length; u = 1 - x.
// T_i are the Chebyshev polynomials on [0, 1], P_i their integrals from 0, k = sum q_i T_i the
// curvature and b the direction of the sleeve:
//
//     angle       h  = b + l sum q_i P_i
//     at fixed s  h' = b' + l' (sum q_i P_i + u k) + l sum q_i' P_i
//                 h''= b'' + l'' (sum q_i P_i + u k) + l sum q_i'' P_i
//                    + 2 l' sum q_i' (P_i + u T_i) + l'^2/l u^2 k_x
//     position    r  = r_0 + integral_s^l e(h) ds,   e = (cos, sin), n = (-sin, cos)
//                 r''= r_0'' + l'' e(b) + l' b' n(b) + l' n(b) h'(0)
//                    + integral (n h'' - e h'^2) l dx
//     variations  dh = l sum dq_i P_i + (sum q_i P_i + u k) dl,
//                 dr = e(b) dl + integral n dh l dx
//
// since h = b at the mouth at all times. The virtual work of the forces out of balance on these
// variations vanishes. The elastic energy is EI/2 l integral k^2 dx; the curvature of the material
// changes by sum q_i' T_i + l'/l u k_x. As the rod leaves the sleeve its material is bent by u/l
// k_x dl, and at the mouth from straight to k. Therefore EI may vary without its derivative being
// known.
#include "oracle/variable_length_motion.h"

#include "oracle/chebyshev.h"
#include "oracle/linear.h"
#include "oracle/ode.h"

#include <math.h>
#include <stdlib.h>

enum { M = 40, N = ORACLE_VARIABLE_LENGTH_MOST };

struct oracle_variable_length_motion {
    oracle_variable_length_rod rod;
    double u[M], w[M], upto[M][M];    // on [0, 1]
    double T[N][M], S[N][M], P[N][M]; // functions, derivatives, integrals
    double T0[N];                     // at the mouth
};

oracle_variable_length_motion *
oracle_variable_length_create(const oracle_variable_length_rod *rod) {
    oracle_variable_length_motion *m = oracle_alloc(1, sizeof *m);
    m->rod = *rod;
    double x[M], w[M];
    oracle_gauss(M, x, w);
    oracle_upto(M, x, w, &m->upto[0][0]);
    for (int a = 0; a < M; a++) {
        m->u[a] = (1 - x[a]) / 2;
        m->w[a] = w[a] / 2;
        for (int b = 0; b < M; b++) m->upto[a][b] /= 2;
        for (int i = 0; i < rod->n; i++) {
            m->T[i][a] = oracle_chebyshev(i, x[a]);
            m->S[i][a] = 2 * oracle_chebyshev_slope(i, x[a]);
            m->P[i][a] = oracle_antiderivative(i, x[a]) / 2;
        }
    }
    for (int i = 0; i < rod->n; i++) m->T0[i] = oracle_chebyshev(i, -1);
    return m;
}

void oracle_variable_length_destroy(oracle_variable_length_motion *m) { free(m); }

static void up_to(const oracle_variable_length_motion *m, const double *y, double *out) {
    for (int a = 0; a < M; a++) {
        out[a] = 0;
        for (int b = 0; b < M; b++) out[a] += m->upto[a][b] * y[b];
    }
}

// Terms of the balance at a state, and the accelerations without the part of the unknowns.
typedef struct scene {
    oracle_variable_length_laws at;
    double l, dl;
    double h[M];                       // angle
    double dx[N + 1][M], dy[N + 1][M]; // variations of position,
    double dh[N + 1][M];               // and of the angle: by the coordinates, last by the length
    double ax[M], ay[M],
        ah[M];            // accelerations without those of the coordinates and of a free length
    double dk[N + 1][M];  // variations of the curvature
    double k[M], rate[M]; // curvature, and its rate,
    double mouth;         // curvature at the mouth
} scene;

static void look(const oracle_variable_length_motion *m, double t, const double *y, scene *s) {
    const int n = m->rod.n;
    const double *q = y, *v = y + n;
    m->rod.laws(t, &s->at);
    const oracle_variable_length_laws *at = &s->at;
    s->l = m->rod.given ? at->l[0] : y[2 * n];
    s->dl = m->rod.given ? at->l[1] : y[2 * n + 1];
    const double l = s->l, dl = s->dl, ddl = m->rod.given ? at->l[2] : 0;
    double turn[M], part[M];
    for (int a = 0; a < M; a++) {
        double P = 0, dP = 0, k = 0, dk = 0, slope = 0;
        for (int i = 0; i < n; i++) {
            P += q[i] * m->P[i][a], dP += v[i] * m->P[i][a];
            k += q[i] * m->T[i][a], dk += v[i] * m->T[i][a];
            slope += q[i] * m->S[i][a];
        }
        const double u = m->u[a], along = P + u * k;
        s->h[a] = at->angle[0] + l * P;
        turn[a] = at->angle[1] + dl * along + l * dP;
        s->ah[a] =
            at->angle[2] + ddl * along + 2 * dl * (dP + u * dk) + dl * dl / l * u * u * slope;
        s->k[a] = k;
        s->rate[a] = dk + dl / l * u * slope;
        for (int i = 0; i < n; i++) s->dh[i][a] = l * m->P[i][a], s->dk[i][a] = m->T[i][a];
        s->dh[n][a] = along;
        s->dk[n][a] = u / l * slope;
    }
    const double c = cos(at->angle[0]), z = sin(at->angle[0]);
    for (int i = 0; i <= n; i++) {
        for (int a = 0; a < M; a++) part[a] = -l * sin(s->h[a]) * s->dh[i][a];
        up_to(m, part, s->dx[i]);
        for (int a = 0; a < M; a++) part[a] = l * cos(s->h[a]) * s->dh[i][a];
        up_to(m, part, s->dy[i]);
        for (int a = 0; i == n && a < M; a++) s->dx[i][a] += c, s->dy[i][a] += z;
    }
    s->mouth = 0;
    for (int i = 0; i < n; i++) s->mouth += q[i] * m->T0[i];
    const double across = dl * (2 * at->angle[1] + dl * s->mouth);
    for (int a = 0; a < M; a++) {
        part[a] = l * (-sin(s->h[a]) * s->ah[a] - cos(s->h[a]) * turn[a] * turn[a]);
    }
    up_to(m, part, s->ax);
    for (int a = 0; a < M; a++) {
        part[a] = l * (cos(s->h[a]) * s->ah[a] - sin(s->h[a]) * turn[a] * turn[a]);
    }
    up_to(m, part, s->ay);
    for (int a = 0; a < M; a++) {
        s->ax[a] += at->x[2] + ddl * c - across * z;
        s->ay[a] += at->y[2] + ddl * z + across * c;
    }
}

// Radius at s from the tip over the radius at the tip.
static double radius(const oracle_variable_length_rod *p, double s) {
    return 1 + s * (p->radius_series[0] + s * p->radius_series[1]);
}

// acc <- accelerations of the coordinates, and of the length where it is free. Returns the push
// force this requires.
static double balance(const oracle_variable_length_motion *m, const scene *s, double *acc) {
    const oracle_variable_length_rod *p = &m->rod;
    const int n = p->n, free_too = n + !p->given;
    double A[(N + 1) * (N + 1)], f[N + 1], mass[(N + 1) * (N + 1)];
    int pivot[N + 1];
    for (int i = 0; i <= n; i++) {
        f[i] = 0;
        for (int a = 0; a < M; a++) {
            const double w = m->w[a] * s->l, r = radius(p, s->l * m->u[a]), rr = r * r;
            f[i] += w * rr *
                    (p->rhoA * (s->dx[i][a] * (s->ax[a] - p->gravity[0]) +
                                s->dy[i][a] * (s->ay[a] - p->gravity[1])) +
                     rr * p->rhoI * s->dh[i][a] * s->ah[a] +
                     rr * p->EI * s->dk[i][a] * (s->k[a] + p->damping * s->rate[a]));
        }
        if (i == n) f[i] += 0.5 * p->EI * pow(radius(p, s->l), 4) * s->mouth * s->mouth;
        for (int j = 0; j <= n; j++) {
            double sum = 0;
            for (int a = 0; a < M; a++) {
                const double r = radius(p, s->l * m->u[a]), rr = r * r;
                sum += m->w[a] * s->l * rr *
                       (p->rhoA * (s->dx[i][a] * s->dx[j][a] + s->dy[i][a] * s->dy[j][a]) +
                        rr * p->rhoI * s->dh[i][a] * s->dh[j][a]);
            }
            mass[i * (N + 1) + j] = sum;
        }
    }
    for (int i = 0; i < free_too; i++) {
        acc[i] = (i == n ? s->at.push : 0) - f[i];
        for (int j = 0; j < free_too; j++) A[i * free_too + j] = mass[i * (N + 1) + j];
    }
    oracle_factor(free_too, A, pivot);
    oracle_solve(free_too, A, pivot, 1, acc);
    double push = f[n];
    for (int j = 0; j < free_too; j++) push += mass[n * (N + 1) + j] * acc[j];
    return push;
}

static void rate(void *user, double t, const double *y, double *dy) {
    const oracle_variable_length_motion *m = user;
    const int n = m->rod.n;
    scene s;
    double acc[N + 1];
    look(m, t, y, &s);
    (void)balance(m, &s, acc);
    for (int i = 0; i < n; i++) dy[i] = y[n + i], dy[n + i] = acc[i];
    if (!m->rod.given) dy[2 * n] = y[2 * n + 1], dy[2 * n + 1] = acc[n];
}

void oracle_variable_length_go(oracle_variable_length_motion *m, double t0, double t1, double tol,
                               double *y) {
    (void)oracle_ode(2 * m->rod.n + 2 * !m->rod.given, rate, m, t0, t1, tol, y);
}

void oracle_variable_length_at(oracle_variable_length_motion *m, double t, const double *y,
                               double tip[2], double *push) {
    scene s;
    double acc[N + 1];
    look(m, t, y, &s);
    *push = balance(m, &s, acc);
    tip[0] = s.at.x[0], tip[1] = s.at.y[0];
    for (int a = 0; a < M; a++) {
        tip[0] += m->w[a] * s.l * cos(s.h[a]);
        tip[1] += m->w[a] * s.l * sin(s.h[a]);
    }
}
