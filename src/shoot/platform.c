// SPDX-License-Identifier: MIT
//
// Newton's method for legs joined to a plate: each leg is eliminated, and six equations for the
// pose of the plate remain. Factors are kept between steps and corrected by secants.
//
// Let zeta be a variation of the plate's pose in its frame, a = (zeta_t, dV) that of a leg's tip
// and b that of the wrench there, with a = Y b + y (segments.h). Let t be the pose of the tip, g
// that of the plate, o = tip_frame, h = plate_frame, and D = (t o)^-1 g h = (Q, d). By components
// in the axes of the joint (theory.md (10.4)),
//   constrained   r_i + (Q Ad(h^-1) zeta)_i = (Ad(o^-1) zeta_t)_i       r: d, or the rotation of Q
//   free          (Ad(o)' (G + dG))_i = 0
//   with          G = F - W(a),   dG = Z b - Wa y,   Z = 1 - Wa Y
//   balance       sum Ad*(g^-1 t) (G + dG - ad_zeta_t' G) + ad_zeta' Ad*(g^-1 t) G = W_p + dW_p
// G is the wrench of the plate on the tip, W the external wrench of the tip station, W_p that on
// the plate itself. The first two lines determine b from zeta, so six equations for zeta remain.
// The terms with ad account for the rotation of the frames of the wrenches; they cancel where all
// motions are constrained.
//
// The plate's velocity follows from its poses (pose_rate.h); V_t = c_0 V + sum c_k V_k + d V_t1.
//
// Inactive strains of a leg make its compliance Y singular, and the joints of several such legs may
// be redundant: the first line then has no solution, or many. In these cases the tangent, and only
// the tangent, gets a small compliance of the joint, JOINT_COMPLIANCE L^n/EI, and the static
// balance a small stiffness. These are proximal terms: they vanish as the iteration converges, so
// the equations solved are the exact ones (theory.md 10.6).

#include "shoot/platform.h"

#include "shoot/pose_rate.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static void platform_place(void *object, snw_fields *f) {
    snw_platform *o = object;
    const size_t n = (size_t)o->n, rows = o->rows;
    SNW_PLATFORM_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_platform_create(int n, const snw_leg_end *end, snw_se3 g,
                               const snw_boundary_opts *opts, snw_platform **out) {
    *out = NULL;
    size_t rows = 6;
    for (int i = 0; i < n; i++) rows += (size_t)(end[i].rod->nnode - 1) * (12 + 6);
    snw_platform *p = snw_alloc(sizeof *p);
    if (!p) return SNW_E_MEMORY;
    p->n = n;
    p->rows = rows;
    p->block = snw_fields_create(platform_place, p);
    if (!p->block) {
        snw_free(p);
        return SNW_E_MEMORY;
    }
    p->opts = *opts;
    p->opts.pose = SNW_POSE_ALL;
    p->damping = SNW_PLATFORM_DAMPING;
    p->g = g;
    for (int i = 0; i < n; i++) {
        SNW_ASSERT(!end[i].rod->law);
        p->leg[i].end = end[i];
        const snw_status s = snw_boundary_create(end[i].rod, &p->opts, &p->leg[i].b);
        if (s == SNW_OK) continue;
        snw_platform_destroy(p);
        return s;
    }
    snw_platform_ready(p);
    snw_platform_begin(p, true, 1);
    *out = p;
    return SNW_OK;
}

void snw_platform_destroy(snw_platform *p) {
    if (!p) return;
    for (int i = 0; i < p->n; i++) snw_boundary_destroy(p->leg[i].b);
    snw_free(p->block);
    snw_free(p);
}

void snw_platform_ready(snw_platform *p) {
    p->gravity = p->leg[0].end.rod->gravity;
    p->force = p->plate.has_body ? p->plate.M.m * snw_norm(p->gravity) : 0;
    double length = 0;
    for (int i = 0; i < p->n; i++) {
        p->force = fmax(p->force, p->leg[i].end.rod->force);
        length = fmax(length, p->leg[i].end.rod->length);
    }
    for (int i = 0; i < p->plate.nload; i++) {
        const snw_wrench W = p->plate.load[i].W;
        p->force = fmax(p->force, fmax(snw_norm(W.f), snw_norm(W.m) / length));
    }
}

