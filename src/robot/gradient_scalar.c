// SPDX-License-Identifier: MIT
//
// Scalars of a study: each call end(..), at(..), integral(..), sum(..), mean(..), max(..), min(..),
// fold(..) in a text is one sum over frames; what remains is an expression of these sums.
#include "robot/gradient_scalar.h"

#include "base/fail.h"
#include "model/special.h"
#include "study/series.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SUMS = 64, MOST_TEXT = 4000, MOST_FOLDS = 1000000 };

static const struct {
    const char *word;
    snw_scalar_kind kind;
} words[] = {{"end", SNW_SCALAR_END}, {"at", SNW_SCALAR_AT},     {"integral", SNW_SCALAR_INTEGRAL},
             {"sum", SNW_SCALAR_SUM}, {"mean", SNW_SCALAR_MEAN}, {"max", SNW_SCALAR_MAX},
             {"min", SNW_SCALAR_MIN}, {"fold", SNW_SCALAR_FOLD}};

static const double same_time = 1e-9, // of frames, relative to the last time
    same_value = 1e-12;               // of two extremes, relative

// A scalar that is being read. Values are plain numbers, and so are the columns; a second reading
// with their dimensions finds the unit.
typedef struct scalar_reader {
    snw_pool *pool;
    const snw_scalar_columns *columns;
    const char *text;
    const char *words; // the text with constants by their numbers
    bool dims;         // with dimensions
    bool angles;       // an angle has one, too
    snw_scalar *out;
    snw_dim dim[MOST_SUMS]; // of the sums
} scalar_reader;

// An angle as a dimension of its own: that of moles, which no probe has.
static const snw_dim ANGLE = {.mol = 1};

// ---- names ----------------------------------------------------------------------------------

static snw_dim column_dim(const scalar_reader *r, int i) {
    if (!r->dims) return SNW_DIM_NONE;
    const snw_component *c = &r->columns->kind[i];
    return c->angle && r->angles ? ANGLE : c->dim;
}

static snw_status find_column(void *user, const char *name, const char *component, int *slot,
                              snw_dim *dim, snw_error *err) {
    const scalar_reader *r = user;
    const snw_run_info *info = r->columns->info;
    int k = 0, used = 0;
    *dim = SNW_DIM_NONE;
    *slot = -1;
    if (sscanf(name, "constant_%d%n", &k, &used) == 1 && !name[used]) {
        if (k < 0 || k >= r->columns->nconstant) return SNW_OK;
        *slot = info->ncolumn - r->columns->nconstant + k;
        *dim = column_dim(r, *slot);
        return SNW_OK;
    }
    const char *first = NULL;
    for (int i = 0; i < info->ncolumn; i++) {
        const snw_column *c = &info->column[i];
        if (strcmp(c->probe, name) != 0 || c->station > 0) continue;
        if (!first) first = c->component;
        if (strcmp(c->component, component) == 0) {
            *slot = i;
            *dim = column_dim(r, i);
            return SNW_OK;
        }
    }
    if (!first) return SNW_OK;
    if (!component[0])
        return snw_fail(err, SNW_E_PARSE,
                        "'%s' is a probe of several numbers, write one of them: %s.%s", name, name,
                        first);
    char names[200] = "";
    size_t length = 0;
    for (int i = 0; i < info->ncolumn && length < sizeof names - 20; i++) {
        const snw_column *c = &info->column[i];
        if (strcmp(c->probe, name) != 0 || c->station > 0 || !c->component[0]) continue;
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   length ? ", " : "; it has ", c->component);
    }
    return snw_fail(err, SNW_E_PARSE, "probe '%s' has no '%s'%s", name, component,
                    names[0] ? names : ": it is one number");
}

static const char *column_probe(void *user, int i) {
    const snw_run_info *info = ((const scalar_reader *)user)->columns->info;
    return i < info->ncolumn ? info->column[i].probe : NULL;
}

static snw_status refuse_memory(void *user, snw_memory kind, const char *text, const snw_expr *law,
                                double period, int *slot, snw_error *err) {
    (void)user, (void)kind, (void)law, (void)period, (void)slot;
    return snw_fail(err, SNW_E_PARSE, "'%.100s' keeps a memory, which a scalar cannot", text);
}

