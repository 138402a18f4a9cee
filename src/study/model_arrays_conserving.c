// SPDX-License-Identifier: MIT
//
// Derivatives of a scalar by numbers of the model through steps of the conserving scheme, theory.md
// (7.5.40): of the product X of the covectors of a step with its equations. With the covectors mu
// of the residual, H of the reference energy, kappa = mu'c/n of the gain of energy, and
//
//     mu_C = mu - kappa d,   mu_N = mu + H d,   y = M_1^-1 v_bar - kappa v_1, on the constraints,
//
// conservative forces and dT/dq have the covector mu_C, the others mu_N, the momenta at the end
// a_1 = Ad mu_C/h - y, so that those of the middle have 2 a_1 and those at the start -Ad mu_C/h -
// a_1. All of it are products of a virtual motion with residuals r, or r_c of conservative forces
// at rest, or r_0 of inertia alone, that the other schemes have too: momenta are M v = r_0(q, 0,
// v), and mu'dT/dq = v'(r_0(q, v + mu, 0) - r_0(q, v - mu, 0))/4 - [v, mu]'P/2, with the Lie
// bracket of spherical and free joints, since inertia forces are quadratic in the velocities. Where
// bases move momenta contain theirs, and no energy is kept: kappa = H = 0.
#include "study/adjoint_conserving_private.h"
#include "study/conserving_weights.h"
#include "study/model_arrays_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/lie_block.h"
#include "math/stumpff.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { CONSERVED_VECTORS = 7 };

typedef struct snw_conserved_arrays {
    snw_part_model *conservative, *inertia;
    snw_inputs *part_in;
    snw_state *s;
    snw_weight_source *weight; // nv
    double *line;              // CONSERVED_VECTORS x (nv + nconstraint), nsignal
} snw_conserved_arrays;

snw_status arrays_conserved_create(snw_model_arrays *a) {
    const snw_model *m = a->m;
    const size_t n = (size_t)(m->nv + m->nconstraint);
    snw_conserved_arrays *x = snw_alloc(sizeof *x);
    a->conserved = x;
    if (!x) return SNW_E_MEMORY;
    x->weight = snw_alloc(((size_t)m->nv + 1) * sizeof *x->weight);
    x->line = snw_alloc((CONSERVED_VECTORS * n + (size_t)m->nsignal + 1) * sizeof *x->line);
    if (!x->weight || !x->line) return SNW_E_MEMORY;
    for (int i = 0; i < m->nv; i++) x->weight[i] = snw_conserving_weight_source(m, i);
    SNW_TRY(snw_inputs_create(m, &x->part_in));
    SNW_TRY(snw_state_create(m, &x->s));
    SNW_TRY(snw_part_model_create(m, SNW_PART_CONSERVATIVE, &x->conservative));
    SNW_TRY(snw_part_model_create(m, SNW_PART_IMPULSE, &x->inertia));
    x->inertia->m.ntouching_rod = 0; // compliant ones, whose forces are no part of it
    return SNW_OK;
}

void arrays_conserved_destroy(snw_model_arrays *a) {
    snw_conserved_arrays *x = a->conserved;
    if (!x) return;
    snw_inputs_destroy(x->part_in);
    snw_state_destroy(x->s);
    snw_part_model_destroy(x->conservative);
    snw_part_model_destroy(x->inertia);
    snw_free(x->weight);
    snw_free(x->line);
    snw_free(x);
}

// The sum of one scalar over a step.
typedef struct conserved_sum {
    snw_model_arrays *a;
    snw_conserved_arrays *x;
    const snw_conserving *c; // evaluated at the step
    const snw_map *map;
    const snw_covectors *of;
    double theta, kappa;
    double *bar;
    double *mu_c, *rate, *y, *zeta, *a1; // nv; zeta: nconstraint
    double *v, *acc;
    double *integrand; // nsignal
} conserved_sum;

