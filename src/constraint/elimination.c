// SPDX-License-Identifier: MIT
//
// Elimination of Newton's equations along the tree, theory.md 4.2.
//
// The state of a segment is s = (zeta, zeta', zeta''), the variation of its pose and its two rates
// along the motion, 18 numbers; where the motion is static, zeta alone. With the coordinates z that
// move the segment relative to its parent p
//   s = Phi s_p + Sigma z,  Sigma = (S, S', S''),
//   f = (sum over children) + B s                    variation of the transmitted wrench,
//   rows of z: S' f + (K + elastic) z,
//   to the parent: A' (f - cq coad(F) S z).
// From the leaves on, f and the rows rho of the coordinates that are still in use are linear in s
// and in these coordinates y:
//   [f; rho] = W [s; y] + [p; c].
// A coordinate of a rod is in use from its last slice to its first one; there its row is complete
// and it is eliminated. The matrix W of a segment has 6 + |y| rows and 18 + |y| columns whatever
// the length of the rod.

#include "constraint/elimination_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/vectorise.h"
#include "dynamics/segment_pair.h"
#include "dynamics/tendon.h"
#include "dynamics/tendon_point.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { STATE = SNW_ELIMINATION_STATE };

// ---- plan ---------------------------------------------------------------------------------------

// first, last: slices between which each coordinate of a rod is in use
static void find_use(const snw_elimination *e, int *first, int *last) {
    const snw_model *m = e->m;
    for (int i = 0; i < m->nv + e->nfriction; i++) first[i] = m->nseg, last[i] = -1;
    snw_friction_use(e, first, last);
    for (int i = 1; i < m->nseg; i++) {
        const snw_seg *seg = &m->seg[i];
        if (seg->kind != SNW_SEG_ROD) {
            for (int k = 0; k < snw_segment_own_count(m, seg); k++)
                first[m->block[seg->item].dof + k] = last[m->block[seg->item].dof + k] = i;
            continue;
        }
        const snw_slice *sl = &m->slice[seg->item];
        const snw_rod *rod = &m->rod[sl->rod];
        for (int a = 0; a < rod->na; a++) {
            for (int j = 0; j < sl->count[a]; j++) {
                const int dof = rod->dof[a] + sl->first[a] + j;
                if (i < first[dof]) first[dof] = i;
                if (i > last[dof]) last[dof] = i;
            }
        }
    }
}

// Sizes of the lists and numbers, and the lists where `list` is not NULL. The coordinates in use at
// a slice are those of the slice behind it that are kept, and its own.
static void lay_out(snw_elimination *e, const int *first, const int *last, int *position, int *now,
                    int *list, size_t *nlist, size_t *nnumber, size_t *npivot, size_t *nmap) {
    const snw_model *m = e->m;
    const int nx = m->nv + e->nfriction;
    int in_use = 0; // of the slice behind, now[0 .. in_use)
    *nlist = *nnumber = *npivot = *nmap = 0;
    for (int i = m->nseg - 1; i > 0; i--) {
        snw_segment_plan *p = &e->plan[i];
        const bool continues = m->seg[i].kind == SNW_SEG_ROD;
        if (!continues) in_use = 0;
        int *all = now + nx, own = snw_segment_map_count(m, i), n = 0;
        int *dofs = all + nx;
        snw_segment_map_dofs(m, i, dofs);
        for (int k = 0; k < in_use; k++) position[now[k]] = k, all[n++] = now[k];
        for (int k = 0; k < own; k++) {
            const bool enters = last[dofs[k]] == i;
            if (enters) position[dofs[k]] = -1, all[n++] = dofs[k];
        }
        const int coordinates = n;
        if (e->nfriction) n = snw_friction_enter(e, i, last, n, all);
        for (int k = coordinates; k < n; k++) position[all[k]] = -1;
        int kept = 0, leaving = 0;
        for (int k = 0; k < n; k++) leaving += first[all[k]] == i;
        *p = (snw_segment_plan){.n = own, .kept = n - leaving, .leaving = leaving, .list = *nlist};
        int *dof = list ? list + p->list : NULL;
        leaving = 0;
        for (int k = 0; k < 2 * n; k++) { // unknowns of friction leave after the coordinates
            const int x = all[k % n];
            if ((x >= m->nv) != (k >= n)) continue;
            const bool leaves = first[x] == i;
            const int at = leaves ? p->kept + leaving++ : kept;
            if (!leaves) now[kept++] = x;
            if (dof) dof[at] = x, dof[n + at] = position[x];
        }
        // after all are placed: position <- place among the coordinates in use here
        for (int k = 0; dof && k < n; k++) position[dof[k]] = k;
        for (int k = 0; dof && k < own; k++) dof[2 * n + k] = position[dofs[k]];
        in_use = kept;
        const size_t out = (size_t)p->leaving;
        p->sigma = *nnumber;
        p->lu = p->sigma + STATE * (size_t)own;
        p->gain = p->lu + out * out;
        p->back = p->gain + out * (size_t)(STATE + kept);
        *nnumber = p->back + out * (size_t)(6 + kept);
        p->pivot = *npivot;
        *npivot += out;
        p->map = *nmap;
        *nmap += (STATE + (size_t)own) * (size_t)own;
        *nlist += 2 * (size_t)n + (size_t)own;
        if (n > e->most) e->most = n;
        if (own > e->most_n) e->most_n = own;
    }
}

static snw_status elimination_plan(snw_elimination *e) {
    const size_t nx = (size_t)(e->m->nv + e->nfriction);
    size_t nlist, nnumber, npivot, nmap;
    int *scratch = snw_alloc((6 * nx + 1) * sizeof *scratch);
    if (!scratch) return SNW_E_MEMORY;
    int *first = scratch, *last = first + nx, *position = last + nx, *now = position + nx;
    find_use(e, first, last);
    lay_out(e, first, last, position, now, NULL, &nlist, &nnumber, &npivot, &nmap);
    e->list = snw_alloc((nlist + 1) * sizeof *e->list);
    e->number = snw_alloc((nnumber + 1) * sizeof *e->number);
    e->pivot = snw_alloc((npivot + 1) * sizeof *e->pivot);
    e->maps = snw_alloc((nmap + 1) * sizeof *e->maps);
    const bool enough = e->list && e->number && e->pivot && e->maps;
    if (enough) lay_out(e, first, last, position, now, e->list, &nlist, &nnumber, &npivot, &nmap);
    snw_free(scratch);
    return enough ? SNW_OK : SNW_E_MEMORY;
}

