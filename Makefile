# What one does with this package. Each step says what it does; everything made lands in .build.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: help demo build install deb test example mutate sanitize fuzz lint bench field docs diagrams recordings setup clean

reprise := .build/release/reprise
silent := Recordings/keep-alive-expired/capture.pcap
# Of a broker that breaks clauses of MQTT.
others := $(wildcard Recordings/rabbitmq-*/capture.pcap)
# The packages of what make field drives: brokers, then clients of MQTT, then peers of WebSocket.
subjects := rabbitmq-server ejabberd activemq paho.mqtt.c-examples node-mqtt nodejs golang-go golang-github-eclipse-paho.mqtt.golang-dev openjdk-17-jdk-headless libmqtt-client-java node-ws libmojolicious-perl golang-github-gorilla-websocket-dev golang-nhooyr-websocket-dev libwebsockets-dev libwebsocketpp-dev libboost-dev libboost-system-dev
scripts := $(wildcard .ci/*) Packaging/install Packaging/deb Recordings/record-lib.sh $(wildcard Recordings/*/record.sh Tests/Benchmarks/*.sh Tests/Field/*.sh)

help:
	@echo "make demo        judge every recording of this repository"
	@echo "make build       the command, for release"
	@echo "make install     what make build made, with man pages and completions, below PREFIX (/usr/local)"
	@echo "make deb         a package of Debian in .build/deb, for machines without Swift"
	@echo "make test        arrows between the targets, tests, a sample of mutants, the command as make build makes it, the"
	@echo "                 package, the example's tests, lint"
	@echo "make example     builds the example app of Tests/Example and runs its tests"
	@echo "make mutate      which of COUNT small mistakes in the rules of conformance the tests notice;"
	@echo "                 SEED chooses others, FILE those of some files (Tests/Mutation/mutate.py)"
	@echo "make sanitize    all tests under the sanitizers of addresses, threads and undefined behaviour,"
	@echo "                 and in release mode; ONLY=FILTER runs some of them"
	@echo "make fuzz        libFuzzer on all that takes bytes from outside, TIME seconds each"
	@echo "make lint        format of the sources, syntax of the scripts, places of mutants that are written down"
	@echo "make bench       speed and memory beside tshark, tcpdump and libmosquitto"
	@echo "make field       drives real brokers and clients by all cases, and sees that a quick run says the same each time;"
	@echo "                 KEEP=1 writes what they do into Conformance/README.md and Recordings/field"
	@echo "make docs        the site of the documentation in .build/docs, with all of its links checked"
	@echo "make diagrams    the state diagrams of the documentation, from the machines' tables"
	@echo "make recordings  record everything in Recordings anew"
	@echo "make setup       install the Debian packages that are missing"
	@echo "make clean       remove everything made"

setup:
	@.ci/setup

# With the libraries of Swift inside of it, where the toolchain has them to link: it starts in a third of the time, and
# runs where there is no Swift. Without symbols, which are half of its size; the linker of LLVM, where the toolchain has
# it, leaves out a tenth of the rest: names that nobody looks up, functions that are there twice, and most of the table of
# addresses to be set at the start.
toolchain := $(dir $(realpath $(shell command -v swift)))
static := $(if $(wildcard $(toolchain)../lib/swift_static),--static-swift-stdlib)
slim := $(if $(wildcard $(toolchain)ld.lld),-Xswiftc -use-ld=lld $(addprefix -Xlinker ,--icf=safe --no-export-dynamic -z pack-relative-relocs))
build: setup
	@echo "== The command, for release"
	swift build -c release --product reprise $(static) $(slim) -Xlinker -s

# Builds nothing, so that root need not: run make build first. DESTDIR stands in front of all paths.
PREFIX ?= /usr/local
install:
	@Packaging/install $(reprise) "$(DESTDIR)" "$(PREFIX)"

deb: build
	@Packaging/deb $(reprise) .build/deb

demo: build
	@echo "== Every recording against the clauses of MQTT"
	$(reprise) conform trace $(filter-out $(silent) $(others),$(wildcard Recordings/*/capture.pcap))
	@echo "== The recording of clients that are silent for longer than their Keep Alive: it must fail"
	status=0; $(reprise) conform trace --clause 3.1.2.10 $(silent) || status=$$?; test $$status = 1
	@echo "== The recordings of a broker that goes ways of its own: they must fail, too"
	status=0; $(reprise) conform trace $(others) || status=$$?; test $$status = 1
	@echo "== The SDK against its own clauses, on recordings and captures of its scenarios"
	$(reprise) conform sdk

# So many tests at a time. Without a bound all of them begin at once: a test that waits for another task then waits for
# most of the others, and one of XCTest takes a processor for as long, as it waits in a loop.
width := SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
test: setup
	@echo "== Build; no import that the manifest does not declare"
	swift build --explicit-target-dependency-import-check error
	@echo "== Tests"
	$(width) .ci/tests .build/tests.log --skip LiveClientTests --skip DocumentationTests
	@echo "== Tests with a broker of their own, which measure real time and so want the machine to themselves"
	$(width) .ci/tests .build/tests-live.log --skip-build --filter LiveClientTests --skip FieldSubjectTests
	@echo "== Tests that drive real brokers, clients and peers, of which one takes both processors to start"
	$(width) .ci/tests .build/tests-subjects.log --skip-build --filter FieldSubjectTests
	@echo "== Tests of the documentation's pages, of which the tutorial builds a package"
	.ci/tests .build/tests-documentation.log --skip-build --filter DocumentationTests
	@echo "== Small mistakes in the rules of conformance, which the tests must notice"
	python3 Tests/Mutation/mutate.py --lean --count 25 --seed 1
	@$(MAKE) --no-print-directory build
	@.ci/release
	@.ci/package
	@$(MAKE) --no-print-directory example
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory docs
	@.ci/comparisons .build/tests.log

