// SPDX-License-Identifier: MIT
//
// Derivatives of outputs by configuration, rates, accelerations and multipliers, theory.md
// (7.5.52), at random states: equal to differences of order 6 of the outputs themselves.
#include "described.h"
#include "model/model.h"
#include "random_rod.h"
#include "robot_texts.h"
#include "study/output_bars.h"
#include "study/probe.h"

#include <math.h>
#include <stdio.h>

enum { MOST = 160, SAMPLES = 3, STATES = 3 };

#define MOTIONS(site)                                                                              \
    "place: {position: " site "}, turn: {rotation: " site "}, pose: {pose: " site                  \
    "}, velocity: {velocity: " site "}, twist: {twist: " site ", in: body}, felt: "                \
    "{acceleration: " site "}, own: {acceleration: " site                                          \
    ", in: body}, p: momentum, c: center_of_mass"
enum {
    TURN = 16, // quaternion, rotation vector, matrix
    MOTION_COLUMNS = 3 + TURN + 3 + TURN + 3 + 6 + 6 + 6 + 6 + 3,
    ENERGY_COLUMNS = 4,
    WRENCH = 6
};

// A free box with soft limbs, one of them on a spherical joint, one with a given strain, and a
// wheel with armature.
static const char tree[] = SOFT_TREE
    "  wheel: {on: side.tip, pose: {xyz: [1 cm, 2 cm, 0]}, joint: revolute, armature: 1e-3, "
    "stiffness: 0.2, rest: 0.3, body: {mass: 20 g, com: [1 cm, 0, 0]}}\n"
    "  bob: {on: lower.tip, joint: spherical, stiffness: 0.4, rest: {axis: y, angle: 0.2}, body: "
    "{mass: 30 g, com: [1 cm, 2 mm, "
    "0]}}\n"
    "actuators: {cable: {tendon: {along: upper, at: [0, 5 mm, 2 mm]}, effort: 2 N}}\n"
    "loads: {dead: {on: lower.tip, force: [0.1, 0.2, -0.1], torque: [0.01, 0.02, 0]}, own: {on: "
    "side.tip, force: [0.1, 0, 0.3], frame: body}}\n"
    "probes: {" MOTIONS("lower@70%%") ", e: energy, f: {reaction: lower}, g: {reaction: side, "
                                      "in: body}, h: {reaction: wheel}, w: {wrench: upper@30%%}, "
                                      "x: {wrench: side@50%%}}\n";
enum { TREE = MOTION_COLUMNS + ENERGY_COLUMNS + 5 * WRENCH };

#define TWO_RODS                                                                                   \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"           \
    "robot:\n"                                                                                     \
    "  left: {on: world, joint: universal, rod: {length: 0.4, section: {circle: {radius: 1 cm}}, " \
    "material: rubber, strain: kirchhoff legendre 3, nodes: 6}}\n"                                 \
    "  plate: {on: left.tip, body: {box: [0.1, 0.1, 0.02], mass: 0.2, com: [0.03, 0, 0]}}\n"       \
    "  right: {on: world, pose: {xyz: [0, 0.3, 0]}, rod: {length: 0.4, section: {circle: "         \
    "{radius: 8 mm}}, material: rubber, strain: cosserat legendre 2, nodes: 5}}\n"                 \
    "sites: {edge: {on: plate, pose: {xyz: [0, 0.3, 0]}}, nose: {on: plate, pose: {xyz: [0.1, "    \
    "0, 0]}}}\n"

// Two rods that carry a plate together, springs and a bushing.
static const char closed[] = TWO_RODS
    "loops: {hinge: {join: [edge, right.tip], as: revolute}, ball: {join: [left@50%%, right@50%%], "
    "as: spherical}}\n"
    "springs: {s: {spring: [nose, right@40%%], rest: 0.1, stiffness: 20, damping: 0.3}, mount: "
    "{bushing: "
    "[left@70%%, nose], stiffness: [3, 5, 9, 20, 30, 50], damping: [0.1, 0.2, 0.1, 4, 4, 4]}}\n"
    "probes: {" MOTIONS("plate") ", e: energy, f: {reaction: left}, g: {reaction: right}, h: "
                                 "{reaction: hinge}, b: {reaction: ball, in: body}, w: {wrench: "
                                 "left@50%%}, r: {relative: "
                                 "[left.tip, right.tip]}, t: {tension: s}, sl: {length: s}, sr: "
                                 "{rate: s}}\n";
