// SPDX-License-Identifier: MIT
//
// Derivatives of a scalar by arrays of the model, theory.md (7.5.11). With eta = J mu, the velocity
// of a segment when the rates are mu,
//
//     mu'r = mu'(K q + D v) + sum of eta'(M A) - (ad_V eta)'(M V) - eta'F
#include "study/model_arrays.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/dynamics.h"
#include "dynamics/joint.h"
#include "study/adjoint_private.h"
#include "study/conserving_weights.h"
#include "study/model_arrays_compare.h"
#include "study/model_arrays_private.h"
#include "study/model_branches.h"
#include "study/model_surroundings.h"

#include <math.h>
#include <string.h>

enum { INERTIA = 10, WRENCH = 6, SPRING = 2 };

// ---- layout -------------------------------------------------------------------------------------

static size_t rod_numbers(const snw_rod *rod) { return (size_t)rod->ndof * (size_t)rod->ndof; }

// Numbers before those of the laws.
static size_t arrays_size(const snw_model *m) {
    size_t n = SPRING * (size_t)m->nspring + INERTIA * (size_t)m->nseg;
    for (int i = 0; i < m->nrod; i++) n += 2 * rod_numbers(&m->rod[i]);
    return n + WRENCH * (size_t)m->nload_point;
}

// Poses and Magnus points with given strains.
static int given_count(const snw_model *m) { return m->npose + m->nfield; }

// Number of the wrenches by given motion i in a->given_bar of scalar k, three of them.
static size_t given_at(const snw_model_arrays *a, int k, int i) {
    return 3 * ((size_t)k * (size_t)given_count(a->m) + (size_t)i);
}

// Stiffness, damping and inertia of rods in a vector by sections: what does not follow from the
// laws of sections, which is nothing or the inertia of a body at a node; then the numbers of the
// laws.
static void replace_sections(const snw_model_arrays *a, const snw_model *m, double *out) {
    double *at = out;
    snw_model_sections_read(a->sections, m, out + a->size);
    snw_model_branches_read(m, true, out + a->first_branch);
    if (a->geometry) snw_model_geometry_drop_rest(m, out + a->first_geometry);
    for (int i = 0; i < m->nrod; i++) {
        memset(at, 0, 2 * rod_numbers(&m->rod[i]) * sizeof *at);
        at += 2 * rod_numbers(&m->rod[i]);
    }
    at += SPRING * m->nspring;
    for (int i = 0; i < m->nseg; i++, at += INERTIA) {
        snw_inertia M;
        snw_section_inertia(m, i, &M);
        at[0] -= M.m;
        for (int k = 0; k < 3; k++) at[1 + k] -= M.mc.e[k];
        for (int k = 0; k < 6; k++) at[4 + k] -= M.I[k];
    }
}

void snw_model_arrays_read(const snw_model_arrays *a, const snw_model *m, double *out) {
    double *const all = out;
    const size_t laws = arrays_size(m), around = laws + snw_model_laws_size(a->laws);
    snw_model_laws_read(a->laws, m, out + laws);
    snw_surroundings_read(m, out + around);
    snw_model_branches_read(m, false, out + a->first_branch);
    if (a->geometry) snw_model_geometry_read(m, out + a->first_geometry);
    for (int i = 0; i < m->nrod; i++) {
        const size_t n = rod_numbers(&m->rod[i]);
        memcpy(out, m->rod[i].K, n * sizeof *out);
        memcpy(out + n, m->rod[i].D, n * sizeof *out);
        out += 2 * n;
    }
    for (int i = 0; i < m->nspring; i++, out += SPRING) {
        out[0] = m->spring[i].stiffness;
        out[1] = m->spring[i].damping;
    }
    for (int i = 0; i < m->nseg; i++, out += INERTIA) {
        const snw_inertia *M = &m->seg[i].M;
        out[0] = M->m;
        for (int k = 0; k < 3; k++) out[1 + k] = M->mc.e[k];
        for (int k = 0; k < 6; k++) out[4 + k] = M->I[k];
    }
    for (int i = 0; i < m->nload_point; i++, out += WRENCH) {
        snw_wrench F = {0};
        if (snw_load_is_constant(&m->load[m->load_point[i].load]))
            snw_load_at(m, i, (snw_at){0}, &F);
        memcpy(out, F.e, sizeof F.e);
    }
    if (a->by_sections) replace_sections(a, m, all);
}

// out (n) <- the largest of x (n)
static void spread_largest(size_t n, const double *x, double *out) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    for (size_t i = 0; i < n; i++) out[i] = most;
}

void snw_model_arrays_scale(const snw_model_arrays *a, const double *x, double *out) {
    const snw_model *m = a->m;
    size_t at = 0;
    for (int i = 0; i < 2 * m->nrod; i++) {
        const size_t n = rod_numbers(&m->rod[i / 2]);
        spread_largest(n, x + at, out + at);
        at += n;
    }
    for (int i = 0; i < SPRING * m->nspring; i++, at++) out[at] = fabs(x[at]);
    for (int i = 0; i < m->nseg; i++, at += INERTIA) {
        spread_largest(1, x + at, out + at);
        spread_largest(3, x + at + 1, out + at + 1);
        spread_largest(6, x + at + 4, out + at + 4);
    }
    for (int i = 0; i < 2 * m->nload_point; i++, at += WRENCH / 2)
        spread_largest(WRENCH / 2, x + at, out + at);
    for (; at < snw_model_arrays_size(a); at++)
        out[at] = at < a->first_geometry || at >= a->size ? fabs(x[at]) : fmax(fabs(x[at]), 1);
    snw_model_branches_scale(m, out + a->first_branch);
}

// ---- memory -------------------------------------------------------------------------------------

