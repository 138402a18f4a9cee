// SPDX-License-Identifier: MIT
//
// Reads SDF: links, joints and frames whose poses are relative to each other in any order; joints
// become a tree, those that close it loops.
#include "import/sdf.h"

#include "base/fail.h"
#include "import/importer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_DEEP = 500 };

// A link, joint or frame of a model, with its pose in the model.
typedef struct sdf_frame {
    const char *name;
    const snw_element *e;
    bool known, underway;
    snw_se3 g;
} sdf_frame;

typedef struct sdf_reader {
    snw_importer *u;
    double version;
    const snw_element *model;
    const char *prefix; // of names, where there are several models
    bool is_static;
    snw_se3 at; // of the model in the world
    int first;  // its first link
    int nframe;
    sdf_frame *frame;
    int depth; // of poses that are being computed
} sdf_reader;

static bool is_named(const snw_element *e, const char *name) { return strcmp(e->name, name) == 0; }

// ---- values -------------------------------------------------------------------------------------

// Text without blanks at its end; "" without the child.
static const char *child_text(const sdf_reader *s, const snw_element *e, const char *name) {
    const snw_element *c = snw_element_child(e, name);
    if (!c) return "";
    size_t n = strlen(c->text);
    while (n > 0 && strchr(" \t\r\n", c->text[n - 1])) n--;
    const char *text = snw_pool_text(s->u->r->pool, c->text, n);
    return text ? text : "";
}

// out (n) <- numbers of a child; unchanged without it
static snw_status sdf_numbers(const sdf_reader *s, const snw_element *e, const char *name, int n,
                              double *out) {
    enum { MOST = 7 };
    const snw_element *c = snw_element_child(e, name);
    double x[MOST];
    int found;
    if (!c) return SNW_OK;
    SNW_ASSERT(n <= MOST);
    snw_text_numbers(c->text, n, x, &found);
    if (found != n)
        return SNW_IMPORT_FAIL(s->u, c, "<%.60s>: '%.60s' is not %d finite number%s", c->name,
                               c->text, n, n == 1 ? "" : "s");
    memcpy(out, x, (size_t)n * sizeof *out);
    return SNW_OK;
}

