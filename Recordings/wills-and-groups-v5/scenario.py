"""Wills that wait, a will that is asked for, retained messages seen by two, a shared group, a takeover."""

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from record_lib import Device, poll, properties

keep = properties(PacketTypes.CONNECT, SessionExpiryInterval=60)

watcher = Device("watcher", paho.MQTTv5).connect()
watcher.subscribe([("status/#", paho.SubscribeOptions(qos=1)), ("state/#", paho.SubscribeOptions(qos=1))])
meter = Device("meter", paho.MQTTv5).connect()


def pump():
    device = Device("pump", paho.MQTTv5, clean=False)
    delay = properties(PacketTypes.WILLMESSAGE, WillDelayInterval=2)
    device.client.will_set("status/pump", "gone", qos=1, properties=delay)
    return device.connect(keep)


# It is back before the delay is over: nobody is told. Then it asks for its will, which comes when the delay is over.
pump().drop()
pump().disconnect(reason=ReasonCode(PacketTypes.DISCONNECT, "Disconnect with will message"))
watcher.received(1)

# The last state is kept, and one that is cleared is not.
meter.publish("state/valve", "open", qos=1, retain=True)
meter.publish("state/lamp", "on", qos=1, retain=True)
meter.publish("state/valve", "closed", qos=1, retain=True)
meter.publish("state/lamp", None, qos=1, retain=True)
watcher.received(5)
later = Device("later", paho.MQTTv5).connect()
later.subscribe("state/#", qos=1)
later.received(1)
later.disconnect()

# Two workers share what there is to do.
first = Device("first", paho.MQTTv5).connect()
second = Device("second", paho.MQTTv5).connect()
for worker in (first, second):
    worker.subscribe("$share/workers/jobs/#", qos=1)
for number in range(6):
    meter.publish(f"jobs/{number}", f"job {number}", qos=1)
poll("all jobs are given out", lambda: len(first.messages) + len(second.messages) == 6)

# Another one of the same name takes the place of the second.
heir = Device("second", paho.MQTTv5).connect()
second.closed()
for device in (heir, first, meter, watcher):
    device.disconnect()
