// SPDX-License-Identifier: MIT
//
// Chambers of variable area: volume, pressure of a gas or of a given volume, forces and their
// derivatives, from the sections of model/chamber_area.h at the quadrature points.
#include "dynamics/chamber.h"

#include "dynamics/tendon_point.h"

#include <math.h>

void snw_chamber_stretch_gradient(const snw_tendon_point *p, double gradient[6]) {
    const double of[6] = {0, p->z, -p->y, 1, 0, 0};
    for (int e = 0; e < 6; e++) gradient[e] = of[e];
}

static snw_chamber_section chamber_section(const snw_model *m, int i, int k, double pressure,
                                           const snw_work *w) {
    const snw_tendon_point *p = &m->tendon_point[k];
    return snw_chamber_section_at(m->tendon[i].area, p->x, m->rod[p->rod].L,
                                  snw_chamber_stretch(p, w->tendon_point[k].xi), pressure);
}

void snw_chamber_gather(const snw_model *m, int i, double p, snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    double *G = w->G + tendon->store, volume = 0, rate = 0, by_effort = 0;
    for (int j = 0; j < tendon->ndof; j++) G[j] = 0;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        const snw_tendon_point *point = &m->tendon_point[k];
        snw_tendon_point_work *at = &w->tendon_point[k];
        const snw_chamber_section s = chamber_section(m, i, k, p, w);
        double gradient[6];
        snw_chamber_stretch_gradient(point, gradient);
        at->f = s.a;
        at->df = s.a_l * snw_chamber_stretch(point, at->rate);
        at->force = s.force, at->force_d1 = s.force_l;
        snw_tendon_point_scatter(m, point, m->tendon_phi + point->phi, point->w * s.a_l, gradient,
                                 G);
        volume += point->w * at->f;
        rate += point->w * at->df;
        by_effort += point->w * s.a_p;
    }
    w->tendon[i].value = volume;
    w->tendon[i].rate = rate;
    w->tendon[i].by_effort = by_effort;
    w->tendon[i].tied_fraction = 1;
}

// ---- pressure -----------------------------------------------------------------------------------

// Volume at the pressure p; *by_pressure <- its derivative.
static double chamber_volume(const snw_model *m, int i, double p, const snw_work *w,
                             double *by_pressure) {
    const snw_tendon *tendon = &m->tendon[i];
    double volume = 0;
    *by_pressure = 0;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        const snw_tendon_point *point = &m->tendon_point[k];
        double d1;
        volume += point->w *
                  snw_chamber_volume_at(tendon->area, point->x, m->rod[point->rod].L,
                                        snw_chamber_stretch(point, w->tendon_point[k].xi), p, &d1);
        *by_pressure += point->w * d1;
    }
    return volume;
}

static const double atmosphere = 1e5; // Pa, scale of pressures

// h(p), whose root is the pressure, and its derivatives:
//   gas      h = p - f (n R T/V - p_o)                                               (3.11.16)
//   volume   h = f (V - V_d)/V_o + (1 - f) p/p_s, p_s a typical pressure
// with the volume V at the pressure p and the fraction f of load steps. by_volume: dh/dV;
// by_given: dh/d(n R T) or dh/dV_d.
typedef struct pressure_equation {
    double h, by_pressure, by_volume, by_given;
} pressure_equation;

static pressure_equation pressure_residual(const snw_tendon *tendon, double given, double ambient,
                                           double f, double p, double volume, double by_pressure) {
    pressure_equation e;
    if (tendon->given == SNW_GIVEN_GAS) {
        e.h = p - f * (given / volume - ambient);
        e.by_volume = f * given / (volume * volume);
        e.by_given = -f / volume;
        e.by_pressure = 1 + e.by_volume * by_pressure;
    } else {
        e.by_volume = f / tendon->reference;
        e.by_given = -e.by_volume;
        e.h = e.by_volume * (volume - given) + (1 - f) * p / atmosphere;
        e.by_pressure = e.by_volume * by_pressure + (1 - f) / atmosphere;
    }
    return e;
}

