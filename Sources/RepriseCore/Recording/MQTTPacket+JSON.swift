package import Wire

extension MQTTPacket {
  /// Builds a packet of the fields that a recording's line has of one.
  /// - Parameters:
  ///   - json: An object with `type` and the fields of that type; others are ignored.
  ///   - version: The version to encode it by; what it has not, such as properties before 5.0, is left out.
  /// - Throws: ``RecordingError`` for a field that is missing or has a value that there is not.
  package init(json: JSONValue, version: MQTTVersion) throws(RecordingError) {
    guard case .object(let members) = json else {
      throw RecordingError(
        .wrongValue, "a packet is an object", line: 1, remedy: "write {\"type\":…}")
    }
    let fields = RecordingFields(members, line: 1)
    guard let type = MQTTPacketType(name: try fields.string("type")) else {
      throw fields.wrong("type", "names no packet of MQTT")
    }
    try self.init(fields, type: type, version: version)
  }
}

extension MQTTPacketType {
  /// The type that the standard gives a name, in capitals.
  /// - Parameter text: The name, such as `PUBLISH`.
  package init?(named text: String) { self.init(name: text) }
}
