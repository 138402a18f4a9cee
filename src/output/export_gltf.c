// SPDX-License-Identifier: MIT
//
// glTF 2.0 writer. Every track is a node with animated translation and rotation. A mesh whose
// vertices all follow one track is a child of its node. Other meshes are skins with one joint of
// weight one per vertex, so the rings of a rod are exactly at their computed poses. The bind pose
// is the first frame: bounds are correct, and a reader without skins shows the robot there.
//
// Conditional meshes have joints of their own below a node whose scale is one or zero; scaling
// shared joints would hide other meshes too.
#include "base/alloc.h"
#include "base/fail.h"
#include "output/base64.h"
#include "output/export_parts.h"
#include "output/json_field.h"

#include <float.h>
#include <string.h>

// Buffer views: stride in bytes and binding target; 0: none.
enum { INDICES, VECTORS, JOINTS, WEIGHTS, BINDS, MOTION, NVIEW };
static const struct {
    int stride, target;
} views[NVIEW] = {{0, 34963}, {12, 34962}, {8, 34962}, {4, 34962}, {0, 0}, {0, 0}};

enum { BYTE = 5121, SHORT = 5123, INT = 5125, FLOAT = 5126 };

typedef struct bytes {
    unsigned char *at;
    size_t n, room;
} bytes;

typedef struct accessor {
    int view, component, count;
    size_t offset;
    const char *type;
    int nbound; // components of the bounds
    float low[3], high[3];
} accessor;

typedef struct skin {
    int bind; // accessor
    int njoint, *joint;
} skin;

typedef struct node {
    const char *name;
    int track; // its pose, -1: none
    int mesh, skin;
    int first, nchild; // range of child nodes
    int visible_mesh;  // mesh whose visibility is its scale, -1: none
    bool top;          // child of "robot"
} node;

typedef struct sampler {
    int output;
    bool step;
} sampler;

typedef struct channel {
    int sampler, node;
    const char *path;
} channel;

typedef struct gltf {
    const snw_export *e;
    bytes part[NVIEW];
    bool failed; // memory is out
    int naccessor, nskin, nnode, nsampler, nchannel, nroot;
    accessor *accessor;
    skin *skin;
    node *node;
    sampler *sampler;
    channel *channel;
    int *root;       // nodes of the scene
    int *track_node; // ntrack: its node, -1: none
    int (*track_sampler)[2];
    struct {
        int position, normal, joints, weights, index;
    } * mesh;
    int input; // accessor of times, -1: no animation
    snw_mat3 up;
} gltf;

// ---- bytes -------------------------------------------------------------------------------------

static void put_bits(gltf *g, int view, uint32_t bits, int n) {
    bytes *b = &g->part[view];
    if (b->n + 4 > b->room) {
        const size_t room = b->room ? 2 * b->room : 4096;
        unsigned char *more = g->failed ? NULL : snw_alloc(room);
        if (!more) {
            g->failed = true;
            return;
        }
        if (b->n > 0) memcpy(more, b->at, b->n);
        snw_free(b->at);
        b->at = more;
        b->room = room;
    }
    for (int k = 0; k < n; k++) b->at[b->n++] = (unsigned char)(bits >> 8 * k & 0xFF);
}

static void put_float(gltf *g, int view, double x) {
    const float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    put_bits(g, view, bits, 4);
}

static void put_vector(gltf *g, int view, snw_vec3 v) {
    for (int k = 0; k < 3; k++) put_float(g, view, v.e[k]);
}

// Begin a new accessor at the end of a view; returns its index.
static int gltf_begin(gltf *g, int view, int component, const char *type) {
    g->accessor[g->naccessor] =
        (accessor){.view = view, .component = component, .type = type, .offset = g->part[view].n};
    return g->naccessor++;
}

static void gltf_end(gltf *g, int index, int count) {
    g->accessor[index].count = count;
    while (!g->failed && g->part[g->accessor[index].view].n % 4 != 0) {
        put_bits(g, g->accessor[index].view, 0, 1);
    }
}

