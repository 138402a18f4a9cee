// SPDX-License-Identifier: MIT
//
// field.h: right-hand side of the rod equations in arc length (theory.md 10.1), with 3-vectors in
// SIMD packs, and its variation for several columns at a time. Inlined into the march kernels,
// where the flags are compile-time constants.
#pragma once

#include "shoot/pack.h"
#include "shoot/rod.h"

// ---- right-hand side ----------------------------------------------------------------------------

// Flags of a march.
enum {
    SNW_FIELD_DIAGONAL = 1, // sections are diagonal
    SNW_FIELD_WORLD = 2,    // orientation matters: gravity, or loads in world axes
    SNW_FIELD_LAW = 4,      // a law gives the strain
    SNW_FIELD_LOADS = 8,    // there are distributed loads
    SNW_FIELD_TERMS = 16    // the law is a sum of linear terms
};

// Section data in packs.
typedef struct snw_field_section {
    const snw_shoot_section *s;
    snw_pack C[2], B[2], rest[2]; // diagonals; angular, linear
    snw_pack I, drag;
} snw_field_section;

SNW_INLINE snw_field_section snw_field_section_of(const snw_shoot_section *s) {
    const double *C = s->C, *B = s->B;
    return (snw_field_section){
        .s = s,
        .C = {snw_pack_of(C[0], C[7], C[14]), snw_pack_of(C[21], C[28], C[35])},
        .B = {snw_pack_of(B[0], B[7], B[14]), snw_pack_of(B[21], B[28], B[35])},
        .rest = {snw_pack_load(s->rest.w.e), snw_pack_load(s->rest.v.e)},
        .I = snw_pack_load(s->M.I),
        .drag = snw_pack_load(s->drag)};
}

// State at a point, and its derivative along the rod.
typedef struct snw_flow {
    snw_pack w, v, m, f;            // velocity, wrench
    snw_pack weight, force, torque; // gravity and distributed loads, in section axes
    snw_pack k, l;                  // strain
    snw_pack ws, vs, ms, fs;        // derivatives of velocity and wrench
    double z[SNW_SHOOT_Z], zs[SNW_SHOOT_Z];
} snw_flow;

// C (F - B e^h) for a section that is not diagonal
SNW_INLINE void snw_field_strain(const snw_shoot_section *s, const snw_flow *x, const double *eh,
                                 snw_twist *e) {
    double d[6];
    snw_pack_store(x->m, d), snw_pack_store(x->f, d + 3);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) d[i] -= s->B[6 * i + k] * eh[k];
    }
    for (int i = 0; i < 6; i++) {
        e->e[i] = 0;
        for (int k = 0; k < 6; k++) e->e[i] += s->C[6 * i + k] * d[k];
    }
}

SNW_INLINE snw_pack snw_field_rotational_inertia(const snw_inertia *M, snw_pack w) {
    snw_vec3 a;
    snw_pack_store(w, a.e);
    a = snw_inertia_rotate(M, a);
    return snw_pack_of(a.x, a.y, a.z);
}

