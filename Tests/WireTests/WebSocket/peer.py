"""Another implementation's side of WebSocket, for tests that compare it with ours.

peer.py write SEED   prints sessions: bytes as wsproto writes them, and what they say
peer.py read         reads such lines from standard input, with our bytes in them, and prints what
                     wsproto makes of them
"""

import json
import random
import sys

from wsproto.connection import Connection, ConnectionType
from wsproto.events import (
    BytesMessage, CloseConnection, Message, Ping, Pong, TextMessage)
from wsproto.extensions import PerMessageDeflate
from wsproto.utilities import RemoteProtocolError

OFFERS = [
    None, "permessage-deflate",
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
    "permessage-deflate; server_max_window_bits=9; client_max_window_bits=10",
]


def connection(role, offer):
    extensions = []
    if offer is not None:
        deflate = PerMessageDeflate()
        # wsproto takes what was agreed on from the offer and the answer of the other side.
        if role == "client":
            deflate.offer()
            deflate.finalize(offer)
        else:
            deflate.accept(offer)
        extensions.append(deflate)
    kind = ConnectionType.CLIENT if role == "client" else ConnectionType.SERVER
    return Connection(kind, extensions)


def text(rng):
    words = ["alpha", "grüße", "{\"a\":1}", "\U0001F600", "", "x" * rng.randrange(400)]
    return " ".join(rng.choice(words) for _ in range(rng.randrange(12)))


def write(seed):
    rng = random.Random(seed)
    for offer in OFFERS:
        for role in ["client", "server"]:
            peer = connection(role, offer)
            wire, said = b"", []
            for _ in range(rng.randrange(1, 25)):
                kind = rng.randrange(4)
                if kind == 0:
                    payload = rng.randbytes(rng.randrange(126))
                    wire += peer.send(Ping(payload=payload))
                    said.append(["ping", payload.hex()])
                elif kind == 1:
                    payload = rng.randbytes(rng.choice([0, 1, 125, 126, 200, 66000]))
                    wire += peer.send(BytesMessage(data=payload))
                    said.append(["binary", payload.hex()])
                else:
                    parts = [text(rng) for _ in range(rng.randrange(1, 4))]
                    for index, part in enumerate(parts):
                        last = index + 1 == len(parts)
                        wire += peer.send(TextMessage(data=part, message_finished=last))
                    said.append(["text", "".join(parts).encode().hex()])
            wire += peer.send(CloseConnection(code=1001, reason="fertig ✓"))
            said.append(["close", "1001", "fertig ✓".encode().hex()])
            print(json.dumps({"role": role, "offer": offer, "bytes": wire.hex(), "said": said}))


def read_one(session):
    # What a client sent, a server reads.
    peer = connection("server" if session["role"] == "client" else "client", session.get("offer"))
    said, open_message = [], None
    try:
        peer.receive_data(bytes.fromhex(session["bytes"]))
        for event in peer.events():
            if isinstance(event, Message):
                data = event.data.encode() if isinstance(event.data, str) else bytes(event.data)
                open_message = (open_message or b"") + data
                if event.message_finished:
                    kind = "text" if isinstance(event, TextMessage) else "binary"
                    said.append([kind, open_message.hex()])
                    open_message = None
            elif isinstance(event, (Ping, Pong)):
                kind = "ping" if isinstance(event, Ping) else "pong"
                said.append([kind, bytes(event.payload).hex()])
            elif isinstance(event, CloseConnection):
                # What it can't take it tells as a Close of its own; the sessions end with 1000.
                reason = (event.reason or "").encode().hex()
                closes = int(event.code) == 1000
                said.append(["close", "1000", reason] if closes else ["refused"])
                break
    except RemoteProtocolError:
        said.append(["refused"])
    return said


if sys.argv[1] == "write":
    write(int(sys.argv[2]))
else:
    for line in sys.stdin:
        print(json.dumps(read_one(json.loads(line))), flush=True)
