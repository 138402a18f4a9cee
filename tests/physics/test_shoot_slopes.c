// SPDX-License-Identifier: MIT
//
// Variations of the boundary-value engine against differences of its marches: every method, rods of all kinds, laws with
// quantities of their own, stations. With numbers of 113 bits the differences leave fifteen digits.
#include "shoot/march.h"

#include "near.h"

#ifdef SNW_WIDE
static const double step = 1e-13, close = 1e-15;
#else
static const double step = 1e-6, close = 2e-7;
#endif

enum { N = 5, COLUMNS = 26, NZ = 2, POINTS = 5 * N + 1 };

// a small generator of our own: the same rods everywhere
static unsigned long long seed = 1;
static double any(void) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 33) / 2147483648.0 * 2 - 1;
}

typedef struct rig {
    snw_shoot_rod r;
    snw_shoot_piece piece;
    snw_shoot_station station;
    snw_shoot_section section[POINTS];
    snw_shoot_density density[POINTS];
    snw_shoot_history history[POINTS];
    double zh[POINTS * NZ], z[(N + 1) * NZ];
    snw_se3 g[N + 1];
    snw_twist V[N + 1], W[N + 1];
    snw_wrench F[N + 1];
    snw_shoot_law law;
} rig;

// strains that follow wrenches and z, z that follow both
static void strain(void *user, const snw_law_in *in, bool slopes, snw_law_out *out) {
    (void)user;
    *out = (snw_law_out){0};
    for (int i = 0; i < 6; i++) {
        const double C = in->section->C[7 * i], push = in->F.e[i] - (i + 1) * sin(in->z[0]);
        out->e.e[i] = C * push + 0.1 * in->eh.e[i];
        out->zs[1] += out->e.e[i] * (0.3 + 0.1 * i);
        if (!slopes) continue;
        out->D[i][i] = C;
        out->D[i][6] = -C * (i + 1) * cos(in->z[0]);
        out->D[7][i] += C * (0.3 + 0.1 * i);
        out->D[7][6] += out->D[i][6] * (0.3 + 0.1 * i);
    }
    out->zs[0] = in->z[1] * in->z[1] + in->c0 * in->z[0] + in->zh[0];
    if (!slopes) return;
    out->D[6][6] = in->c0;
    out->D[6][7] = 2 * in->z[1];
}

static snw_twist any_twist(double size) {
    snw_twist x;
    for (int i = 0; i < 6; i++) x.e[i] = size * any();
    return x;
}

static void fill_section(snw_shoot_section *s, bool diagonal) {
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k <= i; k++) {
            const double c = i == k ? 1 + 0.5 * any() : (diagonal ? 0 : 0.1 * any());
            const double b = i == k ? 0.3 : (diagonal ? 0 : 0.05 * any());
            s->C[6 * i + k] = s->C[6 * k + i] = c;
            s->B[6 * i + k] = s->B[6 * k + i] = b;
        }
    }
    s->rest = any_twist(0.4);
    s->rest.v.x += 1;
    s->M = (snw_inertia){.m = 1.3, .I = {0.4, 0.5, 0.7}};
    if (!diagonal) {
        s->M.mc = (snw_vec3){{0.1 * any(), 0.1 * any(), 0.1 * any()}};
        for (int i = 3; i < 6; i++) s->M.I[i] = 0.05 * any();
    }
    for (int i = 0; i < 3; i++) s->drag[i] = 0.2 + 0.1 * any();
}

