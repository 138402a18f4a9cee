// SPDX-License-Identifier: MIT
#include "study/assembly_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- memory ----------------------------------------------------------------------------------------

static void measure(const snw_model *m, double *size) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0) size[m->drive[i].row] = m->typical[m->drive[i].dof];
    }
    for (int i = 0; i < m->nmeasure; i++) {
        if (m->measure[i].row >= 0) size[m->measure[i].row] = m->length;
    }
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow; r++) size[loop->row + r] = snw_loop_kept_size(m, loop, r);
    }
}

// as->all <- the model with all its rows
static snw_status take_all(snw_assembly *as) {
    const snw_model *m = as->m;
    int spare = 0;
    for (int i = 0; i < m->nloop; i++) spare += m->loop[i].nspare;
    as->all = m;
    if (spare == 0) return SNW_OK;
    as->whole = *m;
    as->whole.nrow += spare;
    as->whole.loop = snw_alloc((size_t)m->nloop * sizeof *m->loop);
    as->whole.drive = snw_alloc((size_t)m->ndrive * sizeof *m->drive);
    as->whole.measure = snw_alloc((size_t)m->nmeasure * sizeof *m->measure);
    if (!as->whole.loop || !as->whole.drive || !as->whole.measure) return SNW_E_MEMORY;
    for (int i = 0; i < m->nmeasure; i++) {
        as->whole.measure[i] = m->measure[i];
        if (m->measure[i].row >= 0) as->whole.measure[i].row += spare;
    }
    for (int i = 0; i < m->ndrive; i++) {
        as->whole.drive[i] = m->drive[i];
        if (m->drive[i].row >= 0) as->whole.drive[i].row += spare;
    }
    for (int i = 0, row = 0; i < m->nloop; i++) {
        snw_loop *loop = &as->whole.loop[i];
        *loop = m->loop[i];
        loop->nrow += loop->nspare;
        loop->row = row;
        row += loop->nrow;
    }
    as->all = &as->whole;
    return SNW_OK;
}

snw_status snw_assembly_create(const snw_model *m, snw_assembly **out) {
    *out = NULL;
    snw_assembly *as = snw_alloc(sizeof *as);
    if (!as) return SNW_E_MEMORY;
    as->m = m;
    if (take_all(as) != SNW_OK) {
        snw_assembly_destroy(as);
        return SNW_E_MEMORY;
    }
    const size_t nr = (size_t)as->all->nrow;
    const size_t nv = m->bare ? 0 : (size_t)m->nv, square = m->bare ? 0 : nr * nr; // of matrices
    const size_t qr = m->bare ? 0 : snw_qr_scratch(m->nv, as->all->nrow);
    const size_t ls = m->bare ? 0 : snw_shortest_scratch(as->all->nrow + m->nv, m->nv);
    as->scratch.size = qr > ls ? qr : ls;
    as->scratch.base = snw_alloc(as->scratch.size);
    as->memory =
        snw_alloc((2 * nv * nv + nv + 2 * nv * nr + square + 5 * nr + nv + nr + (size_t)m->nq) *
                  sizeof(double));
    as->order = snw_alloc(nr * sizeof *as->order);
    const bool shares = m->ngrip > 0 && !m->bare;
    as->P = shares ? snw_alloc(2 * nr * nr * sizeof *as->P) : NULL;
    as->x = snw_alloc((nv + (size_t)m->nrow) * sizeof *as->x);
    if (!as->scratch.base || !as->memory || !as->order || !as->x ||
        (!m->bare && snw_matrix_create(m, SNW_ALGEBRA_AUTO, &as->T) != SNW_OK) ||
        (shares && (snw_share_create(m, &as->share) != SNW_OK || !as->P)) ||
        snw_work_create(as->all, &as->w) != SNW_OK ||
        snw_state_create(as->all, &as->trial) != SNW_OK ||
        snw_state_create(as->all, &as->kept) != SNW_OK ||
        snw_state_create(as->all, &as->near) != SNW_OK) {
        snw_assembly_destroy(as);
        return SNW_E_MEMORY;
    }
    as->M = as->memory;
    as->diagonal = as->M + nv * nv;
    as->X = as->diagonal + nv;
    as->C = as->X + nv * nr;
    as->S = as->C + nv * (nr + nv);
    as->side = as->S + square;
    as->bend = as->side + nr;
    as->size = as->bend + nr;
    as->all_size = as->size + nr;
    as->dx = as->all_size + nr;
    as->first = as->dx + nv + nr;
    as->q = as->first + nr;
    if (as->T && !as->T->sparse) {
        snw_matrix_destroy(as->T);
        as->T = NULL;
    }
    measure(m, as->size);
    measure(as->all, as->all_size);
    *out = as;
    return SNW_OK;
}

