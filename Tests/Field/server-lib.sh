# Shared by the scripts that run a server in the foreground: a folder of its own, and an orderly end.
# shellcheck shell=bash
#
#   $work               a folder that is removed at the end
#   serve COMMAND…      runs the server without a word, until it or the script ends
#   at_end COMMAND…     what is done besides, when the server has ended

set -euo pipefail
work=$(mktemp -d)
server=
at_end=(true)

end() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  "${at_end[@]}" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap end EXIT
trap 'exit 143' TERM INT

at_end() { at_end=("$@"); }

serve() {
  "$@" >/dev/null 2>&1 &
  server=$!
  wait "$server"
}
