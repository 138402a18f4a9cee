// SPDX-License-Identifier: MIT
//
// Tendons and chambers (theory.md 3.11): quadrature points along their rods, straight segments, the
// coordinates they depend on, reference length or volume, and the constraint row of a given length
// or volume.
#include "model/compile.h"

#include "base/fail.h"
#include "math/magnus.h"
#include "math/pose_grid.h"
#include "math/quadrature.h"

#include <math.h>

// Part of a tendon or chamber along one rod.
typedef struct rod_part {
    const snw_tendon_desc *d;
    int rod, local;  // rod; position of its first coordinate in dof of the tendon
    double from, to; // arc lengths, m
} rod_part;

// Part along the k-th rod.
static rod_part rod_part_of(const snw_build *b, const snw_tendon_desc *d, int k, int local) {
    const int rod = b->link_rod[d->link[k]];
    return (rod_part){.d = d,
                      .rod = rod,
                      .local = local,
                      .from = k == 0 ? d->from : 0,
                      .to = k == d->nlink - 1 ? d->to : b->rod[rod].L};
}

// Number of elements of the rod that overlap with the part.
static int count_elements(const snw_build *b, const rod_part *s) {
    const snw_layout *lay = &b->layout[b->rod[s->rod].link];
    int n = 0;
    for (int e = 0; e < lay->nelem; e++) {
        n += fmin(lay->breaks[e + 1], s->to) > fmax(lay->breaks[e], s->from);
    }
    return n;
}

// Is the point (y, z) inside the section at x? True for a section without shape.
static bool compile_tendon_within(const snw_rod_desc *rod, double x, double y, double z) {
    double size[SNW_SECTION_SIZES];
    snw_section_sizes(&rod->section, x, rod->length, size);
    return !snw_section_table[rod->section.kind].shaped ||
           snw_section_contains(rod->section.kind, size, y, z);
}

// A tendon must run inside the section, or within the radius of its discs.
static snw_status check_inside(const snw_build *b, const snw_tendon_desc *d, const snw_rod *rod,
                               const snw_tendon_point *p, snw_error *err) {
    const snw_link_desc *link = &b->m->desc->link[rod->link];
    const double distance = hypot(p->y, p->z);
    if (!snw_actuator_table[d->kind].is_length || distance <= d->discs * (1 + 1e-9) ||
        compile_tendon_within(&link->rod, p->x, p->y, p->z)) {
        return SNW_OK;
    }
    return snw_fail_desc(
        err, d->location,
        snw_fail(
            err, SNW_E_MODEL,
            "%s '%s' leaves the section of rod '%s': at x = %.4g m it is %.4g m from the "
            "axis%s. See 'at'; if discs guide it there, give their radius, e.g. 'discs: %.3g m'",
            snw_actuator_table[d->kind].noun, d->name, link->name, p->x, distance,
            d->discs > 0 ? ", beyond its discs" : "", 1.01 * distance));
}

snw_status snw_build_tendon_position(const snw_tendon_desc *d, const snw_rod *rod,
                                     snw_tendon_point *p, snw_error *err) {
    const snw_at at = {.x = p->x, .L = rod->L};
    const snw_jet y = d->at[0] ? snw_expr_jet_x(d->at[0], at) : (snw_jet){0};
    const snw_jet z = d->at[1] ? snw_expr_jet_x(d->at[1], at) : (snw_jet){0};
    p->y = y.v, p->dy = y.d, p->z = z.v, p->dz = z.d;
    p->ddy = y.dd, p->ddz = z.dd;
    const snw_vec3 D = {{0, p->y, p->z}};
    const double stretch = snw_add(p->xi0.v, snw_cross(p->xi0.w, D)).x;
    p->area = d->area ? snw_chamber_area_made(d->area, p->x, rod->L, stretch) : 0;
    const snw_actuator_type *type = &snw_actuator_table[d->kind];
    if (!(isfinite(p->y) && isfinite(p->z) && isfinite(p->dy) && isfinite(p->dz))) {
        return snw_fail_desc(
            err, d->location,
            snw_fail(err, SNW_E_MODEL,
                     "%s '%s': its position in the section is not a number at x = %.4g m; see 'at'",
                     type->noun, d->name, p->x));
    }
    if (!type->is_length && !(p->area > 0 && isfinite(p->area))) {
        return snw_fail_desc(
            err, d->location,
            snw_fail(err, SNW_E_MODEL,
                     "%s '%s': its area must be positive, got %g m^2 at x = %.4g m", type->noun,
                     d->name, p->area, p->x));
    }
    return SNW_OK;
}

