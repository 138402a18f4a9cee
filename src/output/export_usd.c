// SPDX-License-Identifier: MIT
//
// USD writer: a text layer (.usda). Parts that follow one track are meshes below an Xform with
// translation and rotation; rods, tendons, chambers and bars, which follow several, are BasisCurves
// through the centres of their sections, with widths. A rod whose section is not a circle has its
// surface too, as a mesh whose points are sampled, and its curve is a guide then.
//
// Time codes are 60 a second. USD interpolates samples linearly, and rotations along great circles.
#include "base/fail.h"
#include "output/export_parts.h"

#include <string.h>

enum { NAME_SIZE = 96, CODES_PER_SECOND = 60 };

typedef struct usd {
    const snw_export *e;
    snw_xml out;
    double *code; // n: time codes
    int nname;
    char (*name)[NAME_SIZE]; // of the prims below the robot
    bool *written;           // ntrack: there is an Xform
    const char *up;          // axis of the stage, "Y" or "Z"
    bool turned;             // the robot is turned by `turn`
    snw_mat3 turn;
} usd;

// ---- text --------------------------------------------------------------------------------------

static void usd_number(usd *u, double x) {
    char text[SNW_NUMBER_SIZE];
    snw_number_single(x, text);
    (void)snw_xml_bytes(&u->out, text, strlen(text));
}

// (x, y, z)
static void usd_tuple(usd *u, int n, const double *x) {
    for (int k = 0; k < n; k++) {
        snw_xml_print(&u->out, "%s", k == 0 ? "(" : ", ");
        usd_number(u, x[k]);
    }
    snw_xml_print(&u->out, ")");
}

// Text in quotes.
static void usd_text(usd *u, const char *text) {
    snw_xml_print(&u->out, "\"");
    for (const char *c = text; *c; c++) {
        const char plain = (unsigned char)*c < 0x20 ? ' ' : *c;
        if (plain == '"' || plain == '\\') snw_xml_print(&u->out, "\\");
        (void)snw_xml_bytes(&u->out, &plain, 1);
    }
    snw_xml_print(&u->out, "\"");
}

static void usd_indent(usd *u, int depth) { snw_xml_print(&u->out, "%*s", 4 * depth, ""); }

// name <- an identifier like `text` that no prim below the robot has: letters, digits and _, no
// digit first.
static void usd_name(usd *u, const char *text, char *name) {
    char base[NAME_SIZE - 12];
    size_t n = 0;
    if (!*text || (*text >= '0' && *text <= '9')) base[n++] = '_';
    for (const char *c = text; *c && n + 1 < sizeof base; c++) {
        const bool good = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || *c == '_';
        base[n++] = good ? *c : '_';
    }
    base[n] = '\0';
    (void)snprintf(name, NAME_SIZE, "%s", base);
    for (int again = 2, i = 0; i < u->nname; i++) {
        if (strcmp(u->name[i], name) != 0) continue;
        (void)snprintf(name, NAME_SIZE, "%s_%d", base, again++);
        i = -1;
    }
    memcpy(u->name[u->nname++], name, NAME_SIZE);
}

// Head of a prim, with its name in the model where the identifier differs; `bound`: it has a
// material.
static void usd_begin(usd *u, int depth, const char *type, const char *name, const char *own,
                      bool bound) {
    usd_indent(u, depth);
    snw_xml_print(&u->out, "def %s \"%s\"", type, name);
    if (bound || strcmp(name, own) != 0) {
        snw_xml_print(&u->out, " (\n");
        if (strcmp(name, own) != 0) {
            usd_indent(u, depth + 1);
            snw_xml_print(&u->out, "customData = { string name = ");
            usd_text(u, own);
            snw_xml_print(&u->out, " }\n");
        }
        if (bound) {
            usd_indent(u, depth + 1);
            snw_xml_print(&u->out, "prepend apiSchemas = [\"MaterialBindingAPI\"]\n");
        }
        usd_indent(u, depth);
        snw_xml_print(&u->out, ")");
    }
    snw_xml_print(&u->out, "\n");
    usd_indent(u, depth);
    snw_xml_print(&u->out, "{\n");
}

