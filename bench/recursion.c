// SPDX-License-Identifier: MIT
//
// The recursion on one Kirchhoff rod: inverse dynamics, residual with tangent, growth with nodes,
// with coordinates, with the Magnus order; on the ground; and on chains of rigid links.
#include "bench.h"

#include "oracle/trial.h"
#include "random_tree.h"

#include <math.h>

typedef struct rod {
    union {
        robot r;
        tree chain;
    };
    trial t;
    double *T;
    bool still;
} rod;

// clamped, under gravity and a tip force, in motion; n functions for each of twist and two
// bendings; NULL: no ground
static void rod_open(rod *k, int n, int nodes, int magnus, snw_contact_desc *ground) {
    *k = (rod){0};
    robot_init(&k->r, 0.5, 0.01);
    k->r.link[0].rod.nodes = nodes;
    k->r.link[0].rod.magnus = magnus;
    for (int i = 0; i < 3; i++) robot_strain(&k->r, 0, i, SNW_BASIS_LEGENDRE, n);
    k->r.desc.gravity[2] = number(&k->r, -9.81);
    k->r.load[k->r.desc.nload++] = (snw_load_desc){.name = "force", .on = link_end(0)};
    k->r.load[0].force[1] = number(&k->r, 0.1);
    k->r.desc.ncontact = ground ? 1 : 0;
    k->r.desc.contact = ground;
    trial_open(&k->t, &k->r.desc);
    dice d = {1};
    state_random(k->t.m, &d, k->t.s);
    k->T = calloc((size_t)k->t.m->nv * (size_t)k->t.m->nv, sizeof *k->T);
    if (!k->T) abort();
}

// the same rod, with n functions of one bending only
static void plane_open(rod *k, int n, int nodes) {
    *k = (rod){0};
    robot_init(&k->r, 0.5, 0.01);
    k->r.link[0].rod.nodes = nodes;
    robot_strain(&k->r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, n);
    k->r.desc.gravity[2] = number(&k->r, -9.81);
    trial_open(&k->t, &k->r.desc);
    dice d = {1};
    state_random(k->t.m, &d, k->t.s);
    k->T = calloc((size_t)k->t.m->nv * (size_t)k->t.m->nv, sizeof *k->T);
    if (!k->T) abort();
}

static void rod_close(rod *k) {
    free(k->T);
    trial_close(&k->t);
    robot_free(&k->r);
}

static void inverse(void *user) {
    const trial *t = &((rod *)user)->t;
    snw_residual(t->m, t->in, t->s, false, t->w);
}

static void tangent(void *user) {
    const rod *k = user;
    const trial *t = &k->t;
    snw_residual(t->m, t->in, t->s, k->still, t->w);
    snw_tangent_pass(t->m, NULL, t->w);
    snw_tangent_assemble(t->m, t->in, 1, k->still ? 0 : 0.1, k->still ? 0 : 0.01, t->w, k->T);
}

static double time_of(bench_fn *fn, int n, int nodes, int magnus, bool is_static) {
    rod k;
    rod_open(&k, n, nodes, magnus, NULL);
    k.still = is_static;
    const double seconds = bench_time(fn, &k, 0.3);
    rod_close(&k);
    return 1e6 * seconds;
}

static void against_targets(const bench_table *b) {
    const int nodes[] = {11, 21, 31};
    const double target[2][3] = {{5, 10, 15}, {30, 60, 90}}, thesis[] = {73, 500, 1140};
    printf("3 functions per strain, 9 coordinates, Magnus 4, clamped (thesis: Gotelli's C++, its "
           "machine)\n");
    printf("  nodes   inverse dynamics us   target   thesis   thesis/ours   with tangent us   "
           "target   "
           "tangent/inverse\n");
    for (int i = 0; i < 3; i++) {
        const double a = time_of(inverse, 3, nodes[i], 4, false);
        const double c = time_of(tangent, 3, nodes[i], 4, false);
        printf("  %5d   %19.2f   %6.0f   %6.0f   %11.0f   %15.2f   %6.0f   %15.2f\n", nodes[i], a,
               target[0][i], thesis[i], thesis[i] / a, c, target[1][i], c / a);
        char row[32];
        snprintf(row, sizeof row, "%d nodes", nodes[i]);
        bench_record(b, row, "inverse dynamics us", a);
        bench_record(b, row, "residual and tangent us", c);
        bench_record(b, row, "thesis over ours", thesis[i] / a);
    }
}

// exponent of the growth since the previous figure, if there is one
static void slope(double before, double now, double growth) {
    if (before > 0) {
        printf("   %5.2f", log(now / before) / log(growth));
    } else {
        printf("   %5s", "-");
    }
}

