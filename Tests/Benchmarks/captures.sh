#!/usr/bin/env bash
# Measures reprise beside tshark and tcpdump on the same captures, in turns, and prints the medians.
#
#   Tests/Benchmarks/captures.sh [--rounds N] [--strict]
#
# --rounds  how often everything runs on the capture of 100 MB (default 5; that of 1 GB in every other round)
# --strict  ends with status 1 when a target is missed
#
# REPRISE names another command to measure; then nothing is built.
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
read_options "$@"
readonly small=$folder/small-100M.pcap
readonly large=$folder/small-1G.pcap

need tshark tcpdump python3 /usr/bin/time
build_reprise

count() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1.json"; }

readonly -a tshark_fields=(-e frame.number -e frame.time_epoch -e tcp.stream -e mqtt.msgtype -e mqtt.len
  -e mqtt.msgid -e mqtt.qos -e mqtt.topic)

# measure NAME FILE: one run; appends seconds, user seconds and peak memory in KiB to the results of NAME.
measure() {
  local name=$1 file=$2 status=0 begin end
  local -a command
  case ${name%%-*} in
    inspect) command=("$reprise" inspect --format jsonl "$file") ;;
    conform) command=("$reprise" conform trace "$file") ;;
    conform1) command=("$reprise" conform trace --jobs 1 "$file") ;;
    inspect1) command=("$reprise" inspect --jobs 1 --format jsonl "$file") ;;
    tshark) command=(tshark -n -r "$file" -Y mqtt -T fields "${tshark_fields[@]}") ;;
    tcpdump) command=(tcpdump -r "$file" -w /dev/null) ;;
  esac
  begin=$EPOCHREALTIME
  /usr/bin/time -o "$results/time" -f '%U %M' "${command[@]}" >/dev/null 2>"$results/errors" || status=$?
  end=$EPOCHREALTIME
  # A violated clause is a result like another; anything else is not worth measuring.
  if [ "$status" -ne 0 ] && ! { [ "$status" -eq 1 ] && [[ $name = conform* ]]; }; then
    echo "captures.sh: status $status from: ${command[*]}" >&2
    tail -n 3 "$results/errors" >&2
    exit 2
  fi
  awk -v b="$begin" -v e="$end" '{ print e - b, $(NF-1), $NF }' <(tail -n 1 "$results/time") >>"$results/$name"
}

row() {
  local name=$1 file=$2
  awk -v name="$3" -v s="$(median "$name" 1)" -v u="$(median "$name" 2)" -v m="$(median "$name" 3)" \
    -v bytes="$(count "$file" bytes)" -v packets="$(count "$file" packets)" 'BEGIN {
      printf "%-28s %8.2f %8.2f %9.1f %9.1f %12d\n", name, s, u, m / 1024, bytes / s / 1e6, packets / s }'
}


mebibytes() { awk -v k="$(median "$1" 3)" 'BEGIN { print k / 1024 }'; }

make_once "$small" make-capture.py --size 100M
make_once "$large" make-capture.py --size 1G
cat "$small" "$large" >/dev/null # into the page cache

for ((round = 1; round <= rounds; round++)); do
  echo "Round $round of $rounds" >&2
  for name in inspect tshark conform tcpdump conform1 inspect1; do
    measure "$name" "$small"
  done
  if ((round % 2 == 1)); then
    measure inspect-large "$large"
    measure conform-large "$large"
  fi
done

# Start-up, in milliseconds: the median of 40 runs each, in turns.
start() {
  python3 - "$reprise" <<'PYTHON'
import statistics, subprocess, sys, time
runs = {"version": ["--version"], "list": ["conform", "list"]}
times = {name: [] for name in runs}
for _ in range(40):
    for name, words in runs.items():
        begin = time.perf_counter()
        subprocess.run([sys.argv[1], *words], stdout=subprocess.DEVNULL, check=True)
        times[name].append((time.perf_counter() - begin) * 1000)
print(*(statistics.median(times[name]) for name in runs))
PYTHON
}
read -r version_time list_time <<<"$(start)"

# Many small files: 2,000 in one call beside tshark, which takes one file a call, on 20 of them.
readonly few=20 many=2000
mkdir "$results/files"
for ((number = 0; number < many; number++)); do
  ln -s "$PWD/Recordings/qos-levels-v311/capture.pcap" "$results/files/$number.pcap"
done
seconds() {
  local begin=$EPOCHREALTIME
  "$@" >/dev/null 2>&1 || true
  awk -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { print e - b }'
}
each_file() {
  local number
  for ((number = 0; number < few; number++)); do
    tshark -n -r "$results/files/$number.pcap" -Y mqtt -T fields "${tshark_fields[@]}"
  done
}
ours=$(seconds "$reprise" conform trace "$results"/files/*.pcap)
theirs=$(seconds each_file)
files_quotient=$(awk -v a="$theirs" -v b="$ours" -v f="$few" -v m="$many" 'BEGIN { print a / f / (b / m) }')

cat <<END
$(uname -srm), $(nproc) cores; $(tshark --version 2>/dev/null | head -n 1 | cut -d' ' -f1-3); medians of $rounds rounds in turns
100 MB: $(count "$small" frames) frames, $(count "$small" packets) MQTT packets, $(count "$small" connections) connections
1 GB:   $(count "$large" frames) frames, $(count "$large" packets) MQTT packets, $(count "$large" connections) connections

                              seconds     user   MiB max      MB/s   MQTT packets/s
END
row inspect "$small" "reprise inspect, 100 MB"
row conform "$small" "reprise conform trace, 100 MB"
row inspect1 "$small" "reprise inspect, one thread"
row conform1 "$small" "reprise conform, one thread"
row tshark "$small" "tshark -T fields, 100 MB"
row tcpdump "$small" "tcpdump -w, 100 MB"
row inspect-large "$large" "reprise inspect, 1 GB"
row conform-large "$large" "reprise conform trace, 1 GB"
echo
target "inspect, times as fast as tshark" "$(quotient tshark inspect)" '>=' 10 x
target "conform trace, times as fast as tshark" "$(quotient tshark conform)" '>=' 20 x
target "inspect, peak memory, 100 MB" "$(mebibytes inspect)" '<=' 24 MiB
target "conform trace, peak memory, 100 MB" "$(mebibytes conform)" '<=' 24 MiB
target "inspect, peak memory, 1 GB" "$(mebibytes inspect-large)" '<=' 24 MiB
target "conform trace, peak memory, 1 GB" "$(mebibytes conform-large)" '<=' 24 MiB
target "inspect, time of 1 GB to 100 MB" "$(quotient inspect-large inspect)" '<=' 11 x
target "conform trace, time of 1 GB to 100 MB" "$(quotient conform-large conform)" '<=' 11 x
target "one thread, conform, times tcpdump's seconds" "$(quotient conform1 tcpdump)" '<=' 2.5 x
target "one thread, inspect, times as fast as tshark" "$(quotient tshark inspect1)" '>=' 28 x
target "conform, two threads to one" "$(quotient conform1 conform)" '>=' 1.7 x
target "reprise --version" "$version_time" '<=' 8 ms
target "reprise conform list" "$list_time" '<=' 10 ms
target "many small files, times as fast as tshark" "$files_quotient" '>=' 20 x
printf '%-44s %9.2f x\n' "inspect, times the seconds of tcpdump" "$(quotient inspect tcpdump)"
printf '%-44s %9.2f x\n' "conform trace, times the seconds of tcpdump" "$(quotient conform tcpdump)"

conclude
