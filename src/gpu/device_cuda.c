// SPDX-License-Identifier: MIT
//
// The CUDA driver and NVRTC by their functions of C, declared here: their binary interfaces are
// stable, so that no header of CUDA is needed.
#include "gpu/device_cuda.h"

#include "base/alloc.h"
#include "base/on_demand.h"
#include "gpu/device_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- functions ----------------------------------------------------------------------------------

typedef int cu_result; // 0: success
enum { OUT_OF_MEMORY = 2, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76, NO_TIMING = 2 };

#define DRIVER(X)                                                                                  \
    X(Init, (unsigned flags))                                                                      \
    X(DeviceGetCount, (int *count))                                                                \
    X(DeviceGet, (int *device, int index))                                                         \
    X(DeviceGetName, (char *name, int size, int device))                                           \
    X(DeviceGetAttribute, (int *value, int attribute, int device))                                 \
    X(DevicePrimaryCtxRetain, (void **context, int device))                                        \
    X(DevicePrimaryCtxRelease_v2, (int device))                                                    \
    X(CtxPushCurrent_v2, (void *context))                                                          \
    X(CtxPopCurrent_v2, (void **context))                                                          \
    X(StreamSynchronize, (void *stream))                                                           \
    X(EventCreate, (void **event, unsigned flags))                                                 \
    X(EventDestroy_v2, (void *event))                                                              \
    X(EventRecord, (void *event, void *stream))                                                    \
    X(StreamWaitEvent, (void *stream, void *event, unsigned flags))                                \
    X(ModuleLoadData, (void **module, const void *image))                                          \
    X(ModuleUnload, (void *module))                                                                \
    X(ModuleGetFunction, (void **function, void *module, const char *name))                        \
    X(MemAlloc_v2, (snw_cuda_address * p, size_t bytes))                                           \
    X(MemFree_v2, (snw_cuda_address p))                                                            \
    X(MemGetInfo_v2, (size_t * free, size_t * total))                                              \
    X(MemcpyHtoDAsync_v2, (snw_cuda_address to, const void *from, size_t bytes, void *stream))     \
    X(MemcpyDtoHAsync_v2, (void *to, snw_cuda_address from, size_t bytes, void *stream))           \
    X(MemsetD8Async, (snw_cuda_address to, unsigned char value, size_t bytes, void *stream))       \
    X(LaunchKernel,                                                                                \
      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,            \
       unsigned bz, unsigned shared, void *stream, void **args, void **extra))                     \
    X(GetErrorString, (cu_result result, const char **text))

#define COMPILER(X)                                                                                \
    X(Version, (int *major, int *minor))                                                           \
    X(CreateProgram, (void **program, const char *text, const char *name, int nheader,             \
                      const char *const *header, const char *const *header_name))                  \
    X(DestroyProgram, (void **program))                                                            \
    X(CompileProgram, (void *program, int noption, const char *const *option))                     \
    X(GetProgramLogSize, (void *program, size_t *bytes))                                           \
    X(GetProgramLog, (void *program, char *log))                                                   \
    X(GetCUBINSize, (void *program, size_t *bytes))                                                \
    X(GetCUBIN, (void *program, char *cubin))

#define FUNCTION(name, arguments) cu_result(*name) arguments;
#define NAME(name, arguments)     #name,
#define COUNT(name, arguments)    +1

typedef struct cu_driver {
    DRIVER(FUNCTION)
} cu_driver;
typedef struct cu_compiler {
    COMPILER(FUNCTION)
} cu_compiler;

struct snw_cuda {
    cu_driver cu;
    int device;
    void *context, *module, *event;
    void *stream; // in which all work is queued; NULL: the legacy default stream
    char name[100];
    char architecture[32];
};

static snw_status load_driver(cu_driver *out, snw_error *err) {
    static const char *const names[] = {DRIVER(NAME)};
    return snw_on_demand("libcuda.so.1", "libcuda1, of the NVIDIA driver", "cu", 0 DRIVER(COUNT),
                         names, out, err);
}

