// SPDX-License-Identifier: MIT
//
// Numbers of the models of all phases of a study, and its initial state, as one vector through
// which numbers of the file act, theory.md (7.5.11): the arrays of each phase (model_arrays.h),
// then initial configuration, velocities and states of laws.
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "study/model_laws.h"

#include <math.h>
#include <string.h>

static const double closing = 100, // rounding of a closed start over that of a number, typical
    start_move = 1e-2;             // of given motions at the start, typical

// Does the run begin with an equilibrium, which does not depend on the state before it?
static bool begins_at_rest(const gradient_sweep *s) {
    const snw_desc *d = s->phase[0].m->desc;
    if (d->nstep == 0) return false;
    const snw_step_kind first = d->step[0].kind;
    return first == SNW_STEP_STATIC || first == SNW_STEP_INVERSE || first == SNW_STEP_PATH;
}

static size_t start_size(const gradient_sweep *s) {
    return 2 * (size_t)s->phase[0].m->nv + (size_t)s->phase[0].m->nsignal;
}

size_t gradient_numbers_size(const gradient_sweep *s) {
    size_t n = start_size(s);
    for (int k = 0; k < s->nphase; k++) n += snw_model_arrays_size(s->phase[k].arrays);
    return n;
}

void gradient_numbers_by_sections(const gradient_sweep *s, bool yes) {
    for (int k = 0; k < s->nphase; k++) snw_model_arrays_by_sections(s->phase[k].arrays, yes);
}

static const snw_model *phase_of(const gradient_sweep *s, const snw_robot_model *model, int k) {
    return !model ? s->phase[k].m : k == 0 ? model->compiled : model->phase[k - 1];
}

bool gradient_numbers_only(const gradient_sweep *s, const snw_robot_model *model) {
    for (int k = 0; k < s->nphase; k++) {
        const snw_model *m = phase_of(s, model, k);
        if (!snw_model_arrays_only(s->phase[k].arrays, m)) return false;
        if (!gradient_outputs_are_same(s, s->phase[k].m, m)) return false;
        if (!gradient_inputs_are_same(s, s->phase[k].m, m)) return false;
    }
    return true;
}

static snw_status read_start(const gradient_sweep *s, const snw_model *m, double *out,
                             snw_error *err) {
    const int nv = m->nv;
    memset(out, 0, start_size(s) * sizeof *out);
    for (int i = 0; i < m->nsignal; i++) {
        if (m->signal[i].kind == SNW_SIGNAL_STATE) out[2 * nv + i] = m->signal[i].initial;
    }
    if (begins_at_rest(s)) return SNW_OK;
    const snw_model *own = s->phase[0].m;
    snw_state *at[2] = {NULL};
    snw_status status =
        snw_state_create(m, &at[0]) == SNW_OK && snw_state_create(m, &at[1]) == SNW_OK
            ? SNW_OK
            : snw_fail_memory(err);
    if (status == SNW_OK) status = gradient_closed_start(s, s->p, own, s->motion, at[0], err);
    if (status == SNW_OK) status = gradient_closed_start(s, s->p, m, s->motion, at[1], err);
    if (status == SNW_OK) {
        snw_difference(own, at[0]->q, at[1]->q, out);
        memcpy(out + nv, at[1]->v, (size_t)nv * sizeof *out);
    }
    snw_state_destroy(at[0]);
    snw_state_destroy(at[1]);
    return status;
}

snw_status gradient_numbers_read(const gradient_sweep *s, const snw_robot_model *model, double *out,
                                 snw_error *err) {
    for (int k = 0; k < s->nphase; k++) {
        const snw_model_arrays *a = s->phase[k].arrays;
        snw_model_arrays_read(a, phase_of(s, model, k), out);
        out += snw_model_arrays_size(a);
    }
    return read_start(s, phase_of(s, model, 0), out, err);
}

void gradient_numbers_scale(const gradient_sweep *s, const double *x, double *out, double *noise) {
    const snw_model *m = s->phase[0].m;
    memset(noise, 0, gradient_numbers_size(s) * sizeof *noise);
    for (int k = 0; k < s->nphase; k++) {
        const snw_model_arrays *a = s->phase[k].arrays;
        const size_t n = snw_model_arrays_size(a);
        snw_model_arrays_scale(a, x, out);
        x += n, out += n, noise += n;
    }
    for (size_t i = 0; i < start_size(s); i++) {
        const size_t nv = (size_t)m->nv;
        const double typical = i < 2 * nv ? m->typical[i % nv] : 0;
        out[i] = fmax(fabs(x[i]), m->nconstraint > 0 ? closing * typical : 0);
        noise[i] = m->nconstraint > 0 ? closing * gradient_rounding * typical : 0;
    }
}

