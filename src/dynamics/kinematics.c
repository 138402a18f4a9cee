// SPDX-License-Identifier: MIT
//
// Poses, body twists and accelerations of all segments from the root to the leaves, theory.md
// (3.2), for the residual and the tangent; then motion of fluid points, contact points and tendons.

#include "dynamics/dynamics.h"

#include "dynamics/contact.h"
#include "dynamics/fluid.h"
#include "dynamics/force_element.h"
#include "dynamics/force_field.h"
#include "dynamics/observer.h"
#include "dynamics/plane_motion.h"
#include "dynamics/rod_contact.h"
#include "dynamics/rod_grid.h"
#include "dynamics/sliding_station.h"
#include "dynamics/stop.h"
#include "dynamics/tendon.h"
#include "dynamics/tube.h"
#include "dynamics/tube_slide.h"
#include "dynamics/variable_length.h"

#include <string.h>

// xi += B Phi c at the Magnus points of a slice, c its coordinates
static inline void kinematics_gather(const snw_model *m, const snw_slice *sl, const snw_rod *r,
                                     const double *c, snw_twist *xi) {
    const double *phi = m->phi + sl->phi;
    for (int k = 0; k < r->nc; k++) {
        for (int a = 0; a < r->na; a++) {
            const double *q = c + r->dof[a] + sl->first[a];
            double sum = 0;
            for (int j = 0; j < sl->count[a]; j++) sum += phi[j] * q[j];
            xi[k].e[r->comp[a]] += sum;
            phi += sl->count[a];
        }
    }
}

// the same for coordinates, velocities and accelerations in one pass
static inline void gather_rates(const snw_model *m, const snw_slice *sl, const snw_rod *r,
                                const snw_state *s, snw_slice_work *to) {
    const double *phi = m->phi + sl->phi;
    for (int k = 0; k < r->nc; k++) {
        for (int a = 0; a < r->na; a++) {
            const int at = r->dof[a] + sl->first[a], n = sl->count[a];
            const double *q = s->q + r->shift + at, *v = s->v + at, *acc = s->a + at;
            double x = 0, dx = 0, ddx = 0;
            for (int j = 0; j < n; j++) {
                x += phi[j] * q[j];
                dx += phi[j] * v[j];
                ddx += phi[j] * acc[j];
            }
            to->xi[k].e[r->comp[a]] += x;
            to->dxi[k].e[r->comp[a]] += dx;
            to->ddxi[k].e[r->comp[a]] += ddx;
            phi += n;
        }
    }
}

// theory.md (3.14.1): a variable-length rod advances by strain times l/L, a piece of tubes that
// slide by strain times its length over that of the layout; strains and rates
static void scale_strains_by_length(const snw_slice *sl, const snw_rod *r, const snw_state *s,
                                    bool is_static, const snw_work *w, snw_slice_work *sw) {
    snw_jet f;
    if (sl->piece) {
        f = w->tube_piece[sl->piece - 1].ratio;
    } else if (r->feed >= 0) {
        f = (snw_jet){.v = s->q[r->feed_q] / r->L};
        if (!is_static) f.d = s->v[r->feed] / r->L, f.dd = s->a[r->feed] / r->L;
    } else {
        return;
    }
    for (int k = 0; k < r->nc; k++) {
        for (int c = 0; c < 6; c++) {
            const double x = sw->xi[k].e[c];
            sw->xi[k].e[c] = f.v * x;
            if (is_static) continue;
            const double dx = sw->dxi[k].e[c];
            sw->dxi[k].e[c] = f.v * dx + f.d * x;
            sw->ddxi[k].e[c] = f.v * sw->ddxi[k].e[c] + 2 * f.d * dx + f.dd * x;
        }
    }
}

// xi, dxi, ddxi <- rest strain that moves with the material of a variable-length rod, and rates
static void set_varying_rest_strain(const snw_model *m, const snw_slice *sl, const snw_state *s,
                                    bool is_static, snw_slice_work *sw, snw_rest_varies_work *to) {
    const snw_rod *r = &m->rod[sl->rod];
    for (int k = 0; k < r->nc; k++) {
        snw_twist rest[4];
        snw_variable_length_rest(r, s->q[r->feed_q],
                                 snw_rod_passing(r, sl->x + r->rule.c[k] * sl->h), rest, NULL);
        sw->xi[k] = rest[0];
        for (int j = 0; j < 3; j++) to[k].d[j] = rest[j + 1];
        if (is_static) continue;
        const double v = s->v[r->feed];
        sw->dxi[k] = snw_twist_scale(v, rest[1]);
        sw->ddxi[k] =
            snw_twist_add(snw_twist_scale(s->a[r->feed], rest[1]), snw_twist_scale(v * v, rest[2]));
    }
}

