// SPDX-License-Identifier: MIT
//
// Gradients through hard contacts, theory.md (7.5.21): a bouncing ball against its closed form, a
// block that slides and stops and a ball that slides and rolls against the closed forms of the
// steps; a soft arm that comes to rest on the floor, a soft finger that pushes a ball, rods that
// strike rods and a robot with a loop against differences of whole runs; the sweep back equals
// sensitivities along the run; checkpoints; what is refused.
#include "asked_gradient.h"
#include "sanitized.h"

// ---- closed forms -------------------------------------------------------------------------------

static void near_both(question *q, int n, const double *want, double tol) {
    static outcome got;
    for (int k = 0; k < 2; k++) {
        q->method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT;
        answer(q, &got);
        near_all(n, got.dJ, want, tol);
    }
}

// z = e^2 v s - g s^2/2, s = t - (v0 + v)/g - 2 e v/g, v = sqrt(v0^2 + 2 g H)
static void a_ball_bounces_twice(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {e: 0.8, H: 0.5 m, g: 9.81 m/s^2, v0: 0.1 m/s, r: 50 mm, m: 1}\n"
        "gravity: [0, 0, -g]\n"
        "robot: {ball: {on: world, joint: free, body: {sphere: {radius: r}, mass: m}}}\n"
        "initial: {ball: {pose: {xyz: [0, 0, r + H]}, twist: [0, 0, 0, 0, 0, v0]}}\n"
        "contacts: {floor: {ground: {on: ball, hard: true, restitution: e}}}\n"
        "study: [dynamic: {for: 1.1 s, step: 10 ms}]\n"
        "probes: {at: {position: ball}}\n";
    static const double want[6] = {
        1.64356037848051, 0.9656980225666418, -0.03048436929794864, 0.06467083905133439, 1, 0};
    near_both(&(question){.text = text,
                          .nby = 6,
                          .by = {"e", "H", "g", "v0", "r", "m"},
                          .nof = 1,
                          .of = {"at.z"}},
              6, want, 1e-8);
}

// Steps h of the middle rule until it stops within step N: x = N h v - mu g (N h)^2/2. Four corners
// carry a block, one more than needed: forward only.
static void a_block_slides_and_stops(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {mu: 0.5, v: 1 m/s, g: 9.81 m/s^2, m: 1}\n"
        "gravity: [0, 0, -g]\n"
        "robot: {block: {on: world, joint: free, body: {box: [0.2, 0.1, 0.1], mass: m}}}\n"
        "initial: {block: {pose: {xyz: [0, 0, 0.05]}, twist: [0, 0, 0, v, 0, 0]}}\n"
        "contacts: {floor: {ground: {on: block, hard: true, friction: mu}}}\n"
        "study: [dynamic: {for: 0.3 s, step: 5 ms}]\n"
        "probes: {at: {position: block}}\n";
    const double T = 41 * 5e-3, want[4] = {-9.81 * T * T / 2, T, -0.5 * T * T / 2, 0};
    static outcome got;
    question q = {.text = text, .nby = 4, .by = {"mu", "v", "g", "m"}, .nof = 1, .of = {"at.x"}};
    answer(&q, &got); // chosen: forward
    assert_int_equal(got.info.method, SNW_GRADIENT_FORWARD);
    near_all(4, got.dJ, want, 1e-9);
    q.method = SNW_GRADIENT_ADJOINT;
    ask(&q, &got);
    assert_int_equal(got.status, SNW_E_SINGULAR);
    assert_non_null(strstr(got.err.text, "hold the robot more than once"));
}

