// SPDX-License-Identifier: MIT
//
// help.h: help texts, generated from the tables of the commands.
#pragma once

#include "cli/args.h"

// Print all commands with one line each on standard output.
void snw_help_overview(void);

// Print the help of one command on standard output.
void snw_help_command(const snw_command *c);

// Write the tables of all commands as JSON, for the generator of the documentation.
void snw_help_json(snw_json *j);

// Print version, compiler and libraries on standard output; or as JSON.
void snw_version_print(void);
void snw_version_json(snw_json *j);
