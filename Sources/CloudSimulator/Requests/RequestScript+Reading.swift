public import RepriseCore

extension RequestScript {
  /// Reads a script.
  /// - Parameter json: The script in JSON.
  /// - Throws: ``SimulatorError`` that names the key, or the line and the column where it is no JSON.
  public init(parsing json: [UInt8]) throws(SimulatorError) {
    try self.init(try ScriptFields.read(json))
  }

  /// Reads a script.
  /// - Parameter value: The script, an object.
  /// - Throws: ``SimulatorError`` that names the key.
  public init(_ value: JSONValue) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: "", keys: ["answers", "pushes", "login", "answersHeartbeats", "envelope"])
    self.init(
      login: try fields.text("login"),
      answersHeartbeats: try fields.flag("answersHeartbeats") ?? false)
    if let value = fields["envelope"] {
      envelope = try RequestEnvelope(value, path: fields.name("envelope"))
    }
    for element in try fields.elements("answers") {
      answers.append(try Answer(element.value, path: element.path, in: envelope))
    }
    for element in try fields.elements("pushes") {
      pushes.append(try ScheduledPush(element.value, path: element.path))
    }
  }
}

extension RequestScript.Answer {
  /// The refusal, whose code clients read as a number.
  private static func error(
    _ fields: ScriptFields, _ envelope: RequestEnvelope
  ) throws(SimulatorError) -> JSONValue? {
    guard let error = fields["error"] else { return nil }
    guard error[envelope.errorCode]?.integer != nil else {
      let isOwn = envelope.errorCode != RequestEnvelope().errorCode
      throw fields.error(
        "error",
        "must have a \(envelope.errorCode) that is a whole number"
          + (isOwn ? ", as envelope.errorCode says" : ""))
    }
    return error
  }

  fileprivate init(
    _ value: JSONValue, path: String, in envelope: RequestEnvelope
  ) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path, keys: ["service", "request", "faults", "after", "error", "content"])
    self.init(
      service: try fields.text("service") ?? "*", delay: try fields.seconds("after") ?? .zero,
      error: try Self.error(fields, envelope), content: fields["content"])
    requests = try Self.requests(fields)
    for element in try fields.elements("faults") {
      let names = RequestFault.allCases.map(\.rawValue)
      guard let fault = element.value.text.flatMap(RequestFault.init) else {
        let near = NearestName.find(element.value.text ?? "", in: names)
        let hint =
          near.map { "did you mean \"\($0)\"?" } ?? "known are \(names.joined(separator: ", "))"
        throw ScriptFields.error(element.path, "is no fault; \(hint)")
      }
      faults.append(fault)
    }
  }

  /// One number, or several in an array.
  private static func requests(_ fields: ScriptFields) throws(SimulatorError) -> [Int] {
    guard case .array(let values) = fields["request"] else {
      return try fields.integer("request", in: 1...(.max)).map { [$0] } ?? []
    }
    let numbers = values.compactMap(\.integer).filter { $0 >= 1 }
    guard numbers.count == values.count, !numbers.isEmpty else {
      throw fields.error("request", "must have whole numbers, 1 or more")
    }
    return numbers
  }
}

extension RequestScript.ScheduledPush {
  fileprivate init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path, keys: ["json", "text", "bytes", "after", "every", "times", "on"])
    self.init(
      try Self.push(fields), delay: try fields.seconds("after") ?? .zero,
      interval: try fields.seconds("every", least: 0.001),
      count: try fields.integer("times", in: 1...(.max)), trigger: try fields.text("on"))
    if count ?? 1 > 1, interval == nil { throw fields.error("times", "needs the key every") }
  }

  private static func push(_ fields: ScriptFields) throws(SimulatorError) -> RequestScript.Push {
    let given = ["json", "text", "bytes"].filter { fields[$0] != nil }
    guard given.count == 1, let key = given.first, let value = fields[key] else {
      throw ScriptFields.error(fields.path, "must have one of the keys json, text, bytes")
    }
    if key == "json" { return .text(String(decoding: value.utf8, as: UTF8.self)) }
    if key == "text" { return .text(try fields.requiredText(key)) }
    let bytes = try fields.elements(key).compactMap { UInt8(exactly: $0.value.integer ?? -1) }
    guard bytes.count == (try fields.elements(key).count) else {
      throw fields.error(key, "must have whole numbers, 0 to 255")
    }
    return .binary(bytes)
  }
}
