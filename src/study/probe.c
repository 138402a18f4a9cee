// SPDX-License-Identifier: MIT
//
// Evaluation of probes from state, inputs and work: kinematics of stations, strains and wrenches,
// joints and actuators, tendons, energies; for frames, conditions and the public API.
#include "study/probe.h"

#include "constraint/locomotion_connection.h"
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/joint.h"
#include "dynamics/tendon.h"
#include "dynamics/tube.h"
#include "shoot/shooter.h"
#include "sinew/robot.h"
#include "study/probe_tendon.h"

#include <math.h>

// Rotation vector of R nearest to `near`. The vectors of one rotation differ by full turns about
// its axis.
static snw_vec3 nearest_log(snw_mat3 R, snw_vec3 near) {
    const snw_vec3 w = snw_so3_log(R);
    const double angle = snw_norm(w), turn = 2 * M_PI;
    if (angle < 1e-8) {
        const double size = snw_norm(near);
        const double k = nearbyint(size / turn);
        return k > 0 ? snw_add(w, snw_scale(k * turn / size, near)) : w;
    }
    const double k = nearbyint((snw_dot(near, w) / angle - angle) / turn);
    return snw_scale(1 + k * turn / angle, w);
}

void snw_rotations_update(const snw_model *m, const snw_work *w, snw_vec3 *rotation) {
    for (int i = 1; i < m->nseg + m->nobs; i++) {
        snw_vec3 near = rotation[i];
        if (m->seg[i].kind == SNW_SEG_ROD) {
            near = snw_add(rotation[m->seg[i].parent], w->slice[m->seg[i].item].W.w);
        }
        rotation[i] = nearest_log(w->g[i].R, near);
    }
}

static double *put_vec3(double *out, snw_vec3 a) {
    for (int i = 0; i < 3; i++) *out++ = a.e[i];
    return out;
}

static double *put_rotation(double *out, snw_mat3 R, snw_vec3 vector) {
    const snw_quat h = snw_quat_from_mat3(R);
    for (int i = 0; i < 4; i++) *out++ = h.e[i];
    out = put_vec3(out, vector);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) *out++ = R.e[i][j];
    }
    return out;
}

snw_vec3 snw_rotate_known(snw_mat3 R, snw_vec3 v) {
    snw_vec3 out = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (!isnan(v.e[j]) || fabs(R.e[i][j]) > 1e-9) out.e[i] += R.e[i][j] * v.e[j];
        }
    }
    return out;
}

static double *put_wrench(double *out, snw_wrench F, const snw_mat3 *to_world) {
    out = put_vec3(out, to_world ? snw_rotate_known(*to_world, F.m) : F.m);
    return put_vec3(out, to_world ? snw_rotate_known(*to_world, F.f) : F.f);
}

// f += force of the stops of a block on its coordinates.
static void add_stop_force(const snw_model *m, const snw_work *w, const snw_block *b, double *f) {
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop_work *at = &w->stop[i];
        if (&m->block[m->stop[i].block] != b) continue;
        for (int k = 0; k < b->n; k++) f[k] += at->way * at->force * at->n.e[k];
    }
}

// f += moment of the bushing that is the spring of a spherical joint.
static void add_bushing_moment(const snw_model *m, const snw_work *w, int link, double *f) {
    for (int i = 0; i < m->nforce_element; i++) {
        if (m->desc->force_element[i].joint != 1 + link) continue;
        for (int k = 0; k < 3; k++) f[k] += w->force_element[i].on[1].m.e[k];
    }
}

