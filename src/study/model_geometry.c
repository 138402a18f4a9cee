// SPDX-License-Identifier: MIT
//
// Derivatives of mu'r and of probes by geometric numbers, theory.md (7.5.16). A segment moves in
// its parent by h with velocity u, u' and, when the rates are mu, s. Where its pose changes by h
// zeta, those change by zeta' + ad_u zeta and so on; bars of eta, V, A and of the pose are carried
// from the leaves to the root, and that of eta is the wrench F of the residual.
#include "study/model_geometry.h"

#include "base/alloc.h"
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/feedback.h"
#include "dynamics/fluid.h"
#include "dynamics/force_element.h"
#include "dynamics/tendon_point.h"
#include "study/model_outputs.h"
#include "study/probe.h"
#include "study/probe_row.h"

#include <string.h>

// Numbers of a pose, an axis, a rest strain, a tendon, a point of it.
enum { POSE = 12, AXIS = 6, REST = 6, TENDON = 1 };
enum { WEIGHT, AT_Y, AT_Z, SLOPE_Y, SLOPE_Z, AREA, XI0, POINT = XI0 + 6 };
enum { LD = SNW_MAGNUS_LD };

// Bars of a segment: of its velocity, acceleration and pose.
typedef struct segment_bar {
    snw_wrench V, A, g;
} segment_bar;

struct snw_model_geometry {
    const snw_model *m;
    segment_bar *bar;  // nseg + nobs
    segment_bar *more; // likewise, added in the next sweep; zero afterwards
    snw_twist *eta;    // nseg: virtual twists, zero between calls
    bool shapes;       // are those needed?
    size_t *slice;     // nslice: first number of each
    bool motions;      // poses that move and given strains, too
    // (npose + nfield) x 3: derivatives by zeta, u, u' of poses that move; by given strains, their
    // rates and accelerations
    snw_wrench *given;
};

// ---- numbers ------------------------------------------------------------------------------------

// Signals of probes that forces and integrals read: functions of segments and coordinates?
static bool reads_segments(const snw_model *m) {
    for (int k = 0; k < m->nlive; k++) {
        const snw_signal *s = &m->signal[m->live[k]];
        if (s->kind != SNW_SIGNAL_PROBE || s->station >= 0 || s->block >= 0) continue;
        return false;
    }
    return snw_model_laws_read_signals(m);
}

bool snw_geometry_is_gathered(const snw_model *m) {
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].area || m->tendon[i].row >= 0) return false;
    }
    if (m->ntendon_corner > 0) return false; // friction by the angle between two links
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *l = &m->loop[i];
        if (l->nonholonomic || l->sliding_station || l->through || l->ncoupled > 0) return false;
    }
    for (int k = 0; k < m->ncontact_point; k++) {
        if (m->contact_point[k].wheel) return false;
    }
    return reads_segments(m) && m->ncondition == 0 && m->nforce_field == 0 &&
           m->ntouching_rod == 0 && m->ntendon_segment == 0 && !m->flowing && m->nfeed == 0;
}

bool snw_pose_is_constant(const snw_pose_desc *pose) {
    if (pose->captured > 0) return false;
    for (int k = 0; k < 3; k++) {
        if (pose->xyz[k] && snw_expr_vars(pose->xyz[k]) != 0) return false;
    }
    for (int k = 0; k < pose->nturn; k++) {
        if (snw_expr_vars(pose->turn[k].angle) != 0) return false;
    }
    return true;
}

static snw_se3 constant_pose(const snw_pose_desc *pose) {
    const snw_at at = {0};
    snw_se3 h = {.R = pose->R0};
    for (int k = 0; k < 3; k++) h.p.e[k] = pose->xyz[k] ? snw_expr_value(pose->xyz[k], at) : 0;
    for (int k = 0; k < pose->nturn; k++) {
        const double angle = snw_expr_value(pose->turn[k].angle, at);
        h.R = snw_mat3_mul(h.R, snw_so3_exp(snw_scale(angle, pose->turn[k].axis)));
    }
    return h;
}

static size_t slice_numbers(const snw_model *m, int i) {
    return 1 + 6 * (size_t)m->rod[m->slice[i].rod].nc;
}

// First numbers of the parts.
typedef struct parts {
    size_t pose, axis, slice, rest, tendon, point, shape, end;
} parts;

static parts find_parts(const snw_model *m) {
    parts p = {0};
    p.axis = p.pose + POSE * (size_t)m->npose;
    p.slice = p.axis + AXIS * (size_t)m->nblock;
    p.rest = p.slice;
    for (int i = 0; i < m->nslice; i++) p.rest += slice_numbers(m, i);
    p.tendon = p.rest + REST * (size_t)m->nstation;
    p.point = p.tendon + TENDON * (size_t)m->ntendon;
    p.shape = p.point + POINT * (size_t)m->ntendon_point;
    p.end = p.shape + snw_shapes_size(m);
    return p;
}

size_t snw_model_geometry_size(const snw_model *m) {
    return snw_geometry_is_gathered(m) ? find_parts(m).end : 0;
}

static void read_point(const snw_tendon_point *p, double *out) {
    out[WEIGHT] = p->w;
    out[AT_Y] = p->y, out[AT_Z] = p->z, out[SLOPE_Y] = p->dy, out[SLOPE_Z] = p->dz;
    out[AREA] = p->area;
    memcpy(out + XI0, p->xi0.e, sizeof p->xi0.e);
}

void snw_model_geometry_read(const snw_model *m, double *out) {
    if (!snw_geometry_is_gathered(m)) return;
    memset(out, 0, find_parts(m).end * sizeof *out);
    for (int i = 0; i < m->npose; i++, out += POSE) {
        if (!snw_pose_is_constant(&m->pose[i])) continue;
        const snw_se3 h = constant_pose(&m->pose[i]);
        memcpy(out, h.R.e, sizeof h.R.e);
        memcpy(out + 9, h.p.e, sizeof h.p.e);
    }
    for (int i = 0; i < m->nblock; i++, out += AXIS)
        memcpy(out, m->block[i].S.e, AXIS * sizeof *out);
    for (int i = 0; i < m->nslice; i++) {
        const size_t n = slice_numbers(m, i);
        out[0] = m->slice[i].h;
        memcpy(out + 1, m->xi0 + (size_t)i * SNW_MAGNUS_POINTS, (n - 1) * sizeof *out);
        out += n;
    }
    for (int i = 0; i < m->nstation; i++, out += REST) {
        const snw_station *at = &m->station[i];
        if (at->rod < 0) continue;
        const snw_twist rest = snw_rod_rest(&m->rod[at->rod], at->x);
        memcpy(out, rest.e, sizeof rest.e);
    }
    for (int i = 0; i < m->ntendon; i++, out += TENDON) // a given effort does not read it
        out[0] = m->tendon[i].given == SNW_GIVEN_EFFORT ? 0 : m->tendon[i].reference;
    for (int i = 0; i < m->ntendon_point; i++, out += POINT) read_point(&m->tendon_point[i], out);
    snw_shapes_read(m, out);
}

bool snw_model_geometry_take_motion(snw_model_geometry *a, int i, snw_wrench *by) {
    snw_wrench *of = a->given + 3 * (size_t)i;
    bool any = false;
    for (int k = 0; k < 3; k++) {
        by[k] = of[k];
        for (int e = 0; e < 6; e++) any = any || by[k].e[e] != 0;
        of[k] = snw_wrench_zero();
    }
    return any && (i >= a->m->npose || !snw_pose_is_constant(&a->m->pose[i]));
}

