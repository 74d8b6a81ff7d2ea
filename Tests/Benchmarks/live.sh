#!/usr/bin/env bash
# How fast MosquittoClient receives beside a bare loop of libmosquitto, on one broker, with one sender, in turns.
#
#   Tests/Benchmarks/live.sh [--rounds N] [--strict]
#
# --strict  ends with status 1 when the target is missed
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
read_options "$@"
readonly count=300000 bare=.build/bench-programs/receive-c

build_program receive
cc -O2 -Wall -Wextra -Werror -o "$bare" Tests/Benchmarks/programs/receive.c -lmosquitto

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'max_queued_messages 0\nlistener %s 127.0.0.1\nallow_anonymous true\n' "$port" >"$results/mosquitto.conf"
exec 3< <(exec mosquitto -c "$results/mosquitto.conf" 2>&1)
broker=$!
trap 'kill "$broker"; wait "$broker" || true; rm -rf "$results"' EXIT
yes 'a message of forty bytes, or about that.' | head -n "$count" >"$results/messages" || true
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
  mosquitto_pub -p "$port" -t bench -l <"$results/messages"
  tail -n 1 <&4
  wait "$receiver"
}

for round in $(seq "$rounds"); do
  echo "Round $round of $rounds" >&2
  measure "$bare" >>"$results/c"
  measure "$programs/receive" >>"$results/swift"
done
python3 Tests/Benchmarks/pairs.py "$count" messages libmosquitto "$results/c" MosquittoClient "$results/swift" \
  'live reception, times as fast as libmosquitto' 0.9 $strict
