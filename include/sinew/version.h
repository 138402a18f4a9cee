// SPDX-License-Identifier: MIT
//
// version.h: version of Sinew. The build takes it from this file.
//
// Versions with the same major number, and before 1.0 the same minor number too, have compatible
// functions and structures. Symbols of the shared library carry the major number.
#pragma once

#include "sinew/status.h"

#define SNW_VERSION_MAJOR 0
#define SNW_VERSION_MINOR 2
#define SNW_VERSION_PATCH 0
#define SNW_VERSION       "0.2.0"

#ifdef __cplusplus
extern "C" {
#endif

// Version of the library at run time; SNW_VERSION is that of the headers.
SNW_API const char *snw_version(void);

#ifdef __cplusplus
}
#endif
