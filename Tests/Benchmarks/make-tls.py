"""Makes a capture of MQTT over TLS, and its key log: CAPTURE and CAPTURE.keys.

    python3 make-tls.py --size MIB --payload BYTES [--version 1.2|1.3] CAPTURE

One client publishes messages of that payload to a server, one record for each write; the records are those of Python's
ssl module, that is of OpenSSL.
"""

import argparse
import os
import ssl
import struct
import subprocess
import tempfile

import wire

SEGMENT = 1_448


class Capture:
    def __init__(self, path):
        self.file = open(path, "wb", buffering=1 << 20)
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 101))
        self.next = [1_000, 5_000]
        self.frames = 0

    def segment(self, side, flags, payload=b""):
        ports = ((40_000, 8_883), (8_883, 40_000))[side]
        acknowledged = self.next[1 - side] if flags & 16 else 0
        tcp = struct.pack(">HHIIBBHHH", *ports, self.next[side], acknowledged, 0x50, flags, 65_535, 0, 0)
        ends = (b"\x0a\0\0\x01\x0a\0\0\x02", b"\x0a\0\0\x02\x0a\0\0\x01")[side]
        size = 40 + len(payload)
        packet = struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0, 64, 6, 0) + ends + tcp + payload
        self.frames += 1
        seconds, microseconds = divmod(self.frames * 10, 1_000_000)
        self.file.write(struct.pack("<IIII", seconds, microseconds, size, size) + packet)
        self.next[side] = (self.next[side] + len(payload) + (1 if flags & 3 else 0)) % (1 << 32)

    def send(self, side, stream):
        for place in range(0, len(stream), SEGMENT):
            self.segment(side, 24, stream[place:place + SEGMENT])
        if stream:
            self.segment(1 - side, 16)


def contexts(folder, version, keys):
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=broker.example",
        shell=True, check=True, cwd=folder, stderr=subprocess.DEVNULL)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    client.keylog_filename = keys
    one = ssl.TLSVersion.TLSv1_2 if version == "1.2" else ssl.TLSVersion.TLSv1_3
    client.minimum_version = client.maximum_version = one
    return client, server


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--payload", type=int, default=100)
    parser.add_argument("--version", default="1.3")
    parser.add_argument("capture")
    options = parser.parse_args()
    keys = options.capture + ".keys"
    if os.path.exists(keys):
        os.remove(keys)
    with tempfile.TemporaryDirectory() as folder:
        makers = contexts(folder, options.version, keys)
        buffers = [(ssl.MemoryBIO(), ssl.MemoryBIO()) for _ in range(2)]
        ends = [
            makers[0].wrap_bio(*buffers[0], server_hostname="broker.example"),
            makers[1].wrap_bio(*buffers[1], server_side=True),
        ]
    capture = Capture(options.capture)
    capture.segment(0, 2)
    capture.segment(1, 18)
    capture.segment(0, 16)

    def flush(side):
        stream = buffers[side][1].read()
        capture.send(side, stream)
        buffers[1 - side][0].write(stream)

    done = [False, False]
    while not all(done):
        for side in (0, 1):
            try:
                if not done[side]:
                    ends[side].do_handshake()
                    done[side] = True
            except ssl.SSLWantReadError:
                pass
            flush(side)
    ends[0].write(bytes.fromhex("100c00044d5154540402003c0000"))
    flush(0)
    ends[1].write(bytes.fromhex("20020000"))
    flush(1)
    message = wire.publish(False, b"a/b", b"x" * options.payload, qos=0)
    written = 0
    while written < options.size << 20:
        for _ in range(max(1, 65_536 // len(message))):
            ends[0].write(message)
            written += len(message)
        capture.send(0, buffers[0][1].read())
    capture.segment(0, 17)
    capture.segment(1, 17)
    capture.segment(0, 16)
    capture.file.close()


main()
