// SPDX-License-Identifier: MIT
//
// Derivatives of the equations of a step with hard contacts, theory.md (7.5.25) to (7.5.29), by
// places and velocities at its middle, end and start. The force P along the axes of a contact is
// given: r - G'P is a residual with a tangent of its own, and a velocity u = G v along the axes is
// the power of a unit force, whose derivative by places at fixed v follows from the same tangent.
#include "study/adjoint_hard_private.h"

#include "dynamics/constraint.h"
#include "integrate/lie_block.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

static const double move_place = 1e-3, move_rate = 1e-2; // of typical values

// ---- differences --------------------------------------------------------------------------------

// Is equation i one whose derivatives by places are differences? Of rates of constraints always,
// of energies, impulses and scalings where their parts are not known.
static bool is_difference(const adjoint_hard *x, const snw_map *map, int i) {
    const hard_layout *l = &x->l;
    if (i >= l->impulse && i < l->p) return map->hard->velocities;
    if (x->exact) return false;
    if (l->energy >= 0 && i >= l->energy && i < l->energy + ENERGIES)
        return i - l->energy == BY_MIDDLE || i - l->energy == BY_START;
    const bool scaled = (i >= l->v && i < l->S && map->hard->scaling[0].carried) ||
                        (i >= l->v2 && map->hard->scaling[1].carried);
    return i == l->s || i == l->s2 || (i >= l->v1 && i < l->impulse) || scaled;
}

// Derivatives of these equations at a state along its configuration (of = 0), or of the work there
// along velocities (1), by differences; to (n x nv) += them. stage: which equations
static void add_differences(hard_evaluation *e, int stage, const snw_state *at, int of,
                            double *to) {
    const snw_model *m = e->m;
    adjoint_hard *x = e->x;
    double *unit = x->line + 4 * m->nv, *out = x->sample;
    snw_state *s = x->moved;
    hard_inputs_at(e, stage);
    e->slips = true;
    for (int k = 0; k < m->nv; k++) {
        const double step = (of ? move_rate : move_place) * m->typical[k];
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            const double weight = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
            snw_state_copy(m, at, s);
            memset(unit, 0, (size_t)m->nv * sizeof *unit);
            unit[k] = j * step;
            if (of == 0) snw_move(m, at->q, 1, unit, s->q);
            if (of == 1) s->v[k] += unit[k];
            memset(out, 0, (size_t)x->l.n * sizeof *out);
            if (stage == MIDDLE) hard_middle_rows(e, s, false, out);
            if (stage == END) hard_end_rows(e, s, out);
            if (stage == START) hard_start_rows(e, s, out);
            double *column = hard_entry(x, to, 0, k);
            for (int i = 0; i < x->l.n; i++) {
                if (of == 0 ? is_difference(x, e->map, i) : i == x->l.energy + BY_MIDDLE)
                    column[i] += weight * out[i];
            }
        }
    }
    e->slips = false;
}

// Rows `row`, `row` + 1 of A (n x nv) <- by_u times them
static void turn_rows(const adjoint_hard *x, int nv, int row, double by_u[2][2], double *A) {
    for (int k = 0; k < nv; k++) {
        double *at = hard_entry(x, A, row, k);
        const double u[2] = {at[0], at[1]};
        for (int j = 0; j < 2; j++) at[j] = by_u[j][0] * u[0] + by_u[j][1] * u[1];
    }
}

// Row `row` of A (n x nv) += c x
static void add_row(const adjoint_hard *x, int nv, int row, double c, const double *from,
                    double *A) {
    for (int k = 0; k < nv; k++) *hard_entry(x, A, row, k) += c * from[k];
}

// ---- powers of contacts -------------------------------------------------------------------------

// Row `row` of A (n x nv) += c times its derivative by places
static void add_place_row(const adjoint_hard *x, int nv, int row, double c, const double *by,
                          double *A) {
    for (int k = 0; k < nv; k++) *hard_entry(x, A, row, k) += c * by[k];
}

// w <- no forces; `given`: those that follow.
static void begin_forces(const snw_model *m, bool given, snw_work *w) {
    w->hard_is_given = given;
    w->nhard_touch = 0;
    for (int k = 0; k < 2 * m->nstop; k++) w->hard_stop[k] = 0;
    if (given) memset(w->hard_given, 0, 3 * (size_t)m->ncontact_point * sizeof *w->hard_given);
}

// w <- the force of a contact
static void give_force(const snw_model *m, const snw_hard_contact *at, const double f[3],
                       snw_work *w) {
    if (at->limit >= 0) {
        w->hard_stop[at->limit] = f[0];
        return;
    }
    double *to = w->hard_given + 3 * (ptrdiff_t)at->point;
    if (at->point < 0) {
        if (w->nhard_touch == m->most_touch) return;
        w->hard_touch[w->nhard_touch] = at->touch;
        to = w->hard_touch[w->nhard_touch++].held;
    }
    memcpy(to, f, 3 * sizeof *f);
}

