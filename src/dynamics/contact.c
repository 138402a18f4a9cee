// SPDX-License-Identifier: MIT
//
// Penalty contact of points and convex shapes with a half-space, and of spheres with other
// obstacles, which may move: gap, normal force, regularised Coulomb friction, their derivatives and
// energy, theory.md (3.13.1) to (3.13.3) and (3.13.5) to (3.13.7).

#include "dynamics/contact.h"

#include "dynamics/contact_law.h"
#include "dynamics/contact_span.h"
#include "dynamics/jacobian_column.h"
#include "dynamics/rod_contact.h"
#include "dynamics/wheel.h"
#include "math/positive_part.h"

#include <math.h>

// ---- forces -----------------------------------------------------------------

// Gap, normal and touching point against a half-space with normal n through the point a.
static void plane_gap(const snw_contact_point *p, const snw_se3 *g, snw_vec3 n, snw_vec3 a,
                      snw_contact_point_work *at) {
    const snw_vec3 d = snw_rotate_inv(g->R, n);
    at->d = d;
    at->gap = snw_dot(n, snw_sub(g->p, a)) + snw_dot(d, p->centre);
    if (p->sharp) return;
    const snw_vec3 Qd = snw_rotate(p->Q, d);
    const double reach = sqrt(snw_dot(d, Qd) + p->round * p->round);
    at->gap -= reach - p->round;
    // minus the gradient of the support function sqrt(d'Q d + round^2 d'd) - round |d|
    at->s = snw_sub(at->s, snw_scale(1 / reach, Qd));
    at->s = snw_add(at->s, snw_scale(p->round * (1 - p->round / reach), d));
}

// The same for a sphere against a curved obstacle, G: pose of the segment in its axes. The Hessian
// enters the tangent of points in contact only.
static void curved_gap(const snw_contact_point *p, const snw_contact *c, const snw_se3 *G,
                       snw_contact_point_work *at) {
    snw_vec3 n;
    snw_mat3 H;
    at->gap = snw_obstacle_distance(&c->obstacle, snw_se3_point(*G, p->centre), &n, &H) - p->radius;
    if (c->obstacle.grid) { // interpolated
        at->gradient = snw_norm(n);
        n = snw_scale(1 / at->gradient, n);
    }
    at->d = snw_rotate_inv(G->R, n);
    at->s = snw_sub(at->s, snw_scale(p->radius, at->d));
    if (snw_any(at->gap < 0.5 * c->smooth) || c->hard)
        at->H = snw_mat3_mul(snw_mat3_transpose(G->R), snw_mat3_mul(H, G->R));
}

// Velocity of the segment relative to the obstacle, in the axes of the segment.
static snw_twist relative_twist(const snw_contact *c, const snw_contact_point *p,
                                const snw_contact_point_work *at, const snw_work *w) {
    return c->seg ? snw_twist_sub(w->V[p->seg], at->carried) : w->V[p->seg];
}

static snw_se3 pose_in_obstacle(const snw_contact *c, const snw_contact_point *p,
                                const snw_work *w) {
    return snw_se3_mul(snw_se3_inv(w->g[c->seg]), w->g[p->seg]);
}

// at <- gap, normal and touching point; of a moving obstacle also its twist
static void contact_gap(const snw_contact *c, const snw_contact_point *p, bool is_static,
                        const snw_work *w, snw_contact_point_work *at) {
    *at = (snw_contact_point_work){.gradient = 1, .s = p->centre, .axis = {{1, 0, 0}}};
    if (snw_any(p->span > 0)) {
        const double held = w->span_held ? w->span_held[at - w->contact_point] : NAN;
        snw_contact_span_gap(c, p, w, held, at);
        return;
    }
    if (c->seg == 0) {
        plane_gap(p, &w->g[p->seg], c->normal, c->at, at);
        return;
    }
    const snw_se3 *o = &w->g[c->seg], G = pose_in_obstacle(c, p, w);
    if (c->obstacle.kind == SNW_OBSTACLE_PLANE) {
        const snw_vec3 z = {{o->R.e[0][2], o->R.e[1][2], o->R.e[2][2]}};
        plane_gap(p, &w->g[p->seg], z, o->p, at);
    } else {
        curved_gap(p, c, &G, at);
    }
    if (!is_static) at->carried = snw_twist_to_child(G, w->V[c->seg]);
}