snw_status snw_model_arrays_create(const snw_model *m, int nscalar, bool geometry,
                                   snw_arrays_schemes schemes, snw_model_arrays **out) {
    const bool motions = !schemes.hard;
    snw_model_arrays *a = snw_alloc(sizeof *a);
    *out = a;
    if (!a) return SNW_E_MEMORY;
    *a = (snw_model_arrays){
        .m = m, .nscalar = nscalar, .motions = motions, .tree = *m, .in_time = NAN};
    a->typical = schemes.kinematic;
    a->tree.nfluid_point = a->tree.ncontact_point = a->tree.ntouching_rod = 0;
    a->tree.nstop = a->tree.nforce_element = a->tree.nforce_field_point = 0;
    SNW_TRY(snw_model_laws_create(m, &a->laws));
    SNW_TRY(snw_model_sections_create(m, &a->sections));
    a->first_branch = arrays_size(m) + snw_model_laws_size(a->laws) + snw_surroundings_size(m);
    a->first_geometry = a->size = a->first_branch + snw_model_branches_size(m);
    // contact forces of that scheme are means between gaps: not differentiated by geometry
    const bool fixed = schemes.conserving && m->ncontact > 0;
    if (geometry && !fixed && snw_geometry_is_gathered(m)) {
        SNW_TRY(snw_model_geometry_create(m, motions, &a->geometry));
        a->size += snw_model_geometry_size(m);
        a->needs_geometry = true;
    }
    a->bar = snw_alloc(((size_t)nscalar * a->size + 1) * sizeof *a->bar);
    a->given_bar = snw_alloc((given_at(a, nscalar, 0) + 1) * sizeof *a->given_bar);
    a->section_bar =
        snw_alloc((a->size + snw_model_sections_size(a->sections) + 1) * sizeof *a->section_bar);
    a->by_signal = snw_alloc(((size_t)m->nsignal + (size_t)m->nv + 1) * sizeof *a->by_signal);
    if (!a->bar || !a->section_bar || !a->by_signal || !a->given_bar) return SNW_E_MEMORY;
    snw_model_arrays_clear(a);
    a->virtual_rate = a->by_signal + m->nsignal;
    SNW_TRY(snw_inputs_create(m, &a->in));
    SNW_TRY(snw_inputs_create(m, &a->held));
    SNW_TRY(snw_state_create(m, &a->s));
    SNW_TRY(snw_state_create(m, &a->trial));
    SNW_TRY(snw_work_create(m, &a->w));
    SNW_TRY(snw_work_create(m, &a->at_mu));
    return schemes.conserving ? arrays_conserved_create(a) : SNW_OK;
}

void snw_model_arrays_destroy(snw_model_arrays *a) {
    if (!a) return;
    snw_model_laws_destroy(a->laws);
    snw_model_sections_destroy(a->sections);
    snw_free(a->section_bar);
    snw_free(a->given_bar);
    snw_free(a->by_signal);
    snw_model_geometry_destroy(a->geometry);
    snw_inputs_destroy(a->in);
    snw_inputs_destroy(a->held);
    snw_state_destroy(a->s);
    snw_state_destroy(a->trial);
    snw_work_destroy(a->w);
    snw_work_destroy(a->at_mu);
    arrays_conserved_destroy(a);
    snw_free(a->bar);
    snw_free(a);
}

size_t snw_model_arrays_size(const snw_model_arrays *a) {
    return a->size + (a->by_sections ? snw_model_sections_size(a->sections) : 0);
}

void snw_model_arrays_by_sections(snw_model_arrays *a, bool yes) { a->by_sections = yes; }

const double *snw_model_arrays_bars(const snw_model_arrays *a, int scalar) {
    return a->bar + (size_t)scalar * a->size;
}

void snw_model_arrays_clear(snw_model_arrays *a) {
    memset(a->bar, 0, (size_t)a->nscalar * a->size * sizeof *a->bar);
    memset(a->given_bar, 0, given_at(a, a->nscalar, 0) * sizeof *a->given_bar);
    a->given_waits = false;
}

// ---- products -----------------------------------------------------------------------------------

// bar (INERTIA) -= derivative of eta'(M X) by the numbers of M
static void subtract_inertia(snw_twist eta, snw_twist X, double *bar) {
    const snw_vec3 moment = snw_add(snw_cross(X.v, eta.w), snw_cross(eta.v, X.w));
    const snw_vec3 a = eta.w, b = X.w;
    bar[0] -= snw_dot(eta.v, X.v);
    for (int k = 0; k < 3; k++) {
        bar[1 + k] -= moment.e[k];
        bar[4 + k] -= a.e[k] * b.e[k];
    }
    bar[7] -= a.y * b.z + a.z * b.y;
    bar[8] -= a.z * b.x + a.x * b.z;
    bar[9] -= a.x * b.y + a.y * b.x;
}

// w <- velocities of all segments at q when the rates are mu and nothing else moves
static void virtual_motion(snw_model_arrays *a, const snw_state *s, const double *mu, snw_work *w) {
    const snw_model *m = a->m;
    memcpy(a->trial->q, s->q, (size_t)m->nq * sizeof *s->q);
    memcpy(a->trial->z, s->z, (size_t)m->nsignal * sizeof *s->z); // conditions
    memcpy(a->trial->v, mu, (size_t)m->nv * sizeof *mu);
    snw_kinematics(&a->tree, a->held, a->trial, false, w);
}

void snw_model_arrays_finish(snw_model_arrays *a) {
    const int npose = a->m->npose;
    if (!a->given_waits) return;
    for (int k = 0; k < a->nscalar; k++) {
        double *laws = a->bar + (size_t)k * a->size + arrays_size(a->m);
        for (int i = 0; i < given_count(a->m); i++) {
            snw_wrench *by = a->given_bar + given_at(a, k, i);
            if (i < npose) {
                snw_model_laws_add_pose(a->laws, i, a->in, by, laws);
            } else {
                snw_model_laws_add_strains(a->laws, i - npose, a->in->t, by, laws);
            }
            memset(by, 0, 3 * sizeof *by);
        }
    }
    a->given_waits = false;
}

