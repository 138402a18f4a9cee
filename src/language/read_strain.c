// SPDX-License-Identifier: MIT
//
// Reads the strain field of a rod: the active components and their bases, and the components
// prescribed by laws.
#include "language/read.h"

#include "base/fail.h"
#include "math/function_set.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MAX_ELEMENTS = 200000 };

// Elements shared by the piecewise bases of a rod.
typedef struct mesh {
    const snw_entry *given; // `elements` or `breaks`, NULL: one element
    int nelem;
    const double *breaks;
    bool used; // by at least one component
} mesh;

static snw_status read_breaks(snw_reader *r, const snw_entry *e, double L, mesh *m) {
    const snw_node *node = e->value;
    if (node->kind != SNW_NODE_LIST || node->n < 1) {
        return snw_fail_at(r->err, node->location, "'breaks' is a list of lengths along the rod");
    }
    if (node->n > MAX_ELEMENTS) {
        return snw_fail_at(r->err, node->location,
                           "'breaks' has %d entries, at most %d are possible", node->n,
                           MAX_ELEMENTS);
    }
    double *at = snw_pool_array(r->pool, (size_t)node->n + 2, sizeof *at);
    if (!at) return snw_read_memory(r);
    const double slack = 1e-9; // relative to the length, to recognise the ends
    int n = 1;                 // the root is always a break
    for (int i = 0; i < node->n; i++) {
        const snw_node *value = node->entry[i].value;
        double x = 0;
        SNW_TRY(snw_read_constant(r, value, "breaks", SNW_DIM_LENGTH, &x));
        if (i == 0 && fabs(x) <= slack * L) continue;
        if (i == node->n - 1 && fabs(x - L) <= slack * L) continue;
        if (!(x > 0 && x < L)) {
            return snw_fail_at(r->err, value->location,
                               "a break at %g m is outside of the rod, which goes from 0 to %g m",
                               x, L);
        }
        if (!(x / L > at[n - 1])) {
            return snw_fail_at(r->err, value->location, "'breaks' must increase, %g m does not", x);
        }
        at[n++] = x / L;
    }
    at[n] = 1;
    m->nelem = n;
    m->breaks = at;
    return SNW_OK;
}

static snw_status read_mesh(snw_reader *r, const snw_entry *elements, const snw_entry *breaks,
                            double L, mesh *m) {
    *m = (mesh){.given = elements ? elements : breaks, .nelem = 1};
    if (elements && breaks) {
        return snw_fail_at(r->err, breaks->location, "give 'elements' or 'breaks', not both");
    }
    if (elements)
        return snw_read_integer(r, elements->value, "elements", 1, MAX_ELEMENTS, &m->nelem);
    if (breaks) return read_breaks(r, breaks, L, m);
    return SNW_OK;
}

// Basis whose name are the first n characters of text; SNW_BASIS_COUNT: none.
static snw_basis_kind basis_named(const char *text, size_t n) {
    int kind = 0;
    while (kind < SNW_BASIS_COUNT && (strlen(snw_basis_table[kind].name) != n ||
                                      strncmp(snw_basis_table[kind].name, text, n) != 0)) {
        kind++;
    }
    return (snw_basis_kind)kind;
}

// the number behind the name of a basis, from 1 to `most`
static snw_status read_basis_number(snw_reader *r, const snw_node *node, const char *text,
                                    const snw_basis_type *type, int *out) {
    const size_t at = (size_t)(text - node->text);
    double n = 0;
    if (*text == '\0') {
        return snw_fail_at(r->err, node->location, "'%s' needs a %s, e.g. '%s 3'", type->name,
                           type->number, type->name);
    }
    SNW_TRY(snw_read_constant_in(r, node, text, at, type->number, SNW_DIM_NONE, (double)NAN, &n));
    if (!(n >= 1 && n <= type->most && n == floor(n))) {
        return snw_fail_at(r->err, snw_text_location(node, at),
                           "the %s is a whole number from 1 to %d, got %g", type->number,
                           type->most, n);
    }
    *out = (int)n;
    return SNW_OK;
}

