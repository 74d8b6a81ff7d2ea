extension WebSocketFault.Code {
  /// One sentence for a reader.
  public var message: String {
    switch self {
    case .reservedOpcode: "the opcode is reserved"
    case .unmaskedFromClient: "the client's frame is not masked"
    case .maskedFromServer: "the server's frame is masked"
    case .lengthNotShortest: "the length is not in its shortest form"
    case .lengthTooLarge: "the highest bit of the length is set"
    case .fragmentedControl: "the control frame is fragmented"
    case .longControl: "the control frame has more than 125 bytes"
    case .halfCloseCode: "one byte is no status code"
    case .invalidCloseCode: "the status code must not be sent"
    case .invalidReason: "the reason is not well-formed UTF-8"
    case .reservedBits: "no extension was agreed on that sets this reserved bit here"
    case .continuationOfNothing: "no message is open to go on with"
    case .messageInsideMessage: "the message before it has no last fragment"
    case .dataAfterClose: "the sender had sent a Close frame"
    case .beforeAnswer: "the answer to the client's request had not come yet"
    case .invalidText: "the text is not well-formed UTF-8"
    case .damagedCompression: "the compressed message can't be inflated"
    case .textCarriesMQTT: "MQTT must be in binary frames"
    case .malformedStartLine: "the first line is none of HTTP/1.1"
    case .malformedHeader: "the header line breaks the syntax of HTTP"
    case .notGET: "the method is not GET"
    case .oldHTTPVersion: "the version of HTTP is below 1.1"
    case .fragmentInTarget: "the request target has a fragment"
    case .missingHeader: "the header is missing or does not say what it must"
    case .repeatedHeader: "the header stands more than once"
    case .invalidKey: "the key is not the base64 of 16 bytes"
    case .unsupportedVersion: "the version is not 13"
    case .invalidSubprotocol: "a subprotocol is empty, no token, or named twice"
    case .malformedExtensions: "the extensions break their syntax"
    case .invalidParameter: "a parameter of permessage-deflate is unknown, repeated or out of range"
    case .wrongAccept: "the accept value does not answer the key of the request"
    case .subprotocolNotOffered: "the client did not offer the subprotocol"
    case .extensionNotOffered: "the client did not offer the extension or its parameter"
    }
  }
}

extension WebSocketFault: CustomStringConvertible {
  /// The fault in one line: message, field and offset.
  public var description: String { "\(code.message) (\(field.rawValue), byte \(offset))" }
}
