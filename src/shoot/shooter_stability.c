// SPDX-License-Identifier: MIT
//
// Stability of equilibria from their fields, without a strain basis (theory.md 10.7).
//
// Near an equilibrium of a clamped rod under conservative loads, the second variation of the energy
// is
//   E = 1/2 int eps' K eps ds + (terms of the carried wrench and of dead loads).
// Its eigenvalues lambda relative to the elastic energy, K_T x = lambda K x, decide on stability:
// the equilibrium is unstable if one is negative. The number of eigenvalues below sigma is the
// number of negative eigenvalues of K_T - sigma K. The Jacobi equations of that form are linear in
// the variations of pose, zeta, and wrench, dF:
//   zeta' = -ad_xi zeta + eps,   dF' = ad_xi' dF + ad_eps' F - dPhi(zeta),
//   eps = (K_t - sigma K)^-1 dF                                                   (10.6)
// The part of the rod beyond a section responds to zeta by dF = P zeta; at the tip P is that of the
// load. An interval maps [zeta; dF] to [A B; G D] [zeta; dF]. The choice of dF at its start is a
// choice of the strain in it, so the pivot of the form is Q = B' (D - P B), which is symmetric, and
// elimination leaves P <- (D - P B)^-1 (P A - G) for the previous interval (10.7). By Sylvester's
// law of inertia the negative eigenvalues of all Q together are those of the form.
//
// For legs joined by a plate, the negative eigenvalues are those of the plate's stiffness, to which
// each leg is condensed, and those of each leg with its joint fixed (Haynsworth's formula): then dF
// = -P zeta at the tip, with P stiff in the constrained motions. The plate alone does not suffice:
// its eigenvalue jumps from minus to plus infinity where a leg with fixed ends buckles.

#include "shoot/shooter_private.h"

#include "solve/dense.h"

#include <math.h>
#include <string.h>

typedef double block[6][6];
// Acts on (zeta, dF).
typedef struct form {
    double e[12][12];
} form;

enum { ROOM = 512 }; // scratch for six eigenvalues; an arena that is too small stops the program

// ---- coefficients -------------------------------------------------------------------------------

static bool stability_is_zero(snw_vec3 x) { return x.x == 0 && x.y == 0 && x.z == 0; }

// Are all loads dead forces? Torques and follower forces have no energy.
static bool rod_loads_are_conservative(const snw_shoot_rod *r) {
    if (r->field) return false; // fields have no place in (10.6)
    for (int p = 0; p < r->npiece; p++) {
        for (int i = 0; i < r->station[p].nload; i++) {
            const snw_shoot_load *l = &r->station[p].load[i];
            if (l->body || !stability_is_zero(l->W.m)) return false;
        }
    }
    for (int p = 0; r->density && p < r->npoint; p++) {
        const snw_shoot_density *d = &r->density[p];
        if (!stability_is_zero(d->torque) || !stability_is_zero(d->body.m) ||
            !stability_is_zero(d->body.f))
            return false;
    }
    return true;
}

static bool is_conservative(const snw_shooter *e) {
    for (int l = 0; l < e->nleg; l++) {
        if (!rod_loads_are_conservative(e->leg[l].r)) return false;
    }
    // a given length or volume is a constraint, for which the form is a different one
    for (int i = 0; i < e->ntendon; i++) {
        const snw_shoot_tendon *tendon = &e->leg[0].tendons.tendon[i];
        if (tendon->given != SNW_SHOOT_TENDON_EFFORT) return false;
        if (snw_shoot_tendon_has_friction(tendon) && tendon->sliding != 0)
            return false; // friction has no energy
    }
    return true;
}

// S (6 x 6, in rows) <- its inverse on the active strains, zero elsewhere
static bool stability_invert(const snw_shoot_rod *r, block S) {
    int at[6], n = 0, pivot[6];
    for (int i = 0; i < 6; i++) {
        if (r->active[i]) at[n++] = i;
    }
    double A[36];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) A[n * j + i] = S[at[i]][at[j]];
    }
    if (n > 0 && snw_lu_factor(n, A, pivot) != SNW_OK) return false;
    memset(S, 0, sizeof(block));
    for (int j = 0; j < n; j++) {
        double x[6] = {0};
        x[j] = 1;
        snw_lu_solve(n, A, pivot, x);
        for (int i = 0; i < n; i++) S[at[i]][at[j]] = x[i];
    }
    return true;
}

