// SPDX-License-Identifier: MIT
//
// Parts of Sinew that need libraries the browser does not have: they refuse with a message.
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/view_sweep.h"
#include "cli/viewer.h"
#include "output/plot_family.h"
#include "output/plot_sweep.h"
#include "results/linear_file.h"
#include "results/sweep_file.h"
#include "results/workspace_file.h"
#include "solve/blas_buffer.h"
#include "solve/dense.h"

snw_status snw_blas_ready(snw_error *err) {
    (void)err;
    return SNW_OK;
}

char *openblas_get_config(void);
char *openblas_get_config(void) {
    static char name[] = "lapack of Sinew";
    return name;
}

// ---- HDF5 ---------------------------------------------------------------------------------------

static snw_status no_hdf5(snw_error *err) {
    return snw_fail(
        err, SNW_E_IO,
        "this sinew has no HDF5: write .csv or .mat, or use the command on your machine");
}

snw_status snw_linear_image(const snw_linear_model *m, void **bytes, size_t *size, snw_error *err) {
    (void)m, (void)bytes, (void)size;
    return no_hdf5(err);
}

snw_status snw_workspace_image(const snw_workspace *map, void **bytes, size_t *size,
                               snw_error *err) {
    (void)map, (void)bytes, (void)size;
    return no_hdf5(err);
}

bool snw_workspace_is_file(const char *path) {
    (void)path;
    return false;
}

snw_status snw_workspace_read(const char *path, snw_pool *pool, snw_workspace *out,
                              snw_error *err) {
    (void)path, (void)pool, (void)out;
    return no_hdf5(err);
}

// ---- sweeps -------------------------------------------------------------------------------------

static int refuse_sweep(const snw_args *args, snw_reply *reply) {
    (void)args;
    snw_error err = {0};
    (void)snw_fail(&err, SNW_E_ARGUMENT,
                   "sweeps need processes, which a page has not; use the command on your machine");
    snw_reply_fail(reply, &err);
    return SNW_EXIT_USAGE;
}

static const snw_option no_options[] = {SNW_OPTION_END};

const snw_command snw_cmd_sweep = {
    .name = "sweep",
    .operands = "PLAN.yaml",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "run a model for many values of its numbers, on all cores",
    .about = "Not in a page.",
    .option = no_options,
    .examples = "",
    .run = refuse_sweep,
};

// ---- robots of other formats --------------------------------------------------------------------

static int refuse_import(const snw_args *args, snw_reply *reply) {
    (void)args;
    snw_error err = {0};
    (void)snw_fail(
        &err, SNW_E_ARGUMENT,
        "a page reads no XML; use the command on your machine, and open the model that it "
        "writes");
    snw_reply_fail(reply, &err);
    return SNW_EXIT_USAGE;
}

const snw_command snw_cmd_import = {
    .name = "import",
    .operands = "ROBOT",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "write the robot of a URDF, MJCF or SDF file as a model",
    .about = "Not in a page.",
    .option = no_options,
    .examples = "",
    .run = refuse_import,
};

bool snw_sweep_is_file(const char *path) {
    (void)path;
    return false;
}

snw_status snw_sweep_table_read(const char *path, snw_pool *pool, snw_sweep_table *out,
                                snw_error *err) {
    (void)path, (void)pool, (void)out;
    return no_hdf5(err);
}

snw_status snw_view_sweep_open(snw_view_sweep *v, const char *path, const snw_args *args,
                               snw_result **file, snw_error *err) {
    (void)v, (void)path, (void)args, (void)file;
    return no_hdf5(err);
}

void snw_view_sweep_close(snw_view_sweep *v) { (void)v; }

snw_status snw_plot_family(snw_pool *pool, int nrun, snw_plot_run *run, snw_error *err) {
    (void)pool, (void)nrun, (void)run, (void)err;
    return SNW_OK; // names of runs as they are
}

snw_status snw_plot_sweep(snw_pool *pool, const snw_sweep_table *t, const snw_sweep_figure *how,
                          snw_figure_row *out, snw_error *err) {
    (void)pool, (void)t, (void)how, (void)out;
    return no_hdf5(err);
}

// ---- the viewer's page --------------------------------------------------------------------------

const unsigned char snw_viewer_page[1] = {0};
const size_t snw_viewer_size = 0;
const char snw_viewer_missing[] = "the page of the engine draws results itself";
