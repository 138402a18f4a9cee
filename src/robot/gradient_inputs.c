// SPDX-License-Identifier: MIT
//
// Inputs that inverse steps find and all that follows holds, theory.md (7.5.55) to (7.5.57). Each
// map under them is differentiated by them, too; where they were found, these derivatives go to
// what the step reads: equations of the robot, targets, limits, values of rest.
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/state.h"
#include "integrate/hard_step.h"
#include "math/expr_op.h"
#include "math/vector.h"
#include "robot/gradient_sample.h"
#include "solve/dense.h"
#include "study/found_inputs.h"
#include "study/target_error.h"

#include <math.h>
#include <string.h>

enum { PASSES = 4 };
static const double far_part = 0.25, // of the size of an input, in samples of what is linear,
                                     // upwards: cords do not push
    near_part = 1e-3,                // the same in differences
    straight = 1e-9,                 // curvature that counts as rounding, relative
    rounding = 1e-14,                // likewise, of typical forces
    along_goal = 1e-2,               // units of motion, in second derivatives of a goal
    least_along = 1e-5,              // where limits are near
    within_room = 0.9,               // of the way to a limit, of the largest sample
    rank_of_gain = 1e-9,             // of singular values that count as zero
    not_pressed = 1e-8,              // at a limit: fall of the goal per unit of motion
    left_over = 1e-6,                // of the derivatives by inputs, where they were found
    complete = 1e-13;                // likewise, that is rounding

// An input that is held at times.
typedef struct held_input {
    snw_input_of of;
    double size; // of its changes
} held_input;

struct gradient_inputs {
    int n;
    held_input *input;
    snw_held_inputs held, before; // of the present map; before an inverse step
    const double *now;            // those of `held`
    double *bar;                  // nscalar x n
    double *by;                   // n x nentry: forward, derivatives of the inputs by the variables
    double **from; // for each step of the study from which others begin: kept bars, or derivatives
    int nstep;
    bool measures; // derivatives by inputs only
};

// Products with an inverse step: errors E of the targets times coefficients by scalar; the goal at
// a sample of the inputs; the parts that depend on limits, values of rest and laws.
typedef enum aim_kind { AIM_ERRORS, AIM_GOAL, AIM_EXPLICIT } aim_kind;
struct gradient_aim {
    aim_kind kind;
    const snw_found_inputs *of;
    const double *error;      // nscalar x ny
    const double *goal;       // nscalar
    const double *multiplier; // ny: of targets that are reached
    const double *rest;       // nscalar x nu: by values of rest, in units of motion; NULL: none
    const double *limit;      // nscalar x nu: by limits
    const double *law;        // nscalar x n: by the laws before
};

// ---- memory -------------------------------------------------------------------------------------

// Number of an input in the list; -1: none.
static int input_number(const struct gradient_inputs *x, const snw_input_of *of) {
    for (int i = 0; i < x->n; i++) {
        const snw_input_of *o = &x->input[i].of;
        if (o->actuator == of->actuator && o->component == of->component &&
            (of->actuator >= 0 || o->load == of->load))
            return i;
    }
    return -1;
}

// All components of an actuator, or of a load, which are held together.
static void add_inputs(struct gradient_inputs *x, const snw_desc *d, int actuator, int load) {
    const int n = actuator >= 0 ? snw_actuator_at(d, actuator).n : 6;
    for (int k = 0; k < n; k++) {
        const snw_input_of of = {.actuator = actuator, .load = load, .component = k};
        if (input_number(x, &of) < 0) x->input[x->n++] = (held_input){.of = of};
    }
}

// Numbers kept at the end of a step of the study, forward.
static size_t kept_size(const gradient_sweep *s, const struct gradient_inputs *x) {
    return (size_t)x->n * (size_t)s->g->nentry;
}

static size_t count_targets(const snw_desc *d) {
    size_t n = 0;
    for (int i = 0; i < d->nstep; i++)
        if (d->step[i].kind == SNW_STEP_INVERSE) n += (size_t)d->step[i].inverse.ntarget;
    return n;
}

snw_status gradient_inputs_open(gradient_sweep *s, snw_error *err) {
    const snw_desc *d = s->model->desc;
    size_t most = 1;
    bool any = false;
    for (int i = 0; i < snw_actuators(d); i++) most += (size_t)snw_actuator_at(d, i).n;
    most += 6 * (size_t)d->nload;
    for (int i = 0; i < d->nstep; i++) any = any || d->step[i].kind == SNW_STEP_INVERSE;
    if (!any) return SNW_OK;
    struct gradient_inputs *x = s->inputs = snw_alloc(sizeof *x);
    if (!x) return snw_fail_memory(err);
    *x = (struct gradient_inputs){.nstep = d->nstep};
    x->input = snw_alloc(most * sizeof *x->input);
    if (!x->input) return snw_fail_memory(err);
    for (int i = 0; i < d->nstep; i++) {
        const snw_inverse_desc *step = &d->step[i].inverse;
        if (d->step[i].kind != SNW_STEP_INVERSE) continue;
        for (int k = 0; step->all && k < snw_actuators(d); k++) add_inputs(x, d, k, -1);
        for (int k = 0; !step->all && k < step->ninput; k++) {
            const snw_inverse_input_desc *in = &step->input[k];
            if (!in->parameter) add_inputs(x, d, in->actuator, in->load);
        }
    }
    const size_t nbar = (size_t)s->nscalar * (size_t)x->n, nby = kept_size(s, x);
    const size_t n = nbar > nby ? nbar : nby;
    x->bar = snw_alloc((nbar + 1) * sizeof *x->bar);
    x->by = snw_alloc((nby + 1) * sizeof *x->by);
    x->from = snw_alloc((size_t)d->nstep * sizeof *x->from);
    if (!x->bar || !x->by || !x->from) return snw_fail_memory(err);
    for (int i = 0; i < d->nstep; i++) x->from[i] = NULL;
    for (int i = 0; i < d->nstep; i++) {
        const int k = d->step[i].from;
        if (k < 0 || x->from[k]) continue;
        x->from[k] = snw_alloc((n + 1) * sizeof **x->from);
        if (!x->from[k]) return snw_fail_memory(err);
    }
    if (snw_held_create(d, &x->held) != SNW_OK || snw_held_create(d, &x->before) != SNW_OK)
        return snw_fail_memory(err);
    return SNW_OK;
}