// C <- (K_t - sigma K)^-1 at a node; K_t: stiffness of rod, tendons and chambers together
static bool stability_compliance(const snw_shoot_rod *r, int node, int point, double sigma,
                                 block C) {
    const ptrdiff_t at = r->uniform ? 0 : point;
    const double *K = r->K + 36 * at;
    for (int i = 0; i < 36; i++) C[i / 6][i % 6] = K[i];
    if (r->law) {
        const int nz = r->law->nz;
        const snw_law_in in = {.point = point,
                               .F = r->F[node],
                               .eh = snw_twist_zero(),
                               .z = r->z + (ptrdiff_t)node * nz,
                               .zh = r->zh + (ptrdiff_t)point * nz,
                               .section = &r->section[at]};
        snw_law_out out;
        r->law->strain(r->law->user, &in, true, &out);
        for (int i = 0; i < 36; i++) C[i / 6][i % 6] = out.D[i / 6][i % 6];
        if (!stability_invert(r, C)) return false;
    }
    for (int i = 0; i < 36; i++) C[i / 6][i % 6] -= sigma * K[i];
    return stability_invert(r, C);
}

// Change of the distributed dead loads and weight, in body axes, for a rotation theta of the
// section.
static snw_wrench load_variation(const snw_shoot_rod *r, int node, int point, snw_vec3 theta) {
    const snw_inertia *M = &r->section[r->uniform ? 0 : point].M;
    const snw_mat3 R = r->g[node].R;
    const snw_vec3 weight = snw_cross(snw_rotate_inv(R, r->gravity), theta);
    snw_wrench W = {{.m = snw_cross(M->mc, weight), .f = snw_scale(M->m, weight)}};
    if (r->density) {
        const snw_vec3 f = snw_rotate_inv(R, r->density[point].force);
        W.f = snw_add(W.f, snw_cross(f, theta));
    }
    return W;
}

// H <- coefficients of the Jacobi equations at a node; `same`: the compliance of all nodes, or NULL
static bool stability_coefficients(const snw_shoot_rod *r, int piece, int node, double sigma,
                                   const block *same, form *H) {
    const int point = r->piece[piece].point + (node - r->piece[piece].node) * r->method->np;
    const snw_shoot_section *s = &r->section[r->uniform ? 0 : point];
    const snw_twist xi = snw_twist_add(s->rest, r->level[0][node].e);
    block own;
    if (!same && !stability_compliance(r, node, point, sigma, own)) return false;
    const block *C = same ? same : (const block *)&own;
    for (int k = 0; k < 6; k++) {
        snw_twist unit = snw_twist_zero(), eps;
        snw_wrench along = snw_wrench_zero(), loads = snw_wrench_zero();
        unit.e[k] = along.e[k] = 1;
        for (int i = 0; i < 6; i++) eps.e[i] = (*C)[i][k];
        const snw_twist rotated = snw_ad(xi, unit);
        if (k < 3) loads = load_variation(r, node, point, unit.w);
        along = snw_wrench_add(snw_ad_pull(xi, along), snw_ad_pull(eps, r->F[node]));
        for (int i = 0; i < 6; i++) {
            H->e[i][k] = -rotated.e[i];
            H->e[i][6 + k] = eps.e[i];
            H->e[6 + i][k] = -loads.e[i];
            H->e[6 + i][6 + k] = along.e[i];
        }
    }
    return true;
}

// ---- one interval -------------------------------------------------------------------------------

// A (1 + h B)
static form compose(const form *A, double h, const form *B) {
    form out;
    for (int i = 0; i < 12; i++) {
        double sum[12] = {0};
        for (int k = 0; k < 12; k++) {
            for (int j = 0; j < 12; j++) sum[j] += A->e[i][k] * B->e[k][j];
        }
        for (int j = 0; j < 12; j++) out.e[i][j] = A->e[i][j] + h * sum[j];
    }
    return out;
}

// Transition matrix of the Jacobi equations over an interval of length h, by the classical
// Runge-Kutta method.
static form stability_transition(const form *H0, const form *Hm, const form *H1, double h) {
    const form k2 = compose(Hm, 0.5 * h, H0), k3 = compose(Hm, 0.5 * h, &k2),
               k4 = compose(H1, h, &k3);
    form S;
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 12; j++) {
            S.e[i][j] =
                (i == j) + h / 6 * (H0->e[i][j] + 2 * (k2.e[i][j] + k3.e[i][j]) + k4.e[i][j]);
        }
    }
    return S;
}

