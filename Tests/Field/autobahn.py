#!/usr/bin/env python3
"""Runs Autobahn's test suite at the peers in Python of field.py, and says what it fails beside what our cases fail.

    Tests/Field/autobahn.py [--clients]       servers, or clients

It takes Python 2.7. Left out are its cases of performance (9) and of compression (12 and 13), which look at what is sent back.
"""

import argparse
import collections
import json
import shutil
import socket
import subprocess
import sys
import time

import field

SUITE = "autobahntestsuite==0.8.2"
FOLDER = field.WORK / "autobahn"
NAMES = ["websockets", "aiohttp", "tornado", "wsproto", "autobahn", "picows"]
LEFT_OUT = ["9.*", "12.*", "13.*"]


def suite():
    """The program, installed in an environment of its own by the last virtualenv that knows Python 2.7."""
    program = FOLDER / "venv" / "bin" / "wstest"
    if not program.exists():
        old = field.interpreter("2.7") or sys.exit("autobahn.py: there is no python2.7")
        made, maker = FOLDER / "venv", FOLDER / "maker"
        subprocess.run([sys.executable, "-m", "venv", "--clear", maker], check=True)
        subprocess.run([maker / "bin" / "pip", "install", "--quiet", "virtualenv<20.22"], check=True)
        subprocess.run([maker / "bin" / "virtualenv", "--quiet", "-p", old, made], check=True)
        subprocess.run([made / "bin" / "pip", "install", "--quiet", SUITE], check=True)
    return program


def free():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listening(port):
    """Waits until somebody listens."""
    for _ in range(200):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"autobahn.py: nobody listens on port {port}")


def run(program, mode, settings, folder):
    """Starts the suite."""
    file = FOLDER / f"{mode}.json"
    shared = {"outdir": str(folder), "cases": ["*"], "exclude-cases": LEFT_OUT, "exclude-agent-cases": {}}
    file.write_text(json.dumps(shared | settings))
    return subprocess.Popen([program, "-m", mode, "-s", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def agent(name, *words):
    script = field.HERE / "agents" / f"ws_{name}.py"
    return subprocess.Popen([field.VENV / "bin" / "python", script, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def servers(program, folder):
    started, places = [], []
    for name in NAMES:
        port = free()
        started.append(agent(name, "serve", "--port", str(port)))
        listening(port)
        places.append({"agent": name, "url": f"ws://127.0.0.1:{port}"})
    try:
        run(program, "fuzzingclient", {"servers": places}, folder).wait(900)
    finally:
        for one in started:
            one.kill()


def clients(program, folder):
    port = free()
    url = f"ws://127.0.0.1:{port}"
    server = run(program, "fuzzingserver", {"url": url, "webport": free()}, folder)
    listening(port)
    try:
        for name in NAMES:
            case = 0
            # Behind the last case the server closes at once.
            while case < 260:
                case += 1
                client = agent(name, "connect", f"{url}/runCase?case={case}&agent={name}")
                try:
                    client.wait(60)
                except subprocess.TimeoutExpired:
                    client.kill()
            agent(name, "connect", f"{url}/updateReports?agent={name}").wait(60)
    finally:
        server.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", action="store_true")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    field.install()
    end = "client" if options.clients else "server"
    folder = FOLDER / f"{end}s"
    shutil.rmtree(folder, ignore_errors=True)
    (clients if options.clients else servers)(suite(), folder)
    for name, cases in json.loads((folder / "index.json").read_text()).items():
        good = ("OK", "INFORMATIONAL", "NON-STRICT")
        failed = [c for c, found in cases.items() if found["behavior"] not in good or found["behaviorClose"] not in good]
        own = field.kept(f"{name}-{end}")
        counts = dict(collections.Counter(found["behavior"] for found in cases.values()))
        print(f"{name}: {len(cases)} cases, {counts}")
        print("  Autobahn fails", " ".join(sorted(failed, key=lambda c: [int(n) for n in c.split(".")])) or "nothing")
        print("  ours fail     ", " ".join(c.split("/")[1] for c in own[0]["failed"]) if own else "not driven")


if __name__ == "__main__":
    main()
