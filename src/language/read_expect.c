// SPDX-License-Identifier: MIT
//
// Reads expectations: the columns of probes, the times, the expected values or measurement file,
// and the tolerances. expect.c compares them with results.
#include "language/read.h"

#include "base/fail.h"
#include "language/expect.h"
#include "language/source.h"
#include "language/table.h"
#include "model/special.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT_KEYS(X)                                                                             \
    X(EXPECT_PROBE, "probe", "a probe, probe.component, or a list of them",                        \
      "the probe to compare; required unless a table has it")                                      \
    X(EXPECT_RUN, "run", "a run's name",                                                           \
      "only for this run, or for all runs that `each` made of it")                                 \
    X(EXPECT_AT, "at", "s, or end", "at this time")                                                \
    X(EXPECT_AFTER, "after", "a step's name", "at the end of this step of the study")              \
    X(EXPECT_POINT, "point", "fold, fold.2, branch, flutter, ..",                                  \
      "at this special point of a path, the first unless numbered")                                \
    X(EXPECT_OVER, "over", "[from, to], s, or all", "over this interval, with is")                 \
    X(EXPECT_IS, "is", "min, max, mean, range, period or size",                                    \
      "value over the interval; size is the largest magnitude")                                    \
    X(EXPECT_ROWS, "rows", "list of [t, values ..]", "at these times, instead of value")           \
    X(EXPECT_DATA, "data", "a file",                                                               \
      "compare at the times of a file of measurements: root mean square and maximum")              \
    X(EXPECT_COLUMNS, "columns", "name, number or list",                                           \
      "columns of the file; the names of the components unless given")                             \
    X(EXPECT_SHIFT, "shift", "s", "time of the study minus time of the file")                      \
    X(EXPECT_CLOCK, "clock", "s", "unit of the file's time, 1 s unless given")                     \
    X(EXPECT_FACTOR, "factor", "number", "unit of the file's values, 1 unless given")              \
    X(EXPECT_OFFSET, "offset", "number", "added to the file's values")                             \
    X(EXPECT_RMS, "rms", "number", "with data: largest root mean square of the difference")        \
    X(EXPECT_VALUE, "value", "number or list", "the value, a list for several components")         \
    X(EXPECT_WITHIN, "within", "number", "absolute tolerance")                                     \
    X(EXPECT_RELATIVE, "relative", "number", "tolerance relative to the value")                    \
    X(EXPECT_BELOW, "below", "number or list", "instead of value: must be less")                   \
    X(EXPECT_ABOVE, "above", "number or list", "instead of value: must be more")                   \
    X(EXPECT_SOURCE, "source", "text", "source of the value")                                      \
    X(EXPECT_TABLE, "table", "list of rows, the first with names of keys",                         \
      "one expectation a row; keys beside the table hold for all of them")

enum { EXPECT_KEYS(SNW_KEY_CODE) EXPECT_N };
SNW_KEYS(expect, "expect", "an expectation", EXPECT_KEYS);

// Columns of the expectation being read, with their dimensions.
typedef struct columns {
    int n, capacity;
    const char **name;
    snw_dim *dim;
} columns;

// ---- columns ------------------------------------------------------------------------------------

// the name has the form of snw_column_name
static snw_status expect_add_column(snw_reader *r, columns *c, const snw_probe_desc *p,
                                    const snw_component *part, int station) {
    SNW_ASSERT(c->n < c->capacity);
    const char *dot = part->name[0] ? "." : "";
    c->name[c->n] = station < 0
                        ? snw_pool_format(r->pool, "%s%s%s", p->name, dot, part->name)
                        : snw_pool_format(r->pool, "%s@%d%s%s", p->name, station, dot, part->name);
    c->dim[c->n] = p->kind == SNW_PROBE_LAW ? p->dim : part->dim;
    return c->name[c->n++] ? SNW_OK : snw_read_memory(r);
}