// Velocity of the touching point relative to the obstacle, in the axes of the segment.
static snw_vec3 relative_velocity(const snw_contact *c, const snw_contact_point *p,
                                  const snw_contact_point_work *at, const snw_work *w) {
    if (snw_any(p->span > 0)) return snw_contact_span_velocity(c, p, at, w);
    const snw_twist V = relative_twist(c, p, at, w);
    return snw_add(V.v, snw_cross(V.w, at->s));
}

// Depth and stiffness of the law. The forces of hard contacts are impulses of the time step; in
// equilibria they are multipliers, theory.md (5.8).
static void set_depth(const snw_contact *c, const snw_contact_point *p, const snw_work *w, int k,
                      snw_contact_point_work *at) {
    at->depth = -at->gap;
    at->stiffness = c->hard ? w->hard_stiffness : p->stiffness;
    at->smooth = c->hard ? w->hard_smooth : c->smooth;
    if (c->hard && snw_any(at->stiffness > 0)) at->depth += w->hard_force[k] / at->stiffness;
}

// at->f += tangential forces along the axes
static void add_tangential(const snw_work *w, int k, const double f[3],
                           snw_contact_point_work *at) {
    snw_vec3 axis[3];
    snw_contact_axes(w, k, axis);
    for (int i = 1; i < 3; i++) at->f = snw_add(at->f, snw_scale(f[i], axis[i]));
}

// The elastic force is held, whatever the gap.
static void hold_elastic(const snw_contact *c, const snw_contact_point *p, double N, bool is_static,
                         const snw_work *w, snw_contact_point_work *at) {
    at->elastic_force = N;
    at->in_contact = N > 0;
    at->stiffness = at->depth = 0;
    at->smooth = c->smooth;
    if (!is_static) at->v = relative_velocity(c, p, at, w);
    snw_contact_law_of(c, is_static, at);
}

void snw_contact_motion(const snw_model *m, bool is_static, snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (p->wheel) {
            snw_wheel_motion(m, p, is_static, w, &w->contact_point[k]);
            continue;
        }
        const snw_contact *c = &m->contact[p->contact];
        snw_contact_point_work *at = &w->contact_point[k];
        contact_gap(c, p, is_static, w, at);
        if (c->hard && w->hard_is_given) {
            snw_contact_set_force(m, w, k, w->hard_given + 3 * (ptrdiff_t)k);
            continue;
        }
        if (w->elastic_held && !c->hard && snw_all((p->span == 0) & (p->stiffness > 0))) {
            hold_elastic(c, p, w->elastic_held[k], is_static, w, at);
            continue;
        }
        set_depth(c, p, w, k, at);
        snw_mask touches = (at->stiffness > 0) & !(at->depth <= -0.5 * at->smooth);
        if (!snw_any(touches) || !snw_contact_exists(m, w, k)) continue;
        if (snw_any(p->span > 0) && !c->hard)
            touches = touches & snw_contact_span_is_minimum(p, at);
        if (!snw_any(touches)) continue;
        at->in_contact = touches;
        at->depth = snw_select(touches, at->depth, -at->smooth); // no force
        const bool at_rest = is_static || c->hard;
        if (!at_rest) at->v = relative_velocity(c, p, at, w);
        snw_contact_law(c, at_rest, at);
        if (c->hard && w->hard_holds) add_tangential(w, k, w->hard_given + 3 * (ptrdiff_t)k, at);
    }
}

static snw_wrench wrench(const snw_contact_point_work *at) {
    return (snw_wrench){{.m = snw_cross(at->s, at->f), .f = at->f}};
}

// node <- the segments on which contact point p acts, F <- the wrenches on them, own frames, of the
// force f at the touching point; returns their number
static int point_wrenches(const snw_contact *c, const snw_contact_point *p,
                          const snw_contact_point_work *at, const snw_work *w, snw_vec3 f,
                          int node[SNW_SPAN_NODES], snw_wrench F[SNW_SPAN_NODES]) {
    if (snw_any(p->span > 0)) {
        node[0] = p->from, node[1] = p->seg;
        snw_contact_span_wrenches(c, p, at, w, f, F);
        return SNW_SPAN_NODES;
    }
    node[0] = p->seg;
    F[0] = (snw_wrench){{.m = snw_cross(at->s, f), .f = f}};
    return 1;
}