static bool sdf_true(const sdf_reader *s, const snw_element *e, const char *name) {
    const char *text = child_text(s, e, name);
    return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

// *g <- <pose> of an element; *relative <- the frame it names, NULL: none
static snw_status sdf_pose(const sdf_reader *s, const snw_element *e, snw_se3 *g,
                           const char **relative) {
    *g = snw_se3_identity();
    *relative = NULL;
    const snw_element *pose = snw_element_child(e, "pose");
    if (!pose) return SNW_OK;
    const char *to = snw_element_attribute(pose, "relative_to"),
               *frame = snw_element_attribute(pose, "frame"), // up to version 1.6
                   *format = snw_element_attribute(pose, "rotation_format"),
               *degrees = snw_element_attribute(pose, "degrees");
    if (!to) to = frame;
    if (to && *to) *relative = to;
    if (!*pose->text) return SNW_OK;
    const bool quat = format && strcmp(format, "quat_xyzw") == 0;
    double x[7] = {0};
    SNW_TRY(sdf_numbers(s, e, "pose", quat ? 7 : 6, x));
    g->p = (snw_vec3){{x[0], x[1], x[2]}};
    if (quat) {
        const snw_quat q = {{x[6], x[3], x[4], x[5]}};
        if (!(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > 1e-24))
            return SNW_IMPORT_FAIL(s->u, pose, "the quaternion has no length");
        g->R = snw_quat_to_mat3(snw_quat_normalise(q));
        return SNW_OK;
    }
    const bool turned = degrees && (strcmp(degrees, "true") == 0 || strcmp(degrees, "1") == 0);
    for (int i = 3; i < 6 && turned; i++) x[i] *= 3.14159265358979323846 / 180;
    g->R = snw_rpy_matrix(x + 3);
    return SNW_OK;
}

// ---- frames -------------------------------------------------------------------------------------

// Links before others of the same name.
static int find_frame(const sdf_reader *s, const char *name) {
    int found = -1;
    for (int i = 0; i < s->nframe; i++) {
        if (strcmp(s->frame[i].name, name) != 0) continue;
        if (is_named(s->frame[i].e, "link")) return i;
        found = i;
    }
    return found;
}

static snw_status frame_pose(sdf_reader *s, const snw_element *e, const char *name, snw_se3 *out);

// *out <- pose of frame i in the model
static snw_status pose_of_frame(sdf_reader *s, int i, snw_se3 *out) {
    sdf_frame *f = &s->frame[i];
    const char *name = f->name;
    if (!f->known) {
        const char *relative;
        snw_se3 own, base;
        if (f->underway || ++s->depth > FRAMES_DEEP)
            return SNW_IMPORT_FAIL(s->u, f->e, "the pose of '%.80s' is relative to %s", name,
                                   f->underway ? "itself" : "too many others");
        f->underway = true;
        SNW_TRY(sdf_pose(s, f->e, &own, &relative));
        if (!relative && is_named(f->e, "joint")) relative = child_text(s, f->e, "child");
        if (!relative && is_named(f->e, "frame"))
            relative = snw_element_attribute(f->e, "attached_to");
        SNW_TRY(frame_pose(s, f->e, relative && *relative ? relative : NULL, &base));
        f->g = snw_se3_mul(base, own);
        f->known = true;
        s->depth--;
    }
    *out = f->g;
    return SNW_OK;
}

// The same by its name; of the model itself by __model__
static snw_status frame_pose(sdf_reader *s, const snw_element *e, const char *name, snw_se3 *out) {
    *out = snw_se3_identity();
    if (!name || strcmp(name, "__model__") == 0) return SNW_OK;
    const int i = find_frame(s, name);
    if (i < 0) return SNW_IMPORT_FAIL(s->u, e, "there is no frame '%.80s'", name);
    return pose_of_frame(s, i, out);
}

static snw_status list_frames(sdf_reader *s) {
    int most = 0;
    for (const snw_element *e = s->model->child; e; e = e->next) most++;
    if (most > 4 * SNW_IMPORT_PARTS)
        return SNW_IMPORT_FAIL(s->u, s->model, "the model has too many elements");
    s->nframe = 0;
    s->frame = snw_pool_array(s->u->r->pool, (size_t)most + 1, sizeof *s->frame);
    if (!s->frame) return snw_fail_memory(s->u->err);
    for (const snw_element *e = s->model->child; e; e = e->next) {
        if (is_named(e, "model") || is_named(e, "include"))
            return SNW_IMPORT_FAIL(
                s->u, e, "a nested <%s> is not read; put its links into this model", e->name);
        if (!is_named(e, "link") && !is_named(e, "joint") && !is_named(e, "frame")) continue;
        const char *name;
        SNW_TRY(snw_element_required(e, "name", &name, s->u->err));
        // a link and a joint may have the same name in files before version 1.7
        for (int i = 0; i < s->nframe; i++) {
            if (strcmp(s->frame[i].name, name) == 0 && is_named(e, s->frame[i].e->name))
                return SNW_IMPORT_FAIL(s->u, e, "there are two parts with the name '%.80s'", name);
        }
        s->frame[s->nframe++] = (sdf_frame){.name = name, .e = e};
    }
    return SNW_OK;
}

// ---- links --------------------------------------------------------------------------------------

static snw_status read_sdf_geometry(const sdf_reader *s, const snw_element *e, const char *link,
                                    snw_imported_shape *shape, double *scale, bool *use) {
    static const struct {
        const char *name;
        snw_imported_shape_kind kind;
    } known[] = {{"box", SNW_IMPORTED_BOX},
                 {"cylinder", SNW_IMPORTED_CYLINDER},
                 {"capsule", SNW_IMPORTED_CAPSULE},
                 {"sphere", SNW_IMPORTED_SPHERE}};
    const snw_element *geometry = snw_element_child(e, "geometry"),
                      *g = geometry ? geometry->child : NULL;
    snw_se3 pose;
    const char *relative;
    *use = false;
    SNW_TRY(sdf_pose(s, e, &pose, &relative));
    if (relative && strcmp(relative, link) != 0)
        return SNW_IMPORT_FAIL(
            s->u, e, "the pose of a shape in another frame, '%.80s', is not read", relative);
    shape->pose = snw_imported_pose_of(pose);
    shape->collision = is_named(e, "collision");
    if (!g || is_named(g, "empty")) return SNW_OK;
    if (is_named(g, "mesh")) {
        shape->file = child_text(s, g, "uri");
        SNW_TRY(sdf_numbers(s, g, "scale", 3, scale));
        return snw_import_mesh(s->u, g, link, scale, shape, use);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is_named(g, known[i].name)) continue;
        shape->kind = known[i].kind;
        *use = true;
    }
    if (!*use) {
        SNW_IMPORT_NOTE(
            s->u, g,
            is_named(g, "plane")
                ? "link '%.80s': a <%.60s> is left out; give the ground under 'contacts'"
                : "link '%.80s': shape <%.60s> is left out, it is not known",
            link, g->name);
        return SNW_OK;
    }
    const bool box = shape->kind == SNW_IMPORTED_BOX, ball = shape->kind == SNW_IMPORTED_SPHERE;
    if (box) SNW_TRY(sdf_numbers(s, g, "size", 3, shape->size));
    if (!box) SNW_TRY(sdf_numbers(s, g, "radius", 1, &shape->size[0]));
    if (!box && !ball) SNW_TRY(sdf_numbers(s, g, "length", 1, &shape->size[1]));
    for (int i = 0; i < (box ? 3 : ball ? 1 : 2); i++) {
        if (!(shape->size[i] > 0))
            return SNW_IMPORT_FAIL(s->u, g, "link '%.80s': the sizes of a <%.60s> must be positive",
                                   link, g->name);
    }
    return SNW_OK;
}

