// SPDX-License-Identifier: MIT
//
// Gradients of studies, theory.md 7.5: rollouts of a double pendulum, a heavy top and a
// slider-crank with derivatives by complex steps of independent programs, the elastica with those
// of elliptic integrals, random robots against differences of whole runs; laws through knots;
// checkpoints, bit for bit; parameters found together and one by one; refusals.
#include "asked_gradient.h"
#include "random_rod.h"
#include "robot/robot_model.h"
#include "sanitized.h"
#include "study/run.h"

#include <stdio.h>

#include <string.h>

enum { ROBOTS = AMONG(2, 5) };

// ---- rollouts -----------------------------------------------------------------------------------

static const char pendulum[] =
    "sinew: 1\n"
    "parameters: {k1: 1.5 N*m, c1: 0.05 N*m*s, m2: 0.5 kg, l1: 0.6 m, tau: 2 N*m, a1: 0.4, w1: 0.5 "
    "1/s}\n"
    "gravity: [9.81 m/s^2, 0, 0]\n"
    "robot:\n"
    "  upper: {on: world, joint: revolute, axis: z, stiffness: k1, damping: c1, body: {mass: 0.8 "
    "kg, "
    "com: [l1, 0, 0], inertia: [0, 0, 0]}}\n"
    "  lower: {on: upper, pose: {xyz: [l1, 0, 0]}, joint: revolute, axis: z, stiffness: 0.7 N*m, "
    "damping: 0.02 N*m*s, body: {mass: m2, com: [0.4 m, 0, 0], inertia: [0, 0, 0]}}\n"
    "sites: {bob: {on: lower, pose: {xyz: [0.4 m, 0, 0]}}}\n"
    "initial: {upper: {position: a1, rate: w1}, lower: {position: -0.3}}\n"
    "actuators: {motor: {joint: upper, effort: tau*sin(5*t/(1 s))}}\n"
    "study: [dynamic: {for: 5 s, step: 5 ms, scheme: %s}]\n"
    "probes: {bob: {position: bob}, r1: {rate: upper}, r2: {rate: lower}}\n";

// 1000 steps; derivatives by complex steps of an independent program, 9 digits.
static void rollout_of_a_pendulum(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double J, by[7];
    } row[] = {
        {"euler",
         1.2874718325,
         {0.0721023142, -1.38325491, -1.30446958, -1.11687528, 0.390397858, 1.41199267,
          0.383471686}},
        {"bdf2",
         1.4154051550,
         {0.0876644435, -1.75248899, -1.35195877, -1.20390567, 0.419993628, 1.62141637,
          0.441817703}},
        {"bdf-alpha, alpha: -0.2",
         1.4155507909,
         {0.0876863143, -1.75308332, -1.35254964, -1.20440349, 0.420182887, 1.62132549,
          0.441931684}},
        {"trapezoidal",
         1.4157458034,
         {0.0877157534, -1.75388233, -1.35346675, -1.20511771, 0.420460723, 1.62116353,
          0.442099479}},
        {"newmark",
         1.4157458034,
         {0.0877157534, -1.75388233, -1.35346675, -1.20511771, 0.420460723, 1.62116353,
          0.442099479}},
        {"hht, rho: 0.9",
         1.4157271828,
         {0.0877121805, -1.75380543, -1.35338340, -1.20504442, 0.420435877, 1.62116790,
          0.442085817}},
        {"wbz, rho: 0.9",
         1.4157247883,
         {0.0877117233, -1.75379556, -1.35337406, -1.20503548, 0.420432937, 1.62116802,
          0.442084192}},
        {"generalized-alpha, rho: 0.5",
         1.4156913123,
         {0.0877066074, -1.75365794, -1.35319665, -1.20490496, 0.420381431, 1.62120141,
          0.442053107}},
        {"gauss4",
         1.4158316270,
         {0.0877285315, -1.75422889, -1.35401505, -1.20548316, 0.420609501, 1.62104839,
          0.442178512}},
        {"gauss6",
         1.4158316243,
         {0.0877285309, -1.75422890, -1.35401506, -1.20548314, 0.420609503, 1.62104838,
          0.442178513}},
    };
    static outcome got;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, pendulum, row[i].scheme);
        answer(&(question){.text = text,
                           .nby = 7,
                           .by = {"k1", "c1", "m2", "l1", "tau", "a1", "w1"},
                           .nof = 1,
                           .of = {"sum((bob.y - 0.3)^2 + 0.01*(r1^2 + r2^2))"}},
               &got);
        assert_near(got.J[0], row[i].J, 2e-10);
        near_all(7, got.dJ, row[i].by, 5e-9);
        assert_int_equal(got.info.steps, 1000);
        assert_int_equal(got.info.method, SNW_GRADIENT_ADJOINT);
    }
    // the end, and the initial state without parameters of the file
    static const char *const scheme[2] = {"bdf2", "gauss6"};
    static const double end[2][7] = {{0.325037035, 0.104541425, -1.24111921, -4.56400568,
                                      -0.0913443161, 0.524347498, -0.212398208},
                                     {0.325259195, 0.102350019, -1.23934046, -4.56796008,
                                      -0.0914611978, 0.525499183, -0.211968093}};
    for (int i = 0; i < 2; i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, pendulum, scheme[i]);
        answer(
            &(question){.text = text,
                        .nby = 7,
                        .by = {"k1", "c1", "m2", "l1", "tau", "q(upper.angle)", "v(upper.angle)"},
                        .nof = 1,
                        .of = {"bob.y"}},
            &got);
        assert_near(got.J[0], i ? 0.0556443699 : 0.0547497231, 2e-10);
        near_all(7, got.dJ, end[i], 5e-9);
    }
}

static const char top[] =
    "sinew: 1\n"
    "parameters: {I1: 0.02 kg*m^2, I3: 0.01 kg*m^2, m: 1.2 kg, l: 0.1 m, c: 0.002 N*m*s, th: 0.5, "
    "w3: 30 1/s}\n"
    "gravity: [0, 0, -9.81 m/s^2]\n"
    "robot:\n"
    "  top: {on: world, joint: spherical, damping: c, body: {mass: m, com: [0, 0, l], inertia: [I1 "
    "- "
    "m*l^2, 0.025 kg*m^2 - m*l^2, I3]}}\n"
    "sites: {tip: {on: top, pose: {xyz: [0, 0, l]}}}\n"
    "initial: {top: {position: {axis: x, angle: th}, rate: [0, 1 1/s, w3]}}\n"
    "study: [dynamic: {for: 2 s, step: 2 ms, scheme: %s}]\n"
    "probes: {tip: {position: tip}}\n";

// Increments on SO(3): without the factor Ad(exp(-d))' some derivatives have the wrong sign.
static void rollout_of_a_top(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double J, x, by[7];
    } row[] = {
        {"euler",
         1.7083392906,
         -0.076117157,
         {17.5105099, -81.9298035, 0.233578729, 35.9437095, 14.3463530, 0.913078901,
          -0.0166123315}},
        {"bdf2",
         1.4836422597,
         0.012171200,
         {12.6600786, -230.661140, 1.05323475, 40.4857740, 268.715188, 0.404462388, -0.0608875863}},
        {"newmark",
         1.4854395472,
         0.013893812,
         {12.5706480, -229.789064, 1.04957708, 40.4679273, 268.092908, 0.407532125, -0.0604862034}},
        {"generalized-alpha, rho: 0.5",
         1.4850762767,
         0.013616743,
         {12.5898984, -229.966673, 1.05026344, 40.4704775, 268.239662, 0.407003229, -0.0605690330}},
    };
    static outcome got;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, top, row[i].scheme);
        answer(&(question){.text = text,
                           .nby = 7,
                           .by = {"I1", "I3", "m", "l", "c", "th", "w3"},
                           .nof = 2,
                           .of = {"sum(100*(tip.x^2 + (tip.y - 0.02)^2))", "tip.x"}},
               &got);
        assert_near(got.J[0], row[i].J, 2e-10);
        assert_near(got.J[1], row[i].x, 1e-9);
        near_all(7, got.dJ, row[i].by, 1e-8);
    }
}

