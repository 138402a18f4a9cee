// SPDX-License-Identifier: MIT
//
// Contact of rods with rods: forces, their derivatives and energy, theory.md (3.20.5) to (3.20.8).

#include "dynamics/rod_contact.h"

#include "dynamics/contact_law.h"
#include "dynamics/jacobian_column.h"
#include "dynamics/rod_gap.h"
#include "math/positive_part.h"

#include <math.h>
#include <string.h>

// ---- motion of the two sections -------------------------------------------------------------

// Rates of the node vectors p0, a0, p1, a1 of a slice and rotations per time of its nodes, world
// axes; or their variations.
typedef struct side_rate {
    snw_vec3 z[4], turn[2];
} side_rate;

static side_rate side_rate_of(const snw_model *m, const snw_work *w, int slice,
                              const snw_rod_side *side) {
    side_rate v;
    for (int k = 0; k < 2; k++) {
        const int seg = m->touching_slice[slice].seg[k];
        v.turn[k] = snw_rotate(w->g[seg].R, w->V[seg].w);
        v.z[2 * k] = snw_rotate(w->g[seg].R, w->V[seg].v);
        v.z[2 * k + 1] = snw_cross(v.turn[k], side->z[2 * k + 1]);
    }
    return v;
}

// sum of weights[order] z
static snw_vec3 weighted(const snw_rod_section *s, int order, const snw_vec3 z[4]) {
    snw_vec3 sum = {{0}};
    for (int i = 0; i < 4; i++) sum = snw_add(sum, snw_scale(s->weight[order][i], z[i]));
    return sum;
}

static snw_vec3 blended(double u, const snw_vec3 turn[2]) {
    return snw_add(snw_scale(1 - u, turn[0]), snw_scale(u, turn[1]));
}

// ---- forces ---------------------------------------------------------------------------------

// A touch, all that its forces and their variations depend on.
typedef struct touch_state {
    const snw_contact *c;
    snw_rod_side side[2];
    side_rate rate[2];
    snw_rod_gap g;
    snw_rod_potential e;
    snw_vec3 arm[2];                  // from the centre lines to the common point of both surfaces
    snw_vec3 v;                       // of the material of A relative to B there
    double way;                       // 1: A is pushed along g.n, -1: against it, in a bore
    double normal_rate, factor, slip; // slip: sqrt(u^2 + creep^2)
    snw_vec3 f;                       // friction and damping on A
} touch_state;

static double touch_damping(const snw_contact *c, double rate) {
    return snw_positive_part(1 - c->damping * rate, SNW_HUNT_CROSSLEY_WIDTH);
}

// Velocity of the material of A relative to B at the common point of both surfaces
static void set_velocity(const snw_touch *touch, touch_state *x) {
    const snw_vec3 n = snw_scale(x->way, x->g.n);
    const double rA = x->g.at[0].r[0], rB = x->g.at[1].r[0];
    x->arm[0] = snw_scale(-0.5 * (x->g.rho + rA - rB), x->g.n);
    x->arm[1] = snw_scale(0.5 * (x->g.rho + rB - rA), x->g.n);
    x->v = (snw_vec3){{0}};
    for (int k = 0; k < 2; k++) {
        const snw_vec3 v = snw_add(weighted(&x->g.at[k], 0, x->rate[k].z),
                                   snw_cross(blended(touch->u[k], x->rate[k].turn), x->arm[k]));
        x->v = snw_add(x->v, snw_scale(k ? -1 : 1, v));
    }
    x->normal_rate = snw_dot(n, x->v);
}

// (3.20.8): the force N (factor - 1) n - mu N factor u/sqrt(u^2 + creep^2), N the elastic force
static void set_friction(touch_state *x) {
    const snw_vec3 n = snw_scale(x->way, x->g.n);
    const double N = -x->way * x->e.d1[SNW_BY_GAP];
    x->factor = touch_damping(x->c, x->normal_rate);
    const snw_vec3 u = snw_sub(x->v, snw_scale(x->normal_rate, n));
    x->slip = sqrt(snw_dot(u, u) + x->c->creep * x->c->creep);
    x->f = snw_sub(snw_scale(N * (x->factor - 1), n),
                   snw_scale(x->c->across * N * x->factor / x->slip, u));
}