// ---- time ---------------------------------------------------------------------------------------

void snw_platform_formula(snw_platform *p, snw_levels levels, double h) {
    for (int i = 0; i < p->n; i++) snw_shoot_formula(p->leg[i].end.rod, levels, h);
}

static const snw_time_formula *formula_of(const snw_platform *p) {
    return &p->leg[0].end.rod->formula;
}

// form of the equations of all legs, NULL: that of march.h
static const snw_shoot_form *form_of(const snw_platform *p) { return p->leg[0].end.rod->form; }

// p->V <- by the time formula; by <- its derivative by the pose, unless NULL
static void plate_velocity(snw_platform *p, snw_lower *by) {
    p->V = snw_pose_rate(formula_of(p), p->g, p->past, p->V_past[0], by);
    if (form_of(p)) p->V = form_of(p)->pose_rate(formula_of(p), p->g, p->past, p->V_past);
}

static snw_station_step plate_step(const snw_platform *p) {
    const snw_time_formula *f = formula_of(p);
    if (form_of(p) && f->c[0] > 0) {
        const snw_twist Vt = form_of(p)->velocity_rate(f, p->g, p->V, p->past, p->V_past, p->A);
        return (snw_station_step){
            .gravity = p->gravity, .c0 = f->c[0], .Vh = snw_twist_axpy(-f->c[0], p->V, Vt)};
    }
    snw_station_step now = {
        .gravity = p->gravity, .c0 = f->c[0], .Vh = snw_twist_scale(f->d, p->A)};
    for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
        now.Vh = snw_twist_axpy(f->c[k], p->V_past[k - 1], now.Vh);
    }
    return now;
}

void snw_platform_accept(snw_platform *p, double h) {
    const snw_station_step now = plate_step(p);
    p->A = snw_twist_axpy(now.c0, p->V, now.Vh);
    for (int i = 0; i < p->n; i++) {
        snw_shoot_accept(p->leg[i].end.rod, h);
        snw_boundary_accept(p->leg[i].b, h);
    }
    for (int k = SNW_BOUNDARY_PAST - 1; k > 0; k--) p->past[k] = p->past[k - 1];
    for (int k = SNW_TIME_LEVELS - 1; k > 0; k--) p->V_past[k] = p->V_past[k - 1];
    p->past[0] = p->g;
    p->V_past[0] = p->V;
    p->npast = p->leg[0].b->npast; // number of equal steps, as for the legs
}

void snw_platform_begin(snw_platform *p, bool rest, double h) {
    if (rest) p->V = p->A = snw_twist_zero();
    for (int k = 0; k < SNW_TIME_LEVELS; k++) {
        p->past[k] = snw_se3_mul(p->g, snw_se3_exp(snw_twist_scale(-k * h, p->V)));
        p->V_past[k] = snw_twist_axpy(-k * h, p->A, p->V);
    }
    for (int i = 0; i < p->n; i++) snw_shoot_begin(p->leg[i].end.rod, rest, h);
    snw_platform_reset_guess(p);
}

void snw_platform_reset_guess(snw_platform *p) {
    for (int i = 0; i < p->n; i++) snw_boundary_reset_guess(p->leg[i].b);
    p->npast = 0;
    p->factored = false;
    p->secants = (snw_secants){0}; // they belong to the discarded factors
}

// ---- Newton iteration ---------------------------------------------------------------------------

static double platform_larger(double a, double b) { return b >= a || isnan(b) ? b : a; }

static bool all_rotations_free(const snw_leg_end *e) {
    return e->free[0] && e->free[1] && e->free[2];
}

