// SPDX-License-Identifier: MIT
//
// Parts of studies and models without derivatives, theory.md 7.5, which are named.
#include "robot/gradient_private.h"

#include "base/fail.h"
#include "dynamics/contact.h"
#include "dynamics/relaxation.h"
#include "model/tube_layout.h"

#include <stdio.h>

static snw_status refuse(const snw_step_desc *step, const char *what, snw_error *err) {
    return snw_fail_at_location(
        err, snw_fail(err, SNW_E_MODEL, "step '%s' has no derivative: %s", step->name, what),
        step->location.file, step->location.line, step->location.column);
}

static snw_status check_stops(const snw_step_desc *step, const snw_model *m, snw_error *err) {
    for (int i = 0; i < m->nstop; i++) {
        if (m->stop[i].hard && m->block[m->stop[i].block].space == SNW_SPACE_SO3)
            return refuse(step, "hard stops of spherical joints have none; give them a stiffness",
                          err);
    }
    return SNW_OK;
}

// Steps with hard contacts, theory.md (7.5.21)
static snw_status check_hard_step(const snw_step_desc *step, const snw_model *m, snw_error *err) {
    if (m->nnonholonomic > 0)
        return refuse(step, "the scheme moreau with contacts without slip has none", err);
    if (m->has_slip_friction)
        return refuse(step, "the scheme moreau with friction of rods in eyes has none; use bdf2",
                      err);
    return check_stops(step, m, err);
}

snw_status gradient_check_step(const snw_step_desc *step, const snw_model *m, snw_error *err) {
    char text[200];
    if (step->kind == SNW_STEP_MODES || step->kind == SNW_STEP_LINEARIZE ||
        step->kind == SNW_STEP_CHANGE)
        return SNW_OK;
    if (step->kind == SNW_STEP_INVERSE && step->inverse.family.nparameter > 0)
        return refuse(step,
                      "an inverse step that finds numbers of the file has one by differences of "
                      "whole runs: leave the method open, or choose 'differences'",
                      err);
    if (step->kind == SNW_STEP_PATH && (step->path.of >= 0 || step->path.curve >= 0))
        return refuse(step,
                      "a path of a constant of the file, or with a curve of 'folds', has one by "
                      "differences of whole runs: leave the method open, or choose 'differences'",
                      err);
    if (step->engine == SNW_ENGINE_SHOOTING)
        return refuse(step,
                      "the shooting engine has none; 'engine: strain' has that of the same robot, "
                      "and the method 'differences' takes differences of whole runs",
                      err);
    if (step->kind != SNW_STEP_DYNAMIC) {
        if (gradient_has(m, SNW_SIGNAL_SAMPLED))
            return refuse(step, "equilibria under laws with 'sampled' have none", err);
        if (step->march_flow) return refuse(step, "a march with 'flow' has no equilibria", err);
        if (step->penalty > 0 && step->penalty_updates >= 0) // until closed: exact loops
            return refuse(step,
                          "loops by 'penalty' with a given number of 'updates' stay open; leave "
                          "out 'updates', or 'penalty'",
                          err);
        if (m->nnonholonomic > 0)
            return refuse(step, "equilibria of contacts without slip depend on their way", err);
        SNW_TRY(check_stops(step, m, err));
        if (m->hard && step->friction)
            return refuse(step, "equilibria with 'friction' depend on their way; leave it out",
                          err);
        return SNW_OK;
    }
    const snw_scheme_info *row = &snw_scheme_table[step->scheme];
    if (row->family == SNW_FAMILY_ODE && row->chooses_steps)
        return refuse(step,
                      step->kinematic ? "its steps follow a 'tolerance'; give it a 'step'"
                                      : "its steps are chosen anew by their error; give it a "
                                        "'step' instead of a 'tolerance', and scheme rk4 or an "
                                        "implicit one, such as generalized-alpha",
                      err);
    if (row->family == SNW_FAMILY_ODE && !step->kinematic && snw_contact_has_curved(m))
        return refuse(step, "rk4 divides its steps at contacts; use an implicit scheme", err);
    if (row->family == SNW_FAMILY_ODE && m->nbranch > 0)
        return refuse(step, "rk4 with materials that relax has none; use bdf2", err);
    if (row->family == SNW_FAMILY_ODE) return SNW_OK;
    if (row->family == SNW_FAMILY_MOREAU) return check_hard_step(step, m, err);
    for (int i = 0; i < m->nbranch_coordinate && row->family == SNW_FAMILY_COLLOCATION; i++) {
        const int dof = snw_relaxation_place(m, i).dof;
        for (int k = 0; k < m->ndrive; k++) {
            if (m->drive[k].dof == dof)
                return refuse(step,
                              "collocation with driven strains of a material that relaxes has "
                              "none; use generalized-alpha or bdf2",
                              err);
        }
    }
    if (row->family != SNW_FAMILY_ALPHA && row->family != SNW_FAMILY_LEVELS &&
        row->family != SNW_FAMILY_COLLOCATION && row->family != SNW_FAMILY_CONSERVING) {
        (void)snprintf(text, sizeof text,
                       "the scheme %s has none; use newmark, hht, wbz, generalized-alpha, euler, "
                       "trapezoidal, bdf2, bdf-alpha, conserving, gauss, radau or moreau",
                       row->name);
        return refuse(step, text, err);
    }
    const bool implicit = row->family == SNW_FAMILY_ALPHA || row->family == SNW_FAMILY_LEVELS;
    for (int k = 0; k < m->nblock && step->split && (!implicit || m->nnonholonomic > 0); k++) {
        if (m->block[k].space == SNW_SPACE_SE3)
            return refuse(step,
                          "'base: split' has none with collocation, and with wheels, rings or "
                          "anchors; leave it out, or use generalized-alpha or bdf2",
                          err);
    }
    return SNW_OK;
}

