// SPDX-License-Identifier: MIT
//
// Gradient of a run: the run with a tape of its maps, then one sweep back, theory.md 7.5. The
// equations of each map are evaluated by models at other values of the parameters; the products
// with the covectors of the map are differentiated by differences of order 6.
#include "robot/gradient_private.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "constraint/projection.h"
#include "math/vector.h"
#include "model/probe_kind.h"
#include "robot/gradient_checkpoint.h"
#include "robot/gradient_event.h"
#include "robot/gradient_jump.h"
#include "robot/gradient_sample.h"
#include "robot/gradient_slope.h"
#include "study/adjoint.h"
#include "study/probe_row.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    SAMPLES = 3,
    VARIANTS = 2 * SAMPLES,
    LINEAR_TRIALS = 20,
    FEW = 4,        // times as many scalars as variables: sensitivities are cheaper
    FAR = 250,      // steps of the far samples
    AT_ONCE = 64,   // parameters in one sweep
    SLOPES = 1000,  // numbers of the file, taken one by one, whose arrays are kept at once
    LEAST_GROUP = 4 // numbers of the file that are moved together
};
static const double weight6[SAMPLES] = {3.0 / 4, -3.0 / 20, 1.0 / 60},
                    weight4[SAMPLES] = {2.0 / 3, -1.0 / 12, 0},
                    parameter_move = 1e-3, // of a parameter in a sample, relative
    fine_part = 1e-2,                      // of that in a fine sample
    resolved = 1e-9,     // difference of orders 4 and 6 where samples suffice, relative
    initial_move = 1e-2, // of an initial coordinate or velocity
    unmoved = 1e-14,     // change of an initial value that counts as none, typical
    straight = 1e-9,     // curvature between the far samples that counts as rounding, relative
    rounding = 1e-14;    // the same, relative to typical forces

// A direction in the space of models: a number of the file, or a law plus c, c (t - t0),
// c (t - t0)^2/2.
typedef struct direction {
    int entry; // -1: of a law
    int law, power;
    double step, t0;
    snw_robot_model *model[VARIANTS]; // at -3, -2, -1, 1, 2, 3 steps; NULL: not needed yet
    snw_robot_model *far[2];          // at -250 and 250 steps, for parameters that enter linearly
    snw_robot_model *fine[VARIANTS];  // at `fine_part` of the steps, where those cross the onset of
                                      // a contact or stop; NULL: not needed yet
    double *by, *coarse;              // nscalar: of one map; with differences of order 4, and
                                      // room for both from fine samples
    int curved;                       // maps whose equations are not linear in the parameter
    double error, size;               // sums of |by - coarse| and |by| over maps and scalars
} direction;

// Memory for samples of the initial state.
typedef struct start_work {
    snw_state *at;
    double *dx, *moved, *p; // nv, 2 nv, nentry
} start_work;

typedef struct sweep {
    snw_gradient *g;
    gradient_checkpoints kept;
    bool partial; // the tape was too long: parts of the run are done again
    bool forward; // sensitivities along the run; else the sweep back
    int tried;    // steps since the last instant
    int last;     // frame at which a repeated part of the run ends; -1: at its end
    const double *p;
    snw_robot_model *model;
    snw_run *run;
    const snw_model *m;
    snw_tape tape;
    snw_adjoint *adjoint;
    snw_sampler sampler;
    int nscalar;          // those of the gradient and, with events, the margin of a condition
    bool events;          // conditions may change
    bool memory, samples; // laws read integrals or samples; samples
    bool sharp;           // contacts, stops or cables set in at some place
    int noutput;
    snw_adjoint_output *output;
    int *output_of;       // nsignal: output that a signal reads; -1: none
    double *signal;       // 2 x nsignal
    double *z_bar;        // nscalar x nsignal: of samples
    double *factor;       // nscalar
    double *y_time;       // noutput
    gradient_event event; // the last one
    double *weight;       // nsum x nframe
    double *by_sum;       // nsum
    double *y_bar;        // nscalar x noutput
    gradient_jumps jumps; // of laws, at p
    int ndirection;
    direction *direction;
    snw_model_arrays *arrays; // NULL: not used
    int nslope;               // numbers of the file that enter these arrays only
    int nlone;                // of them, taken one by one
    gradient_slope *slope;
    bool *has_slope;            // nentry
    bool gathered;              // the derivatives by the arrays are known
    double *value, *centre, *y; // nscalar, nscalar, noutput: of a sample, and at p
    double *dJ;                 // nscalar x nentry
    double error, size;         // largest of all parameters, see note_error
} sweep;

// ---- outputs ------------------------------------------------------------------------------------

// s->output <- columns that the scalars read
static snw_status list_outputs(sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_desc *d = s->model->desc;
    const int ncolumn = g->frames.ncolumn;
    const size_t nsignal = (size_t)s->m->nsignal;
    s->output = snw_alloc(((size_t)ncolumn + nsignal + 1) * sizeof *s->output);
    s->output_of = snw_alloc((nsignal + 1) * sizeof *s->output_of);
    s->signal = snw_alloc((2 * nsignal + 1) * sizeof *s->signal);
    if (!s->output || !s->output_of || !s->signal) return snw_fail_memory(err);
    for (int probe = 0, column = 0; probe < d->nprobe; probe++) {
        const int width = snw_desc_records(d, probe) ? snw_probe_columns(&d->probe[probe]) : 0;
        for (int k = 0; k < width; k++, column++) {
            bool read = false;
            for (int i = 0; i < g->nscalar && column < ncolumn; i++) {
                for (int j = 0; j < g->scalar[i].nsum; j++)
                    read = read || snw_expr_reads(g->scalar[i].sum[j].what, column);
            }
            if (read) s->output[s->noutput++] = (snw_adjoint_output){probe, k, column};
        }
    }
    for (int i = 0; i < s->m->nsignal && (s->events || s->samples); i++) {
        const snw_signal *x = &s->m->signal[i];
        s->output_of[i] = -1;
        if (x->kind != SNW_SIGNAL_PROBE) continue;
        s->output_of[i] = s->noutput;
        s->output[s->noutput++] = (snw_adjoint_output){x->probe, x->column, -1};
    }
    return SNW_OK;
}

static snw_status find_weights(sweep *s, double *J, snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    size_t nsum = 0;
    for (int i = 0; i < g->nscalar; i++) nsum += (size_t)g->scalar[i].nsum;
    s->weight = snw_alloc((nsum * (size_t)f.n + 1) * sizeof *s->weight);
    s->by_sum = snw_alloc((nsum + 1) * sizeof *s->by_sum);
    double *scratch = snw_alloc(((size_t)f.n + 1) * sizeof *scratch);
    snw_status status = s->weight && s->by_sum && scratch ? SNW_OK : snw_fail_memory(err);
    for (int i = 0, at = 0; status == SNW_OK && i < g->nscalar; at += g->scalar[i++].nsum) {
        status = snw_scalar_value(&g->scalar[i], &f, scratch, s->by_sum + at, &J[i], err);
        for (int j = 0; status == SNW_OK && j < g->scalar[i].nsum; j++)
            status = snw_scalar_weights(&g->scalar[i].sum[j], &f,
                                        s->weight + (size_t)(at + j) * (size_t)f.n, err);
        for (int j = 0; status == SNW_OK && j < g->scalar[i].nsum; j++)
            status = snw_scalar_check_extreme(&g->scalar[i].sum[j], &f, err);
    }
    snw_free(scratch);
    return status;
}

// Derivative of scalar i by the time of a frame, outputs fixed.
static double frame_time_bar(const sweep *s, int frame, int i) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    int sum = 0;
    double bar = 0;
    for (int k = 0; k < i; k++) sum += g->scalar[k].nsum;
    for (int j = 0; j < g->scalar[i].nsum; j++, sum++)
        bar += s->by_sum[sum] * snw_scalar_time_slope(&g->scalar[i].sum[j], &f, frame);
    return bar;
}

// y_bar <- derivatives of the scalars by the outputs of a frame; false: all are zero
static bool frame_bars(const sweep *s, int frame) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    const snw_at at = {.t = f.t[frame], .signal = f.y + (size_t)frame * (size_t)f.ncolumn};
    bool any = false;
    memset(s->y_bar, 0, (size_t)s->nscalar * (size_t)s->noutput * sizeof *s->y_bar);
    for (int i = 0, sum = 0; i < g->nscalar; i++) {
        double *bar = s->y_bar + (size_t)i * (size_t)s->noutput;
        for (int j = 0; j < g->scalar[i].nsum; j++, sum++) {
            const double w = s->by_sum[sum] * s->weight[(size_t)sum * (size_t)f.n + (size_t)frame];
            if (w == 0) continue;
            for (int k = 0; k < s->noutput && s->output[k].of_run >= 0; k++)
                bar[k] +=
                    w * snw_expr_jet_signal(g->scalar[i].sum[j].what, at, s->output[k].of_run).d;
        }
        for (int k = 0; k < s->noutput; k++) any = any || bar[k] != 0;
    }
    return any;
}

// ---- directions ---------------------------------------------------------------------------------

static double sample_at(int i) { return i < SAMPLES ? i - SAMPLES : i - SAMPLES + 1; }