static void usd_end(usd *u, int depth) {
    usd_indent(u, depth);
    snw_xml_print(&u->out, "}\n");
}

// ---- samples -----------------------------------------------------------------------------------

// Value of an attribute in frame k; `of` says of what.
typedef void usd_value_fn(usd *u, const void *of, int k);

// An attribute: its value where it is constant, otherwise samples at all frames.
static void usd_attribute(usd *u, int depth, const char *declared, bool constant,
                          usd_value_fn *value, const void *of) {
    usd_indent(u, depth);
    if (constant) {
        snw_xml_print(&u->out, "%s = ", declared);
        value(u, of, 0);
        snw_xml_print(&u->out, "\n");
        return;
    }
    snw_xml_print(&u->out, "%s.timeSamples = {\n", declared);
    for (int k = 0; k < u->e->n && !u->out.failed; k++) {
        char time[SNW_NUMBER_SIZE];
        snw_number_text(u->code[k], time);
        usd_indent(u, depth + 1);
        snw_xml_print(&u->out, "%s: ", time);
        value(u, of, k);
        snw_xml_print(&u->out, ",\n");
    }
    usd_end(u, depth);
}

static void value_translate(usd *u, const void *of, int k) {
    usd_tuple(u, 3, snw_export_pose(u->e, k, *(const int *)of).p.e);
}

static void value_orient(usd *u, const void *of, int k) {
    const snw_quat q = snw_quat_from_mat3(snw_export_pose(u->e, k, *(const int *)of).R);
    usd_tuple(u, 4, (const double[]){q.w, q.x, q.y, q.z});
}

static void value_visibility(usd *u, const void *of, int k) {
    snw_xml_print(&u->out, "\"%s\"",
                  snw_export_is_visible(u->e, k, of) ? "inherited" : "invisible");
}

// Points of a list of places that each follow a track.
static void usd_points(usd *u, int n, const snw_mesh *m, bool vertices, int k) {
    int last = -1;
    snw_se3 g = snw_se3_identity();
    for (int i = 0; i < n; i++) {
        const int track = vertices ? m->track[i] : m->section[i].track;
        if (track != last) g = snw_export_pose(u->e, k, track);
        last = track;
        snw_xml_print(&u->out, "%s", i == 0 ? "[" : ", ");
        usd_tuple(u, 3, snw_se3_point(g, vertices ? m->at[i] : m->section[i].at).e);
    }
    snw_xml_print(&u->out, "]");
}

static void value_vertices(usd *u, const void *of, int k) {
    const snw_mesh *m = of;
    usd_points(u, m->nvertex, m, true, k);
}

static void value_centres(usd *u, const void *of, int k) {
    const snw_mesh *m = of;
    usd_points(u, m->nsection, m, false, k);
}

// ---- parts of a mesh ---------------------------------------------------------------------------

static void usd_visibility(usd *u, int depth, const snw_mesh *m) {
    if (!snw_export_is_conditional(u->e, m)) return;
    usd_attribute(u, depth, "token visibility", u->e->n == 1, value_visibility, m);
}

static void usd_material(usd *u, int depth, const snw_mesh *m) {
    const snw_paint_colour c = snw_export_colour(u->e, m->paint);
    usd_indent(u, depth);
    snw_xml_print(&u->out, "rel material:binding = </robot/looks/%s>\n", c.name);
    usd_indent(u, depth);
    snw_xml_print(&u->out, "color3f[] primvars:displayColor = [");
    usd_tuple(u, 3, c.rgba);
    snw_xml_print(&u->out, "]\n");
}

