#!/usr/bin/env python3
"""Writes a capture of any size: many clients of one MQTT broker, small packets, no loss, no violation.

Clients come and go in generations. What one generation does on the wire is worked out once, by playing clients and broker
in simulated time. A generation lives for several slices of time, so a slice holds the first seconds of the youngest
generation beside the last seconds of the oldest. Each slice is the same bytes but for time stamps, client ports, and the
generation's number in client identifiers, topics and payloads. Those fields are patched all at once: the slice is one long
integer, and the difference to the next slice another.

The same arguments always give the same file. IP checksums are valid; TCP checksums are 0, as if left to the hardware.
"""

import argparse
import heapq
import json
import random
import struct
import sys
from collections import deque

from wire import (
    CONNACK, CONNECT, DISCONNECT, PINGREQ, PINGRESP, PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, SUBACK, SUBSCRIBE,
    acknowledgement, checksum, field, packet, properties, publish)

SECOND = 1_000_000
SLICE = 10 * SECOND
SHORTEST_LIFE, LONGEST_LIFE = 60 * SECOND, 80 * SECOND
FIRST_SECOND = 1_760_000_000
FIRST_PORT = 20_000
BROKER_ADDRESS, BROKER_PORT = (10, 20, 255, 1), 1883
DASHBOARDS, DEVICES = 2, 8
CELL = DASHBOARDS + DEVICES

# Stands for the four digits of the generation until frames are laid out; not UTF-8, so nothing else contains it.
GENERATION = b"\xf8\xf9\xfa\xfb"


# One cell: a few devices and the dashboards that watch them, all of one generation.


class Client:
    def __init__(self, cell, number, chance):
        self.cell, self.number, self.chance = cell, number, chance
        self.name = b"client-%s-%03d-%d" % (GENERATION, cell.number, number)
        self.version5 = chance.random() < 0.3
        self.round_trip = chance.randint(800, 40_000)
        self.keep_alive = chance.choice((10, 15, 30))
        self.segments = []
        self.identifiers = {"up": 0, "down": 0}
        self.filters = []
        self.last_sent = 0
        self.leaving = False

    def topic(self, leaf):
        return b"plant/%s/cell%03d/client%d/%s" % (GENERATION, self.cell.number, self.number, leaf)

    def identifier(self, direction):
        self.identifiers[direction] = self.identifiers[direction] % 65535 + 1
        return self.identifiers[direction]

    def up(self, now, data):
        self.segments.append((now, True, data))
        self.last_sent = now

    def down(self, now, data):
        self.segments.append((now, False, data))


