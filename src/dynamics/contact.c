// SPDX-License-Identifier: MIT
//
// Penalty contact of points and convex shapes with a half-space, and of spheres with other
// obstacles, which may move: gap, normal force, regularised Coulomb friction, their derivatives and
// energy, theory.md (3.13.1) to (3.13.3) and (3.13.5) to (3.13.7).

#include "dynamics/contact.h"

#include "dynamics/jacobian_column.h"
#include "dynamics/rod_contact.h"
#include "dynamics/wheel.h"
#include "math/positive_part.h"

#include <math.h>

// ---- forces -----------------------------------------------------------------

// mu u in the axes of the segment; e is the component of the rod's axis along the surface
static snw_vec3 friction_product(const snw_contact *c, snw_vec3 d, snw_vec3 u) {
    const snw_vec3 e = {{1 - d.x * d.x, -d.x * d.y, -d.x * d.z}};
    return snw_add(snw_scale(c->across, u), snw_scale((c->along - c->across) * snw_dot(e, u), e));
}

static double regularised_slip(const snw_contact *c, snw_vec3 u) {
    return sqrt(snw_dot(u, u) + c->creep * c->creep);
}

// force at a point in contact; V NULL: statics
static void contact_force(const snw_contact *c, double stiffness, const snw_twist *V,
                          snw_contact_point_work *at) {
    at->elastic_force = stiffness * snw_positive_part(-at->gap, c->smooth);
    at->f = snw_scale(at->elastic_force * at->slope, at->d);
    if (!V) return;
    at->v = snw_add(V->v, snw_cross(V->w, at->s));
    const double approach = snw_dot(at->d, at->v);
    at->rate = at->slope * approach;
    const double N = at->elastic_force * at->slope *
                     snw_positive_part(1 - c->damping * at->rate, SNW_HUNT_CROSSLEY_WIDTH);
    const snw_vec3 u = snw_sub(at->v, snw_scale(approach, at->d));
    at->f = snw_sub(snw_scale(N, at->d),
                    snw_scale(N / regularised_slip(c, u), friction_product(c, at->d, u)));
}

// Gap, normal and touching point against a half-space with normal n through the point a.
static void plane_gap(const snw_contact_point *p, const snw_se3 *g, snw_vec3 n, snw_vec3 a,
                      snw_contact_point_work *at) {
    const snw_vec3 d = snw_rotate_inv(g->R, n);
    at->d = d;
    at->slope = 1;
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
    at->slope = 1;
    if (c->obstacle.grid) { // interpolated
        at->slope = snw_norm(n);
        n = snw_scale(1 / at->slope, n);
    }
    at->d = snw_rotate_inv(G->R, n);
    at->s = snw_sub(at->s, snw_scale(p->radius, at->d));
    if (at->gap < 0.5 * c->smooth)
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
    *at = (snw_contact_point_work){.s = p->centre};
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
        if (c->hard) continue; // its forces are impulses of the time step
        if (at->gap >= 0.5 * c->smooth || !snw_is_active(w, p->condition) ||
            !snw_is_active(w, p->body_condition) || !snw_seg_is_active(m, w, c->seg))
            continue;
        const snw_twist V = is_static ? snw_twist_zero() : relative_twist(c, p, at, w);
        at->in_contact = true;
        contact_force(c, p->stiffness, is_static ? NULL : &V, at);
    }
}

static snw_wrench wrench(const snw_contact_point_work *at) {
    return (snw_wrench){{.m = snw_cross(at->s, at->f), .f = at->f}};
}

