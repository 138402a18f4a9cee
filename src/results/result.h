// SPDX-License-Identifier: MIT
//
// result.h: result files. One HDF5 file holds the runs of one model. It can be read at any time:
// while it grows, when it is finished, and after the writer was killed. docs/results.md describes
// the layout for other programs.
#pragma once

#include "study/record.h"

#include <stddef.h>

// ---- fields of a frame -------------------------------------------------------------------------

// Datasets along the frames: field, name in the file, meaning.
#define SNW_RESULT_FIELDS(X)                                                                       \
    X(SNW_RESULT_T, "t", "time, s")                                                                \
    X(SNW_RESULT_STAGE, "stage_index", "step of the study, an index into `stage`")                 \
    X(SNW_RESULT_Q, "q", "coordinates")                                                            \
    X(SNW_RESULT_V, "v", "their rates")                                                            \
    X(SNW_RESULT_POSE, "pose", "x y z in m and qw qx qy qz of each node, in the world")            \
    X(SNW_RESULT_COLUMNS, "columns", "values of the probes, SI")                                   \
    X(SNW_RESULT_ENERGY, "energy",                                                                 \
      "kinetic, elastic, gravity, dissipated, work, scheme, balance, J")                           \
    X(SNW_RESULT_STATS, "stats", "statistics of the solver")                                       \
    X(SNW_RESULT_LOAD, "load", "torque and force of each load in the world, N m and N")            \
    X(SNW_RESULT_LOOP, "loop", "the same of each loop, exerted on its second site")                \
    X(SNW_RESULT_CONTACT, "contact", "the same of each ground, about the origin")                  \
    X(SNW_RESULT_EFFORT, "effort", "tension or pressure of each tendon or chamber, N or Pa")       \
    X(SNW_RESULT_PRESENT, "present",                                                               \
      "1 or 0: whether each conditional body, loop or drive is active")                            \
    X(SNW_RESULT_FORCE_FIELD, "force_field",                                                       \
      "x y z of the field at each point where one acts, in the world: T of magnetic fields, N/m "  \
      "along rods and N on bodies of forces, m/s^2 of accelerations")                              \
    X(SNW_RESULT_FOLD, "fold", "derivatives dt/dm of a fold; NaN in frames that show none, SI")

typedef enum snw_result_field {
#define X(field, name, meaning) field,
    SNW_RESULT_FIELDS(X)
#undef X
        SNW_RESULT_NFIELD
} snw_result_field;

enum { SNW_RESULT_POSE_WIDTH = SNW_FRAME_POSE }; // numbers per node

// Names of the entries of rows of energies and statistics, in their order.
enum {
    SNW_ENERGIES = sizeof(snw_energy) / sizeof(double),
    SNW_STATS = sizeof(snw_stats) / sizeof(double)
};
extern const char *const snw_energy_name[SNW_ENERGIES];
extern const char *const snw_stats_name[SNW_STATS];

// State of a run: identifier, word in the file.
#define SNW_RESULT_STATES(X)                                                                       \
    X(SNW_RESULT_PENDING, "pending") /* no frame yet */                                            \
    X(SNW_RESULT_RUNNING, "running") /* also of a killed run */                                    \
    X(SNW_RESULT_FINISHED, "finished")                                                             \
    X(SNW_RESULT_FAILED, "failed")                                                                 \
    X(SNW_RESULT_STOPPED, "stopped")

typedef enum snw_result_state {
#define X(state, word) state,
    SNW_RESULT_STATES(X)
#undef X
} snw_result_state;

// Static text; never NULL.
const char *snw_result_field_name(snw_result_field field);
const char *snw_result_state_name(snw_result_state state);

// Numbers of a field in one frame of a run.
size_t snw_result_width(const snw_run_info *info, snw_result_field field);

// row[field] <- the numbers of a frame; width: snw_result_width of each field.
void snw_result_rows(const snw_frame *f, const size_t width[SNW_RESULT_NFIELD],
                     double *const row[SNW_RESULT_NFIELD]);

// ---- writing -----------------------------------------------------------------------------------

typedef struct snw_result snw_result; // a file open for reading

