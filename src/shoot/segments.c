// SPDX-License-Identifier: MIT
//
// Multiple shooting: marches of the segments, matching defects, and condensation of Newton's
// equations from the base to the tip, for boundary.c, platform.c and tree.c.
//
// The map of a segment is linearised at its start. With a = d(pose, velocity, z) and b = dF there,
//   a+ = Aaa a + Aab b + ra,   b+ = Aba a + Abb b + rb,   a = Y b + y + P p.
// So b+ = M b + m + Mp p with M = Aba Y + Abb, m = Aba y + rb, Mp = Aba P. Solved for b,
//   Y+ = (Aaa Y + Aab) M^-1,   y+ = Aaa y + ra - Y+ m,   P+ = Aaa P - Y+ Mp.
// Back substitution from the tip: b = M^-1 (b+ - m - Mp p). No quantity is propagated in a
// direction in which it grows: Y is the compliance of the rod between base and start, which is
// bounded for any time step.

#include "shoot/segments.h"

#include "shoot/march.h"

#include "base/alloc.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

snw_status snw_segments_create(snw_shoot_rod *r, snw_segment_pose pose, snw_segments **out) {
    int most = 0;
    for (int i = 0; i < r->npiece; i++) most += r->piece[i].n;
    snw_segments *s = *out = snw_alloc(sizeof *s);
    if (!s) return SNW_E_MEMORY;
    s->r = r;
    s->pose = pose;
    s->most = most;
    s->seg = snw_alloc(((size_t)most + 1) * sizeof *s->seg);
    if (s->seg) return SNW_OK;
    snw_segments_destroy(s);
    *out = NULL;
    return SNW_E_MEMORY;
}

void snw_segments_destroy(snw_segments *s) {
    if (!s) return;
    snw_free(s->seg);
    snw_free(s);
}

static snw_segment_pose pose_of(const snw_segments *s) {
    if (s->r->placed) return SNW_POSE_ALL;
    return s->pose == SNW_POSE_NONE && s->r->world ? SNW_POSE_TURN : s->pose;
}

static void segments_list_rows(snw_segments *s) {
    const snw_shoot_rod *r = s->r;
    const snw_segment_pose pose = pose_of(s);
    const double L = r->length, c0 = r->formula.c[0] > 0 ? r->formula.c[0] : 1;
    int n = 0;
    for (int i = 0; i < 3 && pose != SNW_POSE_NONE; i++) {
        s->scale[n] = 1;
        s->row[n++] = SNW_ROW_G + i;
    }
    for (int i = 3; i < 6 && pose == SNW_POSE_ALL; i++) {
        s->scale[n] = L;
        s->row[n++] = SNW_ROW_G + i;
    }
    for (int i = 0; i < 6; i++) {
        s->scale[n] = i < 3 ? c0 : c0 * L;
        s->row[n++] = SNW_ROW_V + i;
    }
    for (int i = 0; i < snw_shoot_nz(r); i++) {
        s->scale[n] = r->law->typical[i];
        s->row[n++] = SNW_ROW_Z + i;
    }
    s->na = n;
    for (int i = 0; i < 6; i++) s->scale[n + i] = i < 3 ? r->force * L : r->force;
}

static void start_from_node(snw_segments *s, snw_segment *seg) {
    const snw_shoot_rod *r = s->r;
    const int nz = snw_shoot_nz(r), j = seg->node;
    seg->start = (snw_shoot_state){.g = r->g[j], .V = r->V[j], .F = r->F[j]};
    for (int i = 0; i < nz; i++) seg->start.z[i] = r->z[j * nz + i];
}

static bool has_branch(const snw_shoot_rod *r, int piece) {
    for (int i = 0; i < r->nbranch; i++) {
        if (r->branch[i].piece == piece) return true;
    }
    return false;
}