// ---- tendons ------------------------------------------------------------------------------------

// e->point <- points of tendons, slice by slice: all functions at a point are in use at its slice.
static snw_status place_tendons(snw_elimination *e) {
    const snw_model *m = e->m;
    e->point_of_seg = snw_alloc((size_t)(m->nseg + 2) * sizeof *e->point_of_seg);
    e->point = snw_alloc((size_t)(m->ntendon_point + 1) * sizeof *e->point);
    if (!e->point_of_seg || !e->point) return SNW_E_MEMORY;
    int *start = e->point_of_seg + 1;
    for (int k = 0; k < m->ntendon_point; k++) start[snw_slice_of_tendon_point(m, k)]++;
    for (int i = 1; i < m->nseg; i++) start[i] += start[i - 1];
    for (int k = m->ntendon_point - 1; k >= 0; k--)
        e->point[--start[snw_slice_of_tendon_point(m, k)]] = k;
    memmove(e->point_of_seg, start, (size_t)m->nseg * sizeof *start);
    e->point_of_seg[m->nseg] = m->ntendon_point;
    return SNW_OK;
}

// H <- stiffness by the curvature of a tendon in the strains of point k, theory.md (3.11.3); false:
// it has none.
static bool tendon_stiffness(const snw_model *m, const snw_work *w, int i, int k, double cq,
                             double H[36]) {
    const snw_tendon_point *p = &m->tendon_point[k];
    const double f = cq * w->tendon[i].effort * w->tendon_point[k].tension_fraction * p->w;
    if (f == 0 || p->segment >= 0 || !m->tendon[i].type->is_length) return false;
    snw_tendon_point_hessian(m, p, w->tendon_point[k].xi, f, H);
    return true;
}

// Tendon of a point.
static int tendon_of(const snw_model *m, int point) {
    int i = 0;
    while (point >= m->tendon[i].point_adr + m->tendon[i].npoint) i++;
    return i;
}

// Coordinates in use at slice i that have functions at point p of a tendon: e->near <- their
// places, e->component, e->small <- their strains and values. Returns their number.
static int functions_in_use(snw_elimination *e, int i, const snw_tendon_point *p) {
    const snw_model *m = e->m;
    const snw_rod *rod = &m->rod[p->rod];
    const int y = e->plan[i].kept + e->plan[i].leaving, *dof = e->list + e->plan[i].list;
    int found = 0;
    for (int r = 0; r < y; r++) {
        const double *phi = m->tendon_phi + p->phi;
        for (int a = 0; a < rod->na; phi += p->count[a], a++) {
            const int j = dof[r] - rod->dof[a] - p->first[a];
            if (j < 0 || j >= p->count[a]) continue;
            e->near[found] = r;
            e->component[found] = a;
            e->small[found++] = phi[j];
            break;
        }
    }
    return found;
}

// W += these stiffnesses at the points of slice i
static void add_tendons(snw_elimination *e, const snw_tangent_at *at, int i, const snw_work *w) {
    const snw_model *m = e->m;
    const snw_segment_plan *plan = &e->plan[i];
    const int y = plan->kept + plan->leaving, ns = e->ns, ld = ns + y;
    for (int n = e->point_of_seg[i]; n < e->point_of_seg[i + 1]; n++) {
        const int k = e->point[n];
        double H[36];
        if (!tendon_stiffness(m, w, tendon_of(m, k), k, at->cq, H)) continue;
        const int found = functions_in_use(e, i, &m->tendon_point[k]);
        for (int r = 0; r < found; r++) {
            double *row = e->W + (6 + e->near[r]) * ld + ns;
            const double *stiffness = H + 6 * e->component[r];
            for (int c = 0; c < found; c++)
                row[e->near[c]] += stiffness[e->component[c]] * e->small[r] * e->small[c];
        }
    }
}

// y += these stiffnesses times x
static void tendon_product(const snw_model *m, const snw_work *w, double cq, const double *x,
                           double *y) {
    for (int i = 0; i < m->ntendon; i++) {
        for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint;
             k++) {
            const snw_tendon_point *p = &m->tendon_point[k];
            double H[36], strain[6] = {0};
            if (!tendon_stiffness(m, w, i, k, cq, H)) continue;
            const snw_rod *rod = &m->rod[p->rod];
            const double *phi = m->tendon_phi + p->phi;
            for (int a = 0; a < rod->na; phi += p->count[a], a++) {
                for (int j = 0; j < p->count[a]; j++)
                    strain[a] += phi[j] * x[rod->dof[a] + p->first[a] + j];
            }
            phi = m->tendon_phi + p->phi;
            for (int a = 0; a < rod->na; phi += p->count[a], a++) {
                double f = 0;
                for (int b = 0; b < rod->na; b++) f += H[6 * a + b] * strain[b];
                for (int j = 0; j < p->count[a]; j++)
                    y[rod->dof[a] + p->first[a] + j] += f * phi[j];
            }
        }
    }
}

static void own_slot(snw_elimination *e, int seg) {
    if (e->slot[seg] < SNW_ELIMINATION_SHARED) e->slot[seg] = e->nslot++;
}

