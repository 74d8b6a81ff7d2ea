"""What another broker does of MQTT 3.1.1: each quality of service, what it retains, sessions, wills, a takeover."""

import socket
import threading

from record_lib import PATIENCE, Device, poll

# Each quality of service in both directions; the broker grants no more than 1.
meter = Device("meter").connect()
panel = Device("panel").connect()
panel.subscribe([("plant/+/temperature", 0), ("plant/+/pressure", 1), ("plant/alarm", 2)])
meter.publish("plant/boiler/temperature", "81", qos=0)
meter.publish("plant/boiler/pressure", "4.2", qos=1)
meter.publish("plant/alarm", "high", qos=2)
panel.received(3)
panel.unsubscribe("plant/alarm")
meter.publish("plant/alarm", "low", qos=1)
meter.publish("plant/boiler/pressure", "4.3", qos=1)
panel.received(4)

# What is retained: set, replaced, cleared; for one that comes later, and for one that asks again.
meter.publish("state/valve", "open", qos=1, retain=True)
meter.publish("state/lamp", "on", qos=1, retain=True)
meter.publish("state/valve", "closed", qos=1, retain=True)
later = Device("later").connect()
later.subscribe([("state/valve", 1), ("state/lamp", 1)])
later.received(2)
meter.publish("state/valve", None, qos=1, retain=True)
later.received(3)
meter.publish("state/lamp", None, qos=1, retain=True)
later.disconnect()
fresh = Device("fresh").connect()
fresh.subscribe([("state/valve", 1), ("state/lamp", 1)])
fresh.disconnect()

# Clients that tell whether they are there: one is lost, one says DISCONNECT. Then somebody asks for both.
def present(name, clean=True, number=""):
    device = Device(name, clean=clean)
    device.client.will_set(f"status/{name}", f"{name}{number} is gone", qos=1, retain=True)
    return device.connect()


panel.subscribe("status/#", qos=1)
for name in ("lost", "orderly"):
    device = present(name)
    device.publish(f"status/{name}", f"{name} is here", qos=1, retain=True)
    device.drop() if name == "lost" else device.disconnect()
panel.received(7)
late = Device("late").connect()
late.subscribe([("status/lost", 1), ("status/orderly", 1)])
late.received(2)
late.disconnect()

# A session that is kept: what comes in its absence, what it gets and does not acknowledge, and its end.
controller = Device("controller", clean=False).connect()
controller.subscribe([("job/+", 1)])
meter.publish("job/1", "start", qos=1)
controller.received(1)
controller.disconnect()
meter.publish("job/2", "faster", qos=1)
meter.publish("job/3", "stop", qos=1)
dead = threading.Event()
forgetful = Device("controller", clean=False, manual_ack=True)
forgetful.client.on_message = lambda *_: dead.wait(PATIENCE)
forgetful.connect()
forgetful.logged(1, "Received PUBLISH")
poll("the last one came in", lambda: b"job/3" in forgetful.client.socket().recv(999, socket.MSG_PEEK))
forgetful.client.socket().shutdown(socket.SHUT_RDWR)
dead.set()
forgetful.closed()
controller = Device("controller", clean=False).connect()
controller.received(2)
controller.logged(2, "Sending PUBACK")
controller.disconnect()
Device("controller", clean=True).connect().disconnect()

# Another connection of the same client takes its place, and its will.
first = present("twin", clean=False, number=1)
first.subscribe("twin/#", qos=1)
second = present("twin", clean=False, number=2)
first.closed()
second.publish("twin/speaks", "still subscribed", qos=1)
second.received(1)
second.disconnect()
meter.publish("status/meter", "leaves", qos=1)
panel.wait("the last message", lambda: panel.messages[-1].payload == b"leaves")

panel.disconnect()
meter.disconnect()
