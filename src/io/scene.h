// SPDX-License-Identifier: MIT
//
// scene.h: what a robot looks like, as JSON, for whoever draws the poses of a result file: docs/results.md describes it.
// Lengths in m, frames of nodes; node -1 is the world.
#pragma once

#include "model/model.h"

// *out <- the scene of a model, a text for snw_free.
SNW_NODISCARD snw_status snw_scene_make(const snw_model *m, char **out, snw_error *err);
