#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
subscribe watcher -V mqttv311 -q 1 -t 'status/#' -C 2
await_log 1 'Sending SUBACK to watcher'
subscribe pump -V mqttv311 -q 1 -t command/pump \
  --will-topic status/pump --will-payload offline --will-qos 1 --will-retain
await_log 1 'Sending SUBACK to pump'
subscribe valve -V mqttv5 -q 1 -t command/valve -k 30 \
  --will-topic status/valve --will-payload '{"online":false}' --will-qos 1 \
  -D will will-delay-interval 1 -D will content-type application/json -x 10
await_log 1 'Sending SUBACK to valve'
kill_abruptly pump
await_log 1 "Sending PUBLISH to watcher (d0, q1, r0, m1, 'status/pump'"
kill_abruptly valve
wait "${pid_watcher:?}"
subscribe latecomer -V mqttv311 -q 1 -t 'status/#' -C 1
wait "${pid_latecomer:?}"
subscribe polite -V mqttv311 -q 1 -t status/polite \
  --will-topic status/polite --will-payload offline -E
wait "${pid_polite:?}"
stop_recording

must_show 3 'mqtt.msgtype == 1 && mqtt.conflag.willflag == 1' "three clients with a will"
must_show 2 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic == \"status/pump\"" "the will of the pump, live and retained"
must_show 1 "mqtt.msgtype == 3 && mqtt.topic == \"status/valve\"" "the delayed will of the valve"
must_show 0 "mqtt.msgtype == 3 && mqtt.topic == \"status/polite\"" "no will after DISCONNECT"
must_show 3 'mqtt.msgtype == 14' "DISCONNECT of all but the two that were killed"
keep_recording
