// SPDX-License-Identifier: MIT
//
// Contacts of rods with rods: touching rods, their slices with radii, and which of them touch
// (theory.md 3.20).
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>
#include <stdio.h>

static snw_status rods_refuse(const snw_contact_desc *d, const char *link, const char *why,
                              snw_error *err) {
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL, "contact '%s' of rod '%s': %s", d->name, link, why));
}

// Does the contact list the link?
static bool lists_link(const snw_contact_desc *d, int l) {
    for (int k = 0; k < d->nlink; k++) {
        if (d->link[k] == l) return true;
    }
    for (int k = 0; k < d->nagainst; k++) {
        if (d->against[k] == l) return true;
    }
    return false;
}

// ---- radii

// Radius of the surface of a rod: given by a contact, or that of its section.
typedef struct surface {
    const snw_link_desc *link;
    const snw_contact_desc *contact;
    double given, L;
} surface;

static snw_status radius_at(const surface *s, double x, double *out, snw_error *err) {
    snw_outline o;
    *out = s->given;
    if (s->given > 0) return SNW_OK;
    if (!snw_section_table[s->link->rod.section.kind].shaped)
        return rods_refuse(s->contact, s->link->name, "its section has no shape; give 'radius'",
                           err);
    SNW_TRY(snw_section_outline(&s->link->rod, s->link->name, x, &o, err));
    if (snw_section_table[s->link->rod.section.kind].rectangle || !(fabs(o.y - o.z) <= 1e-9 * o.y))
        return rods_refuse(s->contact, s->link->name,
                           "its section is not round; use a circle or a tube, or give 'radius'",
                           err);
    *out = 0.5 * o.y;
    return SNW_OK;
}

// *slope <- derivative of the radius at x, by differences: exact for a cone
static snw_status radius_slope_at(const surface *s, double x, double *slope, snw_error *err) {
    const double e = 1e-4 * s->L, low = fmax(0, x - e), high = fmin(s->L, x + e);
    double a, b;
    SNW_TRY(radius_at(s, low, &a, err));
    SNW_TRY(radius_at(s, high, &b, err));
    *slope = (b - a) / (high - low);
    return SNW_OK;
}

// *s <- surface of the rod of link l; contacts that give it a radius must agree
static snw_status surface_of(const snw_build *b, int l, surface *s, snw_error *err) {
    const snw_desc *d = b->m->desc;
    *s = (surface){.link = &d->link[l], .L = b->rod[b->link_rod[l]].L};
    for (int c = 0; c < d->ncontact; c++) {
        const snw_contact_desc *at = &d->contact[c];
        if (!at->is_rods || !snw_exists(at->when) || !lists_link(at, l)) continue;
        if (s->contact && at->radius != s->given)
            return rods_refuse(at, s->link->name,
                               "another contact gives it another radius; give both the same", err);
        s->contact = at;
        s->given = at->radius;
    }
    return SNW_OK;
}

// ---- rods and slices

static snw_status add_slices(const snw_build *b, const surface *s, int index, snw_touching_rod *rod,
                             snw_touching_slice *out, snw_error *err) {
    enum { MOST_SECTIONS = 16 };
    const snw_rod *of = &b->rod[rod->rod];
    int first = -1, last = -1;
    for (int i = 0; i < of->nseg; i++) {
        const int seg = of->seg0 + i;
        const int before = i > 0 ? seg - 1 : of->root;
        const double from = i > 0 ? b->seg_x[before] : 0;
        snw_touching_slice *to = &out[i];
        *to = (snw_touching_slice){
            .rod = index, .seg = {before, seg}, .x = from, .h = b->seg_x[seg] - from};
        for (int k = 0; k < 2; k++) {
            const double x = to->x + (k ? to->h : 0);
            SNW_TRY(radius_at(s, x, &to->radius[k], err));
            SNW_TRY(radius_slope_at(s, x, &to->radius_d1[k], err));
            rod->radius = fmax(rod->radius, to->radius[k]);
        }
        rod->longest = fmax(rod->longest, to->h);
        if (!(to->h > 0)) continue;
        if (first < 0) first = i;
        last = i;
    }
    if (!(rod->radius > 0)) return rods_refuse(s->contact, s->link->name, "its radius is 0", err);
    if (first >= 0) out[first].end[0] = out[last].end[1] = true;
    rod->sections = (int)fmin(ceil(2 * of->L / (of->nseg * rod->radius)), MOST_SECTIONS);
    return SNW_OK;
}

