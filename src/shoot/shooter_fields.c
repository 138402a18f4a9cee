// SPDX-License-Identifier: MIT
//
// Fields between nodes, and what the model makes of them.
#include "shoot/shooter_private.h"

#include "math/se3_tangent.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

double snw_shooter_time(const snw_shooter *e) { return e->t; }
void snw_shooter_set_time(snw_shooter *e, double t) { e->t = t; }
const snw_shoot_rod *snw_shooter_rod(const snw_shooter *e) { return e->r; }
const snw_inputs *snw_shooter_inputs(const snw_shooter *e) { return e->in; }
snw_shoot_energy snw_shooter_energy(const snw_shooter *e) { return snw_shoot_energies(e->r); }

// ---- between nodes ----------------------------------------------------------------------------------

// the pose within an interval: W(s) cubic, with the strains at both ends as slopes
static snw_se3 pose_between(const snw_shoot_rod *r, int node, double h, double u, snw_twist xi0,
                            snw_twist xi1) {
    if (u == 0) return r->g[node];
    const snw_twist W = snw_se3_log(snw_se3_mul(snw_se3_inv(r->g[node]), r->g[node + 1]));
    const snw_lower T = snw_se3_tangent_inv(W);
    const snw_twist slope = snw_lower_apply(&T, xi1);
    const double b = u * u * (3 - 2 * u), c = h * u * (1 - u) * (1 - u), d = -h * u * u * (1 - u);
    snw_twist x;
    for (int i = 0; i < 6; i++) x.e[i] = b * W.e[i] + c * xi0.e[i] + d * slope.e[i];
    return snw_se3_mul(r->g[node], snw_se3_exp(x));
}

static snw_twist rest_at(const snw_shooter *e, double x) {
    return e->r->uniform ? e->r->section[0].rest : snw_rod_rest(&e->link->rod, x);
}

// four nodes about x in a piece, or as many as it has, and their weights
typedef struct around {
    int piece, node, n, j; // first node, how many; interval of x
    double w[4], u;        // u: where x is in that interval
} around;

static around nodes_around(const snw_shoot_rod *r, double x) {
    around a = {.piece = 0};
    while (a.piece < r->npiece - 1 && x >= r->piece[a.piece + 1].s) a.piece++;
    const snw_shoot_piece *piece = &r->piece[a.piece];
    const double at = fmin(fmax((x - piece->s) / piece->h, 0), piece->n);
    int j = (int)at;
    if (j == piece->n) j--;
    a.n = piece->n + 1 < 4 ? piece->n + 1 : 4;
    int first = j - 1;
    first = first < 0 ? 0 : (first + a.n > piece->n + 1 ? piece->n + 1 - a.n : first);
    snw_shoot_lagrange(a.n, at - first, a.w);
    a.node = piece->node + first;
    a.j = j;
    a.u = at - j;
    return a;
}

static snw_shoot_history weigh(const around *a, const snw_shoot_history *field) {
    snw_shoot_history out = {.e = snw_twist_zero(), .V = snw_twist_zero()};
    for (int l = 0; l < a->n; l++) {
        out.e = snw_twist_axpy(a->w[l], field[a->node + l].e, out.e);
        out.V = snw_twist_axpy(a->w[l], field[a->node + l].V, out.V);
    }
    return out;
}

snw_shoot_history snw_shooter_between(const snw_shoot_rod *r, const snw_shoot_history *field,
                                      double x) {
    const around a = nodes_around(r, x);
    return weigh(&a, field);
}

snw_shooter_at snw_shooter_look(const snw_shooter *e, double x) {
    const snw_shoot_rod *r = e->r;
    const around a = nodes_around(r, x);
    const snw_shoot_piece *piece = &r->piece[a.piece];
    snw_shooter_at out = {.x = weigh(&a, r->level[0]), .rate = weigh(&a, r->rate)};
    for (int l = 0; l < a.n; l++) out.F = snw_wrench_axpy(a.w[l], r->F[a.node + l], out.F);
    const int node = piece->node + a.j;
    const double s = piece->s + a.j * piece->h;
    const snw_twist xi0 = snw_twist_add(rest_at(e, s), r->level[0][node].e);
    const snw_twist xi1 = snw_twist_add(rest_at(e, s + piece->h), r->level[0][node + 1].e);
    out.g = pose_between(r, node, piece->h, a.u, xi0, xi1);
    return out;
}