static double sample_weight(const double *weight, int i) {
    return i < SAMPLES ? -weight[SAMPLES - 1 - i] : weight[i - SAMPLES];
}

// The variant gets the choice of rows of redundant loops of m; false: it has other sizes.
static bool freeze_rows(const snw_model *m, snw_model *to) {
    snw_model_rows rows;
    if (!snw_model_alike(m, to) || m->nloop != to->nloop) return false;
    if (m->nloop == 0) return true;
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].nrow != to->loop[i].nrow || m->loop[i].row != to->loop[i].row) return false;
    }
    if (snw_model_edit_rows(to, &rows) != SNW_OK) return false;
    for (int i = 0; i < m->nloop; i++)
        memcpy(rows.loop[i].coefficient, m->loop[i].coefficient, sizeof m->loop[i].coefficient);
    return true;
}

// A model that differs from that of p in one number or law.
static snw_status variant(const sweep *s, const direction *d, double by, snw_robot_model **out,
                          snw_error *err) {
    const snw_gradient *g = s->g;
    char *set = NULL;
    size_t room = 256;
    if (d->entry >= 0) {
        const gradient_entry *e = &g->entry[d->entry];
        room += strlen(e->path) + strlen(e->unit);
        set = snw_alloc(room);
        if (!set) return snw_fail_memory(err);
        (void)snprintf(set, room, "%s=%.17g%s%s", e->path, s->p[d->entry] + by,
                       e->unit[0] ? " " : "", e->unit);
    } else {
        const gradient_law *law = &g->law[d->law];
        static const char *const power[] = {"", "*(t/(1 s) - (%.17g))", "*(t/(1 s) - (%.17g))^2/2"};
        char factor[80];
        (void)snprintf(factor, sizeof factor, power[d->power], d->t0);
        char *text = NULL;
        SNW_TRY(gradient_law_text(law, s->p + law->first, by, factor, &text, err));
        set = text;
    }
    const char *const sets[] = {set};
    snw_status status = snw_robot_model_sample(s->model, 1, sets, out, err);
    snw_free(set);
    if (status == SNW_OK && !freeze_rows(s->m, (*out)->compiled))
        status = snw_fail(err, SNW_E_MODEL,
                          "'%s' changes the coordinates or nodes of the robot, so there is no "
                          "derivative",
                          d->entry >= 0 ? g->entry[d->entry].name : g->law[d->law].path);
    return status;
}

// The models of a direction at all samples.
static snw_status open_samples(const sweep *s, direction *d, snw_error *err) {
    for (int i = 0; i < VARIANTS; i++) {
        if (!d->model[i]) SNW_TRY(variant(s, d, sample_at(i) * d->step, &d->model[i], err));
    }
    return SNW_OK;
}

static snw_status open_fine(const sweep *s, direction *d, snw_error *err) {
    for (int i = 0; i < VARIANTS; i++) {
        if (!d->fine[i])
            SNW_TRY(variant(s, d, fine_part * sample_at(i) * d->step, &d->fine[i], err));
    }
    return SNW_OK;
}

// by (n) <- those of two estimates, from samples and from fine ones, with the smaller difference
// between orders 6 and 4. coarse and fine_coarse are those of order 4.
static void choose_estimates(int n, double *by, double *coarse, const double *fine,
                             const double *fine_coarse) {
    for (int i = 0; i < n; i++) {
        if (!(fabs(fine[i] - fine_coarse[i]) < fabs(by[i] - coarse[i]))) continue;
        by[i] = fine[i];
        coarse[i] = fine_coarse[i];
    }
}

// Do differences of orders 6 and 4 agree? Those of n functions that are not smooth do not.
static bool is_resolved(int n, const double *by, const double *coarse) {
    double most = 0, error = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(by[i]));
        error = fmax(error, fabs(by[i] - coarse[i]));
    }
    return error <= resolved * most;
}

// The far models, unless the parameter cannot have these values.
static void open_far(const sweep *s, direction *d) {
    snw_error none = {0};
    for (int k = 0; k < 2; k++) {
        if (variant(s, d, (k ? FAR : -FAR) * d->step, &d->far[k], &none) != SNW_OK)
            d->curved = LINEAR_TRIALS + 1;
    }
}

static snw_status open_direction(sweep *s, direction *d, snw_error *err) {
    if (s->forward) {
        SNW_TRY(open_samples(s, d, err));
    } else {
        open_far(s, d);
    }
    const size_t n = (size_t)s->nscalar;
    d->by = snw_alloc(4 * n * sizeof *d->by);
    if (!d->by) return snw_fail_memory(err);
    d->coarse = d->by + n;
    return SNW_OK;
}

// Do rates of the law act? At t0, where its value is unchanged, some input differs then.
static snw_status rates_act(sweep *s, direction *d, bool *out, snw_error *err) {
    snw_inputs *in = s->sampler.in;
    snw_robot_model *other = NULL;
    SNW_TRY(variant(s, d, d->step, &other, err));
    const size_t n = snw_inputs_doubles(s->m);
    double *kept = snw_alloc((n + 1) * sizeof *kept);
    if (kept) {
        snw_inputs_at(s->m, d->t0, in);
        memcpy(kept, in->block, n * sizeof *kept);
        snw_inputs_at(other->compiled, d->t0, in);
        *out = memcmp(kept, in->block, n * sizeof *kept) != 0;
    }
    snw_free(kept);
    snw_robot_model_close(other);
    return kept ? SNW_OK : snw_fail_memory(err);
}

// A law: its value and, where they act, its rates.
static snw_status open_law(sweep *s, int i, snw_error *err) {
    const gradient_law *law = &s->g->law[i];
    double most = 0;
    for (int k = 0; k < law->n; k++) most = fmax(most, fabs(s->p[law->first + k]));
    bool act = true;
    for (int power = 0; power < 3 && act; power++) {
        direction d = {.entry = -1,
                       .law = i,
                       .power = power,
                       .step = parameter_move * (most > 0 ? most : 1),
                       .t0 = law->knot[0] + 0.37 * (law->knot[law->n - 1] - law->knot[0])};
        if (power == 1) SNW_TRY(rates_act(s, &d, &act, err));
        if (!act) break;
        s->direction[s->ndirection] = d;
        SNW_TRY(open_direction(s, &s->direction[s->ndirection++], err));
    }
    return SNW_OK;
}

static void close_direction(direction *d) {
    for (int i = 0; i < VARIANTS; i++) snw_robot_model_close(d->model[i]);
    for (int i = 0; i < VARIANTS; i++) snw_robot_model_close(d->fine[i]);
    for (int i = 0; i < 2; i++) snw_robot_model_close(d->far[i]);
    snw_free(d->by);
}

// q, v <- initial state of model m at p, closed, with velocities that the rows allow.
static snw_status closed_start(const sweep *s, const double *p, const snw_model *m, snw_state *to,
                               snw_error *err) {
    gradient_initial(s->g, p, m, to->q, to->v);
    to->t = 0;
    if (m->nconstraint == 0) return SNW_OK;
    snw_projection *pr = NULL;
    snw_inputs *in = NULL;
    snw_projection_info info;
    snw_status status = snw_projection_create(m, &pr);
    if (status == SNW_OK) status = snw_inputs_create(m, &in);
    if (status == SNW_OK) {
        snw_inputs_at(m, snw_time_resolution(0), in);
        status = snw_projection_close(pr, in, to, &info, err);
    }
    if (status == SNW_OK) status = snw_projection_velocities(pr, in, to, err);
    snw_inputs_destroy(in);
    snw_projection_destroy(pr);
    return status;
}

// Does model m begin in the same state as that of the run? Its rows and initial values are the same
// here, yet loops may be closed with regard to masses.
static snw_status same_start(const sweep *s, const snw_model *m, bool *out, snw_error *err) {
    *out = true;
    if (m->nconstraint == 0) return SNW_OK;
    const size_t nv = (size_t)m->nv;
    snw_state *at[2] = {NULL};
    double *d = snw_alloc((nv + 1) * sizeof *d);
    snw_status status =
        d && snw_state_create(m, &at[0]) == SNW_OK && snw_state_create(m, &at[1]) == SNW_OK
            ? SNW_OK
            : snw_fail_memory(err);
    if (status == SNW_OK) status = closed_start(s, s->p, s->m, at[0], err);
    if (status == SNW_OK) status = closed_start(s, s->p, m, at[1], err);
    if (status == SNW_OK) {
        snw_difference(m, at[0]->q, at[1]->q, d);
        for (size_t i = 0; i < nv; i++) {
            const double moved = fabs(d[i]) + fabs(at[1]->v[i] - at[0]->v[i]);
            *out = *out && moved <= unmoved * s->m->typical[i];
        }
    }
    snw_state_destroy(at[0]);
    snw_state_destroy(at[1]);
    snw_free(d);
    return status;
}

// Do the equations of model m differ from those of the run in the arrays only?
static snw_status arrays_only(const sweep *s, const snw_model *m, bool *out, snw_error *err) {
    double moved = NAN;
    *out = snw_model_arrays_only(s->arrays, m);
    if (*out) SNW_TRY(gradient_jumps_moved(&s->jumps, m->desc, &moved, err));
    *out = *out && isnan(moved);
    return *out ? same_start(s, m, out, err) : SNW_OK;
}

