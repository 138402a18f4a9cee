// SPDX-License-Identifier: MIT
//
// Reads constitutive laws: hyperelastic and relaxing materials, and sections whose energy or
// stresses are expressions of the strains or tables (theory.md 2.4, 2.5).
#include "language/read.h"

#include "base/fail.h"
#include "language/source.h"
#include "language/table.h"

#include <math.h>
#include <string.h>

// ---- hyperelastic materials ---------------------------------------------------------------------

#define OGDEN_KEYS(X)                                                                              \
    X(OGDEN_MU, "mu", "list, Pa", "moduli, one for each term")                                     \
    X(OGDEN_ALPHA, "alpha", "list of numbers", "exponents, one for each term")

enum { OGDEN_KEYS(SNW_KEY_CODE) OGDEN_N };
SNW_KEYS(ogden, "ogden", "a sum of powers of the stretch", OGDEN_KEYS);

// A list of at most `most` numbers; *n <- how many.
static snw_status read_numbers(snw_reader *r, const snw_entry *e, snw_dim dim, int most, int *n,
                               double *out) {
    const snw_node *node = e->value;
    if (node->kind != SNW_NODE_LIST || node->n < 1 || node->n > most) {
        return snw_fail_at(r->err, node->location, "'%s' is a list of 1 to %d numbers", e->key,
                           most);
    }
    *n = node->n;
    for (int i = 0; i < node->n; i++) {
        SNW_TRY(snw_read_constant(r, node->entry[i].value, e->key, dim, &out[i]));
    }
    return SNW_OK;
}

static snw_status need_key(snw_reader *r, const snw_entry *of, const snw_entry *e,
                           const char *key) {
    if (e) return SNW_OK;
    return snw_fail_at(r->err, of->location, "'%s' needs '%s'", of->key, key);
}

static snw_status read_ogden(snw_reader *r, const snw_entry *entry, snw_hyperelastic *out) {
    const snw_entry *e[OGDEN_N];
    int n = 0;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_ogden, e));
    SNW_TRY(need_key(r, entry, e[OGDEN_MU], "mu"));
    SNW_TRY(need_key(r, entry, e[OGDEN_ALPHA], "alpha"));
    SNW_TRY(read_numbers(r, e[OGDEN_MU], SNW_DIM_PRESSURE, SNW_OGDEN_TERMS, &out->n, out->mu));
    SNW_TRY(read_numbers(r, e[OGDEN_ALPHA], SNW_DIM_NONE, SNW_OGDEN_TERMS, &n, out->alpha));
    if (n != out->n) {
        return snw_fail_at(r->err, e[OGDEN_ALPHA]->value->location,
                           "'alpha' has %d numbers and 'mu' %d; each term needs one of both", n,
                           out->n);
    }
    for (int i = 0; i < n; i++) {
        if (out->mu[i] * out->alpha[i] > 0) continue;
        return snw_fail_at(r->err, e[OGDEN_MU]->value->entry[i].value->location,
                           "term %d of 'ogden' has mu alpha = %g Pa, which must be positive", i + 1,
                           out->mu[i] * out->alpha[i]);
    }
    return SNW_OK;
}

