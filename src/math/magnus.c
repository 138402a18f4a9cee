// SPDX-License-Identifier: MIT
//
// Magnus expansion of g' = g xi^ on one segment of length h with its exact derivatives, theory.md
// (3.1). Every commutator has the sign opposite to the classical formulas, which are for Y' = A Y.
// With [a, b] = ad_a b:
//
//   order 2   W = h xi_1
//   order 4   W = h/2 (xi_1 + xi_2) + c [xi_1, xi_2],   c = sqrt(3) h^2 / 12
//   order 6   a1 = h xi_2,  a2 = k2 (xi_3 - xi_1),  a3 = k3 (xi_3 - 2 xi_2 + xi_1),
//             k2 = sqrt(15) h / 3,  k3 = 10 h / 3
//             C = -[a1, a2],  E = 2 a3 + C,  P = -20 a1 - a3 + C,  Q = a2 + [a1, E] / 60
//             W = a1 + a3 / 12 - [P, Q] / 240
//
// The derivatives of order 6 are cheap for two reasons. First, they are taken in the variables a_i,
// whose own derivatives are identity blocks; the change to xi_c combines whole blocks at the end.
// Second, all blocks are matrices over the dual numbers (math/dual.h), for which Jacobian and
// Hessian need one operation, M <- M + s a^ N.
//
// Time derivatives are stored as jets: arrays of `levels` entries, value, first and second rate.
#include "math/magnus.h"

#include "base/fail.h"
#include "math/magnus_fourth.h"
#include "math/rule_blocks.h"

#define SQRT3  SNW_SQRT3
#define SQRT15 3.8729833462074168852

int snw_magnus_points(int order) {
    SNW_ASSERT(order == 2 || order == 4 || order == 6);
    return order / 2;
}

const double *snw_magnus_abscissae(int order) {
    static const double gauss[3][3] = {
        {0.5},
        {0.5 - SQRT3 / 6, 0.5 + SQRT3 / 6},
        {0.5 - SQRT15 / 10, 0.5, 0.5 + SQRT15 / 10},
    };
    return gauss[snw_magnus_points(order) - 1];
}

// ---- order 6 -----------------------------------------------------------------------------------

// Sub-expressions of order 6, as jets.
typedef struct sixth {
    snw_twist a1[3], a2[3], a3[3], C[3], E[3], P[3], Q[3];
} sixth;

// xi[l] holds level l of the strains at the three points
SNW_INLINE void sixth_eval(int levels, double h, const snw_twist *const *xi, sixth *e) {
    const double k2 = SQRT15 / 3 * h, k3 = 10.0 / 3 * h;
    for (int l = 0; l < levels; l++) {
        const snw_twist *z = xi[l];
        e->a1[l] = snw_twist_scale(h, z[1]);
        e->a2[l] = snw_twist_scale(k2, snw_twist_axpy(-1, z[0], z[2]));
        e->a3[l] = snw_twist_scale(k3, snw_twist_axpy(-2, z[1], snw_twist_add(z[0], z[2])));
    }
    snw_dual_bracket_jet(levels, e->a2, e->a1, e->C);
    for (int l = 0; l < levels; l++) {
        e->E[l] = snw_twist_axpy(2, e->a3[l], e->C[l]);
        e->P[l] = snw_twist_axpy(-1, e->a3[l], snw_twist_axpy(-20, e->a1[l], e->C[l]));
    }
    snw_twist D[3];
    snw_dual_bracket_jet(levels, e->a1, e->E, D);
    for (int l = 0; l < levels; l++) e->Q[l] = snw_twist_axpy(1.0 / 60, D[l], e->a2[l]);
}

SNW_INLINE void sixth_rates(int levels, double h, const snw_twist *const *xi, snw_twist *W) {
    sixth e;
    sixth_eval(levels, h, xi, &e);
    snw_twist D[3];
    snw_dual_bracket_jet(levels, e.P, e.Q, D);
    for (int l = 0; l < levels; l++) {
        W[l] = snw_twist_axpy(-1.0 / 240, D[l], snw_twist_axpy(1.0 / 12, e.a3[l], e.a1[l]));
    }
}

