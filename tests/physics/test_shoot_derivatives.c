// SPDX-License-Identifier: MIT
//
// Variations of the shooting engine against derivatives of its marches: every method, rods of all
// kinds, laws with variables of their own, tendons and chambers, stations; the matrix of a plate on
// legs; and the Newton step of rods on rods. Complex steps and differences in numbers of 113 bits
// give all digits of doubles, differences in doubles some.
#include "base/pool.h"
#include "math/expr.h"
#include "shoot/march.h"
#include "shoot/platform.h"
#include "shoot/tendons.h"
#include "shoot/tree.h"

#include "near.h"

// A derivative uses two points, one on each side of the state; with complex steps one of them is
// the state itself.
#if defined(SNW_COMPLEX)
#define STEP 1e-100
static const double close = 1e-13, solved = 1e-16;
static double beside(int k) { return {0, k * STEP}; }
static double slope_of(double a, double b) { return (b.im - a.im) / STEP; }
#elif defined(SNW_WIDE)
static const double step = 1e-13, close = 1e-15, solved = 1e-30;
static double beside(int k) { return (2 * k - 1) * step; }
static double slope_of(double a, double b) { return (b - a) / (2 * step); }
#else
static const double step = 1e-6, close = 2e-7, solved = 1e-12;
static double beside(int k) { return (2 * k - 1) * step; }
static double slope_of(double a, double b) { return (b - a) / (2 * step); }
#endif

enum { N = 5, COLUMNS = 26, NZ = 2, POINTS = 5 * N + 1 };

// A small random generator: the same rods on every machine.
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

// Strains that depend on wrenches and z, and z that depends on both; with `user` without its rate,
// with which it would grow along several rods.
static void strain(void *user, const snw_law_in *in, bool slopes, snw_law_out *out) {
    const double rate = user ? 0 : 1;
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
    out->zs[0] = in->z[1] * in->z[1] + rate * (in->c0 * in->z[0] + in->zh[0]);
    if (!slopes) return;
    out->D[6][6] = rate * in->c0;
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

static void fill_station(snw_shoot_station *s, double size) {
    *s = (snw_shoot_station){.nload = 2, .has_body = true};
    for (int i = 0; i < 2; i++) {
        s->load[i] = (snw_shoot_load){.body = i == 0, .arm = {{any(), any(), any()}}};
        for (int c = 0; c < 6; c++) s->load[i].W.e[c] = size * any();
    }
    s->M =
        (snw_inertia){.m = 0.8, .mc = {{0.1, -0.2, 0.05}}, .I = {0.6, 0.5, 0.4, 0.02, -0.03, 0.01}};
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
    fill_station(&k->station, 1);
}

static snw_shoot_state any_state(void) {
    snw_shoot_state y = {.g = snw_se3_exp(any_twist(0.8)), .V = any_twist(0.7)};
    for (int i = 0; i < 6; i++) y.F.e[i] = any();
    for (int i = 0; i < NZ; i++) y.z[i] = 0.5 * any();
    return y;
}

// y moved along row `row` of a variation.
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

// Derivative from a to b, in rows relative to the state o.
static void difference(const snw_shoot_state *o, const snw_shoot_state *a, const snw_shoot_state *b,
                       int nz, double *out) {
    const snw_se3 inv = snw_se3_inv(o->g);
    const snw_twist za = snw_se3_log(snw_se3_mul(inv, a->g));
    const snw_twist zb = snw_se3_log(snw_se3_mul(inv, b->g));
    for (int i = 0; i < 6; i++) {
        out[SNW_ROW_G + i] = slope_of(za.e[i], zb.e[i]);
        out[SNW_ROW_V + i] = slope_of(a->V.e[i], b->V.e[i]);
        out[SNW_ROW_F + i] = slope_of(a->F.e[i], b->F.e[i]);
    }
    for (int i = 0; i < nz; i++) out[SNW_ROW_Z + i] = slope_of(a->z[i], b->z[i]);
}

// A field of force q - p (p.p)/2 at the place p, with the moment n x b; at stations twice as much.
static void put_field(double size, const snw_se3 *g, snw_wrench *W, double *A) {
    const snw_vec3 q = {{0.4, -0.3, 0.2}}, n = {{0.3, 0.5, -0.2}}, b = {{-0.6, 0.2, 0.5}};
    const double pp = snw_dot(g->p, g->p);
    const snw_vec3 c = snw_rotate_inv(g->R, snw_sub(q, snw_scale(0.5 * pp, g->p))),
                   t = snw_rotate_inv(g->R, b), p = snw_rotate_inv(g->R, g->p);
    W->m = snw_scale(size, snw_cross(n, t));
    W->f = snw_scale(size, c);
    if (!A) return;
    const snw_mat3 X = snw_mat3_mul(snw_hat(n), snw_hat(t)), Z = snw_hat(c);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            A[6 * i + k] = size * X.e[i][k];
            A[6 * i + 3 + k] = 0;
            A[6 * (3 + i) + k] = size * Z.e[i][k];
            A[6 * (3 + i) + 3 + k] = -size * (0.5 * pp * (i == k) + p.e[i] * p.e[k]);
        }
    }
}

