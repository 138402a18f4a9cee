// SPDX-License-Identifier: MIT
//
// Exact derivative of the residual for a tree, theory.md (4.1) to (4.4a).
//
// A segment depends only on the coordinates of its path to the root. The forward pass gives each
// segment the columns
//   zeta = J x,  J <- A J_p + S,  and the rates dJ, ddJ of J along the motion,
// so that for variations x, x', x'' of the coordinates
//   delta V  = (dJ + ad_V J) x + J x'
//   delta V' = (ddJ + ad_V' J + ad_V dJ) x + (2 dJ + ad_V J) x' + J x''
// and its own wrench W = M V' - ad_V' M V - F varies by M delta V' + X delta V - G zeta, with
// X = -ad_V' M - coad(M V). Since r = sum over segments of J' W + (internal forces),
//   delta r = sum J' delta W + sum (delta J)' W.
// The second sum, with F the wrench transmitted through each segment, is
//   - J_p' A' coad(F) S                        (rows of the parent, columns of the segment)
//   + G, G_ij = F . dS_i/dq_j                  (rows and columns of the segment).
// With A J_p = J - S and G_ij - G_ji = F . [S_i, S_j], theory.md (4.4a), it is
//   - J' coad(F) S + G',
// so that a segment needs no columns but its own: they, the variation of its wrench and its part of
// the tangent are made together, from the root to the leaves. Columns are stored as six rows of
// length ld, so that loops run along the coordinates and vectorise.

#include "dynamics/dynamics.h"

#include "base/fail.h"
#include "base/vectorise.h"
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/drag_spring.h"
#include "dynamics/fluid.h"
#include "dynamics/force_element.h"
#include "dynamics/force_field.h"
#include "dynamics/jacobian_column.h"
#include "dynamics/joint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/relaxation.h"
#include "dynamics/rod_contact.h"
#include "dynamics/rod_grid.h"
#include "dynamics/segment_map.h"
#include "dynamics/slice.h"
#include "dynamics/stop.h"
#include "dynamics/tendon.h"
#include "dynamics/tube.h"
#include "dynamics/tube_slide.h"
#include "dynamics/variable_length.h"
#include "dynamics/wrench_columns.h"

#include <math.h>
#include <string.h>

// ---- forward pass: body Jacobians -------------------------------------------

// all columns of the parent, zero padding included
SNW_CLONES static void carry_static(const snw_se3 *h, int ldp, const double *restrict Jp, int ld,
                                    double *restrict J) {
    const snw_se3 H = *h;
    SNW_INDEPENDENT
    for (int j = 0; j < ldp; j++) col_store(J, ld, j, col_to_child(&H, col_load(Jp, ldp, j)));
}

SNW_CLONES static void tangent_carry(const snw_se3 *h, const double *u, const double *du, int ldp,
                                     const double *restrict Jp, const double *restrict dJp,
                                     const double *restrict ddJp, int ld, double *restrict J,
                                     double *restrict dJ, double *restrict ddJ) {
    const snw_se3 H = *h;
    SNW_INDEPENDENT
    for (int j = 0; j < ldp; j++) {
        // A' = -ad_u A,  A'' = (-ad_u' + ad_u ad_u) A
        const col x = col_to_child(&H, col_load(Jp, ldp, j)),
                  y = col_to_child(&H, col_load(dJp, ldp, j)),
                  z = col_to_child(&H, col_load(ddJp, ldp, j)), ux = col_ad(u, x);
        col_store(J, ld, j, x);
        col_store(dJ, ld, j, col_minus(y, ux));
        col_store(
            ddJ, ld, j,
            col_minus(col_minus(z, col_ad(u, col_minus(col_times(2, y), ux))), col_ad(du, x)));
    }
}

// does the free length of its rod move it? Its column precedes those of the rod's strains
static bool has_variable_length(const snw_model *m, const snw_seg *seg) {
    return seg->kind == SNW_SEG_ROD && m->rod[m->slice[seg->item].rod].feed >= 0;
}

// a slice of no length moves nothing (theory.md 3.16)
static bool is_in_reserve(const snw_slice *sl) { return snw_all(sl->h == 0); }