void hard_give_forces(const hard_evaluation *e, const snw_hard_step *r, int of, snw_work *w) {
    begin_forces(e->m, r != NULL, w);
    for (int i = 0; r && i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        double f[3];
        if (of == 0 && c->in_step == SNW_HARD_OPEN) continue;
        for (int j = 0; j < 3; j++) f[j] = of ? c->p[j] - e->h * c->P1[j] : c->P[j];
        give_force(e->m, &c->at, f, w);
    }
}

void adjoint_hard_show(const snw_model *m, const snw_hard_step *r, const double *forces,
                       snw_work *w) {
    begin_forces(m, r != NULL, w);
    for (int i = 0; r && i < r->n; i++) {
        const double *f = forces + 3 * i;
        if (f[0] != 0) give_force(m, &r->contact[i].at, f, w);
    }
}

void hard_power_row(const hard_evaluation *e, const snw_work *w, const snw_state *s,
                    const snw_hard_contact *c, const double f[3], double *row) {
    snw_hard_contact at = *c;
    snw_contact_bars bars;
    int own;
    memset(row, 0, 2 * (size_t)e->m->nv * sizeof *row);
    if (c->limit >= 0) {
        double *G = e->x->line + 4 * (size_t)e->m->nv;
        snw_hard_rows(e->m, w, c, G);
        for (int k = 0; k < e->m->nv; k++) row[e->m->nv + k] = f[0] * G[k];
        return;
    }
    (void)snw_hard_gap(e->m, w, &at);
    const int n = snw_hard_power_bars(e->m, w, &at, f, w->V, &bars, &own);
    snw_hard_power_row(e->m, w, n, &bars, row);
    adjoint_fix_row(e->m, s, row);
}

// row (nv) <- derivatives by places of the component along e of the force f
static void force_row(const hard_evaluation *e, const snw_work *w, const snw_hard_contact *c,
                      const double f[3], snw_vec3 along, double *row) {
    snw_hard_contact at = *c;
    snw_contact_bars bars;
    memset(row, 0, 2 * (size_t)e->m->nv * sizeof *row);
    (void)snw_hard_gap(e->m, w, &at);
    const int n = snw_hard_force_bars(e->m, w, &at, f, along, e->x->twist, &bars);
    snw_hard_power_row(e->m, w, n, &bars, row);
}

// row (2 nv) <- derivatives of the kinetic energy by places and rates, M v, at the motion s in
// e->w; where its parts are not known by rates only
static void kinetic_row(const hard_evaluation *e, const snw_state *s, double *row) {
    const snw_model *m = e->m;
    const snw_work *w = e->w;
    memset(row, 0, 2 * (size_t)m->nv * sizeof *row);
    if (!e->x->exact) {
        double *M = e->x->M;
        snw_mass_matrix(m, e->in, s, e->w, M);
        for (int k = 0; k < m->nv; k++)
            row[m->nv + k] = snw_vector_dot(m->nv, M + (size_t)m->nv * (size_t)k, s->v);
        snw_kinematics(m, e->in, s, false, e->w);
        snw_jacobian_pass(m, e->w);
        return;
    }
    for (int i = 1; i < m->nseg; i++) {
        const snw_path *path = &m->path[m->seg[i].path];
        if (path->n == 0 || !snw_seg_has_mass(m, w, i)) continue;
        const snw_wrench P = snw_inertia_apply(&m->seg[i].M, w->V[i]),
                         turned = snw_ad_pull(w->V[i], P);
        const double *J = w->J + m->seg_store[i], *dJ = w->dJ + m->seg_store[i];
        for (int n = 0; n < 6; n++) {
            const size_t at = (size_t)n * (size_t)path->ld;
            for (int j = 0; j < path->n; j++) {
                row[path->dof[j]] += turned.e[n] * J[at + (size_t)j] + P.e[n] * dJ[at + (size_t)j];
                row[m->nv + path->dof[j]] += P.e[n] * J[at + (size_t)j];
            }
        }
    }
    for (int k = 0; k < m->nblock && m->has_armature; k++) {
        const snw_block *b = &m->block[k];
        for (int i = b->dof; i < b->dof + b->n; i++) row[m->nv + i] += b->armature * s->v[i];
    }
    adjoint_fix_row(m, s, row);
}