// violation of the constrained motions, in joint axes; returns the largest, lengths scaled by L
static double evaluate_joint(snw_leg *leg, snw_se3 g, const snw_shoot_state *tip) {
    const snw_leg_end *e = &leg->end;
    const snw_se3 D =
        snw_se3_mul(snw_se3_inv(snw_se3_mul(tip->g, e->tip_frame)), snw_se3_mul(g, e->plate_frame));
    const bool any = e->free[0] || e->free[1] || e->free[2];
    snw_vec3 angle = any ? (snw_vec3){{0}} : snw_so3_log(D.R);
    for (int k = 0; k < 3 && any && !all_rotations_free(e); k++) {
        if (!e->free[k]) continue;
        // rotation about one axis is free: the other two components of the tilt of that axis
        const snw_vec3 unit = {{k == 0, k == 1, k == 2}};
        angle = snw_cross(unit, snw_rotate(D.R, unit));
    }
    leg->rotation = D.R;
    double worst = 0;
    for (int i = 0; i < 6; i++) {
        leg->violation[i] = e->free[i] ? 0 : (i < 3 ? angle.e[i] : D.p.e[i - 3]);
        worst = platform_larger(worst, fabs(leg->violation[i]) / (i < 3 ? 1 : e->rod->length));
    }
    return worst;
}

// largest wrench component along the free motions, scaled
static double free_wrench_residual(const snw_leg *leg, double force) {
    const snw_wrench G = snw_wrench_to_child(leg->end.tip_frame, leg->tip_wrench);
    double worst = 0;
    for (int i = 0; i < 6; i++) {
        const double size = force * (i < 3 ? leg->end.rod->length : 1);
        if (leg->end.free[i]) worst = platform_larger(worst, fabs(G.e[i]) / size);
    }
    return worst;
}

// march all legs; returns the largest scaled residual of defects, joints and balance
static double platform_march(void *user, bool derivatives, snw_boundary_info *info) {
    snw_platform *p = user;
    double worst = 0, length = 0;
    snw_wrench sum = snw_wrench_zero();
    info->marches++;
    info->tangents += derivatives;
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        const snw_shoot_rod *r = leg->end.rod;
        worst = platform_larger(worst, snw_segments_march(leg->b->segments, derivatives));
        if (!isfinite(worst)) return NAN;
        const snw_shoot_state *tip = snw_segments_tip(leg->b->segments);
        worst = platform_larger(worst, evaluate_joint(leg, p->g, tip));
        leg->g_pt = snw_se3_mul(snw_se3_inv(p->g), tip->g);
        leg->tip_wrench = snw_wrench_sub(tip->F, snw_station_wrench(r, r->npiece - 1, tip));
        leg->on_plate = snw_wrench_to_parent(leg->g_pt, leg->tip_wrench);
        worst = platform_larger(worst, free_wrench_residual(leg, p->force));
        sum = snw_wrench_add(sum, leg->on_plate);
        length = fmax(length, r->length);
    }
    plate_velocity(p, NULL);
    const snw_station_step now = plate_step(p);
    const snw_shoot_state plate = {.g = p->g, .V = p->V};
    p->balance = snw_wrench_sub(sum, snw_station_external_wrench(&p->plate, &now, &plate));
    p->balance = snw_wrench_sub(p->balance, p->support);
    const double imbalance =
        fmax(snw_norm(p->balance.f), snw_norm(p->balance.m) / length) / p->force;
    return platform_larger(worst, imbalance);
}

// y <- A x, 6 x 6 column major
static void platform_times(const double *A, const double *x, double *y) {
    for (int i = 0; i < 6; i++) y[i] = 0;
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++) y[i] += A[6 * j + i] * x[j];
    }
}

// x <- components along the constrained motions, in joint axes, of a motion zeta of the plate
static void platform_joint_motion(const snw_leg *leg, snw_twist zeta, double x[6]) {
    const snw_twist u = snw_twist_to_child(leg->end.plate_frame, zeta);
    const snw_vec3 w = snw_rotate(leg->rotation, u.w), v = snw_rotate(leg->rotation, u.v);
    for (int i = 0; i < 3; i++) {
        x[i] = leg->end.free[i] ? 0 : w.e[i];
        x[3 + i] = leg->end.free[3 + i] ? 0 : v.e[i];
    }
}