static void clear_own(const snw_path *path, double *J) {
    for (int row = 0; row < 6; row++) {
        for (int j = path->own; j < path->ld; j++) J[row * path->ld + j] = 0;
    }
}

// Columns of one segment, at store[i] of the arrays, its own part in S; with `curvature` also the
// stiffness w->K of its slice map.
static void tangent_columns(const snw_model *m, const double *chart, bool curvature, int i,
                            const int *store, double *S, snw_work *w) {
    const bool is_static = w->is_static;
    const snw_seg *seg = &m->seg[i];
    const snw_path *path = &m->path[seg->path], *up = &m->path[m->seg[seg->parent].path];
    if (path->n == 0) return;
    const int ld = path->ld;
    const size_t at = (size_t)store[i], from = (size_t)store[seg->parent];
    double *J = w->J + at, *dJ = w->dJ + at, *ddJ = w->ddJ + at;
    if (up->n < path->n) { // the first segment with these coordinates
        clear_own(path, J);
        if (!is_static) clear_own(path, dJ), clear_own(path, ddJ);
    }
    if (is_static) {
        carry_static(&w->h[i], up->ld, w->J + from, ld, J);
    } else {
        tangent_carry(&w->h[i], w->u[i].e, w->du[i].e, up->ld, w->J + from, w->dJ + from,
                      w->ddJ + from, ld, J, dJ, ddJ);
    }
    const int count = snw_segment_own_count(m, seg), own = path->n - count;
    if (count == 0 && !has_variable_length(m, seg)) return;
    if (seg->kind != SNW_SEG_ROD) {
        snw_joint_columns(&m->block[seg->item], chart, is_static, ld, J + own, dJ + own, ddJ + own);
    } else {
        const snw_slice *sl = &m->slice[seg->item];
        const snw_rod *rod = &m->rod[sl->rod];
        if (is_in_reserve(sl)) return;
        if (sl->ncol < count || rod->together)
            clear_own(path, S); // columns that the slice does not fill, or to which it adds
        snw_slice_jacobian to = {.S = S + own,
                                 .J = J + own,
                                 .dJ = dJ + own,
                                 .ddJ = ddJ + own,
                                 .K = w->K + rod->own_store,
                                 .ldk = rod->ndof};
        for (int a = 0; a < rod->na; a++) to.column[a] = rod->dof[a] - rod->dof0 + sl->first[a];
        snw_slice_jacobian_columns(m, seg->item, ld, curvature ? &w->F[i] : NULL, w, to);
    }
}

// before the columns of the first segment
static void begin_columns(const snw_model *m, bool curvature, snw_work *w) {
    if (curvature) memset(w->K, 0, m->store_own * sizeof *w->K);
    if (m->nfeed && curvature) snw_variable_length_clear_curvature(m, w);
    if (m->ngrid) snw_rod_grids_columns(m, curvature, w);
}

// columns of all segments; without `curvature` only those of the motion
static void all_columns(const snw_model *m, const double *chart, bool curvature, snw_work *w) {
    begin_columns(m, curvature, w);
    for (int i = 1; i < m->nseg; i++)
        tangent_columns(m, chart, curvature, i, m->seg_store, w->S + m->seg_store[i], w);
}

// columns of the segments that laws read
static void read_columns(const snw_model *m, const double *chart, snw_work *w) {
    for (int i = 0; i < m->nread; i++) {
        const int at = m->read[i];
        tangent_columns(m, chart, false, at, m->seg_store, w->S + m->seg_store[at], w);
    }
}

void snw_tangent_pass(const snw_model *m, const double *chart, snw_work *w) {
    SNW_ASSERT(!m->bare);
    all_columns(m, chart, true, w);
    read_columns(m, chart, w);
}

void snw_jacobian_pass(const snw_model *m, snw_work *w) { all_columns(m, NULL, false, w); }

void snw_jacobian_read(const snw_model *m, snw_work *w) { read_columns(m, NULL, w); }

// ---- products ---------------------------------------------------------------

