// SPDX-License-Identifier: MIT
//
// Optimisation of studies, public calls: cost and constraints are scalars of runs with their
// gradients (robot_gradient.c), variables and functions are scaled to order one, and a nonlinear
// program (solve/nonlinear_program.c) is solved. theory.md 7.6
#include "robot/gradient_private.h"
#include "sinew/optimize.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/difference.h"
#include "solve/nonlinear_program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RESULT_LIMIT = 1 << 26, MOST_CALLS = 500, ATTEMPTS = 4, PARTS = 100 };
static const double smooth_square = 181.0 / 462;    // integral of poly5^2 over its rise
static const double difference_move = 1e-3;         // of a variable, in its scale
static const double enough = 1e-6, doubtful = 1e-3; // rest of the gradient: a minimum; none
static const double holds = 1e-6; // distance from a limit, in its scale, at which it counts as held

// A row of the program: sign*(scalar - limit)/scale, <= 0 or = 0. A bounded extreme, max(e) below a
// limit or min(e) above one, has a row for each of PARTS parts of the run, at its instants: where
// two instants compete, the extreme of all has a corner, at which no method converges.
typedef struct optimize_row {
    int constraint, scalar;
    double sign, limit, scale;
} optimize_row;

typedef struct optimize_search {
    const snw_optimize_options *how;
    snw_gradient *g;
    int n, nscalar, nrow;     // entries of the variables; scalars; rows of the program
    bool has_cost;            // the first scalar is the cost
    double sense, cost_scale; // -1: maximise
    optimize_row *row;        // equalities first
    int nequal;
    int *first;                         // nconstraint + 1: first scalar of a constraint
    int *owner;                         // n: variable of an entry
    bool *idle;                         // n: no derivative by it at the start
    double *start, *scale, *low, *high; // n
    double *z_low, *z_high;             // n: bounds of the scaled variables
    double *p, *J, *dJ;                 // of the last evaluation
    double *last;                       // n: its variables
    bool known;                         // it succeeded
    int most;                           // evaluations
    bool used_up;
    double *f, *df;                 // of the program there
    bool has_df;                    // dJ and df are known
    bool differences;               // gradients by differences of whole runs
    double difference_error;        // estimated, relative
    double *near, *rough;           // nscalar: scalars beside a point; derivatives of order 4
    double *z, *multiplier, *bound; // n, nrow, n: of the last point
    double optimality;
    int calls;
    double cost, violation;
    int worst; // row of the violation
    int nfailed;
    snw_error failure; // of the last evaluation that failed
    snw_error *err;
} optimize_search;

snw_optimize_options snw_optimize_defaults(void) { return (snw_optimize_options){0}; }

const snw_optimize_options *snw_robot_model_optimize(const snw_robot_model *m) {
    return m && m->source ? snw_document_optimize(m->desc) : NULL;
}

// ---- effort of laws -----------------------------------------------------------------------------

// Integral of the square of a law through knots u; du (NULL: not wanted) += factor times its
// derivative.
static double square_of_law(const snw_optimize_variable *v, const double *u, double factor,
                            double *du) {
    const snw_gradient_variable *of = &v->of;
    double sum = 0;
    for (int k = 0; k < of->nknot; k++) {
        const bool last = k == of->nknot - 1;
        const double h = (last ? v->until : of->knot[k + 1]) - of->knot[k];
        if (of->rule == SNW_KNOTS_HOLD) {
            sum += h * u[k] * u[k];
            if (du) du[k] += factor * 2 * h * u[k];
            continue;
        }
        if (last) continue; // it ends at the last knot
        // u + d rise: integral of the rise 1/2, of its square 1/3 or that of poly5
        const double c = of->rule == SNW_KNOTS_LINEAR ? 1.0 / 3 : smooth_square;
        const double a = u[k], d = u[k + 1] - u[k];
        sum += h * (a * a + a * d + c * d * d);
        if (!du) continue;
        const double by_a = 2 * a + d, by_d = a + 2 * c * d;
        du[k] += factor * h * (by_a - by_d);
        du[k + 1] += factor * h * by_d;
    }
    return sum;
}