// row (nv) <- derivatives of the potential energy by places: the conservative forces at rest
static void potential_row(const hard_evaluation *e, const snw_state *s, double *row) {
    const snw_model *m = e->m;
    snw_state *still = e->still;
    adjoint_hard *x = e->x;
    snw_state_copy(m, s, still);
    memset(still->v, 0, (size_t)m->nv * sizeof *still->v);
    memset(still->a, 0, (size_t)m->nv * sizeof *still->a);
    memset(still->lambda, 0, (size_t)m->nconstraint * sizeof *still->lambda);
    snw_part_inputs(m, e->in, SNW_PART_CONSERVATIVE, x->part_in);
    snw_residual(&x->conservative->m, x->part_in, still, true, x->part_w);
    memcpy(row, x->part_w->r, (size_t)m->nv * sizeof *row);
}

// ---- middle -------------------------------------------------------------------------------------

// Row of the work W of the forces that have no energy, h W = h v'(r_c - r - G'P), with r_c of the
// conservative forces; K, D <- those of r_c. After the tangents of r - G'P.
static void work_row(snw_adjoint *a, const hard_evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const int nv = m->nv, row = x->l.energy + BY_MIDDLE;
    const double *v = x->mid->v;
    const snw_model *part = &x->conservative->m;
    double *K = hard_entry(x, x->F[Q_MID], row, 0), *D = hard_entry(x, x->F[V_MID], row, 0);
    const size_t n = (size_t)x->l.n;
    for (int k = 0; k < nv; k++) { // r - G'P
        K[n * (size_t)k] += e->h * snw_vector_dot(nv, a->K + (size_t)nv * (size_t)k, v);
        D[n * (size_t)k] +=
            e->h * (snw_vector_dot(nv, a->D + (size_t)nv * (size_t)k, v) + a->w->r[k]);
    }
    for (int i = 0; i < e->map->hard->n; i++) { // G'P
        const snw_hard_step_contact *c = &e->map->hard->contact[i];
        if (c->in_step == SNW_HARD_OPEN) continue;
        hard_power_row(e, a->w, x->mid, &c->at, c->P, x->row);
        for (int k = 0; k < nv; k++) {
            K[n * (size_t)k] += e->h * x->row[k];
            D[n * (size_t)k] += e->h * x->row[nv + k];
        }
    }
    snw_part_inputs(m, a->in, SNW_PART_CONSERVATIVE, x->part_in);
    snw_residual(part, x->part_in, x->mid, false, x->part_w);
    snw_tangent_pass(part, NULL, x->part_w);
    snw_tangent_assemble(part, x->part_in, 0, 1, 0, x->part_w, a->D);
    snw_tangent_assemble(part, x->part_in, 1, 0, 0, x->part_w, a->K);
    adjoint_fix_rates(a, x->mid);
    for (int k = 0; k < nv; k++) {
        K[n * (size_t)k] -= e->h * snw_vector_dot(nv, a->K + (size_t)nv * (size_t)k, v);
        D[n * (size_t)k] -=
            e->h * (snw_vector_dot(nv, a->D + (size_t)nv * (size_t)k, v) + x->part_w->r[k]);
    }
}

// Rows of contacts at the middle by places: slips, their power, forces in the world
static void contact_rows(const snw_adjoint *a, hard_evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    for (int i = 0, k = 0, turned = 0; i < e->map->hard->n; i++) {
        const snw_hard_step_contact *c = &e->map->hard->contact[i];
        if (c->in_step == SNW_HARD_OPEN) continue;
        for (int j = 1; j < 3; j++) {
            const double unit[3] = {0, j == 1, j == 2};
            hard_power_row(e, a->w, x->mid, &c->at, unit, x->row);
            add_place_row(x, m->nv, l->P + 3 * k + j, 1, x->row, x->F[Q_MID]);
            if (l->energy >= 0)
                add_place_row(x, m->nv, l->energy + BY_FRICTION, -e->h * c->P[j], x->row,
                              x->F[Q_MID]);
        }
        k++;
        if (!(hypot(c->P[1], c->P[2]) > 0)) continue;
        const double along[3] = {0, c->P[1], c->P[2]};
        for (int j = 0; j < 3; j++) {
            const snw_vec3 unit = {{j == 0, j == 1, j == 2}};
            force_row(e, a->w, &c->at, along, unit, x->row);
            add_place_row(x, m->nv, l->S + 3 * turned + j, -1, x->row, x->F[Q_MID]);
        }
        turned++;
    }
}

