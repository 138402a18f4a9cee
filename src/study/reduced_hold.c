// SPDX-License-Identifier: MIT
//
// Probes that motors keep on laws: rows p x = law that forbid no work of their own. What keeps them is the effort of a motor
// that follows, somewhere else in the robot. theory.md 6.8
#include "study/reduced_private.h"

#include "base/fail.h"
#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// What is held: a coordinate's rate, or a component of the twist of a segment, in its axes or in those of the world.
typedef struct held {
    int dof; // -1: of a segment,
    int seg;
    int e; // component
    bool body;
} held;

static held held_by(const snw_model *m, const snw_motor_desc *motor) {
    const snw_probe_desc *p = &m->desc->probe[motor->probe];
    if (p->kind == SNW_PROBE_RATE) {
        return (held){.dof = m->block[m->link_block[p->site.link]].dof + motor->component};
    }
    const int first = p->kind == SNW_PROBE_VELOCITY ? 3 : 0;
    return (held){.dof = -1,
                  .seg = m->watch[m->probe_watch[motor->probe]].seg,
                  .e = first + motor->component,
                  .body = p->body};
}

void snw_reduced_list_holds(snw_reduced *red) {
    const snw_model *m = red->m;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || !m->desc->motor[d->motor].holds) continue;
        const held h = held_by(m, &m->desc->motor[d->motor]);
        const double size = h.dof >= 0 ? m->typical[h.dof] : h.e < 3 ? 1 : m->length;
        red->row[red->nr++] = (snw_reduced_row){.row = d->row,
                                                .loop = -1,
                                                .drive = i,
                                                .hold = true,
                                                .at = {-1, -1},
                                                .size = size,
                                                .weight = 1};
        red->holds = true;
    }
}

// probes may look where nothing of the physics is
void snw_reduced_at(snw_reduced *red, const snw_inputs *in, const snw_state *s) {
    snw_kinematics(red->m, in, s, false, red->w);
    if (red->holds) snw_observe(red->m, in, s, false, red->w);
}

static const snw_motor_desc *motor_of(const snw_reduced *red, size_t k) {
    return &red->m->desc->motor[red->m->drive[red->row[k].drive].motor];
}

// does unknown j move this segment, which probes may have hung on another?
static bool moves(const snw_reduced *red, int j, int seg) {
    const snw_model *m = red->m;
    const snw_path *path = &m->path[m->seg[seg].path];
    for (int k = 0; k < path->n; k++) {
        if (path->dof[k] == red->dof[j]) return true;
    }
    return false;
}

void snw_reduced_hold_row(snw_reduced *red, size_t k) {
    const snw_model *m = red->m;
    const held h = held_by(m, motor_of(red, k));
    const size_t nr = (size_t)red->nr;
    snw_wrench c = {0};
    if (h.dof < 0) {
        const snw_se3 g = red->w->g[h.seg];
        snw_vec3 e = {{0}};
        e.e[h.e % 3] = 1;
        if (!h.body) e = snw_rotate_inv(g.R, e);
        *(h.e < 3 ? &c.m : &c.f) = e;
        c = snw_wrench_to_parent(g, c);
    }
    for (int j = 0; j < red->nu; j++) {
        const int dof = red->dof[j];
        const double rate = h.dof >= 0             ? dof == h.dof
                            : moves(red, j, h.seg) ? snw_power(c, red->X[j])
                                                   : 0;
        red->C[(size_t)j * nr + k] = rate * m->typical[dof] / red->row[k].size;
    }
}

static snw_status unheld(double t, snw_error *err) {
    return snw_fail(
        err, SNW_E_SINGULAR,
        "at t = %.9g s no effort of the motors that 'hold' a probe keeps it on its law; "
        "hold something that they move, or let others move it",
        t);
}

