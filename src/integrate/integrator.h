// SPDX-License-Identifier: MIT
//
// integrator.h: interface of all time integrators: one-step implicit schemes, collocation,
// the energy-momentum conserving scheme, explicit and adaptive ones, and the shooting engine. Runs,
// the public API and live stepping advance a state through it.
#pragma once

#include "integrate/implicit.h"
#include "integrate/stats.h"
#include "integrate/step_control.h"
#include "model/desc.h"

typedef struct snw_integrator {
    void *self;
    snw_implicit *implicit; // one-step implicit scheme without error control behind it; NULL: none
    double grid;            // step length between instants, s; 0: chosen by the integrator
    // Makes later advances end with SNW_E_STOPPED soon after the interrupt asks for it.
    void (*set_interrupt)(void *self, snw_interrupt interrupt);
    // Reports the maps of the motion. NULL: they are not reported.
    void (*set_watch)(void *self, snw_step_watch watch);
    // Calls the monitor between the steps of later advances. NULL where undo is.
    void (*set_monitor)(void *self, snw_step_monitor monitor);
    snw_status (*start)(void *self, const snw_state *s, snw_error *err);
    // Integrates to exactly the time `to`, in one step or more. Inputs may be discontinuous at
    // `limit` >= to (INFINITY: nowhere); there their left limits are used.
    snw_status (*advance)(void *self, double to, double limit, snw_stats *took, snw_error *err);
    // Continues after a discontinuity of the inputs, with the signal memory z (nsignal) from now
    // on; NULL: unchanged.
    snw_status (*restart)(void *self, const double *z, snw_error *err);
    // From now on another model that fits (snw_model_fits): the nodes of rods were placed again.
    // Then renew continues the same motion; NULL: use restart.
    void (*use)(void *self, const snw_model *m);
    void (*renew)(void *self);
    void (*undo)(void *self); // undoes the last advance, once; of models with signals
    void (*set_manual)(void *self,
                       const snw_manual_inputs *manual); // overrides the laws from now on
    const snw_state *(*state)(const void *self);
    const snw_inputs *(*inputs)(const void *self);
    const snw_work *(*work_at)(void *self);
    double (*condition)(void *self); // condition number of Newton's matrix; NULL or NaN: none
    snw_work_done (*work)(const void *self);
    // As snw_implicit_global_error; NULL: no estimate.
    double (*global_error)(void *self, double *t, double *failed);
    // Largest violation of the law of hard contacts since the start, relative to the approach in
    // its step, *t its time and *contact its contact; NULL: no hard contacts.
    double (*contact_violation)(const void *self, double *t, int *contact);
    // Checkpoint: everything that later steps depend on, snw_integrator_saves numbers. `load`
    // replaces `start`; the steps after it equal those after `save` to the last bit. NULL: no
    // checkpoints.
    void (*save)(const void *self, double *out);
    snw_status (*load)(void *self, const double *in, snw_error *err);
    // Fields of the shooting engine, from which strains, wrenches and energies follow. NULL: they
    // follow from the generalised coordinates.
    const struct snw_shooter *(*shooter)(const void *self);
    void (*close)(void *self);
} snw_integrator;

// Time at which inputs are evaluated at the end of a step: just before a discontinuity at `limit`.
static inline double snw_before_jump(double to, double limit) {
    return limit <= to ? to - 1e-12 * (1 + (to < 0 ? -to : to)) : to;
}

// Size of the checkpoint of a step's integrator, in doubles; 0: it has none. For the shooting
// engine this creates a shooter to find out.
size_t snw_integrator_saves(const snw_model *m, const snw_step_desc *step);
// Numbers of a shooting checkpoint that precede its fields.
size_t snw_integrator_shooting_head(const snw_model *m);

// Integrator of the shooting engine. It starts from the fields of `from`, or, where that is NULL,
// from the state.
SNW_NODISCARD snw_status snw_integrator_shooting(const snw_model *m, const snw_step_desc *step,
                                                 const struct snw_shooter *from,
                                                 snw_integrator *out, snw_error *err);

// Fails, with the source location of the step, if its scheme does not support the model.
SNW_NODISCARD snw_status snw_integrator_check(const snw_model *m, const snw_step_desc *step,
                                              snw_error *err);

struct snw_projection;
struct snw_closure_rows;

// Selects the kept rows of redundant loop closures (snw_projection_choose) again at the present
// state if another selection is far better conditioned, and restarts in that case. pr and rows: the
// projection and the rows of the integrator's model; NULL: no loops, no redundant loops.
SNW_NODISCARD snw_status snw_integrator_choose_rows(const snw_integrator *it,
                                                    struct snw_projection *pr,
                                                    struct snw_closure_rows *rows, snw_error *err);
// Advances to the time *to. If the kept rows of redundant loop closures lose rank on the way,
// others are selected and *to may become an earlier time.
SNW_NODISCARD snw_status snw_integrator_advance(const snw_integrator *it, struct snw_projection *pr,
                                                struct snw_closure_rows *rows, double *to,
                                                double limit, snw_stats *took, snw_error *err);

// Opens the integrator that a step asks for, other than the shooting engine; `every` is the time
// between frames, 0: not given.
SNW_NODISCARD snw_status snw_integrator_open(const snw_model *m, const snw_step_desc *step,
                                             double every, snw_integrator *out, snw_error *err);
