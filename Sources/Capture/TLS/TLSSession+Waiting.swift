import RepriseCore

/// What a connection waits with for keys that its ends write down a moment later than they use them.
struct TLSWaiting {
  /// What is done with the keys.
  enum Step {
    case early
    case begin13(TLSHello, TLSCipherSuite)
    case changeCipherSpec(Side)
  }

  let step: Step
  /// How much had been read of the key log when it was asked last.
  var asked: Int
  /// When somebody looked first whether the keys are there.
  var since: Timestamp?
  /// What came meanwhile.
  var held = HeldPieces()

  /// How long keys are waited for, in nanoseconds.
  static let longest: Int64 = 2_000_000_000
  /// How many bytes are kept meanwhile.
  static let mostBytes = 256 << 10
}

// Keys that are not there yet, while what is captured goes on.
//
// All that comes behind the handshake waits then, as it came, and is taken when the keys are there.
extension TLSSession {
  /// Waits for keys, if more of them may come.
  func wait(for step: TLSWaiting.Step) -> Bool {
    guard secrets.mayGrow, isPatient else { return false }
    waiting = TLSWaiting(step: step, asked: secrets.bytesRead)
    return true
  }

  /// Keeps bytes until the keys are there; what is too much ends the waiting.
  func hold(_ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver) {
    waiting?.held.append(bytes, from: side, arrival)
    guard let waiting, waiting.held.byteCount > TLSWaiting.mostBytes else { return }
    ask(isLast: true, receiver)
  }

  /// Asks again for the keys if the log has grown, and no longer if it did not for too long.
  func ask(_ now: Timestamp, _ receiver: some TLSReceiver) {
    guard let waiting else { return }
    let since = waiting.since ?? now
    self.waiting?.since = since
    let isLast = now.nanoseconds(since: since) >= TLSWaiting.longest
    if isLast || waiting.asked != secrets.bytesRead { ask(isLast: isLast, receiver) }
  }

  /// Asks again for the keys, and takes what came meanwhile if they are there or will not be.
  func ask(isLast: Bool, _ receiver: some TLSReceiver) {
    guard var waited = waiting else { return }
    waiting = nil
    isPatient = !isLast
    defer { isPatient = true }
    switch waited.step {
    case .early: if !hasEarlySecret { _ = wait(for: .early) }
    case .begin13(let hello, let suite): begin13(hello, suite)
    case .changeCipherSpec(let side): changeCipherSpec(side)
    }
    guard waiting == nil else {
      waited.asked = secrets.bytesRead
      waiting = waited
      return
    }
    for piece in waited.held.pieces where obstacle == nil {
      switch piece.content {
      case .bytes(let range):
        let bytes = waited.held[piece.side].bytes
        take(bytes.span.bytes.extracting(range), piece.side, piece.arrival, receiver)
      case .lost(let count, let reason, _):
        lose(count, reason, piece.side, piece.arrival, receiver)
      }
    }
  }
}