// Starts at equal arc lengths, `want` of them, each at a different node, and behind stations with
// branches. Returns their number; with `place` sets them from the nodes.
static int place_starts(snw_segments *s, int want, bool place) {
    const snw_shoot_rod *r = s->r;
    int n = 0, regular = 0;
    double next = 0;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        const bool behind = p > 0 && has_branch(r, p - 1);
        for (int j = 0; j < piece->n; j++) {
            const bool due = regular < want && piece->s + j * piece->h >= next - 1e-9 * r->length;
            if (due) next = ++regular * r->length / want;
            if (!due && !(behind && j == 0)) continue;
            if (place) {
                s->seg[n].node = piece->node + j;
                start_from_node(s, &s->seg[n]);
            }
            n++;
        }
    }
    return n;
}

bool snw_segments_cut(snw_segments *s, double growth, int n) {
    const snw_shoot_rod *r = s->r;
    const int was = s->n, rows = s->na;
    segments_list_rows(s);
    double cuts = n > 0 ? n : ceil(snw_shoot_growth(r, r->length) / growth);
    cuts = fmin(fmax(cuts, 1), s->most);
    const int want = (int)cuts;
    if (place_starts(s, want, false) == was && rows == s->na) return false;
    s->factored = false;
    s->n = place_starts(s, want, true);
    return true;
}

int snw_segments_behind(const snw_segments *s, int piece) {
    int k = 1;
    while (k < s->n && s->seg[k].node <= s->r->piece[piece].node + s->r->piece[piece].n) k++;
    return k;
}

int snw_segments_parameters(const snw_segments *s) {
    if (s->r->carried) return s->na;
    return s->r->law ? s->r->law->nfree : 0;
}

// ---- marches ------------------------------------------------------------------------------------

static void segments_store_node(snw_shoot_rod *r, int node, const snw_shoot_state *y) {
    const int nz = snw_shoot_nz(r);
    r->g[node] = y->g;
    r->V[node] = y->V;
    r->F[node] = y->F;
    for (int i = 0; i < nz; i++) r->z[node * nz + i] = y->z[i];
}

// first columns of rotation, translation, velocity, wrench and z in a segment's variations; -1:
// none
typedef struct column_offsets {
    int turn, shift, V, F, z;
} column_offsets;

static column_offsets segments_column_offsets(const snw_segments *s, int k) {
    if (k == 0 && !s->r->carried) return (column_offsets){-1, -1, -1, 0, 6};
    if (s->r->placed) return (column_offsets){0, 3, 6, 12, 18};
    const int t = pose_of(s) == SNW_POSE_NONE ? 0 : 3;
    return (column_offsets){t ? 0 : -1, -1, t, t + 6, t + 12};
}

static void set_unit_variations(const snw_segments *s, int k, snw_segment *seg) {
    const column_offsets c = segments_column_offsets(s, k);
    seg->columns = (c.z + snw_shoot_nz(s->r) + 1) / 2 * 2;
    const int ld = seg->columns;
    memset(seg->S, 0, sizeof seg->S[0] * SNW_SHOOT_ROWS * (size_t)ld);
    for (int i = 0; i < 3 && c.turn >= 0; i++) seg->S[(SNW_ROW_G + i) * ld + c.turn + i] = 1;
    for (int i = 0; i < 3 && c.shift >= 0; i++) seg->S[(SNW_ROW_G + 3 + i) * ld + c.shift + i] = 1;
    for (int i = 0; i < 6 && c.V >= 0; i++) seg->S[(SNW_ROW_V + i) * ld + c.V + i] = 1;
    for (int i = 0; i < 6; i++) seg->S[(SNW_ROW_F + i) * ld + c.F + i] = 1;
    for (int i = 0; k == 0 && snw_shoot_root_depends_on_wrench(s->r) && i < 36; i++) {
        // velocity of the first section of a sliding rod: base velocity + feed rate times strain
        seg->S[(SNW_ROW_V + i / 6) * ld + c.F + i % 6] = s->r->feed_rate * s->r->section[0].C[i];
    }
    for (int i = 0; i < snw_shoot_nz(s->r); i++) seg->S[(SNW_ROW_Z + i) * ld + c.z + i] = 1;
}

