// SPDX-License-Identifier: MIT
//
// Servo constraints of kinematic steps (theory.md 6.8): rows p x = law(t), p the gradient of a
// probe's velocity. They exert no reaction of their own; the effort of a motor elsewhere in the
// robot maintains them.

#include "constraint/locomotion_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

void snw_locomotion_list_servo_rows(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        const snw_servo h = m->motor[d->motor].servo;
        if (d->row < 0 || !h.given) continue;
        const double size = h.dof >= 0 ? m->typical[h.dof] : h.e < 3 ? 1 : m->length;
        lo->row[lo->nr++] = (snw_locomotion_row){.row = d->row,
                                                 .loop = -1,
                                                 .drive = i,
                                                 .servo = true,
                                                 .joint = {-1, -1},
                                                 .size = size,
                                                 .weight = 1};
        lo->has_servo = true;
    }
}

// probes may read stations outside the dynamics
void snw_locomotion_kinematics(snw_locomotion *lo, const snw_inputs *in, const snw_state *s) {
    snw_kinematics(lo->m, in, s, false, lo->w);
    if (lo->has_servo) snw_observe(lo->m, in, s, false, lo->w);
}

static snw_servo servo_of(const snw_locomotion *lo, size_t k) {
    return lo->m->motor[lo->m->drive[lo->row[k].drive].motor].servo;
}

// does unknown j move this segment? loops list only segments of the dynamics
static bool servo_moves(const snw_locomotion *lo, int j, int seg) {
    const snw_model *m = lo->m;
    const snw_path *path = &m->path[m->seg[seg].path];
    for (int k = 0; k < path->n; k++) {
        if (path->dof[k] == lo->dof[j]) return true;
    }
    return false;
}

void snw_locomotion_servo_row(snw_locomotion *lo, size_t k) {
    const snw_model *m = lo->m;
    const snw_servo h = servo_of(lo, k);
    const size_t nr = (size_t)lo->nr;
    snw_wrench c = {0};
    if (h.dof < 0) {
        const snw_se3 g = lo->w->g[h.seg];
        snw_vec3 e = {{0}};
        e.e[h.e % 3] = 1;
        if (!h.body) e = snw_rotate_inv(g.R, e);
        *(h.e < 3 ? &c.m : &c.f) = e;
        c = snw_wrench_to_parent(g, c);
    }
    for (int j = 0; j < lo->nu; j++) {
        const int dof = lo->dof[j];
        const double rate = h.dof >= 0                  ? dof == h.dof
                            : servo_moves(lo, j, h.seg) ? snw_power(c, lo->X[j])
                                                        : 0;
        lo->C[(size_t)j * nr + k] = rate * m->typical[dof] / lo->row[k].size;
    }
}

static snw_status fail_uncontrollable(double t, snw_error *err) {
    return snw_fail(err, SNW_E_SINGULAR,
                    "at t = %.9g s no effort of the motors that 'hold' a probe keeps it on its "
                    "law; hold a probe that they move, or use other motors",
                    t);
}

// Among the motions that contacts allow, those on which the servo efforts do no work: the kernel of
// the rows with p replaced by the directions of the efforts. It has as many dimensions as there are
// open motions, unless an effort acts on nothing that contacts allow.
snw_status snw_locomotion_workless_motions(snw_locomotion *lo, double t, snw_error *err) {
    const snw_model *m = lo->m;
    const size_t nr = (size_t)lo->nr, nu = (size_t)lo->nu;
    memcpy(lo->B, lo->C, nr * nu * sizeof *lo->B);
    for (size_t k = 0; k < nr; k++) {
        if (!lo->row[k].servo) continue;
        const snw_drive *d = &m->drive[lo->row[k].drive];
        const int same = m->motor[d->motor].same;
        for (size_t j = 0; j < nu; j++) {
            const bool acts = same ? lo->effort_group[j] == same : lo->dof[j] == d->dof;
            lo->B[j * nr + k] = acts ? m->typical[lo->dof[j]] / m->typical[d->dof] : 0;
        }
    }
    double *U = lo->Z + nu * nu, *S = U + nr * (nr < nu ? nr : nu);
    if (snw_svd(lo->nr, lo->nu, lo->B, &lo->scratch, U, S, lo->Z) != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, "the motion has diverged at t = %.9g s", t);
    }
    const bool reached = lo->nominal == 0 || S[lo->nominal - 1] > 1e-9 * S[0];
    return reached ? SNW_OK : fail_uncontrollable(t, err);
}

snw_status snw_locomotion_solve_servo(snw_locomotion *lo, double t, int k, double *A, double *y,
                                      snw_error *err) {
    double least = INFINITY, most = 0;
    if (snw_lu_factor(k, A, lo->pivot) != SNW_OK) return fail_uncontrollable(t, err);
    for (int i = 0; i < k; i++) {
        const double pivot = fabs(A[i * (k + 1)]);
        least = fmin(least, pivot), most = fmax(most, pivot);
    }
    if (!(least > 1e-10 * most)) return fail_uncontrollable(t, err);
    snw_lu_solve(k, A, lo->pivot, y);
    return SNW_OK;
}

// controlled velocity in lo->w, and its rate
static snw_jet servo_value(const snw_locomotion *lo, const snw_inputs *in, const snw_state *s,
                           snw_servo h) {
    if (h.dof >= 0) return (snw_jet){.v = s->v[h.dof], .d = s->a[h.dof]};
    const snw_mat3 R = lo->w->g[h.seg].R;
    const snw_twist V = lo->w->V[h.seg];
    snw_twist A = lo->w->A[h.seg];
    A.v = snw_add(A.v, snw_rotate_inv(R, in->gravity)); // w->A is relative to free fall
    if (h.body) return (snw_jet){.v = V.e[h.e], .d = A.e[h.e]};
    const snw_vec3 v = h.e < 3 ? V.w : V.v, a = h.e < 3 ? A.w : A.v;
    return (snw_jet){.v = snw_rotate(R, v).e[h.e % 3],
                     .d = snw_rotate(R, snw_add(a, snw_cross(V.w, v))).e[h.e % 3]};
}

double snw_locomotion_servo_rate(const snw_locomotion *lo, int k, double t) {
    if (!lo->row[k].servo) return 0;
    return fabs(snw_expr_jet_t(servo_of(lo, (size_t)k).law, (snw_at){.t = t}).v) / lo->row[k].size;
}

void snw_locomotion_rates(snw_locomotion *lo, const snw_inputs *in, const snw_state *s,
                          double *rate, double *bias) {
    snw_constraints_rates(lo->m, in, s, lo->w, rate, bias);
    if (!lo->has_servo) return;
    for (int k = 0; k < lo->nr; k++) {
        if (!lo->row[k].servo) continue;
        const snw_servo h = servo_of(lo, (size_t)k);
        const snw_jet x = servo_value(lo, in, s, h);
        const snw_jet law = snw_expr_jet_t(h.law, (snw_at){.t = in->t});
        if (rate) rate[lo->row[k].row] = x.v - law.v;
        if (bias) bias[lo->row[k].row] = x.d - law.d;
    }
}
