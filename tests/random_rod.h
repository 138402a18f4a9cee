// SPDX-License-Identifier: MIT
//
// random_rod.h: descriptions of rods built by calls, some fixed, some random, for tests and
// benchmarks.
#pragma once

#include "dynamics/dynamics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

// Random numbers by splitmix64: small, seeded, the same on every machine.
typedef struct dice {
    uint64_t s;
} dice;

static inline double roll(dice *d, double low, double high) {
    uint64_t z = (d->s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) / 9007199254740992.0);
}

static inline int pick_int(dice *d, int low, int high) {
    const int n = low + (int)roll(d, 0, high - low + 1);
    return n > high ? high : n;
}

// A robot of at most four links with room for loads and probes. It owns its pool.
typedef struct robot {
    snw_pool *pool;
    snw_desc desc;
    snw_link_desc link[4];
    snw_load_desc load[6];
    snw_stress_desc stress[2];
    snw_probe_desc probe[8];
    snw_material_desc material;
    snw_step_desc step[1];
} robot;

static inline snw_law number(robot *r, double x) { return snw_expr_constant(r->pool, x); }

// Parse a law of t and x.
static inline snw_law law(robot *r, const char *text) {
    const snw_expr *e = NULL;
    snw_error err = {0};
    const snw_expr_rules rules = {.vars = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L};
    if (snw_expr_parse(r->pool, NULL, text, &rules, "test", 1, 1, &e, &err) != SNW_OK) abort();
    return e;
}

// A link on the world with a uniform circular rod of radius R, all fields set to plain values.
static inline void robot_init(robot *r, double length, double radius) {
    *r = (robot){.pool = snw_pool_create((size_t)1 << 26)};
    r->desc = (snw_desc){.pool = r->pool, .nlink = 1, .nrecord = -1};
    r->desc.link = r->link, r->desc.load = r->load, r->desc.stress = r->stress;
    r->desc.probe = r->probe, r->desc.step = r->step;
    r->material = (snw_material_desc){.name = "rubber",
                                      .young = number(r, 1e6),
                                      .poisson = number(r, 0.5),
                                      .density = number(r, 1000)};
    r->link[0] = (snw_link_desc){.name = "arm",
                                 .on = {.kind = SNW_SITE_WORLD, .link = -1},
                                 .pose = snw_pose_desc_identity(),
                                 .has_rod = true};
    snw_rod_desc *rod = &r->link[0].rod;
    rod->length = length;
    rod->magnus = 4;
    rod->material = &r->material;
    rod->section.kind = SNW_SECTION_CIRCLE;
    rod->section.size[0] = number(r, radius);
}

static inline void robot_strain(robot *r, int link, int component, snw_basis_kind kind, int n) {
    snw_rod_desc *rod = &r->link[link].rod;
    rod->active[component] = true;
    rod->basis[component] = (snw_basis){.kind = kind, .nfun = n, .nelem = 1};
    if (snw_basis_piecewise(kind)) {
        rod->basis[component].nelem = n;
        // Elements that share no function with their neighbours have twice as many functions per
        // length; with three on each, a dozen nodes would leave the mass matrix singular.
        const int each = kind == SNW_BASIS_DISCONTINUOUS ? 2 : 3;
        rod->basis[component].nfun = snw_basis_size(kind, each, n);
    }
}

static inline void robot_free(robot *r) { snw_pool_destroy(r->pool); }

// Site at x metres on the rod of a link.
static inline snw_site rod_at(int link, double x) {
    return (snw_site){.kind = SNW_SITE_AT, .link = link, .x = x};
}

static inline snw_site link_end(int link) { return (snw_site){.kind = SNW_SITE_END, .link = link}; }

// Every rod on one grid of this number of points; strains with elements become polynomials.
static inline void robot_on_grids(robot *r, int points) {
    for (int l = 0; l < r->desc.nlink; l++) {
        snw_rod_desc *rod = &r->link[l].rod;
        rod->integrator = SNW_RULE_CHEBYSHEV;
        rod->points = points;
        rod->nodes = points - 2;
        for (int i = 0; i < 6; i++) {
            if (!rod->active[i]) continue;
            if (snw_basis_piecewise(rod->basis[i].kind))
                robot_strain(r, l, i, SNW_BASIS_LEGENDRE, rod->basis[i].nfun % 3 + 1);
        }
    }
}

// Points of the grids of random robots; 0: slices of their own.
static int random_grid_points;

