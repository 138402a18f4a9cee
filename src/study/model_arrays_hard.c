// SPDX-License-Identifier: MIT
//
// Derivatives of a scalar by numbers of the model through steps with hard contacts, theory.md
// (7.5.30): of the products of the covectors of a step with its equations. The velocities along the
// axes of a contact are powers of forces, the work of a step is v'(r_c - r - G'P) with the residual
// r_c of the conservative forces, and the impulse is a residual at rest.
#include "study/adjoint_hard_private.h"
#include "study/model_arrays_private.h"
#include "study/model_surroundings.h"

#include "integrate/lie_block.h"

#include <math.h>
#include <string.h>

// The sum of one scalar over a step.
typedef struct hard_sum {
    snw_model_arrays *a;
    adjoint_hard *x;
    const snw_map *map;
    hard_evaluation e;
    const double *mu; // covector of the equations
    double *bar;
    double t_middle;
    snw_vec3 gravity; // of energies: that of the middle
} hard_sum;

// ---- contacts -----------------------------------------------------------------------------------

static void subtract_shape(const hard_sum *y, const snw_work *w, const snw_shape_product *x) {
    if (x->point >= 0)
        snw_model_geometry_subtract_shape(y->a->geometry, w, x, y->bar + y->a->first_geometry);
}

// The power of the force f along the axes, at the motion in w
static void add_power(const hard_sum *y, const snw_work *w, const snw_hard_contact *c,
                      const double f[3]) {
    snw_hard_contact at = *c;
    snw_contact_bars bars;
    int own;
    if (!y->a->needs_geometry) return;
    (void)snw_hard_gap(y->a->m, w, &at);
    const int n = snw_hard_power_bars(y->a->m, w, &at, f, w->V, &bars, &own);
    snw_model_geometry_more(y->a->geometry, n, &bars, 1);
    const snw_shape_product x = {.point = c->point, .f = f, .V = w->V};
    subtract_shape(y, w, &x);
}

// The component of the force f along a vector of the world
static void add_force(const hard_sum *y, const snw_work *w, const snw_hard_contact *c,
                      const double f[3], snw_vec3 along) {
    snw_hard_contact at = *c;
    snw_contact_bars bars;
    if (!y->a->needs_geometry) return;
    (void)snw_hard_gap(y->a->m, w, &at);
    const int n = snw_hard_force_bars(y->a->m, w, &at, f, along, y->x->twist, &bars);
    snw_model_geometry_more(y->a->geometry, n, &bars, 1);
    const snw_shape_product x = {.point = c->point, .g = f, .along = along};
    subtract_shape(y, w, &x);
}

// k times the gap: it varies with poses as the work of a normal force
static void add_gap(const hard_sum *y, const snw_work *w, const snw_hard_contact *c, double k) {
    snw_hard_contact at = *c;
    snw_contact_bars bars;
    int own;
    if (c->limit >= 0)
        snw_surroundings_subtract_limit(y->a->m, c->limit, k,
                                        y->bar + arrays_surroundings_at(y->a));
    if (!y->a->needs_geometry || k == 0 || c->limit >= 0) return;
    (void)snw_hard_gap(y->a->m, w, &at);
    const double f[3] = {k * snw_hard_gradient(w, &at), 0, 0};
    const int n = snw_hard_power_bars(y->a->m, w, &at, f, y->x->twist, &bars, &own);
    memcpy(bars.pose, bars.V, sizeof bars.pose);
    memset(bars.V, 0, sizeof bars.V);
    snw_model_geometry_more(y->a->geometry, n, &bars, 1);
    const snw_shape_product x = {.point = c->point, .gap = k};
    subtract_shape(y, w, &x);
}

// Tangential equations of a contact with forces f, covectors c, at the slip u: *by <- factors of
// the slips; bars of friction
static void add_friction(const hard_sum *y, const snw_hard_step_contact *of, int i, bool impulse,
                         const double *u, const double *c, double by[2]) {
    const snw_model *m = y->a->m;
    const snw_hard_state state = impulse ? of->in_impulse : of->in_step;
    const double *f = impulse ? of->p : of->P;
    double mu[2], row[2], by_u[2][2], sliding[2];
    hard_friction_rows(state, &y->x->idle[2 * i], hard_friction(m, &of->at, mu), f, u, row, by_u);
    for (int j = 0; j < 2; j++) {
        by[j] = c[0] * by_u[0][j] + c[1] * by_u[1][j];
        sliding[j] = hard_sticks(state, &y->x->idle[2 * i], mu, j) ? 0 : c[j];
    }
    snw_surroundings_subtract_hard(m, snw_hard_law(m, &of->at), f, u, sliding, 0,
                                   y->bar + arrays_surroundings_at(y->a));
}

