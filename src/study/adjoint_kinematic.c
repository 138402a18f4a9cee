// SPDX-License-Identifier: MIT
//
// Transposed equations of kinematic steps, theory.md (7.5.54). At a state of a stage, or at the end
// of a step, driven coordinates have their laws and the velocities v follow from those before, v_,
// by the rows,
//
//     A (v - v_) = C'p,   e'(q, v) = 0,   then   r = 0,   e" = 0   for accelerations and
//     multipliers,
//
// with A the inverse squares of the typical values in a stage and the mass matrix at its end. Where
// momentum is conserved A is the mass matrix and M v = X'P on the base, P the momentum of the
// state before the step and X the motions of the base in space; where resistance is in balance,
// r(q, v) = C'l with the derivative D by v instead. All of them are maps of the kind of a restart
// (7.5.9), whose covectors y, z, mu, nu belong to A (v - v_) - C'p, e', r and e".
#include "study/adjoint_explicit_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/fluid.h"
#include "math/vector.h"
#include "solve/dense.h"
#include "study/model_geometry.h"

#include <math.h>
#include <string.h>

static const double rounding = 1e-11, // of velocities, and of typical values per second
    slow = 1e-2,
                    irregular = 1e-6, // part of a change of velocities that is no impulse of rows
    singular_rows = 3e-8;             // as in constraint/locomotion.c

// ---- which --------------------------------------------------------------------------------------

// Are given strains and poses at rest, so that they have no momentum?
static bool laws_rest(const snw_model *m) {
    for (int i = 0; i < m->npose; i++) {
        if (!snw_pose_is_constant(&m->pose[i])) return false;
    }
    return m->nfield == 0;
}

// Do the bars read accelerations or reactions?
static bool reads_forces(const snw_adjoint *a) {
    bool any = false;
    for (int k = 0; k < a->nscalar; k++) {
        for (int i = 0; i < a->m->nv; i++) any = any || a->bars[k].acc[i] != 0;
        for (int i = 0; i < a->m->nconstraint; i++) any = any || a->bars[k].lambda[i] != 0;
    }
    return any;
}

// Do they read accelerations, beside the rounding of differences by which efforts without inertia
// are known not to depend on them?
static bool reads_accelerations(const snw_adjoint *a) {
    const snw_model *m = a->m;
    double acceleration = 0, force = 0, scale = 0;
    for (int i = 0; i < m->nv; i++) scale = fmax(scale, m->scale[i]);
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        for (int i = 0; i < m->nv; i++)
            acceleration = fmax(acceleration, fabs(b->acc[i]) * m->typical[i]);
        for (int i = 0; i < m->nconstraint; i++) force = fmax(force, fabs(b->lambda[i]) * scale);
    }
    return acceleration > 1e-12 * force;
}

bool adjoint_kinematic_applies(const snw_adjoint *a, const snw_locomotion *lo,
                               const snw_explicit_opts *opts) {
    const snw_model *m = a->m;
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].nrow > 0 && !m->loop[i].nonholonomic) return false; // closed anew
    }
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].condition >= 0) return false;
    }
    if (m->nconditional + m->nfeed + m->ntube + m->ngrid + m->nsliding_station + m->nbranch > 0)
        return false;
    if (m->nconstraint == 0) return false;
    const bool shared = snw_locomotion_is_shared(lo) || opts->form != SNW_REACTIONS_DISTRIBUTIVE;
    if (snw_locomotion_is_determined(lo)) return !shared || !reads_forces(a);
    if (shared) return false;
    if (snw_locomotion_class_of(lo) == SNW_LOCOMOTION_VISCOUS && reads_accelerations(a))
        return false; // they are differences of velocities
    return snw_locomotion_class_of(lo) != SNW_LOCOMOTION_SYMMETRIC ||
           (m->nloop == 0 && laws_rest(m));
}

bool adjoint_kinematic_is_open(const snw_locomotion *lo) {
    if (!lo || snw_locomotion_is_determined(lo)) return false;
    const snw_locomotion_class class = snw_locomotion_class_of(lo);
    return class == SNW_LOCOMOTION_UNDER || class == SNW_LOCOMOTION_FREE;
}

// ---- velocities ---------------------------------------------------------------------------------

