// SPDX-License-Identifier: MIT
//
// Writer of scenes: the geometry of a model as JSON, for recorders, viewer, exports and figures.
#include "output/scene.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "output/json_field.h"
#include "output/scene_surface.h"

#include <math.h>
#include <string.h>

enum { SCENE_VERSION = 1, MOST_CHANGES = 64 };

// ---- numbers and lists -------------------------------------------------------------------------

// Node of a segment; 0, the world, is -1.
static void scene_put_node(snw_json *j, const snw_model *m, const char *key, int seg) {
    snw_field_integer(j, key, m->node_of_seg[seg]);
}

// Index of the condition; -1: always active, -2: never.
static void put_condition(snw_json *j, int condition) { snw_field_integer(j, "switch", condition); }

// ---- links -------------------------------------------------------------------------------------

// Sizes of a solid in its own axes; length 0: endless.
static void put_solid(snw_json *j, const snw_obstacle *o) {
    double size[3] = {2 * o->half.x, 2 * o->half.y, isinf(o->half.z) ? 0 : 2 * o->half.z};
    snw_scene_surface_size(o, size);
    snw_field_text(j, "kind", snw_obstacle_table[o->kind].name);
    snw_field_number(j, "radius", o->radius);
    snw_field_number(j, "section", o->section);
    snw_field_numbers(j, "size", 3, size);
    snw_field_number(j, "rounding", o->rounding);
    snw_scene_surface_put(j, o);
}

// Is a segment the frame of a shape of a body, which its link has no part in?
static bool is_frame_of_shape(const snw_model *m, int seg) {
    for (int i = m->desc->ncontact; i < m->ncontact; i++) {
        if (m->contact[i].seg == seg) return true;
    }
    return false;
}

static const char *scene_kind_name(const snw_model *m, int seg) {
    if (is_frame_of_shape(m, seg)) return "shape";
    switch (m->seg[seg].kind) {
    case SNW_SEG_WORLD:
        return "world";
    case SNW_SEG_POSE:
        return "pose";
    case SNW_SEG_SCREW:
        return "screw";
    case SNW_SEG_BALL:
        return "ball";
    case SNW_SEG_FREE:
        return "free";
    case SNW_SEG_ROD:
        return "rod";
    }
    return "world";
}

// Number of nodes of a rod.
static int scene_count(const snw_model *m, const snw_rod *r) {
    return r->nseg == 0 ? 0 : m->node_of_seg[r->seg0 + r->nseg - 1] - m->node_of_seg[r->seg0] + 1;
}

// Segment of station k: 0 is the root, then the nodes; and its arc length.
static int scene_seg(const snw_model *m, const snw_rod *r, int k) {
    return k == 0 ? r->root : m->node_seg[m->node_of_seg[r->seg0] + k - 1];
}

static double scene_station(const snw_model *m, const snw_rod *r, int k) {
    return k == 0 ? 0 : m->seg_x[scene_seg(m, r, k)];
}

static void put_rod(snw_json *j, const snw_model *m, const snw_rod *r) {
    const snw_link_desc *link = &m->desc->link[r->link];
    const snw_section_desc *section = &link->rod.section;
    snw_field_object(j, "rod");
    scene_put_node(j, m, "root", r->root);
    scene_put_node(j, m, "first", r->seg0);
    snw_field_integer(j, "count", scene_count(m, r));
    snw_field_number(j, "length", r->L);
    snw_field_bool(j, "fed", link->rod.variable_length);
    snw_field_text(j, "section", snw_section_name(section->kind));
    // strain components whose internal force is elastic
    snw_field_list(j, "free");
    for (int i = 0; i < 6; i++) snw_json_bool(j, link->rod.active[i] && !link->rod.given[i]);
    snw_json_close(j);
    snw_field_list(j, "x");
    for (int k = 0; k <= scene_count(m, r); k++) snw_json_number(j, scene_station(m, r, k));
    snw_json_close(j);
    snw_field_bool(j, "rectangle", snw_section_table[section->kind].rectangle);
    snw_field_list(j, "half");
    for (int k = 0; k <= scene_count(m, r); k++) {
        double size[SNW_SECTION_SIZES];
        snw_section_sizes(section, scene_station(m, r, k), r->L, size);
        const snw_section_contour c = snw_section_contour_of(section->kind, size);
        snw_field_numbers(j, NULL, 3, (const double[]){c.half[0], c.half[1], c.hole});
    }
    snw_json_close(j);
    snw_field_list(j, "rest");
    for (int k = 0; k <= scene_count(m, r); k++) {
        snw_field_numbers(j, NULL, 6, snw_rod_rest(r, scene_station(m, r, k)).e);
    }
    snw_json_close(j);
    snw_field_list(j, "stiffness");
    for (int k = 0; k <= scene_count(m, r); k++) {
        double H[36], D[36], diagonal[6] = {0};
        snw_inertia M;
        // a rod may end in a point: no section, zero stiffness
        if (snw_section_at(&link->rod, link->name, scene_station(m, r, k), H, D, &M, NULL) ==
            SNW_OK) {
            for (int i = 0; i < 6; i++) diagonal[i] = H[7 * i];
        }
        snw_field_numbers(j, NULL, 6, diagonal);
    }
    snw_json_close(j);
    snw_json_close(j);
}

