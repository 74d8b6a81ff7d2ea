"""A client of MQTT of a few lines, which keeps to the protocol but for the one fault that it is told to have.

    client.py PORT 311|5 publish|subscribe TOPIC QOS COUNT KEEPALIVE PAYLOAD [FAULT]
"""

import socket
import struct
import sys
import time

port, version, role, topic, qos, count, keepalive, payload = sys.argv[1:9]
fault = sys.argv[9] if len(sys.argv) > 9 else ""
v5, qos, count, keepalive = version == "5", int(qos), int(count), int(keepalive)
PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 0x30, 0x40, 0x50, 0x62, 0x70


def packet(first, body):
    length, size = len(body), b""
    while True:
        length, rest = divmod(length, 128)
        size += bytes([rest | (0x80 if length else 0)])
        if not length:
            return bytes([first]) + size + body


def text(value):
    return struct.pack(">H", len(value)) + value.encode()


def properties(value=b""):
    return bytes([len(value)]) + value if v5 else b""


class Client:
    def __init__(self):
        self.open = {}  # What is not acknowledged, by identifier: [QoS, payload, whether it is released].
        self.number = 0
        self.left = count if role == "publish" else 0
        self.held = []

    def run(self):
        self.connection = socket.create_connection(("127.0.0.1", int(port)))
        self.buffer = b""
        self.most, self.largest, self.highest, self.keep = 20, 1 << 28, 2, keepalive
        # What is owed in a session that goes on may come on the next connection.
        isKept = fault != "releases-nothing"
        clean = 2 if not isKept or (v5 and not self.number) else 0
        method = b"\x15" + text("test") if v5 and fault.startswith("auth") else b""
        expiry = properties((b"\x11\0\0\x01\0" if isKept else b"") + method)
        name = "rp" + port.zfill(14)
        self.send(packet(0x10, text("MQTT") + bytes([5 if v5 else 4, clean]) + struct.pack(">H", keepalive) + expiry + text(name)))
        self.last = time.monotonic()
        if fault == "auth-and-asks":
            self.subscribe()
        first, body = self.read()
        while method and first == 0xF0:
            code = 0x19 if fault == "auth-begins-anew" else 0x18
            other = b"\x15" + text("tests") if fault == "auth-by-another-method" else method
            self.send(packet(0xF0, bytes([code]) + properties(other + b"\x16\0\x01x")))
            first, body = self.read()
        if first != 0x20 or body[1] != 0:
            return True
        if fault == "knows-no-qos-2" and qos == 2:
            sys.exit(1)
        self.understand(body[3:] if v5 else b"")
        if role == "subscribe" and not self.number:
            self.subscribe()
        for identifier, (_, body, released) in self.open.items():
            self.publish(identifier, body, released, again=True)
        self.feed()
        while True:
            if role == "publish" and not self.left and not self.open:
                self.send(b"\xe0\0")
                if fault == "goes-on-behind-disconnect":
                    self.send(b"\xc0\0")
                while fault == "stays-behind-disconnect" and self.connection.recv(4096):
                    pass
                self.connection.close()
                return True
            self.take(*self.read())

    def subscribe(self):
        self.number = 1
        flags = 0x80 if fault == "wrong-flags" else 0x82
        self.send(packet(flags, b"\0\x01" + properties() + text(topic) + bytes([qos])))

    def understand(self, rest):
        at = 0
        sizes = {0x11: 4, 0x21: 2, 0x22: 2, 0x24: 1, 0x25: 1, 0x27: 4, 0x13: 2}
        while at < len(rest):
            if rest[at] == 0x15:
                at += 3 + struct.unpack(">H", rest[at + 1 : at + 3])[0]
                continue
            value = int.from_bytes(rest[at + 1 : at + 1 + sizes[rest[at]]], "big")
            if rest[at] == 0x21 and fault != "ignores-receive-maximum":
                self.most = min(20, value)
            if rest[at] == 0x24 and fault != "ignores-maximum-qos":
                self.highest = value
            if rest[at] == 0x27 and fault != "ignores-maximum-packet-size":
                self.largest = value
            if rest[at] == 0x13 and fault != "ignores-server-keep-alive":
                self.keep = value
            at += 1 + sizes[rest[at]]

    def feed(self):
        while self.left and len(self.open) < self.most:
            self.left -= 1
            self.number += 1
            level = min(qos, self.highest)
            identifier = 1 if fault == "identifier-in-use" else self.number
            body = f"{payload}{self.number}".encode()
            if len(body) + len(topic) + 12 > self.largest:
                continue
            if level:
                self.open[identifier] = [level, body, False]
            self.publish(identifier if level else 0, body, False, again=False)
        if fault == "again-without-reconnect" and self.open:
            self.publish(*[(i, o[1], o[2]) for i, o in self.open.items()][0], again=True)

    def publish(self, identifier, body, released, again):
        if released:
            return self.send(packet(PUBREL, struct.pack(">H", identifier)))
        level = min(qos, self.highest)
        dup = 8 if again and fault != "again-without-dup" else 0
        alias = b"\x23\0\x01" if fault == "alias-unasked" else b""
        head = struct.pack(">H", identifier) if identifier else b""
        self.send(packet(PUBLISH | dup | level << 1, text(topic) + head + properties(alias) + body))

    def send(self, data):
        self.last = time.monotonic()
        self.connection.sendall(data)

    def read(self):
        while True:
            if len(self.buffer) >= 2:
                length, at, shift = 0, 1, 0
                while at < len(self.buffer):
                    length |= (self.buffer[at] & 127) << shift
                    at, shift = at + 1, shift + 7
                    if self.buffer[at - 1] < 128:
                        break
                if len(self.buffer) >= at + length:
                    first, body = self.buffer[0], self.buffer[at : at + length]
                    self.buffer = self.buffer[at + length :]
                    return first, body
            # Early enough for what is on its way.
            silence = self.keep - 0.5 - (time.monotonic() - self.last)
            if self.keep and silence <= 0:
                if fault != "never-pings":
                    self.send(b"\xc0\0")
                else:
                    self.last = time.monotonic()
                continue
            self.connection.settimeout(silence if self.keep else None)
            try:
                data = self.connection.recv(65536)
            except TimeoutError:
                continue
            if not data:
                raise ConnectionError
            self.buffer += data

    def acknowledge(self, first, identifier):
        if fault == "acknowledges-backwards" and first in (PUBACK, PUBREC):
            self.held.insert(0, packet(first, identifier))
            if len(self.held) < 2:
                return
            for one in self.held:
                self.send(one)
            self.held = []
            return
        self.send(packet(first, identifier))

    def take(self, first, body):
        kind = first & 0xF0
        if kind == 0xF0 and fault == "answers-auth-unasked":
            return self.send(packet(0xF0, b"\x18" + properties(b"\x15" + text("reprise"))))
        # What is none is answered by the end of the connection.
        wrong = first & 6 == 6 if kind == PUBLISH else first & 15 != (2 if kind == 0x60 else 0)
        if kind == PUBLISH and not wrong:
            size = struct.unpack(">H", body[:2])[0]
            try:
                wrong = "\0" in body[2 : 2 + size].decode()
            except UnicodeDecodeError:
                wrong = True
        if wrong or kind in (0, 0xF0):
            if fault == "goes-on-behind-malformed":
                return
            sys.exit(1)
        if kind == PUBLISH:
            size = struct.unpack(">H", body[:2])[0]
            identifier = body[2 + size : 4 + size]
            if first & 2:
                other = b"\x12\x34" if fault == "another-identifier" else identifier
                self.acknowledge(PUBACK, other)
            elif first & 4:
                self.acknowledge(PUBREC, identifier)
        elif kind == 0x60:
            self.send(packet(PUBCOMP, body[:2]))
        elif kind in (PUBACK, PUBREC, PUBCOMP):
            identifier = struct.unpack(">H", body[:2])[0]
            if kind == PUBREC and not (len(body) > 2 and body[2] >= 0x80):
                if identifier in self.open:
                    self.open[identifier][2] = True
                if fault != "releases-nothing":
                    self.send(packet(PUBREL, body[:2]))
                return
            self.open.pop(identifier, None)
            if fault == "identifier-in-use" and not self.left:
                self.open.clear()
            self.feed()


client = Client()
while True:
    try:
        if client.run():
            break
    except ConnectionError:
        time.sleep(0.1)
