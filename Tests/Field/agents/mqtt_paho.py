"""A client made of paho-mqtt. It connects again by itself, for ever."""

import paho.mqtt.client as mqtt

import options


def publish(client, given):
    client.connect(given.host, given.port)
    client.loop_start()
    for text in options.messages(given):
        client.publish(given.topic, text, qos=given.qos).wait_for_publish()
    client.disconnect()
    client.loop_stop()


def subscribe(client, given):
    # In on_connect, so that it is done again behind a connection that was lost.
    client.on_connect = lambda client, userdata, flags, reason_code, properties: client.subscribe(given.topic, given.qos)
    client.on_message = lambda client, userdata, message: print(message.topic, message.payload, flush=True)
    client.connect(given.host, given.port)
    client.loop_forever()


given = options.of_mqtt(__doc__)
protocol = mqtt.MQTTv5 if given.version == "5" else mqtt.MQTTv311
client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=protocol)
(publish if given.role == "publish" else subscribe)(client, given)
