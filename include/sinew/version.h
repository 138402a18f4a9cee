// SPDX-License-Identifier: MIT
//
// version.h: version of Sinew. The build takes it from this file.
#pragma once

#define SNW_VERSION_MAJOR 0
#define SNW_VERSION_MINOR 1
#define SNW_VERSION_PATCH 0
#define SNW_VERSION       "0.1.0"
