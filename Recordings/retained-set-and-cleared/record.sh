#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
publish -V mqttv311 -i meter -q 1 -r -t building/hall/temperature -m 19.0
publish -V mqttv311 -i meter -q 1 -r -t building/hall/temperature -m 21.5
publish -V mqttv311 -i meter -q 1 -r -t building/hall/humidity -m 48
subscribe early -V mqttv311 -q 1 -t 'building/hall/+' -C 4
await_log 2 'Sending PUBLISH to early'
publish -V mqttv311 -i meter -q 1 -r -t building/hall/humidity -m 51
publish -V mqttv311 -i meter -q 1 -r -t building/hall/temperature -n
wait "${pid_early:?}"
subscribe late -V mqttv311 -q 1 -t 'building/hall/+' -C 1
wait "${pid_late:?}"
subscribe later -V mqttv311 -q 1 -t building/hall/temperature -E
wait "${pid_later:?}"
subscribe v5-flags -V mqttv5 -q 1 -t building/hall/humidity --retain-as-published -C 2
await_log 1 'Sending PUBLISH to v5-flags'
publish -V mqttv5 -i meter -q 1 -r -t building/hall/humidity -m 55
wait "${pid_v5_flags:?}"
stop_recording

must_show 9+ 'mqtt.msgtype == 3 && mqtt.retain == 1' "retained publications in, and retained messages out"
must_show 2 'mqtt.msgtype == 3 && mqtt.retain == 0 && tcp.srcport == '"$port" "live deliveries with the flag cleared"
must_show 1 'mqtt.msgtype == 3 && mqtt.retain == 1 && mqtt.topic contains "temperature" && mqtt.len == 29' "a retained message cleared by an empty one"
keep_recording
