"""What MQTT 5.0 adds to a subscription: shares, identifiers, and the three options."""

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.subscribeoptions import SubscribeOptions

from record_lib import Device, properties


def identifier(number):
    return properties(PacketTypes.SUBSCRIBE, SubscriptionIdentifier=number)


source = Device("source", paho.MQTTv5).connect()
source.publish("state/door", "open", qos=1, retain=True)

# A group of three shares the work.
workers = [Device(f"worker-{n}", paho.MQTTv5).connect() for n in (1, 2, 3)]
for worker in workers:
    worker.subscribe("$share/pool/work/#", qos=1)
for number in range(9):
    source.publish(f"work/{number}", f"job {number}", qos=1)
source.wait("all jobs done", lambda: sum(len(worker.messages) for worker in workers) == 9)

# Its own words are not for it (No Local); identifiers say by which filter a message came.
chatter = Device("chatter", paho.MQTTv5).connect()
chatter.subscribe([("chat/#", SubscribeOptions(qos=1, noLocal=True))], properties=identifier(10))
chatter.subscribe([("chat/+/news", SubscribeOptions(qos=1))], properties=identifier(300))
chatter.publish("chat/room", "do I hear myself?", qos=1)
source.publish("chat/room", "no, but you hear me", qos=1)
chatter.received(1)

# Retained messages: as published; only for a new subscription; never.
for handling in (0, 1, 2):
    options = SubscribeOptions(qos=1, retainAsPublished=True, retainHandling=handling)
    chatter.subscribe([("state/door", options)])
source.publish("state/door", "shut", qos=1, retain=True)
chatter.received(3)

for device in (*workers, chatter, source):
    device.disconnect()
