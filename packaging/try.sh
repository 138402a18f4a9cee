#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tries Sinew in a clean Debian 12, as a stranger would. Needs root, mmdebstrap and a network.
#
# usage: packaging/try.sh deb FILE.deb    install the package and use its command, library and Python package
#        packaging/try.sh source [REF]    clone with no more than gcc, make, cmake and git; make; make demo
#
# The base system is kept in build/try/SUITE-NAME.tar and used again.
set -eu
cd "$(dirname "$0")/.."
what=${1:-}
suite=${SUITE:-bookworm}
case $what in
deb)
    [ -f "${2:-}" ] || { echo "try: give the package, build/deb/*.deb" >&2; exit 2; }
    include=gcc,libc6-dev,pkg-config
    ;;
source) include=gcc,libc6-dev,make,cmake,git,ca-certificates ;;
*)
    sed -n 's/^# usage: /usage: /p; s/^#        packaging/       packaging/p' "$0" >&2
    exit 2
    ;;
esac
command -v mmdebstrap >/dev/null || { echo "try: install mmdebstrap" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "try: run as root, it makes a chroot" >&2; exit 1; }

mkdir -p build/try
base=build/try/$suite-$what.tar
[ -f "$base" ] || mmdebstrap --quiet --variant=apt --include="$include" "$suite" "$base"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -xf "$base" -C "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# Run a command in the clean system. Mounts live in a namespace of their own, so that none is left behind.
inside() {
    unshare --mount --propagation private sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" && root=$1 && shift
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive "$@"' inside "$root" "$@"
}
seconds() { date +%s; }

if [ "$what" = source ]; then
    git clone --quiet --no-hardlinks . "$root/root/sinew"
    git -C "$root/root/sinew" checkout --quiet "${2:-$(git rev-parse HEAD)}"
    inside apt-get update -qq
    begun=$(seconds)
    inside make -C /root/sinew
    made=$(seconds)
    inside make -C /root/sinew demo
    echo "try: make $((made - begun)) s with what it installed, make demo $(($(seconds) - made)) s"
    exit 0
fi

cp "$2" "$root/root/sinew.deb"
cp examples/rods/boyer2_follower.yaml "$root/root/arm.yaml"
cp examples/python/first_arm.py "$root/root/"
begun=$(seconds)
inside apt-get update -qq
inside apt-get install -y -qq /root/sinew.deb >/dev/null
echo "try: installed in $(($(seconds) - begun)) s, $(inside dpkg-query -W -f '${Installed-Size}' sinew) kB"
cat >"$root/root/use.sh" <<'USE'
set -eu
cd /root
sinew --version
sinew check arm.yaml
sinew run arm.yaml -o arm.h5
sinew view arm.h5 -o arm.html
test -s arm.html
python3 -m sinew --version
python3 first_arm.py
python3 - <<'PY'
import sinew

result = sinew.run("arm.yaml")
run = next(iter(result.runs.values()))
print(sinew.__version__, sinew.command_path(), run)
assert run.state == "finished" and len(run.page()) > 1000
PY
printf '#include <sinew/sinew.h>\n#include <stdio.h>\nint main(void) { return puts(snw_version()) < 0; }\n' >use.c
gcc use.c $(pkg-config --cflags --libs sinew) -o use
./use
USE
inside sh /root/use.sh
inside apt-get remove -y -qq sinew >/dev/null
if inside test -e /usr/bin/sinew || inside test -e /usr/lib/python3/dist-packages/sinew/__init__.py; then
    echo "try: files stay behind after removal" >&2
    exit 1
fi
echo "try: the package installs, works and goes"