// A number of the file that moves the jumps of laws has no derivative.
static snw_status check_jumps(const sweep *s, direction *d, snw_error *err) {
    double moved;
    if (s->jumps.n == 0 || d->entry < 0) return SNW_OK;
    if (!d->far[1]) SNW_TRY(open_samples(s, d, err));
    const snw_robot_model *other = d->far[1] ? d->far[1] : d->model[VARIANTS - 1];
    SNW_TRY(gradient_jumps_moved(&s->jumps, other->desc, &moved, err));
    if (isnan(moved)) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "there is no derivative by '%s': it moves the time t = %g s at which a law "
                    "jumps; let a condition of a probe switch instead, or use differences",
                    s->g->entry[d->entry].name, moved);
}

// *enough <- the number of the file enters the arrays of the model only; its slope is kept then.
static snw_status find_slope(sweep *s, direction *d, bool *enough, snw_error *err) {
    gradient_sample sample[VARIANTS];
    bool only = true, linear = d->far[0] && d->far[1] && s->p[d->entry] != 0;
    for (int k = 0; k < 2 && only; k++) {
        if (d->far[k]) SNW_TRY(arrays_only(s, d->far[k]->compiled, &only, err));
    }
    if (!only) return SNW_OK;
    if (linear && gradient_slope_straight(s->arrays, d->far[0]->compiled, s->m, d->far[1]->compiled,
                                          &linear) != SNW_OK)
        return snw_fail_memory(err);
    for (int k = 0; k < 2 && linear; k++) {
        const double weight = (k ? 1 : -1) / (2 * FAR * d->step);
        sample[k] = (gradient_sample){d->far[k]->compiled, weight, weight};
    }
    if (!linear) SNW_TRY(open_samples(s, d, err));
    for (int i = 0; i < VARIANTS && !linear && only; i++) {
        sample[i] = (gradient_sample){d->model[i]->compiled, sample_weight(weight6, i) / d->step,
                                      sample_weight(weight4, i) / d->step};
        SNW_TRY(arrays_only(s, sample[i].m, &only, err));
    }
    if (!only) return SNW_OK;
    gradient_slope *to = &s->slope[s->nslope++];
    *to = (gradient_slope){.entry = d->entry};
    s->nlone++;
    *enough = true;
    return gradient_slope_find(s->arrays, linear ? 2 : VARIANTS, sample, to) == SNW_OK
               ? SNW_OK
               : snw_fail_memory(err);
}

// The arrays of the model at p moved; *ok <- false: it differs from that of the run in more.
static snw_status read_moved(const sweep *s, const double *p, double *x, bool *ok, snw_error *err) {
    snw_robot_model *model = NULL;
    snw_error none = {0};
    snw_status status = SNW_OK;
    *ok = gradient_model_at(s->g, p, &model, &none) == SNW_OK && freeze_rows(s->m, model->compiled);
    if (*ok) status = arrays_only(s, model->compiled, ok, err);
    if (status == SNW_OK && *ok) snw_model_arrays_read(s->arrays, model->compiled, x);
    snw_robot_model_close(model);
    return status;
}

// Memory for numbers that are moved together.
typedef struct group_work {
    double *p, *move, *fraction; // nentry, n, 2 n
    double *x, *slope, *scale;   // vectors of the arrays: at p, of the bits, two; 1; 1
    int *owner;
} group_work;

// x <- vectors of the arrays for gradient_group_decode
static snw_status read_group(const sweep *s, int n, const int *entry, int bits, group_work *w,
                             bool *ok, snw_error *err) {
    const size_t size = snw_model_arrays_size(s->arrays);
    snw_model_arrays_read(s->arrays, s->m, w->x);
    for (int k = 0; k < n; k++) { // any two sequences without a pattern
        w->move[k] = FAR * parameter_move * fabs(s->p[entry[k]]);
        w->fraction[k] = -1 + 0.6 * fmod(0.6180339887498949 * (k + 1), 1);
        w->fraction[n + k] = 1 - 0.7 * fmod(0.4142135623730951 * (k + 1), 1);
    }
    *ok = true;
    for (int b = 0; b < bits + 2 && *ok; b++) {
        memcpy(w->p, s->p, (size_t)s->g->nentry * sizeof *w->p);
        for (int k = 0; k < n; k++) {
            const double part = b < bits ? ((k + 1) >> b) & 1 : w->fraction[(b - bits) * n + k];
            w->p[entry[k]] += part * w->move[k];
        }
        SNW_TRY(read_moved(s, w->p, w->x + (size_t)(b + 1) * size, ok, err));
        if (b == 1 && *ok) *ok = gradient_group_apart(s->arrays, w->x);
    }
    return SNW_OK;
}

// The same n numbers with vectors of one kind; *ok <- false: they are not independent there.
static snw_status try_group(sweep *s, bool sections, int n, const int *entry, group_work *w,
                            bool *ok, snw_error *err) {
    int bits = 0;
    while (n >> bits) bits++;
    snw_model_arrays_by_sections(s->arrays, sections);
    SNW_TRY(read_group(s, n, entry, bits, w, ok, err));
    if (*ok)
        gradient_group_decode(s->arrays, n, w->move, bits, w->x, w->fraction, w->owner, w->slope,
                              w->scale, ok);
    for (int k = 0; k < n && *ok; k++) {
        gradient_slope *to = &s->slope[s->nslope++];
        *to = (gradient_slope){.entry = entry[k], .sections = sections};
        s->has_slope[entry[k]] = true;
        if (gradient_group_slope(s->arrays, k, w->owner, w->slope, to) != SNW_OK)
            return snw_fail_memory(err);
    }
    return SNW_OK;
}

// Slopes of n numbers of the file that are moved together, theory.md 7.5; where they are not
// independent, not even in the laws of sections, of each half of them.
static snw_status group_slopes(sweep *s, int n, const int *entry, group_work *w, snw_error *err) {
    bool ok = false;
    if (n < LEAST_GROUP) return SNW_OK;
    snw_status status = try_group(s, false, n, entry, w, &ok, err);
    if (status == SNW_OK && !ok) status = try_group(s, true, n, entry, w, &ok, err);
    snw_model_arrays_by_sections(s->arrays, false);
    if (status != SNW_OK || ok) return status;
    SNW_TRY(group_slopes(s, n / 2, entry, w, err));
    return group_slopes(s, n - n / 2, entry + n / 2, w, err);
}

static snw_status find_slopes(sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    snw_model_arrays_by_sections(s->arrays, true); // the longer vector
    const size_t ne = (size_t)g->nentry, size = snw_model_arrays_size(s->arrays);
    snw_model_arrays_by_sections(s->arrays, false);
    int n = 0, bits = 0;
    while (g->nentry >> bits) bits++;
    const size_t vectors = (size_t)bits + 5;
    group_work w = {.p = snw_alloc((4 * ne + vectors * size + 1) * sizeof *w.p),
                    .owner = snw_alloc((size + 1) * sizeof *w.owner)};
    int *entry = snw_alloc((ne + 1) * sizeof *entry);
    snw_status status = w.p && w.owner && entry ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK) {
        w.move = w.p + ne, w.fraction = w.move + ne;
        w.slope = w.fraction + 2 * ne, w.scale = w.slope + size, w.x = w.scale + size;
        for (int k = 0; k < g->nentry; k++) {
            if (g->entry[k].kind == GRADIENT_NUMBER && s->p[k] != 0) entry[n++] = k;
        }
        status = group_slopes(s, n, entry, &w, err);
    }
    snw_free(w.p);
    snw_free(w.owner);
    snw_free(entry);
    return status;
}

// Error of derivatives by a parameter p and their size, both times p: with the units of the scalars
// they are compared with those of other parameters.
static void note_error(sweep *s, double p, double error, double size) {
    const double scale = p != 0 ? fabs(p) : 1;
    s->error = fmax(s->error, scale * error);
    s->size = fmax(s->size, scale * size);
}

// dJ += the products of the slopes with the derivatives by the arrays
static void add_slopes(sweep *s) {
    const snw_gradient *g = s->g;
    for (int j = 0; j < g->nscalar; j++) {
        const double *by_section = NULL;
        for (int k = 0; k < s->nslope; k++) {
            const gradient_slope *slope = &s->slope[k];
            if (slope->sections && !by_section)
                by_section = snw_model_arrays_section_bars(s->arrays, j);
            double coarse, terms;
            const double *bars = slope->sections ? by_section : snw_model_arrays_bars(s->arrays, j);
            const double by = gradient_slope_product(slope, bars, &coarse, &terms);
            s->dJ[(size_t)j * (size_t)g->nentry + (size_t)slope->entry] += by;
            note_error(s, s->p[slope->entry], fabs(by - coarse), terms);
        }
    }
    s->g->info.gathered += s->nslope;
}