// Do the forces depend on velocities? Those of hard contacts are given.
static bool has_friction(const snw_work *w, const snw_touch *touch, const snw_contact *c) {
    return !w->is_static && !touch->hard && (c->damping > 0 || c->across > 0);
}

// without its forces
static touch_state touch_motion_of(const snw_model *m, const snw_work *w, const snw_touch *touch) {
    touch_state x = {.c = &m->contact[touch->contact], .way = touch->inside ? -1 : 1};
    for (int k = 0; k < 2; k++) {
        x.side[k] = snw_rod_side_in(m, w, touch->contact, touch->slice[k]);
        if (!w->is_static) x.rate[k] = side_rate_of(m, w, touch->slice[k], &x.side[k]);
    }
    snw_rod_gap_at(x.side, touch->u, &x.g);
    set_velocity(touch, &x);
    return x;
}

static touch_state touch_state_of(const snw_model *m, const snw_work *w, const snw_touch *touch) {
    touch_state x = touch_motion_of(m, w, touch);
    if (!touch->hard || !w->hard_is_given) // else there is no energy, and no width of its onset
        snw_rod_potential_at(&x.g, touch, touch->hard ? w->hard_smooth : x.c->smooth, &x.e);
    if (has_friction(w, touch, x.c)) set_friction(&x);
    if (touch->hard && (w->hard_is_given || w->hard_holds)) {
        snw_vec3 axis[3];
        snw_hard_touch_axes(touch, axis);
        for (int i = w->hard_is_given ? 0 : 1; i < 3; i++)
            x.f = snw_add(x.f, snw_scale(touch->held[i], axis[i]));
    }
    return x;
}

// Forces on the node vectors of one side, and torques on its nodes, world axes.
typedef struct side_force {
    snw_vec3 z[4], torque[2];
} side_force;

// out <- wrench on node i of a side, axes of the node
static snw_wrench node_wrench(const snw_se3 *g, const snw_vec3 *direction, const side_force *F,
                              int i) {
    const snw_vec3 moment = snw_add(snw_cross(*direction, F->z[2 * i + 1]), F->torque[i]);
    return (snw_wrench){
        {.m = snw_rotate_inv(g->R, moment), .f = snw_rotate_inv(g->R, F->z[2 * i])}};
}

static side_force side_force_of(const touch_state *x, const snw_touch *touch, int k) {
    side_force F;
    const snw_vec3 f = snw_scale(k ? -1 : 1, x->f), torque = snw_cross(x->arm[k], f);
    for (int i = 0; i < 4; i++)
        F.z[i] = snw_sub(snw_scale(x->g.at[k].weight[0][i], f), x->e.slope[k][i]);
    F.torque[0] = snw_scale(1 - touch->u[k], torque);
    F.torque[1] = snw_scale(touch->u[k], torque);
    return F;
}

// Is the touch one of those from `from` up to `to`?
static bool is_listed(const snw_model *m, const snw_work *w, int from, int to,
                      const snw_touch *touch) {
    for (int i = from; i < to && i < m->most_touch; i++) {
        if (snw_hard_touch_is_same(m, &w->touch[i], touch)) return true;
    }
    return false;
}

// w->touch <- also hard contacts: those with given forces, or in equilibria those with multipliers
// and all whose gaps are closed
static void add_hard_touches(const snw_model *m, snw_work *w) {
    if (!w->hard_is_given && !(w->hard_stiffness > 0)) return;
    const int first = w->ntouch;
    for (int i = 0; i < w->nhard_touch; i++) {
        snw_touch touch = w->hard_touch[i];
        snw_hard_touch_place(m, w, &touch);
        touch.stiffness = w->hard_is_given ? 0 : w->hard_stiffness;
        if (w->ntouch < m->most_touch) w->touch[w->ntouch] = touch;
        w->ntouch++;
    }
    if (w->hard_is_given) return;
    const int before = w->ntouch, room = before < m->most_touch ? m->most_touch - before : 0;
    const int found = snw_hard_touches_near(m, w, 0.5 * w->hard_smooth, room, w->touch + before);
    for (int i = 0; i < found; i++) {
        if (i < room && is_listed(m, w, first, before, &w->touch[before + i])) continue;
        if (i < room && w->ntouch < m->most_touch) {
            w->touch[w->ntouch] = w->touch[before + i];
            w->touch[w->ntouch].stiffness = w->hard_stiffness;
        }
        w->ntouch++;
    }
}

