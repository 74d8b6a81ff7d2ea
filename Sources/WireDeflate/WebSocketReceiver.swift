public import Wire

/// What a receiver knows of the frames of one sender: the open message, its text, its compression.
///
/// It takes frames as `WebSocketFramer` cuts them, unmasks and inflates them, and notes what breaks
/// a rule beside the frames before. Faults stop nothing: the next frame is read as well as it can be.
public struct WebSocketReceiver: ~Copyable {
  private let sender: WebSocketRole
  private let deflate: Agreement
  private let limit: Int
  private var allowance: InflationAllowance
  private var message: Message
  private var hasClosed = false
  private var inflater: WebSocketInflater?
  /// Whether the inflater has seen all that the sender's compression may refer to.
  private var isContextWhole: Bool
  // Kept so that a frame needs no memory of its own.
  private var unmasked: [UInt8] = []
  private var inflated: [UInt8] = []
  private var unmaskedRoom = GrownRoom()
  private var inflatedRoom = GrownRoom()
  /// The most room of either that is kept for the next frame, in bytes.
  private static let mostKept = 1 << 16

  /// What is known of permessage-deflate.
  public enum Agreement: Sendable, Hashable {
    /// It was not agreed on.
    case none
    /// The sender may compress; with or without reference to the messages before.
    case agreed(keepsContext: Bool)
    /// The handshake was not captured.
    case unknown
  }

  /// The message that the next fragment goes on with.
  private enum Message {
    case none
    /// Frames before the capture, or lost ones, may have opened one.
    case unknown
    case open(OpenMessage)
  }

  private struct OpenMessage {
    var opcode: WebSocketOpcode
    /// Nil where the text is not to be judged any more: it had its fault, or bytes of it are unknown.
    var text: UTF8Validator?
    var isCompressed: Bool
    /// Why the rest of it is not inflated.
    var kept: WebSocketCompression.Reason?
    /// How much of it was inflated.
    var inflatedCount = 0
  }

  /// Creates a receiver.
  /// - Parameters:
  ///   - sender: The end that sends the frames.
  ///   - deflate: What is known of permessage-deflate.
  ///   - isFromStart: Whether the first frame is the sender's first.
  ///   - limit: The most bytes that are inflated of one message, 16 MiB if not stated.
  public init(
    from sender: WebSocketRole, deflate: Agreement = .none, isFromStart: Bool = true,
    limit: Int = 16 << 20
  ) {
    self.init(from: sender, deflate: deflate, isFromStart: isFromStart, limit: limit, store: nil)
  }

  /// Creates a receiver that inflates no more than it has room for in a store.
  package init(
    from sender: WebSocketRole, deflate: Agreement, isFromStart: Bool, limit: Int = 16 << 20,
    store: InflationStore?
  ) {
    self.sender = sender
    self.deflate = deflate
    self.limit = max(0, min(limit, Int(UInt32.max)))
    allowance = InflationAllowance(store)
    message = isFromStart ? .none : .unknown
    isContextWhole = isFromStart
  }

  /// The kind of the message that is open, by its first frame; nil where none is, or it is not known.
  public var openMessage: WebSocketOpcode? {
    if case .open(let open) = message { open.opcode } else { nil }
  }

  /// Tells that frames, or bytes of them, are missing before the next frame.
  ///
  /// Behind a Close frame the end of the connection may be among them, and the start of another one.
  public mutating func lose() {
    message = .unknown
    hasClosed = false
    forgetContext()
  }