// P[0..rows, ..] += J' Z: sums of six terms, along the columns; if symmetric only from the diagonal
// on
SNW_CLONES static void tangent_product(int rows, int ldj, const double *restrict J, int cols,
                                       int ldz, const double *restrict Z, bool symmetric, int ldp,
                                       double *restrict P) {
    for (int i = 0; i < rows; i++) {
        const double a = J[i], b = J[ldj + i], c = J[2 * ldj + i], d = J[3 * ldj + i],
                     e = J[4 * ldj + i], f = J[5 * ldj + i];
        double *out = P + (size_t)i * (size_t)ldp;
        for (int j = symmetric ? i / 4 * 4 : 0; j < cols; j++) { // whole vectors
            out[j] += a * Z[j] + b * Z[ldz + j] + c * Z[2 * ldz + j] + d * Z[3 * ldz + j] +
                      e * Z[4 * ldz + j] + f * Z[5 * ldz + j];
        }
    }
}

// Z <- - cq coad(F) S
SNW_CLONES static void geometric_columns(const double *F, double cq, int n, int lds,
                                         const double *restrict S, int ldz, double *restrict Z) {
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++)
        col_store(Z, ldz, j, col_times(-cq, col_coad(F, col_load(S, lds, j))));
}

// T[dof, dof] += P, row major over a path to column major; if symmetric from the upper triangle
static void tangent_scatter(const snw_path *path, bool symmetric, const double *P, snw_matrix T) {
    const size_t ldp = (size_t)path->ld;
    const bool dense = !T.row; // outside of the loops: most robots are
    for (int j = 0; j < path->n; j++) {
        snw_column_entries to = snw_matrix_column(T, path->dof[j]);
        for (int i = 0; i < path->n; i++) {
            const bool mirror = symmetric && i > j;
            const double x =
                mirror ? P[(size_t)j * ldp + (size_t)i] : P[(size_t)i * ldp + (size_t)j];
            *(dense ? to.entry + path->dof[i] : snw_column_at(&to, path->dof[i])) += x;
        }
    }
}

// Can segment i have columns of wrenches of its own? A joint without mass and loads has none.
static bool has_wrenches(const snw_model *m, const snw_inputs *in, int i) {
    return m->seg[i].has_mass || m->load_point_of_seg[i] < m->load_point_of_seg[i + 1] ||
           m->fluid_point_of_seg[i] < m->fluid_point_of_seg[i + 1] ||
           m->contact_point_of_seg[i] < m->contact_point_of_seg[i + 1] ||
           m->force_field_point_of_seg[i] < m->force_field_point_of_seg[i + 1] ||
           i == snw_drag_spring_seg(in);
}

// WJ += variation of all wrenches on segment i, whose columns are at `at` of the arrays; P += parts
// on the strains of its rod
static void wrench_variation(const snw_model *m, const snw_inputs *in, snw_work *w, int i,
                             size_t at, double cq, double cv, double ca, double *WJ, double *P) {
    const snw_seg *seg = &m->seg[i];
    const snw_path *path = &m->path[seg->path];
    const snw_columns columns = {.n = path->n,
                                 .ld = path->ld,
                                 .own = path->own,
                                 .J = w->J + at,
                                 .dJ = w->dJ + at,
                                 .ddJ = w->ddJ + at};
    snw_fluid_columns(m, in, w, i, &columns, cq, cv, ca, WJ, P);
    if (seg->tube_node && snw_seg_is_active(m, w, i))
        snw_tube_node_tangent(m, w, i, cq, cv, ca, WJ);
    if (seg->variable_node) {
        snw_variable_length_node_tangent(m, snw_loads(m, in, w), w, i, cq, cv, ca, WJ, P);
    } else {
        snw_segment_columns(m, snw_loads(m, in, w), w, i, &columns, cq, cv, ca, WJ);
    }
    if (snw_any(cq != 0) || snw_any(cv != 0))
        snw_contact_columns(m, in, w, i, &columns, cq, cv, WJ);
}

static void clear_columns(int n, int ld, double *Z) {
    for (int row = 0; row < 6; row++) {
        for (int j = 0; j < n; j++) Z[row * ld + j] = 0;
    }
}

