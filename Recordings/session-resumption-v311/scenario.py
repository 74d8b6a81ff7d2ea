"""A controller keeps its session over two lost connections; a sensor publishes all the while."""

import socket
import threading

from record_lib import PATIENCE, Device, poll

sensor = Device("sensor").connect()

# The session begins.
controller = Device("controller", clean=False).connect()
controller.subscribe([("job/+", 1), ("alarm/+", 2)])
sensor.publish("job/1", "start", qos=1)
controller.received(1)
controller.disconnect()

# What is published now waits for the controller, except QoS 0, which the broker may drop.
sensor.publish("job/2", "faster", qos=1)
sensor.publish("alarm/1", "overheated", qos=2)
sensor.publish("job/3", "stop", qos=1)

# It comes back, takes the messages and dies before it acknowledges a single one.
dead = threading.Event()
forgetful = Device("controller", clean=False, manual_ack=True)
forgetful.client.on_message = lambda *_: dead.wait(PATIENCE)
forgetful.connect()
forgetful.logged(1, "Received PUBLISH")
poll("the last one came in", lambda: b"job/3" in forgetful.client.socket().recv(999, socket.MSG_PEEK))
forgetful.client.socket().shutdown(socket.SHUT_RDWR)
dead.set()
forgetful.closed()

# Delivered again with DUP, acknowledged this time.
controller = Device("controller", clean=False).connect()
controller.received(3)
controller.logged(2, "Sending PUBACK")
controller.logged(1, "Sending PUBCOMP")
controller.disconnect()

# A clean session discards all of it.
controller = Device("controller", clean=True).connect()
controller.disconnect()
sensor.disconnect()
