// SPDX-License-Identifier: MIT
//
// Checks that the boundary-value engine supports a model: trees of rods, or rods joined by one
// body. Finds that body, the joints of the rods, and which rod carries which.

#include "shoot/shooter_private.h"

#include "base/fail.h"

#include <math.h>

snw_status snw_shooter_refuse(const snw_step_desc *step, snw_source_location at, snw_error *err,
                              const char *what, const char *name) {
    if (!at.file) at = step->location;
    const snw_status s =
        snw_fail(err, SNW_E_MODEL,
                 "the shooting engine does not support %s ('%s'); it supports rods with bodies, "
                 "loads, tendons and chambers, clamped to the world, to other rods or to "
                 "prescribed motions, and rods with tips on one common body. Use 'engine: strain'",
                 what, name);
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

// ---- parts --------------------------------------------------------------------------------------

static snw_status check_fluids(const snw_desc *d, const snw_step_desc *step, snw_error *err) {
    for (int i = 0; i < d->nfluid; i++) {
        const snw_fluid_desc *f = &d->fluid[i];
        bool unsupported = f->density > 0 || f->buoyancy || f->added != SNW_ADDED_NONE ||
                           f->normal || f->tangent || f->when;
        for (int k = 0; k < 6; k++) unsupported = unsupported || f->linear[k];
        for (int k = 0; k < 3; k++) unsupported = unsupported || f->current[k] || f->square[k];
        for (int k = 0; k < f->nlink; k++)
            unsupported = unsupported || !d->link[f->link[k]].has_rod;
        if (unsupported)
            return snw_shooter_refuse(step, f->location, err,
                                      "fluids other than square drag on rods", f->name);
    }
    return SNW_OK;
}

int snw_shooter_drive(const snw_model *m, int dof) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].dof == dof && m->drive[i].row >= 0) return i;
    }
    return -1;
}

// is this coordinate always given by a law of time?
static bool shooter_check_driven(const snw_model *m, const snw_block *b) {
    if (b->spring >= 0 || b->armature > 0) return false;
    for (int k = 0; k < b->n; k++) {
        const int i = snw_shooter_drive(m, b->dof + k);
        if (i < 0 || m->drive[i].condition >= 0 || m->drive[i].passive || m->drive[i].captured >= 0)
            return false;
    }
    return true;
}

// do prescribed motions carry a segment from the world?
static bool is_on_driven_base(const snw_model *m, int seg) {
    for (; seg > 0; seg = m->seg[seg].parent) {
        if (m->seg[seg].kind == SNW_SEG_POSE) continue;
        if (m->seg[seg].kind != SNW_SEG_SCREW ||
            !shooter_check_driven(m, &m->block[m->seg[seg].item]))
            return false;
    }
    return true;
}

static snw_status check_joints(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    int bodies = 0;
    for (int i = 1; i < m->nseg; i++) {
        const snw_seg *s = &m->seg[i];
        if (s->kind == SNW_SEG_POSE || s->kind == SNW_SEG_ROD) continue;
        const snw_label *l = &m->label.link[s->link];
        if (s->kind == SNW_SEG_FREE) {
            if (!is_on_driven_base(m, s->parent))
                return snw_shooter_refuse(step, l->location, err, "free bodies beyond a rod",
                                          l->name);
            if (bodies++)
                return snw_shooter_refuse(step, l->location, err, "more than one free body",
                                          l->name);
        } else if (s->kind != SNW_SEG_SCREW || !shooter_check_driven(m, &m->block[s->item])) {
            const bool variable_length = s->kind == SNW_SEG_SCREW && m->block[s->item].feed;
            return snw_shooter_refuse(
                step, l->location, err,
                variable_length ? "rods whose feed no actuator gives as a position or rate"
                                : "joints whose position no actuator gives",
                l->name);
        }
    }
    return SNW_OK;
}