static const char crank[] =
    "sinew: 1\n"
    "parameters: {k: 30 N/m, c: 0.6 N*s/m, m2: 0.6 kg, m3: 0.8 kg, tau: 1.5 N*m}\n"
    "gravity: [0, -9.81 m/s^2, 0]\n"
    "robot:\n"
    "  crank: {on: world, joint: revolute, axis: z, body: {mass: 0.4 kg, com: [0.3 m, 0, 0], "
    "inertia: [0, 0, 0]}}\n"
    "  rod: {on: crank, pose: {xyz: [0.3 m, 0, 0]}, joint: revolute, axis: z, body: {mass: m2, "
    "com: "
    "[0.25 m, 0, 0], inertia: [0, 0, 0]}}\n"
    "  slider: {on: world, joint: prismatic, axis: x, stiffness: k, rest: 0.55 m, damping: c, "
    "body: "
    "{mass: m3, com: [0, 0, 0], inertia: [0, 0, 0]}}\n"
    "sites: {end: {on: rod, pose: {xyz: [0.5 m, 0, 0]}}}\n"
    "loops: {pin: {join: [slider, end], as: revolute, axis: z}}\n"
    "initial: {crank: 1, rod: -1 - asin(0.3*sin(1)/0.5), slider: 0.3 m*cos(1) + sqrt(0.25 - "
    "(0.3*sin(1))^2)*1 m}\n"
    "actuators: {motor: {joint: crank, effort: tau*sin(4*t/(1 s))}}\n"
    "study: [dynamic: {for: 4 s, step: 4 ms, scheme: %s}]\n"
    "probes: {place: {value: slider}, f: {reaction: pin}}\n";

// Rows at the ends of steps, and a scalar of their multipliers.
static void rollout_of_a_slider_crank(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double J[3], by[10];
    } row[] = {
        {"euler",
         {1.6855506273, 0.2115829126, 0.2528582954},
         {0.09891085, -2.8586457, -2.47797205, -6.28334139, 3.94728582, 0.0123254451, -0.464761215,
          -0.366251271, -0.474089241, 0.718136259}},
        {"bdf2",
         {1.8941444575, 0.3470657062, 0.7178044161},
         {0.00806343667, -1.47726801, -0.529654891, -1.18365573, 1.32332802, -0.0115038131,
          -0.105908528, 0.0648083004, 1.15099191, 0.179884772}},
        {"generalized-alpha, rho: 0.5",
         {1.8992374712, 0.3450576246, 0.7144317162},
         {0.00673590178, -1.47360369, -0.506233342, -1.10874791, 1.30101962, -0.0118649546,
          -0.0882598044, 0.0779933953, 1.17987701, 0.153107597}},
    };
    static outcome got, forward;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, crank, row[i].scheme);
        question q = {.text = text,
                      .nby = 5,
                      .by = {"k", "c", "m2", "m3", "tau"},
                      .nof = 3,
                      .of = {"sum(10*(place - 0.6)^2)", "sum(1e-3*f.fx^2)", "place"}};
        answer(&q, &got);
        near_all(3, got.J, row[i].J, 1e-9);
        near_all(10, got.dJ, row[i].by, 1e-8);
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &forward);
        near_all(15, forward.dJ, got.dJ, 1e-10);
    }
}

// Schemes without damping: velocities are projected onto the loop after each step.
static void projected_velocities(void **state) {
    (void)state;
    static outcome got, forward, want;
    char text[TEXT];
    (void)snprintf(text, sizeof text, crank, "newmark");
    char *duration = strstr(text, "for: 4 s");
    memcpy(duration, "for: 1 s", 8);
    question q = {.text = text,
                  .nby = 4,
                  .by = {"k", "m2", "tau", "q(crank.angle)"},
                  .nof = 2,
                  .of = {"sum(10*(place - 0.6)^2)", "sum(1e-3*f.fx^2) + end(place)"}};
    answer(&q, &got);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &forward);
    q.method = SNW_GRADIENT_DIFFERENCES;
    answer(&q, &want);
    near_all(8, got.dJ, want.dJ, 1e-8);
    near_all(8, got.dJ, forward.dJ, 1e-9);
}

// ---- equilibria ---------------------------------------------------------------------------------

// Tip forces 2 and 5 on a cantilever, EI = L = 1: elliptic integrals.
static void elastica(void **state) {
    (void)state;
    static const char form[] =
        "sinew: 1\ngravity: 0\nparameters: {F: %.17g N, EI: 1 N*m^2, len: 1 m}\n"
        "robot: {rod: {on: world, rod: {length: len, section: {stiffness: {bend_z: EI}}, strain: "
        "{bend_z: legendre 16}, nodes: 32, magnus: 6}}}\n"
        "loads: {push: {on: rod.tip, force: [0, F, 0]}}\n"
        "study: [static: {tolerance: 1e-14}]\nprobes: {tip: {pose: rod.tip}}\n";
    static const double force[2] = {2, 5};
    static const double place[2][3] = {{0.839358279174833, 0.493457480396712, 0.781749831556543},
                                       {0.612371639275570, 0.713791523611913, 1.21536811761168}};
    static const double by_force[2][3] = {
        {-0.102876897296855, 0.142546214828556, 0.253014804550978},
        {-0.0522166574638555, 0.0361803596117529, 0.0793682733402835}};
    static const double by_length[2][3] = {
        {0.427850689987411, 1.06364233971093, 1.01205921820391},
        {0.090205064637015, 1.07559511972944, 0.793682733402835}};
    static outcome got;
    for (int k = 0; k < 2; k++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, form, force[k]);
        answer(&(question){.text = text,
                           .nby = 3,
                           .by = {"F", "EI", "len"},
                           .nof = 3,
                           .of = {"tip.x", "tip.y", "end(tip.rz)"}},
               &got);
        for (int i = 0; i < 3; i++) {
            assert_near(got.J[i], place[k][i], 3e-10);
            assert_near(got.dJ[3 * i], by_force[k][i], 3e-10);
            assert_near(got.dJ[3 * i + 2], by_length[k][i], 3e-10);
            // shapes depend on F/EI only
            assert_near(force[k] * got.dJ[3 * i] + got.dJ[3 * i + 1], 0, 1e-12);
        }
        assert_near(got.dJ[5], got.J[1] + 2 * force[k] * got.dJ[3], 3e-10);
    }
    // second derivatives at F = 2: differences of order 6 of the first
    static const double twice[3] = {0.01452615008097, -0.08070393154803, -0.1156116724756};
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    const double h = 0.05;
    double second[3] = {0};
    for (int j = -3; j <= 3; j++) {
        if (j == 0) continue;
        char text[TEXT];
        (void)snprintf(text, sizeof text, form, 2 + j * h);
        answer(&(question){.text = text,
                           .nby = 1,
                           .by = {"F"},
                           .nof = 3,
                           .of = {"tip.x", "tip.y", "end(tip.rz)"}},
               &got);
        for (int i = 0; i < 3; i++)
            second[i] += (j < 0 ? -1 : 1) * weight[abs(j) - 1] / h * got.dJ[i];
    }
    for (int i = 0; i < 3; i++) assert_near(second[i], twice[i], 1e-8);
}

