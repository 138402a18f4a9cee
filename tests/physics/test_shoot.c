// SPDX-License-Identifier: MIT
//
// The shooting engine against digits computed independently (references.md T4): statics, the
// program of the paper's appendix step by step, small time steps, orders.
#include "base/alloc.h"
#include "near.h"
#include "oracle/till_march.h"
#include "shooting_rod.h"

#include <stdio.h>

#define T SNW_SCHEME_BDF2

static void made(const shooting_case *s, shooting_rod *out) {
    assert_int_equal(shooting_make(s, out), SNW_OK);
}

// ---- the program of the appendix, references.md T4.1 --------------------------------------------

static void appendix_step_by_step(void **state) {
    (void)state;
    static const double table[][5] = {
        {1, -0.0013349988, 0.3999975444, -0.49402296, -0.03519216},
        {2, -0.0051865944, 0.3999640842, -0.77620677, -0.07998097},
        {3, -0.0118923555, 0.3998047344, -0.93296256, -0.12888562},
        {4, -0.0208127719, 0.3993858268, -1.08072379, -0.18743742},
        {5, -0.0308600858, 0.3986353721, -1.31244499, -0.25955638},
        {6, -0.0409839926, 0.3975844543, -1.60899784, -0.33838902},
        {8, -0.0577314494, 0.3951754175, -2.06287194, -0.46616078},
        {10, -0.0644629953, 0.3939625619, -2.20655099, -0.51434372},
        {15, -0.0324700179, 0.3984915286, -1.39579299, -0.27549673},
        {20, -0.0030697499, 0.3999874440, -0.63886425, -0.05706830},
        {25, -0.0377857835, 0.3979510963, -1.53618312, -0.31541773},
        {30, -0.0623877114, 0.3943517383, -2.16402577, -0.49966576},
        {35, -0.0258945213, 0.3990454147, -1.22714846, -0.22665175},
        {40, -0.0058607628, 0.3999536100, -0.71081429, -0.07780320},
        {45, -0.0438856297, 0.3972276784, -1.69307590, -0.36100145},
        {49, -0.0615048816, 0.3945124700, -2.14108037, -0.49299744},
    };
    shooting_case s = shooting_appendix();
    s.interpolation = SNW_HISTORY_LINEAR;
    shooting_rod a;
    made(&s, &a);
    a.r->form = &oracle_till_form;
    snw_shoot_begin(a.r, true, 5e-3);
    int row = 0;
    for (int i = 1; i <= 49; i++) {
        assert_int_equal(shooting_step(&a, T, 0, 5e-3), SNW_OK);
        const snw_vec3 tip = shooting_tip(&a);
        assert_near(tip.y, 0, 1e-12);
        if (i != (int)table[row][0]) continue;
        assert_near(tip.x, table[row][1], 1e-10); // all digits of the table
        assert_near(tip.z, table[row][2], 1e-10);
        assert_near(shooting_root(&a).f.x, table[row][3], 1e-8);
        assert_near(shooting_root(&a).m.y, table[row][4], 1e-8);
        row++;
    }
    assert_int_equal(row, sizeof table / sizeof table[0]);
    shooting_free(&a);
}

typedef struct variant {
    const char *name;
    snw_space_kind along;
    snw_history_interpolation interpolation;
    int points;
    snw_scheme_kind time;
    double alpha;
    double tip[5][2]; // after 1, 2, 5, 10, 20 steps
} variant;

