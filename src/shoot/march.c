// SPDX-License-Identifier: MIT
//
// Marches along a rod: selection of the kernel by the processor, and the local error estimate of
// the Dormand-Prince method, from which grids are refined.

#include "shoot/march.h"

#include "math/vector.h"
#include "shoot/march_kernel.h"

const snw_along *snw_along_of(snw_space_kind kind) { return &methods[kind]; }

void snw_march_any(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                   snw_shoot_state *y) {
    march_rod(r, node, n, pose, columns, S, y);
}

static void march_dispatch(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                           snw_shoot_state *y) {
#if defined(SNW_AVX2) && !defined(SNW_NUMBERS)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        snw_march_avx2(r, node, n, pose, columns, S, y);
        return;
    }
#endif
    snw_march_any(r, node, n, pose, columns, S, y);
}

void snw_shoot_march(snw_shoot_rod *r, int node, int n, bool pose, const snw_shoot_state *start,
                     snw_shoot_state *end) {
    if (r->form) {
        r->form->march(r, node, n, start, end);
        return;
    }
    *end = *start;
    march_dispatch(r, node, n, pose || r->world, 0, NULL, end);
}

void snw_shoot_march_vary(snw_shoot_rod *r, int node, int n, bool pose,
                          const snw_shoot_state *start, int columns, double *S,
                          snw_shoot_state *end) {
    if (r->form) {
        r->form->march_vary(r, node, n, start, columns, S, end);
        return;
    }
    *end = *start;
    march_dispatch(r, node, n, pose || r->world, columns, S, end);
}

static double march_largest(snw_pack a) {
    double x[3], most = 0;
    snw_pack_store(snw_pack_abs(a), x);
    for (int i = 0; i < 3; i++) {
        most = snw_larger(most, x[i]);
    }
    return most;
}

double snw_shoot_error(const snw_shoot_rod *r, int node) {
    // weights of order 5 less those of order 4; the seventh stage is the end
    static const double off[7] = {35.0 / 384 - 5179.0 / 57600,
                                  0,
                                  500.0 / 1113 - 7571.0 / 16695,
                                  125.0 / 192 - 393.0 / 640,
                                  -2187.0 / 6784 + 92097.0 / 339200,
                                  11.0 / 84 - 187.0 / 2100,
                                  -1.0 / 40};
    const snw_shoot_piece *piece = &r->piece[snw_shoot_piece_of(r, node)];
    const int nz = snw_shoot_nz(r), np = methods[SNW_ALONG_DP5].np;
    const int point = piece->point + (node - piece->node) * np, flags = flags_of(r, true, false);
    SNW_ASSERT(r->method->kind == SNW_ALONG_DP5 && node < piece->node + piece->n);
    snw_shoot_state y = {.g = r->g[node], .V = r->V[node], .F = r->F[node]};
    for (int i = 0; i < nz; i++) y.z[i] = r->z[node * nz + i];
    snw_flow x[SNW_SHOOT_STAGES + 1];
    node_state at = from_state(flags, r, &y);
    set_node_loads(flags, r, &y.g, &at);
    snw_law_out law;
    memset(law.zs, 0, sizeof law.zs);
    stage_place pl[SNW_SHOOT_STAGES];
    stages(flags, SNW_ALONG_DP5, r, point, piece->h, &at, &law, pl, x, NULL);
    kernel_finish(flags, SNW_ALONG_DP5, piece->h, x, &at.y);
    y.g = snw_se3_mul(y.g, snw_se3_exp(pose_increment(SNW_ALONG_DP5, piece->h, x)));
    set_node_loads(flags, r, &y.g, &at);
    at.section = snw_field_section_of(section_at(r, point + np));
    snw_mat3 Q[1];
    stage(flags, SNW_ALONG_DP5, r, point + np, 0, false, 0, &at, &law, Q, pl, x + SNW_SHOOT_STAGES);
    // pose: strains integrated by both formulas, and the Magnus commutator with the strains at 0.3
    // and 0.8 instead of those at both ends
    const double h = piece->h, c0 = r->formula.c[0] > 0 ? r->formula.c[0] : 1, L = r->length;
    const snw_pack zero = snw_pack_of(0, 0, 0);
    snw_flow d = {.w = zero, .v = zero, .m = zero, .f = zero};
    d.k = snw_pack_scale(
        h / 12, snw_pack_axpy(-2, snw_pack_cross(x[2].k, x[3].k), snw_pack_cross(x[0].k, x[5].k)));
    const snw_pack ends =
        snw_pack_add(snw_pack_cross(x[0].l, x[5].k), snw_pack_cross(x[0].k, x[5].l));
    const snw_pack within =
        snw_pack_add(snw_pack_cross(x[2].l, x[3].k), snw_pack_cross(x[2].k, x[3].l));
    d.l = snw_pack_scale(h / 12, snw_pack_axpy(-2, within, ends));
    for (int i = 0; i <= SNW_SHOOT_STAGES; i++) {
        d.k = snw_pack_axpy(off[i], x[i].k, d.k), d.l = snw_pack_axpy(off[i], x[i].l, d.l);
        d.w = snw_pack_axpy(off[i], x[i].ws, d.w), d.v = snw_pack_axpy(off[i], x[i].vs, d.v);
        d.m = snw_pack_axpy(off[i], x[i].ms, d.m), d.f = snw_pack_axpy(off[i], x[i].fs, d.f);
    }
    const double worst[] = {march_largest(d.k),
                            march_largest(d.l) / L,
                            march_largest(d.w) / c0,
                            march_largest(d.v) / (c0 * L),
                            march_largest(d.m) / (r->force * L),
                            march_largest(d.f) / r->force};
    double most = 0;
    for (int i = 0; i < 6; i++) {
        most = snw_larger(most, worst[i]);
    }
    for (int k = 0; k < nz; k++) {
        double z = 0;
        for (int i = 0; i <= SNW_SHOOT_STAGES; i++) z += off[i] * x[i].zs[k];
        z = fabs(z) / r->law->typical[k];
        most = snw_larger(most, z);
    }
    return h * most;
}
