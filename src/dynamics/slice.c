// SPDX-License-Identifier: MIT
//
// Jacobian of a slice of rod and second derivative of its map, for the tangent (theory.md (4.1),
// (4.4)). A slice moves its end by exp(W), W a function of the strains z at its Magnus points. Its
// columns are S = T(W) Y Phi with Y = dW/dz and Phi the shape functions, S' = (T' Y + T Y') Phi and
// S'' = (T'' Y + 2 T' Y' + T Y'') Phi. There are few strains, so T is applied to Y first; loops
// along the strains, then along the coordinates, vectorise.

#include "dynamics/slice.h"

#include "base/vectorise.h"
#include "dynamics/jacobian_column.h"
#include "dynamics/rod_grid.h"
#include "dynamics/variable_length.h"

// Row stride of matrices per strain, constant for any number of strains.
enum { LD = SNW_MAGNUS_LD };

// ---- per strain -------------------------------------------------------------

// columns of the strains that the rod uses, out of all strains of the rule
static void select_strains(const snw_rod *r, const double *restrict raw, double *restrict Y) {
    for (int z = 0; z < r->nz; z++) col_store(Y, LD, z, col_load(raw, LD, r->z[z]));
}

// L x, L = [A 0; B A]
static inline col slice_lower(const snw_lower *L, col x) {
    const snw_mat3 *A = &L->A, *B = &L->B;
    return (col){A->e[0][0] * x.a + A->e[0][1] * x.b + A->e[0][2] * x.c,
                 A->e[1][0] * x.a + A->e[1][1] * x.b + A->e[1][2] * x.c,
                 A->e[2][0] * x.a + A->e[2][1] * x.b + A->e[2][2] * x.c,
                 B->e[0][0] * x.a + B->e[0][1] * x.b + B->e[0][2] * x.c + A->e[0][0] * x.d +
                     A->e[0][1] * x.e + A->e[0][2] * x.f,
                 B->e[1][0] * x.a + B->e[1][1] * x.b + B->e[1][2] * x.c + A->e[1][0] * x.d +
                     A->e[1][1] * x.e + A->e[1][2] * x.f,
                 B->e[2][0] * x.a + B->e[2][1] * x.b + B->e[2][2] * x.c + A->e[2][0] * x.d +
                     A->e[2][1] * x.e + A->e[2][2] * x.f};
}

// D <- T Y
static void apply_tangent_map_static(const snw_lower *T, int nz, const double *restrict Y,
                                     double *restrict D) {
    const snw_lower L = *T;
    SNW_INDEPENDENT
    for (int z = 0; z < nz; z++) col_store(D, LD, z, slice_lower(&L, col_load(Y, LD, z)));
}

// the same with rates
static void apply_tangent_map(const snw_lower T[3], int nz, const double *restrict Y,
                              const double *restrict dY, const double *restrict ddY,
                              double *restrict D, double *restrict dD, double *restrict ddD) {
    const snw_lower L = T[0], dL = T[1], ddL = T[2];
    SNW_INDEPENDENT
    for (int z = 0; z < nz; z++) {
        const col y = col_load(Y, LD, z), dy = col_load(dY, LD, z), ddy = col_load(ddY, LD, z);
        col_store(D, LD, z, slice_lower(&L, y));
        col_store(dD, LD, z, col_plus(slice_lower(&dL, y), slice_lower(&L, dy)));
        col_store(ddD, LD, z,
                  col_plus(col_plus(slice_lower(&ddL, y), col_times(2, slice_lower(&dL, dy))),
                           slice_lower(&L, ddy)));
    }
}

// G <- second derivative of the virtual work of F in the strains: Hess_p(W) + Y' N Y with p = T' F
// and N = d(T' F)/dW, of the form [. .; . 0]
static void slice_hessian(const snw_slice *sl, const snw_rod *r, const snw_slice_work *sw,
                          snw_wrench F, const double *restrict Y, double *restrict G) {
    const int nz = r->nz;
    double N[36], H[LD * LD], NY[6 * LD];
    snw_se3_tangent_pull_gradient(sw->W, F, N);
    snw_rule_hessian(&r->rule, sl->h, sw->xi, snw_lower_pull(&sw->T, F), H);
    SNW_INDEPENDENT
    for (int z = 0; z < nz; z++) {
        const col y = col_load(Y, LD, z);
        const col x = {
            N[0] * y.a + N[1] * y.b + N[2] * y.c + N[3] * y.d + N[4] * y.e + N[5] * y.f,
            N[6] * y.a + N[7] * y.b + N[8] * y.c + N[9] * y.d + N[10] * y.e + N[11] * y.f,
            N[12] * y.a + N[13] * y.b + N[14] * y.c + N[15] * y.d + N[16] * y.e + N[17] * y.f,
            N[18] * y.a + N[19] * y.b + N[20] * y.c,
            N[24] * y.a + N[25] * y.b + N[26] * y.c,
            N[30] * y.a + N[31] * y.b + N[32] * y.c};
        col_store(NY, LD, z, x);
    }
    for (int i = 0; i < nz; i++) {
        const double *row = H + (ptrdiff_t)r->z[i] * LD;
        const col y = col_load(Y, LD, i);
        for (int j = 0; j < nz; j++) G[i * LD + j] = row[r->z[j]];
        SNW_INDEPENDENT
        for (int j = 0; j < nz; j++) {
            const col x = col_load(NY, LD, j);
            G[i * LD + j] += y.a * x.a + y.b * x.b + y.c * x.c + y.d * x.d + y.e * x.e + y.f * x.f;
        }
    }
}

