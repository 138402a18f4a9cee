// SPDX-License-Identifier: MIT
//
// Reads force elements between two sites: springs, cables, dampers and bushings.
#include "language/read.h"

#include "base/fail.h"

#include <math.h>

// The kinds come first, in the order of snw_force_element_kind.
#define SPRING_KEYS(X)                                                                             \
    X(SPRING_SPRING, "spring", "two ends", "pulls and pushes along the line between its ends")     \
    X(SPRING_CABLE, "cable", "two ends", "pulls only: a spring that goes slack")                   \
    X(SPRING_DAMPER, "damper", "two ends", "resists the rate of the distance of its ends")         \
    X(SPRING_BUSHING, "bushing", "two ends",                                                       \
      "resists displacement and rotation of the second end in the axes of the first")              \
    X(SPRING_REST, "rest", "m", "length without tension; required for a spring or a cable")        \
    X(SPRING_STIFFNESS, "stiffness", "N/m; of a bushing six, or 6 lists of 6",                     \
      "tension per elongation; of a bushing about x y z, N*m/rad, then along x y z, N/m")          \
    X(SPRING_FORCE, "force", "N, law of x and L",                                                  \
      "of a spring, instead of a stiffness: tension at the elongation x, with L the rest length")  \
    X(SPRING_DAMPING, "damping", "N*s/m; of a cable s/m; of a bushing six",                        \
      "tension per rate of the length; of a cable d: the tension is k x (1 + d times the rate)")   \
    X(SPRING_RESTITUTION, "restitution", "ratio and speed",                                        \
      "of a cable, instead of damping: ratio of the speeds after and before a jerk")               \
    X(SPRING_SMOOTH, "smooth", "m",                                                                \
      "elongation over which the tension of a cable sets in, 0.1 mm unless given")                 \
    X(SPRING_WHEN, "when", "a condition on t and probes",                                          \
      "acts while this holds; always unless given")

enum { SPRING_KEYS(SNW_KEY_CODE) SPRING_N };
SNW_KEYS(spring, "spring", "a spring, cable, damper or bushing", SPRING_KEYS);

static const snw_dim PER_LENGTH = {.kg = 1, .s = -2}, PER_SPEED = {.kg = 1, .s = -1},
                     PER_ANGLE = {.m = 2, .kg = 1, .s = -2}, PER_SPIN = {.m = 2, .kg = 1, .s = -1};

// A site, or a pose in the world as laws of t.
static snw_status read_end(snw_reader *r, const snw_node *node, const char *kind, int k,
                           snw_force_element_desc *out) {
    if (node->kind != SNW_NODE_MAP) return snw_read_site(r, node, kind, &out->end[k]);
    out->end[k] = (snw_site){
        .kind = SNW_SITE_WORLD, .link = -1, .pose = snw_se3_identity(), .location = node->location};
    out->has_pose[k] = true;
    return snw_read_pose(r, node, &out->pose[k]);
}

static snw_status refuse_key(snw_reader *r, const snw_entry *e, const snw_force_element_desc *d) {
    return snw_fail_at(r->err, e->location, "the %s '%s' takes no '%s'",
                       snw_force_element_table[d->kind].name, d->name, e->key);
}

// Refuses keys that the kind does not take.
static snw_status check_spring_keys(snw_reader *r, const snw_entry *const *e,
                                    const snw_force_element_desc *d) {
    static const struct {
        int key, option;
    } all[] = {{SPRING_REST, SNW_ELEMENT_TAKES_REST},
               {SPRING_FORCE, SNW_ELEMENT_TAKES_FORCE},
               {SPRING_STIFFNESS, SNW_ELEMENT_TAKES_STIFFNESS},
               {SPRING_RESTITUTION, SNW_ELEMENT_TAKES_RESTITUTION},
               {SPRING_SMOOTH, SNW_ELEMENT_TAKES_RESTITUTION}};
    const int options = snw_force_element_table[d->kind].options;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (e[all[i].key] && !(options & all[i].option)) return refuse_key(r, e[all[i].key], d);
    }
    return SNW_OK;
}

