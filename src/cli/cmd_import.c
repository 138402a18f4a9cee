// SPDX-License-Identifier: MIT
//
// sinew import: writes the robot of a URDF, MJCF or SDF file as a model, with its meshes beside it.
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "import/import.h"
#include "language/mesh_file.h"
#include "language/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 1024, POOL_LIMIT = 256 << 20, MESH_MAX = 64 << 20 };

typedef struct import_job {
    snw_pool *pool;
    snw_import_opts opts;
    snw_imported_robot robot;
    char model[PATH_SIZE];  // path of the model
    char folder[PATH_SIZE]; // of the meshes
    const char *folder_name;
    int nmesh;
} import_job;

static snw_status import_options(import_job *job, const snw_args *args, snw_error *err) {
    const char *const *package;
    const int n = snw_args_values(args, "package", &package);
    job->opts.free = snw_args_has(args, "free");
    return snw_import_choose(snw_args_value(args, "shapes"), n, package, &job->opts, err);
}

// Paths of the model and of the folder of its meshes: robot.yaml, robot_meshes.
static snw_status import_paths(import_job *job, const char *source, const char *given,
                               snw_error *err) {
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
    const char *dot = strrchr(name, '.');
    const int stem = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    const int n = given ? snprintf(job->model, sizeof job->model, "%s", given)
                        : snprintf(job->model, sizeof job->model, "%.*s.yaml", stem, name);
    const char *end = strrchr(job->model, '.'), *folder = strrchr(job->model, '/');
    const int length = end && (!folder || end > folder) ? (int)(end - job->model) : n;
    const int m =
        n < 0 ? -1 : snprintf(job->folder, sizeof job->folder, "%.*s_meshes", length, job->model);
    if (n < 0 || n >= PATH_SIZE || m < 0 || m >= PATH_SIZE)
        return snw_fail(err, SNW_E_ARGUMENT, "the name of the file is too long");
    const char *last = strrchr(job->folder, '/');
    job->folder_name = last ? last + 1 : job->folder;
    return SNW_OK;
}

static bool is_file(const snw_imported_shape *s) {
    return s->kind == SNW_IMPORTED_MESH || s->kind == SNW_IMPORTED_HULL;
}

// The shape before this one that has the same file; NULL: none.
static const snw_imported_shape *same_mesh(const snw_imported_robot *r, int link, int shape) {
    const char *found = r->link[link].shape[shape].found;
    for (int i = 0; i <= link; i++) {
        for (int k = 0; k < r->link[i].nshape && (i < link || k < shape); k++) {
            const snw_imported_shape *s = &r->link[i].shape[k];
            if (is_file(s) && strcmp(s->found, found) == 0) return s;
        }
    }
    return NULL;
}

// A .gltf file has its numbers in others, whose names it contains; its triangles are written anew.
static bool has_buffers(const snw_imported_shape *s) { return snw_mesh_file_is(s->found, ".gltf"); }

// Names of the meshes beside the model: the files' own, with a number where two are alike.
static snw_status name_meshes(import_job *job, snw_error *err) {
    snw_imported_robot *r = &job->robot;
    for (int i = 0; i < r->nlink; i++) {
        for (int k = 0; k < r->link[i].nshape; k++) {
            snw_imported_shape *s = &r->link[i].shape[k];
            if (!is_file(s)) continue;
            const snw_imported_shape *same = same_mesh(r, i, k);
            const char *slash = strrchr(s->found, '/');
            s->beside =
                same ? same->beside
                     : snw_pool_format(job->pool, "%d_%s%s", ++job->nmesh,
                                       slash ? slash + 1 : s->found, has_buffers(s) ? ".stl" : "");
            if (!s->beside) return snw_fail_memory(err);
        }
    }
    return SNW_OK;
}

static snw_status write_bytes(const char *path, const char *bytes, size_t size, snw_error *err) {
    snw_output out;
    SNW_TRY(snw_output_open(path, &out, err));
    if (fwrite(bytes, 1, size, out.file) < size) out.reason = errno;
    return snw_output_close(&out, SNW_OK, err);
}

