"""A client made of mqttools, which speaks 5.0 and QoS 0 alone. It connects again behind a lost connection, while somebody listens."""

import asyncio
import sys

import mqttools

import options


async def publish(given):
    async with mqttools.Client(given.host, given.port) as client:
        for text in options.messages(given):
            client.publish(mqttools.Message(given.topic, text.encode()))


async def subscribe(given):
    # The loop of the library's own `mqttools subscribe`.
    client = mqttools.Client(given.host, given.port, subscriptions=[given.topic])
    while True:
        await client.start()
        while (message := await client.messages.get()) is not None:
            print(message.topic, message.message, flush=True)
        await client.stop()


given = options.of_mqtt(__doc__)
if given.version != "5":
    sys.exit("mqttools speaks MQTT 5.0 alone")
asyncio.run((publish if given.role == "publish" else subscribe)(given))
