// SPDX-License-Identifier: MIT
#include "study/share.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

struct snw_share {
    const snw_model *m;
    snw_work *w;
    snw_state *other; // with all rows, or later
    snw_inputs *later;
    snw_arena scratch;
    double *memory;     // everything below
    double *A;          // nv x nrow: rows as columns, of coordinates that nothing drives
    double *B;          // what factors overwrite
    double *U, *S, *Vt; // singular values of the rows
    double *x;          // nv or nrow
    double *tau;        // nrow
    double *l;          // nrow: multipliers as they were
    double *rate;       // nrow
    double *weight;     // nrow: of multipliers
    double *size;       // nrow: lengths of the rows, in typical numbers
    int *index;         // nv: place among these coordinates; -1: driven,
    int *at;            // nv: by which row
    int *row;           // nrow: rows that hold, those of contacts behind the others
    int *order;         // nrow
    bool *grip;         // nrow: is it one of a contact?
    bool *keep;         // nrow: columns of A that are independent
    int nf, n, front;   // coordinates, rows, and how many of these are no contacts'
    int rank;
    bool rests;
};

snw_status snw_share_create(const snw_model *m, snw_share **out) {
    *out = NULL;
    snw_share *sh = snw_alloc(sizeof *sh);
    if (!sh) return SNW_E_MEMORY;
    sh->m = m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nrow, most = nv > nr ? nv : nr;
    const size_t qr = snw_qr_scratch(m->nv, m->nrow), ls = snw_shortest_scratch(m->nv, m->nrow);
    const size_t svd = snw_svd_scratch(m->nrow, m->nv), two = qr > ls ? qr : ls;
    sh->scratch.size = svd > two ? svd : two;
    sh->scratch.base = snw_alloc(sh->scratch.size);
    sh->memory = snw_alloc((3 * nv * nr + nv * nv + 2 * most + 5 * nr) * sizeof(double));
    sh->index = snw_alloc((2 * nv + 2 * nr) * sizeof *sh->index);
    sh->grip = snw_alloc(2 * nr * sizeof *sh->grip);
    if (!sh->scratch.base || !sh->memory || !sh->index || !sh->grip ||
        snw_work_create(m, &sh->w) != SNW_OK || snw_state_create(m, &sh->other) != SNW_OK ||
        snw_inputs_create(m, &sh->later) != SNW_OK) {
        snw_share_destroy(sh);
        return SNW_E_MEMORY;
    }
    sh->A = sh->memory;
    sh->B = sh->A + nv * nr;
    sh->x = sh->B + nv * nr;
    sh->tau = sh->x + most;
    sh->l = sh->tau + nr;
    sh->rate = sh->l + nr;
    sh->weight = sh->rate + nr;
    sh->size = sh->weight + nr;
    sh->U = sh->size + nr;
    sh->S = sh->U + nv * nr;
    sh->Vt = sh->S + most;
    sh->at = sh->index + nv;
    sh->row = sh->at + nv;
    sh->order = sh->row + nr;
    sh->keep = sh->grip + nr;
    for (int i = 0; i < m->nloop; i++) {
        for (int r = 0; r < m->loop[i].nrow; r++) {
            sh->grip[m->loop[i].row + r] = m->loop[i].grip != SNW_GRIP_NONE;
        }
    }
    snw_share_weigh(sh, 1);
    *out = sh;
    return SNW_OK;
}

void snw_share_destroy(snw_share *sh) {
    if (!sh) return;
    snw_work_destroy(sh->w);
    snw_state_destroy(sh->other);
    snw_inputs_destroy(sh->later);
    snw_free(sh->scratch.base);
    snw_free(sh->memory);
    snw_free(sh->index);
    snw_free(sh->grip);
    snw_free(sh);
}

void snw_share_weigh(snw_share *sh, double torque) {
    const snw_model *m = sh->m;
    for (int k = 0; k < m->nrow; k++) sh->weight[k] = 1;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow; r++) {
            if (snw_loop_turns(loop, r)) sh->weight[loop->row + r] = torque;
        }
    }
}