snw_status snw_read_hyperelastic(snw_reader *r, const snw_hyperelastic_keys *keys,
                                 snw_material_desc *m) {
    const snw_entry *const of[] = {keys->neo_hookean, keys->mooney_rivlin, keys->ogden};
    const snw_entry *entry = NULL;
    snw_hyperelastic *h = &m->hyperelastic;
    for (int i = 0; i < 3; i++) {
        if (of[i] && entry) {
            return snw_fail_at(r->err, of[i]->location, "give one of '%s' and '%s', not both",
                               entry->key, of[i]->key);
        }
        if (of[i]) entry = of[i];
    }
    if (!entry) return SNW_OK;
    if (keys->linear) {
        return snw_fail_at(r->err, keys->linear->location,
                           "material '%s' is '%s', from which '%s' follows (E = 3/2 sum mu alpha, "
                           "G = E/3); leave it out",
                           m->name, entry->key, keys->linear->key);
    }
    if (entry == keys->neo_hookean) {
        h->n = 1;
        h->alpha[0] = 2;
        SNW_TRY(snw_read_positive(r, entry->value, entry->key, SNW_DIM_PRESSURE, &h->mu[0]));
    } else if (entry == keys->mooney_rivlin) {
        double c[2];
        SNW_TRY(snw_read_list(r, entry->value, entry->key, 2));
        for (int i = 0; i < 2; i++) {
            SNW_TRY(snw_read_constant(r, entry->value->entry[i].value, entry->key, SNW_DIM_PRESSURE,
                                      &c[i]));
        }
        h->n = 2;
        h->alpha[0] = 2, h->alpha[1] = -2;
        h->mu[0] = 2 * c[0], h->mu[1] = -2 * c[1];
    } else {
        SNW_TRY(read_ogden(r, entry, h));
    }
    const double young = snw_hyperelastic_young(h);
    if (!(young > 0 && isfinite(young))) {
        return snw_fail_at(r->err, entry->value->location,
                           "'%s' gives a Young's modulus of %g Pa, which must be positive",
                           entry->key, young);
    }
    m->young = snw_expr_constant(r->pool, young);
    m->shear = snw_expr_constant(r->pool, young / 3);
    return m->young && m->shear ? SNW_OK : snw_read_memory(r);
}

// ---- relaxation ---------------------------------------------------------------------------------

#define RELAXATION_KEYS(X)                                                                         \
    X(RELAXATION_OF, "of", "instant or relaxed",                                                   \
      "which modulus 'young' and 'shear' are, and the ratios refer to; required")                  \
    X(RELAXATION_RATIOS, "ratios", "list of numbers", "moduli of the branches over that modulus")  \
    X(RELAXATION_MODULI, "moduli", "list, Pa", "parts of Young's modulus, instead of ratios")      \
    X(RELAXATION_TIMES, "times", "list, s", "relaxation times of the branches, required")          \
    X(RELAXATION_SHEAR, "shear_ratios", "list of numbers",                                         \
      "those of the shear modulus, of twist and shear; as ratios unless given")

enum { RELAXATION_KEYS(SNW_KEY_CODE) RELAXATION_N };
SNW_KEYS(relaxation, "relaxation", "a Prony series", RELAXATION_KEYS);

// fraction <- ratios over the instantaneous modulus; *instant <- that over the given one.
static snw_status take_ratios(snw_reader *r, const snw_entry *e, bool relaxed, int n,
                              const double *ratio, double *fraction, double *instant) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (!(ratio[i] >= 0)) {
            return snw_fail_at(r->err, e->value->location, "'%s' must not be negative, got %g",
                               e->key, ratio[i]);
        }
        sum += ratio[i];
    }
    if (!relaxed && !(sum < 1)) {
        return snw_fail_at(r->err, e->value->location,
                           "the branches take %g of the instantaneous modulus; their sum must stay "
                           "below 1, so that something remains when they have relaxed",
                           sum);
    }
    *instant = relaxed ? 1 + sum : 1;
    for (int i = 0; i < n; i++) fraction[i] = ratio[i] / *instant;
    return SNW_OK;
}