// bar -= derivatives of mu'r of a part of the forces, which are in w at state s
static void subtract_part(const hard_sum *y, snw_part part, const double *mu, const snw_state *s,
                          const snw_work *w) {
    const snw_part_model *of = part == SNW_PART_CONSERVATIVE ? y->x->conservative : y->x->impulse;
    arrays_subtract_part(y->a, of, part, y->x->part_in, mu, s, w, y->bar);
}

// bar -= derivatives of the energies with these factors, and of what was added, at the motion in
// a->w
static void subtract_motion(const hard_sum *y, snw_energy_weights c, const snw_state *s) {
    arrays_subtract_motion(y->a, c, s, y->bar);
}

// ---- middle -------------------------------------------------------------------------------------

static void add_middle(hard_sum *y) {
    snw_model_arrays *a = y->a;
    adjoint_hard *x = y->x;
    const snw_model *m = a->m;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = y->map->hard;
    const double *mu = y->mu, h = y->map->h;
    const double work = l->energy >= 0 ? mu[l->energy + BY_MIDDLE] : 0,
                 rubbed = l->energy >= 0 ? mu[l->energy + BY_FRICTION] : 0;
    double *rate = a->virtual_rate;
    arrays_inputs_at(a, y->t_middle);
    y->gravity = a->in->gravity;
    hard_give_forces(&y->e, r, 0, a->w);
    snw_residual(m, a->in, x->mid, false, a->w);
    for (int i = 0; i < m->nv; i++) rate[i] = mu[l->d + i] + work * h * x->mid->v[i];
    arrays_virtual_motion(a, x->mid, rate);
    for (int i = 0, k = 0, turned = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->in_step == SNW_HARD_OPEN) continue;
        const int P = l->P + 3 * k++;
        const hard_place at = hard_place_contact(m, a->w, &c->at, &x->tangent[2 * i], NULL);
        double by[2];
        add_friction(y, c, i, false, at.u + 1, mu + P + 1, by);
        const double f[3] = {work * h * c->P[0], by[0] + (work - rubbed) * h * c->P[1],
                             by[1] + (work - rubbed) * h * c->P[2]};
        add_power(y, a->w, &c->at, f);
        if (!(hypot(c->P[1], c->P[2]) > 0)) continue;
        const double *S = mu + l->S + 3 * turned++, along[3] = {0, -c->P[1], -c->P[2]};
        add_force(y, a->w, &c->at, along, (snw_vec3){{S[0], S[1], S[2]}});
    }
    arrays_subtract_product(a, (arrays_covectors){.mu = rate}, x->mid, y->bar);
    hard_give_forces(&y->e, NULL, 0, a->w);
    if (work == 0) return;
    for (int i = 0; i < m->nv; i++) rate[i] = -work * h * x->mid->v[i];
    snw_part_inputs(m, a->in, SNW_PART_CONSERVATIVE, x->part_in);
    snw_residual(&x->conservative->m, x->part_in, x->mid, false, x->part_w);
    subtract_part(y, SNW_PART_CONSERVATIVE, rate, x->mid, x->part_w);
}

// ---- end and start ------------------------------------------------------------------------------

// a->s, a->w <- the motion at the end with the velocities v
static void move_end(const hard_sum *y, const double *v) {
    snw_model_arrays *a = y->a;
    snw_state_copy(a->m, y->x->end, a->s);
    memcpy(a->s->v, v, (size_t)a->m->nv * sizeof *v);
    snw_kinematics(a->m, a->in, a->s, false, a->w);
}

// The velocity with which the robot is carried along, times covectors of the velocities and c
static void add_carried(const hard_sum *y, const double *of, double c) {
    const snw_model *m = y->a->m;
    const snw_work *w = y->a->w;
    snw_vec3 centre, along = {{0}};
    const double mass = snw_center_of_mass(m, w, &centre);
    const snw_vec3 u = snw_scale(1 / mass, snw_momentum(m, w).f);
    snw_contact_bars bars = {0};
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b)) continue;
        const double *own = of + b->dof + 3;
        const snw_vec3 z = {{own[0], own[1], own[2]}};
        along = snw_add(along, snw_rotate(w->g[b->seg].R, z));
        bars.seg[0] = b->seg;
        bars.pose[0] =
            (snw_wrench){{.m = snw_scale(c, snw_cross(z, snw_rotate_inv(w->g[b->seg].R, u)))}};
        bars.V[0] = snw_wrench_zero();
        if (y->a->needs_geometry) snw_model_geometry_more(y->a->geometry, 1, &bars, 1);
    }
    for (int i = 1; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        const snw_twist eta = {{.v = snw_scale(c / mass, snw_rotate_inv(w->g[i].R, along))}};
        arrays_subtract_inertia(y->a, i, eta, w->V[i], y->bar);
        arrays_subtract_mass(y->a, i, -c / mass * snw_dot(along, u), y->bar);
        bars.seg[0] = i;
        bars.V[0] = snw_inertia_apply(&m->seg[i].M, eta);
        bars.pose[0] =
            (snw_wrench){{.m = snw_cross(snw_inertia_apply(&m->seg[i].M, w->V[i]).f, eta.v)}};
        if (y->a->needs_geometry) snw_model_geometry_more(y->a->geometry, 1, &bars, 1);
    }
}