// change of the wrench between leg and plate, in the plate frame, for the change b of the wrench at
// the tip and the further changes `pose` of the tip's pose and G of the wrench on the tip
static snw_wrench wrench_change_on_plate(const snw_leg *leg, const double b[6], snw_twist pose,
                                         snw_wrench G) {
    double zeta[6], dG[6];
    platform_times(leg->Y, b, zeta);
    platform_times(leg->Z, b, dG);
    for (int i = 0; i < 6; i++) pose.e[i] += zeta[i], G.e[i] += dG[i];
    return snw_wrench_to_parent(leg->g_pt, snw_wrench_sub(G, snw_ad_pull(pose, leg->tip_wrench)));
}

// Compliance added to joints in the tangent, relative to a typical compliance of the leg.
static const double JOINT_COMPLIANCE = 1e-9;

// are bending, twist and stretch active?
static bool is_compliant(const snw_shoot_rod *r) {
    return r->active[0] && r->active[1] && r->active[2] && r->active[3];
}

// factors of a leg; its stiffness is added to p->A_plate
static snw_status factor_leg(snw_platform *p, snw_leg *leg) {
    snw_segments *s = leg->b->segments;
    const snw_shoot_rod *r = leg->end.rod;
    leg->known = false;
    SNW_TRY(snw_segments_factor(s));
    const snw_segment *t = snw_segments_relation(s);
    const double compliance =
        is_compliant(r) ? 0 : JOINT_COMPLIANCE * r->length / fmin(r->K[7], r->K[14]);
    double S[SNW_SHOOT_ROWS * 12] = {0};
    for (int i = 0; i < 12; i++) S[i * 12 + i] = 1;
    snw_station_vary(r, r->npiece - 1, snw_segments_tip(s), 12, S, &leg->Wa[0][0]);
    for (int j = 0; j < 6; j++) {
        snw_twist zeta;
        snw_wrench G;
        for (int i = 0; i < 6; i++) {
            double z = i == j;
            for (int a = 0; a < 12; a++) z -= leg->Wa[i][a] * t->Y[a][j];
            leg->Y[6 * j + i] = zeta.e[i] = t->Y[i][j];
            leg->Z[6 * j + i] = G.e[i] = z;
        }
        zeta = snw_twist_to_child(leg->end.tip_frame, zeta);
        G = snw_wrench_to_child(leg->end.tip_frame, G);
        snw_wrench b = snw_wrench_zero();
        b.e[j] = 1;
        b = snw_wrench_to_child(leg->end.tip_frame, b);
        for (int i = 0; i < 6; i++) {
            const double by = i < 3 ? compliance : compliance * r->length * r->length;
            leg->E[6 * j + i] = leg->end.free[i] ? G.e[i] : zeta.e[i] + by * b.e[i];
        }
    }
    SNW_TRY(snw_lu_factor(6, leg->E, leg->pivot));
    leg->known = true;
    for (int k = 0; k < 6; k++) {
        snw_twist unit = snw_twist_zero();
        unit.e[k] = 1;
        double b[6];
        platform_joint_motion(leg, unit, b);
        snw_lu_solve(6, leg->E, leg->pivot, b);
        const snw_wrench W =
            snw_wrench_add(wrench_change_on_plate(leg, b, snw_twist_zero(), snw_wrench_zero()),
                           snw_ad_pull(unit, leg->on_plate));
        for (int i = 0; i < 6; i++) p->A_plate[6 * k + i] += W.e[i];
    }
    return SNW_OK;
}

// p->A_plate <- contribution of the plate itself
static void factor_plate(snw_platform *p) {
    snw_lower by;
    plate_velocity(p, &by);
    const snw_station_step now = plate_step(p);
    const snw_shoot_state plate = {.g = p->g, .V = p->V};
    for (int k = 0; k < 6; k++) {
        snw_twist unit = snw_twist_zero();
        unit.e[k] = 1;
        const snw_wrench W = snw_station_wrench_variation(&p->plate, &now, &plate, unit.w,
                                                          snw_lower_apply(&by, unit));
        for (int i = 0; i < 6; i++) p->A_plate[6 * k + i] = -W.e[i];
    }
}

