// SPDX-License-Identifier: MIT
//
// Constitutive matrices and inertia of a section (theory.md 2), from shape and material:
//   H = diag(G J, E I2, E I3, E A, G A, G A),  M = rho diag(I1, I2, I3, A, A, A),  D = tau H;
// entries given in the description replace them. Computed with two derivatives along the rod for
// rods of variable length.
#include "model/compile.h"

#include "base/fail.h"
#include "model/material_law.h"

#include <math.h>
#include <string.h>

static snw_status fail_at(snw_error *err, snw_source_location at, const char *rod, double x,
                          const char *what, double value) {
    const snw_status s =
        snw_fail(err, SNW_E_MODEL, "rod '%s': %s, got %g at x = %g m", rod, what, value, x);
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

// Section at a station, with derivatives along the rod.
typedef struct section {
    snw_jet size[SNW_SECTION_SIZES];
    snw_section_moments area;    // and second moments of area
    snw_jet E, G, rho, tau;      // material
    snw_jet H[36], D[36], J[36]; // stiffness, damping, inertia per length
} section;

static double section_law_at(snw_law law, double x, double L) {
    return law ? snw_expr_value(law, (snw_at){.x = x, .L = L}) : 0;
}

// Point at which laws are evaluated; follows_material: smoothed, with derivatives (material_law.h).
typedef struct section_point {
    double x, L;
    bool follows_material;
} section_point;

static snw_jet section_evaluate_law(snw_law law, section_point at) {
    if (!at.follows_material) return (snw_jet){.v = section_law_at(law, at.x, at.L)};
    const snw_point_derivatives s = snw_law_material(law, at.x, at.L);
    return (snw_jet){s.v, s.d, s.dd};
}

// Replace the given entries of a symmetric matrix.
static void section_replace(const snw_law given[36], section_point at, snw_jet A[36]) {
    for (int i = 0; i < 36; i++) {
        if (given[i]) A[i] = section_evaluate_law(given[i], at);
    }
}

snw_section_laws snw_build_section_laws(const snw_rod_desc *rod) {
    const snw_section_desc *d = &rod->section;
    const snw_material_desc *mat = rod->material;
    snw_section_laws laws = {
        .kind = d->kind, .has_material = mat, .polar_torsion = d->polar_torsion};
    if (mat) {
        laws.young = mat->young, laws.poisson = mat->poisson, laws.shear = mat->shear;
        laws.density = mat->density, laws.retardation = mat->damping;
        laws.instant[0] = mat->relaxation.n > 0 ? mat->relaxation.instant[0] : 1;
        laws.instant[1] = mat->relaxation.n > 0 ? mat->relaxation.instant[1] : 1;
    }
    memcpy(laws.size, d->size, sizeof laws.size);
    memcpy(laws.stiffness, d->stiffness, sizeof laws.stiffness);
    memcpy(laws.inertia, d->inertia, sizeof laws.inertia);
    memcpy(laws.damping, d->damping, sizeof laws.damping);
    return laws;
}

static void section_evaluate(const snw_section_laws *d, section_point at, section *s) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < SNW_SECTION_SIZES; i++) s->size[i] = section_evaluate_law(d->size[i], at);
    s->area = snw_section_moments_of(d->kind, s->size);
    const snw_jet A = s->area.A, *I = s->area.I;
    const snw_jet torsion = d->size[SNW_SECTION_TORSION] ? s->size[SNW_SECTION_TORSION]
                            : d->polar_torsion           ? I[0]
                                                         : s->area.torsion;
    if (d->has_material && d->kind != SNW_SECTION_NONE) {
        const snw_jet E = section_evaluate_law(d->young, at);
        s->E = snw_jet_scale(d->instant[0], E);
        s->rho = section_evaluate_law(d->density, at);
        s->tau = section_evaluate_law(d->retardation, at);
        const snw_jet one = {1, 0, 0};
        const snw_jet G =
            d->shear
                ? section_evaluate_law(d->shear, at)
                : snw_jet_div(
                      E, snw_jet_scale(2, snw_jet_add(one, section_evaluate_law(d->poisson, at))));
        s->G = snw_jet_scale(d->instant[1], G);
    }
    // matrices of shape and material, then given entries
    const snw_jet h[6] = {snw_jet_mul(s->G, torsion), snw_jet_mul(s->E, I[1]),
                          snw_jet_mul(s->E, I[2]),    snw_jet_mul(s->E, A),
                          snw_jet_mul(s->G, A),       snw_jet_mul(s->G, A)};
    for (int i = 0; i < 6; i++) {
        s->H[7 * i] = h[i];
        s->J[7 * i] = snw_jet_mul(s->rho, i < 3 ? I[i] : A);
    }
    section_replace(d->stiffness, at, s->H);
    section_replace(d->inertia, at, s->J);
    for (int i = 0; i < 36; i++) s->D[i] = snw_jet_mul(s->tau, s->H[i]);
    section_replace(d->damping, at, s->D);
}

