// SPDX-License-Identifier: MIT
//
// Added mass, drag, momentum flux and buoyancy at fluid points, their derivative, energies and
// power, theory.md (3.12.1) to (3.12.4).

#include "dynamics/fluid.h"

#include <math.h>

// velocity of the fluid at a point, in the axes of its segment
static snw_vec3 current(const snw_inputs *in, const snw_work *w, const snw_fluid_point *p) {
    return snw_rotate_inv(w->g[p->seg].R, in->current[p->fluid]);
}

// a twist referred to the centre of a point
static snw_twist fluid_twist_about_centre(const snw_fluid_point *p, snw_twist x) {
    return (snw_twist){{.w = x.w, .v = snw_add(x.v, snw_cross(x.w, p->centre))}};
}

void snw_fluid_motion(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w) {
    for (int i = 0; i < m->nfluid; i++) w->current[i] = in->current[i];
    for (int k = 0; k < m->nfluid_point; k++) {
        const snw_fluid_point *p = &m->fluid_point[k];
        const snw_mat3 R = w->g[p->seg].R;
        const snw_vec3 U = current(in, w, p);
        snw_fluid_point_work *to = &w->fluid_point[k];
        *to = (snw_fluid_point_work){.V = {{.v = snw_scale(-1, U)}}};
        if (is_static) continue;
        // V - (0, R'U) and its rate, without the gravity that w->A contains
        const snw_vec3 offset = snw_sub(in->gravity, in->current_rate[p->fluid]);
        to->V = snw_twist_add(to->V, fluid_twist_about_centre(p, w->V[p->seg]));
        to->A = fluid_twist_about_centre(p, w->A[p->seg]);
        to->A.v = snw_add(to->A.v, snw_rotate_inv(R, offset));
        to->A.v = snw_add(to->A.v, snw_cross(w->V[p->seg].w, U));
    }
}

static snw_wrench added_momentum(const snw_fluid_point *p, snw_twist V) {
    snw_wrench P;
    for (int i = 0; i < 6; i++) P.e[i] = p->added[i] * V.e[i];
    return P;
}

snw_wrench snw_fluid_momentum(const snw_model *m, const snw_work *w) {
    snw_wrench sum = {0};
    for (int k = 0; k < m->nfluid_point; k++) {
        const snw_fluid_point *p = &m->fluid_point[k];
        if (!snw_fluid_point_is_active(w, p)) continue;
        snw_wrench P = added_momentum(p, w->fluid_point[k].V);
        P.m = snw_add(P.m, snw_cross(p->centre, P.f));
        sum = snw_wrench_add(sum, snw_wrench_to_parent(w->g[p->seg], P));
    }
    return sum;
}

// drag, positive along V
static snw_wrench fluid_resistance(const snw_fluid_point *p, snw_twist V) {
    snw_wrench F;
    for (int i = 0; i < 6; i++) F.e[i] = (p->linear[i] + p->square[i] * fabs(V.e[i])) * V.e[i];
    const double speed = hypot(V.v.y, V.v.z);
    F.f.y += p->across[0] * speed * V.v.y;
    F.f.z += p->across[1] * speed * V.v.z;
    return F;
}

// Y = v_x P - (v.P)/2 e_x
snw_vec3 snw_flux(const double mass[2], snw_vec3 v) {
    const double y = mass[0] * v.y, z = mass[1] * v.z;
    return (snw_vec3){{-0.5 * (y * v.y + z * v.z), v.x * y, v.x * z}};
}

snw_vec3 snw_fluid_point_lift(const snw_inputs *in, const snw_work *w, const snw_fluid_point *p) {
    const snw_vec3 rate = w->is_static ? (snw_vec3){{0}} : in->current_rate[p->fluid];
    const snw_vec3 up = snw_sub(rate, in->gravity);
    return snw_scale(p->displaced, snw_rotate_inv(w->g[p->seg].R, up));
}

// wrench at a point without buoyancy, theory.md (3.12.1)
static snw_wrench fluid_point_wrench(const snw_fluid_point *p, const snw_fluid_point_work *at) {
    snw_wrench F =
        snw_wrench_sub(added_momentum(p, at->A), snw_ad_pull(at->V, added_momentum(p, at->V)));
    F = snw_wrench_add(F, fluid_resistance(p, at->V));
    if (p->end) F.f = snw_sub(F.f, snw_scale(p->end, snw_flux(p->flux, at->V.v)));
    return F;
}

// r += Phi' Y at a node of a rod that stretches or shears, theory.md (3.12.4)
static void add_flux_force(const snw_model *m, const snw_fluid_point *p, snw_vec3 Y, double *r) {
    const snw_rod *rod = &m->rod[p->rod];
    const double *phi = m->fluid_phi + p->phi;
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        if (rod->comp[a] < 3) continue;
        double *to = r + rod->dof[a] + p->first[a];
        for (int j = 0; j < p->count[a]; j++) to[j] += phi[j] * Y.e[rod->comp[a] - 3];
    }
}

