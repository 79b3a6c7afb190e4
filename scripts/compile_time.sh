#!/usr/bin/env bash
# Prints the processor time that a compiler needs for `#include <kevo/kevo.hpp>`, and for Boost.Graph's adjacency_list
# with <string>, <vector> and <functional>, and the ratio of the two; the least of several runs each. Both are measured
# at the same time, so that what else the machine does slows both.
#   scripts/compile_time.sh [MOST]     fails if the ratio is above MOST
#   CXX=clang++ RUNS=9                 the compiler (default g++) and the number of runs (default 5)
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
echo '#include <kevo/kevo.hpp>' >"$folder/kevo.cpp"
printf '#include <%s>\n' boost/graph/adjacency_list.hpp functional string vector >"$folder/graph.cpp"
TIMEFORMAT=%U
seconds() {  # FILE
  for ((i = 0; i < ${RUNS:-5}; ++i)); do
    { time "${CXX:-g++}" -std=c++20 -I include -fsyntax-only "$1"; } 2>&1
  done | sort -n | head -n 1
}
seconds "$folder/graph.cpp" >"$folder/graph" &
kevo=$(seconds "$folder/kevo.cpp")
wait $!
graph=$(<"$folder/graph")
awk -v kevo="$kevo" -v graph="$graph" -v most="${1:-0}" 'BEGIN {
  printf "kevo.hpp %.2f s, adjacency_list.hpp %.2f s, ratio %.2f\n", kevo, graph, kevo / graph
  exit most > 0 && kevo / graph > most
}'
