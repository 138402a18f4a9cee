// SPDX-License-Identifier: MIT
//
// Order of the coordinates by subtrees, for the mass matrix by composite bodies and for forward
// dynamics by articulated bodies (theory.md 4.1), and the number of operations of each way, by
// which the model chooses.
//
// The columns of a subtree follow each other: those of a joint or rod, then those of what it
// carries. Of a rod they begin with what is carried at its tip, so that the columns of all that
// lies beyond a slice are contiguous, too.
#include "model/compile.h"

#include <math.h>

// Number of coordinates of the joint or rod that moves segment s relative to its parent.
static int own_columns(const snw_build *b, int s) {
    switch (b->seg[s].kind) {
    case SNW_SEG_WORLD:
    case SNW_SEG_POSE:
        return 0;
    case SNW_SEG_SCREW:
    case SNW_SEG_BALL:
    case SNW_SEG_FREE:
        return b->block[b->seg[s].item].n;
    case SNW_SEG_ROD:
        return b->rod[b->slice[b->seg[s].item].rod].ndof;
    }
    return 0;
}

// Are these slices of one rod?
static bool continues_rod(const snw_build *b, int s, int carrier) {
    return b->seg[s].kind == SNW_SEG_ROD && b->seg[carrier].kind == SNW_SEG_ROD &&
           b->slice[b->seg[s].item].rod == b->slice[b->seg[carrier].item].rod;
}

// ncolumn <- columns of each subtree; a slice has all those of its rod
static void count_columns(const snw_build *b, snw_subtree *t) {
    const int nseg = b->m->nseg;
    for (int s = nseg - 1; s > 0; s--) {
        const int c = t[s].carrier;
        if (t[s].own == 0) continue;
        t[s].ncolumn += t[s].own;
        t[c].ncolumn += t[s].ncolumn - (continues_rod(b, s, c) ? t[s].own : 0);
    }
}

// column <- first column of each subtree; next: scratch (nseg)
static void place_columns(const snw_build *b, snw_subtree *t, int *next) {
    const int nseg = b->m->nseg;
    for (int s = 1; s < nseg; s++) {
        const int c = t[s].carrier;
        if (t[s].own == 0) continue;
        const bool same = continues_rod(b, s, c);
        t[s].first = !same;
        t[s].column = same ? t[c].column : next[c];
        if (same) {
            next[c] +=
                t[s].ncolumn - t[s].own; // what lies beyond comes before what is carried here
        } else {
            next[c] += t[s].ncolumn;
        }
        next[s] = t[s].column + t[s].own;
    }
}

// ---- operations ---------------------------------------------------------------------------------

// A multiplication and an addition each count as one; what both ways share does not count.
typedef struct operations {
    double product;     // J' M J of the paths
    double composite;   // by composite bodies
    double paths;       // tangent by products of paths
    double subtrees;    // by rows of own coordinates
    double factor;      // dense Cholesky factorisation and a solution
    double articulated; // by articulated bodies
} operations;

static operations count_operations(const snw_build *b, const snw_subtree *t) {
    const snw_model *m = b->m;
    operations sum = {0};
    for (int s = 1; s < m->nseg; s++) {
        const double n = b->path[b->seg[s].path].n, own = t[s].own, all = t[s].ncolumn;
        if (b->seg[s].has_mass || b->seg[s].kind == SNW_SEG_ROD) sum.product += 6 * n * n;
        sum.product += 60 * n;
        if (own > 0 || b->seg[s].has_mass) sum.paths += 12 * n * n, sum.subtrees += 66 * n;
        if (own == 0) continue;
        if (t[s].first) sum.paths += 12 * n * (n - own);
        sum.subtrees += 66 * (all - own) + 12 * own * (n + all - own);
        sum.composite += 150 + 60 * own + (12 * own + 12) * all;
        sum.articulated += 300 + 150 * own + 12 * own * own;
        if (t[s].first) sum.articulated += own * own * own / 3;
    }
    const double n = m->nv;
    // with the calls of LAPACK and kinematics without rates
    sum.factor = 1000 + 100 * (double)m->nseg + n * n * n / 3 + 4 * n * n;
    return sum;
}

snw_status snw_build_subtrees(snw_build *b) {
    snw_model *m = b->m;
    const size_t nseg = (size_t)m->nseg;
    snw_subtree *t = snw_build_array(b, nseg, sizeof *t);
    int *next = snw_build_array(b, nseg, sizeof *next);
    int *dof = snw_build_array(b, (size_t)m->nv, sizeof *dof);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int s = 1; s < m->nseg; s++) {
        const int p = b->seg[s].parent;
        t[s].own = own_columns(b, s);
        t[s].carrier = t[p].own > 0 ? p : t[p].carrier;
        m->most_own = t[s].own > m->most_own ? t[s].own : m->most_own;
    }
    count_columns(b, t);
    place_columns(b, t, next);
    for (int s = 1; s < m->nseg; s++) {
        const snw_path *path = &b->path[b->seg[s].path];
        for (int k = 0; t[s].first && k < t[s].own; k++) {
            dof[t[s].column + k] = path->dof[path->n - t[s].own + k];
        }
    }
    m->subtree = t;
    m->column_dof = dof;
    // inertia of fluids and of material that moves along rods is not that of bodies, and their
    // forces on strains are rows of their own
    if (m->nfeed > 0 || m->ntube_piece > 0 || m->nfluid_point > 0) return SNW_OK;
    const operations n = count_operations(b, t);
    m->composite = n.composite < n.product;
    m->articulated =
        m->nconditional == 0 && n.articulated < fmin(n.composite, n.product) + n.factor;
    m->subtree_tangent = n.subtrees < n.paths;
    return SNW_OK;
}
