// SPDX-License-Identifier: MIT
//
// locomotion_private.h: the parts of the reduced motion. Private to src/study/reduced*.c.
#pragma once

#include "base/arena.h"
#include "constraint/locomotion.h"

// A row that unknown rates keep: of a loop, or of a drive that comes and goes.
typedef struct snw_locomotion_row {
    int row; // of the model
    int loop, r, drive;
    bool hold;     // of a drive: it keeps a probe on a law, and its effort acts elsewhere
    double size;   // what it is measured by
    double weight; // of its multiplier where reactions are shared
    int at[2];     // the last led follower on the way to its first and second site; -1: none
} snw_locomotion_row;

// A follower that a row leads, reduced_led.c: row number nr + its own.
typedef struct snw_passive_joint {
    int dof, block;
    int up;          // the next one towards the root; -1: none
    int lead, nlead; // rows that pass it on the way to those they lead
    snw_twist X;     // its motion of the world
    snw_wrench c;    // the row that leads it, freed of the followers behind
    double lever;    // c X
    double x;        // its rate,
    snw_twist V;     // and the motion of what it carries, snw_locomotion_solve_passive
} snw_passive_joint;

typedef struct snw_passive_elimination {
    int leads;
    double part;
} snw_passive_elimination;

struct snw_locomotion {
    const snw_model *m;
    snw_locomotion_opts opts;
    snw_work *w;
    snw_state *near;
    int nu;           // unknown rates but for those that are led: their coordinates,
    int *dof;         // nu
    int *block;       // nu: blocks of these,
    bool *is_passive; // nu: and whether motors there exert what is needed,
    bool *holding;    // nu: and so that a probe is held,
    int *same;        // nu: with one effort for all that have this number; 0: alone
    int npassive;     // followers, found one by one from
    snw_passive_joint *passive;
    snw_passive_elimination *lead;
    int stuck;               // the one whose row has lost its lever
    int nr;                  // rows but for those that lead
    bool holds;              // some of these rows keep probes on laws
    snw_locomotion_row *row; // nr, then nled
    snw_wrench *c;           // nr + nled: rows as wrenches of the world
    signed char *sign;       // nloop x nu
    int nominal;             // rank of the rows, but for instants at which they lose it
    snw_locomotion_class class;
    int nbase;           // of the symmetric class: unknowns of the base,
    int *base;           // nbase: which
    snw_wrench momentum; // that is kept, of the world
    double until;
    snw_arena scratch;
    double *memory; // everything below
    double *C;      // (nr + nled) x nu, and
    double *B;      // what factors overwrite: rows that do not lead, while followers give way
    double *U, *S, *Vt;
    double *MN;               // 2 nu x nu: mass times open motions, and their mass matrix
    double *side;             // nr + nled or nu
    double *e;                // nled
    double *rate, *curvature; // rows of the model
    double *x;                // 6 vectors of nu
    double *v0, *v1;          // nv
    double *Z;  // where probes are held nu x nu as Vt, and scratch: snw_locomotion_workless_motions
    int *pivot; // nu
    snw_twist *X; // nu: motions of the world
    // of the projective form; NULL: not asked for
    snw_wrench *handed;        // nseg
    int *first_row, *next_row; // nseg, rows: those of what grips a body, a list
};

// The motion of the world that a coordinate makes at rate one, in lo->w.
snw_twist snw_locomotion_joint_twist(const snw_locomotion *lo, int block, int dof);
// lo->C and singular values of lo->B at the motion in lo->w, and how many there are.
// SNW_E_SINGULAR: snw_locomotion_fail_lever.
SNW_NODISCARD snw_status snw_locomotion_decompose(snw_locomotion *lo, int *rank);
// e (rows of the model) <- as it is when followers give way to it, and to (nv; NULL: none) += how
// they do.
void snw_locomotion_condense_rates(snw_locomotion *lo, double *e, double *to);
// to (nv) += x (nu, per typical numbers), and what followers do with it.
void snw_locomotion_add_motion(snw_locomotion *lo, const double *x, double *to);

// Choose followers that are led and take them and their rows out of the unknowns and the rows.
SNW_NODISCARD snw_status snw_locomotion_plan_passive(snw_locomotion *lo);
// What rows and followers are at the motion in lo->w, from lo->c.
SNW_NODISCARD snw_status snw_locomotion_factor_passive(snw_locomotion *lo);
// led->x, led->V <- how they give way to rates e (nled) of the rows that lead them; e is used up.
void snw_locomotion_solve_passive(snw_locomotion *lo, double *e);
// What row k gets of that.
double snw_locomotion_passive_rate(const snw_locomotion *lo, int k);
snw_status snw_locomotion_fail_lever(const snw_locomotion *lo, double t, snw_error *err);

// s <- what is driven, with its rates; accelerations of what is not are zero.
void snw_locomotion_impose(const snw_locomotion *lo, const snw_inputs *in, snw_state *s);
// s->v <- what the rows ask for, as far as they have `rank`; open motions stay.
SNW_NODISCARD snw_status snw_locomotion_velocities(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                                   int *rank, snw_error *err);
// s->lambda <- reactions and efforts at the motion s, after snw_locomotion_decompose there.
SNW_NODISCARD snw_status snw_locomotion_forces(snw_locomotion *lo, const snw_inputs *in,
                                               snw_state *s, snw_error *err);
// lo->w <- the motion s.
void snw_locomotion_kinematics(snw_locomotion *lo, const snw_inputs *in, const snw_state *s);
// Rows that keep probes on laws, theory.md 6.8: lo->row <- these behind the others; row k of lo->C
// at the motion in lo->w; and, after snw_constraints_rates, their rates and what is left of their
// accelerations; either may be NULL.
void snw_locomotion_list_servo_rows(snw_locomotion *lo);
void snw_locomotion_servo_row(snw_locomotion *lo, size_t k);
void snw_locomotion_rates(snw_locomotion *lo, const snw_inputs *in, const snw_state *s,
                          double *rate, double *bend);
// How fast row k is asked to go, per its size; 0: it keeps no probe.
double snw_locomotion_servo_rate(const snw_locomotion *lo, int k, double t);
// Of row k: its contact, or the actuator that keeps a probe.
const char *snw_locomotion_row_name(const snw_locomotion *lo, int k);
// lo->Z <- open motions, behind the first lo->nominal of nu, on which motors that hold probes do no
// work.
SNW_NODISCARD snw_status snw_locomotion_workless_motions(snw_locomotion *lo, double t,
                                                         snw_error *err);
// y (k) <- inv(A) y, A (k x k) being masses between these and open motions, which no effort may
// make singular.
SNW_NODISCARD snw_status snw_locomotion_solve_servo(snw_locomotion *lo, double t, int k, double *A,
                                                    double *y, snw_error *err);
// s->lambda <- efforts of the projective form at the motion s; reactions zero.
void snw_locomotion_list_bodies(snw_locomotion *lo);
void snw_locomotion_projective(snw_locomotion *lo, const snw_inputs *in, snw_state *s);
// Refuses what the projective form does not know.
SNW_NODISCARD snw_status snw_locomotion_projective_check(const snw_model *m, snw_error *err);
// lo->class from the rank.
void snw_locomotion_classify(snw_locomotion *lo, int rank);
// The motion at an instant at which the rows lose rank: the limit, where there is one. Its
// velocities alone, and all.
SNW_NODISCARD snw_status snw_locomotion_limit_rates(snw_locomotion *lo, snw_inputs *in,
                                                    snw_state *s, int rank, snw_error *err);
SNW_NODISCARD snw_status snw_locomotion_limit(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                              int rank, snw_error *err);
