// SPDX-License-Identifier: MIT
//
// Locomotion with prescribed shape changes (theory.md 6.8). Unknown are the rates x of the
// coordinates that are not driven, passive joints included. With C the Jacobian of the active rows
// by these coordinates, e the rates of the rows at x = 0 and b their accelerations at a = 0,
//   C x = -e,      C a = -b,      x = x_p + N y,   C N = 0
// The open motions y follow from
//   N'r(a) = 0,    r(a) = r(a_p) + M N y
// since reactions do no work on them; this takes one residual for each open motion. Reactions are
// the solution of minimum norm of
//   C_f'lambda = r_f
// on the free coordinates f; efforts of driven and passive joints balance the rest of r.

#include "constraint/locomotion_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/fluid.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { MAX_UNKNOWN = 1000 }; // largest dense system: the work grows with the cube

// ---- creation -----------------------------------------------------------------------------------

static bool is_driven(const snw_model *m, int dof) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->dof == dof && d->row >= 0 && d->condition < 0 && !d->passive) return true;
    }
    return false;
}

static bool has_passive_drive(const snw_model *m, int dof) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].dof == dof && m->drive[i].row >= 0 && m->drive[i].passive) return true;
    }
    return false;
}

// effort group of the passive motor on a coordinate: 1 + index of the first motor of the group, 0
// without a group; *is_servo <- whether the motor belongs to a servo constraint
static int effort_group_of(const snw_model *m, int dof, bool *is_servo) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->dof != dof || d->row < 0 || !d->passive) continue;
        const snw_motor *motor = &m->motor[d->motor];
        *is_servo = motor->servo.given || motor->same;
        return motor->same;
    }
    return 0;
}

static snw_status locomotion_refuse(const snw_model *m, int block, snw_error *err) {
    return snw_fail(err, SNW_E_MODEL,
                    "a kinematic step needs prescribed shapes, and rod '%s' has coordinates that "
                    "are not driven; give its strains as laws, drive them, or use a dynamic step",
                    snw_block_link(m, block));
}

static snw_status list_unknown(snw_locomotion *lo, snw_error *err) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].row < 0) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "a kinematic step does not support given lengths and volumes ('%s'); use a "
                        "dynamic step",
                        m->tendon[i].name);
    }
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].ncoupled == 0 || m->loop[i].keeps_length) continue;
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "a kinematic step does not support '%s'; leave it out and give the joint an "
                     "actuator with the 'position' that it has, or use a dynamic step",
                     m->label.loop[i].name),
            m->label.loop[i].location.file, m->label.loop[i].location.line,
            m->label.loop[i].location.column);
    }
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        for (int i = 0; i < b->n; i++) {
            if (is_driven(m, b->dof + i)) continue;
            if (m->seg[b->seg].kind == SNW_SEG_ROD || b->feed) return locomotion_refuse(m, k, err);
            lo->dof[lo->nu] = b->dof + i;
            lo->block[lo->nu] = k;
            lo->is_passive[lo->nu] = has_passive_drive(m, b->dof + i);
            lo->effort_group[lo->nu] = effort_group_of(m, b->dof + i, &lo->is_servo[lo->nu]);
            lo->nu++;
        }
    }
    return SNW_OK;
}

// sign[i nu + j]: unknown j moves the second site of loop i (1), its first (-1), neither or both
// (0)
static snw_status list_moved(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    const size_t nu = (size_t)lo->nu;
    int *unknown = snw_alloc((size_t)m->nv * sizeof *unknown); // 1 + index among the unknowns
    lo->sign = snw_alloc((size_t)m->nloop * nu);
    if (!unknown || !lo->sign) {
        snw_free(unknown);
        return SNW_E_MEMORY;
    }
    for (int j = 0; j < lo->nu; j++) unknown[lo->dof[j]] = 1 + j;
    for (int i = 0; i < m->nloop; i++) {
        const int seg[2] = {m->loop[i].a, m->loop[i].b};
        signed char *sign = lo->sign + (size_t)i * nu;
        for (int side = 0; side < 2; side++) {
            const snw_path *path = &m->path[m->seg[seg[side]].path];
            for (int k = 0; k < path->n; k++) {
                const int j = unknown[path->dof[k]] - 1;
                if (j >= 0) sign[j] = (signed char)(sign[j] + (side ? 1 : -1));
            }
        }
    }
    snw_free(unknown);
    return SNW_OK;
}

// Weight and preferred multiplier of a row of a loop in the norm of the reactions.
static void weigh_row(const snw_locomotion *lo, snw_locomotion_row *row) {
    const snw_loop *loop = &lo->m->loop[row->loop];
    const bool turns = snw_loop_row_is_moment(loop, row->r);
    row->weight = (turns ? lo->opts.torque : 1) * sqrt(loop->weight);
    row->preload = loop->preload;
}

// rows on the unknown rates: all but those of drives that are always active
static void locomotion_list_rows(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->nloop; i++) {
        for (int r = 0; r < m->loop[i].nrow; r++) {
            lo->row[lo->nr] = (snw_locomotion_row){.row = m->loop[i].row + r,
                                                   .loop = i,
                                                   .r = r,
                                                   .drive = -1,
                                                   .joint = {-1, -1},
                                                   .size = snw_loop_kept_size(m, &m->loop[i], r)};
            weigh_row(lo, &lo->row[lo->nr++]);
        }
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->condition < 0 || d->passive) continue;
        lo->row[lo->nr++] = (snw_locomotion_row){.row = d->row,
                                                 .loop = -1,
                                                 .drive = i,
                                                 .joint = {-1, -1},
                                                 .size = m->typical[d->dof],
                                                 .weight = 1};
    }
    snw_locomotion_list_servo_rows(lo);
}

