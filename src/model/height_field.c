// SPDX-License-Identifier: MIT
//
// Closest point of a surface z = h(u), u = (x, y), and signed distance. The closest point minimises
//   F(u) = |u - (y_x, y_y)|^2/2 + (h(u) - y_z)^2/2.
// The slope of F is u - (y_x, y_y) + (h - y_z) s, s the slope of h; its second derivative is
// A = G + (h - y_z) B, B that of h and G = 1 + s s' the metric of the surface. With its tangents
// T = [1; s'] the closest point varies by du = A^-1 T' dy, and the unit normal n = (-s, 1)/m,
// m = sqrt(1 + |s|^2), by
//   dn = -(1/m) T G^-1 B du,   so that   Hess phi = -(1/m) T G^-1 B A^-1 T'   (theory.md
//   (3.13.13)).
#include "model/height_field.h"

#include <math.h>
#include <stdbool.h>

typedef struct sym2 { // symmetric, 2 x 2
    double xx, xy, yy;
} sym2;

static double sym2_det(sym2 a) { return a.xx * a.yy - a.xy * a.xy; }

// a^-1 b
static void sym2_solve(sym2 a, const double b[2], double out[2]) {
    const double over = 1 / sym2_det(a);
    out[0] = over * (a.yy * b[0] - a.xy * b[1]);
    out[1] = over * (a.xx * b[1] - a.xy * b[0]);
}

// The surface over u, and F with its derivatives.
typedef struct height_foot {
    double u[2], h, F;
    double slope[2], way[2]; // of h, of F
    sym2 second, G, A;       // derivatives of h, metric, those of F
} height_foot;

static height_foot foot_at(const snw_height_field *f, snw_vec3 y, double ux, double uy) {
    snw_vec3 s;
    snw_mat3 B;
    height_foot p = {.u = {ux, uy}};
    p.h = snw_spline_grid_at(&f->h, (snw_vec3){{ux, uy, 0}}, &s, &B);
    const double rise = p.h - y.z, dx = ux - y.x, dy = uy - y.y;
    p.slope[0] = s.x, p.slope[1] = s.y;
    p.way[0] = dx + rise * s.x, p.way[1] = dy + rise * s.y;
    p.F = 0.5 * (dx * dx + dy * dy + rise * rise);
    p.second = (sym2){B.e[0][0], B.e[0][1], B.e[1][1]};
    p.G = (sym2){1 + s.x * s.x, s.x * s.y, 1 + s.y * s.y};
    p.A = (sym2){p.G.xx + rise * p.second.xx, p.G.xy + rise * p.second.xy,
                 p.G.yy + rise * p.second.yy};
    return p;
}

// Step of Newton's method, or of Gauss and Newton where F is not convex.
static void foot_step(const height_foot *p, double step[2]) {
    const bool convex = p->A.xx > 0 && sym2_det(p->A) > 1e-3 * sym2_det(p->G);
    sym2_solve(convex ? p->A : p->G, p->way, step);
}

// Closest point, from the foot of the perpendicular on the tangent plane below y.
static height_foot closest(const snw_height_field *f, snw_vec3 y) {
    enum { ITERATIONS = 60, HALVINGS = 30 };
    const double cell = fmin(f->h.step[0], f->h.step[1]);
    height_foot p = foot_at(f, y, y.x, y.y);
    const double over = (y.z - p.h) / (1 + p.slope[0] * p.slope[0] + p.slope[1] * p.slope[1]);
    const height_foot start = foot_at(f, y, y.x + over * p.slope[0], y.y + over * p.slope[1]);
    if (start.F < p.F) p = start;
    bool near = false;
    for (int i = 0; i < ITERATIONS; i++) {
        double step[2], scale = 1;
        foot_step(&p, step);
        const double size = fabs(step[0]) + fabs(step[1]);
        height_foot next = foot_at(f, y, p.u[0] - step[0], p.u[1] - step[1]);
        if (near) return next; // one more step than needed
        near = !(size > 1e-9 * cell);
        const double most = p.F * (1 + 1e-10); // small steps change F by less than rounding
        for (int k = 0; !near && k < HALVINGS && !(next.F <= most); k++) {
            scale *= 0.5;
            next = foot_at(f, y, p.u[0] - scale * step[0], p.u[1] - scale * step[1]);
        }
        p = next;
    }
    return p;
}

double snw_height_field_distance(const snw_height_field *f, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    const height_foot p = closest(f, y);
    const double m = sqrt(1 + p.slope[0] * p.slope[0] + p.slope[1] * p.slope[1]);
    const double T[3][2] = {{1, 0}, {0, 1}, {p.slope[0], p.slope[1]}};
    *n = (snw_vec3){{-p.slope[0] / m, -p.slope[1] / m, 1 / m}};
    for (int j = 0; j < 3; j++) {
        double du[2], dn[2];
        sym2_solve(p.A, T[j], du);
        const double b[2] = {p.second.xx * du[0] + p.second.xy * du[1],
                             p.second.xy * du[0] + p.second.yy * du[1]};
        sym2_solve(p.G, b, dn);
        for (int i = 0; i < 3; i++) H->e[i][j] = -(T[i][0] * dn[0] + T[i][1] * dn[1]) / m;
    }
    const snw_vec3 w = {{y.x - p.u[0], y.y - p.u[1], y.z - p.h}};
    return snw_dot(*n, w);
}

void snw_height_field_measure(snw_height_field *f) {
    enum { PARTS = 2 }; // of a cell
    double concave = 0, convex = 0;
    f->lowest = INFINITY, f->highest = -INFINITY;
    for (int j = 0; j <= PARTS * (f->h.n[1] - 1); j++) {
        for (int i = 0; i <= PARTS * (f->h.n[0] - 1); i++) {
            const double x = f->h.first[0] + f->h.step[0] * i / PARTS;
            const double y = f->h.first[1] + f->h.step[1] * j / PARTS;
            const height_foot p = foot_at(f, (snw_vec3){{x, y, 0}}, x, y);
            // principal curvatures: eigenvalues of G^-1 B/m
            const double m = sqrt(sym2_det(p.G)), det = sym2_det(p.G);
            const double mean =
                0.5 * (p.G.xx * p.second.yy - 2 * p.G.xy * p.second.xy + p.G.yy * p.second.xx) /
                (det * m);
            const double gauss = sym2_det(p.second) / (det * det);
            const double apart = sqrt(fmax(mean * mean - gauss, 0));
            concave = fmax(concave, mean + apart);
            convex = fmax(convex, apart - mean);
            f->lowest = fmin(f->lowest, p.h);
            f->highest = fmax(f->highest, p.h);
        }
    }
    f->hollow = 1 / concave; // infinite on a plane
    f->hump = 1 / convex;
}