// x->k, l and the derivatives in x <- right-hand side at the velocity, wrench, z and loads of x, at
// point `point` of r. law <- output of the law, with its derivatives if `derivatives`; entries of
// zs beyond the law's nz must be zero on entry.
SNW_INLINE void snw_field_at(int flags, const snw_shoot_rod *r, const snw_field_section *q,
                             int point, bool derivatives, snw_law_out *law, snw_flow *x) {
    const double c0 = r->formula.c[0];
    const snw_shoot_history *H = &r->history[point];
    const snw_inertia *M = &q->s->M;
    const snw_pack kh = snw_pack_load(H->e.w.e), lh = snw_pack_load(H->e.v.e);
    snw_pack dk, dl; // elastic strain: strain less rest
    if (flags & SNW_FIELD_TERMS) {
        dk = snw_pack_sub(x->m, snw_pack_mul(q->B[0], kh));
        dl = snw_pack_sub(x->f, snw_pack_mul(q->B[1], lh));
        for (int i = 0; i < r->law->nterm; i++) {
            const snw_law_linear_term *term = &r->law->term[i];
            const double T = term->z < 0 ? *term->given : x->z[term->z];
            dk = snw_pack_axpy(T, snw_pack_load(term->a[point].m.e), dk);
            dl = snw_pack_axpy(T, snw_pack_load(term->a[point].f.e), dl);
        }
        dk = snw_pack_mul(q->C[0], dk), dl = snw_pack_mul(q->C[1], dl);
    } else if (flags & SNW_FIELD_LAW) {
        const int nz = r->law->nz;
        snw_law_in in = {.point = point,
                         .c0 = c0,
                         .eh = H->e,
                         .z = x->z,
                         .zh = r->zh + (size_t)point * (size_t)nz,
                         .section = q->s};
        snw_pack_store_two(x->m, x->f, in.F.e);
        r->law->strain(r->law->user, &in, derivatives, law);
        snw_pack_load_two(law->e.e, &dk, &dl);
        for (int i = 0; i < SNW_SHOOT_Z; i++) x->zs[i] = law->zs[i];
    } else if (flags & SNW_FIELD_DIAGONAL) {
        dk = snw_pack_mul(q->C[0], snw_pack_sub(x->m, snw_pack_mul(q->B[0], kh)));
        dl = snw_pack_mul(q->C[1], snw_pack_sub(x->f, snw_pack_mul(q->B[1], lh)));
    } else {
        snw_twist e;
        snw_field_strain(q->s, x, H->e.e, &e);
        dk = snw_pack_load(e.w.e), dl = snw_pack_load(e.v.e);
    }
    const snw_permuted w = snw_permuted_of(x->w), v = snw_permuted_of(x->v);
    const snw_permuted m = snw_permuted_of(x->m), f = snw_permuted_of(x->f);
    const snw_permuted k = snw_permuted_of(snw_pack_add(q->rest[0], dk));
    const snw_permuted l = snw_permuted_of(snw_pack_add(q->rest[1], dl));
    x->k = k.a, x->l = l.a;
    if (flags & SNW_FIELD_TERMS) {
        for (int i = 0; i < SNW_SHOOT_Z; i++) x->zs[i] = 0;
        for (int i = 0; i < r->law->nterm; i++) {
            const snw_law_linear_term *term = &r->law->term[i];
            if (term->z < 0) continue;
            const snw_wrench *a = &term->a[point];
            x->zs[term->z + 1] =
                snw_pack_sum(snw_pack_add(snw_pack_mul(snw_pack_load(a->m.e), x->k),
                                          snw_pack_mul(snw_pack_load(a->f.e), x->l)));
        }
    }
    // e_t - ad_xi V
    x->ws = snw_pack_sub(snw_pack_axpy(c0, dk, kh), snw_pack_permute(snw_skew(k, w)));
    x->vs = snw_pack_sub(snw_pack_axpy(c0, dl, lh),
                         snw_pack_permute(snw_pack_add(snw_skew(k, v), snw_skew(l, w))));
    // rate of momentum, d/dt (M V) in the moving frame, + ad_xi' F
    const snw_pack wt = snw_pack_axpy(c0, x->w, snw_pack_load(H->V.w.e));
    const snw_pack vt = snw_pack_axpy(c0, x->v, snw_pack_load(H->V.v.e));
    const snw_pack strain_terms = snw_pack_add(snw_skew(k, m), snw_skew(l, f));
    if (flags & SNW_FIELD_DIAGONAL) {
        const snw_permuted Iw = snw_permuted_of(snw_pack_mul(q->I, x->w));
        x->ms = snw_pack_add(snw_pack_mul(q->I, wt),
                             snw_pack_permute(snw_pack_sub(snw_skew(w, Iw), strain_terms)));
        x->fs = snw_pack_axpy(
            M->m, vt,
            snw_pack_permute(snw_pack_sub(snw_pack_scale(M->m, snw_skew(w, v)), snw_skew(k, f))));
    } else {
        const snw_pack c = snw_pack_load(M->mc.e), a = snw_pack_add(vt, snw_pack_cross(x->w, x->v));
        const snw_pack Iw = snw_field_rotational_inertia(M, x->w);
        const snw_pack spin =
            snw_pack_add(snw_field_rotational_inertia(M, wt), snw_pack_cross(x->w, Iw));
        x->ms =
            snw_pack_sub(snw_pack_add(spin, snw_pack_cross(c, a)), snw_pack_permute(strain_terms));
        x->fs = snw_pack_add(snw_pack_cross(wt, c), snw_pack_cross(x->w, snw_pack_cross(x->w, c)));
        x->fs = snw_pack_sub(snw_pack_axpy(M->m, a, x->fs), snw_pack_permute(snw_skew(k, f)));
    }
    if (r->drags) {
        x->fs = snw_pack_add(x->fs, snw_pack_mul(q->drag, snw_pack_mul(x->v, snw_pack_abs(x->v))));
    }
    if (flags & SNW_FIELD_WORLD) {
        x->fs = snw_pack_axpy(-M->m, x->weight, x->fs);
        if (!(flags & SNW_FIELD_DIAGONAL)) {
            x->ms = snw_pack_sub(x->ms, snw_pack_cross(snw_pack_load(M->mc.e), x->weight));
        }
    }
    if (flags & SNW_FIELD_LOADS) {
        const snw_wrench *body = &r->density[point].body;
        x->fs = snw_pack_sub(x->fs, snw_pack_add(x->force, snw_pack_load(body->f.e)));
        x->ms = snw_pack_sub(x->ms, snw_pack_add(x->torque, snw_pack_load(body->m.e)));
    }
}

