// SPDX-License-Identifier: MIT
//
// Choice of the branch of equilibria in a static solve. If continuation in the load has no
// equilibrium to start from, or its branch ends at a limit point, a damped motion
// (solve/pseudo_transient.h) leads to a stable one; if the equilibrium reached is unstable, a
// damped motion leaves it along its most unstable direction, to both sides. theory.md 5
#include "study/statics_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"
#include "solve/pseudo_transient.h"

#include <math.h>
#include <string.h>

enum {
    SNAPS = 8,         // ends of branches passed in one solve
    PERTURBATIONS = 3, // perturbed starts
    ROUNDS = 3,        // unstable equilibria left on one side
    HALVINGS = 7,      // of the load, to find where an equilibrium becomes unstable
    MOST_EIGEN = 800,  // most coordinates for which eigenvalues are computed
};

static const double BEYOND = 0.01; // fraction of the load by which a damped motion starts beyond
                                   // the end of a branch, doubled each time
static const double COMPLIANCE = 1e-10;   // of rows that nearly contradict each other
static const double NEARLY_CLOSED = 1e-6; // violation allowed to them, rad or relative to length
static const double FASTER = 10; // factor by which the motion per load may grow beyond a point that
                                 // continuation did not pass
static const double PERTURBATION = 0.03; // typical coordinates
static const double LEAVE = 0.05;        // the same, out of an unstable equilibrium
static const double DISTINCT = 1e-4;     // typical coordinates between two different equilibria
static const double BALANCED = 1e-9;     // residual or violation of a start in balance, typical
static const double STIFF = 1e-6;   // least eigenvalue of an equilibrium without neutral motion
static const double ON_AXIS = 1e-6; // part of a distance, or distance in typical coordinates, that
                                    // counts as rounding of a symmetric robot

static size_t branch_size_of(const snw_statics *st) {
    return (size_t)(st->m->nq + st->m->nconstraint) * sizeof *st->x;
}

static double *saved(const snw_statics *st, int which) {
    return st->kept + (size_t)which * (size_t)(st->m->nq + st->m->nconstraint);
}

static bool branch_failed(snw_status s) { return s == SNW_E_SINGULAR || s == SNW_E_DIVERGED; }

// Largest difference of two configurations, in typical coordinates; ball and free joints are not
// compared.
static double branch_distance(const snw_model *m, const double *a, const double *b) {
    double most = 0;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *block = &m->block[k];
        if (block->space != SNW_SPACE_RN) continue;
        for (int i = 0; i < block->n; i++) {
            const double difference = fabs(a[block->q + i] - b[block->q + i]);
            most = fmax(most, difference / m->typical[block->dof + i]);
        }
    }
    return most;
}

// st->x <- stable equilibrium under the load st->to, by a damped motion from st->x.
static snw_status branch_settle(snw_statics *st, const snw_statics_opts *opts,
                                snw_statics_info *info) {
    const snw_problem p = snw_statics_problem(st);
    snw_pseudo_transient_opts o = snw_pseudo_transient_defaults();
    snw_pseudo_transient_info si = {0};
    o.tol = opts->tolerance;
    const snw_status s =
        snw_pseudo_transient(&p, st->damping, &o, opts->stop, opts->user, &st->scratch, st->x, &si);
    info->iterations += si.iterations;
    info->increments++;
    if (s == SNW_OK) {
        info->residual = si.residual;
        info->condition = NAN;
        info->reached = st->to;
    }
    return s;
}

// The same with loops closed beforehand; compliant rows are closed by the motion itself.
static snw_status settle_closed(snw_statics *st, const snw_statics_opts *opts,
                                snw_statics_info *info, snw_error *err) {
    bool moved;
    snw_error open = {0};
    const snw_status s = snw_statics_close(st, &moved, st->compliance > 0 ? &open : err);
    if (st->compliance > 0)
        memset(st->violation0, 0, (size_t)st->m->nconstraint * sizeof *st->violation0);
    return s == SNW_OK || st->compliance > 0 ? branch_settle(st, opts, info) : s;
}

