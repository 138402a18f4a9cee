// SPDX-License-Identifier: MIT
//
// template.h: the models of `sinew new`, from the files of templates/, embedded in the command.
#pragma once

typedef struct snw_template {
    const char *name; // "arm"
    const char *text; // the model; its first line is a comment that says what it is
} snw_template;

// All templates, by name; one without a name ends them.
extern const snw_template snw_templates[];
