// SPDX-License-Identifier: MIT
//
// Rows of sweeps that take what rows before have found out (nodes of rods, rows of loops, closed
// configurations) against the same rows by themselves: equal to the last bit, whatever came before.
//
//   unit_sweep_rows FILE.yaml ..
//
// does the same with each number among the parameters of each run of other model files.
#include "near.h"

#include "base/alloc.h"
#include "constraint/closure_choice.h"
#include "language/document.h"
#include "study/run.h"
#include "study/series.h"
#include "sweep/plan.h"
#include "sweep/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

// Two rows, of which `what` is the number that both have.
static void assert_same_row(const char *what, const snw_sweep_plan *plan, const snw_sweep_row *a,
                            const snw_sweep_row *b) {
    if (a->state != b->state || strcmp(a->message, b->message) != 0)
        fail_msg("%s, row %ld: '%s' (%s) and by itself '%s' (%s)", what, (long)a->row,
                 snw_sweep_row_state_name[a->state], a->message, snw_sweep_row_state_name[b->state],
                 b->message);
    for (int i = 0; i < plan->nresult && a->state == SNW_SWEEP_ROW_DONE; i++) {
        if (memcmp(&a->result[i], &b->result[i], sizeof a->result[i]) != 0)
            fail_msg("%s, row %ld: %s = %.17g and by itself %.17g", what, (long)a->row,
                     plan->result[i].name, a->result[i], b->result[i]);
    }
}

static char **files; // given, which may hold what a sweep refuses

static int not_opened(const char *what, const snw_error *err) {
    if (!*files) fail_msg("%s: %s", what, err->text);
    print_message("%s: %s\n", what, err->text);
    return 0;
}

// The rows of a plan in this order and in the other, and by themselves. Returns how many were
// refused.
static int compare_plan(const char *what, const char *path) {
    snw_error err = {0};
    snw_sweep_plan *plan;
    snw_sweep_row_computer *like, *fresh;
    int refused = 0;
    if (snw_sweep_plan_read(path, &plan, &err) != SNW_OK) return not_opened(what, &err);
    if (snw_sweep_row_computer_open(plan, SNW_SWEEP_ALONE, &like, &err) != SNW_OK) {
        snw_sweep_plan_destroy(plan);
        return not_opened(what, &err);
    }
    assert_int_equal(snw_sweep_row_computer_open(plan, SNW_SWEEP_ALONE, &fresh, &err), SNW_OK);
    snw_sweep_row_computer_fresh(fresh);
    for (int64_t k = 0; k < 2 * plan->rows; k++) {
        const int64_t i = k < plan->rows ? k : 2 * plan->rows - 1 - k;
        snw_sweep_row a, b;
        assert_int_equal(snw_sweep_rows_compute(like, 1, &i, NULL, NULL, &a, &err), SNW_OK);
        assert_int_equal(snw_sweep_rows_compute(fresh, 1, &i, NULL, NULL, &b, &err), SNW_OK);
        // only checked rows have warnings; a fresh row is always checked
        if (b.state == SNW_SWEEP_ROW_DONE) a.message = b.message = "";
        assert_same_row(what, plan, &a, &b);
        refused += a.state == SNW_SWEEP_ROW_REFUSED;
    }
    snw_sweep_row_computer_close(like);
    snw_sweep_row_computer_close(fresh);
    snw_sweep_plan_destroy(plan);
    return refused;
}

static int compare_rows(const char *model, const char *vary, const char *keep) {
    char folder[] = "/tmp/snw_rows_XXXXXX", path[64], plan[1000];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/robot.yaml", folder);
    write_text(path, model);
    (void)snprintf(plan, sizeof plan, "sinew: 1\nmodel: robot.yaml\nvary: {%s}\nkeep: {%s}\n", vary,
                   keep);
    (void)snprintf(path, sizeof path, "%s/plan.yaml", folder);
    write_text(path, plan);
    const int refused = compare_plan(vary, path);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/robot.yaml", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    return refused;
}

// ---- loops --------------------------------------------------------------------------------------

