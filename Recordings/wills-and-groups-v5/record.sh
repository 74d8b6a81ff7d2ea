#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 2 'mqtt.msgtype == 1 && mqtt.conflag.willflag == 1' "a will on both connections of the pump"
must_show 1 'mqtt.msgtype == 14 && mqtt.disconnect.reason_code == 4' "DISCONNECT with Will Message"
must_show 1 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic == \"status/pump\"" "one will of two"
must_show 2 'mqtt.msgtype == 1 && mqtt.clientid == "second"' "a session taken over"
must_show 6 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic contains \"jobs\"" "each job to one of the group"
must_show 2 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic == \"state/valve\" && mqtt.retain == 0" "both states live"
must_show 1 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic == \"state/valve\" && mqtt.retain == 1" "the last state to one that came later"
keep_recording