// P of its path += part of segment i, whose columns are at `at` of the arrays, its own part in S
static void path_product(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                         bool mass, int i, size_t at, const double *S, snw_work *w) {
    const snw_seg *seg = &m->seg[i];
    const snw_path *path = &m->path[seg->path];
    const int n = snw_segment_own_count(m, seg) + has_variable_length(m, seg), own = path->n - n,
              ld = path->ld;
    const bool rod = seg->kind == SNW_SEG_ROD, loaded = has_wrenches(m, in, i),
               turns = n > 0 && snw_any(cq != 0) && !(rod && is_in_reserve(&m->slice[seg->item])),
               slice = turns && rod;
    if (path->n == 0 || !(loaded || turns)) return;
    const double *J = w->J + at;
    double *P = w->P + path->store, *Z = w->WJ;
    if (slice) geometric_columns(w->F[i].e, cq, ld - own, ld, S + own, ld, Z + own);
    if (loaded) {
        clear_columns(slice ? own : ld, ld, Z);
        wrench_variation(m, in, w, i, at, cq, cv, ca, Z, P);
        tangent_product(path->n, ld, J, ld, ld, Z, mass, ld, P);
    } else if (slice) {
        tangent_product(path->n, ld, J, n, ld, Z + own, false, ld, P + own);
    }
    // a joint: rows of the parent, whose columns come first, and own columns
    const int above = m->path[m->seg[seg->parent].path].n;
    if (slice || !turns || above == 0) return;
    geometric_columns(w->F[i].e, cq, n, ld, J + own, n, Z);
    tangent_product(above, ld, J, n, n, Z, false, ld, P + own);
}

static void scatter_paths(const snw_model *m, bool mass, const snw_work *w, snw_matrix T) {
    for (int p = 0; p < m->npath; p++)
        tangent_scatter(&m->path[p], mass, w->P + m->path[p].store, T);
}

// ---- the same by subtrees, theory.md (4.1.6): rows of the own coordinates only

// Z of the carrier += Ad(h^-1)' Z, wrenches
SNW_CLONES static void carry_wrenches(const snw_se3 *h, int n, int ldz, const double *restrict Z,
                                      int ldc, double *restrict carrier) {
    const snw_se3 H = *h;
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) {
        const col x = col_to_parent(&H, col_load(Z, ldz, j));
        col_store(carrier, ldc, j, col_plus(col_load(carrier, ldc, j), x));
    }
}

// Z -= cq coad(F) S
SNW_CLONES static void add_geometric_columns(const double *F, double cq, int n, int ld,
                                             const double *restrict S, double *restrict Z) {
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) {
        const col x = col_times(cq, col_coad(F, col_load(S, ld, j)));
        col_store(Z, ld, j, col_minus(col_load(Z, ld, j), x));
    }
}

// Z <- Ad(h^-1)' Z
SNW_CLONES static void carry_in_place(const snw_se3 *h, int n, int ld, double *Z) {
    const snw_se3 H = *h;
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) col_store(Z, ld, j, col_to_parent(&H, col_load(Z, ld, j)));
}

// pose of segment i in the frame of its carrier
static snw_se3 pose_in_carrier(const snw_model *m, const snw_work *w, int i) {
    snw_se3 h = w->h[i];
    for (int p = m->seg[i].parent; p != m->subtree[i].carrier; p = m->seg[p].parent) {
        h = snw_se3_mul(w->h[p], h);
    }
    return h;
}

// T[of, dof] += S' Z along the columns
static void add_row(col S, int n, int ldz, const double *Z, const int *dof, double *row, int of,
                    snw_matrix T) {
    memset(row, 0, (size_t)n * sizeof *row);
    const double s[6] = {S.a, S.b, S.c, S.d, S.e, S.f};
    tangent_product(1, 1, s, n, ldz, Z, false, n, row);
    for (int j = 0; j < n; j++) *snw_matrix_at(T, of, dof[j]) += row[j];
}