size_t snw_model_geometry_shapes(const snw_model *m) { return find_parts(m).shape; }

void snw_model_geometry_need_shapes(snw_model_geometry *a, bool needed) { a->shapes = needed; }

void snw_model_geometry_subtract_shape(const snw_model_geometry *a, const snw_work *w,
                                       const snw_shape_product *x, double *bar) {
    if (a->shapes) snw_shapes_subtract(a->m, w, x, bar + find_parts(a->m).shape);
}

snw_status snw_model_geometry_create(const snw_model *m, bool motions, snw_model_geometry **out) {
    snw_model_geometry *a = snw_alloc(sizeof *a);
    *out = a;
    if (!a) return SNW_E_MEMORY;
    *a = (snw_model_geometry){.m = m, .shapes = true, .motions = motions};
    const size_t given = 3 * ((size_t)m->npose + (size_t)m->nfield);
    a->given = snw_alloc((given + 1) * sizeof *a->given);
    a->bar = snw_alloc(2 * (size_t)(m->nseg + m->nobs) * sizeof *a->bar);
    a->slice = snw_alloc(((size_t)m->nslice + 1) * sizeof *a->slice);
    a->eta = snw_alloc((size_t)m->nseg * sizeof *a->eta);
    if (!a->bar || !a->slice || !a->eta || !a->given) return SNW_E_MEMORY;
    memset(a->eta, 0, (size_t)m->nseg * sizeof *a->eta);
    memset(a->given, 0, given * sizeof *a->given);
    a->more = a->bar + m->nseg + m->nobs;
    memset(a->more, 0, (size_t)(m->nseg + m->nobs) * sizeof *a->more);
    a->slice[0] = find_parts(m).slice;
    for (int i = 0; i < m->nslice; i++) a->slice[i + 1] = a->slice[i] + slice_numbers(m, i);
    return SNW_OK;
}

void snw_model_geometry_destroy(snw_model_geometry *a) {
    if (!a) return;
    snw_free(a->bar);
    snw_free(a->slice);
    snw_free(a->eta);
    snw_free(a->given);
    snw_free(a);
}

// ---- bars of segments ---------------------------------------------------------------------------

static void wrench_plus(snw_wrench *to, snw_wrench F) { *to = snw_wrench_add(*to, F); }

// A wrench about the centre of a fluid point, about its segment.
static snw_wrench about_segment(const snw_fluid_point *p, snw_wrench F) {
    F.m = snw_add(F.m, snw_cross(p->centre, F.f));
    return F;
}

// Derivatives of eta'F, F the wrench of a fluid at rest (3.12.1), by velocity, acceleration, pose.
static void add_fluid(const snw_model *m, int k, const snw_product *x, segment_bar *to) {
    const snw_fluid_point *p = &m->fluid_point[k];
    const snw_twist V = x->w->fluid_point[k].V, at_segment = x->at_mu->V[p->seg];
    const snw_twist eta = {
        {.w = at_segment.w, .v = snw_add(at_segment.v, snw_cross(at_segment.w, p->centre))}};
    const snw_vec3 gravity = snw_rotate_inv(x->w->g[p->seg].R, x->in->gravity);
    if (p->displaced > 0)
        to->g.m = snw_add(to->g.m, snw_scale(p->displaced, snw_cross(eta.v, gravity)));
    if (x->is_static) return;
    snw_wrench P = {0}, by_V = {0};
    for (int i = 0; i < 6; i++) P.e[i] = p->added[i] * eta.e[i];
    wrench_plus(&to->A, about_segment(p, P));
    to->g.m = snw_add(to->g.m, snw_cross(P.f, gravity)); // A has no gravity there
    double S[36], flux[9];
    snw_fluid_point_jacobian(p, V, S, flux);
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++) by_V.e[j] += S[6 * i + j] * eta.e[i];
    }
    if (p->phi >= 0) {
        const snw_rod *rod = &m->rod[p->rod];
        const double *phi = m->fluid_phi + p->phi;
        for (int a = 0; a < rod->na; phi += p->count[a], a++) {
            const int c = rod->comp[a] - 3;
            double rate = 0;
            for (int j = 0; j < p->count[a]; j++)
                rate += phi[j] * x->mu[rod->dof[a] + p->first[a] + j];
            for (int j = 0; c >= 0 && j < 3; j++) by_V.f.e[j] += rate * flux[3 * c + j];
        }
    }
    wrench_plus(&to->V, about_segment(p, by_V));
}

// Contacts with the ground and with obstacles.
static void add_contacts(snw_model_geometry *a, const snw_product *x) {
    for (int k = 0; k < a->m->ncontact_point; k++) {
        snw_contact_bars bars;
        const int n = snw_contact_point_bars(a->m, x->w, k, x->at_mu->V, &bars);
        for (int i = 0; i < n; i++) {
            wrench_plus(&a->bar[bars.seg[i]].g, bars.pose[i]);
            wrench_plus(&a->bar[bars.seg[i]].V, bars.V[i]);
        }
    }
}

// Springs, cables, dampers and bushings, and closed loops.
static void add_pairs(snw_model_geometry *a, const snw_product *x) {
    const snw_model *m = a->m;
    for (int i = 0; i < m->nforce_element; i++) {
        const int *end = m->force_element[i].end;
        const snw_twist eta[2] = {x->at_mu->V[end[0]], x->at_mu->V[end[1]]};
        snw_wrench pose[2] = {snw_wrench_zero(), snw_wrench_zero()},
                   V[2] = {snw_wrench_zero(), snw_wrench_zero()};
        snw_force_element_bars(m, x->w, i, eta, pose, V);
        for (int k = 0; k < 2; k++) {
            wrench_plus(&a->bar[end[k]].g, pose[k]);
            wrench_plus(&a->bar[end[k]].V, V[k]);
        }
    }
    for (int i = 0; i < m->nloop; i++) {
        const int end[2] = {m->loop[i].a, m->loop[i].b};
        const snw_twist eta[2] = {x->at_mu->V[end[0]], x->at_mu->V[end[1]]};
        snw_loop_bars(m, x->w, i, x->s->lambda, x->nu, eta, &a->bar[end[0]].g, &a->bar[end[1]].g);
    }
}

void snw_model_geometry_more(snw_model_geometry *a, int n, const snw_contact_bars *bars, double c) {
    for (int i = 0; i < n; i++) {
        wrench_plus(&a->more[bars->seg[i]].g, snw_wrench_scale(c, bars->pose[i]));
        wrench_plus(&a->more[bars->seg[i]].V, snw_wrench_scale(c, bars->V[i]));
    }
}

