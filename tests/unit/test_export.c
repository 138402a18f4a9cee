// SPDX-License-Identifier: MIT
//
// Exports of result files of any origin. The output for correct files is tested in tests/cli.
#include "output/export.h"

#include "base/alloc.h"
#include "result_sample.h"

enum { FRAMES = 6 };

// everything that a scene can name, on the four nodes of the sample
static const char scene[] =
    "{\"scene\":1,\"length\":1,\"gravity\":[0,0,-9.81],\"parent\":[-1,0,1,2],"
    "\"kind\":[\"pose\",\"rod\",\"rod\",\"pose\"],\"links\":["
    "{\"name\":\"arm\",\"parent\":-1,\"joint\":\"fixed\",\"axis\":[0,0,1],\"first\":0,\"end\":2,"
    "\"switch\":-1,"
    "\"rod\":{\"root\":0,\"first\":1,\"count\":2,\"length\":1,\"fed\":false,\"section\":\"tube\","
    "\"free\":[true,true,true,false,false,false],\"x\":[0,0.5,1],"
    "\"size\":[[0.1,0.05,0,0],[0.1,0.05,0,0],[0.1,0.05,0,0]],"
    "\"rest\":[[0,0,0,1,0,0],[0,0,0,1,0,0],[0,0,0,1,0,0]],"
    "\"stiffness\":[[1,1,1,1,1,1],[1,1,1,1,1,1],[1,1,1,1,1,1]]}},"
    "{\"name\":\"load(2)\",\"parent\":0,\"joint\":\"prismatic\",\"axis\":[1,0,0],\"first\":2,"
    "\"end\":3,\"switch\":0,"
    "\"body\":{\"shape\":\"cylinder\",\"size\":[0.1,0.2,0],\"axis\":[0,1,0],\"com\":[1,0,0],"
    "\"mass\":1,"
    "\"inertia\":[1,1,1,0,0,0],\"switch\":0}}],\"loops\":[],\"measures\":["
    "{\"name\":\"cord\",\"kind\":\"tendon\",\"points\":[[0,0,1,0,0],[1,0,1,0,0],[2,0,1,0,0],[-1,0,"
    "0,0,0]]},"
    "{\"name\":\"bag\",\"kind\":\"chamber\",\"points\":[[0,0,0,0,0.1],[1,0,0,0,0.1]]}],"
    "\"contacts\":[{\"name\":\"floor\",\"kind\":\"ground\",\"at\":[0,0,-1],\"normal\":[0,0,1]}],"
    "\"probes\":[]}";

// a file whose frames are instants of a motion
static void write_scene(const char *text) {
    snw_run_info info = arm;
    const snw_run_info *const list[] = {&info};
    snw_results *to = NULL;
    info.scene = text;
    assert_int_equal(snw_results_create(path, 1, list, "", &to, NULL), SNW_OK);
    const snw_recorder r = snw_results_recorder(to, 0);
    for (int i = 0; i < FRAMES; i++) {
        frame_data d;
        snw_frame f = make_frame(i, &d);
        f.stats.mode = 0;
        d.present[0] = i % 2;
        assert_int_equal(r.frame(r.user, &f, NULL), SNW_OK);
    }
    assert_int_equal(r.end(r.user, SNW_OK, "", NULL), SNW_OK);
    assert_int_equal(snw_results_close(to, NULL), SNW_OK);
}

typedef struct drain {
    size_t size, room;
} drain;

static bool swallow(void *user, const char *bytes, size_t size) {
    drain *d = user;
    (void)bytes;
    d->size += size;
    return d->size <= d->room;
}

