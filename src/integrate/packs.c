// SPDX-License-Identifier: MIT
//
// Implicit steps on packs: choice of the engine for this processor, models and steps that it
// serves, and the parts of a step before and after the equations are solved.
#include "integrate/packs.h"

#include "dynamics/contact.h"
#include "dynamics/drag_spring.h"
#include "dynamics/tendon.h"
#include "integrate/implicit_private.h"
#include "integrate/step_account.h"
#include "integrate/step_control.h"
#include "integrate/step_energies.h"
#include "integrate/step_lengths.h"

#include <math.h>
#include <string.h>

// ---- choice -------------------------------------------------------------------------------------

// SNW_PACKS: width of the widest registers for which packs were compiled.
#ifdef SNW_PACKS
extern const snw_pack_engine snw_packs4, snw_packs8, snw_singles8, snw_singles16;

const snw_pack_engine *snw_packs(int most, bool single) {
    const int less = single ? 8 : 4; // in registers of 256 bits
    if (most == 0) most = SNW_LANES_MOST;
#if SNW_PACKS >= 512
    if (most >= 2 * less && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return single ? &snw_singles16 : &snw_packs8;
#endif
    if (most < less || !__builtin_cpu_supports("avx2")) return NULL;
    return single ? &snw_singles8 : &snw_packs4;
}
#else
const snw_pack_engine *snw_packs(int most, bool single) {
    (void)most, (void)single;
    return NULL;
}
#endif

static bool has_straight_segments(const snw_model *m, const snw_tendon *tendon) {
    bool any = false;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++)
        any |= m->tendon_point[k].segment >= 0;
    return any;
}

static const char *refuse_tendons(const snw_model *m, bool device) {
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        if (tendon->given == SNW_GIVEN_SOURCE)
            return "muscles whose force follows from their length";
        if (tendon->when && !device) return "conditional elements";
        if (tendon->has_friction) return "friction of tendons";
        if (tendon->area) return "chambers whose area varies";
        if (m->nfield > 0) return "tendons along rods with given strains";
    }
    return NULL;
}

static const char *refuse_rods(const snw_model *m, bool device) {
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *r = &m->rod[i];
        if (r->rule.kind != SNW_RULE_MAGNUS) return "rules other than magnus";
        if (r->tolerance > 0) return "rods with a tolerance";
        if (r->together) return "strains that move together";
        if (r->rest_varies || r->section_varies)
            return "rods of variable length whose section or rest strain varies";
    }
    for (int i = 0; i < m->npose; i++) {
        if (m->pose[i].captured && !device) return "recorded poses";
    }
    return NULL;
}

static const char *refuse_forces(const snw_model *m, bool device) {
    for (int i = 0; i < m->nstop; i++) {
        if (m->block[m->stop[i].block].space == SNW_SPACE_SO3 && !device)
            return "stops of spherical joints";
        if (m->stop[i].hard) return "hard stops";
    }
    for (int i = 0; i < m->nforce_element; i++) {
        if (m->force_element[i].force && !device) return "springs with a law";
    }
    return NULL;
}

static const char *refuse_contacts(const snw_model *m, bool device) {
    for (int i = 0; i < m->ncontact; i++) {
        const snw_obstacle *o = &m->contact[i].obstacle;
        if (m->contact[i].hard) return "hard contacts";
        if (o->hull) return "contacts with hulls";
        if ((o->height || o->grid) && !device) return "contacts with terrain and meshes";
    }
    return NULL;
}

static const char *refuse_constraints(const snw_model *m) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->sliding_station || loop->through) return "rods that slide through loops";
    }
    return NULL;
}

// A robot's laws are evaluated with the poses and columns of its pack, but with its own tendons.
static const char *refuse_signal(const snw_model *m, const snw_signal *signal) {
    if (signal->kind == SNW_SIGNAL_CAPTURED) return "laws that read captured values";
    if (signal->kind != SNW_SIGNAL_PROBE) return NULL;
    if (signal->reading == SNW_READ_STRAIN && !signal->table) return "laws that read given strains";
    if (signal->tendon < 0) return NULL;
    const snw_tendon *tendon = &m->tendon[signal->tendon];
    if (has_straight_segments(m, tendon)) return "laws that read tendons with straight segments";
    return tendon->row >= 0 && signal->reading == SNW_READ_TENDON_EFFORT
               ? "laws that read efforts of given lengths"
               : NULL;
}

