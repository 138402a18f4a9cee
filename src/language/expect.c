// SPDX-License-Identifier: MIT
//
// Evaluates expectations: finds the recorded column and time, computes statistics over intervals,
// and compares with the expected values, for the command `verify`.
#include "language/expect.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "model/special.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- statistics ---------------------------------------------------------------------------------

const char *const snw_expect_is_word[SNW_EXPECT_IS_COUNT] = {"min",   "max",    "mean",
                                                             "range", "period", "size"};

// Accumulated by one pass over the frames. A NaN among the values makes every field NaN.
typedef struct summary {
    bool any;              // at least one value was added
    double min, max;       // over frames and the ends of the interval
    double sum;            // over frames
    int nframe;            // frames in the interval
    double duration, area; // length and integral of the intervals between frames
} summary;

static void add_value(summary *s, double v) {
    if (!s->any) {
        s->min = s->max = v;
    } else if (!isnan(s->min)) {
        s->min = isnan(v) ? v : fmin(s->min, v);
        s->max = isnan(v) ? v : fmax(s->max, v);
    }
    s->any = true;
}

static double value_at(const snw_series *s, int column, int frame) {
    return s->value[(size_t)frame * (size_t)s->ncolumn + (size_t)column];
}

// linear interpolation between frames k and k + 1
static double interpolate_frame(const snw_series *s, int column, int k, double t) {
    const double t0 = s->t[k], t1 = s->t[k + 1];
    const double a = value_at(s, column, k), b = value_at(s, column, k + 1);
    if (t <= t0) return a;
    if (t >= t1) return b;
    return a + (b - a) * ((t - t0) / (t1 - t0));
}

// intersection of [t0, t1] with the interval between frames k and k + 1; false when empty
static bool clip_interval(const snw_series *s, int k, double t0, double t1, double *from,
                          double *to) {
    if (k + 1 >= s->nframe || !(s->t[k + 1] > s->t[k])) return false;
    *from = fmax(t0, s->t[k]);
    *to = fmin(t1, s->t[k + 1]);
    return *to > *from;
}

static summary summarize(const snw_series *s, int column, double t0, double t1) {
    summary sum = {0};
    for (int k = 0; k < s->nframe; k++) {
        double from = 0, to = 0;
        if (s->t[k] >= t0 && s->t[k] <= t1) {
            add_value(&sum, value_at(s, column, k));
            sum.sum += value_at(s, column, k);
            sum.nframe++;
        }
        if (!clip_interval(s, k, t0, t1, &from, &to)) continue;
        const double a = interpolate_frame(s, column, k, from),
                     b = interpolate_frame(s, column, k, to);
        add_value(&sum, a);
        add_value(&sum, b);
        sum.duration += to - from;
        sum.area += (to - from) * (a + b) / 2;
    }
    return sum;
}

// mean time between upward crossings of the mean
static bool find_period(const snw_series *s, int column, double mean, double t0, double t1,
                        double *out) {
    int n = 0;
    double first = 0, last = 0;
    for (int k = 0; k < s->nframe; k++) {
        double from = 0, to = 0;
        if (!clip_interval(s, k, t0, t1, &from, &to)) continue;
        const double a = interpolate_frame(s, column, k, from),
                     b = interpolate_frame(s, column, k, to);
        if (!(a < mean && b >= mean)) continue;
        last = from + (to - from) * ((mean - a) / (b - a));
        if (n++ == 0) first = last;
    }
    if (n < 2) return false;
    *out = (last - first) / (n - 1);
    return true;
}

bool snw_expect_statistic(const snw_series *series, int column, snw_expect_is is, double t0,
                          double t1, double *out) {
    const summary s = summarize(series, column, t0, t1);
    if (!s.any) return false;
    // frames at a single instant have no duration
    const double mean = s.duration > 0 ? s.area / s.duration : s.sum / s.nframe;
    switch (is) {
    case SNW_EXPECT_MIN:
        *out = s.min;
        return true;
    case SNW_EXPECT_MAX:
        *out = s.max;
        return true;
    case SNW_EXPECT_MEAN:
        *out = mean;
        return true;
    case SNW_EXPECT_RANGE:
        *out = s.max - s.min;
        return true;
    case SNW_EXPECT_SIZE:
        *out = isnan(s.min) ? s.min : fmax(fabs(s.min), fabs(s.max));
        return true;
    case SNW_EXPECT_PERIOD:
        *out = mean; // NaN is kept
        return isnan(mean) || find_period(series, column, mean, t0, t1, out);
    }
    return false;
}

