internal import RepriseCore
internal import Wire

// What a connection takes while it is judged, and what is left of one that was forgotten.
extension ConnectionState {
  /// Measures the memory that everything takes that is kept of the connection; about that, because it
  /// is asked for behind each event.
  /// - Returns: How much more it is than the last time, in bytes.
  mutating func measure() -> Int {
    let before = amount
    amount = reserved
    return amount - before
  }

  private var reserved: Int {
    MemoryLayout<ConnectionState>.stride
      + subscribing.open.reserved + unsubscribing.open.reserved + requests.reserved
      + subscribing.subscriptions.reserved + exchanges.reserved
      + (rare?.value.reserved ?? 0)
      + (terms.map { MemoryLayout<Terms>.stride + $0.value.told.reserved } ?? 0)
  }

  /// Takes all that came before for lost: what was known of the connection was given up, and it goes on.
  mutating func loseAll(_ cause: UndecidedReason, isRetold: Bool) {
    givenUp = cause
    // The answer to the next request may have been captured before it.
    requests.wasAnsweredEarly = true
    hasPings = !isRetold
    hasLoss = true
    for peer in Peer.allCases {
      self[peer].hasGap = true
      self[peer].isDeaf = true
    }
  }
}

extension ExchangingState {
  /// The memory that the open messages take, in bytes.
  var reserved: Int { fromClient.reserved + fromServer.reserved }
}

extension EventView {
  /// Whether it may open a message above QoS 0, for which the tables of such messages may grow.
  @inline(__always)
  var opensMessage: Bool {
    if case .mqtt(let packet) = body { packet.type == .publish && packet.qos > 0 } else { false }
  }

  /// Whether more may be kept of the connection behind it, but for open messages and what it is suspected of.
  @inline(__always)
  var mayGrow: Bool {
    switch body {
    case .mqtt(let packet):
      switch packet.type {
      case .connect, .subscribe, .unsubscribe, .suback, .unsuback: true
      default: false
      }
    case .webSocket(let frame): frame.opcode.isControl
    case .handshake: true
    case .opened, .closed, .attempted, .gap, .malformed, .http, .tls: false
    }
  }
}
