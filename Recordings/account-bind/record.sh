#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

need swift python3
package=$recordings/..
(cd "$package" && swift build --quiet --product reprise && swift build --quiet --product account-bind-app)
programs=$(cd "$package" && swift build --show-bin-path)

# The cloud has a door of its own, so that the capture shows the app alone.
door=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
broker_options=("allow_anonymous true" "listener $door 127.0.0.1")
start_recording
"$programs/reprise" simulate "mqtt://127.0.0.1:$door" --script "$here/cloud.json" >"$work/cloud.txt" 2>&1 &
children+=($!)
await_log 1 "Sending SUBACK to cloud-simulator"

timeout 120 "$programs/account-bind-app" "mqtt://127.0.0.1:$port" "$work/session.jsonl" >"$work/app.txt" \
  || fail "the app does not come through: $(cat "$work/app.txt" "$work/cloud.txt")"
stop_recording

must_show 1 'mqtt.msgtype == 1' "one connection"
must_show 1 'mqtt.topic contains "app/up/account/bind"' "the account is bound"
must_show 3 'mqtt.msgtype == 3 && mqtt.topic contains "app/down/thing/properties"' "a lamp tells of itself three times"
must_show 1 'mqtt.topic contains "app/up/account/unbind" && mqtt.msgtype == 3' "the binding is taken back"
must_show 1 'mqtt.msgtype == 14' "the app says goodbye"
for file in capture.pcap session.jsonl; do
  "$programs/reprise" replay sdk "$work/$file" >"$work/replay.txt" || fail "$file can't be replayed: $(cat "$work/replay.txt")"
done
chmod 644 "$work/session.jsonl"
mv -f "$work/session.jsonl" "$here/session.jsonl"
keep_recording
