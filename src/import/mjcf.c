// SPDX-License-Identifier: MIT
//
// Reads MJCF: nested bodies with joints in series, inertia given or from shapes by density, default
// classes, motors and servos on joints, constraints between bodies. A body whose joints are not at
// its origin becomes a link for each joint and one of its own behind them.
#include "import/mjcf.h"

#include "base/fail.h"
#include "import/importer.h"
#include "language/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { CLASSES_MOST = 500, DEFAULTS_MOST = 64, INCLUDES_MOST = 50, INCLUDE_MAX = 16 << 20 };

// A default class: values of attributes by element.
typedef struct mjcf_class {
    const char *name;
    const snw_element *e;
    int parent; // -1: none
} mjcf_class;

typedef struct mjcf_reader {
    snw_importer *u;
    const snw_element *root;
    int nclass;
    mjcf_class *class;
    int main; // class of elements that name none; -1: no defaults
    // <compiler>
    bool radians, no_autolimits, strip_path;
    const char *sequence; // of Euler angles
    const char *mesh_folder;
    int inertia_from_geoms; // 0 never, 1 always, 2 where there is no <inertial>
    double groups[2];       // of geoms that have mass
    int includes;
    double *ref; // coordinate of each joint at the beginning, in MJCF
} mjcf_reader;

static bool is_named(const snw_element *e, const char *name) { return strcmp(e->name, name) == 0; }

// ---- files that are included --------------------------------------------------------------------

static snw_status expand(mjcf_reader *m, snw_element *e, int level);

// *out <- root of the file that <include file="..."/> names, beside that of the robot
static snw_status read_included(mjcf_reader *m, const snw_element *e, int level,
                                snw_element **out) {
    snw_importer *u = m->u;
    const char *file, *bytes;
    size_t length;
    SNW_TRY(snw_element_required(e, "file", &file, u->err));
    if (++m->includes > INCLUDES_MOST || level > 8)
        return SNW_IMPORT_FAIL(u, e, "too many files are included, or they include each other");
    const char *path = snw_import_find_file(u, file), *slash = strrchr(e->path, '/');
    if (!path && slash) { // beside the file that includes it
        const char *beside =
            snw_pool_format(u->r->pool, "%.*s/%s", (int)(slash - e->path), e->path, file);
        path = beside && access(beside, R_OK) == 0 ? beside : NULL;
    }
    if (!path) return SNW_IMPORT_FAIL(u, e, "the included file '%.200s' was not found", file);
    SNW_TRY(snw_text_read(u->r->pool, path, INCLUDE_MAX, &bytes, &length, u->err));
    SNW_TRY(snw_element_parse(u->r->pool, path, bytes, length, out, u->err));
    return expand(m, *out, level + 1);
}

// Replace each <include> below e by the elements of its file.
static snw_status expand(mjcf_reader *m, snw_element *e, int level) {
    for (snw_element **at = &e->child; *at;) {
        if (!is_named(*at, "include")) {
            SNW_TRY(expand(m, *at, level));
            at = &(*at)->next;
            continue;
        }
        snw_element *root, *after = (*at)->next;
        SNW_TRY(read_included(m, *at, level, &root));
        *at = root->child;
        while (*at) at = &(*at)->next;
        *at = after;
    }
    return SNW_OK;
}

// ---- default classes ----------------------------------------------------------------------------

static int find_class(const mjcf_reader *m, const char *name) {
    int i = m->nclass - 1;
    while (i >= 0 && strcmp(m->class[i].name, name) != 0) i--;
    return i;
}

static snw_status add_class(mjcf_reader *m, const snw_element *e, int parent) {
    const char *name = snw_element_attribute(e, "class");
    if (m->nclass == CLASSES_MOST)
        return SNW_IMPORT_FAIL(m->u, e, "at most %d default classes are read", (int)CLASSES_MOST);
    if (!name && parent >= 0) return SNW_IMPORT_FAIL(m->u, e, "a nested <default> needs a 'class'");
    if (!name) name = "main";
    // a second section of defaults continues the first one
    const int me = m->nclass++;
    m->class[me] = (mjcf_class){name, e, parent >= 0 ? parent : m->main};
    if (parent < 0) m->main = me;
    int n = 0;
    for (const snw_element *c = e->child; c; c = c->next) {
        if (is_named(c, "default")) {
            SNW_TRY(add_class(m, c, me));
        } else if (++n > DEFAULTS_MOST) {
            return SNW_IMPORT_FAIL(m->u, c, "a <default> has too many elements");
        }
    }
    return SNW_OK;
}

// Class of an element: its own, or that of the bodies around it.
static snw_status class_of(const mjcf_reader *m, const snw_element *e, const char *key, int around,
                           int *out) {
    const char *name = snw_element_attribute(e, key);
    *out = around;
    if (!name) return SNW_OK;
    *out = find_class(m, name);
    if (*out >= 0 || strcmp(name, "main") == 0) return SNW_OK;
    return SNW_IMPORT_FAIL(m->u, e, "there is no default class '%.80s'", name);
}

static bool is_actuator(const char *name) {
    static const char *const known[] = {"general", "motor", "position", "velocity"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i]) == 0) return true;
    }
    return false;
}

// Value of an attribute of an element, or of elements of that name in its default classes; NULL:
// not given. *at <- where it is given.
static const char *value_of(const mjcf_reader *m, const snw_element *e, int class, const char *name,
                            const snw_element **at) {
    const bool actuator = is_actuator(e->name);
    *at = e;
    const char *value = snw_element_attribute(e, name);
    if (is_named(e, "freejoint")) return value;
    for (; !value && class >= 0; class = m->class[class].parent) {
        for (const snw_element *c = m->class[class].e->child; c && !value; c = c->next) {
            // attributes of actuators are common to them
            if (!is_named(c, e->name) && !(actuator && is_actuator(c->name))) continue;
            value = snw_element_attribute(c, name);
            *at = c;
        }
    }
    return value;
}

static const char *word_of(const mjcf_reader *m, const snw_element *e, int class, const char *name,
                           const char *otherwise) {
    const snw_element *at;
    const char *value = value_of(m, e, class, name, &at);
    return value ? value : otherwise;
}

// out <- at least `least` and at most `most` numbers; *found <- how many, 0: not given
static snw_status mjcf_numbers(const mjcf_reader *m, const snw_element *e, int class,
                               const char *name, int least, int most, double *out, int *found) {
    enum { MOST = 10 };
    const snw_element *at;
    const char *text = value_of(m, e, class, name, &at);
    double x[MOST];
    *found = 0;
    if (!text) return SNW_OK;
    SNW_ASSERT(most <= MOST);
    snw_text_numbers(text, most, x, found);
    if (*found >= least) {
        memcpy(out, x, (size_t)*found * sizeof *out);
        return SNW_OK;
    }
    return SNW_IMPORT_FAIL(m->u, at, "attribute '%s' of <%.60s>: '%.60s' is not %d finite number%s",
                           name, at->name, text, least, least == 1 ? "" : "s");
}

