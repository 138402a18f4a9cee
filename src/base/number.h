// SPDX-License-Identifier: MIT
//
// number.h: decisions by numbers, written once for doubles and for packs.
//
// Sources of the recursion are also compiled with numbers that are packs: one number of each of
// several robots (base/pack.hpp). There a comparison gives a mask, which converts to nothing, so
// that an `if` on numbers of robots does not compile. It is written with these functions instead:
//   snw_select      per robot one of two values, both of which are computed
//   snw_all         do all robots satisfy it? Then work that none needs may be left out
//   snw_any         does some robot satisfy it?
//   snw_mask_from   the same answer for all robots
//   snw_whole       whole number that is the same for all robots
// For doubles a mask is a bool, snw_select is ?:, snw_all and snw_any are the identity.
#pragma once

#include <stdbool.h>

#ifndef SNW_LANES
typedef bool snw_mask;

static inline snw_mask snw_mask_from(bool c) { return c; }
static inline double snw_select(snw_mask c, double a, double b) { return c ? a : b; }
static inline bool snw_all(snw_mask c) { return c; }
static inline bool snw_any(snw_mask c) { return c; }
static inline int snw_whole(double x) { return (int)x; }
#endif
