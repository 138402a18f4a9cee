// SPDX-License-Identifier: MIT
//
// Unknown are the rates x of the coordinates that are not driven, those of motors that follow among them. With C the rows of
// all that forbids, by these coordinates, and e what the rows' rates are at x = 0,
//   C x = -e,      C a = -bend,      x = x_p + N y,   C N = 0
// y, the open motions, by N'r(a) = 0, since rows do no work on them; r(a) = r(a_p) + M N y is known from as many residuals as
// there are open motions. Reactions l: C_f'l = r_f on the coordinates f that are free, the shortest; efforts of what is
// driven or follows are what is then left of r. theory.md 6.8
#include "study/reduced_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/fluid.h"
#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_UNKNOWN = 1000 }; // that are found together: the work is their cube

// ---- creation --------------------------------------------------------------------------------------

static bool is_driven(const snw_model *m, int dof) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->dof == dof && d->row >= 0 && d->gate < 0 && !d->follows) return true;
    }
    return false;
}

static bool is_following(const snw_model *m, int dof) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].dof == dof && m->drive[i].row >= 0 && m->drive[i].follows) return true;
    }
    return false;
}

// the motor that follows there: 1 + the first of the wheels whose effort it has; and whether that holds a probe
static int same_as(const snw_model *m, int dof, bool *holding) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->dof != dof || d->row < 0 || !d->follows) continue;
        const snw_motor_desc *motor = &m->desc->motor[d->motor];
        *holding = motor->holds || motor->same;
        return motor->same;
    }
    return 0;
}

static snw_status refuse(const snw_model *m, int block, snw_error *err) {
    return snw_fail(err, SNW_E_MODEL,
                    "a kinematic step needs every shape given, and rod '%s' has coordinates that "
                    "nothing drives; give its strains as laws, drive them, or use a dynamic step",
                    m->desc->link[m->seg[m->block[block].seg].link].name);
}

static snw_status list_unknown(snw_reduced *red, snw_error *err) {
    const snw_model *m = red->m;
    for (int i = 0; i < m->nmeasure; i++) {
        if (m->measure[i].row < 0) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "a kinematic step does not know given lengths and volumes ('%s'); use a "
                        "dynamic step",
                        m->desc->measure[i].name);
    }
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        for (int i = 0; i < b->n; i++) {
            if (is_driven(m, b->dof + i)) continue;
            if (m->seg[b->seg].kind == SNW_SEG_ROD || b->feed) return refuse(m, k, err);
            red->dof[red->nu] = b->dof + i;
            red->block[red->nu] = k;
            red->follows[red->nu] = is_following(m, b->dof + i);
            red->same[red->nu] = same_as(m, b->dof + i, &red->holding[red->nu]);
            red->nu++;
        }
    }
    return SNW_OK;
}

