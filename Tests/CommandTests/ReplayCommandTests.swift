import AppSessions
import CloudSimulator
import DeviceSDK
import Foundation
import RepriseCore
import TestSupport
import Testing

@Suite struct ReplayCommandTests {
  private let scratch = Scratch()

  /// A session in which the account is bound, a request is answered, and a message comes.
  private static func session() async throws -> [UInt8] {
    try await AppSession.record { app in
      try await app.connect()
      try await app.channel.bind(token: "secret-1")
      _ = try await app.channel.invoke("/light/get", ["sign": "secret-2", "room": "kitchen"])
      app.cloud.push(CloudPush(.properties([JSONMember("LightSwitch", 1)])), to: app.device)
      try await app.wait(until: 5)
      app.broker.drop("app")
      try await app.wait(until: 10)
    }
  }

  private func replay(_ words: String...) throws -> RepriseProcess.Result {
    let speed = words.contains("--speed") ? [] : ["--speed", "max"]
    return try RepriseProcess.run(["replay", "sdk"] + words + speed)
  }

  /// A client is chosen by either of the names that an app is known by.
  @Test(arguments: ["phone1&a1pk", "a1pk.phone1|securemode=2,signmethod=hmacsha256|"])
  func choosesAClientByItsNames(_ name: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Recordings/account-bind")
    let result = try replay(folder.standardizedFileURL.path, "--client-id", name)
    #expect(result.status == 0)
    #expect(result.output.contains("account      bound"))
    let none = try replay(folder.standardizedFileURL.path, "--client-id", "phone2&a1pk")
    #expect(none.status == 2)
    #expect(none.errors.contains(#"the session has no client "phone2&a1pk""#))
  }

  // MARK: What it prints

