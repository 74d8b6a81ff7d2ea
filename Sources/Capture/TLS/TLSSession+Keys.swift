// The keys that a handshake leads to.
extension TLSSession {
  /// Prepares the keys of 1.3, all of which a key log has by then.
  func begin13(_ hello: TLSHello, _ suite: TLSCipherSuite) {
    func epoch(_ label: TLSKeyLog.Label, _ kind: TLSEpoch.Kind) -> TLSEpoch? {
      guard let secret = secrets.secret(label, of: hello.random),
        let cipher = TLSKeys.cipher(secret: secret, suite)
      else { return nil }
      return TLSEpoch(kind: kind, cipher: cipher, secret: secret)
    }
    let clientTraffic = epoch(.clientTraffic, .traffic)
    let serverTraffic = epoch(.serverTraffic, .traffic)
    let missing: [TLSKeyLog.Label] =
      (clientTraffic == nil ? [.clientTraffic] : [])
      + (serverTraffic == nil ? [.serverTraffic] : [])
    if !missing.isEmpty, prepareShared(suite) || wait(for: .begin13(hello, suite)) { return }
    guard missing.count < 2 else {
      let (clients, servers) = (
        epoch(.clientHandshake, .handshake), epoch(.serverHandshake, .handshake)
      )
      keyless =
        clients == nil && servers == nil
        ? obstacleWithoutKeys(suite) : .partOfSecrets(missing: missing)
      // Of a handshake that fails no other secrets are written down.
      begin(clients, of: client)
      begin(servers, of: client.other)
      return
    }
    self.missing = missing
    let server = self[client.other]
    let client = self[client]
    for (direction, handshake, traffic) in [
      (client, epoch(.clientHandshake, .handshake), clientTraffic),
      (server, epoch(.serverHandshake, .handshake), serverTraffic),
    ] {
      direction.isSealed = traffic == nil
      direction.upcoming = [handshake, traffic].compactMap(\.self)
      // The records of a handshake without its keys are passed over.
      direction.mayFail = handshake == nil ? Self.mostUnread : 0
      if direction.current?.kind != .early { direction.advance() }
    }
  }

  /// Why nothing of a connection of 1.3 is decrypted that no key is there for.
  private func obstacleWithoutKeys(_ suite: TLSCipherSuite) -> TLSObstacle {
    let extensions = serverHello?.extensions
    let isShared = extensions?.hasPreSharedKey == true && extensions?.hasKeyShare == false
    if secrets.isEmpty { return .noSecrets(isShared ? .psk : .other) }
    return secrets.hasKeys ? .ephemeral(suite) : .notAmongSecrets(nil)
  }

  /// Takes the keys of a handshake into use that has no others.
  private func begin(_ epoch: TLSEpoch?, of side: Side) {
    guard let epoch, self[side].current?.kind != .early else { return }
    self[side].use(epoch)
  }

  /// Takes a record that keys would be needed for, where there are none.
  /// - Returns: Whether that is so.
  func passKeyless(_ side: Side) -> Bool {
    guard let keyless else { return false }
    if side == client { obstacle = keyless }
    return true
  }

  /// Prepares the keys of a handshake of 1.3 where a pre-shared key is all that they are made of.
  /// - Returns: Whether that is so, and the key is there.
  private func prepareShared(_ suite: TLSCipherSuite) -> Bool {
    guard let extensions = serverHello?.extensions, extensions.hasPreSharedKey,
      !extensions.hasKeyShare,
      let schedule = secrets.preSharedKey.flatMap({ TLSKeySchedule($0, suite.hash) }),
      let pair = schedule.handshakeSecrets(sharedMessages)
    else { return false }
    self.schedule = schedule
    hasDerivedSecrets = true
    append(pair, .handshake, suite)
    for direction in [self[client], self[client.other]] where direction.current?.kind != .early {
      direction.advance()
    }
    return true
  }

  /// Prepares the keys that follow the server's Finished, where only a pre-shared key makes them.
  func prepareTraffic() {
    guard let schedule, let suite = serverHello?.suite,
      let pair = schedule.trafficSecrets(sharedMessages)
    else { return }
    self.schedule = nil
    exchange.finish()
    append(pair, .traffic, suite)
  }

