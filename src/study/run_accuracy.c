// SPDX-License-Identifier: MIT
//
// Estimated errors of a run's discretisation: how well nodes resolve the shape and what is
// integrated along rods, and what the strain bases leave out; and what is said of them.
#include "study/run_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Errors worth a word: of the shape and of a displacement by the length of a rod, of an integral
// and of a frequency by its value.
static const double coarse = 1e-5, rough = 1e-4, cut_off = 1e-2, off = 1e-2;

bool snw_run_looks_closely(const snw_run *r, bool last) {
    return last || r->totals.frames % 50 == 0;
}

// What estimates the errors of the present model's strain bases; NULL: nothing. An estimate for
// which there is no memory is not known, and the run goes on.
static snw_truncation *accuracy_truncation_of(snw_run *r) {
    snw_phase *e = r->now;
    if (!e->asked && snw_truncation_create(e->model, &e->truncation) != SNW_OK)
        e->truncation = NULL;
    e->asked = true;
    return e->truncation;
}

// Does the study keep to branches though they are unstable?
static bool follows_branches(const snw_run *r) {
    bool any = false;
    for (int i = 0; i <= r->here.stage; i++) any |= r->desc->step[i].follow;
    return any;
}

// stats <- how well the nodes integrate along rods at s
static void look_at_nodes(const snw_run *r, const snw_state *s, snw_stats *stats) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nrod; i++) {
        double error;
        if (snw_rod_quadrature_at(m, &m->rod[i], s->q, s->t, &error) != SNW_OK) continue;
        if (!(error <= stats->quadrature)) stats->quadrature = error;
    }
}

void snw_run_accuracy(snw_run *r, const snw_state *s, snw_truncation_state kind, snw_stats *stats) {
    look_at_nodes(r, s, stats);
    snw_truncation *t = accuracy_truncation_of(r);
    if (!t) return;
    snw_truncation_info cut;
    const bool leave = !(stats->stability < SNW_UNSTABLE) && !follows_branches(r);
    snw_truncation_estimate(t, s, kind, leave, &cut);
    stats->truncation = cut.relative;
    if (cut.rod >= 0 && (!r->cut_of || cut.relative > r->cut.relative)) {
        r->cut = cut;
        r->cut_of = r->now->desc;
    }
}

static void speak_of_nodes(const snw_run *r) {
    char text[280];
    const snw_run_totals *t = &r->totals;
    if (t->worst_geometry > coarse) {
        (void)snprintf(text, sizeof text,
                       "run '%s': the nodes resolve the shape only to %.1g of the length; raise "
                       "nodes: or magnus: of the rod",
                       r->info.run, t->worst_geometry);
        snw_run_warn(r, text);
    }
    if (t->worst_quadrature > rough) {
        (void)snprintf(text, sizeof text,
                       "run '%s': the nodes integrate inertia, weight and loads along a rod only "
                       "to %.1g of their value; raise nodes: of the rod",
                       r->info.run, t->worst_quadrature);
        snw_run_warn(r, text);
    }
}

// names <- the strains that are cut off, remedy <- what to write instead; the link of their rod
static const snw_link_desc *name_strains(const snw_run *r, const snw_desc *d,
                                         const snw_truncation_info *cut, char names[120],
                                         char remedy[40]) {
    const snw_link_desc *link = &d->link[r->now->model->rod[cut->rod].link];
    int n = 0, any = 0;
    names[0] = 0;
    for (int i = 0; i < 6; i++) {
        if (!cut->strain[i]) continue;
        any = i;
        const size_t used = strlen(names);
        (void)snprintf(names + used, 120 - used, "%s%s", n++ ? ", " : "", snw_strain_name[i]);
    }
    snw_truncation_remedy(&link->rod, any, remedy, 40);
    return link;
}

static void speak_of_strains(const snw_run *r) {
    char text[400], names[120], remedy[40];
    // An error of the nodes that is larger is reported first.
    if (!r->cut_of || !(r->cut.relative > fmax(cut_off, r->totals.worst_quadrature))) return;
    const snw_link_desc *link = name_strains(r, r->cut_of, &r->cut, names, remedy);
    (void)snprintf(text, sizeof text,
                   "run '%s': the strain basis of rod '%.60s' is too small for %s: with more "
                   "functions the robot would be elsewhere by %s %.1g of the rod's length; "
                   "write %s (strain:)",
                   r->info.run, link->name, names, r->cut.lower_bound ? "at least" : "about",
                   r->cut.relative, remedy);
    snw_run_warn(r, text);
}

// text <- "1, 3 to 5": the modes whose frequencies are off by more than is worth a word
static void name_modes(const snw_mode_table *table, char *text, size_t size) {
    text[0] = 0;
    for (int i = 0, last; i < table->n; i = last + 1) {
        last = i;
        if (!(table->mode[i].truncation > cut_off)) continue;
        while (last + 1 < table->n && table->mode[last + 1].truncation > cut_off) last++;
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%s%d", used ? ", " : "", i + 1);
        const size_t more = strlen(text);
        if (last > i)
            (void)snprintf(text + more, size - more, "%s%d", last > i + 1 ? " to " : ", ",
                           last + 1);
    }
}

static void speak_of_modes(const snw_run *r, const snw_mode_table *table,
                           const snw_truncation_info *cut, double quadrature) {
    char text[640], names[120], remedy[40], modes[100];
    if (cut->rod < 0 || !(cut->relative > fmax(cut_off, quadrature))) return;
    const snw_link_desc *link = name_strains(r, r->now->desc, cut, names, remedy);
    name_modes(table, modes, sizeof modes);
    (void)snprintf(
        text, sizeof text,
        "run '%s': the strain basis of rod '%.60s' is too small for %s: with more "
        "functions the frequency of mode %s at t = %g s would be another, by %sabout %.1g "
        "of its value; write %s (strain:)",
        r->info.run, link->name, names, modes, r->state->t, strpbrk(modes, ", ") ? "up to " : "",
        cut->relative, remedy);
    snw_run_warn(r, text);
}

void snw_run_accuracy_of_modes(snw_run *r, int stage, snw_stats *stats) {
    look_at_nodes(r, r->state, stats);
    snw_truncation *t = accuracy_truncation_of(r);
    const snw_mode_table *table = snw_modes_table(r->modes[stage]);
    if (!t || table->n == 0) return;
    snw_truncation_info cut;
    const bool balanced = table->residual <= SNW_UNBALANCED;
    const bool leave = !(table->mode[0].frequency < 0) && !follows_branches(r);
    const snw_status s = snw_truncation_frequencies(t, r->state, r->desc->step[stage].steady,
                                                    balanced, leave, r->modes[stage], &cut);
    if (s == SNW_OK && !r->resuming) speak_of_modes(r, table, &cut, stats->quadrature);
}

void snw_run_speak_of_accuracy(const snw_run *r) {
    speak_of_nodes(r);
    speak_of_strains(r);
}

void snw_run_speak_of_steps(snw_run *r, const snw_step_desc *step, const snw_integrator *it) {
    double t = 0;
    r->totals.astray = it->global_error && !step->kinematic ? it->global_error(it->self, &t) : 0;
    if (!(r->totals.astray > off)) return;
    char text[320];
    (void)snprintf(
        text, sizeof text,
        "run '%s', step '%.60s': by t = %.4g s time steps of %.3g ms have led the robot "
        "astray by up to about %.1g of its length, by an estimate; write step: %.3g ms, or "
        "adapt: on",
        r->info.run, step->name, t, 1e3 * it->grid, r->totals.astray, 250 * it->grid);
    snw_run_warn(r, text);
}
