// SPDX-License-Identifier: MIT
//
// Bending of concentric tubes: forces, derivatives and energy, theory.md 3.19.

#include "dynamics/tube.h"

#include "dynamics/tube_slide.h"

#include <math.h>

enum { BEND_Y, BEND_Z, PSI };

// Factor of the coefficient of psi of a term: its piece over that of the layout.
static snw_jet term_ratio(const snw_work *w, const snw_tube_term *t) {
    return t->piece ? w->tube_piece[t->piece - 1].ratio : (snw_jet){.v = 1};
}

// The variables z = (u, psi) of a point are linear in the coordinates; z <- constant part plus
// that, with rates unless v is NULL. Where tubes slide, psi grows with the pieces, and the material
// of the tube passes the point.
static void gather(const snw_model *m, const snw_tube_point *p, const double *q, const double *v,
                   const snw_work *w, snw_tube_point_work *at) {
    double *z = at->z, slope[3] = {0};
    z[BEND_Y] = p->rest[0], z[BEND_Z] = p->rest[1], z[PSI] = 0;
    for (int k = p->term0; k < p->term0 + p->nterm; k++) {
        const snw_tube_term *t = &m->tube_term[k];
        const snw_jet f = term_ratio(w, t);
        const double c[3] = {t->c[0], t->c[1], f.v * t->c[2]};
        for (int i = 0; i < 3; i++) {
            z[i] += c[i] * q[t->q];
            slope[i] += t->d[i] * q[t->q];
            if (v) at->dz[i] += c[i] * v[t->dof];
        }
        if (v) at->grown[PSI] += f.d * t->c[PSI] * q[t->q];
    }
    if (!v || !p->piece) return;
    const double ratio = w->tube_piece[p->piece - 1].ratio.v;
    slope[BEND_Y] /= ratio, slope[BEND_Z] /= ratio;
    for (int i = 0; i < 3; i++) {
        at->carried[i] = at->speed * slope[i];
        at->dz[i] += at->grown[i] + at->carried[i];
    }
}

// Material rate of the bends: rho = u' - psi' e_x x u, as seen from the tube.
static void material_rate(const snw_tube_point_work *at, double rho[2]) {
    rho[0] = at->dz[BEND_Y] + at->dz[PSI] * at->z[BEND_Z];
    rho[1] = at->dz[BEND_Z] - at->dz[PSI] * at->z[BEND_Y];
}

void snw_tubes_motion(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w) {
    if (m->ntube_piece) snw_tube_rods_motion(m, s, is_static, w);
    for (int i = 0; i < m->ntube; i++) {
        const snw_tube *tube = &m->tube[i];
        const bool acts = !in->inertia_only && snw_seg_is_active(m, w, m->rod[tube->host].seg0);
        for (int k = tube->point0; k < tube->point0 + tube->npoint; k++) {
            const snw_tube_point *p = &m->tube_point[k];
            snw_tube_point_work *at = &w->tube_point[k];
            const double ratio = p->piece ? w->tube_piece[p->piece - 1].ratio.v : 1;
            double unused;
            *at = (snw_tube_point_work){.k = acts ? ratio * p->w * tube->k : 0};
            if (p->piece && !is_static)
                snw_tube_speed(m, w, p->piece - 1, p->fraction, i, &at->speed, &unused);
            gather(m, p, s->q, is_static ? NULL : s->v, w, at);
            at->e[0] = cos(at->z[PSI]), at->e[1] = sin(at->z[PSI]);
            const double y = at->z[BEND_Y], z = at->z[BEND_Z];
            at->elastic[BEND_Y] = at->k * (y - p->kappa * at->e[0]);
            at->elastic[BEND_Z] = at->k * (z - p->kappa * at->e[1]);
            at->elastic[PSI] = -at->k * p->kappa * (z * at->e[0] - y * at->e[1]);
            const double dy = y - p->kappa * at->e[0], dz = z - p->kappa * at->e[1];
            at->energy = 0.5 * at->k * (dy * dy + dz * dz);
            if (is_static) continue;
            at->d = at->k * tube->damping;
            double rho[2];
            material_rate(at, rho);
            at->viscous[BEND_Y] = at->d * rho[0];
            at->viscous[BEND_Z] = at->d * rho[1];
            at->viscous[PSI] = at->d * (z * rho[0] - y * rho[1]);
        }
    }
}

void snw_tubes_add(const snw_model *m, const snw_work *w, double elastic, double damping,
                   double *r) {
    for (int k = 0; k < m->ntube_point; k++) {
        const snw_tube_point *p = &m->tube_point[k];
        const snw_tube_point_work *at = &w->tube_point[k];
        double f[3];
        for (int i = 0; i < 3; i++) f[i] = elastic * at->elastic[i] + damping * at->viscous[i];
        for (int j = p->term0; j < p->term0 + p->nterm; j++) {
            const double *c = m->tube_term[j].c, grown = term_ratio(w, &m->tube_term[j]).v;
            r[m->tube_term[j].dof] += c[0] * f[0] + c[1] * f[1] + grown * c[2] * f[2];
        }
    }
    for (int i = 0; m->ntube_piece && i < m->nv; i++)
        r[i] += elastic * w->tube_elastic[i] + damping * w->tube_viscous[i];
}

