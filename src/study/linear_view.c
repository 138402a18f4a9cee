// SPDX-License-Identifier: MIT
//
// Linear models in their public form: names and units, values at the operating point, poles,
// derivatives by numbers of the file. theory.md 7.3
#include "study/linear_view.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/relaxation.h"
#include "solve/linear_system.h"
#include "study/linear_memory.h"
#include "study/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 26, SAMPLES = 3 };

static const double still = 1e-12; // relative violation that a number of the file does not cause

snw_linear_options snw_linear_defaults(void) {
    return (snw_linear_options){.rho = NAN, .alpha = NAN};
}

// ---- inputs and outputs -------------------------------------------------------------------------

snw_status snw_linear_view_open(const snw_model *m, size_t inputs, size_t outputs,
                                snw_linear_view *v, snw_error *err) {
    *v = (snw_linear_view){.m = m, .pool = snw_pool_create(POOL_LIMIT)};
    if (!v->pool) return snw_fail_memory(err);
    v->of_input = snw_pool_array(v->pool, inputs + 1, sizeof *v->of_input);
    v->input_name = snw_pool_array(v->pool, inputs + 1, sizeof *v->input_name);
    v->input_unit = snw_pool_array(v->pool, inputs + 1, sizeof *v->input_unit);
    v->parameter = snw_pool_array(v->pool, inputs + 1, sizeof *v->parameter);
    v->of_output = snw_pool_array(v->pool, outputs + 1, sizeof *v->of_output);
    v->output_name = snw_pool_array(v->pool, outputs + 1, sizeof *v->output_name);
    v->output_unit = snw_pool_array(v->pool, outputs + 1, sizeof *v->output_unit);
    v->q_name = snw_coordinate_names(m, v->pool);
    if (!v->of_input || !v->input_name || !v->input_unit || !v->parameter || !v->of_output ||
        !v->output_name || !v->output_unit || !v->q_name)
        return snw_fail_memory(err);
    return SNW_OK;
}

void snw_linear_view_close(snw_linear_view *v) {
    snw_linear_destroy(v->linear);
    snw_step_tangent_destroy(v->tangent);
    snw_pool_destroy(v->pool);
}

void snw_linear_view_add(snw_linear_view *v, snw_linear_input input, const char *name,
                         const char *unit) {
    v->of_input[v->ninput] = input;
    v->parameter[v->ninput] = NAN;
    v->input_name[v->ninput] = name;
    v->input_unit[v->ninput++] = unit;
}

// numbers of a sample before the equations of a step
static size_t own_samples(const snw_linear_view *v) {
    return (size_t)v->m->nv + 3 * (size_t)v->m->nconstraint + (size_t)v->noutput +
           (size_t)snw_linear_memory_numbers(v->m);
}

static bool has_tangent(const snw_linear_view *v) {
    return v->discrete && snw_step_tangent_applies(v->step.scheme);
}

snw_status snw_linear_view_add_parameter(snw_linear_view *v, const char *name, const char *unit,
                                         snw_error *err) {
    const size_t nv = (size_t)v->m->nv, nr = (size_t)v->m->nconstraint;
    double *memory = snw_pool_array(v->pool, snw_linear_view_samples(v) + 1, sizeof *memory);
    if (!memory) return snw_fail_memory(err);
    snw_linear_view_add(v,
                        (snw_linear_input){.kind = SNW_LINEAR_OTHER,
                                           .force = memory,
                                           .shift = memory + nv,
                                           .direct = memory + nv + nr,
                                           .rate = memory + nv + nr + v->noutput,
                                           .shift_rate = memory + own_samples(v) - 2 * nr,
                                           .shift_acc = memory + own_samples(v) - nr,
                                           .equation = memory + own_samples(v)},
                        name, unit);
    return SNW_OK;
}

