// SPDX-License-Identifier: MIT
//
// Newton's method for rods on rods.
//
// With a = d(pose, velocity, z) at a section that carries the base of a limb at h = g_section^-1
// g_base, that base moves by
//   p = J a + d:   zeta = Ad(h)^-1 zeta,  dV = Ad(h)^-1 dV,  dz+ = dz + (straight parts of tendons)
// with the defect d between the section and the first start of the limb. The limb answers with the
// wrench Z p + z at its base. There are n segments with a = Y b + y + P p (segments.h), so its tip,
// where b - Wa a = r, gives
//   b = X p + x,   X = (1 - Wa Y)^-1 Wa P,   x = (1 - Wa Y)^-1 (r + Wa y)
// and b at the base follows by back substitution through its segments, once for each column of p
// and once for the constants. On the carrying limb the wrench Ad(h)^-T (Z J a + z) is added to that
// of the station: at its tip to Wa and r, at a station between pieces to the variation and to the
// defect of the segment that ends there. Conditions of laws (lengths, volumes), which limbs fulfil
// whose unknown z belong to the base of the root, are carried along as linear functions of p.

#include "shoot/tree.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static void tree_place(void *object, snw_fields *f) {
    snw_tree *o = object;
    const size_t n = (size_t)o->n, rows = o->rows;
    SNW_TREE_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_tree_create(int n, const snw_limb_end *end, const snw_boundary_opts *opts,
                           snw_tree **out) {
    *out = NULL;
    size_t rows = 0;
    for (int i = 0; i < n; i++) rows += (size_t)end[i].rod->nnode * (SNW_SEGMENT_A + 6);
    snw_tree *t = snw_alloc(sizeof *t);
    if (!t) return SNW_E_MEMORY;
    t->n = n;
    t->rows = rows;
    t->opts = *opts;
    t->block = snw_fields_create(tree_place, t);
    if (!t->block) {
        snw_free(t);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        SNW_ASSERT(end[i].parent < i);
        t->limb[i].end = end[i];
        const snw_status s = snw_boundary_create(end[i].rod, opts, &t->limb[i].b);
        if (s == SNW_OK) continue;
        snw_tree_destroy(t);
        return s;
    }
    *out = t;
    return SNW_OK;
}

void snw_tree_destroy(snw_tree *t) {
    if (!t) return;
    for (int i = 0; i < t->n; i++) snw_boundary_destroy(t->limb[i].b);
    snw_free(t->block);
    snw_free(t);
}

void snw_tree_ready(snw_tree *t) {
    bool world = false, placed = false;
    for (int i = 0; i < t->n; i++) {
        world = world || t->limb[i].end.rod->world;
        placed = placed || t->limb[i].end.rod->placed;
    }
    for (int i = 0; i < t->n; i++) {
        t->limb[i].end.rod->world = world;
        t->limb[i].end.rod->placed = placed;
    }
}

static double tree_larger(double a, double b) { return b >= a || isnan(b) ? b : a; }

static snw_segments *segments_of(const snw_limb *l) { return l->b->segments; }

static const snw_shoot_branch *branch_of(const snw_tree *t, const snw_limb *l) {
    return &t->limb[l->end.parent].end.rod->branch[l->end.branch];
}

static int tree_nfree(const snw_tree *t) {
    const snw_shoot_law *law = t->limb[0].end.rod->law;
    return law ? law->nfree : 0;
}

static snw_limb *root_of(const snw_tree *t, const snw_limb *l) {
    int i = (int)(l - t->limb);
    while (t->limb[i].end.parent >= 0) i = t->limb[i].end.parent;
    return &t->limb[i];
}

// ---- time ---------------------------------------------------------------------------------------

void snw_tree_formula(snw_tree *t, snw_levels levels, double h) {
    for (int i = 0; i < t->n; i++) snw_shoot_formula(t->limb[i].end.rod, levels, h);
}

void snw_tree_accept(snw_tree *t, double h) {
    for (int i = 0; i < t->n; i++) {
        snw_shoot_accept(t->limb[i].end.rod, h);
        snw_boundary_accept(t->limb[i].b, h);
    }
}

