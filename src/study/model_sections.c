// SPDX-License-Identifier: MIT
//
// Derivatives of a scalar by the numbers in laws of sections and materials, theory.md (7.5.17): of
// the matrices of a section by the value of a law, by differences of order 6, times those of the
// value by its numbers.
#include "study/model_sections.h"

#include "base/alloc.h"
#include "math/expr_op.h"
#include "model/relaxation_series.h"

#include <math.h>
#include <string.h>

// Laws of a rod: of the material, sizes, entries on the diagonals, rest strain.
enum { YOUNG, POISSON, SHEAR, DENSITY, RETARDATION, SIZE, STIFF = SIZE + SNW_SECTION_SIZES };
enum { HEAVY = STIFF + 6, VISCOUS = HEAVY + 6, RESTING = VISCOUS + 6, LAWS = RESTING + 6 };
enum { INERTIA = 10, SAMPLES = 3 };
static const double weight[SAMPLES] = {3.0 / 4, -3.0 / 20, 1.0 / 60}, sample_move = 1e-3;

// A law with its first number.
typedef struct section_slot {
    int rod, law;
    size_t first;
} section_slot;

struct snw_model_sections {
    const snw_model *m;
    int n;
    section_slot *slot;
    size_t size;
    double *scratch;
    snw_expr *value; // a constant in place of a law
    bool works;      // sections have values on both sides of those of their laws
};

// A rod with a material of its own.
typedef struct trial_rod {
    snw_rod_desc rod;
    snw_material_desc material;
} trial_rod;

// ---- list ---------------------------------------------------------------------------------------

static const snw_rod_desc *described(const snw_model *m, int rod) {
    return &m->desc->link[m->rod[rod].link].rod;
}

static snw_law *place_of(snw_rod_desc *rod, snw_material_desc *mat, int law) {
    snw_law *const of_material[] = {&mat->young, &mat->poisson, &mat->shear, &mat->density,
                                    &mat->damping};
    if (law < SIZE) return of_material[law];
    if (law < STIFF) return &rod->section.size[law - SIZE];
    if (law >= RESTING) return &rod->rest[law - RESTING];
    snw_law *const entry[] = {rod->section.stiffness, rod->section.inertia, rod->section.damping};
    return &entry[(law - STIFF) / 6][7 * ((law - STIFF) % 6)];
}

static trial_rod trial_of(const snw_rod_desc *rod) {
    trial_rod t = {.rod = *rod};
    if (rod->material) t.material = *rod->material;
    return t;
}

static snw_law law_at(const snw_rod_desc *rod, int law) {
    trial_rod t = trial_of(rod);
    return *place_of(&t.rod, &t.material, law);
}

static void list_laws(snw_model_sections *a, size_t *scratch) {
    a->n = 0;
    a->size = *scratch = 0;
    for (int rod = 0; rod < a->m->nrod; rod++) {
        for (int law = 0; law < LAWS; law++) {
            const snw_law e = law_at(described(a->m, rod), law);
            if (!e) continue;
            if (a->slot) a->slot[a->n] = (section_slot){rod, law, a->size};
            a->n++;
            a->size += (size_t)snw_expr_constants(e);
            if (snw_expr_slope_scratch(e) > *scratch) *scratch = snw_expr_slope_scratch(e);
        }
    }
}

void snw_model_sections_destroy(snw_model_sections *a) {
    if (!a) return;
    snw_free(a->slot);
    snw_free(a->scratch);
    snw_free(a->value);
    snw_free(a);
}

size_t snw_model_sections_size(const snw_model_sections *a) { return a->size; }

void snw_model_sections_read(const snw_model_sections *a, const snw_model *m, double *out) {
    for (int i = 0; i < a->n; i++) {
        const section_slot *s = &a->slot[i];
        snw_expr_read_constants(law_at(described(m, s->rod), s->law), out + s->first);
    }
}

static bool same_section(const snw_rod_desc *a, const snw_rod_desc *b) {
    const snw_section_desc *x = &a->section, *y = &b->section;
    if (a->length != b->length || x->kind != y->kind || x->polar_torsion != y->polar_torsion ||
        x->stiffness_given != y->stiffness_given || x->inertia_given != y->inertia_given ||
        x->damping_given != y->damping_given || !a->material != !b->material)
        return false;
    for (int law = 0; law < LAWS; law++) {
        const snw_law p = law_at(a, law), q = law_at(b, law);
        if (!p != !q || (p && !snw_expr_alike(p, q))) return false;
    }
    for (int i = 0; i < 36; i++) { // apart from the diagonals
        const snw_law p[] = {x->stiffness[i], x->inertia[i], x->damping[i]},
                      q[] = {y->stiffness[i], y->inertia[i], y->damping[i]};
        for (int k = 0; k < 3 && i % 7 != 0; k++) {
            if (!p[k] != !q[k] || (p[k] && !snw_expr_same(p[k], q[k]))) return false;
        }
    }
    return true;
}