// Touching rod that carries the root of another one.
static void set_carrier(const snw_build *b, const int *touching, snw_touching_rod *rod) {
    int seg = b->rod[rod->rod].root;
    while (seg > 0 && b->seg[seg].kind != SNW_SEG_ROD) seg = b->seg[seg].parent;
    rod->carrier = seg > 0 ? touching[b->slice[b->seg[seg].item].rod] : -1;
    rod->carrier_x = seg > 0 ? b->seg_x[seg] : 0;
}

// ---- loops

static bool is_zero(snw_law law) {
    return !law || (snw_expr_vars(law) == 0 && snw_expr_value(law, (snw_at){0}) == 0);
}

// Does the pose turn about x only, by laws or not?
static bool turns_about_x(const snw_pose_desc *p) {
    bool about_x = fabs(p->R0.e[0][0] - 1) < 1e-12;
    for (int k = 0; k < p->nturn; k++)
        about_x =
            about_x && (fabs(fabs(p->turn[k].axis.e[0]) - 1) < 1e-12 || is_zero(p->turn[k].angle));
    return about_x;
}

// Does the loop always hold two sections of touching rods at the same place?
static bool joins_sections(const snw_build *b, const snw_loop_desc *d, const int *touching) {
    const snw_site *site[2] = {&d->a, &d->b};
    const bool holds = d->joint == SNW_JOINT_FIXED || d->joint == SNW_JOINT_REVOLUTE ||
                       d->joint == SNW_JOINT_UNIVERSAL || d->joint == SNW_JOINT_SPHERICAL;
    if (!holds || d->when || d->nonholonomic || d->slides || d->keeps_length || d->pose.captured)
        return false;
    for (int i = 0; i < 3; i++) {
        if (!is_zero(d->pose.xyz[i])) return false;
    }
    for (int k = 0; k < 2; k++) {
        if (site[k]->kind == SNW_SITE_WORLD || site[k]->kind == SNW_SITE_BASE || site[k]->offset)
            return false;
        const int rod = b->link_rod[site[k]->link];
        if (rod < 0 || touching[rod] < 0) return false;
    }
    return true;
}

// The end of a rod at x that goes on in another end is none.
static void open_end(const snw_touching_rod *rod, double x, snw_touching_slice *slice) {
    for (int i = rod->slice0; i < rod->slice0 + rod->nslice; i++) slice[i].end[x > 0] = false;
}

// Loops that join touching rods, or the ends of one to a ring.
static snw_status add_joints(snw_build *b, const int *touching, const snw_touching_rod *rod,
                             snw_touching_slice *slice) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    snw_touching_joint *joint = snw_build_array(b, (size_t)d->nloop, sizeof *joint);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->nloop; i++) {
        const snw_loop_desc *from = &d->loop[i];
        if (!joins_sections(b, from, touching)) continue;
        snw_touching_joint *to = &joint[m->ntouching_joint++];
        int ends = 0, tips = 0;
        for (int k = 0; k < 2; k++) {
            const snw_site *site = k ? &from->b : &from->a;
            const int r = b->link_rod[site->link];
            to->rod[k] = touching[r];
            to->x[k] = site->kind == SNW_SITE_ROOT ? 0
                       : site->kind == SNW_SITE_AT ? site->x
                                                   : b->rod[r].L;
            ends += to->x[k] <= 0 || to->x[k] >= b->rod[r].L;
            tips += to->x[k] >= b->rod[r].L;
        }
        // a root in the direction of a tip: the surface has no end there
        if (ends != 2 || tips != 1 || from->joint != SNW_JOINT_FIXED || !turns_about_x(&from->pose))
            continue;
        for (int k = 0; k < 2; k++) open_end(&rod[to->rod[k]], to->x[k], slice);
    }
    m->touching_joint = joint;
    return SNW_OK;
}