// The laws (with the first numbers), and as many numbers of the file from *entry on as are done at
// once.
static snw_status open_directions(sweep *s, int *entry, snw_error *err) {
    snw_gradient *g = s->g;
    if (!s->direction)
        s->direction =
            snw_alloc(((size_t)g->nentry + 3 * (size_t)g->nlaw + 1) * sizeof *s->direction);
    if (!s->direction) return snw_fail_memory(err);
    for (int i = 0; *entry == 0 && i < g->nlaw; i++) SNW_TRY(open_law(s, i, err));
    if (s->arrays && *entry == 0) SNW_TRY(find_slopes(s, err));
    for (; *entry < g->nentry && (s->forward || (s->ndirection < AT_ONCE && s->nlone < SLOPES));
         ++*entry) {
        const int k = *entry;
        if (g->entry[k].kind != GRADIENT_NUMBER || (s->arrays && s->has_slope[k])) continue;
        direction *d = &s->direction[s->ndirection++];
        *d = (direction){.entry = k, .step = parameter_move * (s->p[k] != 0 ? fabs(s->p[k]) : 1)};
        SNW_TRY(open_direction(s, d, err));
        bool enough = false;
        if (s->arrays) SNW_TRY(find_slope(s, d, &enough, err));
        g->entry[k].sampled = !enough && !s->forward;
        if (enough) {
            close_direction(&s->direction[--s->ndirection]);
        } else {
            SNW_TRY(check_jumps(s, d, err));
        }
    }
    return SNW_OK;
}

static void close_directions(sweep *s) {
    for (int k = 0; k < s->ndirection; k++) close_direction(&s->direction[k]);
    for (int k = 0; k < s->nslope; k++) gradient_slope_close(&s->slope[k]);
    s->ndirection = s->nslope = s->nlone = 0;
}

// ---- the sweep ----------------------------------------------------------------------------------

// Number of directions of the law whose first one is `first`.
static int directions_of_law(const sweep *s, int first) {
    const direction *d = &s->direction[first];
    int used = 1;
    while (first + used < s->ndirection && d[used].entry < 0 && d[used].law == d->law) used++;
    return used;
}

// dJ of the entries += the derivatives d->by along a direction and, of a law, along those of its
// rates, which follow it, at time t. Returns the number of directions used.
static int add_direction(sweep *s, direction *d, double t) {
    const snw_gradient *g = s->g;
    const size_t n = (size_t)g->nentry;
    if (d->entry >= 0) {
        for (int j = 0; j < s->nscalar; j++) s->dJ[(size_t)j * n + (size_t)d->entry] += d->by[j];
        return 1;
    }
    const gradient_law *law = &g->law[d->law];
    const int used = directions_of_law(s, (int)(d - s->direction));
    const double u = t - d->t0;
    for (int j = 0; j < s->nscalar; j++) { // c (t - t0) moves value and rate, ..
        const double by_value = d[0].by[j];
        const double by_rate = used > 1 ? d[1].by[j] - u * by_value : 0;
        const double by_acc = used > 2 ? d[2].by[j] - u * by_rate - 0.5 * u * u * by_value : 0;
        if (by_value == 0 && by_rate == 0 && by_acc == 0) continue;
        for (int k = 0; k < law->n; k++) {
            double f[3];
            gradient_knot(law, k, t, f);
            s->dJ[(size_t)j * n + (size_t)(law->first + k)] +=
                by_value * f[0] + by_rate * f[1] + by_acc * f[2];
        }
    }
    return used;
}

// signal (nsignal) <- those of conditions at a state, from the outputs y there.
static void signals_of(const sweep *s, const snw_map *map, const double *y, double *signal) {
    for (int i = 0; i < s->m->nsignal; i++)
        signal[i] = s->output_of[i] >= 0 ? y[s->output_of[i]] : map->s.z[i];
}

// Margin of the present event by a model at the state of its map.
static double event_margin_of(sweep *s, const snw_model *m, const snw_map *map) {
    s->sampler.m = m;
    double *signal = s->signal + s->m->nsignal;
    snw_sampler_frame(&s->sampler, s->adjoint, map, s->y);
    signals_of(s, map, s->y, signal);
    return gradient_event_margin(m, &s->event, signal);
}

// Signals with the samples of a map, by a model at its state.
static const double *samples_of(sweep *s, const snw_model *m, const snw_map *map) {
    s->sampler.m = m;
    snw_sampler_frame(&s->sampler, s->adjoint, map, s->y);
    signals_of(s, map, s->y, s->signal);
    gradient_sample_take(m, map, s->signal);
    return s->signal;
}

// s->y_time <- derivatives of the outputs at a state by time
static void outputs_by_time(sweep *s, const snw_map *map) {
    const double step = snw_adjoint_time_step(s->adjoint);
    memset(s->y_time, 0, (size_t)s->noutput * sizeof *s->y_time);
    s->sampler.m = s->m;
    for (int i = 0; i < VARIANTS; i++) {
        s->sampler.shift = sample_at(i) * step;
        snw_sampler_frame(&s->sampler, s->adjoint, map, s->y);
        for (int k = 0; k < s->noutput; k++)
            s->y_time[k] += sample_weight(weight6, i) / step * s->y[k];
    }
    s->sampler.shift = 0;
}

// The step of the tape that ends at event i.
static snw_map *step_of_event(const sweep *s, int i) {
    snw_map *step = &s->tape.map[i];
    while (step->kind != SNW_MAP_STEP && step->kind != SNW_MAP_STAGES) step--;
    return step;
}

// s->event <- the comparison that changes at event i of the tape; s->signal <- signals there
static snw_status find_event(sweep *s, int i, snw_error *err) {
    const snw_map *map = &s->tape.map[i], *before = step_of_event(s, i) - 1;
    double *signal = s->signal + s->m->nsignal;
    s->sampler.m = s->m;
    snw_sampler_frame(&s->sampler, s->adjoint, before, s->y);
    signals_of(s, before, s->y, signal);
    snw_sampler_frame(&s->sampler, s->adjoint, map, s->y);
    signals_of(s, map, s->y, s->signal);
    return gradient_event_find(s->m, map, before->s.t, signal, s->signal, &s->event, err);
}

// Steps that end at an event whose time is given have their length.
static snw_status find_given_events(sweep *s, snw_error *err) {
    for (int i = 0; i < s->tape.n; i++) {
        if (s->tape.map[i].kind != SNW_MAP_EVENT) continue;
        SNW_TRY(find_event(s, i, err));
        if (s->event.given) step_of_event(s, i)->end = SNW_END_LENGTH;
    }
    return SNW_OK;
}

// y_bar of the last scalar <- derivatives of the margin of s->event by the outputs; *by_time <-
// that by time
static void event_bars(sweep *s, const snw_map *map, double *by_time) {
    double *bar = s->y_bar + (size_t)(s->nscalar - 1) * (size_t)s->noutput;
    memset(s->y_bar, 0, (size_t)s->nscalar * (size_t)s->noutput * sizeof *s->y_bar);
    *by_time = gradient_event_slope(s->m, &s->event, s->signal, -1);
    for (int k = 0; k < s->m->nsignal; k++) {
        if (s->output_of[k] >= 0)
            bar[s->output_of[k]] = gradient_event_slope(s->m, &s->event, s->signal, k);
    }
    outputs_by_time(s, map);
    for (int k = 0; k < s->noutput; k++) *by_time += bar[k] * s->y_time[k];
}

// Derivative of the margin of s->event by signal k, memory of a law.
static double margin_by_memory(const sweep *s, int k) {
    const snw_signal_kind kind = s->m->signal[k].kind;
    if (kind != SNW_SIGNAL_INTEGRAL && kind != SNW_SIGNAL_SAMPLED) return 0;
    return gradient_event_slope(s->m, &s->event, s->signal, k);
}

// s->value <- derivative-free products of a model with what is differentiated at a map: minus its
// equations times the covectors; of a frame, or a step that a frame shows, outputs times y_bar.
static void evaluate_products(sweep *s, const snw_model *m, const snw_map *map, bool frame) {
    const int nscalar = s->nscalar;
    const bool is_frame = map->kind == SNW_MAP_FRAME;
    s->sampler.m = m;
    for (int j = 0; j < nscalar; j++) s->value[j] = 0;
    if (map->kind == SNW_MAP_EVENT) {
        s->value[nscalar - 1] = event_margin_of(s, m, map);
        return;
    }
    if (map->kind == SNW_MAP_SAMPLE) {
        const double *z = samples_of(s, m, map);
        for (int j = 0; j < nscalar; j++)
            s->value[j] = snw_vector_dot(m->nsignal, s->z_bar + (size_t)j * (size_t)m->nsignal, z);
        return;
    }
    if (!is_frame) {
        snw_sampler_map(&s->sampler, s->adjoint, map, s->value);
        for (int j = 0; j < nscalar; j++) s->value[j] = -s->value[j];
    }
    if (!frame) return;
    s->sampler.known = !is_frame;
    snw_sampler_frame(&s->sampler, s->adjoint, map, s->y);
    s->sampler.known = false;
    for (int j = 0; j < nscalar; j++) {
        for (int o = 0; o < s->noutput; o++)
            s->value[j] += s->y_bar[(size_t)j * (size_t)s->noutput + (size_t)o] * s->y[o];
    }
}

