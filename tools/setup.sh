#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs what Sinew needs, by the names of Debian's packages, and only what is missing.
#
# usage: tools/setup.sh [build | test | site | wasm]
#
#   build  what builds and runs the command (default)
#   test   the above, and what the tests, checks and benchmarks need
#   site   what builds the command, and the documentation site
#   wasm   emscripten alone, for `make wasm`: 400 MB that nothing else needs
set -eu

what=${1:-build}

# package, then how to see that it is there where there is no dpkg: a program, or lib:name of pkg-config
# (what follows `test:` is needed only there)
gcc_major=$(gcc -dumpversion 2>/dev/null | cut -d. -f1)
packages() {
    cat <<LIST
gcc gcc
libc6-dev gcc
make make
cmake cmake
ninja-build ninja
pkg-config pkg-config
python3 python3
libopenblas-serial-dev lib:openblas
libgfortran-${gcc_major:-12}-dev gcc
libhdf5-dev lib:hdf5-serial
libfyaml-dev lib:libfyaml
libsundials-dev gcc
LIST
    [ "$what" = test ] || return 0
    cat <<LIST
g++ g++
libcmocka-dev lib:cmocka
clang clang
libclang-rt-dev clang
clang-format clang-format
clang-tidy clang-tidy
LIST
}

# what makes and tests the viewer: any Node and any Chromium will do; what draws figures as PNG and PDF; what minimises; ranks of sweeps; what
# carries a live simulation to a browser; what makes and tests the Python package; what makes the site. All else goes on without
optional() {
    pkg-config --exists cairo cairo-pdf cairo-png 2>/dev/null || echo libcairo2-dev
    [ -f /usr/include/expat.h ] || echo libexpat1-dev
    pkg-config --exists nlopt 2>/dev/null || echo libnlopt-dev
    [ -n "$(find /usr/lib -path "*openmpi/include/mpi.h" 2>/dev/null)" ] || echo libopenmpi-dev
    [ -f /usr/include/libwebsockets.h ] || [ -f /usr/local/include/libwebsockets.h ] || echo libwebsockets-dev
    command -v node >/dev/null 2>&1 || echo nodejs
    command -v npm >/dev/null 2>&1 || echo npm
    # the Python package is for Debian's own interpreter
    for part in cffi numpy h5py; do /usr/bin/python3 -c "import $part" 2>/dev/null || echo "python3-$part"; done
    ls /usr/include/python3*/Python.h >/dev/null 2>&1 || echo python3-dev
    [ "$what" != test ] || for part in pytest pip setuptools wheel scipy yaml pandas; do
        /usr/bin/python3 -c "import $part" 2>/dev/null || echo "python3-$part"
    done
    [ "$what" = build ] || command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || echo chromium
    [ "$what" = site ] || return 0
    for part in sphinx myst-parser breathe sphinx-copybutton; do
        /usr/bin/python3 -c "import $(echo "$part" | tr - _)" 2>/dev/null || echo "python3-$part"
    done
    /usr/bin/python3 -c "import furo" 2>/dev/null || echo furo
    command -v doxygen >/dev/null 2>&1 || echo doxygen
}

case $what in
build | test | site) ;;
wasm)
    command -v emcc >/dev/null 2>&1 && exit 0
    packages() { echo "emscripten emcc"; }
    optional() { :; }
    ;;
*)
    echo "usage: tools/setup.sh [build | test | site | wasm]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    missing=$(packages | while read -r name sign; do
        case $sign in
        lib:*) pkg-config --exists "${sign#lib:}" 2>/dev/null || echo "  $name" ;;
        *) command -v "$sign" >/dev/null 2>&1 || echo "  $name" ;;
        esac
    done)
    if [ -n "$missing" ]; then
        echo "setup: this is not Debian; install what corresponds to these packages of Debian's:" >&2
        echo "$missing" >&2
    fi
    [ -z "$(optional)" ] || echo "setup: for the viewer, for figures as PNG and PDF, for optimisation, for live simulation, for Python and for the site install also" $(optional) >&2
    exit 0
fi

missing=$(packages | while read -r name sign; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) || state=none
    [ "$state" = installed ] || echo "$name"
done)
wanted=$(optional)
[ -n "$missing$wanted" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
elif [ -z "$missing" ]; then
    echo "setup: there will be no viewer, no figures as PNG and PDF, no optimisation, no live simulation, no Python package or no site; installing them needs root: apt-get install --no-install-recommends" $wanted >&2
    exit 0
else
    echo "setup: these packages are missing, and installing them needs root:" >&2
    echo "  apt-get install --no-install-recommends" $missing >&2
    exit 1
fi
echo "setup: installing" $missing $wanted
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
[ -z "$missing" ] || $as_root apt-get install -y -qq --no-install-recommends $missing
[ -z "$wanted" ] || $as_root apt-get install -y -qq --no-install-recommends $wanted ||
    echo "setup: these could not be installed, so there will be no viewer, no test of it, no figures as PNG and PDF, no optimisation, no live simulation, no Python package or no site:" $wanted >&2
