extension EventJSONWriter {
  /// Appends what a line has of TLS from the type on.
  func append(_ part: TLSPart, to buffer: inout [UInt8]) {
    switch part {
    case .handshake(let hellos):
      buffer.append("TLS\",\"client\":")
      buffer.append(quoted: hellos.client)
      Self.append("server", hellos.server, to: &buffer)
      Self.append("version", hellos.version, to: &buffer)
      Self.append("cipherSuite", hellos.cipherSuite, to: &buffer)
      Self.append("serverName", hellos.serverName, to: &buffer)
      if !hellos.protocols.isEmpty {
        buffer.append(",\"offers\":[")
        for (index, name) in hellos.protocols.enumerated() {
          if index > 0 { buffer.append(",") }
          buffer.append(quoted: name)
        }
        buffer.append("]")
      }
      Self.append("chosen", hellos.chosenProtocol, to: &buffer)
      Self.append("obstacle", hellos.obstacle, to: &buffer)
      Self.append("remedy", hellos.remedy, to: &buffer)
    case .alert(let alert):
      buffer.append("ALERT\",\"level\":\"")
      buffer.append(contentsOf: (alert.isFatal ? "fatal" : "warning").utf8)
      buffer.append("\",\"code\":")
      buffer.append(decimal: Int(alert.code))
      Self.append("name", alert.name, to: &buffer)
      Self.append("meaning", alert.meaning, to: &buffer)
    }
  }

  private static func append(_ key: StaticString, _ value: String?, to buffer: inout [UInt8]) {
    guard let value else { return }
    buffer.append(",\"")
    buffer.append(key)
    buffer.append("\":")
    buffer.append(quoted: value)
  }
}

extension TLSPart {
  /// Reads a part from the fields of a recording's line; nil if its type is none of TLS.
  init?(_ fields: RecordingFields, type: String) throws(RecordingError) {
    switch type {
    case "TLS":
      self = .handshake(
        TLSHellos(
          client: try fields.string("client"), server: try fields.string("server"),
          version: try fields.optionalString("version"),
          cipherSuite: try fields.optionalString("cipherSuite"),
          serverName: try fields.optionalString("serverName"),
          protocols: fields.value("offers") == nil ? [] : try fields.strings("offers"),
          chosenProtocol: try fields.optionalString("chosen"),
          obstacle: try fields.optionalString("obstacle"),
          remedy: try fields.optionalString("remedy")))
    case "ALERT":
      let level = try fields.string("level")
      guard ["fatal", "warning"].contains(level) else {
        throw fields.wrong("level", "is neither \"fatal\" nor \"warning\"")
      }
      self = .alert(TLSAlert(isFatal: level == "fatal", code: try fields.byte("code")))
    default: return nil
    }
  }
}

extension EventTextWriter {
  /// Appends what matters to a reader.
  mutating func appendFields(_ part: TLSPart, to buffer: inout [UInt8]) {
    switch part {
    case .handshake(let hellos):
      let chosen = hellos.chosenProtocol.map { "alpn \($0)" }
      let offers =
        hellos.protocols.isEmpty ? nil : "alpn \(hellos.protocols.joined(separator: ","))"
      let ends = hellos.obstacle == nil ? nil : "\(hellos.client) → \(hellos.server)"
      let parts = [
        ends, hellos.version, hellos.cipherSuite, hellos.serverName, chosen ?? offers,
        hellos.obstacle.map { text in text + (hellos.remedy.map { "; \($0)" } ?? "") },
      ]
      buffer.appendShown(parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "  "))
    case .alert(let alert):
      let name = alert.name ?? "alert \(alert.code)"
      buffer.appendShown("\(name)  \(alert.isFatal ? "fatal" : "warning")  \(alert.meaning)")
    }
  }
}
