// SPDX-License-Identifier: MIT
//
// OpenBLAS takes a buffer from a table of its own in each call that needs one, and puts it back at
// the end. The serial build, made without USE_LOCKING (Debian's is), takes it without a lock: two
// threads may get the same one, and both results are wrong, about once in 500 factorisations of 20
// x 20 matrices by four threads on two processors. Where a new buffer cannot be mapped, all builds
// try again for ever.
//
// The linker sends its calls of blas_memory_alloc and blas_memory_free here (--wrap,
// CMakeLists.txt): a lock around the originals, held for the time of looking into the table, not of
// computing; and a thread for which there is no new buffer waits for one that another thread gives
// back. Locks of all steps together are as many as calls that need a buffer (matrices from about 16
// x 16), 10 ns each.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS; NOLINT(bugprone-reserved-identifier)
#include "solve/blas_buffer.h"

#include "base/fail.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

enum {
    BUFFER = (128 << 20) + 4096, // bytes of one, of this OpenBLAS for x86_64
    REST = 16 << 20,             // bytes to be left for all else, HDF5's beginnings first of all
    MOST = 100                   // at once: fewer than its table has, which it complains about
};

// the originals, and what stands for them; the names are the linker's
// NOLINTBEGIN(bugprone-reserved-identifier)
void *__real_blas_memory_alloc(int where);
void __real_blas_memory_free(void *buffer);
void *__wrap_blas_memory_alloc(int where);
void __wrap_blas_memory_free(void *buffer);

// OpenBLAS has one table for the process, so there is one lock
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int mapped, taken; // buffers it has, and those in use; guarded by the lock

// Can so many bytes be mapped?
static bool has_room(size_t bytes) {
    void *trial = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED) return false;
    (void)munmap(trial, bytes);
    return true;
}

void *__wrap_blas_memory_alloc(int where) {
    (void)pthread_mutex_lock(&lock);
    // without any buffer there is nobody to wait for; snw_blas_ready has seen to it that there is
    // one
    while (mapped > 0 && taken == mapped && (taken == MOST || !has_room(BUFFER))) {
        (void)pthread_mutex_unlock(&lock);
        (void)sched_yield();
        (void)pthread_mutex_lock(&lock);
    }
    void *buffer = __real_blas_memory_alloc(where);
    if (++taken > mapped) mapped = taken;
    (void)pthread_mutex_unlock(&lock);
    return buffer;
}

void __wrap_blas_memory_free(void *buffer) {
    (void)pthread_mutex_lock(&lock);
    __real_blas_memory_free(buffer);
    taken--;
    (void)pthread_mutex_unlock(&lock);
}

snw_status snw_blas_ready(snw_error *err) {
    (void)pthread_mutex_lock(&lock);
    if (mapped == 0 && has_room(BUFFER + REST)) {
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