bool snw_model_sections_only(const snw_model_sections *a, const snw_model *o) {
    const snw_model *m = a->m;
    if (!a->works || m->npoint != o->npoint || m->nseg != o->nseg) return false;
    for (int i = 0; i < m->nrod; i++) {
        if (!same_section(described(m, i), described(o, i))) return false;
    }
    for (int i = 0; i < m->npoint; i++) {
        if (m->point[i].x != o->point[i].x || m->point[i].w != o->point[i].w) return false;
    }
    for (int i = 0; i < m->nseg; i++) {
        if (m->seg_x[i] != o->seg_x[i] || m->seg_w[i] != o->seg_w[i]) return false;
    }
    return true;
}

// ---- sections -----------------------------------------------------------------------------------

// Rod of a node with inertia; -1: none.
static int rod_of_node(const snw_model *m, int seg) {
    const bool node = m->seg[seg].kind == SNW_SEG_ROD && m->seg_w[seg] > 0;
    return node ? m->slice[m->seg[seg].item].rod : -1;
}

void snw_section_inertia(const snw_model *m, int seg, snw_inertia *out) {
    const int rod = rod_of_node(m, seg);
    double H[36], D[36];
    snw_error none = {0};
    *out = (snw_inertia){0};
    if (rod >= 0 &&
        snw_section_at(described(m, rod), "", m->seg_x[seg], H, D, out, &none) == SNW_OK)
        *out = snw_inertia_scale(m->seg_w[seg], *out);
}

// out (36) <- w Phi G Phi' at a point, G (ndof x ndof): derivatives by the matrix of the section.
static void by_section(const snw_model *m, const snw_rod *r, const snw_point *p, const double *G,
                       double out[36]) {
    memset(out, 0, 36 * sizeof *out);
    const double *pa = m->phi + p->phi;
    for (int a = 0; a < r->na; pa += p->count[a], a++) {
        const double *pb = m->phi + p->phi;
        for (int c = 0; c < r->na; pb += p->count[c], c++) {
            double sum = 0;
            for (int i = 0; i < p->count[a]; i++) {
                const int row = r->dof[a] - r->dof0 + p->first[a] + i;
                const double *g =
                    G + (size_t)row * (size_t)r->ndof + r->dof[c] - r->dof0 + p->first[c];
                for (int j = 0; j < p->count[c]; j++) sum += pa[i] * g[j] * pb[j];
            }
            out[6 * r->comp[a] + r->comp[c]] = p->w * sum;
        }
    }
}

// Bars of a section at x: of stiffness, damping (36 each, NULL: none) and inertia (NULL: none).
typedef struct section_bar {
    double x;
    const double *H, *D, *M;
} section_bar;

static double section_product(const snw_rod_desc *rod, const section_bar *b) {
    double H[36], D[36], sum = 0;
    snw_inertia M;
    snw_error none = {0};
    if (snw_section_at(rod, "", b->x, H, D, &M, &none) != SNW_OK) return NAN;
    for (int i = 0; b->H && i < 36; i++) sum += b->H[i] * H[i] + b->D[i] * D[i];
    if (!b->M) return sum;
    const double of[INERTIA] = {M.m,    M.mc.x, M.mc.y, M.mc.z, M.I[0],
                                M.I[1], M.I[2], M.I[3], M.I[4], M.I[5]};
    for (int i = 0; i < INERTIA; i++) sum += b->M[i] * of[i];
    return sum;
}

// Derivative of the product at one place by the value of a law; NaN: it cannot have other values.
static double by_law(snw_model_sections *a, const section_slot *s, const section_bar *b) {
    const snw_rod_desc *d = described(a->m, s->rod);
    trial_rod t = trial_of(d);
    snw_law *place = place_of(&t.rod, &t.material, s->law);
    const double v = snw_expr_value(*place, (snw_at){.x = b->x, .L = d->length}),
                 h = sample_move * (v != 0 ? fabs(v) : 1);
    if (d->material) t.rod.material = &t.material;
    *place = a->value;
    double by = 0;
    for (int k = 1; k <= SAMPLES; k++) {
        a->value->value = v + k * h;
        const double up = section_product(&t.rod, b);
        a->value->value = v - k * h;
        by += weight[k - 1] / h * (up - section_product(&t.rod, b));
    }
    return by;
}

static bool laws_can_move(snw_model_sections *a) {
    for (int i = 0; i < a->n; i++) {
        const snw_rod *r = &a->m->rod[a->slot[i].rod];
        for (int k = r->point0; k < r->point0 + r->npoint && a->slot[i].law < RESTING; k++) {
            const section_bar b = {.x = a->m->point[k].x};
            if (isnan(by_law(a, &a->slot[i], &b))) return false;
        }
    }
    return true;
}