static int node_of(const snw_model *m, const int slice[2], int k) {
    return m->touching_slice[slice[k / 2]].seg[k % 2];
}

static bool are_of_slices(const snw_touch *touch, const int slice[2]) {
    return touch->slice[0] == slice[0] && touch->slice[1] == slice[1];
}

// w->touching_crowd <- do more slices touch than the equations of a local model have room for?
static void count_touched(const snw_model *m, snw_work *w) {
    int slices = 0;
    for (int i = 0; i < snw_ntouch(m, w); i++)
        slices += i == 0 || !are_of_slices(&w->touch[i - 1], w->touch[i].slice);
    w->touching_crowd = slices > SNW_LOCAL_TOUCHES;
}

void snw_rod_contacts_motion(const snw_model *m, bool is_static, snw_work *w) {
    snw_rod_contacts_search(m, w);
    if (m->hard) add_hard_touches(m, w);
    if (m->local) count_touched(m, w);
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        snw_touch *touch = &w->touch[i];
        const touch_state x = touch_state_of(m, w, touch);
        touch->gap = x.way * x.g.gap;
        touch->n = snw_scale(x.way, x.g.n);
        touch->energy = touch->hard ? 0 : x.e.energy;
        touch->elastic_force =
            touch->hard && w->hard_is_given ? touch->held[0] : -x.way * x.e.d1[SNW_BY_GAP];
        const snw_rod_section *A = &x.g.at[0];
        touch->place = snw_sub(A->p[0], snw_scale(A->r[0] + 0.5 * x.g.gap, x.g.n));
        touch->energy_rate = 0;
        for (int k = 0; k < 2; k++) {
            const side_force F = side_force_of(&x, touch, k);
            for (int j = 0; j < 2; j++) {
                const int seg = m->touching_slice[touch->slice[k]].seg[j];
                touch->on[2 * k + j] = node_wrench(&w->g[seg], &x.side[k].z[2 * j + 1], &F, j);
            }
            for (int j = 0; !is_static && j < 4; j++)
                touch->energy_rate += snw_dot(x.e.slope[k][j], x.rate[k].z[j]);
        }
        touch->rate = x.normal_rate;
        touch->v = x.v;
        touch->f = x.f;
    }
}

void snw_rod_contacts_add(const snw_model *m, snw_work *w) {
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        const snw_touch *touch = &w->touch[i];
        for (int k = 0; k < 4; k++) {
            const int seg = m->touching_slice[touch->slice[k / 2]].seg[k % 2];
            w->F[seg] = snw_wrench_sub(w->F[seg], touch->on[k]);
        }
    }
    // some touches are missing: no solution is better than a wrong one
    if (w->ntouch > m->most_touch || w->touching_crowd)
        w->F[m->touching_slice[0].seg[1]].f = (snw_vec3){{NAN, NAN, NAN}};
}

// ---- derivatives ----------------------------------------------------------------------------

// Variations of both sides, and of their rates, along which forces vary.
typedef struct touch_variation {
    side_rate moved[2], faster[2];
} touch_variation;

// variation of the force of friction and damping, of the arms, and of the arc lengths
typedef struct friction_variation {
    double slide[2];
    snw_vec3 f, arm[2];
} friction_variation;

// Direction from which the tangents of a hard touch with normal n are made: that of the first rod,
// or, at its end, another one, which is fixed.
static snw_vec3 tangent_direction(snw_vec3 n, snw_vec3 along, bool *is_rod) {
    const snw_vec3 x = snw_scale(1 / snw_norm(along), along);
    const double part[3] = {fabs(n.e[0]), fabs(n.e[1]), fabs(n.e[2])};
    snw_vec3 e = {{0}};
    e.e[part[0] <= part[1] && part[0] <= part[2] ? 0 : part[1] <= part[2] ? 1 : 2] = 1;
    *is_rod = fabs(snw_dot(n, x)) < 0.99;
    return *is_rod ? x : e;
}