void adjoint_momentum_tangent(snw_adjoint *a, double *before, const snw_state *s, const double *j,
                              const double *p) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, all = nv * nv;
    for (int k = 0; k < 2; k++) {
        snw_state_copy(m, s, a->still);
        memset(a->still->v, 0, nv * sizeof *a->still->v);
        memset(a->still->a, 0, nv * sizeof *a->still->a);
        memset(a->still->lambda, 0, (size_t)m->nconstraint * sizeof *a->still->lambda);
        if (k) {
            memcpy(a->still->a, j, nv * sizeof *j);
            memcpy(a->still->lambda, p, (size_t)m->nconstraint * sizeof *p);
        }
        snw_residual(m, a->in, a->still, false, a->w);
        snw_tangent_pass(m, NULL, a->w);
        snw_tangent_assemble(m, a->in, 1, 0, 0, a->w, a->K);
        if (!k) memcpy(before, a->K, all * sizeof *before);
    }
    adjoint_fix_rates(a, a->still);
    for (size_t i = 0; i < all; i++) a->K[i] -= before[i];
}

// a->impulse <- p of A (v - v_) = C'p, after the factors of A with its border. False: that is not
// what the step has done, near a singular configuration.
static bool find_impulse(snw_adjoint *a, const double *A, const double *jump, const double *v) {
    const int nv = a->m->nv, nr = a->m->nconstraint;
    double *x = a->x, left = 0, size = 0, fast = 0;
    memset(x, 0, (size_t)(nv + nr) * sizeof *x);
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < nv; i++) x[i] += A[(size_t)nv * (size_t)j + (size_t)i] * jump[j];
    }
    snw_bordered_matrix_solve(a->T, x);
    for (int k = 0; k < nr; k++) a->impulse[k] = -x[nv + k];
    for (int i = 0; i < nv; i++) {
        left = fmax(left, fabs(x[i]) / a->m->typical[i]);
        size = fmax(size, fabs(jump[i]) / a->m->typical[i]);
        fast = fmax(fast, fabs(v[i]) / a->m->typical[i]);
    }
    return left <= irregular * size + rounding * (fast + slow);
}

// Twist of coordinate k of the base in the world, at the motion in w.
static snw_twist base_twist(const snw_model *m, const snw_work *w, int dof) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (dof < b->dof || dof >= b->dof + b->n) continue;
        snw_twist S = b->S;
        if (m->seg[b->seg].kind != SNW_SEG_SCREW) {
            S = (snw_twist){0};
            S.e[dof - b->dof] = 1;
        }
        return snw_twist_to_parent(w->g[b->seg], S);
    }
    return snw_twist_zero();
}

static bool same_block(const snw_model *m, int i, int j) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space != SNW_SPACE_RN && i >= b->dof && i < b->dof + b->n)
            return j >= b->dof && j < b->dof + b->n;
    }
    return false;
}

// place += c times the derivatives of (X y)'P by the configuration at a fixed momentum P: motions
// of the base turn with those before them. *all <- X y
static void add_turning(const snw_model *m, const snw_work *w, int n, const int *dof, double c,
                        const double *y, snw_wrench P, double *place, snw_twist *all) {
    snw_twist X[6];
    *all = snw_twist_zero();
    for (int k = 0; k < n; k++) {
        X[k] = base_twist(m, w, dof[k]);
        *all = snw_twist_add(*all, snw_twist_scale(y[dof[k]], X[k]));
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++) {
            if (!same_block(m, dof[j], dof[k]) && !(dof[j] < dof[k])) continue;
            place[dof[j]] += c * y[dof[k]] * snw_power(P, snw_ad(X[j], X[k]));
        }
    }
}

static snw_wrench momentum_of(const snw_model *m, const snw_work *w) {
    const snw_wrench P = snw_momentum(m, w);
    return m->nfluid_point ? snw_wrench_add(P, snw_fluid_momentum(m, w)) : P;
}

// Places of given coordinates: bars by their laws, which take the place of those of their state.
static void give_coordinates(const snw_adjoint *a, int scalar) {
    const snw_bars *b = &a->bars[scalar];
    for (int i = 0; i < a->m->nv; i++) {
        if (!a->driven[i]) continue;
        a->covectors[scalar].law_rate[i] += b->place[i];
        b->place[i] = 0;
    }
}

// bars of places and rates -= derivatives of nu'e"
static void subtract_accelerations(const snw_adjoint *a, const kinematic_work *x,
                                   const snw_state *s, const double *nu, double *place,
                                   double *rate) {
    const size_t nv = (size_t)a->m->nv;
    double *by = x->rows;
    if (a->m->nloop == 0) return;
    memset(by, 0, 3 * nv * sizeof *by);
    const snw_state_bars to = {.place = by, .rate = by + nv, .acc = by + 2 * nv};
    snw_model_geometry_rows_by_state(x->geometry, s, a->w, nu, NULL, &to);
    for (size_t i = 0; i < nv; i++) {
        place[i] -= by[i];
        rate[i] -= by[nv + i];
    }
}

// place -= derivatives of z'e' by the configuration: rows are of velocities, and their tangents
// known.
static void subtract_rates(const snw_adjoint *a, const double *z, double *place) {
    const size_t nv = (size_t)a->m->nv;
    for (int k = 0; k < a->m->nconstraint; k++) {
        const double *row = a->C_place + nv * (size_t)k;
        for (size_t i = 0; i < nv && a->of_rates[k]; i++) place[i] -= z[k] * row[i];
    }
}

