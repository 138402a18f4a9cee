// SPDX-License-Identifier: MIT
//
// Before and after the blow M v is the same but for what rows and bodies do:
//   M (v+ - v-) = C' p - J_b' M_b V_b-,    C v+ = given rates,
// M with the links that are there afterwards and V_b- the velocity of the place at which a link at rest is taken up, so
// that what a body or node of it gets is M_b V_b+; its own coordinates have no rate before. Each closure i of rate e- loses
// -p e-/2, since its partners meet at their mean rate; a body (M_b V_b+) V_b-/2. What is left of the change of energy is
// work: of drives and poses that jump, and what links bring with them and take away.
#include "study/switch.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/loop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct snw_switches {
    const snw_model *m;
    snw_assembly *as;
    snw_work *w;
    snw_state *copy, *before;
    bool *fresh;            // nswitch: on from now on
    bool *here, *most;      // rows of the assembly: independent
    double *memory;         // everything below
    double *rate, *impulse; // nrow
    double *push;           // nv
    snw_twist *V;           // nseg: velocities before, of bodies picked up
};

snw_status snw_switches_create(const snw_model *m, snw_assembly *as, snw_switches **out) {
    *out = NULL;
    snw_switches *sw = snw_alloc(sizeof *sw);
    if (!sw) return SNW_E_MEMORY;
    sw->m = m;
    sw->as = as;
    const size_t nr = (size_t)m->nrow, rows = (size_t)snw_assembly_rows(as);
    sw->memory =
        snw_alloc((2 * nr + (size_t)m->nv) * sizeof(double) + (size_t)m->nseg * sizeof(snw_twist));
    sw->fresh = snw_alloc(((size_t)m->nswitch + 2 * rows) * sizeof(bool));
    if (!sw->memory || !sw->fresh || snw_work_create(m, &sw->w) != SNW_OK ||
        snw_state_create(m, &sw->copy) != SNW_OK || snw_state_create(m, &sw->before) != SNW_OK) {
        snw_switches_destroy(sw);
        return SNW_E_MEMORY;
    }
    sw->here = sw->fresh + m->nswitch;
    sw->most = sw->here + rows;
    sw->rate = sw->memory;
    sw->impulse = sw->rate + nr;
    sw->push = sw->impulse + nr;
    sw->V = (snw_twist *)(void *)(sw->push + m->nv);
    *out = sw;
    return SNW_OK;
}

void snw_switches_destroy(snw_switches *sw) {
    if (!sw) return;
    snw_work_destroy(sw->w);
    snw_state_destroy(sw->copy);
    snw_state_destroy(sw->before);
    snw_free(sw->memory);
    snw_free(sw->fresh);
    snw_free(sw);
}

// ---- what is on ------------------------------------------------------------------------------------

// a driven coordinate of a link that comes is where its law wants it
static void come_driven(const snw_switches *sw, const snw_inputs *in, snw_state *s) {
    const snw_model *m = sw->m;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->gate < 0 || !sw->fresh[d->gate]) continue;
        for (int k = 0; k < m->nfleeting; k++) {
            const int gate = m->fleeting_gate[k];
            if (m->fleeting[k] != d->dof || gate < 0 || !sw->fresh[gate]) continue;
            s->q[d->q] = snw_drive_target(m, in, s, i);
        }
    }
}

void snw_switches_set(snw_switches *sw, const snw_inputs *in, const double *z, snw_state *s) {
    const snw_model *m = sw->m;
    snw_kinematics(m, in, s, false, sw->w);
    for (int k = 0; k < m->nswitch; k++) {
        const int i = m->switch_signal[k];
        sw->fresh[k] = z[i] != 0 && s->z[i] == 0;
    }
    if (m->nsignal) memcpy(s->z, z, (size_t)m->nsignal * sizeof *z);
    snw_state_rest(m, s);
    snw_rows_meet(m, in, s, sw->w, sw->fresh, s->z);
    come_driven(sw, in, s);
}

// all rows of what is closed
static void unmask(const snw_model *m, snw_state *s) {
    for (int k = 0; k < m->nswitch; k++) {
        double *z = &s->z[m->switch_signal[k]];
        if (*z != 0) *z = 1;
    }
}

