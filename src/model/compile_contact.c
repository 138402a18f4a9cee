// SPDX-License-Identifier: MIT
//
// Obstacles, and their contact points: nodes and ends of rods, and bodies, with their support
// functions or radii and penalty stiffness (theory.md 3.13); contact points of wheels that slip
// (3.15).
#include "model/compile.h"

#include "base/fail.h"
#include "model/contact_samples.h"
#include "model/convex_hull.h"
#include "model/distance_grid.h"
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

// Why pieces of the rod of link l cannot touch the obstacle at their smallest gap; NULL: they can.
static const char *no_pieces(const snw_build *b, int l, const contact_list *list) {
    const snw_rod *rod = &b->rod[b->link_rod[l]];
    const snw_section_desc *section = &b->m->desc->link[l].rod.section;
    if (contact_is_plane(b, list)) return "a plane has no place that is nearest to a straight rod";
    if (b->contact[list->contact].obstacle.inside)
        return "a rod inside of an obstacle touches it along its length";
    if (b->contact[list->contact].obstacle.grid || b->contact[list->contact].obstacle.height)
        return "a surface from a file or formula may touch it at several places";
    if (snw_section_table[section->kind].rectangle) return "its section is a rectangle";
    if (rod->feed >= 0) return "it has variable length";
    if (rod->tolerance > 0) return "its nodes move, by integrator rk45";
    return NULL;
}

// Add the pieces of the rod of link l between its nodes, root and tip.
static snw_status contact_add_pieces(snw_build *b, int l, const contact_list *list,
                                     snw_error *err) {
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_rod *rod = &b->rod[b->link_rod[l]];
    const double stiffness = b->m->desc->contact[b->contact[list->contact].of].stiffness;
    snw_contact_point *first = &list->contact_point[b->m->ncontact_point], *last = first;
    snw_outline o;
    SNW_TRY(contact_widths(link, 0, &o, err));
    double x = 0, radius = 0.5 * o.y;
    int from = rod->root;
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (b->seg_x[s] - x <= 1e-9 * rod->L) continue;
        SNW_TRY(contact_widths(link, b->seg_x[s], &o, err));
        last = contact_add_point(b, list, s, (snw_vec3){{0}}, stiffness);
        last->from = from;
        last->span = b->seg_x[s] - x;
        last->end_radius[0] = radius, last->end_radius[1] = 0.5 * o.y;
        last->radius = fmax(radius, 0.5 * o.y);
        x = b->seg_x[s], radius = 0.5 * o.y, from = s;
    }
    first->ends_rod[0] = last->ends_rod[1] = true;
    // slopes of the radius at the nodes: of the parabola through three of them on even spacing
    for (snw_contact_point *p = first; p <= last; p++) {
        const snw_contact_point *before = p > first ? p - 1 : p, *after = p < last ? p + 1 : p;
        const double rise[2] = {p->end_radius[1] - before->end_radius[0],
                                after->end_radius[1] - p->end_radius[0]};
        p->end_slope[0] = rise[0] / (p > first ? before->span + p->span : p->span);
        p->end_slope[1] = rise[1] / (p < last ? after->span + p->span : p->span);
    }
    return SNW_OK;
}

// Add the nodes and end sections of the rod of link l, or its pieces.
static snw_status contact_add_rod(snw_build *b, int l, const contact_list *list, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[b->contact[list->contact].of];
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_rod *rod = &b->rod[b->link_rod[l]];
    snw_outline o;
    if (d->npoint)
        return contact_refuse(d, link->name, "'points' are for bodies, and it is a rod", err);
    const snw_section_kind kind = link->rod.section.kind;
    if (!contact_is_plane(b, list) &&
        (kind == SNW_SECTION_ELLIPSE || kind == SNW_SECTION_ELLIPTIC_TUBE)) {
        return contact_refuse(d, link->name,
                              "its section is an ellipse; sections that touch an obstacle other "
                              "than a plane are circles, tubes or rectangles",
                              err);
    }
    if (d->hard || d->nearest) {
        const char *why = no_pieces(b, l, list);
        if (!why) return contact_add_pieces(b, l, list, err);
        if (d->nearest) {
            char text[200];
            (void)snprintf(text, sizeof text, "it cannot touch where it is 'nearest': %s", why);
            return contact_refuse(d, link->name, text, err);
        }
    }
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (!(b->seg_w[s] > 0)) continue;
        SNW_TRY(contact_widths(link, b->seg_x[s], &o, err));
        contact_add_section(b, &link->rod, s, b->seg_w[s] * d->stiffness, list, &o);
    }
    for (int tip = 0; tip < 2; tip++) {
        const int s = tip ? rod->seg0 + rod->nseg - 1 : rod->root;
        SNW_TRY(contact_widths(link, tip ? rod->L : 0, &o, err));
        const double k = d->hard       ? d->stiffness
                         : d->has_ends ? d->ends
                                       : 0.5 * fmin(o.y, o.z) * d->stiffness;
        if (k > 0 && s > 0) contact_add_section(b, &link->rod, s, k, list, &o);
    }
    return SNW_OK;
}