static bool is_drive(const snw_model *m, int row) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row == row) return true;
    }
    return false;
}

static void list_coordinates(snw_share *sh, const snw_state *s) {
    const snw_model *m = sh->m;
    sh->nf = 0;
    for (int i = 0; i < m->nv; i++) sh->index[i] = 0;
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_drive_holds(m, s, i)) sh->index[m->drive[i].dof] = -1;
    }
    for (int i = 0; i < m->nv; i++) {
        if (sh->index[i] == 0) sh->index[i] = sh->nf++;
    }
}

// sh->A <- rows that hold at s->q, by coordinates that nothing drives in typical numbers, each of length one with those that are driven
static void look(snw_share *sh, const snw_inputs *in, const snw_state *s) {
    const snw_model *m = sh->m;
    snw_kinematics(m, in, s, true, sh->w);
    snw_columns_sweep(m, sh->w);
    snw_rows_columns(m, sh->w);
    list_coordinates(sh, s);
    sh->n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < m->nrow; k++) {
            if (sh->grip[k] == (pass == 1) && !is_drive(m, k) && !snw_row_at(m, sh->w, k).off)
                sh->row[sh->n++] = k;
        }
        if (pass == 0) sh->front = sh->n;
    }
    const size_t nf = (size_t)sh->nf;
    memset(sh->A, 0, nf * (size_t)sh->n * sizeof *sh->A);
    for (int c = 0; c < sh->n; c++) {
        const snw_row row = snw_row_at(m, sh->w, sh->row[c]);
        double *to = sh->A + nf * (size_t)c, square = 0;
        for (int j = 0; j < row.n; j++) {
            const double x = row.C[j] * m->typical[row.dof[j]];
            const int at = sh->index[row.dof[j]];
            square += x * x;
            if (at >= 0) to[at] = x;
        }
        sh->size[c] = square > 0 ? sqrt(square) : 1;
        for (size_t i = 0; i < nf; i++) to[i] /= sh->size[c];
    }
}

static const double DEPENDENT = 1e-8;

// sh->U, sh->S <- what combinations of rows say, rows over the weights of their multipliers; and how many say something
static void decompose(snw_share *sh) {
    const size_t nf = (size_t)sh->nf, n = (size_t)sh->n, least = nf < n ? nf : n;
    sh->rank = 0;
    if (least == 0) return;
    for (size_t c = 0; c < n; c++) {
        const double f = sh->size[c] / sh->weight[sh->row[c]];
        for (size_t i = 0; i < nf; i++) sh->B[i * n + c] = f * sh->A[c * nf + i];
    }
    if (snw_svd(sh->n, sh->nf, sh->B, &sh->scratch, sh->U, sh->S, sh->Vt) != SNW_OK) return;
    while ((size_t)sh->rank < least && sh->S[sh->rank] > DEPENDENT * sh->S[0]) sh->rank++;
}

bool snw_share_combine(snw_share *sh, const snw_inputs *in, const snw_state *s, double *P, int *n) {
    look(sh, in, s);
    decompose(sh);
    const size_t nr = (size_t)sh->m->nrow, all = (size_t)sh->n;
    sh->rests = sh->rank < sh->n;
    *n = 0;
    if (!sh->rests) return false;
    memset(P, 0, nr * nr * sizeof *P);
    for (size_t k = 0; k < nr; k++) sh->rate[k] = 1;
    for (size_t c = 0; c < all; c++) sh->rate[sh->row[c]] = 0;
    for (size_t k = 0; k < nr; k++) {
        if (sh->rate[k] != 0) P[(size_t)(*n)++ * nr + k] = 1;
    }
    for (size_t j = 0; j < (size_t)sh->rank; j++, (*n)++) {
        double *to = P + (size_t)*n * nr;
        for (size_t c = 0; c < all; c++) {
            to[sh->row[c]] = sh->U[j * all + c] / sh->weight[sh->row[c]];
        }
    }
    return true;
}

