// SPDX-License-Identifier: MIT
//
// dlpack.h: arrays of the library as capsules of DLPack, by which PyTorch, JAX, CuPy and NumPy see
// memory without a copy. Part of the extension module (bindings.py), which includes Python.h.
#pragma once

#include <stdint.h>
#include <stdlib.h>

// The structs of DLPack 1.0; an older consumer knows the first tensor only.
typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags; // 1: to be read only
    dl_tensor tensor;
} dl_versioned;

enum { DL_MOST = 4 }; // dimensions

// A tensor, and the object that keeps its memory alive.
typedef struct dl_export {
    dl_managed managed;
    dl_versioned versioned;
    int64_t shape[DL_MOST], strides[DL_MOST];
    PyObject *owner;
} dl_export;

static void dl_forget(dl_export *e) {
    if (Py_IsInitialized()) {
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(e->owner);
        PyGILState_Release(state);
    }
    free(e);
}

static void dl_forget_managed(dl_managed *self) { dl_forget((dl_export *)self->context); }
static void dl_forget_versioned(dl_versioned *self) { dl_forget((dl_export *)self->context); }

// A consumer renames the capsule and calls the deleter itself; others forget the tensor here.
static void dl_close_capsule(PyObject *capsule) {
    static const char *const names[] = {"dltensor", "dltensor_versioned"};
    for (int i = 0; i < 2; i++) {
        if (!PyCapsule_IsValid(capsule, names[i])) continue;
        dl_forget((dl_export *)PyCapsule_GetContext(capsule));
    }
}

// Appends to the Python list at the address `list` the capsule of an array, which keeps the object
// at the address `owner` alive. Kinds of devices and numbers are those of DLPack. Returns 0 on
// success.
static int sinew_dlpack(uintptr_t list, uintptr_t owner, uintptr_t data, const int *device,
                        const int *type, int ndim, const int64_t *shape, const int64_t *strides,
                        int versioned, int readonly) {
    if (ndim > DL_MOST) return -1;
    dl_export *e = (dl_export *)calloc(1, sizeof *e);
    if (!e) return -1;
    for (int i = 0; i < ndim; i++) e->shape[i] = shape[i], e->strides[i] = strides[i];
    const dl_tensor tensor = {.data = (void *)data,
                              .device_type = device[0],
                              .device_id = device[1],
                              .ndim = ndim,
                              .code = (uint8_t)type[0],
                              .bits = (uint8_t)type[1],
                              .lanes = 1,
                              .shape = e->shape,
                              .strides = e->strides};
    e->managed = (dl_managed){.tensor = tensor, .context = e, .deleter = dl_forget_managed};
    e->versioned = (dl_versioned){.major = 1,
                                  .context = e,
                                  .deleter = dl_forget_versioned,
                                  .flags = readonly ? 1 : 0,
                                  .tensor = tensor};
    const PyGILState_STATE state = PyGILState_Ensure();
    e->owner = (PyObject *)owner;
    Py_INCREF(e->owner);
    void *whole = versioned ? (void *)&e->versioned : (void *)&e->managed;
    PyObject *capsule =
        PyCapsule_New(whole, versioned ? "dltensor_versioned" : "dltensor", dl_close_capsule);
    int failed = 1;
    if (capsule) {
        (void)PyCapsule_SetContext(capsule, e);
        failed = PyList_Append((PyObject *)list, capsule);
        Py_DECREF(capsule);
    } else {
        dl_forget(e);
    }
    if (failed) PyErr_Clear();
    PyGILState_Release(state);
    return failed ? -1 : 0;
}
