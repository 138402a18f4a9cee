// SPDX-License-Identifier: MIT
//
// Evaluation of all laws at one instant.

#include "dynamics/inputs.h"

#include <string.h>

static double inputs_value(snw_law law, snw_at at) { return law ? snw_expr_value(law, at) : 0; }

// Relative pose h of the laws with its body twist u and the rate du. R = R0 turn_0 turn_1 turn_2;
// after a turn exp(a th) about a fixed axis, w <- turn' w + a th' and
// dw <- turn' dw - th' a x (turn' w) + a th''.
static void pose_at(const snw_pose_desc *d, double t, snw_se3 *h, snw_twist *u, snw_twist *du) {
    const snw_at at = {.t = t};
    snw_mat3 R = d->R0;
    snw_vec3 w = {{0}}, dw = {{0}}, v = {{0}}, dv = {{0}};
    for (int i = 0; i < 3; i++) {
        if (!d->xyz[i]) {
            h->p.e[i] = 0;
            continue;
        }
        const snw_jet j = snw_expr_jet_t(d->xyz[i], at);
        h->p.e[i] = j.v, v.e[i] = j.d, dv.e[i] = j.dd;
    }
    for (int i = 0; i < d->nturn; i++) {
        const snw_vec3 a = d->turn[i].axis;
        const snw_jet th = snw_expr_jet_t(d->turn[i].angle, at);
        const snw_mat3 turn = snw_so3_exp(snw_scale(th.v, a));
        R = snw_mat3_mul(R, turn);
        w = snw_rotate_inv(turn, w);
        dw = snw_sub(snw_rotate_inv(turn, dw), snw_scale(th.d, snw_cross(a, w)));
        w = snw_add(w, snw_scale(th.d, a));
        dw = snw_add(dw, snw_scale(th.dd, a));
    }
    h->R = R;
    // velocity of the origin in the body frame, v_b = R' p'; its rate is R' p'' - w x v_b
    u->w = w;
    u->v = snw_rotate_inv(R, v);
    du->w = dw;
    du->v = snw_sub(snw_rotate_inv(R, dv), snw_cross(w, u->v));
}

static bool inputs_active(snw_law when, snw_at at) { return !when || inputs_value(when, at) != 0; }

void snw_load_at(const snw_model *m, int point, snw_at at, snw_wrench *out) {
    const snw_load_point *a = &m->load_point[point];
    const snw_load *load = &m->load[a->load];
    at.x = a->x, at.L = a->L;
    const double w = inputs_active(load->when, at) ? a->w : 0;
    for (int k = 0; k < 3; k++) {
        out->m.e[k] = w != 0 ? w * inputs_value(load->torque[k], at) : 0;
        out->f.e[k] = w != 0 ? w * inputs_value(load->force[k], at) : 0;
    }
}

// Q_active = - integral of Phi' Lambda_active dx, theory.md (2.2), with the sign of a load
void snw_stress_at(const snw_model *m, int stress, snw_at at, double fraction, double *Q) {
    const snw_stress *d = &m->stress[stress];
    const snw_rod *r = &m->rod[d->rod];
    if (!inputs_active(d->when, at)) return;
    for (int p = r->point0; p < r->point0 + r->npoint; p++) {
        const snw_point *pt = &m->point[p];
        const double *phi = m->phi + pt->phi;
        for (int a = 0; a < r->na; phi += pt->count[a], a++) {
            const snw_law law = d->stress[r->comp[a]];
            if (!law) continue;
            at.x = pt->x, at.L = r->L;
            const double s = fraction * pt->w * inputs_value(law, at);
            double *to = Q + r->dof[a] + pt->first[a];
            for (int j = 0; j < pt->count[a]; j++) to[j] -= s * phi[j];
        }
    }
}

