// SPDX-License-Identifier: MIT
//
// Rows of a plan: values of the parameters by the number of the row. theory.md 7.9
#include "sweep/plan.h"

#include "base/fail.h"
#include "identify/student.h"
#include "math/units.h"
#include "sweep/random.h"
#include "sweep/sobol_sequence.h"

#include <math.h>

const char *const snw_sweep_method_name[SNW_SWEEP_METHOD_COUNT] = {
#define X(method, name, meaning) name,
    SNW_SWEEP_METHODS(X)
#undef X
};

static const int64_t MOST_ROWS = (int64_t)1 << 40;

// Streams of random numbers; parameter i has number STREAM + i.
static const uint64_t STREAM_POINT = 0, STREAM_SLICE = 1000000, STREAM_SHIFT = 2000000,
                      STREAM_PATH = 3000000, STREAM_ORDER = (uint64_t)1 << 32;

static int dimensions(const snw_sweep_plan *p) {
    if (p->method == SNW_SWEEP_SOBOL) return p->nparameter;
    return p->method == SNW_SWEEP_SALTELLI ? 2 * p->nparameter : 0;
}

// Rows of a grid, -1: too many.
static int64_t grid_rows(const snw_sweep_plan *p) {
    int64_t rows = 1;
    for (int i = 0; i < p->nparameter; i++) {
        if (rows > MOST_ROWS / p->parameter[i].n) return -1;
        rows *= p->parameter[i].n;
    }
    return rows;
}

snw_status snw_sweep_plan_complete(snw_sweep_plan *p, snw_error *err) {
    const int64_t k = p->nparameter;
    switch (p->method) {
    case SNW_SWEEP_GRID:
        p->rows = grid_rows(p);
        break;
    case SNW_SWEEP_LIST:
        p->rows = p->parameter[0].n;
        break;
    case SNW_SWEEP_RANDOM:
    case SNW_SWEEP_LATIN:
    case SNW_SWEEP_SOBOL:
        p->rows = p->count;
        break;
    case SNW_SWEEP_SALTELLI:
        p->rows = p->count <= MOST_ROWS / (k + 2) ? p->count * (k + 2) : -1;
        break;
    case SNW_SWEEP_MORRIS:
        p->rows = p->count <= MOST_ROWS / (k + 1) ? p->count * (k + 1) : -1;
        break;
    case SNW_SWEEP_METHOD_COUNT:
        break;
    }
    if (p->rows < 1 || p->rows > MOST_ROWS)
        return snw_fail(err, SNW_E_PARSE, "the plan has more than 2^40 rows; take fewer values");
    const int n = dimensions(p);
    if (n > SNW_SOBOL_DIMENSIONS)
        return snw_fail(err, SNW_E_PARSE,
                        "%d parameters are more than the %d that method '%s' takes; use "
                        "latin_hypercube, random or morris",
                        p->nparameter,
                        p->method == SNW_SWEEP_SALTELLI ? SNW_SOBOL_DIMENSIONS / 2
                                                        : SNW_SOBOL_DIMENSIONS,
                        snw_sweep_method_name[p->method]);
    p->direction = snw_pool_array(p->pool, (size_t)n * SNW_SOBOL_BITS + 1, sizeof *p->direction);
    if (!p->direction) return snw_fail_memory(err);
    for (int i = 0; i < n; i++) snw_sobol_directions(i, p->direction + i * SNW_SOBOL_BITS);
    return SNW_OK;
}

double snw_sweep_quantile(const snw_sweep_parameter *p, double u) {
    switch (p->spread) {
    case SNW_SPREAD_COLUMN:
    case SNW_SPREAD_VALUES: {
        const int i = (int)(u * p->n);
        return p->value[i < p->n ? i : p->n - 1];
    }
    case SNW_SPREAD_UNIFORM:
        return p->a + u * (p->b - p->a);
    case SNW_SPREAD_LOGARITHM:
        return p->a * pow(p->b / p->a, u);
    case SNW_SPREAD_NORMAL:
    case SNW_SPREAD_LOG_NORMAL: {
        const double z = snw_student_quantile(p->low + u * (p->high - p->low), INFINITY);
        return p->spread == SNW_SPREAD_NORMAL ? p->a + p->b * z : p->a * exp(p->b * z);
    }
    }
    return NAN;
}

