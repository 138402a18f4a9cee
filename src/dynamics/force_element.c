// SPDX-License-Identifier: MIT
//
// Springs, cables, dampers and bushings between two sites: forces, their derivatives and energy,
// theory.md 3.17.

#include "dynamics/force_element.h"

#include "math/positive_part.h"
#include "math/quadrature.h"

#include <math.h>

// velocity of a segment's origin, world axes
static snw_vec3 force_element_velocity(const snw_work *w, int seg) {
    return snw_rotate(w->g[seg].R, w->V[seg].v);
}

// ---- tension --------------------------------------------------------------------------------

// Law of the elongation.
static double element_law(const void *element, double x) {
    const snw_force_element *e = (const snw_force_element *)element;
    return snw_expr_value(e->force, (snw_at){.x = x, .L = e->rest});
}

// tension at the length and rate in `at`, and its derivatives
static void set_tension(const snw_force_element *e, bool is_static, snw_force_element_work *at) {
    const double x = at->length - e->rest;
    switch (e->kind) {
    case SNW_ELEMENT_SPRING:
        if (e->force) {
            const snw_jet f = snw_expr_jet_x(e->force, (snw_at){.x = x, .L = e->rest});
            at->elastic = f.v;
            at->by_length = f.d;
        } else {
            at->elastic = e->stiffness * x;
            at->by_length = e->stiffness;
        }
        break;
    case SNW_ELEMENT_CABLE: {
        at->elastic = e->stiffness * snw_positive_part(x, e->smooth);
        at->by_length = e->stiffness * snw_positive_part_d1(x, e->smooth);
        at->tension = at->elastic;
        if (is_static) return;
        const double z = 1 + e->damping * at->rate;
        const double factor = snw_positive_part(z, SNW_HUNT_CROSSLEY_WIDTH);
        at->tension *= factor;
        at->by_length *= factor;
        at->by_rate = at->elastic * e->damping * snw_positive_part_d1(z, SNW_HUNT_CROSSLEY_WIDTH);
        return;
    }
    case SNW_ELEMENT_DAMPER:
    case SNW_ELEMENT_BUSHING:
    case SNW_ELEMENT_COUNT:
        break;
    }
    at->tension = at->elastic;
    if (is_static) return;
    at->tension += e->damping * at->rate;
    at->by_rate = e->damping;
}

// pull of unit tension on end k, own frame
static snw_vec3 line_pull(const snw_force_element *e, const snw_work *w, snw_vec3 n, int k) {
    return snw_rotate_inv(w->g[e->end[k]].R, k ? snw_scale(-1, n) : n);
}

static void line_motion(const snw_force_element *e, const snw_work *w, bool is_static,
                        snw_force_element_work *at) {
    const int a = e->end[0], b = e->end[1];
    const snw_vec3 d = snw_sub(w->g[b].p, w->g[a].p);
    at->length = snw_norm(d);
    at->n = snw_scale(snw_select(at->length > 0, 1 / at->length, 0), d);
    if (!is_static) {
        at->rate =
            snw_dot(at->n, snw_sub(force_element_velocity(w, b), force_element_velocity(w, a)));
    }
    set_tension(e, is_static, at);
    for (int k = 0; k < 2; k++) at->on[k].f = snw_scale(at->tension, line_pull(e, w, at->n, k));
}

// ---- bushing --------------------------------------------------------------------------------

static snw_vec3 scale_axes(const double s[3], snw_vec3 v) {
    return (snw_vec3){{s[0] * v.x, s[1] * v.y, s[2] * v.z}};
}

// K x of a bushing for x = (theta, p), axes of the first end
static snw_wrench bushing_stress(const snw_force_element *e, snw_vec3 turn, snw_vec3 p) {
    const snw_twist x = {{.w = turn, .v = p}};
    snw_wrench s;
    for (int i = 0; i < 6; i++) {
        s.e[i] = e->axis_stiffness[i] * x.e[i];
        for (int j = 0; j < 6 && e->coupling; j++) s.e[i] += e->coupling[6 * i + j] * x.e[j];
    }
    return s;
}

// velocity of the second end seen from the first, in the frame of the second
static snw_twist carried_velocity(const snw_force_element *e, const snw_work *w,
                                  const snw_force_element_work *at) {
    return snw_twist_to_child(at->h, w->V[e->end[0]]);
}