static double add_efforts(const optimize_search *s, double *gradient) {
    double sum = 0;
    for (int k = 0; k < s->n; k++) {
        const snw_optimize_variable *v = &s->how->variable[s->owner[k]];
        const bool first = k == 0 || s->owner[k - 1] != s->owner[k];
        if (!first || v->of.nknot == 0 || v->effort == 0) continue;
        sum += v->effort * square_of_law(v, s->p + k, v->effort, gradient ? gradient + k : NULL);
    }
    return sum;
}

// ---- evaluation ---------------------------------------------------------------------------------

// f, df <- functions of the program from the scalars, before they are scaled.
static void assemble(optimize_search *s, bool derivatives) {
    const size_t n = (size_t)s->n;
    const double *dcost = s->dJ;
    if (derivatives) {
        for (size_t k = 0; k < n; k++) s->df[k] = s->has_cost ? dcost[k] : 0;
        s->cost = add_efforts(s, s->df);
    } else {
        s->cost = add_efforts(s, NULL);
    }
    s->cost += s->has_cost ? s->J[0] : 0;
    s->f[0] = s->sense * s->cost / s->cost_scale;
    for (size_t k = 0; derivatives && k < n; k++)
        s->df[k] *= s->sense * s->scale[k] / s->cost_scale;
    s->violation = 0;
    for (int i = 0; i < s->nrow; i++) {
        const optimize_row *r = &s->row[i];
        const double factor = r->sign / r->scale, c = factor * (s->J[r->scalar] - r->limit);
        s->f[1 + i] = c;
        const double off = i < s->nequal ? fabs(c) : c;
        if (off > s->violation) s->violation = off, s->worst = i;
        for (size_t k = 0; derivatives && k < n; k++)
            s->df[(size_t)(1 + i) * n + k] =
                factor * s->dJ[(size_t)r->scalar * n + k] * s->scale[k];
    }
}

// Derivatives of all scalars by entry k at s->p, with the scalars J: differences of whole runs of
// order 6, and of order 4 to estimate their error.
static snw_status differentiate_entry(optimize_search *s, int k) {
    const size_t n = (size_t)s->n;
    const double at = s->p[k],
                 h = fmin(difference_move * s->scale[k], (s->high[k] - s->low[k]) / 6);
    double weight[7], coarse[5];
    // nodes within the bounds
    int shift = 0;
    while (shift < 3 && at + (shift - 3) * h < s->low[k]) shift++;
    while (shift > -3 && at + (shift + 3) * h > s->high[k]) shift--;
    snw_difference_weights(3, shift, weight);
    snw_difference_weights(2, shift < -2 ? -2 : shift > 2 ? 2 : shift, coarse);
    const int first = (shift < -2 ? -2 : shift > 2 ? 2 : shift) - 2; // node of coarse[0]
    for (int i = 0; i < s->nscalar; i++) s->dJ[(size_t)i * n + (size_t)k] = s->rough[i] = 0;
    for (int a = 0; a < 7; a++) {
        const int node = shift - 3 + a;
        if (node == 0) continue;
        s->p[k] = at + node * h;
        const snw_status status = snw_gradient_evaluate(s->g, s->p, s->near, NULL, s->err);
        s->p[k] = at;
        SNW_TRY(status);
        for (int i = 0; i < s->nscalar; i++) {
            const double change = (s->near[i] - s->J[i]) / h;
            s->dJ[(size_t)i * n + (size_t)k] += weight[a] * change;
            if (node >= first && node < first + 5) s->rough[i] += coarse[node - first] * change;
        }
    }
    for (int i = 0; i < s->nscalar; i++) {
        const double exact = s->dJ[(size_t)i * n + (size_t)k];
        s->difference_error =
            fmax(s->difference_error, fabs(exact - s->rough[i]) / fmax(fabs(exact), 1e-3));
    }
    return SNW_OK;
}

