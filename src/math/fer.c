// SPDX-License-Identifier: MIT
//
// Fer expansion of g' = g xi^ on one segment of length h with its exact derivatives, theory.md
// (3.1b). The factors stand in the reverse of the order of the textbooks, which have Y' = A Y:
//
//   g(x + h) = g(x) exp(F_1) exp(F_0),   F_0 = h sum b_j xi_j,
//   order 2   F_1 = 0, two Gauss points
//   order 4   F_1 = C + [F_0, C]/2,   C = sqrt(3) h^2/12 [xi_1, xi_2]
//   order 6   F_1 = h sum_j b_j phi(ad_{f_j}) xi_j,  f_j = h sum_k a_jk xi_k,
//             phi(z) = z/2 + z^2/3 + z^3/8 + z^4/30, three Gauss points with their collocation
//             tableau a.
//
// F_1 is a list of brackets (bracket.h). All users of a rule know a slice as exp(W), so the two
// factors are composed, W = log(exp(F_1) exp(F_0)). With T the tangent map of the exponential
// (se3_tangent.h) and E = Ad(exp(-F_0)) the body variation of the composed pose is
//
//   T(W) dW = B dz = E T(F_1) dF_1 + T(F_0) dF_0,   hence   dW/dz = T(W)^-1 B.
//
// A wrench p conjugate to W is F = T(W)^-T p on the pose. The second derivative of W follows from
// that of the virtual work of F: with N(W, F) = d(T(W)' F)/dW and F_i, Y_i = dF_i/dz,
//
//   Hess_p(W) + Y' N(W, F) Y = Hess_{p_1}(F_1) + Y_1' N(F_1, E'F) Y_1 + Y_0' N(F_0, F) Y_0
//                              - (E T(F_1) Y_1)' coad(F) T(F_0) Y_0,   p_1 = T(F_1)' E' F.
//
// All 6x6 matrices are 3x3 matrices over the dual numbers (dual.h).
#include "math/fer.h"

#include "math/dual.h"
#include "math/quadrature.h"
#include "math/se3_tangent.h"

// ---- construction ------------------------------------------------------------------------------

static void fer_fourth(snw_brackets *p) {
    static const double C[] = {1, 0.14433756729740644113}; // sqrt(3)/12
    const double half[] = {0.5, 0.5};
    const int leaf[] = {0, 1};
    const int F0 = snw_brackets_sum(p, 2, leaf, half);
    const int xx = snw_brackets_bracket(p, 0, 1);
    const int c = snw_brackets_sum(p, 1, &xx, &C[1]);
    const int of[] = {c, snw_brackets_bracket(p, F0, c)};
    (void)snw_brackets_sum(p, 2, of, (const double[]){1, 0.5});
}

static void fer_sixth(snw_brackets *p, const double *c, const double *b) {
    static const double phi[] = {1.0 / 2, 1.0 / 3, 1.0 / 8, 1.0 / 30};
    const int leaf[] = {0, 1, 2};
    int of[12];
    double weight[12];
    for (int j = 0; j < 3; j++) {
        double a[3];
        for (int k = 0; k < 3; k++) a[k] = snw_lagrange_integral(3, c, k, c[j]);
        const int f = snw_brackets_sum(p, 3, leaf, a);
        for (int k = 0, x = j; k < 4; k++) {
            x = snw_brackets_bracket(p, f, x);
            of[4 * j + k] = x;
            weight[4 * j + k] = b[j] * phi[k];
        }
    }
    (void)snw_brackets_sum(p, 12, of, weight);
}

snw_status snw_rule_fer(snw_pool *pool, snw_rule *out) {
    out->order = out->number;
    out->nc = out->number == 6 ? 3 : 2;
    snw_gauss(out->nc, out->c, out->b);
    if (out->number == 2) return SNW_OK;
    const snw_status s = snw_brackets_begin(pool, out->nc, 32, &out->brackets);
    if (s != SNW_OK) return s;
    if (out->number == 4) {
        fer_fourth(&out->brackets);
    } else {
        fer_sixth(&out->brackets, out->c, out->b);
    }
    return SNW_OK;
}

// ---- value and rates ---------------------------------------------------------------------------

