// SPDX-License-Identifier: MIT
//
// A linearize step: the linear model about the present state, continuous or of one time step, with
// one frame that shows the state. The state is unchanged. theory.md 7.3
#include "study/run_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/projection.h"
#include "dynamics/relaxation.h"
#include "study/directions.h"
#include "study/family.h"
#include "study/linear_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double balanced = 1e-9, // residual of accelerations that are kept, typical forces
    number_move = 1e-3;              // of a number of the file in a sample, relative

// ---- inputs and outputs -------------------------------------------------------------------------

static const char *view_text(snw_linear_view *v, const char *text) {
    const char *copy = snw_pool_text(v->pool, text, strlen(text));
    return copy ? copy : "";
}

// SI unit of an input; a given rate is integrated, so that its coordinate is the given one
static const char *input_unit(snw_linear_view *v, const snw_input_of *of) {
    const snw_desc *d = v->m->desc;
    if (of->actuator < 0) return snw_load_unit(&d->load[of->load], of->component);
    char unit[48];
    snw_actuator_unit(d, of->actuator, of->component, unit);
    const snw_actuator a = snw_actuator_at(d, of->actuator);
    if (a.motor && snw_gives_rate(a.motor->given)) return strcmp(unit, "rad/s") == 0 ? "rad" : "m";
    return view_text(v, unit);
}

static snw_status add_input(snw_linear_view *v, const snw_input_of *of, const char *name,
                            bool named, snw_error *err) {
    snw_linear_input in;
    const snw_input_state state = snw_linear_input_of(v->m, of, &in);
    if (state != SNW_INPUT_ACTS && !named) return SNW_OK;
    if (state == SNW_INPUT_SPHERICAL || state == SNW_INPUT_IDLE)
        return snw_fail(err, SNW_E_MODEL, "actuator '%s' %s, so it is no input of a linear model",
                        name,
                        state == SNW_INPUT_SPHERICAL ? "gives the motion of a spherical joint"
                                                     : "does not act");
    snw_linear_view_add(v, in, name, input_unit(v, of));
    return SNW_OK;
}

static snw_status add_all_inputs(snw_linear_view *v, snw_error *err) {
    const snw_desc *d = v->m->desc;
    for (int i = 0; i < snw_actuators(d); i++) {
        const snw_actuator a = snw_actuator_at(d, i);
        for (int k = 0; k < a.n; k++) {
            const snw_input_of of = {.actuator = i, .component = k};
            const char *name = a.n == 1 ? a.name : snw_pool_format(v->pool, "%s.%d", a.name, k + 1);
            SNW_TRY(add_input(v, &of, name ? name : "", false, err));
        }
    }
    return SNW_OK;
}

// v <- the linear model of a step, not computed yet, on model m
static snw_status linear_prepare(const snw_step_desc *step, const snw_model *m, snw_linear_view *v,
                                 snw_error *err) {
    const snw_linearize_desc *d = &step->linearize;
    size_t most = (size_t)d->ninput;
    for (int i = 0; i < snw_actuators(m->desc); i++) most += (size_t)snw_actuator_at(m->desc, i).n;
    SNW_TRY(snw_linear_view_open(m, most, (size_t)d->noutput, v, err));
    snw_linear_options how = snw_linear_defaults();
    how.step = step->step;
    how.scheme = step->step > 0 ? snw_scheme_table[step->scheme].name : NULL;
    how.rho = step->rho;
    how.alpha = step->alpha;
    how.reduce = d->reduce;
    SNW_TRY(snw_linear_view_choose_step(&how, v, err));
    for (int i = 0; i < d->noutput; i++) {
        const snw_inverse_target_desc *o = &d->output[i];
        char unit[48];
        snw_dim_unit(o->dim, unit, sizeof unit);
        v->of_output[i] = (snw_linear_output){.probe = o->probe, .column = o->column};
        v->output_name[i] = o->name;
        v->output_unit[i] = view_text(v, unit);
        v->noutput++;
    }
    if (d->all) SNW_TRY(add_all_inputs(v, err));
    for (int i = 0; i < d->ninput; i++) {
        const snw_inverse_input_desc *x = &d->input[i];
        const snw_input_of of = {x->actuator, x->load, x->component};
        if (!x->parameter) {
            SNW_TRY(add_input(v, &of, x->name, true, err));
            continue;
        }
        char unit[48];
        snw_dim_unit(d->family.parameter[x->parameter - 1].dim, unit, sizeof unit);
        SNW_TRY(snw_linear_view_add_parameter(v, x->name, view_text(v, unit), err));
    }
    return snw_linear_view_ready(v, d->three, err);
}