  /// Takes the next frame.
  /// - Parameters:
  ///   - bytes: The frame as it was sent, shorter than its size where bytes are missing.
  ///   - header: Its header.
  ///   - use: Called with the frame, without its mask and inflated.
  public mutating func receive(
    _ bytes: RawSpan, _ header: WebSocketFrameHeader,
    _ use: (consuming WebSocketFrameView) -> Void
  ) {
    let wire = bytes.extracting(droppingFirst: header.size)
    guard let key = header.maskingKey, key != 0 else {
      return receive(wire, header: header, use)
    }
    // Taken out for the while, so that the rest can change beside it.
    var buffer = unmasked
    unmasked = []
    buffer.removeAll(keepingCapacity: true)
    WebSocketMask.append(wire, key: key, to: &buffer)
    receive(buffer.span.bytes, header: header, use)
    Self.keep(buffer, in: &unmasked, &unmaskedRoom)
  }

  private mutating func receive(
    _ payload: RawSpan, header: WebSocketFrameHeader,
    _ use: (consuming WebSocketFrameView) -> Void
  ) {
    var faults: [WebSocketFault] = []
    let opcode = header.opcode
    if opcode.isControl {
      checkReservedBits(header, mayCompress: false, &faults)
      use(WebSocketFrameView(header, payload: payload, from: sender, context: faults))
      if opcode == .close { hasClosed = true }
      return
    }
    if hasClosed { faults.append(WebSocketFault(.dataAfterClose, in: .opcode, at: 0)) }
    var open = begin(header, &faults)
    let isWhole = UInt64(payload.byteCount) == header.payloadLength
    let isLast = header.isFinal && isWhole
    var output = inflated
    inflated = []
    output.removeAll(keepingCapacity: true)
    let compression = inflate(payload, isLast: isLast, &open, into: &output, &faults, header)
    switch compression {
    case .none: checkText(payload, &open, isLast: isLast, header, &faults)
    case .inflated: checkText(output.span.bytes, &open, isLast: isLast, header, &faults)
    case .kept: open.text = nil
    }
    if !isWhole { open.text = nil }
    use(
      WebSocketFrameView(
        header, payload: payload, inflated: output.span.bytes, compression: compression,
        from: sender,
        context: faults))
    Self.keep(output, in: &inflated, &inflatedRoom)
    end(open, header, isWhole: isWhole)
  }

  /// Puts a buffer back for the next frame, but for a large one.
  private static func keep(
    _ filled: consuming [UInt8], in buffer: inout [UInt8], _ room: inout GrownRoom
  ) {
    room.hold(filled.count)
    if room.size <= mostKept { buffer = filled } else { room = GrownRoom() }
  }

  // MARK: Memory

  /// The memory that is taken or held ready, in bytes.
  package var reserved: Int {
    unmaskedRoom.size + inflatedRoom.size + (inflater == nil ? 0 : WebSocketInflater.memory)
  }

  /// Gives memory back: what the sender's compression refers to is forgotten.
  /// - Returns: Whether the next compressed frames may not be readable for that.
  package mutating func giveUp() -> Bool {
    unmasked = []
    inflated = []
    unmaskedRoom = GrownRoom()
    inflatedRoom = GrownRoom()
    guard inflater != nil else { return false }
    inflater = nil
    if case .open(var open) = message, open.isCompressed {
      if open.kept == nil { open.kept = .contextLost }
      message = .open(open)
      isContextWhole = false
      return true
    }
    isContextWhole = deflate == .agreed(keepsContext: false)
    return !isContextWhole
  }

  // MARK: Messages

  /// Returns the message that a data frame belongs to.
  private mutating func begin(
    _ header: WebSocketFrameHeader, _ faults: inout [WebSocketFault]
  ) -> OpenMessage {
    let opcode = header.opcode
    switch message {
    case .open(let open) where opcode == .continuation:
      checkReservedBits(header, mayCompress: false, &faults)
      return open
    case .open(let other):
      faults.append(WebSocketFault(.messageInsideMessage, in: .opcode, at: 0))
      // What the other message would have inflated to is missing from the window.
      if other.isCompressed { forgetContext() }
    case .none where opcode == .continuation:
      faults.append(WebSocketFault(.continuationOfNothing, in: .opcode, at: 0))
    case .none, .unknown: break
    }
    let mayCompress = deflate != .none && (opcode == .text || opcode == .binary)
    checkReservedBits(header, mayCompress: mayCompress, &faults)
    // What an unknown extension did to a payload, nobody can read as text.
    let isText = opcode == .text && header.reservedBits & (mayCompress ? 0b011 : 0b111) == 0
    return OpenMessage(
      opcode: opcode, text: isText ? UTF8Validator() : nil,
      isCompressed: mayCompress && header.reservedBits & 0b100 != 0)
  }