static void gltf_bound(accessor *a, int n, const double *x) {
    for (int k = 0; k < n; k++) {
        const float v = (float)x[k];
        a->low[k] = a->nbound == 0 || v < a->low[k] ? v : a->low[k];
        a->high[k] = a->nbound == 0 || v > a->high[k] ? v : a->high[k];
    }
    a->nbound = n;
}

// ---- poses -------------------------------------------------------------------------------------

static snw_se3 gltf_pose(const gltf *g, int frame, int track) {
    const snw_se3 p = snw_export_pose(g->e, frame, track);
    return (snw_se3){snw_mat3_mul(g->up, p.R), snw_rotate(g->up, p.p)};
}

// ---- meshes ------------------------------------------------------------------------------------

static void put_shape(gltf *g, int index, bool skinned) {
    const snw_mesh *m = &g->e->mesh[index];
    g->mesh[index].position = gltf_begin(g, VECTORS, FLOAT, "VEC3");
    for (int i = 0; i < m->nvertex; i++) {
        const snw_vec3 at =
            skinned ? snw_se3_point(gltf_pose(g, 0, m->track[i]), m->at[i]) : m->at[i];
        gltf_bound(&g->accessor[g->mesh[index].position], 3, at.e);
        put_vector(g, VECTORS, at);
    }
    gltf_end(g, g->mesh[index].position, m->nvertex);
    g->mesh[index].normal = gltf_begin(g, VECTORS, FLOAT, "VEC3");
    for (int i = 0; i < m->nvertex; i++) {
        put_vector(g, VECTORS,
                   skinned ? snw_rotate(gltf_pose(g, 0, m->track[i]).R, m->normal[i])
                           : m->normal[i]);
    }
    gltf_end(g, g->mesh[index].normal, m->nvertex);
    const int wide = m->nvertex < 65535 ? 2 : 4;
    g->mesh[index].index = gltf_begin(g, INDICES, wide == 2 ? SHORT : INT, "SCALAR");
    for (int i = 0; i < m->nindex; i++) put_bits(g, INDICES, (uint32_t)m->index[i], wide);
    gltf_end(g, g->mesh[index].index, m->nindex);
}

// Inverse of a pose, a 4x4 matrix in column-major order.
static void put_bind(gltf *g, snw_se3 p) {
    const snw_se3 inverse = snw_se3_inv(p);
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < 3; r++) {
            put_float(g, BINDS, c < 3 ? inverse.R.e[r][c] : inverse.p.e[r]);
        }
        put_float(g, BINDS, c < 3 ? 0 : 1);
    }
}

// Node of a track: the shared one, or a new one when `own`.
static int track_node(gltf *g, int track, bool own) {
    if (!own && g->track_node[track] >= 0) return g->track_node[track];
    const snw_track *t = &g->e->track[track];
    g->node[g->nnode] = (node){.name = t->a < 0 ? "world" : g->e->info->node_link[t->a],
                               .track = track,
                               .mesh = -1,
                               .skin = -1,
                               .visible_mesh = -1,
                               .top = !own};
    if (!own) g->track_node[track] = g->nnode;
    return g->nnode++;
}

// Joints of a mesh and the joint of each vertex. joint (ntrack): scratch.
static void put_skin(gltf *g, int index, int *joint) {
    const snw_mesh *m = &g->e->mesh[index];
    skin *s = &g->skin[g->nskin];
    s->bind = gltf_begin(g, BINDS, FLOAT, "MAT4");
    g->mesh[index].joints = gltf_begin(g, JOINTS, SHORT, "VEC4");
    for (int i = 0; i < g->e->ntrack; i++) joint[i] = -1;
    for (int i = 0; i < m->nvertex; i++) {
        const int track = m->track[i];
        if (joint[track] < 0) {
            joint[track] = s->njoint;
            s->joint[s->njoint++] = track_node(g, track, snw_export_is_conditional(g->e, m));
            put_bind(g, gltf_pose(g, 0, track));
        }
        for (int k = 0; k < 4; k++) put_bits(g, JOINTS, k == 0 ? (uint32_t)joint[track] : 0, 2);
    }
    gltf_end(g, g->mesh[index].joints, m->nvertex);
    gltf_end(g, s->bind, s->njoint);
    g->mesh[index].weights = gltf_begin(g, WEIGHTS, BYTE, "VEC4");
    for (int i = 0; i < m->nvertex; i++) put_bits(g, WEIGHTS, 255, 4);
    gltf_end(g, g->mesh[index].weights, m->nvertex);
    g->nskin++;
}