// Inertia per length from a 6x6 matrix by rows.
static snw_inertia inertia_of(const double A[36]) {
    return (snw_inertia){.m = A[21],
                         .mc = {{A[2 * 6 + 4], A[0 * 6 + 5], A[1 * 6 + 3]}},
                         .I = {A[0], A[7], A[14], A[8], A[2], A[1]}};
}

// *M <- inertia from a 6x6 matrix, which must be that of a rigid section: linear block m 1, skew
// coupling block. Returns the violated rule with the wrong value, or NULL.
static const char *slice_inertia(const double A[36], snw_inertia *M, double *wrong) {
    const double m = A[21], size = fabs(m) + fabs(A[0]) + fabs(A[7]) + fabs(A[14]);
    const double tol = 1e-12 * size;
    *wrong = A[28];
    if (!(fabs(A[28] - m) <= tol && fabs(A[35] - m) <= tol)) {
        return "the three linear entries of inertia must be equal (the mass per length)";
    }
    *M = inertia_of(A);
    const snw_vec3 mc = M->mc;
    const double want[3][3] = {{0, -mc.z, mc.y}, {mc.z, 0, -mc.x}, {-mc.y, mc.x, 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double linear = i == j ? m : 0;
            *wrong = A[i * 6 + 3 + j];
            if (!(fabs(A[i * 6 + 3 + j] - want[i][j]) <= tol) ||
                !(fabs(A[(3 + i) * 6 + 3 + j] - linear) <= tol)) {
                return "inertia must be that of a rigid slice: m 1, and a skew coupling block";
            }
        }
    }
    *wrong = m;
    if (!(m >= 0)) return "the mass per length must not be negative";
    for (int i = 0; i < 3; i++) {
        *wrong = M->I[i];
        if (!(M->I[i] >= 0)) return "the rotary inertia must not be negative";
    }
    // about the centre of mass, by the parallel-axis theorem
    const double xx = m > 0 ? mc.x * mc.x / m : 0, yy = m > 0 ? mc.y * mc.y / m : 0,
                 zz = m > 0 ? mc.z * mc.z / m : 0;
    const double yz = m > 0 ? mc.y * mc.z / m : 0, xz = m > 0 ? mc.x * mc.z / m : 0,
                 xy = m > 0 ? mc.x * mc.y / m : 0;
    const snw_mat3 central = {{{M->I[0] - yy - zz, M->I[5] + xy, M->I[4] + xz},
                               {M->I[5] + xy, M->I[1] - zz - xx, M->I[3] + yz},
                               {M->I[4] + xz, M->I[3] + yz, M->I[2] - xx - yy}}};
    *wrong = M->I[0] + M->I[1] + M->I[2];
    if (!snw_mat3_semidefinite(&central, 1e-6) ||
        (m == 0 && (mc.x != 0 || mc.y != 0 || mc.z != 0))) {
        return "the rotary inertia must not be negative about any axis through the centre of mass";
    }
    return NULL;
}

