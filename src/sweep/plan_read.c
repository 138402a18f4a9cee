// SPDX-License-Identifier: MIT
//
// Reads the plan of a sweep, a YAML file of its own.
#include "sweep/plan.h"

#include "base/fail.h"
#include "language/read.h"
#include "language/table.h"
#include "language/text.h"
#include "language/yaml.h"
#include "math/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_KEYS(X)                                                                               \
    X(PLAN_SINEW, "sinew", "1", "version of the language, required")                               \
    X(PLAN_TITLE, "title", "text", "one line")                                                     \
    X(PLAN_ABOUT, "about", "text", "subject and source of the plan")                               \
    X(PLAN_MODEL, "model", "a file", "the model, required; its path is relative to the plan")      \
    X(PLAN_RUN, "run", "name of a run", "which run of the model, where it has several")            \
    X(PLAN_SET, "set", "values by path", "overrides that all rows have, as of --set")              \
    X(PLAN_VARY, "vary", "spreads by path", "numbers of the model that vary, named as by --set")   \
    X(PLAN_TABLE, "table", "a CSV file",                                                           \
      "instead of `vary`: a line of paths, then a line of SI numbers for each row; a first "       \
      "column "                                                                                    \
      "`row` is left out")                                                                         \
    X(PLAN_SAMPLE, "sample", "a method and its count", "how rows are made of the spreads")         \
    X(PLAN_KEEP, "keep", "scalars by name", "numbers that are kept of each row, required")         \
    X(PLAN_SERIES, "series", "list of probes", "probes whose whole series are kept as well")
#define VARY_KEYS(X)                                                                               \
    X(VARY_VALUES, "values", "list", "these values; words too, such as names of schemes")          \
    X(VARY_FROM, "from", "number", "lower end of a range")                                         \
    X(VARY_TO, "to", "number", "its upper end")                                                    \
    X(VARY_POINTS, "points", "number", "values in the range, ends included; without it any")       \
    X(VARY_SPACING, "spacing", "linear or log", "of a range; linear unless given")                 \
    X(VARY_UNIFORM, "uniform", "[low, high]", "a range: the same as `from` and `to`")              \
    X(VARY_LOG_UNIFORM, "log_uniform", "[low, high]", "a range with spacing log")                  \
    X(VARY_NORMAL, "normal", "[mean, deviation]", "normal distribution, standard deviation")       \
    X(VARY_LOG_NORMAL, "log_normal", "[median, deviation]",                                        \
      "its natural logarithm is normal with this standard deviation, e.g. 0.1 for about 10 %")     \
    X(VARY_WITHIN, "within", "[low, high]", "bounds that cut a normal distribution off")
#define SAMPLE_KEYS(X)                                                                             \
    X(SAMPLE_METHOD, "method", "a word", "grid unless given")                                      \
    X(SAMPLE_COUNT, "count", "number", "points; pairs of saltelli; paths of morris")               \
    X(SAMPLE_SEED, "seed", "number", "of random numbers; 1 unless given")                          \
    X(SAMPLE_SHIFT, "shift", "on or off",                                                          \
      "Sobol' points are moved at random by the seed; on unless given")                            \
    X(SAMPLE_LEVELS, "levels", "even number", "of the paths of morris, 4 unless given")

enum { PLAN_KEYS(SNW_KEY_CODE) PLAN_N };
SNW_KEYS(sweep_plan, "sweep", "a plan of a sweep", PLAN_KEYS);
enum { VARY_KEYS(SNW_KEY_CODE) VARY_N };
SNW_KEYS(sweep_vary, "vary", "the spread of a parameter", VARY_KEYS);
enum { SAMPLE_KEYS(SNW_KEY_CODE) SAMPLE_N };
SNW_KEYS(sweep_sample, "sample", "how rows are made", SAMPLE_KEYS);

extern const snw_key_table snw_keys_sweep_plan, snw_keys_sweep_vary, snw_keys_sweep_sample;

enum { MOST_POINTS = 10000000, MOST_PARAMETERS = 1000, MOST_RESULTS = 1000 };
static const size_t PLAN_LIMIT = (size_t)1 << 30; // bytes of a plan with its table
static const double MOST_COUNT = 0x1p40;

