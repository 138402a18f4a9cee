// SPDX-License-Identifier: MIT
//
// fer.h: Fer expansion of the pose along a segment, theory.md (3.1b): value and exact derivatives
// of W = log(exp(F_1) exp(F_0)) for rules of kind SNW_RULE_FER. Private to math/.
#pragma once

#include "math/rule.h"

// As the functions of rule.h. xi[l] is level l of the strains; levels is 1 or 3.
snw_twist snw_fer(const snw_rule *rule, double h, const snw_twist *xi);
void snw_fer_rates(const snw_rule *rule, double h, const snw_twist *const *xi, snw_twist *W);
void snw_fer_pull(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p,
                  snw_wrench *p_c);
void snw_fer_jacobian(const snw_rule *rule, int levels, double h, const snw_twist *const *xi,
                      double *const *Y);
void snw_fer_hessian(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p, double *G);
