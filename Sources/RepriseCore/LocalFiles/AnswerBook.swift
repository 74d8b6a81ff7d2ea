import Wire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// All answers of a folder, checked as a whole when they are read.
struct AnswerBook: Sendable {
  /// An answer to requests of one path.
  struct Response: Sendable {
    let file: String
    let method: String?
    let parameters: [String: String]
    let message: ResponseMessage
    let delay: Duration
  }

  /// What a folder says of a SUBSCRIBE.
  struct Subscribing: Sendable {
    let filter: String
    let isRefused: Bool
    let qos: QoS
    let messages: [AnswerTemplate]
  }

  /// What a folder says of a PUBLISH.
  struct Publishing: Sendable {
    let filter: String
    /// The reason code by which a message above QoS 0 is refused; nil takes it.
    let refusal: UInt8?
    let answers: [AnswerTemplate]
  }

  /// The code of the CONNACK that refuses; nil accepts.
  private(set) var refusal: UInt8?
  private(set) var isSessionPresent = false
  private(set) var connectDelay = Duration.zero
  private(set) var subscribing: [Subscribing] = []
  private(set) var publishing: [Publishing] = []
  /// What a folder says of messages without topics; nil when it knows none.
  private(set) var frames: FrameAnswers?
  /// Whether the folder says anything of topics.
  private(set) var hasTopics = false
  /// The answers by path, without slashes at its ends.
  private(set) var responses: [String: [Response]] = [:]

  /// What the user of the folder can do; what is not written about frames or topics is not there.
  var capabilities: Capabilities {
    let mqtt: Capabilities = [.messages, .retain, .will, .exactlyOnce, .properties]
    var all: Capabilities = [.requests, .push, .binary]
    if frames != nil { all.insert(.frames) }
    if hasTopics || frames == nil { all.formUnion(mqtt) }
    return refusesMessages ? all.union(.refusals) : all
  }

  /// Whether any message is refused.
  var refusesMessages: Bool { publishing.contains { $0.refusal != nil } }

  /// The name of the file about topics.
  static let topics = "topics.json"
  /// The name of the file about requests that need more than a body.
  static let requests = "requests.json"
  /// The name of the file about messages without topics.
  static let messages = "frames.json"

  /// Reads a folder.
  init(folder: String) throws(DataClientError) {
    var files: [String: [UInt8]] = [:]
    for name in try Self.names(in: folder) { files[name] = try Self.read(name, in: folder) }
    try self.init(files: files)
  }