// e->slot <- blocks of P: only segments that carry several, or at which pairs act, have their own.
static snw_status place_wrenches(snw_elimination *e) {
    const snw_model *m = e->m;
    e->slot = snw_alloc((size_t)m->nseg * sizeof *e->slot);
    if (!e->slot) return SNW_E_MEMORY;
    e->nslot = SNW_ELIMINATION_SHARED;
    for (int i = 0; i < m->nseg; i++) e->slot[i] = SNW_ELIMINATION_LEAF;
    for (int i = m->nseg - 1; i > 0; i--) {
        int *of = &e->slot[m->seg[i].parent];
        const bool next = m->seg[i].parent == i - 1;
        if (*of == SNW_ELIMINATION_LEAF && next) {
            *of = SNW_ELIMINATION_CHAIN;
        } else if (*of < SNW_ELIMINATION_SHARED) {
            *of = e->nslot++;
        }
    }
    for (int k = 0; k < 2 * snw_segment_pairs(m); k++) {
        int seg[2];
        snw_segment_pair_ends(m, k / 2, seg);
        own_slot(e, seg[k % 2]);
    }
    for (int k = 0; k < m->ntendon_segment; k++) {
        own_slot(e, m->tendon_segment[k].a);
        own_slot(e, m->tendon_segment[k].b);
    }
    for (int k = 0; k < 2 * m->ntouching_slice; k++)
        own_slot(e, m->touching_slice[k / 2].seg[k % 2]);
    return SNW_OK;
}

// ---- object -------------------------------------------------------------------------------------

// Multiplications of a solution along the tree.
static double products_along_tree(const snw_elimination *e) {
    double sum = 0;
    for (int i = 1; i < e->m->nseg; i++) {
        const snw_segment_plan *p = &e->plan[i];
        const double y = p->kept + p->leaving, rows = 6 + y, columns = STATE + y;
        sum += (6 + STATE) * p->n + (rows + columns) * p->leaving + 9 * (STATE + 6);
    }
    return sum;
}

snw_status snw_elimination_create(const snw_model *m, snw_elimination **out) {
    *out = NULL;
    snw_elimination *e = snw_alloc(sizeof *e);
    if (!e) return SNW_E_MEMORY;
    const size_t nseg = (size_t)m->nseg;
    e->m = m;
    e->plan = snw_alloc(nseg * sizeof *e->plan);
    snw_status s = e->plan ? place_tendons(e) : SNW_E_MEMORY;
    if (s == SNW_OK) s = snw_friction_create(e);
    if (s == SNW_OK) s = snw_sliding_create(e);
    if (s == SNW_OK) s = snw_forms_create(e);
    if (s == SNW_OK) s = snw_winch_create(e);
    if (s == SNW_OK) s = elimination_plan(e);
    if (s == SNW_OK) s = snw_border_create(e);
    const size_t y = (size_t)e->most, n = (size_t)e->most_n;
    e->h = snw_alloc(nseg * sizeof *e->h);
    e->u = snw_alloc(nseg * sizeof *e->u);
    e->du = snw_alloc(nseg * sizeof *e->du);
    if (s == SNW_OK) s = place_wrenches(e);
    e->P = snw_alloc((size_t)e->nslot * 6 * STATE * sizeof *e->P);
    e->state = snw_alloc(nseg * STATE * sizeof *e->state);
    e->f = snw_alloc(nseg * sizeof *e->f);
    e->W = snw_alloc((6 + y) * (STATE + y) * sizeof *e->W);
    e->carried = snw_alloc((6 + y) * (STATE + y) * sizeof *e->carried);
    e->small = snw_alloc((y + n + 2) * sizeof *e->small);
    e->map = snw_alloc((18 * n + 2 * n * n + 1) * sizeof *e->map);
    e->unit = snw_alloc(3 * 6 * STATE * sizeof *e->unit);
    e->block = snw_alloc((y * y + 1) * sizeof *e->block);
    e->flux = snw_alloc((y * STATE + 1) * sizeof *e->flux);
    e->near = snw_alloc((y + 1) * sizeof *e->near);
    e->component = snw_alloc((y + 1) * sizeof *e->component);
    e->by_near = snw_alloc((y + 1) * sizeof *e->by_near);
    const int border = 2 * e->most_border;
    const size_t count = snw_negative_scratch((int)y > border ? (int)y : border);
    e->scratch = (snw_arena){.base = snw_alloc(count), .size = count};
    if (s == SNW_OK && !(e->h && e->u && e->du && e->P && e->state && e->f && e->W && e->carried &&
                         e->small && e->map && e->unit && e->block && e->flux && e->near &&
                         e->component && e->by_near && e->scratch.base))
        s = SNW_E_MEMORY;
    if (s != SNW_OK) {
        snw_elimination_destroy(e);
        return s;
    }
    e->along_tree = products_along_tree(e);
    *out = e;
    return SNW_OK;
}

void snw_elimination_use(snw_elimination *e, const snw_model *m) {
    if (e) e->m = m;
}

void snw_elimination_destroy(snw_elimination *e) {
    if (!e) return;
    snw_border_destroy(e);
    snw_mixed_destroy(&e->mixed);
    snw_winch_destroy(e);
    void *const own[] = {e->maps,         e->slot,    e->point_of_seg, e->point,    e->plan,
                         e->list,         e->pivot,   e->number,       e->h,        e->u,
                         e->du,           e->P,       e->state,        e->f,        e->W,
                         e->carried,      e->small,   e->map,          e->unit,     e->block,
                         e->scratch.base, e->flux,    e->friction,     e->extended, e->near,
                         e->by_near,      e->sliding, e->form_entry,   e->along,    e->component};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) snw_free(own[i]);
    snw_free(e);
}

double snw_elimination_operations(const snw_elimination *e) {
    const int touches = e->ntouched, straight = e->is_mixed ? 0 : e->most_straight;
    const int border =
        e->most_border - 6 * (e->most_touched - touches) - 2 * (e->most_straight - straight);
    const double n = 6 * touches + 2 * straight;
    double sum = n * n * n / 3;
    if (e->is_mixed)
        return snw_block_sparse_products(e->mixed.cells) +
               border * snw_block_sparse_entries(e->mixed.cells);
    for (int i = 1; i < e->m->nseg; i++) {
        const snw_segment_plan *p = &e->plan[i];
        const double y = p->kept + p->leaving, rows = 6 + y, columns = STATE + y;
        sum += rows * STATE * p->n + 6 * columns * p->n + 150 * rows + 60 * columns +
               (rows + columns) * p->leaving * p->leaving + rows * columns * p->leaving;
    }
    return sum + border * e->along_tree;
}

