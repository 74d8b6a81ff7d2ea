import RepriseCore

/// What protects the records of one direction from one change of keys to the next.
struct TLSEpoch {
  enum Kind {
    /// That of 1.2, whose records say their type in the clear.
    case tls12
    /// Those of 1.3 (RFC 8446 section 2).
    case early, handshake, traffic
  }

  let kind: Kind
  let cipher: any TLSRecordCipher
  /// The secret of 1.3, of which the next one is made.
  var secret: [UInt8] = []

  /// Whether its records may hold data of the application.
  var mayHoldData: Bool { kind == .tls12 || kind == .traffic }
}

/// One direction of a connection that speaks TLS.
///
/// Only the traffic of one session reaches it, piece after piece; access is not checked to be exclusive.
final class TLSDirection {
  /// A record of which bytes are missing, while the rest of it comes.
  struct Damage {
    let type: UInt8
    /// The length of its fragment.
    let length: Int
    /// How many of its bytes are still to come.
    var toCome: Int
    let reason: Gap.Reason
  }

  /// A place from which on it is not known where records start.
  struct Hole {
    /// How many bytes are missing.
    var lost: Int
    let reason: Gap.Reason
    /// Whether the loss was told, because the bytes were data for sure.
    var isTold: Bool
    /// How many bytes were searched in vain.
    var skipped = 0
    /// How much of what is pending was searched in vain.
    var searched = 0
    /// How many more bytes may be tried as records.
    var patience = 64 << 20
  }

  /// The beginning of a record that is not whole yet, or what is searched for one.
  @exclusivity(unchecked) var pending: [UInt8] = []
  /// What protects the records now; nil while they come in the clear.
  @exclusivity(unchecked) var current: TLSEpoch?
  /// What will protect them after the next changes of keys.
  @exclusivity(unchecked) var upcoming: [TLSEpoch] = []
  /// The number of the next record since the last change of keys.
  @exclusivity(unchecked) var sequence: UInt64 = 0
  @exclusivity(unchecked) var messages = TLSHandshakeMessages()
  @exclusivity(unchecked) var damage: Damage?
  @exclusivity(unchecked) var hole: Hole?
  /// Whether a record was decrypted since the last change of keys.
  @exclusivity(unchecked) var hasOpened = false
  /// Whether bytes were missing since then.
  @exclusivity(unchecked) var hasLost = false
  /// Whether there was a whole record.
  @exclusivity(unchecked) var hasRecords = false
  /// Whether data of the application was decrypted.
  @exclusivity(unchecked) var hasData = false
  /// How many more records may fail because their keys are not known.
  @exclusivity(unchecked) var mayFail = 0
  /// Whether its data stays encrypted: that of the other one can be read all the same.
  @exclusivity(unchecked) var isSealed = false
  /// What came of it since the other one said something.
  @exclusivity(unchecked) var unread: (count: Int, arrival: Arrival)?
  /// How many records in a row could not be decrypted.
  @exclusivity(unchecked) var failures = 0

  /// The header of the record that is begun; nil while it is not whole, or makes no sense.
  var pendingHeader: TLSRecord? {
    let bytes = pending
    return TLSRecord(bytes.span.bytes)
  }

  /// The memory that everything unfinished takes, in bytes.
  var reserved: Int { pending.count + messages.reserved }

  /// Takes the next keys into use.
  func advance() {
    use(upcoming.isEmpty ? nil : upcoming.removeFirst())
  }

  /// Takes keys into use.
  func use(_ epoch: TLSEpoch?, sequence: UInt64 = 0) {
    current = epoch
    self.sequence = sequence
    messages = TLSHandshakeMessages()
    hasOpened = false
    hasLost = false
    failures = 0
  }
}
