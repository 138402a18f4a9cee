// SPDX-License-Identifier: MIT
//
// Nonlinear section laws in the model (theory.md 2.4): the law of a rod from its material and
// section, its values at the quadrature points, and the checks that it is defined without strain
// and has a potential.
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool snw_section_law_gives(const snw_section_desc *s, int i) {
    return s->energy ? snw_expr_reads(s->energy, i) : s->stress[i] || s->stress_table[i];
}

static bool has_expressions(const snw_section_desc *s) {
    bool any = s->energy != NULL;
    for (int i = 0; i < 6; i++) any |= s->stress[i] || s->stress_table[i];
    return any;
}

bool snw_rod_has_law(const snw_rod_desc *rod) {
    return has_expressions(&rod->section) || (rod->material && rod->material->hyperelastic.n > 0);
}

snw_section_law snw_build_law(const snw_rod_desc *rod) {
    const snw_section_desc *s = &rod->section;
    snw_section_law law = {.energy = s->energy};
    snw_section_law_prepare(&law);
    if (!has_expressions(s)) {
        const snw_section_type *type = &snw_section_table[s->kind];
        law.fibre = rod->material->hyperelastic;
        law.rectangle = type->rectangle;
        law.exact_twist = law.fibre.n == 1 && law.fibre.alpha[0] == 2 &&
                          (s->kind == SNW_SECTION_CIRCLE || s->kind == SNW_SECTION_TUBE) &&
                          !s->stiffness[7 * SNW_TWIST] && !s->size[SNW_SECTION_TORSION];
        law.covers[SNW_BEND_Y] = law.covers[SNW_BEND_Z] = law.covers[SNW_STRETCH] = true;
        law.covers[SNW_TWIST] = law.exact_twist;
        return law;
    }
    memcpy(law.stress, s->stress, sizeof law.stress);
    memcpy(law.table, s->stress_table, sizeof law.table);
    for (int i = 0; i < 6; i++) {
        law.covers[i] = snw_section_law_gives(s, i);
    }
    return law;
}

void snw_build_law_point(const snw_rod_desc *rod, const snw_section_law *law, double x,
                         snw_section_law_point *out) {
    *out = (snw_section_law_point){.x = x, .L = rod->length};
    if (law->fibre.n > 0) {
        double size[SNW_SECTION_SIZES];
        snw_section_sizes(&rod->section, x, rod->length, size);
        const snw_section_contour c = snw_section_contour_of(rod->section.kind, size);
        out->half[0] = c.half[0], out->half[1] = c.half[1], out->hole = c.hole;
        snw_jet jet[SNW_SECTION_SIZES] = {{0}};
        for (int i = 0; i < SNW_SECTION_SIZES; i++) jet[i].v = size[i];
        out->torsion = snw_section_moments_of(rod->section.kind, jet).I[0].v;
    }
    static const bool all[6] = {true, true, true, true, true, true};
    static const double none[6] = {0};
    snw_section_response r;
    double value;
    int component;
    (void)snw_section_law_at(law, out, all, none, SNW_WANT_TANGENT, &r, &value, &component);
    memcpy(out->H, r.tangent, sizeof out->H);
}

// Strains at which the potential of given stresses is checked: curvatures of this fraction of 1/L
// and stretches of this size, with signs by the bits of k.
static void trial_strain(const snw_rod_desc *d, double size, int k, double e[6]) {
    for (int i = 0; i < 6; i++) {
        const double unit = (i < SNW_STRETCH ? 1 / d->length : 0.1) * (1 + 0.1 * i);
        e[i] = d->active[i] ? (k >> i & 1 ? -size : size) * unit : 0;
    }
}

// The tangent of given stresses must be symmetric: else their work depends on the path, and there
// is no energy to account for.
static snw_status check_potential(const snw_link_desc *link, const snw_section_law *law,
                                  const snw_section_law_point *p, snw_error *err) {
    const snw_rod_desc *d = &link->rod;
    snw_section_response r;
    double value;
    int component;
    for (int trial = 0; trial < 16; trial++) {
        double e[6];
        trial_strain(d, trial < 8 ? 0.3 : 0.03, 11 * trial, e);
        if (snw_section_law_at(law, p, d->active, e, SNW_WANT_TANGENT, &r, &value, &component))
            continue;
        for (int i = 0; i < 36; i++) {
            const int a = i / 6, c = i % 6;
            const double *C = r.tangent;
            // entries in one unit: those of curvatures times L
            const double ua = a < 3 ? d->length : 1, uc = c < 3 ? d->length : 1;
            const double size =
                fabs(C[7 * a]) / (ua * ua) + fabs(C[7 * c]) / (uc * uc) + fabs(C[i]) / (ua * uc);
            if (fabs(C[i] - C[6 * c + a]) / (ua * uc) <= 1e-9 * size) continue;
            return snw_fail_desc(
                err, d->section.law_location,
                snw_fail(err, SNW_E_MODEL,
                         "rod '%s': its stresses have no potential: the derivative of %s by %s is "
                         "%.6g, that of %s by %s %.6g (at %s = %.3g, %s = %.3g). Give 'energy' "
                         "instead of 'stress'",
                         link->name, snw_strain_name[a], snw_strain_name[c], C[i],
                         snw_strain_name[c], snw_strain_name[a], C[6 * c + a], snw_strain_name[a],
                         e[a], snw_strain_name[c], e[c]));
        }
    }
    return SNW_OK;
}

