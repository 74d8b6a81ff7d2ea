#!/usr/bin/env bash
# How fast MosquittoClient receives beside a bare loop of libmosquitto, on one broker, with one sender.
# Fails when it is less than 0.9 times as fast.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly count=${1:-300000} rounds=${2:-5}
readonly build=../../../.build/bench-live
mkdir -p "$build"

echo "bench: building"
cc -O2 -Wall -Wextra -Werror -o "$build/receive-c" receive.c -lmosquitto
swift build -c release --quiet --package-path . --scratch-path "$build/swift"

directory=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'max_queued_messages 0\nlistener %s 127.0.0.1\nallow_anonymous true\n' "$port" >"$directory/mosquitto.conf"
mosquitto -c "$directory/mosquitto.conf" >"$directory/mosquitto.log" 2>&1 &
broker=$!
trap 'kill "$broker"; wait "$broker" || true; rm -rf "$directory"' EXIT
yes 'a message of forty bytes, or about that.' | head -n "$count" >"$directory/messages" || true
for _ in $(seq 100); do
  mosquitto_pub -p "$port" -t up -n 2>/dev/null && break
  sleep 0.05
done

# Starts a receiver, waits until it is subscribed, sends, and prints what it says.
measure() {
  local output=$directory/output
  "$1" 127.0.0.1 "$port" bench "$count" >"$output" &
  local receiver=$!
  until grep -q ready "$output"; do sleep 0.01; done
  mosquitto_pub -p "$port" -t bench -l <"$directory/messages"
  wait "$receiver"
  tail -n 1 "$output"
}

: >"$directory/c" >"$directory/swift"
for round in $(seq "$rounds"); do
  measure "$build/receive-c" >>"$directory/c"
  measure "$build/swift/release/receive" >>"$directory/swift"
done
python3 - "$count" "$directory/c" "$directory/swift" <<'PYTHON'
import sys
count = int(sys.argv[1])
# The best of the rounds: what else the machine does only ever makes one slower.
c, swift = (min(float(line) for line in open(path)) for path in sys.argv[2:])
ratio = c / swift
print(f"libmosquitto {count / c:,.0f} messages a second, MosquittoClient {count / swift:,.0f}: {ratio:.2f} times as fast")
sys.exit(0 if ratio >= 0.9 else 1)
PYTHON
