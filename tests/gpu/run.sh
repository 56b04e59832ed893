#!/bin/sh
# run.sh BUILD_DIR: every test that needs a CUDA device, and the small ones again under
# compute-sanitizer where that works. Exit 0: all passed; 77: there is no device; 1 otherwise.
here=$(cd "$(dirname "$0")" && pwd)
programs=${1:?usage: run.sh BUILD_DIR}/tests/gpu
sanitizer=${COMPUTE_SANITIZER:-compute-sanitizer}
failed=0

# run NAME COMMAND...: prints what came of it, and all that it said if it failed.
run() {
    name=$1
    shift
    output=$("$@" 2>&1)
    status=$?
    case $status in
    0) echo "passed   $name" ;;
    77)
        echo "skipped  $name: $output"
        return 77
        ;;
    *)
        echo "FAILED   $name (exit status $status)"
        echo "$output"
        failed=1
        ;;
    esac
}

# The tools refuse some devices and drivers: what they cannot do for the smallest program, they
# cannot do at all.
sanitize() { # TOOL NAME COMMAND...
    tool=$1
    name=$2
    shift 2
    if ! reason=$("$sanitizer" --tool "$tool" "$programs/gpu_test_ntt" 0 2>&1); then
        echo "skipped  $name under $tool: $(echo "$reason" | tail -n 1)"
        return
    fi
    run "$name under $tool" "$sanitizer" --tool "$tool" --error-exitcode 1 "$@"
}

run "fields" "$programs/gpu_test_field"
[ $? -ne 77 ] || exit 77
run "transforms" "$programs/gpu_test_ntt"
for test in "$programs"/gpu_test_*; do
    case ${test##*/} in
    gpu_test_field | gpu_test_ntt) ;;
    gpu_test_prove) run "proofs" "$test" "$here/../data" ;;
    *) run "${test##*/gpu_test_}" "$test" ;;
    esac
done
if ! command -v "$sanitizer" >/dev/null; then
    echo "skipped  memcheck and racecheck: $sanitizer is not installed"
else
    for tool in memcheck racecheck; do
        sanitize $tool "transforms" "$programs/gpu_test_ntt" 12
        sanitize $tool "sums" "$programs/gpu_test_msm" 1 14 9
    done
fi
exit $failed
