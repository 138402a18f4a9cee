// SPDX-License-Identifier: MIT
//
// plan.h: plan of a sweep: a model, the numbers of it that vary, the results to keep. Rows of the
// plan are numbered; the values of a row follow from the plan, the seed and its number alone.
// Equations in docs/theory.md 7.9.
#pragma once

#include "base/pool.h"
#include "model/desc.h" // snw_source_location
#include "sinew/status.h"

#include <stdint.h>

// Methods: identifier, word of the plan, meaning.
#define SNW_SWEEP_METHODS(X)                                                                       \
    X(SNW_SWEEP_GRID, "grid", "every combination of the values, the last parameter fastest")       \
    X(SNW_SWEEP_LIST, "list", "the values side by side: row i has value i of each parameter")      \
    X(SNW_SWEEP_RANDOM, "random", "independent random points")                                     \
    X(SNW_SWEEP_LATIN, "latin_hypercube", "one point in each of `count` slices of each parameter") \
    X(SNW_SWEEP_SOBOL, "sobol", "Sobol' sequence, which fills space evenly")                       \
    X(SNW_SWEEP_SALTELLI, "saltelli", "pairs of Sobol' points for sensitivity indices of Sobol'")  \
    X(SNW_SWEEP_MORRIS, "morris", "paths that change one parameter at a time, for Morris' indices")

typedef enum snw_sweep_method {
#define X(method, name, meaning) method,
    SNW_SWEEP_METHODS(X)
#undef X
        SNW_SWEEP_METHOD_COUNT
} snw_sweep_method;

typedef enum snw_spread {
    SNW_SPREAD_VALUES,     // one of a list
    SNW_SPREAD_UNIFORM,    // between a and b
    SNW_SPREAD_LOGARITHM,  // its logarithm uniform between those of a and b
    SNW_SPREAD_NORMAL,     // mean a, standard deviation b
    SNW_SPREAD_LOG_NORMAL, // median a, standard deviation b of the natural logarithm
    SNW_SPREAD_COLUMN      // a column of the table
} snw_spread;

typedef struct snw_sweep_parameter {
    snw_source_location location;
    const char *path; // as of --set
    const char *unit; // SI, may be empty
    bool angle;       // without unit, but written in deg or rad
    snw_spread spread;
    double a, b;
    double low, high; // probabilities that bound a normal distribution, 0 and 1 unless limited
    int n;            // values
    const double *value;
    const char *const *label; // n words in place of numbers; values are their indices; NULL: none
} snw_sweep_parameter;

// A number that is kept of every row: a scalar of the study (sinew/gradient.h), which may also
// read the parameters that vary.
typedef struct snw_sweep_result {
    snw_source_location location;
    const char *name, *text;
} snw_sweep_result;

typedef struct snw_sweep_plan {
    snw_pool *pool;   // owns the plan
    const char *path; // of the plan
    const char *text; // of the plan, as read
    const char *title;
    const char *model;                  // path of the model file
    const char *run;                    // name of its run; NULL: the only one
    snw_source_location model_location; // of their names in the plan
    snw_source_location run_location;
    int nset; // overrides that all rows have, "path=value"
    const char *const *set;
    snw_sweep_method method;
    int64_t count; // points, pairs of points or paths
    int64_t rows;
    uint64_t seed;
    bool shifted; // Sobol' points are shifted by the seed
    int levels;   // of Morris' paths
    int nparameter;
    snw_sweep_parameter *parameter;
    int nresult;
    const snw_sweep_result *result;
    int nseries; // probes or columns whose whole series are kept
    const char *const *series;
    snw_source_location series_location;
    uint64_t *direction; // of the Sobol' sequence, SNW_SOBOL_BITS for each dimension
} snw_sweep_plan;

extern const char *const snw_sweep_method_name[SNW_SWEEP_METHOD_COUNT];

// Read the plan `path`: its syntax, words and numbers. The model is not opened. Paths of files in
// it are relative to it. *out belongs to the caller.
SNW_NODISCARD snw_status snw_sweep_plan_read(const char *path, snw_sweep_plan **out,
                                             snw_error *err);
void snw_sweep_plan_destroy(snw_sweep_plan *p); // NULL is fine

// Complete a plan whose parameters are known: rows, direction numbers.
SNW_NODISCARD snw_status snw_sweep_plan_complete(snw_sweep_plan *p, snw_error *err);

// value (nparameter) <- those of a row, 0 to rows - 1, SI units; of words their indices.
void snw_sweep_plan_values(const snw_sweep_plan *p, int64_t row, double *value);

// The value of a parameter at probability u, 0 < u < 1.
double snw_sweep_quantile(const snw_sweep_parameter *p, double u);
