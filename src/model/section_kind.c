// SPDX-License-Identifier: MIT
//
// Table of cross-sections (theory.md 2): keys, sizes, area, second moments of area and torsion
// constant, contour.
#include "model/section_kind.h"

#include <math.h>

static snw_jet times_cube(snw_jet s, snw_jet a) {
    return snw_jet_mul(snw_jet_mul(snw_jet_mul(s, a), a), a);
}

// ---- circle: radius

static const snw_key circle_keys[] = {
    {"radius", "m, law of x", "radius, or give the diameter"},
    {"diameter", "m, law of x", "diameter, or give the radius"},
};

static void circle_moments(const snw_jet *size, snw_section_moments *out) {
    const snw_jet a = size[0], pi_a = snw_jet_scale(M_PI, a);
    out->A = snw_jet_mul(pi_a, a);
    out->I[1] = out->I[2] = snw_jet_over(times_cube(pi_a, a), 4);
}

static const char *circle_fault(const double *size, int *wrong) {
    *wrong = 0;
    return size[0] > 0 ? NULL : "the radius must be positive";
}

static void circle_contour(const double *size, snw_section_contour *out) {
    out->half[0] = out->half[1] = size[0];
}

// ---- tube: outer and inner radius

static const snw_key tube_keys[] = {
    {"radius", "m, law of x", "outer radius; inner is a radius too"},
    {"diameter", "m, law of x", "outer diameter; inner is a diameter too"},
    {"inner", "m, law of x", "inner radius or diameter, required"},
};

static void tube_moments(const snw_jet *size, snw_section_moments *out) {
    const snw_jet a = size[0], b = size[1];
    const snw_jet aa = snw_jet_mul(a, a), bb = snw_jet_mul(b, b);
    out->A = snw_jet_scale(M_PI, snw_jet_add(aa, snw_jet_scale(-1, bb)));
    out->I[1] = out->I[2] = snw_jet_over(
        snw_jet_scale(M_PI, snw_jet_add(times_cube(a, a), snw_jet_scale(-1, times_cube(b, b)))), 4);
}

static const char *tube_fault(const double *size, int *wrong) {
    *wrong = 0;
    if (!(size[0] > 0)) return "the outer radius must be positive";
    *wrong = 1;
    if (!(size[1] >= 0 && size[1] < size[0]))
        return "the inner radius must lie between 0 and the outer radius";
    return NULL;
}

static void tube_contour(const double *size, snw_section_contour *out) {
    out->half[0] = out->half[1] = size[0];
    if (size[0] > 0) out->hole = fmin(fmax(size[1] / size[0], 0), 1);
}

// ---- rectangle and ellipse: full widths along y and z

static const snw_key widths_keys[] = {
    {"y", "m, law of x", "full width along local y, required"},
    {"z", "m, law of x", "full width along local z, required"},
};

static const char *widths_fault(const double *size, int *wrong) {
    *wrong = 0;
    if (!(size[0] > 0)) return "the width y must be positive";
    *wrong = 1;
    if (!(size[1] > 0)) return "the width z must be positive";
    return NULL;
}

static void widths_contour(const double *size, snw_section_contour *out) {
    out->half[0] = size[0] / 2;
    out->half[1] = size[1] / 2;
}

static void rectangle_moments(const snw_jet *size, snw_section_moments *out) {
    const snw_jet a = size[0], b = size[1];
    out->A = snw_jet_mul(a, b);
    out->I[1] = snw_jet_over(times_cube(a, b), 12);
    out->I[2] = snw_jet_over(times_cube(b, a), 12);
}

