# Shared by every Recordings/*/record.sh: a broker of our own, a capture of its port, and an orderly end.
# shellcheck shell=bash
#
#   broker_options=(LINE…)       what the broker's configuration needs besides, if anything
#   listen_on=lo                 how this listener wants to be told the loopback interface, if not by address
#   decode_as=http               what tshark has to take the port for, if not for MQTT
#   captured='tcp'               what is captured beside the broker's port, in tcpdump's language, if anything
#   broker=rabbitmq              the broker, if not mosquitto
#   start_recording              broker and tcpdump, both ready
#   publish ARG…  subscribe …    mosquitto_pub and mosquitto_sub against that broker
#   kill_abruptly NAME           kills a subscriber, so that it cannot say DISCONNECT
#   scenario                     runs scenario.py, which stands beside record.sh, with paho-mqtt
#   await_log COUNT TEXT         until the broker's log holds TEXT in COUNT lines
#   stop_recording               until every connection is closed and on disk
#   stop_capture                 the same, but for the check that nothing is lost: the capture is $work/raw.pcap
#   must_show COUNT FILTER WHAT  a display filter of tshark that has to match so many frames ("N" or "N+")
#   keep_recording               puts the capture in its place; nothing is overwritten before
#
# Nothing here waits for a span of time: each wait looks for a fact, and gives up after `patience` seconds.

readonly paho_version=2.1.0
readonly patience=30

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
recordings=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here recordings
readonly venv="$recordings/../.build/venv"
work=$(mktemp -d)
readonly work
broker_log="$work/broker.log"
port=
broker_pid=
tcpdump_pid=
broker_options=("allow_anonymous true")
listen_on=127.0.0.1
decode_as=mqtt
captured=
broker=mosquitto
children=()