static snw_status mjcf_number(const mjcf_reader *m, const snw_element *e, int class,
                              const char *name, double *out) {
    int found;
    return mjcf_numbers(m, e, class, name, 1, 1, out, &found);
}

// ---- poses --------------------------------------------------------------------------------------

static double angle_of(const mjcf_reader *m, double x) {
    return m->radians ? x : x * (3.14159265358979323846 / 180);
}

static snw_quat quat_about(snw_vec3 axis, double angle) {
    const double n = snw_norm(axis), s = n > 0 ? sin(0.5 * angle) / n : 0;
    return (snw_quat){{cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z}};
}

// Smallest rotation of z into that direction.
static snw_quat quat_of_z(snw_vec3 z) {
    z = snw_normalise(z);
    const snw_vec3 axis = {{-z.y, z.x, 0}};
    const double s = snw_norm(axis);
    if (s < 1e-12) return quat_about((snw_vec3){{1, 0, 0}}, z.z > 0 ? 0 : 3.14159265358979323846);
    return quat_about(axis, atan2(s, z.z));
}

// angles about axes of the sequence: small letters turn with the frame, capitals do not
static snw_quat quat_of_euler(const mjcf_reader *m, const double *euler) {
    snw_quat q = snw_quat_identity();
    for (int i = 0; i < 3; i++) {
        const char c = m->sequence[i];
        const bool fixed = c >= 'X' && c <= 'Z';
        const snw_quat one =
            quat_about(snw_unit_vector(c - (fixed ? 'X' : 'x')), angle_of(m, euler[i]));
        q = fixed ? snw_quat_mul(one, q) : snw_quat_mul(q, one);
    }
    return q;
}

static snw_status read_rotation(const mjcf_reader *m, const snw_element *e, int class,
                                snw_quat *out) {
    double x[6];
    int n;
    *out = snw_quat_identity();
    SNW_TRY(mjcf_numbers(m, e, class, "quat", 4, 4, x, &n));
    if (n > 0) {
        memcpy(out->e, x, sizeof out->e);
        const double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        if (!(size > 1e-12)) return SNW_IMPORT_FAIL(m->u, e, "the quaternion has no length");
        *out = snw_quat_normalise(*out);
        return SNW_OK;
    }
    SNW_TRY(mjcf_numbers(m, e, class, "euler", 3, 3, x, &n));
    if (n > 0) {
        *out = quat_of_euler(m, x);
        return SNW_OK;
    }
    SNW_TRY(mjcf_numbers(m, e, class, "axisangle", 4, 4, x, &n));
    if (n > 0) {
        const snw_vec3 axis = {{x[0], x[1], x[2]}};
        if (!(snw_norm(axis) > 1e-12)) return SNW_IMPORT_FAIL(m->u, e, "the axis has no length");
        *out = quat_about(axis, angle_of(m, x[3]));
        return SNW_OK;
    }
    SNW_TRY(mjcf_numbers(m, e, class, "zaxis", 3, 3, x, &n));
    if (n > 0) {
        const snw_vec3 z = {{x[0], x[1], x[2]}};
        if (!(snw_norm(z) > 1e-12)) return SNW_IMPORT_FAIL(m->u, e, "'zaxis' has no length");
        *out = quat_of_z(z);
        return SNW_OK;
    }
    SNW_TRY(mjcf_numbers(m, e, class, "xyaxes", 6, 6, x, &n));
    if (n == 0) return SNW_OK;
    const snw_vec3 X = {{x[0], x[1], x[2]}}, given = {{x[3], x[4], x[5]}};
    const snw_vec3 z = snw_cross(X, given);
    if (!(snw_norm(z) > 1e-12)) return SNW_IMPORT_FAIL(m->u, e, "'xyaxes' are in one direction");
    const snw_vec3 ex = snw_normalise(X), ez = snw_normalise(z), ey = snw_cross(ez, ex);
    const snw_mat3 R = {{{ex.x, ey.x, ez.x}, {ex.y, ey.y, ez.y}, {ex.z, ey.z, ez.z}}};
    *out = snw_quat_from_mat3(R);
    return SNW_OK;
}

static snw_status mjcf_pose(const mjcf_reader *m, const snw_element *e, int class,
                            snw_imported_pose *out) {
    int n;
    *out = (snw_imported_pose){.by_quat = true};
    SNW_TRY(mjcf_numbers(m, e, class, "pos", 3, 3, out->xyz, &n));
    return read_rotation(m, e, class, &out->quat);
}

// ---- shapes -------------------------------------------------------------------------------------

// <mesh> of the assets by its name, which is that of its file unless given; NULL: none
static const snw_element *find_mesh(const mjcf_reader *m, const char *name) {
    for (const snw_element *a = snw_element_child(m->root, "asset"); a; a = snw_element_again(a)) {
        for (const snw_element *e = snw_element_child(a, "mesh"); e; e = snw_element_again(e)) {
            const char *own = snw_element_attribute(e, "name"),
                       *file = snw_element_attribute(e, "file");
            if (own && strcmp(own, name) == 0) return e;
            if (own || !file) continue;
            const char *slash = strrchr(file, '/'), *stem = slash ? slash + 1 : file;
            const char *dot = strrchr(stem, '.');
            const size_t length = dot ? (size_t)(dot - stem) : strlen(stem);
            if (strlen(name) == length && strncmp(name, stem, length) == 0) return e;
        }
    }
    return NULL;
}