// The same of a force that is given along the axes of the touch.
static friction_variation vary_given(const touch_state *x, const snw_touch *touch,
                                     const touch_variation *d) {
    const snw_rod_section *at = x->g.at;
    friction_variation out;
    const snw_vec3 da = weighted(&at[0], 1, d->moved[0].z);
    snw_vec3 dw = snw_sub(weighted(&at[0], 0, d->moved[0].z), weighted(&at[1], 0, d->moved[1].z));
    snw_rod_gap_slide(&x->g, touch->is_free, dw, da, weighted(&at[1], 1, d->moved[1].z), out.slide);
    const double *s = out.slide;
    dw = snw_add(dw, snw_sub(snw_scale(s[0], at[0].p[1]), snw_scale(s[1], at[1].p[1])));
    const snw_vec3 dn = snw_rotate(x->g.Q, dw);
    const double drho = snw_dot(x->g.n, dw), dr[2] = {s[0] * at[0].r[1], s[1] * at[1].r[1]};
    for (int k = 0; k < 2; k++) {
        const double sign = k ? 1 : -1, r = at[k].r[0] - at[1 - k].r[0];
        out.arm[k] = snw_add(snw_scale(0.5 * sign * (drho + dr[k] - dr[1 - k]), x->g.n),
                             snw_scale(0.5 * sign * (x->g.rho + r), dn));
    }
    bool is_rod;
    const snw_vec3 push = snw_scale(x->way, x->g.n), along = at[0].p[1],
                   e = tangent_direction(push, along, &is_rod);
    const snw_vec3 more = snw_scale(1 / snw_norm(along), snw_add(da, snw_scale(s[0], at[0].p[2])));
    const snw_vec3 de = snw_scale(is_rod, snw_sub(more, snw_scale(snw_dot(e, more), e)));
    out.f = snw_contact_given_variation(push, e, x->f, snw_scale(x->way, dn), de);
    return out;
}

static friction_variation vary_friction(const touch_state *x, const snw_touch *touch,
                                        const touch_variation *d) {
    const snw_rod_section *at = x->g.at;
    const snw_vec3 n = x->g.n;
    friction_variation out;
    snw_vec3 dw = snw_sub(weighted(&at[0], 0, d->moved[0].z), weighted(&at[1], 0, d->moved[1].z));
    snw_rod_gap_slide(&x->g, touch->is_free, dw, weighted(&at[0], 1, d->moved[0].z),
                      weighted(&at[1], 1, d->moved[1].z), out.slide);
    const double *s = out.slide;
    dw = snw_add(dw, snw_sub(snw_scale(s[0], at[0].p[1]), snw_scale(s[1], at[1].p[1])));
    const snw_vec3 dn = snw_rotate(x->g.Q, dw);
    const double drho = snw_dot(n, dw), dr[2] = {s[0] * at[0].r[1], s[1] * at[1].r[1]};
    const double dgap = drho - dr[0] - dr[1], r[2] = {at[0].r[0], at[1].r[0]};
    double dc = x->e.by_u[0] * s[0] + x->e.by_u[1] * s[1];
    double db = snw_dot(x->e.by[SNW_BY_BEYOND][SNW_OF_W], dw);
    snw_vec3 dv = {{0}};
    for (int k = 0; k < 2; k++) {
        const double sign = k ? 1 : -1;
        out.arm[k] = snw_add(snw_scale(0.5 * sign * (drho + dr[k] - dr[1 - k]), n),
                             snw_scale(0.5 * sign * (x->g.rho + r[k] - r[1 - k]), dn));
        const side_rate *rate = &x->rate[k];
        const snw_vec3 turned =
            snw_add(blended(touch->u[k], d->faster[k].turn),
                    snw_scale(s[k] / x->side[k].h, snw_sub(rate->turn[1], rate->turn[0])));
        snw_vec3 v = snw_add(weighted(&at[k], 0, d->faster[k].z),
                             snw_scale(s[k], weighted(&at[k], 1, rate->z)));
        v = snw_add(v, snw_cross(turned, x->arm[k]));
        v = snw_add(v, snw_cross(blended(touch->u[k], rate->turn), out.arm[k]));
        dv = snw_add(dv, snw_scale(-sign, v));
        const snw_vec3 *dz = d->moved[k].z;
        const snw_vec3 direction = snw_add(dz[1], snw_scale(at[k].turn[0], snw_sub(dz[3], dz[1])));
        const int of = k ? SNW_OF_DB : SNW_OF_DA;
        dc += snw_dot(x->e.by[SNW_BY_ANGLE][of], direction);
        db += snw_dot(x->e.by[SNW_BY_BEYOND][of], direction);
    }
    // N = -dE/dgap
    const double *d2 = x->e.d2[SNW_BY_GAP];
    const double N = -x->way * x->e.d1[SNW_BY_GAP],
                 dN = -x->way *
                      (d2[SNW_BY_GAP] * dgap + d2[SNW_BY_ANGLE] * dc + d2[SNW_BY_BEYOND] * db);
    const snw_vec3 push = snw_scale(x->way, n), dpush = snw_scale(x->way, dn);
    const double drate = snw_dot(dpush, x->v) + snw_dot(push, dv);
    const double z = 1 - x->c->damping * x->normal_rate;
    const double dfactor =
        -x->c->damping * snw_positive_part_d1(z, SNW_HUNT_CROSSLEY_WIDTH) * drate;
    const snw_vec3 u = snw_sub(x->v, snw_scale(x->normal_rate, push));
    const snw_vec3 du =
        snw_sub(dv, snw_add(snw_scale(drate, push), snw_scale(x->normal_rate, dpush)));
    const double mu = x->c->across / x->slip, dslip = snw_dot(u, du) / x->slip;
    out.f = snw_add(snw_scale(dN * (x->factor - 1) + N * dfactor, push),
                    snw_scale(N * (x->factor - 1), dpush));
    out.f = snw_sub(
        out.f, snw_scale(mu * (dN * x->factor + N * dfactor - N * x->factor * dslip / x->slip), u));
    out.f = snw_sub(out.f, snw_scale(mu * N * x->factor, du));
    return out;
}

