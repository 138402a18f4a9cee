// SPDX-License-Identifier: MIT
//
// commands.h: tables of the subcommands, one per file cmd_*.c.
#pragma once

#include "cli/args.h"

extern const snw_command snw_cmd_run, snw_cmd_verify, snw_cmd_check, snw_cmd_show, snw_cmd_view,
    snw_cmd_play, snw_cmd_plot, snw_cmd_export, snw_cmd_fit, snw_cmd_gradient, snw_cmd_linearize,
    snw_cmd_optimize, snw_cmd_solve, snw_cmd_workspace, snw_cmd_track, snw_cmd_estimate,
    snw_cmd_reduce, snw_cmd_sweep, snw_cmd_new, snw_cmd_import, snw_cmd_schema, snw_cmd_help;