// One corner longer than the others: not all four can stay on the floor.
static void four_corners_do_not_stay(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {m: 1, longer: 0 m}\n"
        "robot: {block: {on: world, joint: free, body: {mass: m, inertia: [0.1, 0.1, 0.1]}}}\n"
        "contacts: {floor: {ground: {on: block, points: [[0.1, 0.1, 0], [-0.1, 0.1, 0], [-0.1, "
        "-0.1, 0], [0.1, -0.1, -longer]], hard: true, friction: 0.5}}}\n"
        "study: [dynamic: {for: 20 ms, step: 5 ms}]\n"
        "probes: {at: {position: block}}\n";
    static outcome got;
    question q = {.text = text, .nby = 1, .by = {"m"}, .nof = 1, .of = {"at.z"}};
    answer(&q, &got);
    assert_near(got.dJ[0], 0, 1e-12);
    q.by[0] = "longer";
    ask(&q, &got);
    assert_int_equal(got.status, SNW_E_SINGULAR);
    assert_non_null(strstr(got.err.text, "the hard contact 'floor' of link 'block' and others"));
}

// It slides for N steps, as long as it does so at their middle, x = N h v - mu g (N h)^2/2, then
// rolls with 5/7 v + 2/7 r spin.
static void a_ball_slides_and_rolls(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {mu: 0.4, r: 50 mm, v: 1 m/s, spin: 0 rad/s, m: 1, g: 9.81 m/s^2}\n"
        "gravity: [0, 0, -g]\n"
        "robot: {ball: {on: world, joint: free, body: {sphere: {radius: r}, mass: m}}}\n"
        "initial: {ball: {pose: {xyz: [0, 0, r]}, twist: [0, spin, 0, v, 0, 0]}}\n"
        "contacts: {floor: {ground: {on: ball, hard: true, friction: mu}}}\n"
        "study: [dynamic: {for: 0.2 s, step: 2 ms}]\n"
        "probes: {at: {position: ball}}\n";
    const double T = 36 * 2e-3, rest = 0.2 - T;
    const double want[6] = {
        -9.81 * T * T / 2, T + 5.0 / 7 * rest, 2.0 / 7 * 0.05 * rest, -0.4 * T * T / 2, 0, 0};
    near_both(&(question){.text = text,
                          .nby = 6,
                          .by = {"mu", "v", "spin", "g", "m", "r"},
                          .nof = 1,
                          .of = {"at.x"}},
              6, want, 1e-9);
}

// ---- differences --------------------------------------------------------------------------------

// The sweep back equals sensitivities to `same` and differences of whole runs, with moves of this
// part of the variables, to `tol`, both relative to the largest change.
static void follows(question *q, double same, double move, double tol) {
    static outcome got, forward, want;
    q->method = SNW_GRADIENT_ADJOINT;
    answer(q, &got);
    q->method = SNW_GRADIENT_FORWARD;
    answer(q, &forward);
    differences(q, move, &want);
    for (int k = 0; k < q->nby * q->nof; k++) {
        const double a = got.dJ[k], f = forward.dJ[k], d = want.dJ[k];
        const int row = k / q->nby, col = k % q->nby;
        double size = 1e-3 * fabs(got.J[row]);
        for (int n = 0; n < q->nby; n++)
            size = fmax(size, fabs(want.dJ[row * q->nby + n] * want.p[n]));
        size /= want.p[col] != 0 ? fabs(want.p[col]) : 1;
        const bool right = fabs(a - f) <= same * size && fabs(a - d) <= tol * size;
        if (!right)
            print_error("%s by %s: %.13g, forward %.13g, differences %.13g\n", q->of[row],
                        q->by[col], a, f, d);
        assert_true(right);
    }
}

// It falls on the floor, bounces a little, creeps and lies still for the last 100 steps.
static const char arm[] =
    "sinew: 1\n"
    "parameters: {E: 0.3 MPa, mu: 0.5, h: 60 mm, rho: 1000 kg/m^3, damp: 20 ms}\n"
    "materials: {rubber: {young: E, poisson: 0.5, density: rho, damping: damp}}\n"
    "robot:\n"
    "  arm:\n"
    "    on: world\n"
    "    pose: {xyz: [0, 0, h]}\n"
    "    rod:\n"
    "      length: 0.4\n"
    "      section: {circle: {radius: 8 mm}}\n"
    "      material: rubber\n"
    "      strain: {bend_y: legendre 5, stretch: constant}\n"
    "      nodes: 10\n"
    "contacts: {floor: {ground: {on: arm, hard: true, friction: mu}}}\n"
    "study: [dynamic: {for: 1.2 s, step: 5 ms}]\n"
    "probes: {tip: {position: arm.tip}, c: {contact: floor}}\n";

