// SPDX-License-Identifier: MIT
//
// A map of the workspace as an HDF5 file: groups input and output with names and units, data sets
// u, y, kind, level, negative, stability and dexterity by points, segment with two points and a
// kind each, triangle with three points each, and the names of the kinds.
#include "results/workspace_file.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "results/image.h"
#include "results/result_file.h"

#include <math.h>
#include <string.h>

enum { SEGMENT = 3, TRIANGLE = 3, MOST_COLUMNS = 10000, MOST_POINTS = 1 << 27 };

// ---- writing ------------------------------------------------------------------------------------

static bool write_columns(hid_t file, const char *name, int n, const snw_map_column *column,
                          const char **text, double *number) {
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    const hsize_t size = (hsize_t)n;
    for (int i = 0; i < n; i++) text[i] = column[i].name;
    bool good = snw_image_texts(group, "name", n, text);
    for (int i = 0; i < n; i++) text[i] = column[i].unit;
    good = good && snw_image_texts(group, "unit", n, text);
    for (int i = 0; i < n; i++) number[i] = column[i].low;
    good = good && snw_image_numbers(group, "low", 1, &size, number);
    for (int i = 0; i < n; i++) number[i] = column[i].high;
    good = good && snw_image_numbers(group, "high", 1, &size, number);
    (void)H5Gclose(group);
    return good;
}

static bool write_points(hid_t file, const snw_workspace *map, double *number) {
    enum { COLUMNS = 5 };
    static const char *const name[COLUMNS] = {"kind", "level", "negative", "stability",
                                              "dexterity"};
    const hsize_t u[2] = {(hsize_t)map->npoint, (hsize_t)map->ninput};
    const hsize_t y[2] = {(hsize_t)map->npoint, (hsize_t)map->noutput};
    bool good =
        snw_image_numbers(file, "u", 2, u, map->u) && snw_image_numbers(file, "y", 2, y, map->y);
    for (int k = 0; k < COLUMNS; k++) {
        for (int i = 0; i < map->npoint; i++) {
            const snw_map_point *p = &map->point[i];
            const double of[COLUMNS] = {p->kind, p->level, p->negative, p->stability, p->dexterity};
            number[i] = of[k];
        }
        good = good && snw_image_numbers(file, name[k], 1, u, number);
    }
    return good;
}

static bool write_segments(hid_t file, const snw_workspace *map, double *number) {
    const hsize_t size[2] = {(hsize_t)map->nsegment, SEGMENT};
    for (int i = 0; i < map->nsegment; i++) {
        const snw_map_segment *s = &map->segment[i];
        const double of[SEGMENT] = {s->point[0], s->point[1], s->kind};
        memcpy(number + (size_t)SEGMENT * (size_t)i, of, sizeof of);
    }
    return snw_image_numbers(file, "segment", 2, size, number);
}

static bool write_triangles(hid_t file, const snw_workspace *map, double *number) {
    const hsize_t size[2] = {(hsize_t)map->ntriangle, TRIANGLE};
    for (int i = 0; i < map->ntriangle; i++) {
        for (int k = 0; k < TRIANGLE; k++)
            number[(size_t)TRIANGLE * (size_t)i + (size_t)k] = map->triangle[i].point[k];
    }
    return snw_image_numbers(file, "triangle", 2, size, number);
}

snw_status snw_workspace_image(const snw_workspace *map, void **bytes, size_t *size,
                               snw_error *err) {
    *bytes = NULL;
    const size_t most = (size_t)map->npoint + SEGMENT * (size_t)map->nsegment +
                        TRIANGLE * (size_t)map->ntriangle + (size_t)(map->ninput + map->noutput) +
                        SNW_MAP_KINDS;
    double *number = snw_alloc(most * sizeof *number);
    const char **text = snw_alloc(most * sizeof *text);
    const hid_t file = number && text ? snw_image_open() : H5I_INVALID_HID;
    bool good = file >= 0;
    for (int k = 0; good && k < SNW_MAP_KINDS; k++) text[k] = snw_map_kind_name((snw_map_kind)k);
    good = good && snw_image_texts(file, "kinds", SNW_MAP_KINDS, text) &&
           write_columns(file, "input", map->ninput, map->input, text, number) &&
           write_columns(file, "output", map->noutput, map->output, text, number) &&
           write_points(file, map, number) && write_segments(file, map, number) &&
           write_triangles(file, map, number) && snw_image_take(file, bytes, size);
    if (file >= 0) (void)H5Fclose(file);
    snw_free(number);
    snw_free(text);
    if (good) return SNW_OK;
    snw_free(*bytes);
    *bytes = NULL;
    return snw_fail(err, SNW_E_IO, "HDF5 could not write the map; memory may be exhausted");
}

