#!/usr/bin/env bash
# Measures everything that has a target, one after the other; each part says what it is measured beside.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

echo "== Captures, beside tshark and tcpdump"
./captures.sh "$@"
echo "== Large brokers"
./fleet.sh
echo "== WebSocket, beside tshark and memcpy"
./websocket.sh "$@"
echo "== TLS, beside tshark"
./tls.sh
echo "== The SDK in virtual time"
./sdk.sh "$@"
echo "== Live reception, beside a bare loop of libmosquitto"
./live.sh "$@"
echo "== Live requests, beside the PyPI library websockets"
./roundtrips.sh "$@"
echo "== A proxy that records, beside socat"
./proxy.sh "$@"
echo "== A recorder of an interface, beside tcpdump"
./interface.sh "$@"
