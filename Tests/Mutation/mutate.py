#!/usr/bin/env python3
"""Says which small mistakes in the rules of ConformanceKit its tests notice.

All mutants are compiled once, in a copy of the package under .build/mutation, and chosen by an environment variable
when the tests run: a mutant costs seconds. The working tree is only read.

  mutate.py [--seed N] [--count N] [--file PART] [--all] [--planted] [--lean] [--filter TESTS] [--jobs N] [--list]
  mutate.py --check
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import sites

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent
WORK = PACKAGE / ".build/mutation"
# One copy has all mutants; the other one has those that a run tries, and builds in a part of the time.
WHOLE, LEAN = WORK / "package", WORK / "lean"
MUTATED = "Sources/ConformanceKit"
TARGETS = ["CPcap", "CZlib", "CCrypto", "Wire", "WireDeflate", "RepriseCore", "Capture", "DeviceSDK", "CConformance",
           "ConformanceKit", "TestSupport", "ConformanceKitTests"]
# The tests by what they cost, those first that notice most for it: a mutant goes through them until one does. What
# survives has met about 60 s of them. The tests of bytes of any kind and of the SDK take minutes, and are not asked;
# neither are those of the tables of sessions, which see a part of what the tallies hold.
STAGES = [
    "SessionTallyTests/(tallies|talliesOf5|sharedTallies)",
    "VariantTallyTests",
    "FormatTests|LedgerTests|SessionTallyTests/blame|TallyTests|SubscriptionListTests|PacketIDTableTests|HearingTests"
    "|SeenValueTests|RuleSetTests|ReceiverTests|FindingTests|LimitTests|CatalogueGuards|ConnectionClocksTests"
    "|ExampleTests|FindingSecretTests|BaselineTests|FingerprintTests|MergingTests|ReportTests|ReportFormatTests"
    "|HostileReportTests|ReportedConnectionsTests|AttemptTests|HeldViolationsTests|ConductTests",
    "LossTests|SessionTwinTests|TwinTests|RedactedSessionTests|JudgeTests|ConformingBrokerTests",
]


def update(path, text):
    """Writes a file if that changes it, so that what is built of it stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def mirror(folder, copy):
    """Brings a folder of a copy up to date."""
    kept = set()
    for path in (PACKAGE / folder).rglob("*"):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        kept.add(path.relative_to(PACKAGE))
        other = copy / path.relative_to(PACKAGE)
        if folder == MUTATED and path.suffix == ".swift":
            continue
        if not other.exists() or other.read_bytes() != path.read_bytes():
            other.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, other)
    for path in (copy / folder).rglob("*"):
        if path.is_file() and path.relative_to(copy) not in kept and path.name != "Mutants.swift":
            path.unlink()


class Mutant:
    def __init__(self, number, path, line, text, change, name=None):
        self.number, self.path, self.line, self.text = number, path, line, text
        self.change, self.name = change, name

    def __str__(self):
        named = f"{self.name}: " if self.name else ""
        return f"{self.path}:{self.line}: {named}{self.change}\n      {self.text}"

    @property
    def key(self):
        return (self.path, self.text, self.change)


def planted():
    """Mutants that are written down, as expressions or statements and what stands in their place."""
    return json.loads((HERE / "planted.json").read_text())


def accepted():
    """The survivors that are known, by file, line and change, with reasons."""
    known = {}
    for block in (HERE / "accepted.txt").read_text().split("\n\n"):
        lines = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            path, text, change, *reason = lines
            known[(path, text, change)] = " ".join(reason)
    return known


def described(site, change, source):
    """A change with its kind, and which of several places of its line it is at."""
    before = source[source.rfind("\n", 0, site.start) + 1:site.start]
    return f"{site.kind} at {len(before.lstrip()) + 1}: {change}"


def check():
    """Whether what is written down, planted or accepted, still stands in the sources; needs no build."""
    wrong = []
    for plant in planted():
        path, within = f"{MUTATED}/{plant['file']}", plant.get("within", plant["of"])
        count = (PACKAGE / path).read_text().count(within) if (PACKAGE / path).exists() else 0
        if count != 1:
            wrong.append(f"planted.json: {plant['name']}: \"{within}\" stands {count} times in {path}, not once")
    for path, text, change in accepted():
        source = (PACKAGE / path).read_text() if (PACKAGE / path).exists() else ""
        lines = source.split("\n")
        if not any(lines[source.count("\n", 0, site.start)].strip() == text and described(site, one, source) == change
                   for site in sites.find(source) for one in site.changes):
            wrong.append(f"accepted.txt: {path} has no place any more for: {change}: {text}")
    if wrong:
        sys.exit("\n".join(["mutate: mutants are written down that can't be made; change the entries or take them out:",
                            *wrong]))