// ---- numbers ------------------------------------------------------------------------------------

// A constant of any dimension, SI units.
static snw_status plan_number(snw_reader *r, const snw_node *node, const char *what, double *value,
                              snw_dim *dim) {
    if (node->kind != SNW_NODE_TEXT)
        return snw_fail_at(r->err, node->location, "'%s' is a number, such as 2 or 12 mm", what);
    const snw_source_location at = node->location;
    SNW_TRY(snw_expr_parse_constant(r->pool, snw_read_scope(r, node), node->text, at.file, at.line,
                                    at.column, value, dim, r->err));
    if (isfinite(*value)) return SNW_OK;
    return snw_fail_at(r->err, at, "'%s' is not finite", what);
}

static snw_status whole_number(snw_reader *r, const snw_entry *e, double low, double high,
                               double *out) {
    snw_dim dim;
    SNW_TRY(plan_number(r, e->value, e->key, out, &dim));
    if (*out == floor(*out) && *out >= low && *out <= high) return SNW_OK;
    return snw_fail_at(r->err, e->value->location,
                       "'%s' is a whole number from %.0f to %.0f, got %g", e->key, low, high, *out);
}

// Does the text of a number end in a unit of angles?
static bool ends_in_angle(const char *text) {
    const size_t n = strlen(text);
    return n > 3 && (strcmp(text + n - 3, "deg") == 0 || strcmp(text + n - 3, "rad") == 0);
}

// Unit of the parameter from a number that is given for it; all must have the same.
static snw_status use_dim(snw_reader *r, const snw_node *node, snw_dim dim,
                          snw_sweep_parameter *out) {
    char unit[48];
    snw_dim_unit(dim, unit, sizeof unit);
    out->angle = out->angle || (!unit[0] && ends_in_angle(node->text));
    if (!out->unit) {
        out->unit = snw_pool_text(r->pool, unit, strlen(unit));
        return out->unit ? SNW_OK : snw_read_memory(r);
    }
    if (strcmp(out->unit, unit) == 0) return SNW_OK;
    return snw_fail_at(r->err, node->location, "'%s' is in '%s', but the number before it in '%s'",
                       node->text, unit[0] ? unit : "1", out->unit[0] ? out->unit : "1");
}

// Two numbers of a list; the second of the same unit, or a plain number.
static snw_status pair_of(snw_reader *r, const snw_entry *e, bool plain, snw_sweep_parameter *out,
                          double *a, double *b) {
    snw_dim dim;
    SNW_TRY(snw_read_list(r, e->value, e->key, 2));
    const snw_node *first = e->value->entry[0].value, *second = e->value->entry[1].value;
    SNW_TRY(plan_number(r, first, e->key, a, &dim));
    SNW_TRY(use_dim(r, first, dim, out));
    SNW_TRY(plan_number(r, second, e->key, b, &dim));
    if (!plain) return use_dim(r, second, dim, out);
    char unit[48];
    snw_dim_unit(dim, unit, sizeof unit);
    if (!unit[0]) return SNW_OK;
    return snw_fail_at(r->err, second->location,
                       "the deviation of a logarithm is a plain number, e.g. 0.1 for about 10 %%");
}

// ---- spreads ------------------------------------------------------------------------------------

// A list: numbers, or words where one of them is no number.
static snw_status read_values(snw_reader *r, const snw_node *list, snw_sweep_parameter *out) {
    if (list->kind != SNW_NODE_LIST || list->n == 0)
        return snw_fail_at(r->err, list->location, "'%s' takes a list of values, [1, 2, 5]",
                           out->path);
    double *value = snw_pool_array(r->pool, (size_t)list->n, sizeof *value);
    const char **label = snw_pool_array(r->pool, (size_t)list->n, sizeof *label);
    if (!value || !label) return snw_read_memory(r);
    bool words = false;
    for (int i = 0; i < list->n; i++) {
        const snw_node *node = list->entry[i].value;
        if (node->kind != SNW_NODE_TEXT)
            return snw_fail_at(r->err, node->location,
                               "a value of '%s' is a number or a word; vary one number of a list "
                               "or map by its own path, or make it a parameter of the model",
                               out->path);
        label[i] = node->text;
        snw_dim dim;
        snw_error why = {0}, *kept = r->err;
        r->err = &why;
        const snw_status s = plan_number(r, node, out->path, &value[i], &dim);
        r->err = kept;
        // a word: letters, no number in it
        words = words || (s != SNW_OK && !strpbrk(node->text, "0123456789"));
        if (s != SNW_OK && !words) {
            if (kept) *kept = why;
            return s;
        }
        if (!words) SNW_TRY(use_dim(r, node, dim, out));
    }
    for (int i = 0; words && i < list->n; i++) value[i] = i;
    if (words) out->unit = "";
    out->spread = SNW_SPREAD_VALUES;
    out->n = list->n;
    out->value = value;
    out->label = words ? label : NULL;
    return SNW_OK;
}

