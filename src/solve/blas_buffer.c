// SPDX-License-Identifier: MIT
//
// Lock around the buffer table of OpenBLAS.
//
// OpenBLAS takes a buffer from a table in each call that needs one, and returns it at the end. The
// serial build without USE_LOCKING (Debian's) takes it without a lock: two threads may get the same
// buffer, and both results are wrong, about once in 500 factorisations of 20 x 20 matrices by four
// threads on two processors. Where a new buffer cannot be mapped, all builds retry for ever.
//
// The linker redirects calls of blas_memory_alloc and blas_memory_free to this file (--wrap,
// CMakeLists.txt). A lock protects the originals; it is held during the table access, not during
// the computation. A thread for which there is no new buffer waits for one that another thread
// returns. The lock is taken once per call that needs a buffer (matrices from about 16 x 16), 10 ns
// each.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS; NOLINT(bugprone-reserved-identifier)
#include "solve/blas_buffer.h"

#include "base/fail.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

enum {
    BUFFER = (128 << 20) + 4096, // bytes of one buffer, in this OpenBLAS for x86_64
    RESERVE = 16 << 20,          // bytes to leave for everything else, mainly the start of HDF5
    MOST = 100 // at once: fewer than the size of the table, beyond which OpenBLAS prints warnings
};

// the originals and their replacements; the names are given by the linker
// NOLINTBEGIN(bugprone-reserved-identifier)
void *__real_blas_memory_alloc(int where);
void __real_blas_memory_free(void *buffer);
void *__wrap_blas_memory_alloc(int where);
void __wrap_blas_memory_free(void *buffer);

// OpenBLAS has one table per process, so there is one lock
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int mapped, in_use; // buffers in the table, and those in use; guarded by the lock

// can so many bytes be mapped?
static bool has_room(size_t bytes) {
    void *trial = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED) return false;
    (void)munmap(trial, bytes);
    return true;
}

void *__wrap_blas_memory_alloc(int where) {
    (void)pthread_mutex_lock(&lock);
    // wait only if there is a buffer to wait for; snw_blas_ready ensures that there is one
    while (mapped > 0 && in_use == mapped && (in_use == MOST || !has_room(BUFFER))) {
        (void)pthread_mutex_unlock(&lock);
        (void)sched_yield();
        (void)pthread_mutex_lock(&lock);
    }
    void *buffer = __real_blas_memory_alloc(where);
    if (++in_use > mapped) mapped = in_use;
    (void)pthread_mutex_unlock(&lock);
    return buffer;
}

void __wrap_blas_memory_free(void *buffer) {
    (void)pthread_mutex_lock(&lock);
    __real_blas_memory_free(buffer);
    in_use--;
    (void)pthread_mutex_unlock(&lock);
}

snw_status snw_blas_ready(snw_error *err) {
    (void)pthread_mutex_lock(&lock);
    if (mapped == 0 && has_room(BUFFER + RESERVE)) {
        __real_blas_memory_free(__real_blas_memory_alloc(0));
        mapped = 1;
    }
    const bool ready = mapped > 0;
    (void)pthread_mutex_unlock(&lock);
    if (ready) return SNW_OK;
    return snw_fail(err, SNW_E_MEMORY,
                    "OpenBLAS needs %d MiB of address space in one piece, and the limit leaves "
                    "less; raise it (ulimit -v unlimited, ulimit -d unlimited)",
                    BUFFER >> 20);
}
// NOLINTEND(bugprone-reserved-identifier)