// Saint-Venant: with the long side a and the short side b, and tanh = 1 - 2/(exp + 1) in his
// series,
//   J = a b^3/3 - 64/pi^5 b^4 (31/32 zeta(5) - f(a/b)),
//   f(r) = sum over odd n of 2/(n^5 (exp(n pi r) + 1)), of which seven terms suffice for r >= 1.
static snw_jet rectangle_torsion(const snw_jet *size) {
    const bool wide = size[0].v >= size[1].v;
    const snw_jet a = size[wide ? 0 : 1], b = size[wide ? 1 : 0], r = snw_jet_div(a, b);
    const double zeta5 = 1.03692775514336992633, k = 64 / pow(M_PI, 5);
    double f = 0, d = 0, dd = 0; // f and its derivatives
    for (int n = 1; n <= 13; n += 2) {
        const double w = n * M_PI, c = 2.0 / ((double)n * n * n * n * n),
                     s = 1 / (exp(w * r.v) + 1);
        f += c * s;
        d -= c * w * s * (1 - s);
        dd += c * w * w * s * (1 - s) * (1 - 2 * s);
    }
    const snw_jet rest = {31.0 / 32 * zeta5 - f, -d * r.d, -dd * r.d * r.d - d * r.dd};
    return snw_jet_add(snw_jet_over(times_cube(a, b), 3),
                       snw_jet_scale(-k, snw_jet_mul(times_cube(b, b), rest)));
}

// pi a^3 b^3/(a^2 + b^2), with the half widths a and b
static snw_jet ellipse_torsion(const snw_jet *size) {
    const snw_jet y = size[0], z = size[1], yz = snw_jet_mul(y, z);
    const snw_jet sum = snw_jet_add(snw_jet_mul(y, y), snw_jet_mul(z, z));
    return snw_jet_scale(M_PI / 16, snw_jet_div(snw_jet_mul(yz, snw_jet_mul(yz, yz)), sum));
}

static void ellipse_moments(const snw_jet *size, snw_section_moments *out) {
    const snw_jet a = size[0], b = size[1], pi_a = snw_jet_scale(M_PI, a);
    out->A = snw_jet_over(snw_jet_mul(pi_a, b), 4);
    out->I[1] = snw_jet_over(times_cube(pi_a, b), 64);
    out->I[2] = snw_jet_over(times_cube(snw_jet_scale(M_PI, b), a), 64);
}

// ---- elliptic tube: full widths along y and z, width of the bore along y

static const snw_key elliptic_tube_keys[] = {
    {"y", "m, law of x", "full width along local y, required"},
    {"z", "m, law of x", "full width along local z, required"},
    {"inner", "m, law of x", "full width of the bore along local y, required"},
};

// 1 - k^n of the bore, k its width over that of the contour
static snw_jet solid_part(const snw_jet *size, int n) {
    const snw_jet k = snw_jet_div(size[2], size[0]);
    snw_jet power = k;
    for (int i = 1; i < n; i++) power = snw_jet_mul(power, k);
    return snw_jet_add((snw_jet){.v = 1}, snw_jet_scale(-1, power));
}

static void elliptic_tube_moments(const snw_jet *size, snw_section_moments *out) {
    const snw_jet fourth = solid_part(size, 4);
    ellipse_moments(size, out);
    out->A = snw_jet_mul(out->A, solid_part(size, 2));
    for (int i = 1; i < 3; i++) out->I[i] = snw_jet_mul(out->I[i], fourth);
}

// the stress function of the solid ellipse is constant along the bore, so the two constants
// subtract
static snw_jet elliptic_tube_torsion(const snw_jet *size) {
    return snw_jet_mul(ellipse_torsion(size), solid_part(size, 4));
}

static const char *elliptic_tube_fault(const double *size, int *wrong) {
    const char *fault = widths_fault(size, wrong);
    if (fault) return fault;
    *wrong = 2;
    if (!(size[2] >= 0 && size[2] < size[0]))
        return "the inner width must lie between 0 and the width y";
    return NULL;
}

static void elliptic_tube_contour(const double *size, snw_section_contour *out) {
    widths_contour(size, out);
    if (size[0] > 0) out->hole = fmin(fmax(size[2] / size[0], 0), 1);
}

// ---- given: area and second moments of area about x, y, z

static void given_moments(const snw_jet *size, snw_section_moments *out) {
    out->A = size[0];
    for (int i = 0; i < 3; i++) out->I[i] = size[1 + i];
}

static const char *given_fault(const double *size, int *wrong) {
    *wrong = 0;
    if (!(size[0] > 0)) return "the area must be positive";
    for (int i = 1; i < 4; i++) {
        *wrong = i;
        if (!(size[i] >= 0)) return "moments of area must not be negative";
    }
    return NULL;
}