// *use <- is it a shape? *mass_known <- false: it has mass that is not known
static snw_status read_mesh_geom(const mjcf_reader *m, const snw_element *e, int class,
                                 const char *link, snw_imported_shape *s, double *scale,
                                 bool *use) {
    snw_importer *u = m->u;
    const char *name = word_of(m, e, class, "mesh", NULL);
    const snw_element *mesh = name ? find_mesh(m, name) : NULL;
    int n, of_mesh;
    if (!mesh)
        return SNW_IMPORT_FAIL(u, e, "link '%.80s': there is no mesh '%.80s'", link,
                               name ? name : "");
    SNW_TRY(class_of(m, mesh, "class", m->main, &of_mesh));
    SNW_TRY(mjcf_numbers(m, mesh, of_mesh, "scale", 3, 3, scale, &n));
    const char *file = snw_element_attribute(mesh, "file");
    if (!file || snw_element_attribute(mesh, "refpos") || snw_element_attribute(mesh, "refquat")) {
        SNW_IMPORT_NOTE(u, mesh,
                        "mesh '%.80s' is left out: it has no file, or a reference pose; write it "
                        "as an .stl",
                        name);
        return SNW_OK;
    }
    const char *slash = m->strip_path ? strrchr(file, '/') : NULL;
    s->file = m->mesh_folder
                  ? snw_pool_format(u->r->pool, "%s/%s", m->mesh_folder, slash ? slash + 1 : file)
                  : file;
    if (!s->file) return snw_fail_memory(u->err);
    return snw_import_mesh(u, e, link, scale, s, use);
}

// Sizes of MJCF are halves; fromto gives the axis of a shape.
static snw_status read_sizes(const mjcf_reader *m, const snw_element *e, int class,
                             snw_imported_shape *s) {
    double size[3] = {0}, ends[6];
    int n, given;
    SNW_TRY(mjcf_numbers(m, e, class, "size", 1, 3, size, &n));
    SNW_TRY(mjcf_numbers(m, e, class, "fromto", 6, 6, ends, &given));
    const bool round = s->kind == SNW_IMPORTED_CAPSULE || s->kind == SNW_IMPORTED_CYLINDER;
    if (given > 0 && s->kind != SNW_IMPORTED_SPHERE) {
        const snw_vec3 a = {{ends[0], ends[1], ends[2]}}, b = {{ends[3], ends[4], ends[5]}};
        const double half = 0.5 * snw_norm(snw_sub(b, a));
        if (!(half > 0)) return SNW_IMPORT_FAIL(m->u, e, "'fromto' has no length");
        s->pose = (snw_imported_pose){.by_quat = true, .quat = quat_of_z(snw_sub(a, b))};
        memcpy(s->pose.xyz, snw_scale(0.5, snw_add(a, b)).e, sizeof s->pose.xyz);
        if (round) {
            size[1] = half;
        } else {
            if (n < 2) size[1] = size[0];
            size[2] = half;
        }
    }
    const int needed = s->kind == SNW_IMPORTED_SPHERE ? 1 : round ? 2 : 3;
    for (int i = 0; i < needed; i++) {
        if (!(size[i] > 0))
            return SNW_IMPORT_FAIL(m->u, e, "the sizes of this <geom> must be positive");
        s->size[i] = 2 * size[i];
    }
    if (s->kind != SNW_IMPORTED_BOX) s->size[0] = size[0];
    return SNW_OK;
}

typedef enum geom_type { GEOM_SHAPE, GEOM_ELLIPSOID, GEOM_MESH, GEOM_OTHER } geom_type;

static geom_type type_of_geom(const char *type, snw_imported_shape_kind *kind) {
    static const struct {
        const char *name;
        snw_imported_shape_kind kind;
    } known[] = {{"sphere", SNW_IMPORTED_SPHERE},
                 {"capsule", SNW_IMPORTED_CAPSULE},
                 {"cylinder", SNW_IMPORTED_CYLINDER},
                 {"box", SNW_IMPORTED_BOX}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type, known[i].name) != 0) continue;
        *kind = known[i].kind;
        return GEOM_SHAPE;
    }
    *kind = SNW_IMPORTED_BOX;
    return strcmp(type, "ellipsoid") == 0 ? GEOM_ELLIPSOID
           : strcmp(type, "mesh") == 0    ? GEOM_MESH
                                          : GEOM_OTHER;
}

// Mass of a shape to its link. An ellipsoid has the inertia of a box of its axes times 3/5, and its
// volume times pi/6.
static snw_status add_geom_mass(const mjcf_reader *m, const snw_element *e, int class,
                                geom_type type, const snw_imported_shape *s, const double *scale,
                                snw_imported_link *link) {
    double mass = -1, density = 1000, group = 0;
    snw_vec3 com;
    snw_mat3 inertia;
    bool solid;
    SNW_TRY(mjcf_number(m, e, class, "mass", &mass));
    SNW_TRY(mjcf_number(m, e, class, "density", &density));
    SNW_TRY(mjcf_number(m, e, class, "group", &group));
    if (mass == 0 || (mass < 0 && density == 0)) return SNW_OK;
    if (group < m->groups[0] || group > m->groups[1]) return SNW_OK;
    const double pi = 3.14159265358979323846;
    if (type == GEOM_ELLIPSOID) density *= pi / 6;
    SNW_TRY(snw_imported_shape_mass(m->u, s, scale, density, &mass, &com, &inertia, &solid));
    if (!solid) {
        SNW_IMPORT_NOTE(m->u, e, "link '%.80s': a mesh encloses no volume, its mass is left out",
                        link->name);
        return SNW_OK;
    }
    if (type == GEOM_ELLIPSOID) inertia = snw_mat3_scale(0.6, inertia);
    snw_imported_add_mass(link, mass, com, inertia);
    return SNW_OK;
}

// A geom in a frame of the link: a shape, and mass where it has it.
static snw_status read_geom(const mjcf_reader *m, const snw_element *e, int around, snw_se3 frame,
                            bool massive, snw_imported_link *link) {
    snw_importer *u = m->u;
    int class;
    SNW_TRY(class_of(m, e, "class", around, &class));
    double scale[3] = {1, 1, 1}, contype = 1, conaffinity = 1;
    const char *mesh = word_of(m, e, class, "mesh", NULL);
    const char *type = word_of(m, e, class, "type", mesh ? "mesh" : "sphere");
    snw_imported_shape *s = &link->shape[link->nshape];
    *s = (snw_imported_shape){0};
    const geom_type kind = type_of_geom(type, &s->kind);
    if (kind == GEOM_OTHER || (mesh && kind != GEOM_MESH)) {
        SNW_IMPORT_NOTE(u, e,
                        strcmp(type, "plane") == 0
                            ? "link '%.80s': a %.60s is left out; give the ground under 'contacts'"
                            : "link '%.80s': a %.60s of this kind is left out, with its mass",
                        link->name, type);
        return SNW_OK;
    }
    bool use = kind == GEOM_SHAPE;
    SNW_TRY(mjcf_number(m, e, class, "contype", &contype));
    SNW_TRY(mjcf_number(m, e, class, "conaffinity", &conaffinity));
    s->collision = contype != 0 || conaffinity != 0;
    SNW_TRY(mjcf_pose(m, e, class, &s->pose));
    SNW_TRY(kind == GEOM_MESH ? read_mesh_geom(m, e, class, link->name, s, scale, &use)
                              : read_sizes(m, e, class, s));
    const snw_se3 g = snw_se3_mul(frame, snw_imported_se3(&s->pose));
    if (frame.p.x != 0 || frame.p.y != 0 || frame.p.z != 0 || snw_so3_log(frame.R).x != 0 ||
        snw_so3_log(frame.R).y != 0 || snw_so3_log(frame.R).z != 0)
        s->pose = snw_imported_pose_of(g);
    const bool known = kind != GEOM_MESH || s->found;
    if (massive && known) SNW_TRY(add_geom_mass(m, e, class, kind, s, scale, link));
    if (massive && !known)
        SNW_IMPORT_NOTE(u, e, "link '%.80s': the mass of a mesh that is not read is left out",
                        link->name);
    if (kind == GEOM_ELLIPSOID)
        SNW_IMPORT_NOTE(u, e, "link '%.80s': an ellipsoid has its mass and inertia, but no shape",
                        link->name);
    if (use) link->nshape++;
    return SNW_OK;
}

