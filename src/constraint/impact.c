// SPDX-License-Identifier: MIT
//
// Before and after the blow M v is the same but for what rows and bodies do:
//   M (v+ - v-) = C' p - J_b' M_b V_b-,    C v+ = given rates,
// M with the links that are there afterwards and V_b- the velocity of the place at which a link at
// rest is taken up, so that what a body or node of it gets is M_b V_b+; its own coordinates have no
// rate before. Each closure i of rate e- loses -p e-/2, since its partners meet at their mean rate;
// a body (M_b V_b+) V_b-/2. What is left of the change of energy is work: of drives and poses that
// jump, and what links bring with them and take away.
#include "constraint/impact.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/closure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct snw_impacts {
    const snw_model *m;
    snw_projection *projection;
    snw_work *w;
    snw_state *copy, *before;
    bool *fresh;             // nswitch: on from now on
    bool *was_active, *most; // rows of the assembly: independent
    double *memory;          // everything below
    double *rate, *impulse;  // nrow
    double *push;            // nv
    snw_twist *V;            // nseg: velocities before, of bodies picked up
};

snw_status snw_impacts_create(const snw_model *m, snw_projection *pr, snw_impacts **out) {
    *out = NULL;
    snw_impacts *ip = snw_alloc(sizeof *ip);
    if (!ip) return SNW_E_MEMORY;
    ip->m = m;
    ip->projection = pr;
    const size_t nr = (size_t)m->nconstraint, rows = (size_t)snw_projection_rows(pr);
    ip->memory =
        snw_alloc((2 * nr + (size_t)m->nv) * sizeof(double) + (size_t)m->nseg * sizeof(snw_twist));
    ip->fresh = snw_alloc(((size_t)m->ncondition + 2 * rows) * sizeof(bool));
    if (!ip->memory || !ip->fresh || snw_work_create(m, &ip->w) != SNW_OK ||
        snw_state_create(m, &ip->copy) != SNW_OK || snw_state_create(m, &ip->before) != SNW_OK) {
        snw_impacts_destroy(ip);
        return SNW_E_MEMORY;
    }
    ip->was_active = ip->fresh + m->ncondition;
    ip->most = ip->was_active + rows;
    ip->rate = ip->memory;
    ip->impulse = ip->rate + nr;
    ip->push = ip->impulse + nr;
    ip->V = (snw_twist *)(void *)(ip->push + m->nv);
    *out = ip;
    return SNW_OK;
}

void snw_impacts_destroy(snw_impacts *ip) {
    if (!ip) return;
    snw_work_destroy(ip->w);
    snw_state_destroy(ip->copy);
    snw_state_destroy(ip->before);
    snw_free(ip->memory);
    snw_free(ip->fresh);
    snw_free(ip);
}

// ---- what is on
// ------------------------------------------------------------------------------------

// a driven coordinate of a link that comes is where its law wants it
static void come_driven(const snw_impacts *ip, const snw_inputs *in, snw_state *s) {
    const snw_model *m = ip->m;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->condition < 0 || !ip->fresh[d->condition]) continue;
        for (int k = 0; k < m->nconditional; k++) {
            const int condition = m->conditional_on[k];
            if (m->conditional[k] != d->dof || condition < 0 || !ip->fresh[condition]) continue;
            s->q[d->q] = snw_drive_target(m, in, s, i);
        }
    }
}

void snw_impacts_set_conditions(snw_impacts *ip, const snw_inputs *in, const double *z,
                                snw_state *s) {
    const snw_model *m = ip->m;
    snw_kinematics(m, in, s, false, ip->w);
    for (int k = 0; k < m->ncondition; k++) {
        const int i = m->condition_signal[k];
        ip->fresh[k] = z[i] != 0 && s->z[i] == 0;
    }
    if (m->nsignal) memcpy(s->z, z, (size_t)m->nsignal * sizeof *z);
    snw_state_clear_inactive(m, s);
    snw_constraints_meet(m, in, s, ip->w, ip->fresh, s->z);
    come_driven(ip, in, s);
}

// all rows of what is closed
static void unmask(const snw_model *m, snw_state *s) {
    for (int k = 0; k < m->ncondition; k++) {
        double *z = &s->z[m->condition_signal[k]];
        if (*z != 0) *z = 1;
    }
}

