import DataClient
import Wire

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
  init?(_ pieces: [HeldPiece]) {
    for side in [Side.first, .second] {
      guard let loss = pieces.firstLoss(of: side) else { continue }
      let bytes = pieces.start(of: side).bytes
      // Its first byte alone may be anything.
      if bytes.count > 1, case .maybe = MQTTRecognizer.connectLevel(bytes.span.bytes) {
        self.init(isCONNECT: true, isCut: loss == .snaplen)
        return
      }
      // So may be a word of capitals without what it is to be done to.
      if bytes.contains(0x20), HTTPStart(bytes.span.bytes) == .maybe {
        self.init(isCONNECT: false, isCut: loss == .snaplen)
        return
      }
    }
    return nil
  }
}

extension [HeldPiece] {
  /// Why the first bytes that are missing of a side are.
  fileprivate func firstLoss(of side: Side) -> Gap.Reason? {
    for piece in self where piece.side == side {
      if case .lost(_, let reason) = piece.content { return reason }
    }
    return nil
  }
}