void snw_model_geometry_turn_jumps(snw_model_geometry *a, const snw_adjoint_output *o, double c,
                                   const snw_work *w) {
    const snw_model *m = a->m;
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    snw_twist e = snw_twist_zero();
    if (snw_output_use_of(m, o) == SNW_OUTPUT_JOINT) {
        const int first = m->link_first[p->site.link];
        const snw_wrench F = w->F[first];
        if (p->body) return;
        e.e[o->column] = c; // fixed in the world
        const snw_mat3 R = w->g[first].R;
        const snw_vec3 turn = snw_rotate_inv(R, e.w), shift = snw_rotate_inv(R, e.v);
        snw_vec3 *to = &a->more[first].g.m;
        *to = snw_sub(*to, snw_add(snw_cross(turn, F.m), snw_cross(shift, F.f)));
        return;
    }
    // a part b of the rigid motion e of the section, in the axes of node i
    const snw_station *at = snw_output_station(m, o);
    const snw_rod *rod = &m->rod[at->rod];
    e.e[o->column % 6] = -c;
    const snw_twist in_world = snw_twist_to_parent(w->g[at->seg], e);
    for (int k = 0; k < rod->nseg; k++) {
        const int i = rod->seg0 + k;
        const double b = snw_output_beyond(m, at, k);
        if (b == 0) continue;
        const snw_se3 h = snw_se3_mul(snw_se3_inv(w->g[i]), w->g[at->seg]);
        wrench_plus(
            &a->more[i].g,
            snw_wrench_scale(b, snw_ad_pull(snw_twist_to_child(w->g[i], in_world), w->F[i])));
        wrench_plus(&a->more[at->seg].g,
                    snw_wrench_scale(-b, snw_ad_pull(e, snw_wrench_to_child(h, w->F[i]))));
    }
}

// a->bar <- what was added for this sweep
static void begin_bars(snw_model_geometry *a) {
    const size_t size = (size_t)(a->m->nseg + a->m->nobs) * sizeof *a->bar;
    memcpy(a->bar, a->more, size);
    memset(a->more, 0, size);
}

// a->bar <- derivatives of eta'F by velocity, acceleration and pose at each segment alone.
static void own_bars(snw_model_geometry *a, const snw_product *x) {
    const snw_model *m = a->m;
    const snw_wrench *load = snw_loads(m, x->in, x->w);
    begin_bars(a);
    for (int i = 0; i < m->nseg; i++) {
        segment_bar *b = &a->bar[i];
        const snw_twist eta = x->at_mu->V[i], V = x->w->V[i];
        if (snw_seg_has_mass(m, x->w, i)) {
            const snw_inertia *M = &m->seg[i].M;
            b->A = snw_inertia_apply(M, eta);
            if (!x->is_static) {
                wrench_plus(&b->V, snw_ad_pull(eta, snw_inertia_apply(M, V)));
                b->V = snw_wrench_sub(b->V, snw_inertia_apply(M, snw_ad(V, eta)));
            }
        }
        for (int k = m->load_point_of_seg[i]; k < m->load_point_of_seg[i + 1]; k++) {
            if (m->load[m->load_point[k].load].body) continue;
            const snw_mat3 R = x->w->g[i].R; // axes of the world turn against the segment
            const snw_vec3 torque = snw_rotate_inv(R, load[k].m),
                           force = snw_rotate_inv(R, load[k].f);
            b->g.m = snw_sub(b->g.m, snw_add(snw_cross(eta.w, torque), snw_cross(eta.v, force)));
        }
    }
    add_contacts(a, x);
    for (int k = 0; k < m->nfluid_point; k++) {
        if (snw_fluid_point_is_active(x->w, &m->fluid_point[k]))
            add_fluid(m, k, x, &a->bar[m->fluid_point[k].seg]);
    }
    add_pairs(a, x);
}

// ---- numbers from the bars of their segment -----------------------------------------------------

// Bars of the motion of a segment in its parent: of zeta, u, u' and, when the rates are mu, s.
typedef struct motion_bar {
    snw_wrench zeta, u, du, s;
} motion_bar;

// bar (POSE) += c times the derivatives by the numbers of a pose h.
static void add_pose(snw_se3 h, snw_wrench zeta, double c, double *bar) {
    const snw_vec3 v = snw_rotate(h.R, zeta.f);
    const snw_mat3 R = snw_mat3_mul(h.R, snw_hat(zeta.m));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) bar[3 * i + j] += 0.5 * c * R.e[i][j];
        bar[9 + i] += c * v.e[i];
    }
}

// out (6 nc) <- Y'P
static void pull_strains(int nc, const double *Y, snw_wrench P, double *out) {
    for (int z = 0; z < 6 * nc; z++) {
        out[z] = 0;
        for (int r = 0; r < 6; r++) out[z] += Y[r * LD + z] * P.e[r];
    }
}

// Derivatives by the strains at the Magnus points of a slice, six for each, by their rates and
// accelerations, and by their virtual rates.
typedef struct slice_bar {
    double z[LD], dz[LD], ddz[LD], s[LD];
} slice_bar;

// From those of the motion of the slice with virtual rates in at_mu (NULL: none). With T(W) and Y =
// dW/dz its pose changes by zeta = T Y z, its velocity by zeta' + ad_u zeta and so on.
static void find_slice_bar(const snw_model *m, int i, const motion_bar *b, snw_twist u,
                           snw_twist du, snw_twist s, const snw_work *w, const snw_work *at_mu,
                           slice_bar *out) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod *rod = &m->rod[sl->rod];
    const snw_slice_work *sw = &w->slice[i];
    const bool moves = !w->is_static;
    const int nc = rod->nc, n = 6 * nc;
    static const snw_twist none[SNW_MAGNUS_POINTS];
    double Y[3][6 * LD], more[LD];
    snw_lower T[3], Tm[3];
    snw_wrench P0 = b->zeta, P1 = {0}, P2 = {0};
    if (moves) {
        P0 = snw_wrench_add(P0, snw_wrench_add(snw_ad_pull(u, b->u), snw_ad_pull(du, b->du)));
        P1 = snw_wrench_add(b->u, snw_ad_pull(u, b->du));
        P2 = b->du;
    }
    if (at_mu) P0 = snw_wrench_add(P0, snw_ad_pull(s, b->s));
    const snw_twist zero = {0}, *dxi = moves ? sw->dxi : none, *ddxi = moves ? sw->ddxi : none;
    snw_se3_tangent_jet(sw->W, moves ? sw->dW : zero, moves ? sw->ddW : zero, &T[0], &T[1], &T[2]);
    snw_rule_jacobian_rates(&rod->rule, sl->h, sw->xi, dxi, ddxi, Y[0], Y[1], Y[2]);
    // Q: what is multiplied by Y, Y', Y''
    const snw_wrench Q2 = snw_lower_pull(&T[0], P2),
                     Q1 = snw_wrench_add(snw_lower_pull(&T[0], P1),
                                         snw_wrench_scale(2, snw_lower_pull(&T[1], P2)));
    snw_wrench Q0 =
        snw_wrench_add(snw_lower_pull(&T[0], P0),
                       snw_wrench_add(snw_lower_pull(&T[1], P1), snw_lower_pull(&T[2], P2)));
    const snw_wrench Qs = snw_lower_pull(&T[0], b->s);
    if (at_mu) {
        snw_se3_tangent_jet(sw->W, at_mu->slice[i].dW, zero, &Tm[0], &Tm[1], &Tm[2]);
        wrench_plus(&Q0, snw_lower_pull(&Tm[1], b->s));
    }
    pull_strains(nc, Y[0], Q0, out->z);
    pull_strains(nc, Y[0], Q1, out->dz);
    pull_strains(nc, Y[0], Q2, out->ddz);
    pull_strains(nc, Y[0], Qs, out->s);
    if (moves) {
        pull_strains(nc, Y[1], Q1, more);
        for (int z = 0; z < n; z++) out->z[z] += more[z];
        pull_strains(nc, Y[2], Q2, more);
        for (int z = 0; z < n; z++) out->z[z] += more[z];
        pull_strains(nc, Y[1], Q2, more);
        for (int z = 0; z < n; z++) out->dz[z] += 2 * more[z];
    }
    if (at_mu) {
        snw_rule_jacobian_rates(&rod->rule, sl->h, sw->xi, at_mu->slice[i].dxi, none, Y[0], Y[1],
                                Y[2]);
        pull_strains(nc, Y[1], Qs, more);
        for (int z = 0; z < n; z++) out->z[z] += more[z];
    }
}