// ---- finding columns and frames -----------------------------------------------------------------

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
not_compared(snw_expect_outcome *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(out->reason, sizeof out->reason, format, args);
    va_end(args);
    out->ok = false;
    out->ncell = 0;
    return false;
}

static bool expect_find_column(const snw_run_info *info, const char *name, int *out,
                               snw_expect_outcome *outcome) {
    char known[256];
    for (int i = 0; i < info->ncolumn; i++) {
        snw_column_name(&info->column[i], known, sizeof known);
        if (strcmp(known, name) == 0) {
            *out = i;
            return true;
        }
    }
    return not_compared(outcome, "'%s' was not recorded", name);
}

static bool find_special(const snw_expect *e, const snw_series *series, int *frame,
                         snw_expect_outcome *out) {
    *frame = snw_series_special(series, e->point, e->number);
    if (*frame >= 0) return true;
    return not_compared(out, "the paths have no %s %d", snw_special_name((snw_special)e->point),
                        e->number);
}

// last frame of the run or of a step
static bool find_frame(const snw_expect *e, const snw_run_info *info, const snw_series *series,
                       int *frame, snw_expect_outcome *out) {
    const bool whole = series->status == SNW_OK;
    if (e->when == SNW_EXPECT_END) {
        *frame = series->nframe - 1;
        if (*frame < 0) return not_compared(out, "nothing was recorded");
        return whole || not_compared(out, "the run did not reach its end");
    }
    int stage = 0;
    while (stage < info->nstage && strcmp(info->stage[stage], e->after) != 0) stage++;
    if (stage == info->nstage) return not_compared(out, "there is no step '%s'", e->after);
    *frame = snw_series_last(series, stage);
    if (*frame < 0) return not_compared(out, "step '%s' has no frame", e->after);
    if (whole || *frame < series->nframe - 1) return true;
    return not_compared(out, "step '%s' did not reach its end", e->after);
}

// the record must cover the interval of the expectation
static bool is_covered(const snw_expect *e, const snw_series *series, snw_expect_outcome *out) {
    if (series->nframe == 0) return not_compared(out, "nothing was recorded");
    if (isinf(e->t1)) {
        return series->status == SNW_OK || not_compared(out, "the run did not reach its end");
    }
    double first = series->t[0], last = series->t[0];
    for (int k = 1; k < series->nframe; k++) {
        first = fmin(first, series->t[k]);
        last = fmax(last, series->t[k]);
    }
    const double slack = 1e-9 * (last - first);
    if (e->t0 >= first - slack && e->t1 <= last + slack) return true;
    return not_compared(out, "the recording goes only from %g s to %g s", first, last);
}

// ---- comparing ----------------------------------------------------------------------------------

static void judge_cell(const snw_expect *e, snw_expect_cell *c) {
    switch (e->how) {
    case SNW_EXPECT_WITHIN:
    case SNW_EXPECT_RELATIVE:
        c->error = fabs(c->got - c->wanted);
        c->allowed = e->how == SNW_EXPECT_WITHIN ? e->tolerance : e->tolerance * fabs(c->wanted);
        c->ok = c->error <= c->allowed;
        return;
    case SNW_EXPECT_BELOW:
        c->error = c->got < c->wanted ? 0 : c->got - c->wanted;
        c->ok = c->got < c->wanted;
        return;
    case SNW_EXPECT_ABOVE:
        c->error = c->got > c->wanted ? 0 : c->wanted - c->got;
        c->ok = c->got > c->wanted;
        return;
    }
}

static bool get_recorded(const snw_expect *e, const snw_series *series, int column, int frame,
                         int row, snw_expect_cell *c, snw_expect_outcome *out) {
    switch (e->when) {
    case SNW_EXPECT_AT:
    case SNW_EXPECT_ROWS:
        c->t = e->when == SNW_EXPECT_AT ? e->t0 : e->row_t[row];
        if (snw_series_at(series, column, c->t, &c->got)) return true;
        return not_compared(out, "nothing was recorded at %g s", c->t);
    case SNW_EXPECT_END:
    case SNW_EXPECT_AFTER:
    case SNW_EXPECT_POINT:
        c->t = series->t[frame];
        c->got = value_at(series, column, frame);
        return true;
    case SNW_EXPECT_DATA: // compared by column in compare_data
        return false;
    case SNW_EXPECT_OVER:
        c->t = (double)NAN;
        if (snw_expect_statistic(series, column, e->is, e->t0, e->t1, &c->got)) return true;
        return not_compared(out,
                            e->is == SNW_EXPECT_PERIOD
                                ? "'%s' does not cross its mean twice, so it has no period"
                                : "'%s' was not recorded in this interval",
                            c->column);
    }
    return false;
}

