// SPDX-License-Identifier: MIT
//
// Energy account of implicit steps (theory.md 6.5): work, heat and the energy that the scheme
// itself removes or creates; and, from these, whether a step was too long for a contact with the
// ground (6.16) or for a loop near a singular configuration (6.17).
#include "integrate/implicit_private.h"

#include "dynamics/drag_spring.h"
#include "integrate/contact_steps.h"
#include "integrate/first_step.h"
#include "integrate/step_account.h"
#include "integrate/step_energies.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

static snw_step_energies energies_at(const snw_implicit *im, double t, const snw_state *s) {
    snw_inputs_at(im->m, t, im->within);
    return snw_step_energies_at(im->m, im->within, s, im->w);
}

// Energy that residuals within Newton's tolerance may create in a step, and the rounding of floats
// in the account of a pack of single precision, whose residuals fall far below their tolerance; J.
static double newton_noise(const snw_implicit *im) {
    const double rounding = snw_touches(im->m) ? 0.1 : 1e-3;
    double most = 0;
    for (int k = 0; k < im->m->nv; k++) most = fmax(most, im->m->scale[k] * im->m->typical[k]);
    return fmax(10 * im->opts.tolerance, rounding * im->lane_tolerance) * most;
}

// Energy that the last step created, from those at its ends, which are of doubles.
static double created_by(const snw_implicit *im, const snw_step_energies *from,
                         const snw_step_energies *to) {
    double created = to->total - from->total + im->heat - im->heat_kept;
    for (int k = 0; k < snw_npower(im->m); k++) created -= im->work[k] - im->work_kept[k];
    return created;
}

// Judges the step just solved by its contacts.
static void implicit_energy_judge(snw_implicit *im, double h, const snw_step_energies *from,
                                  const snw_step_energies *to) {
    const int n = snw_npower(im->m);
    for (int k = 0; k < n; k++) im->power_within[k] = im->work[k] - im->work_kept[k];
    const double heat = im->heat - im->heat_kept;
    double work = 0;
    for (int k = 0; k < n; k++) work += im->power_within[k];
    const snw_contact_step step = {.h = h,
                                   .longest = im->longest,
                                   .work = work,
                                   .heat = heat,
                                   .exchanged = snw_vector_norm1(n, im->power_within) + fabs(heat),
                                   .noise = newton_noise(im),
                                   .from = from,
                                   .to = to};
    im->retry_fraction = snw_contact_step_judge(&step, &im->impact);
}

// Energy lost in a step, by the energies at both ends, relative to the largest energy in motion.
static double implicit_energy_lost(snw_implicit *im, double h) {
    snw_impact_monitor *i = &im->impact;
    const snw_step_energies from = energies_at(im, im->now->t, im->now);
    const snw_step_energies to = energies_at(im, im->now->t + h, im->trial);
    const int n = snw_npower(im->m);
    double removed = from.total - to.total - (im->heat - im->heat_kept);
    for (int k = 0; k < n; k++) removed += im->work[k] - im->work_kept[k];
    i->peak = fmax(i->peak, fmax(fmax(from.kinetic, to.kinetic), snw_vector_norm1(n, im->work)));
    return removed / i->peak;
}

// The same for a robot without contact under damped generalized-alpha: energies are relative to the
// largest energy in motion so far, and are evaluated only if the account (6.5) shows a gain or
// loss.
static void judge_without_contact(snw_implicit *im, double h, double created) {
    snw_impact_monitor *i = &im->impact;
    im->retry_fraction = 0;
    const double noise = newton_noise(im);
    // links of a loop that align within the step, theory.md (6.17)
    const double allowed = i->longest > 0 ? SNW_LOOP_LOSS * h / im->longest : im->loss_limit;
    if (im->has_closures && -created > 1e3 * noise && -created > allowed * i->peak &&
        implicit_energy_lost(im, h) > allowed) {
        im->retry_fraction = 0.5;
    }
    created -= noise;
    i->gain = fmax(0, i->gain + created);
    if (!(i->gain > 1e3 * noise) || !(i->gain > 0.5 * SNW_FREE_GAIN * i->peak)) return;
    const snw_step_energies from = energies_at(im, im->now->t, im->now);
    const snw_step_energies to = energies_at(im, im->now->t + h, im->trial);
    const double exchanged = fmax(im->heat, snw_vector_norm1(snw_npower(im->m), im->work));
    i->peak = fmax(i->peak, fmax(fmax(from.kinetic, to.kinetic), exchanged));
    const double slack = SNW_SLACK * fmax(h / im->longest, 0.05);
    if (im->lane_tolerance > im->opts.tolerance) created = created_by(im, &from, &to) - noise;
    if (created > slack * i->peak && i->gain > SNW_FREE_GAIN * i->peak + 1e3 * noise)
        im->retry_fraction = 0.5;
}