// `points` values of a range.
static snw_status spread_points(snw_reader *r, int n, snw_sweep_parameter *out) {
    double *value = snw_pool_array(r->pool, (size_t)n, sizeof *value);
    if (!value) return snw_read_memory(r);
    for (int i = 0; i < n; i++) {
        const double u = n > 1 ? (double)i / (n - 1) : 0;
        value[i] = u == 1 ? out->b : snw_sweep_quantile(out, u);
    }
    out->spread = SNW_SPREAD_VALUES;
    out->n = n;
    out->value = value;
    return SNW_OK;
}

static snw_status read_range(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                             snw_sweep_parameter *out) {
    static const char *const spacing[] = {"linear", "log"};
    int logs = e[VARY_LOG_UNIFORM] != NULL;
    snw_dim dim;
    if (e[VARY_UNIFORM] || e[VARY_LOG_UNIFORM]) {
        SNW_TRY(pair_of(r, e[VARY_UNIFORM] ? e[VARY_UNIFORM] : e[VARY_LOG_UNIFORM], false, out,
                        &out->a, &out->b));
    } else {
        if (!e[VARY_FROM] || !e[VARY_TO])
            return snw_fail_at(r->err, entry->location, "the range of '%s' has 'from' and 'to'",
                               out->path);
        SNW_TRY(plan_number(r, e[VARY_FROM]->value, "from", &out->a, &dim));
        SNW_TRY(use_dim(r, e[VARY_FROM]->value, dim, out));
        SNW_TRY(plan_number(r, e[VARY_TO]->value, "to", &out->b, &dim));
        SNW_TRY(use_dim(r, e[VARY_TO]->value, dim, out));
    }
    if (e[VARY_SPACING])
        SNW_TRY(snw_read_word(r, e[VARY_SPACING]->value, "spacing", 2, spacing, &logs));
    if (!(out->a < out->b))
        return snw_fail_at(r->err, entry->location,
                           "the range of '%s' must rise, got %g to %g (SI)", out->path, out->a,
                           out->b);
    if (logs && !(out->a > 0))
        return snw_fail_at(r->err, entry->location,
                           "'%s': a logarithmic range begins above 0, got %g (SI)", out->path,
                           out->a);
    out->spread = logs ? SNW_SPREAD_LOGARITHM : SNW_SPREAD_UNIFORM;
    double points = 0;
    if (!e[VARY_POINTS]) return SNW_OK;
    SNW_TRY(whole_number(r, e[VARY_POINTS], 2, MOST_POINTS, &points));
    return spread_points(r, (int)points, out);
}

// Probability below x of a normal distribution.
static double normal_probability(double x) { return 0.5 * erfc(-x / sqrt(2)); }

// x as a variable of mean 0 and deviation 1.
static double normal_variable(const snw_sweep_parameter *p, double x) {
    if (p->spread == SNW_SPREAD_NORMAL) return (x - p->a) / p->b;
    return x > 0 ? log(x / p->a) / p->b : -INFINITY;
}

