// SPDX-License-Identifier: MIT
//
// Stability of equilibria, from their fields alone: no basis takes part. theory.md 10.7
//
// Near an equilibrium of a clamped rod under conservative loads a small change of strain costs the
// energy
//   E = 1/2 int eps' K eps ds + (terms of the wrench that is carried and of dead loads),
// and the eigenvalues lambda of E's form against that of the elastic energy alone, K_T x = lambda K
// x, say how stable it is: one below zero, and it is not. How many lie below sigma is the number of
// negative eigenvalues of K_T - sigma K. Jacobi's equations of that form are linear in the
// variations of pose, zeta, and wrench, dF:
//   zeta' = -ad_xi zeta + eps,  dF' = ad_xi' dF + ad_eps' F - dPhi(zeta),  eps = (K - sigma K)^-1
//   dF.
// Beyond a section the rod answers a variation of its pose by dF = P zeta, at the tip by the load's
// own P. Through an interval [zeta; dF] goes over to [A B; G D] [zeta; dF], and to choose dF at its
// start is to choose the strain in it: the form's pivot there is Q = B' (D - P B), which is
// symmetric, and eliminating it leaves P <- (D - P B)^-1 (P A - G) for the interval before. By
// Sylvester's law of inertia the negative eigenvalues of all Q together are those of the form.
//
// Of legs that a plate joins the negative eigenvalues are those of the plate's stiffness, to which
// each leg is condensed, and of each leg by itself with its joint held (Haynsworth): at the tip dF
// = -P zeta then, P stiff in what the joint holds. The first alone do not tell: an eigenvalue goes
// from minus to plus infinity where a leg buckles between held ends.
#include "shoot/shooter_private.h"

#include "solve/dense.h"

#include <math.h>
#include <string.h>

typedef double block[6][6];
// Acts on zeta, then dF.
typedef struct form {
    double e[12][12];
} form;

enum { ROOM = 512 }; // scratch of six eigenvalues; an arena that is too small stops the program

// ---- coefficients
// -----------------------------------------------------------------------------------

static bool none(snw_vec3 x) { return x.x == 0 && x.y == 0 && x.z == 0; }

// Forces whose direction stays, and nothing else: torques and forces that turn with their section
// have no energy.
static bool rod_conserves(const snw_shoot_rod *r) {
    for (int p = 0; p < r->npiece; p++) {
        for (int i = 0; i < r->station[p].nload; i++) {
            const snw_shoot_load *l = &r->station[p].load[i];
            if (l->body || !none(l->W.m)) return false;
        }
    }
    for (int p = 0; r->density && p < r->npoint; p++) {
        const snw_shoot_density *d = &r->density[p];
        if (!none(d->torque) || !none(d->body.m) || !none(d->body.f)) return false;
    }
    return true;
}

static bool conserves(const snw_shooter *e) {
    if (!rod_conserves(e->leg[0].r)) return false;
    // a length or volume that is given is a constraint, whose form is another
    for (int i = 0; i < e->tendons.n; i++) {
        const snw_shoot_tendon *tendon = &e->tendons.tendon[i];
        if (tendon->given != SNW_SHOOT_TENDON_EFFORT) return false;
        if (snw_shoot_tendon_has_friction(tendon) && tendon->sliding != 0)
            return false; // friction has no energy
    }
    return true;
}

// S (6 x 6, in rows) <- its inverse on the strains that may change, zero elsewhere
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

// C <- (K_t - sigma K)^-1 at a node: K_t is the stiffness of rod, tendons and chambers together
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

// Change of the distributed dead loads and weight, in body axes, when the section turns by theta.
static snw_wrench turned_loads(const snw_shoot_rod *r, int node, int point, snw_vec3 theta) {
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

// H <- coefficients of Jacobi's equations at a node; `same`: the compliance of all nodes, or NULL
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
        const snw_twist turned = snw_ad(xi, unit);
        if (k < 3) loads = turned_loads(r, node, point, unit.w);
        along = snw_wrench_add(snw_ad_pull(xi, along), snw_ad_pull(eps, r->F[node]));
        for (int i = 0; i < 6; i++) {
            H->e[i][k] = -turned.e[i];
            H->e[i][6 + k] = eps.e[i];
            H->e[6 + i][k] = -loads.e[i];
            H->e[6 + i][6 + k] = along.e[i];
        }
    }
    return true;
}