// Geoms of a body, those within <frame> included.
static snw_status read_geoms(const mjcf_reader *m, const snw_element *body, int around,
                             snw_se3 frame, bool massive, snw_imported_link *link) {
    for (const snw_element *e = body->child; e; e = e->next) {
        if (is_named(e, "geom")) SNW_TRY(read_geom(m, e, around, frame, massive, link));
        if (!is_named(e, "frame")) continue;
        snw_imported_pose pose;
        int class;
        SNW_TRY(class_of(m, e, "childclass", around, &class));
        SNW_TRY(mjcf_pose(m, e, -1, &pose));
        SNW_TRY(
            read_geoms(m, e, class, snw_se3_mul(frame, snw_imported_se3(&pose)), massive, link));
    }
    return SNW_OK;
}

// ---- inertia ------------------------------------------------------------------------------------

static snw_status mjcf_inertial(const mjcf_reader *m, const snw_element *e,
                                snw_imported_link *link) {
    double I[6] = {0};
    int three, six;
    snw_imported_pose at;
    SNW_TRY(mjcf_pose(m, e, -1, &at));
    SNW_TRY(mjcf_number(m, e, -1, "mass", &link->mass));
    if (!(link->mass >= 0))
        return SNW_IMPORT_FAIL(m->u, e, "body '%.80s': its mass must not be negative, got %g kg",
                               link->name, link->mass);
    SNW_TRY(mjcf_numbers(m, e, -1, "diaginertia", 3, 3, I, &three));
    SNW_TRY(mjcf_numbers(m, e, -1, "fullinertia", 6, 6, I, &six));
    const snw_mat3 own = {{{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}}};
    const bool turned = at.quat.x != 0 || at.quat.y != 0 || at.quat.z != 0;
    link->inertia = turned ? snw_turn_inertia(snw_quat_to_mat3(at.quat), own) : own;
    memcpy(link->com, at.xyz, sizeof link->com);
    link->has_mass = link->mass > 0 || three > 0 || six > 0;
    return SNW_OK;
}

// ---- joints -------------------------------------------------------------------------------------

static snw_status joint_limits(const mjcf_reader *m, const snw_element *e, int class,
                               snw_imported_joint *j, double ref) {
    double range[2];
    int n;
    SNW_TRY(mjcf_numbers(m, e, class, "range", 2, 2, range, &n));
    const char *limited = word_of(m, e, class, "limited", "auto");
    const bool on = strcmp(limited, "true") == 0 ||
                    (strcmp(limited, "auto") == 0 && n > 0 && !m->no_autolimits);
    if (!on || n == 0) return SNW_OK;
    if (j->kind == SNW_IMPORTED_SPHERICAL) {
        SNW_IMPORT_NOTE(m->u, e,
                        "joint '%.80s': the range of a ball joint is left out; 'limits' of a "
                        "spherical joint are those of a cone about x",
                        j->name);
        return SNW_OK;
    }
    const bool turns = j->kind == SNW_IMPORTED_REVOLUTE;
    j->low = (turns ? angle_of(m, range[0]) : range[0]) - ref;
    j->high = (turns ? angle_of(m, range[1]) : range[1]) - ref;
    j->limited = j->low < j->high;
    return SNW_OK;
}

// One number of an attribute that may have several in newer files.
static snw_status first_number(const mjcf_reader *m, const snw_element *e, int class,
                               const char *name, const char *joint, double *out) {
    double x[9];
    int n;
    SNW_TRY(mjcf_numbers(m, e, class, name, 1, 9, x, &n));
    if (n > 0) *out = x[0];
    if (n > 1)
        SNW_IMPORT_NOTE(m->u, e, "joint '%.80s': of '%s' only the linear part is carried over",
                        joint, name);
    if (*out >= 0) return SNW_OK;
    return SNW_IMPORT_FAIL(m->u, e, "joint '%.80s': '%s' must not be negative", joint, name);
}

static snw_status read_joint_values(mjcf_reader *m, const snw_element *e, int class,
                                    snw_imported_joint *j) {
    int n;
    double ref = 0, rest = 0;
    j->axis[2] = 1;
    SNW_TRY(mjcf_numbers(m, e, class, "axis", 3, 3, j->axis, &n));
    const snw_vec3 axis = {{j->axis[0], j->axis[1], j->axis[2]}};
    const bool turns = j->kind == SNW_IMPORTED_REVOLUTE;
    if (j->kind != SNW_IMPORTED_SPHERICAL) {
        if (!(snw_norm(axis) > 1e-12))
            return SNW_IMPORT_FAIL(m->u, e, "joint '%.80s': its axis has no length", j->name);
        SNW_TRY(mjcf_number(m, e, class, "ref", &ref));
        SNW_TRY(mjcf_number(m, e, class, "springref", &rest));
    }
    if (turns) ref = angle_of(m, ref), rest = angle_of(m, rest);
    m->ref[j - m->u->r->joint] = ref;
    SNW_TRY(first_number(m, e, class, "stiffness", j->name, &j->stiffness));
    SNW_TRY(first_number(m, e, class, "damping", j->name, &j->damping));
    SNW_TRY(first_number(m, e, class, "frictionloss", j->name, &j->friction));
    SNW_TRY(first_number(m, e, class, "armature", j->name, &j->armature));
    if (j->stiffness > 0) j->rest = rest - ref;
    if (ref != 0)
        SNW_IMPORT_NOTE(m->u, e,
                        "joint '%.80s': its coordinate is zero where that of the file is %g",
                        j->name, ref);
    if (word_of(m, e, class, "springdamper", NULL))
        SNW_IMPORT_NOTE(m->u, e, "joint '%.80s': 'springdamper' is left out", j->name);
    return joint_limits(m, e, class, j, ref);
}