// a->held <- inputs a->in with all given motions at rest
static void hold_inputs(snw_model_arrays *a) {
    const snw_model *m = a->m;
    snw_inputs_copy(a->in, a->held);
    memset(a->held->pose_u, 0, (size_t)m->npose * sizeof *a->held->pose_u);
    memset(a->held->pose_du, 0, (size_t)m->npose * sizeof *a->held->pose_du);
    memset(a->held->dxi, 0, (size_t)m->nfield * sizeof *a->held->dxi);
    memset(a->held->ddxi, 0, (size_t)m->nfield * sizeof *a->held->ddxi);
}

// a->in, a->held <- inputs at time t: those that the arrays or the adjoint have, if they are of
// that time. Before, the bars of given motions that wait for the time of the last ones.
static void inputs_at(snw_model_arrays *a, const snw_adjoint *adjoint, double t) {
    if (a->in_time != t) {
        snw_model_arrays_finish(a);
        if (adjoint && adjoint->in_time == t && adjoint->in->t == t) {
            snw_inputs_copy(adjoint->in, a->in);
        } else {
            snw_inputs_at(a->m, t, a->in);
        }
    }
    a->in_time = t;
    a->in->integral_step = 0;
    hold_inputs(a);
}

void snw_model_arrays_set_manual(snw_model_arrays *a, const snw_manual_inputs *manual) {
    a->in->manual = a->held->manual = manual;
    snw_model_arrays_finish(a);
    a->in_time = NAN;
}

// bar -= x y' (n x n, by rows)
static void subtract_outer(int n, const double *x, const double *y, double *bar) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) bar[i * n + j] -= x[i] * y[j];
    }
}

// bar (SPRING) -= mu'f of a spring with unit stiffness, with unit damping
static void subtract_spring(const snw_model *m, const snw_spring *from, const double *mu,
                            const snw_state *s, bool is_static, double *bar) {
    const snw_block *b = &m->block[from->block];
    snw_spring unit = *from;
    double f[3];
    unit.stiffness = 1, unit.damping = unit.friction = 0;
    snw_spring_force(m, &unit, s->q, NULL, f);
    for (int i = 0; i < b->n; i++) bar[0] -= mu[b->dof + i] * f[i];
    for (int i = 0; i < b->n && !is_static; i++) bar[1] -= mu[b->dof + i] * s->v[b->dof + i];
}

// First inertia in a vector of the arrays.
static size_t first_inertia(const snw_model *m) {
    return arrays_size(m) - WRENCH * (size_t)m->nload_point - INERTIA * (size_t)m->nseg;
}

// Bars of given motion i for the scalar of `bar`, and what the last sweep over geometry adds to
// them; false: nothing.
static bool take_given(snw_model_arrays *a, int i, const double *bar, snw_wrench by[3],
                       snw_wrench **to) {
    const int k = (int)((size_t)(bar - a->bar) / a->size);
    *to = a->given_bar + given_at(a, k, i);
    if (!snw_model_geometry_take_motion(a->geometry, i, by)) return false;
    a->given_waits = true;
    return true;
}

// Derivatives by the laws of poses that move and of given strains, from those of the last sweep
// over geometry, for the scalar of `bar`: frames and steps at one time have the same laws, so that
// their sum waits for another time.
static void add_given(snw_model_arrays *a, const double *bar) {
    if (!a->geometry || !a->motions) return;
    snw_wrench by[3], *to;
    for (int i = 0; i < given_count(a->m); i++) {
        if (!take_given(a, i, bar, by, &to)) continue;
        for (int j = 0; j < 3; j++) to[j] = snw_wrench_add(to[j], by[j]);
    }
}

// bar -= derivatives of mu'r - nu'e - integrand'E at state s, whose forces are in a->w, with the
// virtual motion in a->at_mu
static void subtract_products(snw_model_arrays *a, arrays_covectors by, const snw_state *s,
                              bool is_static, double *bar) {
    const snw_model *m = a->m;
    const double *mu = by.mu;
    const snw_product x = {.in = a->in,
                           .s = s,
                           .w = a->w,
                           .at_mu = a->at_mu,
                           .mu = mu,
                           .nu = by.nu,
                           .integrand = by.integrand,
                           .half = a->in->integral_step,
                           .is_static = is_static,
                           .by_signal = a->by_signal};
    double *laws = bar + arrays_size(m), *around = laws + snw_model_laws_size(a->laws);
    snw_model_laws_subtract(a->laws, &x, laws);
    snw_surroundings_subtract(m, &x, around);
    if (a->needs_geometry) {
        snw_model_geometry_subtract(a->geometry, &x, bar + a->first_geometry);
        add_given(a, bar);
    }
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        const double *own = mu + rod->dof0;
        subtract_outer(rod->ndof, own, s->q + rod->dof0 + rod->shift, bar);
        bar += rod_numbers(rod);
        if (!is_static) subtract_outer(rod->ndof, own, s->v + rod->dof0, bar);
        bar += rod_numbers(rod);
    }
    for (int i = 0; i < m->nspring; i++, bar += SPRING)
        subtract_spring(m, &m->spring[i], mu, s, is_static, bar);
    for (int i = 0; i < m->nseg; i++, bar += INERTIA) {
        if (!snw_seg_has_mass(m, a->w, i)) continue;
        const snw_twist eta = a->at_mu->V[i], V = a->w->V[i];
        subtract_inertia(eta, a->w->A[i], bar);
        if (!is_static) subtract_inertia(snw_twist_scale(-1, snw_ad(V, eta)), V, bar);
    }
    for (int i = 0; i < m->nload_point; i++, bar += WRENCH) {
        const int seg = m->load_point[i].seg;
        if (a->in->manual && a->in->manual->load_given[m->load_point[i].load]) continue;
        const bool body = m->load[m->load_point[i].load].body;
        const snw_twist eta = a->at_mu->V[seg];
        const snw_vec3 w = body ? eta.w : snw_rotate(a->w->g[seg].R, eta.w);
        const snw_vec3 v = body ? eta.v : snw_rotate(a->w->g[seg].R, eta.v);
        for (int k = 0; k < 3; k++) bar[k] += w.e[k], bar[3 + k] += v.e[k];
    }
}