// d->by <- derivative along a direction, from the far samples alone where the products are linear
// between them: their mean is s->centre.
static bool try_linear(sweep *s, direction *d, const snw_map *map, bool frame) {
    const int nscalar = s->nscalar;
    if (d->curved > LINEAR_TRIALS || (d->entry >= 0 && s->p[d->entry] == 0)) return false;
    for (int k = 0; k < 2; k++) {
        evaluate_products(s, d->far[k]->compiled, map, frame);
        memcpy(k ? d->coarse : d->by, s->value, (size_t)nscalar * sizeof *s->value);
    }
    for (int j = 0; j < nscalar; j++) {
        const double low = d->by[j] - s->centre[j], high = d->coarse[j] - s->centre[j];
        const double noise = rounding * snw_adjoint_magnitude(s->adjoint, map, j);
        if (fabs(low + high) <= straight * (fabs(low) + fabs(high)) + noise) continue;
        d->curved++;
        return false;
    }
    for (int j = 0; j < nscalar; j++)
        d->by[j] = d->coarse[j] = (d->coarse[j] - d->by[j]) / (2 * FAR * d->step);
    return true;
}

// by, coarse (nscalar) <- differences of orders 6 and 4 of the products of models
static void difference_products(sweep *s, snw_robot_model *const *model, double step,
                                const snw_map *map, bool frame, double *by, double *coarse) {
    for (int j = 0; j < s->nscalar; j++) by[j] = coarse[j] = 0;
    for (int i = 0; i < VARIANTS; i++) {
        evaluate_products(s, model[i]->compiled, map, frame);
        for (int j = 0; j < s->nscalar; j++) {
            by[j] += sample_weight(weight6, i) / step * s->value[j];
            coarse[j] += sample_weight(weight4, i) / step * s->value[j];
        }
    }
}

static snw_status differentiate(sweep *s, direction *d, const snw_map *map, bool frame,
                                snw_error *err) {
    if (try_linear(s, d, map, frame)) return SNW_OK;
    SNW_TRY(open_samples(s, d, err));
    difference_products(s, d->model, d->step, map, frame, d->by, d->coarse);
    if (!s->sharp || is_resolved(s->nscalar, d->by, d->coarse)) return SNW_OK;
    double *fine = d->coarse + s->nscalar;
    SNW_TRY(open_fine(s, d, err));
    difference_products(s, d->fine, fine_part * d->step, map, frame, fine, fine + s->nscalar);
    choose_estimates(s->nscalar, d->by, d->coarse, fine, fine + s->nscalar);
    return SNW_OK;
}

// dJ += the derivatives by parameters and laws, which are read at time t, of the equations of a map
// that the sampler takes, and of the frame that shows it.
static snw_status contract_at(sweep *s, const snw_map *map, double t, bool frame, snw_error *err) {
    evaluate_products(s, s->m, map, frame);
    memcpy(s->centre, s->value, (size_t)s->nscalar * sizeof *s->value);
    for (int k = 0; k < s->ndirection; k++) {
        direction *d = &s->direction[k];
        SNW_TRY(differentiate(s, d, map, frame, err));
        for (int j = 0; j < s->nscalar; j++) {
            d->error += fabs(d->by[j] - d->coarse[j]);
            d->size += fabs(d->by[j]);
        }
    }
    for (int k = 0; k < s->ndirection;) k += add_direction(s, &s->direction[k], t);
    return SNW_OK;
}

// The same for all equations of a map; each stage of collocation reads the laws at its own time.
static snw_status contract(sweep *s, const snw_map *map, bool frame, snw_error *err) {
    if (s->ndirection == 0) return SNW_OK;
    if (map->kind != SNW_MAP_STAGES || s->g->nlaw == 0)
        return contract_at(s, map, map->t_laws, frame, err);
    snw_status status = SNW_OK;
    for (int i = 0; status == SNW_OK && i < map->points.s; i++) {
        s->sampler.stage = i + 1;
        status = contract_at(s, map, snw_map_stage_time(map, i), false, err);
    }
    s->sampler.stage = 0;
    return status;
}

// Is the frame `i` of the tape that of a step before it, so that both can be evaluated at once?
static bool shows_step(const sweep *s, int i) {
    const snw_map *map = &s->tape.map[i];
    return i > 0 && map[-1].kind == SNW_MAP_STEP && map[-1].t_laws == map->t_laws &&
           s->m->ndrive == 0 && !s->memory;
}

static snw_status frame_back(sweep *s, int i, bool *pending, snw_error *err) {
    const snw_map *map = &s->tape.map[i];
    const snw_scalar_frames f = gradient_frames_of(s->g);
    const bool any = frame_bars(s, map->frame);
    if (map->time_moves) {
        outputs_by_time(s, map);
        for (int k = 0; k < s->g->nscalar; k++) {
            double *t = &snw_adjoint_bars(s->adjoint, k)->time[SNW_TIME_NOW];
            *t += frame_time_bar(s, map->frame, k);
            for (int o = 0; o < s->noutput; o++)
                *t += s->y_bar[(size_t)k * (size_t)s->noutput + (size_t)o] * s->y_time[o];
        }
    }
    if (!any) return SNW_OK;
    SNW_TRY(snw_adjoint_frame(s->adjoint, map, s->y_bar,
                              f.y + (size_t)map->frame * (size_t)f.ncolumn, err));
    if (s->arrays && !s->gathered) snw_model_arrays_frame(s->arrays, s->adjoint, map, s->y_bar);
    *pending = shows_step(s, i);
    return *pending ? SNW_OK : contract(s, map, true, err);
}

static snw_status event_back(sweep *s, int i, snw_error *err) {
    const snw_map *map = &s->tape.map[i];
    double by_time;
    if (step_of_event(s, i)->end != SNW_END_EVENT) return SNW_OK;
    SNW_TRY(find_event(s, i, err));
    event_bars(s, map, &by_time);
    SNW_TRY(snw_adjoint_frame(s->adjoint, map, s->y_bar, NULL, err));
    snw_bars *margin = snw_adjoint_bars(s->adjoint, s->nscalar - 1);
    margin->time[SNW_TIME_NOW] += by_time;
    for (int k = 0; k < s->m->nsignal; k++) margin->z[k] += margin_by_memory(s, k);
    return contract(s, map, false, err);
}

static snw_status samples_back(sweep *s, const snw_map *map, snw_error *err) {
    const size_t nz = (size_t)s->m->nsignal, ny = (size_t)s->noutput;
    SNW_TRY(gradient_sample_check(map, err));
    memset(s->y_bar, 0, (size_t)s->nscalar * ny * sizeof *s->y_bar);
    const double *signal = samples_of(s, s->m, map);
    for (size_t j = 0; j < (size_t)s->nscalar; j++) {
        double *z = snw_adjoint_bars(s->adjoint, (int)j)->z, *own = s->z_bar + j * nz;
        for (size_t i = 0; i < nz; i++) own[i] = map->taken[i] != 0 ? z[i] : 0;
        gradient_sample_back(s->m, map, signal, s->output_of, z, s->y_bar + j * ny);
    }
    SNW_TRY(snw_adjoint_frame(s->adjoint, map, s->y_bar, NULL, err));
    return contract(s, map, false, err);
}

// The length of the step of an event follows from its margin.
static snw_status free_length(sweep *s, const snw_map *map, snw_error *err) {
    const size_t n = (size_t)s->g->nentry, last = (size_t)s->nscalar - 1;
    const double slope = snw_adjoint_free_length(s->adjoint, s->factor);
    double *margin = s->dJ + last * n;
    SNW_TRY(gradient_event_crosses(&s->event, slope, map->h, err));
    for (size_t j = 0; j < last; j++) {
        for (size_t k = 0; k < n; k++) s->dJ[j * n + k] += s->factor[j] * margin[k];
    }
    memset(margin, 0, n * sizeof *margin);
    return SNW_OK;
}

static snw_status sweep_back(sweep *s, snw_error *err) {
    bool pending = false; // the products of the frame are to be taken with those of its step
    SNW_TRY(find_given_events(s, err));
    snw_tape_find_times(&s->tape, s->partial && s->events);
    for (int i = s->tape.n - 1; i >= 0; i--) {
        const snw_map *map = &s->tape.map[i];
        if (map->kind == SNW_MAP_FRAME) {
            SNW_TRY(frame_back(s, i, &pending, err));
            continue;
        }
        if (map->kind == SNW_MAP_EVENT) {
            SNW_TRY(event_back(s, i, err));
            continue;
        }
        if (map->kind == SNW_MAP_SAMPLE) {
            SNW_TRY(samples_back(s, map, err));
            continue;
        }
        if (map->begins) snw_adjoint_begin(s->adjoint);
        if (snw_adjoint_idle(s->adjoint, map)) continue;
        SNW_TRY(snw_adjoint_back(s->adjoint, map, err));
        if (s->arrays && !s->gathered) snw_model_arrays_add(s->arrays, s->adjoint, map);
        SNW_TRY(contract(s, map, pending, err));
        pending = false;
        if (map->end == SNW_END_EVENT) SNW_TRY(free_length(s, map, err));
    }
    return SNW_OK;
}

// ---- the initial state --------------------------------------------------------------------------