// out (4) <- variations of the wrenches on the nodes, own axes; H: second derivative of the energy;
// varied: the side whose poses vary, -1: velocities vary only; given: all forces are
static void vary_wrenches(const snw_model *m, const snw_work *w, const touch_state *x,
                          const snw_touch *touch, const double *H, const touch_variation *d,
                          int varied, bool given, snw_wrench out[4]) {
    double dz[12];
    for (int i = 0; i < 12 && varied >= 0; i++) dz[i] = d->moved[varied].z[i / 3].e[i % 3];
    friction_variation friction = {0};
    if (has_friction(w, touch, x->c)) friction = vary_friction(x, touch, d);
    if (given) friction = vary_given(x, touch, d);
    for (int k = 0; k < 2; k++) {
        const snw_vec3 f = snw_scale(k ? -1 : 1, x->f), df = snw_scale(k ? -1 : 1, friction.f);
        const snw_vec3 torque = snw_cross(x->arm[k], f);
        const snw_vec3 dtorque = snw_add(snw_cross(friction.arm[k], f), snw_cross(x->arm[k], df));
        const double slide = friction.slide[k] / x->side[k].h;
        side_force dF;
        for (int i = 0; i < 4; i++) {
            const snw_rod_section *s = &x->g.at[k];
            dF.z[i] = snw_add(snw_scale(s->weight[0][i], df),
                              snw_scale(friction.slide[k] * s->weight[1][i], f));
            for (int r = 0; r < 3 && varied >= 0 && H; r++) {
                const double *row = H + 24 * (12 * k + 3 * i + r) + 12 * varied;
                double sum = 0;
                for (int c = 0; c < 12; c++) sum += row[c] * dz[c];
                dF.z[i].e[r] -= sum;
            }
        }
        dF.torque[0] = snw_sub(snw_scale(1 - touch->u[k], dtorque), snw_scale(slide, torque));
        dF.torque[1] = snw_add(snw_scale(touch->u[k], dtorque), snw_scale(slide, torque));
        const side_force F = side_force_of(x, touch, k);
        for (int j = 0; j < 2; j++) {
            // the moment of the force on the direction a, and the axes, turn with the node
            const snw_se3 *g = &w->g[m->touching_slice[touch->slice[k]].seg[j]];
            const snw_vec3 *a = &x->side[k].z[2 * j + 1];
            dF.torque[j] =
                snw_add(dF.torque[j], snw_cross(d->moved[k].z[2 * j + 1], F.z[2 * j + 1]));
            out[2 * k + j] = node_wrench(g, a, &dF, j);
            const snw_vec3 turn = snw_rotate_inv(g->R, d->moved[k].turn[j]);
            const snw_wrench now = node_wrench(g, a, &F, j);
            out[2 * k + j].m = snw_sub(out[2 * k + j].m, snw_cross(turn, now.m));
            out[2 * k + j].f = snw_sub(out[2 * k + j].f, snw_cross(turn, now.f));
        }
    }
}