// ---- random robots ------------------------------------------------------------------------------

static const char *const schemes[] = {"shorten: off, scheme: euler",
                                      "shorten: off, scheme: bdf2",
                                      "shorten: off, scheme: generalized-alpha, rho: 0.7",
                                      "shorten: off, scheme: hht, rho: 0.8",
                                      "shorten: off, scheme: bdf-alpha, alpha: -0.3",
                                      "scheme: gauss4",
                                      "scheme: radau5"};

// A robot with a rod, a joint, tendons, a chamber, a spring or a loop, thrown or let go from an
// equilibrium; `scheme` in place of one that is drawn.
static void random_text(dice *d, const char *scheme, char *text, size_t size) {
    static const char *const joints[] = {
        "", "joint: revolute, axis: y, stiffness: 3, damping: 0.01, ",
        "joint: spherical, stiffness: 4, damping: 0.02, ", "joint: free, "};
    const int joint = pick_int(d, 0, 3), act = pick_int(d, 0, 6), end = pick_int(d, 0, 2);
    const bool rests = joint < 3 && pick_int(d, 0, 1) == 0;
    size_t used = (size_t)snprintf(
        text, size,
        "sinew: 1\n"
        "parameters: {E: 0.4 MPa, rho: 1100 kg/m^3, r: %.4f cm, len: %.4f m, pull: %.3f N, side: "
        "%.3f "
        "mm, m: 0.05 kg, w: %.3f, k: 30 N/m}\n"
        "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
        "robot:\n"
        "  arm: {on: world, %srod: {length: len, section: {circle: {radius: r}}, material: soft, "
        "strain: {bend_y: legendre 2, bend_z: legendre 3, twist: legendre 2, stretch: legendre 1}, "
        "nodes: 5}}\n"
        "  head: {on: arm.tip, joint: %s, body: {mass: m, com: [2 cm, 1 mm, 0], inertia: [2e-6, "
        "3e-6, "
        "4e-6]}}\n"
        "sites: {nose: {on: head, pose: {xyz: [3 cm, 0, 5 mm]}}, hook: {on: world, pose: {xyz: [5 "
        "cm, "
        "12 cm, 20 cm]}}}\n",
        0.9 + 0.2 * roll(d, 0, 1), 0.25 + 0.05 * roll(d, 0, 1), 1 + roll(d, 0, 1),
        4 + roll(d, 0, 1), 1 + 3 * roll(d, 0, 1), joints[joint],
        end == 0   ? "revolute, axis: z, stiffness: 0.5, damping: 0.002"
        : end == 1 ? "spherical, stiffness: 0.4, damping: 0.003"
                   : "fixed");
    if (act == 0)
        used += (size_t)snprintf(
            text + used, size - used,
            "actuators: {cable: {tendon: {along: arm, at: [0, side, 2 mm]}, effort: "
            "pull*(1 + 0.5*sin(w*t*10/(1 s)))}}\n");
    if (act == 1)
        used += (size_t)snprintf(text + used, size - used,
                                 "springs: {line: {spring: [hook, nose], stiffness: k, rest: 0.1 "
                                 "m, damping: 0.3 N*s/m}}\n");
    if (act == 2)
        used += (size_t)snprintf(
            text + used, size - used,
            "loads: {push: {on: nose, force: [0.1, -pull/5, 0.2*w*sin(7*t/(1 s))], "
            "frame: body}}\n");
    if (act == 4)
        used +=
            (size_t)snprintf(text + used, size - used,
                             "contacts: {floor: {ground: {on: arm, normal: z, at: [0, 0, -5 mm], "
                             "stiffness: 100*k/(1 m), damping: 1 s/m, friction: 0.3}}}\n");
    if (act == 5)
        used += (size_t)snprintf(
            text + used, size - used,
            "actuators: {cable: {tendon: {along: arm, at: [0, side, 2 mm]}, shortening: "
            "w*1 mm*(1 - cos(40*t/(1 s)))}}\n");
    if (act == 6)
        used += (size_t)snprintf(
            text + used, size - used,
            "actuators: {cell: {chamber: {along: arm, at: [0, side/2, 0], area: 20 mm^2}, "
            "effort: pull*(1 + t/(1 s))*20 kPa/(1 N)}}\n");
    if (joint == 3)
        used += (size_t)snprintf(
            text + used, size - used,
            "initial: {arm: {pose: {rpy: [10 deg, 20 deg, 5 deg]}, twist: [1, w, -1, "
            "0.2, 0, 0.4]}}\n");
    (void)snprintf(
        text + used, size - used,
        "study:\n%s  - dynamic: {for: 0.06 s, step: 1 ms, %s}\n"
        "probes: {nose: {position: nose}, speed: {velocity: nose}, bent: {strain: arm@40%%}, "
        "e: energy, hold: transport}\n",
        rests ? "  - static: {tolerance: 1e-14}\n" : "",
        scheme ? scheme : schemes[pick_int(d, 0, act == 5 ? 4 : 6)]);
}

// The first has an integral controller; the last is the second with a load that begins at an event.
static void add_feedback(int n, char *text, size_t size) {
    const size_t used = strlen(text);
    if (n == 0)
        (void)snprintf(text + used, size - used,
                       "loads: {hold: {on: nose, force: [0, \"-k*(nose.y + integral(nose.y + "
                       "w*speed.vz*1 ms)/(20 ms))\", 0.1]}}\n");
    if (n == ROBOTS)
        (void)snprintf(text + used, size - used,
                       "loads: {brake: {on: nose, force: [0, pull/5, -1 N*s/m*speed.vz], when: "
                       "nose.z < w*1 mm}}\n");
}

static void random_robots_follow_differences(void **state) {
    (void)state;
    dice d = {7};
    static outcome got, want, forward;
    for (int n = 0; n <= ROBOTS + 1; n++) {
        char text[TEXT];
        const bool conserving = n == ROBOTS + 1;
        if (conserving) d = (dice){201}; // no tendons or chambers, which it does not support
        if (n == ROBOTS) {
            d = (dice){7};
            random_text(&d, NULL, text, sizeof text);
        }
        random_text(&d, conserving ? "scheme: conserving" : NULL, text, sizeof text);
        add_feedback(n, text, sizeof text);
        question q = {.text = text,
                      .nby = 9,
                      .by = {"E", "rho", "r", "len", "pull", "side", "m", "w", "k"},
                      .nof = 4,
                      .of = {"integral(nose.z^2 + 0.1*nose.x)", "speed.vy",
                             "at(0.03, bent.bend_z) + mean(speed.vx)^2", "e.kinetic + e.elastic"}};
        // Contacts shorten steps, events pass instants of the time grid, and whole runs at other
        // numbers have other steps: only the transposed maps are compared then.
        const bool touches = strstr(text, "contacts:") || strstr(text, "when:");
        answer(&q, &got);
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &forward);
        q.method = SNW_GRADIENT_DIFFERENCES;
        answer(&q, &want);
        for (int i = 0; i < q.nof; i++) {
            double size = 1e-3; // differences of whole runs: relative to the largest change
            for (int k = 0; k < 9; k++) size = fmax(size, fabs(want.dJ[9 * i + k] * want.p[k]));
            for (int k = 0; k < 9; k++) {
                const double error = fabs(got.dJ[9 * i + k] - want.dJ[9 * i + k]) * want.p[k];
                if (!touches && !(error <= 1e-8 * size))
                    print_error("%s by %s: %.12g, want %.12g\n%s", q.of[i], q.by[k],
                                got.dJ[9 * i + k], want.dJ[9 * i + k], text);
                assert_true(touches || error <= 1e-8 * size);
                const double other = fabs(got.dJ[9 * i + k] - forward.dJ[9 * i + k]) * want.p[k];
                // forces of the conserving scheme are read by differences
                const double same = conserving ? 1e-8 : 2e-10;
                if (!(other <= same * size))
                    print_error("%s by %s: %.12g, forward %.12g\n%s", q.of[i], q.by[k],
                                got.dJ[9 * i + k], forward.dJ[9 * i + k], text);
                assert_true(other <= same * size);
            }
        }
    }
}

