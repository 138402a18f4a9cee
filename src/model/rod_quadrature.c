// SPDX-License-Identifier: MIT
//
// Errors of quadrature along a rod (theory.md (3.5)), by comparison with a fine rule at trial
// shapes: the Gauss points of the inertia, and the points for functions of the strain. For
// layout.c, and at the shape of a running simulation.
#include "model/rod_quadrature.h"

#include "base/alloc.h"
#include "math/quadrature.h"
#include "math/vector.h"
#include "model/chamber_area.h"

#include <math.h>
#include <string.h>

enum {
    RIGID = 6,      // rigid motions of the root; the translations also represent weight
    PER_STRAIN = 5, // strain fields per component
    MOTIONS = RIGID + 6 * PER_STRAIN,
    TRIALS = 2,
    DENSITIES = 12, // most densities: inertia, uniform, drag coefficients
    STEPS = 80,     // fewest steps of the fine integration of pose and Jacobian
    CELLS = 6,
    POINTS = 8 // fewest points per cell of the fine rule
};

// ---- trial shapes

snw_twist snw_trial_strain(snw_trial *trial, double x, double toward) {
    const snw_rod *rod = trial->rod;
    if (trial->q) return snw_rod_strain(rod, trial->q, trial->t, x);
    snw_twist xi = snw_rod_rest(rod, x);
    for (int i = 0; i < 6; i++) {
        if (!rod->given[i]) continue;
        const snw_at at = {.t = trial->t, .x = x, .L = rod->L};
        xi.e[i] = snw_expr_value(rod->given[i], at) + (i == SNW_STRETCH);
    }
    if (trial->bent == 0) return xi;
    int first[6], count[6];
    (void)snw_rod_basis(rod, x, toward, first, count, trial->phi);
    const double *phi = trial->phi;
    for (int a = 0; a < rod->na; a++) {
        const double size = rod->comp[a] < 3 ? M_PI / rod->L : 0.05;
        const snw_function_set *set = rod->basis[a].set;
        double v = 0;
        for (int j = 0; j < count[a]; j++) {
            const int f = first[a] + j;
            const double one = set && set->size[f] > 0 ? set->size[f] : 1;
            v += phi[j] / one * (f == 0 ? 0.7 : f == rod->nfun[a] - 1 ? 0.5 : 0.2 / (1 + f));
        }
        xi.e[rod->comp[a]] += trial->bent * size * v;
        phi += count[a];
    }
    return xi;
}

// Duration of the study, s; laws of t are evaluated within it.
static double study_time(const snw_desc *d) {
    double sum = 0;
    for (int i = 0; i < d->nstep; i++) sum += d->step[i].duration;
    return sum;
}

// Trial 0: reference shape at t = 0; trial 1: bent shape within the study.
static snw_trial trial_of(const snw_desc *desc, const snw_rod *rod, int i) {
    return (snw_trial){
        .desc = desc, .rod = rod, .t = i ? 0.61 * study_time(desc) : 0, .bent = i ? 1 : 0};
}

// ---- motions

// Strain fields whose motions are integrated: of a global basis its first shape functions and the
// last; of a piecewise basis, whose single functions are local, polynomials interpolated at its
// nodes.
typedef struct motions {
    int n;
    int comp[MOTIONS]; // n: active component
    int fun[MOTIONS];  // n: shape function of a global basis; piecewise basis: polynomial degree
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

// (2x - 1)^k at node f of a piecewise basis on [0, 1].
static double power_at_node(const snw_rod *rod, int a, int f, int k) {
    const snw_basis *b = &rod->basis[a];
    const double s = snw_basis_table[b->kind].place(b, f);
    double v = 1;
    for (int i = 0; i < k; i++) v *= 2 * s - 1;
    return v;
}

// value[k] <- strain of motion k at x.
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
            value[k] += own[j] * power_at_node(rod, a, first[a] + j, m->fun[k]);
        }
    }
}

// ---- integrals at the nodes

// Integrals along the rod: products of motions by density, virtual work of loads.
typedef struct integrals {
    double gram[DENSITIES][MOTIONS][MOTIONS];
    double *load;   // nload x MOTIONS: virtual work of each load on each motion
    double *square; // nload: square of each load
} integrals;

static bool rod_quadrature_varies(snw_law law) { return law && snw_expr_vars(law) & SNW_VAR_X; }