static void a_soft_arm_comes_to_rest(void **state) {
    (void)state;
    if (AMONG(1, 0)) return; // the finger runs the same lines
    follows(&(question){.text = arm,
                        .nby = 5,
                        .by = {"E", "mu", "h", "rho", "damp"},
                        .nof = 2,
                        .of = {"tip.x", "integral(tip.z)"}},
            1e-9, 3e-6, 1e-5);
}

static const char finger[] =
    "sinew: 1\n"
    "parameters: {E: 0.5 MPa, mu: 0.3, m: 50 g, T: 2.5 N}\n"
    "materials: {rubber: {young: E, poisson: 0.5, density: 1000, damping: 20 ms}}\n"
    "gravity: [0, 0, -9.81]\n"
    "robot:\n"
    "  finger:\n"
    "    on: world\n"
    "    pose: {xyz: [0, 0, 0.16], rpy: [0, 90 deg, 0]}\n"
    "    rod:\n"
    "      length: 0.14\n"
    "      section: {circle: {radius: 6 mm}}\n"
    "      material: rubber\n"
    "      strain: {bend_y: legendre 4}\n"
    "      nodes: 8\n"
    "  ball: {on: world, joint: prismatic, axis: x, pose: {xyz: [40 mm, 0, 20.1 mm]}, body: "
    "{sphere: {radius: 20 mm}, mass: m}}\n"
    "actuators: {pull: {tendon: {along: finger, at: [0, 0, 5 mm]}, effort: \"T*poly5(t, 0 s, 0.4 "
    "s)\"}}\n"
    "contacts: {push: {obstacle: {links: [finger], on: ball, shape: sphere, radius: 20 mm, hard: "
    "true, friction: mu}}}\n"
    "study: [dynamic: {for: 0.4 s, step: 4 ms}]\n"
    "probes: {ball: {position: ball}, tip: {position: finger.tip}, e: energy}\n";

static void a_soft_finger_pushes_a_ball(void **state) {
    (void)state;
    follows(&(question){.text = finger,
                        .nby = AMONG(1, 4),
                        .by = {"E", "m", "mu", "T"},
                        .nof = 3,
                        .of = {"ball.x", "tip.x", "e.kinetic"}},
            1e-8, 1e-4, 1e-6);
}

// The tension through knots
static void knots_of_a_tension(void **state) {
    (void)state;
    static const double knot[4] = {0, 0.1, 0.25, 0.4}, at[4] = {0.5, 0.8, 2.2, 2.5};
    static outcome got, forward, want;
    const snw_gradient_variable law = {
        .name = "pull.effort", .nknot = 4, .knot = knot, .rule = SNW_KNOTS_SMOOTH, .unit = "N"};
    question q = {.text = finger, .law = &law, .at = at, .nof = 1, .of = {"ball.x"}};
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &forward);
    for (int k = 0; k < 4; k++) assert_near(got.dJ[k], forward.dJ[k], 1e-9);
    double p[4];
    for (int k = 1; k < AMONG(2, 4); k++) {
        double sum = 0;
        for (int j = -1; j < 2; j += 2) {
            memcpy(p, at, sizeof p);
            p[k] += j * 1e-5;
            q.at = p, q.value_only = 1;
            answer(&q, &want);
            sum += j * want.J[0] / 2e-5;
        }
        assert_near(got.dJ[k], sum, 1e-7);
    }
}

