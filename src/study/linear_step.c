// SPDX-License-Identifier: MIT
//
// Linear model of one step of an implicit scheme, theory.md 7.4. Schemes with increments: with the
// past (v, a, pseudo-acceleration, increment, v before) as states, rates are a d + f and
// accelerations b d + g (solve/scheme.h), f and g linear in the past, and
//
//     T delta d = -(K Ad zeta_0 + D delta f + M delta g) + G u,   T = K S + a D + b M
//     zeta_1 = Ad zeta_0 + S delta d,   Ad = Ad(exp(-d)), S the tangent map of the chart
//
// Variables y of first order follow y_1 = y_0 + c0 y'_0 + c1 y'_1 (theory.md 3.7.3, 2.5.2), so that
// with E = 1 - c1 Q they change K and D by -F E^-1 c1 (R, R1), and the past of y acts as a force
// F E^-1 (y_0 + c0 y'_0).
//
// Collocation: the same equations at the stages, about rest. States of the past that a scheme does
// not read are left out. With all coordinates as states, rows C that hold at the end of the step
// border T:
//
//     [T -C'; -C S 0] (delta d, delta lambda) = (.., C Ad zeta_0 - E u)
//
// E u: given coordinates, whose rates are those of their laws, and numbers that move loops.
#include "base/fail.h"
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "dynamics/relaxation.h"
#include "integrate/implicit.h"
#include "math/vector.h"
#include "solve/dense.h"
#include "study/linear_private.h"

#include <math.h>
#include <string.h>

// A scheme and the parts of the past that later steps depend on.
typedef struct step_scheme {
    snw_scheme_map by;
    bool keeps[SNW_PAST_PARTS];
} step_scheme;

static step_scheme scheme_of(const snw_linear_step *step) {
    const snw_scheme scheme = snw_implicit_scheme(step->scheme, step->rho, step->alpha);
    step_scheme out = {.by = snw_scheme_map_of(&scheme, step->h, step->h, false)};
    out.keeps[SNW_PAST_PLACE] = out.keeps[SNW_PAST_RATE] = true;
    for (int k = SNW_PAST_ACCELERATION; k < SNW_PAST_PARTS; k++)
        out.keeps[k] = out.by.f[k] != 0 || out.by.g[k] != 0;
    if (out.keeps[SNW_PAST_PSEUDO] && out.by.pseudo[SNW_PAST_ACCELERATION] != 0)
        out.keeps[SNW_PAST_ACCELERATION] = true;
    return out;
}

// ---- reduced matrices

// Directions of the step: with mass, then massless; n of them.
static const double *direction(const snw_linear *l, int j) {
    const size_t nv = (size_t)l->m->nv;
    return j < l->n1 ? l->N + nv * (size_t)j : l->static_directions + nv * (size_t)(j - l->n1);
}

static int step_size(const snw_linear *l) { return l->n1 + l->ns + l->nd; }

// out (n x n) <- B'T B with the directions B.
static void reduce(const snw_linear *l, const double *T, double *out) {
    const int nv = l->m->nv, n = step_size(l);
    double *x = l->step_line;
    for (int j = 0; j < n; j++) {
        memset(x, 0, (size_t)nv * sizeof *x);
        linear_add_product(nv, nv, 1, T, direction(l, j), x);
        for (int i = 0; i < n; i++)
            out[(size_t)n * (size_t)j + (size_t)i] = snw_vector_dot(nv, direction(l, i), x);
    }
}

// step_G (n x nu) <- generalised forces of the inputs at the end of the step.
static void reduce_inputs(snw_linear *l) {
    const int nv = l->m->nv, n = step_size(l);
    double *x = l->step_line;
    for (int k = 0; k < l->nu; k++) {
        const int input = l->of_input[k];
        memcpy(x, l->G + (size_t)nv * (size_t)input, (size_t)nv * sizeof *x);
        for (int g = 0; g < l->ng; g++) {
            if (l->given[g] != input) continue;
            const bool number = l->input[input].kind == SNW_LINEAR_OTHER;
            const int rate = number ? l->given_part[g] : l->derivative[k];
            const double *T = rate == 0 ? l->K : rate == 1 ? l->D : l->d->M;
            linear_add_product(nv, nv, -1, T, l->Y + (size_t)nv * (size_t)g, x);
        }
        for (int i = 0; i < n; i++)
            l->step_G[(size_t)n * (size_t)k + (size_t)i] = snw_vector_dot(nv, direction(l, i), x);
    }
}

// x <- Ad(exp(-d)) x on the spherical and free joints.
static void carry_over(const snw_model *m, const double *d, double *x) {
    for (int k = 0; d && k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) continue;
        snw_twist D = {0}, X = {0};
        for (int i = 0; i < b->n; i++) D.e[i] = d[b->dof + i], X.e[i] = x[b->dof + i];
        X = snw_twist_to_child(snw_se3_exp(D), X);
        for (int i = 0; i < b->n; i++) x[b->dof + i] = X.e[i];
    }
}

