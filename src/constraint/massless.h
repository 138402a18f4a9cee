// SPDX-License-Identifier: MIT
//
// massless.h: coordinates that move no mass, so that accelerations do not exist. They are reported
// before a study runs.
#pragma once

#include "model/model.h"

// SNW_E_MODEL when coordinates can move, at the model's initial configuration and near it, without
// moving mass; the message names the link and its coordinates. Models with constraint rows (loops,
// drives) are not checked: rows give such motions inertia, and motions that no row restricts may be
// idle (theory.md 3.8). Allocates; costs nv^3.
SNW_NODISCARD snw_status snw_massless_check(const snw_model *m, snw_error *err);