static snw_status given_inertia(const sdf_reader *s, const snw_element *e,
                                snw_imported_link *link) {
    static const char *const name[6] = {"ixx", "iyy", "izz", "iyz", "ixz", "ixy"};
    double I[6] = {1, 1, 1, 0, 0, 0}; // of SDF, if it is not given
    snw_se3 g = snw_se3_identity();
    const char *relative = NULL;
    const snw_element *inertia = e ? snw_element_child(e, "inertia") : NULL;
    link->mass = 1;
    if (e) {
        SNW_TRY(sdf_pose(s, e, &g, &relative));
        SNW_TRY(sdf_numbers(s, e, "mass", 1, &link->mass));
    }
    if (relative && strcmp(relative, link->name) != 0)
        return SNW_IMPORT_FAIL(s->u, e, "the pose of <inertial> in another frame is not read");
    for (int i = 0; i < 6 && inertia; i++) SNW_TRY(sdf_numbers(s, inertia, name[i], 1, &I[i]));
    if (!(link->mass >= 0))
        return SNW_IMPORT_FAIL(s->u, e, "link '%.80s': its mass must not be negative, got %g kg",
                               link->name, link->mass);
    const snw_mat3 own = {{{I[0], I[5], I[4]}, {I[5], I[1], I[3]}, {I[4], I[3], I[2]}}};
    link->inertia = snw_turn_inertia(g.R, own);
    memcpy(link->com, g.p.e, sizeof link->com);
    link->has_mass = link->mass > 0;
    return SNW_OK;
}