void snw_contact_add(const snw_model *m, snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        if (!w->contact_point[k].in_contact) continue;
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        const snw_wrench F = wrench(&w->contact_point[k]);
        w->F[p->seg] = snw_wrench_sub(w->F[p->seg], F);
        if (p->wheel || !c->seg) continue;
        // the opposite wrench acts on the obstacle
        w->F[c->seg] =
            snw_wrench_add(w->F[c->seg], snw_wrench_to_parent(pose_in_obstacle(c, p, w), F));
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

// variation of friction_product
static snw_vec3 friction_product_d1(const snw_contact *c, snw_vec3 d, snw_vec3 u, snw_vec3 dd,
                                    snw_vec3 du) {
    const snw_vec3 e = {{1 - d.x * d.x, -d.x * d.y, -d.x * d.z}};
    const snw_vec3 de = {{-2 * d.x * dd.x, -dd.x * d.y - d.x * dd.y, -dd.x * d.z - d.x * dd.z}};
    const double more = c->along - c->across;
    const snw_vec3 part =
        snw_add(snw_scale(snw_dot(e, u), de), snw_scale(snw_dot(de, u) + snw_dot(e, du), e));
    return snw_add(snw_scale(c->across, du), snw_scale(more, part));
}

// Variation of the wrench with those of the pose (zeta) and velocity (dV), both relative to the
// obstacle; V NULL: statics. The normal of a curved obstacle varies with the place of the centre,
// and so does the slope of an interpolated distance, theory.md (3.13.11).
static snw_wrench contact_wrench_variation(const snw_contact_point *p, const snw_contact *c,
                                           const snw_contact_point_work *at, const snw_twist *V,
                                           snw_twist zeta, snw_twist dV) {
    const bool curved = c->obstacle.kind != SNW_OBSTACLE_PLANE;
    const snw_vec3 d = at->d;
    const double m = at->slope;
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
    const double along = m * at->elastic_force;
    const double dalong = -m * p->stiffness * snw_positive_part_d1(-at->gap, c->smooth) * dgap +
                          dm * at->elastic_force;
    snw_vec3 df = snw_add(snw_scale(dalong, d), snw_scale(along, dd));
    if (V) {
        const snw_vec3 dv = snw_add(dV.v, snw_add(snw_cross(dV.w, at->s), snw_cross(V->w, ds)));
        const double approach = snw_dot(d, at->v), dapproach = snw_dot(dd, at->v) + snw_dot(d, dv),
                     drate = m * dapproach + dm * approach;
        const double z = 1 - c->damping * at->rate,
                     factor = snw_positive_part(z, SNW_HUNT_CROSSLEY_WIDTH);
        const double N = along * factor;
        const double dN = dalong * factor - along *
                                                snw_positive_part_d1(z, SNW_HUNT_CROSSLEY_WIDTH) *
                                                c->damping * drate;
        const snw_vec3 u = snw_sub(at->v, snw_scale(approach, d));
        const snw_vec3 du = snw_sub(dv, snw_add(snw_scale(dapproach, d), snw_scale(approach, dd)));
        const double size = regularised_slip(c, u), dsize = snw_dot(u, du) / size;
        const snw_vec3 T = friction_product(c, d, u), dT = friction_product_d1(c, d, u, dd, du);
        df = snw_add(snw_scale(dN, d), snw_scale(N, dd));
        df = snw_sub(df, snw_scale((dN - N * dsize / size) / size, T));
        df = snw_sub(df, snw_scale(N / size, dT));
    }
    return (snw_wrench){{.m = snw_add(snw_cross(ds, at->f), snw_cross(at->s, df)), .f = df}};
}

bool snw_contact_point_jacobian(const snw_model *m, const snw_work *w, int k, double A[36],
                                double B[36]) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact_point_work *at = &w->contact_point[k];
    if (!at->in_contact) return false;
    if (p->wheel) {
        snw_wheel_jacobian(m, p, w, A, B);
        return true;
    }
    const snw_contact *c = &m->contact[p->contact];
    const snw_twist relative = relative_twist(c, p, at, w), *V = w->is_static ? NULL : &relative;
    for (int j = 0; j < 6; j++) {
        const snw_twist none = {0};
        snw_twist one = {0};
        one.e[j] = 1;
        // the twist of the obstacle, in the axes of the segment, turns with the segment
        const snw_wrench a = contact_wrench_variation(
            p, c, at, V, one, V && c->seg ? snw_ad(one, at->carried) : none);
        const snw_wrench b = V ? contact_wrench_variation(p, c, at, V, none, one) : (snw_wrench){0};
        for (int i = 0; i < 6; i++) A[6 * i + j] = a.e[i], B[6 * i + j] = b.e[i];
    }
    return true;
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
static void pair_scatter(const contact_side *side, col F, double *T) {
    const int ld = side->path->ld;
    for (int i = 0; i < side->path->n; i++) {
        const col x = col_load(side->J, ld, i);
        T[side->path->dof[i]] -=
            x.a * F.a + x.b * F.b + x.c * F.c + x.d * F.d + x.e * F.e + x.f * F.f;
    }
}

// theory.md (3.13.7)
static void pair_tangent(const snw_model *m, int k, double cq, double cv, const snw_work *w,
                         size_t ld, double *T) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    const snw_se3 G = pose_in_obstacle(c, p, w);
    const snw_wrench F = wrench(&w->contact_point[k]);
    const contact_side side[2] = {contact_side_of(m, w, p->seg), contact_side_of(m, w, c->seg)};
    double A[36], B[36];
    if (!snw_contact_point_jacobian(m, w, k, A, B)) return;
    for (int of = 0; of < 2; of++) {
        const snw_path *path = side[of].path;
        for (int j = 0; j < path->n; j++) {
            // variation of pose and velocity of the segment relative to the obstacle
            col x = col_load(side[of].J, path->ld, j), y = {0};
            if (!w->is_static) {
                y = col_plus(col_load(side[of].dJ, path->ld, j), col_ad(side[of].V, x));
                y = col_plus(col_times(cq, y), col_times(cv, x));
            }
            x = col_times(cq, x);
            if (of) x = col_times(-1, col_to_child(&G, x)), y = col_times(-1, col_to_child(&G, y));
            const col here = col_plus(wrench_product(A, x), wrench_product(B, y));
            double *column = T + (size_t)path->dof[j] * ld;
            pair_scatter(&side[0], here, column);
            const col there = col_to_parent(&G, col_minus(here, col_coad(F.e, x)));
            pair_scatter(&side[1], col_times(-1, there), column);
        }
    }
}

