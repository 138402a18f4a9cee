// SPDX-License-Identifier: MIT
//
// Typical forces of an implicit step, to which its residual is compared, and the first guess of its
// increment.
#include "integrate/step_scale.h"

#include <math.h>

double snw_fastest_rate(const snw_model *m, const snw_state *s) {
    double rate = 0, acceleration = 0;
    for (int i = 0; i < m->nv; i++) {
        rate = fmax(rate, fabs(s->v[i]) / m->typical[i]);
        acceleration = fmax(acceleration, fabs(s->a[i]) / m->typical[i]);
    }
    return fmax(rate, sqrt(acceleration));
}

void snw_step_scale_set(const snw_model *m, const snw_state *now, const snw_step_scale *s,
                        double *force, double *scale) {
    static const double fraction = 0.01;
    const double fastest = s->h * snw_fastest_rate(m, now);
    const double error = fraction * pow(fastest, s->order + 2);
    for (int i = 0; i < m->nv; i++) {
        const double inertia = s->b * s->mass[i] * m->typical[i];
        scale[i] = force[i] = m->scale[i] + 1e-3 * inertia;
        if (!s->tighten) continue;
        const double least = SNW_ROUNDING * (m->scale[i] + fastest * inertia);
        scale[i] = fmin(scale[i], fmax(error * inertia, least) / s->tolerance);
    }
}

void snw_step_predict(const snw_history *p, double h, double *d) {
    for (int i = 0; i < p->n; i++) {
        d[i] = p->h > 0 ? h / p->h * (p->d[i] + 0.5 * (h + p->h) * (p->v[i] - p->vb[i]))
                        : h * (p->v[i] + (p->h < 0 ? 0 : 0.5 * h * p->a[i]));
    }
}
