// SPDX-License-Identifier: MIT
//
// The initial state of a run and its derivatives: loops are closed by a projection, theory.md 7.5.
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/projection.h"

#include <math.h>
#include <string.h>

static const double initial_move = 1e-2, // of an initial coordinate or velocity
    unmoved = 1e-14;                     // change of an initial value that counts as none, typical

// Are initial place and rate of a drive those of its law? Unless a condition holds it later.
static bool starts_by_law(const snw_model *m, int drive) { return m->drive[drive].condition < 0; }

snw_status gradient_closed_start(const gradient_sweep *s, const double *p, const snw_model *m,
                                 const snw_jet *motion, snw_state *to, snw_error *err) {
    gradient_initial(s->g, p, m, to->q, to->v);
    to->t = 0;
    for (int i = 0; motion && i < m->ndrive; i++) { // the model begins as its laws say
        if (!gradient_follows_law(m, i) || !starts_by_law(m, i)) continue;
        to->q[m->drive[i].q] = motion[i].v;
        to->v[m->drive[i].dof] = motion[i].d;
    }
    const snw_desc *d = s->model->desc;
    const bool kinematic = d->nstep > 0 && d->step[0].kinematic; // it closes loops by itself
    if (m->nconstraint == 0 || kinematic) return SNW_OK;
    snw_projection *pr = NULL;
    snw_inputs *in = NULL;
    snw_projection_info info;
    snw_status status = snw_projection_create(m, &pr);
    if (status == SNW_OK) status = snw_inputs_create(m, &in);
    if (status == SNW_OK) {
        snw_inputs_at(m, snw_time_resolution(0), in);
        for (int i = 0; motion && i < m->ndrive; i++) {
            if (gradient_follows_law(m, i)) in->drive[i] = motion[i];
        }
        status = snw_projection_close(pr, in, to, &info, err);
    }
    if (status == SNW_OK) status = snw_projection_velocities(pr, in, to, err);
    snw_inputs_destroy(in);
    snw_projection_destroy(pr);
    return status;
}

bool gradient_begins_moving(const gradient_sweep *s) {
    return s->tape.n > 0 &&
           (s->tape.map[0].kind == SNW_MAP_INITIAL || s->tape.map[0].kind == SNW_MAP_EXPLICIT);
}

// out (2 nv) += c times the initial configuration, from that of the run, and velocities of a model
// at p with another value of `entry` (-1: the same)
static snw_status add_start(const gradient_sweep *s, const snw_model *m, int entry, double value,
                            double c, gradient_start *w, double *out, snw_error *err) {
    const int nv = s->m->nv;
    if (entry >= 0) w->p[entry] = value;
    SNW_TRY(gradient_closed_start(s, w->p, m, NULL, w->at, err));
    if (entry >= 0) w->p[entry] = s->p[entry];
    const snw_map *first = &s->tape.map[0];
    const bool before = first->kind == SNW_MAP_EXPLICIT; // the start is a map of its own
    const double *v = before ? first->v0 : first->s.v;
    snw_difference(s->m, before ? first->q0 : first->s.q, w->at->q, w->dx);
    for (int k = 0; k < nv; k++) {
        out[k] += c * w->dx[k];
        out[nv + k] += c * (w->at->v[k] - v[k]);
    }
    return SNW_OK;
}

snw_status gradient_start_samples(const gradient_sweep *s, gradient_direction *d, int entry,
                                  gradient_start *w, double *out, snw_error *err) {
    const size_t nv = (size_t)s->m->nv;
    const double step = d ? d->step : initial_move, centre = entry >= 0 ? s->p[entry] : 0;
    bool moves = !d || !d->far[0] || !d->far[1];
    for (int k = 0; k < 2 && !moves; k++) { // does it move at all?
        memset(out, 0, 2 * nv * sizeof *out);
        SNW_TRY(add_start(s, d->far[k]->compiled, entry,
                          centre + (k ? GRADIENT_FAR : -GRADIENT_FAR) * step, 1, w, out, err));
        for (size_t j = 0; j < nv; j++)
            moves = moves || fabs(out[j]) + fabs(out[nv + j]) > unmoved * s->m->typical[j];
    }
    memset(out, 0, 2 * nv * sizeof *out);
    if (!moves) return SNW_OK;
    if (d) SNW_TRY(gradient_open_samples(s, d, err));
    for (int i = 0; i < GRADIENT_VARIANTS; i++)
        SNW_TRY(add_start(s, d ? d->model[i]->compiled : s->m, entry,
                          centre + gradient_sample_at(i) * step,
                          gradient_sample_weight(gradient_weight6, i) / step, w, out, err));
    return SNW_OK;
}

