// SPDX-License-Identifier: MIT
//
// The energy account of implicit steps (theory.md 6.5): works, heat, and what the scheme itself removes or creates; and from
// these whether a step was too long for a contact with the ground (6.16).
#include "study/motion_private.h"

#include "dynamics/contact.h"
#include "dynamics/fed.h"
#include "dynamics/grip.h"
#include "dynamics/joint.h"
#include "study/path.h"

#include <math.h>

// power of the elastic and damping forces of rods and joints, W; of fed rods without damping
static double internal_power(const snw_model *m, const snw_state *s) {
    double sum = snw_fed_storing(m, s->q, s->v);
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

// Heat of the step just solved: that of its path, h (D[d/h] + D[v1 - v0]/12 + D[(v0 + v1)/2 - d/h]/5) in closed form.
// Where steps do not resolve what is damped, velocities at their ends say nothing about those between, and the mean rate
// d/h is all that counts. That shows in changes of velocity which differ from those of the step before, or in
// accelerations which change by more than they should. Dry friction of joints is no quadratic form: its heat is that of the
// mean rate, exact where the rate keeps its sign.
static double heat(snw_motion *mo, double h) {
    const snw_model *m = mo->m;
    const snw_history *p = &mo->past;
    const double *v0 = mo->now->v, *v1 = mo->trial->v;
    double *x = mo->scratch;
    for (int i = 0; i < m->nv; i++) x[i] = v1[i] - v0[i];
    const double bend = snw_viscous_dissipation(m, x);
    for (int i = 0; i < m->nv; i++) x[i] = 0.5 * h * (mo->trial->a[i] - mo->now->a[i]);
    double sharp = snw_viscous_dissipation(m, x);
    if (p->h > 0) {
        for (int i = 0; i < m->nv; i++) x[i] = v1[i] - v0[i] - h / p->h * (p->v[i] - p->vb[i]);
        sharp = fmax(sharp, snw_viscous_dissipation(m, x));
    }
    for (int i = 0; i < m->nv; i++) x[i] = mo->d[i] / h;
    const double mean = h * snw_dissipation(m, x);
    if (!(sharp < bend)) return mean;
    for (int i = 0; i < m->nv; i++) x[i] = 0.5 * (v0[i] + v1[i]) - mo->d[i] / h;
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

static footing stand(const snw_motion *mo, double t, const snw_state *s) {
    const snw_model *m = mo->m;
    footing f = {0};
    snw_inputs_at(m, t, mo->within);
    snw_kinematics(m, mo->within, s, false, mo->w);
    f.stored = snw_contact_energy(m, mo->w);
    f.kinetic = snw_kinetic_energy(m, mo->w);
    f.total =
        f.kinetic + snw_stored_energy(m, s->q, mo->w) + snw_gravity_energy(m, mo->within, mo->w);
    for (int k = 0; k < m->ntouch; k++) {
        const snw_touch_work *at = &mo->w->touch[k];
        f.power += fabs(at->press * at->rate);
        f.places = 31 * f.places + (at->press > 0);
    }
    return f;
}

static double sum_of(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

// ---- impacts -----------------------------------------------------------------------------------------

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
static const double PASSED =
    0.02; // of the largest energy in motion that short steps of loops may lose, on the way of a long one
static const double MOST = 20000; // short steps in a row

// Energy that forces out of balance by Newton's tolerance may create in a step, J.
static double noise_of(const snw_motion *mo) {
    double most = 0;
    for (int k = 0; k < mo->m->nv; k++) most = fmax(most, mo->m->scale[k] * mo->m->typical[k]);
    return 10 * mo->opts.tolerance * most;
}

// What the step just solved says about the ground. The energy that the scheme created is that of both ends here: the
// quadrature of (6.5) may miss a body that turns far within a step.
static void judge(snw_motion *mo, double h, const footing *from, const footing *to) {
    snw_impact *i = &mo->impact;
    const int n = snw_npower(mo->m);
    mo->verdict = 0;
    for (int k = 0; k < n; k++) mo->power_within[k] = mo->work[k] - mo->work_kept[k];
    const double heat = mo->heat - mo->heat_kept;
    const double beside = sum_of(n, mo->power_within) + fabs(heat);
    double created = to->total - from->total + heat;
    for (int k = 0; k < n; k++) created -= mo->power_within[k];
    const double moves = fmax(from->kinetic + from->stored, to->kinetic + to->stored) + beside;
    i->most = fmax(i->most, moves);
    const double noise = noise_of(mo), all = fmax(moves, fmax(FAINT * i->most, 1e3 * noise));
    const bool pressed = from->places != 0 || to->places != 0;
    const bool turned = from->places != to->places;
    i->since = turned || !pressed ? 0 : i->since + 1;
    const double traded =
        fmax(h * fmax(from->power, to->power), fabs(to->stored - from->stored)) / all;
    const double part = PART * exp(i->since / EFFORT);
    const double gained = (created - BESIDE * beside - noise) / all;
    i->gain = fmax(0, i->gain + gained);
    if (pressed && !(traded <= part)) mo->verdict = fmax(0.1, 0.7 * part / traded);
    const double slack = SLACK * fmax(h / mo->longest, 0.05);
    if (!(gained <= slack) && !(i->gain <= GAIN)) {
        const double half = pressed ? 0.25 : 0.5;
        mo->verdict = mo->verdict > 0 ? fmin(mo->verdict, half) : half;
    }
}

// Part of the largest energy in motion that a step lost, by the energies at both ends of it.
static double lost(snw_motion *mo, double h) {
    snw_impact *i = &mo->impact;
    const footing from = stand(mo, mo->now->t, mo->now);
    const footing to = stand(mo, mo->now->t + h, mo->trial);
    const int n = snw_npower(mo->m);
    double removed = from.total - to.total - (mo->heat - mo->heat_kept);
    for (int k = 0; k < n; k++) removed += mo->work[k] - mo->work_kept[k];
    i->most = fmax(i->most, fmax(fmax(from.kinetic, to.kinetic), sum_of(n, mo->work)));
    return removed / i->most;
}

// The same of a robot that touches nothing, by generalized-alpha that damps: here energy counts against the largest in motion until now.
// It is looked at only where the account (6.5) has something to say.
static void judge_free(snw_motion *mo, double h, double created) {
    snw_impact *i = &mo->impact;
    mo->verdict = 0;
    const double noise = noise_of(mo);
    // links of a loop that come into line within the step
    const double part = i->longest > 0 ? PASSED * h / mo->longest : mo->swallow;
    if (mo->closed && -created > 1e3 * noise && -created > part * i->most && lost(mo, h) > part) {
        mo->verdict = 0.5;
    }
    created -= noise;
    i->gain = fmax(0, i->gain + created);
    if (!(i->gain > 1e3 * noise) || !(i->gain > 0.5 * TOLD * i->most)) return;
    const footing from = stand(mo, mo->now->t, mo->now);
    const footing to = stand(mo, mo->now->t + h, mo->trial);
    const double beside = fmax(mo->heat, sum_of(snw_npower(mo->m), mo->work));
    i->most = fmax(i->most, fmax(fmax(from.kinetic, to.kinetic), beside));
    const double slack = SLACK * fmax(h / mo->longest, 0.05);
    if (created > slack * i->most && i->gain > TOLD * i->most + 1e3 * noise) mo->verdict = 0.5;
}

double snw_motion_again(snw_motion *mo, double h, double longest, bool patient) {
    snw_impact *i = &mo->impact;
    if (mo->opts.alike) return 0;
    const bool touches = mo->m->ntouch > 0;
    const double least = (touches ? FINEST : FINE) * longest, grow = 2 * h;
    patient = patient && i->many < MOST;
    const bool divisible =
        h > (1 + 1e-6) * least; // the last one of an interval may be `least` but for rounding
    if (mo->verdict > 0 && patient && divisible) return fmax(mo->verdict * h, least);
    if (mo->verdict > 0 && patient && touches && i->gain > GAIN && !mo->soft) return h;
    i->many = i->longest > 0 ? i->many + 1 : 0;
    if (i->longest > 0) i->longest = grow < longest && patient ? grow : 0;
    mo->soft = false;
    return 0;
}

void snw_motion_shorten(snw_motion *mo, double h, double longest) {
    snw_motion_back(mo);
    if (mo->closed && mo->m->ntouch == 0 && mo->impact.longest == 0) {
        const double before = stand(mo, mo->now->t, mo->now).kinetic;
        snw_motion_settle_start(mo);
        mo->scheme += before - stand(mo, mo->now->t, mo->now).kinetic;
    }
    mo->impact.longest = h;
    mo->soft = mo->m->ntouch > 0 && h <= (1 + 1e-6) * FINEST * longest;
}

// Works, heat and the energy that the scheme removes in the step just solved, by two Gauss points on its path. There the
// forces out of balance do the scheme's work; that of elastic forces, also of the ground, is known without quadrature. theory.md 6.5
void snw_motion_account(snw_motion *mo, double h) {
    static const double point[2] = {0.21132486540518711775, 0.78867513459481288225};
    const snw_model *m = mo->m;
    const snw_path_ends ends = {.chart = mo->opts.chart,
                                .h = h,
                                .q0 = mo->now->q,
                                .d = mo->d,
                                .rate0 = mo->past.v,
                                .rate1 = mo->rate};
    const double warmth = heat(mo, h);
    double lacking = snw_elastic_energy(m, mo->trial->q) - snw_elastic_energy(m, mo->now->q);
    footing from = {0}, to = {0};
    if (m->ntouch) {
        from = stand(mo, mo->now->t, mo->now), to = stand(mo, mo->now->t + h, mo->trial);
        lacking += to.stored - from.stored;
    }
    for (int k = 0; k < 2; k++) {
        snw_path_at(m, &ends, point[k], mo->scratch, mo->way);
        snw_inputs_at(m, mo->now->t + point[k] * h, mo->within);
        for (int i = 0; i < m->nsignal; i++) {
            mo->way->z[i] = mo->now->z[i] + point[k] * (mo->trial->z[i] - mo->now->z[i]);
        }
        for (int i = 0; i < m->nrow; i++) {
            mo->way->l[i] = mo->now->l[i] + point[k] * (mo->trial->l[i] - mo->now->l[i]);
        }
        snw_residual(m, mo->within, mo->way, false, mo->w);
        snw_load_power(m, mo->within, mo->way, mo->w, mo->power_within);
        for (int i = 0; i < snw_npower(m); i++) mo->work[i] += 0.5 * h * mo->power_within[i];
        // among the forces out of balance, below
        mo->heat += 0.5 * h * snw_other_heat(m, mo->way, mo->w);
        double sum = -internal_power(m, mo->way) - snw_contact_storing(m, mo->w);
        for (int i = 0; i < m->nv; i++) sum += mo->w->r[i] * mo->way->v[i];
        lacking += 0.5 * h * sum;
    }
    mo->heat += warmth;
    mo->scheme -= lacking + warmth;
    if (m->ntouch) {
        judge(mo, h, &from, &to);
    } else if (!mo->opts.control && mo->opts.scheme.kind == SNW_SCHEME_GENERALIZED_ALPHA &&
               snw_scheme_overshoot(&mo->opts.scheme) > 0 && snw_grip_seg(mo->in) == 0) {
        // the work of a hand far stiffer than the steps resolve is not known well enough to judge by
        judge_free(mo, h, lacking + warmth);
    }
}