// rows of the own coordinates of segment i: columns of its path and of what it carries
static void own_rows(const snw_model *m, int i, snw_work *w, snw_matrix T) {
    const snw_subtree *t = &m->subtree[i];
    const snw_path *path = &m->path[m->seg[i].path];
    const size_t at = (size_t)m->seg_store[i];
    const int own = path->n - t->own, beyond = t->column + t->own;
    const double *S = w->J + at + own; // own columns of J are those of the joint
    for (int k = 0; k < t->own; k++) {
        const col s = col_load(S, path->ld, k);
        const int of = path->dof[own + k];
        add_row(s, path->n, path->ld, w->WJ + at, path->dof, w->column_row, of, T);
        add_row(s, t->ncolumn - t->own, m->nv, w->momentum + beyond, m->column_dof + beyond,
                w->column_row, of, T);
    }
}

// Wrenches and the columns of their variation go from each segment to its carrier. Those of its
// path stay with it; those of what it carries are in w->momentum, in the order of columns.
static void subtree_products(const snw_model *m, const snw_inputs *in, double cq, double cv,
                             double ca, snw_work *w, snw_matrix T) {
    memset(w->WJ, 0, m->store * sizeof *w->WJ);
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_subtree *t = &m->subtree[i];
        const snw_path *path = &m->path[m->seg[i].path];
        const bool loaded = has_wrenches(m, in, i);
        if (path->n == 0 || !(loaded || t->own > 0)) continue;
        const size_t at = (size_t)m->seg_store[i];
        if (loaded) wrench_variation(m, in, w, i, at, cq, cv, ca, w->WJ + at, NULL);
        if (t->own > 0) own_rows(m, i, w, T);
        if (t->carrier == 0) continue;
        const snw_path *up = &m->path[m->seg[t->carrier].path];
        const int own = path->n - t->own;
        const snw_se3 h = pose_in_carrier(m, w, i);
        double *above = w->WJ + m->seg_store[t->carrier], *U = w->momentum + t->column;
        carry_wrenches(&h, up->n, path->ld, w->WJ + at, up->ld, above);
        if (t->own == 0) continue;
        carry_in_place(&h, t->ncolumn - t->own, m->nv, U + t->own);
        for (int row = 0; row < 6; row++) memset(U + row * m->nv, 0, (size_t)t->own * sizeof *U);
        if (snw_any(cq != 0))
            add_geometric_columns(w->F[i].e, cq, t->own, path->ld, w->J + at + own,
                                  w->WJ + at + own);
        carry_wrenches(&h, t->own, path->ld, w->WJ + at + own, m->nv, U);
    }
}

// Own block of a joint (6 x 6 at most): where it stands in a dense T, else `spare`, cleared.
static double *own_block(snw_matrix T, const snw_block *b, double spare[36]) {
    if (!T.row) return T.entry + (size_t)b->dof * (T.ld + 1);
    memset(spare, 0, 36 * sizeof *spare);
    return spare;
}

// T += the spare block, where T is compressed
static void own_block_add(snw_matrix T, const snw_block *b, const double spare[36]) {
    for (int j = 0; T.row && j < b->n; j++) {
        snw_column_entries to = snw_matrix_column(T, b->dof + j);
        for (int i = 0; i < b->n; i++) *snw_column_at(&to, b->dof + i) += spare[6 * j + i];
    }
}

bool snw_tangent_compresses(const snw_model *m) {
    return m->nlive + m->nfeed + m->ntube + m->nconditional == 0;
}