// ---- bodies

// Add the two rims of a cylinder.
static void contact_add_rims(snw_build *b, const snw_body_solid *s, int seg, double k,
                             const contact_list *list) {
    // its axes, beginning with the normal of the rims
    snw_mat3 E;
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) E.e[i][c] = s->pose.R.e[i][(c + 2) % 3];
    }
    for (int i = -1; i < 2; i += 2) {
        const snw_vec3 at = snw_se3_point(s->pose, (snw_vec3){{0, 0, i * s->shape.half.z}});
        set_disc(contact_add_point(b, list, seg, at, k), E, s->shape.radius, s->shape.radius);
    }
}

// Add the eight corners of a box.
static void contact_add_corners(snw_build *b, const snw_body_solid *s, int seg, double k,
                                const contact_list *list) {
    for (int i = 0; i < 8; i++) {
        snw_vec3 at;
        for (int c = 0; c < 3; c++) at.e[c] = (i >> c & 1 ? 1 : -1) * s->shape.half.e[c];
        (void)contact_add_point(b, list, seg, snw_se3_point(s->pose, at), k);
    }
}

// Add a ball about a point of the segment; without a radius the point itself.
static void contact_add_ball(snw_build *b, snw_vec3 centre, double radius, int seg, double k,
                             const contact_list *list) {
    snw_contact_point *p = contact_add_point(b, list, seg, centre, k);
    p->sharp = !(radius > 0);
    p->radius = radius;
    p->Q = snw_mat3_scale(radius * radius, snw_mat3_identity());
}

// Add a solid against a plane: what the plane can touch first. Corners and rims are sharp.
static void add_solid_on_plane(snw_build *b, const snw_body_solid *s, int seg, double k,
                               const contact_list *list) {
    const snw_obstacle *o = &s->shape;
    switch (o->kind) {
    case SNW_OBSTACLE_BOX:
        contact_add_corners(b, s, seg, k, list);
        break;
    case SNW_OBSTACLE_CYLINDER:
        contact_add_rims(b, s, seg, k, list);
        break;
    case SNW_OBSTACLE_CAPSULE:
        for (int i = -1; i < 2; i += 2) {
            const snw_vec3 end = {{0, 0, i * o->half.z}};
            contact_add_ball(b, snw_se3_point(s->pose, end), o->radius, seg, k, list);
        }
        break;
    case SNW_OBSTACLE_MESH:
    case SNW_OBSTACLE_HULL: {
        const snw_triangle_mesh *m = o->grid ? &o->grid->mesh : &o->hull->mesh;
        for (int v = 0; v < m->nvertex; v++)
            contact_add_ball(b, snw_se3_point(s->pose, m->vertex[v]), o->rounding, seg, k, list);
        break;
    }
    case SNW_OBSTACLE_SPHERE:
        contact_add_ball(b, s->pose.p, o->radius, seg, k, list);
        break;
    case SNW_OBSTACLE_PLANE:
    case SNW_OBSTACLE_TORUS:
    case SNW_OBSTACLE_HEIGHT:
    case SNW_OBSTACLE_COUNT:
        break;
    }
}