static void given_contour(const double *size, snw_section_contour *out) {
    out->half[0] = out->half[1] = size[0] > 0 ? sqrt(size[0] / M_PI) : 0;
}

// ---- the table

const snw_section_type snw_section_table[SNW_SECTION_COUNT] = {
    [SNW_SECTION_NONE] = {.label = "stiffness given", .keys = {.name = "none"}},
    [SNW_SECTION_CIRCLE] = {.label = "circle",
                            .keys = {"circle", "a circle", 2, circle_keys},
                            .gives = {{.size = 0}, {.size = 0, .doubled = true}},
                            .nsize = 1,
                            .shaped = true,
                            .moments = circle_moments,
                            .fault = circle_fault,
                            .contour = circle_contour},
    [SNW_SECTION_TUBE] = {.label = "tube",
                          .keys = {"tube", "a tube", 3, tube_keys},
                          .gives = {{.size = 0},
                                    {.size = 0, .doubled = true},
                                    {.size = 1, .as_the_first = true}},
                          .nsize = 2,
                          .shaped = true,
                          .moments = tube_moments,
                          .fault = tube_fault,
                          .contour = tube_contour},
    [SNW_SECTION_RECTANGLE] = {.label = "rectangle",
                               .keys = {"rectangle", "a rectangle", 2, widths_keys},
                               .gives = {{.size = 0}, {.size = 1}},
                               .nsize = 2,
                               .shaped = true,
                               .rectangle = true,
                               .moments = rectangle_moments,
                               .torsion = rectangle_torsion,
                               .fault = widths_fault,
                               .contour = widths_contour},
    [SNW_SECTION_ELLIPSE] = {.label = "ellipse",
                             .keys = {"ellipse", "an ellipse", 2, widths_keys},
                             .gives = {{.size = 0}, {.size = 1}},
                             .nsize = 2,
                             .shaped = true,
                             .moments = ellipse_moments,
                             .torsion = ellipse_torsion,
                             .fault = widths_fault,
                             .contour = widths_contour},
    [SNW_SECTION_ELLIPTIC_TUBE] = {.label = "elliptic tube",
                                   .keys = {"elliptic_tube", "an elliptic tube", 3,
                                            elliptic_tube_keys},
                                   .gives = {{.size = 0}, {.size = 1}, {.size = 2}},
                                   .nsize = 3,
                                   .shaped = true,
                                   .moments = elliptic_tube_moments,
                                   .torsion = elliptic_tube_torsion,
                                   .fault = elliptic_tube_fault,
                                   .contour = elliptic_tube_contour},
    [SNW_SECTION_GIVEN] = {.label = "area and moments given",
                           .keys = {.name = "given"},
                           .nsize = 4,
                           .moments = given_moments,
                           .fault = given_fault,
                           .contour = given_contour},
};

const char *snw_section_name(snw_section_kind kind) { return snw_section_table[kind].keys.name; }

snw_section_moments snw_section_moments_of(snw_section_kind kind, const snw_jet *size) {
    const snw_section_type *type = &snw_section_table[kind];
    snw_section_moments out = {0};
    if (type->moments) type->moments(size, &out);
    if (type->shaped) out.I[0] = snw_jet_add(out.I[1], out.I[2]);
    out.torsion = type->torsion ? type->torsion(size) : out.I[0];
    return out;
}

snw_section_contour snw_section_contour_of(snw_section_kind kind, const double *size) {
    snw_section_contour out = {0};
    if (snw_section_table[kind].contour) snw_section_table[kind].contour(size, &out);
    return out;
}

bool snw_section_contains(snw_section_kind kind, const double *size, double y, double z) {
    const double slack = 1 + 1e-9; // rounding
    const snw_section_contour c = snw_section_contour_of(kind, size);
    const double a = c.half[0] * slack, b = c.half[1] * slack;
    if (!(fabs(y) <= a && fabs(z) <= b)) return false;
    return snw_section_table[kind].rectangle || hypot(y * b, z * a) <= a * b;
}
