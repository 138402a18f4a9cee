// SPDX-License-Identifier: MIT
//
// shooter_private.h: data and internal functions of a shooter, shared by the files shooter*.c.
#pragma once

#include "dynamics/force_field.h"
#include "dynamics/tendon_point.h"
#include "shoot/platform.h"
#include "shoot/shooter.h"
#include "shoot/tendons.h"
#include "shoot/tree.h"

enum { SNW_SHOOTER_STATIONS = 64 }; // most sections with bodies or loads on one rod

// Body that carries a segment, rigidly or by prescribed motion: the world, a section of a rod, or
// the plate.
typedef enum snw_attachment_kind {
    SNW_ATTACHED_WORLD,
    SNW_ATTACHED_ROD,
    SNW_ATTACHED_PLATE
} snw_attachment_kind;

typedef struct snw_attachment {
    snw_attachment_kind kind;
    int leg,
        section; // of SNW_ATTACHED_ROD: index of the rod and segment of its section; otherwise -1
    snw_se3 g;   // pose of the segment in that frame, at t = 0
    bool moves;  // the pose depends on time
} snw_attachment;

// A load point of the model: its section, or, with leg -1, the plate.
typedef struct snw_shooter_load_point {
    int load_point, leg, station;
    snw_se3 g; // pose of its segment in the section frame
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
    snw_law when; // condition under which it is present; NULL: always
    snw_inertia M;
} snw_shooter_body;

// Division of a rod. Spans lie between consecutive sections with bodies or loads, and consist of
// one or more pieces.
typedef struct snw_shooter_grid {
    int nspan, npiece;
    double x[SNW_SHOOTER_STATIONS]; // nspan: arc lengths of the ends of spans, increasing; the last
                                    // one is the tip
    int end[SNW_SHOOTER_STATIONS];  // nspan: last piece of each span
    double length[SNW_SHOOTER_STATIONS];
    int intervals[SNW_SHOOTER_STATIONS];
} snw_shooter_grid;

// A field of the model at the present instant.
typedef struct snw_shooter_field {
    bool on;
    double factor;   // set by hand; else 1
    snw_se3 carrier; // frame of a dipole, and its velocity
    snw_twist V;
} snw_shooter_field;

// Fields on a leg: along its rod, and on bodies at its stations, in the frames of these.
typedef struct snw_shooter_leg_fields {
    const struct snw_shooter *e;
    int n, nbody;
    snw_force_field_point *point; // npoint x n, per length
    snw_force_field_point *body;
    int *piece; // nbody: that ends at the station
    snw_shoot_force_field call;
} snw_shooter_leg_fields;

// A rod of the model.
typedef struct snw_shooter_leg {
    const snw_rod *rod;
    const snw_link_desc *link;
    int feed;           // index of the drive of its free length; -1: constant length
    int parent;         // leg that carries its base, of smaller index; -1: clamped
    int first, nbranch; // the legs on it: their branches in snw_shooter.branch
    int branch;         // of its base among those of its parent
    bool base_driven;   // its base is on a joint driven by an actuator
    // poses of the base (on the section that carries it) at the previous instants, newest first,
    // and its velocity there at the newest
    snw_se3 base_past[SNW_TIME_LEVELS];
    snw_twist base_V_past;
    int loop; // that joins its tip to the plate; -1: none, it is alone or carries the plate
    int stable_signature; // signature of its stiffness when it was found stable with its joint
                          // fixed; 0: unknown
    snw_shooter_grid grid;
    snw_shoot_rod *r;
    snw_shoot_tendons tendons; // all tendons and chambers, numbered as in the model
    snw_shooter_leg_fields fields;
    snw_shooter_node *saved; // nodes before a step, for restoring
    double *G; // Cholesky factors of the Gram matrices of the strain bases, by component
    snw_twist joint_offset; // from its joint on the plate to its tip, at the start of close_joints
} snw_shooter_leg;