// Without strain the tangent must not be indefinite: such a rod has no equilibrium at rest.
static snw_status check_definite(const snw_link_desc *link, const snw_section_law *law,
                                 const snw_section_law_point *p, snw_error *err) {
    double least = snw_section_law_weakest(law, link->rod.active, p->H, p->H);
    for (int i = 0; i < 36; i++) { // a coupling without stiffness of its own is indefinite too
        const bool both = link->rod.active[i / 6] && link->rod.active[i % 6];
        if (both && p->H[i] != 0 && !(p->H[7 * (i % 6)] > 0)) least = -fabs(p->H[i]);
    }
    if (least > -1e-12) return SNW_OK;
    return snw_fail_desc(
        err, link->rod.section.law_location,
        snw_fail(err, SNW_E_MODEL,
                 "rod '%s': its law is not definite without strain at x = %g m: the smallest "
                 "eigenvalue of its stiffness is %.3g, relative to the diagonal",
                 link->name, p->x, least));
}

static snw_status refuse_law(const snw_link_desc *link, snw_source_location at, const char *what,
                             snw_error *err) {
    return snw_fail_desc(err, at, snw_fail(err, SNW_E_MODEL, "rod '%s': %s", link->name, what));
}

// Combinations that nonlinear laws do not support, by name.
static snw_status check_law(const snw_link_desc *link, const snw_section_law *law, snw_error *err) {
    const snw_rod_desc *d = &link->rod;
    const snw_source_location at =
        law->fibre.n > 0 ? d->material->location : d->section.law_location;
    for (int i = 0; i < 6; i++) {
        if (d->given[i]) {
            return refuse_law(link, at,
                              "it has a nonlinear law, and a strain that a law of t gives; use a "
                              "linear material, or make that strain active with a large stiffness",
                              err);
        }
    }
    for (int i = 0; i < 36; i++) {
        if (d->section.stiffness[i] && (law->covers[i / 6] || law->covers[i % 6])) {
            return refuse_law(link, d->section.location,
                              "its nonlinear law determines a component that 'stiffness' gives "
                              "too; leave that entry of 'stiffness' out",
                              err);
        }
    }
    if (d->variable_length) {
        return refuse_law(link, at,
                          "it has variable length, which in this version needs a linear law; give "
                          "young and shear, or section stiffness",
                          err);
    }
    if (d->material && d->material->relaxation.n > 0) {
        return refuse_law(link, d->material->relaxation.location,
                          "it has a nonlinear law and 'relaxation', which in this version needs a "
                          "linear one; leave one of them out",
                          err);
    }
    if (law->fibre.n > 0 && !snw_section_table[d->section.kind].shaped) {
        return refuse_law(link, d->section.location,
                          "hyperelastic material is integrated over the section, which needs a "
                          "shape such as {circle: {radius: 5 mm}}",
                          err);
    }
    return SNW_OK;
}

snw_status snw_build_rod_law(snw_build *b, snw_rod *r, snw_error *err) {
    const snw_link_desc *link = &b->m->desc->link[r->link];
    snw_section_law *law = snw_build_array(b, 1, sizeof *law);
    snw_section_law_point *point = snw_build_array(b, (size_t)r->npoint, sizeof *point);
    if (b->memory_out) return SNW_E_MEMORY;
    *law = snw_build_law(&link->rod);
    SNW_TRY(check_law(link, law, err));
    for (int i = 0; i < r->npoint; i++) {
        snw_build_law_point(&link->rod, law, b->point[r->point0 + i].x, &point[i]);
        SNW_TRY(check_definite(link, law, &point[i], err));
        if (!law->energy && law->fibre.n == 0) SNW_TRY(check_potential(link, law, &point[i], err));
    }
    r->law = law;
    r->law_point = point;
    r->law_adr = b->m->nlaw_point;
    b->m->nlaw_point += r->npoint;
    return SNW_OK;
}