snw_status snw_read_relaxation(snw_reader *r, const snw_entry *entry, snw_material_desc *m) {
    if (!entry) return SNW_OK;
    static const char *const words[] = {"instant", "relaxed"};
    snw_relaxation_series *out = &m->relaxation;
    const snw_entry *e[RELAXATION_N];
    double ratio[2][SNW_BRANCHES], young = 0;
    int of = 0, n = 0;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_relaxation, e));
    out->location = entry->location;
    if (m->hyperelastic.n > 0) {
        return snw_fail_at(r->err, entry->location,
                           "material '%s' is hyperelastic, and 'relaxation' needs a linear one in "
                           "this version; give young",
                           m->name);
    }
    if (!e[RELAXATION_OF]) {
        return snw_fail_at(r->err, entry->location,
                           "'relaxation' needs 'of': 'instant' if young is the modulus of a sudden "
                           "strain, 'relaxed' if it is that after a long time");
    }
    SNW_TRY(snw_read_word(r, e[RELAXATION_OF]->value, "of", 2, words, &of));
    SNW_TRY(need_key(r, entry, e[RELAXATION_TIMES], "times"));
    SNW_TRY(read_numbers(r, e[RELAXATION_TIMES], SNW_DIM_TIME, SNW_BRANCHES, &out->n, out->time));
    for (int i = 0; i < out->n; i++) {
        if (out->time[i] > 0) continue;
        return snw_fail_at(r->err, e[RELAXATION_TIMES]->value->entry[i].value->location,
                           "relaxation times must be positive, got %g s", out->time[i]);
    }
    const snw_entry *first = e[RELAXATION_RATIOS] ? e[RELAXATION_RATIOS] : e[RELAXATION_MODULI];
    if (!first || (e[RELAXATION_RATIOS] && e[RELAXATION_MODULI])) {
        return snw_fail_at(r->err, entry->location,
                           "'relaxation' needs one of 'ratios' and 'moduli'");
    }
    const bool moduli = first == e[RELAXATION_MODULI];
    SNW_TRY(read_numbers(r, first, moduli ? SNW_DIM_PRESSURE : SNW_DIM_NONE, SNW_BRANCHES, &n,
                         ratio[0]));
    if (moduli && !snw_law_constant(m->young, &young)) {
        return snw_fail_at(r->err, first->location,
                           "'moduli' need a constant young; give 'ratios' instead");
    }
    for (int i = 0; moduli && i < n; i++) ratio[0][i] /= young;
    memcpy(ratio[1], ratio[0], sizeof ratio[1]);
    int shear = n;
    if (e[RELAXATION_SHEAR])
        SNW_TRY(read_numbers(r, e[RELAXATION_SHEAR], SNW_DIM_NONE, SNW_BRANCHES, &shear, ratio[1]));
    if (n != out->n || shear != out->n) {
        return snw_fail_at(r->err, entry->location,
                           "'relaxation' has %d times, %d moduli of its branches and %d of their "
                           "shear; each branch needs one of each",
                           out->n, n, shear);
    }
    for (int k = 0; k < 2; k++) {
        const snw_entry *from = k && e[RELAXATION_SHEAR] ? e[RELAXATION_SHEAR] : first;
        SNW_TRY(take_ratios(r, from, of == 1, n, ratio[k], out->fraction[k], &out->instant[k]));
    }
    return SNW_OK;
}

// ---- laws of a section --------------------------------------------------------------------------

// Strains as signals of an expression.
static snw_status find_strain(void *user, const char *name, const char *component, int *slot,
                              snw_dim *dim, snw_error *err) {
    (void)user, (void)component, (void)err;
    *slot = -1;
    for (int i = 0; i < 6; i++) {
        if (strcmp(name, snw_strain_name[i]) != 0) continue;
        *slot = i;
        *dim = i < SNW_STRETCH ? SNW_DIM_CURVATURE : SNW_DIM_NONE;
    }
    return SNW_OK;
}

static snw_status refuse_memory(void *user, snw_memory kind, const char *text, const snw_expr *law,
                                double period, int *slot, snw_error *err) {
    (void)user, (void)kind, (void)law, (void)period, (void)slot;
    return snw_fail(err, SNW_E_MODEL,
                    "'%s' has memory, and a section law is a function of the "
                    "present strain",
                    text);
}

static const char *strain_name(void *user, int i) {
    (void)user;
    return i < 6 ? snw_strain_name[i] : NULL;
}