static void make(rig *k, snw_space_kind along, bool diagonal, bool world, bool law) {
    *k = (rig){.law = {.nz = NZ, .strain = strain}};
    snw_shoot_rod *r = &k->r;
    r->method = snw_along_of(along);
    r->npiece = 1, r->nnode = N + 1, r->npoint = N * r->method->np + 1;
    k->piece = (snw_shoot_piece){.n = N, .h = 0.13};
    r->piece = &k->piece;
    r->station = &k->station;
    r->section = k->section;
    r->history = k->history;
    r->zh = k->zh, r->z = k->z;
    r->g = k->g, r->V = k->V, r->F = k->F, r->W = k->W;
    r->diagonal = diagonal;
    r->damped = r->drags = true;
    r->world = world;
    r->law = law ? &k->law : NULL;
    r->formula.c[0] = 1.7;
    for (int i = 0; i < r->npoint; i++) {
        fill_section(&k->section[i], diagonal);
        k->history[i] = (snw_shoot_history){any_twist(0.5), any_twist(0.5)};
        for (int c = 0; c < NZ; c++) k->zh[i * NZ + c] = any();
        k->density[i].body.m.x = any(), k->density[i].body.f.z = any();
        if (!world) continue;
        for (int c = 0; c < 3; c++) k->density[i].force.e[c] = any();
        for (int c = 0; c < 3; c++) k->density[i].torque.e[c] = any();
    }
    r->density = k->density;
    if (world) r->gravity = (snw_vec3){{1.1, -2, 0.7}};
    k->station = (snw_shoot_station){.nload = 2, .has_body = true};
    for (int i = 0; i < 2; i++) {
        k->station.load[i] = (snw_shoot_load){.body = i == 0, .arm = {{any(), any(), any()}}};
        for (int c = 0; c < 6; c++) k->station.load[i].W.e[c] = any();
    }
    k->station.M =
        (snw_inertia){.m = 0.8, .mc = {{0.1, -0.2, 0.05}}, .I = {0.6, 0.5, 0.4, 0.02, -0.03, 0.01}};
}

static snw_shoot_state any_state(void) {
    snw_shoot_state y = {.g = snw_se3_exp(any_twist(0.8)), .V = any_twist(0.7)};
    for (int i = 0; i < 6; i++) y.F.e[i] = any();
    for (int i = 0; i < NZ; i++) y.z[i] = 0.5 * any();
    return y;
}

// y moved along row `row` of a variation
static snw_shoot_state moved(snw_shoot_state y, int row, double by) {
    snw_twist zeta = snw_twist_zero();
    if (row < SNW_ROW_V) {
        zeta.e[row] = by;
        y.g = snw_se3_mul(y.g, snw_se3_exp(zeta));
    } else if (row < SNW_ROW_F) {
        y.V.e[row - SNW_ROW_V] += by;
    } else if (row < SNW_ROW_Z) {
        y.F.e[row - SNW_ROW_F] += by;
    } else {
        y.z[row - SNW_ROW_Z] += by;
    }
    return y;
}

// (b - a)/(2 step), in rows about the state o
static void difference(const snw_shoot_state *o, const snw_shoot_state *a, const snw_shoot_state *b,
                       double out[SNW_ROW_Z + NZ]) {
    const snw_se3 inv = snw_se3_inv(o->g);
    const snw_twist za = snw_se3_log(snw_se3_mul(inv, a->g));
    const snw_twist zb = snw_se3_log(snw_se3_mul(inv, b->g));
    for (int i = 0; i < 6; i++) {
        out[SNW_ROW_G + i] = (zb.e[i] - za.e[i]) / (2 * step);
        out[SNW_ROW_V + i] = (b->V.e[i] - a->V.e[i]) / (2 * step);
        out[SNW_ROW_F + i] = (b->F.e[i] - a->F.e[i]) / (2 * step);
    }
    for (int i = 0; i < NZ; i++) out[SNW_ROW_Z + i] = (b->z[i] - a->z[i]) / (2 * step);
}

