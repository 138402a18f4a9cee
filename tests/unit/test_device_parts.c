// SPDX-License-Identifier: MIT
//
// Robots on a graphics processor, by its program on the host, with parts that robots in packs do
// not have: conditions, nonlinear and relaxing materials, fields, terrain and meshes, springs with
// a law, given strains. Their motions are those of robots stepped alone, to 1e-10 over a second
// where both solve tightly.
#include "device_motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAD   "sinew: 1\ngravity: [0, 0, -9.81]\nmaterials:\n"
#define RUBBER "  rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}\n"
#define ROUND  "length: 0.3 m, section: {circle: {radius: 10 mm}}, nodes: 6"

// one of a kind: fibres on a rectangle and on a ring with twist, a table and an expression of
// stresses, an energy density; a Prony series; fields of dipoles, one of which is carried, a
// magnetic field that turns, a potential and a force; springs with a law and a stop of a spherical
// joint; strains given by laws
static const char *const models[] = {
    HEAD "  rubber: {neo_hookean: 100 kPa, density: 1000, damping: 10 ms}\n"
         "  foam: {mooney_rivlin: [60 kPa, 20 kPa], density: 1000, damping: 10 ms}\n"
         "robot:\n"
         "  arm: {on: world, rod: {length: 0.2 m, section: {rectangle: {y: 20 mm, z: 20 mm}},\n"
         "    material: foam, nodes: 5, strain: {bend_y: legendre 2, stretch: legendre 1}}}\n"
         "  bar: {on: world, pose: {xyz: [0, 0.2 m, 0]}, rod: {length: 0.2 m, nodes: 5,\n"
         "    section: {tube: {radius: 10 mm, inner: 5 mm}}, material: rubber,\n"
         "    strain: {twist: legendre 1, bend_z: legendre 1, stretch: legendre 1}}}\n"
         "loads: {pull: {on: bar.tip, force: [1 N*sin(9*t), 0.2 N, 0], torque: [5 mN*m, 0, 0]}}\n",
    HEAD RUBBER
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.2 m, nodes: 5, strain: {bend_z: legendre 2,\n"
    "    stretch: legendre 1}, section: {stress: {bend_z: \"0.02 N*m^2*bend_z + 1e-4 "
    "N*m^4*bend_z^3\",\n"
    "    stretch: \"300 N*stretch + 40 N*stretch^2\"}, inertia: [1e-5, 1e-5, 1e-5, 0.3, 0.3, "
    "0.3]}}}\n"
    "  tube: {on: world, pose: {xyz: [0, 0.2 m, 0]}, rod: {length: 0.2 m, nodes: 5,\n"
    "    strain: {bend_y: legendre 2, bend_z: legendre 1}, \n"
    "    section: {energy: \"0.01 N*m^2*bend_y^2 + 0.02 N*m^2*bend_z^2*(1 + 0.01 m^2*bend_y^2)\",\n"
    "    inertia: [1e-5, 1e-5, 1e-5, 0.3, 0.3, 0.3]}}}\n"
    "loads: {push: {on: tube.tip, force: [0, 0.05 N*sin(11*t), 0]}}\n",
    HEAD "  gel: {young: 1 MPa, poisson: 0.5, density: 1000,\n"
         "        relaxation: {of: instant, ratios: [0.3, 0.2], times: [1 ms, 0.3 s]}}\n"
         "robot:\n"
         "  arm: {on: world, rod: {" ROUND ", material: gel, strain: kirchhoff legendre 2}}\n"
         "  leg: {on: arm.tip, joint: revolute, axis: y, rod: {" ROUND ", material: gel,\n"
         "        strain: {bend_y: legendre 1}}}\n",
    HEAD RUBBER
    "robot:\n"
    "  base: {on: world, joint: revolute, axis: z, damping: 1 mN*m*s,\n"
    "         body: {mass: 0.1, box: [4 cm, 4 cm, 4 cm]}}\n"
    "  arm: {on: world, pose: {xyz: [0, 0, 8 cm]}, rod: {" ROUND ", material: rubber,\n"
    "        strain: kirchhoff legendre 2}, magnetic_moment: [2 A*m, 0 A*m, 0 A*m]}\n"
    "fields:\n"
    "  magnet: {dipole: [0 A*m^2, 8 A*m^2, 4 A*m^2], on: base, at: [3 cm, 0, 0]}\n"
    "  coils: {magnetic: [\"4 mT*cos(9*t)\", \"4 mT*sin(9*t) + 10 mT/m*z\", \"10 mT/m*y\"]}\n"
    "  bed: {potential: \"4 N/m^2*z^2\", links: arm}\n"
    "  wind: {force: [\"0.1 N/m*(1 + sin(3*t))\", 0, \"-0.5 N/m^2*x\"], links: arm}\n",
    HEAD RUBBER
    "robot:\n"
    "  arm: {on: world, rod: {" ROUND ", material: rubber, strain: kirchhoff legendre 2}}\n"
    "  bob: {on: world, pose: {xyz: [0.3 m, 0.2 m, 0], x: z}, joint: spherical, limits: 20 deg,\n"
    "        stop: {stiffness: 2 N*m, damping: 10 ms, smooth: 4 deg},\n"
    "        body: {mass: 0.1, com: [0.1 m, 0, 0], inertia: [1e-4, 1e-4, 1e-4]}}\n"
    "springs:\n"
    "  soft: {spring: [arm.tip, bob], rest: 0.2 m, force: \"2 N/m*x + 30 N/m^3*x^3\"}\n",
    HEAD RUBBER "robot:\n"
                "  base: {on: world, joint: planar, body: {mass: 0.2, box: [4 cm, 4 cm, 4 "
                "cm]}}\n"
                "  tail: {on: base, rod: {" ROUND ", material: rubber,\n"
                "         strain: {bend_z: \"3*sin(6*t - 2*pi*x/L)\"}}}\n"};

// bodies and rods that appear and go, loops that close where they are, a clutch, conditional loads,
// tendons and grounds, by time, by probes, once
static const char *const conditional[] = {
    HEAD RUBBER
    "robot:\n"
    "  cart: {on: world, joint: prismatic, axis: x, damping: 0.5 N*s/m, body: {mass: 1}}\n"
    "  cabin: {on: cart, joint: revolute, axis: y, body: {mass: 0.3, com: [0, 0, -0.2],\n"
    "          inertia: [1e-3, 1e-3, 1e-3]}, when: once(at > 0.1 m) and not once(at > 0.4 m)}\n"
    "  arm: {on: cart, rod: {" ROUND ", material: rubber, strain: kirchhoff legendre 1},\n"
    "        when: t > 0.3 s}\n"
    "initial: {cart: {rate: 1 m/s}}\n"
    "probes: {at: {value: cart}, speed: {rate: cart}}\n"
    "loads: {push: {on: cart, force: [2 N, 0, 0], when: speed < 0.6 m/s}}\n",
    HEAD RUBBER
    "robot:\n"
    "  arm: {on: world, rod: {" ROUND ", material: rubber, strain: kirchhoff legendre 2}}\n"
    "  ball: {on: world, pose: {xyz: [0.1 m, 0.1 m, 0]}, joint: free,\n"
    "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"
    "  wheel: {on: world, joint: revolute, axis: z, body: {mass: 0.1, box: [4 cm, 4 cm, 1 cm]}}\n"
    "loops:\n"
    "  table: {join: [world, ball], as: fixed, pose: at_closing, when: t < 0.1 s}\n"
    "  grip: {join: [arm.tip, ball], as: spherical, pose: at_closing,\n"
    "         when: once(p.z < -0.1 m) and t < 0.7 s}\n"
    "probes: {p: {position: ball}}\n"
    "actuators:\n"
    "  pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 1 N, when: t > 0.2 s and t < 0.5 s}\n"
    "  clutch: {joint: wheel, rate: 2 rad/s*sin(5*t), when: t > 0.35 s and t < 0.8 s}\n",
};

// a rod and a ball on rough ground given by a formula; a ball on a mesh
static const char *const terrain = HEAD RUBBER
    "robot:\n"
    "  arm: {on: world, pose: {xyz: [0, 0, 3 cm]}, rod: {" ROUND ", material: rubber,\n"
    "        strain: kirchhoff legendre 2}}\n"
    "  ball: {on: world, pose: {xyz: [5 cm, 0.1 m, 6 cm]}, joint: free,\n"
    "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"
    "contacts:\n"
    "  hills: {obstacle: {links: arm, shape: height, height: \"1 cm*cos(20*x/1 m)*cos(15*y/1 "
    "m)\",\n"
    "          area: [0.8, 0.6], cells: 30, stiffness: 2e3 N/m^2, smooth: 4 mm, friction: 0.4,\n"
    "          creep: 5 mm/s, damping: 0.5 s/m}}\n"
    "  dunes: {obstacle: {links: ball, shape: height, height: \"1 cm*cos(20*x/1 m)*cos(15*y/1 "
    "m)\",\n"
    "          area: [0.8, 0.6], cells: 30, stiffness: 200 N/m, smooth: 2 mm, friction: 0.4,\n"
    "          creep: 5 mm/s}}\n";
static const char *const mesh = HEAD RUBBER
    "robot:\n"
    "  ball: {on: world, pose: {xyz: [1 cm, 5 mm, 14 cm]}, joint: free,\n"
    "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"
    "contacts:\n"
    "  stone: {obstacle: {links: ball, shape: mesh, scale: 0.1 m, cells: 12, file: %s,\n"
    "          stiffness: 300 N/m, smooth: 2 mm, friction: 0.4, creep: 5 mm/s}}\n";

static void expect_alike(const char *text) {
    snw_robot_steps how = snw_robot_steps_defaults(10e-3);
    how.tolerance = 1e-14;
    assert_near(motion_difference(text, &how, 100), 0, 1e-10);
}

static void materials_fields_and_springs_move_as_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) expect_alike(models[i]);
}