// Variation of the vectors of node k with its pose (zeta) and velocity (dV), both own axes.
static touch_variation vary_node(const snw_model *m, const snw_work *w, const touch_state *x,
                                 const int slice[2], int k, snw_twist zeta, snw_twist dV) {
    touch_variation d = {0};
    const int i = k % 2, seg = node_of(m, slice, k);
    const snw_mat3 R = w->g[seg].R;
    const snw_vec3 a = x->side[k / 2].z[2 * i + 1];
    side_rate *moved = &d.moved[k / 2], *faster = &d.faster[k / 2];
    moved->turn[i] = snw_rotate(R, zeta.w);
    moved->z[2 * i] = snw_rotate(R, zeta.v);
    moved->z[2 * i + 1] = snw_cross(moved->turn[i], a);
    if (w->is_static) return d;
    const snw_twist V = w->V[seg];
    faster->turn[i] = snw_rotate(R, snw_add(dV.w, snw_cross(zeta.w, V.w)));
    faster->z[2 * i] = snw_rotate(R, snw_add(dV.v, snw_cross(zeta.w, V.v)));
    faster->z[2 * i + 1] = snw_add(snw_cross(faster->turn[i], a),
                                   snw_cross(x->rate[k / 2].turn[i], moved->z[2 * i + 1]));
    return d;
}

// adds those of one touch
static void add_jacobian(const snw_model *m, const snw_work *w, const snw_touch *touch,
                         snw_touch_jacobian *out) {
    const touch_state x = touch_state_of(m, w, touch);
    const bool given = touch->hard && w->hard_is_given;
    double H[24 * 24];
    if (!given) snw_rod_potential_hessian(&x.g, &x.e, touch, H);
    for (int j = 0; j < (has_friction(w, touch, x.c) ? 48 : 24); j++) {
        const int k = j % 24 / 6;
        snw_twist one = {0};
        snw_wrench dF[4];
        one.e[j % 6] = 1;
        const snw_twist none = {0};
        const touch_variation d =
            vary_node(m, w, &x, touch->slice, k, j < 24 ? one : none, j < 24 ? none : one);
        vary_wrenches(m, w, &x, touch, given ? NULL : H, &d, j < 24 ? k / 2 : -1, given, dF);
        double *column = j < 24 ? out->by_pose[j] : out->by_velocity[j - 24];
        for (int i = 0; i < 24; i++) column[i] += dF[i / 6].e[i % 6];
    }
}

// x, y (6 each) <- variation of pose and velocity of a segment with coordinate j of its path
static void node_columns(const snw_model *m, const snw_work *w, int seg, int j, double cq,
                         double cv, double *x, double *y) {
    const snw_path *path = &m->path[m->seg[seg].path];
    snw_twist J = {0}, dJ = {0};
    if (j >= path->n) { // of the rod, and its root does not move with it
        memset(x, 0, 6 * sizeof *x);
        memset(y, 0, 6 * sizeof *y);
        return;
    }
    const size_t at = (size_t)m->seg_store[seg] + (size_t)j;
    for (int i = 0; i < 6; i++) {
        J.e[i] = w->J[at + (size_t)(i * path->ld)];
        if (!w->is_static) dJ.e[i] = w->dJ[at + (size_t)(i * path->ld)];
    }
    const snw_twist turned = snw_twist_add(dJ, snw_ad(w->V[seg], J));
    for (int i = 0; i < 6; i++) {
        x[i] = cq * J.e[i];
        y[i] = w->is_static ? 0 : cq * turned.e[i] + cv * J.e[i];
    }
}