// ---- pairs

static bool is_excepted(const snw_contact_desc *d, int a, int b) {
    for (int k = 0; k < d->nexcept; k++) {
        const int *pair = d->except + 2 * (size_t)k;
        if ((pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a)) return true;
    }
    return false;
}

// Rods under construction.
typedef struct rod_list {
    int n;
    snw_touching_rod *rod;
    const int *of; // of each rod of the model: touching rod, or -1
    short *contact;
} rod_list;

// Let the rods of two links touch.
static snw_status add_pair(const snw_build *b, rod_list *list, int c, int l, int other,
                           snw_error *err) {
    const snw_desc *desc = b->m->desc;
    const snw_contact_desc *d = &desc->contact[c];
    const int i = list->of[b->link_rod[l]], k = list->of[b->link_rod[other]];
    // rods that are joined overlap at the joint; they touch only if the contact names just them
    const bool joined = list->rod[i].carrier == k || list->rod[k].carrier == i;
    if (i != k && joined && (d->grouped || d->nlink + d->nagainst > 2)) return SNW_OK;
    if (is_excepted(d, l, other)) return SNW_OK;
    short *at[2] = {&list->contact[(size_t)i * (size_t)list->n + (size_t)k],
                    &list->contact[(size_t)k * (size_t)list->n + (size_t)i]};
    if (*at[0] && *at[0] != c + 1) {
        char why[240];
        (void)snprintf(why, sizeof why,
                       "it touches '%.60s' by contact '%.60s' already; leave the pair out of one "
                       "of them, by 'except'",
                       desc->link[other].name, desc->contact[*at[0] - 1].name);
        return rods_refuse(d, desc->link[l].name, why, err);
    }
    *at[0] = *at[1] = (short)(c + 1);
    return SNW_OK;
}

static snw_status add_pairs(snw_build *b, rod_list *list, int c, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[c];
    const int *other = d->nagainst ? d->against : d->link, n = d->nagainst ? d->nagainst : d->nlink;
    for (int i = 0; i < d->nlink; i++) {
        if (d->self) SNW_TRY(add_pair(b, list, c, d->link[i], d->link[i], err));
        for (int k = 0; k < n; k++) {
            if (other[k] != d->link[i]) SNW_TRY(add_pair(b, list, c, d->link[i], other[k], err));
        }
    }
    return SNW_OK;
}

// ---- bores