void snw_contact_pairs_tangent(const snw_model *m, double cq, double cv, const snw_work *w,
                               size_t ld, double *T) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (!p->wheel && m->contact[p->contact].coupled) pair_tangent(m, k, cq, cv, w, ld, T);
    }
}

// ---- energy -----------------------------------------------------------------

double snw_contact_point_energy(const snw_model *m, const snw_work *w, int k) {
    const snw_contact_point *p = &m->contact_point[k];
    if (w->contact_point[k].elastic_force == 0) return 0; // no contact, or a wheel
    if (m->contact[p->contact].hard) return 0;
    return p->stiffness *
           snw_positive_part_integral(-w->contact_point[k].gap, m->contact[p->contact].smooth);
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

snw_wrench snw_contact_wrench(const snw_model *m, const snw_work *w, int contact) {
    snw_wrench sum = {0};
    if (m->contact[contact].line > 0) return snw_rod_contact_wrench(m, w, contact);
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        if (c->of != contact || p->wheel || !w->contact_point[k].in_contact) continue;
        const snw_wrench F = snw_wrench_to_parent(w->g[p->seg], wrench(&w->contact_point[k]));
        sum = c->reversed ? snw_wrench_sub(sum, F) : snw_wrench_add(sum, F);
    }
    return sum;
}

snw_wrench snw_contact_point_wrench(const snw_work *w, int k) {
    return wrench(&w->contact_point[k]);
}

snw_contact_summary snw_contact_summarise(const snw_model *m, const snw_work *w, int contact) {
    snw_contact_summary c = {.gap = NAN, .nearest = -1};
    snw_vec3 sum = {{0}};
    if (m->contact[contact].line > 0) return snw_rod_contact_summarise(m, w, contact);
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact_point_work *at = &w->contact_point[k];
        if (m->contact[p->contact].of != contact || p->wheel) continue;
        const snw_vec3 place = snw_se3_point(w->g[p->seg], at->s);
        if (!(at->gap >= c.gap)) {
            c.gap = at->gap;
            c.nearest = k;
            c.place = place;
        }
        if (!at->in_contact) continue;
        c.touching++;
        c.force += at->elastic_force;
        c.energy += snw_contact_point_energy(m, w, k);
        const double approach = snw_dot(at->d, at->v);
        c.slip = fmax(c.slip, snw_norm(snw_sub(at->v, snw_scale(approach, at->d))));
        sum = snw_add(sum, snw_scale(at->elastic_force, place));
    }
    if (c.force > 0) c.place = snw_scale(1 / c.force, sum);
    return c;
}