static snw_status platform_factor(void *user) {
    snw_platform *p = user;
    p->factored = false;
    factor_plate(p);
    for (int i = 0; i < p->n; i++) SNW_TRY(factor_leg(p, &p->leg[i]));
    for (int i = 0; i < 36; i++) {
        if (!isfinite(p->A_plate[i])) return SNW_E_SINGULAR;
    }
    memcpy(p->LU, p->A_plate, sizeof p->LU);
    const snw_shoot_rod *r = p->leg[0].end.rod;
    const double stiffness = p->damping * fmax(r->K[7], r->K[14]) / r->length;
    for (int i = 0; i < 6 && formula_of(p)->c[0] == 0; i++) {
        p->LU[7 * i] += i < 3 ? stiffness : stiffness / (r->length * r->length);
    }
    SNW_TRY(snw_lu_factor(6, p->LU, p->pivot));
    p->factored = true;
    p->c0 = formula_of(p)->c[0];
    return SNW_OK;
}

// leg->x <- right-hand side of the joint equations with the plate fixed; returns the resulting
// change of the wrench between leg and plate
static snw_wrench condense_leg(snw_leg *leg) {
    snw_segments *s = leg->b->segments;
    snw_segments_condense(s);
    const snw_segment *t = snw_segments_relation(s);
    snw_twist pose;
    snw_wrench G = snw_wrench_zero();
    for (int i = 0; i < 6; i++) {
        pose.e[i] = t->y[i];
        for (int a = 0; a < 12; a++) G.e[i] -= leg->Wa[i][a] * t->y[a];
    }
    const snw_twist zeta = snw_twist_to_child(leg->end.tip_frame, pose);
    const snw_wrench on_tip =
        snw_wrench_to_child(leg->end.tip_frame, snw_wrench_add(leg->tip_wrench, G));
    double b[6];
    for (int i = 0; i < 6; i++) {
        b[i] = leg->x[i] = leg->end.free[i] ? -on_tip.e[i] : leg->violation[i] - zeta.e[i];
    }
    snw_lu_solve(6, leg->E, leg->pivot, b);
    return wrench_change_on_plate(leg, b, pose, G);
}

// size of a leg's increment
static int platform_rows_of(const snw_leg *leg) {
    return leg->b->segments->n * (leg->b->segments->na + 6);
}

// Secants of previous steps remain valid while the factors are kept.
static void platform_begin_secants(snw_platform *p, bool have) {
    int n = 6;
    for (int i = 0; i < p->n; i++) n += platform_rows_of(&p->leg[i]);
    snw_secants_pause(&p->secants);
    if (have && p->secants.n == n) return;
    double *w = p->weight;
    const double L = p->leg[0].end.rod->length;
    for (int i = 0; i < 6; i++) *w++ = i < 3 ? 1 : 1 / (L * L);
    for (int i = 0; i < p->n; i++) w = snw_segments_weights(p->leg[i].b->segments, w);
    p->secants = snw_secants_on(n, SNW_BOUNDARY_SECANTS, p->weight, p->memory);
}

// p->delta <- zeta and increments of all starts, corrected by the secants
static void platform_increment(void *user) {
    snw_platform *p = user;
    snw_wrench sum = p->balance;
    for (int i = 0; i < p->n; i++) sum = snw_wrench_add(sum, condense_leg(&p->leg[i]));
    snw_twist zeta;
    for (int i = 0; i < 6; i++) zeta.e[i] = -sum.e[i];
    snw_lu_solve(6, p->LU, p->pivot, zeta.e);
    memcpy(p->delta, zeta.e, 6 * sizeof *p->delta);
    double *delta = p->delta + 6;
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        double b[6];
        platform_joint_motion(leg, zeta, b);
        for (int k = 0; k < 6; k++) b[k] += leg->x[k];
        snw_lu_solve(6, leg->E, leg->pivot, b);
        snw_segments_solution(leg->b->segments, b, NULL, delta);
        delta += platform_rows_of(leg);
    }
    snw_secants_next(&p->secants, p->delta);
}