static snw_status too_many_sums(const scalar_reader *r, snw_error *err) {
    return snw_fail(err, SNW_E_PARSE, "scalar '%.150s' has more than %d sums over the run", r->text,
                    MOST_SUMS);
}

// Sums are written as "sum_1", ..; a column beside them is its value at the end, a sum of its own.
static snw_status find_sum(void *user, const char *name, const char *component, int *slot,
                           snw_dim *dim, snw_error *err) {
    scalar_reader *r = user;
    snw_scalar *out = r->out;
    int k = 0, used = 0, column = -1;
    *slot = -1;
    *dim = SNW_DIM_NONE;
    if (sscanf(name, "sum_%d%n", &k, &used) == 1 && !name[used]) {
        if (k < 0 || k >= out->nsum) return SNW_OK;
        *slot = k;
        *dim = r->dim[k];
        return SNW_OK;
    }
    SNW_TRY(find_column(r, name, component, &column, dim, err));
    if (column < 0) return SNW_OK;
    if (out->nsum == MOST_SUMS) return too_many_sums(r, err);
    out->sum[out->nsum] = (snw_scalar_sum){
        .kind = SNW_SCALAR_END, .time = NAN, .what = snw_expr_signal(r->pool, column)};
    r->dim[out->nsum] = *dim;
    if (!out->sum[out->nsum].what) return snw_fail_memory(err);
    *slot = out->nsum++;
    return SNW_OK;
}

static const char *no_name(void *user, int i) {
    (void)user, (void)i;
    return NULL;
}

static snw_status parse(const scalar_reader *r, const snw_signal_source *source, const char *text,
                        const snw_expr **out, snw_dim *dim, snw_error *err) {
    const snw_expr_rules rules = {.dim = &SNW_DIM_NONE, .vars = SNW_VAR_SIGNAL | SNW_VAR_T};
    snw_scope *scope = snw_scope_create(r->pool, NULL);
    if (!scope) return snw_fail_memory(err);
    snw_signal_source *kept = snw_pool_take(r->pool, sizeof *kept);
    if (!kept) return snw_fail_memory(err);
    *kept = *source;
    snw_scope_signals(scope, kept);
    snw_error why = {0};
    *dim = SNW_DIM_NONE;
    const snw_status s =
        r->dims
            ? snw_expr_parse_any(r->pool, scope, text, rules.vars, "scalar", 1, 1, out, dim, &why)
            : snw_expr_parse(r->pool, scope, text, &rules, "scalar", 1, 1, out, &why);
    if (s == SNW_OK) return SNW_OK;
    return snw_fail(err, s == SNW_E_MEMORY ? s : SNW_E_PARSE, "scalar '%.150s': %.300s", r->text,
                    why.text);
}

// ---- reading --------------------------------------------------------------------------------

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// Position of the first comma outside parentheses; NULL: none.
static const char *comma(const char *from, const char *to) {
    int depth = 0;
    for (const char *p = from; p < to; p++) {
        depth += (*p == '(') - (*p == ')');
        if (*p == ',' && depth == 0) return p;
    }
    return NULL;
}

// The call of one of the words at `p`, with its arguments from *from to *to; -1: none.
static int call_at(const char *text, const char *p, const char **from, const char **to) {
    if (p > text && is_name(p[-1])) return -1;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t n = strlen(words[i].word);
        if (strncmp(p, words[i].word, n) != 0 || p[n] != '(') continue;
        int depth = 1;
        const char *q = p + n + 1;
        for (*from = q; *q && depth > 0; q++) depth += (*q == '(') - (*q == ')');
        *to = q - 1;
        // max and min of several numbers are functions
        const bool extreme = words[i].kind == SNW_SCALAR_MAX || words[i].kind == SNW_SCALAR_MIN;
        return depth == 0 && !(extreme && comma(*from, *to)) ? (int)i : -1;
    }
    return -1;
}

