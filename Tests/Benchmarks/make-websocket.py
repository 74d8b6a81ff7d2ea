#!/usr/bin/env python3
"""Writes a capture of any size: clients that talk JSON with one WebSocket server, no loss, no violation.

Each connection is an opening handshake, messages in both directions, now and then a Ping or a message in fragments, and
both Close frames. Many are open at a time; when one ends, the next one begins.

The same arguments always give the same file. IP checksums are valid; TCP checksums are 0, as if left to the hardware.
"""

import argparse
import base64
import hashlib
import json
import random
import struct

from wire import checksum

FIN, SYN, PSH, ACK = 0x01, 0x02, 0x08, 0x10
FIRST_SECOND = 1_760_000_000
SERVER_ADDRESS, SERVER_PORT = (10, 30, 255, 1), 80
CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10
MESSAGES, OPEN_AT_A_TIME = 400, 200


def mask(payload, key):
    size = len(payload)
    repeated = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")


def frame(opcode, payload, key=None, final=True):
    first = (0x80 if final else 0) | opcode
    bit = 0x80 if key else 0
    if len(payload) < 126:
        header = struct.pack(">BB", first, bit | len(payload))
    else:
        header = struct.pack(">BBH", first, bit | 126, len(payload))
    return header + (key + mask(payload, key) if key else payload)


class Connection:
    """One connection, step by step; a step is a segment or two."""

    def __init__(self, number, writer):
        self.writer, self.number = writer, number
        self.chance = random.Random(f"websocket/{number}")
        self.address = bytes((10, 30, number >> 8 & 127, number & 255))
        self.port = 20_000 + (number >> 15)
        self.next = {True: self.chance.getrandbits(30), False: self.chance.getrandbits(30)}
        self.steps = self.play()

    def segment(self, upwards, flags, data=b""):
        source, target = self.address, bytes(SERVER_ADDRESS)
        ports = (self.port, SERVER_PORT)
        if not upwards:
            source, target, ports = target, source, ports[::-1]
        heard = self.next[not upwards] if flags & ACK else 0
        tcp = struct.pack(">HHIIBBHHH", *ports, self.next[upwards], heard, 0x50, flags, 65_000, 0, 0)
        ip = bytearray(struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, 40 + len(data), 0, 0x4000, 64, 6, 0, source, target))
        ip[10:12] = struct.pack(">H", checksum(ip))
        self.writer.write(b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0" + ip + tcp + data)
        length = len(data) + (1 if flags & (SYN | FIN) else 0)
        self.next[upwards] = (self.next[upwards] + length) & 0xFFFFFFFF

    def say(self, upwards, *frames):
        key = lambda: self.chance.randbytes(4) if upwards else None
        data = b"".join(frame(opcode, payload, key(), final) for opcode, payload, final in frames)
        self.writer.frames += len(frames)
        self.segment(upwards, PSH | ACK, data)

    def message(self, count):
        return b'{"id":%d,"method":"reading","params":{"sensor":"boiler-%d","t":%.2f,"rh":%.1f}}' % (
            count, self.number, self.chance.uniform(-20, 90), self.chance.uniform(5, 95))

    def play(self):
        key = base64.b64encode(self.chance.randbytes(16))
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        self.segment(True, SYN)
        self.segment(False, SYN | ACK)
        self.segment(True, ACK)
        self.segment(True, PSH | ACK, b"GET /api HTTP/1.1\r\nHost: server\r\nUpgrade: websocket\r\n"
                     b"Connection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n" % key)
        yield
        self.segment(False, PSH | ACK, b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                     b"Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n" % accept)
        for count in range(MESSAGES):
            yield
            text = self.message(count)
            if count % 50 == 49:
                self.say(True, (TEXT, text[:30], False), (PING, b"%d" % count, True), (CONTINUATION, text[30:], True))
                self.say(False, (PONG, b"%d" % count, True))
            else:
                self.say(True, (TEXT, text, True))
            self.say(False, (TEXT, b'{"id":%d,"result":"ok"}' % count, True))
        yield
        self.say(True, (CLOSE, b"\x03\xe8", True))
        self.say(False, (CLOSE, b"\x03\xe8", True))
        self.segment(False, FIN | ACK)
        self.segment(True, FIN | ACK)
        self.segment(False, ACK)


class Writer:
    def __init__(self, output):
        self.output, self.bytes, self.segments, self.frames = output, 0, 0, 0
        self.put(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))

    def put(self, data):
        self.output.write(data)
        self.bytes += len(data)

    def write(self, data):
        seconds, micros = divmod(self.segments * 50, 1_000_000)
        self.put(struct.pack("<IIII", FIRST_SECOND + seconds, micros, len(data), len(data)) + data)
        self.segments += 1


def size(text):
    units = {"K": 10**3, "M": 10**6, "G": 10**9}
    factor = units.get(text[-1:].upper(), 1)
    return int(float(text[:-1] if factor > 1 else text) * factor)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", help="the pcap file to write")
    parser.add_argument("--size", type=size, default="100M", help="about how large, e.g. 500K, 100M (default 100M)")
    options = parser.parse_args()
    with open(options.output, "wb") as output:
        writer = Writer(output)
        connections, turn = 0, []
        while turn or writer.bytes < options.size:
            while len(turn) < OPEN_AT_A_TIME and writer.bytes < options.size:
                turn.append(Connection(connections, writer).steps)
                connections += 1
            turn = [steps for steps in turn if next(steps, "over") != "over"]
    print(json.dumps({
        "bytes": writer.bytes, "segments": writer.segments, "frames": writer.frames, "connections": connections}))


if __name__ == "__main__":
    main()
