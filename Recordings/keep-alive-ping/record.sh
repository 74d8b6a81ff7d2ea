#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 5+ 'mqtt.msgtype == 12' "PINGREQ"
must_show 5+ 'mqtt.msgtype == 13' "PINGRESP"
must_show 2 'mqtt.msgtype == 1 && mqtt.kalive <= 2' "short keep-alive intervals"
keep_recording
