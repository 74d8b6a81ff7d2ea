import RepriseCore
import TestSupport
import Testing
import Wire

/// What of a payload is not told to those who must not see secrets.
@Suite struct SecretValuesTests {
  private func line(_ payload: [UInt8], secrets: Bool = false) throws -> String {
    let event = try Sample.event(
      MQTTPacket(.publish(.init(topic: "t", payload: payload)), version: .v3_1_1))
    var line: [UInt8] = []
    let writer = EventJSONWriter(showsSecrets: secrets)
    event.withView { writer.append($0, to: &line) }
    return String(decoding: line, as: UTF8.self)
  }

  /// The payload as a reader of the recording gets it.
  private func hidden(_ payload: String) throws -> String {
    let header = #"{"reprise":1,"source":{"kind":"client"}}"# + "\n"
    let recording = Array((header + (try line(Array(payload.utf8)))).utf8)
    let packet = try #require(try EventList(recording: recording).events.first?.packet)
    guard case .publish(let publish) = packet.content else { return "" }
    return String(decoding: publish.payload, as: UTF8.self)
  }

  @Test(arguments: [
    (#"{"token":"hush"}"#, #"{"token":"***"}"#),
    // White space of every kind may stand around the colon.
    ("{\"token\":\n  \"hush\"}", "{\"token\":\n  \"***\"}"),
    ("{\"token\"\r\n:\t\"hush\"}", "{\"token\"\r\n:\t\"***\"}"),
    // What is no string becomes one, so that JSON stays JSON.
    (#"{"token":12345,"a":1}"#, #"{"token":"***","a":1}"#),
    ("{\"token\": -1.5e3\n}", "{\"token\": \"***\"\n}"),
    (#"{"token":["hush","]",{"a":"hu\"sh"}],"a":[1]}"#, #"{"token":"***","a":[1]}"#),
    (
      #"{"secret":{"v":"}hush"},"b":{"password":"hush"}}"#,
      #"{"secret":"***","b":{"password":"***"}}"#
    ),
    // JSON in a string of JSON.
    (#"{"p":"{\"token\":\"hush\"}"}"#, #"{"p":"{\"token\":\"***\"}"}"#),
    (#"{"p":"{\"token\":\n  \"hush\"}"}"#, #"{"p":"{\"token\":\n  \"***\"}"}"#),
    (#"{"p":"{\"token\":12345\n}"}"#, #"{"p":"{\"token\":\"***\"\n}"}"#),
    (#"{"p":"{\"token\":[\"hush\"]}"}"#, #"{"p":"{\"token\":\"***\"}"}"#),
    // Several texts, and texts that are cut.
    ("{\"sign\":\"hush\"}\n{\"sign\":1}", "{\"sign\":\"***\"}\n{\"sign\":\"***\"}"),
    (#"{"token":"hush"#, #"{"token":"***"#), (#"{"token":["hush","a"#, #"{"token":"***""#),
    // What tells nothing, or is no secret.
    (#"{"token":"","tokens":3,"a":"token"}"#, #"{"token":"","tokens":3,"a":"token"}"#),
    (#"{"token":}"#, #"{"token":}"#),
  ])
  func hidesValues(_ payload: String, _ expected: String) throws {
    #expect(try hidden(payload) == expected)
    #expect(try line(Array(payload.utf8), secrets: true).contains("***") == false)
  }

  @Test(arguments: [
    (
      #"{"token":["hush"],"secret":{"v":"hush"},"sign":5}"#,
      #"{"token":"***","secret":"***","sign":"***"}"#
    ),
    (
      #"{"token":null,"sign":true,"a":[1,{"b":"c"}]}"#,
      #"{"token":null,"sign":true,"a":[1,{"b":"c"}]}"#
    ),
    (
      #"[{"p":"{\"token\":\"hush\"}","q":"{\"a\": 1}"}]"#,
      #"[{"p":"{\"token\":\"***\"}","q":"{\"a\": 1}"}]"#
    ),
  ])
  func hidesValuesOfWhatIsRead(_ payload: String, _ expected: String) throws {
    let value = try JSONValue.read(Array(payload.utf8))
    #expect(String(decoding: value.hidingSecrets.utf8, as: UTF8.self) == expected)
  }

  @Test(arguments: [
    ("iotToken", true), ("access_token", true), ("DeviceSecret", true), ("api_key", true),
    ("apiKey", true), ("X-Api-Key", true), ("secret_key", true), ("privateKey", true),
    ("accessKey", true), ("PWD", true), ("passphrase", true), ("id_jwt", true), ("sign", true),
    ("productKey", false), ("key", false), ("keyword", false), ("tokens", false), ("signal", false),
  ])
  func knowsTheNamesOfSecrets(_ name: String, _ isSecret: Bool) throws {
    #expect(try hidden(#"{"\#(name)":"x"}"#) == #"{"\#(name)":"\#(isSecret ? "***" : "x")"}"#)
  }

  /// GBK and Latin-1 have JSON's own characters where ASCII has them.
  @Test func hidesWhatTellsASecretInAnotherEncoding() throws {
    let secret = Array(#"{"name":"M"#.utf8) + [0xFC] + Array(#"ller","token":"hush"}"#.utf8)
    #expect(try line(secret).contains(#""payload":"***""#))
    #expect(try line(secret, secrets: true).contains(#""payload":{"base64":""#))
    let event = try Sample.event(
      MQTTPacket(.publish(.init(topic: "t", payload: secret)), version: .v3_1_1))
    var text: [UInt8] = []
    var writer = EventTextWriter()
    event.withView { writer.append($0, to: &text) }
    #expect(String(decoding: text, as: UTF8.self).hasSuffix(" B  ***"))
    let plain = Array(#"{"name":"M"#.utf8) + [0xFC] + Array(#"ller"}"#.utf8)
    #expect(try line(plain).contains(#""payload":{"base64":""#))
  }

  /// What is hidden may have been anything, be it a number.
  @Test func aHiddenNumberMatchesAnyOther() async throws {
    let recorder = try RecordingClient(RandomServer(seed: 1), to: MemorySink())
    var user = Actor(recorder)
    try await user.connect()
    _ = try await recorder.next(before: nil)
    try await user.publish("a", #"{"sign":12345,"n":1}"#)
    let replay = try ReplayClient(recorder.sink.events())
    user = Actor(replay)
    try await user.connect()
    _ = try await replay.next(before: nil)
    try await user.publish("a", #"{"sign":54321,"n":1}"#)
  }

  @Test(.timeLimit(.minutes(20))) func takesLinearTime() throws {
    for filling in ["\\", "[", "\"token\":", "\\\"", "\"token\":[\""] {
      let payload = #"{"token":"# + String(repeating: filling, count: 200_000)
      #expect(try line(Array(payload.utf8)).utf8.count > 100)
    }
  }
}