bool snw_scalar_is_extreme(const char *text, snw_scalar_kind kind) {
    const char *from, *to;
    text += strspn(text, " ");
    const int word = call_at(text, text, &from, &to);
    return word >= 0 && words[word].kind == kind && to[1 + strspn(to + 1, " ")] == '\0';
}

// *out <- a constant: the time of at(..), s, or the number of a fold
static snw_status parse_constant(snw_pool *pool, const char *text, const char *what,
                                 const char *whole, double *out, snw_error *err) {
    snw_scope *scope = snw_scope_create(pool, NULL);
    if (!scope) return snw_fail_memory(err);
    snw_error why = {0};
    snw_dim dim;
    if (snw_expr_parse_constant(pool, scope, text, "scalar", 1, 1, out, &dim, &why) == SNW_OK &&
        isfinite(*out))
        return SNW_OK;
    return snw_fail(err, SNW_E_PARSE, "scalar '%.150s': %s: %.300s", whole, what,
                    why.text[0] ? why.text : "is not finite");
}

// Dimension of a sum of terms of dimension `dim`.
static snw_dim sum_dim(const scalar_reader *r, snw_scalar_kind kind, snw_dim dim) {
    if (r->dims && (kind == SNW_SCALAR_INTEGRAL || kind == SNW_SCALAR_SUM)) dim.s++;
    return dim;
}

// The number of fold(NUMBER, EXPRESSION), or the first one of fold(EXPRESSION); *from <- where the
// expression begins.
static snw_status read_fold(const scalar_reader *r, snw_scalar_sum *sum, const char **from,
                            const char *to, snw_error *err) {
    const char *second = comma(*from, to);
    double number = 1;
    if (second) {
        const char *text = snw_pool_text(r->pool, *from, (size_t)(second - *from));
        if (!text) return snw_fail_memory(err);
        SNW_TRY(parse_constant(r->pool, text, "the number of fold(..)", r->text, &number, err));
        *from = second + 1;
    }
    if (!(number >= 1 && number <= MOST_FOLDS && number == floor(number)))
        return snw_fail(
            err, SNW_E_PARSE,
            "scalar '%.150s': write fold(NUMBER, EXPRESSION), the folds numbered from 1", r->text);
    sum->number = (int)number;
    return SNW_OK;
}

static snw_status add_sum(scalar_reader *r, snw_scalar_kind kind, const char *from, const char *to,
                          snw_error *err) {
    const snw_signal_source columns = {.user = r,
                                       .probe = find_column,
                                       .memory = refuse_memory,
                                       .name = column_probe,
                                       .strict = r->dims};
    snw_scalar *out = r->out;
    if (out->nsum == MOST_SUMS) return too_many_sums(r, err);
    snw_dim dim;
    const int k = out->nsum++;
    snw_scalar_sum *sum = &out->sum[k];
    *sum = (snw_scalar_sum){.kind = kind, .time = NAN};
    if (kind == SNW_SCALAR_AT) {
        const char *second = comma(from, to);
        if (!second)
            return snw_fail(err, SNW_E_PARSE, "scalar '%.150s': write at(TIME, EXPRESSION)",
                            r->text);
        const char *time = snw_pool_text(r->pool, from, (size_t)(second - from));
        if (!time) return snw_fail_memory(err);
        SNW_TRY(parse_constant(r->pool, time, "the time of at(..)", r->text, &sum->time, err));
        from = second + 1;
    }
    if (kind == SNW_SCALAR_FOLD) SNW_TRY(read_fold(r, sum, &from, to, err));
    const char *inner = snw_pool_text(r->pool, from, (size_t)(to - from));
    if (!inner) return snw_fail_memory(err);
    SNW_TRY(parse(r, &columns, inner, &sum->what, &dim, err));
    r->dim[k] = sum_dim(r, kind, dim);
    return SNW_OK;
}

static bool has_column(const scalar_reader *r, const char *path) {
    const snw_run_info *info = r->columns->info;
    char name[256];
    for (int i = 0; i < info->ncolumn - r->columns->nconstant; i++) {
        snw_column_name(&info->column[i], name, sizeof name);
        if (strcmp(name, path) == 0) return true;
    }
    return false;
}

