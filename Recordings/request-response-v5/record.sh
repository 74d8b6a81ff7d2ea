#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 4 'mqtt.msgtype == 3 && mqtt.property_id == 0x23' "topic aliases"
must_show 3 'mqtt.msgtype == 3 && mqtt.property_id == 0x23 && mqtt.topic_len == 0' "an alias in place of the topic"
must_show 4 'mqtt.msgtype == 3 && mqtt.property_id == 0x08' "response topics, in and out"
must_show 8 'mqtt.msgtype == 3 && mqtt.property_id == 0x09' "correlation data, in and out, there and back"
must_show 4+ 'mqtt.msgtype == 3 && mqtt.property_id == 0x26' "user properties"
keep_recording
