#!/usr/bin/env bash
# From a fresh clone to an evolved kernel: installs what is missing, builds, and runs the quickstart config.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
exec build/release/kevo run configs/quickstart.yaml "$@"
