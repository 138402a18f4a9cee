// SPDX-License-Identifier: MIT
//
// Reads rods: length, material, cross-section with stiffness, inertia and damping, rest strain,
// strain bases and spatial integrator.
#include "language/read.h"

#include "base/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int ALONG = SNW_VAR_X | SNW_VAR_L; // variables allowed in the laws of a section

// ---- sections -----------------------------------------------------------------------------------

#define SECTION_KEYS(X)                                                                            \
    X(SECTION_AREA, "area", "m^2, law of x", "area of any other section, with moments")            \
    X(SECTION_MOMENTS, "moments", "three, m^4, laws of x",                                         \
      "second moments of the area about x, y and z; that about x is the torsion constant too")     \
    X(SECTION_TORSION, "torsion_constant", "polar, or m^4, law of x",                              \
      "instead of Saint-Venant's of the shape; polar: the polar second moment of area")            \
    X(SECTION_STIFFNESS, "stiffness", "six, by component, or 6 lists of 6; laws of x",             \
      "given directly, N m^2 and N; overrides shape and material")                                 \
    X(SECTION_INERTIA, "inertia", "six, by component, or 6 lists of 6; laws of x",                 \
      "per length, given directly, kg m and kg/m; overrides shape and material")                   \
    X(SECTION_DAMPING, "damping", "six, by component, or 6 lists of 6; laws of x",                 \
      "per strain rate, given directly, N m^2 s and N s; overrides shape and material")            \
    X(SECTION_ENERGY, "energy", "J/m, expression of the strains",                                  \
      "nonlinear law: energy per length, a function of twist, bend_y .. shear_z, x and L")         \
    X(SECTION_STRESS, "stress",                                                                    \
      "for each strain: N m and N, an expression of the strains, or a table",                      \
      "nonlinear law: stresses one by one, instead of energy")
#define SHAPES_AND_KEYS(X) SNW_SECTION_LIST(X) SECTION_KEYS(X)

// shapes come first, in the order of their kinds
enum { SECTION_SHAPE = SNW_SECTION_SHAPES - 1, SECTION_KEYS(SNW_KEY_CODE) SECTION_N };
SNW_KEYS(section, "section", "a section", SHAPES_AND_KEYS);

// read a law that must be positive if it is constant
static snw_status read_section_size(snw_reader *r, const snw_entry *e, snw_dim dim, snw_law *out) {
    SNW_TRY(snw_read_law(r, e->value, e->key, dim, ALONG, out));
    double value = 0;
    if (!snw_law_constant(*out, &value) || value > 0) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "'%s' must be positive, got %g", e->key, value);
}

// divide a law by two, for diameters
static snw_status halve(snw_reader *r, const snw_node *node, snw_law *law) {
    double value = 0;
    if (snw_law_constant(*law, &value)) {
        *law = snw_expr_constant(r->pool, value / 2);
        return *law ? SNW_OK : snw_read_memory(r);
    }
    const char *text = snw_pool_format(r->pool, "(%s)/2", node->text);
    if (!text) return snw_read_memory(r);
    const snw_dim dim = SNW_DIM_LENGTH;
    const snw_expr_rules rules = {.dim = &dim, .vars = ALONG};
    const snw_source_location p = snw_text_location(node, 0);
    return snw_expr_parse(r->pool, snw_read_scope(r, node), text, &rules, p.file, p.line, p.column,
                          law, r->err);
}

// The sizes must be possible, where all of them are constants.
static snw_status check_sizes(snw_reader *r, const snw_section_type *type,
                              const snw_source_location *at, const snw_section_desc *out) {
    double size[SNW_SECTION_SIZES] = {0};
    int wrong = 0;
    for (int i = 0; i < type->nsize; i++) {
        if (!snw_law_constant(out->size[i], &size[i])) return SNW_OK;
    }
    const char *fault = type->fault(size, &wrong);
    if (!fault) return SNW_OK;
    return snw_fail_at(r->err, at[wrong], "%s, got %g m", fault, size[wrong]);
}

