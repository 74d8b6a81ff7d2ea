import RepriseCore

/// What a connection begins with that may ask for something that is decoded, but is not whole.
struct UnreadStart: Hashable {
  /// Whether it may be a CONNECT; else it may be a request for WebSocket.
  var isCONNECT: Bool
  /// Whether the capture's snapshot length cut it; else bytes are missing for another reason.
  var isCut: Bool

  init(isCONNECT: Bool, isCut: Bool) {
    self.isCONNECT = isCONNECT
    self.isCut = isCut
  }

  /// Looks at what came of a connection that is not known to be anything; nil if no side begins with the
  /// first part of such a packet or request.
  /// - Parameter pieces: The pieces of both sides in the order of their coming.
  init?(_ pieces: HeldPieces) {
    for side in [Side.first, .second] {
      let held = pieces[side]
      guard let loss = held.firstLoss else { continue }
      let bytes = held.bytes.span.bytes.extracting(held.start)
      // Its first byte alone may be anything.
      if bytes.byteCount > 1, case .maybe = MQTTRecognizer.connectLevel(bytes) {
        self.init(isCONNECT: true, isCut: loss == .snaplen)
        return
      }
      // So may be a word of capitals without what it is to be done to.
      if held.bytes[held.start].contains(0x20), HTTPStart(bytes) == .maybe {
        self.init(isCONNECT: false, isCut: loss == .snaplen)
        return
      }
    }
    return nil
  }
}
