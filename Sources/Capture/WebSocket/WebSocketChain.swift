import Wire

/// A run of frames without a fault, from a place in some bytes, as far as it proves something.
///
/// A frame has no mark of its own: two bytes of any binary protocol can look like its header. So what
/// counts is that one frame ends where the next one begins, that all of them are masked or none is,
/// that fragments follow their rules, and that text is text. Under a mask a payload of few bytes over and over, such as
/// zeros, is four bytes over and over, which may be headers that lead from one to the next: what repeats headers with
/// their keys proves nothing.
struct WebSocketChain: StreamChain {
  /// The number of complete frames.
  private(set) var frames = 0
  /// How much the frames prove.
  private(set) var weight = 0
  /// The number of them that hardly anything else looks like.
  private var solid = 0
  /// Where the run ends: at a frame that is not complete, or that can't be one.
  private(set) var end: Int
  /// Whether what stands at the end can't be a frame.
  private(set) var isBroken = false
  /// Whether all frames are masked, or none; nil before the first.
  private(set) var isMasked: Bool?
  /// Whether a message is open; nil where the run began with the middle of one, or may have.
  private var isMessageOpen: Bool?
  private var text: UTF8Validator?
  private var hasClosed = false
  /// The two latest headers that are masked, and whether one came again: then the run proves nothing.
  private var latest: (WebSocketFrameHeader?, WebSocketFrameHeader?)
  private var isPeriodic = false

  /// No frame larger than this is believed where none is expected.
  private static let largest: UInt64 = 16 << 20
  /// More frames than this prove no more, and hostile bytes could make the walk long.
  private static let mostFrames = 32
  /// So much of a payload is looked at for what it is, where looking at it takes time or a copy.
  private static let mostLooked = 4 << 10

  /// Walks along frames.
  /// - Parameters:
  ///   - bytes: The bytes of one direction.
  ///   - start: Where the first frame would start.
  ///   - isMasked: Whether frames of this direction are masked; nil where that is not known.
  ///   - isSearch: Whether each byte is tried: then a run is not walked along that proves nothing by its
  ///     first frames, such as one of zeros.
  init(
    _ bytes: RawSpan, from start: Int, hint isMasked: Bool? = nil, isSearch: Bool = false
  ) {
    end = start
    self.isMasked = isMasked
    while end < bytes.byteCount, !isBroken, frames < Self.mostFrames, step(bytes) {
      if isSearch, frames >= 8 + 4 * weight { return }
    }
  }

  /// Whether the run covers all bytes.
  var units: Int { frames }

  func isExact(_ bytes: RawSpan) -> Bool { !isBroken && end == bytes.byteCount }

  func needed(behind bytes: RawSpan) -> Int {
    guard end < bytes.byteCount,
      case .header(let header) = WebSocketFrameHeader.read(bytes, at: end),
      let size = header.frameSize
    else { return bytes.byteCount + 1 }
    return end + size
  }

  func proves(isExact: Bool) -> Bool { solid >= 2 || (solid >= 1 && isExact) }

  var provesAnywhere: Bool { frames >= 4 && weight >= Self.convincing }

  /// So much weight leaves no doubt of where the frames begin.
  static let convincing = 8

  /// Whether a frame is more than any two zeros, and than a text with its length before it, as many protocols have it.
  private static func isSolid(_ header: WebSocketFrameHeader) -> Bool {
    if header.isMasked { return true }
    let isContinuation = header.opcode == .continuation && !header.isFinal
    return header.payloadLength > (isContinuation ? 125 : 0)
  }

  /// What a frame adds to the evidence that frames begin where they are taken to.
  static func evidence(of header: WebSocketFrameHeader, in frame: RawSpan) -> Int {
    guard isSolid(header) else { return 0 }
    guard header.frameSize == frame.byteCount else { return 1 }
    return max(1, weight(of: header, frame.extracting(droppingFirst: header.size)))
  }

