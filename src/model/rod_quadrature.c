// SPDX-License-Identifier: MIT
#include "model/rod_quadrature.h"

#include "base/alloc.h"
#include "math/quadrature.h"

#include <math.h>
#include <string.h>

enum {
    RIGID = 6,      // motions of the root; three of them are also the weight
    PER_STRAIN = 5, // smooth motions of each strain component
    MOTIONS = RIGID + 6 * PER_STRAIN,
    TRIALS = 2,
    DENSITIES = 12, // of the inertia, of a uniform one, of resistances of fluids
    STEPS = 80,     // along a rod, at least, between which motions are known
    CELLS = 6,
    POINTS = 8 // of the fine rule, at least
};

// ---- trial shapes
// ----------------------------------------------------------------------------------

snw_twist snw_trial_strain(snw_trial *trial, double x, double toward) {
    const snw_rod *rod = trial->rod;
    const snw_rod_desc *d = &trial->desc->link[rod->link].rod;
    if (trial->q) return snw_rod_strain(trial->m, rod, trial->q, trial->t, x);
    snw_twist xi = snw_rod_rest(d, x);
    for (int i = 0; i < 6; i++) {
        if (!d->given[i]) continue;
        const snw_at at = {.t = trial->t, .x = x, .L = rod->L};
        xi.e[i] = snw_expr_value(d->given[i], at) + (i == SNW_STRETCH);
    }
    if (trial->bent == 0) return xi;
    int first[6], count[6];
    (void)snw_rod_basis(rod, x, toward, first, count, trial->phi);
    const double *phi = trial->phi;
    for (int a = 0; a < rod->na; a++) {
        const double size = rod->comp[a] < 3 ? M_PI / rod->L : 0.05;
        double v = 0;
        for (int j = 0; j < count[a]; j++) {
            const int f = first[a] + j;
            v += phi[j] * (f == 0 ? 0.7 : f == rod->nfun[a] - 1 ? 0.5 : 0.2 / (1 + f));
        }
        xi.e[rod->comp[a]] += trial->bent * size * v;
        phi += count[a];
    }
    return xi;
}

// time of the whole study, s: laws are looked at within it
static double study_time(const snw_desc *d) {
    double sum = 0;
    for (int i = 0; i < d->nstep; i++) sum += d->step[i].duration;
    return sum;
}

static snw_trial trial_of(const snw_desc *desc, const snw_rod *rod, int i) {
    return (snw_trial){
        .desc = desc, .rod = rod, .t = i ? 0.61 * study_time(desc) : 0, .bent = i ? 1 : 0};
}

// ---- motions
// ---------------------------------------------------------------------------------------

// Smooth motions of a strain: the first functions and the last of a global basis; of a piecewise
// one, whose single functions are no motion of the whole rod, polynomials through its nodes.
typedef struct motions {
    int n;
    int comp[MOTIONS], fun[MOTIONS]; // active component; function of a global basis, else degree
} motions;

static motions motions_of(const snw_rod *rod) {
    motions m = {0};
    for (int a = 0; a < rod->na; a++) {
        const bool whole = !snw_basis_piecewise(rod->basis[a].kind);
        const int few = rod->nfun[a] < PER_STRAIN ? rod->nfun[a] : PER_STRAIN;
        for (int k = 0; k < few; k++) {
            m.comp[m.n] = a;
            m.fun[m.n++] = whole && k == few - 1 ? rod->nfun[a] - 1 : k;
        }
    }
    return m;
}

// x^k at node f of a piecewise basis
static double nodal(const snw_rod *rod, int a, int f, int k) {
    const int n = rod->nfun[a];
    const double s = rod->basis[a].kind == SNW_BASIS_CONSTANT ? (f + 0.5) / n : (double)f / (n - 1);
    double v = 1;
    for (int i = 0; i < k; i++) v *= 2 * s - 1;
    return v;
}

// value[k] <- strain of motion k at x
static void motion_strains(const snw_rod *rod, const motions *m, double x, double toward,
                           double *phi, double value[MOTIONS]) {
    int first[6], count[6], at[6], n = 0;
    (void)snw_rod_basis(rod, x, toward, first, count, phi);
    for (int a = 0; a < rod->na; a++) at[a] = n, n += count[a];
    for (int k = 0; k < m->n; k++) {
        const int a = m->comp[k];
        const double *own = phi + at[a];
        value[k] = 0;
        if (!snw_basis_piecewise(rod->basis[a].kind)) {
            value[k] = own[m->fun[k]];
            continue;
        }
        for (int j = 0; j < count[a]; j++) {
            value[k] += own[j] * nodal(rod, a, first[a] + j, m->fun[k]);
        }
    }
}

