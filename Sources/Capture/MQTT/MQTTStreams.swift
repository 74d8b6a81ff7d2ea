import RepriseCore
import Wire

/// Cuts the two directions of a connection, or of the messages in its frames, into control packets
/// and hands them on as they lie in the capture.
struct MQTTStreams {
  let emitter: SessionEmitter

  /// Begins in the middle: the first bytes may be the end of a packet that nobody saw.
  func resynchronize(_ connection: SessionConnection) {
    for side in [Side.first, .second] {
      connection[side].resynchronizer = StreamResynchronizer(offset: 0)
      connection[side].isBehindLoss = true
    }
    // In the middle a side may say too little for long, and the other would have to wait for it.
    connection.isOrderGivenUp = true
  }

  // MARK: Packets

  /// Takes the next bytes of a side.
  @inline(__always)
  func take(
    _ bytes: RawSpan, _ direction: Direction
  ) {
    if direction.mqtt.isHeldBack {
      return holdBack(.bytes(bytes.withUnsafeBytes { Array($0) }), direction)
    }
    if direction.mqtt.beginning != .mqtt, isForeign(bytes, direction) { return }
    direction.mqtt.offset += bytes.byteCount
    if direction.mqtt.resynchronizer != nil {
      direction.mqtt.mayKeep = true
      direction.mqtt.resynchronizer?.take(bytes, direction.arrival)
      return resynchronize(direction, isFinal: false)
    }
    if direction.mqtt.unproven > 0, leavesStep(bytes, direction) { return }
    cut(bytes, endingAt: direction.mqtt.offset, direction)
  }

  /// Takes the first bytes of a side for what they are, and all of another protocol for bytes that can't be read.
  /// - Returns: Whether they are of one.
  @inline(never)
  private func isForeign(_ bytes: RawSpan, _ direction: Direction) -> Bool {
    if direction.mqtt.beginning == .awaited {
      direction.mqtt.beginning = direction.mqtt.offset == 0 ? MQTTBeginning(bytes) : .mqtt
    }
    guard direction.mqtt.beginning == .foreign else { return false }
    direction.mqtt.offset += bytes.byteCount
    direction.mqtt.framer.restart(at: direction.mqtt.offset)
    emitGap(bytes.byteCount, .foreign, direction)
    return true
  }

  /// How many sound packets show that a place behind a loss was the start of one.
  static let proof = 4

  /// Looks for the start of a packet anew, where a piece begins as none can soon behind a loss: then what was taken for
  /// the first packet behind it lay inside of one.
  /// - Returns: Whether it does.
  private func leavesStep(_ bytes: RawSpan, _ direction: Direction) -> Bool {
    guard direction.mqtt.framer.isAtBoundary,
      let first = bytes.withUnsafeBytes({ $0.first }), !MQTTChain.mayBegin(first)
    else { return false }
    let start = direction.mqtt.offset - bytes.byteCount
    direction.mqtt.unproven = 0
    direction.mqtt.mayKeep = true
    direction.mqtt.resynchronizer = StreamResynchronizer(offset: start)
    direction.mqtt.resynchronizer?.take(bytes, direction.arrival)
    resynchronize(direction, isFinal: false)
    return true
  }

  /// Cuts a piece into packets; `end` is where it ends in the stream.
  private func cut(
    _ bytes: RawSpan, endingAt end: Int, _ direction: Direction
  ) {
    // Read here, because the framer is being changed while it hands out packets.
    var lost = direction.mqtt.lostInPacket
    defer { direction.mqtt.lostInPacket = lost }
    do throws(MQTTFramingError) {
      try direction.mqtt.framer.consume(bytes) { packet, header, offset in
        emitPacket(packet, header, at: offset, direction, lost: lost)
        lost = 0
      }
      direction.mqtt.noteKept()
    } catch {
      direction.mqtt.mayKeep = true
      emitter.emit(
        EventView(direction.context, .malformed(Malformation(error))))
      // The piece is given up from the bad packet on; what follows may begin with a packet again.
      direction.mqtt.resynchronizer = StreamResynchronizer(offset: end)
      direction.mqtt.isBehindLoss = false
    }
  }

  private func emitPacket(
    _ bytes: RawSpan, _ header: MQTTFixedHeader, at offset: Int, _ direction: Direction, lost: Int
  ) {
    let missing = header.packetSize - bytes.byteCount
    if direction.mqtt.unproven > 0 { direction.mqtt.unproven -= 1 }
    if header.type == .connect {
      take(
        connect: MQTTPacketView(bytes, header: header, version: direction.connection.version),
        direction.connection)
    } else if !direction.connection.wire.isCertain, missing == 0 {
      correctVersion(bytes, header, direction.connection)
    }
    emitter.secrets?.take(packet: bytes, header, at: offset, direction)
    if missing > 0, lost == 0 {
      // Bytes that were there, but more than are kept of one packet.
      emitGap(missing, .limit, direction)
    }
    emitter.emit(direction.context, packet: bytes, header)
  }

