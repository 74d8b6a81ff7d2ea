internal import RepriseCore
internal import Wire

/// What the input speaks, to say why a standard was not judged.
struct SeenProtocols: Sendable, Hashable {
  /// A protocol, and how much there is of it.
  struct Entry: Hashable {
    var wire: WireProtocol
    var connections: Int
    /// The file that it was first seen in.
    var file: String
  }

  /// By the first file, and those of one file in the order of ``WireProtocol/reported``: so it is the same however the
  /// files are judged in parts.
  var counts: [Entry] = []
  /// The current file.
  var file = ""

  mutating func add(_ wire: WireProtocol) {
    if let index = counts.firstIndex(where: { $0.wire == wire }) {
      counts[index].connections += 1
    } else {
      let behind = counts.reversed().prefix { entry in
        entry.file == file && entry.wire.reportedPlace > wire.reportedPlace
      }
      counts.insert(
        Entry(wire: wire, connections: 1, file: file), at: counts.count - behind.count)
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

extension WireProtocol {
  /// All protocols by the names that reports have for them.
  static let reported: [(name: String, wire: WireProtocol)] = [
    ("mqtt-3.1", .mqtt(.v3_1)), ("mqtt-3.1.1", .mqtt(.v3_1_1)), ("mqtt-5.0", .mqtt(.v5_0)),
    ("mqtt-3.1 inferred", .mqttInferred(.v3_1)), ("mqtt-3.1.1 inferred", .mqttInferred(.v3_1_1)),
    ("mqtt-5.0 inferred", .mqttInferred(.v5_0)), ("mqtt", .mqttUndetermined),
    ("websocket", .webSocket), ("http", .http), ("tls", .tls),
  ]

  /// Its place among them.
  var reportedPlace: Int {
    Self.reported.firstIndex { $0.wire == self } ?? Self.reported.count
  }

  /// The name in reports, which tells also what is only inferred.
  var reportedName: String { Self.reported.first { $0.wire == self }?.name ?? "mqtt" }
}
