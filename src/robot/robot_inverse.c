// SPDX-License-Identifier: MIT
//
// Inverse statics and kinematics of the public robot: inputs of actuators for desired values of
// probes in equilibrium. Each evaluation is an equilibrium with its static gain; the steps are
// those of solve/bounded_least_squares.h. theory.md 5.3
#include "sinew/inverse.h"

#include "robot/robot_follow.h"
#include "robot/robot_linear.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "solve/bounded_least_squares.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 26, MOST_EQUILIBRIA = 1000 };

static const double at_limit = 1e-12, // distance from a limit, units of motion
    shortest_part = 1.0 / 64,         // of the way to the target
    beside = 0.1,                     // distance from the start, units of motion
    nothing = 1e-12;                  // size of targets that gives no weight

typedef struct inverse_robot {
    snw_inverse_result view; // first: the public part
    snw_robot *r;
    const snw_inverse_options *how;
    snw_pool *pool;
    snw_linear_model *gain;
    snw_error *err;
    snw_arena scratch;
    int nu, ny;
    snw_inverse_input *input;
    snw_inverse_output *output;
    snw_varied *varied;  // actuators and loads of the inputs
    double *rest;        // nu
    bool *falls, *rises; // nu: the low, the high limit is that of the rate
    int *turns; // ny: columns of the rotation that begins here: 3, a rotation vector, or 4, a unit
                // quaternion; else 0
    double *start;                      // ny: values at the start
    double *aim;                        // ny: targets of this part of the way
    void *given;                        // inputs set by the caller before
    double *x, *low, *high, *goal_rest; // nu: in units of motion
    double *residual, *J, *multiplier, *goal;
    double *best; // nu
    snw_snapshot at_start, followed;
    bool anywhere; // the next equilibrium may be on any branch
    bool unstable; // the start is
    bool refused;  // the last equilibrium was: its branch had ended or become unstable
} inverse_robot;

snw_inverse_options snw_inverse_defaults(void) { return (snw_inverse_options){.tolerance = 1e-9}; }

// ---- equilibria ---------------------------------------------------------------------------------

// The equilibrium at the inputs of the robot, followed from the present one, with its gain.
static snw_status find_equilibrium(inverse_robot *v) {
    snw_robot *r = v->r;
    snw_statics_info info;
    v->refused = false;
    if (v->view.equilibria >= MOST_EQUILIBRIA)
        return snw_fail(v->err, SNW_E_DIVERGED, "no convergence within %d equilibria",
                        MOST_EQUILIBRIA);
    v->view.equilibria++;
    const snw_status s = snw_follow_equilibrium(r, v->how->time, v->anywhere, 0, &info, v->err);
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
    return snw_linear_static(v->gain, v->err);
}

// The same at the inputs x, in units of motion, from the last point that was kept.
static snw_status equilibrium_at(inverse_robot *v, const double *x) {
    snw_snapshot_restore(&v->followed, v->r);
    for (int i = 0; i < v->nu; i++)
        snw_varied_set(v->r, &v->varied[i], x[i] * v->input[i].unit_of_motion);
    return find_equilibrium(v);
}

// ---- targets ------------------------------------------------------------------------------------

static snw_vec3 vector_at(const double *x) { return (snw_vec3){{x[0], x[1], x[2]}}; }

// Rotation by its n columns.
static snw_mat3 rotation_of(int n, const double *x) {
    return n == 4 ? snw_so3_from_numbers(x) : snw_so3_exp(vector_at(x));
}

// The n columns of a rotation.
static void columns_of(int n, snw_mat3 R, double *x) {
    if (n == 4) {
        const snw_quat q = snw_quat_from_mat3(R);
        for (int k = 0; k < 4; k++) x[k] = q.e[k];
    } else {
        const snw_vec3 turn = snw_so3_log(R);
        for (int k = 0; k < 3; k++) x[k] = turn.e[k];
    }
}

