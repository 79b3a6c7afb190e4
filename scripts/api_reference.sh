#!/usr/bin/env bash
# Writes the API reference (HTML) to build/api, by Doxygen. Fails on any warning.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v doxygen >/dev/null || { echo "doxygen is not installed: apt-get install doxygen" >&2; exit 1; }
mkdir -p build/api
doxygen docs/Doxyfile
echo "build/api/index.html"
