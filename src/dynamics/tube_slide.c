// SPDX-License-Identifier: MIT
//
// Concentric tubes that slide in each other: pieces, inertia at the nodes, elastic and damping
// forces of the rods, energies, theory.md (3.19.5).

#include "dynamics/tube_slide.h"

#include "base/fail.h"
#include "dynamics/jacobian_column.h"
#include "dynamics/passing.h"
#include "model/tube_layout.h"

#include <math.h>
#include <stdio.h>

// ---- pieces -------------------------------------------------------------------------------------

// Shortest piece in a motion, relative to the whole: shorter ones would need other strains.
static const double LEAST = 1e-3;

// Is this a possible growth of piece k? It is not to vanish, and one that has no length keeps it.
// `beyond`, relative to the whole: laws are evaluated a little before and behind an instant.
static bool is_possible(const snw_tube_piece *p, double growth, double beyond) {
    if (p->is_short) return fabs(growth) <= (SNW_TUBES_SHORT + beyond) * p->whole;
    return growth == 0 || p->to - p->from + growth >= (LEAST - beyond) * p->whole;
}

// Does the bend of a tube stay behind the exit, if it was there?
static bool stays_hidden(const snw_tube *tube, double slide, double beyond) {
    return !(tube->hidden > 0 && slide > tube->hidden + beyond * tube->length);
}

static const double BEYOND = 1e-9;

void snw_tube_pieces_motion(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w) {
    for (int i = 0; i < m->ntube; i++) {
        w->tube_slide[i] = in->slide[i];
        if (is_static) w->tube_slide[i].d = w->tube_slide[i].dd = 0;
    }
    for (int k = 0; k < m->ntube_piece; k++) {
        const snw_tube_piece *p = &m->tube_piece[k];
        snw_tube_piece_work *at = &w->tube_piece[k];
        const double h = p->to - p->from;
        for (int j = 0; j < 2; j++)
            at->end[j] = p->carrier[j] < 0 ? (snw_jet){0} : w->tube_slide[p->carrier[j]];
        at->ratio =
            (snw_jet){1 + (at->end[1].v - at->end[0].v) / h, (at->end[1].d - at->end[0].d) / h,
                      (at->end[1].dd - at->end[0].dd) / h};
        // no motion is found with such lengths, and snw_tubes_check tells why
        if (!is_possible(p, at->end[1].v - at->end[0].v, BEYOND)) at->ratio.v = NAN;
    }
    for (int i = 0; i < m->ntube; i++) {
        if (m->tube[i].base_piece && !stays_hidden(&m->tube[i], in->slide[i].v, BEYOND))
            w->tube_piece[m->tube[i].base_piece - 1].ratio.v = NAN;
    }
}

void snw_tube_speed(const snw_model *m, const snw_work *w, int piece, double fraction, int tube,
                    double *speed, double *rate) {
    const snw_jet *end = w->tube_piece[piece].end, *slide = &w->tube_slide[tube];
    const double f = fraction, g = 1 - fraction;
    *speed = *rate = 0;
    if (m->tube_piece[piece].is_short) return;
    *speed = slide->d - g * end[0].d - f * end[1].d;
    *rate = slide->dd - g * end[0].dd - f * end[1].dd;
}

// ---- inertia ------------------------------------------------------------------------------------

void snw_tube_nodes_motion(const snw_model *m, const snw_state *s, bool is_static, snw_work *w) {
    for (int k = 0; k < m->ntube_node; k++) {
        const snw_tube_node *n = &m->tube_node[k];
        const snw_rod *rod = &m->rod[n->rod];
        const double *phi = m->tube_phi + n->phi, *d1 = m->tube_phi + n->phi_d1;
        snw_tube_node_work *at = &w->tube_node[k];
        *at = (snw_tube_node_work){.xi = n->xi0};
        for (int a = 0; a < rod->na; phi += n->count[a], d1 += n->count[a], a++) {
            const int dof = rod->dof[a] + n->first[a], e = rod->comp[a];
            for (int j = 0; j < n->count[a]; j++) {
                const double q = s->q[dof + rod->shift + j];
                at->xi.e[e] += phi[j] * q;
                at->xi_d1.e[e] += d1[j] * q;
                if (!is_static) at->dxi.e[e] += phi[j] * s->v[dof + j];
            }
        }
        at->xi_d1 = snw_twist_scale(1 / w->tube_piece[n->piece].ratio.v, at->xi_d1);
    }
}