// F of robots in contact at this point, zero of others
static snw_wrench if_touching(const snw_contact_point_work *at, snw_wrench F) {
    for (int i = 0; i < 6; i++) F.e[i] = snw_select(at->in_contact, F.e[i], 0);
    return F;
}

void snw_contact_add(const snw_model *m, snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        const snw_contact_point_work *at = &w->contact_point[k];
        if (!snw_any(at->in_contact)) continue;
        snw_wrench F[SNW_SPAN_NODES];
        int node[SNW_SPAN_NODES];
        const int n = point_wrenches(c, p, at, w, at->f, node, F);
        for (int i = 0; i < n; i++)
            w->F[node[i]] = snw_wrench_sub(w->F[node[i]], if_touching(at, F[i]));
        if (p->wheel || !c->seg) continue;
        // the opposite wrench acts on the obstacle
        const snw_wrench back = snw_wrench_to_parent(pose_in_obstacle(c, p, w), wrench(at));
        w->F[c->seg] = snw_wrench_add(w->F[c->seg], if_touching(at, back));
    }
}

// ---- derivatives ------------------------------------------------------------

// variation of the touching point with the variation dd of the normal
static snw_vec3 touching_point_variation(const snw_contact_point *p, bool curved, snw_vec3 d,
                                         snw_vec3 dd) {
    if (curved) return snw_scale(-p->radius, dd);
    if (p->sharp) return (snw_vec3){{0}};
    const snw_vec3 Qd = snw_rotate(p->Q, d), Qdd = snw_rotate(p->Q, dd);
    const double r2 = snw_dot(d, Qd) + p->round * p->round, r = sqrt(r2);
    const double dr = snw_dot(d, Qdd) / r, round = p->round;
    const snw_vec3 ds = snw_sub(snw_scale(dr / r2, Qd), snw_scale(1 / r, Qdd));
    return snw_add(
        ds, snw_add(snw_scale(round * (1 - round / r), dd), snw_scale(round * round * dr / r2, d)));
}

// Variation of the wrench with those of the pose (zeta) and velocity (dV), both relative to the
// obstacle; V NULL: statics; given: the force is, along the axes. The normal of a curved obstacle
// varies with the place of the centre, and so does the slope of an interpolated distance, theory.md
// (3.13.11).
static snw_wrench contact_wrench_variation(const snw_contact_point *p, const snw_contact *c,
                                           const snw_contact_point_work *at, bool given,
                                           const snw_twist *V, snw_twist zeta, snw_twist dV) {
    const bool curved = c->obstacle.kind != SNW_OBSTACLE_PLANE;
    const snw_vec3 d = at->d;
    const double m = at->gradient;
    snw_vec3 dd = snw_cross(d, zeta.w);
    double dm = 0;
    if (curved) {
        snw_vec3 dn = snw_rotate(at->H, snw_add(zeta.v, snw_cross(zeta.w, p->centre)));
        if (c->obstacle.grid) { // elsewhere its gradient is a unit vector, and H d is zero
            dm = snw_dot(d, dn);
            dn = snw_scale(1 / m, snw_sub(dn, snw_scale(dm, d)));
        }
        dd = snw_add(dd, dn);
    }
    const snw_vec3 ds = touching_point_variation(p, curved, d, dd);
    // the shift of the touching point is tangential and does not change the gap
    const double dgap = m * snw_dot(d, snw_add(zeta.v, snw_cross(zeta.w, at->s)));
    snw_contact_variation by = {.gap = dgap, .gradient = dm, .d = dd};
    if (V) by.v = snw_add(dV.v, snw_add(snw_cross(dV.w, at->s), snw_cross(V->w, ds)));
    const snw_vec3 none = {{0}}, y = {{0, 1, 0}};
    const snw_vec3 df =
        given ? snw_contact_given_variation(d, snw_contact_direction(at, y), at->f, dd, none)
              : snw_contact_law_variation(c, !V, at, &by);
    return (snw_wrench){{.m = snw_add(snw_cross(ds, at->f), snw_cross(at->s, df)), .f = df}};
}

