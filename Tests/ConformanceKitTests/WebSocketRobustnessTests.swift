import ConformanceKit
import RepriseCore
import Testing
import Wire

@Suite("Long and wild sessions of WebSocket")
struct WebSocketRobustnessTests {
  /// A client and a server that do everything right, in many orders.
  private func conforming(_ seed: UInt64, steps: Int) -> Script {
    var random = Noise(seed: seed)
    var script = Script()
    script.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
    for _ in 0..<steps {
      let sender: Peer = random.next() % 2 == 0 ? .client : .server
      script.wait(Double(random.next() % 20))
      switch random.next() % 5 {
      case 0: script.text(sender, "grüße \(random.next())")
      case 1: script.frame(sender, .binary, [UInt8(truncatingIfNeeded: random.next())])
      case 2: script.frame(sender, .pong, [9])
      case 3:
        let data = [UInt8(truncatingIfNeeded: random.next())]
        script.frame(sender, .ping, data)
        script.text(sender.other)
        script.frame(sender.other, .pong, data)
      default:
        script.frame(sender, .text, [0xE2], isFinal: false)
        script.frame(sender, .ping, [1])
        script.text(sender.other)
        script.frame(sender.other, .pong, [1])
        script.frame(sender, .continuation, [0x82], isFinal: false)
        script.frame(sender, .continuation, [0xAC])
      }
    }
    script.finishWebSocket()
    return script
  }

  @Test("A long session of peers that conform gives no finding", arguments: 1...4)
  func long(seed: UInt64) throws {
    let report = try judge(
      conforming(seed, steps: 1_000).events, options: ConformanceOptions(isStrict: true))
    #expect(report.results.filter { $0.verdict == .failed }.map(\.clause.id) == [])
    for id in ["5.4-2", "5.5.2-1", "5.5.3-1", "5.6-1", "6.1-1", "5.5.1-6", "5.3-2"] {
      let result = report.results.first { $0.clause.id == "RFC6455-" + id }
      #expect(result?.verdict == .passed, "\(id)")
    }
  }

  @Test("Losing any frame of a session gives no finding", arguments: [Peer.client, .server])
  func losing(peer: Peer) throws {
    let events = conforming(7, steps: 60).events
    for index in events.indices {
      guard events[index].context.sender == peer, case .webSocket = events[index].body else {
        continue
      }
      var lossy = Reader(losing: index)
      let report = try judge(lossy.read(events), options: ConformanceOptions(isStrict: true))
      let failed = report.results.filter { $0.verdict == .failed }
      #expect(failed.map(\.clause.id) == [], "without event \(index)")
    }
  }

  /// Reads the frames again, one of which is missing, as a capture's reader would.
  private struct Reader {
    private let lost: Int
    private var carrier = Carrier()

    init(losing index: Int) { lost = index }

    mutating func read(_ events: [Event]) -> [Event] {
      events.enumerated().map { index, event in
        var event = event
        switch event.body {
        case .handshake(.request(let request)): carrier.request = request
        case .handshake(.response(let response)): carrier.response = response
        case .webSocket(let frame) where index == lost:
          carrier.lose(from: event.context.sender)
          event.body = .gap(Gap(bytes: frame.encoded().count, reason: .acknowledged))
        case .webSocket(let frame):
          let read = carrier.read(frame.encoded(), from: event.context.sender)
          if let read { event.body = .webSocket(read) }
        case .opened, .closed, .attempted, .gap, .malformed, .mqtt, .http, .tls: break
        }
        return event
      }
    }
  }

  @Test("Frames of any kind are judged without a trap", arguments: 1...10)
  func noise(seed: UInt64) throws {
    var random = Noise(seed: seed)
    var script = Script()
    script.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
    for _ in 0..<1_000 {
      let sender: Peer = random.next() % 2 == 0 ? .client : .server
      script.wait(Double(random.next() % 40))
      switch random.next() % 30 {
      case 0: script.gap(sender)
      case 1: script.garbage(sender)
      case 2: script.ask { $0.line = "\(random.next())" }
      case 3: script.answer { $0.add("Sec-WebSocket-Extensions", "\";\(random.next())") }
      default:
        let count = Int(random.next() % 20)
        let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        script.wireBytes(sender, bytes)
      }
    }
    script.close(.client)
    let report = try judge(script.events)
    #expect(report.json().count > 10_000)
  }

  @Test("A connection of MQTT over WebSocket that is open when the file ends is left undecided")
  func openAtTheEnd() throws {
    var script = Script()
    script.upgrade(subprotocol: "mqtt")
    script.startCarrying()
    script.closeFrame(.client)
    script.closeFrame(.server)
    let report = try judge(script.events)
    let closing = report.results.first { $0.clause.id == "RFC6455-5.5.1-6" }
    #expect(closing?.verdict == .inconclusive)
    #expect(closing?.reason == "the capture ends before the connection does")
  }

  @Test("Frames that a client retold are no evidence")
  func retold() throws {
    var events = conforming(3, steps: 50).events
    for index in events.indices {
      guard case .opened(var opening) = events[index].body else { continue }
      opening.hasPings = false
      events[index].body = .opened(opening)
    }
    let report = try judge(events)
    #expect(report.count(.passed) == 0 && report.count(.failed) == 0)
    let mask = report.results.first { $0.clause.id == "RFC6455-5.1-1" }
    #expect(mask?.reason?.hasPrefix("the recording is a client's own") == true)
  }

  @Test("Without WebSocket in the input its table is one line")
  func absent() throws {
    let report = try judge { $0.start() }
    let lines = report.text(color: false).split(separator: "\n")
    let place = try #require(lines.firstIndex { $0.hasPrefix("rfc6455: 0 of ") })
    #expect(lines[place + 1] == "  no WebSocket in the input; there is mqtt-3.1.1 on 1 connection")
  }
}