  @Test func printsWhatTheSDKSaw() async throws {
    let file = try scratch.write(try await Self.session(), to: "app.jsonl").path
    let result = try replay(file)
    #expect(result.status == 0)
    #expect(result.errors == "")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "# \(file), 2026-01-01 (UTC), app dev1&a1pk")
    #expect(
      lines.dropFirst().prefix(8).map { String($0.dropFirst(20)) } == [
        " 3  #1   → start 1", " 3  #1   ← state        connecting",
        " 4  #1   ← state        connected", " 4  #1   ← start 1      ok",
        " 7  #1   → bind 2", " 8  #1   ← account      binding",
        "11  #1   ← account      bound", "11  #1   ← bind 2       ok  {}",
      ])
  }

  @Test func hidesSecretsUnlessAskedNotTo() async throws {
    let file = try scratch.write(try await Self.session(), to: "app.jsonl").path
    for format in ["text", "jsonl"] {
      let hidden = try replay(file, "--format", format)
      #expect(hidden.output.contains("kitchen"))
      #expect(!hidden.output.contains("secret-"))
      let shown = try replay(file, "--format", format, "--show-secrets")
      #expect(shown.output.contains("secret-2"))
    }
  }

  @Test func printsJSON() async throws {
    let file = try scratch.write(try await Self.session(), to: "app.jsonl").path
    let result = try replay("-f", "jsonl", file)
    #expect(result.status == 0)
    let values = result.output.split(separator: "\n").map { JSONValue(parsing: Array($0.utf8)) }
    #expect(values.allSatisfy { $0?["file"]?.text == file && $0?["time"]?.text != nil })
    let types = values.compactMap { $0?["type"]?.text }
    #expect(types.count == values.count)
    #expect(types.last == "end")
    let message = try #require(values.first { $0?["type"]?.text == "message" } ?? nil)
    #expect(message["topic"]?.text == "/thing/properties")
    #expect(message["params"]?["items"]?["LightSwitch"]?["value"]?.integer == 1)
    #expect(message["connection"]?.integer == 1)
    #expect(message["frame"]?.integer != nil)
    #expect(values.last??["lostConnections"]?.integer == 1)
  }

  @Test func aRecordingAndACaptureShowTheSame() async throws {
    let recording = try await Self.session()
    let first = try scratch.write(recording, to: "app.jsonl").path
    let second = try scratch.write(try CaptureFile.bytes(of: recording), to: "app.pcap").path
    let results = try [first, second].map { try replay($0) }
    #expect(results.map(\.status) == [0, 0])
    #expect(results.map(\.errors) == ["", ""])
    let texts = results.map { result in
      result.output.split(separator: "\n").dropFirst().map { line in
        // A capture can't know what a client says of a loss.
        String(
          line.replacing(/the connection was lost: .*$/, with: "").dropFirst(
            line.first == "#" ? 0 : 23))
      }
    }
    #expect(texts[0].count == 19)
    #expect(texts[0] == texts[1])
  }

  @Test func takesAFolder() async throws {
    let recording = try await Self.session()
    let folder = scratch.file("bind")
    try scratch.write(try CaptureFile.bytes(of: recording), to: "bind/capture.pcap")
    try scratch.write(recording, to: "bind/a.jsonl")
    #expect(try replay(folder + "/").output.hasPrefix("# \(folder)/capture.pcap, "))
    try scratch.write(recording, to: "one/b.jsonl")
    #expect(try replay(scratch.file("one")).output.hasPrefix("# \(scratch.file("one"))/b.jsonl, "))
    try scratch.write(recording, to: "two/a.jsonl")
    try scratch.write(recording, to: "two/b.jsonl")
    let two = scratch.file("two")
    #expect(
      try replay(two).errors
        == "reprise: \(two) has 2 sessions; name one of them: \(two)/a.jsonl, \(two)/b.jsonl\n")
    try scratch.write("", to: "none/README.md")
    let none = try replay(scratch.file("none"))
    #expect(
      none.errors.hasSuffix(
        "there is no capture and no recording in \(scratch.file("none")); name a file\n"))
    #expect(none.status == 2)
  }

  @Test func readsStandardInput() async throws {
    let result = try RepriseProcess.run(
      ["replay", "sdk", "-", "--speed", "max"], input: try await Self.session())
    #expect(result.status == 0)
    #expect(result.output.hasPrefix("# -, 2026-01-01 (UTC)"))
  }

  @Test func letsTimePassAsAskedFor() async throws {
    let recording = try await AppSession.record { app in
      try await app.connect()
      _ = try await app.channel.invoke("/a")
      try await app.wait(until: 3)
      app.cloud.push(CloudPush(.status(isOnline: true)), to: app.device)
      try await app.wait(until: 4)
    }
    let file = try scratch.write(recording, to: "app.jsonl").path
    let start = ContinuousClock.now
    let result = try replay(file, "--speed", "10")
    let elapsed = ContinuousClock.now - start
    #expect(result.status == 0)
    #expect(result.output == (try replay(file).output))
    #expect(elapsed >= .milliseconds(300))
  }

  /// Time passes as recorded unless another speed is asked for, and long times are told of.
  @Test func endsWhenNobodyReadsOn() async throws {
    let recording = try await AppSession.record { app in
      try await app.connect()
      for seconds in 1...5 as ClosedRange<Int64> {
        try await app.wait(until: seconds)
        app.cloud.push(CloudPush(.status(isOnline: true)), to: app.device)
      }
      try await app.wait(until: 30)
    }
    let file = try scratch.write(recording, to: "app.jsonl").path
    let note =
      "reprise: \(file): note: plays in the recorded time, 30 s at most; --speed max does not wait\n"
    for (words, errors) in [("", note), ("--speed 1", "")] {
      let start = ContinuousClock.now
      let result = try RepriseProcess.shell(
        "\"$reprise\" replay sdk \(RepriseProcess.quoted(file)) \(words) | head -1")
      #expect(result.output == "# \(file), 2026-01-01 (UTC), app dev1&a1pk\n")
      #expect(result.errors == errors)
      #expect(ContinuousClock.now - start < .seconds(29))
    }
  }

  @Test func playsInTheRecordedTime() async throws {
    let recording = try await AppSession.record { app in
      try await app.connect()
      try await app.wait(until: 1)
    }
    let file = try scratch.write(recording, to: "app.jsonl").path
    let start = ContinuousClock.now
    let result = try RepriseProcess.run(["replay", "sdk", file])
    #expect(ContinuousClock.now - start >= .seconds(1))
    #expect(result.status == 0 && result.errors == "")
    #expect(result.output == (try replay(file).output))
  }

  // MARK: Which part

  @Test func replaysAWindow() async throws {
    let file = try scratch.write(try await Self.session(), to: "app.jsonl").path
    let late = try replay(file, "--from", "+3s")
    #expect(late.status == 0)
    #expect(!late.output.contains("bind 2"))
    #expect(late.errors.contains("note: the session begins in the middle of a connection"))
    let early = try replay(file, "--to", "00:00:03")
    #expect(early.status == 0)
    #expect(!early.output.contains("connecting\n") || !early.output.contains("disconnected"))
    let never = try replay(file, "--from", "2027-01-01T00:00:00Z")
    #expect(never.status == 2)
    #expect(never.errors.contains("nothing of the client in the time that was asked for"))
  }

  @Test func severalClientsAreListed() async throws {
    let recording = try await Self.session()
    let text = String(decoding: recording, as: UTF8.self)
    let other = text.split(separator: "\n").dropFirst().map { line in
      line.replacing("\"connection\":1,", with: "\"connection\":9,")
        .replacing("\"connection\":2,", with: "\"connection\":8,")
        .replacing("dev1&a1pk", with: "dev2&a1pk").replacing("/dev1/", with: "/dev2/")
    }
    let both = text + other.joined(separator: "\n") + "\n"
    let file = try scratch.write(both, to: "both.jsonl").path
    let result = try replay(file)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(
      result.errors.hasPrefix(
        """
        reprise: \(file): the session has 2 clients; choose one of these
          --client-id 'dev1&a1pk'  connections 1, 2,
        """))
    for (name, words) in [
      ("dev2&a1pk", ["--client-id", "dev2&a1pk"]), ("dev1&a1pk", ["--connection", "1"]),
    ] {
      let chosen = try RepriseProcess.run(["replay", "sdk", file, "--speed", "max"] + words)
      #expect(chosen.status == 0)
      #expect(chosen.output.contains("app \(name)\n"))
    }
    let unknown = try replay(file, "--client-id", "dev3&a1pk")
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("did you mean \"dev1&a1pk\"?"))
  }

  // MARK: What can be wrong

  @Test func aDivergenceFailsAndSaysWhatToType() async throws {
    let text = String(decoding: try await Self.session(), as: UTF8.self)
    // The recorded app asks for less when it comes back.
    let changed = text.replacing(
      ",{\"filter\":\"/sys/a1pk/dev1/app/down/light/get_reply\",\"qos\":1}]", with: "]")
    #expect(changed != text)
    let length = try #require(
      changed.firstMatch(
        of: /"type":"SUBSCRIBE","length":(\d+),"packetID":\d+,"filters":\[\{[^\]]*\},\{/))
    let wrong = try #require(Int(length.1))
    let file = try scratch.write(
      changed.replacing("\"length\":\(wrong)", with: "\"length\":\(wrong - 43)"),
      to: "it's.jsonl"
    ).path
    let result = try replay(file)
    #expect(result.status == 1)
    #expect(result.errors == "")
    let lines = result.output.split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("the replay diverged") })
    let rest = lines[start...]
    #expect(rest.contains { $0.hasPrefix("  at:       frame ") })
    #expect(rest.contains { $0.hasPrefix("  expected: ") })
    #expect(rest.contains { $0.hasPrefix("  actual:   SUBSCRIBE ") })
    #expect(
      rest.contains(
        "  differs:  filters[2]: expected nothing, actual /sys/a1pk/dev1/app/down/light/get_reply"))
    #expect(rest.last == "  or:       if the application is right: record the session anew")
    let command = try #require(rest.first { $0.hasPrefix("  next:") })
      .replacing("  next:     reprise", with: "\"$reprise\"")
    let next = try RepriseProcess.shell(command)
    #expect(next.status == 0)
    #expect(next.output.contains("SUBSCRIBE"))
    let json = try replay(file, "--format", "jsonl")
    #expect(json.status == 1)
    let last = JSONValue(parsing: Array(try #require(json.output.split(separator: "\n").last).utf8))
    #expect(last?["type"]?.text == "divergence")
    #expect(last?["kind"]?.text == "other-action")
  }

  @Test func whatIsNoAppIsSaidSo() throws {
    let file = try scratch.write(SampleRecording.text, to: "a.jsonl").path
    let result = try replay(file)
    #expect(result.status == 2)
    #expect(
      result.errors
        == "reprise: \(file): the session is no app's: an app sends below /sys/PRODUCT/DEVICE/app/up "
        + "and receives below …/app/down, but it has a/b; type reprise inspect \(file) to see what it "
        + "is\n")
  }

  @Test func aHoleEndsTheReplay() async throws {
    let text = String(decoding: try await Self.session(), as: UTF8.self)
    let gap =
      #"{"frame":9,"time":"2026-01-01T00:00:01.000000Z","connection":1,"from":"server","#
      + #""protocol":"mqtt-3.1.1","type":"GAP","bytes":12,"reason":"acknowledged"}"#
    var lines = text.split(separator: "\n").map(String.init)
    lines.insert(gap, at: 8)
    let file = try scratch.write(lines.joined(separator: "\n") + "\n", to: "gap.jsonl").path
    let result = try replay(file)
    #expect(result.status == 2)
    #expect(result.output.contains("→ subscribe 2  /account/bind_reply"))
    #expect(
      result.errors.hasPrefix(
        "reprise: \(file): the session is incomplete at frame 9, connection 1, "))
  }

  @Test func aCutRecordingIsReadToTheCut() async throws {
    let recording = try await Self.session()
    let file = try scratch.write(Array(recording.dropLast(recording.count / 2)), to: "cut.jsonl")
    let result = try replay(file.path)
    #expect(result.status == 0)
    #expect(result.errors.contains("note:"))
    #expect(result.output.contains("# the session ends: connected"))
  }

  @Test(arguments: [
    (["replay"], "replay needs to know what to be; type reprise replay serve, drive or sdk FILE"),
    (
      ["replay", "serve", "x"],
      "no client is named; type -- COMMAND with {port} in it, or --listen HOST:PORT"
    ),
    (
      ["replay", "serve", "x", "--listen", "0", "--", "a", "{port}"],
      "--listen is for clients that connect by themselves; type -- COMMAND with {port} in it, or "
        + "--listen HOST:PORT"
    ),
    (
      ["replay", "serve", "x", "--listen", "nowhere:x"],
      "'nowhere:x' is no place to listen on; type HOST:PORT, or a port alone for localhost"
    ),
    (
      ["replay", "serve", "x", "--", "a"],
      "'a' does not say where {port} stands; type such as -- "
        + "mosquitto_sub -p {port} -t a/#"
    ),
    (["replay", "drive", "x"], "replay drive needs FILE URL; type reprise help replay drive"),
    (
      ["replay", "drive", "x", "localhost"],
      "the broker's URL has no scheme, such as mqtt://; type mqtt://HOST:PORT or mqtts://HOST:PORT, "
        + "or ws:// or wss://HOST:PORT/PATH"
    ),
    (
      ["replay", "drive", "x", "mqtt://127.0.0.1", "--speed", "-1"],
      "--speed can't be '-1'; type a number greater than 0, such as 2, or max"
    ),
    (
      ["replay", "drive", "x", "mqtt://127.0.0.1", "--connection", "1,b"],
      "--connection can't be 'b'; type the number of a connection, as reprise inspect shows it: "
        + "--connection 4"
    ),
    (
      ["replay", "drive", "x", "mqtt://127.0.0.1", "--timeout", "5"],
      "--timeout can't be '5'; type numbers with their units, ms, s, m, h or d: 90s, 10m, 1h30m"
    ),
    (
      ["replay", "drive", "/no/such/file", "mqtt://127.0.0.1"],
      "/no/such/file: no such file; check the path"
    ),
    (
      ["replay", "skd", "x"],
      "unknown command 'replay skd'; did you mean reprise replay sdk? type reprise help replay"
    ),
    (
      ["replay", "a.pcap", "mqtt://localhost"],
      "replay needs to know what to be; type reprise replay serve a.pcap --listen HOST:PORT, "
        + "reprise replay drive a.pcap URL, or reprise replay sdk a.pcap"
    ),
    (["replay", "sdk"], "replay sdk needs FILE; type reprise help replay sdk"),
    (["replay", "--speed", "1", "sdk"], "replay sdk needs FILE; type reprise help replay sdk"),
    (
      ["replay", "sdk", "x", "--speed", "0"],
      "--speed can't be '0'; type a number greater than 0, such as 2, or max"
    ),
    (
      ["replay", "sdk", "x", "--speed", "1e-25"],
      "--speed can't be '1e-25'; type a number from 0.000001 on, such as 2, or max"
    ),
    (
      ["replay", "sdk", "x", "--connection", "a"],
      "--connection can't be 'a'; type the number of a connection, as reprise inspect shows it: "
        + "--connection 4"
    ),
    (
      ["replay", "sdk", "x", "--connection", "1", "--client-id", "c"],
      "--connection and --client-id choose a client both; type one of them alone"
    ),
    (
      ["replay", "sdk", "x", "--from", "noon"],
      "--from can't be 'noon'; type a time: 2026-11-21T07:39:01Z, 07:39:01 (UTC), or +2s from the "
        + "file's start"
    ),
    (
      ["replay", "sdk", "x", "--match", "loose"],
      "--match can't be 'loose'; it takes one of: strict, topic, json"
    ),
    (["replay", "sdk", "/no/such/file"], "/no/such/file: no such file; check the path"),
  ])
  func failsWithOneLine(words: [String], message: String) throws {
    let result = try RepriseProcess.run(words)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors == "reprise: \(message)\n")
  }
}