// ---- reading ------------------------------------------------------------------------------------

static hid_t open_map(const char *path) {
    snw_file_silence_hdf5();
    return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

bool snw_workspace_is_file(const char *path) {
    const hid_t file = open_map(path);
    if (file < 0) return false;
    const bool map =
        H5Lexists(file, "kinds", H5P_DEFAULT) > 0 && H5Lexists(file, "segment", H5P_DEFAULT) > 0;
    (void)H5Fclose(file);
    return map;
}

// *out <- numbers of a data set of `rank` dimensions with the extents `size`, of which negative
// ones are found; in the pool
static bool read_numbers(hid_t at, const char *name, int rank, int *size, snw_pool *pool,
                         double **out) {
    const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
    if (set < 0) return false;
    const hid_t space = H5Dget_space(set);
    hsize_t extent[2] = {0};
    size_t n = 1;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    for (int k = 0; good && k < rank; k++) {
        good = extent[k] <= MOST_POINTS && (size[k] < 0 || extent[k] == (hsize_t)size[k]);
        size[k] = good ? (int)extent[k] : 0;
        n *= (size_t)size[k];
    }
    *out = good ? snw_pool_array(pool, n + 1, sizeof **out) : NULL;
    good = good && *out;
    if (good && n > 0)
        good = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) >= 0;
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Dclose(set);
    return good;
}

// *out <- texts of a data set of n, in the pool
static bool read_texts(hid_t at, const char *name, int *n, snw_pool *pool, const char ***out) {
    const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
    if (set < 0) return false;
    const hid_t space = H5Dget_space(set), type = H5Tcopy(H5T_C_S1);
    hsize_t extent = 0;
    bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, &extent, NULL) == 1 && extent <= MOST_COLUMNS &&
                (*n < 0 || extent == (hsize_t)*n) && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    *n = good ? (int)extent : 0;
    *out = good ? snw_pool_array(pool, (size_t)*n + 1, sizeof **out) : NULL;
    char **text = good ? snw_pool_array(pool, (size_t)*n + 1, sizeof *text) : NULL;
    good = good && *out && text;
    if (good && *n > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0) {
        for (int i = 0; i < *n; i++) {
            (*out)[i] = text[i] ? snw_pool_text(pool, text[i], strlen(text[i])) : NULL;
            good = good && (*out)[i];
        }
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, text);
    } else {
        good = good && *n == 0;
    }
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    (void)H5Dclose(set);
    return good;
}

static bool read_columns(hid_t file, const char *name, snw_pool *pool, int *n,
                         const snw_map_column **out) {
    const hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    if (group < 0) return false;
    const char **text = NULL, **unit = NULL;
    double *low = NULL, *high = NULL;
    *n = -1;
    const bool good = read_texts(group, "name", n, pool, &text) &&
                      read_texts(group, "unit", n, pool, &unit) &&
                      read_numbers(group, "low", 1, n, pool, &low) &&
                      read_numbers(group, "high", 1, n, pool, &high);
    snw_map_column *column = good ? snw_pool_array(pool, (size_t)*n + 1, sizeof *column) : NULL;
    for (int i = 0; column && i < *n; i++)
        column[i] =
            (snw_map_column){.name = text[i], .unit = unit[i], .low = low[i], .high = high[i]};
    *out = column;
    (void)H5Gclose(group);
    return column != NULL;
}

// Is x a number from 0 to n - 1?
static bool counts(double x, int n) { return x >= 0 && x < n && x == floor(x); }

