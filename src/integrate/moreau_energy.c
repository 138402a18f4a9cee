// SPDX-License-Identifier: MIT
//
// Energy of steps with hard contacts (integrate/moreau.h, theory.md 6.9): what the smooth motion
// and the contacts give and take, and the velocities for which nothing else changes the energy.
#include "integrate/moreau.h"

#include "dynamics/contact.h"
#include "integrate/gravity_change.h"
#include "integrate/lie_block.h"

#include <math.h>

static const double CREATED = 2e-3; // of the energy in motion: most that a step may create,
static const double BY_RODS = 1e-4; // where places of contact run along rods
static const double REST = 1e-9;    // of the energy: one in motion below it is rounding

double snw_moreau_energy(const snw_moreau *c, const snw_inputs *in, const snw_state *s,
                         snw_work *w) {
    snw_kinematics(c->m, in, s, false, w);
    return snw_kinetic_energy(c->m, w) + snw_stored_energy(c->m, s, w) +
           snw_gravity_energy(c->m, in, w);
}

// Does something move by a law, so that the kinetic energy is not quadratic in the velocities, or
// constraints and contacts do not allow the same motion at another speed?
static bool is_driven(const snw_model *m) {
    bool driven = m->nfield > 0 || m->flowing;
    for (int i = 0; i < m->npose; i++)
        driven = driven || (snw_pose_desc_vars(&m->pose[i]) & SNW_VAR_T) != 0;
    for (int i = 0; i < m->nrod; i++) driven = driven || m->rod[i].feed >= 0;
    for (int i = 0; i < m->ndrive; i++) driven = driven || m->drive[i].row >= 0;
    return driven;
}

// Is all that moves carried by free joints on the world, without constraints?
static bool floats(const snw_model *m) {
    if (m->nconstraint || m->nlie_block == 0) return false;
    for (int i = 0; i < m->nblock; i++) {
        const snw_path *path = &m->path[m->seg[m->block[i].seg].path];
        bool free_root = false;
        for (int f = 0; f < m->nlie_block && path->n > 0; f++) {
            const snw_block *b = snw_lie_block(m, f);
            free_root = free_root || (b->n == 6 && b->dof == path->dof[0]);
        }
        if (!free_root) return false;
    }
    return true;
}

void snw_moreau_prepare_energy(snw_moreau *c) {
    c->driven = is_driven(c->m);
    c->floats = floats(c->m);
}

double snw_moreau_contact_work(const snw_moreau *c) {
    double sum = 0;
    for (int i = 0; i < c->nc; i++) {
        const double *f = c->force + 3 * i, *u = c->u + 3 * i;
        sum += f[0] * (u[0] - c->gap[i]) + f[1] * u[1] + f[2] * u[2];
    }
    return sum;
}

void snw_moreau_smooth_work(snw_moreau *c, double h) {
    const snw_model *m = c->m;
    // a change of gravity is not an error of the scheme
    c->energy += snw_gravity_change(m, c->in, c->now, c->w, &c->gravity);
    c->last->gravity = c->gravity;
    snw_residual(m, c->in, c->mid, false, c->w);
    snw_load_power(m, c->in, c->mid, c->w, c->power);
    c->given = 0;
    for (int i = 0; i < snw_npower(m); i++) c->given += h * c->power[i];
    c->warmed = h * (snw_dissipation(m, c->mid->v) + snw_other_heat(m, c->mid, c->w));
}

// Velocity of the centre of mass of a robot that flies and touches itself only, else zero
static snw_vec3 carried_along(const snw_moreau *c, double *energy) {
    const snw_model *m = c->m;
    bool alone = c->floats;
    for (int i = 0; i < c->nc; i++) { // contacts of rods with rods are within the robot
        const int k = c->candidate[i].point;
        alone = alone && (k < 0 || m->contact[m->contact_point[k].contact].coupled);
    }
    *energy = 0;
    if (!alone) return (snw_vec3){{0}};
    snw_vec3 centre;
    const double mass = snw_center_of_mass(m, c->end_work, &centre);
    const snw_vec3 v = snw_scale(1 / mass, snw_momentum(m, c->end_work).f);
    *energy = 0.5 * mass * snw_dot(v, v);
    return v;
}

double snw_moreau_conserve(snw_moreau *c, double target, bool lower_only, snw_hard_scaling *by) {
    const snw_model *m = c->m;
    *by = (snw_hard_scaling){.factor = 1};
    const double energy = snw_moreau_energy(c, c->last, c->end, c->end_work);
    const double excess = energy - target;
    if (c->driven || excess == 0 || (lower_only && excess < 0)) return energy;
    double carried;
    const snw_vec3 v = carried_along(c, &carried);
    const double moving = snw_kinetic_energy(m, c->end_work) - carried;
    if (excess < -CREATED * moving) return energy; // the error stays
    const double scale = sqrt(1 - fmin(excess / moving, 0.5));
    if (!isfinite(scale)) return energy; // at rest
    // about rest the excess is rounding; without that the factor is 1 there
    const bool moves = moving > REST * fmax(c->typical_energy, fabs(energy));
    if (moves)
        *by =
            (snw_hard_scaling){.factor = scale, .free = excess<0.5 * moving, .carried = carried> 0};
    for (int i = 0; i < m->nv; i++) c->end->v[i] *= scale;
    for (int f = 0; f < m->nlie_block && carried > 0; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b)) continue;
        const snw_vec3 u = snw_rotate_inv(c->end_work->g[b->seg].R, v);
        for (int k = 0; k < 3; k++) c->end->v[b->dof + 3 + k] += (1 - scale) * u.e[k];
    }
    return snw_moreau_energy(c, c->last, c->end, c->end_work);
}

bool snw_moreau_is_resolved(const snw_moreau *c, double created, double energy) {
    const double moved = snw_kinetic_energy(c->m, c->end_work) + fabs(energy - c->energy);
    // energies of a robot at rest are rounding
    const double least = 1e-9 * c->typical_energy + 1e-12 * fabs(c->energy);
    const double most = c->m->ntouching_rod ? BY_RODS : CREATED;
    return created <= fmax(most * moved, least);
}

void snw_moreau_account(snw_moreau *c, double h, double taken, double energy) {
    const double lost = c->energy + c->given - c->warmed - taken - energy;
    c->heat += c->warmed + taken;
    // the loss of an impact is heat, the rest is the error of the scheme
    if (c->impact && lost > 0) {
        c->heat += lost;
    } else {
        c->scheme += lost;
    }
    for (int i = 0; i < snw_npower(c->m); i++) c->work[i] += h * c->power[i];
    c->energy = energy;
}