void snw_tree_begin(snw_tree *t, bool rest, double h) {
    for (int i = 0; i < t->n; i++) snw_shoot_begin(t->limb[i].end.rod, rest, h);
    snw_tree_reset_guess(t);
}

void snw_tree_reset_guess(snw_tree *t) {
    for (int i = 0; i < t->n; i++) snw_boundary_reset_guess(t->limb[i].b);
    t->factored = false;
    t->secants = (snw_secants){0}; // they belong to the discarded factors
}

// ---- bases --------------------------------------------------------------------------------------

// unstretched length of a straight part, and its derivative by the tension
static double straight_length(const snw_shoot_straight *s, double T, double *d1) {
    const double stretch = 1 + s->compliance * (T > 0 ? T : 0);
    *d1 = T > 0 ? -s->length * s->compliance / (stretch * stretch) : 0;
    return s->length / stretch;
}

void snw_tree_carry(const snw_tree *t, int limb) {
    const snw_limb *l = &t->limb[limb];
    if (l->end.parent < 0) return;
    const snw_shoot_rod *from = t->limb[l->end.parent].end.rod;
    const snw_shoot_branch *h = branch_of(t, l);
    snw_shoot_rod *r = l->end.rod;
    const int node = from->piece[h->piece].node + from->piece[h->piece].n, nz = snw_shoot_nz(r);
    r->base = snw_se3_mul(from->g[node], h->g);
    r->base_V = snw_twist_add(snw_twist_to_child(h->g, from->V[node]), h->u);
    for (int k = 0; k < nz; k++) r->base_z[k] = from->z[node * nz + k];
    for (int k = 0; k < h->nstraight; k++) {
        double ignored;
        const int z = h->straight[k].z;
        r->base_z[z + 1] += straight_length(&h->straight[k], r->base_z[z], &ignored);
    }
}

// p <- motion of the base of a limb for the motion a of the section that carries it
static void limb_base_motion(const snw_tree *t, const snw_limb *l, const double *a, double *p) {
    const snw_segments *s = segments_of(l);
    const snw_shoot_branch *h = branch_of(t, l);
    double row[SNW_SHOOT_ROWS] = {0};
    snw_twist zeta, dV;
    for (int k = 0; k < s->na; k++) row[s->row[k]] = a[k];
    for (int k = 0; k < 6; k++) zeta.e[k] = row[SNW_ROW_G + k], dV.e[k] = row[SNW_ROW_V + k];
    zeta = snw_twist_to_child(h->g, zeta);
    dV = snw_twist_to_child(h->g, dV);
    for (int k = 0; k < 6; k++) row[SNW_ROW_G + k] = zeta.e[k], row[SNW_ROW_V + k] = dV.e[k];
    for (int k = 0; k < h->nstraight; k++) {
        double d1;
        const int z = h->straight[k].z;
        (void)straight_length(&h->straight[k], s->seg[0].start.z[z], &d1);
        row[SNW_ROW_Z + z + 1] += d1 * row[SNW_ROW_Z + z];
    }
    for (int k = 0; k < s->na; k++) p[k] = row[s->row[k]];
}

// segment of the parent behind the section that carries a limb; the number of segments: the tip
static int segment_behind(const snw_tree *t, const snw_limb *l) {
    return snw_segments_behind(segments_of(&t->limb[l->end.parent]), branch_of(t, l)->piece);
}

// l->defect <- base of a carried limb by its parent less its first start; returns the largest
// scaled
static double evaluate_base(snw_limb *l) {
    const snw_segments *s = segments_of(l);
    const snw_shoot_rod *r = s->r;
    const snw_shoot_state *start = &s->seg[0].start;
    snw_shoot_state base = {.g = r->base, .V = r->base_V, .F = start->F};
    double d[SNW_SEGMENT_A + 6], worst = 0;
    for (int i = 0; i < snw_shoot_nz(r); i++) base.z[i] = r->base_z[i];
    snw_segments_difference(s, &base, start, d);
    for (int i = 0; i < s->na; i++) {
        l->defect[i] = d[i];
        worst = tree_larger(worst, fabs(d[i]) / s->scale[i]);
    }
    return worst;
}

// ---- residual -----------------------------------------------------------------------------------

