// SPDX-License-Identifier: MIT
//
// Stops at the limits of joints: force, derivatives and energy, theory.md (3.4a).

#include "dynamics/stop.h"

#include "math/positive_part.h"

static double damping_factor(const snw_stop *stop, double rate) {
    return snw_positive_part(1 - stop->damping * rate, SNW_HUNT_CROSSLEY_WIDTH);
}

// The nearer limit acts; between limits closer than `smooth` both would, which the reader refuses.
void snw_stops_motion(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w) {
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop *stop = &m->stop[i];
        const snw_block *b = &m->block[stop->block];
        const double q = s->q[b->q], low = q - stop->low, high = stop->high - q;
        snw_stop_work *at = &w->stop[i];
        *at = (snw_stop_work){.gap = low < high ? low : high, .way = low < high ? 1 : -1};
        if (!is_static) at->rate = at->way * s->v[b->dof];
        if (in->inertia_only || !snw_seg_is_active(m, w, b->seg)) continue;
        at->elastic_force = stop->stiffness * snw_positive_part(-at->gap, stop->smooth);
        at->force = at->elastic_force;
        if (!is_static) at->force *= damping_factor(stop, at->rate);
    }
}

void snw_stops_add(const snw_model *m, const snw_work *w, bool elastic, double *r) {
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop_work *at = &w->stop[i];
        r[m->block[m->stop[i].block].dof] -= at->way * (elastic ? at->elastic_force : at->force);
    }
}

void snw_stops_tangent(const snw_model *m, double cq, double cv, const snw_work *w, size_t ld,
                       double *T) {
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop *stop = &m->stop[i];
        const snw_stop_work *at = &w->stop[i];
        if (at->elastic_force == 0) continue;
        // both limits: the force varies by -way df/dg dg, dg = way dq
        double by_gap = stop->stiffness * snw_positive_part_d1(-at->gap, stop->smooth), by_rate = 0;
        if (!w->is_static) {
            by_gap *= damping_factor(stop, at->rate);
            by_rate = at->elastic_force * stop->damping *
                      snw_positive_part_d1(1 - stop->damping * at->rate, SNW_HUNT_CROSSLEY_WIDTH);
        }
        T[(size_t)m->block[stop->block].dof * (ld + 1)] += cq * by_gap + cv * by_rate;
    }
}

double snw_stop_energy(const snw_model *m, const snw_work *w, int i) {
    const snw_stop *stop = &m->stop[i];
    if (w->stop[i].elastic_force == 0) return 0;
    return stop->stiffness * snw_positive_part_integral(-w->stop[i].gap, stop->smooth);
}

double snw_stops_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nstop; i++) sum += snw_stop_energy(m, w, i);
    return sum;
}

double snw_stops_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nstop; i++) sum -= w->stop[i].elastic_force * w->stop[i].rate;
    return sum;
}

double snw_stops_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nstop; i++)
        sum -= (w->stop[i].force - w->stop[i].elastic_force) * w->stop[i].rate;
    return sum;
}
