#!/usr/bin/env bash
# How fast MosquittoClient receives beside a bare loop of libmosquitto, on one broker, with one sender, in turns.
#
#   Tests/Benchmarks/live.sh [--rounds N] [--strict]
#
# --strict  ends with status 1 when the target is missed
set -euo pipefail
export LC_ALL=C

rounds=5
strict=
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=${2:?--rounds takes a number} && shift 2 ;;
    --strict) strict=1 && shift ;;
    *) echo "usage: live.sh [--rounds N] [--strict]" >&2 && exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly count=300000 programs=Tests/Benchmarks/programs build=.build/bench-programs

echo "Building both receivers" >&2
mkdir -p "$build"
cc -O2 -Wall -Wextra -Werror -o "$build/receive-c" "$programs/receive.c" -lmosquitto
swift build -c release --product receive --package-path "$programs" --scratch-path "$build/swift" >&2

directory=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'max_queued_messages 0\nlistener %s 127.0.0.1\nallow_anonymous true\n' "$port" >"$directory/mosquitto.conf"
exec 3< <(exec mosquitto -c "$directory/mosquitto.conf" 2>&1)
broker=$!
trap 'kill "$broker"; wait "$broker" || true; rm -rf "$directory"' EXIT
yes 'a message of forty bytes, or about that.' | head -n "$count" >"$directory/messages" || true
while read -r -t 60 line; do
  case $line in *' running') break ;; esac
done <&3
# What it says later is read too, as a full pipe would stop it.
cat <&3 >/dev/null &
mosquitto_pub -p "$port" -t up -n

# Starts a receiver, waits until it is subscribed, sends, and prints what it says.
measure() {
  local receiver line
  exec 4< <(exec "$1" 127.0.0.1 "$port" bench "$count")
  receiver=$!
  read -r -t 60 line <&4
  [ "$line" = ready ]
  mosquitto_pub -p "$port" -t bench -l <"$directory/messages"
  tail -n 1 <&4
  wait "$receiver"
}

for round in $(seq "$rounds"); do
  echo "Round $round of $rounds" >&2
  measure "$build/receive-c" >>"$directory/c"
  measure "$build/swift/release/receive" >>"$directory/swift"
done
python3 - "$count" "$directory/c" "$directory/swift" "$strict" <<'PYTHON'
import statistics
import sys
count, strict = int(sys.argv[1]), sys.argv[4]
c, swift = ([float(line) for line in open(path)] for path in sys.argv[2:4])
# Each round is a pair: what else the machine does changes from round to round.
ratios = [one / other for one, other in zip(c, swift)]
ratio = statistics.median(ratios)
print(f"libmosquitto {count / statistics.median(c):,.0f} messages a second, "
      f"MosquittoClient {count / statistics.median(swift):,.0f}; medians of {len(c)} rounds")
print(f"{'live reception, times as fast as libmosquitto':<48} {ratio:12.2f} {'x':<11} >= {0.9:8}   "
      f"{'met' if ratio >= 0.9 else 'MISSED'}   ({min(ratios):.2f} to {max(ratios):.2f})")
sys.exit(1 if strict and ratio < 0.9 else 0)
PYTHON
