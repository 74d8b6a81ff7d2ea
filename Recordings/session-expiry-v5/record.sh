#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 1 'mqtt.msgtype == 2 && mqtt.conack.flags.sp == 1' "the session resumed once"
must_show 3 'mqtt.msgtype == 2 && mqtt.conack.flags.sp == 0' "new sessions otherwise"
must_show 2+ "mqtt.msgtype == 3 && tcp.srcport == $port" "the queued messages delivered"
must_show 1 'mqtt.msgtype == 14 && mqtt.property_id == 0x11' "the expiry changed by DISCONNECT"
keep_recording
