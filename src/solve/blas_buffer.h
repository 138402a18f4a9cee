// SPDX-License-Identifier: MIT
//
// blas_buffer.h: makes the work buffers of OpenBLAS safe for threads and for machines with little
// address space.
#pragma once

#include "sinew/status.h"

// Ensure that OpenBLAS has a buffer; call before the first robot is created. Without address space
// for one, OpenBLAS would retry for ever. SNW_E_MEMORY: there is no space. May be called from any
// thread, and repeatedly.
SNW_NODISCARD snw_status snw_blas_ready(snw_error *err);
