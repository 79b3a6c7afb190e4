#!/usr/bin/env bash
# Installs a build into a scratch folder, and builds and runs programs against it that include <kevo/...> only:
# test.sh BUILD_DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/moved/prefix
fail() { echo "installed copy: $*" >&2; exit 1; }

# Installed in one place and used in another: nothing may remember where it was.
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
mkdir "$scratch/moved"
mv "$scratch/prefix" "$prefix"
outside=$(find "$prefix" \( -name '*.hpp' -o -name '*.h' \) -not -path "$prefix/include/kevo/*" -not -path "$prefix/share/*")
[[ -z $outside ]] || fail "headers outside of include/kevo: $outside"
mapfile -t exported < <(find "$prefix" -name 'kevo-*.cmake')
[[ ${#exported[@]} -ge 3 ]] || fail "the CMake package is not there"
if absolute=$(grep -nE '"/[^"]|[;:>]/(usr|opt|home|work|tmp|root)/' "${exported[@]}"); then
  fail "absolute paths in the exported targets: $absolute"
fi

if named=$(grep -hE 'SQLite3?::' $(find "$prefix" -name 'kevo-targets*.cmake')); then
  fail "the exported targets name SQLite as the CMake that made them does, which an older or a newer one does not know: $named"
fi

configure() { cmake -S "$here" -B "$scratch/$1" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug "${@:2}" >/dev/null; }
configure core -DCORE_ONLY=ON
cmake --build "$scratch/core" >/dev/null
"$scratch/core/core_consumer" >/dev/null
"$scratch/core/learn_consumer" >/dev/null
configure whole
cmake --build "$scratch/whole" >/dev/null
program=$scratch/whole
"$prefix/bin/kevo" version
for file in copyright README.md docs/cli.md; do [[ -s $prefix/share/doc/kevo/$file ]] || fail "share/doc/kevo/$file is not there"; done

# A session that is killed twice in its middle ends as one that never was.
"$program/session_consumer" "$scratch/calm" >"$scratch/calm.txt"
events() { "$program/journal_consumer" "$1" 2>/dev/null | sed -n 's/^\([0-9]*\) candidates.*/\1/p'; }
for killed_at in 60 160; do
  "$program/session_consumer" "$scratch/killed" >/dev/null &
  victim=$!
  for _ in $(seq 600); do
    reached=$(events "$scratch/killed" || true)
    [[ ${reached:-0} -lt $killed_at ]] || break
    sleep 0.02
  done
  kill -KILL "$victim"
  wait "$victim" 2>/dev/null || true
  "$program/journal_consumer" "$scratch/killed" unfinished >/dev/null || fail "the session had ended before it was killed"
done
"$program/session_consumer" "$scratch/killed" >"$scratch/killed.txt"
diff "$scratch/calm.txt" "$scratch/killed.txt" || fail "a session that was killed and resumed ends otherwise"
"$program/journal_consumer" "$scratch/killed" | tail -3

"$program/matmul_consumer" "$prefix/share/kevo/configs/tasks/matmul/task.yaml" "$scratch/matmul"
if said=$(KEVO_WORKER_CPU=/nonexistent "$program/matmul_consumer" "$prefix/share/kevo/configs/tasks/matmul/task.yaml" "$scratch/none" 2>&1); then
  fail "a helper program that is not there was not missed"
fi
[[ $said == *"KEVO_WORKER_CPU names '/nonexistent'"* ]] || fail "a helper program that is not there is not named: $said"
echo "installed copy: consumers found, linked and ran it"
