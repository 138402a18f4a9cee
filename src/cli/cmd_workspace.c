// SPDX-License-Identifier: MIT
//
// sinew workspace: map of the equilibria that a robot reaches as its inputs vary, printed and
// written to a file.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/part_number.h"
#include "cli/stop.h"
#include "results/workspace_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 24 };

// ---- options ------------------------------------------------------------------------------------

static int map_stopped(void *user) { return snw_stop_hook(user); }

// cells of each input: one number for all, or as many as there are inputs
static snw_status read_cells(const snw_args *args, int n, snw_workspace_input *input,
                             snw_error *err) {
    const char *const *text;
    const int given = snw_args_values(args, "cells", &text);
    if (given != 0 && given != 1 && given != n)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--cells is given %d times; give it once, or once for each of %d inputs",
                        given, n);
    for (int i = 0; given > 0 && i < n; i++) {
        const char *own = text[given == 1 ? 0 : i];
        char *end;
        const double value = strtod(own, &end);
        if (end == own || *end || !(value >= 1 && value <= 1000) || value != floor(value))
            return snw_fail(err, SNW_E_ARGUMENT, "--cells takes a number from 1 to 1000, got '%s'",
                            own);
        input[i].cells = (int)value;
    }
    return SNW_OK;
}

// inputs with their ranges
static snw_status read_inputs(const snw_args *args, const snw_part_place *at, snw_pool *pool,
                              snw_workspace_options *how, snw_error *err) {
    const char *const *text;
    int n = 0;
    SNW_TRY(snw_part_texts(args, "input", pool, &n, &text, err));
    if (n == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "there is no input to vary; give one to three, such as --input "
                        "'motor=-30 deg..30 deg'");
    snw_workspace_input *input = snw_pool_array(pool, (size_t)n, sizeof *input);
    if (!input) return snw_fail_memory(err);
    for (int i = 0; i < n; i++) {
        char *name, *range;
        SNW_TRY(snw_part_split(pool, text[i], &name, &range, err));
        input[i] = (snw_workspace_input){.name = name, .low = NAN, .high = NAN};
        if (!range)
            return snw_fail(err, SNW_E_ARGUMENT, "--input takes NAME=LOW..HIGH, got '%.100s'",
                            text[i]);
        SNW_TRY(snw_part_range(at, "--input", name, range, &input[i].low, &input[i].high, err));
    }
    how->ninput = n;
    how->input = input;
    return read_cells(args, n, input, err);
}

static snw_status map_read_options(const snw_args *args, const snw_part_place *at, snw_pool *pool,
                                   snw_workspace_options *how, snw_error *err) {
    *how = snw_workspace_defaults();
    SNW_TRY(read_inputs(args, at, pool, how, err));
    how->noutput = snw_args_values(args, "probe", &how->output);
    double levels = how->levels, most = how->most;
    SNW_TRY(snw_args_number(args, "refine", 0, 10, &levels, err));
    SNW_TRY(snw_args_number(args, "near", 0, 1, &how->near, err));
    SNW_TRY(snw_args_number(args, "most", 1, 1e7, &most, err));
    if (levels != floor(levels))
        return snw_fail(err, SNW_E_ARGUMENT, "--refine takes a whole number, got %g", levels);
    how->levels = (int)levels;
    how->most = (int)most;
    how->stop = map_stopped;
    return SNW_OK;
}

// ---- files --------------------------------------------------------------------------------------

static bool map_ends_in(const char *path, const char *ending) {
    const size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

static snw_status map_check_format(const char *path, snw_error *err) {
    if (!path || map_ends_in(path, ".csv") || map_ends_in(path, ".h5")) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "'%.200s': the name of a map ends in .csv or .h5", path);
}

// A line of names, a line of units, then a line for each point.
static void write_table(const snw_workspace *map, const snw_sink *to) {
    for (int unit = 0; unit < 2; unit++) {
        snw_cell_text(to, unit ? "unit" : "kind");
        for (int k = 0; k < map->ninput + map->noutput; k++) {
            const snw_map_column *c =
                k < map->ninput ? &map->input[k] : &map->output[k - map->ninput];
            snw_cell_comma(to);
            snw_cell_text(to, unit ? c->unit : c->name);
        }
        static const char own[] = ",stability,dexterity,negative,level", none[] = ",,,,";
        (void)to->write(to->user, unit ? none : own, strlen(unit ? none : own));
        snw_cell_end(to);
    }
    for (int i = 0; i < map->npoint; i++) {
        const snw_map_point *p = &map->point[i];
        snw_cell_text(to, snw_map_kind_name(p->kind));
        for (int k = 0; k < map->ninput; k++)
            snw_cell_number(to, map->u[(size_t)i * (size_t)map->ninput + (size_t)k]);
        for (int k = 0; k < map->noutput; k++)
            snw_cell_number(to, map->y[(size_t)i * (size_t)map->noutput + (size_t)k]);
        snw_cell_number(to, p->stability);
        snw_cell_number(to, p->dexterity);
        snw_cell_number(to, p->negative);
        snw_cell_number(to, p->level);
        snw_cell_end(to);
    }
}

