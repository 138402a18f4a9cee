// SPDX-License-Identifier: MIT
//
// gradient_sweep.h: one evaluation of a gradient, theory.md 7.5: the run with its tape, the
// directions in the space of models, sweeps back and forward over the maps. Private to the files
// gradient_*.c of src/robot.
#pragma once

#include "robot/gradient_checkpoint.h"
#include "robot/gradient_difference.h"
#include "robot/gradient_event.h"
#include "robot/gradient_jump.h"
#include "robot/gradient_private.h"
#include "robot/gradient_slope.h"
#include "study/adjoint.h"
#include "study/model_arrays.h"

enum {
    GRADIENT_FAR = 250,         // steps of the far samples
    GRADIENT_LINEAR_TRIALS = 20 // maps that may not be linear before linearity is no longer tried
};
static const double gradient_parameter_move =
                        1e-3, // of a parameter in a sample, relative
                              // the same forward through the conserving scheme, whose forces are
                              // known to the rounding of energies divided by increments
    gradient_conserving_move = 3e-3,
                    gradient_fine_part = 1e-2; // of that in a fine sample

// A direction in the space of models: a number of the file, or a law plus c, c (t - t0),
// c (t - t0)^2/2.
typedef struct gradient_direction {
    int entry; // -1: of a law
    int law, power;
    double step, t0;
    snw_robot_model *model[GRADIENT_VARIANTS]; // at -3, -2, -1, 1, 2, 3 steps; NULL: not needed yet
    snw_robot_model *far[2]; // at -250 and 250 steps, for parameters that enter linearly
    snw_robot_model *fine[GRADIENT_VARIANTS]; // at the fine part of the steps, where those cross
                                              // the onset of a contact or stop; NULL: not needed
                                              // yet
    double *by, *coarse; // nscalar: of one map; with differences of order 4, and room for both from
                         // fine samples
    int curved;          // maps whose equations are not linear in the parameter
    double error, size;  // sums of |by - coarse| and |by| over maps and scalars
} gradient_direction;

// Memory for samples of the initial state.
typedef struct gradient_start {
    snw_state *at;
    double *dx, *moved, *p; // nv, 2 nv, nentry
} gradient_start;

// The study between two changes of the model.
typedef struct gradient_phase {
    const snw_model *m;
    const snw_desc *desc;
    snw_adjoint *adjoint;
    snw_sampler sampler;
    snw_model_arrays *arrays; // NULL: not used
} gradient_phase;

typedef struct gradient_sweep {
    snw_gradient *g;
    gradient_checkpoints kept;
    bool partial;                // the tape was too long: parts of the run are done again
    bool forward;                // sensitivities along the run; else the sweep back
    gradient_count count, again; // of the run, and of its parts that are run again
    int last;                    // frame at which a repeated part of the run ends; -1: at its end
    const double *p;
    snw_robot_model *model;
    snw_run *run;
    int nphase, now; // phases of the study; the present one of the sweep
    gradient_phase *phase;
    const snw_model *m; // of the present phase
    snw_tape tape;
    snw_adjoint *adjoint; // likewise
    snw_sampler *sampler; // likewise
    int nset;             // bars of an adjoint
    int nscalar;          // those of the gradient and, with events, the margin of a condition
    bool events;          // conditions may change
    bool moreau;          // steps of the scheme moreau, whose contacts close at times of their own
    bool memory, samples; // laws read integrals or samples; samples
    bool sharp;           // contacts, stops or cables set in at some place
    bool lone;            // numbers are taken one by one
    bool impatient;       // see gradient_way
    bool abandoned;       // likewise
    bool conserving;      // some steps are of the conserving scheme
    bool collocation;     // some are of collocation
    bool kinematic;       // some are kinematic, or close loops after explicit steps
    double move;          // of a parameter in a sample, relative
    int noutput;
    snw_adjoint_output *output;
    int *output_of;       // nsignal: output that a signal reads; -1: none
    double *signal;       // 2 x nsignal
    double *z_bar;        // nscalar x nsignal: of samples
    double *factor;       // nscalar
    double *y_time;       // noutput
    gradient_event event; // the last one
    double **from;        // for each step of the study from which others begin: nset kept bars
    struct gradient_inputs *inputs; // held by inverse steps; NULL: there are none
    const struct gradient_aim *aim; // of an inverse step, whose products are taken; NULL: none
    double *weight;                 // nsum x nframe
    double *by_sum;                 // nsum
    double *y_bar, *x_bar; // nscalar x noutput; the latter with laws of probes by what they read
    bool chains;           // some outputs are laws of others
    gradient_jumps jumps;  // of laws, at p
    int ndirection;
    gradient_direction *direction;
    snw_model_arrays *arrays; // of the present phase; NULL: not used
    int nslope;               // numbers of the file that enter these arrays only
    int nlone;                // of them, taken one by one
    gradient_slope *slope;
    bool *has_slope;            // nentry
    snw_jet *motion;            // ndrive: given motions at the start, where arrays are used
    bool gathered;              // the derivatives by the arrays are known
    double *value, *centre, *y; // nscalar, nscalar, noutput: of a sample, and at p
    double *dJ;                 // nscalar x nentry
    double error, size;         // largest of all parameters, see gradient_note_error
} gradient_sweep;

