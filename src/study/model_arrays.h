// SPDX-License-Identifier: MIT
//
// model_arrays.h: numbers of a model that its residual depends on, as one vector: stiffness and
// damping matrices of rods, stiffness and damping of joints, inertias of segments, wrenches of
// constant loads, numbers of laws (model_laws.h), coefficients of contacts and fluids
// (model_surroundings.h), geometric numbers (model_geometry.h). Derivatives of a scalar by them are
// gathered over a run once for all parameters of the file that enter the model through them alone,
// theory.md (7.5.11).
#pragma once

#include "study/adjoint.h"

typedef struct snw_model_arrays snw_model_arrays;

// Has a model such numbers? Not with rods of variable length, conditions, contacts without slip,
// concentric tubes, nor where a law reads the effort of a tendon. With hard contacts, or the
// scheme for them: not with compliant contacts, fluids, fields of force. With the conserving
// scheme: where the conservative forces are known (part_model.h); with contact points not the
// numbers of geometry and contacts. With collocation: not with Maxwell branches.
typedef struct snw_arrays_schemes {
    bool hard, conserving, collocation; // steps of the scheme for hard contacts, and of these
    bool kinematic; // steps whose velocities, or closed places, are nearest in typical units
} snw_arrays_schemes;
bool snw_model_arrays_apply(const snw_model *m, snw_arrays_schemes schemes);

// For `nscalar` scalars, whose outputs are known (model_outputs.h); `geometry`: also as functions
// of geometric numbers. Numbers of given motions are not among them for steps with hard contacts.
SNW_NODISCARD snw_status snw_model_arrays_create(const snw_model *m, int nscalar, bool geometry,
                                                 snw_arrays_schemes schemes,
                                                 snw_model_arrays **out);
void snw_model_arrays_destroy(snw_model_arrays *a); // NULL is fine

// Do all equations of `other` differ from those of the model in these numbers only? False also
// where that is not known. Initial values are not compared.
bool snw_model_arrays_only(const snw_model_arrays *a, const snw_model *other);

// Stiffness, damping and inertia of rods as the numbers in the laws of their sections and materials
// (model_sections.h), so that coefficients of one law do not share them? No before this call. The
// vector, its size and `snw_model_arrays_only` change with it, but not the bars.
void snw_model_arrays_by_sections(snw_model_arrays *a, bool yes);
// Bars of a scalar for the vector by sections, from the others, after the last map.
const double *snw_model_arrays_section_bars(snw_model_arrays *a, int scalar);

// Numbers of the vector, and the vector of a model.
size_t snw_model_arrays_size(const snw_model_arrays *a);
void snw_model_arrays_read(const snw_model_arrays *a, const snw_model *m, double *out);
// out (size) <- of each number the largest of its matrix, inertia or wrench, for rounding.
void snw_model_arrays_scale(const snw_model_arrays *a, const double *x, double *out);

// Completes the bars after the last map.
void snw_model_arrays_finish(snw_model_arrays *a);
// Derivatives by the numbers; the vector of scalar i is the i-th.
const double *snw_model_arrays_bars(const snw_model_arrays *a, int scalar);
void snw_model_arrays_clear(snw_model_arrays *a);
// Values that replace laws from now on, whose numbers have no part then; NULL: none. To be called
// again where they change.
void snw_model_arrays_set_manual(snw_model_arrays *a, const snw_manual_inputs *manual);
// Bars += the derivatives of the products of the covectors of a map with its equations, minus as in
// adjoint.h.
void snw_model_arrays_add(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map);
// Bars += y_bar (nscalar x outputs of the adjoint) times the derivatives of the outputs of a frame.
void snw_model_arrays_frame(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map,
                            const double *y_bar);
// Bars += the derivatives of the products of z_bar (nscalar x nsignal) with the samples of laws
// that are taken at a map; signal: with these samples.
void snw_model_arrays_sample(snw_model_arrays *a, const snw_map *map, const double *signal,
                             const double *z_bar);
// Bars of a scalar += derivatives of w (3) times value, rate and acceleration of a given motion at
// time t.
void snw_model_arrays_add_drive(snw_model_arrays *a, int scalar, int drive, double t,
                                const double *w);
// Bars of all scalars but the last += factor (of each) times those of the last, which are cleared:
// those of the margin of an event.
void snw_model_arrays_fold(snw_model_arrays *a, const double *factor);
// Are derivatives by geometric numbers (model_geometry.h) needed, which are the dearest? True
// before this call. Does number `at` of the vector belong to them?
void snw_model_arrays_need_geometry(snw_model_arrays *a, bool needed);
bool snw_model_arrays_is_geometry(const snw_model_arrays *a, size_t at);
// The same of shapes of what touches, the last of them.
void snw_model_arrays_need_shapes(snw_model_arrays *a, bool needed);
bool snw_model_arrays_is_shape(const snw_model_arrays *a, size_t at);
