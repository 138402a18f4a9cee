// SPDX-License-Identifier: MIT
//
// Contact impulses with Coulomb friction: an interior-point method on second-order cones, then
// Newton's method on the projected equations (theory.md 6.9).
//
// Scaled variables make every cone the circular one, L = {|x_t| <= x_0}. With D = diag(1, mu_1,
// mu_2) and a scale c of each contact,
//   p = c D x,   v = c D u = A x + beta,   y = v + |v_t| e_0,
// the law is x in L, y in L, x.y = 0 (De Saxce). For a given s = |v_t| it is the optimality
// condition of a convex programme. The first attempt follows the change of s in each step, which
// converges quadratically; the second one keeps s during a step, which is slower and fails less.
// The third one keeps s during a whole solution, a convex programme, and then sets it anew.

#include "solve/coulomb.h"

#include "solve/dense.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    SCALING = 7,     // numbers of a scaling
    INTERIOR = 60,   // most iterations of the interior-point method
    POLISH = 20,     // most Newton steps
    ROUNDS = 30,     // solutions about a moving centre
    FEW = 10,        // of them: then a violation of ENOUGH that hardly falls suffices
    HALVINGS = 8,    // of a Newton step
    PROGRAMMES = 30, // convex programmes with a given slip
    ALL = 2500       // interior points after which the best solution is taken
};

// Regularisation of the diagonal of A, whose typical entries are 1. Impulses of redundant contacts
// are determined by it alone. Where the solutions about moving centres converge slowly, since A has
// smaller eigenvalues, it is divided by SOFTER, down to LEAST.
static const double SOFT = 1e-4, SOFTER = 10, LEAST = 1e-12;
static const double ENOUGH = 1e-6;
static const double ROUGH = 1e-5;       // violation that convex programmes may improve
static const double SLOW = 0.5;         // of the violation left by one solution
static const double TO_BOUNDARY = 0.99; // fraction of the longest step inside the cones

// Nesterov-Todd scaling of x and y inside the cone: the symmetric matrix G = eta (2 w w' - J)^(1/2)
// with G x = G^-1 y = lambda. It is eta [w_0, w_t'; w_t, 1 + w_t w_t'/(1 + w_0)].
typedef struct scaling {
    double eta, w[3], lambda[3];
} scaling;

typedef struct coulomb {
    int n, dim;               // contacts, 3n
    double *A, *beta, *scale; // scaled problem; p = scale x, by component
    double *x, *y, *v;        // impulses, velocities with and without the friction term
    double *r, *dx, *dy, *dx0, *dy0, *trial;
    double *M; // matrix of a step
    int *pivot;
    bool follow;    // does a step follow the change of |v_t|?
    bool given;     // is |v_t| that in `slip`?
    bool is_near;   // is x near the solution?
    double *slip;   // |v_t| of each contact
    double *least;  // impulses with the least violation about the present centre
    double soft;    // the regularisation
    double *centre; // impulses about which the problem is regularised
    double *best;   // impulses with the least violation of the law
    scaling *g;     // of each contact
} coulomb;

size_t snw_coulomb_scratch(int n) {
    const size_t d = 3 * (size_t)n, pad = 64;
    return (2 * d * d + 15 * d + (size_t)n * SCALING) * sizeof(double) + d * sizeof(int) +
           18 * pad + snw_minimum_norm_scratch(3 * n, 3 * n);
}

// ---- one second-order cone ----------------------------------------------------------------------

// x_0^2 - |x_t|^2, without cancellation
static double cone_det(const double *x) {
    const double t = hypot(x[1], x[2]);
    return (x[0] - t) * (x[0] + t);
}

static void apply(const scaling *g, const double *x, double *out) {
    const double dot = g->w[1] * x[1] + g->w[2] * x[2];
    const double f = x[0] + dot / (1 + g->w[0]);
    out[0] = g->eta * (g->w[0] * x[0] + dot);
    for (int i = 1; i < 3; i++) out[i] = g->eta * (x[i] + f * g->w[i]);
}

static void apply_inverse(const scaling *g, const double *x, double *out) {
    const double dot = g->w[1] * x[1] + g->w[2] * x[2];
    const double f = -x[0] + dot / (1 + g->w[0]);
    out[0] = (g->w[0] * x[0] - dot) / g->eta;
    for (int i = 1; i < 3; i++) out[i] = (x[i] + f * g->w[i]) / g->eta;
}

