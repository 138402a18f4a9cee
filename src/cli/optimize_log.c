// SPDX-License-Identifier: MIT
//
// Table of the evaluations of an optimisation: CSV with all digits. The search is deterministic, so
// that it is repeated from the numbers of the table, without runs, up to the place where it ended.
#include "cli/optimize_log.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "# sinew optimize 1 %016" PRIx64 " variables %d scalars %d\n";

static size_t log_width(const snw_optimize_log *log) {
    const size_t n = (size_t)log->nvariable, m = (size_t)log->nscalar;
    return 3 + n + m + m * n;
}

// row <- numbers of a line, blank fields NaN; false: it is not complete
static bool read_row(const char *line, size_t width, double *row) {
    for (size_t i = 0; i < width; i++) {
        char *end = NULL;
        row[i] = *line == ',' || *line == '\n' ? NAN : strtod(line, &end);
        if (end) line = end;
        if (*line != (i + 1 < width ? ',' : '\n')) return false;
        line++;
    }
    return true;
}

static snw_status log_read_rows(snw_optimize_log *log, FILE *file, snw_error *err) {
    char *line = NULL;
    size_t room = 0, capacity = 0;
    uint64_t identity = 0;
    const size_t width = log_width(log);
    snw_status status = SNW_OK;
    int variables = 0, scalars = 0;
    if (getline(&line, &room, file) < 0 ||
        sscanf(line, "# sinew optimize 1 %" SCNx64 " variables %d scalars %d", &identity,
               &variables, &scalars) != 3) {
        status = snw_fail(err, SNW_E_ARGUMENT, "this is no table of 'sinew optimize'");
    } else if (identity != log->identity || variables != log->nvariable ||
               scalars != log->nscalar) {
        status = snw_fail(err, SNW_E_ARGUMENT,
                          "this table is that of another file, run or override; leave out --resume "
                          "to begin again");
    }
    if (status == SNW_OK && getline(&line, &room, file) < 0) line[0] = 0; // names of columns
    while (status == SNW_OK && getline(&line, &room, file) >= 0) {
        if ((size_t)log->nrow == capacity) {
            double *more = snw_alloc((2 * capacity + 64) * width * sizeof *more);
            if (!more) {
                status = snw_fail_memory(err);
                break;
            }
            if (log->row) memcpy(more, log->row, (size_t)log->nrow * width * sizeof *more);
            snw_free(log->row);
            log->row = more;
            capacity = 2 * capacity + 64;
        }
        if (!read_row(line, width, log->row + (size_t)log->nrow * width)) break;
        log->nrow++;
    }
    free(line);
    return status;
}

snw_status snw_optimize_log_read(snw_optimize_log *log, snw_error *err) {
    FILE *file = fopen(log->path, "r");
    if (!file && errno == ENOENT) return SNW_OK;
    if (!file) return snw_output_fail(log->path, errno, err);
    const snw_status status = log_read_rows(log, file, err);
    (void)fclose(file);
    return status == SNW_OK ? status : snw_fail_at_location(err, status, log->path, 1, 1);
}

static void put_row(FILE *file, size_t width, const double *row) {
    for (size_t i = 0; i < width; i++) {
        if (i > 0) (void)fputc(',', file);
        if (!isnan(row[i])) (void)fprintf(file, "%.17g", row[i]);
    }
    (void)fputc('\n', file);
}

snw_status snw_optimize_log_open(snw_optimize_log *log, const char *const *name, snw_error *err) {
    log->file = fopen(log->path, "w");
    if (!log->file) return snw_output_fail(log->path, errno, err);
    (void)fprintf(log->file, head, log->identity, log->nvariable, log->nscalar);
    (void)fprintf(log->file, "evaluation,cost,violation");
    for (int k = 0; k < log->nvariable; k++) (void)fprintf(log->file, ",%s", name[k]);
    for (int i = 0; i < log->nscalar; i++) (void)fprintf(log->file, ",scalar %d", i + 1);
    for (int i = 0; i < log->nscalar; i++) {
        for (int k = 0; k < log->nvariable; k++)
            (void)fprintf(log->file, ",d scalar %d/d %s", i + 1, name[k]);
    }
    (void)fputc('\n', log->file);
    const size_t width = log_width(log);
    for (int i = 0; i < log->nrow; i++) put_row(log->file, width, log->row + (size_t)i * width);
    (void)fflush(log->file);
    return SNW_OK;
}

bool snw_optimize_log_recall(snw_optimize_log *log, int number, const double *p, double *J,
                             double *dJ) {
    if (number > log->nrow || log->mismatch) return false;
    const size_t n = (size_t)log->nvariable, m = (size_t)log->nscalar;
    const double *row = log->row + (size_t)(number - 1) * log_width(log);
    const double *known = row + 3 + n, *derivative = known + m;
    log->mismatch = memcmp(row + 3, p, n * sizeof *p) != 0 || (dJ && isnan(derivative[0]));
    if (log->mismatch) return false;
    memcpy(J, known, m * sizeof *J);
    if (dJ) memcpy(dJ, derivative, m * n * sizeof *dJ);
    return true;
}

