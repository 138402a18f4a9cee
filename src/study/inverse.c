// SPDX-License-Identifier: MIT
//
// Inverse statics. Each evaluation is an equilibrium with its static gain; the steps are those of
// solve/bounded_least_squares.h. theory.md 5.3
#include "study/inverse.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "solve/bounded_least_squares.h"
#include "solve/dense.h"
#include "study/probe.h"
#include "study/snapshot.h"
#include "study/target_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 26, MOST_EQUILIBRIA = 1000 };

static const double at_limit = 1e-12, // distance from a limit, units of motion
    shortest_part = 1.0 / 64,         // of the way to the target
    beside = 0.1,                     // distance from the start, units of motion
    nothing = 1e-12;                  // size of targets that gives no weight

typedef struct inverse_search {
    snw_inverse_result view; // first: the public part
    const snw_inverse_problem *p;
    const snw_model *m;
    snw_pool *pool;
    snw_linear *linear;
    snw_linear_input *of_input;
    snw_linear_output *of_output;
    snw_inputs *in;
    snw_work *w;
    snw_vec3 *rotation; // at the present equilibrium
    const double *D;    // gain there, ny x nu
    snw_error *err;
    snw_arena scratch;
    int nu, ny;
    int most; // equilibria of this search
    snw_inverse_input *input;
    snw_inverse_output *output;
    double *rest;        // nu
    bool *falls, *rises; // nu: the low, the high limit is that of the rate
    int *turns; // ny: columns of the rotation that begins here: 3, a rotation vector, or 4, a unit
                // quaternion; else 0
    double *start;                      // ny: values at the start
    double *aim;                        // ny: targets of this part of the way
    double *now;                        // ny: present values
    double *x, *low, *high, *goal_rest; // nu: in units of motion
    double *residual, *J, *multiplier, *goal;
    double *best;  // nu
    double *given; // inputs held before
    bool varies;   // numbers of the file are among the unknowns
    double *value; // nu: of the present model, and of the next; inputs are not used
    snw_snapshot before, at_start, followed;
    bool anywhere; // the next equilibrium may be on any branch
    bool unstable; // the start is
    bool refused;  // the last equilibrium was: its branch had ended or become unstable
} inverse_search;

// ---- equilibria ---------------------------------------------------------------------------------

// in, w, rotation, values of the outputs, D <- at the present equilibrium
static snw_status find_gain(inverse_search *v) {
    const snw_model *m = v->m;
    const snw_state *s = v->p->s;
    if (v->p->signals) v->p->signals(v->p->user);
    snw_inputs_at(m, s->t, v->in);
    snw_residual(m, v->in, s, false, v->w);
    snw_observe(m, v->in, s, false, v->w);
    memcpy(v->rotation, v->p->rotation, (size_t)(m->nseg + m->nobs) * sizeof *v->rotation);
    snw_rotations_update(m, v->w, v->rotation);
    for (int i = 0; i < v->nu; i++)
        if (v->p->unknown[i].parameter) SNW_TRY(v->p->derive(v->p->user, i, v->err));
    SNW_TRY(snw_linear_gain(v->linear, v->in, s, v->rotation, v->w, v->err));
    v->D = snw_linear_result(v->linear)->D;
    snw_residual(m, v->in, s, false, v->w);
    return SNW_OK;
}

// The equilibrium at the held inputs, followed from the present one, with its gain.
static snw_status find_equilibrium(inverse_search *v) {
    snw_statics_info info = {0};
    v->refused = false;
    if (v->view.equilibria >= v->most) {
        return snw_fail(v->err, SNW_E_DIVERGED,
                        "no convergence within %d equilibria; if the target is out of reach, the "
                        "distance may fall without end as inputs grow: give them limits",
                        MOST_EQUILIBRIA);
    }
    v->view.equilibria++;
    snw_statics_opts opts = snw_statics_defaults();
    opts.follow = !v->anywhere;
    if (v->p->residual > 0) opts.tolerance = v->p->residual;
    opts.stop = v->p->stop, opts.user = v->p->user;
    if (v->p->signals) v->p->signals(v->p->user);
    const snw_status s =
        snw_statics_solve(v->p->statics, v->p->time, &opts, v->p->s, &info, v->err);
    // the way on may end at a fold
    v->refused = !v->anywhere && (s == SNW_E_DIVERGED || s == SNW_E_SINGULAR);
    if (s != SNW_OK) return s;
    const bool unstable = info.branch == SNW_BRANCH_UNSTABLE;
    if (v->anywhere) {
        v->unstable = unstable;
    } else if (unstable && !v->unstable) {
        v->refused = true;
        return snw_fail(v->err, SNW_E_DIVERGED, "the equilibria become unstable on the way");
    }
    return find_gain(v);
}

