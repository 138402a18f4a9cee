// SPDX-License-Identifier: MIT
//
// The energy account of implicit steps (theory.md 6.5): works, heat, and what the scheme itself
// removes or creates; and from these whether a step was too long for a contact with the ground
// (6.16).
#include "integrate/implicit_private.h"

#include "dynamics/contact.h"
#include "dynamics/drag_spring.h"
#include "dynamics/joint.h"
#include "dynamics/variable_length.h"
#include "integrate/step_path.h"

#include <math.h>

// power of the elastic and damping forces of rods and joints, W; of fed rods without damping
static double internal_power(const snw_model *m, const snw_state *s) {
    double sum = snw_variable_length_storing(m, s->q, s->v);
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const double *q = s->q + rod->dof0 + rod->shift, *v = s->v + rod->dof0;
        for (int i = 0; rod->feed < 0 && i < rod->ndof; i++) {
            const double *K = rod->K + (size_t)i * (size_t)rod->ndof;
            const double *D = rod->D + (size_t)i * (size_t)rod->ndof;
            for (int j = 0; j < rod->ndof; j++) sum += v[i] * (K[j] * q[j] + D[j] * v[j]);
        }
    }
    for (int k = 0; k < m->nspring; k++) {
        const snw_block *b = &m->block[m->spring[k].block];
        double f[3];
        snw_spring_force(m, &m->spring[k], s->q, s->v, f);
        for (int i = 0; i < b->n; i++) sum += f[i] * s->v[b->dof + i];
    }
    return sum;
}

// Heat of the step just solved: that of its path, h (D[d/h] + D[v1 - v0]/12 + D[(v0 + v1)/2 -
// d/h]/5) in closed form. Where steps do not resolve what is damped, velocities at their ends say
// nothing about those between, and the mean rate d/h is all that counts. That shows in changes of
// velocity which differ from those of the step before, or in accelerations which change by more
// than they should. Dry friction of joints is no quadratic form: its heat is that of the mean rate,
// exact where the rate keeps its sign.
static double heat(snw_implicit *im, double h) {
    const snw_model *m = im->m;
    const snw_history *p = &im->past;
    const double *v0 = im->now->v, *v1 = im->trial->v;
    double *x = im->scratch;
    for (int i = 0; i < m->nv; i++) x[i] = v1[i] - v0[i];
    const double bend = snw_viscous_dissipation(m, x);
    for (int i = 0; i < m->nv; i++) x[i] = 0.5 * h * (im->trial->a[i] - im->now->a[i]);
    double sharp = snw_viscous_dissipation(m, x);
    if (p->h > 0) {
        for (int i = 0; i < m->nv; i++) x[i] = v1[i] - v0[i] - h / p->h * (p->v[i] - p->vb[i]);
        sharp = fmax(sharp, snw_viscous_dissipation(m, x));
    }
    for (int i = 0; i < m->nv; i++) x[i] = im->d[i] / h;
    const double mean = h * snw_dissipation(m, x);
    if (!(sharp < bend)) return mean;
    for (int i = 0; i < m->nv; i++) x[i] = 0.5 * (v0[i] + v1[i]) - im->d[i] / h;
    const double share = 1 - pow(sharp / bend, 4);
    return mean + h * share * share * (bend / 12 + snw_viscous_dissipation(m, x) / 5);
}

// A state beside the ground.
typedef struct footing {
    double stored;   // energy in the ground, J
    double kinetic;  // of the robot, J
    double total;    // with that of springs, rods and height, J
    double power;    // between them, each place without sign, W
    unsigned places; // which are pressed: a number that changes with the set
} footing;

static footing stand(const snw_implicit *im, double t, const snw_state *s) {
    const snw_model *m = im->m;
    footing f = {0};
    snw_inputs_at(m, t, im->within);
    snw_kinematics(m, im->within, s, false, im->w);
    f.stored = snw_contact_energy(m, im->w);
    f.kinetic = snw_kinetic_energy(m, im->w);
    f.total =
        f.kinetic + snw_stored_energy(m, s->q, im->w) + snw_gravity_energy(m, im->within, im->w);
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point_work *at = &im->w->contact_point[k];
        f.power += fabs(at->press * at->rate);
        f.places = 31 * f.places + (at->press > 0);
    }
    return f;
}

