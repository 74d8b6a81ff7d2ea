#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

broker=rabbitmq
start_recording
scenario
stop_recording

must_show 1 "mqtt.msgtype == 3 && mqtt.qos == 2 && tcp.dstport == $port" "a message of QoS 2"
must_show 0 'mqtt.msgtype == 5' "no PUBREC for it"
must_show 2 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic contains \"state\" && mqtt.retain == 1" "what is retained"
must_show 2 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic == \"status/lost\" && mqtt.retain == 0" "a will, live"
must_show 1 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic == \"status/lost\" && mqtt.retain == 1" "and retained"
must_show 3 'mqtt.msgtype == 2 && mqtt.conack.flags.sp == 1' "a session present twice, and one taken over"
must_show 1+ "mqtt.msgtype == 3 && mqtt.dupflag == 1 && tcp.srcport == $port" "QoS 1 delivered again, DUP set"
must_show 0 "mqtt.msgtype == 3 && tcp.srcport == $port && mqtt.topic == \"status/twin\"" "no will of the one whose place is taken"
keep_recording