static snw_status fail_irregular(double t, snw_error *err) {
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s: the motion passes a singular "
                    "configuration of its contacts",
                    t);
}

static double row_size(const snw_model *m, int row) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *l = &m->loop[i];
        if (row >= l->row && row < l->row + l->nrow) return snw_loop_kept_size(m, l, row - l->row);
    }
    return 1;
}

// z <- covectors of rows that determine all rates, C'z = rate: the shortest ones of loops, in units
// of their sizes, where these are too many, and those of given rates. False: the rows are singular.
static bool solve_rows(const snw_adjoint *a, kinematic_work *x, const double *rate, double *z) {
    const snw_model *m = a->m;
    const int nv = m->nv, nr = m->nconstraint;
    int nu = 0, nl = 0, rank = 0;
    for (int i = 0; i < nv; i++) nu += !a->driven[i];
    for (int k = 0; k < m->nloop; k++) nl += m->loop[k].nrow;
    for (int k = 0; k < nl && nu > 0; k++) { // rows of loops come first
        const double *row = a->C + (size_t)nv * (size_t)k, size = row_size(m, k);
        for (int i = 0, u = 0; i < nv; i++) {
            if (!a->driven[i]) x->matrix[k * nu + u++] = row[i] * m->typical[i] / size;
        }
    }
    for (int i = 0, u = 0; i < nv; i++) {
        if (!a->driven[i]) x->side[u++] = rate[i] * m->typical[i];
    }
    if (nu > 0 &&
        (snw_minimum_norm(nu, nl, x->matrix, singular_rows, &x->arena, x->side, &rank) != SNW_OK ||
         rank < nu))
        return false;
    memset(z, 0, (size_t)nr * sizeof *z);
    for (int k = 0; k < nl && nu > 0; k++) z[k] = x->side[k] / row_size(m, k);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || !a->driven[d->dof]) continue;
        z[d->row] = rate[d->dof];
        for (int k = 0; k < nl; k++)
            z[d->row] -= z[k] * a->C[(size_t)nv * (size_t)k + (size_t)d->dof];
    }
    return true;
}

