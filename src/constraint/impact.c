// SPDX-License-Identifier: MIT
//
// Velocities and energy loss of plastic impacts (theory.md 3.10), from the mass matrix
// and the rows that are active afterwards:
//   M (v+ - v-) = C' p - sum J_b' M_b V_b-,    C v+ = given rates
// V_b- is the velocity of the point at which body b, at rest before, is attached, so the body
// receives the momentum M_b V_b+; the coordinates of its joint have no rate before. A closure with
// rate e- loses -p e-/2, an attached body (M_b V_b+) V_b-/2. The rest of the change of energy is
// work of drives and poses whose velocities jump, and energy that links bring or take away.

#include "constraint/impact.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "dynamics/constraint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// rows: of the projection
#define IMPACTS_FIELDS(AT, PACK)                                                                   \
    AT(bool, activated, m->ncondition, "becomes active in this impact")                            \
    PACK(bool, independent_here, rows, "in an independent set at s")                               \
    PACK(bool, independent, rows, "in an independent set at largest rank")                         \
    AT(double, rate, m->nconstraint, "rates before")                                               \
    PACK(double, impulse, m->nconstraint, "impulses")                                              \
    PACK(double, momentum, m->nv, "-J'M V of activated links")                                     \
    PACK(snw_twist, V, m->nseg, "velocities before, of activated segments")

struct snw_impacts {
    const snw_model *m;
    snw_projection *projection;
    snw_work *w;
    snw_state *copy, *before;
    IMPACTS_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
};

static void impacts_place(void *object, snw_fields *f) {
    snw_impacts *o = object;
    const snw_model *m = o->m;
    const int rows = snw_projection_rows(o->projection);
    IMPACTS_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_impacts_create(const snw_model *m, snw_projection *pr, snw_impacts **out) {
    *out = NULL;
    snw_impacts *ip = snw_alloc(sizeof *ip);
    if (!ip) return SNW_E_MEMORY;
    ip->m = m;
    ip->projection = pr;
    ip->block = snw_fields_create(impacts_place, ip);
    if (!ip->block || snw_work_create(m, &ip->w) != SNW_OK ||
        snw_state_create(m, &ip->copy) != SNW_OK || snw_state_create(m, &ip->before) != SNW_OK) {
        snw_impacts_destroy(ip);
        return SNW_E_MEMORY;
    }
    *out = ip;
    return SNW_OK;
}

void snw_impacts_use(snw_impacts *ip, const snw_model *m) { ip->m = m; }

void snw_impacts_destroy(snw_impacts *ip) {
    if (!ip) return;
    snw_work_destroy(ip->w);
    snw_state_destroy(ip->copy);
    snw_state_destroy(ip->before);
    snw_free(ip->block);
    snw_free(ip);
}

// ---- activation ---------------------------------------------------------------------------------

// driven coordinates of activated links move to their laws
static void place_driven(const snw_impacts *ip, const snw_inputs *in, snw_state *s) {
    const snw_model *m = ip->m;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->condition < 0 || !ip->activated[d->condition]) continue;
        for (int k = 0; k < m->nconditional; k++) {
            const int condition = m->conditional_on[k];
            if (m->conditional[k] != d->dof || condition < 0 || !ip->activated[condition]) continue;
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
        ip->activated[k] = z[i] != 0 && s->z[i] == 0;
    }
    if (m->nsignal) memcpy(s->z, z, (size_t)m->nsignal * sizeof *z);
    snw_state_clear_inactive(m, s);
    snw_constraints_capture(m, in, s, ip->w, ip->activated, s->z);
    place_driven(ip, in, s);
}

// conditions keep their truth and lose the bits of dropped rows
static void clear_dropped(const snw_model *m, snw_state *s) {
    for (int k = 0; k < m->ncondition; k++) {
        double *z = &s->z[m->condition_signal[k]];
        if (*z != 0) *z = 1;
    }
}