// Their number, at most.
static size_t points_on_plane(const snw_obstacle *o) {
    enum { CORNERS = 8 };
    if (o->grid) return (size_t)o->grid->mesh.nvertex;
    return o->hull ? (size_t)o->hull->mesh.nvertex : CORNERS;
}

// ---- solids against obstacles other than planes

// Link l if its body touches contact c of the description by its solids, else NULL.
static const snw_link_desc *link_with_solids(const snw_desc *d, int c, int l) {
    const snw_link_desc *link = &d->link[l];
    return d->contact[c].npoint == 0 && !link->has_rod && link->has_body ? link : NULL;
}

// Does the solid touch the obstacle from both sides? A ball is exact by itself, and a plane is
// touched by corners, rims and balls.
static bool touches_both_ways(const snw_obstacle *obstacle, const snw_obstacle *solid) {
    return obstacle->kind != SNW_OBSTACLE_PLANE && solid->kind != SNW_OBSTACLE_SPHERE;
}

size_t snw_obstacle_contacts(const snw_desc *d, int c) {
    const snw_contact_desc *at = &d->contact[c];
    const size_t nobstacle = at->body ? (size_t)at->body->nsolid : 1;
    size_t nsolid = 1;
    for (int k = 0; k < at->nlink; k++) {
        const snw_link_desc *link = link_with_solids(d, c, at->link[k]);
        if (link) nsolid += (size_t)link->body.nsolid;
    }
    return nobstacle * nsolid;
}

static double solid_spacing(const snw_contact_desc *d, const snw_obstacle *obstacle,
                            const snw_obstacle *solid) {
    if (d->spacing > 0) return d->spacing;
    return fmin(snw_solid_fineness(obstacle), snw_solid_fineness(solid));
}

