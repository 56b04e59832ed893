#!/bin/sh
# Writes what tests/js/vectors.js prints. Arguments: the curve's name, the file. Exit 77: skipped.
set -eu
cd "$(dirname "$0")/../js"
rm -f "$2"
if ! command -v node > /dev/null; then
    echo "skipped: node is not installed"
    exit 77
fi
if [ ! -d node_modules/@noble/curves ]; then
    echo "skipped: the libraries are not installed; npm ci in tests/js installs them"
    exit 77
fi
seed=20250706
echo "seed $seed"
node vectors.js "$1" "$seed" > "$2.tmp"
mv "$2.tmp" "$2"
