#!/bin/bash
# Builds the fuzz targets with libFuzzer and the sanitizers and runs each for a while.
#
#     tests/fuzz/run.sh [SECONDS [TARGET...]]
#
# What libFuzzer found interesting stays in build-fuzz/tests/fuzz/found and is used again. A finding
# stops the script; its input is named in the output.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
shift || true
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$(nproc)"

dir=build-fuzz/tests/fuzz
targets=("$@")
if [ $# -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do targets+=("$(basename "$source" .c)"); done
fi
for target in "${targets[@]}"; do
    mkdir -p "$dir/found/$target"
    printf -- '-- %s for %s s\n' "$target" "$seconds"
    "$dir/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$dir/" "$dir/found/$target" "$dir/seeds/$target" 2>&1 |
        tee "$dir/$target.log" | grep -vE '^(#[0-9]+|\s+NEW_FUNC|INFO: seed)' | tail -n 40
done
