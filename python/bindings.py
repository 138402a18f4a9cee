# SPDX-License-Identifier: MIT
"""Writes the C source of the extension module `sinew._sinew` from the public headers, by CFFI.

usage: bindings.py HEADERS OUTPUT.c [COMPILER]

HEADERS is the folder that contains `sinew/sinew.h`. The declarations that Python sees are those of the headers,
read by the C preprocessor, so that a function declared there needs no second declaration here.
"""

import pathlib
import subprocess
import sys
import tempfile

import cffi

# functions that C calls back; their Python bodies are in sinew/_study.py, _batch.py and _sweep.py
CALLBACKS = """
extern "Python" snw_status sinew_study_frame(void *user, const snw_study *s);
extern "Python" void sinew_study_progress(void *user, const char *step, double t, double fraction);
extern "Python" int sinew_study_cancel(void *user);
extern "Python" void sinew_study_warn(void *user, const char *text);
extern "Python" int sinew_batch_poll(void *user);
extern "Python" void sinew_sweep_progress(void *user, int64_t done, int64_t failed, int64_t all, double seconds);
extern "Python" int sinew_sweep_cancel(void *user);
"""

# functions of dlpack.h
DLPACK = """
int sinew_dlpack(uintptr_t list, uintptr_t owner, uintptr_t data, const int *device, const int *type, int ndim,
                 const int64_t *shape, const int64_t *strides, int versioned, int readonly);
"""


def declarations(headers, compiler="cc"):
    """Text of the public headers after the preprocessor, without the system's headers."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stddef.h", "stdbool.h", "stdint.h"):
            pathlib.Path(empty, name).touch()
        # without __GNUC__ the headers define their attributes as nothing
        return subprocess.run(
            [compiler, "-E", "-P", "-U__GNUC__", "-nostdinc", "-isystem", empty, "-I", headers,
             str(pathlib.Path(headers, "sinew", "sinew.h"))],
            check=True, capture_output=True, text=True).stdout  # fmt: skip


def write(headers, output, compiler="cc"):
    ffi = cffi.FFI()
    ffi.cdef(declarations(headers, compiler) + CALLBACKS + DLPACK)
    own = pathlib.Path(__file__).with_name("dlpack.h").read_text().replace("#pragma once", "")
    ffi.set_source("sinew._sinew", "#include <sinew/sinew.h>\n" + own, py_limited_api=True)
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    write(*sys.argv[1:])
