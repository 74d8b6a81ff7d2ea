#!/usr/bin/env bash
# Measures reprise record proxy beside socat, which records nothing, in turns: throughput and the time of a round trip.
#
#   Tests/Benchmarks/proxy.sh [--rounds N] [--strict]
#
# --rounds  how often everything runs (default 5)
# --strict  ends with status 1 when a target is missed
#
# REPRISE names another command to measure; then nothing is built.
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
read_options "$@"
need socat python3
build_reprise
python3 Tests/Benchmarks/proxy.py --reprise "$reprise" --folder "$results" --rounds "$rounds" $strict