static void take(inverse_search *v, snw_snapshot *to) {
    snw_snapshot_take(v->p->statics, v->p->s, to);
}
static void restore(inverse_search *v, const snw_snapshot *from) {
    snw_snapshot_restore(from, v->p->statics, v->p->s);
}

// Inputs and work of the present model, and its gain.
static snw_status use_model(inverse_search *v) {
    v->m = snw_statics_model(v->p->statics);
    snw_linear_destroy(v->linear);
    snw_inputs_destroy(v->in);
    snw_work_destroy(v->w);
    v->linear = NULL, v->in = NULL, v->w = NULL;
    SNW_TRY(snw_inputs_create(v->m, &v->in));
    v->in->manual = &v->p->held->manual;
    SNW_TRY(snw_work_create(v->m, &v->w));
    return snw_linear_create(v->m, v->nu, v->of_input, v->ny, v->of_output, true, false,
                             &v->linear);
}

// The model <- with the numbers of the file in x. One that is not possible is a step too long.
static snw_status set_model(inverse_search *v, const double *x) {
    double *next = v->value + v->nu;
    bool same = true;
    for (int i = 0; i < v->nu; i++) {
        if (!v->p->unknown[i].parameter) continue;
        next[i] = x[i] * v->input[i].unit_of_motion;
        same = same && next[i] == v->value[i];
    }
    if (same) return SNW_OK;
    const snw_status s = v->p->set(v->p->user, next, v->err);
    v->refused = s != SNW_OK;
    if (s == SNW_E_MEMORY || s == SNW_E_STOPPED) return s;
    if (s != SNW_OK) return SNW_E_DIVERGED;
    memcpy(v->value, next, (size_t)v->nu * sizeof *next);
    return use_model(v) == SNW_OK ? SNW_OK : snw_fail_memory(v->err);
}

// The same at the inputs x, in units of motion, from the last point that was kept.
static snw_status equilibrium_at(inverse_search *v, const double *x) {
    if (v->varies) SNW_TRY(set_model(v, x));
    restore(v, &v->followed);
    for (int i = 0; i < v->nu; i++) {
        if (v->p->unknown[i].parameter) continue;
        snw_held_set_input(v->p->held, &v->p->unknown[i].of, x[i] * v->input[i].unit_of_motion,
                           v->p->time);
    }
    return find_equilibrium(v);
}

// ---- targets ------------------------------------------------------------------------------------

// e (ny) <- errors of the present outputs from `aim`; of a rotation three, of a quaternion then 0.
static void errors_from(const inverse_search *v, const double *aim, double *e) {
    for (int i = 0; i < v->ny; i++) v->now[i] = v->of_output[i].value;
    snw_target_errors(v->ny, v->turns, aim, v->now, e);
}

// aim <- the part `fraction` of the way from the start to the targets, rotations about one axis.
static void aim_at(inverse_search *v, double fraction) {
    for (int i = 0; i < v->ny; i++) {
        const double to = v->output[i].target;
        v->aim[i] = fraction == 1 ? to : v->start[i] + fraction * (to - v->start[i]);
    }
    for (int i = 0; fraction < 1 && i < v->ny; i++) {
        const int n = v->turns[i];
        if (n == 0) continue;
        double to[4];
        for (int k = 0; k < n; k++) to[k] = v->output[i + k].target;
        const snw_mat3 from = snw_target_rotation(n, v->start + i);
        const snw_vec3 part =
            snw_scale(fraction, snw_target_turn(from, snw_target_rotation(n, to)));
        snw_target_columns(n, snw_mat3_mul(from, snw_so3_exp(part)), v->aim + i);
    }
}