// step_S (n x n) <- tangent map of the chart.
static void chart_map(snw_linear *l, const snw_linear_step *step, const snw_state *s, double a,
                      double b) {
    const snw_model *m = l->m;
    const int n = step_size(l);
    snw_identity(n, l->step_S);
    if (!step->d || m->nlie_block == 0) return;
    snw_chart_jacobian(m, SNW_CHART_SE3, step->d, a, b, s, l->chart);
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *block = &m->block[k];
        if (block->space == SNW_SPACE_RN) continue;
        const double *S = l->chart + 108 * (size_t)block->lie_block;
        for (int i = 0; i < block->n; i++) {
            for (int j = 0; j < block->n; j++)
                snw_column_of(l->step_S, n, block->dof + j)[block->dof + i] = S[i * 6 + j];
        }
    }
}

// ---- variables of first order

// c0, c1 of variable i: those of the trapezoidal rule, or of Euler's where the branches take it.
static void memory_rule(const snw_linear *l, const snw_linear_step *step, int i, double *c0,
                        double *c1) {
    const double h = step->h;
    *c0 = *c1 = 0.5 * h;
    if (l->memory_of[i].role != SNW_STATE_BRANCH) return;
    const double time = snw_relaxation_place(l->m, l->memory_of[i].index).time;
    const bool euler = snw_implicit_scheme(step->scheme, step->rho, step->alpha).order == 1;
    if (euler || snw_relaxation_takes_euler(h, time)) *c0 = 0, *c1 = h;
}

// y (ni) += c times the rates of the variables by places x and rates v (n each).
static void add_rates(const snw_linear *l, const double *c, const double *x, const double *v,
                      double *y) {
    const int n = step_size(l);
    for (int i = 0; i < l->ni; i++) {
        const double *R = l->step_R + 2 * (size_t)n * (size_t)i;
        y[i] += c[i] * (snw_vector_dot(n, R, x) + snw_vector_dot(n, R + n, v));
    }
}

// step_F, step_R <- forces and rates of the variables in the directions.
static void project_memory(snw_linear *l) {
    const size_t nv = (size_t)l->m->nv, n = (size_t)step_size(l);
    for (size_t j = 0; j < (size_t)l->ni; j++) {
        const double *R = l->R + 2 * nv * j;
        for (size_t i = 0; i < n; i++) {
            const double *x = direction(l, (int)i);
            l->step_F[j * n + i] = snw_vector_dot((int)nv, x, l->F + nv * j);
            l->step_R[2 * n * j + i] = snw_vector_dot((int)nv, x, R);
            l->step_R[2 * n * j + n + i] = snw_vector_dot((int)nv, x, R + nv);
        }
    }
}

// step_E, step_rule <- of the variables; step_K, step_D <- with those at the end of the step, which
// follow.
static snw_status reduce_memory(snw_linear *l, const snw_linear_step *step, snw_error *err) {
    const size_t n = (size_t)step_size(l), ni = (size_t)l->ni;
    double *y = l->step_memory;
    project_memory(l);
    for (size_t j = 0; j < ni; j++)
        memory_rule(l, step, (int)j, &l->step_rule[j], &l->step_rule[ni + j]);
    for (size_t j = 0; j < ni; j++) {
        for (size_t i = 0; i < ni; i++)
            l->step_E[j * ni + i] = (i == j) - l->step_rule[ni + i] * l->Q[j * ni + i];
    }
    if (snw_lu_factor((int)ni, l->step_E, l->step_memory_pivot) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR, "the step has no solution for the states of laws");
    for (size_t j = 0; j < n; j++) {
        for (size_t rate = 0; rate < 2; rate++) {
            for (size_t i = 0; i < ni; i++)
                y[i] = l->step_rule[ni + i] * l->step_R[2 * n * i + rate * n + j];
            snw_lu_solve((int)ni, l->step_E, l->step_memory_pivot, y);
            linear_add_product((int)n, (int)ni, -1, l->step_F, y,
                               (rate ? l->step_D : l->step_K) + n * j);
        }
    }
    return SNW_OK;
}

// h0 (ni) <- y_0 + c0 y'_0 at the start of a step.
static void memory_past(const snw_linear *l, const double *past, const double *y0, double *h0) {
    const int n = step_size(l), ni = l->ni;
    for (int i = 0; i < ni; i++) {
        h0[i] = y0[i];
        for (int j = 0; j < ni; j++)
            h0[i] += l->step_rule[i] * l->Q[(size_t)j * (size_t)ni + (size_t)i] * y0[j];
    }
    add_rates(l, l->step_rule, past + SNW_PAST_PLACE * n, past + SNW_PAST_RATE * n, h0);
}

