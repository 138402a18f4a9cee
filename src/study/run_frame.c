// SPDX-License-Identifier: MIT
//
// A frame: probes read, energies and statistics gathered, handed to the recorders.
#include "study/run_private.h"

#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// how far rows that were left out may come open before it is worth a word, in radians or relative
// to the robot's size
static const double ajar = 1e-4;

// Rows are left out because they held at several times of the study. Where they do not hold in
// between, what drives the robot asks for something that its loops do not allow.
static void look_at_rows_left_out(snw_run *r, const snw_view *v) {
    const snw_model *m = r->now->model;
    int spare = 0, row = 0;
    for (int i = 0; i < m->nloop; i++) spare += m->loop[i].nspare;
    if (spare == 0 || r->opened) return;
    snw_projection *pr = snw_statics_projection(r->now->statics);
    const double gap = snw_projection_violation(pr, v->in, v->state, &row);
    if (gap <= ajar) return;
    const char *kind, *name;
    char by[64], text[400];
    snw_projection_explain_violation(pr, row, gap, by, sizeof by);
    (void)snw_projection_location_of(pr, row, &kind, &name);
    (void)snprintf(
        text, sizeof text,
        "run '%.60s': %s '%.60s' is open by %s at t = %g s: rows of it were left out as implied "
        "by others, which they are not there; look at what is driven",
        r->info.run, kind, name, by, v->state->t);
    snw_run_warn(r, text);
    r->opened = true;
}

// r->q, r->v <- those of s in the bases of the file
static void declare(snw_run *r, const snw_state *s) {
    const snw_model *m = r->now->model;
    memcpy(r->q, s->q, (size_t)m->nq * sizeof *r->q);
    memcpy(r->v, s->v, (size_t)m->nv * sizeof *r->v);
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        snw_rod_declare(m, rod, r->q + rod->dof0 + rod->shift);
        snw_rod_declare(m, rod, r->v + rod->dof0);
    }
}

// Straight parts of tendons that have come to nothing: the cord has no direction there, and solvers
// find no rest.
static void without_length(snw_run *r, const snw_view *v) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *x = &m->tendon[i];
        int part = 0;
        for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
            if (m->tendon_point[k].segment < 0) continue;
            const snw_tendon_segment *p = &m->tendon_segment[m->tendon_point[k].segment];
            part++;
            const double f = snw_norm(snw_sub(v->w->g[p->b].p, v->w->g[p->a].p));
            if (r->beyond[m->desc->nlink + i] || f > 1e-3 * x->reference) continue;
            char text[280];
            (void)snprintf(
                text, sizeof text,
                "run '%s': straight part %d of tendon '%.60s' has come to nothing at t = %g "
                "s: where two of its eyes meet a cord has no direction; move them apart, "
                "or pull less",
                r->info.run, part, m->desc->tendon[i].name, v->state->t);
            snw_run_warn(r, text);
            r->beyond[m->desc->nlink + i] = true;
        }
    }
}

snw_status snw_run_frame(snw_run *r, int stage, const snw_view *v, snw_error *err) {
    const snw_model *m = r->now->model;
    snw_rotations_update(m, v->w, r->rotation);
    const snw_readings more = {.energy = v->energy,
                               .stability = v->stats.stability,
                               .frequency = r->frequency,
                               .start = r->start,
                               .rotation = r->rotation,
                               .fields = v->fields};
    for (int i = 0; i < r->desc->nprobe; i++) {
        if (r->column_first[i] < 0) continue;
        snw_probe_read(m, i, v->in, v->state, v->w, &more, r->column + r->column_first[i]);
    }
    snw_run_acting(r, v, r->acting);
    look_at_rows_left_out(r, v);
    declare(r, v->state);
    without_length(r, v);
    r->totals.frames++;
    if (!(v->stats.geometry <= r->totals.worst_geometry)) {
        r->totals.worst_geometry = v->stats.geometry;
    }
    if (!(v->stats.quadrature <= r->totals.worst_quadrature)) {
        r->totals.worst_quadrature = v->stats.quadrature;
    }
    // that of a mode is of its frequency
    if (v->stats.mode == 0 && v->stats.truncation >= 0 &&
        !(v->stats.truncation <= r->totals.worst_truncation)) {
        r->totals.worst_truncation = v->stats.truncation;
    }
    if (v->stats.condition > r->totals.worst_condition) {
        r->totals.worst_condition = v->stats.condition;
    }
    const double *loop = r->acting + 6 * (size_t)r->info.nload;
    const double *contact = loop + 6 * (size_t)r->info.nloop;
    const double *effort = contact + 6 * (size_t)r->info.ncontact;
    const snw_frame f = {.stage = stage,
                         .t = v->state->t,
                         .partial = v->partial,
                         .q = r->q,
                         .v = r->v,
                         .pose = snw_run_poses(r, v),
                         .column = r->column,
                         .load = r->acting,
                         .loop = loop,
                         .contact = contact,
                         .effort = effort,
                         .present = effort + r->info.ntendon,
                         .energy = v->energy,
                         .stats = v->stats,
                         .save = v->partial || v->live ? NULL : snw_run_save(r, v)};
    for (int i = 0; i < r->nrecorder; i++) {
        const snw_status s = r->recorder[i].frame(r->recorder[i].user, &f, err);
        if (s != SNW_OK) return s;
    }
    return SNW_OK;
}