static const variant variants[] = {
    {"Euler",
     SNW_ALONG_EULER,
     SNW_HISTORY_LINEAR,
     40,
     SNW_SCHEME_BDF2,
     0,
     {{-0.001350437, 0.399997386},
      {-0.005348630, 0.399961219},
      {-0.032488022, 0.398460155},
      {-0.067696771, 0.393209559},
      {-0.003236968, 0.399985776}}},
    {"linear histories, 80 points",
     SNW_ALONG_RK4,
     SNW_HISTORY_LINEAR,
     80,
     SNW_SCHEME_BDF2,
     0,
     {{-0.001334999, 0.399997544},
      {-0.005182524, 0.399964141},
      {-0.030842161, 0.398636952},
      {-0.064444630, 0.393966033},
      {-0.003101380, 0.399987187}}},
    {"cubic histories",
     SNW_ALONG_RK4,
     SNW_HISTORY_CUBIC,
     40,
     SNW_SCHEME_BDF2,
     0,
     {{-0.001334999, 0.399997544},
      {-0.005181209, 0.399964160},
      {-0.030836382, 0.398637461},
      {-0.064438793, 0.393967134},
      {-0.003111540, 0.399987104}}},
    {"cubic histories, 79 points",
     SNW_ALONG_RK4,
     SNW_HISTORY_CUBIC,
     79,
     SNW_SCHEME_BDF2,
     0,
     {{-0.001334999, 0.399997544},
      {-0.005181211, 0.399964160},
      {-0.030836387, 0.398637461},
      {-0.064438732, 0.393967147},
      {-0.003111538, 0.399987104}}},
    {"BDF-alpha -0.48",
     SNW_ALONG_RK4,
     SNW_HISTORY_LINEAR,
     40,
     SNW_SCHEME_BDF_ALPHA,
     -0.48,
     {{-0.000739562, 0.399999147},
      {-0.003953891, 0.399978932},
      {-0.031273214, 0.398593529},
      {-0.066287475, 0.393638666},
      {-0.001065193, 0.399998434}}},
    {"backward Euler",
     SNW_ALONG_RK4,
     SNW_HISTORY_LINEAR,
     40,
     SNW_SCHEME_EULER,
     0,
     {{-0.003088941, 0.399987327},
      {-0.009154322, 0.399885077},
      {-0.034847668, 0.398259869},
      {-0.053082963, 0.395926838},
      {-0.022193430, 0.399301291}}},
};

static void appendix_variants(void **state) {
    (void)state;
    static const int at[5] = {1, 2, 5, 10, 20};
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        const variant *x = &variants[v];
        shooting_case s = shooting_appendix();
        s.along = x->along, s.interpolation = x->interpolation, s.points = x->points;
        shooting_rod a;
        made(&s, &a);
        a.r->form = &oracle_till_form;
        snw_shoot_begin(a.r, true, 5e-3);
        int k = 0;
        for (int i = 1; i <= 20; i++) {
            assert_int_equal(shooting_step(&a, x->time, x->alpha, 5e-3), SNW_OK);
            if (i != at[k]) continue;
            assert_near(shooting_tip(&a).x, x->tip[k][0], 1.1e-9); // the table gives nine decimals
            assert_near(shooting_tip(&a).z, x->tip[k][1], 1.1e-9);
            k++;
        }
        shooting_free(&a);
    }
}

// ---- statics, 4.2 -------------------------------------------------------------------------------

static void statics_of_the_benchmark(void **state) {
    (void)state;
    // Model, gravity; tip x and z, angle, m_y and n_x at the root.
    static const double table[4][7] = {
        {0, 0, -0.0638833025, 0.3938240325, -0.240818662, -0.1969120163, -0.5},
        {0, -9.81, -0.0683803247, 0.3929421228, -0.255980164, -0.2159754600, -0.598620877},
        {1, 0, -0.0638825263, 0.3938241077, -0.240818719, -0.1969120538, -0.5},
        {1, -9.81, -0.0683794750, 0.3929422086, -0.255980232, -0.2159755063, -0.598620877},
    };
    for (int i = 0; i < 4; i++) {
        for (snw_boundary_kind kind = SNW_BOUNDARY_BANDED; kind <= SNW_BOUNDARY_DOGLEG; kind++) {
            shooting_case s = shooting_benchmark();
            s.kirchhoff = table[i][0] != 0;
            s.gravity.x = table[i][1];
            s.kind = kind;
            shooting_rod a;
            made(&s, &a);
            assert_int_equal(shooting_static(&a), SNW_OK);
            assert_near(shooting_tip(&a).x, table[i][2], 1e-9);
            assert_near(shooting_tip(&a).z, table[i][3], 1e-9);
            const snw_mat3 R = a.r->g[a.r->nnode - 1].R; // the x axis was along z of the world
            assert_near(atan2(R.e[0][0], R.e[2][0]), table[i][4], 2e-9);
            assert_near(shooting_root(&a).m.y, table[i][5], 1e-9);
            assert_near(shooting_root(&a).f.x, table[i][6], 1e-9);
            shooting_free(&a);
        }
    }
}

