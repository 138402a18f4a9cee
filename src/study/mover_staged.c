// SPDX-License-Identifier: MIT
//
// Gauss' collocation (study/staged.h) as what a paced mover takes.
#include "study/mover_private.h"

#include "base/fail.h"
#include "study/staged.h"

static int stages_of(snw_method method) {
    return method == SNW_METHOD_GAUSS4 ? 2 : method == SNW_METHOD_GAUSS6 ? 3 : 4;
}

size_t snw_mover_staged_saves(const snw_model *m, snw_method method) {
    return SNW_PACED_SAVES + snw_staged_saves(m, stages_of(method));
}

snw_status snw_mover_staged(const snw_model *m, const snw_step_desc *step, double every,
                            snw_mover *out) {
    const snw_motion_opts usual = snw_motion_defaults();
    const bool given = step->tolerance > 0;
    const snw_staged_opts o = {.stages = stages_of(step->method),
                               .chart = step->split ? SNW_CHART_SO3R3 : SNW_CHART_SE3,
                               .tolerance =
                                   given && !step->control ? step->tolerance : usual.tolerance,
                               .own = !given || step->control,
                               .max_iter = usual.max_iter};
    const snw_pace pace = {.least = step->least,
                           .control = step->control,
                           .tolerance = given ? step->tolerance : SNW_STEP_ERROR,
                           .power = o.stages + 2,
                           .longest = snw_longest_step(step),
                           .patience = step->patience};
    snw_staged *motion;
    SNW_TRY(snw_staged_create(m, &o, &motion));
    return snw_mover_paced(m, &snw_staged_stepper, motion, pace, every,
                           snw_staged_saves(m, o.stages), out);
}
