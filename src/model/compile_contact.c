// SPDX-License-Identifier: MIT
//
// Where the ground touches: the nodes and ends of rods, and bodies. theory.md 3.13
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

// Places under construction, in any order.
typedef struct touching {
    snw_contact_point *contact_point;
    int contact, condition;
} touching;

// rims are rounded by this much of their radius, so that what stands on one can begin to tilt
static const double rounding = 0.01;

static snw_status contact_refuse(const snw_contact_desc *d, const char *link, const char *why,
                                 snw_error *err) {
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL, "contact '%s' on link '%s': %s", d->name, link, why));
}

static snw_contact_point *point(snw_build *b, const touching *to, int seg, snw_vec3 at,
                                double stiffness) {
    snw_contact_point *p = &to->contact_point[b->m->ncontact_point++];
    *p = (snw_contact_point){.seg = seg,
                             .contact = to->contact,
                             .condition = to->condition,
                             .body_condition = b->seg[seg].condition,
                             .centre = at,
                             .sharp = true,
                             .stiffness = stiffness};
    return p;
}

// a disc with these half widths along y and z of axes E (columns: across the disc, y, z)
static void disc(snw_contact_point *p, snw_mat3 E, double y, double z) {
    const double half[2] = {y, z};
    p->round = rounding * fmax(y, z);
    p->sharp = !(p->round > 0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int c = 0; c < 2; c++) { // rounded, and as wide as it was
                const double q = half[c] * half[c] + 2 * half[c] * p->round;
                p->Q.e[i][j] += q * E.e[i][c + 1] * E.e[j][c + 1];
            }
        }
    }
}

// ---- rods
// ------------------------------------------------------------------------------------------

// a section: a disc, or corners that carry half each
static void section(snw_build *b, const snw_rod_desc *rod, int seg, double stiffness,
                    const touching *to, const snw_outline *o) {
    const double y = 0.5 * o->y, z = 0.5 * o->z;
    if (rod->section.kind != SNW_SECTION_RECTANGLE) {
        disc(point(b, to, seg, (snw_vec3){{0}}, stiffness), snw_mat3_identity(), y, z);
        return;
    }
    for (int i = 0; i < 4; i++) {
        const snw_vec3 at = {{0, i & 1 ? y : -y, i & 2 ? z : -z}};
        (void)point(b, to, seg, at, 0.5 * stiffness);
    }
}

// widths of a section; zero where it has no shape and touches with its centre
static snw_status contact_widths(const snw_link_desc *link, double x, snw_outline *o,
                                 snw_error *err) {
    const snw_section_kind kind = link->rod.section.kind;
    *o = (snw_outline){0};
    if (kind == SNW_SECTION_NONE || kind == SNW_SECTION_GIVEN) return SNW_OK;
    return snw_section_outline(&link->rod, link->name, x, o, err);
}

static snw_status contact_along(snw_build *b, int l, const touching *to, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[to->contact];
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_rod *rod = &b->rod[b->link_rod[l]];
    snw_outline o;
    if (d->npoint)
        return contact_refuse(d, link->name, "'points' are for bodies, and it is a rod", err);
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (!(b->seg_w[s] > 0)) continue;
        SNW_TRY(contact_widths(link, b->seg_x[s], &o, err));
        section(b, &link->rod, s, b->seg_w[s] * d->stiffness, to, &o);
    }
    for (int tip = 0; tip < 2; tip++) {
        const int s = tip ? rod->seg0 + rod->nseg - 1 : rod->root;
        SNW_TRY(contact_widths(link, tip ? rod->L : 0, &o, err));
        const double k = d->has_ends ? d->ends : 0.5 * fmin(o.y, o.z) * d->stiffness;
        if (k > 0 && s > 0) section(b, &link->rod, s, k, to, &o);
    }
    return SNW_OK;
}

// ---- bodies
// ----------------------------------------------------------------------------------------

// a cylinder has two rims
static void contact_rims(snw_build *b, const snw_body_desc *body, int seg, double k,
                         const touching *to) {
    snw_vec3 y, z;
    snw_joint_across(body->axis, &y, &z);
    const snw_vec3 a = body->axis;
    const snw_mat3 E = {{{a.x, y.x, z.x}, {a.y, y.y, z.y}, {a.z, y.z, z.z}}};
    for (int i = -1; i < 2; i += 2) {
        const snw_vec3 at = snw_add(body->com, snw_scale(0.5 * i * body->size.y, a));
        disc(point(b, to, seg, at, k), E, body->size.x, body->size.x);
    }
}

static void contact_corners(snw_build *b, const snw_body_desc *body, int seg, double k,
                            const touching *to) {
    for (int i = 0; i < 8; i++) {
        snw_vec3 at = body->com;
        for (int c = 0; c < 3; c++) at.e[c] += (i >> c & 1 ? 0.5 : -0.5) * body->size.e[c];
        (void)point(b, to, seg, at, k);
    }
}

