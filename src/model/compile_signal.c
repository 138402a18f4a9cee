// SPDX-License-Identifier: MIT
//
// Signals that enter the equations of motion: those in laws of loads and efforts, and integrals.
// The observers of their probes take part in the Jacobian pass, so that the tangent is exact
// (theory.md 3.7).
#include "model/compile.h"

static bool reads_signals(snw_law law) { return law && (snw_expr_vars(law) & SNW_VAR_SIGNAL); }

// Mark in `live` the signals that n laws read; returns whether there are any.
static bool signal_mark_signals(const snw_desc *d, int n, const snw_law *law, bool *live) {
    bool any = false;
    for (int k = 0; k < n; k++) {
        if (!reads_signals(law[k])) continue;
        any = true;
        for (int i = 0; i < d->nsignal; i++) live[i] = live[i] || snw_expr_reads(law[k], i);
    }
    return any;
}

static void mark_laws(const snw_desc *d, bool *load_reads, bool *stress_reads, bool *motor_reads,
                      bool *tendon_reads, bool *live) {
    for (int i = 0; i < d->nload; i++) {
        const snw_load_desc *l = &d->load[i];
        load_reads[i] = signal_mark_signals(d, 3, l->force, live);
        load_reads[i] = signal_mark_signals(d, 3, l->torque, live) || load_reads[i];
        load_reads[i] = signal_mark_signals(d, 1, &l->when, live) || load_reads[i];
    }
    for (int i = 0; i < d->nstress; i++) {
        stress_reads[i] = signal_mark_signals(d, 6, d->stress[i].stress, live);
        stress_reads[i] = signal_mark_signals(d, 1, &d->stress[i].when, live) || stress_reads[i];
    }
    for (int i = 0; i < d->nmotor; i++) {
        if (d->motor[i].kind != SNW_MOTOR_EFFORT) continue; // laws of drives depend on t only
        motor_reads[i] = signal_mark_signals(d, d->motor[i].n, d->motor[i].law, live);
        motor_reads[i] = signal_mark_signals(d, 1, &d->motor[i].when, live) || motor_reads[i];
    }
    for (int i = 0; i < d->ntendon; i++) {
        tendon_reads[i] = signal_mark_signals(d, 1, &d->tendon[i].law, live);
        tendon_reads[i] = signal_mark_signals(d, 1, &d->tendon[i].when, live) || tendon_reads[i];
    }
    // integrals are always advanced, even if only a condition reads them; sources read earlier
    // signals
    for (int i = d->nsignal - 1; i >= 0; i--) {
        if (d->signal[i].kind != SNW_SIGNAL_INTEGRAL || !d->signal[i].source) continue;
        live[i] = true;
        (void)signal_mark_signals(d, 1, &d->signal[i].source, live);
    }
}

// read <- observers of the live probes and the observers they are attached to, in rising order.
static void list_observers(snw_build *b, const bool *live, int *read) {
    snw_model *m = b->m;
    for (int s = m->nseg; s < m->nseg + m->nobs; s++) {
        bool needed = false;
        for (int i = 0; i < m->nsignal && !needed; i++) {
            const snw_signal_desc *signal = &m->desc->signal[i];
            if (!live[i] || signal->kind != SNW_SIGNAL_PROBE) continue;
            for (int at = m->station[m->probe_station[signal->probe]].seg; at >= m->nseg;) {
                needed = needed || at == s;
                at = b->seg[at].parent;
            }
        }
        if (needed) read[m->nread++] = s;
    }
}

snw_status snw_build_signals(snw_build *b) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    m->nsignal = d->nsignal;
    bool *load_reads = snw_build_array(b, (size_t)d->nload, sizeof *load_reads);
    bool *stress_reads = snw_build_array(b, (size_t)d->nstress, sizeof *stress_reads);
    bool *motor_reads = snw_build_array(b, (size_t)d->nmotor, sizeof *motor_reads);
    bool *tendon_reads = snw_build_array(b, (size_t)d->ntendon, sizeof *tendon_reads);
    bool *marked = snw_build_array(b, (size_t)d->nsignal, sizeof *marked);
    int *live = snw_build_array(b, (size_t)d->nsignal, sizeof *live);
    int *read = snw_build_array(b, (size_t)m->nobs, sizeof *read);
    if (b->memory_out) return SNW_E_MEMORY;
    mark_laws(d, load_reads, stress_reads, motor_reads, tendon_reads, marked);
    for (int i = 0; i < d->nsignal; i++) {
        if (marked[i]) live[m->nlive++] = i;
    }
    list_observers(b, marked, read);
    m->load_reads = load_reads;
    m->stress_reads = stress_reads;
    m->motor_reads = motor_reads;
    m->tendon_reads = tendon_reads;
    m->live = live;
    m->read = read;
    return SNW_OK;
}
