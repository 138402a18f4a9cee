// SPDX-License-Identifier: MIT
//
// Estimated errors of a run's discretisation: how well nodes resolve the shape and what is integrated along rods, and what
// the strain bases leave out; and what is said of them at the end.
#include "study/run_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Errors worth a word: of the shape and of a displacement by the length of a rod, of an integral by its value.
static const double coarse = 1e-5, rough = 1e-4, cut_off = 1e-2, off = 1e-2;

bool snw_run_looks_closely(const snw_run *r, bool last) {
    return last || r->totals.frames % 50 == 0;
}

// an estimate for which there is no memory is not known, and the run goes on
void snw_run_accuracy(snw_run *r, const snw_state *s, bool still, snw_stats *stats) {
    snw_era *e = r->now;
    const snw_model *m = e->model;
    for (int i = 0; i < m->nrod; i++) {
        double error;
        if (snw_rod_quadrature_at(m, &m->rod[i], s->q, s->t, &error) != SNW_OK) continue;
        if (!(error <= stats->quadrature)) stats->quadrature = error;
    }
    if (!e->asked && snw_truncation_create(m, &e->truncation) != SNW_OK) e->truncation = NULL;
    e->asked = true;
    if (!e->truncation) return;
    snw_truncation_info cut;
    snw_truncation_estimate(e->truncation, s, still, &cut);
    stats->truncation = cut.relative;
    if (cut.rod >= 0 && (!r->cut_of || cut.relative > r->cut.relative)) {
        r->cut = cut;
        r->cut_of = e->desc;
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

static void speak_of_strains(const snw_run *r) {
    char text[400], names[120] = "", remedy[40];
    // An error of the nodes that is larger is reported first.
    if (!r->cut_of || !(r->cut.relative > fmax(cut_off, r->totals.worst_quadrature))) return;
    const snw_model *m = r->now->model;
    const snw_link_desc *link = &r->cut_of->link[m->rod[r->cut.rod].link];
    int n = 0, any = 0;
    for (int i = 0; i < 6; i++) {
        if (!r->cut.strain[i]) continue;
        any = i;
        const size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", n++ ? ", " : "",
                       snw_strain_name[i]);
    }
    snw_truncation_remedy(&link->rod, any, remedy, sizeof remedy);
    (void)snprintf(text, sizeof text,
                   "run '%s': the strain basis of rod '%.60s' is too small for %s: with more "
                   "functions the robot would be elsewhere by %s %.1g of the rod's length; "
                   "write %s (strain:)",
                   r->info.run, link->name, names, r->cut.lower_bound ? "at least" : "about",
                   r->cut.relative, remedy);
    snw_run_warn(r, text);
}

void snw_run_speak_of_accuracy(const snw_run *r) {
    speak_of_nodes(r);
    speak_of_strains(r);
}

void snw_run_speak_of_steps(snw_run *r, const snw_step_desc *step, const snw_mover *mv) {
    double t = 0;
    r->totals.astray = mv->astray && !step->kinematic ? mv->astray(mv->self, &t) : 0;
    if (!(r->totals.astray > off)) return;
    char text[320];
    (void)snprintf(
        text, sizeof text,
        "run '%s', step '%.60s': by t = %.4g s time steps of %.3g ms have led the robot "
        "astray by up to about %.1g of its length, by an estimate; write step: %.3g ms, or "
        "adapt: on",
        r->info.run, step->name, t, 1e3 * mv->grid, r->totals.astray, 250 * mv->grid);
    snw_run_warn(r, text);
}
