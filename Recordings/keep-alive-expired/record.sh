#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
subscribe watcher -V mqttv5 -q 1 -t 'status/#' -C 2
await_log 1 'Sending SUBACK to watcher'
for version in mqttv311 mqttv5; do
  subscribe "silent-$version" -V "$version" -k 5 -t command/silent \
    --will-topic "status/$version" --will-payload 'lost' --will-qos 1
  await_log 1 "Sending SUBACK to silent-$version"
done
# Stopped, not killed: the sockets stay open, and nobody pings.
kill -STOP "${pid_silent_mqttv311:?}" "${pid_silent_mqttv5:?}"
wait "${pid_watcher:?}"
kill_abruptly silent-mqttv311
kill_abruptly silent-mqttv5
stop_recording

must_show 1 'mqtt.msgtype == 14' "DISCONNECT of the watcher only: the broker closes without a word"
must_show 2 "mqtt.msgtype == 3 && tcp.srcport == $port" "both wills"
must_show 0 'mqtt.msgtype == 12' "no ping"
keep_recording
