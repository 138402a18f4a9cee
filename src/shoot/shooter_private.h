// SPDX-License-Identifier: MIT
//
// shooter_private.h: a shooter from the inside.
#pragma once

#include "dynamics/spot.h"
#include "shoot/cords.h"
#include "shoot/shooter.h"

enum { SNW_SHOOTER_STATIONS = 64 }; // places with bodies or loads on one rod

// An act of the model, at a station: where it is, seen from the section.
typedef struct snw_shooter_act {
    int act, station;
    snw_se3 g; // of its segment in the section's frame
} snw_shooter_act;

typedef struct snw_shooter_node {
    snw_se3 g;
    snw_twist V;
    snw_wrench F;
    double z[SNW_SHOOT_Z];
} snw_shooter_node;

// A body on the rod.
typedef struct snw_shooter_body {
    int station;
    snw_law when; // NULL: always
    snw_inertia M;
} snw_shooter_body;

// How the rod is cut: pieces, the last of each span between places being the one before a place.
typedef struct snw_shooter_grid {
    int nspan, npiece;
    double
        x[SNW_SHOOTER_STATIONS]; // nspan: places with bodies or loads, rising, the last one the tip
    int end[SNW_SHOOTER_STATIONS]; // nspan: the piece that ends there
    double length[SNW_SHOOTER_STATIONS];
    int intervals[SNW_SHOOTER_STATIONS];
} snw_shooter_grid;

struct snw_shooter {
    const snw_model *m;
    const snw_step_desc *step;
    const snw_rod *rod;
    const snw_link_desc *link;
    snw_shooter_grid grid;
    snw_shoot_rod *r;
    snw_boundary *b;
    snw_inputs *in;
    double t;
    int nact;
    snw_shooter_act *act;
    int nbody;
    snw_shooter_body *body;
    snw_cords cords;        // tendons and chambers, numbered as the model's measures
    bool along;             // loads per length
    double applied;         // the largest force so far
    double h;               // length of the step before
    snw_shooter_node *kept; // nodes before a step, to come back to
    double *G;              // Cholesky factors of the bases' products, component by component
    snw_shooter_books books;
    double power, heat; // at the present instant, W
    int room;           // segments that are saved
    size_t saves;       // numbers of it in all
};

// e->grid <- spans between places, cut as the step says; then the rod and what solves it, on that grid. Old ones stay the
// caller's.
void snw_shooter_cut(snw_shooter *e);
SNW_NODISCARD snw_status snw_shooter_build(snw_shooter *e, snw_error *err);
// The same on another grid, in place of the rod there is. When it fails there is none.
SNW_NODISCARD snw_status snw_shooter_rebuild(snw_shooter *e, const snw_shooter_grid *grid,
                                             snw_error *err);
// e->room and e->saves <- for a shooter as it was made.
void snw_shooter_reserve(snw_shooter *e);
// Bodies into the stations of e's rod.
void snw_shooter_place(snw_shooter *e);
// After a solution: is the grid fine enough? If not, e's rod is another one, with all its fields and their past; solve again.
SNW_NODISCARD snw_status snw_shooter_refine(snw_shooter *e, bool *again);

// r's base, loads and gravity <- laws of time t, times `share`.
void snw_shooter_load(snw_shooter *e, double t, double share);
// e->power and heat <- of the present fields.
void snw_shooter_powers(snw_shooter *e);

// Fields at arc length x.
typedef struct snw_shooter_at {
    snw_se3 g;
    snw_shoot_history x, rate;
    snw_wrench F;
} snw_shooter_at;
snw_shooter_at snw_shooter_look(const snw_shooter *e, double x);
// One field at nodes of r, at x; x on a break is behind it.
snw_shoot_history snw_shooter_between(const snw_shoot_rod *r, const snw_shoot_history *field,
                                      double x);

// Refuses what the engine cannot do.
snw_status snw_shooter_cannot(const snw_step_desc *step, snw_place at, snw_error *err,
                              const char *what, const char *name);

// Tendons and chambers: what of them it cannot do; e->cords and its law; values of time t, times `share`; quantities of another
// shooter, or from the strains; what they do per second, W; w->measured and shares of tension.
SNW_NODISCARD snw_status snw_shooter_check_cords(const snw_desc *d, const snw_step_desc *step,
                                                 snw_error *err);
void snw_shooter_make_cords(snw_shooter *e);
void snw_shooter_pull(snw_shooter *e, double t, double share);
void snw_shooter_follow_cords(snw_shooter *e, const snw_shooter *other);
void snw_shooter_take_cords(snw_shooter *e);
double snw_shooter_cords_power(const snw_shooter *e);
void snw_shooter_show_cords(const snw_shooter *e, snw_work *w);