// basis with its number, if it takes one, `skip` characters into the text of the node
static snw_status read_basis(snw_reader *r, const snw_node *node, size_t skip, mesh *m,
                             snw_basis *out) {
    const char *text = node->text + skip;
    size_t length = 0;
    while (isalpha((unsigned char)text[length])) length++;
    const snw_basis_kind kind = basis_named(text, length);
    SNW_ASSERT(kind < SNW_BASIS_COUNT);
    const snw_basis_type *type = &snw_basis_table[kind];
    const char *rest = text + length + strspn(text + length, " ");
    int number = 0;
    *out = (snw_basis){.kind = kind, .nelem = 1};
    if (type->number) {
        SNW_TRY(read_basis_number(r, node, rest, type, &number));
    } else if (*rest != '\0') {
        return snw_fail_at(r->err, snw_text_location(node, (size_t)(rest - node->text)),
                           "'%s' is piecewise, its size follows from the rod's 'elements' or "
                           "'breaks'",
                           type->name);
    }
    if (type->piecewise) {
        m->used = true;
        out->nelem = m->nelem;
        out->breaks = m->breaks;
    }
    out->nfun = snw_basis_size(kind, number, out->nelem);
    if (out->nfun > MAX_ELEMENTS) {
        return snw_fail_at(r->err, m->given->value->location,
                           "%d elements of '%s' make %d functions, at most %d are possible",
                           m->nelem, type->name, out->nfun, MAX_ELEMENTS);
    }
    return SNW_OK;
}

// true if text begins with the name of a basis; otherwise *near may be a similar name
static bool begins_with_basis(snw_reader *r, const char *text, const char **word,
                              const char **near) {
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_') length++;
    *near = NULL;
    *word = snw_pool_text(r->pool, text, length);
    if (!*word || length == 0) return false;
    if (basis_named(text, length) < SNW_BASIS_COUNT) return true;
    // a name followed by an operator belongs to a law
    const char next = text[length + strspn(text + length, " ")];
    const char *name[SNW_BASIS_COUNT];
    for (int i = 0; i < SNW_BASIS_COUNT; i++) name[i] = snw_basis_table[i].name;
    if (next == '\0' || isalnum((unsigned char)next))
        *near = snw_nearest(*word, SNW_BASIS_COUNT, name);
    return false;
}

// a basis, a list of functions, or a law for the whole strain component
static snw_status strain_read_component(snw_reader *r, const snw_entry *e, int i, mesh *m,
                                        snw_rod_desc *out) {
    const char *text = "", *word = "", *near = NULL;
    if (e->value->kind == SNW_NODE_LIST) {
        out->active[i] = true;
        return snw_read_functions(r, e, out->length, !out->together[i], &out->basis[i]);
    }
    SNW_TRY(snw_read_text(r, e->value, e->key, &text));
    if (begins_with_basis(r, text, &word, &near)) {
        out->active[i] = true;
        return read_basis(r, e->value, 0, m, &out->basis[i]);
    }
    if (near) {
        return snw_fail_at(r->err, e->value->location, "unknown basis '%s'%s", word,
                           snw_hint_text(near).text);
    }
    const snw_dim dim = i < 3 ? SNW_DIM_CURVATURE : SNW_DIM_NONE;
    const int vars = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L;
    return snw_read_law(r, e->value, e->key, dim, vars, &out->given[i]);
}

// `kirchhoff legendre 3`, `cosserat cubic`, `rigid`
static snw_status read_preset(snw_reader *r, const snw_node *node, mesh *m, snw_rod_desc *out) {
    static const char *const models[] = {"rigid", "kirchhoff", "cosserat"};
    static const int count[] = {0, 3, 6};
    const size_t length = strcspn(node->text, " ");
    const char *word = snw_pool_text(r->pool, node->text, length);
    if (!word) return snw_read_memory(r);
    int model = 0;
    while (model < 3 && strcmp(models[model], word) != 0) model++;
    if (model == 3) {
        const char *near = snw_nearest(word, 3, models);
        if (near) {
            return snw_fail_at(r->err, node->location, "unknown strain '%s'%s", word,
                               snw_hint_text(near).text);
        }
        return snw_fail_at(r->err, node->location,
                           "'%s' names no strains: 'kirchhoff legendre 3', 'cosserat legendre 5', "
                           "'rigid', or by component '{bend_y: legendre 3}'",
                           node->text);
    }
    const size_t skip = length + strspn(node->text + length, " ");
    const char *basis = NULL, *near = NULL;
    if (model == 0) {
        if (node->text[skip] == '\0') return SNW_OK;
        return snw_fail_at(r->err, snw_text_location(node, skip), "'rigid' has no basis");
    }
    if (!begins_with_basis(r, node->text + skip, &basis, &near)) {
        if (near) {
            return snw_fail_at(r->err, snw_text_location(node, skip), "unknown basis '%s'%s", basis,
                               snw_hint_text(near).text);
        }
        return snw_fail_at(r->err, snw_text_location(node, skip),
                           "'%s' needs a basis, e.g. '%s legendre 3'", word, word);
    }
    snw_basis b;
    SNW_TRY(read_basis(r, node, skip, m, &b));
    for (int i = 0; i < count[model]; i++) {
        out->active[i] = true;
        out->basis[i] = b;
    }
    return SNW_OK;
}