// Number of spheres of both: of the body, unless the obstacle is a ball and thus exact, and of the
// obstacle.
static void solid_counts(const snw_contact_desc *d, const snw_obstacle *obstacle,
                         const snw_obstacle *solid, int count[2]) {
    const double spacing = solid_spacing(d, obstacle, solid);
    const bool ball = obstacle->kind == SNW_OBSTACLE_SPHERE && !obstacle->inside;
    count[0] = ball ? 0 : snw_solid_spheres(solid, spacing, 0, NULL);
    count[1] = snw_solid_spheres(obstacle, spacing, 0, NULL);
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

// Add a solid of link l as spheres against the obstacle, and the obstacle as spheres against it.
static snw_status contact_add_solid(snw_build *b, const contact_list *list, int l, int index,
                                    snw_error *err) {
    const snw_contact *contact = &b->contact[list->contact];
    const snw_contact_desc *d = &b->m->desc->contact[contact->of];
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_body_solid *solid = &link->body.solid[index];
    const double spacing = solid_spacing(d, &contact->obstacle, &solid->shape);
    if (contact->obstacle.kind == SNW_OBSTACLE_CYLINDER && isinf(contact->obstacle.half.z) &&
        !contact->obstacle.inside) {
        char why[160];
        (void)snprintf(why, sizeof why,
                       "a %s touches it, and its edges are endless; give a 'length'",
                       snw_obstacle_table[solid->shape.kind].name);
        return contact_refuse(d, link->name, why, err);
    }
    int count[2], reversed = b->m->ncontact;
    solid_counts(d, &contact->obstacle, &solid->shape, count);
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
    (void)snw_solid_spheres(&solid->shape, spacing, count[0], sphere);
    add_spheres(b, list, b->link_end[l], solid->pose, count[0], sphere, d->stiffness);
    // the contact that snw_build_obstacles has made of this solid
    for (int i = b->m->desc->ncontact; i < b->ncontact; i++) {
        const snw_pair *p = &b->pair[i];
        if (b->contact[i].reversed && p->against == list->contact && p->link == l &&
            p->solid == index)
            reversed = i;
    }
    contact_list from = *list;
    from.contact = reversed;
    (void)snw_solid_spheres(&contact->obstacle, spacing, count[1], sphere);
    add_spheres(b, &from, contact->seg, snw_se3_identity(), count[1], sphere, d->stiffness);
    return SNW_OK;
}

// Add the body of link l: its given points, or its solids.
static snw_status contact_add_body(snw_build *b, int l, const contact_list *list, snw_error *err) {
    const snw_contact *contact = &b->contact[list->contact];
    const snw_contact_desc *d = &b->m->desc->contact[contact->of];
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
    for (int i = 0; i < d->npoint; i++)
        (void)contact_add_point(b, list, seg, d->point[i], d->stiffness);
    if (d->npoint > 0) return SNW_OK;
    if (body->nsolid == 0) {
        return contact_refuse(
            d, link->name,
            "its body has no shape; give box, cylinder, sphere or shapes, or 'points'", err);
    }
    for (int i = 0; i < body->nsolid; i++) {
        const snw_body_solid *solid = &body->solid[i];
        if (touches_both_ways(&contact->obstacle, &solid->shape)) {
            SNW_TRY(contact_add_solid(b, list, l, i, err));
        } else {
            add_solid_on_plane(b, solid, seg, d->stiffness, list);
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

// A further contact of contact c of the description, with a solid carried by segment `on`.
static snw_contact *build_further(snw_build *b, int c, const snw_body_solid *solid, int on,
                                  snw_pair pair) {
    const snw_pose_desc pose = snw_build_constant_pose(b, solid->pose);
    snw_contact *to = &b->contact[b->ncontact];
    *to = contact_of(&b->m->desc->contact[c], c);
    to->obstacle = solid->shape;
    to->seg = snw_build_pose(b, &pose, on, -1);
    to->coupled = b->path[b->seg[to->seg].path].n > 0;
    b->pair[b->ncontact++] = pair;
    return to;
}

// The solids of links that touch an obstacle, as obstacles for its spheres.
static void build_reversed(snw_build *b, int c, int against) {
    const snw_desc *d = b->m->desc;
    for (int k = 0; k < d->contact[c].nlink; k++) {
        const int l = d->contact[c].link[k];
        const snw_link_desc *link = link_with_solids(d, c, l);
        for (int i = 0; link && i < link->body.nsolid; i++) {
            const snw_body_solid *solid = &link->body.solid[i];
            if (!touches_both_ways(&b->contact[against].obstacle, &solid->shape)) continue;
            build_further(b, c, solid, b->link_end[l], (snw_pair){against, l, i})->reversed = true;
        }
    }
}

// The contacts of an obstacle of the description: itself, the further solids of the body that it
// is, and what touches them as solids.
static void build_obstacle(snw_build *b, int c) {
    const snw_contact_desc *d = &b->m->desc->contact[c];
    snw_contact *to = &b->contact[c];
    const int on = snw_build_site(b, &d->on), first = b->ncontact;
    to->seg = snw_build_pose(b, &d->pose, on, -1);
    to->coupled = b->path[b->seg[to->seg].path].n > 0;
    for (int i = 1; d->body && i < d->body->nsolid; i++)
        (void)build_further(b, c, &d->body->solid[i], on, (snw_pair){c, -1, i});
    const int last = b->ncontact;
    build_reversed(b, c, c);
    for (int i = first; i < last; i++) build_reversed(b, c, i);
}

snw_status snw_build_obstacles(snw_build *b) {
    const snw_desc *d = b->m->desc;
    size_t most = (size_t)d->ncontact;
    for (int c = 0; c < d->ncontact; c++)
        most += d->contact[c].is_obstacle ? snw_obstacle_contacts(d, c) : 0;
    b->contact = snw_build_array(b, most, sizeof *b->contact);
    b->pair = snw_build_array(b, most, sizeof *b->pair);
    if (b->memory_out) return SNW_E_MEMORY;
    b->ncontact = d->ncontact;
    for (int c = 0; c < d->ncontact; c++) {
        b->contact[c] = contact_of(&d->contact[c], c);
        b->m->hard = b->m->hard || b->contact[c].hard;
    }
    for (int c = 0; c < d->ncontact; c++) {
        if (d->contact[c].is_obstacle) build_obstacle(b, c);
    }
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}

// An obstacle that surrounds the robot is differentiable as far from its walls as the centres of
// what it touches may be.
static snw_status contact_check_inside(const snw_build *b, const contact_list *list, int first,
                                       snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[b->contact[list->contact].of];
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

// Most contact points of link l against an obstacle.
static size_t contact_most_points(const snw_build *b, const snw_contact *contact, int l) {
    enum { OF_SECTION = 4 };
    const snw_contact_desc *d = &b->m->desc->contact[contact->of];
    if (b->link_rod[l] >= 0) return OF_SECTION * ((size_t)b->rod[b->link_rod[l]].nseg + 2);
    const snw_link_desc *link = link_with_solids(b->m->desc, contact->of, l);
    size_t most = (size_t)d->npoint;
    for (int i = 0; link && i < link->body.nsolid; i++) {
        const snw_obstacle *solid = &link->body.solid[i].shape;
        int count[2] = {0};
        if (touches_both_ways(&contact->obstacle, solid)) {
            solid_counts(d, &contact->obstacle, solid, count);
            for (int k = 0; k < 2; k++) most += count[k] > SOLID_SPHERES ? 0 : (size_t)count[k];
        } else {
            most += points_on_plane(solid);
        }
    }
    return most;
}

// Add the contact points of all links against the obstacle of the list.
static snw_status contact_add_links(snw_build *b, contact_list *list, snw_error *err) {
    const snw_contact_desc *d = &b->m->desc->contact[b->contact[list->contact].of];
    const int first = b->m->ncontact_point;
    for (int k = 0; snw_exists(d->when) && k < d->nlink; k++) {
        list->link = d->link[k];
        SNW_TRY(b->link_rod[d->link[k]] >= 0 ? contact_add_rod(b, d->link[k], list, err)
                                             : contact_add_body(b, d->link[k], list, err));
    }
    return contact_check_inside(b, list, first, err);
}

snw_status snw_build_contacts(snw_build *b, snw_error *err) {
    const snw_desc *d = b->m->desc;
    size_t most = 0;
    for (int c = 0; c < b->ncontact; c++) {
        const snw_contact_desc *at = &d->contact[b->contact[c].of];
        most += at->nonholonomic > 0;
        for (int k = 0; !at->is_rods && !b->contact[c].reversed && k < at->nlink; k++)
            most += contact_most_points(b, &b->contact[c], at->link[k]);
    }
    contact_list list = {.contact_point = snw_build_array(b, most, sizeof *list.contact_point)};
    if (b->memory_out) return SNW_E_MEMORY;
    for (int c = 0; c < b->ncontact; c++) {
        const snw_contact_desc *at = &d->contact[b->contact[c].of];
        list.contact = c;
        if (at->is_rods || b->contact[c].reversed) continue;
        if (at->nonholonomic) {
            list.link = d->loop[at->nonholonomic - 1].b.link;
            SNW_TRY(contact_add_wheel(b, at, &list, err));
        }
        SNW_TRY(snw_build_condition(b, at->when, &list.condition, err));
        SNW_TRY(contact_add_links(b, &list, err));
    }
    b->m->ncontact = b->ncontact;
    b->m->contact = b->contact;
    return contact_sort(b, list.contact_point);
}

// ---- spacing

// Do pieces of the rod of link l touch, and not its nodes alone?
static bool contact_has_pieces(const snw_model *m, int contact, int l) {
    const snw_rod *rod = &m->rod[m->link_rod[l]];
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (m->contact[p->contact].of == contact && p->seg >= rod->seg0 &&
            p->seg < rod->seg0 + rod->nseg)
            return p->span > 0;
    }
    return false;
}

// Largest distance between neighbouring contact points of the rod of link l, m, and radius of its
// thinnest section there.
static double contact_spacing(const snw_model *m, int contact, int l, double *radius) {
    const snw_rod *rod = &m->rod[m->link_rod[l]];
    double last = 0, most = 0;
    *radius = INFINITY;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (m->contact[p->contact].of == contact && p->seg >= rod->seg0 &&
            p->seg < rod->seg0 + rod->nseg)
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

// A rod whose contact points are too far apart for the curvature of an obstacle.
typedef struct coarse_rod {
    int link;           // -1: none
    double spacing;     // present distance of contact points, m
    double enough;      // distance that suffices, m
    double curvature;   // smallest radius of curvature of the obstacle, m
    double uncertainty; // hard contact: of the direction of its force, rad
} coarse_rod;

// The first such rod of contact i. Points of hard contacts do not share a force, so that its
// direction is that of the nearest node.
static coarse_rod contact_coarse_rod(const snw_model *m, int i) {
    static const double SHARED = 0.5, SINGLE = 0.1; // of both radii
    const snw_contact_desc *d = &m->desc->contact[i];
    const coarse_rod none = {.link = -1};
    if (!d->is_obstacle || d->obstacle.inside || d->obstacle.kind == SNW_OBSTACLE_PLANE ||
        !snw_exists(d->when))
        return none;
    double curvature = INFINITY;
    for (int c = 0; c < m->ncontact; c++) {
        const snw_obstacle *o = &m->contact[c].obstacle;
        if (m->contact[c].of == i && !m->contact[c].reversed)
            curvature = fmin(curvature, snw_obstacle_table[o->kind].smallest_radius(o));
    }
    for (int k = 0; k < d->nlink; k++) {
        const int l = d->link[k];
        if (m->link_rod[l] < 0 || contact_has_pieces(m, i, l)) continue;
        double radius;
        const double spacing = contact_spacing(m, i, l, &radius);
        const double enough = (d->hard ? SINGLE : SHARED) * (curvature + radius);
        if (!(spacing > enough)) continue;
        return (coarse_rod){.link = l,
                            .spacing = spacing,
                            .enough = enough,
                            .curvature = curvature,
                            .uncertainty = 0.5 * spacing / (curvature + radius)};
    }
    return none;
}

// text <- names of contact i and of those behind it with the same fault: 'a', 'b', 'c' and 5 more;
// *most <- the fault that needs the shortest distance. False: an earlier contact names them.
static bool name_coarse(const snw_model *m, int i, coarse_rod *most, char *text, size_t size) {
    enum { NAMED = 3 };
    int n = 0;
    size_t at = 0;
    *most = contact_coarse_rod(m, i);
    text[0] = '\0';
    if (most->link < 0) return false;
    for (int j = 0; j < m->desc->ncontact; j++) {
        if (m->desc->contact[j].hard != m->desc->contact[i].hard) continue;
        const coarse_rod rod = contact_coarse_rod(m, j);
        if (rod.link < 0) continue;
        if (j < i) return false;
        if (n++ < NAMED)
            at += (size_t)snprintf(text + at, size - at, "%s'%.40s'", n > 1 ? ", " : "",
                                   m->desc->contact[j].name);
        if (rod.enough < most->enough) *most = rod;
    }
    if (n > NAMED) (void)snprintf(text + at, size - at, " and %d more", n - NAMED);
    return true;
}

void snw_contact_describe_spacing(const snw_model *m, int i, char *text, size_t size) {
    const snw_contact_desc *d = &m->desc->contact[i];
    coarse_rod rod;
    char names[200];
    text[0] = '\0';
    if (d->is_obstacle && d->obstacle.height && snw_exists(d->when))
        describe_hollows(m, i, text, size);
    if (text[0]) return;
    if (!name_coarse(m, i, &rod, names, sizeof names)) return;
    const double nodes = ceil(1.6 * m->rod[m->link_rod[rod.link]].L / rod.enough);
    const char *link = m->desc->link[rod.link].name, *many = strchr(names, ',') ? "s" : "";
    if (d->hard) {
        (void)snprintf(text, size,
                       "hard contact%s %s: rod '%.60s' touches at its nodes only, up to %.3g m "
                       "apart, so that the direction of a force is uncertain by %.2g rad; write "
                       "nodes: %.0f for the rod, or give it a round section and constant length: "
                       "such a rod touches between nodes, too",
                       many, names, link, rod.spacing, rod.uncertainty, nodes);
        return;
    }
    (void)snprintf(text, size,
                   "contact%s %s: the contact points of rod '%.60s' are up to %.3g m apart, "
                   "and an obstacle, with radii from %.3g m, can pass between them unless they "
                   "are at most %.3g m apart; write nodes: %.0f for the rod%s, or 'nearest: true' "
                   "for the obstacle",
                   many, names, link, rod.spacing, rod.curvature, rod.enough, nodes,
                   rod.curvature == d->obstacle.rounding ? ", or a larger rounding" : "");
}