struct snw_shooter {
    const snw_model *m;
    const snw_step_desc *step;
    int nleg; // number of rods of the model
    snw_shooter_leg *leg;
    snw_boundary *b; // solver of a single rod; otherwise NULL
    snw_platform *p; // solver of rods joined by a plate; otherwise NULL
    snw_tree *tree;  // solver of several rods that are not joined by a plate; otherwise NULL
    snw_shoot_branch *branch; // of the legs on others, by parent
    double (*response)[6][6]; // by branch, for shooter_stability.c: dF at its base by its motion
    int plate_seg; // segment whose frame is the plate's: a free body, or the tip of a leg; -1: none
    snw_wrench support; // initial wrench on the plate in close_joints
    snw_inputs *in;
    double t, t_laws; // of the present fields, and of their inputs: before a jump at t
    int nload_point;
    snw_shooter_load_point *load_point;
    int nbody;
    snw_shooter_body *body;
    int ntendon;              // tendons and chambers
    snw_shooter_field *field; // of the model
    double field_t, field_fraction;
    bool distributed; // there are loads per length
    double applied;   // largest applied force so far, N
    double h;         // length of the previous step
    snw_shooter_energy_account account;
    double power, heat;     // at the present instant, W
    int saved_segments;     // segments of each rod in a checkpoint
    size_t checkpoint_size; // numbers in a checkpoint
};

// ---- supported models (shooter_check.c) ---------------------------------------------------------

// Reports that the engine does not support `what`, in the part called `name`.
snw_status snw_shooter_refuse(const snw_step_desc *step, snw_source_location at, snw_error *err,
                              const char *what, const char *name);
// Reports a model or step that the engine does not support.
SNW_NODISCARD snw_status snw_shooter_check(const snw_model *m, const snw_step_desc *step,
                                           snw_error *err);
// The body that carries a segment, and the pose of the segment on it.
snw_attachment snw_shooter_attachment_of(const snw_shooter *e, int seg);
// Parents of the legs <- from the model.
SNW_NODISCARD snw_status snw_shooter_find_parents(snw_shooter *e, snw_error *err);
// Branch of the base of a carried leg.
static inline snw_shoot_branch *snw_shooter_branch(const snw_shooter *e, int leg) {
    const snw_shooter_leg *l = &e->leg[leg];
    return &e->branch[e->leg[l->parent].first + l->branch];
}
// e->plate_seg and the loops of the legs <- from the model; inputs at t = 0 are known.
SNW_NODISCARD snw_status snw_shooter_find_plate(snw_shooter *e, snw_error *err);
// Joint of a leg with the plate.
snw_leg_end snw_shooter_leg_end(const snw_shooter *e, int leg);
// Is the plate a free body?
static inline bool snw_shooter_free_plate(const snw_shooter *e) {
    return e->plate_seg >= 0 && e->m->seg[e->plate_seg].kind == SNW_SEG_FREE;
}
// The drive of a coordinate; -1: none.
int snw_shooter_drive(const snw_model *m, int dof);

// ---- grids (shooter_grid.c) ---------------------------------------------------------------------

// Grids of all legs <- spans divided as the step requires. Then rods and solvers on these grids;
// old ones remain the caller's.
void snw_shooter_choose_grids(snw_shooter *e);
SNW_NODISCARD snw_status snw_shooter_build(snw_shooter *e, snw_error *err);
// Destroy rods and solvers.
void snw_shooter_destroy_rods(snw_shooter *e);
// e->body <- bodies on the stations of the rods and on the plate.
void snw_shooter_place_bodies(snw_shooter *e);
// Call after a solution. If the grid is too coarse, *again <- true, and the rod is replaced by one
// on a finer grid, with its fields at all levels; the step must be solved again.
SNW_NODISCARD snw_status snw_shooter_refine(snw_shooter *e, bool *again);

// ---- inputs and steps (shooter.c) ---------------------------------------------------------------

// Bases, lengths, loads and gravity of the rods <- inputs of time t; loads, gravity and tendon
// inputs times `fraction`.
void snw_shooter_apply_inputs(snw_shooter *e, double t, double fraction);
// As snw_shoot_begin; also takes the next initial guess from the nodes.
void snw_shooter_restart(snw_shooter *e, bool rest, double h);
// Index of the piece that ends at an attachment; -1: none; 0 for the plate.
int snw_shooter_station_at(const snw_shooter *e, const snw_attachment *attachment);
// Pose and velocity of a segment that prescribed motions carry from the world, or from a rod.
void snw_shooter_driven_pose(const snw_shooter *e, int seg, snw_se3 *g, snw_twist *V);