# Packages of their own, as a user's app is. They have the same folder of objects as this one, where the compiler finds
# those of its libraries up to date: on a busy machine of two cores the example takes 22 s there, and a folder of its own
# took 128 s. The package manager keeps one plan of a build in a folder, though, and may take that of the other package
# for its own, and build nothing: so each build asks for a plan of its own, which goes when it is done.
plan := .build/debug.yaml
# Programs of the tests are no products to those who depend on this package.
example: setup
	@echo "== The programs of the benchmarks, which see what is public alone"
	@trap 'rm -f $(plan)' EXIT; rm -f $(plan); \
	  swift build --package-path Tests/Benchmarks/programs --scratch-path .build --disable-build-manifest-caching
	@echo "== The example, a package of its own"
	@trap 'rm -f $(plan)' EXIT; set -x; swift build --product reprise; rm -f $(plan); \
	  swift build --build-tests --package-path Tests/Example --scratch-path .build --disable-build-manifest-caching; \
	  swift test --skip-build --package-path Tests/Example --scratch-path .build; \
	  ! swift build --product live-publisher --package-path Tests/Example --scratch-path .build

# A larger sample than that of the tests, of all mutants, which take a while to build.
mutate: setup
	python3 Tests/Mutation/mutate.py --seed $(or $(SEED),1) --count $(or $(COUNT),100) $(if $(FILE),--file '$(FILE)')

# Each in a folder of its own: objects with and without a sanitizer don't go together.
# What a command holds when it ends is no leak, and what a sanitizer takes itself is not bounded. Optimized where that is
# possible, because the tests then end in minutes: of optimized locks and continuations the thread sanitizer does not
# see what they order, and a program of nothing else has races for it.
sanitize: setup
	@mkdir -p .build
	clang -O1 -Wall -Werror -shared -fPIC -o .build/tsan-mutex.so Tests/Sanitizers/tsan-mutex.c
	@failed=0; for sanitizer in address thread undefined; do \
	  echo "== Tests under the sanitizer: $$sanitizer, without the bounds of memory and time"; \
	  if ! swiftc -sanitize=$$sanitizer -typecheck - </dev/null 2>/dev/null; then \
	    echo "not run: this toolchain has no such sanitizer for this system"; continue; \
	  fi; \
	  preload=; mode='-c release -Xswiftc -enable-testing'; \
	  [ $$sanitizer != thread ] || { preload=$$PWD/.build/tsan-mutex.so; mode=; }; \
	  ASAN_OPTIONS=detect_leaks=0:suppressions=$$PWD/Tests/Sanitizers/address.supp \
	    REPRISE_SANITIZER=$$sanitizer MALLOC_PERTURB_=170 LD_PRELOAD=$$preload \
	    SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 \
	    swift test $$mode --sanitize=$$sanitizer --scratch-path .build/$$sanitizer \
	    $(if $(ONLY),--filter '$(ONLY)') || failed=1; \
	done; exit $$failed
	@echo "== Tests in release mode, in memory that is overwritten when it is given back"
	MALLOC_PERTURB_=170 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
	  swift test -c release -Xswiftc -enable-testing --scratch-path .build/optimized \
	  $(if $(ONLY),--filter '$(ONLY)')

fuzz: setup
	@echo "== Fuzz targets"
	@TIME="$(or $(TIME),60)" .ci/fuzz

lint:
	@echo "== Format of the sources"
	swift format lint --strict --recursive --parallel Sources Tests Package.swift
	@echo "== Syntax of $(words $(scripts)) scripts"
	@for script in $(scripts); do bash -n "$$script"; done
	@echo "== Mutants that are written down still stand in the rules"
	@PYTHONDONTWRITEBYTECODE=1 python3 Tests/Mutation/mutate.py --check

# Not part of the tests: it takes brokers, clients and peers from Debian and PyPI, and two hours. Twenty runs, because a
# verdict that is not the same each time accuses by chance.
field: build
	@dpkg-query -W $(subjects) >/dev/null 2>&1 || { echo "field: apt-get install --no-install-recommends $(subjects)" >&2; exit 2; }
	@echo "== Brokers and clients, driven by all cases"
	python3 Tests/Field/field.py $(if $(KEEP),--keep)
	@echo "== The quick profile, again and again"
	python3 Tests/Field/field.py mosquitto --profile quick --runs $(or $(RUNS),20)

bench: setup
	@echo "== Speed and memory"
	Tests/Benchmarks/bench.sh

docs: setup
	@echo "== Documentation"
	@.ci/docs

diagrams: setup
	@command -v dot >/dev/null || { echo "diagrams: no dot; install graphviz" >&2; exit 2; }
	WRITE_DIAGRAMS=1 swift test --filter StateDiagramTests

recordings: setup
	@echo "== Recordings, anew"
	@for script in Recordings/*/record.sh; do "$$script"; done

clean:
	swift package clean
	rm -rf .build/bench .build/docs .build/documentation .build/venv
