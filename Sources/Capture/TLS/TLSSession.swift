import RepriseCore
import Wire

/// What takes the plain bytes of a connection that speaks TLS.
protocol TLSReceiver {
  /// The next bytes of a side.
  func receive(_ bytes: RawSpan, _ side: Side, _ arrival: Arrival)
  /// An alert of a side.
  func take(_ alert: TLSAlert, _ side: Side, _ arrival: Arrival)
  /// Bytes of a side that are missing.
  /// - Parameters:
  ///   - count: How many; of what is encrypted, if nobody knows how much was in it.
  ///   - isCounted: Whether that is certain.
  ///   - reason: Why they are missing.
  ///   - side: Who sent them.
  ///   - arrival: What made the loss known.
  func lose(
    _ count: Int, isCounted: Bool, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival)
}

/// A buffer for the content of a record, of which there is one for all connections.
final class TLSPlainBuffer {
  private var bytes: [UInt8] = []

  /// Takes the buffer out; what is decrypted while it is out has another one.
  func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken.isEmpty ? [UInt8](repeating: 0, count: TLSRecord.mostBytes + 64) : taken
  }

  /// Gives it back.
  func give(_ taken: consuming [UInt8]) { bytes = taken }
}

/// A connection that speaks TLS 1.2 or 1.3: follows its handshakes, and decrypts its records.
///
/// Records are cut and decrypted in `TLSSession+Records.swift`, losses are bridged in `TLSSession+Losses.swift`; here
/// is what the handshake says.
final class TLSSession {
  let client: Side
  let secrets: TLSSecrets
  let buffer: TLSPlainBuffer
  private let first = TLSDirection()
  private let second = TLSDirection()
  @exclusivity(unchecked) private(set) var clientHello: TLSHello?
  @exclusivity(unchecked) private(set) var serverHello: TLSHello?
  /// The protocol that the server chose (RFC 7301).
  @exclusivity(unchecked) private(set) var chosenProtocol: String?
  /// What brought the last hello, and who sent it.
  @exclusivity(unchecked) private(set) var greeting: (side: Side, arrival: Arrival)?
  /// What waits for keys that are to be written down yet; nil where nothing does.
  @exclusivity(unchecked) var waiting: TLSWaiting?
  /// Whether keys may be waited for.
  @exclusivity(unchecked) var isPatient = true
  /// Why it can't be decrypted any further.
  @exclusivity(unchecked) var obstacle: TLSObstacle? {
    didSet { if obstacle != nil, let keyless { obstacle = keyless } }
  }
  /// Why there are no keys of 1.3 for what comes behind the hellos, until the client has used its own: up to there it may
  /// say in the clear why it wants no more (RFC 8446 section 6.2).
  @exclusivity(unchecked) private var keyless: TLSObstacle?
  /// What of the secrets of 1.3 is missing, where those of one side are there.
  private var missing: [TLSKeyLog.Label] = []
  /// Whether the client has told the key exchange of the handshake, as it does where no session is resumed.
  private var hasKeyExchange = false
  @exclusivity(unchecked) var early = TLSEarlyData()
  private var exchange = TLSKeyExchange()
  /// The master secret of 1.2 since its last handshake.
  private var master: [UInt8]?
  /// What makes the next secrets of 1.3, until the server's Finished.
  private var schedule: TLSKeySchedule?
  /// Whether the secrets in use are made of the server's key or of a pre-shared one.
  private(set) var hasDerivedSecrets = false

  /// Begins with the first byte of a connection, or in its midst.
  init(client: Side, _ secrets: TLSSecrets, _ buffer: TLSPlainBuffer) {
    self.client = client
    self.secrets = secrets
    self.buffer = buffer
  }

  subscript(side: Side) -> TLSDirection { side == .first ? first : second }

  /// The memory that everything unfinished takes, in bytes.
  var reserved: Int {
    first.reserved + second.reserved + early.reserved + (waiting?.held.reserved ?? 0)
  }

  /// Whether the hello of a side was seen.
  func hasHello(of side: Side) -> Bool {
    side == client ? clientHello != nil : serverHello != nil
  }

  /// Why nothing of it was decrypted, or not all, once it is over; nil if all of it could be.
  var finalObstacle: TLSObstacle? {
    if let obstacle { return obstacle }
    if hasPlainAnswer { return .plainAnswer }
    if !missing.isEmpty { return .partOfSecrets(missing: missing) }
    return keyless != nil || first.current == nil && second.current == nil ? .unfinished : nil
  }

  // MARK: Handshakes