// Q_i = dQ/da_i: (a1^ a2^ - E^) / 60,  1 - a1^ a1^ / 60,  a1^ / 30
static inline void sixth_gradient_Q(int levels, const sixth *e, snw_dual33 *Q1, snw_dual33 *Q2,
                                    snw_dual33 *Q3) {
    snw_dual33 A1[3], A2[3];
    for (int l = 0; l < levels; l++) {
        const snw_dual3 a1 = snw_dual_of_twist(e->a1[l]);
        A1[l] = snw_dual_hat(0, 1, a1);
        A2[l] = snw_dual_hat(0, 1, snw_dual_of_twist(e->a2[l]));
        Q1[l] = snw_dual_hat(0, -1.0 / 60, snw_dual_of_twist(e->E[l]));
        Q2[l] = snw_dual_hat(l == 0, 0, a1);
        Q3[l] = snw_dual_hat(0, 1.0 / 30, a1);
    }
    snw_dual_hat_add_jet(levels, 1.0 / 60, e->a1, A2, Q1);
    snw_dual_hat_add_jet(levels, -1.0 / 60, e->a1, A1, Q2);
}

// xi <- derivatives with respect to xi_c, from those with respect to a_i
static inline void to_strains(double h, const snw_dual33 *a1, const snw_dual33 *a2,
                              const snw_dual33 *a3, snw_dual33 xi[3]) {
    const double k2 = SQRT15 / 3 * h, k3 = 10.0 / 3 * h;
    xi[0] = snw_dual_combine(-k2, a2, k3, a3);
    xi[1] = snw_dual_combine(h, a1, -2 * k3, a3);
    xi[2] = snw_dual_combine(k2, a2, k3, a3);
}

// dW/da_i = (1, 0, 1/12)_i - (P^ Q_i - Q^ P_i) / 240,  P_i = -20 + a2^, -a1^, -1
static inline void sixth_jacobian(int levels, double h, const snw_twist *const *xi, snw_dual33 *Y) {
    sixth e;
    sixth_eval(levels, h, xi, &e);
    snw_dual33 P1[3], P2[3], Q1[3], Q2[3], Q3[3], W1[3], W2[3], W3[3];
    sixth_gradient_Q(levels, &e, Q1, Q2, Q3);
    for (int l = 0; l < levels; l++) {
        const double one = l == 0;
        const snw_dual3 a1 = snw_dual_of_twist(e.a1[l]);
        P1[l] = snw_dual_hat(-20 * one, 1, snw_dual_of_twist(e.a2[l]));
        P2[l] = snw_dual_hat(0, -1, a1);
        W1[l] = snw_dual_hat(one, 0, a1);
        W2[l] = snw_dual_hat(0, 0, a1);
        W3[l] = snw_dual_hat(one / 12, -1.0 / 240, snw_dual_of_twist(e.Q[l]));
    }
    snw_dual_hat_add_jet(levels, -1.0 / 240, e.P, Q1, W1);
    snw_dual_hat_add_jet(levels, -1.0 / 240, e.P, Q2, W2);
    snw_dual_hat_add_jet(levels, -1.0 / 240, e.P, Q3, W3);
    snw_dual_hat_add_jet(levels, 1.0 / 240, e.Q, P1, W1);
    snw_dual_hat_add_jet(levels, 1.0 / 240, e.Q, P2, W2);
    for (int l = 0; l < levels; l++) to_strains(h, &W1[l], &W2[l], &W3[l], Y + (ptrdiff_t)3 * l);
}

// reverse differentiation: a wrench p conjugate to [a, b] is -ad_b' p on a and ad_a' p on b
static void sixth_pull(double h, const snw_twist *xi, snw_wrench p, snw_wrench *p_c) {
    sixth e;
    sixth_eval(1, h, &xi, &e);
    const snw_wrench p_PQ = snw_wrench_scale(-1.0 / 240, p);
    const snw_wrench p_P = snw_wrench_scale(-1, snw_ad_pull(e.Q[0], p_PQ));
    const snw_wrench p_Q = snw_ad_pull(e.P[0], p_PQ);
    const snw_wrench p_aE = snw_wrench_scale(1.0 / 60, p_Q);
    const snw_wrench p_E = snw_ad_pull(e.a1[0], p_aE);
    const snw_wrench p_C = snw_wrench_axpy(1, p_E, p_P);

    snw_wrench p_1 = snw_wrench_axpy(-20, p_P, p);
    p_1 = snw_wrench_axpy(-1, snw_ad_pull(e.E[0], p_aE), p_1);
    p_1 = snw_wrench_axpy(1, snw_ad_pull(e.a2[0], p_C), p_1);
    const snw_wrench p_2 = snw_wrench_axpy(-1, snw_ad_pull(e.a1[0], p_C), p_Q);
    const snw_wrench p_3 =
        snw_wrench_axpy(2, p_E, snw_wrench_axpy(-1, p_P, snw_wrench_scale(1.0 / 12, p)));

    const double k2 = SQRT15 / 3 * h, k3 = 10.0 / 3 * h;
    const snw_wrench even = snw_wrench_scale(k3, p_3);
    p_c[0] = snw_wrench_axpy(-k2, p_2, even);
    p_c[1] = snw_wrench_axpy(-2, even, snw_wrench_scale(h, p_1));
    p_c[2] = snw_wrench_axpy(k2, p_2, even);
}