  /// Takes the frame at the end; false when there is no complete one.
  private mutating func step(_ bytes: RawSpan) -> Bool {
    guard isPlausible(bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self)) else {
      isBroken = true
      return false
    }
    guard case .header(let header) = WebSocketFrameHeader.read(bytes, at: end) else { return false }
    guard isPlausible(header), let size = header.frameSize else {
      isBroken = true
      return false
    }
    guard size <= bytes.byteCount - end else { return false }
    let payload = bytes.extracting((end + header.size)..<(end + size))
    isMasked = header.isMasked
    guard follow(header, payload) else {
      isBroken = true
      return false
    }
    frames += 1
    end += size
    compare(header)
    guard !isPeriodic else { return true }
    if Self.isSolid(header) { solid += 1 }
    weight += Self.weight(of: header, payload)
    return true
  }

  /// Looks whether a header is one of the two before it; a key of zeros may stand in all of them.
  private mutating func compare(_ header: WebSocketFrameHeader) {
    guard header.maskingKey ?? 0 != 0 else { return }
    if header == latest.0 || header == latest.1 {
      isPeriodic = true
      (solid, weight) = (0, 0)
    }
    latest = (header, latest.0)
  }

  private func isPlausible(_ firstByte: UInt8) -> Bool {
    let opcode = WebSocketOpcode(rawValue: firstByte)
    guard opcode.isDefined else { return false }
    if opcode.isControl { return firstByte & 0xF0 == 0x80 }
    // Only RSV1 has a meaning in use, at the start of a message.
    let bits = firstByte & 0x70
    return bits == 0 || (bits == 0x40 && opcode != .continuation)
  }

  private func isPlausible(_ header: WebSocketFrameHeader) -> Bool {
    guard header.isShortest, header.payloadLength <= Self.largest else { return false }
    if let isMasked, header.isMasked != isMasked { return false }
    guard header.opcode.isControl else { return true }
    return header.payloadLength <= 125 && !(header.opcode == .close && header.payloadLength == 1)
  }

  /// Follows the rules of fragments, text and the end; false where the frame breaks one.
  private mutating func follow(_ header: WebSocketFrameHeader, _ payload: RawSpan) -> Bool {
    switch header.opcode {
    case .close:
      hasClosed = true
      let frame = WebSocketFrame(header, payload: Self.unmasked(payload, header))
      return frame.withView(from: nil) { $0.faults.isEmpty }
    case .ping, .pong: return true
    case .continuation:
      guard isMessageOpen != false, !hasClosed else { return false }
    default:
      guard isMessageOpen != true, !hasClosed else { return false }
      let isText = header.opcode == .text && header.reservedBits == 0
      text = isText ? UTF8Validator() : nil
    }
    isMessageOpen = !header.isFinal
    guard text != nil else { return true }
    guard consume(payload, header) else { return false }
    if payload.byteCount > Self.mostLooked { text = nil }
    return !header.isFinal || text?.isComplete ?? true
  }

  /// Checks the start of a payload of text; false where it is none.
  private mutating func consume(_ payload: RawSpan, _ header: WebSocketFrameHeader) -> Bool {
    let start = payload.extracting(first: Self.mostLooked)
    guard header.maskingKey ?? 0 != 0 else { return text?.consume(start) == nil }
    return text?.consume(Self.unmasked(start, header).span.bytes) == nil
  }

  private static func unmasked(_ payload: RawSpan, _ header: WebSocketFrameHeader) -> [UInt8] {
    var bytes: [UInt8] = []
    WebSocketMask.append(payload, key: header.maskingKey ?? 0, to: &bytes)
    return bytes
  }

  /// What a frame adds: a mask takes a bit and four bytes that hardly anything else has in their
  /// place; text that is UTF-8 is no accident when it is long enough.
  private static func weight(of header: WebSocketFrameHeader, _ payload: RawSpan) -> Int {
    guard !payload.isEmpty else { return header.isMasked ? 1 : 0 }
    // Of one byte over and over, as fills empty places, key and payload are the same.
    guard !isFill(payload, header) else { return 0 }
    let mask = header.isMasked ? 2 : 0
    switch header.opcode {
    case .text where header.reservedBits == 0 && isReadable(payload, header): return mask + 3
    case .text, .binary: return mask + (carriesMQTT(payload, header) ? 4 : 0)
    case .close where payload.byteCount >= 2: return mask + 2
    case .close, .ping, .pong: return mask + 1
    // A length behind a zero is what many protocols have.
    default: return header.isMasked ? 1 : 0
    }
  }

  private static func isFill(_ payload: RawSpan, _ header: WebSocketFrameHeader) -> Bool {
    guard let key = header.maskingKey, key == UInt32(key & 0xFF) &* 0x0101_0101, key != 0 else {
      return false
    }
    let byte = UInt8(key & 0xFF)
    return payload.withUnsafeBytes { $0.allSatisfy { $0 == byte } }
  }

  private static func isReadable(_ payload: RawSpan, _ header: WebSocketFrameHeader) -> Bool {
    guard payload.byteCount >= 4 else { return false }
    func isReadable(_ text: RawSpan) -> Bool {
      text.withUnsafeBytes { bytes in
        bytes.allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) }
      }
    }
    let start = payload.extracting(first: mostLooked)
    return header.maskingKey ?? 0 == 0
      ? isReadable(start) : isReadable(unmasked(start, header).span.bytes)
  }

  private static func carriesMQTT(_ payload: RawSpan, _ header: WebSocketFrameHeader) -> Bool {
    func isMQTT(_ bytes: RawSpan) -> Bool {
      let chain = MQTTChain(bytes, from: 0)
      return chain.isExact(bytes) && chain.weight >= 2
    }
    guard header.maskingKey ?? 0 != 0 else { return isMQTT(payload) }
    return payload.byteCount <= mostLooked && isMQTT(unmasked(payload, header).span.bytes)
  }
}