static void ball(snw_build *b, const snw_body_desc *body, int seg, double k, const touching *to) {
    snw_contact_point *p = point(b, to, seg, body->com, k);
    p->sharp = false;
    p->Q = snw_mat3_scale(body->size.x * body->size.x, snw_mat3_identity());
}

static snw_status contact_around(snw_build *b, int l, const touching *to, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[to->contact];
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_body_desc *body = &link->body;
    const int seg = b->link_end[l];
    if (!link->has_body && !d->npoint) {
        return contact_refuse(d, link->name, "it has neither a rod nor a body; give 'points'", err);
    }
    if (!snw_exists(link->when)) return SNW_OK;
    if (d->along != d->across) {
        return contact_refuse(d, link->name, "'along' and 'across' are for rods; give one number",
                              err);
    }
    for (int i = 0; i < d->npoint; i++) (void)point(b, to, seg, d->point[i], d->stiffness);
    if (d->npoint == 0) {
        switch (body->shape) {
        case SNW_SHAPE_NONE:
            return contact_refuse(
                d, link->name, "its body has no shape; give box, cylinder or sphere, or 'points'",
                err);
        case SNW_SHAPE_BOX:
            contact_corners(b, body, seg, d->stiffness, to);
            break;
        case SNW_SHAPE_CYLINDER:
            contact_rims(b, body, seg, d->stiffness, to);
            break;
        case SNW_SHAPE_SPHERE:
            ball(b, body, seg, d->stiffness, to);
            break;
        }
    }
    return SNW_OK;
}

// ---- wheels
// ----------------------------------------------------------------------------------------

// of a wheel that slips: the segment of its site
static snw_status slips(snw_build *b, const snw_contact_desc *d, const touching *to,
                        snw_error *err) {
    snw_loop *loop = &b->m->loop[d->nonholonomic - 1];
    const int link = b->m->desc->loop[d->nonholonomic - 1].b.link;
    if (loop->slip[0] == 0 && loop->slip[1] == 0) return SNW_OK;
    if (b->link_rod[link] >= 0 && b->rod[b->link_rod[link]].feed >= 0) {
        return contact_refuse(d, b->m->desc->link[link].name,
                              "its rod is fed; give its tip a link and let the wheel be on that",
                              err);
    }
    snw_contact_point *p = point(b, to, loop->b, (snw_vec3){{0}}, 0);
    p->condition = loop->condition;
    p->wheel = d->nonholonomic;
    return SNW_OK;
}

// ---- all
// -------------------------------------------------------------------------------------------

// by segments; stable, so that sums keep their order
static snw_status contact_sort(snw_build *b, const snw_contact_point *point) {
    snw_model *m = b->m;
    int *start = snw_build_array(b, (size_t)m->nseg + 1, sizeof *start);
    int *next = snw_build_array(b, (size_t)m->nseg + 1, sizeof *next);
    snw_contact_point *sorted = snw_build_array(b, (size_t)m->ncontact_point, sizeof *sorted);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < m->ncontact_point; i++) start[point[i].seg + 1]++;
    for (int s = 0; s < m->nseg; s++) start[s + 1] += start[s];
    memcpy(next, start, ((size_t)m->nseg + 1) * sizeof *next);
    for (int i = 0; i < m->ncontact_point; i++) sorted[next[point[i].seg]++] = point[i];
    for (int i = 0; i < m->ncontact_point; i++) {
        if (sorted[i].wheel) m->loop[sorted[i].wheel - 1].contact_point = i + 1;
    }
    m->contact_point = sorted;
    m->contact_point_of_seg = start;
    return SNW_OK;
}

snw_status snw_build_contacts(snw_build *b, snw_error *err) {
    const snw_desc *d = b->m->desc;
    enum { CORNERS = 8, OF_SECTION = 4 };
    size_t most = 0;
    for (int c = 0; c < d->ncontact; c++) {
        most += d->contact[c].nonholonomic > 0;
        for (int k = 0; k < d->contact[c].nlink; k++) {
            const int rod = b->link_rod[d->contact[c].link[k]];
            most += rod >= 0 ? OF_SECTION * ((size_t)b->rod[rod].nseg + 2)
                             : CORNERS + (size_t)d->contact[c].npoint;
        }
    }
    touching to = {.contact_point = snw_build_array(b, most, sizeof *to.contact_point)};
    if (b->memory_out) return SNW_E_MEMORY;
    for (int c = 0; c < d->ncontact; c++) {
        to.contact = c;
        if (d->contact[c].nonholonomic) SNW_TRY(slips(b, &d->contact[c], &to, err));
        SNW_TRY(snw_build_condition(b, d->contact[c].when, &to.condition, err));
        for (int k = 0; snw_exists(d->contact[c].when) && k < d->contact[c].nlink; k++) {
            const int l = d->contact[c].link[k];
            SNW_TRY(b->link_rod[l] >= 0 ? contact_along(b, l, &to, err)
                                        : contact_around(b, l, &to, err));
        }
    }
    return contact_sort(b, to.contact_point);
}
