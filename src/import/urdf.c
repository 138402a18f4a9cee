// SPDX-License-Identifier: MIT
//
// Reads URDF: links with inertia, shapes, and joints with one axis each.
#include "import/urdf.h"

#include "base/fail.h"
#include "import/importer.h"

#include <math.h>
#include <string.h>

static snw_status urdf_numbers(snw_importer *u, const snw_element *e, const char *name, int n,
                               double *out) {
    return snw_element_numbers(e, name, n, out, u->err);
}

static int count_named(const snw_element *e, const char *name) {
    int n = 0;
    for (const snw_element *c = snw_element_child(e, name); c; c = snw_element_again(c)) n++;
    return n;
}

// *pose <- <origin> of an element, the identity without one
static snw_status read_origin(snw_importer *u, const snw_element *e, snw_imported_pose *pose) {
    *pose = (snw_imported_pose){0};
    const snw_element *o = snw_element_child(e, "origin");
    if (!o) return SNW_OK;
    SNW_TRY(urdf_numbers(u, o, "xyz", 3, pose->xyz));
    return urdf_numbers(u, o, "rpy", 3, pose->rpy);
}

// ---- links --------------------------------------------------------------------------------------

static snw_status read_inertial(snw_importer *u, const snw_element *e, snw_imported_link *link) {
    static const char *const name[6] = {"ixx", "iyy", "izz", "iyz", "ixz", "ixy"};
    double I[6] = {0};
    snw_imported_pose at;
    SNW_TRY(read_origin(u, e, &at));
    memcpy(link->com, at.xyz, sizeof link->com);
    const snw_element *mass = snw_element_child(e, "mass"),
                      *inertia = snw_element_child(e, "inertia");
    if (mass) SNW_TRY(urdf_numbers(u, mass, "value", 1, &link->mass));
    for (int i = 0; i < 6 && inertia; i++) SNW_TRY(urdf_numbers(u, inertia, name[i], 1, &I[i]));
    if (!(link->mass >= 0))
        return SNW_IMPORT_FAIL(u, e, "link '%.80s': its mass must not be negative, got %g kg",
                               link->name, link->mass);
    const snw_mat3 own = {{{I[0], I[5], I[4]}, {I[5], I[1], I[3]}, {I[4], I[3], I[2]}}};
    const bool turned = at.rpy[0] != 0 || at.rpy[1] != 0 || at.rpy[2] != 0;
    link->inertia = turned ? snw_turn_inertia(snw_rpy_matrix(at.rpy), own) : own;
    const bool turns = I[0] != 0 || I[1] != 0 || I[2] != 0;
    link->has_mass = link->mass > 0 || turns;
    if (link->mass == 0 && turns)
        SNW_IMPORT_NOTE(
            u, e,
            "link '%.80s' has a moment of inertia and no mass, which no body has; it is "
            "as in the file",
            link->name);
    return SNW_OK;
}

