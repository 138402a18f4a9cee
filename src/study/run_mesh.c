// SPDX-License-Identifier: MIT
//
// Adaptive meshes of rods (model/rod_mesh.h, theory.md 3.16). Between steps the run estimates the
// error of each mesh. Where it exceeds the tolerance, or is far below, new cells are placed and a
// model is compiled with them; everything that holds the present model of the phase is told to use
// the new one. Coordinates, constraint rows and sizes are the same, so states and workspaces remain
// valid. Frames show the poses at the nodes of the initial mesh.
#include "study/run_private.h"

#include "base/fail.h"
#include "shoot/shooter.h"

#include <math.h>
#include <string.h>

// Error, relative to the tolerance, below which a coarser mesh is tried; and the largest ratio of
// cell counts for which it is taken.
static const double LOOSE = 0.03, FEWER = 0.7;

snw_status snw_run_own_links(snw_run *r, snw_phase *e) {
    const snw_desc *d = e->desc;
    if (e->link) return SNW_OK;
    snw_desc *own = snw_pool_array(r->pool, 1, sizeof *own);
    e->link = snw_pool_array(r->pool, (size_t)d->nlink, sizeof *e->link);
    if (!own || !e->link) return SNW_E_MEMORY;
    *own = *d;
    memcpy(e->link, d->link, (size_t)d->nlink * sizeof *e->link);
    own->link = e->link;
    e->desc = own;
    return SNW_OK;
}

snw_status snw_run_mesh_own_desc(snw_run *r, const snw_desc *d, snw_phase *e) {
    e->desc = d;
    bool adapts = false;
    for (int l = 0; l < d->nlink; l++) adapts |= d->link[l].has_rod && d->link[l].rod.tolerance > 0;
    r->mesh_adapts |= adapts;
    return adapts ? snw_run_own_links(r, e) : SNW_OK;
}

static snw_status compile_mesh(const snw_desc *d, bool given, snw_closure_choice *choice,
                               snw_model **out, snw_error *err) {
    return snw_projection_compile_choice(d, given ? SNW_USE_KINEMATIC : SNW_USE_STUDY, choice, out,
                                         err);
}

snw_status snw_run_mesh_compile(snw_run *r, snw_phase *e, bool given, snw_error *err) {
    snw_closure_choice *choice = e == r->phase ? r->choice : NULL;
    snw_model_destroy(e->compiled);
    e->compiled = NULL;
    SNW_TRY(compile_mesh(e->desc, given, choice, &e->compiled, err));
    e->model = e->compiled;
    return SNW_OK;
}

// Nodes of the rod of link l in a phase; 0: no rod, or its nodes are given or adaptive.
static int auto_nodes(const snw_phase *e, int l) {
    const int rod = l < e->desc->nlink ? e->model->link_rod[l] : -1;
    if (rod < 0 || e->desc->link[l].rod.nodes > 0 || e->model->rod[rod].tolerance > 0) return 0;
    return e->model->rod[rod].nodes;
}

snw_status snw_run_mesh_equal_nodes(snw_run *r, bool given, snw_error *err) {
    bool *other = snw_pool_array(r->pool, (size_t)r->nphase, sizeof *other);
    if (!other) return SNW_E_MEMORY;
    for (int l = 0; l < r->desc->nlink; l++) {
        int most = 0;
        for (int k = 0; k < r->nphase; k++) {
            const int n = auto_nodes(&r->phase[k], l);
            if (n > most) most = n;
        }
        for (int k = 0; k < r->nphase; k++) {
            snw_phase *e = &r->phase[k];
            const int n = auto_nodes(e, l);
            if (n == 0 || n == most) continue;
            SNW_TRY(snw_run_own_links(r, e));
            e->link[l].rod.nodes = most;
            other[k] = true;
        }
    }
    for (int k = 0; k < r->nphase; k++) {
        if (other[k]) SNW_TRY(snw_run_mesh_compile(r, &r->phase[k], given, err));
    }
    return SNW_OK;
}

