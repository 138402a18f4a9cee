// SPDX-License-Identifier: MIT
//
// Reads the strain functions of the user: a list of laws of x and columns of tables.
#include "language/read.h"

#include "base/fail.h"
#include "language/source.h"
#include "language/table.h"
#include "math/function_set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION_KEYS(X)                                                                           \
    X(FUNCTION_TABLE, "table", "the name of a file",                                               \
      "columns of numbers over the arc length, which is the first one; required")                  \
    X(FUNCTION_COLUMN, "column", "a name or number, or a list",                                    \
      "columns that are functions; NAME stands for NAME.1, NAME.2, .. as well; all but the first " \
      "unless given")                                                                              \
    X(FUNCTION_OVER, "over", "x or x/L", "the first column: x in m, unless given")                 \
    X(FUNCTION_BETWEEN, "between", "cubic or linear",                                              \
      "between the rows: a cubic spline, unless given, or straight lines")

enum { FUNCTION_KEYS(SNW_KEY_CODE) FUNCTION_N };
SNW_KEYS(function, "function", "a strain function", FUNCTION_KEYS);

enum { LEAST_CUBIC = 4, LEAST_LINEAR = 2 };

// The list as it grows.
typedef struct function_list {
    const char *strain;
    double L; // length of the rod, m
    int n;
    snw_shape_function *function; // SNW_FUNCTION_SET_MOST
} function_list;

// A table in the list.
typedef struct function_table {
    const snw_node *node; // for messages
    const char *file, *from;
    bool fraction, linear;
} function_table;

static snw_status functions_room(snw_reader *r, const function_list *list, const snw_node *node) {
    if (list->n < SNW_FUNCTION_SET_MOST) return SNW_OK;
    return snw_fail_at(r->err, node->location, "%s has more than %d functions", list->strain,
                       (int)SNW_FUNCTION_SET_MOST);
}

static snw_status read_law_function(snw_reader *r, const snw_node *node, function_list *list) {
    const int vars = SNW_VAR_X | SNW_VAR_L;
    snw_shape_function *f = &list->function[list->n];
    SNW_TRY(functions_room(r, list, node));
    SNW_TRY(snw_read_text(r, node, list->strain, &f->text));
    f->location = node->location;
    SNW_TRY(snw_read_law(r, node, list->strain, SNW_DIM_NONE, vars, &f->law));
    list->n++;
    return SNW_OK;
}

// A fault inside the file has its own location, all others that of the table in the model.
static snw_status functions_fail(snw_reader *r, const function_table *t, snw_status status,
                                 const snw_error *why) {
    if (status == SNW_E_MEMORY || why->line > 0) {
        *r->err = *why;
        return status;
    }
    return snw_fail_at(r->err, t->node->location, "%.100s: %.250s", t->file, why->text);
}

// *out <- the rows over x/L; the first and the last are exact at the ends of the rod.
static snw_status scale_rows(snw_reader *r, const function_table *t, double L, snw_table from,
                             snw_table *out) {
    const double unit = t->fraction ? 1 : L, near = 1e-9;
    const int least = t->linear ? LEAST_LINEAR : LEAST_CUBIC;
    if (from.n < least) {
        return snw_fail_at(
            r->err, t->node->location, "%.100s has %d row%s; %s needs at least %d%s", t->file,
            from.n, from.n == 1 ? "" : "s", t->linear ? "a table" : "a cubic table", least,
            !t->linear && from.n >= LEAST_LINEAR ? ", or write between: linear for straight lines"
                                                 : "");
    }
    const double first = from.x[0] / unit, last = from.x[from.n - 1] / unit;
    if (!(first <= near && last >= 1 - near)) {
        return snw_fail_at(r->err, t->node->location,
                           "%.100s goes from %g to %g, the rod from x%s = 0 to %g; a strain "
                           "function is needed on the whole rod%s",
                           t->file, from.x[0], from.x[from.n - 1], t->fraction ? "/L" : "", unit,
                           t->fraction || fabs(from.x[from.n - 1] - 1) > near
                               ? ""
                               : "; if its first column is x/L, write over: x/L");
    }
    double *x = snw_pool_array(r->pool, (size_t)from.n, sizeof *x);
    if (!x) return snw_read_memory(r);
    for (int i = 0; i < from.n; i++) {
        x[i] = from.x[i] / unit;
        if (fabs(x[i]) <= near) x[i] = 0;
        if (fabs(x[i] - 1) <= near) x[i] = 1;
    }
    *out = (snw_table){from.n, x, from.y};
    return SNW_OK;
}

