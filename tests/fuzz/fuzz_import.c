// SPDX-License-Identifier: MIT
//
// Damaged URDF, MJCF and SDF files: none may crash, hang or be refused without a message, and what
// is accepted becomes a text that the model language reads. `fuzz_import [seed [count]]`.
#include "import/import.h"
#include "language/document.h"

#include "draw.h"
#include "sanitized.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 16384 };

static char text[ROOM + 1];
static size_t length;
static int faults;

static void promise(bool kept, const char *what, const char *more) {
    if (kept) return;
    faults++;
    (void)fprintf(stderr, "%s: %s\n%.*s\n", what, more, (int)length, text);
}

// ---- files --------------------------------------------------------------------------------------

static const char urdf[] =
    "<?xml version='1.0'?>\n<robot name='two-link'><link name='a'>\n"
    "<inertial><mass value='2'/><origin xyz='0 0 0.2' rpy='0 1 0'/><inertia ixx='0.02' iyy='0.03' "
    "izz='0.025' ixy='0.001'/></inertial><visual><geometry><box size='1 2 "
    "3'/></geometry></visual>\n"
    "<collision><origin xyz='1 2 3'/><geometry><cylinder radius='1' length='2'/></geometry>"
    "</collision></link>\n<link name='b/c'><inertial><mass value='1'/></inertial></link>\n"
    "<link name='1'><inertial><mass value='1'/></inertial></link>\n"
    "<joint name='j' type='revolute'><parent link='a'/><child link='b/c'/><axis xyz='0 1 0'/>\n"
    "<limit lower='-1' upper='2' effort='3' velocity='4'/><dynamics damping='0.1' friction='1'/>"
    "</joint>\n<joint name='k' type='prismatic'><parent link='b/c'/><child link='1'/>"
    "<origin xyz='1 0 0' rpy='0 0 1'/><mimic joint='j' multiplier='2' offset='1'/></joint>\n"
    "<transmission/><gazebo/></robot>\n";

static const char mjcf[] =
    "<mujoco model='m'><compiler angle='radian' eulerseq='zyx' autolimits='true' meshdir='x'/>\n"
    "<option gravity='0 0 -9'/><default><geom density='5'/><joint damping='1'/><default class='c'>"
    "<joint armature='0.1' range='-1 1'/><position kp='3'/></default></default>\n"
    "<asset><mesh name='mesh' file='m.stl' scale='1 2 3'/></asset>\n<worldbody>"
    "<geom type='plane' size='1 1 1'/><geom type='box' size='1 1 1' pos='5 5 5'/>\n"
    "<body name='a' pos='1 2 3' euler='0.1 0.2 0.3' childclass='c'><freejoint/><geom size='0.1'/>\n"
    "<body name='b' axisangle='0 1 0 2'><joint name='j' axis='0 1 0' pos='0.1 0 0' stiffness='3' "
    "springref='1' ref='0.5'/><joint name='k' type='slide'/>\n<geom type='capsule' "
    "fromto='0 0 0 0 0 1' size='0.1'/><geom type='ellipsoid' size='1 2 3' mass='2'/>\n"
    "<body name='d' zaxis='0 1 1'><joint name='l' type='ball' range='0 1'/><inertial pos='0 0 1' "
    "mass='2' fullinertia='1 2 2.5 0.1 0.2 0.3'/><geom type='mesh' mesh='mesh'/></body></body>\n"
    "<frame pos='1 0 0'><body xyaxes='1 0 0 0 0 1'><inertial mass='1' pos='0 0 0' "
    "diaginertia='1 1 1'/></body></frame></body></worldbody>\n"
    "<actuator><motor name='m' joint='j' gear='3' ctrlrange='-1 1' forcerange='-2 2'/>"
    "<position class='c' joint='k'/><general joint='k' biastype='affine' biasprm='1 2 3'/>"
    "</actuator>\n<equality><joint joint1='j' joint2='k' polycoef='0 2'/><connect body1='b' "
    "body2='d' anchor='1 2 3'/><weld body1='a' "
    "body2='d'/></equality><sensor><x/></sensor></mujoco>";

static const char sdf[] =
    "<sdf version='1.9'><world name='w'><gravity>0 0 -9.8</gravity><model name='m'>\n"
    "<pose>1 2 3 0 0 1</pose><link name='a'><inertial><mass>2</mass><pose>0 0 1 0 1 "
    "0</pose><inertia>"
    "<ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>\n<collision name='c'><geometry><box>"
    "<size>1 2 3</size></box></geometry></collision></link>\n<link name='b'><pose relative_to='a'>"
    "1 0 0 0 0 0</pose><inertial auto='true'><density>200</density></inertial><collision name='c'>"
    "<geometry><capsule><radius>1</radius><length>2</length></capsule></geometry></collision></"
    "link>\n"
    "<link name='d'/><frame name='f' attached_to='b'><pose degrees='true'>0 0 1 0 90 "
    "0</pose></frame>\n"
    "<joint name='j' type='revolute'><parent>a</parent><child>b</child><pose relative_to='f'/>"
    "<axis><xyz expressed_in='a'>0 1 0</xyz><limit><lower>-1</lower><upper>inf</upper></limit>"
    "<dynamics><damping>1</damping><spring_stiffness>2</spring_stiffness></dynamics></axis></"
    "joint>\n"
    "<joint name='k' type='universal'><parent>b</parent><child>d</child><axis><xyz>0 1 "
    "0</xyz></axis>"
    "<axis2><xyz>1 0 0</xyz></axis2></joint>\n<joint name='l' type='ball'><parent>a</parent>"
    "<child>d</child></joint><joint name='n' type='screw'><parent>world</parent><child>a</child>"
    "<screw_thread_pitch>0.1</screw_thread_pitch></joint>\n</model></world></sdf>\n";

