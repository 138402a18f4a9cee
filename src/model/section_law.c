// SPDX-License-Identifier: MIT
//
// Nonlinear elastic laws of a section (theory.md 2.4): hyperelastic fibres integrated over the
// section, energy densities and stresses by expressions, stresses by tables.
//
// Fibres. On a section with half widths a along y and b along z the stretch is linear,
//   l(u, v) = 1 + e_x + g1 u + g2 v,  g1 = -a e_kz, g2 = b e_ky,  u = y/a, v = z/b,
// so that the energy is a function of l0 = 1 + e_x and g. On an ellipse it depends on k = |g| only:
// strips across g at u = sin t have the width 2 cos t, and by parts dw/dk = k c with
// c = int P' 2/3 (1 - u^2)^(3/2) du, which has no division by k.
#include "model/section_law.h"

#include "math/quadrature.h"
#include "model/desc.h"

#include <math.h>
#include <string.h>

double snw_hyperelastic_young(const snw_hyperelastic *h) {
    double sum = 0;
    for (int i = 0; i < h->n; i++) sum += 1.5 * h->mu[i] * h->alpha[i];
    return sum;
}

snw_fibre snw_hyperelastic_at(const snw_hyperelastic *h, double l) {
    snw_fibre f = {0};
    const double inverse = 1 / l;
    for (int i = 0; i < h->n; i++) {
        const double m = h->mu[i], a = h->alpha[i];
        // p = l^a, s = l^(-a/2); squares without pow for neo-Hookean and Mooney-Rivlin
        const double p = a == 2 ? l * l : a == -2 ? inverse * inverse : pow(l, a);
        const double s = a == 2 ? inverse : a == -2 ? l : pow(l, -0.5 * a);
        f.W += m / a * (p + 2 * s - 3);
        f.P += m * (p - s) * inverse;
        f.dP += m * ((a - 1) * p + (0.5 * a + 1) * s) * inverse * inverse;
    }
    return f;
}

void snw_section_law_prepare(snw_section_law *law) {
    snw_gauss(SNW_SECTION_FIBRES, law->fine[0], law->fine[1]);
    snw_gauss(SNW_SECTION_PLANE, law->plane[0], law->plane[1]);
}

// Integrals over a section of unit half widths as functions of l0 and g: w and its derivatives.
typedef struct fibre_sums {
    double w, l, g[2], ll, lg[2], gg[3]; // gg: 11, 12, 22
} fibre_sums;

// Unit disc; k = |g|.
static void add_disc(const snw_section_law *law, double l0, const double g[2], double hole,
                     double factor, fibre_sums *out) {
    const double *t = law->fine[0], *weight = law->fine[1];
    const double k = sqrt(g[0] * g[0] + g[1] * g[1]);
    double w = 0, n = 0, c = 0, ll = 0, lk = 0, kk = 0;
    for (int i = 0; i < SNW_SECTION_FIBRES; i++) {
        const double angle = M_PI * (t[i] - 0.5), u = sin(angle), half = cos(angle);
        const snw_fibre f = snw_hyperelastic_at(&law->fibre, l0 + hole * k * u);
        const double area = 2 * half * half * M_PI * weight[i];
        w += area * f.W;
        n += area * f.P;
        ll += area * f.dP;
        lk += area * u * f.dP;
        kk += area * u * u * f.dP;
        c += area * half * half / 3 * f.dP;
    }
    // a bore of relative width `hole` is the same function of hole k, times hole^2 in area
    const double scale = factor * hole * hole,
                 unit[2] = {k > 0 ? g[0] / k : 1, k > 0 ? g[1] / k : 0};
    out->w += scale * w;
    out->l += scale * n;
    out->ll += scale * ll;
    c *= scale * hole * hole, kk *= scale * hole * hole, lk *= scale * hole;
    for (int i = 0; i < 2; i++) {
        out->g[i] += c * g[i];
        out->lg[i] += lk * unit[i];
    }
    out->gg[0] += c + (kk - c) * unit[0] * unit[0];
    out->gg[1] += (kk - c) * unit[0] * unit[1];
    out->gg[2] += c + (kk - c) * unit[1] * unit[1];
}

// Square of half width 1; a direction that does not vary takes one point.
static void add_square(const snw_section_law *law, double l0, const double g[2],
                       const bool varies[2], fibre_sums *out) {
    static const double middle = 0.5, whole = 1;
    const double *x[2], *weight[2];
    int n[2];
    for (int i = 0; i < 2; i++) {
        const bool plane = varies[1 - i];
        n[i] = !varies[i] ? 1 : plane ? SNW_SECTION_PLANE : SNW_SECTION_FIBRES;
        x[i] = !varies[i] ? &middle : plane ? law->plane[0] : law->fine[0];
        weight[i] = !varies[i] ? &whole : plane ? law->plane[1] : law->fine[1];
    }
    for (int i = 0; i < n[0]; i++) {
        for (int j = 0; j < n[1]; j++) {
            const double u = 2 * x[0][i] - 1, v = 2 * x[1][j] - 1;
            const double area = 4 * weight[0][i] * weight[1][j];
            const snw_fibre f = snw_hyperelastic_at(&law->fibre, l0 + g[0] * u + g[1] * v);
            out->w += area * f.W;
            out->l += area * f.P;
            out->g[0] += area * u * f.P, out->g[1] += area * v * f.P;
            out->ll += area * f.dP;
            out->lg[0] += area * u * f.dP, out->lg[1] += area * v * f.dP;
            out->gg[0] += area * u * u * f.dP;
            out->gg[1] += area * u * v * f.dP;
            out->gg[2] += area * v * v * f.dP;
        }
    }
}

