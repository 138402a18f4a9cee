// SPDX-License-Identifier: MIT
//
// args_file.h: options that a model file gives to commands, in its block `commands`.
#pragma once

#include "cli/args.h"
#include "language/document.h"

// Add the options that the model file, the first operand, gives to this command, but those that the
// command line gives. A file that cannot be read is left to the command. SNW_E_PARSE: the command
// has no such option, or its value has a wrong form. SNW_E_ARGUMENT: operands are missing then.
SNW_NODISCARD snw_status snw_args_read_file(snw_args *a, snw_error *err);

// May a file give this option of a command, by its index in the table?
bool snw_args_file_has(const snw_command *c, int index);

// Check the options that a file gives to all commands. SNW_E_PARSE.
SNW_NODISCARD snw_status snw_args_check_file(const snw_document *d, int run, snw_error *err);
