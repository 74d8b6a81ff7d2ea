"""A client of the library `websockets` that tries a server which does what the path says, or answers requests.

    client.py SCENARIO URL [AUTHORITY]

/echo sends everything back as it came, /fragments?N in fragments of N bytes with a PING between them, /close?CODE
closes with that code at the first message, and /403 is refused. The scenario's result is printed as JSON; whatever
is not as it should be ends it with status 1.
"""

import asyncio
import json
import os
import ssl
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999]
TEXTS = ["", "\0", "\x7f\x80\u07ff\u0800\ud7ff\ue000\ufffd\uffff\U00010000\U0010ffff", "ä€x😀" * 20_000]


def opened(path, **options):
    tls = ssl.create_default_context(cafile=sys.argv[3]) if len(sys.argv) > 3 else None
    return connect(sys.argv[2] + path, ssl=tls, max_size=2**26, ping_interval=None, **options)


async def same(connection, message):
    await connection.send(message)
    answer = await connection.recv()
    assert answer == message, (type(message), len(message), type(answer), len(answer))


async def echo(compression):
    async with opened("/echo", compression=compression) as connection:
        extensions = connection.response.headers.get("Sec-WebSocket-Extensions")
        for text in TEXTS:
            await same(connection, text)
        for size in (0, 1, 125, 126, 127, 65535, 65536):
            await same(connection, os.urandom(size))
            await same(connection, "x" * size)
        # Sixteen megabytes that deflate can do something with, and not too much.
        await same(connection, os.urandom(65_536) * 256)
        # Messages that refer to the ones before them.
        for number in range(50):
            await same(connection, json.dumps({"number": number, "text": "the same again and again" * 4}))
    assert connection.close_code == 1000, connection.close_code
    return extensions


async def fragments(compression):
    async with opened("/echo", compression=compression) as connection:
        for size in (1, 3, 1000):
            text = "0123456789ä€😀" * 20
            data = text.encode()
            pongs = []

            async def pieces(whole):
                for start in range(0, len(whole), size):
                    pongs.append(await connection.ping(str(start)))
                    yield whole[start:start + size]

            # The library makes fragments of text of whole characters only, so bytes are cut everywhere.
            await connection.send(pieces(text))
            assert await connection.recv() == text
            await connection.send(pieces(data))
            assert await connection.recv() == data
            await asyncio.gather(*pongs)
    for size in (1, 3, 1000):
        async with opened(f"/fragments?{size}", compression=compression) as connection:
            await same(connection, "0123456789ä€😀" * 20)
            await same(connection, b"\x00\xff" * 300)


async def client_codes(_):
    for code in CODES:
        connection = await opened("/echo")
        await connection.close(code, f"because {code} ä")
        assert connection.close_code == code, (code, connection.close_code)
    return CODES


async def server_codes(_):
    told = []
    for code in CODES:
        async with opened(f"/close?{code}") as connection:
            await connection.send("now")
            try:
                await connection.recv()
            except ConnectionClosed as closed:
                assert closed.rcvd.reason == f"because {code} ä", closed
                told.append(closed.rcvd.code)
    assert told == CODES, told
    return told


async def handshake(_):
    try:
        async with opened("/403"):
            assert False, "not refused"
    except InvalidStatus as refused:
        assert refused.response.status_code == 403 and refused.response.body == b"Not for you."
        assert refused.response.headers["X-Reason"] == "test"
    seen = []
    for offered in (["one", "two"], ["mqtt", "two"], ["one"], None):
        async with opened("/echo", subprotocols=offered, additional_headers={"X-Test": "one two"}) as connection:
            seen.append(connection.subprotocol)
            await same(connection, "x")
    return seen


async def many(_):
    async def one(number):
        async with opened("/echo") as connection:
            for turn in range(20):
                await same(connection, f"{number} {turn}")
    await asyncio.gather(*(one(number) for number in range(30)))


async def requests(compression):
    """The server answers requests as the script of RequestServerTests says; the path means nothing to it."""
    text = "ä€x😀" * 5_000

    def request(service, number=2):
        content = json.dumps({"text": text})
        return json.dumps({"uniqueId": number, "service": service, "method": "POST", "content": content}, indent=2)

    async def answered(connection, service, number=2):
        await connection.send(request(service, number))
        answer = json.loads(await connection.recv())
        assert (answer["uniqueId"], answer["service"]) == (number, service), answer
        return answer

    async with opened("/requests", compression=compression) as connection, opened("/other") as other:
        assert json.loads((await answered(connection, "any"))["content"]) == {"text": text}
        assert json.loads((await answered(other, "any", 3))["content"]) == {"text": text}
        assert (await answered(connection, "object", 4))["content"] == {"text": text}
        first = await answered(connection, "twice", 5)
        assert json.loads(await connection.recv()) == first
        await answered(connection, "push", 6)
        assert await connection.recv() == "hello"
        await connection.send(request("broken", 7))
        try:
            json.loads(await connection.recv())
            assert False, "not broken"
        except json.JSONDecodeError:
            pass
        await connection.send(request("bytes", 8))
        assert json.loads((await connection.recv()).decode())["uniqueId"] == 8
        await connection.send('{"service":"system/heart-beat","uniqueId":9,"method":"POST"}')
        assert json.loads(await connection.recv())["uniqueId"] == 9
    told = {}
    for service in ("close", "drop"):
        async with opened("/", compression=compression) as connection:
            await connection.send(request(service))
            try:
                await connection.recv()
            except ConnectionClosed as closed:
                told[service] = closed.rcvd.code if closed.rcvd else 1006
    return told


name, _, compression = sys.argv[1].partition(":")
result = asyncio.run(globals()[name](compression or None))
print(json.dumps(result))