// Gaps, turned forces and approaches at the end
static void add_end_contacts(const hard_sum *y) {
    snw_model_arrays *a = y->a;
    adjoint_hard *x = y->x;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = y->map->hard;
    const double *mu = y->mu;
    const double by_gap = (l->s >= 0 ? mu[l->s] : 0) + (l->s2 >= 0 && r->taken ? mu[l->s2] : 0);
    for (int i = 0, k = 0, turned = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->bounces && c->closes) {
            const double f[3] = {-mu[l->A + bounced], 0, 0};
            add_power(y, a->w, &c->at, f);
        }
        bounced += c->bounces;
        if (c->closes) add_gap(y, a->w, &c->at, mu[l->h]);
        if (c->in_step == SNW_HARD_OPEN) continue;
        add_gap(y, a->w, &c->at, mu[l->P + 3 * k++] - by_gap * c->P[0]);
        const double size = hypot(c->P[1], c->P[2]);
        if (!(size > 0)) continue;
        const double *S = x->value + l->S + 3 * turned, *own = mu + l->P1 + 2 * turned;
        const snw_vec3 slip = {{S[0], S[1], S[2]}};
        const hard_place at = hard_place_contact(a->m, a->w, &c->at, &x->tangent[2 * i + 1], NULL);
        double f[2], g[3] = {0};
        turned++;
        hard_turned_force(&at, S, size, f);
        const double raw = hypot(snw_dot(at.axis[1], slip), snw_dot(at.axis[2], slip));
        for (int j = 0; j < 2; j++) {
            for (int n = 0; n < 2; n++)
                g[1 + j] -= own[n] * size / raw * ((n == j) - f[n] * f[j] / (size * size));
        }
        add_force(y, a->w, &c->at, g, slip);
    }
}

// Contacts in the impulse, at its velocities
static void add_impulse_contacts(const hard_sum *y) {
    const snw_model_arrays *a = y->a;
    const adjoint_hard *x = y->x;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = y->map->hard;
    for (int i = 0, held = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const double approach = c->bounces ? x->value[l->A + bounced++] : 0;
        if (c->in_impulse == SNW_HARD_OPEN) continue;
        const double *p = y->mu + l->p + 3 * held++, none[2] = {0};
        const hard_place at = hard_place_contact(a->m, a->w, &c->at, &x->tangent[2 * i + 1], NULL);
        double by[2];
        add_friction(y, c, i, true, at.u + 1, p + 1, by);
        snw_surroundings_subtract_hard(a->m, snw_hard_law(a->m, &c->at), c->p, none, none,
                                       p[0] * approach, y->bar + arrays_surroundings_at(a));
        const double f[3] = {p[0], by[0], by[1]};
        add_power(y, a->w, &c->at, f);
    }
}

// Momentum of the impulse, rows of constraints
static void add_impulse(const hard_sum *y) {
    snw_model_arrays *a = y->a;
    adjoint_hard *x = y->x;
    const snw_model *m = a->m;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = y->map->hard;
    double *rate = a->virtual_rate;
    if (m->nconstraint > 0) {
        double *nu = x->line;
        for (int i = 0; i < m->nconstraint; i++) nu[i] = -y->mu[l->lambda + i];
        memset(rate, 0, (size_t)m->nv * sizeof *rate);
        snw_residual(m, a->in, x->end, false, a->w);
        arrays_virtual_motion(a, x->end, rate);
        arrays_subtract_product(a, (arrays_covectors){.mu = rate, .nu = nu}, x->end, y->bar);
    }
    if (!r->velocities) return;
    snw_state_copy(m, x->end, a->s);
    for (int i = 0; i < m->nv; i++) a->s->v[i] = 0, a->s->a[i] = r->v1[i] - r->v[i];
    memcpy(a->s->lambda, r->impulse, (size_t)m->nconstraint * sizeof *a->s->lambda);
    memcpy(rate, y->mu + l->v1, (size_t)m->nv * sizeof *rate);
    snw_part_inputs(m, a->in, SNW_PART_IMPULSE, x->part_in);
    hard_give_forces(&y->e, r, 1, x->part_w);
    snw_residual(&x->impulse->m, x->part_in, a->s, false, x->part_w);
    subtract_part(y, SNW_PART_IMPULSE, rate, a->s, x->part_w);
    hard_give_forces(&y->e, NULL, 0, x->part_w);
}

