#!/usr/bin/env bash
# amqtt, or hbmqtt, from which it comes, on a port of 127.0.0.1, in the foreground, with the program in PATH:
#   amqtt.sh PORT [hbmqtt]
set -euo pipefail
program=${2:-amqtt}
command -v "$program" >/dev/null || { echo "amqtt.sh: $program is missing; pip install $program" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill "$server" 2>/dev/null; exit 143' TERM INT
# Where nobody is asked, hbmqtt grants nothing.
check='{enabled: false}'
[ "$program" = amqtt ] || check='{enabled: true, plugins: [topic_taboo]}'
cat >"$work/broker.yml" <<END
listeners:
  default: {type: tcp, bind: 127.0.0.1:$1}
auth: {allow-anonymous: true}
topic-check: $check
END
"$program" -c "$work/broker.yml" >/dev/null 2>&1 &
server=$!
wait "$server"