void gradient_inputs_close(gradient_sweep *s) {
    struct gradient_inputs *x = s->inputs;
    if (!x) return;
    for (int i = 0; x->from && i < x->nstep; i++) snw_free(x->from[i]);
    snw_free(x->from);
    snw_held_destroy(&x->held);
    snw_held_destroy(&x->before);
    snw_free(x->input);
    snw_free(x->bar);
    snw_free(x->by);
    snw_free(x);
}

size_t gradient_inputs_targets(const gradient_sweep *s) {
    return s->inputs ? count_targets(s->model->desc) : 0;
}

// Output of a target; -1: none.
static int output_of(const gradient_sweep *s, int probe, int column) {
    for (int i = 0; i < s->noutput; i++) {
        if (s->output[i].probe == probe && s->output[i].column == column) return i;
    }
    return -1;
}

void gradient_inputs_list_targets(gradient_sweep *s) {
    const snw_desc *d = s->model->desc;
    for (int i = 0; i < d->nstep && s->inputs; i++) {
        if (d->step[i].kind != SNW_STEP_INVERSE) continue;
        for (int k = 0; k < d->step[i].inverse.ntarget; k++) {
            const snw_inverse_target_desc *t = &d->step[i].inverse.target[k];
            if (output_of(s, t->probe, t->column) < 0)
                s->output[s->noutput++] = (snw_adjoint_output){t->probe, t->column, -1};
        }
    }
}

void gradient_inputs_connect(gradient_sweep *s) {
    if (!s->inputs) return;
    const snw_manual_inputs *manual = &s->inputs->held.manual;
    for (int k = 0; k < s->nphase; k++) {
        snw_adjoint_set_manual(s->phase[k].adjoint, manual);
        s->phase[k].sampler.in->manual = manual;
        if (s->phase[k].arrays) snw_model_arrays_set_manual(s->phase[k].arrays, manual);
    }
}

void gradient_inputs_clear(gradient_sweep *s) {
    struct gradient_inputs *x = s->inputs;
    if (!x) return;
    const size_t n = (size_t)s->nscalar * (size_t)x->n;
    memset(x->bar, 0, n * sizeof *x->bar);
    memset(x->by, 0, kept_size(s, x) * sizeof *x->by);
    for (int i = 0; i < x->nstep; i++)
        if (x->from[i]) memset(x->from[i], 0, (s->forward ? kept_size(s, x) : n) * sizeof(double));
}

void gradient_inputs_use(gradient_sweep *s, const snw_map *map) {
    struct gradient_inputs *x = s->inputs;
    if (!x || !map->held || x->now == map->held) return;
    (void)snw_held_load(&x->held, map->held);
    x->now = map->held;
    gradient_inputs_connect(s);
}

void gradient_inputs_forget(gradient_sweep *s) {
    if (s->inputs) s->inputs->now = NULL;
}

void gradient_inputs_note(gradient_sweep *s, const snw_step_report *r) {
    struct gradient_inputs *x = s->inputs;
    for (int l = 0; r->inputs && x && l < r->inputs->nu; l++) {
        const int i = input_number(x, &r->inputs->input[l].of);
        if (i >= 0) x->input[i].size = fmax(x->input[i].size, r->inputs->input[l].unit);
    }
}

void gradient_inputs_fold(gradient_sweep *s) {
    struct gradient_inputs *x = s->inputs;
    const int last = s->nscalar - 1;
    for (int k = 0; x && k < x->n; k++) {
        for (int j = 0; j < last; j++)
            x->bar[j * x->n + k] += s->factor[j] * x->bar[last * x->n + k];
        x->bar[last * x->n + k] = 0;
    }
}

void gradient_inputs_from(gradient_sweep *s, const snw_map *map) {
    struct gradient_inputs *x = s->inputs;
    const bool begins = map->kind == SNW_MAP_FROM;
    if (!x || !x->from[map->stage]) return;
    if (s->forward) {
        memcpy(begins ? x->by : x->from[map->stage], begins ? x->from[map->stage] : x->by,
               kept_size(s, x) * sizeof *x->by);
        return;
    }
    for (int i = 0; i < s->nscalar * x->n; i++) {
        *(begins ? &x->from[map->stage][i] : &x->bar[i]) +=
            begins ? x->bar[i] : x->from[map->stage][i];
        if (begins) x->bar[i] = 0;
    }
}

// ---- derivatives of a map by held inputs --------------------------------------------------------

static void move_to(struct gradient_inputs *x, int k, double value) {
    snw_held_set_input(&x->held, &x->input[k].of, value, 0);
}

// out (nscalar) <- derivatives of the products of a map by input k
static void by_input(gradient_sweep *s, const snw_map *map, bool frame, int k, double *out) {
    struct gradient_inputs *x = s->inputs;
    const double u = snw_held_input(&x->held, &x->input[k].of);
    const double size = x->input[k].size > 0 ? x->input[k].size : fmax(fabs(u), 1);
    const int n = s->nscalar;
    double *once = out + n;
    bool linear = true;
    for (int i = 1; i <= 2; i++) {
        move_to(x, k, u + i * far_part * size);
        gradient_products(s, s->m, map, frame);
        memcpy(i == 1 ? once : out, s->value, (size_t)n * sizeof *out);
    }
    for (int j = 0; j < n && linear; j++) {
        const double first = once[j] - s->centre[j], second = out[j] - once[j];
        const double noise = rounding * snw_adjoint_magnitude(s->adjoint, map, j);
        linear = fabs(second - first) <= straight * (fabs(first) + fabs(second)) + noise;
    }
    for (int j = 0; j < n; j++)
        out[j] = linear ? (out[j] - s->centre[j]) / (2 * far_part * size) : 0;
    for (int i = 0; i < GRADIENT_VARIANTS && !linear; i++) {
        move_to(x, k, u + gradient_sample_at(i) * near_part * size);
        gradient_products(s, s->m, map, frame);
        for (int j = 0; j < n; j++)
            out[j] +=
                gradient_sample_weight(gradient_weight6, i) / (near_part * size) * s->value[j];
    }
    move_to(x, k, u);
}

snw_status gradient_inputs_contract(gradient_sweep *s, const snw_map *map, bool frame,
                                    snw_error *err) {
    struct gradient_inputs *x = s->inputs;
    bool any = false;
    for (int k = 0; x && k < x->n; k++) any = any || snw_held_has_input(&x->held, &x->input[k].of);
    if (!any) return SNW_OK;
    double *by = snw_alloc((2 * (size_t)s->nscalar + 1) * sizeof *by);
    if (!by) return snw_fail_memory(err);
    gradient_products(s, s->m, map, frame);
    memcpy(s->centre, s->value, (size_t)s->nscalar * sizeof *s->value);
    for (int k = 0; k < x->n; k++) {
        if (!snw_held_has_input(&x->held, &x->input[k].of)) continue;
        by_input(s, map, frame, k, by);
        for (int j = 0; j < s->nscalar; j++) x->bar[j * x->n + k] += by[j];
    }
    snw_free(by);
    return SNW_OK;
}

