import RepriseCore
import Wire

// The records of a connection, and what is in them.
extension TLSSession {
  /// Takes the next bytes of a side.
  func take(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) {
    let direction = self[side]
    var rest = bytes
    while obstacle == nil, !rest.isEmpty {
      if waiting != nil { return hold(rest, side, arrival, receiver) }
      if direction.isSealed, direction.current == nil {
        return pass(rest.byteCount, side, arrival)
      }
      let taken: Int
      if direction.hole != nil {
        taken = search(rest, side, arrival, receiver)
      } else if direction.damage != nil {
        taken = passDamage(rest, side, arrival, receiver)
      } else if direction.pending.isEmpty {
        taken = takeInPlace(rest, side, arrival, receiver)
      } else {
        taken = complete(rest, side, arrival, receiver)
      }
      rest = rest.extracting(droppingFirst: taken)
    }
  }

  /// Passes over what a side sends that stays encrypted while the other one is read.
  func pass(_ count: Int, _ side: Side, _ arrival: Arrival) {
    let direction = self[side]
    let unfinished = direction.pending.count
    direction.pending = []
    direction.hole = nil
    direction.damage = nil
    // Before the client says something the server is still at its handshake.
    let isEarly = clientHello?.extensions.hasEarlyData == true
    guard side == client || self[client].hasData || isEarly else { return }
    let unread = direction.unread ?? (0, arrival)
    direction.unread = (unread.count + unfinished + count, unread.arrival)
  }

  /// Tells what was passed over of a side: together what came between two things that the other one said.
  func tellUnread(_ side: Side, _ receiver: some TLSReceiver) {
    guard let unread = self[side].unread else { return }
    self[side].unread = nil
    receiver.lose(unread.count, isCounted: false, .encrypted, side, unread.arrival)
  }

  /// Takes a record where it lies, or keeps its beginning.
  private func takeInPlace(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) -> Int {
    guard bytes.byteCount >= TLSRecord.headerSize else {
      self[side].pending += Array(copying: bytes)
      return bytes.byteCount
    }
    guard let header = TLSRecord(bytes) else {
      giveUpOnRecords(of: side)
      return bytes.byteCount
    }
    guard bytes.byteCount >= header.size else {
      self[side].pending.reserveCapacity(header.size)
      self[side].pending += Array(copying: bytes)
      return bytes.byteCount
    }
    take(record: bytes.extracting(first: header.size), header, side, arrival, receiver)
    return header.size
  }

  /// Adds to a record that is begun.
  private func complete(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) -> Int {
    let direction = self[side]
    var size = TLSRecord.headerSize
    if direction.pending.count >= TLSRecord.headerSize {
      guard let header = direction.pendingHeader else {
        giveUpOnRecords(of: side)
        return bytes.byteCount
      }
      size = header.size
    }
    let count = min(size - direction.pending.count, bytes.byteCount)
    bytes.extracting(first: count).withUnsafeBytes { direction.pending.append(contentsOf: $0) }
    guard direction.pending.count == size, size > TLSRecord.headerSize else { return count }
    var record: [UInt8] = []
    swap(&record, &direction.pending)
    if let header = TLSRecord(record.span.bytes) {
      take(record: record.span.bytes, header, side, arrival, receiver)
    }
    // The next one needs as much room again.
    if direction.pending.isEmpty {
      record.removeAll(keepingCapacity: true)
      direction.pending = record
    }
    return count
  }

  /// Takes a whole record.
  func take(
    record: RawSpan, _ header: TLSRecord, _ side: Side, _ arrival: Arrival,
    _ receiver: some TLSReceiver
  ) {
    let direction = self[side]
    direction.hasRecords = true
    guard let epoch = direction.current,
      // What 1.3 does not protect says so by its type.
      epoch.kind == .tls12 || header.type == TLSRecord.applicationData
    else { return takeClear(record, header, side, arrival, receiver) }
    guard epoch.kind == .tls12 || header.length <= TLSRecord.longest13 else {
      giveUpOnRecords(of: side)
      return
    }
    var plain = buffer.take()
    defer { buffer.give(plain) }
    guard let count = epoch.cipher.open(record, sequence: direction.sequence, into: &plain)
    else { return fail(record, header, side, arrival, receiver) }
    direction.sequence &+= 1
    direction.hasOpened = true
    direction.failures = 0
    deliver(
      plain.span.bytes.extracting(first: count), header.type, epoch.kind, side, arrival, receiver)
  }

