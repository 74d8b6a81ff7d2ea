#!/usr/bin/env bash
# amqtt, or hbmqtt, from which it comes, on a port of 127.0.0.1, in the foreground, with the program in PATH:
#   amqtt.sh PORT [hbmqtt]
# shellcheck source=Tests/Field/server-lib.sh
. "$(dirname "$0")/server-lib.sh"
program=${2:-amqtt}
command -v "$program" >/dev/null || { echo "amqtt.sh: $program is missing; pip install $program" >&2; exit 2; }
# Where nobody is asked, hbmqtt grants nothing.
check='{enabled: false}'
[ "$program" = amqtt ] || check='{enabled: true, plugins: [topic_taboo]}'
cat >"$work/broker.yml" <<END
listeners:
  default: {type: tcp, bind: 127.0.0.1:$1}
auth: {allow-anonymous: true}
topic-check: $check
END
serve "$program" -c "$work/broker.yml"