  /// Takes the content of a record with handshake messages.
  func takeHandshake(
    _ content: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) {
    let direction = self[side]
    direction.messages.append(content)
    // What makes secrets of 1.3 has nothing of the client behind its hello.
    if secrets.hasKeys, side != client || schedule == nil {
      exchange.append(Array(copying: content))
    }
    while obstacle == nil, waiting == nil, let message = direction.messages.next() {
      if message.kind == .clientHello || message.kind == .serverHello {
        greeting = (side, arrival)
      }
      if side == client {
        takeClient(message, arrival, receiver)
      } else {
        takeServer(message, arrival, receiver)
      }
    }
  }

  private func takeClient(
    _ message: TLSHandshakeMessages.Message, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) {
    switch message.kind {
    case .clientHello:
      clientHello = TLSHello(message.body, isFromClient: true)
      if clientHello == nil { obstacle = .notTLS }
      exchange.begin(message.body)
      beginHandshake()
    case .clientKeyExchange:
      hasKeyExchange = true
      exchange.end(message.body, beyond: self[client].messages.countBehind)
    case .endOfEarlyData where self[client].current?.kind == .early:
      if early.isAccepted == nil { accept(true, arrival, receiver) }
      self[client].advance()
    default: take(message, of: client)
    }
  }

  private func takeServer(
    _ message: TLSHandshakeMessages.Message, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) {
    switch message.kind {
    case .serverHello: takeServerHello(message.body)
    case .encryptedExtensions:
      let extensions = TLSHello.Extensions(message.body)
      chosenProtocol = extensions.protocols.first
      if clientHello?.extensions.hasEarlyData == true {
        accept(extensions.hasEarlyData, arrival, receiver)
      }
    case .newSessionTicket where serverHello?.version == 0x0303:
      var fields = TLSFields(rest: message.body)
      if let master, fields.number(4) != nil, let ticket = fields.prefixed(2) {
        secrets.keep(master, for: Array(ticket))
      }
    default: take(message, of: client.other)
    }
  }

  /// Takes what both sides send in 1.3 to change their keys.
  private func take(_ message: TLSHandshakeMessages.Message, of side: Side) {
    let direction = self[side]
    guard let epoch = direction.current, epoch.kind != .tls12 else { return }
    switch message.kind {
    case .finished where epoch.kind == .handshake:
      if side != client { prepareTraffic() }
      // Without the server's Finished there is nothing to make keys of.
      if schedule != nil { obstacle = .lostTrack }
      direction.advance()
    case .keyUpdate where epoch.kind == .traffic: direction.use(updated(epoch))
    default: break
    }
  }

  /// The keys that follow an update; nil where there are none.
  func updated(_ epoch: TLSEpoch) -> TLSEpoch? {
    guard epoch.kind == .traffic, let suite = serverHello?.suite,
      let secret = TLSKeys.updated(epoch.secret, suite),
      let cipher = TLSKeys.cipher(secret: secret, suite)
    else { return nil }
    return TLSEpoch(kind: .traffic, cipher: cipher, secret: secret)
  }

  /// Forgets what an earlier handshake of the connection led to, but for the keys in use.
  private func beginHandshake() {
    master = nil
    schedule = nil
    keyless = nil
    missing = []
    hasKeyExchange = false
    first.isSealed = false
    second.isSealed = false
    first.upcoming = []
    second.upcoming = []
  }

  private func takeServerHello(_ body: ArraySlice<UInt8>) {
    guard let hello = TLSHello(body, isFromClient: false) else {
      obstacle = .notTLS
      return
    }
    // The client will say hello once more; what it sent early is not taken.
    guard !hello.isRetry else {
      early = TLSEarlyData()
      early.isAccepted = false
      if let suite = hello.suite { exchange.retry(suite.hash) }
      self[client].use(nil)
      return
    }
    serverHello = hello
    chosenProtocol = hello.extensions.protocols.first
    guard let clientHello else {
      obstacle = .noHandshake
      return
    }
    switch (hello.version, hello.suite) {
    case (0x0304, let suite?) where suite.protection == nil: obstacle = .suite(suite)
    case (0x0304, let suite?): begin13(clientHello, suite)
    // What goes wrong before keys are in use is told in the clear.
    default: break
    }
  }

  // MARK: Keys

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
    return secrets.hasKeys ? .ephemeral(suite) : .notAmongSecrets
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
    for direction in [first, second] where direction.current?.kind != .early { direction.advance() }
    return true
  }

  /// Prepares the keys that follow the server's Finished, where only a pre-shared key makes them.
  private func prepareTraffic() {
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
  /// - Parameter side: Who begins to use them, and waits for them if need be; nil where they must be there.
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
      obstacle = serverHello.suite.flatMap(obstacleOfKeys) ?? .notAmongSecrets
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

  // MARK: Early data

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

  private func accept(_ isAccepted: Bool, _ arrival: Arrival, _ receiver: some TLSReceiver) {
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
