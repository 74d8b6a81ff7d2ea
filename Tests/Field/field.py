#!/usr/bin/env python3
"""Drives real brokers by all cases of `reprise conform broker`, and writes down what they do.

    Tests/Field/field.py                      all brokers, the full profile
    Tests/Field/field.py mosquitto --profile quick --runs 20      whether a run says the same each time
    Tests/Field/field.py --keep               also replaces the recordings in Recordings/field and the table in Conformance/README.md

A clause that fails was looked at by hand against the standard's text before it is kept: `--keep` writes down what a run found,
and whoever commits it has read it.
"""

import argparse
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
BEGIN, END = "<!-- what field.py writes -->", "<!-- until here -->"
AMQTT = "0.12.1"


def text(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def debian(package):
    return text("dpkg-query", "-W", "-f", "${Version}", package)


def amqtt():
    """Installs amqtt in a folder of the build's own."""
    venv = WORK / "venv"
    if not (venv / "bin" / "amqtt").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", f"amqtt=={AMQTT}"], check=True)
    os.environ["PATH"] = f"{venv / 'bin'}:{os.environ['PATH']}"
    return AMQTT


# What starts a broker, and how its version is found out; what it takes besides is installed then.
SUBJECTS = {
    "mosquitto": ("mosquitto -p {port}", lambda: debian("mosquitto")),
    "amqtt": (f"{HERE}/amqtt.sh {{port}}", amqtt),
    "rabbitmq": (f"{HERE}/rabbitmq.sh {{port}}", lambda: debian("rabbitmq-server")),
}


# What a run finds and a reader doubts, with the reason: shown as undecided, and kept nowhere.
DOUBTED = {
    # It takes a PINGREQ for the identifier that the PUBLISH in front of it lacks, upon which it should have closed.
    ("amqtt", "mqtt-3.1.1/MQTT-3.12.4-1"),
}


def drive(name, profile, run):
    """Drives a broker; returns the report and the folder of its recordings."""
    command, version = SUBJECTS[name]
    shown = version()
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    report = WORK / f"{name}.{run}.json"
    reprise = os.environ.get("REPRISE", ROOT / ".build" / "release" / "reprise")
    words = [reprise, "conform", "broker", "--launch", command, "--profile", profile]
    status = subprocess.run(
        words + ["--save", folder, "--format", "json", "--output", report, "--force", "--quiet"]
    ).returncode
    if status not in (0, 1):
        sys.exit(f"{name}: conform broker ended with {status}")
    return shown, json.loads(report.read_text()), folder


def verdicts(report):
    return {f"{c['spec']}/{c['id']}": c["verdict"] for c in report["clauses"]}


def shown_by(name, report, folder):
    """The smallest recording of a case that shows each clause which failed."""
    shown = {}
    for clause in report["clauses"]:
        key = f"{clause['spec']}/{clause['id']}"
        if clause["verdict"] == "failed" and (name, key) not in DOUBTED:
            cases = {f["case"] for f in clause["findings"]}
            shown[key] = min(cases, key=lambda c: ((folder / f"{c}.pcapng").stat().st_size, c))
    return shown


def keep(name, report, folder):
    """Copies what shows the failed clauses, and sees that it does; returns the case of each clause."""
    shown = shown_by(name, report, folder)
    target = RECORDINGS / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    reprise = os.environ.get("REPRISE", ROOT / ".build" / "release" / "reprise")
    for clause, case in sorted(shown.items()):
        # A recording in JSON hides a bad packet with a password in it, and so can't show what is bad.
        copy = target / f"{case}.pcapng"
        shutil.copyfile(folder / f"{case}.pcapng", copy)
        status = subprocess.run(
            [reprise, "conform", "trace", copy, "--clause", clause], stdout=subprocess.DEVNULL
        ).returncode
        if status != 1:
            sys.exit(f"{copy}: does not show {clause}")
    return shown


def cell(verdict, name, case):
    if verdict == "failed" and case is None:
        return "?"
    if verdict == "failed":
        return f"[failed](../Recordings/field/{name}/{case}.pcapng)"
    return {"passed": "passed", "inconclusive": "?", "not-followed": "not followed"}.get(verdict, "–")


def table(results):
    """The table of subjects and clauses: a row for each clause that any of them fails."""
    names = list(results)
    all_verdicts = {n: verdicts(results[n][1]) for n in names}
    failed = [c for c in all_verdicts[names[0]] if any(v[c] == "failed" for v in all_verdicts.values())]
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
        cells = [cell(all_verdicts[n][clause], n, results[n][2].get(clause)) for n in names]
        lines.append(f"| {clause} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("subjects", nargs="*", default=list(SUBJECTS))
    parser.add_argument("--profile", default="full", choices=["quick", "full"])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    results, flaky = {}, []
    for name in options.subjects:
        before = None
        for run in range(options.runs):
            version, report, folder = drive(name, options.profile, run)
            now = verdicts(report)
            if before and now != before:
                flaky += [f"{name} {c}: {before[c]}, then {now[c]}" for c in now if now[c] != before[c]]
            before = before or now
        print(f"{name} {version}: {report['totals']}")
        results[name] = (version, report, keep(name, report, folder) if options.keep else {})
    for line in flaky:
        print("not the same each time:", line)
    if options.keep:
        before, rest = TABLE.read_text().split(BEGIN)
        TABLE.write_text(f"{before}{BEGIN}\n\n{table(results)}\n\n{END}{rest.split(END)[1]}")
    sys.exit(1 if flaky else 0)


if __name__ == "__main__":
    main()
