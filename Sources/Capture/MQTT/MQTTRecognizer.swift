import RepriseCore
import Wire

/// Tells from the bytes of a connection, on whatever port, whether they are MQTT, and of which version.
struct MQTTRecognizer {
  let opening: FlowOpening
  let rule: DecodeRule?
  /// Whether other connections to the same server speak MQTT.
  var isServerKnown = false

  enum Verdict {
    /// More bytes are needed.
    case undecided
    /// More bytes are needed, but those that came are of no use any more: the connection may be in the
    /// middle of a large packet.
    case later
    case notMQTT
    case mqtt(client: Side, wire: WireProtocol, evidence: String?)
  }

  /// So many bytes and pieces are looked at; what has not shown itself then is no MQTT.
  static let mostBytes = 64 << 10
  private static let mostPieces = 64
  /// The ports that IANA gave to MQTT, plain and over TLS.
  private static let knownPorts: Set<UInt16> = [1883, 8883]

  /// Judges what has come so far.
  /// - Parameters:
  ///   - pieces: The pieces of both sides in the order of their coming.
  ///   - isFinal: Whether nothing more will come.
  /// - Returns: What the connection is taken for.
  func judge(_ pieces: HeldPieces, isFinal: Bool) -> Verdict {
    switch rule {
    case .some(.none), .webSocket, .http, .tls: return .notMQTT
    case .mqtt, nil: break
    }
    let isOver = Self.isOver(pieces)
    for side in [Side.first, .second] {
      let held = pieces[side]
      switch Self.connectLevel(held.bytes.span.bytes.extracting(held.start)) {
      case .level(let level): return .mqtt(client: side, wire: wire(level), evidence: nil)
      case .maybe where !isFinal && !isOver && !held.isCut: return .undecided
      case .maybe, .no: break
      }
    }
    if let verdict = unknownName(pieces, isFinal: isFinal || isOver) { return verdict }
    let first = run(of: .first, in: pieces)
    let second = run(of: .second, in: pieces)
    if isFinal, isUnseen(pieces) {
      return .mqtt(
        client: client(first, second), wire: .mqttUndetermined,
        evidence: "the server's other connections are MQTT; no packet of this one is in the capture"
      )
    }
    if case .mqtt(let version)? = rule {
      let verdict = forced(version, first, second, pieces, isFinal: isFinal || isOver)
      guard case .notMQTT = verdict, !isFinal, !isWhole(pieces) else { return verdict }
      return .later
    }
    let verdict = weigh(first, second, pieces, isFinal: isFinal)
    guard case .undecided = verdict, isOver else { return verdict }
    return isWhole(pieces) ? .notMQTT : .later
  }

  /// Judges the first bytes of a connection where they lie, which is all that most connections need.
  /// - Returns: Nil when that is not enough to tell.
  func judge(firstBytes bytes: RawSpan, of side: Side) -> Verdict? {
    guard case .level(let level) = Self.connectLevel(bytes) else { return nil }
    return .mqtt(client: side, wire: wire(level), evidence: nil)
  }

  // MARK: CONNECT

  enum ConnectReading {
    case level(UInt8)
    case maybe
    case no
  }

