// SPDX-License-Identifier: MIT
//
// Exact rows of probes: places, rotations, velocities, strains, coordinates and lengths of tendons,
// theory.md (3.7.1).
#include "study/probe_row.h"

#include "dynamics/feedback.h"
#include "dynamics/tendon.h"
#include "model/probe_kind.h"
#include "model/signal.h"

#include <string.h>

snw_signal snw_probe_signal(const snw_model *m, int probe, int column) {
    const int n = snw_probe_columns(&m->desc->probe[probe]) / m->probe_count[probe];
    snw_signal s = snw_signal_of_probe(m, probe, column % n);
    if (s.station >= 0) s.station += column / n;
    return s;
}

// Frame of a station with its Jacobian; observers that no law reads have none in w.
static snw_signal_frame frame_of(const snw_model *m, snw_observer *o, const snw_station *at,
                                 const snw_inputs *in, const snw_state *s, const snw_work *w) {
    const int seg = at->seg;
    if (seg < m->nseg) {
        const snw_path *path = &m->path[m->seg[seg].path];
        const size_t store = path->n > 0 ? (size_t)m->seg_store[seg] : 0;
        return (snw_signal_frame){w->g[seg], w->V[seg], path, w->J + store, w->dJ + store};
    }
    const bool offset = m->seg[seg].kind != SNW_SEG_ROD;
    const int below = offset ? m->seg[seg].parent : seg;
    const snw_se3 shift = offset ? w->h[seg] : snw_se3_identity();
    if (below < m->nseg) {
        snw_observer_at_seg(o, below, shift);
    } else {
        snw_observer_at_section(m, o, m->link_rod[m->seg[below].link], m->seg_x[below], shift);
    }
    snw_observer_motion(m, in, s, w, o);
    snw_observer_jacobian(m, w, o);
    return (snw_signal_frame){o->g, o->V, o->path, o->J, o->dJ};
}

bool snw_within_half_turn(snw_mat3 R, snw_vec3 continuous) {
    return snw_norm(snw_sub(snw_so3_log(R), continuous)) < 1e-6;
}

// Is the effort a function of time and of the coordinate of the tendon or chamber alone?
static bool effort_follows_coordinate(const snw_tendon *t) {
    return t->row < 0 && !t->has_friction && !t->area && !t->reads_signals &&
           t->given != SNW_GIVEN_RATE && t->given != SNW_GIVEN_ACTIVATION;
}

bool snw_probe_row(const snw_model *m, snw_observer *o, int probe, int column, const snw_inputs *in,
                   const snw_state *s, const snw_vec3 *rotation, snw_work *w, double *row) {
    const snw_probe_desc *p = &m->desc->probe[probe];
    if (p->kind == SNW_PROBE_LAW) return false;
    const snw_signal signal = snw_probe_signal(m, probe, column);
    double *by_x = row, *by_rate = row + m->nv;
    memset(row, 0, 2 * (size_t)m->nv * sizeof *row);
    switch (signal.reading) {
    case SNW_READ_POSITION:
    case SNW_READ_ROTATION:
    case SNW_READ_POSE:
    case SNW_READ_VELOCITY:
    case SNW_READ_TWIST: {
        if (signal.station < 0) return false;
        const snw_station *at = &m->station[signal.station];
        const snw_signal_frame frame = frame_of(m, o, at, in, s, w);
        const bool turns = signal.reading == SNW_READ_ROTATION || signal.reading == SNW_READ_POSE;
        if (turns && !snw_within_half_turn(frame.g.R, rotation[at->seg])) return false;
        snw_signal_frame_row(&signal, &frame, 1, 0, by_x);
        snw_signal_frame_row(&signal, &frame, 0, 1, by_rate);
        return true;
    }
    case SNW_READ_STRAIN:
        if (signal.station < 0) return false;
        snw_signal_strain_row(m, &signal, w, 1, by_x);
        return true;
    case SNW_READ_COORDINATE:
    case SNW_READ_RATE: {
        if (signal.block < 0 || p->of == SNW_PROBE_OF_MOTOR ||
            p->of == SNW_PROBE_OF_FORCE_ELEMENT || m->block[signal.block].space != SNW_SPACE_RN)
            return false;
        const int dof = m->block[signal.block].dof;
        (signal.reading == SNW_READ_RATE ? by_rate : by_x)[dof] = 1;
        return true;
    }
    case SNW_READ_TENDON:
    case SNW_READ_TENDON_RATE:
        if (signal.tendon < 0) return false;
        // a volume that depends on the pressure follows inputs directly
        if (m->tendon[signal.tendon].area && m->tendon[signal.tendon].area->by_pressure)
            return false;
        snw_tendon_jacobian(m, signal.tendon, signal.reading, 1, 0, w, by_x);
        if (signal.reading == SNW_READ_TENDON_RATE)
            snw_tendon_jacobian(m, signal.tendon, signal.reading, 0, 1, w, by_rate);
        for (int k = 0; signal.is_length && k < m->nv; k++) by_x[k] = -by_x[k];
        return true;
    case SNW_READ_TENDON_EFFORT:
        if (signal.tendon < 0 || !effort_follows_coordinate(&m->tendon[signal.tendon]))
            return false;
        snw_tendon_jacobian(m, signal.tendon, signal.reading, 1, 0, w, by_x);
        return true;
    case SNW_READ_LATER:
    case SNW_READ_NEVER:
        break;
    }
    return false;
}