// A ball strikes obstacles of all shapes, which slides or sticks there; numbers of the shapes too
static void balls_strike_shapes(void **state) {
    (void)state;
    static const char *const shape[] = {
        "sphere, radius: R",
        "capsule, radius: R, length: w, axis: x, at: [a, 0, 0]",
        "box, size: [0.3, w, 2*R], rounding: 4 mm, at: [a, 0, 0]",
        "cylinder, radius: R, axis: [1, 0.2, 0], at: [a, 0, 0]",
        "torus, radius: R, section: 30 mm, at: [a, 0, w]",
        "plane, at: [a, 0, R - 30 mm], axis: [0.1, 0.2, 1]",
        "sphere, radius: 0.3, inside: true, at: [a, 0, R + 0.27]",
        "hull, corners: [[0.2, 0.2, 0.05], [-0.2, 0.2, 0.04], [0, -0.2, R], [0, 0, -0.1]]"};
    static char text[2000];
    for (int k = 0; k < AMONG(2, 2 * (int)(sizeof shape / sizeof *shape)); k++) {
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "parameters: {r: 50 mm, mu: %s, e: 0.5, R: 80 mm, y0: 30 mm, a: 2 mm, w: 60 mm}\n"
            "gravity: [0, 0, -9.81]\n"
            "robot: {ball: {on: world, joint: free, body: {sphere: {radius: r}, mass: 1}}}\n"
            "initial: {ball: {pose: {xyz: [0.01 m, y0, 0.16]}, twist: [1, 2, 0, 0, 0.1, -0.3]}}\n"
            "contacts: {c: {obstacle: {links: ball, shape: %s, hard: true, friction: mu, "
            "restitution: e}}}\n"
            "study: [dynamic: {for: 0.12 s, step: 4 ms}]\n"
            "probes: {at: {position: ball}, v: {velocity: ball}}\n",
            k % 2 ? "0.04" : "0.3", shape[k / 2]);
        follows(&(question){.text = text,
                            .nby = 6,
                            .by = {"r", "mu", "e", "y0", "R", "a"},
                            .nof = 1,
                            .of = {"at.x + v.vx + 0.1*v.vy"}},
                1e-9, 1e-6, 1e-6);
    }
}

// The place where an arm touches a cylinder passes a node of the arm: samples at other values of
// the parameters follow it beyond the node. Where it passes on, a gap becomes zero without changing
// its sign; runs with derivatives find that instant to rounding, so that differences agree to the
// noise of the runs, 4e-13. The rate of the gap is small there and divides the rounding of both
// sweeps, which agree to 1.3e-8.
static void a_contact_passes_a_node(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {E: 1 MPa, a: 0.2 m, hh: 60 mm, len: 0.4 m}\n"
        "gravity: [0, 0, -9.81]\n"
        "materials: {rubber: {young: E, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
        "robot:\n"
        "  arm: {on: world, pose: {xyz: [0, 0, hh], rpy: [0, 0, 0.1 rad]}, rod: {length: len, "
        "section: {circle: {radius: 6 mm}}, material: rubber, strain: {bend_y: legendre 4, bend_z: "
        "legendre 3, twist: legendre 1}, rest: {bend_y: 1 1/m}, nodes: 10}}\n"
        "  tip: {on: arm.tip, pose: {xyz: [0, 3 mm, 0]}, body: {mass: 5 g}}\n"
        "actuators: {pull: {tendon: {along: arm, at: [0, 4 mm, 2 mm]}, effort: \"0.3 N*poly5(t, 0 "
        "s, 0.2 s)\"}}\n"
        "contacts: {c: {obstacle: {links: arm, shape: cylinder, radius: 20 mm, axis: y, at: [a, 0, "
        "0], hard: true, friction: 0.2, restitution: 0.3}}}\n"
        "study: [dynamic: {for: 0.25 s, step: 2 ms}]\n"
        "probes: {at: {position: arm.tip}}\n";
    if (AMONG(1, 0)) return;
    follows(
        &(question){
            .text = text, .nby = 4, .by = {"E", "a", "hh", "len"}, .nof = 1, .of = {"at.z"}},
        1e-7, 3e-5, 1e-6);
}

