#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

need mosquitto_passwd
mosquitto_passwd -b -c "$work/passwords" operator 'correct horse' 2>/dev/null
printf 'user operator\ntopic readwrite door/lock\n' >"$work/access"
broker_options=("allow_anonymous false" "password_file $work/passwords" "acl_file $work/access")
start_recording
refused() { ! publish -t door/lock -m open "$@" 2>/dev/null || fail "not refused: $*"; }
refused -V mqttv311 -i wrong-311 -u operator -P 'battery staple'
refused -V mqttv5 -i wrong-5 -u operator -P 'battery staple'
refused -V mqttv311 -i nobody-311
refused -V mqttv5 -i nobody-5
publish -V mqttv311 -i right-311 -u operator -P 'correct horse' -q 1 -t door/lock -m open
publish -V mqttv5 -i right-5 -u operator -P 'correct horse' -q 1 -t door/lock -m open
publish -V mqttv5 -i curious-5 -u operator -P 'correct horse' -q 1 -t door/safe -m open 2>/dev/null || true
stop_recording

must_show 2 'mqtt.msgtype == 2 && mqtt.conack.val == 5' "not authorized, 3.1.1"
must_show 2 'mqtt.msgtype == 2 && mqtt.connack.reason_code == 135' "not authorized, 5.0"
must_show 3 'mqtt.msgtype == 3' "only the right password publishes"
must_show 1 'mqtt.msgtype == 4 && mqtt.puback.reason_code == 135' "a publication refused by PUBACK, 5.0"
keep_recording