static snw_status read_by_component(snw_reader *r, const snw_node *node, mesh *m,
                                    snw_rod_desc *out) {
    const snw_entry *e[6];
    SNW_TRY(snw_read_map(r, node, &snw_keys_components, e));
    if (node->n == 0) {
        return snw_fail_at(r->err, node->location,
                           "'strain' names no component; write 'rigid' if none changes");
    }
    for (int i = 0; i < 6; i++) {
        if (!e[i]) continue;
        SNW_TRY(strain_read_component(r, e[i], i, m, out));
    }
    return SNW_OK;
}

snw_status snw_read_together(snw_reader *r, const snw_entry *e, snw_rod_desc *out) {
    const snw_node *node = e->value;
    if (node->kind != SNW_NODE_LIST || node->n < 2) {
        return snw_fail_at(r->err, node->location,
                           "'together' is a list of two strains or more, e.g. [bend_z, stretch]");
    }
    for (int k = 0; k < node->n; k++) {
        const snw_node *one = node->entry[k].value;
        const char *name = NULL;
        int i = 0;
        SNW_TRY(snw_read_name(r, one, "together", &name));
        while (i < 6 && strcmp(snw_strain_name[i], name) != 0) i++;
        if (i == 6) {
            return snw_fail_at(r->err, one->location, "'together' names no strain '%s'%s", name,
                               snw_hint_text(snw_nearest(name, 6, snw_strain_name)).text);
        }
        if (out->together[i])
            return snw_fail_at(r->err, one->location, "'together' has %s twice", name);
        out->together[i] = true;
    }
    return SNW_OK;
}

snw_status snw_read_join_functions(snw_reader *r, const snw_entry *e, snw_rod_desc *out) {
    snw_basis *basis[6];
    const char *name[6];
    int n = 0;
    for (int i = 0; i < 6; i++) {
        if (!out->together[i]) continue;
        if (!out->active[i] || !out->basis[i].set) {
            return snw_fail_at(r->err, e->location,
                               "'together' names %s, which has no list of functions under "
                               "'strain'; give one, or leave it out of 'together'",
                               snw_strain_name[i]);
        }
        if (n > 0 && out->basis[i].nfun != basis[0]->nfun) {
            return snw_fail_at(r->err, e->location,
                               "strains that move together have as many functions each, and %s has "
                               "%d, %s %d",
                               name[0], basis[0]->nfun, snw_strain_name[i], out->basis[i].nfun);
        }
        name[n] = snw_strain_name[i];
        basis[n++] = &out->basis[i];
    }
    return snw_function_set_join(r->pool, n, name, basis, r->err);
}

snw_status snw_read_strain(snw_reader *r, const snw_node *node, const snw_entry *elements,
                           const snw_entry *breaks, snw_rod_desc *out) {
    mesh m;
    SNW_TRY(read_mesh(r, elements, breaks, out->length, &m));
    if (node->kind == SNW_NODE_MAP) {
        SNW_TRY(read_by_component(r, node, &m, out));
    } else {
        const char *text = "";
        SNW_TRY(snw_read_text(r, node, "strain", &text));
        SNW_TRY(read_preset(r, node, &m, out));
    }
    if (m.given && !m.used && m.nelem > 1) {
        return snw_fail_at(r->err, m.given->location,
                           "'%s' is for piecewise bases, and this rod has none; 'sinew help "
                           "language bases' lists them",
                           m.given->key);
    }
    return SNW_OK;
}