void gradient_numbers_bars(const gradient_sweep *s, int scalar, bool sections, double *out) {
    gradient_numbers_by_sections(s, sections);
    for (int k = 0; k < s->nphase; k++) {
        snw_model_arrays *a = s->phase[k].arrays;
        const size_t n = snw_model_arrays_size(a);
        snw_model_arrays_finish(a);
        memcpy(out,
               sections ? snw_model_arrays_section_bars(a, scalar)
                        : snw_model_arrays_bars(a, scalar),
               n * sizeof *out);
        out += n;
    }
    gradient_numbers_by_sections(s, false);
    const size_t nv = (size_t)s->phase[0].m->nv, nz = (size_t)s->phase[0].m->nsignal;
    const snw_bars *b = snw_adjoint_bars(s->phase[0].adjoint, scalar);
    memcpy(out, b->place, nv * sizeof *out);
    memcpy(out + nv, b->rate, nv * sizeof *out);
    if (nz) memcpy(out + 2 * nv, b->z, nz * sizeof *out);
}

// ---- given motions at the start -----------------------------------------------------------------

bool gradient_follows_law(const snw_model *m, int drive) {
    return snw_law_is_gathered(m, SNW_LAW_DRIVE, drive) && !snw_drive_is_fixed(m, drive);
}

// bars of all scalars <- derivatives by value (of = 0) or rate (1) of the motion of a drive at the
// start: by differences of order 6 of the closed initial state.
static snw_status by_start(const gradient_sweep *s, int drive, int of, snw_state *at, double *dx,
                           double *by, snw_error *err) {
    const snw_model *m = s->phase[0].m;
    const size_t nv = (size_t)m->nv;
    const snw_jet kept = s->motion[drive];
    const double typical = m->typical[m->drive[drive].dof], step = start_move * typical;
    snw_state *first = NULL;
    snw_status status = snw_state_create(m, &first) == SNW_OK ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK) status = gradient_closed_start(s, s->p, m, s->motion, first, err);
    memset(dx, 0, 3 * nv * sizeof *dx);
    for (int i = 0; i < GRADIENT_VARIANTS && status == SNW_OK; i++) {
        const double c = gradient_sample_weight(gradient_weight6, i) / step;
        *(of ? &s->motion[drive].d : &s->motion[drive].v) =
            (of ? kept.d : kept.v) + gradient_sample_at(i) * step;
        status = gradient_closed_start(s, s->p, m, s->motion, at, err);
        s->motion[drive] = kept;
        if (status != SNW_OK) break;
        snw_difference(m, first->q, at->q, dx + 2 * nv);
        for (size_t k = 0; k < nv; k++) {
            dx[k] += c * dx[2 * nv + k];
            dx[nv + k] += c * (at->v[k] - first->v[k]);
        }
    }
    for (int j = 0; j < s->nscalar && status == SNW_OK; j++) {
        const snw_bars *b = snw_adjoint_bars(s->phase[0].adjoint, j);
        by[j] = 0;
        for (size_t k = 0; k < nv; k++) by[j] += b->place[k] * dx[k] + b->rate[k] * dx[nv + k];
    }
    snw_state_destroy(first);
    return status;
}

snw_status gradient_numbers_start_motions(gradient_sweep *s, snw_error *err) {
    const snw_model *m = s->phase[0].m;
    const size_t n = (size_t)s->nscalar;
    if (m->ndrive == 0 || begins_at_rest(s)) return SNW_OK;
    snw_state *at = NULL;
    double *dx = snw_alloc((3 * (size_t)m->nv + 2 * n + 1) * sizeof *dx), *by = dx + 3 * m->nv;
    snw_status status = dx && snw_state_create(m, &at) == SNW_OK ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; i < m->ndrive && status == SNW_OK; i++) {
        if (!gradient_follows_law(m, i)) continue;
        status = by_start(s, i, 0, at, dx, by, err);
        if (status == SNW_OK) status = by_start(s, i, 1, at, dx, by + n, err);
        for (size_t j = 0; j < n && status == SNW_OK; j++)
            snw_model_arrays_add_drive(s->phase[0].arrays, (int)j, i, snw_time_resolution(0),
                                       (const double[]){by[j], by[n + j], 0});
    }
    snw_state_destroy(at);
    snw_free(dx);
    return status;
}

// ---- parts --------------------------------------------------------------------------------------

typedef bool arrays_part(const snw_model_arrays *a, size_t at);

// Does a number of the file move numbers of this part of the arrays of a phase?
static bool slopes_reach(const gradient_sweep *s, int phase, arrays_part *part) {
    for (int k = 0; k < s->nslope; k++) {
        const gradient_slope *slope = &s->slope[k];
        size_t first = 0;
        gradient_numbers_by_sections(s, slope->sections);
        for (int i = 0; i < phase; i++) first += snw_model_arrays_size(s->phase[i].arrays);
        const size_t end = first + snw_model_arrays_size(s->phase[phase].arrays);
        gradient_numbers_by_sections(s, false);
        for (size_t i = 0; i < slope->n; i++) {
            const size_t at = slope->at[i];
            if (at >= first && at < end && part(s->phase[phase].arrays, at - first)) return true;
        }
    }
    return false;
}

void gradient_numbers_need(const gradient_sweep *s) {
    for (int k = 0; k < s->nphase; k++) {
        snw_model_arrays *a = s->phase[k].arrays;
        snw_model_arrays_need_geometry(a, slopes_reach(s, k, snw_model_arrays_is_geometry));
        snw_model_arrays_need_shapes(a, slopes_reach(s, k, snw_model_arrays_is_shape));
    }
}
