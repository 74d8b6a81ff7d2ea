#!/usr/bin/env bash
# Measures reprise conform trace on captures of large brokers: many clients, many retained topics, wide fan-out.
#
# Time has to grow with what is delivered, and memory to stay within --memory. REPRISE names another command to measure;
# then nothing is built.
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
build_reprise
readonly measured=$results/time

printf '%-52s %8s %8s %12s\n' '' seconds 'MiB max' 'ns each'
# measure COUNT WHAT WORD…: COUNT of what the words of make-fleet.py make
measure() {
  local count=$1 what=$2 file
  shift 2
  file="$folder/fleet-$(tr ' ' - <<<"$*").pcap"
  make_once "$file" make-fleet.py "$@"
  cat "$file" >/dev/null
  # A client of one connection fails nothing; what is given up beyond the memory is a note.
  /usr/bin/time -o "$measured" -f '%e %M' "$reprise" conform trace --quiet "$file" >/dev/null
  awk -v what="$what" -v n="$count" '{ printf "%-52s %8.2f %8.1f %12.0f\n", what, $1, $2 / 1024, $1 * 1e9 / n }' "$measured"
}

measure 10000 '10,000 clients with ten subscriptions each' clients 10000
measure 100000 '100,000 clients with ten subscriptions each' clients 100000
measure 1000000 '1,000,000 retained topics' retained 1000000
measure 300000 '300 subscribers of one topic, 1,000 messages' fan-out 300 1000
measure 1000000 '1,000 subscribers of one topic, 1,000 messages' fan-out 1000 1000
measure 3000000 '3,000 subscribers of one topic, 1,000 messages' fan-out 3000 1000
