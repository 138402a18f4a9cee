// SPDX-License-Identifier: MIT
//
// Obstacles, and their contact points: nodes and ends of rods, and bodies, with their support
// functions or radii and penalty stiffness (theory.md 3.13); contact points of wheels that slip
// (3.15).
#include "model/compile.h"

#include "base/fail.h"
#include "model/contact_samples.h"
#include "model/height_field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Contact points under construction, in any order, and the contact they belong to.
typedef struct contact_list {
    snw_contact_point *contact_point;
    int contact, condition;
    int link; // that touches the obstacle
} contact_list;

enum { SOLID_SPHERES = 20000 }; // most of a box, cylinder or obstacle

// Radius of rounding of rims over their radius: a body standing on a rim can then start to tilt.
static const double ROUNDING = 0.01;

static snw_status contact_refuse(const snw_contact_desc *d, const char *link, const char *why,
                                 snw_error *err) {
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL, "contact '%s' on link '%s': %s", d->name, link, why));
}

// Is the obstacle of the list a half-space? Shapes then enter by their support functions, else all
// contact points are spheres.
static bool contact_is_plane(const snw_build *b, const contact_list *list) {
    return b->contact[list->contact].obstacle.kind == SNW_OBSTACLE_PLANE;
}

// Add a contact point without extension.
static snw_contact_point *contact_add_point(snw_build *b, const contact_list *list, int seg,
                                            snw_vec3 at, double stiffness) {
    snw_contact_point *p = &list->contact_point[b->m->ncontact_point++];
    *p = (snw_contact_point){.seg = seg,
                             .contact = list->contact,
                             .link = list->link,
                             .condition = list->condition,
                             .body_condition = b->seg[seg].condition,
                             .centre = at,
                             .sharp = true,
                             .stiffness = stiffness};
    return p;
}

// Give a contact point the support function of an elliptic disc with half widths y and z; E: axes
// by columns, normal to the disc, along y, along z.
static void set_disc(snw_contact_point *p, snw_mat3 E, double y, double z) {
    const double half[2] = {y, z};
    p->round = ROUNDING * fmax(y, z);
    p->sharp = !(p->round > 0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int c = 0; c < 2; c++) { // the rounded rim keeps its width
                const double q = half[c] * half[c] + 2 * half[c] * p->round;
                p->Q.e[i][j] += q * E.e[i][c + 1] * E.e[j][c + 1];
            }
        }
    }
}

// ---- rods

// Add a section of a rod: a disc, or the four corners of a rectangle with half the stiffness each.
static void contact_add_section(snw_build *b, const snw_rod_desc *rod, int seg, double stiffness,
                                const contact_list *list, const snw_outline *o) {
    const double y = 0.5 * o->y, z = 0.5 * o->z;
    if (!snw_section_table[rod->section.kind].rectangle) {
        snw_contact_point *p = contact_add_point(b, list, seg, (snw_vec3){{0}}, stiffness);
        set_disc(p, snw_mat3_identity(), y, z);
        p->radius = y;
        return;
    }
    for (int i = 0; i < 4; i++) {
        const snw_vec3 at = {{0, i & 1 ? y : -y, i & 2 ? z : -z}};
        (void)contact_add_point(b, list, seg, at, 0.5 * stiffness);
    }
}

// Widths of a section; zero when it has no shape, so that its centre is the contact point.
static snw_status contact_widths(const snw_link_desc *link, double x, snw_outline *o,
                                 snw_error *err) {
    *o = (snw_outline){0};
    if (!snw_section_table[link->rod.section.kind].shaped) return SNW_OK;
    return snw_section_outline(&link->rod, link->name, x, o, err);
}

// Add the nodes and end sections of the rod of link l.
static snw_status contact_add_rod(snw_build *b, int l, const contact_list *list, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[list->contact];
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_rod *rod = &b->rod[b->link_rod[l]];
    snw_outline o;
    if (d->npoint)
        return contact_refuse(d, link->name, "'points' are for bodies, and it is a rod", err);
    if (!contact_is_plane(b, list) && link->rod.section.kind == SNW_SECTION_ELLIPSE) {
        return contact_refuse(d, link->name,
                              "its section is an ellipse; sections that touch an obstacle other "
                              "than a plane are circles, tubes or rectangles",
                              err);
    }
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (!(b->seg_w[s] > 0)) continue;
        SNW_TRY(contact_widths(link, b->seg_x[s], &o, err));
        contact_add_section(b, &link->rod, s, b->seg_w[s] * d->stiffness, list, &o);
    }
    for (int tip = 0; tip < 2; tip++) {
        const int s = tip ? rod->seg0 + rod->nseg - 1 : rod->root;
        SNW_TRY(contact_widths(link, tip ? rod->L : 0, &o, err));
        const double k = d->has_ends ? d->ends : 0.5 * fmin(o.y, o.z) * d->stiffness;
        if (k > 0 && s > 0) contact_add_section(b, &link->rod, s, k, list, &o);
    }
    return SNW_OK;
}

