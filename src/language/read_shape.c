// SPDX-License-Identifier: MIT
//
// Reads solids: their kinds, sizes and poses, of obstacles and of the shapes of bodies; mass,
// centre and inertia of bodies that have several.
#include "language/read.h"

#include "base/fail.h"
#include "model/convex_hull.h"
#include "model/distance_grid.h"

#include <math.h>
#include <string.h>

// ---- sizes --------------------------------------------------------------------------------------

// Each size that the shape needs is given, and none that it does not have.
static snw_status check_sizes(snw_reader *r, const snw_shape_source *s,
                              const snw_obstacle_type *type) {
    for (int i = 0; i < s->nkey; i++) {
        const unsigned bit = 1U << (unsigned)i;
        if (!s->size[i] && type->needs & bit) {
            return snw_fail_at(r->err, s->shape->location, "the %s '%s' needs '%s', %s", type->name,
                               s->name, s->key[i].name, s->key[i].meaning);
        }
        if (s->size[i] && !(type->takes & bit)) {
            return snw_fail_at(r->err, s->size[i]->location, "the %s '%s' has no '%s'", type->name,
                               s->name, s->key[i].name);
        }
    }
    return SNW_OK;
}

static snw_status read_sizes(snw_reader *r, const snw_entry *const *e, snw_obstacle *o) {
    const snw_dim length = SNW_DIM_LENGTH;
    double whole = INFINITY;
    if (e[SNW_SHAPE_RADIUS])
        SNW_TRY(snw_read_positive(r, e[SNW_SHAPE_RADIUS]->value, "radius", length, &o->radius));
    if (e[SNW_SHAPE_SECTION])
        SNW_TRY(snw_read_positive(r, e[SNW_SHAPE_SECTION]->value, "section", length, &o->section));
    if (e[SNW_SHAPE_LENGTH])
        SNW_TRY(snw_read_positive(r, e[SNW_SHAPE_LENGTH]->value, "length", length, &whole));
    o->half.z = 0.5 * whole;
    if (e[SNW_SHAPE_SIZE]) {
        SNW_TRY(snw_read_vec3(r, e[SNW_SHAPE_SIZE]->value, "size", length, &o->half));
        for (int i = 0; i < 3; i++) {
            o->half.e[i] *= 0.5;
            if (o->half.e[i] > 0) continue;
            return snw_fail_at(r->err, e[SNW_SHAPE_SIZE]->location,
                               "'size' must be positive, got %g m", 2 * o->half.e[i]);
        }
    }
    if (o->kind == SNW_OBSTACLE_TORUS && !(o->section < o->radius)) {
        return snw_fail_at(r->err, e[SNW_SHAPE_SECTION]->location,
                           "'section' must be smaller than 'radius', %g m, or the torus has no "
                           "hole; got %g m",
                           o->radius, o->section);
    }
    if (!(snw_obstacle_table[o->kind].takes & SNW_SIZE_ROUNDING) || isinf(o->half.z)) return SNW_OK;
    const double least = o->kind == SNW_OBSTACLE_BOX ? fmin(o->half.x, fmin(o->half.y, o->half.z))
                                                     : fmin(o->radius, o->half.z);
    o->rounding = SNW_OBSTACLE_ROUNDING * least;
    if (!e[SNW_SHAPE_ROUNDING]) return SNW_OK;
    SNW_TRY(snw_read_positive(r, e[SNW_SHAPE_ROUNDING]->value, "rounding", length, &o->rounding));
    if (o->rounding <= least) return SNW_OK;
    return snw_fail_at(r->err, e[SNW_SHAPE_ROUNDING]->location,
                       "'rounding' must not exceed the smallest half width, %g m; got %g m", least,
                       o->rounding);
}

snw_status snw_read_shape(snw_reader *r, const snw_shape_source *s, double margin,
                          snw_obstacle *out) {
    SNW_TRY(check_sizes(r, s, &snw_obstacle_table[out->kind]));
    SNW_TRY(read_sizes(r, s->size, out));
    return snw_read_solid(r, s, margin, out);
}

snw_status snw_read_frame(snw_reader *r, const snw_entry *at, const snw_entry *axis,
                          const snw_entry *pose, snw_pose_desc *out) {
    if (pose) {
        if (!at && !axis) return snw_read_pose(r, pose->value, out);
        return snw_fail_at(r->err, pose->location, "'pose' is given instead of 'at' and 'axis'");
    }
    if (at) SNW_TRY(snw_read_laws(r, at->value, "at", SNW_DIM_LENGTH, SNW_VAR_T, out->xyz));
    if (!axis) return SNW_OK;
    snw_vec3 z, x, y;
    SNW_TRY(snw_read_direction(r, axis->value, "axis", &z));
    snw_joint_across(z, &x, &y);
    for (int i = 0; i < 3; i++) {
        out->R0.e[i][0] = x.e[i];
        out->R0.e[i][1] = y.e[i];
        out->R0.e[i][2] = z.e[i];
    }
    return SNW_OK;
}

