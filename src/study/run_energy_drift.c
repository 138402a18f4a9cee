// SPDX-License-Identifier: MIT
//
// Energy that the time integrator creates and removes during a dynamic step (theory.md 6.5), the
// interval in which most of it arises, the presumed cause, and the warning.
#include "study/run_private.h"

#include <math.h>
#include <stdio.h>

static const double CREATED = 0.01,
                    REMOVED =
                        0.1; // fractions of the exchanged energy above which a warning is issued
static const double NEGLIGIBLE = 1e-4; // fraction of it within an interval that is ignored
static const double SOON = 10;         // intervals after a start or jump

void snw_energy_drift_begin(snw_energy_drift *d) {
    *d = (snw_energy_drift){.jump = -INFINITY, .least = INFINITY};
}

// Energy that neither work nor heat explains, dE - W + heat = balance - scheme, counts as created,
// whether the energy account attributes it to `scheme` or leaves it in `balance`.
void snw_energy_drift_at_frame(snw_energy_drift *d, const snw_energy *e) {
    const double created = e->balance - e->scheme;
    d->least = fmin(d->least, created);
    d->created = fmax(d->created, created - d->least);
}

// Exchanged energy up to the integrator's present time, J.
static double drift_exchanged(const snw_run *r, const snw_work_done *done) {
    double work = r->work;
    for (int i = 0; i < done->n; i++) work += done->work[i];
    return fmax(r->totals.exchanged, fmax(fabs(work), r->heat + done->heat));
}

static bool in_contact(const snw_model *m, const snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        if (w->contact_point[k].in_contact) return true;
    }
    if (w->ntouch > 0) return true;
    for (int k = 0; k < m->nstop; k++) {
        if (w->stop[k].elastic_force > 0) return true;
    }
    for (int k = 0; m->one_sided && k < m->nforce_element; k++) {
        const bool pulls = snw_force_element_table[m->force_element[k].kind].one_sided;
        if (pulls && w->force_element[k].elastic > 0) return true;
    }
    return false;
}

// Presumed cause of the energy lost in the last interval, J; heat: dissipated in it.
static snw_drift_cause drift_cause(const snw_run *r, const snw_integrator *it, double lost,
                                   double heat, const snw_stats *took) {
    const snw_energy_drift *d = &r->energy_drift;
    const double t = it->state(it->self)->t, soon = SOON * it->grid;
    const snw_model *m = r->now->model;
    if (snw_touches(m) && (took->increments > 1 || in_contact(m, it->work_at(it->self)))) {
        return m->ncontact_point || m->ntouching_rod ? SNW_DRIFT_CAUSE_CONTACT
                                                     : SNW_DRIFT_CAUSE_STOP;
    }
    if (t - d->jump <= soon) return SNW_DRIFT_CAUSE_JUMP;
    if (t - r->cursor.t0 <= soon) return SNW_DRIFT_CAUSE_RELEASE;
    return heat > fabs(lost) ? SNW_DRIFT_CAUSE_DAMPING : SNW_DRIFT_CAUSE_MOTION;
}

// Replace *s when this interval created, or removed, more.
static void update_peak(snw_drift_peak *s, double energy, double t, snw_drift_cause why) {
    if (!(energy > s->energy)) return;
    *s = (snw_drift_peak){.energy = energy, .t = t, .why = (double)why};
}

void snw_energy_drift_update(snw_run *r, const snw_integrator *it, const snw_stats *took) {
    snw_energy_drift *d = &r->energy_drift;
    const snw_work_done done = it->work(it->self);
    const double lost = done.scheme - d->scheme, heat = done.heat - d->heat;
    const double t = it->state(it->self)->t;
    d->scheme = done.scheme, d->heat = done.heat;
    d->high = fmax(d->high, done.scheme), d->low = fmin(d->low, done.scheme);
    d->created = fmax(d->created, d->high - done.scheme);
    d->removed = fmax(d->removed, done.scheme - d->low);
    if (!(fabs(lost) > NEGLIGIBLE * drift_exchanged(r, &done))) return;
    const snw_drift_cause why = drift_cause(r, it, lost, heat, took);
    update_peak(&d->creates, -lost, t, why);
    update_peak(&d->removes, lost, t, why);
}

double snw_energy_noise(const snw_run *r) {
    const snw_model *m = r->now->model;
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, m->scale[i] * m->typical[i]);
    return fmax(1e-15, 1e-13 * most);
}

static const char *cause_text(const snw_drift_peak *s) {
    switch ((snw_drift_cause)s->why) {
    case SNW_DRIFT_CAUSE_CONTACT:
        return "presumably in contact with the ground, an obstacle or another rod";
    case SNW_DRIFT_CAUSE_RELEASE:
        return "presumably by the release there";
    case SNW_DRIFT_CAUSE_JUMP:
        return "presumably by the jump of a load or actuator";
    case SNW_DRIFT_CAUSE_DAMPING:
        return "presumably by damping that is stiff against the steps";
    case SNW_DRIFT_CAUSE_STOP:
        return "presumably at a stop, or where a cable is taut";
    case SNW_DRIFT_CAUSE_MOTION:
        break;
    }
    return "presumably by motion that the steps do not resolve";
}

void snw_energy_drift_warn(const snw_run *r, const snw_step_desc *step, double grid) {
    const snw_energy_drift *d = &r->energy_drift;
    const double all = r->totals.exchanged, noise = snw_energy_noise(r);
    const bool creates = d->created > fmax(CREATED * all, noise);
    if (!creates && !(d->removed > fmax(REMOVED * all, noise))) return;
    const snw_drift_peak *s = creates ? &d->creates : &d->removes;
    char text[400], remedy[80] = "a smaller tolerance", at[60] = "";
    if (!step->control && grid > 0) {
        (void)snprintf(remedy, sizeof remedy, "step: %.3g ms%s", 250 * grid,
                       step->engine == SNW_ENGINE_SHOOTING ? "" : ", or adapt: on");
    }
    if (s->energy > 0) (void)snprintf(at, sizeof at, ", most at t = %.6g s", s->t);
    (void)snprintf(
        text, sizeof text,
        "run '%s', step '%.60s': the scheme %s %.3g J of %.3g J exchanged%s, %s; write %s",
        r->info.run, step->name, creates ? "created" : "removed", creates ? d->created : d->removed,
        all, at, cause_text(s), remedy);
    snw_run_warn(r, text);
}