// ---- one segment --------------------------------------------------------------------------------

// Map of segment i in e->maps.
static snw_segment_map map_of(const snw_elimination *e, int i) {
    const size_t n = (size_t)e->plan[i].n;
    double *S = e->maps + e->plan[i].map;
    return (snw_segment_map){.S = S, .dS = S + 6 * n, .ddS = S + 12 * n, .K = S + 18 * n};
}

// Map of segment i; its own columns are kept for the solutions, one after the other.
static snw_segment_map map_at(snw_elimination *e, const snw_tangent_at *at, int i, snw_work *w) {
    const int n = e->plan[i].n;
    double *kept = e->number + e->plan[i].sigma;
    snw_segment_map map = map_of(e, i);
    if (!at->same_point) {
        map = (snw_segment_map){
            .S = e->map, .dS = e->map + 6 * n, .ddS = e->map + 12 * n, .K = e->map + 18 * n};
        snw_segment_map_at(e->m, at->chart, i, at->cq != 0, w, &map);
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < e->ns; k++) kept[j * e->ns + k] = map.S[k * n + j];
    }
    return map;
}

// y (m) += A x, A m x n by columns
static void add_product(int m, int n, const double *restrict A, const double *restrict x,
                        double *restrict y) {
    for (int j = 0; j < n; j++, A += m) {
        for (int k = 0; k < m; k++) y[k] += A[k] * x[j];
    }
}

// y (m) -= f x
static void subtract(int m, double f, const double *restrict x, double *restrict y) {
    for (int k = 0; k < m; k++) y[k] -= f * x[k];
}

// out <- s' Phi of a row s over the states of segment i, as wrenches: its parent's states
static void row_to_parent(const snw_elimination *e, int i, const double *s, double *out) {
    snw_wrench x[3];
    const int parts = e->ns / 6;
    for (int k = 0; k < parts; k++) memcpy(x[k].e, s + 6 * k, sizeof x[k].e);
    if (parts == 3) {
        // A' = -ad_u A, A'' = (-ad_u' + ad_u ad_u) A
        const snw_wrench u2 = snw_ad_pull(e->u[i], x[2]);
        x[0] = snw_wrench_sub(x[0], snw_ad_pull(e->du[i], x[2]));
        x[0] = snw_wrench_sub(x[0], snw_ad_pull(e->u[i], snw_wrench_sub(x[1], u2)));
        x[1] = snw_wrench_sub(x[1], snw_wrench_add(u2, u2));
    }
    for (int k = 0; k < parts; k++) {
        const snw_wrench y = snw_wrench_to_parent(e->h[i], x[k]);
        memcpy(out + 6 * k, y.e, sizeof y.e);
    }
}

// to <- Phi s_p for a segment with the pose h and its rates u, du in its parent
static void state_to_child(snw_se3 h, snw_twist u, snw_twist du, int ns, const double *from,
                           double *to) {
    snw_twist x[3];
    const int parts = ns / 6;
    for (int k = 0; k < parts; k++) {
        memcpy(x[k].e, from + 6 * k, sizeof x[k].e);
        x[k] = snw_twist_to_child(h, x[k]);
    }
    if (parts == 3) {
        const snw_twist y = snw_twist_sub(x[1], snw_ad(u, x[0]));
        const snw_twist two = snw_twist_add(x[1], y); // 2 x1 - ad_u x0
        x[2] = snw_twist_sub(snw_twist_sub(x[2], snw_ad(u, two)), snw_ad(du, x[0]));
        x[1] = y;
    }
    for (int k = 0; k < parts; k++) memcpy(to + 6 * k, x[k].e, sizeof x[k].e);
}

// W of segment i: rows f from its own wrench and those in P, then rows of the coordinates in use
static void gather_wrench(snw_elimination *e, int i, const double *B) {
    const snw_segment_plan *p = &e->plan[i];
    const int y = p->kept + p->leaving, ns = e->ns, ld = ns + y;
    memset(e->W, 0, (size_t)(6 + y) * (size_t)ld * sizeof *e->W);
    const double *P = e->P + (size_t)e->slot[i] * 6 * (size_t)ns;
    for (int r = 0; r < 6; r++) {
        for (int k = 0; k < ns; k++) e->W[r * ld + k] = P[r * ns + k] + B[r * ns + k];
    }
}

// W += what the coordinates in use have behind the segment
static void gather_behind(snw_elimination *e, int i) {
    const snw_segment_plan *p = &e->plan[i];
    const int y = p->kept + p->leaving, ns = e->ns, ld = ns + y;
    const int *before = e->list + p->list + y;
    if (y == 0 || e->m->seg[i].kind != SNW_SEG_ROD) return;
    // of the slice behind: e->carried, rows f and kept, columns state and kept; its f by states is
    // in P already
    const bool last =
        i + 1 >= e->m->nseg || e->m->seg[i + 1].parent != i || e->m->seg[i + 1].kind != SNW_SEG_ROD;
    if (last) return;
    const int was = ns + e->plan[i + 1].kept;
    for (int r = 0; r < 6 + y; r++) {
        const int old = r < 6 ? r : before[r - 6] < 0 ? -1 : 6 + before[r - 6];
        if (old < 0) continue;
        const double *from = e->carried + old * was;
        for (int k = 0; r >= 6 && k < ns; k++) e->W[r * ld + k] = from[k];
        for (int k = 0; k < y; k++) {
            if (before[k] >= 0) e->W[r * ld + ns + k] = from[ns + before[k]];
        }
    }
}

