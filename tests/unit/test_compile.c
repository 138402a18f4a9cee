// SPDX-License-Identifier: MIT
//
// The compiler of models: layout of the compiled model, and models that it refuses.
#include "random_rod.h"

#include "near.h"

#include <string.h>

static void refused(robot *r, const char *fragment) {
    snw_model *m = NULL;
    snw_error err = {0};
    assert_int_equal(snw_model_compile(&r->desc, &m, &err), SNW_E_MODEL);
    assert_null(m);
    if (!strstr(err.text, fragment)) fail_msg("'%s' does not say '%s'", err.text, fragment);
    robot_free(r);
}

static void make(robot *r) {
    robot_init(r, 1, 0.01);
    robot_strain(r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 3);
}

static void faults_are_named(void **state) {
    (void)state;
    robot r;
    make(&r);
    r.link[0].rod.length = 0;
    refused(&r, "length must be positive");
    make(&r);
    r.link[0].rod.section.kind = SNW_SECTION_NONE;
    refused(&r, "needs a section");
    make(&r);
    r.link[0].rod.material = NULL;
    refused(&r, "needs a material");
    make(&r);
    r.material.density = NULL;
    refused(&r, "density: 0");
    make(&r);
    r.material.poisson = NULL;
    robot_strain(&r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    refused(&r, "poisson or shear");
    make(&r);
    r.link[0].rod.section.size[0] = law(&r, "0.01*(0.5 - x)");
    refused(&r, "radius must be positive");
    make(&r);
    r.link[0].rod.section.inertia_given = true;
    r.link[0].rod.section.inertia[21] = number(&r, 3);
    refused(&r, "must be equal");
    // diagonal 1, xy coupling 2: -1 about (1, -1, 0)
    make(&r);
    r.link[0].rod.section.inertia_given = true;
    for (int i = 0; i < 6; i++) r.link[0].rod.section.inertia[7 * i] = number(&r, 1);
    r.link[0].rod.section.inertia[1] = r.link[0].rod.section.inertia[6] = number(&r, 2);
    refused(&r, "must not be negative about any axis");
    // a slice with its mass 0.5 beside the axis (mc = 1, m = 2) has inertia of at least 0.5 about y
    // and z
    make(&r);
    r.link[0].rod.section.inertia_given = true;
    for (int i = 0; i < 6; i++) {
        r.link[0].rod.section.inertia[7 * i] = number(&r, i < 3 ? 0.4 : 2);
    }
    r.link[0].rod.section.inertia[1 * 6 + 5] = r.link[0].rod.section.inertia[5 * 6 + 1] =
        number(&r, -1);
    r.link[0].rod.section.inertia[2 * 6 + 4] = r.link[0].rod.section.inertia[4 * 6 + 2] =
        number(&r, 1);
    refused(&r, "through the centre of mass");
    make(&r);
    r.link[0].has_rod = false;
    r.link[0].when = number(&r, 0);
    refused(&r, "no part that it could make inactive");
    make(&r);
    r.load[r.desc.nload++] = (snw_load_desc){.name = "push", .on = rod_at(0, 1.5)};
    refused(&r, "outside of rod 'arm'");
    make(&r);
    r.link[0].rod.nodes = 50000;
    refused(&r, "more than 20000");
}

// weights sum to the length, the tip is the last node, breaks and stations are nodes
static void nodes_are_where_they_must_be(void **state) {
    (void)state;
    robot r;
    make(&r);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LINEAR, 4);
    r.link[0].rod.nodes = 10;
    r.load[r.desc.nload++] = (snw_load_desc){.name = "push", .on = rod_at(0, 0.3)};
    snw_model *m = NULL;
    snw_error err = {0};
    assert_int_equal(snw_model_compile(&r.desc, &m, &err), SNW_OK);
    const snw_rod *rod = &m->rod[0];
    double total = 0, mass = 0;
    bool quarter = false, station = false;
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        total += m->seg_w[s];
        mass += m->seg[s].M.m;
        quarter |= m->seg_x[s] == 0.25;
        station |= m->seg_x[s] == 0.3;
        if (s > rod->seg0) assert_true(m->seg_x[s] >= m->seg_x[s - 1]);
    }
    assert_near(total, 1, 1e-14);
    assert_near(mass, 1000 * M_PI * 1e-4, 1e-14);
    assert_true(quarter && station);
    assert_true(m->seg_x[rod->seg0 + rod->nseg - 1] == 1);
    assert_int_equal(rod->nodes, 12); // ten nodes on four elements: three each
    snw_model_destroy(m);
    robot_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(nodes_are_where_they_must_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