// Inputs of momenta (conserved_momentum_inputs) of those in a->in, in x->part_in, and for virtual
// motions in a->held, until `leave_momenta`.
static void take_momenta(const conserved_sum *z, double along) {
    snw_model_arrays *a = z->a;
    conserved_momentum_inputs(a->m, a->in, along, z->x->part_in);
    memcpy(a->held->pose, z->x->part_in->pose, (size_t)a->m->npose * sizeof *a->held->pose);
}

static void leave_momenta(const conserved_sum *z) {
    memcpy(z->a->held->pose, z->a->in->pose, (size_t)z->a->m->npose * sizeof *z->a->in->pose);
}

// x->s <- the configuration of s with velocities and accelerations (NULL: zero), no multipliers
static void set_motion(const conserved_sum *z, const snw_state *s, const double *v,
                       const double *acc) {
    const snw_model *m = z->a->m;
    const size_t bytes = (size_t)m->nv * sizeof(double);
    snw_state *to = z->x->s;
    snw_state_copy(m, s, to);
    memset(to->v, 0, bytes);
    memset(to->a, 0, bytes);
    memset(to->lambda, 0, (size_t)m->nconstraint * sizeof *to->lambda);
    if (v) memcpy(to->v, v, bytes);
    if (acc) memcpy(to->a, acc, bytes);
}

// bar -= derivatives of mu'r of a part at x->s
static void subtract_part(const conserved_sum *z, snw_part part, const double *mu) {
    const snw_part_model *of = part == SNW_PART_CONSERVATIVE ? z->x->conservative : z->x->inertia;
    snw_part_inputs(z->a->m, z->a->in, part, z->x->part_in);
    snw_residual(&of->m, z->x->part_in, z->x->s, false, z->a->w);
    arrays_subtract_part(z->a, of, part, z->x->part_in, mu, z->x->s, z->a->w, z->bar);
    arrays_add_given(z->a, true, z->bar);
}

// bar -= derivatives of mu'p of the momenta p whose velocities are the accelerations of x->s, with
// bases moved on for the time `along`
static void subtract_momenta(const conserved_sum *z, double along, const double *mu) {
    const snw_part_model *of = z->x->inertia;
    take_momenta(z, along);
    snw_residual(&of->m, z->x->part_in, z->x->s, false, z->a->w);
    arrays_subtract_part(z->a, of, SNW_PART_IMPULSE, z->x->part_in, mu, z->x->s, z->a->w, z->bar);
    arrays_add_given_momenta(z->a, along, z->bar);
    leave_momenta(z);
}

// to <- covector of momenta from that of momenta that snw_transport_half has transported
static void transport_back(const snw_model *m, const double *d, bool back, const double *from,
                           double *to) {
    memcpy(to, from, (size_t)m->nv * sizeof *to);
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        const snw_se3 half = snw_se3_exp(snw_lie_block_twist(b, back ? -0.5 : 0.5, d));
        const snw_twist e = snw_twist_to_parent(half, snw_lie_block_twist(b, 1, from));
        for (int k = 0; k < b->n; k++) to[b->dof + k] = e.e[k];
    }
}

// y (nv) += c [v, x] of the spherical and free joints
static void add_bracket(const snw_model *m, double c, const double *v, const double *x, double *y) {
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        const snw_twist e = snw_ad(snw_lie_block_twist(b, 1, v), snw_lie_block_twist(b, 1, x));
        for (int k = 0; k < b->n; k++) y[b->dof + k] += c * e.e[k];
    }
}

static double largest(const snw_model *m, const double *x) {
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(x[i]) / m->typical[i]);
    return most;
}