// Node of a mesh, and the scaled parent node of a conditional mesh.
static void put_mesh(gltf *g, int index, int *joint) {
    const snw_mesh *m = &g->e->mesh[index];
    const int track = snw_export_only_track(m), first = g->nnode;
    g->mesh[index].joints = -1;
    put_shape(g, index, track < 0);
    if (track < 0) {
        g->skin[g->nskin].joint =
            snw_pool_array(g->e->pool, (size_t)g->e->ntrack, sizeof *g->skin->joint);
        if (!g->skin[g->nskin].joint) g->failed = true;
        if (g->failed) return;
        put_skin(g, index, joint);
    }
    const node leaf = {.name = m->name,
                       .track = track,
                       .mesh = index,
                       .skin = track < 0 ? g->nskin - 1 : -1,
                       .visible_mesh = -1,
                       .top = track >= 0 && !snw_export_is_conditional(g->e, m)};
    // skinned meshes are roots of the scene: only their joints determine the pose
    if (track < 0) g->root[g->nroot++] = g->nnode;
    g->node[g->nnode++] = leaf;
    if (!snw_export_is_conditional(g->e, m)) return;
    const int nchild = g->nnode - first - (track < 0);
    g->node[g->nnode++] = (node){.name = m->name,
                                 .track = -1,
                                 .mesh = -1,
                                 .skin = -1,
                                 .first = first,
                                 .nchild = nchild,
                                 .visible_mesh = index,
                                 .top = true};
}

// ---- motion ------------------------------------------------------------------------------------

// Playback times, strictly increasing in single precision.
static void put_times(gltf *g) {
    const snw_export *e = g->e;
    double *clock = snw_pool_array(e->pool, (size_t)e->n, sizeof *clock);
    float last = 0;
    g->input = gltf_begin(g, MOTION, FLOAT, "SCALAR");
    if (!clock) g->failed = true;
    if (g->failed) return;
    snw_export_playback_times(e, SNW_EXPORT_REPEAT_FRACTION, SNW_EXPORT_REPEAT_TIME, clock);
    for (int k = 0; k < e->n; k++) {
        const float now = (float)clock[k];
        last = k > 0 && !(now > last) ? nextafterf(last, FLT_MAX) : now;
        const double shown = last;
        gltf_bound(&g->accessor[g->input], 1, &shown);
        put_float(g, MOTION, shown);
    }
    gltf_end(g, g->input, e->n);
}

static int add_sampler(gltf *g, int output, bool step) {
    g->sampler[g->nsampler] = (sampler){output, step};
    return g->nsampler++;
}

// samplers <- translation and rotation of a track; -1: it does not move
static void move_track(gltf *g, int track, int samplers[2]) {
    const snw_export *e = g->e;
    const snw_se3 start = gltf_pose(g, 0, track);
    bool is_static = true;
    samplers[0] = samplers[1] = -1;
    for (int k = 1; is_static && k < e->n; k++) {
        const snw_se3 p = gltf_pose(g, k, track);
        is_static = snw_export_same_pose(e, &start, &p);
    }
    if (is_static) return;
    const int shift = gltf_begin(g, MOTION, FLOAT, "VEC3");
    for (int k = 0; k < e->n; k++) put_vector(g, MOTION, gltf_pose(g, k, track).p);
    gltf_end(g, shift, e->n);
    const int turn = gltf_begin(g, MOTION, FLOAT, "VEC4");
    snw_quat last = snw_quat_identity();
    for (int k = 0; k < e->n; k++) {
        const snw_quat q = snw_quat_from_mat3(gltf_pose(g, k, track).R);
        // of q and -q the one nearer to the last, for readers that interpolate components
        const double s = q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0 ? -1 : 1;
        last = (snw_quat){{s * q.w, s * q.x, s * q.y, s * q.z}};
        const double xyzw[4] = {last.x, last.y, last.z, last.w};
        for (int i = 0; i < 4; i++) put_float(g, MOTION, xyzw[i]);
    }
    gltf_end(g, turn, e->n);
    samplers[0] = add_sampler(g, shift, false);
    samplers[1] = add_sampler(g, turn, false);
}

