package import Wire

/// Follows the frames of one direction of a WebSocket, to notice which of them go on inside a secret that an
/// earlier frame of the message began: by itself such a frame shows nothing of that.
package struct FragmentSecrets: Sendable {
  /// How much of the message before is looked at again: a name, and what may stand before its value.
  private static let memory = 512

  private static let names = SecretNames()
  /// The end of what came of the message; nil outside messages.
  private var tail: [UInt8]?
  /// Whether a secret goes on, or may.
  private var isInside = false

  /// Creates what has seen no frame.
  package init() {}

  /// Tells that frames are missing, the first of a message perhaps: until the next one begins, all that
  /// goes on may be inside a secret.
  package mutating func lose() {
    tail = tail ?? []
    isInside = true
  }

  /// Takes the next frame.
  /// - Returns: Whether nothing of its payload may be shown where secrets are hidden.
  package mutating func conceals(_ frame: borrowing WebSocketFrameView) -> Bool {
    switch frame.opcode {
    case .text, .binary:
      (tail, isInside) = (frame.header.isFinal ? nil : [], false)
      if !frame.header.isFinal { add(frame) }
      return false
    case .continuation:
      guard tail != nil else { return false }
      let wasInside = isInside
      let isReached = wasInside ? false : add(frame)
      if frame.header.isFinal { (tail, isInside) = (nil, false) }
      return wasInside || isReached
    default: return false
    }
  }

  /// Joins what a frame says to what came before.
  /// - Returns: Whether a secret reaches into the frame that it does not show by itself.
  @discardableResult
  private mutating func add(_ frame: borrowing WebSocketFrameView) -> Bool {
    var text = tail ?? []
    let start = text.count
    frame.data.withUnsafeBytes { text.append(contentsOf: $0) }
    let alone = Self.secrets(in: Array(text[start...])).map { secret in
      SecretScanner.Secret(
        range: secret.range.lowerBound + start..<secret.range.upperBound + start,
        substitute: secret.substitute)
    }
    let joined = Self.secrets(in: text)
    // A secret that is cut by the end goes on, and so may what is not known.
    isInside = joined.last?.range.upperBound == text.count || frame.missing > 0
    if case .kept = frame.compression { isInside = true }
    tail = text.suffix(Self.memory)
    return joined.contains { $0.range.upperBound > start && !alone.contains($0) }
  }

  private static func secrets(in text: [UInt8]) -> [SecretScanner.Secret] {
    text.withUnsafeBytes { bytes in
      var scanner = SecretScanner(bytes, names)
      var found: [SecretScanner.Secret] = []
      while let secret = scanner.next() { found.append(secret) }
      return found
    }
  }
}
