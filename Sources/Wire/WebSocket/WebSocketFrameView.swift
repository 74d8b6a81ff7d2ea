/// A frame, read in place from borrowed bytes.
///
/// What the frame breaks stands in ``faults``; what could be read all the same is there to be judged
/// and shown.
public struct WebSocketFrameView: ~Escapable {
  /// The header.
  public let header: WebSocketFrameHeader
  /// The payload without its mask, as it was sent, compressed or not; shorter than the header says
  /// when a capture lost the rest.
  public let payload: RawSpan
  private let inflated: RawSpan
  /// What became of compression.
  public let compression: WebSocketCompression
  /// What protocol the payload is known to carry.
  public var cargo: WebSocketCargo
  /// The rules that the frame breaks, in the order of their places.
  public var faults: [WebSocketFault]

  /// Creates a view of a frame.
  /// - Parameters:
  ///   - header: The header.
  ///   - payload: The payload without its mask, as far as it was captured.
  ///   - inflated: What the payload inflates to, if `compression` says that it was inflated.
  ///   - compression: What became of compression.
  ///   - cargo: What protocol the payload is known to carry.
  ///   - sender: The end that sent the frame; nil leaves out what only that decides.
  ///   - context: The faults that only the frame's place on the connection shows.
  @_lifetime(copy payload, copy inflated)
  public init(
    _ header: WebSocketFrameHeader, payload: RawSpan, inflated: RawSpan = RawSpan(),
    compression: WebSocketCompression = .none, cargo: WebSocketCargo = .unknown,
    from sender: WebSocketRole?, context: [WebSocketFault] = []
  ) {
    self.header = header
    self.payload = payload
    self.inflated = inflated
    self.compression = compression
    self.cargo = cargo
    var faults = context
    WebSocketFrameRules.check(header, payload, from: sender, into: &faults)
    if faults.count > 1 { faults.sort { $0.offset < $1.offset } }
    self.faults = faults
  }

  /// Creates a view of a frame whose faults are known.
  /// - Parameters:
  ///   - header: The header.
  ///   - payload: The payload without its mask, as far as it was captured.
  ///   - inflated: What the payload inflates to, if `compression` says that it was inflated.
  ///   - compression: What became of compression.
  ///   - cargo: What protocol the payload is known to carry.
  ///   - faults: All rules that it breaks, in the order of their places.
  @_lifetime(copy payload, copy inflated)
  package init(
    _ header: WebSocketFrameHeader, payload: RawSpan, inflated: RawSpan,
    compression: WebSocketCompression, cargo: WebSocketCargo, faults: [WebSocketFault]
  ) {
    self.header = header
    self.payload = payload
    self.inflated = inflated
    self.compression = compression
    self.cargo = cargo
    self.faults = faults
  }

  /// What the payload says: inflated where the sender compressed it.
  public var data: RawSpan {
    @_lifetime(copy self) get { compression == .inflated ? inflated : payload }
  }

  /// What the frame is.
  public var opcode: WebSocketOpcode { header.opcode }

  /// The number of bytes at the end of the frame that are not in the capture; as many as a number
  /// can say, if the header promises more.
  public var missing: Int {
    Int(clamping: header.payloadLength) - payload.byteCount
  }

  /// The status code of a Close frame, if it has one (RFC 6455 section 7.1.5).
  public var closeCode: UInt16? {
    guard opcode == .close, payload.byteCount >= 2 else { return nil }
    return UInt16(payload.byte(at: 0)) << 8 | UInt16(payload.byte(at: 1))
  }

  /// The reason of a Close frame, which should be UTF-8 (section 7.1.6); empty in other frames.
  public var closeReason: RawSpan {
    @_lifetime(copy self) get {
      payload.extracting(closeCode == nil ? 0..<0 : 2..<payload.byteCount)
    }
  }
}

/// What became of the compression of a frame (RFC 7692).
public enum WebSocketCompression: Sendable, Hashable {
  /// The frame is not compressed.
  case none
  /// It was inflated.
  case inflated
  /// It is compressed and could not be inflated.
  case kept(Reason)

  /// Why a frame could not be inflated.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Earlier bytes, which it refers to, are not in the capture.
    case contextLost = "context-lost"
    /// Its bytes are damaged.
    case damaged
    /// The message grows beyond what is inflated of one.
    case tooLarge = "too-large"
    /// The messages of the capture inflate to far more than was sent.
    case tooMuch = "too-much"
  }
}

/// What protocol the payload of a frame is known to carry.
public enum WebSocketCargo: Sendable, Hashable {
  /// Nothing is known of it.
  case unknown
  /// Whole MQTT control packets without credentials of their own.
  case mqtt
  /// Other MQTT: parts of packets, which nobody can read by themselves, or a CONNECT or AUTH. Code that
  /// hides secrets shows the packets and not these bytes.
  case mqttConcealed
  /// Text that goes on inside a secret which an earlier frame of the message began. Code that hides secrets
  /// shows nothing of it.
  case concealed
}

/// The rules that a frame shows by itself.
enum WebSocketFrameRules {
  @inline(__always)
  static func check(
    _ header: WebSocketFrameHeader, _ payload: RawSpan, from sender: WebSocketRole?,
    into faults: inout [WebSocketFault]
  ) {
    if !header.opcode.isDefined {
      faults.append(WebSocketFault(.reservedOpcode, in: .opcode, at: 0))
    }
    if sender == .client, !header.isMasked {
      faults.append(WebSocketFault(.unmaskedFromClient, in: .masked, at: 1))
    }
    if sender == .server, header.isMasked {
      faults.append(WebSocketFault(.maskedFromServer, in: .masked, at: 1))
    }
    if !header.isShortest { faults.append(WebSocketFault(.lengthNotShortest, in: .length, at: 1)) }
    if header.payloadLength > Int64.max {
      faults.append(WebSocketFault(.lengthTooLarge, in: .length, at: 2))
    }
    if header.opcode.isControl { checkControl(header, payload, into: &faults) }
  }

  private static func checkControl(
    _ header: WebSocketFrameHeader, _ payload: RawSpan, into faults: inout [WebSocketFault]
  ) {
    if !header.isFinal { faults.append(WebSocketFault(.fragmentedControl, in: .fin, at: 0)) }
    if header.payloadLength > 125 {
      faults.append(WebSocketFault(.longControl, in: .length, at: 1))
    }
    guard header.opcode == .close, header.payloadLength > 0 else { return }
    if header.payloadLength == 1 {
      faults.append(WebSocketFault(.halfCloseCode, in: .closeCode, at: header.size))
    }
    guard payload.byteCount >= 2 else { return }
    let code = UInt16(payload.byte(at: 0)) << 8 | UInt16(payload.byte(at: 1))
    if !WebSocketCloseCode.mayBeSent(code) {
      faults.append(WebSocketFault(.invalidCloseCode, in: .closeCode, at: header.size))
    }
    var validator = UTF8Validator()
    let isComplete = header.payloadLength == UInt64(payload.byteCount)
    if let bad = validator.consume(payload.extracting(droppingFirst: 2)) {
      faults.append(WebSocketFault(.invalidReason, in: .closeReason, at: header.size + 2 + bad))
    } else if isComplete, !validator.isComplete {
      let end = header.size + payload.byteCount
      faults.append(WebSocketFault(.invalidReason, in: .closeReason, at: end))
    }
  }
}
