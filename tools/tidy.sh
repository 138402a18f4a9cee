#!/bin/sh
# SPDX-License-Identifier: MIT
#
# clang-tidy over the sources of a build made by clang, several at a time.
#
# usage: tools/tidy.sh build-folder [jobs]
set -eu
cd "$(dirname "$0")/.."
find src -name '*.c' -print0 | sort -z |
    xargs -0 -n 1 -P "${2:-1}" clang-tidy --quiet -p "$1" 2>/dev/null
echo "tidy: clean"