class Cell:
    """Clients and their share of the broker, in microseconds since the generation's beginning."""

    def __init__(self, number, begin, seed):
        self.number = number
        self.chance = random.Random(f"{seed}/{number}")
        self.agenda, self.order = [], 0
        self.retained = {}
        life = self.chance.randint(SHORTEST_LIFE, LONGEST_LIFE)
        self.clients = [Client(self, index, self.chance) for index in range(CELL)]
        for index, client in enumerate(self.clients):
            watching = index < DASHBOARDS
            arrives = begin + self.chance.randint(0, 2 * SECOND) + (0 if watching else SECOND)
            leaves = begin + life - self.chance.randint(0, SECOND) - (0 if watching else 2 * SECOND)
            client.begin = arrives
            self.at(arrives + client.round_trip + 150, self.connect, client, leaves)
        while self.agenda:
            now, _, action, arguments = heapq.heappop(self.agenda)
            action(now, *arguments)

    def at(self, time, action, *arguments):
        self.order += 1
        heapq.heappush(self.agenda, (time, self.order, action, arguments))

    # What clients do

    def connect(self, now, client, leaves):
        chance, watching = self.chance, client.number < DASHBOARDS
        with_will, with_user = not watching and chance.random() < 0.3, chance.random() < 0.4
        flags = 0x02 | (0x2C if with_will else 0) | (0xC0 if with_user else 0)
        body = field(b"MQTT") + bytes([5 if client.version5 else 4, flags])
        body += struct.pack(">H", client.keep_alive)
        if client.version5:
            body += properties(b"\x21" + struct.pack(">H", 20))
        body += field(client.name)
        if with_will:
            body += properties() if client.version5 else b""
            body += field(client.topic(b"status")) + field(b"lost")
        if with_user:
            body += field(b"user%d" % client.number) + field(b"not-a-secret")
        client.up(now, packet(CONNECT, 0, body))
        offer = properties(b"\x22\x00\x0a\x21\x00\x14") if client.version5 else b""
        self.at(now + 180, self.answer, client, packet(CONNACK, 0, b"\0\0" + offer))
        subscribed = now + 200 + client.round_trip
        self.at(subscribed, self.subscribe, client)
        self.at(leaves, self.leave, client)
        self.at(now + client.keep_alive * SECOND, self.ping, client)
        if watching:
            self.at(subscribed + 5 * SECOND, self.command, client)
        else:
            pace = chance.choice((2, 3, 4, 5, 25)) * SECOND
            qos = chance.choices((0, 1, 2), (50, 35, 15))[0]
            self.at(subscribed + SECOND, self.report, client, b"status", b"online", 1, True)
            self.at(subscribed + 2 * SECOND, self.measure, client, pace, qos, 1)

    def subscribe(self, now, client):
        if client.number < DASHBOARDS:
            cell = b"plant/%s/cell%03d/+/" % (GENERATION, self.number)
            wanted = [(cell + b"telemetry", self.chance.randint(0, 2)), (cell + b"status", 1)]
        else:
            wanted = [(client.topic(b"command"), 1)]
        numbered = client.version5 and self.chance.random() < 0.5
        body = struct.pack(">H", client.identifier("up"))
        acknowledged = body
        if client.version5:
            body += properties(b"\x0b\x07" if numbered else b"")
            acknowledged += properties()
        for topic_filter, qos in wanted:
            body += field(topic_filter) + bytes([qos])
            acknowledged += bytes([qos])
        client.up(now, packet(SUBSCRIBE, 2, body))
        self.at(now + 120, self.granted, client, wanted, numbered, packet(SUBACK, 0, acknowledged))

    def measure(self, now, client, pace, qos, count):
        if client.leaving:
            return
        chance = self.chance
        payload = b'{"n":%d,"generation":"%s","t":%.2f,"rh":%.1f,"ok":%s}' % (
            count, GENERATION, chance.uniform(-20, 90), chance.uniform(5, 95),
            b"true" if chance.random() < 0.97 else b"false")
        self.report(now, client, b"telemetry", payload, qos, False)
        self.at(now + pace + chance.randint(-SECOND // 2, SECOND // 2), self.measure, client, pace, qos, count + 1)

    def command(self, now, client):
        if client.leaving:
            return
        # Not to one that is about to leave: what is delivered has to be acknowledged.
        devices = [device for device in self.clients[DASHBOARDS:] if not device.leaving]
        if devices:
            payload = b'{"set":"interval","to":%d}' % self.chance.randint(1, 60)
            self.report(
                now, client, b"command", payload, self.chance.randint(0, 2), False, self.chance.choice(devices))
        self.at(now + self.chance.randint(4, 9) * SECOND, self.command, client)

    def report(self, now, client, leaf, payload, qos, retain, about=None):
        topic = (about or client).topic(leaf)
        props = b""
        if client.version5 and leaf == b"telemetry":
            props = b"\x01\x01\x26" + field(b"unit") + field(b"C")
        identifier = client.identifier("up") if qos else 0
        client.up(now, publish(client.version5, topic, payload, qos, retain, identifier, props))
        message = (topic, payload, qos, props)
        if retain:
            self.retained[topic] = message
        if qos == 0:
            self.deliver(now + 90, message)
        elif qos == 1:
            self.at(now + 110, self.answer, client, acknowledgement(PUBACK, identifier))
            self.deliver(now + 130, message)
        else:
            released = now + 120 + client.round_trip + 60
            self.at(now + 120, self.answer, client, acknowledgement(PUBREC, identifier))
            self.at(released, self.say, client, acknowledgement(PUBREL, identifier))
            self.at(released + 90, self.answer, client, acknowledgement(PUBCOMP, identifier))
            self.deliver(released + 110, message)

    def ping(self, now, client):
        if client.leaving:
            return
        due = client.last_sent + client.keep_alive * SECOND
        if due <= now:
            client.up(now, packet(PINGREQ, 0))
            self.at(now + 80, self.answer, client, packet(PINGRESP, 0))
            due = now + client.keep_alive * SECOND
        self.at(due, self.ping, client)

    def leave(self, now, client):
        # What is under way ends first; nothing new begins.
        client.leaving = True
        self.at(now + SECOND, self.disconnect, client)

    def disconnect(self, now, client):
        client.filters = []
        client.up(now, packet(DISCONNECT, 0))

    def say(self, now, client, data):
        client.up(now, data)

    # What the broker does

    def answer(self, now, client, data):
        client.down(now, data)

    def granted(self, now, client, wanted, numbered, data):
        client.down(now, data)
        client.filters = [(wanted_filter.split(b"/"), qos, numbered) for wanted_filter, qos in wanted]
        for offset, message in enumerate(self.retained.values()):
            self.send_matching(now + 40 + 15 * offset, client, message, True)

    def deliver(self, now, message):
        for offset, client in enumerate(self.clients):
            self.at(now + 12 * offset, self.send_matching, client, message, False)

    def send_matching(self, now, client, message, retained):
        topic, payload, qos, props = message
        levels = topic.split(b"/")
        for wanted, granted, numbered in client.filters:
            if any(w not in (b"+", level) for w, level in zip(wanted, levels)):
                continue
            qos = min(qos, granted)
            identifier = client.identifier("down") if qos else 0
            extra = props + (b"\x0b\x07" if numbered else b"")
            client.down(now, publish(client.version5, topic, payload, qos, retained, identifier, extra))
            heard = now + client.round_trip + 60
            if qos == 1:
                self.at(heard, self.say, client, acknowledgement(PUBACK, identifier))
            elif qos == 2:
                self.at(heard, self.say, client, acknowledgement(PUBREC, identifier))
                self.at(heard + 70, self.answer, client, acknowledgement(PUBREL, identifier))
                again = heard + 70 + client.round_trip + 60
                self.at(again, self.say, client, acknowledgement(PUBCOMP, identifier))


# TCP, as seen beside the broker

FIN, SYN, PSH, ACK = 0x01, 0x02, 0x08, 0x10
DELAYED_ACK = 40_000
SYN_OPTIONS, OPTIONS = struct.Struct(">BBHBBBBIIBBB"), struct.Struct(">BBBBII")
HEADER = struct.Struct("<IIII12sHBBHHHBBH4s4s")


class Frame:
    __slots__ = ("time", "cell", "data", "port", "generations", "packets")


class Connection:
    """Turns what one client and the broker say into frames, with acknowledgements."""

    def __init__(self, client, slot, frames):
        self.frames, self.slot, self.cell = frames, slot, client.cell.number
        self.round_trip = client.round_trip
        self.address = bytes((10, 20, slot >> 8, slot & 255))
        chance = client.chance
        self.next = {True: chance.getrandbits(30), False: chance.getrandbits(30)}
        self.clock = {True: chance.getrandbits(30), False: chance.getrandbits(30)}
        self.echo = {True: 0, False: 0}
        self.number = {True: chance.getrandbits(14), False: chance.getrandbits(14)}
        self.acknowledged = {True: 0, False: 0}  # the last acknowledgement each side sent
        self.owed = {True: None, False: None}  # when a side acknowledges at the latest
        self.unanswered = {True: 0, False: 0}
        self.in_flight = deque()  # what the broker sent and the client does not have yet
        self.client_has = 0
        self.last = 0

        begin = client.begin
        self.frame(begin, True, SYN)
        self.frame(begin + 15, False, SYN | ACK)
        self.frame(self.last + self.round_trip, True, ACK)
        for now, upwards, data in sorted(client.segments, key=lambda segment: segment[0]):
            self.acknowledge_until(now)
            self.frame(now, upwards, PSH | ACK, data)
        self.frame(now + 60, True, FIN | ACK)
        self.frame(now + 150, False, FIN | ACK)
        self.frame(self.last + self.round_trip, True, ACK)

    def acknowledge_until(self, now):
        for upwards in sorted((True, False), key=lambda side: self.owed[side] or 0):
            due = self.owed[upwards]
            if due is not None and due < now:
                self.owed[upwards] = None
                if self.heard(upwards, due) != self.acknowledged[upwards]:
                    self.frame(due, upwards, ACK)

    def heard(self, upwards, now):
        if not upwards:
            return self.next[True]
        while self.in_flight and self.in_flight[0][0] <= now:
            self.client_has = self.in_flight.popleft()[1]
        return self.client_has

    def frame(self, now, upwards, flags, data=b""):
        now = max(now, self.last + 1)
        self.last = now
        heard = self.heard(upwards, now) if flags & ACK else 0
        self.acknowledged[upwards] = heard
        self.owed[upwards], self.unanswered[upwards] = None, 0
        clock = (self.clock[upwards] + now // 1000) & 0xFFFFFFFF
        if flags & SYN:
            options = SYN_OPTIONS.pack(2, 4, 1460, 4, 2, 8, 10, clock, self.echo[upwards], 1, 3, 3) + b"\x07"
        else:
            options = OPTIONS.pack(1, 1, 8, 10, clock, self.echo[upwards])
        self.echo[not upwards] = clock
        source, target = self.address, bytes(BROKER_ADDRESS)
        # The client's port stays 0 here: it is FIRST_PORT + generation.
        ports = (0, BROKER_PORT) if upwards else (BROKER_PORT, 0)
        client_mac, broker_mac = b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02"
        macs = broker_mac + client_mac if upwards else client_mac + broker_mac
        if not upwards:
            source, target = target, source
        tcp = struct.pack(
            ">HHIIBBHHH", *ports, self.next[upwards], heard, (20 + len(options)) << 2, flags, 502, 0, 0)
        total = 20 + len(tcp) + len(options) + len(data)
        self.number[upwards] = (self.number[upwards] + 1) & 0xFFFF
        ip = bytearray(struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, total, self.number[upwards], 0x4000, 63 if upwards else 64, 6, 0, source, target))
        ip[10:12] = struct.pack(">H", checksum(ip))

        frame = Frame()
        frame.time, frame.cell = now, self.cell
        content = macs + b"\x08\0" + ip + tcp + options
        frame.port = 16 + 14 + 20 + (0 if upwards else 2)
        frame.generations, start = [], data.find(GENERATION)
        while start >= 0:
            frame.generations.append(16 + len(content) + start)
            start = data.find(GENERATION, start + 4)
        offset = now % SLICE
        size = len(content) + len(data)
        frame.data = struct.pack("<IIII", offset // SECOND, offset % SECOND, size, size) \
            + content + data.replace(GENERATION, b"0000")
        frame.packets = 1 if data else 0
        self.frames.append(frame)

        length = len(data) + (1 if flags & (SYN | FIN) else 0)
        self.next[upwards] = (self.next[upwards] + length) & 0xFFFFFFFF
        if not upwards:
            if length:
                self.in_flight.append((now + self.round_trip, self.next[False]))
        if data:
            other = not upwards
            self.unanswered[other] += 1
            arrival = now + (self.round_trip if other else 5)
            if self.unanswered[other] >= 2 or self.owed[other] is None:
                wait = 0 if self.unanswered[other] >= 2 else DELAYED_ACK
                self.owed[other] = min(self.owed[other] or arrival + wait, arrival + wait)


# From one generation to a file


class Generation:
    """The frames of all clients that come in one slice, sorted as a slice holds them."""

    def __init__(self, clients, seed):
        life = (SHORTEST_LIFE + LONGEST_LIFE) // 2
        self.cells = max(1, round(clients * SLICE / life / CELL))
        if self.cells * CELL > 65_000:
            raise SystemExit("make-capture.py: at most 450,000 clients")
        self.frames = []
        for number in range(self.cells):
            cell = Cell(number, number * SLICE // self.cells, seed)
            for client in cell.clients:
                Connection(client, 256 + number * CELL + client.number, self.frames)
        self.frames.sort(key=lambda frame: frame.time % SLICE)
        self.ages = max(frame.time for frame in self.frames) // SLICE + 1
        self.size = sum(len(frame.data) for frame in self.frames)
        self.size_of_cell = [0] * self.cells
        for frame in self.frames:
            self.size_of_cell[frame.cell] += len(frame.data)


class Writer:
    def __init__(self, generation, size, output):
        self.generation, self.output = generation, output
        self.connections = self.frames = self.packets = self.bytes = 0
        whole, rest = divmod(max(0, size - 24), generation.size)
        # The last generation comes with as many cells as still fit.
        self.last_cells = 0
        while self.last_cells < generation.cells and rest >= generation.size_of_cell[self.last_cells]:
            rest -= generation.size_of_cell[self.last_cells]
            self.last_cells += 1
        if whole == 0:
            self.last_cells = max(1, self.last_cells)
        self.whole = whole
        if whole > 9_999:
            raise SystemExit("make-capture.py: too large; take more clients")

    def cells(self, generation):
        if 0 <= generation < self.whole:
            return self.generation.cells
        return self.last_cells if generation == self.whole else 0

    def write(self):
        self.put(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
        ages = self.generation.ages
        steady = range(ages - 1, self.whole)
        for slice_number in range(0, steady.start if steady else self.whole + ages):
            self.put(self.slowly(slice_number))
        if steady:
            for block in self.steadily(steady):
                self.put(block)
            for slice_number in range(steady.stop, self.whole + ages):
                self.put(self.slowly(slice_number))
        self.connections = (self.whole * self.generation.cells + self.last_cells) * CELL

    def put(self, block):
        self.output.write(block)
        self.bytes += len(block)

    def slowly(self, slice_number):
        """A slice in which some generations are missing, frame by frame."""
        block = []
        second = FIRST_SECOND + slice_number * (SLICE // SECOND)
        for frame in self.generation.frames:
            generation = slice_number - frame.time // SLICE
            if frame.cell >= self.cells(generation):
                continue
            data = bytearray(frame.data)
            struct.pack_into("<I", data, 0, second + frame.time % SLICE // SECOND)
            struct.pack_into(">H", data, frame.port, FIRST_PORT + generation)
            for place in frame.generations:
                data[place:place + 4] = b"%04d" % generation
            block.append(data)
            self.frames += 1
            self.packets += frame.packets
        return b"".join(block)

    def steadily(self, slices):
        """Slices with every generation present: one addition after the other."""
        frames, ages = self.generation.frames, self.generation.ages
        size = self.generation.size
        seconds = bytearray(size)
        # For each age: the two bytes of the port, the four digits of the generation.
        places = [[bytearray(size) for _ in range(6)] for _ in range(ages)]
        start = 0
        for frame in frames:
            seconds[start] = 1
            mine = places[frame.time // SLICE]
            mine[0][start + frame.port] = mine[1][start + frame.port + 1] = 1
            for place in frame.generations:
                for digit in range(4):
                    mine[2 + digit][start + place + digit] = 1
            start += len(frame.data)
        whole = int.from_bytes(b"".join(frame.data for frame in frames), "little")
        step = int.from_bytes(seconds, "little")
        places = [[int.from_bytes(mask, "little") for mask in masks] for masks in places]
        packets = sum(frame.packets for frame in frames)
        whole += step * (FIRST_SECOND + slices.start * (SLICE // SECOND))
        step *= SLICE // SECOND
        shown = [[0] * 6 for _ in range(ages)]
        for slice_number in slices:
            for age in range(ages):
                generation = slice_number - age
                wanted = [*divmod(FIRST_PORT + generation, 256), *(int(digit) for digit in "%04d" % generation)]
                for index in range(6):
                    change = wanted[index] - shown[age][index]
                    if change:
                        whole += places[age][index] * change
                shown[age] = wanted
            yield whole.to_bytes(size, "little")
            self.frames += len(frames)
            self.packets += packets
            whole += step


def size(text):
    units = {"K": 10**3, "M": 10**6, "G": 10**9}
    factor = units.get(text[-1:].upper(), 1)
    return int(float(text[:-1] if factor > 1 else text) * factor)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", help="the pcap file to write, or - for standard output")
    parser.add_argument("--size", type=size, default="100M", help="how large, e.g. 500K, 100M, 1G (default 100M)")
    parser.add_argument("--clients", type=int, default=2000, help="open at one time (default 2000)")
    parser.add_argument("--seed", default="reprise", help="another seed gives other payloads and times")
    options = parser.parse_args()
    generation = Generation(options.clients, options.seed)
    with sys.stdout.buffer if options.output == "-" else open(options.output, "wb") as output:
        writer = Writer(generation, options.size, output)
        writer.write()
    print(json.dumps({
        "bytes": writer.bytes, "frames": writer.frames, "packets": writer.packets,
        "connections": writer.connections}), file=sys.stderr if options.output == "-" else sys.stdout)


if __name__ == "__main__":
    main()
