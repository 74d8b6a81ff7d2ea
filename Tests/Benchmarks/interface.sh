#!/usr/bin/env bash
# Measures reprise record interface beside tcpdump -w on loopback, in turns: packets kept, and processor time for each.
#
#   Tests/Benchmarks/interface.sh [--rounds N] [--strict]
#
# --rounds  how often everything runs (default 5)
# --strict  ends with status 1 when a target is missed
#
# It takes root. REPRISE names another command to measure; then nothing is built.
set -euo pipefail
export LC_ALL=C

rounds=5
strict=
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=${2:?--rounds takes a number} && shift 2 ;;
    --strict) strict=--strict && shift ;;
    *) echo "usage: interface.sh [--rounds N] [--strict]" >&2 && exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for command in tcpdump capinfos python3; do
  command -v "$command" >/dev/null || {
    echo "interface.sh: $command is missing; 'make setup' installs it" >&2
    exit 2
  }
done

if [ -n "${REPRISE:-}" ]; then
  reprise=$REPRISE
else
  echo "Building reprise for release" >&2
  make --no-print-directory build >&2
  reprise=.build/release/reprise
fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
python3 Tests/Benchmarks/interface.py --reprise "$reprise" --folder "$results" --rounds "$rounds" $strict