snw_status snw_run_mesh_alloc(snw_run *r) {
    const snw_model *m = r->phase[0].model;
    if (m->nnode < m->nseg - 1) {
        r->pose = snw_pool_array(r->pool, (size_t)m->nnode, sizeof *r->pose);
        return r->pose ? SNW_OK : SNW_E_MEMORY;
    }
    if (!r->mesh_adapts) return SNW_OK;
    for (int i = 0; i < m->nrod; i++) {
        if (m->rod[i].tolerance > 0) r->nmesh_cells += (size_t)m->rod[i].room + 2;
    }
    r->mesh_cells = snw_pool_array(r->pool, 2 * r->nmesh_cells, sizeof *r->mesh_cells);
    r->pose = snw_pool_array(r->pool, (size_t)m->nseg, sizeof *r->pose);
    double *x = snw_pool_array(r->pool, (size_t)m->nseg, sizeof *x);
    if (!r->mesh_cells || !r->pose || !x) return SNW_E_MEMORY;
    memcpy(x, m->seg_x + 1, (size_t)(m->nseg - 1) * sizeof *x);
    r->info.node_x = x;
    for (int k = 0; k < r->nphase; k++) {
        double *at = r->mesh_cells;
        for (int i = 0; i < m->nrod; i++) {
            if (m->rod[i].tolerance == 0) continue;
            r->phase[k].link[m->rod[i].link].rod.cell = at + 1;
            at += m->rod[i].room + 2;
        }
    }
    return SNW_OK;
}

snw_status snw_run_use_model(snw_run *r, snw_phase *e, const snw_model *m) {
    snw_closure_rows *old = e->rows, *rows;
    SNW_TRY(snw_closure_rows_create(m, &rows));
    if (old && rows) snw_closure_rows_copy(old, rows);
    e->rows = rows;
    e->model = snw_closure_rows_model(rows, m);
    snw_statics_use(e->statics, e->model);
    snw_statics_choose_rows(e->statics, e->rows);
    if (e->truncation) snw_truncation_use(e->truncation, e->model);
    for (int i = 0; i < r->desc->nstep; i++) {
        if (&r->phase[r->phase_of_step[i]] != e) continue;
        if (r->modes[i]) snw_modes_use(r->modes[i], e->model);
        if (r->fields[i]) snw_shooter_use(r->fields[i], e->model);
    }
    snw_closure_rows_destroy(old);
    return SNW_OK;
}

// Compile the phase's model with the cells in r->mesh_cells and use it; a count of 0 gives the
// initial mesh. The integrator of a step is told by the caller.
static snw_status rebuild(snw_run *r, snw_phase *e, snw_error *err) {
    const double *at = r->mesh_cells;
    bool same = true, initial = true;
    for (int i = 0; i < e->model->nrod; i++) {
        const snw_rod *rod = &e->model->rod[i];
        if (rod->tolerance == 0) continue;
        snw_rod_desc *d = &e->link[rod->link].rod;
        same &= d->ncell == 0 && at[0] == 0;
        initial &= at[0] == 0;
        d->ncell = (int)at[0];
        at += rod->room + 2;
    }
    if (same) return SNW_OK;
    snw_model *fresh = NULL;
    if (!initial) SNW_TRY(compile_mesh(e->desc, e->compiled->bare, NULL, &fresh, err));
    if (fresh && !snw_model_fits(e->compiled, fresh)) {
        snw_model_destroy(fresh);
        return snw_fail(err, SNW_E_MODEL,
                        "the nodes of rods cannot be moved: other nodes would make other loop rows "
                        "redundant; use integrator: magnus 6");
    }
    const snw_status s = snw_run_use_model(r, e, fresh ? fresh : e->compiled);
    snw_model_destroy(s == SNW_OK ? e->remeshed : fresh);
    if (s == SNW_OK) e->remeshed = fresh;
    return s;
}

snw_status snw_run_mesh_reset(snw_run *r, snw_error *err) {
    if (!r->mesh_adapts) return SNW_OK;
    memset(r->mesh_cells, 0, r->nmesh_cells * sizeof *r->mesh_cells);
    for (int k = 0; k < r->nphase; k++) SNW_TRY(rebuild(r, &r->phase[k], err));
    return SNW_OK;
}