// The end of the step: y, zeta; a_1 <- covector of the momenta there
static void find_end(const conserved_sum *z) {
    const snw_model *m = z->a->m;
    const snw_conserving *c = z->c;
    const int nv = m->nv, nr = m->nconstraint;
    memcpy(z->y, z->of->law_rate, (size_t)nv * sizeof *z->y);
    for (int k = 0; k < nr; k++)
        z->zeta[k] = snw_vector_dot(nv, c->Z + (size_t)nv * (size_t)k, z->y);
    if (nr > 0) snw_cholesky_solve(nr, c->S, z->zeta);
    snw_cholesky_solve(nv, c->M, z->y);
    for (int k = 0; k < nr; k++) {
        const double *column = c->Z + (size_t)nv * (size_t)k;
        for (int i = 0; i < nv; i++) z->y[i] -= z->zeta[k] * column[i];
    }
    for (int i = 0; i < nv; i++) z->y[i] -= z->kappa * c->end->v[i];
    transport_back(m, c->d, true, z->mu_c, z->a1);
    for (int i = 0; i < nv; i++) z->a1[i] = z->a1[i] / z->map->h - z->y[i];
}

// Velocities, energy and rows at the end
static void add_end(const conserved_sum *z) {
    snw_model_arrays *a = z->a;
    const snw_model *m = a->m;
    const snw_conserving *c = z->c;
    const size_t nr = (size_t)m->nconstraint;
    if (c->moving) arrays_inputs_at(a, z->map->t_laws);
    set_motion(z, c->end, NULL, c->end->v);
    if (nr > 0) memcpy(z->x->s->lambda, c->S + nr * nr, nr * sizeof *c->S); // impulse at the end
    subtract_momenta(z, 0, z->y);
    set_motion(z, c->end, c->end->v, NULL);
    if (nr > 0) {
        snw_residual(m, a->in, z->x->s, false, a->w);
        if (a->needs_geometry && m->nloop > 0) {
            memset(z->rate, 0, nr * sizeof *z->rate);
            snw_model_geometry_subtract_rows(a->geometry, z->x->s, a->w, z->rate, z->zeta,
                                             z->bar + a->first_geometry);
            arrays_add_given(a, true, z->bar);
        }
        double *nu = z->zeta;
        for (size_t k = 0; k < nr; k++) nu[k] = -z->of->nu[k];
        memset(z->rate, 0, (size_t)m->nv * sizeof *z->rate);
        arrays_virtual_motion(a, z->x->s, z->rate);
        arrays_subtract_product(a, (arrays_covectors){.mu = z->rate, .nu = nu}, z->x->s, z->bar);
    }
    if (z->kappa == 0) return;
    snw_kinematics(m, a->in, z->x->s, false, a->w);
    arrays_subtract_motion(a, (snw_energy_weights){z->kappa, z->kappa, z->kappa}, z->x->s, z->bar);
}

