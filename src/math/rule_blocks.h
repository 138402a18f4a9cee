// SPDX-License-Identifier: MIT
//
// rule_blocks.h: derivatives of an integration rule (rule.h) by blocks over the dual numbers, which
// are half of the matrices: Y[l nc + c] <- level l of dW/d(xi_c) = [r 0; d r], for one level or
// three, and G[b nc + c] <- block (b, c) = [d r; r 0] of the Hessian for b <= c. Block (c, b) is
// its transpose.
#pragma once

#include "math/dual.h"
#include "math/rule.h"

void snw_rule_blocks(const snw_rule *rule, int levels, double h, const snw_twist *const *xi,
                     snw_dual33 *Y);
void snw_rule_forms(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p,
                    snw_dual33 *G);

// The same of the Magnus expansion (magnus.c).
void snw_magnus_blocks(int order, int levels, double h, const snw_twist *const *xi, snw_dual33 *Y);
void snw_magnus_forms(int order, double h, const snw_twist *xi, snw_wrench p, snw_dual33 *G);