snw_twist snw_shooter_strain(const snw_shooter *e, double x) {
    return snw_twist_add(rest_at(e, x), snw_shooter_look(e, x).x.e);
}

snw_wrench snw_shooter_wrench(const snw_shooter *e, double x) { return snw_shooter_look(e, x).F; }

// ---- from other fields ------------------------------------------------------------------------------

// strain less rest and its rate for coordinates and velocities
static snw_shoot_history of_coordinates(const snw_shooter *e, const snw_state *s, double x) {
    const snw_rod *rod = e->rod;
    snw_shoot_history out = {.e = snw_twist_zero(), .V = snw_twist_zero()};
    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    (void)snw_rod_basis(rod, x, x < rod->L ? x : rod->L * (1 - 1e-15), first, count, phi);
    const double *at = phi;
    for (int a = 0; a < rod->na; a++) {
        const double *q = s->q + rod->dof[a] + first[a] + rod->shift;
        const double *v = s->v + rod->dof[a] + first[a];
        for (int j = 0; j < count[a]; j++) {
            out.e.e[rod->comp[a]] += at[j] * q[j];
            out.V.e[rod->comp[a]] += at[j] * v[j];
        }
        at += count[a];
    }
    return out;
}

// pose and velocity through an interval by the Magnus expansion at two Gauss points
static void advance(const snw_shooter *e, const snw_state *s, double x, double h, snw_se3 *g,
                    snw_twist *V) {
    const double off = 0.5 / sqrt(3);
    snw_twist xi[2], rate[2];
    for (int k = 0; k < 2; k++) {
        const double at = x + h * (k == 0 ? 0.5 - off : 0.5 + off);
        const snw_shoot_history f = of_coordinates(e, s, at);
        xi[k] = snw_twist_add(rest_at(e, at), f.e);
        rate[k] = f.V;
    }
    const double c = sqrt(3) / 12 * h * h;
    snw_twist W = snw_twist_scale(0.5 * h, snw_twist_add(xi[0], xi[1]));
    W = snw_twist_axpy(c, snw_ad(xi[0], xi[1]), W);
    snw_twist Wt = snw_twist_scale(0.5 * h, snw_twist_add(rate[0], rate[1]));
    Wt = snw_twist_axpy(c, snw_twist_add(snw_ad(rate[0], xi[1]), snw_ad(xi[0], rate[1])), Wt);
    const snw_se3 E = snw_se3_exp(W);
    const snw_lower T = snw_se3_tangent(W);
    *V = snw_twist_add(snw_twist_to_child(E, *V), snw_lower_apply(&T, Wt));
    *g = snw_se3_mul(*g, E);
}

// the wrench of a strain and its rate, a first guess
static snw_wrench stress(const snw_shoot_rod *r, int point, const snw_shoot_history *x,
                         snw_twist rate) {
    const ptrdiff_t at = r->uniform ? 0 : point;
    snw_wrench F = snw_wrench_zero();
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            F.e[i] +=
                r->K[36 * at + 6 * i + k] * x->e.e[k] + r->section[at].B[6 * i + k] * rate.e[k];
        }
    }
    return F;
}

void snw_shooter_take(snw_shooter *e, const snw_state *s) {
    snw_shoot_rod *r = e->r;
    e->t = s->t;
    snw_shooter_load(e, s->t, 1);
    snw_se3 g = r->base;
    snw_twist V = r->base_V;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j;
            const double x = piece->s + j * piece->h;
            const snw_shoot_history f = of_coordinates(e, s, x);
            r->level[0][node] = (snw_shoot_history){.e = f.e, .V = V};
            r->rate[node] = (snw_shoot_history){.e = f.V, .V = snw_twist_zero()};
            r->g[node] = g;
            r->V[node] = V;
            r->F[node] = stress(r, piece->point + j * r->method->np, &f, f.V);
            if (j < piece->n) advance(e, s, x, piece->h, &g, &V);
        }
    }
    snw_shooter_take_cords(e);
    snw_shoot_begin(r, false, 1);
    snw_boundary_forget(e->b);
}

