// SPDX-License-Identifier: MIT
//
// integrator.h: what carries a state through time, behind one interface: implicit steps, the
// conserving scheme, adaptive integrators.
#pragma once

#include "integrate/implicit.h"
#include "integrate/stats.h"
#include "integrate/step_control.h"
#include "model/desc.h"

typedef struct snw_integrator {
    void *self;
    double grid; // length of the steps it is meant to take, s; 0: as it likes
    // From now on an advance that is asked to stop ends with SNW_E_STOPPED, soon.
    void (*set_interrupt)(void *self, snw_interrupt interrupt);
    snw_status (*start)(void *self, const snw_state *s, snw_error *err);
    // Exactly to the time `to`, in one step or more. Laws may jump at `limit` >= to (INFINITY:
    // nowhere) and are taken from the left there.
    snw_status (*advance)(void *self, double to, double limit, snw_stats *took, snw_error *err);
    // After a jump of the loads, with z (nsignal) remembered from now on; NULL: what is remembered
    // already.
    snw_status (*restart)(void *self, const double *z, snw_error *err);
    // After the nodes of rods were placed anew: the same motion goes on. NULL: restart.
    void (*renew)(void *self);
    void (*undo)(void *self); // undo the last advance (once), of models with signals
    void (*set_manual)(void *self,
                       const snw_manual_inputs *manual); // from now on, in place of laws
    const snw_state *(*state)(const void *self);
    const snw_inputs *(*inputs)(const void *self);
    const snw_work *(*work_at)(void *self);
    double (*condition)(void *self); // of Newton's matrix; NULL, or NaN: there is none
    snw_work_done (*work)(const void *self);
    double (*global_error)(void *self,
                           double *t); // as snw_implicit_global_error; NULL: no estimate
    // All that the steps to come depend on, snw_integrator_saves numbers. `load` stands for
    // `start`, and the steps after it have the bits of those after `save`. NULL: it begins only at
    // the beginning.
    void (*save)(const void *self, double *out);
    snw_status (*load)(void *self, const double *in, snw_error *err);
    // Of the shooting engine: its fields, from which strains, wrenches and energies come. NULL:
    // coordinates have them.
    const struct snw_shooter *(*shooter)(const void *self);
    void (*close)(void *self);
} snw_integrator;

// The time at which to ask laws at the end of a step: a breath before a jump.
static inline double snw_before_jump(double to, double limit) {
    return limit <= to ? to - 1e-12 * (1 + (to < 0 ? -to : to)) : to;
}

// Numbers that the mover of a step saves; 0 when it does not. Of the shooting engine one is made to
// know.
size_t snw_integrator_saves(const snw_model *m, const snw_step_desc *step);
// Of those of the shooting engine the ones before its fields.
size_t snw_integrator_shooting_head(const snw_model *m);

// The mover of the shooting engine. It begins with the fields of `from`, or, where that is NULL, of
// the state.
SNW_NODISCARD snw_status snw_integrator_shooting(const snw_model *m, const snw_step_desc *step,
                                                 const struct snw_shooter *from,
                                                 snw_integrator *out, snw_error *err);

// Can the scheme of a step move this model? If not, the fault with the place of the step.
SNW_NODISCARD snw_status snw_integrator_check(const snw_model *m, const snw_step_desc *step,
                                              snw_error *err);

struct snw_projection;

// Rows of redundant loops that are kept (snw_projection_choose), chosen anew at the mover's state
// where others are far better; then it restarts. `as` and m: the assembly and the model that it
// moves; as NULL: no loops.
SNW_NODISCARD snw_status snw_integrator_choose_rows(const snw_integrator *it,
                                                    struct snw_projection *pr, snw_model *m,
                                                    snw_error *err);
// Advance to the time *to, or, where rows of redundant loops lose their rank before it, to *to
// nearer, with others chosen.
SNW_NODISCARD snw_status snw_integrator_advance(const snw_integrator *it, struct snw_projection *pr,
                                                snw_model *m, double *to, double limit,
                                                snw_stats *took, snw_error *err);

// The mover a step asks for, the shooting engine aside; `every` is the time between frames, 0 when
// not given.
SNW_NODISCARD snw_status snw_integrator_open(const snw_model *m, const snw_step_desc *step,
                                             double every, snw_integrator *out, snw_error *err);
