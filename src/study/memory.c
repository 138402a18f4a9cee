// SPDX-License-Identifier: MIT
//
// Memory of laws at instants: reads the probes that laws use, for samples, switches and conditions
// (dynamics/law_memory.c). For runs, the public API and live stepping.
#include "study/memory.h"

#include <math.h>

void snw_memory_read(const snw_model *m, const snw_inputs *in, const snw_state *s,
                     const snw_energy *energy, snw_vec3 *rotation, snw_work *w) {
    double column[32]; // more than any probe has at one station
    const snw_readings more = {.energy = *energy, .stability = NAN, .rotation = rotation};
    int at = -1; // probe read into `column`
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *signal = &m->signal[i];
        if (signal->kind != SNW_SIGNAL_PROBE) {
            w->signal[i] = s->z[i];
            continue;
        }
        if (at != signal->probe) {
            at = signal->probe;
            const int seg = m->station[m->probe_station[at]].seg;
            rotation[seg] = snw_so3_log(w->g[seg].R);
            snw_probe_read(m, at, in, s, w, &more, column);
        }
        w->signal[i] = column[signal->column];
    }
}

bool snw_memory_update(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_energy *energy, const bool *fresh, snw_vec3 *rotation, snw_work *w,
                       double *z) {
    snw_memory_read(m, in, s, energy, rotation, w);
    return snw_memory_sample(m, s, w, fresh, z);
}