// T += all that does not belong to a segment
static void add_elements(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                         bool mass, snw_work *w, snw_matrix T) {
    const bool by_q = snw_any(cq != 0), by_qv = by_q || snw_any(cv != 0);
    const size_t ld = T.row ? 6 : T.ld; // of own blocks of joints
    double spare[36];
    for (int r = 0; r < m->nrod && !mass; r++) {
        const snw_rod *rod = &m->rod[r];
        const double *C = w->K + rod->own_store;
        const size_t n = (size_t)rod->ndof;
        if (rod->feed >= 0) {
            snw_variable_length_rod_tangent(m, rod, w, cq, cv, T.ld, T.entry);
            continue;
        }
        for (size_t j = 0; j < n; j++) {
            snw_column_entries to = snw_matrix_column(T, rod->dof0 + (int)j);
            const double *K = rod->K + j, *D = rod->D + j;
            double *dense = T.row ? NULL : to.entry + rod->dof0;
            for (size_t i = 0; dense && i < n; i++)
                dense[i] += cq * (C[j * n + i] + K[i * n]) + cv * D[i * n];
            for (size_t i = 0; !dense && i < n; i++) {
                *snw_column_at(&to, rod->dof0 + (int)i) +=
                    cq * (C[j * n + i] + K[i * n]) + cv * D[i * n];
            }
        }
    }
    for (int k = 0; k < m->nspring; k++) {
        const int block = m->spring[k].block, seg = m->block[block].seg;
        const snw_path *path = &m->path[m->seg[seg].path];
        const size_t at = (size_t)m->seg_store[seg] + (size_t)path->own;
        const snw_columns own = {
            .n = m->block[block].n, .ld = path->ld, .J = w->J + at, .dJ = w->dJ + at};
        snw_spring_tangent(m, &m->spring[k], w, &own, cq, cv, ld,
                           own_block(T, &m->block[block], spare));
        own_block_add(T, &m->block[block], spare);
    }
    for (int k = 0; k < m->nblock && m->has_armature; k++) {
        const snw_block *b = &m->block[k];
        if (!snw_any(b->armature > 0)) continue;
        const snw_path *path = &m->path[m->seg[b->seg].path];
        const size_t at = (size_t)m->seg_store[b->seg] + (size_t)path->own;
        const snw_columns own = {
            .n = b->n, .ld = path->ld, .J = w->J + at, .dJ = w->dJ + at, .ddJ = w->ddJ + at};
        snw_armature_tangent(b, w, &own, cq, cv, ca, ld, own_block(T, b, spare));
        own_block_add(T, b, spare);
    }
    if (m->nlaw_point && !mass && by_q) snw_nonlinear_laws_tangent(m, cq, w, T);
    if (m->nbranch && !mass && by_q) snw_relaxation_tangent(m, cq, w, T);
    if (m->nstop) snw_stops_tangent(m, cq, cv, w, T);
    if (m->nforce_element && by_qv) snw_force_elements_tangent(m, cq, cv, w, T);
    if (m->nforce_field_point && by_q) snw_force_field_pairs_tangent(m, cq, w, T);
    if (m->ntube && by_qv) snw_tubes_tangent(m, cq, cv, w, T.ld, T.entry);
    if (m->ntendon) {
        snw_tendons_jacobian(m, w);
        snw_tendons_tangent(m, cq, cv, w, T);
    }
    if (m->ncontact_point && by_qv) snw_contact_pairs_tangent(m, cq, cv, w, T);
    if (m->ntouching_rod && by_qv) snw_rod_contacts_tangent(m, cq, cv, w, T);
    if (m->nlive && by_qv) snw_feedback_tangent(m, in, cq, cv, w, T.ld, T.entry);
    if (m->nloop) snw_constraints_add_tangent(m, cq, cv, w, T);
    if (m->nconditional) snw_clear_inactive_matrix(m, w, T.ld, T.entry);
}

// Is T the mass matrix alone, J' M J?
static bool is_mass(const snw_model *m, double cq, double cv) {
    return !snw_any(cq != 0) && !snw_any(cv != 0) && m->nvariable_node == 0;
}

void snw_tangent_add(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                     snw_work *w, snw_matrix T) {
    const bool mass = is_mass(m, cq, cv);
    SNW_ASSERT(!T.row || snw_tangent_compresses(m));
    if (m->subtree_tangent) {
        subtree_products(m, in, cq, cv, ca, w, T);
    } else {
        memset(w->P, 0, m->store_path * sizeof *w->P);
        for (int i = 1; i < m->nseg; i++) {
            const size_t at = (size_t)m->seg_store[i];
            path_product(m, in, cq, cv, ca, mass, i, at, w->S + at, w);
        }
        scatter_paths(m, mass, w, T);
    }
    add_elements(m, in, cq, cv, ca, mass, w, T);
}

