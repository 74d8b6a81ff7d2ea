#!/usr/bin/env bash
# How many requests a second WebSocketClient gets answered, one after another, beside the client of the PyPI library
# `websockets`, on one server, in turns.
#
#   Tests/Benchmarks/roundtrips.sh [--rounds N] [--strict]
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
    *) echo "usage: roundtrips.sh [--rounds N] [--strict]" >&2 && exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly count=20000 programs=Tests/Benchmarks/programs build=.build/bench-programs python=.build/venv/bin/python

echo "Building the server and the client" >&2
swift build -c release --product roundtrips --package-path "$programs" --scratch-path "$build/swift" >&2
roundtrips=$build/swift/release/roundtrips

directory=$(mktemp -d)
# The server says its URL when it listens; that it ends before is the end of this, too.
exec 3< <(exec "$roundtrips" serve)
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$directory"' EXIT
read -r -t 60 url <&3

for round in $(seq "$rounds"); do
  echo "Round $round of $rounds" >&2
  "$python" "$programs/ask.py" "$url" "$count" >>"$directory/python"
  "$roundtrips" ask "$url" "$count" >>"$directory/swift"
done
python3 - "$count" "$directory/python" "$directory/swift" "$strict" <<'PYTHON'
import statistics
import sys
count, strict = int(sys.argv[1]), sys.argv[4]
python, swift = ([float(line) for line in open(path)] for path in sys.argv[2:4])
# Each round is a pair: what else the machine does changes from round to round.
ratios = [one / other for one, other in zip(python, swift)]
ratio = statistics.median(ratios)
print(f"websockets {count / statistics.median(python):,.0f} requests a second, "
      f"WebSocketClient {count / statistics.median(swift):,.0f}; medians of {len(python)} rounds")
print(f"{'live requests, times as fast as websockets':<48} {ratio:12.2f} {'x':<11} >= {1:8}   "
      f"{'met' if ratio >= 1 else 'MISSED'}   ({min(ratios):.2f} to {max(ratios):.2f})")
sys.exit(1 if strict and ratio < 1 else 0)
PYTHON