// Scalars with derivatives at s->p; differences where the study has no others.
static snw_status evaluate_derivatives(optimize_search *s) {
    if (!s->differences) {
        const snw_status status = snw_gradient_evaluate(s->g, s->p, s->J, s->dJ, s->err);
        if (status != SNW_E_MODEL || s->how->gradient != SNW_GRADIENT_AUTO) return status;
        *s->err = (snw_error){0}; // is it the model that is not possible, or its derivatives?
        SNW_TRY(snw_gradient_evaluate(s->g, s->p, s->J, NULL, s->err));
        s->differences = true;
    } else {
        SNW_TRY(snw_gradient_evaluate(s->g, s->p, s->J, NULL, s->err));
    }
    s->difference_error = 0;
    for (int k = 0; k < s->n; k++) SNW_TRY(differentiate_entry(s, k));
    return SNW_OK;
}

// Scalars at s->p.
static snw_status evaluate_scalars(optimize_search *s, bool derivatives) {
    const snw_optimize_options *how = s->how;
    s->calls++;
    const bool known =
        how->recall && how->recall(how->user, s->calls, s->p, s->J, derivatives ? s->dJ : NULL);
    *s->err = (snw_error){0};
    if (!known && derivatives) SNW_TRY(evaluate_derivatives(s));
    if (!known && !derivatives) SNW_TRY(snw_gradient_evaluate(s->g, s->p, s->J, NULL, s->err));
    for (int i = 0; i < s->nscalar; i++) {
        if (!isfinite(s->J[i]))
            return snw_fail(s->err, SNW_E_DIVERGED, "a scalar of the optimisation is not finite");
    }
    assemble(s, derivatives);
    s->has_df = derivatives;
    const snw_optimize_evaluation e = {.number = s->calls,
                                       .cost = s->cost,
                                       .violation = s->violation,
                                       .nvariable = s->n,
                                       .nscalar = s->nscalar,
                                       .p = s->p,
                                       .J = s->J,
                                       .dJ = derivatives ? s->dJ : NULL};
    return how->evaluated ? how->evaluated(how->user, &e) : SNW_OK;
}

// p <- of the scaled variables, at a bound where only rounding is between
static void set_point(optimize_search *s, const double *z) {
    for (int k = 0; k < s->n; k++) {
        const double p = s->start[k] + s->scale[k] * z[k], near = 1e-12 * s->scale[k];
        s->p[k] = p - s->low[k] < near ? s->low[k] : s->high[k] - p < near ? s->high[k] : p;
    }
}

// Has the last evaluation what is wanted at s->p?
static bool is_known(const optimize_search *s, bool derivatives) {
    return s->known && (s->has_df || !derivatives) &&
           memcmp(s->p, s->last, (size_t)s->n * sizeof *s->p) == 0;
}

// The same without a run where the last evaluation was at s->p.
static snw_status evaluate_again(optimize_search *s, bool derivatives) {
    if (is_known(s, derivatives)) {
        assemble(s, s->has_df); // scales may have changed
        return SNW_OK;
    }
    s->known = false;
    SNW_TRY(evaluate_scalars(s, derivatives));
    memcpy(s->last, s->p, (size_t)s->n * sizeof *s->p);
    s->known = true;
    return SNW_OK;
}

// One evaluation is left for the result, whose point need not be the last one.
static snw_status evaluate_program(void *user, const double *z, double *f, double *df) {
    optimize_search *s = user;
    const size_t n = (size_t)s->n, rows = 1 + (size_t)s->nrow;
    set_point(s, z);
    s->used_up = s->used_up || (s->calls + 1 >= s->most && !is_known(s, df != NULL));
    if (s->used_up) return SNW_E_STOPPED;
    const snw_status status = evaluate_again(s, df != NULL);
    if (status != SNW_OK) {
        s->nfailed++;
        s->failure = *s->err;
        return status;
    }
    memcpy(f, s->f, rows * sizeof *f);
    if (df) memcpy(df, s->df, rows * n * sizeof *df);
    return SNW_OK;
}

// ---- preparation --------------------------------------------------------------------------------

