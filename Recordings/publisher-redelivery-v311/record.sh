#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 1+ "mqtt.msgtype == 3 && mqtt.dupflag == 1 && mqtt.qos == 1 && tcp.dstport == $port" "the client publishes QoS 1 again, DUP set"
must_show 1+ "mqtt.msgtype == 3 && mqtt.dupflag == 1 && mqtt.qos == 2 && tcp.dstport == $port" "the client publishes QoS 2 again, DUP set"
must_show 2 "mqtt.msgtype == 3 && mqtt.topic == \"counter/gas\" && tcp.dstport == $port" "QoS 2, at first without DUP"
must_show 1 "mqtt.conack.flags.sp == 1" "on a resumed session"
keep_recording
