// SPDX-License-Identifier: MIT
//
// Newton's equations of a local model with the states and wrenches of all segments as unknowns
// beside the coordinates, theory.md (4.8a), for contacts of rods with rods along their lengths.
// With the wrench fh = f - C (s + S z)/2, C = cq coad(F), that enters a segment half way,
//   Phi s_p + Sigma z - s = 0,
//   B s - C (s + S z)/2 - fh + sum over children A' (fh_c + C_c A s / 2) + E s_touching = -(given
//   f), S' (fh + C (s + S z)/2) + (K + elastic) z = b.
// Nothing couples but neighbours, and segments that touch: the matrix is sparse, whatever touches.
// It is symmetric where the tangent is, with six negative eigenvalues more for each segment.

#include "constraint/elimination_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/rod_contact.h"

#include <math.h>
#include <string.h>

enum { STATE = SNW_ELIMINATION_STATE };

// Products for each segment below which no such factorisation comes; a border that takes less is
// not compared with it.
static const double LEAST_PRODUCTS = 2e4;

// ---- cells --------------------------------------------------------------------------------------

void snw_mixed_destroy(snw_mixed *x) {
    snw_block_sparse_destroy(x->cells);
    void *const own[] = {x->cell_of_seg,    x->cell_of_dof, x->at_dof,
                         x->columns_of_dof, x->pair,        x->x};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) snw_free(own[i]);
    *x = (snw_mixed){0};
}

static snw_status mixed_allocate(snw_elimination *e, int nx) {
    snw_mixed *x = &e->mixed;
    const size_t nseg = (size_t)e->m->nseg, n = (size_t)nx;
    x->cell_of_seg = snw_alloc(nseg * sizeof *x->cell_of_seg);
    x->cell_of_dof = snw_alloc((n + 1) * sizeof *x->cell_of_dof);
    x->at_dof = snw_alloc((n + 1) * sizeof *x->at_dof);
    x->columns_of_dof = snw_alloc((n + 1) * sizeof *x->columns_of_dof);
    return x->cell_of_seg && x->cell_of_dof && x->at_dof && x->columns_of_dof ? SNW_OK
                                                                              : SNW_E_MEMORY;
}

// Cells of all segments and coordinates; size, late: of each cell; last: scratch. Returns their
// number.
static int find_cells(snw_elimination *e, int *size, bool *late, int *last) {
    const snw_model *m = e->m;
    snw_mixed *x = &e->mixed;
    int ncell = 0;
    x->cell_of_seg[0] = -1;
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_segment_plan *p = &e->plan[i];
        const int y = p->kept + p->leaving, *dof = e->list + p->list, *before = dof + y;
        const bool is_rod = m->seg[i].kind == SNW_SEG_ROD;
        x->cell_of_seg[i] = ncell;
        size[ncell] = x->ns + 6 + (is_rod ? 0 : p->leaving);
        // a joint without stiffness has a pivot only when what it carries is eliminated
        late[ncell++] = !is_rod && p->leaving > 0;
        for (int k = 0; k < y; k++) {
            if (before[k] < 0) last[dof[k]] = i;
        }
        for (int k = p->kept; k < y; k++) {
            const int d = dof[k];
            x->cell_of_dof[d] = x->cell_of_seg[i];
            x->at_dof[d] = x->ns + 6 + k - p->kept;
            if (!is_rod) continue;
            int like = p->kept; // one of these that is in use on the same slices
            while (d >= m->nv || dof[like] >= m->nv || last[dof[like]] != last[d]) {
                if (like == k) break;
                like++;
            }
            x->cell_of_dof[d] = like < k ? x->cell_of_dof[dof[like]] : ncell;
            if (like == k) size[ncell] = 0, late[ncell++] = false;
            x->at_dof[d] = size[x->cell_of_dof[d]]++;
        }
    }
    for (int k = 0; e->sliding && k < m->ntendon_point; k++) {
        for (int j = 0; e->sliding[k] >= 0 && j < 2; j++) {
            const int d = m->nv + e->nfriction + 2 * e->sliding[k] + j;
            x->cell_of_dof[d] = ncell;
            x->at_dof[d] = j;
        }
        if (e->sliding[k] >= 0) size[ncell] = 2, late[ncell++] = false;
    }
    for (int d = 0; d < m->nv + e->nfriction + 2 * e->nsliding; d++)
        x->columns_of_dof[d] = size[x->cell_of_dof[d]];
    return ncell;
}

