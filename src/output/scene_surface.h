// SPDX-License-Identifier: MIT
//
// scene_surface.h: writes the surfaces of obstacles that are data, as triangles, into a scene.
#pragma once

#include "model/obstacle_kind.h"
#include "output/json.h"

// Widths of the smallest box about the origin of its axes that holds the obstacle, m, for kinds
// that are data; the third is 0 where it is unknown.
void snw_scene_surface_size(const snw_obstacle *o, double size[3]);

// Fields `vertices`, three coordinates each, and `faces`, three vertices each. Nothing for shapes
// with sizes, and for meshes with more faces than a page can hold.
void snw_scene_surface_put(snw_json *j, const snw_obstacle *o);