static snw_status read_normal(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                              snw_sweep_parameter *out) {
    const bool logs = e[VARY_LOG_NORMAL] != NULL;
    SNW_TRY(pair_of(r, logs ? e[VARY_LOG_NORMAL] : e[VARY_NORMAL], logs, out, &out->a, &out->b));
    out->spread = logs ? SNW_SPREAD_LOG_NORMAL : SNW_SPREAD_NORMAL;
    if (!(out->b > 0) || (logs && !(out->a > 0)))
        return snw_fail_at(r->err, entry->location, "'%s': %s must be positive", out->path,
                           out->b > 0 ? "the median" : "the deviation");
    double low = -INFINITY, high = INFINITY;
    if (e[VARY_WITHIN]) SNW_TRY(pair_of(r, e[VARY_WITHIN], false, out, &low, &high));
    out->low = normal_probability(normal_variable(out, low));
    out->high = normal_probability(normal_variable(out, high));
    if (out->high - out->low > 1e-6) return SNW_OK;
    return snw_fail_at(r->err, e[VARY_WITHIN]->location,
                       "'within' leaves less than 1e-6 of the distribution of '%s'", out->path);
}

static snw_status read_spread(snw_reader *r, const snw_entry *entry, snw_sweep_parameter *out) {
    *out = (snw_sweep_parameter){.location = entry->location, .path = entry->key, .high = 1};
    if (entry->value->kind == SNW_NODE_LIST) return read_values(r, entry->value, out);
    const snw_entry *e[VARY_N];
    if (entry->value->kind != SNW_NODE_MAP)
        return snw_fail_at(r->err, entry->value->location,
                           "'%s' takes a list of values, [1, 2, 5], or a spread such as {from: 1, "
                           "to: 5, points: 9} or {normal: [3, 0.1]}",
                           out->path);
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_sweep_vary, e));
    const bool range = e[VARY_FROM] || e[VARY_TO] || e[VARY_UNIFORM] || e[VARY_LOG_UNIFORM],
               normal = e[VARY_NORMAL] || e[VARY_LOG_NORMAL];
    const int kinds = (e[VARY_VALUES] != NULL) + (e[VARY_FROM] || e[VARY_TO]) +
                      (e[VARY_UNIFORM] != NULL) + (e[VARY_LOG_UNIFORM] != NULL) +
                      (e[VARY_NORMAL] != NULL) + (e[VARY_LOG_NORMAL] != NULL);
    if (kinds != 1)
        return snw_fail_at(r->err, entry->location,
                           "'%s' has %s spread; give one of values, from and to, uniform, "
                           "log_uniform, normal, log_normal",
                           out->path, kinds ? "more than one" : "no");
    for (int k = VARY_POINTS; k <= VARY_SPACING; k++) {
        if (e[k] && !range)
            return snw_fail_at(r->err, e[k]->location, "'%s' belongs to a range", e[k]->key);
    }
    if (e[VARY_WITHIN] && !normal)
        return snw_fail_at(r->err, e[VARY_WITHIN]->location,
                           "'within' belongs to a normal distribution");
    if (e[VARY_VALUES]) return read_values(r, e[VARY_VALUES]->value, out);
    return range ? read_range(r, entry, e, out) : read_normal(r, entry, e, out);
}

// ---- parts of the plan --------------------------------------------------------------------------

// A path relative to the folder of the plan.
static const char *beside_plan(snw_reader *r, const snw_sweep_plan *p, const char *name) {
    const char *slash = strrchr(p->path, '/');
    if (name[0] == '/' || !slash) return name;
    return snw_pool_format(r->pool, "%.*s/%s", (int)(slash - p->path), p->path, name);
}

static snw_status read_vary(snw_reader *r, const snw_entry *vary, snw_sweep_plan *p) {
    const snw_node *all = vary->value;
    if (all->kind != SNW_NODE_MAP || all->n == 0)
        return snw_fail_at(r->err, all->location,
                           "'vary' has the paths of what varies, e.g. {silicone.young: [1 MPa, 2 "
                           "MPa]}");
    if (all->n > MOST_PARAMETERS)
        return snw_fail_at(r->err, all->location, "more than %d parameters", MOST_PARAMETERS);
    p->nparameter = all->n;
    p->parameter = snw_pool_array(r->pool, (size_t)all->n, sizeof *p->parameter);
    if (!p->parameter) return snw_read_memory(r);
    for (int i = 0; i < all->n; i++) SNW_TRY(read_spread(r, &all->entry[i], &p->parameter[i]));
    return SNW_OK;
}

