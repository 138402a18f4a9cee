// SPDX-License-Identifier: MIT
//
// study.h: runs the study of a model to memory (frames to a callback, to arrays, or both), and all
// runs of a model file to a result file.
//
// A study has its own states and leaves robots of the model alone. Different threads may run
// studies of one model. Hooks are called from the thread that runs the study, between steps.
#pragma once

#include "sinew/inverse.h"
#include "sinew/linear.h"
#include "sinew/model.h"
#include "sinew/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Fields of a frame; the numbers of a field are those of result files (docs/results.md).
#define SNW_FIELD_LIST(X)                                                                          \
    X(SNW_FIELD_TIME, "t")           /* 1: s */                                                    \
    X(SNW_FIELD_STEP, "stage_index") /* 1: step of the study, a part of the model */               \
    X(SNW_FIELD_Q, "q")              /* nq: coordinates, in the strain bases of the file */        \
    X(SNW_FIELD_V, "v")              /* nv: velocities, likewise */                                \
    X(SNW_FIELD_POSE, "pose")        /* 7 per node: x y z (m), qw qx qy qz, in the world */        \
    X(SNW_FIELD_COLUMN, "columns")   /* recorded columns of probes, SI */                          \
    X(SNW_FIELD_ENERGY, "energy")    /* 7: kinetic, elastic, gravity, dissipated, work, scheme, */ \
                                     /* balance, J */                                              \
    X(SNW_FIELD_STATS, "stats")      /* 20: what the solver did */                                 \
    X(SNW_FIELD_LOAD, "load")        /* 6 per load: torque, force, world axes */                   \
    X(SNW_FIELD_LOOP, "loop")        /* 6 per loop: wrench on its second site, world axes */       \
    X(SNW_FIELD_CONTACT, "contact")  /* 6 per contact: wrench about the origin of the world */     \
    X(SNW_FIELD_EFFORT, "effort")    /* 1 per tendon or chamber: tension (N), pressure (Pa) */     \
    X(SNW_FIELD_PRESENT, "present")  /* 1 per condition: 1 active, 0 not */                        \
    X(SNW_FIELD_FORCE_FIELD, "force_field") /* 3 per point where a field acts, world axes: T of */ \
                                            /* magnetic fields, N/m or N of others */              \
    X(SNW_FIELD_FOLD, "fold") /* 1 per constant under `by` of each path step: dt/dm of */          \
                              /* the fold that the frame shows; else NaN */

typedef enum snw_field_kind {
#define X(field, name) field,
    SNW_FIELD_LIST(X)
#undef X
        SNW_FIELDS
} snw_field_kind;

// A study with the frames recorded so far.
typedef struct snw_study snw_study;

// Hooks; each may be NULL. `user` is passed to all of them.
typedef struct snw_study_hooks {
    void *user;
    // A new frame. Rows of the fields are snw_study_row(s, field); valid during the call.
    // Another result than SNW_OK ends the study with that status.
    snw_status (*frame)(void *user, const snw_study *s);
    // `fraction` of the whole study is done, 0 to 1; name of the present step, time in s.
    void (*progress)(void *user, const char *step, double t, double fraction);
    // Not 0: end with SNW_E_STOPPED. Asked between steps and between iterations of equilibria.
    int (*cancel)(void *user);
    // A warning, one line.
    void (*warn)(void *user, const char *text);
} snw_study_hooks;

// Prepare the study of a model: compile it and check its steps. On success *out belongs to the
// caller, who calls snw_study_close; it keeps a reference of the model.
SNW_API SNW_NODISCARD snw_status snw_study_create(snw_robot_model *m, snw_study **out,
                                                  snw_error *err);
SNW_API void snw_study_close(snw_study *s); // NULL is fine

// Run it from the beginning; frames of an earlier run are dropped. `keep` (0 or 1): whether frames
// are kept in arrays. `hooks` may be NULL. Also after a failure (SNW_E_DIVERGED, ...) or a
// cancellation (SNW_E_STOPPED) the frames until then can be read; the last one of an equilibrium
// that was not reached shows it under a fraction of the load, which is in its stats.
SNW_API SNW_NODISCARD snw_status snw_study_run(snw_study *s, int keep, const snw_study_hooks *hooks,
                                               snw_error *err);