// dropped rows as bits 1, 2, ... of the signals of the conditions
static void mark_redundant(snw_impacts *ip, const snw_inputs *in, snw_state *s) {
    const snw_model *m = ip->m;
    snw_projection_info info;
    snw_error ignored = {0};
    int enough = 0;
    bool any = false;
    for (int i = 0; i < m->nloop; i++) {
        const int condition = m->loop[i].condition;
        const bool active = condition < 0 || s->z[m->condition_signal[condition]] != 0;
        enough += active ? m->loop[i].nrow : 0;
        any = any || (condition >= 0 && active);
    }
    if (!any) return;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        enough += d->row >= 0 && (d->condition < 0 || s->z[m->condition_signal[d->condition]] != 0);
    }
    for (int i = 0; i < m->ntendon; i++) enough += m->tendon[i].row >= 0;
    clear_dropped(m, s);
    snw_state_copy(m, s, ip->copy);
    // a robot that cannot be closed is compared as it is
    if (snw_projection_violation(ip->projection, in, ip->copy, NULL) > 1e-12 &&
        snw_projection_close(ip->projection, in, ip->copy, &info, &ignored) != SNW_OK) {
        snw_state_copy(m, s, ip->copy);
    }
    if (snw_projection_rank(ip->projection, ip->projection, in, ip->copy, enough,
                            ip->independent_here, ip->independent, NULL) == enough)
        return;
    for (int i = 0; i < m->nloop; i++) {
        const int condition = m->loop[i].condition;
        if (condition < 0 || s->z[m->condition_signal[condition]] == 0) continue;
        if (m->loop[i].nonholonomic) continue; // multipliers of minimum norm, redundancy.h
        const bool *independent = ip->independent + snw_projection_first_row(ip->projection, i);
        for (int r = 0; r < m->loop[i].nrow; r++) {
            if (!independent[r]) s->z[m->condition_signal[condition]] += 2 << r;
        }
    }
}

void snw_impacts_drop_redundant(snw_impacts *ip, const snw_inputs *in, snw_state *s) {
    mark_redundant(ip, in, s);
    snw_kinematics(ip->m, in, s, false, ip->w);
    for (int k = 0; k < ip->m->nconstraint; k++) {
        if (snw_constraint_at(ip->m, ip->w, k).inactive) s->lambda[k] = 0;
    }
}

int snw_impacts_describe_dropped(const snw_model *m, const snw_state *s, int i, char *out,
                                 size_t size) {
    const snw_loop *loop = &m->loop[i];
    const int signal = loop->condition < 0 ? 0 : (int)s->z[m->condition_signal[loop->condition]];
    int n = 0;
    for (int r = 0; r < loop->nrow; r++) n += signal >> (r + 1) & 1;
    if (size > 0) out[0] = 0;
    if (n > 0) {
        (void)snprintf(out, size,
                       "loop '%.80s', closed at t = %g s: %d of its constraint rows %s redundant "
                       "and dropped while the others are closed; %s undetermined",
                       m->label.loop[i].name, s->t, n, n == 1 ? "is" : "are",
                       n == 1 ? "its reaction is" : "their reactions are");
    }
    return signal >> 1;
}

// ---- closing ------------------------------------------------------------------------------------

// Largest violation, in radians or relative to the robot's length, that an activation may have
// because its time is known to rounding only; it is closed before the impact.
static const double CLOSABLE = 1e-6;

