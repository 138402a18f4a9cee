// SPDX-License-Identifier: MIT
//
// Solution with the mass matrix by articulated bodies, theory.md (4.1.3) to (4.1.5): from the
// leaves to the root the coordinates of each joint are eliminated, so that the cost is linear in
// their number.

#include "dynamics/subtree.h"

#include <math.h>
#include <string.h>

// I <- the inertia of a body
static inline void set_inertia(const snw_inertia *M, snw_articulated_work *I) {
    const snw_vec3 c = M->mc;
    const double B[9] = {0, -c.z, c.y, c.z, 0, -c.x, -c.y, c.x, 0};
    for (int k = 0; k < 6; k++) I->A[k] = M->I[k];
    for (int k = 0; k < 9; k++) I->B[k] = B[k];
    for (int k = 0; k < 6; k++) I->D[k] = k < 3 ? M->m : 0;
}

// I x
static inline col articulated_times(const snw_articulated_work *I, col x) {
    const double *A = I->A, *B = I->B, *D = I->D;
    return (col){A[0] * x.a + A[5] * x.b + A[4] * x.c + B[0] * x.d + B[1] * x.e + B[2] * x.f,
                 A[5] * x.a + A[1] * x.b + A[3] * x.c + B[3] * x.d + B[4] * x.e + B[5] * x.f,
                 A[4] * x.a + A[3] * x.b + A[2] * x.c + B[6] * x.d + B[7] * x.e + B[8] * x.f,
                 B[0] * x.a + B[3] * x.b + B[6] * x.c + D[0] * x.d + D[5] * x.e + D[4] * x.f,
                 B[1] * x.a + B[4] * x.b + B[7] * x.c + D[5] * x.d + D[1] * x.e + D[3] * x.f,
                 B[2] * x.a + B[5] * x.b + B[8] * x.c + D[4] * x.d + D[3] * x.e + D[2] * x.f};
}

static inline double articulated_dot(col x, col y) {
    return x.a * y.a + x.b * y.b + x.c * y.c + x.d * y.d + x.e * y.e + x.f * y.f;
}

// I -= s u u'
static inline void subtract_square(double s, col u, snw_articulated_work *I) {
    const col v = col_times(s, u);
    double *A = I->A, *B = I->B, *D = I->D;
    A[0] -= v.a * u.a, A[1] -= v.b * u.b, A[2] -= v.c * u.c;
    A[3] -= v.b * u.c, A[4] -= v.c * u.a, A[5] -= v.a * u.b;
    B[0] -= v.a * u.d, B[1] -= v.a * u.e, B[2] -= v.a * u.f;
    B[3] -= v.b * u.d, B[4] -= v.b * u.e, B[5] -= v.b * u.f;
    B[6] -= v.c * u.d, B[7] -= v.c * u.e, B[8] -= v.c * u.f;
    D[0] -= v.d * u.d, D[1] -= v.e * u.e, D[2] -= v.f * u.f;
    D[3] -= v.e * u.f, D[4] -= v.f * u.d, D[5] -= v.d * u.e;
}

// to += I about the origin of the carrier, from which its own has the distance d:
//   B <- B + d^ D,  A <- A - B d^ + d^ (old B)'
static inline void add_moved(snw_vec3 d, const snw_articulated_work *restrict I,
                             snw_articulated_work *restrict to) {
    const double *D = I->D, *B = I->B;
    const double x = d.x, y = d.y, z = d.z;
    const double N[9] = {
        B[0] + y * D[4] - z * D[5], B[1] + y * D[3] - z * D[1], B[2] + y * D[2] - z * D[3],
        B[3] + z * D[0] - x * D[4], B[4] + z * D[5] - x * D[3], B[5] + z * D[4] - x * D[2],
        B[6] + x * D[5] - y * D[0], B[7] + x * D[1] - y * D[5], B[8] + x * D[3] - y * D[4]};
    // (N d^) has the rows n x d of the rows n of N with the sign of d^ = [0 -z y; z 0 -x; -y x 0]
    to->A[0] += I->A[0] - (N[1] * z - N[2] * y) + (y * B[2] - z * B[1]);
    to->A[1] += I->A[1] - (N[5] * x - N[3] * z) + (z * B[3] - x * B[5]);
    to->A[2] += I->A[2] - (N[6] * y - N[7] * x) + (x * B[7] - y * B[6]);
    to->A[3] += I->A[3] - (N[3] * y - N[4] * x) + (z * B[6] - x * B[8]);
    to->A[4] += I->A[4] - (N[7] * z - N[8] * y) + (x * B[1] - y * B[0]);
    to->A[5] += I->A[5] - (N[2] * x - N[0] * z) + (y * B[5] - z * B[4]);
    for (int k = 0; k < 9; k++) to->B[k] += N[k];
    for (int k = 0; k < 6; k++) to->D[k] += D[k];
}