// Bounds of the points over all frames; `wide` is added on all sides.
static void usd_extent(usd *u, int depth, const snw_mesh *m, bool vertices, bool own, double wide) {
    snw_vec3 low = {.e = {0}}, high = {.e = {0}};
    const int n = vertices ? m->nvertex : m->nsection;
    for (int k = 0; k < (own ? 1 : u->e->n); k++) {
        int last = -1;
        snw_se3 g = snw_se3_identity();
        for (int i = 0; i < n; i++) {
            const int track = vertices ? m->track[i] : m->section[i].track;
            if (!own && track != last) g = snw_export_pose(u->e, k, track);
            last = track;
            const snw_vec3 p = snw_se3_point(g, vertices ? m->at[i] : m->section[i].at);
            for (int c = 0; c < 3; c++) {
                const bool first = k == 0 && i == 0;
                low.e[c] = first ? p.e[c] : fmin(low.e[c], p.e[c]);
                high.e[c] = first ? p.e[c] : fmax(high.e[c], p.e[c]);
            }
        }
    }
    for (int c = 0; c < 3; c++) low.e[c] -= wide, high.e[c] += wide;
    usd_indent(u, depth);
    snw_xml_print(&u->out, "float3[] extent = [");
    usd_tuple(u, 3, low.e);
    snw_xml_print(&u->out, ", ");
    usd_tuple(u, 3, high.e);
    snw_xml_print(&u->out, "]\n");
}

// Triangles of a mesh: counts and indices.
static void usd_faces(usd *u, int depth, const snw_mesh *m) {
    usd_indent(u, depth);
    snw_xml_print(&u->out, "int[] faceVertexCounts = [");
    for (int i = 0; i < m->nindex / 3; i++) snw_xml_print(&u->out, "%s", i == 0 ? "3" : ", 3");
    snw_xml_print(&u->out, "]\n");
    usd_indent(u, depth);
    snw_xml_print(&u->out, "int[] faceVertexIndices = [");
    for (int i = 0; i < m->nindex; i++) snw_xml_print(&u->out, i == 0 ? "%d" : ", %d", m->index[i]);
    snw_xml_print(&u->out, "]\n");
    usd_indent(u, depth);
    snw_xml_print(&u->out, "uniform token subdivisionScheme = \"none\"\n");
    if (m->paint == SNW_PAINT_GROUND) {
        usd_indent(u, depth);
        snw_xml_print(&u->out, "uniform bool doubleSided = true\n");
    }
}

// A mesh in the frame of its Xform.
static void usd_own_mesh(usd *u, int depth, const snw_mesh *m, const char *name) {
    usd_begin(u, depth, "Mesh", name, name, true);
    usd_extent(u, depth + 1, m, true, true, 0);
    usd_indent(u, depth + 1);
    snw_xml_print(&u->out, "point3f[] points = [");
    for (int i = 0; i < m->nvertex; i++) {
        if (i > 0) snw_xml_print(&u->out, ", ");
        usd_tuple(u, 3, m->at[i].e);
    }
    snw_xml_print(&u->out, "]\n");
    usd_indent(u, depth + 1);
    snw_xml_print(&u->out, "normal3f[] normals = [");
    for (int i = 0; i < m->nvertex; i++) {
        if (i > 0) snw_xml_print(&u->out, ", ");
        usd_tuple(u, 3, m->normal[i].e);
    }
    snw_xml_print(&u->out, "] (\n");
    usd_indent(u, depth + 2);
    snw_xml_print(&u->out, "interpolation = \"vertex\"\n");
    usd_indent(u, depth + 1);
    snw_xml_print(&u->out, ")\n");
    usd_faces(u, depth + 1, m);
    usd_visibility(u, depth + 1, m);
    usd_material(u, depth + 1, m);
    usd_end(u, depth);
}

// ---- prims -------------------------------------------------------------------------------------

// The Xform of a track with all meshes that follow it.
static void usd_body(usd *u, int track) {
    const snw_export *e = u->e;
    const snw_track *t = &e->track[track];
    const char *own = t->a < 0 ? "world" : e->info->node_link[t->a];
    char name[NAME_SIZE];
    const snw_se3 start = snw_export_pose(e, 0, track);
    bool constant = true;
    for (int k = 1; constant && k < e->n; k++) {
        const snw_se3 p = snw_export_pose(e, k, track);
        constant = snw_export_same_pose(e, &start, &p);
    }
    usd_name(u, own, name);
    usd_begin(u, 1, "Xform", name, own, false);
    usd_attribute(u, 2, "double3 xformOp:translate", constant, value_translate, &track);
    usd_attribute(u, 2, "quatf xformOp:orient", constant, value_orient, &track);
    usd_indent(u, 2);
    snw_xml_print(&u->out, "uniform token[] xformOpOrder = [\"xformOp:translate\", "
                           "\"xformOp:orient\"]\n");
    for (int i = 0, n = 0; i < e->nmesh; i++) {
        if (snw_export_only_track(&e->mesh[i]) != track) continue;
        char part[32] = "shape";
        if (n++ > 0) (void)snprintf(part, sizeof part, "shape_%d", n);
        usd_own_mesh(u, 2, &e->mesh[i], part);
    }
    usd_end(u, 1);
}

