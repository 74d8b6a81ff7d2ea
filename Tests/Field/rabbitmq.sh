#!/usr/bin/env bash
# RabbitMQ with its MQTT plugin on a port of 127.0.0.1, in the foreground, with nothing of the machine's own configuration:
#   rabbitmq.sh PORT
# shellcheck source=Tests/Field/server-lib.sh
. "$(dirname "$0")/server-lib.sh"
port=$1
program=/usr/lib/rabbitmq/bin/rabbitmq-server
[ -x "$program" ] || { echo "rabbitmq.sh: apt-get install --no-install-recommends rabbitmq-server" >&2; exit 2; }
# It leaves the daemon that it has started.
at_end epmd -kill
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Its nodes find each other by a daemon, which is one of its own here.
ERL_EPMD_PORT=$(free)
export ERL_EPMD_PORT
printf '%s\n' "listeners.tcp = none" "mqtt.listeners.tcp.1 = 127.0.0.1:$port" >"$work/rabbitmq.conf"
printf '[rabbitmq_mqtt].\n' >"$work/plugins"
ERL_CRASH_DUMP_SECONDS=0 HOME=$work RABBITMQ_NODENAME=field$port@localhost RABBITMQ_DIST_PORT=$(free) \
  RABBITMQ_CONFIG_FILE=$work/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=$work/plugins \
  RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_MNESIA_BASE=$work/mnesia RABBITMQ_LOG_BASE=$work/log \
  RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}' \
  serve "$program"
