// SPDX-License-Identifier: MIT
//
// viewer.h: the page of the viewer without data, built from viewer/ and embedded in the command.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// HTML with SNW_VIEWER_POLICY and SNW_VIEWER_MARK in place of the content security policy and of
// the data; empty when the build could not make it.
extern const unsigned char snw_viewer_page[];
extern const size_t snw_viewer_size;
// The reason for that, as text; else empty.
extern const char snw_viewer_missing[];

#define SNW_VIEWER_POLICY "<!--sinew-policy-->"
#define SNW_VIEWER_MARK   "<!--sinew-data-->"

// The parts of the page before, between and after the two marks.
typedef struct snw_viewer_pieces {
    const char *text[3];
    size_t size[3];
} snw_viewer_pieces;

// Split the page at its marks. False when the command has no page.
bool snw_viewer_split(snw_viewer_pieces *out);

// Open an address or a file in the browser of the desktop; false when that fails. wait: until the
// opener has returned; otherwise its failure is not detected.
bool snw_viewer_show(const char *address, bool wait);