static bool is_projective(const snw_locomotion *lo) {
    return lo->opts.form != SNW_REACTIONS_DISTRIBUTIVE;
}

static void place_lists(void *object, snw_fields *f) {
    snw_locomotion *o = object;
    const size_t nv = (size_t)o->m->nv, rows = (size_t)o->m->nconstraint;
    LOCOMOTION_LISTS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static void place_matrices(void *object, snw_fields *f) {
    snw_locomotion *o = object;
    const bool has_servo = o->has_servo, least_efforts = o->opts.least_efforts;
    const size_t nprojective = is_projective(o) ? (size_t)o->m->nseg : 0;
    const size_t nd = (size_t)o->m->ndrive, nu = (size_t)o->nu, nr = (size_t)o->nr,
                 all = nr + (size_t)o->npassive;
    const size_t rows = (size_t)o->m->nconstraint, least = nr < nu ? nr : nu,
                 most = all > nu ? all : nu;
    LOCOMOTION_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static snw_status locomotion_take_memory(snw_locomotion *lo) {
    const size_t svd = snw_svd_scratch(lo->nr, lo->nu);
    const size_t shortest = snw_minimum_norm_scratch(lo->nu, lo->nr + lo->npassive);
    const size_t efforts =
        lo->opts.least_efforts ? snw_minimum_norm_scratch(lo->m->ndrive, lo->nr) : 0;
    lo->scratch.size = svd > shortest ? svd : shortest;
    if (efforts > lo->scratch.size) lo->scratch.size = efforts;
    const size_t projective = is_projective(lo) ? snw_locomotion_projective_scratch() : 0;
    if (projective > lo->scratch.size) lo->scratch.size = projective;
    lo->scratch.base = snw_alloc(lo->scratch.size);
    lo->matrix_block = snw_fields_create(place_matrices, lo);
    return lo->scratch.base && lo->matrix_block ? SNW_OK : SNW_E_MEMORY;
}

// Least efforts: the reactions that balance themselves follow from the rows of driven robots.
static snw_status check_least_efforts(const snw_locomotion *lo, snw_error *err) {
    bool passive = lo->npassive > 0 || lo->has_servo;
    for (int j = 0; j < lo->nu; j++) passive = passive || lo->is_passive[j];
    if (!lo->opts.least_efforts || !passive) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "'least: efforts' is not supported with passive joints and with 'hold', whose "
                    "efforts depend on the reactions; use 'least: norm'");
}

snw_status snw_locomotion_create(const snw_model *m, const snw_locomotion_opts *opts,
                                 snw_locomotion **out, snw_error *err) {
    *out = NULL;
    snw_locomotion *lo = snw_alloc(sizeof *lo);
    if (!lo) return SNW_E_MEMORY;
    lo->m = m;
    lo->opts = *opts;
    lo->list_block = snw_fields_create(place_lists, lo);
    snw_status s = lo->list_block ? SNW_OK : SNW_E_MEMORY;
    if (s == SNW_OK) s = snw_work_create(m, &lo->w);
    if (s == SNW_OK) s = snw_state_create(m, &lo->near);
    if (s == SNW_OK) s = list_unknown(lo, err);
    if (s == SNW_OK) {
        locomotion_list_rows(lo);
        s = snw_locomotion_plan_passive(lo);
    }
    if (s == SNW_OK) s = check_least_efforts(lo, err);
    if (s == SNW_OK && is_projective(lo)) s = snw_locomotion_check_projective(lo, err);
    if (s == SNW_OK && lo->nu > MAX_UNKNOWN) {
        s = snw_fail(
            err, SNW_E_MODEL,
            "%d coordinates are neither driven nor determined by a contact of their own, at most "
            "%d are possible in a kinematic step; drive them, or give each a contact",
            lo->nu, MAX_UNKNOWN);
    }
    if (s == SNW_OK) s = list_moved(lo);
    if (s == SNW_OK) s = locomotion_take_memory(lo);
    if (s == SNW_OK && is_projective(lo)) s = snw_locomotion_list_body_rows(lo);
    if (s != SNW_OK) {
        snw_locomotion_destroy(lo);
        return s;
    }
    *out = lo;
    return SNW_OK;
}

void snw_locomotion_use(snw_locomotion *lo, const snw_model *m) {
    lo->m = m;
    for (int k = 0; k < lo->nr + lo->npassive; k++) {
        if (lo->row[k].loop >= 0) weigh_row(lo, &lo->row[k]);
    }
    snw_locomotion_divide_nodes(lo);
}

void snw_locomotion_destroy(snw_locomotion *lo) {
    if (!lo) return;
    snw_work_destroy(lo->w);
    snw_state_destroy(lo->near);
    snw_free(lo->scratch.base);
    snw_free(lo->matrix_block);
    snw_free(lo->list_block);
    snw_free(lo->passive);
    snw_free(lo->elimination);
    snw_free(lo->sign);
    snw_free(lo->beyond);
    snw_free(lo);
}

// ---- rows ---------------------------------------------------------------------------------------

snw_twist snw_locomotion_joint_twist(const snw_locomotion *lo, int block, int dof) {
    const snw_block *b = &lo->m->block[block];
    snw_twist S = {0};
    if (lo->m->seg[b->seg].kind == SNW_SEG_SCREW) {
        S = b->S;
    } else {
        S.e[dof - b->dof] = 1;
    }
    return snw_twist_to_parent(lo->w->g[b->seg], S);
}

// lo->c, lo->C <- rows and their Jacobian at the configuration in lo->w, columns in typical units,
// rows divided by their sizes
static void locomotion_jacobian(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    const size_t nr = (size_t)(lo->nr + lo->npassive), nu = (size_t)lo->nu;
    for (size_t j = 0; j < nu; j++) {
        lo->X[j] = snw_locomotion_joint_twist(lo, lo->block[j], lo->dof[j]);
    }
    memset(lo->C, 0, nr * nu * sizeof *lo->C);
    for (size_t k = 0; k < nr; k++) {
        const snw_locomotion_row *row = &lo->row[k];
        if (row->servo) {
            snw_locomotion_servo_row(lo, k);
            continue;
        }
        if (row->loop < 0) {
            const snw_drive *d = &m->drive[row->drive];
            for (size_t j = 0; j < nu && snw_is_active(lo->w, d->condition); j++) {
                if (lo->dof[j] == d->dof) lo->C[j * nr + k] = m->typical[d->dof] / row->size;
            }
            continue;
        }
        lo->c[k] = snw_loop_row(m, lo->w, row->loop, row->r);
        const signed char *sign = lo->sign + (size_t)row->loop * nu;
        for (size_t j = 0; j < nu; j++) {
            if (sign[j] == 0) continue;
            lo->C[j * nr + k] =
                sign[j] * snw_power(lo->c[k], lo->X[j]) * m->typical[lo->dof[j]] / row->size;
        }
    }
}

// e (npassive) += rates of the leading rows when unknown j has x times its typical rate
static void add_leading_rates(const snw_locomotion *lo, int j, double x, double *e) {
    const snw_locomotion_row *lead = lo->row + lo->nr;
    const double *C = lo->C + (size_t)j * (size_t)(lo->nr + lo->npassive) + lo->nr;
    for (int i = 0; i < lo->npassive; i++) e[i] += x * C[i] * lead[i].size;
}

// lo->B <- Jacobian of the other rows by the unknowns, passive joints eliminated
static void locomotion_condense(snw_locomotion *lo) {
    const size_t nr = (size_t)lo->nr, all = nr + (size_t)lo->npassive;
    for (int j = 0; j < lo->nu; j++) {
        double *B = lo->B + (size_t)j * nr;
        memcpy(B, lo->C + (size_t)j * all, nr * sizeof *B);
        if (lo->npassive == 0) continue;
        memset(lo->e, 0, (size_t)lo->npassive * sizeof *lo->e);
        add_leading_rates(lo, j, 1, lo->e);
        snw_locomotion_solve_passive(lo, lo->e);
        for (int k = 0; k < lo->nr; k++)
            B[k] += snw_locomotion_passive_rate(lo, k) / lo->row[k].size;
    }
}

// Relative singular value below which the rows lose rank.
static const double RANK_TOLERANCE = 3e-8;

static int locomotion_rank_of(const snw_locomotion *lo) {
    const int least = lo->nr < lo->nu ? lo->nr : lo->nu;
    int rank = 0;
    while (rank < least && lo->S[rank] > RANK_TOLERANCE * lo->S[0]) rank++;
    return rank;
}

snw_status snw_locomotion_decompose(snw_locomotion *lo, int *rank) {
    locomotion_jacobian(lo);
    SNW_TRY(snw_locomotion_factor_passive(lo));
    locomotion_condense(lo);
    SNW_TRY(snw_svd(lo->nr, lo->nu, lo->B, &lo->scratch, lo->U, lo->S, lo->Vt));
    *rank = locomotion_rank_of(lo);
    return SNW_OK;
}

// x (nu, in typical units) <- minimum-norm solution of B x = -e, e (nconstraint)
static void locomotion_shortest(const snw_locomotion *lo, int rank, const double *e, double *x) {
    const size_t nr = (size_t)lo->nr, nu = (size_t)lo->nu;
    for (size_t j = 0; j < nu; j++) x[j] = 0;
    for (int k = 0; k < rank; k++) {
        double sum = 0;
        for (size_t i = 0; i < nr; i++) {
            sum -= lo->U[(size_t)k * nr + i] * e[lo->row[i].row] / lo->row[i].size;
        }
        for (size_t j = 0; j < nu; j++) x[j] += sum / lo->S[k] * lo->Vt[j * nu + (size_t)k];
    }
}

void snw_locomotion_condense_rates(snw_locomotion *lo, double *e, double *to) {
    if (lo->npassive == 0) return;
    for (int i = 0; i < lo->npassive; i++) lo->e[i] = e[lo->row[lo->nr + i].row];
    snw_locomotion_solve_passive(lo, lo->e);
    for (int k = 0; k < lo->nr; k++) e[lo->row[k].row] += snw_locomotion_passive_rate(lo, k);
    for (int i = 0; i < lo->npassive; i++) {
        e[lo->row[lo->nr + i].row] = 0;
        if (to) to[lo->passive[i].dof] += lo->passive[i].x;
    }
}

static void locomotion_add(const snw_locomotion *lo, double part, const double *x, double *to) {
    for (int j = 0; j < lo->nu; j++) to[lo->dof[j]] += part * lo->m->typical[lo->dof[j]] * x[j];
}

void snw_locomotion_add_motion(snw_locomotion *lo, const double *x, double *to) {
    locomotion_add(lo, 1, x, to);
    memset(lo->e, 0, (size_t)lo->npassive * sizeof *lo->e);
    for (int j = 0; j < lo->nu; j++) add_leading_rates(lo, j, x[j], lo->e);
    snw_locomotion_solve_passive(lo, lo->e);
    for (int i = 0; i < lo->npassive; i++) to[lo->passive[i].dof] += lo->passive[i].x;
}

// to (nv) += minimum-norm solution of C x = -e by the largest `rank` singular values, with the
// rates of passive joints; e (nconstraint) is overwritten
static void locomotion_correct(snw_locomotion *lo, int rank, double *e, double *to) {
    snw_locomotion_condense_rates(lo, e, to);
    locomotion_shortest(lo, rank, e, lo->x);
    snw_locomotion_add_motion(lo, lo->x, to);
}

// ---- driven coordinates -------------------------------------------------------------------------

void snw_locomotion_impose(const snw_locomotion *lo, const snw_inputs *in, snw_state *s) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->condition >= 0 || d->passive) continue;
        s->q[d->q] = snw_drive_target(m, in, s, i);
        s->v[d->dof] = in->drive[i].d;
        s->a[d->dof] = in->drive[i].dd;
    }
    for (int j = 0; j < lo->nu; j++) s->a[lo->dof[j]] = 0;
    for (int i = 0; i < lo->npassive; i++) s->a[lo->passive[i].dof] = 0;
    snw_state_clear_inactive(m, s);
}