// A tube as a curve through the centres of its sections.
static void usd_curve(usd *u, const snw_mesh *m, bool guide) {
    char name[NAME_SIZE];
    double wide = 0;
    for (int i = 0; i < m->nsection; i++) wide = fmax(wide, m->section[i].radius);
    usd_name(u, m->name, name);
    usd_begin(u, 1, "BasisCurves", name, m->name, true);
    usd_extent(u, 2, m, false, false, wide);
    usd_indent(u, 2);
    snw_xml_print(&u->out, "uniform token type = \"linear\"\n");
    usd_indent(u, 2);
    snw_xml_print(&u->out, "int[] curveVertexCounts = [%d]\n", m->nsection);
    usd_attribute(u, 2, "point3f[] points", u->e->n == 1, value_centres, m);
    usd_indent(u, 2);
    snw_xml_print(&u->out, "float[] widths = [");
    for (int i = 0; i < m->nsection; i++) {
        if (i > 0) snw_xml_print(&u->out, ", ");
        usd_number(u, 2 * m->section[i].radius);
    }
    snw_xml_print(&u->out, "] (\n");
    usd_indent(u, 3);
    snw_xml_print(&u->out, "interpolation = \"vertex\"\n");
    usd_indent(u, 2);
    snw_xml_print(&u->out, ")\n");
    if (guide) {
        usd_indent(u, 2);
        snw_xml_print(&u->out, "uniform token purpose = \"guide\"\n");
    }
    usd_visibility(u, 2, m);
    usd_material(u, 2, m);
    usd_end(u, 1);
}

// A surface whose points move by themselves.
static void usd_surface(usd *u, const snw_mesh *m) {
    char name[NAME_SIZE], own[NAME_SIZE];
    (void)snprintf(own, sizeof own, "%.*s_surface", NAME_SIZE - 32, m->name);
    usd_name(u, own, name);
    usd_begin(u, 1, "Mesh", name, own, true);
    usd_extent(u, 2, m, true, false, 0);
    usd_attribute(u, 2, "point3f[] points", u->e->n == 1, value_vertices, m);
    usd_faces(u, 2, m);
    usd_visibility(u, 2, m);
    usd_material(u, 2, m);
    usd_end(u, 1);
}

static void usd_looks(usd *u) {
    usd_begin(u, 1, "Scope", "looks", "looks", false);
    for (int paint = 0; paint < SNW_NPAINT; paint++) {
        bool used = false;
        for (int i = 0; i < u->e->nmesh; i++) used = used || (int)u->e->mesh[i].paint == paint;
        if (!used) continue;
        const snw_paint_colour c = snw_export_colour(u->e, (snw_paint)paint);
        usd_begin(u, 2, "Material", c.name, c.name, false);
        usd_indent(u, 3);
        snw_xml_print(&u->out,
                      "token outputs:surface.connect = "
                      "</robot/looks/%s/surface.outputs:surface>\n",
                      c.name);
        usd_begin(u, 3, "Shader", "surface", "surface", false);
        usd_indent(u, 4);
        snw_xml_print(&u->out, "uniform token info:id = \"UsdPreviewSurface\"\n");
        usd_indent(u, 4);
        snw_xml_print(&u->out, "color3f inputs:diffuseColor = ");
        usd_tuple(u, 3, c.rgba);
        snw_xml_print(&u->out, "\n");
        usd_indent(u, 4);
        snw_xml_print(&u->out, "float inputs:opacity = ");
        usd_number(u, c.rgba[3]);
        snw_xml_print(&u->out, "\n");
        usd_indent(u, 4);
        snw_xml_print(&u->out, "float inputs:roughness = 0.55\n");
        usd_indent(u, 4);
        snw_xml_print(&u->out, "token outputs:surface\n");
        usd_end(u, 3);
        usd_end(u, 2);
    }
    usd_end(u, 1);
}

