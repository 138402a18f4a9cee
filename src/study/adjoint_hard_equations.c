// SPDX-License-Identifier: MIT
//
// Equations of a step with hard contacts, theory.md (7.5.25) to (7.5.27), at the contacts that act
// in the step and their states.
#include "study/adjoint_hard_private.h"

#include "dynamics/constraint.h"
#include "integrate/lie_block.h"

#include <math.h>
#include <string.h>

static const double same_axes = 0.9; // cosine of the largest angle between tangents of near states

// Tangents turned such that the first one is the nearest to `near`: where a contact point chooses
// other axes beyond some angle, those of the step taken go on.
static void keep_tangents(snw_vec3 near, int nv, hard_place *at, double *G) {
    const double x = snw_dot(near, at->axis[1]), y = snw_dot(near, at->axis[2]), r = hypot(x, y);
    if (!(r > 0) || x > same_axes * r) return;
    const double c = x / r, s = y / r;
    const snw_vec3 a = at->axis[1], b = at->axis[2];
    const double u[2] = {at->u[1], at->u[2]};
    at->axis[1] = snw_add(snw_scale(c, a), snw_scale(s, b));
    at->axis[2] = snw_sub(snw_scale(c, b), snw_scale(s, a));
    at->u[1] = c * u[0] + s * u[1];
    at->u[2] = c * u[1] - s * u[0];
    for (int i = 0; G && i < nv; i++) {
        const double g = G[nv + i], h = G[2 * nv + i];
        G[nv + i] = c * g + s * h;
        G[2 * nv + i] = c * h - s * g;
    }
}

hard_place hard_place_contact(const snw_model *m, const snw_work *w, const snw_hard_contact *at,
                              const snw_vec3 *near, double *G) {
    hard_place out;
    snw_hard_contact c = *at;
    out.gap = snw_hard_gap(m, w, &c);
    snw_hard_velocity(m, w, &c, out.u);
    if (G) snw_hard_rows(m, w, &c, G);
    const int seg = snw_hard_axes(m, w, &c, out.axis);
    for (int j = 0; j < 3; j++) out.axis[j] = snw_rotate(w->g[seg].R, out.axis[j]);
    if (near) keep_tangents(*near, m->nv, &out, G);
    return out;
}

void hard_inputs_at(hard_evaluation *e, int stage) {
    double t = adjoint_hard_time(e->map, stage);
    if (stage != START) t += (e->h - e->map->h) * (stage == END ? 1 : e->map->hard->theta);
    snw_inputs_at(e->m, t + e->shift, e->in);
    e->w->span_held = e->holds ? hard_places(e->x, e->m, stage) : NULL;
    if (stage == MIDDLE) e->gravity = e->in->gravity;
    e->in->gravity = e->gravity; // energies have that of the middle
}

const double *hard_friction(const snw_model *m, const snw_hard_contact *c, double mu[2]) {
    snw_hard_friction(m, c, mu);
    return mu;
}

bool hard_sticks(snw_hard_state state, const bool idle[2], const double mu[2], int j) {
    return state == SNW_HARD_STICKS && mu[j] > 0 && !idle[j];
}

void hard_friction_rows(snw_hard_state state, const bool idle[2], const double mu[2],
                        const double f[3], const double *u, double *out, double by_u[2][2]) {
    const double size = hypot(mu[0] * u[0], mu[1] * u[1]);
    for (int j = 0; j < 2; j++) {
        const double c = size > 0 ? f[0] * mu[j] * mu[j] / size : 0;
        const bool sticks = hard_sticks(state, idle, mu, j);
        out[j] = sticks ? u[j] : f[1 + j] + c * u[j];
        for (int l = 0; l < 2 && by_u; l++) {
            const double turn = size > 0 ? u[j] * mu[l] * mu[l] * u[l] / (size * size) : 0;
            by_u[j][l] = sticks ? (j == l) : c * ((j == l) - turn);
        }
    }
}

static void add_rows(int nv, double c, const double *G, const double f[3], double *out) {
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < nv; i++) out[i] += c * f[j] * G[(size_t)j * (size_t)nv + (size_t)i];
    }
}