  /// Takes the version that the first CONNECT names, if none is certain: packets came before it.
  private func take(connect view: borrowing MQTTPacketView, _ connection: SessionConnection) {
    guard !connection.sawConnect else { return }
    connection.sawConnect = true
    let isForeign = view.faults.contains {
      $0.code == .unknownProtocolName || $0.code == .unknownProtocolLevel
    }
    guard !connection.wire.isCertain, !isForeign, let level = view.connect?.protocolLevel,
      let version = MQTTVersion(rawValue: level)
    else { return }
    connection.wire = .mqtt(version)
  }

  /// Weighs what a packet says of a version that is not certain, which may change the layout.
  private func correctVersion(
    _ bytes: RawSpan, _ header: MQTTFixedHeader, _ connection: SessionConnection
  ) {
    let isOf5 = connection.version == .v5_0
    let view = MQTTPacketView(bytes, header: header, version: connection.version)
    let other = MQTTPacketView(bytes, header: header, version: isOf5 ? .v3_1_1 : .v5_0)
    var layouts: MQTTLayouts = []
    if view.faults.isEmpty { layouts.insert(isOf5 ? .v5 : .v3) }
    if other.faults.isEmpty { layouts.insert(isOf5 ? .v3 : .v5) }
    connection.weigh(
      isOf5 ? MQTTEvidence(view, fitting: layouts) : MQTTEvidence(other, fitting: layouts))
  }

  // MARK: Losses

  /// Takes the loss of bytes of a side.
  func lose(
    _ count: Int, _ reason: Gap.Reason, _ direction: Direction
  ) {
    if waitsForStep(.lost(count, reason), direction) { return }
    direction.mqtt.offset += count
    let offset = direction.mqtt.offset
    // What is missing from a frame, the frame says itself.
    let isCarried = direction.connection.stage == .webSocket
    if reason != .snaplen, !isCarried { emitGap(count, reason, direction) }
    let loss = direction.mqtt.framer.lose(count) { packet, header, offset in
      emitPacket(packet, header, at: offset, direction, lost: count)
    }
    if case .outOfStep(let past) = loss {
      // A packet that a snaplen cut says itself how much of it is missing, but not what follows it.
      if reason == .snaplen, !isCarried { emitGap(past, reason, direction) }
      direction.mqtt.framer.restart(at: offset)
      direction.mqtt.resynchronizer = StreamResynchronizer(offset: offset)
      direction.mqtt.isBehindLoss = true
    }
    let isPacketOpen = loss == .insideUnit && !direction.mqtt.framer.isAtBoundary
    direction.mqtt.lostInPacket = isPacketOpen ? count : 0
  }

  /// Takes the loss of bytes of a side of which nobody knows how many there were.
  func interrupt(_ direction: Direction) {
    if waitsForStep(.interrupted, direction) { return }
    // No packet is so long that anything of it could follow.
    _ = direction.mqtt.framer.lose(1 << 32) { packet, header, offset in
      emitPacket(packet, header, at: offset, direction, lost: 1)
    }
    let offset = direction.mqtt.offset
    direction.mqtt.framer.restart(at: offset)
    direction.mqtt.resynchronizer = StreamResynchronizer(offset: offset)
    direction.mqtt.isBehindLoss = true
    direction.mqtt.lostInPacket = 0
  }

  /// Gives up what is unfinished of a side, and tells how much is missing for it.
  /// - Returns: Whether anything is.
  func giveUp(_ direction: Direction) -> Bool {
    endSearch(on: direction.connection, direction.arrival)
    let count = direction.mqtt.framer.giveUp()
    guard count > 0 else { return false }
    emitGap(count, .limit, direction)
    direction.mqtt.lostInPacket = count
    return true
  }

  private func emitGap(
    _ count: Int, _ reason: Gap.Reason, _ direction: Direction
  ) {
    let gap = Gap(bytes: count, reason: reason)
    emitter.emit(EventView(direction.context, .gap(gap)))
  }

  /// Tells what is left of a direction when its connection ends.
  func flush(_ direction: Direction, _ how: ConnectionClosing.How) {
    endSearch(on: direction.connection, direction.arrival)
    let framer = direction.mqtt.framer
    guard direction.mqtt.resynchronizer == nil, !framer.isAtBoundary else { return }
    let context = direction.context
    // Of a fixed header that is not whole, at least one byte is missing.
    var missing = 1
    var place = "a fixed header"
    let known = direction.mqtt.offset - framer.unitOffset
    direction.mqtt.framer.flush { _, header, _ in
      missing = header.packetSize - known
      place = "a \(header.type.name) of \(header.packetSize) bytes, after \(known) of them"
    }
    if how == .endOfCapture {
      return emitter.emit(EventView(context, .gap(Gap(bytes: missing, reason: .unfilled))))
    }
    let malformation = Malformation(
      code: "incomplete-packet", offset: framer.unitOffset,
      message: "the stream ends inside \(place)")
    emitter.emit(EventView(context, .malformed(malformation)))
  }
}