// conditions of the law that a limb fulfils, at its tip and at the base of its root
static double evaluate_conditions(const snw_tree *t, snw_limb *l) {
    const snw_shoot_law *law = l->end.rod->law;
    snw_limb *root = root_of(t, l);
    double residual[SNW_SHOOT_Z], jacobian[SNW_SHOOT_Z * 2 * SNW_SHOOT_Z], worst = 0;
    if (tree_nfree(t) == 0) return 0;
    law->close(law->user, snw_segments_tip(segments_of(l))->z, segments_of(root)->seg[0].start.z,
               residual, jacobian);
    for (int i = 0; i < law->nfree; i++) {
        if (!law->closes[i]) continue;
        root->closes[i] = true;
        root->condition[i] = residual[i];
        for (int k = 0; k < law->nz; k++) {
            l->by_tip[i][k] = jacobian[2 * law->nz * i + k];
            root->by_base[i][k] = jacobian[2 * law->nz * i + law->nz + k];
        }
        worst = tree_larger(worst, fabs(residual[i]));
    }
    return worst;
}

// residual of the wrench at the tip, scaled
static double evaluate_limb_tip(snw_limb *l) {
    const snw_segments *s = segments_of(l);
    const snw_shoot_state *tip = snw_segments_tip(s);
    const snw_wrench W = snw_station_wrench(s->r, s->r->npiece - 1, tip);
    double worst = 0;
    for (int i = 0; i < 6; i++) {
        l->residual[i] = W.e[i] - tip->F.e[i];
        worst = tree_larger(worst, fabs(l->residual[i]) / s->scale[s->na + i]);
    }
    return worst;
}

double snw_tree_march(snw_tree *t, bool derivatives, snw_boundary_info *info) {
    double worst = 0;
    info->marches++;
    info->tangents += derivatives;
    for (int i = 0; i < t->n; i++) {
        const snw_limb *l = &t->limb[i];
        if (l->end.parent < 0) continue;
        t->limb[l->end.parent].end.rod->branch[l->end.branch].F = segments_of(l)->seg[0].start.F;
    }
    for (int i = 0; i < t->n; i++) {
        snw_limb *l = &t->limb[i];
        snw_tree_carry(t, i);
        if (l->end.parent >= 0) worst = tree_larger(worst, evaluate_base(l));
        worst = tree_larger(worst, snw_segments_march(segments_of(l), derivatives));
        if (!isfinite(worst)) return NAN;
        worst = tree_larger(worst, evaluate_limb_tip(l));
        worst = tree_larger(worst, evaluate_conditions(t, l));
    }
    return worst;
}

// ---- elimination --------------------------------------------------------------------------------

// W (6 x na) <- wrench of a limb on the section that carries it, by the motion a of that section
static void limb_response(const snw_tree *t, const snw_limb *l, double (*W)[SNW_SEGMENT_A]) {
    const snw_segments *s = segments_of(l);
    for (int j = 0; j < s->na; j++) {
        double a[SNW_SEGMENT_A] = {0}, p[SNW_SEGMENT_A];
        a[j] = 1;
        limb_base_motion(t, l, a, p);
        snw_wrench F = snw_wrench_zero();
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < s->na; k++) F.e[i] += l->Z[i][k] * p[k];
        }
        F = snw_wrench_to_parent(branch_of(t, l)->g, F);
        for (int i = 0; i < 6; i++) W[i][j] = F.e[i];
    }
}

// l->Wa <- by the station at the tip
static void limb_tip_station(snw_limb *l) {
    const snw_segments *s = segments_of(l);
    double S[SNW_SHOOT_ROWS * 12] = {0}, dW[6][12];
    for (int i = 0; i < 12; i++) S[i * 12 + i] = 1;
    snw_station_vary(s->r, s->r->npiece - 1, snw_segments_tip(s), 12, S, &dW[0][0]);
    for (int i = 0; i < 6; i++) {
        for (int a = 0; a < s->na; a++) l->Wa[i][a] = s->row[a] < 12 ? dW[i][s->row[a]] : 0;
    }
}

