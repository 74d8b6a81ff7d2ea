"""What the makers of captures have in common: MQTT packets as bytes, and the checksum of IPv4."""

import struct

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 1, 2, 3, 4, 5, 6, 7
SUBSCRIBE, SUBACK, PINGREQ, PINGRESP, DISCONNECT = 8, 9, 12, 13, 14


def variable_length(number):
    encoded = bytearray()
    while True:
        number, digit = divmod(number, 128)
        encoded.append(digit | (128 if number else 0))
        if not number:
            return bytes(encoded)


def field(content):
    return struct.pack(">H", len(content)) + content


def packet(kind, flags, body=b""):
    return bytes([kind << 4 | flags]) + variable_length(len(body)) + body


def properties(encoded=b""):
    return variable_length(len(encoded)) + encoded


def publish(version5, topic, payload, qos, retain=False, identifier=0, props=b""):
    body = field(topic) + (struct.pack(">H", identifier) if qos else b"")
    return packet(
        PUBLISH, qos << 1 | retain, body + (properties(props) if version5 else b"") + payload)


def acknowledgement(kind, identifier):
    return packet(kind, 2 if kind == PUBREL else 0, struct.pack(">H", identifier))


def checksum(header):
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
