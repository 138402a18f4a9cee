// SPDX-License-Identifier: MIT
//
// Outer contour and added mass of a section, for fluids and contacts (theory.md (3.12.2)). The
// added mass per length in plane potential flow follows from the conformal map z = c (u + a/u + ..)
// of the exterior of the unit circle to the exterior of the section of area A,
//   m = rho (2 pi c^2 (1 - a) - A) along the real axis,   rho (2 pi c^2 (1 + a) - A) across it,
// which for ellipses is rho pi (half the width across the motion)^2. For a rectangle the map is
//   dz/du = c sqrt(1 - 2 cos(2 alpha)/u^2 + 1/u^4),   a = cos(2 alpha),
// and the half widths are 2c (E(k') - k^2 K(k')) and 2c (E(k) - k'^2 K(k)), k = sin(alpha).
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>

// Complete elliptic integrals K and E of modulus k by the arithmetic-geometric mean; kc: the
// complementary modulus sqrt(1 - k^2) > 0.
static void elliptic(double k, double kc, double *K, double *E) {
    double a = 1, b = kc, c = k, part = 1, sum = 0.5 * c * c;
    for (int i = 0; i < 12; i++) { // quadratic convergence
        const double mean = 0.5 * (a + b);
        c = 0.5 * (a - b);
        b = sqrt(a * b);
        a = mean;
        sum += part * c * c;
        part *= 2;
    }
    *K = 0.5 * M_PI / a;
    *E = *K * (1 - sum);
}

static double ellipse_perimeter(double y, double z) {
    const double a = fmax(y, z), b = fmin(y, z);
    double K, E = 1;
    if (b > 0) elliptic(sqrt((a - b) * (a + b)) / a, b / a, &K, &E);
    return 2 * a * E;
}

// E(k) - kc^2 K(k): half width of a rectangle over 2c; kc: the complementary modulus.
static double rectangle_half_width(double k, double kc) {
    double K, E;
    if (!(kc > 0)) return 1;
    elliptic(k, kc, &K, &E);
    return E - kc * kc * K;
}

// Added mass per length over density of a rectangle that moves along its width b; a: the other
// width. Bisection for alpha.
static double rectangle_added_mass(double a, double b) {
    if (!(a > 0)) return 0;
    double low = 0, high = 0.5 * M_PI; // alpha, with which b/a rises
    for (int i = 0; i < 60; i++) {
        const double mid = 0.5 * (low + high);
        const double k = sin(mid), kc = cos(mid);
        if (rectangle_half_width(k, kc) * a < rectangle_half_width(kc, k) * b) {
            low = mid;
        } else {
            high = mid;
        }
    }
    const double alpha = 0.5 * (low + high),
                 c = 0.25 * a / rectangle_half_width(cos(alpha), sin(alpha));
    return 2 * M_PI * c * c * (1 + cos(2 * alpha)) - a * b;
}

// *out <- enclosed area, perimeter and added mass of a contour with full widths y and z.
static void outline_of_contour(bool rectangle, double y, double z, snw_outline *out) {
    *out = rectangle ? (snw_outline){y,
                                     z,
                                     y * z,
                                     2 * (y + z),
                                     {rectangle_added_mass(z, y), rectangle_added_mass(y, z)}}
                     : (snw_outline){y,
                                     z,
                                     M_PI / 4 * y * z,
                                     ellipse_perimeter(y, z),
                                     {M_PI / 4 * z * z, M_PI / 4 * y * y}};
}

snw_status snw_section_outline(const snw_rod_desc *rod, const char *name, double x,
                               snw_outline *out, snw_error *err) {
    const snw_section_desc *d = &rod->section;
    const snw_section_type *type = &snw_section_table[d->kind];
    if (!type->shaped) {
        return snw_fail_desc(err, d->location,
                             snw_fail(err, SNW_E_MODEL,
                                      "rod '%s': a fluid needs the shape of its section, such as "
                                      "circle or rectangle; or give drag: {square: ..} or "
                                      "{linear: ..} alone",
                                      name));
    }
    double size[SNW_SECTION_SIZES];
    snw_section_sizes(d, x, rod->length, size);
    const snw_section_contour c = snw_section_contour_of(d->kind, size);
    outline_of_contour(type->rectangle, 2 * c.half[0], 2 * c.half[1], out);
    if (out->y >= 0 && out->z >= 0 && isfinite(out->area)) return SNW_OK;
    return snw_fail_desc(err, d->location,
                         snw_fail(err, SNW_E_MODEL,
                                  "rod '%s': the widths of its section must not be negative, got "
                                  "%g and %g m at x = %g m",
                                  name, out->y, out->z, x));
}