enum { CLOSED = MOTION_COLUMNS + ENERGY_COLUMNS + 5 * WRENCH + 3 + TURN + 3 };

// The same rods in water on a floor that yields; energies of fluids and wrenches in them are not
// known.
static const char soaked[] = TWO_RODS
    "fluid: {water: {on: right, density: 1000, drag: {linear: 1}, added: auto, "
    "buoyancy: on}}\n"
    "contacts: {floor: {ground: {on: left, at: [0, 0, 0.05], stiffness: 1e3, damping: 0.1, "
    "friction: 0.3, creep: 0.5, smooth: 2 cm}}, table: {obstacle: {on: left, links: right, shape: "
    "sphere, "
    "radius: 0.26, at: [0.2, 0.1, 0], stiffness: 1e3, damping: 0.1, friction: 0.2, creep: 0.5, "
    "smooth: 2 cm}}}\n"
    "probes: {" MOTIONS("plate") ", e: energy, f: {reaction: left}, g: {reaction: right}, w: "
                                 "{wrench: left@50%%}, x: {wrench: right@50%%}, n: {contact: "
                                 "floor}, d: {reaction: floor}, k: {reaction: table}}\n";
enum { SOAKED = MOTION_COLUMNS + 3 * WRENCH + 3 + 2 * WRENCH };

typedef struct rig {
    const snw_model *m;
    snw_inputs *in;
    snw_state *s, *moved;
    snw_work *w;
    snw_vec3 *rotation;
    int n;
    snw_adjoint_output output[MOST];
    double y[MOST];
} rig;

// y <- the outputs at s, without energies of interactions
static void read_outputs(rig *g, const snw_state *s, double *y) {
    double column[64];
    snw_residual(g->m, g->in, s, false, g->w);
    snw_observe(g->m, g->in, s, false, g->w);
    memset(g->rotation, 0, (size_t)(g->m->nseg + g->m->nobs) * sizeof *g->rotation);
    snw_rotations_update(g->m, g->w, g->rotation);
    const snw_readings more = {
        .energy = {.kinetic = snw_kinetic_energy(g->m, g->w),
                   .elastic = snw_stored_energy(g->m, s, g->w) - snw_interaction_energy(g->m, g->w),
                   .gravity = snw_gravity_energy(g->m, g->in, g->w)},
        .rotation = g->rotation};
    for (int i = 0; i < g->n; i++) {
        snw_probe_read(g->m, g->output[i].probe, g->in, s, g->w, &more, column);
        y[i] = column[g->output[i].column];
    }
}

// by (n) <- differences of the outputs along number k of a part of the state
static void differences(rig *g, int part, int k, double h, double *by) {
    static const double weight[SAMPLES] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    double unit[100] = {0}, y[MOST];
    for (int i = 0; i < g->n; i++) by[i] = 0;
    for (int j = -SAMPLES; j <= SAMPLES; j++) {
        if (j == 0) continue;
        snw_state_copy(g->m, g->s, g->moved);
        unit[k] = j * h;
        if (part == 0) snw_move(g->m, g->s->q, 1, unit, g->moved->q);
        if (part == 1) g->moved->v[k] += j * h;
        if (part == 2) g->moved->a[k] += j * h;
        if (part == 3) g->moved->lambda[k] += j * h;
        read_outputs(g, g->moved, y);
        const double c = (j < 0 ? -weight[-j - 1] : weight[j - 1]) / h;
        for (int i = 0; i < g->n; i++) by[i] += c * y[i];
    }
}