void snw_optimize_log_add(snw_optimize_log *log, const snw_optimize_evaluation *e) {
    if (!log->file || e->number <= log->nrow) return;
    const size_t n = (size_t)e->nvariable, m = (size_t)e->nscalar;
    (void)fprintf(log->file, "%d,%.17g,%.17g,", e->number, e->cost, e->violation);
    for (size_t k = 0; k < n; k++) (void)fprintf(log->file, "%.17g,", e->p[k]);
    for (size_t i = 0; i < m; i++) (void)fprintf(log->file, "%.17g,", e->J[i]);
    for (size_t i = 0; i < m * n; i++) {
        if (e->dJ) (void)fprintf(log->file, "%.17g", e->dJ[i]);
        (void)fputc(i + 1 < m * n ? ',' : '\n', log->file);
    }
    (void)fflush(log->file);
}

void snw_optimize_log_close(snw_optimize_log *log) {
    if (log->file) (void)fclose(log->file);
    snw_free(log->row);
    log->file = NULL;
    log->row = NULL;
}

// ---- figure -------------------------------------------------------------------------------------

enum { MOST_EVALUATIONS = 1000000 };
static const double met = 1e-9, // violation of constraints that counts as none
    same = 1e-12;               // of costs, relative

// Of a search: cost, its distance from the least one, violation, over the number of evaluations.
enum { COST, ABOVE, VIOLATION, HISTORIES };

// y of ABOVE <- logarithm of the cost above the least one that meets the constraints
static void find_distances(const snw_curve *curve) {
    const snw_curve *cost = &curve[COST], *above = &curve[ABOVE];
    double least = INFINITY;
    for (int i = 0; i < cost->n; i++) {
        if (isnan(curve[VIOLATION].y[i])) least = fmin(least, cost->y[i]);
    }
    for (int i = 0; i < cost->n; i++) {
        const double distance = cost->y[i] - least;
        above->y[i] = distance > same * fabs(least) ? log10(distance) : NAN;
    }
}

// curve (HISTORIES, room for MOST_EVALUATIONS in the pool) <- evaluations of the file; logarithms
// of distance and violation
static snw_status read_history(snw_pool *pool, FILE *file, snw_curve *curve, snw_error *err) {
    snw_curve *cost = &curve[COST];
    char *line = NULL;
    size_t room = 0, n = 0;
    double number = 0, value = 0, excess = 0;
    static const char first[] = "# sinew optimize 1 ";
    bool ours = getline(&line, &room, file) >= 0 && strncmp(line, first, sizeof first - 1) == 0;
    // two passes: count, then read
    for (int pass = 0; ours && pass < 2; pass++) {
        rewind(file);
        if (pass == 1) {
            double *a = snw_pool_array(pool, (HISTORIES + 1) * n + 1, sizeof *a);
            if (!a) break;
            for (size_t k = 0; k < HISTORIES; k++)
                curve[k] = (snw_curve){.n = (int)n, .x = a, .y = a + (k + 1) * n};
            n = 0;
        }
        while (getline(&line, &room, file) >= 0 && n < MOST_EVALUATIONS) {
            if (sscanf(line, "%lf,%lf,%lf,", &number, &value, &excess) != 3) continue;
            if (pass == 1) {
                cost->x[n] = number;
                cost->y[n] = value;
                curve[VIOLATION].y[n] = excess > met ? log10(excess) : NAN;
            }
            n++;
        }
    }
    free(line);
    if (!ours) return snw_fail(err, SNW_E_ARGUMENT, "this is no table of 'sinew optimize'");
    if (!cost->x) return snw_fail_memory(err);
    find_distances(curve);
    return n > 0 ? SNW_OK : snw_fail(err, SNW_E_ARGUMENT, "the table has no evaluations");
}

snw_status snw_optimize_log_figure(snw_pool *pool, const char *path, snw_figure *out,
                                   snw_error *err) {
    static const char *const quantity[HISTORIES] = {"cost", "log10 of cost above least",
                                                    "log10 of violation"};
    snw_panel *panel = snw_pool_array(pool, HISTORIES, sizeof *panel);
    snw_curve *curve = snw_pool_array(pool, HISTORIES, sizeof *curve);
    if (!panel || !curve) return snw_fail_memory(err);
    FILE *file = fopen(path, "r");
    if (!file)
        return snw_fail_at_location(
            err, snw_fail(err, SNW_E_IO, "cannot be read: %s", strerror(errno)), path, 1, 1);
    const snw_status status = read_history(pool, file, curve, err);
    (void)fclose(file);
    if (status != SNW_OK) return snw_fail_at_location(err, status, path, 1, 1);
    int n = 0;
    for (int i = 0; i < HISTORIES; i++) {
        bool any = false;
        for (int k = 0; k < curve[i].n; k++) any |= !isnan(curve[i].y[k]);
        if (!any) continue;
        curve[i].pen = (snw_pen){.colour = snw_plot_colour(i), .width = 0.4};
        curve[i].marks = true;
        panel[n++] =
            (snw_panel){.quantity = quantity[i], .unit = "", .ncurve = 1, .curve = &curve[i]};
    }
    *out = (snw_figure){
        .quantity = "evaluation", .unit = "", .npanel = n, .panel = panel, .counted = true};
    return SNW_OK;
}
