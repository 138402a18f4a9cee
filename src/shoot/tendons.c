// SPDX-License-Identifier: MIT
//
// Tendons and chambers as the law of a rod: strain from the total wrench by Newton's method at each
// point, derivatives of tension, length and volume along the rod, and their boundary conditions.

#include "shoot/tendons.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/tendon_point.h"

#include <math.h>
#include <string.h>

// rad: angle over which the turning is smoothed along the whole path, as in the strain engine
static const double smoothing = 1e-5;

// ---- one section --------------------------------------------------------------------------------

// Tendon or chamber at a point: density f of its length or volume, and its derivative g by the
// strain, (D x t, t); for a tendon t = u/|u|. A chamber of variable area also has df/dp, and its
// contribution to (10.2) per stretch, -F, with its derivative by the stretch.
typedef struct section {
    double f, g[6], f_p, force, force_l;
} section;

// T: effort with the sign of (10.2)
static inline section shoot_tendon_section(const snw_shoot_tendon *c, const snw_tendon_point *p,
                                           snw_twist xi, double T, double L) {
    const double y = p->y, z = p->z;
    section s = {.f_p = 0};
    const snw_vec3 u = {{xi.v.x + xi.w.y * z - xi.w.z * y, xi.v.y - xi.w.x * z + p->dy,
                         xi.v.z + xi.w.x * y + p->dz}};
    snw_vec3 t;
    if (c->varies) {
        const snw_chamber_section at = snw_chamber_section_at(c->varies, p->x, L, u.x, -T);
        t = (snw_vec3){{at.a_l, 0, 0}};
        s.f = at.a, s.f_p = at.a_p;
        s.force = -at.force, s.force_l = -at.force_l;
    } else if (c->chamber) {
        t = (snw_vec3){{p->area, 0, 0}};
        s.f = p->area * u.x;
    } else {
        s.f = snw_norm(u);
        t = snw_scale(1 / s.f, u);
    }
    s.g[0] = y * t.z - z * t.y; // D x t
    s.g[1] = z * t.x;
    s.g[2] = -y * t.x;
    s.g[3] = t.x, s.g[4] = t.y, s.g[5] = t.z;
    return s;
}

// Q = (1 - t t')/|u| for a tendon
static inline void tangent_projection(const section *s, double Q[3][3]) {
    const double *t = s->g + 3, i = 1 / s->f;
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l < 3; l++) Q[k][l] = i * ((k == l) - t[k] * t[l]);
    }
}

// A (lower triangle) += k times the square of the derivative (0, z, -y; 1, 0, 0) of the stretch
static inline void add_stretch_stiffness(const snw_tendon_point *p, double k, double *A) {
    const double of[6] = {0, p->z, -p->y, 1, 0, 0};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) A[6 * i + j] += k * of[i] * of[j];
    }
}

// A (lower triangle, rows of 6) += T [D^ Q D^' . ; Q D^' Q]
static inline void add_geometric_stiffness(const snw_tendon_point *p, double T, const section *s,
                                           double *A) {
    const double y = p->y, z = p->z;
    double Q[3][3], W[3][3]; // W = Q D^'
    tangent_projection(s, Q);
    for (int i = 0; i < 3; i++) {
        W[i][0] = y * Q[i][2] - z * Q[i][1];
        W[i][1] = z * Q[i][0];
        W[i][2] = -y * Q[i][0];
    }
    for (int k = 0; k < 3; k++) {
        A[k] += T * (y * W[2][k] - z * W[1][k]);
        if (k < 2) A[6 + k] += T * z * W[0][k];
        A[12 + k] -= T * y * W[0][k];
        for (int i = 0; i < 3; i++) A[6 * (3 + i) + k] += T * W[i][k];
        for (int i = k; i < 3; i++) A[6 * (3 + i) + 3 + k] += T * Q[i][k];
    }
}