static void compare(rig *g, snw_output_bars *b) {
    const int nv = g->m->nv, nr = g->m->nconstraint, part_size[] = {nv, nv, nv, nr};
    static double exact[MOST][400], by[MOST];
    assert_true(3 * nv + nr <= 400 && nv <= 100);
    memset(exact, 0, sizeof exact);
    read_outputs(g, g->s, g->y);
    for (int i = 0; i < g->n; i++) {
        const snw_state_bars to = {exact[i], exact[i] + nv, exact[i] + 2 * nv, exact[i] + 3 * nv};
        double y_bar[MOST] = {0};
        y_bar[i] = 1;
        snw_output_bars_add(b, g->n, g->output, y_bar, g->in, g->s, g->w, &to);
    }
    for (int part = 0, at = 0; part < 4; at += part_size[part++]) {
        double size[MOST] = {0}, error[MOST] = {0};
        for (int k = 0; k < part_size[part]; k++) {
            differences(g, part, k, part == 0 ? 2e-5 : 2e-2, by);
            for (int i = 0; i < g->n; i++) {
                size[i] = fmax(size[i], fabs(by[i]));
                error[i] = fmax(error[i], fabs(exact[i][at + k] - by[i]));
            }
        }
        for (int i = 0; i < g->n; i++) {
            // rounding over the moves, which are short where contacts begin
            const double most = 1e-8 * (size[i] + fabs(g->y[i])) + 1e-10;
            if (!(error[i] <= most))
                print_error("probe %s, column %d, part %d: %g of %g\n",
                            g->m->desc->probe[g->output[i].probe].name, g->output[i].column, part,
                            error[i], size[i]);
            assert_true(error[i] <= most);
        }
    }
}

static void check(const char *format, int known) {
    char text[4000];
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    snw_model *m = NULL;
    snw_output_bars *b = NULL;
    dice d = {7};
    double touches[MOST] = {0};
    (void)snprintf(text, sizeof text, format, 0);
    if (describe(text, &doc, &desc, &err) != SNW_OK || snw_model_compile(desc, &m, &err) != SNW_OK)
        fail_msg("%d: %s", err.line, err.text);
    rig g = {.m = m};
    assert_int_equal(snw_inputs_create(m, &g.in), SNW_OK);
    assert_int_equal(snw_state_create(m, &g.s), SNW_OK);
    assert_int_equal(snw_state_create(m, &g.moved), SNW_OK);
    assert_int_equal(snw_work_create(m, &g.w), SNW_OK);
    assert_int_equal(snw_output_bars_create(m, &b), SNW_OK);
    g.rotation = calloc((size_t)(m->nseg + m->nobs), sizeof *g.rotation);
    for (int p = 0; p < desc->nprobe; p++) {
        for (int c = 0; c < snw_probe_columns(&desc->probe[p]); c++) {
            const snw_adjoint_output o = {.probe = p, .column = c};
            if (!snw_output_bars_know(m, &o)) continue;
            assert_true(g.n < MOST);
            g.output[g.n++] = o;
        }
    }
    assert_int_equal(g.n, known);
    snw_inputs_at(m, 0.2, g.in);
    for (int trial = 0; trial < STATES; trial++) {
        double move[100];
        for (int k = 0; k < m->nv; k++) {
            move[k] = 0.3 * roll(&d, -1, 1) * m->typical[k];
            g.s->v[k] = roll(&d, -1, 1) * m->typical[k];
            g.s->a[k] = roll(&d, -3, 3) * m->typical[k];
        }
        snw_move(m, g.s->q, 1, move, g.s->q);
        for (int k = 0; k < m->nconstraint; k++) g.s->lambda[k] = roll(&d, -1, 1);
        compare(&g, b);
        for (int i = 0; i < g.n; i++) touches[i] = fmax(touches[i], fabs(g.y[i]));
    }
    for (int i = 0; i < g.n; i++) // all contacts do
        assert_true(desc->probe[g.output[i].probe].of != SNW_PROBE_OF_CONTACT || touches[i] > 0.1);
    free(g.rotation);
    snw_output_bars_destroy(b);
    snw_work_destroy(g.w);
    snw_state_destroy(g.s);
    snw_state_destroy(g.moved);
    snw_inputs_destroy(g.in);
    snw_model_destroy(m);
    release(doc, desc);
}

static void of_a_soft_tree(void **state) {
    (void)state;
    check(tree, TREE);
}

static void of_a_closed_robot(void **state) {
    (void)state;
    check(closed, CLOSED);
}

static void with_fluid_and_contact(void **state) {
    (void)state;
    check(soaked, SOAKED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_soft_tree),
        cmocka_unit_test(of_a_closed_robot),
        cmocka_unit_test(with_fluid_and_contact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