// bar (1 + 6 nc) += c times the derivatives by length and rest strain of a slice; given (3 nc) +=
// likewise by given strains, their rates and accelerations, unless NULL.
static void add_slice(const snw_model *m, int i, const slice_bar *by, const snw_work *w,
                      const snw_work *at_mu, double c, double *bar, snw_wrench *given) {
    const snw_slice *sl = &m->slice[i];
    const snw_slice_work *sw = &w->slice[i];
    const bool moves = !w->is_static;
    double length = 0; // W is a function of h times the strains
    for (int z = 0; z < 6 * m->rod[sl->rod].nc; z++) {
        const int k = z / 6, e = z % 6;
        bar[1 + z] += c * by->z[z];
        if (given) {
            given[3 * k].e[e] += c * by->z[z];
            given[3 * k + 1].e[e] += moves ? c * by->dz[z] : 0;
            given[3 * k + 2].e[e] += moves ? c * by->ddz[z] : 0;
        }
        length += by->z[z] * sw->xi[k].e[e];
        if (at_mu) length += by->s[z] * at_mu->slice[i].dxi[k].e[e];
        if (moves) length += by->dz[z] * sw->dxi[k].e[e] + by->ddz[z] * sw->ddxi[k].e[e];
    }
    bar[0] += c * length / sl->h;
}

// bar (AXIS) += c times the derivatives by the twist S of a screw.
static void add_axis(const snw_block *block, const motion_bar *b, double q, double v, double acc,
                     double mu, double c, double *bar) {
    const snw_lower T = snw_se3_tangent(snw_twist_scale(q, block->S));
    snw_wrench F = snw_wrench_scale(q, snw_lower_pull(&T, b->zeta));
    F = snw_wrench_add(F, snw_wrench_add(snw_wrench_scale(v, b->u), snw_wrench_scale(acc, b->du)));
    F = snw_wrench_add(F, snw_wrench_scale(mu, b->s));
    for (int k = 0; k < AXIS; k++) bar[k] += c * F.e[k];
}

// State and covector of a map; of a frame mu is NULL.
typedef struct sweep_at {
    const snw_work *w, *at_mu;
    const double *q, *v, *acc, *mu;
    double c;                    // factor of the derivatives
    const snw_state_bars *state; // by the state in place of the numbers; NULL: by these
} sweep_at;

// to += the derivatives by the coordinates of a joint, from those of its motion.
static void add_joint(const snw_block *b, const motion_bar *by, const snw_state_bars *to) {
    for (int k = 0; k < b->n; k++) {
        const bool axis = b->space == SNW_SPACE_RN; // else k is a component of the body twist
        to->place[b->dof + k] += axis ? snw_power(by->zeta, b->S) : by->zeta.e[k];
        to->rate[b->dof + k] += axis ? snw_power(by->u, b->S) : by->u.e[k];
        to->acc[b->dof + k] += axis ? snw_power(by->du, b->S) : by->du.e[k];
    }
}

// The same of the coordinates of a rod, from those of a slice.
static void add_strains(const snw_model *m, int i, const slice_bar *by, const snw_state_bars *to) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod *rod = &m->rod[sl->rod];
    const double *phi = m->phi + sl->phi;
    for (int k = 0; k < rod->nc; k++) {
        for (int a = 0; a < rod->na; phi += sl->count[a], a++) {
            const int z = 6 * k + rod->comp[a], first = rod->dof[a] + sl->first[a];
            for (int j = 0; j < sl->count[a]; j++) {
                to->place[first + j] += phi[j] * by->z[z];
                to->rate[first + j] += phi[j] * by->dz[z];
                to->acc[first + j] += phi[j] * by->ddz[z];
            }
        }
    }
}

// From the leaves to the root: bar += c times the derivatives by poses, axes and slices; each bar
// is added to that of the parent.
static void carry_to_root(snw_model_geometry *a, const sweep_at *x, double *bar) {
    const snw_model *m = a->m;
    const parts p = find_parts(m);
    const bool moves = !x->w->is_static;
    for (int i = m->nseg + m->nobs - 1; i > 0; i--) {
        const snw_seg *seg = &m->seg[i];
        const snw_work *w = x->w;
        const segment_bar *b = &a->bar[i];
        segment_bar *parent = &a->bar[seg->parent];
        const snw_wrench eta = x->at_mu && i < m->nseg ? w->F[i] : (snw_wrench){0};
        const snw_twist u = moves ? w->u[i] : (snw_twist){0},
                        du = moves ? w->du[i] : (snw_twist){0},
                        s = x->at_mu && i < m->nseg ? x->at_mu->u[i] : (snw_twist){0};
        const snw_twist carried_V = snw_twist_to_child(w->h[i], w->V[seg->parent]),
                        carried_A = snw_twist_to_child(w->h[i], w->A[seg->parent]);
        motion_bar to = {.zeta = b->g, .s = eta};
        wrench_plus(&to.zeta, snw_ad_pull(carried_A, b->A));
        if (x->at_mu && i < m->nseg)
            wrench_plus(&to.zeta,
                        snw_ad_pull(snw_twist_to_child(w->h[i], x->at_mu->V[seg->parent]), eta));
        snw_wrench V = b->V;
        if (moves) {
            V = snw_wrench_sub(V, snw_ad_pull(u, b->A));
            wrench_plus(&to.zeta, snw_ad_pull(carried_V, V));
            to.u = snw_wrench_add(b->V, snw_ad_pull(carried_V, b->A));
            to.du = b->A;
        }
        wrench_plus(&parent->V, snw_wrench_to_parent(w->h[i], V));
        wrench_plus(&parent->A, snw_wrench_to_parent(w->h[i], b->A));
        wrench_plus(&parent->g, snw_wrench_to_parent(w->h[i], b->g));
        const snw_work *virtual = i < m->nseg && !x->state ? x->at_mu : NULL;
        slice_bar slice;
        const bool has_slice = seg->kind == SNW_SEG_ROD && m->slice[seg->item].h != 0 &&
                               !m->rod[m->slice[seg->item].rod].grid; // grids are not gathered
        if (has_slice) find_slice_bar(m, seg->item, &to, u, du, s, w, virtual, &slice);
        if (x->state) {
            if (has_slice) add_strains(m, seg->item, &slice, x->state);
            if ((seg->kind == SNW_SEG_SCREW || seg->kind == SNW_SEG_BALL ||
                 seg->kind == SNW_SEG_FREE))
                add_joint(&m->block[seg->item], &to, x->state);
            continue;
        }
        if (seg->kind == SNW_SEG_POSE && snw_pose_is_constant(&m->pose[seg->item])) {
            add_pose(w->h[i], to.zeta, x->c, bar + p.pose + POSE * (size_t)seg->item);
        } else if (seg->kind == SNW_SEG_POSE && a->motions) {
            snw_wrench *by = a->given + 3 * (size_t)seg->item;
            wrench_plus(&by[0], snw_wrench_scale(x->c, to.zeta));
            wrench_plus(&by[1], snw_wrench_scale(x->c, to.u));
            wrench_plus(&by[2], snw_wrench_scale(x->c, to.du));
        } else if (seg->kind == SNW_SEG_SCREW) {
            const snw_block *block = &m->block[seg->item];
            add_axis(block, &to, x->q[block->q], moves ? x->v[block->dof] : 0,
                     moves ? x->acc[block->dof] : 0, x->mu ? x->mu[block->dof] : 0, x->c,
                     bar + p.axis + AXIS * (size_t)seg->item);
        } else if (has_slice) {
            const int field = a->motions ? m->slice[seg->item].field : -1;
            add_slice(m, seg->item, &slice, w, virtual, x->c, bar + a->slice[seg->item],
                      field >= 0 ? a->given + 3 * ((size_t)m->npose + (size_t)field) : NULL);
        }
    }
}