// ---- factors ------------------------------------------------------------------------------------

// H <- its Cholesky factor L (lower triangle by rows); false: not positive definite
static bool factor_own(int n, double *H) {
    for (int i = 0; i < n; i++) {
        double *a = H + (ptrdiff_t)i * n;
        for (int j = 0; j <= i; j++) {
            const double *b = H + (ptrdiff_t)j * n;
            double sum = a[j];
            for (int k = 0; k < j; k++) sum -= a[k] * b[k];
            if (i > j) {
                a[j] = sum / b[j];
            } else if (sum > 0) {
                a[i] = sqrt(sum);
            } else {
                return false;
            }
        }
    }
    return true;
}

// U <- L^-1 U', six right-hand sides as columns of U
static void forward_columns(int n, const double *L, int ld, double *U) {
    for (int i = 0; i < n; i++) {
        col x = col_load(U, ld, i);
        for (int k = 0; k < i; k++) {
            x = col_minus(x, col_times(L[(ptrdiff_t)i * n + k], col_load(U, ld, k)));
        }
        col_store(U, ld, i, col_times(1 / L[(ptrdiff_t)i * (n + 1)], x));
    }
}

// Place of the factor of a spherical or free joint in the workspace.
static double *own_factor(const snw_model *m, const snw_work *w, int i) {
    return w->articulated_factor + 36 * (size_t)m->block[m->seg[i].item].lie_block;
}

// A joint of one coordinate; false: no mass
static inline bool eliminate_one(const snw_model *m, int i, snw_work *w) {
    const snw_twist *axis = &m->block[m->seg[i].item].S;
    const snw_vec3 a = snw_rotate(w->g[i].R, axis->w), b = snw_rotate(w->g[i].R, axis->v);
    snw_articulated_work *I = &w->articulated[i];
    const col s = {a.x, a.y, a.z, b.x, b.y, b.z}, u = articulated_times(I, s);
    const double d = articulated_dot(s, u) + m->block[m->seg[i].item].armature;
    if (!(d > 0)) return false;
    I->pivot = 1 / d;
    subtract_square(I->pivot, u, I);
    col_store(w->articulated_axis + m->subtree[i].column, m->nv, 0, s);
    col_store(w->momentum + m->subtree[i].column, m->nv, 0, u);
    return true;
}

// The coordinates of a spherical or free joint; false: no mass
static bool eliminate_several(const snw_model *m, int i, snw_work *w) {
    const snw_subtree *t = &m->subtree[i];
    snw_articulated_work *I = &w->articulated[i];
    const int n = t->own, ld = m->nv;
    double *S = w->articulated_axis + t->column, *U = w->momentum + t->column,
           *H = own_factor(m, w, i);
    snw_subtree_columns(m, w, i, ld, S);
    for (int k = 0; k < n; k++) {
        const col x = articulated_times(I, col_load(S, ld, k));
        for (int j = k; j < n; j++) H[j * n + k] = articulated_dot(col_load(S, ld, j), x);
        col_store(U, ld, k, x);
        H[k * n + k] += m->block[m->seg[i].item].armature;
    }
    if (!factor_own(n, H)) return false;
    if (t->carrier == 0) return true;
    forward_columns(n, H, ld, U);
    for (int k = 0; k < n; k++) subtract_square(1, col_load(U, ld, k), I);
    return true;
}

// Returns -1, or the segment whose coordinates move no mass.
static int articulated_factor(const snw_model *m, snw_work *w) {
    snw_subtree_arms(m, w);
    for (int i = 1; i < m->nseg; i++) {
        if (m->subtree[i].own == 0 && !m->seg[i].has_mass) continue;
        snw_inertia M = {0};
        if (m->seg[i].has_mass) M = subtree_inertia(&w->g[i].R, &m->seg[i].M);
        set_inertia(&M, &w->articulated[i]);
    }
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_subtree *t = &m->subtree[i];
        if (t->own == 0 && !m->seg[i].has_mass) continue;
        if (t->own > 0 && !(m->seg[i].kind == SNW_SEG_SCREW ? eliminate_one(m, i, w)
                                                            : eliminate_several(m, i, w)))
            return i;
        if (t->carrier == 0) continue;
        add_moved(w->arm[i], &w->articulated[i], &w->articulated[t->carrier]);
    }
    return -1;
}