// Cholesky factorisation A = L L' in place, lower triangle in rows of 6, and its solution
static inline void factor6(double *A) {
    for (int j = 0; j < 6; j++) {
        double d = A[7 * j];
        for (int k = 0; k < j; k++) d -= A[6 * j + k] * A[6 * j + k];
        d = 1 / sqrt(d); // NaN where A is not positive definite; the march reports it
        A[7 * j] = d;
        for (int i = j + 1; i < 6; i++) {
            double x = A[6 * i + j];
            for (int k = 0; k < j; k++) x -= A[6 * i + k] * A[6 * j + k];
            A[6 * i + j] = x * d;
        }
    }
}

static inline void solve6(const double *L, double *x) {
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[6 * i + k] * x[k];
        x[i] *= L[7 * i];
    }
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++) x[i] -= L[6 * k + i] * x[k];
        x[i] *= L[7 * i];
    }
}

// unit rows and columns for inactive strains
static inline void fix_inactive_strains(const bool active[6], double *A, double *r) {
    for (int i = 0; i < 6; i++) {
        if (active[i]) continue;
        for (int k = 0; k < 6; k++) A[k < i ? 6 * i + k : 6 * k + i] = 0;
        A[7 * i] = 1;
        r[i] = 0;
    }
}

// ---- the law ------------------------------------------------------------------------------------

// effort of a tendon or chamber with the sign of (10.2)
static inline double signed_effort(const snw_shoot_tendon *c, const double *z) {
    const double T = c->z < 0 ? c->value : z[c->z];
    if (c->chamber) return -T;
    return T > 0 ? T : 0; // a tendon never pushes
}

static void update_KB(snw_shoot_tendons *c, double c0) {
    const snw_shoot_rod *r = c->r;
    const int n = 36 * (r->uniform ? 1 : r->npoint);
    for (int i = 0; i < n; i++) c->KB[i] = r->K[i] + c0 * r->section[i / 36].B[i % 36];
    memset(c->known, 0, (size_t)r->npoint * sizeof *c->known);
    c->c0 = c0;
}

// x <- F - K e - B e_t - sum T g, at strain e; s <- the tendons there
static inline void shoot_tendon_residual(const snw_shoot_tendons *c, const snw_law_in *in,
                                         const double *KB, snw_twist e, double *x, section *s) {
    const snw_twist xi = snw_twist_add(in->section->rest, e);
    if (c->r->diagonal) {
        const double *B = in->section->B;
        for (int i = 0; i < 6; i++) {
            x[i] = in->F.e[i] - KB[7 * i] * e.e[i] - B[7 * i] * in->eh.e[i];
        }
    } else {
        for (int i = 0; i < 6; i++) {
            x[i] = in->F.e[i];
            for (int k = 0; k < 6; k++) {
                x[i] -= KB[6 * i + k] * e.e[k] + in->section->B[6 * i + k] * in->eh.e[k];
            }
        }
    }
    for (int i = 0; i < c->n; i++) {
        const snw_shoot_tendon *tendon = &c->tendon[i];
        const snw_tendon_point *p = &tendon->point[in->point];
        const double T = signed_effort(tendon, in->z);
        if (!(p->w > 0) || (T == 0 && tendon->z < 0)) continue;
        s[i] = shoot_tendon_section(tendon, p, xi, T, c->r->length);
        if (tendon->varies) {
            const double of[6] = {0, p->z, -p->y, 1, 0, 0};
            for (int k = 0; k < 6; k++) x[k] -= s[i].force * of[k];
            continue;
        }
        for (int k = 0; k < 6; k++) x[k] -= T * s[i].g[k];
    }
}

// A <- factors of Newton's matrix
static void shoot_tendon_factor(const snw_shoot_tendons *c, const snw_law_in *in, const double *KB,
                                const section *s, double *A) {
    double ignored[6];
    memcpy(A, KB, 36 * sizeof *A);
    for (int i = 0; i < c->n; i++) {
        const snw_shoot_tendon *tendon = &c->tendon[i];
        const snw_tendon_point *p = &tendon->point[in->point];
        const double T = signed_effort(tendon, in->z);
        if (p->w > 0 && tendon->varies && T != 0) add_stretch_stiffness(p, s[i].force_l, A);
        if (p->w > 0 && !tendon->chamber && T != 0) add_geometric_stiffness(p, T, &s[i], A);
    }
    fix_inactive_strains(c->r->active, A, ignored);
    factor6(A);
}

