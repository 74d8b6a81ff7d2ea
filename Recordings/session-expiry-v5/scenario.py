"""Clean Start 0 with a Session Expiry Interval: kept, resumed, then ended by DISCONNECT."""

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes

from record_lib import Device, properties

keep = properties(PacketTypes.CONNECT, SessionExpiryInterval=3600, ReceiveMaximum=2)

sensor = Device("sensor", paho.MQTTv5).connect()
display = Device("display", paho.MQTTv5, clean=False).connect(keep)
display.subscribe("room/#", qos=2)
display.disconnect()

for number in range(1, 5):
    expiry = properties(PacketTypes.PUBLISH, MessageExpiryInterval=600)
    sensor.publish(f"room/{number}", f"reading {number}", qos=1 + number % 2, properties=expiry)

# Four messages wait, but never more than two are under way: Receive Maximum.
display = Device("display", paho.MQTTv5, clean=False).connect(keep)
display.received(4)
display.logged(2, "Sending PUBACK")
display.logged(2, "Sending PUBCOMP")
display.disconnect(properties=properties(PacketTypes.DISCONNECT, SessionExpiryInterval=0))

# The session ended with the connection, so nothing is present and nothing is queued.
sensor.publish("room/5", "unheard", qos=1)
display = Device("display", paho.MQTTv5, clean=False).connect()
display.disconnect()
sensor.disconnect()