static void conditions_change_at_the_same_instants(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof conditional / sizeof *conditional; i++)
        expect_alike(conditional[i]);
}

static void ground_of_any_shape_carries_as_alone(void **state) {
    (void)state;
    char folder[] = "/tmp/sinew_device_XXXXXX", path[64], text[1200];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/octahedron.obj", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("v 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n"
                      "f 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"
                      "f 2 1 6\nf 3 2 6\nf 4 3 6\nf 1 4 6\n",
                      f) >= 0);
    assert_int_equal(fclose(f), 0);
    (void)snprintf(text, sizeof text, mesh, path);
    expect_alike(terrain);
    expect_alike(text);
    (void)remove(path);
    (void)rmdir(folder);
}

// a robot that fails does not disturb others with conditions of their own, and begins again
static void robots_that_fail_disturb_no_other(void **state) {
    (void)state;
    enum { N = DEVICE_ROBOTS };
    snw_robot_model *m = open_model(conditional[0]);
    snw_device_batch *good, *bad;
    expect_ok(snw_device_batch_create(m, N, "host", &good, &err));
    expect_ok(snw_device_batch_create(m, N, "host", &bad, &err));
    const int nq = snw_device_batch_nq(good);
    const snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    snw_device_batch_v(bad)[1] = NAN;
    snw_device_batch *const both[] = {good, bad};
    for (int k = 0; k < 2; k++) {
        expect_ok(snw_device_batch_start(both[k], &how, NULL, &err));
        expect_ok(snw_device_batch_step(both[k], 5e-3, 100, &err));
    }
    assert_non_null(
        strstr(snw_device_batch_status_text(snw_device_batch_status(bad)[1]), "finite"));
    for (int k = 0; k < nq; k++) {
        for (int i = 0; i < N; i += 2)
            assert_true(snw_device_batch_q(bad)[k * N + i] == snw_device_batch_q(good)[k * N + i]);
    }
    expect_ok(snw_device_batch_reset(bad, NULL, 1, &err));
    expect_ok(snw_device_batch_step(bad, 5e-3, 1, &err));
    for (int i = 0; i < N; i++) assert_int_equal(snw_device_batch_status(bad)[i], 0);
    snw_device_batch_close(good);
    snw_device_batch_close(bad);
    snw_robot_model_close(m);
}

