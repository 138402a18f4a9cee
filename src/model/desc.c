// SPDX-License-Identifier: MIT
#include "model/desc.h"

const char *const snw_strain_name[6] = {"twist",   "bend_y",  "bend_z",
                                        "stretch", "shear_y", "shear_z"};

snw_pose_desc snw_pose_desc_identity(void) {
    const snw_pose_desc p = {.R0 = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    return p;
}

snw_se3 snw_pose_desc_at(const snw_pose_desc *p, double t) {
    const snw_at at = {.t = t};
    snw_se3 g = {.R = p->R0};
    for (int i = 0; i < 3; i++) g.p.e[i] = p->xyz[i] ? snw_expr_value(p->xyz[i], at) : 0;
    for (int i = 0; i < p->nturn; i++) {
        const double angle = p->turn[i].angle ? snw_expr_value(p->turn[i].angle, at) : 0;
        const snw_twist w = {.w = snw_scale(angle, p->turn[i].axis)};
        g.R = snw_mat3_mul(g.R, snw_se3_exp(w).R);
    }
    return g;
}

int snw_pose_desc_vars(const snw_pose_desc *p) {
    int vars = 0;
    for (int i = 0; i < 3; i++) vars |= p->xyz[i] ? snw_expr_vars(p->xyz[i]) : 0;
    for (int i = 0; i < p->nturn; i++) {
        vars |= p->turn[i].angle ? snw_expr_vars(p->turn[i].angle) : 0;
    }
    return vars;
}

const char *snw_method_name(snw_method method) {
    switch (method) {
#define X(code, name, meaning)                                                                     \
    case code:                                                                                     \
        return name;
        SNW_METHOD_LIST(X)
#undef X
    }
    return "unknown";
}

snw_step_desc snw_step_dynamic(snw_method method) {
    snw_step_desc s = {.kind = SNW_STEP_DYNAMIC, .from = -1, .method = method};
    switch (method) {
    case SNW_METHOD_GENERALIZED_ALPHA:
    case SNW_METHOD_HHT:
    case SNW_METHOD_WBZ:
        s.rho = 0.9;
        break;
    case SNW_METHOD_BDF_ALPHA:
        s.alpha = -0.2;
        break;
    case SNW_METHOD_ADAPTIVE:
    case SNW_METHOD_STIFF:
        s.tolerance = SNW_STEP_ERROR;
        break;
    case SNW_METHOD_NEWMARK:
    case SNW_METHOD_EULER:
    case SNW_METHOD_TRAPEZOIDAL:
    case SNW_METHOD_BDF2:
    case SNW_METHOD_CONSERVING:
    case SNW_METHOD_RK4:
        break;
    }
    return s;
}
