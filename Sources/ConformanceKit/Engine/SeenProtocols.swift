internal import RepriseCore
internal import Wire

/// What the input speaks, to say why a standard was not judged.
struct SeenProtocols: Sendable {
  private(set) var counts: [(wire: WireProtocol, connections: Int)] = []

  mutating func add(_ wire: WireProtocol) {
    if let index = counts.firstIndex(where: { $0.wire == wire }) {
      counts[index].connections += 1
    } else {
      counts.append((wire, 1))
    }
  }

  /// What a standard is about, if the input has nothing of it.
  func missing(for spec: String) -> String? {
    let isThere = counts.contains {
      spec == "rfc6455" ? $0.wire == .webSocket : $0.wire.version?.spec == spec
    }
    guard !isThere else { return nil }
    return spec == "rfc6455" ? "WebSocket" : "MQTT \(spec.drop { $0 != "-" }.dropFirst())"
  }

  /// What there was, for a reader.
  var description: String {
    guard !counts.isEmpty else { return "nothing that is decoded" }
    return counts.map { entry in
      let name = entry.wire.isCertain ? "\(entry.wire.name)" : "MQTT of a version that is not named"
      return "\(name) on \(entry.connections) connection\(entry.connections == 1 ? "" : "s")"
    }.joined(separator: ", ")
  }
}