// loss of tension per angle at the sliding speed nu, and its derivative, as in tendon_friction.c
static double shoot_tendon_loss(const snw_shoot_tendon *c, double nu, double *d1) {
    *d1 = c->viscous;
    if (!(c->friction > 0)) return c->viscous * nu;
    const double size = sqrt(nu * nu + c->creep * c->creep), unit = nu / size;
    *d1 += c->friction * (1 - unit * unit) / size;
    return c->viscous * nu + c->friction * unit;
}

// derivatives of a tendon's states along the rod, and, unless NULL, derivatives of these by (e, z):
// `by`, rows of 6 + SNW_SHOOT_Z
static void shoot_tendon_state_d1(const snw_shoot_tendon *c, const snw_law_in *in, const section *s,
                                  snw_twist xi, double *zs, double by[2][6 + SNW_SHOOT_Z]) {
    const snw_tendon_point *p = &c->point[in->point];
    const int z = c->z;
    if (by) memset(by, 0, 2 * sizeof *by);
    zs[z] = zs[z + 1] = 0;
    if (!(p->w > 0)) return;
    if (c->chamber) {
        zs[z + 1] = s->f;
        for (int i = 0; i < 6 && by; i++) by[1][i] = s->g[i];
        if (by) by[1][6 + z] = s->f_p;
        return;
    }
    const double T = in->z[z] > 0 ? in->z[z] : 0, stretch = 1 / (1 + c->compliance * T);
    zs[z + 1] = s->f * stretch;
    for (int i = 0; i < 6 && by; i++) by[1][i] = s->g[i] * stretch;
    if (T > 0 && by) by[1][6 + z] = -c->compliance * s->f * stretch * stretch;
    const bool is_static = in->c0 == 0;
    if (!snw_shoot_tendon_has_friction(c) || (is_static && c->sliding == 0)) return;
    // T' = -chi s(nu) T (10.3); nu: rate of the path length up to here less the rate paid out
    double of_xi[6], of_dxi[6], d1 = 0;
    const double nu = in->c0 * in->z[z + 1] + in->zh[z + 1] - c->rate;
    const double chi = snw_tendon_point_turning(p, xi, snw_twist_zero(), smoothing / c->reference,
                                                by ? of_xi : NULL, of_dxi);
    const double lost = is_static ? c->friction * c->sliding : shoot_tendon_loss(c, nu, &d1);
    zs[z] = -chi * lost * in->z[z];
    if (!by) return;
    for (int i = 0; i < 6; i++) by[0][i] = -of_xi[i] * lost * in->z[z];
    by[0][6 + z] = -chi * lost;
    by[0][6 + z + 1] = -chi * d1 * in->c0 * in->z[z];
}

static void shoot_tendon_differentiate(const snw_shoot_tendons *c, const snw_law_in *in,
                                       const section *s, snw_twist xi, const double *L,
                                       snw_law_out *out) {
    const int nz = c->law.nz;
    double x[6];
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 6; i++) x[i] = i == k && c->r->active[i];
        solve6(L, x);
        for (int i = 0; i < 6; i++) out->D[i][k] = x[i];
    }
    for (int k = 0; k < nz; k++) {
        for (int i = 0; i < 6; i++) out->D[i][6 + k] = 0;
    }
    for (int j = 0; j < c->n; j++) {
        const snw_shoot_tendon *tendon = &c->tendon[j];
        if (tendon->z < 0) continue;
        const bool acts =
            tendon->point[in->point].w > 0 && (tendon->chamber || in->z[tendon->z] > 0);
        for (int i = 0; i < 6 && acts; i++) {
            x[i] = !c->r->active[i] ? 0 : tendon->chamber ? s[j].g[i] : -s[j].g[i];
        }
        if (acts) solve6(L, x);
        for (int i = 0; i < 6 && acts; i++) out->D[i][6 + tendon->z] = x[i];
    }
    for (int j = 0; j < c->n; j++) {
        if (c->tendon[j].z < 0) continue;
        double by[2][6 + SNW_SHOOT_Z];
        shoot_tendon_state_d1(&c->tendon[j], in, &s[j], xi, out->zs, by);
        for (int row = 0; row < 2; row++) {
            double *D = out->D[6 + c->tendon[j].z + row];
            for (int k = 0; k < 6 + nz; k++) {
                D[k] = k < 6 ? 0 : by[row][k];
                for (int i = 0; i < 6; i++) D[k] += by[row][i] * out->D[i][k];
            }
        }
    }
}

