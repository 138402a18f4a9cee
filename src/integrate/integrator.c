// SPDX-License-Identifier: MIT
//
// Selects the time integrator of a step by the family of its scheme, checks that the scheme
// supports the model, and gives the size of its checkpoint.
#include "integrate/integrator_private.h"

#include "base/fail.h"

// First feature of the model that the conserving scheme does not support, *name <- its element or
// NULL; NULL: all are supported.
static const char *unsupported(const snw_model *m, const char **name) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row < 0) continue;
        *name = snw_drive_name(m, i);
        return "given positions and rates";
    }
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].feed < 0) continue;
        *name = m->label.link[m->rod[r].link].name;
        return "variable-length rods";
    }
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (!p->wheel) continue;
        *name = m->label.loop[p->wheel - 1].name;
        return "wheels that slip";
    }
    for (int i = 0; i < m->npose && m->ncontact_point + m->ntouching_rod > 0; i++) {
        if ((snw_pose_desc_vars(&m->pose[i]) & SNW_VAR_T) != 0)
            return "contacts where a pose moves by a law";
    }
    for (int i = 0; i < m->nforce_field; i++) {
        if (!m->force_field[i].varies) continue;
        *name = m->label.force_field[i].name;
        return "fields that vary with time";
    }
    if (m->ntube_piece) *name = m->tube[0].name;
    if (m->ntendon) *name = m->tendon[0].name;
    return m->ntendon        ? "tendons and chambers"
           : m->ntube_piece  ? "concentric tubes that slide"
           : m->nfield       ? "strains given by laws"
           : m->nfluid_point ? "fluids"
                             : NULL;
}

// Rows other than drives and nonholonomic ones have index 3, where collocation loses its order
// (theory.md 6.7).
static bool has_holonomic_rows(const snw_model *m) {
    int rows = m->nconstraint;
    for (int i = 0; i < m->ndrive; i++) rows -= m->drive[i].row >= 0;
    for (int i = 0; i < m->nloop; i++) rows -= m->loop[i].nonholonomic ? m->loop[i].nrow : 0;
    return rows > 0;
}

// First signal that schemes of the family do not advance: integrals and states in that of hard
// contacts; -1: none.
static int unsupported_signal(const snw_model *m, snw_scheme_family family) {
    for (int i = 0; i < m->nsignal && family == SNW_FAMILY_MOREAU; i++) {
        if (snw_signal_grows(&m->signal[i])) return i;
    }
    return -1;
}

snw_status snw_integrator_check(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    const snw_scheme_info *scheme = &snw_scheme_table[step->scheme];
    const bool conserving = scheme->family == SNW_FAMILY_CONSERVING;
    const char *name = NULL, *what = conserving ? unsupported(m, &name) : NULL;
    snw_status s = SNW_OK;
    if (m->hard && scheme->family != SNW_FAMILY_MOREAU) {
        s = snw_fail(err, SNW_E_MODEL,
                     "scheme '%s' does not support hard contacts and stops; use scheme: moreau, or "
                     "give them a stiffness instead of 'hard'",
                     scheme->name);
    } else if (scheme->family == SNW_FAMILY_MOREAU && m->nnonholonomic) {
        s = snw_fail(err, SNW_E_MODEL,
                     "scheme 'moreau' does not support wheels, rings and anchors; use scheme: "
                     "generalized-alpha with compliant contacts");
    } else if (scheme->family == SNW_FAMILY_MOREAU && m->ntube_piece) {
        s = snw_fail(err, SNW_E_MODEL,
                     "scheme 'moreau' does not support concentric tubes that slide ('%s'); use "
                     "scheme: generalized-alpha with compliant contacts",
                     m->tube[0].name);
    } else if (unsupported_signal(m, scheme->family) >= 0) {
        const snw_signal *signal = &m->signal[unsupported_signal(m, scheme->family)];
        s = snw_fail(err, SNW_E_MODEL,
                     "scheme '%s' does not support %s ('%s'); use scheme: generalized-alpha, or "
                     "adaptive for high accuracy",
                     scheme->name,
                     signal->kind == SNW_SIGNAL_STATE ? "states" : "integrals that laws read",
                     signal->text);
    } else if (m->nbranch && scheme->family != SNW_FAMILY_COLLOCATION &&
               (scheme->order > 2 ||
                (scheme->family != SNW_FAMILY_ALPHA && scheme->family != SNW_FAMILY_LEVELS))) {
        s = snw_fail(err, SNW_E_MODEL,
                     "scheme '%s' does not support materials with 'relaxation'; use "
                     "generalized-alpha, newmark, hht, wbz, trapezoidal, bdf2, bdf-alpha, euler, "
                     "gauss or radau",
                     scheme->name);
    } else if (what) {
        s = snw_fail(err, SNW_E_MODEL,
                     "the %s scheme does not support %s%s%s%s; use scheme: generalized-alpha, "
                     "or adaptive for high accuracy",
                     scheme->name, what, name ? " ('" : "", name ? name : "", name ? "')" : "");
    } else if (!(scheme->works & SNW_SCHEME_ON_LOOPS) && has_holonomic_rows(m)) {
        s = snw_fail(err, SNW_E_MODEL,
                     "scheme '%s' does not support loops and given lengths or volumes; use "
                     "generalized-alpha, or adaptive for high accuracy",
                     scheme->name);
    }
    return s == SNW_OK ? s
                       : snw_fail_at_location(err, s, step->location.file, step->location.line,
                                              step->location.column);
}

snw_status snw_integrator_open(const snw_model *m, const snw_step_desc *step, double every,
                               snw_integrator *out, snw_error *err) {
    SNW_TRY(snw_integrator_check(m, step, err));
    const snw_scheme_info *scheme = &snw_scheme_table[step->scheme];
    if (!(scheme->works & SNW_SCHEME_ON_STRAIN)) {
        return snw_fail(err, SNW_E_ARGUMENT, "scheme '%s' needs 'engine: shooting'", scheme->name);
    }
    switch (scheme->family) {
    case SNW_FAMILY_ALPHA:
    case SNW_FAMILY_LEVELS:
        return snw_integrator_implicit(m, step, every, out);
    case SNW_FAMILY_CONSERVING:
        return snw_integrator_conserving(m, step, out);
    case SNW_FAMILY_MOREAU:
        return snw_integrator_moreau(m, step, out);
    case SNW_FAMILY_COLLOCATION:
        return snw_integrator_collocation(m, step, every, out);
    case SNW_FAMILY_ODE:
        return snw_integrator_explicit(m, step, every, out, err);
    }
    return SNW_E_ARGUMENT;
}

size_t snw_integrator_saves(const snw_model *m, const snw_step_desc *step) {
    if (step->engine == SNW_ENGINE_SHOOTING) return snw_integrator_shooting_saves(m, step);
    switch (snw_scheme_table[step->scheme].family) {
    case SNW_FAMILY_ALPHA:
    case SNW_FAMILY_LEVELS:
        return snw_integrator_implicit_saves(m);
    case SNW_FAMILY_CONSERVING:
        return snw_integrator_conserving_saves(m);
    case SNW_FAMILY_MOREAU:
        return snw_integrator_moreau_saves(m);
    case SNW_FAMILY_COLLOCATION:
        return snw_integrator_collocation_saves(m, step);
    case SNW_FAMILY_ODE:
        break; // the ODE integrator does not expose its history
    }
    return 0;
}
