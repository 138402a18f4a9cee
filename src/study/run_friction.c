// SPDX-License-Identifier: MIT
//
// Warning about the friction of tendons and of rods that slide through loops in static steps. There
// is no sliding velocity, so friction acts only where the description gives the direction of the
// last sliding of a tendon.
#include "study/run_private.h"

#include <stdio.h>

void snw_run_warn_static_friction(snw_run *r) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nloop; i++) {
        if (!(m->loop[i].friction > 0) || r->warned_friction) continue;
        char text[320];
        r->warned_friction = true;
        (void)snprintf(text, sizeof text,
                       "run '%s': the friction of loop '%s' is left out of static steps, where "
                       "nothing slides; use a slow dynamic step",
                       r->info.run, m->label.loop[i].name);
        snw_run_warn(r, text);
    }
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *d = &m->tendon[i];
        if (!(d->friction > 0) || d->sliding || r->warned_friction) continue;
        char text[320];
        r->warned_friction = true;
        (void)snprintf(text, sizeof text,
                       "run '%s': the friction of tendon '%s' is left out of static steps, where "
                       "nothing slides; give the direction it slid last (sliding: 1 pulled in, -1 "
                       "let out, 0 none), or use a slow dynamic step",
                       r->info.run, d->name);
        snw_run_warn(r, text);
    }
}