// Motion of the material of one tube at a node: speed along the node, its rate; twist and rate.
typedef struct material {
    double speed, rate;
    snw_twist V, A;
    snw_twist change; // convective part of A: A less the rate of V at the node
} material;

static material material_at(const snw_model *m, const snw_work *w, int k, int tube) {
    const snw_tube_node *n = &m->tube_node[k];
    const snw_tube_node_work *at = &w->tube_node[k];
    material x = {.V = w->V[n->seg], .A = w->A[n->seg]};
    snw_tube_speed(m, w, n->piece, n->fraction, tube, &x.speed, &x.rate);
    if (x.speed == 0 && x.rate == 0) return x;
    const snw_twist turned = snw_ad(w->V[n->seg], at->xi);
    for (int i = 0; i < 6; i++) {
        x.change.e[i] = x.speed * (at->dxi.e[i] + turned.e[i]) + x.speed * x.speed * at->xi_d1.e[i];
        x.V.e[i] += x.speed * at->xi.e[i];
        x.A.e[i] += x.rate * at->xi.e[i] + x.speed * at->dxi.e[i] + x.change.e[i];
    }
    return x;
}

// Wrench that the mass of one tube requires, for the lengths of the layout.
static snw_wrench inertia_wrench(const snw_inertia *M, const material *x, bool is_static) {
    const snw_wrench F = snw_inertia_apply(M, x->A);
    if (is_static) return F;
    return snw_wrench_sub(F, snw_ad_pull(x->V, snw_inertia_apply(M, x->V)));
}

snw_wrench snw_tube_node_wrench(const snw_model *m, const snw_work *w, int k) {
    const snw_tube_node *n = &m->tube_node[k];
    snw_wrench F = {0};
    for (int i = n->mass0; i < n->mass0 + n->nmass; i++) {
        const material x = material_at(m, w, k, m->tube_mass[i].tube);
        F = snw_wrench_add(F, inertia_wrench(&m->tube_mass[i].M, &x, w->is_static));
    }
    return snw_wrench_scale(w->tube_piece[n->piece].ratio.v, F);
}

void snw_tube_node_tangent(const snw_model *m, snw_work *w, int i, double cq, double cv, double ca,
                           double *WJ) {
    const int k = m->seg[i].tube_node - 1;
    const snw_tube_node *n = &m->tube_node[k];
    const snw_rod *rod = &m->rod[n->rod];
    const snw_path *path = &m->path[m->seg[i].path];
    const size_t at = (size_t)m->seg_store[i];
    const int ld = path->ld, own = path->n - rod->ndof;
    double *vel = w->variable_part, *acc = vel + 6 * (size_t)m->most_variable_columns;
    const double ratio = w->tube_piece[n->piece].ratio.v;
    for (int part = n->mass0; part < n->mass0 + n->nmass; part++) {
        const snw_inertia *M = &m->tube_mass[part].M;
        const material x = material_at(m, w, k, m->tube_mass[part].tube);
        const snw_wrench P = snw_inertia_apply(M, x.V);
        const snw_passing p = {.V = w->V[i].e,
                               .A = w->A[i].e,
                               .xi = w->tube_node[k].xi.e,
                               .speed = x.speed,
                               .rate = x.rate,
                               .gradient = x.speed * x.speed / ratio,
                               .is_static = w->is_static,
                               .cq = cq,
                               .cv = cv,
                               .ca = ca};
        snw_passing_columns(&p, path->n, ld, w->J + at, w->dJ + at, w->ddJ + at, vel, acc);
        snw_passing_strain_columns(&p, rod, n->first, n->count, m->tube_phi + n->phi,
                                   m->tube_phi + n->phi_d1, own, ld, vel, acc);
        for (int j = 0; j < path->n; j++) {
            col force = col_inertia(M, col_load(acc, ld, j));
            if (!w->is_static) {
                const col v = col_load(vel, ld, j);
                force = col_plus(force, col_minus(col_minus_ad_pull(x.V.e, col_inertia(M, v)),
                                                  col_coad(P.e, v)));
            }
            col_store(WJ, ld, j, col_plus(col_load(WJ, ld, j), col_times(ratio, force)));
        }
    }
}