static snw_status inverse_residual(void *user, const double *x, double *e) {
    inverse_search *v = user;
    SNW_TRY(equilibrium_at(v, x));
    errors_from(v, v->aim, e);
    for (int i = 0; i < v->ny; i++) e[i] *= v->output[i].weight;
    return SNW_OK;
}

// J <- weighted gain in units of motion.
static void weigh_gain(const inverse_search *v, double *J) {
    const int ny = v->ny;
    for (int i = 0; i < ny; i++) v->now[i] = v->of_output[i].value;
    for (int j = 0; j < v->nu; j++) {
        double *to = J + (size_t)j * (size_t)ny;
        snw_target_errors_along(ny, v->turns, v->aim, v->now, v->D + (size_t)j * (size_t)ny, to);
        for (int i = 0; i < ny; i++) to[i] *= v->output[i].weight * v->input[j].unit_of_motion;
    }
}

// The robot is where the residual was evaluated last: the next equilibria are followed from here.
static snw_status inverse_derivative(void *user, const double *x, double *J) {
    inverse_search *v = user;
    (void)x;
    take(v, &v->followed);
    weigh_gain(v, J);
    return SNW_OK;
}

// ---- the problem --------------------------------------------------------------------------------

static snw_status refuse(snw_error *err, const char *what, const char *name) {
    return snw_fail(err, SNW_E_ARGUMENT, "%s '%.100s'", what, name);
}

// a copy of a name or unit, which outlives the problem
static const char *kept(inverse_search *v, const char *text) {
    const char *copy = snw_pool_text(v->pool, text, strlen(text));
    return copy ? copy : "";
}