// A, B <- by pose and velocity of the wrench of a contact point, no wheel and no piece of rod.
static void point_jacobian(const snw_contact *c, const snw_contact_point *p,
                           const snw_contact_point_work *at, const snw_work *w, bool given,
                           double A[36], double B[36]) {
    const snw_twist relative = relative_twist(c, p, at, w);
    const snw_twist *V = w->is_static || c->hard ? NULL : &relative;
    for (int j = 0; j < 6; j++) {
        const snw_twist none = {0};
        snw_twist one = {0};
        one.e[j] = 1;
        // the twist of the obstacle, in the axes of the segment, turns with the segment
        const snw_wrench a = contact_wrench_variation(
            p, c, at, given, V, one, V && c->seg ? snw_ad(one, at->carried) : none);
        const snw_wrench b =
            V ? contact_wrench_variation(p, c, at, given, V, none, one) : (snw_wrench){0};
        for (int i = 0; i < 6; i++) A[6 * i + j] = a.e[i], B[6 * i + j] = b.e[i];
    }
}

// A, B (n) of robots in contact at this point, zero of others
static void clear_apart(const snw_contact_point_work *at, int n, double *A, double *B) {
    for (int i = 0; i < n; i++) {
        A[i] = snw_select(at->in_contact, A[i], 0);
        B[i] = snw_select(at->in_contact, B[i], 0);
    }
}

static bool force_is_given(const snw_contact *c, const snw_work *w) {
    return c->hard && w->hard_is_given;
}

bool snw_contact_point_jacobian(const snw_model *m, const snw_work *w, int k, double A[36],
                                double B[36]) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact_point_work *at = &w->contact_point[k];
    if (!snw_any(at->in_contact)) return false;
    if (p->wheel) {
        snw_wheel_jacobian(m, p, w, A, B);
        return true;
    }
    const snw_contact *c = &m->contact[p->contact];
    point_jacobian(c, p, at, w, force_is_given(c, w), A, B);
    clear_apart(at, 36, A, B);
    return true;
}

// The same of a piece of rod, or of a point: of all its nodes.
static void nodes_jacobian(const snw_contact *c, const snw_contact_point *p,
                           const snw_contact_point_work *at, const snw_work *w, bool given,
                           double *A, double *B) {
    if (snw_any(p->span > 0)) {
        snw_contact_span_jacobian(c, p, at, w, given, A, B);
    } else {
        point_jacobian(c, p, at, w, given, A, B);
    }
}

static inline col wrench_product(const double M[36], col x) {
    double y[6];
    for (int i = 0; i < 6; i++) {
        const double *r = M + 6 * i;
        y[i] = r[0] * x.a + r[1] * x.b + r[2] * x.c + r[3] * x.d + r[4] * x.e + r[5] * x.f;
    }
    return (col){y[0], y[1], y[2], y[3], y[4], y[5]};
}

// Segment in contact or its obstacle: coordinates, columns and velocity.
typedef struct contact_side {
    const snw_path *path;
    const double *J, *dJ, *V;
} contact_side;

static contact_side contact_side_of(const snw_model *m, const snw_work *w, int seg) {
    const snw_path *path = &m->path[m->seg[seg].path];
    const size_t at = path->n > 0 ? (size_t)m->seg_store[seg] : 0;
    return (contact_side){path, w->J + at, w->dJ + at, w->V[seg].e};
}

// T[dof of the side, j] -= J' F
static void pair_scatter(const contact_side *side, col F, snw_column_entries *to) {
    const int ld = side->path->ld;
    for (int i = 0; i < side->path->n; i++) {
        const col x = col_load(side->J, ld, i);
        *snw_column_at(to, side->path->dof[i]) -=
            x.a * F.a + x.b * F.b + x.c * F.c + x.d * F.d + x.e * F.e + x.f * F.f;
    }
}

// y += M x for the block (i, j) of 6 x 6 numbers of M (6n x 6n, row major)
static col block_product(const double *M, int n, int i, int j, col x, col y) {
    double block[36];
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) block[6 * a + b] = M[6 * n * (6 * i + a) + 6 * j + b];
    }
    return col_plus(y, wrench_product(block, x));
}