void snw_shooter_follow(snw_shooter *e, const snw_shooter *other) {
    snw_shoot_rod *r = e->r;
    e->t = other->t;
    snw_shooter_load(e, other->t, 1);
    bool same = e->grid.npiece == other->grid.npiece;
    for (int i = 0; same && i < e->grid.npiece; i++) {
        same = e->grid.intervals[i] == other->grid.intervals[i] &&
               e->grid.length[i] == other->grid.length[i];
    }
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = piece->node; j <= piece->node + piece->n; j++) {
            if (same) {
                r->level[0][j] = other->r->level[0][j];
                r->rate[j] = other->r->rate[j];
                r->g[j] = other->r->g[j];
                r->F[j] = other->r->F[j];
            } else {
                const double x = piece->s + (j - piece->node) * piece->h;
                // a node before a break looks at what is before it
                const double back = j == piece->node + piece->n ? 1e-12 * e->rod->L : 0;
                const snw_shooter_at at = snw_shooter_look(other, x - back);
                r->level[0][j] = at.x;
                r->rate[j] = at.rate;
                r->g[j] = at.g;
                r->F[j] = at.F;
            }
            r->V[j] = r->level[0][j].V;
        }
    }
    snw_shooter_follow_cords(e, other);
    snw_shoot_begin(r, false, 1);
    snw_boundary_forget(e->b);
}

// ---- powers -----------------------------------------------------------------------------------------

static double power_of(const snw_shoot_load *l, snw_se3 g, snw_twist V) {
    const snw_vec3 f = l->body ? l->W.f : snw_rotate_inv(g.R, l->W.f);
    const snw_vec3 m = l->body ? l->W.m : snw_rotate_inv(g.R, l->W.m);
    return snw_dot(f, snw_add(V.v, snw_cross(V.w, l->arm))) + snw_dot(m, V.w);
}

static double density_power(const snw_shoot_density *d, snw_se3 g, snw_twist V) {
    return snw_dot(d->force, snw_rotate(g.R, V.v)) + snw_dot(d->torque, snw_rotate(g.R, V.w)) +
           snw_power(d->body, V);
}

static double heat_at(const snw_shoot_rod *r, int point, const snw_shoot_history *x,
                      const snw_shoot_history *rate) {
    const snw_shoot_section *s = r->uniform ? r->section : r->section + point;
    double heat = 0;
    for (int i = 0; r->damped && i < 6; i++) {
        for (int k = 0; k < 6; k++) heat += s->B[6 * i + k] * rate->e.e[i] * rate->e.e[k];
    }
    for (int i = 0; i < 3; i++) {
        const double v = x->V.v.e[i];
        heat += s->drag[i] * v * v * fabs(v);
    }
    return heat;
}

void snw_shooter_powers(snw_shooter *e) {
    const snw_shoot_rod *r = e->r;
    double power = -snw_power(r->F[0], r->level[0][0].V), heat = 0;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j, point = piece->point + j * r->method->np;
            const double w = (j == 0 || j == piece->n ? 0.5 : 1) * piece->h;
            const snw_shoot_history *x = &r->level[0][node];
            if (r->density) power += w * density_power(&r->density[point], r->g[node], x->V);
            heat += w * heat_at(r, point, x, &r->rate[node]);
        }
        const int end = piece->node + piece->n;
        for (int i = 0; i < r->station[p].nload; i++) {
            power += power_of(&r->station[p].load[i], r->g[end], r->level[0][end].V);
        }
    }
    e->power = power + snw_shooter_cords_power(e);
    e->heat = heat;
}

// ---- in terms of the model --------------------------------------------------------------------------