void snw_fluid_add(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w) {
    for (int k = 0; k < m->nfluid_point; k++) {
        const snw_fluid_point *p = &m->fluid_point[k];
        if (!snw_fluid_point_is_active(w, p)) continue;
        snw_wrench F = {0};
        if (snw_any(p->displaced > 0)) F.f = snw_scale(-1, snw_fluid_point_lift(in, w, p));
        if (!is_static || m->flowing) {
            F = snw_wrench_add(F, fluid_point_wrench(p, &w->fluid_point[k]));
            if (p->phi >= 0) add_flux_force(m, p, snw_flux(p->flux, w->fluid_point[k].V.v), w->r);
        }
        F.m = snw_add(F.m, snw_cross(p->centre, F.f));
        w->F[p->seg] = snw_wrench_add(w->F[p->seg], F);
    }
}

void snw_fluid_point_jacobian(const snw_fluid_point *p, snw_twist V, double S[36], double Y[9]) {
    const double my = p->flux[0], mz = p->flux[1];
    const snw_vec3 v = V.v;
    const double dY[9] = {0, -my * v.y, -mz * v.z, my * v.y, my * v.x, 0, mz * v.z, 0, mz * v.x};
    const snw_wrench P = added_momentum(p, V);
    for (int k = 0; k < 6; k++) {
        snw_twist one = {0};
        one.e[k] = 1;
        const snw_wrench a = snw_ad_pull(V, added_momentum(p, one)), b = snw_ad_pull(one, P);
        for (int i = 0; i < 6; i++) S[6 * i + k] = -(a.e[i] + b.e[i]);
        S[7 * k] += p->linear[k] + 2 * p->square[k] * fabs(V.e[k]);
    }
    const double speed = hypot(v.y, v.z), s = snw_select(speed > 0, 1 / speed, 0);
    S[28] += p->across[0] * (speed + s * v.y * v.y);
    S[29] += p->across[0] * s * v.y * v.z;
    S[34] += p->across[1] * s * v.y * v.z;
    S[35] += p->across[1] * (speed + s * v.z * v.z);
    for (int i = 0; i < 9; i++) {
        Y[i] = dY[i];
        S[6 * (3 + i / 3) + 3 + i % 3] -= p->end * dY[i];
    }
}

// ---- energy -----------------------------------------------------------------

double snw_fluid_point_kinetic_energy(const snw_model *m, const snw_work *w, int k) {
    const snw_fluid_point *p = &m->fluid_point[k];
    if (!snw_fluid_point_is_active(w, p)) return 0;
    return 0.5 * snw_power(added_momentum(p, w->fluid_point[k].V), w->fluid_point[k].V);
}

double snw_fluid_kinetic_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nfluid_point; k++) sum += snw_fluid_point_kinetic_energy(m, w, k);
    return sum;
}

double snw_fluid_point_gravity_energy(const snw_model *m, const snw_inputs *in, const snw_work *w,
                                      int k) {
    const snw_fluid_point *p = &m->fluid_point[k];
    if (!snw_fluid_point_is_active(w, p)) return 0;
    return p->displaced * snw_dot(in->gravity, snw_se3_point(w->g[p->seg], p->centre));
}

double snw_fluid_gravity_energy(const snw_model *m, const snw_inputs *in, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nfluid_point; k++) sum += snw_fluid_point_gravity_energy(m, in, w, k);
    return sum;
}

double snw_fluid_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nfluid_point; k++) {
        if (!snw_fluid_point_is_active(w, &m->fluid_point[k])) continue;
        sum += snw_power(fluid_resistance(&m->fluid_point[k], w->fluid_point[k].V),
                         w->fluid_point[k].V);
    }
    return sum;
}

// power of Y on the rates of stretch and shear at a node
static double flux_strain_power(const snw_model *m, const snw_fluid_point *p, snw_vec3 Y,
                                const double *v) {
    const snw_rod *rod = &m->rod[p->rod];
    const double *phi = m->fluid_phi + p->phi;
    double sum = 0;
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        if (rod->comp[a] < 3) continue;
        const double *rate = v + rod->dof[a] + p->first[a];
        for (int j = 0; j < p->count[a]; j++) sum += phi[j] * rate[j] * Y.e[rod->comp[a] - 3];
    }
    return sum;
}

double snw_fluid_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nfluid_point; k++) {
        const snw_fluid_point *p = &m->fluid_point[k];
        if (!snw_fluid_point_is_active(w, p)) continue;
        const snw_fluid_point_work *at = &w->fluid_point[k];
        const snw_vec3 Y = snw_flux(p->flux, at->V.v);
        if (p->end) sum += p->end * snw_dot(Y, at->V.v);
        if (p->phi >= 0) sum -= flux_strain_power(m, p, Y, s->v);
        if (!m->flowing) continue;
        // power of the current, and pressure of an accelerated fluid
        const snw_mat3 R = w->g[p->seg].R;
        const snw_vec3 v = fluid_twist_about_centre(p, w->V[p->seg]).v;
        sum -= snw_dot(fluid_point_wrench(p, at).f, current(in, w, p));
        sum += p->displaced * snw_dot(snw_rotate_inv(R, in->current_rate[p->fluid]), v);
    }
    return sum;
}
