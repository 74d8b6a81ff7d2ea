#!/usr/bin/env bash
# record.sh [SYSTEM-OR-SCENARIO…]: records these scenarios, or those of these systems, anew, or all.
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

# Between the SDK's client and the broker stands a gate, with a loopback address of its own for each scenario:
# what passes there is what the client sees, and nobody else uses these addresses.
captured="tcp and net 127.83.0.0/16"
need swift
(cd "$recordings/.." && swift build --quiet --product reprise)
reprise=$(cd "$recordings/.." && swift build --show-bin-path)/reprise

wanted=("$@")
if [ ${#wanted[@]} -eq 0 ]; then
  for folder in "$recordings"/../Conformance/sdk/*/; do wanted+=("$(basename "$folder")"); done
fi

start_recording
mkdir "$work/sdk"
"$reprise" conform sdk "${wanted[@]}" --client live --broker "mqtt://127.0.0.1:$port" --gate 127.83.0.1 --save "$work/sdk" >"$work/report.txt" \
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

"$reprise" conform sdk "${wanted[@]}" --recordings "$work/sdk" --strict >"$work/report.txt" \
  || fail "the recordings do not show what was run: $(cat "$work/report.txt")"
chmod 644 "$work"/sdk/*/*
for folder in "$work"/sdk/*/; do
  system=$(basename "$folder")
  # What was recorded of a whole system takes its place, a scenario its own among the others.
  case " ${wanted[*]} " in
    *" $system "*) rm -rf "${here:?}/$system" ;;
  esac
  mkdir -p "$here/$system"
  python3 -c '
import json, pathlib, sys
new, old = (pathlib.Path(path, "session.json") for path in sys.argv[1:3])
made = json.loads(new.read_text())
session = json.loads(old.read_text()) if old.exists() else {}
for key, value in made.items():
    session[key] = dict(sorted((session.get(key, {}) | value).items())) if isinstance(value, dict) else value
new.write_text(json.dumps(session, indent=2) + "\n")' "$folder" "$here/$system"
  mv -f "$folder"/* "$here/$system"
done
say "$(find "$here" -name '*.pcap' | wc -l) scenarios, $(du -sh --apparent-size "$here" | cut -f1)"