// ---- bodies

// Add the two rims of a cylinder.
static void contact_add_rims(snw_build *b, const snw_body_desc *body, int seg, double k,
                             const contact_list *list) {
    snw_vec3 y, z;
    snw_joint_across(body->axis, &y, &z);
    const snw_vec3 a = body->axis;
    const snw_mat3 E = {{{a.x, y.x, z.x}, {a.y, y.y, z.y}, {a.z, y.z, z.z}}};
    for (int i = -1; i < 2; i += 2) {
        const snw_vec3 at = snw_add(body->com, snw_scale(0.5 * i * body->size.y, a));
        set_disc(contact_add_point(b, list, seg, at, k), E, body->size.x, body->size.x);
    }
}

// Add the eight corners of a box.
static void contact_add_corners(snw_build *b, const snw_body_desc *body, int seg, double k,
                                const contact_list *list) {
    for (int i = 0; i < 8; i++) {
        snw_vec3 at = body->com;
        for (int c = 0; c < 3; c++) at.e[c] += (i >> c & 1 ? 0.5 : -0.5) * body->size.e[c];
        (void)contact_add_point(b, list, seg, at, k);
    }
}

static void contact_add_sphere(snw_build *b, const snw_body_desc *body, int seg, double k,
                               const contact_list *list) {
    snw_contact_point *p = contact_add_point(b, list, seg, body->com, k);
    p->sharp = false;
    p->radius = body->size.x;
    p->Q = snw_mat3_scale(body->size.x * body->size.x, snw_mat3_identity());
}

// ---- boxes and cylinders against obstacles other than planes

bool snw_body_is_edged(const snw_body_desc *body) {
    return body->shape == SNW_SHAPE_BOX || body->shape == SNW_SHAPE_CYLINDER;
}

snw_obstacle snw_body_solid(const snw_body_desc *body) {
    const bool box = body->shape == SNW_SHAPE_BOX;
    snw_obstacle o = {.kind = box ? SNW_OBSTACLE_BOX : SNW_OBSTACLE_CYLINDER};
    if (box) {
        o.half = snw_scale(0.5, body->size);
    } else {
        o.radius = body->size.x;
        o.half.z = 0.5 * body->size.y;
    }
    o.rounding = SNW_OBSTACLE_ROUNDING * snw_solid_fineness(&o);
    return o;
}

snw_se3 snw_body_solid_pose(const snw_body_desc *body) {
    snw_se3 g = {snw_mat3_identity(), body->com};
    if (body->shape != SNW_SHAPE_CYLINDER) return g;
    snw_vec3 x, y;
    snw_joint_across(body->axis, &x, &y);
    for (int i = 0; i < 3; i++) {
        g.R.e[i][0] = x.e[i];
        g.R.e[i][1] = y.e[i];
        g.R.e[i][2] = body->axis.e[i];
    }
    return g;
}

// Does the body of the link touch this contact as a solid, from both sides?
static bool touches_as_solid(const snw_build *b, const snw_contact_desc *d, int l) {
    const snw_link_desc *link = &b->m->desc->link[l];
    return d->is_obstacle && d->obstacle.kind != SNW_OBSTACLE_PLANE && d->npoint == 0 &&
           b->link_rod[l] < 0 && link->has_body && snw_body_is_edged(&link->body);
}

static double solid_spacing(const snw_contact_desc *d, const snw_obstacle *solid) {
    if (d->spacing > 0) return d->spacing;
    return fmin(snw_solid_fineness(&d->obstacle), snw_solid_fineness(solid));
}

// Number of spheres of both: of the body, unless the obstacle is a ball and thus exact, and of the
// obstacle.
static void solid_counts(const snw_contact_desc *d, const snw_obstacle *solid, int count[2]) {
    const double spacing = solid_spacing(d, solid);
    const bool ball = d->obstacle.kind == SNW_OBSTACLE_SPHERE && !d->obstacle.inside;
    count[0] = ball ? 0 : snw_solid_spheres(solid, spacing, 0, NULL);
    count[1] = snw_solid_spheres(&d->obstacle, spacing, 0, NULL);
}