static snw_status read_table(snw_reader *r, const snw_entry *table, snw_sweep_plan *p) {
    const char *name;
    SNW_TRY(snw_read_text(r, table->value, "table", &name));
    name = beside_plan(r, p, name);
    if (!name) return snw_read_memory(r);
    snw_data_table t;
    SNW_TRY(snw_rows_read(r->pool, name, PLAN_LIMIT / 4, &t, r->err));
    // the first column of a table written by --table numbers the rows
    const int first = strcmp(t.name[0], "row") == 0;
    const snw_source_location at = {.file = name, .line = 1, .column = 1};
    if (t.ncolumn == first)
        return snw_fail_at(r->err, at, "the table has row numbers only, no parameter");
    p->nparameter = t.ncolumn - first;
    p->parameter = snw_pool_array(r->pool, (size_t)p->nparameter, sizeof *p->parameter);
    if (!p->parameter) return snw_read_memory(r);
    for (int i = 0; i < p->nparameter; i++) {
        const char *path = t.name[first + i];
        for (int k = 0; k < i; k++) {
            if (strcmp(p->parameter[k].path, path) == 0)
                return snw_fail_at(r->err, at, "the table has two columns '%s'", path);
        }
        p->parameter[i] =
            (snw_sweep_parameter){.location = at,
                                  .path = path,
                                  .spread = SNW_SPREAD_COLUMN,
                                  .high = 1,
                                  .n = t.nrow,
                                  .value = t.value + (size_t)(first + i) * (size_t)t.nrow};
    }
    p->method = SNW_SWEEP_LIST;
    return SNW_OK;
}

// Methods that take values, and those that take any spread.
static snw_status check_spreads(snw_reader *r, const snw_sweep_plan *p) {
    const bool values = p->method == SNW_SWEEP_GRID || p->method == SNW_SWEEP_LIST;
    for (int i = 0; i < p->nparameter; i++) {
        const snw_sweep_parameter *x = &p->parameter[i];
        if (values && x->n == 0)
            return snw_fail_at(r->err, x->location,
                               "'%s' has no list of values for the method '%s': give 'values', or "
                               "'points' of a range, or sample by another method",
                               x->path, snw_sweep_method_name[p->method]);
        if (p->method == SNW_SWEEP_LIST && x->n != p->parameter[0].n)
            return snw_fail_at(r->err, x->location,
                               "side by side, '%s' has %d values and '%s' %d; give as many",
                               x->path, x->n, p->parameter[0].path, p->parameter[0].n);
    }
    return SNW_OK;
}

static snw_status read_sample(snw_reader *r, const snw_entry *sample, snw_sweep_plan *p) {
    p->seed = 1;
    p->shifted = true;
    p->levels = 4;
    if (!sample) return check_spreads(r, p);
    const snw_entry *e[SAMPLE_N];
    int k = p->method;
    double number = 0;
    SNW_TRY(snw_read_map(r, sample->value, &snw_keys_sweep_sample, e));
    if (e[SAMPLE_METHOD])
        SNW_TRY(snw_read_word(r, e[SAMPLE_METHOD]->value, "method", SNW_SWEEP_METHOD_COUNT,
                              snw_sweep_method_name, &k));
    p->method = (snw_sweep_method)k;
    const bool counted = p->method != SNW_SWEEP_GRID && p->method != SNW_SWEEP_LIST;
    if (counted && !e[SAMPLE_COUNT])
        return snw_fail_at(r->err, sample->location, "the method '%s' needs a 'count'",
                           snw_sweep_method_name[p->method]);
    if (!counted && e[SAMPLE_COUNT])
        return snw_fail_at(
            r->err, e[SAMPLE_COUNT]->location,
            "the values of a %s determine the number of its rows; leave out 'count', "
            "or choose another method",
            snw_sweep_method_name[p->method]);
    if (counted) {
        SNW_TRY(whole_number(r, e[SAMPLE_COUNT], 1, MOST_COUNT, &number));
        p->count = (int64_t)number;
    }
    if (e[SAMPLE_SEED]) {
        SNW_TRY(whole_number(r, e[SAMPLE_SEED], 0, 0x1p53, &number));
        p->seed = (uint64_t)number;
    }
    if (e[SAMPLE_SHIFT]) SNW_TRY(snw_read_switch(r, e[SAMPLE_SHIFT]->value, "shift", &p->shifted));
    if (e[SAMPLE_LEVELS]) {
        SNW_TRY(whole_number(r, e[SAMPLE_LEVELS], 2, 1000, &number));
        p->levels = (int)number;
        if (p->levels % 2)
            return snw_fail_at(r->err, e[SAMPLE_LEVELS]->value->location,
                               "'levels' is even, got %d", p->levels);
    }
    return check_spreads(r, p);
}