static void segments_pass_station(const snw_shoot_rod *r, int piece, snw_segment *seg,
                                  bool derivatives) {
    snw_shoot_state *y = &seg->end;
    if (derivatives) {
        double dW[6 * (SNW_SHOOT_ROWS + 2)];
        snw_station_vary(r, piece, y, seg->columns, seg->S, dW);
        double *SF = seg->S + SNW_ROW_F * seg->columns;
        for (int i = 0; i < 6 * seg->columns; i++) SF[i] -= dW[i];
    }
    y->F = snw_wrench_sub(y->F, snw_station_wrench(r, piece, y));
}

static void march_segment(snw_segments *s, int k, bool derivatives) {
    snw_shoot_rod *r = s->r;
    snw_segment *seg = &s->seg[k];
    const bool pose = pose_of(s) != SNW_POSE_NONE;
    const int stop = k + 1 < s->n ? s->seg[k + 1].node : r->nnode;
    if (derivatives) set_unit_variations(s, k, seg);
    seg->end = seg->start;
    int node = seg->node;
    for (int p = snw_shoot_piece_of(r, node); node < stop; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        const int last = piece->node + piece->n, to = stop <= last ? stop : last;
        segments_store_node(r, node, &seg->end);
        const snw_shoot_state start = seg->end;
        if (derivatives) {
            snw_shoot_march_vary(r, node, to - node, pose, &start, seg->columns, seg->S, &seg->end);
        } else {
            snw_shoot_march(r, node, to - node, pose, &start, &seg->end);
        }
        if (to == stop && stop <= last) return; // inside a piece
        segments_store_node(r, last, &seg->end);
        if (p == r->npiece - 1) return;
        segments_pass_station(r, p, seg, derivatives);
        node = last + 1;
    }
}

void snw_segments_difference(const snw_segments *s, const snw_shoot_state *a,
                             const snw_shoot_state *b, double *out) {
    const snw_segment_pose pose = pose_of(s);
    int n = 0;
    if (pose != SNW_POSE_NONE) {
        const snw_mat3 D = snw_mat3_mul(snw_mat3_transpose(b->g.R), a->g.R);
        const snw_vec3 w = snw_so3_log(D);
        for (int i = 0; i < 3; i++) out[n++] = w.e[i];
        const snw_vec3 p = snw_rotate_inv(b->g.R, snw_sub(a->g.p, b->g.p));
        for (int i = 0; i < 3 && pose == SNW_POSE_ALL; i++) out[n++] = p.e[i];
    }
    for (int i = 0; i < 6; i++) out[n++] = a->V.e[i] - b->V.e[i];
    for (int i = 0; i < snw_shoot_nz(s->r); i++) out[n++] = a->z[i] - b->z[i];
    for (int i = 0; i < 6; i++) out[n++] = a->F.e[i] - b->F.e[i];
}

static bool is_finite_state(const snw_shoot_state *y) {
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += fabs(y->V.e[i]) + fabs(y->F.e[i]);
    return isfinite(sum);
}

double snw_segments_march(snw_segments *s, bool derivatives) {
    snw_shoot_rod *r = s->r;
    if (!r->carried) {
        s->seg[0].start.g = r->base;
        s->seg[0].start.V = snw_shoot_root_V(r, s->seg[0].start.F);
    }
    double worst = 0;
    for (int k = 0; k < s->n; k++) {
        march_segment(s, k, derivatives);
        snw_segment *seg = &s->seg[k];
        if (!is_finite_state(&seg->end)) return NAN;
        if (k + 1 == s->n) break;
        snw_segments_difference(s, &seg->end, &s->seg[k + 1].start, seg->defect);
        for (int i = 0; i < s->na + 6; i++) {
            const double d = fabs(seg->defect[i]) / s->scale[i];
            if (!(d <= worst)) worst = d;
        }
    }
    return worst;
}

// ---- condensation -------------------------------------------------------------------------------