// The product rule for brackets is
//   Hess_p([a, b]) = Hess_{ad_a' p}(b) - Hess_{ad_b' p}(a) + b_z' p^ a_z - a_z' p^ b_z.
// With u = -p/240, t = ad_P' u / 60, s = ad_a1' t - ad_Q' u it gives for W in the variables a_i
//   F = V + V',  V_ij = -P_i' u^ Q_j + (i = 1) (-t^ E_j + (j = 2) s^),
// E_j = a2^, -a1^, 2 and P_i = -20 + a2^, -a1^, -1, Q_j as above (a hat is skew: a^' = -a^).
static void sixth_hessian(double h, const snw_twist *xi, snw_wrench p, snw_dual33 *G) {
    sixth e;
    sixth_eval(1, h, &xi, &e);
    const snw_wrench u = snw_wrench_scale(-1.0 / 240, p);
    const snw_wrench t = snw_wrench_scale(1.0 / 60, snw_ad_pull(e.P[0], u));
    const snw_wrench s = snw_wrench_axpy(-1, snw_ad_pull(e.Q[0], u), snw_ad_pull(e.a1[0], t));
    const snw_dual3 a1 = snw_dual_of_twist(e.a1[0]), a2 = snw_dual_of_twist(e.a2[0]);
    snw_dual33 Q[3];
    sixth_gradient_Q(1, &e, &Q[0], &Q[1], &Q[2]);

    snw_dual33 V[3][3] = {0};
    const snw_dual33 A1 = snw_dual_hat(0, 1, a1), A2 = snw_dual_hat(0, 1, a2);
    snw_dual_hat_add(-1, snw_dual_of_wrench(t), &A2, &V[0][0]);
    V[0][1] = snw_dual_hat(0, 1, snw_dual_of_wrench(s));
    snw_dual_hat_add(1, snw_dual_of_wrench(t), &A1, &V[0][1]);
    V[0][2] = snw_dual_hat(0, -2, snw_dual_of_wrench(t));
    for (int j = 0; j < 3; j++) {
        snw_dual33 *uQ = &V[2][j];
        snw_dual_hat_add(1, snw_dual_of_wrench(u), &Q[j], uQ);
        snw_dual_hat_add(-1, a1, uQ, &V[1][j]);
        snw_dual_hat_add(1, a2, uQ, &V[0][j]);
        V[0][j] = snw_dual_combine(1, &V[0][j], 20, uQ);
    }

    // F by block rows; change of variables to strains on the right, then on the left
    snw_dual33 half[3][3];
    for (int i = 0; i < 3; i++) {
        const snw_dual33 F1 = snw_dual_plus_transpose(&V[i][0], &V[0][i]);
        const snw_dual33 F2 = snw_dual_plus_transpose(&V[i][1], &V[1][i]);
        const snw_dual33 F3 = snw_dual_plus_transpose(&V[i][2], &V[2][i]);
        to_strains(h, &F1, &F2, &F3, half[i]);
    }
    for (int c = 0; c < 3; c++) {
        snw_dual33 column[3];
        to_strains(h, &half[0][c], &half[1][c], &half[2][c], column);
        for (int b = 0; b <= c; b++) G[3 * b + c] = column[b];
    }
}

// ---- order 4 -----------------------------------------------------------------------------------

// Y_1 = half - c xi_2^,  Y_2 = half + c xi_1^; half is h/2, and 0 for the time derivatives
static inline void fourth_jacobian(double half, double c, const snw_twist *xi, snw_dual33 *Y) {
    Y[0] = snw_dual_hat(half, -c, snw_dual_of_twist(xi[1]));
    Y[1] = snw_dual_hat(half, c, snw_dual_of_twist(xi[0]));
}

// ---- all orders --------------------------------------------------------------------------------

