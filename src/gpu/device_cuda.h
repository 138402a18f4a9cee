// SPDX-License-Identifier: MIT
//
// device_cuda.h: an NVIDIA graphics processor through the driver, which is loaded at run time, and
// kernels compiled for it by NVRTC and kept on disk. Neither is needed to build the library.
#pragma once

#include "base/fail.h"

#include <stddef.h>
#include <stdint.h>

typedef struct snw_cuda snw_cuda;
typedef uint64_t snw_cuda_address;

// Options of the compiler for kernels that are compiled quickly: little optimisation, under which
// functions stay functions unless they are marked `inline`. Compilers that do not know the first
// one get neither.
#define SNW_CUDA_QUICK  "--Ofast-compile=min"
#define SNW_CUDA_INLINE "-Dinline=__forceinline__"

// Open processor number `index`. SNW_E_IO: there is no driver or no such processor; err has the
// reason. The context is the primary one, which other libraries of the process use as well.
SNW_NODISCARD snw_status snw_cuda_open(int index, snw_cuda **out, snw_error *err);
void snw_cuda_close(snw_cuda *c); // NULL is fine
const char *snw_cuda_name(const snw_cuda *c);

// Compile kernels for an architecture, "sm_90", and keep them on disk, where snw_cuda_compile finds
// them: without a processor.
SNW_NODISCARD snw_status snw_cuda_keep(const char *architecture, const char *const *piece,
                                       int npiece, const char *const *option, int noption,
                                       snw_error *err);
// Kernels of the text, given in pieces, with `noption` options of the compiler.
SNW_NODISCARD snw_status snw_cuda_compile(snw_cuda *c, const char *const *piece, int npiece,
                                          const char *const *option, int noption, snw_error *err);
// out[i] <- kernel of that name.
SNW_NODISCARD snw_status snw_cuda_kernel(snw_cuda *c, const char *name, void **out, snw_error *err);

SNW_NODISCARD snw_status snw_cuda_alloc(snw_cuda *c, size_t bytes, snw_cuda_address *out,
                                        snw_error *err); // zeroed
void snw_cuda_free(snw_cuda *c, snw_cuda_address p);     // 0 is fine
SNW_NODISCARD snw_status snw_cuda_write(snw_cuda *c, snw_cuda_address to, const void *from,
                                        size_t bytes, snw_error *err);
SNW_NODISCARD snw_status snw_cuda_read(snw_cuda *c, void *to, snw_cuda_address from, size_t bytes,
                                       snw_error *err);
// One thread for each of n robots, in blocks of `block`; args: addresses of the kernel's arguments.
SNW_NODISCARD snw_status snw_cuda_launch(snw_cuda *c, void *kernel, int n, int block, void **args,
                                         snw_error *err);
// Wait until all launches have ended.
SNW_NODISCARD snw_status snw_cuda_wait(snw_cuda *c, snw_error *err);
// Work queued in the stream `then` from now on waits for the work queued in `first` so far. Handles
// of the driver (CUstream); NULL: the legacy default stream, which queues all work at first.
SNW_NODISCARD snw_status snw_cuda_order(snw_cuda *c, void *first, void *then, snw_error *err);
// Queue all work from now on in this stream, behind the work so far.
SNW_NODISCARD snw_status snw_cuda_use_stream(snw_cuda *c, void *stream, snw_error *err);
void *snw_cuda_stream(const snw_cuda *c);
size_t snw_cuda_free_bytes(const snw_cuda *c); // of its memory
