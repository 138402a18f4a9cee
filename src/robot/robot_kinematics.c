// SPDX-License-Identifier: MIT
//
// Poses, twists, accelerations and Jacobians of nodes, sites and sections of the public robot;
// strains and internal wrenches along its rods.

#include "robot/robot_private.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

// ---- places -------------------------------------------------------------------------------------

// rod of the model with the number of the part: both are in the order of the links
static snw_status check_rod_place(const snw_robot *r, int rod, double x) {
    if (rod < 0 || rod >= r->m->nrod) {
        return SNW_ROBOT_REFUSE(r, "there is no rod number %d, the robot has %d", rod, r->m->nrod);
    }
    const double L = r->m->rod[rod].L;
    if (x >= 0 && x <= L * (1 + 1e-12)) return SNW_OK;
    return SNW_ROBOT_REFUSE(r, "x = %g m is outside of rod '%s', which goes from 0 to %g m", x,
                            r->desc->link[r->m->rod[rod].link].name, L);
}

static snw_status check_place(const snw_robot *r, snw_place at) {
    switch (at.kind) {
    case SNW_PLACE_NODE:
        if (at.index >= 0 && at.index < r->m->nseg - 1) return SNW_OK;
        return SNW_ROBOT_REFUSE(r, "there is no node number %d, the robot has %d", at.index,
                                r->m->nseg - 1);
    case SNW_PLACE_SITE:
        if (at.index >= 0 && at.index < r->desc->nnamed) return SNW_OK;
        return SNW_ROBOT_REFUSE(r, "there is no site number %d, the robot has %d", at.index,
                                r->desc->nnamed);
    case SNW_PLACE_ROD:
        return check_rod_place(r, at.index, at.x);
    }
    return SNW_ROBOT_REFUSE(r, "at.kind is %d, which is no kind of place", (int)at.kind);
}

static void observe_site(const snw_robot *r, const snw_site *site) {
    const snw_model *m = r->m;
    const snw_se3 shift = site->offset ? site->pose : snw_se3_identity();
    switch (site->kind) {
    case SNW_SITE_WORLD:
        snw_observer_at_seg(r->observer, 0, shift);
        break;
    case SNW_SITE_END:
        snw_observer_at_seg(r->observer, m->link_end[site->link], shift);
        break;
    case SNW_SITE_BASE:
        snw_observer_at_seg(r->observer, m->link_first[site->link], shift);
        break;
    case SNW_SITE_ROOT:
        snw_observer_at_seg(r->observer, m->rod[m->link_rod[site->link]].root, shift);
        break;
    case SNW_SITE_AT:
        snw_observer_at_section(m, r->observer, m->link_rod[site->link], site->x, shift);
        break;
    }
}

// r->observer <- the frame of a place
static void set_observer(snw_robot *r, snw_place at) {
    const snw_model *m = r->m;
    switch (at.kind) {
    case SNW_PLACE_NODE:
        snw_observer_at_seg(r->observer, at.index + 1, snw_se3_identity());
        break;
    case SNW_PLACE_SITE:
        observe_site(r, &r->desc->named[at.index].site);
        break;
    case SNW_PLACE_ROD:
        snw_observer_at_section(m, r->observer, at.index, fmin(at.x, m->rod[at.index].L),
                                snw_se3_identity());
        break;
    }
}

// motion of the frame, with accelerations
static snw_status observe(snw_robot *r, snw_place at) {
    SNW_TRY(check_place(r, at));
    SNW_TRY(snw_robot_check_forces(r, r->error));
    snw_robot_initialise_signals(r);
    set_observer(r, at);
    snw_kinematics(r->m, r->in, r->s, false, r->w);
    snw_observer_motion(r->m, r->in, r->s, r->w, r->observer);
    return SNW_OK;
}