snw_twist snw_magnus(int order, double h, const snw_twist *xi) {
    SNW_ASSERT(order == 2 || order == 4 || order == 6);
    if (order == 2) return snw_twist_scale(h, xi[0]);
    if (order == 4) return fourth_value(h, xi[0], xi[1]);
    snw_twist W;
    sixth_rates(1, h, &xi, &W);
    return W;
}

void snw_magnus_rates(int order, double h, const snw_twist *xi, const snw_twist *dxi,
                      const snw_twist *ddxi, snw_twist *W, snw_twist *dW, snw_twist *ddW) {
    SNW_ASSERT(order == 2 || order == 4 || order == 6);
    if (order == 2) {
        *W = snw_twist_scale(h, xi[0]);
        *dW = snw_twist_scale(h, dxi[0]);
        *ddW = snw_twist_scale(h, ddxi[0]);
    } else if (order == 4) {
        fourth_rates(h, xi, dxi, ddxi, W, dW, ddW);
    } else {
        const snw_twist *const z[3] = {xi, dxi, ddxi};
        snw_twist jet[3];
        sixth_rates(3, h, z, jet);
        *W = jet[0], *dW = jet[1], *ddW = jet[2];
    }
}

void snw_magnus_pull(int order, double h, const snw_twist *xi, snw_wrench p, snw_wrench *p_c) {
    SNW_ASSERT(order == 2 || order == 4 || order == 6);
    if (order == 2) {
        p_c[0] = snw_wrench_scale(h, p);
    } else if (order == 4) {
        fourth_pull(h, xi, p, p_c);
    } else {
        sixth_pull(h, xi, p, p_c);
    }
}

void snw_magnus_blocks(int order, int levels, double h, const snw_twist *const *xi, snw_dual33 *Y) {
    SNW_ASSERT(order == 2 || order == 4 || order == 6);
    if (order == 2) {
        for (int l = 0; l < levels; l++)
            Y[l] = snw_dual_hat(l == 0 ? h : 0, 0, snw_dual_of_twist(xi[0][0]));
    } else if (order == 4) {
        for (int l = 0; l < levels; l++)
            fourth_jacobian(l == 0 ? 0.5 * h : 0, fourth_c(h), xi[l], Y + (ptrdiff_t)2 * l);
    } else if (levels == 1) {
        sixth_jacobian(1, h, xi, Y);
    } else {
        sixth_jacobian(3, h, xi, Y);
    }
}

void snw_magnus_forms(int order, double h, const snw_twist *xi, snw_wrench p, snw_dual33 *G) {
    SNW_ASSERT(order == 2 || order == 4 || order == 6);
    const snw_dual33 none = {0};
    if (order == 2) {
        G[0] = none;
    } else if (order == 4) {
        G[0] = G[3] = none;
        G[1] = snw_dual_hat(0, -fourth_c(h), snw_dual_of_wrench(p));
    } else {
        sixth_hessian(h, xi, p, G);
    }
}

// matrices from their blocks
static void magnus_put(int order, int levels, const snw_dual33 *blocks, double *const *Y) {
    const int nc = order / 2;
    for (int l = 0; l < levels; l++) {
        for (int c = 0; c < nc; c++) snw_dual_put_block(&blocks[l * nc + c], c, Y[l]);
    }
}

void snw_magnus_jacobian(int order, double h, const snw_twist *xi, double *Y) {
    snw_dual33 blocks[3];
    snw_magnus_blocks(order, 1, h, &xi, blocks);
    magnus_put(order, 1, blocks, &Y);
}

void snw_magnus_jacobian_rates(int order, double h, const snw_twist *xi, const snw_twist *dxi,
                               const snw_twist *ddxi, double *Y, double *dY, double *ddY) {
    const snw_twist *const z[3] = {xi, dxi, ddxi};
    double *const jet[3] = {Y, dY, ddY};
    snw_dual33 blocks[9];
    snw_magnus_blocks(order, 3, h, z, blocks);
    magnus_put(order, 3, blocks, jet);
}

void snw_magnus_hessian(int order, double h, const snw_twist *xi, snw_wrench p, double *G) {
    const int nc = order / 2;
    snw_dual33 forms[9];
    snw_magnus_forms(order, h, xi, p, forms);
    for (int c = 0; c < nc; c++) {
        for (int b = 0; b <= c; b++) snw_dual_put_form(&forms[nc * b + c], b, c, G);
    }
}