static snw_status read_keep(snw_reader *r, const snw_node *root, const snw_entry *keep,
                            snw_sweep_plan *p) {
    if (!keep || keep->value->kind != SNW_NODE_MAP || keep->value->n == 0)
        return snw_fail_at(r->err, keep ? keep->value->location : root->location,
                           "'keep' names the numbers that are kept of each row, e.g. keep: {x: "
                           "end(tip.x), top: max(tip.z)}");
    const snw_node *all = keep->value;
    if (all->n > MOST_RESULTS)
        return snw_fail_at(r->err, all->location, "more than %d results", MOST_RESULTS);
    snw_sweep_result *result = snw_pool_array(r->pool, (size_t)all->n, sizeof *result);
    if (!result) return snw_read_memory(r);
    for (int i = 0; i < all->n; i++) {
        const snw_entry *e = &all->entry[i];
        if (!e->key[0] || strchr(e->key, '/'))
            return snw_fail_at(r->err, e->location, "'%s' is not a name for a result", e->key);
        for (int k = 0; k < p->nparameter; k++) {
            if (strcmp(p->parameter[k].path, e->key) == 0)
                return snw_fail_at(r->err, e->location,
                                   "'%s' is a parameter that varies; name the result otherwise",
                                   e->key);
        }
        result[i].name = e->key;
        result[i].location = e->value->location;
        SNW_TRY(snw_read_text(r, e->value, e->key, &result[i].text));
    }
    p->nresult = all->n;
    p->result = result;
    return SNW_OK;
}

static snw_status read_series(snw_reader *r, const snw_entry *series, snw_sweep_plan *p) {
    if (!series) return SNW_OK;
    const snw_node *list = series->value;
    p->series_location = list->location;
    if (list->kind != SNW_NODE_LIST || list->n == 0)
        return snw_fail_at(r->err, list->location,
                           "'series' is a list of probes, [tip, e.elastic]");
    const char **name = snw_pool_array(r->pool, (size_t)list->n, sizeof *name);
    if (!name) return snw_read_memory(r);
    for (int i = 0; i < list->n; i++)
        SNW_TRY(snw_read_text(r, list->entry[i].value, "series", &name[i]));
    p->nseries = list->n;
    p->series = name;
    return SNW_OK;
}

static snw_status read_set(snw_reader *r, const snw_entry *set, snw_sweep_plan *p) {
    if (!set) return SNW_OK;
    const snw_node *all = set->value;
    if (all->kind != SNW_NODE_MAP)
        return snw_fail_at(r->err, all->location, "'set' is a map of overrides, {path: value}");
    const char **text = snw_pool_array(r->pool, (size_t)all->n + 1, sizeof *text);
    if (!text) return snw_read_memory(r);
    for (int i = 0; i < all->n; i++) {
        const snw_entry *e = &all->entry[i];
        const char *value;
        SNW_TRY(snw_read_text(r, e->value, e->key, &value));
        text[i] = snw_pool_format(r->pool, "%s=%s", e->key, value);
        if (!text[i]) return snw_read_memory(r);
        for (int k = 0; k < p->nparameter; k++) {
            if (strcmp(p->parameter[k].path, e->key) == 0)
                return snw_fail_at(r->err, e->location, "'%s' is set and varies; leave one out",
                                   e->key);
        }
    }
    p->nset = all->n;
    p->set = text;
    return SNW_OK;
}