// A rod falls across another one and strikes it several times, slides and leaves it.
// The impacts amplify the rounding of sums: adjoint and forward differ by 1.3e-9 with the kernels
// of OpenBLAS for Haswell and Zen, by 2e-11 to 4e-10 with those for SkylakeX, Prescott, Sandybridge
// and Nehalem (all for a.z by E; the other entries by at most 5e-11).
static void rods_strike_rods(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "parameters: {E: 2 MPa, mu: 0.3, e: 0.4}\n"
        "materials:\n"
        "  stiff: {young: 100 MPa, poisson: 0.5, density: 1000, damping: 10 ms}\n"
        "  rubber: {young: E, poisson: 0.5, density: 1000, damping: 10 ms}\n"
        "robot:\n"
        "  A:\n"
        "    on: world\n"
        "    pose: {xyz: [0.25, -0.25, 40 mm], rpy: [0, 0, 90 deg]}\n"
        "    rod: {length: 0.5, section: {circle: {radius: 10 mm}}, material: rubber, strain: "
        "{bend_y: legendre 3, bend_z: legendre 2}, nodes: 8}\n"
        "  B:\n"
        "    on: world\n"
        "    rod: {length: 0.4, section: {circle: {radius: 10 mm}}, material: stiff, strain: "
        "{bend_y: legendre 3, bend_z: legendre 2}, nodes: 8}\n"
        "contacts: {touch: {rods: {between: [A, B], hard: true, friction: mu, restitution: e}}}\n"
        "study: [dynamic: {for: 0.2 s, step: 2 ms}]\n"
        "probes: {a: {position: A.tip}, b: {position: B.tip}}\n";
    follows(&(question){.text = text,
                        .nby = AMONG(1, 3),
                        .by = {"E", "mu", "e"},
                        .nof = 2,
                        .of = {"a.z", "a.x + b.z"}},
            5e-9, 1e-5, 1e-5);
}

// Loops, and given coordinates, with and without contact
static void loops_and_given_motion(void **state) {
    (void)state;
    static const char crank[] =
        "sinew: 1\n"
        "parameters: {k: 30 N/m, c: 0.5 N*s/m, m: 0.5 kg, tau: 0.8 N*m}\n" SLIDER_CRANK
        "gravity: [0, -9.81, 0]\n"
        "study: [dynamic: {for: 1 s, step: 10 ms, scheme: moreau}]\n";
    follows(
        &(question){
            .text = crank, .nby = 4, .by = {"k", "c", "m", "tau"}, .nof = 2, .of = {"at", "v"}},
        1e-9, 1e-4, 1e-7);
}

// ---- stops of joints
// -----------------------------------------------------------------------------

// Free flight between two impacts: a = hi - e w t_1, t_1 = t - hi/w, and then from the lower limit
// with e^2 w; one sweep for all numbers.
static void a_hard_stop_bounces(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {e: 0.8, hi: 0.5, lo: -0.3, w: 2, m: 1}\n"
        "gravity: 0\n"
        "robot: {arm: {on: world, joint: revolute, axis: y, limits: [lo, hi], stop: {hard: true, "
        "restitution: e}, body: {mass: m, com: [0.2, 0, 0], inertia: [1e-3, 2e-3, 2e-3]}}}\n"
        "initial: {arm: {rate: w}}\n"
        "study: [dynamic: {for: 0.8 s, step: 7 ms}]\n"
        "probes: {a: {angle: arm}}\n";
    // a = lo + e^2 w (t - hi/w - (hi - lo)/(e w))
    const double e = 0.8, hi = 0.5, lo = -0.3, w = 2, t = 0.8;
    const double s = t - hi / w - (hi - lo) / (e * w);
    const double want[5] = {2 * e * w * s + hi - lo, -e * e - e, 1 + e,
                            e * e * s + e * e * hi / w + e * (hi - lo) / w, 0};
    question q = {.text = text, .nby = 5, .by = {"e", "hi", "lo", "w", "m"}, .nof = 1, .of = {"a"}};
    near_both(&q, 5, want, 1e-10);
    static outcome got;
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    near_all(1, got.J, (double[]){lo + e * e * w * s}, 1e-10);
    assert_int_equal(got.info.sweeps, 1);
}

