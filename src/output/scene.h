// SPDX-License-Identifier: MIT
//
// scene.h: scene of a robot as JSON, for drawing the poses of a result file: geometry of links,
// loops, tendons, loads, contacts, and units of probes. docs/results.md describes it. Lengths in m,
// in the frames of nodes; node -1 is the world.
#pragma once

#include "model/model.h"
#include "study/run.h"

// *out <- scene of a model, a text to be freed by snw_free.
SNW_NODISCARD snw_status snw_scene_make(const snw_model *m, char **out, snw_error *err);

// The same for a run: the initial scene, followed by the scenes after changes of the study.
SNW_NODISCARD snw_status snw_scene_of_run(const snw_run *r, char **out, snw_error *err);
