import RepriseCore
import Wire

// What is missing of a connection, and what can't be decrypted.
//
// Where a record is known, the next one begins where it ends. Else a record is looked for that is authentic, by the
// number that it may have; only that proves anything, because what is encrypted may look like a header by chance.
extension TLSSession {
  /// Takes the loss of bytes of a side.
  func lose(
    _ count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ receiver: some TLSReceiver
  ) {
    guard obstacle == nil else { return }
    guard waiting == nil else {
      waiting?.held.lose(count, reason, from: side, arrival)
      return
    }
    let direction = self[side]
    direction.hasLost = true
    if direction.isSealed, direction.current == nil {
      return pass(count, side, arrival)
    }
    var beyond = count
    if let damage = direction.damage {
      beyond = count - damage.toCome
      direction.damage?.toCome = max(0, -beyond)
    } else if direction.hole == nil, let header = direction.pendingHeader {
      beyond = count - (header.size - direction.pending.count)
      direction.pending = []
      direction.damage = TLSDirection.Damage(
        type: header.type, length: header.length, toCome: max(0, -beyond), reason: reason)
    }
    if direction.damage?.toCome == 0 { endDamage(side, arrival, receiver) }
    guard beyond > 0 || direction.hole != nil, obstacle == nil else { return }
    open(hole: beyond, reason, side, arrival, receiver)
  }

  private func open(
    hole count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ receiver: some TLSReceiver
  ) {
    let direction = self[side]
    guard hasHello(of: side) else {
      obstacle = .noHandshake
      return
    }
    let isTold = direction.current?.mayHoldData == true
    if isTold {
      receiver.lose(count, isCounted: false, reason, side, arrival)
    }
    let unfinished = direction.pending.count
    direction.pending = []
    guard var hole = direction.hole else {
      direction.hole = TLSDirection.Hole(lost: count + unfinished, reason: reason, isTold: isTold)
      return
    }
    hole.lost += count
    hole.skipped += unfinished
    hole.searched = 0
    direction.hole = hole
  }

  /// Gives up what is unfinished of both sides; false if nothing is.
  func giveUp(_ arrival: Arrival, _ receiver: some TLSReceiver) -> Bool {
    if waiting != nil {
      waiting = nil
      obstacle = .notAmongSecrets(nil)
      return true
    }
    var hasLost = false
    for side in [Side.first, .second] where !self[side].pending.isEmpty && self[side].hole == nil {
      let count = self[side].pending.count
      if self[side].pendingHeader == nil {
        self[side].pending = []
        open(hole: count, .limit, side, arrival, receiver)
      } else {
        lose(0, .limit, side, arrival, receiver)
      }
      hasLost = true
    }
    return hasLost
  }

  /// Tells what is missing of records that never came to their end.
  func finish(_ arrival: Arrival, _ receiver: some TLSReceiver) {
    ask(isLast: true, receiver)
    for side in [Side.first, .second] { tellUnread(side, receiver) }
    for side in [Side.first, .second] where obstacle == nil && self[side].damage != nil {
      endDamage(side, arrival, receiver)
    }
  }

  // MARK: Records with holes

  /// Takes what comes of a record of which bytes are missing.
  func passDamage(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) -> Int {
    guard let damage = self[side].damage else { return 0 }
    let count = min(damage.toCome, bytes.byteCount)
    self[side].damage?.toCome = damage.toCome - count
    if damage.toCome == count { endDamage(side, arrival, receiver) }
    return count
  }

  private func endDamage(_ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver) {
    let direction = self[side]
    guard let damage = direction.damage else { return }
    direction.damage = nil
    guard let epoch = direction.current else {
      return loseClear(damage, side)
    }
    direction.sequence &+= 1
    loseContent(
      of: damage.type, damage.length, epoch, damage.reason, side, arrival, receiver)
  }

