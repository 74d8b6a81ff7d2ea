package import Wire

/// Where in some bytes that keep their length something must not be told, and what stands there instead.
package struct SecretPlaces: Sendable, Equatable {
  /// A part that is overwritten.
  package struct Place: Sendable, Equatable {
    /// The first byte of it.
    package var offset: Int
    /// What stands there instead; as many bytes.
    package var bytes: [UInt8]

    /// Creates a part.
    package init(offset: Int, bytes: [UInt8]) {
      self.offset = offset
      self.bytes = bytes
    }
  }

  /// The parts, which may overlap.
  package private(set) var places: [Place] = []
  /// From where on nothing may be told, as nobody knows which part of it is a secret; nil if all else may be told.
  package private(set) var end: Int?

  /// Nothing.
  package init() {}

  /// Whether everything may be told.
  package var isEmpty: Bool { places.isEmpty && end == nil }

  /// Hides a part by stars.
  package mutating func hide(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    places.append(Place(offset: range.lowerBound, bytes: Self.stars(range.count)))
  }

  /// Hides everything from a place on.
  package mutating func cut(from offset: Int) { end = min(end ?? offset, offset) }

  /// Hides a secret by what may stand in its place: where that is a string of JSON, by a string.
  mutating func hide(_ secret: SecretScanner.Secret, at offset: Int) {
    let count = secret.range.count
    guard count > 0 else { return }
    let start = offset + secret.range.lowerBound
    guard secret.substitute.hasPrefix("\"") else { return hide(start..<start + count) }
    let quote = UInt8(ascii: "\"")
    // A value of one byte is a digit.
    let bytes = count > 1 ? [quote] + Self.stars(count - 2) + [quote] : [UInt8(ascii: "0")]
    places.append(Place(offset: start, bytes: bytes))
  }

  private static func stars(_ count: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(ascii: "*"), count: count)
  }
}

extension RedactionRules {
  /// Finds what must not be told of text.
  package func places(in text: RawSpan) -> SecretPlaces {
    var places = SecretPlaces()
    add(text, at: 0, to: &places)
    return places
  }

  private func add(_ text: RawSpan, at offset: Int, to places: inout SecretPlaces) {
    guard !names.isEmpty, !text.isEmpty else { return }
    text.withUnsafeBytes { bytes in
      var secrets = SecretScanner(bytes, names)
      while let secret = secrets.next() { places.hide(secret, at: offset) }
    }
  }

  // MARK: MQTT

  /// Finds what must not be told of a control packet, by offsets from the packet's first byte.
  package func places(in packet: borrowing MQTTPacketView) -> SecretPlaces {
    var places = SecretPlaces()
    guard !hidesNothing else { return places }
    let bytes = packet.bytes
    // Of what can't be read, nobody knows what the parts are.
    let isRead = !packet.hasFaults && packet.missing == 0
    let mayCarry = packet.type == .connect || packet.type == .auth
    guard isRead || !(mayCarry && hidesSecrets || mayStand(in: bytes)) else {
      places.cut(from: packet.header.size)
      return places
    }
    func offset(_ part: RawSpan) -> Int { part.place(in: bytes) ?? 0 }
    func addText(_ part: RawSpan, _ places: inout SecretPlaces) {
      add(part, at: offset(part), to: &places)
    }
    func hideAll(_ part: RawSpan, _ places: inout SecretPlaces) {
      places.hide(offset(part)..<offset(part) + part.byteCount)
    }
    if packet.type == .publish {
      addText(packet.topic, &places)
      if hidesPayload(on: packet.topic) {
        hideAll(packet.payload, &places)
      } else {
        addText(packet.payload, &places)
      }
    }
    if let connect = packet.connect {
      addText(connect.clientID, &places)
      if connect.hasWill {
        addText(connect.willTopic, &places)
        if hidesPayload(on: connect.willTopic) {
          hideAll(connect.willPayload, &places)
        } else {
          addText(connect.willPayload, &places)
        }
        add(connect.willProperties, in: bytes, to: &places)
      }
      if connect.hasUsername {
        if hidesUsernames {
          hideAll(connect.username, &places)
        } else {
          addText(connect.username, &places)
        }
      }
      if connect.hasPassword, hidesSecrets { hideAll(connect.password, &places) }
    }
    if packet.type == .subscribe || packet.type == .unsubscribe {
      var filters = packet.filters
      while let filter = filters.next() { addText(filter.text, &places) }
    }
    add(packet.properties, in: bytes, to: &places)
    return places
  }

