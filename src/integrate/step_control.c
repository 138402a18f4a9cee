// SPDX-License-Identifier: MIT
//
// Step-size control of implicit integrators: repeats, halves or adapts steps until an instant is
// reached. Works on the snw_stepper interface, for one-step implicit schemes, collocation and
// the shooting engine. theory.md 6.2
#include "integrate/step_control.h"

#include "base/fail.h"
#include "dynamics/rod_contact.h"
#include "integrate/integrator_private.h"
#include "integrate/step_lengths.h"
#include "integrate/step_scale.h"

#include <math.h>
#include <stdio.h>

enum { MOST_ATTEMPTS = 1000000 }; // steps attempted in one advance

// Reports why no step succeeds. t: time of the inputs tried last.
static snw_status step_control_give_up(const snw_step_control *p, const snw_stepper *k, void *self,
                                       double t, double h, const snw_chord_info *info,
                                       snw_error *err) {
    snw_error why = {0};
    const double reached = k->state(self)->t;
    if (k->check(self, t, &why) != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, SNW_NO_LAW, reached, why.text);
    }
    char left[64] = "forces that are not finite";
    if (isfinite(info->residual)) {
        (void)snprintf(left, sizeof left, "residual %.2g of a typical force", info->residual);
    }
    return snw_fail(err, SNW_E_DIVERGED,
                    "no motion found beyond t = %g s (steps down to %.2g s, %s); the results so "
                    "far are kept. Try %s",
                    reached, h, left,
                    p->control ? "a smaller tolerance, or a scheme with damping (rho, bdf2)"
                               : k->advice);
}

static snw_status too_coarse(const snw_step_control *p, double t, double h, double miss,
                             snw_error *err) {
    return snw_fail(
        err, SNW_E_DIVERGED,
        "no step is short enough beyond t = %g s: one of %.2g s misses the tolerance %g by a "
        "factor of %.2g; the results so far are kept. An input jumps there (give its instant by a "
        "law that shows it: step, if, hat), or the tolerance is too small",
        t, h, p->tolerance, miss);
}

static snw_status too_many(const snw_stepper *k, double t, double to, double h, snw_error *err) {
    return snw_fail(err, SNW_E_DIVERGED,
                    "the interval from t = %g s to %g s takes too many steps (the last of %.2g s); "
                    "the results so far are kept. Try %s",
                    t, to, h, k->advice);
}

static snw_status check_rods_depth(const snw_model *m, const snw_work *w, double t,
                                   snw_error *err) {
    const int k = snw_rod_contacts_too_deep(m, w);
    if (w->ntouch > m->most_touch) {
        return snw_fail(
            err, SNW_E_DIVERGED,
            "at t = %g s rods touch at %d places, and there is room for %d; the results "
            "so far are kept. Write more nodes for the rods",
            t, w->ntouch, m->most_touch);
    }
    if (w->touching_crowd) {
        return snw_fail(err, SNW_E_DIVERGED,
                        "at t = %g s more than %d pairs of slices of rods touch at the same time; "
                        "the results so "
                        "far are kept. Write fewer elements or nodes for the rods",
                        t, SNW_LOCAL_TOUCHES);
    }
    if (k < 0) return SNW_OK;
    const snw_touch *touch = &w->touch[k];
    return snw_fail(err, SNW_E_DIVERGED,
                    "at t = %g s rods '%s' and '%s' are %.3g m deep in each other (contact '%s'), "
                    "nearly as deep as their middles, and would pass through each other; the "
                    "results so far are kept. Write a larger stiffness",
                    t, snw_touch_link(m, touch, 0), snw_touch_link(m, touch, 1), -touch->gap,
                    m->label.contact[touch->contact].name);
}

snw_status snw_step_check_depth(const snw_model *m, const snw_work *w, double t, snw_error *err) {
    const int k = snw_contact_too_deep(m, w);
    SNW_TRY(check_rods_depth(m, w, t, err));
    if (k < 0) return SNW_OK;
    const snw_contact_point *p = &m->contact_point[k];
    return snw_fail(err, SNW_E_DIVERGED,
                    "at t = %g s link '%s' is %.3g m deep in obstacle '%s', nearly as deep as its "
                    "middle, and would come out on another side; the results so far are kept. "
                    "Write a larger stiffness",
                    t, m->label.link[p->link].name, -w->contact_point[k].gap,
                    m->label.contact[m->contact[p->contact].of].name);
}

