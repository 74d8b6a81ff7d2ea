#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
subscribe dashboard -V mqttv311 -q 2 -t 'plant/boiler/#' -C 4
await_log 1 'Sending SUBACK to dashboard'
publish -V mqttv311 -i sensor-0 -q 0 -t plant/boiler/temperature -m 71.5
publish -V mqttv311 -i sensor-1 -q 1 -t plant/boiler/pressure -m 2.4
publish -V mqttv311 -i sensor-2 -q 2 -t plant/boiler/alarm -m '{"level":"high","code":17}'
publish -V mqttv311 -i sensor-2 -q 2 -t plant/boiler/alarm -n
wait "${pid_dashboard:?}"
stop_recording

must_show 5 'mqtt.msgtype == 1 && mqtt.ver == 4' "five connections of MQTT 3.1.1"
must_show 2 'mqtt.msgtype == 3 && mqtt.qos == 0' "QoS 0 in and out"
must_show 2 'mqtt.msgtype == 4' "PUBACK in and out"
must_show 4 'mqtt.msgtype == 7' "two complete QoS 2 flows in and out"
must_show 10 'tcp.flags.fin == 1' "every connection closed from both ends"
keep_recording