  /// Takes the content of a record that was decrypted.
  func deliver(
    _ plain: RawSpan, _ type: UInt8, _ kind: TLSEpoch.Kind, _ side: Side, _ arrival: Arrival,
    _ receiver: some TLSReceiver
  ) {
    var (content, type) = (plain, type)
    if kind != .tls12 {
      // The type stands behind the content and before the padding (RFC 8446 section 5.4).
      var end = plain.byteCount
      while end > 0, plain.uint8(at: end - 1) == 0 { end -= 1 }
      guard end > 0, let inner = plain.uint8(at: end - 1) else { return }
      type = inner
      content = plain.extracting(first: end - 1)
    }
    switch type {
    case TLSRecord.handshake: takeHandshake(content, side, arrival, receiver)
    case TLSRecord.changeCipherSpec where kind == .tls12: changeCipherSpec(side)
    case TLSRecord.alert: takeAlert(content, side, arrival, receiver)
    case TLSRecord.applicationData where kind == .early:
      takeEarly(content, arrival, receiver)
    case TLSRecord.applicationData where !content.isEmpty:
      self[side].hasData = true
      tellUnread(side.other, receiver)
      receiver.receive(content, side, arrival)
    default: break
    }
  }

  private func takeAlert(
    _ content: RawSpan, _ side: Side, _ arrival: Arrival, _ receiver: some TLSReceiver
  ) {
    // One that is encrypted, by keys whose first use was missed, is longer.
    guard content.byteCount == 2, let level = content.uint8(at: 0), (1...2).contains(level),
      let code = content.uint8(at: 1)
    else { return }
    receiver.take(TLSAlert(isFatal: level == 2, code: code), side, arrival)
  }

  private func takeEarly(_ content: RawSpan, _ arrival: Arrival, _ receiver: some TLSReceiver) {
    switch early.isAccepted {
    case true?: receiver.receive(content, client, arrival)
    case false?: break
    case nil: early.append(Array(copying: content), arrival)
    }
  }

  /// Takes a record that is not protected.
  private func takeClear(
    _ record: RawSpan, _ header: TLSRecord, _ side: Side, _ arrival: Arrival,
    _ receiver: some TLSReceiver
  ) {
    let content = record.extracting(droppingFirst: TLSRecord.headerSize)
    switch header.type {
    case TLSRecord.handshake: takeHandshake(content, side, arrival, receiver)
    case TLSRecord.alert: takeAlert(content, side, arrival, receiver)
    case TLSRecord.changeCipherSpec:
      // In 1.3 it is there for middleboxes only (RFC 8446 appendix D.4); early data may follow it.
      let is12 = serverHello.map { $0.version != 0x0304 } ?? false
      if is12 { changeCipherSpec(side) }
    case TLSRecord.applicationData where mayBeEarly(side):
      prepareEarly(record)
      guard self[client].current == nil else {
        return take(record: record, header, side, arrival, receiver)
      }
      // Bytes that come behind it are kept by whom the record came from.
      if wait(for: .early) { return hold(record, side, arrival, receiver) }
      early.lost += header.length
    case TLSRecord.applicationData: if !passKeyless(side) { giveUpOnRecords(of: side) }
    default: break
    }
  }

  /// Ends where no record is that can be: inside of one, if the beginning was not captured.
  private func giveUpOnRecords(of side: Side) {
    if side != client, isAnsweredPlainly { return obstacle = .plainAnswer }
    guard hasHello(of: .first), hasHello(of: .second) else { return obstacle = .noHandshake }
    obstacle = secrets.isEmpty ? .noSecrets(nil) : .notTLS
  }

  /// Whether nothing that the server sent is a record, though nothing of it is missing.
  private var isAnsweredPlainly: Bool {
    let server = self[client.other]
    return clientHello != nil && !server.hasRecords && !server.hasLost && server.hole == nil
      && server.damage == nil
  }

  /// Whether the server has answered by a few bytes that can't begin a record.
  var hasPlainAnswer: Bool {
    guard isAnsweredPlainly, let type = self[client.other].pending.first else { return false }
    return !(TLSRecord.changeCipherSpec...TLSRecord.applicationData + 1).contains(type)
  }

  /// Whether a protected record of the client may come before the answer of the server.
  private func mayBeEarly(_ side: Side) -> Bool {
    side == client && clientHello?.extensions.hasEarlyData == true && serverHello == nil
  }
}
