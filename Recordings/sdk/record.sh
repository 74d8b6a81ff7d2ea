#!/usr/bin/env bash
# record.sh [SYSTEM…]: records the scenarios of these systems anew, or of all.
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

# Between the SDK's client and the broker stands a gate, with a loopback address of its own for each scenario:
# what passes there is what the client sees, and nobody else uses these addresses.
captured="tcp and net 127.83.0.0/16"
need swift
(cd "$recordings/.." && swift build --quiet --product reprise)
reprise=$(cd "$recordings/.." && swift build --show-bin-path)/reprise

systems=("$@")
if [ ${#systems[@]} -eq 0 ]; then
  for folder in "$recordings"/../Conformance/sdk/*/; do systems+=("$(basename "$folder")"); done
fi

start_recording
mkdir "$work/sdk"
"$reprise" conform sdk "${systems[@]}" --client live --broker "mqtt://127.0.0.1:$port" --gate 127.83.0.1 --save "$work/sdk" >"$work/report.txt" \
  || fail "the scenarios do not run on a broker: $(cat "$work/report.txt")"
stop_capture

while read -r system name address port; do
  tcpdump -Z "$(id -un)" -r "$work/raw.pcap" -w "$work/capture.pcap" "host $address and tcp port $port" 2>/dev/null
  opening='mqtt.msgtype == 1'
  broken='_ws.malformed'
  if [ "$system" = requests ]; then
    # Requests go over a WebSocket, straight to the gate; tshark takes some of their texts for MQTT.
    opening='tcp contains "Upgrade: websocket"'
    broken='_ws.malformed && !mqtt'
  fi
  must_show 1+ "$opening" "a connection of $name"
  must_show 0 "($broken) || tcp.analysis.lost_segment" "$name: nothing malformed or lost"
  mv "$work/capture.pcap" "$work/sdk/$system/$name.pcap"
done < <(python3 -c '
import json, pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob("*/session.json"):
    for name, gate in json.loads(path.read_text())["gates"].items(): print(path.parent.name, name, *gate.split(":"))' "$work/sdk")

"$reprise" conform sdk "${systems[@]}" --recordings "$work/sdk" --strict >"$work/report.txt" \
  || fail "the recordings do not show what was run: $(cat "$work/report.txt")"
chmod 644 "$work"/sdk/*/*
for system in "${systems[@]}"; do
  rm -rf "${here:?}/$system"
  mv "$work/sdk/$system" "$here"
done
say "$(find "$here" -name '*.pcap' | wc -l) scenarios, $(du -sh --apparent-size "$here" | cut -f1)"
