// SPDX-License-Identifier: MIT
//
// Nonlinear programs by NLopt (Johnson, github.com/stevengj/nlopt), the only file that calls it.
// NLopt asks for cost and constraints separately; one evaluation serves both.
#include "solve/nonlinear_program.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/bounded_least_squares.h"

#include <math.h>
#include <string.h>

#ifdef SNW_NLOPT
#include <nlopt.h>
#endif

snw_program_opts snw_program_defaults(void) {
    return (snw_program_opts){.step = 1e-10, .gain = 1e-12, .feasible = 1e-9, .max_calls = 500};
}

// ---- multipliers --------------------------------------------------------------------------------

size_t snw_program_multipliers_scratch(int n, int nconstraint) {
    const size_t N = (size_t)n, columns = N + (size_t)nconstraint;
    return (N * columns + 4 * columns + N + 8) * sizeof(double) +
           snw_bounded_linear_scratch(n + nconstraint, n, 0) + 8 * 64;
}

snw_status snw_program_multipliers(const snw_program *p, const double *x, const double *f,
                                   const double *df, double active, snw_arena *scratch,
                                   double *multiplier, double *bound, double *optimality) {
    const size_t n = (size_t)p->n, m = (size_t)(p->nequal + p->nbelow),
                 mark = snw_arena_mark(scratch);
    double *A = snw_arena_doubles(scratch, n * (n + m) + 1), *b = snw_arena_doubles(scratch, n + 1);
    double *low = snw_arena_doubles(scratch, n + m + 1),
           *high = snw_arena_doubles(scratch, n + m + 1);
    double *y = snw_arena_doubles(scratch, n + m + 1);
    memset(A, 0, n * (n + m) * sizeof *A);
    memset(y, 0, (n + m) * sizeof *y);
    double size = 0, left = 0;
    for (size_t k = 0; k < n; k++) b[k] = -df[k], size = fmax(size, fabs(df[k]));
    for (size_t i = 0; i < m; i++) {
        const bool equal = i < (size_t)p->nequal, holds = equal || fabs(f[1 + i]) <= active;
        for (size_t k = 0; holds && k < n; k++) A[i * n + k] = df[(1 + i) * n + k];
        low[i] = equal ? -INFINITY : 0;
        high[i] = holds ? INFINITY : 0;
    }
    for (size_t k = 0; k < n; k++) {
        const bool at_low = x[k] - p->low[k] <= active, at_high = p->high[k] - x[k] <= active;
        A[(m + k) * n + k] = at_low || at_high;
        low[m + k] = at_low ? -INFINITY : 0;
        high[m + k] = at_high ? INFINITY : 0;
    }
    const snw_bounded_linear fit = {
        .n = (int)(n + m), .m = (int)n, .A = A, .b = b, .low = low, .high = high};
    const snw_status s = snw_bounded_linear_solve(&fit, scratch, y, NULL);
    for (size_t k = 0; k < n; k++) {
        double rest = df[k] + A[(m + k) * n + k] * y[m + k];
        for (size_t i = 0; i < m; i++) {
            rest += A[i * n + k] * y[i];
            size = fmax(size, fabs(A[i * n + k] * y[i]));
        }
        left = fmax(left, fabs(rest));
        bound[k] = y[m + k];
    }
    memcpy(multiplier, y, m * sizeof *y);
    *optimality = left / fmax(size, 1);
    snw_arena_reset(scratch, mark);
    return s;
}

// ---- search -------------------------------------------------------------------------------------

#ifdef SNW_NLOPT

bool snw_program_available(void) { return true; }

typedef struct program_search {
    const snw_program *p;
    const snw_program_opts *opts;
    snw_program_info *info;
    nlopt_opt nlopt;
    double *x, *f, *df;        // last evaluation
    bool has_f, has_df, first; // what is known of it; is it the first?
    snw_status status;         // that ends the search
} program_search;

// Cost and constraints at x; false: the evaluation failed.
static bool program_at(program_search *s, const double *x, bool derivatives) {
    const size_t n = (size_t)s->p->n;
    if (s->has_f && memcmp(s->x, x, n * sizeof *x) != 0) s->has_f = s->has_df = false;
    if (s->has_f && (s->has_df || !derivatives)) return true;
    memcpy(s->x, x, n * sizeof *x);
    s->info->calls++;
    const snw_status status = s->p->evaluate(s->p->user, x, s->f, derivatives ? s->df : NULL);
    s->has_f = status == SNW_OK;
    s->has_df = s->has_f && derivatives;
    if (status == SNW_E_STOPPED || status == SNW_E_MEMORY || (status != SNW_OK && s->first)) {
        s->status = status;
        (void)nlopt_force_stop(s->nlopt);
    }
    s->first = false;
    return s->has_f;
}

static double program_cost(unsigned n, const double *x, double *gradient, void *user) {
    program_search *s = user;
    if (!program_at(s, x, gradient != NULL)) {
        if (gradient) memset(gradient, 0, n * sizeof *gradient);
        return HUGE_VAL;
    }
    if (gradient) memcpy(gradient, s->df, n * sizeof *gradient);
    return s->f[0];
}