// Two links with stops, which hit them and are held there; one that lies on a slider in a loop of
// its own; equilibria.
static void stops_stop_and_hold(void **state) {
    (void)state;
    static const char links[] =
        "sinew: 1\n"
        "parameters: {e: 0.6, hi: 1.0, m: 1, w0: 3, g: 9.81 m/s^2, l: 0.4, h2: 0.6, k: 0.4, f: "
        "%s}\n"
        "gravity: [f, 0, -g]\n"
        "robot:\n"
        "  arm: {on: world, joint: revolute, axis: y, limits: [-0.5, hi], stop: {hard: true, "
        "restitution: e}, body: {mass: m, com: [l, 0, 0], inertia: [0.01, 0.02, 0.02]}}\n"
        "  slide: {on: arm, pose: {xyz: [l, 0, 0]}, joint: prismatic, axis: x, stiffness: 200*k, "
        "limits: [-5 cm, 1 cm], stop: {hard: true}, body: {mass: 0.1*m, inertia: [1e-4, 1e-4, "
        "1e-4]}}\n"
        "  fore: {on: slide, joint: revolute, axis: y, stiffness: k, damping: 0.01, limits: [-0.4, "
        "h2], stop: {hard: true, restitution: 0.3}, body: {mass: 0.3, com: [0.2, 0, 0], inertia: "
        "[0.001, 0.002, 0.002]}}\n"
        "initial: {arm: {rate: w0}}\n"
        "probes: {a: {angle: arm}, b: {angle: fore}, r: {rate: fore}, s: {value: slide}}\n"
        "study: [%s]\n";
    char text[2000];
    (void)snprintf(text, sizeof text, links, "0", "dynamic: {for: 0.45 s, step: 5 ms}");
    question q = {.text = text,
                  .nby = 8,
                  .by = {"e", "hi", "m", "w0", "g", "l", "h2", "k"},
                  .nof = 2,
                  .of = {"integral(a*b)", "b + 0.1*r"}};
    follows(&q, 1e-9, 1e-5, 1e-5);
    (void)snprintf(text, sizeof text, links, "2", "static:");
    question rest = {.text = text,
                     .nby = 6,
                     .by = {"hi", "m", "g", "l", "h2", "k"},
                     .nof = 2,
                     .of = {"a + s", "b"}};
    follows(&rest, 1e-9, 1e-4, 1e-7);
}

// Stops with a stiffness have energies, by whose numbers the sweep gathers, too.
static void soft_stops_are_gathered(void **state) {
    (void)state;
    static const char *const scheme[] = {"conserving", "moreau"};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "parameters: {k: 300, d: 0.1, hi: 0.6, m: 1, w0: 3, l: 0.4, e: 0.02}\n"
            "robot:\n"
            "  arm: {on: world, joint: revolute, axis: y, limits: [-0.5, hi], stop: {stiffness: k, "
            "damping: d, smooth: e}, body: {mass: m, com: [l, 0, 0], inertia: [0.01, 0.02, "
            "0.02]}}\n"
            "  fore: {on: arm, pose: {xyz: [l, 0, 0]}, joint: revolute, axis: y, stiffness: 0.4, "
            "damping: 0.01, body: {mass: 0.3, com: [0.2, 0, 0], inertia: [1e-3, 2e-3, 2e-3]}}\n"
            "initial: {arm: {rate: w0}}\n"
            "study: [dynamic: {for: 0.8 s, step: 5 ms, scheme: %s}]\n"
            "probes: {a: {angle: arm}, f: {angle: fore}}\n",
            scheme[k]);
        question q = {.text = text,
                      .nby = 7,
                      .by = {"k", "d", "hi", "m", "w0", "l", "e"},
                      .nof = 1,
                      .of = {"f"}};
        follows(&q, 2e-9, 1e-5, 2e-5); // runs are not smooth to more where a stop is touched
        static outcome got;
        q.method = SNW_GRADIENT_ADJOINT;
        answer(&q, &got);
        assert_int_equal(got.info.sweeps, 1);
        assert_int_equal(got.info.gathered, k ? 7 : 6); // weights of (6.3) depend on the length
    }
}