// ---- velocities ---------------------------------------------------------------------------------

const char *snw_locomotion_row_name(const snw_locomotion *lo, int k) {
    const snw_model *m = lo->m;
    const snw_locomotion_row *row = &lo->row[k];
    return row->loop < 0 ? snw_drive_name(m, row->drive) : m->label.loop[row->loop].name;
}

static snw_status locomotion_contradict(const snw_locomotion *lo, double t, int k, double left,
                                        snw_error *err) {
    const snw_model *m = lo->m;
    const snw_locomotion_row *row = &lo->row[k];
    if (row->loop < 0) {
        return snw_fail(err, SNW_E_MODEL,
                        "actuator '%s' contradicts the other prescribed motions at t = %.9g s: it "
                        "misses its rate by %.3g",
                        snw_drive_name(m, row->drive), t, left);
    }
    const snw_label *d = &m->label.loop[row->loop];
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "%s '%s' contradicts the other contacts and drives at t = %.9g s: it would have "
                 "to slip with %.3g (%s). Let a joint be passive (position: free), remove "
                 "contacts, or change the laws",
                 m->loop[row->loop].nonholonomic ? "contact" : "loop", d->name, t, left,
                 snw_loop_row_name(&m->loop[row->loop], row->r)),
        d->location.file, d->location.line, d->location.column);
}

