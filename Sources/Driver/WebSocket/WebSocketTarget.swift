package import LiveClient

/// What a request for WebSocket asks for.
package struct WebSocketTarget: Sendable, Hashable {
  /// The path, with its query.
  var path: String
  /// The host, with its port where that is not the usual one.
  var host: String
  /// Other fields of the request, by their names.
  var headers: [String: String]

  /// What stands for a target that nobody has named.
  static let unnamed = WebSocketTarget(path: "/", host: "HOST", headers: [:])

  init(path: String, host: String, headers: [String: String]) {
    (self.path, self.host, self.headers) = (path, host, headers)
  }

  /// Reads what a URL asks for; nil where it is none of WebSocket.
  /// - Parameters:
  ///   - url: The URL.
  ///   - headers: Other fields of the request, by their names.
  package init?(_ url: BrokerURL, headers: [String: String] = [:]) {
    guard let path = url.path else { return nil }
    let isUsual = url.port == (url.isSecure ? 443 : 80)
    let host = url.host.contains(":") ? "[\(url.host)]" : url.host
    self.init(path: path, host: isUsual ? host : "\(host):\(url.port)", headers: headers)
  }
}
