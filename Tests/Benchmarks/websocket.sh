#!/usr/bin/env bash
# Measures reprise beside tshark on a capture of WebSocket, in turns, and the masking of payloads beside memcpy.
#
#   Tests/Benchmarks/websocket.sh [--rounds N] [--strict]
#
# --rounds  how often everything runs (default 5)
# --strict  ends with status 1 when a target is missed
#
# REPRISE names another command to measure; then nothing is built but the program that masks.
set -euo pipefail
export LC_ALL=C

rounds=5
strict=
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=${2:?--rounds takes a number} && shift 2 ;;
    --strict) strict=1 && shift ;;
    *) echo "usage: websocket.sh [--rounds N] [--strict]" >&2 && exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly folder=.build/bench build=.build/bench-programs/swift
readonly capture=$folder/websocket-100M.pcap maker=Tests/Benchmarks/make-websocket.py
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

for command in tshark python3 /usr/bin/time; do
  command -v "$command" >/dev/null || {
    echo "websocket.sh: $command is missing; 'make setup' installs it" >&2
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
echo "Building mask for release" >&2
swift build -c release --product mask --package-path Tests/Benchmarks/programs --scratch-path "$build" >&2

if ! [ -s "$capture.json" ] || ! [ "$capture.json" -nt "$maker" ]; then
  echo "Making $capture" >&2
  mkdir -p "$folder"
  python3 "$maker" --size 100M "$capture.part" >"$results/made.json"
  mv "$capture.part" "$capture"
  mv "$results/made.json" "$capture.json"
fi
cat "$capture" >/dev/null # into the page cache

count() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$capture.json"; }

readonly -a tshark_fields=(-e frame.number -e frame.time_epoch -e tcp.stream -e websocket.opcode
  -e websocket.fin -e websocket.mask -e websocket.payload_length)

# measure NAME: one run; appends seconds, user seconds and peak memory in KiB to the results of NAME.
measure() {
  local begin end
  local -a command
  case $1 in
    inspect) command=("$reprise" inspect --format jsonl "$capture") ;;
    conform) command=("$reprise" conform trace "$capture") ;;
    tshark) command=(tshark -n -r "$capture" -Y websocket -T fields "${tshark_fields[@]}") ;;
  esac
  begin=$EPOCHREALTIME
  /usr/bin/time -o "$results/time" -f '%U %M' "${command[@]}" >/dev/null
  end=$EPOCHREALTIME
  awk -v b="$begin" -v e="$end" '{ print e - b, $(NF-1), $NF }' <(tail -n 1 "$results/time") >>"$results/$1"
}

# median NAME COLUMN
median() {
  sort -g -k"$2,$2" "$results/$1" | awk -v c="$2" '{ v[NR] = $c }
    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

row() {
  awk -v name="$2" -v s="$(median "$1" 1)" -v u="$(median "$1" 2)" -v m="$(median "$1" 3)" \
    -v frames="$(count frames)" 'BEGIN {
      printf "%-28s %8.2f %8.2f %9.1f %12d\n", name, s, u, m / 1024, frames / s }'
}

missed=0
# target WHAT VALUE COMPARISON WANTED UNIT
target() {
  local verdict=met
  awk -v v="$2" -v w="$4" "BEGIN { exit !(v $3 w) }" || { verdict=MISSED && missed=$((missed + 1)); }
  printf '%-44s %9.2f %-4s %2s %6s   %s\n' "$1" "$2" "$5" "$3" "$4" "$verdict"
}

quotient() { awk -v a="$(median "$1" 1)" -v b="$(median "$2" 1)" 'BEGIN { print a / b }'; }

for ((round = 1; round <= rounds; round++)); do
  echo "Round $round of $rounds" >&2
  for name in inspect tshark conform; do measure "$name"; done
done

cat <<END
$(uname -srm), $(nproc) cores; $(tshark --version 2>/dev/null | head -n 1 | cut -d' ' -f1-3); medians of $rounds rounds in turns
$(count segments) segments, $(count frames) WebSocket frames, $(count connections) connections

                              seconds     user   MiB max     frames/s
END
row inspect "reprise inspect"
row conform "reprise conform trace"
row tshark "tshark -T fields"
echo
for size in 125 4096 65536 1048576; do
  "$build/release/mask" "$size" |
    awk -v s="$size" '{ printf "masking %8d bytes %8.2f GB/s   memcpy %8.2f GB/s\n", s, $1, $2 }'
done
echo
target "inspect, times as fast as tshark" "$(quotient tshark inspect)" '>=' 20 x
target "conform trace, times as fast as tshark" "$(quotient tshark conform)" '>=' 20 x

[ -z "$strict" ] || [ "$missed" -eq 0 ]