// Sampler of the visibility of a mesh, as a scale.
static int move_scale(gltf *g, int mesh) {
    const int output = gltf_begin(g, MOTION, FLOAT, "VEC3");
    for (int k = 0; k < g->e->n; k++) {
        const double s = snw_export_is_visible(g->e, k, &g->e->mesh[mesh]) ? 1 : 0;
        put_vector(g, MOTION, (snw_vec3){{s, s, s}});
    }
    gltf_end(g, output, g->e->n);
    return add_sampler(g, output, true);
}

static void put_motion(gltf *g) {
    const int unknown = -2;
    for (int i = 0; i < g->e->ntrack; i++) g->track_sampler[i][0] = unknown;
    for (int i = 0; i < g->nnode && !g->failed; i++) {
        const node *n = &g->node[i];
        if (n->visible_mesh >= 0) {
            g->channel[g->nchannel++] = (channel){move_scale(g, n->visible_mesh), i, "scale"};
        }
        if (n->track < 0) continue;
        int *s = g->track_sampler[n->track];
        if (s[0] == unknown) move_track(g, n->track, s);
        if (s[0] < 0) continue;
        g->channel[g->nchannel++] = (channel){s[0], i, "translation"};
        g->channel[g->nchannel++] = (channel){s[1], i, "rotation"};
    }
    if (g->nchannel > 0) put_times(g);
}

// ---- JSON --------------------------------------------------------------------------------------

static void write_nodes(const gltf *g, snw_json *j) {
    snw_field_list(j, "nodes");
    for (int i = 0; i < g->nnode; i++) {
        const node *n = &g->node[i];
        snw_json_object(j);
        snw_field_text(j, "name", n->name);
        if (n->mesh >= 0) snw_field_integer(j, "mesh", n->mesh);
        if (n->skin >= 0) snw_field_integer(j, "skin", n->skin);
        if (n->track >= 0) {
            const snw_se3 p = gltf_pose(g, 0, n->track);
            const snw_quat q = snw_quat_from_mat3(p.R);
            snw_field_numbers(j, "translation", 3, p.p.e);
            snw_field_numbers(j, "rotation", 4, (const double[]){q.x, q.y, q.z, q.w});
        }
        if (n->visible_mesh >= 0) {
            const double s = snw_export_is_visible(g->e, 0, &g->e->mesh[n->visible_mesh]) ? 1 : 0;
            snw_field_numbers(j, "scale", 3, (const double[]){s, s, s});
        }
        if (n->nchild > 0) {
            snw_field_list(j, "children");
            for (int k = 0; k < n->nchild; k++) snw_json_integer(j, n->first + k);
            snw_json_close(j);
        }
        snw_json_close(j);
    }
    // one common root node, as required for the joints of a skin
    snw_json_object(j);
    snw_field_text(j, "name", "robot");
    bool any = false;
    for (int i = 0; i < g->nnode; i++) {
        if (!g->node[i].top) continue;
        if (!any) snw_field_list(j, "children");
        any = true;
        snw_json_integer(j, i);
    }
    if (any) snw_json_close(j);
    snw_json_close(j);
    snw_json_close(j);
}

static bool is_used(const gltf *g, int paint) {
    for (int i = 0; i < g->e->nmesh; i++) {
        if ((int)g->e->mesh[i].paint == paint) return true;
    }
    return false;
}

static int material_number(const gltf *g, int paint) {
    int n = 0;
    for (int i = 0; i < paint; i++) n += is_used(g, i);
    return n;
}

