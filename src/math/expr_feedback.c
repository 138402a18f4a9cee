// SPDX-License-Identifier: MIT
//
// Control errors of a law, found in its program: differences of a signal and a reference on which
// the value of the law depends linearly. Used by checks of feedback laws.
#include "math/expr_op.h"

#include <string.h>

// Dependence of a register on the result of one line of the program.
typedef enum dependence { DEPENDS_NOT, DEPENDS_LINEARLY, DEPENDS_OTHERWISE } dependence;

// A linear dependence is preserved by ADD, SUB, NEG, by independent factors and divisors, and
// piecewise by MIN and MAX.
static dependence propagate(const snw_line *l, const dependence *of, bool *limited) {
    dependence most = DEPENDS_NOT;
    int n = 0;
    for (int i = 0; i < snw_op_nargs((snw_op)l->op); i++) {
        const dependence d = of[l->arg[i]];
        n += d != DEPENDS_NOT;
        if (d > most) most = d;
    }
    if (most != DEPENDS_LINEARLY) return most;
    const bool limits = l->op == SNW_OP_MIN || l->op == SNW_OP_MAX;
    const bool sums = l->op == SNW_OP_ADD || l->op == SNW_OP_SUB || l->op == SNW_OP_NEG;
    const bool scales =
        n == 1 && (l->op == SNW_OP_MUL || (l->op == SNW_OP_DIV && of[l->arg[0]] != DEPENDS_NOT));
    *limited = *limited || limits;
    return sums || scales || (limits && n == 1) ? DEPENDS_LINEARLY : DEPENDS_OTHERWISE;
}

// Does the result of the program depend linearly, saturation aside, on the result of line k?
static bool enters(const snw_expr *e, int k, bool *limited) {
    dependence of[SNW_EXPR_REGISTERS] = {DEPENDS_NOT};
    *limited = false;
    of[e->line[k].dst] = DEPENDS_LINEARLY;
    for (int i = k + 1; i < e->n; i++) of[e->line[i].dst] = propagate(&e->line[i], of, limited);
    return of[e->result] == DEPENDS_LINEARLY;
}

bool snw_expr_proportional(const snw_expr *e, int slot) {
    bool limited;
    for (int k = 0; k < e->n && (e->vars & SNW_VAR_SIGNAL); k++) {
        const snw_line *l = &e->line[k];
        if (l->op == SNW_OP_SIGNAL && (int)l->imm == slot && enters(e, k, &limited)) return true;
    }
    return false;
}

// Copy of the program up to line k, whose result is that of line k.
static const snw_expr *head_of(snw_pool *pool, const snw_expr *e, int k) {
    const size_t lines = (size_t)(k + 1) * sizeof e->line[0];
    snw_expr *head = snw_pool_take(pool, sizeof *head + lines);
    if (!head) return NULL;
    memset(head, 0, sizeof *head);
    head->vars = e->line[k].vars;
    head->n = k + 1;
    head->result = e->line[k].dst;
    memcpy(head->line, e->line, lines);
    return head;
}

snw_status snw_expr_errors(snw_pool *pool, const snw_expr *e, int max, snw_expr_error *out,
                           int *n) {
    int slot[SNW_EXPR_REGISTERS];     // signal that a register holds, -1: none
    bool of_time[SNW_EXPR_REGISTERS]; // the register depends on time at most
    *n = 0;
    if (!(e->vars & SNW_VAR_SIGNAL)) return SNW_OK;
    for (int i = 0; i < SNW_EXPR_REGISTERS; i++) slot[i] = -1, of_time[i] = i == 0;
    for (int k = 0; k < e->n && *n < max; k++) {
        const snw_line *l = &e->line[k];
        const int a = l->arg[0], b = l->arg[1];
        const bool sum = l->op == SNW_OP_ADD || l->op == SNW_OP_SUB;
        const int p = !sum                         ? -1
                      : slot[a] >= 0 && of_time[b] ? slot[a]
                      : slot[b] >= 0 && of_time[a] ? slot[b]
                                                   : -1;
        bool limited = false;
        if (p >= 0 && enters(e, k, &limited)) {
            const double sign = l->op == SNW_OP_SUB && slot[b] == p ? -1 : 1;
            const snw_expr *difference = head_of(pool, e, k);
            if (!difference) return SNW_E_MEMORY;
            out[(*n)++] = (snw_expr_error){
                .slot = p, .sign = sign, .limited = limited, .difference = difference};
        }
        slot[l->dst] = l->op == SNW_OP_SIGNAL ? (int)l->imm : -1;
        of_time[l->dst] = !(l->vars & ~SNW_VAR_T);
    }
    return SNW_OK;
}
