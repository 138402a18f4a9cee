// SPDX-License-Identifier: MIT
//
// blas_buffer.h: the buffers OpenBLAS computes in, made safe for threads and for machines with
// little address space.
#pragma once

#include "sinew/status.h"

// Make sure that OpenBLAS has a buffer, before the first robot: without address space for it
// OpenBLAS would look for it for ever. SNW_E_MEMORY: there is none. May be called from any thread,
// and again.
SNW_NODISCARD snw_status snw_blas_ready(snw_error *err);