def copied(copy):
    """Brings the copy up to date, but for the sources that have mutants."""
    for name in ["Conformance", *(f"Sources/{t}" for t in TARGETS if (PACKAGE / "Sources" / t).exists()),
                 "Tests/TestSupport", "Tests/ConformanceKitTests"]:
        mirror(name, copy)
    for name in ["Recordings"]:
        if not (copy / name).exists():
            (copy / name).symlink_to(PACKAGE / name)
    manifest = (PACKAGE / "Package.swift").read_text().replace("  .treatAllWarnings(as: .error),\n", "")
    manifest += f"\n// A copy for mutants.\nlet kept: Set<String> = {json.dumps(TARGETS)}\n"
    # Optimized, because then the tests take a tenth of the time.
    manifest += "for target in package.targets where target.type == .regular {\n"
    manifest += "  target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags([\"-O\"])]\n}\n"
    manifest += "package.targets.removeAll { !kept.contains($0.name) }\npackage.products = []\n"
    update(copy / "Package.swift", manifest)
    update(copy / MUTATED / "Mutants.swift", (HERE / "Support.swift").read_text())


def planted_sites(name, source):
    """The planted mutants of one file, as sites with their names."""
    found = []
    for plant in planted():
        if plant["file"] != name.removeprefix(MUTATED + "/"):
            continue
        within = plant.get("within", plant["of"])
        if source.count(within) != 1:
            sys.exit(f"planted.json: {plant['name']}: \"{within}\" is not there once in {name}")
        start = source.find(within) + within.rfind(plant["of"])
        site = sites.Site(start, start + len(plant["of"]), "planted", [f"{plant['of']} -> {plant['to']}"])
        form = "if mutant({}) {{ %s }} else {{ %s }}" if plant.get("isStatement") else "(mutant({}) ? (%s) : (%s))"
        site.cuts = [(site.start, site.end, form % tuple(
            text.replace("{", "{{").replace("}", "}}") for text in (plant["to"], plant["of"])))]
        found.append((site, plant["name"]))
    return found


def sites_of(name, source):
    """All sites of one file, each with the name of the planted mutant that it is, if it is one."""
    found = planted_sites(name, source)
    taken = [(site.start, site.end) for site, _ in found]
    for site in sites.find(source):
        inside = any(site.start < end and start < site.end and not (site.start <= start and end <= site.end)
                     for start, end in taken)
        if not inside and (site.start, site.end) not in taken:
            found.append((site, None))
    return found


def prepare(copy, refused, pick):
    """Writes the copy with the mutants that are picked; returns these, and by file and line the sites that stand there."""
    copied(copy)
    files, mutants, number = [], [], 1
    for path in sorted((PACKAGE / MUTATED).rglob("*.swift")):
        name = str(path.relative_to(PACKAGE))
        source = path.read_text()
        if not re.search(r"/(Rules|Engine)/", name):
            update(copy / name, source)
            continue
        lines = source.split("\n")
        numbered = []
        for site, plant in sites_of(name, source):
            line = source.count("\n", 0, site.start) + 1
            text = lines[line - 1].strip()
            key = [name, text, site.kind, site.changes]
            if key in refused:
                continue
            numbered.append((site, number, key))
            for change in site.changes:
                shown = change if plant else described(site, change, source)
                mutants.append(Mutant(number, name, line, text, shown, plant))
                number += 1
        files.append((name, source, numbered))
    tried = pick(mutants)
    numbers = {mutant.number for mutant in tried}
    places = {}
    for name, source, numbered in files:
        chosen = [(site, first) for site, first, _ in numbered
                  if copy == WHOLE or numbers & set(range(first, first + len(site.changes)))]
        written = {first for _, first in chosen}
        for site, first, key in numbered:
            if first in written:
                for place in range(source.count("\n", 0, site.start) + 1, source.count("\n", 0, site.end) + 2):
                    places.setdefault((name, place), []).append((site, key))
        update(copy / name, sites.rewritten(source, chosen))
    return mutants, tried, places