static snw_status need_key(snw_reader *r, const snw_entry *entry, const snw_force_element_desc *d,
                           int key) {
    return snw_fail_at(r->err, entry->location, "the %s '%s' needs '%s', %s",
                       snw_force_element_table[d->kind].name, d->name,
                       snw_keys_spring.key[key].name, snw_keys_spring.key[key].meaning);
}

// out <- six numbers of a bushing, none negative
static snw_status read_six(snw_reader *r, const snw_entry *e, snw_dim angular, snw_dim linear,
                           double out[6]) {
    SNW_TRY(snw_read_list(r, e->value, e->key, 6));
    for (int i = 0; i < 6; i++) {
        const snw_node *node = e->value->entry[i].value;
        SNW_TRY(snw_read_constant(r, node, e->key, i < 3 ? angular : linear, &out[i]));
        if (out[i] >= 0) continue;
        return snw_fail_at(r->err, node->location, "'%s' must not be negative, got %g", e->key,
                           out[i]);
    }
    return SNW_OK;
}

// *coupling <- entries beside the diagonal of six lists of six; they are in the units of their row
// and column: N m/rad, N/rad, N, N/m
static snw_status read_matrix(snw_reader *r, const snw_entry *e, double diagonal[6],
                              const double **coupling) {
    double *K = snw_pool_array(r->pool, 36, sizeof *K), L[36];
    if (!K) return snw_read_memory(r);
    SNW_TRY(snw_read_list(r, e->value, e->key, 6));
    for (int i = 0; i < 6; i++) {
        const snw_node *row = e->value->entry[i].value;
        SNW_TRY(snw_read_list(r, row, e->key, 6));
        for (int j = 0; j < 6; j++) {
            const snw_dim dim = {.m = (signed char)((i < 3) + (j < 3)), .kg = 1, .s = -2};
            SNW_TRY(snw_read_constant(r, row->entry[j].value, e->key, dim, &K[6 * i + j]));
        }
    }
    // symmetric and, by its Cholesky factor, without a direction of negative energy
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            const double a = K[6 * i + j], b = K[6 * j + i];
            if (fabs(a - b) > 1e-9 * sqrt(fabs(K[7 * i] * K[7 * j])))
                return snw_fail_at(r->err, e->value->location,
                                   "'%s' must be symmetric: row %d, column %d is %g, its mirror %g",
                                   e->key, i + 1, j + 1, a, b);
            K[6 * i + j] = K[6 * j + i] = 0.5 * (a + b);
        }
    }
    for (int j = 0; j < 6; j++) {
        double d = K[7 * j];
        for (int k = 0; k < j; k++) d -= L[6 * j + k] * L[6 * j + k];
        bool good = d >= -1e-9 * fabs(K[7 * j]);
        const bool zero = d <= 1e-9 * K[7 * j];
        L[7 * j] = zero ? 0 : sqrt(d);
        for (int i = j + 1; i < 6; i++) {
            double sum = K[6 * i + j];
            for (int k = 0; k < j; k++) sum -= L[6 * i + k] * L[6 * j + k];
            good = good && (!zero || fabs(sum) <= 1e-6 * sqrt(fabs(K[7 * i] * K[7 * j])));
            L[6 * i + j] = zero ? 0 : sum / L[7 * j];
        }
        if (!good)
            return snw_fail_at(r->err, e->value->location,
                               "'%s' must not be negative in any direction, and this matrix is",
                               e->key);
    }
    for (int i = 0; i < 6; i++) diagonal[i] = K[7 * i], K[7 * i] = 0;
    *coupling = K;
    return SNW_OK;
}