// Wrench on the second end: moment -(T^-T(theta) K theta + D omega), since theta varies by T^-1
// times a rotation in the frame of the second end; force -R'(K p + D p').
static void bushing_motion(const snw_force_element *e, const snw_work *w, bool is_static,
                           snw_force_element_work *at) {
    at->h = snw_se3_mul(snw_se3_inv(w->g[e->end[0]]), w->g[e->end[1]]);
    at->turn = snw_so3_log(at->h.R);
    at->length = snw_norm(at->h.p);
    const snw_wrench stress = bushing_stress(e, at->turn, at->h.p);
    at->elastic_wrench.m = snw_scale(-1, snw_rotate(snw_so3_tangent_inv(snw_scale(-1, at->turn)),
                                                    stress.m)); // T^-T(w) = T^-1(-w)
    at->elastic_wrench.f = snw_scale(-1, snw_rotate_inv(at->h.R, stress.f));
    at->on[1] = at->elastic_wrench;
    if (!is_static) {
        at->V = snw_twist_sub(w->V[e->end[1]], carried_velocity(e, w, at));
        const snw_vec3 rate = snw_rotate(at->h.R, at->V.v);
        at->rate = snw_select(at->length > 0, snw_dot(at->h.p, rate) / at->length, 0);
        at->on[1].m = snw_sub(at->on[1].m, scale_axes(e->axis_damping, at->V.w));
        const snw_vec3 force = scale_axes(e->axis_damping + 3, rate);
        at->on[1].f = snw_sub(at->on[1].f, snw_rotate_inv(at->h.R, force));
    }
    at->on[0] = snw_wrench_scale(-1, snw_wrench_to_parent(at->h, at->on[1]));
}

// ---- all elements ---------------------------------------------------------------------------

static bool is_frames(const snw_force_element *e) {
    return snw_force_element_table[e->kind].frames;
}

void snw_force_elements_motion(const snw_model *m, const snw_inputs *in, bool is_static,
                               snw_work *w) {
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element *e = &m->force_element[i];
        snw_force_element_work *at = &w->force_element[i];
        *at = (snw_force_element_work){0};
        at->acts = !in->inertia_only && snw_is_active(w, e->condition) &&
                   snw_seg_is_active(m, w, e->end[0]) && snw_seg_is_active(m, w, e->end[1]);
        if (is_frames(e)) {
            bushing_motion(e, w, is_static, at);
        } else {
            line_motion(e, w, is_static, at);
        }
        if (!at->acts)
            *at = (snw_force_element_work){.length = at->length, .rate = at->rate, .n = at->n};
    }
}

void snw_force_elements_add(const snw_model *m, snw_work *w) {
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element_work *at = &w->force_element[i];
        for (int k = 0; at->acts && k < 2; k++) {
            snw_wrench *F = &w->F[m->force_element[i].end[k]];
            *F = snw_wrench_sub(*F, at->on[k]);
        }
    }
}

snw_wrench snw_force_element_elastic(const snw_model *m, const snw_work *w, int i, int k) {
    const snw_force_element *e = &m->force_element[i];
    const snw_force_element_work *at = &w->force_element[i];
    if (!at->acts) return (snw_wrench){0};
    if (!is_frames(e))
        return (snw_wrench){{.f = snw_scale(at->elastic, line_pull(e, w, at->n, k))}};
    if (k == 1) return at->elastic_wrench;
    return snw_wrench_scale(-1, snw_wrench_to_parent(at->h, at->elastic_wrench));
}

// ---- derivatives ----------------------------------------------------------------------------

// Variations of the two ends, own frames: pose and velocity.
typedef struct ends_variation {
    snw_twist zeta[2], dV[2];
} ends_variation;