// Coordinates of a joint, their rates, or the efforts of its springs, damping, friction, stops and
// of the gears of `mimic`.
static double *put_joint(double *out, const snw_model *m, const snw_probe_desc *p,
                         const snw_state *s, const snw_work *w) {
    const snw_block *b = &m->block[m->link_block[p->site.link]];
    const int nblock = b->space == SNW_SPACE_RN ? snw_joint_dof(p->joint) : 1;
    for (int k = 0; k < nblock; k++, b++) {
        double f[3] = {0};
        if (p->kind == SNW_PROBE_RATE) {
            for (int i = 0; i < b->n; i++) f[i] = s->v[b->dof + i];
        } else if (p->kind == SNW_PROBE_EFFORT) {
            if (b->spring >= 0 && snw_seg_is_active(m, w, b->seg))
                snw_spring_force(m, &m->spring[b->spring], s->q, s->v, f);
            for (int i = 0; i < b->n; i++) f[i] = -f[i];
            add_stop_force(m, w, b, f);
            if (b->space == SNW_SPACE_RN) f[0] += snw_coupling_effort(m, w, b->dof);
            if (b->space == SNW_SPACE_SO3) add_bushing_moment(m, w, p->site.link, f);
        } else if (b->space == SNW_SPACE_RN) {
            f[0] = s->q[b->q];
        } else {
            const snw_vec3 turn = snw_so3_log(snw_so3_from_numbers(s->q + b->q));
            for (int i = 0; i < 3; i++) f[i] = turn.e[i];
        }
        for (int i = 0; i < b->n; i++) *out++ = f[i];
    }
    return out;
}

int snw_motor_limits(const snw_model *m, int motor, int k, const snw_inputs *in, const snw_state *s,
                     const snw_work *w) {
    static const double SLACK = 1 + 1e-9;
    const snw_motor_desc *d = &m->desc->motor[motor];
    int reached = 0;
    if (d->effort_limit) {
        const double e = fabs(snw_motor_effort(m, motor, k, in, w)), most = d->effort_limit[k];
        const bool cut = snw_gives_effort(d->given);
        if (cut ? e >= most : e > most * SLACK) reached |= SNW_LIMIT_EFFORT;
    }
    if (d->rate_limit && fabs(s->v[m->motor[motor].dof + k]) > d->rate_limit[k] * SLACK)
        reached |= SNW_LIMIT_RATE;
    return reached;
}

double snw_motor_effort(const snw_model *m, int motor, int k, const snw_inputs *in,
                        const snw_work *w) {
    const snw_motor_desc *d = &m->desc->motor[motor];
    const snw_at at = {.t = in->t, .signal = w->signal};
    if (!snw_seg_is_active(m, w, m->link_first[d->link])) return 0;
    if (snw_gives_effort(d->given) && in->manual && in->manual->motor_given[motor]) {
        return *in->signal_fraction * in->manual->motor[in->manual->motor_first[motor] + k].v;
    }
    if (snw_gives_effort(d->given)) {
        const bool acts = d->law[k] && (!d->when || snw_expr_value(d->when, at) != 0);
        return acts ? *in->signal_fraction * snw_expr_value(d->law[k], at) : 0;
    }
    if (d->turns) return snw_loop_wrench(m, w, d->loop, w->lambda).m.e[k];
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *drive = &m->drive[i];
        if (drive->motor == motor && drive->dof == m->motor[motor].dof + k && drive->row >= 0) {
            return w->lambda[drive->row];
        }
    }
    return 0;
}

// Sum of effort times rate over all coordinates of an actuator, W.
static double motor_power(const snw_model *m, int motor, const snw_inputs *in, const snw_state *s,
                          const snw_work *w) {
    double power = 0;
    const int nsame = m->desc->motor[motor].nsame;
    for (int i = motor; i < motor + (nsame ? nsame : 1); i++) {
        for (int k = 0; k < m->motor[i].n; k++) {
            power += snw_motor_effort(m, i, k, in, w) * s->v[m->motor[i].dof + k];
        }
    }
    return power;
}

// Value, rate or effort of all coordinates of an actuator.
static void put_motor(double *out, const snw_model *m, const snw_probe_desc *p,
                      const snw_inputs *in, const snw_state *s, const snw_work *w) {
    const snw_motor *motor = &m->motor[p->item];
    const snw_motor_desc *d = &m->desc->motor[p->item];
    if (p->kind != SNW_PROBE_EFFORT && !d->rod && !d->feed) {
        (void)put_joint(out, m, p, s, w);
        return;
    }
    for (int k = 0; k < motor->n; k++) {
        out[k] = p->kind == SNW_PROBE_EFFORT ? snw_motor_effort(m, p->item, k, in, w)
                 : p->kind == SNW_PROBE_RATE ? s->v[motor->dof + k]
                                             : s->q[motor->q + k];
    }
}

