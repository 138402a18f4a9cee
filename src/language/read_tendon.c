// SPDX-License-Identifier: MIT
//
// Reads tendons and chambers: their routing, friction and compliance, and the prescribed quantity
// (effort, shortening or volume, gas).
#include "language/read.h"

#include "base/fail.h"
#include "model/chamber_area.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define TENDON_KEYS(X)                                                                             \
    X(TENDON_ALONG, "along", "a rod's link, or a list", "the rods it runs along, root to tip")     \
    X(TENDON_AT, "at", "[0, y, z], laws of x",                                                     \
      "its position in the section, m; on the axis unless given")                                  \
    X(TENDON_FROM, "from", "m, may use L", "where it begins on the first rod, 0 unless given")     \
    X(TENDON_TO, "to", "m, may use L", "where it is fixed on the last rod, L unless given")        \
    X(TENDON_EXTRA, "extra", "m", "its length between robot and winch, 0 unless given")            \
    X(TENDON_COMPLIANCE, "compliance", "1/N", "strain per tension; with 'shortening'")             \
    X(TENDON_FRICTION, "friction", "number",                                                       \
      "Coulomb coefficient: relative loss of tension per radian turned, while it slides; 0 "       \
      "unless given")                                                                              \
    X(TENDON_VISCOUS, "viscous", "s/m", "the same per sliding speed; 0 unless given")              \
    X(TENDON_CREEP, "creep", "m/s", "speed below which friction is smoothed, 1 mm/s unless given") \
    X(TENDON_SLIDING, "sliding", "number, law of t",                                               \
      "friction in static steps: 1 if it was pulled in last, -1 if let out; none unless given")    \
    X(TENDON_DISCS, "discs", "m", "radius of discs that guide it outside the section")             \
    X(TENDON_PATH, "path", "list of rods' links and sites",                                        \
      "instead of 'along': its path, straight between sites")
#define CHAMBER_KEYS(X)                                                                            \
    X(CHAMBER_ALONG, "along", "a rod's link, or a list", "the rods it runs along, root to tip")    \
    X(CHAMBER_AT, "at", "[0, y, z], laws of x",                                                    \
      "its centre in the section, m; the axis unless "                                             \
      "given")                                                                                     \
    X(CHAMBER_FROM, "from", "m, may use L", "where it begins on the first rod, 0 unless given")    \
    X(CHAMBER_TO, "to", "m, may use L", "where it ends on the last rod, L unless given")           \
    X(CHAMBER_AREA, "area", "m^2, law of x, stretch, pressure",                                    \
      "of its section, required; stretch of its centre line and pressure in it")
#define MCKIBBEN_KEYS(X)                                                                           \
    X(MCKIBBEN_ALONG, "along", "a rod's link, or a list", "the rods it runs along, root to tip")   \
    X(MCKIBBEN_AT, "at", "[0, y, z], laws of x",                                                   \
      "its position in the section, m; on the axis unless given")                                  \
    X(MCKIBBEN_FROM, "from", "m, may use L", "where it begins on the first rod, 0 unless given")   \
    X(MCKIBBEN_TO, "to", "m, may use L", "where it ends on the last rod, L unless given")          \
    X(MCKIBBEN_RADIUS, "radius", "m", "of the braid without load as made, required")               \
    X(MCKIBBEN_ANGLE, "angle", "angle below 54.7 deg",                                             \
      "between its threads and its axis as made, required")                                        \
    X(MCKIBBEN_LENGTH, "length", "m",                                                              \
      "of the braid as made, the rest of the path is cord; all of the path unless given")          \
    X(MCKIBBEN_DISCS, "discs", "m", "radius of discs that guide it outside the section")           \
    X(MCKIBBEN_PATH, "path", "list of rods' links and sites",                                      \
      "instead of 'along': its path, straight between sites")                                      \
    X(MCKIBBEN_PUSHES, "pushes", "true or false",                                                  \
      "where its threads are beyond 54.7 deg to its axis; slack there unless given")
#define GAS_KEYS(X)                                                                                \
    X(GAS_MOLES, "moles", "mol, law of t", "amount, required")                                     \
    X(GAS_TEMPERATURE, "temperature", "K, law of t", "293.15 K unless given")                      \
    X(GAS_AMBIENT, "ambient", "Pa, law of t", "ambient pressure, 101325 Pa unless given")

