// SPDX-License-Identifier: MIT
//
// Section data of a rod at a station: shape and material give the diagonal matrices of rods.md 1.5,
//   H = diag(G I1, E I2, E I3, E A, G A, G A),  M = rho diag(I1, I2, I3, A, A, A),  D = damping H,
// and entries given outright replace theirs.
#include "model/model.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

static snw_status fail_at(snw_error *err, snw_place at, const char *rod, double x, const char *what,
                          double value) {
    const snw_status s =
        snw_fail(err, SNW_E_MODEL, "rod '%s': %s, got %g at x = %g m", rod, what, value, x);
    return snw_fail_place(err, s, at.file, at.line, at.column);
}

// area and moments of area about x, y, z; what is wrong, or NULL
static const char *shape(const snw_section_desc *d, const double size[4], double *A, double I[3],
                         double *culprit) {
    const double a = size[0], b = size[1];
    *culprit = a;
    switch (d->kind) {
    case SNW_SECTION_NONE:
        break;
    case SNW_SECTION_CIRCLE:
        if (!(a > 0)) return "the radius must be positive";
        *A = M_PI * a * a;
        I[1] = I[2] = M_PI * a * a * a * a / 4;
        break;
    case SNW_SECTION_TUBE:
        if (!(a > 0)) return "the outer radius must be positive";
        *culprit = b;
        if (!(b >= 0 && b < a)) return "the inner radius must lie between 0 and the outer radius";
        *A = M_PI * (a * a - b * b);
        I[1] = I[2] = M_PI * (a * a * a * a - b * b * b * b) / 4;
        break;
    case SNW_SECTION_RECTANGLE:
        if (!(a > 0)) return "the width y must be positive";
        *culprit = b;
        if (!(b > 0)) return "the width z must be positive";
        *A = a * b;
        I[1] = a * b * b * b / 12;
        I[2] = b * a * a * a / 12;
        break;
    case SNW_SECTION_ELLIPSE:
        if (!(a > 0)) return "the width y must be positive";
        *culprit = b;
        if (!(b > 0)) return "the width z must be positive";
        *A = M_PI * a * b / 4;
        I[1] = M_PI * a * b * b * b / 64;
        I[2] = M_PI * b * a * a * a / 64;
        break;
    case SNW_SECTION_GIVEN:
        if (!(a > 0)) return "the area must be positive";
        *A = a;
        for (int i = 0; i < 3; i++) {
            *culprit = I[i] = size[1 + i];
            if (!(I[i] >= 0)) return "moments of area must not be negative";
        }
        return NULL;
    }
    I[0] = I[1] + I[2];
    return NULL;
}

static double law_at(snw_law law, double x, double L) {
    return law ? snw_expr_value(law, (snw_at){.x = x, .L = L}) : 0;
}

// replace the entries that are given outright; keeps the matrix symmetric
static void replace(const snw_law given[36], double x, double L, double A[36]) {
    for (int i = 0; i < 36; i++) {
        if (given[i]) A[i] = law_at(given[i], x, L);
    }
}

// a 6x6 inertia is a rigid slice's when its linear block is m 1 and its coupling a skew matrix
static const char *slice_inertia(const double A[36], snw_inertia *M, double *culprit) {
    const double m = A[21], size = fabs(m) + fabs(A[0]) + fabs(A[7]) + fabs(A[14]);
    const double tol = 1e-12 * size;
    *culprit = A[28];
    if (!(fabs(A[28] - m) <= tol && fabs(A[35] - m) <= tol)) {
        return "the three linear entries of inertia must be equal (the mass per length)";
    }
    const snw_vec3 mc = {{A[2 * 6 + 4], A[0 * 6 + 5], A[1 * 6 + 3]}};
    const double want[3][3] = {{0, -mc.z, mc.y}, {mc.z, 0, -mc.x}, {-mc.y, mc.x, 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double linear = i == j ? m : 0;
            *culprit = A[i * 6 + 3 + j];
            if (!(fabs(A[i * 6 + 3 + j] - want[i][j]) <= tol) ||
                !(fabs(A[(3 + i) * 6 + 3 + j] - linear) <= tol)) {
                return "inertia must be that of a rigid slice: m 1, and a skew coupling block";
            }
        }
    }
    *culprit = m;
    if (!(m >= 0)) return "the mass per length must not be negative";
    *M = (snw_inertia){.m = m, .mc = mc, .I = {A[0], A[7], A[14], A[8], A[2], A[1]}};
    for (int i = 0; i < 3; i++) {
        *culprit = M->I[i];
        if (!(M->I[i] >= 0)) return "the rotary inertia must not be negative";
    }
    return NULL;
}