say() { printf '%s: %s\n' "${here##*/}" "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

end_all() {
  local status=$? pid
  trap - EXIT
  set +e # what follows is done in any case, though nobody may read the messages
  for pid in "${children[@]}" "$tcpdump_pid" "$broker_pid"; do
    if [ -n "$pid" ] && kill -CONT "$pid" 2>/dev/null; then
      kill "$pid" 2>/dev/null || true
      wait "$pid" 2>/dev/null || true
    fi
  done
  if [ "$status" -ne 0 ] && [ -s "$broker_log" ]; then
    say "the broker's last words:"
    tail -n 15 "$broker_log" >&2
  fi
  rm -rf "$work"
  exit "$status"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# await_lines FILE PID COUNT TEXT: until TEXT stands in COUNT lines of a file that a process writes; `tail` hears from
# the system when there is more. False after `patience` seconds and when the process has ended.
await_lines() {
  grep -a -m "$3" -F -- "$4" >/dev/null < <(exec timeout "$patience" tail -c +1 -F --pid="$2" "$1" 2>/dev/null) || true
  [ "$(grep -a -cF -- "$4" "$1")" -ge "$3" ]
}

need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || fail "$command is missing; 'make setup' installs it"
  done
}

start_recording() {
  PATH=$PATH:/usr/sbin:/sbin
  need mosquitto mosquitto_pub mosquitto_sub tcpdump tshark python3
  port=$(free_port)

  tcpdump -i lo -U -s 0 -B 16384 -Z "$(id -un)" -w "$work/raw.pcap" \
    "((tcp or udp) and port $port)${captured:+ or ($captured)}" 2>"$work/tcpdump.log" &
  tcpdump_pid=$!
  await_lines "$work/tcpdump.log" "$tcpdump_pid" 1 'listening on' \
    || fail "tcpdump: $(tail -n 1 "$work/tcpdump.log") (capturing takes root or CAP_NET_RAW)"

  "start_$broker"
  say "broker and capture on port $port"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_mosquitto() {
  {
    printf '%s\n' "per_listener_settings false" "persistence false" "user $(id -un)" \
      "log_dest stderr" "log_type all" "log_timestamp false" "set_tcp_nodelay true"
    printf '%s\n' "listener $port $listen_on" "${broker_options[@]}"
  } >"$work/broker.conf"
  mosquitto -c "$work/broker.conf" 2>"$broker_log" &
  broker_pid=$!
  await_lines "$broker_log" "$broker_pid" 1 ' running' || fail "the broker does not start"
}

# All that it writes lies below $work, and no other node is asked for: neither a service nor a port mapper takes part.
start_rabbitmq() {
  local program=/usr/lib/rabbitmq/bin/rabbitmq-server
  [ -x "$program" ] || fail "$program is missing; 'apt-get install --no-install-recommends rabbitmq-server' has it"
  printf '%s\n' "listeners.tcp = none" "mqtt.listeners.tcp.1 = 127.0.0.1:$port" "log.console = true" \
    "log.console.level = info" "log.file = false" >"$work/rabbitmq.conf"
  printf '[rabbitmq_mqtt].\n' >"$work/plugins"
  HOME=$work RABBITMQ_NODENAME=recording@localhost RABBITMQ_DIST_PORT=$(free_port) \
    RABBITMQ_CONFIG_FILE=$work/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=$work/plugins \
    RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_MNESIA_BASE=$work/mnesia RABBITMQ_LOG_BASE=$work/log \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}' \
    "$program" >"$broker_log" 2>&1 &
  broker_pid=$!
  # Alone it takes ten seconds, so that a busy machine needs more than one span of patience.
  await_lines "$broker_log" "$broker_pid" 1 'Server startup complete' \
    || await_lines "$broker_log" "$broker_pid" 1 'Server startup complete' || fail "the broker does not start"
}

# sockets: the states of all TCP sockets of our port, one a line, as the kernel numbers them.
sockets() {
  local hex
  hex=$(printf '%04X' "$port")
  awk -v port=":$hex" 'index($2, port) || index($3, port) { print $4 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null || true
}

# Listening and TIME_WAIT are the only states of an orderly end. The kernel tells nobody of a change in its table, so it
# is read again and again.
await_all_closed() {
  local limit=$((SECONDS + patience))
  while sockets | grep -qvx -e 0A -e 06; do
    [ "$SECONDS" -lt "$limit" ] || fail "waited ${patience} s in vain: every connection closed"
    sleep 0.02
  done
}

publish() { mosquitto_pub -h 127.0.0.1 -p "$port" "$@"; }

# subscribe NAME ARG…: in the background; NAME is its client id and the name of its output in $work.
subscribe() {
  local name=$1
  shift
  mosquitto_sub -h 127.0.0.1 -p "$port" -i "$name" "$@" >"$work/$name.out" 2>&1 &
  children+=($!)
  printf -v "pid_${name//-/_}" '%s' "$!"
}

# kill_abruptly NAME: the client is gone without a word; only its kernel still closes the socket.
kill_abruptly() {
  local pid="pid_${1//-/_}"
  kill -KILL "${!pid}"
  wait "${!pid}" 2>/dev/null || true
}

await_log() {
  await_lines "$broker_log" "$broker_pid" "$1" "$2" || fail "waited in vain: $1 x '$2' in the broker's log"
}

scenario() {
  if ! "$venv/bin/python" -c \
    'import sys; from importlib.metadata import version; sys.exit(version("paho-mqtt") != sys.argv[1])' \
    "$paho_version" 2>/dev/null; then
    say "installing paho-mqtt $paho_version in .build/venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "paho-mqtt==$paho_version"
  fi
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$recordings" BROKER_PORT=$port BROKER_PID=$broker_pid \
    timeout 120 "$venv/bin/python" "$here/scenario.py" || fail "scenario.py failed"
}

# A datagram to the same port is the last thing captured: once it is on disk, so is all before it.
stop_capture() {
  local marker="the end of $work"
  await_all_closed
  printf '%s\n' "$marker" >"/dev/udp/127.0.0.1/$port"
  await_lines "$work/raw.pcap" "$tcpdump_pid" 1 "$marker" || fail "the capture is not on disk"
  kill -INT "$tcpdump_pid"
  wait "$tcpdump_pid" || fail "tcpdump: $(tail -n 1 "$work/tcpdump.log")"
  tcpdump_pid=
  grep -q '^0 packets dropped by kernel' "$work/tcpdump.log" || fail "the kernel dropped packets"
  kill "$broker_pid"
  wait "$broker_pid" || true
  broker_pid=
}

stop_recording() {
  stop_capture
  tcpdump -Z "$(id -un)" -r "$work/raw.pcap" -w "$work/capture.pcap" tcp 2>/dev/null
  must_show 0 '_ws.malformed || tcp.analysis.lost_segment' "nothing malformed or lost"
}

must_show() {
  local wanted=$1 filter=$2 what=$3 seen
  seen=$(tshark -n -r "$work/capture.pcap" -d "tcp.port==$port,$decode_as" -Y "$filter" 2>"$work/tshark.log" | wc -l) \
    || fail "tshark: $(tail -n 1 "$work/tshark.log")"
  case $wanted in
    *+) [ "$seen" -ge "${wanted%+}" ] ;;
    *) [ "$seen" -eq "$wanted" ] ;;
  esac || {
    cp "$work/capture.pcap" "${TMPDIR:-/tmp}/rejected-${here##*/}.pcap"
    fail "not recorded: $what ($wanted frames wanted, $seen seen; see ${TMPDIR:-/tmp}/rejected-${here##*/}.pcap)"
  }
}

keep_recording() {
  chmod 644 "$work/capture.pcap"
  mv -f "$work/capture.pcap" "$here/capture.pcap"
  say "$(tcpdump -n -r "$here/capture.pcap" 2>/dev/null | wc -l) frames on port $port"
}
