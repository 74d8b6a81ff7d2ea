import RepriseCore

/// What a device asks for; both forms of the envelope have what is needed in the same place.
struct CloudRequest {
  let device: CloudDevice
  /// The short topic, such as `/account/bind`.
  let path: String
  /// The identifier as it came, a string or a number.
  let id: JSONValue
  let params: JSONValue?

  /// Reads a request; nil when the message is none that could be answered.
  init?(_ message: Message) {
    guard let (device, path) = Self.place(message.topic),
      let envelope = CloudEnvelope(parsing: message.payload)
    else { return nil }
    self.init(device: device, path: path, id: envelope.id, params: envelope.params)
  }

  /// Creates a request whose parts are known.
  init(device: CloudDevice, path: String, id: JSONValue, params: JSONValue?) {
    self.device = device
    self.path = path
    self.id = id
    self.params = params
  }

  /// The device and the short topic of a full topic; nil for a topic that is not a device's.
  static func place(_ topic: String) -> (CloudDevice, path: String)? {
    let levels = topic.split(separator: "/", maxSplits: 6, omittingEmptySubsequences: false)
    guard levels.count == 7, levels[0].isEmpty, levels[1] == "sys", levels[4] == "app",
      levels[5] == "up", !levels[2].isEmpty, !levels[3].isEmpty, !levels[6].isEmpty
    else { return nil }
    let device = CloudDevice(productKey: String(levels[2]), deviceName: String(levels[3]))
    return (device, "/\(levels[6])")
  }

  /// The text of a parameter; nil when there is none.
  func text(_ key: String) -> String? {
    guard case .object(let members)? = params else { return nil }
    return members.first { $0.key == key }?.value.text
  }
}

/// What an app and a gateway put around what they ask for.
struct CloudEnvelope {
  /// The identifier as it came, a string or a number.
  let id: JSONValue
  let params: JSONValue?

  /// Reads an envelope; nil when it has no identifier that an answer could have.
  init?(parsing payload: [UInt8]) {
    guard let request = JSONValue(parsing: payload), let id = request["id"] else { return nil }
    switch id {
    case .string, .number: break
    case .null, .bool, .array, .object: return nil
    }
    self.id = id
    params = request["params"]
  }
}