// A <- derivative of the forces of a point by z, times cq, and by its rate, times cv.
static void point_tangent(const snw_tube_point *p, const snw_tube_point_work *at, bool is_static,
                          double cq, double cv, double A[3][3]) {
    const double y = at->z[BEND_Y], z = at->z[BEND_Z], k = cq * at->k;
    const double across = k * p->kappa;
    A[0][0] = A[1][1] = k;
    A[0][1] = A[1][0] = 0;
    A[0][2] = A[2][0] = across * at->e[1];
    A[1][2] = A[2][1] = -across * at->e[0];
    A[2][2] = across * (y * at->e[0] + z * at->e[1]);
    if (is_static || at->d == 0) return;
    double rho[2];
    material_rate(at, rho);
    // columns: variation of rho by bend_y, bend_z and psi, and of the lever (z, -y) of psi
    const double spin = at->dz[PSI];
    const double drho[3][2] = {{cv, -cq * spin}, {cq * spin, cv}, {cv * z, -cv * y}};
    const double lever[3] = {-cq * rho[1], cq * rho[0], 0};
    for (int j = 0; j < 3; j++) {
        A[0][j] += at->d * drho[j][0];
        A[1][j] += at->d * drho[j][1];
        A[2][j] += at->d * (z * drho[j][0] - y * drho[j][1] + lever[j]);
    }
}

// The damping forces of a point depend on the coordinates through the rates that growth and passing
// material have; column j of their derivatives, times cq.
static void add_passing_column(const snw_model *m, const snw_tube_point *p, const snw_work *w,
                               const snw_tube_term *t, double cq, double B[3][3], double g[3]) {
    const snw_tube_point_work *at = &w->tube_point[p - m->tube_point];
    const double f = at->speed / w->tube_piece[p->piece - 1].ratio.v;
    const double x[3] = {f * t->d[0], f * t->d[1],
                         term_ratio(w, t).d * t->c[2] + at->speed * t->d[2]};
    for (int i = 0; i < 3; i++) g[i] += cq * (B[i][0] * x[0] + B[i][1] * x[1] + B[i][2] * x[2]);
}

void snw_tubes_tangent(const snw_model *m, double cq, double cv, const snw_work *w, size_t ld,
                       double *T) {
    for (int k = 0; k < m->ntube_point; k++) {
        const snw_tube_point *p = &m->tube_point[k];
        const snw_tube_term *term = m->tube_term + p->term0;
        const bool passing = p->piece && !w->is_static && w->tube_point[k].d != 0;
        double A[3][3], B[3][3];
        if (w->tube_point[k].k == 0) continue;
        point_tangent(p, &w->tube_point[k], w->is_static, cq, cv, A);
        if (passing) point_tangent(p, &w->tube_point[k], false, 0, 1, B);
        for (int j = 0; j < p->nterm; j++) {
            const double grown = term_ratio(w, &term[j]).v;
            double *column = T + (size_t)term[j].dof * ld, g[3];
            for (int i = 0; i < 3; i++) {
                g[i] = A[i][0] * term[j].c[0] + A[i][1] * term[j].c[1] +
                       A[i][2] * grown * term[j].c[2];
            }
            if (passing) add_passing_column(m, p, w, &term[j], cq, B, g);
            for (int i = 0; i < p->nterm; i++) {
                const double *c = term[i].c, own = term_ratio(w, &term[i]).v;
                column[term[i].dof] += c[0] * g[0] + c[1] * g[1] + own * c[2] * g[2];
            }
        }
    }
    if (m->ntube_piece) snw_tube_rods_tangent(m, cq, cv, w, ld, T);
}

double snw_tube_energy(const snw_model *m, const snw_work *w, int i) {
    const snw_tube *tube = &m->tube[i];
    double sum = 0;
    for (int k = tube->point0; k < tube->point0 + tube->npoint; k++) sum += w->tube_point[k].energy;
    return sum;
}

double snw_tubes_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->ntube; i++) sum += snw_tube_energy(m, w, i);
    return sum + (m->ntube_piece ? w->tube_account->energy : 0);
}

double snw_tubes_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ntube_point; k++) {
        const snw_tube_point_work *at = &w->tube_point[k];
        const int piece = m->tube_point[k].piece - 1;
        if (piece >= 0)
            sum += w->tube_piece[piece].ratio.d / w->tube_piece[piece].ratio.v * at->energy;
        for (int i = 0; i < 3; i++) sum += at->elastic[i] * (at->dz[i] - at->carried[i]);
    }
    return sum + (m->ntube_piece ? w->tube_account->rate : 0);
}

double snw_tubes_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ntube_point; k++) {
        const snw_tube_point_work *at = &w->tube_point[k];
        for (int i = 0; i < 3; i++) sum += at->viscous[i] * at->dz[i];
    }
    return sum + (m->ntube_piece ? w->tube_account->heat : 0);
}

// Rotation at x of a rod relative to its root.
static double rod_turn(const snw_model *m, const snw_rod *rod, const double *q, const snw_work *w,
                       double x) {
    double c[SNW_BASIS_MAX_FUNCTIONS], sum = 0;
    const int n = snw_rod_twist_integrals(rod, x, c);
    int a = 0;
    while (a < rod->na && rod->comp[a] != SNW_TWIST) a++;
    for (int j = 0; j < n; j++) {
        const int dof = rod->dof[a] + j, piece = m->tube_dof_piece[dof];
        const double grown = piece ? w->tube_piece[piece - 1].ratio.v : 1;
        sum += grown * c[j] * q[dof + rod->shift];
    }
    return sum;
}

double snw_tube_angle(const snw_model *m, int i, const double *q, const snw_work *w, double x) {
    const snw_tube *tube = &m->tube[i];
    double sum = q[tube->q] + rod_turn(m, &m->rod[tube->own], q, w, x);
    if (tube->base >= 0) sum += rod_turn(m, &m->rod[tube->base], q, w, m->rod[tube->base].L);
    return sum;
}