void snw_build_tendon_rest_strain(const snw_build *b, snw_tendon_point *p) {
    const snw_rod *rod = &b->rod[p->rod];
    p->xi0 = snw_rod_rest(rod, p->x);
    for (int k = 0; k < 6; k++) {
        if (rod->given[k]) p->xi0.e[k] = k == SNW_STRETCH;
    }
}

static bool tendon_has_friction(const snw_tendon_desc *d) {
    return d->friction > 0 || d->viscous > 0;
}

// Derivatives in x of the shape functions and of the rest strain at a point, for friction.
static void add_derivatives(const snw_rod *rod, const snw_rod_desc *desc, snw_tendon_point *p,
                            double *dphi) {
    snw_rod_basis_d1(rod, p->x, dphi + p->phi);
    for (int k = 0; k < 6; k++) {
        const snw_at at = {.x = p->x, .L = rod->L};
        if (desc->rest[k] && !desc->given[k]) p->dxi0.e[k] = snw_expr_jet_x(desc->rest[k], at).d;
    }
}

// before, after <- half the distance to the neighbouring points on a rod; at the ends of the part
// all of the distance to the end.
static void attribute_lengths(const rod_part *s, int n, snw_tendon_point *point) {
    for (int i = 0; i < n; i++) {
        point[i].before = i == 0 ? point[i].x - s->from : 0.5 * (point[i].x - point[i - 1].x);
        point[i].after = i + 1 == n ? s->to - point[i].x : 0.5 * (point[i + 1].x - point[i].x);
    }
}

// Add the quadrature points along one rod.
static snw_status add_rod_points(snw_build *b, const rod_part *s, snw_tendon_point *point,
                                 double *phi, double *dphi, int *nphi, snw_error *err) {
    const snw_rod *rod = &b->rod[s->rod];
    const snw_layout *lay = &b->layout[rod->link];
    const snw_rod_desc *desc = &b->m->desc->link[rod->link].rod;
    const int n = lay->strain_points;
    double *x = snw_build_array(b, (size_t)n, sizeof *x);
    double *w = snw_build_array(b, (size_t)n, sizeof *w);
    if (b->memory_out) return SNW_E_MEMORY;
    snw_gauss(n, x, w);
    const int point0 = b->m->ntendon_point;
    for (int e = 0; e < lay->nelem; e++) {
        const double from = fmax(lay->breaks[e], s->from), to = fmin(lay->breaks[e + 1], s->to);
        for (int i = 0; i < n && to > from; i++) {
            snw_tendon_point *p = &point[b->m->ntendon_point++];
            *p = (snw_tendon_point){.rod = s->rod,
                                    .segment = -1,
                                    .corner = -1,
                                    .x = from + (to - from) * x[i],
                                    .w = (to - from) * w[i],
                                    .phi = *nphi,
                                    .local = s->local};
            *nphi += snw_rod_basis(rod, p->x, p->x, p->first, p->count, phi + *nphi);
            snw_build_tendon_rest_strain(b, p);
            SNW_TRY(snw_build_tendon_position(s->d, rod, p, err));
            SNW_TRY(check_inside(b, s->d, rod, p, err));
            if (tendon_has_friction(s->d)) add_derivatives(rod, desc, p, dphi);
        }
    }
    attribute_lengths(s, b->m->ntendon_point - point0, point + point0);
    return SNW_OK;
}

// point[i].same <- point of the previous tendon along the same rod with the same arc length, whose
// strain need not be computed again. last (nrod): 1 + first point of the previous tendon on each
// rod; 0: none.
static void find_coincident_points(const snw_tendon *tendon, snw_tendon_point *point, int *last) {
    const int end = tendon->point_adr + tendon->npoint;
    for (int i = tendon->point_adr; i < end;) {
        const int rod = point[i].rod, begin = i, other = rod < 0 ? -1 : last[rod] - 1;
        for (; i < end && point[i].rod == rod; i++) {
            const int k = other + i - begin;
            const bool same =
                other >= 0 && k < begin && point[k].rod == rod && point[k].x == point[i].x;
            point[i].same = same ? k : -1;
        }
        if (rod >= 0) last[rod] = begin + 1;
    }
}