// sw->xi <- strains at the Magnus points of slice i without their rates
static inline void slice_strains_static(const snw_model *m, const snw_inputs *in,
                                        const snw_state *s, int i, snw_work *w,
                                        snw_slice_work *sw) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod *r = &m->rod[sl->rod];
    for (int k = 0; k < r->nc; k++) sw->xi[k] = m->xi0[i * SNW_MAGNUS_POINTS + k];
    if (r->rest_varies)
        set_varying_rest_strain(m, sl, s, true, sw, w->rest_varies + (size_t)i * SNW_MAGNUS_POINTS);
    for (int k = 0; m->nfield > 0 && sl->field >= 0 && k < r->nc; k++) {
        sw->xi[k] = snw_twist_add(sw->xi[k], in->xi[sl->field + k]);
    }
    kinematics_gather(m, sl, r, s->q + r->shift, sw->xi);
    scale_strains_by_length(sl, r, s, true, w, sw);
}

// the same; returns W of its map
static inline snw_twist slice_vector(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                     int i, snw_work *w, snw_slice_work *sw) {
    const snw_slice *sl = &m->slice[i];
    slice_strains_static(m, in, s, i, w, sw);
    return snw_rule_value(&m->rod[sl->rod].rule, sl->h, sw->xi);
}

// strains at the Magnus points of slice i and their rates
static inline void slice_strains(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                 int i, snw_work *w, snw_slice_work *sw) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod *r = &m->rod[sl->rod];
    for (int k = 0; k < r->nc; k++) sw->xi[k] = m->xi0[i * SNW_MAGNUS_POINTS + k];
    if (r->rest_varies)
        set_varying_rest_strain(m, sl, s, false, sw,
                                w->rest_varies + (size_t)i * SNW_MAGNUS_POINTS);
    const bool given = m->nfield > 0 && sl->field >= 0;
    for (int k = 0; given && k < r->nc; k++) {
        sw->xi[k] = snw_twist_add(sw->xi[k], in->xi[sl->field + k]);
    }
    for (int k = 0; !r->rest_varies && k < r->nc; k++) {
        sw->dxi[k] = given ? in->dxi[sl->field + k] : (snw_twist){0};
        sw->ddxi[k] = given ? in->ddxi[sl->field + k] : (snw_twist){0};
    }
    gather_rates(m, sl, r, s, sw);
    scale_strains_by_length(sl, r, s, false, w, sw);
}

// shapes of the rods on one grid
static void kinematics_grids(const snw_model *m, const snw_inputs *in, const snw_state *s,
                             bool is_static, snw_work *w) {
    for (int k = 0; k < m->ngrid; k++) {
        for (int j = 0; j < m->grid[k].n; j++) {
            const int i = m->grid[k].slice[j];
            (is_static ? slice_strains_static : slice_strains)(m, in, s, i, w, &w->slice[i]);
        }
    }
    snw_rod_grids_motion(m, is_static, w);
}

static inline void slice_motion(const snw_model *m, const snw_inputs *in, const snw_state *s, int i,
                                bool is_static, snw_work *w, snw_slice_work *sw, snw_se3 *h,
                                snw_twist *u, snw_twist *du) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod *r = &m->rod[sl->rod];
    if (snw_all(sl->h == 0)) { // slice of no length, kept in reserve (theory.md 3.16)
        memset(sw, 0, sizeof *sw);
        sw->T = snw_se3_tangent(sw->W);
        *h = snw_se3_identity();
        *u = *du = (snw_twist){0};
        return;
    }
    if (r->grid) {
        snw_rod_grid_node(m, i, is_static, w, h, u, du);
        return;
    }
    if (is_static) {
        sw->W = slice_vector(m, in, s, i, w, sw);
        sw->T = snw_se3_tangent(sw->W);
        *h = snw_se3_exp(sw->W);
        *u = *du = (snw_twist){0};
        return;
    }
    slice_strains(m, in, s, i, w, sw);
    snw_rule_rates(&r->rule, sl->h, sw->xi, sw->dxi, sw->ddxi, &sw->W, &sw->dW, &sw->ddW);
    *h = snw_se3_exp(sw->W);
    snw_se3_exp_rates(sw->W, sw->dW, sw->ddW, &sw->T, u, du);
}