// ---- steps ------------------------------------------------------------------

// Velocity and acceleration in the world of the material at the point x of segment i.
static void material_motion(const snw_work *w, int i, snw_vec3 x, snw_vec3 *v, snw_vec3 *a) {
    const snw_twist V = w->V[i], A = w->A[i];
    const snw_vec3 u = snw_add(V.v, snw_cross(V.w, x));
    *v = snw_rotate(w->g[i].R, u);
    *a = snw_rotate(w->g[i].R, snw_add(snw_add(A.v, snw_cross(A.w, x)), snw_cross(V.w, u)));
}

bool snw_contact_has_curved(const snw_model *m) {
    for (int i = 0; i < m->ncontact; i++) {
        if (m->contact[i].seg && m->contact[i].obstacle.kind != SNW_OBSTACLE_PLANE) return true;
    }
    return m->ntouching_rod > 0;
}

// Can a contact point come out on another side of its obstacle? *middle <- its depth there.
static bool can_pass(const snw_contact *c, const snw_contact_point *p, double *middle) {
    if (p->wheel || !c->seg || c->obstacle.kind == SNW_OBSTACLE_PLANE || c->obstacle.inside)
        return false;
    *middle = p->radius + snw_obstacle_table[c->obstacle.kind].depth(&c->obstacle);
    return !isinf(*middle);
}

double snw_contact_step_limit(const snw_model *m, const snw_work *w, double longest) {
    static const double FRACTION = 0.7, LEAST = 0.07;
    double h = m->ntouching_rod ? snw_rod_contacts_step_limit(m, w, longest) : longest, middle;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        if (!can_pass(c, p, &middle)) continue;
        const snw_vec3 place = snw_se3_point(w->g[p->seg], p->centre);
        const snw_vec3 there = snw_rotate_inv(w->g[c->seg].R, snw_sub(place, w->g[c->seg].p));
        snw_vec3 v[2], a[2]; // gravity cancels in the difference of accelerations less gravity
        material_motion(w, p->seg, p->centre, &v[0], &a[0]);
        material_motion(w, c->seg, there, &v[1], &a[1]);
        const double speed = snw_norm(snw_sub(v[0], v[1])), rate = snw_norm(snw_sub(a[0], a[1]));
        const double way = fmax(FRACTION * (w->contact_point[k].gap + middle), LEAST * middle);
        // positive root of speed h + rate h^2/2 = way
        const double root = speed + sqrt(speed * speed + 2 * rate * way);
        if (root > 0) h = fmin(h, 2 * way / root);
    }
    return h;
}

int snw_contact_too_deep(const snw_model *m, const snw_work *w) {
    static const double FRACTION = 0.9;
    double middle;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (!w->contact_point[k].in_contact || !can_pass(&m->contact[p->contact], p, &middle))
            continue;
        if (-w->contact_point[k].gap > FRACTION * middle) return k;
    }
    return -1;
}

// Centre of contact point k in the axes of its obstacle; false: against a half-space or from inside
static bool contact_place(const snw_model *m, const snw_work *w, int k, snw_vec3 *out) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    double middle;
    if (!can_pass(c, p, &middle)) return false;
    *out = snw_se3_point(pose_in_obstacle(c, p, w), p->centre);
    return true;
}

void snw_contact_places(const snw_model *m, const snw_work *w, snw_vec3 *out) {
    for (int k = 0; k < m->ncontact_point; k++) {
        if (!contact_place(m, w, k, &out[k])) out[k] = (snw_vec3){{0}};
    }
    for (int i = 0; i < 2 * m->ntouching_slice; i++)
        out[m->ncontact_point + i] = w->g[m->touching_slice[i / 2].seg[i % 2]].p;
}