static snw_status write_map(const snw_workspace *map, const char *path, snw_error *err) {
    void *bytes = NULL;
    size_t size = 0;
    const bool table = map_ends_in(path, ".csv");
    if (!table) SNW_TRY(snw_workspace_image(map, &bytes, &size, err));
    snw_output out;
    const snw_status opened = snw_output_open(path, &out, err);
    if (opened != SNW_OK) {
        snw_free(bytes);
        return opened;
    }
    const snw_sink to = snw_output_sink(&out);
    if (table) {
        write_table(map, &to);
    } else {
        (void)to.write(to.user, bytes, size);
    }
    snw_free(bytes);
    return snw_output_close(&out, SNW_OK, err);
}

// ---- output -------------------------------------------------------------------------------------

// smallest and largest value of an output among the points of the branch
static void range_of(const snw_workspace *map, int column, double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i < map->npoint; i++) {
        if (map->point[i].kind == SNW_MAP_LOST || map->point[i].kind == SNW_MAP_UNSTABLE) continue;
        const double y = map->y[(size_t)i * (size_t)map->noutput + (size_t)column];
        *low = fmin(*low, y);
        *high = fmax(*high, y);
    }
}

static double least_stability(const snw_workspace *map) {
    double least = INFINITY;
    for (int i = 0; i < map->npoint; i++) {
        if (map->point[i].kind <= SNW_MAP_LIMIT) least = fmin(least, map->point[i].stability);
    }
    return least;
}

static void print_map(const snw_workspace *map, const char *path) {
    printf("input                                   low             high\n");
    for (int k = 0; k < map->ninput; k++)
        printf("  %-26s %13.9g    %13.9g %s\n", map->input[k].name, map->input[k].low,
               map->input[k].high, map->input[k].unit);
    printf("reached                              lowest          highest\n");
    for (int k = 0; k < map->noutput; k++) {
        double low, high;
        range_of(map, k, &low, &high);
        printf("  %-26s %13.9g    %13.9g %s\n", map->output[k].name, low, high,
               map->output[k].unit);
    }
    printf("points\n");
    for (int k = 0; k < SNW_MAP_KINDS; k++) {
        if (map->count[k])
            printf("  %-26s %13d\n", snw_map_kind_name((snw_map_kind)k), map->count[k]);
    }
    printf("least stability at a node %.6g; %d equilibria\n", least_stability(map),
           map->equilibria);
    if (map->sheets)
        printf("on %d edges two ways lead to different equilibria: the branch has several sheets, "
               "and the map shows one of them\n",
               map->sheets);
    if (map->full) printf("the nodes were used up before all cells were bisected; see --most\n");
    if (!map->symmetric)
        printf("some loads follow the robot: vibrations may grow before the stability is zero\n");
    if (path) printf("map in %s\n", path);
}