// The constant whose whole name stands at `p`; -1: none. Names may have several dots and indices,
// `arm.rod.length`, `motor(1).position`, which expressions do not read.
static int constant_at(const scalar_reader *r, const char *p) {
    const snw_run_info *info = r->columns->info;
    const int first = info->ncolumn - r->columns->nconstant;
    if (p > r->text && is_name(p[-1])) return -1;
    for (int k = 0; k < r->columns->nconstant; k++) {
        const char *path = info->column[first + k].probe;
        const size_t n = strlen(path);
        if (strncmp(p, path, n) == 0 && !is_name(p[n]) && p[n] != '(' && !has_column(r, path))
            return k;
    }
    return -1;
}

// Write constants as "constant_1", ..
static snw_status number_constants(scalar_reader *r, snw_error *err) {
    char out[2 * MOST_TEXT];
    size_t used = 0;
    for (const char *p = r->text; *p;) {
        const int k = constant_at(r, p);
        if (used + 32 > sizeof out)
            return snw_fail(err, SNW_E_PARSE, "scalar '%.150s' is too long", r->text);
        if (k < 0) {
            out[used++] = *p++;
            continue;
        }
        used += (size_t)snprintf(out + used, sizeof out - used, "constant_%d", k);
        p += strlen(
            r->columns->info->column[r->columns->info->ncolumn - r->columns->nconstant + k].probe);
    }
    r->words = snw_pool_text(r->pool, out, used);
    return r->words ? SNW_OK : snw_fail_memory(err);
}

// *dim <- that of the scalar
static snw_status read_scalar(scalar_reader *r, snw_dim *dim, snw_error *err) {
    snw_scalar *out = r->out;
    *out = (snw_scalar){.sum = snw_pool_array(r->pool, MOST_SUMS, sizeof *out->sum)};
    out->text = snw_pool_text(r->pool, r->text, strlen(r->text));
    if (!out->sum || !out->text) return snw_fail_memory(err);
    if (strlen(r->text) > MOST_TEXT)
        return snw_fail(err, SNW_E_PARSE, "a scalar has more than %d characters", MOST_TEXT);
    int depth = 0;
    for (const char *p = r->text; *p && depth >= 0; p++) depth += (*p == '(') - (*p == ')');
    if (depth != 0)
        return snw_fail(err, SNW_E_PARSE, "scalar '%.150s': a '%c' is missing", r->text,
                        depth > 0 ? ')' : '(');
    SNW_TRY(number_constants(r, err));
    const char *text = r->words;
    char outer[2 * MOST_TEXT + 16 * MOST_SUMS];
    size_t used = 0;
    for (const char *p = text; *p;) {
        const char *from, *to;
        const int word = call_at(text, p, &from, &to);
        if (word < 0) {
            outer[used++] = *p++;
            continue;
        }
        SNW_TRY(add_sum(r, words[word].kind, from, to, err));
        used += (size_t)snprintf(outer + used, sizeof outer - used, "(sum_%d)", out->nsum - 1);
        p = to + 1;
    }
    outer[used] = '\0';
    if (out->nsum == 0) { // a plain expression: at the end
        SNW_TRY(add_sum(r, SNW_SCALAR_END, text, text + strlen(text), err));
        (void)snprintf(outer, sizeof outer, "sum_0");
    }
    const snw_signal_source sums = {
        .user = r, .probe = find_sum, .memory = refuse_memory, .name = no_name, .strict = r->dims};
    return parse(r, &sums, outer, &out->outer, dim, err);
}

snw_status snw_scalar_parse(snw_pool *pool, const char *text, const snw_scalar_columns *columns,
                            snw_scalar *out, snw_error *err) {
    scalar_reader r = {.pool = pool, .columns = columns, .text = text, .out = out};
    snw_dim dim;
    return read_scalar(&r, &dim, err);
}

