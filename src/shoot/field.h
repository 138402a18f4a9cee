// SPDX-License-Identifier: MIT
//
// field.h: the right-hand side of the rod's equation in arc length, and its derivative along variations, two columns at a
// time. Inlined into the marches, whose flags are constants there.
#pragma once

#include "base/vectorise.h"
#include "shoot/rod.h"

#include <math.h>

// ---- two columns at once ----------------------------------------------------------------------------

#if defined(__GNUC__) && !defined(SNW_WIDE)
typedef double snw_lanes __attribute__((vector_size(2 * sizeof(double))));
enum { SNW_LANES = 2 };
SNW_INLINE double snw_lane(snw_lanes a, int i) { return a[i]; }
SNW_INLINE snw_lanes snw_lanes_load(const double *a) { return (snw_lanes){a[0], a[1]}; }
SNW_INLINE void snw_lanes_store(snw_lanes a, double *out) { out[0] = a[0], out[1] = a[1]; }
#else
typedef double snw_lanes;
enum { SNW_LANES = 1 };
SNW_INLINE double snw_lane(snw_lanes a, int i) { return (void)i, a; }
SNW_INLINE snw_lanes snw_lanes_load(const double *a) { return *a; }
SNW_INLINE void snw_lanes_store(snw_lanes a, double *out) { *out = a; }
#endif

typedef struct snw_lane3 {
    snw_lanes x, y, z;
} snw_lane3;

