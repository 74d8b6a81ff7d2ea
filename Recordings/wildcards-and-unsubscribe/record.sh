#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 1 'mqtt.msgtype == 8 && mqtt.topic == "+/kitchen/+" && mqtt.topic == "house/#"' "several filters in one SUBSCRIBE"
must_show 3 'mqtt.msgtype == 11' "UNSUBACK"
must_show 1 "mqtt.msgtype == 3 && mqtt.topic == \"\$SYS/broker/version\"" "a topic of the broker itself, only on demand"
must_show 0 "mqtt.msgtype == 3 && mqtt.topic == \"house/attic/last\" && tcp.srcport == $port" "nothing after UNSUBSCRIBE"
keep_recording