enum { CHORDS = 8, TRIES = 30 };

// e += x; returns the size of the step: curvatures times length, linear strains
static inline double shoot_tendon_advance(const snw_shoot_rod *r, const double *x, snw_twist *e) {
    double most = 0;
    for (int k = 0; k < 6; k++) {
        e->e[k] += x[k];
        const double size = fabs(x[k]) * (k < 3 ? r->length : 1);
        if (!(size <= most)) most = size;
    }
    return most;
}

static const double step_tolerance = 1e-13; // size of a step that ends the iteration

// Chord iteration with the inverse from the last tangent at this point. Returns false if it does
// not converge within CHORDS steps.
static bool chord_iteration(const snw_shoot_tendons *c, const snw_law_in *in, const double *KB,
                            snw_twist *e, section *s) {
    const double *I = c->inverse + 36 * (ptrdiff_t)in->point;
    double x[6], before = 0;
    for (int i = 0; i < CHORDS; i++) {
        double step[6] = {0};
        shoot_tendon_residual(c, in, KB, *e, x, s);
        for (int k = 0; k < 6; k++) {
            for (int l = 0; l < 6; l++) step[l] += I[6 * k + l] * x[k];
        }
        const double most = shoot_tendon_advance(c->r, step, e);
        // linear convergence: the next step would be below the tolerance
        if (most <= step_tolerance || (i > 0 && most * most <= step_tolerance * before))
            return true;
        if (!(i == 0 || most < 0.5 * before)) return false;
        before = most;
    }
    return false;
}

static void shoot_tendon_newton(const snw_shoot_tendons *c, const snw_law_in *in, const double *KB,
                                snw_twist *e, section *s) {
    double A[36], x[6];
    for (int i = 0; i < TRIES; i++) {
        shoot_tendon_residual(c, in, KB, *e, x, s);
        shoot_tendon_factor(c, in, KB, s, A);
        for (int k = 0; k < 6; k++) x[k] = c->r->active[k] ? x[k] : 0;
        solve6(A, x);
        if (!(shoot_tendon_advance(c->r, x, e) > 1e-12)) break;
    }
}

// no tendon is under tension here, and no area varies: (10.2) is linear in e
static bool is_linear(const snw_shoot_tendons *c, const snw_law_in *in) {
    for (int i = 0; i < c->n; i++) {
        const snw_shoot_tendon *tendon = &c->tendon[i];
        if ((!tendon->chamber || tendon->varies) && tendon->point[in->point].w > 0 &&
            signed_effort(tendon, in->z) != 0)
            return false;
    }
    return true;
}

static void shoot_tendon_strain(void *user, const snw_law_in *in, bool derivatives,
                                snw_law_out *out) {
    snw_shoot_tendons *c = user;
    const snw_shoot_rod *r = c->r;
    if (in->c0 != c->c0) update_KB(c, in->c0);
    const double *KB = c->KB + (r->uniform ? 0 : 36 * (ptrdiff_t)in->point);
    section s[SNW_SHOOT_TENDONS];
    snw_twist e = c->guess[in->point];
    if (is_linear(c, in)) {
        double x[6];
        const double *C = in->section->C;
        shoot_tendon_residual(c, in, KB, snw_twist_zero(), x, s);
        for (int i = 0; i < 6; i++) {
            e.e[i] = C[7 * i] * x[i];
            for (int k = 0; k < 6 && !r->diagonal; k++) e.e[i] += k == i ? 0 : C[6 * i + k] * x[k];
        }
    } else if (!c->known[in->point] || !chord_iteration(c, in, KB, &e, s)) {
        e = c->guess[in->point];
        shoot_tendon_newton(c, in, KB, &e, s);
    }
    // a strain that is not a number is no initial guess
    double sum = 0;
    for (int k = 0; k < 6; k++) sum += fabs(e.e[k]);
    c->guess[in->point] = isfinite(sum) ? e : snw_twist_zero();
    out->e = e;
    // the iteration evaluated the tendons before its last step
    const snw_twist xi = snw_twist_add(in->section->rest, e);
    for (int i = 0; i < c->n; i++) {
        const snw_shoot_tendon *tendon = &c->tendon[i];
        const snw_tendon_point *p = &tendon->point[in->point];
        if (p->w > 0 && (derivatives || tendon->z >= 0))
            s[i] = shoot_tendon_section(tendon, p, xi, signed_effort(tendon, in->z), r->length);
    }
    if (derivatives) {
        double A[36];
        shoot_tendon_factor(c, in, KB, s, A);
        shoot_tendon_differentiate(c, in, s, xi, A, out);
        double *I = c->inverse + 36 * (ptrdiff_t)in->point;
        for (int k = 0; k < 36; k++) I[k] = out->D[k / 6][k % 6];
        c->known[in->point] = true;
        return;
    }
    for (int j = 0; j < c->n; j++) {
        if (c->tendon[j].z >= 0) shoot_tendon_state_d1(&c->tendon[j], in, &s[j], xi, out->zs, NULL);
    }
}

