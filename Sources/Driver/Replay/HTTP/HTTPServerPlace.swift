package import LiveClient
import Wire

/// What is asked for of a server of HTTP, besides what the session says.
package struct HTTPServerPlace: Sendable, Hashable {
  /// The host, with its port where that is not the usual one.
  let host: String
  /// What stands in front of all paths; empty where nothing does.
  private let base: String
  /// Fields of each request, by their names.
  let headers: [String: String]

  /// Takes it out of a URL.
  /// - Parameters:
  ///   - url: The URL, of HTTP.
  ///   - headers: Fields of each request, by their names.
  package init(_ url: BrokerURL, headers: [String: String] = [:]) {
    let isUsual = url.port == (url.isSecure ? 443 : 80)
    let host = url.host.contains(":") ? "[\(url.host)]" : url.host
    self.host = isUsual ? host : "\(host):\(url.port)"
    let path = (url.path ?? "").prefix { $0 != "?" }
    base = path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    self.headers = headers
  }

  /// What a request asks for there.
  /// - Parameter recorded: What the recorded one asked for: its path and query.
  /// - Returns: The target.
  func target(for recorded: String) -> String {
    recorded.hasPrefix("/") ? base + recorded : recorded
  }
}