// Of the motions that contacts allow, those without power of the efforts: the rows of what is held replaced by where the
// efforts act. As many as motions are open, unless an effort acts on nothing that contacts allow.
snw_status snw_reduced_unworked(snw_reduced *red, double t, snw_error *err) {
    const snw_model *m = red->m;
    const size_t nr = (size_t)red->nr, nu = (size_t)red->nu;
    memcpy(red->B, red->C, nr * nu * sizeof *red->B);
    for (size_t k = 0; k < nr; k++) {
        if (!red->row[k].hold) continue;
        const snw_drive *d = &m->drive[red->row[k].drive];
        const int same = m->desc->motor[d->motor].same;
        for (size_t j = 0; j < nu; j++) {
            const bool acts = same ? red->same[j] == same : red->dof[j] == d->dof;
            red->B[j * nr + k] = acts ? m->typical[red->dof[j]] / m->typical[d->dof] : 0;
        }
    }
    double *U = red->Z + nu * nu, *S = U + nr * (nr < nu ? nr : nu);
    if (snw_svd(red->nr, red->nu, red->B, &red->scratch, U, S, red->Z) != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, "the motion has run away at t = %.9g s", t);
    }
    const bool reached = red->nominal == 0 || S[red->nominal - 1] > 1e-9 * S[0];
    return reached ? SNW_OK : unheld(t, err);
}

snw_status snw_reduced_keep(snw_reduced *red, double t, int k, double *A, double *y,
                            snw_error *err) {
    double least = INFINITY, most = 0;
    if (snw_lu_factor(k, A, red->pivot) != SNW_OK) return unheld(t, err);
    for (int i = 0; i < k; i++) {
        const double pivot = fabs(A[i * (k + 1)]);
        least = fmin(least, pivot), most = fmax(most, pivot);
    }
    if (!(least > 1e-10 * most)) return unheld(t, err);
    snw_lu_solve(k, A, red->pivot, y);
    return SNW_OK;
}

// the held velocity at the motion in red->w, and its rate
static snw_jet value(const snw_reduced *red, const snw_inputs *in, const snw_state *s, held h) {
    if (h.dof >= 0) return (snw_jet){.v = s->v[h.dof], .d = s->a[h.dof]};
    const snw_mat3 R = red->w->g[h.seg].R;
    const snw_twist V = red->w->V[h.seg];
    snw_twist A = red->w->A[h.seg];
    A.v = snw_add(A.v, snw_rotate_inv(R, in->gravity)); // felt is what is beside the fall
    if (h.body) return (snw_jet){.v = V.e[h.e], .d = A.e[h.e]};
    const snw_vec3 v = h.e < 3 ? V.w : V.v, a = h.e < 3 ? A.w : A.v;
    return (snw_jet){.v = snw_rotate(R, v).e[h.e % 3],
                     .d = snw_rotate(R, snw_add(a, snw_cross(V.w, v))).e[h.e % 3]};
}

double snw_reduced_held_rate(const snw_reduced *red, int k, double t) {
    if (!red->row[k].hold) return 0;
    const snw_motor_desc *motor = motor_of(red, (size_t)k);
    return fabs(snw_expr_jet_t(motor->target, (snw_at){.t = t}).v) / red->row[k].size;
}

void snw_reduced_rates(snw_reduced *red, const snw_inputs *in, const snw_state *s, double *rate,
                       double *bend) {
    snw_rows_rates(red->m, in, s, red->w, rate, bend);
    if (!red->holds) return;
    for (int k = 0; k < red->nr; k++) {
        if (!red->row[k].hold) continue;
        const snw_motor_desc *motor = motor_of(red, (size_t)k);
        const snw_jet x = value(red, in, s, held_by(red->m, motor));
        const snw_jet law = snw_expr_jet_t(motor->target, (snw_at){.t = in->t});
        if (rate) rate[red->row[k].row] = x.v - law.v;
        if (bend) bend[red->row[k].row] = x.d - law.d;
    }
}