// F of the middle by its configuration, rates and accelerations, with the tangents of the residual;
// columns of J by lambda and P.
void hard_find_middle(snw_adjoint *a, hard_evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    a->half = 0;
    hard_give_forces(e, r, 0, a->w);
    adjoint_tangents(a, adjoint_hard_time(e->map, MIDDLE), x->mid, false);
    hard_give_forces(e, NULL, 0, a->w);
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, a->w, k);
        for (int i = 0; i < nv; i++)
            *hard_entry(x, x->J, l->d + i, l->lambda + k) -=
                a->C[(size_t)nv * (size_t)k + (size_t)i];
        if (c.slip_dof >= 0) *hard_entry(x, x->J, l->d + c.slip_dof, l->lambda + k) += c.slip;
        if (c.inactive) *hard_entry(x, x->J, l->lambda + k, l->lambda + k) += 1;
    }
    adjoint_fix_rates(a, x->mid);
    for (int k = 0; k < nv; k++) {
        const size_t at = (size_t)nv * (size_t)k;
        for (int i = 0; i < nv; i++) {
            *hard_entry(x, x->F[Q_MID], l->d + i, k) += a->K[at + (size_t)i];
            *hard_entry(x, x->F[V_MID], l->d + i, k) += a->D[at + (size_t)i];
            *hard_entry(x, x->F[A_MID], l->d + i, k) += a->M[at + (size_t)i];
        }
    }
    contact_rows(a, e);
    if (l->energy >= 0 && x->exact) {
        work_row(a, e);
    } else if (l->energy >= 0) {
        add_differences(e, MIDDLE, x->mid, 0, x->F[Q_MID]);
        add_differences(e, MIDDLE, x->mid, 1, x->F[V_MID]);
    }
    for (int i = 0, k = 0, turned = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->in_step == SNW_HARD_OPEN) continue;
        const hard_place at = hard_place_contact(m, a->w, &c->at, &x->tangent[2 * i], x->G);
        double mu[2], row[2], by_u[2][2];
        const int P = l->P + 3 * k++;
        hard_friction_rows(c->in_step, &e->x->idle[2 * i], hard_friction(m, &c->at, mu), c->P,
                           at.u + 1, row, by_u);
        for (int j = 0; j < 3; j++) {
            for (int n = 0; n < nv; n++) *hard_entry(x, x->J, l->d + n, P + j) -= x->G[j * nv + n];
        }
        for (int j = 0; j < 2; j++) {
            for (int n = 0; n < 2; n++)
                add_row(x, nv, P + 1 + j, by_u[j][n], x->G + (1 + n) * nv, x->F[V_MID]);
            if (hard_sticks(c->in_step, &x->idle[2 * i], mu, j)) continue;
            *hard_entry(x, x->J, P + 1 + j, P + 1 + j) += 1;
            *hard_entry(x, x->J, P + 1 + j, P) += (row[j] - c->P[1 + j]) / c->P[0];
        }
        turn_rows(x, nv, P + 1, by_u, x->F[Q_MID]);
        for (int j = 1; j < 3 && l->energy >= 0; j++) {
            *hard_entry(x, x->J, l->energy + BY_FRICTION, P + j) -= e->h * at.u[j];
            add_row(x, nv, l->energy + BY_FRICTION, -e->h * c->P[j], x->G + j * nv, x->F[V_MID]);
        }
        if (!(hypot(c->P[1], c->P[2]) > 0)) continue;
        for (int j = 0; j < 3; j++) {
            *hard_entry(x, x->J, l->S + 3 * turned + j, l->S + 3 * turned + j) += 1;
            for (int n = 1; n < 3; n++)
                *hard_entry(x, x->J, l->S + 3 * turned + j, P + n) -= at.axis[n].e[j];
        }
        turned++;
    }
}

// ---- end ----------------------------------------------------------------------------------------

// Columns of J of the turned forces P', S and of P in their equations
static void turned_columns(const adjoint_hard *x, const hard_place *at,
                           const snw_hard_step_contact *c, int P, int turned) {
    const hard_layout *l = &x->l;
    const double *S = x->value + l->S + 3 * turned, size = hypot(c->P[1], c->P[2]);
    double f[2], raw[2];
    hard_turned_force(at, S, size, f);
    for (int j = 0; j < 2; j++)
        raw[j] =
            at->axis[1 + j].e[0] * S[0] + at->axis[1 + j].e[1] * S[1] + at->axis[1 + j].e[2] * S[2];
    const double length = hypot(raw[0], raw[1]);
    for (int j = 0; j < 2; j++) {
        const int row = l->P1 + 2 * turned + j;
        *hard_entry(x, x->J, row, row) += 1;
        for (int n = 0; n < 3; n++) { // size raw/|raw|
            double by = 0;
            for (int i = 0; i < 2; i++)
                by += ((i == j) - f[j] * f[i] / (size * size)) * at->axis[1 + i].e[n];
            *hard_entry(x, x->J, row, l->S + 3 * turned + n) -= size / length * by;
        }
        for (int n = 1; n < 3; n++)
            *hard_entry(x, x->J, row, P + n) -= f[j] / size * c->P[n] / size;
    }
}

