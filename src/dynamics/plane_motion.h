// SPDX-License-Identifier: MIT
//
// plane_motion.h: motion and forces of a slice of a rod whose strains stay in a plane (snw_rod
// plane), by the functions for any rod with constants for the strains that are zero. Private to
// src/dynamics.
#pragma once

#include "dynamics/dynamics.h"

// Is the rod one of these? With number types other than packs it is not: the zeros would be numbers
// of them.
static inline bool snw_rod_in_plane(const snw_rod *r) {
#if defined SNW_NUMBERS && !defined SNW_LANES
    (void)r;
    return false;
#else
    return r->plane != 0 && r->rule.order == 4;
#endif
}

// w->h .. w->A and w->slice of segment i, a slice of such a rod, from its strains in w->slice.
void snw_plane_motion(const snw_model *m, int i, bool is_static, snw_work *w);

// r += its projected wrench w->F, and w->F of its parent += the same.
void snw_plane_project(const snw_model *m, int i, snw_work *w, double *r);