// with l = |w|, n = w/l: dl = n.dw, dn = (dw - n dl)/l, dl' = n.dv + dn.v
static void line_variation(const snw_force_element *e, const snw_work *w,
                           const snw_force_element_work *at, const ends_variation *x,
                           snw_wrench d[2]) {
    snw_vec3 moved = {{0}}, faster = {{0}};
    snw_vec3 turn[2];
    for (int k = 0; k < 2; k++) {
        const int s = e->end[k];
        const double sign = k ? 1 : -1;
        const snw_vec3 dv = snw_add(x->dV[k].v, snw_cross(x->zeta[k].w, w->V[s].v));
        moved = snw_add(moved, snw_scale(sign, snw_rotate(w->g[s].R, x->zeta[k].v)));
        faster = snw_add(faster, snw_scale(sign, snw_rotate(w->g[s].R, dv)));
        turn[k] = snw_rotate(w->g[s].R, x->zeta[k].w);
    }
    const snw_vec3 n = at->n;
    const double dl = snw_dot(n, moved);
    // tension over length; a spring without length or rest length pulls by its stiffness
    const double per_length = snw_select(at->length > 0, at->tension / at->length, at->by_length);
    double drate = 0;
    if (!w->is_static && snw_any(at->length > 0)) {
        const snw_vec3 v =
            snw_sub(force_element_velocity(w, e->end[1]), force_element_velocity(w, e->end[0]));
        drate =
            snw_select(at->length > 0,
                       snw_dot(n, faster) + (snw_dot(moved, v) - dl * at->rate) / at->length, 0);
    }
    const double dt = at->by_length * dl + at->by_rate * drate - per_length * dl;
    const snw_vec3 pull = snw_add(snw_scale(dt, n), snw_scale(per_length, moved));
    const snw_vec3 now = snw_scale(at->tension, n);
    for (int k = 0; k < 2; k++) {
        const snw_vec3 f =
            snw_rotate_inv(w->g[e->end[k]].R, snw_sub(pull, snw_cross(turn[k], now)));
        d[k] = (snw_wrench){{.f = k ? snw_scale(-1, f) : f}};
    }
}

// With the relative variation delta = zeta_b - Ad(h^-1) zeta_a: dtheta = T^-1 delta_w, dp = R
// delta_v, dR = R delta_w^, dV = dV_b - Ad(h^-1) dV_a + ad_delta Ad(h^-1) V_a.
static void bushing_variation(const snw_force_element *e, const snw_work *w,
                              const snw_force_element_work *at, const ends_variation *x,
                              snw_wrench d[2]) {
    const snw_se3 h = at->h;
    const snw_twist delta = snw_twist_sub(x->zeta[1], snw_twist_to_child(h, x->zeta[0]));
    const snw_vec3 back = snw_scale(-1, at->turn);
    const snw_vec3 dturn = snw_rotate(snw_so3_tangent_inv(at->turn), delta.w);
    const snw_wrench stress = bushing_stress(e, at->turn, h.p),
                     dstress = bushing_stress(e, dturn, snw_rotate(h.R, delta.v));
    d[1].m = snw_add(snw_so3_tangent_inv_d1(back, stress.m, snw_scale(-1, dturn)),
                     snw_rotate(snw_so3_tangent_inv(back), dstress.m));
    snw_vec3 force = stress.f, dforce = dstress.f;
    if (!w->is_static) {
        snw_twist dV = snw_twist_sub(x->dV[1], snw_twist_to_child(h, x->dV[0]));
        dV = snw_twist_add(dV, snw_ad(delta, carried_velocity(e, w, at)));
        d[1].m = snw_add(d[1].m, scale_axes(e->axis_damping, dV.w));
        const snw_vec3 rate = snw_rotate(h.R, at->V.v);
        const snw_vec3 drate = snw_rotate(h.R, snw_add(snw_cross(delta.w, at->V.v), dV.v));
        force = snw_add(force, scale_axes(e->axis_damping + 3, rate));
        dforce = snw_add(dforce, scale_axes(e->axis_damping + 3, drate));
    }
    d[1].f = snw_sub(snw_rotate_inv(h.R, dforce), snw_cross(delta.w, snw_rotate_inv(h.R, force)));
    d[1] = snw_wrench_scale(-1, d[1]);
    const snw_wrench seen = snw_wrench_sub(d[1], snw_ad_pull(delta, at->on[1]));
    d[0] = snw_wrench_scale(-1, snw_wrench_to_parent(h, seen));
}

static void element_variation(const snw_force_element *e, const snw_work *w,
                              const snw_force_element_work *at, const ends_variation *x,
                              snw_wrench d[2]) {
    if (is_frames(e)) {
        bushing_variation(e, w, at, x, d);
    } else {
        line_variation(e, w, at, x, d);
    }
}

void snw_force_element_variation(const snw_model *m, const snw_work *w, int i,
                                 const snw_twist zeta[2], const snw_twist dV[2], snw_wrench d[2]) {
    const ends_variation x = {.zeta = {zeta[0], zeta[1]}, .dV = {dV[0], dV[1]}};
    element_variation(&m->force_element[i], w, &w->force_element[i], &x, d);
}

