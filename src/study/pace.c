// SPDX-License-Identifier: MIT
#include "study/pace.h"

#include "base/fail.h"
#include "study/mover_private.h"

#include <math.h>
#include <stdio.h>

// `t`: time of the laws that were tried last
static snw_status give_up(const snw_stepper *k, void *self, double t, double h,
                          const snw_chord_info *info, snw_error *err) {
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
                    "no motion found beyond t = %g s (steps down to %.2g s, %s); what was computed "
                    "is kept. Try %s",
                    reached, h, left, k->advice);
}

snw_status snw_pace_advance(snw_pace *p, const snw_stepper *k, void *self, double to, double limit,
                            snw_stats *took, snw_error *err) {
    const double t_laws = snw_before_jump(to, limit);
    const double begin = k->state(self)->t, span = to - begin;
    const double shortest = fmax(fmax(1e-7 * p->longest, p->least), 1e-14 * fabs(to));
    double h = p->control ? fmin(p->h, span) : span;
    for (;;) {
        const double t = k->state(self)->t, rest = to - t;
        const bool last = h >= rest * (1 - 1e-9);
        if (last) h = rest;
        snw_chord_info info;
        const double t_tried = last ? t_laws : t + h;
        snw_status s = k->step(self, h, t_tried, &info);
        took->iterations += info.iterations;
        took->tangents += info.tangents;
        took->residual = info.residual;
        const double miss = p->control && s == SNW_OK ? k->error(self) / p->tolerance : 0;
        if (s == SNW_OK && !(miss <= 1) && h > shortest) {
            k->back(self);
            s = SNW_E_DIVERGED;
            h *= fmax(0.2, 0.8 / pow(miss, 1 / p->power));
        } else if (s != SNW_OK) {
            h *= 0.5;
        }
        if (s != SNW_OK) {
            if (h < shortest) return give_up(k, self, t_tried, h, &info, err);
            continue;
        }
        took->increments++;
        if (last) return SNW_OK;
        const double grow = p->control ? fmin(2, 0.8 / pow(fmax(miss, 1e-3), 1 / p->power)) : 2;
        h = fmin(h * grow, p->longest);
        if (p->control) p->h = h;
    }
}
