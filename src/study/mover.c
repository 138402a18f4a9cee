// SPDX-License-Identifier: MIT
#include "study/mover_private.h"

#include "base/fail.h"

// does anything follow a law now or at times?
static bool driven(const snw_model *m) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0) return true;
    }
    return false;
}

snw_status snw_mover_open(const snw_model *m, const snw_step_desc *step, double every,
                          snw_mover *out, snw_error *err) {
    if (step->method == SNW_METHOD_CONSERVING &&
        (driven(m) || m->nfield || m->nmeasure || m->nwet || m->ntouch)) {
        return snw_fail_place(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "the conserving scheme does not know driven coordinates, "
                     "given strains, tendons, chambers, fluids and ground; use scheme: "
                     "generalized-alpha"),
            step->place.file, step->place.line, step->place.column);
    }
    for (int r = 0; step->method == SNW_METHOD_CONSERVING && r < m->nrod; r++) {
        if (m->rod[r].feed < 0) continue;
        return snw_fail_place(err,
                              snw_fail(err, SNW_E_MODEL,
                                       "the conserving scheme does not know rods that are fed "
                                       "('%s'); use generalized-alpha or adaptive",
                                       m->desc->link[m->rod[r].link].name),
                              step->place.file, step->place.line, step->place.column);
    }
    switch (step->method) {
    case SNW_METHOD_BDF3:
        return snw_fail(err, SNW_E_ARGUMENT, "scheme 'bdf3' needs 'engine: shooting'");
    case SNW_METHOD_GENERALIZED_ALPHA:
    case SNW_METHOD_NEWMARK:
    case SNW_METHOD_HHT:
    case SNW_METHOD_WBZ:
    case SNW_METHOD_EULER:
    case SNW_METHOD_TRAPEZOIDAL:
    case SNW_METHOD_BDF2:
    case SNW_METHOD_BDF_ALPHA:
        return snw_mover_implicit(m, step, out);
    case SNW_METHOD_CONSERVING:
        return snw_mover_conserving(m, step, out);
    case SNW_METHOD_GAUSS4:
    case SNW_METHOD_GAUSS6:
    case SNW_METHOD_GAUSS8:
        return snw_mover_staged(m, step, out, err);
    case SNW_METHOD_RK4:
    case SNW_METHOD_ADAPTIVE:
    case SNW_METHOD_STIFF:
        return snw_mover_explicit(m, step, every, out, err);
    }
    return SNW_E_ARGUMENT;
}

size_t snw_mover_saves(const snw_model *m, const snw_step_desc *step) {
    if (step->engine == SNW_ENGINE_SHOOTING) return snw_mover_shoot_saves(m, step);
    switch (step->method) {
    case SNW_METHOD_GENERALIZED_ALPHA:
    case SNW_METHOD_NEWMARK:
    case SNW_METHOD_HHT:
    case SNW_METHOD_WBZ:
    case SNW_METHOD_EULER:
    case SNW_METHOD_TRAPEZOIDAL:
    case SNW_METHOD_BDF2:
    case SNW_METHOD_BDF_ALPHA:
        return snw_mover_implicit_saves(m);
    case SNW_METHOD_CONSERVING:
        return snw_mover_conserving_saves(m);
    case SNW_METHOD_GAUSS4:
    case SNW_METHOD_GAUSS6:
    case SNW_METHOD_GAUSS8:
        return snw_mover_staged_saves(m, step->method);
    case SNW_METHOD_BDF3:
    case SNW_METHOD_RK4:
    case SNW_METHOD_ADAPTIVE:
    case SNW_METHOD_STIFF:
        break; // the integrator keeps its past to itself
    }
    return 0;
}