bool gradient_inputs_measure(const gradient_sweep *s) { return s->inputs && s->inputs->measures; }

// ---- errors of the targets ----------------------------------------------------------------------

static double weight_by(const snw_model *m, const snw_found_inputs *of, int i) {
    const snw_found_target *t = &of->target[i];
    if (t->kind == SNW_WEIGHT_LENGTH) return 1 / m->length;
    return t->kind == SNW_WEIGHT_GIVEN ? m->desc->step[of->stage].inverse.target[i].weight
                                       : t->weight;
}

static void targets_by(const snw_model *m, const snw_found_inputs *of, double *aim) {
    const snw_inverse_desc *d = &m->desc->step[of->stage].inverse;
    for (int i = 0; i < of->ny; i++)
        aim[i] = snw_expr_value(d->target[i].value, (snw_at){.t = of->t});
    for (int i = 0; i < of->ny; i++) {
        double length = 0;
        for (int k = 0; k < 4 && of->turns[i] == 4; k++) length += aim[i + k] * aim[i + k];
        for (int k = 0; k < 4 && of->turns[i] == 4; k++) aim[i + k] /= sqrt(length);
    }
}

enum { MOST_TARGETS = 64 };
// Errors by a model at the state of a map: outputs, targets, weights, weighted errors.
typedef struct errors {
    double y[MOST_TARGETS], aim[MOST_TARGETS], W[MOST_TARGETS], E[MOST_TARGETS];
} errors;

static void errors_by(gradient_sweep *s, const snw_model *m, const snw_map *map,
                      const snw_found_inputs *of, errors *e) {
    s->sampler->m = m;
    snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
    for (int i = 0; i < of->ny; i++)
        e->y[i] = s->y[output_of(s, of->target[i].probe, of->target[i].column)];
    targets_by(m, of, e->aim);
    snw_target_errors(of->ny, of->turns, e->aim, e->y, e->E);
    for (int i = 0; i < of->ny; i++) {
        e->W[i] = weight_by(m, of, i);
        e->E[i] *= e->W[i];
    }
}

// Limit of input l by a model, or the change from the value before that its rate allows.
static double limit_by(const snw_model *m, const snw_found_inputs *of, int l) {
    const snw_inverse_desc *d = &m->desc->step[of->stage].inverse;
    if (d->all) return 0; // no limits but those of tensions
    const snw_inverse_input_desc *in = &d->input[l];
    const double interval = of->interval;
    const snw_limit is = of->input[l].limit;
    const double x = is == SNW_LIMIT_LOW    ? in->low
                     : is == SNW_LIMIT_HIGH ? in->high
                     : is == SNW_LIMIT_FALL ? -in->rate * interval
                     : is == SNW_LIMIT_RISE ? in->rate * interval
                                            : 0;
    return isnan(x) ? 0 : x;
}

// (u - rest)/unit^2 of input l by a model, times its unit.
static double goal_by(const snw_model *m, const snw_found_inputs *of, int l) {
    const snw_inverse_desc *d = &m->desc->step[of->stage].inverse;
    const snw_found_input *x = &of->input[l];
    if (d->all) return (x->value - x->rest) / x->unit;
    const snw_inverse_input_desc *in = &d->input[l];
    const double unit = x->by_range ? in->high - in->low : x->unit;
    const double rest = isnan(in->rest) ? x->rest : in->rest;
    return x->unit * (x->value - rest) / (unit * unit);
}

// Value of the law of an input by a model, at the time of a map.
static double law_by(gradient_sweep *s, const snw_model *m, const snw_map *map,
                     const snw_input_of *of) {
    snw_linear_input input;
    snw_inputs *in = s->sampler->in;
    const snw_manual_inputs *manual = in->manual;
    if (snw_linear_input_of(m, of, &input) == SNW_INPUT_SPHERICAL) return 0;
    in->manual = NULL;
    snw_inputs_at(m, map->t_laws, in);
    snw_residual(m, in, &map->s, true, s->sampler->w);
    const double value = snw_linear_input_value(m, &input, 0, in, s->sampler->w);
    in->manual = manual;
    return isfinite(value) ? value : 0;
}

void gradient_aim_products(gradient_sweep *s, const snw_model *m, const snw_map *map) {
    const struct gradient_aim *a = s->aim;
    const snw_found_inputs *of = a->of;
    const int n = s->nscalar;
    errors e;
    for (int j = 0; j < n; j++) s->value[j] = 0;
    if (a->kind != AIM_EXPLICIT) {
        double goal = 0;
        errors_by(s, m, map, of, &e);
        for (int i = 0; i < of->ny; i++)
            goal += of->reached ? a->kind == AIM_GOAL ? a->multiplier[i] * e.E[i] : 0
                                : 0.5 * e.E[i] * e.E[i];
        for (int j = 0; j < n; j++)
            s->value[j] = a->kind == AIM_GOAL ? a->goal[j] * goal
                                              : snw_vector_dot(of->ny, a->error + j * of->ny, e.E);
        return;
    }
    for (int l = 0; l < of->nu; l++) {
        const double limit = limit_by(m, of, l), goal = a->rest ? goal_by(m, of, l) : 0;
        for (int j = 0; j < n; j++) {
            s->value[j] += a->limit[j * of->nu + l] * limit;
            if (a->rest) s->value[j] -= a->rest[j * of->nu + l] * goal;
        }
    }
    for (int k = 0; k < s->inputs->n; k++) {
        bool any = false;
        for (int j = 0; j < n; j++) any = any || a->law[j * s->inputs->n + k] != 0;
        const double law = any ? law_by(s, m, map, &s->inputs->input[k].of) : 0;
        for (int j = 0; j < n; j++) s->value[j] += a->law[j * s->inputs->n + k] * law;
    }
}

