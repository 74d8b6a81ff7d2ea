"""What another broker makes of topics and filters of MQTT 3.1.1, of which it makes routing keys of AMQP."""

from record_lib import Device

meter = Device("meter").connect()


def panel(name, *filters):
    """A client of its own for each, so that each shows by itself."""
    device = Device(name).connect()
    device.subscribe(list(filters))
    return device


# Two filters that match: a copy for each is allowed.
overlap = panel("overlap", ("press/#", 0), ("press/oil", 1))
meter.publish("press/oil", "4.2", qos=1)
overlap.received(2)
overlap.disconnect()

# The same filter with less: it takes the place of the first.
lowered = panel("lowered", ("pump/speed", 1))
lowered.subscribe("pump/speed", qos=0)
meter.publish("pump/speed", "900", qos=1)
lowered.received(2)
lowered.disconnect()

# Empty levels, the parent of a multi-level wildcard, upper case.
levels = panel("levels", ("+/+", 1), ("Tank/#", 1))
for topic in ("/north", "north/", "Tank", "tank"):
    meter.publish(topic, topic, qos=1)
levels.received(3)
levels.disconnect()

# A star is no wildcard of MQTT.
star = panel("star", ("valve/*", 1))
meter.publish("valve/3", "open", qos=1)
star.received(1)
star.disconnect()

# A wildcard at the beginning does not match a topic of the server's own.
every = panel("every", ("#", 0))
meter.publish("$inner/state", "secret", qos=1)
meter.publish("outer/state", "open", qos=1)
every.received(2)
every.disconnect()

# What is retained is for each filter that matches, with wildcards as without.
watcher = panel("watcher", ("lamp/#", 1))
meter.publish("lamp/1", "on", qos=1, retain=True)
watcher.received(1)
exact = panel("exact", ("lamp/1", 1))
exact.received(1)
exact.disconnect()
wild = panel("wild", ("lamp/+", 1))
meter.publish("lamp/2", "off", qos=1)
for device in (watcher, wild):
    device.wait("the last message", lambda: device.messages and device.messages[-1].payload == b"off")
    device.disconnect()

# A dot is a character like any other.
dotted = panel("dotted", ("room/#", 1))
meter.publish("room/kitchen.north", "21", qos=1)
dotted.received(1)
dotted.disconnect()
meter.disconnect()