void snw_mixed_pair(snw_elimination *e, int n, int a, int b) {
    if (e->mixed.pair) e->mixed.pair[2 * n] = a, e->mixed.pair[2 * n + 1] = b;
}

// x->pair <- couplings along the tree; returns their number.
static int list_pairs(snw_elimination *e) {
    const snw_model *m = e->m;
    const snw_mixed *x = &e->mixed;
    int n = 0;
    for (int i = 1; i < m->nseg; i++) {
        const snw_segment_plan *p = &e->plan[i];
        const int y = p->kept + p->leaving, *dof = e->list + p->list;
        const int cell = x->cell_of_seg[i], parent = m->seg[i].parent;
        if (parent > 0) snw_mixed_pair(e, n++, cell, x->cell_of_seg[parent]);
        for (int k = 0; k < y; k++) {
            const int own = x->cell_of_dof[dof[k]];
            if (k > 0 && own == x->cell_of_dof[dof[k - 1]]) continue;
            snw_mixed_pair(e, n++, cell, own);
            for (int j = 0; j < k; j++) {
                if (j == 0 || x->cell_of_dof[dof[j]] != x->cell_of_dof[dof[j - 1]])
                    snw_mixed_pair(e, n++, own, x->cell_of_dof[dof[j]]);
            }
        }
    }
    for (int k = 0; k < m->ntendon_segment; k++) {
        const snw_tendon_segment *p = &m->tendon_segment[k];
        if (p->a > 0 && p->b > 0)
            snw_mixed_pair(e, n++, x->cell_of_seg[p->a], x->cell_of_seg[p->b]);
    }
    return snw_sliding_pairs(e, n);
}

static snw_status mixed_create(snw_elimination *e) {
    snw_mixed *x = &e->mixed;
    const size_t nx = (size_t)(e->m->nv + e->nfriction + 2 * e->nsliding),
                 most = nx + (size_t)e->m->nseg;
    snw_mixed_destroy(x);
    x->ns = e->ns;
    int *scratch = snw_alloc((most + nx + 1) * sizeof *scratch);
    bool *late = snw_alloc((most + 1) * sizeof *late);
    snw_status s = scratch && late ? mixed_allocate(e, (int)nx) : SNW_E_MEMORY;
    if (s == SNW_OK) {
        const int ncell = find_cells(e, scratch, late, scratch + most);
        int unknowns = 0;
        for (int i = 0; i < ncell; i++) unknowns += scratch[i];
        x->npair = list_pairs(e);
        x->room = x->npair + 64;
        x->pair = snw_alloc(2 * (size_t)x->room * sizeof *x->pair);
        x->x = snw_alloc((size_t)(unknowns + 1) * sizeof *x->x);
        s = x->pair && x->x ? snw_block_sparse_create(ncell, scratch, late, &x->cells)
                            : SNW_E_MEMORY;
        if (s == SNW_OK) (void)list_pairs(e);
    }
    snw_free(scratch);
    snw_free(late);
    if (s != SNW_OK) snw_mixed_destroy(x);
    return s;
}

// ---- room ----------------------------------------------------------------------------------

static snw_status mixed_more_room(snw_mixed *x, int room) {
    if (room <= x->room) return SNW_OK;
    int *pair = snw_alloc(4 * (size_t)room * sizeof *pair);
    if (!pair) return SNW_E_MEMORY;
    memcpy(pair, x->pair, 2 * (size_t)x->room * sizeof *pair);
    snw_free(x->pair);
    x->pair = pair;
    x->room = 2 * room;
    return SNW_OK;
}