void snw_assembly_destroy(snw_assembly *as) {
    if (!as) return;
    snw_work_destroy(as->w);
    snw_state_destroy(as->trial);
    snw_state_destroy(as->kept);
    snw_state_destroy(as->near);
    snw_free(as->whole.loop);
    snw_free(as->whole.drive);
    snw_free(as->whole.measure);
    snw_free(as->scratch.base);
    snw_free(as->memory);
    snw_free(as->order);
    snw_free(as->x);
    snw_matrix_destroy(as->T);
    snw_share_destroy(as->share);
    snw_free(as->P);
    snw_free(as);
}

int snw_assembly_loop_at(const snw_model *m, int row) {
    int i = 0;
    while (i < m->nloop && row >= m->loop[i].row + m->loop[i].nrow) i++;
    return i;
}

snw_share *snw_assembly_share(snw_assembly *as) { return as->share; }

int snw_assembly_rows(const snw_assembly *as) { return as->all->nrow; }
int snw_assembly_first_row(const snw_assembly *as, int i) { return as->all->loop[i].row; }
int snw_assembly_loop_of(const snw_assembly *as, int row) {
    return snw_assembly_loop_at(as->all, row);
}

snw_place snw_assembly_owner(const snw_model *m, int row, const char **kind, const char **name) {
    int i = snw_assembly_loop_at(m, row);
    *kind = "loop";
    if (i < m->nloop) {
        if (m->desc->loop[i].drive) *kind = "actuator";
        if (m->desc->loop[i].grip) *kind = "contact";
        *name = m->desc->loop[i].name;
        return m->desc->loop[i].place;
    }
    *kind = "actuator";
    for (i = 0; i < m->nmeasure; i++) {
        if (m->measure[i].row != row) continue;
        *name = m->desc->measure[i].name;
        return m->desc->measure[i].place;
    }
    for (i = 0; m->drive[i].row != row;) i++;
    *name = m->desc->motor[m->drive[i].motor].name;
    return m->desc->motor[m->drive[i].motor].place;
}

snw_place snw_assembly_place_of(const snw_assembly *as, int row, const char **kind,
                                const char **name) {
    return snw_assembly_owner(as->all, row, kind, name);
}

void snw_assembly_transpose(snw_assembly *as, const snw_model *m) {
    const size_t nv = (size_t)m->nv;
    memset(as->X, 0, nv * (size_t)m->nrow * sizeof *as->X);
    for (int k = 0; k < m->nrow; k++) {
        const snw_row row = snw_row_at(m, as->w, k);
        for (int j = 0; j < row.n; j++) as->X[(size_t)k * nv + (size_t)row.dof[j]] = row.C[j];
    }
}

void snw_assembly_look(snw_assembly *as, const snw_inputs *in, const snw_state *s, bool closing) {
    const snw_model *m = as->all;
    snw_residual(m, in, s, true, as->w);
    snw_tangent_sweep(m, NULL, as->w);
    snw_rows_columns(m, as->w);
    snw_assembly_transpose(as, m);
    for (int k = 0; k < m->nrow; k++) {
        double *x = as->X + (size_t)k * (size_t)m->nv;
        for (int i = 0; i < m->nv; i++) x[i] *= m->typical[i] / as->all_size[k];
    }
    for (int i = 0; closing && i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const size_t nv = (size_t)m->nv;
        if (!loop->grip) continue;
        memset(as->X + (size_t)loop->row * nv, 0, (size_t)loop->nrow * nv * sizeof *as->X);
    }
}

void snw_assembly_take(snw_assembly *as, const snw_state *s) {
    const snw_model *m = as->all;
    if (m->nq) memcpy(as->trial->q, s->q, (size_t)m->nq * sizeof *s->q);
    if (m->nsignal) memcpy(as->trial->z, s->z, (size_t)m->nsignal * sizeof *s->z);
}

// ---- closing ---------------------------------------------------------------------------------------

// the largest, and the square of all, measured by sizes
typedef struct opening {
    double largest, square;
    int row;
} opening;