// bar -= derivatives of y'M (v - v_before) of a restart by the inertias
static void subtract_momentum(snw_model_arrays *a, const double *y, const snw_map *map,
                              double *bar) {
    const snw_model *m = a->m;
    for (int i = 0; i < m->nv; i++) a->s->v[i] = map->s.v[i] - map->before[i];
    virtual_motion(a, &map->s, y, a->at_mu);
    virtual_motion(a, &map->s, a->s->v, a->w);
    snw_surroundings_subtract_momentum(m, a->at_mu, a->w,
                                       bar + arrays_size(m) + snw_model_laws_size(a->laws));
    bar += first_inertia(m);
    for (int i = 0; i < m->nseg; i++, bar += INERTIA) {
        if (snw_seg_has_mass(m, a->w, i)) subtract_inertia(a->at_mu->V[i], a->w->V[i], bar);
    }
}

// bar -= derivatives of y'(M (v - v_before) - C'p) of a restart by geometric numbers: of the
// difference of two residuals at rest, with accelerations and multipliers and without.
static void subtract_geometric_momentum(snw_model_arrays *a, const double *y, const double *impulse,
                                        const snw_map *map, double *bar) {
    const snw_model *m = a->m;
    for (int k = 0; k < 2; k++) {
        double *mu = a->virtual_rate;
        for (int i = 0; i < m->nv; i++) {
            a->s->v[i] = 0;
            a->s->a[i] = k ? 0 : map->s.v[i] - map->before[i];
            mu[i] = k ? -y[i] : y[i];
        }
        for (int i = 0; i < m->nconstraint; i++) a->s->lambda[i] = k ? 0 : impulse[i];
        memset(a->by_signal, 0, (size_t)m->nsignal * sizeof *a->by_signal);
        snw_residual(m, a->in, a->s, false, a->w);
        virtual_motion(a, a->s, mu, a->at_mu);
        const snw_product x = {.in = a->in,
                               .s = a->s,
                               .w = a->w,
                               .at_mu = a->at_mu,
                               .mu = mu,
                               .by_signal = a->by_signal};
        snw_model_geometry_subtract(a->geometry, &x, bar + a->first_geometry);
        add_given(a, bar);
    }
}

// bar -= derivatives of the rows of accelerations, and of a restart those of velocities and its
// momentum, by geometric numbers; after the residual at its state.
static void subtract_geometric_rows(snw_model_arrays *a, const snw_adjoint *adjoint,
                                    const snw_map *map) {
    const bool projects = map->kind == SNW_MAP_RESTART;
    if (!a->needs_geometry) return;
    for (int k = 0; k < a->nscalar && a->m->nloop > 0; k++) {
        const snw_covectors *of = &adjoint->covectors[k];
        double *bar = a->bar + (size_t)k * a->size;
        snw_model_geometry_subtract_rows(a->geometry, a->s, a->w, of->nu, projects ? of->z : NULL,
                                         bar + a->first_geometry);
        add_given(a, bar);
    }
    // given coordinates alone also take momentum where their rates jump
    for (int k = 0; k < a->nscalar && projects && a->m->nconstraint > 0; k++)
        subtract_geometric_momentum(a, adjoint->covectors[k].y, adjoint->impulse, map,
                                    a->bar + (size_t)k * a->size);
}

// Bars of the laws of drives += derivatives by value, rate and acceleration of their motions.
static void add_drives(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    const snw_model *m = a->m;
    const bool rates = map->kind == SNW_MAP_STEP || map->steady;
    const bool rest = map->kind == SNW_MAP_STATIC;
    for (int i = 0; i < m->ndrive && a->motions; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || !snw_drive_holds(m, &map->s, i)) continue;
        if (snw_drive_is_fixed(m, i) && !map->ode.locomotion) continue; // with the rows
        if (a->in->manual && a->in->manual->motor_given[d->motor]) continue;
        for (int k = 0; k < a->nscalar; k++) {
            const snw_covectors *of = &adjoint->covectors[k];
            const double nu = of->nu[d->row];
            double w[3] = {-nu, 0, 0};
            if (rates) w[1] = of->by_law_rate[d->dof], w[2] = of->by_law_acc[d->dof];
            if (!rates && !rest) // its rows are those of rates, and of places in kinematic steps
                w[0] = map->ode.locomotion ? of->law_rate[d->dof] : 0,
                w[1] = map->kind == SNW_MAP_RESTART ? of->z[d->row] : 0, w[2] = nu;
            snw_model_laws_add_drive(a->laws, i, map->t_laws, w,
                                     a->bar + (size_t)k * a->size + arrays_size(m));
        }
    }
}

// The same of a step of collocation, at stage i, or at its end.
static void add_stage_drives(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map,
                             int i) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, stages = (size_t)map->points.s;
    const size_t ne = (size_t)adjoint_stage_extra(adjoint), n = stages * (nv + ne);
    const bool end = i == map->points.s;
    for (int j = 0; j < m->ndrive; j++) {
        const snw_drive *d = &m->drive[j];
        if (d->row < 0 || !snw_drive_holds(m, &map->s, j)) continue;
        if (a->in->manual && a->in->manual->motor_given[d->motor]) continue;
        for (int k = 0; k < a->nscalar; k++) {
            const snw_covectors *of = &adjoint->covectors[k];
            const double *mu = adjoint->stage_mu + (size_t)k * n;
            double w[3] = {of->y[d->dof], of->law_rate[d->dof], 0};
            if (!end)
                adjoint_stage_by_drive(adjoint, i, j, mu + (size_t)i * nv,
                                       mu + stages * nv + (size_t)i * ne, w);
            snw_model_laws_add_drive(a->laws, j, snw_map_stage_time(map, i), w,
                                     a->bar + (size_t)k * a->size + arrays_size(m));
        }
    }
}