// sign[i nu + j]: does unknown j move loop i, its second site (1) or its first (-1)?
static snw_status list_moved(snw_reduced *red) {
    const snw_model *m = red->m;
    const size_t nu = (size_t)red->nu;
    int *unknown = snw_alloc((size_t)m->nv * sizeof *unknown); // 1 + which one a coordinate is
    red->sign = snw_alloc((size_t)m->nloop * nu);
    if (!unknown || !red->sign) {
        snw_free(unknown);
        return SNW_E_MEMORY;
    }
    for (int j = 0; j < red->nu; j++) unknown[red->dof[j]] = 1 + j;
    for (int i = 0; i < m->nloop; i++) {
        const int seg[2] = {m->loop[i].a, m->loop[i].b};
        signed char *sign = red->sign + (size_t)i * nu;
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

// rows that unknown rates have to keep: all but those of drives that always hold
static void list_rows(snw_reduced *red) {
    const snw_model *m = red->m;
    for (int i = 0; i < m->nloop; i++) {
        for (int r = 0; r < m->loop[i].nrow; r++) {
            const bool turns = snw_loop_turns(&m->loop[i], r);
            red->row[red->nr] = (snw_reduced_row){.row = m->loop[i].row + r,
                                                  .loop = i,
                                                  .r = r,
                                                  .drive = -1,
                                                  .at = {-1, -1},
                                                  .size = snw_loop_kept_size(m, &m->loop[i], r),
                                                  .weight = turns ? red->opts.torque : 1};
            red->nr++;
        }
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->gate < 0 || d->follows) continue;
        red->row[red->nr++] = (snw_reduced_row){.row = d->row,
                                                .loop = -1,
                                                .drive = i,
                                                .at = {-1, -1},
                                                .size = m->typical[d->dof],
                                                .weight = 1};
    }
    snw_reduced_list_holds(red);
}

static snw_status take_memory(snw_reduced *red) {
    const snw_model *m = red->m;
    const size_t nu = (size_t)red->nu, nr = (size_t)red->nr, all = nr + (size_t)red->nled;
    const size_t rows = (size_t)m->nrow, least = nr < nu ? nr : nu, most = all > nu ? all : nu;
    const size_t svd = snw_svd_scratch(red->nr, red->nu);
    const size_t shortest = snw_shortest_scratch(red->nu, (int)all);
    red->scratch.size = svd > shortest ? svd : shortest;
    red->scratch.base = snw_alloc(red->scratch.size);
    red->X = snw_alloc(nu * sizeof *red->X);
    if (red->opts.projective) {
        red->handed = snw_alloc((size_t)m->nseg * sizeof *red->handed);
        red->first_row = snw_alloc(((size_t)m->nseg + all) * sizeof *red->first_row);
        if (!red->handed || !red->first_row) return SNW_E_MEMORY;
        snw_reduced_list_bodies(red);
    }
    double **const part[] = {&red->C,    &red->B,    &red->U,    &red->S, &red->Vt, &red->MN,
                             &red->side, &red->rate, &red->bend, &red->x, &red->e,  &red->Z};
    const size_t Z = red->holds ? nu * nu + nr * least + least : 0;
    const size_t size[] = {all * nu, all * nu, nr * least, least,  nu * nu,  2 * nu * nu,
                           most,     rows,     rows,       6 * nu, all - nr, Z};
    size_t sum = 0;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) sum += size[i];
    red->memory = snw_alloc(sum * sizeof(double));
    red->c = snw_alloc(all * sizeof *red->c);
    if (!red->scratch.base || !red->memory || !red->X || !red->c) return SNW_E_MEMORY;
    double *at = red->memory;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) *part[i] = at, at += size[i];
    return SNW_OK;
}

snw_status snw_reduced_create(const snw_model *m, const snw_reduced_opts *opts, snw_reduced **out,
                              snw_error *err) {
    *out = NULL;
    snw_reduced *red = snw_alloc(sizeof *red);
    if (!red) return SNW_E_MEMORY;
    red->m = m;
    red->opts = *opts;
    const size_t nv = (size_t)m->nv, rows = (size_t)m->nrow;
    red->dof = snw_alloc(5 * nv * sizeof *red->dof);
    red->follows = snw_alloc(2 * nv * sizeof *red->follows);
    red->row = snw_alloc(rows * sizeof *red->row);
    red->v0 = snw_alloc(2 * nv * sizeof *red->v0);
    snw_status s = red->dof && red->follows && red->row && red->v0 ? SNW_OK : SNW_E_MEMORY;
    if (s == SNW_OK) s = snw_work_create(m, &red->w);
    if (s == SNW_OK) s = snw_state_create(m, &red->near);
    if (s == SNW_OK) {
        red->v1 = red->v0 + nv;
        red->block = red->dof + nv;
        red->base = red->block + nv;
        red->same = red->base + nv;
        red->pivot = red->same + nv;
        red->holding = red->follows + nv;
        s = list_unknown(red, err);
        if (s == SNW_OK && opts->projective) s = snw_reduced_projective_knows(m, err);
    }
    if (s == SNW_OK) {
        list_rows(red);
        s = snw_reduced_lead(red);
    }
    if (s == SNW_OK && red->nu > MOST_UNKNOWN) {
        s = snw_fail(err, SNW_E_MODEL,
                     "%d coordinates are neither driven nor led by a contact of their own, at most "
                     "%d are possible in a kinematic step; drive them, or give each a contact",
                     red->nu, MOST_UNKNOWN);
    }
    if (s == SNW_OK) s = list_moved(red);
    if (s == SNW_OK) s = take_memory(red);
    if (s != SNW_OK) {
        snw_reduced_destroy(red);
        return s;
    }
    *out = red;
    return SNW_OK;
}