static snw_twist compile_tendon_rest(const void *rod, double x) { return snw_rod_rest(rod, x); }

// Pose of a segment at rest strains, zero joint coordinates and t = 0.
static snw_se3 compile_tendon_as_made(const snw_build *b, int s) {
    const snw_seg *seg = &b->seg[s];
    snw_se3 h = snw_se3_identity();
    if (seg->kind == SNW_SEG_WORLD) return h;
    if (seg->kind == SNW_SEG_POSE) h = snw_pose_desc_at(&b->pose[seg->item], 0);
    if (seg->kind == SNW_SEG_ROD) {
        const snw_slice *slice = &b->slice[seg->item];
        const snw_rod *rod = &b->rod[slice->rod];
        if (rod->grid)
            return snw_se3_mul(
                compile_tendon_as_made(b, seg->parent),
                snw_grid_pose_at(rod->rule.number, rod->L, compile_tendon_rest, rod, b->seg_x[s]));
        snw_twist xi[SNW_MAGNUS_POINTS];
        for (int k = 0; k < rod->nc; k++) {
            const double x = b->seg_x[s] - slice->h * (1 - rod->rule.c[k]);
            xi[k] = snw_rod_rest(rod, x);
        }
        h = snw_se3_exp(snw_rule_value(&rod->rule, slice->h, xi));
    }
    return snw_se3_mul(compile_tendon_as_made(b, seg->parent), h);
}

// Add a straight segment and its point.
static void add_straight_segment(snw_build *b, const snw_tendon_segment_desc *d,
                                 snw_tendon_segment *segment, snw_tendon_point *point, int *dof,
                                 int *n) {
    snw_model *m = b->m;
    snw_tendon_segment *p = &segment[m->ntendon_segment];
    p->a = snw_build_site(b, &d->a);
    p->b = snw_build_site(b, &d->b);
    p->of_a = snw_build_positions(b, &b->path[b->seg[p->a].path], dof, n);
    p->of_b = snw_build_positions(b, &b->path[b->seg[p->b].path], dof, n);
    point[m->ntendon_point++] =
        (snw_tendon_point){.rod = -1, .segment = m->ntendon_segment++, .corner = -1, .w = 1};
}

// *out <- reference length of a straight segment, which must not be zero.
static snw_status straight_length(const snw_build *b, const snw_tendon_desc *d,
                                  const snw_tendon_segment *p, double *out, snw_error *err) {
    *out = snw_norm(snw_sub(compile_tendon_as_made(b, p->b).p, compile_tendon_as_made(b, p->a).p));
    if (*out > 1e-9) return SNW_OK;
    return snw_fail_desc(err, d->location,
                         snw_fail(err, SNW_E_MODEL,
                                  "%s '%s' has a straight segment of zero length: two "
                                  "neighbours of its 'path' coincide; leave one out",
                                  snw_actuator_table[d->kind].noun, d->name));
}

// *out <- length of a tendon or volume of a chamber at rest strains and zero joint coordinates.
static snw_status tendon_reference(const snw_build *b, const snw_tendon_desc *d,
                                   const snw_tendon *tendon, const snw_tendon_point *point,
                                   const snw_tendon_segment *segment, double *out, snw_error *err) {
    double sum = 0;
    for (int i = tendon->point_adr; i < tendon->point_adr + tendon->npoint; i++) {
        const snw_tendon_point *p = &point[i];
        if (p->segment >= 0) {
            double length;
            SNW_TRY(straight_length(b, d, &segment[p->segment], &length, err));
            sum += length;
            continue;
        }
        const snw_twist xi = snw_rod_rest(&b->rod[p->rod], p->x);
        const snw_vec3 D = {{0, p->y, p->z}};
        const snw_vec3 u =
            snw_add(snw_add(xi.v, snw_cross(xi.w, D)), (snw_vec3){{0, p->dy, p->dz}});
        sum += p->w * (tendon->type->is_length ? snw_norm(u) : p->area * u.x);
    }
    *out = sum;
    return SNW_OK;
}