// ---- integrals at the nodes
// ------------------------------------------------------------------------

// Products of all motions by each density, and of loads with motions.
typedef struct integrals {
    double gram[DENSITIES][MOTIONS][MOTIONS];
    double *load, *square; // nload x MOTIONS; nload
} integrals;

struct snw_rod_quadrature {
    const snw_desc *desc;
    const snw_rod *rod;
    motions m;
    int ndensity;
    snw_law density[DENSITIES]; // of resistances; the first is the inertia, the second uniform
    bool inert, fluid;          // is there the first, the second?
    int ntrial;
    int nload;
    int *which; // nload: loads along the rod
    int nstep;  // along the rod:
    double *at; // nstep + 1
    snw_trial trial[TRIALS];
    snw_se3 *g[TRIALS];   // nstep + 1
    snw_twist *J[TRIALS]; // nstep + 1 times m.n: motions in the frame of the root
    integrals fine[TRIALS], coarse;
};

// pose at s of a step from its beginning, the strain there linear: at + s slope
static snw_se3 rod_quadrature_advance(snw_twist at, snw_twist slope, double s) {
    const snw_twist W = snw_twist_axpy(0.5 * s, slope, at);
    return snw_se3_exp(snw_twist_axpy(s * s * s / 12, snw_ad(at, slope), snw_twist_scale(s, W)));
}

// g, J <- those at b from those at a, both within an element
static void rod_quadrature_step(snw_rod_quadrature *q, int trial, double a, double b, snw_se3 *g,
                                snw_twist *J) {
    const double r = 0.5 / sqrt(3.0), c[2] = {0.5 - r, 0.5 + r}, h = b - a, mid = 0.5 * (a + b);
    snw_trial *t = &q->trial[trial];
    snw_twist xi[2];
    for (int i = 0; i < 2; i++) xi[i] = snw_trial_strain(t, a + c[i] * h, mid);
    const snw_twist slope = snw_twist_scale(1 / (2 * r * h), snw_twist_sub(xi[1], xi[0]));
    const snw_twist at = snw_twist_axpy(-c[0] * h, slope, xi[0]);
    for (int i = 0; i < 2; i++) {
        const snw_se3 here = snw_se3_mul(*g, rod_quadrature_advance(at, slope, c[i] * h));
        double value[MOTIONS];
        motion_strains(q->rod, &q->m, a + c[i] * h, mid, t->phi, value);
        for (int k = 0; k < q->m.n; k++) {
            snw_twist e = snw_twist_zero();
            e.e[q->rod->comp[q->m.comp[k]]] = 0.5 * h * value[k];
            J[k] = snw_twist_add(J[k], snw_twist_to_parent(here, e));
        }
    }
    *g = snw_se3_mul(*g, rod_quadrature_advance(at, slope, h));
}

static void rod_quadrature_march(snw_rod_quadrature *q, int trial) {
    const int n = q->m.n;
    snw_se3 *g = q->g[trial];
    snw_twist *J = q->J[trial];
    g[0] = snw_se3_identity();
    for (int k = 0; k < n; k++) J[k] = snw_twist_zero();
    for (int i = 0; i < q->nstep; i++) {
        g[i + 1] = g[i];
        memcpy(J + (size_t)(i + 1) * (size_t)n, J + (size_t)i * (size_t)n, (size_t)n * sizeof *J);
        rod_quadrature_step(q, trial, q->at[i], q->at[i + 1], &g[i + 1],
                            J + (size_t)(i + 1) * (size_t)n);
    }
}