// add the columns of a probe
static snw_status add_probe(snw_reader *r, const snw_node *node, int nvalue, columns *c) {
    const char *text = "";
    snw_probe_part part;
    SNW_TRY(snw_read_name(r, node, "probe", &text));
    SNW_TRY(snw_find_columns(r, node, text, nvalue, &part));
    const snw_probe_desc *p = &r->desc->probe[part.probe];
    if (!snw_desc_records(r->desc, part.probe)) {
        return snw_fail_at(r->err, node->location,
                           "probe '%s' is not recorded, add it to 'only' of 'record'", p->name);
    }
    for (int i = part.first; i < part.first + part.count; i++) {
        SNW_TRY(expect_add_column(r, c, p, &part.component[i], part.station));
    }
    return SNW_OK;
}

static snw_status expect_read_columns(snw_reader *r, const snw_node *node, int nvalue, columns *c) {
    const bool list = node->kind == SNW_NODE_LIST;
    if (list && node->n == 0) return snw_fail_at(r->err, node->location, "'probe' names no probe");
    c->capacity = SNW_PROBE_WIDTH * (list ? node->n : 1);
    c->name = snw_pool_array(r->pool, (size_t)c->capacity, sizeof *c->name);
    c->dim = snw_pool_array(r->pool, (size_t)c->capacity, sizeof *c->dim);
    if (!c->name || !c->dim) return snw_read_memory(r);
    if (!list) return add_probe(r, node, nvalue, c);
    // in a list of probes the number of values does not select the components
    for (int i = 0; i < node->n; i++) SNW_TRY(add_probe(r, node->entry[i].value, 0, c));
    return SNW_OK;
}

// ---- values -------------------------------------------------------------------------------------

// one row of values, at entries skip, skip + 1, ... of a list
static snw_status expect_read_row(snw_reader *r, const snw_node *node, const char *what, int skip,
                                  const columns *c, double *out) {
    if (node->n != c->n + skip) {
        return snw_fail_at(r->err, node->location, "'%s' needs %d values%s%s .. %s), got %d", what,
                           c->n, skip ? " after the time (" : " (", c->name[0], c->name[c->n - 1],
                           node->n - skip);
    }
    for (int i = 0; i < c->n; i++) {
        SNW_TRY(snw_read_constant(r, node->entry[i + skip].value, what, c->dim[i], &out[i]));
    }
    return SNW_OK;
}

// a list, or one number for one column; over an interval one number may apply to all columns
static snw_status expect_read_values(snw_reader *r, const snw_entry *e, const columns *c,
                                     snw_expect *x) {
    double *value = snw_pool_array(r->pool, (size_t)c->n, sizeof *value);
    if (!value) return snw_read_memory(r);
    x->value = value;
    if (e->value->kind == SNW_NODE_LIST) return expect_read_row(r, e->value, e->key, 0, c, value);
    const bool shared = x->when == SNW_EXPECT_OVER || x->how >= SNW_EXPECT_BELOW;
    if (c->n > 1 && !shared) {
        return snw_fail_at(r->err, e->value->location, "'%s' needs %d values, a list (%s .. %s)",
                           e->key, c->n, c->name[0], c->name[c->n - 1]);
    }
    for (int i = 0; i < c->n; i++) {
        SNW_TRY(snw_read_constant(r, e->value, e->key, c->dim[i], &value[i]));
    }
    return SNW_OK;
}

static snw_status expect_check_time(snw_reader *r, const snw_node *node, double t) {
    if (r->desc->nstep == 0) {
        return snw_fail_at(r->err, node->location, "there is no study that reaches %g s", t);
    }
    const double slack = 1e-9 * (r->t_last - r->t_first);
    if (t >= r->t_first - slack && t <= r->t_last + slack) return SNW_OK;
    return snw_fail_at(r->err, node->location, "the study goes from %g s to %g s, %g s is outside",
                       r->t_first, r->t_last, t);
}

