// SPDX-License-Identifier: MIT
//
// Loads with the points at which they act, and active stresses of rods.
#include "model/compile.h"

#include <string.h>

static void add_points_along(snw_build *b, int load, int link) {
    const snw_rod *rod = &b->rod[b->link_rod[link]];
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (b->seg_w[s] == 0) continue;
        b->load_point[b->m->nload_point++] = (snw_load_point){
            .seg = s, .load = load, .w = b->seg_w[s], .x = b->seg_x[s], .L = rod->L};
    }
}

// Points at which loads act: segments, and nodes of rods for distributed loads.
static void add_load_points(snw_build *b) {
    const snw_desc *d = b->m->desc;
    for (int i = 0; i < d->nload; i++) {
        const snw_load_desc *load = &d->load[i];
        if (!load->along) {
            const int s = snw_build_site(b, &load->on);
            const double L = load->on.link >= 0 && d->link[load->on.link].has_rod
                                 ? d->link[load->on.link].rod.length
                                 : 0;
            b->load_point[b->m->nload_point++] =
                (snw_load_point){.seg = s, .load = i, .w = 1, .x = b->seg_x[s], .L = L};
            continue;
        }
        add_points_along(b, i, load->on.link);
        const int beyond = d->link[load->on.link].beyond;
        if (beyond) add_points_along(b, i, beyond - 1);
    }
}

// Sort load points by segment; stable, so that sums keep their order.
static snw_status sort_load_points(snw_build *b) {
    const int n = b->m->nload_point, nseg = b->m->nseg;
    int *start = snw_build_array(b, (size_t)nseg + 1, sizeof *start);
    int *next = snw_build_array(b, (size_t)nseg + 1, sizeof *next);
    snw_load_point *sorted = snw_build_array(b, (size_t)n, sizeof *sorted);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < n; i++) start[b->load_point[i].seg + 1]++;
    for (int s = 0; s < nseg; s++) start[s + 1] += start[s];
    memcpy(next, start, ((size_t)nseg + 1) * sizeof *next);
    for (int i = 0; i < n; i++) sorted[next[b->load_point[i].seg]++] = b->load_point[i];
    b->m->load_point = sorted;
    b->m->load_point_of_seg = start;
    return SNW_OK;
}

static snw_load load_of(const snw_build *b, const snw_load_desc *d) {
    snw_load load = {
        .rod = d->along ? b->link_rod[d->on.link] : -1, .when = d->when, .body = d->body};
    memcpy(load.force, d->force, sizeof load.force);
    memcpy(load.torque, d->torque, sizeof load.torque);
    load.reads_signals = snw_reads_signals(3, d->force) || snw_reads_signals(3, d->torque) ||
                         snw_reads_signals(1, &d->when);
    return load;
}

static snw_stress stress_of(const snw_build *b, const snw_stress_desc *d) {
    snw_stress stress = {.rod = b->link_rod[d->link], .when = d->when};
    memcpy(stress.stress, d->stress, sizeof stress.stress);
    stress.reads_signals = snw_reads_signals(6, d->stress) || snw_reads_signals(1, &d->when);
    return stress;
}

snw_status snw_build_loads(snw_build *b) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    snw_load *load = snw_build_array(b, (size_t)d->nload, sizeof *load);
    snw_stress *stress = snw_build_array(b, (size_t)d->nstress, sizeof *stress);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->nload; i++) load[i] = load_of(b, &d->load[i]);
    for (int i = 0; i < d->nstress; i++) stress[i] = stress_of(b, &d->stress[i]);
    m->nload = d->nload;
    m->nstress = d->nstress;
    m->load = load;
    m->stress = stress;
    add_load_points(b);
    return sort_load_points(b);
}
