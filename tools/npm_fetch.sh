#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Fetches the npm packages of a folder by its lock file: once, and again only when package-lock.json changes.
#
# usage: NPM=npm tools/npm_fetch.sh FOLDER build|all       (packages that its build needs, or also those of its tests)
set -u
here=$(cd "$1" && pwd)
packages=$2
stamp=$here/node_modules/.sinew
sum=$(cksum <"$here/package-lock.json" | tr -d ' ')

# two builds at once fetch one after the other
if command -v flock >/dev/null 2>&1; then
    exec 9>"$here/.lock" && flock 9
fi

# packages of this very lock file are there, those of tests where they are wanted
if [ -f "$stamp" ] && read -r had what <"$stamp" && [ "$had" = "$sum" ] && { [ "$what" = all ] || [ "$what" = "$packages" ]; }; then
    exit 0
fi
if [ "$packages" = all ]; then omit=; else omit=--omit=dev; fi
log=$(mktemp)
if ! (cd "$here" && "$NPM" ci $omit --ignore-scripts --no-progress --loglevel=error \
    --fetch-retries=1 --fetch-timeout=30000) >"$log" 2>&1; then
    head -4 "$log" >&2
    rm -f "$log"
    exit 1
fi
rm -f "$log"
echo "$sum $packages" >"$stamp"
