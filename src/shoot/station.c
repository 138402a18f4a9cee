// SPDX-License-Identifier: MIT
//
// Stations: external wrench of loads and bodies at a section, its variation, and energies of a rod.
// The rate of momentum of a body is M V_t - ad_V'(M V), with V_t by the time formula from the
// velocity of the section.

#include "shoot/rod.h"

static int station_point(const snw_shoot_rod *r, int piece) {
    return r->piece[piece].point + r->piece[piece].n * r->method->np;
}

static snw_wrench wrench_at_arm(snw_vec3 arm, snw_vec3 torque, snw_vec3 force) {
    snw_wrench W;
    W.f = force;
    W.m = snw_add(torque, snw_cross(arm, force));
    return W;
}

snw_wrench snw_station_external_wrench(const snw_shoot_station *st, const snw_station_step *now,
                                       const snw_shoot_state *y) {
    snw_wrench W = snw_wrench_zero();
    for (int i = 0; i < st->nload; i++) {
        const snw_shoot_load *l = &st->load[i];
        const snw_vec3 f = l->body ? l->W.f : snw_rotate_inv(y->g.R, l->W.f);
        const snw_vec3 m = l->body ? l->W.m : snw_rotate_inv(y->g.R, l->W.m);
        W = snw_wrench_add(W, wrench_at_arm(l->arm, m, f));
    }
    if (!st->has_body) return W;
    const snw_twist Vt = snw_twist_axpy(now->c0, y->V, now->Vh);
    const snw_vec3 weight = snw_rotate_inv(y->g.R, now->gravity);
    W.f = snw_add(W.f, snw_scale(st->M.m, weight));
    W.m = snw_add(W.m, snw_cross(st->M.mc, weight));
    W = snw_wrench_sub(W, snw_inertia_apply(&st->M, Vt));
    return snw_wrench_add(W, snw_ad_pull(y->V, snw_inertia_apply(&st->M, y->V)));
}

static snw_station_step step_of(const snw_shoot_rod *r, int piece) {
    return (snw_station_step){
        .gravity = r->gravity, .c0 = r->formula.c[0], .Vh = r->history[station_point(r, piece)].V};
}

snw_wrench snw_station_wrench(const snw_shoot_rod *r, int piece, const snw_shoot_state *y) {
    const snw_station_step now = step_of(r, piece);
    snw_wrench W = snw_station_external_wrench(&r->station[piece], &now, y);
    for (int i = 0; i < r->nbranch; i++) {
        const snw_shoot_branch *b = &r->branch[i];
        if (b->piece == piece) W = snw_wrench_add(W, snw_wrench_to_parent(b->g, b->F));
    }
    if (r->field) {
        snw_wrench F;
        r->field->at_station(r->field->user, piece, &y->g, &F, NULL);
        W = snw_wrench_add(W, F);
    }
    return W;
}

snw_wrench snw_station_wrench_variation(const snw_shoot_station *st, const snw_station_step *now,
                                        const snw_shoot_state *y, snw_vec3 theta, snw_twist dV) {
    snw_wrench W = snw_wrench_zero();
    for (int i = 0; i < st->nload; i++) {
        const snw_shoot_load *l = &st->load[i];
        if (l->body) continue;
        // d(R'f) = R'f x theta
        const snw_vec3 f = snw_cross(snw_rotate_inv(y->g.R, l->W.f), theta);
        const snw_vec3 m = snw_cross(snw_rotate_inv(y->g.R, l->W.m), theta);
        W = snw_wrench_add(W, wrench_at_arm(l->arm, m, f));
    }
    if (!st->has_body) return W;
    const snw_vec3 weight = snw_cross(snw_rotate_inv(y->g.R, now->gravity), theta);
    W.f = snw_add(W.f, snw_scale(st->M.m, weight));
    W.m = snw_add(W.m, snw_cross(st->M.mc, weight));
    W = snw_wrench_sub(W, snw_wrench_scale(now->c0, snw_inertia_apply(&st->M, dV)));
    W = snw_wrench_add(W, snw_ad_pull(dV, snw_inertia_apply(&st->M, y->V)));
    return snw_wrench_add(W, snw_ad_pull(y->V, snw_inertia_apply(&st->M, dV)));
}