static void put_along(void *user, int point, const snw_se3 *g, snw_wrench *W, double *A) {
    (void)point;
    put_field(user ? 0.02 : 1, g, W, A);
}

static void put_at_station(void *user, int piece, const snw_se3 *g, snw_wrench *W, double *A) {
    (void)piece;
    put_field(user ? 0.04 : 2, g, W, A);
}

static char weak; // a field weak enough for rods on rods
static const snw_shoot_force_field a_field = {NULL, put_along, put_at_station},
                                   weak_field = {&weak, put_along, put_at_station};

static void compare(snw_space_kind along, bool diagonal, bool world, bool law, bool loads,
                    const snw_shoot_force_field *field) {
    static rig k;
    make(&k, along, diagonal, world, law);
    if (!loads) k.r.density = NULL;
    k.r.field = field;
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
        const snw_shoot_state ya = moved(y, c, beside(0)), yb = moved(y, c, beside(1));
        double d[SNW_ROW_Z + NZ];
        snw_shoot_march(&k.r, 0, N, true, &ya, &a);
        snw_shoot_march(&k.r, 0, N, true, &yb, &b);
        difference(&end, &a, &b, NZ, d);
        for (int i = 0; i < rows; i++) assert_near(S[i * COLUMNS + c], d[i], close);
        if (!world) continue; // dead loads are given in world axes
        const snw_wrench Wa = snw_station_wrench(&k.r, 0, &a), Wb = snw_station_wrench(&k.r, 0, &b);
        for (int i = 0; i < 6; i++) {
            assert_near(dW[i * COLUMNS + c], slope_of(Wa.e[i], Wb.e[i]), 10 * close);
        }
    }
}

static void variations_are_derivatives(void **state) {
    (void)state;
    for (int along = SNW_ALONG_EULER; along <= SNW_ALONG_DP5; along++) {
        for (int kind = 0; kind < 16; kind++) {
            const bool diagonal = kind & 1, world = kind & 2, law = kind & 4, loads = kind & 8;
            compare((snw_space_kind)along, diagonal, world, law, loads, NULL);
        }
    }
}

// Portable instructions against those of this processor.
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

// ---- tendons and chambers -----------------------------------------------------------------------

typedef struct harness {
    snw_pool *pool;
    snw_shoot_rod *r;
    snw_shoot_tendons c;
    snw_chamber_area varies[2];
} harness;

static snw_law law_of(harness *a, const char *text) {
    const snw_expr_rules rules = {.vars = SNW_VAR_X | SNW_VAR_L};
    const snw_expr *out = NULL;
    snw_error err = {.status = SNW_OK};
    assert_int_equal(snw_expr_parse(a->pool, NULL, text, &rules, "test", 1, 1, &out, &err), SNW_OK);
    return out;
}

static snw_status area_variable(void *user, const char *name, const char *component, int *slot,
                                snw_dim *dim, snw_error *err) {
    (void)user, (void)component, (void)err;
    *slot = name[0] == 's' ? SNW_CHAMBER_STRETCH : SNW_CHAMBER_PRESSURE;
    *dim = SNW_DIM_NONE; // all quantities of these rods are numbers
    return SNW_OK;
}

static const char *no_name(void *user, int i) {
    (void)user, (void)i;
    return NULL;
}

static snw_law area_law_of(harness *a, const char *text) {
    static const snw_signal_source source = {
        .user = NULL, .probe = area_variable, .memory = NULL, .name = no_name};
    const snw_expr_rules rules = {.vars = SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL};
    snw_scope *scope = snw_scope_create(a->pool, NULL);
    const snw_expr *out = NULL;
    snw_error err = {.status = SNW_OK};
    snw_scope_signals(scope, &source);
    assert_int_equal(snw_expr_parse(a->pool, scope, text, &rules, "test", 1, 1, &out, &err),
                     SNW_OK);
    return out;
}

