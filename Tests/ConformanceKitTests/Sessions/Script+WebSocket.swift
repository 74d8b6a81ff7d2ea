import RepriseCore
import Wire
import WireDeflate

/// The head of a request or response in the making.
struct Head {
  var line: String
  var fields: [HTTPHead.Field]

  mutating func add(_ name: String, _ value: String) { fields.append(.init(name, value)) }

  mutating func remove(_ name: String) { fields.removeAll { $0.name == name } }

  mutating func set(_ name: String, _ value: String) {
    remove(name)
    add(name, value)
  }

  /// The RFC's own example.
  static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  static var request: Head {
    Head(
      line: "GET /chat HTTP/1.1",
      fields: [
        .init("Host", "a"), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key", key), .init("Sec-WebSocket-Version", "13"),
      ])
  }

  static var response: Head {
    Head(
      line: "HTTP/1.1 101 Switching Protocols",
      fields: [
        .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Accept", WebSocketKey.accept(for: key)),
      ])
  }
}

/// What reads the frames of both sides, as a capture's reader does.
struct Carrier {
  /// One owner of the receivers, which can't be copied.
  private final class Receivers {
    var client: WebSocketReceiver
    var server: WebSocketReceiver

    init(_ agreement: (WebSocketRole) -> WebSocketReceiver.Agreement, isFromStart: Bool) {
      client = WebSocketReceiver(
        from: .client, deflate: agreement(.client), isFromStart: isFromStart)
      server = WebSocketReceiver(
        from: .server, deflate: agreement(.server), isFromStart: isFromStart)
    }
  }

  var request: WebSocketRequest?
  var response: WebSocketResponse?
  private var receivers: Receivers?
  var nextKey: UInt32 = 0x1234_5678

  /// Reads a frame.
  mutating func read(_ bytes: [UInt8], from sender: Peer) -> WebSocketFrame? {
    let receivers = self.receivers ?? Receivers(agreement, isFromStart: request != nil)
    self.receivers = receivers
    guard case .header(let header) = WebSocketFrameHeader.read(bytes.span.bytes) else {
      return nil
    }
    // What comes behind the frame is none of it.
    let bytes = Array(bytes.prefix(header.frameSize ?? bytes.count))
    var frame: WebSocketFrame?
    if sender == .client {
      receivers.client.receive(bytes.span.bytes, header) { frame = WebSocketFrame(copying: $0) }
    } else {
      receivers.server.receive(bytes.span.bytes, header) { frame = WebSocketFrame(copying: $0) }
    }
    return frame
  }

  private func agreement(_ role: WebSocketRole) -> WebSocketReceiver.Agreement {
    if let response { return response.deflate?.agreement(for: role) ?? .none }
    return request.map { $0.deflate == nil ? .none : .unknown } ?? .unknown
  }

  mutating func lose(from sender: Peer) {
    if sender == .client { receivers?.client.lose() } else { receivers?.server.lose() }
  }
}

extension Script {
  // MARK: Handshakes

  /// The client asks for WebSocket.
  mutating func ask(
    from client: String? = nil, isFromStart: Bool = true,
    _ change: (inout Head) -> Void = { _ in }
  ) {
    if carrier.request == nil, carrier.response == nil {
      wire = .webSocket
      open(isFromStart: isFromStart, client: client)
    }
    request(change)
  }

  /// The client asks for WebSocket through TLS, whose hello may name the server.
  mutating func askThroughTLS(
    of host: String, naming serverName: String?, _ change: (inout Head) -> Void = { _ in }
  ) {
    wire = .webSocket
    open()
    wire = .tls
    let hellos = TLSHellos(
      client: "192.0.2.1:50000", server: "192.0.2.2:443", version: "TLS 1.3",
      cipherSuite: "TLS_AES_128_GCM_SHA256", serverName: serverName)
    add(.client, .tls(.handshake(hellos)))
    wire = .webSocket
    request {
      $0.set("Host", host)
      change(&$0)
    }
  }

  private mutating func request(_ change: (inout Head) -> Void) {
    var head = Head.request
    change(&head)
    if let twist, twist.place == events.count { twist.change.write(&head, at: twist.place) }
    let request = WebSocketRequest(HTTPHead(startLine: head.line, fields: head.fields))
    carrier.request = request
    add(.client, .handshake(.request(request)))
  }

