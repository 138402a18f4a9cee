// SPDX-License-Identifier: MIT
//
// Augmented Lagrangian for loops (Gotelli 2024, 6.2.1), theory.md (5.2d): loops are springs of the
// stiffness rho W about multipliers that are updated,
//   lambda = lambda_0 - rho W c,   lambda_0 <- lambda,
// beside the exact treatment, for comparison. The spring is a compliance 1/(rho W) of the
// constraint rows, so that the equations stay those of exact loops, regular for any rho. Near a
// solution an update multiplies the violation by at most |1/(1 + rho mu)|, mu the eigenvalues of
// W^1/2 C H^-1 C' W^1/2 with H the tangent; negative mu (a rod pressed beyond what it carries when
// open) need rho > 2/|mu|.
#include "study/statics_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// Updates until the loops are closed, relative sizes that count as closed, and the largest number
// of coordinates for which the result is judged, at cubic cost.
enum { MOST_UPDATES = 100, MOST_JUDGED = 600 };
#define CLOSED_TO   1e-12 // of the length of the robot
#define MULTIPLIERS 1e-10 // change of a multiplier relative to the largest

size_t snw_statics_penalty_scratch(const snw_model *m) {
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint, n = nv + nr, pad = 64;
    const size_t eigen = snw_eigen_general_scratch(m->nconstraint);
    const size_t symmetric = snw_eigen_symmetric_scratch(m->nv);
    return (n * n + 2 * nv * nv + 2 * n * nr + 2 * nr * nr + nv + 4 * n) * sizeof(double) +
           n * sizeof(int) + 12 * pad + (eigen > symmetric ? eigen : symmetric);
}

snw_status snw_statics_penalty_begin(snw_statics *st, const snw_statics_opts *opts,
                                     const snw_state *s, snw_error *err) {
    const snw_model *m = st->m;
    st->penalty = m->nv > 0 && m->nconstraint > 0 ? opts->penalty : 0;
    st->penalty_length = opts->penalty_length;
    memset(st->lambda0, 0, (size_t)m->nconstraint * sizeof *st->lambda0);
    if (!(st->penalty > 0)) return SNW_OK;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow; r++) {
            int mixed = 0;
            for (int k = 0; k < loop->nraw; k++) mixed += loop->coefficient[r][k] != 0;
            if (mixed <= 1) continue;
            const snw_label *d = &m->label.loop[i];
            return snw_fail_at_location(
                err,
                snw_fail(err, SNW_E_MODEL,
                         "'penalty' does not support loop '%s', which is redundant and has rows "
                         "that combine several directions; leave penalty out",
                         d->name),
                d->location.file, d->location.line, d->location.column);
        }
    }
    // a given number of updates begins without multipliers, so that it says what it leaves open
    for (int i = 0; opts->penalty_updates < 0 && i < m->nconstraint; i++) {
        if (snw_statics_compliance(st, i) > 0) st->lambda0[i] = s->lambda[i];
    }
    return SNW_OK;
}

// Root of c' W c at st->x, m.
static double penalty_violation(snw_statics *st) {
    double sum = 0;
    snw_statics_evaluate(st, 1, st->x);
    for (int i = 0; i < st->m->nconstraint; i++) {
        const double alpha = snw_statics_compliance(st, i), c = st->w->violation[i];
        if (alpha > 0) sum += c * c / (alpha * st->penalty);
    }
    return sqrt(sum);
}

// Have loops closed, and multipliers settled?
static bool penalty_is_closed(const snw_statics *st, double violation) {
    double change = 0, largest = 0;
    for (int i = 0; i < st->m->nconstraint; i++) {
        const double lambda = st->x[st->m->nq + i];
        if (snw_statics_compliance(st, i) > 0) {
            change = snw_larger(change, fabs(lambda - st->lambda0[i]));
        }
        largest = snw_larger(largest, fabs(lambda));
    }
    return violation <= CLOSED_TO * st->m->length || change <= MULTIPLIERS * largest;
}

// ---- contraction and condition -----------------------------------------------------------------

// info->condition <- that of the Newton matrix of the augmented Lagrangian, H + rho C'W C, for
// conservative loads and no other constraints. J: bordered tangent, H its first block.
static void penalty_condition(snw_statics *st, const double *J, snw_statics_info *info) {
    const size_t nv = (size_t)st->m->nv, n = nv + (size_t)st->m->nconstraint;
    double *A = snw_arena_doubles(&st->scratch, nv * nv);
    double *B = snw_arena_doubles(&st->scratch, nv * nv);
    double *lambda = snw_arena_doubles(&st->scratch, nv), least = INFINITY, most = 0;
    info->condition = NAN;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) {
            A[j * nv + i] = J[j * n + i], B[j * nv + i] = i == j;
            for (size_t k = nv; k < n; k++) {
                const double alpha = snw_statics_compliance(st, (int)(k - nv));
                if (!(alpha > 0)) return;
                A[j * nv + i] += J[k * n + i] * J[k * n + j] / alpha;
            }
        }
    }
    if (!snw_is_symmetric((int)nv, A) ||
        snw_eigen_symmetric((int)nv, A, B, false, &st->scratch, lambda) != SNW_OK)
        return;
    for (size_t i = 0; i < nv; i++) {
        least = fmin(least, fabs(lambda[i])), most = snw_larger(most, fabs(lambda[i]));
    }
    info->condition = most / least;
}

