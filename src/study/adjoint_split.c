// SPDX-License-Identifier: MIT
//
// Free joints on SO(3) x R^3 (`base: split`), theory.md (7.5.34). The scheme knows the chart rates
// c = (w, p') and accelerations of a free joint, p' in axes of the world, in place of its body
// twist (w, v); with p' = R v and p" = R (v' + w x v)
//
//     delta p' = R (delta v + zeta_w x v),
//     delta p" = R (delta v' + delta w x v + w x delta v + zeta_w x (v' + w x v))
//
// Bars of rates and accelerations are those by body twists outside of a step, and by chart rates in
// it; those of the past of the scheme are always by chart rates.
#include "study/adjoint_private.h"

#include "dynamics/chart.h"

#include <string.h>

// A free joint at a state.
typedef struct joint_state {
    snw_mat3 R;
    snw_vec3 w, v, b; // angular and linear velocity, v' + w x v, body axes
} joint_state;

static joint_state joint_at(const snw_block *b, const snw_state *s) {
    joint_state x = {.R = snw_so3_from_numbers(s->q + b->q)};
    snw_vec3 a;
    for (int i = 0; i < 3; i++) {
        x.w.e[i] = s->v[b->dof + i];
        x.v.e[i] = s->v[b->dof + 3 + i];
        a.e[i] = s->a[b->dof + 3 + i];
    }
    x.b = snw_add(a, snw_cross(x.w, x.v));
    return x;
}

static snw_vec3 part(const double *x, int at) { return (snw_vec3){{x[at], x[at + 1], x[at + 2]}}; }

static void put(snw_vec3 v, double *x, int at) {
    for (int i = 0; i < 3; i++) x[at + i] = v.e[i];
}

static void add(snw_vec3 v, double *x, int at) {
    for (int i = 0; i < 3; i++) x[at + i] += v.e[i];
}

// ---- variations ---------------------------------------------------------------------------------

void adjoint_split_to_chart(const snw_model *m, const snw_state *s, const double *place,
                            double *rate, double *acc) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space != SNW_SPACE_SE3) continue;
        const joint_state x = joint_at(b, s);
        const int w = b->dof, v = b->dof + 3;
        const snw_vec3 z = part(place, w), dw = part(rate, w), dv = part(rate, v);
        snw_vec3 da = snw_add(part(acc, v), snw_cross(dw, x.v));
        da = snw_add(snw_add(da, snw_cross(x.w, dv)), snw_cross(z, x.b));
        put(snw_rotate(x.R, snw_add(dv, snw_cross(z, x.v))), rate, v);
        put(snw_rotate(x.R, da), acc, v);
    }
}

void adjoint_split_to_body(const snw_model *m, const snw_state *s, const double *place,
                           double *rate, double *acc) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space != SNW_SPACE_SE3) continue;
        const joint_state x = joint_at(b, s);
        const int w = b->dof, v = b->dof + 3;
        const snw_vec3 z = part(place, w), dw = part(rate, w);
        const snw_vec3 dv = snw_sub(snw_rotate_inv(x.R, part(rate, v)), snw_cross(z, x.v));
        snw_vec3 da = snw_sub(snw_rotate_inv(x.R, part(acc, v)), snw_cross(z, x.b));
        da = snw_sub(snw_sub(da, snw_cross(dw, x.v)), snw_cross(x.w, dv));
        put(dv, rate, v);
        put(da, acc, v);
    }
}

// ---- bars ---------------------------------------------------------------------------------------

void adjoint_split_bars_to_chart(const snw_model *m, const snw_state *s, double *place,
                                 double *rate, double *acc) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space != SNW_SPACE_SE3) continue;
        const joint_state x = joint_at(b, s);
        const int w = b->dof, v = b->dof + 3;
        const snw_vec3 A = part(acc, v);
        // delta v' = R'delta p" - zeta x b - delta w x v - w x delta v
        const snw_vec3 V = snw_sub(part(rate, v), snw_cross(A, x.w));
        add(snw_cross(A, x.b), place, w);
        add(snw_scale(-1, snw_cross(x.v, A)), rate, w);
        put(snw_rotate(x.R, A), acc, v);
        // delta v = R'delta p' - zeta x v
        add(snw_cross(V, x.v), place, w);
        put(snw_rotate(x.R, V), rate, v);
    }
}

void adjoint_split_bars_to_body(const snw_model *m, const snw_state *s, double *place, double *rate,
                                double *acc) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space != SNW_SPACE_SE3) continue;
        const joint_state x = joint_at(b, s);
        const int w = b->dof, v = b->dof + 3;
        const snw_vec3 A = snw_rotate_inv(x.R, part(acc, v));
        const snw_vec3 V = snw_rotate_inv(x.R, part(rate, v));
        add(snw_add(snw_cross(x.b, A), snw_cross(x.v, V)), place, w);
        add(snw_cross(x.v, A), rate, w);
        put(snw_add(V, snw_cross(A, x.w)), rate, v);
        put(A, acc, v);
    }
}

// ---- tangents -----------------------------------------------------------------------------------

void adjoint_split_tangents(snw_adjoint *a, const snw_state *s) {
    const snw_model *m = a->m;
    const int nv = m->nv;
    double *place = a->line, *rate = place + nv, *acc = rate + nv; // unit variations
    double *column = acc + nv;                                     // 3 nv
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space != SNW_SPACE_SE3) continue;
        double by[3][6][18]; // body place, rate, acceleration by those of the chart
        for (int of = 0; of < 3; of++) {
            for (int k = 0; k < 6; k++) {
                memset(place, 0, 3 * (size_t)nv * sizeof *place);
                place[of * nv + b->dof + k] = 1;
                adjoint_split_to_body(m, s, place, rate, acc);
                for (int i = 0; i < 6; i++) {
                    by[of][k][i] = place[b->dof + i];
                    by[of][k][6 + i] = rate[b->dof + i];
                    by[of][k][12 + i] = acc[b->dof + i];
                }
            }
        }
        for (int row = 0; row < nv; row++) {
            double *const from[3] = {a->K, a->D, a->M};
            for (int i = 0; i < 18; i++)
                column[i] = from[i / 6][(size_t)nv * (size_t)(b->dof + i % 6) + (size_t)row];
            for (int of = 0; of < 3; of++) {
                for (int k = 0; k < 6; k++) {
                    double sum = 0;
                    for (int i = 0; i < 18; i++) sum += column[i] * by[of][k][i];
                    from[of][(size_t)nv * (size_t)(b->dof + k) + (size_t)row] = sum;
                }
            }
        }
    }
}

const double *adjoint_turn(const snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    if (!map->split) return map->d;
    memcpy(a->turn, map->d, (size_t)m->nv * sizeof *a->turn);
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        for (int i = 3; i < 6 && b->space == SNW_SPACE_SE3; i++) a->turn[b->dof + i] = 0;
    }
    return a->turn;
}

void adjoint_split_end(snw_adjoint *a, const snw_state *s) {
    for (int i = 0; i < a->nscalar && a->split; i++) {
        const snw_bars *b = &a->bars[i];
        adjoint_split_bars_to_body(a->m, s, b->place, b->rate, b->acc);
    }
    a->split = false;
}