void snw_scalar_unit(snw_pool *pool, const char *text, const snw_scalar_columns *columns,
                     char *unit, size_t size) {
    unit[0] = '\0';
    // with angles as they are where they are added or multiplied, else as plain numbers
    for (int pass = 0; pass < 2; pass++) {
        snw_scalar ignored;
        scalar_reader r = {.pool = pool,
                           .columns = columns,
                           .text = text,
                           .dims = true,
                           .angles = pass == 0,
                           .out = &ignored};
        snw_dim dim;
        if (read_scalar(&r, &dim, NULL) != SNW_OK) continue;
        const bool angle = memcmp(&dim, &ANGLE, sizeof dim) == 0;
        if (dim.mol != 0 && !angle) continue;
        if (angle)
            (void)snprintf(unit, size, "rad");
        else
            snw_dim_unit(dim, unit, size);
        return;
    }
}

// ---- values ---------------------------------------------------------------------------------

// l of a frame: value and derivative in time
static snw_jet term(const snw_scalar_sum *sum, const snw_scalar_frames *f, int i) {
    const snw_at at = {.t = f->t[i], .signal = f->y + (size_t)i * (size_t)f->ncolumn};
    return snw_expr_jet_t(sum->what, at);
}

// Frames of an extreme: the frame with the largest or smallest value and, within a motion, the
// parabola through it and its neighbours, whose vertex is the extreme. Weights at the vertex; rates
// of the parabola at the frames.
typedef struct extreme {
    int first, n; // frames: 1 or 3
    double weight[3], rate[3];
} extreme;

// Weights of the parabola through three frames at time t, or those of its rate.
static void parabola(const double *at, double t, bool rate, double *weight) {
    for (int i = 0; i < 3; i++) {
        const double a = at[(i + 1) % 3], b = at[(i + 2) % 3];
        weight[i] = (rate ? 2 * t - a - b : (t - a) * (t - b)) / ((at[i] - a) * (at[i] - b));
    }
}

// *from, *to <- frames of an extreme; of too few frames for their parts some parts share one.
static void extreme_frames(const snw_scalar_sum *sum, const snw_scalar_frames *f, int *from,
                           int *to) {
    *from = 0, *to = f->n;
    if (sum->parts == 0 || f->n == 0) return;
    *from = (int)((long long)f->n * sum->part / sum->parts);
    *to = (int)((long long)f->n * (sum->part + 1) / sum->parts);
    if (*to == *from) ++*to;
}

static extreme find_extreme(const snw_scalar_sum *sum, const snw_scalar_frames *f) {
    const double sign = sum->kind == SNW_SCALAR_MAX ? 1 : -1;
    int from, to;
    extreme_frames(sum, f, &from, &to);
    int best = from;
    for (int i = from + 1; i < to; i++) {
        if (sign * term(sum, f, i).v > sign * term(sum, f, best).v) best = i;
    }
    extreme x = {.first = best, .n = 1, .weight = {1}};
    if (sum->parts > 0 || !f->moves[best] || best + 1 >= f->n || !f->moves[best + 1]) return x;
    const double *t = f->t + best - 1;
    if (!(t[0] < t[1] && t[1] < t[2])) return x;
    double left = 0, right = 0, by[3], l[3];
    for (int i = 0; i < 3; i++) l[i] = term(sum, f, best - 1 + i).v;
    parabola(t, t[0], true, by);
    for (int i = 0; i < 3; i++) left += by[i] * l[i];
    parabola(t, t[2], true, by);
    for (int i = 0; i < 3; i++) right += by[i] * l[i];
    if (!(left * right < 0)) return x; // level
    const double vertex = t[0] + (t[2] - t[0]) * left / (left - right);
    x = (extreme){.first = best - 1, .n = 3};
    parabola(t, vertex, false, x.weight);
    for (int i = 0; i < 3; i++) {
        parabola(t, t[i], true, by);
        for (int k = 0; k < 3; k++) x.rate[i] += by[k] * l[k];
    }
    return x;
}