static inline snw_se3 given_pose(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                 int pose) {
    const int captured = m->pose[pose].captured;
    return captured > 0 ? snw_se3_from_signals(s->z + captured - 1) : in->pose[pose];
}

static inline snw_se3 ball_pose(const snw_block *b, const snw_state *s) {
    if (b->space == SNW_SPACE_SE3) return snw_se3_from_numbers(s->q + b->q);
    return (snw_se3){snw_so3_from_numbers(s->q + b->q), {{0, 0, 0}}};
}

// h, u, du <- motion of segment i, not the world, relative to its parent; sw <- its slice of a rod
static inline void relative_motion(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                   bool is_static, int i, snw_work *w, snw_slice_work *sw,
                                   snw_se3 *h, snw_twist *u, snw_twist *du) {
    const snw_seg *seg = &m->seg[i];
    switch (seg->kind) {
    case SNW_SEG_WORLD:
        break;
    case SNW_SEG_POSE:
        *h = given_pose(m, in, s, seg->item);
        *u = is_static ? (snw_twist){0} : in->pose_u[seg->item];
        *du = is_static ? (snw_twist){0} : in->pose_du[seg->item];
        break;
    case SNW_SEG_SCREW: {
        const snw_block *b = &m->block[seg->item];
        *h = snw_se3_exp(snw_twist_scale(s->q[b->q], b->S));
        *u = snw_twist_scale(is_static ? 0 : s->v[b->dof], b->S);
        *du = snw_twist_scale(is_static ? 0 : s->a[b->dof], b->S);
        break;
    }
    case SNW_SEG_BALL:
    case SNW_SEG_FREE: {
        const snw_block *b = &m->block[seg->item];
        *h = ball_pose(b, s);
        *u = *du = (snw_twist){0};
        for (int k = 0; !is_static && k < b->n; k++) {
            u->e[k] = s->v[b->dof + k];
            du->e[k] = s->a[b->dof + k];
        }
        break;
    }
    case SNW_SEG_ROD:
        slice_motion(m, in, s, seg->item, is_static, w, sw, h, u, du);
        break;
    }
}

// Twist and rate of a segment whose motion relative to its parent is h, u, du, theory.md (3.2):
// V = A V_p + u,  V' = A V'_p - ad_u A V_p + u'
static inline void carry_motion(const snw_se3 *h, snw_twist u, snw_twist du, bool is_static,
                                snw_twist parent_V, snw_twist parent_A, snw_twist *V,
                                snw_twist *A) {
    *A = snw_twist_to_child(*h, parent_A);
    if (is_static) {
        *V = (snw_twist){0};
        return;
    }
    const snw_twist carried = snw_twist_to_child(*h, parent_V);
    *V = snw_twist_add(carried, u);
    *A = snw_twist_add(snw_twist_sub(*A, snw_ad(u, carried)), du);
}

// twist of the world and its rate: gravity as an upward acceleration
static inline void world_motion(const snw_inputs *in, snw_twist *V, snw_twist *A) {
    *V = (snw_twist){0};
    *A = (snw_twist){{.v = snw_scale(-1, in->gravity)}};
}

static void segment_motion(const snw_model *m, const snw_inputs *in, const snw_state *s,
                           bool is_static, int i, snw_work *w) {
    const snw_seg *seg = &m->seg[i];
    if (seg->kind == SNW_SEG_WORLD) {
        w->h[i] = w->g[i] = snw_se3_identity();
        w->u[i] = w->du[i] = (snw_twist){0};
        world_motion(in, &w->V[i], &w->A[i]);
        return;
    }
    snw_slice_work *sw = NULL;
    if (seg->kind == SNW_SEG_ROD) {
        const snw_slice *sl = &m->slice[seg->item];
        sw = &w->slice[seg->item];
        if (snw_rod_in_plane(&m->rod[sl->rod]) && snw_any(sl->h != 0)) {
            (is_static ? slice_strains_static : slice_strains)(m, in, s, seg->item, w, sw);
            snw_plane_motion(m, i, is_static, w);
            return;
        }
    }
    relative_motion(m, in, s, is_static, i, w, sw, &w->h[i], &w->u[i], &w->du[i]);
    const int p = seg->parent;
    w->g[i] = snw_se3_mul(w->g[p], w->h[i]);
    carry_motion(&w->h[i], w->u[i], w->du[i], is_static, w->V[p], w->A[p], &w->V[i], &w->A[i]);
}

