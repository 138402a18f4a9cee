// SPDX-License-Identifier: MIT
//
// model_laws.h: numbers in the laws of a model: gravity, loads, active stress, efforts of motors,
// tensions and pressures, given motions of joints, poses and strains, feedback gains, integrands
// and samples. Their derivatives of a scalar are gathered over a run, theory.md (7.5.14). Part of
// model_arrays.h.
#pragma once

#include "dynamics/dynamics.h"

typedef enum snw_law_kind {
    SNW_LAW_GRAVITY,
    SNW_LAW_FORCE,
    SNW_LAW_TORQUE,
    SNW_LAW_STRESS,
    SNW_LAW_MOTOR,
    SNW_LAW_TENDON,
    SNW_LAW_AMBIENT,
    SNW_LAW_TEMPERATURE,
    SNW_LAW_DRIVE,
    SNW_LAW_SOURCE, // of an integral or a sample
    SNW_LAW_STRAIN, // given strains of a rod
    SNW_LAW_POSE,   // of a pose that moves: places, then angles; the last kind
    SNW_LAW_KINDS
} snw_law_kind;

typedef struct snw_model_laws snw_model_laws;

SNW_NODISCARD snw_status snw_model_laws_create(const snw_model *m, snw_model_laws **out);
void snw_model_laws_destroy(snw_model_laws *a); // NULL is fine

// Numbers of all these laws, and those of a model that is like the one of creation.
size_t snw_model_laws_size(const snw_model_laws *a);
void snw_model_laws_read(const snw_model_laws *a, const snw_model *m, double *out);
// Are the numbers of this law gathered, so that two models may differ in them?
bool snw_law_is_gathered(const snw_model *m, snw_law_kind kind, int of);
// Constant load without condition: its wrenches are gathered in place of its numbers.
bool snw_load_is_constant(const snw_load *load);

// A state at which products are taken: after snw_residual, and the motion when the rates are mu.
typedef struct snw_product {
    const snw_inputs *in;
    const snw_state *s;
    const snw_work *w, *at_mu;
    const double *mu, *nu;   // nu NULL: the violations of the rows are not in the product
    const double *integrand; // nsignal: covector of the integrands E of laws; NULL: none
    double half;             // of the step, for integrals of laws
    bool is_static;
    const snw_model *part; // of whose forces w is (part_model.h); NULL: all
    double *by_signal;     // nsignal <- derivatives of the product by the signals, by the laws
} snw_product;

// bar (size) -= derivatives of mu'r - nu'e - integrand'E by the numbers.
void snw_model_laws_subtract(snw_model_laws *a, const snw_product *x, double *bar);
// bar += derivatives of z'S by the numbers, S the samples of laws that are `taken` (nsignal) at
// time t. signal: with these samples
void snw_model_laws_sample(snw_model_laws *a, double t, const double *taken, const double *signal,
                           const double *z, double *bar);
// bar += c times derivatives of the effort of a tendon or chamber by the numbers, at the motion in
// w.
void snw_model_laws_add_effort(snw_model_laws *a, int tendon, double c, const snw_inputs *in,
                               const snw_work *w, double *bar);
// bar += c'gravity by the numbers, at the time of the inputs.
void snw_model_laws_add_gravity(snw_model_laws *a, snw_vec3 c, const snw_inputs *in, double *bar);
// Has the drive a constant position?
bool snw_drive_is_fixed(const snw_model *m, int drive);
// bar += derivatives of w (3) times value, rate and acceleration of the law of a drive.
void snw_model_laws_add_drive(snw_model_laws *a, int drive, double t, const double *w, double *bar);
// bar += the derivatives by the laws of a pose, from those by zeta, u and u' of its motion
// (model_geometry.h).
void snw_model_laws_add_pose(snw_model_laws *a, int pose, const snw_inputs *in,
                             const snw_wrench *by, double *bar);
// bar += the derivatives by the laws of the given strains at a Magnus point (snw_field), from those
// by the strains, their rates and accelerations.
void snw_model_laws_add_strains(snw_model_laws *a, int field, double t, const snw_wrench *by,
                                double *bar);
// First number of the laws of given strains and poses.
size_t snw_model_laws_poses(const snw_model_laws *a);
// Are the numbers of all laws of forces that read signals gathered, so that by_signal is complete?
bool snw_model_laws_read_signals(const snw_model *m);
// Rate of the coordinate of a tendon or chamber when the rates are mu.
double snw_product_path_rate(const snw_model *m, int tendon, const snw_product *x);