// derivative of g along the rod where the strain has the derivative es: of D and, for a tendon, of
// its tangent, Q u_s
static void section_d1(const snw_shoot_tendon *c, const snw_tendon_point *p, double L,
                       const section *s, snw_twist xi, snw_twist es, double *out) {
    const snw_vec3 D = {{0, p->y, p->z}}, Ds = {{0, p->dy, p->dz}},
                   t = {{s->g[3], s->g[4], s->g[5]}};
    snw_vec3 ts = {{0, 0, 0}};
    if (c->chamber) {
        if (c->area) ts.x = snw_expr_jet_x(c->area, (snw_at){.x = p->x, .L = L}).d;
    } else {
        const snw_vec3 of_e = snw_add(es.v, snw_cross(es.w, D)),
                       of_D = snw_add(snw_cross(xi.w, Ds), (snw_vec3){{0, p->ddy, p->ddz}});
        const snw_vec3 us = snw_add(of_e, of_D);
        double Q[3][3];
        tangent_projection(s, Q);
        for (int i = 0; i < 3; i++) {
            ts.e[i] = Q[i][0] * us.x + Q[i][1] * us.y + Q[i][2] * us.z;
        }
    }
    const snw_vec3 m = snw_add(snw_cross(Ds, t), snw_cross(D, ts));
    for (int i = 0; i < 3; i++) out[i] = m.e[i], out[3 + i] = ts.e[i];
}

// derivative along the rod of the effort with the sign of (10.2)
static double signed_effort_d1(const snw_shoot_tendon *c, const double *z, const double *zs) {
    if (c->z < 0 || !zs) return 0;
    return c->chamber ? -zs[c->z] : z[c->z] > 0 ? zs[c->z] : 0;
}

static void shoot_tendon_wrench(void *user, const snw_law_in *in, snw_twist e, snw_twist es,
                                const double *zs, snw_wrench *W, snw_wrench *along) {
    const snw_shoot_tendons *c = user;
    const snw_twist xi = snw_twist_add(in->section->rest, e);
    *W = *along = snw_wrench_zero();
    for (int i = 0; i < c->n; i++) {
        const snw_shoot_tendon *tendon = &c->tendon[i];
        const snw_tendon_point *p = &tendon->point[in->point];
        const double T = signed_effort(tendon, in->z), Ts = signed_effort_d1(tendon, in->z, zs);
        if (!(p->w > 0) || T == 0) continue;
        SNW_ASSERT(!tendon->varies); // forms of the equations in other variables: constant areas
        const section s = shoot_tendon_section(tendon, p, xi, T, c->r->length);
        double d[6];
        section_d1(tendon, p, c->r->length, &s, xi, es, d);
        for (int k = 0; k < 6; k++) {
            W->e[k] += T * s.g[k];
            along->e[k] += T * d[k] + Ts * s.g[k];
        }
    }
}

// ---- boundary conditions ------------------------------------------------------------------------