// ---- schemes with increments

// A unit of an input: what it changes in a step.
typedef struct step_input {
    const double *force; // n; NULL: nothing at all
    // rows that hold, nconstraint, and of driven coordinates their rates and second rates; NULL:
    // none but `row`
    const double *shift, *shift_rate, *shift_acc;
    int row;        // row of a given coordinate, -1: none
    double unit;    // by which it moves
    int dof;        // coordinate whose rate or acceleration it is, -1: none
    int derivative; // 1, 2
} step_input;

// Coordinate that a row drives; -1: that of a tendon or chamber.
static int driven_by(const snw_model *m, int row) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row == row) return m->drive[i].dof;
    }
    return -1;
}

// Column k; the reduced equations have given coordinates among the forces.
static step_input input_of(const snw_linear *l, int k) {
    const snw_linear_input *input = &l->input[l->of_input[k]];
    step_input u = {.force = l->step_G + (size_t)step_size(l) * (size_t)k, .row = -1, .dof = -1};
    if (!l->bordered) return u;
    if (input->kind == SNW_LINEAR_OTHER) {
        u.shift = input->shift;
        u.shift_rate = input->shift_rate, u.shift_acc = input->shift_acc;
    }
    if (input->kind != SNW_LINEAR_GIVEN) return u;
    u.unit = input->unit;
    u.derivative = l->derivative[k];
    if (u.derivative == 0) {
        u.row = input->row;
    } else {
        u.dof = driven_by(l->m, input->row);
    }
    return u;
}

// Image of a past (SNW_PAST_PARTS x n, then the ni variables of first order) and an input: next,
// likewise.
static void step_image(const snw_linear *l, const snw_linear_step *step, const step_scheme *c,
                       const double *past, const step_input *u, double *next) {
    const int n = step_size(l), nr = l->bordered ? l->m->nconstraint : 0, ni = l->ni;
    double *f = l->step_line, *g = f + n, *place = f + 2 * n, *scratch = f + 3 * n;
    double *d = l->step_T + (size_t)(n + nr) * (size_t)(n + nr) + SNW_PAST_PARTS * (size_t)n +
                (size_t)ni; // and lambda
    double *h0 = l->step_memory, *y = h0 + ni;
    memcpy(place, past, (size_t)n * sizeof *place);
    carry_over(l->m, step->d, place);
    for (int i = 0; i < n; i++) {
        f[i] = g[i] = 0;
        d[i] = u->force ? u->force[i] : 0;
        for (int k = SNW_PAST_RATE; k < SNW_PAST_PARTS && !(l->bordered && l->step_driven[i]);
             k++) {
            f[i] += c->by.f[k] * past[k * n + i];
            g[i] += c->by.g[k] * past[k * n + i];
        }
    }
    if (u->dof >= 0) *(u->derivative == 1 ? f + u->dof : g + u->dof) = u->unit;
    for (int k = 0; k < l->m->ndrive && u->shift; k++) { // rates that laws give
        const int row = l->m->drive[k].row, dof = l->m->drive[k].dof;
        if (row < 0 || !l->step_driven[dof]) continue;
        const double of_row = l->C[(size_t)n * (size_t)row + (size_t)dof];
        f[dof] = u->shift_rate[row] / of_row;
        g[dof] = u->shift_acc[row] / of_row;
    }
    linear_add_product(n, n, -1, l->step_K, place, d);
    linear_add_product(n, n, -1, l->step_D, f, d);
    linear_add_product(n, n, -1, l->step_M, g, d);
    if (ni > 0) {
        memory_past(l, past, past + SNW_PAST_PARTS * n, h0);
        memcpy(y, h0, (size_t)ni * sizeof *y);
        snw_lu_solve(ni, l->step_E, l->step_memory_pivot, y);
        linear_add_product(n, ni, 1, l->step_F, y, d);
    }
    for (int k = 0; k < nr; k++) {
        d[n + k] = snw_vector_dot(n, l->C + (size_t)n * (size_t)k, place);
        d[n + k] -= k == u->row ? u->unit : u->shift ? u->shift[k] : 0;
    }
    snw_lu_solve(n + nr, l->step_T, l->step_pivot, d);
    memset(scratch, 0, (size_t)n * sizeof *scratch);
    linear_add_product(n, n, 1, l->step_S, d, scratch);
    for (int i = 0; i < n; i++) {
        const bool driven = l->bordered && l->step_driven[i]; // with the rates of its law
        const double rate = (driven ? 0 : c->by.a * d[i]) + f[i],
                     acc = (driven ? 0 : c->by.b * d[i]) + g[i];
        next[SNW_PAST_PLACE * n + i] = place[i] + scratch[i];
        next[SNW_PAST_RATE * n + i] = rate;
        next[SNW_PAST_ACCELERATION * n + i] = acc;
        double pseudo = c->by.pseudo_acc * acc;
        for (int k = SNW_PAST_RATE; k < SNW_PAST_PARTS; k++)
            pseudo += c->by.pseudo[k] * past[k * n + i];
        next[SNW_PAST_PSEUDO * n + i] = pseudo;
        next[SNW_PAST_INCREMENT * n + i] = d[i];
        next[SNW_PAST_RATE_BEFORE * n + i] = past[SNW_PAST_RATE * n + i];
    }
    if (ni == 0) return;
    add_rates(l, l->step_rule + ni, next + SNW_PAST_PLACE * n, next + SNW_PAST_RATE * n, h0);
    snw_lu_solve(ni, l->step_E, l->step_memory_pivot, h0);
    memcpy(next + SNW_PAST_PARTS * n, h0, (size_t)ni * sizeof *h0);
}