// Writes every export of the file into a sink of limited size; returns the first failure.
static snw_status write_all(size_t room, size_t *size, snw_error *err) {
    snw_result *r = NULL;
    snw_export *e = NULL;
    drain d = {.room = room};
    const snw_sink sink = {&d, swallow};
    const snw_export_opts opts = snw_export_defaults();
    assert_int_equal(snw_result_open(path, &r, NULL), SNW_OK);
    snw_status s = snw_export_open(r, 0, &opts, &e, err);
    for (int k = 0; s == SNW_OK && k < 2; k++) s = snw_export_gltf(e, k == 0, sink, err);
    for (int part = 0; part < SNW_VTK_NPART; part++) {
        for (int k = 0; s == SNW_OK && k < snw_export_frames(e); k++) {
            if (!snw_vtk_has(e, (snw_vtk_part)part)) continue;
            s = snw_export_vtk(e, (snw_vtk_part)part, k, sink, err);
        }
    }
    if (s == SNW_OK) s = snw_export_pvd(e, "a & <b>", sink, err);
    if (s == SNW_OK) s = snw_export_shapes(e, sink, err);
    snw_export_close(e);
    snw_result_close(r);
    *size = d.size;
    return s;
}

static void a_full_sink_is_reported(void **state) {
    (void)state;
    size_t size, part;
    snw_error err = {0};
    write_scene(scene);
    if (write_all(SIZE_MAX, &size, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_true(size > 10000);
    for (int k = 0; k < 40; k++) {
        err = (snw_error){0};
        assert_int_equal(write_all((size_t)k * size / 40, &part, &err), SNW_E_IO);
        assert_non_null(strstr(err.text, "writ"));
    }
}

static void scenes_that_make_no_sense_do_no_harm(void **state) {
    (void)state;
    static const char *const wild[] = {
        "",
        "{}",
        "[]",
        "{\"links\":3}",
        "{\"links\":[null,3,[],{\"rod\":{\"root\":99,\"first\":0,\"count\":3}}]}",
        "{\"links\":[{\"name\":\"a\",\"rod\":{\"root\":-1,\"first\":0,\"count\":4,\"x\":[3,2,1],"
        "\"section\":\"circle\"}}]}",
        "{\"links\":[{\"rod\":{\"root\":0,\"first\":3,\"count\":1000000000}}],\"parent\":\"no\"}",
        "{\"links\":[],\"kind\":[\"pose\",\"pose\",\"pose\",\"pose\"],\"parent\":[0,0,9,-5]}",
        "{\"links\":[],\"measures\":[{\"points\":[[1e7],[0,1e308,-1e308,1e300,-3],[1,0,0,0,0]]}]}",
        "{\"links\":[{\"name\":\"b\",\"end\":3,\"body\":{\"size\":\"x\",\"mass\":0,\"inertia\":["
        "1e300,0,-1]}}]}",
        "{\"links\":[],\"contacts\":[{\"normal\":[0,0,0]},{\"kind\":\"wheel\",\"normal\":[0,0,1]}]"
        "}",
    };
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        size_t size;
        snw_error err = {0};
        write_scene(wild[i]);
        // some are refused, with a message
        if (write_all(SIZE_MAX, &size, &err) != SNW_OK) assert_true(err.text[0] != '\0');
    }
}

// a scene with some of its bytes replaced
static void damaged_scenes_do_no_harm(void **state) {
    (void)state;
    static const char spare[] = "0123456789-.e,:[]{}\"anull";
    uint32_t seed = 11;
    char text[sizeof scene];
    int written = 0;
    for (int trial = 0; trial < 150; trial++) {
        memcpy(text, scene, sizeof scene);
        for (int k = trial % 4; k >= 0; k--) {
            text[scramble(&seed) % (sizeof scene - 1)] =
                spare[scramble(&seed) % (sizeof spare - 1)];
        }
        size_t size;
        snw_error err = {0};
        write_scene(text);
        const snw_status s = write_all(SIZE_MAX, &size, &err);
        written += s == SNW_OK;
        if (s != SNW_OK) assert_true(err.text[0] != '\0');
    }
    assert_true(written > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_sink_is_reported),
        cmocka_unit_test(scenes_that_make_no_sense_do_no_harm),
        cmocka_unit_test(damaged_scenes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