  private mutating func end(
    _ open: OpenMessage, _ header: WebSocketFrameHeader, isWhole: Bool
  ) {
    var open = open
    // From its middle the rest would inflate to anything, and what comes behind with it.
    if !isWhole, open.isCompressed, open.kept == nil { open.kept = .contextLost }
    message = header.isFinal ? .none : .open(open)
    // A continuation of what was not seen says as little about its message as the loss did.
    if !header.isFinal, open.opcode == .continuation { message = .unknown }
    guard open.isCompressed else { return }
    if !isWhole || open.kept != nil {
      forgetContext()
    } else if header.isFinal, deflate == .agreed(keepsContext: false) {
      inflater?.reset()
      isContextWhole = true
    }
  }

  private func checkReservedBits(
    _ header: WebSocketFrameHeader, mayCompress: Bool, _ faults: inout [WebSocketFault]
  ) {
    let bits = mayCompress ? header.reservedBits & 0b011 : header.reservedBits
    // In a capture without the handshake another extension may have been agreed on.
    guard bits != 0, deflate != .unknown else { return }
    faults.append(WebSocketFault(.reservedBits, in: .rsv, at: 0))
  }

  private func checkText(
    _ data: RawSpan, _ open: inout OpenMessage, isLast: Bool, _ header: WebSocketFrameHeader,
    _ faults: inout [WebSocketFault]
  ) {
    guard var text = open.text else { return }
    if let bad = text.consume(data) {
      // In a compressed payload no byte is that of the text.
      let offset = open.isCompressed ? 0 : bad
      faults.append(WebSocketFault(.invalidText, in: .payload, at: header.size + offset))
      open.text = nil
    } else if isLast, !text.isComplete {
      let offset = open.isCompressed ? 0 : data.byteCount
      faults.append(WebSocketFault(.invalidText, in: .payload, at: header.size + offset))
      open.text = nil
    } else {
      open.text = text
    }
  }

  // MARK: Compression

  private mutating func inflate(
    _ payload: RawSpan, isLast: Bool, _ open: inout OpenMessage, into output: inout [UInt8],
    _ faults: inout [WebSocketFault], _ header: WebSocketFrameHeader
  ) -> WebSocketCompression {
    guard open.isCompressed else { return .none }
    if let kept = open.kept { return .kept(kept) }
    if inflater == nil { inflater = WebSocketInflater() }
    let room = allowance.room(
      for: payload.byteCount, isStart: header.opcode != .continuation)
    let limit = limit - open.inflatedCount
    let outcome = inflater?.inflate(
      payload, isLast: isLast, into: &output, limit: min(limit, room))
    allowance.use(output.count)
    open.inflatedCount += output.count
    switch outcome {
    case .inflated: return .inflated
    case .tooLarge where room < limit:
      allowance.refuse()
      open.kept = .tooMuch
    case .tooLarge, nil: open.kept = .tooLarge
    case .damaged where isContextWhole:
      faults.append(WebSocketFault(.damagedCompression, in: .payload, at: header.size))
      open.kept = .damaged
    case .damaged: open.kept = .contextLost
    }
    return open.kept.map { .kept($0) } ?? .inflated
  }

  /// Goes on with an empty window, which reads all messages that refer to nothing before the loss.
  ///
  /// A reference counts backwards from where it stands: one that the window can serve is right,
  /// and one that it can't is an error.
  private mutating func forgetContext() {
    inflater?.reset()
    isContextWhole = deflate == .agreed(keepsContext: false)
  }
}
