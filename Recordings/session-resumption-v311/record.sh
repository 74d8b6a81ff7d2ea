#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 2 'mqtt.msgtype == 2 && mqtt.conack.flags.sp == 1' "a session present twice"
must_show 5+ "mqtt.msgtype == 3 && tcp.srcport == $port" "messages delivered on the resumed connections"
must_show 1+ "mqtt.msgtype == 3 && mqtt.dupflag == 1 && mqtt.qos == 1 && tcp.srcport == $port" "QoS 1 delivered again, DUP set"
must_show 1+ "mqtt.msgtype == 3 && mqtt.dupflag == 1 && mqtt.qos == 2 && tcp.srcport == $port" "QoS 2 delivered again, DUP set"
must_show 1+ "mqtt.conack.flags.sp == 0" "and a clean session after it"
keep_recording
