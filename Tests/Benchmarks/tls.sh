#!/usr/bin/env bash
# Measures reprise beside tshark on captures of TLS 1.3 with the same key log, in turns, and prints the medians.
#
#   Tests/Benchmarks/tls.sh [--rounds N] [--size MIB]
#
# --rounds  how often everything runs (default 3)
# --size    what is published in each capture (default 200)
#
# REPRISE names another command to measure; then nothing is built.
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"

rounds=3 size=200
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=${2:?--rounds takes a number} && shift 2 ;;
    --size) size=${2:?--size takes a number} && shift 2 ;;
    *) echo "usage: tls.sh [--rounds N] [--size MIB]" >&2 && exit 2 ;;
  esac
done

build_reprise

# seconds COMMAND...: how long it takes; a failure ends the measurement.
seconds() {
  local begin=$EPOCHREALTIME
  "$@" >/dev/null 2>"$results/errors" || { echo "tls.sh: failed: $*" >&2 && cat "$results/errors" >&2 && exit 2; }
  awk -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { print e - b }'
}

mkdir -p "$folder"
for payload in 16000 100; do
  capture=$folder/tls-$payload-$size.pcap
  [ -s "$capture" ] || python3 Tests/Benchmarks/make-tls.py --size "$size" --payload "$payload" "$capture"
  cat "$capture" >/dev/null
  for ((round = 1; round <= rounds; round++)); do
    seconds "$reprise" inspect --jobs 1 --format jsonl --keylog "$capture.keys" "$capture" >>"$results/reprise-$payload"
    seconds tshark -n -r "$capture" -o "tls.keylog_file:$capture.keys" -d tls.port==8883,mqtt -Y mqtt \
      -T fields -e frame.number -e mqtt.msgtype >>"$results/tshark-$payload"
  done
  awk -v payload="$payload" -v bytes="$(stat -c %s "$capture")" -v ours="$(median "reprise-$payload" 1)" \
    -v theirs="$(median "tshark-$payload" 1)" 'BEGIN {
      printf "messages of %5d bytes: inspect, one thread %7.1f MB/s   %5.1f x tshark\n", payload, bytes / ours / 1e6,
        theirs / ours }'
done
