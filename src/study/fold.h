// SPDX-License-Identifier: MIT
//
// fold.h: how the folds of a path move when another parameter of the file changes: their
// derivatives, and the curve of folds in t and that parameter. theory.md 5.2
#pragma once

#include "study/equilibria.h"

// derivative (path->family.nparameter) <- dt/dm at a fold for each parameter m: -psi' r_m / psi'
// r_t, psi the left null vector (n) and psi_t = psi' r_t. r_m by differences of sixth order between
// models compiled anew. Allocates.
SNW_NODISCARD snw_status snw_fold_derivatives(snw_equilibria *eq, const snw_path_desc *path,
                                              const double *point, const double *psi, double psi_t,
                                              double *derivative, snw_error *err);

// Follow the curve of folds through `point` within the range of path->curve, to both sides, and
// pass its points on like those of a path: with the statics of their own model, and cusps as
// special points. Allocates.
SNW_NODISCARD snw_status snw_fold_curve(snw_equilibria *eq, const snw_path_desc *path,
                                        const double *point, snw_error *err);