// Shapes of a link; where its inertia is automatic, those of collision have mass.
static snw_status read_sdf_shapes(const sdf_reader *s, const snw_element *e, bool massive,
                                  double density, snw_imported_link *link) {
    int most = 0;
    for (const snw_element *c = e->child; c; c = c->next)
        most += is_named(c, "visual") || is_named(c, "collision");
    SNW_TRY(snw_import_shapes(s->u, link, most));
    for (const snw_element *c = e->child; c; c = c->next) {
        if (!is_named(c, "visual") && !is_named(c, "collision")) continue;
        const bool heavy = massive && is_named(c, "collision");
        if (s->u->opts->shapes == SNW_IMPORT_NO_SHAPES && !heavy) continue;
        snw_imported_shape *shape = &link->shape[link->nshape];
        double scale[3] = {1, 1, 1}, own = density, mass = -1;
        bool use, solid;
        *shape = (snw_imported_shape){0};
        SNW_TRY(read_sdf_geometry(s, c, link->name, shape, scale, &use));
        SNW_TRY(sdf_numbers(s, c, "density", 1, &own));
        if (heavy && (use || shape->found)) {
            snw_vec3 com;
            snw_mat3 I;
            SNW_TRY(snw_imported_shape_mass(s->u, shape, scale, own, &mass, &com, &I, &solid));
            if (solid) snw_imported_add_mass(link, mass, com, I);
        } else if (heavy) {
            SNW_IMPORT_NOTE(s->u, c,
                            "link '%.80s': the mass of a shape that is not read is left out",
                            link->name);
        }
        if (use) link->nshape++;
    }
    snw_import_choose_shapes(s->u, link);
    return SNW_OK;
}

static const char *full_name(const sdf_reader *s, const char *name) {
    const char *full = *s->prefix ? snw_pool_format(s->u->r->pool, "%s/%s", s->prefix, name) : name;
    return full ? full : name;
}

static snw_status read_sdf_links(sdf_reader *s) {
    for (int i = 0; i < s->nframe; i++) {
        const snw_element *e = s->frame[i].e;
        if (!is_named(e, "link")) continue;
        snw_imported_link *link = snw_import_link(s->u, e, s->frame[i].name);
        const snw_element *inertial = snw_element_child(e, "inertial");
        const char *automatic = inertial ? snw_element_attribute(inertial, "auto") : NULL;
        const bool from_shapes = automatic && strcmp(automatic, "true") == 0;
        double density = 1000;
        if (inertial) SNW_TRY(sdf_numbers(s, inertial, "density", 1, &density));
        if (!s->is_static && !from_shapes) SNW_TRY(given_inertia(s, inertial, link));
        if (!inertial && !s->is_static)
            SNW_IMPORT_NOTE(s->u, e,
                            "link '%.80s' has no <inertial>: 1 kg and 1 kg m^2, as SDF says",
                            link->name);
        SNW_TRY(read_sdf_shapes(s, e, from_shapes && !s->is_static, density, link));
    }
    if (s->u->r->nlink == s->first) return SNW_IMPORT_FAIL(s->u, s->model, "the model has no link");
    return SNW_OK;
}

// ---- joints -------------------------------------------------------------------------------------

static snw_status find_sdf_end(const sdf_reader *s, const snw_element *e, const char *which,
                               int *out) {
    const char *name = child_text(s, e, which);
    *out = -1;
    if (strcmp(name, "world") == 0) return SNW_OK;
    for (int i = s->first; i < s->u->r->nlink; i++) {
        if (strcmp(s->u->r->link[i].name, name) == 0) *out = i;
    }
    if (*out >= 0) return SNW_OK;
    return SNW_IMPORT_FAIL(s->u, e, "joint '%.80s': there is no link '%.80s'",
                           snw_element_attribute(e, "name"), name);
}

