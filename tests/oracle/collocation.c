// SPDX-License-Identifier: MIT
//
// Inverse dynamics of strong.h by Chebyshev collocation. Each equation is linear in its own unknown
// once those before it are known, so a stretch of the rod is four linear systems at Chebyshev
// points: quaternion; position; twist and acceleration (one matrix); wrench. Integrals use
// Clenshaw-Curtis quadrature on the same points.
//
// With integrating factors only the rotation is an equation (theory.md 2): in the world frame
// twist, acceleration and wrench are integrals, (Ad_g V)' = Ad_g dxi, (Ad_g A)' = Ad_g (ddxi -
// ad_dxi V), (Ad_g^-T Lambda)' = Ad_g^-T c.
#include "oracle/strong.h"

#include "oracle/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STRETCHES = 256 };

// Points t_j = -cos(pi j / N) of [-1, 1], derivative matrix and weights.
typedef struct grid {
    int n;
    bool factor; // with integrating factors
    double *t, *D, *w;
} grid;

static void grid_open(grid *g, int n) {
    const int N = n - 1;
    *g = (grid){.n = n,
                .t = oracle_alloc((size_t)n, sizeof(double)),
                .D = oracle_alloc((size_t)n * (size_t)n, sizeof(double)),
                .w = oracle_alloc((size_t)n, sizeof(double))};
    for (int j = 0; j < n; j++) g->t[j] = -cos(M_PI * j / N);
    for (int i = 0; i < n; i++) {
        double sum = 0; // the diagonal is chosen so that the derivative of a constant is zero to
                        // the last bit
        for (int j = 0; j < n; j++) {
            if (i == j) continue;
            const double ci = i == 0 || i == N ? 2 : 1, cj = j == 0 || j == N ? 2 : 1;
            // t_i - t_j without cancellation.
            const double d = 2 * sin(M_PI * (i + j) / (2.0 * N)) * sin(M_PI * (i - j) / (2.0 * N));
            const double D = ci / cj * ((i + j) % 2 ? -1 : 1) / d;
            g->D[i * n + j] = D;
            sum += D;
        }
        g->D[i * n + i] = -sum;
    }
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int k = 0; 2 * k <= N; k++) {
            const double half = k == 0 || 2 * k == N ? 0.5 : 1;
            sum += half * 2 / (1 - 4.0 * k * k) * cos(2 * M_PI * k * j / N);
        }
        g->w[j] = (j == 0 || j == N ? 1.0 : 2.0) / N * sum;
    }
}

static void grid_close(grid *g) {
    free(g->t);
    free(g->D);
    free(g->w);
}

// All quantities at the points of one stretch.
typedef struct stretch {
    double from, to;
    oracle_fields *f;
    snw_se3 *g;
    snw_twist *V, *A;
} stretch;

// Solve y' = B_j y + c_j with y given at point `at`: y and c are n x dim x ncol, B one dim x dim
// block per point.
static void solve(const grid *g, double h, int dim, const double *B, int ncol, int at, double *y) {
    const int n = g->n, size = n * dim;
    double *A = oracle_alloc((size_t)size * (size_t)size, sizeof *A);
    int *pivot = oracle_alloc((size_t)size, sizeof *pivot);
    for (int i = 0; i < n; i++) {
        for (int r = 0; r < dim; r++) {
            double *row = A + (size_t)(i * dim + r) * (size_t)size;
            if (i == at) {
                row[i * dim + r] = 1;
                continue;
            }
            for (int j = 0; j < n; j++) row[j * dim + r] = 2 / h * g->D[i * n + j];
            for (int c = 0; c < dim; c++) row[i * dim + c] -= B[(i * dim + r) * dim + c];
        }
    }
    oracle_factor(size, A, pivot);
    oracle_solve(size, A, pivot, ncol, y);
    free(A);
    free(pivot);
}

static void ad_matrix(snw_twist x, double sign, double *B) {
    for (int c = 0; c < 6; c++) {
        snw_twist e = {0};
        e.e[c] = 1;
        const snw_twist col = snw_ad(x, e);
        for (int r = 0; r < 6; r++) B[r * 6 + c] = sign * col.e[r];
    }
}