void snw_share_reduce(int nr, int n, const double *P, double *S, double *side, double *scratch) {
    const size_t N = (size_t)nr, m = (size_t)n;
    for (size_t j = 0; j < m; j++) { // S P
        double *to = scratch + j * N;
        for (size_t i = 0; i < N; i++) to[i] = 0;
        for (size_t k = 0; k < N; k++) {
            const double x = P[j * N + k];
            for (size_t i = 0; x != 0 && i < N; i++) to[i] += x * S[k * N + i];
        }
    }
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            S[j * m + i] = 0;
            for (size_t k = 0; k < N; k++) S[j * m + i] += P[i * N + k] * scratch[j * N + k];
        }
    }
    for (size_t j = 0; j < m; j++) {
        scratch[j] = 0;
        for (size_t k = 0; k < N; k++) scratch[j] += P[j * N + k] * side[k];
    }
    memcpy(side, scratch, m * sizeof *side);
}

void snw_share_expand(int nr, int n, const double *P, double *side, double *scratch) {
    const size_t N = (size_t)nr;
    for (size_t k = 0; k < N; k++) scratch[k] = 0;
    for (size_t j = 0; j < (size_t)n; j++) {
        for (size_t k = 0; k < N; k++) scratch[k] += P[j * N + k] * side[j];
    }
    memcpy(side, scratch, N * sizeof *side);
}

bool snw_share_passes(snw_share *sh, const snw_inputs *in, const snw_state *s) {
    static const double MOMENT = 1e-3; // s
    const snw_model *m = sh->m;
    const int rank = sh->rank;
    snw_state_copy(m, s, sh->other);
    sh->later->hand = in->hand;
    snw_inputs_at(m, s->t + MOMENT, sh->later);
    for (int i = 0; i < m->ndrive; i++) {
        if (!snw_drive_holds(m, s, i)) continue;
        sh->other->q[m->drive[i].q] = snw_drive_target(m, sh->later, s, i);
    }
    look(sh, sh->later, sh->other);
    decompose(sh);
    return sh->rank > rank;
}

bool snw_smaller_root(double c0, double c1, double c2, double *z) {
    const double size = fabs(c0) + fabs(c1) + fabs(c2);
    if (!(fabs(c1) + fabs(c2) > 1e-7 * size)) return false;
    const double disc = c1 * c1 - 4 * c0 * c2;
    if (disc < 0) return false;
    const double q = -0.5 * (c1 + copysign(sqrt(disc), c1));
    *z = q == 0 ? 0 : c0 / q;
    return true;
}

// b (n) <- what is left of the rows' accelerations beside those that coordinates can change, at velocities z along V
static void beyond(snw_share *sh, const snw_inputs *in, const snw_state *s, double z, double *b) {
    const snw_model *m = sh->m;
    const size_t nf = (size_t)sh->nf, n = (size_t)sh->n;
    const double *V = sh->Vt + sh->rank;
    snw_state_copy(m, s, sh->other);
    for (int i = 0; i < m->nv; i++) {
        sh->other->a[i] = 0;
        if (sh->index[i] >= 0) sh->other->v[i] += z * m->typical[i] * V[(size_t)sh->index[i] * nf];
    }
    snw_rows_impose(m, in, sh->other);
    snw_kinematics(m, in, sh->other, false, sh->w);
    snw_rows_rates(m, in, sh->other, sh->w, NULL, sh->rate);
    for (size_t c = 0; c < n; c++) b[c] = sh->rate[sh->row[c]] / sh->weight[sh->row[c]];
    for (size_t j = 0; j < (size_t)sh->rank; j++) {
        double sum = 0;
        for (size_t c = 0; c < n; c++) sum += sh->U[j * n + c] * b[c];
        for (size_t c = 0; c < n; c++) b[c] -= sum * sh->U[j * n + c];
    }
}