static bool begins_slices(const snw_work *w, int i) {
    const int *now = w->touch[i].slice, *before = w->touch[i > 0 ? i - 1 : 0].slice;
    return i == 0 || now[0] != before[0] || now[1] != before[1];
}

static bool are_coupled(const snw_elimination *e, const int seg[4]) {
    const snw_mixed *x = &e->mixed;
    for (int k = 0; k < 4; k++) {
        for (int l = 0; l < k && seg[k] > 0; l++) {
            if (seg[l] > 0 &&
                !snw_block_sparse_couples(x->cells, x->cell_of_seg[seg[k]], x->cell_of_seg[seg[l]]))
                return false;
        }
    }
    return true;
}

bool snw_mixed_has(const snw_elimination *e, const int seg[4]) {
    return e->is_mixed && are_coupled(e, seg);
}

// Touching slices of w couple the four segments at their ends.
static snw_status couple(snw_elimination *e, const snw_work *w) {
    const snw_model *m = e->m;
    snw_mixed *x = &e->mixed;
    int n = x->npair;
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        if (!begins_slices(w, i)) continue;
        SNW_TRY(mixed_more_room(x, n + 6));
        int cell[4];
        for (int k = 0; k < 4; k++)
            cell[k] = x->cell_of_seg[m->touching_slice[w->touch[i].slice[k / 2]].seg[k % 2]];
        for (int k = 0; k < 4; k++) {
            for (int l = 0; l < k; l++) {
                if (cell[k] >= 0 && cell[l] >= 0) snw_mixed_pair(e, n++, cell[k], cell[l]);
            }
        }
    }
    return snw_block_sparse_couple(x->cells, n, x->pair);
}

// Segments that touch; `uncoupled`: by touches that the order does not know.
static int count_touched(const snw_elimination *e, const snw_work *w, bool uncoupled) {
    const snw_model *m = e->m;
    int n = 0;
    if (e->most_touched == 0) return 0;
    memset(e->touch_seen, 0, (size_t)m->nseg * sizeof *e->touch_seen);
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        int seg[4];
        if (!begins_slices(w, i)) continue;
        for (int k = 0; k < 4; k++) seg[k] = m->touching_slice[w->touch[i].slice[k / 2]].seg[k % 2];
        if (uncoupled && are_coupled(e, seg)) continue;
        for (int k = 0; k < 4; k++) {
            n += !e->touch_seen[seg[k]];
            e->touch_seen[seg[k]] = true;
        }
    }
    return n;
}

// ---- entries ------------------------------------------------------------------------------------

snw_mixed_place snw_mixed_dof(const snw_elimination *e, int d) {
    const snw_mixed *x = &e->mixed;
    return (snw_mixed_place){x->cell_of_dof[d], x->at_dof[d], x->columns_of_dof[d]};
}

snw_mixed_place snw_mixed_point(const snw_elimination *e, int point, int k) {
    return snw_mixed_dof(e, e->m->nv + e->nfriction + 2 * e->sliding[point] + k);
}

// Rows of cell i: wrenches from 0, states from 6, then coordinates. Columns: states from 0,
// wrenches from ns, then coordinates.
static int columns_of_seg(const snw_elimination *e, int i) {
    return e->ns + 6 + (e->m->seg[i].kind == SNW_SEG_ROD ? 0 : e->plan[i].leaving);
}

static void add_to(snw_block_sparse *b, int i, int j, int columns, int row, int column, double a) {
    snw_block_sparse_at(b, i, j)[row * columns + column] += a;
}

static double stiffness_of(const snw_rod *rod, int d) {
    const double *K = rod->K + rod->row[d];
    for (int b = 0; b < rod->na; b++) {
        const snw_rod_range near = rod->near[d * rod->na + b];
        const int j = d - (rod->dof[b] - rod->dof0) - near.first;
        if (j >= 0 && j < near.count) return K[j];
        K += near.count;
    }
    return 0;
}