static void statics_by_euler(void **state) {
    (void)state;
    static const double table[3][5] = {{0, 0, -0.0638732488, 0.3937994696, -0.1968997348},
                                       {0, -9.81, -0.0684287111, 0.3929017282, -0.2160852268},
                                       {1, 0, -0.0638724726, 0.3937995447, -0.1968997723}};
    for (int i = 0; i < 3; i++) {
        shooting_case s = shooting_benchmark();
        s.along = SNW_ALONG_EULER;
        s.kirchhoff = table[i][0] != 0;
        s.gravity.x = table[i][1];
        shooting_rod a;
        made(&s, &a);
        a.r->form = &oracle_till_form;
        assert_int_equal(shooting_static(&a), SNW_OK);
        assert_near(shooting_tip(&a).x, table[i][2], 1e-9);
        assert_near(shooting_tip(&a).z, table[i][3], 1e-9);
        assert_near(shooting_root(&a).m.y, table[i][4], 1e-9);
        shooting_free(&a);
    }
}

// The table sums by the trapezoidal rule, as linear histories do; its digits for the continuum are
// those of cubic ones.
static void stored_energy(void **state) {
    (void)state;
    shooting_case s = shooting_benchmark();
    shooting_rod a;
    for (int paper = 0; paper < 2; paper++) {
        s.interpolation = paper ? SNW_HISTORY_LINEAR : SNW_HISTORY_CUBIC;
        made(&s, &a);
        assert_int_equal(shooting_static(&a), SNW_OK);
        const double E = snw_shoot_energies(a.r).elastic;
        assert_near(E, paper ? 0.015758851 : 0.0157585, paper ? 1e-9 : 5e-8);
        shooting_free(&a);
    }
}

// Where a dead force P bends an inextensible, unshearable rod, EI k^2/2 + P sin(angle) is constant
// along it and k = 0 at the tip. So the elastic energy is P (L sin(angle at the tip) - deflection),
// which follows from the tip without a sum over the rod.
static double stored_by_the_tip(const shooting_rod *a) {
    const snw_se3 g = a->r->g[a->r->nnode - 1];
    return 0.5 * (a->r->length * -g.R.e[0][0] + g.p.x);
}

static void energies_have_the_order_of_the_march(void **state) {
    (void)state;
    static const struct {
        snw_space_kind along;
        snw_history_interpolation interpolation;
        int intervals;
        double order;
    } march[] = {{SNW_ALONG_RK4, SNW_HISTORY_CUBIC, 30, 4},
                 {SNW_ALONG_RK4, SNW_HISTORY_LINEAR, 30, 2},
                 {SNW_ALONG_EULER, SNW_HISTORY_LINEAR, 640, 1},
                 {SNW_ALONG_DP5, SNW_HISTORY_CUBIC, 10, 6}};
    shooting_case s = shooting_benchmark();
    shooting_rod a;
    s.kirchhoff = true;
    s.points = 801;
    made(&s, &a);
    assert_int_equal(shooting_static(&a), SNW_OK);
    const double want = stored_by_the_tip(&a);
    shooting_free(&a);
    for (size_t k = 0; k < sizeof march / sizeof march[0]; k++) {
        double off[2];
        for (int i = 0; i < 2; i++) {
            s.along = march[k].along, s.interpolation = march[k].interpolation;
            s.points = march[k].intervals * (i + 1) + 1;
            made(&s, &a);
            assert_int_equal(shooting_static(&a), SNW_OK);
            off[i] = fabs(snw_shoot_energies(a.r).elastic - want);
            shooting_free(&a);
        }
        const double slope = log2(off[0] / off[1]);
        printf("stored: %g J, off %.1e, order %.2f\n", want, off[1], slope);
        assert_near(slope, march[k].order, 0.05);
    }
}