static double along(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Rows of which u'C = 0 hold at all times, so that u'(C' v + e') = 0 too, whatever accelerations are: of second degree in z, known from three values
bool snw_share_limit(snw_share *sh, const snw_inputs *in, snw_state *s) {
    const snw_model *m = sh->m;
    look(sh, in, s);
    decompose(sh);
    const size_t n = (size_t)sh->n;
    if (sh->rank + 1 != sh->nf || n < 1 || 4 * n > (size_t)m->nv * (size_t)m->nrow) return false;
    double *b0 = sh->B, *b1 = b0 + n, *b2 = b1 + n, z;
    beyond(sh, in, s, 0, b0);
    beyond(sh, in, s, 1, b1);
    beyond(sh, in, s, -1, b2);
    for (size_t c = 0; c < n; c++) {
        const double up = b1[c] - b0[c], down = b2[c] - b0[c];
        b1[c] = 0.5 * (up - down), b2[c] = 0.5 * (up + down);
    }
    const double *most = along(n, b1, b1) > along(n, b2, b2) ? b1 : b2;
    if (!snw_smaller_root(along(n, most, b0), along(n, most, b1), along(n, most, b2), &z))
        return false;
    double left = 0, size = 0;
    for (size_t c = 0; c < n; c++) {
        left = fmax(left, fabs(b0[c] + z * (b1[c] + z * b2[c])));
        size = fmax(size, fabs(b0[c]) + fabs(b1[c]) + fabs(b2[c]));
    }
    if (!(left <= 1e-6 * size)) return false;
    for (int i = 0; i < m->nv; i++) {
        if (sh->index[i] < 0) continue;
        s->v[i] +=
            z * m->typical[i] * sh->Vt[(size_t)sh->index[i] * (size_t)sh->nf + (size_t)sh->rank];
    }
    return true;
}

// sh->keep <- columns of sh->A that are independent of each other; of contacts those that are best to tell motions apart beside loops
static void order(snw_share *sh) {
    const size_t nf = (size_t)sh->nf;
    int lead = 0;
    sh->rank = 0;
    for (int c = 0; c < sh->n; c++) sh->keep[c] = false;
    if (nf == 0 || sh->n == 0) return;
    if (sh->front > 0) {
        memcpy(sh->B, sh->A, nf * (size_t)sh->front * sizeof *sh->B);
        lead =
            snw_qr_factor(sh->nf, sh->front, sh->B, 0, DEPENDENT, &sh->scratch, sh->tau, sh->order);
        for (int c = 0; c < lead; c++) sh->keep[sh->order[c]] = true;
    }
    size_t n = 0;
    for (int c = 0; c < sh->n; c++) {
        if (!sh->keep[c] && c < sh->front) continue;
        memcpy(sh->B + nf * n++, sh->A + nf * (size_t)c, nf * sizeof *sh->B);
    }
    sh->rank =
        snw_qr_factor(sh->nf, (int)n, sh->B, lead, DEPENDENT, &sh->scratch, sh->tau, sh->order);
    for (int c = lead; c < sh->rank; c++) sh->keep[sh->front + sh->order[c] - lead] = true;
}

// s->l <- multipliers of the columns of A that count (all, or those kept) which do to the coordinates what sh->l does, the smallest; drives
// make up for what that changes on theirs
static snw_status fit(snw_share *sh, bool all, snw_state *s) {
    const snw_model *m = sh->m;
    const size_t nf = (size_t)sh->nf;
    int n = 0, rank = 0;
    memcpy(sh->l, s->l, (size_t)m->nrow * sizeof *sh->l);
    for (size_t i = 0; i < nf; i++) sh->x[i] = 0;
    for (int c = 0; c < sh->n; c++) {
        const double *from = sh->A + nf * (size_t)c, l = sh->l[sh->row[c]] * sh->size[c];
        for (size_t i = 0; i < nf; i++) sh->x[i] += from[i] * l;
    }
    for (int c = 0; c < sh->n; c++) {
        if (!all && !sh->keep[c] && c >= sh->front) continue;
        const double f = sh->size[c] / sh->weight[sh->row[c]], *from = sh->A + nf * (size_t)c;
        for (size_t i = 0; i < nf; i++) sh->B[nf * (size_t)n + i] = f * from[i];
        sh->order[n++] = sh->row[c];
    }
    SNW_TRY(snw_shortest(sh->nf, n, sh->B, DEPENDENT, &sh->scratch, sh->x, &rank));
    for (int c = 0; c < sh->n; c++) s->l[sh->row[c]] = 0;
    for (int c = 0; c < n; c++) s->l[sh->order[c]] = sh->x[c] / sh->weight[sh->order[c]];
    for (int i = 0; i < m->ndrive; i++) {
        if (sh->index[m->drive[i].dof] < 0) sh->at[m->drive[i].dof] = m->drive[i].row;
    }
    for (int c = 0; c < sh->n; c++) {
        const snw_row row = snw_row_at(m, sh->w, sh->row[c]);
        const double change = sh->l[sh->row[c]] - s->l[sh->row[c]];
        for (int j = 0; j < row.n; j++) {
            if (sh->index[row.dof[j]] < 0) s->l[sh->at[row.dof[j]]] += row.C[j] * change;
        }
    }
    return SNW_OK;
}

int snw_share_choose(snw_share *sh, const snw_inputs *in, snw_state *s) {
    const snw_model *m = sh->m;
    for (int i = 0; i < m->ngrip; i++) s->rest[i] = 0;
    look(sh, in, s);
    order(sh);
    int rest = 0;
    for (int c = sh->front; c < sh->n; c++) rest += !sh->keep[c];
    sh->rests = rest > 0;
    if (rest == 0 || fit(sh, false, s) != SNW_OK) return 0; // not finite: whoever goes on finds out
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int c = sh->front; c < sh->n; c++) {
            const int r = sh->row[c] - loop->row;
            if (r < 0 || r >= loop->nrow || sh->keep[c]) continue;
            s->rest[loop->share] += 1 << r;
        }
    }
    return rest;
}