void snw_reduced_destroy(snw_reduced *red) {
    if (!red) return;
    snw_work_destroy(red->w);
    snw_state_destroy(red->near);
    snw_free(red->scratch.base);
    snw_free(red->memory);
    snw_free(red->X);
    snw_free(red->c);
    snw_free(red->led);
    snw_free(red->hand);
    snw_free(red->v0);
    snw_free(red->handed);
    snw_free(red->first_row);
    snw_free(red->sign);
    snw_free(red->row);
    snw_free(red->follows);
    snw_free(red->dof);
    snw_free(red);
}

// ---- rows ------------------------------------------------------------------------------------------

snw_twist snw_reduced_column(const snw_reduced *red, int block, int dof) {
    const snw_block *b = &red->m->block[block];
    snw_twist S = {0};
    if (red->m->seg[b->seg].kind == SNW_SEG_SCREW) {
        S = b->S;
    } else {
        S.e[dof - b->dof] = 1;
    }
    return snw_twist_to_parent(red->w->g[b->seg], S);
}

// red->c, red->C <- rows, and by unknowns, at the motion in red->w, unknowns by typical numbers, rows by their sizes
static void look(snw_reduced *red) {
    const snw_model *m = red->m;
    const size_t nr = (size_t)(red->nr + red->nled), nu = (size_t)red->nu;
    for (size_t j = 0; j < nu; j++) {
        red->X[j] = snw_reduced_column(red, red->block[j], red->dof[j]);
    }
    memset(red->C, 0, nr * nu * sizeof *red->C);
    for (size_t k = 0; k < nr; k++) {
        const snw_reduced_row *row = &red->row[k];
        if (row->hold) {
            snw_reduced_hold_row(red, k);
            continue;
        }
        if (row->loop < 0) {
            const snw_drive *d = &m->drive[row->drive];
            for (size_t j = 0; j < nu && snw_is_on(red->w, d->gate); j++) {
                if (red->dof[j] == d->dof) red->C[j * nr + k] = m->typical[d->dof] / row->size;
            }
            continue;
        }
        red->c[k] = snw_loop_row(m, red->w, row->loop, row->r);
        const signed char *sign = red->sign + (size_t)row->loop * nu;
        for (size_t j = 0; j < nu; j++) {
            if (sign[j] == 0) continue;
            red->C[j * nr + k] =
                sign[j] * snw_power(red->c[k], red->X[j]) * m->typical[red->dof[j]] / row->size;
        }
    }
}

// red->e <- rates of the rows that lead, of unknown j at its typical rate
static void drag(const snw_reduced *red, int j, double x, double *e) {
    const snw_reduced_row *lead = red->row + red->nr;
    const double *C = red->C + (size_t)j * (size_t)(red->nr + red->nled) + red->nr;
    for (int i = 0; i < red->nled; i++) e[i] += x * C[i] * lead[i].size;
}

// red->B <- rows that do not lead, by unknowns, while followers give way
static void condense(snw_reduced *red) {
    const size_t nr = (size_t)red->nr, all = nr + (size_t)red->nled;
    for (int j = 0; j < red->nu; j++) {
        double *B = red->B + (size_t)j * nr;
        memcpy(B, red->C + (size_t)j * all, nr * sizeof *B);
        if (red->nled == 0) continue;
        memset(red->e, 0, (size_t)red->nled * sizeof *red->e);
        drag(red, j, 1, red->e);
        snw_reduced_give_way(red, red->e);
        for (int k = 0; k < red->nr; k++) B[k] += snw_reduced_passed_on(red, k) / red->row[k].size;
    }
}

// below this part of the largest a singular value is none
static const double NOTHING = 3e-8;

static int rank_of(const snw_reduced *red) {
    const int least = red->nr < red->nu ? red->nr : red->nu;
    int rank = 0;
    while (rank < least && red->S[rank] > NOTHING * red->S[0]) rank++;
    return rank;
}

