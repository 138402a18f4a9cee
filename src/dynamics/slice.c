// SPDX-License-Identifier: MIT
//
// Jacobian of a slice of rod and second derivative of its map, for the tangent (theory.md (4.1),
// (4.4)). A slice moves its end by exp(W), W a function of the strains z at its Magnus points. Its
// columns are S = T(W) Y Phi with Y = dW/dz and Phi the shape functions, S' = (T' Y + T Y') Phi and
// S'' = (T'' Y + 2 T' Y' + T Y'') Phi. There are few strains, so T is applied to Y first; loops
// along the strains, then along the coordinates, vectorise.
//
// T and Y are matrices over the dual numbers, [r 0; d r] (math/dual.h). So twist or bending about
// an axis has the column (u, v) of the axis, and stretch or shear along it (0, u): columns are
// computed once for each axis and Magnus point. Likewise a form [d r; r 0] couples two rotations by
// d, a rotation and a translation by r, and two translations not at all.

#include "dynamics/slice.h"

#include "base/vectorise.h"
#include "dynamics/jacobian_column.h"
#include "dynamics/rod_grid.h"
#include "dynamics/variable_length.h"
#include "math/rule_blocks.h"

// Row strides, constant for any number of strains: of matrices per axis and point, per strain.
// Columns per axis and point are made in whole vectors of WIDTH, so that loops along them are short
// code: unrolled, it was three times as long and slower.
#ifdef SNW_NUMBERS
enum { WIDTH = 1 };
#else
enum { WIDTH = 4 };
#endif
enum { LD = (3 * SNW_MAGNUS_POINTS + 3) / 4 * 4, LDG = SNW_MAGNUS_LD };
static inline int slice_padded(int n) { return (n + WIDTH - 1) / WIDTH * WIDTH; }

// Axes of the strains that a rod uses, rising.
typedef struct slice_axes {
    int n, axis[3];
    int of[6];     // by active component: place of its axis among them
    bool shifting; // some component is stretch or shear
} slice_axes;

static slice_axes slice_axes_of(const snw_rod *r) {
    slice_axes x = {.n = 0};
    bool used[3] = {false, false, false};
    int at[3];
    for (int a = 0; a < r->na; a++) {
        used[r->comp[a] % 3] = true;
        x.shifting |= r->comp[a] >= 3;
    }
    for (int e = 0; e < 3; e++) {
        at[e] = x.n;
        if (used[e]) x.axis[x.n++] = e;
    }
    for (int a = 0; a < r->na; a++) x.of[a] = at[r->comp[a] % 3];
    return x;
}

// ---- per axis and point -----------------------------------------------------

// Y <- columns of the axes in use, by point, then axis, out of the blocks of the points; zero
// behind them
SNW_INLINE void put_axis_columns(int nc, int nx, const int *axis, const snw_dual33 *block,
                                 double *restrict Y) {
    for (int i = 0; i < 3; i++) {
        double *up = Y + (ptrdiff_t)i * LD, *down = up + (ptrdiff_t)3 * LD;
        for (int k = 0; k < nc; k++) {
            for (int x = 0; x < nx; x++) {
                up[k * nx + x] = block[k].r.e[i][axis[x]];
                down[k * nx + x] = block[k].d.e[i][axis[x]];
            }
        }
        for (int z = nc * nx; z < slice_padded(nc * nx); z++) up[z] = down[z] = 0;
    }
}

static const int slice_all_axes[3] = {0, 1, 2};

