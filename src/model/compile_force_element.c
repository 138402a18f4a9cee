// SPDX-License-Identifier: MIT
//
// Force elements between two sites: the segments of their ends and their properties (theory.md
// 3.17).
#include "model/compile.h"

#include "base/fail.h"

#include <string.h>

// Segment of end k: that of its site, or of its pose there.
static int end_segment(snw_build *b, const snw_force_element_desc *d, int k) {
    const int site = snw_build_site(b, &d->end[k]);
    if (!d->has_pose[k]) return site;
    return snw_build_pose(b, &d->pose[k], site, d->end[k].link);
}

snw_status snw_build_force_elements(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    snw_force_element *out = snw_build_array(b, (size_t)d->nforce_element, sizeof *out);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->nforce_element; i++) {
        const snw_force_element_desc *from = &d->force_element[i];
        snw_force_element *to = &out[i];
        *to = (snw_force_element){.kind = from->kind,
                                  .rest = from->rest,
                                  .stiffness = from->stiffness,
                                  .damping = from->damping,
                                  .smooth = from->smooth,
                                  .force = from->force,
                                  .coupling = from->coupling};
        memcpy(to->axis_stiffness, from->axis_stiffness, sizeof to->axis_stiffness);
        memcpy(to->axis_damping, from->axis_damping, sizeof to->axis_damping);
        SNW_TRY(snw_build_condition(b, from->when, &to->condition, err));
        if (!snw_exists(from->when)) to->condition = SNW_NEVER;
        for (int k = 0; k < 2; k++) to->end[k] = end_segment(b, from, k);
        if (to->end[0] != to->end[1]) continue;
        return snw_fail_desc(err, from->location,
                             snw_fail(err, SNW_E_MODEL, "both ends of %s '%s' are the same site",
                                      snw_force_element_table[from->kind].name, from->name));
    }
    m->one_sided = m->nstop > 0;
    for (int i = 0; i < d->nforce_element; i++)
        m->one_sided = m->one_sided || snw_force_element_table[out[i].kind].one_sided;
    m->nforce_element = d->nforce_element;
    m->force_element = out;
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}