int snw_contact_passed(const snw_model *m, const snw_work *w, const snw_vec3 *before) {
    enum { SAMPLES = 32 };
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_obstacle *o = &m->contact[p->contact].obstacle;
        snw_vec3 now, n;
        snw_mat3 H;
        if (!contact_place(m, w, k, &now)) continue;
        const double thickness = p->radius + snw_obstacle_table[o->kind].depth(o);
        const snw_vec3 way = snw_sub(now, before[k]);
        // distances change no faster than places, so a shorter way cannot fulfil the test below
        if (snw_dot(way, way) < 0.25 * thickness * thickness) continue;
        double least = INFINITY, ends = INFINITY;
        for (int i = 0; i <= SAMPLES; i++) {
            const double s = (double)i / SAMPLES;
            const snw_vec3 y = snw_add(snw_scale(1 - s, before[k]), snw_scale(s, now));
            const double gap = snw_obstacle_distance(o, y, &n, &H) - p->radius;
            least = fmin(least, gap);
            if (i == 0 || i == SAMPLES) ends = fmin(ends, gap);
        }
        if (least < -0.5 * thickness && ends > -0.25 * thickness) return k;
    }
    return -1;
}

// ---- hard contacts ----------------------------------------------------------

void snw_contact_axes(const snw_work *w, int k, snw_vec3 axis[3]) {
    const snw_vec3 d = w->contact_point[k].d;
    // the axis of a rod, or, where that is nearly normal to the surface, another one
    const snw_vec3 x = {{1, 0, 0}}, y = {{0, 1, 0}}, e = fabs(d.x) < 0.99 ? x : y;
    const snw_vec3 t = snw_sub(e, snw_scale(snw_dot(d, e), d));
    axis[0] = d;
    axis[1] = snw_scale(1 / snw_norm(t), t);
    axis[2] = snw_cross(d, axis[1]);
}

void snw_contact_velocity(const snw_model *m, const snw_work *w, int k, double u[3]) {
    const snw_contact_point_work *at = &w->contact_point[k];
    const snw_contact_point *p = &m->contact_point[k];
    const snw_twist V = relative_twist(&m->contact[p->contact], p, at, w);
    const snw_vec3 v = snw_add(V.v, snw_cross(V.w, at->s));
    snw_vec3 axis[3];
    snw_contact_axes(w, k, axis);
    for (int i = 0; i < 3; i++) u[i] = snw_dot(axis[i], v);
}

// column (nv) += J' F of a segment
static void add_generalised(const snw_model *m, const snw_work *w, int seg, snw_wrench F,
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
        const snw_wrench F = {{.m = snw_cross(at->s, axis[i]), .f = axis[i]}};
        for (int j = 0; j < m->nv; j++) column[j] = 0;
        add_generalised(m, w, p->seg, F, column);
        if (!c->coupled) continue;
        const snw_wrench opposite = snw_wrench_to_parent(pose_in_obstacle(c, p, w), F);
        add_generalised(m, w, c->seg, snw_wrench_scale(-1, opposite), column);
    }
}

void snw_contact_set_force(const snw_model *m, snw_work *w, int k, const double f[3]) {
    snw_contact_point_work *at = &w->contact_point[k];
    const snw_contact_point *p = &m->contact_point[k];
    const snw_twist V = relative_twist(&m->contact[p->contact], p, at, w);
    at->v = snw_add(V.v, snw_cross(V.w, at->s));
    at->rate = at->slope * snw_dot(at->d, at->v);
    snw_vec3 axis[3];
    snw_contact_axes(w, k, axis);
    at->f = (snw_vec3){{0, 0, 0}};
    for (int i = 0; i < 3; i++) at->f = snw_add(at->f, snw_scale(f[i], axis[i]));
    at->elastic_force = f[0];
    at->in_contact = f[0] > 0;
}
