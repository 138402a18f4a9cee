// SPDX-License-Identifier: MIT
//
// Estimated discretisation errors of a run: of the nodes (geometry and quadrature along rods), of
// the truncated strain bases (theory.md 5.1, 7.2) and of the time steps; and the warnings about
// them.
#include "study/run_private.h"

#include "dynamics/hard_contact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Relative errors above which a warning is issued: of the shape and of displacements by the length
// of a rod or the robot, of integrals and frequencies by their value.
static const double GEOMETRY_LIMIT = 1e-5, QUADRATURE_LIMIT = 1e-4, TRUNCATION_LIMIT = 1e-2,
                    TIME_ERROR_LIMIT = 1e-2;

bool snw_run_error_estimate_due(const snw_run *r, bool last) {
    if (r->hooks && r->hooks->unchecked) return false;
    return last || r->totals.frames % 50 == 0;
}

// Estimator of the truncation errors of the present phase; NULL: none. When memory is out the error
// stays unknown and the run continues.
static snw_truncation *accuracy_truncation(snw_run *r) {
    snw_phase *e = r->now;
    if (!e->truncation_tried && snw_truncation_create(e->model, &e->truncation, &e->gap) != SNW_OK)
        e->truncation = NULL;
    e->truncation_tried = true;
    if (e->truncation) snw_truncation_set_manual(e->truncation, r->manual);
    return e->truncation;
}

// Has a step so far followed its branch of equilibria though unstable (`branch: follow`)?
static bool follows_branch(const snw_run *r) {
    bool last_strain = false;
    for (int i = 0; i <= r->cursor.stage; i++) last_strain |= r->desc->step[i].follow;
    return last_strain;
}

// stats->quadrature <- largest estimated quadrature error of the rods at s
static void estimate_quadrature(const snw_run *r, const snw_state *s, snw_stats *stats) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nrod; i++) {
        double error;
        if (snw_rod_quadrature_at(m, &m->rod[i], s->q, s->t, &error) != SNW_OK) continue;
        if (!(error <= stats->quadrature)) stats->quadrature = error;
    }
}

void snw_run_estimate_errors(snw_run *r, const snw_state *s, snw_truncation_state kind,
                             snw_stats *stats) {
    estimate_quadrature(r, s, stats);
    snw_truncation *t = accuracy_truncation(r);
    if (!t) return;
    snw_truncation_info cut;
    const bool leave_unstable = !(stats->stability < SNW_UNSTABLE) && !follows_branch(r);
    snw_truncation_estimate(t, s, kind, leave_unstable, &cut);
    stats->truncation = cut.relative;
    if (cut.rod >= 0 && (!r->truncation_desc || cut.relative > r->truncation.relative)) {
        r->truncation = cut;
        r->truncation_desc = r->now->desc;
    }
}

static void warn_nodes(const snw_run *r) {
    char text[280];
    const snw_run_totals *t = &r->totals;
    const bool grid = r->now->model->ngrid > 0;
    if (t->worst_geometry > GEOMETRY_LIMIT) {
        (void)snprintf(text, sizeof text,
                       "run '%s': the nodes resolve the shape only to %.1g of the length; raise %s",
                       r->info.run, t->worst_geometry,
                       grid ? "the points of integrator: chebyshev"
                            : "nodes: or magnus: of the rod");
        snw_run_warn(r, text);
    }
    if (t->worst_quadrature > QUADRATURE_LIMIT) {
        (void)snprintf(text, sizeof text,
                       "run '%s': the nodes integrate inertia, weight and loads along a rod only "
                       "to %.1g of their value; raise %s",
                       r->info.run, t->worst_quadrature,
                       grid ? "the points of integrator: chebyshev" : "nodes: of the rod");
        snw_run_warn(r, text);
    }
}