static snw_status read_time(snw_reader *r, const snw_node *node, const char *what, double *t) {
    SNW_TRY(snw_read_constant(r, node, what, SNW_DIM_TIME, t));
    return expect_check_time(r, node, *t);
}

static snw_status expect_read_rows(snw_reader *r, const snw_node *node, const columns *c,
                                   snw_expect *x) {
    if (node->kind != SNW_NODE_LIST || node->n == 0) {
        return snw_fail_at(r->err, node->location, "'rows' is a list of rows [t, values ..]");
    }
    double *t = snw_pool_array(r->pool, (size_t)node->n, sizeof *t);
    double *value = snw_pool_array(r->pool, (size_t)node->n * (size_t)c->n, sizeof *value);
    if (!t || !value) return snw_read_memory(r);
    x->nrow = node->n;
    x->row_t = t;
    x->value = value;
    for (int i = 0; i < node->n; i++) {
        const snw_node *row = node->entry[i].value;
        if (row->kind != SNW_NODE_LIST || row->n == 0) {
            return snw_fail_at(r->err, row->location, "a row is a list, [t, values ..]");
        }
        SNW_TRY(expect_read_row(r, row, "rows", 1, c, value + (size_t)i * (size_t)c->n));
        SNW_TRY(read_time(r, row->entry[0].value, "rows", &t[i]));
    }
    return SNW_OK;
}

// ---- times and comparison -----------------------------------------------------------------------

static snw_status read_interval(snw_reader *r, const snw_entry *over, const snw_entry *is,
                                snw_expect *x) {
    const snw_node *node = over->value;
    if (!is) {
        return snw_fail_at(r->err, over->location,
                           "'over' needs 'is': min max mean range period size");
    }
    int k = 0;
    SNW_TRY(snw_read_word(r, is->value, "is", SNW_EXPECT_IS_COUNT, snw_expect_is_word, &k));
    x->is = (snw_expect_is)k;
    if (node->kind == SNW_NODE_TEXT) {
        static const char *const all[] = {"all"};
        SNW_TRY(snw_read_word(r, node, "over", 1, all, &k));
        x->t0 = -INFINITY;
        x->t1 = INFINITY;
        return SNW_OK;
    }
    SNW_TRY(snw_read_list(r, node, "over", 2));
    SNW_TRY(read_time(r, node->entry[0].value, "over", &x->t0));
    SNW_TRY(read_time(r, node->entry[1].value, "over", &x->t1));
    if (x->t0 < x->t1) return SNW_OK;
    return snw_fail_at(r->err, node->location, "'over' must go from an earlier to a later time");
}

// "fold", "fold.2"
static snw_status read_point(snw_reader *r, const snw_node *node, snw_expect *x) {
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, "point", &text));
    const size_t length = strcspn(text, ".");
    char *end = NULL;
    const long number = text[length] ? strtol(text + length + 1, &end, 10) : 1;
    for (int i = 1; i < SNW_SPECIAL_COUNT; i++) {
        const char *name = snw_special_name((snw_special)i);
        if (strlen(name) != length || strncmp(name, text, length) != 0) continue;
        if (number < 1 || number > INT_MAX || (end && (*end || !isdigit((unsigned char)end[-1]))))
            break;
        x->point = i;
        x->number = (int)number;
        bool any = false;
        for (int k = 0; k < r->desc->nstep; k++) any |= r->desc->step[k].kind == SNW_STEP_PATH;
        if (any) return SNW_OK;
        return snw_fail_at(r->err, node->location,
                           "'point' is one of a path, and the study has no path step");
    }
    return snw_fail_at(r->err, node->location,
                       "'%.40s' is no special point: fold, branch or flutter, numbered from the "
                       "second on, e.g. fold.2",
                       text);
}

