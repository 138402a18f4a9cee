// SPDX-License-Identifier: MIT
//
// device_text.h: the text that a graphics processor compiles, in pieces; written by
// tools/device_source.py from device_engine.inc when the library is built.
#pragma once

extern const char *const snw_device_text[];
extern const int snw_device_pieces;