// Add spheres of a solid with the pose g in the frame of a segment.
static void add_spheres(snw_build *b, const contact_list *list, int seg, snw_se3 g, int n,
                        const snw_sphere *sphere, double stiffness) {
    for (int i = 0; i < n; i++) {
        snw_contact_point *p =
            contact_add_point(b, list, seg, snw_se3_point(g, sphere[i].centre), stiffness);
        p->radius = sphere[i].radius;
    }
}

// Add the body of link l as spheres against the obstacle, and the obstacle as spheres against it.
static snw_status contact_add_solid(snw_build *b, const contact_list *list, int l, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[list->contact];
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_obstacle solid = snw_body_solid(&link->body);
    const double spacing = solid_spacing(d, &solid);
    if (d->obstacle.kind == SNW_OBSTACLE_CYLINDER && isinf(d->obstacle.half.z) &&
        !d->obstacle.inside) {
        return contact_refuse(d, link->name,
                              "a box or cylinder touches it, and its edges are endless; give a "
                              "'length'",
                              err);
    }
    int count[2], reversed = b->m->ncontact;
    solid_counts(d, &solid, count);
    for (int i = 0; i < 2; i++) {
        if (count[i] <= SOLID_SPHERES) continue;
        char why[160];
        (void)snprintf(why, sizeof why,
                       "%d contact points, %.3g m apart, are more than %d; give a larger 'spacing'",
                       count[i], spacing, (int)SOLID_SPHERES);
        return contact_refuse(d, link->name, why, err);
    }
    snw_sphere *sphere =
        snw_build_array(b, (size_t)(count[0] > count[1] ? count[0] : count[1]), sizeof *sphere);
    if (b->memory_out) return SNW_E_MEMORY;
    (void)snw_solid_spheres(&solid, spacing, count[0], sphere);
    add_spheres(b, list, b->link_end[l], snw_body_solid_pose(&link->body), count[0], sphere,
                d->stiffness);
    // the contact that snw_build_obstacles has made of this body
    for (int i = b->m->desc->ncontact; i < b->ncontact; i++) {
        if (b->contact[i].of == list->contact && b->reversed_link[i] == l) reversed = i;
    }
    contact_list from = *list;
    from.contact = reversed;
    (void)snw_solid_spheres(&d->obstacle, spacing, count[1], sphere);
    add_spheres(b, &from, b->contact[list->contact].seg, snw_se3_identity(), count[1], sphere,
                d->stiffness);
    return SNW_OK;
}

// Add the body of link l: its given points, or its shape.
static snw_status contact_add_body(snw_build *b, int l, const contact_list *list, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[list->contact];
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
    if (!contact_is_plane(b, list) && d->npoint == 0 && snw_body_is_edged(body))
        return contact_add_solid(b, list, l, err);
    for (int i = 0; i < d->npoint; i++)
        (void)contact_add_point(b, list, seg, d->point[i], d->stiffness);
    if (d->npoint == 0) {
        switch (body->shape) {
        case SNW_SHAPE_NONE:
            return contact_refuse(
                d, link->name, "its body has no shape; give box, cylinder or sphere, or 'points'",
                err);
        case SNW_SHAPE_BOX:
            contact_add_corners(b, body, seg, d->stiffness, list);
            break;
        case SNW_SHAPE_CYLINDER:
            contact_add_rims(b, body, seg, d->stiffness, list);
            break;
        case SNW_SHAPE_SPHERE:
            contact_add_sphere(b, body, seg, d->stiffness, list);
            break;
        }
    }
    return SNW_OK;
}

// ---- wheels

// Add the contact point of a wheel with slip resistance, on the segment of its site.
static snw_status contact_add_wheel(snw_build *b, const snw_contact_desc *d,
                                    const contact_list *list, snw_error *err) {
    const snw_loop *loop = &b->loop[d->nonholonomic - 1];
    const int link = b->m->desc->loop[d->nonholonomic - 1].b.link;
    if (loop->slip[0] == 0 && loop->slip[1] == 0) return SNW_OK;
    if (b->link_rod[link] >= 0 && b->rod[b->link_rod[link]].feed >= 0) {
        return contact_refuse(
            d, b->m->desc->link[link].name,
            "its rod has variable length; attach a link to its tip and put the wheel on that", err);
    }
    snw_contact_point *p = contact_add_point(b, list, loop->b, (snw_vec3){{0}}, 0);
    p->condition = loop->condition;
    p->wheel = d->nonholonomic;
    return SNW_OK;
}