static void add_stages(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    const size_t nv = (size_t)a->m->nv, stages = (size_t)map->points.s;
    const size_t nm = (size_t)adjoint_stage_memory(adjoint), end = stages * nv;
    const size_t ne = (size_t)adjoint_stage_extra(adjoint), n = end + stages * ne;
    for (size_t i = 0; i < stages; i++) {
        const snw_state *s = adjoint->stage[i];
        inputs_at(a, adjoint, snw_map_stage_time(map, (int)i));
        snw_residual(a->m, a->in, s, false, a->w);
        for (int k = 0; k < a->nscalar; k++) {
            const double *mu = adjoint->stage_mu + (size_t)k * n;
            double *nu = adjoint->covectors[k].nu;
            memset(nu, 0, (size_t)a->m->nconstraint * sizeof *nu);
            for (size_t j = nm; j < ne; j++)
                nu[adjoint_stage_row(a->m, (int)(j - nm))] = mu[end + i * ne + j];
            const arrays_covectors by = {.mu = mu + i * nv,
                                         .nu = ne > nm ? nu : NULL,
                                         .integrand = nm ? mu + end + i * ne : NULL};
            virtual_motion(a, s, by.mu, a->at_mu);
            subtract_products(a, by, s, false, a->bar + (size_t)k * a->size);
        }
    }
    for (int i = 0; i < map->points.s + 1 && a->m->ndrive > 0; i++)
        add_stage_drives(a, adjoint, map, i);
}

static void add_explicit(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    for (int i = 0; i < adjoint_runge_kutta_count(adjoint); i++) {
        int part;
        const snw_map at = adjoint_runge_kutta_show(adjoint, map, i, &part);
        snw_model_arrays_add(a, adjoint, &at);
    }
}

static void add_fold(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    for (int i = adjoint_fold_count(); i-- > 0;) {
        const snw_map at = adjoint_fold_show(adjoint, map, i);
        snw_model_arrays_add(a, adjoint, &at);
    }
}

void snw_model_arrays_add(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    const snw_model *m = a->m;
    if (map->kind == SNW_MAP_EXPLICIT) {
        add_explicit(a, adjoint, map);
        return;
    }
    if (map->kind == SNW_MAP_STAGES) {
        add_stages(a, adjoint, map);
        return;
    }
    if (map->kind == SNW_MAP_FOLD) {
        add_fold(a, adjoint, map);
        return;
    }
    if (map->kind == SNW_MAP_HARD) {
        arrays_add_hard(a, adjoint, map);
        return;
    }
    if (map->kind == SNW_MAP_CONSERVED || map->kind == SNW_MAP_ENERGY) {
        arrays_add_conserved(a, adjoint, map);
        return;
    }
    const bool equilibrium = map->kind == SNW_MAP_STATIC, is_static = equilibrium && !map->steady;
    if (equilibrium && map->hard) {
        arrays_add_rest(a, adjoint, map);
        add_drives(a, adjoint, map);
        return;
    }
    const double *z = adjoint_map_state(map).z; // integrals before half a step of integrands
    inputs_at(a, adjoint, map->t_laws);
    a->in->integral_step = a->held->integral_step = adjoint_half_step(map);
    snw_state_copy(m, &map->s, a->s);
    if (m->nsignal > 0) memcpy(a->s->z, z, (size_t)m->nsignal * sizeof *z);
    if (map->kind == SNW_MAP_STEP || map->steady) snw_constraints_impose(m, a->in, a->s);
    snw_residual(m, a->in, a->s, is_static, a->w);
    const bool rows = equilibrium || map->kind == SNW_MAP_STEP; // others have those of rates
    for (int k = 0; k < a->nscalar; k++) {
        const snw_covectors *of = &adjoint->covectors[k];
        const arrays_covectors by = {of->mu, rows ? of->nu : NULL,
                                     equilibrium ? NULL : of->integrand};
        virtual_motion(a, a->s, by.mu, a->at_mu);
        subtract_products(a, by, a->s, is_static, a->bar + (size_t)k * a->size);
        if (m->nbranch)
            snw_model_branches_subtract(m, map, of->mu, of->branch,
                                        a->bar + (size_t)k * a->size + a->first_branch);
    }
    add_drives(a, adjoint, map);
    if (!rows) subtract_geometric_rows(a, adjoint, map);
    if (map->kind != SNW_MAP_RESTART || m->nconstraint == 0) return;
    for (int k = 0; k < a->nscalar; k++)
        subtract_momentum(a, adjoint->covectors[k].y, map, a->bar + (size_t)k * a->size);
}