// sizes of a shape, each by one of its keys
static snw_status read_sizes(snw_reader *r, const snw_node *node, const snw_section_type *type,
                             snw_section_desc *out) {
    const snw_entry *e[SNW_SECTION_KEYS], *by[SNW_SECTION_SIZES] = {0};
    snw_source_location at[SNW_SECTION_SIZES] = {0};
    bool first_doubled = false;
    SNW_TRY(snw_read_map(r, node, &type->keys, e));
    for (int i = 0; i < type->keys.n; i++) {
        const snw_section_key *key = &type->gives[i];
        if (!e[i]) continue;
        if (by[key->size]) {
            return snw_fail_at(r->err, e[i]->location, "give one of '%s' and '%s', not both",
                               by[key->size]->key, e[i]->key);
        }
        by[key->size] = e[i];
        at[key->size] = e[i]->value->location;
        SNW_TRY(read_section_size(r, e[i], SNW_DIM_LENGTH, &out->size[key->size]));
        const bool doubled = key->as_the_first ? first_doubled : key->doubled;
        if (key->size == 0) first_doubled = doubled;
        if (doubled) SNW_TRY(halve(r, e[i]->value, &out->size[key->size]));
    }
    for (int i = 0; i < type->keys.n; i++) {
        if (by[type->gives[i].size]) continue;
        const snw_key *key = &type->keys.key[i];
        return snw_fail_at(r->err, node->location, "'%s' needs '%s' (%s)", type->keys.name,
                           key->name, key->meaning);
    }
    return check_sizes(r, type, at, out);
}

static snw_status read_area_and_moments(snw_reader *r, const snw_entry *area,
                                        const snw_entry *moments, snw_section_desc *out) {
    if (!area || !moments) {
        return snw_fail_at(r->err, (area ? area : moments)->location, "'%s' needs '%s' beside it",
                           area ? "area" : "moments", area ? "moments" : "area");
    }
    SNW_TRY(read_section_size(r, area, (snw_dim){.m = 2}, &out->size[0]));
    SNW_TRY(snw_read_list(r, moments->value, "moments", 3));
    for (int i = 0; i < 3; i++) {
        const snw_entry e = {.key = "moments", .value = moments->value->entry[i].value};
        SNW_TRY(read_section_size(r, &e, (snw_dim){.m = 4}, &out->size[1 + i]));
    }
    return SNW_OK;
}

static snw_status read_rod_shape(snw_reader *r, const snw_entry *const *e, snw_section_desc *out) {
    const bool given = e[SECTION_AREA] || e[SECTION_MOMENTS];
    const snw_entry *last = NULL;
    int shapes = given ? 1 : 0;
    for (int i = 0; i < SNW_SECTION_SHAPES; i++) {
        if (!e[i]) continue;
        shapes++;
        last = e[i];
        out->kind = (snw_section_kind)(SNW_SECTION_NONE + 1 + i);
    }
    if (shapes > 1) {
        return snw_fail_at(r->err, last->location, "a section has one shape, this is another one");
    }
    if (last) return read_sizes(r, last->value, &snw_section_table[out->kind], out);
    if (!given) return SNW_OK;
    out->kind = SNW_SECTION_GIVEN;
    return read_area_and_moments(r, e[SECTION_AREA], e[SECTION_MOMENTS], out);
}

static snw_status read_torsion_constant(snw_reader *r, const snw_entry *e, snw_section_desc *out) {
    if (!e) return SNW_OK;
    if (out->kind == SNW_SECTION_NONE) {
        return snw_fail_at(r->err, e->location,
                           "'torsion_constant' is that of a shape; without one give 'stiffness'");
    }
    out->polar_torsion = e->value->kind == SNW_NODE_TEXT && strcmp(e->value->text, "polar") == 0;
    if (out->polar_torsion) return SNW_OK;
    return read_section_size(r, e, (snw_dim){.m = 4}, &out->size[SNW_SECTION_TORSION]);
}

// Dimensions of a 6 x 6 matrix: angular block, coupling blocks, linear block.
typedef struct blocks {
    snw_dim angular, coupling, linear;
} blocks;

static const blocks stiffness_dims = {
    {.m = 3, .kg = 1, .s = -2}, {.m = 2, .kg = 1, .s = -2}, {.m = 1, .kg = 1, .s = -2}};
static const blocks inertia_dims = {{.m = 1, .kg = 1}, {.kg = 1}, {.m = -1, .kg = 1}};
static const blocks damping_dims = {
    {.m = 3, .kg = 1, .s = -1}, {.m = 2, .kg = 1, .s = -1}, {.m = 1, .kg = 1, .s = -1}};

static size_t diagonal_index(int i) { return (size_t)i * 7; }

