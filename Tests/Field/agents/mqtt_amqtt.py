"""A client made of amqtt, which speaks 3.1.1 alone. It connects again by itself, twice, and ends when that fails."""

import asyncio
import sys

from amqtt.client import MQTTClient
from amqtt.errors import ClientError

import options


async def publish(given):
    client = MQTTClient()
    await client.connect(f"mqtt://{given.host}:{given.port}/")
    for text in options.messages(given):
        await client.publish(given.topic, text.encode(), qos=given.qos)
    await client.disconnect()


async def subscribe(given):
    client = MQTTClient()
    await client.connect(f"mqtt://{given.host}:{given.port}/")
    await client.subscribe([(given.topic, given.qos)])
    try:
        while True:
            message = await client.deliver_message()
            print(message.topic, message.data, flush=True)
    except ClientError as error:
        sys.exit(str(error))


given = options.of_mqtt(__doc__)
if given.version != "311":
    sys.exit("amqtt speaks MQTT 3.1.1 alone")
asyncio.run((publish if given.role == "publish" else subscribe)(given))
