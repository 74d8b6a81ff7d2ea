#!/usr/bin/env bash
# amqtt on a port of 127.0.0.1, in the foreground: amqtt.sh PORT, with amqtt in PATH
set -euo pipefail
command -v amqtt >/dev/null || { echo "amqtt.sh: amqtt is missing; pip install amqtt" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill "$server" 2>/dev/null; exit 143' TERM INT
cat >"$work/amqtt.yml" <<END
listeners:
  default: {type: tcp, bind: 127.0.0.1:$1}
auth: {allow-anonymous: true}
topic-check: {enabled: false}
END
amqtt -c "$work/amqtt.yml" >/dev/null 2>&1 &
server=$!
wait "$server"
