// SPDX-License-Identifier: MIT
//
// locomotion_private.h: state of a locomotion. Private to src/constraint/locomotion*.c.
#pragma once

#include "base/arena.h"
#include "base/fields.h"
#include "constraint/locomotion.h"

// A constraint row on the unknown rates: of a loop or contact, of a conditional drive, or of a
// servo motor.
typedef struct snw_locomotion_row {
    int row; // row of the model
    int loop, r, drive;
    bool servo;    // row of a servo motor: it keeps a probe on a law, and its effort acts elsewhere
    double size;   // unit of its violation
    double weight; // weight of its multiplier in the norm of the reactions
    double preload; // preferred multiplier, to which the norm refers
    int joint[2];   // last passive joint on the path to its first and second site; -1: none
} snw_locomotion_row;

// A passive joint, whose rate follows from its leading row, number nr + its own index
// (locomotion_passive.c).
typedef struct snw_passive_joint {
    int dof, block;
    int parent;                        // next passive joint towards the root; -1: none
    int elimination_adr, nelimination; // its part of lo->elimination
    snw_twist X;                       // joint twist at unit rate, world frame
    snw_wrench c;                      // leading row, with the passive joints behind it eliminated
    double lever;                      // c X
    double x;                          // rate, snw_locomotion_solve_passive
    snw_twist V;                       // twist of its child link, world frame
} snw_passive_joint;

// Elimination of a passive joint from the leading row of another joint: that row less factor times
// the leading row of the passive joint.
typedef struct snw_passive_elimination {
    int joint;
    double factor;
} snw_passive_elimination;

// Lists and vectors whose sizes the model gives: nv velocities, rows constraint rows.
#define LOCOMOTION_LISTS(AT, PACK)                                                                 \
    AT(int, dof, nv, "nu: coordinates of the unknown rates")                                       \
    PACK(int, block, nv, "nu: their blocks")                                                       \
    PACK(int, base, nv, "nbase: indices of the unknowns of the base")                              \
    PACK(int, effort_group, nv, "nu: motors of one group have equal efforts; 0: none")             \
    PACK(int, pivot, nv, "nu")                                                                     \
    AT(bool, is_passive, nv, "nu: the joint is passive, its motor exerts what is needed")          \
    PACK(bool, is_servo, nv, "nu: the motor belongs to a servo constraint")                        \
    AT(snw_locomotion_row, row, rows, "nr, then npassive leading rows")                            \
    AT(double, v0, nv, "velocities")                                                               \
    PACK(double, v1, nv, "velocities")

// Matrices of nu unknowns and nr rows, `all` with the leading rows of passive joints.
#define LOCOMOTION_FIELDS(AT, PACK)                                                                \
    AT(double, C, all *nu, "Jacobian of the rows")                                                 \
    PACK(double, B, all *nu, "copy of C for factorisations, passive joints eliminated")            \
    PACK(double, U, nr *least, "singular value decomposition of B")                                \
    PACK(double, S, least, "likewise")                                                             \
    PACK(double, Vt, nu *nu, "likewise")                                                           \
    PACK(double, MN, 2 * nu * nu, "mass times open motions, and their mass matrix")                \
    PACK(double, rhs, most, "right-hand side and solution")                                        \
    PACK(double, rate, rows, "rates of the rows")                                                  \
    PACK(double, bias, rows, "their accelerations")                                                \
    PACK(double, x, 6 * nu, "vectors")                                                             \
    PACK(double, e, all - nr, "rates of the leading rows")                                         \
    PACK(double, Z, has_servo ? nu *nu + nr *least + least : 0,                                    \
         "with servo rows nu x nu as Vt, and scratch: snw_locomotion_workless_motions")            \
    PACK(double, kernel, least_efforts ? nr *nr : 0, "reactions that balance themselves")          \
    PACK(double, efforts, least_efforts ? nd *(nr + 1) : 0, "efforts of these, and at present")    \
    PACK(double, share, least_efforts ? (nd > nr ? nd : nr) : 0, "parts of these reactions")       \
    PACK(double, balance, least_efforts ? nr : 0, "reactions of minimum norm")                     \
    PACK(double, projective, nprojective ? all : 0, "reactions of the projective form")            \
    AT(snw_twist, X, nu, "joint twists at unit rate, world frame")                                 \
    AT(snw_wrench, c, all, "rows as wrenches in the world frame")                                  \
    PACK(snw_wrench, passed, nprojective, "projective form, nseg: what the contacts beyond exert") \
    AT(int, body_row, nprojective,                                                                 \
       "projective form, nseg: 1 + first row on each segment; 0: none")                            \
    PACK(int, next_row, nprojective ? all : 0, "1 + the next row on the same segment; 0: none")

struct snw_locomotion {
    const snw_model *m;
    snw_locomotion_opts opts;
    snw_work *w;
    snw_state *near;
    int nu; // unknown rates other than those of passive joints with a leading row
    LOCOMOTION_LISTS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *list_block;
    int npassive; // passive joints with a leading row
    snw_passive_joint *passive;
    snw_passive_elimination *elimination;
    int singular_joint; // the one whose lever vanishes
    int nr;             // rows other than leading rows
    bool has_servo;     // there are servo rows
    signed char *sign;  // nloop x nu: list_moved
    double *beyond;     // projective form: for each row on a rod the fractions of snw_rod_beyond
    int nominal;        // rank of the rows at regular configurations
    snw_locomotion_class class;
    int nbase;           // symmetric class: number of unknowns of the base
    snw_wrench momentum; // conserved momentum, world frame
    double until;
    snw_arena scratch;
    LOCOMOTION_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *matrix_block;
};