snw_status snw_robot_find_place(const snw_robot *r, const char *name, snw_place *out) {
    if (!r) return SNW_E_ARGUMENT;
    if (!name || !out) return SNW_ROBOT_REFUSE(r, "%s is NULL", name ? "out" : "name");
    for (int i = 0; i < r->desc->nnamed; i++) {
        if (strcmp(r->desc->named[i].name, name) != 0) continue;
        *out = (snw_place){.kind = SNW_PLACE_SITE, .index = i};
        return SNW_OK;
    }
    for (int l = 0; l < r->desc->nlink; l++) {
        const size_t n = strlen(r->desc->link[l].name);
        const int rod = r->m->link_rod[l];
        if (strncmp(name, r->desc->link[l].name, n) != 0) continue;
        if (!name[n] || (rod >= 0 && strcmp(name + n, ".tip") == 0)) {
            const int beyond = r->desc->link[l].beyond, last = beyond ? beyond - 1 : l;
            *out = (snw_place){.kind = SNW_PLACE_NODE, .index = r->m->link_end[last] - 1};
            return SNW_OK;
        }
        if (rod >= 0 && strcmp(name + n, ".root") == 0) {
            *out = (snw_place){.kind = SNW_PLACE_ROD, .index = rod};
            return SNW_OK;
        }
    }
    return SNW_ROBOT_REFUSE(r,
                            "there is no place '%.100s': a link, a named site, or root and tip "
                            "of a rod",
                            name);
}

// ---- poses and their rates ----------------------------------------------------------------------

static void write_pose(snw_se3 g, double pose[16]) {
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) pose[4 * j + i] = g.R.e[i][j];
        pose[4 * j + 3] = 0;
        pose[12 + j] = g.p.e[j];
    }
    pose[15] = 1;
}

snw_status snw_robot_pose(snw_robot *r, snw_place at, double pose[16]) {
    if (!r) return SNW_E_ARGUMENT;
    if (!pose) return SNW_ROBOT_REFUSE(r, "pose is NULL");
    SNW_TRY(check_place(r, at));
    SNW_TRY(snw_robot_check_state(r, r->error));
    snw_robot_initialise_signals(r);
    set_observer(r, at);
    if (r->observer->rod >= 0) { // between two nodes
        SNW_TRY(observe(r, at));
        write_pose(r->observer->g, pose);
        return SNW_OK;
    }
    const snw_se3 g = snw_pose_along_path(r->m, r->in, r->s, r->observer->seg, r->w);
    write_pose(snw_se3_mul(g, r->observer->shift), pose);
    return SNW_OK;
}

snw_status snw_robot_poses(snw_robot *r, double *poses) {
    if (!r) return SNW_E_ARGUMENT;
    if (!poses) return SNW_ROBOT_REFUSE(r, "poses is NULL");
    SNW_TRY(snw_robot_check_state(r, r->error));
    snw_robot_initialise_signals(r);
    snw_kinematics(r->m, r->in, r->s, true, r->w);
    for (int i = 1; i < r->m->nseg; i++, poses += 16) write_pose(r->w->g[i], poses);
    return SNW_OK;
}

static snw_status check_axes(const snw_robot *r, snw_axes axes) {
    if (axes == SNW_AXES_BODY || axes == SNW_AXES_WORLD) return SNW_OK;
    return SNW_ROBOT_REFUSE(r, "axes is %d, which is neither body nor world", (int)axes);
}

// both parts of a body twist in the axes asked for
static void write_twist(const snw_observer *o, snw_axes axes, snw_twist V, double *out) {
    if (axes == SNW_AXES_WORLD) {
        V.w = snw_rotate(o->g.R, V.w);
        V.v = snw_rotate(o->g.R, V.v);
    }
    for (int i = 0; i < 6; i++) out[i] = V.e[i];
}

// the rate of a twist of constant rate dV in body axes, as one to be written in the axes asked for:
// d/dt (R V) = R (dV + w x V), V being carried with the frame
static snw_twist carried_rate(const snw_observer *o, snw_axes axes, snw_twist V, snw_twist dV) {
    if (axes == SNW_AXES_BODY) return dV;
    dV.w = snw_add(dV.w, snw_cross(o->V.w, V.w));
    dV.v = snw_add(dV.v, snw_cross(o->V.w, V.v));
    return dV;
}

snw_status snw_robot_twist(snw_robot *r, snw_place at, snw_axes axes, double twist[6]) {
    if (!r) return SNW_E_ARGUMENT;
    if (!twist) return SNW_ROBOT_REFUSE(r, "twist is NULL");
    SNW_TRY(check_axes(r, axes));
    SNW_TRY(observe(r, at));
    write_twist(r->observer, axes, r->observer->V, twist);
    return SNW_OK;
}