// pose and all motions at x, these in the frame of the section there
static void rod_quadrature_look(snw_rod_quadrature *q, int trial, double x, snw_se3 *g,
                                snw_twist V[MOTIONS]) {
    int low = 0, high = q->nstep;
    while (high - low > 1) { // at(low) <= x < at(high)
        const int mid = (low + high) / 2;
        if (x < q->at[mid]) {
            high = mid;
        } else {
            low = mid;
        }
    }
    const int n = q->m.n;
    *g = q->g[trial][low];
    memcpy(V + RIGID, q->J[trial] + (size_t)low * (size_t)n, (size_t)n * sizeof *V);
    if (x > q->at[low]) rod_quadrature_step(q, trial, q->at[low], x, g, V + RIGID);
    for (int k = 0; k < RIGID; k++) {
        V[k] = snw_twist_zero();
        V[k].e[k] = 1;
    }
    for (int k = 0; k < RIGID + n; k++) V[k] = snw_twist_to_child(*g, V[k]);
}

static void rod_quadrature_add_products(const snw_rod_quadrature *q, const snw_twist *V,
                                        const snw_wrench *P, double w,
                                        double gram[MOTIONS][MOTIONS]) {
    for (int i = 0; i < RIGID + q->m.n; i++) {
        for (int j = 0; j <= i; j++) gram[i][j] += w * snw_power(P[i], V[j]);
    }
}

static const double no_signals[SNW_SIGNALS_MAX] = {0};

// load l at x, in the frame of the section
static snw_wrench load_at(const snw_rod_quadrature *q, int l, double t, double x, snw_se3 g) {
    const snw_load_desc *d = &q->desc->load[q->which[l]];
    const snw_at at = {.t = t, .x = x, .L = q->rod->L, .signal = no_signals};
    snw_wrench F = snw_wrench_zero();
    for (int i = 0; i < 3; i++) {
        if (d->torque[i]) F.m.e[i] = snw_expr_value(d->torque[i], at);
        if (d->force[i]) F.f.e[i] = snw_expr_value(d->force[i], at);
    }
    if (d->body) return F;
    F.m = snw_rotate_inv(g.R, F.m);
    F.f = snw_rotate_inv(g.R, F.f);
    return F;
}

static void add_point(snw_rod_quadrature *q, int trial, double x, double w, integrals *out) {
    const double L = q->rod->L, t = q->trial[trial].t;
    const snw_link_desc *link = &q->desc->link[q->rod->link];
    snw_se3 g;
    snw_twist V[MOTIONS];
    snw_wrench P[MOTIONS];
    const int n = RIGID + q->m.n;
    rod_quadrature_look(q, trial, x, &g, V);
    double H[36], D[36];
    snw_inertia M;
    snw_error ignored = {0}; // of faulty sections whoever builds the rod complains
    if (q->inert && snw_section_at(&link->rod, link->name, x, H, D, &M, &ignored) == SNW_OK) {
        for (int k = 0; k < n; k++) P[k] = snw_inertia_apply(&M, V[k]);
        rod_quadrature_add_products(q, V, P, w, out->gram[0]);
    }
    if (q->fluid) {
        for (int k = 0; k < n; k++) {
            P[k] = (snw_wrench){{.m = snw_scale(L * L, V[k].w), .f = V[k].v}};
        }
        rod_quadrature_add_products(q, V, P, w, out->gram[1]);
    }
    for (int d = 2; d < q->ndensity; d++) {
        const double c = fabs(snw_expr_value(q->density[d], (snw_at){.t = t, .x = x, .L = L}));
        for (int k = 0; k < n; k++) P[k] = (snw_wrench){{.m = {{0}}, .f = snw_scale(c, V[k].v)}};
        rod_quadrature_add_products(q, V, P, w, out->gram[d]);
    }
    for (int l = 0; l < q->nload; l++) {
        const snw_wrench F = load_at(q, l, t, x, g);
        for (int k = 0; k < n; k++) out->load[l * MOTIONS + k] += w * snw_power(F, V[k]);
        out->square[l] += w * (snw_dot(F.f, F.f) + snw_dot(F.m, F.m) / (L * L));
    }
}

static void clear(const snw_rod_quadrature *q, integrals *out) {
    memset(out->gram, 0, (size_t)q->ndensity * sizeof out->gram[0]);
    for (int i = 0; i < q->nload * MOTIONS; i++) out->load[i] = 0;
    for (int i = 0; i < q->nload; i++) out->square[i] = 0;
}