// *use <- was it a shape?
static snw_status read_geometry(snw_importer *u, const snw_element *e, const char *link,
                                snw_imported_shape *shape, bool *use) {
    *use = false;
    SNW_TRY(read_origin(u, e, &shape->pose));
    const snw_element *geometry = snw_element_child(e, "geometry"),
                      *g = geometry ? geometry->child : NULL;
    if (!g)
        return SNW_IMPORT_FAIL(u, e, "link '%.80s': <%.60s> needs a <geometry> with a shape", link,
                               e->name);
    int n = 0;
    if (strcmp(g->name, "box") == 0) {
        shape->kind = SNW_IMPORTED_BOX;
        n = 3;
        SNW_TRY(urdf_numbers(u, g, "size", 3, shape->size));
    } else if (strcmp(g->name, "cylinder") == 0) {
        shape->kind = SNW_IMPORTED_CYLINDER;
        n = 2;
        SNW_TRY(urdf_numbers(u, g, "radius", 1, &shape->size[0]));
        SNW_TRY(urdf_numbers(u, g, "length", 1, &shape->size[1]));
    } else if (strcmp(g->name, "sphere") == 0) {
        shape->kind = SNW_IMPORTED_SPHERE;
        n = 1;
        SNW_TRY(urdf_numbers(u, g, "radius", 1, &shape->size[0]));
    } else if (strcmp(g->name, "mesh") == 0) {
        double scale[3] = {1, 1, 1};
        SNW_TRY(snw_element_required(g, "filename", &shape->file, u->err));
        SNW_TRY(urdf_numbers(u, g, "scale", 3, scale));
        return snw_import_mesh(u, g, link, scale, shape, use);
    } else {
        SNW_IMPORT_NOTE(u, g, "link '%.80s': shape <%.60s> is left out, it is not known", link,
                        g->name);
        return SNW_OK;
    }
    for (int i = 0; i < n; i++) {
        if (!(shape->size[i] > 0))
            return SNW_IMPORT_FAIL(u, g, "link '%.80s': the sizes of a <%.60s> must be positive",
                                   link, g->name);
    }
    *use = true;
    return SNW_OK;
}

static snw_status read_shapes(snw_importer *u, const snw_element *e, snw_imported_link *link) {
    if (u->opts->shapes == SNW_IMPORT_NO_SHAPES) return SNW_OK;
    SNW_TRY(snw_import_shapes(u, link, count_named(e, "visual") + count_named(e, "collision")));
    for (const snw_element *c = e->child; c; c = c->next) {
        const bool touches = strcmp(c->name, "collision") == 0;
        if (!touches && strcmp(c->name, "visual") != 0) continue;
        bool use;
        snw_imported_shape *shape = &link->shape[link->nshape];
        *shape = (snw_imported_shape){.collision = touches};
        SNW_TRY(read_geometry(u, c, link->name, shape, &use));
        if (use) link->nshape++;
    }
    snw_import_choose_shapes(u, link);
    return SNW_OK;
}

static snw_status read_links(snw_importer *u, const snw_element *root) {
    snw_imported_robot *r = u->r;
    const int links = count_named(root, "link"), joints = count_named(root, "joint");
    SNW_TRY(snw_import_room(u, root, links > joints ? links : joints));
    for (const snw_element *e = snw_element_child(root, "link"); e; e = snw_element_again(e)) {
        const char *name;
        SNW_TRY(snw_element_required(e, "name", &name, u->err));
        if (snw_imported_find_link(r, name) >= 0)
            return SNW_IMPORT_FAIL(u, e, "there are two links with the name '%.80s'", name);
        snw_imported_link *link = snw_import_link(u, e, name);
        const snw_element *inertial = snw_element_child(e, "inertial");
        if (inertial) SNW_TRY(read_inertial(u, inertial, link));
        SNW_TRY(read_shapes(u, e, link));
    }
    if (r->nlink == 0) return SNW_IMPORT_FAIL(u, root, "the robot has no link");
    return SNW_OK;
}

// ---- joints -------------------------------------------------------------------------------------

static snw_status read_joint_kind(snw_importer *u, const snw_element *e, snw_imported_joint *j) {
    static const struct {
        const char *name;
        snw_imported_joint_kind kind;
    } known[] = {{"fixed", SNW_IMPORTED_FIXED},         {"revolute", SNW_IMPORTED_REVOLUTE},
                 {"continuous", SNW_IMPORTED_REVOLUTE}, {"prismatic", SNW_IMPORTED_PRISMATIC},
                 {"planar", SNW_IMPORTED_PLANAR},       {"floating", SNW_IMPORTED_FREE},
                 {"spherical", SNW_IMPORTED_SPHERICAL}}; // of Bullet
    const char *type;
    SNW_TRY(snw_element_required(e, "type", &type, u->err));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(type, known[i].name) != 0) continue;
        j->kind = known[i].kind;
        j->limited = strcmp(type, "revolute") == 0 || j->kind == SNW_IMPORTED_PRISMATIC;
        return SNW_OK;
    }
    return SNW_IMPORT_FAIL(
        u, e,
        "joint '%.80s': type '%.80s' is not known; those of URDF are fixed, revolute, "
        "continuous, prismatic, planar and floating",
        j->name, type);
}

