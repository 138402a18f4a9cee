// SPDX-License-Identifier: MIT
//
// Each kernel once, for counts of instructions (bench/kernels.py): functions kernel_NAME of their
// own, on which valgrind's callgrind starts, stops and writes a count.
#include "constraint/bordered_matrix.h"
#include "constraint/elimination.h"
#include "constraint/projection.h"
#include "described.h"
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

// ---- long rods without a matrix -----------------------------------------------------------------

typedef struct long_rod {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_elimination *e;
    double *x;
} long_rod;

// A rod of n elements with this in its file.
static long_rod long_open(int n, const char *more) {
    char text[2000];
    snw_error err = {0};
    long_rod r = {0};
    (void)snprintf(text, sizeof text,
                   "sinew: 1\n"
                   "materials: {gel: {young: 5 MPa, poisson: 0.45, density: 1100, damping: 5 ms}}\n"
                   "robot:\n"
                   "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}},"
                   " material: gel, nodes: %d, strain: kirchhoff linear, elements: %d}}\n%s",
                   3 * n, n, more);
    robots_must(describe(text, &r.doc, &r.desc, &err), &err);
    robots_must(snw_model_compile_for(r.desc, SNW_USE_LOCAL, &r.m, &err), &err);
    robots_must(snw_state_create(r.m, &r.s), &err);
    robots_must(snw_inputs_create(r.m, &r.in), &err);
    robots_must(snw_work_create(r.m, &r.w), &err);
    robots_must(snw_elimination_create(r.m, &r.e), &err);
    r.x = calloc((size_t)(r.m->nv + r.m->nconstraint), sizeof *r.x);
    if (!r.x) abort();
    for (int i = 0; i < r.m->nv; i++) r.s->q[i] = 0.1 * sin(i), r.s->v[i] = 0.1 * cos(i);
    snw_inputs_at(r.m, 0, r.in);
    return r;
}

static void long_close(long_rod *r) {
    free(r->x);
    snw_elimination_destroy(r->e);
    snw_work_destroy(r->w);
    snw_inputs_destroy(r->in);
    snw_state_destroy(r->s);
    snw_model_destroy(r->m);
    release(r->doc, r->desc);
}

// Residual, factors of Newton's equations and a solution.
static snw_status newton(long_rod *r) {
    const snw_tangent_at at = {.in = r->in, .cq = 1, .cv = 2e3, .ca = 4e6, .rows = 1};
    snw_residual(r->m, r->in, r->s, false, r->w);
    const snw_status s = snw_elimination_factor(r->e, &at, r->w);
    for (int i = 0; i < r->m->nv; i++) r->x[i] = r->w->r[i];
    if (s == SNW_OK) snw_elimination_solve(r->e, r->x);
    return s;
}

#define LONG_KERNELS(X)                                                                            \
    X(fluid, "fluid: {water: {on: arm, density: 1000, added: auto, buoyancy: on, drag: {normal: "  \
             "1.1, tangent: 0.02}}}\n")                                                            \
    X(contact, "contacts: {floor: {ground: {on: arm, normal: [0, 0, 1], at: [0, 0, 10 cm], "       \
               "stiffness: 2 kPa, damping: 1, friction: 0.3, creep: 0.01}}}\n")                    \
    X(tendon, "sites: {post: {on: world, pose: {xyz: [0.5, 0.1, 0.1]}}}\nactuators:\n"             \
              "  wire: {tendon: {along: arm, at: [0, 4 mm, 2 mm]}, effort: 1 N}\n"                 \
              "  given: {tendon: {along: arm, at: [0, -4 mm, 0]}, shortening: 1 mm}\n"             \
              "  elastic: {tendon: {along: arm, at: [0, 0, 4 mm], compliance: 3e-2 1/N},"          \
              " shortening: 1 mm}\n"                                                               \
              "  straight: {tendon: {path: [arm, post, arm.tip], to: L/2}, effort: 1 N}\n")        \
    X(friction,                                                                                    \
      "actuators:\n"                                                                               \
      "  wire: {tendon: {along: arm, at: [0, 4 mm, 2 mm], friction: 0.2}, effort: 1 N}\n"          \
      "  oil: {tendon: {along: arm, at: [0, -4 mm, 0], viscous: 1 s/m}, effort: 1 N}\n")           \
    X(loop, "springs: {stay: {spring: [arm@30%, arm.tip], rest: 0.5, stiffness: 2}}\n"             \
            "loops: {pin: {join: [world, arm@80%], as: spherical, pose: {xyz: [0.8, 0, 0]}}}\n")

#define LONG_KERNEL(name, more)                                                                    \
    void kernel_long_##name(long_rod *r);                                                          \
    void kernel_longer_##name(long_rod *r);                                                        \
    __attribute__((noinline)) void kernel_long_##name(long_rod *r) {                               \
        if (newton(r) != SNW_OK) abort();                                                          \
    }                                                                                              \
    __attribute__((noinline)) void kernel_longer_##name(long_rod *r) {                             \
        if (newton(r) != SNW_OK) abort();                                                          \
    }                                                                                              \
    static void long_##name(void) {                                                                \
        long_rod r = long_open(20, more);                                                          \
        kernel_long_##name(&r);                                                                    \
        long_close(&r);                                                                            \
        r = long_open(60, more);                                                                   \
        kernel_longer_##name(&r);                                                                  \
        long_close(&r);                                                                            \
    }
LONG_KERNELS(LONG_KERNEL)

// ---- the order in which a plate on n legs is eliminated -----------------------------------------

void kernel_plate_order(const snw_model *m, snw_sparse **out);
void kernel_wide_order(const snw_model *m, snw_sparse **out);
__attribute__((noinline)) void kernel_plate_order(const snw_model *m, snw_sparse **out) {
    if (snw_pattern_create(m, NULL, out) != SNW_OK) abort();
}
__attribute__((noinline)) void kernel_wide_order(const snw_model *m, snw_sparse **out) {
    if (snw_pattern_create(m, NULL, out) != SNW_OK) abort();
}

static void plate_order(int legs, void (*kernel)(const snw_model *, snw_sparse **)) {
    char text[2000];
    snw_error err = {0};
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_sparse *sp = NULL;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\n"
        "materials: {steel: {young: 207 GPa, poisson: 0.3, density: 8000}}\n"
        "robot:\n"
        "  leg(k=1..%d): {on: world, pose: {xyz: [0, 1 mm*k, 0], x: z}, rod: {length: 0.5, section:"
        " {circle: {radius: 1 mm}}, material: steel, strain: cosserat legendre 2, nodes: 2}}\n"
        "  plate: {on: world, pose: {xyz: [0, 0, 0.5]}, joint: free, body: {mass: 0.1, inertia:"
        " [2e-4, 2e-4, 4e-4]}}\n"
        "sites: {hole(k=1..%d): {on: plate, pose: {xyz: [0, 1 mm*k, 0], x: z}}}\n"
        "loops:\n"
        "  clamp(k=1..%d): {join: [leg(k).tip, hole(k)], as: fixed}\n",
        legs, legs, legs);
    robots_must(describe(text, &doc, &desc, &err), &err);
    robots_must(snw_projection_compile(desc, &m, &err), &err);
    kernel(m, &sp);
    snw_sparse_destroy(sp);
    snw_model_destroy(m);
    release(doc, desc);
}

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
#define LONG_CALL(name, more) long_##name();
    LONG_KERNELS(LONG_CALL)
    plate_order(48, kernel_plate_order);
    plate_order(96, kernel_wide_order);
    return 0;
}