  /// The messages to the end of the server's last one.
  private var sharedMessages: [UInt8] {
    exchange.messages(without: self[client.other].messages.countBehind)
  }

  private func append(_ pair: TLSKeySchedule.Pair, _ kind: TLSEpoch.Kind, _ suite: TLSCipherSuite) {
    let isTraffic = kind == .traffic
    for (direction, secret, label) in [
      (self[client], pair.client, isTraffic ? TLSKeyLog.Label.clientTraffic : .clientHandshake),
      (self[client.other], pair.server, isTraffic ? .serverTraffic : .serverHandshake),
    ] {
      if let random = clientHello?.random { secrets.noteDerived(secret, label, of: random) }
      guard let cipher = TLSKeys.cipher(secret: secret, suite) else { continue }
      direction.upcoming.append(TLSEpoch(kind: kind, cipher: cipher, secret: secret))
    }
  }

  /// The most records of a handshake of 1.3 that are passed over without their keys.
  private static let mostUnread = 64

  /// Prepares the keys of 1.2 of both sides.
  /// - Parameter side: The side that begins to use them, and waits for them if need be; nil where they must be there.
  func prepare12(for side: Side? = nil) {
    guard let clientHello, let serverHello else {
      obstacle = .noHandshake
      return
    }
    obstacle = Self.obstacle(serverHello)
    guard obstacle == nil else { return }
    let logged = secrets.secret(.master, of: clientHello.random)
    guard
      let master = logged
        ?? (hasKeyExchange ? nil : resumed(clientHello, serverHello))
        ?? exchange.master(clientHello, serverHello, secrets)
    else {
      if let side, wait(for: .changeCipherSpec(side)) { return }
      if secrets.isEmpty {
        // What is resumed has no exchange of its own.
        obstacle = .noSecrets(hasKeyExchange ? serverHello.suite?.keyExchange : nil)
        return
      }
      obstacle =
        serverHello.suite.flatMap(obstacleOfKeys)
        ?? .notAmongSecrets(hasKeyExchange ? serverHello.suite?.keyExchange : nil)
      return
    }
    guard
      let ciphers = TLSKeys.ciphers(master: master, client: clientHello, server: serverHello)
    else {
      obstacle = serverHello.suite.map(TLSObstacle.suite)
      return
    }
    self.master = master
    hasDerivedSecrets = logged == nil
    if hasDerivedSecrets { secrets.noteDerived(master, .master, of: clientHello.random) }
    secrets.keep(master, for: serverHello.sessionID)
    self[client].upcoming = [TLSEpoch(kind: .tls12, cipher: ciphers.client)]
    self[client.other].upcoming = [TLSEpoch(kind: .tls12, cipher: ciphers.server)]
  }

  /// Why the keys that are given can't tell the secrets of a suite of 1.2; nil where they could.
  private func obstacleOfKeys(_ suite: TLSCipherSuite) -> TLSObstacle? {
    switch suite.keyExchange {
    case .other where secrets.hasKeys: .ephemeral(suite)
    case .rsaPSK where (secrets.serverKey == nil) != (secrets.preSharedKey == nil):
      .halfOfKeys(suite)
    default: nil
    }
  }

  /// What stands in the way of decrypting what a server of 1.2 or before has chosen.
  private static func obstacle(_ hello: TLSHello) -> TLSObstacle? {
    guard hello.version == 0x0303 else { return .version }
    guard let suite = hello.suite else { return .notTLS }
    guard suite.protection != nil else { return .suite(suite) }
    return hello.isCompressed ? .compression : nil
  }

  /// The master secret of the session that both ends resume, by its id or by a ticket.
  private func resumed(_ client: TLSHello, _ server: TLSHello) -> [UInt8]? {
    if client.sessionID == server.sessionID, let master = secrets.master(for: client.sessionID) {
      return master
    }
    return secrets.master(for: client.extensions.ticket)
  }

  /// Takes a change of keys of 1.2.
  func changeCipherSpec(_ side: Side) {
    if self[side].upcoming.isEmpty { prepare12(for: side) }
    if obstacle == nil, waiting == nil { self[side].advance() }
  }
}
