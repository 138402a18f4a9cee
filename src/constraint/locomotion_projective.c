// SPDX-License-Identifier: MIT
//
// Torques of the projective form of Ali 2011 (3.73 to 3.85), for comparison with the thesis: each
// body on wheels passes to its parent only the component of its wrench along the motions that its
// wheels allow, in the Euclidean metric of its body frame,
//   F_j <- (1 - sum c c'/c'c) (own_j + sum over children of their F),   tau_j = S'F_j
// Wheel reactions are dropped, so a wrench remains on the base and the energy balance does not
// close. The formula covers rigid bodies on wheels and torques about single axes; other models are
// refused.

#include "constraint/locomotion_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"

#include <math.h>

// the body that carries a wheel: sites are segments without mass, rigidly attached
static int body_of(const snw_model *m, int seg) {
    while (m->seg[seg].kind == SNW_SEG_POSE && !m->seg[seg].has_mass && m->seg[seg].parent > 0) {
        seg = m->seg[seg].parent;
    }
    return seg;
}

// blocks are in the order of their coordinates
static const snw_block *block_of(const snw_model *m, int dof) {
    int low = 0, high = m->nblock - 1;
    while (low < high) {
        const int mid = (low + high + 1) / 2;
        if (m->block[mid].dof <= dof) {
            low = mid;
        } else {
            high = mid - 1;
        }
    }
    return &m->block[low];
}

static snw_status fail_unsupported(const char *what, const char *name, snw_error *err) {
    return snw_fail(err, SNW_E_MODEL,
                    "'torques: projective' supports rigid bodies on wheels and drives of single "
                    "axes, not %s ('%s'), whose forces it would drop; use 'torques: distributive'",
                    what, name);
}

// does a segment move?
static bool projective_moves(const snw_model *m, int seg) {
    for (; seg > 0; seg = m->seg[seg].parent) {
        if (m->seg[seg].kind != SNW_SEG_POSE) return true;
    }
    return false;
}

snw_status snw_locomotion_projective_check(const snw_model *m, snw_error *err) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *l = &m->loop[i];
        const char *name = m->desc->loop[i].name;
        if (l->nrow == 0) continue;
        if (!l->nonholonomic) return fail_unsupported("loops", name, err);
        const bool on_rod = l->sliding_station > 0 || m->seg[body_of(m, l->b)].kind == SNW_SEG_ROD;
        if (on_rod) return fail_unsupported("contacts on rods", name, err);
        if (projective_moves(m, l->a))
            return fail_unsupported("contacts with moving bodies", name, err);
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || m->seg[block_of(m, d->dof)->seg].kind == SNW_SEG_SCREW) continue;
        return fail_unsupported("drives of strains, or of joints with several coordinates",
                                m->desc->motor[d->motor].name, err);
    }
    return SNW_OK;
}

void snw_locomotion_list_bodies(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    lo->next_row = lo->first_row + m->nseg;
    for (int i = 0; i < m->nseg; i++) lo->first_row[i] = -1;
    for (int k = lo->nr + lo->npassive - 1; k >= 0; k--) {
        const int loop = lo->row[k].loop;
        if (loop < 0 || !m->loop[loop].nonholonomic) continue;
        const int body = body_of(m, m->loop[loop].b);
        lo->next_row[k] = lo->first_row[body];
        lo->first_row[body] = k;
    }
}

static double projective_dot(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += a[i] * b[i];
    return sum;
}

// F <- F without its components along the contact rows of body i
static void projective_project(const snw_locomotion *lo, int i, snw_wrench *F) {
    double basis[6][6];
    int n = 0;
    for (int k = lo->first_row[i]; k >= 0 && n < 6; k = lo->next_row[k]) {
        const snw_locomotion_row *row = &lo->row[k];
        if (!snw_is_active(lo->w, lo->m->loop[row->loop].condition)) continue;
        const snw_wrench c =
            snw_wrench_to_child(lo->w->g[i], snw_loop_row(lo->m, lo->w, row->loop, row->r));
        double x[6];
        for (int e = 0; e < 6; e++) x[e] = c.e[e];
        const double size = sqrt(projective_dot(x, x));
        for (int b = 0; b < n; b++) {
            const double part = projective_dot(basis[b], x);
            for (int e = 0; e < 6; e++) x[e] -= part * basis[b][e];
        }
        const double left = sqrt(projective_dot(x, x));
        if (!(left > 1e-9 * size)) continue;
        for (int e = 0; e < 6; e++) basis[n][e] = x[e] / left;
        n++;
    }
    for (int b = 0; b < n; b++) {
        const double part = projective_dot(basis[b], F->e);
        for (int e = 0; e < 6; e++) F->e[e] -= part * basis[b][e];
    }
}

void snw_locomotion_projective(snw_locomotion *lo, const snw_inputs *in, snw_state *s) {
    const snw_model *m = lo->m;
    snw_wrench *P = lo->transmitted;
    for (int i = 0; i < m->nconstraint; i++) s->lambda[i] = 0;
    snw_residual(m, in, s, false, lo->w);
    // own wrench of each body
    for (int i = 0; i < m->nseg; i++) P[i] = lo->w->F[i];
    for (int i = m->nseg - 1; i > 0; i--) {
        const int p = m->seg[i].parent;
        P[p] = snw_wrench_sub(P[p], snw_wrench_to_parent(lo->w->h[i], lo->w->F[i]));
    }
    for (int i = m->nseg - 1; i > 0; i--) {
        const int p = m->seg[i].parent;
        projective_project(lo, i, &P[i]);
        P[p] = snw_wrench_add(P[p], snw_wrench_to_parent(lo->w->h[i], P[i]));
    }
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row < 0) continue;
        const snw_block *block = block_of(m, d->dof);
        if (m->seg[block->seg].kind != SNW_SEG_SCREW) continue;
        s->lambda[d->row] = snw_power(P[block->seg], block->S);
    }
    snw_forces(m, in, s, false, lo->w);
}