// ---- changes of the model, gradient_phase.c -----------------------------------------------------

// s->phase, s->m <- models of the run, which exists.
SNW_NODISCARD snw_status gradient_phases_find(gradient_sweep *s, snw_error *err);
// Adjoints with so many bars, and samplers; the first phase is the present one.
SNW_NODISCARD snw_status gradient_phases_open(gradient_sweep *s, int sets, snw_error *err);
void gradient_phases_close(gradient_sweep *s);
// From now on phase k, or that of a map; bars that are not of accelerations, multipliers or the
// past of a scheme go on.
void gradient_use_phase(gradient_sweep *s, int k);
void gradient_use_map(gradient_sweep *s, const snw_map *map);
// The adjoints know the sizes of the memory of laws at the maps of the tape.
void gradient_note_memory(gradient_sweep *s);
// Phase k without any bars, for what needs its model only; returns the phase before.
int gradient_show_phase(gradient_sweep *s, int k);
int gradient_phase_of(const gradient_sweep *s, const snw_map *map);
// Models of all phases of a variant, with the rows of those of the run. SNW_E_MODEL: its number or
// law `by` changes their sizes.
SNW_NODISCARD snw_status gradient_compile_phases(const gradient_sweep *s, snw_robot_model *model,
                                                 const char *by, snw_error *err);
// Its model of the present phase.
const snw_model *gradient_model_in(const gradient_sweep *s, const snw_robot_model *model);

// ---- steps that begin from the end of others, gradient_from.c -----------------------------------

SNW_NODISCARD snw_status gradient_from_open(gradient_sweep *s, snw_error *err);
void gradient_from_clear(gradient_sweep *s); // nothing is kept
void gradient_from_close(gradient_sweep *s);
// The sweep back, or forward, comes to a map that keeps a state or begins from one.
void gradient_from_back(gradient_sweep *s, const snw_map *map);
void gradient_from_forward(gradient_sweep *s, const snw_map *map);

// ---- outputs and events, gradient_frame.c -------------------------------------------------------

// s->output <- columns that the scalars, conditions and samples read.
SNW_NODISCARD snw_status gradient_list_outputs(gradient_sweep *s, snw_error *err);
// J (nscalar), s->weight, s->by_sum <- scalars, and weights of the frames in their sums.
SNW_NODISCARD snw_status gradient_find_weights(gradient_sweep *s, double *J, snw_error *err);
// Derivative of scalar i by the time of a frame, outputs fixed.
double gradient_frame_time_bar(const gradient_sweep *s, int frame, int i);
// SNW_E_MODEL: a map, or a frame on which scalars depend (`any`: on its outputs), is a point of a
// path that has no derivative.
SNW_NODISCARD snw_status gradient_check_place(const snw_map *map, snw_error *err);
SNW_NODISCARD snw_status gradient_check_frame(const gradient_sweep *s, const snw_map *map, bool any,
                                              snw_error *err);
