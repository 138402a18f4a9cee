// SPDX-License-Identifier: MIT
//
// A motor and its controller: a flexible arm is brought to 60 degrees by a torque that this program
// computes every millisecond, as the processor of a joint would: proportional to the error, against
// the rate (PD), with gravity compensation, limited to the torque of the motor. (Its rotor has
// inertia: a torque held for a millisecond would shake a bare rod.) Then the same move with the
// motion given instead, a polynomial that begins and ends at rest: now the torque is read back.
//
//   cc motor.c $(pkg-config --cflags --libs sinew) -lm -o motor && ./motor
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "materials: {nylon: {young: 2 GPa, poisson: 0.4, density: 1150, damping: 10 ms}}\n"
    "robot:\n"
    "  hub: {on: world, joint: revolute, axis: -y, body: {mass: 0.3 kg, inertia: [1e-3, 2e-3, "
    "1e-3]}}\n"
    "  arm: {on: hub, rod: {length: 0.5, section: {circle: {radius: 5 mm}}, material: nylon,\n"
    "        strain: {bend_y: legendre 3}}}\n"
    "  tool: {on: arm.tip, body: {mass: 0.1 kg}}\n"
    "actuators: {motor: {joint: hub, effort: 0 N*m}}\n"
    "runs: {torque: {}, motion: {actuators: {motor: {joint: hub, position: 0 rad}}}}\n"
    "probes: {angle: {angle: hub}, rate: {rate: hub}, tip: {position: arm.tip}}\n";

static const double h = 1e-3, goal = 1.0471975511965976, most = 2; // s, rad, N m

// torque that holds a rigid arm at this angle: half its own weight and that of the tool
static double weight(double angle) {
    return 9.81 * (1150 * M_PI * 25e-6 * 0.5 * 0.25 + 0.1 * 0.5) * cos(angle);
}

static snw_status by_torque(snw_robot *r, double *largest, snw_error *err) {
    const int motor = snw_robot_actuator(r, "motor");
    for (int i = 0; i < 1500; i++) {
        double angle, rate;
        snw_robot_probe(r, "angle", 1, &angle);
        snw_robot_probe(r, "rate", 1, &rate);
        double torque = 6 * (goal - angle) - 0.9 * rate + weight(angle);
        torque = fmax(-most, fmin(most, torque));
        *largest = fmax(*largest, fabs(torque));
        snw_status s = snw_robot_set_effort(r, motor, &torque, err);
        if (s == SNW_OK) s = snw_robot_step(r, h, err);
        if (s != SNW_OK) return s;
    }
    return SNW_OK;
}

static snw_status by_motion(snw_robot *r, double *largest, snw_error *err) {
    const int motor = snw_robot_actuator(r, "motor");
    for (int i = 0; i < 1500; i++) {
        // prescribed position, rate and acceleration: 10 u^3 - 15 u^4 + 6 u^5 over half a
        // second
        const double T = 0.5, u = fmin(1, snw_robot_time(r) / T), p = u * (1 - u);
        const double angle = goal * u * u * u * (10 + u * (6 * u - 15));
        const double rate = goal / T * 30 * p * p, bend = goal / (T * T) * 60 * p * (1 - 2 * u);
        double torque;
        snw_status s = snw_robot_set_motion(r, motor, &angle, &rate, &bend, err);
        if (s == SNW_OK) s = snw_robot_step(r, h, err);
        if (s != SNW_OK) return s;
        snw_robot_effort(r, motor, &torque);
        *largest = fmax(*largest, fabs(torque));
    }
    return SNW_OK;
}

int main(void) {
    static const char *const run[2] = {"torque", "motion"};
    snw_error err = {0};
    for (int k = 0; k < 2; k++) {
        snw_robot *r = NULL;
        snw_status s = snw_robot_parse("arm", arm, strlen(arm), run[k], 0, NULL, &r, &err);
        const snw_robot_steps how = snw_robot_steps_defaults(h);
        if (s == SNW_OK) s = snw_robot_start(r, &how, &err);
        double largest = 0, angle = 0, tip[3] = {0};
        if (s == SNW_OK) s = k ? by_motion(r, &largest, &err) : by_torque(r, &largest, &err);
        if (s == SNW_OK) {
            snw_robot_probe(r, "angle", 1, &angle);
            snw_robot_probe(r, "tip", 3, tip);
            printf("by %s: %.3f degrees, tip at %.4f %.4f m, torques up to %.3f N m\n", run[k],
                   angle * 180 / M_PI, tip[0], tip[2], largest);
        }
        snw_robot_close(r);
        if (s != SNW_OK) fprintf(stderr, "%s\n", err.text);
        if (s != SNW_OK || !(fabs(angle - goal) < (k ? 1e-9 : 0.02))) return 1;
    }
    return 0;
}