// First step that the tolerance may allow: local errors scale with (h/time scale)^power, theory.md
// (6.12).
static double first_step(const snw_step_control *p, const snw_model *m, const snw_state *s) {
    const double fastest = snw_fastest_rate(m, s);
    return fastest > 0 ? pow(p->tolerance, 1 / p->power) / fastest : INFINITY;
}

// Length of a step that is at most h, theory.md (6.16a).
static double choose(const snw_step_control *p, double h) {
    return (p->part > 0 ? p->part : 1) * snw_step_length(h, p->longest);
}

snw_status snw_step_control_advance(snw_step_control *p, const snw_model *m, const snw_stepper *k,
                                    void *self, double to, double limit, snw_stats *took,
                                    snw_error *err) {
    const double t_laws = snw_before_jump(to, limit);
    const double begin = k->state(self)->t, interval = to - begin;
    // with free step lengths the first step may be far shorter than the time to the next instant
    const double smallest =
        isfinite(p->longest) ? SNW_SHORTEST_STEP * p->longest : 1e-12 * interval;
    const double longest = isfinite(p->longest) ? p->longest : interval;
    const double shortest = fmax(fmax(smallest, p->least), 1e-14 * fabs(to));
    if (p->control && !(p->h > 0)) {
        const double first = fmin(first_step(p, m, k->state(self)), p->longest);
        p->h = fmax(choose(p, first), shortest);
    }
    double h = p->control ? fmin(p->h, interval) : interval;
    const bool curved = !p->fixed && snw_contact_has_curved(m);
    double spent = 0; // Newton iterations
    for (long attempt = 0;; attempt++) {
        const double t = k->state(self)->t, remaining = to - t;
        if (snw_interrupted(p->interrupt)) {
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", t);
        }
        const bool exhausted = p->patience > 0 && spent > (double)p->patience;
        if (attempt == MOST_ATTEMPTS || exhausted) return too_many(k, t, to, h, err);
        if (k->limit) h = k->limit(self, fmin(h, remaining), longest);
        if (curved) {
            const snw_work *w = k->work_at(self);
            SNW_TRY(snw_step_check_depth(m, w, t, err));
            const double most = fmin(h, remaining), safe = snw_contact_step_limit(m, w, most);
            h = safe < most ? fmin(most, fmax(choose(p, safe), shortest)) : most;
        }
        const bool last = h >= remaining * (1 - 1e-9);
        if (last) h = remaining;
        snw_chord_info info;
        const double t_tried = last ? t_laws : t + h;
        if (k->make_room && k->make_room(self) != SNW_OK)
            return snw_fail(err, SNW_E_MEMORY, "no memory for the equations at t = %g s", t);
        snw_status s = k->step(self, h, t_tried, &info);
        took->iterations += info.iterations;
        took->tangents += info.tangents;
        took->residual = info.residual;
        spent += info.iterations;
        const double miss = p->control && s == SNW_OK ? k->error(self) / p->tolerance : 0;
        if (s == SNW_OK && !(miss <= 1)) {
            k->undo(self);
            if (h <= shortest) return too_coarse(p, t, h, miss, err);
            const double repeat = h * fmax(0.2, 0.8 / pow(miss, 1 / p->power));
            h = fmax(choose(p, repeat), shortest);
            continue;
        }
        // a live step is accepted rather than refined when half of its iterations are used up
        const bool hurried = p->patience > 0 && spent > 0.5 * (double)p->patience;
        const double shorter =
            s == SNW_OK && k->retry_length ? k->retry_length(self, h, longest, !hurried) : 0;
        if (shorter > 0) {
            k->shorten(self, h = shorter, longest);
            continue;
        }
        if (s != SNW_OK) {
            h = choose(p, 0.5 * h);
            if (h < shortest) return step_control_give_up(p, k, self, t_tried, h, &info, err);
            continue;
        }
        if (k->accept) k->accept(self, h);
        took->increments++;
        if (last || snw_monitor_stops(p->monitor)) return SNW_OK;
        const double grow = p->control ? fmin(2, 0.8 / pow(fmax(miss, 1e-3), 1 / p->power)) : 2;
        h = fmin(p->control ? choose(p, h * grow) : h * grow, p->longest);
        if (p->control) p->h = h;
    }
}