static snw_status read_bushing(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                               snw_force_element_desc *out) {
    if (!e[SPRING_STIFFNESS]) return need_key(r, entry, out, SPRING_STIFFNESS);
    const snw_node *stiffness = e[SPRING_STIFFNESS]->value;
    const bool matrix = stiffness->kind == SNW_NODE_LIST && stiffness->n > 0 &&
                        stiffness->entry[0].value->kind == SNW_NODE_LIST;
    SNW_TRY(matrix ? read_matrix(r, e[SPRING_STIFFNESS], out->axis_stiffness, &out->coupling)
                   : read_six(r, e[SPRING_STIFFNESS], PER_ANGLE, PER_LENGTH, out->axis_stiffness));
    return e[SPRING_DAMPING]
               ? read_six(r, e[SPRING_DAMPING], PER_SPIN, PER_SPEED, out->axis_damping)
               : SNW_OK;
}

static snw_status read_line(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                            snw_force_element_desc *out) {
    const snw_force_element_type *type = &snw_force_element_table[out->kind];
    if (type->options & SNW_ELEMENT_TAKES_REST) {
        if (!e[SPRING_REST]) return need_key(r, entry, out, SPRING_REST);
        SNW_TRY(snw_read_nonnegative(r, e[SPRING_REST], SNW_DIM_LENGTH, &out->rest));
    }
    if (e[SPRING_FORCE] && e[SPRING_STIFFNESS])
        return snw_fail_at(r->err, e[SPRING_FORCE]->location,
                           "the spring '%s' has 'stiffness' or 'force', not both", out->name);
    if (e[SPRING_FORCE]) {
        SNW_TRY(snw_read_law(r, e[SPRING_FORCE]->value, "force",
                             (snw_dim){.m = 1, .kg = 1, .s = -2}, SNW_VAR_X | SNW_VAR_L,
                             &out->force));
    } else if (e[SPRING_STIFFNESS]) {
        SNW_TRY(snw_read_positive(r, e[SPRING_STIFFNESS]->value, "stiffness", PER_LENGTH,
                                  &out->stiffness));
    } else if (type->options & SNW_ELEMENT_TAKES_STIFFNESS) {
        return need_key(r, entry, out, SPRING_STIFFNESS);
    }
    const snw_dim speed = {.m = 1, .s = -1}, per_speed = {.m = -1, .s = 1};
    if (e[SPRING_DAMPING] && e[SPRING_RESTITUTION])
        return snw_fail_at(r->err, e[SPRING_RESTITUTION]->location,
                           "the cable '%s' has 'damping' or 'restitution', not both", out->name);
    if (e[SPRING_RESTITUTION])
        SNW_TRY(snw_read_restitution(r, e[SPRING_RESTITUTION], speed, &out->damping));
    if (e[SPRING_DAMPING])
        SNW_TRY(snw_read_nonnegative(r, e[SPRING_DAMPING], type->one_sided ? per_speed : PER_SPEED,
                                     &out->damping));
    if (!e[SPRING_DAMPING] && (type->options & SNW_ELEMENT_NEEDS_DAMPING))
        return need_key(r, entry, out, SPRING_DAMPING);
    if (!e[SPRING_SMOOTH]) return SNW_OK;
    return snw_read_positive(r, e[SPRING_SMOOTH]->value, "smooth", SNW_DIM_LENGTH, &out->smooth);
}

static snw_status read_element(snw_reader *r, const snw_entry *entry, snw_force_element_desc *out) {
    const snw_entry *e[SPRING_N], *ends = NULL;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_spring, e));
    out->name = entry->key;
    out->location = entry->location;
    out->smooth = SNW_CONTACT_SMOOTH;
    for (int i = 0; i < SNW_ELEMENT_COUNT; i++) {
        if (!e[i]) continue;
        if (ends)
            return snw_fail_at(r->err, e[i]->location, "'%s' is a %s or a %s, not both", entry->key,
                               ends->key, e[i]->key);
        ends = e[i];
        out->kind = (snw_force_element_kind)i;
    }
    if (!ends)
        return snw_fail_at(r->err, entry->location,
                           "'%s' needs its kind with two ends, e.g. 'spring: [world, arm.tip]'",
                           entry->key);
    SNW_TRY(check_spring_keys(r, e, out));
    SNW_TRY(snw_read_list(r, ends->value, ends->key, 2));
    for (int k = 0; k < 2; k++)
        SNW_TRY(read_end(r, ends->value->entry[k].value, ends->key, k, out));
    if (e[SPRING_WHEN]) SNW_TRY(snw_read_active_when(r, e[SPRING_WHEN]->value, "when", &out->when));
    return snw_force_element_table[out->kind].frames ? read_bushing(r, entry, e, out)
                                                     : read_line(r, entry, e, out);
}

