"""A client made of gmqtt. It connects again by itself, for ever."""

import asyncio

import gmqtt
from gmqtt.mqtt.constants import MQTTv50, MQTTv311
from gmqtt.storage import PersistentStorage

import options


async def publish(given, version):
    # The library keeps a message in its storage until that is acknowledged, and this is the one place to wait for it.
    storage = PersistentStorage()
    client = gmqtt.Client("", persistent_storage=storage)
    await client.connect(given.host, given.port, version=version)
    for text in options.messages(given):
        client.publish(given.topic, text, qos=given.qos)
        await storage.wait_empty()
    await client.disconnect()


def received(client, topic, payload, qos, properties):
    print(topic, payload, flush=True)
    return 0


async def subscribe(given, version):
    client = gmqtt.Client("")
    client.on_connect = lambda client, flags, rc, properties: client.subscribe(given.topic, qos=given.qos)
    client.on_message = received
    await client.connect(given.host, given.port, version=version)
    await asyncio.Event().wait()


given = options.of_mqtt(__doc__)
version = MQTTv50 if given.version == "5" else MQTTv311
asyncio.run((publish if given.role == "publish" else subscribe)(given, version))