// Twist at unit rate of a coordinate, in the world frame, at the configuration in lo->w.
snw_twist snw_locomotion_joint_twist(const snw_locomotion *lo, int block, int dof);
// lo->C and the singular values of lo->B at the configuration in lo->w, and the rank.
// SNW_E_SINGULAR: a passive joint has lost its lever, see snw_locomotion_fail_lever.
SNW_NODISCARD snw_status snw_locomotion_decompose(snw_locomotion *lo, int *rank);
// e (nconstraint) <- rates of the rows after the passive joints have moved so that the leading rows
// hold; to (nv; NULL: none) += the rates of these joints.
void snw_locomotion_condense_rates(snw_locomotion *lo, double *e, double *to);
// to (nv) += x (nu, in typical units), and the rates of the passive joints that follow from it.
void snw_locomotion_add_motion(snw_locomotion *lo, const double *x, double *to);

// Assign leading rows to passive joints; remove these joints from the unknowns and these rows from
// the rows.
SNW_NODISCARD snw_status snw_locomotion_plan_passive(snw_locomotion *lo);
// Eliminate the leading rows at the configuration in lo->w, from lo->c.
SNW_NODISCARD snw_status snw_locomotion_factor_passive(snw_locomotion *lo);
// x and V of the passive joints <- their rates for the rates e (npassive) of the leading rows; e is
// overwritten.
void snw_locomotion_solve_passive(snw_locomotion *lo, double *e);
// Rate of row k by these rates of the passive joints.
double snw_locomotion_passive_rate(const snw_locomotion *lo, int k);
snw_status snw_locomotion_fail_lever(const snw_locomotion *lo, double t, snw_error *err);

// s <- driven coordinates, rates and accelerations; the other accelerations are zero.
void snw_locomotion_impose(const snw_locomotion *lo, const snw_inputs *in, snw_state *s);
// s->v <- velocities that satisfy the rows, by the first `rank` singular values; open motions keep
// their rates.
SNW_NODISCARD snw_status snw_locomotion_velocities(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                                   int *rank, snw_error *err);
// s->lambda <- reactions and efforts at s, after snw_locomotion_decompose there.
SNW_NODISCARD snw_status snw_locomotion_forces(snw_locomotion *lo, const snw_inputs *in,
                                               snw_state *s, snw_error *err);
// Projective form (theory.md (6.8.4)). SNW_E_MODEL: some element does not allow it.
SNW_NODISCARD snw_status snw_locomotion_check_projective(const snw_locomotion *lo, snw_error *err);
size_t snw_locomotion_projective_scratch(void);
// Fill lo->body_row and lo->next_row, and take memory for what follows.
SNW_NODISCARD snw_status snw_locomotion_list_body_rows(snw_locomotion *lo);
// lo->beyond <- fractions of the nodes of rods that lie beyond the contacts on them.
void snw_locomotion_divide_nodes(snw_locomotion *lo);
// lo->projective <- its reactions, from lo->c and the wrenches lo->w->F without multipliers.
SNW_NODISCARD snw_status snw_locomotion_projective(snw_locomotion *lo, double t, snw_error *err);
// lo->w <- kinematics of s, with the stations that probes read.
void snw_locomotion_kinematics(snw_locomotion *lo, const snw_inputs *in, const snw_state *s);
// Servo rows (theory.md 6.8): append them to lo->row; fill row k of lo->C at the configuration in
// lo->w; and, as snw_constraints_rates, rates of all rows and their accelerations at the
// accelerations of s. Either may be NULL.
void snw_locomotion_list_servo_rows(snw_locomotion *lo);
void snw_locomotion_servo_row(snw_locomotion *lo, size_t k);
void snw_locomotion_rates(snw_locomotion *lo, const snw_inputs *in, const snw_state *s,
                          double *rate, double *bias);
// Rate that the law of row k prescribes, relative to its size; 0 for other rows.
double snw_locomotion_servo_rate(const snw_locomotion *lo, int k, double t);
// Name of the contact or actuator that row k belongs to.
const char *snw_locomotion_row_name(const snw_locomotion *lo, int k);
// lo->Z <- motions, behind the first lo->nominal of nu, that satisfy the contacts and on which
// servo motors do no work.
SNW_NODISCARD snw_status snw_locomotion_workless_motions(snw_locomotion *lo, double t,
                                                         snw_error *err);
// y (k) <- inv(A) y, with A (k x k) the mass matrix between these and the open motions.
// SNW_E_SINGULAR: no effort controls the probe.
SNW_NODISCARD snw_status snw_locomotion_solve_servo(snw_locomotion *lo, double t, int k, double *A,
                                                    double *y, snw_error *err);
// lo->class from the rank.
void snw_locomotion_classify(snw_locomotion *lo, int rank);
// Motion at a configuration where the rows lose rank: the limit from regular configurations, if it
// exists. Velocities alone, and all.
SNW_NODISCARD snw_status snw_locomotion_limit_rates(snw_locomotion *lo, snw_inputs *in,
                                                    snw_state *s, int rank, snw_error *err);
SNW_NODISCARD snw_status snw_locomotion_limit(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                              int rank, snw_error *err);
// s->a <- differences of the velocities before and after, and forces. These configurations depend
// on s->a: to the order of the differences if `passes` is 1 and the motion is regular.
SNW_NODISCARD snw_status snw_locomotion_difference_motion(snw_locomotion *lo, snw_inputs *in,
                                                          snw_state *s, int passes, snw_error *err);
