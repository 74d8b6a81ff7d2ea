#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

# Between the SDK's client and the broker stands a gate, with a loopback address of its own for each scenario:
# what passes there is what the client sees, and nobody else uses these addresses.
captured="tcp and net 127.83.0.0/16"
need swift
(cd "$recordings/.." && swift build --quiet --product reprise)
reprise=$(cd "$recordings/.." && swift build --show-bin-path)/reprise

start_recording
mkdir "$work/sdk"
"$reprise" conform sdk --client live --broker "mqtt://127.0.0.1:$port" --gate 127.83.0.1 --save "$work/sdk" >"$work/report.txt" \
  || fail "the scenarios do not run on a broker: $(cat "$work/report.txt")"
stop_capture

while read -r name address port; do
  tcpdump -Z "$(id -un)" -r "$work/raw.pcap" -w "$work/capture.pcap" "host $address and tcp port $port" 2>/dev/null
  must_show 1+ 'mqtt.msgtype == 1' "a connection of $name"
  must_show 0 '_ws.malformed || tcp.analysis.lost_segment' "$name: nothing malformed or lost"
  mv "$work/capture.pcap" "$work/sdk/$name.pcap"
done < <(python3 -c '
import json, sys
for name, gate in json.load(open(sys.argv[1]))["gates"].items(): print(name, *gate.split(":"))' "$work/sdk/session.json")

"$reprise" conform sdk --recordings "$work/sdk" --strict >"$work/report.txt" \
  || fail "the recordings do not show what was run: $(cat "$work/report.txt")"
chmod 644 "$work"/sdk/*
rm -f "$here"/*.jsonl "$here"/*.pcap "$here/session.json"
mv "$work"/sdk/* "$here"
say "$(find "$here" -name '*.pcap' | wc -l) scenarios, $(du -sh --apparent-size "$here" | cut -f1)"