snw_status snw_linear_view_choose_step(const snw_linear_options *how, snw_linear_view *v,
                                       snw_error *err) {
    if (!(how->step >= 0) || !isfinite(how->step))
        return snw_fail(err, SNW_E_ARGUMENT, "the step must be positive, or 0, got %g s",
                        how->step);
    v->discrete = how->step > 0;
    if (how->statics && (v->discrete || how->three_inputs))
        return snw_fail(err, SNW_E_ARGUMENT, "static gains have no step and no rates of inputs");
    if (!v->discrete && how->scheme)
        return snw_fail(err, SNW_E_ARGUMENT, "a scheme needs a step: give its length");
    if (!v->discrete) return SNW_OK;
    const char *name = how->scheme ? how->scheme : "generalized-alpha";
    const int kind = snw_scheme_find(name);
    if (kind < 0) {
        char names[300];
        snw_scheme_names(SNW_SCHEME_TAKES_ADAPT, 0, names, sizeof names);
        return snw_fail(err, SNW_E_ARGUMENT,
                        "there is no scheme '%.40s'; there are conserving, moreau, %s", name,
                        names);
    }
    const snw_scheme_info *row = &snw_scheme_table[kind];
    const bool rho = isnan(how->rho) || (how->rho >= row->rho_min && how->rho <= 1);
    const bool alpha = isnan(how->alpha) || (how->alpha >= -0.5 && how->alpha <= 0);
    if (!rho || !alpha)
        return snw_fail(err, SNW_E_ARGUMENT, "%s must be between %g and %g, got %g",
                        rho ? "alpha" : "rho", rho ? -0.5 : row->rho_min, rho ? 0.0 : 1.0,
                        rho ? how->alpha : how->rho);
    const snw_step_desc defaults = snw_step_dynamic((snw_scheme_kind)kind);
    v->step = (snw_linear_step){.scheme = (snw_scheme_kind)kind,
                                .rho = isnan(how->rho) ? defaults.rho : how->rho,
                                .alpha = isnan(how->alpha) ? defaults.alpha : how->alpha,
                                .h = how->step,
                                .reduce = how->reduce != 0};
    return SNW_OK;
}

// ---- names --------------------------------------------------------------------------------------

static const char *text_of(snw_linear_view *v, const char *format, const char *a, const char *b) {
    const char *text = snw_pool_format(v->pool, format, a, b);
    return text ? text : "";
}

// unit of the k-th rate of a quantity
static const char *rate_unit(snw_linear_view *v, const char *unit, int k) {
    static const char *const per[] = {"", "/s", "/s^2"};
    if (k == 0) return unit;
    return text_of(v, "%s%s", unit[0] ? unit : "1", per[k]);
}

static const char *rate_name(snw_linear_view *v, const char *name, int k) {
    static const char *const suffix[] = {"", ".rate", ".acceleration"};
    return k == 0 ? name : text_of(v, "%s%s", name, suffix[k]);
}

static const char *const twist_name[6] = {"wx", "wy", "wz", "vx", "vy", "vz"};

// SI unit of a coordinate that is a number: a strain's, an angle's or a length's
static const char *coordinate_unit(const snw_model *m, const snw_block *b, int dof) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int a = 0; a < rod->na; a++) {
            if (dof < rod->dof[a] || dof >= rod->dof[a] + rod->nfun[a]) continue;
            return snw_rod_is_curvature(rod, a) ? "1/m" : "";
        }
    }
    return snw_norm(b->S.w) > 0 ? "rad" : "m"; // a screw's coordinate is its angle
}

// name and unit of coordinate `dof`
static snw_linear_signal coordinate_of(snw_linear_view *v, int dof) {
    const snw_model *m = v->m;
    int k = 0;
    while (dof >= m->block[k].dof + m->block[k].n) k++;
    const snw_block *b = &m->block[k];
    const int i = dof - b->dof;
    if (b->space != SNW_SPACE_RN) {
        const char *link = m->label.link[m->seg[b->seg].link].name;
        return (snw_linear_signal){.name = text_of(v, "%s.%s", link, twist_name[i]),
                                   .unit = i < 3 ? "rad" : "m",
                                   .exact = 1};
    }
    return (snw_linear_signal){
        .name = v->q_name[b->q + i], .unit = coordinate_unit(m, b, dof), .exact = 1};
}

