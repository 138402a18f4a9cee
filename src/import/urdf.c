// SPDX-License-Identifier: MIT
#include "import/urdf.h"

#include "base/fail.h"
#include "math/se3.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct urdf_reader {
    const snw_import_opts *opts;
    snw_imported_robot *r;
    snw_error *err;
} urdf_reader;

static snw_status urdf_memory(const urdf_reader *u) { return snw_fail_memory(u->err); }

// `return FAIL(u, line, "..", ..)`
#define FAIL(u, at, ...)                                                                           \
    snw_fail_at_location((u)->err, snw_fail((u)->err, SNW_E_MODEL, __VA_ARGS__), (u)->r->path, at, \
                         1)
#define NOTE(u, at, ...)                                                                           \
    do {                                                                                           \
        if (!snw_imported_note_add((u)->r, at, __VA_ARGS__)) return urdf_memory(u);                \
    } while (0)

static snw_status urdf_numbers(urdf_reader *u, const snw_element *e, const char *name, int n,
                               double *out) {
    return snw_element_numbers(u->r->path, e, name, n, out, u->err);
}

static int count_named(const snw_element *e, const char *name) {
    int n = 0;
    for (const snw_element *c = snw_element_child(e, name); c; c = snw_element_again(c)) n++;
    return n;
}

// xyz, rpy <- <origin> of an element, zero without one
static snw_status read_origin(urdf_reader *u, const snw_element *e, double *xyz, double *rpy) {
    memset(xyz, 0, 3 * sizeof *xyz);
    memset(rpy, 0, 3 * sizeof *rpy);
    const snw_element *o = snw_element_child(e, "origin");
    if (!o) return SNW_OK;
    SNW_TRY(urdf_numbers(u, o, "xyz", 3, xyz));
    return urdf_numbers(u, o, "rpy", 3, rpy);
}

// ---- links --------------------------------------------------------------------------------------

// R = Rz(yaw) Ry(pitch) Rx(roll)
static snw_mat3 rotation_of(const double *rpy) {
    const double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]),
                 cy = cos(rpy[2]), sy = sin(rpy[2]);
    return (snw_mat3){{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                       {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                       {-sp, cp * sr, cp * cr}}};
}

// R I R', symmetric in every bit
static snw_mat3 turn_inertia(snw_mat3 R, snw_mat3 I) {
    snw_mat3 out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) sum += R.e[i][a] * I.e[a][b] * R.e[j][b];
            out.e[i][j] = out.e[j][i] = sum;
        }
    }
    return out;
}

static snw_status read_inertial(urdf_reader *u, const snw_element *e, snw_imported_link *link) {
    static const char *const name[6] = {"ixx", "iyy", "izz", "iyz", "ixz", "ixy"};
    double rpy[3], I[6] = {0};
    SNW_TRY(read_origin(u, e, link->com, rpy));
    const snw_element *mass = snw_element_child(e, "mass"),
                      *inertia = snw_element_child(e, "inertia");
    if (mass) SNW_TRY(urdf_numbers(u, mass, "value", 1, &link->mass));
    for (int i = 0; i < 6 && inertia; i++) SNW_TRY(urdf_numbers(u, inertia, name[i], 1, &I[i]));
    if (!(link->mass >= 0))
        return FAIL(u, e->line, "link '%s': its mass must not be negative, got %g kg", link->name,
                    link->mass);
    const snw_mat3 own = {{{I[0], I[5], I[4]}, {I[5], I[1], I[3]}, {I[4], I[3], I[2]}}};
    const bool turned = rpy[0] != 0 || rpy[1] != 0 || rpy[2] != 0;
    link->inertia = turned ? turn_inertia(rotation_of(rpy), own) : own;
    link->has_mass = link->mass > 0;
    if (link->mass == 0 && (I[0] != 0 || I[1] != 0 || I[2] != 0))
        NOTE(u, e->line, "link '%s' has a moment of inertia and no mass; it is left without both",
             link->name);
    return SNW_OK;
}

// First folder of the path above the file, or the one itself, in which `rest` exists.
static const char *search_upwards(urdf_reader *u, const char *package, const char *rest) {
    const char *slash = strrchr(u->r->path, '/');
    char *folder = slash ? snw_pool_text(u->r->pool, u->r->path, (size_t)(slash - u->r->path))
                         : snw_pool_text(u->r->pool, ".", 1);
    for (int level = 0; folder && level < 8; level++) {
        const char *form[] = {"%s/%s/%s", "%s/%s"};
        for (int k = package ? 0 : 1; k < 2; k++) {
            const char *path = k == 0 ? snw_pool_format(u->r->pool, form[0], folder, package, rest)
                                      : snw_pool_format(u->r->pool, form[1], folder, rest);
            if (path && access(path, R_OK) == 0) return path;
        }
        if (!package) return NULL;
        folder = snw_pool_format(u->r->pool, "%s/..", folder);
    }
    return NULL;
}