// All that moves, holds and resists at once, over 1000 steps: a motor, a driven joint, tendons by
// effort and by shortening, a chamber, a muscle, three kinds of loops, a spring and a bushing, a
// stop, a fluid, contacts of a body and along a rod.
static void everything_over_a_thousand_steps(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {E: 0.6 MPa, rho: 1100 kg/m^3, r: 8 mm, len: 0.2 m, pull: 0.4 N, side: 4 mm, "
        "m: 40 g, k: 20 N/m, air: 8 kPa, tau: 2 mN*m, kc: 200 N/m, drag: 0.05}\n"
        "gravity: [0.3, 0.1, -9.81 m/s^2]\n"
        "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 20 ms}}\n"
        "robot:\n"
        "  table: {on: world, joint: prismatic, axis: x}\n"
        "  arm: {on: table, rod: {length: len, section: {circle: {radius: r}}, material: soft, "
        "strain: {bend_y: legendre 1, bend_z: legendre 1, twist: constant, stretch: constant}, "
        "nodes: 4}}\n"
        "  head: {on: arm.tip, joint: revolute, axis: z, stiffness: 0.3, damping: 0.002, body: "
        "{mass: m, com: [1 cm, 2 mm, 0], inertia: [1e-5, 1e-5, 1e-5], sphere: {radius: 1 cm}}}\n"
        "  second: {on: world, pose: {xyz: [0, 6 cm, 0]}, rod: {length: len, section: {circle: "
        "{radius: r}}, material: soft, strain: {bend_y: legendre 1, bend_z: legendre 1, twist: "
        "constant, stretch: constant}, nodes: 4}}\n"
        "  lever: {on: world, pose: {xyz: [0.2 m, 0.15 m, 0]}, joint: spherical, body: {mass: 20 "
        "g, "
        "com: [0, -3 cm, 0], inertia: [1e-5, 1e-5, 1e-5]}, damping: 0.001}\n"
        "  door: {on: world, pose: {xyz: [0, -0.1, 0]}, joint: revolute, axis: y, damping: 0.001, "
        "limits: [-0.3, 0.3], stop: {stiffness: 0.5, damping: 0.1}, body: {mass: 50 g, com: [5 cm, "
        "0, 0], inertia: [1e-5, 1e-5, 1e-5]}}\n"
        "sites: {far: {on: lever, pose: {xyz: [0, -9 cm, 0]}}, nose: {on: head, pose: {xyz: [2 cm, "
        "0, 5 mm]}}, edge: {on: door, pose: {xyz: [8 cm, 0, 0]}}}\n"
        "loops: {ball: {join: [second.tip, far], as: spherical}}\n"
        "springs: {line: {spring: [second@50%, nose], stiffness: k, rest: 0.15, damping: 0.1}, "
        "mount: "
        "{bushing: [edge, arm.tip], stiffness: [0.01, 0.01, 0.01, 3, 3, 3], damping: [0, 0, 0, "
        "0.05, 0.05, 0.05]}}\n"
        "actuators:\n"
        "  slide: {joint: table, position: 5 mm*sin(9*t/(1 s))}\n"
        "  motor: {joint: head, effort: tau*sin(7*t/(1 s))}\n"
        "  cord: {tendon: {along: arm, at: [0, side, 2 mm]}, effort: pull*(1 + 0.5*sin(11*t/(1 "
        "s)))}\n"
        "  winch: {tendon: {along: second, at: [0, 2 mm, side]}, shortening: 0.5 mm*(1 - "
        "cos(5*t/(1 "
        "s)))}\n"
        "  cell: {chamber: {along: arm, at: [0, -side, 0], area: 20 mm^2}, effort: air*sin(13*t/(1 "
        "s))}\n"
        "  muscle: {stress: {along: second, bend_y: 1e-4*sin(6*t/(1 s))*x/L}}\n"
        "fluid: {wind: {on: second, drag: {linear: drag}}}\n"
        "contacts: {floor: {ground: {on: head, at: [0, 0, -13 mm], stiffness: kc, damping: 0.5, "
        "friction: 0.3, creep: 5 mm/s}}, bed: {ground: {on: second, at: [0, 0, -13 mm], stiffness: "
        "kc/(5 cm), damping: 0.5, friction: 0.2, creep: 5 mm/s}}}\n"
        "probes: {nose: {position: nose}, speed: {velocity: edge}, e: energy, f: {reaction: arm}, "
        "p: "
        "{reaction: ball}}\n"
        "study: [dynamic: {for: 1 s, step: 1 ms, shorten: off, scheme: bdf2}]\n";
    static outcome got, forward, want;
    question q = {.text = text,
                  .nby = 3,
                  .by = {"len", "m", "kc"},
                  .nof = 3,
                  .of = {"integral(nose.z^2 + 0.1*nose.y)", "speed.vz + nose.x", "integral(f.fy)"},
                  .method = SNW_GRADIENT_ADJOINT};
    answer(&q, &got);
    assert_true(got.info.steps >= 1000);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &forward);
    differences(&q, 1e-5, &want);
    for (int k = 0; k < 9; k++) {
        double size = 0;
        for (int j = 0; j < 3; j++) size = fmax(size, fabs(forward.dJ[k / 3 * 3 + j] * got.p[j]));
        const double error = fabs(got.dJ[k] - forward.dJ[k]) * got.p[k % 3];
        const double whole = fabs(got.dJ[k] - want.dJ[k]) * got.p[k % 3];
        const bool right = error <= 1e-10 * size && whole <= 1e-8 * size;
        if (!right)
            print_error("%s by %s: %.12g, forward %.12g, differences %.12g\n", q.of[k / 3],
                        q.by[k % 3], got.dJ[k], forward.dJ[k], want.dJ[k]);
        assert_true(right);
    }
}

// Steps chosen by their error keep their lengths: both methods agree, and with smaller tolerances
// they come to the derivatives of the motion, here of gauss6, whose rollout is checked above.
static void chosen_steps_are_kept(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double error;
    } row[] = {{"bdf2, adapt: on", 3e-3},
               {"bdf2, adapt: on, tolerance: 1e-8", 1e-4},
               {"generalized-alpha, adapt: on, tolerance: 1e-7", 2e-4},
               {"gauss4, adapt: on", 1e-5}};
    static outcome motion, got, forward;
    char text[TEXT];
    question q = {.text = text,
                  .nby = 7,
                  .by = {"k1", "c1", "m2", "l1", "tau", "a1", "w1"},
                  .nof = 1,
                  .of = {"bob.y"}};
    (void)snprintf(text, sizeof text, pendulum, "gauss6");
    strstr(text, "for: 5 s")[5] = '2';
    answer(&q, &motion);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        (void)snprintf(text, sizeof text, pendulum, row[i].scheme);
        strstr(text, "for: 5 s")[5] = '2';
        q.method = SNW_GRADIENT_ADJOINT;
        answer(&q, &got);
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &forward);
        near_all(7, got.dJ, forward.dJ, 1e-10);
        near_all(7, got.dJ, motion.dJ, row[i].error);
    }
}

