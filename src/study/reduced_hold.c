// SPDX-License-Identifier: MIT
//
// Probes that motors keep on laws: rows p x = law that forbid no work of their own. What keeps them is the effort of a motor
// that follows, somewhere else in the robot. theory.md 6.8
#include "study/reduced_private.h"

#include "dynamics/loop.h"

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