// unstretched length between winch and base, and its derivative by the tension
static double unstretched_outside(const snw_shoot_tendon *c, double T, double *d1) {
    const double stretch = 1 + c->compliance * (T > 0 ? T : 0);
    *d1 = T > 0 ? -c->extra * c->compliance / (stretch * stretch) : 0;
    return c->extra / stretch;
}

// m/N: the negative tension of a slack tendon stands for its slack, in these units
static double slack_per_tension(const snw_shoot_tendon *c) {
    return 0.1 * c->reference / c->typical;
}

// residual and jacobian by z at the tip and at the base, rows of 2 nz
static void close_tendon(const snw_shoot_tendon *c, int nz, const double *tip, const double *base,
                         double *residual, double *jacobian, int *row) {
    const int z = c->z;
    const double size = 1 / c->reference;
    double *s = jacobian + 2 * (ptrdiff_t)nz * *row;
    if (c->chamber) {
        const double P = tip[z], V = tip[z + 1];
        if (c->given == SNW_SHOOT_TENDON_VOLUME) {
            residual[(*row)++] = size * (V - c->value);
            s[z + 1] = size;
        } else {
            const double i = 1 / c->value; // (P + ambient) V = n R T
            residual[(*row)++] = (P + c->ambient) * V * i - 1;
            s[z] = V * i;
            s[z + 1] = (P + c->ambient) * i;
        }
        return;
    }
    // the path ends with the length paid out; with given tension the length is counted from the tip
    residual[*row] = size * (tip[z + 1] - (c->given == SNW_SHOOT_TENDON_LENGTH ? c->value : 0));
    s[z + 1] = size;
    if (c->given == SNW_SHOOT_TENDON_LENGTH && base[z] <= 0) {
        residual[*row] -= size * slack_per_tension(c) * base[z];
        s[nz + z] = -size * slack_per_tension(c);
    }
    (*row)++;
    if (c->given != SNW_SHOOT_TENDON_LENGTH) return;
    double of_T;
    s = jacobian + 2 * (ptrdiff_t)nz * *row;
    residual[*row] = size * (base[z + 1] - unstretched_outside(c, base[z], &of_T));
    s[nz + z + 1] = size;
    s[nz + z] = -size * of_T;
    (*row)++;
}

static void close_all(void *user, const double *tip, const double *base, double *residual,
                      double *jacobian) {
    const snw_shoot_tendons *c = user;
    const int nz = c->law.nz;
    int row = 0;
    memset(jacobian, 0, 2 * sizeof *jacobian * (size_t)nz * (size_t)c->law.nfree);
    for (int i = 0; i < c->n; i++) {
        if (c->tendon[i].z >= 0)
            close_tendon(&c->tendon[i], nz, tip, base, residual, jacobian, &row);
    }
    SNW_ASSERT(row == c->law.nfree);
}

// ---- setting up ---------------------------------------------------------------------------------

snw_status snw_shoot_tendons_law(snw_shoot_tendons *c) {
    int nz = 0, nfree = 0;
    for (int i = 0; i < c->n; i++) {
        snw_shoot_tendon *tendon = &c->tendon[i];
        const bool has_friction = !tendon->chamber && snw_shoot_tendon_has_friction(tendon);
        tendon->z = -1;
        c->fluids = (i == 0 || c->fluids) && tendon->chamber && !tendon->varies;
        if (tendon->given == SNW_SHOOT_TENDON_EFFORT && !has_friction) continue;
        if (nz + 2 > SNW_SHOOT_Z) return SNW_E_ARGUMENT;
        tendon->z = nz;
        if (tendon->given != SNW_SHOOT_TENDON_EFFORT) c->law.free[nfree++] = nz;
        if (!tendon->chamber) c->law.free[nfree++] = nz + 1;
        nz += 2;
    }
    c->law.user = c;
    c->law.nz = nz;
    c->law.nfree = nfree;
    c->law.nterm = 0;
    c->law.strain = shoot_tendon_strain;
    c->law.depends_on_strain = !c->fluids;
    c->law.wrench = shoot_tendon_wrench;
    c->law.close = close_all;
    return SNW_OK;
}

