// SPDX-License-Identifier: MIT
//
// linear_view.h: a linear model in its public form (sinew/linear.h): names and units of states,
// inputs and outputs, values at the operating point, poles, and derivatives by numbers of the file.
// Used by the public robot and by `linearize` steps of studies.
#pragma once

#include "base/pool.h"
#include "integrate/implicit.h"
#include "sinew/linear.h"
#include "study/linear_inputs.h"
#include "study/linear_model.h"

enum { SNW_LINEAR_ROLES = SNW_STATE_RATE_BEFORE + 1 };

typedef struct snw_linear_view {
    snw_linear_model model; // first: the public part
    const snw_model *m;
    snw_pool *pool;
    snw_linear *linear;
    int ninput, noutput;
    snw_linear_input *of_input;
    snw_linear_output *of_output;
    const char **input_name, **input_unit;   // of of_input
    const char **output_name, **output_unit; // of of_output
    double *parameter;                       // ninput: values of numbers of the file; else NaN
    double *samples;                         // of numbers of the file
    double *increment;                       // nv: of a step, step.d
    snw_linear_step step;
    bool discrete;
    snw_step_tangent *tangent; // of a scheme whose steps are maps of their own; else NULL
    double tangent_time;       // at which the equations of its last step are those of the laws, s
    double difference;         // of derivatives by numbers of the file
    int nleft;                 // outputs and inputs left out before
    // of this file
    const char *const *q_name;
    snw_linear_signal *rate_of_input[3];        // names and units of inputs and their rates
    snw_linear_signal *named[SNW_LINEAR_ROLES]; // of all possible states, by role and index
    snw_linear_signal *state, *input, *output;
    snw_linear_pole *pole;
    const double *poles_of; // A of the continuous model, npoles_of x npoles_of
    double *continuous;     // memory for it
    int npoles_of;
} snw_linear_view;

// Memory for so many inputs and outputs of a model; SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_linear_view_open(const snw_model *m, size_t inputs, size_t outputs,
                                              snw_linear_view *v, snw_error *err);
void snw_linear_view_close(snw_linear_view *v);

// One more input; name and unit are kept by the caller.
void snw_linear_view_add(snw_linear_view *v, snw_linear_input input, const char *name,
                         const char *unit);
// One more input, a number of the file, with memory for its derivatives; after all outputs are
// known. SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_linear_view_add_parameter(snw_linear_view *v, const char *name,
                                                       const char *unit, snw_error *err);
// Options of a discrete model; SNW_E_ARGUMENT: err says why they are not possible.
SNW_NODISCARD snw_status snw_linear_view_choose_step(const snw_linear_options *how,
                                                     snw_linear_view *v, snw_error *err);
// After inputs, outputs and step are known: names, memory, the solver.
SNW_NODISCARD snw_status snw_linear_view_ready(snw_linear_view *v, bool three, snw_error *err);

// out (snw_linear_view_samples) <- residual, violations, outputs and rates of the variables of
// first order of a model with another value of a number of the file, at the state s; rotation (nseg
// + nobs): continuous rotation vectors, updated. in and w are overwritten.
void snw_linear_view_sample(const snw_linear_view *v, const snw_model *m, const snw_inputs *in,
                            const snw_state *s, snw_vec3 *rotation, snw_work *w, double *column,
                            double *out);
// Numbers of a sample.
size_t snw_linear_view_samples(const snw_linear_view *v);
// Derivatives by input i, a number of the file whose value is `value`, by differences of order 6
// with the step h; those of order 4 estimate the error. sample: as above, at a value.
typedef snw_status snw_linear_sample_fn(void *user, int i, double value, double *out,
                                        snw_error *err);
SNW_NODISCARD snw_status snw_linear_view_differentiate(snw_linear_view *v, int i, double value,
                                                       double h, snw_linear_sample_fn *sample,
                                                       void *user, snw_error *err);

// Has a scheme steps of increments with a past?
bool snw_linear_has_increments(snw_scheme_kind scheme);
// Stepper of the scheme of a discrete model; steps are never divided, and the first is as all
// others. Schemes of the families alpha and levels only.
SNW_NODISCARD snw_status snw_linear_view_stepper(const snw_linear_view *v, const snw_model *m,
                                                 const snw_manual_inputs *manual,
                                                 snw_implicit **out, snw_error *err);
// One such step from where the stepper is. SNW_E_DIVERGED: it was not solved.
SNW_NODISCARD snw_status snw_linear_view_do_step(const snw_linear_view *v, snw_implicit *im,
                                                 snw_error *err);

// Is the model that of a step done by v->tangent? That of collocation only where the robot moves.
bool snw_linear_view_maps(const snw_linear_view *v, bool moving);

// Then: the step from s with its derivatives. s <- its end, and step.d is set,
// unless the robot rests. Before derivatives by numbers of the file. Fails as snw_step_tangent_do
// and snw_step_tangent_prepare.
SNW_NODISCARD snw_status snw_linear_view_step(snw_linear_view *v, const snw_manual_inputs *manual,
                                              snw_state *s, snw_error *err);

// The model at s, under `in`, continuous or of the step that ended there; step.d is set. w is
// overwritten. moving: s has velocities.
SNW_NODISCARD snw_status snw_linear_view_compute(snw_linear_view *v, const snw_inputs *in,
                                                 const snw_state *s, const snw_vec3 *rotation,
                                                 bool moving, snw_work *w, snw_error *err);
// The public part <- the last solve at s, after snw_residual there.
void snw_linear_view_publish(snw_linear_view *v, const snw_inputs *in, const snw_state *s,
                             bool moving, const snw_work *w);
// Poles with frequencies and damping, and ranks.
SNW_NODISCARD snw_status snw_linear_view_analyse(snw_linear_view *v, snw_error *err);