static void set_pair(double A[36], int i, int j, double value) {
    A[6 * i + j] = value;
    A[6 * j + i] = value;
}

// Exact torsion of a round neo-Hookean bar: w = mu J tau^2/(2 l0).
static void add_twist(const snw_section_law *law, const snw_section_law_point *p, double twist,
                      double l0, snw_section_response *out) {
    const double k = law->fibre.mu[0] * p->torsion / l0;
    out->energy += 0.5 * k * twist * twist;
    out->stress[SNW_TWIST] += k * twist;
    out->stress[SNW_STRETCH] -= 0.5 * k * twist * twist / l0;
    out->tangent[7 * SNW_TWIST] += k;
    out->tangent[7 * SNW_STRETCH] += k * twist * twist / (l0 * l0);
    set_pair(out->tangent, SNW_TWIST, SNW_STRETCH, -k * twist / l0);
}

static snw_section_fault respond_fibres(const snw_section_law *law, const snw_section_law_point *p,
                                        const bool active[6], const double e[6],
                                        snw_section_response *out, double *value) {
    const double scale[2] = {-p->half[0], p->half[1]}; // of g by the curvatures about z and y
    const int of[2] = {SNW_BEND_Z, SNW_BEND_Y};
    const double l0 = 1 + e[SNW_STRETCH], g[2] = {scale[0] * e[of[0]], scale[1] * e[of[1]]};
    *value = l0 - (law->rectangle ? fabs(g[0]) + fabs(g[1]) : sqrt(g[0] * g[0] + g[1] * g[1]));
    if (!(*value > 0)) return SNW_SECTION_CRUSHED;
    fibre_sums s = {0};
    if (law->rectangle) {
        const bool varies[2] = {active[of[0]], active[of[1]]};
        add_square(law, l0, g, varies, &s);
    } else {
        add_disc(law, l0, g, 1, 1, &s);
        if (p->hole > 0) add_disc(law, l0, g, p->hole, -1, &s);
    }
    const double area = p->half[0] * p->half[1]; // of a section of unit half widths: 1
    out->energy = area * s.w;
    out->stress[SNW_STRETCH] = area * s.l;
    out->tangent[7 * SNW_STRETCH] = area * s.ll;
    for (int i = 0; i < 2; i++) {
        out->stress[of[i]] = area * scale[i] * s.g[i];
        set_pair(out->tangent, SNW_STRETCH, of[i], area * scale[i] * s.lg[i]);
        out->tangent[7 * of[i]] = area * scale[i] * scale[i] * s.gg[2 * i];
    }
    set_pair(out->tangent, of[0], of[1], area * scale[0] * scale[1] * s.gg[1]);
    if (law->exact_twist) add_twist(law, p, e[SNW_TWIST], l0, out);
    return SNW_SECTION_OK;
}

// Stress and tangent of an energy density, by derivatives along pairs of strains:
// w_ij = (w_(i+j)(i+j) - w_ii - w_jj)/2, curvatures in units of 1/L so that the terms compare.
static void respond_energy(const snw_section_law *law, const snw_section_law_point *p,
                           const bool active[6], const double e[6], int want,
                           snw_section_response *out) {
    const snw_at at = {.x = p->x, .L = p->L, .signal = e};
    double unit[6], direction[6] = {0};
    out->energy = snw_expr_value(law->energy, at);
    for (int i = 0; i < 6; i++) {
        unit[i] = i < SNW_STRETCH ? 1 / p->L : 1;
        if (!active[i] || !snw_expr_reads(law->energy, i)) continue;
        const snw_jet w = snw_expr_jet_signal(law->energy, at, i);
        out->stress[i] = w.d;
        out->tangent[7 * i] = w.dd;
    }
    for (int i = 0; i < 6 && want & SNW_WANT_TANGENT; i++) {
        for (int j = 0; j < i; j++) {
            if (!active[i] || !active[j] || !snw_expr_reads(law->energy, i) ||
                !snw_expr_reads(law->energy, j))
                continue;
            direction[i] = unit[i], direction[j] = unit[j];
            const double both = snw_expr_jet_signals(law->energy, at, direction).dd;
            direction[i] = direction[j] = 0;
            const double own =
                unit[i] * unit[i] * out->tangent[7 * i] + unit[j] * unit[j] * out->tangent[7 * j];
            set_pair(out->tangent, i, j, 0.5 * (both - own) / (unit[i] * unit[j]));
        }
    }
}

