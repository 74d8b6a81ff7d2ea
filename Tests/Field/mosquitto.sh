#!/usr/bin/env bash
# mosquitto on a port of 127.0.0.1, in the foreground: mosquitto.sh bounded|plugin PORT
# bounded takes less than it could: no QoS above 1, no retained messages, no packet of more than 2,000 bytes. plugin has
# clients of MQTT 5.0 authenticate by the method of Tests/LiveClientTests/Command/two-step.c; all others it lets in.
# shellcheck source=Tests/Field/server-lib.sh
. "$(dirname "$0")/server-lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
{
  echo "listener $2 127.0.0.1"
  echo "allow_anonymous true"
  # Root is another user by itself, who can't read what is in the folder.
  echo "user $(id -un)"
  case $1 in
  bounded) printf '%s\n' "max_qos 1" "retain_available false" "max_packet_size 2000" ;;
  plugin)
    cc -shared -fPIC -o "$work/two-step.so" "$here/../LiveClientTests/Command/two-step.c"
    echo "plugin $work/two-step.so"
    ;;
  *) exit 2 ;;
  esac
} >"$work/mosquitto.conf"
serve mosquitto -c "$work/mosquitto.conf"