// ---- tendons ------------------------------------------------------------------------------------

// Derivatives of the density f at a point, and of its rate g = df/dxi x, by the numbers of the
// point; times w, but those by w.
static void point_slopes(const snw_tendon *tendon, const snw_tendon_point *p, snw_twist xi,
                         snw_twist x, double f[POINT], double g[POINT]) {
    double d1[6], d2[6] = {0};
    f[WEIGHT] = snw_tendon_point_density(tendon, p, xi, d1);
    g[WEIGHT] = 0;
    for (int k = 0; k < 6; k++) g[WEIGHT] += d1[k] * x.e[k];
    const snw_vec3 D = {{0, p->y, p->z}}, X = snw_add(x.v, snw_cross(x.w, D));
    snw_vec3 by_D, by_dD, rate_D, rate_dD; // f and g by D and D'
    f[AREA] = g[AREA] = 0;
    if (tendon->type->is_length) {
        const snw_vec3 u =
            snw_add(snw_add(xi.v, snw_cross(xi.w, D)), (snw_vec3){{0, p->dy, p->dz}});
        const double size = snw_norm(u);
        const snw_vec3 t = snw_scale(1 / size, u);
        const snw_vec3 across = snw_scale(1 / size, snw_sub(X, snw_scale(snw_dot(t, X), t)));
        by_D = snw_cross(t, xi.w), by_dD = t;
        rate_D = snw_add(snw_cross(across, xi.w), snw_cross(t, x.w)), rate_dD = across;
        snw_tendon_point_d2(p, xi, x, d2);
    } else { // f = area u_x
        const snw_vec3 t = {{p->area, 0, 0}};
        by_D = snw_cross(t, xi.w), rate_D = snw_cross(t, x.w);
        by_dD = rate_dD = (snw_vec3){{0}};
        f[AREA] = p->w * f[WEIGHT] / p->area, g[AREA] = p->w * g[WEIGHT] / p->area;
    }
    f[AT_Y] = p->w * by_D.y, f[AT_Z] = p->w * by_D.z, f[SLOPE_Y] = p->w * by_dD.y,
    f[SLOPE_Z] = p->w * by_dD.z;
    g[AT_Y] = p->w * rate_D.y, g[AT_Z] = p->w * rate_D.z;
    g[SLOPE_Y] = p->w * rate_dD.y, g[SLOPE_Z] = p->w * rate_dD.z;
    for (int k = 0; k < 6; k++) f[XI0 + k] = p->w * d1[k], g[XI0 + k] = p->w * d2[k];
}

// Derivative of the effort by the reference length, at a fixed path.
static double effort_by_reference(const snw_tendon *tendon, const snw_tendon_work *now) {
    if (tendon->given == SNW_GIVEN_MOTION)
        return now->effort > 0 ? -(now->effort + 1 / tendon->compliance) / now->paid_out : 0;
    return tendon->type->is_length ? now->stiffness : 0;
}

// bar -= derivatives of -e g, effort e of the coordinate, g the rate of the coordinate for mu.
static void subtract_tendon(const snw_model *m, int i, const snw_product *x, double *tendon_bar,
                            double *bar) {
    const snw_tendon *tendon = &m->tendon[i];
    const snw_tendon_work *now = &x->w->tendon[i];
    const double rate = snw_product_path_rate(m, i, x);
    const double by_rate = -now->effort * tendon->sign,
                 by_value = -now->stiffness * rate * tendon->sign;
    tendon_bar[0] += effort_by_reference(tendon, now) * rate;
    for (int k = 0; k < tendon->npoint; k++, bar += POINT) {
        const snw_tendon_point *p = &m->tendon_point[tendon->point_adr + k];
        snw_twist mu = x->at_mu->tendon_point[tendon->point_adr + k].rate;
        for (int e = 0; e < 6; e++) {
            if (m->rod[p->rod].given[e]) mu.e[e] = 0;
        }
        double f[POINT], g[POINT];
        point_slopes(tendon, p, x->w->tendon_point[tendon->point_adr + k].xi, mu, f, g);
        for (int j = 0; j < POINT; j++) bar[j] -= by_rate * g[j] + by_value * f[j];
    }
}

// ---- probes -------------------------------------------------------------------------------------

// Derivatives of a probe of a frame by its pose (variations at fixed body rates) and velocity.
static void frame_row(const snw_signal *signal, snw_se3 g, snw_twist V, snw_wrench *by_pose,
                      snw_wrench *by_V) {
    enum { ROW = 8 };
    static const int dof[6] = {0, 1, 2, 3, 4, 5};
    static const snw_path path = {.n = 6, .ld = ROW, .dof = dof};
    double J[6 * ROW] = {0}, rest[6 * ROW] = {0};
    for (int k = 0; k < 6; k++) J[k * ROW + k] = 1;
    const snw_signal_frame at = {g, V, &path, J, rest};
    memset(by_pose, 0, sizeof *by_pose);
    memset(by_V, 0, sizeof *by_V);
    snw_signal_frame_row(signal, &at, 1, 0, by_pose->e);
    snw_signal_frame_row(signal, &at, 0, 1, by_V->e);
    *by_pose = snw_wrench_sub(*by_pose, snw_ad_pull(V, *by_V)); // delta V = ad_V zeta there
}

// Bars of the segment of a probe, and bar of its rest strain, += c_y times its derivatives; those
// of the rest strain times c.
static void add_signal(snw_model_geometry *a, const snw_signal *signal, double c_y, double c,
                       const snw_work *w, double *rest) {
    const snw_model *m = a->m;
    if (c_y == 0 || signal->station < 0) return;
    if (signal->reading == SNW_READ_STRAIN) {
        rest[REST * (size_t)signal->station + (size_t)signal->column] += c * c_y;
        return;
    }
    const int seg = m->station[signal->station].seg;
    snw_wrench by_pose, by_V;
    frame_row(signal, w->g[seg], w->V[seg], &by_pose, &by_V);
    wrench_plus(&a->bar[seg].g, snw_wrench_scale(c_y, by_pose));
    if (!w->is_static) wrench_plus(&a->bar[seg].V, snw_wrench_scale(c_y, by_V));
}