// ---- forces as results
// ---------------------------------------------------------------------------

// A wheel that slides: N = m g, friction mu m g against it, its moment about the origin -x N + z T.
static void forces_of_a_sliding_wheel(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {mu: 0.2, m: 2, g: 9, a: 4, v: 1, k: 3}\n"
        "gravity: [a, 0, -g]\n"
        "robot:\n"
        "  along: {on: world, joint: prismatic, axis: x}\n"
        "  up: {on: along, joint: prismatic, axis: z, pose: {xyz: [0, 0, 0.1]}}\n"
        "  ball: {on: up, joint: revolute, axis: y, stiffness: k, body: {sphere: {radius: 0.1}, "
        "mass: m}}\n"
        "initial: {along: {rate: v}}\n"
        "contacts: {floor: {ground: {on: ball, hard: true, friction: mu}}}\n"
        "probes: {c: {contact: floor}, f: {reaction: floor}}\n"
        "study: [dynamic: {for: 0.1 s, step: 5 ms}]\n";
    // the first frame has no force; x = v t + (a - mu g) t^2/2
    const double t = 0.1, m = 2, g = 9, mu = 0.2, x = t + (4 - mu * g) * t * t / 2;
    const double want[18] = {0,
                             g * 0.0975,
                             m * 0.0975,
                             0,
                             0,
                             0,
                             -m * g,
                             -mu * g,
                             -mu * m,
                             0,
                             0,
                             0,
                             m * g * g * t * t / 2,
                             -g * x,
                             -m * x + m * g * mu * t * t / 2,
                             -m * g * t * t / 2,
                             -m * g * t,
                             0};
    question q = {.text = text,
                  .nby = 6,
                  .by = {"mu", "m", "g", "a", "v", "k"},
                  .nof = 3,
                  .of = {"integral(c.fz)", "c.fx", "f.my"}};
    near_both(&q, 18, want, 1e-9);
    static outcome got;
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    assert_int_equal(got.info.sweeps, 1);
    assert_int_equal(got.info.gathered, 6);
}

// An arm on the floor: of a wheel that rolls and of a fixed tip, in motion and in equilibrium; the
// reaction and the wrench within the rod contain them; a stop.
static void forces_on_a_soft_arm(void **state) {
    (void)state;
    static const char leg[] =
        "sinew: 1\n"
        "parameters: {E: 8 MPa, m: 0.1 kg, d: 2 cm, l: 0.5, g: 9.81 m/s^2, s: 2 N}\n"
        "gravity: [0, 0, -g]\n"
        "materials: {rubber: {young: E, poisson: 0.45, density: 1100, damping: 5 ms}}\n"
        "robot:\n"
        "  hip: {on: world, joint: revolute, axis: z, limits: [-10 deg, 5 deg], stop: {hard: "
        "true}, "
        "body: {mass: 10 g, inertia: [1e-5, 1e-5, 1e-5]}}\n"
        "  arm: {on: hip, rod: {length: l, section: {circle: {radius: 1 cm}}, material: rubber, "
        "strain: {bend_y: legendre 2, bend_z: constant}, nodes: 8}}\n"
        "  tip: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.02, damping: 1e-3, body: "
        "{mass: "
        "m, sphere: {radius: d}}}\n"
        "contacts: {floor: {ground: {on: tip, hard: true, friction: %s, at: [0, 0, -5 cm]}}}\n"
        "loads: {side: {on: tip, force: [0, s, 0]}}\n"
        "probes: {c: {contact: floor}, hip: {reaction: hip}, w: {wrench: arm@50%%}}\n"
        "study: [%s]\n";
    char text[2000];
    (void)snprintf(text, sizeof text, leg, "0.3", "dynamic: {for: 0.3 s, step: 5 ms}");
    question q = {.text = text,
                  .nby = 6,
                  .by = {"E", "m", "d", "l", "g", "s"},
                  .nof = 3,
                  .of = {"integral(c.fz^2 + c.fx)", "hip.my + hip.mz", "w.my"}};
    follows(&q, 1e-8, 1e-5, 1e-4);
    (void)snprintf(text, sizeof text, leg, "0", "static:");
    question rest = {.text = text,
                     .nby = 6,
                     .by = {"E", "m", "d", "l", "g", "s"},
                     .nof = 2,
                     .of = {"c.fz", "hip.my + hip.mz"}};
    follows(&rest, 1e-9, 1e-4, 1e-6);
}