// ---- per coordinate ---------------------------------------------------------

// S <- sum over the points of D Phi unless NULL, J += the same: n functions of one component,
// stride na from point to point in D
SNW_INLINE void slice_scatter(int nc, int na, int n, const double *D, const double *restrict phi,
                              int step, int ld, double *restrict S, double *restrict J) {
    col d[SNW_MAGNUS_POINTS];
    for (int k = 0; k < nc; k++) d[k] = col_load(D, LD, k * na);
    for (int j = 0; j < n; j++) {
        col s = col_times(phi[j], d[0]);
        for (int k = 1; k < nc; k++) s = col_plus(s, col_times(phi[k * step + j], d[k]));
        if (S) col_store(S, ld, j, s);
        col_store(J, ld, j, col_plus(col_load(J, ld, j), s));
    }
}

// the same for all components
static void slice_expand(const snw_model *m, const snw_slice *sl, const snw_rod *r,
                         const int column[6], const double *D, int ld, double *S, double *J) {
    const double *phi = m->phi + sl->phi;
    const int na = r->na, step = sl->ncol;
    for (int a = 0; a < na; phi += sl->count[a], a++) {
        const int at = column[a], n = sl->count[a];
        double *s = S ? S + at : NULL;
        switch (r->nc) { // constant nc: the sum over the points stays in registers
        case 1:
            slice_scatter(1, na, n, D + a, phi, step, ld, s, J + at);
            break;
        case 2:
            slice_scatter(2, na, n, D + a, phi, step, ld, s, J + at);
            break;
        case 3:
            slice_scatter(3, na, n, D + a, phi, step, ld, s, J + at);
            break;
        default:
            slice_scatter(r->nc, na, n, D + a, phi, step, ld, s, J + at);
            break;
        }
    }
}

// to <- one row of G Phi, summed over the points
SNW_INLINE void row_scatter(int nc, int na, int n, const double *G, const double *restrict phi,
                            int step, double *restrict to) {
    for (int j = 0; j < n; j++) {
        double sum = G[0] * phi[j];
        for (int k = 1; k < nc; k++) sum += G[k * na] * phi[k * step + j];
        to[j] = sum;
    }
}

// K += Phi' G Phi, rows n apart; GP: nz x ncol scratch
SNW_INLINE void slice_add_stiffness(int nc, const snw_model *m, const snw_slice *sl,
                                    const snw_rod *r, const int column[6], const double *G,
                                    double *restrict GP, int n, double *restrict K) {
    const int na = r->na, step = sl->ncol;
    const double *phi = m->phi + sl->phi;
    int from[6];
    for (int a = 0, c = 0; a < na; c += sl->count[a], a++) {
        from[a] = c;
        for (int z = 0; z < r->nz; z++) {
            row_scatter(nc, na, sl->count[a], G + z * LD + a, phi + c, step,
                        GP + (ptrdiff_t)z * step + c);
        }
    }
    // a slice that fills all columns needs one loop over them
    const bool whole = step == n;
    for (int a = 0; a < na; a++) {
        double *out = K + (ptrdiff_t)column[a] * n;
        for (int i = 0; i < sl->count[a]; i++, out += n) {
            for (int b = 0; b < (whole ? 1 : na); b++) {
                const double *row = GP + (ptrdiff_t)a * step + from[b];
                double *to = out + column[b];
                const int count = whole ? n : sl->count[b];
                for (int j = 0; j < count; j++) {
                    double sum = phi[from[a] + i] * row[j];
                    for (int k = 1; k < nc; k++) {
                        sum += phi[k * step + from[a] + i] * row[(ptrdiff_t)k * na * step + j];
                    }
                    to[j] += sum;
                }
            }
        }
    }
}

// ---- variable-length rods ---------------------------------------------------

