package import Wire

// What differs between two messages of HTTP, whichever end has said them.
extension ReplayComparison {
  /// Compares two requests, or two responses.
  ///
  /// Of their heads there count the method, the target or the status, and what the content is. The asker, the time and the
  /// framing differ from run to run. With ``ReplayMatch/topic`` there count the method, the path and the status.
  /// - Parameters:
  ///   - expected: The recorded one.
  ///   - actual: That of this run.
  package mutating func compare(_ expected: HTTPMessage, _ actual: HTTPMessage) {
    switch (expected.start, actual.start) {
    case (.request(let method, let target), .request(let otherMethod, let otherTarget)):
      compare("method", method, otherMethod)
      compareHTTPTargets(target, otherTarget)
      // What is asked of something else is another question.
      guard differences.isEmpty else { return }
    case (.response(let status, _), .response(let otherStatus, _)):
      compare("status", status, otherStatus)
    case (.request, .response): return noteOther("REQUEST", "RESPONSE")
    case (.response, .request): return noteOther("RESPONSE", "REQUEST")
    }
    if options.match != .topic { compareContentTypes(expected, actual) }
    comparePayloads("body", expected.body, MultipartBody.comparable(actual, with: expected))
  }

  // MARK: Targets

  private mutating func compareHTTPTargets(_ expected: String, _ actual: String) {
    guard options.match != .strict else {
      return compare("target", HTTPTarget.local(expected), HTTPTarget.local(actual))
    }
    let (recorded, performed) = (HTTPTarget(expected), HTTPTarget(actual))
    compare("path", recorded.path, performed.path)
    guard options.match != .topic, differences.isEmpty else { return }
    let (wanted, done) = (recorded.values, performed.values)
    for name in Set(wanted.keys).union(done.keys).sorted() {
      compareParameters(name, wanted[name] ?? [], done[name] ?? [])
    }
  }

  /// Compares the values of a name in two queries, whose names may stand in any order.
  private mutating func compareParameters(
    _ name: String, _ expected: [String], _ actual: [String]
  ) {
    for index in 0..<max(expected.count, actual.count) {
      let recorded = index < expected.count ? expected[index] : nil
      let performed = index < actual.count ? actual[index] : nil
      guard recorded != performed else { continue }
      if let recorded, let performed {
        if RedactionRules.isMark(recorded.utf8) { continue }
        if let role = queryRole(of: name) {
          bind(role, recorded, performed)
          continue
        }
      }
      note("query.\(name)", recorded, performed)
    }
  }

  /// The role of a parameter; what is called `id` names in a query what is asked for, and no request.
  private func queryRole(of name: String) -> String? {
    name.lowercased() == "id" ? nil : options.roles.role(key: name, path: "query.\(name)")
  }

  // MARK: Content

  /// Compares what contents are; that of a message without a body is nothing.
  private mutating func compareContentTypes(_ expected: HTTPMessage, _ actual: HTTPMessage) {
    guard !expected.body.isEmpty, !actual.body.isEmpty,
      let recorded = expected.head.fields(named: "Content-Type").first?.value
    else { return }
    let performed = actual.head.fields(named: "Content-Type").first?.value
    guard options.match != .strict else {
      return compare("contentType", recorded, performed ?? "none")
    }
    compare("contentType", Self.mediaType(recorded), performed.map(Self.mediaType) ?? "none")
  }

  /// The type without its parameters, such as a set of characters (RFC 9110 section 8.3.1).
  private static func mediaType(_ field: String) -> String {
    field.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
  }
}

/// A body of several parts, between which stands a line that its sender has made by chance (RFC 2046 section 5.1.1).
private enum MultipartBody {
  /// A body with the line of another one between its parts.
  static func comparable(_ message: HTTPMessage, with other: HTTPMessage) -> [UInt8] {
    guard let own = boundary(of: message), let wanted = boundary(of: other), own != wanted else {
      return message.body
    }
    return replaced(own, by: wanted, in: message.body)
  }

  private static func boundary(of message: HTTPMessage) -> [UInt8]? {
    guard let type = message.head.fields(named: "Content-Type").first?.value,
      type.lowercased().hasPrefix("multipart/")
    else { return nil }
    for parameter in type.split(separator: ";").dropFirst() {
      let words = parameter.split(separator: "=", maxSplits: 1)
      guard words.first?.lowercased().filter({ $0 != " " }) == "boundary", let value = words.last
      else { continue }
      let text = value.filter { $0 != "\"" && $0 != " " }
      return text.isEmpty ? nil : Array("--\(text)".utf8)
    }
    return nil
  }

  private static func replaced(_ own: [UInt8], by wanted: [UInt8], in body: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = body[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "-")) {
      result += rest[..<start]
      rest = rest[start...]
      if rest.starts(with: own) {
        result += wanted
        rest = rest.dropFirst(own.count)
      } else {
        result.append(UInt8(ascii: "-"))
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }
}
