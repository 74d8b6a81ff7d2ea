#!/usr/bin/env bash
# How fast the SDK is: the channel on a recorded session, a gateway with many lines, the heartbeats of a link; and how
# much memory that takes.
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

echo "Building for release" >&2
for product in replay lines heartbeats; do
  swift build -c release --product "$product" --package-path Tests/Benchmarks/programs --scratch-path "$build" >&2
done
# The machine of a link is the package's own.
swift build -c release --product link-beats >&2

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

# measure NAME PROGRAM ARGUMENT: one run; appends what it prints, its wall-clock seconds and its memory.
measure() {
  local program=$build/release/$2
  [ -x "$program" ] || program=.build/release/$2
  /usr/bin/time -o "$results/time" -f '%e %M' "$program" "$3" >"$results/output"
  paste -d' ' "$results/output" "$results/time" >>"$results/$1"
}

# median NAME COLUMN
median() {
  sort -g -k"$2,$2" "$results/$1" | awk -v c="$2" '{ v[NR] = $c }
    END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

for ((round = 1; round <= rounds; round++)); do
  echo "Round $round of $rounds" >&2
  # Seconds of reading and of the replay, messages.
  for name in 100k 1M 24h; do measure "$name" replay "$folder/session-$name.pcap"; done
  # Seconds of setting up, adding topology, logging in and posting.
  for count in 1 10000; do measure "lines-$count" lines "$count"; done
  # Seconds, and seconds of virtual time.
  measure heartbeats heartbeats 1000000
  # Seconds.
  measure beats link-beats 1000000
done

printf '%-12s %10s %10s %10s %10s %10s\n' session messages 'reading s' 'replay s' 'in all s' 'MiB max'
for name in 100k 1M 24h; do
  awk -v n="$name" -v r="$(median "$name" 1)" -v s="$(median "$name" 2)" -v c="$(median "$name" 3)" \
    -v w="$(median "$name" 4)" -v m="$(median "$name" 5)" \
    'BEGIN { printf "%-12s %10d %10.3f %10.3f %10.2f %10.1f\n", n, c, r, s, w, m / 1024 }'
done
echo

line_memory=$(awk -v a="$(median lines-10000 6)" -v b="$(median lines-1 6)" 'BEGIN { print (a - b) / 10000 }')
printf '%-12s %10s %10s %10s %10s %10s\n' lines 'set-up s' 'topology s' 'login s' 'posts s' 'KiB a line'
awk -v s="$(median lines-10000 1)" -v t="$(median lines-10000 2)" -v l="$(median lines-10000 3)" \
  -v p="$(median lines-10000 4)" -v m="$line_memory" \
  'BEGIN { printf "%-12d %10.3f %10.3f %10.3f %10.3f %10.1f\n\n", 10000, s, t, l, p, m }'

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
target "heartbeats of a link's machine, in virtual time" "$(divide 1000000 "$(median beats 1)")" '>=' 1000000 heartbeats/s
target "the same with the driver and a client" "$(divide 1000000 "$(median heartbeats 1)")" '>=' 200000 heartbeats/s
target "10,000 lines online, one post each, in process" "$(median lines-10000 5)" '<=' 5 s
target "memory of one line" "$line_memory" '<=' 20 KiB

[ -z "$strict" ] || [ "$missed" -eq 0 ]
