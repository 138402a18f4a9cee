// SPDX-License-Identifier: MIT
//
// Reads fields: magnetic fields, dipoles, fields of force and their potentials.
#include "language/read.h"

#include "base/fail.h"
#include "language/signals.h"

#include <math.h>
#include <string.h>

// The kinds come first, in the order of snw_force_field_kind.
#define FIELD_KEYS(X)                                                                              \
    X(FIELD_MAGNETIC, "magnetic", "three, T, laws of t and the place x, y, z",                     \
      "flux density of a magnetic field in the world")                                             \
    X(FIELD_DIPOLE, "dipole", "three, A*m^2, laws of t",                                           \
      "magnetic moment of a dipole, in the axes of its frame")                                     \
    X(FIELD_FORCE, "force", "three, N/m, laws of t and the place; of bodies N",                    \
      "field of force in the world, per length of rods, on bodies at their centre of mass")        \
    X(FIELD_ACCELERATION, "acceleration", "three, m/s^2, laws of t and the place",                 \
      "field of force per mass of rods and bodies, in the world")                                  \
    X(FIELD_POTENTIAL, "potential", "J/m, law of t and the place; of bodies J",                    \
      "potential energy whose gradient is minus the force, as 'force'")                            \
    X(FIELD_LINKS, "links", "a link, or a list",                                                   \
      "on which it acts; of a magnetic field or dipole all with a magnetic_moment unless given")   \
    X(FIELD_ON, "on", "a site", "of a dipole: what carries it, the world unless given")            \
    X(FIELD_AT, "at", "three lengths, m, laws of t",                                               \
      "of a dipole: its place there, the origin unless given")                                     \
    X(FIELD_POSE, "pose", "a pose", "of a dipole: of its frame, instead of 'at'; laws of t")       \
    X(FIELD_WHEN, "when", "a condition on t and probes",                                           \
      "present while this holds; always unless given")

enum { FIELD_KEYS(SNW_KEY_CODE) FIELD_N };
SNW_KEYS(field, "field", "a field", FIELD_KEYS);

// ---- laws of the place -------------------------------------------------------------------------

static const char *place_name(void *user, int i) {
    (void)user;
    static const char *const name[] = {"y", "z"};
    return i < 2 ? name[i] : NULL;
}

// y and z are signals; probes of the model are refused by name.
static snw_status place_probe(void *user, const char *name, const char *component, int *slot,
                              snw_dim *dim, snw_error *err) {
    const snw_signals *signals = user;
    *slot = -1;
    if (component[0] == '\0' && (!strcmp(name, "y") || !strcmp(name, "z"))) {
        *slot = SNW_FIELD_Y + (name[0] == 'z');
        *dim = SNW_DIM_LENGTH;
        return SNW_OK;
    }
    const snw_node *probes = signals->probes;
    for (int i = 0; probes && i < probes->n; i++) {
        if (!strcmp(probes->entry[i].key, name))
            return snw_fail(err, SNW_E_MODEL,
                            "a field is a law of t and the place x, y, z and cannot read probe "
                            "'%.100s'; a load can",
                            name);
    }
    return SNW_OK;
}

static snw_status place_memory(void *user, snw_memory kind, const char *text, const snw_expr *law,
                               double period, int *slot, snw_error *err) {
    (void)user, (void)kind, (void)law, (void)period, (void)slot;
    return snw_fail(err, SNW_E_MODEL,
                    "a field is a law of t and the place x, y, z and has no memory, as %.60s has",
                    text);
}