// The spring of a spherical or free joint with a stiffness for each axis: a bushing from the base
// of the joint, moved by `rest`, to its end. Of a spherical joint three numbers count.
static snw_status read_joint_bushing(snw_reader *r, const snw_entry *link, int index,
                                     snw_force_element_desc *out) {
    const snw_link_desc *l = &r->desc->link[index];
    const bool ball = snw_joint_table[l->joint].space == SNW_SPACE_SO3;
    *out = (snw_force_element_desc){.location = link->location,
                                    .kind = SNW_ELEMENT_BUSHING,
                                    .smooth = SNW_CONTACT_SMOOTH,
                                    .joint = 1 + index};
    out->name = snw_pool_format(r->pool, "%s.spring", l->name);
    if (!out->name) return snw_read_memory(r);
    for (int k = 0; k < 2; k++) {
        const snw_site_kind end = l->has_rod ? SNW_SITE_ROOT : SNW_SITE_END;
        out->end[k] = (snw_site){.kind = k ? end : SNW_SITE_BASE,
                                 .link = index,
                                 .pose = snw_se3_identity(),
                                 .location = link->location};
    }
    static const char *const key[] = {"stiffness", "damping"};
    for (int k = 0; k < 2; k++) {
        double *to = k ? out->axis_damping : out->axis_stiffness;
        const snw_dim turn = k ? PER_SPIN : PER_ANGLE, slide = k ? PER_SPEED : PER_LENGTH;
        const snw_node *node = snw_node_get(link->value, key[k]);
        if (!node) continue;
        const int n = ball ? 3 : 6;
        const bool one = ball && node->kind != SNW_NODE_LIST;
        if (!one) SNW_TRY(snw_read_list(r, node, key[k], n));
        for (int i = 0; i < n; i++) {
            const snw_node *at = one ? node : node->entry[i].value;
            SNW_TRY(snw_read_constant(r, at, key[k], i < 3 ? turn : slide, &to[i]));
            if (!(to[i] >= 0))
                return snw_fail_at(r->err, at->location, "'%s' must not be negative, got %g",
                                   key[k], to[i]);
        }
    }
    const snw_node *rest = snw_node_get(link->value, "rest");
    if (!rest) return SNW_OK;
    out->has_pose[0] = true;
    SNW_TRY(snw_read_pose(r, rest, &out->pose[0]));
    if (snw_pose_desc_vars(&out->pose[0]) == 0) return SNW_OK;
    return snw_fail_at(r->err, rest->location, "'rest' of a joint is constant");
}

snw_status snw_read_force_elements(snw_reader *r) {
    const snw_node *node, *robot;
    snw_desc *d = r->desc;
    int written = 0, nlink = 0;
    SNW_TRY(snw_read_section_entries(r, "springs", &node, &written));
    SNW_TRY(snw_read_section_entries(r, "robot", &robot, &nlink));
    d->force_element = snw_pool_array(r->pool, (size_t)(written + nlink), sizeof *d->force_element);
    if (!d->force_element) return snw_read_memory(r);
    for (int i = 0; i < written; i++)
        SNW_TRY(read_element(r, &node->entry[i], &d->force_element[d->nforce_element++]));
    for (int i = 0; i < nlink; i++) {
        int index = 0;
        SNW_TRY(
            snw_find_thing(r, robot->entry[i].value, robot->entry[i].key, SNW_THING_LINK, &index));
        if (!d->link[index].moves.by_axis) continue;
        SNW_TRY(
            read_joint_bushing(r, &robot->entry[i], index, &d->force_element[d->nforce_element++]));
    }
    return SNW_OK;
}