// Limits of SDF are infinite, or 1e16, where there is none.
static snw_status read_sdf_limits(const sdf_reader *s, const snw_element *axis,
                                  snw_imported_joint *j) {
    static const double endless = 1e15;
    const snw_element *limit = snw_element_child(axis, "limit");
    if (!limit) return SNW_OK;
    static const char *const name[4] = {"lower", "upper", "effort", "velocity"};
    double x[4] = {-INFINITY, INFINITY, 0, 0};
    for (int i = 0; i < 4; i++) {
        const char *text = child_text(s, limit, name[i]);
        if (strstr(text, "inf") || strstr(text, "INF") || strstr(text, "1.79769e+308")) continue;
        SNW_TRY(sdf_numbers(s, limit, name[i], 1, &x[i]));
    }
    j->low = x[0] > -endless ? x[0] : -INFINITY;
    j->high = x[1] < endless ? x[1] : INFINITY;
    j->limited = (isfinite(j->low) || isfinite(j->high)) && x[0] < x[1];
    if (!(x[0] < x[1]) && j->kind != SNW_IMPORTED_FIXED)
        SNW_IMPORT_NOTE(s->u, limit, "joint '%.80s': limits without a range are left out", j->name);
    j->effort = x[2] > 0 && x[2] < endless ? x[2] : 0;
    j->velocity = x[3] > 0 && x[3] < endless ? x[3] : 0;
    return SNW_OK;
}

// out <- direction of an axis in the axes of the joint
static snw_status read_sdf_axis(sdf_reader *s, const snw_element *e, const char *which,
                                snw_se3 joint, double *out) {
    const snw_element *axis = snw_element_child(e, which);
    out[0] = out[1] = 0, out[2] = 1;
    if (!axis) return SNW_OK;
    SNW_TRY(sdf_numbers(s, axis, "xyz", 3, out));
    const snw_element *xyz = snw_element_child(axis, "xyz");
    snw_vec3 a = {{out[0], out[1], out[2]}};
    if (!(snw_norm(a) > 1e-12))
        return SNW_IMPORT_FAIL(s->u, axis, "joint '%.80s': its axis has no length",
                               snw_element_attribute(e, "name"));
    const char *in = xyz ? snw_element_attribute(xyz, "expressed_in") : NULL;
    const bool in_model = s->version < 1.5 || sdf_true(s, axis, "use_parent_model_frame");
    if (!(in && *in) && !in_model) return SNW_OK;
    snw_se3 frame;
    SNW_TRY(frame_pose(s, axis, in && *in ? in : NULL, &frame));
    a = snw_rotate_inv(joint.R, snw_rotate(frame.R, a));
    for (int i = 0; i < 3; i++) out[i] = fabs(a.e[i]) < 1e-15 ? 0 : a.e[i];
    return SNW_OK;
}

static snw_status read_sdf_axis_values(const sdf_reader *s, const snw_element *e, const char *which,
                                       snw_imported_joint *j) {
    const snw_element *axis = snw_element_child(e, which),
                      *dynamics = axis ? snw_element_child(axis, "dynamics") : NULL;
    if (axis) SNW_TRY(read_sdf_limits(s, axis, j));
    if (!dynamics) return SNW_OK;
    SNW_TRY(sdf_numbers(s, dynamics, "damping", 1, &j->damping));
    SNW_TRY(sdf_numbers(s, dynamics, "friction", 1, &j->friction));
    SNW_TRY(sdf_numbers(s, dynamics, "spring_stiffness", 1, &j->stiffness));
    if (j->stiffness > 0) SNW_TRY(sdf_numbers(s, dynamics, "spring_reference", 1, &j->rest));
    if (j->damping >= 0 && j->friction >= 0 && j->stiffness >= 0) return SNW_OK;
    return SNW_IMPORT_FAIL(s->u, dynamics,
                           "joint '%.80s': damping, friction and stiffness must not be negative",
                           j->name);
}

