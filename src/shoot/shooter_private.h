// SPDX-License-Identifier: MIT
//
// shooter_private.h: a shooter from the inside.
#pragma once

#include "dynamics/tendon_point.h"
#include "shoot/platform.h"
#include "shoot/shooter.h"
#include "shoot/tendons.h"

enum { SNW_SHOOTER_STATIONS = 64 }; // places with bodies or loads on one rod

// What carries a segment, rigidly or by motions that are given: the world, a section of a rod, or a
// free body.
typedef enum snw_seat_kind { SNW_SEAT_WORLD, SNW_SEAT_ROD, SNW_SEAT_PLATE } snw_seat_kind;

typedef struct snw_seat {
    snw_seat_kind kind;
    int leg, section; // of SNW_SEAT_ROD: which rod, and the segment of its section; -1
    snw_se3 g;        // of the segment in that frame, as the laws are at t = 0
    bool moves;       // these change it
} snw_seat;

// An act of the model: where it is, seen from the section, or, with leg -1, from the plate.
typedef struct snw_shooter_load_point {
    int load_point, leg, station;
    snw_se3 g; // of its segment in the section's frame
} snw_shooter_load_point;

typedef struct snw_shooter_node {
    snw_se3 g;
    snw_twist V;
    snw_wrench F;
    double z[SNW_SHOOT_Z];
} snw_shooter_node;

// A body on a rod, or, with leg -1, on the plate.
typedef struct snw_shooter_body {
    int leg, station;
    snw_law when; // NULL: always
    snw_inertia M;
} snw_shooter_body;

// How a rod is cut: pieces, the last of each span between places being the one before a place.
typedef struct snw_shooter_grid {
    int nspan, npiece;
    double
        x[SNW_SHOOTER_STATIONS]; // nspan: places with bodies or loads, rising, the last one the tip
    int end[SNW_SHOOTER_STATIONS]; // nspan: the piece that ends there
    double length[SNW_SHOOTER_STATIONS];
    int intervals[SNW_SHOOTER_STATIONS];
} snw_shooter_grid;

// A rod of the model.
typedef struct snw_shooter_leg {
    const snw_rod *rod;
    const snw_link_desc *link;
    int feed;    // the drive that gives its free length; -1: it is not fed
    bool turned; // its foot stands on a joint that an actuator drives
    // the foot's poses at the last instants, newest first, and its velocity at the newest
    snw_se3 foot[SNW_TIME_LEVELS];
    snw_twist foot_V;
    int loop;   // that joins its tip to the plate; -1: none, it stands alone or carries the plate
    int judged; // signature of its stiffness where it was stable with its joint held; 0: not known
    snw_shooter_grid grid;
    snw_shoot_rod *r;
    snw_shooter_node *kept; // nodes before a step, to come back to
    double *G;              // Cholesky factors of the bases' products, component by component
    snw_twist way; // from its joint on the plate to its tip, as an equilibrium is joined up
} snw_shooter_leg;

struct snw_shooter {
    const snw_model *m;
    const snw_step_desc *step;
    int nleg; // as the model's rods
    snw_shooter_leg *leg;
    snw_boundary *b;    // of a rod that stands alone; else NULL
    snw_platform *p;    // of rods that a plate joins; else NULL
    int plate_seg;      // whose frame is the plate's: a free body, or the tip of a leg; -1: none
    snw_wrench support; // on the plate, as it begins where an equilibrium is hard to find
    snw_inputs *in;
    double t, t_laws; // of the present fields, and of the laws they obey: before a jump at t
    int nload_point;
    snw_shooter_load_point *load_point;
    int nbody;
    snw_shooter_body *body;
    snw_shoot_tendons
        tendons;    // tendons and chambers, numbered as the model's measures, of the only rod
    bool along;     // loads per length
    double applied; // the largest force so far
    double h;       // length of the step before
    snw_shooter_energy_account account;
    double power, heat; // at the present instant, W
    int room;           // segments of each rod that are saved
    size_t saves;       // numbers of it in all
};

// ---- what it can do (shooter_check.c)
// ---------------------------------------------------------------

// Refuses what the engine cannot do, or says that nothing is in the way.
snw_status snw_shooter_cannot(const snw_step_desc *step, snw_source_location at, snw_error *err,
                              const char *what, const char *name);
