// SPDX-License-Identifier: MIT
//
// viewer.h: the viewer's page without data, which the build makes from viewer/ and puts into the command.
#pragma once

#include <stddef.h>

// HTML with SNW_VIEWER_MARK in the place of the data; empty when the build could not make it.
extern const unsigned char snw_viewer_page[];
extern const size_t snw_viewer_size;
// Then: what was missing, for people. Else empty.
extern const char snw_viewer_missing[];

#define SNW_VIEWER_MARK "<!--sinew-data-->"