// Are the cells at[1..] of a checkpoint valid for this rod?
static bool cells_valid(const double *at, const snw_rod *rod) {
    const double n = at[0];
    if (!(n >= 0 && n <= rod->room && n == floor(n))) return false;
    if (n == 0) return true;
    const double *cell = at + 1;
    for (int i = 0; i < (int)n; i++) {
        if (!(cell[i] < cell[i + 1])) return false;
    }
    return cell[0] == 0 && cell[(int)n] == rod->L;
}

snw_status snw_run_mesh_apply(snw_run *r, snw_phase *e, snw_error *err) {
    if (!r->mesh_adapts) return SNW_OK;
    const double *at = r->mesh_cells;
    for (int i = 0; i < e->model->nrod; i++) {
        const snw_rod *rod = &e->model->rod[i];
        if (rod->tolerance == 0) continue;
        if (!cells_valid(at, rod)) {
            return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': the checkpoint is of another study",
                            r->info.run);
        }
        at += rod->room + 2;
    }
    return rebuild(r, e, err);
}

static snw_status fail_mesh_full(const snw_model *m, const snw_rod *rod, double t, snw_error *err) {
    const snw_link_desc *link = &m->desc->link[rod->link];
    const snw_source_location at = link->rod.location;
    const snw_status s = snw_fail(err, SNW_E_MODEL,
                                  "rod '%s': at t = %g s its tolerance of %g needs more than its "
                                  "%d nodes; raise its nodes: or its tolerance:",
                                  link->name, t, rod->tolerance, rod->nodes);
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

// Nodes in use in all adaptive meshes.
static int count_nodes(const snw_model *m) {
    int n = 0;
    for (int i = 0; i < m->nrod; i++) {
        if (m->rod[i].tolerance > 0) n += SNW_ROD_MESH_CELL_NODES * m->rod[i].ncell;
    }
    return n;
}

snw_status snw_run_mesh_adapt(snw_run *r, const snw_state *s, bool is_static, bool loosen,
                              bool *changed, snw_error *err) {
    *changed = false;
    if (!r->mesh_adapts) return SNW_OK;
    const snw_model *m = r->now->model;
    double *now = r->mesh_cells, *next = r->mesh_cells + r->nmesh_cells;
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        if (rod->tolerance == 0) continue;
        const double error = snw_rod_error(m, rod, s, is_static) / rod->tolerance;
        const bool refine = !(error <= 1);
        const bool coarsen = loosen && error < LOOSE && rod->ncell > rod->nelem * rod->least;
        if (refine || coarsen) {
            const int n = snw_rod_mesh_cells(m, rod, s, is_static, next + 1);
            if (n == 0 && refine) return fail_mesh_full(m, rod, s->t, err);
            if (n > 0 && (refine || n <= FEWER * rod->ncell)) {
                next[0] = n;
                memcpy(now, next, ((size_t)rod->room + 2) * sizeof *now);
                *changed = true;
            }
        }
        now += rod->room + 2, next += rod->room + 2;
    }
    if (*changed) {
        SNW_TRY(rebuild(r, r->now, err));
        // distributed loads are stored by node
        if (r->loads_applied) {
            snw_statics_assume(r->now->statics, s->t);
        } else {
            snw_statics_reset(r->now->statics);
        }
        r->totals.meshes++;
    }
    const int n = count_nodes(r->now->model);
    if (n > r->totals.most_nodes) r->totals.most_nodes = n;
    return SNW_OK;
}

const snw_se3 *snw_run_frame_poses(snw_run *r, const snw_frame_source *v) {
    const snw_model *m = r->now->model;
    if (m->nnode < m->nseg - 1) {
        for (int k = 0; k < m->nnode; k++) r->pose[k] = v->w->g[m->node_seg[k]];
        return r->pose;
    }
    if (!r->mesh_adapts) return v->w->g + 1;
    memcpy(r->pose, v->w->g + 1, (size_t)(m->nseg - 1) * sizeof *r->pose);
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        if (rod->tolerance == 0) continue;
        for (int k = rod->seg0 - 1; k < rod->seg0 - 1 + rod->nseg; k++) {
            r->pose[k] = snw_rod_pose(m, rod, v->state, v->w->g, r->info.node_x[k]);
        }
    }
    return r->pose;
}