static snw_shoot_energy in_motion(int points) {
    shooting_case s = shooting_benchmark();
    shooting_rod a;
    s.points = points;
    s.gravity = (snw_vec3){{-9.81, 0, 0}};
    made(&s, &a);
    assert_int_equal(shooting_static(&a), SNW_OK);
    assert_int_equal(shooting_release(&a, 5e-3), SNW_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(shooting_step(&a, T, 0, 5e-3), SNW_OK);
    const snw_shoot_energy E = snw_shoot_energies(a.r);
    shooting_free(&a);
    return E;
}

// All three energies of a rod in motion: differences between successive grids fall by a factor of
// sixteen.
static void energies_in_motion_have_order_four(void **state) {
    (void)state;
    const snw_shoot_energy a = in_motion(21), b = in_motion(41), c = in_motion(81);
    const double kinetic = log2((a.kinetic - b.kinetic) / (b.kinetic - c.kinetic));
    const double elastic = log2((a.elastic - b.elastic) / (b.elastic - c.elastic));
    const double gravity = log2((a.gravity - b.gravity) / (b.gravity - c.gravity));
    printf("orders in motion: kinetic %.2f elastic %.2f gravity %.2f\n", kinetic, elastic, gravity);
    assert_near(kinetic, 4, 0.05);
    assert_near(elastic, 4, 0.05);
    assert_near(gravity, 4, 0.05);
}

// ---- small steps, 4.4 ---------------------------------------------------------------------------

static void banded_has_no_smallest_step(void **state) {
    (void)state;
    static const struct {
        snw_scheme_kind time;
        double alpha, h, tip[2]; // after n and 2 n steps
        int n;
    } table[] = {{SNW_SCHEME_BDF2, 0, 1e-4, {-0.0627928252, -0.0606955676}, 20},
                 {SNW_SCHEME_BDF2, 0, 1e-5, {-0.0638717806, -0.0638483414}, 10},
                 {SNW_SCHEME_BDF_ALPHA, -0.48, 2e-4, {-0.0607803662, -0.0548767839}, 20},
                 {SNW_SCHEME_TRAPEZOIDAL, 0, 1e-3, {-0.0302308330, 0.0365434977}, 20}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        shooting_case s = shooting_benchmark();
        s.points = 60;
        s.interpolation = SNW_HISTORY_LINEAR;
        shooting_rod a;
        made(&s, &a);
        a.r->form = &oracle_till_form;
        assert_int_equal(shooting_static(&a), SNW_OK);
        assert_int_equal(shooting_release(&a, table[i].h), SNW_OK);
        for (int k = 1; k <= 2 * table[i].n; k++) {
            assert_int_equal(shooting_step(&a, table[i].time, table[i].alpha, table[i].h), SNW_OK);
            if (k % table[i].n) continue;
            assert_near(shooting_tip(&a).x, table[i].tip[k / table[i].n - 1], 1e-9);
        }
        shooting_free(&a);
    }
}

// The body form alone, at steps where single shooting has lost all digits.
static void steps_of_ten_microseconds(void **state) {
    (void)state;
    shooting_case s = shooting_benchmark();
    s.points = 60;
    s.interpolation = SNW_HISTORY_LINEAR;
    shooting_rod a;
    made(&s, &a);
    assert_int_equal(shooting_static(&a), SNW_OK);
    assert_int_equal(shooting_release(&a, 1e-5), SNW_OK);
    for (int k = 0; k < 20; k++) assert_int_equal(shooting_step(&a, T, 0, 1e-5), SNW_OK);
    assert_true(a.b->segments->n > 30); // a growth of exp(69) cut into segments of exp(2)
    assert_near(shooting_tip(&a).x, -0.0638483414, 3e-9); // 4.4, except for the form
    shooting_free(&a);
    s.kind = SNW_BOUNDARY_NEWTON;
    made(&s, &a);
    assert_int_equal(shooting_static(&a), SNW_OK);
    assert_int_equal(shooting_release(&a, 1e-5), SNW_OK);
    assert_true(shooting_step(&a, T, 0, 1e-5) != SNW_OK);
    shooting_free(&a);
}

// ---- the camera's rod, 4.5 ----------------------------------------------------------------------

static shooting_case camera_rod(void) {
    return (shooting_case){.L = 0.408,
                           .radius = 0.71e-3,
                           .E = 190.3971e9,
                           .G = 80e9,
                           .rho = 7602,
                           .points = 41,
                           .along = SNW_ALONG_RK4,
                           .interpolation = SNW_HISTORY_LINEAR,
                           .gravity = {{9.81, 0, 0}},
                           .tip = {{0.1962, 0, 0}},
                           .drag = 2.12e-3};
}

// The parabola through three values at -1, 0, 1: position and value of its extremum.
static double turning(const double x[3], double *at) {
    const double slope = 0.5 * (x[2] - x[0]), bend = x[2] - 2 * x[1] + x[0];
    *at = -slope / bend;
    return x[1] - 0.5 * slope * slope / bend;
}

static void weight_release(void **state) {
    (void)state;
    static const struct {
        double h, x[4]; // tip at 0.05, 0.1, 0.2, 0.4 s
        int n;
        double turn[6][2]; // successive extrema: time, value
    } table[] = {{5e-3,
                  {-0.0118390, -0.0785399, 0.0553191, -0.0535424},
                  6,
                  {{0.0851, -0.09191},
                   {0.1702, 0.10955},
                   {0.2551, -0.08817},
                   {0.3386, 0.10744},
                   {0.4222, -0.08537},
                   {0.5063, 0.10415}}},
                 {2e-3,
                  {-0.0165587, -0.0778533, 0.0490461, -0.0639486},
                  4,
                  {{0.0864, -0.09076}, {0.1677, 0.11287}, {0.2543, -0.08864}, {0.3344, 0.10959}}}};
    static const double when[] = {0.05, 0.1, 0.2, 0.4};
    const shooting_case s = camera_rod();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double h = table[i].h;
        shooting_rod a;
        made(&s, &a);
        a.r->form = &oracle_till_form;
        assert_int_equal(shooting_static(&a), SNW_OK);
        assert_near(shooting_tip(&a).x, 0.11700228, 2e-8); // 41 points
        assert_near(shooting_tip(&a).z, 0.38737128, 2e-8);
        assert_int_equal(shooting_release(&a, h), SNW_OK);
        int row = 0, turn = 0;
        double x[3] = {0, 0, shooting_tip(&a).x};
        for (int k = 1; row < 4 || turn < table[i].n; k++) {
            assert_int_equal(shooting_step(&a, SNW_SCHEME_BDF_ALPHA, -0.4, h), SNW_OK);
            x[0] = x[1], x[1] = x[2], x[2] = shooting_tip(&a).x;
            if (row < 4 && fabs(k * h - when[row]) < 1e-9) {
                assert_near(x[2], table[i].x[row++], 6e-8);
            }
            if (k < 3 || (x[1] - x[0]) * (x[2] - x[1]) > 0 || turn == table[i].n) continue;
            double at;
            const double most = turning(x, &at);
            assert_near((k - 1 + at) * h, table[i].turn[turn][0], 6e-5);
            assert_near(most, table[i].turn[turn++][1], 6e-6);
        }
        shooting_free(&a);
    }
    shooting_case free_rod = camera_rod();
    free_rod.tip.x = 0;
    shooting_rod a;
    made(&free_rod, &a);
    assert_int_equal(shooting_static(&a), SNW_OK);
    assert_near(shooting_tip(&a).x, 0.01075950, 1.01e-8);
    assert_near(shooting_tip(&a).z, 0.40783783, 1.01e-8);
    shooting_free(&a);
}