// A file being written. Recorders of different runs may be used from different threads.
typedef struct snw_results snw_results;

// Create the file for `nrun` runs with distinct names. It grows beside `path` under the name
// `.NAME.partial-PID` and replaces `path` with its first frame, so a run that fails at once leaves
// an older file unchanged. `info` and `model_text` are not needed after the call. SNW_E_IO with
// path and reason: no such folder, not writable, `path` is a folder, disk full.
SNW_NODISCARD snw_status snw_results_create(const char *path, int nrun,
                                            const snw_run_info *const *info, const char *model_text,
                                            snw_results **out, snw_error *err);

// Recorder of run `index`; valid until the file is closed. Frames are buffered. They are written
// when the buffer is full, or when a frame arrives and the oldest one has waited for a second. A
// failed write ends the run; frames written before stay readable.
snw_recorder snw_results_recorder(snw_results *r, int index);

// Begin run `index` with the first `nframe` frames of a run of another file that has the same
// columns and sizes, and with `save`, the checkpoint that belongs to them (NULL: none). `whole`:
// the run had finished and receives no more frames. Call before any frame. The file replaces its
// target with the first frame that is not a copy.
SNW_NODISCARD snw_status snw_results_copy(snw_results *r, int index, snw_result *from, int run,
                                          int nframe, const double *save, bool whole,
                                          snw_error *err);

// Write the frames that have waited for `age` seconds or more; 0 writes all. Cheap when there are
// none, so it may be called between the increments of a slow run.
SNW_NODISCARD snw_status snw_results_flush(snw_results *r, double age, snw_error *err);

// Has the file replaced its target, and was it neither removed nor replaced since?
bool snw_results_in_place(const snw_results *r);

// Write the buffered frames and close. Runs whose end was not recorded are marked stopped. A file
// without frames replaces its target only when all its runs finished. Frees `r`, also on failure;
// NULL is fine.
SNW_NODISCARD snw_status snw_results_close(snw_results *r, snw_error *err);

// ---- reading -----------------------------------------------------------------------------------

// Open, for one thread, a finished, growing or abandoned file. SNW_E_IO when it cannot be read,
// SNW_E_PARSE when it is damaged, cut off or not of this format.
SNW_NODISCARD snw_status snw_result_open(const char *path, snw_result **out, snw_error *err);
void snw_result_close(snw_result *r); // NULL is fine

// Data of the whole file; texts belong to `r`.
const char *snw_result_model(const snw_result *r);   // text of the model file
const char *snw_result_version(const snw_result *r); // version of Sinew that wrote it
const char *snw_result_created(const snw_result *r); // "2024-05-31T12:00:00Z"

// Number of runs, in the order written.
int snw_result_runs(const snw_result *r);

// Data of one run; pointers belong to `r`. `message` (NULL: not wanted) is empty unless the run
// failed or was stopped.
const snw_run_info *snw_result_info(const snw_result *r, int run);
int snw_result_frames(const snw_result *r, int run);
snw_result_state snw_result_state_of(const snw_result *r, int run, const char **message);

// out <- `field` of `nframe` frames from `first` on, nframe x snw_result_width, frame by frame. The
// range must lie within the frames of the run.
SNW_NODISCARD snw_status snw_result_read(snw_result *r, int run, snw_result_field field, int first,
                                         int nframe, double *out, snw_error *err);

// Last checkpoint of the run: save <- its info.nsave numbers, *nframe <- number of frames after
// which it was taken, 0 when there is none.
SNW_NODISCARD snw_status snw_result_checkpoint(snw_result *r, int run, int *nframe, double *save,
                                               snw_error *err);

// *out <- the linear model that a step of the run has made, which belongs to `r`; NULL: none.
struct snw_linear_model;
SNW_NODISCARD snw_status snw_result_linear(snw_result *r, int run, int stage,
                                           const struct snw_linear_model **out, snw_error *err);

// out <- one probe column, nframe numbers.
SNW_NODISCARD snw_status snw_result_read_column(snw_result *r, int run, int column, int first,
                                                int nframe, double *out, snw_error *err);