// Number of negative eigenvalues of the symmetric part of A (n x n).
static int count_negative(int n, const double *A) {
    double B[36], one[36] = {0}, lambda[6], room[ROOM];
    for (int i = 0; i < n * n; i++) B[i] = 0.5 * (A[i] + A[n * (i % n) + i / n]);
    if (snw_cholesky_factor(n, B) == SNW_OK) return 0;
    for (int i = 0; i < n * n; i++) B[i] = 0.5 * (A[i] + A[n * (i % n) + i / n]);
    for (int i = 0; i < n; i++) one[(n + 1) * i] = 1;
    snw_arena scratch = {.base = (unsigned char *)room, .size = sizeof room};
    if (snw_eigen_symmetric(n, B, one, false, &scratch, lambda) != SNW_OK) return 0;
    int count = 0;
    for (int i = 0; i < n; i++) count += lambda[i] < 0;
    return count;
}

// Negative eigenvalues of Q = B' M, where `sign` is that of det M. The block of the active strains
// suffices: the contribution of the others, forces that reach the strain only through the end of
// the interval, is of higher order in its length and positive. Where an eigenvalue is so close to
// zero that it matters, the determinant decides, since det B' is positive.
static int negative_pivots(const snw_shoot_rod *r, const form *S, double M[6][6], int sign) {
    int at[6], n = 0;
    double Q[36];
    for (int i = 0; i < 6; i++) {
        if (r->active[i]) at[n++] = i;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            // moments are scaled by force times length
            const double scale = (at[i] < 3 ? r->length : 1) * (at[j] < 3 ? r->length : 1);
            Q[n * j + i] = 0;
            for (int k = 0; k < 6; k++) {
                Q[n * j + i] += scale * S->e[k][6 + at[i]] * M[k][at[j]];
            }
        }
    }
    const int count = count_negative(n, Q);
    return count + ((count % 2 != 0) != (sign < 0));
}

// P <- from the end of an interval to its start; *count += negative eigenvalues of its pivot
static bool stability_eliminate(const snw_shoot_rod *r, const form *S, block P, int *count) {
    block M, N;
    double A[36];
    int pivot[6];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            M[i][j] = S->e[6 + i][6 + j];
            N[i][j] = -S->e[6 + i][j];
            for (int k = 0; k < 6; k++) {
                M[i][j] -= P[i][k] * S->e[k][6 + j];
                N[i][j] += P[i][k] * S->e[k][j];
            }
            A[6 * j + i] = M[i][j];
            if (!isfinite(M[i][j]) || !isfinite(N[i][j])) return false;
        }
    }
    if (snw_lu_factor(6, A, pivot) != SNW_OK) return false;
    *count += negative_pivots(r, S, M, snw_lu_sign(6, A, pivot));
    for (int j = 0; j < 6; j++) {
        double x[6];
        for (int i = 0; i < 6; i++) x[i] = N[i][j];
        snw_lu_solve(6, A, pivot, x);
        for (int i = 0; i < 6; i++) P[i][j] = x[i];
    }
    return true;
}

// ---- one rod and those on it
// ------------------------------------------------------------------------------------

// P += contribution of the station that ends a piece
static void stability_pass_station(const snw_shoot_rod *r, int piece, block P) {
    const snw_shoot_piece *at = &r->piece[piece];
    const int node = at->node + at->n;
    const snw_shoot_state y = {.g = r->g[node], .V = snw_twist_zero(), .F = r->F[node]};
    const snw_station_step now = {.gravity = r->gravity};
    for (int j = 0; j < 3; j++) {
        snw_vec3 theta = {{0, 0, 0}};
        theta.e[j] = 1;
        const snw_wrench W =
            snw_station_wrench_variation(&r->station[piece], &now, &y, theta, snw_twist_zero());
        for (int i = 0; i < 6; i++) P[i][j] += W.e[i];
    }
}

// P += response of the rods on the station that ends a piece, Ad(h)^-T P_b Ad(h)^-1
static void stability_pass_branches(const snw_shoot_rod *r, int piece, const block *branch,
                                    block P) {
    for (int k = 0; k < r->nbranch; k++) {
        const snw_shoot_branch *b = &r->branch[k];
        for (int j = 0; j < 6 && b->piece == piece; j++) {
            snw_twist unit = snw_twist_zero();
            snw_wrench W = snw_wrench_zero();
            unit.e[j] = 1;
            unit = snw_twist_to_child(b->g, unit);
            for (int i = 0; i < 36; i++) W.e[i / 6] += branch[k][i / 6][i % 6] * unit.e[i % 6];
            W = snw_wrench_to_parent(b->g, W);
            for (int i = 0; i < 6; i++) P[i][j] += W.e[i];
        }
    }
}