// Rate of the shape change, in typical units: the sum over driven joints, since many small
// rotations bend a chain as much as a large one; rates of prescribed strain fields; and rates that
// servo laws prescribe.
static double shape_rate(const snw_locomotion *lo, const snw_inputs *in, const snw_state *s) {
    const snw_model *m = lo->m;
    double fast = 0;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row >= 0 && !d->passive) fast += fabs(s->v[d->dof]) / m->typical[d->dof];
    }
    for (int k = 0; k < lo->nr; k++) fast += snw_locomotion_servo_rate(lo, k, in->t);
    return fmax(fast, snw_field_rate(m, in));
}

// Do all rows hold at the velocities of s? Their rates are compared with the largest velocity.
static snw_status check_consistent(snw_locomotion *lo, const snw_inputs *in, const snw_state *s,
                                   snw_error *err) {
    const snw_model *m = lo->m;
    double fast = m->nfield > 0 ? shape_rate(lo, in, s) : 0, worst = 0;
    int row = 0;
    for (int i = 0; i < m->nv; i++) fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
    for (int k = 0; k < lo->nr + lo->npassive; k++) {
        const double e = fabs(lo->rate[lo->row[k].row]) / lo->row[k].size;
        if (!(e <= worst)) worst = e, row = k;
    }
    if (worst <= 1e-6 * fast + 1e-12) return SNW_OK;
    return locomotion_contradict(lo, in->t, row, lo->rate[lo->row[row].row], err);
}

// SNW_E_SINGULAR when the gait approaches a singular configuration: the smallest singular value is
// small, the motion along its vector is fast, and it grows faster than the shape changes, v = c/(t
// - t_s) with v'/v = 1/(t - t_s). A long lever alone does not make it grow.
static snw_status check_singularity(const snw_locomotion *lo, const snw_inputs *in,
                                    const snw_state *s, snw_error *err) {
    const snw_model *m = lo->m;
    const size_t nu = (size_t)lo->nu, nr = (size_t)lo->nr;
    const int last = lo->nominal - 1;
    if (last < 0 || lo->S[last] > 0.02 * lo->S[0]) return SNW_OK;
    double along = 0, growing = 0, speed = 0;
    for (size_t j = 0; j < nu; j++) {
        speed = fmax(speed, fabs(s->v[lo->dof[j]]) / m->typical[lo->dof[j]]);
        const double part = lo->Vt[j * nu + (size_t)last] / m->typical[lo->dof[j]];
        along += part * s->v[lo->dof[j]];
        growing += part * s->a[lo->dof[j]];
    }
    const double given = shape_rate(lo, in, s);
    // a coasting robot has rounding errors in the constrained directions
    if (fabs(along) <= fmax(30 * given, 1e-9 * speed)) return SNW_OK;
    if (fabs(growing) <= 10 * given * fabs(along)) return SNW_OK;
    int a = 0, b = -1;
    const double *U = lo->U + (size_t)last * nr;
    for (int k = 1; k < lo->nr; k++) a = fabs(U[k]) > fabs(U[a]) ? k : a;
    for (int k = 0; k < lo->nr; k++) {
        if (k != a && (b < 0 || fabs(U[k]) > fabs(U[b]))) b = k;
    }
    return snw_fail(
        err, SNW_E_SINGULAR,
        "the gait reaches a singularity at t = %.9g s: there '%s' and '%s' are linearly dependent, "
        "and the robot would have to move with %.2g times the rates of its shape; choose a gait "
        "that avoids it, or another arrangement of contacts",
        in->t, snw_locomotion_row_name(lo, a), snw_locomotion_row_name(lo, b < 0 ? a : b),
        fabs(along) / given);
}

