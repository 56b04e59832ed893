#!/bin/bash
# From a fresh Debian or Ubuntu machine to a first proof: installs packages, builds, makes
# development keys for the circuit in examples/cubic, proves it and verifies the proof.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh

out=build/quickstart
circuit=examples/cubic

heading() { printf '\n== %s\n' "$1"; }
run() {
    printf '$ %s\n' "$*"
    "$@"
}

heading "Packages"
packages_install "${build_packages[@]}"
need_cmake

heading "Build (a few minutes)"
cmake --preset release -DPINION_TESTS=OFF -DPINION_WERROR=OFF >/dev/null
cmake --build --preset release -j "$(nproc)" --target pinion pinion-coord pinion-gpud pinion-synth
mkdir -p "$out"
pinion=build/bin/pinion

heading "Development keys for $circuit (x^3 + x + 5 = y)"
run $pinion setup --insecure $circuit/cubic.r1cs $out/cubic.zkey
run $pinion vkey $out/cubic.zkey $out/verification_key.json

heading "A proof that we know an x for y = 35, without telling x"
run $pinion prove --quiet $out/cubic.zkey $circuit/witness.wtns $out/proof.json $out/public.json

heading "Verification"
run $pinion verify $out/verification_key.json $out/public.json $out/proof.json

cat <<END

The program    $PWD/$pinion
The key        $PWD/$out/cubic.zkey
The proof      $PWD/$out/proof.json, its public values in public.json
END
cat <<'END'

Next: prove your own circuit. Pinion takes the files of circom and snarkjs:
  pinion prove circuit.zkey witness.wtns proof.json public.json
and `pinion help` lists the rest. `tools/check.sh` runs all tests.
END