static snw_status load_compiler(cu_compiler *out, snw_error *err) {
    static const char *const names[] = {COMPILER(NAME)};
    static const char *const files[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const char *given = getenv("SINEW_NVRTC"); // its path, where the loader does not find it
    if (given) {
        return snw_on_demand(given, "NVRTC of CUDA 12 or 13", "nvrtc", 0 COMPILER(COUNT), names,
                             out, err);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snw_error ignored = {0};
        if (snw_on_demand(files[i], "NVRTC", "nvrtc", 0 COMPILER(COUNT), names, out, &ignored) ==
            SNW_OK)
            return SNW_OK;
    }
    return snw_fail(err, SNW_E_IO,
                    "kernels for the graphics processor need NVRTC of CUDA 12 or 13, libnvrtc.so, "
                    "which is not found; install it (Python: pip install nvidia-cuda-nvrtc), or "
                    "give its path in the environment variable SINEW_NVRTC");
}

static snw_status cuda_check(const snw_cuda *c, cu_result result, const char *what,
                             snw_error *err) {
    if (result == 0) return SNW_OK;
    const char *text = NULL;
    (void)c->cu.GetErrorString(result, &text);
    return snw_fail(err, result == OUT_OF_MEMORY ? SNW_E_MEMORY : SNW_E_IO,
                    "graphics processor: %s failed: %s (%d)", what, text ? text : "unknown error",
                    result);
}
#define CUDA_TRY(c, call, what, err) SNW_TRY(cuda_check(c, (c)->cu.call, what, err))

// ---- processor ----------------------------------------------------------------------------------

static snw_status open_device(snw_cuda *c, int index, snw_error *err) {
    int count = 0, major = 0, minor = 0;
    SNW_TRY(load_driver(&c->cu, err));
    CUDA_TRY(c, Init(0), "the driver's start", err);
    CUDA_TRY(c, DeviceGetCount(&count), "counting processors", err);
    if (index < 0 || index >= count)
        return snw_fail(err, SNW_E_IO, "there is no graphics processor number %d, there are %d",
                        index, count);
    CUDA_TRY(c, DeviceGet(&c->device, index), "opening the processor", err);
    CUDA_TRY(c, DeviceGetName(c->name, (int)sizeof c->name, c->device), "its name", err);
    CUDA_TRY(c, DeviceGetAttribute(&major, CAPABILITY_MAJOR, c->device), "its capability", err);
    CUDA_TRY(c, DeviceGetAttribute(&minor, CAPABILITY_MINOR, c->device), "its capability", err);
    (void)snprintf(c->architecture, sizeof c->architecture, "sm_%d%d", major, minor);
    CUDA_TRY(c, DevicePrimaryCtxRetain(&c->context, c->device), "its context", err);
    (void)c->cu.CtxPushCurrent_v2(c->context);
    const cu_result result = c->cu.EventCreate(&c->event, NO_TIMING);
    void *context;
    (void)c->cu.CtxPopCurrent_v2(&context);
    return cuda_check(c, result, "an event", err);
}

snw_status snw_cuda_open(int index, snw_cuda **out, snw_error *err) {
    *out = NULL;
    snw_cuda *c = snw_alloc(sizeof *c);
    if (!c) return snw_fail_memory(err);
    const snw_status s = open_device(c, index, err);
    if (s != SNW_OK) {
        snw_cuda_close(c);
        return s;
    }
    *out = c;
    return SNW_OK;
}

static void cuda_enter(const snw_cuda *c) { (void)c->cu.CtxPushCurrent_v2(c->context); }
static void cuda_leave(const snw_cuda *c) {
    void *context;
    (void)c->cu.CtxPopCurrent_v2(&context);
}

void snw_cuda_close(snw_cuda *c) {
    if (!c) return;
    if (c->context) {
        cuda_enter(c);
        if (c->event) (void)c->cu.EventDestroy_v2(c->event);
        if (c->module) (void)c->cu.ModuleUnload(c->module);
        cuda_leave(c);
        (void)c->cu.DevicePrimaryCtxRelease_v2(c->device);
    }
    snw_free(c);
}

const char *snw_cuda_name(const snw_cuda *c) { return c->name; }

// ---- kernels ------------------------------------------------------------------------------------

static char *join_pieces(const char *const *piece, int npiece) {
    size_t bytes = 1;
    for (int i = 0; i < npiece; i++) bytes += strlen(piece[i]);
    char *text = snw_alloc(bytes), *to = text;
    for (int i = 0; text && i < npiece; i++) {
        const size_t n = strlen(piece[i]);
        memcpy(to, piece[i], n);
        to += n;
    }
    return text;
}

// The first line of the compiler's messages that names an error.
static snw_status fail_compile(const cu_compiler *k, void *program, snw_error *err) {
    size_t bytes = 0;
    char *log = k->GetProgramLogSize(program, &bytes) == 0 ? snw_alloc(bytes + 1) : NULL;
    if (log) (void)k->GetProgramLog(program, log);
    const char *line = log ? strstr(log, "error") : NULL;
    const snw_status s =
        snw_fail(err, SNW_E_IO, "NVRTC does not compile the kernels of this model: %.*s",
                 line ? (int)strcspn(line, "\n") : 20, line ? line : "no message         ");
    snw_free(log);
    return s;
}

enum { MOST_OPTIONS = 300 };

static bool is_quick(const char *option) {
    return strcmp(option, SNW_CUDA_QUICK) == 0 || strcmp(option, SNW_CUDA_INLINE) == 0;
}

// The options without those of quick kernels where the compiler is older than 12.9; returns their
// number.
static int known_options(const cu_compiler *k, int noption, const char *const *option,
                         const char **known) {
    int major = 0, minor = 0, n = 0;
    const bool quick = k->Version(&major, &minor) == 0 && 10 * major + minor >= 129;
    for (int i = 0; i < noption; i++) {
        if (quick || !is_quick(option[i])) known[n++] = option[i];
    }
    return n;
}

static snw_status compile_text(const char *text, int noption, const char *const *option,
                               snw_device_image *out, snw_error *err) {
    cu_compiler k;
    void *program = NULL;
    SNW_TRY(load_compiler(&k, err));
    const char *known[MOST_OPTIONS];
    const int nknown = known_options(&k, noption, option, known);
    if (k.CreateProgram(&program, text, "sinew.cu", 0, NULL, NULL) != 0)
        return snw_fail(err, SNW_E_IO, "NVRTC makes no program");
    snw_status s = SNW_OK;
    if (k.CompileProgram(program, nknown, known) != 0) {
        s = fail_compile(&k, program, err);
    } else if (k.GetCUBINSize(program, &out->bytes) != 0 || !(out->image = snw_alloc(out->bytes)) ||
               k.GetCUBIN(program, out->image) != 0) {
        s = snw_fail(err, SNW_E_IO, "NVRTC gives no kernels for this processor");
    }
    (void)k.DestroyProgram(&program);
    return s;
}

// *out <- kernels from disk, or compiled and kept there.
static snw_status take_image(const char *architecture, const char *const *piece, int npiece,
                             const char *const *option, int noption, snw_device_image *out,
                             snw_error *err) {
    char arch[40];
    (void)snprintf(arch, sizeof arch, "-arch=%.30s", architecture);
    const char *all[MOST_OPTIONS] = {"-default-device", "-std=c++20", "-w", arch};
    int n = 4;
    SNW_ASSERT(noption <= MOST_OPTIONS - n);
    for (int i = 0; i < noption; i++) all[n++] = option[i];
    char further[500], *rest = NULL;
    const char *given = getenv("SINEW_NVRTC_OPTIONS"); // for trials
    if (snprintf(further, sizeof further, "%s", given ? given : "") >= (int)sizeof further)
        return snw_fail(err, SNW_E_ARGUMENT, "SINEW_NVRTC_OPTIONS has 500 characters or more");
    for (char *word = strtok_r(further, " ", &rest); word && n < MOST_OPTIONS;
         word = strtok_r(NULL, " ", &rest))
        all[n++] = word;
    char *text = join_pieces(piece, npiece);
    if (!text) return snw_fail_memory(err);
    const uint64_t key = snw_device_cache_key(text, n, all);
    snw_status s = SNW_OK;
    if (!snw_device_cache_read(key, out)) {
        s = compile_text(text, n, all, out, err);
        if (s == SNW_OK) snw_device_cache_write(key, out);
    }
    snw_free(text);
    return s;
}

snw_status snw_cuda_keep(const char *architecture, const char *const *piece, int npiece,
                         const char *const *option, int noption, snw_error *err) {
    snw_device_image image = {0};
    const snw_status s = take_image(architecture, piece, npiece, option, noption, &image, err);
    snw_free(image.image);
    return s;
}

snw_status snw_cuda_compile(snw_cuda *c, const char *const *piece, int npiece,
                            const char *const *option, int noption, snw_error *err) {
    snw_device_image image = {0};
    snw_status s = take_image(c->architecture, piece, npiece, option, noption, &image, err);
    if (s == SNW_OK) {
        cuda_enter(c);
        s = cuda_check(c, c->cu.ModuleLoadData(&c->module, image.image), "loading kernels", err);
        cuda_leave(c);
    }
    snw_free(image.image);
    return s;
}

snw_status snw_cuda_kernel(snw_cuda *c, const char *name, void **out, snw_error *err) {
    cuda_enter(c);
    const cu_result result = c->cu.ModuleGetFunction(out, c->module, name);
    cuda_leave(c);
    return cuda_check(c, result, name, err);
}

// ---- memory and launches ------------------------------------------------------------------------

snw_status snw_cuda_alloc(snw_cuda *c, size_t bytes, snw_cuda_address *out, snw_error *err) {
    size_t unused = 0, total = 0;
    cuda_enter(c);
    cu_result result = c->cu.MemAlloc_v2(out, bytes ? bytes : 1);
    if (result == 0) result = c->cu.MemsetD8Async(*out, 0, bytes ? bytes : 1, c->stream);
    (void)c->cu.MemGetInfo_v2(&unused, &total);
    cuda_leave(c);
    if (result == OUT_OF_MEMORY) {
        return snw_fail(err, SNW_E_MEMORY,
                        "graphics processor: %zu MB were asked for, %zu of %zu MB are free; take "
                        "fewer robots",
                        bytes >> 20, unused >> 20, total >> 20);
    }
    return cuda_check(c, result, "allocation", err);
}

void snw_cuda_free(snw_cuda *c, snw_cuda_address p) {
    if (!p) return;
    cuda_enter(c); // waits for the work of the device
    (void)c->cu.MemFree_v2(p);
    cuda_leave(c);
}

snw_status snw_cuda_write(snw_cuda *c, snw_cuda_address to, const void *from, size_t bytes,
                          snw_error *err) {
    cuda_enter(c);
    const cu_result result = bytes ? c->cu.MemcpyHtoDAsync_v2(to, from, bytes, c->stream) : 0;
    cuda_leave(c);
    return cuda_check(c, result, "a copy to it", err);
}

snw_status snw_cuda_read(snw_cuda *c, void *to, snw_cuda_address from, size_t bytes,
                         snw_error *err) {
    cuda_enter(c);
    cu_result result = bytes ? c->cu.MemcpyDtoHAsync_v2(to, from, bytes, c->stream) : 0;
    if (result == 0) result = c->cu.StreamSynchronize(c->stream);
    cuda_leave(c);
    return cuda_check(c, result, "a copy from it", err);
}

snw_status snw_cuda_launch(snw_cuda *c, void *kernel, int n, int block, void **args,
                           snw_error *err) {
    const unsigned blocks = (unsigned)((n + block - 1) / block);
    cuda_enter(c);
    const cu_result result =
        c->cu.LaunchKernel(kernel, blocks, 1, 1, (unsigned)block, 1, 1, 0, c->stream, args, NULL);
    cuda_leave(c);
    return cuda_check(c, result, "a launch", err);
}

snw_status snw_cuda_wait(snw_cuda *c, snw_error *err) {
    cuda_enter(c);
    const cu_result result = c->cu.StreamSynchronize(c->stream);
    cuda_leave(c);
    return cuda_check(c, result, "computation", err);
}

snw_status snw_cuda_order(snw_cuda *c, void *first, void *then, snw_error *err) {
    cuda_enter(c);
    cu_result result = c->cu.EventRecord(c->event, first);
    if (result == 0) result = c->cu.StreamWaitEvent(then, c->event, 0);
    cuda_leave(c);
    return cuda_check(c, result, "an order of streams", err);
}

snw_status snw_cuda_use_stream(snw_cuda *c, void *stream, snw_error *err) {
    if (stream == c->stream) return SNW_OK;
    SNW_TRY(snw_cuda_order(c, c->stream, stream, err));
    c->stream = stream;
    return SNW_OK;
}

void *snw_cuda_stream(const snw_cuda *c) { return c->stream; }

size_t snw_cuda_free_bytes(const snw_cuda *c) {
    size_t unused = 0, total = 0;
    cuda_enter(c);
    (void)c->cu.MemGetInfo_v2(&unused, &total);
    cuda_leave(c);
    return unused;
}