// One tendon of each kind: on a winch, with stretch and friction; with a given tension and
// friction; wound around; and chambers, with a gas and with a given volume, of constant area or of
// one that depends on stretch and pressure.
static void lace(harness *a, bool fluids, bool varies, double L) {
    static const char *const area[2] = {"0.3*(1 + x/L)*(1 + pressure/3)*stretch^-0.4",
                                        "0.2*(1 + stretch/4)"};
    static const char *const at[5][2] = {{"0.1", "0.05"},
                                         {"-0.12", "0.02*x/L"},
                                         {"0.1*cos(3*x/L)", "0.1*sin(3*x/L)"},
                                         {"0.02", "-0.1*(1 + x/L)"},
                                         {"-0.05", "-0.05"}};
    for (int i = fluids ? 3 : 0; i < 5; i++) {
        snw_shoot_tendon *c = &a->c.tendon[a->c.n++];
        c->to = L;
        for (int k = 0; k < 2; k++) c->at[k] = law_of(a, at[i][k]);
        c->value = 0.7 + 0.1 * i;
        if (i == 0) {
            c->given = SNW_SHOOT_TENDON_LENGTH;
            c->compliance = 0.2, c->extra = 0.1, c->rate = 0.3;
        }
        if (i < 2) c->viscous = 0.6, c->friction = 0.3, c->creep = 0.4;
        if (i < 3) continue;
        c->chamber = true;
        c->given = i == 3 ? SNW_SHOOT_TENDON_GAS : SNW_SHOOT_TENDON_VOLUME;
        c->area = varies ? area_law_of(a, area[i - 3]) : law_of(a, "0.3*(1 + x/L)");
        if (varies) snw_chamber_area_prepare(c->area, &a->varies[i - 3]);
        if (varies) c->varies = &a->varies[i - 3];
        c->ambient = 1;
    }
    assert_int_equal(snw_shoot_tendons_law(&a->c), SNW_OK);
}

// A (6 x 6, positive) <- its inverse, by elimination without pivots.
static void invert(double *A) {
    for (int k = 0; k < 6; k++) {
        const double pivot = 1 / A[7 * k];
        A[7 * k] = 1;
        for (int j = 0; j < 6; j++) A[6 * k + j] *= pivot;
        for (int i = 0; i < 6; i++) {
            if (i == k) continue;
            const double f = A[6 * i + k];
            A[6 * i + k] = 0;
            for (int j = 0; j < 6; j++) A[6 * i + j] -= f * A[6 * k + j];
        }
    }
}

// Section and stiffness at a point.
static void fill_point(snw_shoot_rod *r, int p, bool diagonal) {
    fill_section(&r->section[p], diagonal);
    for (int i = 0; i < 36; i++) r->K[36 * p + i] = i % 7 ? (diagonal ? 0 : 0.02) : 2 + 0.3 * i;
}

static void make_laced(harness *a, snw_space_kind along, bool diagonal, bool fluids, bool varies) {
    const double L = 0.65;
    const int n = N;
    const snw_shoot_opts o = {.along = along, .npiece = 1, .length = &L, .intervals = &n};
    *a = (harness){.pool = snw_pool_create(1 << 16)};
    lace(a, fluids, varies, L);
    assert_int_equal(snw_shoot_create(&o, &a->c.law, false, true, &a->r), SNW_OK);
    snw_shoot_rod *r = a->r;
    r->formula.c[0] = 1.7;
    r->gravity = (snw_vec3){{1.1, -2, 0.7}};
    for (int p = 0; p < r->npoint; p++) {
        snw_shoot_section *s = &r->section[p];
        fill_point(r, p, diagonal);
        for (int i = 0; i < 36; i++) s->C[i] = r->K[36 * p + i] + 1.7 * s->B[i];
        invert(s->C);
        r->history[p] = (snw_shoot_history){any_twist(0.5), any_twist(0.5)};
        for (int i = 0; i < a->c.law.nz; i++) r->zh[p * a->c.law.nz + i] = any();
        r->density[p].force.x = any();
    }
    assert_int_equal(snw_shoot_ready(r, 0), SNW_OK);
    assert_int_equal(snw_shoot_tendons_place(&a->c, r), SNW_OK);
}

