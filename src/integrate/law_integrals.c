// SPDX-License-Identifier: MIT
//
// Trapezoidal rule for time integrals in laws and for states: the value at the end of a step is z +
// h/2 (integrand before + integrand after). For the implicit schemes.
#include "integrate/law_integrals.h"

void snw_law_integrals_predict(const snw_model *m, double h, const snw_state *now,
                               const double *source, snw_state *s, snw_inputs *in) {
    in->integral_step = 0.5 * h;
    for (int i = 0; i < m->nsignal; i++) {
        s->z[i] = now->z[i] + (snw_signal_grows(&m->signal[i]) ? 0.5 * h * source[i] : 0);
    }
}

void snw_law_integrals_finish(const snw_model *m, snw_inputs *in, snw_state *s, const snw_work *w,
                              double *source) {
    in->integral_step = 0;
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *signal = &m->signal[i];
        source[i] = 0;
        if (!snw_signal_grows(signal)) continue;
        s->z[i] = w->signal[i];
        source[i] = snw_expr_value(signal->source, (snw_at){.t = in->t, .signal = w->signal});
    }
}