snw_status gradient_check_model(const snw_desc *d, const snw_model *m, snw_error *err) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_kind kind = m->signal[i].kind;
        if (kind != SNW_SIGNAL_CAPTURED) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative of a law with captured values: '%.100s'",
                        m->signal[i].text ? m->signal[i].text : "at_closing");
    }
    for (int i = 0; i < m->nrod; i++) {
        if (m->rod[i].tolerance > 0)
            return snw_fail(err, SNW_E_MODEL,
                            "there is no derivative with nodes that move ('tolerance' of rod "
                            "'%s'); give their number",
                            m->label.link[m->rod[i].link].name);
    }
    if (snw_tubes_slide(d))
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative with concentric tubes whose 'translation' is a law "
                        "of t: the robot is compiled anew at each instant; give them constant "
                        "translations, changed by 'change' steps, or use the method 'differences'");
    return SNW_OK;
}

snw_status gradient_check_activation(const snw_model *m, const double *before, const snw_map *map,
                                     snw_error *err) {
    for (int i = 1; i < m->nseg; i++) {
        const int condition = m->seg[i].condition;
        if (condition < 0 || !m->seg[i].has_mass) continue;
        const int k = m->condition_signal[condition];
        if (before[k] != 0 || map->s.z[k] == 0) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative at t = %.9g s, where '%s' becomes active and takes "
                        "momentum of the robot; give it a joint of its own and a loop with 'when', "
                        "or use the method 'differences'",
                        map->s.t, m->label.link[m->seg[i].link].name);
    }
    return SNW_OK;
}

bool gradient_has_onsets(const snw_model *m) {
    return m->ncontact_point > 0 || m->ntouching_rod > 0 || m->nstop > 0 || m->nforce_element > 0;
}

bool gradient_has_events(const snw_desc *d, const snw_model *m) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_kind kind = m->signal[i].kind;
        if (kind == SNW_SIGNAL_ONCE || kind == SNW_SIGNAL_CONDITION) return true;
    }
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].until) return true;
    }
    return false;
}

bool gradient_has_moreau(const snw_desc *d) {
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind == SNW_STEP_DYNAMIC &&
            snw_scheme_table[d->step[i].scheme].family == SNW_FAMILY_MOREAU)
            return true;
    }
    return false;
}

bool gradient_has(const snw_model *m, snw_signal_kind kind) {
    for (int i = 0; i < m->nsignal; i++) {
        if (m->signal[i].kind == kind && m->signal[i].source) return true;
    }
    return false;
}

bool gradient_is_kinematic(const snw_gradient *g) {
    const snw_desc *d = g->model->desc;
    const snw_model *m = g->model->compiled;
    bool any = false;
    for (int i = 0; i < d->nstep; i++) {
        const snw_step_kind kind = d->step[i].kind;
        if (kind == SNW_STEP_CHANGE || kind == SNW_STEP_STATIC || kind == SNW_STEP_INVERSE ||
            kind == SNW_STEP_PATH)
            return false;
        if (kind == SNW_STEP_DYNAMIC && (!d->step[i].kinematic || !(d->step[i].step > 0) ||
                                         snw_scheme_table[d->step[i].scheme].chooses_steps))
            return false;
        any = any || kind == SNW_STEP_DYNAMIC;
        if (d->step[i].until && (snw_expr_vars(d->step[i].until) & SNW_VAR_SIGNAL)) return false;
    }
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *x = &m->signal[i];
        const bool switches = x->kind == SNW_SIGNAL_ONCE || x->kind == SNW_SIGNAL_CONDITION;
        if (switches && x->source && (snw_expr_vars(x->source) & SNW_VAR_SIGNAL)) return false;
    }
    return any && g->nlaw == 0;
}

bool gradient_needs_differences(const snw_gradient *g) {
    const snw_desc *d = g->model->desc;
    for (int i = 0; i < d->nstep; i++) {
        const snw_step_desc *step = &d->step[i];
        if (step->kind == SNW_STEP_INVERSE && step->inverse.family.nparameter > 0) return true;
        if (step->kind == SNW_STEP_PATH && (step->path.of >= 0 || step->path.curve >= 0))
            return true;
    }
    return false;
}
