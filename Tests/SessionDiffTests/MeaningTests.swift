import Capture
import Foundation
import RepriseCore
import SessionDiff
import TestSupport
import Testing
import Wire

/// What is made anew in each run, and what is not there to be read, is no difference.
@Suite struct MeaningTests {
  private static let talk = Talk.example()

  @Test func countsNoIdentifiersTimesAndPorts() throws {
    var other = Talk()
    other.pace = 77
    other.frame = 1_000
    other.connection = 9
    other.example(id: 4_000)
    #expect(try Self.talk.differences(from: other) == [])
  }

  @Test func countsNoOrderOfConnections() throws {
    func talk(_ names: [String]) -> Talk {
      var talk = Talk()
      for (number, name) in names.enumerated() {
        talk.connection = number + 1
        talk.open(port: 40_000 + number)
        talk.connect(name)
        talk.publish(.client, "of/\(name)", name)
        talk.close()
      }
      return talk
    }
    #expect(try talk(["a", "b", "c"]).differences(from: talk(["c", "a", "b"])) == [])
  }

  /// Clients whose names are made anew are told by what they do.
  @Test func matchesNamesMadeAnew() throws {
    func talk(_ names: [(String, String)]) -> Talk {
      var talk = Talk()
      for (number, (name, topic)) in names.enumerated() {
        talk.connection = number + 1
        talk.open()
        talk.connect(name)
        talk.publish(.client, topic, "1")
        talk.close()
      }
      return talk
    }
    let (a, b) = (talk([("x1", "a"), ("x2", "b")]), talk([("y1", "b"), ("y2", "a")]))
    #expect(try a.differences(from: b) == [])
    let ids = try a.differences(from: b, DiffOptions(details: [.ids]))
    #expect(
      ids == [
        #"changed 2 7 clientID: "x1" → "y2""#, #"changed 7 2 clientID: "x2" → "y1""#,
      ])
  }

  @Test func countsNoRepeats() throws {
    var other = Talk()
    other.open()
    other.connect("sensor")
    other.publish(.client, "a", "1", qos: 1, id: 5)
    other.publish(.client, "a", "1", qos: 1, id: 5, dup: true)
    other.acknowledge(.server, .puback, 5)
    other.acknowledge(.server, .puback, 5)
    var once = Talk()
    once.open()
    once.connect("sensor")
    once.publish(.client, "a", "1", qos: 1, id: 5)
    once.acknowledge(.server, .puback, 5)
    #expect(try once.differences(from: other) == [])
    #expect(
      try once.differences(from: other, DiffOptions(details: [.repeats]))
        == ["only-in-b · 7 answers 4", "only-in-b · 5"])
  }

  /// Behind its acknowledgement an identifier is free: who takes it says something else, whatever the flag.
  @Test func countsWhatOnlyLooksLikeARepeat() throws {
    var once = Talk()
    once.open()
    once.connect("sensor")
    once.publish(.client, "a", "1", qos: 1, id: 5)
    once.acknowledge(.server, .puback, 5)
    var twice = once
    twice.publish(.client, "a", "1", qos: 1, id: 5, dup: true)
    #expect(try once.differences(from: twice) == ["only-in-b · 6"])
  }

  /// A name says more than what is said.
  @Test func matchesNamesFirst() throws {
    func talk(_ payloads: [(String, String)]) -> Talk {
      var talk = Talk()
      for (number, (name, payload)) in payloads.enumerated() {
        talk.connection = number + 1
        talk.open()
        talk.connect(name)
        talk.publish(.client, "a", payload)
      }
      return talk
    }
    let a = talk([("x", "1"), ("y", "2")])
    #expect(
      try a.differences(from: talk([("x", "2"), ("y", "1")]))
        == [#"changed 4 4 payload: "1" → "2""#, #"changed 8 8 payload: "2" → "1""#])
    // Without one the same belongs to the same.
    let nameless = talk([("", "1"), ("", "2")])
    #expect(try nameless.differences(from: talk([("", "2"), ("", "1")])) == [])
  }

  /// Messages whose JSON has its keys in another order are laid side by side as if it had not.
  @Test func alignsJSONByItsMeaning() throws {
    func talk(_ payloads: [String]) -> Talk {
      var talk = Talk()
      talk.version = .v3_1_1
      talk.open()
      talk.connect("sensor")
      for payload in payloads { talk.publish(.client, "a", payload) }
      return talk
    }
    let a = talk((1...5).map { #"{"n":\#($0),"k":[1]}"# })
    let b = talk((0...5).map { #"{"k": [1.0], "n": \#($0)}"# })
    #expect(try a.differences(from: b) == ["only-in-b · 4"])
  }

  @Test func resolvesAliases() throws {
    var plain = Talk()
    plain.open()
    plain.connect("sensor")
    plain.publish(.client, "a", "1")
    plain.publish(.client, "a", "2")
    var aliased = Talk()
    aliased.open()
    aliased.connect("sensor")
    aliased.publish(.client, "a", "1", [MQTTProperty(.topicAlias, .integer(3))])
    aliased.publish(.client, "", "2", [MQTTProperty(.topicAlias, .integer(3))])
    #expect(try plain.differences(from: aliased) == [])
  }

  @Test func takesHiddenForEqual() throws {
    func talk(_ payload: String, _ name: String?) -> Talk {
      var talk = Talk()
      talk.open()
      talk.say(
        .client, .connect(.init(clientID: "sensor", username: name, password: Array("pw".utf8))))
      talk.publish(.client, "a", payload)
      return talk
    }
    let plain = talk(#"{"who":"me","token":"abc","n":12345}"#, "operator")
    for hidden in [
      "***", #"{"who":"***","token":"***","n":"***"}"#, #"{"who":"**","token":"***","n":*****}"#,
      #"{"n":12345,"who":"me","token":"xyz"}"#,
    ] {
      #expect(try plain.differences(from: talk(hidden, "********")) == [], "\(hidden)")
    }
    #expect(try plain.differences(from: talk(#"{"who":"***","n":1}"#, "***")).count == 1)
    #expect(
      try plain.differences(from: talk(#"{"who":"me","token":"abc","n":12345}"#, nil))
        == [#"changed 2 2 username: "operator" → ·"#])
  }

  @Test func takesTextWithHiddenPartsForEqual() throws {
    func talk(_ payload: String) -> Talk {
      var talk = Talk()
      talk.open()
      talk.publish(.client, "a", payload)
      return talk
    }
    let plain = talk("name=bob place=here")
    #expect(try plain.differences(from: talk("name=*** place=here")) == [])
    #expect(try plain.differences(from: talk("name=*** place=there")).count == 1)
  }

  /// What lies in a hole nobody knows; what is behind it is compared.
  @Test func doesNotKnowWhatIsMissing() throws {
    var a = Talk()
    a.open()
    a.connect("sensor")
    for number in 1...6 { a.publish(.client, "a", "\(number)") }
    var b = Talk()
    b.open()
    b.connect("sensor")
    b.publish(.client, "a", "1")
    b.lose(.client)
    b.publish(.client, "a", "4")
    b.publish(.client, "a", "7")
    b.publish(.client, "a", "6")
    #expect(
      try a.differences(from: b)
        == [#"changed 8 7 payload: "5" → "7""#, "unknown 5", "unknown 6"])
    let comparison = try SessionComparison(a.events, b.events)
    #expect(!comparison.isSame && comparison.unknown == 2)
    #expect(try b.differences(from: b) == [])
  }

  /// An answer may be in the hole, too.
  @Test func doesNotMissAnswersInAHole() throws {
    var a = Talk()
    a.open()
    a.connect("sensor")
    a.publish(.client, "a", "1", qos: 1, id: 5)
    var b = a
    a.acknowledge(.server, .puback, 5)
    #expect(try a.differences(from: b) == ["only-in-a 5 · answers 4"])
    b.lose(.server)
    #expect(try a.differences(from: b) == ["unknown 5"])
    #expect(try SessionComparison(a.events, b.events).isSame)
  }

  @Test func putsFragmentsTogether() throws {
    func talk(_ frames: [WebSocketFrame]) -> Talk {
      var talk = Talk()
      talk.open()
      for frame in frames { talk.add(.server, .webSocket(frame), .webSocket) }
      return talk
    }
    let text = Array(#"{"a":1,"b":2}"#.utf8)
    let whole = talk([WebSocketFrame(.text, text), WebSocketFrame(.ping, [])])
    let parts = talk([
      WebSocketFrame(.text, Array(text.prefix(5)), isFinal: false),
      WebSocketFrame(.ping, [1]),
      WebSocketFrame(.continuation, Array(text.dropFirst(5))),
    ])
    #expect(try whole.differences(from: parts) == [])
    let other = talk([WebSocketFrame(.text, Array(#"{"b":3,"a":1}"#.utf8))])
    #expect(try whole.differences(from: other) == ["changed 2 2 payload.b: 2 → 3"])
    let binary = talk([WebSocketFrame(.binary, text)])
    #expect(try whole.differences(from: binary) == ["only-in-a 2 ·", "only-in-b · 2"])
  }

  /// How TCP carried it is nothing that was said: ports, segments that end inside of packets, or hold several.
  @Test func countsNoSegments() throws {
    func capture(port: UInt16, pieces: Int) throws -> [Event] {
      var capture = TCPCapture(serverPort: port)
      capture.open(port == 1_883 ? 1 : 7)
      let number = port == 1_883 ? 1 : 7
      for event in Self.talk.events {
        guard case .mqtt(let packet) = event.body else { continue }
        for start in stride(from: 0, to: packet.bytes.count, by: pieces) {
          let piece = packet.bytes[start..<min(start + pieces, packet.bytes.count)]
          capture.send(number, event.context.sender, Array(piece))
        }
      }
      capture.close(number, by: .client)
      let file = try TemporaryFile(capture.bytes)
      var list = EventList()
      _ = try SessionInput.read(file.path, options: InputOptions(), into: &list)
      return list.events
    }
    let whole = try capture(port: 1_883, pieces: 1_000)
    let parts = try capture(port: 5_000, pieces: 3)
    #expect(whole.count == parts.count && whole.count > 15)
    #expect(try SessionComparison(whole, parts).lines == [])
    // Times and frames are others, and how it ended is the same.
    #expect(
      try SessionComparison(whole, parts, DiffOptions(details: [.times])).lines.count > 10)
  }
}