static void json_columns(snw_json *j, const char *key, int n, const snw_map_column *column) {
    snw_field_list(j, key);
    for (int k = 0; k < n; k++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "name", column[k].name);
        snw_field_text(j, "unit", column[k].unit);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_row(snw_json *j, const char *key, int n, const double *x) {
    snw_field_list(j, key);
    for (int k = 0; k < n; k++) snw_field_number(j, NULL, x[k]);
    snw_json_close(j);
}

static void json_map(snw_json *j, const snw_workspace *map) {
    json_columns(j, "inputs", map->ninput, map->input);
    json_columns(j, "outputs", map->noutput, map->output);
    snw_field_list(j, "points");
    for (int i = 0; i < map->npoint; i++) {
        const snw_map_point *p = &map->point[i];
        snw_field_object(j, NULL);
        snw_field_text(j, "kind", snw_map_kind_name(p->kind));
        snw_field_integer(j, "level", p->level);
        snw_field_integer(j, "negative", p->negative);
        snw_field_number(j, "stability", p->stability);
        snw_field_number(j, "dexterity", p->dexterity);
        json_row(j, "u", map->ninput, map->u + (size_t)i * (size_t)map->ninput);
        json_row(j, "y", map->noutput, map->y + (size_t)i * (size_t)map->noutput);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "segments");
    for (int i = 0; i < map->nsegment; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "kind", snw_map_kind_name(map->segment[i].kind));
        snw_field_integer(j, "from", map->segment[i].point[0]);
        snw_field_integer(j, "to", map->segment[i].point[1]);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "triangles");
    for (int i = 0; i < map->ntriangle; i++) {
        snw_field_list(j, NULL);
        for (int k = 0; k < 3; k++) snw_field_integer(j, NULL, map->triangle[i].point[k]);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_object(j, "count");
    for (int k = 0; k < SNW_MAP_KINDS; k++)
        snw_field_integer(j, snw_map_kind_name((snw_map_kind)k), map->count[k]);
    snw_json_close(j);
    snw_field_integer(j, "sheets", map->sheets);
    snw_field_bool(j, "full", map->full);
    snw_field_bool(j, "exact", map->exact);
    snw_field_bool(j, "symmetric", map->symmetric);
    snw_field_integer(j, "equilibria", map->equilibria);
}

// ---- the command --------------------------------------------------------------------------------

static snw_status map_robot(const snw_args *args, const snw_part_place *at, snw_robot *r,
                            snw_pool *pool, snw_reply *reply, snw_error *err) {
    const char *path = snw_args_value(args, "output");
    snw_workspace_options how;
    snw_workspace *map = NULL;
    SNW_TRY(map_read_options(args, at, pool, &how, err));
    const snw_status made = snw_robot_workspace(r, &how, &map, err);
    if (!map) return made;
    const snw_status s = path ? write_map(map, path, err) : SNW_OK;
    if (s == SNW_OK && reply->json) json_map(reply->json, map);
    if (s == SNW_OK && !reply->json) print_map(map, path);
    if (s == SNW_OK && made == SNW_E_STOPPED)
        (void)snw_fail(err, made,
                       "stopped after %d equilibria; this is the map so far, of %d points. To end "
                       "sooner take fewer --cells, a smaller --refine, or part of the ranges",
                       map->equilibria, map->npoint);
    snw_workspace_close(map);
    return s == SNW_OK ? made : s;
}

static snw_status map_job(const snw_args *args, const snw_job *job, snw_reply *reply,
                          snw_error *err) {
    const char *const *set = NULL;
    const int nset = snw_args_values(args, "set", &set);
    SNW_TRY(snw_job_one_run(job, args, "a map", err));
    const char *path = snw_args_value(args, "output");
    SNW_TRY(map_check_format(path, err));
    if (path) SNW_TRY(snw_job_refuse_output("model", job->path, path, err));
    snw_robot *r = NULL;
    SNW_TRY(snw_robot_open(job->path, job->run[0].name, nset, set, &r, err));
    const snw_part_place at = {.job = job, .model = snw_robot_model_of(r)};
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    const snw_status s = pool ? map_robot(args, &at, r, pool, reply, err) : snw_fail_memory(err);
    snw_pool_destroy(pool);
    snw_robot_close(r);
    return s;
}

static int cmd_workspace_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    snw_job job;
    snw_status s = snw_job_open_args(snw_args_operand(args, 0), args, &job, &err);
    if (s == SNW_OK) s = map_job(args, &job, reply, &err);
    if (s != SNW_OK) snw_reply_fail(reply, &err);
    snw_job_close(&job);
    return snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"input", 'i', "NAME=LOW..HIGH", true,
     "an input of an actuator or a component of a load that varies, e.g. --input 'motor=-30 "
     "deg..30 deg' or 'push.fy=-2 N..0 N'. Once to three times"},
    {"probe", 'p', "NAME", true,
     "a probe or column of the pose, whose directions count for the dexterity. May be repeated "
     "(default: all probes of positions)"},
    {"cells", 0, "N", true,
     "cells into which the range of an input is divided at first, 12 unless given. Once for all "
     "inputs, or once for each"},
    {"refine", 0, "N", false, "times that cells at the boundary are bisected, 2 unless given"},
    {"near", 0, "VALUE", false,
     "cells with a smaller stability or dexterity are bisected too, 0.02 unless given"},
    {"most", 0, "N", false, "nodes at which refinement stops, 100000 unless given"},
    {"output", 'o', "FILE", false,
     "file of the map: .h5, which sinew plot draws, or .csv, one line for each point"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_workspace = {
    .name = "workspace",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "map of the equilibria within ranges of inputs, and its boundary",
    .about =
        "Computes the equilibria of a robot as one to three inputs vary over their ranges: the "
        "pose, the stability (distance to singularity: 1 unloaded, 0 at buckling or at a fold) and "
        "the dexterity (0: the inputs lose a direction of the pose). The map begins at the "
        "equilibrium of the file and follows its branch from node to node, there and back; it "
        "never jumps to another branch.\n\n"
        "Cells through which the boundary passes, and those over which the pose goes far, are "
        "bisected. Points of the boundary are located "
        "on the edges of cells: folds, where the branch ends; bifurcations, from which it goes on "
        "unstable; losses of rank of the pose, the envelope; and limits of the "
        "inputs." SNW_ABOUT_IN_FILE,
    .option = options,
    .examples = "sinew workspace robot.yaml -i 'motor(1)=40 deg..140 deg' -i 'motor(2)=40 deg..140 "
                "deg' \\\n"
                "  -o map.h5\n"
                "sinew plot map.h5 -o map.png\n"
                "sinew workspace arm.yaml -i 'tendon=0..5 N' -i 'push.fz=-1 N..1 N' \\\n"
                "  -p tip.x -p tip.z --refine 4 -o map.csv",
    .run = cmd_workspace_run,
    .in_file = true,
};