static double implicit_energy_sum_of(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

// ---- impacts
// -----------------------------------------------------------------------------------------

// theory.md (6.16)
static const double PART =
    0.1; // of the energy in motion that the ground may take or give within a step
static const double GAIN = 0.005; // of it that contacts may create in all
static const double BESIDE =
    0.01; // of work and heat of a step that count as what the account cannot tell
static const double SLACK = 1e-4; // the same of a step as long as it may be, once that is used up
static const double TOLD = 0.01; // the same in flight or on a base, of the largest energy in motion
static const double FAINT = 1e-4; // of the largest energy in motion: less is not looked at
static const double EFFORT =
    40; // steps in which a contact that lasts is followed e times less closely
static const double FINEST = 1e-5; // of the longest step: shorter ones are not asked for
static const double FINE = 0.01;   // the same of robots that touch nothing
static const double PASSED = 0.02; // of the largest energy in motion that short steps of loops may
                                   // lose, on the way of a long one
static const double MOST = 20000;  // short steps in a row

// Energy that forces out of balance by Newton's tolerance may create in a step, J.
static double noise_of(const snw_implicit *im) {
    double most = 0;
    for (int k = 0; k < im->m->nv; k++) most = fmax(most, im->m->scale[k] * im->m->typical[k]);
    return 10 * im->opts.tolerance * most;
}

// What the step just solved says about the ground. The energy that the scheme created is that of
// both ends here: the quadrature of (6.5) may miss a body that turns far within a step.
static void implicit_energy_judge(snw_implicit *im, double h, const footing *from,
                                  const footing *to) {
    snw_impact *i = &im->impact;
    const int n = snw_npower(im->m);
    im->verdict = 0;
    for (int k = 0; k < n; k++) im->power_within[k] = im->work[k] - im->work_kept[k];
    const double heat = im->heat - im->heat_kept;
    const double beside = implicit_energy_sum_of(n, im->power_within) + fabs(heat);
    double created = to->total - from->total + heat;
    for (int k = 0; k < n; k++) created -= im->power_within[k];
    const double moves = fmax(from->kinetic + from->stored, to->kinetic + to->stored) + beside;
    i->most = fmax(i->most, moves);
    const double noise = noise_of(im), all = fmax(moves, fmax(FAINT * i->most, 1e3 * noise));
    const bool pressed = from->places != 0 || to->places != 0;
    const bool turned = from->places != to->places;
    i->since = turned || !pressed ? 0 : i->since + 1;
    const double traded =
        fmax(h * fmax(from->power, to->power), fabs(to->stored - from->stored)) / all;
    const double part = PART * exp(i->since / EFFORT);
    const double gained = (created - BESIDE * beside - noise) / all;
    i->gain = fmax(0, i->gain + gained);
    if (pressed && !(traded <= part)) im->verdict = fmax(0.1, 0.7 * part / traded);
    const double slack = SLACK * fmax(h / im->longest, 0.05);
    if (!(gained <= slack) && !(i->gain <= GAIN)) {
        const double half = pressed ? 0.25 : 0.5;
        im->verdict = im->verdict > 0 ? fmin(im->verdict, half) : half;
    }
}

// Part of the largest energy in motion that a step lost, by the energies at both ends of it.
static double implicit_energy_lost(snw_implicit *im, double h) {
    snw_impact *i = &im->impact;
    const footing from = stand(im, im->now->t, im->now);
    const footing to = stand(im, im->now->t + h, im->trial);
    const int n = snw_npower(im->m);
    double removed = from.total - to.total - (im->heat - im->heat_kept);
    for (int k = 0; k < n; k++) removed += im->work[k] - im->work_kept[k];
    i->most =
        fmax(i->most, fmax(fmax(from.kinetic, to.kinetic), implicit_energy_sum_of(n, im->work)));
    return removed / i->most;
}

// The same of a robot that touches nothing, by generalized-alpha that damps: here energy counts
// against the largest in motion until now. It is looked at only where the account (6.5) has
// something to say.
static void judge_free(snw_implicit *im, double h, double created) {
    snw_impact *i = &im->impact;
    im->verdict = 0;
    const double noise = noise_of(im);
    // links of a loop that come into line within the step
    const double part = i->longest > 0 ? PASSED * h / im->longest : im->swallow;
    if (im->closed && -created > 1e3 * noise && -created > part * i->most &&
        implicit_energy_lost(im, h) > part) {
        im->verdict = 0.5;
    }
    created -= noise;
    i->gain = fmax(0, i->gain + created);
    if (!(i->gain > 1e3 * noise) || !(i->gain > 0.5 * TOLD * i->most)) return;
    const footing from = stand(im, im->now->t, im->now);
    const footing to = stand(im, im->now->t + h, im->trial);
    const double beside = fmax(im->heat, implicit_energy_sum_of(snw_npower(im->m), im->work));
    i->most = fmax(i->most, fmax(fmax(from.kinetic, to.kinetic), beside));
    const double slack = SLACK * fmax(h / im->longest, 0.05);
    if (created > slack * i->most && i->gain > TOLD * i->most + 1e3 * noise) im->verdict = 0.5;
}

double snw_implicit_retry_length(snw_implicit *im, double h, double longest, bool patient) {
    snw_impact *i = &im->impact;
    if (im->opts.fixed_length) return 0;
    const bool touches = im->m->ncontact_point > 0;
    const double least = (touches ? FINEST : FINE) * longest, grow = 2 * h;
    patient = patient && i->many < MOST;
    const bool divisible =
        h > (1 + 1e-6) * least; // the last one of an interval may be `least` but for rounding
    if (im->verdict > 0 && patient && divisible) return fmax(im->verdict * h, least);
    if (im->verdict > 0 && patient && touches && i->gain > GAIN && !im->soft) return h;
    i->many = i->longest > 0 ? i->many + 1 : 0;
    if (i->longest > 0) i->longest = grow < longest && patient ? grow : 0;
    im->soft = false;
    return 0;
}

void snw_implicit_shorten(snw_implicit *im, double h, double longest) {
    snw_implicit_undo(im);
    if (im->closed && im->m->ncontact_point == 0 && im->impact.longest == 0) {
        const double before = stand(im, im->now->t, im->now).kinetic;
        snw_implicit_settle_start(im);
        im->scheme += before - stand(im, im->now->t, im->now).kinetic;
    }
    im->impact.longest = h;
    im->soft = im->m->ncontact_point > 0 && h <= (1 + 1e-6) * FINEST * longest;
}

// Works, heat and the energy that the scheme removes in the step just solved, by two Gauss points
// on its path. There the forces out of balance do the scheme's work; that of elastic forces, also
// of the ground, is known without quadrature. theory.md 6.5
void snw_implicit_account(snw_implicit *im, double h) {
    static const double point[2] = {0.21132486540518711775, 0.78867513459481288225};
    const snw_model *m = im->m;
    const snw_step_path ends = {.chart = im->opts.chart,
                                .h = h,
                                .q0 = im->now->q,
                                .d = im->d,
                                .rate0 = im->past.v,
                                .rate1 = im->rate};
    const double warmth = heat(im, h);
    double lacking = snw_elastic_energy(m, im->trial->q) - snw_elastic_energy(m, im->now->q);
    footing from = {0}, to = {0};
    if (m->ncontact_point) {
        from = stand(im, im->now->t, im->now), to = stand(im, im->now->t + h, im->trial);
        lacking += to.stored - from.stored;
    }
    for (int k = 0; k < 2; k++) {
        snw_step_path_at(m, &ends, point[k], im->scratch, im->way);
        snw_inputs_at(m, im->now->t + point[k] * h, im->within);
        for (int i = 0; i < m->nsignal; i++) {
            im->way->z[i] = im->now->z[i] + point[k] * (im->trial->z[i] - im->now->z[i]);
        }
        for (int i = 0; i < m->nconstraint; i++) {
            im->way->lambda[i] =
                im->now->lambda[i] + point[k] * (im->trial->lambda[i] - im->now->lambda[i]);
        }
        snw_residual(m, im->within, im->way, false, im->w);
        snw_load_power(m, im->within, im->way, im->w, im->power_within);
        for (int i = 0; i < snw_npower(m); i++) im->work[i] += 0.5 * h * im->power_within[i];
        // among the forces out of balance, below
        im->heat += 0.5 * h * snw_other_heat(m, im->way, im->w);
        double sum = -internal_power(m, im->way) - snw_contact_storing(m, im->w);
        for (int i = 0; i < m->nv; i++) sum += im->w->r[i] * im->way->v[i];
        lacking += 0.5 * h * sum;
    }
    im->heat += warmth;
    im->scheme -= lacking + warmth;
    if (m->ncontact_point) {
        implicit_energy_judge(im, h, &from, &to);
    } else if (!im->opts.control && im->opts.scheme.kind == SNW_SCHEME_GENERALIZED_ALPHA &&
               snw_scheme_overshoot(&im->opts.scheme) > 0 && snw_drag_spring_seg(im->in) == 0) {
        // the work of a hand far stiffer than the steps resolve is not known well enough to judge
        // by
        judge_free(im, h, lacking + warmth);
    }
}