static snw_status read_expect_time(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                                   snw_expect *x) {
    const snw_entry *const choice[] = {
        e[EXPECT_AT],   e[EXPECT_AFTER], e[EXPECT_DATA] ? NULL : e[EXPECT_OVER],
        e[EXPECT_ROWS], e[EXPECT_DATA],  e[EXPECT_POINT]};
    const snw_entry *given = NULL;
    for (int i = 0; i < 6; i++) {
        if (!choice[i]) continue;
        if (given) {
            return snw_fail_at(r->err, choice[i]->location, "'%s' beside '%s': give one of them",
                               choice[i]->key, given->key);
        }
        given = choice[i];
    }
    if (!given) {
        return snw_fail_at(r->err, entry->location,
                           "the time is missing; give one of at, after, point, over, rows, data");
    }
    if (e[EXPECT_DATA]) {
        x->when = SNW_EXPECT_DATA;
        return SNW_OK;
    }
    if (e[EXPECT_IS] && !e[EXPECT_OVER]) {
        return snw_fail_at(r->err, e[EXPECT_IS]->location, "'is' needs an interval, add 'over'");
    }
    if (e[EXPECT_ROWS]) {
        x->when = SNW_EXPECT_ROWS;
        return SNW_OK;
    }
    if (e[EXPECT_OVER]) {
        x->when = SNW_EXPECT_OVER;
        return read_interval(r, e[EXPECT_OVER], e[EXPECT_IS], x);
    }
    if (e[EXPECT_POINT]) {
        x->when = SNW_EXPECT_POINT;
        return read_point(r, e[EXPECT_POINT]->value, x);
    }
    if (e[EXPECT_AFTER]) {
        int step = 0;
        const snw_node *node = e[EXPECT_AFTER]->value;
        x->when = SNW_EXPECT_AFTER;
        SNW_TRY(snw_read_name(r, node, "after", &x->after));
        SNW_TRY(snw_find_thing(r, node, x->after, SNW_THING_STEP, &step));
        if (r->desc->step[step].kind != SNW_STEP_CHANGE) return SNW_OK;
        return snw_fail_at(r->err, node->location,
                           "step '%s' is a change and computes nothing; name the one before or "
                           "after it",
                           x->after);
    }
    const snw_node *at = e[EXPECT_AT]->value;
    if (at->kind == SNW_NODE_TEXT && strcmp(at->text, "end") == 0) {
        x->when = SNW_EXPECT_END;
        return SNW_OK;
    }
    x->when = SNW_EXPECT_AT;
    return read_time(r, at, "at", &x->t0);
}

static snw_status read_comparison(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                                  snw_expect *x) {
    static const int key[] = {EXPECT_WITHIN, EXPECT_RELATIVE, EXPECT_BELOW, EXPECT_ABOVE};
    const snw_entry *given = NULL;
    for (int i = 0; i < 4; i++) {
        const snw_entry *k = e[key[i]];
        if (!k) continue;
        if (given) {
            return snw_fail_at(r->err, k->location, "'%s' beside '%s': give one of them", k->key,
                               given->key);
        }
        given = k;
        x->how = (snw_expect_how)i;
    }
    if (!given) {
        return snw_fail_at(r->err, entry->location,
                           "a tolerance is missing: within or relative, else below or above");
    }
    const bool bound = x->how >= SNW_EXPECT_BELOW;
    const snw_entry *value = e[EXPECT_VALUE] ? e[EXPECT_VALUE] : e[EXPECT_ROWS];
    if (bound && value) {
        return snw_fail_at(r->err, value->location, "'%s' replaces '%s': give one of them",
                           given->key, value->key);
    }
    if (e[EXPECT_VALUE] && e[EXPECT_ROWS]) {
        return snw_fail_at(r->err, e[EXPECT_ROWS]->location,
                           "'rows' beside 'value': give one of them");
    }
    if (!bound && !value) {
        return snw_fail_at(r->err, entry->location, "'%s' needs 'value', which is missing",
                           given->key);
    }
    return SNW_OK;
}

