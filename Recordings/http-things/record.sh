#!/usr/bin/env bash
set -euo pipefail
# Captures of HTTP alone tell nothing to those who look for MQTT, so it is kept as a recording.
# shellcheck source=Recordings/record-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../record-lib.sh"

# shellcheck disable=SC2034 # read by record-lib.sh
{ broker=things decode_as=http; }

start_things() {
  python3 "$here/server.py" "$port" 2>"$broker_log" &
  broker_pid=$!
  await_lines "$broker_log" "$broker_pid" 1 'listens' || fail "the server does not start"
}

# ask ARG…: one run of curl, which keeps its connection for all URLs of it.
ask() { curl -sS -o "$work/answer" "$@"; }

(cd "$recordings/.." && swift build --quiet --product reprise)
reprise=$(cd "$recordings/.." && swift build --show-bin-path)/reprise

json='Content-Type: application/json'
start_recording
things=http://127.0.0.1:$port

# One connection for five requests: a list that comes packed, a thing, its head, the same once more, and chunks.
ask --compressed "$things/things" \
  --next -sS -o "$work/answer" "$things/things/lamp-1?ts=1700000000" \
  --next -sS -o "$work/answer" -I "$things/things/lamp-1" \
  --next -sS -o "$work/answer" -H 'If-None-Match: "1"' "$things/things/lamp-1" \
  --next -sS -o "$work/answer" "$things/firmware"

# A connection for each: a login, a new thing, the thing that was made, its end.
ask -d 'user=ada&password=lovelace' "$things/login"
ask -H "$json" -H 'Expect: 100-continue' -H 'Authorization: Bearer abc123def456' \
  -d '{"requestId":"r-17","name":"fan"}' "$things/things"
ask -H 'Connection: close' "$things/things/41"
ask -X DELETE "$things/things/41"
ask "$things/things/41"

# One that waits for what another one does.
ask "$things/changes" &
children+=($!)
waiting=$!
await_lines "$work/raw.pcap" "$tcpdump_pid" 1 'GET /changes' || fail "nobody waits for changes"
ask -X PUT -H "$json" -d '{"on":true}' "$things/things/lamp-1"
wait "$waiting"

# Two at once on one connection, and one that gets no answer.
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /things/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n' door '' lamp-1 $'Connection: close\r\n' >&3
timeout "$patience" cat <&3 >/dev/null || fail "no answer to two requests at once"
exec 3<&- 3>&-
ask "$things/hang-up" 2>/dev/null || [ $? -eq 52 ]
stop_recording

must_show 15 'http.request' "fifteen requests"
must_show 1 'http.response.code == 304' "nothing new"
must_show 1 'http.transfer_encoding == "chunked"' "chunks"
must_show 1 'http.content_encoding == "gzip"' "a packed list"
must_show 1 'http.response.code == 100' "leave to send a body"
(cd "$work" && "$reprise" convert capture.pcap --decode "$port=http" -o whole.jsonl)
"$reprise" redact "$work/whole.jsonl" -o "$work/session.jsonl"
chmod 644 "$work/session.jsonl"
mv -f "$work/session.jsonl" "$here/session.jsonl"
say "$(tcpdump -n -r "$work/capture.pcap" 2>/dev/null | wc -l) frames on port $port"