// Condition under which a segment or a field is present; NULL: always.
snw_law snw_shooter_condition(const snw_model *m, int condition);

// ---- fields of force (shooter_force_fields.c) ---------------------------------------------------

// Reports fields that the engine does not support.
SNW_NODISCARD snw_status snw_shooter_check_fields(const snw_model *m, const snw_step_desc *step,
                                                  snw_error *err);
// Calls `add` for each section with a body on which a field acts.
SNW_NODISCARD snw_status snw_shooter_find_fields(
    snw_shooter *e, snw_status (*add)(snw_shooter *e, const snw_attachment *at, snw_error *err),
    snw_error *err);
// Tables of a leg, whose rod is built; released with it.
SNW_NODISCARD snw_status snw_shooter_build_fields(snw_shooter *e, int leg, snw_error *err);
void snw_shooter_release_fields(snw_shooter_leg_fields *f);
// Fields <- at time t, times `fraction`.
void snw_shooter_apply_fields(snw_shooter *e, double t, double fraction);
// Potential energy of the present fields, J; *power <- on the rods by fields without, by laws of t
// and by dipoles that move, W.
double snw_shooter_fields_energy(const snw_shooter *e, double *power);

// ---- checkpoints (shooter_save.c) ---------------------------------------------------------------

// e->saved_segments and e->checkpoint_size <- for a new shooter.
void snw_shooter_reserve(snw_shooter *e);
// Are there at most as many segments as a checkpoint holds?
bool snw_shooter_segments_fit(const snw_shooter *e);

// ---- fields (shooter_fields.c) ------------------------------------------------------------------

// Fields at a fraction x of the length of a rod.
typedef struct snw_shooter_field_values {
    snw_se3 g;
    snw_shoot_history x, rate;
    snw_wrench F;
} snw_shooter_field_values;
snw_shooter_field_values snw_shooter_fields_at(const snw_shooter_leg *l, double x);
// One field, given at the nodes of r, at arc length x; where pieces meet, that of the later piece.
snw_shoot_history snw_shooter_interpolate(const snw_shoot_rod *r, const snw_shoot_history *field,
                                          double x);

// ---- results (shooter_show.c) -------------------------------------------------------------------

// e->power and e->heat <- of the present fields.
void snw_shooter_powers(snw_shooter *e);

// ---- tendons and chambers (shooter_tendons.c) ---------------------------------------------------

// Reports tendons and chambers that the engine does not support.
SNW_NODISCARD snw_status snw_shooter_check_tendons(const snw_model *m, const snw_step_desc *step,
                                                   snw_error *err);
// Tendons of the legs and their laws <- from the model.
void snw_shooter_make_tendons(snw_shooter *e);
// Reports tendons that pass from rod to rod in a way that the engine does not support; their
// straight parts <- in the branches.
SNW_NODISCARD snw_status snw_shooter_cross_tendons(snw_shooter *e, snw_error *err);
// Call when all rods are built: reference lengths and volumes of the whole paths.
void snw_shooter_join_tendons(snw_shooter *e);
// Given efforts, lengths and volumes <- inputs of time t, times `fraction`.
void snw_shooter_apply_tendon_inputs(snw_shooter *e, double t, double fraction);
// States z at the newest level <- those of another shooter; or from the strains of the fields.
void snw_shooter_copy_tendons(snw_shooter *e, const snw_shooter *other);
void snw_shooter_set_tendon_state(snw_shooter *e);
// States at all levels, and initial guesses of the strains, interpolated from another grid of a
// single rod.
void snw_shooter_regrid_tendons(snw_shooter *e, const snw_shooter_leg *from);
// Power on the rod, and dissipation by friction, W.
double snw_shooter_tendons_power(const snw_shooter *e);
double snw_shooter_tendons_heat(const snw_shooter *e);
// w->tendon, and fractions of the tension at its points <- from the fields.
void snw_shooter_get_tendons(const snw_shooter *e, snw_work *w);