// Body rotation by a change dx of the n columns x: T(x) dx, or twice the vector of x^-1 dx.
static snw_vec3 body_turn(int n, const double *x, const double *dx) {
    if (n == 3) return snw_rotate(snw_so3_tangent(vector_at(x)), vector_at(dx));
    const snw_vec3 v = vector_at(x + 1), dv = vector_at(dx + 1);
    const snw_vec3 sum = snw_sub(snw_scale(x[0], dv), snw_scale(dx[0], v));
    return snw_scale(2, snw_sub(sum, snw_cross(v, dv)));
}

// Rotation vector from A to B.
static snw_vec3 turn_between(snw_mat3 A, snw_mat3 B) {
    return snw_so3_log(snw_mat3_mul(snw_mat3_transpose(A), B));
}

// now (4) <- present columns of the rotation at output i; its rotation.
static snw_mat3 present_rotation(const inverse_robot *v, int i, double now[4]) {
    for (int k = 0; k < v->turns[i]; k++) now[k] = v->gain->output[i + k].value;
    return rotation_of(v->turns[i], now);
}

// e (ny) <- errors of the present outputs from `aim`; of a rotation three, of a quaternion then 0.
static void errors_from(const inverse_robot *v, const double *aim, double *e) {
    for (int i = 0; i < v->ny; i++) {
        const int n = v->turns[i];
        e[i] = v->gain->output[i].value - aim[i];
        if (n == 0) continue;
        double now[4];
        const snw_mat3 R = present_rotation(v, i, now);
        const snw_vec3 turn = turn_between(rotation_of(n, aim + i), R);
        for (int k = 0; k < n; k++) e[i + k] = k < 3 ? turn.e[k] : 0;
        i += n - 1;
    }
}

// aim <- the part `fraction` of the way from the start to the targets, rotations about one axis.
static void aim_at(inverse_robot *v, double fraction) {
    for (int i = 0; i < v->ny; i++) {
        const double to = v->output[i].target;
        v->aim[i] = fraction == 1 ? to : v->start[i] + fraction * (to - v->start[i]);
    }
    for (int i = 0; fraction < 1 && i < v->ny; i++) {
        const int n = v->turns[i];
        if (n == 0) continue;
        double to[4];
        for (int k = 0; k < n; k++) to[k] = v->output[i + k].target;
        const snw_mat3 from = rotation_of(n, v->start + i);
        const snw_vec3 part = snw_scale(fraction, turn_between(from, rotation_of(n, to)));
        columns_of(n, snw_mat3_mul(from, snw_so3_exp(part)), v->aim + i);
    }
}

static snw_status inverse_residual(void *user, const double *x, double *e) {
    inverse_robot *v = user;
    SNW_TRY(equilibrium_at(v, x));
    errors_from(v, v->aim, e);
    for (int i = 0; i < v->ny; i++) e[i] *= v->output[i].weight;
    return SNW_OK;
}

// J <- weighted gain in units of motion; of rotations T(error)^-1 times the body rotation.
static void weigh_gain(const inverse_robot *v, double *J) {
    const int ny = v->ny;
    for (int j = 0; j < v->nu; j++) {
        const double *from = v->gain->D + (size_t)j * (size_t)ny;
        double *to = J + (size_t)j * (size_t)ny;
        for (int i = 0; i < ny; i++) {
            const int n = v->turns[i];
            to[i] = from[i];
            if (n == 0) continue;
            double now[4];
            const snw_mat3 R = present_rotation(v, i, now);
            const snw_vec3 error = turn_between(rotation_of(n, v->aim + i), R);
            const snw_vec3 d = snw_rotate(snw_so3_tangent_inv(error), body_turn(n, now, from + i));
            for (int k = 0; k < n; k++) to[i + k] = k < 3 ? d.e[k] : 0;
            i += n - 1;
        }
        for (int i = 0; i < ny; i++) to[i] *= v->output[i].weight * v->input[j].unit_of_motion;
    }
}

// The robot is where the residual was evaluated last: the next equilibria are followed from here.
static snw_status inverse_derivative(void *user, const double *x, double *J) {
    inverse_robot *v = user;
    (void)x;
    snw_snapshot_take(v->r, &v->followed);
    weigh_gain(v, J);
    return SNW_OK;
}

