// SPDX-License-Identifier: MIT
//
// HDF5 files in memory.
#include "results/image.h"

#include "base/alloc.h"
#include "results/result_file.h"

hid_t snw_image_open(void) {
    enum { GROWTH = 1 << 16 };
    snw_file_silence_hdf5();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    if (access >= 0 && H5Pset_fapl_core(access, GROWTH, false) >= 0)
        file = H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access); // no file of that name
    if (access >= 0) (void)H5Pclose(access);
    return file;
}

bool snw_image_numbers(hid_t at, const char *name, int rank, const hsize_t *size, const double *x) {
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t set =
        H5Dcreate2(at, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0;
    bool some = true;
    for (int i = 0; i < rank; i++) some = some && size[i] > 0;
    if (good && some)
        good = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    return good;
}

bool snw_image_texts(hid_t at, const char *name, int n, const char *const *text) {
    const hsize_t size = (hsize_t)n;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
    bool good =
        type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    const hid_t set = good
                          ? H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                          : H5I_INVALID_HID;
    good = set >= 0;
    if (good && n > 0) good = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    return good;
}

bool snw_image_take(hid_t file, void **bytes, size_t *size) {
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return false;
    const ssize_t n = H5Fget_file_image(file, NULL, 0);
    if (n <= 0) return false;
    *bytes = snw_alloc((size_t)n);
    if (!*bytes || H5Fget_file_image(file, *bytes, (size_t)n) != n) return false;
    *size = (size_t)n;
    return true;
}