// numbers of nonlinear materials, fields and springs are those of each robot
static void parts_have_own_numbers(void **state) {
    (void)state;
    static const struct {
        int model;
        const char *set[2];
    } own[] = {{0, {"foam.mooney_rivlin=[70 kPa, 10 kPa]", "rubber.neo_hookean=90 kPa"}},
               {2, {"gel.relaxation.times=[2 ms, 0.2 s]", "gel.young=1.2 MPa"}},
               {4, {"soft.rest=0.15 m", "bob.stop.stiffness=3 N*m"}}};
    snw_robot_steps how = snw_robot_steps_defaults(10e-3);
    how.tolerance = 1e-14;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        snw_robot_model *m = open_model(models[own[i].model]);
        snw_device_batch *b;
        snw_robot *r;
        expect_ok(snw_device_batch_create(m, 2, "host", &b, &err));
        expect_ok(snw_device_batch_set_parameters(b, 1, 2, own[i].set, &err));
        expect_ok(snw_device_batch_start(b, &how, NULL, &err));
        expect_ok(snw_device_batch_step(b, 10e-3, 30, &err));
        expect_ok(snw_robot_from_model(m, &r, &err));
        expect_ok(snw_robot_set_parameters(r, 2, own[i].set, &err));
        expect_ok(snw_robot_start(r, &how, &err));
        expect_ok(snw_robot_advance(r, 10e-3, 30, NULL, &err));
        double apart = 0;
        for (int k = 0; k < snw_device_batch_nq(b); k++) {
            const double *q = snw_device_batch_q(b) + (ptrdiff_t)2 * k;
            assert_near(q[1], snw_robot_q(r)[k], 1e-10);
            apart = fmax(apart, fabs(q[1] - q[0]));
        }
        assert_true(apart > 1e-3);
        snw_robot_close(r);
        snw_device_batch_close(b);
        snw_robot_model_close(m);
    }
}

int main(void) {
    if (!has_devices(models[0])) return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(materials_fields_and_springs_move_as_alone),
                                       cmocka_unit_test(conditions_change_at_the_same_instants),
                                       cmocka_unit_test(ground_of_any_shape_carries_as_alone),
                                       cmocka_unit_test(robots_that_fail_disturb_no_other),
                                       cmocka_unit_test(parts_have_own_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