// Weight over the arc of the step (conserving_forces.c): linear in masses and first moments
static void add_weight_over_arc(const conserved_sum *z) {
    snw_model_arrays *a = z->a;
    const snw_model *m = a->m;
    const snw_conserving *c = z->c;
    const snw_vec3 gravity = a->in->gravity;
    snw_vec3 by_gravity = {{0}};
    bool any = false;
    if (m->nlie_block == 0 || snw_dot(gravity, gravity) == 0) return;
    set_motion(z, c->mid, NULL, NULL);
    snw_kinematics(m, a->in, z->x->s, false, a->w);
    const snw_work *w = a->w;
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b)) continue;
        const snw_se3 g = w->g[b->seg];
        const snw_twist d = snw_lie_block_twist(b, 1, c->d);
        const snw_vec3 mu = snw_lie_block_twist(b, 1, z->mu_c).w;
        double stumpff[SNW_STUMPFF_MAX];
        snw_stumpff(0.25 * snw_dot(d.w, d.w), 3, stumpff);
        const double k = -0.25 * stumpff[3];
        const snw_vec3 down = snw_rotate_inv(g.R, gravity);
        // the term is k mu.((d_w x (m d_v + d_w x S)) x down) = (m d_v + d_w x S).u with the first
        // moment S about the root, in its axes
        const snw_vec3 u = snw_scale(k, snw_cross(snw_cross(down, mu), d.w));
        const snw_vec3 by_S = snw_cross(u, d.w), by_S_w = snw_rotate(g.R, by_S);
        snw_vec3 S = {{0}};
        double mass = 0;
        snw_contact_bars bars = {0};
        for (int s = 1; s < m->nseg; s++) {
            const snw_path *path = &m->path[m->seg[s].path];
            if (!snw_seg_has_mass(m, w, s) || path->n == 0 || path->dof[0] != b->dof) continue;
            const snw_inertia *M = &m->seg[s].M;
            const snw_vec3 own = snw_rotate_inv(w->g[s].R, by_S_w);
            const snw_vec3 at = snw_rotate_inv(g.R, snw_sub(w->g[s].p, g.p));
            // by mass and first moment of the segment, as eta'M X of unit velocities
            arrays_subtract_mass(a, s, snw_dot(by_S, at) + snw_dot(u, d.v), z->bar);
            arrays_subtract_first_moment(a, s, own, z->bar);
            mass += M->m;
            S = snw_add(
                S, snw_add(snw_scale(M->m, at), snw_rotate_inv(g.R, snw_rotate(w->g[s].R, M->mc))));
            bars.seg[0] = s;
            bars.pose[0] = (snw_wrench){{.m = snw_cross(M->mc, own), .f = snw_scale(M->m, own)}};
            if (a->needs_geometry) snw_model_geometry_more(a->geometry, 1, &bars, 1);
            any = true;
        }
        const snw_vec3 arm = snw_add(snw_scale(mass, d.v), snw_cross(d.w, S));
        const snw_vec3 lever = snw_scale(k, snw_cross(mu, snw_cross(d.w, arm)));
        by_gravity = snw_add(by_gravity, snw_rotate(g.R, lever));
        // with the root: `down` turns, and S is about it
        bars.seg[0] = b->seg;
        bars.pose[0] = (snw_wrench){{.m = snw_add(snw_cross(lever, down), snw_cross(by_S, S)),
                                     .f = snw_scale(-mass, by_S)}};
        if (a->needs_geometry) snw_model_geometry_more(a->geometry, 1, &bars, 1);
    }
    arrays_subtract_gravity(a, by_gravity, z->bar);
    if (any) arrays_subtract_motion(a, (snw_energy_weights){0}, z->x->s, z->bar);
    arrays_add_given(a, true, z->bar);
}

// dT/dq with mu, and momenta with 2 a_1, where bases move: mu'dT/dq = mu'(p' - G) - [v, mu]'P with
// G the inertia forces without accelerations and p' the rate of P at fixed velocities, a difference
// of order 4 of the momenta along the motion.
static void add_moving_momenta(const conserved_sum *z) {
    static const double weight[] = {2.0 / 3, -1.0 / 12};
    snw_model_arrays *a = z->a;
    const snw_model *m = a->m;
    const snw_conserving *c = z->c;
    const double *v = c->mid->v, *mu = z->of->mu, step = conserved_along(m, a->in, v);
    double *by = z->rate;
    snw_part_inputs(m, a->in, SNW_PART_IMPULSE, z->x->part_in);
    memset(z->x->part_in->pose_du, 0, (size_t)m->npose * sizeof *a->in->pose_du);
    set_motion(z, c->mid, v, NULL);
    snw_residual(&z->x->inertia->m, z->x->part_in, z->x->s, false, a->w);
    arrays_subtract_part(a, z->x->inertia, SNW_PART_IMPULSE, z->x->part_in, mu, z->x->s, a->w,
                         z->bar);
    arrays_add_given(a, false, z->bar);
    for (int j = -2; j <= 2 && step > 0; j++) {
        const double sign = j < 0 ? 1 : -1, part = j == 0 ? 0 : weight[(j < 0 ? -j : j) - 1];
        if (j == 0) continue;
        set_motion(z, c->mid, NULL, v);
        snw_move(m, c->mid->q, j * step, v, z->x->s->q);
        for (int i = 0; i < m->nv; i++) by[i] = sign * part / step * mu[i];
        subtract_momenta(z, j * step, by);
    }
    for (int i = 0; i < m->nv; i++) by[i] = 2 * z->a1[i];
    add_bracket(m, 1, v, mu, by);
    set_motion(z, c->mid, NULL, v);
    subtract_momenta(z, 0, by);
}

