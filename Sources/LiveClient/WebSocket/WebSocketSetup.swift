import RepriseCore
import Wire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where a WebSocket leads, and how it is opened and closed.
struct WebSocketSetup: Sendable {
  let url: WebSocketURL
  let options: WebSocketOptions
  let tls: TLSOptions
  /// Fields of the opening request besides those of the protocol; the names end with a colon.
  let headers: [(name: String, value: String)]
  /// How long to wait until a Close frame is written.
  var closing = ClosingTime()

  /// How long a server may take for what is written before a Close frame.
  struct ClosingTime: Sendable, Hashable {
    /// How many seconds it may take however little there is.
    var seconds: Int32 = 5
    /// How many bytes a second it has to take at least.
    var rate = 65_536

    /// Tells how long a server may take for what waits.
    /// - Parameter bytes: How many bytes are to be written.
    /// - Returns: The time, in seconds.
    func seconds(behind bytes: Int) -> Int32 {
      let sum = seconds.addingReportingOverflow(Int32(clamping: bytes / max(1, rate)))
      return sum.overflow ? .max : sum.partialValue
    }
  }

  /// Checks what can be checked without a network.
  /// - Throws: ``DataClientError`` that says what is wrong.
  init(
    url: WebSocketURL, options: WebSocketOptions, tls: TLSOptions
  ) throws(DataClientError) {
    if url.isSecure { try tls.check() }
    for name in options.subprotocols where !HTTPText.isToken(name.utf8) {
      throw DataClientError(.invalidAction, "the subprotocol \"\(name)\" is no token")
    }
    var headers: [(String, String)] = []
    for (name, value) in options.headers.sorted(by: { $0.key < $1.key }) {
      guard HTTPText.isToken(name.utf8), !value.utf8.contains(where: HTTPText.isControl) else {
        throw DataClientError(.invalidAction, "the header \"\(name)\" can't be sent")
      }
      headers.append((name.lowercased() + ":", value))
    }
    if let credentials = url.credentials {
      headers.append(("authorization:", "Basic " + Data(credentials).base64EncodedString()))
    }
    self.url = url
    self.options = options
    self.tls = tls
    self.headers = headers
  }
}
