#!/usr/bin/env bash
# Builds and installs a project that has kevo as a subdirectory.
#   test.sh              with the header-only core alone; with the compiled library it is only configured
#   test.sh --program    builds the compiled library and a session with it, too; takes minutes
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake -S "$here" -B "$scratch/build" -G Ninja -DKEVO_SOURCE="$here/../.." >"$scratch/log" || { cat "$scratch/log"; exit 1; }
cmake --build "$scratch/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
"$scratch/build/part"
"$scratch/build/learner"
cmake --install "$scratch/build" --prefix "$scratch/prefix" >/dev/null
installed=$(cd "$scratch/prefix" && find . -type f)
if [[ $installed != ./bin/part ]]; then
  echo "kevo installs itself with a project that only uses it: $installed" >&2
  exit 1
fi

cmake -S "$here" -B "$scratch/whole" -G Ninja -DKEVO_SOURCE="$here/../.." -DKEVO_PROGRAM=ON -DKEVO_JOINED=ON >"$scratch/log" || { cat "$scratch/log"; exit 1; }
if [[ ${1:-} == --program ]]; then
  cmake --build "$scratch/whole" --target session kevo
  "$scratch/whole/session" "$scratch/run" >/dev/null
  "$scratch/whole/kevo/kevo" show "$scratch/run"
fi