// Violation of constraint row k, relative to its size.
static double gap_of(const snw_assembly *as, int k) {
    const double wanted = as->leave > 0 ? as->leave * as->first[k] : 0;
    return (as->w->gap[k] - wanted) / as->all_size[k];
}

static opening gaps(const snw_assembly *as) {
    opening o = {0};
    for (int k = 0; k < as->all->nrow; k++) {
        const double gap = fabs(gap_of(as, k));
        o.square += gap * gap;
        if (!(gap <= o.largest)) o.largest = gap, o.row = k;
    }
    return o;
}

double snw_assembly_gap(snw_assembly *as, const snw_inputs *in, const snw_state *s, int *row) {
    snw_assembly_take(as, s);
    snw_residual(as->all, in, as->trial, true, as->w);
    const opening o = gaps(as);
    if (row) *row = o.row;
    return o.largest;
}

double snw_assembly_size(const snw_assembly *as, int row) { return as->all_size[row]; }

void snw_assembly_say_gap(const snw_assembly *as, int row, double gap, char *out, size_t size) {
    const int owner = snw_assembly_loop_of(as, row);
    if (owner == as->all->nloop) {
        (void)snprintf(out, size, "%.3g in SI units", gap * as->all_size[row]);
        return;
    }
    const snw_loop *loop = &as->all->loop[owner];
    bool turns = as->all_size[row] == 1;
    // a combination counts as a length when it moves anything
    for (int k = 0; k < loop->nraw; k++) {
        const bool moves = snw_loop_row_name(loop, k)[0] == 'm';
        if (moves && loop->mix[row - loop->row][k] != 0) turns = false;
    }
    if (turns) {
        (void)snprintf(out, size, "%.3g degrees", gap * 57.295779513082321);
    } else if (gap * as->m->length < 1) {
        (void)snprintf(out, size, "%.3g mm", gap * as->m->length * 1e3);
    } else {
        (void)snprintf(out, size, "%.3g m", gap * as->m->length);
    }
}

enum { CLOSE_ITERATIONS = 100, CLOSE_STARTS = 8, CLOSE_LEADS = 3, CLOSE_PARTS = 80 };

// of a radian or the robot's size: gaps that are left, but for those wanted, while they close part by part
static const double on_the_way = 1e-7;

// of the robot's size: a gap that is left where rows meet to second order only
static const double just_reached = 1e-5;

// as->dx <- the way in typical coordinates that closes the rows to first order, the shortest of those that are nearly as
// good: |C x - gap|^2 + |gap|^2 |x|^2 is least (Levenberg and Marquardt), so that rows which only say something because
// the loops are open do not lead far away
static snw_status way(snw_assembly *as, double square, int *rank) {
    const snw_model *m = as->all;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nrow, ld = nr + nv;
    const double mu = sqrt(square);
    for (size_t i = 0; i < nv; i++) {
        for (size_t k = 0; k < nr; k++) as->C[i * ld + k] = as->X[k * nv + i];
        for (size_t k = 0; k < nv; k++) as->C[i * ld + nr + k] = k == i ? mu : 0;
    }
    for (size_t k = 0; k < nr; k++) as->dx[k] = gap_of(as, (int)k);
    for (size_t k = nr; k < ld; k++) as->dx[k] = 0;
    SNW_TRY(snw_shortest((int)ld, m->nv, as->C, 1e-11, &as->scratch, as->dx, rank));
    for (size_t i = 0; i < nv; i++) as->dx[i] *= m->typical[i];
    return SNW_OK;
}

// from as->trial on
static opening approach(snw_assembly *as, const snw_inputs *in, snw_assembly_info *info) {
    const snw_model *m = as->all;
    const double enough = as->leave > 0 ? on_the_way : 1e-14;
    snw_residual(m, in, as->trial, true, as->w);
    opening now = gaps(as);
    for (int n = 0; !(now.largest <= enough) && n < CLOSE_ITERATIONS; n++) {
        info->iterations++;
        snw_assembly_look(as, in, as->trial, true);
        int rank;
        if (way(as, now.square, &rank) != SNW_OK) break;
        // at most about a third of a radian at once, and always nearer
        double most = 0, step = 1;
        for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(as->dx[i]) / m->typical[i]);
        if (most > 0.3) step = 0.3 / most;
        snw_state_copy(m, as->trial, as->kept);
        opening then = now;
        for (; step > 1e-6; step *= 0.5) {
            snw_move(m, as->kept->q, -step, as->dx, as->trial->q);
            snw_residual(m, in, as->trial, true, as->w);
            then = gaps(as);
            if (then.square < now.square * (1 - 1e-3 * step)) break;
        }
        if (!(step > 1e-6)) {
            snw_state_copy(m, as->kept, as->trial);
            break;
        }
        now = then;
    }
    return now;
}