static void integrate_finely(snw_rod_quadrature *q, const snw_layout *lay, int cells, int points,
                             const double *x, const double *w) {
    for (int trial = 0; trial < q->ntrial; trial++) {
        rod_quadrature_march(q, trial);
        clear(q, &q->fine[trial]);
        for (int e = 0; e < lay->nelem * cells; e++) {
            const double from = lay->breaks[e / cells],
                         h = (lay->breaks[e / cells + 1] - from) / cells;
            for (int i = 0; i < points; i++) {
                add_point(q, trial, from + (e % cells + x[i]) * h, h * w[i], &q->fine[trial]);
            }
        }
    }
}

// error of a product relative to the sizes of what it is of
static void rod_quadrature_compare(double fine, double coarse, double size, double *worst) {
    if (!(size > 0)) return;
    const double e = fabs(fine - coarse) / sqrt(size);
    if (!(e <= *worst)) *worst = e;
}

double snw_rod_quadrature_error(snw_rod_quadrature *q, const snw_layout *lay) {
    double worst = 0;
    const int n = RIGID + q->m.n;
    for (int trial = 0; trial < q->ntrial; trial++) {
        const integrals *f = &q->fine[trial], *c = &q->coarse;
        clear(q, &q->coarse);
        for (int k = 0; k < lay->nnode; k++) {
            if (lay->node[k].w > 0) {
                add_point(q, trial, lay->node[k].x, lay->node[k].w, &q->coarse);
            }
        }
        for (int d = 0; d < q->ndensity; d++) {
            for (int i = 0; i < n; i++) {
                for (int j = 0; j <= i; j++) {
                    rod_quadrature_compare(f->gram[d][i][j], c->gram[d][i][j],
                                           f->gram[d][i][i] * f->gram[d][j][j], &worst);
                }
            }
        }
        for (int l = 0; l < q->nload; l++) {
            for (int k = 0; k < n; k++) {
                rod_quadrature_compare(f->load[l * MOTIONS + k], c->load[l * MOTIONS + k],
                                       f->square[l] * f->gram[1][k][k], &worst);
            }
        }
    }
    return worst;
}

// ---- what there is to integrate
// --------------------------------------------------------------------

static bool has_link(int n, const int *link, int l) {
    for (int i = 0; i < n; i++) {
        if (link[i] == l) return true;
    }
    return false;
}

static void gather_densities(snw_rod_quadrature *q) {
    const snw_desc *d = q->desc;
    const int l = q->rod->link;
    const snw_rod_desc *rod = &d->link[l].rod;
    q->inert = rod->section.inertia_given || (rod->material && rod->material->density);
    q->ndensity = 2;
    for (int i = 0; i < d->nfluid; i++) {
        const snw_fluid_desc *f = &d->fluid[i];
        if (!has_link(f->nlink, f->link, l)) continue;
        q->fluid = true;
        const snw_law law[8] = {f->linear[3], f->linear[4], f->linear[5], f->square[3],
                                f->square[4], f->square[5], f->normal,    f->tangent};
        for (int k = 0; k < 8 && q->ndensity < DENSITIES; k++) {
            if (law[k] && snw_expr_vars(law[k]) & SNW_VAR_X) q->density[q->ndensity++] = law[k];
        }
    }
    for (int i = 0; i < d->ncontact; i++) {
        if (!d->contact[i].nonholonomic)
            q->fluid |= has_link(d->contact[i].nlink, d->contact[i].link, l);
    }
    for (int i = 0; i < d->nload; i++) q->nload += d->load[i].along && d->load[i].on.link == l;
    q->fluid |= q->nload > 0;
}

static bool allocate(snw_rod_quadrature *q) {
    const size_t n = (size_t)q->nstep + 1, motion = (size_t)(q->m.n ? q->m.n : 1);
    const size_t loads = (size_t)(q->nload ? q->nload : 1);
    q->which = snw_alloc(loads * sizeof *q->which);
    q->at = snw_alloc(n * sizeof *q->at);
    q->coarse.load = snw_alloc(loads * (MOTIONS + 1) * sizeof(double));
    bool ok = q->which && q->at && q->coarse.load;
    for (int i = 0; i < TRIALS; i++) {
        q->g[i] = snw_alloc(n * sizeof *q->g[i]);
        q->J[i] = snw_alloc(n * motion * sizeof *q->J[i]);
        q->fine[i].load = snw_alloc(loads * (MOTIONS + 1) * sizeof(double));
        ok = ok && q->g[i] && q->J[i] && q->fine[i].load;
        if (q->fine[i].load) q->fine[i].square = q->fine[i].load + loads * MOTIONS;
    }
    if (q->coarse.load) q->coarse.square = q->coarse.load + loads * MOTIONS;
    return ok;
}