// p (nbase) <- momentum of s along the motions of the base, less the conserved one
static void base_momentum_error(snw_locomotion *lo, snw_inputs *in, const snw_state *s, double *p) {
    const snw_model *m = lo->m;
    snw_locomotion_kinematics(lo, in, s);
    snw_wrench P = snw_wrench_sub(snw_momentum(m, lo->w), lo->momentum);
    if (m->nfluid_point) P = snw_wrench_add(P, snw_fluid_momentum(m, lo->w));
    for (int k = 0; k < lo->nbase; k++) {
        const int j = lo->base[k];
        p[k] = snw_power(P, snw_locomotion_joint_twist(lo, lo->block[j], lo->dof[j])) *
               m->typical[lo->dof[j]];
    }
}

// s->v <- rates of the base at which the momentum is the conserved one
static snw_status conserve_momentum(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                    snw_error *err) {
    const int n = lo->nbase;
    double *p = lo->x, *q = p + n, *A = lo->MN;
    base_momentum_error(lo, in, s, p);
    for (int k = 0; k < n; k++) {
        const int dof = lo->dof[lo->base[k]];
        const double before = s->v[dof];
        s->v[dof] += lo->m->typical[dof];
        base_momentum_error(lo, in, s, q);
        s->v[dof] = before;
        for (int j = 0; j < n; j++) A[k * n + j] = q[j] - p[j];
    }
    if (snw_cholesky_factor(n, A) != SNW_OK) {
        return snw_fail(err, SNW_E_SINGULAR, "a motion of the base has no inertia");
    }
    snw_cholesky_solve(n, A, p);
    for (int k = 0; k < n; k++) {
        const int dof = lo->dof[lo->base[k]];
        s->v[dof] -= lo->m->typical[dof] * p[k];
    }
    return SNW_OK;
}

// ---- accelerations and forces -------------------------------------------------------------------

// component j of open motion k, in typical units
static double open_motion(const snw_locomotion *lo, int k, int j) {
    return lo->nr == 0 ? (double)(k == j)
                       : lo->Vt[(size_t)j * (size_t)lo->nu + (size_t)(lo->nominal + k)];
}

// component j of the motion against which the forces are tested
static double test_motion(const snw_locomotion *lo, int c, int j) {
    return lo->has_servo ? lo->Z[(size_t)j * (size_t)lo->nu + (size_t)(lo->nominal + c)]
                         : open_motion(lo, c, j);
}

static snw_status fail_undetermined(const snw_locomotion *lo, int block, double t, snw_error *err) {
    const snw_model *m = lo->m;
    return snw_fail(err, SNW_E_MODEL,
                    "the joint of '%s' is passive (position: free), but at t = %.9g s the contacts "
                    "do not determine its motion; give it a law, or add contacts",
                    snw_block_link(m, block), t);
}

// SNW_E_MODEL when the contacts do not determine a passive joint: an open motion moves it.
static snw_status check_passive_determined(snw_locomotion *lo, double t, snw_error *err) {
    const snw_model *m = lo->m;
    double *x = lo->x + 2 * lo->nu;
    for (int k = 0; k < lo->nu - lo->nominal; k++) {
        for (int j = 0; j < lo->nu; j++) {
            x[j] = open_motion(lo, k, j);
            if (!lo->is_passive[j] || lo->is_servo[j] || fabs(x[j]) < 1e-6) continue;
            return fail_undetermined(lo, lo->block[j], t, err);
        }
        if (lo->npassive == 0) continue;
        snw_locomotion_add_motion(lo, x, lo->v1);
        for (int i = 0; i < lo->npassive; i++) {
            const snw_passive_joint *f = &lo->passive[i];
            if (fabs(f->x) >= 1e-6 * m->typical[f->dof])
                return fail_undetermined(lo, f->block, t, err);
        }
    }
    return SNW_OK;
}

// Coordinates of inactive links have no mass: r (nu) <- residual of a unit mass without load.
static void rest_inactive(const snw_locomotion *lo, const snw_state *s, double *r) {
    const snw_model *m = lo->m;
    for (int k = 0; k < m->nconditional; k++) {
        if (snw_is_active(lo->w, m->conditional_on[k])) continue;
        for (int j = 0; j < lo->nu; j++) {
            if (lo->dof[j] == m->conditional[k]) r[j] = s->a[lo->dof[j]] / m->typical[lo->dof[j]];
        }
    }
}

// r (nu) <- residual of the unknowns at s without multipliers, in typical units
static void locomotion_residual(snw_locomotion *lo, const snw_inputs *in, snw_state *s, double *r) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->nconstraint; i++) s->lambda[i] = 0;
    snw_residual(m, in, s, false, lo->w);
    for (int j = 0; j < lo->nu; j++) r[j] = lo->w->r[lo->dof[j]] * m->typical[lo->dof[j]];
    rest_inactive(lo, s, r);
}

// force (nu) on open motion k
static double open_force(const snw_locomotion *lo, int k, const double *force) {
    double sum = 0;
    for (int j = 0; j < lo->nu; j++) sum += open_motion(lo, k, j) * force[j];
    return sum;
}