// A random single rod: any strains, bases, Magnus order, curved and twisted rest shape, varying
// section, loads of all kinds, bodies, damping; clamped, moving or free base; sometimes a second
// rod on the first.
static inline void robot_random(robot *r, dice *d, snw_joint_kind joint, bool moving) {
    robot_init(r, roll(d, 0.3, 2), 0.02);
    const int nlink = pick_int(d, 1, 2);
    r->desc.nlink = nlink;
    r->material.damping = number(r, roll(d, 0, 0.05));
    for (int l = 0; l < nlink; l++) {
        if (l > 0) {
            r->link[l] = r->link[0];
            r->link[l].name = "second";
            r->link[l].on =
                pick_int(d, 0, 1) ? link_end(0) : rod_at(0, 0.4 * r->link[0].rod.length);
        }
        snw_rod_desc *rod = &r->link[l].rod;
        for (int i = 0; i < 6; i++) rod->active[i] = false;
        const int magnus[] = {2, 4, 6};
        rod->magnus = magnus[pick_int(d, 0, 2)];
        rod->nodes = pick_int(d, 3, 6);
        rod->section.size[0] = law(r, l ? "0.02 + 0.005*x/L" : "0.03 - 0.01*x/L");
        int active = 0;
        while (active == 0) {
            for (int i = 0; i < 6; i++) {
                if (roll(d, 0, 1) < 0.4) continue;
                const snw_basis_kind kind = (snw_basis_kind)pick_int(d, 0, SNW_BASIS_COUNT - 1);
                robot_strain(r, l, i, kind, pick_int(d, 1, 3));
                active++;
            }
        }
        for (int i = 0; i < 3; i++) rod->rest[i] = number(r, roll(d, -1, 1));
        rod->rest[SNW_SHEAR_Y] = number(r, roll(d, -0.1, 0.1));
    }
    r->link[0].joint = joint;
    snw_pose_desc *pose = &r->link[0].pose;
    if (moving) {
        pose->xyz[0] = law(r, "0.3*sin(2*t + 0.3)");
        pose->xyz[2] = law(r, "0.2*cos(3*t)");
        pose->nturn = 2;
        pose->turn[0] = (snw_turn){{{1, 0, 0}}, law(r, "0.7*sin(t + 1)")};
        pose->turn[1] = (snw_turn){{{0, 0.6, 0.8}}, law(r, "t + t^2")};
    }
    for (int i = 0; i < 3; i++) r->desc.gravity[i] = number(r, roll(d, -9, 9));
    // A body at the end of the first link.
    r->link[0].has_body = true;
    r->link[0].body =
        (snw_body_desc){.mass = 0.3,
                        .com = {{roll(d, -0.1, 0.1), 0.05, roll(d, -0.1, 0.1)}},
                        .inertia = {{{2e-3, 1e-4, 0}, {1e-4, 3e-3, 2e-4}, {0, 2e-4, 4e-3}}}};
    // Loads: dead and follower, concentrated and distributed, forces and torques.
    for (int i = 0; i < 4; i++) {
        snw_load_desc *load = &r->load[r->desc.nload++];
        *load = (snw_load_desc){.name = "load", .along = i >= 2, .body = i % 2 == 1};
        load->on =
            i == 0 ? rod_at(0, roll(d, 0.1, 0.9) * r->link[0].rod.length) : link_end(nlink - 1);
        for (int k = 0; k < 3; k++) {
            load->force[k] = number(r, roll(d, -2, 2));
            load->torque[k] = i >= 2 ? law(r, "0.3*sin(2*x + t)") : number(r, roll(d, -0.5, 0.5));
        }
    }
    snw_stress_desc *s = &r->stress[r->desc.nstress++];
    *s = (snw_stress_desc){.name = "muscle"};
    for (int i = 0; i < 6; i++) s->stress[i] = law(r, "0.2*sin(3*x - 2*t)");
    if (random_grid_points > 0) robot_on_grids(r, random_grid_points);
}

// The same with one rod only and the given Magnus order and nodes.
static inline void robot_random_single(robot *r, dice *d, snw_joint_kind joint, bool moving,
                                       int magnus, int nodes) {
    robot_random(r, d, joint, moving);
    r->desc.nlink = 1;
    for (int i = 0; i < r->desc.nload; i++) r->load[i].on.link = 0;
    r->link[0].rod.magnus = magnus;
    r->link[0].rod.nodes = nodes;
}

// A random state away from rest.
static inline void state_random(const snw_model *m, dice *d, snw_state *s) {
    for (int i = 0; i < m->nv; i++) {
        s->v[i] = roll(d, -1, 1);
        s->a[i] = roll(d, -2, 2);
    }
    double *dx = malloc((size_t)(m->nv + 1) * sizeof *dx);
    for (int i = 0; i < m->nv; i++) dx[i] = roll(d, -0.6, 0.6);
    snw_move(m, s->q, 1, dx, s->q);
    free(dx);
    s->t = roll(d, 0, 1);
}
