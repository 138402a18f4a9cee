// SPDX-License-Identifier: MIT
//
// Fields of a shooter: interpolation between nodes, and initial values from coordinates of the
// model or from another shooter.

#include "shoot/shooter_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "math/se3_tangent.h"

#include <math.h>
#include <string.h>

double snw_shooter_time(const snw_shooter *e) { return e->t; }
void snw_shooter_set_time(snw_shooter *e, double t) { e->t = t; }
const snw_inputs *snw_shooter_inputs(const snw_shooter *e) { return e->in; }

// ---- interpolation ------------------------------------------------------------------------------

// pose within an interval: W(s) cubic, whose derivatives at both ends follow from the strains
static snw_se3 interpolate_pose(const snw_shoot_rod *r, int node, double h, double u, snw_twist xi0,
                                snw_twist xi1) {
    if (u == 0) return r->g[node];
    const snw_twist W = snw_se3_log(snw_se3_mul(snw_se3_inv(r->g[node]), r->g[node + 1]));
    const snw_lower T = snw_se3_tangent_inv(W);
    const snw_twist d1 = snw_lower_apply(&T, xi1);
    const double b = u * u * (3 - 2 * u), c = h * u * (1 - u) * (1 - u), d = -h * u * u * (1 - u);
    snw_twist x;
    for (int i = 0; i < 6; i++) x.e[i] = b * W.e[i] + c * xi0.e[i] + d * d1.e[i];
    return snw_se3_mul(r->g[node], snw_se3_exp(x));
}

static snw_twist shooter_fields_rest_at(const snw_shooter_leg *l, double x) {
    return l->r->uniform ? l->r->section[0].rest : snw_rod_rest(l->rod, x);
}