// ---- the layer ---------------------------------------------------------------------------------

static void usd_head(usd *u) {
    char end[SNW_NUMBER_SIZE];
    snw_number_text(u->code[u->e->n - 1], end);
    snw_xml_print(&u->out, "#usda 1.0\n(\n    defaultPrim = \"robot\"\n    doc = ");
    usd_text(u, *u->e->info->title ? u->e->info->title : u->e->info->run);
    snw_xml_print(&u->out, "\n    customLayerData = {\n        string creator = \"sinew\"\n");
    snw_xml_print(&u->out, "        string run = ");
    usd_text(u, u->e->info->run);
    snw_xml_print(&u->out, "\n        int frames = %d\n        int kept = %d\n    }\n", u->e->total,
                  u->e->n);
    snw_xml_print(&u->out, "    metersPerUnit = 1\n    upAxis = \"%s\"\n", u->up);
    snw_xml_print(&u->out, "    timeCodesPerSecond = %d\n    framesPerSecond = %d\n",
                  CODES_PER_SECOND, CODES_PER_SECOND);
    snw_xml_print(&u->out, "    startTimeCode = 0\n    endTimeCode = %s\n)\n\n", end);
}

static void usd_robot(usd *u) {
    const snw_export *e = u->e;
    usd_begin(u, 0, "Xform", "robot", "robot", false);
    if (u->turned) {
        const snw_quat q = snw_quat_from_mat3(u->turn);
        usd_indent(u, 1);
        snw_xml_print(&u->out, "quatf xformOp:orient = ");
        usd_tuple(u, 4, (const double[]){q.w, q.x, q.y, q.z});
        snw_xml_print(&u->out, "\n");
        usd_indent(u, 1);
        snw_xml_print(&u->out, "uniform token[] xformOpOrder = [\"xformOp:orient\"]\n");
    }
    (void)snprintf(u->name[u->nname++], NAME_SIZE, "looks");
    for (int i = 0; i < e->nmesh && !u->out.failed; i++) {
        const snw_mesh *m = &e->mesh[i];
        const int track = snw_export_only_track(m);
        if (track >= 0) {
            if (!u->written[track]) usd_body(u, track);
            u->written[track] = true;
            continue;
        }
        usd_curve(u, m, !m->circular);
        if (!m->circular) usd_surface(u, m);
    }
    usd_looks(u);
    usd_end(u, 0);
}

// The stage's axis is z or y; a robot with another vertical is turned.
static void usd_upright(usd *u) {
    const snw_vec3 up = snw_export_up(u->e), z = {{0, 0, 1}};
    u->up = up.y == 1 ? "Y" : "Z";
    u->turned = up.y != 1 && up.z != 1;
    if (u->turned) u->turn = snw_export_turn(up, z);
}

snw_status snw_export_usd(snw_export *e, snw_sink sink, snw_error *err) {
    if (e->nmesh == 0)
        return snw_fail(err, SNW_E_ARGUMENT, "there is neither rod nor body to show");
    const size_t most = 2 * (size_t)e->nmesh + 1;
    usd u = {.e = e,
             .out = {.sink = sink},
             .code = snw_pool_array(e->pool, (size_t)e->n, sizeof *u.code),
             .name = snw_pool_array(e->pool, most, sizeof *u.name),
             .written = snw_pool_array(e->pool, (size_t)e->ntrack, sizeof *u.written)};
    if (!u.code || !u.name || !u.written) return snw_export_fail_memory(err);
    snw_export_playback_times(e, SNW_EXPORT_REPEAT_FRACTION, SNW_EXPORT_REPEAT_TIME, u.code);
    // nine decimals, so that rounding does not show
    for (int k = 0; k < e->n; k++) u.code[k] = round(1e9 * CODES_PER_SECOND * u.code[k]) / 1e9;
    usd_upright(&u);
    usd_head(&u);
    usd_robot(&u);
    return u.out.failed ? snw_export_fail_sink(err) : SNW_OK;
}