// column (nx) of kept parts <- of all parts and the ni variables of first order
static void keep_parts(const step_scheme *c, int n, int ni, const double *all, double *out) {
    for (int k = 0; k < SNW_PAST_PARTS; k++) {
        if (!c->keeps[k]) continue;
        memcpy(out, all + k * n, (size_t)n * sizeof *out);
        out += n;
    }
    memcpy(out, all + SNW_PAST_PARTS * n, (size_t)ni * sizeof *out);
}

// step_T <- Newton's matrix of the step, bordered by the rows that hold.
static void step_matrix(snw_linear *l, const step_scheme *c) {
    const int n = step_size(l), nr = l->bordered ? l->m->nconstraint : 0;
    const size_t all = (size_t)(n + nr), nn = (size_t)n;
    double *T = l->step_T, *KS = T + all * all; // before it is in place
    memset(T, 0, all * all * sizeof *T);
    for (int j = 0; j < n; j++) {
        const bool driven = l->bordered && l->step_driven[j];
        memset(KS, 0, nn * sizeof *KS);
        linear_add_product(n, n, 1, l->step_K, l->step_S + nn * (size_t)j, KS);
        for (size_t i = 0; i < nn; i++) {
            const size_t at = (size_t)j * nn + i;
            T[(size_t)j * all + i] =
                KS[i] + (driven ? 0 : c->by.a * l->step_D[at] + c->by.b * l->step_M[at]);
        }
    }
    for (size_t k = 0; k < (size_t)nr; k++) {
        const double *row = l->C + nn * k;
        double size = 0;
        for (size_t i = 0; i < nn; i++) {
            size = fmax(size, fabs(row[i]));
            T[(nn + k) * all + i] = -row[i];
            T[i * all + nn + k] = -snw_vector_dot(n, row, l->step_S + nn * i);
        }
        if (size == 0) T[(nn + k) * (all + 1)] = 1; // open
        if (l->step_slip_dof[k] >= 0)
            T[(nn + k) * all + (size_t)l->step_slip_dof[k]] += l->step_slip[k];
    }
}

static snw_status increments(snw_linear *l, const snw_linear_step *step, const step_scheme *c,
                             const snw_state *s, snw_error *err) {
    const int n = step_size(l), nr = l->bordered ? l->m->nconstraint : 0;
    double *const past = l->step_line + 5 * n;
    chart_map(l, step, s, c->by.a, c->by.b);
    step_matrix(l, c);
    if (snw_lu_factor(n + nr, l->step_T, l->step_pivot) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR, "the matrix of the step is singular");
    // image behind the factors
    double *const image = l->step_T + (size_t)(n + nr) * (size_t)(n + nr);
    const int all = SNW_PAST_PARTS * n + l->ni;
    int nx = l->ni, column = 0;
    for (int k = 0; k < SNW_PAST_PARTS; k++) nx += c->keeps[k] ? n : 0;
    const step_input none = {.row = -1, .dof = -1};
    memset(past, 0, (size_t)all * sizeof *past);
    for (int i = 0; i < all; i++) {
        if (i < SNW_PAST_PARTS * n && !c->keeps[i / n]) continue;
        past[i] = 1;
        step_image(l, step, c, past, &none, image);
        past[i] = 0;
        keep_parts(c, n, l->ni, image, l->step_A + (size_t)nx * (size_t)column++);
    }
    for (int i = 0; i < l->nu; i++) {
        const step_input u = input_of(l, i);
        step_image(l, step, c, past, &u, image);
        keep_parts(c, n, l->ni, image, l->step_B + (size_t)nx * (size_t)i);
    }
    return SNW_OK;
}