  /// Takes the loss of a record that is not protected.
  private func loseClear(_ damage: TLSDirection.Damage, _ side: Side) {
    switch damage.type {
    case TLSRecord.changeCipherSpec where serverHello?.version == 0x0303: changeCipherSpec(side)
    case TLSRecord.handshake where !hasHello(of: side): obstacle = .noHandshake
    case TLSRecord.applicationData where side == client: early.lost += damage.length
    default: self[side].messages.lose()
    }
  }

  /// Takes the loss of what was in a protected record.
  private func loseContent(
    of type: UInt8, _ length: Int, _ epoch: TLSEpoch, _ reason: Gap.Reason, _ side: Side,
    _ arrival: Arrival, _ receiver: some TLSReceiver
  ) {
    switch epoch.kind {
    case .tls12 where type == TLSRecord.applicationData:
      let count = max(1, length - (epoch.cipher.overhead ?? 0))
      let isCounted = epoch.cipher.overhead != nil
      receiver.lose(count, isCounted: isCounted, reason, side, arrival)
    // What a record of 1.3 holds, and how much padding, only its content says.
    case .traffic:
      let count = max(1, length - (epoch.cipher.overhead ?? 0) - 1)
      receiver.lose(count, isCounted: false, reason, side, arrival)
    case .early: early.lost += length
    case .tls12, .handshake: self[side].messages.lose()
    }
  }

  // MARK: Records that are not authentic

  /// Takes a record that could not be decrypted.
  func fail(
    _ record: RawSpan, _ header: TLSRecord, _ side: Side, _ arrival: Arrival,
    _ receiver: some TLSReceiver
  ) {
    let direction = self[side]
    guard let epoch = direction.current else { return }
    // A client that sends early data goes on with it until it hears that the server does not take it.
    if side == client, epoch.kind == .handshake, clientHello?.extensions.hasEarlyData == true,
      !direction.hasOpened, early.lost <= 1 << 20
    {
      early.lost += header.length
      return loseEarly(arrival, receiver)
    }
    guard direction.mayFail == 0 else {
      direction.mayFail -= 1
      return
    }
    guard direction.hasOpened || direction.hasLost else {
      obstacle = direction.hasData ? .lostTrack : hasDerivedSecrets ? .wrongKey : .wrongSecrets
      return
    }
    if resume(record, header, atMost: Self.mostMissed, side, arrival, receiver) { return }
    direction.sequence &+= 1
    direction.failures += 1
    loseContent(of: header.type, header.length, epoch, .encrypted, side, arrival, receiver)
    if direction.failures > Self.mostFailures { obstacle = .lostTrack }
  }

  private static let mostMissed: UInt64 = 16
  private static let mostFailures = 16

  /// Keys by which a record may be authentic, and the numbers that it may have.
  private struct Way {
    let epoch: TLSEpoch
    var first: UInt64 = 0
    let last: UInt64
    /// How many of the keys that are known to come are in use then.
    var changes = 0
    var isOfNewKeys = true
  }

  /// The ways in which a record may be authentic behind so many that are missing.
  private func ways(_ direction: TLSDirection, atMost missed: UInt64) -> [Way] {
    let few = min(missed, Self.mostMissed)
    let current = direction.current.map {
      let last = direction.sequence &+ missed
      return Way(epoch: $0, first: direction.sequence, last: last, isOfNewKeys: false)
    }
    let upcoming = direction.upcoming.enumerated().map {
      Way(epoch: $0.element, last: few, changes: $0.offset + 1)
    }
    let updated = direction.current.flatMap(updated).map { Way(epoch: $0, last: few) }
    return [current].compactMap(\.self) + upcoming + [updated].compactMap(\.self)
  }