static snw_status sdf_kind(const sdf_reader *s, const snw_element *e, snw_imported_joint_kind *out,
                           bool *known) {
    static const struct {
        const char *name;
        snw_imported_joint_kind kind;
    } list[] = {{"fixed", SNW_IMPORTED_FIXED},         {"revolute", SNW_IMPORTED_REVOLUTE},
                {"continuous", SNW_IMPORTED_REVOLUTE}, {"prismatic", SNW_IMPORTED_PRISMATIC},
                {"ball", SNW_IMPORTED_SPHERICAL},      {"universal", SNW_IMPORTED_UNIVERSAL},
                {"revolute2", SNW_IMPORTED_REVOLUTE},  {"screw", SNW_IMPORTED_SCREW}};
    const char *type;
    SNW_TRY(snw_element_required(e, "type", &type, s->u->err));
    *known = true;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(type, list[i].name) != 0) continue;
        *out = list[i].kind;
        return SNW_OK;
    }
    *known = false;
    if (strcmp(type, "gearbox") != 0)
        return SNW_IMPORT_FAIL(s->u, e, "joint type '%.60s' is not known", type);
    SNW_IMPORT_NOTE(s->u, e, "joint '%.80s' is left out: a gearbox couples two other joints",
                    snw_element_attribute(e, "name"));
    return SNW_OK;
}

// A joint between links that are in the tree already.
static snw_status add_sdf_loop(sdf_reader *s, const snw_element *e, const snw_imported_joint *j,
                               int parent, int child, snw_se3 in_parent, snw_se3 in_child) {
    snw_imported_robot *r = s->u->r;
    if (j->damping > 0 || j->friction > 0 || j->stiffness > 0 || j->limited)
        SNW_IMPORT_NOTE(s->u, e,
                        "joint '%.80s' closes a loop; its limits, spring, damping and friction are "
                        "left out",
                        j->name);
    snw_imported_loop *l = &r->loop[r->nloop++];
    *l = (snw_imported_loop){.name = j->name,
                             .line = e->line,
                             .link = {parent, child},
                             .kind = j->kind,
                             .pitch = j->pitch};
    l->pose[0] = snw_imported_pose_of(in_parent);
    l->pose[1] = snw_imported_pose_of(in_child);
    memcpy(l->axis, j->axis, sizeof l->axis);
    memcpy(l->axis2, j->axis2, sizeof l->axis2);
    return SNW_OK;
}

static bool is_identity(snw_se3 g) {
    const snw_twist x = snw_se3_log(g);
    return snw_norm(x.w) < 1e-12 && snw_norm(x.v) < 1e-12;
}

// Joint of the tree: the child is at the joint's frame, or on a link of its own there.
static snw_status add_sdf_joint(sdf_reader *s, const snw_element *e, const snw_imported_joint *from,
                                int parent, int child, snw_se3 in_parent, snw_se3 in_child) {
    snw_imported_robot *r = s->u->r;
    snw_imported_joint *j = &r->joint[r->njoint];
    const bool second = strcmp(snw_element_attribute(e, "type"), "revolute2") == 0;
    const bool at_child = is_identity(in_child);
    *j = *from;
    j->parent = parent;
    j->pose = snw_imported_pose_of(in_parent);
    r->njoint++;
    if (second) { // two hinges in series
        j->child = r->nlink;
        snw_import_link(s->u, e, full_name(s, "first_hinge"))->joint = r->njoint - 1;
        snw_imported_joint *k =
            snw_import_joint(s->u, e, snw_pool_format(r->pool, "%s_2", from->name));
        if (!k->name) return snw_fail_memory(s->u->err);
        k->kind = SNW_IMPORTED_REVOLUTE;
        memcpy(k->axis, from->axis2, sizeof k->axis);
        SNW_TRY(read_sdf_axis_values(s, e, "axis2", k));
        k->held = true;
        k->parent = j->child;
        j = k;
    }
    if (at_child) {
        j->child = child;
        r->link[child].joint = r->njoint - 1;
        return SNW_OK;
    }
    j->child = r->nlink;
    const char *moved = snw_pool_format(r->pool, "%s_moved", from->name);
    if (!moved) return snw_fail_memory(s->u->err);
    snw_import_link(s->u, e, moved)->joint = r->njoint - 1;
    snw_imported_joint *fixed =
        snw_import_joint(s->u, e, snw_pool_format(r->pool, "%s_fixed", from->name));
    if (!fixed->name) return snw_fail_memory(s->u->err);
    fixed->pose = snw_imported_pose_of(snw_se3_inv(in_child));
    fixed->parent = j->child;
    fixed->child = child;
    r->link[child].joint = r->njoint - 1;
    return SNW_OK;
}