enum { TENDON_KEYS(SNW_KEY_CODE) TENDON_N };
enum { CHAMBER_KEYS(SNW_KEY_CODE) CHAMBER_N };
enum { MCKIBBEN_KEYS(SNW_KEY_CODE) MCKIBBEN_N };
enum { GAS_KEYS(SNW_KEY_CODE) GAS_N };
SNW_KEYS(tendon, "tendon", "a tendon", TENDON_KEYS);
SNW_KEYS(chamber, "chamber", "a chamber", CHAMBER_KEYS);
SNW_KEYS(mckibben, "mckibben", "a McKibben muscle", MCKIBBEN_KEYS);
SNW_KEYS(gas, "gas", "a gas", GAS_KEYS);

static const char *tendon_noun(const snw_tendon_desc *d) {
    return snw_actuator_table[d->kind].noun;
}

// ---- routing ------------------------------------------------------------------------------------

// append one rod to the list `link`
static snw_status tendon_add_rod(snw_reader *r, const snw_node *item, const char *what, int *link,
                                 snw_tendon_desc *out) {
    const int n = out->nlink++;
    SNW_TRY(snw_read_rod_name(r, item, what, &link[n]));
    out->link = link;
    for (int k = 0; k < n; k++) {
        if (link[k] != link[n]) continue;
        return snw_fail_at(r->err, item->location, "'%s' lists rod '%s' twice", what,
                           r->desc->link[link[n]].name);
    }
    return SNW_OK;
}

static snw_status read_rods(snw_reader *r, const snw_node *node, snw_tendon_desc *out) {
    const bool list = node->kind == SNW_NODE_LIST;
    const int n = list ? node->n : 1;
    int *link = snw_pool_array(r->pool, (size_t)n, sizeof *link);
    if (!link) return snw_read_memory(r);
    if (n == 0) return snw_fail_at(r->err, node->location, "'along' lists no rod");
    for (int i = 0; i < n; i++) {
        SNW_TRY(tendon_add_rod(r, list ? node->entry[i].value : node, "along", link, out));
    }
    return SNW_OK;
}

// true if an item of a path is a whole rod
static bool is_rod(const snw_reader *r, const snw_node *item) {
    if (item->kind != SNW_NODE_TEXT) return false;
    const snw_name *found = snw_names_find(&r->things, item->text);
    return found && found->kind == (int)SNW_THING_LINK && r->desc->link[found->index].has_rod;
}

static snw_status read_path(snw_reader *r, const snw_node *node, snw_tendon_desc *out) {
    if (node->kind != SNW_NODE_LIST || node->n < 2) {
        return snw_fail_at(r->err, node->location,
                           "'path' is a list of at least two entries, rods' links and sites, e.g. "
                           "[winch, arm, hand.hook]");
    }
    int *link = snw_pool_array(r->pool, (size_t)node->n, sizeof *link);
    if (!link) return snw_read_memory(r);
    for (int i = 0; i < node->n; i++) {
        const snw_node *item = node->entry[i].value;
        if (is_rod(r, item)) SNW_TRY(tendon_add_rod(r, item, "path", link, out));
    }
    return SNW_OK;
}

// site in the section at x of a rod where the tendon enters or leaves it
static snw_site routing_site(const snw_reader *r, const snw_tendon_desc *d, int link, double x,
                             snw_source_location location) {
    const double L = r->desc->link[link].rod.length;
    const snw_at at = {.x = x, .L = L};
    snw_site s = {.kind = x < L ? SNW_SITE_AT : SNW_SITE_END,
                  .link = link,
                  .x = x,
                  .offset = true,
                  .pose = snw_se3_identity(),
                  .location = location};
    if (x <= 0) s.kind = SNW_SITE_ROOT;
    s.pose.p.y = d->at[0] ? snw_expr_value(d->at[0], at) : 0;
    s.pose.p.z = d->at[1] ? snw_expr_value(d->at[1], at) : 0;
    return s;
}

