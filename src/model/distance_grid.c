// SPDX-License-Identifier: MIT
//
// Samples of the signed distance on a grid, their interpolation, and its error at points that are
// no samples.
#include "model/distance_grid.h"

#include "base/fail.h"

#include <math.h>
#include <stdbool.h>

// Corners, cells of equal edges and number of samples along each side.
static snw_status lay_out(const snw_triangle_mesh *m, int cells, snw_distance_grid *g,
                          snw_error *err) {
    enum { RIM = 2 }; // cells beyond the margin, so that the spline does not feel the edge
    g->low = g->high = m->vertex[m->face[0][0]];
    for (int f = 0; f < m->nface; f++) {
        for (int k = 0; k < 3; k++) {
            const snw_vec3 p = m->vertex[m->face[f][k]];
            for (int i = 0; i < 3; i++) {
                g->low.e[i] = fmin(g->low.e[i], p.e[i]);
                g->high.e[i] = fmax(g->high.e[i], p.e[i]);
            }
        }
    }
    const snw_vec3 size = snw_sub(g->high, g->low);
    const double h = fmax(size.x, fmax(size.y, size.z)) / cells;
    double total = 1;
    for (int i = 0; i < 3; i++) {
        const double n = ceil((size.e[i] + 2 * g->margin) / h) + 2 * RIM + 1;
        total *= n;
        if (!(total <= SNW_GRID_SAMPLES)) {
            return snw_fail(err, SNW_E_MODEL,
                            "its grid of %d cells along the longest side, %.3g m each and %.3g m "
                            "beyond the mesh for what touches it, has more than %d samples; use "
                            "fewer 'cells'",
                            cells, (double)h, (double)g->margin, (int)SNW_GRID_SAMPLES);
        }
        g->grid.n[i] = (int)n;
        g->grid.step[i] = h;
        g->grid.first[i] = 0.5 * (g->low.e[i] + g->high.e[i]) - 0.5 * h * (n - 1);
    }
    return SNW_OK;
}

static snw_vec3 place_of(const snw_distance_grid *g, double i, double j, double k) {
    return (snw_vec3){{g->grid.first[0] + i * g->grid.step[0],
                       g->grid.first[1] + j * g->grid.step[1],
                       g->grid.first[2] + k * g->grid.step[2]}};
}

static void sample(const snw_mesh_search *search, snw_distance_grid *g, double *value) {
    const int *n = g->grid.n;
    int near = 0; // the face closest to one sample is close to the next
    for (int k = 0; k < n[2]; k++) {
        for (int j = 0; j < n[1]; j++) {
            for (int i = 0; i < n[0]; i++) {
                const double d = snw_mesh_distance(search, place_of(g, i, j, k), &near);
                g->deepest = fmax(g->deepest, -d);
                *value++ = d;
            }
        }
    }
}

// Compare with the mesh in the middles of cells within the margin, or of some of them.
static void measure(const snw_mesh_search *search, snw_distance_grid *g) {
    enum { MOST = 20000 };
    const int *n = g->grid.n;
    const double all = (double)(n[0] - 1) * (n[1] - 1) * (n[2] - 1);
    const int every = (int)ceil(all / MOST);
    double sum = 0;
    int count = 0, at = 0, near = 0;
    for (int k = 0; k < n[2] - 1; k++) {
        for (int j = 0; j < n[1] - 1; j++) {
            for (int i = 0; i < n[0] - 1; i++) {
                if (at++ % every) continue;
                const snw_vec3 y = place_of(g, i + 0.5, j + 0.5, k + 0.5);
                const double d = snw_mesh_distance(search, y, &near);
                if (d > g->margin || d < -2 * g->grid.step[0]) continue;
                snw_vec3 slope;
                snw_mat3 second;
                const double off = fabs(snw_spline_grid_at(&g->grid, y, &slope, &second) - d);
                g->error = fmax(g->error, off);
                if (d >= g->grid.step[0]) g->error_beyond = fmax(g->error_beyond, off);
                sum += off * off;
                count++;
            }
        }
    }
    g->mean = sqrt(sum / (count > 0 ? count : 1));
}

snw_status snw_distance_grid_create(snw_pool *pool, const snw_triangle_mesh *mesh, int cells,
                                    double margin, snw_distance_grid **out, snw_error *err) {
    snw_distance_grid *g = snw_pool_take(pool, sizeof *g);
    if (!g) return snw_fail_memory(err);
    g->mesh = *mesh;
    g->margin = margin;
    SNW_TRY(lay_out(mesh, cells, g, err));
    const size_t total = (size_t)g->grid.n[0] * (size_t)g->grid.n[1] * (size_t)g->grid.n[2];
    snw_pool *scratch = snw_pool_create((size_t)1 << 30);
    const snw_mesh_search *search = scratch ? snw_mesh_search_create(scratch, mesh) : NULL;
    double *value = search ? snw_pool_array(scratch, total, sizeof *value) : NULL;
    bool done = false;
    if (value) {
        sample(search, g, value);
        done = snw_spline_grid_fit(pool, value, &g->grid);
        if (done) measure(search, g);
    }
    snw_pool_destroy(scratch);
    *out = g;
    return done ? SNW_OK : snw_fail_memory(err);
}
