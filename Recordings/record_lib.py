"""Shared by every scenario.py: a paho-mqtt client whose events can be waited for."""

import os
import signal
import threading
import time

import paho.mqtt.client as paho
from paho.mqtt.properties import Properties

PORT = int(os.environ["BROKER_PORT"])
BROKER_PID = int(os.environ["BROKER_PID"])
PATIENCE = 30


class Device:
    """One client identifier; each `connect` is one connection of it."""

    def __init__(self, name, version=paho.MQTTv311, clean=True, keepalive=60, **options):
        self.name, self.version, self.keepalive = name, version, keepalive
        self.clean = clean
        if version != paho.MQTTv5:
            options["clean_session"] = clean
        self.client = paho.Client(
            paho.CallbackAPIVersion.VERSION2, client_id=name, protocol=version,
            reconnect_on_failure=False, **options)
        self.changed = threading.Condition()
        self.events, self.messages = [], []
        self.client.on_connect = lambda c, u, flags, reason, p: self._note(
            ("CONNACK", flags.session_present, reason.value))
        self.client.on_disconnect = lambda c, u, flags, reason, p: self._note(
            ("closed", reason.value))
        self.client.on_subscribe = lambda c, u, mid, reasons, p: self._note(("SUBACK", mid))
        self.client.on_unsubscribe = lambda c, u, mid, reasons, p: self._note(("UNSUBACK", mid))
        self.client.on_publish = lambda c, u, mid, reason, p: self._note(("published", mid))
        self.client.on_log = lambda c, u, level, text: self._note(("log", text))
        self.client.on_message = self._receive

    def _note(self, event):
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def _receive(self, client, userdata, message):
        with self.changed:
            self.messages.append(message)
            self.changed.notify_all()

    def wait(self, what, condition):
        with self.changed:
            if not self.changed.wait_for(condition, PATIENCE):
                raise TimeoutError(f"{self.name}: {what}; seen: {self.events}")

    def count(self, *start):
        return sum(1 for event in self.events if event[:len(start)] == start)

    def connect(self, properties=None, wait=True):
        before = self.count("CONNACK")
        options = {}
        if self.version == paho.MQTTv5:
            options = {"clean_start": self.clean, "properties": properties}
        self.client.connect("127.0.0.1", PORT, self.keepalive, **options)
        self.client.loop_start()
        if wait:
            self.wait("CONNACK", lambda: self.count("CONNACK") > before)
        return self

    def subscribe(self, *arguments, **options):
        before = self.count("SUBACK")
        self.client.subscribe(*arguments, **options)
        self.wait("SUBACK", lambda: self.count("SUBACK") > before)

    def unsubscribe(self, *arguments, **options):
        before = self.count("UNSUBACK")
        self.client.unsubscribe(*arguments, **options)
        self.wait("UNSUBACK", lambda: self.count("UNSUBACK") > before)

    def publish(self, topic, payload=None, **options):
        """Publishes and waits until the flow of its quality of service is complete."""
        before = self.count("published")
        self.client.publish(topic, payload, **options)
        self.wait(f"{topic} published", lambda: self.count("published") > before)

    def received(self, count):
        self.wait(f"{count} messages", lambda: len(self.messages) >= count)
        return self.messages

    def logged(self, count, text):
        """Waits until paho has logged `text` so many times, e.g. for PINGRESP."""
        self.wait(f"{count} x {text}", lambda: sum(
            1 for event in self.events if event[0] == "log" and text in event[1]) >= count)

    def disconnect(self, reason=None, properties=None):
        before = self.count("closed")
        if self.version == paho.MQTTv5:
            self.client.disconnect(reasoncode=reason, properties=properties)
        else:
            self.client.disconnect()
        self.closed(before + 1)

    def drop(self):
        """Closes the socket without DISCONNECT, once what was published is on its way."""
        before = self.count("closed")
        poll("everything written", lambda: not self.client.want_write())
        self.client.socket().shutdown(2)
        self.closed(before + 1)

    def closed(self, count=1):
        self.wait("closed", lambda: self.count("closed") >= count)
        self.client.loop_stop()


def properties(packet, **values):
    """MQTT 5.0 properties of a packet by paho's names for them."""
    result = Properties(packet)
    for name, value in values.items():
        setattr(result, name, value)
    return result


class paused_broker:
    """While it lasts the broker answers nothing; the kernel goes on accepting for it."""

    def __enter__(self):
        os.kill(BROKER_PID, signal.SIGSTOP)
        poll("the broker has stopped", lambda: _state() == "T")

    def __exit__(self, *_):
        os.kill(BROKER_PID, signal.SIGCONT)


def _state():
    with open(f"/proc/{BROKER_PID}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def poll(what, condition):
    """Asks until something is so that no event tells of: another process's state, a buffer of paho's or of a socket."""
    limit = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(what)
        time.sleep(0.02)