// straight segments between sites and rods; none between consecutive rods
static snw_status read_segments(snw_reader *r, const snw_node *node, snw_tendon_desc *out) {
    snw_tendon_segment_desc *segment = snw_pool_array(r->pool, (size_t)node->n, sizeof *segment);
    if (!segment) return snw_read_memory(r);
    out->segment = segment;
    snw_site from = {.kind = SNW_SITE_WORLD, .link = -1};
    bool was_rod = false;
    for (int i = 0, rods = 0; i < node->n; i++) {
        const snw_node *item = node->entry[i].value;
        const bool rod = is_rod(r, item);
        snw_site to, leave;
        if (rod) {
            const int link = out->link[rods];
            const double L = r->desc->link[link].rod.length;
            to = routing_site(r, out, link, rods == 0 ? out->from : 0, item->location);
            leave =
                routing_site(r, out, link, rods == out->nlink - 1 ? out->to : L, item->location);
        } else {
            SNW_TRY(snw_read_site(r, item, "path", &to));
            leave = to;
        }
        if (i > 0 && !(rod && was_rod)) {
            segment[out->nsegment++] = (snw_tendon_segment_desc){.a = from, .b = to, .after = rods};
        }
        rods += rod;
        from = leave;
        was_rod = rod;
    }
    return SNW_OK;
}

static snw_status tendon_read_at(snw_reader *r, const snw_entry *e, snw_tendon_desc *out) {
    snw_law at[3] = {NULL};
    double x = 0;
    SNW_TRY(snw_read_laws(r, e->value, "at", SNW_DIM_LENGTH, SNW_VAR_X | SNW_VAR_L, at));
    if (at[0] && !(snw_law_constant(at[0], &x) && x == 0)) {
        return snw_fail_at(r->err, e->value->location,
                           "'at' lies in the section: its first number is 0, e.g. [0, 5 mm, 0]");
    }
    out->at[0] = at[1], out->at[1] = at[2];
    return SNW_OK;
}

static snw_status tendon_read_end(snw_reader *r, const snw_entry *e, double L, double *out) {
    if (e->value->kind != SNW_NODE_TEXT) {
        return snw_fail_at(r->err, e->value->location, "'%s' is a length along the rod", e->key);
    }
    SNW_TRY(snw_read_constant_in(r, e->value, e->value->text, 0, e->key, SNW_DIM_LENGTH, L, out));
    if (*out >= 0 && *out <= L * (1 + 1e-12)) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "'%s' is %g m, but the rod goes from 0 to %g m",
                       e->key, *out, L);
}

// e begins with the keys `along`, `at`, `from` and `to`; path is NULL when not given
static snw_status read_routing(snw_reader *r, const snw_node *node, const snw_entry *const *e,
                               const snw_entry *path, snw_tendon_desc *out) {
    const bool may_be_straight = snw_actuator_table[out->kind].is_length;
    if (!e[TENDON_ALONG] && !path) {
        return snw_fail_at(r->err, node->location, "a %s needs 'along:', a rod's link%s",
                           tendon_noun(out), may_be_straight ? ", or a 'path:'" : "");
    }
    if (e[TENDON_ALONG] && path) {
        return snw_fail_at(r->err, path->location, "a %s has 'along' or 'path', not both",
                           tendon_noun(out));
    }
    SNW_TRY(path ? read_path(r, path->value, out) : read_rods(r, e[TENDON_ALONG]->value, out));
    if (e[TENDON_AT]) SNW_TRY(tendon_read_at(r, e[TENDON_AT], out));
    if (out->nlink == 0) {
        for (int k = TENDON_AT; k <= TENDON_TO; k++) {
            if (!e[k]) continue;
            return snw_fail_at(r->err, e[k]->location, "'%s' is for rods, and the path has none",
                               e[k]->key);
        }
        return read_segments(r, path->value, out);
    }
    const double first = r->desc->link[out->link[0]].rod.length;
    out->to = r->desc->link[out->link[out->nlink - 1]].rod.length;
    if (e[TENDON_FROM]) SNW_TRY(tendon_read_end(r, e[TENDON_FROM], first, &out->from));
    if (e[TENDON_TO]) SNW_TRY(tendon_read_end(r, e[TENDON_TO], out->to, &out->to));
    if (out->nlink > 1 || out->from < out->to) {
        return path ? read_segments(r, path->value, out) : SNW_OK;
    }
    return snw_fail_at(r->err, node->location, "%s '%s' ends at %g m before it begins at %g m",
                       tendon_noun(out), out->name, out->to, out->from);
}