static bool ends_in(const char *name, const char *end) {
    const size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

// turns <- rotations among the outputs; a quaternion must be of unit length
static snw_status find_rotations(inverse_search *v) {
    static const char *const end[2][4] = {{".rx", ".ry", ".rz"}, {".qw", ".qx", ".qy", ".qz"}};
    for (int kind = 0; kind < 2; kind++) {
        const int n = kind + 3;
        for (int i = 0; i + n <= v->ny; i++) {
            bool all = true;
            double length = 0;
            for (int k = 0; k < n; k++) {
                all = all && ends_in(v->output[i + k].name, end[kind][k]);
                length += v->output[i + k].target * v->output[i + k].target;
            }
            if (!all) continue;
            v->turns[i] = n;
            if (n < 4) continue;
            if (!(fabs(length - 1) < 1e-6)) {
                return snw_fail(v->err, SNW_E_ARGUMENT,
                                "target '%.100s' to '%s' is a unit quaternion, got one of length "
                                "%g; divide it by that",
                                v->output[i].name, end[kind][3] + 1, sqrt(length));
            }
            for (int k = 0; k < n; k++) v->output[i + k].target /= sqrt(length);
        }
    }
    return SNW_OK;
}

// weight of the columns in unit `unit` where none is given
static double weight_of(const inverse_search *v, const char *unit) {
    if (strcmp(unit, "m") == 0) return 1 / v->m->length;
    if (strcmp(unit, "rad") == 0 || unit[0] == 0) return 1;
    double most = 0;
    for (int i = 0; i < v->ny; i++) {
        if (strcmp(v->output[i].unit, unit) != 0) continue;
        most = fmax(most, fmax(fabs(v->output[i].target), fabs(v->start[i])));
    }
    return most > nothing ? 1 / most : 1;
}

// output <- targets with their weights
static snw_status take_targets(inverse_search *v) {
    for (int i = 0; i < v->ny; i++) {
        const snw_inverse_aim *a = &v->p->aim[i];
        v->output[i] = (snw_inverse_output){.name = kept(v, a->name),
                                            .unit = kept(v, a->unit),
                                            .target = a->value,
                                            .weight = a->weight};
        v->start[i] = v->of_output[i].value;
    }
    SNW_TRY(find_rotations(v));
    for (int i = 0; i < v->ny; i++) {
        if (isnan(v->output[i].weight)) v->output[i].weight = weight_of(v, v->output[i].unit);
    }
    return SNW_OK;
}

// input <- limits, rest and present values
static snw_status take_inputs(inverse_search *v) {
    for (int i = 0; i < v->nu; i++) {
        const snw_inverse_unknown *o = &v->p->unknown[i];
        const bool load = o->of.actuator < 0 || o->parameter;
        const char *type =
            load ? "load" : snw_actuator_at(v->m->desc, o->of.actuator).control->name;
        if (strcmp(type, "rate") == 0) {
            return refuse(v->err,
                          "inverse statics need a quantity that an equilibrium has, not "
                          "the rate of actuator",
                          o->name);
        }
        double low = isnan(o->low) ? strcmp(type, "tension") == 0 ? 0 : -INFINITY : o->low;
        double high = isnan(o->high) ? INFINITY : o->high;
        if (!(low <= high)) {
            return snw_fail(v->err, SNW_E_ARGUMENT,
                            "actuator '%.100s': the low limit %g is above the high one, %g",
                            o->name, low, high);
        }
        const double before =
            o->parameter ? o->value : snw_linear_input_value(v->m, &v->of_input[i], 0, v->in, v->w);
        const double rest = !isnan(o->rest) ? o->rest : o->parameter ? before : 0;
        v->rest[i] = rest;
        if (!isnan(o->rate) && v->p->interval > 0) {
            const double most = o->rate * v->p->interval;
            v->falls[i] = before - most > low, v->rises[i] = before + most < high;
            // from outside the limits it comes as near as the rate allows
            low = fmin(fmax(low, before - most), before + most);
            high = fmax(fmin(high, before + most), before - most);
        }
        if (o->fixed) low = high = before;
        v->input[i] = (snw_inverse_input){.name = kept(v, o->name),
                                          .unit = kept(v, o->unit),
                                          .before = before,
                                          .low = low,
                                          .high = high};
    }
    return SNW_OK;
}

// unit_of_motion <- range of the limits; without, the change that moves the weighted targets by 1,
// or some coordinate by its typical value, the same for all inputs of a unit
static void choose_units(inverse_search *v) {
    for (int i = 0; i < v->nu; i++) v->input[i].unit_of_motion = 1;
    aim_at(v, 1);
    weigh_gain(v, v->J);
    for (int i = 0; i < v->nu; i++) {
        const double range = v->p->unknown[i].high - v->p->unknown[i].low;
        double most = 0;
        for (int j = 0; j < v->nu; j++) {
            if (strcmp(v->input[i].unit, v->input[j].unit) != 0) continue;
            double sum = 0;
            for (int k = 0; k < v->ny; k++) {
                const double x = v->J[(size_t)j * (size_t)v->ny + (size_t)k];
                sum += x * x;
            }
            most = fmax(most, fmax(sqrt(sum), snw_linear_result(v->linear)->motion[j]));
        }
        v->input[i].unit_of_motion = isfinite(range) && range > 0 ? range : most > 0 ? 1 / most : 1;
    }
    for (int i = 0; i < v->nu; i++) {
        const double unit = v->input[i].unit_of_motion;
        v->low[i] = v->input[i].low / unit;
        v->high[i] = v->input[i].high / unit;
        v->goal_rest[i] = v->rest[i] / unit;
        v->x[i] = fmin(fmax(v->input[i].before / unit, v->low[i]), v->high[i]);
    }
}

// ---- the search ---------------------------------------------------------------------------------

static double distance_of(const inverse_search *v, const double *residual) {
    double sum = 0;
    for (int i = 0; i < v->ny; i++) sum += residual[i] * residual[i];
    return sqrt(sum);
}

// x <- nearest to the part `fraction` of the way, then next to rest if `goal`; or where equilibria
// end before.
static snw_status search_part(inverse_search *v, double fraction, bool goal) {
    const snw_least_squares p = {.n = v->nu,
                                 .m = v->ny,
                                 .user = v,
                                 .residual = inverse_residual,
                                 .derivative = inverse_derivative};
    const snw_bounded_problem problem = {&p, v->low, v->high, goal ? v->goal_rest : NULL};
    snw_bounded_opts opts = snw_bounded_defaults();
    opts.max_iter = MOST_EQUILIBRIA;
    snw_bounded_info info;
    aim_at(v, fraction);
    const snw_status s = snw_bounded_least_squares(&problem, &opts, &v->scratch, v->x, v->residual,
                                                   v->J, v->multiplier, v->goal, &info);
    v->view.ended = s == SNW_E_DIVERGED && v->refused;
    return v->view.ended ? SNW_OK : s;
}

// The same along the way to the targets, in parts.
static snw_status search_along(inverse_search *v) {
    double done = 0, part = 0.25;
    while (done < 1 && part >= shortest_part) {
        const double next = fmin(1, done + part);
        memcpy(v->best, v->x, (size_t)v->nu * sizeof *v->best);
        const snw_status s = search_part(v, next, false);
        v->view.path++;
        if (s == SNW_E_STOPPED || s == SNW_E_MEMORY) return s;
        if (s == SNW_OK && distance_of(v, v->residual) <= v->p->tolerance) {
            done = next;
            part *= 1.5;
            continue;
        }
        memcpy(v->x, v->best, (size_t)v->nu * sizeof *v->best);
        part *= 0.5;
    }
    return search_part(v, 1, true);
}

// The nearest point found by a search, for comparison with the next.
typedef struct nearest {
    double distance; // INFINITY: none
    double *x;
    snw_snapshot at;
    int path, ended;
} nearest;

// v <- the search from the start of the last one, `along` the way or directly, with the first point
// moved by `nudge`; the nearer result is kept in `best`.
static snw_status search_again(inverse_search *v, const double *start, bool along, double nudge,
                               nearest *best) {
    const size_t bytes = (size_t)v->nu * sizeof *start;
    for (int i = 0; i < v->nu; i++) { // different for all inputs: symmetric robots leave symmetry
        const double x = start[i] + nudge * (i % 2 ? -1.0 : 1.0) / (1 + 0.3 * i);
        v->x[i] = fmin(fmax(x, v->low[i]), v->high[i]);
    }
    restore(v, &v->at_start);
    take(v, &v->followed);
    v->view.path = !along;
    v->most = v->view.equilibria + MOST_EQUILIBRIA;
    const snw_status s = along ? search_along(v) : search_part(v, 1, true);
    const double distance = s == SNW_OK ? distance_of(v, v->residual) : INFINITY;
    if (distance < best->distance * (1 - 1e-9) || (isinf(best->distance) && s == SNW_OK)) {
        best->distance = distance;
        best->path = v->view.path;
        best->ended = v->view.ended;
        memcpy(best->x, v->x, bytes);
        snw_state_copy(v->m, v->followed.s, best->at.s);
        snw_inputs_copy(v->followed.previous, best->at.previous);
    }
    return s;
}

// The robot and x <- at the nearest point found: directly, along the way, or from a point beside
// the start, whose gain may be singular.
static snw_status search(inverse_search *v) {
    double *const start = v->best + v->nu;
    const size_t bytes = (size_t)v->nu * sizeof *start;
    memcpy(start, v->x, bytes);
    snw_error last = {0};
    snw_error *const err = v->err;
    nearest best = {.distance = INFINITY, .x = start + v->nu};
    if (snw_snapshot_create(v->m, &best.at) != SNW_OK) {
        snw_snapshot_destroy(&best.at);
        return snw_fail_memory(err);
    }
    v->err = &last;
    snw_status s = SNW_OK;
    for (int attempt = 0; attempt < 3 && best.distance > v->p->tolerance; attempt++) {
        s = search_again(v, start, attempt == 1, attempt == 2 ? beside : 0, &best);
        if (s == SNW_E_STOPPED || s == SNW_E_MEMORY) break;
    }
    v->err = err;
    if (s == SNW_E_MEMORY) {
        s = snw_fail_memory(err);
    } else if (isinf(best.distance)) {
        s = snw_fail(err, s,
                     "the search for the inputs does not converge; the last message was: %.200s",
                     last.text[0] ? last.text : "too many steps");
    } else {
        memcpy(v->x, best.x, bytes);
        snw_state_copy(v->m, best.at.s, v->followed.s);
        snw_inputs_copy(best.at.previous, v->followed.previous);
        v->view.path = best.path;
        v->most = v->view.equilibria + MOST_EQUILIBRIA;
        s = SNW_OK;
        if (best.ended) { // its multipliers are zero
            v->view.ended = 1;
            memset(v->multiplier, 0, bytes);
            memset(v->goal, 0, bytes);
            aim_at(v, 1);
        } else {
            s = search_part(v, 1, true); // already there: its multipliers
        }
    }
    snw_snapshot_destroy(&best.at);
    return s;
}

// ---- the result ---------------------------------------------------------------------------------

static snw_limit limit_of(const inverse_search *v, int i) {
    if (v->low[i] == v->high[i] && v->input[i].low == v->input[i].before) return SNW_LIMIT_NONE;
    const double near = at_limit * fmax(1, fabs(v->x[i]));
    const bool held = v->low[i] == v->high[i]; // by its rate, outside its limits
    if (held && v->rises[i] && !v->falls[i]) return SNW_LIMIT_RISE;
    if (v->x[i] <= v->low[i] + near) return v->falls[i] ? SNW_LIMIT_FALL : SNW_LIMIT_LOW;
    if (v->x[i] >= v->high[i] - near) return v->rises[i] ? SNW_LIMIT_RISE : SNW_LIMIT_HIGH;
    return SNW_LIMIT_NONE;
}

static double dexterity_of(inverse_search *v) {
    const int n = v->nu < v->ny ? v->nu : v->ny;
    double *U = snw_arena_doubles(&v->scratch, (size_t)v->ny * (size_t)n + 1);
    double *V = snw_arena_doubles(&v->scratch, (size_t)v->nu * (size_t)v->nu + 1);
    double *S = snw_arena_doubles(&v->scratch, (size_t)n + 1);
    const bool found = snw_svd(v->ny, v->nu, v->J, &v->scratch, U, S, V) == SNW_OK;
    snw_arena_reset(&v->scratch, 0);
    if (!found || !(S[0] > 0)) return 0;
    int targets = v->ny; // a quaternion has three
    for (int i = 0; i < v->ny; i++) targets -= v->turns[i] == 4;
    return targets > v->nu ? 0 : S[targets - 1] / S[0];
}

// The robot is set to the inputs that were found, and the result is filled.
static snw_status conclude(inverse_search *v) {
    snw_inverse_result *out = &v->view;
    SNW_TRY(inverse_residual(v, v->x, v->residual));
    weigh_gain(v, v->J);
    errors_from(v, v->aim, v->start);
    out->distance = distance_of(v, v->residual);
    out->reached = out->distance <= v->p->tolerance;
    out->exact = !v->varies;
    for (int i = 0; i < v->ny; i++) {
        v->output[i].value = v->of_output[i].value;
        v->output[i].error = v->start[i];
        out->exact = out->exact && v->of_output[i].exact;
    }
    for (int i = 0; i < v->nu; i++) {
        snw_inverse_input *input = &v->input[i];
        const double from = v->x[i] - v->goal_rest[i];
        input->value = v->x[i] * input->unit_of_motion;
        input->limit = limit_of(v, i);
        if (input->limit != SNW_LIMIT_NONE) {
            input->value = input->limit == SNW_LIMIT_LOW || input->limit == SNW_LIMIT_FALL
                               ? input->low
                               : input->high;
            input->goal = 2 * v->goal[i] / input->unit_of_motion;
            // a fall of less than this part of the distance is rounding
            double fall = v->multiplier[i] / out->distance;
            // held between equal limits: does the distance fall on the side that is told?
            if (v->low[i] == v->high[i]) {
                const bool up = input->limit == SNW_LIMIT_HIGH || input->limit == SNW_LIMIT_RISE;
                double slope = 0;
                for (int k = 0; k < v->ny; k++)
                    slope += v->J[(size_t)i * (size_t)v->ny + (size_t)k] * v->residual[k];
                if (up == (slope > 0)) fall = 0;
            }
            if (!out->reached && fall > 1e-9 * out->distance)
                input->multiplier = fall / input->unit_of_motion;
        }
        out->goal += from * from;
    }
    double *gain = snw_pool_array(v->pool, (size_t)v->nu * (size_t)v->ny + 1, sizeof *gain);
    if (!gain) return snw_fail_memory(v->err);
    memcpy(gain, v->D, (size_t)v->nu * (size_t)v->ny * sizeof *gain);
    out->dexterity = dexterity_of(v);
    out->stability = snw_statics_stability(v->p->statics, v->p->s).value;
    out->ninput = v->nu;
    out->noutput = v->ny;
    out->input = v->input;
    out->output = v->output;
    out->gain = gain;
    return SNW_OK;
}

// ---- the call -----------------------------------------------------------------------------------

static snw_status inverse_memory(inverse_search *v) {
    const size_t nu = (size_t)v->nu + 1, ny = (size_t)v->ny + 1;
    double **const line[] = {&v->rest,      &v->x,          &v->low, &v->high,
                             &v->goal_rest, &v->multiplier, &v->goal};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (!(*line[i] = snw_pool_array(v->pool, nu, sizeof(double)))) return SNW_E_MEMORY;
    double **const of_outputs[] = {&v->start, &v->aim, &v->now, &v->residual};
    for (size_t i = 0; i < sizeof of_outputs / sizeof *of_outputs; i++)
        if (!(*of_outputs[i] = snw_pool_array(v->pool, ny, sizeof(double)))) return SNW_E_MEMORY;
    v->input = snw_pool_array(v->pool, nu, sizeof *v->input);
    v->output = snw_pool_array(v->pool, ny, sizeof *v->output);
    v->falls = snw_pool_array(v->pool, nu, sizeof *v->falls);
    v->rises = snw_pool_array(v->pool, nu, sizeof *v->rises);
    v->turns = snw_pool_array(v->pool, ny, sizeof *v->turns);
    v->best = snw_pool_array(v->pool, 3 * nu, sizeof *v->best);
    v->J = snw_pool_array(v->pool, nu * ny, sizeof *v->J);
    const size_t svd = snw_svd_scratch(v->ny, v->nu) + (nu * ny + nu * nu + nu) * sizeof(double);
    v->scratch.size = snw_bounded_scratch(v->nu, v->ny) + svd + 512;
    v->scratch.base = snw_alloc(v->scratch.size);
    const bool all = v->input && v->output && v->falls && v->rises && v->turns && v->best && v->J &&
                     v->scratch.base;
    return all ? SNW_OK : SNW_E_MEMORY;
}

// Memory for the model of the gain, which needs no equilibrium.
static snw_status gain_memory(inverse_search *v) {
    const snw_model *m = v->m;
    const size_t nu = (size_t)v->nu + 1, ny = (size_t)v->ny + 1;
    v->of_input = snw_pool_array(v->pool, nu, sizeof *v->of_input);
    v->of_output = snw_pool_array(v->pool, ny, sizeof *v->of_output);
    v->rotation = snw_pool_array(v->pool, (size_t)(m->nseg + m->nobs), sizeof *v->rotation);
    v->given = snw_pool_array(v->pool, snw_held_doubles(v->p->held) + 1, sizeof *v->given);
    if (!v->of_input || !v->of_output || !v->rotation || !v->given) return SNW_E_MEMORY;
    v->value = snw_pool_array(v->pool, 2 * nu, sizeof *v->value);
    if (!v->value) return SNW_E_MEMORY;
    for (int i = 0; i < v->nu; i++) {
        const snw_inverse_unknown *o = &v->p->unknown[i];
        v->varies = v->varies || o->parameter;
        v->value[i] = o->value;
        if (o->parameter) {
            v->of_input[i] = *o->parameter;
        } else {
            (void)snw_linear_input_of(m, &o->of, &v->of_input[i]);
        }
    }
    for (int i = 0; i < v->ny; i++) {
        v->of_output[i] =
            (snw_linear_output){.probe = v->p->aim[i].probe, .column = v->p->aim[i].column};
    }
    SNW_TRY(snw_snapshot_create(m, &v->before));
    SNW_TRY(snw_snapshot_create(m, &v->at_start));
    SNW_TRY(snw_snapshot_create(m, &v->followed));
    return use_model(v);
}

// From now on inputs are constants: laws with feedback have other gains.
static void hold_inputs(inverse_search *v) {
    for (int i = 0; i < v->nu; i++) {
        const snw_input_of *of = &v->p->unknown[i].of;
        if (v->p->unknown[i].parameter) continue;
        if (of->actuator < 0) snw_held_keep_load(v->p->held, v->m, of->load, v->in, v->w);
    }
    for (int i = 0; i < v->nu; i++) {
        if (!v->p->unknown[i].parameter)
            snw_held_set_input(v->p->held, &v->p->unknown[i].of, v->input[i].before, v->p->time);
    }
}

static snw_status inverse_search_all(inverse_search *v) {
    v->anywhere = true;
    v->most = MOST_EQUILIBRIA;
    SNW_TRY(find_equilibrium(v));
    SNW_TRY(take_inputs(v));
    hold_inputs(v);
    SNW_TRY(find_equilibrium(v));
    SNW_TRY(take_targets(v));
    choose_units(v);
    take(v, &v->followed);
    SNW_TRY(equilibrium_at(v, v->x)); // within the limits
    take(v, &v->at_start);
    v->anywhere = false;
    SNW_TRY(search(v));
    return conclude(v);
}

snw_status snw_inverse_solve(const snw_inverse_problem *p, snw_inverse_result **out,
                             snw_error *err) {
    *out = NULL;
    inverse_search *v = snw_alloc(sizeof *v);
    if (!v) return snw_fail_memory(err);
    *v = (inverse_search){.p = p,
                          .m = snw_statics_model(p->statics),
                          .nu = p->nunknown,
                          .ny = p->naim,
                          .err = err,
                          .pool = snw_pool_create(POOL_LIMIT)};
    snw_status s = v->pool ? gain_memory(v) : SNW_E_MEMORY;
    if (s == SNW_OK) s = inverse_memory(v);
    if (s != SNW_OK) {
        s = snw_fail_memory(err);
    } else {
        (void)snw_held_save(p->held, v->given);
        take(v, &v->before);
        s = inverse_search_all(v);
        if (s != SNW_OK) {
            for (int i = 0; i < v->nu; i++) v->value[i] = p->unknown[i].value;
            if (v->varies && p->set(p->user, v->value, NULL) != SNW_OK) s = SNW_E_MEMORY;
            (void)snw_held_load(p->held, v->given);
            restore(v, &v->before);
        }
    }
    if (s == SNW_OK) {
        *out = &v->view;
    } else {
        snw_inverse_close(&v->view);
    }
    return s;
}

void snw_inverse_close(snw_inverse_result *result) {
    inverse_search *v = (inverse_search *)result;
    if (!v) return;
    snw_snapshot_destroy(&v->before);
    snw_snapshot_destroy(&v->at_start);
    snw_snapshot_destroy(&v->followed);
    snw_linear_destroy(v->linear);
    snw_inputs_destroy(v->in);
    snw_work_destroy(v->w);
    snw_free(v->scratch.base);
    snw_pool_destroy(v->pool);
    snw_free(v);
}

void snw_inverse_turns(const snw_inverse_result *found, int *turns) {
    const inverse_search *v = (const inverse_search *)found;
    if (v->ny) memcpy(turns, v->turns, (size_t)v->ny * sizeof *turns);
}

void snw_inverse_explain(const snw_inverse_result *found, char *text, size_t size) {
    static const char *const limit[] = {"", "low limit", "high limit", "fall its rate allows",
                                        "rise its rate allows"};
    size_t used = (size_t)snprintf(text, size, "weighted distance %.3g", found->distance);
    for (int i = 0; i < found->noutput && used < size; i++) {
        const snw_inverse_output *o = &found->output[i];
        used += (size_t)snprintf(text + used, size - used, "%s%.40s = %.6g %s",
                                 i == 0 ? "; nearest " : ", ", o->name, o->value, o->unit);
    }
    for (int i = 0; i < found->ninput && used < size; i++) {
        const snw_inverse_input *a = &found->input[i];
        if (a->limit == SNW_LIMIT_NONE) continue;
        used += (size_t)snprintf(text + used, size - used, "; '%.40s' is at the %s, %.6g %s",
                                 a->name, limit[a->limit], a->value, a->unit);
    }
    if (found->ended && used < size)
        (void)snprintf(text + used, size - used, "; equilibria end or become unstable there");
}