// From as->trial on with all gaps closing evenly, part by part, as sites are brought together by hand: where the straight way sticks
// because the loops are far open.
static opening lead(snw_assembly *as, const snw_inputs *in, snw_assembly_info *info) {
    const snw_model *m = as->all;
    const size_t bytes = (size_t)m->nq * sizeof *as->q;
    snw_residual(m, in, as->trial, true, as->w);
    memcpy(as->first, as->w->gap, (size_t)m->nrow * sizeof *as->first);
    double closed = 0, part = 0.1;
    for (int n = 0; n < CLOSE_PARTS && closed + part < 1 && part > 1e-3; n++) {
        memcpy(as->q, as->trial->q, bytes);
        as->leave = 1 - closed - part;
        if (approach(as, in, info).largest <= on_the_way) {
            closed += part;
            part *= 1.5;
        } else {
            memcpy(as->trial->q, as->q, bytes);
            part *= 0.4;
        }
    }
    as->leave = 0;
    return approach(as, in, info);
}

double snw_assembly_roll(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / (double)(1ULL << 52) - 1;
}

// out <- the loop, beside that of `row`, that is open most where the rows are stuck; empty when all others are closed
static void name_open(const snw_assembly *as, int row, char *out, size_t size) {
    const snw_model *m = as->all;
    const int owner = snw_assembly_loop_at(m, row);
    double largest = 0.01 * gaps(as).largest;
    int other = -1;
    for (int k = 0; k < m->nrow; k++) {
        const int i = snw_assembly_loop_at(m, k);
        const double gap = fabs(as->w->gap[k]) / as->all_size[k];
        if (i != owner && i < m->nloop && gap > largest) largest = gap, other = i;
    }
    out[0] = 0;
    if (other >= 0) {
        (void)snprintf(out, size, " together with loop '%.60s'", m->desc->loop[other].name);
    }
}

// Where rows are stuck the configuration is singular (links in one line, say) and first order shows no way out: then
// start again a little beside, further each time.
snw_status snw_assembly_close(snw_assembly *as, const snw_inputs *in, snw_state *s,
                              snw_assembly_info *info, snw_error *err) {
    const snw_model *m = as->all;
    *info = (snw_assembly_info){.gap = INFINITY};
    unsigned long long seed = 3;
    double beside = 0;
    for (int n = 0; n < CLOSE_STARTS + CLOSE_LEADS; n++) {
        const bool leads = n >= CLOSE_STARTS;
        if (n == CLOSE_STARTS)
            beside = 0.05; // straight rods let nothing come nearer to first order
        snw_assembly_take(as, s);
        for (int i = 0; i < m->nv; i++)
            as->dx[i] = beside * m->typical[i] * snw_assembly_roll(&seed);
        snw_rest_vector(m, as->w, as->dx);
        if (n > 0) snw_move(m, s->q, 1, as->dx, as->trial->q);
        const opening o = leads ? lead(as, in, info) : approach(as, in, info);
        if (o.largest < info->gap) info->gap = o.largest, info->row = o.row;
        if (o.largest <= 1e-12) {
            memcpy(s->q, as->trial->q, (size_t)m->nq * sizeof *s->q);
            return SNW_OK;
        }
        beside = n == 0 ? 0.02 : (leads ? 4 : 1.7) * beside;
    }
    char by[64], with[100];
    snw_assembly_say_gap(as, info->row, info->gap, by, sizeof by);
    name_open(as, info->row, with, sizeof with);
    const char *kind, *name;
    const snw_place at = snw_assembly_owner(m, info->row, &kind, &name);
    return snw_fail_place(
        err,
        snw_fail(err, SNW_E_DIVERGED,
                 "%s '%.60s' cannot be %s%s from the initial configuration: it stays open by %s at "
                 "t = %g s. %s",
                 kind, name, kind[0] == 'l' ? "closed" : "followed", with, by, in->t,
                 info->gap < just_reached
                     ? "So little is left where the robot is just at the end of its reach, which "
                       "is singular: bring the sites a little nearer, or let a rod stretch"
                     : "Give initial: values nearer to the closed robot, check lengths, poses and "
                       "what is driven, or allow more motion"),
        at.file, at.line, at.column);
}