// s->y_bar <- derivatives of the scalars by the outputs of a frame; false: all are zero.
bool gradient_frame_bars(const gradient_sweep *s, int frame);
// Margin of the present event by a model at the state of its map.
double gradient_margin_of(gradient_sweep *s, const snw_model *m, const snw_map *map);
// Signals of conditions at the state of a map of the present phase.
const double *gradient_signals_of(gradient_sweep *s, const snw_map *map);
// SNW_E_MODEL: a condition is exactly at its limit where a motion on the tape begins, and a
// variable moves it; gradient_limit.c.
SNW_NODISCARD snw_status gradient_check_limits(gradient_sweep *s, snw_error *err);
// Signals with the samples of a map, by a model at its state.
const double *gradient_samples_of(gradient_sweep *s, const snw_model *m, const snw_map *map);
// s->y_time <- derivatives of the outputs at a state by time.
void gradient_outputs_by_time(gradient_sweep *s, const snw_map *map);
// The step of the tape that ends at event i.
snw_map *gradient_step_of_event(const gradient_sweep *s, int i);
// s->event <- the comparison that changes at event i of the tape; s->signal <- signals there.
SNW_NODISCARD snw_status gradient_find_event(gradient_sweep *s, int i, snw_error *err);
// Steps that end at an event whose time is given have their length.
SNW_NODISCARD snw_status gradient_find_given_events(gradient_sweep *s, snw_error *err);
// y_bar of the last scalar <- derivatives of the margin of s->event by the outputs; *by_time <-
// that by time.
void gradient_event_bars(gradient_sweep *s, const snw_map *map, double *by_time);
// Derivative of the margin of s->event by signal k, memory of a law.
double gradient_margin_by_memory(const gradient_sweep *s, int k);

// ---- laws of other probes, gradient_law.c -------------------------------------------------------

// Is the output a law of outputs in the list?
bool gradient_law_is_chained(const snw_desc *d, const snw_adjoint_output *o);
// Numbers that laws of probes read; s->output += those read by outputs, for the sweep back.
int gradient_law_reads(const gradient_sweep *s);
void gradient_list_law_reads(gradient_sweep *s);
// The bars of a frame, s->y_bar, with those of laws passed to what they read.
const double *gradient_chain_laws(gradient_sweep *s, const snw_map *map);
// Are laws of probes, and contacts whose forces are outputs, the same in another model?
bool gradient_outputs_are_same(const gradient_sweep *s, const snw_model *m, const snw_model *other);

// ---- inputs that inverse steps hold, gradient_inputs.c ------------------------------------------

SNW_NODISCARD snw_status gradient_inputs_open(gradient_sweep *s, snw_error *err);
void gradient_inputs_close(gradient_sweep *s);
// Number of targets of inverse steps; s->output += those that are not listed yet.
size_t gradient_inputs_targets(const gradient_sweep *s);
void gradient_inputs_list_targets(gradient_sweep *s);
// All that evaluates models reads them; at first, and where they have changed.
void gradient_inputs_connect(gradient_sweep *s);
void gradient_inputs_clear(gradient_sweep *s); // nothing depends on them
// From now on those of a map; the tape has others than before.
void gradient_inputs_use(gradient_sweep *s, const snw_map *map);
void gradient_inputs_forget(gradient_sweep *s);
// Sizes of inputs, from the reports of a run.
void gradient_inputs_note(gradient_sweep *s, const snw_step_report *r);
// Derivatives of the scalars by them += factors times those of the margin of an event.
void gradient_inputs_fold(gradient_sweep *s);
// As gradient_from_back.
void gradient_inputs_from(gradient_sweep *s, const snw_map *map);
// Derivatives by the held inputs += those of the products of a map.
SNW_NODISCARD snw_status gradient_inputs_contract(gradient_sweep *s, const snw_map *map, bool frame,
                                                  snw_error *err);