static snw_status find_end(snw_importer *u, const snw_element *e, const char *which,
                           const char *name, int *out) {
    const snw_element *end = snw_element_child(e, which);
    if (!end) return SNW_IMPORT_FAIL(u, e, "joint '%.80s' has no <%.60s>", name, which);
    const char *link;
    SNW_TRY(snw_element_required(end, "link", &link, u->err));
    *out = snw_imported_find_link(u->r, link);
    // the world is a link in some files, and the parent of a joint without being one in others
    const bool world = strcmp(which, "parent") == 0 && strcmp(link, "world") == 0;
    if (*out < 0 && !world)
        return SNW_IMPORT_FAIL(u, end, "joint '%.80s': there is no link '%.80s'", name, link);
    return SNW_OK;
}

static snw_status read_limits(snw_importer *u, const snw_element *e, snw_imported_joint *j) {
    const snw_element *limit = snw_element_child(e, "limit");
    if (!limit) {
        if (j->limited)
            SNW_IMPORT_NOTE(u, e, "joint '%.80s' has no <limit>; it moves without one", j->name);
        j->limited = false;
        return SNW_OK;
    }
    SNW_TRY(urdf_numbers(u, limit, "lower", 1, &j->low));
    SNW_TRY(urdf_numbers(u, limit, "upper", 1, &j->high));
    SNW_TRY(urdf_numbers(u, limit, "effort", 1, &j->effort));
    SNW_TRY(urdf_numbers(u, limit, "velocity", 1, &j->velocity));
    if (j->limited && !(j->low < j->high)) {
        SNW_IMPORT_NOTE(u, limit,
                        "joint '%.80s': limits from %g to %g leave no range; they are left out",
                        j->name, j->low, j->high);
        j->limited = false;
    }
    return SNW_OK;
}

static snw_status read_joint(snw_importer *u, const snw_element *e, snw_imported_joint *j) {
    SNW_TRY(read_joint_kind(u, e, j));
    SNW_TRY(find_end(u, e, "parent", j->name, &j->parent));
    SNW_TRY(find_end(u, e, "child", j->name, &j->child));
    SNW_TRY(read_origin(u, e, &j->pose));
    const snw_element *axis = snw_element_child(e, "axis"),
                      *dynamics = snw_element_child(e, "dynamics");
    j->axis[0] = 1; // of URDF, if it is not given
    if (axis) SNW_TRY(urdf_numbers(u, axis, "xyz", 3, j->axis));
    const bool moves = j->kind != SNW_IMPORTED_FIXED && j->kind != SNW_IMPORTED_FREE;
    if (moves && !(hypot(hypot(j->axis[0], j->axis[1]), j->axis[2]) > 0))
        return SNW_IMPORT_FAIL(u, axis ? axis : e, "joint '%.80s': its axis has no length",
                               j->name);
    SNW_TRY(read_limits(u, e, j));
    if (dynamics) {
        SNW_TRY(urdf_numbers(u, dynamics, "damping", 1, &j->damping));
        SNW_TRY(urdf_numbers(u, dynamics, "friction", 1, &j->friction));
        if (!(j->damping >= 0) || !(j->friction >= 0))
            return SNW_IMPORT_FAIL(
                u, dynamics, "joint '%.80s': damping and friction must not be negative", j->name);
    }
    j->held = j->kind == SNW_IMPORTED_REVOLUTE || j->kind == SNW_IMPORTED_PRISMATIC;
    if (snw_element_child(e, "safety_controller"))
        SNW_IMPORT_NOTE(u, e, "joint '%.80s': <safety_controller> is left out", j->name);
    return SNW_OK;
}