// st->x <- perturbed coordinates; only those of joints, if some joint has no stiffness.
static void perturb(snw_statics *st, double by, unsigned long long *seed) {
    const snw_model *m = st->m;
    for (int i = 0; i < m->nv; i++) {
        const bool moves = !st->regularisation || st->regularisation[i] > 0;
        st->direction[i] = moves ? by * m->typical[i] * snw_projection_random(seed) : 0;
    }
    snw_clear_inactive_vector(m, st->w, st->direction);
    snw_move(m, st->x, 1, st->direction, st->x);
}

// Continues beyond the last equilibrium of a branch, st->x at info->reached: a damped motion at a
// slightly larger load, then continuation from there (snap-through).
static snw_status snap_through(snw_statics *st, const snw_statics_opts *opts,
                               snw_statics_info *info, snw_error *err) {
    snw_status s = SNW_E_DIVERGED;
    for (int n = 0; n < SNAPS && branch_failed(s); n++) {
        st->to = fmin(1, info->reached + ldexp(BEYOND, n));
        memcpy(saved(st, 1), st->x, branch_size_of(st));
        s = settle_closed(st, opts, info, err);
        if (branch_failed(s) && st->to < 1) { // directly under the full load
            memcpy(st->x, saved(st, 1), branch_size_of(st));
            st->to = 1;
            s = settle_closed(st, opts, info, err);
        }
        if (s != SNW_OK || st->to >= 1) return s;
        memset(st->violation0, 0, (size_t)st->m->nconstraint * sizeof *st->violation0);
        st->from = st->to;
        st->to = 1;
        s = snw_statics_newton(st, opts, info);
    }
    return s;
}

// From a start that is no equilibrium, in this order: damped motion with closed loops under the
// full load; damped motion without load, then continuation; continuation from the initial shape of
// the model; damped motion from perturbed starts.
static snw_status branch_restart(snw_statics *st, const snw_statics_opts *opts,
                                 const snw_state *start, snw_statics_info *info, snw_error *err) {
    const snw_model *m = st->m;
    snw_statics_start(st, start);
    snw_status s = settle_closed(st, opts, info, err);
    if (branch_failed(s) && m->nconstraint) {
        snw_statics_start(st, start);
        st->to = 0;
        s = branch_settle(st, opts, info);
        st->to = 1;
        if (s == SNW_OK) s = snw_statics_newton(st, opts, info);
    }
    if (branch_failed(s) && m->nconstraint) {
        snw_state *initial = st->trial;
        memcpy(initial->q, m->q0, (size_t)m->nq * sizeof *initial->q);
        memset(initial->lambda, 0, (size_t)m->nconstraint * sizeof *initial->lambda);
        snw_statics_start(st, initial);
        s = snw_statics_newton(st, opts, info);
    }
    unsigned long long seed = 11;
    for (int n = 1; n <= PERTURBATIONS && branch_failed(s); n++) {
        snw_statics_start(st, start);
        perturb(st, PERTURBATION * n, &seed);
        s = settle_closed(st, opts, info, err);
    }
    return s;
}

// Closes the robot by a damped motion without loads, then applies them: a branch that ends then
// belongs to the closed robot.
static snw_status branch_assemble(snw_statics *st, const snw_statics_opts *opts,
                                  const snw_state *start, snw_statics_info *info, snw_error *err) {
    snw_statics_start(st, start);
    st->to = 0;
    const snw_status s = settle_closed(st, opts, info, err);
    st->to = 1;
    if (s != SNW_OK) return s;
    memset(st->violation0, 0, (size_t)st->m->nconstraint * sizeof *st->violation0);
    return snw_statics_newton(st, opts, info);
}