// Shape about the centre of mass: none, a box with its widths, a cylinder with radius, length and
// axis, a sphere with its radius; or several, listed elsewhere.
static void put_single_shape(snw_json *j, const snw_body_desc *b) {
    const bool several = b->several || b->nvisual > 0;
    const char *name = several ? "several" : "none";
    double size[3] = {0}, axis[3] = {0};
    if (!several && b->nsolid == 1) {
        const snw_obstacle *o = &b->solid->shape;
        name = snw_obstacle_table[o->kind].name;
        size[0] = o->radius;
        if (o->kind == SNW_OBSTACLE_CYLINDER) size[1] = 2 * o->half.z;
        for (int i = 0; i < 3; i++) {
            if (o->kind == SNW_OBSTACLE_BOX) size[i] = 2 * o->half.e[i];
            if (o->kind == SNW_OBSTACLE_CYLINDER) axis[i] = b->solid->pose.R.e[i][2];
        }
    }
    snw_field_text(j, "shape", name);
    snw_field_numbers(j, "size", 3, size);
    snw_field_numbers(j, "axis", 3, axis);
}

static void put_body(snw_json *j, const snw_body_desc *b, int condition) {
    const double inertia[6] = {b->inertia.e[0][0], b->inertia.e[1][1], b->inertia.e[2][2],
                               b->inertia.e[0][1], b->inertia.e[0][2], b->inertia.e[1][2]};
    snw_field_object(j, "body");
    put_single_shape(j, b);
    const snw_body_solid *drawn = b->nvisual > 0 ? b->visual : b->solid;
    const int n = b->nvisual > 0 ? b->nvisual : b->several ? b->nsolid : 0;
    if (n > 0) snw_field_list(j, "shapes");
    for (int i = 0; i < n; i++) {
        const snw_quat turn = snw_quat_from_mat3(drawn[i].pose.R);
        snw_json_object(j);
        put_solid(j, &drawn[i].shape);
        snw_field_numbers(j, "at", 3, drawn[i].pose.p.e);
        snw_field_numbers(j, "turn", 4, turn.e);
        snw_json_close(j);
    }
    if (n > 0) snw_json_close(j);
    snw_field_numbers(j, "com", 3, b->com.e);
    snw_field_number(j, "mass", b->mass);
    snw_field_numbers(j, "inertia", 6, inertia);
    put_condition(j, condition);
    snw_json_close(j);
}

static void put_links(snw_json *j, const snw_model *m) {
    snw_field_list(j, "links");
    for (int l = 0; l < m->nlink; l++) {
        const snw_link_desc *d = &m->desc->link[l];
        snw_json_object(j);
        snw_field_text(j, "name", d->name);
        snw_field_integer(j, "parent", d->on.link);
        const snw_joint_type *joint = &snw_joint_table[d->joint];
        snw_field_text(j, "joint", joint->name);
        snw_field_text(j, "symbol", joint->symbol);
        snw_field_bool(j, "slides", joint->slides);
        snw_field_bool(j, "roams", joint->roams);
        const snw_vec3 z = {{0, 0, 1}}, given = d->moves.axis;
        snw_field_numbers(j, "axis", 3, (snw_dot(given, given) > 0 ? given : z).e);
        scene_put_node(j, m, "first", m->link_first[l]);
        scene_put_node(j, m, "end", m->link_end[l]);
        // the twist of a concentric tube has no place of its own
        put_condition(j, d->hidden ? SNW_NEVER : m->seg[m->link_end[l]].condition);
        if (m->link_rod[l] >= 0) put_rod(j, m, &m->rod[m->link_rod[l]]);
        if (d->has_body) put_body(j, &d->body, m->seg[m->link_end[l]].condition);
        snw_json_close(j);
    }
    snw_json_close(j);
}

