// SPDX-License-Identifier: MIT
//
// Two tendons and their controller: a soft arm that hangs down is bent until its tip is 6 cm aside.
// Every 2 ms this program computes the tension from the position of the tip (proportional,
// integral, and against the speed); a tendon cannot push, so one of the two pulls at a time. Then
// the same position is reached by winches: their shortening, and its rate, are set instead, and the
// tensions are read back. At last the controller once more, with the robot by the engine that
// integrates along the rod: only its name and the scheme change.
//
//   cc tendon.c $(pkg-config --cflags --libs sinew) -lm -o tendon && ./tendon
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "materials: {silicone: {young: 1 MPa, poisson: 0.5, density: 1070, damping: 30 ms}}\n"
    "robot:\n"
    "  arm: {on: world, pose: {x: -z}, rod: {length: 0.3, section: {circle: {radius: 10 mm}},\n"
    "        material: silicone, strain: {bend_y: legendre 4, stretch: legendre 1}}}\n"
    "actuators:\n"
    "  left: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0 N}\n"
    "  right: {tendon: {along: arm, at: [0, 0, -7 mm]}, effort: 0 N}\n"
    "runs:\n"
    "  tension: {}\n"
    "  winch:\n"
    "    actuators:\n"
    "      left: {tendon: {along: arm, at: [0, 0, 7 mm], compliance: 2e-3 1/N}, shortening: 0 m}\n"
    "      right: {tendon: {along: arm, at: [0, 0, -7 mm], compliance: 2e-3 1/N}, shortening: 0 "
    "m}\n"
    "probes: {tip: {position: arm.tip}, speed: {velocity: arm.tip},\n"
    "         l: {length: left}, r: {length: right}}\n";

static const double h = 2e-3, goal = 0.06, compliance = 2e-3; // s, m, 1/N

// wound <- by how much winches would have to shorten both tendons, which they stretch, to hold the
// tip where the controller brought it
static snw_status by_tension(snw_robot *r, double wound[2], snw_error *err) {
    const int left = snw_robot_actuator(r, "left"), right = snw_robot_actuator(r, "right");
    double sum = 0;
    for (int i = 0; i < 2000; i++) {
        double tip[3], speed[3];
        snw_robot_probe(r, "tip", 3, tip);
        snw_robot_probe(r, "speed", 3, speed);
        const double error = goal - tip[0];
        sum += h * error;
        const double pull = 40 * error + 200 * sum - 4 * speed[0]; // N, towards x
        const double tension[2] = {fmax(0, pull), fmax(0, -pull)};
        snw_status s = snw_robot_set_effort(r, left, &tension[0], err);
        if (s == SNW_OK) s = snw_robot_set_effort(r, right, &tension[1], err);
        if (s == SNW_OK) s = snw_robot_step(r, h, err);
        if (s != SNW_OK) return s;
    }
    for (int k = 0; k < 2; k++) {
        double length, tension;
        snw_robot_probe(r, k ? "r" : "l", 1, &length);
        snw_robot_effort(r, k ? right : left, &tension);
        wound[k] = 0.3 - length / (1 + compliance * tension);
    }
    return SNW_OK;
}

// both winches reach it within a second
static snw_status by_winch(snw_robot *r, const double wound[2], snw_error *err) {
    static const char *const name[2] = {"left", "right"};
    for (int i = 0; i < 2000; i++) {
        const double u = fmin(1, snw_robot_time(r)), p = u * (1 - u);
        for (int k = 0; k < 2; k++) {
            const double way = wound[k] * u * u * u * (10 + u * (6 * u - 15));
            const double rate = wound[k] * 30 * p * p;
            const snw_status s =
                snw_robot_set_motion(r, snw_robot_actuator(r, name[k]), &way, &rate, NULL, err);
            if (s != SNW_OK) return s;
        }
        const snw_status s = snw_robot_step(r, h, err);
        if (s != SNW_OK) return s;
    }
    return SNW_OK;
}

int main(void) {
    static const char *const run[] = {"tension", "winch", "tension"};
    static const char *const engine[] = {"strain", "strain", "shooting"};
    double wound[2] = {0};
    snw_error err = {0};
    for (int k = 0; k < 3; k++) {
        snw_robot *r = NULL;
        snw_status s = snw_robot_parse("arm", arm, strlen(arm), run[k], 0, NULL, &r, &err);
        if (s == SNW_OK) s = snw_robot_equilibrium(r, 0, &err);
        snw_robot_steps how = snw_robot_steps_defaults(h);
        how.engine = engine[k];
        if (k == 2) how.scheme = "bdf2";
        if (s == SNW_OK) s = snw_robot_start(r, &how, &err);
        if (s == SNW_OK) s = k == 1 ? by_winch(r, wound, &err) : by_tension(r, wound, &err);
        double tip[3] = {0}, pull[2] = {0};
        if (s == SNW_OK) {
            snw_robot_probe(r, "tip", 3, tip);
            for (int i = 0; i < 2; i++) snw_robot_effort(r, i, &pull[i]);
            printf("by %s (%s): tip at %.4f %.4f m, tendons of %.2f and %.2f N\n", run[k],
                   engine[k], tip[0], tip[2], pull[0], pull[1]);
        }
        snw_robot_close(r);
        if (s != SNW_OK) fprintf(stderr, "%s\n", err.text);
        if (s != SNW_OK || !(fabs(tip[0] - goal) < 1e-4)) return 1;
    }
    return 0;
}