// ---- shapes of a body ---------------------------------------------------------------------------

#define BODY_SHAPE_KEYS(X)                                                                         \
    X(BODY_SHAPE_SHAPE, "shape", "sphere, capsule, box, cylinder, mesh or hull",                   \
      "required; the axis of a capsule or cylinder is z")                                          \
    SNW_SHAPE_KEYS(X, BODY_SHAPE)                                                                  \
    X(BODY_SHAPE_AT, "at", "three lengths, m",                                                     \
      "its origin in the frame of the link: the centre of a sphere, capsule, box or cylinder; "    \
      "the "                                                                                       \
      "origin of the link unless given")                                                           \
    X(BODY_SHAPE_AXIS, "axis", "x y z or a vector", "direction of its z axis, z unless given")     \
    X(BODY_SHAPE_POSE, "pose", "a pose", "its pose, instead of 'at' and 'axis'")

enum { BODY_SHAPE_KEYS(SNW_KEY_CODE) BODY_SHAPE_N };
SNW_KEYS(body_shape, "shapes", "a shape of a body", BODY_SHAPE_KEYS);

static snw_status read_body_shape(snw_reader *r, const snw_node *node, const char *name,
                                  double margin, snw_body_solid *out) {
    const snw_entry *e[BODY_SHAPE_N];
    const char *word[SNW_OBSTACLE_COUNT];
    int kind = 0;
    for (int i = 0; i < SNW_OBSTACLE_COUNT; i++) word[i] = snw_obstacle_table[i].name;
    SNW_TRY(snw_read_map(r, node, &snw_keys_body_shape, e));
    const snw_entry *shape = e[BODY_SHAPE_SHAPE];
    if (!shape) {
        return snw_fail_at(r->err, node->location, "a shape of the body '%s' needs 'shape', %s",
                           name, snw_keys_body_shape.key[BODY_SHAPE_SHAPE].form);
    }
    SNW_TRY(snw_read_word(r, shape->value, "shape", SNW_OBSTACLE_COUNT, word, &kind));
    out->shape.kind = (snw_obstacle_kind)kind;
    if (kind == SNW_OBSTACLE_PLANE || kind == SNW_OBSTACLE_TORUS || kind == SNW_OBSTACLE_HEIGHT) {
        return snw_fail_at(r->err, shape->location,
                           "a %s is a shape of obstacles, not of bodies; use %s", word[kind],
                           snw_keys_body_shape.key[BODY_SHAPE_SHAPE].form);
    }
    if (kind == SNW_OBSTACLE_CYLINDER && !e[BODY_SHAPE_LENGTH])
        return snw_fail_at(r->err, shape->location, "the cylinder '%s' needs 'length'", name);
    snw_shape_source source = {.name = name,
                               .shape = shape,
                               .key = &snw_keys_body_shape.key[BODY_SHAPE_RADIUS],
                               .nkey = SNW_SHAPE_SECTION};
    memcpy(source.size, e + BODY_SHAPE_RADIUS, (size_t)source.nkey * sizeof *e);
    SNW_TRY(snw_read_shape(r, &source, margin, &out->shape));
    snw_pose_desc pose = snw_pose_desc_identity();
    SNW_TRY(snw_read_frame(r, e[BODY_SHAPE_AT], e[BODY_SHAPE_AXIS], e[BODY_SHAPE_POSE], &pose));
    if (snw_pose_desc_vars(&pose) != 0) {
        return snw_fail_at(r->err, node->location,
                           "a shape is fixed to its body, and its pose depends on t; give it to a "
                           "link of its own");
    }
    out->pose = snw_pose_desc_at(&pose, 0);
    return SNW_OK;
}

static snw_status read_body_list(snw_reader *r, const snw_entry *e, const char *name, double margin,
                                 int *n, snw_body_solid **out) {
    const snw_node *node = e->value;
    if (node->kind != SNW_NODE_LIST || node->n == 0) {
        return snw_fail_at(r->err, node->location,
                           "'%s' is a list of solids, e.g. [{shape: sphere, radius: 1 cm, at: "
                           "[0, 0, 2 cm]}]",
                           e->key);
    }
    *out = snw_pool_array(r->pool, (size_t)node->n, sizeof **out);
    if (!*out) return snw_read_memory(r);
    for (*n = 0; *n < node->n; (*n)++) {
        SNW_TRY(read_body_shape(r, node->entry[*n].value, name, margin, &(*out)[*n]));
    }
    return SNW_OK;
}

snw_status snw_read_body_shapes(snw_reader *r, const snw_entry *e, const char *name,
                                snw_body_desc *out) {
    out->several = true;
    return read_body_list(r, e, name, 0, &out->nsolid, &out->solid);
}

snw_status snw_read_body_visual(snw_reader *r, const snw_entry *e, const char *name,
                                snw_body_desc *out) {
    return read_body_list(r, e, name, -1, &out->nvisual, &out->visual);
}
