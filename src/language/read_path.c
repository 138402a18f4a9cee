// SPDX-License-Identifier: MIT
//
// Reads path steps of the study: range of t, length and number of steps, branches, and the
// parameters by which folds are differentiated.
#include "language/read.h"

#include "base/fail.h"
#include "language/source.h"


#define PATH_KEYS(X)                                                                               \
    X(PATH_NAME, "name", "a name", "of the step; 'path', then 'path.2', unless given")             \
    X(PATH_FROM, "from", "an earlier step's name",                                                 \
      "start from its end, t included; else from the end of the last step")                        \
    X(PATH_OF, "of", "a parameter's name",                                                         \
      "the constant of the file that is varied; else t, which stands for what the laws make of "   \
      "it")                                                                                        \
    X(PATH_RANGE, "range", "[low, high], s",                                                       \
      "required; the path ends where t, or the constant, leaves this range")                       \
    X(PATH_START, "start", "up or down", "whether it rises or falls at first; up unless given")    \
    X(PATH_STEP, "step", "number",                                                                 \
      "longest step along the path, in rad or as a part of the range; 0.2 unless given")           \
    X(PATH_POINTS, "points", "number", "most points of a path, 500 unless given")                  \
    X(PATH_BRANCHES, "branches", "number",                                                         \
      "bifurcations whose other branches are followed too, to both sides; 0 unless given")         \
    X(PATH_BY, "by", "names of parameters",                                                        \
      "derivatives of the folds by these constants of the file: dt/dm")                            \
    X(PATH_FOLDS, "folds", "a map", "the curve of folds through the first one")                    \
    X(PATH_RELAXATION, "relaxation", "instant, relaxed or s",                                      \
      "of materials with relaxation: how long the strains have lasted; a path of t")               \
    X(PATH_TOLERANCE, "tolerance", "number", "scaled residual of an accepted equilibrium")

#define FOLDS_KEYS(X)                                                                              \
    X(FOLDS_OF, "of", "a parameter's name",                                                        \
      "the second parameter, a constant of the file, required")                                    \
    X(FOLDS_RANGE, "range", "[low, high]", "its range, required; the curve ends where it leaves it")

enum { FOLDS_KEYS(SNW_KEY_CODE) FOLDS_N };
SNW_KEYS(folds, "folds", "a curve of folds", FOLDS_KEYS);
enum { PATH_KEYS(SNW_KEY_CODE) PATH_N };
SNW_KEYS(path, "path", "a path step", PATH_KEYS);

enum { MOST_POINTS = 1000000, MOST_SWITCHES = 64 };
static const double LONGEST_STEP = 10;

static snw_status path_range(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *low, double *high) {
    if (node->kind != SNW_NODE_LIST || node->n != 2) {
        return snw_fail_at(r->err, node->location,
                           "'%s' is a lower and an upper bound, [low, high]", what);
    }
    SNW_TRY(snw_read_constant(r, node->entry[0].value, what, dim, low));
    SNW_TRY(snw_read_constant(r, node->entry[1].value, what, dim, high));
    if (*low < *high) return SNW_OK;
    return snw_fail_at(r->err, node->location, "'%s' must begin with the lower bound, got [%g, %g]",
                       what, *low, *high);
}

// ---- other parameters ---------------------------------------------------------------------------

// *index <- number of the parameter in the list of the path, which it joins
static snw_status path_parameter(snw_reader *r, const snw_node *node, int until,
                                 snw_path_desc *path, int *index) {
    const char *name = "";
    SNW_TRY(snw_read_name(r, node, "by", &name));
    if (!snw_parameters_find(snw_node_get(r->root, "parameters"), name))
        return snw_fail_at(r->err, node->location, "there is no parameter '%s'", name);
    return snw_read_family_add(r, node, name, until, "the path", &path->family, index);
}
static snw_status path_curve(snw_reader *r, const snw_node *node, int until, snw_path_desc *path) {
    const snw_entry *e[FOLDS_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_folds, e));
    if (!e[FOLDS_OF] || !e[FOLDS_RANGE]) {
        return snw_fail_at(r->err, node->location,
                           "a curve of folds needs 'of' and 'range', e.g. 'folds: {of: h, range: "
                           "[1 cm, 2 cm]}'");
    }
    SNW_TRY(path_parameter(r, e[FOLDS_OF]->value, until, path, &path->curve));
    const snw_parameter_desc *p = &path->family.parameter[path->curve];
    return path_range(r, e[FOLDS_RANGE]->value, "range", p->dim, &path->curve_low,
                      &path->curve_high);
}

static snw_status path_parameters(snw_reader *r, const snw_entry *of, const snw_entry *by,
                                  const snw_entry *folds, int index, snw_path_desc *path) {
    path->of = path->curve = -1;
    if (!of && !by && !folds) return SNW_OK;
    if (of && (by || folds)) {
        return snw_fail_at(r->err, (by ? by : folds)->location,
                           "'%s' beside 'of': folds are followed on paths in t; make the constant "
                           "'of' a law of t, or leave one out",
                           by ? "by" : "folds");
    }
    SNW_TRY(snw_read_family(r, index, &path->family));
    int k;
    if (of) SNW_TRY(path_parameter(r, of->value, index, path, &path->of));
    if (by && by->value->kind != SNW_NODE_LIST)
        SNW_TRY(path_parameter(r, by->value, index, path, &k));
    for (int i = 0; by && by->value->kind == SNW_NODE_LIST && i < by->value->n; i++)
        SNW_TRY(path_parameter(r, by->value->entry[i].value, index, path, &k));
    if (folds) SNW_TRY(path_curve(r, folds->value, index, path));
    return SNW_OK;
}

// ---- the step -----------------------------------------------------------------------------------

snw_status snw_read_path(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    static const char *const starts[] = {"up", "down"};
    const snw_entry *e[PATH_N];
    snw_path_desc *path = &out->path;
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
    SNW_TRY(path_parameters(r, e[PATH_OF], e[PATH_BY], e[PATH_FOLDS], index, path));
    const snw_dim dim = path->of < 0 ? SNW_DIM_TIME : path->family.parameter[path->of].dim;
    SNW_TRY(path_range(r, e[PATH_RANGE]->value, "range", dim, &path->low, &path->high));
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
        SNW_TRY(
            snw_read_integer(r, e[PATH_POINTS]->value, "points", 2, MOST_POINTS, &path->points));
    }
    if (e[PATH_BRANCHES]) {
        SNW_TRY(snw_read_integer(r, e[PATH_BRANCHES]->value, "branches", 0, MOST_SWITCHES,
                                 &path->branches));
    }

    SNW_TRY(snw_read_relaxation_rule(r, e[PATH_RELAXATION], out));
    if (!e[PATH_TOLERANCE]) return SNW_OK;
    return snw_read_tolerance(r, e[PATH_TOLERANCE]->value, &out->tolerance);
}