// F0, F1 <- the exponents with `levels` levels of rates
static void fer_exponents(const snw_rule *rule, int levels, double h, const snw_twist *const *xi,
                          snw_twist *F0, snw_twist *F1) {
    for (int l = 0; l < levels; l++) {
        F0[l] = F1[l] = snw_twist_zero();
        for (int c = 0; c < rule->nc; c++) F0[l] = snw_twist_axpy(h * rule->b[c], xi[l][c], F0[l]);
    }
    if (rule->number > 2) snw_brackets_rates(&rule->brackets, levels, h, xi, F1);
}

// log(exp(F1) exp(F0))
static snw_twist fer_compose(const snw_rule *rule, snw_twist F1, snw_twist F0) {
    if (rule->number == 2) return F0;
    return snw_se3_log(snw_se3_mul(snw_se3_exp(F1), snw_se3_exp(F0)));
}

snw_twist snw_fer(const snw_rule *rule, double h, const snw_twist *xi) {
    snw_twist F0, F1;
    fer_exponents(rule, 1, h, &xi, &F0, &F1);
    return fer_compose(rule, F1, F0);
}

// W[0..2] from the jets of both exponents
static void fer_compose_rates(const snw_rule *rule, const snw_twist *F0, const snw_twist *F1,
                              snw_twist *W) {
    W[0] = fer_compose(rule, F1[0], F0[0]);
    snw_lower T;
    snw_twist u0, du0, u1, du1;
    snw_se3_exp_rates(F0[0], F0[1], F0[2], &T, &u0, &du0);
    snw_se3_exp_rates(F1[0], F1[1], F1[2], &T, &u1, &du1);
    // body velocity and acceleration of the composed pose
    const snw_se3 g = snw_se3_exp(F0[0]);
    const snw_twist Eu = snw_twist_to_child(g, u1);
    const snw_twist u = snw_twist_add(Eu, u0);
    const snw_twist du =
        snw_twist_sub(snw_twist_add(snw_twist_to_child(g, du1), du0), snw_ad(u0, Eu));
    const snw_lower inverse = snw_se3_tangent_inv(W[0]);
    W[1] = snw_lower_apply(&inverse, u);
    W[2] = snw_twist_add(snw_lower_apply(&inverse, du), snw_se3_tangent_inv_d1(W[0], u, W[1]));
}

void snw_fer_rates(const snw_rule *rule, double h, const snw_twist *const *xi, snw_twist *W) {
    snw_twist F0[3], F1[3];
    fer_exponents(rule, 3, h, xi, F0, F1);
    fer_compose_rates(rule, F0, F1, W);
}

void snw_fer_pull(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p,
                  snw_wrench *p_c) {
    snw_twist F0, F1;
    fer_exponents(rule, 1, h, &xi, &F0, &F1);
    if (rule->number == 2) {
        for (int c = 0; c < rule->nc; c++) p_c[c] = snw_wrench_scale(h * rule->b[c], p);
        return;
    }
    const snw_lower inverse = snw_se3_tangent_inv(fer_compose(rule, F1, F0));
    const snw_lower T0 = snw_se3_tangent(F0), T1 = snw_se3_tangent(F1);
    const snw_wrench F = snw_lower_pull(&inverse, p);
    const snw_wrench p_0 = snw_lower_pull(&T0, F);
    const snw_wrench p_1 = snw_lower_pull(&T1, snw_wrench_to_parent(snw_se3_exp(F0), F));
    snw_brackets_pull(&rule->brackets, h, xi, p_1, p_c);
    for (int c = 0; c < rule->nc; c++) p_c[c] = snw_wrench_axpy(h * rule->b[c], p_0, p_c[c]);
}

// ---- Jacobian ----------------------------------------------------------------------------------

static snw_dual33 dual_of_lower(const snw_lower *M) { return (snw_dual33){M->A, M->B}; }

// M + s A B
static snw_dual33 dual_product_add(double s, const snw_dual33 *A, const snw_dual33 *B,
                                   const snw_dual33 *M) {
    const snw_dual33 P = {snw_mat3_mul(A->r, B->r),
                          snw_mat3_add(snw_mat3_mul(A->r, B->d), snw_mat3_mul(A->d, B->r))};
    return snw_dual_combine(1, M, s, &P);
}

