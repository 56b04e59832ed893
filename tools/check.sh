#!/bin/bash
# Everything: installs what is needed, lints, builds with warnings as errors, runs all tests, the
# tests again under sanitizers, and the fuzz targets for a moment. For a developer before a commit
# and for continuous integration. Exit status 0 only if all of it passed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/packages.sh

jobs=$(nproc)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
summary=()
failed=0

# stage NAME FUNCTION ARGUMENT...: a failure is remembered and the rest goes on.
stage() {
    local start=$SECONDS word=passed
    printf '\n== %s\n' "$1"
    (
        set -e
        "${@:2}"
    )
    if [ $? -ne 0 ]; then
        word=FAILED
        failed=$((failed + 1))
    fi
    summary+=("$(printf '%-30s %s, %d s' "$1" $word $((SECONDS - start)))")
    [ $word = passed ]
}

packages() {
    packages_install "${build_packages[@]}" g++ libcmocka-dev git nng-utils spin \
        clang libclang-rt-dev clang-format clang-tidy cppcheck python3
    # any node will do that is new enough; where it came without npm, Debian's npm would replace it
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        packages_install nodejs npm ca-certificates
    fi
    need_cmake
}

oracles() {
    # snarkjs, circom and @noble/curves, at the versions of the lock file
    cd tests/js
    npm ci --no-fund --no-audit --ignore-scripts
}

build() { # PRESET
    # one architecture where nvcc is: twice the kernels would only take twice the time
    cmake --preset "$1" -DCMAKE_CUDA_ARCHITECTURES=90-real >"$logs/build" 2>&1 &&
        cmake --build --preset "$1" -j "$jobs" >>"$logs/build" 2>&1 || {
        tail -n 80 "$logs/build"
        return 1
    }
}

test_all() { # PRESET CTEST-ARGUMENT...
    ctest --preset "$1" -j "$jobs" "${@:2}" | tee "$logs/$1"
}

finish() {
    printf '\n== Summary\n'
    printf '%s\n' "${summary[@]}"
    printf 'total %d s\n' $SECONDS
    [ ! -f "$logs/release" ] || sed -n '/tests passed/,$p' "$logs/release"
    [ $failed -eq 0 ]
    exit
}

stage "packages" packages || finish
stage "npm packages of the tests" oracles
stage "static checks" tools/lint.sh
stage "build, release" build release || finish
stage "build, address sanitizer" build asan && stage "tests, address sanitizer" test_all asan -LE model
stage "build, clang and libFuzzer" build fuzz && stage "fuzz targets" test_all fuzz
stage "tests, release" test_all release
finish