// The bore of the outer rod of contact c, and that the others fit in it.
static snw_status build_bore(const snw_build *b, int c, const rod_list *list, snw_error *err) {
    enum { STATIONS = 32 };
    const snw_contact_desc *d = &b->m->desc->contact[c];
    const snw_link_desc *outer = &b->m->desc->link[d->against[0]];
    const int rod = list->of[b->link_rod[d->against[0]]];
    snw_contact *to = &b->contact[c];
    to->bore = d->bore;
    for (int i = 0; !(d->bore > 0) && i <= STATIONS; i++) {
        double size[SNW_SECTION_SIZES];
        snw_section_sizes(&outer->rod.section, outer->rod.length * i / STATIONS, outer->rod.length,
                          size);
        const snw_section_contour o = snw_section_contour_of(outer->rod.section.kind, size);
        const double bore = o.half[0] * o.hole;
        if (!(bore > 0))
            return rods_refuse(d, outer->name, "its section has no bore; give 'bore', its radius",
                               err);
        if (i > 0 && !(fabs(bore - to->bore) <= 1e-9 * bore))
            return rods_refuse(d, outer->name,
                               "its bore varies along it; a rod touches a bore of constant radius",
                               err);
        to->bore = bore;
    }
    if (!(to->bore < list->rod[rod].radius))
        return rods_refuse(d, outer->name, "its bore is wider than the rod itself", err);
    to->outer = rod + 1;
    to->wall = INFINITY;
    for (int k = 0; k < d->nlink; k++) {
        const snw_touching_rod *inner = &list->rod[list->of[b->link_rod[d->link[k]]]];
        const double clearance = to->bore - inner->radius;
        if (!(clearance > 0.5 * d->smooth)) {
            char why[200];
            (void)snprintf(
                why, sizeof why,
                "its radius %.4g m leaves %.3g m in the bore of '%.60s', and %.3g m, half "
                "of 'smooth', is needed",
                inner->radius, clearance, outer->name, 0.5 * d->smooth);
            return rods_refuse(d, b->m->desc->link[d->link[k]].name, why, err);
        }
        to->wall = fmin(to->wall, list->rod[rod].radius - to->bore + inner->radius);
    }
    return SNW_OK;
}

// ---- all

snw_status snw_build_rod_contacts(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    int n = 0, nslice = 0;
    int *touching = snw_build_array(b, (size_t)m->nrod + 1, sizeof *touching);
    if (!touching) return SNW_E_MEMORY;
    for (int r = 0; r < m->nrod; r++) {
        bool touches = false;
        for (int c = 0; c < d->ncontact; c++) {
            const snw_contact_desc *at = &d->contact[c];
            touches |= at->is_rods && snw_exists(at->when) && lists_link(at, b->rod[r].link);
        }
        touching[r] = touches ? n++ : -1;
        if (touches) nslice += b->rod[r].nseg;
    }
    if (n == 0) return SNW_OK;
    snw_touching_rod *rod = snw_build_array(b, (size_t)n, sizeof *rod);
    snw_touching_slice *slice = snw_build_array(b, (size_t)nslice, sizeof *slice);
    short *contact = snw_build_array(b, (size_t)n * (size_t)n, sizeof *contact);
    if (!rod || !slice || !contact) return SNW_E_MEMORY;
    for (int r = 0; r < m->nrod; r++) {
        if (touching[r] < 0) continue;
        snw_touching_rod *to = &rod[touching[r]];
        surface s;
        *to = (snw_touching_rod){.rod = r, .slice0 = m->ntouching_slice, .nslice = b->rod[r].nseg};
        SNW_TRY(surface_of(b, b->rod[r].link, &s, err));
        SNW_TRY(add_slices(b, &s, touching[r], to, slice + to->slice0, err));
        m->ntouching_slice += to->nslice;
        m->most_touch += to->nslice * (2 * to->sections + (m->hard ? 12 : 4));
        set_carrier(b, touching, to);
    }
    SNW_TRY(add_joints(b, touching, rod, slice));
    rod_list list = {.n = n, .rod = rod, .of = touching, .contact = contact};
    for (int c = 0; c < d->ncontact; c++) {
        const snw_contact_desc *from = &d->contact[c];
        if (!from->is_rods) continue;
        snw_contact *to = &b->contact[c];
        to->line = from->stiffness;
        to->crossing = from->crossing;
        to->first = from->link[0];
        SNW_TRY(snw_build_condition(b, from->when, &to->condition, err));
        if (!snw_exists(from->when)) continue;
        m->touch_smooth = fmax(m->touch_smooth, to->smooth);
        SNW_TRY(add_pairs(b, &list, c, err));
        if (from->inside) SNW_TRY(build_bore(b, c, &list, err));
    }
    m->ntouching_rod = n;
    m->touching_rod = rod;
    m->touching_slice = slice;
    m->touching_contact = contact;
    return SNW_OK;
}