static snw_status read_sdf_joint(sdf_reader *s, int frame) {
    snw_imported_robot *r = s->u->r;
    const snw_element *e = s->frame[frame].e;
    const char *name = snw_element_attribute(e, "name");
    snw_imported_joint j = {.name = full_name(s, name), .line = e->line, .mimics = -1};
    snw_se3 g, g_parent = snw_se3_inv(s->at), g_child;
    bool known;
    int parent, child;
    SNW_TRY(sdf_kind(s, e, &j.kind, &known));
    if (!known) return SNW_OK;
    SNW_TRY(find_sdf_end(s, e, "parent", &parent));
    SNW_TRY(find_sdf_end(s, e, "child", &child));
    if (child < 0 && parent < 0)
        return SNW_IMPORT_FAIL(s->u, e, "joint '%.80s' joins the world to itself", name);
    SNW_TRY(pose_of_frame(s, frame, &g));
    if (parent >= 0) SNW_TRY(frame_pose(s, e, r->link[parent].name, &g_parent));
    g_child = snw_se3_inv(s->at);
    if (child >= 0) SNW_TRY(frame_pose(s, e, r->link[child].name, &g_child));
    SNW_TRY(read_sdf_axis(s, e, "axis", g, j.axis));
    SNW_TRY(read_sdf_axis(s, e, "axis2", g, j.axis2));
    if (j.kind != SNW_IMPORTED_FIXED) SNW_TRY(read_sdf_axis_values(s, e, "axis", &j));
    if (j.kind == SNW_IMPORTED_UNIVERSAL) {
        const snw_vec3 a = {{j.axis[0], j.axis[1], j.axis[2]}},
                       b = {{j.axis2[0], j.axis2[1], j.axis2[2]}};
        if (!(fabs(snw_dot(a, b)) < 1e-9 * snw_norm(a) * snw_norm(b)))
            return SNW_IMPORT_FAIL(s->u, e, "joint '%.80s': its axes are not at a right angle",
                                   name);
    }
    if (j.kind == SNW_IMPORTED_SCREW) {
        double thread = 0;
        SNW_TRY(sdf_numbers(s, e, "screw_thread_pitch", 1, &j.pitch));
        SNW_TRY(sdf_numbers(s, e, "thread_pitch", 1, &thread)); // rad per metre, negative
        if (j.pitch == 0 && thread != 0) j.pitch = -2 * 3.14159265358979323846 / thread;
        if (j.pitch == 0) {
            j.pitch = -2 * 3.14159265358979323846;
            SNW_IMPORT_NOTE(s->u, e,
                            "joint '%.80s' has no pitch; that of the format is taken, a "
                            "<thread_pitch> of 1",
                            name);
        }
    }
    j.held = j.kind == SNW_IMPORTED_REVOLUTE || j.kind == SNW_IMPORTED_PRISMATIC ||
             j.kind == SNW_IMPORTED_SCREW;
    const snw_se3 in_parent = snw_se3_mul(snw_se3_inv(g_parent), g),
                  in_child = snw_se3_mul(snw_se3_inv(g_child), g);
    if (child < 0 || r->link[child].joint >= 0)
        return add_sdf_loop(s, e, &j, parent, child, in_parent, in_child);
    return add_sdf_joint(s, e, &j, parent, child, in_parent, in_child);
}

// ---- models -------------------------------------------------------------------------------------