// Constraint row of a tendon with given length.
static void add_length_row(snw_build *b, const snw_tendon_desc *d, snw_tendon *tendon) {
    tendon->unit = 1;
    if (snw_exists(d->when)) tendon->row = b->m->nconstraint++;
}

// Derivative of the volume per length by the stretch, as made.
static double area_d1(const snw_build *b, const snw_tendon *tendon, const snw_tendon_point *p) {
    if (!tendon->area) return p->area;
    const snw_vec3 D = {{0, p->y, p->z}};
    const double stretch = snw_add(p->xi0.v, snw_cross(p->xi0.w, D)).x;
    return snw_chamber_section_at(tendon->area, p->x, b->rod[p->rod].L, stretch, 0).a_l;
}

// out->area <- law of an area that varies. It must have a force conjugate to the stretch: the
// integral (3.11.14) begins at zero pressure, where the law must be differentiable.
static snw_status tendon_area(snw_build *b, const snw_tendon_desc *d, snw_tendon *out,
                              const snw_tendon_point *point, snw_error *err) {
    if (!snw_chamber_area_varies(d->area)) return SNW_OK;
    snw_chamber_area *area = snw_build_array(b, 1, sizeof *area);
    if (b->memory_out) return SNW_E_MEMORY;
    snw_chamber_area_prepare(d->area, area);
    out->area = area;
    for (int i = out->point_adr; i < out->point_adr + out->npoint; i++) {
        const snw_vec3 D = {{0, point[i].y, point[i].z}};
        const double stretch = snw_add(point[i].xi0.v, snw_cross(point[i].xi0.w, D)).x;
        const snw_chamber_section s =
            snw_chamber_section_at(area, point[i].x, b->rod[point[i].rod].L, stretch, 0);
        if (isfinite(s.a_l) && isfinite(s.a_ll) && isfinite(s.a_p)) continue;
        return snw_fail_desc(
            err, d->location,
            snw_fail(err, SNW_E_MODEL,
                     "%s '%s': no force belongs to its area, whose derivative by stretch or "
                     "pressure is not finite as made, at x = %.4g m; give a law that is smooth at "
                     "zero pressure, e.g. 20 mm^2*(1 + pressure/(100 kPa))",
                     out->type->noun, d->name, point[i].x));
    }
    return SNW_OK;
}

// Constraint row of a chamber with given volume, scaled to a length, and its Jacobian, which is
// constant if the area is.
static snw_status add_volume_row(snw_build *b, const snw_tendon_desc *d, snw_tendon *tendon,
                                 const snw_tendon_point *point, const double *phi, snw_error *err) {
    double *jacobian = snw_build_array(b, (size_t)tendon->ndof, sizeof *jacobian), length = 0;
    if (b->memory_out) return SNW_E_MEMORY;
    for (int k = 0; k < d->nlink; k++) length += b->rod[b->link_rod[d->link[k]]].L;
    tendon->unit = length / tendon->reference;
    if (!tendon->area) tendon->jacobian = jacobian;
    if (snw_exists(d->when)) tendon->row = b->m->nconstraint++;
    for (int i = tendon->point_adr; i < tendon->point_adr + tendon->npoint; i++) {
        const snw_tendon_point *p = &point[i];
        const snw_rod *rod = &b->rod[p->rod];
        const double of[6] = {0, p->z, -p->y, 1, 0, 0}, *f = phi + p->phi;
        for (int a = 0; a < rod->na; f += p->count[a], a++) {
            double *to = jacobian + p->local + rod->dof[a] - rod->dof0 + p->first[a];
            const double c = tendon->unit * p->w * area_d1(b, tendon, p) * of[rod->comp[a]];
            for (int j = 0; j < p->count[a]; j++) to[j] += c * f[j];
        }
    }
    for (int j = 0; j < tendon->ndof; j++) {
        if (jacobian[j] != 0 || tendon->row < 0) return SNW_OK;
    }
    return snw_fail_desc(err, d->location,
                         snw_fail(err, SNW_E_MODEL,
                                  "%s '%s': its volume is given, but no coordinate of its "
                                  "rods changes it; let them stretch or bend, or give its effort",
                                  tendon->type->noun, d->name));
}