// Number of eigenvalues below sigma of a rod with P beyond its tip, and `branch` of the rods on it
// (nbranch); -1: unknown. P <- at its base.
static int count_on_rod(const snw_shoot_rod *r, double sigma, const block *branch, block P) {
    block same;
    int count = 0;
    const bool one = r->uniform && !r->law;
    if (one && !stability_compliance(r, 0, 0, sigma, same)) return -1;
    for (int p = r->npiece - 1; p >= 0; p--) {
        const snw_shoot_piece *piece = &r->piece[p];
        const int n = piece->n + 1 < 4 ? piece->n + 1 : 4; // nodes of the interpolation
        form near[4];                                      // coefficients of node j at j % 4
        int known = piece->n + 1;
        stability_pass_station(r, p, P);
        stability_pass_branches(r, p, branch, P);
        for (int j = piece->n - 1; j >= 0; j--) {
            int first = j - 1;
            first = first < 0 ? 0 : (first + n > piece->n + 1 ? piece->n + 1 - n : first);
            while (known > first) {
                known--;
                if (!stability_coefficients(r, p, piece->node + known, sigma,
                                            one ? (const block *)&same : NULL, &near[known % 4])) {
                    return -1;
                }
            }
            double w[4];
            form middle = {{{0}}};
            snw_shoot_lagrange(n, j + 0.5 - first, w);
            for (int k = 0; k < n; k++) {
                const double *from = &near[(first + k) % 4].e[0][0];
                double *to = &middle.e[0][0];
                for (int i = 0; i < 144; i++) to[i] += w[k] * from[i];
            }
            const form S =
                stability_transition(&near[j % 4], &middle, &near[(j + 1) % 4], piece->h);
            if (!stability_eliminate(r, &S, P, &count)) return -1;
        }
    }
    return count;
}

// Subject whose eigenvalues bisection counts: a rod with P = tip beyond its tip, or all rods of a
// shooter, which are not joined by a plate.
typedef struct stability_of {
    const snw_shoot_rod *r;
    const block *tip;
    const snw_shooter *e; // NULL: the rod r
} stability_of;

// all rods of a shooter, from the tips to the roots
static int count_on_tree(const snw_shooter *e, double sigma) {
    int count = 0;
    for (int i = e->nleg - 1; i >= 0; i--) {
        block P = {{0}};
        const int n =
            count_on_rod(e->leg[i].r, sigma, (const block *)e->response + e->leg[i].first, P);
        if (n < 0) return -1;
        count += n;
        if (e->leg[i].parent >= 0)
            memcpy(e->response + e->leg[e->leg[i].parent].first + e->leg[i].branch, P, sizeof P);
    }
    return count;
}

static int count_below(const stability_of *of, double sigma) {
    if (of->e) return count_on_tree(of->e, sigma);
    block P;
    memcpy(P, of->tip, sizeof P);
    return count_on_rod(of->r, sigma, NULL, P);
}