// Bytes of the longest name or unit that may occur.
static int longest_text(const snw_linear_view *v) {
    size_t most = sizeof "massless";
    for (int role = 0; role < SNW_LINEAR_ROLES; role++) {
        for (int i = 0; v->named[role][i].name; i++) {
            const size_t n = strlen(v->named[role][i].name) + 1;
            const size_t u = strlen(v->named[role][i].unit) + 1;
            most = n > most ? n : most;
            most = u > most ? u : most;
        }
    }
    for (int i = 0; i < v->ninput; i++) {
        const size_t n = strlen(v->input_name[i]) + sizeof ".acceleration";
        most = n > most ? n : most;
    }
    for (int i = 0; i < v->noutput; i++) {
        const size_t n = strlen(v->output_name[i]) + 1;
        most = n > most ? n : most;
    }
    return (int)most;
}

static snw_status place_fault(const snw_step_desc *step, snw_status s, snw_error *err) {
    if (s == SNW_OK || s == SNW_E_MEMORY) return s;
    return snw_fail_at_location(err, s, step->location.file, step->location.line,
                                step->location.column);
}

snw_status snw_run_linear_create(snw_run *r, snw_error *err) {
    const snw_desc *d = r->desc;
    int n = 0;
    for (int i = 0; i < d->nstep; i++) n += d->step[i].kind == SNW_STEP_LINEARIZE;
    r->linear = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->linear);
    r->linear_found = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->linear_found);
    snw_linear_step_info *info = snw_pool_array(r->pool, (size_t)n + 1, sizeof *info);
    if (!r->linear || !r->linear_found || !info) return SNW_E_MEMORY;
    r->info.linear = info;
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind != SNW_STEP_LINEARIZE) continue;
        snw_linear_view *v = r->linear[i] = snw_alloc(sizeof *v);
        if (!v) return SNW_E_MEMORY;
        const snw_model *m = r->phase[r->phase_of_step[i]].model;
        SNW_TRY(place_fault(&d->step[i], linear_prepare(&d->step[i], m, v, err), err));
        info[r->info.nlinear++] = (snw_linear_step_info){.stage = i, .text = longest_text(v)};
    }
    return SNW_OK;
}

void snw_run_linear_destroy(snw_run *r) {
    for (int i = 0; r->linear && i < r->desc->nstep; i++) {
        if (!r->linear[i]) continue;
        snw_linear_view_close(r->linear[i]);
        snw_free(r->linear[i]);
    }
}

const snw_linear_model *snw_run_linear_found(const snw_run *r, int stage) {
    return r->linear[stage] && r->linear_found[stage] ? &r->linear[stage]->model : NULL;
}

// ---- the model ----------------------------------------------------------------------------------

// A linearize step in execution.
typedef struct linear_execution {
    snw_run *run;
    const snw_step_desc *step;
    snw_linear_view *view;
    snw_state *s; // the operating point
    snw_inputs *in;
    snw_work *w;
    snw_vec3 *rotation, *rotation_sample;
    bool moving;
} linear_execution;

static bool is_time(const snw_parameter_desc *p) { return strcmp(p->name, "t") == 0; }

// number of the file of input i
static int number_of(const linear_execution *x, int i) {
    return x->step->linearize.input[i].parameter - 1;
}

// out <- residual, violations and outputs at the operating point with another value of input i
static snw_status sample_number(void *user, int i, double value, double *out, snw_error *err) {
    const linear_execution *x = user;
    const snw_run *r = x->run;
    const snw_desc_family *family = &x->step->linearize.family;
    const int k = number_of(x, i);
    const bool time = is_time(&family->parameter[k]);
    const snw_model *m = x->view->m;
    snw_member other = {0};
    snw_inputs *in = NULL;
    snw_work *w = NULL;
    snw_status s = SNW_OK;
    if (!time) s = snw_member_compile(family, 1, &k, &value, m, &other, err);
    const snw_model *of = time ? m : other.model;
    if (s == SNW_OK && (snw_inputs_create(of, &in) != SNW_OK || snw_work_create(of, &w) != SNW_OK))
        s = snw_fail_memory(err);
    if (s == SNW_OK) {
        in->manual = r->manual;
        snw_inputs_at(of, time ? value : x->s->t, in);
        memcpy(x->rotation_sample, x->rotation, (size_t)(m->nseg + m->nobs) * sizeof *x->rotation);
        const double t = x->s->t;
        if (time) x->s->t = value;
        snw_linear_view_sample(x->view, of, in, x->s, x->rotation_sample, w, r->column, out);
        x->s->t = t;
    }
    snw_inputs_destroy(in);
    snw_work_destroy(w);
    snw_member_free(&other);
    return s;
}