void snw_rod_quadrature_destroy(snw_rod_quadrature *q) {
    if (!q) return;
    for (int i = 0; i < TRIALS; i++) {
        snw_free(q->g[i]);
        snw_free(q->J[i]);
        snw_free(q->fine[i].load);
    }
    snw_free(q->coarse.load);
    snw_free(q->at);
    snw_free(q->which);
    snw_free(q);
}

static int highest_degree(const snw_rod *rod) {
    int degree = 0;
    for (int a = 0; a < rod->na; a++) {
        const int p = snw_basis_degree(&rod->basis[a]);
        if (p > degree) degree = p;
    }
    return degree;
}

static snw_status rod_quadrature_create(const snw_desc *desc, const snw_rod *rod,
                                        const snw_layout *lay, int n, const snw_trial *trial,
                                        snw_rod_quadrature **out) {
    *out = NULL;
    snw_rod_quadrature *q = snw_alloc(sizeof *q);
    if (!q) return SNW_E_MEMORY;
    memset(q, 0, sizeof *q);
    q->desc = desc;
    q->rod = rod;
    q->m = motions_of(rod);
    q->ntrial = n;
    for (int i = 0; i < n; i++) q->trial[i] = trial[i];
    gather_densities(q);
    const int degree = highest_degree(rod), cells = (CELLS + lay->nelem - 1) / lay->nelem;
    const int points = POINTS + 2 * degree / cells;
    int each = (STEPS + lay->nelem - 1) / lay->nelem;
    if (lay->nelem == 1 && each < 6 * degree) each = 6 * degree;
    if (each < 3) each = 3;
    q->nstep = each * lay->nelem;
    double *x = snw_alloc(2 * (size_t)points * sizeof *x);
    if (!x || !allocate(q)) {
        snw_free(x);
        snw_rod_quadrature_destroy(q);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < q->nstep;
         i++) { // closer at the ends of elements, where polynomials of high degree are steep
        const double a = lay->breaks[i / each], b = lay->breaks[i / each + 1];
        const double s = sin(0.5 * M_PI * (i % each) / each);
        q->at[i] = a + (b - a) * s * s;
    }
    q->at[q->nstep] = lay->breaks[lay->nelem];
    int along = 0;
    for (int i = 0; i < desc->nload; i++) {
        if (desc->load[i].along && desc->load[i].on.link == rod->link) q->which[along++] = i;
    }
    snw_gauss(points, x, x + points);
    integrate_finely(q, lay, cells, points, x, x + points);
    snw_free(x);
    *out = q;
    return SNW_OK;
}

snw_status snw_rod_quadrature_create(const snw_desc *desc, const snw_rod *rod,
                                     const snw_layout *lay, snw_rod_quadrature **out) {
    snw_trial trial[TRIALS];
    for (int i = 0; i < TRIALS; i++) trial[i] = trial_of(desc, rod, i);
    return rod_quadrature_create(desc, rod, lay, TRIALS, trial, out);
}

snw_status snw_rod_quadrature_at(const snw_model *m, const snw_rod *rod, const double *q, double t,
                                 double *error) {
    *error = 0;
    if (rod->feed >= 0 || rod->tolerance > 0) return SNW_OK;
    snw_node_at *node = snw_alloc((size_t)rod->nseg * sizeof *node);
    double *breaks = snw_alloc(((size_t)rod->nelem + 1) * sizeof *breaks);
    snw_rod_quadrature *own = NULL;
    snw_status s = node && breaks ? SNW_OK : SNW_E_MEMORY;
    if (s == SNW_OK) {
        const snw_trial trial = {.desc = m->desc, .rod = rod, .t = t, .m = m, .q = q};
        for (int i = 0; i < rod->nseg; i++) {
            node[i] = (snw_node_at){.x = m->seg_x[rod->seg0 + i], .w = m->seg_w[rod->seg0 + i]};
        }
        memcpy(breaks, rod->breaks, ((size_t)rod->nelem + 1) * sizeof *breaks);
        const snw_layout lay = {
            .nnode = rod->nseg, .node = node, .nelem = rod->nelem, .breaks = breaks};
        s = rod_quadrature_create(m->desc, rod, &lay, 1, &trial, &own);
        if (s == SNW_OK) *error = snw_rod_quadrature_error(own, &lay);
    }
    snw_rod_quadrature_destroy(own);
    snw_free(breaks);
    snw_free(node);
    return s;
}

