#!/usr/bin/env bash
# Formats all C++ of the repository, or with --check says what is not formatted. Attack and candidate sources are data.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.hpp' '*.cpp' | grep -v -E '^configs/|^tests/attacks/.*/|^tests/fuzz/corpus/')
if [[ "${1:-}" == --check ]]; then
  clang-format --dry-run --Werror "${files[@]}"
else
  clang-format -i "${files[@]}"
fi