// info->penalty: factor of a further update, and the stiffness that it needs. J is overwritten.
static void penalty_contraction(snw_statics *st, double *J, snw_penalty_info *info) {
    const size_t nv = (size_t)st->m->nv, nr = (size_t)st->m->nconstraint, n = nv + nr;
    double *X = snw_arena_doubles(&st->scratch, n * nr),
           *S = snw_arena_doubles(&st->scratch, nr * nr);
    double *one = snw_arena_doubles(&st->scratch, nr * nr),
           *re = snw_arena_doubles(&st->scratch, nr);
    double *im = snw_arena_doubles(&st->scratch, nr), *root = snw_arena_doubles(&st->scratch, nr);
    int *pivot = snw_arena_ints(&st->scratch, n);
    // X <- C' W^1/2 of the rows with a penalty, which then leave the matrix
    for (size_t k = 0; k < nr; k++) {
        const double alpha = snw_statics_compliance(st, (int)k);
        root[k] = alpha > 0 ? 1 / sqrt(alpha * st->penalty) : 0;
        for (size_t i = 0; i < n; i++) X[k * n + i] = i < nv ? -root[k] * J[(nv + k) * n + i] : 0;
    }
    for (size_t k = 0; k < nr; k++) {
        if (root[k] == 0) continue;
        for (size_t i = 0; i < n; i++) J[(nv + k) * n + i] = J[i * n + nv + k] = i == nv + k;
    }
    for (size_t k = 0; k < nr * nr; k++) one[k] = k % (nr + 1) == 0;
    double *C = snw_arena_doubles(&st->scratch, nv * nr);
    for (size_t k = 0; k < nr; k++) memcpy(C + k * nv, X + k * n, nv * sizeof *C);
    if (snw_lu_factor((int)n, J, pivot) != SNW_OK) return;
    for (size_t k = 0; k < nr; k++) snw_lu_solve((int)n, J, pivot, X + k * n);
    for (size_t k = 0; k < nr; k++) {
        for (size_t j = 0; j < nr; j++)
            S[k * nr + j] = snw_vector_dot((int)nv, C + j * nv, X + k * n);
    }
    if (snw_eigen_general((int)nr, S, one, &st->scratch, re, im) != SNW_OK) return;
    info->contraction = 0;
    for (size_t k = 0; k < nr; k++) {
        const double size = re[k] * re[k] + im[k] * im[k];
        if (!(size > 0)) continue; // exact rows
        info->contraction =
            snw_larger(info->contraction, 1 / hypot(1 + st->penalty * re[k], st->penalty * im[k]));
        if (re[k] < 0) info->needed = snw_larger(info->needed, -2 * re[k] / size);
    }
}

static snw_status penalty_judge(snw_statics *st, snw_statics_info *info) {
    const size_t n = (size_t)(st->m->nv + st->m->nconstraint);
    info->penalty.contraction = NAN;
    if (st->m->nv > MOST_JUDGED) return SNW_OK;
    const size_t mark = snw_arena_mark(&st->scratch);
    const snw_problem p = snw_statics_problem(st);
    double *J = snw_arena_doubles(&st->scratch, n * n), *r = snw_arena_doubles(&st->scratch, n);
    const snw_status s = p.tangent(st, 1, st->x, r, J);
    if (s == SNW_OK) {
        penalty_condition(st, J, info);
        penalty_contraction(st, J, &info->penalty);
    }
    snw_arena_reset(&st->scratch, mark);
    return s;
}

snw_status snw_statics_penalty_finish(snw_statics *st, const snw_statics_opts *opts,
                                      snw_statics_info *info, snw_error *err) {
    const snw_model *m = st->m;
    const bool until_closed = opts->penalty_updates < 0;
    const int most = until_closed ? MOST_UPDATES : opts->penalty_updates;
    snw_penalty_info *to = &info->penalty;
    *to = (snw_penalty_info){.violation = penalty_violation(st), .contraction = NAN};
    snw_status s = SNW_OK;
    st->from = 1; // the load stays
    while (s == SNW_OK && to->updates < most &&
           !(until_closed && penalty_is_closed(st, to->violation))) {
        for (int i = 0; i < m->nconstraint; i++) {
            if (snw_statics_compliance(st, i) > 0) st->lambda0[i] = st->x[m->nq + i];
        }
        s = snw_statics_newton(st, opts, info);
        to->violation = penalty_violation(st);
        to->updates++;
    }
    st->from = 0;
    if (s == SNW_OK) s = penalty_judge(st, info);
    const bool open = s == SNW_OK && until_closed && !penalty_is_closed(st, to->violation);
    if (!open && s != SNW_E_DIVERGED && s != SNW_E_SINGULAR) return s;
    return snw_fail(
        err, SNW_E_DIVERGED,
        "static: the loops have a violation of %.3g m after %d updates of their "
        "multipliers with a penalty of %g N/m (contraction %.3g; below %.3g N/m updates "
        "diverge). Raise the penalty, or leave it out: exact loops need none",
        to->violation, to->updates, st->penalty, to->contraction, to->needed);
}