// point at arc length x; w: does the tendon extend to it?
static snw_tendon_point shoot_tendon_place(const snw_shoot_tendon *c, double x, bool there,
                                           double L) {
    const snw_at at = {.x = x, .L = L};
    const snw_jet y = c->at[0] ? snw_expr_jet_x(c->at[0], at) : (snw_jet){0};
    const snw_jet z = c->at[1] ? snw_expr_jet_x(c->at[1], at) : (snw_jet){0};
    return (snw_tendon_point){.x = x,
                              .w = there,
                              .y = y.v,
                              .z = z.v,
                              .dy = y.d,
                              .dz = z.d,
                              .area = c->area ? snw_chamber_area_made(c->area, x, L, 1) : 0,
                              .ddy = y.dd,
                              .ddz = z.dd};
}

// integral of a density at the nodes by Simpson's rule, the last of an odd number of intervals by
// the trapezoidal rule
typedef double density_fn(const snw_shoot_tendons *c, int i, int node, int point);

static double shoot_tendon_integrate(const snw_shoot_tendons *c, int i, density_fn *f) {
    const snw_shoot_rod *r = c->r;
    double sum = 0;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        if (!(c->tendon[i].point[piece->point].w > 0)) continue;
        const int even = piece->n / 2 * 2;
        for (int j = 0; j <= piece->n; j++) {
            const double x = f(c, i, piece->node + j, piece->point + j * r->method->np);
            double w = 0;
            if (j <= even && even > 0) w += (j == 0 || j == even ? 1 : j % 2 ? 4 : 2) / 3.0;
            if (even < piece->n && j >= even) w += 0.5;
            sum += w * piece->h * x;
        }
    }
    return sum;
}

static snw_twist shoot_tendon_rest_at(const snw_shoot_rod *r, int point) {
    return (r->uniform ? r->section : r->section + point)->rest;
}

static double shoot_tendon_density_unstressed(const snw_shoot_tendons *c, int i, int node,
                                              int point) {
    (void)node;
    return shoot_tendon_section(&c->tendon[i], &c->tendon[i].point[point],
                                shoot_tendon_rest_at(c->r, point), 0, c->r->length)
        .f;
}

// effort that changes the length or volume by a tenth, from the section where the tendon begins
static double typical_effort(const snw_shoot_tendons *c, const snw_shoot_tendon *tendon) {
    const snw_shoot_rod *r = c->r;
    int p = 0;
    while (p < r->npoint - 1 && !(tendon->point[p].w > 0)) p++;
    const section s =
        shoot_tendon_section(tendon, &tendon->point[p], shoot_tendon_rest_at(r, p), 0, r->length);
    double compliance = 0;
    for (int k = 0; k < 6; k++) {
        const double K = r->K[(r->uniform ? 0 : 36 * (ptrdiff_t)p) + 7 * k];
        if (r->active[k]) compliance += s.g[k] * s.g[k] / K;
    }
    return compliance > 0 ? 0.1 * s.f / compliance : 1;
}

// The wrench of a fluid does not depend on the strain: pressure times area (0, z, -y; 1, 0, 0).
static void set_linear_term(snw_shoot_tendons *c, int i, snw_wrench *a) {
    const snw_shoot_tendon *tendon = &c->tendon[i];
    for (int p = 0; p < c->r->npoint; p++) {
        const snw_tendon_point *at = &tendon->point[p];
        const double area = at->w > 0 ? at->area : 0;
        a[p].m = (snw_vec3){{0, area * at->z, -area * at->y}};
        a[p].f = (snw_vec3){{area, 0, 0}};
    }
    c->law.term[i] = (snw_law_linear_term){.z = tendon->z, .given = &tendon->value, .a = a};
    c->law.nterm = i + 1;
}