// One column, by its name or number.
static snw_status read_column_function(snw_reader *r, const function_table *t, const char *column,
                                       function_list *list) {
    snw_error why = {0};
    snw_table rows = {0};
    snw_shape_function *f = &list->function[list->n];
    SNW_TRY(functions_room(r, list, t->node));
    snw_status s = snw_tables_find(r->source->table_user, t->from, t->file, column, &rows, &why);
    if (s != SNW_OK) {
        if (s == SNW_E_MEMORY || why.line > 0) return functions_fail(r, t, s, &why);
        return snw_fail_at(r->err, t->node->location, "%.100s, column %.40s: %.250s", t->file,
                           column, why.text);
    }
    SNW_TRY(scale_rows(r, t, list->L, rows, &f->samples));
    f->text = snw_pool_format(r->pool, "column %s of %s", column, t->file);
    if (!f->text) return snw_read_memory(r);
    f->location = t->node->location;
    if (!t->linear) {
        snw_spline *spline = NULL;
        s = snw_spline_create(r->pool, f->samples, &spline, &why);
        if (s != SNW_OK) return functions_fail(r, t, s, &why);
        f->spline = spline;
    }
    list->n++;
    return SNW_OK;
}

// Does this column belong to the name of several: NAME.1, NAME.2, ..?
static bool is_numbered(const char *column, const char *name) {
    const size_t n = strlen(name);
    return strncmp(column, name, n) == 0 && column[n] == '.' && column[n + 1] != '\0' &&
           strspn(column + n + 1, "0123456789") == strlen(column + n + 1);
}

// The columns of a name or number; NULL: all but the first.
static snw_status read_columns(snw_reader *r, const function_table *t, const char *name,
                               function_list *list) {
    snw_error why = {0};
    int n = 0, found = 0;
    const char *const *names = NULL;
    const snw_status s =
        snw_tables_columns(r->source->table_user, t->from, t->file, &n, &names, &why);
    if (s != SNW_OK) return functions_fail(r, t, s, &why);
    for (int k = 1; k < n; k++) {
        if (name && !(names && is_numbered(names[k], name))) continue;
        char number[16];
        (void)snprintf(number, sizeof number, "%d", k + 1);
        SNW_TRY(read_column_function(r, t, names ? names[k] : number, list));
        found++;
    }
    return found > 0 ? SNW_OK : read_column_function(r, t, name ? name : "2", list);
}

static snw_status read_table_function(snw_reader *r, const snw_node *node, function_list *list) {
    static const char *const over[] = {"x", "x/L"}, *const between[] = {"cubic", "linear"};
    const snw_entry *e[FUNCTION_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_function, e));
    if (!e[FUNCTION_TABLE]) {
        return snw_fail_at(r->err, node->location,
                           "a function given by a map needs 'table', e.g. {table: modes.csv}");
    }
    if (!r->source->table) {
        return snw_fail_at(r->err, node->location, "tables cannot be read here");
    }
    function_table t = {.node = e[FUNCTION_TABLE]->value, .from = node->location.file};
    int choice = 0;
    SNW_TRY(snw_read_text(r, t.node, "table", &t.file));
    if (e[FUNCTION_OVER]) {
        SNW_TRY(snw_read_word(r, e[FUNCTION_OVER]->value, "over", 2, over, &choice));
        t.fraction = choice == 1;
    }
    if (e[FUNCTION_BETWEEN]) {
        SNW_TRY(snw_read_word(r, e[FUNCTION_BETWEEN]->value, "between", 2, between, &choice));
        t.linear = choice == 1;
    }
    if (!e[FUNCTION_COLUMN]) return read_columns(r, &t, NULL, list);
    const snw_node *columns = e[FUNCTION_COLUMN]->value;
    const int n = columns->kind == SNW_NODE_LIST ? columns->n : 1;
    for (int i = 0; i < n; i++) {
        const char *name = "";
        t.node = columns->kind == SNW_NODE_LIST ? columns->entry[i].value : columns;
        SNW_TRY(snw_read_name(r, t.node, "column", &name));
        SNW_TRY(read_columns(r, &t, name, list));
    }
    return SNW_OK;
}

snw_status snw_read_functions(snw_reader *r, const snw_entry *e, double L, bool alone,
                              snw_basis *out) {
    const snw_node *node = e->value;
    if (node->n == 0) {
        return snw_fail_at(r->err, node->location,
                           "%s has no functions; leave it out if it does not vary", e->key);
    }
    if (!(L > 0 && isfinite(L))) {
        return snw_fail_at(r->err, node->location,
                           "functions of x need a rod of positive length, got %g m", L);
    }
    function_list list = {.strain = e->key, .L = L};
    list.function = snw_pool_array(r->pool, SNW_FUNCTION_SET_MOST + 1, sizeof *list.function);
    if (!list.function) return snw_read_memory(r);
    for (int i = 0; i < node->n; i++) {
        const snw_node *one = node->entry[i].value;
        SNW_TRY(one->kind == SNW_NODE_MAP ? read_table_function(r, one, &list)
                                          : read_law_function(r, one, &list));
    }
    return snw_function_set_create(r->pool, e->key, list.n, list.function, L, alone, out, r->err);
}
