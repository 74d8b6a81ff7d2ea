"""Measures what a proxy costs: bytes a second one way, and round trips of 60 bytes; see proxy.sh."""
import argparse
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

MEBIBYTES = 300
TRIPS = 3_000
# The targets: the share of socat's throughput, and what may be added to a round trip.
SHARE = 0.8
ADDED = 200e-6


def serve(listener):
    """Takes connections: what begins with E is sent back, all else is read to its end and answered by one byte."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    buffer = bytearray(1 << 20)
    if connection.recv(1) == b"E":
        while count := connection.recv_into(buffer):
            connection.sendall(memoryview(buffer)[:count])
    else:
        while connection.recv_into(buffer):
            pass
        connection.sendall(b".")
    connection.close()


def connected(port):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def throughput(port):
    """Bytes a second."""
    with connected(port) as connection:
        block = bytes(1 << 20)
        start = time.perf_counter()
        connection.sendall(b"S")
        for _ in range(MEBIBYTES):
            connection.sendall(block)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        return (MEBIBYTES << 20) / (time.perf_counter() - start)


def trip(port):
    """Seconds there and back, the median."""
    with connected(port) as connection:
        connection.sendall(b"E")
        times = []
        for _ in range(TRIPS):
            start = time.perf_counter()
            connection.sendall(b"m" * 60)
            connection.recv(1_000)
            times.append(time.perf_counter() - start)
        return statistics.median(times)


def started(words, port):
    """Starts a proxy and waits until it listens."""
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process
        if process.poll() is not None:
            break
        time.sleep(0.01)
    sys.exit(f"proxy.py: {words[0]} does not listen on {port}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reprise", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    server = listener.getsockname()[1]
    ports = {"nothing": server, "socat": free_port(), "reprise": free_port()}
    capture = os.path.join(options.folder, "proxy.pcapng")
    processes = [
        started(["socat", f"TCP-LISTEN:{ports['socat']},bind=127.0.0.1,fork,nodelay",
                 f"TCP:127.0.0.1:{server},nodelay"], ports["socat"]),
        started([options.reprise, "record", "proxy", f"127.0.0.1:{ports['reprise']}",
                 f"127.0.0.1:{server}", "-o", capture], ports["reprise"]),
    ]
    rates = {name: [] for name in ports}
    trips = {name: [] for name in ports}
    try:
        for _ in range(options.rounds):
            for name, port in ports.items():
                rates[name].append(throughput(port))
                trips[name].append(trip(port))
        with open(f"/proc/{processes[1].pid}/status") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    for name in ports:
        print(f"{name:8}  {statistics.median(rates[name]) / 1e6:6.0f} MB/s"
              f"  {statistics.median(trips[name]) * 1e6:5.0f} us a round trip")
    share = statistics.median(rates["reprise"]) / statistics.median(rates["socat"])
    added = statistics.median(trips["reprise"]) - statistics.median(trips["nothing"])
    print(f"reprise   {share:.2f} x socat's throughput (target {SHARE}), {added * 1e6:.0f} us added"
          f" (target {ADDED * 1e6:.0f}), {peak / 1024:.0f} MiB at most")
    if options.strict and (share < SHARE or added > ADDED):
        sys.exit(1)


main()
