// SPDX-License-Identifier: MIT
//
// scene.h: what a robot looks like, as JSON, for whoever draws the poses of a result file:
// docs/results.md describes it. Lengths in m, frames of nodes; node -1 is the world.
#pragma once

#include "model/model.h"
#include "study/run.h"

// *out <- the scene of a model, a text for snw_free.
SNW_NODISCARD snw_status snw_scene_make(const snw_model *m, char **out, snw_error *err);

// The same of a run: behind that of the beginning those that changes in the course of the study
// make.
SNW_NODISCARD snw_status snw_scene_of_run(const snw_run *r, char **out, snw_error *err);
