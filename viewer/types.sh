#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Checks the types of the viewer: viewer/types.sh NODE. Exit 77: the compiler was not fetched.
here=$(cd "$(dirname "$0")" && pwd)
compiler=$here/node_modules/typescript/bin/tsc
if [ ! -f "$compiler" ]; then
    echo "skipped: TypeScript is not there; 'make test' fetches it"
    exit 77
fi
exec "$1" "$compiler" --project "$here"