bool snw_share_rests(const snw_share *sh) { return sh->rests; }

static bool resting(const snw_model *m, const snw_state *s) {
    for (int i = 0; i < m->ngrip; i++) {
        if (s->rest[i] != 0) return true;
    }
    return false;
}

snw_status snw_share_shorten(snw_share *sh, const snw_inputs *in, snw_state *s) {
    look(sh, in, s);
    return fit(sh, true, s);
}

snw_status snw_share_spread(snw_share *sh, const snw_inputs *in, snw_state *s) {
    const snw_model *m = sh->m;
    if (!resting(m, s)) return SNW_OK;
    for (int i = 0; i < m->ngrip; i++) s->rest[i] = 0;
    return snw_share_shorten(sh, in, s);
}

// below this part of the speeds that there are nothing slips
static const double SLIP = 1e-6;

int snw_share_slips(snw_share *sh, const snw_inputs *in, const snw_state *s, double *left) {
    const snw_model *m = sh->m;
    int slips = -1;
    double fast = 0, worst;
    *left = 0;
    snw_state_copy(m, s, sh->other);
    for (int i = 0; i < m->ngrip; i++) sh->other->rest[i] = 0;
    snw_kinematics(m, in, sh->other, false, sh->w);
    snw_rows_rates(m, in, sh->other, sh->w, sh->rate, NULL);
    for (int i = 0; i < m->nv; i++) fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
    fast = fmax(fast, snw_field_rate(m, in));
    worst = SLIP * fast + 1e-12;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow && loop->grip; r++) {
            const double e = fabs(sh->rate[loop->row + r]) / snw_loop_kept_size(m, loop, r);
            if (!(e > worst)) continue;
            worst = e, slips = i, *left = sh->rate[loop->row + r];
        }
    }
    return slips;
}