bool gradient_inputs_measure(const gradient_sweep *s); // are these the only ones that are wanted?
// s->value <- products of s->aim with a model at the state of a map.
void gradient_aim_products(gradient_sweep *s, const snw_model *m, const snw_map *map);
// The sweep comes to where inputs were found.
SNW_NODISCARD snw_status gradient_inputs_back(gradient_sweep *s, const snw_map *map,
                                              snw_error *err);
// The same forward: derivatives of the inputs by all variables.
SNW_NODISCARD snw_status gradient_inputs_forward(gradient_sweep *s, const snw_map *map,
                                                 snw_error *err);
// Is any input held? Their number; the derivative of input k by an entry; out (size) <- derivatives
// by it of what `evaluate` gives at a map. scratch: 2 size
bool gradient_inputs_act(const gradient_sweep *s);
int gradient_inputs_count(const gradient_sweep *s);
double gradient_inputs_by(const gradient_sweep *s, int k, int entry);
typedef void gradient_inputs_evaluate(gradient_sweep *s, const snw_model *m, const snw_map *map,
                                      int size, double *out);
void gradient_inputs_along(gradient_sweep *s, gradient_inputs_evaluate *evaluate,
                           const snw_map *map, int k, int size, double *out, double *scratch);
// Are targets, limits and the laws of inputs the same in another model, so that it differs in what
// the equations read alone?
bool gradient_inputs_are_same(const gradient_sweep *s, const snw_model *m, const snw_model *other);

// ---- products with maps, gradient_adjoint.c -----------------------------------------------------

// s->value <- derivative-free products of a model with what is differentiated at a map.
void gradient_products(gradient_sweep *s, const snw_model *m, const snw_map *map, bool frame);
// dJ += their derivatives by numbers, laws and held inputs.
SNW_NODISCARD snw_status gradient_contract(gradient_sweep *s, const snw_map *map, bool frame,
                                           snw_error *err);

// ---- directions, gradient_direction.c -----------------------------------------------------------

// The variant gets the choice of rows of redundant loops of m; false: it has other sizes.
bool gradient_freeze_rows(const snw_model *m, snw_model *to);
// The models of a direction at all samples, and at the fine ones.
SNW_NODISCARD snw_status gradient_open_samples(const gradient_sweep *s, gradient_direction *d,
                                               snw_error *err);
SNW_NODISCARD snw_status gradient_open_fine(const gradient_sweep *s, gradient_direction *d,
                                            snw_error *err);
// by (n) <- those of two estimates, from samples and from fine ones, with the smaller difference
// between orders 6 and 4. coarse and fine_coarse are those of order 4.
void gradient_choose_estimates(int n, double *by, double *coarse, const double *fine,
                               const double *fine_coarse);
// Do differences of orders 6 and 4 agree? Those of n functions that are not smooth do not.
bool gradient_is_resolved(int n, const double *by, const double *coarse);
// The laws (with the first numbers), and as many numbers of the file from *entry on as are done at
// once; slopes of those that are gathered.
SNW_NODISCARD snw_status gradient_open_directions(gradient_sweep *s, int *entry, snw_error *err);
void gradient_close_directions(gradient_sweep *s);
// Number of directions of the law whose first one is `first`.
int gradient_directions_of_law(const gradient_sweep *s, int first);
// dJ of the entries += the derivatives d->by along a direction and, of a law, along those of its
// rates, which follow it, at time t. Returns the number of directions used.
int gradient_add_direction(gradient_sweep *s, gradient_direction *d, double t);