static void by_nodes(const bench_table *b) {
    printf("\ngrowth with nodes (the same rod; slope: power of the nodes)\n");
    printf("  nodes   inverse us   ns per node   slope   with tangent us   us per node   slope\n");
    double la = 0, lc = 0;
    for (int nodes = 10; nodes <= 320; nodes *= 2) {
        const double a = time_of(inverse, 3, nodes, 4, false);
        const double c = time_of(tangent, 3, nodes, 4, false);
        printf("  %5d   %10.2f   %11.0f", nodes, a, 1e3 * a / nodes);
        slope(la, a, 2);
        printf("   %15.2f   %11.2f", c, c / nodes);
        slope(lc, c, 2);
        printf("\n");
        char row[32];
        snprintf(row, sizeof row, "%d nodes", nodes);
        bench_record(b, row, "inverse dynamics growth us", a);
        bench_record(b, row, "residual and tangent growth us", c);
        la = a, lc = c;
    }
}

static double time_of_ground(bench_fn *fn, int nodes, bool touches) {
    static const int link[1] = {0};
    snw_contact_desc ground = {.name = "ground",
                               .nlink = 1,
                               .link = link,
                               .normal = {{0, 0, 1}},
                               .at = {{0, 0, touches ? 2 : -2}},
                               .stiffness = 1e4,
                               .damping = 0.1,
                               .along = 0.1,
                               .across = 0.5,
                               .creep = SNW_CREEP,
                               .smooth = SNW_CONTACT_SMOOTH};
    rod k;
    rod_open(&k, 3, nodes, 4, &ground);
    const double seconds = bench_time(fn, &k, 0.3);
    rod_close(&k);
    return 1e6 * seconds;
}

// cost of each node that may come into contact, and of each in contact
static void on_the_ground(const bench_table *b) {
    printf(
        "\non the ground (the same rod, beside it, above it and pressed in with all its nodes)\n");
    printf("  nodes   inverse us   above   in   with tangent us   above   in   us per contact\n");
    for (int nodes = 20; nodes <= 320; nodes *= 2) {
        const double a = time_of(inverse, 3, nodes, 4, false),
                     above = time_of_ground(inverse, nodes, false),
                     in = time_of_ground(inverse, nodes, true),
                     c = time_of(tangent, 3, nodes, 4, false),
                     c_above = time_of_ground(tangent, nodes, false),
                     c_in = time_of_ground(tangent, nodes, true);
        printf("  %5d   %10.2f   %5.2f   %5.2f   %10.2f   %5.2f   %5.2f   %10.3f\n", nodes, a,
               above, in, c, c_above, c_in, (c_in - c) / nodes);
        char row[32];
        snprintf(row, sizeof row, "%d nodes", nodes);
        bench_record(b, row, "contacts, inverse dynamics us", in);
        bench_record(b, row, "contacts, residual and tangent us", c_in);
    }
}

// the same rod with n tendons around it
static double time_of_tendons(bench_fn *fn, int n) {
    static const int link[1] = {0};
    snw_tendon_desc tendon[32];
    rod k = {0};
    robot_init(&k.r, 0.5, 0.01);
    k.r.link[0].rod.nodes = 21;
    for (int i = 0; i < 3; i++) robot_strain(&k.r, 0, i, SNW_BASIS_LEGENDRE, 3);
    for (int i = 0; i < n; i++) {
        tendon[i] =
            (snw_tendon_desc){.name = "cord",
                              .kind = SNW_ACTUATOR_TENDON,
                              .given = SNW_GIVEN_EFFORT,
                              .nlink = 1,
                              .link = link,
                              .to = 0.5,
                              .at = {number(&k.r, 0.008 * cos(i)), number(&k.r, 0.008 * sin(i))},
                              .law = number(&k.r, 1)};
    }
    k.r.desc.ntendon = n;
    k.r.desc.tendon = tendon;
    trial_open(&k.t, &k.r.desc);
    dice d = {1};
    state_random(k.t.m, &d, k.t.s);
    k.T = calloc((size_t)k.t.m->nv * (size_t)k.t.m->nv, sizeof *k.T);
    if (!k.T) abort();
    const double seconds = bench_time(fn, &k, 0.3);
    rod_close(&k);
    return 1e6 * seconds;
}

static void with_tendons(const bench_table *b) {
    printf("\nwith tendons (the same rod, 21 nodes)\n");
    printf("  tendons   inverse us   us per tendon   with tangent us   us per tendon   slope\n");
    const double a0 = time_of_tendons(inverse, 0), c0 = time_of_tendons(tangent, 0);
    double last = 0;
    for (int n = 1; n <= 32; n *= 2) {
        const double a = time_of_tendons(inverse, n), c = time_of_tendons(tangent, n);
        printf("  %7d   %10.2f   %13.3f   %15.2f   %13.3f", n, a, (a - a0) / n, c, (c - c0) / n);
        slope(last, c - c0, 2);
        printf("\n");
        char row[32];
        snprintf(row, sizeof row, "%d tendons", n);
        bench_record(b, row, "tendons, inverse dynamics us", a);
        bench_record(b, row, "tendons, residual and tangent us", c);
        last = c - c0;
    }
}