// Bars of the segments += derivatives of energies by velocity and pose: kinetic V'MV/2, of gravity
// -gravity (m p + R mc), of springs minus the power of their elastic wrenches.
static void add_energies(snw_model_geometry *a, const snw_energy_weights *c, const snw_inputs *in,
                         const snw_work *w) {
    const snw_model *m = a->m;
    for (int i = 1; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        const snw_inertia *M = &m->seg[i].M;
        const snw_vec3 down = snw_rotate_inv(w->g[i].R, in->gravity);
        const snw_wrench weight = {{.m = snw_cross(M->mc, down), .f = snw_scale(M->m, down)}};
        wrench_plus(&a->bar[i].g, snw_wrench_scale(-c->gravity, weight));
        if (!w->is_static)
            wrench_plus(&a->bar[i].V, snw_wrench_scale(c->kinetic, snw_inertia_apply(M, w->V[i])));
    }
    for (int i = 0; i < m->nforce_element; i++) {
        for (int k = 0; k < 2; k++)
            wrench_plus(&a->bar[m->force_element[i].end[k]].g,
                        snw_wrench_scale(-c->elastic, snw_force_element_elastic(m, w, i, k)));
    }
}

// ---- all ----------------------------------------------------------------------------------------

// bar (of the shapes) -= derivatives of the products with contact forces
static void subtract_shapes(const snw_model *m, const snw_product *x, double *bar) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point_work *at = &x->w->contact_point[k];
        const snw_contact *c = &m->contact[m->contact_point[k].contact];
        snw_shape_product y = {.point = k, .eta = x->at_mu->V};
        if (!at->in_contact || m->contact_point[k].wheel) continue;
        double f[3] = {0};
        if (c->hard) {
            snw_vec3 axis[3];
            snw_contact_axes(x->w, k, axis);
            for (int i = 0; i < 3; i++) f[i] = -snw_dot(axis[i], at->f);
            y = (snw_shape_product){.point = k, .f = f, .V = x->at_mu->V};
        }
        snw_shapes_subtract(m, x->w, &y, bar);
    }
}

void snw_model_geometry_subtract(snw_model_geometry *a, const snw_product *x, double *bar) {
    const snw_model *const whole = a->m;
    const parts p = find_parts(whole);
    if (x->part) a->m = x->part;
    const snw_model *m = a->m;
    const sweep_at at = {x->w, x->at_mu, x->s->q, x->s->v, x->s->a, x->mu, -1, NULL};
    own_bars(a, x);
    if (a->shapes) subtract_shapes(m, x, bar + p.shape);
    for (int k = 0; k < m->nsignal; k++) {
        if (m->signal[k].kind == SNW_SIGNAL_PROBE)
            add_signal(a, &m->signal[k], x->by_signal[k], -1, x->w, bar + p.rest);
    }
    carry_to_root(a, &at, bar);
    for (int i = 0; i < m->ntendon; i++) {
        if (!m->tendon[i].has_friction) // with it, paths are not gathered
            subtract_tendon(m, i, x, bar + p.tendon + TENDON * (size_t)i,
                            bar + p.point + POINT * (size_t)m->tendon[i].point_adr);
    }
    a->m = whole;
}

void snw_model_geometry_motion(snw_model_geometry *a, const snw_energy_weights *energy,
                               const snw_inputs *in, const snw_state *s, const snw_work *w,
                               double *bar) {
    const sweep_at at = {.w = w, .q = s->q, .v = s->v, .acc = s->a, .c = -1};
    begin_bars(a);
    if (energy) add_energies(a, energy, in, w);
    carry_to_root(a, &at, bar);
}

// a->bar <- derivatives of nu'e" + z'e' by the motions of the segments that loops join.
static void rows_bars(snw_model_geometry *a, const snw_work *w, const double *nu, const double *z) {
    const snw_model *m = a->m;
    memset(a->bar, 0, (size_t)(m->nseg + m->nobs) * sizeof *a->bar);
    for (int i = 0; i < m->nloop; i++) {
        const int end[2] = {m->loop[i].a, m->loop[i].b};
        snw_wrench by_g[2], by_V[2], by_A[2];
        snw_closure_rates_bars(m, w, i, nu, z, by_g, by_V, by_A);
        for (int k = 0; k < 2; k++) {
            segment_bar *bar = &a->bar[end[k]];
            if (end[k] == 0) continue; // the world
            bar->g = snw_wrench_add(bar->g, by_g[k]);
            bar->V = snw_wrench_add(bar->V, by_V[k]);
            bar->A = snw_wrench_add(bar->A, by_A[k]);
        }
    }
}

void snw_model_geometry_subtract_rows(snw_model_geometry *a, const snw_state *s, const snw_work *w,
                                      const double *nu, const double *z, double *bar) {
    rows_bars(a, w, nu, z);
    const sweep_at at = {.w = w, .q = s->q, .v = s->v, .acc = s->a, .c = -1};
    carry_to_root(a, &at, bar);
}

void snw_model_geometry_rows_by_state(snw_model_geometry *a, const snw_state *s, const snw_work *w,
                                      const double *nu, const double *z, const snw_state_bars *to) {
    rows_bars(a, w, nu, z);
    const sweep_at at = {.w = w, .q = s->q, .v = s->v, .acc = s->a, .c = 1, .state = to};
    carry_to_root(a, &at, NULL);
}

// ---- results at a frame -------------------------------------------------------------------------

// Bars += c times the derivatives of a column of an acceleration: R (v' + w x v) + gravity and R
// w', or these in body axes. A excludes gravity.
static void add_acceleration(snw_model_geometry *a, const snw_adjoint_output *o, double c,
                             const snw_inputs *in, const snw_work *w) {
    const snw_model *m = a->m;
    const bool body = m->desc->probe[o->probe].body, angular = o->column % 6 >= 3;
    const int seg = m->station[m->probe_station[o->probe] + o->column / 6].seg;
    const snw_twist V = w->V[seg], A = w->A[seg];
    const snw_mat3 R = w->g[seg].R;
    segment_bar *to = &a->bar[seg];
    snw_vec3 e = {{0}};
    e.e[o->column % 3] = c;
    if (!body) e = snw_rotate_inv(R, e);
    const snw_vec3 felt = angular ? A.w : snw_add(A.v, snw_cross(V.w, V.v));
    to->g.m = snw_add(to->g.m, body ? (snw_vec3){{0}} : snw_cross(felt, e));
    if (angular) {
        to->A.m = snw_add(to->A.m, e);
        return;
    }
    to->A.f = snw_add(to->A.f, e);
    to->V.m = snw_add(to->V.m, snw_cross(V.v, e));
    to->V.f = snw_add(to->V.f, snw_cross(e, V.w));
    if (body) to->g.m = snw_add(to->g.m, snw_cross(e, snw_rotate_inv(R, in->gravity)));
}

// The same of the length of a spring, cable, damper or bushing, or of its rate.
static void add_element(snw_model_geometry *a, int element, bool rate, double c,
                        const snw_work *w) {
    const int *end = a->m->force_element[element].end;
    const snw_vec3 d = snw_sub(w->g[end[1]].p, w->g[end[0]].p);
    const double l = snw_norm(d);
    if (!(l > 0)) return;
    const snw_vec3 n = snw_scale(1 / l, d),
                   v = snw_sub(snw_rotate(w->g[end[1]].R, w->V[end[1]].v),
                               snw_rotate(w->g[end[0]].R, w->V[end[0]].v)),
                   across = snw_scale(1 / l, snw_sub(v, snw_scale(snw_dot(n, v), n)));
    for (int k = 0; k < 2; k++) {
        segment_bar *to = &a->bar[end[k]];
        const snw_mat3 R = w->g[end[k]].R;
        const double own = k ? c : -c;
        const snw_vec3 along = snw_rotate_inv(R, snw_scale(own, n)),
                       place = rate ? snw_rotate_inv(R, snw_scale(own, across)) : along;
        to->g.f = snw_add(to->g.f, place);
        if (!rate) continue;
        to->g.m = snw_add(to->g.m, snw_cross(w->V[end[k]].v, along));
        to->V.f = snw_add(to->V.f, along);
    }
}