// x (n) <- solution of x' = -ad_xi x + x, x given at the first point.
static void carry(const grid *g, const stretch *s, snw_twist *x) {
    const int n = g->n;
    double *B = oracle_alloc((size_t)n * 36, sizeof *B),
           *y = oracle_alloc((size_t)n * 6, sizeof *y);
    for (int j = 0; j < n; j++) {
        const snw_twist c = g->factor ? snw_twist_to_parent(s->g[j], x[j]) : x[j];
        memcpy(y + 6 * j, c.e, sizeof c.e);
        if (!g->factor) ad_matrix(s->f[j].xi, -1, B + 36 * j);
    }
    solve(g, s->to - s->from, g->factor ? 1 : 6, B, g->factor ? 6 : 1, 0, y);
    for (int j = 0; j < n; j++) {
        memcpy(x[j].e, y + 6 * j, sizeof x[j].e);
        if (g->factor) x[j] = snw_twist_to_child(s->g[j], x[j]);
    }
    free(B);
    free(y);
}

static void forward(const oracle_rod *q, const grid *g, stretch *s, snw_se3 g0, snw_twist V0,
                    snw_twist A0) {
    const int n = g->n;
    const double h = s->to - s->from, middle = 0.5 * (s->from + s->to);
    double *B = oracle_alloc((size_t)n * 36, sizeof *B),
           *y = oracle_alloc((size_t)n * 6, sizeof *y);
    for (int j = 0; j < n; j++) oracle_fields_at(q, middle + 0.5 * h * g->t[j], middle, &s->f[j]);

    // rotation
    for (int j = 0; j < n; j++) {
        const snw_vec3 K = s->f[j].xi.w;
        const double W[16] = {0,   -K.x, -K.y, -K.z, K.x, 0,   K.z,  -K.y,
                              K.y, -K.z, 0,    K.x,  K.z, K.y, -K.x, 0};
        for (int i = 0; i < 16; i++) B[j * 16 + i] = 0.5 * W[i];
    }
    const snw_quat h0 = snw_quat_from_mat3(g0.R);
    for (int i = 0; i < 4; i++) y[i] = h0.e[i];
    solve(g, h, 4, B, 1, 0, y);
    for (int j = 0; j < n; j++) {
        const double *e = y + 4 * j;
        s->g[j].R = snw_quat_to_mat3((snw_quat){{e[0], e[1], e[2], e[3]}});
    }

    // position: three right-hand sides of y' = c
    memset(B, 0, (size_t)n * sizeof *B);
    for (int j = 0; j < n; j++) {
        const snw_vec3 dp = j == 0 ? g0.p : snw_rotate(s->g[j].R, s->f[j].xi.v);
        for (int i = 0; i < 3; i++) y[3 * j + i] = dp.e[i];
    }
    solve(g, h, 1, B, 3, 0, y);
    for (int j = 0; j < n; j++) s->g[j].p = (snw_vec3){{y[3 * j], y[3 * j + 1], y[3 * j + 2]}};

    // Twist, then its rate: the same matrix.
    for (int j = 0; j < n; j++) s->V[j] = j == 0 ? V0 : s->f[j].dxi;
    carry(g, s, s->V);
    for (int j = 0; j < n; j++) {
        s->A[j] = j == 0 ? A0 : snw_twist_sub(s->f[j].ddxi, snw_ad(s->f[j].dxi, s->V[j]));
    }
    carry(g, s, s->A);
    free(B);
    free(y);
}