snw_mixed_place snw_mixed_state(const snw_elimination *e, int i, int k) {
    return (snw_mixed_place){e->mixed.cell_of_seg[i], k, columns_of_seg(e, i)};
}

snw_mixed_place snw_mixed_wrench_row(const snw_elimination *e, int i, int k) {
    return snw_mixed_state(e, i, k); // the first rows, as the first columns are states
}

void snw_mixed_add(snw_elimination *e, snw_mixed_place row, snw_mixed_place column, double a) {
    snw_block_sparse_at(e->mixed.cells, row.cell,
                        column.cell)[row.at * column.columns + column.at] += a;
}

// Typical stiffness of the rods against displacements, by which wrenches are scaled.
static double typical_stiffness(const snw_elimination *e, const snw_tangent_at *at) {
    const snw_model *m = e->m;
    double most = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const double h = m->slice[m->seg[rod->seg0].item].h;
        for (int d = 0; d < rod->ndof; d++) {
            const double K = at->cq * stiffness_of(rod, d);
            most = fmax(most, K / (h * h));
        }
    }
    return most > 0 && isfinite(most) ? exp2(floor(log2(most))) : 1;
}

// Terms of segment i and its parent.
static void add_segment(snw_elimination *e, const snw_tangent_at *at, int i, snw_work *w) {
    const snw_model *m = e->m;
    snw_mixed *x = &e->mixed;
    snw_block_sparse *b = x->cells;
    const snw_segment_plan *p = &e->plan[i];
    const int n = p->n, y = p->kept + p->leaving, ns = e->ns, ld = ns + y;
    const int *dof = e->list + p->list, *place = dof + 2 * y;
    const int cell = x->cell_of_seg[i], parent = m->seg[i].parent, columns = columns_of_seg(e, i);
    const double unit = x->unit;
    const snw_segment_map map = snw_elimination_own(e, at, i, w);
    double *own = snw_block_sparse_at(b, cell, cell);
    snw_wrench C[6]; // half of C, its columns
    for (int k = 0; k < 6; k++) {
        snw_twist axis = snw_twist_zero();
        axis.e[k] = 0.5 * at->cq;
        C[k] = snw_coad(w->F[i], axis);
    }
    for (int r = 0; r < 6; r++) {
        for (int k = 0; k < ns; k++) own[r * columns + k] += e->W[r * ld + k];
        for (int k = 0; k < 6; k++) own[r * columns + k] -= C[k].e[r];
        own[r * columns + ns + r] -= unit;
    }
    for (int k = 0; k < ns; k++) own[(6 + k) * columns + k] -= unit;
    // coordinates in use: own terms
    for (int r = 0; r < y; r++) {
        const int row_cell = x->cell_of_dof[dof[r]], row = x->at_dof[dof[r]];
        double *by_state = snw_block_sparse_at(b, row_cell, cell) + row * columns;
        for (int k = 0; k < ns; k++) by_state[k] += e->W[(6 + r) * ld + k];
        for (int k = 0; k < y; k++) {
            const double a = e->W[(6 + r) * ld + ns + k];
            if (a != 0)
                add_to(b, row_cell, x->cell_of_dof[dof[k]], x->columns_of_dof[dof[k]], row,
                       x->at_dof[dof[k]], a);
        }
    }
    // coordinates z that move the segment
    for (int j = 0; j < n; j++) {
        const int d = dof[place[j]], at_cell = x->cell_of_dof[d], at_row = x->at_dof[d];
        double half[6]; // C S / 2
        for (int r = 0; r < 6; r++) {
            half[r] = 0;
            for (int k = 0; k < 6; k++) half[r] += C[k].e[r] * map.S[k * n + j];
        }
        double *by_z = snw_block_sparse_at(b, cell, at_cell) + at_row;
        double *of_z = snw_block_sparse_at(b, at_cell, cell) + at_row * columns;
        const int wide = x->columns_of_dof[d];
        for (int r = 0; r < 6; r++) {
            by_z[r * wide] -= half[r];
            of_z[r] -= half[r]; // C is skew: S' C / 2
            of_z[ns + r] += unit * map.S[r * n + j];
        }
        for (int k = 0; k < ns; k++) by_z[(6 + k) * wide] += unit * map.S[k * n + j];
        for (int k = 0; k < n; k++) { // row of coordinate k
            const int dk = dof[place[k]];
            double a = at->cq * map.K[k * n + j];
            for (int r = 0; r < 6; r++) a += map.S[r * n + k] * half[r];
            add_to(b, x->cell_of_dof[dk], at_cell, wide, x->at_dof[dk], at_row, a);
        }
    }
    if (parent == 0) return;
    const int up = x->cell_of_seg[parent], wide = columns_of_seg(e, parent);
    double *of_parent = snw_block_sparse_at(b, up, up),
           *by_parent = snw_block_sparse_at(b, cell, up),
           *in_parent = snw_block_sparse_at(b, up, cell);
    for (int k = 0; k < ns; k++) {
        double from[STATE] = {0}, to[STATE];
        from[k] = 1;
        snw_elimination_state(e, i, from, to);
        for (int r = 0; r < ns; r++) by_parent[(6 + r) * wide + k] += unit * to[r];
        if (k >= 6) continue;
        snw_wrench moved = snw_wrench_zero(); // C A / 2
        for (int r = 0; r < 6; r++) moved = snw_wrench_axpy(to[r], C[r], moved);
        moved = snw_wrench_to_parent(e->h[i], moved);
        for (int r = 0; r < 6; r++) of_parent[r * wide + k] += moved.e[r];
        snw_wrench one = snw_wrench_zero();
        one.e[k] = unit;
        one = snw_wrench_to_parent(e->h[i], one);
        for (int r = 0; r < 6; r++) in_parent[r * columns + ns + k] += one.e[r];
    }
}