// Path of a mesh: package://NAME/REST, file://PATH, or relative to the file. NULL: not found.
static const char *find_mesh(urdf_reader *u, const char *file) {
    static const char scheme[] = "package://";
    if (strncmp(file, "file://", 7) == 0) return access(file + 7, R_OK) == 0 ? file + 7 : NULL;
    if (strncmp(file, scheme, strlen(scheme)) != 0) {
        if (file[0] == '/') return access(file, R_OK) == 0 ? file : NULL;
        return search_upwards(u, NULL, file);
    }
    const char *at = file + strlen(scheme), *slash = strchr(at, '/');
    if (!slash) return NULL;
    const size_t length = (size_t)(slash - at);
    for (int i = 0; i < u->opts->npackage; i++) {
        const char *given = u->opts->package[i];
        if (strncmp(given, at, length) != 0 || given[length] != '=') continue;
        const char *path = snw_pool_format(u->r->pool, "%s/%s", given + length + 1, slash + 1);
        if (path && access(path, R_OK) == 0) return path;
    }
    const char *package = snw_pool_text(u->r->pool, at, length);
    return package ? search_upwards(u, package, slash + 1) : NULL;
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    if (n < m) return false;
    for (size_t i = 0; i < m; i++) {
        const char c = text[n - m + i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != end[i]) return false;
    }
    return true;
}

// *use <- can the mesh be taken? If not, a note says why.
static snw_status read_mesh(urdf_reader *u, const snw_element *e, const char *link,
                            snw_imported_shape *shape, bool *use) {
    double scale[3] = {1, 1, 1};
    *use = false;
    SNW_TRY(snw_element_required(u->r->path, e, "filename", &shape->file, u->err));
    SNW_TRY(urdf_numbers(u, e, "scale", 3, scale));
    shape->kind = SNW_IMPORTED_MESH;
    shape->scale = scale[0];
    if (!ends_with(shape->file, ".stl") && !ends_with(shape->file, ".obj")) {
        NOTE(u, e->line,
             "link '%s': mesh '%s' is left out, only .stl and .obj are read; convert it", link,
             shape->file);
        return SNW_OK;
    }
    if (!(scale[0] > 0) || scale[1] != scale[0] || scale[2] != scale[0]) {
        NOTE(u, e->line,
             "link '%s': mesh '%s' is left out, its scale differs between axes or is not positive",
             link, shape->file);
        return SNW_OK;
    }
    shape->found = find_mesh(u, shape->file);
    if (!shape->found)
        NOTE(u, e->line,
             "link '%s': mesh '%s' is left out, the file was not found; give its package by "
             "--package NAME=FOLDER",
             link, shape->file);
    *use = shape->found != NULL;
    return SNW_OK;
}

// *use <- was it a shape?
static snw_status read_geometry(urdf_reader *u, const snw_element *e, const char *link,
                                snw_imported_shape *shape, bool *use) {
    *use = false;
    SNW_TRY(read_origin(u, e, shape->xyz, shape->rpy));
    const snw_element *geometry = snw_element_child(e, "geometry"),
                      *g = geometry ? geometry->child : NULL;
    if (!g)
        return FAIL(u, e->line, "link '%s': <%s> needs a <geometry> with a shape", link, e->name);
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
        return read_mesh(u, g, link, shape, use);
    } else {
        NOTE(u, g->line, "link '%s': shape <%s> is left out, it is not known", link, g->name);
        return SNW_OK;
    }
    for (int i = 0; i < n; i++) {
        if (!(shape->size[i] > 0))
            return FAIL(u, g->line, "link '%s': the sizes of a <%s> must be positive", link,
                        g->name);
    }
    *use = true;
    return SNW_OK;
}

static snw_status read_shapes(urdf_reader *u, const snw_element *e, snw_imported_link *link) {
    if (u->opts->no_shapes) return SNW_OK;
    // shapes of one kind; those of the other serve where there are none
    const char *wanted[] = {u->opts->visual ? "visual" : "collision",
                            u->opts->visual ? "collision" : "visual"};
    const char *kind = count_named(e, wanted[0]) > 0 ? wanted[0] : wanted[1];
    link->shape = snw_pool_array(u->r->pool, (size_t)count_named(e, kind) + 1, sizeof *link->shape);
    if (!link->shape) return urdf_memory(u);
    for (const snw_element *c = snw_element_child(e, kind); c; c = snw_element_again(c)) {
        bool use;
        SNW_TRY(read_geometry(u, c, link->name, &link->shape[link->nshape], &use));
        if (use) link->nshape++;
    }
    return SNW_OK;
}