// Error: the length would be discontinuous when a conditional link appears.
static snw_status refuse_conditional_link(const snw_build *b, const snw_tendon_desc *d, int link,
                                          snw_error *err) {
    const char *what = snw_actuator_table[d->kind].noun;
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL,
                 "%s '%s' runs along link '%s', which is conditional; make the link permanent and "
                 "hold it by a loop with that 'when', or switch the %s off",
                 what, d->name, b->m->desc->link[link].name, what));
}

// Links of an active tendon must not be conditional.
static snw_status compile_tendon_check_links(const snw_build *b, const snw_tendon_desc *d,
                                             snw_error *err) {
    if (!snw_exists(d->when)) return SNW_OK;
    for (int k = 0; k < d->nlink; k++) {
        const snw_rod *rod = &b->rod[b->link_rod[d->link[k]]];
        if (b->seg[rod->seg0].condition != SNW_ALWAYS)
            return refuse_conditional_link(b, d, d->link[k], err);
    }
    for (int k = 0; k < d->nsegment; k++) {
        const int link[2] = {d->segment[k].a.link, d->segment[k].b.link};
        for (int side = 0; side < 2; side++) {
            if (link[side] < 0 || b->seg[b->link_end[link[side]]].condition == SNW_ALWAYS) continue;
            return refuse_conditional_link(b, d, link[side], err);
        }
    }
    return SNW_OK;
}

// Arrays of the points, segments and corners of all tendons.
typedef struct tendon_arrays {
    snw_tendon_point *point;
    snw_tendon_segment *segment;
    snw_tendon_corner *corner;
    double *phi, *dphi; // shape functions and, with friction, their derivatives in x
    int nphi;
    int *last; // nrod: see find_coincident_points
} tendon_arrays;

static snw_status compile_tendon_reserve(snw_build *b, tendon_arrays *p) {
    const snw_desc *d = b->m->desc;
    size_t npoint = 0, nsegment = 0, ncorner = 0;
    for (int i = 0; i < d->ntendon; i++) {
        const snw_tendon_desc *desc = &d->tendon[i];
        if (tendon_has_friction(desc)) ncorner += (size_t)(desc->nlink + desc->nsegment);
        nsegment += (size_t)desc->nsegment;
        for (int k = 0; k < desc->nlink; k++) {
            const rod_part s = rod_part_of(b, desc, k, 0);
            const snw_rod *rod = &b->rod[s.rod];
            npoint += (size_t)count_elements(b, &s) * (size_t)b->layout[rod->link].strain_points;
        }
    }
    npoint += nsegment;
    const size_t nphi = (npoint + 2 * ncorner) * (size_t)b->most_phi;
    *p = (tendon_arrays){.point = snw_build_array(b, npoint, sizeof *p->point),
                         .segment = snw_build_array(b, nsegment, sizeof *p->segment),
                         .corner = snw_build_array(b, ncorner, sizeof *p->corner),
                         .phi = snw_build_array(b, nphi, sizeof *p->phi),
                         .dphi = snw_build_array(b, ncorner > 0 ? nphi : 0, sizeof *p->dphi),
                         .last = snw_build_array(b, (size_t)b->m->nrod, sizeof *p->last)};
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}

// out->dof, ndof, point_adr, npoint <- points along rods and straight segments in the order of the
// path, and the coordinates they depend on.
static snw_status add_path(snw_build *b, const snw_tendon_desc *desc, tendon_arrays *p,
                           snw_tendon *out, snw_error *err) {
    const snw_model *m = b->m;
    int n = 0, rods = 0;
    for (int k = 0; k < desc->nlink; k++) rods += b->rod[b->link_rod[desc->link[k]]].ndof;
    const size_t most = desc->nsegment || out->has_friction ? (size_t)m->nv : (size_t)rods;
    int *dof = snw_build_array(b, most, sizeof *dof);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int k = 0; k < desc->nlink; k++) {
        const snw_rod *rod = &b->rod[b->link_rod[desc->link[k]]];
        for (int j = 0; j < rod->ndof; j++) {
            b->position[rod->dof0 + j] = n;
            dof[n++] = rod->dof0 + j;
        }
    }
    out->point_adr = m->ntendon_point;
    for (int k = 0, at = 0, next_segment = 0; k <= desc->nlink; k++) {
        while (next_segment < desc->nsegment && desc->segment[next_segment].after == k) {
            add_straight_segment(b, &desc->segment[next_segment++], p->segment, p->point, dof, &n);
        }
        if (k == desc->nlink) break;
        const rod_part s = rod_part_of(b, desc, k, at);
        at += b->rod[s.rod].ndof;
        SNW_TRY(add_rod_points(b, &s, p->point, p->phi, p->dphi, &p->nphi, err));
    }
    if (out->has_friction) {
        SNW_TRY(snw_build_tendon_corners(b, desc, out->point_adr, p->point, p->corner, p->phi,
                                         &p->nphi, dof, &n, err));
    }
    out->npoint = m->ntendon_point - out->point_adr;
    out->dof = dof;
    out->ndof = n;
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}

