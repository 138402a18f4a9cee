// SPDX-License-Identifier: MIT
//
// Natural frequencies and mode shapes of the public robot, theory.md 7.
#include "robot/robot_private.h"

#include "base/fail.h"
#include "study/modes.h"

#include <string.h>

snw_status snw_robot_modes(snw_robot *r, int max, double *frequency, double *damping, double *shape,
                           int *count, snw_error *err) {
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    if (!count || (max > 0 && !frequency)) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", count ? "frequency" : "count");
    }
    if (max < 0) return snw_fail(err, SNW_E_ARGUMENT, "max must not be negative, got %d", max);
    SNW_TRY(snw_robot_check_state(r, err));
    const snw_model *m = r->m;
    for (int i = 0; i < m->nloop; i++) {
        if (!m->loop[i].sliding_station || m->loop[i].nrow == 0) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "contact '%s' moves along a rod and constrains the velocity of passing "
                        "material, so small vibrations are not determined; switch it off",
                        m->label.loop[i].name);
    }
    snw_robot_initialise_signals(r);
    snw_modes *modes = NULL;
    if (snw_modes_create(m, max, false, &modes) != SNW_OK) {
        snw_modes_destroy(modes);
        return snw_fail_memory(err);
    }
    snw_modes_set_manual(modes, &r->held.manual);
    const snw_status s = snw_modes_solve(modes, r->s, err);
    const snw_mode_table *table = snw_modes_table(modes);
    const size_t nv = (size_t)m->nv;
    *count = s == SNW_OK ? (table->n < max ? table->n : max) : 0;
    for (int i = 0; i < *count; i++) {
        frequency[i] = table->mode[i].frequency;
        if (damping) damping[i] = table->mode[i].damping;
        if (shape) memcpy(shape + (size_t)i * nv, snw_modes_vector(modes, i), nv * sizeof *shape);
    }
    snw_modes_destroy(modes);
    return s;
}
