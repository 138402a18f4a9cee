// SPDX-License-Identifier: MIT
//
// Loads a shared library and looks up its functions, for what few commands need.
#include "base/on_demand.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

snw_status snw_on_demand(const char *file, const char *package, const char *prefix, int n,
                         const char *const names[], void *out, snw_error *err) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return snw_fail(err, SNW_E_IO, "%s cannot be loaded; install it (Debian: %s)", file,
                        package);
    }
    for (int i = 0; i < n; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        void *address = dlsym(library, name);
        if (!address) {
            return snw_fail(err, SNW_E_IO,
                            "%s has no function %s; install the version that "
                            "belongs to this sinew (Debian: %s)",
                            file, name, package);
        }
        memcpy((char *)out + (size_t)i * sizeof address, &address, sizeof address);
    }
    return SNW_OK;
}