snw_status snw_section_at(const snw_rod_desc *rod, const char *name, double x, double H[36],
                          double D[36], snw_inertia *M, snw_error *err) {
    const snw_section_desc *d = &rod->section;
    const snw_material_desc *mat = rod->material;
    const double L = rod->length;
    double size[4], A = 0, I[3] = {0}, culprit = 0;
    for (int i = 0; i < 4; i++) size[i] = law_at(d->size[i], x, L);
    const char *fault = shape(d, size, &A, I, &culprit);
    if (fault) return fail_at(err, d->place, name, x, fault, culprit);

    // material
    double E = 0, G = 0, rho = 0, tau = 0;
    if (mat && d->kind != SNW_SECTION_NONE) {
        E = law_at(mat->young, x, L);
        rho = law_at(mat->density, x, L);
        tau = law_at(mat->damping, x, L);
        if (mat->young && !(E >= 0)) {
            return fail_at(err, mat->place, name, x, "young must not be negative", E);
        }
        if (!(rho >= 0))
            return fail_at(err, mat->place, name, x, "density must not be negative", rho);
        if (!(tau >= 0))
            return fail_at(err, mat->place, name, x, "damping must not be negative", tau);
        G = mat->shear ? law_at(mat->shear, x, L) : E / (2 * (1 + law_at(mat->poisson, x, L)));
        if (!(G >= 0)) return fail_at(err, mat->place, name, x, "shear must not be negative", G);
    }

    // H, D, M of the shape, then what is given outright
    const double h[6] = {G * I[0], E * I[1], E * I[2], E * A, G * A, G * A};
    const double j[6] = {rho * I[0], rho * I[1], rho * I[2], rho * A, rho * A, rho * A};
    double J[36];
    memset(H, 0, 36 * sizeof *H);
    memset(J, 0, sizeof J);
    for (int i = 0; i < 6; i++) H[7 * i] = h[i], J[7 * i] = j[i];
    replace(d->stiffness, x, L, H);
    replace(d->inertia, x, L, J);
    for (int i = 0; i < 36; i++) D[i] = tau * H[i];
    replace(d->damping, x, L, D);
    for (int i = 0; i < 6; i++) {
        if (!(H[7 * i] >= 0 && isfinite(H[7 * i]))) {
            return fail_at(err, d->place, name, x, "stiffness must be finite and not negative",
                           H[7 * i]);
        }
        if (!(D[7 * i] >= 0 && isfinite(D[7 * i]))) {
            return fail_at(err, d->place, name, x, "damping must be finite and not negative",
                           D[7 * i]);
        }
        for (int k = 0; k < i; k++) {
            if (!(fabs(H[6 * i + k] - H[6 * k + i]) <= 1e-12 * (H[7 * i] + H[7 * k]))) {
                return fail_at(err, d->place, name, x, "stiffness must be symmetric", H[6 * i + k]);
            }
            if (!(fabs(D[6 * i + k] - D[6 * k + i]) <= 1e-12 * (D[7 * i] + D[7 * k]))) {
                return fail_at(err, d->place, name, x, "damping must be symmetric", D[6 * i + k]);
            }
        }
    }
    fault = slice_inertia(J, M, &culprit);
    if (fault) return fail_at(err, d->place, name, x, fault, culprit);
    return SNW_OK;
}

snw_twist snw_rod_rest(const snw_rod_desc *rod, double x) {
    snw_twist xi;
    for (int i = 0; i < 6; i++) xi.e[i] = law_at(rod->rest[i], x, rod->length);
    xi.e[SNW_STRETCH] += 1;
    return xi;
}
