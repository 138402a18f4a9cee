// SPDX-License-Identifier: MIT
//
// What the time scheme does to the energy of a dynamic step (theory.md 6.5): how much it created
// and removed, when most, and the word about it.
#include "study/run_private.h"

#include <math.h>
#include <stdio.h>

static const double CREATED = 0.01, REMOVED = 0.1; // of the exchanged energy, worth a word
static const double FAINT = 1e-4;                  // of it within an interval, not looked at
static const double SOON = 10;                     // intervals behind a start or jump

void snw_drift_begin(snw_drift *d) { *d = (snw_drift){.jump = -INFINITY, .least = INFINITY}; }

// Energy that neither work nor heat explains, E - W + heat, counts as created whether the account
// books it as `scheme` or leaves it in `balance`.
void snw_drift_weigh(snw_drift *d, const snw_energy *e) {
    const double made = e->balance - e->scheme;
    d->least = fmin(d->least, made);
    d->created = fmax(d->created, made - d->least);
}

// Exchanged energy up to the integrator's present time, J.
static double drift_moved(const snw_run *r, const snw_work_done *done) {
    double work = r->work;
    for (int i = 0; i < done->n; i++) work += done->work[i];
    return fmax(r->totals.exchanged, fmax(fabs(work), r->heat + done->heat));
}

static bool touches(const snw_model *m, const snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        if (w->contact_point[k].near) return true;
    }
    return false;
}

static snw_suspect suspect(const snw_run *r, const snw_integrator *it, double lost, double heat,
                           const snw_stats *took) {
    const snw_drift *d = &r->drift;
    const double t = it->state(it->self)->t, soon = SOON * it->grid;
    const snw_model *m = r->now->model;
    if (m->ncontact_point && (took->increments > 1 || touches(m, it->work_at(it->self)))) {
        return SNW_SUSPECT_CONTACT;
    }
    if (t - d->jump <= soon) return SNW_SUSPECT_JUMP;
    if (t - r->here.t0 <= soon) return SNW_SUSPECT_RELEASE;
    return heat > fabs(lost) ? SNW_SUSPECT_DAMPING : SNW_SUSPECT_MOTION;
}

// a single interval may be the one in which most was created, or removed
static void sharpen(snw_sharpest *s, double energy, double t, snw_suspect why) {
    if (!(energy > s->energy)) return;
    *s = (snw_sharpest){.energy = energy, .t = t, .why = (double)why};
}

void snw_drift_follow(snw_run *r, const snw_integrator *it, const snw_stats *took) {
    snw_drift *d = &r->drift;
    const snw_work_done done = it->work(it->self);
    const double lost = done.scheme - d->scheme, heat = done.heat - d->heat;
    const double t = it->state(it->self)->t;
    d->scheme = done.scheme, d->heat = done.heat;
    d->high = fmax(d->high, done.scheme), d->low = fmin(d->low, done.scheme);
    d->created = fmax(d->created, d->high - done.scheme);
    d->removed = fmax(d->removed, done.scheme - d->low);
    if (!(fabs(lost) > FAINT * drift_moved(r, &done))) return;
    const snw_suspect why = suspect(r, it, lost, heat, took);
    sharpen(&d->creates, -lost, t, why);
    sharpen(&d->removes, lost, t, why);
}

static const char *reason(const snw_sharpest *s) {
    switch ((snw_suspect)s->why) {
    case SNW_SUSPECT_CONTACT:
        return "presumably in contact with the ground";
    case SNW_SUSPECT_RELEASE:
        return "presumably by what was let go there";
    case SNW_SUSPECT_JUMP:
        return "presumably by the jump of what acts";
    case SNW_SUSPECT_DAMPING:
        return "presumably by damping that is stiff against the steps";
    case SNW_SUSPECT_MOTION:
        break;
    }
    return "presumably by motion that the steps do not resolve";
}

void snw_drift_speak(const snw_run *r, const snw_step_desc *step, double grid) {
    const snw_drift *d = &r->drift;
    const double all = r->totals.exchanged, noise = 1e-15; // J, of what does not move
    const bool creates = d->created > fmax(CREATED * all, noise);
    if (!creates && !(d->removed > fmax(REMOVED * all, noise))) return;
    const snw_sharpest *s = creates ? &d->creates : &d->removes;
    char text[400], word[80] = "a smaller tolerance", at[60] = "";
    if (!step->control && grid > 0) {
        (void)snprintf(word, sizeof word, "step: %.3g ms%s", 250 * grid,
                       step->engine == SNW_ENGINE_SHOOTING ? "" : ", or adapt: on");
    }
    if (s->energy > 0) (void)snprintf(at, sizeof at, ", most at t = %.6g s", s->t);
    (void)snprintf(text, sizeof text,
                   "run '%s', step '%.60s': the scheme %s %.3g J of %.3g J that moved%s, %s; write "
                   "%s",
                   r->info.run, step->name, creates ? "created" : "removed",
                   creates ? d->created : d->removed, all, at, reason(s), word);
    snw_run_warn(r, text);
}