// Reduced: accelerations at the start follow from displacements, rates and the input, which is
// constant over the step.
static snw_status reduce_states(snw_linear *l, const step_scheme *c, snw_error *err) {
    const size_t n = (size_t)step_size(l), nx = 3 * n, kept = 2 * n;
    if (!c->keeps[SNW_PAST_ACCELERATION] && !c->keeps[SNW_PAST_PSEUDO]) return SNW_OK;
    if (l->ns + l->nd > 0)
        return snw_fail(err, SNW_E_MODEL,
                        "motions without mass have no accelerations, so the step has no reduced "
                        "form; leave out 'reduce'");
    if (snw_cholesky_factor((int)n, l->step_M) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR, "the mass matrix is not positive definite");
    // a_0 = M^-1 (G u - K zeta - D v), column by column
    double *a = l->step_line, *A = l->step_A, *B = l->step_B;
    for (size_t j = 0; j < kept + (size_t)l->nu; j++) {
        for (size_t i = 0; i < n; i++) {
            a[i] = j < n      ? -l->step_K[j * n + i]
                   : j < kept ? -l->step_D[(j - n) * n + i]
                              : l->step_G[(j - kept) * n + i];
        }
        snw_cholesky_solve((int)n, l->step_M, a);
        linear_add_product((int)nx, (int)n, 1, A + kept * nx, a,
                           j < kept ? A + j * nx : B + (j - kept) * nx);
    }
    for (size_t j = 0; j < kept; j++) memmove(A + j * kept, A + j * nx, kept * sizeof *A);
    for (size_t j = 0; j < (size_t)l->nu; j++) memmove(B + j * kept, B + j * nx, kept * sizeof *B);
    return SNW_OK;
}

// ---- collocation

// step_T <- matrix of the accelerations at the stages and, behind them, of the rates of the
// variables of first order there.
static void stage_matrix(snw_linear *l, const snw_collocation *p, double h) {
    const size_t n = (size_t)step_size(l), ni = (size_t)l->ni, s = (size_t)p->s, N = s * (n + ni);
    for (size_t J = 0; J < s; J++) {
        for (size_t I = 0; I < s; I++) {
            const double d = h * p->A[I][J], dd = h * h * p->AA[I][J];
            for (size_t j = 0; j < n; j++) {
                double *column = l->step_T + (J * n + j) * N;
                for (size_t i = 0; i < n; i++) {
                    const size_t at = j * n + i;
                    column[I * n + i] = (I == J ? l->step_M[at] : 0) +
                                        h * p->A[I][J] * l->step_D[at] +
                                        h * h * p->AA[I][J] * l->step_K[at];
                }
                for (size_t k = 0; k < ni; k++)
                    column[s * n + I * ni + k] =
                        -dd * l->step_R[2 * n * k + j] - d * l->step_R[2 * n * k + n + j];
            }
            for (size_t k = 0; k < ni; k++) {
                double *column = l->step_T + (s * n + J * ni + k) * N;
                for (size_t i = 0; i < n; i++) column[I * n + i] = -d * l->step_F[k * n + i];
                for (size_t i = 0; i < ni; i++)
                    column[s * n + I * ni + i] = (I == J && i == k) - d * l->Q[k * ni + i];
            }
        }
    }
}

// X <- right side of a column of the model: a unit of place, rate, variable or input j.
static void stage_forces(const snw_linear *l, const snw_collocation *p, double h, size_t column,
                         double *X) {
    const size_t n = (size_t)step_size(l), ni = (size_t)l->ni, nx = 2 * n + ni, s = (size_t)p->s;
    const bool place = column < n, rate = !place && column < 2 * n, input = column >= nx;
    const size_t j = input ? column - nx : place || rate ? column % n : column - 2 * n;
    for (size_t I = 0; I < s; I++) {
        for (size_t i = 0; i < n; i++) {
            const size_t at = j * n + i;
            X[I * n + i] = place   ? -l->step_K[at]
                           : rate  ? -l->step_D[at] - p->c[I] * h * l->step_K[at]
                           : input ? l->step_G[at]
                                   : l->step_F[at];
        }
        for (size_t k = 0; k < ni; k++) {
            const double *R = l->step_R + 2 * n * k;
            X[s * n + I * ni + k] = place   ? R[j]
                                    : rate  ? R[n + j] + p->c[I] * h * R[j]
                                    : input ? 0
                                            : l->Q[j * ni + k];
        }
    }
}

