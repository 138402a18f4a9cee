// SPDX-License-Identifier: MIT
//
// Divergence test of a dynamic step, theory.md (6.14): the energy created by its time steps,
// G = change of (T + U) - work + heat, is compared with the energy that could have moved the robot:
// energy stored at the start, work of all forces, change of gravitational energy.
#include "study/run_private.h"

#include "base/fail.h"

#include <math.h>
#include <stdio.h>

static const double FACTOR = 10; // created over supplied energy above which the motion has diverged
static const double ROUNDING = 1e-6; // fraction of typical energies, for rounding at rest

static double diverge_typical_energy(const snw_model *m) {
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, m->scale[i] * m->typical[i]);
    return most;
}

void snw_run_divergence_begin(snw_run *r, const snw_energy *first) {
    r->cursor.supplied = first->kinetic + fabs(first->elastic);
    r->cursor.height = first->gravity;
}

// Advice for the error message, by the integrator and its step control.
static void divergence_advice(const snw_model *m, const snw_step_desc *step, char *out,
                              size_t size) {
    const snw_scheme_info *scheme = &snw_scheme_table[step->scheme];
    const bool adaptive = step->control || scheme->chooses_steps;
    const bool no_adaptive =
        !(scheme->options & SNW_SCHEME_TAKES_ADAPT) || step->engine == SNW_ENGINE_SHOOTING;
    if (adaptive) {
        (void)snprintf(out, size, "Give a smaller tolerance, e.g. 'tolerance: %.2g'",
                       0.01 * (step->tolerance > 0 ? step->tolerance : SNW_STEP_ERROR));
    } else if (no_adaptive) {
        (void)snprintf(out, size, "Give a shorter step, e.g. 'step: %.3g ms'",
                       0.125e3 * step->step);
    } else {
        snw_step_desc fine = *step;
        snw_error ignored = {0};
        fine.scheme = SNW_SCHEME_GAUSS4;
        const bool supported = snw_integrator_check(m, &fine, &ignored) == SNW_OK;
        (void)snprintf(out, size,
                       "Let '%sadapt: on' choose them, or give a shorter one, e.g. 'step: %.3g ms'",
                       supported ? "scheme: gauss4, " : "", 0.125e3 * step->step);
    }
}

snw_status snw_run_check_divergence(snw_run *r, const snw_integrator *it, const snw_energy *e,
                                    snw_error *err) {
    const snw_step_desc *step = &r->desc->step[r->cursor.stage];
    const snw_work_done done = it->work(it->self);
    double work = 0, sum = 0;
    for (int i = 0; i < done.n; i++) work += fabs(done.work[i]), sum += done.work[i];
    const double created = e->kinetic + e->elastic + e->gravity - r->cursor.start - sum + done.heat;
    const double start = r->cursor.supplied,
                 moved = fmax(work, fabs(e->gravity - r->cursor.height));
    r->cursor.supplied = fmax(start, moved); // fmax drops the NaN of a diverged step
    const double limit =
        FACTOR * r->cursor.supplied + ROUNDING * diverge_typical_energy(r->now->model);
    if (step->kinematic || created <= limit) return SNW_OK;
    char text[200];
    const snw_model *m = r->now->model;
    divergence_advice(m, step, text, sizeof text);
    if (m->singular > 0 || m->magnification > 0) {
        (void)snprintf(text, sizeof text,
                       "Start away from the singular configuration of '%.40s', or let rods stretch",
                       m->label.loop[m->singular_loop].name);
    }
    return snw_fail(err, SNW_E_DIVERGED,
                    "the motion diverges: until t = %g s steps that are too long created %.2g J, "
                    "while %.2g J were stored or supplied; the results so far are kept. %s",
                    it->state(it->self)->t, created, r->cursor.supplied, text);
}
