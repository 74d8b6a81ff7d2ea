#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 3 "mqtt.msgtype == 8 && mqtt.topic contains \"\$share/\"" "shared subscriptions"
must_show 1+ 'mqtt.msgtype == 8 && mqtt.subscription_options_nl == 1' "No Local"
must_show 1+ 'mqtt.msgtype == 8 && mqtt.subscription_options_rap == 1' "Retain As Published"
must_show 1+ 'mqtt.msgtype == 8 && mqtt.subscription_options_retain == 2' "Retain Handling 2"
must_show 8 'mqtt.msgtype == 9 && mqtt.suback.reason_code == 1' "each of them granted"
keep_recording
