// SPDX-License-Identifier: MIT
//
// From an unstable equilibrium to a stable one: the rod gets initial velocities and moves by the
// backward Euler formula, whose numerical damping takes energy out of every mode, until it is at
// rest (theory.md 10.7).

#include "shoot/shooter_private.h"

#include "base/fail.h"

#include <math.h>

enum { MOST_STEPS = 300, MOST_FAILURES = 12, PERTURBATIONS = 2 };

// Time scale of bending waves along the rod, s; the period of a cantilever is 2 pi / 3.5 of it.
static double bending_time(const snw_shoot_rod *r) {
    double most = 0;
    for (int i = 0; i < (r->uniform ? 1 : r->npoint); i++) {
        const double *K = r->K + 36 * (ptrdiff_t)i;
        for (int k = 1; k < 3; k++) {
            if (r->active[k]) most = fmax(most, sqrt(r->section[i].M.m / K[7 * k]));
        }
    }
    return most * r->length * r->length;
}

// velocities that grow along the rod up to `speed` at the tip; even and odd `which`: opposite sides
static void perturb_velocities(snw_shoot_rod *r, double speed, int which) {
    const double side = which % 2 == 0 ? 1 : -1;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const double x = (piece->s + j * piece->h) / r->length;
            snw_twist V = snw_twist_zero();
            V.v.y = side * speed * x * x;
            V.v.z = side * 0.7 * speed * x * x;
            V.w.y = -2 * V.v.z / r->length;
            V.w.z = 2 * V.v.y / r->length;
            r->V[piece->node + j] = r->level[0][piece->node + j].V = V;
        }
    }
}

static double fastest(const snw_shoot_rod *r) {
    double most = 0;
    for (int i = 0; i < r->nnode; i++) most = fmax(most, snw_norm(r->V[i].v));
    return most;
}

// does the motion come to rest, away from the first equilibrium?
static bool comes_to_rest(snw_shooter *e, double t, double T, double h) {
    const snw_shoot_rod *r = e->leg[0].r;
    double displacement = 0;
    for (int n = 0, failures = 0; n < MOST_STEPS && failures < MOST_FAILURES; n++) {
        snw_boundary_info info;
        if (snw_shooter_step(e, (snw_levels){.past = 1}, h, t, &info) != SNW_OK) {
            h *= 0.5;
            failures++;
            continue;
        }
        const double speed = fastest(e->leg[0].r) / r->length;
        r = e->leg[0].r; // the step may have replaced the rod by one on a finer grid
        displacement += speed * h;
        // long steps would return to the unstable equilibrium
        if (displacement > 0.3 && speed * h < 0.05) h = fmin(1.5 * h, 1e3 * T);
        if (speed * h > 0.2) h *= 0.7;
        if (displacement > 0.3 && speed * T < 1e-4) return true;
    }
    return false;
}

snw_status snw_shooter_settle(snw_shooter *e, double t, snw_boundary_info *info) {
    if (e->p || e->tree || e->leg[0].feed >= 0) return SNW_E_DIVERGED;
    const double T = bending_time(e->leg[0].r);
    snw_shooter_apply_inputs(e, t, 1);
    const snw_twist base_V = e->leg[0].r->base_V; // inputs that change with time are not supported
    if (!(T > 0) || !isfinite(T) || snw_norm(base_V.v) + snw_norm(base_V.w) > 0) {
        return SNW_E_DIVERGED;
    }
    snw_shooter *from;
    snw_error ignored = {0};
    SNW_TRY(snw_shooter_copy(e, &from, &ignored));
    snw_status status = SNW_E_DIVERGED;
    for (int k = 0; k < PERTURBATIONS && status != SNW_OK; k++) {
        const double h = k == 0 ? 0.1 * T : 0.02 * T;
        if (k > 0 && snw_shooter_copy_fields(e, from, &ignored) != SNW_OK) break;
        snw_shooter_begin(e, h);
        perturb_velocities(e->leg[0].r, 0.1 * e->leg[0].r->length / T, k);
        const bool at_rest = comes_to_rest(e, t, T, h);
        double reached = 0;
        e->t = e->t_laws = t;
        status = at_rest ? snw_shooter_static(e, t, info, &reached) : SNW_E_DIVERGED;
        if (status == SNW_OK && (reached < 1 || snw_shooter_unstable(e) != 0)) {
            status = SNW_E_DIVERGED;
        }
    }
    if (status != SNW_OK && snw_shooter_copy_fields(e, from, &ignored) != SNW_OK) {
        status = SNW_E_MEMORY;
    }
    snw_shooter_destroy(from);
    return status;
}