  private func add(
    _ properties: consuming MQTTPropertiesView, in bytes: RawSpan, to places: inout SecretPlaces
  ) {
    var properties = properties
    while let property = properties.next() {
      let first = property.bytes(in: bytes)
      let start = first.place(in: bytes) ?? 0
      switch property.id.kind {
      case .byte, .twoByteInteger, .fourByteInteger, .variableByteInteger: break
      case .string: add(first, at: start, to: &places)
      case .binary:
        let isHidden =
          property.id == .authenticationData && hidesSecrets
          || property.id == .correlationData && hidesCorrelationData
        if isHidden {
          places.hide(start..<start + first.byteCount)
        } else {
          add(first, at: start, to: &places)
        }
      case .stringPair:
        let second = property.secondBytes(in: bytes)
        let place = second.place(in: bytes) ?? 0
        if first.withUnsafeBytes({ names.contain($0) }) {
          places.hide(place..<place + second.byteCount)
        } else {
          add(second, at: place, to: &places)
        }
      }
    }
  }

  // MARK: WebSocket

  /// Finds what must not be told of a frame's payload, without its mask, if that is no MQTT.
  package func places(in frame: borrowing WebSocketFrameView) -> SecretPlaces {
    var places = SecretPlaces()
    guard !hidesNothing else { return places }
    switch frame.compression {
    case .none: break
    case .inflated:
      if !mayShow(frame) || findSecret(in: frame.data) { places.cut(from: 0) }
      return places
    case .kept:
      if hidesSecrets { places.cut(from: 0) }
      return places
    }
    guard mayShow(frame) else {
      // The code of a Close frame is no text.
      places.hide((frame.closeCode == nil ? 0 : 2)..<frame.payload.byteCount)
      return places
    }
    add(frame.payload, at: 0, to: &places)
    return places
  }

  /// Finds what must not be told of the head of a handshake, by offsets from its first byte.
  package func places(in head: HTTPHead) -> SecretPlaces {
    var places = SecretPlaces()
    guard !hidesNothing else { return places }
    let span = head.bytes.span.bytes
    add(span.extracting(first: head.startLine.utf8.count), at: 0, to: &places)
    for (index, field) in head.fields.enumerated() {
      let next = index + 1 < head.fields.count ? head.fields[index + 1].offset : head.bytes.count
      guard shown(field) != field.value, field.offset < next, next <= head.bytes.count else {
        continue
      }
      hide(field, in: head.bytes[field.offset..<next], to: &places)
    }
    return places
  }

  /// Hides what must not be told of a header line: of a list of subprotocols some, of a host what stands before it, of
  /// others the value.
  private func hide(
    _ field: HTTPHead.Field, in line: ArraySlice<UInt8>, to places: inout SecretPlaces
  ) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
    let isBlank = { (byte: UInt8) in [9, 10, 13, 32].contains(byte) }
    var value = line[(colon + 1)...].drop(while: isBlank)
    while let last = value.last, isBlank(last) { value.removeLast() }
    switch field.name.lowercased() {
    case "sec-websocket-protocol":
      for part in value.split(separator: UInt8(ascii: ",")) {
        let name = part.drop(while: isBlank)
        let text = String(decoding: name, as: UTF8.self)
        let shown = shown(subprotocol: text)
        guard shown != text else { continue }
        // What stands before the secret names it.
        let kept = Array(shown.utf8.dropLast(Self.mark.utf8.count))
        let start = name.starts(with: kept) ? name.startIndex + kept.count : name.startIndex
        places.hide(start..<name.endIndex)
      }
    case "host":
      guard let at = value.lastIndex(of: UInt8(ascii: "@")) else { return }
      places.hide(value.startIndex..<at)
    default: places.hide(value.startIndex..<value.endIndex)
    }
  }
}