// theory.md (3.13.7); a piece of rod has two segments on its side (3.13.18)
static void pair_tangent(const snw_model *m, int k, double cq, double cv, const snw_work *w,
                         snw_matrix T) {
    enum { MOST = SNW_SPAN_NODES };
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    const snw_contact_point_work *at = &w->contact_point[k];
    if (!snw_any(at->in_contact)) return;
    double A[36 * MOST * MOST], B[36 * MOST * MOST];
    snw_wrench F[MOST];
    int node[MOST];
    const int n = point_wrenches(c, p, at, w, at->f, node, F);
    for (int i = 0; i < n; i++) F[i] = if_touching(at, F[i]);
    nodes_jacobian(c, p, at, w, force_is_given(c, w), A, B);
    clear_apart(at, 36 * n * n, A, B);
    snw_se3 G[MOST];
    contact_side side[MOST + 1];
    for (int i = 0; i < n; i++) {
        G[i] = snw_se3_mul(snw_se3_inv(w->g[c->seg]), w->g[node[i]]);
        side[i] = contact_side_of(m, w, node[i]);
    }
    side[n] = contact_side_of(m, w, c->seg);
    for (int of = 0; of <= n; of++) {
        const snw_path *path = side[of].path;
        for (int j = 0; j < path->n; j++) {
            // variation of poses and velocities of the segments relative to the obstacle
            const col pose = col_load(side[of].J, path->ld, j);
            col velocity = {0}, x[MOST] = {{0}}, y[MOST] = {{0}};
            if (!w->is_static) {
                velocity = col_plus(col_load(side[of].dJ, path->ld, j), col_ad(side[of].V, pose));
                velocity = col_plus(col_times(cq, velocity), col_times(cv, pose));
            }
            for (int i = 0; i < n; i++) {
                if (of == n) {
                    x[i] = col_times(-cq, col_to_child(&G[i], pose));
                    y[i] = col_times(-1, col_to_child(&G[i], velocity));
                } else if (of == i) {
                    x[i] = col_times(cq, pose), y[i] = velocity;
                }
            }
            snw_column_entries column = snw_matrix_column(T, path->dof[j]);
            col there = {0};
            for (int i = 0; i < n; i++) {
                col here = {0};
                for (int l = 0; l < n; l++) {
                    if (of < n && of != l) continue;
                    here = block_product(A, n, i, l, x[l], here);
                    if (!w->is_static) here = block_product(B, n, i, l, y[l], here);
                }
                pair_scatter(&side[i], here, &column);
                there =
                    col_plus(there, col_to_parent(&G[i], col_minus(here, col_coad(F[i].e, x[i]))));
            }
            pair_scatter(&side[n], col_times(-1, there), &column);
        }
    }
}

// With x the change of the pose of a segment relative to the obstacle and y that of its velocity, F
// changes by A x + B y, and the relative virtual twist eta - X, X = Ad(G)^-1 eta_o, by ad_x X.
static int bars_of(const snw_contact *c, const snw_contact_point *p,
                   const snw_contact_point_work *at, const snw_work *w, bool given,
                   const snw_twist *eta, snw_contact_bars *out) {
    enum { MOST = SNW_SPAN_NODES };
    double A[36 * MOST * MOST], B[36 * MOST * MOST];
    snw_wrench F[MOST];
    *out = (snw_contact_bars){0};
    const int n = point_wrenches(c, p, at, w, at->f, out->seg, F);
    out->seg[n] = c->seg;
    nodes_jacobian(c, p, at, w, given, A, B);
    for (int l = 0; l < n; l++) {
        const snw_se3 G = snw_se3_mul(snw_se3_inv(w->g[c->seg]), w->g[out->seg[l]]);
        const snw_twist X = snw_twist_to_child(G, eta[c->seg]);
        snw_wrench x = {0}, y = {0};
        for (int e = 0; e < 6; e++) {
            snw_twist unit = {0};
            unit.e[e] = 1;
            x.e[e] = -snw_power(F[l], snw_ad(unit, X));
        }
        for (int i = 0; i < n; i++) {
            const snw_se3 to = snw_se3_mul(snw_se3_inv(w->g[c->seg]), w->g[out->seg[i]]);
            const snw_twist u =
                snw_twist_sub(eta[out->seg[i]], snw_twist_to_child(to, eta[c->seg]));
            for (int a = 0; a < 6; a++) {
                for (int b = 0; b < 6; b++) {
                    const int place = 6 * n * (6 * i + a) + 6 * l + b;
                    x.e[b] -= A[place] * u.e[a];
                    if (!w->is_static) y.e[b] -= B[place] * u.e[a];
                }
            }
        }
        out->pose[l] = snw_wrench_add(out->pose[l], x);
        out->V[l] = snw_wrench_add(out->V[l], y);
        out->pose[n] = snw_wrench_sub(out->pose[n], snw_wrench_to_parent(G, x));
        out->V[n] = snw_wrench_sub(out->V[n], snw_wrench_to_parent(G, y));
    }
    return n + 1;
}