// common dimension of all columns; none if they differ, then a tolerance has no unit
static snw_dim common_dim(const columns *c) {
    for (int i = 1; i < c->n; i++) {
        if (memcmp(&c->dim[i], &c->dim[0], sizeof c->dim[0]) != 0) return SNW_DIM_NONE;
    }
    return c->dim[0];
}

static snw_status read_tolerance(snw_reader *r, const snw_entry *const *e, const columns *c,
                                 snw_expect *x) {
    if (x->how >= SNW_EXPECT_BELOW) return SNW_OK;
    const bool relative = x->how == SNW_EXPECT_RELATIVE;
    const snw_entry *k = e[relative ? EXPECT_RELATIVE : EXPECT_WITHIN];
    const snw_dim dim = relative ? SNW_DIM_NONE : common_dim(c);
    SNW_TRY(snw_read_constant(r, k->value, k->key, dim, &x->tolerance));
    if (!(x->tolerance >= 0)) {
        return snw_fail_at(r->err, k->value->location, "'%s' must not be negative, got %g", k->key,
                           x->tolerance);
    }
    for (int i = 0; relative && i < x->nrow * c->n; i++) {
        if (x->value[i] != 0) continue;
        return snw_fail_at(r->err, k->location,
                           "'relative' to a value of 0 would require exactly 0, use 'within'");
    }
    return SNW_OK;
}

// ---- measurements -------------------------------------------------------------------------------

// check that keys of `data` are used with `data` only, and that no others are
static snw_status check_data_keys(snw_reader *r, const snw_entry *const *e) {
    static const int of_data[] = {EXPECT_COLUMNS, EXPECT_SHIFT,  EXPECT_CLOCK,
                                  EXPECT_FACTOR,  EXPECT_OFFSET, EXPECT_RMS};
    static const int not_of_data[] = {EXPECT_IS, EXPECT_VALUE, EXPECT_RELATIVE, EXPECT_BELOW,
                                      EXPECT_ABOVE};
    for (int i = 0; !e[EXPECT_DATA] && i < 6; i++) {
        const snw_entry *k = e[of_data[i]];
        if (k) return snw_fail_at(r->err, k->location, "'%s' belongs to 'data'", k->key);
    }
    for (int i = 0; e[EXPECT_DATA] && i < 5; i++) {
        const snw_entry *k = e[not_of_data[i]];
        if (!k) continue;
        return snw_fail_at(r->err, k->location,
                           "'%s' beside 'data': the values are the file's, give 'within' and 'rms'",
                           k->key);
    }
    return SNW_OK;
}

static snw_status read_optional(snw_reader *r, const snw_entry *e, snw_dim dim, double *out) {
    return e ? snw_read_constant(r, e->value, e->key, dim, out) : SNW_OK;
}

static snw_status read_limit(snw_reader *r, const snw_entry *e, snw_dim dim, double *out) {
    *out = INFINITY;
    SNW_TRY(read_optional(r, e, dim, out));
    if (*out >= 0) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "'%s' must not be negative, got %g", e->key,
                       *out);
}

// `at` is the location for messages, `from` the file that names the data
static snw_status find_measured(snw_reader *r, const snw_node *at, const char *from,
                                const char *file, const char *column, snw_table *out) {
    if (!r->source->table) {
        return snw_fail_at(r->err, at->location, "files of measurements cannot be read here");
    }
    snw_error why = {0};
    const snw_status s = snw_tables_measured(r->source->table_user, from, file, column, out, &why);
    if (s == SNW_OK) return SNW_OK;
    if (s == SNW_E_MEMORY || why.line > 0) { // a fault inside the file has its own location
        *r->err = why;
        return s;
    }
    return snw_fail_at(r->err, at->location, "%.100s, column %.40s: %.250s", file, column,
                       why.text);
}

// Maps the data file to the study: time is clock * t + shift, value is factor * y + offset.
typedef struct conversion {
    double shift, clock, factor, offset, t0, t1;
} conversion;

