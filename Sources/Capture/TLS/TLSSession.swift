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
  ///   - side: The side that sent them.
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
/// Records are cut and decrypted in `TLSSession+Records.swift`, losses are bridged in `TLSSession+Losses.swift`, keys
/// are made in `TLSSession+Keys.swift`; here is what the handshake says.
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
  @exclusivity(unchecked) var keyless: TLSObstacle?
  /// What of the secrets of 1.3 is missing, where those of one side are there.
  var missing: [TLSKeyLog.Label] = []
  /// Whether the client has told the key exchange of the handshake, as it does where no session is resumed.
  var hasKeyExchange = false
  @exclusivity(unchecked) var early = TLSEarlyData()
  var exchange = TLSKeyExchange()
  /// The master secret of 1.2 since its last handshake.
  var master: [UInt8]?
  /// What makes the next secrets of 1.3, until the server's Finished.
  var schedule: TLSKeySchedule?
  /// Whether the secrets in use are made of the server's key or of a pre-shared one.
  var hasDerivedSecrets = false

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
}