// ---- result files

// Runs of a model file to be computed, with their overrides.
typedef struct snw_study_choice {
    int nset, nrun;
    const char *const *set; // overrides "path=value"
    const char *const *run; // names of runs; none: all
    int resume;     // not 0: continue an unfinished `output` of the same model, overrides and runs
    int increments; // each run ends after so many increments or time steps, as a stopped one, which
                    // is no failure; 0: no limit
} snw_study_choice;

// Do the study of a model file as `sinew run` does: all its runs, to the result file `output`
// (docs/results.md), with the same bits. An older file of that name is replaced when the first
// frame is written. `choice` and `hooks` may be NULL; `frame` of the hooks is not called,
// `progress` has the fraction of all runs, and the name of the run before that of the step where
// there are several; warnings may come once for each run. The other runs are done after a failed
// one. Returns the status of the first failure. Also then, and when cancelled (SNW_E_STOPPED), the
// file has all frames until then, and `resume` continues it with the bits of an uninterrupted run.
SNW_API SNW_NODISCARD snw_status snw_study_write(const char *path, const char *output,
                                                 const snw_study_choice *choice,
                                                 const snw_study_hooks *hooks, snw_error *err);

// ---- frames

// Number of frames kept.
SNW_API int snw_study_frames(const snw_study *s);
// Numbers of a field in one frame.
SNW_API int snw_study_width(const snw_study *s, snw_field_kind field);
// The kept numbers of a field, frames x width, frame by frame; NULL when there are none. The
// pointer is valid until the next run or close.
SNW_API const double *snw_study_array(const snw_study *s, snw_field_kind field);
// The numbers of a field of the last frame (width).
SNW_API const double *snw_study_row(const snw_study *s, snw_field_kind field);
// Name of recorded column k, "tip.x"; NULL: there is none. It belongs to the study.
SNW_API const char *snw_study_column(const snw_study *s, int k);

// ---- special points of path steps

// A fold, a bifurcation, the onset of flutter, or a cusp of a curve of folds.
typedef struct snw_special_record {
    int step;          // of the study, from 0
    const char *kind;  // "fold", "branch", "flutter" or "cusp"
    int number;        // of its kind in the step, from 1
    int path;          // from 1: the first path, then other branches and curves of folds
    double t;          // the parameter of the path: time, s, or a constant of the file, SI units
    double arc;        // arc length from the start of its path
    int multiplicity;  // eigenvalues that vanish together at a bifurcation; else 1
    int unstable;      // unstable directions there, besides those that vanish
    double frequency;  // of flutter, Hz; else NaN
    const char *moves; // coordinate that moves most in its mode; NULL: none
} snw_special_record;

// Number of special points of the last run, in the order of its steps.
SNW_API int snw_study_special_points(const snw_study *s);
// *out <- special point k, from 0; its texts belong to the study. SNW_E_ARGUMENT: there is none.
SNW_API SNW_NODISCARD snw_status snw_study_special_point(const snw_study *s, int k,
                                                         snw_special_record *out);
// Column k of the field SNW_FIELD_FOLD: name of its constant m of the file, *step <- the step whose
// folds it belongs to (NULL: not wanted). NULL: there is none. The name belongs to the study.
SNW_API const char *snw_study_fold_column(const snw_study *s, int k, int *step);
// dt/dm of fold k by a parameter that its step names under `by`, SI units; NaN for others.
SNW_API double snw_study_fold_derivative(const snw_study *s, int k, const char *parameter);

// ---- inverse steps

// Inputs that step `step` (from 0) found in the last run, at its last instant; NULL: not an inverse
// step, or not reached. They belong to the study until it runs again or is closed.
SNW_API const snw_inverse_result *snw_study_inverse(const snw_study *s, int step);

// ---- linear models

// The linear model, with its poles, that step `step` (from 0) made in the last run; NULL: not a
// linearize step, or not reached. It belongs to the study until it runs again or is closed.
SNW_API const snw_linear_model *snw_study_linear(const snw_study *s, int step);

#ifdef __cplusplus
}
#endif
