/// The parameters of the extension permessage-deflate (RFC 7692 section 7.1).
public struct PermessageDeflate: Sendable, Hashable {
  /// The name in `Sec-WebSocket-Extensions`.
  public static let name = "permessage-deflate"

  /// Whether the server compresses each message for itself.
  public var serverNoContextTakeover = false
  /// Whether the client compresses each message for itself.
  public var clientNoContextTakeover = false
  /// The size of the server's window, as a power of two (8...15); nil where none is named.
  public var serverMaxWindowBits: Int?
  /// The size of the client's window, as a power of two (8...15); nil where none is named.
  public var clientMaxWindowBits: Int?
  /// Whether an offer names `client_max_window_bits`, with a value or without one.
  public var namesClientWindow = false

  /// Creates parameters; none of them is set.
  public init() {}

  /// Where an extension stands.
  public enum Place: Sendable, Hashable {
    /// In a request.
    case offer
    /// In a response.
    case response
  }

  /// Reads parameters, as far as they are what the RFC defines.
  /// - Parameters:
  ///   - parameters: The parameters of the extension.
  ///   - place: Where it stands; only an offer may leave out the value of `client_max_window_bits`.
  /// - Returns: The parameters, and whether all of them are well-formed and stand once.
  public static func read(
    _ parameters: [WebSocketExtension.Parameter], in place: Place
  ) -> (deflate: PermessageDeflate, isValid: Bool) {
    var result = PermessageDeflate()
    var isValid = true
    var names: Set<String> = []
    for parameter in parameters {
      if !names.insert(parameter.name).inserted || !result.take(parameter, in: place) {
        isValid = false
      }
    }
    return (result, isValid)
  }

  private mutating func take(
    _ parameter: WebSocketExtension.Parameter, in place: Place
  ) -> Bool {
    switch parameter.name {
    case "server_no_context_takeover":
      serverNoContextTakeover = true
      return parameter.value == nil
    case "client_no_context_takeover":
      clientNoContextTakeover = true
      return parameter.value == nil
    case "server_max_window_bits":
      serverMaxWindowBits = Self.windowBits(parameter.value)
      return serverMaxWindowBits != nil
    case "client_max_window_bits":
      namesClientWindow = true
      clientMaxWindowBits = Self.windowBits(parameter.value)
      return clientMaxWindowBits != nil || (place == .offer && parameter.value == nil)
    default: return false
    }
  }

  /// A number from 8 to 15 in decimal without leading zeros.
  private static func windowBits(_ value: String?) -> Int? {
    guard let value, let bits = Int(value), (8...15).contains(bits), String(bits) == value else {
      return nil
    }
    return bits
  }

  /// Tells whether a response may be given to an offer (RFC 7692 sections 7.1.1 and 7.1.2).
  /// - Parameter offer: What the client offered.
  /// - Returns: Whether this response keeps to it.
  public func answers(_ offer: PermessageDeflate) -> Bool {
    if offer.serverNoContextTakeover, !serverNoContextTakeover { return false }
    if let offered = offer.serverMaxWindowBits {
      guard let bits = serverMaxWindowBits, bits <= offered else { return false }
    }
    // The number that a client offers here is a hint, which a server may ignore.
    return clientMaxWindowBits == nil || offer.namesClientWindow
  }
}