// s->y_bar <- derivatives of the aim by the outputs at the state of a map.
static void aim_bars(gradient_sweep *s, const snw_map *map, const struct gradient_aim *a) {
    const snw_found_inputs *of = a->of;
    double e_bar[MOST_TARGETS], y_bar[MOST_TARGETS];
    errors e;
    errors_by(s, s->m, map, of, &e);
    memset(s->y_bar, 0, (size_t)s->nscalar * (size_t)s->noutput * sizeof *s->y_bar);
    for (int j = 0; j < s->nscalar; j++) {
        for (int i = 0; i < of->ny; i++) {
            const double by = of->reached ? a->kind == AIM_GOAL ? a->multiplier[i] : 0 : e.E[i];
            e_bar[i] = e.W[i] * (a->kind == AIM_GOAL ? a->goal[j] * by : a->error[j * of->ny + i]);
            y_bar[i] = 0;
        }
        snw_target_errors_back(of->ny, of->turns, e.aim, e.y, e_bar, y_bar);
        for (int i = 0; i < of->ny; i++)
            s->y_bar[j * s->noutput + output_of(s, of->target[i].probe, of->target[i].column)] +=
                y_bar[i];
    }
}

// The derivatives of an aim at the equilibrium of a map, by all that this depends on.
static snw_status aim_back(gradient_sweep *s, const snw_map *rest, const struct gradient_aim *aim,
                           snw_error *err) {
    snw_map frame = *rest, at = *rest;
    const bool gathers = s->arrays && !s->gathered && !s->inputs->measures;
    frame.kind = SNW_MAP_FRAME;
    frame.time_moves = frame.length_moves = at.time_moves = at.length_moves = false;
    aim_bars(s, &frame, aim);
    const double *bar = gradient_chain_laws(s, &frame);
    SNW_TRY(snw_adjoint_frame(s->adjoint, &frame, bar, NULL, err));
    if (gathers) snw_model_arrays_frame(s->arrays, s->adjoint, &frame, bar);
    s->aim = aim;
    snw_status status = gradient_contract(s, &frame, true, err);
    s->aim = NULL;
    SNW_TRY(status);
    SNW_TRY(snw_adjoint_back(s->adjoint, &at, err));
    if (gathers) snw_model_arrays_add(s->arrays, s->adjoint, &at);
    return gradient_contract(s, &at, false, err);
}

// ---- where inputs are found ---------------------------------------------------------------------

// The inverse step of a map, with the free inputs among its inputs.
typedef struct inverse_back {
    gradient_sweep *s;
    const snw_map *map, *rest;
    const snw_found_inputs *of;
    int nf, rank, nn;    // free inputs; of their gain; directions of the goal
    int *free, *index;   // nf: their numbers in `of`; nu: of inputs in the list
    double *J;           // ny x nf: gain of weighted errors in units of motion
    double *U, *S, *V;   // its decomposition
    double *g;           // nscalar x nf: derivatives by the free inputs
    double *Z, *H, *F;   // nf x nn, nf x nn: Hessian along Z; nn x nn: factors of Z'H
    double *w;           // nscalar x nf
    double *z;           // nscalar x nn
    double *kappa;       // nscalar x ny
    double *multiplier;  // ny
    double *goal;        // nscalar
    double *along;       // nn: steps along Z, units of motion
    double *limit, *law; // nscalar x nu, nscalar x n
    double *line;        // scratch
    int *pivot;
    snw_state **at; // 6 nn: equilibria at the samples
    double *kept;   // memory and branches of the bars
    void *block;
} inverse_back;

static snw_status no_derivative(const inverse_back *b, const char *why, snw_error *err) {
    const snw_step_desc *step = &b->s->model->desc->step[b->of->stage];
    return snw_fail(err, SNW_E_MODEL, "step '%s' has no derivative at t = %g s: %s", step->name,
                    b->of->t, why);
}

static snw_status refuse_input(const inverse_back *b, int l, const char *why, snw_error *err) {
    const snw_desc *d = b->s->model->desc;
    const snw_step_desc *step = &d->step[b->of->stage];
    const snw_input_of *of = &b->of->input[l].of;
    return snw_fail(
        err, SNW_E_MODEL, "step '%s' has no derivative at t = %g s: input '%.60s' %s", step->name,
        b->of->t,
        of->actuator >= 0 ? snw_actuator_at(d, of->actuator).name : d->load[of->load].name, why);
}

static snw_status check_kind(const inverse_back *b, snw_error *err) {
    const snw_found_inputs *of = b->of;
    if (of->ny > MOST_TARGETS) return no_derivative(b, "it has more than 64 targets", err);
    if (b->rest->kind != SNW_MAP_STATIC || b->map->time_moves)
        return no_derivative(b, "its time depends on an event", err);
    if (of->ended)
        return no_derivative(b,
                             "it stops where the equilibria end or become unstable; choose "
                             "'differences'",
                             err);
    if (!of->reached && of->weights)
        return no_derivative(b,
                             "the nearest point depends on the weights of its targets, which are "
                             "chosen by values at its start; give each target a 'weight'",
                             err);
    for (int l = 0; l < of->nu; l++) {
        const snw_found_input *x = &of->input[l];
        if (x->limit == SNW_LIMIT_NONE || x->fixed || fabs(x->press) > not_pressed) continue;
        return refuse_input(b, l,
                            "is at a limit and not pressed onto it, so that there are two "
                            "derivatives, one for each side",
                            err);
    }
    return SNW_OK;
}

static snw_status inverse_memory(inverse_back *b, snw_error *err) {
    const gradient_sweep *s = b->s;
    const size_t nu = (size_t)b->of->nu + 1, ny = (size_t)b->of->ny + 1, ns = (size_t)s->nscalar;
    const size_t n = (size_t)s->inputs->n + 1;
    const size_t bars = (size_t)s->m->nsignal + (size_t)s->m->nbranch_coordinate + 1;
    const size_t size[] = {ny * nu, ny * nu, nu,      nu * nu,       ns * nu,   nu * nu,
                           nu * nu, nu * nu, ns * nu, ns * nu,       ns * ny,   ny,
                           ns,      ns * nu, ns * n,  2 * (nu + ny), ns * bars, nu};
    double **const place[] = {&b->J,    &b->U,     &b->S,   &b->V,    &b->g,     &b->Z,
                              &b->H,    &b->F,     &b->w,   &b->z,    &b->kappa, &b->multiplier,
                              &b->goal, &b->limit, &b->law, &b->line, &b->kept,  &b->along};
    size_t all = 0;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) all += size[i];
    const size_t samples = GRADIENT_VARIANTS * nu;
    double *x = b->block =
        snw_alloc(all * sizeof *x + samples * sizeof *b->at + 3 * nu * sizeof(int));
    if (!x) return snw_fail_memory(err);
    for (size_t i = 0; i < sizeof size / sizeof *size; x += size[i], i++) *place[i] = x;
    memset(b->block, 0, all * sizeof *x);
    b->at = (snw_state **)x;
    for (size_t i = 0; i < samples; i++) b->at[i] = NULL;
    b->free = (int *)(b->at + samples), b->index = b->free + nu, b->pivot = b->index + nu;
    return SNW_OK;
}

