#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
subscribe watcher -i наблюдатель -V mqttv311 -q 1 -t 'завод/+/температура' -t '工場/#' -t 'café/☕' -C 4
await_log 1 'Sending SUBACK to наблюдатель'
publish -V mqttv311 -i датчик -q 1 -t завод/котёл/температура -m '71,5 °C'
publish -V mqttv311 -i センサー -q 1 -t 工場/第一/状態 -m '正常 — 稼働中'
publish -V mqttv5 -i 🤖 -q 1 -t 工場/🚨 -m '🔥🧯👩🏽‍🚒' -D publish user-property язык русский -D publish content-type 'text/plain; charset=utf-8'
publish -V mqttv311 -i é -q 1 -t café/☕ -m $'e\u0301 is not \u00e9'
wait "${pid_watcher:?}"
stop_recording

must_show 1+ 'mqtt.msgtype == 3 && mqtt.topic == "завод/котёл/температура"' "Cyrillic"
must_show 2 'mqtt.msgtype == 3 && mqtt.topic contains "工場/第一"' "Chinese characters, in and out"
must_show 2 'mqtt.msgtype == 3 && mqtt.topic contains "🚨"' "an emoji beyond the basic plane, in and out"
must_show 5 'mqtt.msgtype == 1' "five clients with such names"
keep_recording
