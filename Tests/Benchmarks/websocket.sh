#!/usr/bin/env bash
# Measures reprise beside tshark on a capture of WebSocket, in turns, and the masking of payloads beside memcpy.
#
#   Tests/Benchmarks/websocket.sh [--rounds N] [--strict]
#
# --rounds  how often everything runs (default 5)
# --strict  ends with status 1 when a target is missed
#
# REPRISE names another command to measure; then nothing is built but the program that masks.
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
read_options "$@"
readonly capture=$folder/websocket-100M.pcap

need tshark python3 /usr/bin/time
build_reprise
build_program mask

make_once "$capture" make-websocket.py --size 100M
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

row() {
  awk -v name="$2" -v s="$(median "$1" 1)" -v u="$(median "$1" 2)" -v m="$(median "$1" 3)" \
    -v frames="$(count frames)" 'BEGIN {
      printf "%-28s %8.2f %8.2f %9.1f %12d\n", name, s, u, m / 1024, frames / s }'
}



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
  "$programs/mask" "$size" |
    awk -v s="$size" '{ printf "masking %8d bytes %8.2f GB/s   memcpy %8.2f GB/s\n", s, $1, $2 }'
done
echo
target "inspect, times as fast as tshark" "$(quotient tshark inspect)" '>=' 20 x
target "conform trace, times as fast as tshark" "$(quotient tshark conform)" '>=' 20 x

conclude