// Columns of J of contacts at the end of the step, their rows in e->w.
static void contact_columns(const snw_adjoint *a, hard_evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    for (int i = 0, closed = 0, held = 0, turned = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const hard_place at = hard_place_contact(m, e->w, &c->at, &x->tangent[2 * i + 1], x->G);
        const double restitution = snw_hard_restitution(m, &c->at);
        const bool is_closed = c->in_step != SNW_HARD_OPEN;
        const bool is_turned = is_closed && hypot(c->P[1], c->P[2]) > 0;
        const int P = l->P + 3 * closed, A = l->A + bounced;
        for (int n = 0; n < nv && is_closed; n++) {
            *hard_entry(x, x->J, l->v1 + n, P) += e->h * x->G[n];
            for (int j = 0; j < 2 && is_turned; j++)
                *hard_entry(x, x->J, l->v1 + n, l->P1 + 2 * turned + j) +=
                    e->h * x->G[(1 + j) * nv + n];
        }
        if (is_turned) turned_columns(x, &at, c, P, turned++);
        closed += is_closed;
        if (c->bounces) {
            *hard_entry(x, x->J, A, A) += 1;
            for (int n = 0; n < nv && c->closes; n++) *hard_entry(x, x->J, A, l->v + n) -= x->G[n];
            bounced++;
        }
        if (c->in_impulse == SNW_HARD_OPEN) continue;
        const int p = l->p + 3 * held++;
        double mu[2], row[2], by_u[2][2];
        hard_friction_rows(c->in_impulse, &e->x->idle[2 * i], hard_friction(m, &c->at, mu), c->p,
                           at.u + 1, row, by_u);
        for (int j = 0; j < 3; j++) {
            for (int n = 0; n < nv; n++) *hard_entry(x, x->J, l->v1 + n, p + j) -= x->G[j * nv + n];
        }
        for (int n = 0; n < nv; n++) *hard_entry(x, x->J, p, l->v1 + n) += x->G[n];
        if (c->bounces) *hard_entry(x, x->J, p, A) += restitution;
        turn_rows(x, nv, p + 1, by_u, x->F[Q_END]);
        for (int j = 0; j < 2; j++) {
            for (int k = 0; k < 2; k++) {
                for (int n = 0; n < nv; n++)
                    *hard_entry(x, x->J, p + 1 + j, l->v1 + n) +=
                        by_u[j][k] * x->G[(1 + k) * nv + n];
            }
            if (c->in_impulse == SNW_HARD_STICKS && mu[j] > 0 && !x->idle[2 * i + j]) continue;
            *hard_entry(x, x->J, p + 1 + j, p + 1 + j) += 1;
            *hard_entry(x, x->J, p + 1 + j, p) += (row[j] - c->p[1 + j]) / c->p[0];
        }
    }
}

// Rows `to` of the velocities with which the robot is carried along, at the velocities v, by
// places: u = R'p/m with the momentum p; times c.
static void carried_rows(hard_evaluation *e, const double *v, double c, int to) {
    const snw_model *m = e->m;
    adjoint_hard *x = e->x;
    snw_state *s = x->moved;
    snw_vec3 centre;
    snw_state_copy(m, x->end, s);
    memcpy(s->v, v, (size_t)m->nv * sizeof *v);
    snw_kinematics(m, e->in, s, false, e->w);
    snw_jacobian_pass(m, e->w);
    const snw_work *w = e->w;
    const double mass = snw_center_of_mass(m, w, &centre);
    const snw_vec3 u = snw_scale(1 / mass, snw_momentum(m, w).f);
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b)) continue;
        const snw_vec3 own = snw_rotate_inv(w->g[b->seg].R, u);
        for (int k = 0; k < 3; k++) { // component of the momentum along e_k of the root
            snw_vec3 along = {{k == 0, k == 1, k == 2}};
            along = snw_rotate(w->g[b->seg].R, along);
            memset(x->row, 0, 2 * (size_t)m->nv * sizeof *x->row);
            for (int i = 1; i < m->nseg; i++) {
                const snw_path *path = &m->path[m->seg[i].path];
                if (path->n == 0 || !snw_seg_has_mass(m, w, i)) continue;
                const snw_twist eta = {{.v = snw_rotate_inv(w->g[i].R, along)}};
                const snw_wrench P = snw_inertia_apply(&m->seg[i].M, eta); // by V
                snw_wrench pose = snw_ad_pull(w->V[i], P);
                const snw_vec3 own_momentum = snw_inertia_apply(&m->seg[i].M, w->V[i]).f;
                pose.m = snw_add(pose.m, snw_cross(own_momentum, eta.v));
                const double *J = w->J + m->seg_store[i], *dJ = w->dJ + m->seg_store[i];
                for (int j = 0; j < path->n; j++) {
                    for (int n = 0; n < 6; n++) {
                        const size_t at = (size_t)n * (size_t)path->ld + (size_t)j;
                        x->row[path->dof[j]] += pose.e[n] * J[at] + P.e[n] * dJ[at];
                        x->row[m->nv + path->dof[j]] += P.e[n] * J[at];
                    }
                }
            }
            adjoint_fix_row(m, s, x->row);
            add_place_row(x, m->nv, to + b->dof + 3 + k, c / mass, x->row, x->F[Q_END]);
            for (int j = 0; j < 3; j++) { // the axes of the root turn: u x zeta
                const snw_vec3 unit = {{j == 0, j == 1, j == 2}};
                *hard_entry(x, x->F[Q_END], to + b->dof + 3 + k, b->dof + j) +=
                    c * snw_cross(own, unit).e[k];
            }
        }
    }
}