// A robot that stays at rest: derivatives of its velocity are zero, their rounding is no error.
static void zero_gradients_have_no_error(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\nparameters: {E: 0.4 MPa, r: 1 cm, len: 0.3 m}\n"
        "materials: {soft: {young: E, poisson: 0.45, density: 1100, damping: 8 ms}}\n"
        "robot: {arm: {on: world, rod: {length: len, section: {circle: {radius: r}}, material: "
        "soft, strain: {bend_y: legendre 3}, nodes: 5}}}\n"
        "study: [static: {tolerance: 1e-14}, dynamic: {for: 20 ms, step: 1 ms, scheme: bdf2}]\n"
        "probes: {v: {velocity: arm.tip}}\n";
    static outcome got;
    answer(&(question){.text = text,
                       .nby = 3,
                       .by = {"E", "r", "len"},
                       .nof = 1,
                       .method = SNW_GRADIENT_ADJOINT,
                       .of = {"v.vz"}},
           &got);
    for (int k = 0; k < 3; k++) assert_near(got.dJ[k] * got.p[k], 0, 1e-11);
    assert_true(got.info.error < 1e-10);
    assert_int_equal(got.info.gathered, 3);
}

// Energies of contacts and stops, whose onsets are not smooth: a finger that bounces on the ground,
// on a hinge with a stop; steps of one length.
static void energies_with_contacts(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 5e4 Pa, m: 0.1 kg, E: 0.4 MPa, low: -0.035 m, s: 5 N*m, w: 0.5 1/s}\n"
        "materials: {soft: {young: E, poisson: 0.45, density: 1100, damping: 8 ms}}\n"
        "robot:\n"
        "  hub: {on: world, joint: revolute, axis: y, limits: [-1, 0.11], stop: {stiffness: s}, "
        "body: "
        "{mass: m, com: [2 cm, 0, 0], inertia: [2e-5, 3e-5, 2e-5]}}\n"
        "  arm: {on: hub, rod: {length: 0.2, section: {circle: {radius: 1 cm}}, material: soft, "
        "strain: {bend_y: legendre 2}, nodes: 5}}\n"
        "contacts: {floor: {ground: {on: arm, normal: z, at: [0, 0, low], stiffness: k, friction: "
        "0.3}}}\n"
        "initial: {hub: {rate: w}}\n"
        "study: [dynamic: {for: 0.16 s, step: 1 ms, shorten: off, scheme: bdf2}]\n"
        "probes: {e: energy, p: momentum}\n";
    static outcome got, forward, want;
    question q = {.text = text,
                  .nby = 6,
                  .by = {"k", "m", "E", "low", "s", "w"},
                  .nof = 4,
                  .of = {"e.elastic", "integral(e.elastic)", "e.total", "integral(p.pz)"}};
    answer(&q, &got);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &forward);
    differences(&q, 1e-6, &want);
    for (int i = 0; i < 4; i++) {
        double size = 0;
        for (int k = 0; k < 6; k++) size = fmax(size, fabs(want.dJ[6 * i + k] * want.p[k]));
        for (int k = 6 * i; k < 6 * i + 6; k++) {
            const double p = fabs(want.p[k % 6]), d = got.dJ[k];
            const bool right = fabs(d - forward.dJ[k]) * p <= 1e-8 * size &&
                               fabs(d - want.dJ[k]) * p <= 1e-7 * size;
            if (!right)
                print_error("%s by %s: %.12g, forward %.12g, differences %.12g\n", q.of[i],
                            q.by[k % 6], d, forward.dJ[k], want.dJ[k]);
            assert_true(right);
        }
    }
}

// ---- laws, memory, refusals ---------------------------------------------------------------------

static void laws_through_knots(void **state) {
    (void)state;
    static const double knot[5] = {0, 0.7, 1.5, 2.1, 3};
    static const double at[5] = {0.4, 0.1, -0.3, 0.5, 0.2};
    static const struct {
        const char *law, *actuator, *unit;
        snw_knot_rule rule;
        const char *scheme;
    } by[] = {{"motor.effort", "effort: 1 N*m", "N*m", SNW_KNOTS_HOLD, "bdf2"},
              {"motor.effort", "effort: 1 N*m", "N*m", SNW_KNOTS_LINEAR, "bdf2"},
              {"motor.effort", "effort: 1 N*m", "N*m", SNW_KNOTS_LINEAR, "conserving"},
              {"motor.effort", "effort: 1 N*m", "N*m", SNW_KNOTS_SMOOTH, "bdf2"},
              {"motor.position", "position: 0.4", "", SNW_KNOTS_SMOOTH, "bdf2"},
              {"motor.position", "position: 0.4", "", SNW_KNOTS_SMOOTH, "gauss4"}};
    static outcome got, want;
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\nrobot:\n"
                       "  upper: {on: world, joint: revolute, axis: y, damping: 0.1, body: {mass: "
                       "1 kg, com: [0, 0, "
                       "-0.3]}}\n"
                       "  lower: {on: upper, pose: {xyz: [0, 0, -0.5]}, joint: revolute, axis: y, "
                       "stiffness: 1, "
                       "body: {mass: 0.5 kg, com: [0, 0, -0.2]}}\n"
                       "actuators: {motor: {joint: upper, %s}}\n"
                       "study: [dynamic: {for: 3 s, step: 10 ms, scheme: %s}]\n"
                       "probes: {q: {angle: lower}, f: {effort: motor}}\n",
                       by[i].actuator, by[i].scheme);
        const snw_gradient_variable law = {
            .name = by[i].law, .nknot = 5, .knot = knot, .rule = by[i].rule, .unit = by[i].unit};
        question q = {.text = text,
                      .law = &law,
                      .at = at,
                      .nof = 2,
                      .of = {"integral(q^2)", "mean(f^2) + end(q)"}};
        answer(&q, &got);
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &want);
        // forces of the conserving scheme are known to the rounding of energies
        const double same = strcmp(by[i].scheme, "conserving") == 0 ? 1e-9 : 1e-11;
        for (int k = 0; k < 10; k++) assert_near(got.dJ[k], want.dJ[k], same);
        q.method = SNW_GRADIENT_DIFFERENCES;
        answer(&q, &want);
        for (int k = 0; k < 10; k++) assert_near(got.dJ[k], want.dJ[k], 2e-9);
    }
}

// Memory that holds so many checkpoints of the run: they take half of it.
static double memory_for(const char *text, int checkpoints) {
    snw_error err = {0};
    snw_robot_model *model = NULL;
    snw_run *run = NULL;
    assert_int_equal(snw_robot_model_parse("test", text, strlen(text), NULL, 0, NULL, &model, &err),
                     SNW_OK);
    assert_int_equal(snw_run_create(model->desc, snw_robot_model_run(model), &run, &err), SNW_OK);
    const double numbers = snw_run_describe(run)->nsave;
    snw_run_destroy(run);
    snw_robot_model_close(model);
    return 2 * (checkpoints + 0.5) * numbers * sizeof(double);
}