// C <- A B with its rates
static void dual_product_jet(int levels, const snw_dual33 *A, const snw_dual33 *B, snw_dual33 *C) {
    static const double binomial[3][3] = {{1}, {1, 1}, {1, 2, 1}};
    for (int l = 0; l < levels; l++) {
        C[l] = (snw_dual33){0};
        for (int k = 0; k <= l; k++) {
            C[l] = dual_product_add(binomial[l][k], &A[k], &B[l - k], &C[l]);
        }
    }
}

// Matrices by which the Jacobian of W follows from that of F_1, with rates.
typedef struct fer_maps {
    snw_twist F0[3], F1[3], W[3];
    snw_dual33 T0[3], M[3]; // T(F_0); E T(F_1)
    snw_dual33 T[3], inverse;
} fer_maps;

static void tangent_jet(int levels, const snw_twist *F, snw_dual33 *T) {
    snw_lower L[3];
    if (levels == 1) {
        L[0] = snw_se3_tangent(F[0]);
    } else {
        snw_se3_tangent_jet(F[0], F[1], F[2], &L[0], &L[1], &L[2]);
    }
    for (int l = 0; l < levels; l++) T[l] = dual_of_lower(&L[l]);
}

static void fer_maps_at(const snw_rule *rule, int levels, double h, const snw_twist *const *xi,
                        fer_maps *f) {
    fer_exponents(rule, levels, h, xi, f->F0, f->F1);
    if (levels == 1) {
        f->W[0] = fer_compose(rule, f->F1[0], f->F0[0]);
    } else {
        fer_compose_rates(rule, f->F0, f->F1, f->W);
    }
    snw_dual33 T1[3], E[3] = {0};
    tangent_jet(levels, f->F0, f->T0);
    tangent_jet(levels, f->F1, T1);
    tangent_jet(levels, f->W, f->T);
    const snw_lower inverse = snw_se3_tangent_inv(f->W[0]);
    f->inverse = dual_of_lower(&inverse);
    // E = Ad(exp(-F_0)) with dE/dt = -u^ E, u the body velocity of exp(F_0)
    const snw_se3 g = snw_se3_inv(snw_se3_exp(f->F0[0]));
    E[0] = (snw_dual33){g.R, snw_mat3_mul(snw_hat(g.p), g.R)};
    if (levels > 1) {
        snw_lower T;
        snw_twist u, du;
        snw_se3_exp_rates(f->F0[0], f->F0[1], f->F0[2], &T, &u, &du);
        snw_dual_hat_add(-1, snw_dual_of_twist(u), &E[0], &E[1]);
        snw_dual_hat_add(-1, snw_dual_of_twist(du), &E[0], &E[2]);
        snw_dual_hat_add(-1, snw_dual_of_twist(u), &E[1], &E[2]);
    }
    dual_product_jet(levels, E, T1, f->M);
}

// Y (levels) <- dW/dxi_c with rates, from Y1 = dF_1/dxi_c: T Y = M Y1 + h b_c T0
static void fer_block(int levels, const fer_maps *f, double hb, const snw_dual33 *Y1,
                      snw_dual33 *Y) {
    snw_dual33 B[3];
    const snw_dual33 none = {0};
    dual_product_jet(levels, f->M, Y1, B);
    for (int l = 0; l < levels; l++) B[l] = snw_dual_combine(1, &B[l], hb, &f->T0[l]);
    Y[0] = dual_product_add(1, &f->inverse, &B[0], &none);
    if (levels < 2) return;
    B[1] = dual_product_add(-1, &f->T[1], &Y[0], &B[1]);
    Y[1] = dual_product_add(1, &f->inverse, &B[1], &none);
    B[2] = dual_product_add(-1, &f->T[2], &Y[0], &B[2]);
    B[2] = dual_product_add(-2, &f->T[1], &Y[1], &B[2]);
    Y[2] = dual_product_add(1, &f->inverse, &B[2], &none);
}

