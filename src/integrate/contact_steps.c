// SPDX-License-Identifier: MIT
//
// Was a step too long for contacts, stops or cables? theory.md (6.16)
#include "integrate/contact_steps.h"

#include "integrate/first_step.h"
#include "integrate/step_lengths.h"

#include <math.h>

// Limits of theory.md (6.16); energies relative to the energy in motion.
static const double EXCHANGE = 0.1;       // exchange with the ground allowed within a step
static const double GAIN = 0.005;         // total that contacts may create
static const double ACCOUNT_ERROR = 0.01; // of work and heat: error of the account
static const double NEGLIGIBLE = 1e-4; // relative to the largest energy in motion: less is ignored
static const double FADE_STEPS = 40;   // steps that relax EXCHANGE e times in a lasting contact
static const double MIN_CONTACT_STEP = 1e-5; // relative to the longest step
static const double MAX_SHORT_STEPS = 20000; // consecutive

// The energy created by the scheme is taken from the energies at both ends: the quadrature of (6.5)
// may miss a body that rotates far within a step.
double snw_contact_step_judge(const snw_contact_step *s, snw_impact_monitor *i) {
    const snw_step_energies *from = s->from, *to = s->to;
    const double h = s->h, created = to->total - from->total + s->heat - s->work;
    const double moves =
        fmax(from->kinetic + from->stored, to->kinetic + to->stored) + s->exchanged;
    i->peak = fmax(i->peak, moves);
    const double all = fmax(moves, fmax(NEGLIGIBLE * i->peak, 1e3 * s->noise));
    const bool pressed = from->touching > 0 || to->touching > 0;
    const bool set_changed = from->set != to->set;
    i->since = set_changed || !pressed ? 0 : i->since + 1;
    const double exchange =
        fmax(h * fmax(from->power, to->power), fabs(to->stored - from->stored)) / all;
    const double allowed = EXCHANGE * exp(i->since / FADE_STEPS);
    const double gained = (created - ACCOUNT_ERROR * s->exchanged - s->noise) / all;
    double fraction = 0;
    i->gain = fmax(0, i->gain + gained);
    if (pressed && !(exchange <= allowed)) fraction = fmax(0.1, 0.7 * allowed / exchange);
    const double slack = SNW_SLACK * fmax(h / s->longest, 0.05);
    if (!(gained <= slack) && !(i->gain <= GAIN)) {
        const double half = pressed ? 0.25 : 0.5;
        fraction = fraction > 0 ? fmin(fraction, half) : half;
    }
    return fraction;
}

double snw_contact_step_again(snw_impact_monitor *i, double fraction, double h, double longest,
                              bool touches, bool patient, bool *use_euler) {
    const double least = (touches ? MIN_CONTACT_STEP : SNW_MIN_FREE_STEP) * longest, grow = 2 * h;
    patient = patient && i->short_steps < MAX_SHORT_STEPS;
    const bool divisible =
        h > (1 + 1e-6) * least; // the last step of an interval may equal `least` up to rounding
    if (fraction > 0 && patient && divisible)
        return fmax(snw_step_length(fraction * h, longest), least);
    if (fraction > 0 && patient && touches && i->gain > GAIN && !*use_euler) return h;
    i->short_steps = i->longest > 0 ? i->short_steps + 1 : 0;
    if (i->longest > 0) i->longest = grow < longest && patient ? grow : 0;
    *use_euler = false;
    return 0;
}

bool snw_contact_step_is_least(double h, double longest) {
    return h <= (1 + 1e-6) * MIN_CONTACT_STEP * longest;
}