static snw_status read_place_law(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                                 snw_law *out) {
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, what, &text));
    const snw_scope *outer = snw_read_scope(r, node);
    for (int i = 0; i < 2; i++) {
        if (outer && snw_scope_has(outer, place_name(NULL, i)))
            return snw_fail_at(r->err, node->location,
                               "the parameter '%s' hides the coordinate %s of the place; give the "
                               "parameter another name",
                               place_name(NULL, i), place_name(NULL, i));
    }
    snw_scope *scope = snw_scope_create(r->pool, outer);
    snw_signal_source *source = snw_pool_take(r->pool, sizeof *source);
    if (!scope || !source) return snw_read_memory(r);
    *source = (snw_signal_source){.user = r->signals,
                                  .probe = place_probe,
                                  .memory = place_memory,
                                  .name = place_name,
                                  .what = "y, z"};
    snw_scope_signals(scope, source);
    const snw_expr_rules rules = {.dim = &dim, .vars = SNW_VAR_T | SNW_VAR_X | SNW_VAR_SIGNAL};
    const snw_source_location p = snw_text_location(node, 0);
    SNW_TRY(snw_expr_parse(r->pool, scope, text, &rules, p.file, p.line, p.column, out, r->err));
    for (int i = 0; i < SNW_SIGNALS_MAX; i++) {
        if (snw_expr_reads(*out, i))
            return snw_fail_at(r->err, node->location,
                               "'%s' is a law of t and the place x, y, z, but a parameter in it "
                               "reads a probe",
                               what);
    }
    double value = 0;
    if (snw_law_constant(*out, &value) && !isfinite(value))
        return snw_fail_at(r->err, node->location, "'%s' is not a finite number", what);
    return SNW_OK;
}

static snw_status read_place_laws(snw_reader *r, const snw_entry *e, snw_dim dim, snw_law out[3]) {
    SNW_TRY(snw_read_list(r, e->value, e->key, 3));
    for (int i = 0; i < 3; i++)
        SNW_TRY(read_place_law(r, e->value->entry[i].value, e->key, dim, &out[i]));
    return SNW_OK;
}

// ---- links -------------------------------------------------------------------------------------

static bool has_moment(const snw_link_desc *l) {
    return l->magnetic[0] || l->magnetic[1] || l->magnetic[2];
}

// The links with a magnetic moment that a magnetic field acts on.
static snw_status read_magnets(snw_reader *r, const snw_entry *entry, const snw_entry *links,
                               snw_force_field_desc *out) {
    const snw_desc *d = r->desc;
    if (links) {
        SNW_TRY(snw_read_links(r, links->value, &out->nlink, &out->link));
        for (int i = 0; i < out->nlink; i++) {
            if (!has_moment(&d->link[out->link[i]]))
                return snw_fail_at(r->err, links->location,
                                   "field '%s' acts on link '%s', which has no 'magnetic_moment'",
                                   out->name, d->link[out->link[i]].name);
            if (out->kind == SNW_FORCE_FIELD_DIPOLE && out->link[i] == out->on.link)
                return snw_fail_at(r->err, links->location,
                                   "dipole '%s' acts on link '%s', which carries it", out->name,
                                   d->link[out->link[i]].name);
        }
        return SNW_OK;
    }
    int *link = snw_pool_array(r->pool, (size_t)d->nlink, sizeof *link);
    if (!link) return snw_read_memory(r);
    out->link = link;
    for (int l = 0; l < d->nlink; l++) {
        const bool own = out->kind == SNW_FORCE_FIELD_DIPOLE && l == out->on.link;
        if (has_moment(&d->link[l]) && !own) link[out->nlink++] = l;
    }
    if (out->nlink > 0) return SNW_OK;
    return snw_fail_at(r->err, entry->location,
                       "field '%s' acts on nothing: no%s link has a 'magnetic_moment'", out->name,
                       out->kind == SNW_FORCE_FIELD_DIPOLE ? " other" : "");
}

// ---- fields ------------------------------------------------------------------------------------

static snw_status read_dipole(snw_reader *r, const snw_entry *const *e, snw_force_field_desc *out) {
    const snw_dim moment = {.m = 2, .A = 1};
    SNW_TRY(snw_read_laws(r, e[FIELD_DIPOLE]->value, "dipole", moment, SNW_VAR_T, out->law));
    if (e[FIELD_ON]) SNW_TRY(snw_read_site(r, e[FIELD_ON]->value, "on", &out->on));
    return snw_read_frame(r, e[FIELD_AT], NULL, e[FIELD_POSE], &out->pose);
}