// ---- one interval
// -----------------------------------------------------------------------------------

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

// What the equations make of variations along an interval of length h, by the classical method of
// Runge and Kutta.
static form transition(const form *H0, const form *Hm, const form *H1, double h) {
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
static int negative(int n, const double *A) {
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

// Negative eigenvalues of Q = B' M for an M of this sign of its determinant. Those of the strains
// that may change suffice: what the others add, forces that reach the strain at the interval's end
// only, is of higher order in its length and positive. Where an eigenvalue is so near to zero that
// they decide, the determinant tells, as B' has a positive one.
static int pivots(const snw_shoot_rod *r, const form *S, double M[6][6], int sign) {
    int at[6], n = 0;
    double Q[36];
    for (int i = 0; i < 6; i++) {
        if (r->active[i]) at[n++] = i;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            // moments are measured by force times length
            const double by = (at[i] < 3 ? r->length : 1) * (at[j] < 3 ? r->length : 1);
            Q[n * j + i] = 0;
            for (int k = 0; k < 6; k++) {
                Q[n * j + i] += by * S->e[k][6 + at[i]] * M[k][at[j]];
            }
        }
    }
    const int count = negative(n, Q);
    return count + ((count % 2 != 0) != (sign < 0));
}

// P from the end of an interval to its start; *count <- more by the negative eigenvalues of its
// pivot
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
    *count += pivots(r, S, M, snw_lu_sign(6, A, pivot));
    for (int j = 0; j < 6; j++) {
        double x[6];
        for (int i = 0; i < 6; i++) x[i] = N[i][j];
        snw_lu_solve(6, A, pivot, x);
        for (int i = 0; i < 6; i++) P[i][j] = x[i];
    }
    return true;
}

// ---- the rod
// ----------------------------------------------------------------------------------------

// P <- with what acts at the station behind a piece
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

// eigenvalues below sigma of a rod whose tip meets what `tip` says; -1: not known
static int count_below(const snw_shoot_rod *r, double sigma, const block *tip) {
    block P, same;
    int count = 0;
    memcpy(P, tip, sizeof P);
    const bool one = r->uniform && !r->law;
    if (one && !stability_compliance(r, 0, 0, sigma, same)) return -1;
    for (int p = r->npiece - 1; p >= 0; p--) {
        const snw_shoot_piece *piece = &r->piece[p];
        const int n = piece->n + 1 < 4 ? piece->n + 1 : 4; // nodes that a value between is made of
        form near[4];                                      // those of node j at j % 4
        int known = piece->n + 1;
        stability_pass_station(r, p, P);
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
            const form S = transition(&near[j % 4], &middle, &near[(j + 1) % 4], piece->h);
            if (!stability_eliminate(r, &S, P, &count)) return -1;
        }
    }
    return count;
}

// what the tip of a rod that stands alone meets
static const block nothing;