// Search the strains by Newton's method, not by the chord method, which stops before its derivative
// is as accurate as the strains.
static void search_anew(harness *a) {
    for (int p = 0; p < a->r->npoint; p++) a->c.known[p] = false;
}

static void compare_laced(snw_space_kind along, bool diagonal, bool fluids, bool varies) {
    harness k;
    make_laced(&k, along, diagonal, fluids, varies);
    const int nz = k.c.law.nz, rows = SNW_ROW_Z + nz;
    snw_shoot_state y = any_state();
    for (int i = 0; i < nz; i++) y.z[i] = 0.6 + 0.1 * any();
    double S[SNW_SHOOT_ROWS * COLUMNS];
    snw_shoot_state end, a, b;
    for (int again = 0; again < 2;
         again++) { // strains are found to 1e-13, starting from the previous ones
        for (int i = 0; i < SNW_SHOOT_ROWS * COLUMNS; i++) S[i] = 0;
        for (int i = 0; i < rows; i++) S[i * COLUMNS + i] = 1;
        snw_shoot_march_vary(k.r, 0, N, true, &y, COLUMNS, S, &end);
    }
    for (int c = 0; c < rows; c++) {
        const snw_shoot_state ya = moved(y, c, beside(0)), yb = moved(y, c, beside(1));
        double d[SNW_SHOOT_ROWS];
        search_anew(&k);
        snw_shoot_march(k.r, 0, N, true, &ya, &a);
        search_anew(&k);
        snw_shoot_march(k.r, 0, N, true, &yb, &b);
        difference(&end, &a, &b, nz, d);
        for (int i = 0; i < rows; i++) assert_near(S[i * COLUMNS + c], d[i], fmax(close, 1e-13));
    }
    snw_shoot_tendons_release(&k.c);
    snw_shoot_destroy(k.r);
    snw_pool_destroy(k.pool);
}

static void variations_with_tendons_are_derivatives(void **state) {
    (void)state;
    for (int along = SNW_ALONG_EULER; along <= SNW_ALONG_DP5; along++) {
        for (int kind = 0; kind < 8; kind++) {
            compare_laced((snw_space_kind)along, kind & 1, kind & 2, kind & 4);
        }
    }
}

// The closing conditions at the tip.
static void boundary_conditions_have_exact_derivatives(void **state) {
    (void)state;
    for (int slack = 0; slack < 2; slack++) {
        harness k;
        make_laced(&k, SNW_ALONG_RK4, true, false, false);
        const int nz = k.c.law.nz, nf = k.c.law.nfree;
        double z[2 * SNW_SHOOT_Z], slope[SNW_SHOOT_Z * 2 * SNW_SHOOT_Z],
            other[SNW_SHOOT_Z * 2 * SNW_SHOOT_Z];
        double gap[2][SNW_SHOOT_Z];
        for (int i = 0; i < 2 * nz; i++) z[i] = 0.6 + 0.1 * any();
        if (slack) z[nz] = -0.4;
        k.c.law.close(k.c.law.user, z, z + nz, gap[0], slope);
        for (int j = 0; j < 2 * nz; j++) {
            for (int side = 0; side < 2; side++) {
                double moved_z[2 * SNW_SHOOT_Z];
                for (int i = 0; i < 2 * nz; i++) moved_z[i] = z[i];
                moved_z[j] += beside(side);
                k.c.law.close(k.c.law.user, moved_z, moved_z + nz, gap[side], other);
            }
            for (int i = 0; i < nf; i++) {
                assert_near(slope[2 * nz * i + j], slope_of(gap[0][i], gap[1][i]), 10 * close);
            }
        }
        snw_shoot_tendons_release(&k.c);
        snw_shoot_destroy(k.r);
        snw_pool_destroy(k.pool);
    }
}

// ---- plates -------------------------------------------------------------------------------------

enum { LEGS = 3, WIDTH = LEGS * (6 + 18 * (N - 1)) + 6 };

typedef struct stand {
    snw_shoot_rod *rod[LEGS];
    snw_platform *p;
    double J[WIDTH][WIDTH]; // derivatives of all equations by all unknowns, the plate's last
} stand;