// Links that no joint carries: fixed in a static model, free otherwise.
static snw_status add_roots(sdf_reader *s, int links) {
    snw_imported_robot *r = s->u->r;
    for (int i = s->first; i < links; i++) {
        if (r->link[i].joint >= 0) continue;
        const snw_element here = {.path = s->model->path, .line = r->link[i].line};
        snw_imported_joint *j =
            snw_import_joint(s->u, &here, snw_pool_format(r->pool, "%s_root", r->link[i].name));
        if (!j->name) return snw_fail_memory(s->u->err);
        snw_se3 g;
        SNW_TRY(frame_pose(s, &here, r->link[i].name, &g));
        j->kind = s->is_static ? SNW_IMPORTED_FIXED : SNW_IMPORTED_FREE;
        j->pose = snw_imported_pose_of(snw_se3_mul(s->at, g));
        j->child = i;
        r->link[i].joint = r->njoint - 1;
        if (!s->is_static)
            SNW_IMPORT_NOTE(s->u, &here, "link '%.80s' is on no joint and moves freely",
                            r->link[i].name);
    }
    return SNW_OK;
}

static snw_status read_sdf_model(sdf_reader *s) {
    snw_imported_robot *r = s->u->r;
    const char *relative;
    s->first = r->nlink;
    s->is_static = sdf_true(s, s->model, "static");
    SNW_TRY(list_frames(s));
    SNW_TRY(sdf_pose(s, s->model, &s->at, &relative));
    SNW_TRY(read_sdf_links(s));
    const int links = r->nlink;
    for (int i = 0; i < s->nframe; i++) {
        if (is_named(s->frame[i].e, "joint") && !s->is_static) SNW_TRY(read_sdf_joint(s, i));
    }
    SNW_TRY(add_roots(s, links));
    for (int i = s->first; i < links; i++) r->link[i].name = full_name(s, r->link[i].name);
    for (const snw_element *e = snw_element_child(s->model, "plugin"); e; e = snw_element_again(e))
        SNW_IMPORT_NOTE(s->u, e, "<plugin> is left out, it belongs to another simulator");
    return SNW_OK;
}

snw_status snw_sdf_read(const snw_element *root, const snw_import_opts *opts, snw_imported_robot *r,
                        snw_error *err) {
    snw_importer u = {.opts = opts, .r = r, .err = err};
    const snw_element *world = snw_element_child(root, "world"), *top = world ? world : root;
    const char *version = snw_element_attribute(root, "version");
    sdf_reader reader = {.u = &u, .version = version ? strtod(version, NULL) : 1.5, .prefix = ""};
    int models = 0;
    for (const snw_element *e = snw_element_child(top, "model"); e; e = snw_element_again(e))
        models++;
    if (models == 0) return SNW_IMPORT_FAIL(&u, root, "the file has no <model>");
    const int joints = snw_element_count(top, "joint");
    SNW_TRY(snw_import_room(&u, root, 2 * snw_element_count(top, "link") + 3 * joints + 1));
    r->loop = snw_pool_array(r->pool, (size_t)joints + 1, sizeof *r->loop);
    if (!r->loop) return snw_fail_memory(err);
    if (world) {
        if (snw_element_child(world, "gravity")) r->has_gravity = true;
        r->gravity[2] = -9.8;
        SNW_TRY(sdf_numbers(&reader, world, "gravity", 3, r->gravity));
        for (const snw_element *e = snw_element_child(world, "include"); e;
             e = snw_element_again(e))
            SNW_IMPORT_NOTE(&u, e, "<include> of another model is left out");
    }
    for (const snw_element *e = snw_element_child(top, "model"); e; e = snw_element_again(e)) {
        const char *name = snw_element_attribute(e, "name");
        r->name = name && *name ? name : "robot";
        reader.model = e;
        reader.prefix = models > 1 ? r->name : "";
        SNW_TRY(read_sdf_model(&reader));
    }
    return snw_import_check_tree(&u, root);
}
