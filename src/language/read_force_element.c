// SPDX-License-Identifier: MIT
//
// Reads force elements between two sites: springs, cables, dampers and bushings.
#include "language/read.h"

#include "base/fail.h"

// The kinds come first, in the order of snw_force_element_kind.
#define SPRING_KEYS(X)                                                                             \
    X(SPRING_SPRING, "spring", "two ends", "pulls and pushes along the line between its ends")     \
    X(SPRING_CABLE, "cable", "two ends", "pulls only: a spring that goes slack")                   \
    X(SPRING_DAMPER, "damper", "two ends", "resists the rate of the distance of its ends")         \
    X(SPRING_BUSHING, "bushing", "two ends",                                                       \
      "resists displacement and rotation of the second end in the axes of the first")              \
    X(SPRING_REST, "rest", "m", "length without tension; required for a spring or a cable")        \
    X(SPRING_STIFFNESS, "stiffness", "N/m; of a bushing six",                                      \
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

static snw_status read_bushing(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                               snw_force_element_desc *out) {
    if (!e[SPRING_STIFFNESS]) return need_key(r, entry, out, SPRING_STIFFNESS);
    SNW_TRY(read_six(r, e[SPRING_STIFFNESS], PER_ANGLE, PER_LENGTH, out->axis_stiffness));
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

snw_status snw_read_force_elements(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "springs", &node, &d->nforce_element));
    d->force_element = snw_pool_array(r->pool, (size_t)d->nforce_element, sizeof *d->force_element);
    if (!d->force_element) return snw_read_memory(r);
    for (int i = 0; i < d->nforce_element; i++)
        SNW_TRY(read_element(r, &node->entry[i], &d->force_element[i]));
    return SNW_OK;
}