// number of possible indices of a role
static int role_size(const snw_linear_view *v, snw_linear_role role) {
    const snw_model *m = v->m;
    switch (role) {
    case SNW_STATE_COORDINATE:
    case SNW_STATE_RATE:
    case SNW_STATE_MASSLESS:
        return m->nv;
    case SNW_STATE_INTEGRAL:
        return m->nsignal;
    case SNW_STATE_BRANCH:
        return m->nbranch_coordinate;
    case SNW_STATE_GIVEN:
    case SNW_STATE_GIVEN_RATE:
        return v->ninput;
    case SNW_STATE_ACCELERATION:
    case SNW_STATE_PSEUDO:
    case SNW_STATE_INCREMENT:
    case SNW_STATE_RATE_BEFORE:
        return v->discrete ? m->nv : 0;
    }
    return 0;
}

// name and unit of a state
static snw_linear_signal name_state(snw_linear_view *v, snw_linear_role role, int i) {
    static const char *const suffix[SNW_LINEAR_ROLES] = {[SNW_STATE_RATE] = ".rate",
                                                         [SNW_STATE_ACCELERATION] = ".acceleration",
                                                         [SNW_STATE_PSEUDO] = ".pseudo",
                                                         [SNW_STATE_INCREMENT] = ".increment",
                                                         [SNW_STATE_RATE_BEFORE] = ".rate_before"};
    static const int order[SNW_LINEAR_ROLES] = {[SNW_STATE_RATE] = 1,
                                                [SNW_STATE_ACCELERATION] = 2,
                                                [SNW_STATE_PSEUDO] = 2,
                                                [SNW_STATE_RATE_BEFORE] = 1};
    if (role == SNW_STATE_INTEGRAL) {
        const char *text = v->m->signal[i].text;
        return (snw_linear_signal){.name = text ? text : "", .unit = "", .exact = 1};
    }
    if (role == SNW_STATE_BRANCH) {
        const snw_branch_place at = snw_relaxation_place(v->m, i);
        snw_linear_signal s = coordinate_of(v, at.dof);
        const char *name = snw_pool_format(v->pool, "%s.branch %d", s.name, at.branch + 1);
        s.name = name ? name : "";
        return s;
    }
    if (role == SNW_STATE_GIVEN || role == SNW_STATE_GIVEN_RATE) {
        const int k = role == SNW_STATE_GIVEN_RATE;
        return (snw_linear_signal){.name = rate_name(v, v->input_name[i], k),
                                   .unit = rate_unit(v, v->input_unit[i], k),
                                   .exact = 1};
    }
    if (role == SNW_STATE_MASSLESS) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i + 1);
        return (snw_linear_signal){
            .name = text_of(v, "massless %s%s", number, ""), .unit = "", .exact = 1};
    }
    snw_linear_signal s = coordinate_of(v, i);
    if (suffix[role]) s.name = text_of(v, "%s%s", s.name, suffix[role]);
    s.unit = rate_unit(v, s.unit, order[role]);
    return s;
}

// named, state, input, output, pole <- memory and names of all that may occur
static snw_status view_describe(snw_linear_view *v, snw_error *err) {
    size_t most = 1;
    for (int role = 0; role < SNW_LINEAR_ROLES; role++) {
        const int n = role_size(v, (snw_linear_role)role);
        v->named[role] = snw_pool_array(v->pool, (size_t)n + 1, sizeof **v->named);
        if (!v->named[role]) return snw_fail_memory(err);
        for (int i = 0; i < n; i++) v->named[role][i] = name_state(v, (snw_linear_role)role, i);
        most += (size_t)n;
    }
    const size_t nu = 3 * (size_t)v->ninput + 1;
    v->state = snw_pool_array(v->pool, most, sizeof *v->state);
    v->pole = snw_pool_array(v->pool, most, sizeof *v->pole);
    v->input = snw_pool_array(v->pool, nu, sizeof *v->input);
    v->output = snw_pool_array(v->pool, (size_t)v->noutput + 1, sizeof *v->output);
    for (int k = 0; k < 3; k++) {
        v->rate_of_input[k] = snw_pool_array(v->pool, nu, sizeof *v->input);
        if (!v->rate_of_input[k]) return snw_fail_memory(err);
        for (int i = 0; i < v->ninput; i++) {
            v->rate_of_input[k][i] =
                (snw_linear_signal){.name = rate_name(v, v->input_name[i], k),
                                    .unit = rate_unit(v, v->input_unit[i], k),
                                    .exact = v->of_input[i].kind != SNW_LINEAR_OTHER};
        }
    }
    if (!v->state || !v->pole || !v->input || !v->output) return snw_fail_memory(err);
    for (int i = 0; i < v->noutput; i++)
        v->output[i] = (snw_linear_signal){.name = v->output_name[i], .unit = v->output_unit[i]};
    return SNW_OK;
}