static snw_status stages(snw_linear *l, const snw_linear_step *step, snw_error *err) {
    const snw_scheme_info *row = &snw_scheme_table[step->scheme];
    const snw_collocation p = snw_collocation_of(row->stages, row->order);
    const size_t n = (size_t)step_size(l), ni = (size_t)l->ni, nx = 2 * n + ni, s = (size_t)p.s;
    const double h = step->h;
    stage_matrix(l, &p, h);
    if (snw_lu_factor((int)(s * (n + ni)), l->step_T, l->step_pivot) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR, "the matrix of the step is singular");
    double *X = l->step_line;
    for (size_t column = 0; column < nx + (size_t)l->nu; column++) {
        const bool rate = column >= n && column < 2 * n;
        stage_forces(l, &p, h, column, X);
        snw_lu_solve((int)(s * (n + ni)), l->step_T, l->step_pivot, X);
        double *to = column < nx ? l->step_A + nx * column : l->step_B + nx * (column - nx);
        for (size_t i = 0; i < n; i++) {
            to[i] = column == i ? 1 : rate && column - n == i ? h : 0;
            to[n + i] = rate && column - n == i;
            for (size_t I = 0; I < s; I++) {
                to[i] += h * h * p.bb[I] * X[I * n + i];
                to[n + i] += h * p.b[I] * X[I * n + i];
            }
        }
        for (size_t i = 0; i < ni; i++) {
            to[2 * n + i] = column == 2 * n + i;
            for (size_t I = 0; I < s; I++) to[2 * n + i] += h * p.b[I] * X[s * n + I * ni + i];
        }
    }
    return SNW_OK;
}

// ---- the model

// Variables of first order in a step: what has no model.
static snw_status check_memory(const snw_linear *l, const snw_linear_step *step, snw_error *err) {
    const snw_scheme_info *row = &snw_scheme_table[step->scheme];
    if (step->reduce && row->family != SNW_FAMILY_COLLOCATION)
        return snw_fail(err, SNW_E_MODEL,
                        "the step of scheme '%s' has no reduced form where laws read integrals or "
                        "states or materials relax; leave out 'reduce'",
                        row->name);
    for (int i = 0; i < l->ni; i++) {
        if (l->moving && l->memory_of[i].role == SNW_STATE_INTEGRAL)
            return snw_fail(err, SNW_E_MODEL,
                            "the step has a linear model about rest only where laws read integrals "
                            "or states; use the continuous one");
        for (int k = 0; k < l->ninput; k++) {
            const double *rate = l->input[k].rate;
            if (!rate || rate[snw_linear_memory_number(l->m, l->memory_of[i])] == 0) continue;
            return snw_fail(
                err, SNW_E_MODEL,
                "a number of the file changes the rate of a state, so it is no input of "
                "a step; use the continuous model");
        }
    }
    return SNW_OK;
}

static snw_status check_step(const snw_linear *l, const snw_linear_step *step, bool one_step,
                             snw_error *err) {
    if (step_size(l) == 0)
        return snw_fail(err, SNW_E_MODEL, "all coordinates are given, so a step has no states");
    const snw_scheme_info *row = &snw_scheme_table[step->scheme];
    const bool family = row->family == SNW_FAMILY_ALPHA || row->family == SNW_FAMILY_COLLOCATION ||
                        (row->family == SNW_FAMILY_LEVELS && row->levels.past < 3);
    if (!family) {
        return snw_fail(err, SNW_E_MODEL,
                        "the step of scheme '%s' has no linear model; use one of the implicit "
                        "schemes of the strain engine, such as generalized-alpha or gauss4",
                        row->name);
    }
    if (row->family == SNW_FAMILY_COLLOCATION && l->moving)
        return snw_fail(err, SNW_E_MODEL,
                        "the step of scheme '%s' has a linear model about rest only with loops, "
                        "wheels or materials that relax; use another scheme, or the continuous "
                        "model",
                        row->name);
    if (row->family == SNW_FAMILY_COLLOCATION && l->ng > 0)
        return snw_fail(err, SNW_E_MODEL,
                        "given coordinates are no inputs of the step of scheme '%s'; use "
                        "generalized-alpha or bdf2, or the continuous model",
                        row->name);
    if (l->bordered && step->reduce)
        return snw_fail(err, SNW_E_MODEL,
                        "the step has no reduced form about a moving point with constraints, nor "
                        "with loops or states of laws and given coordinates as inputs; leave out "
                        "'reduce'");
    if (l->ni > 0) SNW_TRY(check_memory(l, step, err));
    if (step->reduce && !one_step)
        return snw_fail(err, SNW_E_MODEL,
                        "scheme '%s' is no scheme of one step, so it has no reduced form; leave "
                        "out 'reduce'",
                        row->name);
    return SNW_OK;
}

