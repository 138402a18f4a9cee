// SPDX-License-Identifier: MIT
//
// optimize.h: numbers of a model, and laws through knots, for which a cost is least within bounds
// and constraints: optimal motion, gaits, co-design. Equations in docs/theory.md 7.6.
//
//   snw_optimize_options o = *snw_robot_model_optimize(model); // block `optimize:` of the file
//   snw_optimize_result *best;
//   if (snw_optimize_run(model, &o, &best, &err) == SNW_OK) {
//       printf("%g at %s = %g\n", best->cost, best->variable[0].name, best->variable[0].value);
//       snw_optimize_close(best);
//   }
#pragma once

#include "sinew/gradient.h"

#ifdef __cplusplus
extern "C" {
#endif

// A number of the model, or a law through knots; initial values are given by numbers of the file.
typedef struct snw_optimize_variable {
    snw_gradient_variable of;
    double low, high; // bounds, SI; NaN: none
    double start;     // NaN: the value of the file
    double scale;     // typical change; NaN: high - low, else |start|, else 1
    double effort;    // of a law: adds effort times the integral of its square over time
    double until;     // end of the law, s: of the last piece of SNW_KNOTS_HOLD
} snw_optimize_variable;

// A scalar (gradient.h) that must lie in a range. NaN: no limit; equal limits: an equality. The
// upper limit of max(e) and the lower one of min(e) hold at the instants of the run, in 100 parts
// of it: where two instants compete, the extreme of all has a corner, at which no method converges.
typedef struct snw_optimize_constraint {
    const char *value;
    double low, high;
} snw_optimize_constraint;

#define SNW_OPTIMIZE_LIST(X)                                                                       \
    X(SNW_OPTIMIZE_SLSQP, "slsqp", "sequential quadratic programming, for any constraints")        \
    X(SNW_OPTIMIZE_MMA, "mma", "moving asymptotes, for many variables without equalities")         \
    X(SNW_OPTIMIZE_CCSAQ, "ccsaq", "separable quadratic approximations, likewise")

typedef enum snw_optimize_method {
#define X(method, name, meaning) method,
    SNW_OPTIMIZE_LIST(X)
#undef X
        SNW_OPTIMIZE_METHODS
} snw_optimize_method;

// State of the search after an evaluation.
typedef struct snw_optimize_evaluation {
    int number;       // from 1
    double cost;      // with efforts
    double violation; // largest excess over a limit, relative to the scale of its constraint
    int nvariable, nscalar;
    const double *p;  // nvariable: entries of the variables, SI
    const double *J;  // nscalar: cost, unless it has none, then the constraints
    const double *dJ; // nscalar x nvariable; NULL: not computed
} snw_optimize_evaluation;

typedef struct snw_optimize_options {
    int nvariable;
    const snw_optimize_variable *variable;
    const char *cost; // a scalar; NULL: only the efforts of the laws
    int maximise;     // not 0: the negative of the cost is minimised
    int nconstraint;
    const snw_optimize_constraint *constraint;
    snw_optimize_method method;
    snw_gradient_method gradient; // SNW_GRADIENT_AUTO: differences of whole runs where nothing else
                                  // works
    double step;     // converged when no variable changes by more of its scale; 0: 1e-10
    double feasible; // violation of constraints, relative to their scales; 0: 1e-9
    int evaluations; // most, those of the start and of the result included; 0: 500
    void *user;      // of the hooks, each of which may be NULL
    // After each evaluation. Another result than SNW_OK ends the search with it.
    snw_status (*evaluated)(void *user, const snw_optimize_evaluation *e);
    // Before evaluation `number` at p: 1 when J and dJ (NULL: not wanted) are known and set.
    int (*recall)(void *user, int number, const double *p, double *J, double *dJ);
} snw_optimize_options;

SNW_API snw_optimize_options snw_optimize_defaults(void);

// Number of scalars of an evaluation: the cost, unless there is none, and one for each constraint,
// but 100, of 100 parts of the run, for max(e) with an upper and min(e) with a lower limit only.
SNW_API int snw_optimize_scalars(const snw_optimize_options *how);

// The block `optimize:` of the file; NULL: it has none. It belongs to the model.
SNW_API const snw_optimize_options *snw_robot_model_optimize(const snw_robot_model *m);

typedef struct snw_optimize_entry {
    const char *name, *unit;
    double value, start, low, high; // infinite: no bound
    int at;                         // -1: at its lower bound, 1: at the upper one
    double price; // change of the least cost per unit by which that bound is moved; 0: at none
    int idle;     // 1: neither cost nor a constraint changes with it, at the start and here
} snw_optimize_entry;

typedef struct snw_optimize_limit {
    const char *name; // text of the scalar
    double value, low, high;
    int at;
    double price; // likewise
} snw_optimize_limit;

typedef struct snw_optimize_result {
    double cost; // with efforts; that of the file when maximised
    int nvariable;
    const snw_optimize_entry *variable; // entries of the variables, knots one by one
    int nconstraint;
    const snw_optimize_limit *constraint;
    double violation;   // as of snw_optimize_evaluation
    double optimality;  // what remains of the gradient of cost and active constraints, relative to
                        // that of the cost at the start
    const char *reason; // why the search ended
    int evaluations;
    snw_gradient_info gradient; // of the last evaluation: method and error; of differences the
                                // error is that of order 4, theirs is smaller
    int nset;                   // overrides "path=value" that set the variables
    const char *const *set;
} snw_optimize_result;

// Minimise. On success *out belongs to the caller, who calls snw_optimize_close. Where no minimum
// was found (SNW_E_DIVERGED: constraints that cannot be met, too many evaluations; SNW_E_STOPPED)
// *out is set, too, to the last point. SNW_E_ARGUMENT, SNW_E_PARSE, SNW_E_MODEL: a name, an
// expression, the model; or the library that does the work (NLopt) was missing when this one was
// built.
SNW_API SNW_NODISCARD snw_status snw_optimize_run(snw_robot_model *m,
                                                  const snw_optimize_options *how,
                                                  snw_optimize_result **out, snw_error *err);
SNW_API void snw_optimize_close(snw_optimize_result *r); // NULL is fine

#ifdef __cplusplus
}
#endif