static snw_status check_variables(optimize_search *s) {
    int entry = 0;
    for (int i = 0; i < s->how->nvariable; i++) {
        const snw_optimize_variable *v = &s->how->variable[i];
        const int n = v->of.nknot > 0 ? v->of.nknot : 1;
        for (int k = 0; k < n; k++, entry++) {
            const gradient_kind kind = s->g->entry[entry].kind;
            if (kind == GRADIENT_POSITION || kind == GRADIENT_VELOCITY)
                return snw_fail(s->err, SNW_E_ARGUMENT,
                                "'%.100s' is an initial value; name the number of the file that "
                                "gives it",
                                v->of.name);
            s->owner[entry] = i;
            if (!isnan(v->start)) s->start[entry] = v->start;
            const double low = isnan(v->low) ? -INFINITY : v->low,
                         high = isnan(v->high) ? INFINITY : v->high, from = s->start[entry];
            if (!(low <= from && from <= high))
                return snw_fail(s->err, SNW_E_ARGUMENT,
                                "'%.100s' starts from %g, outside of its bounds %g .. %g",
                                v->of.name, from, low, high);
            s->low[entry] = low, s->high[entry] = high;
            s->scale[entry] = v->scale > 0                      ? v->scale
                              : isfinite(low) && isfinite(high) ? high - low
                              : from != 0                       ? fabs(from)
                                                                : 1;
            s->z_low[entry] = (low - from) / s->scale[entry];
            s->z_high[entry] = (high - from) / s->scale[entry];
        }
    }
    return SNW_OK;
}

static void list_rows(optimize_search *s) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->how->nconstraint; i++) {
            const snw_optimize_constraint *c = &s->how->constraint[i];
            const bool equal = c->low == c->high;
            if (equal != (pass == 0)) continue;
            for (int k = s->first[i]; k < s->first[i + 1]; k++) {
                if (equal || !isnan(c->high))
                    s->row[s->nrow++] = (optimize_row){i, k, 1, equal ? c->low : c->high, 1};
                if (!equal && !isnan(c->low))
                    s->row[s->nrow++] = (optimize_row){i, k, -1, c->low, 1};
            }
        }
        if (pass == 0) s->nequal = s->nrow;
    }
}

// Have cost and constraints no derivative by entry k?
static bool is_idle(const optimize_search *s, int k) {
    bool idle = true;
    for (int i = 0; i <= s->nrow; i++)
        idle = idle && s->df[(size_t)i * (size_t)s->n + (size_t)k] == 0;
    return idle;
}

// Scales by the gradients at the start: a step of the scales of all variables changes a function by
// about one.
static snw_status set_scales(optimize_search *s) {
    memcpy(s->p, s->start, (size_t)s->n * sizeof *s->p);
    SNW_TRY(evaluate_again(s, true));
    for (int i = -1; i < s->nrow; i++) {
        const double *g = s->df + (size_t)(i + 1) * (size_t)s->n;
        double sum = 0;
        for (int k = 0; k < s->n; k++) sum += g[k] * g[k];
        if (!isfinite(sum))
            return snw_fail(s->err, SNW_E_DIVERGED, "a derivative at the start is not finite");
        if (!(sum > 0)) continue;
        *(i < 0 ? &s->cost_scale : &s->row[i].scale) = sqrt(sum);
    }
    for (int k = 0; k < s->n; k++) s->idle[k] = is_idle(s, k);
    return SNW_OK;
}