SNW_INLINE snw_lane3 snw_lane3_add(snw_lane3 a, snw_lane3 b) {
    return (snw_lane3){a.x + b.x, a.y + b.y, a.z + b.z};
}
SNW_INLINE snw_lane3 snw_lane3_sub(snw_lane3 a, snw_lane3 b) {
    return (snw_lane3){a.x - b.x, a.y - b.y, a.z - b.z};
}
SNW_INLINE snw_lane3 snw_lane3_scale(double s, snw_lane3 a) {
    return (snw_lane3){s * a.x, s * a.y, s * a.z};
}
// a x b with a number vector a; b x a is its negative
SNW_INLINE snw_lane3 snw_lane3_cross(snw_vec3 a, snw_lane3 b) {
    return (snw_lane3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
// b x a
SNW_INLINE snw_lane3 snw_lane3_cross_by(snw_lane3 b, snw_vec3 a) {
    return (snw_lane3){b.y * a.z - b.z * a.y, b.z * a.x - b.x * a.z, b.x * a.y - b.y * a.x};
}
SNW_INLINE snw_lane3 snw_lane3_rotate(snw_mat3 R, snw_lane3 a) {
    return (snw_lane3){R.e[0][0] * a.x + R.e[0][1] * a.y + R.e[0][2] * a.z,
                       R.e[1][0] * a.x + R.e[1][1] * a.y + R.e[1][2] * a.z,
                       R.e[2][0] * a.x + R.e[2][1] * a.y + R.e[2][2] * a.z};
}
SNW_INLINE snw_lane3 snw_lane3_rotate_inv(snw_mat3 R, snw_lane3 a) {
    return (snw_lane3){R.e[0][0] * a.x + R.e[1][0] * a.y + R.e[2][0] * a.z,
                       R.e[0][1] * a.x + R.e[1][1] * a.y + R.e[2][1] * a.z,
                       R.e[0][2] * a.x + R.e[1][2] * a.y + R.e[2][2] * a.z};
}

typedef union snw_lane6 {
    struct {
        snw_lane3 a, b; // angular, linear
    };
    snw_lanes e[6];
} snw_lane6;

// ---- the field --------------------------------------------------------------------------------------

// Constants of a march.
enum {
    SNW_FIELD_DIAGONAL = 1, // sections are diagonal
    SNW_FIELD_WORLD = 2,    // gravity or loads in world axes
    SNW_FIELD_LAW = 4       // a law gives the strain
};

// One stage of an interval: where the field was looked at, and what it was.
typedef struct snw_stage {
    snw_twist V, xi;
    snw_wrench F;
    double z[SNW_SHOOT_Z];
    snw_vec3 weight, force, torque; // R'(gravity), R'(loads per length in world axes)
    snw_mat3 Q;                     // (rotation of the stage)' times that of the node
    snw_twist Vs;
    snw_wrench Fs;
    double zs[SNW_SHOOT_Z];
    double D[6 + SNW_SHOOT_Z][6 + SNW_SHOOT_Z]; // of a law
} snw_stage;

SNW_INLINE snw_twist snw_field_strain(int flags, bool damped, const snw_shoot_section *s,
                                      snw_wrench F, snw_twist eh) {
    snw_twist e;
    if ((flags & SNW_FIELD_DIAGONAL) && !damped) {
        for (int i = 0; i < 6; i++) e.e[i] = s->C[7 * i] * F.e[i];
        return e;
    }
    if (flags & SNW_FIELD_DIAGONAL) {
        for (int i = 0; i < 6; i++) e.e[i] = s->C[7 * i] * (F.e[i] - s->B[7 * i] * eh.e[i]);
        return e;
    }
    double d[6];
    for (int i = 0; i < 6; i++) {
        d[i] = F.e[i];
        for (int k = 0; k < 6; k++) d[i] -= s->B[6 * i + k] * eh.e[k];
    }
    for (int i = 0; i < 6; i++) {
        e.e[i] = 0;
        for (int k = 0; k < 6; k++) e.e[i] += s->C[6 * i + k] * d[k];
    }
    return e;
}

SNW_INLINE snw_vec3 snw_field_turn(int flags, const snw_inertia *M, snw_vec3 w) {
    if (flags & SNW_FIELD_DIAGONAL) {
        return (snw_vec3){{M->I[0] * w.x, M->I[1] * w.y, M->I[2] * w.z}};
    }
    return snw_inertia_rotate(M, w);
}

// st->xi, Vs, Fs (zs, D) <- the field at st->V, F, z. `r` and `point` say where, `slopes` whether D is wanted.
SNW_INLINE void snw_field(int flags, const snw_shoot_rod *r, const snw_shoot_section *s, int point,
                          bool slopes, snw_stage *st) {
    const double c0 = r->formula.c[0];
    const snw_shoot_history *H = &r->history[point];
    snw_twist e;
    if (flags & SNW_FIELD_LAW) {
        const int nz = r->law->nz;
        const snw_law_in in = {.point = point,
                               .c0 = c0,
                               .F = st->F,
                               .eh = H->e,
                               .z = st->z,
                               .zh = r->zh + (size_t)point * (size_t)nz,
                               .section = s};
        snw_law_out out;
        r->law->strain(r->law->user, &in, slopes, &out);
        e = out.e;
        for (int i = 0; i < nz; i++) st->zs[i] = out.zs[i];
        for (int i = 0; slopes && i < 6 + nz; i++) {
            for (int k = 0; k < 6 + nz; k++) st->D[i][k] = out.D[i][k];
        }
    } else {
        e = snw_field_strain(flags, r->damped, s, st->F, H->e);
    }
    const snw_vec3 w = st->V.w, v = st->V.v, m = st->F.m, f = st->F.f;
    const snw_vec3 k = snw_add(s->rest.w, e.w), l = snw_add(s->rest.v, e.v);
    st->xi.w = k, st->xi.v = l;
    const snw_vec3 wt = snw_add(snw_scale(c0, w), H->V.w), vt = snw_add(snw_scale(c0, v), H->V.v);
    const snw_vec3 kt = snw_add(snw_scale(c0, e.w), H->e.w),
                   lt = snw_add(snw_scale(c0, e.v), H->e.v);
    // e_t - ad_xi V
    st->Vs.w = snw_sub(kt, snw_cross(k, w));
    st->Vs.v = snw_sub(snw_sub(lt, snw_cross(k, v)), snw_cross(l, w));
    // momentum's rate, d/dt (M V) in the moving frame
    const snw_inertia *M = &s->M;
    const snw_vec3 a = snw_add(vt, snw_cross(w, v)); // acceleration of the line
    snw_vec3 fm = snw_add(snw_field_turn(flags, M, wt), snw_cross(w, snw_field_turn(flags, M, w)));
    snw_vec3 ff = snw_scale(M->m, a);
    if (!(flags & SNW_FIELD_DIAGONAL)) {
        fm = snw_add(fm, snw_cross(M->mc, a));
        ff = snw_add(ff, snw_add(snw_cross(wt, M->mc), snw_cross(w, snw_cross(w, M->mc))));
    }
    if (r->drags) {
        ff.x += s->drag[0] * v.x * fabs(v.x);
        ff.y += s->drag[1] * v.y * fabs(v.y);
        ff.z += s->drag[2] * v.z * fabs(v.z);
    }
    if (flags & SNW_FIELD_WORLD) {
        ff = snw_sub(ff, snw_add(snw_scale(M->m, st->weight), st->force));
        fm = snw_sub(fm, st->torque);
        if (!(flags & SNW_FIELD_DIAGONAL)) fm = snw_sub(fm, snw_cross(M->mc, st->weight));
    }
    if (r->density) {
        ff = snw_sub(ff, r->density[point].body.f);
        fm = snw_sub(fm, r->density[point].body.m);
    }
    // + ad_xi' F
    st->Fs.m = snw_sub(snw_sub(fm, snw_cross(k, m)), snw_cross(l, f));
    st->Fs.f = snw_sub(ff, snw_cross(k, f));
}

// A variation of a stage: in dV, dF, dz and those of weight, force and torque; out dxi, dVs, dFs, dzs.
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
            snw_lanes sum = st->D[i][0] * d->F.e[0];
            for (int k = 1; k < 6; k++) sum += st->D[i][k] * d->F.e[k];
            for (int k = 0; k < nz; k++) sum += st->D[i][6 + k] * d->z[k];
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
    snw_lane3 fm = snw_lane3_add(snw_lane3_scale(c0, Jdw),
                                 snw_lane3_add(snw_lane3_cross_by(dw, snw_field_turn(flags, M, w)),
                                               snw_lane3_cross(w, Jdw)));
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
    if (flags & SNW_FIELD_WORLD) {
        ff = snw_lane3_sub(ff, snw_lane3_add(snw_lane3_scale(M->m, d->weight), d->force));
        fm = snw_lane3_sub(fm, d->torque);
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