snw_status snw_reduced_decompose(snw_reduced *red, int *rank) {
    look(red);
    SNW_TRY(snw_reduced_eliminate(red));
    condense(red);
    SNW_TRY(snw_svd(red->nr, red->nu, red->B, &red->scratch, red->U, red->S, red->Vt));
    *rank = rank_of(red);
    return SNW_OK;
}

// x (nu, per typical numbers) <- the shortest with B x = -e, e (rows of the model)
static void shortest(const snw_reduced *red, int rank, const double *e, double *x) {
    const size_t nr = (size_t)red->nr, nu = (size_t)red->nu;
    for (size_t j = 0; j < nu; j++) x[j] = 0;
    for (int k = 0; k < rank; k++) {
        double sum = 0;
        for (size_t i = 0; i < nr; i++) {
            sum -= red->U[(size_t)k * nr + i] * e[red->row[i].row] / red->row[i].size;
        }
        for (size_t j = 0; j < nu; j++) x[j] += sum / red->S[k] * red->Vt[j * nu + (size_t)k];
    }
}

void snw_reduced_yield(snw_reduced *red, double *e, double *to) {
    if (red->nled == 0) return;
    for (int i = 0; i < red->nled; i++) red->e[i] = e[red->row[red->nr + i].row];
    snw_reduced_give_way(red, red->e);
    for (int k = 0; k < red->nr; k++) e[red->row[k].row] += snw_reduced_passed_on(red, k);
    for (int i = 0; i < red->nled; i++) {
        e[red->row[red->nr + i].row] = 0;
        if (to) to[red->led[i].dof] += red->led[i].x;
    }
}

static void add(const snw_reduced *red, double part, const double *x, double *to) {
    for (int j = 0; j < red->nu; j++) to[red->dof[j]] += part * red->m->typical[red->dof[j]] * x[j];
}

void snw_reduced_along(snw_reduced *red, const double *x, double *to) {
    add(red, 1, x, to);
    memset(red->e, 0, (size_t)red->nled * sizeof *red->e);
    for (int j = 0; j < red->nu; j++) drag(red, j, x[j], red->e);
    snw_reduced_give_way(red, red->e);
    for (int i = 0; i < red->nled; i++) to[red->led[i].dof] += red->led[i].x;
}

// to (nv) += the shortest with C x = -e by the largest `rank` singular values, and what followers do with it; e (rows of the model)
// is used up
static void correct(snw_reduced *red, int rank, double *e, double *to) {
    snw_reduced_yield(red, e, to);
    shortest(red, rank, e, red->x);
    snw_reduced_along(red, red->x, to);
}

// ---- what is given ---------------------------------------------------------------------------------

void snw_reduced_impose(const snw_reduced *red, const snw_inputs *in, snw_state *s) {
    const snw_model *m = red->m;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->gate >= 0 || d->follows) continue;
        s->q[d->q] = snw_drive_target(m, in, s, i);
        s->v[d->dof] = in->drive[i].d;
        s->a[d->dof] = in->drive[i].dd;
    }
    for (int j = 0; j < red->nu; j++) s->a[red->dof[j]] = 0;
    for (int i = 0; i < red->nled; i++) s->a[red->led[i].dof] = 0;
    snw_state_rest(m, s);
}

// ---- velocities ------------------------------------------------------------------------------------

const char *snw_reduced_row_name(const snw_reduced *red, int k) {
    const snw_model *m = red->m;
    const snw_reduced_row *row = &red->row[k];
    return row->loop < 0 ? m->desc->motor[m->drive[row->drive].motor].name
                         : m->desc->loop[row->loop].name;
}

static snw_status contradict(const snw_reduced *red, double t, int k, double left, snw_error *err) {
    const snw_model *m = red->m;
    const snw_reduced_row *row = &red->row[k];
    if (row->loop < 0) {
        return snw_fail(err, SNW_E_MODEL,
                        "actuator '%s' and what else is given ask for different motions at t = "
                        "%.9g s: it misses its rate by %.3g",
                        m->desc->motor[m->drive[row->drive].motor].name, t, left);
    }
    const snw_loop_desc *d = &m->desc->loop[row->loop];
    return snw_fail_place(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "%s '%s' contradicts the other contacts and what is driven at t = %.9g s: it "
                 "would have to slip with %.3g (%s). Let a joint follow (position: free), take "
                 "contacts away, or change the laws",
                 d->grip ? "contact" : "loop", d->name, t, left,
                 snw_loop_row_name(&m->loop[row->loop], row->r)),
        d->place.file, d->place.line, d->place.column);
}