static void slice_axis_columns(int nc, const slice_axes *of, const snw_dual33 *block, double *Y) {
    if (nc == 2 && of->n == 3) { // constants for the most common rods
        put_axis_columns(2, 3, slice_all_axes, block, Y);
    } else if (nc == 2 && of->n == 1) {
        put_axis_columns(2, 1, of->axis, block, Y);
    } else if (nc == 3 && of->n == 3) {
        put_axis_columns(3, 3, slice_all_axes, block, Y);
    } else {
        put_axis_columns(nc, of->n, of->axis, block, Y);
    }
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

// D <- T Y, nz padded columns
SNW_CLONES static void apply_tangent_map_static(const snw_lower *T, int nz,
                                                const double *restrict Y, double *restrict D) {
    const snw_lower L = *T;
    SNW_ROLLED
    for (int block = 0; block < nz; block += WIDTH) {
        SNW_INDEPENDENT
        for (int z = block; z < block + WIDTH; z++)
            col_store(D, LD, z, slice_lower(&L, col_load(Y, LD, z)));
    }
}

// the same with rates
SNW_CLONES static void apply_tangent_map(const snw_lower T[3], int nz, const double *restrict Y,
                                         const double *restrict dY, const double *restrict ddY,
                                         double *restrict D, double *restrict dD,
                                         double *restrict ddD) {
    const snw_lower L = T[0], dL = T[1], ddL = T[2];
    SNW_ROLLED
    for (int block = 0; block < nz; block += WIDTH) {
        SNW_INDEPENDENT
        for (int z = block; z < block + WIDTH; z++) {
            const col y = col_load(Y, LD, z), dy = col_load(dY, LD, z), ddy = col_load(ddY, LD, z);
            col_store(D, LD, z, slice_lower(&L, y));
            col_store(dD, LD, z, col_plus(slice_lower(&dL, y), slice_lower(&L, dy)));
            col_store(ddD, LD, z,
                      col_plus(col_plus(slice_lower(&ddL, y), col_times(2, slice_lower(&dL, dy))),
                               slice_lower(&L, ddy)));
        }
    }
}

// turn, shift += Y' N Y with N = [d r; r 0]: of two rotations, and of a rotation and a translation
// (unless NULL); nz columns
SNW_CLONES static void slice_add_form(const double N[36], int nz, const double *restrict Y,
                                      double *restrict turn, double *restrict shift) {
    const int padded = slice_padded(nz);
    double NY[6 * LD];
    SNW_ROLLED
    for (int block = 0; block < padded; block += WIDTH) {
        SNW_INDEPENDENT
        for (int z = block; z < block + WIDTH; z++) {
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
    }
    SNW_ROLLED
    for (int i = 0; i < nz; i++) {
        const col y = col_load(Y, LD, i);
        SNW_ROLLED
        for (int block = 0; block < padded; block += WIDTH) {
            SNW_INDEPENDENT
            for (int j = block; j < block + WIDTH; j++) {
                const col v = col_load(NY, LD, j);
                turn[i * LD + j] +=
                    y.a * v.a + y.b * v.b + y.c * v.c + y.d * v.d + y.e * v.e + y.f * v.f;
            }
        }
        if (!shift) continue;
        SNW_ROLLED
        for (int block = 0; block < padded; block += WIDTH) {
            SNW_INDEPENDENT
            for (int j = block; j < block + WIDTH; j++) {
                const col v = col_load(NY, LD, j);
                shift[i * LD + j] += y.a * v.d + y.b * v.e + y.c * v.f;
            }
        }
    }
}

// turn, shift <- blocks H of a form
SNW_INLINE void put_form(int nc, int nx, const int *axis, const snw_dual33 *H,
                         double *restrict turn, double *restrict shift) {
    for (int k = 0; k < nc; k++) {
        for (int l = 0; l < nc; l++) {
            const snw_dual33 *M = k <= l ? &H[k * nc + l] : &H[l * nc + k];
            for (int x = 0; x < nx; x++) {
                for (int e = 0; e < nx; e++) {
                    const int at = (k * nx + x) * LD + l * nx + e;
                    const int i = k <= l ? axis[x] : axis[e], j = k <= l ? axis[e] : axis[x];
                    turn[at] = M->d.e[i][j];
                    if (shift) shift[at] = M->r.e[i][j];
                }
            }
        }
    }
    for (int i = 0; i < nc * nx; i++) {
        for (int j = nc * nx; j < slice_padded(nc * nx); j++) {
            turn[i * LD + j] = 0;
            if (shift) shift[i * LD + j] = 0;
        }
    }
}

// Second derivative of the virtual work of F in the strains, H + Y' N Y with H = Hess_p(W),
// p = T' F and N = d(T' F)/dW, both of the form [d r; r 0]: `turn` couples rotations, `shift`
// rotations and translations (unless NULL).
static void slice_hessian(const slice_axes *of, const snw_slice *sl, const snw_rod *r,
                          const snw_slice_work *sw, snw_wrench F, const double *Y, double *turn,
                          double *shift) {
    double N[36];
    snw_dual33 H[SNW_MAGNUS_POINTS * SNW_MAGNUS_POINTS];
    snw_se3_tangent_pull_gradient(sw->W, F, N);
    snw_rule_forms(&r->rule, sl->h, sw->xi, snw_lower_pull(&sw->T, F), H);
    if (r->nc == 2 && of->n == 3 && !shift) {
        put_form(2, 3, slice_all_axes, H, turn, NULL);
    } else if (r->nc == 2 && of->n == 1 && !shift) {
        put_form(2, 1, of->axis, H, turn, NULL);
    } else if (r->nc == 3 && of->n == 3) {
        put_form(3, 3, slice_all_axes, H, turn, shift);
    } else {
        put_form(r->nc, of->n, of->axis, H, turn, shift);
    }
    slice_add_form(N, r->nc * of->n, Y, turn, shift);
}

// G <- the same for the active strains, by point, then component
static void slice_strain_hessian(const snw_rod *r, const slice_axes *x, const double *turn,
                                 const double *shift, double *G) {
    const int na = r->na, nx = x->n;
    for (int a = 0; a < na; a++) {
        for (int b = 0; b < na; b++) {
            const bool both = r->comp[a] < 3 && r->comp[b] < 3,
                       none = r->comp[a] >= 3 && r->comp[b] >= 3;
            const double *from = (both ? turn : shift) + x->of[a] * LD + x->of[b];
            double *to = G + a * LDG + b;
            for (int k = 0; k < r->nc; k++) {
                SNW_ROLLED
                for (int l = 0; l < r->nc; l++)
                    to[k * na * LDG + l * na] = none ? 0 : from[k * nx * LD + l * nx];
            }
        }
    }
}

// ---- per coordinate ---------------------------------------------------------

// S <- sum over the points of D Phi unless NULL, or S += it if `add`, J += the same: n functions of
// one component, whose columns in D are nx apart from point to point; `shifts`: stretch or shear
SNW_INLINE void slice_scatter(int nc, int nx, bool shifts, int n, const double *D,
                              const double *restrict phi, int step, int ld, bool add,
                              double *restrict S, double *restrict J) {
    if (shifts && S && !add) {
        for (int row = 0; row < 3; row++) {
            for (int j = 0; j < n; j++) S[row * ld + j] = 0;
        }
    }
    SNW_ROLLED
    for (int row = shifts ? 3 : 0; row < 6; row++) {
        const double *from = D + (shifts ? row - 3 : row) * LD;
        double d[SNW_MAGNUS_POINTS];
        for (int k = 0; k < nc; k++) d[k] = from[k * nx];
        double *to = J + (ptrdiff_t)row * ld, *own = S ? S + (ptrdiff_t)row * ld : NULL;
        if (!own) {
            for (int j = 0; j < n; j++) {
                double s = phi[j] * d[0];
                for (int k = 1; k < nc; k++) s += phi[k * step + j] * d[k];
                to[j] += s;
            }
            continue;
        }
        for (int j = 0; j < n; j++) {
            double s = phi[j] * d[0];
            for (int k = 1; k < nc; k++) s += phi[k * step + j] * d[k];
            own[j] = add ? own[j] + s : s;
            to[j] += s;
        }
    }
}

// the same for all components, with a constant number of points or functions where it is common
SNW_CLONES static void slice_expand(const snw_model *m, const snw_slice *sl, const slice_axes *of,
                                    const int column[6], const double *D, int ld, double *S,
                                    double *J) {
    const snw_rod *r = &m->rod[sl->rod];
    const double *phi = m->phi + sl->phi;
    const int nx = of->n, step = sl->ncol;
    SNW_ROLLED
    for (int a = 0; a < r->na; a++) {
        const int n = sl->count[a];
        const double *d = D + of->of[a];
        double *s = S ? S + column[a] : NULL, *to = J + column[a];
        const bool shifts = r->comp[a] >= 3;
        if (shifts && r->nc == 2) {
            slice_scatter(2, nx, true, n, d, phi, step, ld, r->together, s, to);
        } else if (shifts && r->nc == 3) {
            slice_scatter(3, nx, true, n, d, phi, step, ld, r->together, s, to);
        } else if (shifts) {
            slice_scatter(r->nc, nx, true, n, d, phi, step, ld, r->together, s, to);
        } else if (r->nc == 2 && n == 3 && !r->together) {
            slice_scatter(2, nx, false, 3, d, phi, step, ld, false, s, to);
        } else if (r->nc == 2) {
            slice_scatter(2, nx, false, n, d, phi, step, ld, r->together, s, to);
        } else if (r->nc == 3) {
            slice_scatter(3, nx, false, n, d, phi, step, ld, r->together, s, to);
        } else {
            slice_scatter(r->nc, nx, false, n, d, phi, step, ld, r->together, s, to);
        }
        phi += n;
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
                                    const snw_rod *r, const int column[6], const double *G, int ldg,
                                    double *restrict GP, int n, double *restrict K) {
    const int na = r->na, step = sl->ncol;
    const double *phi = m->phi + sl->phi;
    int from[6];
    SNW_ROLLED
    for (int a = 0, c = 0; a < na; c += sl->count[a], a++) {
        from[a] = c;
        SNW_ROLLED
        for (int z = 0; z < r->nz; z++) {
            const double *row = G + (ptrdiff_t)z * ldg + a;
            double *to = GP + (ptrdiff_t)z * step + c;
            if (sl->count[a] == 3) {
                row_scatter(nc, na, 3, row, phi + c, step, to);
            } else {
                row_scatter(nc, na, sl->count[a], row, phi + c, step, to);
            }
        }
    }
    // a slice that fills all columns needs one loop over them
    const bool whole = step == n && !r->together;
    const int parts = whole ? 1 : na;
    SNW_ROLLED
    for (int a = 0; a < na; a++) {
        double *out = K + (ptrdiff_t)column[a] * n;
        SNW_ROLLED
        for (int i = 0; i < sl->count[a]; i++, out += n) {
            for (int b = 0; b < parts; b++) {
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

SNW_CLONES static void slice_stiffness(const snw_model *m, const snw_slice *sl, const int column[6],
                                       const double *G, int ldg, double *GP, int n, double *K) {
    const snw_rod *r = &m->rod[sl->rod];
    if (r->nc == 2) {
        slice_add_stiffness(2, m, sl, r, column, G, ldg, GP, n, K);
    } else if (r->nc == 3) {
        slice_add_stiffness(3, m, sl, r, column, G, ldg, GP, n, K);
    } else {
        slice_add_stiffness(r->nc, m, sl, r, column, G, ldg, GP, n, K);
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
static void scale_columns(int nz, snw_jet f, bool is_static, double D[3][6 * LD]) {
    for (int row = 0; row < 6; row++) {
        for (int j = row * LD; j < row * LD + nz; j++) {
            if (!is_static) D[2][j] = f.v * D[2][j] + 2 * f.d * D[1][j] + f.dd * D[0][j];
            if (!is_static) D[1][j] = f.v * D[1][j] + f.d * D[0][j];
            D[0][j] *= f.v;
        }
    }
}

// Variable-length rod: scales D and stores the column of the free length; with F adds its
// curvature.
static void feed_columns(const snw_model *m, int i, snw_work *w, const snw_lower T[3], int nz,
                         int ld, const snw_wrench *F, double D[3][6 * LD], snw_slice_jacobian to) {
    const snw_slice *sl = &m->slice[i];
    const snw_slice_work *sw = &w->slice[i];
    const snw_rod *r = &m->rod[sl->rod];
    const snw_feed_work *feed = &w->feed[sl->rod];
    const bool is_static = w->is_static;
    const double s = 1 / r->L;
    double Y[3][6 * SNW_MAGNUS_LD];
    if (is_static) {
        snw_rule_jacobian(&r->rule, sl->h, sw->xi, Y[0]);
    } else {
        snw_rule_jacobian_rates(&r->rule, sl->h, sw->xi, sw->dxi, sw->ddxi, Y[0], Y[1], Y[2]);
    }
    scale_columns(nz, (snw_jet){feed->l * s, feed->dl * s, feed->ddl * s}, is_static, D);
    snw_twist S[3], along;
    const double *const rates[3] = {Y[0], Y[1], Y[2]};
    snw_variable_length_slice(m, i, w, rates, T, S, &along);
    store_feed_column(ld, S[0], false, to.S);
    store_feed_column(ld, S[0], true, to.J);
    if (!is_static)
        store_feed_column(ld, S[1], true, to.dJ), store_feed_column(ld, S[2], true, to.ddJ);
    if (F) snw_variable_length_curvature(m, i, Y[0], along, *F, w);
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
    const slice_axes of = slice_axes_of(r);
    const bool is_static = w->is_static, variable = r->feed >= 0;
    const int nz = r->nc * of.n, padded = slice_padded(nz), levels = is_static ? 1 : 3;
    const snw_twist *const strains[3] = {sw->xi, sw->dxi, sw->ddxi};
    snw_dual33 block[3 * SNW_MAGNUS_POINTS];
    double Y[3][6 * LD], D[3][6 * LD];
    snw_lower T[3];
    snw_rule_blocks(&r->rule, levels, sl->h, strains, block);
    for (int l = 0; l < levels; l++)
        slice_axis_columns(r->nc, &of, block + (ptrdiff_t)l * r->nc, Y[l]);
    if (is_static) {
        T[0] = sw->T;
        apply_tangent_map_static(T, padded, Y[0], D[0]);
    } else {
        snw_se3_tangent_jet(sw->W, sw->dW, sw->ddW, &T[0], &T[1], &T[2]);
        apply_tangent_map(T, padded, Y[0], Y[1], Y[2], D[0], D[1], D[2]);
    }
    if (sl->piece) scale_columns(nz, w->tube_piece[sl->piece - 1].ratio, is_static, D);
    if (variable) feed_columns(m, i, w, T, nz, ld, F, D, to);
    slice_expand(m, sl, &of, to.column, D[0], ld, to.S, to.J);
    if (!is_static) {
        slice_expand(m, sl, &of, to.column, D[1], ld, NULL, to.dJ);
        slice_expand(m, sl, &of, to.column, D[2], ld, NULL, to.ddJ);
    }
    if (!F) return;
    double turn[3 * SNW_MAGNUS_POINTS * LD], shift[3 * SNW_MAGNUS_POINTS * LD], all[LDG * LDG];
    slice_hessian(&of, sl, r, sw, *F, Y[0], turn, of.shifting ? shift : NULL);
    if (of.shifting) slice_strain_hessian(r, &of, turn, shift, all);
    double *G = of.shifting ? all : turn;
    const int ldg = of.shifting ? LDG : LD;
    if (variable || sl->piece) {
        const double ratio =
            variable ? w->feed[sl->rod].l / r->L : w->tube_piece[sl->piece - 1].ratio.v;
        for (int j = 0; j < r->nz * r->nz; j++) G[j / r->nz * ldg + j % r->nz] *= ratio * ratio;
    }
    slice_stiffness(m, sl, to.column, G, ldg, w->slice_scratch, to.ldk, to.K);
}