  /// Reads the protocol name and level of a CONNECT (MQTT 3.1.1 section 3.1.2).
  static func connectLevel(_ bytes: RawSpan) -> ConnectReading {
    guard bytes.byteCount > 0 else { return .no }
    guard bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) >> 4 == 1 else { return .no }
    guard case .header(let header) = MQTTFixedHeader.read(bytes) else {
      return bytes.byteCount < 5 ? .maybe : .no
    }
    let rest = bytes.extracting(droppingFirst: header.size)
    for name in ["\u{0}\u{4}MQTT", "\u{0}\u{6}MQIsdp"] as [StaticString] {
      let count = name.utf8CodeUnitCount
      if rest.byteCount > count, rest.extracting(first: count).equals(name) {
        return .level(rest.unsafeLoad(fromByteOffset: count, as: UInt8.self))
      }
      if rest.byteCount <= count, isPrefix(rest, of: name) { return .maybe }
    }
    return .no
  }

  private static func isPrefix(_ bytes: RawSpan, of name: StaticString) -> Bool {
    bytes.withUnsafeBytes { bytes in
      name.withUTF8Buffer { $0.prefix(bytes.count).elementsEqual(bytes) }
    }
  }

  func wire(_ level: UInt8, isNamed: Bool = true) -> WireProtocol {
    if case .mqtt(let version?)? = rule { return .mqtt(version) }
    guard let version = MQTTVersion(rawValue: level & 0x7F) else {
      return .mqttInferred(level > 5 ? .v5_0 : .v3_1_1)
    }
    // A name that is not MQTT's names no version of it either.
    return isNamed ? .mqtt(version) : .mqttInferred(version)
  }

  // MARK: Chains of packets

  /// Whether so much has come that nothing more is waited for.
  private static func isOver(_ pieces: HeldPieces) -> Bool {
    pieces.count > mostPieces || pieces.byteCount > mostBytes
  }

  /// Finds the best run of a side: from its first byte, or in a capture that starts in the middle,
  /// from the first piece that begins with a packet.
  private func run(of side: Side, in pieces: HeldPieces) -> MQTTChain {
    var best: MQTTChain?
    let held = pieces[side]
    for (index, stretch) in held.stretches.enumerated() {
      let bytes = held.bytes.span.bytes.extracting(stretch.range)
      for start in stretch.starts {
        let chain = MQTTChain(bytes, from: start)
        if !chain.isBroken || chain.packets > 0 { return chain }
        best = best ?? chain
        if opening.isFromStart, index == 0, start == 0 { return chain }
      }
    }
    return best ?? MQTTChain([UInt8]().span.bytes, from: 0)
  }

  private func weigh(
    _ first: MQTTChain, _ second: MQTTChain, _ pieces: HeldPieces, isFinal: Bool
  ) -> Verdict {
    if first.isBroken || second.isBroken {
      guard !isWhole(pieces) else { return .notMQTT }
      let proof = [first, second].map { $0.isBroken ? 0 : $0.weight }.max() ?? 0
      // In the middle of a stream a large packet may go on for a while before the next one starts;
      // it does not matter when the other side says enough.
      guard proof >= 8 else {
        return isFinal || (!isLikely(pieces) && pieces.count > 4) ? .notMQTT : .undecided
      }
    }
    let weight = first.weight + second.weight
    if weight >= (isLikely(pieces) ? 1 : 4), agree(first, second) {
      return .mqtt(
        client: client(first, second), wire: version(first, second),
        evidence: evidence(first, second))
    }
    return isFinal || !agree(first, second) ? .notMQTT : .undecided
  }

  /// Whether a connection to a server of MQTT shows the beginning of a CONNECT and nothing else.
  ///
  /// That it was there has to be told: it may have been that of a client whose other connections are judged.
  private func isUnseen(_ pieces: HeldPieces) -> Bool {
    guard isServerKnown, !pieces.isComplete else { return false }
    guard pieces.byteCount > 0 else { return true }
    return [Side.first, .second].contains { side in
      let held = pieces[side]
      guard case .maybe = Self.connectLevel(held.bytes.span.bytes.extracting(held.start)) else {
        return false
      }
      // Its first byte alone may be anything.
      return held.start.count > 1
    }
  }

  /// Whether MQTT is to be expected, so that little of it is enough.
  ///
  /// The port tells that, and where bytes are missing what others speak with the server. What is all there and begins with
  /// no CONNECT is another protocol behind the same address.
  private func isLikely(_ pieces: HeldPieces) -> Bool {
    isPortKnown || isServerKnown && !isWhole(pieces)
  }

  var isPortKnown: Bool {
    Self.knownPorts.contains(opening.first.port) || Self.knownPorts.contains(opening.second.port)
  }

  /// Whether both sides are here from their first byte on.
  private func isWhole(_ pieces: HeldPieces) -> Bool {
    opening.isFromStart && pieces.isComplete
  }

  /// Whether the sides do not contradict each other: one layout fits both, and one is the client.
  private func agree(_ first: MQTTChain, _ second: MQTTChain) -> Bool {
    !first.layouts.isDisjoint(with: second.layouts)
      && !(first.isFromClient && first.isFromServer)
      && !(second.isFromClient && second.isFromServer)
      && !(first.isFromClient && second.isFromClient)
      && !(first.isFromServer && second.isFromServer)
  }

  /// Takes the connection for MQTT on the user's word, unless nothing in it looks like that.
  private func forced(
    _ version: MQTTVersion?, _ first: MQTTChain, _ second: MQTTChain, _ pieces: HeldPieces,
    isFinal: Bool
  ) -> Verdict {
    let isSeen = first.packets + second.packets > 0
    guard isSeen || isFinal else { return .undecided }
    guard isSeen || Self.resemble(pieces) else { return .notMQTT }
    return .mqtt(
      client: client(first, second),
      wire: version.map { WireProtocol.mqtt($0) } ?? self.version(first, second),
      evidence: version == nil ? evidence(first, second) : nil)
  }

  /// Tells which side is the client: by what it sends, else by the SYN, else by its port.
  private func client(_ first: MQTTChain, _ second: MQTTChain) -> Side {
    if first.isFromClient || second.isFromServer { return .first }
    if second.isFromClient || first.isFromServer { return .second }
    if opening.isFromStart || Self.knownPorts.contains(opening.second.port) { return .first }
    if Self.knownPorts.contains(opening.first.port) { return .second }
    // Servers listen below the ports that systems give to clients.
    return opening.first.port >= opening.second.port ? .first : .second
  }

  private func version(_ first: MQTTChain, _ second: MQTTChain) -> WireProtocol {
    switch first.layouts.intersection(second.layouts) {
    case .v5: .mqttInferred(.v5_0)
    case .v3: .mqttInferred(.v3_1_1)
    default:
      first.lean + second.lean >= MQTTEvidence.enough ? .mqttInferred(.v5_0) : .mqttUndetermined
    }
  }

  private func evidence(_ first: MQTTChain, _ second: MQTTChain) -> String {
    let layouts = first.layouts.intersection(second.layouts)
    if let type = first.deciding ?? second.deciding, layouts != .both {
      return layouts == .v5
        ? "\(type.name) has its fields where 5.0 puts them"
        : "\(type.name) has its fields where 3.1 and 3.1.1 put them"
    }
    guard first.lean + second.lean >= MQTTEvidence.enough else {
      return "no packet so far tells the version; laid out as 3.1.1"
    }
    switch first.leaning ?? second.leaning {
    case .properties: return "PUBLISH has properties where 5.0 puts them"
    default: return "PUBLISH has an empty property length before text, as 5.0 does"
    }
  }
}