// Coordinate of a Sobol' point in the middle of its cell of 2^-52, shifted by the seed.
static double sobol_uniform(const snw_sweep_plan *p, int dimension, int64_t index) {
    uint64_t x =
        snw_sobol_coordinate(p->direction + (size_t)dimension * SNW_SOBOL_BITS, (uint64_t)index);
    if (p->shifted) x ^= snw_random_bits(p->seed, STREAM_SHIFT + (uint64_t)dimension, 0) >> 12;
    return ((double)x + 0.5) * 0x1p-52;
}

// One point in each slice: slices in random order, the point random within its slice.
static double latin_uniform(const snw_sweep_plan *p, int i, int64_t row) {
    const uint64_t slice =
        snw_random_permuted(p->seed, STREAM_SLICE + (uint64_t)i, (uint64_t)p->rows, (uint64_t)row);
    const double within = snw_random_uniform(p->seed, STREAM_POINT + (uint64_t)i, (uint64_t)row);
    const double u = ((double)slice + within) / (double)p->rows;
    return u < 1 ? u : 1 - 0x1p-53;
}

// Row r of pair j = r / (k + 2): A, B, then A with parameter i from B for i = 1 .. k.
static double saltelli_uniform(const snw_sweep_plan *p, int i, int64_t row) {
    const int k = p->nparameter, at = (int)(row % (k + 2));
    const bool second = at == 1 || at == 2 + i;
    return sobol_uniform(p, second ? k + i : i, row / (k + 2));
}

// Position, from 1, in a path at which parameter i changes, and its change, in probabilities.
static void morris_step(const snw_sweep_plan *p, int64_t path, int i, int *position,
                        double *change) {
    const uint64_t n = (uint64_t)p->nparameter;
    *position =
        1 + (int)snw_random_permuted(p->seed, STREAM_ORDER + (uint64_t)path, n, (uint64_t)i);
    const uint64_t bits = snw_random_bits(p->seed, STREAM_PATH + (uint64_t)i, (uint64_t)path);
    *change = bits >> 63 ? -0.5 : 0.5;
}

// Levels at (j + 1/2)/levels; a step is half of them, up from the lower half or down from the
// upper one.
static double morris_uniform(const snw_sweep_plan *p, int i, int64_t row) {
    const int64_t path = row / (p->nparameter + 1);
    int position;
    double change;
    morris_step(p, path, i, &position, &change);
    const uint64_t bits = snw_random_bits(p->seed, STREAM_PATH + (uint64_t)i, (uint64_t)path);
    const int half = p->levels / 2,
              level = (int)((bits & 0xFFFFFFFFu) % (uint64_t)half) + (change < 0 ? half : 0);
    const double u = (level + 0.5) / p->levels;
    return row % (p->nparameter + 1) >= position ? u + change : u;
}

static double row_value(const snw_sweep_plan *p, int i, int64_t row, int64_t *rest) {
    const snw_sweep_parameter *x = &p->parameter[i];
    switch (p->method) {
    case SNW_SWEEP_GRID: {
        const int64_t at = *rest % x->n;
        *rest /= x->n;
        return x->value[at];
    }
    case SNW_SWEEP_LIST:
        return x->value[row];
    case SNW_SWEEP_RANDOM:
        return snw_sweep_quantile(
            x, snw_random_uniform(p->seed, STREAM_POINT + (uint64_t)i, (uint64_t)row));
    case SNW_SWEEP_LATIN:
        return snw_sweep_quantile(x, latin_uniform(p, i, row));
    case SNW_SWEEP_SOBOL:
        return snw_sweep_quantile(x, sobol_uniform(p, i, row));
    case SNW_SWEEP_SALTELLI:
        return snw_sweep_quantile(x, saltelli_uniform(p, i, row));
    case SNW_SWEEP_MORRIS:
        return snw_sweep_quantile(x, morris_uniform(p, i, row));
    case SNW_SWEEP_METHOD_COUNT:
        break;
    }
    return NAN;
}

void snw_sweep_plan_values(const snw_sweep_plan *p, int64_t row, double *value) {
    int64_t rest = row; // digits of a grid, the last parameter first
    for (int i = p->nparameter; i-- > 0;) value[i] = row_value(p, i, row, &rest);
}

void snw_sweep_plan_destroy(snw_sweep_plan *p) {
    if (p) snw_pool_destroy(p->pool);
}
