internal import RepriseCore
internal import Wire

// The headers of frames: sections 5.1 to 5.5, 5.8, 9.1 and 10.3.
extension WebSocketState {
  /// Judges a frame.
  mutating func takeFrame(
    _ frame: borrowing WebSocketFrameView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    // Asked once, because the list is copied to be looked at.
    let faults = FrameFaults(frame.faults)
    let sender = event.context.sender
    judgeMask(frame, faults, event, hearing, &tally)
    judgeExtensionUse(frame, faults, event, hearing, &tally)
    judgeLength(frame, faults, event, hearing, &tally)
    noteLife(of: sender, event, hearing, &tally)
    if sender == .client { judgePatience(frame, faults, event, hearing, &tally) }
    if offence != nil { judgeFailing(frame, event, hearing, &tally) }
    let isFreshPing = frame.opcode == .ping && isFresh(frame, from: sender)
    if failed != nil { judgeFailed(frame, isFreshPing: isFreshPing, event, hearing, &tally) }
    switch frame.opcode {
    case .close: takeClose(frame, faults, event, hearing, &tally)
    case .ping: takePing(frame, event.context, hearing, &tally)
    case .pong: takePong(frame, event, hearing, &tally)
    case .text, .binary, .continuation: takeData(frame, faults, event, hearing, &tally)
    default: break
    }
    if frame.opcode.isControl { judgeControl(frame, faults, event, hearing, &tally) }
    if !faults.isEmpty || offence != nil {
      offend(frame, faults, event.context, isFreshPing: isFreshPing)
    }
    if !faults.isEmpty { self[sender].isAtFault = true }
    self[sender].take(frame.header, at: event.context.time)
    self[sender].isDeaf = false
  }

  /// Masks: sections 5.1, 5.3 and 10.3.
  private mutating func judgeMask(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard event.context.sender == .client else {
      guard knowsRoles else { return tally.leave(.serverDoesNotMask, .rolesInferred, hearing) }
      return tally.judge(
        .serverDoesNotMask, faults[.maskedFromServer], "a frame without a mask", frame, event,
        hearing)
    }
    for rule in [FrameRule.clientMasks, .maskedFrameHasKey] {
      if knowsRoles {
        tally.judge(rule, faults[.unmaskedFromClient], "a masked frame", frame, event, hearing)
      } else {
        tally.leave(rule, .rolesInferred, hearing)
      }
    }
    guard let key = frame.header.maskingKey else { return }
    // Two of a few random keys are alike once in a thousand million frames.
    let isFresh = self[.client].keys.take(key)
    for rule in [FrameRule.maskingKeyIsFresh, .maskingKeyIsNew] {
      guard !isFresh else {
        tally.satisfy(rule, hearing)
        continue
      }
      let digits = String(key, radix: 16)
      let text = String(repeating: "0", count: 8 - digits.utf8.count) + digits
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the client sent a \(frame.opcode.name) frame with a masking key that it had just used",
          expected: "a fresh masking key for each frame", actual: "\(text) again"))
    }
  }

  /// What only an extension gives a meaning: sections 5.2, 5.8 and 9.1.
  private func judgeExtensionUse(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let isClient = event.context.sender == .client
    let hasOffered = isClient && isEstablished && request?.extensions.isEmpty == false
    guard frame.header.reservedBits != 0 || !frame.opcode.isDefined else {
      tally.satisfy(.reservedBitsAreZero, hearing)
      tally.satisfy(.opcodeIsDefined, hearing)
      tally.satisfy(.extensionsAreNegotiated, hearing)
      if hasOffered { tally.satisfy(.clientUsesAcceptedOnly, hearing) }
      return
    }
    let bits = faults[.reservedBits]
    let opcode = faults[.reservedOpcode]
    let expected = "no use of what no extension that was agreed on defines"
    var doubt: UndecidedReason?
    switch negotiation {
    case .unknown: doubt = handshakeReason ?? .handshakeNotSeen
    case .other: doubt = .unknownExtension
    case .nothing, .deflate: break
    }
    guard let doubt else {
      tally.judge(.reservedBitsAreZero, bits, "reserved bits of 0", frame, event, hearing)
      tally.judge(.opcodeIsDefined, opcode, "opcode 0, 1, 2, 8, 9 or 10", frame, event, hearing)
      tally.judge(.extensionsAreNegotiated, bits ?? opcode, expected, frame, event, hearing)
      if hasOffered {
        tally.judge(.clientUsesAcceptedOnly, bits ?? opcode, expected, frame, event, hearing)
      }
      return
    }
    if frame.header.reservedBits != 0 { tally.leave(.reservedBitsAreZero, doubt, hearing) }
    if opcode != nil { tally.leave(.opcodeIsDefined, doubt, hearing) }
    tally.leave(.extensionsAreNegotiated, doubt, hearing)
    if hasOffered { tally.leave(.clientUsesAcceptedOnly, doubt, hearing) }
  }

  /// Judges a frame of which no more is there than an opcode that is reserved.
  func judgeCutHeader(
    _ malformation: Malformation, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    switch negotiation {
    case .unknown:
      return tally.leave(.opcodeIsDefined, handshakeReason ?? .handshakeNotSeen, hearing)
    case .other: return tally.leave(.opcodeIsDefined, .unknownExtension, hearing)
    case .nothing, .deflate: break
    }
    tally.violate(
      .opcodeIsDefined, event, hearing,
      FindingText(
        "the \(event.context.sender.rawValue) began a frame with an opcode that is reserved",
        expected: "opcode 0, 1, 2, 8, 9 or 10",
        actual: "\(malformation.message), at byte \(malformation.offset) of the stream"))
  }

  private func judgeLength(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    tally.judge(
      .lengthIsShortest, faults[.lengthNotShortest], "the shortest form of the length", frame,
      event, hearing)
    guard frame.header.lengthForm == .long else { return }
    tally.judge(
      .lengthHas63Bits, faults[.lengthTooLarge], "a highest bit of 0 in the length of 64 bits",
      frame, event, hearing)
  }

  private func judgeControl(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    tally.judge(
      .controlIsWhole, faults[.fragmentedControl], "a control frame with FIN", frame, event, hearing
    )
    tally.judge(
      .controlIsShort, faults[.longControl], "at most 125 bytes in a control frame", frame, event,
      hearing)
  }
}