// ---- functions of the strain
// -----------------------------------------------------------------------

enum { MOST_POINTS = 96, VALUES = 6 };
static const double STRAIN_TOLERANCE = 1e-8;

typedef enum integrand_kind { OF_STIFFNESS, OF_DAMPING, OF_STRESS, OF_MEASURE } integrand_kind;

// Something integrated along a rod by the strain rule: up to six numbers at each place.
typedef struct integrand {
    integrand_kind kind;
    int item;        // stress or measure
    double from, to; // where it is
} integrand;

static void measure_slope(const snw_tendon_desc *d, snw_trial *t, double x, double out[VALUES]) {
    const snw_at at = {.x = x, .L = t->rod->L};
    const snw_jet y = d->at[0] ? snw_expr_jet_x(d->at[0], at) : (snw_jet){0};
    const snw_jet z = d->at[1] ? snw_expr_jet_x(d->at[1], at) : (snw_jet){0};
    const snw_vec3 D = {{0, y.v, z.v}};
    snw_vec3 along = {{1, 0, 0}};
    if (d->kind == SNW_TENDON_CABLE) {
        const snw_twist xi = snw_trial_strain(t, x, x);
        along = snw_add(snw_add(xi.v, snw_cross(xi.w, D)), (snw_vec3){{0, y.d, z.d}});
        along = snw_scale(1 / snw_norm(along), along);
    } else {
        along.x = d->area ? snw_expr_value(d->area, at) : 0;
    }
    // turning counts by the arm of a tendon: all six are lengths over lengths
    const snw_vec3 turn = snw_scale(1 / t->rod->L, snw_cross(D, along));
    for (int i = 0; i < 3; i++) out[i] = turn.e[i], out[3 + i] = along.e[i];
}

static void integrand_at(const integrand *f, snw_trial *t, double x, double out[VALUES]) {
    const snw_link_desc *link = &t->desc->link[t->rod->link];
    for (int i = 0; i < VALUES; i++) out[i] = 0;
    if (f->kind == OF_MEASURE) {
        measure_slope(&t->desc->tendon[f->item], t, x, out);
    } else if (f->kind == OF_STRESS) {
        const snw_at at = {.t = t->t, .x = x, .L = t->rod->L, .signal = no_signals};
        const snw_law *law = t->desc->stress[f->item].stress;
        for (int i = 0; i < 6; i++) {
            if (law[i]) out[i] = snw_expr_value(law[i], at);
        }
    } else {
        double H[36], D[36];
        snw_inertia M;
        snw_error ignored = {0};
        if (snw_section_at(&link->rod, link->name, x, H, D, &M, &ignored) != SNW_OK) return;
        for (int i = 0; i < 6; i++) out[i] = f->kind == OF_STIFFNESS ? H[7 * i] : D[7 * i];
    }
}

// sum <- integrals over [a, b] of the numbers by polynomials of degree 0, p, 2p, as functions and
// their products are; square <- of their squares
static void rod_quadrature_integrate(const integrand *f, snw_trial *t, int p, int n, int cells,
                                     double a, double b, double sum[3][VALUES],
                                     double square[VALUES]) {
    double x[MOST_POINTS], w[MOST_POINTS], v[VALUES];
    snw_gauss(n, x, w);
    memset(sum, 0, 3 * sizeof sum[0]);
    memset(square, 0, VALUES * sizeof square[0]);
    for (int c = 0; c < cells; c++) {
        for (int i = 0; i < n; i++) {
            const double s = (c + x[i]) / cells, weight = w[i] * (b - a) / cells;
            integrand_at(f, t, a + (b - a) * s, v);
            for (int l = 0; l < VALUES; l++) {
                const double y = pow(fabs(2 * s - 1), p) * (s < 0.5 && p % 2 ? -1 : 1);
                sum[0][l] += weight * v[l];
                sum[1][l] += weight * v[l] * y;
                sum[2][l] += weight * v[l] * y * y;
                square[l] += weight * v[l] * v[l];
            }
        }
    }
}

