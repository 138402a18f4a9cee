#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Makes the viewer's page as a C file. Packages are fetched once, and again only when package-lock.json changes. Whatever
# fails leaves a file without a page, which says why: a build never fails here.
#
# usage: viewer/build.sh build|all OUT.c       (packages that the page needs, or also those of its tests)
set -u
packages=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)

# the file without a page
without() {
    echo "viewer: $1" >&2
    printf '%s\n' '// SPDX-License-Identifier: MIT' '#include "cli/viewer.h"' \
        'const unsigned char snw_viewer_page[] = {0};' 'const size_t snw_viewer_size = 0;' \
        "const char snw_viewer_missing[] = \"$1\";" >"$out"
    exit 0
}

[ -n "${NODE:-}" ] && [ -n "${NPM:-}" ] ||
    without "there was no Node; install nodejs and npm (tools/setup.sh does), then 'make viewer'"
major=$("$NODE" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
[ "$major" -ge 18 ] ||
    without "Node $major is too old; install Node 18 or later, then 'make viewer'"

sh "$here/../tools/npm_fetch.sh" "$here" "$packages" ||
    without "its packages could not be fetched by npm; see to the network, then 'make viewer'"
"$NODE" "$here/build.mjs" "$out" ||
    without "its page could not be built; see what 'make viewer' says"
