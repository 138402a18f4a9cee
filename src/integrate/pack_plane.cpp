// SPDX-License-Identifier: MIT
//
// Motion and forces of rods in a plane with numbers that are packs: a part of pack_engine.cpp that
// is compiled as dynamics/plane_motion.c is, without products with constant zeros.
#include "base/pack.hpp"

#include "base/vectorise.h"
#undef SNW_INLINE // the constants of the callers must propagate
#define SNW_INLINE PACK_INLINE

namespace SNW_PACK_PARTS {
#define double pack
#include "dynamics/plane_motion.c"
#undef double
} // namespace
