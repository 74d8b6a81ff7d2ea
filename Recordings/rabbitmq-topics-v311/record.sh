#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

broker=rabbitmq
start_recording
scenario
stop_recording

delivered="mqtt.msgtype == 3 && tcp.srcport == $port"
must_show 2 "$delivered && mqtt.topic == \"press/oil\"" "a copy for each of two filters"
must_show 1 "$delivered && mqtt.topic == \"pump/speed\" && mqtt.qos == 1" "the QoS of a subscription that was replaced"
must_show 1 "$delivered && mqtt.topic == \"valve/3\"" "a star that matches"
must_show 1 "$delivered && mqtt.topic == \"\$inner/state\"" "a topic with a dollar sign for #"
must_show 1 "$delivered && mqtt.topic == \"lamp/1\" && mqtt.retain == 1" "what is retained, for the filter without wildcards only"
must_show 1 "$delivered && mqtt.topic == \"room/kitchen/north\"" "a dot that became a slash"
keep_recording