// variations by the limbs that limb i carries
static void add_responses(snw_tree *t, int i) {
    snw_limb *l = &t->limb[i];
    for (int k = i + 1; k < t->n; k++) {
        if (t->limb[k].end.parent != i) continue;
        double W[6][SNW_SEGMENT_A];
        limb_response(t, &t->limb[k], W);
        const int behind = segment_behind(t, &t->limb[k]);
        if (behind < segments_of(l)->n) {
            snw_segments_add_branch(segments_of(l), behind - 1, W);
            continue;
        }
        for (int c = 0; c < 6; c++) {
            for (int a = 0; a < segments_of(l)->na; a++) l->Wa[c][a] += W[c][a];
        }
    }
}

// Motion a at the start of segment k (the tip if k is their number) with b there: for the unit
// parameter `column`, or, with column -1, for the defects, then of the end of the segment before.
static void limb_motion(const snw_segments *s, int k, int column, const double b[6], double *a) {
    const snw_segment *seg = &s->seg[k];
    for (int i = 0; i < s->na; i++) {
        a[i] = column < 0 ? seg->y[i] : seg->P[i][column];
        for (int j = 0; j < 6; j++) a[i] += seg->Y[i][j] * b[j];
        if (column < 0 && k < s->n) a[i] -= s->seg[k - 1].defect[i];
    }
}

// C (nfree) += conditions of the law of limb i and beyond, by the motion a where segment k starts
static void add_conditions(const snw_tree *t, int i, int k, bool constant, const double *a,
                           double *C) {
    const snw_limb *l = &t->limb[i];
    const snw_segments *s = segments_of(l);
    const int nz = snw_shoot_nz(s->r), nf = tree_nfree(t);
    for (int c = 0; c < nf && k == s->n; c++) {
        for (int z = 0; z < nz; z++) C[c] += l->by_tip[c][z] * a[s->na - nz + z];
    }
    for (int m = i + 1; m < t->n; m++) {
        const snw_limb *child = &t->limb[m];
        if (child->end.parent != i || segment_behind(t, child) != k) continue;
        double p[SNW_SEGMENT_A];
        limb_base_motion(t, child, a, p);
        for (int c = 0; c < nf; c++) {
            if (constant) C[c] += child->c[c];
            for (int j = 0; j < s->na; j++) C[c] += child->C[c][j] * p[j];
        }
    }
}

// From the tip of a limb, where the wrench varies by b, to its base: b <- there. C (nfree) <-
// variation of the conditions of the law. column as in limb_motion.
static void limb_sweep(const snw_tree *t, int i, int column, double b[6], double *C) {
    const snw_segments *s = segments_of(&t->limb[i]);
    const int nf = tree_nfree(t);
    for (int c = 0; c < nf; c++) C[c] = 0;
    for (int k = s->n; k >= 0; k--) {
        if (nf > 0 && k > 0) {
            double a[SNW_SEGMENT_A];
            limb_motion(s, k, column, b, a);
            add_conditions(t, i, k, column < 0, a, C);
        }
        if (k == 0) break;
        const snw_segment *seg = &s->seg[k - 1];
        for (int j = 0; j < 6; j++) b[j] -= column < 0 ? seg->m[j] : seg->Mp[j][column];
        snw_lu_solve(6, seg->M, seg->pivot, b);
    }
}

static snw_status factor_limb(snw_tree *t, int i) {
    snw_limb *l = &t->limb[i];
    snw_segments *s = segments_of(l);
    limb_tip_station(l);
    add_responses(t, i);
    SNW_TRY(snw_segments_factor(s));
    s->factored = false; // until the tip equations are factorised
    const snw_segment *tip = snw_segments_relation(s);
    for (int r = 0; r < 6; r++) {
        for (int j = 0; j < 6; j++) {
            double x = r == j;
            for (int a = 0; a < s->na; a++) x -= l->Wa[r][a] * tip->Y[a][j];
            l->closing[6 * j + r] = x;
            if (!isfinite(x)) return SNW_E_SINGULAR;
        }
    }
    SNW_TRY(snw_lu_factor(6, l->closing, l->pivot));
    for (int j = 0; j < snw_segments_parameters(s); j++) {
        double b[6] = {0}, C[SNW_SHOOT_Z];
        for (int r = 0; r < 6; r++) {
            for (int a = 0; a < s->na; a++) b[r] += l->Wa[r][a] * tip->P[a][j];
        }
        snw_lu_solve(6, l->closing, l->pivot, b);
        for (int r = 0; r < 6; r++) l->X[r][j] = b[r];
        limb_sweep(t, i, j, b, C);
        for (int r = 0; r < 6; r++) l->Z[r][j] = b[r];
        for (int c = 0; c < tree_nfree(t); c++) l->C[c][j] = C[c];
    }
    s->factored = true;
    return SNW_OK;
}

