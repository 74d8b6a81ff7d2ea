#!/usr/bin/env python3
"""Drives real brokers, clients and peers of WebSocket by all cases of `reprise conform`, and writes down what they do.

    Tests/Field/field.py                      all of them, the full profile
    Tests/Field/field.py mosquitto --profile quick --runs 20      whether a run says the same each time
    Tests/Field/field.py --keep               also replaces the recordings in Recordings/field and the tables in Conformance/README.md

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
REQUIREMENTS = HERE / "agents" / "requirements.txt"
REPRISE = pathlib.Path(os.environ.get("REPRISE", ROOT / ".build" / "release" / "reprise"))
VENV = WORK / "venv"


def text(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def debian(package):
    return text("dpkg-query", "-W", "-f", "${Version}", package)


def install():
    """Installs what is written in Python in a folder of the build's own, and puts that in front of PATH."""
    installed = VENV / "requirements.txt"
    if not installed.exists() or installed.read_text() != REQUIREMENTS.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([VENV / "bin" / "pip", "install", "--quiet", "--requirement", REQUIREMENTS], check=True)
        shutil.copyfile(REQUIREMENTS, installed)
    os.environ["PATH"] = f"{VENV / 'bin'}:{os.environ['PATH']}"


def python(package):
    """The version of a package of agents/requirements.txt."""
    pinned = dict(line.split("==") for line in REQUIREMENTS.read_text().split() if "==" in line)
    return pinned[package]


def password():
    """A file with the password of the brokers that take nobody without one; it is no secret."""
    file = WORK / "password"
    file.write_text("field\n")
    return str(file)


# A subject is driven by a subcommand of `reprise conform` with arguments of its own; `version` finds out what it is. Its
# kind is that of the table that it stands in.
Subject = collections.namedtuple("Subject", ["kind", "subcommand", "arguments", "version"])


def broker(command, version, *more):
    return Subject("broker", "broker", ["--launch", command, *more], version)


def brokers():
    """The brokers. hbmqtt, from which amqtt comes, is not among them: it rests on asyncio.coroutine, which Python 3.11 lacks."""
    return {
        "mosquitto": broker("mosquitto -p {port}", lambda: debian("mosquitto")),
        "amqtt": broker(f"{HERE}/amqtt.sh {{port}}", lambda: python("amqtt")),
        "rabbitmq": broker(f"{HERE}/rabbitmq.sh {{port}}", lambda: debian("rabbitmq-server")),
        "ejabberd": broker(
            f"{HERE}/ejabberd.sh {{port}}",
            lambda: debian("ejabberd"),
            *["--username", "field", "--password-file", password()],
        ),
    }


def client(publishes, subscribes, version):
    return Subject("client", "client", ["--publishes", publishes, "--subscribes", subscribes], version)


def agent(name, package):
    """A client of agents/."""
    script = f"{VENV / 'bin' / 'python'} {HERE}/agents/mqtt_{name}.py"
    options = "--port {port} --topic {topic} --qos {qos} --version {version}"
    return client(
        f"{script} publish {options} --count {{count}}", f"{script} subscribe {options}", lambda: python(package)
    )


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
    }


def peers():
    """Both ends of WebSocket, which echo."""
    found = {}
    for name in ["websockets", "aiohttp", "tornado", "wsproto", "autobahn"]:
        script = [str(VENV / "bin" / "python"), f"{HERE}/agents/ws_{name}.py"]
        launch = " ".join([*script, "serve", "--port", "{port}"])
        found[f"{name}-server"] = Subject("peer", "server", ["--launch", launch], lambda name=name: python(name))
        found[f"{name}-client"] = Subject(
            "peer", "client", ["--websocket", "--", *script, "connect", "{url}"], lambda name=name: python(name)
        )
    return found


# What a run finds and a reader doubts, with the reason: shown as undecided, and kept nowhere. Clauses:
DOUBTED = {
    # It takes a PINGREQ for the identifier that the PUBLISH in front of it lacks, upon which it should have closed.
    ("amqtt", "mqtt-3.1.1/MQTT-3.12.4-1"),
    # It answers an UNSUBSCRIBE without filters by an UNSUBACK without codes: as many as there were filters. That it
    # should have closed is another clause, by which it need not have noticed.
    ("ejabberd", "mqtt-5.0/MQTT-3.11.3-2"),
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
    """Copies what shows the failed clauses, and sees that it does; returns the case of each clause."""
    shown = shown_by(name, report, folder)
    target = RECORDINGS / name
    shutil.rmtree(target, ignore_errors=True)
    if shown:
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
    return shown


def cell(verdict, name, case):
    if verdict == "failed":
        return f"[failed](../Recordings/field/{name}/{case}.pcapng)"
    return {"passed": "passed", "inconclusive": "?", "not-followed": "not followed"}.get(verdict, "–")


def table(results):
    """The table of subjects and clauses: a row for each clause that any of them fails."""
    names = list(results)
    all_verdicts = {n: verdicts(n, results[n][1]) for n in names}
    clauses = dict.fromkeys(c for v in all_verdicts.values() for c in v)
    failed = [c for c in sorted(clauses) if any(v.get(c) == "failed" for v in all_verdicts.values())]
    lines = [
        f"Written by `make field` on {datetime.date.today()}, on {platform.system()} {platform.machine()}, the full profile.",
        "",
        "| | " + " | ".join(f"{n} {results[n][0]}" for n in names) + " |",
        "|---|" + "---|" * len(names),
    ]
    for verdict in ["passed", "failed", "inconclusive", "not-exercised", "not-applicable"]:
        counts = [sum(v == verdict for v in all_verdicts[n].values()) for n in names]
        lines.append(f"| clauses {verdict} | " + " | ".join(map(str, counts)) + " |")
    for clause in failed:
        cells = [cell(all_verdicts[n].get(clause), n, results[n][2].get(clause)) for n in names]
        lines.append(f"| {clause} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


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
    results, flaky = {}, []
    for name in options.subjects or subjects:
        subject = subjects[name]
        version = subject.version()
        report, folder, differing = repeat(name, subject, ["--profile", options.profile], options.runs)
        print(f"{name} {version}: {report['totals']}", flush=True)
        flaky += differing
        results[name] = (version, report, keep(name, subject, report, folder) if options.keep else {})
    for line in flaky:
        print("not the same each time:", line)
    for kind in ["broker", "client", "peer"] if options.keep else []:
        own = {name: result for name, result in results.items() if subjects[name].kind == kind}
        if own:
            write(kind, table(own))
    sys.exit(1 if flaky else 0)


if __name__ == "__main__":
    main()
