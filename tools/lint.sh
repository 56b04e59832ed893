#!/bin/bash
# Static checks of all sources: format, clang-tidy, cppcheck, words that must not appear. A finding
# is an error. Arguments: files to check instead of all.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${JOBS:-$(nproc)}
status=0

heading() { printf -- '-- %s\n' "$1"; }
failed() {
    printf 'lint: %s\n' "$1" >&2
    status=1
}

if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find common conf gpud shm synth tests tools \( -name 'build*' -o -name node_modules \) -prune -o \
        -name '*.[ch]' -print -o -name '*.inc' -print | sort)
fi
written=()
sources=()
for f in "${files[@]}"; do
    # the constants are generated, in a layout of their own
    if [ "$f" != common/ff/params.h ]; then written+=("$f"); fi
    # what includes CUDA's headers is read by nvcc and gcc alone: not every machine has them
    if [[ $f == *.c && $f != tests/gpu/* && $f != */bench_device*.c && $f != gpud/backend_cuda*.c ]]; then sources+=("$f"); fi
done

# Curve-dependent sources are checked once, as the BN254 instance.
defines=(-D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 '-DPINION_VERSION="lint"'
    '-DPINION_TEST_DATA="tests/data"' '-DCOORD_ACTOR="coord_actor"'
    -DPINION_CURVE=bn254 -DPINION_PARAMS=BN254 -DPINION_ISA=portable)

heading "clang-format"
mapfile -t device < <(find gpud tests/gpu tests/unit \( -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \) -print | sort)
clang-format --dry-run -Werror "${written[@]}" "${device[@]}" || failed "clang-format: run clang-format -i on these"

heading "banned words"
# volatile is no synchronisation; the functions have no bounds or run a shell; an atomic operation
# that does not name its order hides what it is for
banned='\b(volatile|sprintf|vsprintf|strcpy|strcat|gets|system|popen)\b'
implicit='\batomic_(load|store|exchange|fetch_[a-z]+|compare_exchange_(weak|strong)|flag_test_and_set|flag_clear|init)\('
# sig_atomic_t and inline assembly are where the language itself asks for volatile
if grep -nE "$banned" "${written[@]}" | grep -vE 'volatile sig_atomic_t|(__asm__|asm) volatile|:[0-9]+: *(/\*|\*|//)' |
    grep -v 'lint: allowed'; then
    failed "banned words above"
fi
if grep -nE "$implicit" "${written[@]}"; then
    failed "atomic operations above do not name their memory order"
fi

heading "cppcheck"
# missingIncludeSystem: it is not given the system's headers. The attribute hides nothing from it
# but is a syntax error to it after a function pointer. shiftTooManyBitsSigned: gcc and clang define
# the right shift of a negative number as arithmetic.
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 -j "$jobs" -I . "${defines[@]}" '-D__attribute__(x)=' \
    --suppress=missingIncludeSystem --suppress=shiftTooManyBitsSigned "${sources[@]}" || failed "cppcheck"

heading "clang-tidy"
# The analyzer's paths through unrolled arithmetic have no end; this many nodes a function suffice
# for code that decides anything.
tidy() {
    local out
    out=$(clang-tidy --quiet "$1" -- -std=gnu17 -I . "${@:2}" \
        -Xclang -analyzer-config -Xclang max-nodes=20000 2>/dev/null) || {
        printf '%s\n' "$out"
        return 1
    }
}
export -f tidy
read -ra packages <<<"$(pkg-config --cflags jansson cmocka sqlite3 libconfig)"
printf '%s\0' "${sources[@]}" |
    xargs -0 -P "$jobs" -I {} bash -c 'tidy "$@"' tidy {} "${defines[@]}" "${packages[@]}" ||
    failed "clang-tidy"

if [ $status -eq 0 ]; then heading "no findings in ${#written[@]} files"; fi
exit $status
