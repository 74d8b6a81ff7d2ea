import RepriseCore
import Wire
import WireDeflate

/// WebSocket out of any bytes.
enum FrameFuzz {
  static func run(_ bytes: [UInt8]) {
    for (peer, deflate) in [
      (Peer.client, WebSocketReceiver.Agreement.none), (.server, .agreed(keepsContext: true)),
    ] {
      var framer = WebSocketFramer()
      var receiver = WebSocketReceiver(from: peer.role, deflate: deflate, limit: 1 << 16)
      var secrets = FragmentSecrets()
      var events: [Event] = []
      let context = EventContext(
        time: Timestamp(nanoseconds: 1_000), frame: 1, connection: 1, sender: peer,
        wire: .webSocket)
      func take(_ bytes: RawSpan, _ header: WebSocketFrameHeader, _ offset: Int) {
        receiver.receive(bytes, header) { frame in
          guard events.count < 200 else { return }
          var frame = frame
          if secrets.conceals(frame) { frame.cargo = .concealed }
          events.append(Event(context, .webSocket(WebSocketFrame(copying: frame))))
        }
      }
      let middle = bytes.count / 3
      _ = try? framer.consume(bytes.span.bytes.extracting(0..<middle), take)
      _ = try? framer.consume(bytes.span.bytes.extracting(droppingFirst: middle), take)
      framer.flush(take)
      RoundTrip.check(events)
    }
  }

  static func runHeads(_ bytes: [UInt8]) {
    var reader = HTTPHeadReader(limit: 8 << 10)
    guard case .head(let head, let used) = reader.consume(bytes.span.bytes) else { return }
    demand(used <= bytes.count, "a head of more than there is")
    let request = WebSocketRequest(head)
    let context = EventContext(
      time: Timestamp(nanoseconds: 1_000), frame: 1, connection: 1, sender: .client,
      wire: .webSocket)
    RoundTrip.check([Event(context, .handshake(.request(request)))])
    let answer = WebSocketResponse(head, to: request)
    RoundTrip.check([Event(context, .handshake(.response(answer)))])
  }
}