static void program_rows(program_search *s, int first, unsigned m, unsigned n, double *value,
                         const double *x, double *gradient) {
    const bool known = program_at(s, x, gradient != NULL);
    for (unsigned i = 0; i < m; i++) value[i] = known ? s->f[first + (int)i] : HUGE_VAL;
    if (!gradient) return;
    const size_t bytes = (size_t)m * n * sizeof *gradient;
    if (known) {
        memcpy(gradient, s->df + (size_t)first * n, bytes);
    } else {
        memset(gradient, 0, bytes);
    }
}

static void program_equal(unsigned m, double *value, unsigned n, const double *x, double *gradient,
                          void *user) {
    program_rows(user, 1, m, n, value, x, gradient);
}

static void program_below(unsigned m, double *value, unsigned n, const double *x, double *gradient,
                          void *user) {
    program_search *s = user;
    program_rows(s, 1 + s->p->nequal, m, n, value, x, gradient);
}

static snw_status program_configure(program_search *s, double *tolerance) {
    const snw_program *p = s->p;
    bool ok = nlopt_set_min_objective(s->nlopt, program_cost, s) > 0;
    ok = ok && nlopt_set_lower_bounds(s->nlopt, p->low) > 0;
    ok = ok && nlopt_set_upper_bounds(s->nlopt, p->high) > 0;
    for (int i = 0; i < p->nequal + p->nbelow; i++) tolerance[i] = s->opts->feasible;
    if (p->nequal > 0)
        ok = ok && nlopt_add_equality_mconstraint(s->nlopt, (unsigned)p->nequal, program_equal, s,
                                                  tolerance) > 0;
    if (p->nbelow > 0)
        ok = ok && nlopt_add_inequality_mconstraint(s->nlopt, (unsigned)p->nbelow, program_below, s,
                                                    tolerance) > 0;
    ok = ok && nlopt_set_ftol_rel(s->nlopt, s->opts->gain) > 0;
    ok = ok && nlopt_set_xtol_abs1(s->nlopt, s->opts->step) > 0;
    ok = ok && nlopt_set_maxeval(s->nlopt, s->opts->max_calls) > 0;
    return ok ? SNW_OK : SNW_E_MEMORY;
}

static snw_status program_run(program_search *s, double *x, snw_error *err) {
    double cost;
    const nlopt_result result = nlopt_optimize(s->nlopt, x, &cost);
    if (s->status != SNW_OK) return s->status; // the message is that of the evaluation
    s->info->reason = result == NLOPT_FTOL_REACHED       ? "the cost changes no more"
                      : result == NLOPT_XTOL_REACHED     ? "the variables change no more"
                      : result == NLOPT_ROUNDOFF_LIMITED ? "rounding allows no further step"
                      : result == NLOPT_MAXEVAL_REACHED  ? "the number of evaluations is used up"
                      : result > 0                       ? "a minimum"
                                                         : "no step leads on";
    if (result > 0 && result != NLOPT_MAXEVAL_REACHED) return SNW_OK;
    if (result == NLOPT_ROUNDOFF_LIMITED) return SNW_OK;
    return snw_fail(err, SNW_E_DIVERGED, "the search ended after %d evaluations: %s",
                    s->info->calls, s->info->reason);
}

snw_status snw_program_solve(const snw_program *p, const snw_program_opts *opts, double *x,
                             snw_program_info *info, snw_error *err) {
    static const nlopt_algorithm algorithm[] = {NLOPT_LD_SLSQP, NLOPT_LD_MMA, NLOPT_LD_CCSAQ};
    *info = (snw_program_info){.reason = ""};
    if (p->nequal > 0 && opts->method != SNW_PROGRAM_SLSQP)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "this method takes no equalities; give ranges, or use slsqp");
    if (p->nequal > p->n)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%d equalities are more than the %d variable%s can meet; leave some out, "
                        "give ranges (above, below), or add variables",
                        p->nequal, p->n, p->n == 1 ? "" : "s");
    const size_t n = (size_t)p->n, rows = 1 + (size_t)(p->nequal + p->nbelow);
    program_search s = {.p = p, .opts = opts, .info = info, .first = true};
    s.x = snw_alloc((n + rows + n * rows + rows) * sizeof *s.x);
    s.nlopt = nlopt_create(algorithm[opts->method], (unsigned)p->n);
    snw_status status = s.x && s.nlopt ? SNW_OK : SNW_E_MEMORY;
    if (status == SNW_OK) {
        s.f = s.x + n;
        s.df = s.f + rows;
        status = program_configure(&s, s.df + n * rows);
    }
    if (status == SNW_E_MEMORY) (void)snw_fail_memory(err);
    if (status == SNW_OK) status = program_run(&s, x, err);
    nlopt_destroy(s.nlopt);
    snw_free(s.x);
    return status;
}

#else

bool snw_program_available(void) { return false; }

snw_status snw_program_solve(const snw_program *p, const snw_program_opts *opts, double *x,
                             snw_program_info *info, snw_error *err) {
    (void)p, (void)opts, (void)x;
    *info = (snw_program_info){.reason = ""};
    return snw_fail(err, SNW_E_ARGUMENT,
                    "this program was built without NLopt, which does the optimisation; install "
                    "libnlopt-dev and build it again");
}

#endif
