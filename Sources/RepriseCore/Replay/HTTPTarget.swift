/// What a request over HTTP asks for, in its parts (RFC 9112 section 3.2).
package struct HTTPTarget: Sendable, Hashable {
  /// A part of a query.
  package struct Parameter: Sendable, Hashable {
    /// What stands before the first `=`.
    package let name: String
    /// What stands behind it; nil where there is none.
    package let value: String?
  }

  /// The path as it was written, without scheme and host where the target had them.
  package let path: String
  /// The parts of the query in their order.
  package let parameters: [Parameter]

  /// Takes a target apart.
  /// - Parameter text: The target as it stands in the first line of a request.
  package init(_ text: String) {
    let local = Self.local(text)
    path = String(local.prefix { $0 != "?" })
    parameters = local.dropFirst(path.count + 1).split(separator: "&").map { part in
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return Parameter(
        name: words.first.map(String.init) ?? "", value: words.dropFirst().first.map(String.init))
    }
  }

  /// A target without the scheme and the host that a client writes who asks by way of a proxy.
  /// - Parameter text: The target.
  /// - Returns: The path and the query.
  package static func local(_ text: String) -> String {
    let isAbsolute = text.prefix { $0 != "?" }.contains("://")
    return isAbsolute ? HTTPBase(ofURL: text).rest : text
  }

  /// The values of the parameters by their names, each in its order.
  var values: [String: [String]] {
    parameters.reduce(into: [:]) { $0[$1.name, default: []].append($1.value ?? "") }
  }
}