static snw_status read_full_matrix(snw_reader *r, const snw_entry *e, const blocks *b,
                                   snw_law out[36]) {
    SNW_TRY(snw_read_list(r, e->value, e->key, 6));
    for (int i = 0; i < 6; i++) {
        const snw_node *row = e->value->entry[i].value;
        SNW_TRY(snw_read_list(r, row, e->key, 6));
        for (int j = 0; j < 6; j++) {
            const snw_dim dim = i < 3 && j < 3     ? b->angular
                                : i >= 3 && j >= 3 ? b->linear
                                                   : b->coupling;
            SNW_TRY(snw_read_law(r, row->entry[j].value, e->key, dim, ALONG, &out[6 * i + j]));
        }
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            double low = 0, high = 0;
            if (!snw_law_constant(out[6 * i + j], &low)) continue;
            if (!snw_law_constant(out[6 * j + i], &high)) continue;
            if (fabs(low - high) <= 1e-12 * fmax(fabs(low), fabs(high))) continue;
            return snw_fail_at(r->err, e->value->entry[i].value->entry[j].value->location,
                               "'%s' must be symmetric: row %d, column %d is %g, its mirror %g",
                               e->key, i + 1, j + 1, low, high);
        }
    }
    return SNW_OK;
}

static snw_status read_section_matrix(snw_reader *r, const snw_entry *e, const blocks *b,
                                      snw_law out[36], bool *given) {
    if (!e) return SNW_OK;
    *given = true;
    const snw_node *node = e->value;
    if (node->kind == SNW_NODE_LIST && node->n > 0 && node->entry[0].value->kind == SNW_NODE_LIST) {
        return read_full_matrix(r, e, b, out);
    }
    snw_law diagonal[6] = {0};
    SNW_TRY(snw_read_components(r, node, e->key, b->angular, b->linear, ALONG, diagonal));
    for (int i = 0; i < 6; i++) {
        double value = 0;
        if (snw_law_constant(diagonal[i], &value) && value < 0) {
            return snw_fail_at(r->err, node->location, "'%s' of %s must not be negative, got %g",
                               e->key, snw_strain_name[i], value);
        }
        out[diagonal_index(i)] = diagonal[i];
    }
    return SNW_OK;
}

static snw_status read_rod_read_section(snw_reader *r, const snw_node *node,
                                        snw_section_desc *out) {
    const snw_entry *e[SECTION_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_section, e));
    SNW_TRY(read_rod_shape(r, e, out));
    SNW_TRY(read_torsion_constant(r, e[SECTION_TORSION], out));
    SNW_TRY(read_section_matrix(r, e[SECTION_STIFFNESS], &stiffness_dims, out->stiffness,
                                &out->stiffness_given));
    SNW_TRY(read_section_matrix(r, e[SECTION_INERTIA], &inertia_dims, out->inertia,
                                &out->inertia_given));
    SNW_TRY(read_section_matrix(r, e[SECTION_DAMPING], &damping_dims, out->damping,
                                &out->damping_given));
    return snw_read_section_law(r, e[SECTION_ENERGY], e[SECTION_STRESS], out);
}

// ---- rods ---------------------------------------------------------------------------------------

#define ROD_KEYS(X)                                                                                \
    X(ROD_LENGTH, "length", "m",                                                                   \
      "arc length, required; of a variable-length rod (feed) the free length at the start")        \
    X(ROD_MATERIAL, "material", "a material's name", "its material")                               \
    X(ROD_SECTION, "section", "a section", "shape, or stiffness and inertia")                      \
    X(ROD_REST, "rest", "six, by component, or 0; laws of x",                                      \
      "strain without stress, 0 if absent")                                                        \
    X(ROD_STRAIN, "strain", "by component, or all at once",                                        \
      "which components vary, with their basis, a list of functions of x, or a law of t and x; "   \
      "required")                                                                                  \
    X(ROD_ELEMENTS, "elements", "number", "equal elements of piecewise bases, 1 unless given")     \
    X(ROD_BREAKS, "breaks", "list of lengths, m", "ends of the elements, instead of elements")     \
    X(ROD_NODES, "nodes", "number or auto", "quadrature nodes along the rod, auto unless given")   \
    X(ROD_MAGNUS, "magnus", "2, 4 or 6", "order of the integration along the rod, 4 unless given") \
    X(ROD_INTEGRATOR, "integrator", "a rule along the rod",                                        \
      "instead of magnus: fer with its order, rk4, spectral or chebyshev with its points, or "     \
      "rk45")                                                                                      \
    X(ROD_TOLERANCE, "tolerance", "number, 1e-12 to 1e-2",                                         \
      "of rk45: error of a slice, 1e-6 unless given; nodes is then the maximum")