def swift(copy, *arguments):
    return subprocess.run(["swift", *arguments], cwd=copy, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def build(copy, pick):
    """Builds the copy; leaves the sites out that the compiler refuses, and remembers them."""
    state = WORK / "refused.json"
    refused = json.loads(state.read_text()) if state.exists() else []
    for attempt in range(20):
        mutants, tried, places = prepare(copy, refused, pick)
        # Most sites that are refused show before the tests are built.
        arguments = ["build", "--target", "ConformanceKit"] if copy == WHOLE and (attempt == 0 or failed) else [
            "build", "--build-tests"]
        result = swift(copy, *arguments)
        if result.returncode == 0 and arguments[1] == "--build-tests":
            return mutants, tried
        failed = result.returncode != 0
        (WORK / f"build-{attempt}.log").write_text(result.stdout)
        if not failed:
            continue
        wrong = set(re.findall(rf"({MUTATED}/[\w/+.]+\.swift):(\d+):\d+: error: ", result.stdout))
        found = [key for path, line in sorted(wrong) for _, key in narrowest(places, path, int(line))]
        print(f"   {len(wrong)} lines do not compile; {len(found)} sites left out", flush=True)
        if any(key[2] == "planted" for key in found) or not found:
            print(result.stdout[-6000:])
            sys.exit("mutate: the mutated copy can't be built")
        refused += [key for key in found if key not in refused]
        state.write_text(json.dumps(refused))
    sys.exit("mutate: the mutated copy can't be built")


def narrowest(places, path, line):
    """The sites of one line, if there are any of only this line; else those that span it, or stand before it."""
    found = places.get((path, line), [])
    own = [pair for pair in found if pair[0].kind != "statement"]
    if own or found:
        return own or found
    above = (places.get((path, other), []) for other in range(line - 1, max(0, line - 12), -1))
    return next((statements for pairs in above if (statements := [p for p in pairs if p[0].kind == "statement"])), [])


def run(copy, binary, tests, number, limit):
    environment = {**os.environ, "REPRISE_MUTANT": str(number)}
    environment.pop("REPRISE_CAPTURES", None)
    try:
        return subprocess.run([binary, "--testing-library", "swift-testing", "--filter", tests], cwd=copy, timeout=limit,
                              env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return -1


def picked(options, known):
    """What says which of all mutants are tried: the planted ones, and a sample of the others by lot.

    The lot of a mutant goes by what it changes and in which line, so that a sample stays what it is when other lines
    change.
    """
    def lot(mutant):
        return hashlib.sha256("\n".join([str(options.seed), *mutant.key]).encode()).digest()

    def pick(mutants):
        named = [mutant for mutant in mutants if mutant.name and not options.file]
        others = [mutant for mutant in mutants if not mutant.name and (options.file or "") in mutant.path]
        candidates = sorted((mutant for mutant in others if mutant.key not in known), key=lot)
        count = 0 if options.planted else len(candidates) if options.all else options.count
        return sorted(named + candidates[:count], key=lambda mutant: mutant.number)
    return pick


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--file", help="only files whose path has this in it")
    parser.add_argument("--all", action="store_true", help="all of them, instead of a sample")
    parser.add_argument("--planted", action="store_true", help="only those of planted.json")
    parser.add_argument("--lean", action="store_true",
                        help="compile only those that are tried, in a copy of its own, which takes less time")
    parser.add_argument("--filter", help="the tests to run, instead of those of sessions and the judge's parts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="say what would be tried, and try nothing")
    parser.add_argument("--check", action="store_true",
                        help="only whether planted.json and accepted.txt still fit the sources, in a second")
    parser.add_argument("--minimum", type=int, default=90, help="the percentage that has to be noticed")
    options = parser.parse_args()

    if options.check:
        return check()
    known = accepted()
    copy = LEAN if options.lean else WHOLE
    print(f"== Building {'the mutants that are tried' if options.lean else 'all mutants at once'}", flush=True)
    mutants, tried = build(copy, picked(options, known))
    stale = set(known) - {mutant.key for mutant in mutants}
    for path, text, change in sorted(stale):
        print(f"   accepted.txt: no such mutant any more: {path}: {change}: {text}")
    print(f"== {len(mutants)} mutants, of which {len(known)} are accepted; {len(tried)} are tried", flush=True)
    if options.list:
        for mutant in tried:
            print(f"   {mutant}")
        return

    binary = next((copy / ".build/debug").glob("*.xctest"))
    stages = [options.filter] if options.filter else [f"ConformanceKitTests\\.({tests})\\b" for tests in STAGES]
    start = time.monotonic()
    limits = []
    for tests in stages:
        begun = time.monotonic()
        if code := run(copy, binary, tests, 0, 600):
            sys.exit(f"mutate: the tests fail without any mutant (status {code}): {tests}")
        limits.append(20 + 10 * (time.monotonic() - begun))

    def status(mutant):
        return next((code for tests, limit in zip(stages, limits) if (code := run(copy, binary, tests, mutant.number, limit))), 0)

    survivors = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        codes = pool.map(status, tried)
        for count, (mutant, code) in enumerate(zip(tried, codes), 1):
            if code == 0:
                survivors.append(mutant)
                print(f"   survived: {mutant}", flush=True)
            elif count % 50 == 0:
                print(f"   {count} tried, {len(survivors)} survived", flush=True)
    noticed = len(tried) - len(survivors)
    percentage = 100 * noticed / max(1, len(tried))
    spent = time.monotonic() - start
    print(f"== {noticed} of {len(tried)} mutants noticed ({percentage:.1f} %), {len(survivors)} survived, in {spent:.0f} s")
    lost = [mutant for mutant in survivors if mutant.name]
    if lost or percentage < options.minimum:
        sys.exit(1)


main()