static snw_status optimize_alloc(optimize_search *s, snw_pool *pool) {
    const size_t n = (size_t)s->n, m = (size_t)s->nscalar, most = 2 * (size_t)s->nscalar + 1;
    double *a = snw_pool_array(pool, 10 * n + 3 * m + m * n + 2 * most + most * n + 8, sizeof *a);
    s->row = snw_pool_array(pool, most, sizeof *s->row);
    s->owner = snw_pool_array(pool, n + 1, sizeof *s->owner);
    s->idle = snw_pool_array(pool, n + 1, sizeof *s->idle);
    if (!a || !s->row || !s->owner || !s->idle) return snw_fail_memory(s->err);
    double **const part[] = {&s->start, &s->scale, &s->low, &s->high, &s->z_low, &s->z_high, &s->p};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) *part[i] = a + i * n;
    s->J = a + 7 * n;
    s->dJ = s->J + m;
    s->f = s->dJ + m * n;
    s->df = s->f + most;
    s->near = s->df + most * n;
    s->rough = s->near + m;
    s->z = s->rough + m;
    s->bound = s->z + n;
    s->last = s->bound + n;
    s->multiplier = s->last + n;
    return SNW_OK;
}

static snw_status check_options(const snw_optimize_options *how, snw_error *err) {
    bool cost = how->cost != NULL;
    for (int i = 0; i < how->nvariable; i++) cost |= how->variable[i].effort != 0;
    if (how->nvariable < 1 || !how->variable || !cost)
        return snw_fail(err, SNW_E_ARGUMENT, "there is no variable, or no cost");
    for (int i = 0; i < how->nconstraint; i++) {
        const snw_optimize_constraint *c = &how->constraint[i];
        if (!c->value || (isnan(c->low) && isnan(c->high)) || c->low > c->high)
            return snw_fail(err, SNW_E_ARGUMENT, "constraint %d has no value, or no limits", i);
    }
    return SNW_OK;
}

// Number of scalars of a constraint: the parts of an extreme that is bounded on its side, else one.
static int parts_of(const snw_optimize_constraint *c) {
    const bool highest = isnan(c->low) && snw_scalar_is_extreme(c->value, SNW_SCALAR_MAX);
    const bool lowest = isnan(c->high) && snw_scalar_is_extreme(c->value, SNW_SCALAR_MIN);
    return highest || lowest ? PARTS : 1;
}

int snw_optimize_scalars(const snw_optimize_options *how) {
    int n = how && how->cost;
    for (int i = 0; how && i < how->nconstraint; i++)
        n += how->constraint[i].value ? parts_of(&how->constraint[i]) : 1;
    return n;
}

// Gradients of cost and constraints by all variables.
static snw_status create_gradient(optimize_search *s, snw_robot_model *m, snw_pool *pool) {
    const snw_optimize_options *how = s->how;
    snw_gradient_options o = snw_gradient_defaults();
    snw_gradient_variable *v = snw_pool_array(pool, (size_t)how->nvariable, sizeof *v);
    const char **scalar =
        snw_pool_array(pool, PARTS * (size_t)how->nconstraint + 1, sizeof *scalar);
    s->first = snw_pool_array(pool, (size_t)how->nconstraint + 1, sizeof *s->first);
    if (!v || !scalar || !s->first) return snw_fail_memory(s->err);
    for (int i = 0; i < how->nvariable; i++) v[i] = how->variable[i].of;
    s->has_cost = how->cost != NULL;
    if (how->cost) scalar[s->nscalar++] = how->cost;
    for (int i = 0; i < how->nconstraint; i++) {
        const snw_optimize_constraint *c = &how->constraint[i];
        s->first[i] = s->nscalar;
        for (int k = parts_of(c); k > 0; k--) scalar[s->nscalar++] = c->value;
    }
    s->first[how->nconstraint] = s->nscalar;
    o.nvariable = how->nvariable, o.variable = v;
    o.nscalar = s->nscalar, o.scalar = scalar;
    o.method = how->gradient;
    s->differences = how->gradient == SNW_GRADIENT_DIFFERENCES;
    SNW_TRY(snw_gradient_create(m, &o, &s->g, s->err));
    for (int i = 0; i < how->nconstraint; i++) {
        const int parts = s->first[i + 1] - s->first[i];
        for (int k = 0; parts > 1 && k < parts; k++) {
            snw_scalar_sum *sum = s->g->scalar[s->first[i] + k].sum;
            sum->part = k, sum->parts = parts;
        }
    }
    s->n = snw_gradient_size(s->g);
    return SNW_OK;
}

// ---- result -------------------------------------------------------------------------------------