static double probe_read_tendon(const snw_model *m, const snw_probe_desc *p, const snw_work *w) {
    const snw_tendon_work *now = &w->tendon[p->item];
    if (p->kind == SNW_PROBE_LENGTH) return m->tendon[p->item].reference - now->value;
    if (p->kind == SNW_PROBE_VALUE || p->kind == SNW_PROBE_VOLUME) return now->value;
    if (p->kind == SNW_PROBE_POWER) return snw_tendon_power(m, p->item, w);
    return p->kind == SNW_PROBE_RATE ? now->rate : now->effort;
}

// Power of the drives, speed of the centre of mass, its distance from the start, and the cost of
// transport: work over weight times distance, with 9.81 m/s^2 when gravity is zero.
static double *put_transport(double *out, const snw_model *m, const snw_inputs *in,
                             const snw_state *s, const snw_work *w, const snw_readings *readings) {
    snw_vec3 c;
    const double mass = snw_center_of_mass(m, w, &c), g = snw_norm(in->gravity);
    const double distance = snw_norm(snw_sub(c, readings->start));
    *out++ = snw_drive_power(m, in, s, w);
    *out++ = snw_norm(snw_momentum(m, w).f) / mass;
    *out++ = distance;
    *out++ = distance > 0 ? readings->energy.work / (mass * (g > 0 ? g : 9.81) * distance) : 0;
    return out;
}

// Wrench of a ground, or sum over the rings along a rod, in the world about its origin.
// Undetermined components count as zero.
static snw_wrench contact_reaction(const snw_model *m, const snw_work *w, int i) {
    const snw_contact_desc *d = &m->desc->contact[i];
    snw_wrench sum = snw_contact_wrench(m, w, i);
    for (int k = d->nonholonomic - 1; k < d->nonholonomic - 1 + d->nnonholonomic; k++) {
        const snw_wrench F = snw_loop_known_wrench(m, w, k);
        sum = snw_wrench_add(sum, snw_wrench_to_parent(snw_loop_pose(m, w, k), F));
    }
    return sum;
}

// Force, smallest gap, number of points in contact, their mean or the nearest point, slip.
static double *put_contact(double *out, const snw_model *m, const snw_work *w, int i) {
    const snw_contact_summary c = snw_contact_summarise(m, w, i);
    out = put_vec3(out, snw_contact_wrench(m, w, i).f);
    *out++ = c.gap;
    *out++ = c.touching;
    out = put_vec3(out, c.place);
    *out++ = c.slip;
    return out;
}

// Column of the connection of a driven joint, or its curvature between two.
static double *put_connection(double *out, const snw_model *m, const snw_probe_desc *p, int seg,
                              const snw_inputs *in, const snw_state *s,
                              const snw_readings *readings) {
    snw_twist x;
    for (int e = 0; e < 6; e++) x.e[e] = NAN;
    if (readings->connection && p->kind == SNW_PROBE_CONNECTION) {
        snw_connection_column(readings->connection, in, s, seg, m->motor[p->item].dof, &x);
    } else if (readings->connection) {
        snw_connection_curvature(readings->connection, in, s, seg, m->motor[p->item].dof,
                                 m->motor[p->other].dof, &x);
    }
    for (int e = 0; e < 6; e++) *out++ = x.e[e];
    return out;
}

