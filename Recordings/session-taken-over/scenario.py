"""A second connection with the same client identifier: the broker closes the first."""

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes

from record_lib import Device, properties

for version in (paho.MQTTv311, paho.MQTTv5):
    keep = None
    if version == paho.MQTTv5:
        keep = properties(PacketTypes.CONNECT, SessionExpiryInterval=60)
    first = Device(f"twin-{version}", version, clean=False).connect(keep)
    first.subscribe("twin/#", qos=1)
    second = Device(f"twin-{version}", version, clean=False).connect(keep)
    first.closed()
    second.publish("twin/speaks", "still subscribed", qos=1)
    second.received(1)
    second.disconnect()