// Adds stiffness and damping of the rod for coordinates that come into use at segment i.
static void add_elastic(snw_elimination *e, const snw_tangent_at *at, int i) {
    const snw_segment_plan *p = &e->plan[i];
    const int y = p->kept + p->leaving, ns = e->ns, ld = ns + y;
    const int *dof = e->list + p->list, *before = dof + y;
    const snw_rod *rod = &e->m->rod[e->m->slice[e->m->seg[i].item].rod];
    bool any = false;
    for (int k = 0; k < y; k++) any |= before[k] < 0;
    for (int r = 0; any && r < y; r++) {
        if (dof[r] >= e->m->nv) continue;
        const double *K = rod->K + rod->row[dof[r] - rod->dof0],
                     *D = rod->D + rod->row[dof[r] - rod->dof0];
        for (int b = 0; b < rod->na; b++) {
            const snw_rod_range near = rod->near[(dof[r] - rod->dof0) * rod->na + b];
            const int from = rod->dof[b] + near.first;
            for (int k = 0; k < y; k++) {
                const int j = dof[k] - from;
                if (j < 0 || j >= near.count || (before[r] >= 0 && before[k] >= 0)) continue;
                e->W[(6 + r) * ld + ns + k] += (at->cq - at->shift) * K[j] + at->cv * D[j];
            }
            K += near.count, D += near.count;
        }
    }
}

// W <- the same by the states of the parent: adds the coordinates that move segment i.
SNW_CLONES static void cross(snw_elimination *e, const snw_tangent_at *at, int i,
                             const snw_segment_map *map, const snw_work *w) {
    const snw_segment_plan *p = &e->plan[i];
    const int n = p->n, y = p->kept + p->leaving, ns = e->ns, ld = ns + y;
    const int *place = e->list + p->list + 2 * y;
    for (int r = 0; r < 6 + y; r++) {
        double *row = e->W + r * ld;
        // columns of z: W Sigma
        for (int j = 0; j < n; j++) e->small[j] = 0;
        for (int k = 0; k < ns; k++) {
            const double *sigma = map->S + k * n, x = row[k]; // S, dS, ddS follow each other
            for (int j = 0; j < n; j++) e->small[j] += x * sigma[j];
        }
        for (int j = 0; j < n; j++) row[ns + place[j]] += e->small[j];
        double to[STATE];
        row_to_parent(e, i, row, to);
        memcpy(row, to, (size_t)ns * sizeof *row);
    }
    // rows of z: S' f + cq K z
    for (int j = 0; j < n; j++) {
        double *row = e->W + (6 + place[j]) * ld;
        for (int r = 0; r < 6; r++) {
            const double s = map->S[r * n + j], *f = e->W + r * ld;
            for (int k = 0; k < ld; k++) row[k] += s * f[k];
        }
        for (int k = 0; k < n; k++) row[ns + place[k]] += at->cq * map->K[j * n + k];
    }
    // wrench to the parent: A' (f - cq coad(F) S z)
    for (int j = 0; at->cq != 0 && j < n; j++) {
        snw_twist S;
        for (int r = 0; r < 6; r++) S.e[r] = map->S[r * n + j];
        const snw_wrench g = snw_ad_pull(S, w->F[i]); // coad(F) S
        for (int r = 0; r < 6; r++) e->W[r * ld + ns + place[j]] -= at->cq * g.e[r];
    }
    for (int k = 0; k < ld; k++) {
        snw_wrench f;
        for (int r = 0; r < 6; r++) f.e[r] = e->W[r * ld + k];
        f = snw_wrench_to_parent(e->h[i], f);
        for (int r = 0; r < 6; r++) e->W[r * ld + k] = f.e[r];
    }
}

// The rows of X (n x m) <- inv(A) X with the factors of snw_lu_factor, along the rows: n is that of
// a joint or element, and LAPACK's calls would take longer than the products.
static void solve_rows(int n, const double *LU, const int *pivot, int m, double *X) {
    for (int j = 0; j < n; j++) { // exchanges of rows, counted from one
        double *a = X + (ptrdiff_t)j * m, *b = X + (ptrdiff_t)(pivot[j] - 1) * m;
        for (int k = 0; a != b && k < m; k++) {
            const double x = a[k];
            a[k] = b[k], b[k] = x;
        }
    }
    for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++)
            subtract(m, LU[j * n + i], X + (ptrdiff_t)j * m, X + (ptrdiff_t)i * m);
    }
    for (int i = n - 1; i >= 0; i--) {
        double *x = X + (ptrdiff_t)i * m;
        for (int j = i + 1; j < n; j++) subtract(m, LU[j * n + i], X + (ptrdiff_t)j * m, x);
        for (int k = 0; k < m; k++) x[k] /= LU[i * (n + 1)];
    }
}

// By Sylvester's law the negative eigenvalues of a symmetric T are those of all its pivot blocks.
static void count_negative(snw_elimination *e, int n, const double *A) {
    int negative = 0;
    memcpy(e->block, A, (size_t)n * (size_t)n * sizeof *A);
    if (snw_count_negative(n, e->block, &e->scratch, &negative) != SNW_OK) e->is_definite = false;
    e->negative += negative;
}

// Eliminates the coordinates that leave at segment i: the last ones of y.
SNW_CLONES static snw_status leave(snw_elimination *e, int i, bool inertia) {
    const snw_segment_plan *p = &e->plan[i];
    const int out = p->leaving, kept = p->kept, ns = e->ns, ld = ns + kept + out;
    double *lu = e->number + p->lu, *gain = e->number + p->gain, *back = e->number + p->back;
    if (out == 0) return SNW_OK;
    const double *rows = e->W + (6 + kept) * ld;
    for (int j = 0; j < out; j++) {
        for (int k = 0; k < out; k++) lu[j * out + k] = rows[k * ld + ns + kept + j];
    }
    if (inertia) count_negative(e, out, lu);
    SNW_TRY(snw_lu_factor(out, lu, e->pivot + p->pivot));
    e->sign *= snw_lu_sign(out, lu, e->pivot + p->pivot);
    // gain: a row of states and kept coordinates for each coordinate that leaves
    for (int j = 0; j < out; j++)
        memcpy(gain + (ptrdiff_t)j * (ns + kept), rows + (ptrdiff_t)j * ld,
               (size_t)(ns + kept) * sizeof *gain);
    solve_rows(out, lu, e->pivot + p->pivot, ns + kept, gain);
    for (int r = 0; r < 6 + kept; r++) {
        double *row = e->W + r * ld;
        for (int j = 0; j < out; j++) {
            const double b = back[r * out + j] = row[ns + kept + j];
            const double *g = gain + (ptrdiff_t)j * (ns + kept);
            for (int k = 0; k < ns + kept; k++) row[k] -= b * g[k];
        }
    }
    return SNW_OK;
}

