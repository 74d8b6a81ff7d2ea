import DataClient
import Wire

/// Turns the streams of TCP connections into the events of MQTT sessions.
///
/// A connection is held until its bytes tell whether it is MQTT (``MQTTRecognizer``); then its packets
/// are cut and handed on as they lie in the capture.
struct MQTTTraffic: TCPConsumer {
  let decode: [UInt16: DecodeRule]
  let emit: (borrowing EventView) -> Void
  /// The number of connections recognised so far.
  private(set) var connections = 0

  init(decode: [UInt16: DecodeRule], emit: @escaping (borrowing EventView) -> Void) {
    self.decode = decode
    self.emit = emit
  }

  mutating func opened(_ opening: FlowOpening) -> MQTTConnection {
    let rule = decode.isEmpty ? nil : decode[opening.second.port] ?? decode[opening.first.port]
    return MQTTConnection(opening, rule: rule)
  }

  mutating func received(
    _ bytes: RawSpan, from side: Side, _ arrival: Arrival, on connection: MQTTConnection
  ) -> Bool {
    guard let held = connection.held else {
      take(bytes, side, arrival, connection)
      return true
    }
    let recognizer = MQTTRecognizer(opening: connection.opening, rule: connection.rule)
    if held.isEmpty, let verdict = recognizer.judge(firstBytes: bytes, of: side) {
      guard settle(verdict, connection, arrival) else { return false }
      take(bytes, side, arrival, connection)
      return true
    }
    let piece = HeldPiece(side: side, arrival: arrival, content: .bytes(Array(copying: bytes)))
    return hold(piece, connection)
  }

  mutating func lost(
    _ count: Int, _ reason: Gap.Reason, from side: Side, _ arrival: Arrival,
    on connection: MQTTConnection
  ) -> Bool {
    if connection.held == nil {
      lose(count, reason, side, arrival, connection)
      return true
    }
    return hold(
      HeldPiece(side: side, arrival: arrival, content: .lost(count, reason)), connection)
  }

  mutating func closed(_ closing: FlowClosing, on connection: MQTTConnection) {
    if let held = connection.held {
      let recognizer = MQTTRecognizer(opening: connection.opening, rule: connection.rule)
      let verdict = recognizer.judge(held, isFinal: true)
      guard settle(verdict, connection, closing.arrival) else { return }
      replay(held, connection)
    }
    for side in [Side.first, .second] { flush(side, closing, connection) }
    let body = ConnectionClosing(
      how: closing.how, firstFrame: closing.began.frame, firstTime: closing.began.time)
    emit(EventView(connection.context(closing.side, closing.arrival), .closed(body)))
  }

  // MARK: Recognition

  /// Keeps a piece and judges again; false when the connection is of no interest.
  private mutating func hold(_ piece: HeldPiece, _ connection: MQTTConnection) -> Bool {
    connection.held?.append(piece)
    guard let held = connection.held else { return false }
    let recognizer = MQTTRecognizer(opening: connection.opening, rule: connection.rule)
    let verdict = recognizer.judge(held, isFinal: false)
    if case .undecided = verdict { return true }
    guard settle(verdict, connection, piece.arrival) else { return false }
    replay(held, connection)
    return true
  }

  /// Acts on a verdict; true when the connection is MQTT.
  private mutating func settle(
    _ verdict: MQTTRecognizer.Verdict, _ connection: MQTTConnection, _ arrival: Arrival
  ) -> Bool {
    connection.held = nil
    guard case .mqtt(let client, let wire, let evidence) = verdict else { return false }
    connections += 1
    connection.number = connections
    connection.client = client
    connection.wire = wire
    let opening = connection.opening
    let isFirstClient = client == .first
    let body = ConnectionOpening(
      client: (isFirstClient ? opening.first : opening.second).description,
      server: (isFirstClient ? opening.second : opening.first).description,
      isFromStart: opening.isFromStart, firstFrame: opening.arrival.frame,
      firstTime: opening.arrival.time, evidence: evidence)
    emit(EventView(connection.context(client, arrival), .opened(body)))
    return true
  }

  private func replay(_ held: [HeldPiece], _ connection: MQTTConnection) {
    if !connection.opening.isFromStart {
      // The first bytes may be the end of a packet that began before the capture.
      for side in [Side.first, .second] {
        connection[side].resynchronizer = MQTTResynchronizer(offset: 0)
      }
    }
    for piece in held {
      switch piece.content {
      case .bytes(let bytes): take(bytes.span.bytes, piece.side, piece.arrival, connection)
      case .lost(let count, let reason):
        lose(count, reason, piece.side, piece.arrival, connection)
      }
    }
  }

  // MARK: Packets

  private func take(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ connection: MQTTConnection
  ) {
    connection[side].offset += bytes.byteCount
    if connection[side].resynchronizer != nil {
      connection[side].resynchronizer?.take(bytes, arrival)
      return resynchronize(side, arrival, connection, isFinal: false)
    }
    cut(bytes, side, arrival, connection)
  }

