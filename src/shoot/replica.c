// SPDX-License-Identifier: MIT
//
// Runge-Kutta on (p, h, n, m, q, w) with p' = R v, h' = (-u.hv, h1 u + hv x u)/2, n = R N, so that n' = R (N' + u x N) with the
// slopes of field.h, and likewise m. R(h) does not depend on the length of h, and h' is linear in h: to begin with a unit
// quaternion at any node changes nothing.
#include "shoot/replica.h"

#include "shoot/field.h"

typedef struct world {
    snw_vec3 p, n, m;
    snw_quat h;
    snw_twist V;
} world;

enum { NUMBERS = sizeof(world) / sizeof(double) };

static snw_shoot_state to_body(const world *y) {
    snw_shoot_state b = {.g = {snw_quat_to_mat3(y->h), y->p}, .V = y->V};
    b.F.f = snw_rotate_inv(b.g.R, y->n);
    b.F.m = snw_rotate_inv(b.g.R, y->m);
    return b;
}

static world slope(const snw_shoot_rod *r, int point, const world *y) {
    const snw_shoot_state b = to_body(y);
    const snw_mat3 R = b.g.R;
    const snw_vec3 weight = snw_rotate_inv(R, r->gravity);
    snw_flow x = {.w = snw_pack_load(b.V.w.e),
                  .v = snw_pack_load(b.V.v.e),
                  .m = snw_pack_load(b.F.m.e),
                  .f = snw_pack_load(b.F.f.e),
                  .weight = snw_pack_load(weight.e)};
    int flags = SNW_FIELD_WORLD;
    if (r->density) {
        const snw_vec3 f = snw_rotate_inv(R, r->density[point].force);
        const snw_vec3 t = snw_rotate_inv(R, r->density[point].torque);
        x.force = snw_pack_load(f.e), x.torque = snw_pack_load(t.e);
        flags |= SNW_FIELD_LOADS;
    }
    const snw_field_section q = snw_field_section_of(r->uniform ? r->section : r->section + point);
    snw_field_at(flags, r, &q, point, false, NULL, &x);
    snw_twist xi, Vs;
    snw_wrench Fs;
    snw_pack_store(x.k, xi.w.e), snw_pack_store(x.l, xi.v.e);
    snw_pack_store(x.ws, Vs.w.e), snw_pack_store(x.vs, Vs.v.e);
    snw_pack_store(x.ms, Fs.m.e), snw_pack_store(x.fs, Fs.f.e);
    const snw_vec3 u = xi.w, hv = {{y->h.x, y->h.y, y->h.z}};
    const snw_vec3 hs = snw_scale(0.5, snw_add(snw_scale(y->h.w, u), snw_cross(hv, u)));
    return (world){.p = snw_rotate(R, xi.v),
                   .n = snw_rotate(R, snw_add(Fs.f, snw_cross(u, b.F.f))),
                   .m = snw_rotate(R, snw_add(Fs.m, snw_cross(u, b.F.m))),
                   .h = {{-0.5 * snw_dot(u, hv), hs.x, hs.y, hs.z}},
                   .V = Vs};
}

static void axpy(double s, const world *x, world *y) {
    const double *a = (const double *)(const void *)x;
    double *b = (double *)(void *)y;
    for (int i = 0; i < NUMBERS; i++) b[i] += s * a[i];
}

void snw_replica_march(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                       snw_shoot_state *end) {
    const snw_along *m = r->method;
    const snw_shoot_piece *piece = &r->piece[snw_shoot_piece_of(r, node)];
    world y = {.p = start->g.p,
               .n = snw_rotate(start->g.R, start->F.f),
               .m = snw_rotate(start->g.R, start->F.m),
               .h = snw_quat_from_mat3(start->g.R),
               .V = start->V};
    snw_se3 g = start->g;
    for (int j = 0; j < n; j++) {
        const int point = piece->point + (node + j - piece->node) * m->np;
        world k[SNW_SHOOT_STAGES], next = y;
        for (int i = 0; i < m->stages; i++) {
            world stage = y;
            for (int l = 0; l < i; l++) axpy(piece->h * m->a[i][l], &k[l], &stage);
            k[i] = slope(r, point + m->at[i], &stage);
            axpy(piece->h * m->b[i], &k[i], &next);
        }
        y = next;
        *end = to_body(&y);
        r->W[node + j] = snw_se3_log(snw_se3_mul(snw_se3_inv(g), end->g));
        g = end->g;
        if (j + 1 == n) return;
        r->g[node + j + 1] = end->g;
        r->V[node + j + 1] = end->V;
        r->F[node + j + 1] = end->F;
    }
}

// ---- variations -------------------------------------------------------------------------------------

// by what the rows of a variation are measured
static double typical(const snw_shoot_rod *r, int row) {
    const double c0 = r->formula.c[0] > 0 ? r->formula.c[0] : 1;
    const double turn[] = {1, c0, r->force * r->length},
                 shift[] = {r->length, c0 * r->length, r->force};
    return row % 6 < 3 ? turn[row / 6] : shift[row / 6];
}

static snw_shoot_state moved(const snw_shoot_state *y, double by, int ld, const double *column) {
    snw_shoot_state out = *y;
    snw_vec3 w, v;
    for (int i = 0; i < 3; i++) {
        w.e[i] = by * column[i * ld];
        v.e[i] = by * column[(3 + i) * ld];
    }
    out.g.R = snw_mat3_mul(y->g.R, snw_so3_exp(w));
    out.g.p = snw_add(y->g.p, snw_rotate(y->g.R, v));
    for (int i = 0; i < 6; i++) {
        out.V.e[i] += by * column[(SNW_ROW_V + i) * ld];
        out.F.e[i] += by * column[(SNW_ROW_F + i) * ld];
    }
    return out;
}

void snw_replica_march_vary(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                            int columns, double *S, snw_shoot_state *end) {
    snw_replica_march(r, node, n, start, end);
    const snw_mat3 R = end->g.R;
    for (int c = 0; c < columns; c++) {
        double size = 0;
        for (int i = 0; i < SNW_ROW_Z; i++) {
            size = fmax(size, fabs(S[i * columns + c]) / typical(r, i));
        }
        if (size == 0) continue;       // one that is there to fill up a pair
        const double by = 1e-5 / size; // rounding and the third derivative lose 1e-10 each
        snw_shoot_state ahead = moved(start, by, columns, S + c),
                        behind = moved(start, -by, columns, S + c);
        snw_replica_march(r, node, n, &ahead, &ahead);
        snw_replica_march(r, node, n, &behind, &behind);
        const snw_vec3 w = snw_so3_log(snw_mat3_mul(snw_mat3_transpose(behind.g.R), ahead.g.R));
        const snw_vec3 v = snw_rotate_inv(R, snw_sub(ahead.g.p, behind.g.p));
        for (int i = 0; i < 6; i++) {
            S[i * columns + c] = (i < 3 ? w.e[i] : v.e[i - 3]) / (2 * by);
            S[(SNW_ROW_V + i) * columns + c] = (ahead.V.e[i] - behind.V.e[i]) / (2 * by);
            S[(SNW_ROW_F + i) * columns + c] = (ahead.F.e[i] - behind.F.e[i]) / (2 * by);
        }
    }
    snw_replica_march(r, node, n, start, end); // the nodes between
}