void snw_force_element_bars(const snw_model *m, const snw_work *w, int i, const snw_twist eta[2],
                            snw_wrench pose[2], snw_wrench V[2]) {
    const snw_force_element_work *at = &w->force_element[i];
    if (!at->acts) return;
    for (int k = 0; k < 24; k++) { // unit variations of poses, then of velocities
        const int end = k % 2, of = k / 4;
        const bool rate = k % 4 >= 2;
        ends_variation x = {0};
        snw_wrench d[2];
        if (rate && w->is_static) continue;
        (rate ? x.dV : x.zeta)[end].e[of] = 1;
        element_variation(&m->force_element[i], w, at, &x, d);
        (rate ? V : pose)[end].e[of] -= snw_power(d[0], eta[0]) + snw_power(d[1], eta[1]);
    }
}

static snw_twist force_element_column(const double *J, int ld, int j) {
    snw_twist x;
    for (int i = 0; i < 6; i++) x.e[i] = J[i * ld + j];
    return x;
}

// T[:, dof] -= J' d of both ends
static void scatter_column(const snw_model *m, const snw_force_element *e, const snw_work *w,
                           const snw_wrench d[2], snw_column_entries *column) {
    for (int k = 0; k < 2; k++) {
        const snw_path *path = &m->path[m->seg[e->end[k]].path];
        const double *J = w->J + m->seg_store[e->end[k]];
        for (int i = 0; i < path->n; i++) {
            double sum = 0;
            for (int c = 0; c < 6; c++) sum += J[c * path->ld + i] * d[k].e[c];
            *snw_column_at(column, path->dof[i]) -= sum;
        }
    }
}

// A variation x of the coordinates varies the pose of an end by cq J x and its velocity by
// (cq (J' + ad_V J) + cv J) x, theory.md (4.2).
void snw_force_elements_tangent(const snw_model *m, double cq, double cv, const snw_work *w,
                                snw_matrix T) {
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element *e = &m->force_element[i];
        const snw_force_element_work *at = &w->force_element[i];
        if (!at->acts) continue;
        for (int k = 0; k < 2; k++) {
            const int s = e->end[k];
            const snw_path *path = &m->path[m->seg[s].path];
            for (int j = 0; j < path->n; j++) {
                const size_t store = (size_t)m->seg_store[s];
                const snw_twist x = force_element_column(w->J + store, path->ld, j);
                ends_variation v = {0};
                snw_wrench d[2];
                v.zeta[k] = snw_twist_scale(cq, x);
                if (!w->is_static) {
                    const snw_twist dx = force_element_column(w->dJ + store, path->ld, j);
                    v.dV[k] =
                        snw_twist_add(snw_twist_scale(cq, snw_twist_add(dx, snw_ad(w->V[s], x))),
                                      snw_twist_scale(cv, x));
                }
                element_variation(e, w, at, &v, d);
                snw_column_entries column = snw_matrix_column(T, path->dof[j]);
                scatter_column(m, e, w, d, &column);
            }
        }
    }
}

// ---- energy ---------------------------------------------------------------------------------

double snw_force_element_energy(const snw_model *m, const snw_work *w, int i) {
    const snw_force_element *e = &m->force_element[i];
    const snw_force_element_work *at = &w->force_element[i];
    const double x = at->length - e->rest;
    if (!at->acts) return 0;
    switch (e->kind) {
    case SNW_ELEMENT_SPRING:
        return e->force ? snw_integrate(element_law, e, 0, x, 24) : 0.5 * e->stiffness * x * x;
    case SNW_ELEMENT_CABLE:
        return e->stiffness * snw_positive_part_integral(x, e->smooth);
    case SNW_ELEMENT_BUSHING:
        return 0.5 * snw_power(bushing_stress(e, at->turn, at->h.p),
                               (snw_twist){{.w = at->turn, .v = at->h.p}});
    case SNW_ELEMENT_DAMPER:
    case SNW_ELEMENT_COUNT:
        break;
    }
    return 0;
}

double snw_force_elements_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nforce_element; i++) sum += snw_force_element_energy(m, w, i);
    return sum;
}

double snw_force_elements_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element_work *at = &w->force_element[i];
        sum += is_frames(&m->force_element[i]) ? -snw_power(at->elastic_wrench, at->V)
                                               : at->elastic * at->rate;
    }
    return sum;
}

double snw_force_elements_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element_work *at = &w->force_element[i];
        sum += is_frames(&m->force_element[i])
                   ? snw_power(snw_wrench_sub(at->elastic_wrench, at->on[1]), at->V)
                   : (at->tension - at->elastic) * at->rate;
    }
    return sum;
}