static snw_status read_conversion(snw_reader *r, const snw_entry *const *e, snw_dim dim,
                                  conversion *k) {
    *k = (conversion){.clock = 1, .factor = 1, .t0 = -INFINITY, .t1 = INFINITY};
    SNW_TRY(read_optional(r, e[EXPECT_SHIFT], SNW_DIM_TIME, &k->shift));
    if (e[EXPECT_CLOCK]) {
        SNW_TRY(snw_read_positive(r, e[EXPECT_CLOCK]->value, "clock", SNW_DIM_TIME, &k->clock));
    }
    SNW_TRY(read_optional(r, e[EXPECT_FACTOR], dim, &k->factor));
    SNW_TRY(read_optional(r, e[EXPECT_OFFSET], dim, &k->offset));
    if (!e[EXPECT_OVER] || e[EXPECT_OVER]->value->kind == SNW_NODE_TEXT) return SNW_OK;
    const snw_node *interval = e[EXPECT_OVER]->value;
    SNW_TRY(snw_read_list(r, interval, "over", 2));
    SNW_TRY(read_time(r, interval->entry[0].value, "over", &k->t0));
    return read_time(r, interval->entry[1].value, "over", &k->t1);
}

// x <- the rows of the file in the interval, converted
static snw_status convert_rows(snw_reader *r, const snw_node *at, const conversion *k,
                               const snw_table *table, snw_expect *x) {
    const int rows = table[0].n;
    double *t = snw_pool_array(r->pool, (size_t)rows, sizeof *t);
    double *value = snw_pool_array(r->pool, (size_t)rows * (size_t)x->ncolumn, sizeof *value);
    if (!t || !value) return snw_read_memory(r);
    x->nrow = 0;
    for (int i = 0; i < rows; i++) {
        const double when = k->clock * table[0].x[i] + k->shift;
        if (when < k->t0 || when > k->t1) continue;
        if (isinf(k->t0)) SNW_TRY(expect_check_time(r, at, when));
        for (int j = 0; j < x->ncolumn; j++) {
            value[(size_t)x->nrow * (size_t)x->ncolumn + (size_t)j] =
                k->factor * table[j].y[i] + k->offset;
        }
        t[x->nrow++] = when;
    }
    x->row_t = t;
    x->value = value;
    return x->nrow > 0
               ? SNW_OK
               : snw_fail_at(r->err, at->location, "no row of '%s' lies in 'over'", x->data);
}

static snw_status expect_read_data(snw_reader *r, const snw_entry *const *e, const columns *c,
                                   snw_expect *x) {
    const snw_node *file = e[EXPECT_DATA]->value,
                   *names = e[EXPECT_COLUMNS] ? e[EXPECT_COLUMNS]->value : NULL;
    const snw_dim dim = common_dim(c);
    SNW_TRY(snw_read_text(r, file, "data", &x->data));
    SNW_TRY(read_limit(r, e[EXPECT_WITHIN], dim, &x->tolerance));
    SNW_TRY(read_limit(r, e[EXPECT_RMS], dim, &x->rms));
    if (!e[EXPECT_WITHIN] && !e[EXPECT_RMS]) {
        return snw_fail_at(r->err, x->location,
                           "a tolerance is missing: 'within' for the maximum, 'rms', or both");
    }
    const int given = !names ? c->n : names->kind == SNW_NODE_LIST ? names->n : 1;
    if (given != c->n) {
        return snw_fail_at(r->err, names->location, "'columns' needs %d names (%s .. %s), got %d",
                           c->n, c->name[0], c->name[c->n - 1], given);
    }
    conversion k;
    SNW_TRY(read_conversion(r, e, dim, &k));
    snw_table *table = snw_pool_array(r->pool, (size_t)c->n, sizeof *table);
    if (!table) return snw_read_memory(r);
    for (int i = 0; i < c->n; i++) {
        const snw_node *name =
            names && names->kind == SNW_NODE_LIST ? names->entry[i].value : names;
        const char *column = c->name[i];
        if (name) SNW_TRY(snw_read_text(r, name, "columns", &column));
        SNW_TRY(
            find_measured(r, name ? name : file, file->location.file, x->data, column, &table[i]));
    }
    return convert_rows(r, file, &k, table, x);
}