// to (nv) += N y with Z'(force + M N y) = 0. M N is a difference of residuals, for which r (nu) is
// the residual at s in typical units. Z is N, or with servo motors the motions on which these do no
// work.
static snw_status solve_open_motions(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                     const double *r, const double *force, double *to,
                                     snw_error *err) {
    const int n = lo->nu, k = n - lo->nominal;
    if (k == 0) return SNW_OK;
    double *MN = lo->MN, *A = MN + n * n, *y = lo->x + n, *x = lo->x + 2 * n, *q = lo->x + 3 * n;
    if (lo->has_servo) SNW_TRY(snw_locomotion_workless_motions(lo, in->t, err));
    for (int c = 0; c < k; c++) {
        for (int j = 0; j < n; j++) x[j] = open_motion(lo, c, j);
        locomotion_add(lo, 1, x, s->a);
        locomotion_residual(lo, in, s, q);
        locomotion_add(lo, -1, x, s->a);
        for (int j = 0; j < n; j++) MN[c * n + j] = q[j] - r[j];
    }
    for (int c = 0; c < k; c++) {
        y[c] = 0;
        for (int j = 0; j < n; j++) y[c] -= test_motion(lo, c, j) * force[j];
        for (int d = 0; d < k; d++) {
            A[d * k + c] = 0;
            for (int j = 0; j < n; j++) A[d * k + c] += test_motion(lo, c, j) * MN[d * n + j];
        }
    }
    if (lo->has_servo) {
        SNW_TRY(snw_locomotion_solve_servo(lo, in->t, k, A, y, err));
    } else if (snw_cholesky_factor(k, A) == SNW_OK) {
        snw_cholesky_solve(k, A, y);
    } else {
        return snw_fail(err, SNW_E_SINGULAR,
                        "a motion that the contacts leave free has no inertia at t = %.9g s; give "
                        "the links inertia, or constrain it",
                        in->t);
    }
    for (int j = 0; j < n; j++) {
        x[j] = 0;
        for (int c = 0; c < k; c++) x[j] += open_motion(lo, c, j) * y[c];
    }
    locomotion_add(lo, 1, x, to);
    return SNW_OK;
}

// s->v += the open motions with which resistance is in balance, N'r(v + N y) = 0, for a robot
// without mass: r is linear in the velocities (theory.md (6.8.5))
static snw_status balance_resistance(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                     snw_error *err) {
    const int n = lo->nu, k = n - lo->nominal;
    double *DN = lo->MN, *A = DN + n * n, *y = lo->x + n, *x = lo->x + 2 * n, *q = lo->x + 3 * n,
           *r = lo->x + 4 * n, *v = lo->x + 5 * n;
    locomotion_residual(lo, in, s, r);
    for (int j = 0; j < n; j++) v[j] = s->v[lo->dof[j]]; // far below the unit of x, perhaps
    for (int c = 0; c < k; c++) {
        for (int j = 0; j < n; j++) x[j] = open_motion(lo, c, j);
        locomotion_add(lo, 1, x, s->v);
        locomotion_residual(lo, in, s, q);
        for (int j = 0; j < n; j++) s->v[lo->dof[j]] = v[j];
        for (int j = 0; j < n; j++) DN[c * n + j] = q[j] - r[j];
    }
    double largest = 0, fast = shape_rate(lo, in, s); // force at these rates
    for (int j = 0; j < n; j++)
        fast = fmax(fast, fabs(s->v[lo->dof[j]]) / lo->m->typical[lo->dof[j]]);
    for (int c = 0; c < k; c++) {
        y[c] = -open_force(lo, c, r);
        for (int d = 0; d < k; d++) A[d * k + c] = open_force(lo, c, DN + d * n);
        largest = fmax(largest, fmax(fabs(y[c]), fast * fabs(A[c * k + c])));
    }
    if (snw_cholesky_factor(k, A) != SNW_OK) {
        return snw_fail(err, SNW_E_SINGULAR,
                        "the robot has no mass, and nothing resists a motion that the contacts "
                        "leave free at t = %.9g s; give its links mass or a fluid with 'drag: "
                        "{linear: ..}', or constrain it",
                        in->t);
    }
    snw_cholesky_solve(k, A, y);
    for (int j = 0; j < n; j++) {
        x[j] = 0;
        for (int c = 0; c < k; c++) x[j] += open_motion(lo, c, j) * y[c];
    }
    locomotion_add(lo, 1, x, s->v);
    locomotion_residual(lo, in, s, q);
    for (int c = 0; c < k; c++) {
        if (fabs(open_force(lo, c, q)) <= 1e-9 * largest) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "the robot has no mass, and its resistance is not linear in the velocities "
                        "(at t = %.9g s); give its links mass, or use 'drag: {linear: ..}' only",
                        in->t);
    }
    return SNW_OK;
}

// rates of open motions where an equation without accelerations determines them
static snw_status determine_open_rates(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                       snw_error *err) {
    if (lo->class == SNW_LOCOMOTION_SYMMETRIC) return conserve_momentum(lo, in, s, err);
    return lo->class == SNW_LOCOMOTION_VISCOUS ? balance_resistance(lo, in, s, err) : SNW_OK;
}

snw_status snw_locomotion_velocities(snw_locomotion *lo, snw_inputs *in, snw_state *s, int *rank,
                                     snw_error *err) {
    *rank = 0;
    if (lo->nr + lo->npassive == 0) return determine_open_rates(lo, in, s, err);
    snw_locomotion_kinematics(lo, in, s);
    const snw_status status = snw_locomotion_decompose(lo, rank);
    if (status == SNW_E_SINGULAR) return snw_locomotion_fail_lever(lo, in->t, err);
    if (status != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, "the motion has diverged at t = %.9g s", in->t);
    }
    if (*rank > lo->nominal) snw_locomotion_classify(lo, *rank);
    snw_locomotion_rates(lo, in, s, lo->rate, NULL);
    locomotion_correct(lo, *rank, lo->rate, s->v);
    return *rank == lo->nominal ? determine_open_rates(lo, in, s, err) : SNW_OK;
}

