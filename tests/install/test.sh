#!/usr/bin/env bash
# Installs a build into a scratch folder and builds and runs a consumer project against it: test.sh BUILD_DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
cmake -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/core_consumer" >/dev/null
"$scratch/build/program_consumer" "$scratch/prefix/share/kevo/configs/tasks/matmul/task.yaml" >/dev/null
"$scratch/prefix/bin/kevo" version
echo "installed copy: a consumer found, linked and ran it"
