#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh BUILD SECONDS [NAME..]: runs the libFuzzer programs one after the other, SECONDS each. The corpus is kept in
# BUILD/corpus_NAME, failing inputs in BUILD/found; exit status 1 when there are any.
set -u
build=$(cd "$1" && pwd)
seconds=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
shift 2
[ $# -gt 0 ] || set -- model result message
export LSAN_OPTIONS=print_suppressions=0:suppressions=$source/tests/leaks.txt
seeds=$build/seeds
mkdir -p "$build/found" "$seeds/model" "$seeds/result" "$seeds/message"

# initial corpus: models, small results of some of them, one message of each kind
for model in "$source"/examples/*/*.yaml; do
    cp "$model" "$seeds/model/$(basename "$(dirname "$model")")_$(basename "$model")"
done
for name in rods/first rods/caught hybrid/four_bar tendon/helix rods/euler_column; do
    out=$seeds/result/$(basename $name).h5
    [ -f "$out" ] || "$build/sinew" run "$source/examples/$name.yaml" -o "$out" --increments 3 --quiet 2>/dev/null
done
cat >"$seeds/message/all" <<'LIST'
{"do":"set","control":0,"value":1.5}
{"do":"set","control":2,"value":0.5}
{"do":"pull","node":3,"at":[0,0,0],"to":[0.1,0,0.2],"strength":50}
{"do":"drop"}
{"do":"free","control":0}
{"do":"speed","value":0.5}
{"do":"record","on":true}
{"do":"step"}
{"do":"record","on":false}
{"do":"pause","on":false}
{"do":"reset"}
LIST
# words of the language and of messages
cat "$source"/examples/*/*.yaml | grep -oE '[a-z_]{3,16}:?' | sort | uniq -c | sort -rn | awk '$1 > 2 {print "\"" $2 "\""}' >"$build/model.dict"
grep -oE '"[a-z]+' "$seeds/message/all" | sed 's/"//; s/.*/"&"/' | sort -u >"$build/message.dict"
printf '"%s"\n' OHDR OCHK FRHP FHDB TREE SNOD HEAP BTHD BTLF FAHD EAHD >"$build/result.dict"

status=0
for name in "$@"; do
    mkdir -p "$build/corpus_$name"
    case $name in
    model) longest=20000 ;;
    result) longest=400000 ;;
    *) longest=4000 ;;
    esac
    echo "libfuzz $name: $seconds s"
    "$build/libfuzz_$name" "$build/corpus_$name" "$seeds/$name" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 \
        -max_len=$longest -dict="$build/$name.dict" -artifact_prefix="$build/found/$name-" -print_final_stats=1 \
        -verbosity=0 >"$build/$name.log" 2>&1 || status=1
    grep -E '^stat::number_of_executed_units|^stat::new_units|SUMMARY|ERROR|runtime error|Test unit written' "$build/$name.log"
done
exit $status