static snw_status kind_of_joint(const mjcf_reader *m, const snw_element *e, int class,
                                snw_imported_joint_kind *out) {
    static const struct {
        const char *name;
        snw_imported_joint_kind kind;
    } known[] = {{"hinge", SNW_IMPORTED_REVOLUTE},
                 {"slide", SNW_IMPORTED_PRISMATIC},
                 {"ball", SNW_IMPORTED_SPHERICAL},
                 {"free", SNW_IMPORTED_FREE}};
    const char *type = is_named(e, "freejoint") ? "free" : word_of(m, e, class, "type", "hinge");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type, known[i].name) != 0) continue;
        *out = known[i].kind;
        return SNW_OK;
    }
    return SNW_IMPORT_FAIL(m->u, e, "joint type '%.60s' is not known", type);
}

// Springs, dampers and rotors of free joints, which come from default classes mostly.
static snw_status note_free(const mjcf_reader *m, const snw_element *e, int class,
                            const char *name) {
    static const char *const key[] = {"stiffness", "damping", "frictionloss", "armature"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        double x[9] = {0};
        int n;
        SNW_TRY(mjcf_numbers(m, e, class, key[i], 1, 9, x, &n));
        if (x[0] != 0)
            SNW_IMPORT_NOTE(m->u, e, "joint '%.80s': '%s' of a free joint is left out", name,
                            key[i]);
    }
    return SNW_OK;
}

static bool is_joint(const snw_element *e) {
    return is_named(e, "joint") || is_named(e, "freejoint");
}

// The joints of a body in series, each with a link; *link <- that of the body itself. `g` is the
// pose of the body in its parent.
static snw_status read_joints(mjcf_reader *m, const snw_element *body, int around, int parent,
                              snw_imported_pose pose, const char *name, int *link) {
    snw_importer *u = m->u;
    snw_imported_robot *r = u->r;
    snw_vec3 before = {{0, 0, 0}}; // place of the last joint in the body's frame
    int n = 0, left = 0;
    for (const snw_element *e = body->child; e; e = e->next) left += is_joint(e);
    for (const snw_element *e = body->child; e; e = e->next) {
        if (!is_joint(e)) continue;
        snw_imported_joint_kind kind = SNW_IMPORTED_FIXED;
        int class, found;
        SNW_TRY(class_of(m, e, "class", around, &class));
        SNW_TRY(kind_of_joint(m, e, class, &kind));
        const char *own = snw_element_attribute(e, "name");
        const char *called =
            own && *own
                ? own
                : snw_pool_format(r->pool, left + n > 1 ? "%s_joint_%d" : "%s_joint", name, n + 1);
        if (!called) return snw_fail_memory(u->err);
        if (snw_imported_find_joint(r, called) >= 0)
            return SNW_IMPORT_FAIL(u, e, "there are two joints with the name '%.80s'", called);
        snw_imported_joint *j = snw_import_joint(u, e, called);
        snw_vec3 at = {{0, 0, 0}};
        j->kind = kind;
        if (kind == SNW_IMPORTED_FREE) {
            if (parent >= 0 || left > 1)
                return SNW_IMPORT_FAIL(u, e,
                                       "joint '%.80s': a free joint is the only one of a body of "
                                       "the world",
                                       called);
            SNW_TRY(note_free(m, e, class, called));
        } else {
            SNW_TRY(mjcf_numbers(m, e, class, "pos", 3, 3, at.e, &found));
            SNW_TRY(read_joint_values(m, e, class, j));
        }
        // at the joint, in the axes of the body; from the joint before
        const snw_se3 step = {snw_mat3_identity(), snw_sub(at, before)};
        const bool away = at.x != 0 || at.y != 0 || at.z != 0;
        if (n == 0) {
            j->pose = pose;
            if (away) {
                const snw_vec3 p = snw_se3_mul(snw_imported_se3(&pose), step).p;
                memcpy(j->pose.xyz, p.e, sizeof j->pose.xyz);
            }
        } else {
            j->pose = snw_imported_pose_of(step);
        }
        n++;
        const bool last = n == left && !away;
        j->parent = parent;
        j->child = r->nlink;
        parent = r->nlink;
        snw_imported_link *l =
            snw_import_link(u, body, last ? name : snw_pool_format(r->pool, "%s_moved", called));
        if (!l->name) return snw_fail_memory(u->err);
        l->joint = r->njoint - 1;
        before = at;
        *link = j->child;
        if (last) return SNW_OK;
    }
    // the body behind its joints, or fixed to its parent
    snw_imported_joint *j = snw_import_joint(u, body, snw_pool_format(r->pool, "%s_fixed", name));
    if (!j->name) return snw_fail_memory(u->err);
    j->pose =
        n == 0 ? pose : snw_imported_pose_of((snw_se3){snw_mat3_identity(), snw_scale(-1, before)});
    j->parent = parent;
    j->child = *link = r->nlink;
    snw_import_link(u, body, name)->joint = r->njoint - 1;
    return SNW_OK;
}

// ---- bodies -------------------------------------------------------------------------------------

static snw_status note_children(const mjcf_reader *m, const snw_element *body) {
    static const char *const told[] = {"composite", "flexcomp", "replicate", "attach", "plugin"};
    for (const snw_element *e = body->child; e; e = e->next) {
        for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
            if (is_named(e, told[i]))
                SNW_IMPORT_NOTE(m->u, e, "<%s> is left out, with all that it would make", told[i]);
        }
    }
    return SNW_OK;
}

static int count_geoms(const snw_element *body) {
    int n = 0;
    for (const snw_element *e = body->child; e; e = e->next) {
        n += is_named(e, "geom");
        if (is_named(e, "frame")) n += count_geoms(e);
    }
    return n;
}

static snw_status read_bodies(mjcf_reader *m, const snw_element *e, int parent, int around,
                              snw_se3 frame);