// column -= J' F of the four nodes
static void scatter_touch(const snw_model *m, const snw_work *w, const int slice[2],
                          const double F[24], snw_column_entries *column) {
    for (int k = 0; k < 4; k++) {
        const int seg = node_of(m, slice, k);
        const snw_path *path = &m->path[m->seg[seg].path];
        if (path->n == 0) continue;
        const double *J = w->J + m->seg_store[seg], *f = F + 6 * (size_t)k;
        for (int i = 0; i < path->n; i++) {
            const col x = col_load(J, path->ld, i);
            *snw_column_at(column, path->dof[i]) -=
                x.a * f[0] + x.b * f[1] + x.c * f[2] + x.d * f[3] + x.e * f[4] + x.f * f[5];
        }
    }
}

// T += cq dr/dq + cv dr/dv of two slices. A variation x of the coordinates varies the pose of a
// node by cq J x and its velocity by (cq (J' + ad_V J) + cv J) x, theory.md (4.2).
static void add_pair_tangent(const snw_model *m, const snw_work *w, const int slice[2],
                             const snw_touch_jacobian *jacobian, double cq, double cv,
                             snw_matrix T) {
    // the path of the second node has all coordinates of the first
    const int path[2] = {m->seg[node_of(m, slice, 1)].path, m->seg[node_of(m, slice, 3)].path};
    const bool same = path[0] == path[1]; // of a rod with itself both sides vary together
    for (int side = 0; side < (same ? 1 : 2); side++) {
        const snw_path *of = &m->path[path[side]];
        const int from = same ? 0 : 2 * side, to = same ? 4 : from + 2;
        for (int j = 0; j < of->n; j++) {
            double x[24], y[24], F[24] = {0};
            for (int k = from; k < to; k++)
                node_columns(m, w, node_of(m, slice, k), j, cq, cv, x + 6 * k, y + 6 * k);
            for (int c = 6 * from; c < 6 * to; c++) {
                const double *A = jacobian->by_pose[c], *B = jacobian->by_velocity[c];
                for (int i = 0; i < 24; i++) F[i] += A[i] * x[c] + B[i] * y[c];
            }
            snw_column_entries column = snw_matrix_column(T, of->dof[j]);
            scatter_touch(m, w, slice, F, &column);
        }
    }
}

int snw_rod_contacts_slices(const snw_model *m, const snw_work *w, int i, int seg[4],
                            snw_touch_jacobian *out) {
    const int n = snw_ntouch(m, w), *slice = w->touch[i].slice;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 4; k++) seg[k] = node_of(m, slice, k);
    for (; i < n && are_of_slices(&w->touch[i], slice); i++) add_jacobian(m, w, &w->touch[i], out);
    return i;
}

void snw_rod_contacts_tangent(const snw_model *m, double cq, double cv, const snw_work *w,
                              snw_matrix T) {
    for (int i = 0; i < snw_ntouch(m, w);) {
        const int *slice = w->touch[i].slice;
        snw_touch_jacobian jacobian;
        int seg[4];
        i = snw_rod_contacts_slices(m, w, i, seg, &jacobian);
        add_pair_tangent(m, w, slice, &jacobian, cq, cv, T);
    }
}

// ---- energy ---------------------------------------------------------------------------------

double snw_rod_contacts_energy(const snw_model *m, const snw_work *w) {
    double sum = w->ntouch > m->most_touch ? NAN : 0;
    for (int i = 0; i < snw_ntouch(m, w); i++) sum += w->touch[i].energy;
    return sum;
}

double snw_rod_contacts_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < snw_ntouch(m, w); i++) sum += w->touch[i].energy_rate;
    return sum;
}

double snw_rod_contacts_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        const snw_touch *touch = &w->touch[i];
        sum -= snw_dot(touch->f, touch->v);
        if (touch->hard) sum += touch->elastic_force * touch->rate; // its f has the normal force
    }
    return sum;
}

// ---- hard contacts --------------------------------------------------------------------------

void snw_hard_touch_axes(const snw_touch *touch, snw_vec3 axis[3]) {
    bool is_rod;
    snw_contact_axes_of(touch->n, tangent_direction(touch->n, touch->along, &is_rod), axis);
}

