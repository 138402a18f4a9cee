// SPDX-License-Identifier: MIT
//
// An inverse step as a map of a run.
#include "study/found_inputs.h"

#include <math.h>
#include <string.h>

static snw_weight_kind kind_of(const snw_inverse_aim *a) {
    if (!isnan(a->weight)) return SNW_WEIGHT_GIVEN;
    if (strcmp(a->unit, "m") == 0) return SNW_WEIGHT_LENGTH;
    return strcmp(a->unit, "rad") == 0 || !a->unit[0] ? SNW_WEIGHT_PLAIN : SNW_WEIGHT_VALUES;
}

static void describe_inputs(const snw_inverse_problem *p, const snw_inverse_result *found,
                            snw_found_input *input, snw_found_inputs *out) {
    int first = -1; // that may move
    for (int i = 0; i < found->ninput; i++) {
        const snw_inverse_unknown *u = &p->unknown[i];
        const snw_inverse_input *x = &found->input[i];
        const double range = u->high - u->low, fall = found->reached ? x->goal : x->multiplier;
        const bool free = !u->fixed && x->limit == SNW_LIMIT_NONE;
        input[i] =
            (snw_found_input){.of = u->of,
                              .limit = x->limit,
                              .fixed = u->fixed,
                              .by_range = isfinite(range) && range > 0,
                              .value = x->value,
                              .unit = x->unit_of_motion,
                              .rest = isnan(u->rest) ? 0 : u->rest,
                              .room = fmin(x->value - x->low, x->high - x->value),
                              .press = x->low == x->high ? INFINITY : fall * x->unit_of_motion};
        out->varies = out->varies || u->parameter;
        if (!free) continue;
        // units by the gain count as one where they are those of all free inputs
        out->units =
            out->units ||
            (first >= 0 && (input[first].by_range != input[i].by_range ||
                            (!input[i].by_range && strcmp(found->input[first].unit, x->unit))));
        if (first < 0) first = i;
    }
}

void snw_found_inputs_describe(const snw_inverse_problem *p, const snw_inverse_result *found,
                               snw_found_input *input, snw_found_target *target, int *turns,
                               snw_found_inputs *out) {
    bool values = false, same = true;
    out->t = p->time;
    out->interval = p->interval;
    out->reached = found->reached != 0;
    out->ended = found->ended != 0;
    out->nu = found->ninput;
    out->ny = found->noutput;
    out->varies = out->units = false;
    describe_inputs(p, found, input, out);
    for (int i = 0; i < out->ny; i++) {
        const snw_inverse_aim *a = &p->aim[i];
        target[i] = (snw_found_target){.probe = a->probe,
                                       .column = a->column,
                                       .value = found->output[i].target,
                                       .weight = found->output[i].weight,
                                       .kind = kind_of(a)};
        values = values || target[i].kind == SNW_WEIGHT_VALUES;
        same = same && target[i].kind == target[0].kind && strcmp(a->unit, p->aim[0].unit) == 0;
    }
    out->weights = values && !same;
    snw_inverse_turns(found, turns);
    out->input = input;
    out->target = target;
    out->turns = turns;
    out->gain = found->gain;
}
