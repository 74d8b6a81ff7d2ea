import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

/// Every capture and recording with WebSocket gives the frames that tshark sees in it.
@Suite struct WebSocketTsharkTests {
  static let paths =
    WebSocketReferenceTests.names.map(SharedCaptures.path)
    + PackageFolder.captured.filter { $0.contains("websocket") }.map(PackageFolder.capture)

  @Test func recordingsAreThere() { #expect(!Self.paths.isEmpty) }

  @Test(.capturesOfOthers) func capturesOfOthersAreThere() { #expect(Self.paths.count >= 8) }

  @Test(arguments: paths) func agreesWithTshark(_ path: String) throws {
    let events = try EventList.events(of: path).events
    var ports: Set<String> = []
    var frames: [Frame] = []
    var contents: [Content] = []
    var assemblers: [String: WebSocketAssembler] = [:]
    for event in events {
      switch event.body {
      case .opened(let opening):
        ports.insert(opening.server.split(separator: ":").last.map(String.init) ?? "")
      case .webSocket(let frame):
        frames.append(Frame(event.context.frame, frame.header))
        event.withView { view in
          guard case .webSocket(let frame) = view.body else { return }
          let key = "\(event.context.connection) \(event.context.sender)"
          if let message = assemblers[key, default: .init()].take(frame) {
            contents.append(Content(frame: event.context.frame, data: message.data))
          } else if frame.opcode == .ping || frame.opcode == .pong, !frame.payload.isEmpty {
            let data = Array(copying: frame.payload)
            contents.append(Content(frame: event.context.frame, data: data))
          }
        }
      default: continue
      }
    }
    let theirs = try Self.tshark(path, ports: ports)
    #expect(frames == theirs.frames)
    #expect(contents == theirs.contents)
    #expect(!frames.isEmpty)
  }

  /// What both tools tell of a frame's header.
  struct Frame: Equatable {
    var frame: Int
    var isFinal: Bool
    var opcode: Int
    var length: Int
    var key: String

    init(_ frame: Int, _ header: WebSocketFrameHeader) {
      self.frame = frame
      isFinal = header.isFinal
      opcode = Int(header.opcode.rawValue)
      length = Int(header.payloadLength)
      key = header.maskingKey.map { String($0, radix: 16) } ?? ""
    }

    init(frame: Int, isFinal: Bool, opcode: Int, length: Int, key: String) {
      self.frame = frame
      self.isFinal = isFinal
      self.opcode = opcode
      self.length = length
      self.key = key
    }
  }

  /// A message, or the payload of a ping or pong.
  struct Content: Equatable {
    var frame: Int
    var data: [UInt8]
  }

  private static let columns = [
    "frame.number", "websocket.fin", "websocket.opcode", "websocket.payload_length",
    "websocket.payload_length_ext_16", "websocket.payload_length_ext_64", "websocket.mask",
    "websocket.masking_key", "websocket.payload.text", "data.data", "websocket.payload.ping",
    "websocket.payload.pong",
  ]

  private static func tshark(
    _ path: String, ports: Set<String>
  ) throws -> (frames: [Frame], contents: [Content]) {
    let lines = try Tshark.lines(
      path,
      ["-Y", "websocket", "-E", "aggregator=\u{1E}"]
        + ports.flatMap { ["-d", "tcp.port==\($0),http"] },
      fields: columns)
    var frames: [Frame] = []
    var contents: [Content] = []
    for line in lines {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      let lists = fields.map { $0.split(separator: "\u{1E}").map(String.init) }
      let number = try #require(Int(fields[0]))
      frames += try Self.frames(number, lists)
      contents += lists[8].map { Content(frame: number, data: Array(Self.unescaped($0).utf8)) }
      contents += lists[9...11].joined().map {
        Content(frame: number, data: ReferenceTests.bytes(hex: $0))
      }
    }
    return (frames, contents)
  }

  private static func frames(_ number: Int, _ lists: [[String]]) throws -> [Frame] {
    var extended = [lists[4][...], lists[5][...]]
    var keys = lists[7][...]
    return try lists[1].indices.map { index in
      var length = try #require(Int(lists[3][index]))
      if length >= 126 {
        let next = extended[length - 126].popFirst()
        length = try #require(next.flatMap { Int($0) })
      }
      let key = lists[6][index] == "1" ? keys.popFirst() ?? "" : ""
      let digits = key.drop { $0 == "0" }
      return Frame(
        frame: number, isFinal: lists[1][index] == "1",
        opcode: try #require(Int(lists[2][index])), length: length,
        key: key.isEmpty ? "" : digits.isEmpty ? "0" : String(digits))
    }
  }

  /// tshark escapes what would break its lines.
  private static func unescaped(_ text: String) -> String {
    text.replacing("\\n", with: "\n").replacing("\\t", with: "\t").replacing("\\\\", with: "\\")
  }
}