// Columns of a probe at one station.
static double *probe_read_at(const snw_model *m, const snw_probe_desc *p, const snw_station *at,
                             const snw_inputs *in, const snw_state *s, const snw_work *w,
                             const snw_readings *readings, double *out) {
    const int i = at->seg;
    const snw_se3 g = w->g[i];
    const snw_mat3 *world = p->body ? NULL : &g.R;
    switch (p->kind) {
    case SNW_PROBE_POSITION:
        return put_vec3(out, g.p);
    case SNW_PROBE_ROTATION:
        return put_rotation(out, g.R, readings->rotation[i]);
    case SNW_PROBE_POSE:
        return put_rotation(put_vec3(out, g.p), g.R, readings->rotation[i]);
    case SNW_PROBE_RELATIVE: {
        const snw_se3 h = snw_se3_mul(snw_se3_inv(w->g[at[-1].seg]), g);
        return put_rotation(put_vec3(out, h.p), h.R, snw_so3_log(h.R));
    }
    case SNW_PROBE_VELOCITY:
        return put_vec3(out, world ? snw_rotate(g.R, w->V[i].v) : w->V[i].v);
    case SNW_PROBE_TWIST:
        out = put_vec3(out, world ? snw_rotate(g.R, w->V[i].w) : w->V[i].w);
        return put_vec3(out, world ? snw_rotate(g.R, w->V[i].v) : w->V[i].v);
    case SNW_PROBE_ACCELERATION: {
        // A excludes gravity and the rotation of the frame: d/dt (R v) = R (v' + w x v)
        const snw_vec3 felt = snw_add(w->A[i].v, snw_cross(w->V[i].w, w->V[i].v));
        const snw_vec3 a = snw_add(snw_rotate(g.R, felt), in->gravity);
        out = put_vec3(out, world ? a : snw_rotate_inv(g.R, a));
        return put_vec3(out, world ? snw_rotate(g.R, w->A[i].w) : w->A[i].w);
    }
    case SNW_PROBE_STRAIN: {
        snw_twist xi = readings->fields ? snw_shooter_strain(readings->fields, at->rod, at->x)
                                        : snw_rod_strain(&m->rod[at->rod], s->q, in->t, at->x);
        xi.e[SNW_STRETCH] -= 1;
        for (int k = 0; k < 6; k++) *out++ = xi.e[k];
        return out;
    }
    case SNW_PROBE_WRENCH:
        if (readings->fields) {
            return put_wrench(out, snw_shooter_wrench(readings->fields, at->rod, at->x), NULL);
        }
        return put_wrench(out, snw_internal_wrench(m, at, w), NULL);
    case SNW_PROBE_REACTION: {
        if (p->of == SNW_PROBE_OF_LOOP) {
            const snw_mat3 R = snw_loop_pose(m, w, p->item).R;
            return put_wrench(out, snw_loop_wrench(m, w, p->item, w->lambda), p->body ? NULL : &R);
        }
        if (p->of == SNW_PROBE_OF_CONTACT) {
            return put_wrench(out, contact_reaction(m, w, p->item), NULL);
        }
        if (p->of == SNW_PROBE_OF_FORCE_ELEMENT) {
            const int second = m->force_element[p->item].end[1];
            return put_wrench(out, w->force_element[p->item].on[1],
                              p->body ? NULL : &w->g[second].R);
        }
        const int first = m->link_first[p->site.link];
        return put_wrench(out, w->F[first], p->body ? NULL : &w->g[first].R);
    }
    case SNW_PROBE_CONTACT:
        return put_contact(out, m, w, p->item);
    case SNW_PROBE_ANGLE:
    case SNW_PROBE_VALUE:
    case SNW_PROBE_RATE:
    case SNW_PROBE_EFFORT:
        if (p->of == SNW_PROBE_OF_LOOP) { // arc length of the rod at the loop
            const snw_rod *rod = &m->rod[m->loop[p->item].through - 1];
            *out++ = p->kind == SNW_PROBE_RATE ? s->v[rod->feed] : s->q[rod->feed_q];
            return out;
        }
        return put_joint(out, m, p, s, w);
    case SNW_PROBE_POWER: {
        const snw_at now = {.t = in->t, .signal = w->signal};
        *out++ = p->of == SNW_PROBE_OF_MOTOR ? motor_power(m, p->item, in, s, w)
                                             : *in->signal_fraction * snw_activation(in, p->item) *
                                                   snw_stress_power(m, p->item, now, s->v);
        return out;
    }
    case SNW_PROBE_LENGTH:
    case SNW_PROBE_TENSION:
    case SNW_PROBE_PULL:
    case SNW_PROBE_VOLUME:
    case SNW_PROBE_PRESSURE:
        break; // read by read_tendon
    case SNW_PROBE_TUBE: {
        const double twist = snw_rod_strain(&m->rod[at->rod], s->q, in->t, at->x).e[SNW_TWIST];
        *out++ = snw_tube_angle(m, p->item, s->q, w, at->x);
        *out++ = twist;
        *out++ = m->tube[p->item].torsion * twist;
        return out;
    }
    case SNW_PROBE_ENERGY: {
        const snw_energy *e = &readings->energy;
#define X(name) *out++ = e->name;
        SNW_ENERGY_LIST(X)
#undef X
        *out++ = e->kinetic + e->elastic + e->gravity;
        return out;
    }
    case SNW_PROBE_MOMENTUM:
        return put_wrench(out, snw_momentum(m, w), NULL);
    case SNW_PROBE_CENTER_OF_MASS: {
        snw_vec3 c;
        (void)snw_center_of_mass(m, w, &c);
        return put_vec3(out, c);
    }
    case SNW_PROBE_STABILITY:
        *out++ = readings->stability;
        return out;
    case SNW_PROBE_CONNECTION:
    case SNW_PROBE_CURVATURE:
        return put_connection(out, m, p, i, in, s, readings);
    case SNW_PROBE_LAW:
        break; // read by read_law
    case SNW_PROBE_TRANSPORT:
        return put_transport(out, m, in, s, w, readings);
    case SNW_PROBE_FREQUENCY:
        for (int k = 0; k < SNW_PROBE_FREQUENCIES; k++) {
            *out++ = readings->frequency ? readings->frequency[k] : NAN;
        }
        return out;
    case SNW_PROBE_POLE:
        for (int k = 0; k < SNW_PROBE_POLES; k++) *out++ = readings->pole ? readings->pole[k] : NAN;
        return out;
    }
    return out;
}