// ---- laws ---------------------------------------------------------------------------------------

// A tendon beside the axis whose tension z0 is unknown, and the shortening z1 of the axis, which is
// given.
static const double pull_strain[6] = {0, 0, 5e-3, -1, 0, 0}, shortening = 2e-7;

static void tendon_rod_strain(void *user, const snw_law_in *in, bool slopes, snw_law_out *out) {
    (void)user;
    *out = (snw_law_out){0};
    for (int i = 0; i < 6; i++) {
        const double C = in->section->C[7 * i];
        out->e.e[i] = C * (in->F.e[i] + in->z[0] * pull_strain[i]);
        if (!slopes) continue;
        out->D[i][i] = C;
        out->D[i][6] = C * pull_strain[i];
    }
    out->zs[1] = -out->e.e[3];
    for (int k = 0; k < 8 && slopes; k++) out->D[7][k] = -out->D[3][k];
}

static void tendon_rod_close(void *user, const double *tip, const double *base, double *gap,
                             double *slope) {
    (void)user, (void)base;
    gap[0] = (tip[1] - shortening) / shortening;
    for (int k = 0; k < 4; k++) slope[k] = k == 1 ? 1 / shortening : 0;
}

// Parameters unknown at the base are found from the conditions at the tip. They are constant in
// statics, also where the rod is cut into segments.
static void unknown_parameters_are_found(void **state) {
    (void)state;
    const snw_shoot_law law = {.nz = 2,
                               .typical = {1, shortening},
                               .strain = tendon_rod_strain,
                               .nfree = 1,
                               .free = {0},
                               .close = tendon_rod_close};
    shooting_case s = shooting_benchmark();
    s.tip.x = 0;
    const int n = 60;
    const snw_shoot_opts o = {.along = SNW_ALONG_RK4, .npiece = 1, .length = &s.L, .intervals = &n};
    shooting_rod a = {0};
    assert_int_equal(snw_shoot_create(&o, &law, true, false, &a.r), SNW_OK);
    assert_int_equal(shooting_fill(&s, a.r), SNW_OK);
    snw_shoot_set_unstressed(a.r, shooting_base());
    const snw_boundary_opts opts = snw_boundary_defaults();
    assert_int_equal(snw_boundary_create(a.r, &opts, &a.b), SNW_OK);
    assert_int_equal(shooting_static(&a), SNW_OK);
    const double EA = a.r->K[21], EI = a.r->K[14], tension = EA * shortening / s.L;
    const double angle = tension * pull_strain[2] / EI * s.L; // an arc of a circle
    assert_near(a.r->z[0] / tension, 1, 1e-9);
    const double bent = s.L * (1 - shortening / s.L) * (1 - cos(angle)) / angle;
    assert_near(hypot(shooting_tip(&a).x, shooting_tip(&a).y), fabs(bent), 1e-10);
    snw_shoot_begin(a.r, true, 2e-4);
    snw_boundary_reset_guess(a.b);
    for (int i = 0; i < 5; i++) assert_int_equal(shooting_step(&a, T, 0, 2e-4), SNW_OK);
    assert_true(a.b->segments->n > 4);
    assert_near(a.r->z[0] / tension, 1, 1e-8);
    assert_near(snw_norm(a.r->V[n].v), 0, 1e-8);
    shooting_free(&a);
}