// out (2 nv) += c times the initial configuration, from that of the run, and velocities of a model
// at p with another value of `entry` (-1: the same)
static snw_status add_start(const sweep *s, const snw_model *m, int entry, double value, double c,
                            start_work *w, double *out, snw_error *err) {
    const int nv = s->m->nv;
    if (entry >= 0) w->p[entry] = value;
    SNW_TRY(closed_start(s, w->p, m, w->at, err));
    if (entry >= 0) w->p[entry] = s->p[entry];
    snw_difference(s->m, s->tape.map[0].s.q, w->at->q, w->dx);
    for (int k = 0; k < nv; k++) {
        out[k] += c * w->dx[k];
        out[nv + k] += c * (w->at->v[k] - s->tape.map[0].s.v[k]);
    }
    return SNW_OK;
}

// out (2 nv) <- derivative of the initial configuration and velocities along a direction (NULL:
// of entry `entry` of p)
static snw_status start_samples(const sweep *s, direction *d, int entry, start_work *w, double *out,
                                snw_error *err) {
    const size_t nv = (size_t)s->m->nv;
    const double step = d ? d->step : initial_move, centre = entry >= 0 ? s->p[entry] : 0;
    bool moves = !d || !d->far[0] || !d->far[1];
    for (int k = 0; k < 2 && !moves; k++) { // does it move at all?
        memset(out, 0, 2 * nv * sizeof *out);
        SNW_TRY(add_start(s, d->far[k]->compiled, entry, centre + (k ? FAR : -FAR) * step, 1, w,
                          out, err));
        for (size_t j = 0; j < nv; j++)
            moves = moves || fabs(out[j]) + fabs(out[nv + j]) > unmoved * s->m->typical[j];
    }
    memset(out, 0, 2 * nv * sizeof *out);
    if (!moves) return SNW_OK;
    if (d) SNW_TRY(open_samples(s, d, err));
    for (int i = 0; i < VARIANTS; i++)
        SNW_TRY(add_start(s, d ? d->model[i]->compiled : s->m, entry, centre + sample_at(i) * step,
                          sample_weight(weight6, i) / step, w, out, err));
    return SNW_OK;
}

// by (nscalar) <- bars of the initial state times its derivative
static snw_status start_along(sweep *s, direction *d, int entry, start_work *w, double *by,
                              snw_error *err) {
    const int nv = s->m->nv;
    SNW_TRY(start_samples(s, d, entry, w, w->moved, err));
    for (int j = 0; j < s->nscalar; j++) {
        const snw_bars *b = snw_adjoint_bars(s->adjoint, j);
        by[j] = 0;
        for (int k = 0; k < nv; k++)
            by[j] += b->place[k] * w->moved[k] + b->rate[k] * w->moved[nv + k];
    }
    return SNW_OK;
}

static snw_status start_work_open(const sweep *s, start_work *w, snw_error *err) {
    const size_t nv = (size_t)s->m->nv;
    *w = (start_work){.dx = snw_alloc((3 * nv + (size_t)s->g->nentry + 1) * sizeof *w->dx)};
    if (!w->dx || snw_state_create(s->m, &w->at) != SNW_OK) return snw_fail_memory(err);
    w->moved = w->dx + nv;
    w->p = w->moved + 2 * nv;
    memcpy(w->p, s->p, (size_t)s->g->nentry * sizeof *w->p);
    return SNW_OK;
}

static void start_work_close(start_work *w) {
    snw_state_destroy(w->at);
    snw_free(w->dx);
}

// dJ += the part of the initial state: of the present directions and, at first, of its own entries.
static snw_status add_starts(sweep *s, bool first, snw_error *err) {
    if (s->tape.n == 0 || s->tape.map[0].kind != SNW_MAP_INITIAL) return SNW_OK;
    const snw_gradient *g = s->g;
    start_work w;
    snw_status status = start_work_open(s, &w, err);
    for (int k = 0; status == SNW_OK && k < s->ndirection; k++) {
        direction *d = &s->direction[k];
        status = start_along(s, d, d->entry, &w, d->by, err);
    }
    for (int k = 0; status == SNW_OK && k < s->ndirection;)
        k += add_direction(s, &s->direction[k], snw_time_resolution(0));
    for (int k = 0; status == SNW_OK && first && k < g->nentry; k++) {
        if (g->entry[k].kind != GRADIENT_POSITION && g->entry[k].kind != GRADIENT_VELOCITY)
            continue;
        status = start_along(s, NULL, k, &w, s->value, err);
        for (int j = 0; status == SNW_OK && j < g->nscalar; j++)
            s->dJ[(size_t)j * (size_t)g->nentry + (size_t)k] += s->value[j];
    }
    start_work_close(&w);
    return status;
}

// ---- sensitivities along the run ----------------------------------------------------------------

// out, coarse (size) <- differences of orders 6 and 4 of the equations of a map, or of the outputs
// of a frame, between models. sample: scratch
static void difference_equations(sweep *s, snw_robot_model *const *model, double step,
                                 const snw_map *map, int size, double *out, double *coarse,
                                 double *sample) {
    memset(out, 0, (size_t)size * sizeof *out);
    memset(coarse, 0, (size_t)size * sizeof *coarse);
    for (int i = 0; i < VARIANTS; i++) {
        s->sampler.m = model[i]->compiled;
        if (map->kind == SNW_MAP_FRAME) {
            snw_sampler_frame(&s->sampler, s->adjoint, map, sample);
        } else if (map->kind == SNW_MAP_EVENT) {
            sample[0] = event_margin_of(s, s->sampler.m, map);
        } else if (map->kind == SNW_MAP_SAMPLE) {
            memcpy(sample, samples_of(s, s->sampler.m, map), (size_t)size * sizeof *sample);
        } else {
            snw_sampler_equations(&s->sampler, s->adjoint, map, sample);
        }
        for (int k = 0; k < size; k++) {
            out[k] += sample_weight(weight6, i) / step * sample[k];
            coarse[k] += sample_weight(weight4, i) / step * sample[k];
        }
    }
}

// out (size) <- derivatives of these along direction d. scratch: 4 size
static snw_status equations_along(sweep *s, direction *d, const snw_map *map, int size, double *out,
                                  double *scratch, snw_error *err) {
    double *coarse = scratch + size, *fine = coarse + size, *fine_coarse = fine + size;
    difference_equations(s, d->model, d->step, map, size, out, coarse, scratch);
    if (!s->sharp || is_resolved(size, out, coarse)) return SNW_OK;
    SNW_TRY(open_fine(s, d, err));
    difference_equations(s, d->fine, fine_part * d->step, map, size, fine, fine_coarse, scratch);
    choose_estimates(size, out, coarse, fine, fine_coarse);
    return SNW_OK;
}

// out from row `first` to `last` <- derivatives by entry k from those along all directions
// (`along`, size each), which read laws at time t
static void equations_by(const sweep *s, int k, double t, int first, int last, int size,
                         const double *along, double *out) {
    const gradient_entry *e = &s->g->entry[k];
    memset(out + first, 0, (size_t)(last - first) * sizeof *out);
    for (int i = 0; i < s->ndirection; i++) {
        const direction *d = &s->direction[i];
        double by = d->entry == k ? 1 : 0;
        if (e->kind == GRADIENT_KNOT && d->entry < 0 && d->law == e->law) {
            double f[3];
            gradient_knot(&s->g->law[e->law], e->knot, t, f);
            const int used = directions_of_law(s, i - d->power);
            const double u = t - d->t0;
            // value, rate and acceleration of the law as a sum of c_0 + c_1 u + c_2 u^2/2
            const double c2 = used > 2 ? f[2] : 0, c1 = used > 1 ? f[1] - c2 * u : 0;
            const double c[3] = {f[0] - c1 * u - 0.5 * c2 * u * u, c1, c2};
            by = c[d->power];
        }
        for (int j = first; j < last && by != 0; j++)
            out[j] += by * along[(size_t)i * (size_t)size + (size_t)j];
    }
}

// out (size) <- the same for all equations of a map; each stage of collocation reads laws at its
// own time.
static void equations_of_map_by(const sweep *s, int k, const snw_map *map, int size,
                                const double *along, double *out) {
    if (map->kind != SNW_MAP_STAGES) {
        equations_by(s, k, map->t_laws, 0, size, size, along, out);
        return;
    }
    for (int first = 0, last = 1; first < size; first = last++) {
        const int stage = snw_sensitivity_stage(s->adjoint, map, first);
        while (last < size && snw_sensitivity_stage(s->adjoint, map, last) == stage) last++;
        equations_by(s, k, snw_map_stage_time(map, stage), first, last, size, along, out);
    }
}