double snw_stress_power(const snw_model *m, int stress, snw_at at, const double *v) {
    const snw_stress *d = &m->stress[stress];
    const snw_rod *r = &m->rod[d->rod];
    double power = 0;
    if (!inputs_active(d->when, at)) return 0;
    for (int p = r->point0; p < r->point0 + r->npoint; p++) {
        const snw_point *pt = &m->point[p];
        const double *phi = m->phi + pt->phi;
        for (int a = 0; a < r->na; phi += pt->count[a], a++) {
            const snw_law law = d->stress[r->comp[a]];
            if (!law) continue;
            at.x = pt->x, at.L = r->L;
            double rate = 0;
            for (int j = 0; j < pt->count[a]; j++) rate += phi[j] * v[r->dof[a] + pt->first[a] + j];
            power -= pt->w * inputs_value(law, at) * rate;
        }
    }
    return power;
}

double snw_tendon_law(const snw_model *m, int tendon, const snw_inputs *in, snw_at at) {
    return *in->signal_fraction * snw_expr_value(m->tendon[tendon].law, at);
}

void snw_effort_at(const snw_model *m, int motor, snw_at at, double fraction, double *Q) {
    const snw_motor *d = &m->motor[motor];
    if (!inputs_active(d->when, at)) return;
    for (int k = 0; k < d->n; k++) Q[d->dof + k] += fraction * inputs_value(d->law[k], at);
}

// value s seconds after the caller set it, with constant acceleration
static snw_jet inputs_extrapolate(snw_jet j, double s) {
    return (snw_jet){.v = j.v + s * (j.d + 0.5 * s * j.dd), .d = j.d + s * j.dd, .dd = j.dd};
}

static snw_jet manual_drive_at(const snw_model *m, const snw_manual_inputs *manual,
                               const snw_drive *d, double t) {
    const int k = manual->motor_first[d->motor] + d->dof - m->motor[d->motor].dof;
    return inputs_extrapolate(manual->motor[k], t - manual->motor_since[d->motor]);
}

// A given rate is integrated from the initial value of the coordinate. A conditional drive adds its
// offset in snw_drive_target instead.
static snw_jet drive_at(const snw_model *m, const snw_drive *d, snw_at at) {
    if (d->passive) return (snw_jet){0};
    const snw_jet law = snw_expr_jet_t(d->law, at);
    if (!d->rate_integral) return law;
    const double displacement = snw_integral_at(d->rate_integral, d->law, at.t);
    return (snw_jet){
        .v = (d->captured < 0 ? m->q0[d->q] : 0) + displacement, .d = law.v, .dd = law.d};
}

// is x a possible value of the given quantity?
static bool is_admissible(const snw_tendon *d, double x) {
    return !d->control->admissible || d->control->admissible(x, d->reference + d->extra);
}

static void tendon_at(const snw_model *m, int i, snw_at at, snw_inputs *in) {
    const snw_tendon *d = &m->tendon[i];
    if (snw_tendon_is_manual(in, i)) {
        in->tendon[i] =
            inputs_extrapolate(in->manual->tendon[i], at.t - in->manual->tendon_since[i]);
    } else {
        in->tendon[i] = (snw_jet){0};
        if (!d->reads_signals) in->tendon[i] = snw_expr_jet_t(d->law, at);
    }
    if (!is_admissible(d, in->tendon[i].v)) in->tendon[i].v = NAN;
    in->ambient[i] = inputs_value(d->ambient, at);
    if (d->temperature) { // amount of gas n: n R T
        in->tendon[i].v *= SNW_GAS_CONSTANT * inputs_value(d->temperature, at);
    }
}

// Translation of a tube that slides, and the pose of its base.
static void slide_at(const snw_model *m, int i, snw_at at, snw_inputs *in) {
    const snw_tube *tube = &m->tube[i];
    const snw_manual_inputs *by_hand = in->manual && in->manual->slide_given[i] ? in->manual : NULL;
    snw_jet x = by_hand ? inputs_extrapolate(by_hand->slide[i], at.t - by_hand->slide_since[i])
                : tube->translation ? snw_expr_jet_t(tube->translation, at)
                                    : (snw_jet){0};
    x.v -= tube->placed;
    in->slide[i] = x;
    in->pose[tube->pose].p.x += x.v;
    in->pose_u[tube->pose].v.x = x.d;
    in->pose_du[tube->pose].v.x = x.dd;
}