// error: no memory for the matrices, which are dense
static snw_status fail_size(const snw_model *m, snw_error *err) {
    const double n = 2.0 * m->nv;
    return snw_fail(err, SNW_E_MEMORY,
                    "out of memory: the linear model has %d coordinates and %d constraint rows, "
                    "and its matrices are dense, %.0f x %.0f numbers (%.2g GB) each; take fewer "
                    "elements, or functions that represent the motion ('sinew reduce')",
                    m->nv, m->nconstraint, n, n, n * n * sizeof(double) / 1e9);
}

snw_status snw_linear_view_ready(snw_linear_view *v, bool three, snw_error *err) {
    const snw_model *m = v->m;
    v->samples = snw_pool_array(v->pool, 3 * snw_linear_view_samples(v) + 1, sizeof *v->samples);
    v->increment = snw_pool_array(v->pool, (size_t)m->nv + 1, sizeof *v->increment);
    const size_t rows =
        2 * (size_t)m->nv + (size_t)snw_linear_memory_room(m) + 2 * (size_t)v->ninput + 1;
    if (v->discrete) {
        v->continuous = snw_pool_array(v->pool, rows * rows, sizeof *v->continuous);
        if (!v->continuous) return fail_size(m, err);
    }
    if (has_tangent(v)) {
        snw_error why = {0};
        const snw_status s =
            snw_step_tangent_create(m, v->step.scheme, v->step.h, &v->tangent, &why);
        const bool rest = !snw_step_tangent_always(v->step.scheme); // models about rest go without
        if (s != SNW_OK && (!rest || s == SNW_E_MEMORY)) {
            if (err) *err = why;
            return s;
        }
    }
    if (!v->samples || !v->increment ||
        snw_linear_create(m, v->ninput, v->of_input, v->noutput, v->of_output, three || v->discrete,
                          v->discrete, &v->linear) != SNW_OK)
        return fail_size(m, err);
    return view_describe(v, err);
}

// ---- values -------------------------------------------------------------------------------------

// value of coordinate `dof`; 0 on Lie groups
static double coordinate_value(const snw_model *m, const snw_state *s, int dof) {
    int k = 0;
    while (dof >= m->block[k].dof + m->block[k].n) k++;
    const snw_block *b = &m->block[k];
    return b->space == SNW_SPACE_RN ? s->q[b->q + dof - b->dof] : 0;
}

// value of the k-th rate of an input at the operating point
static double input_value(const snw_linear_view *v, int i, int k, const snw_inputs *in,
                          const snw_work *w) {
    const snw_linear_input *input = &v->of_input[i];
    if (input->kind != SNW_LINEAR_OTHER) return snw_linear_input_value(v->m, input, k, in, w);
    return v->parameter[i];
}

// value of a state at the operating point
static double state_value(const snw_linear_view *v, snw_linear_state x, const snw_inputs *in,
                          const snw_state *s, const snw_work *w) {
    switch (x.role) {
    case SNW_STATE_COORDINATE:
        return coordinate_value(v->m, s, x.index);
    case SNW_STATE_RATE:
        return x.index >= 0 ? s->v[x.index] : 0;
    case SNW_STATE_ACCELERATION:
        return x.index >= 0 ? s->a[x.index] : 0;
    case SNW_STATE_INTEGRAL:
        return s->z[x.index];
    case SNW_STATE_BRANCH:
        return s->relaxed[x.index];
    case SNW_STATE_GIVEN:
    case SNW_STATE_GIVEN_RATE:
        return input_value(v, x.index, x.role == SNW_STATE_GIVEN_RATE, in, w);
    case SNW_STATE_MASSLESS:
    case SNW_STATE_PSEUDO:
    case SNW_STATE_INCREMENT:
    case SNW_STATE_RATE_BEFORE:
        break;
    }
    return 0;
}

