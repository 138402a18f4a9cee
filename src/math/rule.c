// SPDX-License-Identifier: MIT
//
// Integration rules for the pose along a segment: dispatch to the closed formulas of magnus.c, to
// the composed exponentials of fer.c or to the lists of brackets of munthe_kaas.c.
#include "math/rule_blocks.h"

#include "base/fail.h"
#include "math/fer.h"
#include "math/pose_grid.h"

const char *snw_rule_name(snw_rule_kind kind) {
    static const char *const names[] = {
#define X(code, name, number, meaning) name,
        SNW_RULE_LIST(X)
#undef X
    };
    return names[kind];
}

bool snw_rule_exists(snw_rule_kind kind, int number) {
    switch (kind) {
    case SNW_RULE_MAGNUS:
    case SNW_RULE_FER:
        return number == 2 || number == 4 || number == 6;
    case SNW_RULE_RK4:
    case SNW_RULE_RK45:
        return number == 0;
    case SNW_RULE_SPECTRAL:
        return number >= 2 && number <= 4;
    case SNW_RULE_CHEBYSHEV:
        return number >= 5 && number <= SNW_GRID_MOST;
    }
    return false;
}

#ifndef SNW_DEVICE // models there are copies
snw_status snw_rule_make(snw_pool *pool, snw_rule_kind kind, int number, snw_rule *out) {
    *out = (snw_rule){.kind = kind, .number = number};
    switch (kind) {
    case SNW_RULE_MAGNUS:
        out->order = number;
        out->nc = snw_magnus_points(number);
        for (int i = 0; i < out->nc; i++) out->c[i] = snw_magnus_abscissae(number)[i];
        return SNW_OK;
    case SNW_RULE_FER:
        return snw_rule_fer(pool, out);
    case SNW_RULE_RK4:
        return snw_rule_rk4(pool, out);
    case SNW_RULE_SPECTRAL:
        return snw_rule_spectral(pool, out);
    case SNW_RULE_RK45:
        return snw_rule_rk45(pool, out);
    case SNW_RULE_CHEBYSHEV:
        out->nc = 1;
        out->c[0] = 1;
        return SNW_OK;
    }
    return SNW_E_ARGUMENT;
}
#endif

snw_twist snw_rule_value(const snw_rule *rule, double h, const snw_twist *xi) {
    SNW_ASSERT(rule->kind != SNW_RULE_CHEBYSHEV);
    if (rule->kind == SNW_RULE_MAGNUS) return snw_magnus(rule->order, h, xi);
    if (rule->kind == SNW_RULE_FER) return snw_fer(rule, h, xi);
    snw_twist W;
    snw_brackets_rates(&rule->brackets, 1, h, &xi, &W);
    return W;
}

void snw_rule_rates(const snw_rule *rule, double h, const snw_twist *xi, const snw_twist *dxi,
                    const snw_twist *ddxi, snw_twist *W, snw_twist *dW, snw_twist *ddW) {
    if (rule->kind == SNW_RULE_MAGNUS) {
        snw_magnus_rates(rule->order, h, xi, dxi, ddxi, W, dW, ddW);
        return;
    }
    const snw_twist *const z[3] = {xi, dxi, ddxi};
    snw_twist jet[3];
    if (rule->kind == SNW_RULE_FER) {
        snw_fer_rates(rule, h, z, jet);
    } else {
        snw_brackets_rates(&rule->brackets, 3, h, z, jet);
    }
    *W = jet[0], *dW = jet[1], *ddW = jet[2];
}

void snw_rule_errors(const snw_rule *rule, double h, const snw_twist *xi, const snw_twist *dxi,
                     const snw_twist *ddxi, snw_twist E[3]) {
    SNW_ASSERT(rule->kind == SNW_RULE_RK45);
    const snw_twist *const z[3] = {xi, dxi, ddxi};
    snw_brackets_rates(&rule->error, 3, h, z, E);
}

void snw_rule_pull(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p,
                   snw_wrench *p_c) {
    if (rule->kind == SNW_RULE_MAGNUS) {
        snw_magnus_pull(rule->order, h, xi, p, p_c);
    } else if (rule->kind == SNW_RULE_FER) {
        snw_fer_pull(rule, h, xi, p, p_c);
    } else {
        snw_brackets_pull(&rule->brackets, h, xi, p, p_c);
    }
}

void snw_rule_jacobian(const snw_rule *rule, double h, const snw_twist *xi, double *Y) {
    if (rule->kind == SNW_RULE_MAGNUS) {
        snw_magnus_jacobian(rule->order, h, xi, Y);
    } else if (rule->kind == SNW_RULE_FER) {
        snw_fer_jacobian(rule, 1, h, &xi, &Y);
    } else {
        snw_brackets_jacobian(&rule->brackets, 1, h, &xi, &Y);
    }
}

void snw_rule_jacobian_rates(const snw_rule *rule, double h, const snw_twist *xi,
                             const snw_twist *dxi, const snw_twist *ddxi, double *Y, double *dY,
                             double *ddY) {
    if (rule->kind == SNW_RULE_MAGNUS) {
        snw_magnus_jacobian_rates(rule->order, h, xi, dxi, ddxi, Y, dY, ddY);
        return;
    }
    const snw_twist *const z[3] = {xi, dxi, ddxi};
    double *const jet[3] = {Y, dY, ddY};
    if (rule->kind == SNW_RULE_FER) {
        snw_fer_jacobian(rule, 3, h, z, jet);
    } else {
        snw_brackets_jacobian(&rule->brackets, 3, h, z, jet);
    }
}

void snw_rule_hessian(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p,
                      double *G) {
    if (rule->kind == SNW_RULE_MAGNUS) {
        snw_magnus_hessian(rule->order, h, xi, p, G);
    } else if (rule->kind == SNW_RULE_FER) {
        snw_fer_hessian(rule, h, xi, p, G);
    } else {
        snw_brackets_hessian(&rule->brackets, h, xi, p, G);
    }
}

void snw_rule_blocks(const snw_rule *rule, int levels, double h, const snw_twist *const *xi,
                     snw_dual33 *Y) {
    if (rule->kind == SNW_RULE_MAGNUS) {
        snw_magnus_blocks(rule->order, levels, h, xi, Y);
        return;
    }
    double matrix[3][6 * SNW_MAGNUS_LD];
    if (levels == 1) {
        snw_rule_jacobian(rule, h, xi[0], matrix[0]);
    } else {
        snw_rule_jacobian_rates(rule, h, xi[0], xi[1], xi[2], matrix[0], matrix[1], matrix[2]);
    }
    for (int l = 0; l < levels; l++) {
        for (int c = 0; c < rule->nc; c++) Y[l * rule->nc + c] = snw_dual_get_block(matrix[l], c);
    }
}

void snw_rule_forms(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p,
                    snw_dual33 *G) {
    if (rule->kind == SNW_RULE_MAGNUS) {
        snw_magnus_forms(rule->order, h, xi, p, G);
        return;
    }
    double matrix[SNW_MAGNUS_LD * SNW_MAGNUS_LD];
    snw_rule_hessian(rule, h, xi, p, matrix);
    for (int c = 0; c < rule->nc; c++) {
        for (int b = 0; b <= c; b++) G[b * rule->nc + c] = snw_dual_get_form(matrix, b, c);
    }
}