static snw_status read_body(mjcf_reader *m, const snw_element *e, int parent, int around,
                            snw_se3 frame, bool framed) {
    snw_importer *u = m->u;
    snw_imported_pose pose;
    int class, link = -1;
    SNW_TRY(class_of(m, e, "childclass", around, &class));
    SNW_TRY(mjcf_pose(m, e, -1, &pose));
    if (framed) pose = snw_imported_pose_of(snw_se3_mul(frame, snw_imported_se3(&pose)));
    const char *name = snw_element_attribute(e, "name");
    if (!name || !*name) name = snw_pool_format(u->r->pool, "body_%d", u->r->nlink + 1);
    if (!name) return snw_fail_memory(u->err);
    if (snw_imported_find_link(u->r, name) >= 0)
        return SNW_IMPORT_FAIL(u, e, "there are two bodies with the name '%.80s'", name);
    SNW_TRY(read_joints(m, e, class, parent, pose, name, &link));
    const snw_element *inertial = snw_element_child(e, "inertial");
    const bool given = inertial && m->inertia_from_geoms != 1;
    snw_imported_link *l = &u->r->link[link];
    if (given) SNW_TRY(mjcf_inertial(m, inertial, l));
    SNW_TRY(snw_import_shapes(u, l, count_geoms(e)));
    SNW_TRY(read_geoms(m, e, class, snw_se3_identity(), !given && m->inertia_from_geoms != 0, l));
    snw_import_choose_shapes(u, l);
    const char *mocap = snw_element_attribute(e, "mocap");
    if (mocap && strcmp(mocap, "true") == 0)
        SNW_IMPORT_NOTE(u, e, "body '%.80s' is moved from outside (mocap); here it is fixed", name);
    SNW_TRY(note_children(m, e));
    return read_bodies(m, e, link, class, snw_se3_identity());
}

// Bodies within an element, those within <frame> included.
static snw_status read_bodies(mjcf_reader *m, const snw_element *of, int parent, int around,
                              snw_se3 frame) {
    const bool framed = is_named(of, "frame");
    for (const snw_element *e = of->child; e; e = e->next) {
        if (is_named(e, "body")) SNW_TRY(read_body(m, e, parent, around, frame, framed));
        if (!is_named(e, "frame")) continue;
        snw_imported_pose pose;
        int class;
        SNW_TRY(class_of(m, e, "childclass", around, &class));
        SNW_TRY(mjcf_pose(m, e, -1, &pose));
        SNW_TRY(read_bodies(m, e, parent, class, snw_se3_mul(frame, snw_imported_se3(&pose))));
    }
    return SNW_OK;
}

static snw_status read_world(mjcf_reader *m) {
    snw_importer *u = m->u;
    int bodies = 0;
    for (const snw_element *w = snw_element_child(m->root, "worldbody"); w;
         w = snw_element_again(w))
        bodies += snw_element_count(w, "body") + snw_element_count(w, "joint") +
                  snw_element_count(w, "freejoint") + 1;
    SNW_TRY(snw_import_room(u, m->root, bodies));
    m->ref = snw_pool_array(u->r->pool, (size_t)bodies + 1, sizeof *m->ref);
    if (!m->ref) return snw_fail_memory(u->err);
    for (const snw_element *w = snw_element_child(m->root, "worldbody"); w;
         w = snw_element_again(w)) {
        SNW_TRY(read_bodies(m, w, -1, m->main, snw_se3_identity()));
        SNW_TRY(note_children(m, w));
    }
    for (const snw_element *w = snw_element_child(m->root, "worldbody"); w;
         w = snw_element_again(w)) {
        if (count_geoms(w) == 0 || u->opts->shapes == SNW_IMPORT_NO_SHAPES) continue;
        const bool taken = snw_imported_find_link(u->r, "surroundings") >= 0;
        snw_imported_link *link = snw_import_link(u, w, "surroundings");
        SNW_TRY(snw_import_shapes(u, link, count_geoms(w)));
        SNW_TRY(read_geoms(m, w, m->main, snw_se3_identity(), false, link));
        snw_import_choose_shapes(u, link);
        if (link->nshape == 0 || taken) u->r->nlink--;
    }
    if (u->r->nlink == 0) return SNW_IMPORT_FAIL(u, m->root, "the robot has no body");
    return SNW_OK;
}

// ---- actuators ----------------------------------------------------------------------------------

// gain and bias of an actuator before its gear
static snw_status read_gains(const mjcf_reader *m, const snw_element *e, int class,
                             snw_imported_actuator *a, bool *known) {
    double gain[10] = {1}, bias[10] = {0}, k = 1, kv = 0;
    int n, nbias;
    *known = true;
    a->gain = 1;
    if (is_named(e, "motor")) return SNW_OK;
    SNW_TRY(mjcf_numbers(m, e, class, "gainprm", 1, 10, gain, &n));
    SNW_TRY(mjcf_numbers(m, e, class, "biasprm", 1, 10, bias, &nbias));
    k = gain[0];
    if (is_named(e, "position")) {
        SNW_TRY(mjcf_number(m, e, class, "kp", &k));
        SNW_TRY(mjcf_number(m, e, class, "kv", &kv));
        a->gain = k, a->bias[1] = -k, a->bias[2] = -kv;
        *known = !word_of(m, e, class, "dampratio", NULL);
        return SNW_OK;
    }
    if (is_named(e, "velocity")) {
        SNW_TRY(mjcf_number(m, e, class, "kv", &k));
        a->gain = k, a->bias[2] = -k;
        return SNW_OK;
    }
    const char *gaintype = word_of(m, e, class, "gaintype", "fixed"),
               *biastype = word_of(m, e, class, "biastype", "none"),
               *dyntype = word_of(m, e, class, "dyntype", "none");
    const bool affine = strcmp(biastype, "affine") == 0;
    *known = strcmp(gaintype, "fixed") == 0 && strcmp(dyntype, "none") == 0 &&
             (affine || strcmp(biastype, "none") == 0);
    a->gain = k;
    for (int i = 0; i < 3 && affine; i++) a->bias[i] = bias[i];
    return SNW_OK;
}

static bool is_limited(const mjcf_reader *m, const snw_element *e, int class, const char *key,
                       bool given) {
    const char *limited = word_of(m, e, class, key, "auto");
    return given &&
           (strcmp(limited, "true") == 0 || (strcmp(limited, "auto") == 0 && !m->no_autolimits));
}

