// SPDX-License-Identifier: MIT
//
// Points at which fluids act: nodes and ends of rods, and bodies, with added mass, drag
// coefficients and displaced mass (theory.md 3.12).
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

// Fluid points under construction, in any order.
typedef struct fluid_list {
    snw_fluid_point *fluid_point;
    double *phi;
    int nphi;
    snw_fluid *fluid; // nfluid
} fluid_list;

static snw_status fluid_refuse(const snw_fluid_desc *d, const char *link, const char *why,
                               snw_error *err) {
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL, "fluid '%s' on link '%s': %s", d->name, link, why));
}

// *out <- w times the value of a drag law, which must not be negative.
static snw_status drag_coefficient(const snw_fluid_desc *d, const char *link, snw_law law, double w,
                                   snw_at at, double *out, snw_error *err) {
    *out = 0;
    if (!law) return SNW_OK;
    const double c = snw_expr_value(law, at);
    *out = w * c;
    if (c >= 0 && isfinite(c)) return SNW_OK;
    return fluid_refuse(d, link, "its drag must be a number and not negative at any x", err);
}

static snw_status fluid_set_drag(const snw_fluid_desc *d, const char *link, double w, snw_at at,
                                 snw_fluid_point *p, snw_error *err) {
    for (int i = 0; i < 6; i++) {
        SNW_TRY(drag_coefficient(d, link, d->linear[i], w, at, &p->linear[i], err));
        SNW_TRY(drag_coefficient(d, link, d->square[i], w, at, &p->square[i], err));
    }
    return SNW_OK;
}

// ---- rods

// Does the fluid need the contour of the section?
static bool needs_outline(const snw_fluid_desc *d) {
    return d->added == SNW_ADDED_AUTO || d->buoyancy || d->normal || d->tangent;
}

// Add node s of a rod.
static snw_status fluid_add_node(snw_build *b, int fluid, const snw_rod *rod, int s,
                                 fluid_list *list, snw_error *err) {
    const snw_fluid_desc *d = &b->m->desc->fluid[fluid];
    const snw_link_desc *link = &b->m->desc->link[rod->link];
    const double w = b->seg_w[s], x = b->seg_x[s];
    const snw_at at = {.x = x, .L = rod->L};
    snw_fluid_point *p = &list->fluid_point[b->m->nfluid_point++];
    *p = (snw_fluid_point){.seg = s,
                           .fluid = fluid,
                           .condition = list->fluid[fluid].condition,
                           .body_condition = b->seg[rod->seg0].condition,
                           .rod = b->link_rod[rod->link],
                           .phi = -1};
    SNW_TRY(fluid_set_drag(d, link->name, w, at, p, err));
    if (!needs_outline(d)) return SNW_OK;
    snw_outline o;
    SNW_TRY(snw_section_outline(&link->rod, link->name, x, &o, err));
    double normal, tangent;
    SNW_TRY(drag_coefficient(d, link->name, d->normal, 0.5 * d->density * w, at, &normal, err));
    SNW_TRY(drag_coefficient(d, link->name, d->tangent, 0.5 * d->density * w, at, &tangent, err));
    p->across[0] = normal * o.z;
    p->across[1] = normal * o.y;
    p->square[3] += tangent * o.perimeter;
    if (d->buoyancy) p->displaced = w * d->density * o.area;
    if (d->added != SNW_ADDED_AUTO) return SNW_OK;
    for (int c = 0; c < 2; c++) p->added[4 + c] = w * d->density * o.added[c];
    // the flux Y does work on stretch and shear, (3.12.4)
    for (int a = 0; a < rod->na; a++) {
        if (rod->comp[a] < 3 || p->phi >= 0) continue;
        p->phi = list->nphi;
        list->nphi += snw_rod_basis(rod, x, x, p->first, p->count, list->phi + list->nphi);
        for (int c = 0; c < 2; c++) p->flux[c] = p->added[4 + c];
    }
    return SNW_OK;
}

// Add the flux at an end of a rod; side: 1 tip, -1 root.
static snw_status fluid_add_end(snw_build *b, int fluid, const snw_rod *rod, int side,
                                fluid_list *list, snw_error *err) {
    const snw_fluid_desc *d = &b->m->desc->fluid[fluid];
    const snw_link_desc *link = &b->m->desc->link[rod->link];
    snw_outline o;
    SNW_TRY(snw_section_outline(&link->rod, link->name, side > 0 ? rod->L : 0, &o, err));
    snw_fluid_point *p = &list->fluid_point[b->m->nfluid_point++];
    *p = (snw_fluid_point){.seg = side > 0 ? rod->seg0 + rod->nseg - 1 : rod->root,
                           .fluid = fluid,
                           .condition = list->fluid[fluid].condition,
                           .body_condition = b->seg[rod->seg0].condition,
                           .end = side,
                           .rod = b->link_rod[rod->link],
                           .phi = -1};
    for (int c = 0; c < 2; c++) p->flux[c] = d->density * o.added[c];
    return SNW_OK;
}

