"""A peer made of picows, by its interface that is like that of websockets."""

import asyncio

from picows.websockets.asyncio.client import connect
from picows.websockets.asyncio.server import serve

import options


async def echo(websocket):
    async for message in websocket:
        await websocket.send(message)


async def served(given):
    async with serve(echo, given.host, given.port) as server:
        await server.serve_forever()


async def connected(given):
    async with connect(given.url) as websocket:
        await echo(websocket)


given = options.of_websocket(__doc__)
asyncio.run((served if given.role == "serve" else connected)(given))
