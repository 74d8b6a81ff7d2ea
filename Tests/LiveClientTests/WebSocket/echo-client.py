"""A client that sends back what a server sends, for tests.

    echo-client.py library URL [CA-FILE]
    echo-client.py again URL [CA-FILE]
    echo-client.py careless URL

The first is one of the library `websockets`, the second is the same again and again until it is refused; the third looks at
nothing that a server does wrong.
"""

import asyncio
import os
import socket
import ssl
import struct
import sys
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake


async def library(url, authority=None):
    context = {"ssl": ssl.create_default_context(cafile=authority)} if authority else {}
    async with connect(url, max_size=2**26, ping_interval=None, proxy=None, **context) as connection:
        try:
            async for message in connection:
                await connection.send(message)
        except ConnectionClosed:
            pass


def careless(url):
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.sendall((
            f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        stream = connection.makefile("rb")
        while stream.readline() not in (b"\r\n", b""):
            pass
        while head := stream.read(2):
            size = head[1] & 127
            if size == 126:
                size = struct.unpack("!H", stream.read(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", stream.read(8))[0]
            mask = stream.read(4) if head[1] & 128 else b"\0\0\0\0"
            data = bytes(byte ^ mask[place % 4] for place, byte in enumerate(stream.read(size)))
            opcode = head[0] & 15
            first = head[0] & 240 | (10 if opcode == 9 else opcode)
            if opcode == 10:
                continue
            key = os.urandom(4)
            length = bytes([128 | size]) if size < 126 else bytes([254]) + struct.pack("!H", size)
            connection.sendall(bytes([first]) + length + key + bytes(
                byte ^ key[place % 4] for place, byte in enumerate(data)))
            if opcode == 8:
                break


if sys.argv[1] == "library":
    asyncio.run(library(*sys.argv[2:]))
elif sys.argv[1] == "again":
    while True:
        try:
            asyncio.run(library(*sys.argv[2:]))
        except ConnectionRefusedError:
            break
        except (InvalidHandshake, OSError):
            pass
else:
    careless(sys.argv[2])
