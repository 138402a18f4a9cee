// SPDX-License-Identifier: MIT
//
// Completes the signals of a study after all its trees are read: finds the probes and columns, and
// refuses probes that laws cannot read in the same evaluation.
#include "language/read.h"

#include "base/fail.h"
#include "model/chamber_area.h"

// mark the signals that a law reads
static void signals_mark_signals(const snw_desc *d, snw_law law, bool *live) {
    for (int i = d->nsignal - 1; law && i >= 0; i--) live[i] = live[i] || snw_expr_reads(law, i);
}

static bool reads_probes(const snw_tendon_desc *d) {
    const snw_law laws[] = {d->law, d->when};
    for (int i = 0; i < 2; i++) {
        if (laws[i] && (snw_expr_vars(laws[i]) & SNW_VAR_SIGNAL)) return true;
    }
    return false;
}

// true if the volume is known only after a pressure that reads probes
static bool follows_pressure(const snw_tendon_desc *d) {
    return d->area && snw_expr_reads(d->area, SNW_CHAMBER_PRESSURE) && reads_probes(d);
}

// true if the effort is an explicit function of the state and time, without signals
static bool is_explicit(const snw_tendon_desc *d) {
    if (reads_probes(d)) return false;
    if (!snw_gives_motion(d->given)) return true;
    return d->compliance > 0 && d->friction == 0 && d->viscous == 0;
}

static snw_status check_readable(snw_reader *r, const snw_desc *d) {
    bool live[SNW_SIGNALS_MAX] = {0};
    for (int i = 0; i < d->nload; i++) {
        for (int k = 0; k < 3; k++) {
            signals_mark_signals(d, d->load[i].force[k], live);
            signals_mark_signals(d, d->load[i].torque[k], live);
        }
    }
    for (int i = 0; i < d->nstress; i++) {
        for (int k = 0; k < 6; k++) signals_mark_signals(d, d->stress[i].stress[k], live);
    }
    for (int i = 0; i < d->nmotor; i++) {
        for (int k = 0; k < d->motor[i].n; k++) signals_mark_signals(d, d->motor[i].law[k], live);
    }
    for (int i = 0; i < d->ntendon; i++) signals_mark_signals(d, d->tendon[i].law, live);
    for (int i = 0; i < d->nsignal; i++) {
        if (d->signal[i].kind == SNW_SIGNAL_STATE)
            signals_mark_signals(d, d->signal[i].source, live);
    }
    for (int i = d->nsignal - 1; i >= 0; i--) {
        const snw_signal_desc *s = &d->signal[i];
        if (s->kind == SNW_SIGNAL_INTEGRAL) signals_mark_signals(d, s->source, live);
        if (s->kind != SNW_SIGNAL_PROBE || !live[i]) continue;
        const snw_reading reading = snw_probe_reading(&d->probe[s->probe]);
        if (reading == SNW_READ_TENDON_EFFORT &&
            !is_explicit(&d->tendon[d->probe[s->probe].item])) {
            return snw_fail_at(r->err, d->probe[s->probe].location,
                               "a law reads probe '%s', an effort that is computed with the motion "
                               "or depends on probes itself; use sampled(..) for this one",
                               d->probe[s->probe].name);
        }
        if (reading == SNW_READ_TENDON && follows_pressure(&d->tendon[d->probe[s->probe].item])) {
            return snw_fail_at(r->err, d->probe[s->probe].location,
                               "a law reads probe '%s', the volume of a chamber whose area depends "
                               "on its pressure, which depends on probes; use sampled(..) for this "
                               "one",
                               d->probe[s->probe].name);
        }
        if (reading != SNW_READ_LATER && reading != SNW_READ_NEVER) continue;
        return snw_fail_at(r->err, d->probe[s->probe].location,
                           "a law reads probe '%s', but laws can read only position, rotation, "
                           "pose, velocity, twist, strain, coordinates of joints and quantities of "
                           "tendons and chambers; conditions and sampled(..) can read this one",
                           d->probe[s->probe].name);
    }
    return SNW_OK;
}

// Mark the signals that end conditions of steps read, directly or through stored values. The
// conditions are shared by all descriptions, so these sources are kept in each; sources used by
// laws only belong to the description of the law.
static void mark_step_conditions(const snw_desc *d, bool *needed) {
    for (int i = 0; i < d->nstep; i++) signals_mark_signals(d, d->step[i].until, needed);
    for (int i = d->nsignal - 1; i >= 0; i--) {
        if (needed[i]) signals_mark_signals(d, d->signal_use[i].source, needed);
    }
}

static snw_status assign_signals(snw_reader *r, snw_desc *d) {
    const snw_signals *s = r->signals;
    bool needed[SNW_SIGNALS_MAX] = {0};
    r->desc->nsignal = d->nsignal = s->n;
    mark_step_conditions(r->desc, needed);
    snw_signal_desc *slot = snw_pool_array(r->pool, (size_t)s->n, sizeof *slot);
    if (s->n > 0 && !slot) return snw_read_memory(r);
    for (int i = 0; i < s->n; i++) {
        slot[i] = s->slot[i];
        slot[i].text = s->text[i];
        const bool own = d->signal_use[i].source || !needed[i];
        const snw_signal_use use = own ? d->signal_use[i] : r->desc->signal_use[i];
        slot[i].source = use.source;
        slot[i].period = use.period;
        slot[i].initial = use.initial;
        if (slot[i].kind != SNW_SIGNAL_PROBE) continue;
        SNW_TRY(snw_find_probe(r, r->root->location, s->text[i], &slot[i].probe));
        const snw_probe_desc *p = &d->probe[slot[i].probe];
        if (p->along > 0) {
            return snw_fail_at(r->err, p->location, "laws and conditions cannot read probe '%s'",
                               p->name);
        }
        snw_error why = {0};
        snw_dim dim;
        if (snw_signal_column(p->kind, p->joint, p->name, s->component[i], &slot[i].column, &dim,
                              &why) == SNW_OK)
            continue;
        return snw_fail_at(r->err, p->location, "%s", why.text);
    }
    d->signal = slot;
    return check_readable(r, d);
}

snw_status snw_read_signals(snw_reader *r) {
    snw_desc *d = r->desc;
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].changed) SNW_TRY(assign_signals(r, (snw_desc *)d->step[i].changed));
    }
    return assign_signals(r, d);
}
