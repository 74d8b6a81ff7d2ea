"""A peer made of aiohttp."""

import asyncio

import aiohttp
from aiohttp import web

import options


async def echo(websocket):
    async for message in websocket:
        if message.type == aiohttp.WSMsgType.TEXT:
            await websocket.send_str(message.data)
        elif message.type == aiohttp.WSMsgType.BINARY:
            await websocket.send_bytes(message.data)


async def handler(request):
    websocket = web.WebSocketResponse()
    await websocket.prepare(request)
    await echo(websocket)
    return websocket


async def connected(given):
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(given.url) as websocket:
            await echo(websocket)


given = options.of_websocket(__doc__)
if given.role == "serve":
    application = web.Application()
    application.router.add_get("/{path:.*}", handler)
    web.run_app(application, host=given.host, port=given.port, print=None)
else:
    asyncio.run(connected(given))
