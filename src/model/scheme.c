// SPDX-License-Identifier: MIT
//
// Table of the time schemes, and functions of its rows.
#include "model/scheme.h"

#include <stdio.h>
#include <string.h>

// ---- weights of the alpha family ----------------------------------------------------------------

static void generalized_alpha(double rho, double *am, double *af) {
    *am = (2 * rho - 1) / (rho + 1);
    *af = rho / (rho + 1);
}

static void hht(double rho, double *am, double *af) {
    *am = 0;
    *af = (1 - rho) / (1 + rho);
}

static void wbz(double rho, double *am, double *af) {
    *am = (rho - 1) / (rho + 1);
    *af = 0;
}

// ---- table --------------------------------------------------------------------------------------

#define TAKES(name) SNW_SCHEME_TAKES_##name
#define ON(name)    SNW_SCHEME_ON_##name

enum {
    IMPLICIT = TAKES(ADAPT) | TAKES(TOLERANCE) | TAKES(BASE) | TAKES(START) | TAKES(SHORTEN),
    UNDAMPED = IMPLICIT | TAKES(LOOP_VELOCITIES),
    COLLOCATION = TAKES(ADAPT) | TAKES(TOLERANCE) | TAKES(BASE),
    STRAIN = ON(STRAIN) | ON(DRAG_SPRING),
    ALL = STRAIN | ON(LOOPS),
    BOTH = ALL | ON(SHOOTING)
};

const snw_scheme_info snw_scheme_table[SNW_SCHEME_COUNT] = {
    [SNW_SCHEME_GENERALIZED_ALPHA] = {.name = "generalized-alpha",
                                      .meaning = "implicit, order 2, rho at infinity",
                                      .family = SNW_FAMILY_ALPHA,
                                      .order = 2,
                                      .options = UNDAMPED | TAKES(RHO),
                                      .works = ALL,
                                      .implicit = true,
                                      .weights = generalized_alpha,
                                      .rho = 0.9,
                                      .loss_known = true},
    [SNW_SCHEME_NEWMARK] = {.name = "newmark",
                            .meaning = "implicit, order 2, no damping (1/4, 1/2)",
                            .family = SNW_FAMILY_ALPHA,
                            .order = 2,
                            .options = UNDAMPED,
                            .works = ALL,
                            .implicit = true,
                            .weights = hht,
                            .rho = 1},
    [SNW_SCHEME_HHT] = {.name = "hht",
                        .meaning = "implicit, order 2, rho from 0.5 to 1",
                        .family = SNW_FAMILY_ALPHA,
                        .order = 2,
                        .options = UNDAMPED | TAKES(RHO),
                        .works = ALL,
                        .implicit = true,
                        .weights = hht,
                        .rho = 0.9,
                        .rho_min = 0.5},
    [SNW_SCHEME_WBZ] = {.name = "wbz",
                        .meaning = "implicit, order 2, rho from 0 to 1",
                        .family = SNW_FAMILY_ALPHA,
                        .order = 2,
                        .options = UNDAMPED | TAKES(RHO),
                        .works = ALL,
                        .implicit = true,
                        .weights = wbz,
                        .rho = 0.9},
    [SNW_SCHEME_EULER] = {.name = "euler",
                          .meaning = "backward Euler, order 1",
                          .family = SNW_FAMILY_LEVELS,
                          .order = 1,
                          .options = IMPLICIT,
                          .works = BOTH,
                          .implicit = true,
                          .levels = {.past = 1}},
    [SNW_SCHEME_TRAPEZOIDAL] = {.name = "trapezoidal",
                                .meaning = "implicit, order 2, no damping",
                                .family = SNW_FAMILY_LEVELS,
                                .order = 2,
                                .options = UNDAMPED,
                                .works = BOTH,
                                .implicit = true,
                                .levels = {.past = 1, .alpha = -0.5}},
    [SNW_SCHEME_BDF2] = {.name = "bdf2",
                         .meaning = "implicit, order 2, strong damping",
                         .family = SNW_FAMILY_LEVELS,
                         .order = 2,
                         .options = IMPLICIT,
                         .works = BOTH,
                         .implicit = true,
                         .levels = {.past = 2}},
    [SNW_SCHEME_BDF3] = {.name = "bdf3",
                         .meaning =
                             "implicit, order 3; not A-stable: resolved undamped motion grows",
                         .family = SNW_FAMILY_LEVELS,
                         .order = 3,
                         .options = TAKES(TOLERANCE) | TAKES(START),
                         .works = ON(SHOOTING) | ON(LOOPS) | ON(DRAG_SPRING),
                         .implicit = true,
                         .levels = {.past = 3}},
    [SNW_SCHEME_BDF_ALPHA] = {.name = "bdf-alpha",
                              .meaning = "between bdf2 (alpha 0) and trapezoidal (alpha -0.5)",
                              .family = SNW_FAMILY_LEVELS,
                              .order = 2,
                              .options = UNDAMPED | TAKES(ALPHA),
                              .works = BOTH,
                              .implicit = true,
                              .levels = {.past = 2, .alpha = -0.2}},
    [SNW_SCHEME_CONSERVING] = {.name = "conserving",
                               .meaning = "implicit, order 2, conserves energy and momentum",
                               .family = SNW_FAMILY_CONSERVING,
                               .order = 2,
                               .options = TAKES(TOLERANCE) | TAKES(BASE) | TAKES(START),
                               .works = ON(STRAIN) | ON(LOOPS),
                               .implicit = true},
    [SNW_SCHEME_MOREAU] = {.name = "moreau",
                           .meaning = "implicit, order 2, hard contacts; order 1 at impacts",
                           .family = SNW_FAMILY_MOREAU,
                           .order = 2,
                           .options = TAKES(TOLERANCE),
                           .works = ALL,
                           .implicit = true},
    [SNW_SCHEME_GAUSS4] = {.name = "gauss4",
                           .meaning = "implicit, order 4, no damping; not with loops",
                           .family = SNW_FAMILY_COLLOCATION,
                           .order = 4,
                           .options = COLLOCATION,
                           .works = STRAIN,
                           .implicit = true,
                           .stages = 2},
    [SNW_SCHEME_GAUSS6] = {.name = "gauss6",
                           .meaning = "implicit, order 6, no damping; not with loops",
                           .family = SNW_FAMILY_COLLOCATION,
                           .order = 6,
                           .options = COLLOCATION,
                           .works = STRAIN,
                           .implicit = true,
                           .stages = 3},
    [SNW_SCHEME_GAUSS8] = {.name = "gauss8",
                           .meaning = "implicit, order 8, no damping; not with loops",
                           .family = SNW_FAMILY_COLLOCATION,
                           .order = 8,
                           .options = COLLOCATION,
                           .works = STRAIN,
                           .implicit = true,
                           .stages = 4},
    [SNW_SCHEME_RADAU3] = {.name = "radau3",
                           .meaning = "implicit, order 3, strong damping; not with loops",
                           .family = SNW_FAMILY_COLLOCATION,
                           .order = 3,
                           .options = COLLOCATION,
                           .works = STRAIN,
                           .implicit = true,
                           .stages = 2},
    [SNW_SCHEME_RADAU5] = {.name = "radau5",
                           .meaning = "implicit, order 5, strong damping; not with loops",
                           .family = SNW_FAMILY_COLLOCATION,
                           .order = 5,
                           .options = COLLOCATION,
                           .works = STRAIN,
                           .implicit = true,
                           .stages = 3},
    [SNW_SCHEME_RK4] = {.name = "rk4",
                        .meaning = "explicit, order 4, fixed steps",
                        .family = SNW_FAMILY_ODE,
                        .order = 4,
                        .works = ALL},
    [SNW_SCHEME_ADAPTIVE] = {.name = "adaptive",
                             .meaning = "explicit Runge-Kutta with error control",
                             .family = SNW_FAMILY_ODE,
                             .options = TAKES(TOLERANCE),
                             .works = ALL,
                             .chooses_steps = true},
    [SNW_SCHEME_STIFF] = {.name = "stiff",
                          .meaning = "implicit multistep with error control",
                          .family = SNW_FAMILY_ODE,
                          .options = TAKES(TOLERANCE),
                          .works = ALL,
                          .implicit = true,
                          .chooses_steps = true}};