snw_status snw_robot_acceleration(snw_robot *r, snw_place at, snw_axes axes,
                                  double acceleration[6]) {
    if (!r) return SNW_E_ARGUMENT;
    if (!acceleration) return SNW_ROBOT_REFUSE(r, "acceleration is NULL");
    SNW_TRY(check_axes(r, axes));
    SNW_TRY(observe(r, at));
    const snw_observer *o = r->observer;
    // the recursion accelerates the world upward instead of applying gravity
    snw_twist A = o->A;
    A.v = snw_add(A.v, snw_rotate_inv(o->g.R, r->in->gravity));
    write_twist(o, axes, carried_rate(o, axes, o->V, A), acceleration);
    return SNW_OK;
}

static snw_twist jacobian_column(const snw_observer *o, const double *J, int j) {
    snw_twist column;
    for (int i = 0; i < 6; i++) column.e[i] = J[i * o->path->ld + j];
    return column;
}

snw_status snw_robot_jacobian(snw_robot *r, snw_place at, snw_axes axes, double *J, double *dJ) {
    if (!r) return SNW_E_ARGUMENT;
    if (!J) return SNW_ROBOT_REFUSE(r, "J is NULL");
    SNW_TRY(check_axes(r, axes));
    SNW_TRY(observe(r, at));
    snw_observer *o = r->observer;
    snw_jacobian_pass(r->m, r->w);
    snw_observer_jacobian(r->m, r->w, o);
    const size_t size = 6 * (size_t)r->m->nv * sizeof *J;
    memset(J, 0, size);
    if (dJ) memset(dJ, 0, size);
    for (int j = 0; j < o->path->n; j++) {
        const snw_twist column = jacobian_column(o, o->J, j);
        write_twist(o, axes, column, J + 6 * (size_t)o->path->dof[j]);
        if (!dJ) continue;
        const snw_twist rate = carried_rate(o, axes, column, jacobian_column(o, o->dJ, j));
        write_twist(o, axes, rate, dJ + 6 * (size_t)o->path->dof[j]);
    }
    return SNW_OK;
}

// ---- rods ---------------------------------------------------------------------------------------

snw_status snw_robot_strain(snw_robot *r, int rod, double x, double strain[6]) {
    if (!r) return SNW_E_ARGUMENT;
    if (!strain) return SNW_ROBOT_REFUSE(r, "strain is NULL");
    SNW_TRY(check_rod_place(r, rod, x));
    SNW_TRY(snw_robot_check_state(r, r->error));
    const snw_rod *of = &r->m->rod[rod];
    const snw_twist xi = snw_rod_strain(of, r->s->q, r->s->t, fmin(x, of->L));
    for (int i = 0; i < 6; i++) strain[i] = xi.e[i] - (i == SNW_STRETCH);
    return SNW_OK;
}

snw_status snw_robot_wrench(snw_robot *r, int rod, double x, double wrench[6]) {
    if (!r) return SNW_E_ARGUMENT;
    if (!wrench) return SNW_ROBOT_REFUSE(r, "wrench is NULL");
    SNW_TRY(check_rod_place(r, rod, x));
    SNW_TRY(snw_robot_check_forces(r, r->error));
    const snw_model *m = r->m;
    const snw_rod *of = &m->rod[rod];
    snw_robot_initialise_signals(r);
    snw_residual(m, r->in, r->s, false, r->w);
    snw_station at = {.rod = rod, .x = fmin(x, of->L), .beyond = r->beyond};
    snw_rod_beyond(m, of, at.x, r->scratch, r->beyond);
    if (of->fluid >= 0) {
        snw_outline outline;
        const snw_link_desc *link = &r->desc->link[of->link];
        SNW_TRY(snw_section_outline(&link->rod, link->name, at.x, &outline, r->error));
        for (int c = 0; c < 2; c++)
            at.flux[c] = r->desc->fluid[of->fluid].density * outline.added[c];
    }
    snw_observer_at_section(m, r->observer, rod, at.x, snw_se3_identity());
    snw_observer_motion(m, r->in, r->s, r->w, r->observer);
    const snw_wrench F = snw_internal_wrench_at(m, &at, r->observer->g, r->observer->V, r->w);
    for (int i = 0; i < 6; i++) wrench[i] = F.e[i];
    return SNW_OK;
}