// The same of the tension of a spring, cable or damper.
static void add_tension(snw_model_geometry *a, int element, double c, const snw_work *w) {
    const snw_force_element_work *at = &w->force_element[element];
    if (!at->acts) return;
    add_element(a, element, false, c * at->by_length, w);
    if (at->by_rate != 0) add_element(a, element, true, c * at->by_rate, w);
}

// The same of a component of the wrench of a loop.
static void add_loop_wrench(snw_model_geometry *a, const snw_adjoint_output *o, double c,
                            const snw_work *w) {
    const snw_probe_desc *p = &a->m->desc->probe[o->probe];
    const int end[2] = {a->m->loop[p->item].a, a->m->loop[p->item].b};
    const snw_mat3 R = snw_loop_pose(a->m, w, p->item).R;
    const snw_wrench F = snw_loop_known_wrench(a->m, w, p->item);
    for (int k = 0; k < 12; k++) {
        snw_twist zeta[2] = {snw_twist_zero(), snw_twist_zero()};
        snw_wrench d[2];
        zeta[k / 6].e[k % 6] = 1;
        snw_loop_variation(a->m, w, p->item, zeta, d); // of -F
        d[1] = snw_wrench_scale(-1, d[1]);
        if (!p->body) { // the axes of F turn with its segment
            d[1].m = snw_rotate(R, snw_add(d[1].m, snw_cross(zeta[1].w, F.m)));
            d[1].f = snw_rotate(R, snw_add(d[1].f, snw_cross(zeta[1].w, F.f)));
        }
        a->bar[end[k / 6]].g.e[k % 6] += c * d[1].e[o->column];
    }
}

// The same of a column that is a function of the poses of two segments, by differences of order 6.
static void difference_poses(snw_model_geometry *a, const snw_adjoint_output *o, const int seg[2],
                             double c, const snw_inputs *in, const snw_state *s,
                             const snw_work *w) {
    const double step = 1e-2;
    const snw_readings none = {0};
    double column[SNW_LAW_WIDTH];
    for (int k = 0; k < 2; k++) {
        const snw_se3 g = w->g[seg[k]];
        for (int e = 0; e < 6 && seg[k] > 0; e++) {
            for (int j = -3; j <= 3; j++) {
                if (j == 0) continue;
                snw_twist x = {0};
                x.e[e] = j * step;
                w->g[seg[k]] = snw_se3_mul(g, snw_se3_exp(x));
                snw_probe_read(a->m, o->probe, in, s, w, &none, column);
                const double by = j < 0 ? -snw_adjoint_weight[-j - 1] : snw_adjoint_weight[j - 1];
                a->bar[seg[k]].g.e[e] += c * by / step * column[o->column];
            }
            w->g[seg[k]] = g;
        }
    }
}

// bar += c times the derivatives of the coordinate of a tendon or chamber, its rate, its length or
// its effort, by its points and its reference length.
static void add_path(const snw_model_geometry *a, const snw_adjoint_output *o, double c,
                     const snw_work *w, double *bar) {
    const snw_model *m = a->m;
    const snw_probe_desc *probe = &m->desc->probe[o->probe];
    const snw_tendon *tendon = &m->tendon[probe->item];
    const snw_tendon_work *now = &w->tendon[probe->item];
    const bool rate = probe->kind == SNW_PROBE_RATE;
    const parts p = find_parts(m);
    // of the coordinate; it is the reference less the length
    double by_value = c, by_reference = tendon->type->is_length && !rate ? c : 0;
    if (probe->kind == SNW_PROBE_LENGTH) by_value = -c, by_reference = 0;
    if (snw_output_use_of(m, o) == SNW_OUTPUT_EFFORT) {
        by_value = c * now->stiffness;
        by_reference = c * effort_by_reference(tendon, now);
    }
    bar[p.tendon + TENDON * (size_t)probe->item] += by_reference;
    double *to = bar + p.point + POINT * (size_t)tendon->point_adr;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++, to += POINT) {
        double f[POINT], g[POINT];
        point_slopes(tendon, &m->tendon_point[k], w->tendon_point[k].xi, w->tendon_point[k].rate, f,
                     g);
        for (int j = 0; j < POINT; j++) to[j] += tendon->sign * by_value * (rate ? g[j] : f[j]);
    }
}

// Bars of the segments += c times the derivatives of a component of the momentum, in the world
// about its origin: e P, which is e_i'M V with e_i in the axes of each segment.
static void add_momentum(snw_model_geometry *a, int component, double c, const snw_work *w) {
    const snw_model *m = a->m;
    snw_twist e = snw_twist_zero();
    e.e[component] = c;
    for (int i = 1; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        const snw_twist own = snw_twist_to_child(w->g[i], e);
        wrench_plus(&a->bar[i].V, snw_inertia_apply(&m->seg[i].M, own));
        wrench_plus(&a->bar[i].g, snw_ad_pull(own, snw_inertia_apply(&m->seg[i].M, w->V[i])));
    }
}

// The same of a coordinate of the centre of mass.
static void add_centre(snw_model_geometry *a, int component, double c, const snw_work *w) {
    const snw_model *m = a->m;
    snw_vec3 e = {{0}}, centre;
    e.e[component] = c / snw_center_of_mass(m, w, &centre);
    for (int i = 1; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        const snw_vec3 own = snw_rotate_inv(w->g[i].R, e);
        wrench_plus(&a->bar[i].g, (snw_wrench){{.m = snw_cross(m->seg[i].M.mc, own),
                                                .f = snw_scale(m->seg[i].M.m, own)}});
    }
}

static void add_inertia(snw_model_geometry *a, const snw_adjoint_output *o, double c,
                        const snw_work *w) {
    if (a->m->desc->probe[o->probe].kind == SNW_PROBE_MOMENTUM) {
        add_momentum(a, o->column, c, w);
    } else {
        add_centre(a, o->column, c, w);
    }
}

// Results that are functions of the state and of geometry.
static void add_state(snw_model_geometry *a, const snw_adjoint_output *o, double c,
                      const snw_inputs *in, const snw_state *s, const snw_work *w, double *bar) {
    const snw_model *m = a->m;
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    if (p->kind == SNW_PROBE_ACCELERATION) {
        add_acceleration(a, o, c, in, w);
    } else if (p->kind == SNW_PROBE_RELATIVE) {
        const int at = m->probe_station[o->probe];
        difference_poses(a, o, (const int[]){m->station[at].seg, m->station[at - 1].seg}, c, in, s,
                         w);
    } else if (p->kind == SNW_PROBE_REACTION) {
        add_loop_wrench(a, o, c, w);
    } else if (p->of == SNW_PROBE_OF_FORCE_ELEMENT) {
        add_element(a, p->item, p->kind == SNW_PROBE_RATE, c, w);
    } else {
        add_path(a, o, c, w, bar);
    }
}