// how fast the shape changes as a whole, per typical numbers: joints together, since many that turn a little bend a chain as much as one
// that turns a lot; rods by their length; and what is held at a speed
static double shape_rate(const snw_reduced *red, const snw_inputs *in, const snw_state *s) {
    const snw_model *m = red->m;
    double fast = 0;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row >= 0 && !d->follows) fast += fabs(s->v[d->dof]) / m->typical[d->dof];
    }
    for (int k = 0; k < red->nr; k++) fast += snw_reduced_held_rate(red, k, in->t);
    return fmax(fast, snw_field_rate(m, in));
}

// do all rows hold? What is left of them is compared with the speeds that there are
static snw_status agree(snw_reduced *red, const snw_inputs *in, const snw_state *s,
                        snw_error *err) {
    const snw_model *m = red->m;
    double fast = m->nfield > 0 ? shape_rate(red, in, s) : 0, worst = 0;
    int row = 0;
    for (int i = 0; i < m->nv; i++) fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
    for (int k = 0; k < red->nr + red->nled; k++) {
        const double e = fabs(red->rate[red->row[k].row]) / red->row[k].size;
        if (!(e <= worst)) worst = e, row = k;
    }
    if (worst <= 1e-6 * fast + 1e-12) return SNW_OK;
    return contradict(red, in->t, row, red->rate[red->row[row].row], err);
}

// The gait runs into a singularity: the rows lose their grip on a motion that is fast and, unlike that of a long lever, grows faster
// than the shape changes: v = c/(t - t_s) has v'/v = 1/(t - t_s).
static snw_status runs_away(const snw_reduced *red, const snw_inputs *in, const snw_state *s,
                            snw_error *err) {
    const snw_model *m = red->m;
    const size_t nu = (size_t)red->nu, nr = (size_t)red->nr;
    const int last = red->nominal - 1;
    if (last < 0 || red->S[last] > 0.02 * red->S[0]) return SNW_OK;
    double along = 0, growing = 0, speed = 0;
    for (size_t j = 0; j < nu; j++) {
        speed = fmax(speed, fabs(s->v[red->dof[j]]) / m->typical[red->dof[j]]);
        const double part = red->Vt[j * nu + (size_t)last] / m->typical[red->dof[j]];
        along += part * s->v[red->dof[j]];
        growing += part * s->a[red->dof[j]];
    }
    const double given = shape_rate(red, in, s);
    // a robot that coasts has rounding along what rows forbid
    if (fabs(along) <= fmax(30 * given, 1e-9 * speed)) return SNW_OK;
    if (fabs(growing) <= 10 * given * fabs(along)) return SNW_OK;
    int a = 0, b = -1;
    const double *U = red->U + (size_t)last * nr;
    for (int k = 1; k < red->nr; k++) a = fabs(U[k]) > fabs(U[a]) ? k : a;
    for (int k = 0; k < red->nr; k++) {
        if (k != a && (b < 0 || fabs(U[k]) > fabs(U[b]))) b = k;
    }
    return snw_fail(
        err, SNW_E_SINGULAR,
        "the gait reaches a singularity at t = %.9g s: there '%s' and '%s' say the same, "
        "and the robot would have to move with %.2g times the rates of its shape; choose "
        "a gait that stays away, or another arrangement of contacts",
        in->t, snw_reduced_row_name(red, a), snw_reduced_row_name(red, b < 0 ? a : b),
        fabs(along) / given);
}

// momentum in the directions of the base, of s as it moves, less the one that is kept
static void momenta(snw_reduced *red, snw_inputs *in, const snw_state *s, double *p) {
    const snw_model *m = red->m;
    snw_reduced_at(red, in, s);
    snw_wrench P = snw_wrench_sub(snw_momentum(m, red->w), red->momentum);
    if (m->nwet) P = snw_wrench_add(P, snw_fluid_momentum(m, red->w));
    for (int k = 0; k < red->nbase; k++) {
        const int j = red->base[k];
        p[k] = snw_power(P, snw_reduced_column(red, red->block[j], red->dof[j])) *
               m->typical[red->dof[j]];
    }
}