// first unknown in the effort group of unknown j; j itself when none precedes it
static size_t first_in_group(const snw_locomotion *lo, size_t j) {
    size_t i = lo->effort_group[j] ? 0 : j;
    while (i < j && lo->effort_group[i] != lo->effort_group[j]) i++;
    return i;
}

// lo->kernel (nr x nr) <- projection onto the reactions that balance themselves, C'lambda = 0, from
// the singular vectors of the rows in units of their sizes
static void find_kernel(snw_locomotion *lo) {
    const size_t nr = (size_t)lo->nr;
    for (size_t c = 0; c < nr; c++) {
        for (size_t i = 0; i < nr; i++) lo->kernel[c * nr + i] = i == c;
        for (int k = 0; k < lo->nominal; k++) {
            const double *U = lo->U + (size_t)k * nr;
            for (size_t i = 0; i < nr; i++) lo->kernel[c * nr + i] -= U[i] * U[c];
        }
        for (size_t i = 0; i < nr; i++) lo->kernel[c * nr + i] /= lo->row[i].size;
    }
}

// to (ndrive) <- efforts of the drives with the reactions in s->lambda
static void efforts_of(snw_locomotion *lo, const snw_inputs *in, snw_state *s, double *to) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0) s->lambda[m->drive[i].row] = 0;
    }
    snw_forces(m, in, s, false, lo->w);
    for (int i = 0; i < m->ndrive; i++) {
        to[i] = m->drive[i].row >= 0 ? lo->w->r[m->drive[i].dof] : 0;
    }
}

// s->lambda += the reactions that balance themselves with which the efforts tau of the drives have
// the least sum of squares: tau(lambda + Q z) = tau + T z. Each column of T is a
// difference of two recursions.
static snw_status reduce_efforts(snw_locomotion *lo, const snw_inputs *in, snw_state *s,
                                 snw_error *err) {
    const snw_model *m = lo->m;
    const size_t nr = (size_t)lo->nr, nd = (size_t)m->ndrive;
    double *T = lo->efforts, *tau = T + nr * nd, *before = lo->balance;
    if (nd == 0 || (size_t)lo->nominal == nr) return SNW_OK;
    find_kernel(lo);
    for (size_t k = 0; k < nr; k++) before[k] = s->lambda[lo->row[k].row];
    efforts_of(lo, in, s, tau);
    double most = 0;
    for (size_t k = 0; k < nr; k++) most = fmax(most, fabs(before[k]));
    const double unit = most > 0 ? most : 1; // N, so that differences keep their digits
    for (size_t c = 0; c < nr; c++) {
        for (size_t k = 0; k < nr; k++)
            s->lambda[lo->row[k].row] = before[k] + unit * lo->kernel[c * nr + k];
        efforts_of(lo, in, s, T + c * nd);
        for (size_t i = 0; i < nd; i++) T[c * nd + i] -= tau[i];
    }
    for (size_t i = 0; i < nd; i++) lo->share[i] = -tau[i];
    int rank;
    if (snw_minimum_norm((int)nd, (int)nr, T, RANK_TOLERANCE, &lo->scratch, lo->share, &rank) !=
        SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, "forces have diverged at t = %.9g s", in->t);
    }
    for (size_t k = 0; k < nr; k++) {
        double sum = before[k];
        for (size_t c = 0; c < nr; c++) sum += unit * lo->kernel[c * nr + k] * lo->share[c];
        s->lambda[lo->row[k].row] = sum;
    }
    return SNW_OK;
}

// multiplier to which the norm of row k refers: its preload, and in the balanced form what the
// projective form gives
static double preferred_reaction(const snw_locomotion *lo, size_t k) {
    const double preload = lo->row[k].preload;
    return is_projective(lo) ? preload + lo->projective[k] : preload;
}

// s->lambda <- reactions, the minimum-norm solution of C_f' lambda = r_f on free coordinates, and
// efforts, from the residual r of the unknowns at s
static snw_status solve_reactions(snw_locomotion *lo, const snw_inputs *in, snw_state *s,
                                  const double *r, snw_error *err) {
    const snw_model *m = lo->m;
    const size_t nr = (size_t)(lo->nr + lo->npassive), nu = (size_t)lo->nu;
    size_t nf = 0;
    if (is_projective(lo)) SNW_TRY(snw_locomotion_projective(lo, in->t, err));
    for (size_t j = 0; j < nu; j++) nf += !lo->is_passive[j] || first_in_group(lo, j) != j;
    if (lo->opts.form == SNW_REACTIONS_PROJECTIVE) {
        for (size_t k = 0; k < nr; k++) s->lambda[lo->row[k].row] = lo->projective[k];
    } else if (nr > 0 && nf > 0) {
        size_t i = 0;
        for (size_t j = 0; j < nu; j++) {
            // motors of a group have equal efforts: subtract the balance of the first
            const size_t first = first_in_group(lo, j);
            if (lo->is_passive[j] && first == j) continue;
            const double part =
                first == j ? 0 : m->typical[lo->dof[j]] / m->typical[lo->dof[first]];
            for (size_t k = 0; k < nr; k++) {
                const double C = lo->C[j * nr + k] - part * lo->C[first * nr + k];
                const bool acts = !lo->row[k].servo;
                lo->B[k * nf + i] = acts ? C * lo->row[k].size / lo->row[k].weight : 0;
            }
            lo->rhs[i] = r[j] - part * r[first];
            for (size_t k = 0; k < nr; k++) // the norm refers to the preloads
                lo->rhs[i] -= lo->B[k * nf + i] * lo->row[k].weight * preferred_reaction(lo, k);
            i++;
        }
        int rank;
        if (snw_minimum_norm((int)nf, (int)nr, lo->B, RANK_TOLERANCE, &lo->scratch, lo->rhs,
                             &rank) != SNW_OK) {
            return snw_fail(err, SNW_E_DIVERGED, "forces have diverged at t = %.9g s", in->t);
        }
        for (size_t k = 0; k < nr; k++) {
            s->lambda[lo->row[k].row] = lo->rhs[k] / lo->row[k].weight + preferred_reaction(lo, k);
        }
        if (lo->opts.least_efforts) SNW_TRY(reduce_efforts(lo, in, s, err));
    }
    snw_forces(m, in, s, false, lo->w);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || (d->condition >= 0 && !d->passive)) continue;
        s->lambda[d->row] = lo->w->lambda[d->row] = lo->w->r[d->dof];
        lo->w->r[d->dof] = 0; // the residual with that effort
    }
    return SNW_OK;
}