// ---- all

// Sort contact points by segment; stable, so that sums keep their order.
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
        if (sorted[i].wheel) b->loop[sorted[i].wheel - 1].contact_point = i + 1;
    }
    m->contact_point = sorted;
    m->contact_point_of_seg = start;
    return SNW_OK;
}

static snw_contact contact_of(const snw_contact_desc *d, int of) {
    return (snw_contact){.of = of,
                         .obstacle = d->obstacle,
                         .normal = d->normal,
                         .at = d->at,
                         .damping = d->damping,
                         .along = d->along,
                         .across = d->across,
                         .creep = d->creep,
                         .smooth = d->smooth,
                         .hard = d->hard,
                         .restitution = d->restitution};
}

// The body of link l as an obstacle for the spheres of obstacle c.
static void build_reversed(snw_build *b, int c, int l) {
    const snw_contact_desc *d = &b->m->desc->contact[c];
    if (!touches_as_solid(b, d, l)) return;
    const snw_body_desc *body = &b->m->desc->link[l].body;
    const snw_pose_desc pose = snw_build_constant_pose(b, snw_body_solid_pose(body));
    snw_contact *to = &b->contact[b->ncontact];
    *to = contact_of(d, c);
    to->reversed = true;
    to->obstacle = snw_body_solid(body);
    to->seg = snw_build_pose(b, &pose, b->link_end[l], -1);
    to->coupled = true;
    b->reversed_link[b->ncontact++] = l;
}

snw_status snw_build_obstacles(snw_build *b) {
    const snw_desc *d = b->m->desc;
    size_t most = (size_t)d->ncontact;
    for (int c = 0; c < d->ncontact; c++) most += (size_t)d->contact[c].nlink;
    b->contact = snw_build_array(b, most, sizeof *b->contact);
    b->reversed_link = snw_build_array(b, most, sizeof *b->reversed_link);
    if (b->memory_out) return SNW_E_MEMORY;
    b->ncontact = d->ncontact;
    for (int c = 0; c < d->ncontact; c++) {
        snw_contact *to = &b->contact[c];
        *to = contact_of(&d->contact[c], c);
        b->m->hard = b->m->hard || to->hard;
        if (!d->contact[c].is_obstacle) continue;
        to->seg = snw_build_pose(b, &d->contact[c].pose, snw_build_site(b, &d->contact[c].on), -1);
        to->coupled = b->path[b->seg[to->seg].path].n > 0;
        for (int k = 0; k < d->contact[c].nlink; k++) build_reversed(b, c, d->contact[c].link[k]);
    }
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}

// An obstacle that surrounds the robot is differentiable as far from its walls as the centres of
// what it touches may be.
static snw_status contact_check_inside(const snw_build *b, const contact_list *list, int first,
                                       snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[list->contact];
    if (!d->obstacle.inside) return SNW_OK;
    const snw_obstacle_type *type = &snw_obstacle_table[d->obstacle.kind];
    const double reach = type->reach(&d->obstacle);
    for (int i = first; i < b->m->ncontact_point; i++) {
        const snw_contact_point *p = &list->contact_point[i];
        if (p->radius + 0.5 * d->smooth < reach) continue;
        char why[200];
        (void)snprintf(why, sizeof why,
                       "it has the radius %g m, and the inside of the %s is smooth for less than "
                       "%g m; use a larger %s",
                       p->radius, type->name, reach,
                       type->takes & SNW_SIZE_ROUNDING && reach == d->obstacle.rounding
                           ? "rounding"
                           : "obstacle");
        return contact_refuse(d, b->m->desc->link[b->seg[p->seg].link].name, why, err);
    }
    return SNW_OK;
}