// A variable-length leg has one piece; others have two, with a body and loads between them and at
// the tip.
static snw_shoot_rod *make_leg(snw_space_kind along, bool variable, bool diagonal) {
    const double length[2] = {variable ? 0.65 : 0.26, 0.39};
    const int n[2] = {variable ? N : 2, N - 2};
    const snw_shoot_opts o = {
        .along = along, .npiece = variable ? 1 : 2, .length = length, .intervals = n};
    snw_shoot_rod *r = NULL;
    assert_int_equal(snw_shoot_create(&o, NULL, true, true, &r), SNW_OK);
    fill_point(r, 0, diagonal);
    for (int p = 0; p < r->npoint; p++) r->density[p].torque.y = 0.3 * any();
    for (int i = 0; i < r->npiece; i++) fill_station(&r->station[i], 0.3);
    r->gravity = (snw_vec3){{0.3, -0.6, 0.2}};
    assert_int_equal(snw_shoot_ready(r, 1), SNW_OK);
    snw_shoot_set_unstressed(r, snw_se3_exp(any_twist(0.8)));
    return r;
}

// Legs of each kind, one of them of variable length, clamped, on hinges about any axis or on
// spherical joints. In the configuration without load the joints are slightly violated.
static void make_stand(stand *s, int trial) {
    static const bool may[5][6] = {{0}, {1}, {0, 1}, {0, 0, 1}, {1, 1, 1}};
    const snw_se3 g = snw_se3_exp(any_twist(0.8));
    snw_leg_end end[LEGS];
    for (int i = 0; i < LEGS; i++) {
        snw_shoot_rod *r = s->rod[i] =
            make_leg((snw_space_kind)(trial % 3), i == 0, (trial + i) % 2);
        end[i].rod = r;
        end[i].tip_frame = snw_se3_exp(any_twist(0.3));
        const snw_se3 tip = snw_se3_mul(r->g[r->nnode - 1], end[i].tip_frame);
        end[i].plate_frame =
            snw_se3_mul(snw_se3_mul(snw_se3_inv(g), tip), snw_se3_exp(any_twist(0.1)));
        memcpy(end[i].free, may[(trial + 2 * i) % 5], sizeof end[i].free);
    }
    snw_boundary_opts o = snw_boundary_defaults();
    o.tol = solved;
    assert_int_equal(snw_platform_create(LEGS, end, g, &o, &s->p), SNW_OK);
    fill_station(&s->p->plate, 0.3);
    snw_platform_ready(s->p);
}

static void solve_stand(stand *s, snw_levels levels, double h) {
    snw_boundary_info info;
    snw_platform_formula(s->p, levels, h);
    assert_int_equal(snw_platform_solve(s->p, &info), SNW_OK);
}

// From an equilibrium, a load changes and the length of the first leg changes.
static void move_stand(stand *s, snw_scheme_kind kind) {
    const double h = 0.1;
    snw_platform_accept(s->p, 1);
    snw_platform_begin(s->p, true, h);
    s->p->plate.load[1].W.f.x += 1;
    for (int i = 0; i < 3; i++) {
        if (i > 0) snw_platform_accept(s->p, h);
        snw_shoot_set_length(s->rod[0], s->rod[0]->length + 0.01 * (i + 1));
        solve_stand(s, snw_scheme_levels(kind, -0.2), h);
    }
}

// out <- residuals of all equations, the plate's balance last. Returns their number.
static int misses(stand *s, double *out) {
    int n = 0;
    assert_true(isfinite(snw_platform_evaluate(s->p)));
    for (int l = 0; l < LEGS; l++) {
        const snw_leg *leg = &s->p->leg[l];
        const snw_segments *cut = leg->b->segments;
        for (int k = 0; k + 1 < cut->n; k++) {
            for (int i = 0; i < cut->na + 6; i++) out[n++] = cut->seg[k].defect[i];
        }
        const snw_wrench G = snw_wrench_to_child(leg->end.tip_frame, leg->tip_wrench);
        for (int i = 0; i < 6; i++) out[n++] = leg->end.free[i] ? G.e[i] : leg->violation[i];
    }
    for (int i = 0; i < 6; i++) out[n++] = s->p->balance.e[i];
    return n;
}

// Set the state at a node; r NULL: the plate.
static void put(stand *s, snw_shoot_rod *r, int node, const snw_shoot_state *y) {
    if (!r) {
        s->p->g = y->g;
        return;
    }
    r->g[node] = y->g;
    r->V[node] = y->V;
    r->F[node] = y->F;
}

