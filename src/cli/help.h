// SPDX-License-Identifier: MIT
//
// help.h: help texts, written from the tables of the commands.
#pragma once

#include "cli/args.h"

// All commands in brief, on standard output.
void snw_help_overview(void);

// One command in full, on standard output.
void snw_help_command(const snw_command *c);

// The tables of all commands, for the program that writes the documentation.
void snw_help_json(snw_json *j);

// Version, compiler and libraries, on standard output.
void snw_version_print(void);
void snw_version_json(snw_json *j);