// ---- solution -----------------------------------------------------------------------------------

static inline col wrench_column(snw_wrench F) {
    return (col){F.m.x, F.m.y, F.m.z, F.f.x, F.f.y, F.f.z};
}

static inline col twist_column(snw_twist V) {
    return (col){V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z};
}

// From the leaves to the root: y = L^-1 (x - S' p) of each joint, and the wrench p + U y
// that it leaves to its carrier.
static void solve_up(const snw_model *m, snw_work *w, double *x) {
    for (int i = 1; i < m->nseg; i++) w->articulated[i].p = snw_wrench_zero();
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_subtree *t = &m->subtree[i];
        snw_articulated_work *I = &w->articulated[i];
        if (t->own == 0) continue;
        const int n = t->own, ldu = m->nv;
        const double *U = w->momentum + t->column;
        double *y = x + m->column_dof[t->column];
        const double *S = w->articulated_axis + t->column;
        const col p = wrench_column(I->p);
        for (int k = 0; k < n; k++) y[k] -= articulated_dot(col_load(S, ldu, k), p);
        if (m->seg[i].kind == SNW_SEG_SCREW) {
            y[0] *= I->pivot;
        } else {
            const double *L = own_factor(m, w, i);
            for (int k = 0; k < n; k++, L += n) {
                for (int j = 0; j < k; j++) y[k] -= L[j] * y[j];
                y[k] /= L[k];
            }
        }
        if (t->carrier == 0) continue;
        col F = p;
        for (int k = 0; k < n; k++) F = col_plus(F, col_times(y[k], col_load(U, ldu, k)));
        snw_wrench *to = &w->articulated[t->carrier].p;
        const snw_wrench left = {{{{F.a, F.b, F.c}}, {{F.d, F.e, F.f}}}};
        *to = snw_wrench_add(*to, subtree_wrench(w->arm[i], left));
    }
}

// From the root to the leaves: x = L'^-1 (y - U' a), a the acceleration of the carrier at the
// origin of the segment, then that of the segment.
static void solve_down(const snw_model *m, snw_work *w, double *x) {
    for (int i = 1; i < m->nseg; i++) {
        const snw_subtree *t = &m->subtree[i];
        if (t->own == 0) continue;
        const int n = t->own, ldu = m->nv;
        const double *U = w->momentum + t->column;
        double *y = x + m->column_dof[t->column];
        snw_twist a = snw_twist_zero();
        if (t->carrier > 0) {
            a = w->articulated[t->carrier].a;
            a.v = snw_add(a.v, snw_cross(a.w, w->arm[i]));
        }
        const col before = twist_column(a);
        if (m->seg[i].kind == SNW_SEG_SCREW) {
            y[0] -= w->articulated[i].pivot * articulated_dot(col_load(U, ldu, 0), before);
        } else {
            const double *L = own_factor(m, w, i);
            for (int k = 0; t->carrier > 0 && k < n; k++)
                y[k] -= articulated_dot(col_load(U, ldu, k), before);
            for (int k = n - 1; k >= 0; k--) {
                for (int j = k + 1; j < n; j++) y[k] -= L[(ptrdiff_t)j * n + k] * y[j];
                y[k] /= L[(ptrdiff_t)k * (n + 1)];
            }
        }
        if (t->ncolumn == n) continue; // it carries nothing else
        const double *S = w->articulated_axis + t->column;
        col after = before;
        for (int k = 0; k < n; k++) after = col_plus(after, col_times(y[k], col_load(S, ldu, k)));
        w->articulated[i].a =
            (snw_twist){{{{after.a, after.b, after.c}}, {{after.d, after.e, after.f}}}};
    }
}

int snw_articulated_solve(const snw_model *m, snw_work *w, double *x) {
    const int failed = articulated_factor(m, w);
    if (failed >= 0) {
        int k = 0;
        while (m->block[k].dof != m->column_dof[m->subtree[failed].column]) k++;
        return k;
    }
    solve_up(m, w, x);
    solve_down(m, w, x);
    return -1;
}
