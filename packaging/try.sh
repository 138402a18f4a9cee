#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tries Sinew as a stranger would.
#
# usage: packaging/try.sh wheel           build and use the wheel, and the sources by pip, in fresh environments
#        packaging/try.sh deb FILE.deb    install the package and use its command, library and Python package
#        packaging/try.sh source [REF]    clone with no more than gcc, make, cmake and git; make; make demo
#
# `deb` and `source` work in a clean Debian 12 and need root, mmdebstrap and a network. The base system is kept in
# build/try/SUITE-NAME.tar and used again. `wheel` uses no network; a python3 without packages stands first in its path.
set -eu
cd "$(dirname "$0")/.."
what=${1:-}
suite=${SUITE:-bookworm}
case $what in
wheel) ;;
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

# a study by the Python package, in a folder with arm.yaml
use_package='
import sinew

result = sinew.run("arm.yaml", runs="five")
run = result.only()
print(sinew.__version__, sinew.__file__, sinew.command_path(), run)
assert run.state == "finished" and len(run.page()) > 1000
'

if [ "$what" = wheel ]; then
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    mkdir "$root/path" "$root/use"
    printf '#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n' >"$root/path/python3"
    chmod +x "$root/path/python3"
    PATH=$root/path:$PATH
    python3 -c "import numpy" 2>/dev/null && { echo "try: the first python3 should have no numpy" >&2; exit 1; }
    make python
    cp examples/rods/boyer2_follower.yaml "$root/use/arm.yaml"
    for from in build/wheel/sinew-*.whl .; do
        # Debian's numpy and cffi are seen from within; pip comes from outside, since python3-venv may be missing
        /usr/bin/python3 -m venv --without-pip --system-site-packages "$root/venv"
        /usr/bin/python3 -m pip --python "$root/venv/bin/python" install --quiet --no-index --no-deps --no-build-isolation "$from"
        (
            cd "$root/use"
            ../venv/bin/python -W ignore -c "$use_package"
            ../venv/bin/python -m sinew --version
            ../venv/bin/sinew check arm.yaml >/dev/null
        )
        rm -rf "$root/venv"
        echo "try: $from installs and works"
    done
    exit 0
fi

command -v mmdebstrap >/dev/null || { echo "try: install mmdebstrap" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "try: run as root, it makes a chroot" >&2; exit 1; }

mkdir -p build/try
base=build/try/$suite-$what.tar
[ -f "$base" ] || mmdebstrap --quiet --variant=apt --include="$include" "$suite" "$base"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -xf "$base" -C "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# a network with certificates of its own
certificates=
if [ -f "${NODE_EXTRA_CA_CERTS:-}" ]; then
    certificates=/root/certificates.crt
    cp "$NODE_EXTRA_CA_CERTS" "$root$certificates"
fi

# Run a command in the clean system. Mounts live in a namespace of their own, so that none is left behind.
inside() {
    unshare --mount --propagation private sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" && root=$1 && shift
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive NODE_EXTRA_CA_CERTS='"$certificates"' "$@"' inside "$root" "$@"
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
printf '%s' "$use_package" >"$root/root/use.py"
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
python3 -W ignore use.py
printf '#include <sinew/sinew.h>\n#include <stdio.h>\nint main(void) { return puts(snw_version()) < 0; }\n' >use.c
gcc use.c $(pkg-config --cflags --libs sinew) -o use
./use
USE
inside sh /root/use.sh
inside apt-get remove -y -qq sinew >/dev/null
if inside test -e /usr/bin/sinew || inside test -e /usr/lib/python3/dist-packages/sinew; then
    echo "try: files stay behind after removal" >&2
    exit 1
fi
echo "try: the package installs, works and goes"