static void write_meshes(const gltf *g, snw_json *j) {
    snw_field_list(j, "meshes");
    for (int i = 0; i < g->e->nmesh; i++) {
        snw_json_object(j);
        snw_field_text(j, "name", g->e->mesh[i].name);
        snw_field_list(j, "primitives");
        snw_json_object(j);
        snw_field_object(j, "attributes");
        snw_field_integer(j, "POSITION", g->mesh[i].position);
        snw_field_integer(j, "NORMAL", g->mesh[i].normal);
        if (g->mesh[i].joints >= 0) {
            snw_field_integer(j, "JOINTS_0", g->mesh[i].joints);
            snw_field_integer(j, "WEIGHTS_0", g->mesh[i].weights);
        }
        snw_json_close(j);
        snw_field_integer(j, "indices", g->mesh[i].index);
        snw_field_integer(j, "material", material_number(g, (int)g->e->mesh[i].paint));
        snw_json_close(j);
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void write_skins(const gltf *g, snw_json *j) {
    if (g->nskin == 0) return;
    snw_field_list(j, "skins");
    for (int i = 0; i < g->nskin; i++) {
        snw_json_object(j);
        snw_field_integer(j, "inverseBindMatrices", g->skin[i].bind);
        snw_field_list(j, "joints");
        for (int k = 0; k < g->skin[i].njoint; k++) snw_json_integer(j, g->skin[i].joint[k]);
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void write_materials(const gltf *g, snw_json *j) {
    snw_field_list(j, "materials");
    for (int i = 0; i < SNW_NPAINT; i++) {
        if (!is_used(g, i)) continue;
        const snw_paint_colour colour = snw_export_colour(g->e, (snw_paint)i);
        snw_json_object(j);
        snw_field_text(j, "name", colour.name);
        snw_field_object(j, "pbrMetallicRoughness");
        snw_field_numbers(j, "baseColorFactor", 4, colour.rgba);
        snw_field_number(j, "metallicFactor", 0.05);
        snw_field_number(j, "roughnessFactor", 0.55);
        snw_json_close(j);
        if (colour.rgba[3] < 1) snw_field_text(j, "alphaMode", "BLEND");
        if (i == SNW_PAINT_GROUND) {
            snw_field_bool(j, "doubleSided", true);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void write_animation(const gltf *g, snw_json *j) {
    if (g->nchannel == 0) return;
    snw_field_list(j, "animations");
    snw_json_object(j);
    snw_field_text(j, "name", g->e->info->run);
    snw_field_list(j, "samplers");
    for (int i = 0; i < g->nsampler; i++) {
        snw_json_object(j);
        snw_field_integer(j, "input", g->input);
        snw_field_integer(j, "output", g->sampler[i].output);
        if (g->sampler[i].step) snw_field_text(j, "interpolation", "STEP");
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "channels");
    for (int i = 0; i < g->nchannel; i++) {
        snw_json_object(j);
        snw_field_integer(j, "sampler", g->channel[i].sampler);
        snw_field_object(j, "target");
        snw_field_integer(j, "node", g->channel[i].node);
        snw_field_text(j, "path", g->channel[i].path);
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_json_close(j);
    snw_json_close(j);
}

// Index of a view among those that are not empty.
static int view_number(const gltf *g, int view) {
    int n = 0;
    for (int i = 0; i < view; i++) n += g->part[i].n > 0;
    return n;
}

static void write_accessors(const gltf *g, snw_json *j) {
    snw_field_list(j, "accessors");
    for (int i = 0; i < g->naccessor; i++) {
        const accessor *a = &g->accessor[i];
        snw_json_object(j);
        snw_field_integer(j, "bufferView", view_number(g, a->view));
        if (a->offset > 0) snw_field_integer(j, "byteOffset", (long long)a->offset);
        snw_field_integer(j, "componentType", a->component);
        if (a->component == BYTE) {
            snw_field_bool(j, "normalized", true);
        }
        snw_field_integer(j, "count", a->count);
        snw_field_text(j, "type", a->type);
        if (a->nbound > 0) {
            const double low[3] = {a->low[0], a->low[1], a->low[2]};
            const double high[3] = {a->high[0], a->high[1], a->high[2]};
            snw_field_numbers(j, "min", a->nbound, low);
            snw_field_numbers(j, "max", a->nbound, high);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
}

static size_t total_bytes(const gltf *g) {
    size_t n = 0;
    for (int i = 0; i < NVIEW; i++) n += g->part[i].n;
    return n;
}

static void write_views(const gltf *g, snw_json *j) {
    size_t offset = 0;
    snw_field_list(j, "bufferViews");
    for (int i = 0; i < NVIEW; i++) {
        if (g->part[i].n == 0) continue;
        snw_json_object(j);
        snw_field_integer(j, "buffer", 0);
        if (offset > 0) snw_field_integer(j, "byteOffset", (long long)offset);
        snw_field_integer(j, "byteLength", (long long)g->part[i].n);
        if (views[i].stride > 0) snw_field_integer(j, "byteStride", views[i].stride);
        if (views[i].target > 0) snw_field_integer(j, "target", views[i].target);
        snw_json_close(j);
        offset += g->part[i].n;
    }
    snw_json_close(j);
}

static void gltf_write_head(const gltf *g, snw_json *j) {
    snw_field_object(j, "asset");
    snw_field_text(j, "version", "2.0");
    snw_field_text(j, "generator", "sinew");
    snw_field_object(j, "extras");
    snw_field_text(j, "title", g->e->info->title);
    snw_field_text(j, "run", g->e->info->run);
    snw_field_text(j, "computed_by", g->e->version);
    snw_field_integer(j, "frames", g->e->total);
    snw_field_integer(j, "kept", g->e->n);
    snw_json_close(j);
    snw_json_close(j);
    snw_field_integer(j, "scene", 0);
    snw_field_list(j, "scenes");
    snw_json_object(j);
    snw_field_list(j, "nodes");
    snw_json_integer(j, g->nnode); // "robot"
    for (int i = 0; i < g->nroot; i++) snw_json_integer(j, g->root[i]);
    snw_json_close(j);
    snw_json_close(j);
    snw_json_close(j);
}

// The JSON document. uri: the data of the buffer; NULL: in the binary chunk.
static snw_status write_json(const gltf *g, const char *uri, snw_sink sink, snw_error *err) {
    snw_json j;
    snw_json_begin(&j, sink);
    snw_json_object(&j);
    gltf_write_head(g, &j);
    write_nodes(g, &j);
    write_meshes(g, &j);
    write_skins(g, &j);
    write_materials(g, &j);
    write_animation(g, &j);
    write_accessors(g, &j);
    write_views(g, &j);
    snw_field_list(&j, "buffers");
    snw_json_object(&j);
    snw_field_integer(&j, "byteLength", (long long)total_bytes(g));
    if (uri) snw_field_text(&j, "uri", uri);
    snw_json_close(&j);
    snw_json_close(&j);
    snw_json_close(&j);
    return snw_json_finish(&j, err);
}

// ---- files -------------------------------------------------------------------------------------

static bool put_words(snw_sink sink, int n, const uint32_t *word) {
    unsigned char text[32];
    for (int i = 0; i < 4 * n; i++) text[i] = (unsigned char)(word[i / 4] >> 8 * (i % 4) & 0xFF);
    return sink.write(sink.user, (const char *)text, (size_t)n * 4);
}

// glb: JSON and buffer as two chunks.
static snw_status write_binary(const gltf *g, snw_sink sink, snw_error *err) {
    const uint32_t magic = 0x46546C67, version = 2, is_json = 0x4E4F534A, is_binary = 0x004E4942;
    snw_buffer json = {0};
    SNW_TRY(write_json(g, NULL, snw_sink_buffer(&json), err));
    const size_t pad = (4 - json.size % 4) % 4, size = total_bytes(g);
    const size_t whole = 12 + 8 + json.size + pad + 8 + size;
    if (whole > UINT32_MAX) {
        return snw_fail(err, SNW_E_ARGUMENT, "a glb file has at most 4 GB: choose fewer --frames");
    }
    const uint32_t head[] = {magic, version, (uint32_t)whole, (uint32_t)(json.size + pad), is_json};
    const uint32_t next[] = {(uint32_t)size, is_binary};
    bool good = put_words(sink, 5, head);
    SNW_TRY(write_json(g, NULL, sink, err));
    good = good && (pad == 0 || sink.write(sink.user, "   ", pad)) && put_words(sink, 2, next);
    for (int i = 0; good && i < NVIEW; i++) {
        if (g->part[i].n > 0) good = sink.write(sink.user, (char *)g->part[i].at, g->part[i].n);
    }
    return good ? SNW_OK : snw_export_fail_sink(err);
}

// JSON with the buffer as a data URI.
static snw_status write_text(const gltf *g, snw_sink sink, snw_error *err) {
    static const char head[] = "data:application/octet-stream;base64,";
    const size_t room = sizeof head + 4 * (total_bytes(g) / 3 + 1);
    char *uri = snw_alloc(room);
    if (!uri) return snw_export_fail_memory(err);
    snw_base64 e;
    snw_buffer to = {uri, sizeof head - 1};
    memcpy(uri, head, sizeof head - 1);
    snw_base64_begin(&e, snw_sink_buffer(&to));
    for (int i = 0; i < NVIEW; i++) {
        for (size_t k = 0; k < g->part[i].n; k++) snw_base64_bits(&e, g->part[i].at[k], 1);
    }
    (void)snw_base64_end(&e); // a memory sink does not fail
    const snw_status s = write_json(g, uri, sink, err);
    snw_free(uri);
    return s;
}

static bool gltf_alloc(gltf *g) {
    const snw_export *e = g->e;
    snw_pool *pool = e->pool;
    size_t joints = (size_t)e->ntrack;
    for (int i = 0; i < e->nmesh; i++) {
        // own joints: at most one per vertex, and at most ntrack
        const int nvertex = e->mesh[i].nvertex;
        if (snw_export_is_conditional(e, &e->mesh[i]))
            joints += (size_t)(nvertex < e->ntrack ? nvertex : e->ntrack);
    }
    const size_t nmesh = (size_t)e->nmesh, nnode = joints + 2 * nmesh + 1;
    const size_t nsampler = 2 * (size_t)e->ntrack + nmesh;
    g->accessor = snw_pool_array(pool, 6 * nmesh + nsampler + 1, sizeof *g->accessor);
    g->skin = snw_pool_array(pool, nmesh + 1, sizeof *g->skin);
    g->node = snw_pool_array(pool, nnode, sizeof *g->node);
    g->sampler = snw_pool_array(pool, nsampler, sizeof *g->sampler);
    g->channel = snw_pool_array(pool, 2 * nnode, sizeof *g->channel);
    g->root = snw_pool_array(pool, nmesh + 1, sizeof *g->root);
    g->mesh = snw_pool_array(pool, nmesh, sizeof *g->mesh);
    g->track_node = snw_pool_array(pool, (size_t)e->ntrack, sizeof *g->track_node);
    g->track_sampler = snw_pool_array(pool, (size_t)e->ntrack, sizeof *g->track_sampler);
    return g->accessor && g->skin && g->node && g->sampler && g->channel && g->root && g->mesh &&
           g->track_node && g->track_sampler;
}

snw_status snw_export_gltf(snw_export *e, bool binary, snw_sink sink, snw_error *err) {
    gltf g = {.e = e, .up = snw_export_turn(snw_export_up(e), (snw_vec3){{0, 1, 0}}), .input = -1};
    int *joint = snw_pool_array(e->pool, (size_t)e->ntrack, sizeof *joint);
    if (!joint || !gltf_alloc(&g)) return snw_export_fail_memory(err);
    if (e->nmesh == 0) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is neither rod nor body to show");
    }
    for (int i = 0; i < e->ntrack; i++) g.track_node[i] = -1;
    for (int i = 0; i < e->nmesh && !g.failed; i++) put_mesh(&g, i, joint);
    if (e->n > 1 && !g.failed) put_motion(&g);
    const snw_status s = g.failed ? snw_export_fail_memory(err)
                         : binary ? write_binary(&g, sink, err)
                                  : write_text(&g, sink, err);
    for (int i = 0; i < NVIEW; i++) snw_free(g.part[i].at);
    return s;
}