// step_C, and the states: outputs read displacements and rates.
static snw_status step_outputs(snw_linear *l, const step_scheme *c, snw_error *err) {
    static const snw_linear_role role[SNW_PAST_PARTS] = {
        [SNW_PAST_PLACE] = SNW_STATE_COORDINATE,
        [SNW_PAST_RATE] = SNW_STATE_RATE,
        [SNW_PAST_ACCELERATION] = SNW_STATE_ACCELERATION,
        [SNW_PAST_PSEUDO] = SNW_STATE_PSEUDO,
        [SNW_PAST_INCREMENT] = SNW_STATE_INCREMENT,
        [SNW_PAST_RATE_BEFORE] = SNW_STATE_RATE_BEFORE};
    const int n = step_size(l), ny = l->noutput;
    int nx = 0;
    for (int k = 0; k < SNW_PAST_PARTS; k++) {
        for (int i = 0; c->keeps[k] && i < n; i++, nx++) {
            const bool massless = i >= l->n1;
            l->step_state[nx] =
                massless && k == SNW_PAST_PLACE
                    ? (snw_linear_state){SNW_STATE_MASSLESS, i - l->n1}
                    : (snw_linear_state){role[k], massless ? -1 : l->independent[i]};
            double *to = snw_column_of(l->step_C, ny, nx);
            for (int j = 0; j < ny; j++) to[j] = 0;
            if (k > SNW_PAST_RATE || massless) continue;
            const double *from = l->outC + (size_t)ny * (size_t)(k * l->n1 + i);
            memcpy(to, from, (size_t)ny * sizeof *to);
        }
    }
    if (l->ns + l->nd > 0 && ny > 0)
        return snw_fail(err, SNW_E_MODEL,
                        "outputs of the step of a robot with motions without mass are not "
                        "supported; leave the outputs out, or use the continuous model");
    for (int i = 0; i < l->ni; i++, nx++) {
        l->step_state[nx] = l->memory_of[i];
        memcpy(snw_column_of(l->step_C, ny, nx),
               l->outC + (size_t)ny * (size_t)(2 * l->n1 + l->nd + i),
               (size_t)ny * sizeof *l->step_C);
    }
    l->result.nx = nx;
    l->result.A = l->step_A;
    l->result.B = l->step_B;
    l->result.C = l->step_C;
    l->result.state = l->step_state;
    return SNW_OK;
}

snw_status snw_linear_discretise(snw_linear *l, const snw_linear_step *step, const snw_state *s,
                                 snw_error *err) {
    const snw_scheme_info *row = &snw_scheme_table[step->scheme];
    const bool collocation = row->family == SNW_FAMILY_COLLOCATION;
    step_scheme c = {.keeps = {[SNW_PAST_PLACE] = true, [SNW_PAST_RATE] = true}};
    if (!collocation && row->family != SNW_FAMILY_ALPHA && row->family != SNW_FAMILY_LEVELS)
        return check_step(l, step, false, err);
    if (!collocation && !(row->family == SNW_FAMILY_LEVELS && row->levels.past > 2))
        c = scheme_of(step);
    SNW_TRY(check_step(l, step,
                       !(c.keeps[SNW_PAST_INCREMENT] ||
                         (c.keeps[SNW_PAST_ACCELERATION] && c.keeps[SNW_PAST_PSEUDO])),
                       err));
    reduce(l, l->d->M, l->step_M);
    reduce(l, l->D, l->step_D);
    reduce(l, l->K, l->step_K);
    reduce_inputs(l);
    if (l->ni > 0 && !collocation) SNW_TRY(reduce_memory(l, step, err));
    if (collocation) {
        project_memory(l);
        SNW_TRY(stages(l, step, err));
    } else {
        SNW_TRY(increments(l, step, &c, s, err));
    }
    if (step->reduce) {
        SNW_TRY(reduce_states(l, &c, err));
        c.keeps[SNW_PAST_ACCELERATION] = c.keeps[SNW_PAST_PSEUDO] = false;
    }
    return step_outputs(l, &c, err);
}

// ---- all coordinates as states

bool linear_needs_balance(snw_probe_kind kind) {
    return kind == SNW_PROBE_ACCELERATION || kind == SNW_PROBE_WRENCH ||
           kind == SNW_PROBE_REACTION || kind == SNW_PROBE_EFFORT || kind == SNW_PROBE_POWER ||
           kind == SNW_PROBE_TENSION || kind == SNW_PROBE_PRESSURE || kind == SNW_PROBE_PULL ||
           kind == SNW_PROBE_LAW; // a law may read one of these
}

static snw_status check_bordered(const snw_linear *l, snw_error *err) {
    for (int i = 0; i < l->noutput; i++) {
        const snw_probe_desc *p = &l->m->desc->probe[l->output[i].probe];
        if (!linear_needs_balance(p->kind) || l->output[i].optional) continue;
        if (p->kind == SNW_PROBE_TENSION)
            return snw_fail(err, SNW_E_MODEL,
                            "probe '%s': the tension of a tendon or cable of given length is no "
                            "output of a step; give it a 'compliance', take the continuous model, "
                            "or leave it out",
                            p->name);
        return snw_fail(err, SNW_E_MODEL,
                        "probe '%s' reads accelerations or multipliers; with loops, given or "
                        "massless coordinates it is no output of a step: leave it out",
                        p->name);
    }
    return SNW_OK;
}