static scaling scaling_of(const double *x, const double *y) {
    const double dx = cone_det(x), dy = cone_det(y), sx = 1 / sqrt(dx), sy = 1 / sqrt(dy);
    const double dot = (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) * sx * sy;
    const double half = 1 / sqrt(2 * (1 + dot));
    scaling g = {.eta = sqrt(sqrt(dy / dx))};
    g.w[0] = (y[0] * sy + x[0] * sx) * half;
    for (int i = 1; i < 3; i++) g.w[i] = (y[i] * sy - x[i] * sx) * half;
    apply(&g, x, g.lambda);
    return g;
}

// Jordan product a o b = (a.b, a_0 b_t + b_0 a_t), and its inverse: out with a o out = b
static void jordan(const double *a, const double *b, double *out) {
    out[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    out[1] = a[0] * b[1] + b[0] * a[1];
    out[2] = a[0] * b[2] + b[0] * a[2];
}

static void jordan_divide(const double *a, const double *b, double *out) {
    const double x0 = (a[0] * b[0] - a[1] * b[1] - a[2] * b[2]) / cone_det(a);
    out[0] = x0;
    for (int i = 1; i < 3; i++) out[i] = (b[i] - x0 * a[i]) / a[0];
}

// the longest step, at most 1, that keeps x + step dx in the cone
static double longest_step(const double *x, const double *dx) {
    const double a = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2],
                 b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2], c = cone_det(x);
    const double d = b * b - a * c;
    double step = 1;
    // smallest positive root of a t^2 + 2 b t + c, where the apex is passed at most there
    if (d >= 0) {
        const double q = -(b + copysign(sqrt(d), b));
        const double t1 = a != 0 ? q / a : INFINITY, t2 = q != 0 ? c / q : INFINITY;
        if (t1 > 0 && t1 < step) step = t1;
        if (t2 > 0 && t2 < step) step = t2;
    }
    if (dx[0] < 0 && -x[0] / dx[0] < step) step = -x[0] / dx[0];
    return step;
}

// ---- the scaled problem -------------------------------------------------------------------------

static void take_arrays(coulomb *c, int n, snw_arena *scratch) {
    const size_t d = 3 * (size_t)n;
    c->n = n, c->dim = 3 * n;
    c->A = snw_arena_doubles(scratch, d * d);
    c->M = snw_arena_doubles(scratch, d * d);
    double **const vector[] = {&c->beta,  &c->scale,  &c->x,    &c->y,    &c->v,
                               &c->r,     &c->dx,     &c->dy,   &c->dx0,  &c->dy0,
                               &c->trial, &c->centre, &c->best, &c->slip, &c->least};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        *vector[i] = snw_arena_doubles(scratch, d);
    c->pivot = snw_arena_ints(scratch, d);
    c->g = (scaling *)snw_arena_doubles(scratch, (size_t)n * SCALING);
}

// Velocity scale of the problem: the largest approach that impulses must prevent; zero: no impulse
// is needed; not finite if an entry of b is not.
static double largest_approach(const snw_coulomb_problem *p) {
    double most = 0, sum = 0;
    for (int i = 0; i < 3 * p->n; i++) {
        if (i % 3 == 0) most = fmax(most, -p->b[i]);
        sum += p->b[i];
    }
    return isfinite(sum) ? most : sum;
}

// A, beta and scale, and the centre; velocities are divided by `speed`
static void scale_problem(coulomb *c, const snw_coulomb_problem *p, double speed) {
    const int d = c->dim;
    c->soft = SOFT;
    for (int i = 0; i < c->n; i++) {
        double trace = 0;
        for (int k = 0; k < 3; k++) trace += p->W[(size_t)(3 * i + k) * (size_t)(d + 1)] / 3;
        const double unit = trace > 0 ? 1 / sqrt(trace) : 1;
        c->scale[3 * i] = unit;
        for (int k = 0; k < 2; k++) c->scale[3 * i + 1 + k] = unit * p->mu[2 * i + k];
    }
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) {
            const size_t at = (size_t)j * (size_t)d + (size_t)i;
            c->A[at] = c->scale[i] * p->W[at] * c->scale[j];
        }
        c->A[(size_t)j * (size_t)(d + 1)] += SOFT;
        c->beta[j] = c->scale[j] * p->b[j] / speed;
        c->centre[j] = p->near && c->scale[j] > 0 ? p->near[j] / (speed * c->scale[j]) : 0;
    }
    c->is_near = p->near != NULL;
    memcpy(c->x, c->centre, (size_t)d * sizeof *c->x);
}