snw_status snw_locomotion_forces(snw_locomotion *lo, const snw_inputs *in, snw_state *s,
                                 snw_error *err) {
    double *r = lo->x + 4 * lo->nu;
    locomotion_residual(lo, in, s, r);
    return solve_reactions(lo, in, s, r, err);
}

static snw_status locomotion_accelerations(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                           int rank, snw_error *err) {
    const snw_model *m = lo->m;
    double *r = lo->x + 4 * lo->nu;
    for (int i = 0; i < m->nconstraint; i++) s->lambda[i] = 0;
    if (lo->nr + lo->npassive > 0) {
        snw_locomotion_kinematics(lo, in, s);
        snw_locomotion_rates(lo, in, s, lo->rate, lo->bias);
        SNW_TRY(check_consistent(lo, in, s, err));
        locomotion_correct(lo, rank, lo->bias, s->a);
    }
    SNW_TRY(check_passive_determined(lo, in->t, err));
    locomotion_residual(lo, in, s, r);
    if (lo->nu == lo->nominal) return solve_reactions(lo, in, s, r, err);
    SNW_TRY(solve_open_motions(lo, in, s, r, r, s->a, err));
    return snw_locomotion_forces(lo, in, s, err);
}

// accelerations and forces at the velocities of s, which balance resistance
static snw_status viscous_motion(snw_locomotion *lo, snw_inputs *in, snw_state *s, snw_error *err) {
    if (lo->nr + lo->npassive > 0) {
        snw_locomotion_kinematics(lo, in, s);
        snw_locomotion_rates(lo, in, s, lo->rate, NULL);
        SNW_TRY(check_consistent(lo, in, s, err));
    }
    SNW_TRY(check_passive_determined(lo, in->t, err));
    return snw_locomotion_difference_motion(lo, in, s, 1, err);
}

snw_status snw_locomotion_motion(snw_locomotion *lo, snw_inputs *in, snw_state *s, snw_error *err) {
    int rank;
    snw_locomotion_impose(lo, in, s);
    SNW_TRY(snw_locomotion_velocities(lo, in, s, &rank, err));
    if (rank < lo->nominal) return snw_locomotion_limit(lo, in, s, rank, err);
    if (lo->class == SNW_LOCOMOTION_VISCOUS) return viscous_motion(lo, in, s, err);
    SNW_TRY(locomotion_accelerations(lo, in, s, rank, err));
    return check_singularity(lo, in, s, err);
}

const snw_work *snw_locomotion_work(const snw_locomotion *lo) { return lo->w; }

double snw_locomotion_unbalanced_power(const snw_locomotion *lo, const snw_state *s) {
    double power = 0;
    if (lo->opts.form != SNW_REACTIONS_PROJECTIVE) return 0;
    for (int j = 0; j < lo->nu; j++) power += lo->w->r[lo->dof[j]] * s->v[lo->dof[j]];
    return power;
}

// M (v+ - v-) = C' p on the unknowns, so N'M (v+ - v-) = 0, from residuals in which accelerations
// stand for jumps of velocity.
snw_status snw_locomotion_impact(snw_locomotion *lo, snw_inputs *in, const double *momentum,
                                 snw_wrench missing, snw_state *s, snw_error *err) {
    const snw_model *m = lo->m;
    int rank;
    lo->momentum = snw_wrench_sub(lo->momentum, missing);
    memcpy(lo->v0, s->v, (size_t)m->nv * sizeof *s->v);
    snw_locomotion_impose(lo, in, s);
    SNW_TRY(snw_locomotion_velocities(lo, in, s, &rank, err));
    if (rank < lo->nominal) return snw_locomotion_limit_rates(lo, in, s, rank, err);
    if (lo->class == SNW_LOCOMOTION_SYMMETRIC || lo->class == SNW_LOCOMOTION_VISCOUS ||
        lo->nu == lo->nominal)
        return SNW_OK;
    // M (v+ - v-) is the difference of the residuals with and without these accelerations
    double *r = lo->x + 4 * lo->nu, *jump = lo->x + 5 * lo->nu;
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    locomotion_residual(lo, in, s, jump);
    for (int i = 0; i < m->nv; i++) s->a[i] = s->v[i] - lo->v0[i];
    locomotion_residual(lo, in, s, r);
    for (int j = 0; j < lo->nu; j++) {
        jump[j] = r[j] - jump[j];
        if (momentum) jump[j] -= momentum[lo->dof[j]] * m->typical[lo->dof[j]];
    }
    return solve_open_motions(lo, in, s, r, jump, s->v, err);
}
