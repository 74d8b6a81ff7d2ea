"""A server of the library `websockets` for tests: what it does depends on the path.

    server.py [CERTIFICATE KEY]

It prints its port as soon as it listens. /echo sends everything back as it came. /fragments?N sends it back in fragments of N bytes, with a PING between them.
/close?CODE closes with that code at the first message. /push?N sends N texts of 1,000 bytes and then echoes.
/bomb?N sends one message of N zeros. /mute echoes and answers no PING. /headers sends the request's header fields.
Any other path is refused with the status in it, such as /403.
"""

import asyncio
import json
import ssl
import sys

from websockets.asyncio.server import serve
from websockets.http11 import Response
from websockets.datastructures import Headers


async def handle(connection):
    path, _, query = connection.request.path.partition("?")
    number = int(query or 0)
    if path == "/push":
        for index in range(number):
            await connection.send(f"{index:08d}" + "x" * 992)
    if path == "/bomb":
        await connection.send(b"\0" * number)
    if path == "/headers":
        await connection.send(json.dumps({
            "subprotocol": connection.subprotocol, "extensions": connection.response.headers.get("Sec-WebSocket-Extensions"),
            **{name.lower(): value for name, value in connection.request.headers.raw_items()}}))
    async for message in connection:
        if path == "/fragments":
            async def fragments():
                for start in range(0, len(message), number):
                    await connection.ping()
                    yield message[start:start + number]
            await connection.send(fragments())
        elif path == "/close":
            await connection.close(number, "as asked")
        else:
            await connection.send(message)


async def refuse(connection, request):
    name = request.path.partition("?")[0][1:]
    if name.isdigit():
        return Response(int(name), "No", Headers({"Connection": "close"}), b"")


async def main():
    tls = None
    if len(sys.argv) > 1:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[1], sys.argv[2])
    server = await serve(
        handle, "127.0.0.1", 0, ssl=tls, process_request=refuse, max_size=2**26, ping_interval=None,
        select_subprotocol=lambda _, offered: next((name for name in offered if name in ("two", "mqtt")), None))
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