// by (nscalar) <- bars of the initial state times its derivative
static snw_status start_along(gradient_sweep *s, gradient_direction *d, int entry,
                              gradient_start *w, double *by, snw_error *err) {
    const int nv = s->m->nv;
    SNW_TRY(gradient_start_samples(s, d, entry, w, w->moved, err));
    for (int j = 0; j < s->nscalar; j++) {
        const snw_bars *b = snw_adjoint_bars(s->adjoint, j);
        by[j] = 0;
        for (int k = 0; k < nv; k++)
            by[j] += b->place[k] * w->moved[k] + b->rate[k] * w->moved[nv + k];
    }
    return SNW_OK;
}

snw_status gradient_start_open(const gradient_sweep *s, gradient_start *w, snw_error *err) {
    const size_t nv = (size_t)s->m->nv;
    *w = (gradient_start){.dx = snw_alloc((3 * nv + (size_t)s->g->nentry + 1) * sizeof *w->dx)};
    if (!w->dx || snw_state_create(s->m, &w->at) != SNW_OK) return snw_fail_memory(err);
    w->moved = w->dx + nv;
    w->p = w->moved + 2 * nv;
    memcpy(w->p, s->p, (size_t)s->g->nentry * sizeof *w->p);
    return SNW_OK;
}

void gradient_start_close(gradient_start *w) {
    snw_state_destroy(w->at);
    snw_free(w->dx);
}

snw_status gradient_start_states(const gradient_sweep *s, gradient_direction *d, double *out,
                                 snw_error *err) {
    const snw_model *m = s->m;
    bool moves = false;
    for (int i = 0; i < m->nsignal; i++) {
        out[i] = 0;
        if (m->signal[i].kind != SNW_SIGNAL_STATE) continue;
        for (int k = 0; k < 2; k++)
            moves = moves || !d->far[k] ||
                    d->far[k]->compiled->signal[i].initial != m->signal[i].initial;
    }
    if (!moves) return SNW_OK;
    SNW_TRY(gradient_open_samples(s, d, err));
    for (int i = 0; i < m->nsignal; i++) {
        for (int k = 0; k < GRADIENT_VARIANTS && m->signal[i].kind == SNW_SIGNAL_STATE; k++)
            out[i] += gradient_sample_weight(gradient_weight6, k) / d->step *
                      d->model[k]->compiled->signal[i].initial;
    }
    return SNW_OK;
}

// dJ += the derivatives by the initial values of the states of laws
static snw_status add_states(gradient_sweep *s, snw_error *err) {
    const int nz = s->m->nsignal;
    double *by = s->z_bar; // free after the sweep
    bool any = false;
    for (int i = 0; i < nz; i++) any = any || s->m->signal[i].kind == SNW_SIGNAL_STATE;
    if (!any) return SNW_OK;
    for (int k = 0; k < s->ndirection; k++) {
        gradient_direction *d = &s->direction[k];
        SNW_TRY(gradient_start_states(s, d, by, err));
        for (int j = 0; j < s->nscalar; j++) {
            d->by[j] = 0;
            for (int i = 0; i < nz; i++) d->by[j] += snw_adjoint_bars(s->adjoint, j)->z[i] * by[i];
        }
    }
    for (int k = 0; k < s->ndirection;)
        k += gradient_add_direction(s, &s->direction[k], snw_time_resolution(0));
    return SNW_OK;
}

snw_status gradient_add_starts(gradient_sweep *s, bool first, snw_error *err) {
    SNW_TRY(add_states(s, err));
    if (!gradient_begins_moving(s)) return SNW_OK;
    const snw_gradient *g = s->g;
    gradient_start w;
    snw_status status = gradient_start_open(s, &w, err);
    for (int k = 0; status == SNW_OK && k < s->ndirection; k++) {
        gradient_direction *d = &s->direction[k];
        status = start_along(s, d, d->entry, &w, d->by, err);
    }
    for (int k = 0; status == SNW_OK && k < s->ndirection;)
        k += gradient_add_direction(s, &s->direction[k], snw_time_resolution(0));
    for (int k = 0; status == SNW_OK && first && k < g->nentry; k++) {
        if (g->entry[k].kind != GRADIENT_POSITION && g->entry[k].kind != GRADIENT_VELOCITY)
            continue;
        status = start_along(s, NULL, k, &w, s->value, err);
        for (int j = 0; status == SNW_OK && j < g->nscalar; j++)
            s->dJ[(size_t)j * (size_t)g->nentry + (size_t)k] += s->value[j];
    }
    gradient_start_close(&w);
    return status;
}
