// SPDX-License-Identifier: MIT
//
// explain.h: says in words what a description holds, for people and for programs.
#pragma once

#include "model/desc.h"
#include "output/json_field.h"
#include "study/record.h"

// The tree of links, loops, loads, probes and steps, on standard output. idle: nlink,
// snw_run_idle_joints.
void snw_explain_print(const snw_desc *d, const snw_run_info *info, const bool *idle);

// The same as keys of the open object.
void snw_explain_json(snw_json *j, const snw_desc *d, const snw_run_info *info, const bool *idle);
