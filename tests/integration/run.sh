#!/bin/sh
# run.sh NODE TEST: one integration test in node. Exit 77, with the reason, where it cannot run.
here=$(dirname "$0")
if ! "$1" --version >/dev/null 2>&1; then
    echo "skipped: node is missing (Debian package nodejs)"
    exit 77
fi
if [ ! -d "$here/../js/node_modules" ]; then
    echo "skipped: run \`npm ci\` in tests/js first"
    exit 77
fi
exec "$1" "$here/$2.test.mjs"