static snw_status tendon_read_friction(snw_reader *r, const snw_entry *const *e,
                                       snw_tendon_desc *out) {
    static const struct {
        int key;
        snw_dim dim;
    } parts[] = {{TENDON_FRICTION, {0}}, {TENDON_VISCOUS, {.m = -1, .s = 1}}};
    double *const to[] = {&out->friction, &out->viscous};
    for (int i = 0; i < 2; i++) {
        const snw_entry *part = e[parts[i].key];
        if (!part) continue;
        SNW_TRY(snw_read_constant(r, part->value, part->key, parts[i].dim, to[i]));
        if (*to[i] >= 0) continue;
        return snw_fail_at(r->err, part->value->location,
                           "'%s' must not be negative, got %g: friction dissipates energy",
                           part->key, *to[i]);
    }
    if (e[TENDON_SLIDING]) {
        const snw_node *value = e[TENDON_SLIDING]->value;
        SNW_TRY(snw_read_law(r, value, "sliding", (snw_dim){0}, SNW_VAR_T, &out->sliding));
        if (!(out->friction > 0)) {
            return snw_fail_at(
                r->err, value->location,
                "'sliding' is the direction of 'friction' in static steps; give 'friction', too");
        }
    }
    out->creep = SNW_CREEP;
    if (!e[TENDON_CREEP]) return SNW_OK;
    return snw_read_positive(r, e[TENDON_CREEP]->value, "creep", (snw_dim){.m = 1, .s = -1},
                             &out->creep);
}

static snw_status read_cable(snw_reader *r, const snw_node *node, snw_tendon_desc *out) {
    const snw_entry *e[TENDON_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_tendon, e));
    SNW_TRY(read_routing(r, node, e, e[TENDON_PATH], out));
    if (e[TENDON_EXTRA]) {
        SNW_TRY(snw_read_constant(r, e[TENDON_EXTRA]->value, "extra", SNW_DIM_LENGTH, &out->extra));
    }
    if (e[TENDON_COMPLIANCE]) {
        const snw_dim dim = {.m = -1, .kg = -1, .s = 2};
        SNW_TRY(
            snw_read_positive(r, e[TENDON_COMPLIANCE]->value, "compliance", dim, &out->compliance));
    }
    if (e[TENDON_DISCS]) {
        SNW_TRY(snw_read_positive(r, e[TENDON_DISCS]->value, "discs", SNW_DIM_LENGTH, &out->discs));
    }
    SNW_TRY(tendon_read_friction(r, e, out));
    if (out->extra >= 0) return SNW_OK;
    return snw_fail_at(r->err, e[TENDON_EXTRA]->value->location,
                       "'extra' is a length outside the robot and must not be negative");
}

// ---- area of a chamber --------------------------------------------------------------------------

static const struct {
    const char *name, *one; // variable of an area law, and a value with its dimension
    snw_dim dim;
} area_variables[SNW_CHAMBER_VARIABLES] = {
    [SNW_CHAMBER_STRETCH] = {"stretch", "1", {0}},
    [SNW_CHAMBER_PRESSURE] = {"pressure", "1 Pa", {.m = -1, .kg = 1, .s = -2}}};

static snw_status area_variable(void *user, const char *name, const char *component, int *slot,
                                snw_dim *dim, snw_error *err) {
    (void)user, (void)err;
    *slot = -1;
    for (int i = 0; i < SNW_CHAMBER_VARIABLES && !component[0]; i++) {
        if (strcmp(name, area_variables[i].name) == 0) *slot = i, *dim = area_variables[i].dim;
    }
    return SNW_OK;
}

static const char *area_variable_name(void *user, int i) {
    (void)user;
    return i < SNW_CHAMBER_VARIABLES ? area_variables[i].name : NULL;
}

// Does the text contain this name as a word?
static bool has_word(const char *text, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        const char before = at > text ? at[-1] : ' ', after = at[n];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) &&
            after != '_')
            return true;
    }
    return false;
}

