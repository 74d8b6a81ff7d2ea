"""Filters with wildcards, several at once, replaced, refused and taken back."""

from record_lib import Device

sensor = Device("sensor").connect()
panel = Device("panel").connect()
panel.subscribe([("house/#", 0), ("+/kitchen/+", 2), ("garden/gate", 1)])

sensor.publish("house", "the parent level matches too", qos=1)
sensor.publish("house/attic/window", "open", qos=2)
sensor.publish("garden/kitchen/hose", "drips", qos=2)
sensor.publish("garden/gate", "shut", qos=2)
sensor.publish("garden/gate/lock", "not matched", qos=1)
sensor.publish("/kitchen/oven", "an empty first level", qos=1)
panel.received(5)

# The same filter again replaces the subscription: QoS 1 from now on.
panel.subscribe("house/#", qos=1)
sensor.publish("house/hall/light", "on", qos=1)
panel.received(6)

# No wildcard at the first level matches a topic of the broker itself.
panel.subscribe("#", qos=0)
panel.unsubscribe("#")
panel.subscribe("$SYS/broker/version", qos=0)

panel.unsubscribe(["house/#", "+/kitchen/+"])
panel.unsubscribe("never/subscribed")
sensor.publish("house/attic/last", "unheard", qos=1)
sensor.publish("garden/gate", "open", qos=1)
panel.wait("the gate", lambda: any(m.payload == b"open" and m.topic == "garden/gate" for m in panel.messages))
panel.disconnect()
sensor.disconnect()
