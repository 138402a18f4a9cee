// SPDX-License-Identifier: MIT
//
// Elastic and damping forces of variable-length rods whose section varies along the material,
// theory.md (3.14.6). At a quadrature point of weight w, y = 1 - x of the free length from the tip,
// with the strain e = phi q, its rate u = phi v, its derivative s = phi' q in x/L and the material
// rate R = u + (l'/l) y s of the strain:
//   energy (l w/L) e'H e/2,   r_q = (l w/L) phi' (H e + D R),
//   r_l = (w/L) (e'H e + l e'H_l e)/2 + (w y/L) s'D R
// H and D are those of the material at the point; H_l, H_ll, D_l are derivatives by the free
// length.

#include "dynamics/variable_length.h"

#include <string.h>

// one quadrature point of a rod with free length l
typedef struct section_point {
    const snw_rod *rod;
    const snw_point *p;
    const double *phi, *phi_d1; // shape functions and their derivatives by x/L
    double y, weight;           // weight = w/L
    double l, dl;
} section_point;

static section_point section_point_of(const snw_model *m, const snw_rod *rod, int k, double l,
                                      double dl) {
    const snw_point *p = &m->point[rod->point0 + k];
    return (section_point){.rod = rod,
                           .p = p,
                           .phi = m->phi + p->phi,
                           .phi_d1 = rod->phi_d1 + (p->phi - m->point[rod->point0].phi),
                           .y = snw_rod_passing(rod, p->x),
                           .weight = p->w / rod->L,
                           .l = l,
                           .dl = dl};
}

static snw_twist varying_section_gather(const section_point *s, const double *f, const double *c) {
    snw_twist xi = {0};
    const snw_rod *r = s->rod;
    for (int a = 0; a < r->na; f += s->p->count[a], a++) {
        const double *q = c + r->dof[a] + s->p->first[a];
        for (int j = 0; j < s->p->count[a]; j++) xi.e[r->comp[a]] += f[j] * q[j];
    }
    return xi;
}

// *at <- section and strains at the point; v NULL: no rates
static void varying_section_evaluate(const section_point *s, const double *q, const double *v,
                                     snw_section_varies_work *at) {
    const snw_rod *r = s->rod;
    snw_section_derivatives x;
    snw_section_material(r, snw_rod_stock(r, s->l, s->y), &x);
    memcpy(at->H[0], x.H[0], sizeof at->H[0]);
    memcpy(at->D[0], x.D[0], sizeof at->D[0]);
    for (int i = 0; i < 36; i++) {
        at->H[1][i] = -s->y * x.H[1][i], at->H[2][i] = s->y * s->y * x.H[2][i];
        at->D[1][i] = -s->y * x.D[1][i];
    }
    at->e = varying_section_gather(s, s->phi, q + r->shift);
    at->s = varying_section_gather(s, s->phi_d1, q + r->shift);
    at->R = (snw_twist){0};
    if (!v) return;
    at->R = varying_section_gather(s, s->phi, v);
    for (int i = 0; i < 6; i++) at->R.e[i] += s->dl / s->l * s->y * at->s.e[i];
}

static snw_wrench varying_section_stress(const double H[36], snw_twist e) {
    snw_wrench F = {0};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) F.e[i] += H[6 * i + j] * e.e[j];
    }
    return F;
}

static double varying_section_form(snw_twist a, const double H[36], snw_twist b) {
    return snw_power(varying_section_stress(H, b), a);
}

// to (ndof, stride step) += c f' F, f shape functions or their derivatives
static void varying_section_scatter(const section_point *s, const double *f, double c, snw_wrench F,
                                    size_t step, double *to) {
    const snw_rod *r = s->rod;
    for (int a = 0; a < r->na; f += s->p->count[a], a++) {
        const size_t first = (size_t)(r->dof[a] - r->dof0 + s->p->first[a]);
        for (int j = 0; j < s->p->count[a]; j++)
            to[(first + (size_t)j) * step] += c * f[j] * F.e[r->comp[a]];
    }
}

void snw_section_varies_elastic(const snw_model *m, const snw_rod *rod, const snw_state *s,
                                bool is_static, snw_work *w) {
    for (int k = 0; k < rod->npoint; k++) {
        const section_point p =
            section_point_of(m, rod, k, s->q[rod->feed_q], is_static ? 0 : s->v[rod->feed]);
        snw_section_varies_work *at = &w->section_varies[rod->section_adr + k];
        varying_section_evaluate(&p, s->q, is_static ? NULL : s->v, at);
        const snw_wrench He = varying_section_stress(at->H[0], at->e),
                         DR = varying_section_stress(at->D[0], at->R);
        varying_section_scatter(&p, p.phi, p.l * p.weight, snw_wrench_add(He, DR), 1,
                                w->r + rod->dof0);
        w->r[rod->feed] +=
            p.weight *
            (0.5 * (snw_power(He, at->e) + p.l * varying_section_form(at->e, at->H[1], at->e)) +
             p.y * snw_power(DR, at->s));
    }
}

