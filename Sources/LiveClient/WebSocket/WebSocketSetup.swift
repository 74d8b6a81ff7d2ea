import DataClient
import Foundation

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
    for name in options.subprotocols where !Self.isToken(name) {
      throw DataClientError(.invalidAction, "The subprotocol \"\(name)\" is no token.")
    }
    var headers: [(String, String)] = []
    for (name, value) in options.headers.sorted(by: { $0.key < $1.key }) {
      guard Self.isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }) else {
        throw DataClientError(.invalidAction, "The header \"\(name)\" can't be sent.")
      }
      headers.append((name.lowercased() + ":", value))
    }
    if let userInfo = url.userInfo {
      let credentials = userInfo.removingPercentEncoding ?? userInfo
      headers.append(("authorization:", "Basic " + Data(credentials.utf8).base64EncodedString()))
    }
    self.url = url
    self.options = options
    self.tls = tls
    self.headers = headers
  }

  /// Whether a text is a token (RFC 9110 section 5.6.2).
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
