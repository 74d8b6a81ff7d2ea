"""A peer made of tornado."""

import asyncio

import tornado.web
import tornado.websocket

import options


class Echo(tornado.websocket.WebSocketHandler):
    async def on_message(self, message):
        await self.write_message(message, binary=isinstance(message, bytes))


async def served(given):
    tornado.web.Application([("/.*", Echo)]).listen(given.port, given.host)
    await asyncio.Event().wait()


async def connected(given):
    websocket = await tornado.websocket.websocket_connect(given.url)
    while (message := await websocket.read_message()) is not None:
        await websocket.write_message(message, binary=isinstance(message, bytes))


given = options.of_websocket(__doc__)
asyncio.run((served if given.role == "serve" else connected)(given))