// Energy of stresses by expressions: work along the straight path from the rest strain.
static double path_work(const snw_section_law *law, const snw_section_law_point *p,
                        const double e[6]) {
    const double *s = law->fine[0], *weight = law->fine[1];
    double part[6], sum = 0;
    for (int k = 0; k < SNW_SECTION_FIBRES; k++) {
        for (int i = 0; i < 6; i++) part[i] = s[k] * e[i];
        const snw_at at = {.x = p->x, .L = p->L, .signal = part};
        for (int i = 0; i < 6; i++) {
            if (law->stress[i]) sum += weight[k] * e[i] * snw_expr_value(law->stress[i], at);
        }
    }
    return sum;
}

static snw_section_fault respond_stress(const snw_section_law *law, const snw_section_law_point *p,
                                        const bool active[6], const double e[6], int want,
                                        snw_section_response *out, double *value, int *component) {
    const snw_at at = {.x = p->x, .L = p->L, .signal = e};
    for (int i = 0; i < 6; i++) {
        if (law->table[i]) {
            *value = e[i], *component = i;
            if (!snw_monotone_cubic_covers(law->table[i], e[i])) return SNW_SECTION_OUTSIDE;
            const snw_jet y = snw_monotone_cubic_at(law->table[i], e[i]);
            out->stress[i] = y.v, out->tangent[7 * i] = y.d;
            if (want & SNW_WANT_ENERGY)
                out->energy += snw_monotone_cubic_integral(law->table[i], e[i]);
        } else if (law->stress[i]) {
            out->stress[i] = snw_expr_value(law->stress[i], at);
            for (int j = 0; j < 6 && want & SNW_WANT_TANGENT; j++) {
                if (active[j] && snw_expr_reads(law->stress[i], j))
                    out->tangent[6 * i + j] = snw_expr_jet_signal(law->stress[i], at, j).d;
            }
        }
    }
    if (want & SNW_WANT_ENERGY) out->energy += path_work(law, p, e);
    return SNW_SECTION_OK;
}

static bool response_is_finite(const snw_section_response *r) {
    double sum = r->energy;
    for (int i = 0; i < 6; i++) sum += fabs(r->stress[i]);
    for (int i = 0; i < 36; i++) sum += fabs(r->tangent[i]);
    return isfinite(sum);
}

snw_section_fault snw_section_law_at(const snw_section_law *law, const snw_section_law_point *p,
                                     const bool active[6], const double e[6], int want,
                                     snw_section_response *out, double *value, int *component) {
    snw_section_fault fault = SNW_SECTION_OK;
    memset(out, 0, sizeof *out);
    *component = SNW_STRETCH;
    *value = e[SNW_STRETCH];
    if (law->fibre.n > 0) {
        fault = respond_fibres(law, p, active, e, out, value);
    } else if (law->energy) {
        respond_energy(law, p, active, e, want, out);
    } else {
        fault = respond_stress(law, p, active, e, want, out, value, component);
    }
    if (fault == SNW_SECTION_OK && !response_is_finite(out)) fault = SNW_SECTION_UNDEFINED;
    if (fault == SNW_SECTION_OK) return fault;
    out->energy = NAN;
    for (int i = 0; i < 6; i++) {
        if (law->covers[i]) out->stress[i] = out->tangent[7 * i] = NAN;
    }
    return fault;
}

// ---- definiteness

// Smallest eigenvalue of a symmetric n x n matrix, n <= 6, rows of 6, by Jacobi's rotations.
static double smallest_eigenvalue(int n, double A[36]) {
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, size = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) *(i == j ? &size : &off) += A[6 * i + j] * A[6 * i + j];
        }
        if (!(off > 1e-26 * size)) break;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) {
                if (A[6 * i + j] == 0) continue;
                const double angle = 0.5 * atan2(2 * A[6 * i + j], A[7 * i] - A[7 * j]);
                const double c = cos(angle), s = sin(angle);
                for (int k = 0; k < n; k++) { // columns i and j
                    const double x = A[6 * k + i], y = A[6 * k + j];
                    A[6 * k + i] = c * x + s * y, A[6 * k + j] = c * y - s * x;
                }
                for (int k = 0; k < n; k++) { // rows i and j
                    const double x = A[6 * i + k], y = A[6 * j + k];
                    A[6 * i + k] = c * x + s * y, A[6 * j + k] = c * y - s * x;
                }
            }
        }
    }
    double least = A[0];
    for (int i = 1; i < n; i++) least = fmin(least, A[7 * i]);
    return least;
}

double snw_section_law_weakest(const snw_section_law *law, const bool active[6], const double H[36],
                               const double C[36]) {
    double A[36] = {0};
    int n = 0, of[6];
    for (int i = 0; i < 6; i++) {
        if (active[i] && law->covers[i] && H[7 * i] > 0) of[n++] = i;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            A[6 * i + j] = C[6 * of[i] + of[j]] / sqrt(H[7 * of[i]] * H[7 * of[j]]);
    }
    return n > 0 ? smallest_eigenvalue(n, A) : INFINITY;
}
