// SPDX-License-Identifier: MIT
//
// Names and tables of the description: sections, schemes; actuators by number and their dimensions;
// axes of joints; poses at a given time.
#include "model/desc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const snw_strain_name[6] = {"twist",   "bend_y",  "bend_z",
                                        "stretch", "shear_y", "shear_z"};

const char *const snw_force_field_name[SNW_FORCE_FIELD_KINDS] = {
#define X(code, name) name,
    SNW_FORCE_FIELD_LIST(X)
#undef X
};

snw_pose_desc snw_pose_desc_identity(void) {
    const snw_pose_desc p = {.R0 = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    return p;
}

snw_se3 snw_pose_desc_at(const snw_pose_desc *p, double t) {
    const snw_at at = {.t = t};
    snw_se3 g = {.R = p->R0};
    for (int i = 0; i < 3; i++) g.p.e[i] = p->xyz[i] ? snw_expr_value(p->xyz[i], at) : 0;
    for (int i = 0; i < p->nturn; i++) {
        const double angle = p->turn[i].angle ? snw_expr_value(p->turn[i].angle, at) : 0;
        const snw_twist w = {{.w = snw_scale(angle, p->turn[i].axis)}};
        g.R = snw_mat3_mul(g.R, snw_se3_exp(w).R);
    }
    return g;
}

int snw_pose_desc_vars(const snw_pose_desc *p) {
    int vars = 0;
    for (int i = 0; i < 3; i++) vars |= p->xyz[i] ? snw_expr_vars(p->xyz[i]) : 0;
    for (int i = 0; i < p->nturn; i++) {
        vars |= p->turn[i].angle ? snw_expr_vars(p->turn[i].angle) : 0;
    }
    return vars;
}

snw_step_desc snw_step_dynamic(snw_scheme_kind scheme) {
    const snw_scheme_info *row = &snw_scheme_table[scheme];
    snw_step_desc s = {.kind = SNW_STEP_DYNAMIC, .from = -1, .scheme = scheme};
    if (row->options & SNW_SCHEME_TAKES_RHO) s.rho = row->rho;
    if (row->options & SNW_SCHEME_TAKES_ALPHA) s.alpha = row->levels.alpha;
    if (row->chooses_steps) s.tolerance = SNW_STEP_ERROR;
    return s;
}

void snw_section_sizes(const snw_section_desc *d, double x, double L,
                       double size[SNW_SECTION_SIZES]) {
    for (int i = 0; i < SNW_SECTION_SIZES; i++) {
        size[i] = d->size[i] ? snw_expr_value(d->size[i], (snw_at){.x = x, .L = L}) : 0;
    }
}

void snw_joint_across(snw_vec3 axis, snw_vec3 *first, snw_vec3 *second) {
    const snw_vec3 z = {{0, 0, 1}}, n = snw_dot(axis, axis) > 0 ? axis : z;
    int most = 2; // the largest component; z where they are equal
    for (int i = 1; i >= 0; i--) most = fabs(n.e[i]) > fabs(n.e[most]) ? i : most;
    snw_vec3 e = {{0}};
    e.e[(most + 1) % 3] = 1;
    e = snw_sub(e, snw_scale(snw_dot(e, n), n));
    *first = snw_scale(1 / snw_norm(e), e);
    *second = snw_cross(n, *first);
}

void snw_joint_axes(snw_vec3 axis, snw_vec3 second, snw_vec3 axes[3]) {
    const snw_vec3 z = {{0, 0, 1}};
    axes[SNW_AXIS_FIRST] = snw_dot(axis, axis) > 0 ? axis : z;
    snw_joint_across(axis, &axes[SNW_AXIS_SECOND], &axes[SNW_AXIS_THIRD]);
    if (!(snw_dot(second, second) > 0)) return;
    axes[SNW_AXIS_SECOND] = second;
    axes[SNW_AXIS_THIRD] = snw_cross(axes[SNW_AXIS_FIRST], second);
}

bool snw_study_shares_reactions(const snw_desc *d) {
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kinematic) return true;
    }
    return false;
}

// ---- probes

bool snw_desc_records(const snw_desc *d, int probe) {
    if (d->nrecord < 0) return true;
    for (int i = 0; i < d->nrecord; i++) {
        if (d->record[i] == probe) return true;
    }
    return false;
}

// Reading of a quantity of a tendon or chamber.
static snw_reading tendon_reading(const snw_probe_desc *p) {
    // tension along a path with friction is computed between steps only
    if (p->kind == SNW_PROBE_TENSION && p->fraction > 0) return SNW_READ_LATER;
    if (snw_probe_table[p->kind].subject != SNW_OF_JOINT) return snw_probe_table[p->kind].reading;
    return p->kind == SNW_PROBE_RATE    ? SNW_READ_TENDON_RATE
           : p->kind == SNW_PROBE_VALUE ? SNW_READ_TENDON
                                        : SNW_READ_TENDON_EFFORT;
}