void snw_linear_view_publish(snw_linear_view *v, const snw_inputs *in, const snw_state *s,
                             bool moving, const snw_work *w) {
    static const snw_linear_signal massless = {.name = "massless", .unit = "", .exact = 1};
    const snw_linear_system *x = snw_linear_result(v->linear);
    for (int i = 0; i < x->nx; i++) {
        const snw_linear_state at = x->state[i];
        v->state[i] = at.index >= 0 ? v->named[at.role][at.index] : massless;
        v->state[i].value = state_value(v, at, in, s, w);
    }
    for (int i = 0; i < x->nu; i++) {
        v->input[i] = v->rate_of_input[x->derivative[i]][x->of_input[i]];
        v->input[i].value = input_value(v, x->of_input[i], x->derivative[i], in, w);
    }
    int ny = 0;
    for (int i = 0; i < x->ny; i++) {
        if (v->of_output[i].left) continue;
        v->output[ny++] = (snw_linear_signal){.name = v->output_name[i],
                                              .unit = v->output_unit[i],
                                              .value = v->of_output[i].value,
                                              .exact = v->of_output[i].exact};
    }
    const int left = x->ny - ny;
    if (left > 0) (void)snw_linear_keep_outputs(v->linear);
    int inputs = 0; // inputs with a column
    for (int i = 0; i < x->nu; i++) inputs += i == 0 || x->of_input[i] != x->of_input[i - 1];
    v->model = (snw_linear_model){.nx = x->nx,
                                  .nu = x->nu,
                                  .ny = x->ny,
                                  .A = x->A,
                                  .B = x->B,
                                  .C = x->C,
                                  .D = x->D,
                                  .state = v->state,
                                  .input = v->input,
                                  .output = v->output,
                                  .time = s->t,
                                  .step = v->discrete ? v->step.h : 0,
                                  .moving = moving,
                                  .residual = x->residual,
                                  .difference = fmax(x->difference, v->difference),
                                  .nidle = x->nidle,
                                  .nheld = x->nheld,
                                  .nleft = v->nleft + left + v->ninput - inputs};
}

// ---- numbers of the file ------------------------------------------------------------------------

size_t snw_linear_view_samples(const snw_linear_view *v) {
    return own_samples(v) + (has_tangent(v) ? (size_t)snw_step_tangent_most(v->m) : 0);
}

// rate, acceleration <- those of the violations of loops along the motion of s, by differences of
// order 8: with another number of the model these are the rates of what the number moves, in the
// axes of the rows (which turn, unlike those of snw_constraints_rates where loops are open).
// SNW_E_MEMORY.
static snw_status loops_along(const snw_model *m, const snw_inputs *in, const snw_state *s,
                              snw_work *w, double *rate, double *acceleration) {
    static const double first[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280},
                        second[5] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560, -205.0 / 72},
                        angle = 0.02, longest = 5e-3;
    const double fast = snw_linear_rate(m, s);
    if (m->nloop == 0 || !(fast > 0)) return SNW_OK;
    const double h = fmin(angle / fast, longest);
    snw_inputs *other = NULL;
    snw_state *at = NULL;
    double *step = snw_alloc(((size_t)m->nv + 1) * sizeof *step);
    snw_status status = step ? SNW_OK : SNW_E_MEMORY;
    if (status == SNW_OK) status = snw_inputs_create(m, &other);
    if (status == SNW_OK) status = snw_state_create(m, &at);
    if (status == SNW_OK) {
        other->manual = in->manual;
        snw_state_copy(m, s, at);
    }
    for (int k = -4; k <= 4 && status == SNW_OK; k++) {
        const double t = k * h;
        for (int i = 0; i < m->nv; i++) step[i] = t * (s->v[i] + 0.5 * t * s->a[i]);
        snw_move(m, s->q, 1, step, at->q);
        at->t = s->t + t;
        snw_inputs_at(m, at->t, other);
        snw_residual(m, other, at, false, w);
        const double c1 = k < 0 ? -first[-k - 1] : k > 0 ? first[k - 1] : 0;
        const double c2 = k < 0 ? second[-k - 1] : k > 0 ? second[k - 1] : second[4];
        for (int i = 0; i < m->nloop; i++) {
            for (int row = m->loop[i].row; row < m->loop[i].row + m->loop[i].nrow; row++) {
                if (k == -4) rate[row] = acceleration[row] = 0;
                rate[row] += c1 / h * w->violation[row];
                acceleration[row] += c2 / (h * h) * w->violation[row];
            }
        }
    }
    snw_inputs_destroy(other);
    snw_state_destroy(at);
    snw_free(step);
    return status;
}