enum { ROD_KEYS(SNW_KEY_CODE) ROD_N };
SNW_KEYS(rod, "rod", "a rod", ROD_KEYS);

enum { MAX_NODES = 10000 };

static snw_status read_nodes(snw_reader *r, const snw_entry *e, snw_rod_desc *out) {
    out->nodes_location = e->value->location;
    if (e->value->kind == SNW_NODE_TEXT && strcmp(e->value->text, "auto") == 0) return SNW_OK;
    return snw_read_integer(r, e->value, "nodes", 1, MAX_NODES, &out->nodes);
}

static snw_status read_magnus(snw_reader *r, const snw_entry *e, snw_rod_desc *out) {
    SNW_TRY(snw_read_integer(r, e->value, "magnus", 2, 6, &out->magnus));
    if (out->magnus % 2 == 0) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "'magnus' is 2, 4 or 6, got %d", out->magnus);
}

// `rk4`, `spectral 3`, `magnus 6`, `fer 4`
static snw_status read_integrator(snw_reader *r, const snw_entry *e, const snw_entry *magnus,
                                  snw_rod_desc *out) {
    const char *text = "";
    SNW_TRY(snw_read_text(r, e->value, "integrator", &text));
    if (magnus) {
        return snw_fail_at(r->err, e->location,
                           "'integrator' and 'magnus' are alternatives; give one");
    }
    for (int k = 0; k < SNW_RULES; k++) {
        const snw_rule_kind kind = (snw_rule_kind)k;
        const char *name = snw_rule_name(kind);
        const size_t n = strlen(name);
        char *end = NULL;
        if (strncmp(text, name, n) != 0 || (text[n] != '\0' && text[n] != ' ')) continue;
        const long number = text[n] ? strtol(text + n, &end, 10) : 0;
        if ((end && *end) || number < 0 || number > 99 || !snw_rule_exists(kind, (int)number))
            break;
        out->integrator = kind;
        if (kind == SNW_RULE_MAGNUS || kind == SNW_RULE_FER) out->magnus = (int)number;
        if (kind == SNW_RULE_SPECTRAL || kind == SNW_RULE_CHEBYSHEV) out->points = (int)number;
        return SNW_OK;
    }
    return snw_fail_at(
        r->err, e->value->location,
        "there is no integrator '%.40s'; there are magnus 2, 4, 6, fer 2, 4, 6, rk4, "
        "spectral 2, 3, 4, rk45, and chebyshev 5 to 41",
        text);
}

static snw_status read_rod_tolerance(snw_reader *r, const snw_entry *e, snw_rod_desc *out) {
    if (out->integrator != SNW_RULE_RK45) {
        if (!e) return SNW_OK;
        return snw_fail_at(r->err, e->location,
                           "'tolerance' is for integrator: rk45, which places the nodes by it");
    }
    out->tolerance = 1e-6;
    if (!e) return SNW_OK;
    SNW_TRY(snw_read_positive(r, e->value, "tolerance", SNW_DIM_NONE, &out->tolerance));
    if (out->tolerance >= 1e-12 && out->tolerance <= 1e-2) return SNW_OK;
    return snw_fail_at(r->err, e->value->location,
                       "'tolerance' of a rod lies between 1e-12 and 1e-2, got %g", out->tolerance);
}

// Does the section give the law of this component, by its stiffness or a nonlinear law?
static bool is_given(const snw_rod_desc *rod, int component) {
    return rod->section.stiffness[diagonal_index(component)] ||
           snw_section_law_gives(&rod->section, component);
}

// true if an active component needs the shear modulus for its stiffness
static bool needs_shear(const snw_rod_desc *rod) {
    static const int sheared[] = {SNW_TWIST, SNW_SHEAR_Y, SNW_SHEAR_Z};
    for (int k = 0; k < 3; k++) {
        const int i = sheared[k];
        if (rod->active[i] && !is_given(rod, i)) return true;
    }
    return false;
}

static bool needs_young(const snw_rod_desc *rod) {
    static const int young[] = {SNW_BEND_Y, SNW_BEND_Z, SNW_STRETCH};
    for (int k = 0; k < 3; k++) {
        const int i = young[k];
        if (rod->active[i] && !is_given(rod, i)) return true;
    }
    return false;
}

