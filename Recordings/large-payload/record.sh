#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
# 400,000 bytes that anyone can make again: the numbers from 1, one a line.
head -c 400000 < <(seq 1 100000) >"$work/firmware"
subscribe updater -V mqttv311 -q 1 -t firmware/image -C 1 -N
await_log 1 'Sending SUBACK to updater'
publish -V mqttv311 -i depot -q 1 -t firmware/image -f "$work/firmware"
wait "${pid_updater:?}"
cmp "$work/firmware" "$work/updater.out" || fail "the payload did not arrive as it was sent"
stop_recording

must_show 2 'mqtt.msgtype == 3 && mqtt.len > 400000' "the large message in and out"
must_show 12+ 'tcp.len > 0 && !mqtt' "over many segments"
keep_recording
