#!/usr/bin/env bash
# Fails if an include runs up a layer, or up the order of the folders in a layer, as scripts/layers.txt gives it. Each
# such include is printed with its file, its line and the two folders.
#   scripts/check_layers.sh [TREE]    checks TREE, by default the repository of this script
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/..}"
table=scripts/layers.txt
folders=()
for folder in include src fitness operators python/src; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done

# One line an include: "file:line:#include ...". grep finds nothing in a tree without includes, which is no error.
includes() {
  grep -rnE --include='*.hpp' --include='*.cpp' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](kevo|src|fitness|operators|python)/' \
    "${folders[@]}" || [[ $? == 1 ]]
}
files() { find "${folders[@]}" -name '*.hpp' -o -name '*.cpp' | LC_ALL=C sort | sed 's/$/:0:/'; }

{ files && includes | LC_ALL=C sort -t: -k1,1 -k2,2n; } | awk -v table="$table" '
  # The entry of the table that is the longest prefix of a path; empty if there is none.
  function entry_of(path,    part) {
    for (part = path; part != ""; ) {
      if (part in level) return part
      if (!sub(/\/[^\/]*$/, "", part)) return ""
    }
    return ""
  }
  function allowed(from, to) {
    if (from == to) return 1
    if (layer[from] != layer[to]) return (layer[from], layer[to]) in below
    return level[to] < level[from]
  }
  BEGIN {
    while ((getline line < table) > 0) {
      ++number
      sub(/#.*/, "", line)
      count = split(line, words, /[ \t]+/)
      if (line ~ /^\[/) {
        name = words[1]
        gsub(/[][]/, "", name)
        for (i = 2; i <= count; ++i) if (words[i] != "") below[name, words[i]] = 1
        continue
      }
      for (i = 1; i <= count; ++i) {
        if (words[i] == "") continue
        if (name == "" || words[i] in level) {
          printf "%s:%d: \"%s\" %s\n", table, number, words[i], name == "" ? "has no [layer] above it" : "is listed twice"
          failed = 1
        }
        level[words[i]] = number
        layer[words[i]] = name
      }
    }
    if (number == 0) {
      printf "%s: cannot be read or is empty\n", table
      failed = 1
    }
  }
  {
    split($0, parts, ":")
    file = parts[1]
    from = entry_of(file)
    if (parts[2] == 0) {
      if (from == "") {
        printf "%s: its folder is not in %s: add it to the line of its layer\n", file, table
        failed = 1
      }
      next
    }
    target = $0
    sub(/^[^:]*:[^:]*:[^<"]*[<"]/, "", target)
    sub(/[>"].*/, "", target)
    to = entry_of(target ~ /^kevo\// ? "include/" target : target)
    if (from == "" || to == "" || allowed(from, to)) {
      if (from != "" && to == "") {
        printf "%s:%s: includes \"%s\", whose folder is not in %s\n", file, parts[2], target, table
        failed = 1
      }
      next
    }
    printf "%s:%s: includes \"%s\": %s (layer %s) may not include %s (layer %s)\n", file, parts[2], target, from, \
      layer[from], to, layer[to]
    failed = 1
  }
  END { exit failed }'