static void inverse_close(inverse_back *b) {
    for (int i = 0; b->at && i < GRADIENT_VARIANTS * b->nn; i++) snw_state_destroy(b->at[i]);
    snw_free(b->block);
}

// The free inputs, their gain and its decomposition.
static snw_status find_gain(inverse_back *b, snw_error *err) {
    gradient_sweep *s = b->s;
    const snw_found_inputs *of = b->of;
    const size_t ny = (size_t)of->ny;
    errors e;
    errors_by(s, s->m, b->rest, of, &e);
    for (int l = 0; l < of->nu; l++) {
        const snw_found_input *x = &of->input[l];
        b->index[l] = input_number(s->inputs, &x->of);
        if (x->fixed || x->limit != SNW_LIMIT_NONE) continue;
        double *to = b->J + (size_t)b->nf * ny;
        snw_target_errors_along(of->ny, of->turns, e.aim, e.y, of->gain + (size_t)l * ny, to);
        for (int i = 0; i < of->ny; i++) to[i] *= e.W[i] * x->unit;
        b->free[b->nf++] = l;
    }
    if (b->nf == 0) return SNW_OK;
    const size_t size = snw_svd_scratch(of->ny, b->nf), n = ny * (size_t)b->nf;
    snw_arena scratch = {.base = snw_alloc(size + n * sizeof(double)), .size = size};
    if (!scratch.base) return snw_fail_memory(err);
    double *A = (double *)((char *)scratch.base + size);
    memcpy(A, b->J, n * sizeof *A);
    const snw_status status = snw_svd(of->ny, b->nf, A, &scratch, b->U, b->S, b->V);
    snw_free(scratch.base);
    if (status != SNW_OK) return no_derivative(b, "its gain is not finite", err);
    const int most = of->ny < b->nf ? of->ny : b->nf;
    while (b->rank < most && b->S[b->rank] > rank_of_gain * b->S[0]) b->rank++;
    int targets = of->ny; // a quaternion has three
    for (int i = 0; i < of->ny; i++) targets -= of->turns[i] == 4;
    if (of->reached && b->rank < b->nf && b->rank < targets)
        return no_derivative(b, "the gain of its inputs is singular", err);
    b->nn = of->reached ? b->nf - b->rank : b->nf;
    if (b->nn > 0 && b->rest->hard && b->rest->hard->n > 0)
        return no_derivative(
            b,
            "hard contacts touch, and the choice among its inputs needs equilibria "
            "beside it; choose 'differences'",
            err);
    if (of->reached && b->nn > 0 && of->units)
        return no_derivative(b,
                             "the choice among its inputs depends on their units of motion, which "
                             "are found at its start; give each input a low and a high limit",
                             err);
    return SNW_OK;
}

// out (nf) <- J'x; y (ny) <- pinv(J')x
static double by_column(const inverse_back *b, int f, const double *x) {
    return snw_vector_dot(b->of->ny, b->J + (size_t)f * (size_t)b->of->ny, x);
}
static void pseudo_inverse(const inverse_back *b, const double *x, double *y) {
    const int ny = b->of->ny, nf = b->nf;
    memset(y, 0, (size_t)ny * sizeof *y);
    for (int r = 0; r < b->rank; r++) {
        double c = 0;
        for (int f = 0; f < nf; f++) c += b->V[f * nf + r] * x[f];
        for (int i = 0; i < ny; i++) y[i] += c / b->S[r] * b->U[r * ny + i];
    }
}

static void set_inputs(const inverse_back *b, int direction, double part) {
    struct gradient_inputs *x = b->s->inputs;
    for (int f = 0; f < b->nf; f++) {
        const snw_found_input *in = &b->of->input[b->free[f]];
        const double z = direction >= 0 ? b->Z[direction * b->nf + f] : 0;
        move_to(x, b->index[b->free[f]], in->value + part * z * in->unit);
    }
    gradient_inputs_connect(b->s);
}

// Equilibrium of sample i along a direction as a map.
static snw_map sample_map(const inverse_back *b, int direction, int i) {
    snw_map map = *b->rest;
    const snw_state *s = b->at[direction * GRADIENT_VARIANTS + i];
    map.s.q = s->q, map.s.lambda = s->lambda;
    return map;
}

static snw_status find_sample(inverse_back *b, int direction, int i, snw_error *err) {
    gradient_sweep *s = b->s;
    snw_state **to = &b->at[direction * GRADIENT_VARIANTS + i];
    if (snw_state_create(s->m, to) != SNW_OK) return snw_fail_memory(err);
    snw_state_copy(s->m, &b->rest->s, *to);
    set_inputs(b, direction, gradient_sample_at(i) * b->along[direction]);
    return snw_adjoint_equilibrium(s->adjoint, b->rest, *to, err);
}

static void keep_bars(const inverse_back *b, bool back) {
    const gradient_sweep *s = b->s;
    const size_t nz = (size_t)s->m->nsignal, nb = (size_t)s->m->nbranch_coordinate;
    double *x = b->kept;
    for (int j = 0; j < s->nscalar; j++) {
        const snw_bars *own = snw_adjoint_bars(s->adjoint, j);
        for (size_t k = 0; k < nz; k++) *(back ? &own->z[k] : &x[k]) = back ? x[k] : own->z[k];
        x += nz;
        for (size_t k = 0; k < nb; k++)
            *(back ? &own->branch[k] : &x[k]) = back ? x[k] : own->branch[k];
        x += nb;
    }
}

