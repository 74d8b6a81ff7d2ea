"""A broker too slow to acknowledge: the publisher gives up, comes back and publishes again."""

from record_lib import Device, paused_broker

log = Device("log").connect()
log.subscribe("counter/#", qos=2)

meter = Device("meter", clean=False).connect()
meter.publish("counter/water", "100", qos=1)
with paused_broker():
    meter.client.publish("counter/water", "101", qos=1)
    meter.client.publish("counter/gas", "57", qos=2)
    meter.logged(3, "Sending PUBLISH")
    meter.drop()
    meter.connect(wait=False)
meter.wait("all acknowledged", lambda: meter.count("published") == 3)
meter.disconnect()

# The broker may have read the first attempt at the water counter: QoS 1 is at least once.
log.wait("gas", lambda: log.messages and log.messages[-1].topic == "counter/gas")
log.logged(1, "Sending PUBCOMP")
log.disconnect()