// ---- one solution -------------------------------------------------------------------------------

static void solvers_agree(void **state) {
    (void)state;
    snw_vec3 tip[4];
    snw_wrench root[4];
    for (int k = 0; k < 4; k++) {
        shooting_case s = shooting_benchmark();
        s.kind = (snw_boundary_kind)k;
        s.points = 50;
        s.gravity = (snw_vec3){{-3, 5, 1}};
        s.damping = 2e-4;
        s.drag = 0.05;
        shooting_rod a;
        made(&s, &a);
        assert_int_equal(shooting_static(&a), SNW_OK);
        assert_int_equal(shooting_release(&a, 5e-3), SNW_OK);
        for (int i = 0; i < 20; i++) assert_int_equal(shooting_step(&a, T, 0, 5e-3), SNW_OK);
        tip[k] = shooting_tip(&a), root[k] = shooting_root(&a);
        shooting_free(&a);
    }
    for (int k = 1; k < 4; k++) {
        for (int i = 0; i < 3; i++) assert_near(tip[k].e[i], tip[0].e[i], 1e-9);
        for (int i = 0; i < 6; i++) assert_near(root[k].e[i], root[0].e[i], 1e-9);
    }
}

// Fourth order along the rod with cubic histories, second order with linear ones; the order of
// Dormand-Prince is limited by both.
static void orders_along_the_rod(void **state) {
    (void)state;
    static const struct {
        snw_space_kind along;
        snw_history_interpolation interpolation;
        double factor, off;
    } want[] = {{SNW_ALONG_RK4, SNW_HISTORY_CUBIC, 16, 2.5},
                {SNW_ALONG_RK4, SNW_HISTORY_LINEAR, 4, 0.4},
                {SNW_ALONG_EULER, SNW_HISTORY_CUBIC, 2, 0.15},
                {SNW_ALONG_DP5, SNW_HISTORY_CUBIC, 16, 5}};
    for (size_t w = 0; w < sizeof want / sizeof want[0]; w++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            shooting_case s = shooting_appendix();
            s.along = want[w].along, s.interpolation = want[w].interpolation;
            s.points = (24 << k) + 1;
            shooting_rod a;
            made(&s, &a);
            snw_shoot_begin(a.r, true, 5e-3);
            for (int i = 0; i < 10; i++) assert_int_equal(shooting_step(&a, T, 0, 5e-3), SNW_OK);
            x[k] = shooting_tip(&a).x;
            shooting_free(&a);
        }
        assert_near((x[0] - x[1]) / (x[1] - x[2]), want[w].factor, want[w].off / want[w].factor);
    }
}

