#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

# This broker does not start with WebSocket listeners only, hence the socket that nobody uses.
broker_options=("protocol websockets" "allow_anonymous true" "listener 0 $work/unused.sock")
listen_on=lo
decode_as=http
start_recording
scenario
stop_recording

must_show 2 'http.upgrade == "websocket" && http.request' "two handshakes"
must_show 2 'http.response.code == 101' "accepted"
must_show 2 'websocket.payload_length_ext_16 > 300' "a PUBLISH in a frame with the longer length, in and out"
must_show 10+ 'websocket.opcode == 2 && websocket.mask == 1' "clients mask their frames"
keep_recording