void snw_chamber_pressure(const snw_model *m, int i, double given, double ambient, double fraction,
                          const snw_work *w, snw_tendon_work *out) {
    enum { ITERATIONS = 60 };
    const snw_tendon *tendon = &m->tendon[i];
    double p = 0, last = INFINITY;
    pressure_equation e = {0};
    for (int n = 0; n < ITERATIONS; n++) {
        double by_pressure;
        const double volume = chamber_volume(m, i, p, w, &by_pressure);
        e = pressure_residual(tendon, given, ambient, fraction, p, volume, by_pressure);
        if (!(e.by_pressure > 0)) break; // a rigid chamber, or one that shrinks under pressure
        const double step = -e.h / e.by_pressure, size = fabs(step);
        p += step;
        // quadratic convergence: the step after one of 1e-9 is rounding
        if (last <= 1e-9 * (fabs(p) + atmosphere)) break;
        last = size;
    }
    const bool found = e.by_pressure > 0 && last <= 1e-9 * (fabs(p) + atmosphere);
    out->effort = found ? p : NAN; // no such pressure: the solver must step back
    out->stiffness = -e.by_volume / e.by_pressure;
    out->gain = -e.by_given / e.by_pressure;
}

// ---- forces -------------------------------------------------------------------------------------

void snw_chamber_add_forces(const snw_model *m, int i, snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    double *own = w->tendon_variation;
    for (int j = 0; j < tendon->ndof; j++) own[j] = 0;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        const snw_tendon_point *p = &m->tendon_point[k];
        double gradient[6];
        snw_chamber_stretch_gradient(p, gradient);
        snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, p->w * w->tendon_point[k].force,
                                 gradient, own);
    }
    for (int j = 0; j < tendon->ndof; j++) w->r[tendon->dof[j]] -= own[j];
}

void snw_chamber_curvature(const snw_model *m, int i, double f, const snw_work *w, snw_matrix T) {
    const snw_tendon *tendon = &m->tendon[i];
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        const snw_tendon_point *p = &m->tendon_point[k];
        const snw_rod *rod = &m->rod[p->rod];
        const double h = f * p->w * w->tendon_point[k].force_d1, *pb = m->tendon_phi + p->phi;
        double gradient[6];
        snw_chamber_stretch_gradient(p, gradient);
        for (int b = 0; b < rod->na && h != 0; pb += p->count[b], b++) {
            const double *pa = m->tendon_phi + p->phi;
            for (int a = 0; a < rod->na; pa += p->count[a], a++) {
                const double c = h * gradient[rod->comp[a]] * gradient[rod->comp[b]];
                for (int j = 0; j < p->count[b] && c != 0; j++) {
                    snw_column_entries to = snw_matrix_column(T, rod->dof[b] + p->first[b] + j);
                    for (int n = 0; n < p->count[a]; n++)
                        *snw_column_at(&to, rod->dof[a] + p->first[a] + n) -= c * pa[n] * pb[j];
                }
            }
        }
    }
}

double snw_chamber_power(const snw_model *m, int i, bool given, const snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    double power = 0;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        const snw_tendon_point *p = &m->tendon_point[k];
        const snw_tendon_point_work *at = &w->tendon_point[k];
        double gradient[6], rate = 0;
        snw_chamber_stretch_gradient(p, gradient);
        for (int e = 0; e < 6; e++) {
            if (!given || m->rod[p->rod].given[e]) rate += gradient[e] * at->rate.e[e];
        }
        power += p->w * at->force * rate;
    }
    return power;
}

void snw_chamber_derivatives(const snw_model *m, int i, int k, const snw_work *w, double d1[6],
                             double d2[6]) {
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_chamber_section s = chamber_section(m, i, k, w->tendon[i].effort, w);
    double gradient[6];
    snw_chamber_stretch_gradient(p, gradient);
    for (int e = 0; e < 6; e++) {
        d1[e] = s.a_l * gradient[e];
        d2[e] = s.a_ll * snw_chamber_stretch(p, w->tendon_point[k].rate) * gradient[e];
    }
}