// u <- those of the signals that are efforts of tendons, whose laws may read the memory; false: a
// signal is the volume of a chamber, which follows its pressure.
static bool efforts_along(const snw_model *m, const snw_inputs *in, const snw_work *w, double *u) {
    for (int k = 0; k < m->nlive; k++) {
        const snw_signal *s = &m->signal[m->live[k]];
        if (s->kind != SNW_SIGNAL_PROBE || s->tendon < 0) continue;
        if (m->tendon[s->tendon].area && m->tendon[s->tendon].area->by_pressure) return false;
        u[m->live[k]] = s->reading == SNW_READ_TENDON_EFFORT
                            ? snw_tendon_effort_along(m, s->tendon, in, w, u)
                            : 0;
    }
    return true;
}

static double motor_effort_along(const snw_model *m, int motor, int k, const snw_inputs *in,
                                 const snw_work *w, const double *u) {
    const snw_motor *d = &m->motor[motor];
    const snw_at at = {.t = in->t, .signal = w->signal};
    if (!snw_motor_reads_signals(m, in, motor) || !d->law[k]) return 0;
    if (d->when && snw_expr_value(d->when, at) == 0) return 0;
    return *in->signal_fraction * snw_expr_jet_signals(d->law[k], at, u).d;
}

bool snw_probe_by_memory(const snw_model *m, int probe, int column, const snw_inputs *in,
                         const snw_work *w, double *u, double *out) {
    const snw_probe_desc *p = &m->desc->probe[probe];
    *out = 0;
    if (!efforts_along(m, in, w, u)) return false;
    if (snw_probe_is_configuration(p->kind)) return true; // without chambers of the kind above
    if (p->kind == SNW_PROBE_ENERGY || p->kind == SNW_PROBE_ACCELERATION ||
        p->kind == SNW_PROBE_MOMENTUM)
        return true; // functions of the state of the robot
    if (p->of == SNW_PROBE_OF_MOTOR && p->kind == SNW_PROBE_EFFORT) {
        *out = motor_effort_along(m, p->item, column, in, w, u);
        return true;
    }
    const snw_signal signal = snw_probe_signal(m, probe, column);
    if (signal.reading != SNW_READ_TENDON_EFFORT || signal.tendon < 0) return false;
    if (m->tendon[signal.tendon].has_friction) return false; // pays out by its losses
    *out = snw_tendon_effort_along(m, signal.tendon, in, w, u);
    return true;
}