// ---- the problem --------------------------------------------------------------------------------

static snw_status refuse(snw_error *err, const char *what, const char *name) {
    return snw_fail(err, SNW_E_ARGUMENT, "%s '%.100s'", what, name);
}

static bool ends_in(const char *name, const char *end) {
    const size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

// turns <- rotations among the outputs; a quaternion must be of unit length
static snw_status find_rotations(inverse_robot *v) {
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
            if (!(fabs(length - 1) < 1e-6))
                return snw_fail(v->err, SNW_E_ARGUMENT,
                                "target '%.100s' to '%s' is a unit quaternion, got one of length "
                                "%g; divide it by that",
                                v->output[i].name, end[kind][3] + 1, sqrt(length));
            for (int k = 0; k < n; k++) v->output[i + k].target /= sqrt(length);
        }
    }
    return SNW_OK;
}

// weight of the columns in unit `unit` where none is given
static double weight_of(const inverse_robot *v, const char *unit) {
    if (strcmp(unit, "m") == 0) return 1 / v->r->m->length;
    if (strcmp(unit, "rad") == 0 || unit[0] == 0) return 1;
    double most = 0;
    for (int i = 0; i < v->ny; i++) {
        if (strcmp(v->output[i].unit, unit) != 0) continue;
        most = fmax(most, fmax(fabs(v->output[i].target), fabs(v->start[i])));
    }
    return most > nothing ? 1 / most : 1;
}

// output <- targets by columns, with their weights
static snw_status take_targets(inverse_robot *v) {
    const snw_linear_model *g = v->gain;
    int k = 0;
    for (int t = 0; t < v->how->ntarget; t++) {
        const snw_inverse_target *target = &v->how->target[t];
        const size_t size = strlen(target->output);
        int n = 0;
        while (k < g->ny && strncmp(g->output[k].name, target->output, size) == 0 &&
               (g->output[k].name[size] == '.' || g->output[k].name[size] == 0) && n < target->n) {
            const snw_linear_signal *s = &g->output[k];
            v->output[k++] = (snw_inverse_output){.name = s->name,
                                                  .unit = s->unit,
                                                  .target = target->value[n++],
                                                  .weight = target->weight};
        }
        const bool more = k < g->ny && t + 1 == v->how->ntarget;
        if (n == target->n && !more) continue;
        return snw_fail(v->err, SNW_E_ARGUMENT,
                        "target '%.60s' has %s values than columns; give one for each, or name a "
                        "column",
                        target->output, n < target->n ? "more" : "fewer");
    }
    SNW_TRY(find_rotations(v));
    for (int i = 0; i < v->ny; i++) v->start[i] = g->output[i].value;
    for (int i = 0; i < v->ny; i++) {
        if (isnan(v->output[i].weight)) v->output[i].weight = weight_of(v, v->output[i].unit);
    }
    return SNW_OK;
}

// the actuator of an input; NULL: a load
static const snw_part *actuator_of(const inverse_robot *v, int i) {
    const snw_robot_model *model = v->r->model;
    const int input = v->varied[i].input;
    return input < 0 ? NULL
                     : &model->part[SNW_PART_ACTUATOR][model->part[SNW_PART_INPUT][input].first];
}

// the entry of the options for an input; NULL: none
static const snw_inverse_actuator *options_of(const inverse_robot *v, int input) {
    const snw_part *part = actuator_of(v, input);
    const char *whole = part ? part->name : v->r->desc->load[v->varied[input].load].name;
    const char *const wanted[] = {v->gain->input[input].name, whole}; // its own before the whole's
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < v->how->nactuator; k++) {
            if (strcmp(v->how->actuator[k].name, wanted[i]) == 0) return &v->how->actuator[k];
        }
    }
    return NULL;
}

