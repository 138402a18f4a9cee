// SPDX-License-Identifier: MIT
//
// sinew export: writes a run of a result file as glTF, USD, VTK or CSV.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/linear_write.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "job/choice.h"
#include "job/job.h"
#include "output/csv.h"
#include "output/export.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Formats: enum, file extension.
#define FORMATS(X)                                                                                 \
    X(GLB, ".glb")                                                                                 \
    X(GLTF, ".gltf")                                                                               \
    X(USDA, ".usda")                                                                               \
    X(PVD, ".pvd")                                                                                 \
    X(CSV, ".csv")

typedef enum format {
#define X(id, ending) id,
    FORMATS(X)
#undef X
        NFORMAT
} format;

enum { PATH_SIZE = 1024, MOST_FRAMES = 100000 };

// Arguments of the command and the open result file.
typedef struct job {
    const snw_args *args;
    snw_result *file;
    int run;
    const char *output;
    format format;
    bool shape; // CSV: write poses instead of probes
    int total, kept;
} job;

// ---- options -----------------------------------------------------------------------------------

static snw_status export_cmd_read_format(job *j, snw_error *err) {
    static const char *const ending[] = {
#define X(id, text) text,
        FORMATS(X)
#undef X
    };
    const size_t length = strlen(j->output);
    for (int i = 0; i < NFORMAT; i++) {
        const size_t n = strlen(ending[i]);
        if (length > n && strcmp(j->output + length - n, ending[i]) == 0) {
            j->format = (format)i;
            return SNW_OK;
        }
    }
    return snw_fail(err, SNW_E_ARGUMENT,
                    "the ending of -o gives the format: .glb or .gltf for Blender and browsers, "
                    ".pvd for ParaView, .csv for tables; '%s' has none of these",
                    j->output);
}

static snw_status export_cmd_read_frames(const job *j, snw_export_opts *opts, snw_error *err) {
    const char *text = snw_args_value(j->args, "frames");
    *opts = snw_export_defaults();
    if (j->format == CSV) opts->frames = INT_MAX;
    if (!text) return SNW_OK;
    char *end;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < 2 || n > MOST_FRAMES) {
        return snw_fail(err, SNW_E_ARGUMENT, "--frames takes a number from 2 to %d, not '%s'",
                        MOST_FRAMES, text);
    }
    opts->frames = (int)n;
    opts->bytes = SIZE_MAX; // the number of frames is given: no limit of size
    return SNW_OK;
}

static snw_status choose_run(job *j, snw_error *err) {
    const char *const *wanted;
    const int nwanted = snw_args_values(j->args, "run", &wanted), total = snw_result_runs(j->file);
    const char **name = snw_alloc((size_t)total * sizeof *name);
    int *chosen = snw_alloc((size_t)total * sizeof *chosen), n = 0;
    snw_status s = name && chosen ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; s == SNW_OK && i < total; i++) name[i] = snw_result_info(j->file, i)->run;
    if (s == SNW_OK) s = snw_choose_runs(total, name, nwanted, wanted, chosen, &n, err);
    if (s == SNW_OK && n != 1) {
        s = n == 0 ? snw_fail(err, SNW_E_ARGUMENT, "the file has no run")
                   : snw_fail(err, SNW_E_ARGUMENT,
                              "a file takes one run, and there are %d; choose, e.g. --run %s", n,
                              name[chosen[0]]);
    }
    if (s == SNW_OK) j->run = chosen[0];
    snw_free(name);
    snw_free(chosen);
    return s;
}

// ---- a linear model -----------------------------------------------------------------------------

static snw_status export_linear(job *j, const char *step, snw_reply *reply, snw_error *err) {
    SNW_TRY(choose_run(j, err));
    const snw_run_info *info = snw_result_info(j->file, j->run);
    SNW_TRY(snw_job_refuse_output("results", snw_args_operand(j->args, 0), j->output, err));
    int stage = 0;
    while (stage < info->nstage && strcmp(info->stage[stage], step) != 0) stage++;
    const snw_linear_model *m = NULL;
    if (stage < info->nstage) SNW_TRY(snw_result_linear(j->file, j->run, stage, &m, err));
    if (!m)
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s' has no linear model of a step '%.100s'",
                        info->run, step);
    SNW_TRY(snw_linear_write(m, j->output, err));
    if (reply->json) {
        snw_field_text(reply->json, "output", j->output);
        snw_field_text(reply->json, "run", info->run);
    } else {
        printf("linear model in %s\n", j->output);
    }
    return SNW_OK;
}

// ---- one file ----------------------------------------------------------------------------------

static snw_status export_cmd_write_file(const job *j, snw_export *e, snw_error *err) {
    snw_output out;
    SNW_TRY(snw_output_open(j->output, &out, err));
    const snw_sink sink = snw_output_sink(&out);
    const snw_status s = !e                  ? snw_csv_write(j->file, j->run, 0, NULL, sink, err)
                         : j->shape          ? snw_export_shapes(e, sink, err)
                         : j->format == USDA ? snw_export_usd(e, sink, err)
                                             : snw_export_gltf(e, j->format == GLB, sink, err);
    return snw_output_close(&out, s, err);
}