typedef struct optimize_answer {
    snw_optimize_result result; // first member
    snw_pool *pool;
} optimize_answer;

void snw_optimize_close(snw_optimize_result *r) {
    optimize_answer *a = (optimize_answer *)(void *)r;
    if (a) snw_pool_destroy(a->pool); // holds the answer itself
}

static snw_status list_sets(const optimize_search *s, snw_pool *pool, snw_optimize_result *r) {
    const size_t most = (size_t)s->n + (size_t)s->how->nvariable + 1;
    char **set = snw_alloc(most * sizeof *set);
    const char **kept = snw_pool_array(pool, most, sizeof *kept);
    if (!set || !kept) {
        snw_free(set);
        return snw_fail_memory(s->err);
    }
    int n = 0;
    snw_status status = gradient_sets(s->g, s->p, set, &n, s->err);
    for (int i = 0; i < n; i++) {
        kept[i] = snw_pool_text(pool, set[i], strlen(set[i]));
        if (!kept[i]) status = snw_fail_memory(s->err);
        snw_free(set[i]);
    }
    snw_free(set);
    r->nset = n;
    r->set = kept;
    return status;
}

// Multipliers at s->p, whose derivatives are known.
static snw_status find_multipliers(optimize_search *s, const snw_program *program) {
    snw_arena scratch = {.size = snw_program_multipliers_scratch(s->n, s->nrow)};
    scratch.base = snw_alloc(scratch.size);
    if (!scratch.base) return snw_fail_memory(s->err);
    for (int k = 0; k < s->n; k++) s->z[k] = (s->p[k] - s->start[k]) / s->scale[k];
    const snw_status status = snw_program_multipliers(program, s->z, s->f, s->df, holds, &scratch,
                                                      s->multiplier, s->bound, &s->optimality);
    snw_free(scratch.base);
    return status;
}

// Prices of limits: the least cost changes by -multiplier per unit of the limit.
static void set_prices(const optimize_search *s, snw_optimize_entry *entry,
                       snw_optimize_limit *limit) {
    const double unit = s->sense * s->cost_scale;
    for (int k = 0; k < s->n; k++) {
        entry[k].at = s->p[k] <= s->low[k] ? -1 : s->p[k] >= s->high[k] ? 1 : 0;
        entry[k].price = entry[k].at ? -unit * s->bound[k] / s->scale[k] : 0;
    }
    for (int i = 0; i < s->nrow; i++) {
        const optimize_row *row = &s->row[i];
        snw_optimize_limit *to = &limit[row->constraint];
        if (i >= s->nequal && fabs(s->f[1 + i]) > holds) continue;
        to->at = (int)row->sign;
        to->price -= unit * s->multiplier[i] * row->sign / row->scale;
    }
}