// names <- the truncated strain components, remedy <- the strain basis to write instead. Returns
// the link of their rod.
static const snw_link_desc *name_strains(const snw_run *r, const snw_desc *d,
                                         const snw_truncation_info *cut, char names[120],
                                         char remedy[40]) {
    const snw_link_desc *link = &d->link[r->now->model->rod[cut->rod].link];
    int n = 0, last_strain = 0;
    names[0] = 0;
    for (int i = 0; i < 6; i++) {
        if (!cut->strain[i]) continue;
        last_strain = i;
        const size_t used = strlen(names);
        (void)snprintf(names + used, 120 - used, "%s%s", n++ ? ", " : "", snw_strain_name[i]);
    }
    snw_truncation_remedy(&link->rod, last_strain, remedy, 40);
    return link;
}

static void warn_strain_basis(const snw_run *r) {
    char text[400], names[120], remedy[40];
    // a larger quadrature error is reported instead
    if (!r->truncation_desc ||
        !(r->truncation.relative > fmax(TRUNCATION_LIMIT, r->totals.worst_quadrature)))
        return;
    const snw_link_desc *link = name_strains(r, r->truncation_desc, &r->truncation, names, remedy);
    (void)snprintf(text, sizeof text,
                   "run '%s': the strain basis of rod '%.60s' is too small for %s: more functions "
                   "would move the robot by %s %.1g of the rod's length; write %s (strain:)",
                   r->info.run, link->name, names, r->truncation.lower_bound ? "at least" : "about",
                   r->truncation.relative, remedy);
    snw_run_warn(r, text);
}

// Does the error of the frequency exceed TRUNCATION_LIMIT? With a gap: is it unknown for that
// reason?
static bool is_named(const snw_mode *mode, snw_truncation_gap gap) {
    return gap ? mode->gap == gap : mode->truncation > TRUNCATION_LIMIT;
}

// text <- "1, 3 to 5": these modes
static void name_modes(const snw_mode_table *table, snw_truncation_gap gap, char *text,
                       size_t size) {
    text[0] = 0;
    for (int i = 0, last; i < table->n; i = last + 1) {
        last = i;
        if (!is_named(&table->mode[i], gap)) continue;
        while (last + 1 < table->n && is_named(&table->mode[last + 1], gap)) last++;
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%s%d", used ? ", " : "", i + 1);
        const size_t more = strlen(text);
        if (last > i)
            (void)snprintf(text + more, size - more, "%s%d", last > i + 1 ? " to " : ", ",
                           last + 1);
    }
}

static void warn_mode_truncation(const snw_run *r, const snw_mode_table *table,
                                 const snw_truncation_info *cut, double quadrature) {
    char text[640], names[120], remedy[40], modes[100];
    if (cut->rod < 0 || !(cut->relative > fmax(TRUNCATION_LIMIT, quadrature))) return;
    const snw_link_desc *link = name_strains(r, r->now->desc, cut, names, remedy);
    name_modes(table, SNW_TRUNCATION_NO_GAP, modes, sizeof modes);
    (void)snprintf(text, sizeof text,
                   "run '%s': the strain basis of rod '%.60s' is too small for %s: more functions "
                   "would change the frequency of mode %s at t = %g s by %sabout %.1g of its "
                   "value; write %s (strain:)",
                   r->info.run, link->name, names, modes, r->state->t,
                   strpbrk(modes, ", ") ? "up to " : "", cut->relative, remedy);
    snw_run_warn(r, text);
}

// Warns of frequencies whose truncation error is not known.
static void warn_unknown_truncation(const snw_run *r, const snw_mode_table *table) {
    static const char *const why[SNW_TRUNCATION_NGAP] = {
        [SNW_TRUNCATION_TOGETHER] = "strains of a rod move together",
        [SNW_TRUNCATION_ACTUATED] = "actuators act on the strain coordinates themselves",
        [SNW_TRUNCATION_LARGE] = "the model with more functions would be too large",
        [SNW_TRUNCATION_FAILED] = "the modes with more functions cannot be computed",
        [SNW_TRUNCATION_ALONE] = "with more functions no mode corresponds to it",
        [SNW_TRUNCATION_ROUNDING] = "rounding hides it, since other modes are much faster"};
    char text[480], modes[100];
    for (int k = SNW_TRUNCATION_NO_GAP + 1; k < SNW_TRUNCATION_NGAP; k++) {
        name_modes(table, (snw_truncation_gap)k, modes, sizeof modes);
        if (!modes[0]) continue;
        (void)snprintf(text, sizeof text,
                       "run '%s': the error of the strain basis in the frequency of mode %s at t = "
                       "%g s is not known: %s; compare with more functions or elements (strain:)",
                       r->info.run, modes, r->state->t, why[k]);
        snw_run_warn(r, text);
    }
}

