// SPDX-License-Identifier: MIT
//
// locomotion_connection.h: the connection of a robot that moves by its shape (theory.md 6.8). The
// body twist of a site for the rates r' of the driven coordinates is
//   eta = -A(r) r'                                                                 (6.8.1)
// where contacts determine the motion or momentum is conserved, and eta = -A r' + Gamma p with the
// momenta p along the motions that contacts leave free otherwise: A belongs to p = 0. The curvature
//   F_ij = d_i A_j - d_j A_i - [A_i, A_j]                                          (6.8.2)
// is the motion per area of a small loop of the shape, log g = -sigma F_ij.
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_connection snw_connection;

// SNW_E_MODEL: as snw_locomotion_create.
SNW_NODISCARD snw_status snw_connection_create(const snw_model *m, snw_connection **out,
                                               snw_error *err);
void snw_connection_destroy(snw_connection *c); // NULL is fine
// From now on another model that fits (snw_model_fits); NULL is fine.
void snw_connection_use(snw_connection *c, const snw_model *m);
// Is the curvature defined? Only a base may move besides driven coordinates.
bool snw_connection_has_curvature(const snw_connection *c);

// out <- column A_j of the driven coordinate `dof` for a segment or observer, in its frame, at the
// configuration of s; NaN where contacts become dependent.
void snw_connection_column(snw_connection *c, const snw_inputs *in, const snw_state *s, int seg,
                           int dof, snw_twist *out);
// out <- F_ij of two driven coordinates; derivatives of A by central differences of order six.
void snw_connection_curvature(snw_connection *c, const snw_inputs *in, const snw_state *s, int seg,
                              int dof_i, int dof_j, snw_twist *out);
