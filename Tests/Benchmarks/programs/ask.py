"""What `roundtrips ask` does, with the library `websockets`: ask.py URL COUNT."""

import asyncio
import sys
import time

from websockets.asyncio.client import connect


async def main(url, count):
    async with connect(url, compression=None, ping_interval=None) as connection:
        start = 0
        for number in range(-1_000, count):
            if number == 0:
                start = time.perf_counter()
            request = f'{{"id":{number},"service":"analysis","text":"a request of about eighty bytes"}}'
            await connection.send(request)
            assert await connection.recv() == request
        print(time.perf_counter() - start)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
