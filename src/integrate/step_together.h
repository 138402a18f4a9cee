// SPDX-License-Identifier: MIT
//
// step_together.h: interface of implicit steps to a solver of the steps of several integrators.
#pragma once

#include "solve/chord.h"

#include <stdbool.h>

struct snw_implicit;
struct snw_model;

// A solver of the steps of several integrators at once (study/together.h). NULL functions: none.
typedef struct snw_step_together {
    // `im` is an integrator of the model m from now on.
    void (*begin)(void *user, const struct snw_model *m, const struct snw_implicit *im);
    // A step as by snw_implicit_step. False: it is not done, and nothing has changed.
    bool (*step)(void *user, struct snw_implicit *im, double h, double t_laws,
                 snw_chord_info *info);
    void *user;
} snw_step_together;