void snw_linear_view_sample(const snw_linear_view *v, const snw_model *m, const snw_inputs *in,
                            const snw_state *s, snw_vec3 *rotation, snw_work *w, double *column,
                            double *out) {
    snw_residual(m, in, s, false, w);
    snw_observe(m, in, s, false, w);
    memcpy(out, w->r, (size_t)m->nv * sizeof *out);
    memcpy(out + m->nv, w->violation, (size_t)m->nconstraint * sizeof *out);
    snw_rotations_update(m, w, rotation);
    const snw_readings more = {.energy = {.kinetic = snw_kinetic_energy(m, w),
                                          .elastic = snw_stored_energy(m, s, w),
                                          .gravity = snw_gravity_energy(m, in, w)},
                               .stability = NAN,
                               .rotation = rotation};
    for (int i = 0; i < v->noutput; i++) {
        snw_probe_read(m, v->of_output[i].probe, in, s, w, &more, column);
        out[m->nv + m->nconstraint + i] = column[v->of_output[i].column];
    }
    snw_linear_memory_rates(m, in, s, w, out + m->nv + m->nconstraint + v->noutput);
    double *equation = out + own_samples(v);
    const size_t nr = (size_t)m->nconstraint;
    snw_kinematics(m, in, s, false, w);
    double *rates = equation - 2 * nr;
    if (nr > 0) snw_constraints_rates(m, in, s, w, rates, rates + nr);
    if (nr > 0 && loops_along(m, in, s, w, rates, rates + nr) != SNW_OK) rates[0] = NAN;
    const size_t more_numbers = snw_linear_view_samples(v) - own_samples(v);
    for (size_t i = 0; i < more_numbers; i++) equation[i] = 0;
    snw_error none = {0};
    if (v->tangent && snw_step_tangent_equations(v->tangent, m, s->t - v->tangent_time, equation,
                                                 &none) != SNW_OK)
        equation[0] = NAN;
}

snw_status snw_linear_view_differentiate(snw_linear_view *v, int i, double value, double h,
                                         snw_linear_sample_fn *sample, void *user, snw_error *err) {
    static const double weight[2][SAMPLES] = {{3.0 / 4, -3.0 / 20, 1.0 / 60},
                                              {2.0 / 3, -1.0 / 12, 0}};
    const size_t nv = (size_t)v->m->nv, nr = (size_t)v->m->nconstraint;
    const size_t n = snw_linear_view_samples(v);
    double *sum = v->samples, *coarse = sum + n, *at = sum + 2 * n;
    memset(sum, 0, 2 * n * sizeof *sum);
    for (int k = 1; k <= SAMPLES; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            SNW_TRY(sample(user, i, value + sign * k * h, at, err));
            for (size_t j = 0; j < n; j++) {
                sum[j] += sign * weight[0][k - 1] / h * at[j];
                coarse[j] += sign * weight[1][k - 1] / h * at[j];
            }
        }
    }
    const size_t rates = own_samples(v) - 2 * nr; // of the rows, then second ones
    double largest = 0, error = 0;
    for (size_t j = 0; j < 2 * nr; j++) { // rounding counts as none
        const double size = v->m->length + fabs(at[rates + j]);
        if (fabs(sum[rates + j]) * h <= still * size) sum[rates + j] = 0;
    }
    for (size_t j = 0; j < nv; j++) {
        largest = fmax(largest, fabs(sum[j]) / v->m->scale[j]);
        error = fmax(error, fabs(sum[j] - coarse[j]) / v->m->scale[j]);
    }
    if (largest > 0) v->difference = fmax(v->difference, error / largest);
    for (size_t j = 0; j < nr; j++) {
        if (fabs(sum[nv + j]) * h <= still * v->m->length) sum[nv + j] = 0;
    }
    // the memory is that of snw_linear_view_add_parameter
    double *to = (double *)v->of_input[i].force;
    for (size_t j = 0; j < n; j++) {
        const bool rows = j < nv + nr || (j >= rates && j < rates + 2 * nr);
        to[j] = rows ? -sum[j] : sum[j];
    }
    return SNW_OK;
}

