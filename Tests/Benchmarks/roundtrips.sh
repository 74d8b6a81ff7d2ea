#!/usr/bin/env bash
# How many requests a second WebSocketClient gets answered, one after another, beside the client of the PyPI library
# `websockets`, on one server, in turns.
#
#   Tests/Benchmarks/roundtrips.sh [--rounds N] [--strict]
#
# --strict  ends with status 1 when the target is missed
# shellcheck source=Tests/Benchmarks/bench-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench-lib.sh"
read_options "$@"
readonly count=20000 roundtrips=$programs/roundtrips python=.build/venv/bin/python

build_program roundtrips

# The server says its URL when it listens; that it ends before is the end of this, too.
exec 3< <(exec "$roundtrips" serve)
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$results"' EXIT
read -r -t 60 url <&3

for round in $(seq "$rounds"); do
  echo "Round $round of $rounds" >&2
  "$python" Tests/Benchmarks/programs/ask.py "$url" "$count" >>"$results/python"
  "$roundtrips" ask "$url" "$count" >>"$results/swift"
done
python3 Tests/Benchmarks/pairs.py "$count" requests websockets "$results/python" WebSocketClient "$results/swift" \
  'live requests, times as fast as websockets' 1 $strict