double snw_tube_node_kinetic(const snw_model *m, const snw_work *w, int k) {
    const snw_tube_node *n = &m->tube_node[k];
    double sum = 0;
    for (int i = n->mass0; i < n->mass0 + n->nmass; i++) {
        const snw_twist V = material_at(m, w, k, m->tube_mass[i].tube).V;
        sum += snw_power(snw_inertia_apply(&m->tube_mass[i].M, V), V);
    }
    return w->tube_piece[n->piece].ratio.v * sum;
}

snw_wrench snw_tube_node_momentum(const snw_model *m, const snw_work *w, int k) {
    const snw_tube_node *n = &m->tube_node[k];
    snw_wrench P = {0};
    for (int i = n->mass0; i < n->mass0 + n->nmass; i++) {
        const snw_twist V = material_at(m, w, k, m->tube_mass[i].tube).V;
        P = snw_wrench_add(P, snw_inertia_apply(&m->tube_mass[i].M, V));
    }
    return snw_wrench_scale(w->tube_piece[n->piece].ratio.v, P);
}

// ---- rods ---------------------------------------------------------------------------------------

// Damping of the strains of a tube, by component, N m^2 s.
static double tube_viscosity(const snw_tube *tube, int component) {
    return tube->damping * (component == SNW_TWIST ? tube->torsion : tube->k);
}

// Elastic and damping forces of a rod in addition to K q and D v: the matrices of each piece grow
// with its length.
static void grow_rod(const snw_model *m, const snw_rod *rod, const snw_state *s, bool is_static,
                     snw_work *w) {
    const int n = rod->ndof;
    const double *q = s->q + rod->dof0 + rod->shift, *v = s->v + rod->dof0;
    snw_tube_account *sum = w->tube_account;
    for (int i = 0; i < n; i++) {
        const double *K = rod->K + (size_t)i * (size_t)n, *D = rod->D + (size_t)i * (size_t)n;
        const snw_jet f = w->tube_piece[m->tube_dof_piece[rod->dof0 + i] - 1].ratio;
        double Kq = 0, Dv = 0;
        for (int j = 0; j < n; j++) Kq += K[j] * q[j];
        w->tube_elastic[rod->dof0 + i] += (f.v - 1) * Kq;
        sum->energy += 0.5 * (f.v - 1) * q[i] * Kq;
        if (is_static) continue;
        for (int j = 0; j < n; j++) Dv += D[j] * v[j];
        w->tube_viscous[rod->dof0 + i] += (f.v - 1) * Dv;
        sum->rate += (f.v - 1) * v[i] * Kq + 0.5 * f.d * q[i] * Kq;
        sum->power += 0.5 * f.d * q[i] * Kq;
        sum->heat += (f.v - 1) * v[i] * Dv;
    }
}

// Damping of the strain rates c dxi/ds that material has because it passes a point.
static void carry_strains(const snw_model *m, const snw_tube_damping *at, const snw_state *s,
                          snw_work *w) {
    const snw_rod *rod = &m->rod[at->rod];
    const snw_point *p = &m->point[at->point];
    const double *phi = m->phi + p->phi, *d1 = m->tube_phi + at->phi_d1;
    const double ratio = w->tube_piece[at->piece].ratio.v;
    double speed, unused;
    snw_tube_speed(m, w, at->piece, at->fraction, rod->tube - 1, &speed, &unused);
    if (speed == 0) return;
    for (int a = 0; a < rod->na; phi += p->count[a], d1 += p->count[a], a++) {
        const int dof = rod->dof[a] + p->first[a];
        const double d = p->w * tube_viscosity(&m->tube[rod->tube - 1], rod->comp[a]);
        double rate = 0, carried = 0;
        for (int j = 0; j < p->count[a]; j++) {
            rate += phi[j] * s->v[dof + j];
            carried += speed * d1[j] * s->q[dof + rod->shift + j];
        }
        for (int j = 0; j < p->count[a]; j++) w->tube_viscous[dof + j] += d * carried * phi[j];
        const double power = d * (rate + carried / ratio) * carried;
        w->tube_account->power += power;
        w->tube_account->heat += power + d * rate * carried;
    }
}