static snw_status shooter_check_links(const snw_model *m, const snw_step_desc *step,
                                      snw_error *err) {
    const snw_desc *d = m->desc;
    for (int i = 0; i < d->nlink; i++) {
        const snw_link_desc *l = &d->link[i];
        if (!l->has_rod) continue;
        if (l->when) return snw_shooter_refuse(step, l->location, err, "conditional rods", l->name);
        if (l->rod.integrator == SNW_RULE_CHEBYSHEV)
            return snw_shooter_refuse(step, l->location, err,
                                      "rods on one grid (integrator: chebyshev)", l->name);
        if (snw_rod_given(&l->rod))
            return snw_shooter_refuse(step, l->location, err, "given strains", l->name);
        if (l->has_rod && snw_rod_has_law(&l->rod))
            return snw_shooter_refuse(step, l->location, err, "nonlinear materials and sections",
                                      l->name);
        if (l->has_rod && l->rod.material && l->rod.material->relaxation.n > 0)
            return snw_shooter_refuse(step, l->location, err, "materials with 'relaxation'",
                                      l->name);
        if (l->rod.variable_length &&
            (m->rod[m->link_rod[i]].section_varies || m->rod[m->link_rod[i]].rest_varies)) {
            return snw_shooter_refuse(
                step, l->location, err,
                "variable-length rods whose properties vary along their length", l->name);
        }
    }
    if (m->nrod == 0)
        return snw_shooter_refuse(step, step->location, err, "a robot without rods", step->name);
    return SNW_OK;
}

// rod whose section carries a segment; -1: none; -2: a free body carries it
static int carrying_rod(const snw_model *m, int seg) {
    for (; seg > 0; seg = m->seg[seg].parent) {
        if (m->seg[seg].kind == SNW_SEG_ROD) return m->slice[m->seg[seg].item].rod;
        if (m->seg[seg].kind == SNW_SEG_FREE) return -2;
    }
    return -1;
}

static snw_status check_bases(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    bool joined = m->nloop > 0;
    for (int i = 1; i < m->nseg; i++) joined = joined || m->seg[i].kind == SNW_SEG_FREE;
    for (int i = 0; i < m->nrod; i++) {
        const snw_label *l = &m->label.link[m->rod[i].link];
        const int on = carrying_rod(m, m->rod[i].root);
        if (on == -1) continue;
        if (on == -2)
            return snw_shooter_refuse(step, l->location, err, "rods on free bodies", l->name);
        if (joined)
            return snw_shooter_refuse(step, l->location, err,
                                      "rods on other rods in a robot with loops or a free body",
                                      l->name);
        if (m->rod[i].feed >= 0 || m->rod[on].feed >= 0)
            return snw_shooter_refuse(step, l->location, err,
                                      "rods of variable length that carry rods or are carried",
                                      l->name);
    }
    return SNW_OK;
}

// features supported for a single rod only, or not for rods on a common body
static snw_status check_several(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    const snw_desc *d = m->desc;
    const snw_shooting_desc *how = &step->shooting;
    if (m->nrod == 1 && m->nloop == 0) return SNW_OK;
    if (d->ntendon && m->nloop > 0) {
        return snw_shooter_refuse(step, d->tendon[0].location, err,
                                  "tendons and chambers of rods on a common body",
                                  d->tendon[0].name);
    }
    if (how->error > 0) {
        return snw_shooter_refuse(step, step->location, err,
                                  "points chosen by error along several rods", step->name);
    }
    if (how->solver == SNW_SHOOT_LEVENBERG || how->solver == SNW_SHOOT_DOGLEG) {
        return snw_shooter_refuse(step, step->location, err,
                                  "several rods with this solver, only with 'banded' and 'newton'",
                                  step->name);
    }
    return SNW_OK;
}

