#!/bin/bash
# Checks the model exhaustively with spin, then that spin finds the mistake of each broken variant.
#
#     tests/model/run.sh [--long]
#
# The budgets are numbers of kills, of lost, repeated or late messages, and of overstayed leases. --long
# takes larger ones: minutes, and up to 16 GB of memory. Exit 77, with the reason, without spin.
set -euo pipefail
model=$(cd "$(dirname "$0")" && pwd)/pipeline.pml
if ! command -v spin >/dev/null; then
    echo "skipped: spin is missing (Debian package spin)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# check KILLS NOISE LEASES [VARIANT]: prints the states, and returns 1 if something was found.
check() {
    spin "-DKILLS=$1" "-DNOISE=$2" "-DLEASES=$3" ${4:+"-D$4"} -a "$model"
    gcc -O2 -DSAFETY -DNOFAIR -DCOLLAPSE -DVECTORSZ=2048 "-DMEMLIM=16384" -o pan pan.c
    ./pan -E -n -m1000000 >out || return 2
    if grep -qE 'max search depth too small|out of memory|aborting' out; then return 2; fi
    grep -q 'errors: 0' out
}

budgets=("1 0 0" "0 1 0" "0 0 1")
if [ "${1:-}" = --long ]; then budgets=("2 0 0" "1 1 0" "0 2 0" "1 0 1" "0 1 1"); fi
for budget in "${budgets[@]}"; do
    read -ra b <<<"$budget"
    check "${b[@]}" || {
        cat out
        echo "kills ${b[0]}, messages ${b[1]}, leases ${b[2]}: an error, or the search did not end" >&2
        exit 1
    }
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored$/\1/p' out)
    echo "kills ${b[0]}, messages ${b[1]}, leases ${b[2]}: no error in $states states"
done

for variant in "NO_IDENTITY 1 0 0" "RECLAIM_ON_DISCONNECT 0 1 0" "DOUBLE_GRANT 1 0 0" \
    "ACK_BEFORE_STORE 1 0 0" "DROP_SUBMITTED 1 0 0" "LATE_TAKE 0 1 0"; do
    read -ra v <<<"$variant"
    result=0
    check "${v[@]:1}" "${v[0]}" || result=$?
    if [ $result -ne 1 ]; then
        echo "${v[0]}: the mistake was not found" >&2
        exit 1
    fi
    echo "${v[0]}: caught ($(sed -n 's/^pan:1: \(.*violated\) .*/\1/p' out))"
done