// Columns of J of a scaling: equations `row` of the velocities at `to`, from those at `from`, which
// are v; without a place they are those of the path, and to_path (n x nv) gets the columns.
static void scaling_columns(hard_evaluation *e, const snw_hard_scaling *by, int factor, int to,
                            int from, const double *v, double *path) {
    const snw_model *m = e->m;
    const adjoint_hard *x = e->x;
    const int nv = m->nv;
    double *column = e->x->line + 4 * nv;
    for (int k = 0; k < nv; k++) *hard_entry(x, x->J, to + k, to + k) += 1;
    for (int k = 0; k < nv; k++)
        *(path ? hard_entry(x, path, to + k, k) : hard_entry(x, x->J, to + k, from + k)) -=
            by->factor;
    snw_state *s = x->moved;
    snw_state_copy(m, x->end, s);
    for (int k = 0; k < nv && by->carried; k++) { // it is linear in the velocities
        memset(s->v, 0, (size_t)nv * sizeof *s->v);
        memset(column, 0, (size_t)nv * sizeof *column);
        s->v[k] = 1;
        hard_add_carried(e, s, by->factor - 1, column);
        for (int i = 0; i < nv; i++)
            *(path ? hard_entry(x, path, to + i, k) : hard_entry(x, x->J, to + i, from + k)) +=
                column[i];
    }
    if (by->carried && e->x->exact) carried_rows(e, v, by->factor - 1, to);
    if (factor < 0) return;
    memset(column, 0, (size_t)nv * sizeof *column);
    memcpy(s->v, v, (size_t)nv * sizeof *v);
    if (by->carried) hard_add_carried(e, s, 1, column);
    for (int i = 0; i < nv; i++) *hard_entry(x, x->J, to + i, factor) += column[i] - v[i];
}

// Rows of the kinetic energies in the equations of s and s2 by places, with the factors by_s and
// by_s2, and columns of J of their velocities, at column `at`; the motion is in e->w.
static void energy_rows(hard_evaluation *e, int at, double by_s, double by_s2) {
    const snw_model *m = e->m;
    adjoint_hard *x = e->x;
    const hard_layout *l = &x->l;
    const double factor[2] = {l->s >= 0 ? by_s : 0, l->s2 >= 0 ? by_s2 : 0};
    const int row[2] = {l->s, l->s2};
    if (factor[0] == 0 && factor[1] == 0) return;
    kinetic_row(e, x->moved, x->row);
    for (int i = 0; i < 2; i++) {
        if (factor[i] == 0) continue;
        if (x->exact) add_place_row(x, m->nv, row[i], factor[i], x->row, x->F[Q_END]);
        for (int k = 0; k < m->nv; k++)
            *hard_entry(x, x->J, row[i], at + k) += factor[i] * x->row[m->nv + k];
    }
}

// Columns of J of the energies in the equations of the factors
static void energy_columns(const hard_evaluation *e) {
    const adjoint_hard *x = e->x;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int E = l->energy;
    for (int k = 0; k < ENERGIES; k++) *hard_entry(x, x->J, E + k, E + k) += 1;
    if (l->s >= 0) {
        for (int k = 0; k < ENERGIES; k++)
            *hard_entry(x, x->J, l->s, E + k) += k == BY_GAP ? 1 : -1;
    }
    if (l->s2 >= 0) {
        *hard_entry(x, x->J, l->s2, E + BY_MIDDLE) -= 1;
        *hard_entry(x, x->J, l->s2, E + BY_START) -= 1;
        if (r->taken) {
            *hard_entry(x, x->J, l->s2, E + BY_FRICTION) -= 1;
            *hard_entry(x, x->J, l->s2, E + BY_GAP) += 1;
        }
    }
}

// x->moved <- the end of the step with the velocities v, and its motion in e->w with columns
static void move_end(hard_evaluation *e, const double *v) {
    const snw_model *m = e->m;
    snw_state *s = e->x->moved;
    snw_state_copy(m, e->x->end, s);
    memcpy(s->v, v, (size_t)m->nv * sizeof *v);
    snw_kinematics(m, e->in, s, false, e->w);
    snw_jacobian_pass(m, e->w);
}