snw_status snw_shooter_check(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    const snw_desc *d = m->desc;
    SNW_TRY(check_joints(m, step, err));
    SNW_TRY(shooter_check_links(m, step, err));
    SNW_TRY(check_fluids(d, step, err));
    SNW_TRY(check_bases(m, step, err));
    SNW_TRY(check_several(m, step, err));
    if (d->nstress)
        return snw_shooter_refuse(step, d->stress[0].location, err, "muscles", d->stress[0].name);
    for (int i = 0; i < d->nmotor; i++) {
        const snw_motor_desc *x = &d->motor[i];
        if (!snw_gives_effort(x->given) && !x->turns) continue;
        return snw_shooter_refuse(step, x->location, err, "motors with given effort", x->name);
    }
    SNW_TRY(snw_shooter_check_tendons(m, step, err));
    if (d->ncontact)
        return snw_shooter_refuse(step, d->contact[0].location, err, "contacts",
                                  d->contact[0].name);
    if (d->nforce_element)
        return snw_shooter_refuse(step, d->force_element[0].location, err, "springs between sites",
                                  d->force_element[0].name);
    SNW_TRY(snw_shooter_check_fields(m, step, err));
    if (d->ntube)
        return snw_shooter_refuse(step, d->tube[0].location, err, "concentric tubes",
                                  d->tube[0].name);
    for (int i = 0; i < m->nsignal; i++) {
        // conditions of time only are supported
        const snw_signal_desc *x = &d->signal[i];
        const bool condition = x->kind == SNW_SIGNAL_CONDITION;
        if (condition && (!x->source || !(snw_expr_vars(x->source) & ~SNW_VAR_T))) continue;
        return snw_shooter_refuse(step, step->location, err, "laws and conditions that read probes",
                                  x->text ? x->text : step->name);
    }
    return SNW_OK;
}

// ---- joints of the rods -------------------------------------------------------------------------

snw_attachment snw_shooter_attachment_of(const snw_shooter *e, int i) {
    const snw_model *m = e->m;
    snw_attachment out = {
        .kind = SNW_ATTACHED_WORLD, .leg = -1, .section = -1, .g = snw_se3_identity()};
    for (; i > 0; i = m->seg[i].parent) {
        const snw_seg *s = &m->seg[i];
        if (s->kind == SNW_SEG_ROD) {
            out.kind = SNW_ATTACHED_ROD;
            out.section = i;
            out.leg = m->slice[s->item].rod;
            return out;
        }
        if (s->kind == SNW_SEG_FREE) {
            out.kind = SNW_ATTACHED_PLATE;
            return out;
        }
        if (s->kind != SNW_SEG_POSE) {
            out.moves = true;
            continue;
        }
        out.moves = out.moves || snw_pose_desc_vars(&m->pose[s->item]) != 0;
        out.g = snw_se3_mul(e->in->pose[s->item], out.g);
    }
    return out;
}

static bool at_tip(const snw_shooter *e, const snw_attachment *s) {
    const double L = s->kind == SNW_ATTACHED_ROD ? e->leg[s->leg].rod->L : 0;
    return s->kind == SNW_ATTACHED_ROD && fabs(e->m->seg_x[s->section] - L) <= 1e-9 * L;
}

// leg whose tip is the plate: the one that takes part in all loops; of two rods the first
static int carrying_leg(const snw_shooter *e) {
    const snw_model *m = e->m;
    for (int leg = 0; leg < e->nleg; leg++) {
        bool all = true;
        for (int i = 0; i < m->nloop; i++) {
            const snw_attachment a = snw_shooter_attachment_of(e, m->loop[i].a),
                                 b = snw_shooter_attachment_of(e, m->loop[i].b);
            all = all && (a.leg == leg || b.leg == leg);
        }
        if (all) return leg;
    }
    return -1;
}