// out <- A x; the diagonal of A contains the regularisation
static void times(const coulomb *c, const double *x, double *out) {
    const int d = c->dim;
    memset(out, 0, (size_t)d * sizeof *out);
    for (int j = 0; j < d; j++) {
        const double *column = c->A + (size_t)j * (size_t)d;
        for (int i = 0; i < d; i++) out[i] += column[i] * x[j];
    }
}

static void velocities(const coulomb *c, const double *x, double *v) {
    times(c, x, v);
    for (int i = 0; i < c->dim; i++) v[i] += c->beta[i] - c->soft * c->centre[i];
}

// ---- interior-point method ----------------------------------------------------------------------

static double complementarity(const coulomb *c) {
    double sum = 0;
    for (int i = 0; i < c->dim; i++) sum += c->x[i] * c->y[i];
    return sum / c->n;
}

// Direction of the slip of contact i, whose size is smoothed over `width`: the derivative of |y_t|
static void slip_direction(const coulomb *c, int i, double width, double tau[2]) {
    const double *y = c->y + 3 * i, size = sqrt(y[1] * y[1] + y[2] * y[2] + width * width);
    for (int k = 0; k < 2; k++) tau[k] = y[1 + k] / size;
}

// dv <- S dv: the normal components get the change of |v_t|
static void add_slip(const coulomb *c, double *dv) {
    if (!c->follow) return;
    const double width = sqrt(complementarity(c));
    for (int i = 0; i < c->n; i++) {
        double tau[2];
        slip_direction(c, i, width, tau);
        dv[3 * i] += tau[0] * dv[3 * i + 1] + tau[1] * dv[3 * i + 2];
    }
}

// M <- LU factors of S A + diag(G_i^2)
static snw_status factor_step(const coulomb *c) {
    const scaling *g = c->g;
    const size_t d = (size_t)c->dim;
    memcpy(c->M, c->A, d * d * sizeof(double));
    for (size_t j = 0; j < d; j++) add_slip(c, c->M + j * d);
    for (size_t i = 0; i < (size_t)c->n; i++) {
        for (size_t k = 0; k < 3; k++) {
            double column[3] = {k == 0, k == 1, k == 2}, once[3];
            apply(&g[i], column, once);
            apply(&g[i], once, column);
            for (size_t l = 0; l < 3; l++) c->M[(3 * i + k) * d + 3 * i + l] += column[l];
        }
    }
    return snw_lu_factor(c->dim, c->M, c->pivot);
}

// dx, dy <- step towards G dx + G^-1 dy = lambda \ target and y + dy = A (x + dx) + beta + s. On
// entry dx is G (lambda \ target).
static void step_from(const coulomb *c, double *dx, double *dy) {
    for (int i = 0; i < c->dim; i++) dx[i] -= c->r[i];
    snw_lu_solve(c->dim, c->M, c->pivot, dx);
    times(c, dx, dy);
    add_slip(c, dy);
    for (int i = 0; i < c->dim; i++) dy[i] += c->r[i];
}

static double common_step(const coulomb *c, const double *dx, const double *dy) {
    double step = 1;
    for (int i = 0; i < c->n; i++) {
        step = fmin(step, longest_step(c->x + 3 * i, dx + 3 * i));
        step = fmin(step, longest_step(c->y + 3 * i, dy + 3 * i));
    }
    return step;
}

static void start_inside(coulomb *c) {
    velocities(c, memset(c->x, 0, (size_t)c->dim * sizeof *c->x), c->v);
    double most = 1e-3;
    for (int i = 0; i < c->n; i++) most = fmax(most, fabs(c->v[3 * i]));
    for (int i = 0; i < c->n; i++) {
        double *x = c->x + 3 * i, *y = c->y + 3 * i;
        const double *v = c->v + 3 * i;
        x[0] = most, x[1] = x[2] = 0;
        y[0] = hypot(v[1], v[2]) + most, y[1] = v[1], y[2] = v[2];
    }
}