static bool needs_density(const snw_rod_desc *rod) {
    for (int i = SNW_STRETCH; i <= SNW_SHEAR_Z; i++) {
        if (!rod->section.inertia[diagonal_index(i)]) return true;
    }
    return false;
}

// check that quantities not given directly can be computed from shape and material
static snw_status check_complete(snw_reader *r, const char *link, snw_source_location location,
                                 const snw_rod_desc *rod) {
    const snw_section_desc *s = &rod->section;
    const bool needs_stiffness = needs_shear(rod) || needs_young(rod);
    if (s->kind == SNW_SECTION_NONE) {
        if (!needs_stiffness || s->stiffness_given) return SNW_OK;
        return snw_fail_at(r->err, location,
                           "rod '%s' needs a section: a shape and a material, or its stiffness",
                           link);
    }
    const snw_material_desc *m = rod->material;
    if (!m) {
        if (!needs_stiffness && (s->inertia_given || !needs_density(rod))) return SNW_OK;
        return snw_fail_at(r->err, location,
                           "rod '%s' has a shape but no material, add 'material:'", link);
    }
    if (needs_young(rod) && !m->young) {
        return snw_fail_at(r->err, m->location,
                           "material '%s' needs young, rod '%s' bends or stretches", m->name, link);
    }
    if (needs_shear(rod) && !m->shear && !(m->poisson && m->young)) {
        return snw_fail_at(r->err, m->location,
                           "material '%s' needs poisson or shear, rod '%s' twists or shears",
                           m->name, link);
    }
    if (needs_density(rod) && !m->density && !r->weightless) {
        return snw_fail_at(
            r->err, m->location,
            "material '%s' needs a density, rod '%s' has weight or moves (0 for none)", m->name,
            link);
    }
    return SNW_OK;
}

snw_status snw_read_rod(snw_reader *r, const snw_node *node, const char *link, snw_rod_desc *out) {
    const snw_entry *e[ROD_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_rod, e));
    out->magnus = 4;
    if (!e[ROD_LENGTH]) {
        return snw_fail_at(r->err, out->location, "rod '%s' needs a length, e.g. 'length: 1 m'",
                           link);
    }
    out->length_location = e[ROD_LENGTH]->value->location;
    SNW_TRY(snw_read_positive(r, e[ROD_LENGTH]->value, "length", SNW_DIM_LENGTH, &out->length));
    if (e[ROD_MATERIAL]) {
        const snw_node *material = e[ROD_MATERIAL]->value;
        const char *name = "";
        int i = 0;
        SNW_TRY(snw_read_name(r, material, "material", &name));
        SNW_TRY(snw_find_thing(r, material, name, SNW_THING_MATERIAL, &i));
        out->material = &r->material[i];
    }
    out->section.location = e[ROD_SECTION] ? e[ROD_SECTION]->location : out->location;
    if (e[ROD_SECTION]) SNW_TRY(read_rod_read_section(r, e[ROD_SECTION]->value, &out->section));
    if (e[ROD_REST]) {
        SNW_TRY(snw_read_components(r, e[ROD_REST]->value, "rest", SNW_DIM_CURVATURE, SNW_DIM_NONE,
                                    ALONG, out->rest));
    }
    if (!e[ROD_STRAIN]) {
        return snw_fail_at(r->err, out->location,
                           "rod '%s' needs its strain, e.g. 'strain: kirchhoff legendre 3'", link);
    }
    SNW_TRY(snw_read_strain(r, e[ROD_STRAIN]->value, e[ROD_ELEMENTS], e[ROD_BREAKS], out));
    if (e[ROD_NODES]) SNW_TRY(read_nodes(r, e[ROD_NODES], out));
    if (e[ROD_MAGNUS]) SNW_TRY(read_magnus(r, e[ROD_MAGNUS], out));
    if (e[ROD_INTEGRATOR]) SNW_TRY(read_integrator(r, e[ROD_INTEGRATOR], e[ROD_MAGNUS], out));
    SNW_TRY(read_rod_tolerance(r, e[ROD_TOLERANCE], out));
    if (out->integrator == SNW_RULE_CHEBYSHEV) {
        if (out->nodes > 0)
            return snw_fail_at(r->err, out->nodes_location,
                               "integrator: chebyshev %d has its nodes at its points; leave "
                               "'nodes' out, or write nodes: auto",
                               out->points);
        out->nodes = out->points - 2;
    }
    return check_complete(r, link, out->section.location, out);
}
