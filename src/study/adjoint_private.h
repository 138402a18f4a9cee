// SPDX-License-Identifier: MIT
//
// adjoint_private.h: state of the transposed maps; private to the files adjoint*.c of src/study.
#pragma once

#include "base/fields.h"
#include "constraint/bordered_matrix.h"
#include "study/adjoint.h"

#define ADJOINT_FIELDS(AT)                                                                         \
    AT(double, K, nv *nv, "stiffness at fixed rates")                                              \
    AT(double, D, nv *nv, "damping at fixed accelerations")                                        \
    AT(double, M, nv *nv, "mass")                                                                  \
    AT(double, C, nv *nr, "constraint rows as columns")                                            \
    AT(double, chart, 108 * (size_t)m->nlie_block, "columns of the chart")                         \
    AT(double, bar, ns *(6 * nv + nr), "bars")                                                     \
    AT(double, covector, ns *(4 * nv + 2 * nr), "covectors")                                       \
    AT(double, x, 2 * n, "right sides")                                                            \
    AT(double, line, 8 * nv + 4 * nr, "scratch")                                                   \
    AT(double, impulse, nr, "of a restart")                                                        \
    AT(double, row, 2 * nv, "of an output")                                                        \
    AT(double, column, width, "of a probe")                                                        \
    AT(double, now, ny, "outputs at the state")                                                    \
    AT(double, sample, ny, "outputs at a sample")                                                  \
    AT(bool, exact, ny, "has the output an exact row here?")                                       \
    AT(snw_vec3, rotation, frames, "rotation vectors")                                             \
    AT(snw_vec3, rotation_now, frames, "likewise")                                                 \
    AT(bool, driven, nv, "is the motion of the coordinate given by a law?")


struct snw_adjoint {
    const snw_model *m;
    int nscalar, noutput, width;
    const snw_adjoint_output *output;
    snw_bars *bars;
    snw_covectors *covectors;
    snw_bordered_matrix *T;
    snw_inputs *in;
    snw_work *w;
    snw_state *s; // moved
    snw_observer *observer;
    double difference;
    // of steps of collocation; NULL before the first one
    double *stage_matrix, *stage_mu; // B; nscalar x stages x nv
    int *stage_pivot;
    double *stage_K, *stage_D, *stage_V; // stages x nv x nv: derivatives by chart coordinates and
                                         // rates; stiffness at fixed rates
    double *stage_x;                     // (stages + 1) x nv: chart coordinates, the end last
    snw_state *stage[SNW_STAGES];
    ADJOINT_FIELDS(SNW_FIELD_POINTER)
    void *block;
};

// K, D, M, C <- tangents at s under the inputs of time t, variations as those of
// snw_tangent_assemble; then K and D at fixed body rates and accelerations.
void adjoint_tangents(snw_adjoint *a, double t, const snw_state *s, bool is_static);
void adjoint_fix_rates(snw_adjoint *a, const snw_state *s);
// y (n) += c A'x, A n x n.
void adjoint_add_transposed(int n, double c, const double *A, const double *x, double *y);
// x (nv) <- Ad(exp(-d))'x on the spherical and free joints.
void adjoint_carry_back(const snw_model *m, const double *d, double *x);
// out (6 x 6, by columns) <- ad of a block's part of v.
void adjoint_block_ad(const snw_block *b, const double *v, double *out);

// A step of collocation (adjoint_stages.c): bars back through it; the product of its covectors with
// the residuals of the stages, by a model in the sampler.
SNW_NODISCARD snw_status adjoint_stages_back(snw_adjoint *a, const snw_map *map, snw_error *err);
void adjoint_stages_sample(const snw_adjoint *a, const snw_map *map, snw_sampler *x, double *value);
void adjoint_stages_destroy(snw_adjoint *a);