// ---- loops, tendons, loads, contacts, probes ---------------------------------------------------

// Symbol of a closure; "contact" for a sliding station.
static const char *loop_name(const snw_model *m, int i) {
    if (m->loop[i].sliding_station) return "contact";
    if (m->desc->loop[i].groove) return "groove";
    const snw_nonholonomic_kind kind = m->desc->loop[i].nonholonomic;
    if (kind != SNW_NONHOLONOMIC_NONE) return snw_nonholonomic_table[kind].symbol;
    return snw_joint_name(m->desc->loop[i].joint);
}

// Positions of a sliding station during the study, at equal time steps, from its law; the frames do
// not contain them.
static void put_stations(snw_json *j, const snw_model *m, const snw_sliding_station *station) {
    enum { STEPS = 400 };
    double duration = 0;
    for (int i = 0; i < m->desc->nstep; i++) duration += m->desc->step[i].duration;
    const double L = m->rod[station->rod].L;
    snw_field_number(j, "span", duration);
    snw_field_list(j, "stations");
    for (int i = 0; i <= STEPS; i++) {
        const snw_at at = {.t = duration * i / STEPS, .L = L};
        const double x = fmin(fmax(snw_expr_value(station->x, at), 0), L);
        snw_json_number(j, L * 1e-5 * round(x / L * 1e5)); // five digits suffice for drawing
    }
    snw_json_close(j);
}

static void put_loops(snw_json *j, const snw_model *m) {
    snw_field_list(j, "loops");
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const double axis[3] = {loop->Q.e[0][2], loop->Q.e[1][2], loop->Q.e[2][2]};
        snw_json_object(j);
        snw_field_text(j, "name", m->label.loop[i].name);
        snw_field_text(j, "joint", loop_name(m, i));
        snw_field_numbers(j, "axis", 3, axis);
        snw_field_number(j, "radius", m->desc->loop[i].radius);
        scene_put_node(j, m, "a", loop->a);
        scene_put_node(j, m, "b", loop->b);
        // a loop that is never active was compiled without rows
        const bool off = loop->nonholonomic != m->desc->loop[i].nonholonomic ||
                         loop->joint != m->desc->loop[i].joint ||
                         snw_loop_couples(&m->desc->loop[i]);
        put_condition(j, off ? SNW_NEVER : loop->condition);
        if (loop->sliding_station)
            put_stations(j, m, &m->sliding_station[loop->sliding_station - 1]);
        snw_json_close(j);
    }
    snw_json_close(j);
}

// A point of a tendon or chamber: node, position in the node's frame, radius (0: a line).
static void scene_put_point(snw_json *j, const snw_model *m, const snw_tendon_desc *d,
                            const snw_rod *r, int node, double x) {
    const snw_at at = {.x = x, .L = r->L};
    const double y = d->at[0] ? snw_expr_value(d->at[0], at) : 0;
    const double z = d->at[1] ? snw_expr_value(d->at[1], at) : 0;
    const double area = d->area ? snw_chamber_area_made(d->area, x, r->L, 1) : 0;
    snw_json_array(j);
    snw_json_integer(j, m->node_of_seg[scene_seg(m, r, node)]);
    snw_json_number(j, x - scene_station(m, r, node)); // offset along the section's normal
    snw_json_number(j, y);
    snw_json_number(j, z);
    snw_json_number(j, area > 0 ? sqrt(area / M_PI) : d->radius);
    snw_json_close(j);
}

