import RepriseCore

/// Where secrets stand in a stream of text, whatever the pieces are that it comes in.
struct TextSecrets {
  /// How much of what came before is looked at again: a name, and what may stand before its value.
  private static let memory = 512
  /// How long a secret may be that is still to be known as one when it goes on.
  private static let longest = 1 << 14

  /// How much is hidden behind a loss, which may be that of a secret's name: to the end of the line, but no more.
  private static let doubt = 1 << 12

  private var tail: [UInt8] = []
  /// How many bytes may still be those of a secret whose name is lost.
  private var doubtful = 0
  /// What stands in the place of secrets.
  private(set) var places: [SecretPlaces.Place] = []

  /// Takes the next piece.
  /// - Parameters:
  ///   - piece: Its bytes.
  ///   - offset: Where it begins in the stream.
  ///   - rules: What is hidden.
  mutating func take(_ piece: RawSpan, at offset: Int, _ rules: RedactionRules) {
    if doubtful > 0 { takeDoubtful(piece, at: offset) }
    let start = offset - tail.count
    var text = tail
    piece.withUnsafeBytes { text.append(contentsOf: $0) }
    let found = rules.places(in: text.span.bytes).places + rules.places(inLinesOf: text)
    for place in found where place.offset + place.bytes.count > tail.count {
      places.append(.init(offset: start + place.offset, bytes: place.bytes))
    }
    var kept = Self.memory
    // One that reaches to the end may go on.
    let last = found.filter { $0.offset + $0.bytes.count == text.count }.map(\.bytes.count).max()
    kept += min(last ?? 0, Self.longest)
    tail = text.suffix(kept)
  }

  private mutating func takeDoubtful(_ piece: RawSpan, at offset: Int) {
    let length = piece.withUnsafeBytes { $0.firstIndex(of: UInt8(ascii: "\n")) }
    let count = min(length ?? piece.byteCount, doubtful)
    doubtful = length == nil ? doubtful - count : 0
    var hidden = SecretPlaces()
    hidden.hide(offset..<offset + count)
    places += hidden.places
  }

  /// Brings the places in order.
  /// - Returns: How many bytes the longest has.
  mutating func sortPlaces() -> Int {
    places.sort { $0.offset < $1.offset }
    return places.map(\.bytes.count).max() ?? 0
  }

  /// Takes the loss of what would come next, or of what came before the first piece.
  mutating func lose() {
    tail = []
    doubtful = Self.doubt
  }
}

extension RedactionRules {
  /// Finds what must not be told of the lines of a handshake that is not read as one: in that of a host what stands before
  /// it, and subprotocols in which some put a token.
  fileprivate func places(inLinesOf text: [UInt8]) -> [SecretPlaces.Place] {
    var places = SecretPlaces()
    for line in text.split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let value = line[(colon + 1)...]
      switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
      case "host":
        if let at = value.lastIndex(of: UInt8(ascii: "@")) { places.hide(value.startIndex..<at) }
      case "sec-websocket-protocol":
        let names = String(decoding: value, as: UTF8.self).split { ", \r".contains($0) }
        let isSecret = names.contains { shown(subprotocol: String($0)) != $0 }
        if isSecret { places.hide(value.startIndex..<value.endIndex) }
      default: continue
      }
    }
    return places.places
  }
}