struct snw_rod_quadrature {
    const snw_desc *desc;
    const snw_rod *rod;
    motions m;
    int ndensity;
    snw_law density[DENSITIES];    // drag coefficients from index 2; 0: inertia, 1: uniform
    bool has_inertia, has_uniform; // densities 0 and 1 are used
    bool same_section;             // everywhere; then with the inertia M
    snw_inertia M;
    int ntrial;
    int nload;
    int *load_index; // nload: index of each distributed load on the rod
    int nstep;       // steps along the rod
    double *at;      // nstep + 1: arc lengths, m
    snw_trial trial[TRIALS];
    snw_se3 *g[TRIALS];   // nstep + 1: poses
    snw_twist *J[TRIALS]; // (nstep + 1) x m.n: motions as twists in the root frame
    integrals fine[TRIALS], coarse;
};

// Pose at arc length s from the start of a step in which the strain is at + s slope.
static snw_se3 rod_quadrature_advance(snw_twist at, snw_twist slope, double s) {
    const snw_twist W = snw_twist_axpy(0.5 * s, slope, at);
    return snw_se3_exp(snw_twist_axpy(s * s * s / 12, snw_ad(at, slope), snw_twist_scale(s, W)));
}

// g, J <- pose and motions at b from those at a, both in one element.
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

// Poses and motions at all steps of a trial shape.
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