// out += equations at the middle of the step, s; `all`: with the residual.
void hard_middle_rows(hard_evaluation *e, const snw_state *s, bool all, double *out) {
    const snw_model *m = e->m;
    const hard_layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    snw_work *w = e->w;
    if (all || l->energy >= 0) {
        snw_residual(m, e->in, s, false, w);
    } else {
        snw_kinematics(m, e->in, s, false, w);
    }
    for (int i = 0; i < m->nv && all; i++) out[l->d + i] += w->r[i];
    if (l->energy >= 0) {
        double given = -snw_dissipation(m, s->v) - snw_other_heat(m, s, w);
        snw_load_power(m, e->in, s, w, e->x->power);
        for (int i = 0; i < snw_npower(m); i++) given += e->x->power[i];
        out[l->energy + BY_MIDDLE] -= e->h * given;
    }
    if (r->n > 0) snw_jacobian_pass(m, w);
    for (int i = 0, k = 0, turned = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->in_step == SNW_HARD_OPEN) continue;
        double mu[2];
        const hard_place at = hard_place_contact(m, w, &c->at, &e->x->tangent[2 * i], e->x->G);
        add_rows(m->nv, -1, e->x->G, c->P, out + l->d);
        double row[2];
        hard_friction_rows(c->in_step, &e->x->idle[2 * i], hard_friction(m, &c->at, mu), c->P,
                           at.u + 1, row, NULL);
        for (int j = 0; j < 2; j++) out[l->P + 3 * k + 1 + j] += e->slips ? at.u[1 + j] : row[j];
        if (l->energy >= 0)
            out[l->energy + BY_FRICTION] -= e->h * (c->P[1] * at.u[1] + c->P[2] * at.u[2]);
        k++;
        if (!(hypot(c->P[1], c->P[2]) > 0)) continue;
        for (int j = 0; j < 3; j++)
            out[l->S + 3 * turned + j] -= c->P[1] * at.axis[1].e[j] + c->P[2] * at.axis[2].e[j];
        turned++;
    }
}

// Kinetic and potential energy at s, less those of the step taken
static double energy_of(const hard_evaluation *e, int motion, const snw_state *s) {
    double *kept = e->x->energy[motion], sum = 0;
    snw_kinematics(e->m, e->in, s, false, e->w);
    const double part[ENERGY_PARTS] = {snw_kinetic_energy(e->m, e->w),
                                       snw_stored_energy(e->m, s, e->w),
                                       snw_gravity_energy(e->m, e->in, e->w)};
    if (e->keeps) memcpy(kept, part, sizeof part);
    for (int i = 0; i < ENERGY_PARTS; i++) sum += part[i] - kept[i];
    return sum;
}

// out (nv) += c times the velocities with which the robot at s is carried along (6.53)
void hard_add_carried(const hard_evaluation *e, const snw_state *s, double c, double *out) {
    const snw_model *m = e->m;
    snw_vec3 centre;
    snw_kinematics(m, e->in, s, false, e->w);
    const double mass = snw_center_of_mass(m, e->w, &centre);
    const snw_vec3 v = snw_scale(1 / mass, snw_momentum(m, e->w).f);
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b)) continue;
        const snw_vec3 u = snw_rotate_inv(e->w->g[b->seg].R, v);
        for (int k = 0; k < 3; k++) out[b->dof + 3 + k] += c * u.e[k];
    }
}

// out (nv) -= the velocities `v` of the state s scaled; s->v is set
static void subtract_scaled(const hard_evaluation *e, snw_state *s, const double *v,
                            const snw_hard_scaling *by, double *out) {
    memcpy(s->v, v, (size_t)e->m->nv * sizeof *v);
    for (int i = 0; i < e->m->nv; i++) out[i] -= by->factor * v[i];
    if (by->carried) hard_add_carried(e, s, by->factor - 1, out);
}

// out (2) <- tangential forces along the axes at the end of the step, of the force S in the world
void hard_turned_force(const hard_place *at, const double *S, double size, double out[2]) {
    const snw_vec3 slip = {{S[0], S[1], S[2]}};
    for (int j = 0; j < 2; j++) out[j] = snw_dot(at->axis[1 + j], slip);
    const double turned = hypot(out[0], out[1]);
    for (int j = 0; j < 2 && turned > 0; j++) out[j] *= size / turned;
}

// out += equations of the impulse: momentum, rows of constraints and contacts
static void impulse_rows(hard_evaluation *e, snw_state *s, double *out) {
    const snw_model *m = e->m;
    const hard_layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    snw_state *still = e->still;
    if (!r->velocities) {
        for (int i = 0; i < m->nv; i++) out[l->v1 + i] += r->v1[i] - r->v[i];
        return;
    }
    snw_state_copy(m, s, still);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < m->nv; i++) still->v[i] = 0, still->a[i] = k ? 0 : r->v1[i] - r->v[i];
        for (int i = 0; i < m->nconstraint; i++) still->lambda[i] = k ? 0 : r->impulse[i];
        snw_residual(m, e->in, still, false, e->w);
        for (int i = 0; i < m->nv; i++) out[l->v1 + i] += (k ? -1 : 1) * e->w->r[i];
    }
    memcpy(s->v, r->v1, (size_t)m->nv * sizeof *s->v);
    snw_kinematics(m, e->in, s, false, e->w);
    if (m->nconstraint > 0) {
        double *rate = e->x->line;
        snw_constraints_rates(m, e->in, s, e->w, rate, NULL);
        for (int i = 0; i < m->nconstraint; i++) out[l->impulse + i] += rate[i];
    }
    snw_jacobian_pass(m, e->w);
    for (int i = 0, k = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const hard_place at =
            hard_place_contact(m, e->w, &c->at, &e->x->tangent[2 * i + 1], e->x->G);
        double f[3], mu[2], row[2];
        for (int j = 0; j < 3; j++) f[j] = c->p[j] - e->h * c->P1[j];
        add_rows(m->nv, -1, e->x->G, f, out + l->v1);
        const double restitution = snw_hard_restitution(m, &c->at);
        const double approach = c->bounces ? e->x->value[l->A + bounced++] : 0;
        if (c->in_impulse == SNW_HARD_OPEN) continue;
        hard_friction_rows(c->in_impulse, &e->x->idle[2 * i], hard_friction(m, &c->at, mu), c->p,
                           at.u + 1, row, NULL);
        double *to = out + l->p + 3 * k++;
        to[0] += at.u[0] + restitution * approach;
        for (int j = 0; j < 2; j++) to[1 + j] += e->slips ? at.u[1 + j] : row[j];
    }
}