snw_reading snw_probe_reading(const snw_probe_desc *p) {
    if (p->of == SNW_PROBE_OF_TENDON) return tendon_reading(p);
    if (p->of == SNW_PROBE_OF_FORCE_ELEMENT) return SNW_READ_LATER;
    // laws read the rotation of a spherical joint by the probes rotation and twist
    if (snw_joint_table[p->joint].space == SNW_SPACE_SO3) return SNW_READ_LATER;
    return snw_probe_table[p->kind].reading;
}

int snw_probe_columns(const snw_probe_desc *p) {
    snw_component c[SNW_PROBE_WIDTH];
    return snw_probe_components(p->kind, p->joint, c) * (p->along > 0 ? p->along : 1);
}

// ---- dimensions of actuators

// Is coordinate k an angle of a joint, or of a twist or bending component of a rod?
static bool angular(const snw_desc *d, const snw_motor_desc *m, int k) {
    const snw_link_desc *link = &d->link[m->link];
    if (m->feed) return false;
    if (!m->rod) {
        int n = 0;
        return snw_joint_coordinates(link->joint, &n)[k].turn;
    }
    int comp = 0;
    for (; comp < 6; comp++) {
        const int n = link->rod.active[comp] ? link->rod.basis[comp].nfun : 0;
        if (k < n) break;
        k -= n;
    }
    return comp < 3;
}

// The dimension of an effort is that of energy over that of its coordinate.
snw_dim snw_motor_dim(const snw_desc *d, const snw_motor_desc *m, int k) {
    snw_dim dim = {0};
    if (m->rod) {
        dim.m = angular(d, m, k) ? -1 : 0;
    } else {
        dim.m = angular(d, m, k) ? 0 : 1;
    }
    if (snw_gives_rate(m->given)) dim.s = -1;
    if (!snw_gives_effort(m->given)) return dim;
    return (snw_dim){.m = (signed char)(2 - dim.m), .kg = 1, .s = -2};
}

// ---- actuators by number

int snw_actuators(const snw_desc *d) { return d->nmotor + d->ntendon + d->nstress; }

snw_actuator snw_actuator_at(const snw_desc *d, int actuator) {
    snw_actuator a = {.item = actuator, .n = 1};
    snw_actuator_kind kind = SNW_ACTUATOR_STRESS;
    snw_given given = SNW_GIVEN_ACTIVATION;
    if (a.item < d->nmotor) {
        a.motor = &d->motor[a.item];
        a.name = a.motor->name, a.n = a.motor->n;
        kind = a.motor->kind, given = a.motor->given;
    } else if ((a.item -= d->nmotor) < d->ntendon) {
        a.tendon = &d->tendon[a.item];
        a.name = a.tendon->name;
        kind = a.tendon->kind, given = a.tendon->given;
    } else {
        a.item -= d->ntendon;
        a.stress = &d->stress[a.item];
        a.name = a.stress->name;
    }
    a.type = &snw_actuator_table[kind];
    a.control = snw_control_of(kind, given);
    return a;
}

int snw_actuator_find(const snw_desc *d, const char *name) {
    for (int i = 0; i < snw_actuators(d); i++) {
        if (strcmp(snw_actuator_at(d, i).name, name) == 0) return i;
    }
    return -1;
}

snw_dim snw_actuator_dim(const snw_desc *d, int actuator, int k) {
    const snw_actuator a = snw_actuator_at(d, actuator);
    return a.motor ? snw_motor_dim(d, a.motor, k) : a.control->dim;
}

void snw_actuator_unit(const snw_desc *d, int actuator, int k, char unit[48]) {
    const snw_actuator a = snw_actuator_at(d, actuator);
    const snw_dim dim = snw_actuator_dim(d, actuator, k);
    snw_dim_unit(dim, unit, 48);
    if (a.motor && snw_gives_motion(a.motor->given) && dim.m == 0 && !a.type->strains)
        (void)snprintf(unit, 48, dim.s ? "rad/s" : "rad");
}

bool snw_rod_together(const snw_rod_desc *rod) {
    bool any = false;
    for (int i = 0; i < 6; i++) any |= rod->together[i];
    return any;
}

void snw_rod_describe_functions(const snw_rod_desc *rod, const char *link, int strain, char *text,
                                size_t size) {
    const snw_function_set *set = rod->active[strain] ? rod->basis[strain].set : NULL;
    text[0] = '\0';
    if (!set || set->smallest >= SNW_FUNCTION_SET_NEARLY) return;
    const snw_shape_function *f = &set->function[set->dependent];
    (void)snprintf(text, size,
                   "rod '%.60s': function %d of %s, %.60s, nearly depends on the others (smallest "
                   "eigenvalue of the Gram matrix %.1e); its coordinates lose digits, leave it out "
                   "or choose one that differs more",
                   link, set->dependent + 1, snw_strain_name[strain], f->text, set->smallest);
}