snw_status adjoint_kinematic_back(snw_adjoint *a, const snw_map *at, kinematic_equation of,
                                  const double *from, kinematic_work *x, snw_error *err) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    const snw_locomotion_class class = snw_locomotion_class_of(x->lo);
    const bool viscous = class == SNW_LOCOMOTION_VISCOUS,
               symmetric = class == SNW_LOCOMOTION_SYMMETRIC,
               open = adjoint_kinematic_is_open(x->lo);
    int base[6];
    const int nbase = snw_locomotion_base(x->lo, base);
    adjoint_clear_covectors(a);
    a->half = 0;
    adjoint_tangents(a, at->t_laws, &at->s, false);
    adjoint_fix_rates(a, &at->s);
    adjoint_find_driven(a, at);
    for (int k = 0; k < a->nscalar; k++) {
        adjoint_memory_begin(a, at, k);
    }
    const bool any = !viscous && reads_forces(a);
    if (any && of != KINEMATIC_MOMENTUM) {
        adjoint_place_matrix(a, a->M);
        adjoint_border(a, a->C, 1);
        SNW_TRY(adjoint_factor(a, true, "the accelerations", at->s.t, err));
        for (int k = 0; k < a->nscalar; k++) {
            const snw_bars *b = &a->bars[k];
            const snw_covectors *v = &a->covectors[k];
            adjoint_solve_transposed(a, b->acc, b->lambda, v->mu, v->nu);
            adjoint_add_transposed(m->nv, -1, a->K, v->mu, b->place);
            adjoint_add_transposed(m->nv, -1, a->D, v->mu, b->rate);
            subtract_accelerations(a, x, &at->s, v->nu, b->place, b->rate);
        }
    }
    // velocities
    const bool massive = symmetric || (open && of == KINEMATIC_END);
    const double *A = viscous ? a->D : massive ? a->M : x->metric;
    double *jump = x->jump;
    for (size_t i = 0; i < nv; i++) jump[i] = at->s.v[i] - from[i];
    memset(a->impulse, 0, nr * sizeof *a->impulse);
    const snw_wrench P = symmetric ? momentum_of(m, a->w) : snw_wrench_zero();
    const bool determined = snw_locomotion_is_determined(x->lo);
    if (of != KINEMATIC_MOMENTUM && !determined) {
        adjoint_place_matrix(a, A);
        adjoint_border(a, a->C, 1);
        SNW_TRY(adjoint_factor(a, true, "the velocities", at->s.t, err));
        if (open && !find_impulse(a, A, jump, at->s.v)) return fail_irregular(at->s.t, err);
    }
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        const snw_covectors *v = &a->covectors[k];
        if (of == KINEMATIC_MOMENTUM) { // minus the momentum of the state, along given motions
            memcpy(v->y, x->given + (size_t)k * nv, nv * sizeof *v->y);
        } else if (determined) {
            if (!solve_rows(a, x, b->rate, v->z)) return fail_irregular(at->s.t, err);
            subtract_rates(a, v->z, b->place);
            memset(b->rate, 0, nv * sizeof *b->rate);
        } else {
            adjoint_solve_transposed(a, b->rate, viscous ? b->lambda : NULL, v->y, v->z);
            subtract_rates(a, v->z, b->place);
            memset(b->rate, 0, nv * sizeof *b->rate);
        }
        if (viscous) {
            memcpy(v->mu, v->y, nv * sizeof *v->y);
            memset(v->y, 0, nv * sizeof *v->y);
            adjoint_add_transposed(m->nv, -1, a->K, v->mu, b->place);
        }
        adjoint_memory_back(a, at, k);
        if (!open && !symmetric) memset(v->y, 0, nv * sizeof *v->y); // zero to rounding
    }
    if (open || symmetric) {
        snw_twist turned;
        for (int k = 0; k < a->nscalar; k++) {
            const double *y = a->covectors[k].y;
            if (!symmetric) continue;
            add_turning(m, a->w, nbase, base, 1, y, P, a->bars[k].place, &turned);
            if (of != KINEMATIC_MOMENTUM) x->momentum[k] = snw_twist_add(x->momentum[k], turned);
        }
        memset(x->rows, 0, nv * sizeof *x->rows);
        adjoint_momentum_tangent(a, x->scratch, &at->s, massive ? jump : x->rows, a->impulse);
        for (int k = 0; k < a->nscalar; k++) {
            const snw_bars *b = &a->bars[k];
            const double *y = a->covectors[k].y;
            adjoint_add_transposed(m->nv, -1, a->K, y, b->place);
            if (of == KINEMATIC_MOMENTUM) adjoint_add_transposed(m->nv, -1, a->M, y, b->rate);
            if (open) adjoint_add_transposed(m->nv, 1, A, y, b->rate);
        }
    }
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        if (of == KINEMATIC_MOMENTUM) {
            for (int i = 0; i < m->ndrive; i++) { // rates of the laws
                const snw_drive *d = &m->drive[i];
                if (d->row >= 0) a->covectors[k].z[d->row] = b->rate[d->dof], b->rate[d->dof] = 0;
            }
        }
        give_coordinates(a, k);
        memset(b->acc, 0, nv * sizeof *b->acc);
        memset(b->lambda, 0, nr * sizeof *b->lambda);
    }
    return SNW_OK;
}

void adjoint_kinematic_find_given(snw_adjoint *a, const snw_map *at, kinematic_work *x) {
    const snw_model *m = a->m;
    int base[6];
    const int n = snw_locomotion_base(x->lo, base);
    double G[36], y[6];
    snw_twist X[6];
    adjoint_inputs_at(a, at->t_laws);
    snw_kinematics(m, a->in, &at->s, false, a->w);
    for (int k = 0; k < n; k++) X[k] = base_twist(m, a->w, base[k]);
    for (int k = 0; k < a->nscalar; k++) { // X y is that twist, a motion of the base
        double *to = x->given + (size_t)k * (size_t)m->nv;
        for (int i = 0; i < n; i++) {
            y[i] = snw_vector_dot(6, X[i].e, x->momentum[k].e);
            for (int j = 0; j < n; j++) G[j * n + i] = snw_vector_dot(6, X[i].e, X[j].e);
        }
        memset(to, 0, (size_t)m->nv * sizeof *to);
        if (snw_cholesky_factor(n, G) != SNW_OK) y[0] = NAN;
        snw_cholesky_solve(n, G, y);
        for (int i = 0; i < n; i++) to[base[i]] = -y[i];
    }
}

void adjoint_kinematic_sample(const snw_sampler *x, const snw_adjoint *a, const snw_map *map,
                              double *value) {
    const snw_model *m = x->m;
    for (int i = 0; i < m->nv && map->v0; i++) { // the metric of a stage
        const double jump = (map->s.v[i] - map->v0[i]) / (m->typical[i] * m->typical[i]);
        for (int k = 0; k < a->nscalar; k++) value[k] += a->covectors[k].y[i] * jump;
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->condition >= 0 || d->passive) continue;
        for (int k = 0; k < a->nscalar; k++)
            value[k] -= a->covectors[k].law_rate[d->dof] * x->in->drive[i].v;
    }
}
