// SPDX-License-Identifier: MIT
//
// Each kernel once, for counts of instructions (bench/kernels.py): functions kernel_NAME of their
// own, on which valgrind's callgrind starts, stops and writes a count.
#include "robots.h"

#define KERNEL(name, call)                                                                         \
    void kernel_##name(snw_robot *r, double *out);                                                 \
    __attribute__((noinline)) void kernel_##name(snw_robot *r, double *out) {                      \
        snw_error err = {0};                                                                       \
        (void)err, (void)out;                                                                      \
        robots_must(call, &err);                                                                   \
    }

static snw_status tip(snw_robot *r, double *out) {
    const snw_place place = {.kind = SNW_PLACE_NODE, .index = (int)out[0]};
    return snw_robot_pose(r, place, out);
}

static snw_status tangent(snw_robot *r, double *out) {
    const size_t n = (size_t)snw_robot_nv(r);
    return snw_robot_tangent(r, out, out + n * n, NULL);
}

KERNEL(rod_inverse, snw_robot_inverse_dynamics(r, out))
KERNEL(rod_tangent, tangent(r, out))
KERNEL(rod_mass, snw_robot_mass(r, out))
KERNEL(rod_tip, tip(r, out))
KERNEL(rod_step, snw_robot_step(r, 1e-3, &err))
KERNEL(rod36_tangent, tangent(r, out))
KERNEL(plane_inverse, snw_robot_inverse_dynamics(r, out))
KERNEL(plane_tangent, tangent(r, out))
KERNEL(chain_mass, snw_robot_mass(r, out))
KERNEL(chain_forward, snw_robot_forward_dynamics(r, &err))
KERNEL(chain_tangent, tangent(r, out))
KERNEL(chain_tip, tip(r, out))
KERNEL(twice_mass, snw_robot_mass(r, out))
KERNEL(twice_forward, snw_robot_forward_dynamics(r, &err))
KERNEL(twice_tangent, tangent(r, out))
KERNEL(short_forward, snw_robot_forward_dynamics(r, &err))
KERNEL(short_step, snw_robot_step(r, 1e-5, &err))
KERNEL(humanoid_forward, snw_robot_forward_dynamics(r, &err))
KERNEL(humanoid_step, snw_robot_step(r, 1e-5, &err))

static void start(snw_robot *r, const char *scheme, double h) {
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(h);
    if (scheme) how.scheme = scheme;
    robots_must(snw_robot_start(r, &how, &err), &err);
    robots_must(snw_robot_step(r, h, &err), &err); // memory is in use
}

// the last node of a link
static double node(snw_robot *r, const char *link) {
    snw_place place;
    robots_must(snw_robot_find_place(r, link, &place), snw_robot_error(r));
    return place.index;
}

int main(void) {
    enum { N = 190 };
    double *out = calloc((size_t)(3 * N * N), sizeof *out);
    if (!out) abort();
    snw_robot *r = robots_open(rod_text, 0);
    kernel_rod_inverse(r, out);
    kernel_rod_tangent(r, out);
    kernel_rod_mass(r, out);
    out[0] = node(r, "arm");
    kernel_rod_tip(r, out);
    start(r, NULL, 1e-3);
    kernel_rod_step(r, out);
    snw_robot_close(r);

    r = robots_open(rod36_text, 0);
    kernel_rod36_tangent(r, out);
    snw_robot_close(r);
    r = robots_open(plane_text, 0);
    kernel_plane_inverse(r, out);
    kernel_plane_tangent(r, out);
    snw_robot_close(r);

    r = robots_open(chain_text, N / 2);
    kernel_chain_mass(r, out);
    kernel_chain_forward(r, out);
    kernel_chain_tangent(r, out);
    out[0] = node(r, "link(95)");
    kernel_chain_tip(r, out);
    snw_robot_close(r);
    r = robots_open(chain_text, N);
    kernel_twice_mass(r, out);
    kernel_twice_forward(r, out);
    kernel_twice_tangent(r, out);
    snw_robot_close(r);

    r = robots_open(chain_text, 5);
    kernel_short_forward(r, out);
    start(r, "rk4", 1e-5);
    kernel_short_step(r, out);
    snw_robot_close(r);
    r = robots_open(humanoid_text, 0);
    kernel_humanoid_forward(r, out);
    start(r, "rk4", 1e-5);
    kernel_humanoid_step(r, out);
    snw_robot_close(r);
    free(out);
    return 0;
}