static void add_touches(snw_elimination *e) {
    snw_mixed *x = &e->mixed;
    const int parts = e->ns < 12 ? e->ns : 12;
    for (int i = 0; i < e->ntouch; i++) {
        const snw_touch_matrix *p = &e->touch[i];
        for (int k = 0; k < 4 && !p->is_border; k++) {
            for (int l = 0; l < 4; l++) {
                // its own terms have the variation by its own state
                if (p->seg[k] == 0 || p->seg[l] == 0 || p->seg[k] == p->seg[l]) continue;
                double *to = snw_block_sparse_at(x->cells, x->cell_of_seg[p->seg[k]],
                                                 x->cell_of_seg[p->seg[l]]);
                const int columns = columns_of_seg(e, p->seg[l]);
                for (int r = 0; r < 6; r++) {
                    for (int j = 0; j < parts; j++)
                        to[r * columns + j] += p->E[6 * k + r][12 * l + j];
                }
            }
        }
    }
}

static void add_straight(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 0; m->ntendon_segment && i < m->ntendon; i++) {
        for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint;
             k++) {
            snw_straight_matrix p;
            snw_straight_take(e, at, w, i, k, &p);
            for (int r = 0; p.acts && r < 6; r++) {
                for (int c = 0; c < 6; c++) {
                    const int on = p.seg[r / 3], by = p.seg[c / 3];
                    if (on > 0 && by > 0)
                        snw_mixed_add(e, snw_mixed_wrench_row(e, on, 3 + r % 3),
                                      snw_mixed_state(e, by, 3 + c % 3), p.E[r][c]);
                }
            }
        }
    }
}

// ---- factors and solutions ----------------------------------------------------------------------

// Products of a border with six unknowns for each touched segment and two for each straight one.
static double border_products(const snw_elimination *e, int touched, int straight) {
    const double size = 6.0 * touched + 2.0 * straight;
    return size * e->along_tree + size * size * size / 3;
}

