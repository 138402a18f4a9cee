// SPDX-License-Identifier: MIT
//
// Order of the coordinates by subtrees, for the mass matrix by composite bodies, for forward
// dynamics by articulated bodies and for tangents of long chains (theory.md 4.1), and the number of
// operations of each way, by which the model chooses. The columns of a subtree follow each other:
// those of a joint, then those of what it carries.
//
// Only for open trees without coordinates of rods. The own column of a slice may be large where
// that of the node, a sum over slices, is small, and sums along the tree would lose digits which
// products of whole paths keep; momenta of closed robots keep more digits with them, too.
#include "model/compile.h"

#include <math.h>

// Number of coordinates of the joint that moves segment s relative to its parent.
static int own_columns(const snw_build *b, int s) {
    const snw_seg_kind kind = b->seg[s].kind;
    const bool joint = kind == SNW_SEG_SCREW || kind == SNW_SEG_BALL || kind == SNW_SEG_FREE;
    return joint ? b->block[b->seg[s].item].n : 0;
}

// ncolumn <- columns of each subtree
static void count_columns(int nseg, snw_subtree *t) {
    for (int s = nseg - 1; s > 0; s--) {
        if (t[s].own == 0) continue;
        t[s].ncolumn += t[s].own;
        t[t[s].carrier].ncolumn += t[s].ncolumn;
    }
}

// column <- first column of each subtree; next: scratch (nseg)
static void place_columns(int nseg, snw_subtree *t, int *next) {
    for (int s = 1; s < nseg; s++) {
        const int c = t[s].carrier;
        if (t[s].own == 0) continue;
        t[s].column = next[c];
        next[c] += t[s].ncolumn;
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
        if (b->seg[s].has_mass) sum.product += 6 * n * n;
        sum.product += 60 * n;
        if (own > 0 || b->seg[s].has_mass) sum.paths += 12 * n * n, sum.subtrees += 66 * n;
        if (own == 0) continue;
        sum.paths += 12 * n * (n - own);
        sum.subtrees += 66 * (all - own) + 12 * own * (n + all - own);
        sum.composite += 150 + 60 * own + (12 * own + 12) * all;
        sum.articulated += 300 + 150 * own + 12 * own * own + own * own * own / 3;
    }
    const double n = m->nv;
    // with the calls of LAPACK and kinematics without rates
    sum.factor = 1000 + 100 * (double)m->nseg + n * n * n / 3 + 4 * n * n;
    return sum;
}

// Are there loops, coordinates of rods, or inertia that is not that of bodies: of fluids, of
// material that moves along rods?
static bool needs_paths(const snw_build *b) {
    bool any =
        b->m->nloop > 0 || b->m->nfeed > 0 || b->m->ntube_piece > 0 || b->m->nfluid_point > 0;
    for (int i = 0; i < b->m->nrod; i++) any |= b->rod[i].ndof > 0;
    return any;
}

snw_status snw_build_subtrees(snw_build *b) {
    snw_model *m = b->m;
    const size_t nseg = (size_t)m->nseg;
    if (needs_paths(b)) return SNW_OK;
    snw_subtree *t = snw_build_array(b, nseg, sizeof *t);
    int *next = snw_build_array(b, nseg, sizeof *next);
    int *dof = snw_build_array(b, (size_t)m->nv, sizeof *dof);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int s = 1; s < m->nseg; s++) {
        const int p = b->seg[s].parent;
        t[s].own = own_columns(b, s);
        t[s].carrier = t[p].own > 0 ? p : t[p].carrier;
    }
    count_columns(m->nseg, t);
    place_columns(m->nseg, t, next);
    for (int s = 1; s < m->nseg; s++) {
        for (int k = 0; k < t[s].own; k++) dof[t[s].column + k] = b->block[b->seg[s].item].dof + k;
    }
    m->subtree = t;
    m->column_dof = dof;
    const operations n = count_operations(b, t);
    m->composite = n.composite < n.product;
    m->articulated =
        m->nconditional == 0 && n.articulated < fmin(n.composite, n.product) + n.factor;
    m->subtree_tangent = n.subtrees < n.paths;
    return SNW_OK;
}