// Hands W on to the parent.
static void hand_on(snw_elimination *e, int i) {
    const snw_segment_plan *p = &e->plan[i];
    const int kept = p->kept, ns = e->ns, ld = ns + kept + p->leaving;
    const int slot = e->slot[e->m->seg[i].parent];
    double *P = e->P + (size_t)slot * 6 * (size_t)ns;
    for (int r = 0; r < 6; r++) {
        const double *from = e->W + (ptrdiff_t)r * ld;
        for (int k = 0; k < ns; k++)
            P[r * ns + k] = (slot == SNW_ELIMINATION_CHAIN ? 0 : P[r * ns + k]) + from[k];
    }
    for (int r = 0; kept > 0 && r < 6 + kept; r++) {
        memcpy(e->carried + (ptrdiff_t)r * (ns + kept), e->W + (ptrdiff_t)r * ld,
               (size_t)(ns + kept) * sizeof *e->W);
    }
}

// ---- all segments -------------------------------------------------------------------------------

// Columns that are the states themselves.
static snw_columns unit_columns(snw_elimination *e) {
    const int ns = e->ns;
    memset(e->unit, 0, 3 * 6 * STATE * sizeof *e->unit);
    for (int part = 0; part < ns / 6; part++) {
        for (int r = 0; r < 6; r++) e->unit[part * 6 * STATE + r * ns + 6 * part + r] = 1;
    }
    return (snw_columns){
        .n = ns, .ld = ns, .J = e->unit, .dJ = e->unit + 6 * STATE, .ddJ = e->unit + 12 * STATE};
}

static void keep_motion(snw_elimination *e, const snw_work *w) {
    const size_t nseg = (size_t)e->m->nseg;
    e->ns = w->is_static ? 6 : STATE;
    memcpy(e->h, w->h, nseg * sizeof *e->h);
    memcpy(e->u, w->u, nseg * sizeof *e->u);
    memcpy(e->du, w->du, nseg * sizeof *e->du);
}

// Unloaded stiffness of coordinate j of a joint; one without spring is scaled by typical forces.
static double joint_stiffness(const snw_model *m, const snw_block *b, int j) {
    const double k = b->spring >= 0 ? m->spring[b->spring].stiffness : 0;
    return k > 0 ? k : m->scale[b->dof + j] / m->typical[b->dof + j];
}

// W += terms of the coordinates in use at segment i, and of fluids on `nrow` of them by its states
static void add_own_terms(snw_elimination *e, const snw_tangent_at *at, int i, int nrow,
                          const snw_work *w) {
    const snw_model *m = e->m;
    const int ld = e->ns + e->plan[i].kept + e->plan[i].leaving;
    for (int r = 0; r < nrow; r++) {
        for (int k = 0; k < e->ns; k++) e->W[(6 + r) * ld + k] += e->flux[r * e->ns + k];
    }
    if (m->seg[i].kind == SNW_SEG_ROD && (at->cq != 0 || at->cv != 0 || at->shift != 0))
        add_elastic(e, at, i);
    if (m->ntendon && at->cq != 0) add_tendons(e, at, i, w);
    if (e->nfriction) snw_friction_add(e, at, i, w);
}

// W += spring, stops and armature of the joint of segment i, and `added`
static void add_joint(snw_elimination *e, const snw_tangent_at *at, int i,
                      const snw_segment_map *map, const snw_work *w) {
    const snw_model *m = e->m;
    const snw_segment_plan *p = &e->plan[i];
    const int y = p->kept + p->leaving, ld = e->ns + y, *dof = e->list + p->list;
    if (m->seg[i].kind != SNW_SEG_ROD && p->n > 0) {
        double *T = e->map + (18 + p->n) * p->n; // n x n, behind the map
        memset(T, 0, (size_t)p->n * (size_t)p->n * sizeof *T);
        snw_segment_map_add_joint(m, i, map, w, at->cq, at->cv, at->ca, T);
        for (int j = 0; j < p->n; j++) {
            T[j * (p->n + 1)] -= at->shift * joint_stiffness(m, &m->block[m->seg[i].item], j);
            for (int k = 0; k < p->n; k++) e->W[(6 + j) * ld + e->ns + k] += T[k * p->n + j];
        }
    }
    for (int k = p->kept; at->added && k < y; k++) {
        if (dof[k] < m->nv) e->W[(6 + k) * ld + e->ns + k] += at->added[dof[k]];
    }
}

void snw_elimination_begin(snw_elimination *e, const snw_tangent_at *at, snw_work *w) {
    keep_motion(e, w);
    e->sign = 1;
    e->negative = 0;
    e->is_definite = true;
    if (e->m->ntendon) snw_tendons_jacobian(e->m, w);
    memset(e->P, 0, (size_t)e->nslot * 6 * (size_t)e->ns * sizeof *e->P);
    if (e->most_border) snw_border_add_own(e, at, w);
}

snw_segment_map snw_elimination_own(snw_elimination *e, const snw_tangent_at *at, int i,
                                    snw_work *w) {
    double B[6 * STATE];
    const snw_segment_map map = map_at(e, at, i, w);
    snw_columns unit = unit_columns(e);
    unit.row_dof = e->list + e->plan[i].list;
    unit.nrow = e->m->nfluid_point ? e->plan[i].kept + e->plan[i].leaving : 0;
    snw_segment_wrench_columns(e->m, at->in, w, i, &unit, at->cq, at->cv, at->ca, B, e->flux);
    gather_wrench(e, i, B);
    add_own_terms(e, at, i, unit.nrow, w);
    add_joint(e, at, i, &map, w);
    return map;
}

