#!/usr/bin/env bash
# How fast the channel goes through a recorded session, and how much memory that takes.
#
#   Tests/Benchmarks/sdk.sh [--rounds N] [--strict]
#
# --strict  ends with status 1 when a target is missed
set -euo pipefail
export LC_ALL=C

rounds=5
strict=
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=${2:?--rounds takes a number} && shift 2 ;;
    --strict) strict=1 && shift ;;
    *) echo "usage: sdk.sh [--rounds N] [--strict]" >&2 && exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly folder=.build/bench build=.build/bench-programs/swift
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

echo "Building replay for release" >&2
swift build -c release --product replay --package-path Tests/Benchmarks/programs --scratch-path "$build" >&2

# session FILE OPTION…: makes it once, and again when its maker has changed.
session() {
  local file=$1 maker=Tests/Benchmarks/make-session.py
  [ -s "$file" ] && [ "$file" -nt "$maker" ] && return
  echo "Making $file" >&2
  mkdir -p "$folder"
  python3 "$maker" "${@:2}" "$file.part"
  mv "$file.part" "$file"
}

session "$folder/session-100k.pcap" --messages 100000
session "$folder/session-1M.pcap" --messages 1000000
session "$folder/session-24h.pcap" --hours 24
cat "$folder"/session-*.pcap >/dev/null # into the page cache

# measure NAME: one run; appends its seconds of reading and replay, its messages, its wall-clock seconds and its memory.
measure() {
  /usr/bin/time -o "$results/time" -f '%e %M' "$build/release/replay" "$folder/session-$1.pcap" >"$results/output"
  paste -d' ' "$results/output" "$results/time" >>"$results/$1"
}

# median NAME COLUMN
median() {
  sort -g -k"$2,$2" "$results/$1" | awk -v c="$2" '{ v[NR] = $c }
    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

for ((round = 1; round <= rounds; round++)); do
  echo "Round $round of $rounds" >&2
  for name in 100k 1M 24h; do measure "$name"; done
done

printf '%-12s %10s %10s %10s %10s %10s\n' session messages 'reading s' 'replay s' 'in all s' 'MiB max'
for name in 100k 1M 24h; do
  awk -v n="$name" -v r="$(median "$name" 1)" -v s="$(median "$name" 2)" -v c="$(median "$name" 3)" \
    -v w="$(median "$name" 4)" -v m="$(median "$name" 5)" \
    'BEGIN { printf "%-12s %10d %10.3f %10.3f %10.2f %10.1f\n", n, c, r, s, w, m / 1024 }'
done
echo

missed=0
# target WHAT VALUE COMPARISON WANTED UNIT
target() {
  local verdict=met
  awk -v v="$2" -v w="$4" "BEGIN { exit !(v $3 w) }" || { verdict=MISSED && missed=$((missed + 1)); }
  printf '%-48s %12.2f %-11s %2s %8s   %s\n' "$1" "$2" "$5" "$3" "$4" "$verdict"
}
divide() { awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'; }

target "the channel on a capture, in virtual time" "$(divide "$(median 1M 3)" "$(median 1M 2)")" '>=' 500000 messages/s
target "24 hours with heartbeats, the whole process" "$(median 24h 4)" '<=' 0.2 s
target "memory of 1M messages to that of 100k" "$(divide "$(median 1M 5)" "$(median 100k 5)")" '<=' 1.2 x

[ -z "$strict" ] || [ "$missed" -eq 0 ]
