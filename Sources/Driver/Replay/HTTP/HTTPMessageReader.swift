import Capture
import RepriseCore
import Wire

/// Takes the messages of HTTP/1.1 that one end of a connection sends out of what comes, whatever pieces it comes in.
struct HTTPMessageReader {
  /// What came.
  enum Heard {
    /// A whole message, without a content coding that can be undone.
    case message(HTTPMessage)
    /// A head whose sender waits for leave to send the body (RFC 9110 section 10.1.1).
    case awaitsLeave
  }

  /// What is wrong with what came.
  struct Fault: Sendable, Hashable {
    /// What it is, as the end of a sentence that begins with its sender.
    let text: String
    /// The status that tells the sender.
    let status: Int

    static let noHTTP = Fault(text: "sends what is no HTTP/1.1", status: 400)
    static let laterVersion = Fault(text: "speaks HTTP/2, and only 1.1 is replayed", status: 505)
    static let largeHead = Fault(text: "sends a head of more than 64 KiB", status: 431)
    static let largeBody = Fault(
      text: "sends a body of more than \(HTTPStreams.longestBody >> 20) MiB", status: 413)
    static let badLength = Fault(text: "says of a body what can't be", status: 400)
    static let badChunk = Fault(text: "sends a chunk without its size or its end", status: 400)
    static let otherProtocol = Fault(text: "goes on in another protocol", status: 400)
  }

  private enum Phase {
    case between
    case head(HTTPHeadReader)
    case body(HTTPMessage, HTTPBodyReader)
  }

  /// The end whose messages these are.
  private let sender: Peer
  private var phase = Phase.between
  /// The methods of the requests that these messages are to answer, the oldest first.
  private var methods = Fifo<String>()
  /// Why nothing more is read; nil as long as all is well.
  private(set) var fault: Fault?
  /// Whether anything came that may be HTTP.
  private(set) var hasBegun = false

  /// Creates a reader at the start of a connection.
  /// - Parameter sender: The end whose messages are read.
  init(of sender: Peer) { self.sender = sender }

  /// Takes note that a request was sent whose answer is to come.
  /// - Parameter method: Its method.
  mutating func expect(_ method: String) { methods.append(method) }

  // MARK: Reading

  /// Takes the next piece of what comes.
  /// - Parameters:
  ///   - bytes: The piece.
  ///   - tell: Takes what was in it.
  mutating func take(_ bytes: ArraySlice<UInt8>, _ tell: (Heard) -> Void) {
    let whole = Array(bytes)
    var rest = whole.span.bytes
    while !rest.isEmpty, fault == nil {
      switch phase {
      case .between: rest = rest.extracting(droppingFirst: begin(rest))
      case .head(var reader):
        phase = .between
        switch reader.consume(rest) {
        case .needMore:
          phase = .head(reader)
          return
        case .tooLarge: fault = .largeHead
        case .head(let head, let used):
          rest = rest.extracting(droppingFirst: used)
          take(head, tell)
        }
      case .body(let message, var reader):
        phase = .between
        switch reader.consume(rest) {
        case .needMore:
          phase = .body(message, reader)
          if reader.missing > 0 { fault = .largeBody }
          return
        case .complete(let used):
          rest = rest.extracting(droppingFirst: used)
          finish(message, reader, tell)
        case .malformed: fault = .badChunk
        }
      }
    }
  }

  /// Begins a message, in front of which may be an empty line (RFC 9112 section 2.2).
  /// - Parameter bytes: What comes.
  /// - Returns: How many bytes of it are none of the message.
  private mutating func begin(_ bytes: RawSpan) -> Int {
    let first = bytes.withUnsafeBytes(\.first)
    guard first != 0x0D, first != 0x0A else { return 1 }
    switch HTTPStart(bytes) {
    case .request where sender == .client, .response where sender == .server, .maybe:
      hasBegun = true
      phase = .head(HTTPHeadReader())
    case .request, .response, .no: fault = .noHTTP
    }
    return 0
  }

  private mutating func take(_ head: HTTPHead, _ tell: (Heard) -> Void) {
    guard let message = HTTPMessage(head), (message.status == nil) == (sender == .client) else {
      return fault = .noHTTP
    }
    guard message.httpVersion.hasPrefix("HTTP/1.") else { return fault = .laterVersion }
    let method = sender == .client ? nil : methods.first
    let status = message.status ?? 0
    guard status != 101, method != "CONNECT" || !(200..<300).contains(status) else {
      return fault = .otherProtocol
    }
    let framing = HTTPFraming(message, answering: method)
    guard framing != .contradictory else { return fault = .badLength }
    if case .length(let count) = framing, count > HTTPStreams.longestBody {
      return fault = .largeBody
    }
    if sender == .server, !message.isInterim { _ = methods.popFirst() }
    let reader = HTTPBodyReader(framing, limit: HTTPStreams.longestBody)
    guard !reader.isComplete else { return finish(message, reader, tell) }
    if message.head.list("Expect").contains(where: { $0.lowercased() == "100-continue" }) {
      tell(.awaitsLeave)
    }
    phase = .body(message, reader)
  }

  private mutating func finish(
    _ message: HTTPMessage, _ reader: HTTPBodyReader, _ tell: (Heard) -> Void
  ) {
    guard reader.missing == 0 else { return fault = .largeBody }
    // Behind it comes the one that counts.
    if message.isInterim { return }
    var message = message
    message.body = reader.body
    if !message.codings.isEmpty, !message.body.isEmpty,
      let decoded = HTTPContent.decoded(
        message.body, message.codings, limit: HTTPStreams.longestBody)
    {
      message.body = decoded
      message.isDecoded = true
    }
    tell(.message(message))
  }

  /// Takes the end of the connection, which may be that of a body.
  /// - Parameter tell: Takes what ends with it.
  mutating func end(_ tell: (Heard) -> Void) {
    guard case .body(let message, var reader) = phase, reader.endsWithConnection else { return }
    phase = .between
    reader.end()
    finish(message, reader, tell)
  }
}
