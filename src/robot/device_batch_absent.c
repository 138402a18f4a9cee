// SPDX-License-Identifier: MIT
//
// Batches on graphics processors where the library is built without them.
#include "sinew/device_batch.h"

#include "base/fail.h"

snw_status snw_device_batch_create(snw_robot_model *m, int n, const char *device,
                                   snw_device_batch **out, snw_error *err) {
    return snw_device_batch_create_with(m, n, device, NULL, out, err);
}
snw_status snw_device_batch_create_with(snw_robot_model *m, int n, const char *device,
                                        const snw_device_batch_options *how, snw_device_batch **out,
                                        snw_error *err) {
    (void)m, (void)n, (void)device, (void)how;
    if (out) *out = NULL;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "this build of the library has no batches on graphics processors: they need "
                    "gcc with C++ and Python when it is built");
}
snw_status snw_device_batch_compile(snw_robot_model *m, const char *architecture,
                                    const snw_device_batch_options *how, snw_error *err) {
    snw_device_batch *none;
    (void)architecture;
    return snw_device_batch_create_with(m, 1, "host", how, &none, err);
}

// There is no batch.
#define NONE(result, name, ...)                                                                    \
    result snw_device_batch_##name(__VA_ARGS__) { return (result)0; }
#define REFUSE(name, ...)                                                                          \
    snw_status snw_device_batch_##name(__VA_ARGS__) {                                              \
        return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");                                 \
    }
void snw_device_batch_close(snw_device_batch *b) { (void)b; }
void snw_device_batch_set_account(snw_device_batch *b, int account) { (void)b, (void)account; }
NONE(int, size, const snw_device_batch *b __attribute__((unused)))
NONE(int, nq, const snw_device_batch *b __attribute__((unused)))
NONE(int, nv, const snw_device_batch *b __attribute__((unused)))
NONE(int, columns, const snw_device_batch *b __attribute__((unused)))
NONE(int, inputs, const snw_device_batch *b __attribute__((unused)))
NONE(const char *, name, const snw_device_batch *b __attribute__((unused)))
NONE(size_t, bytes, const snw_device_batch *b __attribute__((unused)))
NONE(double, time, const snw_device_batch *b __attribute__((unused)))
NONE(double *, q, snw_device_batch *b __attribute__((unused)))
NONE(double *, v, snw_device_batch *b __attribute__((unused)))
NONE(double *, u, snw_device_batch *b __attribute__((unused)))
NONE(double *, point_rates, snw_device_batch *b __attribute__((unused)))
NONE(double *, home, snw_device_batch *b __attribute__((unused)))
NONE(void *, stream, const snw_device_batch *b __attribute__((unused)))
NONE(int *, status, snw_device_batch *b __attribute__((unused)))
NONE(const char *, status_text, int status __attribute__((unused)))
#define UNUSED __attribute__((unused))
REFUSE(read, snw_device_batch *b UNUSED, const void *from UNUSED, size_t bytes UNUSED,
       void *to UNUSED, snw_error *err)
REFUSE(write, snw_device_batch *b UNUSED, const void *from UNUSED, size_t bytes UNUSED,
       void *to UNUSED, snw_error *err)
REFUSE(take, snw_device_batch *b UNUSED, int actuator UNUSED, int taken UNUSED, snw_error *err)
REFUSE(start, snw_device_batch *b UNUSED, const snw_robot_steps *how UNUSED,
       const unsigned char *at UNUSED, snw_error *err)
REFUSE(restart, snw_device_batch *b UNUSED, const unsigned char *at UNUSED, snw_error *err)
REFUSE(reset, snw_device_batch *b UNUSED, const unsigned char *at UNUSED, int only_failed UNUSED,
       snw_error *err)
REFUSE(set_stream, snw_device_batch *b UNUSED, void *stream UNUSED, snw_error *err)
REFUSE(order, snw_device_batch *b UNUSED, void *stream UNUSED, int batch_waits UNUSED,
       snw_error *err)
REFUSE(set_parameters, snw_device_batch *b UNUSED, int robot UNUSED, int nset UNUSED,
       const char *const *set UNUSED, snw_error *err)
REFUSE(step_inputs, snw_device_batch *b UNUSED, double h UNUSED, int count UNUSED,
       const double *u UNUSED, snw_error *err)
REFUSE(step, snw_device_batch *b UNUSED, double h UNUSED, int count UNUSED, snw_error *err)
REFUSE(wait, snw_device_batch *b UNUSED, snw_error *err)
REFUSE(set_points, snw_device_batch *b UNUSED, int npoint UNUSED, const int *node UNUSED,
       const double *at UNUSED, double **out UNUSED, snw_error *err)
REFUSE(update_points, snw_device_batch *b UNUSED, snw_error *err)
REFUSE(set_probes, snw_device_batch *b UNUSED, int nprobe UNUSED, const char *const *probe UNUSED,
       double **out UNUSED, snw_error *err)
REFUSE(step_probes, snw_device_batch *b UNUSED, double h UNUSED, int count UNUSED,
       const double *u UNUSED, double *probes UNUSED, snw_error *err)
REFUSE(count, snw_device_batch *b UNUSED, snw_device_batch_counts *out UNUSED, snw_error *err)
