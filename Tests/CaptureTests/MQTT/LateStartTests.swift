import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Real sessions read from every one of their frames on, as if the capture had begun there: what is
/// told of packets whose CONNECT was not captured.
@Suite struct LateStartTests {
  /// Messages of connections whose version no CONNECT tells, over all starts.
  struct Rate: Equatable, CustomStringConvertible {
    var messages = 0
    /// Laid out by the version that the session really has.
    var right = 0
    /// Not so, although a packet that tells the version was there.
    var wrongBehindEvidence = 0
    /// Of them those that were told as a version of its own, not as one that is not known.
    var wrongUnmarked = 0

    var description: String {
      "\(right) of \(messages) right, \(wrongBehindEvidence) wrong behind evidence, "
        + "\(wrongUnmarked) unmarked"
    }
  }

  /// A packet of a session and the version that its CONNECT names.
  private struct Known {
    let event: Event
    let version: MQTTVersion
  }

  private struct Key: Hashable {
    let frame: Int
    let sender: Peer
    let packet: Event.Body

    init(_ event: Event, frame: Int) {
      self.frame = frame
      sender = event.context.sender
      packet = event.body
    }
  }

  private final class Box {
    var events: [Event] = []
  }

  /// Reads frames from one of them on.
  private static func events(_ frames: ArraySlice<SeenFrame>) -> [Event] {
    let box = Box()
    var dissector = FrameDissector()
    var reassembler = TCPReassembler(
      SessionTraffic(
        decode: [:], emitter: SessionEmitter { box.events.append(Event(copying: $0)) }))
    for seen in frames {
      let frame = Frame(
        number: seen.number, time: seen.time, linkType: seen.linkType,
        bytes: seen.bytes.span.bytes, wireLength: seen.wireLength)
      dissector.dissect(frame) { reassembler.take($0) }
    }
    reassembler.finish()
    return box.events
  }

  /// Whether a packet of 5.0 can't be one of 3.1.1, or hardly: a list of its own, by the standards.
  private static func tellsVersion5(_ known: Known) -> Bool {
    guard case .mqtt(let bytes) = known.event.body, bytes.size == bytes.bytes.count,
      let packet = known.event.packet
    else { return false }
    switch packet.content {
    case .connect, .connack, .subscribe, .unsubscribe, .unsuback, .auth: return true
    case .acknowledgement, .disconnect: return bytes.bytes.count > 4
    case .publish(let publish):
      let texts: [MQTTPropertyID] = [.contentType, .responseTopic, .userProperty]
      if publish.properties.contains(where: { texts.contains($0.id) }) { return true }
      // Behind the empty property length: four characters or more, and nothing but text.
      let isText = publish.payload.allSatisfy { (0x20...0x7E).contains($0) }
      return publish.properties.isEmpty && isText && publish.payload.count >= 4
    case .suback, .pingreq, .pingresp: return false
    }
  }

  private static func measure(_ path: String, _ version: MQTTVersion) throws -> Rate {
    let frames = try Reading(path: path).frames
    let whole = Self.events(frames[...])
    var known: [Key: Known] = [:]
    var telling: [Int: [Int]] = [:]
    var connections: [Key: Int] = [:]
    for event in whole {
      guard case .mqtt = event.body, event.context.over == nil,
        case .mqtt(let named) = event.context.wire
      else { continue }
      let entry = Known(event: event, version: named)
      let key = Key(event, frame: event.context.frame)
      known[key] = entry
      connections[key] = event.context.connection
      if named == .v5_0, Self.tellsVersion5(entry) {
        telling[event.context.connection, default: []].append(event.context.frame)
      }
    }
    var rate = Rate()
    let step = max(1, frames.count / 100)
    for start in stride(from: 0, to: frames.count, by: step) {
      for event in Self.events(frames[start...]) where !event.context.wire.isCertain {
        guard case .mqtt = event.body, event.context.over == nil else { continue }
        let key = Key(event, frame: event.context.frame)
        guard let truth = known[key], truth.version == version, let connection = connections[key]
        else { continue }
        guard event.packet?.isPublish == true || version != .v5_0 else { continue }
        rate.messages += 1
        if (event.context.wire.version == .v5_0) == (version == .v5_0) {
          rate.right += 1
          continue
        }
        if event.context.wire.isTold { rate.wrongUnmarked += 1 }
        let first = start < frames.count ? frames[start].number : 0
        let isTold = (telling[connection] ?? []).contains { (first...key.frame).contains($0) }
        if isTold { rate.wrongBehindEvidence += 1 }
      }
    }
    return rate
  }

  private static let sessionsOf5: [(String, Rate)] = [
    // Before evidence was weighed 20, 95, 18 and 238 of them were right.
    ("qos-levels-v5", Rate(messages: 23, right: 23)),
    ("request-response-v5", Rate(messages: 112, right: 112)),
    ("session-expiry-v5", Rate(messages: 44, right: 44)),
    ("subscription-options-v5", Rate(messages: 986, right: 986)),
  ]

  @Test(arguments: sessionsOf5) func layoutOf5(_ name: String, _ expected: Rate) throws {
    let rate = try Self.measure(PackageFolder.capture(name), .v5_0)
    #expect(rate == expected)
  }

  // What is over WebSocket has its handshake to name it.
  private static let sessionsOf3 = PackageFolder.captured.filter {
    !$0.hasSuffix("v5") && $0 != "protocol-v31" && $0 != "mqtt-over-websocket"
  }

  @Test(arguments: sessionsOf3) func layoutOf3(_ name: String) throws {
    let rate = try Self.measure(PackageFolder.capture(name), .v3_1_1)
    #expect(rate.right == rate.messages && rate.messages >= 10, "\(rate)")
  }

  @Test(.capturesOfOthers) func captures() throws {
    let path = SharedCaptures.path("made-here/g02_mqtt5_rpc_props.pcap")
    let rate = try Self.measure(path, .v5_0)
    #expect(rate.messages > 0 && rate.wrongBehindEvidence == 0 && rate.wrongUnmarked == 0)
    var wrong: [String] = []
    var messages = 0
    for name in SharedCaptures.names {
      guard let rate = try? Self.measure(SharedCaptures.path(name), .v3_1_1) else { continue }
      messages += rate.messages
      if rate.right != rate.messages { wrong.append("\(name): \(rate)") }
    }
    #expect(wrong == [])
    #expect(messages > 1_000)
  }
}

extension WireProtocol {
  /// Whether it claims a version.
  fileprivate var isTold: Bool { if case .mqttInferred = self { true } else { isCertain } }
}

extension MQTTPacket {
  fileprivate var isPublish: Bool { if case .publish = content { true } else { false } }
}