  /// Decrypts a record whose number or keys are not those that were expected, and goes on behind it.
  private func resume(
    _ record: RawSpan, _ header: TLSRecord, atMost missed: UInt64, _ side: Side,
    _ arrival: Arrival, _ receiver: some TLSReceiver
  ) -> Bool {
    let direction = self[side]
    var plain = buffer.take()
    defer { buffer.give(plain) }
    for way in ways(direction, atMost: missed)
    where header.type == TLSRecord.applicationData || way.epoch.kind == .tls12 {
      for sequence in way.first...max(way.first, way.last) {
        direction.hole?.patience -= header.size
        guard let count = way.epoch.cipher.open(record, sequence: sequence, into: &plain) else {
          continue
        }
        direction.upcoming.removeFirst(way.changes)
        direction.use(way.epoch, sequence: sequence &+ 1)
        direction.hasOpened = true
        // Records that are missing although nothing said so may have held anything.
        let isUntold = direction.hole == nil && (sequence != way.first || way.isOfNewKeys)
        if isUntold, way.epoch.mayHoldData {
          receiver.lose(1, isCounted: false, .encrypted, side, arrival)
        }
        endHole(side, arrival, receiver)
        deliver(
          plain.span.bytes.extracting(first: count), header.type, way.epoch.kind, side, arrival,
          receiver)
        return true
      }
    }
    return false
  }

  /// Tells what was passed over to find a record.
  private func endHole(_ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver) {
    let direction = self[side]
    guard let hole = direction.hole else { return }
    direction.hole = nil
    // What of it was data, nobody knows where it lies in a handshake.
    let skipped = hole.skipped + (direction.sequence > 1 && !hole.isTold ? hole.lost : 0)
    guard direction.current?.mayHoldData == true, skipped > 0 else { return }
    receiver.lose(skipped, isCounted: false, hole.reason, side, arrival)
  }

  // MARK: Holes

  /// Looks for the next record behind a hole.
  /// - Returns: How many of the bytes were taken.
  func search(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) -> Int {
    let direction = self[side]
    direction.pending += Array(copying: bytes)
    while obstacle == nil, let hole = direction.hole {
      let pending = direction.pending
      let start = Self.candidate(pending, from: hole.searched)
      guard let header = TLSRecord(pending.span.bytes, at: start),
        pending.count - start >= header.size
      else {
        // What precedes the place is of no use; what follows it may be a record that is not whole yet.
        direction.pending.removeFirst(start)
        direction.hole?.searched = 0
        direction.hole?.skipped += start
        return bytes.byteCount
      }
      let record = pending.span.bytes.extracting(start..<(start + header.size))
      direction.hole?.skipped += start
      direction.pending = []
      guard isNext(record, header, side, arrival, receiver) else {
        direction.pending = pending
        direction.hole?.skipped -= start
        direction.hole?.searched = start + 1
        if hole.patience < 0 { obstacle = .lostTrack }
        continue
      }
      let rest = pending.span.bytes.extracting(droppingFirst: start + header.size)
      take(rest, side, arrival, receiver)
    }
    return bytes.byteCount
  }

  /// The next place where a header may start.
  private static func candidate(_ bytes: [UInt8], from start: Int) -> Int {
    var place = start
    while place < bytes.count {
      let rest = bytes.count - place
      if rest >= TLSRecord.headerSize {
        if TLSRecord(bytes.span.bytes, at: place) != nil { return place }
      } else if (20...23).contains(bytes[place]), rest < 2 || bytes[place + 1] == 3 {
        return place
      }
      place += 1
    }
    return place
  }

  /// Whether a record goes on behind the hole; then it is taken.
  private func isNext(
    _ record: RawSpan, _ header: TLSRecord, _ side: Side, _ arrival: Arrival,
    _ receiver: some TLSReceiver
  ) -> Bool {
    let direction = self[side]
    let isClear12 = direction.current == nil && serverHello?.version == 0x0303
    if isClear12, direction.upcoming.isEmpty { prepare12() }
    guard obstacle == nil else { return false }
    let isChange =
      isClear12 && header.type == TLSRecord.changeCipherSpec && header.length == 1
      && record.uint8(at: TLSRecord.headerSize) == 1
    if isChange {
      direction.hole = nil
      changeCipherSpec(side)
      return true
    }
    let lost = direction.hole?.lost ?? 0
    // No record is smaller than its header, what its cipher adds, and one byte.
    let most = UInt64(lost / (TLSRecord.headerSize + 9) + 1)
    return resume(record, header, atMost: min(most, 512), side, arrival, receiver)
  }
}