// out += energies of the scalings at the end of the step
static void energy_rows(hard_evaluation *e, snw_state *s, double gaps, double *out) {
    const hard_layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    const size_t size = (size_t)e->m->nv * sizeof *s->v;
    memcpy(s->v, r->v, size);
    const double before = energy_of(e, OF_SCALED, s);
    if (l->s >= 0) out[l->s] += before - gaps;
    if (l->s2 < 0) return;
    memcpy(s->v, e->map->s.v, size);
    out[l->s2] += energy_of(e, OF_END, s);
    if (!r->taken) return;
    memcpy(s->v, r->v1, size);
    out[l->s2] -= energy_of(e, OF_IMPULSE, s) - before + gaps;
}

// out += equations at the end of the step, s with the velocities before the first scaling. s->v is
// changed.
void hard_end_rows(hard_evaluation *e, snw_state *s, double *out) {
    const snw_model *m = e->m;
    const hard_layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    double *v = e->x->line, gaps = 0;
    memcpy(v, s->v, (size_t)m->nv * sizeof *v);
    subtract_scaled(e, s, v, &r->scaling[0], out + l->v);
    memcpy(s->v, r->v, (size_t)m->nv * sizeof *v);
    snw_kinematics(m, e->in, s, false, e->w);
    for (int i = 0, k = 0, turned = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const hard_place at = hard_place_contact(m, e->w, &c->at, &e->x->tangent[2 * i + 1], NULL);
        if (c->bounces && c->closes) out[l->A + bounced] -= at.u[0];
        bounced += c->bounces;
        if (c->closes) out[l->h] += at.gap;
        if (c->in_step == SNW_HARD_OPEN) continue;
        out[l->P + 3 * k++] += at.gap;
        gaps += c->P[0] * at.gap;
        const double size = hypot(c->P[1], c->P[2]);
        if (!(size > 0)) continue;
        double f[2];
        hard_turned_force(&at, e->x->value + l->S + 3 * turned, size, f);
        for (int j = 0; j < 2; j++) out[l->P1 + 2 * turned + j] -= f[j];
        turned++;
    }
    if (m->nconstraint > 0) {
        snw_constraints_add_forces(m, e->in, s, e->w);
        for (int i = 0; i < m->nconstraint; i++) out[l->lambda + i] += e->w->violation[i];
    }
    impulse_rows(e, s, out);
    if (l->energy >= 0) energy_rows(e, s, gaps, out);
    subtract_scaled(e, s, r->v1, &r->scaling[1], out + l->v2);
}

// x->place <- places of pieces of rods at the configuration in e->w
static void keep_places(const hard_evaluation *e, int stage) {
    double *to = hard_places(e->x, e->m, stage);
    for (int k = 0; k < e->m->ncontact_point && e->keeps; k++) to[k] = e->w->contact_point[k].place;
}

// out += equations at the start of the step, s
void hard_start_rows(const hard_evaluation *e, const snw_state *s, double *out) {
    const snw_model *m = e->m;
    const hard_layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    if (l->energy < 0 && l->nbounce == 0) return;
    const double energy = energy_of(e, OF_START, s);
    if (l->energy >= 0) out[l->energy + BY_START] -= energy;
    for (int i = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const hard_place at = hard_place_contact(m, e->w, &c->at, NULL, NULL);
        if (c->bounces && !c->closes) out[l->A + bounced] -= at.u[0];
        bounced += c->bounces;
        if (l->energy >= 0 && c->in_step != SNW_HARD_OPEN)
            out[l->energy + BY_GAP] -= c->P[0] * at.gap;
    }
}

void hard_all_rows(hard_evaluation *e, double *out) {
    adjoint_hard *x = e->x;
    memset(out, 0, (size_t)x->l.n * sizeof *out);
    hard_inputs_at(e, MIDDLE);
    hard_middle_rows(e, x->mid, true, out);
    keep_places(e, MIDDLE);
    hard_inputs_at(e, END);
    snw_state_copy(e->m, x->end, x->moved);
    hard_end_rows(e, x->moved, out);
    keep_places(e, END);
    hard_inputs_at(e, START);
    hard_start_rows(e, x->start, out);
    keep_places(e, START);
    e->w->span_held = NULL;
}