snw_status snw_elimination_make_room(snw_elimination *e, const snw_work *w) {
    const snw_model *m = e->m;
    snw_mixed *x = &e->mixed;
    const int ns = w->is_static ? 6 : STATE, touched = count_touched(e, w, false);
    const bool fits =
        touched <= e->most_touched && m->ntendon_segment <= e->most_straight && e->nsliding == 0;
    if (fits && border_products(e, touched, m->ntendon_segment) < LEAST_PRODUCTS * m->nseg)
        return SNW_OK;
    if (x->ns != ns) {
        e->ns = ns;
        e->is_mixed = false, e->sign = 0; // the factors are lost
        SNW_TRY(mixed_create(e));
    } else if (count_touched(e, w, true) == 0) {
        return SNW_OK;
    }
    if (e->is_mixed) e->is_mixed = false, e->sign = 0;
    return couple(e, w);
}

snw_status snw_mixed_factor(snw_elimination *e, const snw_tangent_at *at, snw_work *w) {
    const snw_model *m = e->m;
    snw_mixed *x = &e->mixed;
    e->is_mixed = false;
    if (at->cq == 0 && at->cv == 0) return SNW_OK;
    const int touched = count_touched(e, w, false),
              straight = m->ntendon_segment ? snw_count_straight(e, at, w) : 0;
    const bool fits =
        touched <= e->most_touched && straight <= e->most_straight && !snw_sliding_acts(e, at, w);
    const snw_status otherwise = fits ? SNW_OK : SNW_E_SINGULAR;
    if (fits && border_products(e, touched, straight) < LEAST_PRODUCTS * m->nseg) return SNW_OK;
    e->ns = w->is_static ? 6 : STATE;
    if (x->ns != e->ns || !x->cells) return otherwise; // without room
    const int more = count_touched(e, w, true);
    const double products =
        snw_block_sparse_products(x->cells) +
        6.0 * more * (4 * snw_block_sparse_entries(x->cells) + 12.0 * more * more);
    if (more > e->most_touched || (fits && border_products(e, touched, straight) < products))
        return otherwise;
    e->is_mixed = true;
    snw_elimination_begin(e, at, w);
    snw_block_sparse_clear(x->cells);
    x->unit = typical_stiffness(e, at);
    for (int i = 1; i < m->nseg; i++) add_segment(e, at, i, w);
    add_touches(e);
    add_straight(e, at, w);
    snw_sliding_add(e, at, w);
    int negative = 0;
    if (snw_block_sparse_factor(x->cells, at->inertia ? &negative : NULL) != SNW_OK) {
        e->is_mixed = false;
        return otherwise;
    }
    e->sign = snw_block_sparse_sign(x->cells);
    e->negative = negative - 6 * (m->nseg - 1);
    e->is_definite = negative >= 0;
    return SNW_OK;
}

void snw_mixed_solve(snw_elimination *e, double *out) {
    const snw_model *m = e->m;
    const snw_mixed *x = &e->mixed;
    const int ns = e->ns;
    for (int i = 1; i < m->nseg; i++) {
        double *to = x->x + snw_block_sparse_first(x->cells, x->cell_of_seg[i]);
        memset(to, 0, (size_t)columns_of_seg(e, i) * sizeof *to);
        for (int r = 0; r < 6; r++) to[r] = -e->f[i].e[r];
    }
    for (int d = 0; d < m->nv + e->nfriction + 2 * e->nsliding; d++)
        x->x[snw_block_sparse_first(x->cells, x->cell_of_dof[d]) + x->at_dof[d]] =
            d < m->nv ? out[d] : 0;
    snw_block_sparse_solve(x->cells, x->x);
    for (int d = 0; d < m->nv; d++)
        out[d] = x->x[snw_block_sparse_first(x->cells, x->cell_of_dof[d]) + x->at_dof[d]];
    for (int k = 0; k < ns; k++) e->state[k] = 0; // the world does not move
    for (int i = 1; i < m->nseg; i++)
        memcpy(e->state + (size_t)i * (size_t)ns,
               x->x + snw_block_sparse_first(x->cells, x->cell_of_seg[i]),
               (size_t)ns * sizeof *e->state);
}
