/// A place where a frame or a handshake breaks a rule: what, in which field, at which byte.
///
/// What has faults is still read as far as it goes, to be judged and shown. What can't even be cut
/// out of the stream is a ``WebSocketFramingError`` instead.
public struct WebSocketFault: Error, Sendable, Hashable {
  /// Which rule is broken.
  public let code: Code
  /// The field that breaks it.
  public let field: WebSocketField
  /// Where, in bytes from the first byte of the frame, or of the request or response.
  public let offset: Int

  /// Creates a fault.
  public init(_ code: Code, in field: WebSocketField, at offset: Int) {
    self.code = code
    self.field = field
    self.offset = offset
  }

  /// The rules that can be broken, each a stable name for tools.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    // Of a frame alone.

    /// The opcode has no meaning (RFC 6455 section 5.2).
    case reservedOpcode = "reserved-opcode"
    /// A client's frame is not masked (section 5.1).
    case unmaskedFromClient = "unmasked-from-client"
    /// A server's frame is masked (section 5.1).
    case maskedFromServer = "masked-from-server"
    /// The length is not in its shortest form (section 5.2).
    case lengthNotShortest = "length-not-shortest"
    /// The highest bit of the length is set (section 5.2).
    case lengthTooLarge = "length-too-large"
    /// A control frame without FIN (section 5.5).
    case fragmentedControl = "fragmented-control"
    /// A control frame with more than 125 bytes (section 5.5).
    case longControl = "long-control"
    /// A Close frame whose payload is one byte, half a status code (section 5.5.1).
    case halfCloseCode = "half-close-code"
    /// A status code that must not stand in a Close frame (section 7.4).
    case invalidCloseCode = "invalid-close-code"
    /// The reason of a Close frame is not well-formed UTF-8 (section 5.5.1).
    case invalidReason = "invalid-reason"

    // Of a frame in its place on the connection.

    /// A reserved bit that no negotiated extension gives a meaning to here (section 5.2).
    case reservedBits = "reserved-bits"
    /// A continuation frame without a message to go on with (section 5.4).
    case continuationOfNothing = "continuation-of-nothing"
    /// A new message before the last fragment of the one that is open (section 5.4).
    case messageInsideMessage = "message-inside-message"
    /// A data frame behind the sender's Close frame (section 5.5.1).
    case dataAfterClose = "data-after-close"
    /// A client's frame that was sent before the answer to its request came (section 4.1).
    case beforeAnswer = "before-answer"
    /// The text is not well-formed UTF-8 (sections 5.6 and 8.1).
    case invalidText = "invalid-text"
    /// The compressed message can't be inflated (RFC 7692 section 7.2.2).
    case damagedCompression = "damaged-compression"
    /// MQTT in a text frame (MQTT 3.1.1 section 6.0, MQTT-6.0.0-1).
    case textCarriesMQTT = "text-carries-mqtt"

    // Of a request or response alone.

    /// The first line is none of HTTP/1.1 (RFC 9112 sections 3 and 4).
    case malformedStartLine = "malformed-start-line"
    /// A header line breaks the syntax (RFC 9112 section 5).
    case malformedHeader = "malformed-header"
    /// The method is not GET (RFC 6455 section 4.1).
    case notGET = "not-get"
    /// The version of HTTP is below 1.1 (section 4.1).
    case oldHTTPVersion = "old-http-version"
    /// The request target has a fragment (section 3).
    case fragmentInTarget = "fragment-in-target"
    /// A header that must be there is not, or does not say what it must.
    case missingHeader = "missing-header"
    /// A header that may stand once stands again (section 11.3).
    case repeatedHeader = "repeated-header"
    /// The key is not the base64 of 16 bytes (section 4.1).
    case invalidKey = "invalid-key"
    /// The version is not 13 (section 4.1).
    case unsupportedVersion = "unsupported-version"
    /// A subprotocol is empty, no token, or named twice (section 4.1).
    case invalidSubprotocol = "invalid-subprotocol"
    /// The extensions break their syntax (section 9.1).
    case malformedExtensions = "malformed-extensions"
    /// The parameters of permessage-deflate are not what it defines (RFC 7692 section 7.1).
    case invalidParameter = "invalid-extension-parameter"

    // Of a response beside its request.

    /// The accept value does not answer the key (RFC 6455 section 4.2.2).
    case wrongAccept = "wrong-accept"
    /// The subprotocol is none that the client offered (section 4.2.2).
    case subprotocolNotOffered = "subprotocol-not-offered"
    /// The extension, or a parameter of it, is none that the client offered (section 4.2.2).
    case extensionNotOffered = "extension-not-offered"

    /// Whether the bytes alone don't show the fault, but only what came before them.
    public var needsContext: Bool {
      switch self {
      case .reservedBits, .continuationOfNothing, .messageInsideMessage, .dataAfterClose,
        .beforeAnswer, .invalidText, .damagedCompression, .textCarriesMQTT, .wrongAccept,
        .subprotocolNotOffered, .extensionNotOffered:
        true
      default: false
      }
    }
  }
}

/// The fields of frames and handshakes, by the names that the command line prints.
public enum WebSocketField: String, Sendable, Hashable, CaseIterable {
  /// FIN.
  case fin
  /// The three reserved bits.
  case rsv
  /// The opcode.
  case opcode
  /// The mask bit.
  case masked
  /// The payload length.
  case length
  /// The payload.
  case payload
  /// The status code of a Close frame.
  case closeCode
  /// The reason of a Close frame.
  case closeReason
  /// The first line of a request or response.
  case startLine
  /// A header line of any name.
  case header
  /// `Host`.
  case host
  /// `Upgrade`.
  case upgrade
  /// `Connection`.
  case connection
  /// `Sec-WebSocket-Key`.
  case key
  /// `Sec-WebSocket-Version`.
  case version
  /// `Sec-WebSocket-Accept`.
  case accept
  /// `Sec-WebSocket-Protocol`.
  case subprotocol
  /// `Sec-WebSocket-Extensions`.
  case extensions

  /// The name of the header line that the field is; nil of those that are none, or any.
  package var headerName: String? {
    switch self {
    case .host: "Host"
    case .upgrade: "Upgrade"
    case .connection: "Connection"
    case .key: "Sec-WebSocket-Key"
    case .version: "Sec-WebSocket-Version"
    case .accept: "Sec-WebSocket-Accept"
    case .subprotocol: "Sec-WebSocket-Protocol"
    case .extensions: "Sec-WebSocket-Extensions"
    default: nil
    }
  }
}