static snw_status read_head(snw_reader *r, const snw_entry *const *e, snw_sweep_plan *p) {
    double version = 0;
    if (e[PLAN_SINEW]) SNW_TRY(whole_number(r, e[PLAN_SINEW], 0, 1e9, &version));
    if (version != 1)
        return snw_fail_at(r->err, e[PLAN_SINEW] ? e[PLAN_SINEW]->location : r->root->location,
                           "a plan has the version of its language, 'sinew: 1'");
    p->title = "";
    const char *about;
    if (e[PLAN_TITLE]) SNW_TRY(snw_read_text(r, e[PLAN_TITLE]->value, "title", &p->title));
    if (e[PLAN_ABOUT]) SNW_TRY(snw_read_text(r, e[PLAN_ABOUT]->value, "about", &about));
    if (!e[PLAN_MODEL])
        return snw_fail_at(r->err, r->root->location,
                           "'model' is missing: which file is run? model: arm.yaml");
    SNW_TRY(snw_read_text(r, e[PLAN_MODEL]->value, "model", &p->model));
    p->model = beside_plan(r, p, p->model);
    if (!p->model) return snw_read_memory(r);
    p->model_location = e[PLAN_MODEL]->value->location;
    if (e[PLAN_RUN]) {
        SNW_TRY(snw_read_text(r, e[PLAN_RUN]->value, "run", &p->run));
        p->run_location = e[PLAN_RUN]->value->location;
    }
    return SNW_OK;
}

static snw_status read_plan(snw_reader *r, const snw_node *root, snw_sweep_plan *p) {
    const snw_entry *e[PLAN_N];
    if (snw_node_get(root, "robot"))
        return snw_fail_at(r->err, root->location,
                           "this is a model; a plan of a sweep is a file of its own that names it: "
                           "{sinew: 1, model: %s, vary: {..}, keep: {..}}",
                           p->path);
    SNW_TRY(snw_read_map(r, root, &snw_keys_sweep_plan, e));
    SNW_TRY(read_head(r, e, p));
    if (!e[PLAN_VARY] == !e[PLAN_TABLE])
        return snw_fail_at(r->err, e[PLAN_TABLE] ? e[PLAN_TABLE]->location : root->location,
                           "a plan has %s 'vary' or 'table'", e[PLAN_TABLE] ? "one of" : "a");
    if (e[PLAN_VARY]) SNW_TRY(read_vary(r, e[PLAN_VARY], p));
    if (e[PLAN_TABLE]) SNW_TRY(read_table(r, e[PLAN_TABLE], p));
    SNW_TRY(read_sample(r, e[PLAN_SAMPLE], p));
    SNW_TRY(read_set(r, e[PLAN_SET], p));
    SNW_TRY(read_keep(r, root, e[PLAN_KEEP], p));
    SNW_TRY(read_series(r, e[PLAN_SERIES], p));
    const snw_status s = snw_sweep_plan_complete(p, r->err);
    if (s == SNW_E_PARSE && e[PLAN_VARY])
        return snw_fail_at_location(r->err, s, p->path, e[PLAN_VARY]->location.line,
                                    e[PLAN_VARY]->location.column);
    return s;
}

snw_status snw_sweep_plan_read(const char *path, snw_sweep_plan **out, snw_error *err) {
    *out = NULL;
    snw_pool *pool = snw_pool_create(PLAN_LIMIT);
    snw_sweep_plan *p = pool ? snw_pool_take(pool, sizeof *p) : NULL;
    snw_error why = {0};
    snw_reader r = {.pool = pool, .err = &why};
    snw_scope *scope = p ? snw_scope_create(pool, NULL) : NULL;
    size_t length = 0;
    snw_node *root = NULL;
    snw_status s = scope ? SNW_OK : snw_fail_memory(&why);
    if (s == SNW_OK) {
        *p = (snw_sweep_plan){.pool = pool};
        p->path = snw_pool_text(pool, path, strlen(path));
        s = p->path ? snw_text_read(pool, path, SNW_TEXT_FILE_MAX, &p->text, &length, &why)
                    : snw_fail_memory(&why);
    }
    if (s == SNW_OK) s = snw_yaml_parse(pool, p->path, p->text, length, &root, &why);
    if (s == SNW_OK) {
        root->scope = scope;
        r.root = root;
        s = read_plan(&r, root, p);
    }
    if (s != SNW_OK) {
        if (err) *err = why;
        snw_pool_destroy(pool);
        return s;
    }
    *out = p;
    return SNW_OK;
}