void snw_station_vary(const snw_shoot_rod *r, int piece, const snw_shoot_state *y, int columns,
                      const double *S, double *dW) {
    const snw_station_step now = step_of(r, piece);
    for (int c = 0; c < columns; c++) {
        snw_vec3 theta = {{0}};
        snw_twist dV;
        for (int i = 0; i < 3 && r->world; i++) theta.e[i] = S[(SNW_ROW_G + i) * columns + c];
        for (int i = 0; i < 6; i++) dV.e[i] = S[(SNW_ROW_V + i) * columns + c];
        const snw_wrench W = snw_station_wrench_variation(&r->station[piece], &now, y, theta, dV);
        for (int i = 0; i < 6; i++) dW[i * columns + c] = W.e[i];
    }
    if (!r->field) return;
    snw_wrench F;
    double A[36];
    r->field->at_station(r->field->user, piece, &y->g, &F, A);
    for (int i = 0; i < 36; i++) {
        const double *zeta = S + (SNW_ROW_G + i % 6) * columns;
        for (int c = 0; c < columns; c++) dW[(i / 6) * columns + c] += A[i] * zeta[c];
    }
}

// ---- energies -----------------------------------------------------------------------------------

static double station_kinetic(const snw_inertia *M, snw_twist V) {
    return 0.5 * snw_power(snw_inertia_apply(M, V), V);
}

static double gravity_energy(snw_vec3 gravity, const snw_inertia *M, snw_se3 g) {
    return -snw_dot(gravity, snw_add(snw_scale(M->m, g.p), snw_rotate(g.R, M->mc)));
}

snw_shoot_energy snw_station_energies(const snw_shoot_station *st, snw_vec3 gravity, snw_se3 g,
                                      snw_twist V) {
    if (!st->has_body) return (snw_shoot_energy){0, 0, 0};
    return (snw_shoot_energy){.kinetic = station_kinetic(&st->M, V),
                              .gravity = gravity_energy(gravity, &st->M, g)};
}

// Gregory's rule, theory.md (10.5): the trapezoidal rule with differences at the ends, as many as
// the order of the march requires. The tables hold the corrections to the unit weights of the first
// nodes; the last nodes get the same. A short piece has as many differences as intervals; the rules
// of Simpson, 3/8 and Boole are special cases.
double snw_shoot_weight(const snw_shoot_rod *r, const snw_shoot_piece *piece, int j) {
    static const double two[] = {-1.0 / 2}, four[] = {-5.0 / 8, 1.0 / 6, -1.0 / 24},
                        six[] = {-193.0 / 288, 77.0 / 240, -7.0 / 30, 73.0 / 720, -3.0 / 160};
    const int n = piece->n;
    const bool trapezoidal = r->form || r->interpolation == SNW_HISTORY_LINEAR;
    const bool coarse = trapezoidal || r->method->kind == SNW_ALONG_EULER || n < 2;
    const bool fine = !coarse && r->method->kind == SNW_ALONG_DP5 && n >= 4;
    const double *add = coarse ? two : fine ? six : four;
    const int most = coarse ? 1 : fine ? 5 : 3;
    double w = 1;
    if (j < most) w += add[j];
    if (n - j < most) w += add[n - j];
    return w * piece->h;
}

snw_shoot_energy snw_shoot_energies(const snw_shoot_rod *r) {
    snw_shoot_energy E = {0, 0, 0};
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const double w = snw_shoot_weight(r, piece, j);
            const int node = piece->node + j, point = piece->point + j * r->method->np;
            const ptrdiff_t at = r->uniform ? 0 : point;
            const snw_shoot_history *x = &r->level[0][node];
            double elastic = 0;
            for (int i = 0; i < 6; i++) {
                for (int k = 0; k < 6; k++) {
                    elastic += r->K[36 * at + 6 * i + k] * x->e.e[i] * x->e.e[k];
                }
            }
            E.elastic += 0.5 * w * elastic;
            E.kinetic += w * station_kinetic(&r->section[at].M, x->V);
            E.gravity += w * gravity_energy(r->gravity, &r->section[at].M, r->g[node]);
        }
        const int end = piece->node + piece->n;
        const snw_shoot_energy body =
            snw_station_energies(&r->station[p], r->gravity, r->g[end], r->level[0][end].V);
        E.kinetic += body.kinetic;
        E.gravity += body.gravity;
    }
    return E;
}