snw_status snw_scalar_check_extreme(const snw_scalar_sum *sum, const snw_scalar_frames *f,
                                    snw_error *err) {
    if (sum->kind != SNW_SCALAR_MAX && sum->kind != SNW_SCALAR_MIN) return SNW_OK;
    const extreme x = find_extreme(sum, f);
    const int at = x.first + (x.n == 3 ? 1 : 0);
    const double best = term(sum, f, at).v, near = same_value * fabs(best);
    int from, to;
    extreme_frames(sum, f, &from, &to);
    bool left = false;                    // has the value been left since the extreme?
    for (int k = 1; k < to - from; k++) { // later frames, then earlier ones
        const int i = at + k < to ? at + k : to - 1 - k;
        if (i == at - 1) left = false;
        if (fabs(term(sum, f, i).v - best) > near) left = true;
        if (!left || fabs(term(sum, f, i).v - best) > near) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: %s(..) is reached at t = %g s and at t = %g s",
                        sum->kind == SNW_SCALAR_MAX ? "max" : "min", f->t[i < at ? i : at],
                        f->t[i < at ? at : i]);
    }
    return SNW_OK;
}

static snw_status weights_at(double time, const snw_scalar_frames *f, double *weight,
                             snw_error *err) {
    const double near = same_time * fmax(fabs(f->t[f->n - 1]), 1e-9);
    for (int i = f->n - 1; i >= 0; i--) { // of several frames at that time the last
        if (fabs(f->t[i] - time) > near) continue;
        weight[i] = 1;
        return SNW_OK;
    }
    for (int i = f->n - 1; i > 0; i--) {
        if (!(f->moves[i] && f->t[i - 1] < time && time < f->t[i])) continue;
        const double part = (time - f->t[i - 1]) / (f->t[i] - f->t[i - 1]);
        weight[i] = part, weight[i - 1] = 1 - part;
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "the study has no state at t = %g s; it ends at %g s",
                    time, f->t[f->n - 1]);
}

// The frame of a fold; -1: there is none.
static int fold_frame(const snw_scalar_sum *sum, const snw_scalar_frames *f) {
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        if (f->special[i] == SNW_SPECIAL_FOLD && ++n == sum->number) return i;
    }
    return -1;
}

snw_status snw_scalar_weights(const snw_scalar_sum *sum, const snw_scalar_frames *f, double *weight,
                              snw_error *err) {
    memset(weight, 0, (size_t)f->n * sizeof *weight);
    if (f->n == 0)
        return snw_fail(
            err, SNW_E_ARGUMENT,
            "the study has no results over which a scalar is made: it needs a static, dynamic "
            "or kinematic step");
    if (sum->kind == SNW_SCALAR_END) {
        weight[f->n - 1] = 1;
        return SNW_OK;
    }
    if (sum->kind == SNW_SCALAR_AT) return weights_at(sum->time, f, weight, err);
    if (sum->kind == SNW_SCALAR_FOLD) {
        const int k = fold_frame(sum, f);
        if (k < 0)
            return snw_fail(err, SNW_E_ARGUMENT, "the paths of the study have no fold %d",
                            sum->number);
        weight[k] = 1;
        return SNW_OK;
    }
    if (sum->kind == SNW_SCALAR_MAX || sum->kind == SNW_SCALAR_MIN) {
        const extreme x = find_extreme(sum, f);
        for (int i = 0; i < x.n; i++) weight[x.first + i] = x.weight[i];
        return SNW_OK;
    }
    double duration = 0;
    for (int i = 1; i < f->n; i++) {
        if (!f->moves[i]) continue;
        const double h = f->t[i] - f->t[i - 1];
        duration += h;
        weight[i] += sum->kind == SNW_SCALAR_SUM ? h : 0.5 * h;
        if (sum->kind != SNW_SCALAR_SUM) weight[i - 1] += 0.5 * h;
    }
    if (!(duration > 0))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the study has no dynamic step, so there is no integral over time");
    for (int i = 0; i < f->n && sum->kind == SNW_SCALAR_MEAN; i++) weight[i] /= duration;
    return SNW_OK;
}