// ---- a folder of files -------------------------------------------------------------------------

// Is this the name of a frame file that this command writes?
static bool is_frame_file(const char *name) {
    for (int part = 0; part < SNW_VTK_NPART; part++) {
        const char *own = snw_vtk_part_name((snw_vtk_part)part);
        const size_t n = strlen(own), digits = strncmp(name, own, n) == 0 && name[n] == '_'
                                                   ? strspn(name + n + 1, "0123456789")
                                                   : 0;
        if (digits > 0 && strcmp(name + n + 1 + digits, ".vtp") == 0) return true;
    }
    return false;
}

// Does the path not exist, or is it a folder that contains only frame files?
static bool may_replace(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) return errno == ENOENT;
    bool good = true;
    for (struct dirent *d = readdir(dir); d && good; d = readdir(dir)) {
        good =
            strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 || is_frame_file(d->d_name);
    }
    (void)closedir(dir);
    return good;
}

// Remove the frame files of a folder and the folder itself; other files are kept, and the folder
// with them. True when there is no such folder afterwards.
static bool remove_folder(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) return errno == ENOENT;
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        char name[PATH_SIZE + NAME_MAX + 2];
        (void)snprintf(name, sizeof name, "%s/%s", path, d->d_name);
        if (is_frame_file(d->d_name)) (void)unlink(name);
    }
    (void)closedir(dir);
    return rmdir(path) == 0;
}

static snw_status export_cmd_fail_errno(const char *path, const char *what, snw_error *err) {
    char text[128] = "";
    const int reason = errno;
    const snw_status status = snw_output_status(reason);
    (void)strerror_r(reason, text, sizeof text);
    (void)snw_fail(err, status, "%s: %s%s", what, text,
                   reason == ENOENT ? "; does the folder exist?" : "");
    return snw_fail_at_location(err, status, path, 0, 0);
}

static snw_status write_parts(snw_export *e, const char *folder, snw_meter *meter, snw_error *err) {
    for (int k = 0; k < snw_export_frames(e); k++) {
        for (int part = 0; part < SNW_VTK_NPART; part++) {
            if (!snw_vtk_has(e, (snw_vtk_part)part)) continue;
            char name[64], path[PATH_SIZE + sizeof name];
            snw_vtk_name((snw_vtk_part)part, k, name, sizeof name);
            (void)snprintf(path, sizeof path, "%s/%s", folder, name);
            snw_output to = {.path = path, .file = fopen(path, "w")};
            if (!to.file) return snw_output_fail(path, errno, err);
            const snw_status s =
                snw_export_vtk(e, (snw_vtk_part)part, k, snw_output_sink(&to), err);
            SNW_TRY(snw_output_finish(&to, s, err));
        }
        if (snw_stop_asked()) {
            return snw_fail(err, SNW_E_STOPPED, "stopped; nothing is written");
        }
        char text[64];
        (void)snprintf(text, sizeof text, "frame %d of %d", k + 1, snw_export_frames(e));
        if (meter) snw_meter_text(meter, text);
    }
    return SNW_OK;
}

// Write the .pvd file and a folder of the same name without extension. Both are written under
// temporary names and renamed at the end.
static snw_status write_series(const job *j, snw_export *e, snw_reply *reply, snw_error *err) {
    char folder[PATH_SIZE], temporary[PATH_SIZE];
    const int length = (int)(strlen(j->output) - strlen(".pvd"));
    const int n = snprintf(folder, sizeof folder, "%.*s", length, j->output);
    const int temporary_length = snprintf(temporary, sizeof temporary, "%s.part", folder);
    if (n < 0 || temporary_length < 0 || (size_t)n >= sizeof folder ||
        (size_t)temporary_length >= sizeof temporary) {
        return snw_fail(err, SNW_E_ARGUMENT, "the name of the output is too long");
    }
    const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    snw_output out;
    if (!may_replace(folder) || !may_replace(temporary)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%s' contains other files than frames; give another -o, or remove it",
                        may_replace(folder) ? temporary : folder);
    }
    snw_stop_defer(); // before the folder exists: a signal handler could not remove it
    if (!remove_folder(temporary) || mkdir(temporary, 0777) != 0) {
        return export_cmd_fail_errno(temporary, "no folder for the frames", err);
    }
    snw_status s = write_parts(e, temporary, reply->meter, err);
    snw_meter_clear(reply->meter);
    if (s == SNW_OK) s = snw_output_open(j->output, &out, err);
    if (s != SNW_OK) {
        (void)remove_folder(temporary);
        return s;
    }
    s = snw_export_pvd(e, name, snw_output_sink(&out), err);
    if (s == SNW_OK && (!remove_folder(folder) || rename(temporary, folder) != 0)) {
        s = export_cmd_fail_errno(folder, "cannot be written", err);
    }
    if (s != SNW_OK) (void)remove_folder(temporary);
    return snw_output_close(&out, s, err);
}