// H <- derivatives of the goal by the free inputs, differentiated along Z; samples are kept.
static snw_status find_curvature(inverse_back *b, snw_error *err) {
    gradient_sweep *s = b->s;
    struct gradient_inputs *x = s->inputs;
    const size_t nbar = (size_t)s->nscalar * (size_t)x->n;
    const struct gradient_aim aim = {
        .kind = AIM_GOAL, .of = b->of, .goal = b->goal, .multiplier = b->multiplier};
    double *bar = snw_alloc((nbar + 1) * sizeof *bar);
    if (!bar) return snw_fail_memory(err);
    snw_status status = SNW_OK;
    memcpy(bar, x->bar, nbar * sizeof *bar);
    keep_bars(b, false);
    for (int j = 0; j < s->nscalar; j++) b->goal[j] = j == 0;
    for (int d = 0; d < b->nn && status == SNW_OK; d++) {
        double *to = b->H + d * b->nf;
        for (int f = 0; f < b->nf; f++) to[f] = b->of->reached ? b->Z[d * b->nf + f] : 0;
        for (int i = 0; i < GRADIENT_VARIANTS && status == SNW_OK; i++) {
            status = find_sample(b, d, i, err);
            if (status != SNW_OK) break;
            const snw_map map = sample_map(b, d, i);
            memset(x->bar, 0, nbar * sizeof *bar);
            x->measures = true;
            status = aim_back(s, &map, &aim, err);
            x->measures = false;
            for (int f = 0; f < b->nf; f++)
                to[f] += gradient_sample_weight(gradient_weight6, i) / b->along[d] *
                         x->bar[b->index[b->free[f]]] * b->of->input[b->free[f]].unit;
        }
    }
    memcpy(x->bar, bar, nbar * sizeof *bar);
    keep_bars(b, true);
    set_inputs(b, -1, 0);
    snw_free(bar);
    return status;
}

// Steps along Z whose samples stay within the limits, beyond which cords are slack.
static void find_steps(inverse_back *b) {
    for (int d = 0; d < b->nn; d++) {
        b->along[d] = along_goal;
        for (int f = 0; f < b->nf; f++) {
            const snw_found_input *x = &b->of->input[b->free[f]];
            const double moves =
                gradient_sample_at(GRADIENT_VARIANTS - 1) * x->unit * fabs(b->Z[d * b->nf + f]);
            if (moves * b->along[d] > within_room * x->room)
                b->along[d] = within_room * x->room / moves;
        }
        b->along[d] = fmax(b->along[d], least_along);
    }
}

// The goal that decides among the inputs: its multipliers, directions, curvature and its factors.
static snw_status find_goal(inverse_back *b, snw_error *err) {
    const int nf = b->nf, nn = b->nn;
    if (nn == 0) return SNW_OK;
    for (int d = 0; d < nn; d++) {
        for (int f = 0; f < nf; f++)
            b->Z[d * nf + f] = b->of->reached ? b->V[f * nf + b->rank + d] : d == f;
    }
    if (b->of->reached) {
        double most = 0, rest = 0;
        for (int f = 0; f < nf; f++) {
            const snw_found_input *x = &b->of->input[b->free[f]];
            b->line[f] = -(x->value - x->rest) / x->unit;
            most = fmax(most, fabs(b->line[f]));
        }
        pseudo_inverse(b, b->line, b->multiplier);
        for (int f = 0; f < nf; f++)
            rest = fmax(rest, fabs(b->line[f] - by_column(b, f, b->multiplier)));
        if (rest > 1e-6 * fmax(most, 1e-3))
            return no_derivative(b,
                                 "its inputs are not those next to rest; give it a smaller "
                                 "'tolerance'",
                                 err);
    }
    find_steps(b);
    SNW_TRY(find_curvature(b, err));
    for (int i = 0; i < nn; i++) {
        for (int k = 0; k < nn; k++)
            b->F[k * nn + i] = snw_vector_dot(nf, b->Z + i * nf, b->H + k * nf);
    }
    if (snw_lu_factor(nn, b->F, b->pivot) != SNW_OK)
        return no_derivative(b, "its inputs are not determined by their goal", err);
    return SNW_OK;
}

// w, z, kappa <- covectors of the conditions of a minimum for the derivatives g by the free inputs.
static void solve_conditions(inverse_back *b) {
    const int nf = b->nf, nn = b->nn, ny = b->of->ny;
    for (int j = 0; j < b->s->nscalar; j++) {
        const double *g = b->g + j * nf;
        double *w = b->w + j * nf, *z = b->z + j * nn, *rest = b->line;
        for (int d = 0; d < nn; d++) z[d] = snw_vector_dot(nf, b->Z + d * nf, g);
        if (nn > 0) snw_lu_solve_transposed(nn, b->F, b->pivot, z);
        memset(w, 0, (size_t)nf * sizeof *w);
        memcpy(rest, g, (size_t)nf * sizeof *rest);
        for (int d = 0; d < nn; d++) {
            for (int f = 0; f < nf; f++) {
                w[f] += z[d] * b->Z[d * nf + f];
                rest[f] -= z[d] * b->H[d * nf + f];
            }
        }
        if (b->of->reached) {
            pseudo_inverse(b, rest, b->kappa + j * ny);
        } else {
            memset(b->kappa + j * ny, 0, (size_t)ny * sizeof *b->kappa);
        }
        for (int i = 0; i < ny; i++) b->kappa[j * ny + i] *= -1;
    }
}

// The derivatives by what the conditions read: of the goal at the samples, of the errors.
static snw_status conditions_back(inverse_back *b, snw_error *err) {
    gradient_sweep *s = b->s;
    struct gradient_aim aim = {.kind = AIM_GOAL,
                               .of = b->of,
                               .goal = b->goal,
                               .multiplier = b->multiplier,
                               .error = b->kappa};
    for (int d = 0; d < b->nn; d++) {
        for (int i = 0; i < GRADIENT_VARIANTS; i++) {
            const snw_map map = sample_map(b, d, i);
            for (int j = 0; j < s->nscalar; j++)
                b->goal[j] = -b->z[j * b->nn + d] * gradient_sample_weight(gradient_weight6, i) /
                             b->along[d];
            set_inputs(b, d, gradient_sample_at(i) * b->along[d]);
            SNW_TRY(aim_back(s, &map, &aim, err));
        }
    }
    set_inputs(b, -1, 0);
    aim.kind = AIM_ERRORS;
    return b->of->reached ? aim_back(s, b->rest, &aim, err) : SNW_OK;
}

// g <- derivatives by the free inputs that are left; returns the largest, with those by the goal's
// values of rest taken off.
static double take_free(inverse_back *b) {
    const struct gradient_inputs *x = b->s->inputs;
    double most = 0;
    for (int j = 0; j < b->s->nscalar; j++) {
        for (int f = 0; f < b->nf; f++) {
            const int l = b->free[f];
            const double g = x->bar[j * x->n + b->index[l]] * b->of->input[l].unit;
            b->g[j * b->nf + f] = g;
            most = fmax(most, fabs(g));
        }
    }
    return most;
}