// bar += derivatives of energies at the state of a frame, whose motion is in a->w.
static void add_energies(snw_model_arrays *a, const snw_energy_weights *c, const snw_state *s,
                         double *bar) {
    const snw_model *m = a->m;
    double *laws = bar + arrays_size(m);
    snw_vec3 moment = {{0}};
    snw_surroundings_add_energy(m, a->w, c->elastic, laws + snw_model_laws_size(a->laws));
    if (m->nbranch) snw_model_branches_add_energy(m, s, c->elastic, bar + a->first_branch);
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        const double *q = s->q + rod->dof0 + rod->shift;
        for (int k = 0; k < rod->ndof && snw_seg_is_active(m, a->w, rod->seg0); k++) {
            for (int j = 0; j < rod->ndof; j++)
                bar[k * rod->ndof + j] += 0.5 * c->elastic * q[k] * q[j];
        }
        bar += 2 * rod_numbers(rod);
    }
    for (int i = 0; i < m->nspring; i++, bar += SPRING) {
        snw_spring unit = m->spring[i];
        unit.stiffness = 1;
        if (snw_seg_is_active(m, a->w, m->block[unit.block].seg))
            bar[0] += c->elastic * snw_spring_energy(m, &unit, s->q);
    }
    for (int i = 0; i < m->nseg; i++, bar += INERTIA) {
        if (!snw_seg_has_mass(m, a->w, i)) continue;
        const snw_inertia *M = &m->seg[i].M;
        const snw_se3 g = a->w->g[i];
        const snw_vec3 down = snw_rotate_inv(g.R, a->in->gravity);
        subtract_inertia(snw_twist_scale(-0.5 * c->kinetic, a->w->V[i]), a->w->V[i], bar);
        bar[0] -= c->gravity * snw_dot(a->in->gravity, g.p);
        for (int k = 0; k < 3; k++) bar[1 + k] -= c->gravity * down.e[k];
        moment = snw_add(moment, snw_add(snw_scale(M->m, g.p), snw_rotate(g.R, M->mc)));
    }
    snw_model_laws_add_gravity(a->laws, snw_scale(-c->gravity, moment), a->in, laws);
}

// ---- for steps with hard contacts, and of the conserving scheme ---------------------------------

void arrays_add_given(snw_model_arrays *a, bool accelerations, const double *bar) {
    snw_wrench by[3], *to;
    for (int i = 0; a->needs_geometry && a->motions && i < a->m->npose; i++) {
        if (!take_given(a, i, bar, by, &to)) continue;
        for (int j = 0; j < (accelerations ? 3 : 2); j++) to[j] = snw_wrench_add(to[j], by[j]);
    }
}

void arrays_add_given_momenta(snw_model_arrays *a, double along, const double *bar) {
    snw_wrench by[3], *to;
    for (int i = 0; a->needs_geometry && a->motions && i < a->m->npose; i++) {
        if (!take_given(a, i, bar, by, &to)) continue;
        const snw_twist moved = snw_twist_scale(along, a->in->pose_u[i]);
        const snw_lower T = snw_se3_tangent(moved);
        const snw_wrench by_rate = snw_wrench_scale(along, snw_lower_pull(&T, by[0]));
        to[0] = snw_wrench_add(to[0], snw_wrench_to_parent(snw_se3_exp(moved), by[0]));
        to[1] = snw_wrench_add(to[1], snw_wrench_add(by[2], by_rate));
    }
}

size_t arrays_laws_at(const snw_model_arrays *a) { return arrays_size(a->m); }

size_t arrays_surroundings_at(const snw_model_arrays *a) {
    return arrays_size(a->m) + snw_model_laws_size(a->laws);
}

void arrays_inputs_at(snw_model_arrays *a, double t) {
    inputs_at(a, NULL, t);
    a->in_time = NAN; // the caller may change them
}

void arrays_virtual_motion(snw_model_arrays *a, const snw_state *s, const double *mu) {
    virtual_motion(a, s, mu, a->at_mu);
}

void arrays_subtract_product(snw_model_arrays *a, arrays_covectors by, const snw_state *s,
                             double *bar) {
    subtract_products(a, by, s, false, bar);
}

void arrays_subtract_static_product(snw_model_arrays *a, arrays_covectors by, const snw_state *s,
                                    double *bar) {
    subtract_products(a, by, s, true, bar);
}

void arrays_subtract_gravity(snw_model_arrays *a, snw_vec3 by, double *bar) {
    snw_model_laws_add_gravity(a->laws, snw_scale(-1, by), a->in, bar + arrays_laws_at(a));
}

void arrays_subtract_inertia(const snw_model_arrays *a, int seg, snw_twist eta, snw_twist X,
                             double *bar) {
    subtract_inertia(eta, X, bar + first_inertia(a->m) + INERTIA * (size_t)seg);
}

void arrays_subtract_mass(const snw_model_arrays *a, int seg, double by, double *bar) {
    bar[first_inertia(a->m) + INERTIA * (size_t)seg] -= by;
}

void arrays_subtract_first_moment(const snw_model_arrays *a, int seg, snw_vec3 by, double *bar) {
    bar += first_inertia(a->m) + INERTIA * (size_t)seg + 1;
    for (int k = 0; k < 3; k++) bar[k] -= by.e[k];
}

// First stiffness of a spring in a vector of the arrays.
static size_t first_spring(const snw_model *m) {
    return first_inertia(m) - SPRING * (size_t)m->nspring;
}

void arrays_subtract_diagonal(const snw_model_arrays *a, int rod, int i, double by, double *bar) {
    for (int k = 0; k < rod; k++) bar += 2 * rod_numbers(&a->m->rod[k]);
    bar[i * (a->m->rod[rod].ndof + 1)] -= by;
}

void arrays_subtract_spring(const snw_model_arrays *a, int spring, double by, double *bar) {
    bar[first_spring(a->m) + SPRING * (size_t)spring] -= by;
}

// bar -= derivatives of mu'K q of rods and springs
static void subtract_stiffness(const snw_model *m, const double *mu, const snw_state *s,
                               double *bar) {
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        subtract_outer(rod->ndof, mu + rod->dof0, s->q + rod->dof0 + rod->shift, bar);
        bar += 2 * rod_numbers(rod);
    }
    for (int i = 0; i < m->nspring; i++, bar += SPRING)
        subtract_spring(m, &m->spring[i], mu, s, true, bar);
}