// derivatives by the numbers of the file among the inputs
static snw_status differentiate_numbers(linear_execution *x, snw_error *err) {
    const snw_linearize_desc *d = &x->step->linearize;
    x->view->difference = 0;
    for (int i = 0; i < d->ninput; i++) {
        if (!d->input[i].parameter) continue;
        const snw_parameter_desc *p = &d->family.parameter[number_of(x, i)];
        const double value = is_time(p) ? x->s->t : p->value;
        const double h = value != 0 && !is_time(p) ? number_move * fabs(value) : number_move;
        x->view->parameter[i] = value;
        SNW_TRY(snw_linear_view_differentiate(x->view, i, value, h, sample_number, x, err));
    }
    return SNW_OK;
}

// x->s <- the present state with accelerations and multipliers that balance
static snw_status operating_point(linear_execution *x, snw_error *err) {
    snw_run *r = x->run;
    const snw_model *m = x->view->m;
    snw_state_copy(m, r->state, x->s);
    snw_relaxation_fix(m, x->s);
    snw_inputs_at(m, x->s->t, x->in);
    snw_residual(m, x->in, x->s, false, x->w);
    if (snw_out_of_balance(m, x->w) <= balanced) return SNW_OK;
    if (m->nconstraint)
        return snw_projection_accelerations(snw_statics_projection(r->now->statics), x->in, x->s,
                                            err);
    double *M = snw_alloc((size_t)m->nv * (size_t)m->nv * sizeof *M);
    if (!M) return snw_fail_memory(err);
    const snw_status s = snw_accelerations(m, x->in, x->s, x->w, M, err);
    snw_free(M);
    return s;
}

// x->s, step.d <- the end and the increment of a step from the present state
static snw_status do_step(linear_execution *x, snw_error *err) {
    snw_linear_view *v = x->view;
    snw_implicit *im = NULL;
    v->step.d = v->increment;
    snw_status s = snw_linear_view_stepper(v, v->m, x->run->manual, &im, err);
    if (s == SNW_OK) s = snw_implicit_start(im, x->s, err);
    if (s == SNW_OK) s = snw_linear_view_do_step(v, im, err);
    if (s == SNW_OK) {
        snw_state_copy(v->m, snw_implicit_state(im), x->s);
        snw_inputs_copy(snw_implicit_inputs(im), x->in);
        memcpy(v->increment, snw_implicit_increment(im), (size_t)v->m->nv * sizeof *v->increment);
    }
    snw_implicit_destroy(im);
    return s;
}

static snw_status linear_compute(linear_execution *x, snw_error *err) {
    snw_linear_view *v = x->view;
    const snw_model *m = v->m;
    SNW_TRY(operating_point(x, err));
    v->step.d = NULL;
    if (snw_linear_view_maps(v, x->moving)) {
        SNW_TRY(snw_linear_view_step(v, x->run->manual, x->s, err));
        snw_inputs_at(m, x->s->t, x->in);
    } else if (v->discrete && x->moving && snw_linear_has_increments(v->step.scheme))
        SNW_TRY(do_step(x, err));
    snw_residual(m, x->in, x->s, false, x->w);
    snw_observe(m, x->in, x->s, false, x->w);
    memcpy(x->rotation, x->run->rotation, (size_t)(m->nseg + m->nobs) * sizeof *x->rotation);
    snw_rotations_update(m, x->w, x->rotation);
    SNW_TRY(differentiate_numbers(x, err));
    SNW_TRY(snw_linear_view_compute(v, x->in, x->s, x->rotation, x->moving, x->w, err));
    return snw_linear_view_analyse(v, err);
}

