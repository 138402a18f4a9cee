#!/bin/sh
# SPDX-License-Identifier: MIT
#
# brief.sh sinew model.yaml out.h5: a model under sanitizers, run whole or for two seconds and then interrupted. That its
# numbers are right is asked elsewhere. In the foreground, since timeout else sends its signal twice, to the process and to its group,
# and the second one ends it at once.
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
said=$(timeout --foreground --preserve-status --signal=INT 2 "$1" run "$2" -o "$3" 2>&1)
status=$?
rm -f "$3"
printf '%s\n' "$said" | head -n 40
case "$status $said" in
"0 "* | "1 "*stopped*) ;;
*) exit 1 ;;
esac
