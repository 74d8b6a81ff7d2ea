"""A client made of Adafruit's MiniMQTT, which speaks 3.1.1 alone and QoS 0 and 1. It connects again, while somebody listens."""

import socket
import sys

import adafruit_minimqtt.adafruit_minimqtt as minimqtt

import options


def publish(client, given):
    client.connect()
    for text in options.messages(given):
        client.publish(given.topic, text, qos=given.qos)
    client.disconnect()


def subscribe(client, given):
    client.on_connect = lambda client, userdata, flags, rc: client.subscribe(given.topic, given.qos)
    client.on_message = lambda client, topic, message: print(topic, message, flush=True)
    client.connect()
    while True:
        try:
            client.loop(1)
        except (OSError, minimqtt.MMQTTException) as error:
            print(error, flush=True)
            client.reconnect()


given = options.of_mqtt(__doc__)
if given.version != "311":
    sys.exit("MiniMQTT speaks MQTT 3.1.1 alone")
client = minimqtt.MQTT(broker=given.host, port=given.port, socket_pool=socket)
(publish if given.role == "publish" else subscribe)(client, given)
