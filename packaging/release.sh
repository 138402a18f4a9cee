#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Makes everything that a release consists of, from the last commit: source archive, Debian package, wheel, site with
# the playground, and their checksums, in build/dist.
#
# usage: packaging/release.sh [--any]      (--any: also from a tree with changes, or without an entry in the changelog)
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/.*define SNW_VERSION *"\(.*\)".*/\1/p' include/sinew/version.h)
name=sinew-$version
dist=build/dist

if [ "${1:-}" != --any ]; then
    [ -z "$(git status --porcelain)" ] || { echo "release: the tree has changes; commit them, or give --any" >&2; exit 1; }
    grep -q "^## $version\$" CHANGELOG.md || { echo "release: CHANGELOG.md has no section '## $version'" >&2; exit 1; }
fi

rm -rf "$dist"
mkdir -p "$dist"
git archive --format=tar.gz --prefix="$name/" -o "$dist/$name.tar.gz" HEAD
make deb python
cp build/deb/sinew_"$version"_*.deb build/wheel/sinew-"$version"-*.whl "$dist"
if make site; then
    tar -C build/site -czf "$dist/$name-site.tar.gz" --transform "s,^html,$name-site," html
else
    echo "release: without the site, which could not be built here" >&2
fi
(cd "$dist" && sha256sum -- * >SHA256SUMS)
ls -l "$dist"
