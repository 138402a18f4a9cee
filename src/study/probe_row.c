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

// Is the effort a function of time, of the coordinate of the tendon or chamber and of signals
// alone?
static bool effort_follows_coordinate(const snw_tendon *t) {
    return t->row < 0 && !t->has_friction && !t->area && t->given != SNW_GIVEN_RATE &&
           t->given != SNW_GIVEN_ACTIVATION;
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
        if (!m->tendon[signal.tendon].reads_signals) return true;
        snw_tendon_effort_row(m, signal.tendon, in, 1, 0, w, by_x);
        snw_tendon_effort_row(m, signal.tendon, in, 0, 1, w, by_rate);
        return true;
    case SNW_READ_LATER:
    case SNW_READ_NEVER:
        break;
    }
    return false;
}

static double motor_effort_by(const snw_model *m, int motor, int k, const snw_inputs *in,
                              const snw_work *w, int signal) {
    const snw_motor *d = &m->motor[motor];
    const snw_at at = {.t = in->t, .signal = w->signal};
    if (!snw_motor_reads_signals(m, in, motor) || !d->law[k]) return 0;
    if (d->when && snw_expr_value(d->when, at) == 0) return 0;
    return *in->signal_fraction * snw_expr_jet_signal(d->law[k], at, signal).d;
}

bool snw_probe_by_memory(const snw_model *m, int probe, int column, const snw_inputs *in,
                         const snw_work *w, int memory, double *out) {
    const snw_probe_desc *p = &m->desc->probe[probe];
    *out = 0;
    if (p->kind == SNW_PROBE_LAW) return false;
    if (p->of == SNW_PROBE_OF_MOTOR && p->kind == SNW_PROBE_EFFORT) {
        *out = motor_effort_by(m, p->item, column, in, w, memory);
        return true;
    }
    const snw_signal signal = snw_probe_signal(m, probe, column);
    const snw_tendon *tendon = signal.tendon >= 0 ? &m->tendon[signal.tendon] : NULL;
    switch (signal.reading) {
    case SNW_READ_TENDON_EFFORT:
        if (!tendon || tendon->has_friction) return false; // of a length: through its losses
        *out = snw_tendon_effort_by(m, signal.tendon, in, w, memory);
        return true;
    case SNW_READ_TENDON:
    case SNW_READ_TENDON_RATE: // a volume may follow the pressure
        return !tendon || !tendon->area || !tendon->area->by_pressure;
    case SNW_READ_POSITION:
    case SNW_READ_ROTATION:
    case SNW_READ_POSE:
    case SNW_READ_VELOCITY:
    case SNW_READ_TWIST:
    case SNW_READ_STRAIN:
    case SNW_READ_COORDINATE:
    case SNW_READ_RATE:
        return true;
    case SNW_READ_LATER:
    case SNW_READ_NEVER:
        break;
    }
    return p->kind == SNW_PROBE_ENERGY || p->kind == SNW_PROBE_ACCELERATION ||
           p->kind == SNW_PROBE_MOMENTUM; // functions of the state of the robot
}
