#!/usr/bin/env python3
"""Writes captures of what grows with the size of a broker: its clients, what it retains, who gets a message.

    make-fleet.py clients N FILE    N clients that stay, with ten subscriptions each
    make-fleet.py retained N FILE   one client that has N topics retained
    make-fleet.py fan-out S M FILE  one topic, S subscribers, M messages: S * M deliveries

Nothing is lost, and no clause is violated. IP checksums are valid; TCP checksums are 0, as if left to the hardware.
"""

import struct
import sys

from wire import CONNACK, CONNECT, PUBACK, SUBACK, SUBSCRIBE, acknowledgement, checksum, field, packet, publish

SERVER = bytes([10, 20, 255, 1])
ACK, PSH_ACK, SYN = 0x10, 0x18, 0x02


class Capture:
    def __init__(self, path):
        self.file = open(path, "wb", buffering=1 << 20)
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
        self.now = 0

    def frame(self, client, upwards, flags, data=b""):
        """Appends one segment of a client's connection, ten microseconds behind the last one."""
        self.now += 10
        address, port = struct.pack(">I", 0x0A000000 | client.number >> 4), 20_000 + (client.number & 15)
        ports = (port, 1883) if upwards else (1883, port)
        sent, heard = (client.up, client.down) if upwards else (client.down, client.up)
        tcp = struct.pack(">HHIIBBHHH", *ports, sent & 0xFFFFFFFF, heard & 0xFFFFFFFF, 0x50, flags, 64_240, 0, 0)
        ends = address + SERVER if upwards else SERVER + address
        ip = bytearray(struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(data), 0, 0x4000, 64, 6, 0) + ends)
        ip[10:12] = struct.pack(">H", checksum(bytes(ip)))
        size = 54 + len(data)
        self.file.write(struct.pack("<IIII", 1_760_000_000 + self.now // 1_000_000, self.now % 1_000_000, size, size))
        self.file.write(bytes(12) + b"\x08\x00" + ip + tcp + data)
        length = len(data) + (1 if flags & SYN else 0)
        if upwards:
            client.up += length
        else:
            client.down += length


class Client:
    def __init__(self, capture, number):
        self.capture, self.number, self.up, self.down = capture, number, 1_000, 2_000
        for upwards, flags in ((True, SYN), (False, SYN | ACK), (True, ACK)):
            capture.frame(self, upwards, flags)
        name = field(b"client-%d" % number)
        self.says(packet(CONNECT, 0, field(b"MQTT") + b"\x04\x02" + struct.pack(">H", 0) + name))
        self.hears(packet(CONNACK, 0, b"\0\0"))

    def says(self, data):
        self.capture.frame(self, True, PSH_ACK, data)

    def hears(self, data):
        self.capture.frame(self, False, PSH_ACK, data)

    def subscribes(self, *filters):
        body = b"\0\1" + b"".join(field(name) + b"\1" for name in filters)
        self.says(packet(SUBSCRIBE, 2, body))
        self.hears(packet(SUBACK, 0, b"\0\1" + b"\1" * len(filters)))


def clients(capture, count):
    for number in range(count):
        client = Client(capture, number)
        client.subscribes(*(b"site/%d/device/%d/%d" % (number % 100, number, index) for index in range(10)))


def retained(capture, count):
    publisher = Client(capture, 0)
    for number in range(count):
        publisher.says(publish(False, b"site/device/%d/state" % number, b"%08d" % number, 0, retain=True))


def fan_out(capture, subscribers, messages):
    publisher = Client(capture, 0)
    others = [Client(capture, number + 1) for number in range(subscribers)]
    for client in others:
        client.subscribes(b"news/+")
    for number in range(messages):
        identifier = number % 60_000 + 1
        payload = b"message %08d" % number
        publisher.says(publish(False, b"news/all", payload, 1, identifier=identifier))
        publisher.hears(acknowledgement(PUBACK, identifier))
        for client in others:
            client.hears(publish(False, b"news/all", payload, 1, identifier=identifier))
            client.says(acknowledgement(PUBACK, identifier))


def main():
    makers = {"clients": (clients, 1), "retained": (retained, 1), "fan-out": (fan_out, 2)}
    maker, count = makers.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if maker is None or len(sys.argv) != count + 3:
        sys.exit(__doc__)
    maker(Capture(sys.argv[-1]), *(int(text) for text in sys.argv[2:-1]))


if __name__ == "__main__":
    main()