// the smallest eigenvalue, by bisection
static double smallest_eigenvalue(const stability_of *of) {
    double high = 0, low = 0;
    int below = count_below(of, 0);
    if (below == 0) {
        // eigenvalues accumulate at one, where K_T - sigma K is singular and the intervals are no
        // longer short against the solution
        high = 0.999;
        if (count_below(of, high) == 0) return 1;
    }
    while (below > 0 && low > -1e12) {
        high = low;
        low = fmin(4 * low, -1);
        below = count_below(of, low);
    }
    if (below < 0) return NAN;
    while (high - low > 1e-9 * fmax(fabs(low), 1e-3)) {
        const double middle = 0.5 * (low + high);
        const int n = count_below(of, middle);
        if (n < 0) return NAN;
        if (n > 0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return 0.5 * (low + high);
}

// ---- legs and their plate -----------------------------------------------------------------------

static const double JOINT_STIFFNESS =
    1e6; // stiffness of constrained motions, relative to the leg's

// P <- springs at the tip of a leg along the constrained motions of its joint
static void set_joint_springs(const snw_leg_end *end, block P) {
    const snw_shoot_rod *r = end->rod;
    const double rotational = JOINT_STIFFNESS * fmax(r->K[7], r->K[14]) / r->length;
    double A[6][6]; // motions along the axes of the joint by those of the tip
    for (int k = 0; k < 6; k++) {
        snw_twist unit = snw_twist_zero();
        unit.e[k] = 1;
        unit = snw_twist_to_child(end->tip_frame, unit);
        for (int i = 0; i < 6; i++) A[i][k] = unit.e[i];
    }
    memset(P, 0, sizeof(block));
    for (int i = 0; i < 6; i++) {
        if (end->free[i]) continue;
        const double spring = i < 3 ? rotational : rotational / (r->length * r->length);
        for (int j = 0; j < 6; j++) {
            for (int k = 0; k < 6; k++) P[j][k] -= spring * A[i][j] * A[i][k];
        }
    }
}

// One plus the number of negative eigenvalues of a leg's stiffness against the constrained motions
// of its joint, by the last factors; 0: there are no factors.
static int stability_signature(const snw_leg *leg) {
    int at[6], n = 0;
    double S[36];
    if (!leg->known) return 0;
    for (int i = 0; i < 6; i++) {
        if (!leg->end.free[i]) at[n++] = i;
    }
    for (int j = 0; j < n; j++) {
        snw_wrench b = snw_wrench_zero();
        b.e[at[j]] = 1;
        snw_lu_solve(6, leg->E, leg->pivot, b.e);
        b = snw_wrench_to_child(leg->end.tip_frame, b);
        for (int i = 0; i < n; i++) {
            // moments are scaled by force times length
            const double L = leg->end.rod->length;
            S[n * j + i] = b.e[at[i]] / ((at[i] < 3 ? L : 1) * (at[j] < 3 ? L : 1));
        }
    }
    return 1 + count_negative(n, S);
}

// Negative eigenvalues of all legs with their joints fixed; *worst <- the smallest of these, unless
// NULL. Their number changes only when that of the stiffness does, so a stable leg is not counted
// again before.
static int count_unstable_legs(snw_shooter *e, double *worst) {
    int count = 0;
    for (int i = 0; i < e->nleg; i++) {
        const snw_leg *leg = &e->p->leg[i];
        const snw_shoot_rod *r = leg->end.rod;
        const int now = stability_signature(leg);
        if (!rod_loads_are_conservative(r) || (now > 0 && now == e->leg[i].stable_signature))
            continue;
        block P;
        set_joint_springs(&leg->end, P);
        const stability_of held = {.r = r, .tip = (const block *)&P};
        const int n = count_below(&held, SNW_SHOOTER_UNSTABLE);
        e->leg[i].stable_signature = n == 0 ? now : 0;
        if (n > 0) count += n;
        if (n > 0 && worst) *worst = fmin(*worst, smallest_eigenvalue(&held));
    }
    return count;
}

int snw_shooter_unstable(snw_shooter *e) {
    if (e->p) {
        const int n = count_unstable_legs(e, NULL);
        return n > 0 ? n : -1; // the plate decides
    }
    return is_conservative(e) ? count_on_tree(e, SNW_SHOOTER_UNSTABLE) : -1;
}

// smallest eigenvalue of the stiffness of the plate, scaled
static double smallest_plate_eigenvalue(snw_shooter *e) {
    double A[36];
    snw_platform_formula(e->p, (snw_levels){0}, 1);
    const snw_status status = snw_platform_stiffness(e->p, A);
    snw_platform_reset_guess(
        e->p); // as after any equilibrium; a checkpoint cannot hold these segments
    if (status != SNW_OK) return NAN;
    const double L = e->leg[0].r->length;
    double B[36];
    for (int i = 0; i < 36; i++) {
        const double scale = (i % 6 < 3 ? L : 1) * (i / 6 < 3 ? L : 1);
        B[i] = 0.5 * (A[i] + A[6 * (i % 6) + i / 6]) * L / (scale * e->p->force);
    }
    double one[36] = {0}, lambda[6];
    double room[ROOM];
    for (int i = 0; i < 6; i++) one[7 * i] = 1;
    snw_arena scratch = {.base = (unsigned char *)room, .size = sizeof room};
    return snw_eigen_symmetric(6, B, one, false, &scratch, lambda) == SNW_OK ? lambda[0] : NAN;
}

double snw_shooter_stability(snw_shooter *e) {
    const stability_of all = {.e = e};
    if (!e->p) return is_conservative(e) ? smallest_eigenvalue(&all) : NAN;
    double worst = INFINITY;
    return count_unstable_legs(e, &worst) > 0 ? worst : smallest_plate_eigenvalue(e);
}