// ---- numbers that are gathered, gradient_group.c ------------------------------------------------

// Slopes of all numbers of the file that can be moved together.
SNW_NODISCARD snw_status gradient_find_slopes(gradient_sweep *s, snw_error *err);
// *enough <- the number of the file enters the numbers of the models only; its slope is kept then.
SNW_NODISCARD snw_status gradient_find_slope(gradient_sweep *s, gradient_direction *d, bool *enough,
                                             snw_error *err);
// dJ += the products of the slopes with the derivatives by the numbers.
SNW_NODISCARD snw_status gradient_add_slopes(gradient_sweep *s, snw_error *err);
// Error of derivatives by a parameter p and their size, both times p: with the units of the scalars
// they are compared with those of other parameters.
void gradient_note_error(gradient_sweep *s, double p, double error, double size);

// ---- numbers of all models, gradient_numbers.c --------------------------------------------------

// Numbers of the vector; stiffness, damping and inertia of rods as those of their sections
// (snw_model_arrays_by_sections)?
size_t gradient_numbers_size(const gradient_sweep *s);
void gradient_numbers_by_sections(const gradient_sweep *s, bool yes);
// Do the equations of a model with its phases differ from those of the run in the vector only?
bool gradient_numbers_only(const gradient_sweep *s, const snw_robot_model *model);
// out <- the vector of a model (NULL: of the run).
SNW_NODISCARD snw_status gradient_numbers_read(const gradient_sweep *s,
                                               const snw_robot_model *model, double *out,
                                               snw_error *err);
// out (size) <- for rounding, of each number the largest of its matrix; noise (size) <- change of
// a number that is none.
void gradient_numbers_scale(const gradient_sweep *s, const double *x, double *out, double *noise);
// out <- derivatives of a scalar by the vector, after the sweep.
void gradient_numbers_bars(const gradient_sweep *s, int scalar, bool sections, double *out);
// Does a coordinate move by a law whose numbers are gathered? The bars of these laws += those of
// the initial state, once after the sweep.
bool gradient_follows_law(const snw_model *m, int drive);
SNW_NODISCARD snw_status gradient_numbers_start_motions(gradient_sweep *s, snw_error *err);
// Tells the arrays which of their parts the slopes need.
void gradient_numbers_need(const gradient_sweep *s);

// ---- the initial state, gradient_start.c --------------------------------------------------------

// Does the run begin with a motion, which depends on the initial state?
bool gradient_begins_moving(const gradient_sweep *s);
// q, v of `to` <- initial state of model m at p, closed, with velocities that the rows allow;
// driven coordinates whose laws are gathered move as `motion` (ndrive) says, NULL: by their laws.
SNW_NODISCARD snw_status gradient_closed_start(const gradient_sweep *s, const double *p,
                                               const snw_model *m, const snw_jet *motion,
                                               snw_state *to, snw_error *err);
SNW_NODISCARD snw_status gradient_start_open(const gradient_sweep *s, gradient_start *w,
                                             snw_error *err);
void gradient_start_close(gradient_start *w);
// out (2 nv) <- derivative of the initial configuration and velocities along a direction (NULL:
// of entry `entry` of p).
SNW_NODISCARD snw_status gradient_start_samples(const gradient_sweep *s, gradient_direction *d,
                                                int entry, gradient_start *w, double *out,
                                                snw_error *err);
// out (nsignal) <- derivative of the initial values of the states of laws along a direction.
SNW_NODISCARD snw_status gradient_start_states(const gradient_sweep *s, gradient_direction *d,
                                               double *out, snw_error *err);
// dJ += the part of the initial state: of the present directions and, at first, of its own entries.
SNW_NODISCARD snw_status gradient_add_starts(gradient_sweep *s, bool first, snw_error *err);

// ---- sensitivities along the run, gradient_forward.c --------------------------------------------

SNW_NODISCARD snw_status gradient_sweep_forward(gradient_sweep *s, snw_error *err);