// ---- runs ---------------------------------------------------------------------------------------

// true if the name is `wanted` or, for `load`, one of load.1, load.2, .. made by `each`
static bool run_matches(const char *wanted, const char *name) {
    const size_t n = strlen(wanted);
    if (strncmp(wanted, name, n) != 0) return false;
    return name[n] == '\0' || (name[n] == '.' && isdigit((unsigned char)name[n + 1]));
}

static snw_status expect_read_run(snw_reader *r, const snw_entry *e, const char **out,
                                  bool *applies) {
    *applies = true;
    if (!e) return SNW_OK;
    SNW_TRY(snw_read_name(r, e->value, "run", out));
    *applies = run_matches(*out, r->run_name[r->run]);
    for (int i = 0; i < r->nrun; i++) {
        if (run_matches(*out, r->run_name[i])) return SNW_OK;
    }
    const char *near = snw_nearest(*out, r->nrun, r->run_name);
    return snw_fail_at(r->err, e->value->location, "there is no run '%s'%s", *out,
                       snw_hint_text(near).text);
}

// ---- expectations -------------------------------------------------------------------------------

// number of values given; it distinguishes a quaternion from a rotation vector
static int expect_count_values(const snw_entry *const *e) {
    const snw_entry *const lists[] = {e[EXPECT_VALUE], e[EXPECT_BELOW], e[EXPECT_ABOVE]};
    for (int i = 0; i < 3; i++) {
        if (lists[i] && lists[i]->value->kind == SNW_NODE_LIST) return lists[i]->value->n;
    }
    if (!e[EXPECT_ROWS] || e[EXPECT_ROWS]->value->n == 0) return 0;
    return e[EXPECT_ROWS]->value->entry[0].value->n - 1;
}

static snw_status read_expectation(snw_reader *r, const snw_entry *entry, snw_expect *x,
                                   bool *applies) {
    const snw_entry *e[EXPECT_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_expect, e));
    if (e[EXPECT_TABLE]) {
        return snw_fail_at(r->err, e[EXPECT_TABLE]->location,
                           "a row of a table of expectations has no table of its own");
    }
    x->location = entry->value->location;
    x->nrow = 1;
    if (!e[EXPECT_PROBE]) return snw_fail_at(r->err, entry->location, "'probe' is missing");
    columns c = {0};
    SNW_TRY(expect_read_run(r, e[EXPECT_RUN], &x->run, applies));
    // the other keys are checked only with a run it applies to; other runs may have other studies
    if (!*applies) return SNW_OK;
    SNW_TRY(expect_read_columns(r, e[EXPECT_PROBE]->value, expect_count_values(e), &c));
    x->ncolumn = c.n;
    x->column = c.name;
    if (e[EXPECT_SOURCE]) SNW_TRY(snw_read_text(r, e[EXPECT_SOURCE]->value, "source", &x->source));
    SNW_TRY(read_expect_time(r, entry, e, x));
    const bool period = x->when == SNW_EXPECT_OVER && x->is == SNW_EXPECT_PERIOD;
    for (int i = 0; period && i < c.n; i++)
        c.dim[i] = SNW_DIM_TIME; // a period is a time, for any column
    SNW_TRY(check_data_keys(r, e));
    if (x->when == SNW_EXPECT_DATA) return expect_read_data(r, e, &c, x);
    SNW_TRY(read_comparison(r, entry, e, x));
    if (x->when == SNW_EXPECT_ROWS) {
        SNW_TRY(expect_read_rows(r, e[EXPECT_ROWS]->value, &c, x));
    } else {
        const snw_entry *value = x->how == SNW_EXPECT_BELOW   ? e[EXPECT_BELOW]
                                 : x->how == SNW_EXPECT_ABOVE ? e[EXPECT_ABOVE]
                                                              : e[EXPECT_VALUE];
        SNW_TRY(expect_read_values(r, value, &c, x));
    }
    return read_tolerance(r, e, &c, x);
}

