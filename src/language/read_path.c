// SPDX-License-Identifier: MIT
//
// Reads path steps of the study: range of t, length and number of steps, branches, and the
// parameters by which folds are differentiated.
#include "language/read.h"

#include "base/fail.h"
#include "language/source.h"

#include <stdio.h>
#include <string.h>

#define PATH_KEYS(X)                                                                               \
    X(PATH_NAME, "name", "a name", "of the step; 'path', then 'path.2', unless given")             \
    X(PATH_FROM, "from", "an earlier step's name",                                                 \
      "start from its end, t included; else from the end of the last step")                        \
    X(PATH_RANGE, "range", "[low, high], s",                                                       \
      "required; t is the parameter of the laws, and the path ends where it leaves this range")    \
    X(PATH_START, "start", "up or down", "whether t rises or falls at first; up unless given")     \
    X(PATH_STEP, "step", "number",                                                                 \
      "longest step along the path, in rad or as a part of the range; 0.2 unless given")           \
    X(PATH_POINTS, "points", "number", "most points of a path, 500 unless given")                  \
    X(PATH_BRANCHES, "branches", "number",                                                         \
      "bifurcations whose other branches are followed too, to both sides; 0 unless given")         \
    X(PATH_TOLERANCE, "tolerance", "number", "scaled residual of an accepted equilibrium")

enum { PATH_KEYS(SNW_KEY_CODE) PATH_N };
SNW_KEYS(path, "path", "a path step", PATH_KEYS);

enum { MOST_POINTS = 1000000, MOST_SWITCHES = 64 };
static const double LONGEST_STEP = 10;

static snw_status path_range(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *low, double *high) {
    if (node->kind != SNW_NODE_LIST || node->n != 2) {
        return snw_fail_at(r->err, node->location, "'%s' is a lower and an upper bound, [low, high]",
                           what);
    }
    SNW_TRY(snw_read_constant(r, node->entry[0].value, what, dim, low));
    SNW_TRY(snw_read_constant(r, node->entry[1].value, what, dim, high));
    if (*low < *high) return SNW_OK;
    return snw_fail_at(r->err, node->location, "'%s' must begin with the lower bound, got [%g, %g]",
                       what, *low, *high);
}

snw_status snw_read_path(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    static const char *const starts[] = {"up", "down"};
    const snw_entry *e[PATH_N];
    snw_path_desc *path = &out->path;
    path->curve = -1;
    if (node->kind == SNW_NODE_NULL) {
        return snw_fail_at(r->err, node->location,
                           "a path needs 'range', e.g. 'path: {range: [0 s, 5 s]}'");
    }
    SNW_TRY(snw_read_map(r, node, &snw_keys_path, e));
    if (e[PATH_NAME]) SNW_TRY(snw_read_name(r, e[PATH_NAME]->value, "name", &out->name));
    if (e[PATH_FROM]) SNW_TRY(snw_read_from(r, e[PATH_FROM]->value, index, &out->from));
    if (!e[PATH_RANGE]) {
        return snw_fail_at(r->err, node->location,
                           "a path needs 'range', the interval of t in which it is followed");
    }
    SNW_TRY(path_range(r, e[PATH_RANGE]->value, "range", SNW_DIM_TIME, &path->low, &path->high));
    int word = 0;
    if (e[PATH_START]) SNW_TRY(snw_read_word(r, e[PATH_START]->value, "start", 2, starts, &word));
    path->down = word == 1;
    if (e[PATH_STEP]) {
        const snw_node *step = e[PATH_STEP]->value;
        SNW_TRY(snw_read_positive(r, step, "step", SNW_DIM_NONE, &path->arc));
        if (path->arc > LONGEST_STEP)
            return snw_fail_at(r->err, step->location, "'step' must be at most %g, got %g",
                               LONGEST_STEP, path->arc);
    }
    if (e[PATH_POINTS]) {
        SNW_TRY(snw_read_integer(r, e[PATH_POINTS]->value, "points", 2, MOST_POINTS, &path->points));
    }
    if (e[PATH_BRANCHES]) {
        SNW_TRY(snw_read_integer(r, e[PATH_BRANCHES]->value, "branches", 0, MOST_SWITCHES,
                                 &path->branches));
    }
    if (!e[PATH_TOLERANCE]) return SNW_OK;
    return snw_read_tolerance(r, e[PATH_TOLERANCE]->value, &out->tolerance);
}