// r->pole <- poles of the robot, by rising modulus, one of each pair
static void keep_poles(snw_run *r, const snw_linear_view *v) {
    const snw_linear_model *x = &v->model;
    int n = 0;
    for (int i = 0; i < SNW_PROBE_POLES; i++) r->pole[i] = NAN;
    for (int i = 0; i < x->npole; i++) {
        const snw_linear_pole *p = &x->pole[i];
        if (p->im < 0 || p->parasitic) continue;
        const double re = v->discrete ? log(hypot(p->re, p->im)) / v->step.h : p->re;
        const double im = v->discrete ? atan2(p->im, p->re) / v->step.h : p->im;
        int at = n;
        while (at > 0 && hypot(re, im) < hypot(r->pole[at - 2], r->pole[at - 1])) at -= 2;
        if (at == SNW_PROBE_POLES) continue;
        n = n < SNW_PROBE_POLES ? n + 2 : n;
        memmove(r->pole + at + 2, r->pole + at, (size_t)(n - at - 2) * sizeof *r->pole);
        r->pole[at] = re;
        r->pole[at + 1] = im;
    }
}

// ---- the frame ----------------------------------------------------------------------------------

static snw_status linear_frame(linear_execution *x, int stage, snw_error *err) {
    snw_run *r = x->run;
    const snw_model *m = x->view->m;
    snw_inputs_at(m, r->state->t, x->in);
    snw_residual(m, x->in, r->state, false, x->w);
    snw_observe(m, x->in, r->state, false, x->w);
    const snw_frame_source view = {.state = r->state,
                                   .in = x->in,
                                   .w = x->w,
                                   .linear = &x->view->model,
                                   .energy = {.kinetic = snw_kinetic_energy(m, x->w),
                                              .elastic = snw_stored_energy(m, r->state, x->w),
                                              .gravity = snw_gravity_energy(m, x->in, x->w),
                                              .dissipated = r->heat,
                                              .work = r->work,
                                              .scheme = r->scheme,
                                              .balance = r->balance},
                                   .stats = {.load = 1,
                                             .residual = x->view->model.residual,
                                             .stability = NAN,
                                             .truncation = NAN,
                                             .condition = NAN}};
    return snw_run_frame(r, stage, &view, err);
}

static void warn_of_model(const snw_run *r, const snw_step_desc *step, const snw_linear_model *x) {
    char text[300];
    if (x->residual <= SNW_UNBALANCED || x->moving) return;
    (void)snprintf(text, sizeof text,
                   "run '%s': step '%s': the robot is at rest out of equilibrium, forces out of "
                   "balance are %.2g of typical ones, and accelerations follow; put a static step "
                   "before",
                   r->info.run, step->name, x->residual);
    snw_run_warn(r, text);
}

static snw_status linear_execute(linear_execution *x, int stage, snw_error *err) {
    snw_run *r = x->run;
    const snw_model *m = x->view->m;
    const size_t points = (size_t)(m->nseg + m->nobs);
    x->rotation = snw_alloc(2 * points * sizeof *x->rotation);
    if (!x->rotation || snw_state_create(m, &x->s) != SNW_OK ||
        snw_inputs_create(m, &x->in) != SNW_OK || snw_work_create(m, &x->w) != SNW_OK)
        return snw_fail_memory(err);
    x->rotation_sample = x->rotation + points;
    x->in->manual = r->manual;
    for (int i = 0; i < m->nv; i++) x->moving |= r->state->v[i] != 0;
    SNW_TRY(linear_compute(x, err));
    keep_poles(r, x->view);
    r->linear_found[stage] = true;
    if (r->resuming) return SNW_OK; // its frame is recorded
    warn_of_model(r, x->step, &x->view->model);
    SNW_TRY(linear_frame(x, stage, err));
    snw_run_report_progress(r, stage, r->state->t, r->state->t, r->state->t);
    return SNW_OK;
}

snw_status snw_run_linearize(snw_run *r, int stage, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    const snw_model *m = r->now->model;
    snw_linear_view *v = r->linear[stage];
    SNW_TRY(snw_run_refuse_nonholonomic(r, step, err));
    if (!r->resuming && m->ncondition) snw_run_set_conditions(r);
    if (v->m != m) { // another mesh
        snw_linear_view_close(v);
        SNW_TRY(linear_prepare(step, m, v, err));
    }
    linear_execution x = {.run = r, .step = step, .view = v};
    const snw_status s = linear_execute(&x, stage, err);
    snw_free(x.rotation);
    snw_state_destroy(x.s);
    snw_inputs_destroy(x.in);
    snw_work_destroy(x.w);
    return s;
}