bool snw_run_due(snw_run *r, double t, bool last) {
    const double every = r->desc->record_every;
    if (!(every > 0) || last || t >= r->next_frame - 1e-9 * every) {
        if (every > 0) r->next_frame = (floor(t / every + 1e-9) + 1) * every;
        return true;
    }
    return false;
}

// a tendon of given length that would have to push
static void pushing(snw_run *r, const snw_state *s) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *x = &m->tendon[i];
        const bool length = m->desc->tendon[i].kind == SNW_TENDON_CABLE && x->row >= 0;
        // rounding is no push
        if (!length || r->beyond[m->desc->nlink + i] || !(s->lambda[x->row] < -1e-9)) continue;
        char text[280];
        (void)snprintf(text, sizeof text,
                       "run '%s': tendon '%.60s' would have to push at t = %g s: its tension is %g "
                       "N, which no cord has; give it a 'compliance', so that it can be slack",
                       r->info.run, m->desc->tendon[i].name, s->t, s->lambda[x->row]);
        snw_run_warn(r, text);
        r->beyond[m->desc->nlink + i] = true;
    }
}

// the section of a fed rod is looked at where its material is now, which no file could be checked
// for
static snw_status run_frame_sound(const snw_model *m, const snw_rod *rod, double lambda,
                                  snw_error *err) {
    const snw_link_desc *link = &m->desc->link[rod->link];
    for (int k = -1; k < rod->nseg; k++) {
        const double y = k < 0 ? 1 : 1 - m->seg_x[rod->seg0 + k] / rod->L;
        double H[36], D[36];
        snw_inertia M;
        SNW_TRY(snw_section_at(&link->rod, link->name, rod->L - lambda * y, H, D, &M, err));
    }
    return SNW_OK;
}

snw_status snw_run_limits(snw_run *r, const snw_state *s, snw_error *err) {
    const snw_model *m = r->now->model;
    pushing(r, s);
    snw_run_turns(r, s);
    for (int i = 0; m->nfeed && i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        if (rod->section_varies) SNW_TRY(run_frame_sound(m, rod, s->q[rod->feed_q], err));
        if (rod->feed < 0 || s->q[rod->feed_q] > 1e-9 * rod->L) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "nothing of rod '%s' is left outside at t = %g s: its free length is %g m; "
                        "change what feeds it, or end the step before",
                        m->desc->link[rod->link].name, s->t, s->q[rod->feed_q]);
    }
    for (int l = 0; l < m->desc->nlink; l++) {
        const snw_link_desc *link = &m->desc->link[l];
        int n = 0;
        const snw_joint_coordinate *c = snw_joint_coordinates(link->joint, &n);
        for (int i = 0; i < n && !r->beyond[l]; i++) {
            if (!link->moves.limited[i]) continue;
            const double q = s->q[m->block[m->link_block[l]].q + i];
            const double low = link->moves.low[i], high = link->moves.high[i];
            if (q >= low && q <= high) continue;
            char text[240];
            (void)snprintf(
                text, sizeof text,
                "run '%s': joint '%.60s' is outside of its limits at t = %g s: %s %g %s, "
                "not in [%g, %g]; limits only warn",
                r->info.run, link->name, s->t, c[i].name, q, c[i].turn ? "rad" : "m", low, high);
            snw_run_warn(r, text);
            r->beyond[l] = true;
        }
    }
    return SNW_OK;
}