// Platform on three flexible legs in the plane: three of five rows of each pin are trivial, unless
// the platform is lifted or a leg's motor leans.
static const char planar[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters:\n"
    "  R: 25 cm\n"
    "  r: 6 cm\n"
    "  span: 22 cm\n"
    "  around: [90 deg, 210 deg, 330 deg]\n"
    "  angle: 30 deg\n"
    "  E: 200 GPa\n"
    "  lift: 0 mm\n"
    "  lean: 0 deg\n"
    "  P: 0 N\n"
    "materials: {steel: {young: E, poisson: 0.3, density: 7800 kg/m^3}}\n"
    "robot:\n"
    "  leg(k=1..3):\n"
    "    on: world\n"
    "    pose: {xyz: [R*cos(around(k)), R*sin(around(k)), 0], axis: z, angle: around(k) + 180 "
    "deg}\n"
    "    joint: revolute\n"
    "    rod: {length: span, section: {circle: {radius: 0.5 mm}}, material: steel, "
    "strain: {bend_z: legendre 3}}\n"
    "  platform: {on: world, pose: {xyz: [0, 0, lift], axis: x, angle: lean}, joint: planar, "
    "body: {mass: 0.1 kg}}\n"
    "sites: {pin(k=1..3): {on: platform, pose: {xyz: [r*cos(around(k)), r*sin(around(k)), 0]}}}\n"
    "loops: {hinge(k=1..3): {join: [leg(k).tip, pin(k)], as: revolute}}\n"
    "actuators: {motor(k=1..3): {joint: leg(k), position: angle}}\n"
    "loads: {push: {on: platform, force: [P, 0, 0]}}\n"
    "study: [static: {}]\n"
    "probes: {p: {pose: platform}, e: {effort: motor(1)}}\n";

static void planar_loops_are_known_to_the_last_bit(void **state) {
    (void)state;
    static const char keep[] = "x: end(p.x), y: end(p.y), turn: end(p.rz), e: end(e)";
    assert_int_equal(compare_rows(planar, "E: [200 GPa, 190 GPa, 210 GPa]", keep), 0);
    assert_int_equal(
        compare_rows(planar, "P: [0.1 N, 0.2 N], motor(1).position: [30 deg, 20 deg]", keep), 0);
    assert_int_equal(compare_rows(planar, "R: [25 cm, 24.5 cm], span: [22 cm, 22.5 cm]", keep), 0);
    // trivial rows that are so no more: such a row is refused, and the next one is not
    assert_true(compare_rows(planar, "lift: [0 mm, 1 mm], E: [200 GPa, 190 GPa]", keep) > 0);
    assert_true(compare_rows(planar, "lean: [0 deg, 1 deg], E: [200 GPa, 190 GPa]", keep) > 0);
}

// A door on two hinges of one axis, of which the second has redundant rows, unless it leans, which
// locks the door, or both have another distance on the door than on the wall.
static const char door[] =
    "sinew: 1\n"
    "parameters: {a: 0.2 m, b: 0.5 m, m: 1 kg, F: 1 N, lean: 0 deg, gap: 0 mm}\n"
    "robot: {door: {on: world, joint: free, body: {box: [a, 2 cm, 2 cm], mass: m, com: [a/2, b/2, "
    "-0.1 m]}}}\n"
    "sites:\n"
    "  wall(k=1..2): {on: world, pose: {xyz: [0, b*(k - 1), 0], axis: x, angle: -90 deg}}\n"
    "  eye(k=1..2): {on: door, pose: {xyz: [0, (b + gap)*(k - 1), 0], axis: x, angle: -90 deg + "
    "lean*(k - 1)}}\n"
    "loops: {hinge(k=1..2): {join: [wall(k), eye(k)], as: revolute}}\n"
    "loads: {wind: {on: door, force: [F, 0, 0]}}\n"
    "study: [static: {}]\n"
    "probes: {p: {pose: door}}\n";

static void redundant_loops_are_known_to_the_last_bit(void **state) {
    (void)state;
    static const char keep[] = "x: end(p.x), z: end(p.z), turn: end(p.ry)";
    assert_int_equal(compare_rows(door, "m: [1 kg, 2 kg], F: [1 N, -2 N]", keep), 0);
    assert_int_equal(compare_rows(door, "b: [0.5 m, 0.6 m], m: [1 kg, 2 kg]", keep), 0);
    assert_int_equal(compare_rows(door, "gap: [0 mm, 1 mm], m: [1 kg, 2 kg]", keep), 4);
    (void)compare_rows(door, "lean: [0 deg, 2 deg], m: [1 kg, 2 kg]", keep);
}

// A four-bar linkage whose crank is turned: its coupler hangs on the crank by two hinges of one
// axis, so that rows are redundant, and reaches its rocker while the crank has turned by less than
// 66 degrees.
static const char linkage[] =
    "sinew: 1\n"
    "parameters: {a: 0.2 m, b: 0.4 m, c: 0.15 m, d: 0.6 m, m: 1 kg, w: 10 deg/s}\n"
    "robot:\n"
    "  crank: {on: world, joint: revolute, axis: y, body: {box: [a, 2 cm, 2 cm], mass: m}}\n"
    "  rocker: {on: world, pose: {xyz: [d, 0, 0]}, joint: revolute, axis: y, body: {box: [c, 2 cm, "
    "2 cm], mass: m}}\n"
    "  bar: {on: world, pose: {xyz: [a, 0, 0]}, joint: free, body: {box: [b, 2 cm, 2 cm], mass: "
    "m}}\n"
    "sites:\n"
    "  tip(k=1..2): {on: crank, pose: {xyz: [a, 0.1 m*(k - 1), 0], axis: x, angle: -90 deg}}\n"
    "  root(k=1..2): {on: bar, pose: {xyz: [0, 0.1 m*(k - 1), 0], axis: x, angle: -90 deg}}\n"
    "  end: {on: bar, pose: {xyz: [b, 0, 0]}}\n"
    "  pin: {on: rocker, pose: {xyz: [c, 0, 0]}}\n"
    "loops:\n"
    "  hinge(k=1..2): {join: [tip(k), root(k)], as: revolute}\n"
    "  last: {join: [end, pin], as: spherical}\n"
    "actuators: {motor: {joint: crank, position: 30 deg + w*t}}\n"
    "initial: {rocker: 120 deg}\n"
    "study: [static: {for: 1 s, step: 0.5 s}]\n"
    "probes: {p: {position: end}, e: {effort: motor}}\n";

// Redundant rows are looked at during the whole study, and with them what drives do later.
static void later_drives_are_looked_at_again(void **state) {
    (void)state;
    static const char keep[] = "x: end(p.x), z: end(p.z), e: end(e)";
    assert_int_equal(compare_rows(linkage, "m: [1 kg, 2 kg]", keep), 0);
    assert_int_equal(compare_rows(linkage, "w: [10 deg/s, 60 deg/s], m: [1 kg, 2 kg]", keep), 4);
}

// A plate clamped to three legs in space, of whose loops no row is trivial or redundant.
static const char tripod[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {R: 0.2 m, r: 0.1 m, span: 0.4 m, E: 2 GPa, F: 1 N, "
    "around: [0 deg, 120 deg, 240 deg]}\n"
    "materials: {nylon: {young: E, poisson: 0.3, density: 1100 kg/m^3}}\n"
    "robot:\n"
    "  leg(k=1..3):\n"
    "    on: world\n"
    "    pose: {xyz: [R*cos(around(k)), R*sin(around(k)), 0], axis: z, angle: around(k) + 180 "
    "deg}\n"
    "    rod: {length: span, section: {circle: {radius: 2 mm}}, material: nylon, "
    "strain: {twist: legendre 2, bend_y: legendre 3, bend_z: legendre 3}}\n"
    "  plate: {on: world, pose: {xyz: [0, 0, 2 cm]}, joint: free, body: {mass: 0.1 kg}}\n"
    "sites: {eye(k=1..3): {on: plate, pose: {xyz: [r*cos(around(k) + 180 deg), "
    "r*sin(around(k) + 180 deg), 0], axis: z, angle: around(k) + 180 deg}}}\n"
    "loops: {clamp(k=1..3): {join: [leg(k).tip, eye(k)], as: fixed}}\n"
    "loads: {push: {on: plate, force: [0, 0, F]}}\n"
    "study: [static: {}]\n"
    "probes: {p: {pose: plate}}\n";

// Other geometry changes no row, which is found out where the plate is closed.
static void spatial_loops_are_known_to_the_last_bit(void **state) {
    (void)state;
    static const char keep[] = "x: end(p.x), z: end(p.z), turn: end(p.ry)";
    assert_int_equal(compare_rows(tripod, "R: [0.2 m, 0.21 m, 0.205 m], F: [1 N, 2 N]", keep), 0);
    assert_int_equal(
        compare_rows(tripod, "leg(2).rod.length: [0.4 m, 0.41 m], E: [2 GPa, 1 GPa]", keep), 0);
}

// ---- rods alike ---------------------------------------------------------------------------------

// Rods a and b are alike, c has another stiffness, d another length, e another shape at rest.
static const char rods[] =
    "sinew: 1\n"
    "materials: {nylon: {young: 2 GPa, poisson: 0.3, density: 1100 kg/m^3, damping: 1 ms}, "
    "other: {young: 3 GPa, poisson: 0.3, density: 1000 kg/m^3, damping: 1 ms}}\n"
    "robot:\n"
    "  a: {on: world, rod: {length: 0.4 m, section: {circle: {radius: 2 mm}}, material: nylon, "
    "rest: {bend_y: (2 + x/L)/L}, elements: 3, strain: {twist: legendre 2, bend_y: linear}}}\n"
    "  b: {on: a, rod: {length: 0.4 m, section: {circle: {radius: 2 mm}}, material: nylon, "
    "rest: {bend_y: (2 + x/L)/L}, elements: 3, strain: {twist: legendre 2, bend_y: linear}}}\n"
    "  c: {on: b, rod: {length: 0.4 m, section: {circle: {radius: 2 mm}}, material: other, "
    "rest: {bend_y: (2 + x/L)/L}, elements: 3, strain: {twist: legendre 2, bend_y: linear}}}\n"
    "  d: {on: c, rod: {length: 0.3 m, section: {circle: {radius: 2 mm}}, material: nylon, "
    "rest: {bend_y: (2 + x/L)/L}, elements: 3, strain: {twist: legendre 2, bend_y: linear}}}\n"
    "  e: {on: d, rod: {length: 0.4 m, section: {circle: {radius: 2 mm}}, material: nylon, "
    "rest: {bend_y: (3 + x/L)/L}, elements: 3, strain: {twist: legendre 2, bend_y: linear}}}\n"
    "study: [static: {}]\n";

static snw_model *compile_rods(const char *text, snw_desc **desc) {
    snw_error err = {0};
    snw_document *d = NULL;
    snw_model *m = NULL;
    if (snw_document_parse("rods", text, strlen(text), 0, NULL, &d, &err) != SNW_OK ||
        snw_document_describe(d, 0, desc, &err) != SNW_OK ||
        snw_projection_compile(*desc, &m, &err) != SNW_OK)
        fail_msg("%s", err.text);
    snw_document_destroy(d);
    return m;
}

// All that a compilation computes along a rod, which it copies from a rod alike.
static void assert_same_rod(const snw_model *a, const snw_rod *p, const snw_model *b,
                            const snw_rod *q) {
    assert_int_equal(p->nseg, q->nseg);
    assert_int_equal(p->npoint, q->npoint);
    assert_memory_equal(p->K, q->K, p->row[p->ndof] * sizeof *p->K);
    assert_memory_equal(p->D, q->D, p->row[p->ndof] * sizeof *p->D);
    for (int k = 0; k < p->nseg; k++) {
        const snw_seg *s = &a->seg[p->seg0 + k], *t = &b->seg[q->seg0 + k];
        const snw_slice *u = &a->slice[s->item], *v = &b->slice[t->item];
        assert_memory_equal(&s->M, &t->M, sizeof s->M);
        assert_true(u->x == v->x && u->h == v->h && u->ncol == v->ncol && u->field == v->field);
        assert_memory_equal(u->first, v->first, (size_t)p->na * sizeof *u->first);
        assert_memory_equal(u->count, v->count, (size_t)p->na * sizeof *u->count);
        assert_memory_equal(a->phi + u->phi, b->phi + v->phi,
                            (size_t)(p->nc * u->ncol) * sizeof *a->phi);
        assert_memory_equal(a->xi0 + s->item * SNW_MAGNUS_POINTS,
                            b->xi0 + t->item * SNW_MAGNUS_POINTS, (size_t)p->nc * sizeof *a->xi0);
    }
    for (int k = 0; k < p->npoint; k++) {
        const snw_point *u = &a->point[p->point0 + k], *v = &b->point[q->point0 + k];
        assert_true(u->x == v->x && u->w == v->w && u->first[1] == v->first[1]);
        assert_memory_equal(a->phi + u->phi, b->phi + v->phi,
                            (size_t)(u->count[0] + u->count[1]) * sizeof *a->phi);
    }
}

static void rods_alike_have_the_numbers_of_each_by_itself(void **state) {
    (void)state;
    snw_desc *all_desc, *desc;
    snw_model *all = compile_rods(rods, &all_desc);
    assert_int_equal(all->nrod, 5);
    for (int i = 0; i < all->nrod; i++) {
        // the head of the file and the line of the rod, which alone is on the world
        const char *robot = strstr(rods, "robot:\n") + 7, *line = robot;
        char text[1200];
        for (int k = 0; k < i; k++) line = strchr(line, '\n') + 1;
        (void)snprintf(text, sizeof text, "%.*s  %c: {on: world%.*s\nstudy: [static: {}]\n",
                       (int)(robot - rods), rods, 'a' + i,
                       (int)(strchr(line, '\n') - strstr(line, ", rod")), strstr(line, ", rod"));
        snw_model *alone = compile_rods(text, &desc);
        assert_int_equal(alone->nrod, 1);
        assert_same_rod(all, &all->rod[i], alone, &alone->rod[0]);
        snw_model_destroy(alone);
        snw_desc_destroy(desc);
    }
    snw_model_destroy(all);
    snw_desc_destroy(all_desc);
}

// ---- one choice ---------------------------------------------------------------------------------

static snw_model *compile_door(const char *set, snw_closure_choice *choice, snw_desc **desc,
                               size_t *allocations) {
    snw_error err = {0};
    snw_document *d = NULL;
    snw_model *m = NULL;
    const char *const sets[] = {set};
    assert_int_equal(snw_document_parse("door", door, strlen(door), 1, sets, &d, &err), SNW_OK);
    assert_int_equal(snw_document_describe(d, 0, desc, &err), SNW_OK);
    const size_t before = snw_alloc_count();
    assert_int_equal(snw_projection_compile_choice(*desc, SNW_USE_ANY, choice, &m, &err), SNW_OK);
    *allocations = snw_alloc_count() - before;
    snw_document_destroy(d);
    return m;
}

static void assert_same_loops(const snw_model *a, const snw_model *b) {
    assert_int_equal(a->nconstraint, b->nconstraint);
    assert_int_equal(a->freedom, b->freedom);
    assert_int_equal(a->singular, b->singular);
    for (int i = 0; i < a->nloop; i++) {
        assert_int_equal(a->loop[i].row, b->loop[i].row);
        assert_int_equal(a->loop[i].nrow, b->loop[i].nrow);
        assert_int_equal(a->loop[i].ntrivial, b->loop[i].ntrivial);
        assert_int_equal(a->loop[i].nredundant, b->loop[i].nredundant);
        assert_memory_equal(a->loop[i].coefficient, b->loop[i].coefficient,
                            sizeof a->loop[i].coefficient);
    }
}

// A model that was known needs less memory to be compiled: its loops are not closed.
static void only_other_kinematics_are_looked_at_again(void **state) {
    (void)state;
    static const struct {
        const char *set;
        bool known;
    } row[] = {{"m=1 kg", false},  {"m=3 kg", true}, {"F=9 N", true}, {"b=0.6 m", false},
               {"b=0.5 m", false}, {"F=2 N", true},  {"m=1 kg", true}};
    snw_closure_choice *choice;
    assert_int_equal(snw_closure_choice_create(&choice), SNW_OK);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        size_t with, without;
        snw_desc *desc[2];
        snw_model *m = compile_door(row[i].set, choice, &desc[0], &with),
                  *alone = compile_door(row[i].set, NULL, &desc[1], &without);
        assert_same_loops(m, alone);
        assert_int_equal(m->loop[1].nredundant, 5);
        if (row[i].known != (with < without))
            fail_msg("%s: %zu allocations, %zu by itself", row[i].set, with, without);
        snw_model_destroy(m);
        snw_model_destroy(alone);
        snw_desc_destroy(desc[0]);
        snw_desc_destroy(desc[1]);
    }
    snw_closure_choice_destroy(choice);
}

// ---- other files --------------------------------------------------------------------------------

// Vary each number among the parameters by a few thousandths, two at a time.
static void compare_file(const char *file) {
    snw_error err = {0};
    snw_document *d = NULL;
    char real[400];
    if (snw_document_read(file, 0, NULL, &d, &err) != SNW_OK || !realpath(file, real)) {
        print_message("%s: %s\n", file, err.text);
        return;
    }
    char folder[] = "/tmp/snw_rows_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/plan.yaml", folder);
    int plans = 0;
    snw_pool *pool = snw_pool_create(1 << 24);
    const snw_parameter_read *p = NULL;
    int n = 0;
    assert_int_equal(snw_document_parameters(d, 0, 0, NULL, pool, &n, &p, &err), SNW_OK);
    snw_desc *desc = NULL;
    assert_int_equal(snw_document_describe(d, 0, &desc, &err), SNW_OK);
    snw_run *run = NULL;
    assert_int_equal(snw_run_create(desc, "main", &run, &err), SNW_OK);
    const snw_run_info *info = snw_run_describe(run);
    char keep[1200] = "", name[200];
    for (int k = 0; k < info->ncolumn && k < 8; k++) {
        snw_column_name(&info->column[k], name, sizeof name);
        const size_t length = strlen(keep);
        (void)snprintf(keep + length, sizeof keep - length, "%sk%d: \"end(%s)\"", k ? ", " : "", k,
                       name);
    }
    for (int i = 0; i < n && info->ncolumn > 0; i++) {
        const double v = p[i].number.value;
        if (strcmp(p[i].kind, "number") != 0 || v == 0 || (v == floor(v) && fabs(v) < 50)) continue;
        char plan[3000], what[500];
        const char *unit = p[i].number.unit;
        (void)snprintf(plan, sizeof plan,
                       "sinew: 1\nmodel: %s\n%s%s\nvary: {%s: [%.17g %s, %.17g %s, %.17g %s]}\n"
                       "keep: {%s}\n",
                       real, snw_document_runs(d) > 1 ? "run: " : "",
                       snw_document_runs(d) > 1 ? snw_document_run_name(d, 0) : "", p[i].name, v,
                       unit, 1.002 * v, unit, 0.999 * v, unit, keep);
        write_text(path, plan);
        (void)snprintf(what, sizeof what, "%s, %s", file, p[i].name);
        (void)compare_plan(what, path);
        plans++;
    }
    print_message("%s: %d parameters\n", file, plans);
    snw_run_destroy(run);
    snw_desc_destroy(desc);
    snw_pool_destroy(pool);
    snw_document_destroy(d);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void rows_of_other_files_have_the_same_bits(void **state) {
    (void)state;
    for (char **f = files; *f; f++) compare_file(*f);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planar_loops_are_known_to_the_last_bit),
        cmocka_unit_test(redundant_loops_are_known_to_the_last_bit),
        cmocka_unit_test(later_drives_are_looked_at_again),
        cmocka_unit_test(spatial_loops_are_known_to_the_last_bit),
        cmocka_unit_test(rods_alike_have_the_numbers_of_each_by_itself),
        cmocka_unit_test(only_other_kinematics_are_looked_at_again),
    };
    const struct CMUnitTest given[] = {cmocka_unit_test(rows_of_other_files_have_the_same_bits)};
    files = argv + 1;
    return argc > 1 ? cmocka_run_group_tests(given, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
