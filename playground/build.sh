#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Makes the playground as a folder of static files. What is missing is said, and nothing is written then: a build never fails
# for it.
#
# usage: NODE=node NPM=npm playground/build.sh SINEW ENGINE OUT     (ENGINE: the folder of `make wasm`)
set -u
sinew=$1
engine=$2
out=$3
here=$(cd "$(dirname "$0")" && pwd)

left_out() {
    echo "playground: left out: $1" >&2
    exit 0
}

[ -n "${NODE:-}" ] && [ -n "${NPM:-}" ] || left_out "there is no Node; install nodejs and npm (tools/setup.sh does)"
major=$("$NODE" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
[ "$major" -ge 18 ] || left_out "Node $major is too old; install Node 18 or later"
[ -f "$engine/sinew.wasm" ] || left_out "there is no $engine/sinew.wasm; install emscripten, then 'make wasm'"
for folder in "$here/../viewer" "$here"; do
    sh "$here/../tools/npm_fetch.sh" "$folder" build || left_out "packages could not be fetched by npm; see to the network"
done
"$NODE" "$here/build.mjs" "$sinew" "$engine" "$out" || exit 1
echo "open $out/index.html in a browser"