static const char *refuse_laws(const snw_model *m) {
    const char *what = NULL;
    for (int k = 0; k < m->nlive && !what; k++) what = refuse_signal(m, &m->signal[m->live[k]]);
    for (int i = 0; m->nlive && i < m->ntendon && !what; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        if (!tendon->reads_signals) continue;
        if (tendon->given != SNW_GIVEN_EFFORT) what = "given lengths whose laws read signals";
        if (has_straight_segments(m, tendon))
            what = "tendons with straight segments whose laws read signals";
    }
    return what;
}

const char *snw_packs_refuse(const snw_implicit *im, bool device) {
    const snw_model *m = im->m;
    const snw_implicit_opts *opts = &im->opts;
    const struct {
        bool has;
        const char *what;
    } list[] = {
        {im->redundant && !device, "wheels or contacts without slip whose rows are redundant"},
        {m->ncondition > 0 && !device, "conditional elements"},
        {m->ntouching_rod > 0, "contacts of rods with rods"},
        {m->nforce_field_point > 0 && !device, "fields"},
        {m->ngrid > 0, "rods on one grid"},
        {m->ntube > 0, "concentric tubes"},
        {m->nlaw_point > 0 && !device, "nonlinear materials"},
        {m->bare || m->local, "robots too large for a dense matrix"},
        {opts->chart != SNW_CHART_SE3, "the split chart"},
        {opts->control, "controlled step lengths"},
        {opts->estimate, "the estimate of the global error"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (list[i].has) return list[i].what;
    }
    const char *what = refuse_tendons(m, device);
    if (!what) what = refuse_constraints(m);
    if (!what) what = refuse_forces(m, device);
    if (!what) what = refuse_contacts(m, device);
    if (!what && !device) what = refuse_laws(m);
    return what ? what : refuse_rods(m, device);
}

// ---- steps --------------------------------------------------------------------------------------

// Residual relative to typical forces that floats can reach, theory.md 6.10.
static const double SINGLE_TOLERANCE = 5e-6;

static size_t account_memory(const snw_model *m) {
    return SNW_LANE_POINTS * (3 + snw_inputs_doubles(m)) + (size_t)snw_npower(m);
}

static size_t law_memory(const snw_model *m) {
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
    return m->nlive ? nq + 2 * nv + nv * nv + (size_t)m->nsignal + (size_t)m->ntendon : 0;
}

size_t snw_pack_lane_memory(const snw_model *m) { return account_memory(m) + law_memory(m); }

// Places of the energy account in a step, over its length.
static double point_at(int k) {
    const double at[SNW_LANE_POINTS] = {snw_account_point[0], snw_account_point[1], 0, 1};
    return at[k];
}

static bool laws_read_frames(const snw_model *m) {
    bool any = false;
    for (int k = 0; k < m->nlive; k++) any |= snw_signal_reads_frame(&m->signal[m->live[k]]);
    return any;
}

static bool laws_read_tendons(const snw_model *m) {
    bool any = false;
    for (int k = 0; k < m->nlive; k++) any |= m->signal[m->live[k]].tendon >= 0;
    return any;
}

static bool laws_move_tendons(const snw_model *m) {
    bool any = false;
    for (int i = 0; m->nlive && i < m->ntendon; i++) any |= m->tendon[i].reads_signals;
    return any;
}

// im->w->r <- minus the forces of active stress and motors by laws that read signals at s,
// im->w->load <- loads, im->w->signal <- the signals. After the poses and twists that they read.
static void law_forces_at(snw_implicit *im, const snw_inputs *in, const snw_state *s) {
    const snw_model *m = im->m;
    memset(im->w->r, 0, (size_t)m->nv * sizeof *im->w->r);
    im->w->is_static = false;
    if (laws_read_tendons(m)) snw_tendons_motion(m, in, s, false, im->w);
    if (m->nread) snw_observe_read(m, in, s, false, im->w);
    snw_feedback(m, in, s, im->w);
}

// Efforts of tendons by laws that read signals; those that the caller has set have no law.
static void law_efforts(snw_implicit *im, const snw_inputs *in) {
    const snw_model *m = im->m;
    const snw_at at = {.t = in->t, .signal = im->w->signal};
    for (int i = 0; i < m->ntendon; i++) {
        if (!m->tendon[i].reads_signals) continue;
        const bool by_law = snw_tendon_reads_signals(m, in, i);
        const double effort = by_law ? snw_tendon_law(m, i, in, at) : in->tendon[i].v;
        im->lane_effort[i] = effort;
        // slack tendons have no derivative
        im->w->tendon[i].effort = effort < 0 && m->tendon[i].type->only_pulls ? 0 : effort;
        im->w->tendon[i].gain = 1;
    }
}

// Signals at the end of the step are kept, for the account, whose points come after it. Those held
// between instants do not change within a step, integrals do.
static void law_forces(void *robot, int point, const double *q, const double *v, double *r) {
    snw_implicit *im = robot;
    const snw_model *m = im->m;
    const size_t nz = (size_t)m->nsignal * sizeof(double);
    const double *now = im->now->z;
    snw_state *s = im->scratch_state;
    memcpy(s->q, q, (size_t)m->nq * sizeof *q);
    memcpy(s->v, v, (size_t)m->nv * sizeof *v);
    if (point < 0) {
        memcpy(s->z, im->trial->z, nz);
        law_forces_at(im, im->in, s);
        law_efforts(im, im->in);
        memcpy(im->lane_signal, im->w->signal, nz);
    } else {
        const double at = point_at(point);
        for (int i = 0; i < m->nsignal; i++)
            s->z[i] = snw_signal_grows(&m->signal[i]) ? now[i] + at * (im->lane_signal[i] - now[i])
                                                      : now[i];
        snw_inputs_at(m, im->now->t + at * im->lane_h, im->within);
        law_forces_at(im, im->within, s);
        law_efforts(im, im->within);
    }
    memcpy(r, im->w->r, (size_t)m->nv * sizeof *r);
}

static void law_tangent(void *robot, int point, double cq, double cv, double *T) {
    snw_implicit *im = robot;
    const snw_model *m = im->m;
    const snw_inputs *in = point < 0 ? im->in : im->within;
    const size_t nv = (size_t)m->nv;
    memset(T, 0, nv * nv * sizeof *T);
    if (m->nread) snw_jacobian_read(m, im->w);
    if (laws_move_tendons(m) || laws_read_tendons(m)) {
        if (!laws_read_tendons(m)) snw_tendons_motion(m, in, im->scratch_state, false, im->w);
        snw_tendons_jacobian(m, im->w);
    }
    snw_feedback_tangent(m, in, cq, cv, im->w, nv, T);
}

static snw_pack_laws lane_laws(snw_implicit *im, double *memory) {
    const size_t nq = (size_t)im->m->nq, nv = (size_t)im->m->nv;
    if (im->m->nlive == 0) return (snw_pack_laws){0};
    return (snw_pack_laws){.forces = law_forces,
                           .tangent = law_tangent,
                           .robot = im,
                           .q = memory,
                           .v = memory + nq,
                           .r = memory + nq + nv,
                           .T = memory + nq + 2 * nv,
                           .g = (double *)im->w->g,
                           .V = (double *)im->w->V,
                           .J = im->w->J,
                           .dJ = im->w->dJ,
                           .load = (const double *)im->w->load,
                           .effort = memory + nq + 2 * nv + nv * nv + (size_t)im->m->nsignal};
}

// Inputs at the points of the energy account.
static void lane_points(snw_implicit *im, double h, double *memory, snw_pack_lane *lane) {
    const snw_model *m = im->m;
    const size_t n = snw_inputs_doubles(m);
    const int points = snw_step_energies_count(m) ? SNW_LANE_POINTS : SNW_LANE_WITHIN;
    for (int k = 0; k < points; k++, memory += 3 + n) {
        snw_inputs_at(m, im->now->t + point_at(k) * h, im->within);
        memcpy(memory, im->within->gravity.e, 3 * sizeof *memory);
        memcpy(memory + 3, im->within->block, n * sizeof *memory);
        lane->point_gravity[k] = memory;
        lane->point_inputs[k] = memory + 3;
    }
    lane->work = memory;
}

// Does a pack compute the energies of the step? Those of steps whose end is projected are left to
// the robot.
static bool accounts(const snw_implicit *im) {
    return !im->opts.no_account && !snw_implicit_projects_end(im);
}

// As above without passing through an obstacle; 0: the robot is about to.
static double length_outside(snw_implicit *im, double h, double longest) {
    if (im->opts.fixed_length || !snw_contact_has_curved(im->m)) return h;
    snw_kinematics(im->m, im->in, im->now, false, im->w);
    if (snw_contact_too_deep(im->m, im->w) >= 0) return 0;
    return snw_step_cut(h, snw_contact_step_limit(im->m, im->w, h), SNW_SHORTEST_STEP * longest,
                        longest);
}

bool snw_implicit_fits_lane(const snw_implicit *im) {
    return snw_drag_spring_seg(im->in) == 0 && !im->watch.note && !im->use_euler && !im->redundant;
}

double snw_implicit_lane_length(snw_implicit *im, double h, double longest) {
    if (!snw_implicit_fits_lane(im)) return 0;
    return length_outside(im, snw_implicit_limit(im, h, longest), longest);
}

void snw_implicit_open_lane(snw_implicit *im, double h, double t_laws, bool single, double *memory,
                            snw_pack_lane *lane) {
    snw_implicit_begin(im, h, t_laws);
    snw_implicit_first_guess(im);
    for (int i = 0; i < im->m->nnonholonomic; i++) im->trial->dropped[i] = 0;
    im->lane_tolerance = single ? fmax(im->opts.tolerance, SINGLE_TOLERANCE) : im->opts.tolerance;
    *lane = (snw_pack_lane){.active = true,
                            .a = im->a,
                            .b = im->b,
                            .single = single,
                            .tolerance = im->lane_tolerance,
                            .max_iter = im->opts.max_iter,
                            .keeps = im->lane_keeps,
                            .f = im->f,
                            .g = im->g,
                            .q = im->now->q,
                            .scale = im->scale,
                            .gravity = im->in->gravity.e,
                            .inputs = im->in->block,
                            .d = im->d,
                            .lambda = im->trial->lambda,
                            .relaxed = im->trial->relaxed,
                            .follow = im->trial->follow,
                            .rate = im->rate,
                            .acc = im->acc,
                            .trial_q = im->trial->q,
                            .trial_v = im->trial->v,
                            .trial_a = im->trial->a,
                            .account = accounts(im),
                            .h = h,
                            .past_h = im->past.h,
                            .v0 = im->now->v,
                            .a0 = im->now->a,
                            .lambda0 = im->now->lambda,
                            .relaxed0 = im->now->relaxed,
                            .follow0 = im->now->follow,
                            .rate0 = im->past.v,
                            .vb = im->past.vb};
    im->lane_h = h;
    lane->laws = lane_laws(im, memory);
    im->lane_signal = lane->laws.T ? lane->laws.T + (size_t)im->m->nv * (size_t)im->m->nv : NULL;
    im->lane_effort = lane->laws.effort;
    if (lane->account) lane_points(im, h, memory + law_memory(im->m), lane);
}

bool snw_implicit_end_lane(snw_implicit *im, double h, const snw_pack_lane *lane) {
    if (!lane->solved) {
        snw_implicit_give_up(im);
        return false;
    }
    // floats have solved for the increment; the state that it leads to has all digits
    if (lane->single) snw_implicit_place(im);
    if (im->m->nlive) { // integrals at the end of the step
        if (laws_read_frames(im->m)) snw_kinematics(im->m, im->in, im->trial, false, im->w);
        law_forces_at(im, im->in, im->trial);
    }
    snw_step_energies end[2];
    _Static_assert(sizeof end == sizeof lane->energies, "energies of a lane in the same order");
    memcpy(end, lane->energies, sizeof end);
    const snw_step_sums sums = {.heat = lane->heat,
                                .other_heat = lane->other_heat,
                                .unbalanced = lane->unbalanced,
                                .work = lane->work,
                                .from = &end[0],
                                .to = &end[1]};
    im->T_origin.known = im->matrix_current = false; // the matrix is that of the pack
    im->lane_keeps = lane->iterations <= SNW_SLOW;
    snw_implicit_end(im, h, lane->account ? &sums : NULL);
    return true;
}

double snw_implicit_close_lane(snw_implicit *im, double h, double longest, double t_laws,
                               const snw_pack_lane *lane, snw_lane_patience *patience) {
    snw_chord_info info = {0};
    bool solved = snw_implicit_end_lane(im, h, lane);
    if (!solved) solved = snw_implicit_step(im, h, t_laws, &info) == SNW_OK;
    patience->spent += lane->iterations + info.iterations;
    if (!solved) return snw_step_length(0.5 * h, longest);
    const double shorter =
        snw_implicit_retry_length(im, h, longest, 2 * patience->spent <= patience->most);
    if (shorter > 0) {
        snw_implicit_shorten(im, shorter, longest);
    } else {
        snw_implicit_accept(im, h);
    }
    return shorter;
}