void snw_fer_jacobian(const snw_rule *rule, int levels, double h, const snw_twist *const *xi,
                      double *const *Y) {
    if (rule->number == 2) {
        for (int l = 0; l < levels; l++) {
            for (int c = 0; c < rule->nc; c++) {
                const double hb = l == 0 ? h * rule->b[c] : 0;
                const snw_dual33 unit = snw_dual_hat(hb, 0, (snw_dual3){0});
                snw_dual_put_block(&unit, c, Y[l]);
            }
        }
        return;
    }
    fer_maps f;
    fer_maps_at(rule, levels, h, xi, &f);
    snw_brackets_jacobian(&rule->brackets, levels, h, xi, Y);
    for (int c = 0; c < rule->nc; c++) {
        snw_dual33 Y1[3], block[3];
        for (int l = 0; l < levels; l++) Y1[l] = snw_dual_get_block(Y[l], c);
        fer_block(levels, &f, h * rule->b[c], Y1, block);
        for (int l = 0; l < levels; l++) snw_dual_put_block(&block[l], c, Y[l]);
    }
}

// ---- Hessian -----------------------------------------------------------------------------------

// N(W, F) = d(T(W)' F)/dW as a form
static snw_dual33 tangent_pull_form(snw_twist W, snw_wrench F) {
    double N[36];
    snw_dual33 J;
    snw_se3_tangent_pull_gradient(W, F, N);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) J.d.e[i][j] = N[6 * i + j], J.r.e[i][j] = N[6 * i + 3 + j];
    }
    return J;
}

// V <- V + s A' J B
static void dual_form_add(double s, const snw_dual33 *A, const snw_dual33 *J, const snw_dual33 *B,
                          snw_dual33 *V) {
    const snw_dual33 none = {0};
    snw_dual33 JB = dual_product_add(s, J, B, &none);
    snw_dual_transpose_add(A, &JB, V);
}

void snw_fer_hessian(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p, double *G) {
    const snw_dual33 none = {0};
    if (rule->number == 2) {
        for (int c = 0; c < rule->nc; c++) {
            for (int b = 0; b <= c; b++) snw_dual_put_form(&none, b, c, G);
        }
        return;
    }
    fer_maps f;
    fer_maps_at(rule, 1, h, &xi, &f);
    const snw_lower inverse = snw_se3_tangent_inv(f.W[0]), T1 = snw_se3_tangent(f.F1[0]);
    const snw_wrench F = snw_lower_pull(&inverse, p);
    const snw_wrench F_1 = snw_wrench_to_parent(snw_se3_exp(f.F0[0]), F);
    const snw_dual33 N = tangent_pull_form(f.W[0], F), N0 = tangent_pull_form(f.F0[0], F),
                     N1 = tangent_pull_form(f.F1[0], F_1);
    const snw_dual33 coad = snw_dual_hat(0, 1, snw_dual_of_wrench(F));
    double J[6 * SNW_MAGNUS_LD], *to = J;
    snw_brackets_jacobian(&rule->brackets, 1, h, &xi, &to);
    snw_brackets_hessian(&rule->brackets, h, xi, snw_lower_pull(&T1, F_1), G);
    snw_dual33 Y1[3], Y[3], Y0[3], S1[3], S0[3], V[3][3] = {0};
    for (int c = 0; c < rule->nc; c++) {
        const double hb = h * rule->b[c];
        Y1[c] = snw_dual_get_block(J, c);
        Y0[c] = snw_dual_hat(hb, 0, (snw_dual3){0});
        fer_block(1, &f, hb, &Y1[c], &Y[c]);
        S1[c] = dual_product_add(1, &f.M[0], &Y1[c], &none);
        S0[c] = snw_dual_combine(hb, &f.T0[0], 0, &none);
    }
    for (int b = 0; b < rule->nc; b++) {
        for (int c = 0; c < rule->nc; c++) {
            dual_form_add(1, &Y1[b], &N1, &Y1[c], &V[b][c]);
            dual_form_add(1, &Y0[b], &N0, &Y0[c], &V[b][c]);
            dual_form_add(-1, &S1[b], &coad, &S0[c], &V[b][c]);
            dual_form_add(-1, &Y[b], &N, &Y[c], &V[b][c]);
        }
    }
    // V is symmetric; the mean with its transpose removes rounding
    double half[SNW_MAGNUS_LD * SNW_MAGNUS_LD];
    const int n = 6 * rule->nc;
    for (int c = 0; c < rule->nc; c++) {
        for (int b = 0; b <= c; b++) {
            const snw_dual33 sum = snw_dual_plus_transpose(&V[b][c], &V[c][b]);
            snw_dual_put_form(&sum, b, c, half);
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            G[i * SNW_MAGNUS_LD + j] += 0.5 * half[i * SNW_MAGNUS_LD + j];
        }
    }
}