int snw_contact_point_bars(const snw_model *m, const snw_work *w, int k, const snw_twist *eta,
                           snw_contact_bars *out) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    const snw_contact_point_work *at = &w->contact_point[k];
    if (!snw_any(at->in_contact) || p->wheel) return 0;
    return bars_of(c, p, at, w, force_is_given(c, w), eta, out);
}

int snw_contact_power_bars(const snw_model *m, const snw_work *w, int k, const double f[3],
                           const snw_twist *eta, snw_contact_bars *out) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    snw_contact_point_work at = w->contact_point[k];
    snw_vec3 axis[3];
    snw_wrench F[SNW_SPAN_NODES];
    int node[SNW_SPAN_NODES];
    snw_contact_axes(w, k, axis);
    at.f = (snw_vec3){{0}};
    for (int i = 0; i < 3; i++) at.f = snw_add(at.f, snw_scale(f[i], axis[i]));
    const int n = bars_of(c, p, &at, w, true, eta, out) - 1; // of -eta'F
    (void)point_wrenches(c, p, &at, w, at.f, node, F);
    out->V[n] = snw_wrench_zero();
    for (int i = 0; i < n; i++) {
        const snw_se3 G = snw_se3_mul(snw_se3_inv(w->g[c->seg]), w->g[node[i]]);
        out->V[i] = F[i];
        out->V[n] = snw_wrench_sub(out->V[n], snw_wrench_to_parent(G, F[i]));
    }
    for (int i = 0; i <= n; i++) out->pose[i] = snw_wrench_scale(-1, out->pose[i]);
    return n + 1;
}

bool snw_contact_is_pair(const snw_model *m, const snw_contact_point *p) {
    return !p->wheel && (snw_any(p->span > 0) || m->contact[p->contact].coupled);
}

void snw_contact_pairs_tangent(const snw_model *m, double cq, double cv, const snw_work *w,
                               snw_matrix T) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (snw_contact_is_pair(m, p)) pair_tangent(m, k, cq, cv, w, T);
    }
}

// ---- energy -----------------------------------------------------------------

double snw_contact_point_energy(const snw_model *m, const snw_work *w, int k) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact_point_work *at = &w->contact_point[k];
    if (snw_all(at->elastic_force == 0)) return 0; // no contact, or a wheel
    if (m->contact[p->contact].hard) return 0;
    const double stored =
        p->stiffness * snw_positive_part_integral(-at->gap, m->contact[p->contact].smooth);
    return snw_select(at->elastic_force == 0, 0, stored);
}

double snw_contact_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ncontact_point; k++) sum += snw_contact_point_energy(m, w, k);
    return sum;
}

double snw_contact_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ncontact_point; k++)
        sum -= w->contact_point[k].elastic_force * w->contact_point[k].rate;
    return sum;
}

double snw_contact_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ncontact_point; k++)
        sum -= snw_dot(w->contact_point[k].f, w->contact_point[k].v);
    return sum - snw_contact_energy_rate(m, w);
}

snw_wrench snw_contact_point_wrench(const snw_work *w, int k) {
    return wrench(&w->contact_point[k]);
}

// ---- hard contacts ----------------------------------------------------------

bool snw_contact_is_hard(const snw_model *m, int k) {
    const snw_contact_point *p = &m->contact_point[k];
    return !p->wheel && m->contact[p->contact].hard;
}

bool snw_contact_exists(const snw_model *m, const snw_work *w, int k) {
    const snw_contact_point *p = &m->contact_point[k];
    return snw_is_active(w, p->condition) && snw_is_active(w, p->body_condition) &&
           snw_seg_is_active(m, w, m->contact[p->contact].seg);
}