// Lambda from L_end at the far end; adds to the answer. Returns Lambda at the near end.
static snw_wrench backward(const oracle_rod *q, const grid *g, const stretch *s, snw_wrench L_end,
                           oracle_answer *a) {
    const int n = g->n;
    const double h = s->to - s->from;
    double *B = oracle_alloc((size_t)n * 36, sizeof *B),
           *y = oracle_alloc((size_t)n * 6, sizeof *y);
    for (int j = 0; j < n; j++) {
        double ad[36];
        ad_matrix(s->f[j].xi, 1, ad);
        for (int r = 0; r < 6; r++) {
            for (int c = 0; c < 6; c++) B[36 * j + 6 * r + c] = ad[6 * c + r];
        }
        const oracle_fields *f = &s->f[j];
        snw_wrench c = oracle_inertia(q, &f->M, s->g[j].R, s->V[j], s->A[j]);
        c = snw_wrench_sub(c, f->follow);
        c.m = snw_sub(c.m, snw_rotate_inv(s->g[j].R, f->dead.m));
        c.f = snw_sub(c.f, snw_rotate_inv(s->g[j].R, f->dead.f));
        if (j == n - 1) c = L_end;
        if (g->factor) c = snw_wrench_to_parent(s->g[j], c);
        memcpy(y + 6 * j, c.e, sizeof c.e);
    }
    if (g->factor) memset(B, 0, (size_t)n * 36 * sizeof *B);
    solve(g, h, g->factor ? 1 : 6, B, g->factor ? 6 : 1, n - 1, y);
    for (int j = 0; j < n && g->factor; j++) {
        snw_wrench L;
        memcpy(L.e, y + 6 * j, sizeof L.e);
        L = snw_wrench_to_child(s->g[j], L);
        memcpy(y + 6 * j, L.e, sizeof L.e);
    }
    for (int j = 0; j < n; j++) {
        const oracle_fields *f = &s->f[j];
        const double w = 0.5 * h * g->w[j];
        a->kinetic += w * oracle_kinetic(&f->M, s->V[j]);
        a->gravity += w * oracle_potential(q, &f->M, s->g[j]);
        for (int i = 0; i < f->n; i++) {
            a->r[f->dof[i]] += w * f->phi[i] * (f->stress.e[f->comp[i]] - y[6 * j + f->comp[i]]);
        }
    }
    snw_wrench L;
    memcpy(L.e, y, sizeof L.e);
    free(B);
    free(y);
    return L;
}

static void walk(const oracle_rod *q, int points, bool factor, bool returns, oracle_answer *a) {
    double x[MOST_STRETCHES];
    const int n = oracle_stretches(q, x, MOST_STRETCHES), last = points - 1;
    double *const r = a->r;
    *a = (oracle_answer){.r = r};
    memset(r, 0, (size_t)q->m->rod[q->rod].ndof * sizeof *r);
    grid g;
    grid_open(&g, points);
    g.factor = factor;
    const size_t np = (size_t)points;
    stretch *s = oracle_alloc((size_t)n, sizeof *s);
    snw_se3 g0 = q->g;
    snw_twist V = q->V, A = q->dV;
    for (int i = 0; i + 1 < n; i++) {
        s[i] = (stretch){x[i],
                         x[i + 1],
                         oracle_alloc(np, sizeof *s->f),
                         oracle_alloc(np, sizeof *s->g),
                         oracle_alloc(np, sizeof *s->V),
                         oracle_alloc(np, sizeof *s->A)};
        forward(q, &g, &s[i], g0, V, A);
        g0 = s[i].g[last], V = s[i].V[last], A = s[i].A[last];
        a->calls += points;
    }
    a->tip = g0, a->V = V, a->dV = A;
    snw_inertia store;
    const snw_inertia *body = oracle_body(q, &store);
    if (body) {
        a->kinetic = oracle_kinetic(body, V);
        a->gravity = oracle_potential(q, body, g0);
    }
    snw_wrench L = {0};
    int watch = q->nwatch - 1;
    for (int i = n - 1; returns && i > 0; i--) {
        const stretch *k = &s[i - 1];
        L = snw_wrench_add(L, oracle_lump(q, x[i], k->g[last], k->V[last], k->A[last]));
        if (watch >= 0 && fabs(q->watch[watch] - x[i]) <= 1e-12 * x[n - 1]) a->watch[watch--] = L;
        L = backward(q, &g, k, L, a);
    }
    if (returns && watch >= 0) a->watch[watch] = L;
    a->root = L;
    for (int i = 0; i + 1 < n; i++) {
        free(s[i].f);
        free(s[i].g);
        free(s[i].V);
        free(s[i].A);
    }
    free(s);
    grid_close(&g);
}

void oracle_by_collocation(const oracle_rod *q, int points, oracle_answer *a) {
    walk(q, points, false, true, a);
}

void oracle_by_factor(const oracle_rod *q, int points, oracle_answer *a) {
    walk(q, points, true, true, a);
}

void oracle_forward_by_collocation(const oracle_rod *q, int points, bool factor, oracle_answer *a) {
    walk(q, points, factor, false, a);
}