// rows that others imply, as bits behind the gates
static void mark_implied(snw_impacts *ip, const snw_inputs *in, snw_state *s) {
    const snw_model *m = ip->m;
    snw_projection_info info;
    snw_error ignored = {0};
    int enough = 0;
    bool any = false;
    for (int i = 0; i < m->nloop; i++) {
        const int condition = m->loop[i].condition;
        const bool on = condition < 0 || s->z[m->condition_signal[condition]] != 0;
        enough += on ? m->loop[i].nrow : 0;
        any = any || (condition >= 0 && on);
    }
    if (!any) return;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        enough += d->row >= 0 && (d->condition < 0 || s->z[m->condition_signal[d->condition]] != 0);
    }
    for (int i = 0; i < m->ntendon; i++) enough += m->tendon[i].row >= 0;
    unmask(m, s);
    snw_state_copy(m, s, ip->copy);
    // where it cannot be closed it is compared as it is
    if (snw_projection_violation(ip->projection, in, ip->copy, NULL) > 1e-12 &&
        snw_projection_close(ip->projection, in, ip->copy, &info, &ignored) != SNW_OK) {
        snw_state_copy(m, s, ip->copy);
    }
    if (snw_projection_rank(ip->projection, ip->projection, in, ip->copy, enough, ip->was_active,
                            ip->most) == enough)
        return;
    for (int i = 0; i < m->nloop; i++) {
        const int condition = m->loop[i].condition;
        if (condition < 0 || s->z[m->condition_signal[condition]] == 0) continue;
        if (m->loop[i].nonholonomic) continue; // they share
        const bool *most = ip->most + snw_projection_first_row(ip->projection, i);
        for (int r = 0; r < m->loop[i].nrow; r++) {
            if (!most[r]) s->z[m->condition_signal[condition]] += 2 << r;
        }
    }
}

void snw_impacts_drop_redundant(snw_impacts *ip, const snw_inputs *in, snw_state *s) {
    mark_implied(ip, in, s);
    snw_kinematics(ip->m, in, s, false, ip->w);
    for (int k = 0; k < ip->m->nconstraint; k++) {
        if (snw_constraint_at(ip->m, ip->w, k).off) s->lambda[k] = 0;
    }
}

int snw_impacts_describe_dropped(const snw_model *m, const snw_state *s, int i, char *out,
                                 size_t size) {
    const snw_loop *loop = &m->loop[i];
    const int on = loop->condition < 0 ? 0 : (int)s->z[m->condition_signal[loop->condition]];
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

// ---- what closes
// -----------------------------------------------------------------------------------

// gaps that an instant found to rounding may leave, in radians or of the robot's size
static const double NEARLY = 1e-6;

static snw_status close_fresh(snw_impacts *ip, const snw_inputs *in, snw_state *s, snw_error *err) {
    snw_projection_info info;
    int row = 0;
    const double gap = snw_projection_violation(ip->projection, in, s, &row);
    if (gap <= 1e-12) return SNW_OK;
    if (gap <= NEARLY) return snw_projection_close(ip->projection, in, s, &info, err);
    char by[64];
    const char *kind, *name;
    const snw_source_location at = snw_projection_location_of(ip->projection, row, &kind, &name);
    const bool loop = kind[0] == 'l';
    snw_projection_explain_violation(ip->projection, row, gap, by, sizeof by);
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_MODEL, "%s '%s' is switched on at t = %.9g s where it is %s by %s; %s",
                 kind, name, s->t, loop ? "open" : "away from its law", by,
                 loop ? "let its condition hold where its sites meet, or join them as they are "
                        "then: pose: met"
                      : "let its law begin where the coordinate then is, or give its 'rate'"),
        at.file, at.line, at.column);
}

// rows that were left out must not ask for more than the others do
static snw_status check_left_out(snw_impacts *ip, const snw_inputs *in, const snw_state *s,
                                 snw_error *err) {
    const snw_model *m = ip->m;
    double fast = 0;
    bool any = false;
    for (int k = 0; k < m->nconstraint; k++) {
        fast = fmax(fast, fabs(ip->rate[k]) / snw_constraint_at(m, ip->w, k).size);
        any = any || snw_constraint_at(m, ip->w, k).off;
    }
    if (!any) return SNW_OK;
    for (int i = 0; i < m->nv; i++) fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
    snw_state_copy(m, s, ip->copy);
    unmask(m, ip->copy);
    snw_kinematics(m, in, ip->copy, false, ip->w);
    snw_constraints_rates(m, in, ip->copy, ip->w, ip->rate, NULL);
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int k = loop->row; !loop->nonholonomic && k < loop->row + loop->nrow; k++) {
            if (!(fabs(ip->rate[k]) > 1e-8 * fast * snw_constraint_at(m, ip->w, k).size)) continue;
            const snw_loop_desc *d = &m->desc->loop[i];
            return snw_fail_at_location(
                err,
                snw_fail(err, SNW_E_MODEL,
                         "loop '%s', closed at t = %.9g s, asks for another velocity than the "
                         "loops and poses that are closed already; leave out what is redundant, "
                         "or open one of them before",
                         d->name, s->t),
                d->location.file, d->location.line, d->location.column);
        }
    }
    return SNW_OK;
}

// ---- the blow
// --------------------------------------------------------------------------------------

static double energy(const snw_impacts *ip, const snw_inputs *in, const snw_state *s) {
    return snw_kinetic_energy(ip->m, ip->w) + snw_gravity_energy(ip->m, in, ip->w) +
           snw_stored_energy(ip->m, s->q, ip->w);
}

static bool picked_up(const snw_impacts *ip, int seg) {
    const snw_seg *at = &ip->m->seg[seg];
    return at->has_mass && at->condition >= 0 && ip->fresh[at->condition];
}

