"""A peer made of wsproto, which has the protocol and leaves the socket to its user."""

import socket
import threading
from urllib.parse import urlsplit

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Ping,
    RejectConnection,
    Request,
    TextMessage,
)
from wsproto.utilities import RemoteProtocolError

import options

RECEIVED = 65536


def answers(event, parts):
    """What is sent upon an event, and in `parts` what has come of a message."""
    if isinstance(event, Request):
        yield AcceptConnection()
    elif isinstance(event, (CloseConnection, Ping)):
        yield event.response()
    elif isinstance(event, (TextMessage, BytesMessage)):
        parts.append(event.data)
        if event.message_finished:
            whole = parts[0][:0].join(parts)
            parts.clear()
            yield type(event)(data=whole)


def talk(peer, websocket):
    """Answers until the other one has closed or gone, or has broken the protocol."""
    parts, over = [], False
    while not over and (data := peer.recv(RECEIVED)):
        try:
            websocket.receive_data(data)
            for event in websocket.events():
                over = over or isinstance(event, (CloseConnection, RejectConnection))
                for answer in answers(event, parts):
                    peer.sendall(websocket.send(answer))
        except RemoteProtocolError as error:
            # The library says by `event_hint` what is the answer to what it could not take.
            if error.event_hint is not None:
                peer.sendall(websocket.send(error.event_hint))
            over = True


def drain(peer):
    """Reads what still comes, until the other one closes too (RFC 6455, section 7.1.1)."""
    peer.settimeout(5)
    try:
        while peer.recv(RECEIVED):
            pass
    except OSError:
        pass


def accepted(peer):
    with peer:
        talk(peer, WSConnection(ConnectionType.SERVER))
        # It is the server that ends the connection of TCP.
        peer.shutdown(socket.SHUT_WR)
        drain(peer)


def serve(given):
    with socket.create_server((given.host, given.port)) as server:
        while True:
            peer, _ = server.accept()
            threading.Thread(target=accepted, args=[peer], daemon=True).start()


def connect(given):
    url = urlsplit(given.url)
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    with socket.create_connection((url.hostname, url.port or 80)) as peer:
        websocket = WSConnection(ConnectionType.CLIENT)
        peer.sendall(websocket.send(Request(host=url.netloc, target=target)))
        talk(peer, websocket)
        drain(peer)


given = options.of_websocket(__doc__)
(serve if given.role == "serve" else connect)(given)