// r <- A x + beta + s - y with s = |y_t| on the normal components; returns its largest entry
static double interior_residual(const coulomb *c) {
    double worst = 0;
    velocities(c, c->x, c->r);
    for (int i = 0; i < c->dim; i++) {
        const double *y = c->y + i;
        const double slip = i % 3 != 0 ? 0 : c->given ? c->slip[i / 3] : hypot(y[1], y[2]);
        c->r[i] += slip - y[0];
        worst = fmax(worst, fabs(c->r[i]));
    }
    return worst;
}

static int interior_point(coulomb *c, double tol) {
    scaling *g = c->g;
    start_inside(c);
    for (int k = 0; k < INTERIOR; k++) {
        const double worst = interior_residual(c), gap = complementarity(c);
        if (!(worst > tol || gap > tol)) return k;
        for (int i = 0; i < c->n; i++) g[i] = scaling_of(c->x + 3 * i, c->y + 3 * i);
        if (factor_step(c) != SNW_OK) return k;
        for (int i = 0; i < c->dim; i++) c->dx0[i] = -c->y[i]; // G (lambda \ -lambda o lambda)
        step_from(c, c->dx0, c->dy0);
        const double left = 1 - common_step(c, c->dx0, c->dy0);
        const double centre = left * left * left * gap;
        for (int i = 0; i < c->n; i++) {
            double a[3], b[3], product[3], target[3];
            apply(&g[i], c->dx0 + 3 * i, a);
            apply_inverse(&g[i], c->dy0 + 3 * i, b);
            jordan(a, b, product);
            for (int l = 0; l < 3; l++) target[l] = -product[l] + (l == 0 ? centre : 0);
            jordan_divide(g[i].lambda, target, a);
            for (int l = 0; l < 3; l++) a[l] -= g[i].lambda[l];
            apply(&g[i], a, c->dx + 3 * i);
        }
        step_from(c, c->dx, c->dy);
        const double step = fmin(1, TO_BOUNDARY * common_step(c, c->dx, c->dy));
        if (!(step > 1e-10)) return k;
        for (int i = 0; i < c->dim; i++) c->x[i] += step * c->dx[i], c->y[i] += step * c->dy[i];
    }
    return INTERIOR;
}

// ---- projected equations ------------------------------------------------------------------------

// Sizes rho of the projections of contact i: inverse diagonal entries of A, normal and tangential
static void projection_sizes(const coulomb *c, int i, double rho[2]) {
    const size_t d = (size_t)c->dim, at = 3 * (size_t)i;
    const double normal = c->A[at * d + at],
                 tangent = 0.5 * (c->A[(at + 1) * d + at + 1] + c->A[(at + 2) * d + at + 2]);
    rho[0] = normal > 0 ? 1 / normal : 1;
    rho[1] = tangent > 0 ? 1 / tangent : 0;
}

// Does friction act along component k of a contact?
static bool has_friction(const coulomb *c, int i, int k) { return c->scale[3 * i + k] > 0; }

// f <- x less its projection (Alart and Curnier): normal x_0 - max(t_0, 0) with t = x - rho v,
// tangential x_t - t_t within the disc of radius max(t_0, 0). Returns the largest entry.
static double projected(const coulomb *c, const double *x, double *v, double *f) {
    double worst = 0;
    velocities(c, x, v);
    for (int i = 0; i < c->n; i++) {
        const double *xi = x + 3 * i, *vi = v + 3 * i;
        double rho[2], t[3];
        projection_sizes(c, i, rho);
        const double radius = fmax(xi[0] - rho[0] * vi[0], 0);
        for (int k = 1; k < 3; k++) t[k] = has_friction(c, i, k) ? xi[k] - rho[1] * vi[k] : 0;
        const double size = hypot(t[1], t[2]), by = size > radius ? radius / size : 1;
        f[3 * i] = xi[0] - radius;
        for (int k = 1; k < 3; k++) f[3 * i + k] = xi[k] - by * t[k];
    }
    for (int i = 0; i < c->dim; i++) worst = fmax(worst, isfinite(f[i]) ? fabs(f[i]) : INFINITY);
    return worst;
}