static void compare(snw_space_kind along, bool diagonal, bool world, bool law, bool loads) {
    static rig k;
    make(&k, along, diagonal, world, law);
    if (!loads) k.r.density = NULL;
    const snw_shoot_state y = any_state();
    const int rows = SNW_ROW_Z + (law ? NZ : 0);
    double S[SNW_SHOOT_ROWS * COLUMNS] = {0};
    for (int i = 0; i < rows; i++) S[i * COLUMNS + i] = 1;
    snw_shoot_state end, plain, a, b;
    snw_shoot_march_vary(&k.r, 0, N, true, &y, COLUMNS, S, &end);
    snw_shoot_march(&k.r, 0, N, true, &y, &plain);
    for (int i = 0; i < 6; i++) assert_near(plain.F.e[i], end.F.e[i], 1e-14);
    double dW[6 * COLUMNS];
    snw_station_vary(&k.r, 0, &end, COLUMNS, S, dW);
    for (int c = 0; c < rows; c++) {
        const snw_shoot_state ya = moved(y, c, -step), yb = moved(y, c, step);
        double d[SNW_ROW_Z + NZ];
        snw_shoot_march(&k.r, 0, N, true, &ya, &a);
        snw_shoot_march(&k.r, 0, N, true, &yb, &b);
        difference(&end, &a, &b, d);
        for (int i = 0; i < rows; i++) assert_near(S[i * COLUMNS + c], d[i], close);
        if (!world) continue; // dead loads belong to the world
        const snw_wrench Wa = snw_station_wrench(&k.r, 0, &a), Wb = snw_station_wrench(&k.r, 0, &b);
        for (int i = 0; i < 6; i++) {
            assert_near(dW[i * COLUMNS + c], (Wb.e[i] - Wa.e[i]) / (2 * step), 10 * close);
        }
    }
}

static void variations_are_derivatives(void **state) {
    (void)state;
    for (snw_space_kind along = SNW_ALONG_EULER; along <= SNW_ALONG_DP5; along++) {
        for (int kind = 0; kind < 16; kind++) {
            const bool diagonal = kind & 1, world = kind & 2, law = kind & 4, loads = kind & 8;
            compare(along, diagonal, world, law, loads);
        }
    }
}

// instructions of any processor and those of this one
static void instructions_agree(void **state) {
    (void)state;
    for (int kind = 0; kind < 48; kind++) {
        static rig k;
        make(&k, (snw_space_kind)(kind / 16), kind & 1, kind & 2, kind & 4);
        if (kind & 8) k.r.density = NULL;
        const snw_shoot_state y = any_state();
        const int rows = SNW_ROW_Z + (kind & 4 ? NZ : 0);
        double A[SNW_SHOOT_ROWS * COLUMNS] = {0}, B[SNW_SHOOT_ROWS * COLUMNS] = {0};
        for (int i = 0; i < rows; i++) A[i * COLUMNS + i] = B[i * COLUMNS + i] = 1;
        snw_shoot_state a, plain = y, b = y;
        snw_shoot_march_vary(&k.r, 0, N, true, &y, COLUMNS, A, &a);
        snw_march_any(&k.r, 0, N, true, COLUMNS, B, &b);
        snw_march_any(&k.r, 0, N, true, 0, NULL, &plain);
        for (int i = 0; i < rows * COLUMNS; i++) assert_near(A[i], B[i], 1e-12);
        for (int i = 0; i < 6; i++) {
            assert_near(a.V.e[i], b.V.e[i], 1e-12);
            assert_near(a.F.e[i], b.F.e[i], 1e-12);
            assert_near(plain.F.e[i], b.F.e[i], 1e-12);
        }
        for (int i = 0; i < 3; i++) assert_near(a.g.p.e[i], b.g.p.e[i], 1e-12);
    }
}

// without loads of the world the whole solution turns and moves with its start
static void nothing_depends_on_the_place(void **state) {
    (void)state;
    static rig k;
    make(&k, SNW_ALONG_RK4, true, false, false);
    const snw_shoot_state y = any_state();
    snw_shoot_state away = y, end, there;
    const snw_se3 g = snw_se3_exp(any_twist(2));
    away.g = snw_se3_mul(g, y.g);
    snw_shoot_march(&k.r, 0, N, true, &y, &end);
    snw_shoot_march(&k.r, 0, N, true, &away, &there);
    const snw_se3 want = snw_se3_mul(g, end.g);
    for (int i = 0; i < 3; i++) assert_near(there.g.p.e[i], want.p.e[i], 1e-14);
    for (int i = 0; i < 6; i++) assert_near(there.F.e[i], end.F.e[i], 0);
    for (int i = 0; i < 6; i++) assert_near(there.V.e[i], end.V.e[i], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variations_are_derivatives),
        cmocka_unit_test(instructions_agree),
        cmocka_unit_test(nothing_depends_on_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