// The free inputs are determined by the conditions: derivatives by them go to what these read.
static snw_status free_back(inverse_back *b, double *rest, snw_error *err) {
    struct gradient_inputs *x = b->s->inputs;
    double first = take_free(b), left = first;
    SNW_TRY(find_goal(b, err));
    for (int pass = 0; pass < PASSES && left > complete * first; pass++) {
        solve_conditions(b);
        SNW_TRY(conditions_back(b, err));
        // a goal next to rest has the unit matrix for its part of the curvature
        for (int j = 0; j < b->s->nscalar; j++) {
            for (int f = 0; f < b->nf; f++) {
                const int l = b->free[f];
                const double w = b->w[j * b->nf + f];
                rest[j * b->of->nu + l] += w;
                if (b->of->reached) x->bar[j * x->n + b->index[l]] -= w / b->of->input[l].unit;
            }
        }
        left = take_free(b);
    }
    return left <= left_over * first
               ? SNW_OK
               : no_derivative(b, "its conditions cannot be solved to sufficient accuracy", err);
}

// Was an input held before the step?
static bool was_held(const inverse_back *b, const snw_input_of *of) {
    return snw_held_has_input(&b->s->inputs->before, of);
}

static bool law_reads_signals(const snw_model *m, const snw_input_of *of) {
    if (of->actuator < 0) return m->load[of->load].reads_signals;
    const snw_actuator a = snw_actuator_at(m->desc, of->actuator);
    if (a.stress) return false;
    return a.tendon ? m->tendon[a.item].reads_signals : m->motor[a.item].reads_signals;
}

// Derivatives by limits and laws, and what goes on to the inputs before the step.
static snw_status give_back(inverse_back *b, const double *rest, snw_error *err) {
    gradient_sweep *s = b->s;
    struct gradient_inputs *x = s->inputs;
    const snw_found_inputs *of = b->of;
    const struct gradient_aim aim = {.kind = AIM_EXPLICIT,
                                     .of = of,
                                     .rest = of->reached && b->nn > 0 ? rest : NULL,
                                     .limit = b->limit,
                                     .law = b->law};
    (void)snw_held_load(&x->before, of->before);
    for (int k = 0; k < x->n; k++) {
        const snw_input_of *input = &x->input[k].of;
        if (!snw_held_has_input(&x->held, input)) continue;
        int l = of->nu - 1;
        while (l >= 0 && b->index[l] != k) l--;
        const snw_limit limit = l >= 0 ? of->input[l].limit : SNW_LIMIT_NONE;
        const bool fixed = l < 0 || of->input[l].fixed;
        const bool keeps = fixed || limit == SNW_LIMIT_FALL || limit == SNW_LIMIT_RISE;
        for (int j = 0; j < s->nscalar; j++) {
            double *bar = &x->bar[j * x->n + k];
            if (l >= 0 && !fixed && limit != SNW_LIMIT_NONE) b->limit[j * of->nu + l] = *bar;
            if (keeps && was_held(b, input)) continue;
            if (keeps && *bar != 0 && law_reads_signals(s->m, input))
                return no_derivative(b, "an input keeps the value of a law that reads probes", err);
            b->law[j * x->n + k] = keeps ? *bar : 0;
            *bar = 0;
        }
    }
    snw_map frame = *b->rest;
    frame.kind = SNW_MAP_FRAME;
    s->aim = &aim;
    const snw_status status = gradient_contract(s, &frame, true, err);
    s->aim = NULL;
    return status;
}

snw_status gradient_inputs_back(gradient_sweep *s, const snw_map *map, snw_error *err) {
    const struct gradient_inputs *x = s->inputs;
    inverse_back b = {.s = s, .map = map, .rest = map + 1, .of = map->inputs};
    bool any = false;
    for (int i = 0; i < s->nscalar * x->n; i++) any = any || x->bar[i] != 0;
    if (!any) return SNW_OK;
    snw_status status = check_kind(&b, err);
    double *rest = NULL;
    if (status == SNW_OK) status = inverse_memory(&b, err);
    if (status == SNW_OK) {
        const size_t n = (size_t)s->nscalar * (size_t)b.of->nu + 1;
        rest = snw_alloc(n * sizeof *rest);
        if (!rest) status = snw_fail_memory(err);
        if (rest) memset(rest, 0, n * sizeof *rest);
    }
    if (status == SNW_OK) status = find_gain(&b, err);
    if (status == SNW_OK && b.nf > 0) status = free_back(&b, rest, err);
    if (status == SNW_OK) status = give_back(&b, rest, err);
    snw_free(rest);
    inverse_close(&b);
    return status;
}

// ---- forward ------------------------------------------------------------------------------------

bool gradient_inputs_act(const gradient_sweep *s) {
    const struct gradient_inputs *x = s->inputs;
    for (int k = 0; x && k < x->n; k++)
        if (snw_held_has_input(&x->held, &x->input[k].of)) return true;
    return false;
}

int gradient_inputs_count(const gradient_sweep *s) { return s->inputs ? s->inputs->n : 0; }

void gradient_inputs_along(gradient_sweep *s, gradient_inputs_evaluate *evaluate,
                           const snw_map *map, int k, int size, double *out, double *scratch) {
    struct gradient_inputs *x = s->inputs;
    double *here = scratch, *once = here + size;
    memset(out, 0, (size_t)size * sizeof *out);
    if (!snw_held_has_input(&x->held, &x->input[k].of)) return;
    const double u = snw_held_input(&x->held, &x->input[k].of);
    const double change = x->input[k].size > 0 ? x->input[k].size : fmax(fabs(u), 1);
    bool linear = true;
    evaluate(s, s->m, map, size, here);
    move_to(x, k, u + far_part * change);
    evaluate(s, s->m, map, size, once);
    move_to(x, k, u + 2 * far_part * change);
    evaluate(s, s->m, map, size, out);
    double most = 0;
    for (int i = 0; i < size; i++) most = fmax(most, fabs(out[i] - here[i]));
    for (int i = 0; i < size && linear; i++) {
        const double bend = out[i] - 2 * once[i] + here[i];
        linear = fabs(bend) <= straight * fabs(out[i] - here[i]) +
                                   rounding * (most + fabs(here[i]) + fabs(out[i]));
    }
    for (int i = 0; i < size; i++)
        out[i] = linear ? (out[i] - here[i]) / (2 * far_part * change) : 0;
    for (int i = 0; i < GRADIENT_VARIANTS && !linear; i++) {
        move_to(x, k, u + gradient_sample_at(i) * near_part * change);
        evaluate(s, s->m, map, size, once);
        for (int j = 0; j < size; j++)
            out[j] += gradient_sample_weight(gradient_weight6, i) / (near_part * change) * once[j];
    }
    move_to(x, k, u);
}