static int find_link(const snw_imported_robot *r, const char *name) {
    for (int i = 0; i < r->nlink; i++) {
        if (strcmp(r->link[i].name, name) == 0) return i;
    }
    return -1;
}

static snw_status read_links(urdf_reader *u, const snw_element *root) {
    snw_imported_robot *r = u->r;
    const int most = count_named(root, "link");
    r->link = snw_pool_array(r->pool, (size_t)most + 1, sizeof *r->link);
    if (!r->link) return urdf_memory(u);
    for (const snw_element *e = snw_element_child(root, "link"); e; e = snw_element_again(e)) {
        const char *name;
        SNW_TRY(snw_element_required(r->path, e, "name", &name, u->err));
        if (find_link(r, name) >= 0)
            return FAIL(u, e->line, "there are two links with the name '%s'", name);
        snw_imported_link *link = &r->link[r->nlink++];
        *link = (snw_imported_link){.name = name, .line = e->line, .joint = -1};
        const snw_element *inertial = snw_element_child(e, "inertial");
        if (inertial) SNW_TRY(read_inertial(u, inertial, link));
        SNW_TRY(read_shapes(u, e, link));
    }
    if (r->nlink == 0) return FAIL(u, root->line, "the robot has no link");
    return SNW_OK;
}

// ---- joints -------------------------------------------------------------------------------------

static snw_status read_joint_kind(urdf_reader *u, const snw_element *e, snw_imported_joint *j) {
    static const struct {
        const char *name;
        snw_imported_joint_kind kind;
    } known[] = {{"fixed", SNW_IMPORTED_FIXED},         {"revolute", SNW_IMPORTED_REVOLUTE},
                 {"continuous", SNW_IMPORTED_REVOLUTE}, {"prismatic", SNW_IMPORTED_PRISMATIC},
                 {"planar", SNW_IMPORTED_PLANAR},       {"floating", SNW_IMPORTED_FREE}};
    const char *type;
    SNW_TRY(snw_element_required(u->r->path, e, "type", &type, u->err));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(type, known[i].name) != 0) continue;
        j->kind = known[i].kind;
        j->limited = strcmp(type, "revolute") == 0 || j->kind == SNW_IMPORTED_PRISMATIC;
        return SNW_OK;
    }
    return FAIL(u, e->line,
                "joint '%s': type '%s' is not known; those of URDF are fixed, revolute, "
                "continuous, prismatic, planar and floating",
                j->name, type);
}

static snw_status find_end(urdf_reader *u, const snw_element *e, const char *which,
                           const char *name, int *out) {
    const snw_element *end = snw_element_child(e, which);
    if (!end) return FAIL(u, e->line, "joint '%s' has no <%s>", name, which);
    const char *link;
    SNW_TRY(snw_element_required(u->r->path, end, "link", &link, u->err));
    *out = find_link(u->r, link);
    if (*out < 0) return FAIL(u, end->line, "joint '%s': there is no link '%s'", name, link);
    return SNW_OK;
}

static snw_status read_limits(urdf_reader *u, const snw_element *e, snw_imported_joint *j) {
    const snw_element *limit = snw_element_child(e, "limit");
    if (!limit) {
        if (j->limited)
            NOTE(u, e->line, "joint '%s' has no <limit>; it moves without one", j->name);
        j->limited = false;
        return SNW_OK;
    }
    SNW_TRY(urdf_numbers(u, limit, "lower", 1, &j->low));
    SNW_TRY(urdf_numbers(u, limit, "upper", 1, &j->high));
    SNW_TRY(urdf_numbers(u, limit, "effort", 1, &j->effort));
    SNW_TRY(urdf_numbers(u, limit, "velocity", 1, &j->velocity));
    if (j->limited && !(j->low < j->high)) {
        NOTE(u, limit->line, "joint '%s': limits from %g to %g leave no range; they are left out",
             j->name, j->low, j->high);
        j->limited = false;
    }
    return SNW_OK;
}