// column of the free length, before those of the strains
static void store_feed_column(int ld, snw_twist S, bool add, double *to) {
    for (int row = 0; row < 6; row++) {
        double *x = to + row * ld - 1;
        *x = add ? *x + S.e[row] : S.e[row];
    }
}

// The strains above are xi f, f the length over that in the model. Scales D and its rates to
// derivatives by xi.
static void scale_columns(const snw_rod *r, snw_jet f, bool is_static, double D[3][6 * LD]) {
    for (int row = 0; row < 6; row++) {
        for (int j = row * LD; j < row * LD + r->nz; j++) {
            if (!is_static) D[2][j] = f.v * D[2][j] + 2 * f.d * D[1][j] + f.dd * D[0][j];
            if (!is_static) D[1][j] = f.v * D[1][j] + f.d * D[0][j];
            D[0][j] *= f.v;
        }
    }
}

// Variable-length rod: scales D and stores the column of the free length.
static snw_twist feed_columns(const snw_model *m, int i, const snw_work *w, double Y[3][6 * LD],
                              const snw_lower T[3], int ld, double D[3][6 * LD],
                              snw_slice_jacobian to) {
    const snw_rod *r = &m->rod[m->slice[i].rod];
    const snw_feed_work *feed = &w->feed[m->slice[i].rod];
    const bool is_static = w->is_static;
    const double s = 1 / r->L;
    scale_columns(r, (snw_jet){feed->l * s, feed->dl * s, feed->ddl * s}, is_static, D);
    snw_twist S[3], along;
    const double *const rates[3] = {Y[0], Y[1], Y[2]};
    snw_variable_length_slice(m, i, w, rates, T, S, &along);
    store_feed_column(ld, S[0], false, to.S);
    store_feed_column(ld, S[0], true, to.J);
    if (!is_static)
        store_feed_column(ld, S[1], true, to.dJ), store_feed_column(ld, S[2], true, to.ddJ);
    return along;
}

// ---- a slice ----------------------------------------------------------------

void snw_slice_jacobian_columns(const snw_model *m, int i, int ld, const snw_wrench *F, snw_work *w,
                                snw_slice_jacobian to) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod *r = &m->rod[sl->rod];
    const snw_slice_work *sw = &w->slice[i];
    if (r->grid) {
        snw_rod_grid_jacobian(m, i, ld, F, w, to);
        return;
    }
    const bool is_static = w->is_static, variable = r->feed >= 0;
    double raw[3][6 * LD], Y[3][6 * LD], D[3][6 * LD], G[LD * LD];
    snw_lower T[3];
    if (is_static) {
        T[0] = sw->T;
        snw_rule_jacobian(&r->rule, sl->h, sw->xi, raw[0]);
        select_strains(r, raw[0], Y[0]);
        apply_tangent_map_static(T, r->nz, Y[0], D[0]);
    } else {
        snw_rule_jacobian_rates(&r->rule, sl->h, sw->xi, sw->dxi, sw->ddxi, raw[0], raw[1], raw[2]);
        for (int l = 0; l < 3; l++) select_strains(r, raw[l], Y[l]);
        snw_se3_tangent_jet(sw->W, sw->dW, sw->ddW, &T[0], &T[1], &T[2]);
        apply_tangent_map(T, r->nz, Y[0], Y[1], Y[2], D[0], D[1], D[2]);
    }
    if (sl->piece) scale_columns(r, w->tube_piece[sl->piece - 1].ratio, is_static, D);
    const snw_twist along = variable ? feed_columns(m, i, w, raw, T, ld, D, to) : snw_twist_zero();
    slice_expand(m, sl, r, to.column, D[0], ld, to.S, to.J);
    if (!is_static) {
        slice_expand(m, sl, r, to.column, D[1], ld, NULL, to.dJ);
        slice_expand(m, sl, r, to.column, D[2], ld, NULL, to.ddJ);
    }
    if (!F) return;
    slice_hessian(sl, r, sw, *F, Y[0], G);
    if (variable || sl->piece) {
        const double ratio =
            variable ? w->feed[sl->rod].l / r->L : w->tube_piece[sl->piece - 1].ratio.v;
        for (int j = 0; j < r->nz * r->nz; j++) G[j / r->nz * LD + j % r->nz] *= ratio * ratio;
    }
    if (variable) {
        snw_variable_length_curvature(m, i, raw[0], along, *F, w);
    }
    double *GP = w->slice_scratch;
    switch (r->nc) { // constant nc for the most common rules
    case 2:
        slice_add_stiffness(2, m, sl, r, to.column, G, GP, to.ldk, to.K);
        break;
    case 3:
        slice_add_stiffness(3, m, sl, r, to.column, G, GP, to.ldk, to.K);
        break;
    default:
        slice_add_stiffness(r->nc, m, sl, r, to.column, G, GP, to.ldk, to.K);
        break;
    }
}