void snw_model_geometry_frame(snw_model_geometry *a, int noutput, const snw_adjoint_output *output,
                              const double *y_bar, const snw_inputs *in, const snw_state *s,
                              const snw_work *w, double *bar) {
    const snw_model *m = a->m;
    snw_energy_weights energy;
    const parts p = find_parts(m);
    memset(a->bar, 0, (size_t)(m->nseg + m->nobs) * sizeof *a->bar);
    for (int i = 0; i < noutput; i++) {
        const snw_output_use use = snw_output_use_of(m, &output[i]);
        if (y_bar[i] == 0) continue;
        if (use == SNW_OUTPUT_STATE) {
            add_state(a, &output[i], y_bar[i], in, s, w, bar);
        } else if (use == SNW_OUTPUT_INERTIA) {
            add_inertia(a, &output[i], y_bar[i], w);
        } else if (use == SNW_OUTPUT_TENSION) {
            add_tension(a, m->desc->probe[output[i].probe].item, y_bar[i], w);
        } else if (use == SNW_OUTPUT_EFFORT) {
            add_path(a, &output[i], y_bar[i], w, bar);
        } else if (use == SNW_OUTPUT_MOTION) {
            const snw_signal signal = snw_probe_signal(m, output[i].probe, output[i].column);
            add_signal(a, &signal, y_bar[i], 1, w, bar + p.rest);
        }
    }
    if (snw_energy_weights_of(m, noutput, output, y_bar, &energy)) add_energies(a, &energy, in, w);
    const sweep_at at = {.w = w, .q = s->q, .v = s->v, .acc = s->a, .c = 1};
    carry_to_root(a, &at, bar);
}

// ---- the same by the state ----------------------------------------------------------------------

// The same of a component of the force or wrench of a compliant contact in the world, about its
// origin: the product with a unit twist there that moves the obstacle alone.
static void add_contact(snw_model_geometry *a, const snw_adjoint_output *o, double c,
                        const snw_work *w) {
    const snw_model *m = a->m;
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    snw_twist e = snw_twist_zero();
    e.e[p->kind == SNW_PROBE_CONTACT ? 3 + o->column : o->column] = c;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact *contact = &m->contact[m->contact_point[k].contact];
        const int seg = m->contact_point[k].seg, obstacle = contact->seg;
        snw_contact_bars bars;
        if (contact->of != p->item || !w->contact_point[k].in_contact) continue;
        const snw_twist eta =
            snw_twist_scale(contact->reversed ? -1 : 1, snw_twist_to_child(w->g[obstacle], e));
        a->eta[obstacle] = eta;
        const int n = snw_contact_point_bars(m, w, k, a->eta, &bars);
        a->eta[obstacle] = snw_twist_zero();
        for (int i = 0; i < n; i++) {
            wrench_plus(&a->bar[bars.seg[i]].g, bars.pose[i]);
            wrench_plus(&a->bar[bars.seg[i]].V, bars.V[i]);
        }
        // eta turns in the axes of an obstacle that moves
        const snw_se3 h = snw_se3_mul(snw_se3_inv(w->g[obstacle]), w->g[seg]);
        const snw_wrench F = snw_wrench_to_parent(h, snw_contact_point_wrench(w, k));
        if (obstacle > 0) wrench_plus(&a->bar[obstacle].g, snw_ad_pull(eta, F));
    }
}

void snw_model_geometry_by_state(snw_model_geometry *a, const snw_product *x, int noutput,
                                 const snw_adjoint_output *output, const double *y_bar,
                                 const snw_energy_weights *energy, const snw_inputs *in,
                                 const snw_state *s, const snw_work *w, const snw_state_bars *to) {
    const snw_model *m = a->m;
    if (x) {
        own_bars(a, x);
    } else {
        begin_bars(a);
    }
    for (int i = 0; i < noutput; i++) {
        const snw_output_use use = snw_output_use_of(m, &output[i]);
        if (y_bar[i] == 0) continue;
        const snw_probe_desc *p = &m->desc->probe[output[i].probe];
        if (p->of == SNW_PROBE_OF_CONTACT) {
            add_contact(a, &output[i], y_bar[i], w);
        } else if (use == SNW_OUTPUT_INERTIA) {
            add_inertia(a, &output[i], y_bar[i], w);
        } else if (use == SNW_OUTPUT_STATE) {
            add_state(a, &output[i], y_bar[i], in, s, w, NULL);
        } else if (use == SNW_OUTPUT_TENSION) {
            add_tension(a, p->item, y_bar[i], w);
        } else if (use == SNW_OUTPUT_MOTION) {
            const snw_signal signal = snw_probe_signal(m, output[i].probe, output[i].column);
            add_signal(a, &signal, y_bar[i], 1, w, NULL);
        }
    }
    if (energy) add_energies(a, energy, in, w);
    const sweep_at at = {.w = w,
                         .at_mu = x ? x->at_mu : NULL,
                         .q = s->q,
                         .v = s->v,
                         .acc = s->a,
                         .c = 1,
                         .state = to};
    carry_to_root(a, &at, NULL);
}

// ---- laws of rest strains -----------------------------------------------------------------------

// A place with a rest strain: its rod, arc length, and its first number.
typedef struct rest_place {
    int rod;
    double x;
    size_t first;
} rest_place;

// The k-th Magnus point of slice i whose numbers begin at `first`.
static rest_place magnus_point(const snw_model *m, int i, int k, size_t first) {
    const snw_slice *sl = &m->slice[i];
    return (rest_place){sl->rod, sl->x + m->rod[sl->rod].rule.c[k] * sl->h,
                        first + 1 + 6 * (size_t)k};
}

typedef void rest_fn(void *user, rest_place at);

static void each_rest(const snw_model *m, rest_fn *fn, void *user) {
    const parts p = find_parts(m);
    size_t first = p.slice;
    for (int i = 0; i < m->nslice; first += slice_numbers(m, i++)) {
        for (int k = 0; k < m->rod[m->slice[i].rod].nc; k++) fn(user, magnus_point(m, i, k, first));
    }
    for (int i = 0; i < m->nstation; i++) {
        const snw_station *at = &m->station[i];
        if (at->rod >= 0) fn(user, (rest_place){at->rod, at->x, p.rest + REST * (size_t)i});
    }
    for (int i = 0; i < m->ntendon_point; i++) {
        const snw_tendon_point *at = &m->tendon_point[i];
        if (at->rod >= 0) fn(user, (rest_place){at->rod, at->x, p.point + POINT * (size_t)i + XI0});
    }
}

static void drop_place(void *user, rest_place at) {
    memset((double *)user + at.first, 0, REST * sizeof(double));
}

void snw_model_geometry_drop_rest(const snw_model *m, double *x) { each_rest(m, drop_place, x); }

typedef struct rest_sum {
    const double *by;
    snw_model_sections *sections;
    double *bar;
} rest_sum;

static void add_place(void *user, rest_place at) {
    const rest_sum *sum = user;
    snw_model_sections_add_rest(sum->sections, at.rod, at.x, sum->by + at.first, sum->bar);
}

void snw_model_geometry_add_rest(const snw_model *m, const double *by, snw_model_sections *sections,
                                 double *bar) {
    rest_sum sum = {by, sections, bar};
    each_rest(m, add_place, &sum);
}