// coordinates and velocities nearest to the fields
static void project(const snw_shooter *e, double *q, double *v) {
    const snw_rod *rod = e->rod;
    const snw_model *m = e->m;
    memset(q + rod->dof0 + rod->shift, 0, (size_t)rod->ndof * sizeof *q);
    memset(v + rod->dof0, 0, (size_t)rod->ndof * sizeof *v);
    for (int p = rod->point0; p < rod->point0 + rod->npoint; p++) {
        const snw_point *pt = &m->point[p];
        const snw_shooter_at f = snw_shooter_look(e, pt->x);
        const double *phi = m->phi + pt->phi;
        for (int a = 0; a < rod->na; phi += pt->count[a], a++) {
            const double x = pt->w * f.x.e.e[rod->comp[a]], dx = pt->w * f.rate.e.e[rod->comp[a]];
            const int to = rod->dof[a] + pt->first[a];
            for (int j = 0; j < pt->count[a]; j++) {
                q[to + rod->shift + j] += x * phi[j];
                v[to + j] += dx * phi[j];
            }
        }
    }
    const double *G = e->G;
    for (int a = 0; a < rod->na; a++) {
        snw_cholesky_solve(rod->nfun[a], G, q + rod->dof[a] + rod->shift);
        snw_cholesky_solve(rod->nfun[a], G, v + rod->dof[a]);
        G += (ptrdiff_t)rod->nfun[a] * rod->nfun[a];
    }
}

// what acts on segment i in its own frame
static snw_wrench applied(const snw_model *m, const snw_inputs *in, const snw_work *w, int i) {
    snw_wrench sum = snw_wrench_zero();
    for (int k = m->act_of_seg[i]; k < m->act_of_seg[i + 1]; k++) {
        snw_wrench F = in->load[k];
        if (!m->desc->load[m->act[k].load].body) {
            F.m = snw_rotate_inv(w->g[i].R, F.m);
            F.f = snw_rotate_inv(w->g[i].R, F.f);
        }
        sum = snw_wrench_add(sum, F);
    }
    return sum;
}

// what holds links without rods that hang on the rod, leaves first
static void hold_links(const snw_shooter *e, snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 1; i < m->nseg; i++) w->F[i] = snw_wrench_zero();
    for (int i = m->nseg - 1; i > 0; i--) {
        if (m->seg[i].kind != SNW_SEG_POSE) continue;
        const bool carries = i == e->rod->root;
        snw_wrench F = snw_wrench_sub(w->F[i], applied(m, e->in, w, i));
        if (m->seg[i].heavy) {
            F = snw_wrench_add(F, snw_inertia_apply(&m->seg[i].M, w->A[i]));
            F = snw_wrench_sub(F, snw_ad_pull(w->V[i], snw_inertia_apply(&m->seg[i].M, w->V[i])));
        }
        if (carries) F = snw_wrench_sub(F, e->r->F[0]);
        w->F[i] = F;
        const int parent = m->seg[i].parent;
        if (m->seg[parent].kind == SNW_SEG_POSE) {
            w->F[parent] = snw_wrench_add(w->F[parent], snw_wrench_to_parent(w->h[i], F));
        }
    }
}

void snw_shooter_show(const snw_shooter *e, snw_state *s, snw_work *w) {
    const snw_model *m = e->m;
    s->t = e->t;
    project(e, s->q, s->v);
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    snw_kinematics(m, e->in, s, false, w);
    snw_observe(m, e->in, s, false, w);
    for (int i = 1; i < m->nseg + m->nobs; i++) {
        const snw_seg *seg = &m->seg[i];
        if (seg->kind == SNW_SEG_ROD) {
            const snw_shooter_at f = snw_shooter_look(e, m->seg_x[i]);
            w->g[i] = f.g;
            w->V[i] = f.x.V;
            w->A[i] = f.rate.V;
            w->A[i].v = snw_sub(w->A[i].v, snw_rotate_inv(f.g.R, e->in->gravity));
            continue;
        }
        const int p = seg->parent;
        const snw_twist carried = snw_twist_to_child(w->h[i], w->V[p]);
        w->g[i] = snw_se3_mul(w->g[p], w->h[i]);
        w->V[i] = snw_twist_add(carried, w->u[i]);
        w->A[i] = snw_twist_add(
            snw_twist_sub(snw_twist_to_child(w->h[i], w->A[p]), snw_ad(w->u[i], carried)),
            w->du[i]);
    }
    snw_shooter_show_cords(e, w);
    hold_links(e, w);
}
