#!/usr/bin/env bash
# ejabberd with its MQTT listener on a port of 127.0.0.1, in the foreground, with nothing of the machine's own configuration:
#   ejabberd.sh PORT
# shellcheck source=Tests/Field/server-lib.sh
. "$(dirname "$0")/server-lib.sh"
home=$(dirname "$(dpkg -L ejabberd 2>/dev/null | grep '/ebin/ejabberd\.app$')" 2>/dev/null || true)
[ -d "$home" ] || { echo "ejabberd.sh: apt-get install --no-install-recommends ejabberd" >&2; exit 2; }
cat >"$work/ejabberd.yml" <<END
hosts: [localhost]
loglevel: warning
auth_method: anonymous
anonymous_protocol: login_anon
allow_multiple_connections: true
certfiles: []
listen:
  - {port: $1, ip: "127.0.0.1", module: mod_mqtt}
modules:
  mod_mqtt: {}
END
mkdir "$work/mnesia"
# No node name, so that no other program of Erlang has to run, and several may.
HOME=$work ERL_LIBS=/usr/lib/x86_64-linux-gnu EJABBERD_CONFIG_PATH=$work/ejabberd.yml EJABBERD_LOG_PATH=$work/ejabberd.log \
  serve erl -noinput -mnesia dir "\"$work/mnesia\"" -s ejabberd