// Column `column` of J, by one unknown. Returns the number of rows.
static int slopes_by(stand *s, snw_shoot_rod *r, int node, int row, int column) {
    double side[2][WIDTH];
    snw_shoot_state y = {.g = s->p->g};
    if (r) y.g = r->g[node], y.V = r->V[node], y.F = r->F[node];
    int n = 0;
    for (int k = 0; k < 2; k++) {
        const snw_shoot_state beyond = moved(y, row, beside(k));
        put(s, r, node, &beyond);
        n = misses(s, side[k]);
    }
    put(s, r, node, &y);
    for (int i = 0; i < n; i++) s->J[i][column] = slope_of(side[0][i], side[1][i]);
    return n;
}

// Condense: eliminate the n first unknowns and their equations from the last six rows and columns
// of J.
static void eliminate(int n, double (*J)[WIDTH]) {
    for (int k = 0; k < n; k++) {
        int at = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(J[i][k]) > fabs(J[at][k])) at = i;
        }
        for (int j = 0; j < n + 6; j++) {
            const double x = J[k][j];
            J[k][j] = J[at][j];
            J[at][j] = x;
        }
        for (int i = k + 1; i < n + 6; i++) {
            const double f = J[i][k] / J[k][k];
            for (int j = k; j < n + 6; j++) J[i][j] -= f * J[k][j];
        }
    }
}

// The matrix of the plate against all equations of legs and joints at once, differentiated by each
// unknown, without condensation in the engine.
static void compare_stand(stand *s) {
    double A[36], most = 0;
    assert_int_equal(snw_platform_stiffness(s->p, A), SNW_OK);
    int n = 0;
    for (int l = 0; l < LEGS; l++) {
        const snw_segments *cut = s->p->leg[l].b->segments;
        const int segments = cut->n;
        for (int k = 0; k < segments; k++) {
            for (int row = k ? 0 : SNW_ROW_F; row < SNW_ROW_Z; row++) {
                (void)slopes_by(s, s->rod[l], cut->seg[k].node, row, n++);
            }
        }
    }
    for (int i = 0; i < 6; i++) assert_int_equal(slopes_by(s, NULL, 0, i, n + i), n + 6);
    (void)snw_platform_evaluate(s->p); // restore the nodes
    eliminate(n, s->J);
    for (int i = 0; i < 36; i++) most = fmax(most, fabs(A[i]));
    for (int i = 0; i < 36; i++) assert_near(A[i] / most, s->J[n + i % 6][n + i / 6] / most, close);
}

static void plates_have_their_matrix(void **state) {
    (void)state;
    for (int kind = SNW_SCHEME_EULER; kind <= SNW_SCHEME_BDF_ALPHA; kind++) {
        static stand s;
        make_stand(&s, 1 + kind - SNW_SCHEME_EULER);
        solve_stand(&s, (snw_levels){0}, 1);
        compare_stand(&s);
        move_stand(&s, (snw_scheme_kind)kind);
        compare_stand(&s);
        snw_platform_destroy(s.p);
        for (int i = 0; i < LEGS; i++) snw_shoot_destroy(s.rod[i]);
    }
}

static void variations_with_fields_are_derivatives(void **state) {
    (void)state;
    seed = 7; // rods of which no point has a velocity within a step of zero, where drag has a kink
    for (int along = SNW_ALONG_EULER; along <= SNW_ALONG_DP5; along++) {
        for (int kind = 0; kind < 8; kind++) {
            compare((snw_space_kind)along, kind & 1, true, kind & 2, kind & 4, &a_field);
        }
    }
}

// ---- trees --------------------------------------------------------------------------------------

enum { LIMBS = 6, RESIDUALS = LIMBS * (N * 26 + 27) };

// Conditions in the unknown z[0] of the base, as for a length that is paid out there.
static void close_limb(void *user, const double *tip, const double *base, double *residual,
                       double *jacobian) {
    (void)user;
    residual[0] = tip[1] * tip[0] - 0.4 + 0.3 * base[0] * base[0];
    jacobian[0] = tip[1], jacobian[1] = tip[0];
    jacobian[2] = 0.6 * base[0], jacobian[3] = 0;
}

typedef struct grown {
    snw_shoot_rod *rod[LIMBS];
    snw_shoot_law law[LIMBS];
    snw_shoot_branch branch[LIMBS];
    snw_tree *t;
} grown;