// Constants of a law of its effort.
static snw_status tendon_constants(const snw_tendon_desc *d, snw_tendon *tendon, snw_error *err) {
    for (int k = 0; k < SNW_ACTUATOR_CONSTANTS; k++) tendon->constant[k] = d->constant[k];
    if (!tendon->type->prepare) return SNW_OK;
    const char *rule = tendon->type->prepare(tendon->reference, tendon->constant);
    if (!rule) return SNW_OK;
    return snw_fail_desc(err, d->location,
                         snw_fail(err, SNW_E_MODEL, "%s '%s': %s; it is %.6g %s as made",
                                  tendon->type->noun, d->name, rule, tendon->reference,
                                  tendon->type->is_length ? "m" : "m^3"));
}

static snw_status compile_tendon_add(snw_build *b, const snw_tendon_desc *desc, tendon_arrays *p,
                                     snw_tendon *out, snw_error *err) {
    snw_model *m = b->m;
    SNW_TRY(compile_tendon_check_links(b, desc, err));
    const snw_actuator_type *type = &snw_actuator_table[desc->kind];
    *out = (snw_tendon){.name = desc->name,
                        .location = desc->location,
                        .type = type,
                        .control = snw_control_of(desc->kind, desc->given),
                        .given = desc->given,
                        .sign = type->is_length ? -1 : 1,
                        .law = desc->law,
                        .when = desc->when,
                        .temperature = desc->temperature,
                        .ambient = desc->ambient,
                        .reads_signals =
                            snw_reads_signals(1, &desc->law) || snw_reads_signals(1, &desc->when),
                        .extra = desc->extra,
                        .compliance = desc->compliance,
                        .friction = desc->friction,
                        .viscous = desc->viscous,
                        .creep = desc->creep,
                        .sliding = desc->sliding,
                        .has_friction = tendon_has_friction(desc),
                        .row = -1};
    SNW_TRY(add_path(b, desc, p, out, err));
    find_coincident_points(out, p->point, p->last);
    const size_t n = (size_t)out->ndof;
    out->store = m->store_tendon;
    m->store_tendon += n;
    if (n > m->most_tendon) m->most_tendon = n;
    if (out->has_friction && n > m->most_friction) m->most_friction = n;
    SNW_TRY(tendon_area(b, desc, out, p->point, err));
    SNW_TRY(tendon_reference(b, desc, out, p->point, p->segment, &out->reference, err));
    SNW_TRY(tendon_constants(desc, out, err));
    if (!snw_gives_motion(desc->given) || desc->compliance > 0) return SNW_OK;
    if (out->area && out->area->by_pressure) return SNW_OK; // its walls yield: no constraint
    if (!type->is_length) return add_volume_row(b, desc, out, p->point, p->phi, err);
    add_length_row(b, desc, out);
    return SNW_OK;
}

snw_status snw_build_tendons(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    tendon_arrays p;
    SNW_TRY(compile_tendon_reserve(b, &p));
    snw_tendon *tendon = snw_build_array(b, (size_t)d->ntendon, sizeof *tendon);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->ntendon; i++) {
        SNW_TRY(compile_tendon_add(b, &d->tendon[i], &p, &tendon[i], err));
    }
    m->ntendon = d->ntendon;
    m->tendon = tendon;
    m->tendon_point = p.point;
    m->tendon_segment = p.segment;
    m->tendon_corner = p.corner;
    m->tendon_phi = p.phi;
    m->tendon_dphi = p.dphi;
    return SNW_OK;
}