double gradient_inputs_by(const gradient_sweep *s, int k, int entry) {
    return s->inputs->by[k * s->g->nentry + entry];
}

// A sweep back over one inverse step, with the inputs as scalars.
static snw_status open_back(const gradient_sweep *s, gradient_sweep *t, snw_error *err) {
    const size_t n = (size_t)s->inputs->n, ny = (size_t)s->noutput, ne = (size_t)s->g->nentry;
    const size_t own = 4 * n;
    *t = *s;
    t->forward = t->chains = false;
    t->arrays = NULL;
    t->gathered = true;
    t->nscalar = (int)n;
    t->phase = snw_alloc((size_t)s->nphase * sizeof *t->phase);
    t->direction = snw_alloc(((size_t)s->ndirection + 1) * sizeof *t->direction);
    t->y_bar = snw_alloc((2 * n * ny + 2 * n + n * ne + own * (size_t)s->ndirection + 1) *
                         sizeof *t->y_bar);
    t->adjoint = NULL;
    if (!t->phase || !t->direction || !t->y_bar ||
        snw_adjoint_create(s->m, (int)n, s->noutput, s->output, &t->adjoint) != SNW_OK)
        return snw_fail_memory(err);
    t->x_bar = t->y_bar + n * ny;
    t->value = t->x_bar + n * ny;
    t->centre = t->value + n;
    t->dJ = t->centre + n;
    memset(t->dJ, 0, n * ne * sizeof *t->dJ);
    double *by = t->dJ + n * ne;
    memcpy(t->phase, s->phase, (size_t)s->nphase * sizeof *t->phase);
    t->phase[s->now].adjoint = t->adjoint;
    t->phase[s->now].arrays = NULL;
    for (int k = 0; k < s->ndirection; k++, by += own) {
        t->direction[k] = s->direction[k];
        t->direction[k].by = by, t->direction[k].coarse = by + n;
        t->direction[k].curved = GRADIENT_LINEAR_TRIALS + 1; // there are no far samples
    }
    gradient_inputs_connect(t);
    return SNW_OK;
}

// Derivatives of the memory before an inverse step by an entry, times the bars of input i.
static double by_memory(const gradient_sweep *s, const gradient_sweep *t, int i, int entry) {
    const snw_bars *bar = snw_adjoint_bars(t->adjoint, i),
                   *by = snw_adjoint_bars(s->adjoint, entry);
    return snw_vector_dot(s->m->nsignal, bar->z, by->z) +
           snw_vector_dot(s->m->nbranch_coordinate, bar->branch, by->branch);
}

snw_status gradient_inputs_forward(gradient_sweep *s, const snw_map *map, snw_error *err) {
    struct gradient_inputs *x = s->inputs;
    const int n = x->n, ne = s->g->nentry;
    gradient_sweep t;
    double *kept = x->bar, *by = snw_alloc(((size_t)n * (size_t)(n + ne) + 1) * sizeof *by);
    if (!by) return snw_fail_memory(err);
    snw_status status = open_back(s, &t, err);
    x->bar = by + n * ne;
    for (int i = 0; i < n * n; i++) x->bar[i] = i % (n + 1) == 0;
    if (status == SNW_OK) status = gradient_inputs_back(&t, map, err);
    for (int i = 0; i < n && status == SNW_OK; i++) {
        for (int k = 0; k < ne; k++) {
            double sum = t.dJ[i * ne + k] + by_memory(s, &t, i, k);
            for (int j = 0; j < n; j++) sum += x->bar[i * n + j] * x->by[j * ne + k];
            by[i * ne + k] = sum;
        }
    }
    if (status == SNW_OK) memcpy(x->by, by, (size_t)n * (size_t)ne * sizeof *by);
    x->bar = kept;
    snw_adjoint_destroy(t.adjoint);
    snw_free(t.phase);
    snw_free(t.direction);
    snw_free(t.y_bar);
    snw_free(by);
    gradient_inputs_connect(s);
    return status;
}

// ---- what a number moves ------------------------------------------------------------------------

static bool same_law(snw_law a, snw_law b) { return a == b || (a && b && snw_expr_same(a, b)); }
static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool same_step(const snw_inverse_desc *a, const snw_inverse_desc *b) {
    bool same = same_number(a->interval, b->interval);
    for (int i = 0; i < a->ntarget; i++)
        same = same && same_law(a->target[i].value, b->target[i].value) &&
               same_number(a->target[i].weight, b->target[i].weight);
    for (int i = 0; i < a->ninput; i++) {
        const snw_inverse_input_desc *x = &a->input[i], *y = &b->input[i];
        same = same && same_number(x->low, y->low) && same_number(x->high, y->high) &&
               same_number(x->rate, y->rate) && same_number(x->rest, y->rest);
    }
    return same;
}

// Has an input the same law in both?
static bool same_input(const snw_model *m, const snw_model *other, const snw_input_of *of) {
    bool same = true;
    if (of->actuator < 0) {
        const snw_load *a = &m->load[of->load], *b = &other->load[of->load];
        for (int k = 0; k < 3; k++)
            same =
                same && same_law(a->force[k], b->force[k]) && same_law(a->torque[k], b->torque[k]);
        return same;
    }
    const snw_actuator is = snw_actuator_at(m->desc, of->actuator);
    if (is.stress) return true;
    if (is.tendon) {
        const snw_tendon *a = &m->tendon[is.item], *b = &other->tendon[is.item];
        return same_law(a->law, b->law) && same_law(a->ambient, b->ambient) &&
               same_law(a->temperature, b->temperature);
    }
    const snw_motor *a = &m->motor[is.item], *b = &other->motor[is.item];
    for (int k = 0; k < a->n && a->law; k++) same = same && same_law(a->law[k], b->law[k]);
    for (int i = 0; i < m->ndrive; i++)
        same = same &&
               (m->drive[i].motor != is.item || same_law(m->drive[i].law, other->drive[i].law));
    return same;
}

bool gradient_inputs_are_same(const gradient_sweep *s, const snw_model *m, const snw_model *other) {
    const snw_desc *d = m->desc;
    for (int i = 0; i < d->nstep && s->inputs; i++) {
        if (d->step[i].kind != SNW_STEP_INVERSE) continue;
        if (!same_step(&d->step[i].inverse, &other->desc->step[i].inverse)) return false;
        if (d->step[i].inverse.nearest && m->length != other->length) return false;
    }
    for (int k = 0; s->inputs && k < s->inputs->n; k++)
        if (!same_input(m, other, &s->inputs->input[k].of)) return false;
    return true;
}