static snw_status read_joint(urdf_reader *u, const snw_element *e, snw_imported_joint *j) {
    SNW_TRY(read_joint_kind(u, e, j));
    SNW_TRY(find_end(u, e, "parent", j->name, &j->parent));
    SNW_TRY(find_end(u, e, "child", j->name, &j->child));
    SNW_TRY(read_origin(u, e, j->xyz, j->rpy));
    const snw_element *axis = snw_element_child(e, "axis"),
                      *dynamics = snw_element_child(e, "dynamics"),
                      *mimic = snw_element_child(e, "mimic");
    j->axis[0] = 1; // of URDF, if it is not given
    if (axis) SNW_TRY(urdf_numbers(u, axis, "xyz", 3, j->axis));
    if (!(hypot(hypot(j->axis[0], j->axis[1]), j->axis[2]) > 0))
        return FAIL(u, axis ? axis->line : e->line, "joint '%s': its axis has no length", j->name);
    SNW_TRY(read_limits(u, e, j));
    if (dynamics) {
        SNW_TRY(urdf_numbers(u, dynamics, "damping", 1, &j->damping));
        SNW_TRY(urdf_numbers(u, dynamics, "friction", 1, &j->friction));
        if (!(j->damping >= 0) || !(j->friction >= 0))
            return FAIL(u, dynamics->line, "joint '%s': damping and friction must not be negative",
                        j->name);
    }
    if (mimic)
        NOTE(u, mimic->line,
             "joint '%s' follows joint '%s' in the file (<mimic>); here it has an actuator of its "
             "own, give it the same law times the ratio",
             j->name, snw_element_attribute(mimic, "joint"));
    if (snw_element_child(e, "safety_controller"))
        NOTE(u, e->line, "joint '%s': <safety_controller> is left out", j->name);
    return SNW_OK;
}

static snw_status read_joints(urdf_reader *u, const snw_element *root) {
    snw_imported_robot *r = u->r;
    r->joint = snw_pool_array(r->pool, (size_t)count_named(root, "joint") + 1, sizeof *r->joint);
    if (!r->joint) return urdf_memory(u);
    for (const snw_element *e = snw_element_child(root, "joint"); e; e = snw_element_again(e)) {
        snw_imported_joint *j = &r->joint[r->njoint];
        *j = (snw_imported_joint){.line = e->line};
        SNW_TRY(snw_element_required(r->path, e, "name", &j->name, u->err));
        for (int i = 0; i < r->njoint; i++) {
            if (strcmp(r->joint[i].name, j->name) == 0)
                return FAIL(u, e->line, "there are two joints with the name '%s'", j->name);
        }
        SNW_TRY(read_joint(u, e, j));
        snw_imported_link *child = &r->link[j->child];
        if (child->joint >= 0)
            return FAIL(u, e->line, "link '%s' has two parents, by joints '%s' and '%s'",
                        child->name, r->joint[child->joint].name, j->name);
        child->joint = r->njoint++;
    }
    return SNW_OK;
}

// Error: links that are joined in a circle and so hang on no root.
static snw_status check_tree(urdf_reader *u) {
    const snw_imported_robot *r = u->r;
    for (int i = 0; i < r->nlink; i++) {
        int at = i, steps = 0;
        while (r->link[at].joint >= 0 && steps++ <= r->nlink)
            at = r->joint[r->link[at].joint].parent;
        if (r->link[at].joint >= 0)
            return FAIL(u, r->link[i].line,
                        "link '%s' is its own ancestor; joints must form a tree", r->link[i].name);
    }
    return SNW_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

// Error: macros of xacro, which must be expanded first.
static snw_status refuse_xacro(urdf_reader *u, const snw_element *e) {
    for (; e; e = e->next) {
        bool macro = strncmp(e->name, "xacro:", 6) == 0;
        for (int i = 0; i < e->nattribute && !macro; i++)
            macro = strstr(e->attribute[i].value, "${") || strstr(e->attribute[i].value, "$(");
        if (macro)
            return FAIL(u, e->line,
                        "<%s> is a macro of xacro; expand the file first: xacro robot.xacro > "
                        "robot.urdf",
                        e->name);
        if (e->child) SNW_TRY(refuse_xacro(u, e->child));
    }
    return SNW_OK;
}

static snw_status note_rest(urdf_reader *u, const snw_element *root) {
    int transmissions = 0, gazebo = 0;
    for (const snw_element *e = root->child; e; e = e->next) {
        transmissions += strcmp(e->name, "transmission") == 0;
        gazebo += strcmp(e->name, "gazebo") == 0;
    }
    if (transmissions > 0)
        NOTE(u, 0, "%d <transmission>: left out, an actuator acts on the coordinate of its joint",
             transmissions);
    if (gazebo > 0)
        NOTE(u, 0, "%d <gazebo>: left out, they are settings of another simulator", gazebo);
    return SNW_OK;
}

snw_status snw_urdf_read(const snw_element *root, const snw_import_opts *opts,
                         snw_imported_robot *r, snw_error *err) {
    urdf_reader reader = {.opts = opts, .r = r, .err = err}, *u = &reader;
    SNW_TRY(refuse_xacro(u, root));
    const char *name = snw_element_attribute(root, "name");
    r->name = name && *name ? name : "robot";
    SNW_TRY(read_links(u, root));
    SNW_TRY(read_joints(u, root));
    SNW_TRY(check_tree(u));
    return note_rest(u, root);
}
