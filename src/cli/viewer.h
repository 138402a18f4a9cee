// SPDX-License-Identifier: MIT
//
// viewer.h: the viewer's page without data, which the build makes from viewer/ and puts into the
// command.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// HTML with SNW_VIEWER_POLICY and SNW_VIEWER_MARK in the places of the content policy and of the
// data; empty when the build could not make it.
extern const unsigned char snw_viewer_page[];
extern const size_t snw_viewer_size;
// Then: what was missing, for people. Else empty.
extern const char snw_viewer_missing[];

#define SNW_VIEWER_POLICY "<!--sinew-policy-->"
#define SNW_VIEWER_MARK   "<!--sinew-data-->"

// What stands before, between and behind the two marks.
typedef struct snw_viewer_pieces {
    const char *text[3];
    size_t size[3];
} snw_viewer_pieces;

// False: the build put no page into the command.
bool snw_viewer_split(snw_viewer_pieces *out);

// Ask the desktop to show an address or a file; false when there is nobody to ask. Without `wait`
// nobody waits for the answer.
bool snw_viewer_show(const char *address, bool wait);
