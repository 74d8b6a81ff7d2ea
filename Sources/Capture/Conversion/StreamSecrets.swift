import RepriseCore
import Wire

/// Notes where secrets stand in the streams of TCP connections while they are decoded.
///
/// What is told besides of a stream is what was read of it whole: what was not may hold anything.
final class StreamSecrets {
  let rules: RedactionRules
  /// The streams of all connections, in the order in which they began.
  private(set) var records: [StreamRecord] = []
  /// Whether bytes are read again that were read before, so that their place is not known.
  var isReplaying = false
  /// Where in its stream the frame begins that is being read.
  var frameOffset = 0

  init(_ rules: RedactionRules) { self.rules = rules }

  /// Begins a connection.
  func open(_ connection: SessionConnection) {
    let record = StreamRecord(connection.opening)
    connection.record = record
    records.append(record)
  }

  // MARK: MQTT

  /// Takes a control packet that stands at a place of its stream.
  func take(
    packet bytes: RawSpan, _ header: MQTTFixedHeader, at offset: Int, _ direction: Direction
  ) {
    guard let record = direction.connection.record else { return }
    let view = MQTTPacketView(
      bytes, header: header, version: direction.connection.version)
    let places = rules.places(in: view)
    let side = direction.side
    if direction.connection.stage == .webSocket {
      record.takeCargo(offset..<offset + bytes.byteCount, places, side)
    } else {
      record.take(offset..<offset + bytes.byteCount, places, side)
    }
  }

  // MARK: WebSocket

  /// Takes a head of the handshake, which ends at a place of its stream.
  func take(_ head: HTTPHead, endingAt end: Int, _ direction: Direction) {
    guard !isReplaying, let record = direction.connection.record else { return }
    let start = end - head.bytes.count
    record.take(start..<end, rules.places(in: head), direction.side)
  }

  /// Takes a frame, before the packets that it completes.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - carriesMQTT: Whether its payload is bytes of MQTT; nil where that is not decided.
  ///   - direction: The direction in which it was sent.
  func take(_ frame: borrowing WebSocketFrameView, carriesMQTT: Bool?, _ direction: Direction) {
    guard !isReplaying, let record = direction.connection.record else { return }
    let start = frameOffset + frame.header.size
    record.take(frameOffset..<start, SecretPlaces(), direction.side)
    let length: Int
    switch frame.compression {
    case .none:
      // As many as the packets are counted on by.
      length = frame.payload.byteCount + (frame.header.frameSize == nil ? 0 : frame.missing)
    case .inflated: length = frame.data.byteCount
    case .kept: length = 0
    }
    let piece = StreamRecord.Piece(
      offset: start, count: frame.payload.byteCount, key: frame.header.maskingKey ?? 0,
      length: length, isInflated: frame.compression != .none)
    let places = rules.places(in: frame)
    // One between the frames of messages says nothing of what those carry.
    if frame.opcode.isControl { return record.take(piece, places, direction.side) }
    record.take(piece, places: places, carriesMQTT: carriesMQTT, direction.side)
  }
}

/// What is known of both streams of a TCP connection.
final class StreamRecord {
  /// What kind of bytes the streams have.
  enum Kind {
    /// Those of something that is not decoded.
    case unknown
    /// Those of MQTT or WebSocket.
    case decoded
    /// Those of TLS.
    case encrypted
  }

  /// The payload of a frame.
  struct Piece {
    /// Where it begins in the stream.
    let offset: Int
    /// How many bytes of the stream it is.
    let count: Int
    /// The key that it is masked by; 0 for none.
    let key: UInt32
    /// How many bytes it is of what is carried.
    let length: Int
    /// Whether it stands in the stream in another form than it is read in.
    let isInflated: Bool
  }

  let opening: FlowOpening
  /// What the streams have, as far as that is known by now.
  var kind = Kind.unknown { didSet { texts = [] } }
  /// Whether it may be something that is decoded.
  var isDecodable = true
  /// What the streams say as text, as long as nothing else is known of them.
  private var texts = [TextSecrets(), TextSecrets()]
  /// How many bytes came or were lost of each side.
  private(set) var counts = [0, 0]
  /// The sequence number of the first byte of each side; nil while that is not known.
  var starts: [UInt32?] = [nil, nil]
  private(set) var streams = [Stream(), Stream()]

  init(_ opening: FlowOpening) {
    self.opening = opening
    guard !opening.isFromStart else { return }
    for side in texts.indices { texts[side].lose() }
  }

  /// One direction.
  struct Stream {
    /// What was read whole, in order.
    fileprivate(set) var known: [Range<Int>] = []
    /// What stands in the place of secrets.
    fileprivate(set) var places: [SecretPlaces.Place] = []
    /// The payloads of frames whose packets are not all read, with where each begins in what they carry together.
    fileprivate var pieces: [(start: Int, piece: Piece)] = []
    /// The payloads of which it is not decided what they carry, and what to do with them if it is no MQTT.
    fileprivate var undecided: [(piece: Piece, places: SecretPlaces)] = []
    fileprivate var cargo = 0
    /// The end of the last compressed payload that a secret stands in.
    fileprivate var tainted = 0
  }

  /// What stands in the place of secrets of a stream that is not decoded.
  func textPlaces(_ side: Side) -> [SecretPlaces.Place] {
    texts.isEmpty ? [] : texts[side.rawValue].places
  }

  /// How many bytes the longest place has, once they are in order.
  private(set) var longest = 0

  /// Brings the places in order, so that those of a segment are found without a look at the others.
  func sortPlaces() {
    for side in 0...1 {
      streams[side].places.sort { $0.offset < $1.offset }
      longest = max(longest, streams[side].places.map(\.bytes.count).max() ?? 0)
      guard !texts.isEmpty else { continue }
      longest = max(longest, texts[side].sortPlaces())
    }
  }