void arrays_subtract_part(snw_model_arrays *a, const snw_part_model *of, snw_part part,
                          const snw_inputs *in, const double *mu, const snw_state *s,
                          const snw_work *w, double *bar) {
    const bool conservative = part == SNW_PART_CONSERVATIVE;
    const snw_model *m = &of->m;
    snw_product x = {.in = in,
                     .s = s,
                     .w = w,
                     .at_mu = a->at_mu,
                     .mu = mu,
                     .part = m,
                     .by_signal = a->by_signal};
    snw_vec3 weight = {{0}};
    virtual_motion(a, s, mu, a->at_mu);
    memset(a->by_signal, 0, (size_t)a->m->nsignal * sizeof *a->by_signal);
    double *inertia = bar + first_inertia(m);
    for (int i = 0; i < m->nseg; i++, inertia += INERTIA) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        const snw_twist eta = a->at_mu->V[i], V = w->V[i];
        subtract_inertia(eta, w->A[i], inertia);
        subtract_inertia(snw_twist_scale(-1, snw_ad(V, eta)), V, inertia);
        const snw_wrench P = snw_inertia_apply(&m->seg[i].M, eta);
        weight = snw_add(weight, snw_rotate(w->g[i].R, P.f));
    }
    if (a->needs_geometry) snw_model_geometry_subtract(a->geometry, &x, bar + a->first_geometry);
    if (!conservative) return;
    subtract_stiffness(m, mu, s, bar);
    snw_model_laws_add_gravity(a->laws, weight, a->in, bar + arrays_laws_at(a));
    x.is_static = true; // elastic forces alone
    snw_surroundings_subtract(m, &x, bar + arrays_surroundings_at(a));
}

void arrays_subtract_motion(snw_model_arrays *a, snw_energy_weights c, const snw_state *s,
                            double *bar) {
    const snw_energy_weights minus = {
        .kinetic = -c.kinetic, .elastic = -c.elastic, .gravity = -c.gravity};
    if (c.kinetic != 0 || c.elastic != 0 || c.gravity != 0) add_energies(a, &minus, s, bar);
    if (a->needs_geometry)
        snw_model_geometry_motion(a->geometry, &c, a->in, s, a->w, bar + a->first_geometry);
}

// bar += derivatives of tensions and pressures.
static void add_efforts(snw_model_arrays *a, int noutput, const snw_adjoint_output *output,
                        const double *y_bar, double *bar) {
    const snw_model *m = a->m;
    for (int i = 0; i < noutput; i++) {
        const snw_output_use use = snw_output_use_of(m, &output[i]);
        if (y_bar[i] != 0 && use == SNW_OUTPUT_TENSION)
            snw_surroundings_add_tension(m, m->desc->probe[output[i].probe].item, y_bar[i], a->w,
                                         bar + arrays_surroundings_at(a));
        if (y_bar[i] != 0 && use == SNW_OUTPUT_EFFORT)
            snw_model_laws_add_effort(a->laws, m->desc->probe[output[i].probe].item, y_bar[i],
                                      a->in, a->w, bar + arrays_size(m));
    }
}

// bar += derivatives of reactions of joints and of wrenches within rods: products of all forces
// with virtual motions, theory.md (7.5.19).
static void add_reactions(snw_model_arrays *a, int noutput, const snw_adjoint_output *output,
                          const double *y_bar, const snw_state *s, double *bar) {
    const snw_model *m = a->m;
    bool any = false;
    for (int i = 0; i < noutput; i++) {
        const snw_output_use use = snw_output_use_of(m, &output[i]);
        if (y_bar[i] == 0 || (use != SNW_OUTPUT_JOINT && use != SNW_OUTPUT_WRENCH)) continue;
        if (!any) {
            memset(a->virtual_rate, 0, (size_t)m->nv * sizeof *a->virtual_rate);
            virtual_motion(a, s, a->virtual_rate, a->at_mu);
            memset(a->at_mu->V, 0, (size_t)m->nseg * sizeof *a->at_mu->V);
            any = true;
        }
        const double c = -y_bar[i]; // subtracted below
        snw_output_add_jumps(m, &output[i], c, a->w, a->at_mu->V);
        if (a->needs_geometry) snw_model_geometry_turn_jumps(a->geometry, &output[i], c, a->w);
    }
    if (!any) return;
    snw_output_carry_jumps(m, a->w, a->at_mu->V);
    subtract_products(a, (arrays_covectors){.mu = a->virtual_rate}, s, false, bar);
}

// bar += derivatives of momentum e_i'M V, e_i a fixed direction in the axes of each segment, and of
// the centre of mass.
static void add_inertias(snw_model_arrays *a, int noutput, const snw_adjoint_output *output,
                         const double *y_bar, double *bar) {
    const snw_model *m = a->m;
    const snw_work *w = a->w;
    for (int k = 0; k < noutput; k++) {
        if (y_bar[k] == 0 || snw_output_use_of(m, &output[k]) != SNW_OUTPUT_INERTIA) continue;
        const bool moves = m->desc->probe[output[k].probe].kind == SNW_PROBE_MOMENTUM;
        snw_twist e = snw_twist_zero();
        snw_vec3 centre, along = {{0}};
        const double mass = snw_center_of_mass(m, w, &centre);
        e.e[output[k].column] = -y_bar[k]; // subtracted below
        if (!moves) along.e[output[k].column] = y_bar[k] / mass;
        double *inertia = bar + first_inertia(m);
        for (int i = 0; i < m->nseg; i++, inertia += INERTIA) {
            if (!snw_seg_has_mass(m, w, i)) continue;
            if (moves) {
                subtract_inertia(snw_twist_to_child(w->g[i], e), w->V[i], inertia);
                continue;
            }
            const snw_vec3 own = snw_rotate_inv(w->g[i].R, along);
            inertia[0] += snw_dot(along, snw_sub(w->g[i].p, centre));
            for (int j = 0; j < 3; j++) inertia[1 + j] += own.e[j];
        }
    }
}

