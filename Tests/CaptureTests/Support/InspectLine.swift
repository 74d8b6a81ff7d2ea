import Foundation
import RepriseCore

/// An event as a tool outside reads it: the parsed line of `inspect --format jsonl`.
struct InspectLine {
  let fields: [String: Any]

  init(_ event: Event, showsSecrets: Bool = true) throws {
    var buffer: [UInt8] = []
    event.withView { EventJSONWriter(showsSecrets: showsSecrets).append($0, to: &buffer) }
    let object = try JSONSerialization.jsonObject(with: Data(buffer))
    fields = object as? [String: Any] ?? [:]
  }

  init(json: some DataProtocol) throws {
    let object = try JSONSerialization.jsonObject(with: Data(json))
    fields = object as? [String: Any] ?? [:]
  }

  var type: String { string("type") ?? "" }
  func string(_ key: String) -> String? { fields[key] as? String }
  func int(_ key: String) -> Int? { (fields[key] as? NSNumber)?.intValue }

  /// A payload's bytes, as text or base64.
  static func data(_ value: Any?) -> Data? {
    guard let object = value as? [String: String] else { return nil }
    if let text = object["utf8"] { return Data(text.utf8) }
    return object["base64"].flatMap { Data(base64Encoded: $0) }
  }
}