static snw_status read_strain_law(snw_reader *r, const snw_node *node, const char *what,
                                  snw_dim dim, snw_law *out) {
    static const snw_signal_source strains = {
        .probe = find_strain, .memory = refuse_memory, .name = strain_name};
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, what, &text));
    snw_scope *scope = snw_scope_create(r->pool, snw_read_scope(r, node));
    if (!scope) return snw_read_memory(r);
    snw_scope_signals(scope, &strains);
    const snw_expr_rules rules = {.dim = &dim, .vars = SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL};
    const snw_source_location p = snw_text_location(node, 0);
    SNW_TRY(snw_expr_parse(r->pool, scope, text, &rules, p.file, p.line, p.column, out, r->err));
    if (snw_expr_vars(*out) & SNW_VAR_SIGNAL) return SNW_OK;
    return snw_fail_at(r->err, node->location,
                       "'%s' does not depend on a strain; it is an expression of twist, bend_y, "
                       "bend_z, stretch, shear_y and shear_z",
                       what);
}

#define STRESS_TABLE_KEYS(X)                                                                       \
    X(STRESS_TABLE_FILE, "table", "the name of a file",                                            \
      "columns of numbers; the first one is the strain, rising, 1/m or a number")                  \
    X(STRESS_TABLE_COLUMN, "column", "name or number", "of the stress, N m or N; 2 unless given")

enum { STRESS_TABLE_KEYS(SNW_KEY_CODE) STRESS_TABLE_N };
SNW_KEYS(stress_table, "stress_table", "a stress by a table of its strain", STRESS_TABLE_KEYS);

static snw_status read_stress_table(snw_reader *r, const snw_node *node, const char *what,
                                    const snw_monotone_cubic **out) {
    const snw_entry *e[STRESS_TABLE_N];
    const char *file = "", *column = "2";
    snw_table t;
    SNW_TRY(snw_read_map(r, node, &snw_keys_stress_table, e));
    if (!e[STRESS_TABLE_FILE])
        return snw_fail_at(r->err, node->location, "'%s' needs 'table', a file", what);
    SNW_TRY(snw_read_text(r, e[STRESS_TABLE_FILE]->value, "table", &file));
    if (e[STRESS_TABLE_COLUMN])
        SNW_TRY(snw_read_text(r, e[STRESS_TABLE_COLUMN]->value, "column", &column));
    const snw_source_location at = e[STRESS_TABLE_FILE]->value->location;
    const snw_status s = snw_tables_find(r->source->table_user, at.file, file, column, &t, r->err);
    if (s != SNW_OK) return snw_fail_at_location(r->err, s, at.file, at.line, at.column);
    if (t.n < 3) {
        return snw_fail_at(r->err, at, "the table of '%s' has %d rows and needs at least 3", what,
                           t.n);
    }
    if (!(t.x[0] < 0 && t.x[t.n - 1] > 0)) {
        return snw_fail_at(r->err, at,
                           "the table of '%s' covers strains from %g to %g; it must go beyond 0, "
                           "the strain at rest, on both sides",
                           what, t.x[0], t.x[t.n - 1]);
    }
    *out = snw_monotone_cubic_create(r->pool, t.n, t.x, t.y);
    return *out ? SNW_OK : snw_read_memory(r);
}

snw_status snw_read_section_law(snw_reader *r, const snw_entry *energy, const snw_entry *stress,
                                snw_section_desc *out) {
    static const snw_dim force = {.m = 1, .kg = 1, .s = -2}, moment = {.m = 2, .kg = 1, .s = -2};
    if (energy && stress) {
        return snw_fail_at(r->err, stress->location,
                           "give one of 'energy' and 'stress', not both: the stress follows from "
                           "the energy");
    }
    if (energy) {
        out->law_location = energy->location;
        return read_strain_law(r, energy->value, "energy", force, &out->energy);
    }
    if (!stress) return SNW_OK;
    out->law_location = stress->location;
    const snw_entry *e[6];
    SNW_TRY(snw_read_map(r, stress->value, &snw_keys_components, e));
    for (int i = 0; i < 6; i++) {
        if (!e[i]) continue;
        if (e[i]->value->kind == SNW_NODE_MAP) {
            SNW_TRY(read_stress_table(r, e[i]->value, e[i]->key, &out->stress_table[i]));
        } else {
            SNW_TRY(read_strain_law(r, e[i]->value, e[i]->key, i < SNW_STRETCH ? moment : force,
                                    &out->stress[i]));
        }
    }
    return SNW_OK;
}