// All attempts in order, from the last equilibrium of the branch or from a start that is none.
static snw_status branch_attempt(snw_statics *st, const snw_statics_opts *opts,
                                 const snw_state *start, snw_statics_info *info, snw_error *err) {
    const double reached = info->reached;
    double end = reached;
    snw_status s = SNW_E_DIVERGED;
    if (reached > 0 && opts->assemble && st->m->nconstraint) {
        s = branch_assemble(st, opts, start, info, err);
        if (branch_failed(s) && !(info->reached > 0)) {
            info->reached = reached;
            memcpy(st->x, saved(st, 0), branch_size_of(st));
        }
        end = s == SNW_OK ? 0 : info->reached;
    }
    if (branch_failed(s)) {
        s = end > 0 ? snap_through(st, opts, info, err)
                    : branch_restart(st, opts, start, info, err);
    }
    st->from = 0;
    st->to = 1;
    // nearly contradictory loops stop Newton's method without ending the branch
    if (s == SNW_OK && end > 0 && !(st->compliance > 0) && st->m->singular == 0) {
        info->branch = SNW_BRANCH_ENDED;
        info->left = end;
    }
    if (!branch_failed(s)) return s;
    info->reached = reached;
    memcpy(st->x, saved(st, 0), branch_size_of(st));
    return s;
}

// Are the compliant rows closed to NEARLY_CLOSED? If not, they contradict each other.
static bool nearly_closed(snw_statics *st) {
    snw_statics_evaluate(st, 1, st->x);
    return snw_projection_violation(st->projection, st->now, st->trial, NULL) <= NEARLY_CLOSED;
}

snw_status snw_branch_settle(snw_statics *st, const snw_statics_opts *opts, const snw_state *start,
                             snw_statics_info *info, snw_error *err) {
    const double residual = info->residual;
    memcpy(saved(st, 0), st->x, branch_size_of(st));
    snw_status s = branch_attempt(st, opts, start, info, err);
    if (branch_failed(s) && st->m->nconstraint) {
        const double reached = info->reached;
        st->compliance = COMPLIANCE;
        s = branch_attempt(st, opts, start, info, err);
        if (s == SNW_OK && !nearly_closed(st)) {
            s = SNW_E_DIVERGED;
            info->reached = reached;
            memcpy(st->x, saved(st, 0), branch_size_of(st));
        }
        if (branch_failed(s)) st->compliance = 0;
    }
    if (branch_failed(s)) info->residual = residual;
    return s;
}

snw_status snw_branch_cross(snw_statics *st, const snw_statics_opts *opts, const snw_state *start,
                            snw_statics_info *info) {
    const snw_model *m = st->m;
    const double reached = info->reached, residual = info->residual;
    memcpy(saved(st, 0), st->x, branch_size_of(st));
    const double speed = branch_distance(m, start->q, st->x) / reached;
    bool moved;
    snw_error ignored = {0};
    snw_status s = snw_statics_close(st, &moved, &ignored);
    if (s == SNW_OK) s = snw_statics_newton(st, opts, info);
    if (s == SNW_E_STOPPED) return s;
    if (s == SNW_OK && branch_distance(m, saved(st, 0), st->x) <= FASTER * speed * (1 - reached))
        return s;
    memcpy(st->x, saved(st, 0), branch_size_of(st));
    info->reached = reached;
    info->residual = residual;
    return SNW_E_DIVERGED;
}

// ---- stability

// Unstable directions at st->x, by Sylvester's law from the signs of the pivots of the bordered
// tangent, which has as many negative eigenvalues more than constraint rows; -1: not known, because
// pivots lose their digits: rows would have to be exchanged, or the tangent is singular.
static int branch_unstable(snw_statics *st) {
    const snw_problem p = snw_statics_problem(st);
    if (p.own[0].user) {
        int sign, unstable;
        snw_statics_evaluate(st, st->to, st->x);
        const snw_status s = p.own[0].factor(p.own[0].user, NULL, NULL, &sign, &unstable);
        return s == SNW_OK ? unstable : -1;
    }
    const size_t mark = snw_arena_mark(&st->scratch);
    int negative = -1;
    if (snw_sparse_is_compressed(p.sparse[0])) {
        snw_tangent t = snw_tangent_take(p.n, (snw_own_factors){0}, p.sparse[0], &st->scratch);
        double *r = snw_arena_doubles(&st->scratch, (size_t)p.n);
        if (p.sparse_tangent(p.user, 1, st->x, r, t.J) == SNW_OK &&
            snw_sparse_factor_diagonal(t.sparse, t.J) == SNW_OK)
            negative = snw_sparse_negative(t.sparse);
    } else if (st->m->nv <= SNW_MOST_DENSE) {
        const size_t n = (size_t)p.n;
        double *J = snw_arena_doubles(&st->scratch, n * n), *r = snw_arena_doubles(&st->scratch, n);
        if (p.tangent(p.user, 1, st->x, r, J) != SNW_OK ||
            snw_count_negative(p.n, J, &st->scratch, &negative) != SNW_OK)
            negative = -1;
    }
    snw_arena_reset(&st->scratch, mark);
    return negative < st->m->nconstraint ? -1 : negative - st->m->nconstraint;
}

