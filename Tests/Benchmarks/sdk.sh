#!/usr/bin/env bash
# How fast the SDK is: the channel on a recorded session, a gateway with many lines, the heartbeats of a link; and how
# much memory that takes.
#
#   Tests/Benchmarks/sdk.sh [--rounds N] [--strict]
#
# --strict  ends with status 1 when a target is missed
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
read_options "$@"

build_program replay lines heartbeats
# The machine of a link is the package's own.
swift build -c release --product link-beats >&2

make_once "$folder/session-100k.pcap" make-session.py --messages 100000
make_once "$folder/session-1M.pcap" make-session.py --messages 1000000
make_once "$folder/session-24h.pcap" make-session.py --hours 24
cat "$folder"/session-*.pcap >/dev/null # into the page cache

# measure NAME PROGRAM ARGUMENT: one run; appends what it prints, its wall-clock seconds and its memory.
measure() {
  local program=$programs/$2
  [ -x "$program" ] || program=.build/release/$2
  /usr/bin/time -o "$results/time" -f '%e %M' "$program" "$3" >"$results/output"
  paste -d' ' "$results/output" "$results/time" >>"$results/$1"
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

divide() { awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'; }

target "the channel on a capture, in virtual time" "$(divide "$(median 1M 3)" "$(median 1M 2)")" '>=' 500000 messages/s
target "24 hours with heartbeats, the whole process" "$(median 24h 4)" '<=' 0.2 s
target "memory of 1M messages to that of 100k" "$(divide "$(median 1M 5)" "$(median 100k 5)")" '<=' 1.2 x
target "heartbeats of a link's machine, in virtual time" "$(divide 1000000 "$(median beats 1)")" '>=' 1000000 heartbeats/s
target "the same with the driver and a client" "$(divide 1000000 "$(median heartbeats 1)")" '>=' 200000 heartbeats/s
target "10,000 lines online, one post each, in process" "$(median lines-10000 5)" '<=' 5 s
target "memory of one line" "$line_memory" '<=' 20 KiB

conclude