// Fields of force: their links, then the laws, whose unit depends on these.
static snw_status read_force(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                             snw_force_field_desc *out) {
    const snw_entry *law = e[out->kind];
    bool rods = false;
    if (!e[FIELD_LINKS])
        return snw_fail_at(r->err, entry->location, "field '%s' needs 'links' on which it acts",
                           out->name);
    SNW_TRY(snw_read_links(r, e[FIELD_LINKS]->value, &out->nlink, &out->link));
    if (out->kind == SNW_FORCE_FIELD_ACCELERATION)
        return read_place_laws(r, law, SNW_DIM_ACCELERATION, out->law);
    SNW_TRY(snw_read_are_rods(r, law, out->name, out->nlink, out->link, &rods));
    snw_dim dim = out->kind == SNW_FORCE_FIELD_POTENTIAL ? SNW_DIM_TORQUE : SNW_DIM_FORCE;
    if (rods) dim.m--;
    return out->kind == SNW_FORCE_FIELD_POTENTIAL
               ? read_place_law(r, law->value, law->key, dim, &out->law[0])
               : read_place_laws(r, law, dim, out->law);
}

static snw_status read_field(snw_reader *r, const snw_entry *entry, snw_force_field_desc *out) {
    const snw_entry *e[FIELD_N], *kind = NULL;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_field, e));
    out->name = entry->key;
    out->location = entry->location;
    out->on = (snw_site){.kind = SNW_SITE_WORLD, .link = -1, .pose = snw_se3_identity()};
    out->pose = snw_pose_desc_identity();
    for (int i = 0; i < SNW_FORCE_FIELD_KINDS; i++) {
        if (!e[i]) continue;
        if (kind)
            return snw_fail_at(r->err, e[i]->location,
                               "field '%s' is given by '%s' or '%s', not both", entry->key,
                               kind->key, e[i]->key);
        kind = e[i];
        out->kind = (snw_force_field_kind)i;
    }
    if (!kind)
        return snw_fail_at(r->err, entry->location,
                           "field '%s' needs its kind, e.g. 'magnetic: [0, 0, 20 mT]'", entry->key);
    for (int i = FIELD_ON; i <= FIELD_POSE && out->kind != SNW_FORCE_FIELD_DIPOLE; i++) {
        if (e[i])
            return snw_fail_at(
                r->err, e[i]->location,
                "'%s' is for dipoles; other fields are laws of the place in the world", e[i]->key);
    }
    if (out->kind == SNW_FORCE_FIELD_DIPOLE) {
        SNW_TRY(read_dipole(r, e, out));
    } else if (out->kind == SNW_FORCE_FIELD_MAGNETIC) {
        SNW_TRY(read_place_laws(r, kind, (snw_dim){.kg = 1, .s = -2, .A = -1}, out->law));
    } else {
        SNW_TRY(read_force(r, entry, e, out));
    }
    if (out->kind == SNW_FORCE_FIELD_DIPOLE || out->kind == SNW_FORCE_FIELD_MAGNETIC)
        SNW_TRY(read_magnets(r, entry, e[FIELD_LINKS], out));
    return e[FIELD_WHEN] ? snw_read_active_when(r, e[FIELD_WHEN]->value, "when", &out->when)
                         : SNW_OK;
}

snw_status snw_read_force_fields(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "fields", &node, &d->nforce_field));
    d->force_field = snw_pool_array(r->pool, (size_t)d->nforce_field, sizeof *d->force_field);
    if (!d->force_field) return snw_read_memory(r);
    for (int i = 0; i < d->nforce_field; i++)
        SNW_TRY(read_field(r, &node->entry[i], &d->force_field[i]));
    return SNW_OK;
}
