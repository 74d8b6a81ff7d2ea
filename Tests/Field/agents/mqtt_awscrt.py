"""A client made of the runtime of AWS, which is written in C. It connects again by itself, for ever.

It refuses to publish by QoS 2, and in 5.0 to ask for it: it is then used by QoS 1.
"""

import threading
import uuid

from awscrt import mqtt, mqtt5

import options


def publish_by_311(given):
    connection = mqtt.Connection(mqtt.Client(), given.host, given.port, f"reprise-{uuid.uuid4()}")
    connection.connect().result()
    for text in options.messages(given):
        acknowledged, _ = connection.publish(given.topic, text, mqtt.QoS(given.qos))
        acknowledged.result()
    connection.disconnect().result()


def resumed(connection, return_code, session_present, **more):
    if return_code == mqtt.ConnectReturnCode.ACCEPTED and not session_present:
        connection.resubscribe_existing_topics()


def subscribe_by_311(given):
    connection = mqtt.Connection(
        mqtt.Client(), given.host, given.port, f"reprise-{uuid.uuid4()}", on_connection_resumed=resumed
    )
    connection.connect().result()
    received = lambda topic, payload, **more: print(topic, payload, flush=True)
    subscribed, _ = connection.subscribe(given.topic, mqtt.QoS(given.qos), received)
    subscribed.result()
    threading.Event().wait()


def options_of_5(given, **more):
    connect = mqtt5.ConnectPacket(client_id=f"reprise-{uuid.uuid4()}")
    return mqtt5.ClientOptions(given.host, given.port, connect_options=connect, **more)


def publish_by_5(given):
    connected, stopped = threading.Event(), threading.Event()
    client = mqtt5.Client(
        options_of_5(
            given,
            on_lifecycle_event_connection_success_fn=lambda data: connected.set(),
            on_lifecycle_event_stopped_fn=lambda data: stopped.set(),
        )
    )
    client.start()
    connected.wait()
    for text in options.messages(given):
        client.publish(mqtt5.PublishPacket(text, mqtt5.QoS(given.qos), topic=given.topic)).result()
    client.stop(mqtt5.DisconnectPacket())
    stopped.wait()


def subscribe_by_5(given):
    # When it has connected, so that it is done again behind a connection that was lost.
    wanted = mqtt5.SubscribePacket([mqtt5.Subscription(given.topic, mqtt5.QoS(given.qos))])
    client = mqtt5.Client(
        options_of_5(
            given,
            on_lifecycle_event_connection_success_fn=lambda data: client.subscribe(wanted),
            on_publish_callback_fn=lambda data: print(data.publish_packet.topic, data.publish_packet.payload, flush=True),
        )
    )
    client.start()
    threading.Event().wait()


given = options.of_mqtt(__doc__)
if given.role == "publish" or given.version == "5":
    given.qos = min(given.qos, 1)
if given.version == "5":
    (publish_by_5 if given.role == "publish" else subscribe_by_5)(given)
else:
    (publish_by_311 if given.role == "publish" else subscribe_by_311)(given)