  private func cut(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ connection: MQTTConnection
  ) {
    // Read here, because the framer is being changed while it hands out packets.
    var lost = connection[side].lostInPacket
    defer { connection[side].lostInPacket = lost }
    do throws(MQTTFramingError) {
      try connection[side].framer.consume(bytes) { packet, header, _ in
        emitPacket(packet, header, side, arrival, connection, lost: lost)
        lost = 0
      }
    } catch {
      emit(
        EventView(connection.context(side, arrival), .malformed(Malformation(error))))
      // The piece is given up from the bad packet on; what follows may begin with a packet again.
      connection[side].resynchronizer = MQTTResynchronizer(offset: connection[side].offset)
    }
  }

  private func emitPacket(
    _ bytes: RawSpan, _ header: MQTTFixedHeader, _ side: Side, _ arrival: Arrival,
    _ connection: MQTTConnection, lost: Int
  ) {
    let view = MQTTPacketView(bytes, header: header, version: connection.wire.version)
    if header.type == .connect, !connection.sawConnect {
      connection.sawConnect = true
    } else if !connection.wire.isCertain, !view.faults.isEmpty,
      correctVersion(bytes, header, connection)
    {
      let corrected = MQTTPacketView(bytes, header: header, version: connection.wire.version)
      return emit(EventView(connection.context(side, arrival), .mqtt(corrected)))
    }
    if view.missing > 0, lost == 0 {
      // Bytes that were there, but more than are kept of one packet.
      let gap = Gap(bytes: view.missing, reason: .limit)
      emit(EventView(connection.context(side, arrival), .gap(gap)))
    }
    emit(EventView(connection.context(side, arrival), .mqtt(view)))
  }

  /// Changes an inferred version when a packet has faults by it and none by the other layout.
  private func correctVersion(
    _ bytes: RawSpan, _ header: MQTTFixedHeader, _ connection: MQTTConnection
  ) -> Bool {
    let other: MQTTVersion = connection.wire.version == .v5_0 ? .v3_1_1 : .v5_0
    guard MQTTPacketView(bytes, header: header, version: other).faults.isEmpty else { return false }
    connection.wire = .mqttInferred(other)
    return true
  }

  // MARK: Losses

  private func lose(
    _ count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ connection: MQTTConnection
  ) {
    connection[side].offset += count
    let offset = connection[side].offset
    if connection[side].resynchronizer != nil {
      resynchronize(side, arrival, connection, isFinal: true)
    }
    // A packet that a snaplen cut says itself how much is missing.
    let isInside = connection[side].resynchronizer == nil && !connection[side].framer.isAtBoundary
    if reason != .snaplen || !isInside {
      emitGap(count, reason, side, arrival, connection)
    }
    let loss = connection[side].framer.lose(count) { packet, header, _ in
      emitPacket(packet, header, side, arrival, connection, lost: count)
    }
    if case .outOfStep = loss {
      connection[side].framer.restart(at: offset)
      connection[side].resynchronizer = MQTTResynchronizer(offset: offset)
    }
    let isPacketOpen = loss == .insidePacket && !connection[side].framer.isAtBoundary
    connection[side].lostInPacket = isPacketOpen ? count : 0
  }

  private func emitGap(
    _ count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ connection: MQTTConnection
  ) {
    let gap = Gap(bytes: count, reason: reason)
    emit(EventView(connection.context(side, arrival), .gap(gap)))
  }

  private func resynchronize(
    _ side: Side, _ arrival: Arrival, _ connection: MQTTConnection, isFinal: Bool
  ) {
    let layouts = connection.layouts
    guard var resynchronizer = connection[side].resynchronizer,
      let found = resynchronizer.find(layouts: layouts, isFinal: isFinal)
    else { return }
    if found.skipped > 0 {
      let malformation = Malformation(
        code: MQTTFramingError.Code.notMQTT.rawValue, offset: resynchronizer.offset - found.skipped,
        message: "\(found.skipped) bytes could not be cut into packets")
      emit(EventView(connection.context(side, arrival), .malformed(malformation)))
    }
    guard !found.pieces.isEmpty else {
      connection[side].resynchronizer = MQTTResynchronizer(offset: resynchronizer.offset)
      return
    }
    connection[side].resynchronizer = nil
    connection[side].framer.restart(at: resynchronizer.offset)
    for piece in found.pieces {
      cut(piece.bytes.span.bytes, side, piece.arrival, connection)
    }
  }

  /// Tells what is left of a direction when its connection ends.
  private func flush(_ side: Side, _ closing: FlowClosing, _ connection: MQTTConnection) {
    if connection[side].resynchronizer != nil {
      resynchronize(side, closing.arrival, connection, isFinal: true)
    }
    let framer = connection[side].framer
    guard connection[side].resynchronizer == nil, !framer.isAtBoundary else { return }
    let context = connection.context(side, closing.arrival)
    // Of a fixed header that is not whole, at least one byte is missing.
    var missing = 1
    var place = "a fixed header"
    let known = connection[side].offset - framer.packetOffset
    connection[side].framer.flush { _, header, _ in
      missing = header.packetSize - known
      place = "a \(header.type.name) of \(header.packetSize) bytes, after \(known) of them"
    }
    if closing.how == .endOfCapture {
      return emit(EventView(context, .gap(Gap(bytes: missing, reason: .unfilled))))
    }
    let malformation = Malformation(
      code: "incomplete-packet", offset: framer.packetOffset,
      message: "the stream ends inside \(place)")
    emit(EventView(context, .malformed(malformation)))
  }
}