void snw_kinematics(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                    snw_work *w) {
    w->is_static = is_static;
    for (int k = 0; k < m->ncondition; k++) w->active[k] = snw_whole(s->z[m->condition_signal[k]]);
    for (int k = 0; k < m->nnonholonomic; k++) w->dropped[k] = snw_whole(s->dropped[k]);
    if (m->ntube_piece) snw_tube_pieces_motion(m, in, is_static, w);
    if (m->ngrid) kinematics_grids(m, in, s, is_static, w);
    for (int i = 0; i < m->nseg; i++) segment_motion(m, in, s, is_static, i, w);
    if (m->ntube_node) snw_tube_nodes_motion(m, s, is_static, w);
    if (m->nfeed) snw_variable_length_motion(m, s, is_static, w);
    if (m->nsliding_station) snw_sliding_stations_motion(m, in, is_static, w);
    if (m->nfluid_point) snw_fluid_motion(m, in, is_static, w);
    if (m->ncontact_point) snw_contact_motion(m, is_static, w);
    if (m->ntouching_rod) snw_rod_contacts_motion(m, is_static, w);
    if (m->nstop) snw_stops_motion(m, in, s, is_static, w);
    if (m->nforce_element) snw_force_elements_motion(m, in, is_static, w);
    if (m->nforce_field_point) snw_force_fields_motion(m, in, w);
    if (m->ntube) snw_tubes_motion(m, in, s, is_static, w);
    if (m->ntendon) snw_tendons_motion(m, in, s, is_static, w);
}

// pose of segment i in its parent
static snw_se3 relative_pose(const snw_model *m, const snw_inputs *in, const snw_state *s, int i,
                             snw_work *w) {
    const snw_seg *seg = &m->seg[i];
    switch (seg->kind) {
    case SNW_SEG_WORLD:
        break;
    case SNW_SEG_POSE:
        return given_pose(m, in, s, seg->item);
    case SNW_SEG_SCREW:
        return snw_se3_exp(snw_twist_scale(s->q[m->block[seg->item].q], m->block[seg->item].S));
    case SNW_SEG_BALL:
    case SNW_SEG_FREE:
        return ball_pose(&m->block[seg->item], s);
    case SNW_SEG_ROD:
        if (snw_all(m->slice[seg->item].h == 0)) break;
        if (m->rod[m->slice[seg->item].rod].grid) {
            snw_se3 h;
            snw_twist u, du;
            snw_rod_grid_node(m, seg->item, true, w, &h, &u, &du);
            return h;
        }
        return snw_se3_exp(slice_vector(m, in, s, seg->item, w, &w->slice[seg->item]));
    }
    return snw_se3_identity();
}

snw_se3 snw_pose_along_path(const snw_model *m, const snw_inputs *in, const snw_state *s, int seg,
                            snw_work *w) {
    enum { MOST = 4096 }; // deeper trees: all segments before it
    bool on_path[MOST];
    const bool select = seg < MOST;
    if (m->ntube_piece) snw_tube_pieces_motion(m, in, true, w);
    if (m->ngrid) kinematics_grids(m, in, s, true, w);
    if (select) memset(on_path, 0, (size_t)(seg + 1) * sizeof *on_path);
    for (int i = seg; select && i > 0; i = m->seg[i].parent) on_path[i] = true;
    w->g[0] = snw_se3_identity();
    for (int i = 1; i <= seg; i++) {
        if (select && !on_path[i]) continue;
        w->g[i] = snw_se3_mul(w->g[m->seg[i].parent], relative_pose(m, in, s, i, w));
    }
    return w->g[seg];
}

void snw_observe(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                 snw_work *w) {
    for (int i = m->nseg; i < m->nseg + m->nobs; i++) segment_motion(m, in, s, is_static, i, w);
}

void snw_observe_read(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w) {
    for (int i = 0; i < m->nread; i++) segment_motion(m, in, s, is_static, m->read[i], w);
}
