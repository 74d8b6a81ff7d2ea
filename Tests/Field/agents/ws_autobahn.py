"""A peer made of autobahn, on asyncio."""

import asyncio
from urllib.parse import urlsplit

from autobahn.asyncio.websocket import (
    WebSocketClientFactory,
    WebSocketClientProtocol,
    WebSocketServerFactory,
    WebSocketServerProtocol,
)

import options


class Server(WebSocketServerProtocol):
    def onMessage(self, payload, isBinary):
        self.sendMessage(payload, isBinary)


class Client(WebSocketClientProtocol):
    def onMessage(self, payload, isBinary):
        self.sendMessage(payload, isBinary)

    def onClose(self, wasClean, code, reason):
        self.factory.closed.set()


async def served(given):
    factory = WebSocketServerFactory()
    factory.protocol = Server
    server = await asyncio.get_running_loop().create_server(factory, given.host, given.port)
    await server.serve_forever()


async def connected(given):
    url = urlsplit(given.url)
    factory = WebSocketClientFactory(given.url)
    factory.protocol = Client
    factory.closed = asyncio.Event()
    await asyncio.get_running_loop().create_connection(factory, url.hostname, url.port)
    await factory.closed.wait()


given = options.of_websocket(__doc__)
asyncio.run((served if given.role == "serve" else connected)(given))