// Do the factors of the tangent at st->x show that it is stable?
static bool branch_plainly_stable(snw_statics *st) { return branch_unstable(st) == 0; }

// st->trial <- st->x under the load st->to; st->direction <- unstable direction, if there is one.
static snw_stability branch_stability(snw_statics *st) {
    snw_statics_evaluate(st, st->to, st->x);
    return snw_statics_direction(st, st->trial, st->direction);
}

// st->x <- stable equilibrium on one side of the unstable st->x, starting along st->direction.
static snw_status branch_leave_unstable(snw_statics *st, const snw_statics_opts *opts, double side,
                                        snw_statics_info *info) {
    for (int n = 0; n < ROUNDS; n++) {
        snw_move(st->m, st->x, side * LEAVE, st->direction, st->x);
        SNW_TRY(branch_settle(st, opts, info));
        if (branch_plainly_stable(st) || !(branch_stability(st).negative > 0)) return SNW_OK;
    }
    return SNW_E_DIVERGED;
}

// Fraction of the load at which the branch from `start` becomes unstable; NaN: not known.
static double find_crossing(snw_statics *st, const snw_statics_opts *opts, const snw_state *start) {
    double low = 0, high = 1;
    for (int n = 0; n < HALVINGS; n++) {
        snw_statics_info ignored = {0};
        snw_statics_start(st, start);
        st->to = 0.5 * (low + high);
        const bool known = snw_statics_newton(st, opts, &ignored) == SNW_OK;
        const bool stable =
            known && (branch_plainly_stable(st) || !(branch_stability(st).negative > st->negative));
        *(stable ? &low : &high) = st->to;
        st->to = 1;
        if (!known) return NAN;
    }
    return low > 0 ? 0.5 * (low + high) : 0;
}

// Side of the unstable equilibrium st->x, along st->direction, on which the start lies: 1 or -1; 1
// if on neither. An imperfection, such as a small load, displaces the unstable equilibrium to the
// side opposite to that of the stable one that continues the branch, hence away from the start too.
static double side_of_start(const snw_statics *st, const snw_state *start) {
    const snw_model *m = st->m;
    double along = 0, size = 0;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *block = &m->block[k];
        if (block->space != SNW_SPACE_RN) continue;
        for (int i = 0; i < block->n; i++) {
            const double typical = m->typical[block->dof + i];
            const double term = (start->q[block->q + i] - st->x[block->q + i]) *
                                st->direction[block->dof + i] / (typical * typical);
            along += term;
            size += fabs(term);
        }
    }
    return along < -ON_AXIS * fmax(size, ON_AXIS) ? -1 : 1;
}

// st->x <- stable equilibrium, from the unstable saved(st, 0), on the side of the start if there is
// one; the results of both sides are in saved(st, 1) and saved(st, 2).
static snw_status choose_side(snw_statics *st, const snw_statics_opts *opts, const snw_state *start,
                              snw_statics_info *info) {
    snw_status s[2];
    double side = 1;
    for (int k = 0; k < 2; k++) {
        memcpy(st->x, saved(st, 0), branch_size_of(st));
        (void)branch_stability(st);
        side = k == 0 ? side_of_start(st, start) : -side;
        s[k] = branch_leave_unstable(st, opts, side, info);
        if (s[k] == SNW_E_STOPPED) return s[k];
        memcpy(saved(st, 1 + k), st->x, branch_size_of(st));
    }
    if (s[0] != SNW_OK && s[1] != SNW_OK) return s[0];
    info->others = s[0] == SNW_OK && s[1] == SNW_OK &&
                   branch_distance(st->m, saved(st, 1), saved(st, 2)) > DISTINCT;
    memcpy(st->x, saved(st, s[0] == SNW_OK ? 1 : 2), branch_size_of(st));
    return SNW_OK;
}