// ---- damage -------------------------------------------------------------------------------------

static const char *const scraps[] = {"nan",
                                     "inf",
                                     "-1",
                                     "0",
                                     "1e308",
                                     "-1e308",
                                     "1e-320",
                                     "'",
                                     "<",
                                     ">",
                                     "/>",
                                     "&amp;",
                                     "&#0;",
                                     "<a>",
                                     "</a>",
                                     "a",
                                     "b",
                                     "name='a'",
                                     "world",
                                     "1 2",
                                     "\xff",
                                     "\xc3\xa9",
                                     "true",
                                     "free",
                                     "<body>",
                                     "</body>",
                                     "<!--",
                                     "]]>",
                                     "mesh",
                                     "main",
                                     "class='c'",
                                     "__model__",
                                     "j",
                                     "{",
                                     "\"",
                                     ": ",
                                     "# x",
                                     "\n",
                                     "$(x)",
                                     "<include file='x'/>",
                                     "<!DOCTYPE x>",
                                     "2147483648",
                                     "../../x"};

static void insert(size_t at, const char *what, size_t n) {
    if (length + n > ROOM) return;
    memmove(text + at + n, text + at, length - at);
    memmove(text + at, what, n);
    length += n;
}

static void leave_out(size_t at, size_t n) {
    memmove(text + at, text + at + n, length - at - n);
    length -= n;
}

// Places between quotes or tags, where values are.
static size_t value_at(size_t from) {
    size_t at = from;
    while (at < length && text[at] != '\'' && text[at] != '>') at++;
    return at < length ? at + 1 : from;
}

static void damage(void) {
    const size_t from = length ? draw(length) : 0, left = length - from;
    const size_t some = left ? 1 + draw(left < 200 ? left : 200) : 0;
    const char *scrap = scraps[draw(sizeof scraps / sizeof *scraps)];
    const size_t at = value_at(from);
    const uint32_t way = draw(20);
    switch (way < 6 ? way : way < 18 ? 3 : 6) { // values most often
    case 0:
        if (left) text[from] = (char)draw(256);
        break;
    case 1:
        leave_out(from, some % 20);
        break;
    case 2:
        insert(from, scrap, strlen(scrap));
        break;
    case 3: { // replace a value
        size_t n = 0;
        while (at + n < length && text[at + n] != '\'' && text[at + n] != '<') n++;
        leave_out(at, n);
        insert(at, scrap, strlen(scrap));
        break;
    }
    case 4: { // repeat a part elsewhere
        static char part[200];
        memcpy(part, text + from, some);
        insert(draw(length + 1), part, some);
        break;
    }
    case 5:
        leave_out(from, some);
        break;
    default: // a part as often as it fits
        for (int i = 0; i < 20 && some > 0; i++) insert(from, text + from, some);
    }
}

// ---- trials -------------------------------------------------------------------------------------

static bool try_text(const char *path) {
    snw_pool *pool = snw_pool_create((size_t)64 << 20);
    char *copy = malloc(length + 1); // so that reading beyond the end is seen
    if (!pool || !copy) abort();
    memcpy(copy, text, length);
    copy[length] = '\0';
    const snw_import_opts opts = {.shapes = (snw_import_shapes_kind)draw(4), .free = draw(2) == 0};
    snw_imported_robot robot;
    snw_error err = {0};
    const char *model = NULL;
    snw_status s = snw_import_bytes(pool, path, copy, length, &opts, &robot, &err);
    const bool accepted = s == SNW_OK;
    if (s == SNW_OK) s = snw_imported_write(&robot, &opts, NULL, &model, &err);
    promise(s == SNW_OK || err.text[0], "silent failure", path);
    if (s == SNW_OK) {
        snw_document *d = NULL;
        snw_desc *desc = NULL;
        s = snw_document_parse("model.yaml", model, strlen(model), 0, NULL, &d, &err);
        promise(s == SNW_OK, "no document", err.text);
        if (s == SNW_OK) {
            s = snw_document_describe(d, 0, &desc, &err);
            promise(s == SNW_OK || err.text[0], "silent refusal", path);
            if (s != SNW_OK && getenv("SNW_FUZZ_SHOW")) (void)fprintf(stderr, "%s\n", err.text);
        }
        snw_desc_destroy(desc);
        snw_document_destroy(d);
    }
    snw_pool_destroy(pool);
    free(copy);
    return accepted;
}

int main(int argc, char **argv) {
    static const char *const from[] = {urdf, mjcf, sdf};
    static const char *const path[] = {"fuzz.urdf", "fuzz.xml", "fuzz.sdf"};
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const long count = argc > 2 ? strtol(argv[2], NULL, 10) : AMONG(600, 6000);
    long accepted = 0;
    double slowest = 0;
    for (long i = 0; i < count && faults < 10; i++) {
        length = strlen(from[i % 3]);
        memcpy(text, from[i % 3], length);
        for (int k = i < 3 ? 0 : 1 + (int)draw(3); k > 0; k--) damage();
        const clock_t before = clock();
        const bool good = try_text(path[i % 3]);
        const double took = (double)(clock() - before) / CLOCKS_PER_SEC;
        promise(i >= 3 || good, "refused although it is sound", path[i % 3]);
        accepted += good;
        if (took > slowest) slowest = took;
        promise(took < 5, "too slow", path[i % 3]);
    }
    (void)printf("%ld files, %ld accepted, slowest %.3g s, %d faults\n", count, accepted, slowest,
                 faults);
    return faults > 0;
}