// The area is read twice: with constants for stretch and pressure, which finds times, probes and
// parameters that depend on them; then with stretch and pressure as signals 0 and 1 of the law.
static snw_status tendon_read_area(snw_reader *r, const snw_node *node, snw_law *out) {
    static const snw_signal_source source = {
        .probe = area_variable, .memory = NULL, .name = area_variable_name};
    const snw_scope *outer = snw_read_scope(r, node);
    const snw_dim dim = {.m = 2};
    const snw_source_location at = snw_text_location(node, 0);
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, "area", &text));
    snw_scope *constants = snw_scope_create(r->pool, outer),
              *variables = snw_scope_create(r->pool, outer);
    if (!constants || !variables) return snw_read_memory(r);
    for (int i = 0; i < SNW_CHAMBER_VARIABLES; i++) {
        const char *name = area_variables[i].name;
        if (snw_scope_has(outer, name) && has_word(text, name)) {
            return snw_fail_at(r->err, node->location,
                               "'%s' in 'area' is that of the chamber, but a parameter has this "
                               "name, too; rename the parameter",
                               name);
        }
        if (snw_scope_has(outer, name)) continue;
        SNW_TRY(snw_scope_define(constants, name, area_variables[i].one, at.file, at.line,
                                 at.column, r->err));
    }
    const snw_expr_rules fixed = {.dim = &dim, .vars = SNW_VAR_X | SNW_VAR_L};
    const snw_expr_rules varied = {.dim = &dim, .vars = SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL};
    SNW_TRY(
        snw_expr_parse(r->pool, constants, text, &fixed, at.file, at.line, at.column, out, r->err));
    snw_scope_signals(variables, &source);
    return snw_expr_parse(r->pool, variables, text, &varied, at.file, at.line, at.column, out,
                          r->err);
}

static snw_status read_chamber(snw_reader *r, const snw_node *node, snw_tendon_desc *out) {
    const snw_entry *e[CHAMBER_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_chamber, e));
    SNW_TRY(read_routing(r, node, e, NULL, out));
    if (!e[CHAMBER_AREA]) {
        return snw_fail_at(r->err, node->location, "a chamber needs 'area:', that of its section");
    }
    return tendon_read_area(r, e[CHAMBER_AREA]->value, &out->area);
}

// constants: radius, angle and length of the braid, in the order of the keys; last: it pushes
static snw_status read_mckibben(snw_reader *r, const snw_node *node, snw_tendon_desc *out) {
    const snw_entry *e[MCKIBBEN_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_mckibben, e));
    SNW_TRY(read_routing(r, node, e, e[MCKIBBEN_PATH], out));
    for (int k = MCKIBBEN_RADIUS; k <= MCKIBBEN_DISCS; k++) {
        double *to = k == MCKIBBEN_DISCS ? &out->discs : &out->constant[k - MCKIBBEN_RADIUS];
        if (!e[k] && k <= MCKIBBEN_ANGLE) {
            return snw_fail_at(r->err, node->location, "a McKibben muscle needs '%s:', e.g. %s",
                               snw_keys_mckibben.key[k].name,
                               k == MCKIBBEN_RADIUS ? "10 mm" : "25 deg");
        }
        if (!e[k]) continue;
        SNW_TRY(snw_read_positive(r, e[k]->value, e[k]->key,
                                  k == MCKIBBEN_ANGLE ? SNW_DIM_NONE : SNW_DIM_LENGTH, to));
    }
    bool pushes = false;
    if (e[MCKIBBEN_PUSHES])
        SNW_TRY(snw_read_switch(r, e[MCKIBBEN_PUSHES]->value, "pushes", &pushes));
    out->constant[SNW_ACTUATOR_CONSTANTS - 1] = pushes;
    out->radius = out->constant[0];
    const double angle = out->constant[1], neutral = acos(1 / sqrt(3.0));
    if (angle < neutral) return SNW_OK;
    return snw_fail_at(r->err, e[MCKIBBEN_ANGLE]->value->location,
                       "'angle' must be less than %.4g deg, where pressure neither shortens nor "
                       "lengthens a braid, got %.4g deg",
                       neutral * 180 / acos(-1.0), angle * 180 / acos(-1.0));
}

// ---- prescribed quantity ------------------------------------------------------------------------

static snw_status tendon_constant(snw_reader *r, const snw_node *node, const char *text,
                                  snw_dim dim, snw_law *out) {
    const snw_expr_rules rules = {.dim = &dim};
    return snw_expr_parse(r->pool, NULL, text, &rules, node->location.file, node->location.line,
                          node->location.column, out, r->err);
}

