// SPDX-License-Identifier: MIT
//
// Results of a shooter in the model's terms: energies and powers, coordinates nearest to the
// fields, poses and velocities of segments, wrenches on links, multipliers of loops and drives.

#include "shoot/shooter_private.h"

#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// ---- energies and powers ------------------------------------------------------------------------

snw_shoot_energy snw_shooter_energy(const snw_shooter *e) {
    snw_shoot_energy sum = {0, 0, 0};
    if (e->p) sum = snw_station_energies(&e->p->plate, e->p->gravity, e->p->g, e->p->V);
    for (int i = 0; i < e->nleg; i++) {
        const snw_shoot_energy E = snw_shoot_energies(e->leg[i].r);
        sum.kinetic += E.kinetic, sum.elastic += E.elastic, sum.gravity += E.gravity;
    }
    double ignored;
    sum.elastic += snw_shooter_fields_energy(e, &ignored);
    return sum;
}

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

// elastic energy per length at the base, J/m
static double elastic_density_at_base(const snw_shoot_rod *r) {
    const snw_twist e = r->level[0][0].e;
    double sum = 0;
    for (int i = 0; i < 36; i++) sum += 0.5 * r->K[i] * e.e[i / 6] * e.e[i % 6];
    return sum;
}

// Driving force of the free length, N. Per length fed, the part outside moves by the strain at the
// base, and new material takes the elastic energy of the strain there (theory.md 3.14, M^2/2EI).
static double feed_effort(const snw_shooter_leg *l) {
    const snw_shoot_rod *r = l->r;
    const snw_twist xi = snw_twist_add(r->section[0].rest, r->level[0][0].e);
    return elastic_density_at_base(r) - snw_power(r->F[0], xi);
}

// power of the drive of a variable-length rod, with the energy of the new material
static double feed_power(const snw_shooter_leg *l) {
    const snw_shoot_rod *r = l->r;
    if (l->feed < 0) return 0;
    const snw_shoot_station base_section = {.has_body = true, .M = r->section[0].M};
    const snw_shoot_energy E =
        snw_station_energies(&base_section, r->gravity, r->g[0], r->level[0][0].V);
    return r->free_length_rate * (feed_effort(l) + E.kinetic + E.gravity);
}

static void leg_powers(const snw_shooter *e, int leg, double *power, double *heat) {
    const snw_shooter_leg *l = &e->leg[leg];
    const snw_shoot_rod *r = l->r;
    // of the prescribed motion of the base; what a carried rod takes from another one cancels
    const snw_twist V = l->parent < 0 ? r->base_V : snw_shooter_branch(e, leg)->u;
    *power += feed_power(l) - snw_power(r->F[0], V);
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j, point = piece->point + j * r->method->np;
            const double w = snw_shoot_weight(r, piece, j);
            const snw_shoot_history *x = &r->level[0][node];
            if (r->density) *power += w * density_power(&r->density[point], r->g[node], x->V);
            *heat += w * heat_at(r, point, x, &r->rate[node]);
        }
        const int end = piece->node + piece->n;
        for (int i = 0; i < r->station[p].nload; i++) {
            *power += power_of(&r->station[p].load[i], r->g[end], r->level[0][end].V);
        }
    }
}

void snw_shooter_powers(snw_shooter *e) {
    double heat = snw_shooter_tendons_heat(e), power = snw_shooter_tendons_power(e) + heat, fields;
    (void)snw_shooter_fields_energy(e, &fields);
    power += fields;
    for (int i = 0; i < e->nleg; i++) leg_powers(e, i, &power, &heat);
    for (int i = 0; e->p && i < e->p->plate.nload; i++) {
        power += power_of(&e->p->plate.load[i], e->p->g, e->p->V);
    }
    e->power = power;
    e->heat = heat;
}

// ---- coordinates --------------------------------------------------------------------------------