double snw_section_varies_energy(const snw_model *m, const snw_rod *rod, const double *q) {
    double sum = 0;
    for (int k = 0; k < rod->npoint; k++) {
        const section_point p = section_point_of(m, rod, k, q[rod->feed_q], 0);
        snw_section_varies_work at;
        varying_section_evaluate(&p, q, NULL, &at);
        sum += 0.5 * p.l * p.weight * varying_section_form(at.e, at.H[0], at.e);
    }
    return sum;
}

double snw_section_varies_heat(const snw_model *m, const snw_rod *rod, const double *q,
                               const double *v) {
    double sum = 0;
    for (int k = 0; k < rod->npoint; k++) {
        const section_point p = section_point_of(m, rod, k, q[rod->feed_q], v[rod->feed]);
        snw_section_varies_work at;
        varying_section_evaluate(&p, q, v, &at);
        sum += p.l * p.weight * varying_section_form(at.R, at.D[0], at.R);
    }
    return sum;
}

double snw_section_varies_energy_rate(const snw_model *m, const snw_rod *rod, const double *q,
                                      const double *v) {
    double sum = 0;
    for (int k = 0; k < rod->npoint; k++) {
        const section_point p = section_point_of(m, rod, k, q[rod->feed_q], v[rod->feed]);
        snw_section_varies_work at;
        varying_section_evaluate(&p, q, NULL, &at);
        const snw_wrench He = varying_section_stress(at.H[0], at.e);
        sum +=
            p.weight *
            (p.l * snw_power(He, varying_section_gather(&p, p.phi, v)) +
             0.5 * p.dl * (snw_power(He, at.e) + p.l * varying_section_form(at.e, at.H[1], at.e)));
    }
    return sum;
}

// T += a' A b, a and b shape functions or their derivatives
static void varying_section_add_outer(const section_point *s, const double *a, const double A[36],
                                      const double *b, size_t ld, double *T) {
    const snw_rod *r = s->rod;
    for (int c = 0; c < r->na; b += s->p->count[c], c++) {
        const size_t first = (size_t)(r->dof[c] - r->dof0 + s->p->first[c]);
        snw_wrench F;
        for (int i = 0; i < 6; i++) F.e[i] = A[6 * i + r->comp[c]];
        for (int j = 0; j < s->p->count[c]; j++)
            varying_section_scatter(s, a, b[j], F, 1, T + (first + (size_t)j) * ld);
    }
}

static snw_wrench varying_section_mix(double a, snw_wrench A, double b, snw_wrench B) {
    return snw_wrench_add(snw_wrench_scale(a, A), snw_wrench_scale(b, B));
}

void snw_section_varies_tangent(const snw_model *m, const snw_rod *rod, const snw_work *w,
                                double cq, double cv, size_t ld, double *T) {
    const snw_feed_work *feed = &w->feed[m->link_rod[rod->link]];
    const size_t at0 = (size_t)rod->dof0, f = (size_t)rod->feed;
    double *own = T + at0 * ld + at0, *column = T + f * ld + at0, *row = T + at0 * ld + f;
    for (int k = 0; k < rod->npoint; k++) {
        const snw_section_varies_work *at = &w->section_varies[rod->section_adr + k];
        const section_point p = section_point_of(m, rod, k, feed->l, feed->dl);
        const double l = p.l, weight = p.weight, y = p.y, rate = p.dl / l;
        const snw_wrench He = varying_section_stress(at->H[0], at->e),
                         Hle = varying_section_stress(at->H[1], at->e),
                         DR = varying_section_stress(at->D[0], at->R),
                         DlR = varying_section_stress(at->D[1], at->R),
                         Ds = varying_section_stress(at->D[0], at->s);
        double A[36], B[36];
        for (int i = 0; i < 36; i++) {
            A[i] = l * weight * (cq * at->H[0][i] + cv * at->D[0][i]);
            B[i] = weight * cq * p.dl * y * at->D[0][i];
        }
        varying_section_add_outer(&p, p.phi, A, p.phi, ld, own);
        varying_section_add_outer(&p, p.phi, B, p.phi_d1, ld, own);
        const snw_wrench grown = varying_section_mix(1, He, l, Hle),
                         slid = varying_section_mix(1, DR, l, DlR);
        varying_section_scatter(
            &p, p.phi, weight,
            varying_section_mix(cq, snw_wrench_add(grown, slid), (cv - cq * rate) * y, Ds), 1,
            column);
        varying_section_scatter(&p, p.phi, weight, varying_section_mix(cq, grown, cv * y, Ds), ld,
                                row);
        varying_section_scatter(&p, p.phi_d1, weight * cq * y,
                                varying_section_mix(1, DR, rate * y, Ds), ld, row);
        T[f * ld + f] += weight * (cq * (snw_power(Hle, at->e) +
                                         0.5 * l * varying_section_form(at->e, at->H[2], at->e) +
                                         y * snw_power(DlR, at->s)) +
                                   (cv - cq * rate) * y * y / l * snw_power(Ds, at->s));
    }
}