static snw_status read_motor(const mjcf_reader *m, const snw_element *e) {
    snw_importer *u = m->u;
    snw_imported_robot *r = u->r;
    int class, n;
    SNW_TRY(class_of(m, e, "class", m->main, &class));
    const char *joint = word_of(m, e, class, "joint", NULL),
               *name = snw_element_attribute(e, "name");
    const int of = joint ? snw_imported_find_joint(r, joint) : -1;
    snw_imported_actuator a = {.line = e->line, .joint = of};
    bool known =
        is_actuator(e->name) && of >= 0 &&
        (r->joint[of].kind == SNW_IMPORTED_REVOLUTE || r->joint[of].kind == SNW_IMPORTED_PRISMATIC);
    if (known) SNW_TRY(read_gains(m, e, class, &a, &known));
    if (!known) {
        SNW_IMPORT_NOTE(
            u, e,
            "actuator '%.80s' (<%.60s>) is left out: motors and servos of one joint are "
            "carried over",
            name ? name : "", e->name);
        return SNW_OK;
    }
    double gear[6] = {1};
    SNW_TRY(mjcf_numbers(m, e, class, "gear", 1, 6, gear, &n));
    SNW_TRY(mjcf_numbers(m, e, class, "ctrlrange", 2, 2, a.range, &n));
    a.ranged = is_limited(m, e, class, "ctrllimited", n > 0) && a.range[0] < a.range[1];
    SNW_TRY(mjcf_numbers(m, e, class, "forcerange", 2, 2, a.force, &n));
    a.bounded = is_limited(m, e, class, "forcelimited", n > 0) && a.force[0] < a.force[1];
    // the effort is the gear times the force, whose length is the gear times the coordinate
    a.bias[0] += a.bias[1] * gear[0] * m->ref[of];
    a.bias[0] *= gear[0];
    a.bias[1] *= gear[0] * gear[0];
    a.bias[2] *= gear[0] * gear[0];
    a.gain *= gear[0];
    const double low = a.force[0] * gear[0], high = a.force[1] * gear[0];
    a.force[0] = fmin(low, high), a.force[1] = fmax(low, high);
    a.name = name && *name ? name : snw_pool_format(r->pool, "%s_motor", joint);
    if (!a.name) return snw_fail_memory(u->err);
    r->actuator[r->nactuator++] = a;
    return SNW_OK;
}

static snw_status read_actuators(const mjcf_reader *m) {
    int most = 0;
    for (const snw_element *s = snw_element_child(m->root, "actuator"); s; s = snw_element_again(s))
        for (const snw_element *e = s->child; e; e = e->next) most++;
    if (most > SNW_IMPORT_PARTS)
        return SNW_IMPORT_FAIL(m->u, m->root, "at most %d actuators are read",
                               (int)SNW_IMPORT_PARTS);
    m->u->r->actuator = snw_pool_array(m->u->r->pool, (size_t)most + 1, sizeof *m->u->r->actuator);
    if (!m->u->r->actuator) return snw_fail_memory(m->u->err);
    for (const snw_element *s = snw_element_child(m->root, "actuator"); s; s = snw_element_again(s))
        for (const snw_element *e = s->child; e; e = e->next) SNW_TRY(read_motor(m, e));
    return SNW_OK;
}

// ---- constraints --------------------------------------------------------------------------------

static snw_status equality_body(const mjcf_reader *m, const snw_element *e, const char *key,
                                bool required, int *out) {
    const char *name = snw_element_attribute(e, key);
    *out = -1;
    if (!name && !required) return SNW_OK;
    if (name && strcmp(name, "world") == 0) return SNW_OK;
    *out = name ? snw_imported_find_link(m->u->r, name) : -1;
    if (*out >= 0) return SNW_OK;
    return SNW_IMPORT_FAIL(m->u, e, "<%.60s>: there is no body '%.80s'", e->name, name ? name : "");
}

// Pose of body b in body a, with all joints at zero.
static snw_se3 pose_between(const mjcf_reader *m, int a, int b) {
    return snw_se3_mul(snw_se3_inv(snw_imported_link_pose(m->u->r, a)),
                       snw_imported_link_pose(m->u->r, b));
}

static snw_status read_loop(const mjcf_reader *m, const snw_element *e, int class) {
    snw_imported_robot *r = m->u->r;
    const bool weld = is_named(e, "weld");
    snw_imported_loop l = {.line = e->line,
                           .kind = weld ? SNW_IMPORTED_FIXED : SNW_IMPORTED_SPHERICAL};
    double anchor[3] = {0}, relative[7] = {0};
    int n;
    SNW_TRY(equality_body(m, e, "body1", true, &l.link[0]));
    SNW_TRY(equality_body(m, e, "body2", false, &l.link[1]));
    snw_se3 g_12 = pose_between(m, l.link[0], l.link[1]);
    if (weld) {
        SNW_TRY(mjcf_numbers(m, e, class, "relpose", 7, 7, relative, &n));
        const snw_quat q = {{relative[3], relative[4], relative[5], relative[6]}};
        if (n > 0 && (q.w != 0 || q.x != 0 || q.y != 0 || q.z != 0))
            g_12 = (snw_se3){snw_quat_to_mat3(snw_quat_normalise(q)),
                             {{relative[0], relative[1], relative[2]}}};
        l.pose[0] = snw_imported_pose_of(g_12);
    } else {
        SNW_TRY(mjcf_numbers(m, e, class, "anchor", 3, 3, anchor, &n));
        const snw_vec3 at = {{anchor[0], anchor[1], anchor[2]}};
        const snw_vec3 there = snw_se3_point(snw_se3_inv(g_12), at);
        l.pose[0].by_quat = l.pose[1].by_quat = true;
        l.pose[0].quat = l.pose[1].quat = snw_quat_identity();
        memcpy(l.pose[0].xyz, at.e, sizeof at.e);
        memcpy(l.pose[1].xyz, there.e, sizeof there.e);
    }
    const char *name = snw_element_attribute(e, "name");
    l.name = name && *name ? name : snw_pool_format(r->pool, "%s_%d", e->name, r->nloop + 1);
    if (!l.name) return snw_fail_memory(m->u->err);
    r->loop[r->nloop++] = l;
    return SNW_OK;
}

// A polynomial between two joints: carried over where it is linear.
static snw_status read_coupling(const mjcf_reader *m, const snw_element *e, int class) {
    double c[5] = {0, 1, 0, 0, 0};
    int n;
    const char *one, *two = snw_element_attribute(e, "joint2");
    SNW_TRY(snw_element_required(e, "joint1", &one, m->u->err));
    SNW_TRY(mjcf_numbers(m, e, class, "polycoef", 1, 5, c, &n));
    const int a = snw_imported_find_joint(m->u->r, one),
              b = two ? snw_imported_find_joint(m->u->r, two) : -1;
    if (a < 0 || (two && b < 0))
        return SNW_IMPORT_FAIL(m->u, e, "there is no joint '%.80s'", a < 0 ? one : two);
    if (b < 0 || a == b || c[2] != 0 || c[3] != 0 || c[4] != 0) {
        SNW_IMPORT_NOTE(m->u, e,
                        "the coupling of joint '%.80s' is left out: only linear ones of two joints "
                        "are carried over",
                        one);
        return SNW_OK;
    }
    snw_imported_joint *j = &m->u->r->joint[a];
    j->ratio = c[1];
    j->offset = c[0];
    return snw_import_mimic(m->u, e, j, b);
}