// up to four nodes about x in a piece, and their Lagrange weights
typedef struct around {
    int piece, node, n, j; // first node, number of nodes; interval of x
    double w[4], u;        // u: position of x in that interval, 0 to 1
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

static snw_shoot_history shooter_fields_weigh(const around *a, const snw_shoot_history *field) {
    snw_shoot_history out = {.e = snw_twist_zero(), .V = snw_twist_zero()};
    for (int l = 0; l < a->n; l++) {
        out.e = snw_twist_axpy(a->w[l], field[a->node + l].e, out.e);
        out.V = snw_twist_axpy(a->w[l], field[a->node + l].V, out.V);
    }
    return out;
}

snw_shoot_history snw_shooter_interpolate(const snw_shoot_rod *r, const snw_shoot_history *field,
                                          double x) {
    const around a = nodes_around(r, x);
    return shooter_fields_weigh(&a, field);
}

snw_shooter_field_values snw_shooter_fields_at(const snw_shooter_leg *l, double x) {
    const snw_shoot_rod *r = l->r;
    const around a = nodes_around(r, x * r->length);
    const snw_shoot_piece *piece = &r->piece[a.piece];
    snw_shooter_field_values out = {.x = shooter_fields_weigh(&a, r->level[0]),
                                    .rate = shooter_fields_weigh(&a, r->rate)};
    for (int k = 0; k < a.n; k++) out.F = snw_wrench_axpy(a.w[k], r->F[a.node + k], out.F);
    const int node = piece->node + a.j;
    const double s = piece->s + a.j * piece->h;
    const snw_twist xi0 = snw_twist_add(shooter_fields_rest_at(l, s), r->level[0][node].e);
    const snw_twist xi1 =
        snw_twist_add(shooter_fields_rest_at(l, s + piece->h), r->level[0][node + 1].e);
    out.g = interpolate_pose(r, node, piece->h, a.u, xi0, xi1);
    return out;
}

snw_twist snw_shooter_strain(const snw_shooter *e, int rod, double x) {
    const snw_shooter_leg *l = &e->leg[rod];
    return snw_twist_add(shooter_fields_rest_at(l, x), snw_shooter_fields_at(l, x / l->rod->L).x.e);
}

snw_wrench snw_shooter_wrench(const snw_shooter *e, int rod, double x) {
    return snw_shooter_fields_at(&e->leg[rod], x / e->leg[rod].rod->L).F;
}

// ---- initial values -----------------------------------------------------------------------------

// elastic strain and, in V, its rate, for the coordinates of s at x of the model's length
static snw_shoot_history strain_from_coordinates(const snw_rod *rod, const snw_state *s, double x) {
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

// Pose and velocity at the end of the interval of length h that begins at x, by the Magnus
// expansion at two Gauss points. Intervals of a variable-length rod grow at the relative rate
// `growth_rate`.
static void shooter_fields_advance(const snw_shooter_leg *l, const snw_state *s, double x, double h,
                                   double growth_rate, snw_se3 *g, snw_twist *V) {
    const double off = 0.5 / sqrt(3), material_per_length = l->rod->L / l->r->length;
    snw_twist xi[2], rate[2];
    for (int k = 0; k < 2; k++) {
        const double at = x + h * (k == 0 ? 0.5 - off : 0.5 + off);
        const snw_shoot_history f = strain_from_coordinates(l->rod, s, material_per_length * at);
        xi[k] = snw_twist_add(shooter_fields_rest_at(l, at), f.e);
        rate[k] = snw_twist_axpy(growth_rate, xi[k], f.V);
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

// K e + B e_t, as an initial guess of the wrench
static snw_wrench shooter_fields_stress(const snw_shoot_rod *r, int point,
                                        const snw_shoot_history *x, snw_twist rate) {
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

static void set_leg_state(snw_shooter_leg *l, const snw_state *s) {
    snw_shoot_rod *r = l->r;
    snw_se3 g = r->base;
    snw_twist V = r->base_V;
    const double material_per_length = l->rod->L / r->length,
                 feed = l->feed < 0 ? 0 : s->v[l->rod->feed];
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j;
            const double x = piece->s + j * piece->h;
            const snw_shoot_history f = strain_from_coordinates(l->rod, s, material_per_length * x);
            // the material slides through the node, theory.md (3.14.2)
            const double sliding_rate = feed * (1 - x / r->length);
            r->V[node] =
                snw_twist_axpy(sliding_rate, snw_twist_add(shooter_fields_rest_at(l, x), f.e), V);
            r->level[0][node] = (snw_shoot_history){.e = f.e, .V = r->V[node]};
            r->rate[node] = (snw_shoot_history){.e = f.V, .V = snw_twist_zero()};
            r->g[node] = g;
            r->F[node] = shooter_fields_stress(r, piece->point + j * r->method->np, &f, f.V);
            if (j < piece->n) shooter_fields_advance(l, s, x, piece->h, feed / r->length, &g, &V);
        }
    }
    snw_shoot_derivatives(r);
    r->free_length_rate = feed;
}

static void set_plate_state(snw_shooter *e, const snw_state *s) {
    snw_platform *p = e->p;
    p->A = snw_twist_zero();
    if (!snw_shooter_free_plate(e)) {
        const snw_shoot_rod *r = e->leg[e->m->slice[e->m->seg[e->plate_seg].item].rod].r;
        p->g = r->g[r->nnode - 1], p->V = r->V[r->nnode - 1];
        return;
    }
    const snw_block *b = &e->m->block[e->m->seg[e->plate_seg].item];
    snw_se3 g;
    snw_twist V, u;
    snw_shooter_driven_pose(e, e->m->seg[e->plate_seg].parent, &g, &V);
    const snw_se3 h = snw_se3_from_numbers(s->q + b->q);
    memcpy(u.e, s->v + b->dof, sizeof u.e);
    p->g = snw_se3_mul(g, h);
    p->V = snw_twist_add(snw_twist_to_child(h, V), u);
}

// weight and loads per length at a node, in its frame
static snw_wrench distributed_wrench(const snw_shoot_rod *r, int node, int point) {
    const snw_inertia *M = &r->section[r->uniform ? 0 : point].M;
    const snw_mat3 R = r->g[node].R;
    const snw_vec3 weight = snw_rotate_inv(R, r->gravity);
    snw_wrench W = {{.m = snw_cross(M->mc, weight), .f = snw_scale(M->m, weight)}};
    if (r->field) {
        snw_wrench F;
        r->field->along(r->field->user, point, &r->g[node], &F, NULL);
        W = snw_wrench_add(W, F);
    }
    if (!r->density) return W;
    const snw_shoot_density *d = &r->density[point];
    W.m = snw_add(W.m, snw_rotate_inv(R, d->torque));
    W.f = snw_add(W.f, snw_rotate_inv(R, d->force));
    return snw_wrench_add(W, d->body);
}

// Wrenches at the nodes of a rod <- resultant of the loads beyond, in the present poses, and of the
// wrench `sum` on the tip. Summed in world axes, moments about the world origin, by the trapezoidal
// rule. Rods on this one come first.
static void integrate_loads(snw_shoot_rod *r, snw_wrench sum) {
    const snw_station_step static_step = {.gravity = r->gravity};
    for (int p = r->npiece - 1; p >= 0; p--) {
        const snw_shoot_piece *piece = &r->piece[p];
        const int end = piece->node + piece->n;
        const snw_shoot_state tip = {.g = r->g[end], .V = snw_twist_zero()};
        snw_wrench W = snw_station_external_wrench(&r->station[p], &static_step, &tip);
        for (int i = 0; i < r->nbranch; i++) {
            const snw_shoot_branch *b = &r->branch[i];
            if (b->piece == p) W = snw_wrench_add(W, snw_wrench_to_parent(b->g, b->F));
        }
        if (r->field) {
            snw_wrench F;
            r->field->at_station(r->field->user, p, &tip.g, &F, NULL);
            W = snw_wrench_add(W, F);
        }
        sum = snw_wrench_add(sum, snw_wrench_to_parent(r->g[end], W));
        for (int j = piece->n; j >= 0; j--) {
            const int node = piece->node + j, point = piece->point + j * r->method->np;
            const snw_wrench half = snw_wrench_scale(
                0.5 * piece->h,
                snw_wrench_to_parent(r->g[node], distributed_wrench(r, node, point)));
            if (j < piece->n) sum = snw_wrench_add(sum, half);
            r->F[node] = snw_wrench_to_child(r->g[node], sum);
            if (j > 0) sum = snw_wrench_add(sum, half);
        }
    }
}

// Wrench of the plate on the tip of a leg by the multipliers of its loop in w; world axes, moments
// about the world origin.
static snw_wrench loop_wrench_on_tip(const snw_shooter *e, int leg, const snw_work *w) {
    const int i = e->leg[leg].loop;
    const snw_wrench on_b =
        snw_wrench_to_parent(snw_loop_pose(e->m, w, i), snw_loop_known_wrench(e->m, w, i));
    const bool tip_is_b = snw_shooter_attachment_of(e, e->m->loop[i].b).leg == leg;
    return tip_is_b ? on_b : snw_wrench_scale(-1, on_b);
}

// The same for the leg that carries the plate: loads of the plate less its wrenches on the other
// legs.
static snw_wrench plate_wrench_on_tip(const snw_shooter *e, const snw_work *w) {
    const snw_station_step static_step = {.gravity = e->p->gravity};
    const snw_shoot_state plate = {.g = e->p->g, .V = snw_twist_zero()};
    const snw_wrench W = snw_station_external_wrench(&e->p->plate, &static_step, &plate);
    snw_wrench sum = snw_wrench_to_parent(plate.g, W);
    for (int i = 0; i < e->nleg; i++) {
        if (e->leg[i].loop >= 0) sum = snw_wrench_sub(sum, loop_wrench_on_tip(e, i, w));
    }
    return sum;
}

void snw_shooter_guess(snw_shooter *e, const snw_state *s, const snw_work *w) {
    snw_shooter_set_state(e, s);
    for (int i = e->nleg - 1; i >= 0; i--) {
        snw_wrench tip = snw_wrench_zero();
        if (e->p)
            tip = e->leg[i].loop >= 0 ? loop_wrench_on_tip(e, i, w) : plate_wrench_on_tip(e, w);
        integrate_loads(e->leg[i].r, tip);
        if (e->leg[i].parent >= 0) snw_shooter_branch(e, i)->F = e->leg[i].r->F[0];
    }
}

void snw_shooter_set_state(snw_shooter *e, const snw_state *s) {
    e->t = s->t;
    snw_shooter_apply_inputs(e, s->t, 1);
    for (int i = 0; i < e->nleg; i++) {
        if (e->tree) snw_tree_carry(e->tree, i);
        set_leg_state(&e->leg[i], s);
        e->leg[i].stable_signature = 0; // these fields may be far from the previous ones
    }
    if (e->p) set_plate_state(e, s);
    snw_shooter_set_tendon_state(e);
    snw_shooter_restart(e, false, 1);
}

static bool same_grid(const snw_shooter_grid *a, const snw_shooter_grid *b) {
    bool same = a->npiece == b->npiece;
    for (int i = 0; same && i < a->npiece; i++) {
        same = a->intervals[i] == b->intervals[i] && a->length[i] == b->length[i];
    }
    return same;
}

static void copy_leg(snw_shooter_leg *l, const snw_shooter_leg *other) {
    snw_shoot_rod *r = l->r;
    const snw_shoot_rod *from = other->r;
    const bool same = same_grid(&l->grid, &other->grid);
    const bool copy_d1 =
        same && snw_shoot_integrates_strain(r) && snw_shoot_integrates_strain(from);
    r->free_length_rate = from->free_length_rate;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = piece->node; j <= piece->node + piece->n; j++) {
            if (same) {
                r->level[0][j] = from->level[0][j];
                r->rate[j] = from->rate[j];
                r->g[j] = from->g[j];
                r->F[j] = from->F[j];
            } else {
                const double x = piece->s + (j - piece->node) * piece->h;
                // the last node of a piece takes the value before the jump
                const double back = j == piece->node + piece->n ? 1e-12 : 0;
                const snw_shooter_field_values at =
                    snw_shooter_fields_at(other, x / r->length - back);
                r->level[0][j] = at.x;
                r->rate[j] = at.rate;
                r->g[j] = at.g;
                r->F[j] = at.F;
            }
            r->V[j] = r->level[0][j].V;
            if (copy_d1)
                r->strain_d1[0][j] = from->strain_d1[0][j],
                r->strain_d1_rate[j] = from->strain_d1_rate[j];
        }
    }
    if (!copy_d1) snw_shoot_derivatives(r);
}

// take the grids of another shooter; the fields are set afterwards
static snw_status copy_grids(snw_shooter *e, const snw_shooter *other, snw_error *err) {
    bool alike = e->step->shooting.error > 0 && other->step->shooting.error > 0;
    for (int i = 0; i < e->nleg && alike; i++) {
        alike = e->leg[i].grid.npiece == other->leg[i].grid.npiece &&
                e->leg[i].grid.nspan == other->leg[i].grid.nspan;
    }
    if (!alike) return SNW_OK;
    snw_shooter_destroy_rods(e);
    for (int i = 0; i < e->nleg; i++) e->leg[i].grid = other->leg[i].grid;
    return snw_shooter_build(e, err);
}

snw_status snw_shooter_copy_fields(snw_shooter *e, const snw_shooter *other, snw_error *err) {
    SNW_TRY(copy_grids(e, other, err));
    e->t = other->t, e->t_laws = other->t_laws;
    snw_shooter_apply_inputs(e, other->t, 1);
    for (int i = 0; i < e->nleg; i++) copy_leg(&e->leg[i], &other->leg[i]);
    if (e->p) e->p->g = other->p->g, e->p->V = other->p->V, e->p->A = other->p->A;
    snw_shooter_copy_tendons(e, other);
    snw_shooter_restart(e, false, 1);
    return SNW_OK;
}