snw_status snw_section_at(const snw_rod_desc *rod, const char *name, double x, double H[36],
                          double D[36], snw_inertia *M, snw_error *err) {
    const snw_section_desc *d = &rod->section;
    const snw_material_desc *mat = rod->material;
    const snw_section_laws laws = snw_build_section_laws(rod);
    section s;
    double wrong = 0, J[36];
    section_evaluate(&laws, (section_point){x, rod->length, false}, &s);
    const snw_section_type *type = &snw_section_table[d->kind];
    double size[SNW_SECTION_SIZES];
    int bad = 0;
    for (int i = 0; i < SNW_SECTION_SIZES; i++) size[i] = s.size[i].v;
    const char *fault = type->fault ? type->fault(size, &bad) : NULL;
    if (fault) return fail_at(err, d->location, name, x, fault, size[bad]);
    if (mat && d->kind != SNW_SECTION_NONE) {
        if (mat->young && !(s.E.v >= 0)) {
            return fail_at(err, mat->location, name, x, "young must not be negative", s.E.v);
        }
        if (!(s.rho.v >= 0))
            return fail_at(err, mat->location, name, x, "density must not be negative", s.rho.v);
        if (!(s.tau.v >= 0))
            return fail_at(err, mat->location, name, x, "damping must not be negative", s.tau.v);
        if (!(s.G.v >= 0))
            return fail_at(err, mat->location, name, x, "shear must not be negative", s.G.v);
    }
    for (int i = 0; i < 36; i++) H[i] = s.H[i].v, D[i] = s.D[i].v, J[i] = s.J[i].v;
    if (snw_rod_has_law(rod) && !(mat && mat->hyperelastic.n > 0)) {
        // The stiffness of a law by expressions is its tangent without strain.
        const snw_section_law law = snw_build_law(rod);
        snw_section_law_point point;
        snw_build_law_point(rod, &law, x, &point);
        for (int i = 0; i < 36; i++) {
            if (!law.covers[i / 6] && !law.covers[i % 6]) continue;
            H[i] = point.H[i];
            if (!d->damping[i]) D[i] = (mat && mat->damping ? s.tau.v : 0) * H[i];
        }
    }
    for (int i = 0; i < 6; i++) {
        if (!(H[7 * i] >= 0 && isfinite(H[7 * i]))) {
            return fail_at(err, d->location, name, x, "stiffness must be finite and not negative",
                           H[7 * i]);
        }
        if (!(D[7 * i] >= 0 && isfinite(D[7 * i]))) {
            return fail_at(err, d->location, name, x, "damping must be finite and not negative",
                           D[7 * i]);
        }
        for (int k = 0; k < i; k++) {
            if (!(fabs(H[6 * i + k] - H[6 * k + i]) <= 1e-12 * (H[7 * i] + H[7 * k]))) {
                return fail_at(err, d->location, name, x, "stiffness must be symmetric",
                               H[6 * i + k]);
            }
            if (!(fabs(D[6 * i + k] - D[6 * k + i]) <= 1e-12 * (D[7 * i] + D[7 * k]))) {
                return fail_at(err, d->location, name, x, "damping must be symmetric",
                               D[6 * i + k]);
            }
        }
    }
    fault = slice_inertia(J, M, &wrong);
    if (fault) return fail_at(err, d->location, name, x, fault, wrong);
    return SNW_OK;
}

void snw_section_material(const snw_rod *rod, double x, snw_section_derivatives *out) {
    section s;
    double J[2][36];
    section_evaluate(rod->section, (section_point){x, rod->L, true}, &s);
    for (int i = 0; i < 36; i++) {
        out->H[0][i] = s.H[i].v, out->H[1][i] = s.H[i].d, out->H[2][i] = s.H[i].dd;
        out->D[0][i] = s.D[i].v, out->D[1][i] = s.D[i].d;
        J[0][i] = s.J[i].v, J[1][i] = s.J[i].d;
    }
    for (int k = 0; k < 2; k++) out->M[k] = inertia_of(J[k]);
}

snw_twist snw_rod_rest(const snw_rod *rod, double x) {
    snw_twist xi;
    for (int i = 0; i < 6; i++) xi.e[i] = section_law_at(rod->rest[i], x, rod->L);
    xi.e[SNW_STRETCH] += 1;
    return xi;
}

void snw_rod_rest_material(const snw_rod *rod, double x, snw_twist xi[4]) {
    for (int i = 0; i < 6; i++) {
        const snw_point_derivatives s = snw_law_material(rod->rest[i], x, rod->L);
        xi[0].e[i] = s.v, xi[1].e[i] = s.d, xi[2].e[i] = s.dd, xi[3].e[i] = s.ddd;
    }
    xi[0].e[SNW_STRETCH] += 1;
}