// ---- steps --------------------------------------------------------------------------------------

bool snw_linear_has_increments(snw_scheme_kind scheme) {
    const snw_scheme_family family = snw_scheme_table[scheme].family;
    return family == SNW_FAMILY_ALPHA || family == SNW_FAMILY_LEVELS;
}

snw_status snw_linear_view_stepper(const snw_linear_view *v, const snw_model *m,
                                   const snw_manual_inputs *manual, snw_implicit **out,
                                   snw_error *err) {
    const snw_linear_step *step = &v->step;
    if (!snw_linear_has_increments(step->scheme))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "scheme '%s' has no map of its steps%s; use trapezoidal, euler, newmark, "
                        "bdf2, generalized-alpha or one of their families",
                        snw_scheme_table[step->scheme].name,
                        snw_step_tangent_applies(step->scheme)
                            ? " with loops, wheels or materials that relax"
                            : "");
    snw_implicit_opts o = snw_implicit_defaults();
    o.scheme = snw_implicit_scheme(step->scheme, step->rho, step->alpha);
    o.fixed_length = o.undamped_velocities = o.no_account = true;
    o.control = true; // no first step of another kind
    o.tolerance = 1e-11;
    if (snw_implicit_create(m, &o, out) != SNW_OK) return snw_fail_memory(err);
    snw_implicit_set_manual(*out, manual);
    return SNW_OK;
}

snw_status snw_linear_view_do_step(const snw_linear_view *v, snw_implicit *im, snw_error *err) {
    const double h = v->step.h, t = snw_implicit_state(im)->t + h;
    snw_chord_info info;
    if (snw_implicit_step(im, h, t, &info) == SNW_OK) return SNW_OK;
    SNW_TRY(snw_implicit_check(im, t, err));
    return snw_fail(err, SNW_E_DIVERGED,
                    "the step to t = %g s was not solved; use shorter steps or smaller changes of "
                    "the inputs",
                    t);
}

bool snw_linear_view_maps(const snw_linear_view *v, bool moving) {
    return v->tangent && (moving || snw_step_tangent_always(v->step.scheme));
}

snw_status snw_linear_view_step(snw_linear_view *v, const snw_manual_inputs *manual, snw_state *s,
                                snw_error *err) {
    SNW_TRY(snw_step_tangent_do(v->tangent, manual, s, err));
    SNW_TRY(snw_step_tangent_prepare(v->tangent, err));
    const bool rests = snw_step_tangent_rests(v->tangent);
    if (!rests) snw_state_copy(v->m, snw_step_tangent_end(v->tangent), s);
    v->step.d = rests ? NULL : v->increment;
    v->tangent_time = s->t;
    return SNW_OK;
}

// The model of the last snw_linear_view_step. Continuous models in motion are not known everywhere.
static snw_status compute_map(snw_linear_view *v, const snw_inputs *in, const snw_state *s,
                              const snw_vec3 *rotation, snw_work *w, snw_error *err) {
    const bool moves = v->step.d != NULL;
    snw_error none = {0};
    const snw_status found =
        moves && v->m->hard ? SNW_E_MODEL
                            : snw_linear_solve(v->linear, in, s, rotation, w, moves ? &none : err);
    if (found != SNW_OK && !moves) return found;
    v->poles_of = snw_linear_continuous(v->linear, &v->npoles_of);
    if (found != SNW_OK) v->npoles_of = 0;
    if (moves) SNW_TRY(snw_linear_map_outputs(v->linear, in, s, rotation, w, err));
    return snw_linear_map_matrices(v->linear, v->tangent, w, err);
}