// Two trees: limb 0 carries 1 between its pieces, 2 and 3 at its tip, 4 sits on the tip of 3; 5
// stands alone. Bodies and loads at all stations; with `law` states of a law that limb 4 closes,
// and straight parts of a tendon that cross to limbs 3 and 4; with `field` a field of force on
// limbs 1 and 4.
static void make_tree(grown *x, snw_space_kind along, bool law, bool diagonal, bool field) {
    static const int parent[LIMBS] = {-1, 0, 0, 0, 3, -1}, index[LIMBS] = {0, 0, 1, 2, 0, 0},
                     first[LIMBS] = {0, 3, 3, 3, 4, 4}, count[LIMBS] = {3, 0, 0, 1, 0, 0};
    snw_limb_end end[LIMBS];
    for (int i = 0; i < LIMBS; i++) {
        const double length[2] = {0.26, 0.39};
        const int n[2] = {2, N - 2};
        const snw_shoot_opts o = {.along = along, .npiece = 2, .length = length, .intervals = n};
        x->law[i] = (snw_shoot_law){.nz = NZ, .typical = {1, 1}, .strain = strain, .nfree = 1};
        x->law[i].user = x;
        x->law[i].close = close_limb;
        x->law[i].closes[0] = i == 4 || i == 5;
        assert_int_equal(snw_shoot_create(&o, law ? &x->law[i] : NULL, true, true, &x->rod[i]),
                         SNW_OK);
        snw_shoot_rod *r = x->rod[i];
        fill_point(r, 0, diagonal);
        for (int p = 0; p < r->npoint; p++) r->density[p].torque.y = 0.1 * any();
        for (int p = 0; p < 2; p++) fill_station(&r->station[p], 0.1);
        r->gravity = (snw_vec3){{0.1, -0.2, 0.1}};
        if (field && (i == 1 || i == 4)) r->field = &weak_field;
        r->base_z[1] = 0.2;
        r->carried = parent[i] >= 0;
        r->nbranch = count[i];
        r->branch = x->branch + first[i];
        end[i] = (snw_limb_end){.rod = r, .parent = parent[i], .branch = index[i]};
        assert_int_equal(snw_shoot_ready(r, 1), SNW_OK);
        snw_shoot_set_unstressed(r, snw_se3_exp(any_twist(0.8)));
        for (int j = 0; j < r->nnode && law; j++) r->z[NZ * j] = 0.1, r->z[NZ * j + 1] = 0.2;
    }
    for (int i = 0; i < 4; i++) {
        snw_shoot_branch *b = &x->branch[i];
        *b = (snw_shoot_branch){.piece = i > 0, .g = snw_se3_exp(any_twist(0.3))};
        b->u = any_twist(0.2);
        b->nstraight = law && i > 1;
        b->straight[0] = (snw_shoot_straight){.z = 0, .length = 0.2, .compliance = 0.7};
    }
    snw_boundary_opts o = snw_boundary_defaults();
    o.growth = 0.3; // several segments
    o.tol = solved;
    assert_int_equal(snw_tree_create(LIMBS, end, &o, &x->t), SNW_OK);
    snw_tree_ready(x->t);
}

// out <- residuals of all equations of the last march. Returns their number.
static int tree_misses(const snw_tree *t, bool law, double *out) {
    int n = 0;
    for (int l = 0; l < t->n; l++) {
        const snw_segments *cut = t->limb[l].b->segments;
        for (int k = 0; k + 1 < cut->n; k++) {
            for (int i = 0; i < cut->na + 6; i++) out[n++] = cut->seg[k].defect[i];
        }
        for (int i = 0; i < 6; i++) out[n++] = t->limb[l].residual[i];
        for (int i = 0; i < cut->na && cut->r->carried; i++) out[n++] = t->limb[l].defect[i];
        if (law && t->limb[l].end.parent < 0) out[n++] = t->limb[l].condition[0];
    }
    return n;
}

