import RepriseCore
import TestSupport
import Testing
import Wire

@Suite struct RecordingReaderTests {
  private static let header = #"{"reprise":1,"source":{"kind":"capture"},"redacted":[]}"#
  private static let start =
    #"{"frame":1,"time":"2026-11-21T07:39:01.5Z","connection":1,"from":"client","#
  private static let v311 = start + #""protocol":"mqtt-3.1.1","#

  /// Reads a header and one line, and returns the error of the line.
  private func mistake(in line: String, header: String? = header) -> RecordingError? {
    var reader = RecordingReader()
    do throws(RecordingError) {
      if let header {
        let bytes = Array(header.utf8)
        _ = try reader.read(line: bytes.span.bytes, number: 1)
      }
      let bytes = Array(line.utf8)
      _ = try reader.read(line: bytes.span.bytes, number: 2)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("[1]", RecordingError.Code.notRecording, 1), ("hello", .notRecording, 1),
    (#"{"frame":1}"#, .notRecording, 1), (#"{"reprise":2}"#, .unknownVersion, 12),
    (#"{"reprise":"1"}"#, .unknownVersion, 12), (#"{"reprise":1,"created":5}"#, .wrongValue, 24),
    (#"{"reprise":1,"source":"x"}"#, .wrongValue, 23),
    (#"{"reprise":1,"redacted":[1]}"#, .wrongValue, 25),
  ])
  func refusesWhatIsNoHeader(line: String, code: RecordingError.Code, column: Int) throws {
    let error = try #require(mistake(in: line, header: nil))
    #expect(error.code == code)
    #expect(error.line == 2)
    #expect(error.column == column)
  }

  @Test(arguments: [
    (#"{"frame":1,"#, RecordingError.Code.notJSON, 12), (#"{"frame":01}"#, .notJSON, 12),
    (#"{"a":"\x"}"#, .notJSON, 8), (#"{"a":"\ud800"}"#, .notJSON, 9),
    ("{\"a\":\"\u{1}\"}", .notJSON, 7), ("{\"a\":tru}", .notJSON, 6), ("{} {}", .notJSON, 4),
    ("{}", .missingKey, 1), ("[]", .wrongValue, 1),
    (v311 + #""type":"PUBLICH"}"#, .unknownType, 106),
    (v311 + #""type":"PUBLISH","qos":4}"#, .wrongValue, 122),
    (v311 + #""type":"PUBLISH","qos":0,"payload":{"utf8":""}}"#, .missingKey, 1),
    (v311 + #""type":"PUBLISH","qos":0,"topic":"a","payload":{"base64":"!"}}"#, .wrongValue, 146),
    (v311 + #""type":"RESERVED"}"#, .wrongValue, 106),
    (v311 + #""type":"PINGREQ","bytes":"0AA="}"#, .wrongValue, 124),
    (v311 + #""type":"PINGREQ","bytes":"wAA=","missing":1}"#, .wrongValue, 124),
    (v311 + #""type":"PINGREQ","bytes":"wA=="}"#, .wrongValue, 124),
    (start + #""protocol":"coap","type":"GET"}"#, .wrongValue, 86),
  ])
  func tellsThePlaceOfAMistake(line: String, code: RecordingError.Code, column: Int) throws {
    let error = try #require(mistake(in: line))
    #expect(error.code == code)
    #expect(error.line == 2)
    #expect(error.column == column, "\(error)")
  }

  @Test func describesAnErrorInOneLine() throws {
    let error = try #require(mistake(in: Self.v311 + #""type":"PUBLISH","qos":true}"#))
    #expect(
      error.description
        == "\"qos\" is true or false, not a whole number (line 2, column 122); "
        + "correct the line or record again")
  }

  @Test func limitsNesting() throws {
    let line = String(repeating: "[", count: 100_000)
    #expect(mistake(in: line)?.code == .notJSON)
  }

  @Test func keepsUnknownKeys() throws {
    var reader = RecordingReader()
    let header = Array(#"{"reprise":1,"mood":"good","source":{"kind":"proxy","port":1}}"#.utf8)
    _ = try reader.read(line: header.span.bytes, number: 1)
    #expect(reader.header?.unknown == [JSONMember("mood", .string("good"))])
    #expect(reader.header?.source.details == [JSONMember("port", .number("1"))])
    let line = Array((Self.v311 + #""type":"PINGREQ","note":[1,{"a":null}]}"#).utf8)
    _ = try reader.read(line: line.span.bytes, number: 2)
    #expect(
      reader.unknown
        == [JSONMember("note", .array([.number("1"), .object([JSONMember("a", .null)])]))])
  }

  @Test func skipsEmptyLinesAndReadsLineEndsOfAnySystem() throws {
    var stream = RecordingStream()
    var list = EventList()
    let text = "\n" + Self.header + "\r\n\r\n" + Self.v311 + #""type":"PINGREQ"}"# + "\r\n \n"
    let bytes = Array(text.utf8)
    try stream.consume(bytes.span.bytes, into: &list)
    try stream.finish(into: &list)
    #expect(list.events.map(\.context.frame) == [4])
    #expect(stream.lineCount == 5)
  }

  @Test func readsEscapesOfJSON() throws {
    let line =
      Self.v311 + #""type":"PUBLISH","qos":0,"topic":"\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\","#
    let bytes = Array((line + #""payload":"plain"}"#).utf8)
    let header = Array(Self.header.utf8)
    var reader = RecordingReader()
    _ = try reader.read(line: header.span.bytes, number: 1)
    let packet = try #require(try reader.read(line: bytes.span.bytes, number: 2)?.packet)
    guard case .publish(let publish) = packet.content else {
      Issue.record("not a PUBLISH")
      return
    }
    #expect(publish.topic == "é😀/\u{8}\u{C}\n\r\t\"\\")
    #expect(publish.payload == Array("plain".utf8))
  }

  @Test func refusesAnEmptyFile() {
    var stream = RecordingStream()
    var list = EventList()
    #expect(throws: RecordingError.self) { try stream.finish(into: &list) }
  }
}
