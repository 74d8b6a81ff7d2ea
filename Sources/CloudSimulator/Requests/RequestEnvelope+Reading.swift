package import RepriseCore

extension RequestEnvelope {
  /// Reads the names from a file that has them alone, or from a script that has them as its `envelope`.
  /// - Parameter json: The file.
  /// - Throws: ``SimulatorError`` that names the key, or the line and the column where it is no JSON.
  package init(parsing json: [UInt8]) throws(SimulatorError) {
    let value = try ScriptFields.read(json, "the envelope")
    if value["envelope"] != nil {
      self = try RequestScript(value).envelope
    } else {
      try self.init(value, path: "")
    }
  }

  /// Reads the names; those that are left out are those of the model.
  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    self.init()
    let parts: [(key: String, place: WritableKeyPath<Self, String>)] = [
      ("id", \.id), ("service", \.service), ("method", \.method), ("product", \.product),
      ("content", \.content), ("error", \.error), ("errorCode", \.errorCode),
      ("errorMessage", \.errorMessage), ("heartbeat", \.heartbeat),
    ]
    let fields = try ScriptFields(
      value, path: path, keys: parts.map(\.key) + ["contentAsText"], whole: "the envelope")
    for part in parts {
      guard let name = try fields.text(part.key) else { continue }
      guard !name.isEmpty else { throw fields.error(part.key, "must not be empty") }
      self[keyPath: part.place] = name
    }
    if let isText = try fields.flag("contentAsText") { writesContentAsText = isText }
    if let clash { throw fields.error(clash.part, clash.message) }
  }
}