static snw_status fluid_add_rod(snw_build *b, int fluid, int l, fluid_list *list, snw_error *err) {
    const snw_fluid_desc *d = &b->m->desc->fluid[fluid];
    const snw_link_desc *link = &b->m->desc->link[l];
    snw_rod *rod = &b->rod[b->link_rod[l]];
    if (d->added == SNW_ADDED_GIVEN) {
        return fluid_refuse(d, link->name,
                            "the added mass of a rod is that of its shape, 'added: auto'", err);
    }
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (b->seg_w[s] > 0) SNW_TRY(fluid_add_node(b, fluid, rod, s, list, err));
    }
    if (d->added != SNW_ADDED_AUTO) return SNW_OK;
    for (int i = SNW_STRETCH; i < 6; i++) {
        if (!link->rod.given[i]) continue;
        return fluid_refuse(d, link->name,
                            "a rod with added mass cannot have its stretch or shear given by a law",
                            err);
    }
    if (rod->fluid >= 0) {
        return fluid_refuse(d, link->name, "another fluid gives it added mass already", err);
    }
    rod->fluid = fluid;
    SNW_TRY(fluid_add_end(b, fluid, rod, -1, list, err));
    return fluid_add_end(b, fluid, rod, 1, list, err);
}

// ---- bodies

static snw_status fluid_add_body(snw_build *b, int fluid, int l, fluid_list *list, snw_error *err) {
    const snw_fluid_desc *d = &b->m->desc->fluid[fluid];
    const snw_link_desc *link = &b->m->desc->link[l];
    if (!link->has_body) return fluid_refuse(d, link->name, "it has neither a rod nor a body", err);
    if (!snw_exists(link->when)) return SNW_OK;
    snw_fluid_point *p = &list->fluid_point[b->m->nfluid_point++];
    *p = (snw_fluid_point){.seg = b->link_end[l],
                           .fluid = fluid,
                           .condition = list->fluid[fluid].condition,
                           .body_condition = b->seg[b->link_end[l]].condition,
                           .centre = link->body.com,
                           .rod = -1,
                           .phi = -1};
    if (d->normal || d->tangent) {
        return fluid_refuse(
            d, link->name,
            "'normal' and 'tangent' are for rods; give 'square' or 'linear' of a body", err);
    }
    SNW_TRY(fluid_set_drag(d, link->name, 1, (snw_at){0}, p, err));
    if (d->buoyancy && !(link->body.volume > 0)) {
        return fluid_refuse(d, link->name,
                            "buoyancy needs its shape: box, cylinder, sphere or shapes", err);
    }
    if (d->buoyancy) p->displaced = d->density * link->body.volume;
    for (int i = 0; d->added == SNW_ADDED_GIVEN && i < 6; i++) p->added[i] = d->given[i];
    if (d->added != SNW_ADDED_AUTO) return SNW_OK;
    if (link->body.nsolid != 1 || link->body.solid->shape.kind != SNW_OBSTACLE_SPHERE ||
        !(link->body.volume > 0)) {
        return fluid_refuse(
            d, link->name,
            "only the added mass of a sphere is computed; give six numbers, 'added: [..]'", err);
    }
    for (int i = 3; i < 6; i++) p->added[i] = 0.5 * d->density * link->body.volume;
    return SNW_OK;
}

// ---- all

// Sort fluid points by segment; stable, so that sums keep their order.
static snw_status fluid_sort(snw_build *b, const snw_fluid_point *point) {
    snw_model *m = b->m;
    int *start = snw_build_array(b, (size_t)m->nseg + 1, sizeof *start);
    int *next = snw_build_array(b, (size_t)m->nseg + 1, sizeof *next);
    snw_fluid_point *sorted = snw_build_array(b, (size_t)m->nfluid_point, sizeof *sorted);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < m->nfluid_point; i++) start[point[i].seg + 1]++;
    for (int s = 0; s < m->nseg; s++) start[s + 1] += start[s];
    memcpy(next, start, ((size_t)m->nseg + 1) * sizeof *next);
    for (int i = 0; i < m->nfluid_point; i++) sorted[next[point[i].seg]++] = point[i];
    m->fluid_point = sorted;
    m->fluid_point_of_seg = start;
    return SNW_OK;
}

snw_status snw_build_fluids(snw_build *b, snw_error *err) {
    const snw_desc *d = b->m->desc;
    size_t most = 0;
    for (int f = 0; f < d->nfluid; f++) {
        for (int k = 0; k < d->fluid[f].nlink; k++) {
            const int rod = b->link_rod[d->fluid[f].link[k]];
            most += rod >= 0 ? (size_t)b->rod[rod].nseg + 2 : 1;
        }
    }
    fluid_list list = {.fluid_point = snw_build_array(b, most, sizeof *list.fluid_point),
                       .phi = snw_build_array(b, most * (size_t)b->most_phi, sizeof *list.phi),
                       .fluid = snw_build_array(b, (size_t)d->nfluid, sizeof *list.fluid)};
    if (b->memory_out) return SNW_E_MEMORY;
    for (int f = 0; f < d->nfluid; f++) {
        const snw_fluid_desc *fluid = &d->fluid[f];
        SNW_TRY(snw_build_condition(b, fluid->when, &list.fluid[f].condition, err));
        memcpy(list.fluid[f].current, fluid->current, sizeof list.fluid[f].current);
        if (!snw_exists(fluid->when)) continue;
        for (int k = 0; k < fluid->nlink; k++) {
            const int l = fluid->link[k];
            SNW_TRY(b->link_rod[l] >= 0 ? fluid_add_rod(b, f, l, &list, err)
                                        : fluid_add_body(b, f, l, &list, err));
        }
        for (int i = 0; i < 3; i++) b->m->flowing = b->m->flowing || fluid->current[i];
    }
    b->m->nfluid = d->nfluid;
    b->m->fluid = list.fluid;
    b->m->fluid_phi = list.phi;
    return fluid_sort(b, list.fluid_point);
}