// s->v <- those of the base with which the momentum is the one it began with
static snw_status keep_momentum(snw_reduced *red, snw_inputs *in, snw_state *s, snw_error *err) {
    const int n = red->nbase;
    double *p = red->x, *q = p + n, *A = red->MN;
    momenta(red, in, s, p);
    for (int k = 0; k < n; k++) {
        const int dof = red->dof[red->base[k]];
        const double before = s->v[dof];
        s->v[dof] += red->m->typical[dof];
        momenta(red, in, s, q);
        s->v[dof] = before;
        for (int j = 0; j < n; j++) A[k * n + j] = q[j] - p[j];
    }
    if (snw_cholesky_factor(n, A) != SNW_OK) {
        return snw_fail(err, SNW_E_SINGULAR, "a motion of the base moves no mass");
    }
    snw_cholesky_solve(n, A, p);
    for (int k = 0; k < n; k++) {
        const int dof = red->dof[red->base[k]];
        s->v[dof] -= red->m->typical[dof] * p[k];
    }
    return SNW_OK;
}

snw_status snw_reduced_velocities(snw_reduced *red, snw_inputs *in, snw_state *s, int *rank,
                                  snw_error *err) {
    const bool symmetric = red->class == SNW_REDUCED_SYMMETRIC;
    *rank = 0;
    if (red->nr + red->nled == 0) return symmetric ? keep_momentum(red, in, s, err) : SNW_OK;
    snw_reduced_at(red, in, s);
    const snw_status status = snw_reduced_decompose(red, rank);
    if (status == SNW_E_SINGULAR) return snw_reduced_stuck(red, in->t, err);
    if (status != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, "the motion has run away at t = %.9g s", in->t);
    }
    if (*rank > red->nominal) snw_reduced_classify(red, *rank);
    snw_reduced_rates(red, in, s, red->rate, NULL);
    correct(red, *rank, red->rate, s->v);
    return symmetric && *rank == red->nominal ? keep_momentum(red, in, s, err) : SNW_OK;
}

// ---- accelerations and forces ----------------------------------------------------------------------

// kernel vector k, per typical numbers
static double open_motion(const snw_reduced *red, int k, int j) {
    return red->nr == 0 ? (double)(k == j)
                        : red->Vt[(size_t)j * (size_t)red->nu + (size_t)(red->nominal + k)];
}

// the motion on which force c is tested
static double tested(const snw_reduced *red, int c, int j) {
    return red->holds ? red->Z[(size_t)j * (size_t)red->nu + (size_t)(red->nominal + c)]
                      : open_motion(red, c, j);
}

static snw_status astray(const snw_reduced *red, int block, double t, snw_error *err) {
    const snw_model *m = red->m;
    return snw_fail(
        err, SNW_E_MODEL,
        "the joint of '%s' follows (position: free), but at t = %.9g s the contacts do not "
        "say where to; give it a law, or more contacts",
        m->desc->link[m->seg[m->block[block].seg].link].name, t);
}

// do contacts say where followers go? Open motions move none of them
static snw_status led(snw_reduced *red, double t, snw_error *err) {
    const snw_model *m = red->m;
    double *x = red->x + 2 * red->nu;
    for (int k = 0; k < red->nu - red->nominal; k++) {
        for (int j = 0; j < red->nu; j++) {
            x[j] = open_motion(red, k, j);
            if (!red->follows[j] || red->holding[j] || fabs(x[j]) < 1e-6) continue;
            return astray(red, red->block[j], t, err);
        }
        if (red->nled == 0) continue;
        snw_reduced_along(red, x, red->v1);
        for (int i = 0; i < red->nled; i++) {
            const snw_reduced_led *f = &red->led[i];
            if (fabs(f->x) >= 1e-6 * m->typical[f->dof]) return astray(red, f->block, t, err);
        }
    }
    return SNW_OK;
}

