// SPDX-License-Identifier: MIT
//
// sanitized.h: sanitizers look at lines, not at digits. Where many trials or long motions run the
// same lines, a few do for them: AMONG(few, all), numbers or texts.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AMONG(few, all) few
#else
#define AMONG(few, all) all
#endif