// ---- functions of a row -------------------------------------------------------------------------

int snw_scheme_find(const char *name) {
    for (int i = 0; i < SNW_SCHEME_COUNT; i++) {
        if (strcmp(snw_scheme_table[i].name, name) == 0) return i;
    }
    return -1;
}

void snw_scheme_names(int options, int works, char *out, size_t size) {
    const char *found[SNW_SCHEME_COUNT];
    int n = 0;
    for (int i = 0; i < SNW_SCHEME_COUNT; i++) {
        const snw_scheme_info *row = &snw_scheme_table[i];
        if ((row->options & options) || (row->works & works)) found[n++] = row->name;
    }
    size_t used = 0;
    for (int i = 0; i < n && used < size; i++) {
        const char *join = i == 0 ? "" : i == n - 1 ? " and " : ", ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", join, found[i]);
    }
}

double snw_scheme_rho(snw_scheme_kind kind, double given) {
    const snw_scheme_info *row = &snw_scheme_table[kind];
    return row->options & TAKES(RHO) ? given : row->rho;
}

snw_levels snw_scheme_levels(snw_scheme_kind kind, double alpha) {
    const snw_scheme_info *row = &snw_scheme_table[kind];
    snw_levels levels = row->levels;
    if (row->options & TAKES(ALPHA)) levels.alpha = alpha;
    return levels;
}

bool snw_scheme_undamped(snw_scheme_kind kind, double rho, double alpha) {
    if (!(snw_scheme_table[kind].options & TAKES(LOOP_VELOCITIES))) return false;
    return snw_scheme_table[kind].family == SNW_FAMILY_ALPHA
               ? snw_scheme_rho(kind, rho) == 1
               : snw_scheme_levels(kind, alpha).alpha == -0.5;
}
