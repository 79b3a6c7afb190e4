#!/bin/sh
# How long the verbs take on a long run: bench/long_run.sh [TURNS] [FOLDER]
#
# Makes a run of TURNS turns (default 115000; a turn is four events, so 250000 turns are a million) in FOLDER
# (default runs/long_run; it must not exist) with an operator and a fitness function that answer at once, and
# prints wall time, processor time and memory of each verb on it. Build the operator and the fitness function first:
# cmake --build --preset release --target kevo_long_run. Needs /usr/bin/time; KEVO names another kevo.
set -eu
cd "$(dirname "$0")/.."
turns=${1:-115000}
folder=${2:-runs/long_run}
kevo=${KEVO:-build/release/kevo}

measure() {
  printf '%-28s' "$1"
  shift
  /usr/bin/time -f '%e s wall, %U s user, %M KB' "$kevo" "$@" >/dev/null
}

measure "run of $turns turns" run bench/long_run/config.yaml --plain --set run.output="$folder" \
  --set "stop={proposals: $turns}"
ls -l "$folder/journal.sqlite" | awk '{printf "journal: %.0f MB\n", $5 / 1e6}'
measure "resume for 10 more turns" resume "$folder" --plain --set "stop={proposals: $((turns + 10))}"
measure "show" show "$folder"
measure "show a candidate" show "$folder" "$((turns / 2))"
measure "report" report "$folder"
measure "run --replay" run --replay "$folder"
measure "export csv" export "$folder" --format csv --output "$folder.csv"
measure "export jsonl" export "$folder" --format jsonl --output "$folder.jsonl"
rm -f "$folder.csv" "$folder.jsonl"