static void shoot_tendons_place(void *object, snw_fields *f) {
    snw_shoot_tendons *o = object;
    const bool fluids = o->fluids;
    const size_t n = (size_t)o->n, np = (size_t)o->r->npoint, ns = o->r->uniform ? 1 : np;
    SNW_SHOOT_TENDONS_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_shoot_tendons_place(snw_shoot_tendons *c, const snw_shoot_rod *r) {
    const size_t np = (size_t)r->npoint;
    c->r = r;
    c->c0 = -1;
    c->block = snw_fields_create(shoot_tendons_place, c);
    if (!c->block) return SNW_E_MEMORY;
    const double same = 1e-9 * r->length;
    for (int i = 0; i < c->n; i++) {
        snw_shoot_tendon *tendon = &c->tendon[i];
        tendon->point = c->point + (size_t)i * np;
        for (int p = 0; p < r->npiece; p++) {
            const snw_shoot_piece *piece = &r->piece[p];
            const bool there = piece->s >= tendon->from - same &&
                               piece->s + piece->n * piece->h <= tendon->to + same;
            for (int k = 0; k <= piece->n * r->method->np; k++) {
                const int point = piece->point + k;
                const int j = k / r->method->np;
                const double x = piece->s + piece->h * (j + r->method->c[k % r->method->np]);
                tendon->point[point] = shoot_tendon_place(tendon, x, there, r->length);
            }
        }
        if (c->fluids) set_linear_term(c, i, c->line + (size_t)i * np);
        tendon->reference = shoot_tendon_integrate(c, i, shoot_tendon_density_unstressed);
        tendon->typical = typical_effort(c, tendon);
        snw_shoot_tendon_scale(c, i, tendon->reference, tendon->typical);
    }
    return SNW_OK;
}

void snw_shoot_tendon_scale(snw_shoot_tendons *c, int i, double reference, double typical) {
    snw_shoot_tendon *tendon = &c->tendon[i];
    tendon->reference = reference;
    tendon->typical = typical;
    if (tendon->z < 0) return;
    c->law.typical[tendon->z] = typical;
    c->law.typical[tendon->z + 1] = reference;
}

void snw_shoot_tendons_release(snw_shoot_tendons *c) {
    snw_free(c->block);
    c->block = NULL;
}

void snw_shoot_tendons_checkpoint(snw_shoot_tendons *c, snw_shoot_checkpoint *row) {
    const size_t np = (size_t)c->r->npoint;
    double c0 = c->c0;
    snw_shoot_checkpoint_numbers(row, &c0, 1);
    if (row->in && c0 >= 0) update_KB(c, c0);
    snw_shoot_checkpoint_numbers(row, c->guess, 6 * np);
    snw_shoot_checkpoint_numbers(row, c->inverse, 36 * np);
    for (size_t i = 0; i < np; i++) snw_shoot_checkpoint_flag(row, &c->known[i]);
}

void snw_shoot_tendons_base(const snw_shoot_tendons *c, snw_shoot_rod *r) {
    for (int i = 0; i < c->n; i++) {
        const snw_shoot_tendon *tendon = &c->tendon[i];
        if (tendon->z < 0) continue;
        if (tendon->given == SNW_SHOOT_TENDON_EFFORT)
            r->base_z[tendon->z] = tendon->value > 0 ? tendon->value : 0;
        if (tendon->chamber) r->base_z[tendon->z + 1] = 0;
    }
}

// ---- results ------------------------------------------------------------------------------------

double snw_shoot_tendon_effort_at(const snw_shoot_tendons *c, int i, int node) {
    const snw_shoot_tendon *tendon = &c->tendon[i];
    const int nz = c->law.nz;
    const double T =
        tendon->z < 0 ? tendon->value : c->r->zlevel[0][(ptrdiff_t)node * nz + tendon->z];
    return tendon->chamber || T > 0 ? T : 0;
}

double snw_shoot_tendon_effort(const snw_shoot_tendons *c, int i) {
    return snw_shoot_tendon_effort_at(c, i, 0);
}

static double shoot_tendon_density_now(const snw_shoot_tendons *c, int i, int node, int point) {
    const snw_twist xi = snw_twist_add(shoot_tendon_rest_at(c->r, point), c->r->level[0][node].e);
    const double T = snw_shoot_tendon_effort_at(c, i, node);
    return shoot_tendon_section(&c->tendon[i], &c->tendon[i].point[point], xi,
                                c->tendon[i].chamber ? -T : T, c->r->length)
        .f;
}

double snw_shoot_tendon_length_or_volume(const snw_shoot_tendons *c, int i) {
    return shoot_tendon_integrate(c, i, shoot_tendon_density_now);
}
