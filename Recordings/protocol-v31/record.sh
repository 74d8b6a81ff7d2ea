#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
subscribe old-display -V mqttv31 -q 2 -t 'legacy/#' -C 2
await_log 1 'Sending SUBACK to old-display'
publish -V mqttv31 -i old-sensor -q 1 -t legacy/level -m 12
publish -V mqttv5 -i new-sensor -q 2 -t legacy/level -m 13
wait "${pid_old_display:?}"
stop_recording

must_show 2 'mqtt.msgtype == 1 && mqtt.protoname == "MQIsdp" && mqtt.ver == 3' "MQTT 3.1 by its own name"
must_show 1 'mqtt.msgtype == 1 && mqtt.ver == 5' "beside MQTT 5.0"
must_show 2 "mqtt.msgtype == 3 && tcp.srcport == $port" "messages across the versions"
keep_recording
