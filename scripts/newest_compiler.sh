#!/usr/bin/env bash
# Prints the newest installed compiler of a family, so that CI builds with what users of newer systems have.
#   scripts/newest_compiler.sh g++|clang++     for instance clang++-19; the plain name where no numbered one is newer
set -euo pipefail
family=${1:?g++ or clang++}
best=$family
most=$("$family" -dumpversion | cut -d. -f1)
for path in "/usr/bin/$family"-[0-9]*; do
  version=${path##*-}
  if [[ $version =~ ^[0-9]+$ && -x $path ]] && ((version > most)); then
    best=${path##*/}
    most=$version
  fi
done
echo "$best"
