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

cat >"$root/stranger.c" <<'C'
#include <sinew/status.h>
#include <sinew/version.h>
#include <stdio.h>
int main(void) {
    return printf("%s %s\n", SNW_VERSION, snw_status_text(SNW_OK)) < 0;
}
C

# by pkg-config; the file says the prefix it was configured with, we stand elsewhere
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" --cflags --libs sinew)
# shellcheck disable=SC2086
"$compiler" -std=c11 -Wall -Werror "$root/stranger.c" $flags -o "$root/stranger"
LD_LIBRARY_PATH=$library "$root/stranger"

# by CMake
cat >"$root/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(stranger C)
find_package(sinew 0.1 REQUIRED)
add_executable(stranger stranger.c)
target_link_libraries(stranger PRIVATE sinew::sinew)
CMAKE
cmake -S "$root" -B "$root/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" >/dev/null
cmake --build "$root/build" >/dev/null
"$root/build/stranger"

# the command runs where it was put
"$prefix/bin/sinew" --version