// Gaps and turned forces at the end, approaches with the velocities after the first scaling, whose
// motion is in e->w.
static void end_contact_rows(hard_evaluation *e) {
    const snw_model *m = e->m;
    adjoint_hard *x = e->x;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    for (int i = 0, k = 0, turned = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const bool closed = c->in_step != SNW_HARD_OPEN;
        const hard_place at = hard_place_contact(m, e->w, &c->at, &x->tangent[2 * i + 1], x->G);
        const double slope = snw_hard_gradient(e->w, &c->at);
        if (c->bounces && c->closes) {
            const double unit[3] = {1, 0, 0};
            hard_power_row(e, e->w, x->moved, &c->at, unit, x->row);
            add_place_row(x, nv, l->A + bounced, -1, x->row, x->F[Q_END]);
        }
        bounced += c->bounces;
        if (c->closes) add_row(x, nv, l->h, slope, x->G, x->F[Q_END]);
        if (!closed) continue;
        add_row(x, nv, l->P + 3 * k++, slope, x->G, x->F[Q_END]);
        const double work = x->exact ? -c->P[0] * slope : 0; // else a difference
        if (l->s >= 0) add_row(x, nv, l->s, work, x->G, x->F[Q_END]);
        if (l->s2 >= 0 && r->taken) add_row(x, nv, l->s2, work, x->G, x->F[Q_END]);
        const double size = hypot(c->P[1], c->P[2]);
        if (!(size > 0)) continue;
        const double *S = x->value + l->S + 3 * turned;
        const snw_vec3 slip = {{S[0], S[1], S[2]}};
        double f[2];
        hard_turned_force(&at, S, size, f);
        const double raw = hypot(snw_dot(at.axis[1], slip), snw_dot(at.axis[2], slip));
        for (int j = 0; j < 2; j++) {
            const double unit[3] = {0, j == 0, j == 1};
            force_row(e, e->w, &c->at, unit, slip, x->row);
            for (int n = 0; n < 2; n++) // size raw/|raw|
                add_place_row(x, nv, l->P1 + 2 * turned + n,
                              -size / raw * ((n == j) - f[n] * f[j] / (size * size)), x->row,
                              x->F[Q_END]);
        }
        turned++;
    }
}

// Rows of the contacts in the impulse by places, at its velocities, whose motion is in e->w
static void impulse_contact_rows(hard_evaluation *e) {
    adjoint_hard *x = e->x;
    const snw_hard_step *r = e->map->hard;
    for (int i = 0, held = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->in_impulse == SNW_HARD_OPEN) continue;
        for (int j = 0; j < 3; j++) {
            const double unit[3] = {j == 0, j == 1, j == 2};
            hard_power_row(e, e->w, x->moved, &c->at, unit, x->row);
            add_place_row(x, e->m->nv, x->l.p + 3 * held + j, 1, x->row, x->F[Q_END]);
        }
        held++;
    }
}

// Rows of the momentum of the impulse by places: the tangent of M a - C'pi - G'f at rest, a the
// change of the velocities; x->M. Its rows of constraints are in part_w.
static void momentum_rows(snw_adjoint *a, hard_evaluation *e) {
    const snw_model *m = a->m, *part = &a->hard->impulse->m;
    adjoint_hard *x = a->hard;
    const snw_hard_step *r = e->map->hard;
    const size_t nv = (size_t)m->nv;
    snw_state *still = e->still;
    snw_state_copy(m, x->end, still);
    for (int i = 0; i < m->nv; i++) still->v[i] = 0, still->a[i] = r->v1[i] - r->v[i];
    memcpy(still->lambda, r->impulse, (size_t)m->nconstraint * sizeof *still->lambda);
    snw_part_inputs(m, e->in, SNW_PART_IMPULSE, x->part_in);
    hard_give_forces(e, r, 1, x->part_w);
    snw_residual(part, x->part_in, still, false, x->part_w);
    snw_tangent_pass(part, NULL, x->part_w);
    snw_tangent_assemble(part, x->part_in, 1, 0, 0, x->part_w, a->K);
    snw_tangent_assemble(part, x->part_in, 0, 0, 1, x->part_w, a->M);
    hard_give_forces(e, NULL, 0, x->part_w);
    adjoint_fix_rates(a, still);
    memcpy(x->M, a->M, nv * nv * sizeof *x->M);
    for (int k = 0; k < m->nv; k++) {
        for (int i = 0; i < m->nv; i++)
            *hard_entry(x, x->F[Q_END], x->l.v1 + i, k) += a->K[nv * (size_t)k + (size_t)i];
    }
}