// What is away has no mass and rests: r (nu) <- there, as if it had one that nothing pushes.
static void rest_away(const snw_reduced *red, const snw_state *s, double *r) {
    const snw_model *m = red->m;
    for (int k = 0; k < m->nfleeting; k++) {
        if (snw_is_on(red->w, m->fleeting_gate[k])) continue;
        for (int j = 0; j < red->nu; j++) {
            if (red->dof[j] == m->fleeting[k]) r[j] = s->a[red->dof[j]] / m->typical[red->dof[j]];
        }
    }
}

// r (nu) <- residual of the unknowns at s with no multipliers, per typical numbers
static void residual(snw_reduced *red, const snw_inputs *in, snw_state *s, double *r) {
    const snw_model *m = red->m;
    for (int i = 0; i < m->nrow; i++) s->l[i] = 0;
    snw_residual(m, in, s, false, red->w);
    for (int j = 0; j < red->nu; j++) r[j] = red->w->r[red->dof[j]] * m->typical[red->dof[j]];
    rest_away(red, s, r);
}

// to (nv) += N y with Z'(force + M N y) = 0; r (nu) is the residual at s, per typical numbers, which differences need. Z is N, or
// where probes are held what their motors do no work on.
static snw_status balance(snw_reduced *red, snw_inputs *in, snw_state *s, const double *r,
                          const double *force, double *to, snw_error *err) {
    const int n = red->nu, k = n - red->nominal;
    if (k == 0) return SNW_OK;
    double *MN = red->MN, *A = MN + n * n, *y = red->x + n, *x = red->x + 2 * n,
           *q = red->x + 3 * n;
    if (red->holds) SNW_TRY(snw_reduced_unworked(red, in->t, err));
    for (int c = 0; c < k; c++) {
        for (int j = 0; j < n; j++) x[j] = open_motion(red, c, j);
        add(red, 1, x, s->a);
        residual(red, in, s, q);
        add(red, -1, x, s->a);
        for (int j = 0; j < n; j++) MN[c * n + j] = q[j] - r[j];
    }
    for (int c = 0; c < k; c++) {
        y[c] = 0;
        for (int j = 0; j < n; j++) y[c] -= tested(red, c, j) * force[j];
        for (int d = 0; d < k; d++) {
            A[d * k + c] = 0;
            for (int j = 0; j < n; j++) A[d * k + c] += tested(red, c, j) * MN[d * n + j];
        }
    }
    if (red->holds) {
        SNW_TRY(snw_reduced_keep(red, in->t, k, A, y, err));
    } else if (snw_cholesky_factor(k, A) == SNW_OK) {
        snw_cholesky_solve(k, A, y);
    } else {
        return snw_fail(err, SNW_E_SINGULAR,
                        "a motion that the contacts leave open moves no mass at t = %.9g s; give "
                        "the links inertia, or hold it",
                        in->t);
    }
    for (int j = 0; j < n; j++) {
        x[j] = 0;
        for (int c = 0; c < k; c++) x[j] += open_motion(red, c, j) * y[c];
    }
    add(red, 1, x, to);
    return SNW_OK;
}

// the first unknown whose motor has the same effort as that of unknown j; j itself: none before it
static size_t first_same(const snw_reduced *red, size_t j) {
    size_t i = red->same[j] ? 0 : j;
    while (i < j && red->same[i] != red->same[j]) i++;
    return i;
}