// rows that others imply, as bits behind the gates
static void mark_implied(snw_switches *sw, const snw_inputs *in, snw_state *s) {
    const snw_model *m = sw->m;
    snw_assembly_info info;
    snw_error ignored = {0};
    int enough = 0;
    bool any = false;
    for (int i = 0; i < m->nloop; i++) {
        const int gate = m->loop[i].gate;
        const bool on = gate < 0 || s->z[m->switch_signal[gate]] != 0;
        enough += on ? m->loop[i].nrow : 0;
        any = any || (gate >= 0 && on);
    }
    if (!any) return;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        enough += d->row >= 0 && (d->gate < 0 || s->z[m->switch_signal[d->gate]] != 0);
    }
    for (int i = 0; i < m->nmeasure; i++) enough += m->measure[i].row >= 0;
    unmask(m, s);
    snw_state_copy(m, s, sw->copy);
    // where it cannot be closed it is compared as it is
    if (snw_assembly_gap(sw->as, in, sw->copy, NULL) > 1e-12 &&
        snw_assembly_close(sw->as, in, sw->copy, &info, &ignored) != SNW_OK) {
        snw_state_copy(m, s, sw->copy);
    }
    if (snw_assembly_most(sw->as, sw->as, in, sw->copy, enough, sw->here, sw->most) == enough)
        return;
    for (int i = 0; i < m->nloop; i++) {
        const int gate = m->loop[i].gate;
        if (gate < 0 || s->z[m->switch_signal[gate]] == 0) continue;
        if (m->loop[i].grip) continue; // they share
        const bool *most = sw->most + snw_assembly_first_row(sw->as, i);
        for (int r = 0; r < m->loop[i].nrow; r++) {
            if (!most[r]) s->z[m->switch_signal[gate]] += 2 << r;
        }
    }
}

void snw_switches_compare(snw_switches *sw, const snw_inputs *in, snw_state *s) {
    mark_implied(sw, in, s);
    snw_kinematics(sw->m, in, s, false, sw->w);
    for (int k = 0; k < sw->m->nrow; k++) {
        if (snw_row_at(sw->m, sw->w, k).off) s->l[k] = 0;
    }
}

int snw_switches_remark(const snw_model *m, const snw_state *s, int i, char *out, size_t size) {
    const snw_loop *loop = &m->loop[i];
    const int on = loop->gate < 0 ? 0 : (int)s->z[m->switch_signal[loop->gate]];
    int n = 0;
    for (int r = 0; r < loop->nrow; r++) n += on >> (r + 1) & 1;
    if (size > 0) out[0] = 0;
    if (n > 0) {
        (void)snprintf(out, size,
                       "loop '%.80s', closed at t = %g s, says in %d of its rows what others say "
                       "already; %s left out as long as these are closed, %s undetermined",
                       m->desc->loop[i].name, s->t, n, n == 1 ? "that row is" : "those rows are",
                       n == 1 ? "its reaction is" : "their reactions are");
    }
    return on >> 1;
}

// ---- what closes -----------------------------------------------------------------------------------

// gaps that an instant found to rounding may leave, in radians or of the robot's size
static const double NEARLY = 1e-6;

static snw_status close_fresh(snw_switches *sw, const snw_inputs *in, snw_state *s,
                              snw_error *err) {
    snw_assembly_info info;
    int row = 0;
    const double gap = snw_assembly_gap(sw->as, in, s, &row);
    if (gap <= 1e-12) return SNW_OK;
    if (gap <= NEARLY) return snw_assembly_close(sw->as, in, s, &info, err);
    char by[64];
    const char *kind, *name;
    const snw_place at = snw_assembly_place_of(sw->as, row, &kind, &name);
    const bool loop = kind[0] == 'l';
    snw_assembly_say_gap(sw->as, row, gap, by, sizeof by);
    return snw_fail_place(
        err,
        snw_fail(err, SNW_E_MODEL, "%s '%s' is switched on at t = %.9g s where it is %s by %s; %s",
                 kind, name, s->t, loop ? "open" : "away from its law", by,
                 loop ? "let its condition hold where its sites meet, or join them as they are "
                        "then: pose: met"
                      : "let its law begin where the coordinate then is, or give its 'rate'"),
        at.file, at.line, at.column);
}

// rows that were left out must not ask for more than the others do
static snw_status check_left_out(snw_switches *sw, const snw_inputs *in, const snw_state *s,
                                 snw_error *err) {
    const snw_model *m = sw->m;
    double fast = 0;
    bool any = false;
    for (int k = 0; k < m->nrow; k++) {
        fast = fmax(fast, fabs(sw->rate[k]) / snw_row_at(m, sw->w, k).size);
        any = any || snw_row_at(m, sw->w, k).off;
    }
    if (!any) return SNW_OK;
    for (int i = 0; i < m->nv; i++) fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
    snw_state_copy(m, s, sw->copy);
    unmask(m, sw->copy);
    snw_kinematics(m, in, sw->copy, false, sw->w);
    snw_rows_rates(m, in, sw->copy, sw->w, sw->rate, NULL);
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int k = loop->row; !loop->grip && k < loop->row + loop->nrow; k++) {
            if (!(fabs(sw->rate[k]) > 1e-8 * fast * snw_row_at(m, sw->w, k).size)) continue;
            const snw_loop_desc *d = &m->desc->loop[i];
            return snw_fail_place(
                err,
                snw_fail(err, SNW_E_MODEL,
                         "loop '%s', closed at t = %.9g s, asks for another velocity than the "
                         "loops and poses that are closed already; leave out what is redundant, "
                         "or open one of them before",
                         d->name, s->t),
                d->place.file, d->place.line, d->place.column);
        }
    }
    return SNW_OK;
}

// ---- the blow --------------------------------------------------------------------------------------

static double energy(const snw_switches *sw, const snw_inputs *in, const snw_state *s) {
    return snw_kinetic_energy(sw->m, sw->w) + snw_gravity_energy(sw->m, in, sw->w) +
           snw_stored_energy(sw->m, s->q, sw->w);
}