void snw_segments_add_branch(snw_segments *s, int k, double (*W)[SNW_SEGMENT_A]) {
    snw_segment *seg = &s->seg[k];
    const int ld = seg->columns;
    for (int i = 0; i < 6; i++) {
        double *F = seg->S + (SNW_ROW_F + i) * ld;
        for (int a = 0; a < s->na; a++) {
            const double *S = seg->S + s->row[a] * ld;
            for (int c = 0; c < ld; c++) F[c] -= W[i][a] * S[c];
        }
    }
}

// x (n) <- row `row` of A times Y, summed over the na rows of a; Y has leading dimension ldy
static void segments_row_times(const snw_segments *s, int k, int row, int n, const double *Y,
                               int ldy, double *x) {
    const snw_segment *seg = &s->seg[k];
    const double *S = seg->S + row * seg->columns;
    const column_offsets c = segments_column_offsets(s, k);
    for (int j = 0; j < n; j++) x[j] = 0;
    for (int a = 0; a < s->na; a++) {
        const int of = s->row[a];
        double A = 0;
        if (of < 3) {
            if (c.turn >= 0) A = S[c.turn + of];
        } else if (c.shift >= 0 && of < SNW_ROW_V) {
            A = S[c.shift + of - 3];
        } else if (of < SNW_ROW_V) {
            // a translation of the start translates the end and changes nothing else
            if (row >= SNW_ROW_G + 3 && row < SNW_ROW_V && (k > 0 || s->r->carried)) {
                const snw_mat3 *R0 = &seg->start.g.R, *R1 = &seg->end.g.R;
                for (int i = 0; i < 3; i++) A += R1->e[i][row - 3] * R0->e[i][of - 3];
            }
        } else if (of < SNW_ROW_F) {
            if (c.V >= 0) A = S[c.V + of - SNW_ROW_V];
        } else {
            A = S[c.z + of - SNW_ROW_Z];
        }
        if (A == 0) continue;
        for (int j = 0; j < n; j++) x[j] += A * Y[a * ldy + j];
    }
}

// M (column major) and Mp of segment k, then Y+ and P+ at the next start
static snw_status factor_segment(snw_segments *s, int k) {
    snw_segment *seg = &s->seg[k], *next = &s->seg[k + 1];
    const int nf = snw_segments_parameters(s);
    const column_offsets c = segments_column_offsets(s, k);
    double x[SNW_SEGMENT_A];
    for (int i = 0; i < 6; i++) {
        const int row = SNW_ROW_F + i;
        double Yx[6];
        segments_row_times(s, k, row, 6, &seg->Y[0][0], 6, Yx);
        for (int j = 0; j < 6; j++)
            seg->M[6 * j + i] = Yx[j] + seg->S[row * seg->columns + c.F + j];
        segments_row_times(s, k, row, nf, &seg->P[0][0], SNW_SEGMENT_A, x);
        for (int j = 0; j < nf; j++) seg->Mp[i][j] = x[j];
    }
    for (int i = 0; i < 36; i++) {
        if (!isfinite(seg->M[i])) return SNW_E_SINGULAR;
    }
    const snw_status status = snw_lu_factor(6, seg->M, seg->pivot);
    if (status != SNW_OK) return status;
    for (int a = 0; a < s->na; a++) {
        const int row = s->row[a];
        double N[6];
        segments_row_times(s, k, row, 6, &seg->Y[0][0], 6, N);
        for (int j = 0; j < 6; j++) N[j] += seg->S[row * seg->columns + c.F + j];
        snw_lu_solve_transposed(6, seg->M, seg->pivot, N);
        segments_row_times(s, k, row, nf, &seg->P[0][0], SNW_SEGMENT_A, x);
        for (int j = 0; j < 6; j++) next->Y[a][j] = N[j];
        for (int j = 0; j < nf; j++) {
            next->P[a][j] = x[j];
            for (int i = 0; i < 6; i++) next->P[a][j] -= N[i] * seg->Mp[i][j];
        }
    }
    return SNW_OK;
}