// equations of the unknown z of a root; z of tendons in other trees do not change
static snw_status factor_root(const snw_tree *t, snw_limb *l) {
    const snw_shoot_law *law = l->end.rod->law;
    const int nf = tree_nfree(t);
    if (nf == 0) return SNW_OK;
    for (int i = 0; i < nf; i++) {
        for (int j = 0; j < nf; j++) {
            const double x = l->closes[i] ? l->C[i][j] + l->by_base[i][law->free[j]] : i == j;
            l->root[nf * j + i] = x;
            if (!isfinite(x)) return SNW_E_SINGULAR;
        }
    }
    return snw_lu_factor(nf, l->root, l->root_pivot);
}

snw_status snw_tree_factor(snw_tree *t) {
    t->factored = false;
    for (int i = t->n - 1; i >= 0; i--) {
        SNW_TRY(factor_limb(t, i));
        if (t->limb[i].end.parent < 0) SNW_TRY(factor_root(t, &t->limb[i]));
    }
    t->factored = true;
    t->c0 = t->limb[0].end.rod->formula.c[0];
    return SNW_OK;
}

// x, z and c of a limb <- from the defects of the last march, with its carrier at rest
static void condense_limb(snw_tree *t, int i) {
    snw_limb *l = &t->limb[i];
    snw_segments *s = segments_of(l);
    double b[6];
    memcpy(b, l->residual, sizeof b);
    for (int k = 0; k < s->n; k++) memset(s->seg[k].jump, 0, sizeof s->seg[k].jump);
    for (int k = i + 1; k < t->n; k++) {
        const snw_limb *child = &t->limb[k];
        if (child->end.parent != i) continue;
        snw_wrench F;
        for (int r = 0; r < 6; r++) F.e[r] = child->z[r];
        F = snw_wrench_to_parent(branch_of(t, child)->g, F);
        const int behind = segment_behind(t, child);
        double *to = behind < s->n ? s->seg[behind - 1].jump : b;
        for (int r = 0; r < 6; r++) to[r] += F.e[r];
    }
    snw_segments_condense(s);
    const snw_segment *tip = snw_segments_relation(s);
    for (int r = 0; r < 6; r++) {
        for (int a = 0; a < s->na; a++) b[r] += l->Wa[r][a] * tip->y[a];
    }
    snw_lu_solve(6, l->closing, l->pivot, b);
    memcpy(l->x, b, sizeof b);
    limb_sweep(t, i, -1, b, l->c);
    memcpy(l->z, b, sizeof b);
    // the defect of the base is part of its motion
    for (int k = 0; k < s->na && l->end.parent >= 0; k++) {
        for (int r = 0; r < 6; r++) l->z[r] += l->Z[r][k] * l->defect[k];
        for (int c = 0; c < tree_nfree(t); c++) l->c[c] += l->C[c][k] * l->defect[k];
    }
}

// parameters of a root
static void solve_root(const snw_tree *t, snw_limb *l) {
    const int nf = tree_nfree(t);
    for (int i = 0; i < nf; i++) l->p[i] = l->closes[i] ? -l->condition[i] - l->c[i] : 0;
    if (nf > 0) snw_lu_solve(nf, l->root, l->root_pivot, l->p);
}

// size of a limb's increment
static int limb_rows(const snw_limb *l) { return segments_of(l)->n * (segments_of(l)->na + 6); }

