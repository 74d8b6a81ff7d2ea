"""A client made of aiomqtt. It connects again as the library's documentation shows it, while somebody listens."""

import asyncio

import aiomqtt

import options


def client(given):
    protocol = aiomqtt.ProtocolVersion.V5 if given.version == "5" else aiomqtt.ProtocolVersion.V311
    return aiomqtt.Client(given.host, given.port, protocol=protocol)


async def publish(given):
    async with client(given) as connected:
        for text in options.messages(given):
            await connected.publish(given.topic, text, qos=given.qos)


async def subscribe(given):
    once = False
    while True:
        try:
            async with client(given) as connected:
                once = True
                await connected.subscribe(given.topic, qos=given.qos)
                async for message in connected.messages:
                    print(message.topic, message.payload, flush=True)
        except aiomqtt.MqttError as error:
            if not once:
                raise
            print(error, flush=True)
            once = False
            await asyncio.sleep(1)


given = options.of_mqtt(__doc__)
asyncio.run((publish if given.role == "publish" else subscribe)(given))