  /// Takes files by their names relative to the folder.
  init(files: [String: [UInt8]]) throws(DataClientError) {
    var values: [String: JSONValue] = [:]
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      values[name] = try Self.parse(bytes, name)
    }
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      guard ![Self.topics, Self.requests, Self.messages].contains(name) else { continue }
      try add(
        Response(
          file: name, method: nil, parameters: [:], message: ResponseMessage(body: bytes),
          delay: .zero),
        path: Self.path(ofFile: name))
    }
    if let value = values[Self.requests] { try readRequests(value, files) }
    if let value = values[Self.topics] { try readTopics(value) }
    if let value = values[Self.messages] { frames = try FrameAnswers(value) }
    hasTopics = values[Self.topics] != nil
  }

  // MARK: Files

  private static func names(in folder: String) throws(DataClientError) -> [String] {
    guard let all = try? FileManager.default.subpathsOfDirectory(atPath: folder) else {
      throw DataClientError(
        .unreadable, "\(folder): no such folder, or it can't be read; name a folder of answers")
    }
    return all.filter { $0.hasSuffix(".json") }.sorted()
  }

  private static func read(_ name: String, in folder: String) throws(DataClientError) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
      throw DataClientError(.unreadable, "\(name): the file can't be read")
    }
    return [UInt8](data)
  }

  private static func parse(_ bytes: [UInt8], _ name: String) throws(DataClientError) -> JSONValue {
    do {
      return try JSONParser.parse(bytes.span.bytes)
    } catch {
      let before = bytes.prefix(error.offset)
      let line = before.count { $0 == 0x0A } + 1
      let column = before.reversed().prefix { $0 != 0x0A }.count + 1
      throw DataClientError(
        .unreadable, "\(name): \(error.message) (line \(line), column \(column))")
    }
  }

  /// The path of requests that a file answers: `a/response.json` and `a.json` both answer `a`.
  static func path(ofFile name: String) -> String {
    let stem = name.dropLast(".json".count)
    if stem == "response" { return "" }
    return String(stem.hasSuffix("/response") ? stem.dropLast("/response".count) : stem)
  }

  /// A path without slashes at its ends, so that `suggestion/` is `suggestion`.
  static func normalized(_ path: String) -> String {
    path.split(separator: "/").joined(separator: "/")
  }

  private mutating func add(_ response: Response, path: String) throws(DataClientError) {
    let others = responses[path] ?? []
    if let other = others.first(where: {
      $0.method == response.method && $0.parameters == response.parameters
    }) {
      throw DataClientError(
        .unreadable,
        "\(response.file): answers requests of the path \"\(path)\", as \(other.file) does; keep one"
      )
    }
    responses[path] = others + [response]
  }

  // MARK: Requests

  private mutating func readRequests(
    _ value: JSONValue, _ files: [String: [UInt8]]
  ) throws(DataClientError) {
    let root = try AnswerFields(value, file: Self.requests, keys: ["requests"])
    let keys = ["path", "method", "parameters", "status", "body", "file", "after"]
    for fields in try root.objects("requests", keys: keys) {
      var body: [UInt8] = []
      if let file = try fields.text("file") {
        guard let bytes = files[file] else {
          throw fields.error("file", "names no .json file here")
        }
        body = bytes
      } else {
        fields["body"]?.append(to: &body)
      }
      let status = try fields.integer("status", in: 100...599) ?? 200
      let response = Response(
        file: "\(Self.requests): \(fields.path)",
        method: try fields.text("method")?.uppercased(),
        parameters: try Self.parameters(fields),
        message: ResponseMessage(status: status, body: body),
        delay: try fields.seconds("after") ?? .zero)
      try add(response, path: Self.normalized(try fields.requiredText("path")))
    }
  }

  private static func parameters(_ fields: AnswerFields) throws(DataClientError) -> [String: String]
  {
    var result: [String: String] = [:]
    for member in try fields.members("parameters") {
      guard let text = member.value.scalarText else {
        throw fields.error("parameters.\(member.key)", "is \(member.value.kindName), not a string")
      }
      result[member.key] = text
    }
    return result
  }

  /// Returns the answer to a request: of those that fit, the one that asks for most.
  func response(to request: RequestMessage) -> Response? {
    let method = request.method.uppercased()
    let texts = request.texts
    let fitting = (responses[Self.normalized(request.path)] ?? []).filter { response in
      response.method ?? method == method
        && response.parameters.allSatisfy { texts[$0.key] == $0.value }
    }
    return fitting.max { first, second in first.precision < second.precision }
  }

  // MARK: Topics

  private mutating func readTopics(_ value: JSONValue) throws(DataClientError) {
    let root = try AnswerFields(
      value, file: Self.topics, keys: ["connect", "subscribe", "publish"])
    if let connect = try root.object("connect", keys: ["refuse", "sessionPresent", "after"]) {
      refusal = try connect.integer("refuse", in: 1...255)
        .map(UInt8.init(truncatingIfNeeded:))
      isSessionPresent = try connect.flag("sessionPresent") ?? false
      connectDelay = try connect.seconds("after") ?? .zero
    }
    for fields in try root.objects("subscribe", keys: ["filter", "refuse", "qos", "messages"]) {
      subscribing.append(
        Subscribing(
          filter: try Self.filter("filter", fields), isRefused: try fields.flag("refuse") ?? false,
          qos: try fields.qos() ?? .exactlyOnce,
          messages: try Self.templates("messages", fields)))
    }
    for fields in try root.objects("publish", keys: ["topic", "refuse", "answers"]) {
      let refusal = try fields.integer("refuse", in: 0x80...0xFF)
      guard refusal != nil || fields["answers"] != nil else {
        throw fields.error("answers", "is missing; [] says that nothing is answered")
      }
      guard refusal == nil || fields["answers"] == nil else {
        throw fields.error("answers", "stands beside refuse; what is refused is not answered")
      }
      publishing.append(
        Publishing(
          filter: try Self.filter("topic", fields),
          refusal: refusal.map(UInt8.init(truncatingIfNeeded:)),
          answers: try Self.templates("answers", fields)))
    }
  }

  private static func filter(
    _ key: String, _ fields: AnswerFields
  ) throws(DataClientError) -> String {
    let filter = try fields.requiredText(key)
    let bytes = Array(filter.utf8)
    guard !bytes.isEmpty, MQTTTopicFilter.misplacedWildcards(in: bytes.span.bytes).isEmpty else {
      throw fields.error(key, "is no topic filter of MQTT")
    }
    return filter
  }

  private static func templates(
    _ key: String, _ fields: AnswerFields
  ) throws(DataClientError) -> [AnswerTemplate] {
    var result: [AnswerTemplate] = []
    for fields in try fields.objects(key, keys: AnswerTemplate.keys) {
      result.append(try AnswerTemplate(fields))
    }
    return result
  }
}

extension AnswerBook.Response {
  /// How much a request has to have to fit.
  fileprivate var precision: Int { parameters.count * 2 + (method == nil ? 0 : 1) }
}