// Derivatives of the initial state by all entries into the bars.
static snw_status start_forward(sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    const size_t nv = (size_t)s->m->nv;
    start_work w;
    snw_status status = start_work_open(s, &w, err);
    double *along = snw_alloc((2 * nv * (size_t)s->ndirection + 1) * sizeof *along);
    if (status == SNW_OK && !along) status = snw_fail_memory(err);
    for (int i = 0; status == SNW_OK && i < s->ndirection; i++) {
        direction *d = &s->direction[i];
        status = start_samples(s, d, d->entry, &w, along + 2 * nv * (size_t)i, err);
    }
    for (int k = 0; status == SNW_OK && k < g->nentry; k++) {
        snw_bars *b = snw_adjoint_bars(s->adjoint, k);
        if (g->entry[k].kind == GRADIENT_POSITION || g->entry[k].kind == GRADIENT_VELOCITY) {
            status = start_samples(s, NULL, k, &w, w.moved, err);
        } else {
            equations_by(s, k, snw_time_resolution(0), 0, (int)(2 * nv), (int)(2 * nv), along,
                         w.moved);
        }
        memcpy(b->place, w.moved, nv * sizeof *b->place);
        memcpy(b->rate, w.moved + nv, nv * sizeof *b->rate);
    }
    snw_free(along);
    start_work_close(&w);
    return status;
}

// dJ += the derivatives of a frame by entry k; `by` are those of its outputs at a fixed state.
static snw_status forward_frame(sweep *s, const snw_map *map, int k, const double *by,
                                snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    const double time = snw_adjoint_bars(s->adjoint, k)->time[SNW_TIME_NOW];
    SNW_TRY(snw_sensitivity_frame(s->adjoint, map, k, f.y + (size_t)map->frame * (size_t)f.ncolumn,
                                  s->y, err));
    for (int i = 0; i < g->nscalar; i++) {
        double *to = &s->dJ[(size_t)i * (size_t)g->nentry + (size_t)k];
        for (int o = 0; o < s->noutput; o++)
            *to += s->y_bar[(size_t)i * (size_t)s->noutput + (size_t)o] *
                   (s->y[o] + by[o] + (map->time_moves ? s->y_time[o] * time : 0));
        if (map->time_moves) *to += frame_time_bar(s, map->frame, i) * time;
    }
    return SNW_OK;
}

// Derivative of the margin of the present event by variable k of the adjoint; `by`: at a fixed
// state.
static snw_status margin_along(sweep *s, const snw_map *map, int k, double by_time, double by,
                               double *out, snw_error *err) {
    const double *bar = s->y_bar + (size_t)(s->nscalar - 1) * (size_t)s->noutput;
    SNW_TRY(snw_sensitivity_frame(s->adjoint, map, k, NULL, s->y, err));
    *out = by + by_time * snw_adjoint_bars(s->adjoint, k)->time[SNW_TIME_NOW];
    for (int o = 0; o < s->noutput; o++) *out += bar[o] != 0 ? bar[o] * s->y[o] : 0;
    for (int i = 0; i < s->m->nsignal; i++)
        *out += margin_by_memory(s, i) * snw_adjoint_bars(s->adjoint, k)->z[i];
    return SNW_OK;
}

// An event: the length of its step, whose derivatives are those of the last variable, follows.
static snw_status forward_event(sweep *s, int i, double *along, double *by, snw_error *err) {
    const snw_map *map = &s->tape.map[i], *step = step_of_event(s, i);
    const int n = s->g->nentry;
    double by_time, slope;
    if (step->end != SNW_END_EVENT) return SNW_OK;
    SNW_TRY(find_event(s, i, err));
    event_bars(s, map, &by_time);
    SNW_TRY(margin_along(s, map, n, by_time, 0, &slope, err));
    SNW_TRY(gradient_event_crosses(&s->event, slope, step->h, err));
    for (int d = 0; d < s->ndirection; d++)
        SNW_TRY(equations_along(s, &s->direction[d], map, 1, along + d, by, err));
    for (int k = 0; k < n; k++) {
        double margin;
        equations_by(s, k, map->t_laws, 0, 1, 1, along, by);
        SNW_TRY(margin_along(s, map, k, by_time, by[0], &margin, err));
        snw_sensitivity_add(s->adjoint, k, -margin / slope, n);
    }
    return SNW_OK;
}

static snw_status forward_samples(sweep *s, const snw_map *map, double *along, double *by,
                                  snw_error *err) {
    const int nz = s->m->nsignal;
    SNW_TRY(gradient_sample_check(map, err));
    for (int d = 0; d < s->ndirection; d++)
        SNW_TRY(
            equations_along(s, &s->direction[d], map, nz, along + (size_t)d * (size_t)nz, by, err));
    for (int k = 0; k < s->g->nentry; k++) {
        const double *signal = samples_of(s, s->m, map);
        SNW_TRY(snw_sensitivity_frame(s->adjoint, map, k, NULL, s->y, err));
        equations_by(s, k, map->t_laws, 0, nz, nz, along, by);
        gradient_sample_forward(s->m, map, signal, s->output_of, s->y, by, s->z_bar,
                                snw_adjoint_bars(s->adjoint, k)->z);
    }
    return SNW_OK;
}

static snw_status forward_map(sweep *s, int index, double *along, double *by, snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_map *map = &s->tape.map[index];
    const bool frame = map->kind == SNW_MAP_FRAME;
    if (map->kind == SNW_MAP_EVENT) return forward_event(s, index, along, by, err);
    if (map->kind == SNW_MAP_SAMPLE) return forward_samples(s, map, along, by, err);
    if (frame && !frame_bars(s, map->frame) && !map->time_moves) return SNW_OK;
    if (frame && map->time_moves) outputs_by_time(s, map);
    if (!frame) SNW_TRY(snw_sensitivity_prepare(s->adjoint, map, err));
    const int size = frame ? s->noutput : snw_sensitivity_size(s->adjoint, map);
    for (int i = 0; i < s->ndirection; i++)
        SNW_TRY(equations_along(s, &s->direction[i], map, size, along + (size_t)i * (size_t)size,
                                by, err));
    for (int k = 0; k < g->nentry; k++) {
        equations_of_map_by(s, k, map, size, along, by);
        if (frame) {
            SNW_TRY(forward_frame(s, map, k, by, err));
        } else {
            snw_sensitivity_apply(s->adjoint, map, k, by);
        }
    }
    if (frame || !s->events) return SNW_OK;
    memset(by, 0, (size_t)size * sizeof *by);
    if (map->end == SNW_END_EVENT) {
        snw_sensitivity_of_length(s->adjoint, map, g->nentry);
    } else {
        snw_sensitivity_apply(s->adjoint, map, g->nentry, by);
    }
    return SNW_OK;
}

static snw_status sweep_forward(sweep *s, snw_error *err) {
    if (s->partial)
        return snw_fail(err, SNW_E_MEMORY,
                        "the states of the run take more than %g MB; allow more memory, or use the "
                        "adjoint",
                        s->g->how.memory / 1e6);
    const size_t nv = (size_t)s->m->nv, nr = (size_t)s->m->nconstraint;
    const size_t nz = (size_t)s->m->nsignal;
    const size_t size = SNW_STAGES * (nv + nz) + 2 * nr + (size_t)s->noutput + 1;
    double *along = snw_alloc(((size_t)s->ndirection + 4) * size * sizeof *along);
    if (!along) return snw_fail_memory(err);
    snw_adjoint_clear(s->adjoint);
    snw_status status = find_given_events(s, err);
    snw_tape_find_times(&s->tape, false);
    if (status == SNW_OK && s->tape.n > 0 && s->tape.map[0].kind == SNW_MAP_INITIAL)
        status = start_forward(s, err);
    for (int i = 0; status == SNW_OK && i < s->tape.n; i++)
        status = forward_map(s, i, along, along + (size_t)s->ndirection * size, err);
    snw_free(along);
    return status;
}

// ---- all ----------------------------------------------------------------------------------------

static void gather(sweep *s) {
    for (int k = 0; k < s->ndirection; k++) {
        const direction *d = &s->direction[k];
        note_error(s, d->entry >= 0 ? s->p[d->entry] : d->step / parameter_move, d->error, d->size);
    }
}

// ---- the run ------------------------------------------------------------------------------------

static snw_status take_state(void *user, const snw_run_state *at, snw_error *err) {
    sweep *s = user;
    SNW_TRY(snw_tape_state(&s->tape, at, err));
    if (at->shown) return SNW_OK;
    if (s->last < 0) return gradient_checkpoints_keep(&s->kept, at->save, err);
    return s->tape.frames > s->last ? SNW_E_STOPPED : SNW_OK;
}

static void note_map(void *user, const snw_step_report *r) {
    sweep *s = user;
    const bool step = r->event == SNW_WATCH_STEP || r->event == SNW_WATCH_STAGES;
    if (r->event == SNW_WATCH_UNDO)
        *(s->last < 0 ? &s->g->info.steps : &s->g->info.recomputed) -= s->tried;
    if (r->event == SNW_WATCH_UNDO || r->event == SNW_WATCH_INSTANT) s->tried = 0;
    s->tried += step;
    s->g->info.steps += s->last < 0 && step;
    s->g->info.recomputed += s->last >= 0 && step;
    snw_tape_note(&s->tape, r);
}

static snw_run_hooks hooks_of(sweep *s) {
    return (snw_run_hooks){.user = s, .watch = {note_map, s}, .state = take_state};
}