// Eliminates all coordinates, or with `diagonal` only reads their pivots before any elimination.
static snw_status eliminate(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                            double *diagonal) {
    const snw_model *m = e->m;
    double B[6 * STATE];
    snw_elimination_begin(e, at, w);
    snw_columns unit = unit_columns(e);
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_segment_plan *p = &e->plan[i];
        const int y = p->kept + p->leaving, ld = e->ns + y;
        const snw_segment_map map = map_at(e, at, i, w);
        unit.row_dof = e->list + p->list;
        unit.nrow = m->nfluid_point ? y : 0;
        snw_segment_wrench_columns(m, at->in, w, i, &unit, at->cq, at->cv, at->ca, B, e->flux);
        gather_wrench(e, i, B);
        gather_behind(e, i);
        add_own_terms(e, at, i, unit.nrow, w);
        cross(e, at, i, &map, w);
        add_joint(e, at, i, &map, w);
        const int *leaving = e->list + p->list;
        if (diagonal) {
            for (int k = p->kept; k < y; k++) {
                if (leaving[k] < m->nv) diagonal[leaving[k]] = e->W[(6 + k) * ld + e->ns + k];
            }
        } else if (leave(e, i, at->inertia) != SNW_OK) {
            e->sign = 0;
            return SNW_E_SINGULAR;
        }
        hand_on(e, i);
    }
    return SNW_OK;
}

snw_status snw_elimination_factor(snw_elimination *e, const snw_tangent_at *at, snw_work *w) {
    e->sign = 0; // a refusal leaves no factors
    SNW_TRY(snw_mixed_factor(e, at, w));
    if (!e->is_mixed) SNW_TRY(eliminate(e, at, w, NULL));
    if (e->most_border && snw_border_factor(e, at, w) != SNW_OK) {
        e->sign = 0;
        return SNW_E_SINGULAR;
    }
    return SNW_OK;
}

void snw_elimination_diagonal(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                              double *diagonal) {
    e->is_mixed = false;
    (void)eliminate(e, at, w, diagonal);
    e->sign = 0;
}

int snw_elimination_negative(const snw_elimination *e) { return e->is_definite ? e->negative : -1; }

int snw_elimination_sign(const snw_elimination *e) { return e->sign; }

// From the leaves to the root: x <- what is left of each row when the coordinates before it are
// eliminated, times the inverse of its pivots.
SNW_CLONES static void solve_to_root(snw_elimination *e, double *x) {
    const snw_model *m = e->m;
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_segment_plan *p = &e->plan[i];
        const int n = p->n, kept = p->kept, out = p->leaving;
        const int *dof = e->list + p->list, *place = dof + 2 * (kept + out);
        const double *S = e->number + p->sigma, *back = e->number + p->back;
        snw_wrench f = e->f[i];
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int r = 0; r < 6; r++) sum += S[j * e->ns + r] * f.e[r];
            x[dof[place[j]]] += sum;
        }
        f = snw_wrench_to_parent(e->h[i], f);
        double *t = e->small;
        for (int j = 0; j < out; j++) t[j] = x[dof[kept + j]];
        solve_rows(out, e->number + p->lu, e->pivot + p->pivot, 1, t);
        for (int r = 0; out > 0 && r < 6 + kept; r++) {
            double sum = 0;
            for (int j = 0; j < out; j++) sum += back[r * out + j] * t[j];
            *(r < 6 ? &f.e[r] : &x[dof[r - 6]]) -= sum;
        }
        for (int j = 0; j < out; j++) x[dof[kept + j]] = t[j];
        e->f[m->seg[i].parent] = snw_wrench_add(e->f[m->seg[i].parent], f);
    }
}

// x (nv + unknowns of friction) <- solution along the tree
SNW_CLONES static void solve_tree(snw_elimination *e, double *x) {
    const snw_model *m = e->m;
    const int ns = e->ns;
    for (int i = 0; i < m->nv; i++) x[i] = -x[i];
    solve_to_root(e, x);
    for (int k = 0; k < ns; k++) e->state[k] = 0; // the world does not move
    for (int i = 1; i < m->nseg; i++) {
        const snw_segment_plan *p = &e->plan[i];
        const int n = p->n, kept = p->kept, out = p->leaving;
        const int *dof = e->list + p->list, *place = dof + 2 * (kept + out);
        const double *sigma = e->number + p->sigma, *gain = e->number + p->gain;
        const double *up = e->state + (size_t)m->seg[i].parent * (size_t)ns;
        double *z = e->small;
        for (int k = 0; out > 0 && k < kept; k++) z[k] = x[dof[k]];
        for (int j = 0; j < out; j++, gain += ns + kept)
            x[dof[kept + j]] = -(x[dof[kept + j]] + snw_vector_dot(ns, gain, up) +
                                 snw_vector_dot(kept, gain + ns, z));
        double *to = e->state + (size_t)i * (size_t)ns;
        state_to_child(e->h[i], e->u[i], e->du[i], ns, up, to);
        for (int j = 0; j < n; j++) z[j] = x[dof[place[j]]];
        add_product(ns, n, sigma, z, to);
    }
}

void snw_elimination_state(const snw_elimination *e, int i, const double *from, double *to) {
    state_to_child(e->h[i], e->u[i], e->du[i], e->ns, from, to);
}

void snw_elimination_solve_tree(snw_elimination *e, double *x) {
    if (e->is_mixed) {
        snw_mixed_solve(e, x);
        return;
    }
    if (e->nfriction == 0) {
        solve_tree(e, x);
        return;
    }
    const size_t nv = (size_t)e->m->nv;
    memcpy(e->extended, x, nv * sizeof *x);
    memset(e->extended + nv, 0, (size_t)e->nfriction * sizeof *x);
    solve_tree(e, e->extended);
    memcpy(x, e->extended, nv * sizeof *x);
}