void snw_tube_rods_motion(const snw_model *m, const snw_state *s, bool is_static, snw_work *w) {
    *w->tube_account = (snw_tube_account){0};
    for (int i = 0; i < m->nv; i++) w->tube_elastic[i] = w->tube_viscous[i] = 0;
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].tube) grow_rod(m, &m->rod[r], s, is_static, w);
    }
    for (int k = 0; !is_static && k < m->ntube_damping; k++)
        carry_strains(m, &m->tube_damping[k], s, w);
}

void snw_tube_rods_tangent(const snw_model *m, double cq, double cv, const snw_work *w, size_t ld,
                           double *T) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const size_t n = (size_t)rod->ndof, at = (size_t)rod->dof0;
        for (size_t i = 0; rod->tube && i < n; i++) {
            const double f = w->tube_piece[m->tube_dof_piece[rod->dof0 + (int)i] - 1].ratio.v - 1;
            const double damped = w->is_static ? 0 : cv;
            for (size_t j = 0; j < n; j++)
                T[(at + j) * ld + at + i] +=
                    f * (cq * rod->K[i * n + j] + damped * rod->D[i * n + j]);
        }
    }
    for (int k = 0; !w->is_static && cq != 0 && k < m->ntube_damping; k++) {
        const snw_tube_damping *at = &m->tube_damping[k];
        const snw_rod *rod = &m->rod[at->rod];
        const snw_point *p = &m->point[at->point];
        const double *phi = m->phi + p->phi, *d1 = m->tube_phi + at->phi_d1;
        double speed, unused;
        snw_tube_speed(m, w, at->piece, at->fraction, rod->tube - 1, &speed, &unused);
        for (int a = 0; a < rod->na; phi += p->count[a], d1 += p->count[a], a++) {
            const size_t dof = (size_t)(rod->dof[a] + p->first[a]);
            const double d =
                cq * speed * p->w * tube_viscosity(&m->tube[rod->tube - 1], rod->comp[a]);
            for (int j = 0; j < p->count[a]; j++) {
                double *column = T + (dof + (size_t)j) * ld + dof;
                for (int i = 0; i < p->count[a]; i++) column[i] += d * d1[j] * phi[i];
            }
        }
    }
}

// ---- energy -------------------------------------------------------------------------------------

// Power of the growing lengths of a slice that transmits F.
static double growth_power(const snw_model *m, const snw_work *w, int i) {
    const snw_seg *seg = &m->seg[i];
    const snw_slice *sl = &m->slice[seg->item];
    const snw_slice_work *sw = &w->slice[seg->item];
    const snw_rod *rod = &m->rod[sl->rod];
    const snw_jet f = w->tube_piece[sl->piece - 1].ratio;
    snw_wrench p[SNW_MAGNUS_POINTS];
    double power = 0;
    if (sl->h == 0 || f.d == 0) return 0;
    snw_rule_pull(&rod->rule, sl->h, sw->xi, snw_lower_pull(&sw->T, w->F[i]), p);
    for (int k = 0; k < rod->nc; k++) power += f.d / f.v * snw_power(p[k], sw->xi[k]);
    return power;
}

double snw_tubes_drive_power(const snw_model *m, const snw_work *w) {
    double power = w->tube_account->power;
    for (int i = 1; i < m->nseg; i++) {
        if (m->seg[i].kind == SNW_SEG_ROD && m->slice[m->seg[i].item].piece)
            power += growth_power(m, w, i);
    }
    for (int k = 0; k < m->ntube_node; k++) {
        const snw_tube_node *n = &m->tube_node[k];
        for (int i = n->mass0; i < n->mass0 + n->nmass; i++) {
            const material x = material_at(m, w, k, m->tube_mass[i].tube);
            power += w->tube_piece[n->piece].ratio.v * x.speed *
                     snw_power(inertia_wrench(&m->tube_mass[i].M, &x, false), w->tube_node[k].xi);
        }
    }
    for (int k = 0; k < m->ntube_point; k++) {
        const snw_tube_point_work *at = &w->tube_point[k];
        const int piece = m->tube_point[k].piece - 1;
        if (piece < 0) continue;
        const snw_jet f = w->tube_piece[piece].ratio;
        power += f.d / f.v * at->energy;
        for (int i = 0; i < 3; i++) {
            power += at->elastic[i] * at->grown[i];
            power += at->viscous[i] * (at->grown[i] + at->carried[i]);
        }
    }
    return power;
}