// s->l <- reactions, the shortest with C_f' l = r_f on free coordinates, and efforts
// with the residual r of the unknowns at s
static snw_status share(snw_reduced *red, const snw_inputs *in, snw_state *s, const double *r,
                        snw_error *err) {
    const snw_model *m = red->m;
    const size_t nr = (size_t)(red->nr + red->nled), nu = (size_t)red->nu;
    size_t nf = 0;
    for (size_t j = 0; j < nu; j++) nf += !red->follows[j] || first_same(red, j) != j;
    if (nr > 0 && nf > 0) {
        size_t i = 0;
        for (size_t j = 0; j < nu; j++) {
            // wheels with one effort: what it does to the first, it does to the others
            const size_t first = first_same(red, j);
            if (red->follows[j] && first == j) continue;
            const double part =
                first == j ? 0 : m->typical[red->dof[j]] / m->typical[red->dof[first]];
            for (size_t k = 0; k < nr; k++) {
                const double C = red->C[j * nr + k] - part * red->C[first * nr + k];
                const bool acts = !red->row[k].hold;
                red->B[k * nf + i] = acts ? C * red->row[k].size / red->row[k].weight : 0;
            }
            red->side[i++] = r[j] - part * r[first];
        }
        int rank;
        if (snw_shortest((int)nf, (int)nr, red->B, NOTHING, &red->scratch, red->side, &rank) !=
            SNW_OK) {
            return snw_fail(err, SNW_E_DIVERGED, "forces have run away at t = %.9g s", in->t);
        }
        for (size_t k = 0; k < nr; k++) s->l[red->row[k].row] = red->side[k] / red->row[k].weight;
    }
    snw_forces(m, in, s, false, red->w);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || (d->gate >= 0 && !d->follows)) continue;
        s->l[d->row] = red->w->l[d->row] = red->w->r[d->dof];
        red->w->r[d->dof] = 0; // as with that effort
    }
    if (red->handed) snw_reduced_projective(red, in, s);
    return SNW_OK;
}

snw_status snw_reduced_forces(snw_reduced *red, const snw_inputs *in, snw_state *s,
                              snw_error *err) {
    double *r = red->x + 4 * red->nu;
    residual(red, in, s, r);
    return share(red, in, s, r, err);
}

static snw_status accelerations(snw_reduced *red, snw_inputs *in, snw_state *s, int rank,
                                snw_error *err) {
    const snw_model *m = red->m;
    double *r = red->x + 4 * red->nu;
    for (int i = 0; i < m->nrow; i++) s->l[i] = 0;
    if (red->nr + red->nled > 0) {
        snw_reduced_at(red, in, s);
        snw_reduced_rates(red, in, s, red->rate, red->bend);
        SNW_TRY(agree(red, in, s, err));
        correct(red, rank, red->bend, s->a);
    }
    SNW_TRY(led(red, in->t, err));
    residual(red, in, s, r);
    if (red->nu == red->nominal) return share(red, in, s, r, err);
    SNW_TRY(balance(red, in, s, r, r, s->a, err));
    return snw_reduced_forces(red, in, s, err);
}

snw_status snw_reduced_motion(snw_reduced *red, snw_inputs *in, snw_state *s, snw_error *err) {
    int rank;
    snw_reduced_impose(red, in, s);
    SNW_TRY(snw_reduced_velocities(red, in, s, &rank, err));
    if (rank < red->nominal) return snw_reduced_limit(red, in, s, rank, err);
    SNW_TRY(accelerations(red, in, s, rank, err));
    return runs_away(red, in, s, err);
}

const snw_work *snw_reduced_look(const snw_reduced *red) { return red->w; }

// M (v+ - v-) = C' p on the unknowns: N' M (v+ - v-) = 0, with residuals in which accelerations stand for jumps of velocity
snw_status snw_reduced_strike(snw_reduced *red, snw_inputs *in, const double *push,
                              snw_wrench lacks, snw_state *s, snw_error *err) {
    const snw_model *m = red->m;
    int rank;
    red->momentum = snw_wrench_sub(red->momentum, lacks);
    memcpy(red->v0, s->v, (size_t)m->nv * sizeof *s->v);
    snw_reduced_impose(red, in, s);
    SNW_TRY(snw_reduced_velocities(red, in, s, &rank, err));
    if (rank < red->nominal) return snw_reduced_limit_rates(red, in, s, rank, err);
    if (red->class == SNW_REDUCED_SYMMETRIC || red->nu == red->nominal) return SNW_OK;
    // with accelerations in place of jumps the residual is M (v+ - v-) and what it is without
    double *r = red->x + 4 * red->nu, *jump = red->x + 5 * red->nu;
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    residual(red, in, s, jump);
    for (int i = 0; i < m->nv; i++) s->a[i] = s->v[i] - red->v0[i];
    residual(red, in, s, r);
    for (int j = 0; j < red->nu; j++) {
        jump[j] = r[j] - jump[j];
        if (push) jump[j] -= push[red->dof[j]] * m->typical[red->dof[j]];
    }
    return balance(red, in, s, r, jump, s->v, err);
}