// Does an output depend on forces: on numbers that are not geometric, or on multipliers?
static bool reads_forces(const snw_model *m, const snw_adjoint *adjoint) {
    for (int i = 0; i < adjoint->noutput; i++) {
        const snw_output_use use = snw_output_use_of(m, &adjoint->output[i]);
        if (use == SNW_OUTPUT_ENERGY || use == SNW_OUTPUT_INERTIA || use == SNW_OUTPUT_EFFORT ||
            use == SNW_OUTPUT_TENSION || use == SNW_OUTPUT_JOINT || use == SNW_OUTPUT_WRENCH ||
            m->desc->probe[adjoint->output[i].probe].kind == SNW_PROBE_REACTION)
            return true;
    }
    return false;
}

void snw_model_arrays_frame(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map,
                            const double *y_bar) {
    const snw_model *m = a->m;
    const bool forces = reads_forces(m, adjoint);
    if (!a->needs_geometry && !forces) return;
    inputs_at(a, adjoint, map->t_laws);
    if (forces) {
        snw_residual(m, a->in, &map->s, false, a->w);
    } else {
        snw_kinematics(&a->tree, a->in, &map->s, false, a->w);
    }
    snw_observe(m, a->in, &map->s, false, a->w);
    for (int k = 0; k < a->nscalar; k++) {
        const double *own = y_bar + (size_t)k * (size_t)adjoint->noutput;
        double *bar = a->bar + (size_t)k * a->size;
        snw_energy_weights energy;
        if (snw_energy_weights_of(m, adjoint->noutput, adjoint->output, own, &energy))
            add_energies(a, &energy, &map->s, bar);
        add_inertias(a, adjoint->noutput, adjoint->output, own, bar);
        add_efforts(a, adjoint->noutput, adjoint->output, own, bar);
        add_reactions(a, adjoint->noutput, adjoint->output, own, &map->s, bar);
        if (a->needs_geometry)
            snw_model_geometry_frame(a->geometry, adjoint->noutput, adjoint->output, own, a->in,
                                     &map->s, a->w, bar + a->first_geometry);
        if (a->needs_geometry) add_given(a, bar);
    }
}

void snw_model_arrays_sample(snw_model_arrays *a, const snw_map *map, const double *signal,
                             const double *z_bar) {
    const size_t laws = arrays_size(a->m), nz = (size_t)a->m->nsignal;
    for (size_t k = 0; k < (size_t)a->nscalar; k++)
        snw_model_laws_sample(a->laws, map->s.t, map->taken, signal, z_bar + k * nz,
                              a->bar + k * a->size + laws);
}

void snw_model_arrays_add_drive(snw_model_arrays *a, int scalar, int drive, double t,
                                const double *w) {
    snw_model_laws_add_drive(a->laws, drive, t, w,
                             a->bar + (size_t)scalar * a->size + arrays_size(a->m));
}

void snw_model_arrays_fold(snw_model_arrays *a, const double *factor) {
    snw_model_arrays_finish(a);
    double *margin = a->bar + (size_t)(a->nscalar - 1) * a->size;
    for (int k = 0; k < a->nscalar - 1; k++) {
        double *to = a->bar + (size_t)k * a->size;
        for (size_t i = 0; i < a->size && factor[k] != 0; i++) to[i] += factor[k] * margin[i];
    }
    memset(margin, 0, a->size * sizeof *margin);
}

void snw_model_arrays_need_geometry(snw_model_arrays *a, bool needed) {
    a->needs_geometry = a->geometry && needed;
}

void snw_model_arrays_need_shapes(snw_model_arrays *a, bool needed) {
    if (a->geometry) snw_model_geometry_need_shapes(a->geometry, needed);
}

bool snw_model_arrays_is_shape(const snw_model_arrays *a, size_t at) {
    return a->geometry && at >= a->first_geometry + snw_model_geometry_shapes(a->m);
}

bool snw_model_arrays_is_geometry(const snw_model_arrays *a, size_t at) {
    const size_t laws = arrays_size(a->m);
    return at >= a->first_geometry ||
           (at >= laws + snw_model_laws_poses(a->laws) && at < laws + snw_model_laws_size(a->laws));
}

static bool same_typical(const snw_model *m, const snw_model *other) {
    for (int i = 0; i < m->nv; i++) {
        if (m->typical[i] != other->typical[i]) return false;
    }
    return true;
}

bool snw_model_arrays_only(const snw_model_arrays *a, const snw_model *other) {
    return snw_models_differ_in_arrays(a->m, other, a->geometry != NULL, a->motions) &&
           (!a->typical || same_typical(a->m, other)) &&
           (!a->conserved ||
            (snw_conserving_weights_alike(a->m, other) && snw_models_touch_alike(a->m, other))) &&
           (!a->by_sections || snw_model_sections_only(a->sections, other));
}

const double *snw_model_arrays_section_bars(snw_model_arrays *a, int scalar) {
    const snw_model *m = a->m;
    const double *bar = snw_model_arrays_bars(a, scalar), *K = bar, *M = bar + first_inertia(m);
    memcpy(a->section_bar, bar, a->size * sizeof *bar);
    memset(a->section_bar + a->size, 0, snw_model_sections_size(a->sections) * sizeof *bar);
    for (int i = 0; i < m->nrod; i++) {
        const size_t n = rod_numbers(&m->rod[i]);
        const snw_branch_numbers of = snw_model_branches_of(m, i);
        double *own = a->section_bar + a->first_branch;
        const snw_section_bars by = {.K = K,
                                     .D = K + n,
                                     .branch_K = bar + a->first_branch + of.K,
                                     .M = M,
                                     .fraction = own + of.fraction,
                                     .instant = own + of.instant};
        snw_model_sections_add(a->sections, i, &by, a->section_bar + a->size);
        K += 2 * n;
    }
    if (a->geometry)
        snw_model_geometry_add_rest(m, bar + a->first_geometry, a->sections,
                                    a->section_bar + a->size);
    return a->section_bar;
}
