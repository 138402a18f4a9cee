// SPDX-License-Identifier: MIT
//
// Signals, and those that enter the equations of motion: in laws of loads and efforts, and
// integrals. The observers of their probes take part in the Jacobian pass, so that the tangent is
// exact (theory.md 3.7).
#include "model/compile.h"

#include "base/fail.h"
#include "model/probe_kind.h"
#include "model/signal.h"

#include <string.h>

// ---- probes

// Block of the joint axis or free length whose coordinate or rate a probe reads.
static int block_of(const snw_model *m, const snw_probe_desc *p, int column) {
    if (p->of == SNW_PROBE_OF_LOOP ||
        (p->of == SNW_PROBE_OF_MOTOR && m->desc->motor[p->item].feed)) {
        return m->seg[m->rod[m->link_rod[p->site.link]].root].item;
    }
    return m->link_block[p->site.link] + column;
}

static void read_probe(const snw_model *m, const snw_probe_desc *p, int station, snw_signal *s) {
    s->reading = snw_probe_reading(p);
    s->body = p->body;
    if (p->of == SNW_PROBE_OF_TENDON) {
        s->tendon = p->item;
        s->is_length = p->kind == SNW_PROBE_LENGTH;
        return;
    }
    switch (s->reading) {
    case SNW_READ_POSITION:
    case SNW_READ_ROTATION:
    case SNW_READ_POSE:
    case SNW_READ_VELOCITY:
    case SNW_READ_TWIST:
    case SNW_READ_STRAIN:
        s->station = station;
        break;
    case SNW_READ_COORDINATE:
    case SNW_READ_RATE:
        s->block = block_of(m, p, s->column);
        break;
    case SNW_READ_TENDON:
    case SNW_READ_TENDON_RATE:
    case SNW_READ_TENDON_EFFORT:
    case SNW_READ_LATER:
    case SNW_READ_NEVER:
        break;
    }
}

static snw_signal signal_of(const snw_model *m, const snw_signal_desc *d) {
    snw_signal s = {.kind = d->kind,
                    .source = d->source,
                    .period = d->period,
                    .initial = d->initial,
                    .text = d->text,
                    .probe = d->probe,
                    .column = d->column,
                    .station = -1,
                    .block = -1,
                    .tendon = -1};
    if (d->kind != SNW_SIGNAL_PROBE) return s;
    read_probe(m, &m->desc->probe[d->probe], m->probe_station[d->probe], &s);
    return s;
}

snw_signal snw_signal_of_probe(const snw_model *m, int probe, int column) {
    return signal_of(
        m, &(snw_signal_desc){.kind = SNW_SIGNAL_PROBE, .probe = probe, .column = column});
}

// ---- live signals

// Mark in `live` the signals that n laws read.
static void mark_signals(const snw_model *m, int n, const snw_law *law, bool *live) {
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < m->nsignal && snw_reads_signals(1, &law[k]); i++) {
            live[i] = live[i] || snw_expr_reads(law[k], i);
        }
    }
}

static void mark_laws(const snw_model *m, bool *live) {
    for (int i = 0; i < m->nload; i++) {
        mark_signals(m, 3, m->load[i].force, live);
        mark_signals(m, 3, m->load[i].torque, live);
        mark_signals(m, 1, &m->load[i].when, live);
    }
    for (int i = 0; i < m->nstress; i++) {
        mark_signals(m, 6, m->stress[i].stress, live);
        mark_signals(m, 1, &m->stress[i].when, live);
    }
    for (int i = 0; i < m->nmotor; i++) {
        if (!m->motor[i].law) continue; // laws of drives depend on t only
        mark_signals(m, m->motor[i].n, m->motor[i].law, live);
        mark_signals(m, 1, &m->motor[i].when, live);
    }
    for (int i = 0; i < m->ntendon; i++) {
        mark_signals(m, 1, &m->tendon[i].law, live);
        mark_signals(m, 1, &m->tendon[i].when, live);
    }
    for (int i = 0; i < m->nsignal; i++) {
        if (m->signal[i].kind != SNW_SIGNAL_STATE || !m->signal[i].source) continue;
        live[i] = true;
        mark_signals(m, 1, &m->signal[i].source, live);
    }
    // integrals are always advanced, even if only a condition reads them; sources read earlier
    // signals
    for (int i = m->nsignal - 1; i >= 0; i--) {
        if (m->signal[i].kind != SNW_SIGNAL_INTEGRAL || !m->signal[i].source) continue;
        live[i] = true;
        mark_signals(m, 1, &m->signal[i].source, live);
    }
}