// Rows of the constraints at the end by places
static void constraint_rows(const adjoint_hard *x, const snw_model *m, const snw_work *w) {
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        for (int j = 0; j < c.n && !c.inactive; j++)
            *hard_entry(x, x->F[Q_END], x->l.lambda + k, c.dof[j]) += c.C[j];
    }
}

// F of the end by its configuration and the velocities of the path; columns of J.
void hard_find_end(snw_adjoint *a, hard_evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    if (!x->exact || (m->nconstraint > 0 && r->velocities))
        add_differences(e, END, x->end, 0, x->F[Q_END]);
    hard_inputs_at(e, END);
    scaling_columns(e, &r->scaling[0], l->s, l->v, -1, x->end->v, x->F[V_END]);
    scaling_columns(e, &r->scaling[1], l->s2, l->v2, l->v1, r->v1, NULL);
    if (l->energy >= 0) energy_columns(e);
    if (x->exact && (l->s >= 0 || l->s2 >= 0)) { // the potential energy, of all velocities
        potential_row(e, x->end, x->row);
        if (l->s >= 0) add_place_row(x, nv, l->s, 1, x->row, x->F[Q_END]);
        if (l->s2 >= 0) add_place_row(x, nv, l->s2, 1, x->row, x->F[Q_END]);
    }
    if (r->n > 0 || l->energy >= 0) {
        move_end(e, r->v);
        end_contact_rows(e);
        energy_rows(e, l->v, 1, r->taken);
    }
    if (l->s2 >= 0) {
        move_end(e, e->map->s.v);
        energy_rows(e, l->v2, 0, 1);
    }
    if (r->velocities && x->exact) {
        momentum_rows(a, e);
    } else if (r->velocities) {
        snw_mass_matrix(m, e->in, x->end, e->w, x->M);
    }
    for (int k = 0; k < nv; k++) {
        for (int i = 0; i < nv; i++) {
            const double by = r->velocities ? x->M[nv * k + i] : (i == k);
            *hard_entry(x, x->J, l->v1 + i, l->v1 + k) += by;
            *hard_entry(x, x->J, l->v1 + i, l->v + k) -= by;
        }
    }
    if (!r->velocities && m->nconstraint == 0) return;
    move_end(e, r->v1);
    if (m->nconstraint > 0) snw_constraints_jacobian(m, e->w);
    constraint_rows(x, m, e->w);
    if (!r->velocities) return;
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, e->w, k);
        if (c.inactive) *hard_entry(x, x->J, l->impulse + k, l->impulse + k) += 1;
        for (int j = 0; j < c.n && !c.inactive; j++) {
            *hard_entry(x, x->J, l->impulse + k, l->v1 + c.dof[j]) += c.C[j];
            *hard_entry(x, x->J, l->v1 + c.dof[j], l->impulse + k) -= c.C[j];
        }
    }
    if (r->taken) energy_rows(e, l->v1, 0, -1);
    impulse_contact_rows(e);
    contact_columns(a, e);
}

// ---- start --------------------------------------------------------------------------------------

// by_place, by_rate: columns of the state before, directly
void hard_find_start(snw_adjoint *a, hard_evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    if (l->energy < 0 && l->nbounce == 0) return;
    if (!x->exact) add_differences(e, START, x->start, 0, x->by_place);
    hard_inputs_at(e, START);
    if (l->energy >= 0 && x->exact) {
        potential_row(e, x->start, x->row);
        add_place_row(x, nv, l->energy + BY_START, -1, x->row, x->by_place);
    }
    snw_kinematics(m, e->in, x->start, false, e->w);
    snw_jacobian_pass(m, e->w);
    if (l->energy >= 0) {
        kinetic_row(e, x->start, x->row);
        if (x->exact) add_place_row(x, nv, l->energy + BY_START, -1, x->row, x->by_place);
        add_row(x, nv, l->energy + BY_START, -1, x->row + nv, x->by_rate);
    }
    for (int i = 0, k = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const hard_place at = hard_place_contact(m, e->w, &c->at, NULL, x->G);
        if (c->in_step != SNW_HARD_OPEN && l->energy >= 0) {
            // the gap at the start in the energies; that at the end is zero
            *hard_entry(x, x->J, l->energy + BY_GAP, l->P + 3 * k++) -= at.gap;
            add_row(x, nv, l->energy + BY_GAP, -c->P[0] * snw_hard_gradient(e->w, &c->at), x->G,
                    x->by_place);
        }
        if (!c->bounces) continue;
        const int A = l->A + bounced++;
        if (c->closes) continue;
        const double unit[3] = {1, 0, 0};
        hard_power_row(e, e->w, x->start, &c->at, unit, x->row);
        add_place_row(x, nv, A, -1, x->row, x->by_place);
        add_row(x, nv, A, -1, x->row + nv, x->by_rate);
    }
}