static snw_status join_loop(snw_shooter *e, int i, int carries, snw_error *err) {
    const snw_loop *loop = &e->m->loop[i];
    const snw_label *d = &e->m->label.loop[i];
    const snw_attachment a = snw_shooter_attachment_of(e, loop->a),
                         b = snw_shooter_attachment_of(e, loop->b);
    const bool plate_is_b = carries < 0 ? b.kind == SNW_ATTACHED_PLATE : b.leg == carries;
    const snw_attachment *plate = plate_is_b ? &b : &a, *tip = plate_is_b ? &a : &b;
    const bool on_plate =
        carries < 0 ? plate->kind == SNW_ATTACHED_PLATE : plate->leg == carries && at_tip(e, plate);
    if (!on_plate || !at_tip(e, tip)) {
        return snw_shooter_refuse(e->step, d->location, err,
                                  "loops other than from the tip of a rod to one common body",
                                  d->name);
    }
    if (loop->condition != SNW_ALWAYS || loop->nonholonomic || plate->moves || tip->moves) {
        return snw_shooter_refuse(e->step, d->location, err,
                                  "loops with a condition or a moving pose", d->name);
    }
    if (!snw_joint_table[loop->joint].at_tip) {
        return snw_shooter_refuse(e->step, d->location, err,
                                  "loops that are not fixed, revolute or spherical", d->name);
    }
    if (tip->leg == plate->leg || e->leg[tip->leg].loop >= 0) {
        return snw_shooter_refuse(e->step, d->location, err,
                                  "more than one joint at the tip of a rod", d->name);
    }
    e->leg[tip->leg].loop = i;
    return SNW_OK;
}

snw_status snw_shooter_find_parents(snw_shooter *e, snw_error *err) {
    int n = 0;
    for (int i = 0; i < e->nleg; i++) {
        snw_shooter_leg *l = &e->leg[i];
        const snw_attachment base = snw_shooter_attachment_of(e, l->rod->root);
        l->parent = base.kind == SNW_ATTACHED_ROD ? base.leg : -1;
        if (l->parent < 0) continue;
        SNW_ASSERT(l->parent < i); // rods are compiled parents first
        l->branch = e->leg[l->parent].nbranch++;
        if (e->m->seg_x[base.section] > 1e-9 * e->leg[l->parent].rod->L) continue;
        return snw_shooter_refuse(e->step, l->link->location, err,
                                  "rods on the first section of another; put it on its 'root'",
                                  l->link->name);
    }
    for (int i = 0; i < e->nleg; i++) {
        e->leg[i].first = n;
        n += e->leg[i].nbranch;
    }
    return SNW_OK;
}

snw_status snw_shooter_find_plate(snw_shooter *e, snw_error *err) {
    const snw_model *m = e->m;
    e->plate_seg = -1;
    for (int i = 0; i < e->nleg; i++) e->leg[i].loop = -1;
    for (int i = 1; i < m->nseg; i++) {
        if (m->seg[i].kind == SNW_SEG_FREE) e->plate_seg = i;
    }
    const bool body = e->plate_seg >= 0;
    const int carries = body || m->nloop == 0 ? -1 : carrying_leg(e);
    for (int i = 0; i < m->nloop; i++) SNW_TRY(join_loop(e, i, carries, err));
    for (int i = 0; i < e->nleg; i++) {
        if (e->leg[i].loop >= 0 || i == carries || (m->nloop == 0 && !body)) continue;
        return snw_shooter_refuse(e->step, e->leg[i].link->location, err,
                                  "a rod whose tip is not joined to the others",
                                  e->leg[i].link->name);
    }
    if (carries >= 0) {
        const snw_rod *rod = e->leg[carries].rod;
        e->plate_seg = rod->seg0 + rod->nseg - 1;
    }
    return SNW_OK;
}

snw_leg_end snw_shooter_leg_end(const snw_shooter *e, int leg) {
    const snw_shooter_leg *l = &e->leg[leg];
    snw_leg_end end = {
        .rod = l->r, .tip_frame = snw_se3_identity(), .plate_frame = snw_se3_identity()};
    if (l->loop < 0) return end; // the plate is its tip
    const snw_loop *loop = &e->m->loop[l->loop];
    const snw_attachment a = snw_shooter_attachment_of(e, loop->a),
                         b = snw_shooter_attachment_of(e, loop->b);
    const snw_se3 axes = {loop->Q, {{0, 0, 0}}};
    const bool tip_is_a = a.leg == leg;
    end.tip_frame = snw_se3_mul(tip_is_a ? a.g : b.g, axes);
    end.plate_frame = snw_se3_mul(tip_is_a ? b.g : a.g, axes);
    for (int k = 0; k < 3; k++) end.free[k] = snw_joint_table[loop->joint].tip_turns[k];
    return end;
}