double snw_implicit_retry_length(snw_implicit *im, double h, double longest, bool patient) {
    if (im->opts.fixed_length) return 0;
    const double again = snw_contact_step_again(&im->impact, im->retry_fraction, h, longest,
                                                snw_touches(im->m), patient, &im->use_euler);
    return again < h ? im->opts.length_part * again : again;
}

void snw_implicit_shorten(snw_implicit *im, double h, double longest) {
    snw_implicit_undo(im);
    if (im->has_closures && !snw_touches(im->m) && im->impact.longest == 0) {
        const double before = energies_at(im, im->now->t, im->now).kinetic;
        snw_implicit_project_start(im);
        im->scheme += before - energies_at(im, im->now->t, im->now).kinetic;
    }
    im->impact.longest = h;
    im->use_euler = snw_touches(im->m) && snw_contact_step_is_least(h, longest);
}

// Adds heat and the energy that the scheme removed, and judges the step by them.
static void implicit_book(snw_implicit *im, double h, double heat, double unbalanced,
                          const snw_step_energies *from, const snw_step_energies *to) {
    im->heat += heat;
    im->scheme -= unbalanced + heat;
    if (snw_touches(im->m)) {
        implicit_energy_judge(im, h, from, to);
    } else if (!im->opts.control && im->opts.scheme.loss_known &&
               snw_scheme_overshoot(&im->opts.scheme) > 0 && snw_drag_spring_seg(im->in) == 0) {
        // the work of a drag spring far stiffer than the steps resolve is too inaccurate to judge
        // by
        judge_without_contact(im, h, unbalanced + heat);
    }
}

// Uses two Gauss points on the path of the step. The work of the residual there is the energy
// removed by the scheme; the work of elastic and contact forces is known exactly from the stored
// energy. theory.md (6.5)
void snw_implicit_account(snw_implicit *im, double h) {
    const snw_model *m = im->m;
    const snw_step_account account = {.m = m,
                                      .path = {.chart = im->opts.chart,
                                               .h = h,
                                               .q0 = im->now->q,
                                               .d = im->d,
                                               .rate0 = im->past.v,
                                               .rate1 = im->rate},
                                      .now = im->now,
                                      .trial = im->trial,
                                      .past_h = im->past.h,
                                      .vb = im->past.vb,
                                      .scratch = im->scratch,
                                      .at = im->scratch_state,
                                      .w = im->w,
                                      .power = im->power_within};
    const double heat = snw_step_account_heat(&account);
    double unbalanced = snw_step_account_elastic(&account);
    snw_step_energies from = {0}, to = {0};
    if (snw_step_energies_count(m)) {
        from = energies_at(im, im->now->t, im->now),
        to = energies_at(im, im->now->t + h, im->trial);
        unbalanced += to.interaction - from.interaction;
    }
    for (int k = 0; k < SNW_ACCOUNT_POINTS; k++) {
        snw_inputs_at(m, im->now->t + snw_account_point[k] * h, im->within);
        unbalanced += snw_step_account_at(&account, k, im->within, im->work, &im->heat);
    }
    implicit_book(im, h, heat, unbalanced, &from, &to);
}

void snw_implicit_book(snw_implicit *im, double h, const snw_step_sums *sums) {
    for (int i = 0; i < snw_npower(im->m); i++) im->work[i] += sums->work[i];
    im->heat += sums->other_heat;
    implicit_book(im, h, sums->heat, sums->unbalanced, sums->from, sums->to);
}