// ---- rank ------------------------------------------------------------------------------------------

static const double DEPENDENT = 1e-8;
static const double DOUBTFUL =
    1e-4; // of a row behind the others: it may be one that tells motions apart nearby only,
static const double HARDLY =
    1e-3; // namely where it does so by less than this part of what it does there

// of the rows at s->q, as snw_assembly_most; those count that have more than `tolerance` behind the others. *least <- the smallest of these
static int rank_of(snw_assembly *as, const snw_inputs *in, const snw_state *s, double tolerance,
                   bool *kept, double *least) {
    const snw_model *m = as->all;
    const size_t nv = (size_t)m->nv;
    snw_assembly_take(as, s);
    snw_assembly_look(as, in, as->trial, false);
    // loop by loop, first those that never open: what it says beside the drives and those before it, which stand in front
    int n = 0;
    *least = 1;
    for (int k = 0; k < m->nrow; k++) kept[k] = false;
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row >= 0 && !d->follows && snw_is_on(as->w, d->gate)) kept[d->row] = true, n++;
    }
    for (int k = 0; k < m->nmeasure; k++) {
        if (m->measure[k].row >= 0) kept[m->measure[k].row] = true, n++;
    }
    for (int i = 0; i < 2 * m->nloop; i++) {
        const snw_loop *loop = &m->loop[i % m->nloop];
        const size_t bytes = nv * sizeof *as->C;
        if ((loop->gate < 0) != (i < m->nloop) || !snw_is_on(as->w, loop->gate)) continue;
        // the kept ones in front, then this loop's
        int front = 0;
        for (int k = 0; k < m->nrow; k++) {
            if (kept[k]) memcpy(as->C + nv * (size_t)front++, as->X + nv * (size_t)k, bytes);
        }
        memcpy(as->C + nv * (size_t)front, as->X + nv * (size_t)loop->row,
               bytes * (size_t)loop->nrow);
        const int rank = snw_qr_factor(m->nv, front + loop->nrow, as->C, front, tolerance,
                                       &as->scratch, as->side, as->order);
        for (int k = front; k < rank; k++) {
            kept[loop->row + as->order[k] - front] = true;
            *least = fmin(*least, fabs(as->C[(size_t)k * (nv + 1)]));
        }
        n = rank;
    }
    return n;
}

// as->near <- s moved a little and closed again. False: could not be
static bool move_a_little(snw_assembly *as, const snw_inputs *in, const snw_state *s, double part,
                          unsigned long long *seed) {
    const snw_model *m = as->all;
    snw_assembly_info info;
    snw_error ignored = {0};
    for (int i = 0; i < m->nv; i++) as->dx[i] = part * m->typical[i] * snw_assembly_roll(seed);
    if (m->nsignal) memcpy(as->near->z, s->z, (size_t)m->nsignal * sizeof *s->z);
    if (m->nfleeting) {
        snw_kinematics(m, in, as->near, true, as->w);
        snw_rest_vector(m, as->w, as->dx);
    }
    snw_move(m, s->q, 1, as->dx, as->near->q);
    return snw_assembly_close(as, in, as->near, &info, &ignored) == SNW_OK;
}

enum { NEARBY = 3 };

int snw_assembly_most(snw_assembly *as, snw_assembly *closer, const snw_inputs *in,
                      const snw_state *s, int enough, bool *here, bool *most) {
    const size_t bytes = (size_t)as->all->nrow * sizeof *here;
    unsigned long long seed = 5;
    double least, best = 0;
    int rank = rank_of(as, in, s, DEPENDENT, here, &least);
    const bool doubtful =
        least <
        DOUBTFUL; // closed with an error, a singular configuration looks like one that is not
    memcpy(most, here, bytes);
    for (int n = 0; n < NEARBY && (rank < enough || doubtful); n++) {
        if (!move_a_little(closer, in, s, 0.03 * (n + 1), &seed)) continue;
        const int there = rank_of(as, in, closer->near, DEPENDENT, here, &least);
        if (there >= rank) best = fmax(there > rank ? 0 : best, least);
        if (there <= rank) continue;
        rank = there;
        memcpy(most, here, bytes);
    }
    (void)rank_of(as, in, s, fmax(DEPENDENT, HARDLY * best), here, &least);
    return rank;
}