static snw_status read_equalities(const mjcf_reader *m) {
    snw_importer *u = m->u;
    int most = 0;
    for (const snw_element *s = snw_element_child(m->root, "equality"); s; s = snw_element_again(s))
        for (const snw_element *e = s->child; e; e = e->next) most++;
    if (most > SNW_IMPORT_PARTS)
        return SNW_IMPORT_FAIL(u, m->root, "at most %d constraints are read",
                               (int)SNW_IMPORT_PARTS);
    u->r->loop = snw_pool_array(u->r->pool, (size_t)most + 1, sizeof *u->r->loop);
    if (!u->r->loop) return snw_fail_memory(u->err);
    for (const snw_element *s = snw_element_child(m->root, "equality"); s;
         s = snw_element_again(s)) {
        for (const snw_element *e = s->child; e; e = e->next) {
            int class;
            SNW_TRY(class_of(m, e, "class", m->main, &class));
            const char *active = word_of(m, e, class, "active", "true");
            const bool loop = (is_named(e, "connect") || is_named(e, "weld")) &&
                              snw_element_attribute(e, "body1");
            if (strcmp(active, "false") == 0)
                SNW_IMPORT_NOTE(u, e, "<%.60s> is not active in the file, it is left out", e->name);
            else if (loop)
                SNW_TRY(read_loop(m, e, class));
            else if (is_named(e, "joint"))
                SNW_TRY(read_coupling(m, e, class));
            else
                SNW_IMPORT_NOTE(u, e, "the constraint <%.60s> is left out", e->name);
        }
    }
    return SNW_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool is_true(const snw_element *e, const char *key, bool otherwise) {
    const char *value = snw_element_attribute(e, key);
    return value ? strcmp(value, "true") == 0 : otherwise;
}

static snw_status read_compiler(mjcf_reader *m, const snw_element *e) {
    const char *angle = snw_element_attribute(e, "angle"),
               *sequence = snw_element_attribute(e, "eulerseq"),
               *coordinate = snw_element_attribute(e, "coordinate"),
               *meshes = snw_element_attribute(e, "meshdir"),
               *assets = snw_element_attribute(e, "assetdir"),
               *inertia = snw_element_attribute(e, "inertiafromgeom");
    if (angle) m->radians = strcmp(angle, "radian") == 0;
    if (coordinate && strcmp(coordinate, "local") != 0)
        return SNW_IMPORT_FAIL(m->u, e, "coordinate=\"%.20s\" is not read; local is", coordinate);
    if (sequence) {
        if (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3)
            return SNW_IMPORT_FAIL(m->u, e, "eulerseq '%.20s' is not three of x y z X Y Z",
                                   sequence);
        m->sequence = sequence;
    }
    if (meshes || assets) m->mesh_folder = meshes ? meshes : assets;
    if (inertia)
        m->inertia_from_geoms = strcmp(inertia, "auto") == 0 ? 2 : strcmp(inertia, "true") == 0;
    m->no_autolimits = !is_true(e, "autolimits", !m->no_autolimits);
    m->strip_path = is_true(e, "strippath", m->strip_path);
    SNW_TRY(snw_element_numbers(e, "inertiagrouprange", 2, m->groups, m->u->err));
    static const char *const changes[] = {"boundmass", "boundinertia", "settotalmass",
                                          "balanceinertia"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (snw_element_attribute(e, changes[i]))
            SNW_IMPORT_NOTE(m->u, e, "'%s' is left out: masses are those of the file", changes[i]);
    }
    return SNW_OK;
}

static snw_status read_option(const mjcf_reader *m, const snw_element *e) {
    snw_imported_robot *r = m->u->r;
    if (snw_element_attribute(e, "gravity")) r->has_gravity = true;
    SNW_TRY(snw_element_numbers(e, "gravity", 3, r->gravity, m->u->err));
    const snw_element *flag = snw_element_child(e, "flag");
    const char *on = flag ? snw_element_attribute(flag, "gravity") : NULL;
    if (on && strcmp(on, "disable") == 0) {
        r->has_gravity = true;
        memset(r->gravity, 0, sizeof r->gravity);
    }
    double density = 0, viscosity = 0;
    SNW_TRY(snw_element_numbers(e, "density", 1, &density, m->u->err));
    SNW_TRY(snw_element_numbers(e, "viscosity", 1, &viscosity, m->u->err));
    if (density != 0 || viscosity != 0)
        SNW_IMPORT_NOTE(m->u, e, "the fluid around the robot is left out; give it under 'fluid'");
    return SNW_OK;
}

static snw_status note_sections(const mjcf_reader *m) {
    static const char *const told[][2] = {
        {"tendon", "a tendon through sites is an actuator with a 'path'"},
        {"sensor", "measure by 'probes'"},
        {"keyframe", "give a configuration under 'initial'"},
        {"contact", "give 'contacts'"},
        {"deformable", "rods have a model of their own"},
        {"extension", "plugins are those of another simulator"}};
    for (const snw_element *e = m->root->child; e; e = e->next) {
        for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
            if (is_named(e, told[i][0]) && e->child)
                SNW_IMPORT_NOTE(m->u, e, "<%s> is left out; %s", told[i][0], told[i][1]);
        }
    }
    return SNW_OK;
}

snw_status snw_mjcf_read(snw_element *root, const snw_import_opts *opts, snw_imported_robot *r,
                         snw_error *err) {
    snw_importer u = {.opts = opts, .r = r, .err = err};
    mjcf_reader reader = {.u = &u,
                          .root = root,
                          .main = -1,
                          .sequence = "xyz",
                          .inertia_from_geoms = 2,
                          .groups = {-1e9, 1e9}},
                *m = &reader;
    const char *name = snw_element_attribute(root, "model");
    r->name = name && *name ? name : "robot";
    r->gravity[2] = -9.81;
    SNW_TRY(expand(m, root, 0));
    m->class = snw_pool_array(r->pool, CLASSES_MOST, sizeof *m->class);
    if (!m->class) return snw_fail_memory(err);
    for (const snw_element *e = root->child; e; e = e->next) {
        if (is_named(e, "compiler")) SNW_TRY(read_compiler(m, e));
        if (is_named(e, "default")) SNW_TRY(add_class(m, e, -1));
        if (is_named(e, "option")) SNW_TRY(read_option(m, e));
    }
    SNW_TRY(read_world(m));
    SNW_TRY(read_actuators(m));
    SNW_TRY(read_equalities(m));
    return note_sections(m);
}