// ip->push <- -J' M V of the bodies picked up, ip->V their velocities as of now; whether there are
// any
static bool take_up(snw_impacts *ip) {
    const snw_model *m = ip->m;
    bool any = false;
    for (int i = 0; i < m->nv; i++) ip->push[i] = 0;
    for (int s = 1; s < m->nseg; s++) {
        if (!picked_up(ip, s)) continue;
        if (!any) snw_jacobian_pass(m, ip->w);
        any = true;
        ip->V[s] = ip->w->V[s];
        const snw_wrench P = snw_inertia_apply(&m->seg[s].M, ip->V[s]);
        const snw_path *path = &m->path[m->seg[s].path];
        const double *J = path->n > 0 ? ip->w->J + m->seg_store[s] : NULL;
        for (int j = 0; j < path->n; j++) {
            for (int i = 0; i < 6; i++) ip->push[path->dof[j]] -= J[i * path->ld + j] * P.e[i];
        }
    }
    return any;
}

const double *snw_impacts_activated_momentum(snw_impacts *ip, const snw_inputs *in,
                                             const snw_state *s, snw_wrench *momentum) {
    const snw_model *m = ip->m;
    *momentum = (snw_wrench){0};
    snw_kinematics(m, in, s, false, ip->w);
    if (!take_up(ip)) return NULL;
    for (int i = 1; i < m->nseg; i++) {
        if (!picked_up(ip, i)) continue;
        const snw_wrench P = snw_inertia_apply(&m->seg[i].M, ip->V[i]);
        *momentum = snw_wrench_add(*momentum, snw_wrench_to_parent(ip->w->g[i], P));
    }
    return ip->push;
}

double snw_impacts_activated_loss(const snw_impacts *ip, const snw_work *w) {
    double heat = 0;
    for (int s = 1; s < ip->m->nseg; s++) {
        if (!picked_up(ip, s)) continue;
        const snw_wrench P = snw_inertia_apply(&ip->m->seg[s].M, ip->V[s]);
        heat += snw_power(P, w->V[s]) - 0.5 * snw_power(P, ip->V[s]);
    }
    return heat;
}

// what is lost by what closes or is picked up: rates before in ip->rate, velocities after in ip->w
static double impact_lost(const snw_impacts *ip) {
    const snw_model *m = ip->m;
    double heat = 0;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->condition < 0 || !ip->fresh[loop->condition]) continue;
        for (int k = loop->row; k < loop->row + loop->nrow; k++) {
            heat -= 0.5 * ip->impulse[k] * ip->rate[k];
        }
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->condition < 0 || !ip->fresh[d->condition]) continue;
        heat -= 0.5 * ip->impulse[d->row] * ip->rate[d->row];
    }
    for (int s = 1; s < m->nseg; s++) {
        if (!picked_up(ip, s)) continue;
        heat += 0.5 * snw_power(snw_inertia_apply(&m->seg[s].M, ip->w->V[s]), ip->V[s]);
    }
    return heat;
}

static snw_status impact_strike(snw_impacts *ip, const snw_inputs *in, snw_state *s, double before,
                                snw_impact_energy *out, snw_error *err) {
    const snw_model *m = ip->m;
    snw_kinematics(m, in, s, false, ip->w);
    snw_constraints_rates(m, in, s, ip->w, ip->rate, NULL);
    const bool body = take_up(ip);
    SNW_TRY(snw_projection_impact(ip->projection, in, body ? ip->push : NULL, s, ip->impulse, err));
    snw_kinematics(m, in, s, false, ip->w);
    out->heat = impact_lost(ip);
    out->work = energy(ip, in, s) - before + out->heat;
    return check_left_out(ip, in, s, err);
}

snw_status snw_impacts_apply(snw_impacts *ip, const snw_inputs *in, const double *z, snw_state *s,
                             snw_impact_energy *out, snw_error *err) {
    const snw_model *m = ip->m;
    bool turned = false, closing = false;
    *out = (snw_impact_energy){0};
    snw_state_copy(m, s, ip->before);
    snw_kinematics(m, in, s, false, ip->w);
    const double before = energy(ip, in, s);
    for (int k = 0; k < m->ncondition; k++) {
        const int i = m->condition_signal[k];
        turned = turned || (z && (z[i] != 0) != (s->z[i] != 0));
        closing = closing || (z && z[i] != 0 && s->z[i] == 0);
        ip->fresh[k] = false;
    }
    if (z) snw_impacts_set_conditions(ip, in, z, s);
    if (turned) unmask(m, s);
    snw_status status = closing && m->nconstraint > 0 ? close_fresh(ip, in, s, err) : SNW_OK;
    if (status == SNW_OK && turned) snw_impacts_drop_redundant(ip, in, s);
    if (status == SNW_OK) status = impact_strike(ip, in, s, before, out, err);
    if (status != SNW_OK) snw_state_copy(m, ip->before, s);
    return status;
}
