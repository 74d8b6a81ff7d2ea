import RepriseCore
import TestSupport
import Wire

/// What a target begins with, and changes of it that a seed repeats.
public struct FuzzInput: Sendable {
  /// The inputs to change.
  public private(set) var corpus: [[UInt8]]
  private var generator: SplitMix64

  /// Creates inputs.
  /// - Parameters:
  ///   - corpus: What to begin with; empty begins with no bytes.
  ///   - seed: Any number; the same gives the same inputs.
  public init(_ corpus: [[UInt8]], seed: UInt64) {
    self.corpus = corpus.isEmpty ? [[]] : corpus
    generator = SplitMix64(seed: seed)
  }

  private mutating func random(_ count: Int) -> Int {
    Int(generator.next() % UInt64(max(1, count)))
  }

  /// Returns the next input: one of the corpus with up to eight changes.
  public mutating func next() -> [UInt8] {
    var bytes = corpus[random(corpus.count)]
    for _ in 0..<(1 << random(4)) { change(&bytes) }
    return bytes
  }

  /// Values at which lengths and signs turn.
  private static let edges: [UInt8] = [0, 1, 0x22, 0x3D, 0x5C, 0x7E, 0x7F, 0x80, 0xC2, 0xFE, 0xFF]

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = random(bytes.count)
    switch random(6) {
    case 0 where !bytes.isEmpty: bytes[place] ^= 1 << UInt8(random(8))
    case 1 where !bytes.isEmpty: bytes[place] = Self.edges[random(Self.edges.count)]
    case 2 where !bytes.isEmpty:
      bytes.removeSubrange(place..<min(bytes.count, place + 1 + random(16)))
    case 3: bytes.insert(UInt8(random(256)), at: place)
    case 4:
      let other = corpus[random(corpus.count)]
      let start = random(other.count)
      bytes.insert(contentsOf: other[start..<min(other.count, start + 1 + random(64))], at: place)
    default:
      let piece = bytes[place..<min(bytes.count, place + 1 + random(32))]
      bytes.insert(contentsOf: piece, at: random(bytes.count))
    }
  }
}

extension FuzzTarget {
  /// Inputs to begin with, made from captures and recordings.
  /// - Parameter files: The bytes of captures and recordings.
  /// - Returns: At most a few hundred inputs, none longer than 64 KiB.
  public func corpus(from files: [[UInt8]]) -> [[UInt8]] {
    let small = files.filter { $0.count <= 64 << 10 }
    let isRecording: ([UInt8]) -> Bool = { $0.starts(with: "{\"reprise\"".utf8) }
    switch self {
    case .capture: return small.filter { !isRecording($0) }
    case .recording:
      return files.filter(isRecording).map { file in
        let lines = file.split(separator: 0x0A).filter { $0.count < 2_000 }.prefix(20)
        return Array(lines.joined(separator: [0x0A])) + [0x0A]
      }
    case .packets, .frames, .heads, .json, .secrets:
      let events = small.flatMap(Self.events)
      return Array(Self.words(self).map { Array($0.utf8) } + pieces(of: events)).filter {
        !$0.isEmpty
      }
    case .http:
      return HTTPFuzz.corpus(FuzzTarget.json.pieces(of: small.flatMap(Self.events)))
    case .filter, .scripts, .words: return Self.words(self).map { Array($0.utf8) }
    }
  }

  private static func events(_ file: [UInt8]) -> [Event] { FileFuzz.events(file) }

  private func pieces(of events: [Event]) -> [[UInt8]] {
    var pieces: Set<[UInt8]> = []
    for event in events {
      switch (self, event.body) {
      case (.packets, .mqtt(let packet)): pieces.insert(packet.bytes)
      case (.frames, .webSocket(let frame)): pieces.insert(frame.encoded())
      case (.heads, .handshake(let handshake)): pieces.insert(handshake.head.bytes)
      case (.json, .mqtt), (.secrets, .mqtt):
        guard case .publish(let publish)? = event.packet?.content else { continue }
        pieces.insert(publish.payload)
      default: continue
      }
    }
    return pieces.filter { $0.count < 4_096 }.sorted { $0.lexicographicallyPrecedes($1) }.prefix(
      400
    ).map { $0 }
  }

  private static func words(_ target: FuzzTarget) -> [String] {
    switch target {
    case .filter:
      [
        #"topic ~ "plant/+/alarm" and qos > 0"#, "type == PUBLISH or not (retain)",
        "connection == 1 and frame >= 3 and frame <= 9", #"payload contains "a\"b""#,
        #"time > 2026-11-21T07:39:01.5Z"#, #"clientID == "c" and packetID != 7"#,
      ]
    case .scripts:
      [
        #"{"topic":"a/+/b","payload":{"id":"{id}","code":200},"after":"1s"}"#,
        #"{"answers":[{"topic":"a","replies":[{"topic":"b","payload":"c","qos":1}]}]}"#,
        #"{"token":{"code":401,"message":"old"},"devices":["a&b"],"properties":{"x":1}}"#,
        #"[{"path":"/a/b","response":{"code":200,"data":{}}}]"#,
      ]
    case .words:
      [
        "2026-11-21T07:39:01.123456Z", "1970-01-01T00:00:00Z", "a/+/b\na/c/b", "#\n$SYS/x",
        "topic:a/#", "key:ssid", "\u{85}\u{9B}\u{2028}\u{202E}\u{E0001}",
      ]
    case .secrets, .json:
      [
        #"{"iotToken":"abc","sign":1,"a":"{\"token\":\"x\"}"}"#, "token=abc&password=a%20b;c=d",
        "https://u:p@h/?sig=x#y", "Authorization: Bearer abc.def-1\r\nCookie: a=b; c",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", #"{"tok\u0065n":[1,{"b":null}]}"#,
        "secret = 'a b'",
      ]
    case .packets, .frames, .heads, .http, .capture, .recording: []
    }
  }
}

extension FileFuzz {
  /// The events of a capture or recording, as far as it can be read.
  static func events(_ bytes: [UInt8]) -> [Event] {
    var keeper = EventKeeper()
    try? read(bytes, into: &keeper)
    return keeper.events
  }
}