// input <- limits, rest and present values
static snw_status take_inputs(inverse_robot *v) {
    const snw_inverse_actuator none = {.low = NAN, .high = NAN, .rate = NAN, .rest = NAN};
    for (int i = 0; i < v->nu; i++) {
        const snw_linear_signal *s = &v->gain->input[i];
        SNW_TRY(snw_varied_find(v->r, s->name, &v->varied[i], v->err));
        const snw_part *part = actuator_of(v, i);
        const char *type = part ? part->type : "load";
        if (strcmp(type, "rate") == 0)
            return refuse(v->err,
                          "inverse statics need a quantity that an equilibrium has, not "
                          "the rate of actuator",
                          s->name);
        const snw_inverse_actuator *o = options_of(v, i);
        const bool held = !o && v->how->nactuator > 0; // another input of its actuator may change
        if (!o) o = &none;
        double low = isnan(o->low) ? strcmp(type, "tension") == 0 ? 0 : -INFINITY : o->low;
        double high = isnan(o->high) ? INFINITY : o->high;
        if (!(low <= high))
            return snw_fail(v->err, SNW_E_ARGUMENT,
                            "actuator '%.100s': the low limit %g is above the high one, %g",
                            s->name, low, high);
        const double before = s->value, rest = isnan(o->rest) ? 0 : o->rest;
        v->rest[i] = rest;
        if (!isnan(o->rate) && v->how->interval > 0) {
            const double most = o->rate * v->how->interval;
            v->falls[i] = before - most > low, v->rises[i] = before + most < high;
            // from outside the limits it comes as near as the rate allows
            low = fmin(fmax(low, before - most), before + most);
            high = fmax(fmin(high, before + most), before - most);
        }
        if (held) low = high = before;
        v->input[i] = (snw_inverse_input){
            .name = s->name, .unit = s->unit, .before = before, .low = low, .high = high};
    }
    return SNW_OK;
}