static void checkpoints_give_the_same_bits(void **state) {
    (void)state;
    static outcome kept, again;
    char text[TEXT];
    (void)snprintf(text, sizeof text, crank, "bdf2");
    strstr(text, "for: 4 s")[5] = '8'; // 2000 states take more than the memory of 20 checkpoints
    question q = {.text = text,
                  .nby = 3,
                  .by = {"k", "m2", "q(crank.angle)"},
                  .nof = 1,
                  .of = {"sum(10*(place - 0.6)^2)"}};
    answer(&q, &kept);
    assert_int_equal(kept.info.recomputed, 0);
    assert_int_equal(kept.info.gathered, 2);
    static const int checkpoints[] = {1, 3, 7, 20}; // at least 3 are kept
    for (size_t i = 0; i < sizeof checkpoints / sizeof *checkpoints; i++) {
        q.memory = memory_for(text, checkpoints[i]);
        answer(&q, &again);
        assert_true(again.info.recomputed > 1900);
        assert_memory_equal(kept.J, again.J, sizeof kept.J);
        assert_memory_equal(kept.dJ, again.dJ, sizeof kept.dJ);
    }
}

// ---- parameters that enter arrays of the model --------------------------------------------------

// The power of actuators, whose derivatives by the numbers of the model are not known, makes the
// parameters be taken one by one: the others must be the same either way.
static void together_as_one_by_one(void **state) {
    (void)state;
    dice d = {11};
    static outcome together, single;
    for (int n = 0; n < 2 * ROBOTS; n++) {
        char text[TEXT];
        random_text(&d, NULL, text, sizeof text);
        if (strstr(text, "contacts:")) continue; // one by one in any case
        question q = {.text = text,
                      .nby = 9,
                      .by = {"E", "rho", "r", "len", "pull", "side", "m", "w", "k"},
                      .nof = 3,
                      .method = SNW_GRADIENT_ADJOINT,
                      .of = {"integral(nose.z^2 + 0.1*nose.x)", "speed.vy",
                             "at(0.03, bent.bend_z) + mean(speed.vx)^2", "hold.power"}};
        answer(&q, &together);
        if (together.info.gathered < 4)
            print_error("gathered %d\n%s", together.info.gathered, text);
        // all; with a given length, places and lengths one by one
        assert_true(together.info.gathered >= (strstr(text, "shortening:") ? 4 : 9));
        q.nof = 4;
        answer(&q, &single);
        assert_int_equal(single.info.gathered, 0);
        // relative to the largest of all: speeds of a robot that rests have derivatives that cancel
        double size = 0;
        for (int k = 0; k < 27; k++) size = fmax(size, fabs(single.dJ[k] * single.p[k % 9]));
        for (int k = 0; k < 27; k++) {
            const double error = fabs(together.dJ[k] - single.dJ[k]) * single.p[k % 9];
            // one by one, geometry is differentiated by differences, with rounding of 10^-12
            const bool geometry = k % 9 == 3 || k % 9 == 5;
            const double bound = (geometry ? 1e-11 : 1e-12) * size;
            if (!(error <= bound))
                print_error("%s by %s: %.15g, one by one %.15g, error %.2g\n%s", q.of[k / 9],
                            q.by[k % 9], together.dJ[k], single.dJ[k], error / size, text);
            assert_true(error <= bound);
        }
    }
}

// Poses, axes, rest strains, lengths and routings, in air and in water, at rest and in motion: with
// the forward sensitivities, which take them one by one.
static void geometry_is_gathered(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {len: 0.25 m, bow: 2 rad/m, twirl: 1.5 rad/m, dx: 3 cm, tilt: 0.3, lean: 0.2, "
        "side: 5 mm, wind: 6 rad/m, area: 30 mm^2, reach: 2 cm, rho: 1100 kg/m^3, k: 0.5 N*m}\n"
        "materials: {soft: {young: 0.4 MPa, poisson: 0.45, density: rho, damping: 8 ms}}\n"
        "robot:\n"
        "  hub: {on: world, pose: {xyz: [dx, 1 cm, 0], rpy: [tilt, 0.2, -0.1]}, joint: revolute, "
        "axis: [lean, 1, 0.3], stiffness: 2, damping: 0.01, body: {mass: 50 g, com: [2 cm, 0, 0], "
        "inertia: [2e-6, 3e-6, 4e-6]}}\n"
        "  arm: {on: hub, pose: {xyz: [0, 0, dx/2], axis: x, angle: lean}, rod: {length: len, "
        "section: {circle: {radius: 1 cm}}, material: soft, strain: {bend_y: legendre 2, bend_z: "
        "legendre 2, twist: legendre 1, stretch: legendre 1}, rest: {bend_z: bow*x/L, twist: "
        "twirl}, nodes: 5%s}}\n"
        "  head: {on: arm.tip, pose: {xyz: [reach, 0, 0]}, joint: spherical, stiffness: k, "
        "damping: 0.002, body: {mass: 30 g, com: [1 cm, 2 mm, 0], inertia: [2e-6, 3e-6, 4e-6]}}\n"
        "sites: {nose: {on: head, pose: {xyz: [3 cm, reach/3, 5 mm]}}}\n"
        "loads: {push: {on: nose, force: [0.05 N, 0.1 N, 0]}, breeze: {along: arm, force: [0, 0, "
        "0.3 N/m]}}\n"
        "actuators:\n"
        "  cable: {tendon: {along: arm, at: [0, \"side*cos(wind*x)\", \"side*sin(wind*x)\"]%s}\n"
        "  cell: {chamber: {along: arm, at: [0, -side/2, side/3], area: area}, effort: 20 kPa}\n"
        "initial: {hub: {rate: 3 rad/s}, head: {rate: [1, -2, 1.5]}}\n%s"
        "study:\n%s  - dynamic: {for: 20 ms, step: 1 ms, %s}\n"
        "probes: {nose: {position: nose}, speed: {velocity: nose}, mid: {position: arm@37%%}, "
        "turn: {twist: arm.tip}, bent: {strain: arm@40%%}, r: {rotation: head}}\n";
    static const struct {
        const char *rod, *cable, *more, *first, *scheme;
    } row[] = {
        {"", "}, effort: 1.5 N", "", "", "shorten: off, scheme: bdf2"},
        {", magnus: 6", ", compliance: 0.002 1/N}, shortening: 3 mm*(1 + 0.3*sin(100*t/(1 s)))", "",
         "  - static: {tolerance: 1e-14}\n", "shorten: off, scheme: generalized-alpha, rho: 0.7"},
        {"", "}, effort: 1 N*sin(200*t/(1 s))",
         "fluid: {water: {on: arm, density: 1000 kg/m^3, added: auto, buoyancy: on, drag: "
         "{square: 1}}}\n",
         "", "scheme: gauss4"},
        {"", "}, effort: 1 N",
         "contacts: {floor: {ground: {on: arm, normal: [0.1, 0, 1], at: [0, 0, 2 cm], "
         "stiffness: 20 kN/m^2, damping: 1 s/m, friction: 0.3}}}\n",
         "", "shorten: off, scheme: bdf2"},
    };
    enum { BY = 12 };
    static outcome got, want;
    for (size_t i = 0; i < sizeof row / sizeof *row; i += AMONG(3, 1)) {
        char full[TEXT];
        (void)snprintf(full, sizeof full, text, row[i].rod, row[i].cable, row[i].more, row[i].first,
                       row[i].scheme);
        question q = {.text = full,
                      .nby = BY,
                      .by = {"len", "bow", "twirl", "dx", "tilt", "lean", "side", "wind", "area",
                             "reach", "rho", "k"},
                      .nof = 4,
                      .method = SNW_GRADIENT_ADJOINT,
                      .of = {"integral(nose.z^2 + 0.1*nose.x + mid.y)", "speed.vy + turn.wx",
                             "at(0.01, bent.bend_z) + mean(bent.twist)^2", "r.ry"}};
        answer(&q, &got);
        assert_int_equal(got.info.gathered, BY);
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &want);
        for (int j = 0; j < 4; j++) {
            double size = 0;
            for (int k = 0; k < BY; k++) size = fmax(size, fabs(want.dJ[BY * j + k] * want.p[k]));
            for (int k = 0; k < BY; k++) {
                const double error = fabs(got.dJ[BY * j + k] - want.dJ[BY * j + k]) * want.p[k];
                if (!(error <= 1e-10 * size))
                    print_error("%s by %s, %d: %.12g, forward %.12g\n", q.of[j], q.by[k], (int)i,
                                got.dJ[BY * j + k], want.dJ[BY * j + k]);
                assert_true(error <= 1e-10 * size);
            }
        }
    }
}