static snw_status close_activated(snw_impacts *ip, const snw_inputs *in, snw_state *s,
                                  snw_error *err) {
    snw_projection_info info;
    int row = 0;
    const double violation = snw_projection_violation(ip->projection, in, s, &row);
    if (violation <= 1e-12) return SNW_OK;
    if (violation <= CLOSABLE) return snw_projection_close(ip->projection, in, s, &info, err);
    char by[64];
    const char *kind, *name;
    const snw_source_location at = snw_projection_location_of(ip->projection, row, &kind, &name);
    const bool loop = kind[0] == 'l';
    snw_projection_explain_violation(ip->projection, row, violation, by, sizeof by);
    return snw_fail_at_location(
        err,
        snw_fail(
            err, SNW_E_MODEL, "%s '%s' becomes active at t = %.9g s while it is %s by %s; %s", kind,
            name, s->t, loop ? "open" : "away from its law", by,
            loop ? "let its condition hold when its sites coincide, or keep their pose at closing: "
                   "pose: at_closing"
                 : "let its law begin at the present value of the coordinate, or give its 'rate'"),
        at.file, at.line, at.column);
}

// dropped rows must hold at the velocities that the other rows give
static snw_status check_dropped(snw_impacts *ip, const snw_inputs *in, const snw_state *s,
                                snw_error *err) {
    const snw_model *m = ip->m;
    double fast = 0;
    bool any = false;
    for (int k = 0; k < m->nconstraint; k++) {
        fast = fmax(fast, fabs(ip->rate[k]) / snw_constraint_at(m, ip->w, k).size);
        any = any || snw_constraint_at(m, ip->w, k).inactive;
    }
    if (!any) return SNW_OK;
    for (int i = 0; i < m->nv; i++) fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
    snw_state_copy(m, s, ip->copy);
    clear_dropped(m, ip->copy);
    snw_kinematics(m, in, ip->copy, false, ip->w);
    snw_constraints_rates(m, in, ip->copy, ip->w, ip->rate, NULL);
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int k = loop->row; !loop->nonholonomic && k < loop->row + loop->nrow; k++) {
            if (!(fabs(ip->rate[k]) > 1e-8 * fast * snw_constraint_at(m, ip->w, k).size)) continue;
            const snw_label *d = &m->label.loop[i];
            return snw_fail_at_location(
                err,
                snw_fail(err, SNW_E_MODEL,
                         "loop '%s', closed at t = %.9g s, contradicts the velocities of the loops "
                         "and poses that are already closed; leave out redundant ones, or open one "
                         "of them first",
                         d->name, s->t),
                d->location.file, d->location.line, d->location.column);
        }
    }
    return SNW_OK;
}

// ---- impact -------------------------------------------------------------------------------------

static double impact_total_energy(const snw_impacts *ip, const snw_inputs *in, const snw_state *s) {
    return snw_kinetic_energy(ip->m, ip->w) + snw_gravity_energy(ip->m, in, ip->w) +
           snw_stored_energy(ip->m, s, ip->w);
}

static bool segment_activated(const snw_impacts *ip, int seg) {
    const snw_seg *at = &ip->m->seg[seg];
    return at->has_mass && at->condition >= 0 && ip->activated[at->condition];
}

// ip->momentum <- -J'M V of activated segments, ip->V <- their present velocities; false when there
// are none
static bool gather_momentum(snw_impacts *ip) {
    const snw_model *m = ip->m;
    bool any = false;
    for (int i = 0; i < m->nv; i++) ip->momentum[i] = 0;
    for (int s = 1; s < m->nseg; s++) {
        if (!segment_activated(ip, s)) continue;
        if (!any) snw_jacobian_pass(m, ip->w);
        any = true;
        ip->V[s] = ip->w->V[s];
        const snw_wrench P = snw_inertia_apply(&m->seg[s].M, ip->V[s]);
        const snw_path *path = &m->path[m->seg[s].path];
        const double *J = path->n > 0 ? ip->w->J + m->seg_store[s] : NULL;
        for (int j = 0; j < path->n; j++) {
            for (int i = 0; i < 6; i++) ip->momentum[path->dof[j]] -= J[i * path->ld + j] * P.e[i];
        }
    }
    return any;
}