// Starts <- ends of the segments before, so that there are no defects: Newton's equations are exact
// where rotations match.
static void match_starts(snw_tree *t) {
    snw_boundary_info info = {0};
    for (int i = 0; i < LIMBS; i++) snw_boundary_begin(t->limb[i].b);
    for (int n = 0; n < 3 * N; n++) {
        assert_true(isfinite(snw_tree_march(t, false, &info)));
        for (int i = 0; i < LIMBS; i++) {
            snw_segments *cut = t->limb[i].b->segments;
            for (int k = 0; k + 1 < cut->n; k++) cut->seg[k + 1].start = cut->seg[k].end;
            const snw_shoot_rod *r = cut->r;
            snw_shoot_state *base = &cut->seg[0].start;
            if (!r->carried) continue;
            base->g = r->base, base->V = r->base_V;
            for (int k = 0; k < snw_shoot_nz(r); k++) base->z[k] = r->base_z[k];
        }
    }
}

// Residuals of all equations <- any numbers; out <- these.
static int set_misses(snw_tree *t, bool law, double *out) {
    for (int l = 0; l < t->n; l++) {
        snw_segments *cut = t->limb[l].b->segments;
        for (int k = 0; k + 1 < cut->n; k++) {
            for (int i = 0; i < cut->na + 6; i++) cut->seg[k].defect[i] = any();
        }
        for (int i = 0; i < 6; i++) t->limb[l].residual[i] = any();
        for (int i = 0; i < cut->na; i++) t->limb[l].defect[i] = any();
        t->limb[l].condition[0] = any();
    }
    return tree_misses(t, law, out);
}

static double tree_wanted[RESIDUALS], tree_side[2][RESIDUALS];

// The Newton step for any residuals of the equations is the one along which they change at that
// rate.
static void compare_tree(grown *x, bool law) {
    snw_boundary_info info = {0};
    snw_tree *t = x->t;
    match_starts(t);
    assert_true(isfinite(snw_tree_march(t, true, &info)));
    assert_int_equal(snw_tree_factor(t), SNW_OK);
    const int n = set_misses(t, law, tree_wanted);
    assert_true(n > 6 * LIMBS + 20 && n <= RESIDUALS);
    snw_tree_increment(t);
    double most = 1;
    for (int k = 0; k < 2; k++) {
        const double *delta = t->delta;
        for (int i = 0; i < LIMBS; i++) {
            snw_segments *cut = t->limb[i].b->segments;
            const int rows = cut->n * (cut->na + 6);
            for (int r = 0; r < rows; r++) most = fmax(most, fabs(delta[r]));
            snw_boundary_save(t->limb[i].b);
            snw_segments_move(cut, delta, beside(k));
            delta += rows;
        }
        (void)snw_tree_march(t, false, &info);
        (void)tree_misses(t, law, tree_side[k]);
        for (int i = 0; i < LIMBS; i++) snw_boundary_restore(t->limb[i].b);
    }
    for (int i = 0; i < n; i++)
        assert_near(slope_of(tree_side[0][i], tree_side[1][i]) / most, -tree_wanted[i] / most,
                    10 * close); // a solution with six limbs, each with rounding of its own
}

static grown a_tree;

static void trees_have_their_newton_step(void **state) {
    (void)state;
    grown *x = &a_tree;
    snw_boundary_info info;
    for (int trial = 0; trial < 8; trial++) {
        const bool law = trial % 2;
        make_tree(x, (snw_space_kind)(trial % 3), law, trial % 4 > 1, trial > 3);
        snw_tree_formula(x->t, (snw_levels){0}, 1);
        compare_tree(x, law);
        // from an equilibrium without a law and field, a step in motion under another load
        if (!law && trial < 4) assert_int_equal(snw_tree_solve(x->t, &info), SNW_OK);
        snw_tree_accept(x->t, 1);
        snw_tree_begin(x->t, true, 1);
        x->rod[2]->station[1].load[1].W.f.x += 0.3;
        snw_tree_formula(x->t, snw_scheme_levels(SNW_SCHEME_BDF_ALPHA, -0.2), 1);
        compare_tree(x, law);
        snw_tree_destroy(x->t);
        for (int i = 0; i < LIMBS; i++) snw_shoot_destroy(x->rod[i]);
    }
}

// Without loads in world axes the whole solution rotates and translates with its start.
static void solutions_rotate_and_translate_with_their_start(void **state) {
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
        cmocka_unit_test(variations_with_tendons_are_derivatives),
        cmocka_unit_test(boundary_conditions_have_exact_derivatives),
        cmocka_unit_test(plates_have_their_matrix),
        cmocka_unit_test(instructions_agree),
        cmocka_unit_test(solutions_rotate_and_translate_with_their_start),
        cmocka_unit_test(trees_have_their_newton_step),
        cmocka_unit_test(variations_with_fields_are_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