snw_status snw_model_sections_create(const snw_model *m, snw_model_sections **out) {
    snw_model_sections *a = snw_alloc(sizeof *a);
    size_t scratch;
    *out = a;
    if (!a) return SNW_E_MEMORY;
    *a = (snw_model_sections){.m = m};
    list_laws(a, &scratch);
    a->slot = snw_alloc(((size_t)a->n + 1) * sizeof *a->slot);
    a->scratch = snw_alloc((scratch + 1) * sizeof *a->scratch);
    a->value = snw_alloc(sizeof *a->value);
    if (!a->slot || !a->scratch || !a->value) return SNW_E_MEMORY;
    *a->value = (snw_expr){0};
    list_laws(a, &scratch);
    a->works = laws_can_move(a);
    return SNW_OK;
}

// bar += derivatives of the product at one place by all numbers of the rod.
static void add_place(snw_model_sections *a, int rod, const section_bar *b, double *bar) {
    const snw_rod_desc *d = described(a->m, rod);
    for (int i = 0; i < a->n; i++) {
        const section_slot *s = &a->slot[i];
        const double by = s->rod == rod && s->law < RESTING ? by_law(a, s, b) : 0;
        if (by != 0)
            snw_expr_add_slopes(law_at(d, s->law), (snw_at){.x = b->x, .L = d->length}, by,
                                a->scratch, bar + s->first);
    }
}

// Branches at a place: H += derivatives by the section from those by their matrices; fractions.
static void add_branches(const snw_model *m, int rod, const snw_point *p,
                         const snw_section_bars *by, double H[36]) {
    const snw_rod *r = &m->rod[rod];
    const snw_rod_desc *d = described(m, rod);
    double part[36], of[36], unused[36];
    snw_inertia M;
    snw_error none = {0};
    if (r->nbranch == 0 || snw_section_at(d, "", p->x, of, unused, &M, &none) != SNW_OK) return;
    for (int k = 0; k < r->nbranch; k++) {
        by_section(m, r, p, by->branch_K + (size_t)k * (size_t)r->ndof * (size_t)r->ndof, part);
        for (int i = 0; i < 36; i++) {
            const int shear = snw_relaxes_as_shear(i / 6);
            H[i] += d->material->relaxation.fraction[shear][k] * part[i];
            by->fraction[shear * r->nbranch + k] += part[i] * of[i];
        }
    }
}

// The product at one place by the instantaneous over the given moduli, in which it is linear.
static void add_instants(const snw_rod_desc *d, const section_bar *b, double *instant) {
    trial_rod t = trial_of(d);
    t.rod.material = &t.material;
    for (int k = 0; k < 2; k++) {
        double *at = &t.material.relaxation.instant[k], value = *at;
        *at = 2 * value;
        const double twice = section_product(&t.rod, b);
        *at = value;
        instant[k] += (twice - section_product(&t.rod, b)) / value;
    }
}

void snw_model_sections_add(snw_model_sections *a, int rod, const snw_section_bars *by,
                            double *bar) {
    const snw_model *m = a->m;
    const snw_rod *r = &m->rod[rod];
    for (int i = r->point0; i < r->point0 + r->npoint; i++) {
        double H[36], D[36];
        by_section(m, r, &m->point[i], by->K, H);
        by_section(m, r, &m->point[i], by->D, D);
        add_branches(m, rod, &m->point[i], by, H);
        const section_bar b = {.x = m->point[i].x, .H = H, .D = D};
        add_place(a, rod, &b, bar);
        if (r->nbranch > 0) add_instants(described(m, rod), &b, by->instant);
    }
    for (int i = 0; i < m->nseg; i++) {
        if (rod_of_node(m, i) != rod) continue;
        double M[INERTIA];
        for (int k = 0; k < INERTIA; k++)
            M[k] = m->seg_w[i] * by->M[INERTIA * (size_t)i + (size_t)k];
        const section_bar b = {.x = m->seg_x[i], .M = M};
        add_place(a, rod, &b, bar);
    }
}

void snw_model_sections_add_rest(snw_model_sections *a, int rod, double x, const double *by_xi,
                                 double *bar) {
    const snw_rod_desc *d = described(a->m, rod);
    for (int i = 0; i < a->n; i++) {
        const section_slot *s = &a->slot[i];
        const double by = s->rod == rod && s->law >= RESTING ? by_xi[s->law - RESTING] : 0;
        if (by != 0)
            snw_expr_add_slopes(d->rest[s->law - RESTING], (snw_at){.x = x, .L = d->length}, by,
                                a->scratch, bar + s->first);
    }
}