void snw_elimination_solve(snw_elimination *e, double *x) {
    SNW_ASSERT(e->sign != 0);
    if (e->nborder > 0) {
        snw_border_solve(e, x);
        return;
    }
    memset(e->f, 0, (size_t)e->m->nseg * sizeof *e->f);
    snw_elimination_solve_tree(e, x);
}

// ---- product ------------------------------------------------------------------------------------

// y += cq K x + cv D x of rods
static void elastic_product(const snw_model *m, double cq, double cv, const double *x, double *y) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const double *from = x + rod->dof0;
        for (int i = 0; i < rod->ndof; i++)
            y[rod->dof0 + i] += cq * snw_rod_row_times(rod, rod->K, i, from, 0) +
                                cv * snw_rod_row_times(rod, rod->D, i, from, 0);
    }
}

void snw_elimination_stiffness(const snw_elimination *e, const double *x, double *y) {
    const snw_model *m = e->m;
    for (int i = 0; i < m->nv; i++) y[i] = 0;
    elastic_product(m, 1, 0, x, y);
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (m->seg[b->seg].kind == SNW_SEG_ROD) continue;
        for (int j = 0; j < b->n; j++) y[b->dof + j] = joint_stiffness(m, b, j) * x[b->dof + j];
    }
}

// e->state <- variations of all segments by x, e->maps <- their maps unless these are known
static void vary_states(snw_elimination *e, const snw_tangent_at *at, int ns, snw_work *w,
                        const double *x) {
    const snw_model *m = e->m;
    for (int k = 0; k < ns; k++) e->state[k] = 0;
    for (int i = 1; i < m->nseg; i++) {
        const snw_segment_plan *p = &e->plan[i];
        const int n = p->n, *dof = e->list + p->list, *place = dof + 2 * (p->kept + p->leaving);
        const snw_segment_map map = map_of(e, i);
        if (!at->same_point) snw_segment_map_at(m, at->chart, i, true, w, &map);
        double *to = e->state + (size_t)i * (size_t)ns;
        state_to_child(w->h[i], w->u[i], w->du[i], ns,
                       e->state + (size_t)m->seg[i].parent * (size_t)ns, to);
        for (int k = 0; k < ns; k++) {
            for (int j = 0; j < n; j++) to[k] += map.S[k * n + j] * x[dof[place[j]]];
        }
    }
}

// y (nv) <- T x - s C' lambda, with the rows of the last factorisation; lambda NULL: T x.
SNW_CLONES static void eliminated_product(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                                          const double *x, const double *lambda, double *y) {
    const snw_model *m = e->m;
    const int ns = w->is_static ? 6 : STATE;
    const int factorised = e->ns;
    e->ns = ns;
    vary_states(e, at, ns, w, x);
    memset(e->f, 0, (size_t)m->nseg * sizeof *e->f);
    for (int i = 0; i < m->nv; i++) y[i] = 0;
    if (m->ntendon) snw_tendons_jacobian(m, w);
    if (e->most_border) snw_border_product(e, at, w, x, y);
    if (lambda) snw_border_add_rows(e, lambda, y);
    elastic_product(m, at->cq, at->cv, x, y);
    if (at->cq != 0) tendon_product(m, w, at->cq, x, y);
    if (e->along) snw_friction_product(e, at, w, x, y);
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_segment_plan *p = &e->plan[i];
        const int n = p->n, *dof = e->list + p->list, *place = dof + 2 * (p->kept + p->leaving);
        const double *s = e->state + (size_t)i * (size_t)ns;
        const snw_columns one = {.n = 1,
                                 .ld = 1,
                                 .J = s,
                                 .dJ = s + 6,
                                 .ddJ = s + 12,
                                 .row_dof = dof,
                                 .nrow = m->nfluid_point ? p->kept + p->leaving : 0};
        snw_wrench own;
        snw_segment_wrench_columns(m, at->in, w, i, &one, at->cq, at->cv, at->ca, own.e, e->flux);
        for (int r = 0; r < one.nrow; r++) {
            if (dof[r] < m->nv) y[dof[r]] += e->flux[r];
        }
        snw_wrench f = snw_wrench_add(e->f[i], own);
        const snw_segment_map map = map_of(e, i);
        snw_twist moved = snw_twist_zero();
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int r = 0; r < 6; r++) {
                sum += map.S[r * n + j] * f.e[r];
                moved.e[r] += map.S[r * n + j] * x[dof[place[j]]];
            }
            for (int k = 0; k < n; k++) sum += at->cq * map.K[j * n + k] * x[dof[place[k]]];
            y[dof[place[j]]] += sum;
        }
        if (m->seg[i].kind != SNW_SEG_ROD && n > 0) {
            double T[36] = {0};
            snw_segment_map_add_joint(m, i, &map, w, at->cq, at->cv, at->ca, T);
            for (int j = 0; j < n; j++) {
                for (int k = 0; k < n; k++) y[dof[place[j]]] += T[k * n + j] * x[dof[place[k]]];
            }
        }
        const snw_wrench turned = snw_ad_pull(moved, w->F[i]); // coad(F) S z
        for (int r = 0; r < 6; r++) f.e[r] -= at->cq * turned.e[r];
        e->f[m->seg[i].parent] =
            snw_wrench_add(e->f[m->seg[i].parent], snw_wrench_to_parent(w->h[i], f));
    }
    e->ns = factorised;
}

void snw_elimination_product(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                             const double *x, double *y) {
    eliminated_product(e, at, w, x, NULL, y);
}

void snw_elimination_product_bordered(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                                      const double *x, double *y) {
    const int nv = e->m->nv;
    eliminated_product(e, at, w, x, e->has_rows ? x + nv : NULL, y);
    for (int i = 0; i < nv && at->added; i++) y[i] += at->added[i] * x[i];
    if (e->has_rows) snw_border_rows(e, x, y + nv);
}
