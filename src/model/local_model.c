// SPDX-License-Identifier: MIT
//
// Which descriptions become local models, theory.md 4: trees whose forces each act on one segment
// or on the strains at one place of a rod, with few loops, force elements and tendons beside them,
// and studies whose steps need no matrix.
#include "model/compile.h"

#include "model/chamber_area.h"

static const char *rod_in_the_way(const snw_rod_desc *rod) {
    if (rod->variable_length) return "a rod of variable length";
    if (snw_rod_together(rod)) return "strains that move together";
    if (rod->tolerance > 0) return "a rod with a tolerance (integrator: rk45)";
    if (rod->integrator == SNW_RULE_CHEBYSHEV) return "a rod on one grid (integrator: chebyshev)";
    if (snw_rod_has_law(rod)) return "a nonlinear section law";
    if (rod->material && rod->material->relaxation.n > 0) return "a material with 'relaxation'";
    return NULL;
}

static const char *contact_in_the_way(const snw_contact_desc *c) {
    if (c->nonholonomic) return "a wheel, ring or anchor";
    if (c->hard) return "a hard contact";
    if (c->nearest) return "a contact 'nearest'";
    if (c->body || (c->is_obstacle && c->on.kind != SNW_SITE_WORLD)) return "an obstacle on a link";
    return NULL;
}

static const char *tendon_in_the_way(const snw_tendon_desc *t) {
    if (t->area && snw_chamber_area_varies(t->area)) return "a chamber whose area varies";
    return NULL;
}

static const char *loop_in_the_way(const snw_loop_desc *l) {
    if (l->nonholonomic) return "a wheel, ring or anchor";
    if (l->slides || l->keeps_length) return "a rod that slides through a loop";
    return l->when ? "a loop with a condition" : NULL;
}

static const char *motor_in_the_way(const snw_motor_desc *a) {
    if (a->rod) return "strains that an actuator drives";
    if (a->passive || a->holds) return "an actuator of kinematic steps";
    return a->when ? "an actuator with a condition" : NULL;
}

static const char *field_in_the_way(const snw_force_field_desc *f) {
    return f->on.kind == SNW_SITE_WORLD ? NULL : "a field that a link carries";
}

static const char *step_in_the_way(const snw_step_desc *s) {
    if (s->kind == SNW_STEP_CHANGE) return NULL;
    if (s->kind == SNW_STEP_STATIC) {
        if (s->engine != SNW_ENGINE_STRAIN) return "a static step by shooting";
        if (s->march > 0 || s->march_flow || s->penalty > 0 || s->friction)
            return "a static step with 'march', 'penalty' or 'friction'";
        return NULL;
    }
    if (s->kind != SNW_STEP_DYNAMIC || s->kinematic) return "a step that is not static or dynamic";
    const snw_scheme_family family = snw_scheme_table[s->scheme].family;
    if (s->engine != SNW_ENGINE_STRAIN) return "a dynamic step by shooting";
    if (family != SNW_FAMILY_ALPHA && family != SNW_FAMILY_LEVELS)
        return "a dynamic step by a scheme other than the implicit ones with one stage";
    return NULL;
}

static const char *probe_in_the_way(const snw_desc *d, int i) {
    if (!snw_desc_records(d, i)) return NULL;
    const snw_probe_kind kind = d->probe[i].kind;
    const bool needs = kind == SNW_PROBE_FREQUENCY || kind == SNW_PROBE_POLE ||
                       kind == SNW_PROBE_TRANSPORT || kind == SNW_PROBE_CONNECTION ||
                       kind == SNW_PROBE_CURVATURE;
    if (needs) return "a probe of frequencies, poles or locomotion";
    bool follower = false;
    for (int k = 0; k < d->nload; k++) follower |= d->load[k].body;
    bool slides = false;
    for (int k = 0; k < d->ntendon; k++)
        slides |= d->tendon[k].friction > 0 && d->tendon[k].sliding;
    if (kind != SNW_PROBE_STABILITY) return NULL;
    return follower ? "a probe of stability with follower loads"
           : slides ? "a probe of stability with friction that slides"
                    : NULL;
}

int snw_desc_border(const snw_desc *d) {
    int n = 6 * d->nloop + 12 * d->nforce_element + d->ntendon;
    for (int i = 0; i < d->nmotor; i++) n += d->motor[i].n;
    for (int i = 0; i < d->ntendon; i++) {
        const snw_tendon_desc *t = &d->tendon[i];
        if ((t->friction > 0 || t->viscous > 0) && snw_gives_motion(t->given)) n += 2;
    }
    return n;
}

const char *snw_desc_needs_matrix(const snw_desc *d) {
    if (d->nloop == 0) return "no loops";
    if (d->nsignal) return "a law that reads probes, or a condition";
    const char *why = NULL;
    for (int i = 0; i < d->ncontact && !why; i++) {
        const snw_contact_desc *c = &d->contact[i];
        why = c->nonholonomic ? "a wheel, ring or anchor" : c->hard ? "a hard contact" : NULL;
    }
    for (int i = 0; i < d->nprobe && !why; i++) {
        why = probe_in_the_way(d, i);
        if (!why && d->probe[i].kind == SNW_PROBE_STABILITY && snw_desc_records(d, i))
            why = "a probe of stability";
    }
    for (int i = 0; i < d->nstep && !why; i++) why = step_in_the_way(&d->step[i]);
    return why;
}

const char *snw_desc_not_local(const snw_desc *d) {
    if (d->ntube) return "concentric tubes";
    if (d->nsignal) return "a law that reads probes, or a condition";
    const char *why = NULL;
    for (int i = 0; i < d->nlink && !why; i++) {
        const snw_link_desc *link = &d->link[i];
        why = link->moves.stop_hard ? "a hard stop of a joint" : NULL;
        if (!why && link->has_rod) why = rod_in_the_way(&link->rod);
    }
    for (int i = 0; i < d->nfluid && !why; i++) {
        for (int k = 0; k < d->fluid[i].nlink && !why; k++) {
            const snw_link_desc *link = &d->link[d->fluid[i].link[k]];
            for (int a = 0; a < 6 && link->has_rod; a++) {
                // at a node the functions of the element behind it are not those before it
                if (link->rod.active[a] && a >= 3 && !snw_basis_continuous(&link->rod.basis[a]))
                    why = "a fluid around a rod whose stretch or shear jumps between elements";
            }
        }
    }
    for (int i = 0; i < d->ntendon && !why; i++) why = tendon_in_the_way(&d->tendon[i]);
    for (int i = 0; i < d->nloop && !why; i++) why = loop_in_the_way(&d->loop[i]);
    for (int i = 0; i < d->nmotor && !why; i++) why = motor_in_the_way(&d->motor[i]);
    for (int i = 0; i < d->nforce_field && !why; i++) why = field_in_the_way(&d->force_field[i]);
    for (int i = 0; i < d->ncontact && !why; i++) why = contact_in_the_way(&d->contact[i]);
    for (int i = 0; i < d->nprobe && !why; i++) why = probe_in_the_way(d, i);
    for (int i = 0; i < d->nstep && !why; i++) why = step_in_the_way(&d->step[i]);
    return why;
}
