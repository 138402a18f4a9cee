// SPDX-License-Identifier: MIT
//
// Each body on wheels passes to its parent only the component of its wrench along the motions that
// its wheels allow, in the Euclidean metric of its body frame,
//   F_j <- (1 - sum c c'/c'c) (own_j + sum over children of their F),   tau_j = S'F_j
// Wheel reactions are dropped, so a wrench remains on the base and the energy balance does not
// close.

#include "oracle/projective.h"

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

static const snw_block *block_of(const snw_model *m, int dof) {
    int i = 0;
    while (i + 1 < m->nblock && m->block[i + 1].dof <= dof) i++;
    return &m->block[i];
}

static double dot(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += a[i] * b[i];
    return sum;
}

// one more orthonormal vector of the span of rows; n of them so far
static int orthogonalise(snw_wrench c, int n, double basis[6][6]) {
    double x[6];
    for (int e = 0; e < 6; e++) x[e] = c.e[e];
    const double size = sqrt(dot(x, x));
    for (int b = 0; b < n; b++) {
        const double part = dot(basis[b], x);
        for (int e = 0; e < 6; e++) x[e] -= part * basis[b][e];
    }
    const double left = sqrt(dot(x, x));
    if (!(left > 1e-9 * size)) return n;
    for (int e = 0; e < 6; e++) basis[n][e] = x[e] / left;
    return n + 1;
}

// F <- F without its components along the contact rows of body i
static void project(const snw_model *m, const snw_work *w, int i, snw_wrench *F) {
    double basis[6][6];
    int n = 0;
    for (int k = 0; k < m->nloop; k++) {
        const snw_loop *l = &m->loop[k];
        if (!l->nonholonomic || body_of(m, l->b) != i || !snw_is_active(w, l->condition)) continue;
        for (int r = 0; r < l->nrow && n < 6; r++) {
            n = orthogonalise(snw_wrench_to_child(w->g[i], snw_loop_row(m, w, k, r)), n, basis);
        }
    }
    for (int b = 0; b < n; b++) {
        const double part = dot(basis[b], F->e);
        for (int e = 0; e < 6; e++) F->e[e] -= part * basis[b][e];
    }
}

void oracle_projective(const snw_model *m, const snw_inputs *in, snw_state *s, snw_work *w,
                       snw_wrench *P, double *tau) {
    for (int i = 0; i < m->nconstraint; i++) s->lambda[i] = tau[i] = 0;
    snw_residual(m, in, s, false, w);
    // own wrench of each body
    for (int i = 0; i < m->nseg; i++) P[i] = w->F[i];
    for (int i = m->nseg - 1; i > 0; i--) {
        const int p = m->seg[i].parent;
        P[p] = snw_wrench_sub(P[p], snw_wrench_to_parent(w->h[i], w->F[i]));
    }
    for (int i = m->nseg - 1; i > 0; i--) {
        const int p = m->seg[i].parent;
        project(m, w, i, &P[i]);
        P[p] = snw_wrench_add(P[p], snw_wrench_to_parent(w->h[i], P[i]));
    }
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row < 0) continue;
        const snw_block *block = block_of(m, d->dof);
        SNW_ASSERT(m->seg[block->seg].kind == SNW_SEG_SCREW);
        tau[d->row] = snw_power(P[block->seg], block->S);
    }
}