static double integrand_error(const integrand *f, snw_trial *t, const snw_layout *lay, int p,
                              int n) {
    double miss[3][VALUES] = {{0}}, square[VALUES] = {0}, worst = 0;
    for (int e = 0; e < lay->nelem; e++) {
        const double a = fmax(lay->breaks[e], f->from), b = fmin(lay->breaks[e + 1], f->to);
        if (!(b > a)) continue;
        double coarse[3][VALUES], fine[3][VALUES], own[VALUES];
        rod_quadrature_integrate(f, t, p, n, 1, a, b, coarse, own);
        rod_quadrature_integrate(f, t, p, n, 3, a, b, fine, own);
        for (int l = 0; l < VALUES; l++) {
            for (int k = 0; k < 3; k++) miss[k][l] += fabs(coarse[k][l] - fine[k][l]);
            square[l] += own[l];
        }
    }
    double all = 0;
    for (int l = 0; l < VALUES; l++) all += square[l];
    const bool one = f->kind == OF_MEASURE || f->kind == OF_STRESS; // its numbers act together
    for (int l = 0; l < VALUES; l++) {
        const double size = one ? all : square[l];
        for (int k = 0; k < 3; k++) {
            const double e = size > 0 ? miss[k][l] / sqrt(size * (f->to - f->from)) : 0;
            if (!(e <= worst)) worst = e;
        }
    }
    return worst;
}

static bool rod_quadrature_varies(snw_law law) { return law && snw_expr_vars(law) & SNW_VAR_X; }

static bool section_varies(const snw_rod_desc *d) {
    bool any = false;
    for (int i = 0; i < 4; i++) any |= rod_quadrature_varies(d->section.size[i]);
    for (int i = 0; i < 36; i++)
        any |= rod_quadrature_varies(d->section.stiffness[i]) ||
               rod_quadrature_varies(d->section.damping[i]);
    const snw_material_desc *m = d->material;
    return any || (m && (rod_quadrature_varies(m->young) || rod_quadrature_varies(m->poisson) ||
                         rod_quadrature_varies(m->shear) || rod_quadrature_varies(m->damping)));
}

// points that one integrand needs, n or more; as many as before where it jumps and more do not help
static int points_for(const integrand *f, const snw_desc *desc, const snw_rod *rod,
                      const snw_layout *lay, int n) {
    const int p = lay->global ? 0 : highest_degree(rod);
    int most = n;
    for (int i = 0; i < TRIALS; i++) {
        snw_trial t = trial_of(desc, rod, i);
        int k = n;
        double error = integrand_error(f, &t, lay, p, k);
        while (error > STRAIN_TOLERANCE && k + (k + 1) / 2 <= MOST_POINTS) {
            k += (k + 1) / 2;
            error = integrand_error(f, &t, lay, p, k);
        }
        if (k > most && error <= 1e3 * STRAIN_TOLERANCE) most = k;
    }
    return most;
}

int snw_rod_strain_points(const snw_desc *desc, const snw_rod *rod, const snw_layout *lay,
                          int enough) {
    int n = enough;
    const snw_rod_desc *d = &desc->link[rod->link].rod;
    if (n > MOST_POINTS) return n;
    for (int kind = OF_STIFFNESS; kind <= OF_DAMPING && section_varies(d); kind++) {
        const integrand f = {.kind = kind == OF_STIFFNESS ? OF_STIFFNESS : OF_DAMPING,
                             .to = rod->L};
        n = points_for(&f, desc, rod, lay, n);
    }
    for (int i = 0; i < desc->nstress; i++) {
        const integrand f = {.kind = OF_STRESS, .item = i, .to = rod->L};
        if (desc->stress[i].link == rod->link) n = points_for(&f, desc, rod, lay, n);
    }
    for (int i = 0; i < desc->ntendon; i++) {
        const snw_tendon_desc *m = &desc->tendon[i];
        for (int k = 0; k < m->nlink; k++) {
            if (m->link[k] != rod->link) continue;
            const integrand f = {.kind = OF_MEASURE,
                                 .item = i,
                                 .from = k == 0 ? m->from : 0,
                                 .to = k == m->nlink - 1 ? m->to : rod->L};
            n = points_for(&f, desc, rod, lay, n);
        }
    }
    return n;
}
