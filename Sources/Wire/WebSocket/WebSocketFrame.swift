/// A frame as a value of its own.
public struct WebSocketFrame: Sendable, Hashable {
  /// The header.
  public var header: WebSocketFrameHeader
  /// The payload without its mask, as it is sent; shorter than the header says when bytes of it are
  /// not known.
  public var payload: [UInt8]
  /// What the payload inflates to; nil where it is not compressed or was not inflated.
  public var inflated: [UInt8]?
  /// Why a compressed payload was not inflated; nil where it was, or is not compressed.
  public var keptCompressed: WebSocketCompression.Reason?
  /// What protocol the payload is known to carry.
  public var cargo: WebSocketCargo
  /// The faults that only the frame's place on its connection shows.
  public var contextFaults: [WebSocketFault]

  /// Creates a frame.
  /// - Parameters:
  ///   - opcode: What the frame is.
  ///   - payload: The payload, without a mask.
  ///   - isFinal: FIN: whether the message ends with it.
  ///   - reservedBits: RSV1 to RSV3 as a number (0...7), RSV1 the highest.
  ///   - maskingKey: The masking key; nil for a frame that is not masked, such as all of a server.
  public init(
    _ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true, reservedBits: UInt8 = 0,
    maskingKey: UInt32? = nil
  ) {
    self.init(
      WebSocketFrameHeader(
        opcode, isFinal: isFinal, reservedBits: reservedBits,
        payloadLength: UInt64(payload.count), maskingKey: maskingKey),
      payload: payload)
  }

  /// Creates a frame with a header that need not fit, so that tests can provoke.
  /// - Parameters:
  ///   - header: The header.
  ///   - payload: The payload, without a mask.
  public init(_ header: WebSocketFrameHeader, payload: [UInt8]) {
    self.header = header
    self.payload = payload
    cargo = .unknown
    contextFaults = []
  }

  /// Copies a frame out of borrowed bytes.
  public init(copying view: borrowing WebSocketFrameView) {
    self.init(view.header, payload: Array(copying: view.payload))
    cargo = view.cargo
    contextFaults = view.faults.filter { $0.code.needsContext }
    switch view.compression {
    case .none: break
    case .inflated: inflated = Array(copying: view.data)
    case .kept(let reason): keptCompressed = reason
    }
  }

  /// Calls a closure with the frame as everything that judges or shows takes it.
  /// - Parameters:
  ///   - sender: The end that sent the frame; nil leaves out the faults that only that decides.
  ///   - use: What to do with it.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  public func withView<Result, Failure: Error>(
    from sender: WebSocketRole?,
    _ use: (borrowing WebSocketFrameView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let compression: WebSocketCompression =
      inflated != nil ? .inflated : keptCompressed.map { .kept($0) } ?? .none
    let inflated = inflated ?? []
    return try use(
      WebSocketFrameView(
        header, payload: payload.span.bytes, inflated: inflated.span.bytes,
        compression: compression, cargo: cargo, from: sender, context: contextFaults))
  }

  /// Encodes the frame, masked if its header says so.
  /// - Returns: The frame as it stands on the wire, as far as its payload is known.
  public func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(header.size + payload.count)
    header.append(to: &bytes)
    WebSocketMask.append(payload.span.bytes, key: header.maskingKey ?? 0, to: &bytes)
    return bytes
  }

  /// Reads a frame of which nothing but its bytes is known.
  ///
  /// It is nil when the header is not whole, or the bytes are more than its length says.
  /// - Parameter bytes: The frame from its first byte on, as far as it was captured.
  public init?(bytes: [UInt8]) {
    let span = bytes.span.bytes
    guard case .header(let header) = WebSocketFrameHeader.read(span) else { return nil }
    let wire = span.extracting(droppingFirst: header.size)
    guard UInt64(wire.byteCount) <= header.payloadLength else { return nil }
    var payload: [UInt8] = []
    WebSocketMask.append(wire, key: header.maskingKey ?? 0, to: &payload)
    self.init(header, payload: payload)
  }
}