// unit_of_motion <- range of the limits; without, the change that moves the weighted targets by 1,
// or some coordinate by its typical value, the same for all inputs of a unit
static void choose_units(inverse_robot *v) {
    for (int i = 0; i < v->nu; i++) v->input[i].unit_of_motion = 1;
    aim_at(v, 1);
    weigh_gain(v, v->J);
    for (int i = 0; i < v->nu; i++) {
        const snw_inverse_actuator *o = options_of(v, i);
        const double range = o ? o->high - o->low : NAN;
        double most = 0;
        for (int j = 0; j < v->nu; j++) {
            if (strcmp(v->input[i].unit, v->input[j].unit) != 0) continue;
            double sum = 0;
            for (int k = 0; k < v->ny; k++) {
                const double x = v->J[(size_t)j * (size_t)v->ny + (size_t)k];
                sum += x * x;
            }
            most = fmax(most, fmax(sqrt(sum), snw_linear_motion(v->gain, j)));
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

static double distance_of(const inverse_robot *v, const double *residual) {
    double sum = 0;
    for (int i = 0; i < v->ny; i++) sum += residual[i] * residual[i];
    return sqrt(sum);
}

// x <- nearest to the part `fraction` of the way, then next to rest if `goal`; or where equilibria
// end before.
static snw_status search_part(inverse_robot *v, double fraction, bool goal) {
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
static snw_status search_along(inverse_robot *v) {
    double done = 0, part = 0.25;
    while (done < 1 && part >= shortest_part) {
        const double next = fmin(1, done + part);
        memcpy(v->best, v->x, (size_t)v->nu * sizeof *v->best);
        const snw_status s = search_part(v, next, false);
        v->view.path++;
        if (s == SNW_E_STOPPED || s == SNW_E_MEMORY) return s;
        if (s == SNW_OK && distance_of(v, v->residual) <= v->how->tolerance) {
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
static snw_status search_again(inverse_robot *v, const double *start, bool along, double nudge,
                               nearest *best) {
    const size_t bytes = (size_t)v->nu * sizeof *start;
    for (int i = 0; i < v->nu; i++) { // different for all inputs: symmetric robots leave symmetry
        const double x = start[i] + nudge * (i % 2 ? -1.0 : 1.0) / (1 + 0.3 * i);
        v->x[i] = fmin(fmax(x, v->low[i]), v->high[i]);
    }
    snw_snapshot_restore(&v->at_start, v->r);
    snw_snapshot_take(v->r, &v->followed);
    v->view.path = !along;
    const snw_status s = along ? search_along(v) : search_part(v, 1, true);
    const double distance = s == SNW_OK ? distance_of(v, v->residual) : INFINITY;
    if (distance < best->distance * (1 - 1e-9) || (isinf(best->distance) && s == SNW_OK)) {
        best->distance = distance;
        best->path = v->view.path;
        best->ended = v->view.ended;
        memcpy(best->x, v->x, bytes);
        snw_state_copy(v->r->m, v->followed.s, best->at.s);
        snw_inputs_copy(v->followed.previous, best->at.previous);
    }
    return s;
}

// The robot and x <- at the nearest point found: directly, along the way, or from a point beside
// the start, whose gain may be singular.
static snw_status search(inverse_robot *v) {
    double *const start = v->best + v->nu;
    const size_t bytes = (size_t)v->nu * sizeof *start;
    memcpy(start, v->x, bytes);
    snw_error last = {0};
    snw_error *const err = v->err;
    nearest best = {.distance = INFINITY, .x = start + v->nu};
    if (snw_snapshot_create(v->r->m, &best.at) != SNW_OK) {
        snw_snapshot_destroy(&best.at);
        return snw_fail_memory(err);
    }
    v->err = &last;
    snw_status s = SNW_OK;
    for (int attempt = 0; attempt < 3 && best.distance > v->how->tolerance; attempt++) {
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
        snw_state_copy(v->r->m, best.at.s, v->followed.s);
        snw_inputs_copy(best.at.previous, v->followed.previous);
        v->view.path = best.path;
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

static snw_limit limit_of(const inverse_robot *v, int i) {
    if (v->low[i] == v->high[i] && v->input[i].low == v->input[i].before) return SNW_LIMIT_NONE;
    const double near = at_limit * fmax(1, fabs(v->x[i]));
    if (v->x[i] <= v->low[i] + near) return v->falls[i] ? SNW_LIMIT_FALL : SNW_LIMIT_LOW;
    if (v->x[i] >= v->high[i] - near) return v->rises[i] ? SNW_LIMIT_RISE : SNW_LIMIT_HIGH;
    return SNW_LIMIT_NONE;
}

static double dexterity_of(inverse_robot *v) {
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
static snw_status conclude(inverse_robot *v) {
    snw_inverse_result *out = &v->view;
    SNW_TRY(inverse_residual(v, v->x, v->residual));
    weigh_gain(v, v->J);
    errors_from(v, v->aim, v->start);
    out->distance = distance_of(v, v->residual);
    out->reached = out->distance <= v->how->tolerance;
    out->exact = 1;
    for (int i = 0; i < v->ny; i++) {
        v->output[i].value = v->gain->output[i].value;
        v->output[i].error = v->start[i];
        out->exact = out->exact && v->gain->output[i].exact;
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
            if (!out->reached)
                input->multiplier = v->multiplier[i] / (out->distance * input->unit_of_motion);
        }
        out->goal += from * from;
    }
    double *gain = snw_pool_array(v->pool, (size_t)v->nu * (size_t)v->ny + 1, sizeof *gain);
    if (!gain) return snw_fail_memory(v->err);
    memcpy(gain, v->gain->D, (size_t)v->nu * (size_t)v->ny * sizeof *gain);
    out->dexterity = dexterity_of(v);
    out->stability = snw_robot_stability(v->r);
    out->ninput = v->nu;
    out->noutput = v->ny;
    out->input = v->input;
    out->output = v->output;
    out->gain = gain;
    return SNW_OK;
}

// ---- the call -----------------------------------------------------------------------------------

// the name, if it is that of a load or of one of its components; else NULL
static const char *load_of(const snw_robot *r, const char *name) {
    snw_varied x;
    snw_error none;
    const bool some = snw_robot_load(r, name) >= 0 || snw_varied_find(r, name, &x, &none) == SNW_OK;
    return some ? name : NULL;
}

// names of the actuators and loads, each once, and of the targets, for the gain
static snw_status prepare_gain(inverse_robot *v) {
    const snw_robot_model *model = v->r->model;
    snw_linear_options o = snw_linear_defaults();
    const size_t nt = (size_t)v->how->ntarget, na = (size_t)v->how->nactuator;
    const char **name = snw_pool_array(v->pool, nt + na + 1, sizeof *name);
    if (!name) return snw_fail_memory(v->err);
    for (int i = 0; i < v->how->nactuator; i++) {
        const char *given = v->how->actuator[i].name;
        int actuator = snw_robot_model_find(model, SNW_PART_ACTUATOR, given);
        const int input = snw_robot_model_find(model, SNW_PART_INPUT, given);
        if (actuator < 0 && input >= 0) actuator = model->part[SNW_PART_INPUT][input].first;
        const char *own =
            actuator >= 0 ? model->part[SNW_PART_ACTUATOR][actuator].name : load_of(v->r, given);
        if (!own)
            return refuse(v->err, "there is no actuator, input, load or component of a load",
                          given);
        bool again = false;
        for (int k = 0; k < o.ninput; k++) again = again || strcmp(name[nt + (size_t)k], own) == 0;
        if (!again) name[nt + (size_t)o.ninput++] = own;
    }
    for (size_t i = 0; i < nt; i++) name[i] = v->how->target[i].output;
    o.input = name + nt;
    o.noutput = v->how->ntarget;
    o.output = name;
    o.three_inputs = 1;
    return snw_linear_prepare(v->r, &o, &v->gain, v->err);
}

static snw_status inverse_memory(inverse_robot *v) {
    const size_t nu = (size_t)v->nu + 1, ny = (size_t)v->ny + 1;
    double **const line[] = {&v->rest,      &v->x,          &v->low, &v->high,
                             &v->goal_rest, &v->multiplier, &v->goal};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (!(*line[i] = snw_pool_array(v->pool, nu, sizeof(double)))) return SNW_E_MEMORY;
    double **const of_outputs[] = {&v->start, &v->aim, &v->residual};
    for (size_t i = 0; i < sizeof of_outputs / sizeof *of_outputs; i++)
        if (!(*of_outputs[i] = snw_pool_array(v->pool, ny, sizeof(double)))) return SNW_E_MEMORY;
    v->input = snw_pool_array(v->pool, nu, sizeof *v->input);
    v->output = snw_pool_array(v->pool, ny, sizeof *v->output);
    v->varied = snw_pool_array(v->pool, nu, sizeof *v->varied);
    v->falls = snw_pool_array(v->pool, nu, sizeof *v->falls);
    v->rises = snw_pool_array(v->pool, nu, sizeof *v->rises);
    v->turns = snw_pool_array(v->pool, ny, sizeof *v->turns);
    v->best = snw_pool_array(v->pool, 3 * nu, sizeof *v->best);
    v->J = snw_pool_array(v->pool, nu * ny, sizeof *v->J);
    const size_t svd = snw_svd_scratch(v->ny, v->nu) + (nu * ny + nu * nu + nu) * sizeof(double);
    v->scratch.size = snw_bounded_scratch(v->nu, v->ny) + svd + 512;
    v->scratch.base = snw_alloc(v->scratch.size);
    const bool all = v->input && v->output && v->varied && v->falls && v->rises && v->turns &&
                     v->best && v->J && v->scratch.base;
    return all ? SNW_OK : SNW_E_MEMORY;
}

static snw_status inverse_solve(inverse_robot *v) {
    snw_robot *r = v->r;
    SNW_TRY(prepare_gain(v));
    v->anywhere = true;
    SNW_TRY(find_equilibrium(v));
    v->nu = v->gain->nu;
    v->ny = v->gain->ny;
    if (v->nu == 0)
        return snw_fail(v->err, SNW_E_ARGUMENT,
                        "the robot has no actuators whose inputs could be "
                        "found; add some to the file");
    if (inverse_memory(v) != SNW_OK) return snw_fail_memory(v->err);
    SNW_TRY(take_inputs(v));
    // from now on inputs are constants: laws with feedback have other gains
    for (int i = 0; i < v->nu; i++) snw_varied_hold(r, &v->varied[i], v->input[i].before);
    SNW_TRY(find_equilibrium(v));
    SNW_TRY(take_targets(v));
    choose_units(v);
    snw_snapshot_take(r, &v->followed);
    SNW_TRY(equilibrium_at(v, v->x)); // within the limits
    snw_snapshot_take(r, &v->at_start);
    v->anywhere = false;
    SNW_TRY(search(v));
    return conclude(v);
}

static snw_status check_options(const snw_inverse_options *how, snw_error *err) {
    if (how->ntarget < 1 || !how->target || how->nactuator < 0 ||
        (how->nactuator > 0 && !how->actuator))
        return snw_fail(err, SNW_E_ARGUMENT, "%s are missing",
                        how->ntarget < 1 || !how->target ? "targets" : "actuators");
    if (!isfinite(how->time) || !(how->interval >= 0) || !(how->tolerance > 0))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "time must be finite, interval not negative and tolerance positive, got "
                        "%g, %g and %g",
                        how->time, how->interval, how->tolerance);
    for (int i = 0; i < how->ntarget; i++) {
        const snw_inverse_target *t = &how->target[i];
        if (!t->output || t->n < 1 || !t->value)
            return snw_fail(err, SNW_E_ARGUMENT, "target %d has no %s", i,
                            t->output ? "values" : "name");
        SNW_TRY(snw_robot_check_numbers(t->output, t->n, t->value, err));
        if (!isnan(t->weight) && !(t->weight > 0 && isfinite(t->weight)))
            return snw_fail(err, SNW_E_ARGUMENT, "target '%.60s': weight must be positive, got %g",
                            t->output, t->weight);
    }
    for (int i = 0; i < how->nactuator; i++) {
        const snw_inverse_actuator *a = &how->actuator[i];
        if (!a->name) return snw_fail(err, SNW_E_ARGUMENT, "actuator %d has no name", i);
        if (a->rate < 0 || isinf(a->rest) || a->low == INFINITY || a->high == -INFINITY)
            return refuse(err, "a limit, rate or rest is not possible, of actuator", a->name);
    }
    return SNW_OK;
}

snw_status snw_robot_solve_inverse(snw_robot *r, const snw_inverse_options *how,
                                   snw_inverse_result **out, snw_error *err) {
    if (!r || !how || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !r ? "the robot" : !how ? "how" : "out");
    *out = NULL;
    SNW_TRY(check_options(how, err));
    SNW_TRY(snw_robot_check_forces(r, err));
    inverse_robot *v = snw_alloc(sizeof *v);
    if (!v) return snw_fail_memory(err);
    *v = (inverse_robot){.r = r, .how = how, .err = err};
    v->pool = snw_pool_create(POOL_LIMIT);
    snw_snapshot before = {0};
    snw_status s = v->pool ? snw_snapshot_create(r->m, &before) : SNW_E_MEMORY;
    if (s == SNW_OK) s = snw_snapshot_create(r->m, &v->at_start);
    if (s == SNW_OK) s = snw_snapshot_create(r->m, &v->followed);
    if (s == SNW_OK) v->given = snw_pool_take(v->pool, snw_given_size(r) + 1);
    if (s != SNW_OK || !v->given) {
        s = snw_fail_memory(err);
    } else {
        snw_given_save(r, v->given);
        snw_snapshot_take(r, &before);
        s = inverse_solve(v);
        if (s != SNW_OK) {
            snw_given_restore(r, v->given);
            snw_snapshot_restore(&before, r);
        }
    }
    snw_snapshot_destroy(&before);
    if (s == SNW_OK) {
        *out = &v->view;
    } else {
        snw_inverse_close(&v->view);
    }
    return s;
}

void snw_inverse_close(snw_inverse_result *result) {
    inverse_robot *v = (inverse_robot *)result;
    if (!v) return;
    snw_snapshot_destroy(&v->at_start);
    snw_snapshot_destroy(&v->followed);
    snw_linear_close(v->gain);
    snw_free(v->scratch.base);
    snw_pool_destroy(v->pool);
    snw_free(v);
}