// Forces and momenta at the middle
static void add_middle(const conserved_sum *z) {
    snw_model_arrays *a = z->a;
    const snw_model *m = a->m;
    const snw_conserving *c = z->c;
    const double h = z->map->h, energy = z->of->energy, *d = c->d, *v = c->mid->v;
    double *rate = z->rate, *at = z->v, *acc = z->acc;
    // r with mu_N, and integrals of laws over the step
    a->in->integral_step = 0.5 * h;
    for (int i = 0; i < m->nv; i++) rate[i] = z->of->mu[i] + energy * d[i];
    for (int i = 0; i < m->nsignal; i++)
        z->integrand[i] = snw_signal_grows(&m->signal[i]) ? h * z->of->integrand[i] : 0;
    set_motion(z, c->mid, v, NULL);
    memcpy(z->x->s->lambda, c->mid->lambda, (size_t)m->nconstraint * sizeof(double));
    snw_residual(m, a->in, z->x->s, false, a->w);
    arrays_virtual_motion(a, z->x->s, rate);
    arrays_subtract_product(a, (arrays_covectors){.mu = rate, .integrand = z->integrand}, z->x->s,
                            z->bar);
    a->in->integral_step = 0;
    // inertia forces of r, which are no part of the step
    for (int i = 0; i < m->nv; i++) rate[i] = -rate[i];
    set_motion(z, c->mid, v, NULL);
    subtract_part(z, SNW_PART_IMPULSE, rate);
    add_weight_over_arc(z);
    if (c->moving) {
        add_moving_momenta(z);
        return;
    }
    // conservative forces at rest with mu_C - mu_N
    set_motion(z, c->mid, NULL, NULL);
    memcpy(z->x->s->lambda, c->mid->lambda, (size_t)m->nconstraint * sizeof(double));
    for (int i = 0; i < m->nv; i++) at[i] = -(z->kappa + energy) * d[i];
    subtract_part(z, SNW_PART_CONSERVATIVE, at);
    // dT/dq with mu_C and momenta with 2 a_1: s [v, mu] is as large as v
    const double size = largest(m, v), own = largest(m, z->mu_c);
    const double s = size > 0 && own > 0 ? size / own : 1;
    for (int i = 0; i < m->nv; i++) acc[i] = 2 * z->a1[i];
    add_bracket(m, 0.5, v, z->mu_c, acc);
    for (int i = 0; i < m->nv; i++) {
        rate[i] = -v[i] / (4 * s);
        at[i] = v[i] + s * z->mu_c[i];
        acc[i] *= -4 * s;
    }
    set_motion(z, c->mid, at, acc);
    subtract_part(z, SNW_PART_IMPULSE, rate);
    for (int i = 0; i < m->nv; i++) {
        rate[i] = -rate[i];
        at[i] = v[i] - s * z->mu_c[i];
    }
    set_motion(z, c->mid, at, NULL);
    subtract_part(z, SNW_PART_IMPULSE, rate);
}