// read one expectation and keep it if it concerns the run
static snw_status add_expectation(snw_reader *r, const snw_entry *entry, snw_expect *list) {
    bool applies = false;
    snw_expect x = {0};
    SNW_TRY(read_expectation(r, entry, &x, &applies));
    if (applies) list[r->nexpect++] = x;
    return SNW_OK;
}

// *out <- the map of a row: the keys beside the table, then those of the head with the cells of the
// row; an empty cell leaves its key out
static snw_status expect_row_map(snw_reader *r, const snw_node *entry, const snw_node *head,
                                 const snw_node *row, snw_node *out) {
    if (row->kind != SNW_NODE_LIST || row->n != head->n) {
        return snw_fail_at(r->err, row->location, "a row of the table is a list of %d, as its head",
                           head->n);
    }
    snw_entry *cell = snw_pool_array(r->pool, (size_t)entry->n + (size_t)head->n, sizeof *cell);
    if (!cell) return snw_read_memory(r);
    *out = *entry;
    out->location = row->location;
    out->entry = cell;
    out->n = 0;
    for (int i = 0; i < entry->n; i++) {
        if (strcmp(entry->entry[i].key, "table") != 0) cell[out->n++] = entry->entry[i];
    }
    for (int i = 0; i < head->n; i++) {
        const char *key = "";
        SNW_TRY(snw_read_name(r, head->entry[i].value, "table", &key));
        if (snw_node_get(entry, key)) {
            return snw_fail_at(r->err, head->entry[i].location,
                               "'%s' is given beside the table too: give one of them", key);
        }
        if (row->entry[i].value->kind == SNW_NODE_NULL) continue;
        cell[out->n++] = (snw_entry){key, head->entry[i].location, row->entry[i].value};
    }
    return SNW_OK;
}

static snw_status read_expect_table(snw_reader *r, const snw_entry *entry, const snw_node *table,
                                    snw_expect *list) {
    const snw_node *head =
        table->kind == SNW_NODE_LIST && table->n > 1 ? table->entry[0].value : NULL;
    if (!head || head->kind != SNW_NODE_LIST || head->n == 0) {
        return snw_fail_at(r->err, table->location,
                           "'table' is a list of rows, the first with names of keys: "
                           "[[probe, at, value], [tip.x, end, 0.3]]");
    }
    for (int i = 1; i < table->n; i++) {
        snw_node map;
        SNW_TRY(expect_row_map(r, entry->value, head, table->entry[i].value, &map));
        const snw_entry row = {NULL, map.location, &map};
        SNW_TRY(add_expectation(r, &row, list));
    }
    return SNW_OK;
}

snw_status snw_read_expects(snw_reader *r) {
    const snw_node *node = snw_node_get(r->root, "expect");
    if (!node || node->kind == SNW_NODE_NULL) return SNW_OK;
    if (node->kind != SNW_NODE_LIST) {
        return snw_fail_at(r->err, node->location,
                           "'expect' is a list, '- {probe: .., value: ..}'");
    }
    size_t most = 0;
    for (int i = 0; i < node->n; i++) {
        const snw_node *table = snw_node_get(node->entry[i].value, "table");
        most += table && table->n > 0 ? (size_t)table->n : 1;
    }
    snw_expect *list = snw_pool_array(r->pool, most, sizeof *list);
    if (!list) return snw_read_memory(r);
    r->expect = list;
    for (int i = 0; i < node->n; i++) {
        const snw_entry *entry = &node->entry[i];
        const snw_node *table = snw_node_get(entry->value, "table");
        SNW_TRY(table ? read_expect_table(r, entry, table, list) : add_expectation(r, entry, list));
    }
    return SNW_OK;
}
