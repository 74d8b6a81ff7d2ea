import Glibc
import TestSupport
import Testing

/// Whole sessions of our own clients by TLS, read from captures by the keys that the clients logged.
@Suite struct KeyLogSessionTests {
  /// What a client that subscribes says and gets, by MQTT 3.1.1 and 5.0, between TLS and the end.
  private static func packets(is5: Bool) -> [String] {
    [
      "→ CONNECT keys mqtt-\(is5 ? "5.0" : "3.1.1") clean keep-alive 60 s"
        + (is5 ? " {receiveMaximum 65535}" : ""),
      "← CONNACK accepted" + (is5 ? " {topicAliasMaximum 10, receiveMaximum 20}" : ""),
      "→ SUBSCRIBE id 1 keys/# qos 1",
      "← SUBACK id 1 qos 1",
      #"← PUBLISH keys/state qos 1 id 1 retain 11 B "{"on":true}""#,
      "→ PUBACK id 1",
      "→ DISCONNECT",
    ]
  }

  private static func suite(_ version: SecureBroker.Version) -> String {
    switch version {
    case .v1_2: "TLS 1.2 TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    case .v1_3: "TLS 1.3 TLS_AES_256_GCM_SHA384"
    }
  }

  @Test(arguments: SecureBroker.Version.allCases, [false, true])
  func readsMQTT(_ version: SecureBroker.Version, is5: Bool) async throws {
    let session = try await CapturedSession(
      SecureBroker(version), .tcp, ["--mqtt", is5 ? "5.0" : "3.1.1"])
    let shown = try await session.inspect(session.byKeyLog)
    #expect(
      shown.events == [
        "→ OPEN ADDRESS → ADDRESS mqtt-\(is5 ? "5.0" : "3.1.1")",
        "← TLS \(Self.suite(version)) localhost",
      ] + Self.packets(is5: is5))
    #expect(shown.ending.contains("→ ALERT close_notify warning no more data will come"))
    #expect(shown.notes == [])
    let (status, judged) = try await session.judge(session.byKeyLog)
    #expect(status == 0)
    #expect(judged.filter { $0.value > 0 }.keys.sorted() == [is5 ? "mqtt-5.0" : "mqtt-3.1.1"])
    #expect(try await session.tsharkTypes() == [1, 2, 8, 9, 3, 4, 14])
  }

  @Test(arguments: SecureBroker.Version.allCases)
  func readsWebSocket(_ version: SecureBroker.Version) async throws {
    let session = try await CapturedSession(SecureBroker(version), .webSocket)
    let shown = try await session.inspect(session.byKeyLog)
    let handshake = shown.events.prefix(4).map { $0.replacing(/localhost:\d+/, with: "HOST") }
    #expect(
      handshake == [
        "→ OPEN ADDRESS → ADDRESS websocket",
        "← TLS \(Self.suite(version)) localhost alpn http/1.1",
        "→ UPGRADE GET /mqtt host HOST subprotocols mqtt extensions permessage-deflate; "
          + "client_no_context_takeover",
        "← UPGRADED 101 subprotocol mqtt",
      ])
    let isFrame = { (line: String) in line.dropFirst(2).starts(with: "BINARY") }
    let frames = shown.events.filter(isFrame)
    #expect(
      frames == [
        "→ BINARY 18 B mqtt", "← BINARY 4 B mqtt", "→ BINARY 13 B mqtt", "← BINARY 5 B mqtt",
        "← BINARY 27 B mqtt", "→ BINARY 4 B mqtt", "→ BINARY 2 B mqtt",
      ])
    let packets = Self.packets(is5: false)
    let others = shown.events.dropFirst(4).filter { !isFrame($0) }
    let hasClosed = others.last == "→ CLOSE 2 B code 1000"
    #expect(others == packets + (hasClosed ? ["→ CLOSE 2 B code 1000"] : []))
    // The broker ends the connection on DISCONNECT, at times before the client has said that it closes.
    #expect(hasClosed || shown.ending.first?.hasPrefix("← ALERT close_notify ") == true)
    #expect(shown.notes == [])
    let (status, judged) = try await session.judge(session.byKeyLog)
    #expect(status == 0)
    #expect(judged.filter { $0.value > 0 }.keys.sorted() == ["mqtt-3.1.1", "rfc6455"])
    #expect(try #require(judged["rfc6455"]) > (hasClosed ? 40 : 30))
    #expect(try await session.tsharkTypes() == [1, 2, 8, 9, 3, 4, 14])
  }

  /// A pipe is read while the session goes on, by keys that are written meanwhile, and shows what there is when nothing
  /// more comes.
  @Test(arguments: SecureBroker.Version.allCases)
  func readsAPipeByKeysThatComeMeanwhile(_ version: SecureBroker.Version) async throws {
    let broker = try await SecureBroker(version)
    let directory = Scratch()
    let log = directory.file("keys.log")
    try directory.write("", to: "keys.log")
    let port = try Socket.freePort()
    let script =
      "\"$0\" record proxy $1 127.0.0.1:$2 --count 1 -o - | \"$0\" inspect - --keylog \"$3\""
    let pipe = try Child(
      [
        "bash", "-c", script, RunningCommand.path, "\(port)", "\(try broker.port(.tcp))", log,
      ], errorsApart: true)
    try await pipe.wait(for: "a proxy") { $0.errorText.contains("listening for") }
    let client = try RunningCommand(
      broker.recording(
        try broker.url(.tcp, at: port), to: directory.file("a.jsonl"), broker.trust, count: 2),
      in: directory, environment: ["SSLKEYLOGFILE=\(log)"])
    // The client waits for a second message, and nothing passes.
    try await pipe.wait(for: "the first message") { $0.text.contains("PUBACK") }
    #expect(!client.hasEnded)
    #expect(try await client.stop(SIGINT) == 130)
    #expect(await pipe.wait() == 0)
    let shown = pipe.text.split(separator: "\n").dropFirst().map { line in
      String(line.drop { $0 != "→" && $0 != "←" }).replacing(/\ +/, with: " ")
    }
    #expect(
      shown.filter { $0.wholeMatch(of: /. (OPEN|TLS|ALERT|CLOSE) .*/) == nil }
        == Self.packets(is5: false))
  }

  /// Without keys, or with those of another session, a connection is one event that says why.
  @Test func saysWhyItCannotBeRead() async throws {
    let broker = try await SecureBroker()
    let session = try await CapturedSession(broker, .tcp)
    let other = try await CapturedSession(broker, .tcp)
    let cases = [
      (
        [], "can't be read without keys",
        "give the key log that the client or the server wrote (SSLKEYLOGFILE) by --keylog FILE"
      ),
      (
        other.byKeyLog, "can't be read: no key that is given belongs to it",
        "give the key log of that very session"
      ),
    ]
    for (words, why, remedy) in cases {
      let shown = try await session.inspect(words)
      #expect(
        shown.events == [
          "← TLS ADDRESS → ADDRESS TLS 1.3 TLS_AES_256_GCM_SHA384 localhost \(why); \(remedy)"
        ])
      #expect(
        shown.notes.first
          == "note: 1 connection of port PORT spoke TLS 1.3 with localhost and \(why) "
          + "(first in frame 1); \(remedy)")
      #expect(shown.notes.count == 2, "\(shown.notes)")
      #expect(try await session.judge(words).status == 2)
    }
  }

  @Test func readsWhatAPreSharedKeyHides() async throws {
    let broker = try await SecureBroker(.v1_2)
    let key = ["--psk", SecureBroker.sharedKey]
    let session = try await CapturedSession(broker, suites: "PSK-AES256-GCM-SHA384")
    let shown = try await session.inspect(key)
    #expect(
      shown.events == [
        "→ OPEN ADDRESS → ADDRESS mqtt-3.1.1",
        "← TLS TLS 1.2 TLS_PSK_WITH_AES_256_GCM_SHA384 localhost",
        "→ CONNECT device mqtt-3.1.1 clean keep-alive 60 s",
        "← CONNACK accepted",
        #"→ PUBLISH keys/shared qos 1 id 1 5 B "hello""#,
        "← PUBACK id 1",
        "→ DISCONNECT",
      ])
    #expect(shown.notes == [])
    let (status, judged) = try await session.judge(key)
    #expect(status == 0)
    #expect(judged.filter { $0.value > 0 }.keys.sorted() == ["mqtt-3.1.1"])
    // One digit of the key is another one.
    let wrong = try await session.inspect(["--psk", "1" + SecureBroker.sharedKey.dropFirst()])
    #expect(
      wrong.events == [
        "← TLS ADDRESS → ADDRESS TLS 1.2 TLS_PSK_WITH_AES_256_GCM_SHA384 localhost can't be read: the "
          + "key that is given does not decrypt it; give the key that was in use then by --server-key or "
          + "--psk, or a key log"
      ])
  }

  /// Our own client shares a key with the broker, which is all that its secrets are made of.
  @Test(arguments: [false, true])
  func readsWhatOurClientSharesAKeyFor(is5: Bool) async throws {
    let broker = try await SecureBroker(.v1_2, sharedSettings: ["ciphers PSK-AES256-GCM-SHA384"])
    let session = try await CapturedSession(
      broker, .sharedKey, ["--mqtt", is5 ? "5.0" : "3.1.1"])
    for words in [["--psk", SecureBroker.sharedKey], session.byKeyLog] {
      let shown = try await session.inspect(words)
      #expect(
        shown.events == [
          "→ OPEN ADDRESS → ADDRESS mqtt-\(is5 ? "5.0" : "3.1.1")",
          "← TLS TLS 1.2 TLS_PSK_WITH_AES_256_GCM_SHA384 localhost",
        ] + Self.packets(is5: is5))
      #expect(shown.notes == [])
      let (status, judged) = try await session.judge(words)
      #expect(status == 0)
      #expect(judged.filter { $0.value > 0 }.keys.sorted() == [is5 ? "mqtt-5.0" : "mqtt-3.1.1"])
    }
    #expect(try await session.tsharkTypes() == [1, 2, 8, 9, 3, 4, 14])
  }

  /// Where Diffie-Hellman is added, which our client prefers, the key log tells it and the shared key does not.
  @Test(arguments: [
    (SecureBroker.Version.v1_2, "TLS 1.2 TLS_DHE_PSK_WITH_AES_256_GCM_SHA384"),
    (.v1_3, "TLS 1.3 TLS_CHACHA20_POLY1305_SHA256"),
  ])
  func readsWhatOurClientKeepsFromOthersWithTheKey(
    _ version: SecureBroker.Version, suite: String
  ) async throws {
    let session = try await CapturedSession(SecureBroker(version), .sharedKey)
    let shown = try await session.inspect(session.byKeyLog)
    #expect(
      shown.events == [
        "→ OPEN ADDRESS → ADDRESS mqtt-3.1.1", "← TLS \(suite) localhost",
      ] + Self.packets(is5: false))
    #expect(shown.notes == [])
    let byKey = try await session.inspect(["--psk", SecureBroker.sharedKey])
    #expect(byKey.events.count == 1)
    #expect(byKey.events.first?.contains("no such key tells the secrets of TLS_") == true)
  }

  /// The shared key is not all that these secrets are made of.
  @Test(arguments: [
    (SecureBroker.Version.v1_2, "TLS 1.2", "TLS_DHE_PSK_WITH_AES_256_GCM_SHA384"),
    (.v1_3, "TLS 1.3", "TLS_CHACHA20_POLY1305_SHA256"),
  ])
  func saysWhatAPreSharedKeyDoesNotTell(
    _ version: SecureBroker.Version, name: String, suite: String
  ) async throws {
    let session = try await CapturedSession(
      SecureBroker(version), suites: "DHE-PSK-AES256-GCM-SHA384")
    let shown = try await session.inspect(["--psk", SecureBroker.sharedKey])
    #expect(
      shown.events == [
        "← TLS ADDRESS → ADDRESS \(name) \(suite) localhost can't be read by the key that is given: no "
          + "such key tells the secrets of \(suite); give a key log by --keylog FILE"
      ])
  }
}