bool snw_statics_has_potential(const snw_statics *st) {
    const snw_model *m = st->m;
    if (st->steady || m->nnonholonomic || m->nv == 0) return false;
    for (int i = 0; i < m->nload_point; i++) {
        if (m->load[m->load_point[i].load].body) return false;
    }
    for (int i = 0; i < m->nforce_field; i++) {
        if (!m->force_field[i].has_energy) return false;
    }
    // the pivots of a local model are then not those of a symmetric matrix
    for (int i = 0; m->local && i < m->ntendon; i++) {
        if (m->tendon[i].has_friction && m->tendon[i].sliding) return false;
    }
    return m->nlive == 0;
}

// Are the eigenvalues that tell stable from unstable equilibria computed?
static bool has_eigenvalues(const snw_statics *st) {
    return (st->m->local || st->m->nv <= MOST_EIGEN) && snw_statics_has_potential(st);
}

int snw_statics_negative(const snw_statics *st) { return has_eigenvalues(st) ? st->negative : -1; }

snw_status snw_branch_judge(snw_statics *st, const snw_statics_opts *opts, const snw_state *start,
                            snw_statics_info *info) {
    if (!snw_statics_has_potential(st)) return SNW_OK;
    info->unstable = branch_unstable(st);
    if (info->unstable == 0 || !has_eigenvalues(st)) {
        st->negative = 0;
        return SNW_OK;
    }
    const int before = st->negative;
    const snw_stability now = branch_stability(st);
    st->negative = now.negative;
    if (!(now.negative > 0) || (opts->follow && now.negative <= before)) return SNW_OK;

    const snw_statics_info was = *info;
    memcpy(saved(st, 0), st->x, branch_size_of(st));
    snw_status s = opts->follow ? SNW_E_SINGULAR : choose_side(st, opts, start, info);
    if (s == SNW_E_STOPPED) return s;
    const bool left = s == SNW_OK;
    if (!left) {
        *info = was;
        memcpy(st->x, saved(st, 0), branch_size_of(st));
    }
    // find the fraction of the load; the equilibrium found is saved meanwhile
    st->negative = before;
    memcpy(saved(st, 0), st->x, branch_size_of(st));
    info->left = find_crossing(st, opts, start);
    info->branch = left ? SNW_BRANCH_LEFT : SNW_BRANCH_UNSTABLE;
    memcpy(st->x, saved(st, 0), branch_size_of(st));
    st->negative = left ? 0 : now.negative;
    return SNW_OK;
}

// Is the start an equilibrium without the new loads, with loops closed?
static bool starts_in_balance(snw_statics *st, const snw_state *start) {
    const snw_model *m = st->m;
    snw_statics_start(st, start);
    snw_statics_evaluate(st, 0, st->x);
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(st->w->r[i]) / m->scale[i]);
    for (int i = 0; i < m->nconstraint; i++)
        most = fmax(most, fabs(st->w->violation[i]) / st->scale[m->nv + i]);
    return most < BALANCED;
}

snw_status snw_branch_of_start(snw_statics *st, const snw_statics_opts *opts,
                               const snw_state *start, snw_statics_info *info) {
    const snw_model *m = st->m;
    if (!opts->assemble || opts->follow || !has_eigenvalues(st) || info->reached < 1) return SNW_OK;
    if (m->local) return SNW_OK; // the motion takes many factorisations
    const snw_statics_info was = *info;
    memcpy(saved(st, 0), st->x, branch_size_of(st));
    snw_status s = SNW_E_DIVERGED;
    if (!starts_in_balance(st, start)) {
        snw_error open = {0};
        s = settle_closed(st, opts, info, &open);
    }
    const bool other = s == SNW_OK && branch_distance(m, saved(st, 0), st->x) > DISTINCT &&
                       branch_stability(st).value > STIFF;
    if (other) {
        info->branch = SNW_BRANCH_OF_START;
        return SNW_OK;
    }
    memcpy(st->x, saved(st, 0), branch_size_of(st));
    *info = was;
    return s == SNW_E_STOPPED ? s : SNW_OK;
}