// Stations between two arc lengths, and the two ends relative to their nearest station.
static void put_route(snw_json *j, const snw_model *m, const snw_tendon_desc *d, const snw_rod *r,
                      double from, double to) {
    const double grain = 1e-9 * r->L;
    const double ends[2] = {from, to};
    for (int e = 0; e < 2; e++) {
        int near = 0;
        for (int k = 1; k <= scene_count(m, r); k++) {
            if (fabs(scene_station(m, r, k) - ends[e]) < fabs(scene_station(m, r, near) - ends[e]))
                near = k;
        }
        scene_put_point(j, m, d, r, near, ends[e]);
        for (int k = 0; e == 0 && k <= scene_count(m, r); k++) {
            const double x = scene_station(m, r, k);
            if (x > from + grain && x < to - grain) scene_put_point(j, m, d, r, k, x);
        }
    }
}

// An end of a straight segment.
static void put_corner(snw_json *j, const snw_model *m, int seg, double radius) {
    snw_json_array(j);
    snw_json_integer(j, m->node_of_seg[seg]);
    for (int k = 0; k < 3; k++) snw_json_number(j, 0);
    snw_json_number(j, radius);
    snw_json_close(j);
}

// Reference length of the path, and lengths of a braid along it and of its threads, m.
static void put_braid(snw_json *j, const snw_tendon *tendon) {
    if (!tendon->type->braid) return;
    double length, thread;
    tendon->type->braid(tendon->constant, &length, &thread);
    snw_field_list(j, "braid");
    snw_json_number(j, tendon->reference);
    snw_json_number(j, length);
    snw_json_number(j, thread);
    snw_json_close(j);
}