double snw_tubes_inflow(const snw_model *m, const snw_inputs *in, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ntube_node; k++) {
        const snw_tube_node *n = &m->tube_node[k];
        const snw_jet f = w->tube_piece[n->piece].ratio;
        const snw_se3 *g = &w->g[n->seg];
        const snw_twist up = {{.v = snw_rotate_inv(g->R, snw_scale(-1, in->gravity))}};
        for (int i = n->mass0; i < n->mass0 + n->nmass; i++) {
            const snw_inertia *M = &m->tube_mass[i].M;
            const material x = material_at(m, w, k, m->tube_mass[i].tube);
            const snw_wrench P = snw_inertia_apply(M, x.V);
            const double here = 0.5 * snw_power(P, x.V) - M->m * snw_dot(in->gravity, g->p);
            sum += f.d * here;
            sum -= f.v * (snw_power(P, x.change) +
                          x.speed * snw_power(snw_inertia_apply(M, up), w->tube_node[k].xi));
        }
    }
    return sum;
}

// ---- limits -------------------------------------------------------------------------------------

static snw_status slide_fail(const snw_model *m, int tube, snw_error *err, snw_status s) {
    const snw_source_location at = m->tube[tube].location;
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

// text <- the place at an end of a piece in words.
static void name_place(const snw_model *m, const snw_tube_piece *p, int end, char *text,
                       size_t size) {
    const int i = p->carrier[end];
    const snw_tube *tube = &m->tube[i < 0 ? p->first : i];
    const double at = end ? p->to : p->from;
    if (i < 0) {
        (void)snprintf(text, size, "the exit");
    } else {
        const bool base = at < 0, tip = fabs(at - tube->length) <= fabs(at - tube->straight);
        (void)snprintf(text, size, "the %s of tube '%s'",
                       base  ? "base"
                       : tip ? "end"
                             : "bend",
                       tube->name);
    }
}

snw_status snw_tubes_check(const snw_model *m, const snw_inputs *in, double t, snw_error *err) {
    static const char stages[] = "; in a motion pieces neither appear nor vanish: end the step "
                                 "before, and go on behind that place with a change";
    for (int i = 0; m->ntube_piece && i < m->ntube; i++) {
        const snw_tube *tube = &m->tube[i];
        if (!isfinite(in->slide[i].v) || !isfinite(in->slide[i].d) || !isfinite(in->slide[i].dd))
            return slide_fail(m, i, err,
                              snw_fail(err, SNW_E_DIVERGED,
                                       "the translation of tube '%s' has no finite value or rate "
                                       "at t = %.9g s",
                                       tube->name, t));
        if (!stays_hidden(tube, in->slide[i].v, 0))
            return slide_fail(m, i, err,
                              snw_fail(err, SNW_E_MODEL,
                                       "at t = %.9g s the bend of tube '%s' comes out of the "
                                       "exit%s",
                                       t, tube->name, stages));
    }
    for (int k = 0; k < m->ntube_piece; k++) {
        const snw_tube_piece *p = &m->tube_piece[k];
        const double from = p->carrier[0] < 0 ? 0 : in->slide[p->carrier[0]].v,
                     to = p->carrier[1] < 0 ? 0 : in->slide[p->carrier[1]].v;
        if (is_possible(p, to - from, 0)) continue;
        char a[100], b[100];
        name_place(m, p, 0, a, sizeof a);
        name_place(m, p, 1, b, sizeof b);
        return slide_fail(m, p->carrier[0] < 0 ? p->carrier[1] : p->carrier[0], err,
                          snw_fail(err, SNW_E_MODEL, "at t = %.9g s %s and %s %s%s", t, a, b,
                                   p->is_short ? "part" : "meet", stages));
    }
    return SNW_OK;
}