// g, V <- pose and all motions at x, as body twists of the section.
static void rod_quadrature_evaluate(snw_rod_quadrature *q, int trial, double x, snw_se3 *g,
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

// Load l at x, per length, in the frame of the section.
static snw_wrench load_at(const snw_rod_quadrature *q, int l, double t, double x, snw_se3 g) {
    const snw_load_desc *d = &q->desc->load[q->load_index[l]];
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

// Add the integrands at x with weight w to the integrals.
static void add_point(snw_rod_quadrature *q, int trial, double x, double w, integrals *out) {
    const double L = q->rod->L, t = q->trial[trial].t;
    const snw_link_desc *link = &q->desc->link[q->rod->link];
    snw_se3 g;
    snw_twist V[MOTIONS];
    snw_wrench P[MOTIONS];
    const int n = RIGID + q->m.n;
    rod_quadrature_evaluate(q, trial, x, &g, V);
    double H[36], D[36];
    snw_inertia M = q->M;
    snw_error ignored = {0}; // compile_rod.c reports faulty sections
    if (q->has_inertia && (q->same_section || snw_section_at(&link->rod, link->name, x, H, D, &M,
                                                             &ignored) == SNW_OK)) {
        for (int k = 0; k < n; k++) P[k] = snw_inertia_apply(&M, V[k]);
        rod_quadrature_add_products(q, V, P, w, out->gram[0]);
    }
    if (q->has_uniform) {
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

static void integrals_clear(const snw_rod_quadrature *q, integrals *out) {
    memset(out->gram, 0, (size_t)q->ndensity * sizeof out->gram[0]);
    for (int i = 0; i < q->nload * MOTIONS; i++) out->load[i] = 0;
    for (int i = 0; i < q->nload; i++) out->square[i] = 0;
}

// q->fine <- integrals by the fine rule: `points` Gauss points in each of `cells` parts of an
// element.
static void rod_quadrature_integrate_fine(snw_rod_quadrature *q, const snw_layout *lay, int cells,
                                          int points, const double *x, const double *w) {
    for (int trial = 0; trial < q->ntrial; trial++) {
        rod_quadrature_march(q, trial);
        integrals_clear(q, &q->fine[trial]);
        for (int e = 0; e < lay->nelem * cells; e++) {
            const double from = lay->breaks[e / cells],
                         h = (lay->breaks[e / cells + 1] - from) / cells;
            for (int i = 0; i < points; i++) {
                add_point(q, trial, from + (e % cells + x[i]) * h, h * w[i], &q->fine[trial]);
            }
        }
    }
}

// *worst <- maximum with the error relative to sqrt(size), the product of the norms of the factors.
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
        integrals_clear(q, &q->coarse);
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

// ---- integrands of a rod

static bool rod_quadrature_lists(int n, const int *link, int l) {
    for (int i = 0; i < n; i++) {
        if (link[i] == l) return true;
    }
    return false;
}

static void gather_densities(snw_rod_quadrature *q) {
    const snw_desc *d = q->desc;
    const int l = q->rod->link;
    const snw_rod_desc *rod = &d->link[l].rod;
    q->has_inertia = rod->section.inertia_given || (rod->material && rod->material->density);
    double H[36], D[36];
    snw_error ignored = {0};
    q->same_section = q->has_inertia && !snw_rod_varies(rod) &&
                      snw_section_at(rod, d->link[l].name, 0, H, D, &q->M, &ignored) == SNW_OK;
    q->ndensity = 2;
    for (int i = 0; i < d->nfluid; i++) {
        const snw_fluid_desc *f = &d->fluid[i];
        if (!rod_quadrature_lists(f->nlink, f->link, l)) continue;
        q->has_uniform = true;
        const snw_law law[8] = {f->linear[3], f->linear[4], f->linear[5], f->square[3],
                                f->square[4], f->square[5], f->normal,    f->tangent};
        for (int k = 0; k < 8 && q->ndensity < DENSITIES; k++) {
            if (law[k] && snw_expr_vars(law[k]) & SNW_VAR_X) q->density[q->ndensity++] = law[k];
        }
    }
    for (int i = 0; i < d->ncontact; i++) {
        if (!d->contact[i].nonholonomic)
            q->has_uniform |= rod_quadrature_lists(d->contact[i].nlink, d->contact[i].link, l);
    }
    for (int i = 0; i < d->nload; i++) q->nload += d->load[i].along && d->load[i].on.link == l;
    q->has_uniform |= q->nload > 0;
}

static bool rod_quadrature_allocate(snw_rod_quadrature *q) {
    const size_t n = (size_t)q->nstep + 1, motion = (size_t)(q->m.n ? q->m.n : 1);
    const size_t loads = (size_t)(q->nload ? q->nload : 1);
    q->load_index = snw_alloc(loads * sizeof *q->load_index);
    q->at = snw_alloc(n * sizeof *q->at);
    q->coarse.load = snw_alloc(loads * (MOTIONS + 1) * sizeof(double));
    bool ok = q->load_index && q->at && q->coarse.load;
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
    snw_free(q->load_index);
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
    if (!x || !rod_quadrature_allocate(q)) {
        snw_free(x);
        snw_rod_quadrature_destroy(q);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < q->nstep;
         i++) { // denser at the ends of elements, where polynomials of high degree are steep
        const double a = lay->breaks[i / each], b = lay->breaks[i / each + 1];
        const double s = sin(0.5 * M_PI * (i % each) / each);
        q->at[i] = a + (b - a) * s * s;
    }
    q->at[q->nstep] = lay->breaks[lay->nelem];
    int along = 0;
    for (int i = 0; i < desc->nload; i++) {
        if (desc->load[i].along && desc->load[i].on.link == rod->link) q->load_index[along++] = i;
    }
    snw_gauss(points, x, x + points);
    rod_quadrature_integrate_fine(q, lay, cells, points, x, x + points);
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
        const snw_trial trial = {.desc = m->desc, .rod = rod, .t = t, .q = q};
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

enum { MOST_POINTS = 96, VALUES = 6 };
static const double STRAIN_TOLERANCE = 1e-8;

typedef enum integrand_kind { OF_STIFFNESS, OF_DAMPING, OF_STRESS, OF_TENDON } integrand_kind;

// Function integrated along a rod by the strain rule, with up to six components.
typedef struct integrand {
    integrand_kind kind;
    int item;        // index of the stress or tendon
    double from, to; // its interval, m
} integrand;

// Derivative of length or volume per arc length in the strain, theory.md (3.11.1), (3.11.2).
static void tendon_gradient(const snw_tendon_desc *d, snw_trial *t, double x, double out[VALUES]) {
    const snw_at at = {.x = x, .L = t->rod->L};
    const snw_jet y = d->at[0] ? snw_expr_jet_x(d->at[0], at) : (snw_jet){0};
    const snw_jet z = d->at[1] ? snw_expr_jet_x(d->at[1], at) : (snw_jet){0};
    const snw_vec3 D = {{0, y.v, z.v}};
    snw_vec3 along = {{1, 0, 0}};
    if (snw_actuator_table[d->kind].is_length) {
        const snw_twist xi = snw_trial_strain(t, x, x);
        along = snw_add(snw_add(xi.v, snw_cross(xi.w, D)), (snw_vec3){{0, y.d, z.d}});
        along = snw_scale(1 / snw_norm(along), along);
    } else if (d->area) {
        along.x = snw_chamber_area_made(d->area, x, t->rod->L, 1);
    } else {
        along.x = 0;
    }
    // angular components over L, so that all six are dimensionless
    const snw_vec3 turn = snw_scale(1 / t->rod->L, snw_cross(D, along));
    for (int i = 0; i < 3; i++) out[i] = turn.e[i], out[3 + i] = along.e[i];
}

static void integrand_at(const integrand *f, snw_trial *t, double x, double out[VALUES]) {
    const snw_link_desc *link = &t->desc->link[t->rod->link];
    for (int i = 0; i < VALUES; i++) out[i] = 0;
    if (f->kind == OF_TENDON) {
        tendon_gradient(&t->desc->tendon[f->item], t, x, out);
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

// sum <- integrals over [a, b] of each component times polynomials of degree 0, p and 2p, which
// represent shape functions and their products; square <- integrals of its square.
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

// Largest relative error of n points per element, against n points in thirds of the element.
static double integrand_error(const integrand *f, snw_trial *t, const snw_layout *lay, int p,
                              int n) {
    double error[3][VALUES] = {{0}}, square[VALUES] = {0}, worst = 0;
    for (int e = 0; e < lay->nelem; e++) {
        const double a = fmax(lay->breaks[e], f->from), b = fmin(lay->breaks[e + 1], f->to);
        if (!(b > a)) continue;
        double coarse[3][VALUES], fine[3][VALUES], own[VALUES];
        rod_quadrature_integrate(f, t, p, n, 1, a, b, coarse, own);
        rod_quadrature_integrate(f, t, p, n, 3, a, b, fine, own);
        for (int l = 0; l < VALUES; l++) {
            for (int k = 0; k < 3; k++) error[k][l] += fabs(coarse[k][l] - fine[k][l]);
            square[l] += own[l];
        }
    }
    double total = 0;
    for (int l = 0; l < VALUES; l++) total += square[l];
    const bool together =
        f->kind == OF_TENDON || f->kind == OF_STRESS; // components add up to one force
    for (int l = 0; l < VALUES; l++) {
        const double size = together ? total : square[l];
        for (int k = 0; k < 3; k++) {
            const double e = size > 0 ? error[k][l] / sqrt(size * (f->to - f->from)) : 0;
            worst = snw_larger(worst, e);
        }
    }
    return worst;
}

bool snw_rod_section_varies(const snw_rod_desc *d) {
    bool any = false;
    for (int i = 0; i < SNW_SECTION_SIZES; i++) any |= rod_quadrature_varies(d->section.size[i]);
    for (int i = 0; i < 36; i++)
        any |= rod_quadrature_varies(d->section.stiffness[i]) ||
               rod_quadrature_varies(d->section.damping[i]);
    const snw_material_desc *m = d->material;
    return any || (m && (rod_quadrature_varies(m->young) || rod_quadrature_varies(m->poisson) ||
                         rod_quadrature_varies(m->shear) || rod_quadrature_varies(m->damping)));
}

bool snw_rod_varies(const snw_rod_desc *d) {
    bool any = snw_rod_section_varies(d);
    for (int i = 0; i < 36; i++) any |= rod_quadrature_varies(d->section.inertia[i]);
    return any || (d->material && rod_quadrature_varies(d->material->density));
}

// Points per element that an integrand needs, at least n; n when it is discontinuous, so that more
// points do not help.
static int integrand_points(const integrand *f, const snw_desc *desc, const snw_rod *rod,
                            const snw_layout *lay, int n) {
    const int p = lay->global ? 0 : highest_degree(rod);
    const bool of_shape = f->kind == OF_TENDON || f->kind == OF_STRESS; // or of time
    int most = n;
    for (int i = 0; i < (of_shape ? TRIALS : 1); i++) {
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
    for (int kind = OF_STIFFNESS; kind <= OF_DAMPING && snw_rod_section_varies(d); kind++) {
        const integrand f = {.kind = kind == OF_STIFFNESS ? OF_STIFFNESS : OF_DAMPING,
                             .to = rod->L};
        n = integrand_points(&f, desc, rod, lay, n);
    }
    for (int i = 0; i < desc->nstress; i++) {
        const integrand f = {.kind = OF_STRESS, .item = i, .to = rod->L};
        if (desc->stress[i].link == rod->link) n = integrand_points(&f, desc, rod, lay, n);
    }
    for (int i = 0; i < desc->ntendon; i++) {
        const snw_tendon_desc *m = &desc->tendon[i];
        for (int k = 0; k < m->nlink; k++) {
            if (m->link[k] != rod->link) continue;
            const integrand f = {.kind = OF_TENDON,
                                 .item = i,
                                 .from = k == 0 ? m->from : 0,
                                 .to = k == m->nlink - 1 ? m->to : rod->L};
            n = integrand_points(&f, desc, rod, lay, n);
        }
    }
    return n;
}