snw_status snw_scalar_value(const snw_scalar *s, const snw_scalar_frames *f, double *weight,
                            double *by_sum, double *value, snw_error *err) {
    double sums[MOST_SUMS];
    for (int j = 0; j < s->nsum; j++) {
        SNW_TRY(snw_scalar_weights(&s->sum[j], f, weight, err));
        sums[j] = 0;
        for (int i = 0; i < f->n; i++) {
            if (weight[i] == 0) continue;
            const snw_at at = {.t = f->t[i], .signal = f->y + (size_t)i * (size_t)f->ncolumn};
            sums[j] += weight[i] * snw_expr_value(s->sum[j].what, at);
        }
    }
    const snw_at at = {.signal = sums};
    *value = snw_expr_value(s->outer, at);
    for (int j = 0; j < s->nsum; j++) by_sum[j] = snw_expr_jet_signal(s->outer, at, j).d;
    return SNW_OK;
}

// Slope of a sum over intervals by the time of frame i, of the values alone; *duration <- that of
// their time.
static double interval_slope(const snw_scalar_sum *sum, const snw_scalar_frames *f, int i,
                             double *duration) {
    const bool ends = f->moves[i], starts = i + 1 < f->n && f->moves[i + 1];
    const bool left = sum->kind == SNW_SCALAR_SUM;
    const double here = term(sum, f, i).v;
    double slope = 0;
    *duration = (ends ? 1 : 0) - (starts ? 1 : 0);
    if (ends) slope += left ? here : 0.5 * (here + term(sum, f, i - 1).v);
    if (starts) slope -= left ? term(sum, f, i + 1).v : 0.5 * (here + term(sum, f, i + 1).v);
    return slope;
}

// The same of a value between the frames a and a + 1.
static double between_slope(const snw_scalar_sum *sum, const snw_scalar_frames *f, int a, int i) {
    const double h = f->t[a + 1] - f->t[a], part = (sum->time - f->t[a]) / h;
    const double rise = (term(sum, f, a + 1).v - term(sum, f, a).v) / h;
    return i == a ? -(1 - part) * rise : i == a + 1 ? -part * rise : 0;
}

double snw_scalar_time_slope(const snw_scalar_sum *sum, const snw_scalar_frames *f, int frame) {
    double duration = 0, slope = 0, weight = 0;
    const bool starts = frame + 1 < f->n && f->moves[frame + 1];
    const double last = f->t[f->n - 1], own = term(sum, f, frame).d;
    switch (sum->kind) {
    case SNW_SCALAR_END:
        return frame == f->n - 1 ? own : 0;
    case SNW_SCALAR_AT:
        for (int a = f->n - 1; a >= 0; a--) { // as in weights_at
            if (fabs(f->t[a] - sum->time) <= same_time * fmax(fabs(last), 1e-9))
                return frame == a ? own : 0;
        }
        for (int a = f->n - 2; a >= 0; a--) {
            if (!(f->moves[a + 1] && f->t[a] < sum->time && sum->time < f->t[a + 1])) continue;
            const double part = (sum->time - f->t[a]) / (f->t[a + 1] - f->t[a]);
            weight = frame == a ? 1 - part : frame == a + 1 ? part : 0;
            return weight * own + between_slope(sum, f, a, frame);
        }
        return 0;
    case SNW_SCALAR_FOLD:
        return frame == fold_frame(sum, f) ? own : 0;
    case SNW_SCALAR_MAX:
    case SNW_SCALAR_MIN: {
        const extreme x = find_extreme(sum, f);
        const int i = frame - x.first;
        return i >= 0 && i < x.n ? x.weight[i] * (own - x.rate[i]) : 0;
    }
    case SNW_SCALAR_INTEGRAL:
    case SNW_SCALAR_SUM:
    case SNW_SCALAR_MEAN:
        break;
    }
    slope = interval_slope(sum, f, frame, &duration);
    const double before = f->moves[frame] ? f->t[frame] - f->t[frame - 1] : 0;
    const double after = starts ? f->t[frame + 1] - f->t[frame] : 0;
    slope += own * (sum->kind == SNW_SCALAR_SUM ? before : 0.5 * (before + after));
    if (sum->kind != SNW_SCALAR_MEAN) return slope;
    double all = 0, value = 0;
    for (int i = 1; i < f->n; i++) {
        if (!f->moves[i]) continue;
        const double h = f->t[i] - f->t[i - 1];
        all += h;
        value += 0.5 * h * (term(sum, f, i).v + term(sum, f, i - 1).v);
    }
    return (slope - duration * value / all) / all;
}