// M <- a generalised Jacobian of the projected equations at x, v
static void projected_jacobian(const coulomb *c) {
    const size_t d = (size_t)c->dim;
    for (size_t i = 0; i < (size_t)c->n; i++) {
        const double *x = c->x + 3 * i, *v = c->v + 3 * i;
        double rho[2], t[3], P[2][2] = {{0}}; // f_t = x_t - P dt_t - e dt_0
        double e[2] = {0, 0};
        projection_sizes(c, (int)i, rho);
        t[0] = x[0] - rho[0] * v[0];
        for (int k = 1; k < 3; k++) t[k] = has_friction(c, (int)i, k) ? x[k] - rho[1] * v[k] : 0;
        const double size = hypot(t[1], t[2]);
        const bool closed = t[0] > 0, slips = closed && size > t[0];
        for (int k = 0; k < 2 && closed; k++) {
            if (slips) e[k] = t[k + 1] / size;
            P[k][k] = slips ? t[0] / size : 1;
        }
        if (slips) {
            for (int k = 0; k < 2; k++)
                for (int l = 0; l < 2; l++) P[k][l] -= t[0] / size * e[k] * e[l];
        }
        for (size_t j = 0; j < d; j++) {
            const double *a = c->A + j * d + 3 * i;
            double *m = c->M + j * d + 3 * i, dt[3];
            for (size_t k = 0; k < 3; k++) {
                const bool acts = k == 0 || has_friction(c, (int)i, (int)k);
                dt[k] = acts ? (j == 3 * i + k) - rho[k > 0] * a[k] : 0;
            }
            m[0] = (j == 3 * i) - (closed ? dt[0] : 0);
            for (size_t k = 0; k < 2; k++)
                m[1 + k] = (j == 3 * i + 1 + k) - P[k][0] * dt[1] - P[k][1] * dt[2] - e[k] * dt[0];
        }
    }
}

// dx <- step of Newton's method at x. The regularisation makes the matrix regular; where it is
// nearly singular all the same, as of redundant contacts, a step of minimum norm is better.
static bool newton_step(coulomb *c, bool minimum_norm, snw_arena *scratch) {
    int rank;
    projected_jacobian(c);
    memcpy(c->dx, c->r, (size_t)c->dim * sizeof *c->dx);
    if (minimum_norm)
        return snw_minimum_norm(c->dim, c->dim, c->M, 1e-10, scratch, c->dx, &rank) == SNW_OK;
    if (snw_lu_factor(c->dim, c->M, c->pivot) != SNW_OK) return false;
    snw_lu_solve(c->dim, c->M, c->pivot, c->dx);
    return true;
}

// x <- x - dx, or a shorter step that reduces the violation `worst`; false: there is none
static bool line_search(coulomb *c, double *worst) {
    double step = 1;
    for (int h = 0; h < HALVINGS; h++, step *= 0.5) {
        for (int i = 0; i < c->dim; i++) c->trial[i] = c->x[i] - step * c->dx[i];
        if (projected(c, c->trial, c->y, c->dy) < *worst) {
            memcpy(c->x, c->trial, (size_t)c->dim * sizeof *c->x);
            *worst = projected(c, c->x, c->v, c->r);
            return true;
        }
    }
    return false;
}

// Newton's method from x, as long as it reduces the violation; *count <- steps. Returns the
// violation.
static double polish(coulomb *c, double tol, snw_arena *scratch, int *count) {
    double worst = projected(c, c->x, c->v, c->r);
    for (int k = 0; k < POLISH && worst > tol; k++, ++*count) {
        bool closer = false;
        for (int way = 0; way < 2 && !closer; way++)
            closer = newton_step(c, way == 1, scratch) && line_search(c, &worst);
        if (!closer) break;
    }
    return worst;
}

// Impulses of contacts that open are zero exactly.
static void open_contacts(coulomb *c) {
    for (int i = 0; i < c->n; i++) {
        double rho[2];
        projection_sizes(c, i, rho);
        if (c->x[3 * i] - rho[0] * c->v[3 * i] > 0) continue;
        for (int k = 0; k < 3; k++) c->x[3 * i + k] = 0;
    }
}

// ---- regularisation -----------------------------------------------------------------------------

// least <- x, if its violation `worst` is below *least
static void keep_least(coulomb *c, double worst, double *least) {
    if (!(worst < *least)) return;
    *least = worst;
    memcpy(c->least, c->x, (size_t)c->dim * sizeof *c->x);
}