void linear_all_columns(snw_linear *l, const snw_state *s) {
    const int nv = l->m->nv;
    const size_t all = (size_t)nv * (size_t)(2 * nv + l->ni + 3 * l->ninput) * sizeof *l->x;
    memset(l->x, 0, all);
    memset(l->x1, 0, all);
    memset(l->dv, 0, all);
    memset(l->da, 0, all);
    l->nx = 2 * nv + l->ni;
    for (int i = 0; i < l->ni; i++) l->state[2 * nv + i] = l->memory_of[i];
    for (int i = 0; i < nv; i++) {
        l->independent[i] = i;
        double *x = snw_column_of(l->x, nv, i), *x1 = snw_column_of(l->x1, nv, i);
        x[i] = 1;
        linear_adjoint(l->m, s->v, x, x1);
        for (int j = 0; j < nv; j++) x1[j] = -x1[j];
        snw_column_of(l->x1, nv, nv + i)[i] = snw_column_of(l->dv, nv, nv + i)[i] = 1;
        l->state[i] = (snw_linear_state){SNW_STATE_COORDINATE, i};
        l->state[nv + i] = (snw_linear_state){SNW_STATE_RATE, i};
    }
    l->nu = 0;
    for (int i = 0; i < l->ninput; i++) {
        const bool given = l->input[i].kind == SNW_LINEAR_GIVEN;
        const int last = given && driven_by(l->m, l->input[i].row) >= 0 ? 2 : 0;
        for (int k = 0; k <= last; k++) {
            l->of_input[l->nu] = i;
            l->derivative[l->nu++] = k;
        }
    }
}

static snw_status solve_bordered(snw_linear *l, const snw_linear_step *step, const snw_inputs *in,
                                 const snw_state *s, const snw_vec3 *rotation, snw_work *w,
                                 snw_error *err) {
    const snw_model *m = l->m;
    const size_t square = (size_t)m->nv * (size_t)m->nv * sizeof *l->K;
    l->bordered = true;
    SNW_TRY(linear_tangents(l, in, s, w, err));
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        l->step_slip[k] = c.slip;
        l->step_slip_dof[k] = c.slip_dof;
    }
    l->full = true;
    l->n1 = m->nv;
    l->ns = l->nd = 0;
    l->result.nidle = 0;
    SNW_TRY(check_bordered(l, err));
    SNW_TRY(check_step(l, step, false, err));
    linear_fix_velocities(l, s);
    linear_all_columns(l, s);
    SNW_TRY(linear_outputs(l, in, s, rotation, w, err));
    memcpy(l->step_M, l->d->M, square);
    memcpy(l->step_D, l->D, square);
    memcpy(l->step_K, l->K, square);
    for (int k = 0; k < l->nu; k++)
        memcpy(snw_column_of(l->step_G, m->nv, k), snw_column_of(l->G, m->nv, l->of_input[k]),
               (size_t)m->nv * sizeof *l->G);
    for (int i = 0; i < m->nv; i++) l->step_driven[i] = false;
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_drive_holds(m, s, i)) l->step_driven[m->drive[i].dof] = true;
    }
    const step_scheme c = scheme_of(step);
    snw_identity(m->nv, l->N);
    if (l->ni > 0) SNW_TRY(reduce_memory(l, step, err));
    SNW_TRY(increments(l, step, &c, s, err));
    l->result.nu = l->nu;
    l->result.ny = l->noutput;
    l->result.D = l->outD;
    l->result.of_input = l->of_input;
    l->result.derivative = l->derivative;
    return step_outputs(l, &c, err);
}

snw_status snw_linear_solve_step(snw_linear *l, const snw_linear_step *step, const snw_inputs *in,
                                 const snw_state *s, const snw_vec3 *rotation, snw_work *w,
                                 snw_error *err) {
    if (l->m->nconstraint == 0) {
        SNW_TRY(snw_linear_solve(l, in, s, rotation, w, err));
        if (l->full) return snw_linear_discretise(l, step, s, err);
    }
    return solve_bordered(l, step, in, s, rotation, w, err);
}

bool snw_linear_needs_all(const snw_linear *l) {
    const bool loops = l->m->nconstraint > l->m->ndrive;
    return (l->moving && !l->full) || (l->ng > 0 && (loops || l->ni > 0));
}

const double *snw_linear_continuous(const snw_linear *l, int *nx) {
    *nx = l->nx;
    return l->A;
}