// Kirchhoff's rod is the limit of stiff shear and stretch, section 6.
static void kirchhoff_is_the_limit(void **state) {
    (void)state;
    double x[3];
    for (int k = 0; k < 3; k++) {
        shooting_case s = shooting_benchmark();
        s.kirchhoff = k == 2;
        shooting_rod a;
        made(&s, &a);
        for (int i = 3; i < 6; i++) a.r->K[7 * i] *= k == 1 ? 1000 : 1;
        assert_int_equal(shooting_static(&a), SNW_OK);
        x[k] = shooting_tip(&a).x;
        shooting_free(&a);
    }
    assert_near((x[0] - x[2]) / 7.8e-7, -1, 0.01);
    assert_near((x[1] - x[2]) / (x[0] - x[2]), 1e-3, 1e-5);
}

// Steps do not allocate, with any solver.
static void steps_allocate_nothing(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        shooting_case s = shooting_benchmark();
        s.kind = (snw_boundary_kind)k;
        s.gravity.y = 3;
        shooting_rod a;
        made(&s, &a);
        assert_int_equal(shooting_static(&a), SNW_OK);
        assert_int_equal(shooting_release(&a, 5e-3), SNW_OK);
        const size_t before = snw_alloc_count();
        for (int i = 0; i < 5; i++) assert_int_equal(shooting_step(&a, T, 0, 5e-3), SNW_OK);
        assert_int_equal(snw_alloc_count(), before);
        shooting_free(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appendix_step_by_step),
        cmocka_unit_test(appendix_variants),
        cmocka_unit_test(statics_of_the_benchmark),
        cmocka_unit_test(statics_by_euler),
        cmocka_unit_test(stored_energy),
        cmocka_unit_test(energies_have_the_order_of_the_march),
        cmocka_unit_test(energies_in_motion_have_order_four),
        cmocka_unit_test(banded_has_no_smallest_step),
        cmocka_unit_test(steps_of_ten_microseconds),
        cmocka_unit_test(weight_release),
        cmocka_unit_test(unknown_parameters_are_found),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(orders_along_the_rod),
        cmocka_unit_test(kirchhoff_is_the_limit),
        cmocka_unit_test(steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