  /// Looks for secrets in what comes next.
  func look(through bytes: RawSpan, _ side: Side, _ rules: RedactionRules?) {
    let start = counts[side.rawValue]
    counts[side.rawValue] += bytes.byteCount
    guard let rules, !texts.isEmpty else { return }
    texts[side.rawValue].take(bytes, at: start, rules)
  }

  /// Takes the loss of what would come next.
  func lose(_ count: Int, _ side: Side) {
    counts[side.rawValue] += count
    if !texts.isEmpty { texts[side.rawValue].lose() }
  }

  /// Notes a part that was read.
  func take(_ range: Range<Int>, _ places: SecretPlaces, _ side: Side) {
    let end = places.end.map { range.lowerBound + $0 } ?? range.upperBound
    note(range.lowerBound..<min(end, range.upperBound), side)
    for place in places.places {
      streams[side.rawValue].places.append(
        .init(offset: range.lowerBound + place.offset, bytes: place.bytes))
    }
  }

  /// Notes that bytes were read: of frames first the headers, and what they carry when it is whole.
  private func note(_ range: Range<Int>, _ side: Side) {
    guard !range.isEmpty else { return }
    var known = streams[side.rawValue].known
    streams[side.rawValue].known = []
    defer { streams[side.rawValue].known = known }
    var place = known.count
    while place > 0, known[place - 1].lowerBound > range.lowerBound { place -= 1 }
    known.insert(range, at: place)
    // Joined with those that it touches.
    for next in [place + 1, place] where next > 0 && next < known.count {
      guard known[next - 1].upperBound >= known[next].lowerBound else { continue }
      let end = max(known[next - 1].upperBound, known[next].upperBound)
      known[next - 1] = known[next - 1].lowerBound..<end
      known.remove(at: next)
    }
  }

  /// Takes the payload of a frame.
  func take(_ piece: Piece, places: SecretPlaces, carriesMQTT: Bool?, _ side: Side) {
    switch carriesMQTT {
    case nil: streams[side.rawValue].undecided.append((piece, places))
    case false?:
      settle(asMQTT: false)
      take(piece, places, side)
    case true?:
      settle(asMQTT: true)
      carry(piece, side)
    }
  }

  /// Decides what the payloads carry of which that was not known.
  func settle(asMQTT: Bool) {
    for side in [Side.first, .second] {
      let undecided = streams[side.rawValue].undecided
      streams[side.rawValue].undecided = []
      for (piece, places) in undecided {
        if asMQTT { carry(piece, side) } else { take(piece, places, side) }
      }
    }
  }

  /// Notes a payload that is text, or anything but MQTT.
  func take(_ piece: Piece, _ places: SecretPlaces, _ side: Side) {
    let end = places.end.map { min($0, piece.count) } ?? piece.count
    note(piece.offset..<piece.offset + end, side)
    for place in places.places { hide(place, in: piece, side) }
  }

  /// Notes what stands in the place of a part of a payload, masked as that is.
  private func hide(_ place: SecretPlaces.Place, in piece: Piece, _ side: Side) {
    var bytes: [UInt8] = []
    for (index, byte) in place.bytes.enumerated() {
      let shift = 24 - (place.offset + index) % 4 * 8
      bytes.append(byte ^ UInt8(truncatingIfNeeded: piece.key >> UInt32(shift)))
    }
    streams[side.rawValue].places.append(.init(offset: piece.offset + place.offset, bytes: bytes))
  }

  private func carry(_ piece: Piece, _ side: Side) {
    let start = streams[side.rawValue].cargo
    streams[side.rawValue].pieces.append((start, piece))
    streams[side.rawValue].cargo = start + piece.length
  }

  /// Notes a packet that stands in what payloads carry together.
  func takeCargo(_ range: Range<Int>, _ places: SecretPlaces, _ side: Side) {
    settle(asMQTT: true)
    let known = range.lowerBound..<(places.end.map { range.lowerBound + $0 } ?? range.upperBound)
    for (start, piece) in streams[side.rawValue].pieces {
      let whole = start..<start + piece.length
      let part = whole.clamped(to: known)
      if piece.isInflated {
        takeInflated(piece, whole, range, isClean: places.isEmpty, side)
        continue
      }
      guard !part.isEmpty else { continue }
      note(piece.offset + part.lowerBound - start..<piece.offset + part.upperBound - start, side)
      for place in places.places {
        let from = range.lowerBound + place.offset
        let inside = (from..<from + place.bytes.count).clamped(to: whole)
        guard !inside.isEmpty else { continue }
        let bytes = Array(place.bytes[(inside.lowerBound - from)..<(inside.upperBound - from)])
        hide(.init(offset: inside.lowerBound - start, bytes: bytes), in: piece, side)
      }
    }
    let end = range.upperBound
    streams[side.rawValue].pieces.removeAll { $0.start + $0.piece.length <= end }
  }

  /// Of a payload that is compressed all is told, or nothing: it is told with the packet that ends it.
  private func takeInflated(
    _ piece: Piece, _ whole: Range<Int>, _ packet: Range<Int>, isClean: Bool, _ side: Side
  ) {
    guard whole.overlaps(packet) else { return }
    var tainted = streams[side.rawValue].tainted
    if !isClean { tainted = max(tainted, whole.upperBound) }
    streams[side.rawValue].tainted = tainted
    guard packet.upperBound >= whole.upperBound, tainted <= whole.lowerBound else { return }
    note(piece.offset..<piece.offset + piece.count, side)
  }
}