const double *snw_impacts_activated_momentum(snw_impacts *ip, const snw_inputs *in,
                                             const snw_state *s, snw_wrench *momentum) {
    const snw_model *m = ip->m;
    *momentum = (snw_wrench){0};
    snw_kinematics(m, in, s, false, ip->w);
    if (!gather_momentum(ip)) return NULL;
    for (int i = 1; i < m->nseg; i++) {
        if (!segment_activated(ip, i)) continue;
        const snw_wrench P = snw_inertia_apply(&m->seg[i].M, ip->V[i]);
        *momentum = snw_wrench_add(*momentum, snw_wrench_to_parent(ip->w->g[i], P));
    }
    return ip->momentum;
}

double snw_impacts_activated_loss(const snw_impacts *ip, const snw_work *w) {
    double heat = 0;
    for (int s = 1; s < ip->m->nseg; s++) {
        if (!segment_activated(ip, s)) continue;
        const snw_wrench P = snw_inertia_apply(&ip->m->seg[s].M, ip->V[s]);
        heat += snw_power(P, w->V[s]) - 0.5 * snw_power(P, ip->V[s]);
    }
    return heat;
}

// energy lost by activated loops, drives and segments: rates before in ip->rate, velocities after
// in ip->w
static double impact_loss(const snw_impacts *ip) {
    const snw_model *m = ip->m;
    double heat = 0;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->condition < 0 || !ip->activated[loop->condition]) continue;
        for (int k = loop->row; k < loop->row + loop->nrow; k++) {
            heat -= 0.5 * ip->impulse[k] * ip->rate[k];
        }
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->condition < 0 || !ip->activated[d->condition]) continue;
        heat -= 0.5 * ip->impulse[d->row] * ip->rate[d->row];
    }
    for (int s = 1; s < m->nseg; s++) {
        if (!segment_activated(ip, s)) continue;
        heat += 0.5 * snw_power(snw_inertia_apply(&m->seg[s].M, ip->w->V[s]), ip->V[s]);
    }
    return heat;
}

static snw_status apply_impact(snw_impacts *ip, const snw_inputs *in, snw_state *s, double before,
                               snw_impact_energy *out, snw_error *err) {
    const snw_model *m = ip->m;
    snw_kinematics(m, in, s, false, ip->w);
    snw_constraints_rates(m, in, s, ip->w, ip->rate, NULL);
    const bool body = gather_momentum(ip);
    SNW_TRY(
        snw_projection_impact(ip->projection, in, body ? ip->momentum : NULL, s, ip->impulse, err));
    snw_kinematics(m, in, s, false, ip->w);
    out->heat = impact_loss(ip);
    out->work = impact_total_energy(ip, in, s) - before + out->heat;
    return check_dropped(ip, in, s, err);
}

snw_status snw_impacts_apply(snw_impacts *ip, const snw_inputs *in, const double *z, snw_state *s,
                             snw_impact_energy *out, snw_error *err) {
    const snw_model *m = ip->m;
    bool changed = false, closing = false;
    *out = (snw_impact_energy){0};
    snw_state_copy(m, s, ip->before);
    snw_kinematics(m, in, s, false, ip->w);
    const double before = impact_total_energy(ip, in, s);
    for (int k = 0; k < m->ncondition; k++) {
        const int i = m->condition_signal[k];
        changed = changed || (z && (z[i] != 0) != (s->z[i] != 0));
        closing = closing || (z && z[i] != 0 && s->z[i] == 0);
        ip->activated[k] = false;
    }
    if (z) snw_impacts_set_conditions(ip, in, z, s);
    if (changed) clear_dropped(m, s);
    snw_status status = closing && m->nconstraint > 0 ? close_activated(ip, in, s, err) : SNW_OK;
    if (status == SNW_OK && changed) snw_impacts_drop_redundant(ip, in, s);
    if (status == SNW_OK) status = apply_impact(ip, in, s, before, out, err);
    if (status != SNW_OK) snw_state_copy(m, ip->before, s);
    return status;
}
