"""Measures what recorders of an interface keep of datagrams that come as fast as they can be sent; see interface.sh."""
import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import time

PACKETS = 400_000
SIZE = 100
# The targets: what is kept of all, and the processor time beside tcpdump's.
KEPT = 0.999
SHARE = 1.5


def send(port):
    """Sends all datagrams; returns how many a second that were."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", port))
        payload = bytes(SIZE)
        start = time.perf_counter()
        for _ in range(PACKETS):
            sender.send(payload)
        return PACKETS / (time.perf_counter() - start)


def measure(command, ready, path, port):
    """Runs a recorder; returns the packets in its file, its processor time, its peak memory and the rate of sending."""
    recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in recorder.stderr:
        if ready in line:
            break
    rate = send(port)
    # What the system has not handed on yet is nobody's fault.
    time.sleep(0.3)
    recorder.send_signal(signal.SIGINT)
    recorder.stderr.read()
    _, _, usage = os.wait4(recorder.pid, 0)
    recorder.returncode = 0
    told = subprocess.run(["capinfos", "-c", "-M", "-T", "-r", path], capture_output=True, text=True, check=True)
    return int(told.stdout.split("\t")[1]), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, rate


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reprise", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    # Somebody listens, so that no ICMP comes back; nobody reads.
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    port = receiver.getsockname()[1]
    bpf = f"udp dst port {port}"
    ours, theirs = (os.path.join(options.folder, name) for name in ("ours.pcapng", "theirs.pcap"))
    ways = {
        "reprise": ([options.reprise, "record", "interface", "lo", "--bpf", bpf, "--force", "-o", ours], "capturing", ours),
        # The same buffer, in KiB; root's own file needs root's rights.
        "tcpdump": (["tcpdump", "-Z", "root", "-i", "lo", "-B", "16384", "-w", theirs, bpf], "listening on", theirs),
    }
    results = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, (command, ready, path) in ways.items():
            results[name].append(measure(command, ready, path, port))
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in results.items()}
    for name, (kept, seconds, memory, rate) in medians.items():
        print(
            f"{name}: kept {kept / PACKETS:.2%} of {PACKETS} at {rate:,.0f} a second, "
            f"{seconds / max(kept, 1) * 1e6:.2f} µs of processor time each, {memory:.0f} MiB")
    share = medians["reprise"][1] / medians["reprise"][0] / (medians["tcpdump"][1] / medians["tcpdump"][0])
    print(f"processor time: {share:.2f} × tcpdump's")
    missed = medians["reprise"][0] < KEPT * PACKETS or share > SHARE
    if missed:
        print("a target is missed", file=sys.stderr)
    sys.exit(1 if missed and options.strict else 0)


main()
