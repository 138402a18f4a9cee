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
for file in include/sinew/status.h share/man/man1/sinew.1; do
    test -s "$prefix/$file" || { echo "install: $file is missing" >&2; exit 1; }
done

# a rod rolled up by a torque of EI/L: its tip comes to rest at x = sin(1) m
cat >"$root/stranger.c" <<'C'
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "robot: {arm: {on: world, rod: {length: 1 m, section: {stiffness: {bend_z: 2 N*m^2}}, strain: {bend_z: legendre 3}}}}\n"
    "loads: {roll: {on: arm.tip, torque: [0, 0, 2 N*m], frame: body}}\n"
    "study: [static: {}]\n"
    "probes: {tip: {position: arm.tip}}\n";

int main(void) {
    snw_error err = {SNW_OK};
    snw_robot *r = NULL;
    double tip[3] = {0, 0, 0};
    if (snw_robot_parse("arm", arm, strlen(arm), NULL, 0, NULL, &r, &err) != SNW_OK ||
        snw_robot_equilibrium(r, 0, &err) != SNW_OK || snw_robot_probe(r, "tip", 3, tip) != 3) {
        fprintf(stderr, "%d:%d: %s\n", err.line, err.column, err.text);
        return 1;
    }
    snw_robot_close(r);
    printf("sinew %s, tip at %.12f\n", SNW_VERSION, tip[0]);
    return !(fabs(tip[0] - sin(1)) < 1e-9);
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
find_package(sinew 0.1 REQUIRED)
add_executable(stranger stranger.c)
target_link_libraries(stranger PRIVATE sinew::sinew m)
CMAKE
cmake -S "$root" -B "$root/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" >/dev/null
cmake --build "$root/build" >/dev/null
"$root/build/stranger"

# the command runs where it was put
"$prefix/bin/sinew" --version