static void by_coordinates(const bench_table *b) {
    printf("\ngrowth with coordinates (21 nodes; slope: power of the coordinates)\n");
    printf("  coordinates   inverse us   slope   static tangent us   slope   with tangent us   "
           "slope\n");
    double la = 0, ls = 0, lc = 0;
    for (int n = 3; n <= 48; n *= 2) {
        const double a = time_of(inverse, n, 21, 4, false);
        const double s = time_of(tangent, n, 21, 4, true);
        const double c = time_of(tangent, n, 21, 4, false);
        printf("  %11d   %10.2f", 3 * n, a);
        slope(la, a, 2);
        printf("   %17.2f", s);
        slope(ls, s, 2);
        printf("   %15.2f", c);
        slope(lc, c, 2);
        printf("\n");
        char row[32];
        snprintf(row, sizeof row, "%d coordinates", 3 * n);
        bench_record(b, row, "inverse dynamics us", a);
        bench_record(b, row, "static residual and tangent us", s);
        bench_record(b, row, "residual and tangent us", c);
        la = a, ls = s, lc = c;
    }
}

static void in_a_plane(const bench_table *b) {
    printf("\nbending in one plane (21 nodes, n functions for each strain)\n");
    printf("  n   inverse us   in a plane   ratio   with tangent us   in a plane   ratio\n");
    for (int n = 3; n <= 4; n++) {
        const double a = time_of(inverse, n, 21, 4, false), c = time_of(tangent, n, 21, 4, false);
        rod k;
        plane_open(&k, n, 21);
        const double pa = 1e6 * bench_time(inverse, &k, 0.3),
                     pc = 1e6 * bench_time(tangent, &k, 0.3);
        rod_close(&k);
        printf("  %d   %10.2f   %10.2f   %5.2f   %15.2f   %10.2f   %5.2f\n", n, a, pa, pa / a, c,
               pc, pc / c);
        char row[32];
        snprintf(row, sizeof row, "%d functions", n);
        bench_record(b, row, "inverse dynamics in a plane us", pa);
        bench_record(b, row, "residual and tangent in a plane us", pc);
    }
}

static void by_order(const bench_table *b) {
    printf("\nMagnus order (9 coordinates, 21 nodes; ratio to order 4)\n");
    printf("  order   inverse us   ratio   with tangent us   ratio\n");
    const double a4 = time_of(inverse, 3, 21, 4, false), c4 = time_of(tangent, 3, 21, 4, false);
    for (int order = 2; order <= 6; order += 2) {
        const double a = time_of(inverse, 3, 21, order, false);
        const double c = time_of(tangent, 3, 21, order, false);
        printf("  %5d   %10.2f   %5.2f   %15.2f   %5.2f\n", order, a, a / a4, c, c / c4);
        char row[32];
        snprintf(row, sizeof row, "Magnus %d", order);
        bench_record(b, row, "inverse dynamics us", a);
        bench_record(b, row, "residual and tangent us", c);
    }
}

// n links on hinges, under gravity, in motion
static double time_of_chain(bench_fn *fn, int n) {
    rod k = {0};
    tree_init(&k.chain, n);
    for (int i = 0; i < n; i++) {
        snw_link_desc *l = &k.chain.link[i];
        l->joint = SNW_JOINT_REVOLUTE;
        l->moves.axis = (snw_vec3){{i % 3 == 0, i % 3 == 1, i % 3 == 2}};
        if (i > 0) l->on = link_end(i - 1);
        tree_place(&k.chain, i, (snw_se3){snw_mat3_identity(), {{0.1, 0.05, 0.2}}});
        tree_body(&k.chain, i, 1, (snw_vec3){{0, 0, 0.1}}, (snw_vec3){{0.01, 0.02, 0.03}});
    }
    k.r.desc.gravity[2] = number(&k.r, -9.81);
    trial_open(&k.t, &k.r.desc);
    dice d = {1};
    state_random(k.t.m, &d, k.t.s);
    k.T = calloc((size_t)n * (size_t)n, sizeof *k.T);
    if (!k.T) abort();
    const double seconds = bench_time(fn, &k, 0.3);
    rod_close(&k);
    return 1e6 * seconds;
}

static void by_links(const bench_table *b) {
    printf("\nrigid links in a row, one hinge each\n");
    printf("  links   inverse us   ns per link   with tangent us   slope\n");
    double lc = 0;
    for (int n = 3; n <= TREE_MOST; n *= 2) {
        const double a = time_of_chain(inverse, n), c = time_of_chain(tangent, n);
        printf("  %5d   %10.2f   %11.0f   %15.2f", n, a, 1e3 * a / n, c);
        slope(lc, c, 2);
        printf("\n");
        char row[32];
        snprintf(row, sizeof row, "%d links", n);
        bench_record(b, row, "inverse dynamics us", a);
        bench_record(b, row, "residual and tangent us", c);
        lc = c;
    }
}

int main(int argc, char **argv) {
    bench_table b = bench_open("recursion", "recursion of one Kirchhoff rod", argc, argv);
    against_targets(&b);
    by_nodes(&b);
    by_coordinates(&b);
    in_a_plane(&b);
    by_order(&b);
    on_the_ground(&b);
    with_tendons(&b);
    by_links(&b);
    bench_close(&b);
    return 0;
}