// Momenta at the start, and the change of gravity there
static void add_start(const conserved_sum *z) {
    snw_model_arrays *a = z->a;
    const snw_model *m = a->m;
    const snw_conserving *c = z->c;
    transport_back(m, c->d, false, z->mu_c, z->rate);
    for (int i = 0; i < m->nv; i++) z->rate[i] = -z->rate[i] / z->map->h - z->a1[i];
    set_motion(z, c->now, NULL, c->now->v);
    if (c->moving) arrays_inputs_at(a, z->map->start_laws);
    subtract_momenta(z, 0, z->rate);
    if (c->moving) return;
    const snw_vec3 gravity = a->in->gravity;
    const double t = a->in->t, by = z->kappa + z->of->energy;
    arrays_inputs_at(a, z->map->gravity_laws);
    const snw_vec3 change = snw_sub(a->in->gravity, gravity);
    if (snw_dot(change, change) > 0) {
        set_motion(z, c->now, NULL, NULL);
        snw_kinematics(m, a->in, z->x->s, false, a->w);
        arrays_subtract_motion(a, (snw_energy_weights){.gravity = by}, z->x->s, z->bar);
        arrays_inputs_at(a, t);
        arrays_subtract_motion(a, (snw_energy_weights){.gravity = -by}, z->x->s, z->bar);
    }
    arrays_inputs_at(a, t);
}

// Weights of the energy correction
static void add_weights(const conserved_sum *z) {
    for (int i = 0; i < z->a->m->nv && z->theta != 0; i++) {
        const snw_weight_source *of = &z->x->weight[i];
        const double by = z->c->weight[i] > 0 ? of->factor * z->theta * z->c->d[i] * z->mu_c[i] : 0;
        switch (of->kind) {
        case SNW_WEIGHT_OF_ROD:
            arrays_subtract_diagonal(z->a, of->of, of->at, by, z->bar);
            break;
        case SNW_WEIGHT_OF_SPRING:
            arrays_subtract_spring(z->a, of->of, by, z->bar);
            break;
        case SNW_WEIGHT_OF_MASS:
            for (int k = 0; k < z->a->m->nseg; k++) arrays_subtract_mass(z->a, k, by, z->bar);
            break;
        case SNW_WEIGHT_CONSTANT:
        case SNW_WEIGHT_OF_OTHERS:
            break;
        }
    }
}

static void add_step(conserved_sum *z) {
    const snw_model *m = z->a->m;
    const snw_conserving *c = z->c;
    z->kappa = z->theta != 0 ? snw_vector_dot(m->nv, z->of->mu, c->correction) / c->length : 0;
    for (int i = 0; i < m->nv; i++) z->mu_c[i] = z->of->mu[i] - z->kappa * c->d[i];
    arrays_inputs_at(z->a, snw_map_stage_time(z->map, 0));
    find_end(z);
    add_end(z);
    if (c->moving) arrays_inputs_at(z->a, snw_map_stage_time(z->map, 0));
    add_middle(z);
    add_start(z);
    add_weights(z);
}

void arrays_add_conserved(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    const snw_model *m = a->m;
    const size_t n = (size_t)(m->nv + m->nconstraint);
    snw_conserved_arrays *x = a->conserved;
    const adjoint_conserved *o = adjoint->conserved;
    if (map->kind == SNW_MAP_CONSERVED) adjoint_conserved_show(adjoint, map);
    for (int k = 0; k < a->nscalar; k++) {
        const snw_covectors *of = &adjoint->covectors[k];
        double *bar = a->bar + (size_t)k * a->size;
        if (map->kind == SNW_MAP_ENERGY) {
            if (of->energy == 0) continue;
            arrays_inputs_at(a, map->t_laws);
            snw_kinematics(m, a->in, &map->s, false, a->w);
            arrays_subtract_motion(a, (snw_energy_weights){-of->energy, -of->energy, -of->energy},
                                   &map->s, bar);
            continue;
        }
        conserved_sum z = {.a = a,
                           .x = x,
                           .c = o->c,
                           .map = map,
                           .of = of,
                           .theta = o->theta,
                           .bar = bar,
                           .mu_c = x->line,
                           .rate = x->line + n,
                           .y = x->line + 2 * n,
                           .zeta = x->line + 3 * n,
                           .a1 = x->line + 4 * n,
                           .v = x->line + 5 * n,
                           .acc = x->line + 6 * n,
                           .integrand = x->line + CONSERVED_VECTORS * n};
        add_step(&z);
    }
}