static snw_status read_gas(snw_reader *r, const snw_node *node, snw_tendon_desc *out) {
    static const struct {
        int key;
        snw_dim dim;
        const char *otherwise;
    } parts[] = {{GAS_MOLES, {.mol = 1}, NULL},
                 {GAS_TEMPERATURE, {.K = 1}, "293.15 K"},
                 {GAS_AMBIENT, {.m = -1, .kg = 1, .s = -2}, "101325 Pa"}};
    snw_law *const law[] = {&out->law, &out->temperature, &out->ambient};
    const snw_entry *e[GAS_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_gas, e));
    if (!e[GAS_MOLES]) {
        return snw_fail_at(r->err, node->location, "a gas needs 'moles:', e.g. 8e-5 mol");
    }
    for (int i = 0; i < 3; i++) {
        const snw_entry *part = e[parts[i].key];
        if (part) {
            SNW_TRY(snw_read_law(r, part->value, part->key, parts[i].dim, SNW_VAR_T, law[i]));
        } else {
            SNW_TRY(tendon_constant(r, node, parts[i].otherwise, parts[i].dim, law[i]));
        }
    }
    return SNW_OK;
}

// a law may be negative, the actuator is slack then; a negative constant is an error
static snw_status check_pull(snw_reader *r, const snw_actuator_entry *a,
                             const snw_tendon_desc *tendon) {
    double load = 0;
    if (!snw_law_constant(tendon->law, &load) || !(load < 0)) return SNW_OK;
    char unit[48];
    snw_dim_unit(a->control->dim, unit, sizeof unit);
    return snw_fail_at(
        r->err, a->given->value->location,
        "%s '%s' cannot push: its %s must not be negative, got %g %s; one on the other side pulls "
        "the other way",
        a->type->noun, tendon->name, a->control->name, load, unit);
}

// `when` of a constraint row is constant, of any other actuator along a path a law
static snw_status tendon_read_when(snw_reader *r, const snw_actuator_entry *a,
                                   snw_tendon_desc *out) {
    const bool row = snw_gives_motion(out->given) && !(out->compliance > 0);
    if (!row) return snw_read_when(r, a->when->value, "when", &out->when);
    SNW_TRY(snw_read_condition(r, a->when->value, "when", &out->when));
    if (snw_expr_vars(out->when) == 0) return SNW_OK;
    return snw_fail_at(r->err, a->when->value->location,
                       "'when' of a given %s is on or off; switch it by a step 'change: {%s: "
                       "off}'",
                       a->type->is_length ? "length" : "volume", out->name);
}

// reader of the keys of each kind
static const struct {
    snw_actuator_kind kind;
    snw_status (*read)(snw_reader *r, const snw_node *node, snw_tendon_desc *out);
} tendon_readers[] = {{SNW_ACTUATOR_TENDON, read_cable},
                      {SNW_ACTUATOR_CHAMBER, read_chamber},
                      {SNW_ACTUATOR_MCKIBBEN, read_mckibben}};

snw_status snw_read_tendon(snw_reader *r, const snw_actuator_entry *a, snw_tendon_desc *out) {
    out->name = a->entry->key;
    out->location = a->entry->location;
    out->kind = a->kind;
    for (size_t k = 0; k < sizeof tendon_readers / sizeof tendon_readers[0]; k++) {
        if (tendon_readers[k].kind == a->kind) {
            SNW_TRY(tendon_readers[k].read(r, a->of->value, out));
        }
    }
    SNW_TRY(snw_check_control(r, a));
    out->given = a->control->given;
    if (a->control->key == SNW_CONTROL_GAS) {
        SNW_TRY(read_gas(r, a->given->value, out));
    } else {
        const int vars = SNW_VAR_T | (snw_gives_load(out->given) ? SNW_VAR_SIGNAL : 0);
        SNW_TRY(snw_read_law(r, a->given->value, a->given->key, a->control->dim, vars, &out->law));
    }
    if (a->type->only_pulls && snw_gives_load(out->given)) SNW_TRY(check_pull(r, a, out));
    const bool has_friction = out->friction > 0 || out->viscous > 0;
    if (snw_gives_motion(out->given) && has_friction && !(out->compliance > 0)) {
        return snw_fail_at(r->err, a->given->location,
                           "a tendon with friction and a given 'shortening' needs a 'compliance': "
                           "its losses depend on its tension; for a stiff one e.g. 1e-6 1/N");
    }
    return a->when ? tendon_read_when(r, a, out) : SNW_OK;
}
