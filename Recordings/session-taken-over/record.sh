#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

start_recording
scenario
stop_recording

must_show 2 'mqtt.msgtype == 14' "DISCONNECT of the second of each pair only: the broker closes without a word"
must_show 4 'mqtt.msgtype == 1' "two pairs of connections"
must_show 2 'mqtt.msgtype == 2 && mqtt.conack.flags.sp == 1' "the session goes to the newcomer"
keep_recording
