// SPDX-License-Identifier: MIT
//
// A controller in the calling program: the tip of a soft arm follows a circle of 3 cm, pulled by a
// force that this program computes every 5 ms from position and velocity of the tip. Half way the
// state is saved; restored, the motion is repeated to the last bit.
//
//   cc live.c $(pkg-config --cflags --libs sinew) -lm -o live && ./live
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "materials: {silicone: {young: 1 MPa, poisson: 0.5, density: 1070, damping: 20 ms}}\n"
    "robot:\n"
    "  arm: {on: world, pose: {x: -z}, rod: {length: 0.3, section: {circle: {radius: 10 mm}},\n"
    "        material: silicone, strain: kirchhoff legendre 4}}\n"
    "loads: {pull: {on: arm.tip, force: [0, 0, 0]}}\n"
    "probes: {tip: {position: arm.tip}, speed: {velocity: arm.tip}}\n";

enum { STEPS = 800 };
static const double h = 5e-3, radius = 0.03, rate = 2;

// one step: measure, compute the force, advance
static snw_status follow(snw_robot *r, int pull, double *miss, snw_error *err) {
    double tip[3], speed[3], force[3] = {0};
    const double phase = rate * snw_robot_time(r), in = fmin(1, snw_robot_time(r));
    const double want[2] = {in * radius * cos(phase), in * radius * sin(phase)};
    snw_robot_probe(r, "tip", 3, tip);
    snw_robot_probe(r, "speed", 3, speed);
    for (int i = 0; i < 2; i++) force[i] = 40 * (want[i] - tip[i]) - 1.5 * speed[i];
    *miss = hypot(want[0] - tip[0], want[1] - tip[1]);
    snw_robot_set_load(r, pull, force, NULL);
    return snw_robot_step(r, h, err);
}

int main(void) {
    snw_robot *r = NULL;
    snw_error err = {0};
    double *saved = NULL, first[3], again[3], miss = 0, worst = 0;
    int status = 1;
    if (snw_robot_parse("arm", arm, strlen(arm), NULL, 0, NULL, &r, &err) != SNW_OK) goto done;
    if (snw_robot_equilibrium(r, 0, &err) != SNW_OK) goto done;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    if (snw_robot_start(r, &how, &err) != SNW_OK) goto done;
    const int pull = snw_robot_load(r, "pull");
    saved = malloc(snw_robot_saves(r) * sizeof *saved);
    if (!saved) goto done;
    for (int i = 0; i < STEPS; i++) {
        if (i == STEPS / 2) snw_robot_save(r, saved);
        if (follow(r, pull, &miss, &err) != SNW_OK) goto done;
        if (i * h > 2) worst = fmax(worst, miss);
    }
    snw_robot_probe(r, "tip", 3, first);
    printf("after %.1f s the tip is at %.4f %.4f %.4f m, never more than %.1f mm behind\n",
           snw_robot_time(r), first[0], first[1], first[2], 1e3 * worst);

    if (snw_robot_restore(r, saved) != SNW_OK) {
        err = *snw_robot_error(r);
        goto done;
    }
    for (int i = STEPS / 2; i < STEPS; i++) {
        if (follow(r, pull, &miss, &err) != SNW_OK) goto done;
    }
    snw_robot_probe(r, "tip", 3, again);
    printf("gone back and repeated: %s\n",
           memcmp(first, again, sizeof first) ? "something else" : "the same to the last bit");
    status = memcmp(first, again, sizeof first) != 0 || !(worst < 0.02);
done:
    if (err.text[0]) fprintf(stderr, "%s\n", err.text);
    free(saved);
    snw_robot_close(r);
    return status;
}