// ---- checkpoints and refusals -------------------------------------------------------------------

static void checkpoints_give_the_same_bits(void **state) {
    (void)state;
    static outcome kept, again;
    question q = {.text = finger, .nby = 1, .by = {"E"}, .nof = 1, .of = {"ball.x"}};
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &kept);
    assert_int_equal(kept.info.recomputed, 0);
    q.memory = 30000;
    answer(&q, &again);
    assert_true(again.info.recomputed > 50);
    assert_memory_equal(kept.J, again.J, sizeof kept.J);
    assert_memory_equal(kept.dJ, again.dJ, sizeof kept.dJ);
}

static void refuses(const char *text, const char *of, const char *message) {
    static outcome got;
    for (int k = 0; k < 2; k++) {
        ask(&(question){.text = text,
                        .nby = 1,
                        .by = {"m"},
                        .nof = 1,
                        .of = {of},
                        .method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
            &got);
        if (!strstr(got.err.text, message)) print_error("'%s', want '%s'\n", got.err.text, message);
        assert_int_not_equal(got.status, SNW_OK);
        assert_non_null(strstr(got.err.text, message));
    }
}

static void what_has_no_derivative_is_named(void **state) {
    (void)state;
#define BALL(study, more, slope)                                                                   \
    "sinew: 1\n"                                                                                   \
    "parameters: {m: 1}\n"                                                                         \
    "gravity: [" slope ", 0, -9.81]\n"                                                             \
    "robot: {ball: {on: world, joint: free, body: {mass: m, inertia: [0.1, 0.1, 0.1]}}}\n"         \
    "sites: {foot: {on: ball}}\n"                                                                  \
    "contacts: {floor: {ground: {on: ball, points: [[0, 0, 0]], hard: true, friction: 0.5}}}\n"    \
    "study: [" study "]\n"                                                                         \
    "probes: {at: {position: ball}, a: {acceleration: ball}}\n" more
    refuses(BALL("static: {friction: on}, dynamic: {for: 20 ms, step: 5 ms}", "", "0"), "at.x",
            "equilibria with 'friction' depend on their way");
    refuses(BALL("dynamic: {for: 20 ms, step: 5 ms}", "", "0"), "a.ax",
            "accelerations of a robot with hard contacts");
    // tan a = mu
    refuses(BALL("dynamic: {for: 20 ms, step: 5 ms}", "", "9.81*0.5"), "at.x",
            "the hard contact 'floor' of link 'ball' is at the boundary");
#undef BALL
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_bounces_twice),
        cmocka_unit_test(a_block_slides_and_stops),
        cmocka_unit_test(four_corners_do_not_stay),
        cmocka_unit_test(a_ball_slides_and_rolls),
        cmocka_unit_test(a_soft_arm_comes_to_rest),
        cmocka_unit_test(a_soft_finger_pushes_a_ball),
        cmocka_unit_test(knots_of_a_tension),
        cmocka_unit_test(balls_strike_shapes),
        cmocka_unit_test(a_contact_passes_a_node),
        cmocka_unit_test(rods_strike_rods),
        cmocka_unit_test(loops_and_given_motion),
        cmocka_unit_test(forces_of_a_sliding_wheel),
        cmocka_unit_test(forces_on_a_soft_arm),
        cmocka_unit_test(a_hard_stop_bounces),
        cmocka_unit_test(stops_stop_and_hold),
        cmocka_unit_test(soft_stops_are_gathered),
        cmocka_unit_test(checkpoints_give_the_same_bits),
        cmocka_unit_test(what_has_no_derivative_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