/// The faults of a frame.
struct FrameFaults {
  private let faults: [WebSocketFault]

  init(_ faults: [WebSocketFault]) { self.faults = faults }

  @inline(__always)
  var isEmpty: Bool { faults.isEmpty }

  /// The fault of a kind, if the frame has it.
  @inline(__always)
  subscript(code: WebSocketFault.Code) -> WebSocketFault? {
    faults.isEmpty ? nil : faults.first { $0.code == code }
  }
}

/// The last masking keys of a client.
struct RecentKeys {
  private var keys = SIMD4<UInt32>()
  private var count = 0

  /// Takes the next key; false when it was one of the last four.
  @inline(__always)
  mutating func take(_ key: UInt32) -> Bool {
    for index in 0..<min(count, 4) where keys[index] == key { return false }
    keys[count & 3] = key
    count &+= 1
    return true
  }
}

extension Tally {
  /// Judges a frame by a fault that violates a clause; without it the clause was kept.
  @inline(__always)
  mutating func judge(
    _ rule: FrameRule, _ fault: WebSocketFault?, _ expected: @autoclosure () -> String,
    _ frame: borrowing WebSocketFrameView, _ event: borrowing EventView, _ hearing: Hearing
  ) {
    guard let fault else { return satisfy(rule, hearing) }
    let text = FindingText(frame, event.context.sender, fault, expected())
    violate(rule, event, hearing, text)
  }
}

extension FindingText {
  /// What is said of a bad frame.
  init(
    _ frame: borrowing WebSocketFrameView, _ sender: Peer, _ fault: WebSocketFault,
    _ expected: String
  ) {
    self.init(
      "the \(sender.rawValue) sent a bad \(frame.opcode.name) frame: \(fault.code.message)",
      expected: expected, actual: fault.value(in: frame),
      cause: "\(fault.code.rawValue) \(fault.offset)")
  }
}