// A binary STL file of a mesh, from the pool: 80 bytes, the number of faces, and for each a normal,
// which is left to readers, and its corners as little-endian floats.
static snw_status binary_stl(snw_pool *pool, const snw_triangle_mesh *m, const char **bytes,
                             size_t *length, snw_error *err) {
    enum { HEADER = 80, COUNT = 4, FACE = 50, NORMAL = 12 };
    *length = HEADER + COUNT + FACE * (size_t)m->nface;
    unsigned char *out = snw_pool_array(pool, *length, 1);
    if (!out) return snw_fail_memory(err);
    *bytes = (const char *)out;
    out += HEADER;
    for (int k = 0; k < COUNT; k++) *out++ = (unsigned char)((uint32_t)m->nface >> 8 * k);
    for (int f = 0; f < m->nface; f++, out += FACE) {
        unsigned char *to = out + NORMAL;
        for (int k = 0; k < 9; k++) {
            const float x = (float)m->vertex[m->face[f][k / 3]].e[k % 3];
            uint32_t bits;
            memcpy(&bits, &x, sizeof bits);
            for (int i = 0; i < 4; i++) *to++ = (unsigned char)(bits >> 8 * i);
        }
    }
    return SNW_OK;
}

static snw_status copy_mesh(const import_job *job, const snw_imported_shape *s, snw_error *err) {
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    if (!pool) return snw_fail_memory(err);
    char path[2 * PATH_SIZE];
    const char *bytes;
    size_t length;
    snw_status status = snw_text_read(pool, s->found, MESH_MAX, &bytes, &length, err);
    const int n = snprintf(path, sizeof path, "%s/%s", job->folder, s->beside);
    if (status == SNW_OK && (n < 0 || n >= (int)sizeof path))
        status = snw_fail(err, SNW_E_ARGUMENT, "the name of mesh '%s' is too long", s->beside);
    if (status == SNW_OK && has_buffers(s)) {
        snw_triangle_mesh mesh;
        status = snw_mesh_file_parse(pool, s->found, bytes, length, 1, &mesh, err);
        if (status == SNW_OK) status = binary_stl(pool, &mesh, &bytes, &length, err);
    }
    if (status == SNW_OK) status = write_bytes(path, bytes, length, err);
    snw_pool_destroy(pool);
    return status;
}

static snw_status copy_meshes(const import_job *job, snw_error *err) {
    if (job->nmesh == 0) return SNW_OK;
    if (mkdir(job->folder, 0777) != 0 && errno != EEXIST)
        return snw_output_fail(job->folder, errno, err);
    const snw_imported_robot *r = &job->robot;
    for (int i = 0; i < r->nlink; i++) {
        for (int k = 0; k < r->link[i].nshape; k++) {
            const snw_imported_shape *s = &r->link[i].shape[k];
            if (is_file(s) && !same_mesh(r, i, k)) SNW_TRY(copy_mesh(job, s, err));
        }
    }
    return SNW_OK;
}

static void tell(const import_job *job, bool written, snw_reply *reply) {
    const snw_imported_robot *r = &job->robot;
    int moving = 0;
    for (int i = 0; i < r->njoint; i++) moving += r->joint[i].kind != SNW_IMPORTED_FIXED;
    if (reply->json) {
        if (written) snw_field_text(reply->json, "file", job->model);
        snw_field_integer(reply->json, "links", r->nlink);
        snw_field_integer(reply->json, "joints", moving);
        snw_field_integer(reply->json, "meshes", job->nmesh);
        snw_field_list(reply->json, "notes");
        for (int i = 0; i < r->nnote; i++) {
            snw_field_object(reply->json, NULL);
            if (r->note[i].path) snw_field_text(reply->json, "file", r->note[i].path);
            snw_field_integer(reply->json, "line", r->note[i].line);
            snw_field_text(reply->json, "text", r->note[i].text);
            snw_json_close(reply->json);
        }
        snw_json_close(reply->json);
        return;
    }
    printf("%s: %d links, %d joints that move, %d meshes\n", r->name, r->nlink, moving, job->nmesh);
    for (int i = 0; i < r->nnote; i++) {
        printf("  ");
        if (r->note[i].path) printf("%s, ", r->note[i].path);
        if (r->note[i].line > 0) printf("line %d: ", r->note[i].line);
        printf("%s\n", r->note[i].text);
    }
    if (r->nnote == 0) printf("  everything was carried over\n");
    if (written) printf("%s is written; try\n  sinew run %s\n", job->model, job->model);
}