// ---- variations ---------------------------------------------------------------------------------

// State of a stage, stored for its variations.
typedef struct snw_stage {
    snw_twist V, xi;
    snw_wrench F;
    snw_vec3 weight;
    snw_mat3 Q; // (rotation of the stage)' times that of the node; only with distributed loads
    snw_law_out law;
} snw_stage;

SNW_INLINE void snw_stage_of(int flags, const snw_flow *x, snw_stage *st) {
    snw_pack_store(x->w, st->V.w.e), snw_pack_store(x->v, st->V.v.e);
    snw_pack_store(x->k, st->xi.w.e), snw_pack_store(x->l, st->xi.v.e);
    snw_pack_store(x->m, st->F.m.e), snw_pack_store(x->f, st->F.f.e);
    if (flags & SNW_FIELD_WORLD) snw_pack_store(x->weight, st->weight.e);
}

// Variation of a stage. In: dV, dF, dz and those of weight, force and torque. Out: dxi, dVs, dFs,
// dzs.
typedef struct snw_variation {
    snw_lane6 V, F, xi, Vs, Fs;
    snw_lanes z[SNW_SHOOT_Z], zs[SNW_SHOOT_Z];
    snw_lane3 weight, force, torque;
} snw_variation;

SNW_INLINE void snw_field_vary(int flags, const snw_shoot_rod *r, const snw_shoot_section *s,
                               const snw_stage *st, snw_variation *d) {
    const double c0 = r->formula.c[0];
    if (flags & SNW_FIELD_LAW) {
        const int nz = r->law->nz;
        for (int i = 0; i < 6 + nz; i++) {
            snw_lanes sum = st->law.D[i][0] * d->F.e[0];
            for (int k = 1; k < 6; k++) sum += st->law.D[i][k] * d->F.e[k];
            for (int k = 0; k < nz; k++) sum += st->law.D[i][6 + k] * d->z[k];
            if (i < 6) {
                d->xi.e[i] = sum;
            } else {
                d->zs[i - 6] = sum;
            }
        }
    } else if (flags & SNW_FIELD_DIAGONAL) {
        for (int i = 0; i < 6; i++) d->xi.e[i] = s->C[7 * i] * d->F.e[i];
    } else {
        for (int i = 0; i < 6; i++) {
            d->xi.e[i] = s->C[6 * i] * d->F.e[0];
            for (int k = 1; k < 6; k++) d->xi.e[i] += s->C[6 * i + k] * d->F.e[k];
        }
    }
    const snw_vec3 w = st->V.w, v = st->V.v, k = st->xi.w, l = st->xi.v;
    const snw_lane3 dk = d->xi.a, dl = d->xi.b, dw = d->V.a, dv = d->V.b;
    d->Vs.a = snw_lane3_sub(snw_lane3_scale(c0, dk),
                            snw_lane3_add(snw_lane3_cross_by(dk, w), snw_lane3_cross(k, dw)));
    d->Vs.b = snw_lane3_sub(
        snw_lane3_sub(snw_lane3_scale(c0, dl),
                      snw_lane3_add(snw_lane3_cross_by(dk, v), snw_lane3_cross(k, dv))),
        snw_lane3_add(snw_lane3_cross_by(dl, w), snw_lane3_cross(l, dw)));
    const snw_inertia *M = &s->M;
    const snw_lane3 da = snw_lane3_add(
        snw_lane3_scale(c0, dv), snw_lane3_add(snw_lane3_cross_by(dw, v), snw_lane3_cross(w, dv)));
    const double *I = M->I;
    snw_lane3 Jdw;
    if (flags & SNW_FIELD_DIAGONAL) {
        Jdw = (snw_lane3){I[0] * dw.x, I[1] * dw.y, I[2] * dw.z};
    } else {
        Jdw = (snw_lane3){I[0] * dw.x + I[5] * dw.y + I[4] * dw.z,
                          I[5] * dw.x + I[1] * dw.y + I[3] * dw.z,
                          I[4] * dw.x + I[3] * dw.y + I[2] * dw.z};
    }
    snw_lane3 fm = snw_lane3_add(
        snw_lane3_scale(c0, Jdw),
        snw_lane3_add(snw_lane3_cross_by(dw, snw_inertia_rotate(M, w)), snw_lane3_cross(w, Jdw)));
    snw_lane3 ff = snw_lane3_scale(M->m, da);
    if (!(flags & SNW_FIELD_DIAGONAL)) {
        const snw_lane3 dwmc = snw_lane3_cross_by(dw, M->mc);
        fm = snw_lane3_add(fm, snw_lane3_cross(M->mc, da));
        ff = snw_lane3_add(ff,
                           snw_lane3_add(snw_lane3_scale(c0, dwmc),
                                         snw_lane3_add(snw_lane3_cross_by(dw, snw_cross(w, M->mc)),
                                                       snw_lane3_cross(w, dwmc))));
    }
    if (r->drags) {
        ff.x += 2 * s->drag[0] * fabs(v.x) * dv.x;
        ff.y += 2 * s->drag[1] * fabs(v.y) * dv.y;
        ff.z += 2 * s->drag[2] * fabs(v.z) * dv.z;
    }
    if (flags & SNW_FIELD_LOADS) {
        ff = snw_lane3_sub(ff, d->force);
        fm = snw_lane3_sub(fm, d->torque);
    }
    if (flags & SNW_FIELD_WORLD) {
        ff = snw_lane3_sub(ff, snw_lane3_scale(M->m, d->weight));
        if (!(flags & SNW_FIELD_DIAGONAL)) {
            fm = snw_lane3_sub(fm, snw_lane3_cross(M->mc, d->weight));
        }
    }
    d->Fs.a =
        snw_lane3_sub(snw_lane3_sub(fm, snw_lane3_add(snw_lane3_cross_by(dk, st->F.m),
                                                      snw_lane3_cross(k, d->F.a))),
                      snw_lane3_add(snw_lane3_cross_by(dl, st->F.f), snw_lane3_cross(l, d->F.b)));
    d->Fs.b = snw_lane3_sub(
        ff, snw_lane3_add(snw_lane3_cross_by(dk, st->F.f), snw_lane3_cross(k, d->F.b)));
}