// coordinates and velocities nearest to the fields: least squares by the bases' Gram matrices
static void project_fields(const snw_model *m, const snw_shooter_leg *l, double *q, double *v) {
    const snw_rod *rod = l->rod;
    memset(q + rod->dof0 + rod->shift, 0, (size_t)rod->ndof * sizeof *q);
    memset(v + rod->dof0, 0, (size_t)rod->ndof * sizeof *v);
    for (int p = rod->point0; p < rod->point0 + rod->npoint; p++) {
        const snw_point *pt = &m->point[p];
        const snw_shooter_field_values f = snw_shooter_fields_at(l, pt->x / rod->L);
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
    const double *G = l->G;
    for (int a = 0; a < rod->na; a++) {
        snw_cholesky_solve(rod->nfun[a], G, q + rod->dof[a] + rod->shift);
        snw_cholesky_solve(rod->nfun[a], G, v + rod->dof[a]);
        G += (ptrdiff_t)rod->nfun[a] * rod->nfun[a];
    }
}

static void compute_coordinates(const snw_shooter *e, snw_state *s) {
    const snw_model *m = e->m;
    s->t = e->t;
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    for (int i = 0; i < e->nleg; i++) project_fields(m, &e->leg[i], s->q, s->v);
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row < 0) continue;
        s->q[m->drive[i].q] = e->in->drive[i].v;
        s->v[m->drive[i].dof] = e->in->drive[i].d;
        s->a[m->drive[i].dof] = e->in->drive[i].dd;
    }
    if (!snw_shooter_free_plate(e)) return;
    const snw_block *b = &m->block[m->seg[e->plate_seg].item];
    snw_se3 g;
    snw_twist V;
    snw_shooter_driven_pose(e, m->seg[e->plate_seg].parent, &g, &V);
    const snw_se3 h = snw_se3_mul(snw_se3_inv(g), e->p->g);
    V = snw_twist_sub(e->p->V, snw_twist_to_child(h, V));
    snw_se3_to_numbers(h, s->q + b->q);
    memcpy(s->v + b->dof, V.e, sizeof V.e);
    memcpy(s->a + b->dof, e->p->A.e, sizeof V.e);
}

// ---- poses --------------------------------------------------------------------------------------

static void compute_motion(const snw_shooter *e, snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 1; i < m->nseg + m->nobs; i++) {
        const snw_seg *seg = &m->seg[i];
        if (seg->kind == SNW_SEG_ROD) {
            const snw_shooter_leg *l = &e->leg[m->slice[seg->item].rod];
            const snw_shooter_field_values f = snw_shooter_fields_at(l, m->seg_x[i] / l->rod->L);
            w->g[i] = f.g;
            w->V[i] = f.x.V;
            w->A[i] = f.rate.V;
            w->A[i].v = snw_sub(w->A[i].v, snw_rotate_inv(f.g.R, e->in->gravity));
            continue;
        }
        if (seg->kind == SNW_SEG_FREE) {
            w->g[i] = e->p->g;
            w->V[i] = e->p->V;
            w->A[i] = e->p->A;
            w->A[i].v = snw_sub(w->A[i].v, snw_rotate_inv(e->p->g.R, e->in->gravity));
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
}

// ---- wrenches and multipliers -------------------------------------------------------------------

// multipliers of the loop at a leg's tip: coefficients of the constraint wrenches on b that give
// the wrench through the joint
static void compute_loop_multipliers(const snw_shooter *e, int leg, snw_work *w) {
    const snw_model *m = e->m;
    const int i = e->leg[leg].loop;
    const snw_loop *loop = &m->loop[i];
    const snw_leg *end = &e->p->leg[leg];
    const snw_shoot_rod *r = e->leg[leg].r;
    const snw_se3 tip = r->g[r->nnode - 1];
    const snw_se3 from_b = snw_se3_mul(snw_se3_inv(w->g[loop->b]), tip);
    snw_wrench on_b = snw_wrench_to_parent(from_b, end->tip_wrench);
    if (snw_shooter_attachment_of(e, loop->b).leg != leg) on_b = snw_wrench_scale(-1, on_b);
    snw_wrench row[6];
    double A[36], *lambda = w->lambda + loop->row;
    for (int k = 0; k < loop->nrow; k++) {
        row[k] = snw_wrench_to_child(w->g[loop->b], snw_loop_row(m, w, i, k));
        lambda[k] = 0;
        for (int c = 0; c < 6; c++) lambda[k] += row[k].e[c] * on_b.e[c];
        for (int j = 0; j <= k; j++) {
            A[k * loop->nrow + j] = 0;
            for (int c = 0; c < 6; c++) A[k * loop->nrow + j] += row[k].e[c] * row[j].e[c];
            A[j * loop->nrow + k] = A[k * loop->nrow + j];
        }
    }
    if (snw_cholesky_factor(loop->nrow, A) == SNW_OK) snw_cholesky_solve(loop->nrow, A, lambda);
}

// applied wrench on segment i, in its body frame
static snw_wrench applied_wrench(const snw_model *m, const snw_inputs *in, const snw_work *w,
                                 int i) {
    snw_wrench sum = snw_wrench_zero();
    for (int k = m->load_point_of_seg[i]; k < m->load_point_of_seg[i + 1]; k++) {
        snw_wrench F = in->load[k];
        if (!m->load[m->load_point[k].load].body) {
            F.m = snw_rotate_inv(w->g[i].R, F.m);
            F.f = snw_rotate_inv(w->g[i].R, F.f);
        }
        sum = snw_wrench_add(sum, F);
    }
    return sum;
}

// wrench of fields on segment i: on its body, and on a dipole that it carries
static snw_wrench field_wrench(const snw_model *m, const snw_work *w, int i) {
    snw_wrench sum = snw_wrench_zero();
    for (int k = 0; k < m->nforce_field_point; k++) {
        const snw_force_field_point *p = &m->force_field_point[k];
        if (p->seg == i) sum = snw_wrench_add(sum, w->force_field[k].on[0]);
        if (m->force_field[p->field].carrier == i)
            sum = snw_wrench_add(sum, w->force_field[k].on[1]);
    }
    return sum;
}

// w->F -= wrenches of the loops on their segments
static void subtract_loop_wrenches(const snw_shooter *e, snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 0; i < m->nloop; i++) {
        const int a = m->loop[i].a, b = m->loop[i].b;
        const snw_wrench F = snw_loop_known_wrench(m, w, i);
        const snw_se3 h = snw_se3_mul(snw_se3_inv(w->g[a]), w->g[b]);
        w->F[b] = snw_wrench_sub(w->F[b], F);
        w->F[a] = snw_wrench_add(w->F[a], snw_wrench_to_parent(h, F));
    }
}

