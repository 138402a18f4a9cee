// SPDX-License-Identifier: MIT
//
// step_control.h: advances an implicit integrator to a given instant: by one step, by halved steps
// where Newton's method fails, or by steps chosen from their local error.
#pragma once

#include "integrate/first_step.h"
#include "integrate/implicit.h"
#include "integrate/stats.h"

// Interface of a single-step integrator; each function is as its namesake in integrate/implicit.h.
typedef struct snw_stepper {
    snw_status (*start)(void *self, const snw_state *s, snw_error *err);
    // These three are NULL where steps have the length that is asked for.
    double (*limit)(void *self, double h, double longest);
    double (*retry_length)(void *self, double h, double longest, bool patient);
    void (*shorten)(void *self, double h, double longest);
    // Takes what memory the next step needs, which allocates nothing; may be NULL.
    snw_status (*make_room)(void *self);
    // One step of length h with inputs evaluated at t_laws: its end, or just before it where they
    // are discontinuous there. On failure nothing has changed.
    snw_status (*step)(void *self, double h, double t_laws, snw_chord_info *info);
    void (*undo)(void *self);             // undoes the last step
    void (*accept)(void *self, double h); // confirms the last step; may be NULL
    double (*global_error)(void *self, double *t, double *failed); // may be NULL
    snw_status (*restart)(void *self, const double *z, snw_error *err);
    double (*error)(
        const void *self); // local error of the configuration, relative to typical values
    // Fails if an input has no finite value at time t, and names it.
    snw_status (*check)(void *self, double t, snw_error *err);
    const snw_state *(*state)(const void *self);
    const snw_inputs *(*inputs)(const void *self);
    const snw_work *(*work_at)(void *self);
    void (*set_manual)(void *self, const snw_manual_inputs *manual);
    void (*set_watch)(void *self, snw_step_watch watch); // NULL: its maps are not reported
    void (*use)(void *self, const snw_model *m);
    double (*condition)(void *self);
    snw_work_done (*work)(const void *self);
    void (*save)(const void *self, double *out);
    void (*load)(void *self, const double *in);
    void (*destroy)(void *self);
    const char *advice; // remedy named in the message when no step succeeds
} snw_stepper;

// Asked between attempted steps; true: end with SNW_E_STOPPED. `stop` may be NULL.
typedef struct snw_interrupt {
    bool (*stop)(void *user);
    void *user;
} snw_interrupt;

static inline bool snw_interrupted(snw_interrupt i) { return i.stop && i.stop(i.user); }

// Called after each accepted step of an advance but the last, with the integrator at the end of the
// step; true: end the advance there. Such an advance must be undone. `step` may be NULL.
typedef struct snw_step_monitor {
    bool (*step)(void *user);
    void *user;
} snw_step_monitor;

static inline bool snw_monitor_stops(snw_step_monitor i) { return i.step && i.step(i.user); }

typedef struct snw_step_control {
    bool control;
    bool fixed;       // obstacles do not shorten steps
    double tolerance; // on the local error of a step, with control
    double power;     // the local error scales with h^power
    double h;         // length of the next step, s; 0 with control: estimate it
    double longest;   // longest step, s; INFINITY, with control: limited by the instants only
    double part;      // of the lengths that are chosen, by which they are shorter; 0: 1
    double least;     // shortest step, s; 0: limited by rounding only
    long patience;    // Newton iterations allowed in one advance; 0: limited by the attempts only
    snw_interrupt interrupt;
    snw_step_monitor monitor;
} snw_step_control;

// Fails when a link is about to come out of an obstacle on another side, at time t.
SNW_NODISCARD snw_status snw_step_check_depth(const snw_model *m, const snw_work *w, double t,
                                              snw_error *err);

// Advances to exactly the time `to`; inputs may be discontinuous at `limit` >= to. The number of
// attempted steps is bounded. On failure or interruption the state is that of the last accepted
// step; so it is, with SNW_OK, when the monitor ends the advance.
SNW_NODISCARD snw_status snw_step_control_advance(snw_step_control *p, const snw_model *m,
                                                  const snw_stepper *k, void *self, double to,
                                                  double limit, snw_stats *took, snw_error *err);