// delta <- increments of the starts of limb i, whose parameters are known; then the parameters of
// the limbs it carries
static void solve_limb(snw_tree *t, int i, double *delta) {
    snw_limb *l = &t->limb[i];
    const snw_segments *s = segments_of(l);
    const int np = snw_segments_parameters(s);
    double b[6];
    for (int r = 0; r < 6; r++) {
        b[r] = l->x[r];
        for (int j = 0; j < np; j++) b[r] += l->X[r][j] * l->p[j];
    }
    snw_segments_solution(s, b, l->p, delta);
    for (int k = i + 1; k < t->n; k++) {
        snw_limb *child = &t->limb[k];
        if (child->end.parent != i) continue;
        const int behind = segment_behind(t, child);
        double a[SNW_SEGMENT_A];
        if (behind == s->n) {
            limb_motion(s, behind, -1, b, a);
            for (int r = 0; r < s->na; r++) {
                for (int j = 0; j < np; j++) a[r] += s->seg[behind].P[r][j] * l->p[j];
            }
        } else {
            const double *start = delta + (ptrdiff_t)behind * (s->na + 6);
            for (int r = 0; r < s->na; r++) a[r] = start[r] - s->seg[behind - 1].defect[r];
        }
        limb_base_motion(t, child, a, child->p);
        for (int r = 0; r < s->na; r++) child->p[r] += child->defect[r];
    }
}

void snw_tree_increment(snw_tree *t) {
    for (int i = t->n - 1; i >= 0; i--) condense_limb(t, i);
    double *delta = t->delta;
    for (int i = 0; i < t->n; i++) {
        snw_limb *l = &t->limb[i];
        if (l->end.parent < 0) solve_root(t, l);
        solve_limb(t, i, delta);
        delta += limb_rows(l);
    }
}

// ---- Newton iteration ---------------------------------------------------------------------------

// Secants of previous steps remain valid while the factors are kept.
static void tree_begin_secants(snw_tree *t, bool have) {
    int n = 0;
    for (int i = 0; i < t->n; i++) n += limb_rows(&t->limb[i]);
    snw_secants_pause(&t->secants);
    if (have && t->secants.n == n) return;
    double *w = t->weight;
    for (int i = 0; i < t->n; i++) w = snw_segments_weights(segments_of(&t->limb[i]), w);
    t->secants = snw_secants_on(n, SNW_BOUNDARY_SECANTS, t->weight, t->memory);
}

static double tree_residual(void *user, bool derivatives, snw_boundary_info *info) {
    return snw_tree_march(user, derivatives, info);
}

static snw_status tree_refactor(void *user) { return snw_tree_factor(user); }

static void tree_correct(void *user) {
    snw_tree *t = user;
    snw_tree_increment(t);
    snw_secants_next(&t->secants, t->delta);
}

static void tree_save(void *user) {
    const snw_tree *t = user;
    for (int i = 0; i < t->n; i++) snw_boundary_save(t->limb[i].b);
}

static void tree_restore(void *user) {
    const snw_tree *t = user;
    for (int i = 0; i < t->n; i++) snw_boundary_restore(t->limb[i].b);
}

static void tree_move(void *user, double size) {
    const snw_tree *t = user;
    const double *delta = t->delta;
    for (int i = 0; i < t->n; i++) {
        snw_segments_move(segments_of(&t->limb[i]), delta, size);
        delta += limb_rows(&t->limb[i]);
    }
}

snw_status snw_tree_solve(snw_tree *t, snw_boundary_info *info) {
    *info = (snw_boundary_info){0};
    bool have = t->opts.keep && t->factored && t->c0 == t->limb[0].end.rod->formula.c[0];
    for (int i = 0; i < t->n; i++) {
        snw_boundary_begin(t->limb[i].b);
        have = have && segments_of(&t->limb[i])->factored;
    }
    tree_begin_secants(t, have);
    const snw_kept_newton newton = {.user = t,
                                    .tol = t->opts.tol,
                                    .max_iter = t->opts.max_iter,
                                    .secants = &t->secants,
                                    .have = have,
                                    .march = tree_residual,
                                    .factor = tree_refactor,
                                    .increment = tree_correct,
                                    .save = tree_save,
                                    .move = tree_move,
                                    .restore = tree_restore};
    const snw_status status = snw_kept_newton_solve(&newton, info);
    for (int i = 0; i < t->n && status == SNW_OK; i++) {
        snw_tree_carry(t, i);
        snw_shoot_poses(t->limb[i].end.rod);
    }
    return status;
}
