#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs a build into a scratch folder and uses it as a stranger would: by pkg-config, by CMake, by hand.
#
# usage: tools/install_test.sh build-folder compiler
set -eu
build=$1
compiler=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root cmake --install "$build" --prefix /opt/sinew >/dev/null
prefix=$root/opt/sinew
pc=$(find "$prefix" -name sinew.pc)
library=$(dirname "$(dirname "$pc")")
for file in include/sinew/status.h include/sinew/model.h include/sinew/study.h share/man/man1/sinew.1; do
    test -s "$prefix/$file" || { echo "install: $file is missing" >&2; exit 1; }
done

# A rod rolled up by a torque of EI/L: its tip comes to rest at x = sin(1) m, in a robot and in a study; with half the
# torque at x = 2 sin(1/2) m. A body twist of bending at rate 1/m moves the tip.
cat >"$root/stranger.c" <<'C'
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "robot: {arm: {on: world, rod: {length: 1 m, section: {stiffness: {bend_z: 2 N*m^2}}, strain: {bend_z: legendre 3}}}}\n"
    "parameters: {C: 2 N*m}\n"
    "loads: {roll: {on: arm.tip, torque: [0, 0, C], frame: body}}\n"
    "study: [static: {}]\n"
    "probes: {tip: {position: arm.tip}}\n";

static int told(snw_error err) {
    fprintf(stderr, "%d:%d: %s\n", err.line, err.column, err.text);
    return 1;
}

int main(void) {
    static const char *const half[] = {"C=1 N*m"};
    snw_error err = {SNW_OK};
    snw_robot_model *m = NULL;
    snw_robot *r = NULL;
    snw_study *study = NULL;
    snw_place place;
    snw_part bend;
    double tip[3] = {0, 0, 0}, pose[16], J[6 * 3];
    if (snw_robot_model_parse("arm", arm, strlen(arm), NULL, 0, NULL, &m, &err) != SNW_OK ||
        snw_robot_from_model(m, &r, &err) != SNW_OK || snw_robot_equilibrium(r, 0, &err) != SNW_OK ||
        snw_study_create(m, &study, &err) != SNW_OK || snw_study_run(study, 1, NULL, &err) != SNW_OK)
        return told(err);
    if (snw_robot_probe(r, "tip", 3, tip) != 3 || !(fabs(tip[0] - sin(1)) < 1e-9)) return 2;
    if (!(fabs(snw_study_row(study, SNW_FIELD_COLUMN)[0] - sin(1)) < 1e-9)) return 3;
    if (snw_robot_set_parameters(r, 1, half, &err) != SNW_OK || snw_robot_equilibrium(r, 0, &err) != SNW_OK)
        return told(err);
    if (snw_robot_find_place(r, "arm.tip", &place) != SNW_OK || snw_robot_pose(r, place, pose) != SNW_OK ||
        !(fabs(pose[12] - 2 * sin(0.5)) < 1e-9))
        return 4;
    // the curvature k turns the tip by L dk
    if (snw_robot_model_part(m, SNW_PART_COORDINATE, snw_robot_model_find(m, SNW_PART_COORDINATE, "arm.bend_z.0"),
                             &bend) != SNW_OK ||
        snw_robot_jacobian(r, place, SNW_AXES_WORLD, J, NULL) != SNW_OK || !(fabs(J[6 * bend.v + 2] - 1) < 1e-12))
        return 5;
    snw_study_close(study);
    snw_robot_close(r);
    snw_robot_model_close(m);
    printf("sinew %s, tip at %.12f\n", snw_version(), tip[0]);
    return strcmp(snw_version(), SNW_VERSION) != 0;
}
C

# by pkg-config; the file says the prefix it was configured with, we stand elsewhere
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" --cflags --libs sinew)
# shellcheck disable=SC2086
"$compiler" -std=c11 -Wall -Werror "$root/stranger.c" $flags -lm -o "$root/stranger"
LD_LIBRARY_PATH=$library "$root/stranger"

# by CMake
cat >"$root/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(stranger C)
find_package(sinew 0.2 REQUIRED)
add_executable(stranger stranger.c)
target_link_libraries(stranger PRIVATE sinew::sinew m)
CMAKE
cmake -S "$root" -B "$root/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" >/dev/null
cmake --build "$root/build" >/dev/null
"$root/build/stranger"

# the command runs where it was put
"$prefix/bin/sinew" --version