// ---- the command -------------------------------------------------------------------------------

static void export_report(const job *j, snw_reply *reply) {
    if (reply->json) {
        snw_field_text(reply->json, "output", j->output);
        snw_field_text(reply->json, "run", snw_result_info(j->file, j->run)->run);
        snw_field_integer(reply->json, "frames", j->total);
        snw_field_integer(reply->json, "kept", j->kept);
        return;
    }
    if (j->kept < j->total) {
        printf("%d of %d frames are written, even in time; --frames changes the number\n", j->kept,
               j->total);
    }
    printf("%s in %s\n", j->format == CSV ? (j->shape ? "shapes" : "probes") : "robot", j->output);
}

static snw_status export_run(job *j, snw_reply *reply, snw_error *err) {
    snw_export_opts opts;
    SNW_TRY(export_cmd_read_frames(j, &opts, err));
    SNW_TRY(choose_run(j, err));
    SNW_TRY(snw_job_refuse_output("results", snw_args_operand(j->args, 0), j->output, err));
    j->shape = snw_args_has(j->args, "shape");
    if (j->shape && j->format != CSV) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--shape is for .csv; other formats show shapes anyway");
    }
    snw_export *e = NULL;
    if (j->format != CSV || j->shape) {
        SNW_TRY(snw_export_open(j->file, j->run, &opts, &e, err));
        j->total = snw_export_total(e);
        j->kept = snw_export_frames(e);
    } else {
        j->total = j->kept = snw_result_frames(j->file, j->run);
    }
    const snw_status s =
        j->format == PVD ? write_series(j, e, reply, err) : export_cmd_write_file(j, e, err);
    snw_export_close(e);
    if (s == SNW_OK) export_report(j, reply);
    return s;
}

static int export_cmd_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    job j = {.args = args, .output = snw_args_value(args, "output")};
    snw_meter meter = snw_meter_start(1, reply->json != NULL);
    reply->meter = &meter;
    const char *linear = snw_args_value(args, "linear");
    snw_status s =
        j.output
            ? linear ? snw_linear_format_check(j.output, &err) : export_cmd_read_format(&j, &err)
            : snw_fail(&err, SNW_E_ARGUMENT,
                       "give the output with -o, e.g. -o robot.glb; its ending gives the format");
    if (s == SNW_OK) s = snw_result_open(snw_args_operand(args, 0), &j.file, &err);
    const bool opened = s == SNW_OK;
    if (opened) {
        s = linear ? export_linear(&j, linear, reply, &err) : export_run(&j, reply, &err);
        snw_result_close(j.file);
    }
    reply->meter = NULL;
    if (s == SNW_OK) return SNW_EXIT_DONE;
    snw_reply_fail(reply, &err);
    return opened ? snw_reply_exit_work(s) : snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"output", 'o', "FILE", false,
     "output file; the ending gives the format: .glb, .gltf, .usda, .pvd, .csv"},
    {"run", 0, "NAME", true, "the run to write; required if the file has several"},
    {"frames", 0, "N", false,
     "at most this many frames, evenly spaced in time, with the ends of all stages (default: 1000, "
     "or as many as fit in 24 MB)"},
    {"linear", 0, "STEP", false,
     "the linear model that this linearize step has made, as .mat (MATLAB), .h5 or .csv"},
    {"shape", 0, NULL, false, "with .csv: poses of the nodes, one line per frame and node"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_export = {
    .name = "export",
    .operands = "OUT.h5",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "convert results for Blender, ParaView and other programs",
    .about = "Writes one run of a result file for other programs.\n\n"
             ".glb and .gltf: the robot as animated glTF 2.0, for Blender and browsers. Sections "
             "of rods are at their computed positions; y is up.\n\n"
             ".usda: the robot as Universal Scene Description, in metres: bodies as Xform with "
             "meshes, rods and cables as BasisCurves with their widths, rods whose section is not "
             "a circle as meshes too, all with time samples (60 time codes a second).\n\n"
             ".pvd: a series of VTK files for ParaView in a folder beside it: rods as lines with "
             "radius, curvature, strain, moment, force and stress, surfaces, and tendons with "
             "their tension.\n\n"
             ".csv: all probes over time, or with --shape the poses of all nodes.\n\n"
             "With --linear: A, B, C, D of a linearize step, as .mat, .h5 or .csv.\n\n"
             "The run may still be writing the file.",
    .option = options,
    .examples = "sinew export arm.h5 -o arm.glb\n"
                "sinew export arm.h5 -o arm.usda\n"
                "sinew export arm.h5 -o arm.pvd --frames 200\n"
                "sinew export sweep.h5 --run load.3 -o load3.csv\n"
                "sinew export arm.h5 --shape -o shapes.csv\n"
                "sinew export arm.h5 --linear linearize -o arm.mat",
    .run = export_cmd_run,
};
