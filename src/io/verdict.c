// SPDX-License-Identifier: MIT
#include "io/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char no_column[] = "no such column is recorded";
static const char not_reached[] = "the run did not get there";
static const char no_period[] = "fewer than two rising crossings of the mean";

int snw_verdict_count(const snw_expect *e) { return e->nrow * e->ncolumn; }

static int find_column(const snw_run_info *info, const char *name) {
    for (int i = 0; i < info->ncolumn; i++) {
        char known[256];
        snw_column_name(&info->column[i], known, sizeof known);
        if (!strcmp(known, name)) return i;
    }
    return -1;
}

static int find_stage(const snw_run_info *info, const char *name) {
    for (int i = 0; i < info->nstage; i++) {
        if (!strcmp(info->stage[i], name)) return i;
    }
    return -1;
}

// ---- of a span
// --------------------------------------------------------------------------------------

typedef struct span {
    const snw_series *series;
    int column, first, last; // frames, last included
} span;

static double value_at(const span *s, int frame) {
    return s->series->value[(size_t)frame * (size_t)s->series->ncolumn + (size_t)s->column];
}

// frames of [t0, t1], to rounding; false when the series does not cover it
static bool find_span(const snw_series *series, int column, double t0, double t1, span *out) {
    if (series->nframe == 0) return false;
    const double slack = 1e-9 * (1 + fabs(series->t[series->nframe - 1]));
    *out = (span){series, column, 0, series->nframe - 1};
    while (out->first <= out->last && series->t[out->first] < t0 - slack) out->first++;
    while (out->last >= out->first && series->t[out->last] > t1 + slack) out->last--;
    // an end that lies within the study must have been reached, unless the span is all of it
    const bool reached =
        isinf(t1) ? series->status == SNW_OK : series->t[series->nframe - 1] >= t1 - slack;
    return out->first <= out->last && reached;
}

// time average by the trapezoidal rule; of a single instant its value
static double mean_of(const span *s) {
    const double *t = s->series->t;
    double area = 0;
    for (int i = s->first; i < s->last; i++) {
        area += 0.5 * (value_at(s, i) + value_at(s, i + 1)) * (t[i + 1] - t[i]);
    }
    const double length = t[s->last] - t[s->first];
    return length > 0 ? area / length : value_at(s, s->last);
}

// mean time between rising crossings of the mean; NaN with fewer than two
static double period_of(const span *s) {
    const double *t = s->series->t, mean = mean_of(s);
    double first = NAN, last = NAN;
    int crossings = 0;
    for (int i = s->first; i < s->last; i++) {
        const double a = value_at(s, i) - mean, b = value_at(s, i + 1) - mean;
        if (!(a < 0 && b >= 0)) continue;
        last = t[i] + (t[i + 1] - t[i]) * a / (a - b);
        if (crossings++ == 0) first = last;
    }
    return crossings > 1 ? (last - first) / (crossings - 1) : NAN;
}

static double measure(const span *s, snw_expect_is is) {
    double low = INFINITY, high = -INFINITY;
    for (int i = s->first; i <= s->last; i++) {
        const double value = value_at(s, i);
        if (isnan(value)) return NAN;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    switch (is) {
    case SNW_EXPECT_MIN:
        return low;
    case SNW_EXPECT_MAX:
        return high;
    case SNW_EXPECT_MEAN:
        return mean_of(s);
    case SNW_EXPECT_RANGE:
        return high - low;
    case SNW_EXPECT_PERIOD:
        return period_of(s);
    case SNW_EXPECT_SIZE:
        return fmax(fabs(low), fabs(high));
    }
    return NAN;
}

// ---- one number
// -------------------------------------------------------------------------------------

// the number to compare, or why there is none
static const char *look(const snw_verdict *v, const snw_run_info *info, const snw_series *series,
                        double *got) {
    const snw_expect *e = v->expect;
    const int column = find_column(info, v->column);
    if (column < 0) return no_column;
    span all = {series, column, 0, series->nframe - 1};
    switch (e->when) {
    case SNW_EXPECT_AT:
    case SNW_EXPECT_ROWS:
        return snw_series_at(series, column, v->t, got) ? NULL : not_reached;
    case SNW_EXPECT_END:
        if (series->nframe == 0 || series->status != SNW_OK) return not_reached;
        *got = value_at(&all, all.last);
        return NULL;
    case SNW_EXPECT_AFTER: {
        const int stage = find_stage(info, e->after);
        const int frame = stage < 0 ? -1 : snw_series_last(series, stage);
        // a run that broke off did not end the step it was in
        if (frame < 0 || (series->status != SNW_OK && frame == all.last)) return not_reached;
        *got = value_at(&all, frame);
        return NULL;
    }
    case SNW_EXPECT_OVER: {
        span s;
        if (!find_span(series, column, e->t0, e->t1, &s)) return not_reached;
        *got = measure(&s, e->is);
        return e->is == SNW_EXPECT_PERIOD && isnan(*got) ? no_period : NULL;
    }
    }
    return not_reached;
}

static void compare(snw_verdict *v) {
    const snw_expect *e = v->expect;
    const double distance = fabs(v->got - v->want);
    switch (e->how) {
    case SNW_EXPECT_WITHIN:
        v->error = distance;
        v->ok = v->error <= e->tolerance;
        return;
    case SNW_EXPECT_RELATIVE:
        v->error = distance == 0 ? 0 : distance / fabs(v->want);
        v->ok = v->error <= e->tolerance;
        return;
    case SNW_EXPECT_BELOW:
        v->error = distance;
        v->ok = v->got < v->want;
        return;
    case SNW_EXPECT_ABOVE:
        v->error = distance;
        v->ok = v->got > v->want;
        return;
    }
}

void snw_verdict_judge(const snw_expect *e, const snw_run_info *info, const snw_series *series,
                       snw_verdict *out) {
    for (int i = 0; i < snw_verdict_count(e); i++) {
        snw_verdict *v = &out[i];
        *v = (snw_verdict){.expect = e, .column = e->column[i % e->ncolumn], .want = e->value[i]};
        v->t = e->when == SNW_EXPECT_AT     ? e->t0
               : e->when == SNW_EXPECT_ROWS ? e->row_t[i / e->ncolumn]
                                            : NAN;
        v->got = v->error = NAN;
        v->why = look(v, info, series, &v->got);
        if (!v->why) compare(v);
    }
}

void snw_verdict_where(const snw_verdict *v, char *out, size_t size) {
    static const char *const is_name[] = {"min", "max", "mean", "range", "period", "size"};
    const snw_expect *e = v->expect;
    switch (e->when) {
    case SNW_EXPECT_AT:
    case SNW_EXPECT_ROWS:
        (void)snprintf(out, size, "t = %g s", v->t);
        return;
    case SNW_EXPECT_END:
        (void)snprintf(out, size, "end");
        return;
    case SNW_EXPECT_AFTER:
        (void)snprintf(out, size, "after %s", e->after);
        return;
    case SNW_EXPECT_OVER:
        if (isinf(e->t0) && isinf(e->t1)) {
            (void)snprintf(out, size, "%s of all", is_name[e->is]);
        } else {
            (void)snprintf(out, size, "%s of %g .. %g s", is_name[e->is], e->t0, e->t1);
        }
        return;
    }
}