  /// The server answers; without a request before it, that was not captured.
  mutating func answer(_ change: (inout Head) -> Void = { _ in }) {
    if carrier.request == nil {
      wire = .webSocket
      open(isFromStart: false)
    }
    var head = Head.response
    change(&head)
    if let twist, twist.place == events.count { twist.change.write(&head, at: twist.place) }
    let response = WebSocketResponse(
      HTTPHead(startLine: head.line, fields: head.fields), to: carrier.request)
    carrier.response = response
    add(.server, .handshake(.response(response)))
  }

  /// Both halves of the handshake.
  mutating func upgrade(
    subprotocol: String? = nil, offering offer: String? = nil, accepting: String? = nil
  ) {
    ask {
      if let subprotocol { $0.add("Sec-WebSocket-Protocol", subprotocol) }
      if let offer { $0.add("Sec-WebSocket-Extensions", offer) }
    }
    answer {
      if let subprotocol { $0.add("Sec-WebSocket-Protocol", subprotocol) }
      if let accepting { $0.add("Sec-WebSocket-Extensions", accepting) }
    }
  }

  /// A connection whose handshake is not in the capture.
  mutating func joinWebSocket() {
    wire = .webSocket
    open(isFromStart: false)
  }

  // MARK: Frames

  /// A frame; a client masks it with the next key, if none is given.
  mutating func frame(
    _ sender: Peer, _ opcode: WebSocketOpcode, _ payload: [UInt8] = [], isFinal: Bool = true,
    rsv: UInt8 = 0, key: UInt32? = nil, early nanoseconds: Int64 = 0, sentEarly: Bool = false
  ) {
    var key = key
    if key == nil, sender == .client {
      carrier.nextKey &+= 0x0101_0307
      key = carrier.nextKey
    }
    let frame = WebSocketFrame(
      opcode, payload, isFinal: isFinal, reservedBits: rsv, maskingKey: key)
    wireBytes(sender, frame.encoded(), early: nanoseconds, sentEarly: sentEarly)
  }

  mutating func text(_ sender: Peer, _ text: String = "hello", isFinal: Bool = true) {
    frame(sender, .text, Array(text.utf8), isFinal: isFinal)
  }

  /// A frame as its bytes.
  ///
  /// It may have been captured before its place, and known to have been sent before the answer.
  mutating func wireBytes(
    _ sender: Peer, _ bytes: [UInt8], early nanoseconds: Int64 = 0, sentEarly: Bool = false
  ) {
    loseIfDue()
    var bytes = bytes
    if let twist, twist.place == events.count { bytes = twist.change.written(bytes) }
    guard var frame = carrier.read(bytes, from: sender) else { return }
    if sentEarly { frame.contextFaults.append(WebSocketFault(.beforeAnswer, in: .opcode, at: 0)) }
    add(sender, .webSocket(frame), early: nanoseconds)
  }

  /// A Close frame.
  mutating func closeFrame(_ sender: Peer, _ code: UInt16? = 1_000, _ reason: [UInt8] = []) {
    let body = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
    frame(sender, .close, body + reason)
  }

  /// The usual end.
  mutating func finishWebSocket() {
    closeFrame(.client)
    closeFrame(.server)
    close(.server)
  }

  /// A minute in which both sides send text.
  mutating func talkOn() {
    for _ in 0..<4 {
      wait(15)
      text(.client)
      text(.server)
    }
  }

  // MARK: MQTT in frames

  /// Packets in frames that end at certain places, and at the end.
  mutating func carry(
    _ sender: Peer, _ contents: MQTTPacket.Content..., cuts: [Int] = [],
    opcode: WebSocketOpcode = .binary
  ) {
    let packets = contents.map {
      (try? MQTTPacket(translated($0), version: told).encoded()) ?? []
    }
    let bytes = packets.flatMap { $0 }
    var ends = packets.reduce(into: [Int]()) { $0.append(($0.last ?? 0) + $1.count) }[...]
    var rest = packets[...]
    var start = 0
    for end in cuts + [bytes.count] {
      frame(sender, opcode, Array(bytes[start..<end]))
      start = end
      while let next = ends.first, next <= end, let packet = rest.first {
        unpack(sender, packet)
        ends = ends.dropFirst()
        rest = rest.dropFirst()
      }
    }
  }

  /// A client of MQTT 3.1.1 that is accepted.
  mutating func startCarrying() {
    carry(.client, .connect(.init(clientID: "c")))
    carry(.server, .connack(.init()))
  }

  /// The usual end of MQTT over WebSocket.
  mutating func finishCarrying() {
    carry(.client, .disconnect(.init()))
    finishWebSocket()
  }
}