static void platform_save(void *user) {
    snw_platform *p = user;
    p->saved = p->g;
    for (int i = 0; i < p->n; i++) snw_boundary_save(p->leg[i].b);
}

static void platform_move(void *user, double size) {
    snw_platform *p = user;
    snw_twist zeta;
    memcpy(zeta.e, p->delta, 6 * sizeof *p->delta);
    p->g = snw_se3_mul(p->saved, snw_se3_exp(snw_twist_scale(size, zeta)));
    const double *delta = p->delta + 6;
    for (int i = 0; i < p->n; i++) {
        snw_segments_move(p->leg[i].b->segments, delta, size);
        delta += platform_rows_of(&p->leg[i]);
    }
}

static void platform_restore(void *user) {
    snw_platform *p = user;
    for (int i = 0; i < p->n; i++) snw_boundary_restore(p->leg[i].b);
    p->g = p->saved;
}

static snw_status platform_newton(snw_platform *p, snw_boundary_info *info) {
    bool have = p->opts.keep && p->factored && p->c0 == formula_of(p)->c[0];
    for (int i = 0; i < p->n; i++) have = have && p->leg[i].b->segments->factored;
    platform_begin_secants(p, have);
    const snw_kept_newton newton = {.user = p,
                                    .tol = p->opts.tol,
                                    .max_iter = p->opts.max_iter,
                                    .secants = &p->secants,
                                    .have = have,
                                    .march = platform_march,
                                    .factor = platform_factor,
                                    .increment = platform_increment,
                                    .save = platform_save,
                                    .move = platform_move,
                                    .restore = platform_restore};
    return snw_kept_newton_solve(&newton, info);
}

// initial guess of the pose: extrapolation by a polynomial through the last poses
static void platform_guess(snw_platform *p) {
    snw_twist x = snw_twist_zero();
    for (int k = 1; k < p->npast; k++) {
        const snw_twist back = snw_se3_log(snw_se3_mul(snw_se3_inv(p->past[0]), p->past[k]));
        x = snw_twist_axpy(snw_boundary_weight(p->npast, k), back, x);
    }
    if (p->npast < 2) return;
    p->g = snw_se3_mul(p->past[0], snw_se3_exp(x));
    // the extrapolation must not accumulate errors of orthogonality
    p->g.R = snw_quat_to_mat3(snw_quat_normalise(snw_quat_from_mat3(p->g.R)));
}

snw_status snw_platform_solve(snw_platform *p, snw_boundary_info *info) {
    *info = (snw_boundary_info){0};
    for (int i = 0; i < p->n; i++) snw_boundary_begin(p->leg[i].b);
    const snw_se3 g = p->g;
    platform_guess(p);
    const snw_status status = platform_newton(p, info);
    if (status != SNW_OK) p->g = g, p->V = p->V_past[0];
    // the marches of legs with r->world have stored the poses
    for (int i = 0; i < p->n && status == SNW_OK; i++) {
        if (!p->leg[i].end.rod->world) snw_shoot_poses(p->leg[i].end.rod);
    }
    return status;
}

double snw_platform_evaluate(snw_platform *p) {
    snw_boundary_info ignored = {0};
    snw_platform_reset_guess(p);
    for (int i = 0; i < p->n; i++) snw_boundary_begin(p->leg[i].b);
    return platform_march(p, false, &ignored);
}

snw_status snw_platform_stiffness(snw_platform *p, double *A) {
    snw_boundary_info ignored = {0};
    for (int i = 0; i < p->n; i++) {
        // no segments after a reset: start from the nodes
        if (p->leg[i].b->segments->n == 0) snw_boundary_begin(p->leg[i].b);
    }
    if (!isfinite(platform_march(p, true, &ignored))) return SNW_E_DIVERGED;
    SNW_TRY(platform_factor(p));
    memcpy(A, p->A_plate, sizeof p->A_plate);
    return SNW_OK;
}
