// SPDX-License-Identifier: MIT
//
// The engine of graphics processors on the host in single precision. The compiler makes literals
// single, too (CMakeLists.txt).
#define SNW_FLOATS
#define snw_device snw_device_of_singles // functions of the same names take other numbers
#include "gpu/device_host.cpp"
