#!/usr/bin/env bash
# clang-tidy on the sources and headers that changed since a commit (default: the last one). A header is checked through
# the unit that compiles it alone, or else through a source that includes it.
#   scripts/tidy.sh [BASE] [BUILD_DIRECTORY]
# The units that compile a header alone include it twice by intention.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-HEAD~1}
build=${2:-build/asan}
git rev-parse -q --verify "$base" >/dev/null || base=$(git rev-list --max-parents=0 HEAD | tail -n 1)
mapfile -t changed < <(git diff --name-only --diff-filter=d "$base" -- \
  'src/*.[ch]pp' 'operators/*.[ch]pp' 'fitness/*.[ch]pp' 'include/*.hpp')

# A source that includes a header, itself or through one other header; prints nothing where there is none.
source_of() {
  local header=$1 beside=${1%.hpp}.cpp written=${1#include/} found
  if [[ $header == include/* ]]; then
    local alone=$build/header_alone/${written//[^A-Za-z0-9_]/_}.cpp
    if [[ -f $alone ]]; then echo "$alone" && return; fi
  elif [[ -f $beside ]]; then
    echo "$beside" && return
  fi
  found=$(git grep -lF -e "\"$written\"" -e "<$written>" -- 'src/*.cpp' 'operators/*.cpp' 'fitness/*.cpp' | head -n 1)
  if [[ -z $found ]]; then
    local between
    between=$(git grep -lF -e "\"$written\"" -e "<$written>" -- 'src/*.hpp' 'operators/*.hpp' 'fitness/*.hpp' | head -n 1)
    if [[ -n $between && -z ${2:-} ]]; then found=$(source_of "$between" once); fi
  fi
  echo "$found"
}

files=()
for file in "${changed[@]}"; do
  if [[ $file == *.cpp ]]; then
    files+=("$file")
  else
    through=$(source_of "$file")
    if [[ -n $through ]]; then files+=("$through"); else echo "tidy: no source includes $file"; fi
  fi
done
if [[ ${#files[@]} -eq 0 ]]; then
  echo "tidy: no source or header changed since $base"
  exit 0
fi
mapfile -t files < <(printf '%s\n' "${files[@]}" | sort -u)
echo "tidy: ${#files[@]} units for ${#changed[@]} files changed since $base"
# Neither GCC's precompiled headers nor those of another version of Clang can be read; their text is included instead.
database=$(mktemp -d)
trap 'rm -r "$database"' EXIT
sed 's/-Xclang -include-pch -Xclang [^ "]*//g' "$build/compile_commands.json" >"$database/compile_commands.json"
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 2 clang-tidy -p "$database" --quiet --checks=-readability-duplicate-include --extra-arg=-Wno-unknown-warning-option