void snw_tangent_once(const snw_model *m, const snw_inputs *in, const double *chart, double cq,
                      double cv, double ca, snw_work *w, snw_matrix T) {
    SNW_ASSERT(!m->bare && (!T.row || snw_tangent_compresses(m)));
    const bool curvature = snw_any(cq != 0), mass = is_mass(m, cq, cv);
    if (m->subtree_tangent) {
        all_columns(m, chart, curvature, w);
        subtree_products(m, in, cq, cv, ca, w, T);
    } else {
        memset(w->P, 0, m->store_path * sizeof *w->P);
        begin_columns(m, curvature, w);
        for (int i = 1; i < m->nseg; i++) {
            tangent_columns(m, chart, curvature, i, m->seg_place, w->S, w);
            path_product(m, in, cq, cv, ca, mass, i, (size_t)m->seg_place[i], w->S, w);
        }
        scatter_paths(m, mass, w, T);
    }
    if (!mass) read_columns(m, chart, w);
    add_elements(m, in, cq, cv, ca, mass, w, T);
}

void snw_clear_inactive_matrix(const snw_model *m, const snw_work *w, size_t ld, double *A) {
    const size_t nv = (size_t)m->nv;
    double largest = 0;
    for (int k = 0; k < m->nconditional; k++) {
        if (snw_is_active(w, m->conditional_on[k])) continue;
        const size_t i = (size_t)m->conditional[k];
        for (size_t j = 0; j < nv; j++) A[i * ld + j] = A[j * ld + i] = 0;
    }
    for (size_t i = 0; i < nv; i++) {
        const double size = m->typical[i];
        largest = fmax(largest, fabs(A[i * (ld + 1)]) * size * size);
    }
    largest = snw_select(largest == 0, m->scale[0] * m->typical[0], largest);
    for (int k = 0; k < m->nconditional; k++) {
        const size_t i = (size_t)m->conditional[k];
        const double size = m->typical[i];
        if (!snw_is_active(w, m->conditional_on[k])) A[i * (ld + 1)] = largest / (size * size);
    }
}

void snw_tangent_assemble(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                          snw_work *w, double *T) {
    const size_t nv = (size_t)m->nv;
    memset(T, 0, nv * nv * sizeof *T);
    snw_tangent_add(m, in, cq, cv, ca, w, snw_matrix_dense(nv, T));
}

void snw_mass_matrix(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                     double *M) {
    snw_kinematics(m, in, s, true, w);
    if (m->composite) {
        snw_composite_mass(m, w, M);
        return;
    }
    memset(M, 0, (size_t)m->nv * (size_t)m->nv * sizeof *M);
    snw_tangent_once(m, in, NULL, 0, 0, 1, w, snw_matrix_dense((size_t)m->nv, M));
    // J' M J is symmetric up to rounding
    for (int i = 0; i < m->nv; i++) {
        for (int j = 0; j < i; j++) {
            double *a = M + (size_t)i * (size_t)m->nv + j, *b = M + (size_t)j * (size_t)m->nv + i;
            *a = *b = 0.5 * (*a + *b);
        }
    }
}

void snw_elastic_matrices(const snw_model *m, double *K, double *D) {
    const size_t nv = (size_t)m->nv;
    if (K) memset(K, 0, nv * nv * sizeof *K);
    if (D) memset(D, 0, nv * nv * sizeof *D);
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const size_t n = (size_t)rod->ndof, d = (size_t)rod->dof0;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                if (K) K[(d + j) * nv + d + i] = rod->K[i * n + j];
                if (D) D[(d + j) * nv + d + i] = rod->D[i * n + j];
            }
        }
    }
    for (int k = 0; k < m->nspring; k++) {
        const snw_block *b = &m->block[m->spring[k].block];
        for (int i = b->dof; i < b->dof + b->n; i++) {
            if (K) K[(size_t)i * (nv + 1)] = m->spring[k].stiffness;
            if (D) D[(size_t)i * (nv + 1)] = m->spring[k].damping;
        }
    }
}
