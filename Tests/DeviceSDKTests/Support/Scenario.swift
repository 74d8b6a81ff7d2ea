import DataClient
import Foundation

@testable import DeviceSDK

/// A dialogue between application, channel and cloud, as the files in Conformance/sdk/channel say it.
struct Scenario: Sendable {
  struct Step: Sendable {
    /// What is done, with its arguments.
    let fields: JSONValue
    /// The lines that must come of it.
    let expected: [String]
  }

  let name: String
  let clauses: [String]
  let configuration: JSONValue
  let steps: [Step]

  static let folder: URL = {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.appending(path: "Conformance/sdk")
  }()

  static let names: [String] = {
    let path = folder.appending(path: "channel").path
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }()

  static func json(_ path: String) throws -> JSONValue {
    let bytes = Array(try Data(contentsOf: folder.appending(path: path)))
    guard let value = JSONValue(parsing: bytes) else { throw Wrong("\(path) is no JSON") }
    return value
  }

  struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  init(named name: String) throws {
    let value = try Self.json("channel/\(name).json")
    self.name = name
    guard value["name"]?.text == name, value["title"]?.text != nil,
      case .array(let clauses) = value["clauses"], case .array(let steps) = value["steps"]
    else { throw Wrong("\(name) lacks its name, its title, its clauses or its steps") }
    self.clauses = clauses.compactMap(\.text)
    configuration = value["configuration"] ?? [:]
    self.steps = steps.map { Step(fields: $0, expected: $0["expect"]?.texts ?? []) }
  }

  func channelConfiguration() throws -> ChannelConfiguration {
    var result = try SampleChannel.configuration()
    guard case .object(let members) = configuration else { return result }
    for member in members {
      switch (member.key, member.value) {
      case ("replySubscription", "unlessCovered"): result.replySubscription = .unlessCovered
      case ("releasesReplyTopics", .bool(let value)): result.releasesReplyTopics = value
      default: throw Wrong("\(name) has the unknown setting \(member.key)")
      }
    }
    return result
  }
}

extension Scenario.Step {
  /// The call that the step makes, with the name of its outcome; nil when it makes none.
  func call() throws -> (name: String, ChannelStateMachine.Call)? {
    guard let kind = fields["call"]?.text, kind != "statistics" else { return nil }
    return (fields["as"]?.text ?? kind, try call(kind))
  }

  private func call(_ kind: String) throws -> ChannelStateMachine.Call {
    let params = fields["params"] ?? [:]
    switch kind {
    case "start": return .start
    case "stop": return .stop
    case "unbind": return .unbind
    case "login": return .noteLogin
    case "bind": return .bind(token: fields["token"]?.text ?? "")
    case "publish": return .publish(try topic(), params)
    case "subscribe": return .subscribe(try topic())
    case "unsubscribe": return .unsubscribe(try topic())
    case "invoke":
      return .invoke(
        .init(
          try topic(), params: params, options: fields["opts"],
          timeout: fields["timeout"]?.integer.map { .seconds($0) }))
    default: throw Scenario.Wrong("there is no call \(kind)")
    }
  }

  private func topic() throws -> ChannelTopic {
    try ChannelTopic(fields["topic"]?.text ?? "")
  }
}

extension JSONValue {
  /// The strings of an array of strings.
  var texts: [String] {
    guard case .array(let values) = self else { return [] }
    return values.compactMap(\.text)
  }
}