// the smallest eigenvalue, by bisection
static double smallest(const snw_shoot_rod *r, const block *tip) {
    double high = 0, low = 0;
    int below = count_below(r, 0, tip);
    if (below == 0) {
        // they gather about one, where K_T - sigma K has no inverse and intervals are no longer
        // short
        high = 0.999;
        if (count_below(r, high, tip) == 0) return 1;
    }
    while (below > 0 && low > -1e12) {
        high = low;
        low = fmin(4 * low, -1);
        below = count_below(r, low, tip);
    }
    if (below < 0) return NAN;
    while (high - low > 1e-9 * fmax(fabs(low), 1e-3)) {
        const double middle = 0.5 * (low + high);
        const int n = count_below(r, middle, tip);
        if (n < 0) return NAN;
        if (n > 0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return 0.5 * (low + high);
}

// ---- legs and their plate
// ---------------------------------------------------------------------------

static const double HELD = 1e6; // stiffness of what a joint holds, in those of the leg

// P <- springs at the tip of a leg where its joint holds it
static void hold_tip(const snw_leg_end *end, block P) {
    const snw_shoot_rod *r = end->rod;
    const double turn = HELD * fmax(r->K[7], r->K[14]) / r->length;
    double A[6][6]; // motions along the joint's axes by those of the tip
    for (int k = 0; k < 6; k++) {
        snw_twist unit = snw_twist_zero();
        unit.e[k] = 1;
        unit = snw_twist_to_child(end->tip_frame, unit);
        for (int i = 0; i < 6; i++) A[i][k] = unit.e[i];
    }
    memset(P, 0, sizeof(block));
    for (int i = 0; i < 6; i++) {
        if (end->free[i]) continue;
        const double spring = i < 3 ? turn : turn / (r->length * r->length);
        for (int j = 0; j < 6; j++) {
            for (int k = 0; k < 6; k++) P[j][k] -= spring * A[i][j] * A[i][k];
        }
    }
}

// One more than the negative eigenvalues of the stiffness that a leg has against motions of its
// joint where that holds it, by the last factors; 0: there are none.
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
            // moments are measured by force times length
            const double L = leg->end.rod->length;
            S[n * j + i] = b.e[at[i]] / ((at[i] < 3 ? L : 1) * (at[j] < 3 ? L : 1));
        }
    }
    return 1 + negative(n, S);
}

// Negative eigenvalues of all legs with their joints held; *worst, unless NULL, <- the smallest of
// these. Their number changes only where that of the stiffness does, so a stable leg is not looked
// at again before.
static int of_legs(snw_shooter *e, double *worst) {
    int count = 0;
    for (int i = 0; i < e->nleg; i++) {
        const snw_leg *leg = &e->p->leg[i];
        const snw_shoot_rod *r = leg->end.rod;
        const int now = stability_signature(leg);
        if (!rod_conserves(r) || (now > 0 && now == e->leg[i].judged)) continue;
        block P;
        hold_tip(&leg->end, P);
        const int n = count_below(r, SNW_SHOOTER_UNSTABLE, (const block *)&P);
        e->leg[i].judged = n == 0 ? now : 0;
        if (n > 0) count += n;
        if (n > 0 && worst) *worst = fmin(*worst, smallest(r, (const block *)&P));
    }
    return count;
}

int snw_shooter_unstable(snw_shooter *e) {
    if (e->p) {
        const int n = of_legs(e, NULL);
        return n > 0 ? n : -1; // the plate decides
    }
    return conserves(e) ? count_below(e->leg[0].r, SNW_SHOOTER_UNSTABLE, &nothing) : -1;
}

// of what the plate's moves meet
static double stability_of_plate(snw_shooter *e) {
    double A[36];
    snw_platform_formula(e->p, SNW_TIME_STATIC, 0, 1);
    const snw_status status = snw_platform_stiffness(e->p, A);
    snw_platform_reset_guess(
        e->p); // as after any equilibrium; a checkpoint has no room for these segments
    if (status != SNW_OK) return NAN;
    const double L = e->leg[0].r->length;
    double B[36];
    for (int i = 0; i < 36; i++) {
        const double by = (i % 6 < 3 ? L : 1) * (i / 6 < 3 ? L : 1);
        B[i] = 0.5 * (A[i] + A[6 * (i % 6) + i / 6]) * L / (by * e->p->force);
    }
    double one[36] = {0}, lambda[6];
    double room[ROOM];
    for (int i = 0; i < 6; i++) one[7 * i] = 1;
    snw_arena scratch = {.base = (unsigned char *)room, .size = sizeof room};
    return snw_eigen_symmetric(6, B, one, false, &scratch, lambda) == SNW_OK ? lambda[0] : NAN;
}

double snw_shooter_stability(snw_shooter *e) {
    if (!e->p) return conserves(e) ? smallest(e->leg[0].r, &nothing) : NAN;
    double worst = INFINITY;
    return of_legs(e, &worst) > 0 ? worst : stability_of_plate(e);
}