// x <- solution about the present centre: by Newton's method from x alone, or from an interior
// point; otherwise the one with the least violation
static void regularised(coulomb *c, double tol, snw_arena *scratch, snw_coulomb_info *info) {
    double least = INFINITY;
    c->given = false;
    if (c->is_near) keep_least(c, polish(c, tol, scratch, &info->polished), &least);
    for (int way = 0; way < 2 && least > tol; way++) {
        c->follow = way == 0;
        info->iterations += interior_point(c, 0.01 * tol);
        keep_least(c, polish(c, tol, scratch, &info->polished), &least);
    }
    c->given = true;
    for (int i = 0; i < c->n; i++) c->slip[i] = 0;
    for (int k = 0; k < PROGRAMMES && least > ROUGH && info->iterations < ALL; k++) {
        info->iterations += interior_point(c, 0.01 * tol);
        velocities(c, c->x, c->v);
        for (int i = 0; i < c->n; i++) c->slip[i] = hypot(c->v[3 * i + 1], c->v[3 * i + 2]);
        keep_least(c, polish(c, tol, scratch, &info->polished), &least);
    }
    c->given = false;
    if (isfinite(least)) memcpy(c->x, c->least, (size_t)c->dim * sizeof *c->x);
}

// The centre moves to x, where the regularisation vanishes; returns the violation of the law there
static double unregularised(coulomb *c) {
    memcpy(c->centre, c->x, (size_t)c->dim * sizeof *c->x);
    return projected(c, c->x, c->v, c->r);
}

static void soften(coulomb *c) {
    const double less = c->soft - c->soft / SOFTER;
    for (int i = 0; i < c->dim; i++) c->A[(size_t)i * (size_t)(c->dim + 1)] -= less;
    c->soft /= SOFTER;
}

// x <- solution of the law itself: about centres that move to the last solution
static void solve_rounds(coulomb *c, double tol, snw_arena *scratch, snw_coulomb_info *info) {
    double before = INFINITY, least = INFINITY;
    for (int round = 0; round < ROUNDS; round++, c->is_near = true) {
        regularised(c, tol, scratch, info);
        const double left = unregularised(c);
        if (left < least) {
            least = left;
            memcpy(c->best, c->x, (size_t)c->dim * sizeof *c->x);
        }
        if (!(left > tol) || info->iterations > ALL) break;
        if (left > SLOW * before) {
            if (c->soft <= LEAST || (round >= FEW && least <= ENOUGH)) break;
            soften(c);
        }
        before = left;
    }
    memcpy(c->centre, c->best, (size_t)c->dim * sizeof *c->x);
    memcpy(c->x, c->best, (size_t)c->dim * sizeof *c->x);
    info->residual = projected(c, c->x, c->v, c->r);
    for (int i = 0; i < c->dim; i++) {
        if (fabs(c->r[i]) == info->residual) info->worst = i / 3;
    }
}

// ---- entry --------------------------------------------------------------------------------------

snw_status snw_coulomb_solve(const snw_coulomb_problem *problem, double tol, snw_arena *scratch,
                             double *p, double *u, snw_coulomb_info *info) {
    *info = (snw_coulomb_info){0};
    coulomb c;
    const double speed = largest_approach(problem);
    if (!isfinite(speed)) return SNW_E_DIVERGED;
    if (speed == 0) {
        memset(p, 0, 3 * (size_t)problem->n * sizeof *p);
        memcpy(u, problem->b, 3 * (size_t)problem->n * sizeof *u);
        return SNW_OK;
    }
    const size_t mark = snw_arena_mark(scratch);
    take_arrays(&c, problem->n, scratch);
    scale_problem(&c, problem, speed);
    solve_rounds(&c, tol, scratch, info);
    open_contacts(&c);
    for (int i = 0; i < c.dim; i++) {
        p[i] = speed * c.scale[i] * c.x[i];
        u[i] = problem->b[i];
    }
    for (int j = 0; j < c.dim; j++) {
        for (int i = 0; i < c.dim; i++)
            u[i] += problem->W[(size_t)j * (size_t)c.dim + (size_t)i] * p[j];
    }
    snw_arena_reset(scratch, mark);
    return info->residual <= tol ? SNW_OK : SNW_E_DIVERGED;
}
