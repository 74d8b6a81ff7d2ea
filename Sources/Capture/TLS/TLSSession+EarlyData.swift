import RepriseCore

// What a client of 1.3 sends with its first hello (RFC 8446 section 2.3).
extension TLSSession {
  /// Prepares the keys of early data, whose cipher suite is not told: it is that which its first record is authentic by.
  func prepareEarly(_ record: RawSpan) {
    guard let hello = clientHello else { return }
    let logged = secrets.secret(.clientEarly, of: hello.random)
    var plain = buffer.take()
    defer { buffer.give(plain) }
    for value: UInt16 in 0x1301...0x1305 {
      let suite = TLSCipherSuite(value: value)
      guard let secret = logged ?? sharedEarly(suite.hash),
        let cipher = TLSKeys.cipher(secret: secret, suite),
        cipher.open(record, sequence: 0, into: &plain) != nil
      else { continue }
      if logged == nil { secrets.noteDerived(secret, .clientEarly, of: hello.random) }
      self[client].use(TLSEpoch(kind: .early, cipher: cipher, secret: secret))
      return
    }
  }

  /// Whether it is known what early data is encrypted by.
  var hasEarlySecret: Bool {
    clientHello.flatMap { secrets.secret(.clientEarly, of: $0.random) } != nil
  }

  /// The secret of early data that a pre-shared key alone makes, whatever else goes into those that follow.
  private func sharedEarly(_ hash: TLSHash) -> [UInt8]? {
    secrets.preSharedKey.flatMap { TLSKeySchedule($0, hash)?.earlySecret(exchange.hello) }
  }

  func accept(_ isAccepted: Bool, _ arrival: Arrival, _ receiver: some TLSReceiver) {
    early.isAccepted = isAccepted
    let pieces = early.takeAll()
    guard isAccepted else {
      if self[client].current?.kind == .early { self[client].advance() }
      return
    }
    for piece in pieces { receiver.receive(piece.bytes.span.bytes, client, piece.arrival) }
    loseEarly(arrival, receiver)
  }

  /// Tells what of the early data could not be decrypted or kept, once it is known that the server takes it.
  func loseEarly(_ arrival: Arrival, _ receiver: some TLSReceiver) {
    guard early.isAccepted == true, early.lost > 0 else { return }
    receiver.lose(early.lost, isCounted: false, .encrypted, client, arrival)
    early.lost = 0
  }
}
