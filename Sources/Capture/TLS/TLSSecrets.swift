import RepriseCore

/// The secrets that are at hand to decrypt the connections of a capture: those that the user names, and those that
/// the capture carries.
///
/// Nothing is read before a connection asks for it.
final class TLSSecrets {
  /// So many sessions are kept to be resumed; they need secrets only where a key log has none for the resumed one.
  private static let mostSessions = 4_096

  /// The private key of the servers, for suites in which clients encrypt by it.
  let serverKey: TLSServerKey?
  /// The key that both ends have, for suites in which nothing else makes the secret.
  let preSharedKey: [UInt8]?
  /// The key logs that the user names, each with what was read of it.
  private var logs: [NamedLog]
  private var embeddedLog = TLSKeyLog()
  private let embedded: EmbeddedSecrets
  /// Secrets that the other keys gave, as a key log would have them, by the randoms of the clients; kept only where
  /// it is known what is written.
  private(set) var derived: [[UInt8]: [TLSKeyLog.Label: [UInt8]]] = [:]
  /// How many of the embedded blocks are in the log.
  private var blocksRead = 0
  /// Reads the secrets of the whole capture, be they behind its frames; nil once that is done, and for a pipe.
  private var lookAhead: (() -> [SecretsBlock])?
  private var hasReadAhead = false
  /// Whether the capture can't be read twice, and what was asked for in vain then, by the randoms of the clients.
  private let isStream: Bool
  private var missed: [[UInt8]: Set<TLSKeyLog.Label>] = [:]
  private var sessions: [[UInt8]: [UInt8]] = [:]
  /// Tells whether what comes at a moment is written; nil where nothing is.
  var isWritten: ((Timestamp) -> Bool)?
  /// The connections of which something is written, by the randoms of their clients, which is what key logs name them by.
  private(set) var uses: [[UInt8]: FlowOpening] = [:]

  /// A key log that may grow while it is read, and what it holds so far.
  private struct NamedLog {
    let file: TLSKeyLogFile
    var secrets = TLSKeyLog()
    /// How many bytes were read of it.
    var size = 0

    /// Reads what the file has grown by.
    mutating func read() {
      let more = file.read()
      guard !more.isEmpty else { return }
      size += more.count
      secrets.read(more, from: file.path)
      secrets.tryLastLine()
    }

    /// What is wrong with it, where no more comes.
    mutating func finish() -> [String] {
      read()
      if let obstacle = file.obstacle { return [obstacle] }
      secrets.finish(file.path)
      if secrets.count == 0, secrets.wrongLines == 0 {
        let what = size == 0 ? "it is empty" : "none of its lines is one of a key log"
        return ["\(file.path) holds no secret: \(what)"]
      }
      return secrets.notes
    }
  }

  /// Prepares to look for secrets.
  /// - Parameters:
  ///   - keyLogs: The key logs that the user names.
  ///   - serverKey: The private key of the servers.
  ///   - preSharedKey: The key that both ends have.
  ///   - embedded: What the reader of the capture finds.
  ///   - lookAhead: What reads the secrets of the whole capture; nil where it can't be read twice.
  ///   - isLive: Whether it is captured right now, so that the key log may lag behind it.
  init(
    keyLogs: [TLSKeyLogFile] = [], serverKey: TLSServerKey? = nil, preSharedKey: [UInt8]? = nil,
    embedded: EmbeddedSecrets = EmbeddedSecrets(),
    lookAhead: (() -> [SecretsBlock])? = nil, isLive: Bool = false
  ) {
    mayGrow = isLive && !keyLogs.isEmpty
    logs = keyLogs.map { NamedLog(file: $0) }
    self.serverKey = serverKey
    self.preSharedKey = preSharedKey
    self.embedded = embedded
    self.lookAhead = lookAhead
    isStream = lookAhead == nil
  }

  /// Whether the key logs may have more secrets later, of what is captured right now.
  let mayGrow: Bool
  /// How many bytes were read of the key logs.
  var bytesRead: Int { logs.reduce(0) { $0 + $1.size } }

  /// Whether there are no secrets at all.
  var isEmpty: Bool {
    guard logs.isEmpty, !hasKeys, embeddedLog.count == 0 else { return false }
    readEmbedded()
    readAhead()
    return embeddedLog.count == 0
  }

  /// Whether there is a key of a server, or a pre-shared one.
  var hasKeys: Bool { serverKey != nil || preSharedKey != nil }

  /// What is wrong with the secrets, in sentences without any of them.
  func finish() -> [String] {
    logs.indices.flatMap { logs[$0].finish() } + lateNotes + embeddedLog.notes
  }

  /// Tells of connections whose secrets came behind them, where nothing can be read twice.
  private var lateNotes: [String] {
    guard isStream, !missed.isEmpty else { return [] }
    readEmbedded()
    let late = missed.count { random, labels in
      labels.contains { embeddedLog.secret($0, of: random) != nil }
    }
    guard late > 0 else { return [] }
    let what = late == 1 ? "1 connection stand behind it" : "\(late) connections stand behind them"
    return [
      "the secrets of \(what) in a stream, which is read once: save it to a file, and name that"
    ]
  }

  /// Returns the secret of a connection; nil if there is none.
  func secret(_ label: TLSKeyLog.Label, of clientRandom: [UInt8]) -> [UInt8]? {
    var known: [UInt8]? {
      for log in logs {
        if let secret = log.secrets.secret(label, of: clientRandom) { return secret }
      }
      return embeddedLog.secret(label, of: clientRandom)
    }
    if known == nil {
      readEmbedded()
      readFiles()
    }
    if known == nil { readAhead() }
    if let known { return known }
    if isStream, missed.count < Self.mostSessions {
      missed[clientRandom, default: []].insert(label)
    }
    return nil
  }

  /// Takes note that a connection went on whose client said hello with a random.
  func note(_ random: [UInt8], of opening: FlowOpening, at time: Timestamp) {
    if isWritten?(time) == true { uses[random] = opening }
  }

  /// Takes note of a secret that was made of the server's key, a pre-shared one or an earlier session's.
  func noteDerived(_ secret: [UInt8], _ label: TLSKeyLog.Label, of clientRandom: [UInt8]) {
    if isWritten != nil { derived[clientRandom, default: [:]][label] = secret }
  }

  // MARK: Resumption

  /// Keeps the master secret of a session of 1.2 by what resumes it, a session's id or a ticket.
  func keep(_ master: [UInt8], for identity: [UInt8]) {
    guard !identity.isEmpty, sessions.count < Self.mostSessions else { return }
    sessions[identity] = master
  }

  /// Returns the master secret of a session of 1.2 that was seen before.
  func master(for identity: [UInt8]) -> [UInt8]? {
    identity.isEmpty ? nil : sessions[identity]
  }

  // MARK: Reading

  private func readEmbedded() {
    guard !hasReadAhead else { return }
    for block in embedded.blocks.dropFirst(blocksRead) { read(block) }
    blocksRead = embedded.blocks.count
  }

  private func readAhead() {
    guard let all = lookAhead else { return }
    lookAhead = nil
    hasReadAhead = true
    for block in all().dropFirst(blocksRead) { read(block) }
  }

  private func read(_ block: SecretsBlock) {
    guard block.type == SecretsBlock.tlsKeyLog else { return }
    let place = "the secrets behind frame \(block.frame)"
    embeddedLog.beginFile()
    embeddedLog.read(block.bytes, from: place)
    embeddedLog.finish(place)
  }

  /// Reads what the key logs have grown by.
  func readFiles() {
    for index in logs.indices { logs[index].read() }
  }
}