// read <- observers of the live probes and the observers they are attached to, in rising order.
static void list_observers(snw_build *b, const bool *live, int *read) {
    snw_model *m = b->m;
    for (int s = m->nseg; s < m->nseg + m->nobs; s++) {
        bool needed = false;
        for (int i = 0; i < m->nsignal && !needed; i++) {
            const snw_signal *signal = &m->signal[i];
            if (!live[i] || signal->kind != SNW_SIGNAL_PROBE) continue;
            for (int at = m->station[m->probe_station[signal->probe]].seg; at >= m->nseg;) {
                needed = needed || at == s;
                at = b->seg[at].parent;
            }
        }
        if (needed) read[m->nread++] = s;
    }
}

// Shape functions of a strain that laws read, so that they are not evaluated in each residual, and
// devices need no bases.
static snw_status tabulate_strain(snw_build *b, snw_signal *signal) {
    const snw_station *at = &b->m->station[signal->station];
    const snw_rod *rod = &b->m->rod[at->rod];
    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    if (rod->rest_varies || rod->together || rod->given[signal->column]) return SNW_OK;
    snw_strain_table *table = snw_build_array(b, 1, sizeof *table);
    if (!table) return SNW_E_MEMORY;
    const double end = rod->L * (1 - 1e-15);
    (void)snw_rod_basis(rod, at->x, at->x < rod->L ? at->x : end, first, count, phi);
    table->rest = snw_rod_rest(rod, at->x).e[signal->column];
    const double *from = phi;
    for (int a = 0; a < rod->na; from += count[a], a++) {
        if (rod->comp[a] != signal->column) continue;
        double *values = snw_build_array(b, (size_t)count[a], sizeof *values);
        if (!values) return SNW_E_MEMORY;
        memcpy(values, from, (size_t)count[a] * sizeof *values);
        table->dof = rod->dof[a] + first[a];
        table->q = table->dof + rod->shift;
        table->count = count[a];
        table->phi = values;
    }
    signal->table = table;
    return SNW_OK;
}

snw_status snw_build_signals(snw_build *b) {
    snw_model *m = b->m;
    m->nsignal = m->desc->nsignal;
    snw_signal *signal = snw_build_array(b, (size_t)m->nsignal, sizeof *signal);
    bool *marked = snw_build_array(b, (size_t)m->nsignal, sizeof *marked);
    int *live = snw_build_array(b, (size_t)m->nsignal, sizeof *live);
    int *read = snw_build_array(b, (size_t)m->nobs, sizeof *read);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < m->nsignal; i++) signal[i] = signal_of(m, &m->desc->signal[i]);
    m->signal = signal;
    mark_laws(m, marked);
    for (int i = 0; i < m->nsignal; i++) {
        if (marked[i]) live[m->nlive++] = i;
    }
    for (int i = 0; i < m->nsignal; i++) {
        snw_signal *to = &signal[i];
        if (to->kind == SNW_SIGNAL_PROBE && to->reading == SNW_READ_STRAIN)
            SNW_TRY(tabulate_strain(b, to));
    }
    list_observers(b, marked, read);
    m->live = live;
    m->read = read;
    return SNW_OK;
}
