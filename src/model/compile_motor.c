// SPDX-License-Identifier: MIT
//
// Actuators on coordinates of joints and rods: their coordinates, and the constraint rows of
// coordinates whose motion is given (theory.md 3.9).
#include "model/compile.h"

#include "base/fail.h"

// Coordinates on which an actuator acts.
static snw_motor motor_coordinates(const snw_build *b, const snw_motor_desc *d) {
    if (d->feed) {
        const snw_rod *rod = &b->rod[b->link_rod[d->link]];
        SNW_ASSERT(rod->feed >= 0);
        return (snw_motor){.q = rod->feed_q, .dof = rod->feed, .n = 1};
    }
    if (d->rod) {
        const snw_rod *rod = &b->rod[b->link_rod[d->link]];
        return (snw_motor){.q = rod->dof0 + rod->shift, .dof = rod->dof0, .n = rod->ndof};
    }
    // the axes of a joint have consecutive coordinates
    const snw_block *block = &b->block[b->link_block[d->link]];
    return (snw_motor){
        .q = block->q, .dof = block->dof, .n = snw_joint_dof(b->m->desc->link[d->link].joint)};
}

// Error: the rod has so many monomials that it is computed in another basis.
static snw_status check_basis(const snw_build *b, const snw_motor_desc *d, snw_error *err) {
    if (!d->rod || snw_rod_as_declared(b->m, &b->rod[b->link_rod[d->link]])) return SNW_OK;
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL,
                 "actuator '%s' acts on the coordinates of rod '%s', whose strains have more than "
                 "%d monomials; so many are linearly dependent in double precision, use 'legendre'",
                 d->name, b->m->desc->link[d->link].name, SNW_BASIS_MONOMIALS));
}

// Error: two actuators drive one coordinate.
static snw_status motor_refuse(const snw_build *b, int first, int second, snw_error *err) {
    const snw_motor_desc *x = &b->m->desc->motor[b->m->drive[first].motor];
    const snw_motor_desc *y = &b->m->desc->motor[b->m->drive[second].motor];
    return snw_fail_desc(
        err, y->location,
        snw_fail(err, SNW_E_MODEL,
                 "actuators '%s' and '%s' both drive coordinate %d of %s '%s'; switch one off "
                 "(when: off) or leave it free there",
                 x->name, y->name,
                 b->m->drive[second].dof - b->m->motor[b->m->drive[second].motor].dof + 1,
                 snw_actuator_table[y->kind].element, b->m->desc->link[y->link].name));
}

// Duration of the study, s; 1 when it has none.
static double motor_study_duration(const snw_desc *d) {
    double end = 0;
    for (int i = 0; i < d->nstep; i++) end += d->step[i].duration;
    return end > 0 ? end : 1;
}

static snw_status add_rate_integral(snw_build *b, snw_drive *drive) {
    snw_integral *integral = snw_build_array(b, 1, sizeof *integral);
    if (!integral) return SNW_E_MEMORY;
    drive->rate_integral = integral;
    return snw_integral_make(b->m->pool, drive->law, motor_study_duration(b->m->desc), integral);
}

static snw_status add_efforts(snw_build *b, const snw_motor_desc *d, snw_motor *motor) {
    snw_law *law = snw_build_array(b, (size_t)d->n, sizeof *law);
    if (!law) return SNW_E_MEMORY;
    for (int k = 0; k < d->n; k++) law[k] = d->law[k];
    motor->law = law;
    motor->when = d->when;
    motor->reads_signals = snw_reads_signals(d->n, d->law) || snw_reads_signals(1, &d->when);
    return SNW_OK;
}

snw_status snw_build_motors(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    size_t most = 0;
    for (int i = 0; i < d->nmotor; i++) most += (size_t)d->motor[i].n;
    snw_motor *motor = b->motor = snw_build_array(b, (size_t)d->nmotor, sizeof *motor);
    b->drive = snw_build_array(b, most, sizeof *b->drive);
    m->drive = b->drive;
    m->nmotor = d->nmotor;
    m->motor = motor;
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->nmotor; i++) {
        const snw_motor_desc *desc = &d->motor[i];
        SNW_TRY(check_basis(b, desc, err));
        motor[i] = motor_coordinates(b, desc);
        SNW_ASSERT(motor[i].n == desc->n);
        motor[i].same = desc->same;
        if (snw_gives_effort(desc->given)) {
            SNW_TRY(add_efforts(b, desc, &motor[i]));
            continue;
        }
        const bool ever_active = snw_exists(desc->when);
        int condition = -1;
        SNW_TRY(snw_build_condition(b, desc->when, &condition, err));
        for (int k = 0; k < desc->n; k++) {
            if (!desc->law[k] && !desc->passive) continue;
            const int dof = motor[i].dof + k;
            for (int j = 0; ever_active && condition < 0 && j < m->ndrive; j++) {
                if (m->drive[j].row >= 0 && m->drive[j].condition < 0 && m->drive[j].dof == dof) {
                    b->drive[m->ndrive] = (snw_drive){.motor = i, .dof = dof};
                    return motor_refuse(b, j, m->ndrive, err);
                }
            }
            snw_drive *drive = &b->drive[m->ndrive++];
            *drive = (snw_drive){.motor = i,
                                 .q = motor[i].q + k,
                                 .dof = dof,
                                 .row = ever_active ? m->nconstraint++ : -1,
                                 .condition = condition,
                                 .captured = desc->captured > 0 ? desc->captured - 1 + k : -1,
                                 .passive = desc->passive,
                                 .law = desc->law[k]};
            if (snw_gives_rate(desc->given)) SNW_TRY(add_rate_integral(b, drive));
        }
    }
    return SNW_OK;
}

static snw_servo motor_servo(const snw_model *m, const snw_motor_desc *d) {
    const snw_probe_desc *p = &m->desc->probe[d->probe];
    if (p->kind == SNW_PROBE_RATE) {
        return (snw_servo){.given = true,
                           .dof = m->block[m->link_block[p->site.link]].dof + d->component,
                           .law = d->target};
    }
    const int first = p->kind == SNW_PROBE_VELOCITY ? 3 : 0;
    return (snw_servo){.given = true,
                       .dof = -1,
                       .seg = m->station[m->probe_station[d->probe]].seg,
                       .e = first + d->component,
                       .body = p->body,
                       .law = d->target};
}

void snw_build_servos(snw_build *b) {
    const snw_desc *d = b->m->desc;
    for (int i = 0; i < d->nmotor; i++) {
        if (d->motor[i].holds) b->motor[i].servo = motor_servo(b->m, &d->motor[i]);
    }
}