// w->F <- wrenches by which parents carry links without rods, from the leaves to the root
static void compute_link_wrenches(const snw_shooter *e, snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 1; i < m->nseg; i++) w->F[i] = snw_wrench_zero();
    if (e->p) subtract_loop_wrenches(e, w);
    for (int i = m->nseg - 1; i > 0; i--) {
        if (m->seg[i].kind == SNW_SEG_ROD) continue;
        snw_wrench F = snw_wrench_sub(w->F[i], applied_wrench(m, e->in, w, i));
        F = snw_wrench_sub(F, field_wrench(m, w, i));
        if (m->seg[i].has_mass) {
            F = snw_wrench_add(F, snw_inertia_apply(&m->seg[i].M, w->A[i]));
            F = snw_wrench_sub(F, snw_ad_pull(w->V[i], snw_inertia_apply(&m->seg[i].M, w->V[i])));
        }
        for (int k = 0; k < e->nleg; k++) {
            if (i == e->leg[k].rod->root) F = snw_wrench_sub(F, e->leg[k].r->F[0]);
        }
        w->F[i] = F;
        const int parent = m->seg[i].parent;
        if (parent > 0 && m->seg[parent].kind != SNW_SEG_ROD) {
            w->F[parent] = snw_wrench_add(w->F[parent], snw_wrench_to_parent(w->h[i], F));
        }
    }
}

// multipliers of the drives: their efforts
static void compute_drive_efforts(const snw_shooter *e, snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 1; i < m->nseg; i++) {
        if (m->seg[i].kind != SNW_SEG_SCREW) continue;
        const snw_block *b = &m->block[m->seg[i].item];
        const int drive = snw_shooter_drive(m, b->dof);
        double effort = snw_power(w->F[i], b->S);
        for (int k = 0; b->feed && k < e->nleg; k++) {
            if (i == e->leg[k].rod->root) effort = feed_effort(&e->leg[k]);
        }
        w->lambda[m->drive[drive].row] = effort;
    }
}

void snw_shooter_get_state(const snw_shooter *e, snw_state *s, snw_work *w) {
    const snw_model *m = e->m;
    compute_coordinates(e, s);
    snw_kinematics(m, e->in, s, false, w);
    snw_observe(m, e->in, s, false, w);
    compute_motion(e, w);
    if (m->nforce_field_point > 0) snw_force_fields_motion(m, e->in, w);
    snw_shooter_get_tendons(e, w);
    for (int i = 0; i < m->nconstraint; i++) w->lambda[i] = s->lambda[i];
    for (int i = 0; i < e->nleg; i++) {
        if (e->leg[i].loop >= 0) compute_loop_multipliers(e, i, w);
    }
    compute_link_wrenches(e, w);
    compute_drive_efforts(e, w);
    for (int i = 0; i < m->nconstraint; i++) s->lambda[i] = w->lambda[i];
}