static bool read_points(hid_t file, snw_pool *pool, snw_workspace *map) {
    int u[2] = {-1, map->ninput}, y[2] = {-1, map->noutput};
    double *numbers = NULL, *kind = NULL, *level = NULL, *negative = NULL, *stability = NULL,
           *dexterity = NULL;
    if (!read_numbers(file, "u", 2, u, pool, &numbers)) return false;
    map->npoint = y[0] = u[0];
    map->u = numbers;
    if (!read_numbers(file, "y", 2, y, pool, &numbers)) return false;
    map->y = numbers;
    snw_map_point *point = snw_pool_array(pool, (size_t)map->npoint + 1, sizeof *point);
    if (!point || !read_numbers(file, "kind", 1, u, pool, &kind) ||
        !read_numbers(file, "level", 1, u, pool, &level) ||
        !read_numbers(file, "negative", 1, u, pool, &negative) ||
        !read_numbers(file, "stability", 1, u, pool, &stability) ||
        !read_numbers(file, "dexterity", 1, u, pool, &dexterity))
        return false;
    for (int i = 0; i < map->npoint; i++) {
        if (!counts(kind[i], SNW_MAP_KINDS) || !counts(level[i], MOST_POINTS) ||
            !counts(negative[i], MOST_POINTS))
            return false;
        point[i] = (snw_map_point){.kind = (snw_map_kind)kind[i],
                                   .level = (int)level[i],
                                   .negative = (int)negative[i],
                                   .stability = stability[i],
                                   .dexterity = dexterity[i]};
        map->count[point[i].kind]++;
    }
    map->point = point;
    return true;
}

static bool read_segments(hid_t file, snw_pool *pool, snw_workspace *map) {
    int size[2] = {-1, SEGMENT};
    double *number = NULL;
    if (!read_numbers(file, "segment", 2, size, pool, &number)) return false;
    snw_map_segment *segment = snw_pool_array(pool, (size_t)size[0] + 1, sizeof *segment);
    for (int i = 0; segment && i < size[0]; i++) {
        const double *s = number + (size_t)SEGMENT * (size_t)i;
        if (!counts(s[0], map->npoint) || !counts(s[1], map->npoint) ||
            !counts(s[2], SNW_MAP_KINDS))
            return false;
        segment[i] = (snw_map_segment){.point = {(int)s[0], (int)s[1]}, .kind = (snw_map_kind)s[2]};
    }
    map->nsegment = size[0];
    map->segment = segment;
    return segment != NULL;
}

// files of earlier versions have none
static bool read_triangles(hid_t file, snw_pool *pool, snw_workspace *map) {
    int size[2] = {-1, TRIANGLE};
    double *number = NULL;
    if (H5Lexists(file, "triangle", H5P_DEFAULT) <= 0) return true;
    if (!read_numbers(file, "triangle", 2, size, pool, &number)) return false;
    snw_map_triangle *triangle = snw_pool_array(pool, (size_t)size[0] + 1, sizeof *triangle);
    for (int i = 0; triangle && i < size[0]; i++) {
        for (int k = 0; k < TRIANGLE; k++) {
            const double point = number[(size_t)TRIANGLE * (size_t)i + (size_t)k];
            if (!counts(point, map->npoint)) return false;
            triangle[i].point[k] = (int)point;
        }
    }
    map->ntriangle = size[0];
    map->triangle = triangle;
    return triangle != NULL;
}

snw_status snw_workspace_read(const char *path, snw_pool *pool, snw_workspace *out,
                              snw_error *err) {
    *out = (snw_workspace){0};
    const hid_t file = open_map(path);
    const bool good = file >= 0 && read_columns(file, "input", pool, &out->ninput, &out->input) &&
                      read_columns(file, "output", pool, &out->noutput, &out->output) &&
                      read_points(file, pool, out) && read_segments(file, pool, out) &&
                      read_triangles(file, pool, out);
    if (file >= 0) (void)H5Fclose(file);
    if (good) return SNW_OK;
    return snw_fail(err, SNW_E_PARSE, "'%.200s' is no complete map of a workspace", path);
}