// Loads, masses, inertias and joint springs that are moved together in a few models; E, r and tau
// share matrices and are not.
static void independent_parameters(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {fx: 0.1 N, fy: 0.2 N, mz: 3 mN*m, q: 0.5 N/m, m1: 50 g, m2: 30 g, j: 2e-6 "
        "kg*m^2, k1: 3 N*m, c1: 0.01 N*m*s, E: 0.4 MPa, r: 1 cm, tau: 8 ms}\n"
        "materials: {soft: {young: E, poisson: 0.45, density: 1100, damping: tau}}\n"
        "robot:\n"
        "  hub: {on: world, joint: revolute, axis: y, stiffness: k1, damping: c1, body: {mass: m1, "
        "com: [2 cm, 0, 0], inertia: [2e-6, 3e-6, 4e-6]}}\n"
        "  arm: {on: hub, rod: {length: 0.2, section: {circle: {radius: r}}, material: soft, "
        "strain: {bend_y: legendre 2, bend_z: legendre 2}, nodes: 5}}\n"
        "  head: {on: arm.tip, body: {mass: m2, com: [1 cm, 2 mm, 0], inertia: [j, 3e-6, 4e-6]}}\n"
        "loads: {push: {on: head, force: [fx, fy, 0]}, turn: {on: hub, torque: [0, 0, mz], frame: "
        "body}, wind: {along: arm, force: [0, 0, \"q*(x/L)^2\"]}}\n"
        "study: [dynamic: {for: 60 ms, step: 2 ms, %s}]\n"
        "probes: {nose: {position: head}, hold: transport}\n";
    static outcome together, single, want;
    for (int i = 0; i < AMONG(1, 2); i++) {
        char full[TEXT];
        (void)snprintf(full, sizeof full, text,
                       i ? "scheme: radau5" : "shorten: off, scheme: bdf2");
        question q = {.text = full,
                      .nby = 12,
                      .by = {"fx", "fy", "mz", "q", "m1", "m2", "j", "k1", "c1", "E", "r", "tau"},
                      .nof = 1,
                      .method = SNW_GRADIENT_ADJOINT,
                      .of = {"integral(nose.z^2 + 0.1*nose.y)", "hold.power"}};
        answer(&q, &together);
        assert_int_equal(together.info.gathered, 12);
        q.nof = 2;
        answer(&q, &single);
        assert_int_equal(single.info.gathered, 0);
        q.method = SNW_GRADIENT_DIFFERENCES;
        answer(&q, &want);
        double size = 0;
        for (int k = 0; k < 12; k++) size = fmax(size, fabs(want.dJ[k] * want.p[k]));
        for (int k = 0; k < 12; k++) {
            const double p = want.p[k], error = fabs(together.dJ[k] - single.dJ[k]) * p;
            if (!(error <= 1e-12 * size))
                print_error("%s: %.15g, one by one %.15g\n", q.by[k], together.dJ[k], single.dJ[k]);
            assert_true(error <= 1e-12 * size);
            assert_true(fabs(together.dJ[k] - want.dJ[k]) * p <= 1e-8 * size);
        }
    }
}

// Coefficients of one law of a section or a material share matrices; found in the laws together.
static void coefficients_of_one_law(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {a0: 0.1, a1: 0.2, a2: -0.1, a3: 0.05, taper: 0.3, waist: 0.1, d0: 900 "
        "kg/m^3, d1: 300 kg/m^3, tau: 8 ms, b0: 1 rad/m, b1: 2 rad/m}\n"
        "materials: {soft: {young: \"0.4 MPa*(1 + a0*cos(x/L) + a1*cos(2*x/L) + a2*x/L + "
        "a3*sin(3*x/L))\", poisson: 0.4, density: d0 + d1*x/L, damping: tau}}\n"
        "robot:\n"
        "  arm: {on: world, rod: {length: 0.25, section: {circle: {radius: \"1 cm*(1 - taper*x/L - "
        "waist*sin(pi*x/L))\"}}, material: soft, strain: {bend_y: legendre 2, bend_z: legendre 2, "
        "twist: legendre 2}, rest: {bend_z: \"b0*cos(x/L) + b1*x/L\", bend_y: b1/3}, nodes: 6}}\n"
        "  head: {on: arm.tip, body: {mass: 20 g, com: [1 cm, 2 mm, 0], inertia: [2e-6, 3e-6, "
        "4e-6]}}\n"
        "actuators: {cable: {tendon: {along: arm, at: [0, 4 mm, 0]}, effort: 1 N}}\n"
        "study: [dynamic: {for: 30 ms, step: 1 ms, shorten: off, scheme: bdf2}]\n"
        "probes: {nose: {position: head}}\n";
    enum { BY = 11 };
    static outcome got, want;
    question q = {.text = text,
                  .nby = BY,
                  .by = {"a0", "a1", "a2", "a3", "taper", "waist", "d0", "d1", "tau", "b0", "b1"},
                  .nof = 1,
                  .method = SNW_GRADIENT_ADJOINT,
                  .of = {"integral(nose.z^2 + 0.1*nose.y)"}};
    answer(&q, &got);
    assert_int_equal(got.info.gathered, BY);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &want);
    double size = 0;
    for (int k = 0; k < BY; k++) size = fmax(size, fabs(want.dJ[k] * want.p[k]));
    for (int k = 0; k < BY; k++) {
        const double error = fabs((got.dJ[k] - want.dJ[k]) * want.p[k]);
        if (!(error <= 1e-10 * size))
            print_error("%s: %.12g, forward %.12g\n", q.by[k], got.dJ[k], want.dJ[k]);
        assert_true(error <= 1e-10 * size);
    }
}

// Parameters that enter something else as well are taken one by one, even where it acts later or
// never.
static void other_uses_are_seen(void **state) {
    (void)state;
    static const struct {
        const char *name, *more; // lines of the file
        int gathered;
    } row[] = {
        {"modulus, density, damping", "", 3},
        {"constant load", "loads: {push: {on: arm.tip, force: [0, a*0.01 N, 0]}}\n", 3},
        {"load along the arm", "loads: {push: {along: arm, force: [0, b*0.02 N/m*x/L, 0]}}\n", 3},
        {"law of time", "loads: {push: {on: arm.tip, force: [0, a*sin(t/(1 s))*0.01 N, 0]}}\n", 3},
        {"late load", "loads: {push: {on: arm.tip, force: [0, a*0.01 N, 0], when: t > 9 ms}}\n", 3},
        {"gravity", "gravity: [0, 0, -b*3 m/s^2]\n", 3},
        {"place of a tendon",
         "actuators: {cable: {tendon: {along: arm, at: [0, a*2 mm, 0]}, effort: 1 N}}\n", 3},
        {"tension", "actuators: {cable: {tendon: {along: arm, at: [0, 2 mm, 0]}, effort: c*1 N}}\n",
         3},
        {"gain",
         "actuators: {cable: {tendon: {along: arm, at: [0, 2 mm, 0]}, effort: 1 N - c*tip.z*2 N/m"
         "}}\n",
         3},
        {"pressure",
         "actuators: {cell: {chamber: {along: arm, at: [0, 2 mm, 0], area: 20 mm^2}, effort: "
         "c*sin(a*t*100/(1 s))*3 kPa}}\n",
         3},
        {"muscle",
         "actuators: {muscle: {stress: {along: arm, bend_y: c*sin(a*t/(1 s))*x/L*1 mN*m}}}\n", 3},
        {"initial values", "initial: {arm: {rate: {bend_y: a*1 rad/m/(1 s)}}}\n", 3},
        {"drag in a fluid", "fluid: {air: {on: arm, density: 2 kg/m^3, drag: {square: 1}}}\n", 3},
        {"fluid",
         "fluid: {water: {on: arm, density: a*200 kg/m^3, added: auto, buoyancy: on, drag: "
         "{square: c/4, "
         "linear: b*1 "
         "Pa*s}}}\n",
         3},
        {"floor",
         "contacts: {floor: {ground: {on: arm, normal: z, at: [0, 0, -9.9 mm], stiffness: a*1 "
         "kN/m^2, friction: b*0.1, damping: c*1 s/m}}}\n",
         3},
        {"obstacle",
         "contacts: {post: {obstacle: {links: arm, shape: sphere, radius: 3 cm, pose: {xyz: [0.2, "
         "0, -3.98 cm]}, "
         "stiffness: a*1 kN/m^2, friction: b*0.1, damping: c*1 s/m}}}\n",
         3},
        {"ground",
         "contacts: {floor: {ground: {on: arm, normal: z, at: [0, 0, -12 mm], stiffness: 2 kN/m^2, "
         "friction: 0.3}}}\n",
         3},
    };
    static outcome got, want;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[TEXT];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nparameters: {a: 2, b: 3, c: 4}\n"
            "materials: {soft: {young: a*0.2 MPa, poisson: 0.45, density: b*400 kg/m^3, damping: "
            "c*2 ms}}\n"
            "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 1 cm}}, "
            "material: soft, strain: {bend_y: legendre 3, bend_z: legendre 2}, nodes: 5}}}\n"
            "study: [dynamic: {for: 20 ms, step: 1 ms, shorten: off, scheme: bdf2}]\n"
            "probes: {tip: {position: arm.tip}}\n%s",
            row[i].more);
        question q = {.text = text,
                      .nby = 3,
                      .by = {"a", "b", "c"},
                      .nof = 1,
                      .method = SNW_GRADIENT_ADJOINT,
                      .of = {"integral(tip.z + tip.y^2)"}};
        answer(&q, &got);
        if (got.info.gathered != row[i].gathered) print_error("%s\n", row[i].name);
        assert_int_equal(got.info.gathered, row[i].gathered);
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &want);
        double size = 0;
        for (int k = 0; k < 3; k++) size = fmax(size, fabs(want.dJ[k] * want.p[k]));
        for (int k = 0; k < 3; k++) {
            const double error = fabs(got.dJ[k] - want.dJ[k]) * want.p[k];
            assert_true(error <= 1e-10 * size);
        }
    }
}

