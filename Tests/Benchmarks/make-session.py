#!/usr/bin/env python3
"""Writes the capture of one app's long connection: it connects, subscribes, is told things, and says goodbye.

    make-session.py --messages 1000000 FILE     so many messages of QoS 1, a millisecond apart
    make-session.py --hours 24 FILE             a heartbeat every 30 seconds, a message every minute

The same arguments always give the same file. IP checksums are valid; TCP checksums are 0, as if left to the hardware.
"""

import argparse
import struct

from wire import (
    CONNACK, CONNECT, DISCONNECT, PINGREQ, PINGRESP, PUBACK, SUBACK, SUBSCRIBE,
    acknowledgement, checksum, field, packet, publish)

SECOND = 1_000_000
FIRST_SECOND = 1_760_000_000
APP, CLOUD = ((10, 20, 0, 2), 40_000), ((10, 20, 255, 1), 1883)
SYN, ACK, PSH, FIN = 0x02, 0x10, 0x08, 0x01
DOWN = b"/sys/a1pk/dev1/app/down"
PAYLOAD = (b'{"method":"thing.properties","id":"%d","version":"1.0","params":{"iotId":"iot-1","productKey":"a1pk",'
           b'"deviceName":"lamp1","items":{"LightSwitch":{"time":%d,"value":%d}}}}')


class Session:
    """One TCP connection, frame by frame, as raw IPv4."""

    def __init__(self, output):
        self.output, self.now = output, 0
        self.sequence = {APP: 1_000, CLOUD: 9_000}
        output.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 101))

    def send(self, sender, data=b"", flags=ACK | PSH):
        receiver = CLOUD if sender is APP else APP
        tcp = struct.pack(
            ">HHIIBBHHH", sender[1], receiver[1], self.sequence[sender], 0 if flags == SYN else self.sequence[receiver],
            0x50, flags, 65_535, 0, 0)
        header = struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, 40 + len(data), 0, 0x4000, 64, 6, 0, bytes(sender[0]), bytes(receiver[0]))
        header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
        frame = header + tcp + data
        second, microsecond = divmod(self.now, SECOND)
        self.output.write(struct.pack("<IIII", FIRST_SECOND + second, microsecond, len(frame), len(frame)) + frame)
        advance = len(data) + (1 if flags & (SYN | FIN) else 0)
        self.sequence[sender] = (self.sequence[sender] + advance) & 0xFFFF_FFFF

    def open(self):
        self.send(APP, flags=SYN)
        self.send(CLOUD, flags=SYN | ACK)
        self.send(APP, flags=ACK)
        name = field(b"dev1&a1pk")
        self.send(APP, packet(CONNECT, 0, field(b"MQTT") + bytes([4, 0x82]) + struct.pack(">H", 60) + name + name))
        self.send(CLOUD, packet(CONNACK, 0, b"\0\0"))
        self.send(APP, packet(SUBSCRIBE, 2, struct.pack(">H", 1) + field(DOWN + b"/#") + b"\1"))
        self.send(CLOUD, packet(SUBACK, 0, struct.pack(">H", 1) + b"\1"))

    def tell(self, number):
        identifier = number % 65_535 + 1
        payload = PAYLOAD % (number, FIRST_SECOND * 1000 + self.now // 1000, number % 2)
        self.send(CLOUD, publish(False, DOWN + b"/thing/properties", payload, 1, identifier=identifier))
        self.send(APP, acknowledgement(PUBACK, identifier))

    def beat(self):
        self.send(APP, packet(PINGREQ, 0))
        self.send(CLOUD, packet(PINGRESP, 0))

    def close(self):
        self.send(APP, packet(DISCONNECT, 0))
        self.send(APP, flags=FIN | ACK)
        self.send(CLOUD, flags=FIN | ACK)
        self.send(APP, flags=ACK)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", help="the pcap file to write")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--messages", type=int, help="how many messages, a millisecond apart")
    length.add_argument("--hours", type=int, help="how long, with a heartbeat every 30 seconds")
    options = parser.parse_args()
    with open(options.output, "wb") as output:
        session = Session(output)
        session.open()
        for number in range(options.messages or 0):
            session.now += SECOND // 1000
            session.tell(number)
        for number in range((options.hours or 0) * 120):
            session.now += 30 * SECOND
            session.beat()
            if number % 2:
                session.tell(number // 2)
        session.close()


if __name__ == "__main__":
    main()