// <mimic> of a joint: q = multiplier * q of the other + offset
static snw_status read_mimic(snw_importer *u, const snw_element *e, snw_imported_joint *j) {
    const snw_element *mimic = snw_element_child(e, "mimic");
    if (!mimic) return SNW_OK;
    const char *other;
    j->ratio = 1;
    SNW_TRY(snw_element_required(mimic, "joint", &other, u->err));
    SNW_TRY(urdf_numbers(u, mimic, "multiplier", 1, &j->ratio));
    SNW_TRY(urdf_numbers(u, mimic, "offset", 1, &j->offset));
    return snw_import_mimic(u, mimic, j, snw_imported_find_joint(u->r, other));
}

static snw_status read_joints(snw_importer *u, const snw_element *root) {
    snw_imported_robot *r = u->r;
    for (const snw_element *e = snw_element_child(root, "joint"); e; e = snw_element_again(e)) {
        const char *name;
        SNW_TRY(snw_element_required(e, "name", &name, u->err));
        if (snw_imported_find_joint(r, name) >= 0)
            return SNW_IMPORT_FAIL(u, e, "there are two joints with the name '%.80s'", name);
        snw_imported_joint *j = snw_import_joint(u, e, name);
        SNW_TRY(read_joint(u, e, j));
        snw_imported_link *child = &r->link[j->child];
        if (child->joint >= 0)
            return SNW_IMPORT_FAIL(u, e,
                                   "link '%.80s' has two parents, by joints '%.80s' and '%.80s'",
                                   child->name, r->joint[child->joint].name, j->name);
        child->joint = r->njoint - 1;
    }
    int i = 0;
    for (const snw_element *e = snw_element_child(root, "joint"); e; e = snw_element_again(e))
        SNW_TRY(read_mimic(u, e, &r->joint[i++]));
    return SNW_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

// Error: macros of xacro, which must be expanded first.
static snw_status refuse_xacro(snw_importer *u, const snw_element *e) {
    for (; e; e = e->next) {
        bool macro = strncmp(e->name, "xacro:", 6) == 0;
        for (int i = 0; i < e->nattribute && !macro; i++)
            macro = strstr(e->attribute[i].value, "${") || strstr(e->attribute[i].value, "$(");
        if (macro)
            return SNW_IMPORT_FAIL(
                u, e,
                "<%.60s> is a macro of xacro; expand the file first: xacro robot.xacro > "
                "robot.urdf",
                e->name);
        if (e->child) SNW_TRY(refuse_xacro(u, e->child));
    }
    return SNW_OK;
}

static snw_status note_rest(snw_importer *u, const snw_element *root) {
    int transmissions = 0, gazebo = 0;
    for (const snw_element *e = root->child; e; e = e->next) {
        transmissions += strcmp(e->name, "transmission") == 0;
        gazebo += strcmp(e->name, "gazebo") == 0;
    }
    if (transmissions > 0)
        SNW_IMPORT_NOTE(
            u, NULL,
            "%d <transmission>: left out, an actuator acts on the coordinate of its joint; give "
            "'armature: {inertia, gear}' for a rotor behind a gear",
            transmissions);
    if (gazebo > 0)
        SNW_IMPORT_NOTE(u, NULL, "%d <gazebo>: left out, they are settings of another simulator",
                        gazebo);
    return SNW_OK;
}

snw_status snw_urdf_read(const snw_element *root, const snw_import_opts *opts,
                         snw_imported_robot *r, snw_error *err) {
    snw_importer reader = {.opts = opts, .r = r, .err = err}, *u = &reader;
    SNW_TRY(refuse_xacro(u, root));
    const char *name = snw_element_attribute(root, "name");
    r->name = name && *name ? name : "robot";
    SNW_TRY(read_links(u, root));
    SNW_TRY(read_joints(u, root));
    SNW_TRY(snw_import_check_tree(u, root));
    return note_rest(u, root);
}
