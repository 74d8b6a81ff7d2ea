#!/usr/bin/env bash
# Measures reprise record interface beside tcpdump -w on loopback, in turns: packets kept, and processor time for each.
#
#   Tests/Benchmarks/interface.sh [--rounds N] [--strict]
#
# --rounds  how often everything runs (default 5)
# --strict  ends with status 1 when a target is missed
#
# It takes root. REPRISE names another command to measure; then nothing is built.
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
read_options "$@"
need tcpdump capinfos python3
build_reprise
python3 Tests/Benchmarks/interface.py --reprise "$reprise" --folder "$results" --rounds "$rounds" $strict