static snw_status make_result(optimize_search *s, const char *reason, snw_optimize_result **out) {
    snw_pool *pool = snw_pool_create(RESULT_LIMIT);
    optimize_answer *a = pool ? snw_pool_take(pool, sizeof *a) : NULL;
    if (!a) {
        snw_pool_destroy(pool);
        return snw_fail_memory(s->err);
    }
    *a = (optimize_answer){.pool = pool};
    snw_optimize_result *r = &a->result;
    *out = r;
    snw_optimize_entry *entry = snw_pool_array(pool, (size_t)s->n + 1, sizeof *entry);
    snw_optimize_limit *limit =
        snw_pool_array(pool, (size_t)s->how->nconstraint + 1, sizeof *limit);
    if (!entry || !limit) return snw_fail_memory(s->err);
    *r = (snw_optimize_result){.cost = s->cost,
                               .nvariable = s->n,
                               .variable = entry,
                               .nconstraint = s->how->nconstraint,
                               .constraint = limit,
                               .violation = s->violation,
                               .optimality = s->optimality,
                               .reason = reason,
                               .evaluations = s->calls,
                               .gradient = snw_gradient_report(s->g)};
    if (s->differences) {
        r->gradient.method = SNW_GRADIENT_DIFFERENCES;
        r->gradient.error = s->difference_error;
        r->gradient.cut_effect = NAN;
    } else {
        SNW_TRY(snw_gradient_cut_effect(s->g, s->p, &r->gradient.cut_steps, &r->gradient.cut_effect,
                                        s->err));
    }
    for (int k = 0; k < s->n; k++) {
        const char *name = snw_gradient_name(s->g, k), *unit = snw_gradient_unit(s->g, k);
        entry[k] = (snw_optimize_entry){.name = snw_pool_text(pool, name, strlen(name)),
                                        .unit = snw_pool_text(pool, unit, strlen(unit)),
                                        .value = s->p[k],
                                        .start = s->start[k],
                                        .low = s->low[k],
                                        .high = s->high[k],
                                        .idle = s->has_df && s->idle[k] && is_idle(s, k)};
        if (!entry[k].name || !entry[k].unit) return snw_fail_memory(s->err);
    }
    for (int i = 0; i < s->how->nconstraint; i++) {
        const snw_optimize_constraint *c = &s->how->constraint[i];
        double value = s->J[s->first[i]]; // of the parts the one nearest to the limit
        for (int k = s->first[i] + 1; k < s->first[i + 1]; k++)
            value = isnan(c->high) ? fmin(value, s->J[k]) : fmax(value, s->J[k]);
        limit[i] = (snw_optimize_limit){.name = snw_pool_text(pool, c->value, strlen(c->value)),
                                        .value = value,
                                        .low = isnan(c->low) ? -INFINITY : c->low,
                                        .high = isnan(c->high) ? INFINITY : c->high};
        if (!limit[i].name) return snw_fail_memory(s->err);
    }
    if (s->has_df) set_prices(s, entry, limit);
    return list_sets(s, pool, r);
}

// ---- search -------------------------------------------------------------------------------------

// Names the constraint that is missed most, and a bound of a variable that holds it back.
static snw_status fail_infeasible(const optimize_search *s, const snw_optimize_result *r,
                                  snw_error *err) {
    const snw_optimize_limit *worst = &r->constraint[s->row[s->worst].constraint];
    const bool low = worst->value < worst->low;
    char held[200] = "";
    for (int i = 0; i < r->nvariable && !held[0]; i++) {
        const snw_optimize_entry *v = &r->variable[i];
        if (v->at != 0)
            (void)snprintf(held, sizeof held, "; '%.80s' is at its %s bound, %.6g", v->name,
                           v->at < 0 ? "lower" : "upper", v->value);
    }
    return snw_fail(err, SNW_E_DIVERGED,
                    "the search from this start does not meet the constraints: '%.100s' stays at "
                    "%.6g, %s its limit %.6g%s; move a limit, or start elsewhere",
                    worst->name, worst->value, low ? "below" : "above",
                    low ? worst->low : worst->high, held);
}