// Value of a law of other probes' columns.
static double read_law(const snw_model *m, const snw_probe_desc *p, const snw_inputs *in,
                       const snw_state *s, const snw_work *w, const snw_readings *readings) {
    double signal[SNW_SIGNALS_MAX + SNW_LAW_READS] = {0};
    for (int k = 0; k < p->nread; k++) {
        double column[SNW_LAW_WIDTH];
        if (p->read_probe[k] < 0) {
            signal[p->read_slot[k]] = s->z[p->read_column[k]];
            continue;
        }
        snw_probe_read(m, p->read_probe[k], in, s, w, readings, column);
        signal[p->read_slot[k]] = column[p->read_column[k]];
    }
    return snw_expr_value(p->law, (snw_at){.t = in->t, .signal = signal});
}

void snw_probe_read(const snw_model *m, int i, const snw_inputs *in, const snw_state *s,
                    const snw_work *w, const snw_readings *readings, double *out) {
    const snw_probe_desc *p = &m->desc->probe[i];
    if (p->kind == SNW_PROBE_LAW) {
        *out = read_law(m, p, in, s, w, readings);
        return;
    }
    if (p->of == SNW_PROBE_OF_MOTOR && p->kind != SNW_PROBE_POWER) {
        put_motor(out, m, &m->desc->probe[i], in, s, w);
        return;
    }
    if (p->of == SNW_PROBE_OF_FORCE_ELEMENT && p->kind != SNW_PROBE_REACTION) {
        const snw_force_element_work *at = &w->force_element[p->item];
        *out = p->kind == SNW_PROBE_LENGTH ? at->length
               : p->kind == SNW_PROBE_RATE ? at->rate
                                           : at->tension;
        return;
    }
    if (p->kind == SNW_PROBE_PULL) {
        const snw_se3 g = w->g[m->station[m->probe_station[i]].seg];
        const snw_wrench F = snw_tendon_pull(m, p->item, p->tied, g, in->t, s, w);
        (void)put_wrench(out, F, p->body ? NULL : &g.R);
        return;
    }
    if (p->kind == SNW_PROBE_TENSION) {
        for (int k = 0; k < m->probe_count[i]; k++) {
            const double at = p->along > 0 ? (double)k / (p->along - 1) : p->fraction;
            out[k] = snw_tendon_tension(m, p->item, at, w);
        }
        return;
    }
    if (p->of == SNW_PROBE_OF_TENDON) {
        *out = probe_read_tendon(m, p, w);
        return;
    }
    for (int k = 0; k < m->probe_count[i]; k++) {
        out = probe_read_at(m, &m->desc->probe[i], &m->station[m->probe_station[i] + k], in, s, w,
                            readings, out);
    }
}