static snw_status run_with_tape(sweep *s, double *J, snw_error *err) {
    snw_gradient *g = s->g;
    const double begin = snw_clock_seconds();
    SNW_TRY(gradient_model_at(g, s->p, &s->model, err));
    SNW_TRY(gradient_run_at(g, s->p, s->model, &s->run, err));
    s->m = snw_run_model(s->run);
    SNW_TRY(gradient_check(s->model->desc, s->m, err));
    SNW_TRY(gradient_checkpoints_begin(&s->kept, (size_t)snw_run_describe(s->run)->nsave,
                                       g->how.memory, err));
    s->events = gradient_has_events(s->model->desc, s->m);
    s->memory = gradient_has(s->m, SNW_SIGNAL_INTEGRAL) || gradient_has(s->m, SNW_SIGNAL_SAMPLED);
    s->samples = gradient_has(s->m, SNW_SIGNAL_SAMPLED);
    s->nscalar = g->nscalar + (s->events ? 1 : 0);
    s->sharp = gradient_has_onsets(s->m);
    SNW_TRY(gradient_jumps_find(s->model->desc, &s->jumps, err));
    snw_tape_begin(&s->tape, s->m, (size_t)g->how.memory, s->events);
    const snw_run_hooks hooks = hooks_of(s);
    SNW_TRY(gradient_run_frames(g, s->model, s->run, &hooks, err));
    s->partial = s->tape.full;
    SNW_TRY(find_weights(s, J, err));
    g->info.run_seconds = snw_clock_seconds() - begin;
    if (!isnan(s->tape.other))
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: steps were shortened at t = %g s, and velocities "
                        "projected onto the loops there; use shorter steps, or 'shorten: off'",
                        s->tape.other);
    if (s->tape.changed)
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: the nodes of the robot or the "
                        "rows of its loops have changed on the way");
    return SNW_OK;
}

// The maps between checkpoint i and the next one once more, to the last bit, on the tape.
static snw_status repeat_part(sweep *s, int i, int last, snw_error *err) {
    snw_error stopped = {0};
    snw_tape_clear(&s->tape);
    snw_tape_begin(&s->tape, s->m, SIZE_MAX, s->events);
    s->last = last;
    if (i >= 0) {
        s->tape.frames = s->kept.frame[i] + 1;
        SNW_TRY(snw_run_resume(s->run, s->kept.save[i], err));
    }
    const snw_run_hooks hooks = hooks_of(s);
    const snw_status status = snw_run_execute(s->run, 0, NULL, &hooks, NULL, &stopped);
    if (status == SNW_E_STOPPED || status == SNW_OK) return SNW_OK;
    if (err) *err = stopped;
    return status;
}

static snw_status sweep_all(sweep *s, snw_error *err) {
    if (!s->partial) return sweep_back(s, err);
    const gradient_checkpoints *c = &s->kept;
    if (c->size == 0)
        return snw_fail(err, SNW_E_MEMORY,
                        "the states of the run take more than %g MB, and it has no checkpoints; "
                        "allow more memory",
                        s->g->how.memory / 1e6);
    for (int i = c->n - 1, last = c->frames - 1; i >= -1; i--) {
        if (i >= 0 && c->frame[i] == last) continue;
        SNW_TRY(repeat_part(s, i, last, err));
        SNW_TRY(sweep_back(s, err));
        if (i >= 0) last = c->frame[i];
    }
    return SNW_OK;
}

// Are the results functions of configuration and velocities, whatever the forces? `segments`: and
// not of lengths of tendons.
static bool outputs_are_motions(const sweep *s, bool segments) {
    for (int i = 0; i < s->noutput; i++) {
        const snw_probe_kind kind = s->m->desc->probe[s->output[i].probe].kind;
        const snw_reading r = snw_probe_table[kind].reading;
        if (segments && snw_probe_signal(s->m, s->output[i].probe, s->output[i].column).tendon >= 0)
            return false;
        if (!snw_probe_is_configuration(kind) && r != SNW_READ_VELOCITY && r != SNW_READ_TWIST &&
            r != SNW_READ_RATE && r != SNW_READ_TENDON_RATE)
            return false;
    }
    return true;
}

static snw_status prepare_arrays(sweep *s, snw_error *err) {
    bool numbers = false;
    for (int k = 0; k < s->g->nentry; k++)
        numbers = numbers || s->g->entry[k].kind == GRADIENT_NUMBER;
    if (s->forward || s->events || s->memory || !numbers || !outputs_are_motions(s, false) ||
        !snw_model_arrays_apply(s->m))
        return SNW_OK;
    s->slope = snw_alloc((size_t)s->g->nentry * sizeof *s->slope);
    s->has_slope = snw_alloc((size_t)s->g->nentry * sizeof *s->has_slope);
    if (!s->slope || !s->has_slope ||
        snw_model_arrays_create(s->m, s->g->nscalar, outputs_are_motions(s, true), &s->arrays) !=
            SNW_OK)
        return snw_fail_memory(err);
    return SNW_OK;
}

static snw_status sweep_prepare(sweep *s, snw_error *err) {
    const size_t n = (size_t)s->nscalar;
    SNW_TRY(list_outputs(s, err));
    SNW_TRY(prepare_arrays(s, err));
    s->y_bar = snw_alloc((n * (size_t)s->noutput + 1) * sizeof *s->y_bar);
    s->value = snw_alloc((3 * n + 2 * (size_t)s->noutput + 1) * sizeof *s->value);
    s->dJ = snw_alloc((n * (size_t)s->g->nentry + 1) * sizeof *s->dJ);
    s->z_bar = snw_alloc((n * (size_t)s->m->nsignal + 1) * sizeof *s->z_bar);
    if (!s->y_bar || !s->value || !s->dJ || !s->z_bar) return snw_fail_memory(err);
    s->centre = s->value + n;
    s->factor = s->centre + n;
    s->y = s->factor + n;
    s->y_time = s->y + s->noutput;
    memset(s->dJ, 0, n * (size_t)s->g->nentry * sizeof *s->dJ);
    const int sets = s->forward ? s->g->nentry + (s->events ? 1 : 0) : s->nscalar;
    if (snw_adjoint_create(s->m, sets, s->noutput, s->output, &s->adjoint) != SNW_OK ||
        snw_sampler_create(s->m, &s->sampler) != SNW_OK)
        return snw_fail_memory(err);
    return SNW_OK;
}

static bool slopes_are_geometric(const sweep *s) {
    for (int k = 0; k < s->nslope; k++) {
        const gradient_slope *slope = &s->slope[k];
        if (slope->n > 0 && snw_model_arrays_is_geometry(s->arrays, slope->at[slope->n - 1]))
            return true;
    }
    return false;
}

// Sweeps for all variables, a number of parameters at once.
static snw_status sweep_variables(sweep *s, snw_error *err) {
    int entry = 0;
    do {
        const bool first = entry == 0;
        SNW_TRY(open_directions(s, &entry, err));
        if (entry == s->g->nentry && s->nslope == 0) s->gathered = true; // none to come
        if (s->arrays && entry == s->g->nentry)
            snw_model_arrays_need_geometry(s->arrays, slopes_are_geometric(s));
        if (first || s->ndirection > 0) {
            snw_adjoint_clear(s->adjoint);
            SNW_TRY(s->forward ? sweep_forward(s, err) : sweep_all(s, err));
            if (!s->forward) SNW_TRY(add_starts(s, first, err));
            s->gathered = true;
        }
        add_slopes(s);
        gather(s);
        close_directions(s);
    } while (entry < s->g->nentry);
    return SNW_OK;
}

snw_status gradient_adjoint(snw_gradient *g, const double *p, double *J, double *dJ,
                            snw_error *err) {
    sweep s = {.g = g, .p = p, .last = -1};
    // as many linear equations as variables, or as scalars
    s.forward = g->how.method == SNW_GRADIENT_FORWARD ||
                (g->how.method == SNW_GRADIENT_AUTO && FEW * g->nentry < g->nscalar);
    g->info.method = s.forward ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT;
    for (int k = 0; k < g->nentry; k++) g->entry[k].sampled = false;
    snw_status status = run_with_tape(&s, J, err);
    const double begin = snw_clock_seconds();
    if (status == SNW_OK) status = sweep_prepare(&s, err);
    if (status == SNW_OK) status = sweep_variables(&s, err);
    for (int j = 0; status == SNW_OK && j < g->nscalar; j++) s.size = fmax(s.size, fabs(J[j]));
    g->info.error = s.size > 0 ? s.error / s.size : 0;
    if (status == SNW_OK) memcpy(dJ, s.dJ, (size_t)g->nscalar * (size_t)g->nentry * sizeof *dJ);
    g->info.gradient_seconds = snw_clock_seconds() - begin;
    close_directions(&s);
    snw_free(s.direction);
    snw_free(s.slope);
    snw_free(s.has_slope);
    snw_model_arrays_destroy(s.arrays);
    gradient_checkpoints_end(&s.kept);
    snw_adjoint_destroy(s.adjoint);
    snw_sampler_destroy(&s.sampler);
    snw_tape_clear(&s.tape);
    snw_free(s.output);
    snw_free(s.output_of);
    snw_free(s.signal);
    gradient_jumps_clear(&s.jumps);
    snw_free(s.dJ);
    snw_free(s.weight);
    snw_free(s.by_sum);
    snw_free(s.y_bar);
    snw_free(s.z_bar);
    snw_free(s.value);
    snw_run_destroy(s.run);
    snw_robot_model_close(s.model);
    return status;
}