void snw_hard_touch_power_bars(const snw_model *m, const snw_work *w, const snw_touch *touch,
                               const double f[3], const snw_twist *eta, snw_contact_bars *out) {
    touch_state x = touch_motion_of(m, w, touch);
    snw_vec3 axis[3];
    snw_hard_touch_axes(touch, axis);
    x.f = (snw_vec3){{0}};
    for (int i = 0; i < 3; i++) x.f = snw_add(x.f, snw_scale(f[i], axis[i]));
    *out = (snw_contact_bars){0};
    for (int k = 0; k < 4; k++) {
        const int seg = node_of(m, touch->slice, k);
        const side_force F = side_force_of(&x, touch, k / 2);
        out->seg[k] = seg;
        out->V[k] = node_wrench(&w->g[seg], &x.side[k / 2].z[2 * (k % 2) + 1], &F, k % 2);
    }
    for (int j = 0; j < 24; j++) {
        snw_twist one = {0};
        snw_wrench dF[4];
        one.e[j % 6] = 1;
        const touch_variation d = vary_node(m, w, &x, touch->slice, j / 6, one, (snw_twist){0});
        vary_wrenches(m, w, &x, touch, NULL, &d, j / 12, true, dF);
        for (int k = 0; k < 4; k++) out->pose[j / 6].e[j % 6] += snw_power(dF[k], eta[out->seg[k]]);
    }
}

void snw_hard_touch_velocity(const snw_model *m, const snw_work *w, const snw_touch *touch,
                             double u[3]) {
    const touch_state x = touch_motion_of(m, w, touch);
    snw_vec3 axis[3];
    snw_hard_touch_axes(touch, axis);
    for (int i = 0; i < 3; i++) u[i] = snw_dot(axis[i], x.v);
}

void snw_hard_touch_rows(const snw_model *m, const snw_work *w, const snw_touch *touch, double *G) {
    touch_state x = touch_motion_of(m, w, touch);
    snw_vec3 axis[3];
    snw_hard_touch_axes(touch, axis);
    for (int i = 0; i < 3; i++) {
        double F[24], *column = G + (size_t)i * (size_t)m->nv;
        x.f = snw_scale(-1, axis[i]); // scatter_touch subtracts
        for (int k = 0; k < 4; k++) {
            const side_force force = side_force_of(&x, touch, k / 2);
            const snw_wrench on = node_wrench(&w->g[node_of(m, touch->slice, k)],
                                              &x.side[k / 2].z[2 * (k % 2) + 1], &force, k % 2);
            for (int j = 0; j < 6; j++) F[6 * k + j] = on.e[j];
        }
        for (int j = 0; j < m->nv; j++) column[j] = 0;
        snw_column_entries to = snw_matrix_column(snw_matrix_dense((size_t)m->nv, G), i);
        scatter_touch(m, w, touch->slice, F, &to);
    }
}

// ---- results --------------------------------------------------------------------------------

snw_wrench snw_rod_contact_wrench(const snw_model *m, const snw_work *w, int contact) {
    snw_wrench sum = {0};
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        const snw_touch *touch = &w->touch[i];
        int link[2];
        if (touch->contact != contact) continue;
        for (int k = 0; k < 2; k++)
            link[k] = m->seg[m->touching_slice[touch->slice[k]].seg[1]].link;
        for (int k = 0; k < 4 && link[0] != link[1]; k++) {
            const int seg = m->touching_slice[touch->slice[k / 2]].seg[k % 2];
            if (link[k / 2] != m->contact[contact].first) continue;
            sum = snw_wrench_add(sum, snw_wrench_to_parent(w->g[seg], touch->on[k]));
        }
    }
    return sum;
}

snw_contact_summary snw_rod_contact_summarise(const snw_model *m, const snw_work *w, int contact) {
    snw_contact_summary c = {.gap = INFINITY, .nearest = -1};
    snw_vec3 sum = {{0}};
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        const snw_touch *touch = &w->touch[i];
        if (touch->contact != contact) continue;
        c.touching++;
        c.force += touch->elastic_force;
        c.energy += touch->energy;
        c.slip = fmax(c.slip, snw_norm(snw_sub(touch->v, snw_scale(touch->rate, touch->n))));
        sum = snw_add(sum, snw_scale(touch->elastic_force, touch->place));
        c.gap = fmin(c.gap, touch->gap);
    }
    if (c.force > 0) {
        c.place = snw_scale(1 / c.force, sum);
        return c;
    }
    snw_touch nearest;
    c.gap = snw_rod_contact_nearest(m, w, contact, &nearest);
    c.place = nearest.place;
    return c;
}