static void refuses(const char *text, const char *by, const char *of, const char *message) {
    static outcome got;
    ask(&(question){.text = text, .nby = 1, .by = {by}, .nof = 1, .of = {of}}, &got);
    if (!strstr(got.err.text, message)) print_error("'%s', want '%s'\n", got.err.text, message);
    assert_int_not_equal(got.status, SNW_OK);
    assert_non_null(strstr(got.err.text, message));
}

static void what_has_no_derivative_is_named(void **state) {
    (void)state;
    char text[TEXT];
    (void)snprintf(text, sizeof text, pendulum, "adaptive");
    refuses(text, "k1", "bob.y", "its steps are chosen anew by their error");
    (void)snprintf(text, sizeof text, pendulum, "bdf2");
    refuses(text, "k7", "bob.y", "k7");
    refuses(text, "q(upper.bend)", "bob.y", "there is no coordinate 'upper.bend'");
    refuses(text, "k1", "bob.w", "probe 'bob' has no 'w'");
    refuses(text, "k1", "bob", "write one of them");
    refuses(text, "k1", "at(7, bob.y)", "no state at t = 7 s");
    refuses(text, "k1", "end(bob.y", "scalar");
    refuses(text, "k1", "sampled(bob.y, 1)", "scalar");
    refuses("sinew: 1\nmaterials: {r: {young: 1 MPa, poisson: 0.5, density: 1000}}\nrobot: {rod: "
            "{on: world, rod: {length: 1, section: {circle: {radius: 1 cm}}, material: r, strain: "
            "{twist: constant}}}}\nprobes: {tip: {position: rod.tip}}\nstudy: [static]\n",
            "r.poisson", "tip.z", "needs values on both sides of it: 'poisson' must be");
    static const char *const scheme[] = {"bdf2", "gauss4"};
    for (int i = 0; i < 2; i++) { // the impulse of a law is no map with a derivative
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nparameters: {m: 1 kg}\ngravity: 0\nmaterials: {r: {young: 1 MPa, poisson: "
            "0.4, density: 1000}}\nrobot:\n  cart: {on: world, joint: prismatic, axis: x, body: "
            "{mass: m}}\n  rod: {on: cart, rod: {length: 1, section: {circle: {radius: 1 cm}}, "
            "material: r, strain: {stretch: \"0.2*max(0, t - 0.02 s)/(1 s)\"}}}\n"
            "probes: {v: {velocity: cart}}\nstudy: [dynamic: {for: 40 ms, step: 10 ms, scheme: "
            "%s}]\n",
            scheme[i]);
        refuses(text, "m", "v.vx", "the rate of a given strain or pose jumps");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollout_of_a_pendulum),
        cmocka_unit_test(rollout_of_a_top),
        cmocka_unit_test(rollout_of_a_slider_crank),
        cmocka_unit_test(projected_velocities),
        cmocka_unit_test(elastica),
        cmocka_unit_test(random_robots_follow_differences),
        cmocka_unit_test(everything_over_a_thousand_steps),
        cmocka_unit_test(chosen_steps_are_kept),
        cmocka_unit_test(zero_gradients_have_no_error),
        cmocka_unit_test(energies_with_contacts),
        cmocka_unit_test(laws_through_knots),
        cmocka_unit_test(checkpoints_give_the_same_bits),
        cmocka_unit_test(together_as_one_by_one),
        cmocka_unit_test(geometry_is_gathered),
        cmocka_unit_test(independent_parameters),
        cmocka_unit_test(coefficients_of_one_law),
        cmocka_unit_test(other_uses_are_seen),
        cmocka_unit_test(what_has_no_derivative_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