void snw_run_estimate_mode_errors(snw_run *r, int stage, snw_stats *stats) {
    if (r->hooks && r->hooks->unchecked) return;
    estimate_quadrature(r, r->state, stats);
    snw_truncation *t = accuracy_truncation(r);
    const snw_mode_table *table = snw_modes_table(r->modes[stage]);
    if (table->n == 0) return;
    if (!t) {
        snw_truncation_no_frequencies(r->now->gap, r->modes[stage]);
        if (!r->resuming) warn_unknown_truncation(r, table);
        return;
    }
    snw_truncation_info cut;
    const bool balanced = table->residual <= SNW_UNBALANCED;
    const bool leave_unstable = !(table->mode[0].frequency < 0) && !follows_branch(r);
    const snw_status s = snw_truncation_frequencies(
        t, r->state, r->desc->step[stage].steady, balanced, leave_unstable, r->modes[stage], &cut);
    if (s == SNW_OK && !r->resuming) warn_mode_truncation(r, table, &cut, stats->quadrature);
    if (!r->resuming) warn_unknown_truncation(r, table);
}

// A richer model of a robot with very many coordinates would take more memory than the robot.
static void note_not_estimated(const snw_run *r) {
    char text[300];
    if (!r->now->model->local || r->now->truncation || (r->hooks && r->hooks->unchecked)) return;
    (void)snprintf(text, sizeof text,
                   "run '%s': with %d coordinates the error of the bases is not estimated (-); "
                   "compare with half the elements to see it",
                   r->info.run, r->now->model->nv);
    snw_run_note(r, text);
}

void snw_run_warn_accuracy(const snw_run *r) {
    note_not_estimated(r);
    warn_nodes(r);
    warn_strain_basis(r);
}

void snw_run_warn_contact_law(const snw_run *r, const snw_step_desc *step,
                              const snw_integrator *it) {
    static const double LIMIT = 1e-6;
    double t = 0;
    int contact = 0;
    char text[480];
    if (!it->contact_violation) return;
    const double violation = it->contact_violation(it->self, &t, &contact);
    if (!(violation > LIMIT)) return;
    (void)snprintf(text, sizeof text,
                   "run '%s', step '%.60s': the forces of hard contacts violate their law by up to "
                   "%.1g of the approach, worst at t = %.6g s in contact '%.60s', where contacts "
                   "wedge one another; a shorter step or less friction may help, a stiffness "
                   "instead of 'hard' does",
                   r->info.run, step->name, violation, t,
                   snw_hard_law_name(r->now->model, contact));
    snw_run_warn(r, text);
}

void snw_run_warn_time_error(snw_run *r, const snw_step_desc *step, const snw_integrator *it) {
    double t = 0, failed = NAN;
    char text[320];
    r->totals.time_error =
        it->global_error && !step->kinematic ? it->global_error(it->self, &t, &failed) : 0;
    if (!(r->totals.time_error > TIME_ERROR_LIMIT)) {
        if (isnan(failed)) return;
        (void)snprintf(text, sizeof text,
                       "run '%s', step '%.60s': the error of the time steps is not known beyond t "
                       "= %.4g s, where its estimate found no solution; compare with step: %.3g ms",
                       r->info.run, step->name, failed, 500 * it->grid);
        snw_run_warn(r, text);
        return;
    }
    (void)snprintf(
        text, sizeof text,
        "run '%s', step '%.60s': by t = %.4g s the estimated error of time steps of %.3g ms is up "
        "to about %.1g of the robot's length; write step: %.3g ms, or adapt: on",
        r->info.run, step->name, t, 1e3 * it->grid, r->totals.time_error, 250 * it->grid);
    snw_run_warn(r, text);
}