static snw_status optimize_search_run(optimize_search *s, double *z, snw_optimize_result **out) {
    const snw_optimize_options *how = s->how;
    snw_program_opts opts = snw_program_defaults();
    opts.method = (snw_program_method)how->method;
    if (how->step > 0) opts.step = how->step;
    if (how->feasible > 0) opts.feasible = how->feasible;
    opts.max_calls = s->most;
    const snw_program program = {.n = s->n,
                                 .nequal = s->nequal,
                                 .nbelow = s->nrow - s->nequal,
                                 .low = s->z_low,
                                 .high = s->z_high,
                                 .user = s,
                                 .evaluate = evaluate_program};
    snw_program_info info = {.reason = ""};
    snw_status status = SNW_OK;
    // methods may stop early: they begin again where derivatives say that there is a way on
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        snw_error why = {0};
        status = snw_program_solve(&program, &opts, z, &info, &why);
        if (s->used_up)
            status = snw_fail(&why, SNW_E_DIVERGED,
                              "the search ended: the limit of %d evaluations is used up", s->most);
        if (status != SNW_OK && why.text[0]) *s->err = why; // else that of the evaluation
        if (status == SNW_E_STOPPED) break;
        if (status != SNW_OK && status != SNW_E_DIVERGED) return status;
        const snw_error kept = *s->err;
        set_point(s, z);
        if (evaluate_again(s, true) == SNW_OK) {
            SNW_TRY(find_multipliers(s, &program));
        } else {
            s->has_df = false;
        }
        *s->err = kept;
        if (s->used_up) info.reason = "the number of evaluations is used up";
        if (status != SNW_OK || s->optimality <= enough || s->used_up) break;
    }
    s->has_df = s->has_df && !isnan(s->optimality);
    SNW_TRY(make_result(s, info.reason, out));
    if (status == SNW_OK && s->violation > 10 * opts.feasible)
        return fail_infeasible(s, *out, s->err);
    if (s->used_up && s->violation > 10 * opts.feasible) {
        const snw_optimize_limit *worst = &(*out)->constraint[s->row[s->worst].constraint];
        const bool low = worst->value < worst->low;
        return snw_fail(s->err, SNW_E_DIVERGED,
                        "the search ended: the limit of %d evaluations is used up, and '%.100s' is "
                        "still at %.6g, %s its limit %.6g; move that limit if it cannot be met, or "
                        "start elsewhere",
                        s->most, worst->name, worst->value, low ? "below" : "above",
                        low ? worst->low : worst->high);
    }
    if (status == SNW_OK && !(s->optimality <= doubtful) && how->cost &&
        (snw_scalar_is_extreme(how->cost, SNW_SCALAR_MAX) ||
         snw_scalar_is_extreme(how->cost, SNW_SCALAR_MIN)))
        return snw_fail(
            s->err, SNW_E_DIVERGED,
            "the search ended where %.2g of the gradient is left: the cost '%.100s' has "
            "corners where two instants compete; make its value a variable and limit "
            "the extreme of the difference, as 'sinew help optimize' shows",
            s->optimality, how->cost);
    if (status == SNW_OK && !(s->optimality <= doubtful)) {
        char failed[300] = "";
        if (s->nfailed > 0)
            (void)snprintf(
                failed, sizeof failed,
                ". %d evaluation%s failed, which bounds may prevent, the last one: %.200s",
                s->nfailed, s->nfailed == 1 ? "" : "s", s->failure.text);
        return snw_fail(s->err, SNW_E_DIVERGED,
                        "the search ended where %.2g of the gradient is left: cost or constraints "
                        "may have a corner or a jump there; try another method, other scales or "
                        "another start%s",
                        s->optimality, failed);
    }
    return status;
}

snw_status snw_optimize_run(snw_robot_model *m, const snw_optimize_options *how,
                            snw_optimize_result **out, snw_error *err) {
    if (!m || !how || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !m ? "the model" : !how ? "how" : "out");
    *out = NULL;
    SNW_TRY(check_options(how, err));
    snw_pool *pool = snw_pool_create(RESULT_LIMIT);
    if (!pool) return snw_fail_memory(err);
    snw_error last = {0};
    optimize_search s = {.how = how,
                         .most = how->evaluations > 0 ? how->evaluations : MOST_CALLS,
                         .sense = how->maximise ? -1 : 1,
                         .cost_scale = 1,
                         .optimality = NAN,
                         .err = &last};
    double *z = NULL;
    snw_status status = create_gradient(&s, m, pool);
    if (status == SNW_OK) status = optimize_alloc(&s, pool);
    if (status == SNW_OK) status = snw_gradient_start(s.g, s.start, &last);
    if (status == SNW_OK) status = check_variables(&s);
    if (status == SNW_OK) list_rows(&s);
    if (status == SNW_OK) status = set_scales(&s);
    if (status == SNW_OK) {
        z = snw_pool_array(pool, (size_t)s.n, sizeof *z);
        status = z ? optimize_search_run(&s, z, out) : snw_fail_memory(&last);
    }
    if (status != SNW_OK && err) *err = *s.err;
    snw_gradient_close(s.g);
    snw_pool_destroy(pool);
    return status;
}