static bool picked_up(const snw_switches *sw, int seg) {
    const snw_seg *at = &sw->m->seg[seg];
    return at->heavy && at->gate >= 0 && sw->fresh[at->gate];
}

// sw->push <- -J' M V of the bodies picked up, sw->V their velocities as of now; whether there are any
static bool take_up(snw_switches *sw) {
    const snw_model *m = sw->m;
    bool any = false;
    for (int i = 0; i < m->nv; i++) sw->push[i] = 0;
    for (int s = 1; s < m->nseg; s++) {
        if (!picked_up(sw, s)) continue;
        if (!any) snw_columns_sweep(m, sw->w);
        any = true;
        sw->V[s] = sw->w->V[s];
        const snw_wrench P = snw_inertia_apply(&m->seg[s].M, sw->V[s]);
        const snw_path *path = &m->path[m->seg[s].path];
        const double *J = path->n > 0 ? sw->w->J + m->seg_store[s] : NULL;
        for (int j = 0; j < path->n; j++) {
            for (int i = 0; i < 6; i++) sw->push[path->dof[j]] -= J[i * path->ld + j] * P.e[i];
        }
    }
    return any;
}

const double *snw_switches_come(snw_switches *sw, const snw_inputs *in, const snw_state *s,
                                snw_wrench *momentum) {
    const snw_model *m = sw->m;
    *momentum = (snw_wrench){0};
    snw_kinematics(m, in, s, false, sw->w);
    if (!take_up(sw)) return NULL;
    for (int i = 1; i < m->nseg; i++) {
        if (!picked_up(sw, i)) continue;
        const snw_wrench P = snw_inertia_apply(&m->seg[i].M, sw->V[i]);
        *momentum = snw_wrench_add(*momentum, snw_wrench_to_parent(sw->w->g[i], P));
    }
    return sw->push;
}

double snw_switches_come_lost(const snw_switches *sw, const snw_work *w) {
    double heat = 0;
    for (int s = 1; s < sw->m->nseg; s++) {
        if (!picked_up(sw, s)) continue;
        const snw_wrench P = snw_inertia_apply(&sw->m->seg[s].M, sw->V[s]);
        heat += snw_power(P, w->V[s]) - 0.5 * snw_power(P, sw->V[s]);
    }
    return heat;
}

// what is lost by what closes or is picked up: rates before in sw->rate, velocities after in sw->w
static double lost(const snw_switches *sw) {
    const snw_model *m = sw->m;
    double heat = 0;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->gate < 0 || !sw->fresh[loop->gate]) continue;
        for (int k = loop->row; k < loop->row + loop->nrow; k++) {
            heat -= 0.5 * sw->impulse[k] * sw->rate[k];
        }
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->gate < 0 || !sw->fresh[d->gate]) continue;
        heat -= 0.5 * sw->impulse[d->row] * sw->rate[d->row];
    }
    for (int s = 1; s < m->nseg; s++) {
        if (!picked_up(sw, s)) continue;
        heat += 0.5 * snw_power(snw_inertia_apply(&m->seg[s].M, sw->w->V[s]), sw->V[s]);
    }
    return heat;
}

static snw_status strike(snw_switches *sw, const snw_inputs *in, snw_state *s, double before,
                         snw_blow *out, snw_error *err) {
    const snw_model *m = sw->m;
    snw_kinematics(m, in, s, false, sw->w);
    snw_rows_rates(m, in, s, sw->w, sw->rate, NULL);
    const bool body = take_up(sw);
    SNW_TRY(snw_assembly_strike(sw->as, in, body ? sw->push : NULL, s, sw->impulse, err));
    snw_kinematics(m, in, s, false, sw->w);
    out->heat = lost(sw);
    out->work = energy(sw, in, s) - before + out->heat;
    return check_left_out(sw, in, s, err);
}

snw_status snw_switches_throw(snw_switches *sw, const snw_inputs *in, const double *z, snw_state *s,
                              snw_blow *out, snw_error *err) {
    const snw_model *m = sw->m;
    bool turned = false, closing = false;
    *out = (snw_blow){0};
    snw_state_copy(m, s, sw->before);
    snw_kinematics(m, in, s, false, sw->w);
    const double before = energy(sw, in, s);
    for (int k = 0; k < m->nswitch; k++) {
        const int i = m->switch_signal[k];
        turned = turned || (z && (z[i] != 0) != (s->z[i] != 0));
        closing = closing || (z && z[i] != 0 && s->z[i] == 0);
        sw->fresh[k] = false;
    }
    if (z) snw_switches_set(sw, in, z, s);
    if (turned) unmask(m, s);
    snw_status status = closing && m->nrow > 0 ? close_fresh(sw, in, s, err) : SNW_OK;
    if (status == SNW_OK && turned) snw_switches_compare(sw, in, s);
    if (status == SNW_OK) status = strike(sw, in, s, before, out, err);
    if (status != SNW_OK) snw_state_copy(m, sw->before, s);
    return status;
}