static snw_status import_all(import_job *job, const snw_args *args, snw_reply *reply,
                             snw_error *err) {
    const char *source = snw_args_operand(args, 0), *given = snw_args_value(args, "output");
    const bool only_check = snw_args_has(args, "check");
    job->pool = snw_pool_create(POOL_LIMIT);
    if (!job->pool) return snw_fail_memory(err);
    SNW_TRY(import_options(job, args, err));
    SNW_TRY(import_paths(job, source, given, err));
    SNW_TRY(snw_import_file(job->pool, source, &job->opts, &job->robot, err));
    SNW_TRY(name_meshes(job, err));
    const char *text;
    SNW_TRY(snw_imported_write(&job->robot, &job->opts, job->folder_name, &text, err));
    if (!only_check) {
        if (!snw_args_has(args, "force") && access(job->model, F_OK) == 0)
            return snw_fail(err, SNW_E_ARGUMENT,
                            "'%s' exists; give another name by -o, or --force to replace it",
                            job->model);
        SNW_TRY(copy_meshes(job, err));
        SNW_TRY(write_bytes(job->model, text, strlen(text), err));
    }
    tell(job, !only_check, reply);
    return SNW_OK;
}

static int import_run(const snw_args *args, snw_reply *reply) {
    import_job job = {0};
    snw_error err = {0};
    const snw_status s = import_all(&job, args, reply, &err);
    snw_pool_destroy(job.pool);
    if (s == SNW_OK) return SNW_EXIT_DONE;
    snw_reply_fail(reply, &err);
    return snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"output", 'o', "FILE.yaml", false,
     "name of the model, that of the file with .yaml unless given; meshes are copied beside it"},
    {"check", 0, NULL, false, "write nothing, only list what would not be carried over, and why"},
    {"free", 0, NULL, false,
     "the root link of a URDF file moves freely; it is fixed to the world unless given"},
    {"shapes", 0, "WHICH", false,
     "both (unless given): those of collision touch, those for drawing are drawn; collision or "
     "visual: only these, and where a link has none of them the others; or none"},
    {"package", 0, "NAME=FOLDER", true,
     "folder of package://NAME of meshes; folders above the file are searched otherwise. May be "
     "repeated"},
    {"force", 0, NULL, false, "replace a model that exists"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_import = {
    .name = "import",
    .operands = "ROBOT",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "write the robot of a URDF, MJCF or SDF file as a model",
    .about =
        "Reads a robot of the formats URDF (ROS), MJCF (MuJoCo) or SDF (Gazebo), which the element "
        "at the root of the file tells, and writes it as a model with comments, to be edited: "
        "links "
        "with mass, centre of mass and inertia in their own axes, joints with limits, springs, "
        "damping, friction, rotors and gears, shapes, loops, motors and servos, and sliders for "
        "'sinew play'. Joints of URDF and SDF get an actuator that holds them; those of MJCF only "
        "the actuators of the file. Soft parts are put on any link: 'finger: {on: wrist, rod: "
        "{..}}'. Files of xacro are expanded first: 'xacro robot.xacro > robot.urdf'.\n\n"
        "What a model cannot have is told with its line and the reason, and stands as a comment at "
        "the head of the model. Names keep their letters, digits and _, and - / . between them; "
        "anything else in them becomes _. An inertia that no body can have is replaced by the "
        "nearest one that a body can. Meshes (" SNW_MESH_FILES ") are copied "
        "beside "
        "the model; one that encloses no solid becomes its convex hull. A body of MJCF whose "
        "joints "
        "are not at its origin, or that has several, becomes several links.",
    .option = options,
    .examples = "sinew import arm.urdf\n"
                "sinew import quadruped.urdf --free --shapes visual -o dog.yaml\n"
                "sinew import humanoid.xml -o humanoid.yaml\n"
                "sinew import arm.urdf --check --package arm_description=../arm_description",
    .run = import_run,
};
