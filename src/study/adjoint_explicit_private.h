// SPDX-License-Identifier: MIT
//
// adjoint_explicit_private.h: maps of explicit schemes, for adjoint_explicit.c (differences of
// maps) and adjoint_runge_kutta.c (written transposes of their stages).
#pragma once

#include "integrate/explicit.h"
#include "study/adjoint_private.h"

enum { EXPLICIT_START, EXPLICIT_MIDDLE, EXPLICIT_END }; // times of a step at which laws are read

typedef struct explicit_stages explicit_stages; // adjoint_runge_kutta.c

struct adjoint_explicit {
    snw_explicit *engine;
    snw_explicit_opts opts;
    snw_state *s;            // from which a map is done again
    int nin, nout;           // numbers of x_0 and x_1
    double *J;               // nout x nin
    double *by_h, *by_t;     // nout: by the length at a fixed start, by time
    double *base;            // nout: x_1 of the map, its configuration as the difference zero
    double *sample;          // nout
    double *bar;             // nscalar x nout
    double *condition;       // ncondition: with which the engine has started
    bool *idle;              // nin: the map does not depend on it
    explicit_stages *stages; // NULL before the first written map
    bool written;            // the last map was taken back by transposes of its stages
};

// Do they apply to a map? After it was opened.
bool adjoint_runge_kutta_applies(const snw_adjoint *a, const snw_map *map);
// Written transposes: bars back; typical size of the products of their covectors.
SNW_NODISCARD snw_status adjoint_runge_kutta_back(snw_adjoint *a, const snw_map *map,
                                                  snw_error *err);
double adjoint_runge_kutta_magnitude(const snw_adjoint *a, int scalar);
void adjoint_runge_kutta_destroy(explicit_stages *x);
