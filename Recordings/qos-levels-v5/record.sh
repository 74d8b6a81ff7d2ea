#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
subscribe dashboard -V mqttv5 -q 2 -t 'plant/boiler/#' -C 3 -D subscribe subscription-identifier 42 \
  -D connect receive-maximum 5
await_log 1 'Sending SUBACK to dashboard'
publish -V mqttv5 -i sensor-0 -q 0 -t plant/boiler/temperature -m 71.5 \
  -D publish payload-format-indicator 1 -D publish content-type text/plain
publish -V mqttv5 -i sensor-1 -q 1 -t plant/boiler/pressure -m 2.4 \
  -D publish message-expiry-interval 300 -D publish user-property unit bar -D publish user-property unit kPa
publish -V mqttv5 -i sensor-2 -q 2 -t plant/boiler/alarm -m '{"level":"high","code":17}' \
  -D publish response-topic plant/boiler/alarm/seen -D publish correlation-data 0017
publish -V mqttv5 -i sensor-3 -q 1 -t plant/unheard -m 'nobody listens' -D disconnect reason-string 'shift over'
wait "${pid_dashboard:?}"
stop_recording

must_show 5 'mqtt.msgtype == 1 && mqtt.ver == 5' "five connections of MQTT 5.0"
must_show 3 'mqtt.msgtype == 3 && mqtt.prop_number == 42' "the subscription identifier on each delivery"
must_show 1 'mqtt.msgtype == 4 && mqtt.puback.reason_code == 16' "PUBACK that says that nobody listens"
must_show 2 'mqtt.msgtype == 7' "a QoS 2 flow in and out"
must_show 10 'tcp.flags.fin == 1' "every connection closed from both ends"
keep_recording