void snw_contact_axes(const snw_work *w, int k, snw_vec3 axis[3]) {
    const snw_contact_point_work *at = &w->contact_point[k];
    const snw_vec3 y = {{0, 1, 0}};
    snw_contact_axes_of(at->d, snw_contact_direction(at, y), axis);
}

void snw_contact_velocity(const snw_model *m, const snw_work *w, int k, double u[3]) {
    const snw_contact_point_work *at = &w->contact_point[k];
    const snw_contact_point *p = &m->contact_point[k];
    const snw_vec3 v = relative_velocity(&m->contact[p->contact], p, at, w);
    snw_vec3 axis[3];
    snw_contact_axes(w, k, axis);
    for (int i = 0; i < 3; i++) u[i] = snw_dot(axis[i], v);
}

void snw_contact_displace(const snw_model *m, const snw_se3 *before, snw_work *w) {
    for (int i = 0; i < m->nseg; i++) {
        const snw_mat3 R = w->g[i].R;
        const snw_mat3 turn = snw_mat3_mul(R, snw_mat3_transpose(before[i].R));
        w->V[i].v = snw_rotate_inv(R, snw_sub(w->g[i].p, before[i].p));
        w->V[i].w = snw_rotate_inv(R, snw_so3_log(turn));
    }
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        if (p->wheel || !c->seg || snw_any(p->span > 0)) continue;
        w->contact_point[k].carried = snw_twist_to_child(pose_in_obstacle(c, p, w), w->V[c->seg]);
    }
    w->is_static = false;
}

void snw_add_generalised(const snw_model *m, const snw_work *w, int seg, snw_wrench F,
                         double *column) {
    const snw_path *path = &m->path[m->seg[seg].path];
    const double *J = w->J + m->seg_store[seg];
    for (int j = 0; j < path->n; j++) {
        double sum = 0;
        for (int i = 0; i < 6; i++) sum += J[(size_t)i * (size_t)path->ld + (size_t)j] * F.e[i];
        column[path->dof[j]] += sum;
    }
}

void snw_contact_rows(const snw_model *m, const snw_work *w, int k, double *G) {
    const snw_contact_point_work *at = &w->contact_point[k];
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    snw_vec3 axis[3];
    snw_contact_axes(w, k, axis);
    for (int i = 0; i < 3; i++) {
        double *column = G + (size_t)i * (size_t)m->nv;
        snw_wrench F[SNW_SPAN_NODES];
        int node[SNW_SPAN_NODES];
        const int n = point_wrenches(c, p, at, w, axis[i], node, F);
        for (int j = 0; j < m->nv; j++) column[j] = 0;
        for (int j = 0; j < n; j++) snw_add_generalised(m, w, node[j], F[j], column);
        if (!c->coupled) continue;
        const snw_wrench whole = {{.m = snw_cross(at->s, axis[i]), .f = axis[i]}};
        const snw_wrench opposite = snw_wrench_to_parent(pose_in_obstacle(c, p, w), whole);
        snw_add_generalised(m, w, c->seg, snw_wrench_scale(-1, opposite), column);
    }
}

void snw_contact_set_elastic(const snw_model *m, snw_work *w, int k, double N) {
    snw_contact_point_work *at = &w->contact_point[k];
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    at->v = relative_velocity(c, p, at, w);
    at->elastic_force = N;
    at->in_contact = N > 0;
    snw_contact_law_of(c, false, at);
}

void snw_contact_set_force(const snw_model *m, snw_work *w, int k, const double f[3]) {
    snw_contact_point_work *at = &w->contact_point[k];
    const snw_contact_point *p = &m->contact_point[k];
    at->v = relative_velocity(&m->contact[p->contact], p, at, w);
    at->rate = at->gradient * snw_dot(at->d, at->v);
    snw_vec3 axis[3];
    snw_contact_axes(w, k, axis);
    at->f = (snw_vec3){{0, 0, 0}};
    for (int i = 0; i < 3; i++) at->f = snw_add(at->f, snw_scale(f[i], axis[i]));
    at->elastic_force = f[0];
    at->in_contact = (f[0] != 0) | (f[1] != 0) | (f[2] != 0);
}