static void current_at(const snw_model *m, int i, snw_at at, snw_inputs *in) {
    for (int k = 0; k < 3; k++) {
        const snw_law law = m->fluid[i].current[k];
        snw_jet j = {0};
        if (law) j = snw_expr_jet_t(law, at);
        in->current[i].e[k] = j.v, in->current_rate[i].e[k] = j.d;
    }
}

void snw_given_strains(const snw_rod *rod, double x, double t, snw_twist *xi, snw_twist *dxi,
                       snw_twist *ddxi) {
    const snw_at at = {.t = t, .x = x, .L = rod->L};
    *xi = *dxi = *ddxi = (snw_twist){0};
    for (int k = 0; k < 6; k++) {
        if (!rod->given[k]) continue;
        const snw_jet j = snw_expr_jet_t(rod->given[k], at);
        xi->e[k] = j.v, dxi->e[k] = j.d, ddxi->e[k] = j.dd;
    }
}

void snw_inputs_at(const snw_model *m, double t, snw_inputs *in) {
    in->t = t;
    for (int i = 0; i < 3; i++) in->gravity.e[i] = inputs_value(m->gravity[i], (snw_at){.t = t});
    if (in->manual && in->manual->gravity_given) in->gravity = in->manual->gravity;
    for (int i = 0; i < m->npose; i++) {
        const snw_fixed_pose *fixed = &m->fixed_pose[i];
        if (fixed->is_fixed) {
            in->pose[i] = fixed->h;
            in->pose_u[i] = in->pose_du[i] = (snw_twist){0};
        } else {
            pose_at(&m->pose[i], t, &in->pose[i], &in->pose_u[i], &in->pose_du[i]);
        }
    }
    const snw_at at = {.t = t};
    for (int i = 0; i < m->nload_point; i++) {
        const int load = m->load_point[i].load;
        in->load[i] = (snw_wrench){0};
        if (in->manual && in->manual->load_given[load]) {
            in->load[i] = snw_wrench_scale(m->load_point[i].w, in->manual->load[load]);
        } else if (!m->load[load].reads_signals) {
            snw_load_at(m, i, at, &in->load[i]);
        }
    }
    for (int i = 0; i < m->nv; i++) in->stress[i] = 0;
    for (int i = 0; i < m->nstress; i++) {
        if (!m->stress[i].reads_signals) snw_stress_at(m, i, at, snw_activation(in, i), in->stress);
    }
    for (int i = 0; i < m->nmotor; i++) {
        if (!m->motor[i].law) continue; // its motion is given
        if (in->manual && in->manual->motor_given[i]) {
            const snw_jet *given = in->manual->motor + in->manual->motor_first[i];
            for (int k = 0; k < m->motor[i].n; k++) {
                in->stress[m->motor[i].dof + k] += given[k].v;
            }
        } else if (!m->motor[i].reads_signals) {
            snw_effort_at(m, i, at, 1, in->stress);
        }
    }
    for (int i = 0; i < m->ndrive; i++) {
        const bool given = in->manual && in->manual->motor_given[m->drive[i].motor];
        in->drive[i] =
            given ? manual_drive_at(m, in->manual, &m->drive[i], t) : drive_at(m, &m->drive[i], at);
    }
    for (int i = 0; m->ntube_piece && i < m->ntube; i++) slide_at(m, i, at, in);
    for (int i = 0; i < m->nfield; i++) {
        const snw_field *f = &m->field[i];
        snw_given_strains(&m->rod[f->rod], f->x, t, &in->xi[i], &in->dxi[i], &in->ddxi[i]);
    }
    for (int i = 0; i < m->ntendon; i++) tendon_at(m, i, at, in);
    for (int i = 0; i < m->nfluid; i++) current_at(m, i, at, in);
    if (m->nforce_field_point) in->force_field[0] = t, in->force_field[1] = 1;
    for (int i = 0; m->nforce_field_point && i < m->nforce_field; i++)
        in->force_field[2 + i] = in->manual ? in->manual->field[i] : 1;
    *in->signal_fraction = 1;
    in->integral_step = 0;
}
