#!/bin/sh
# SPDX-License-Identifier: MIT
#
# brief.sh sinew model.yaml out.h5: every run of a model under sanitizers, whole or for its first five increments. That its
# numbers are right is asked elsewhere.
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
"$1" run "$2" -o "$3" --increments 5 --quiet
status=$?
rm -f "$3"
exit $status