snw_status snw_linear_view_compute(snw_linear_view *v, const snw_inputs *in, const snw_state *s,
                                   const snw_vec3 *rotation, bool moving, snw_work *w,
                                   snw_error *err) {
    if (snw_linear_view_maps(v, moving)) {
        SNW_TRY(compute_map(v, in, s, rotation, w, err));
        snw_residual(v->m, in, s, false, w);
        snw_linear_view_publish(v, in, s, moving, w);
        return SNW_OK;
    }
    SNW_TRY(snw_linear_solve(v->linear, in, s, rotation, w, err));
    v->poles_of = snw_linear_continuous(v->linear, &v->npoles_of);
    if (v->discrete && snw_linear_has_increments(v->step.scheme) &&
        snw_linear_needs_all(v->linear)) {
        memcpy(v->continuous, v->poles_of,
               (size_t)v->npoles_of * (size_t)v->npoles_of * sizeof *v->continuous);
        v->poles_of = v->continuous;
        SNW_TRY(snw_linear_solve_step(v->linear, &v->step, in, s, rotation, w, err));
    } else if (v->discrete) {
        SNW_TRY(snw_linear_discretise(v->linear, &v->step, s, err));
    }
    snw_residual(v->m, in, s, false, w);
    snw_linear_view_publish(v, in, s, moving, w);
    return SNW_OK;
}

// ---- poles --------------------------------------------------------------------------------------

// frequency and damping of the root s = re + i im
static void frequency_of(double re, double im, snw_linear_pole *out) {
    const double size = hypot(re, im);
    out->frequency = size / (2 * acos(-1.0));
    out->damping = size > 0 ? -re / size : NAN;
}

// Roots of the scheme <- those left when each root of the robot has taken the one next to exp(s h),
// slow ones first.
static void mark_parasitic(const snw_linear_view *v, int n, const double *re, const double *im) {
    for (int i = 0; i < v->model.nx; i++) v->pole[i].parasitic = 1;
    for (int k = 0; k < n; k++) {
        const double size = exp(re[k] * v->step.h);
        const double x = size * cos(im[k] * v->step.h), y = size * sin(im[k] * v->step.h);
        int best = -1;
        double least = INFINITY;
        for (int i = 0; i < v->model.nx; i++) {
            const double distance = hypot(v->pole[i].re - x, v->pole[i].im - y);
            if (v->pole[i].parasitic && distance < least) least = distance, best = i;
        }
        if (best >= 0) v->pole[best].parasitic = 0;
    }
}

snw_status snw_linear_view_analyse(snw_linear_view *v, snw_error *err) {
    snw_linear_model *x = &v->model;
    const int continuous = v->npoles_of;
    const double *A = v->poles_of;
    const int n = x->nx > continuous ? x->nx : continuous, io = x->nu > x->ny ? x->nu : x->ny;
    snw_arena scratch = {.size = snw_system_scratch(n, io)};
    scratch.base = snw_alloc(scratch.size);
    double *re = snw_alloc(2 * (size_t)(n + 1) * sizeof *re), *im = re + n + 1;
    bool *lost = snw_alloc(2 * (size_t)(n + 1) * sizeof *lost), *unseen = lost + n + 1;
    snw_status s = scratch.base && re && lost ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) {
        s = snw_system_analyse(x->nx, x->A, x->nu, x->B, x->ny, x->C, &scratch, re, im, lost,
                               unseen);
        if (s != SNW_OK) (void)snw_fail(err, s, "the poles of the linear model were not found");
    }
    x->npole = x->ncontrollable = x->nobservable = 0;
    for (int i = 0; s == SNW_OK && i < x->nx; i++) {
        snw_linear_pole *p = &v->pole[i];
        *p = (snw_linear_pole){
            .re = re[i], .im = im[i], .controllable = !lost[i], .observable = !unseen[i]};
        x->ncontrollable += p->controllable;
        x->nobservable += p->observable;
        if (v->discrete) { // log(z)/h
            frequency_of(log(hypot(re[i], im[i])) / v->step.h, atan2(im[i], re[i]) / v->step.h, p);
        } else {
            frequency_of(re[i], im[i], p);
        }
    }
    if (s == SNW_OK && v->discrete && continuous > 0) {
        s = snw_system_analyse(continuous, A, 0, NULL, 0, NULL, &scratch, re, im, lost, unseen);
        if (s == SNW_OK) mark_parasitic(v, continuous, re, im);
    }
    if (s == SNW_OK) {
        x->npole = x->nx;
        x->pole = v->pole;
    }
    snw_free(scratch.base);
    snw_free(re);
    snw_free(lost);
    return s;
}