static void add_end(const hard_sum *y) {
    snw_model_arrays *a = y->a;
    const adjoint_hard *x = y->x;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = y->map->hard;
    const double *mu = y->mu;
    const double by_s = l->s >= 0 ? mu[l->s] : 0, by_s2 = l->s2 >= 0 ? mu[l->s2] : 0,
                 taken = r->taken ? by_s2 : 0, all = by_s + by_s2;
    const snw_hard_scaling *scale = r->scaling;
    arrays_inputs_at(a, adjoint_hard_time(y->map, END));
    a->in->gravity = y->gravity, a->in->t = y->t_middle;
    add_impulse(y);
    if (r->n > 0 || l->energy >= 0) {
        move_end(y, r->v);
        add_end_contacts(y);
        subtract_motion(
            y, (snw_energy_weights){.kinetic = by_s + taken, .elastic = all, .gravity = all}, a->s);
    }
    if (scale[0].carried) {
        move_end(y, x->end->v);
        add_carried(y, mu + l->v, scale[0].factor - 1);
        subtract_motion(y, (snw_energy_weights){0}, a->s);
    }
    if (r->velocities || scale[1].carried) {
        move_end(y, r->v1);
        if (r->velocities) add_impulse_contacts(y);
        if (scale[1].carried) add_carried(y, mu + l->v2, scale[1].factor - 1);
        if (a->needs_geometry && r->velocities && a->m->nloop > 0) {
            double *none = x->line;
            memset(none, 0, (size_t)a->m->nconstraint * sizeof *none);
            snw_model_geometry_subtract_rows(a->geometry, a->s, a->w, none, mu + l->impulse,
                                             y->bar + a->first_geometry);
        }
        subtract_motion(y, (snw_energy_weights){.kinetic = -taken}, a->s);
    }
    if (by_s2 != 0) {
        move_end(y, y->map->s.v);
        subtract_motion(y, (snw_energy_weights){.kinetic = by_s2}, a->s);
    }
}

static void add_start(const hard_sum *y) {
    snw_model_arrays *a = y->a;
    const adjoint_hard *x = y->x;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = y->map->hard;
    if (l->energy < 0 && l->nbounce == 0) return;
    const double by = l->energy >= 0 ? -y->mu[l->energy + BY_START] : 0;
    arrays_inputs_at(a, adjoint_hard_time(y->map, START));
    a->in->gravity = y->gravity, a->in->t = y->t_middle;
    snw_kinematics(a->m, a->in, x->start, false, a->w);
    for (int i = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (l->energy >= 0 && c->in_step != SNW_HARD_OPEN)
            add_gap(y, a->w, &c->at, -y->mu[l->energy + BY_GAP] * c->P[0]);
        if (!c->bounces) continue;
        const double f[3] = {-y->mu[l->A + bounced++], 0, 0};
        if (!c->closes) add_power(y, a->w, &c->at, f);
    }
    subtract_motion(y, (snw_energy_weights){by, by, by}, x->start);
}

void arrays_add_hard(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    adjoint_hard *x = adjoint->hard;
    for (int k = 0; k < a->nscalar; k++) {
        hard_sum y = {.a = a,
                      .x = x,
                      .map = map,
                      .e = {.m = a->m, .x = x, .map = map, .h = map->h},
                      .mu = x->mu + (size_t)k * (size_t)x->l.n,
                      .bar = a->bar + (size_t)k * a->size,
                      .t_middle = adjoint_hard_time(map, MIDDLE)};
        add_middle(&y);
        add_end(&y);
        add_start(&y);
    }
}

void arrays_add_rest(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map) {
    adjoint_hard *x = adjoint->hard;
    const snw_hard_step *r = map->hard;
    const snw_state s = adjoint_map_state(map);
    arrays_inputs_at(a, map->t_laws);
    for (int k = 0; k < a->nscalar; k++) {
        const snw_covectors *of = &adjoint->covectors[k];
        const hard_sum y = {.a = a,
                            .x = x,
                            .map = map,
                            .e = {.m = a->m, .x = x, .map = map},
                            .mu = x->mu + (size_t)k * (size_t)x->l.n,
                            .bar = a->bar + (size_t)k * a->size};
        hard_give_forces(&y.e, r, 0, a->w);
        snw_residual(a->m, a->in, &s, true, a->w);
        arrays_virtual_motion(a, &s, of->mu);
        arrays_subtract_static_product(a, (arrays_covectors){.mu = of->mu, .nu = of->nu}, &s,
                                       y.bar);
        hard_give_forces(&y.e, NULL, 0, a->w);
        for (int i = 0; i < r->n; i++) add_gap(&y, a->w, &r->contact[i].at, y.mu[x->l.P + 3 * i]);
        subtract_motion(&y, (snw_energy_weights){0}, &s);
    }
}