snw_status snw_segments_factor(snw_segments *s) {
    snw_segment *first = &s->seg[0];
    memset(first->Y, 0, sizeof first->Y);
    memset(first->P, 0, sizeof first->P);
    const int np = snw_segments_parameters(s), nz = snw_shoot_nz(s->r);
    for (int j = 0; j < np; j++)
        first->P[s->r->carried ? j : s->na - nz + s->r->law->free[j]][j] = 1;
    s->factored = false;
    for (int k = 0; k < s->n; k++) {
        const snw_status status = factor_segment(s, k);
        if (status != SNW_OK) return status;
    }
    s->factored = true;
    return SNW_OK;
}

void snw_segments_condense(snw_segments *s) {
    memset(s->seg[0].y, 0, sizeof s->seg[0].y);
    for (int k = 0; k < s->n; k++) {
        snw_segment *seg = &s->seg[k], *next = &s->seg[k + 1];
        const bool defects = k + 1 < s->n; // the tip has no defect
        for (int i = 0; i < 6; i++) {
            segments_row_times(s, k, SNW_ROW_F + i, 1, seg->y, 1, &seg->m[i]);
            if (defects) seg->m[i] += seg->defect[s->na + i] - seg->jump[i];
        }
        for (int a = 0; a < s->na; a++) {
            double x;
            segments_row_times(s, k, s->row[a], 1, seg->y, 1, &x);
            if (defects) x += seg->defect[a];
            for (int i = 0; i < 6; i++) x -= next->Y[a][i] * seg->m[i];
            next->y[a] = x;
        }
    }
}

// ---- back substitution --------------------------------------------------------------------------

void snw_segments_solution(const snw_segments *s, const double dF[6], const double *dp,
                           double *delta) {
    const int nf = snw_segments_parameters(s);
    double b[6];
    memcpy(b, dF, sizeof b);
    for (int k = s->n - 1; k >= 0; k--) {
        const snw_segment *seg = &s->seg[k];
        double *a = delta + (ptrdiff_t)k * (s->na + 6);
        for (int i = 0; i < 6; i++) {
            b[i] -= seg->m[i];
            for (int j = 0; j < nf; j++) b[i] -= seg->Mp[i][j] * dp[j];
        }
        snw_lu_solve(6, seg->M, seg->pivot, b);
        for (int i = 0; i < s->na; i++) {
            a[i] = seg->y[i];
            for (int j = 0; j < 6; j++) a[i] += seg->Y[i][j] * b[j];
            for (int j = 0; j < nf; j++) a[i] += seg->P[i][j] * dp[j];
        }
        memcpy(a + s->na, b, sizeof b);
    }
}

static void move_start(const snw_segments *s, snw_segment *seg, const double *a, double step) {
    const snw_segment_pose pose = pose_of(s);
    int n = 0;
    if (pose != SNW_POSE_NONE) {
        const snw_vec3 w = {{step * a[0], step * a[1], step * a[2]}};
        n = 3;
        if (pose == SNW_POSE_ALL) {
            const snw_vec3 v = {{step * a[3], step * a[4], step * a[5]}};
            seg->start.g.p = snw_add(seg->start.g.p, snw_rotate(seg->start.g.R, v));
            n = 6;
        }
        seg->start.g.R = snw_mat3_mul(seg->start.g.R, snw_so3_exp(w));
    }
    for (int i = 0; i < 6; i++) seg->start.V.e[i] += step * a[n++];
    for (int i = 0; i < snw_shoot_nz(s->r); i++) seg->start.z[i] += step * a[n++];
    for (int i = 0; i < 6; i++) seg->start.F.e[i] += step * a[n++];
}

void snw_segments_move(snw_segments *s, const double *delta, double step) {
    for (int k = 0; k < s->n; k++) {
        move_start(s, &s->seg[k], delta + (ptrdiff_t)k * (s->na + 6), step);
    }
}

double *snw_segments_weights(const snw_segments *s, double *w) {
    const int n = s->na + 6;
    for (int i = 0; i < s->n * n; i++) w[i] = 1 / (s->scale[i % n] * s->scale[i % n]);
    return w + (ptrdiff_t)s->n * n;
}