// Compare one column with a file of measurements; blank fields are skipped.
static bool compare_data(const snw_expect *e, const snw_series *series, int column, int j,
                         snw_expect_outcome *out) {
    snw_expect_cell *rms = &out->cell[j], *worst = &out->cell[e->ncolumn + j];
    *rms = (snw_expect_cell){.column = e->column[j],
                             .t = NAN,
                             .got = NAN,
                             .wanted = NAN,
                             .allowed = e->rms,
                             .rms = true};
    *worst = (snw_expect_cell){.column = e->column[j],
                               .t = NAN,
                               .got = NAN,
                               .wanted = NAN,
                               .error = -1,
                               .allowed = e->tolerance};
    double sum = 0;
    int n = 0;
    for (int i = 0; i < e->nrow; i++) {
        const double wanted = e->value[(size_t)i * (size_t)e->ncolumn + (size_t)j];
        double got;
        if (isnan(wanted)) continue;
        if (!snw_series_at(series, column, e->row_t[i], &got)) {
            return not_compared(out, "nothing was recorded at %g s", e->row_t[i]);
        }
        const double error = fabs(got - wanted);
        sum += error * error;
        n++;
        if (error <= worst->error) continue; // a NaN error passes this test and is stored
        worst->error = error, worst->t = e->row_t[i], worst->got = got, worst->wanted = wanted;
        if (isnan(error)) break;
    }
    if (n == 0) return not_compared(out, "'%s' is blank in '%.100s'", e->column[j], e->data);
    rms->error = sqrt(sum / n);
    rms->ok = rms->error <= rms->allowed;
    worst->ok = worst->error <= worst->allowed;
    out->ok = out->ok && rms->ok && worst->ok;
    return true;
}

static bool expect_compare(const snw_expect *e, const snw_run_info *info, const snw_series *series,
                           snw_expect_outcome *out) {
    int frame = -1;
    if ((e->when == SNW_EXPECT_END || e->when == SNW_EXPECT_AFTER) &&
        !find_frame(e, info, series, &frame, out)) {
        return false;
    }
    if (e->when == SNW_EXPECT_POINT && !find_special(e, series, &frame, out)) return false;
    if (e->when == SNW_EXPECT_OVER && !is_covered(e, series, out)) return false;
    out->ok = true;
    for (int j = 0; j < e->ncolumn; j++) {
        int column = 0;
        if (!expect_find_column(info, e->column[j], &column, out)) return false;
        if (e->when == SNW_EXPECT_DATA) {
            if (!compare_data(e, series, column, j, out)) return false;
            continue;
        }
        for (int i = 0; i < e->nrow; i++) {
            const int k = i * e->ncolumn + j;
            snw_expect_cell *c = &out->cell[k];
            *c = (snw_expect_cell){.column = e->column[j], .wanted = e->value[k]};
            if (!get_recorded(e, series, column, frame, i, c, out)) return false;
            judge_cell(e, c);
            out->ok = out->ok && c->ok;
        }
    }
    return true;
}

int snw_expect_cells(const snw_expect *e) {
    return (e->when == SNW_EXPECT_DATA ? 2 : e->nrow) * e->ncolumn;
}

snw_status snw_expect_check(const snw_expect *e, const snw_run_info *info, const snw_series *series,
                            snw_expect_outcome *out) {
    *out = (snw_expect_outcome){.ncell = snw_expect_cells(e)};
    out->cell = snw_alloc((size_t)out->ncell * sizeof *out->cell);
    if (!out->cell) return SNW_E_MEMORY;
    if (out->ncell == 0) (void)not_compared(out, "nothing is expected");
    if (out->ncell > 0) (void)expect_compare(e, info, series, out);
    return SNW_OK;
}

void snw_expect_outcome_clear(snw_expect_outcome *out) {
    snw_free(out->cell);
    *out = (snw_expect_outcome){0};
}
