#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Checks the types of the playground: playground/types.sh NODE. Exit 77: the compiler or the packages were not fetched.
here=$(cd "$(dirname "$0")" && pwd)
compiler=$here/../viewer/node_modules/typescript/bin/tsc
if [ ! -f "$compiler" ] || [ ! -d "$here/node_modules" ]; then
    echo "skipped: TypeScript or the packages of the playground are not there; 'make test' fetches them"
    exit 77
fi
exec "$1" "$compiler" --project "$here"