static void put_tendons(snw_json *j, const snw_model *m) {
    int duration = 0; // index into the segments of all tendons
    snw_field_list(j, "measures");
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon_desc *d = &m->desc->tendon[i];
        snw_json_object(j);
        snw_field_text(j, "name", d->name);
        snw_field_text(j, "kind", snw_actuator_table[d->kind].name);
        snw_field_text(j, "symbol", snw_actuator_table[d->kind].symbol);
        snw_field_text(j, "unit", snw_path_effort_unit(d->kind));
        put_braid(j, &m->tendon[i]);
        snw_field_list(j, "points");
        for (int k = 0, part = 0; k <= d->nlink; k++) {
            for (; part < d->nsegment && d->segment[part].after == k; part++, duration++) {
                put_corner(j, m, m->tendon_segment[duration].a, d->radius);
                put_corner(j, m, m->tendon_segment[duration].b, d->radius);
            }
            if (k == d->nlink) break;
            const snw_rod *r = &m->rod[m->link_rod[d->link[k]]];
            put_route(j, m, d, r, k == 0 ? d->from : 0, k == d->nlink - 1 ? d->to : r->L);
        }
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void put_force_elements(snw_json *j, const snw_model *m) {
    snw_field_list(j, "springs");
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element *e = &m->force_element[i];
        snw_json_object(j);
        snw_field_text(j, "name", m->desc->force_element[i].name);
        snw_field_text(j, "kind", snw_force_element_table[e->kind].name);
        snw_field_number(j, "rest", e->rest);
        scene_put_node(j, m, "a", e->end[0]);
        scene_put_node(j, m, "b", e->end[1]);
        put_condition(j, e->condition);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void put_loads(snw_json *j, const snw_model *m) {
    snw_field_list(j, "loads");
    for (int i = 0; i < m->nload; i++) {
        const snw_load_desc *d = &m->desc->load[i];
        snw_json_object(j);
        snw_field_text(j, "name", d->name);
        snw_field_bool(j, "along", d->along);
        snw_field_list(j, "nodes");
        for (int k = 0; k < m->nload_point; k++) {
            if (m->load_point[k].load == i)
                snw_json_integer(j, m->node_of_seg[m->load_point[k].seg]);
        }
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}

// Fields, and the points at which they act in the order of the recorded values: field, node, point
// and magnetic moment in the axes of the node.
static void put_fields(snw_json *j, const snw_model *m) {
    snw_field_list(j, "fields");
    for (int i = 0; i < m->nforce_field; i++) {
        snw_json_object(j);
        snw_field_text(j, "name", m->desc->force_field[i].name);
        snw_field_text(j, "kind", snw_force_field_name[m->force_field[i].kind]);
        scene_put_node(j, m, "node", m->force_field[i].carrier);
        put_condition(j, m->force_field[i].condition);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "field_points");
    for (int k = 0; k < m->nforce_field_point; k++) {
        const snw_force_field_point *p = &m->force_field_point[k];
        const double row[8] = {p->field,    m->node_of_seg[p->seg],
                               p->centre.x, p->centre.y,
                               p->centre.z, p->moment.x,
                               p->moment.y, p->moment.z};
        snw_field_numbers(j, NULL, 8, row);
    }
    snw_json_close(j);
}

// Named sites: a fraction of the screw motion from node a to node b, and a relative pose.
static void put_sites(snw_json *j, const snw_model *m) {
    snw_field_list(j, "sites");
    for (int i = 0; i < m->desc->nnamed; i++) {
        const snw_site *s = &m->desc->named[i].site;
        const snw_rod *r =
            s->link >= 0 && m->link_rod[s->link] >= 0 ? &m->rod[m->link_rod[s->link]] : NULL;
        int a = 0, b = 0; // segments
        double fraction = 0;
        switch (s->kind) {
        case SNW_SITE_WORLD:
            break;
        case SNW_SITE_END:
            a = m->link_end[s->link];
            break;
        case SNW_SITE_BASE:
            a = m->link_first[s->link];
            break;
        case SNW_SITE_ROOT:
        case SNW_SITE_AT: {
            int k = 0;
            const double x = s->kind == SNW_SITE_AT ? s->x : 0;
            while (k + 1 < scene_count(m, r) && scene_station(m, r, k + 1) <= x) k++;
            const double h = scene_station(m, r, k + 1) - scene_station(m, r, k);
            a = scene_seg(m, r, k);
            b = scene_seg(m, r, k + 1);
            fraction = h > 0 ? (x - scene_station(m, r, k)) / h : 0;
        }
        }
        const snw_quat q = snw_quat_from_mat3(s->pose.R);
        snw_json_object(j);
        snw_field_text(j, "name", m->desc->named[i].name);
        scene_put_node(j, m, "a", a);
        scene_put_node(j, m, "b", fraction > 0 ? b : a);
        snw_field_number(j, "share", fraction);
        snw_field_numbers(j, "at", 3, s->pose.p.e);
        snw_field_numbers(j, "turn", 4, q.e);
        snw_json_close(j);
    }
    snw_json_close(j);
}

// Shape of an obstacle in the axes of its node.
static void put_obstacle(snw_json *j, const snw_model *m, const snw_contact_desc *d,
                         const snw_contact *c) {
    scene_put_node(j, m, "node", c->seg);
    snw_field_bool(j, "body", d->body != NULL); // that of a link
    snw_field_bool(j, "inside", c->obstacle.inside);
    put_solid(j, &c->obstacle);
}

static void put_contacts(snw_json *j, const snw_model *m) {
    snw_field_list(j, "contacts");
    for (int i = 0; i < m->desc->ncontact; i++) {
        const snw_contact_desc *d = &m->desc->contact[i];
        snw_json_object(j);
        snw_field_text(j, "name", d->name);
        if (d->is_obstacle) {
            put_obstacle(j, m, d, &m->contact[i]);
            snw_json_close(j);
            continue;
        }
        snw_field_text(j, "kind", d->is_rods ? "rods" : "ground");
        if (d->is_rods) {
            snw_field_text(j, "link", m->desc->link[d->link[0]].name);
            snw_json_close(j);
            continue;
        }
        snw_field_numbers(j, "at", 3, d->at.e);
        snw_field_numbers(j, "normal", 3, d->normal.e);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void put_probes(snw_json *j, const snw_model *m) {
    snw_field_list(j, "probes");
    for (int i = 0; i < m->desc->nprobe; i++) {
        snw_json_object(j);
        snw_field_text(j, "name", m->desc->probe[i].name);
        const snw_probe_desc *d = &m->desc->probe[i];
        snw_component c[SNW_PROBE_WIDTH];
        const int n = snw_probe_components(d->kind, d->joint, c);
        snw_field_text(j, "kind", snw_probe_name(d->kind));
        // its first three columns are a point in the world
        snw_field_bool(j, "place",
                       snw_probe_table[d->kind].axes == SNW_PROBE_IN_WORLD &&
                           !strcmp(c[0].name, "x"));
        snw_field_object(j, "units");
        for (int k = 0; k < n; k++) {
            char unit[64];
            snw_dim_unit(d->kind == SNW_PROBE_LAW ? d->dim : c[k].dim, unit, sizeof unit);
            const bool cycles = d->kind == SNW_PROBE_FREQUENCY;
            snw_field_text(j, c[k].name, c[k].angle ? "rad" : cycles ? "Hz" : unit);
        }
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}

// ---- scenes ------------------------------------------------------------------------------------

// Keys of the scene of one model.
static void put_scene(snw_json *j, const snw_model *m) {
    double gravity[3] = {0};
    for (int i = 0; i < 3; i++) {
        const snw_law law = m->desc->gravity[i];
        if (law) gravity[i] = snw_expr_value(law, (snw_at){0});
    }
    snw_field_number(j, "length", m->length);
    snw_field_numbers(j, "gravity", 3, gravity);
    snw_field_list(j, "parent");
    for (int k = 0; k < m->nnode; k++) snw_json_integer(j, snw_node_parent(m, k));
    snw_json_close(j);
    snw_field_list(j, "kind");
    for (int k = 0; k < m->nnode; k++) snw_json_text(j, scene_kind_name(m, m->node_seg[k]));
    snw_json_close(j);
    put_links(j, m);
    put_loops(j, m);
    put_tendons(j, m);
    if (m->nforce_element > 0) put_force_elements(j, m);
    put_loads(j, m);
    if (m->nforce_field > 0) put_fields(j, m);
    put_sites(j, m);
    put_contacts(j, m);
    put_probes(j, m);
}

// A model, and the step from which it is valid.
typedef struct scene_phase {
    const snw_model *model;
    int stage;
} scene_phase;

static snw_status put_all(snw_json *j, int n, const scene_phase *e, snw_error *err) {
    snw_json_object(j);
    snw_field_integer(j, "scene", SCENE_VERSION);
    put_scene(j, e[0].model);
    // last key, so that readers can stop before it
    if (n > 1) snw_field_list(j, "changes");
    for (int i = 1; i < n; i++) {
        snw_json_object(j);
        snw_field_integer(j, "stage", e[i].stage);
        put_scene(j, e[i].model);
        snw_json_close(j);
    }
    if (n > 1) snw_json_close(j);
    snw_json_close(j);
    return snw_json_finish(j, err);
}

static snw_status scene_make(int n, const scene_phase *e, char **out, snw_error *err) {
    *out = NULL;
    snw_json j;
    snw_buffer to = {0};
    snw_json_begin(&j, snw_sink_buffer(&to));
    SNW_TRY(put_all(&j, n, e, err));
    to.text = snw_alloc(to.size + 1);
    if (!to.text) return snw_fail_memory(err);
    to.size = 0;
    *out = to.text;
    snw_json_begin(&j, snw_sink_buffer(&to));
    return put_all(&j, n, e, err);
}

snw_status snw_scene_make(const snw_model *m, char **out, snw_error *err) {
    return scene_make(1, &(scene_phase){.model = m}, out, err);
}

// Changes that do not affect the scene are omitted.
snw_status snw_scene_of_run(const snw_run *r, char **out, snw_error *err) {
    scene_phase e[MOST_CHANGES + 1] = {{.model = snw_run_model(r)}};
    const snw_model *seen = e[0].model;
    char *last;
    int n = 1;
    *out = NULL;
    SNW_TRY(snw_scene_make(seen, &last, err));
    for (int i = 0; i < snw_run_describe(r)->nstage && n <= MOST_CHANGES; i++) {
        const snw_model *m = snw_run_model_at(r, i);
        char *text;
        if (m == seen) continue;
        seen = m;
        const snw_status s = snw_scene_make(m, &text, err);
        if (s == SNW_OK && strcmp(text, last) != 0) {
            e[n++] = (scene_phase){m, i};
            snw_free(last);
            last = text;
        } else {
            snw_free(text);
        }
        if (s != SNW_OK) {
            snw_free(last);
            return s;
        }
    }
    snw_free(last);
    return scene_make(n, e, out, err);
}