SNW_NODISCARD snw_status snw_shooter_check(const snw_model *m, const snw_step_desc *step,
                                           snw_error *err);
snw_seat snw_shooter_seat(const snw_shooter *e, int seg);
// e->plate_seg, and loops of the legs; inputs of t = 0 are known.
SNW_NODISCARD snw_status snw_shooter_join(snw_shooter *e, snw_error *err);
// How a leg meets the plate.
snw_leg_end snw_shooter_end(const snw_shooter *e, int leg);
// Is the plate a body by itself?
static inline bool snw_shooter_free_plate(const snw_shooter *e) {
    return e->plate_seg >= 0 && e->m->seg[e->plate_seg].kind == SNW_SEG_FREE;
}
// The drive of a coordinate; -1: none.
int snw_shooter_drive(const snw_model *m, int dof);

// ---- grids (shooter_grid.c)
// -------------------------------------------------------------------------

// Grids of all legs <- spans between places, cut as the step says; then the rods and what solves
// them, on these grids. Old ones stay the caller's.
void snw_shooter_cut(snw_shooter *e);
SNW_NODISCARD snw_status snw_shooter_build(snw_shooter *e, snw_error *err);
// Rods, and what solves them, are gone.
void snw_shooter_raze(snw_shooter *e);
// Bodies into the stations of e's rods.
void snw_shooter_place(snw_shooter *e);
// After a solution: is the grid fine enough? If not, e's rod is another one, with all its fields
// and their past; solve again.
SNW_NODISCARD snw_status snw_shooter_refine(snw_shooter *e, bool *again);

// ---- laws and steps (shooter.c)
// ---------------------------------------------------------------------

// Bases, lengths, loads and gravity of the rods <- laws of time t, times `share`.
void snw_shooter_load(snw_shooter *e, double t, double share);
// As snw_shoot_begin, and guess from the nodes.
void snw_shooter_forget_past(snw_shooter *e, bool rest, double h);
// Pose and velocity of a segment that given motions carry from the world.
void snw_shooter_carried(const snw_shooter *e, int seg, snw_se3 *g, snw_twist *V);

// ---- saving (shooter_save.c)
// ------------------------------------------------------------------------

// e->room and e->saves <- for a shooter as it was made.
void snw_shooter_reserve(snw_shooter *e);
// Are there no more segments than are saved?
bool snw_shooter_saves_all(const snw_shooter *e);

// ---- fields (shooter_fields.c)
// ----------------------------------------------------------------------

// Fields at a share x of a rod's length.
typedef struct snw_shooter_at {
    snw_se3 g;
    snw_shoot_history x, rate;
    snw_wrench F;
} snw_shooter_at;
snw_shooter_at snw_shooter_look(const snw_shooter_leg *l, double x);
// One field at nodes of r, at arc length x; x on a break is behind it.
snw_shoot_history snw_shooter_between(const snw_shoot_rod *r, const snw_shoot_history *field,
                                      double x);

// ---- in terms of the model (shooter_show.c)
// ---------------------------------------------------------

// e->power and heat <- of the present fields.
void snw_shooter_powers(snw_shooter *e);

// Tendons and chambers: what of them it cannot do; e->cords and its law; values of time t, times
// `share`; quantities of another shooter, or from the strains; what the rod gets of them and what
// they rub away per second, W; w->tendon and shares of tension.
SNW_NODISCARD snw_status snw_shooter_check_tendons(const snw_model *m, const snw_step_desc *step,
                                                   snw_error *err);
void snw_shooter_make_tendons(snw_shooter *e);
void snw_shooter_pull(snw_shooter *e, double t, double share);
void snw_shooter_follow_tendons(snw_shooter *e, const snw_shooter *other);
void snw_shooter_take_tendons(snw_shooter *e);
// On another grid of the rod: quantities with all of their past, and strains where searches begin.
void snw_shooter_carry_tendons(snw_shooter *e, const snw_shooter_leg *from);
double snw_shooter_tendons_power(const snw_shooter *e);
double snw_shooter_tendons_heat(const snw_shooter *e);
void snw_shooter_show_tendons(const snw_shooter *e, snw_work *w);