snw_status snw_build_contacts(snw_build *b, snw_error *err) {
    const snw_desc *d = b->m->desc;
    enum { CORNERS = 8, OF_SECTION = 4 };
    size_t most = 0;
    for (int c = 0; c < d->ncontact; c++) {
        most += d->contact[c].nonholonomic > 0;
        if (d->contact[c].is_rods) continue;
        for (int k = 0; k < d->contact[c].nlink; k++) {
            const int rod = b->link_rod[d->contact[c].link[k]];
            if (touches_as_solid(b, &d->contact[c], d->contact[c].link[k])) {
                const snw_obstacle solid = snw_body_solid(&d->link[d->contact[c].link[k]].body);
                int count[2];
                solid_counts(&d->contact[c], &solid, count);
                for (int i = 0; i < 2; i++) most += count[i] > SOLID_SPHERES ? 0 : (size_t)count[i];
            }
            most += rod >= 0 ? OF_SECTION * ((size_t)b->rod[rod].nseg + 2)
                             : CORNERS + (size_t)d->contact[c].npoint;
        }
    }
    contact_list list = {.contact_point = snw_build_array(b, most, sizeof *list.contact_point)};
    if (b->memory_out) return SNW_E_MEMORY;
    for (int c = 0; c < d->ncontact; c++) {
        const int first = b->m->ncontact_point;
        list.contact = c;
        if (d->contact[c].is_rods) continue;
        if (d->contact[c].nonholonomic) {
            list.link = d->loop[d->contact[c].nonholonomic - 1].b.link;
            SNW_TRY(contact_add_wheel(b, &d->contact[c], &list, err));
        }
        SNW_TRY(snw_build_condition(b, d->contact[c].when, &list.condition, err));
        for (int k = 0; snw_exists(d->contact[c].when) && k < d->contact[c].nlink; k++) {
            const int l = d->contact[c].link[k];
            list.link = l;
            SNW_TRY(b->link_rod[l] >= 0 ? contact_add_rod(b, l, &list, err)
                                        : contact_add_body(b, l, &list, err));
        }
        SNW_TRY(contact_check_inside(b, &list, first, err));
    }
    b->m->ncontact = b->ncontact;
    b->m->contact = b->contact;
    return contact_sort(b, list.contact_point);
}

// ---- spacing

// Largest distance between neighbouring contact points of the rod of link l, m, and radius of its
// thinnest section there.
static double contact_spacing(const snw_model *m, int contact, int l, double *radius) {
    const snw_rod *rod = &m->rod[m->link_rod[l]];
    double last = 0, most = 0;
    *radius = INFINITY;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (p->contact == contact && p->seg >= rod->seg0 && p->seg < rod->seg0 + rod->nseg)
            *radius = fmin(*radius, p->radius);
    }
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (!(m->seg_w[s] > 0)) continue;
        most = fmax(most, m->seg_x[s] - last);
        last = m->seg_x[s];
    }
    const snw_section_desc *section = &m->desc->link[l].rod.section;
    if (section->kind == SNW_SECTION_RECTANGLE) {
        snw_outline o;
        if (snw_section_outline(&m->desc->link[l].rod, "", 0, &o, NULL) == SNW_OK)
            most = fmax(most, fmax(o.y, o.z));
    }
    return fmax(most, rod->L - last);
}

// Warning of links larger than the hollows of a height field: they touch them at more than one
// place, and only one of them is found.
static void describe_hollows(const snw_model *m, int i, char *text, size_t size) {
    const snw_contact_desc *d = &m->desc->contact[i];
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (p->contact != i || !(p->radius > d->obstacle.height->hollow)) continue;
        (void)snprintf(
            text, size,
            "contact '%.60s': link '%.60s' has the radius %.3g m, and the height field has "
            "hollows with radii from %.3g m, which it touches at several places; one of "
            "them counts. Use a smoother field",
            d->name, m->desc->link[m->seg[p->seg].link].name, p->radius,
            d->obstacle.height->hollow);
        return;
    }
}

void snw_contact_describe_spacing(const snw_model *m, int i, char *text, size_t size) {
    const snw_contact_desc *d = &m->desc->contact[i];
    text[0] = '\0';
    if (!d->is_obstacle || d->obstacle.inside || d->obstacle.kind == SNW_OBSTACLE_PLANE ||
        !snw_exists(d->when))
        return;
    if (d->obstacle.height) describe_hollows(m, i, text, size);
    if (text[0]) return;
    const double curvature = snw_obstacle_table[d->obstacle.kind].smallest_radius(&d->obstacle);
    for (int k = 0; k < d->nlink; k++) {
        const int l = d->link[k];
        if (m->link_rod[l] < 0) continue;
        double radius;
        const double spacing = contact_spacing(m, i, l, &radius);
        const double enough = 0.5 * (curvature + radius);
        if (!(spacing > enough)) continue;
        const double L = m->rod[m->link_rod[l]].L;
        (void)snprintf(
            text, size,
            "contact '%.60s': the contact points of rod '%.60s' are up to %.3g m apart, "
            "and the obstacle, with radii from %.3g m, can pass between them unless they "
            "are at most %.3g m apart; write nodes: %.0f for the rod%s",
            d->name, m->desc->link[l].name, spacing, curvature, enough, ceil(1.6 * L / enough),
            curvature == d->obstacle.rounding ? ", or a larger rounding" : "");
        return;
    }
}
