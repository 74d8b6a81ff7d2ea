import RepriseCore
import SessionReplay
import Wire

// The heads of recorded messages as another connection gets them: what belongs to one connection, or frames a body, is
// this run's, and what is hidden in a recording is not sent.

extension HTTPMessage {
  /// The names of fields that belong to a connection or to the framing of a body (RFC 9110 section 7.6.1).
  private static let passing: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "proxy-authorization", "transfer-encoding",
    "te", "trailer", "upgrade", "http2-settings", "content-length", "expect",
  ]

  /// The recorded fields that are sent again.
  /// - Parameter names: The names of others that are not, in lower case.
  /// - Returns: The fields, in their order.
  private func lasting(but names: Set<String> = []) -> [HTTPHead.Field] {
    var dropped = Self.passing.union(names)
    if isDecoded { dropped.insert("content-encoding") }
    return head.fields.filter { field in
      !dropped.contains(field.name.lowercased()) && !field.value.contains(RedactionRules.mark)
    }
  }

  /// The field that says how long the body is.
  private var length: HTTPHead.Field { HTTPHead.Field("Content-Length", String(body.count)) }

  // MARK: Requests

  /// A recorded request as it is sent to another server.
  /// - Parameter place: Where to; its fields stand in the place of recorded ones.
  /// - Returns: The request.
  func asked(at place: HTTPServerPlace) -> HTTPMessage {
    guard case .request(let method, let target) = start else { return self }
    let own = Set(place.headers.keys.map { $0.lowercased() })
    var fields = [HTTPHead.Field("Host", place.host)] + lasting(but: own.union(["host"]))
    fields += place.headers.sorted { $0.key < $1.key }.map { HTTPHead.Field($0.key, $0.value) }
    // A method that has a body says so, though it is empty (RFC 9110 section 8.6).
    if !body.isEmpty || ["POST", "PUT", "PATCH"].contains(method) { fields.append(length) }
    let line = "\(method) \(place.target(for: HTTPTarget.local(target))) HTTP/1.1"
    return replacing(HTTPHead(startLine: line, fields: fields))
  }

  /// Whether the connection of a request, or of a response, ends behind the answer (RFC 9112 section 9.3).
  var isLast: Bool {
    let options = head.list("Connection").map { $0.lowercased() }
    return options.contains("close") || isOfOldVersion && !options.contains("keep-alive")
  }

  private var isOfOldVersion: Bool { httpVersion == "HTTP/1.0" }

  // MARK: Answers

  /// A recorded response as another request gets it, with its whole body at once.
  /// - Parameter request: The request.
  /// - Returns: The response.
  func answering(_ request: HTTPMessage) -> HTTPMessage {
    guard case .response(let status, let reason) = start else { return self }
    var fields = lasting()
    switch framedLength(status, request) {
    case .own: fields.append(length)
    // There it is that of the body which is not sent.
    case .recorded: fields += head.fields(named: "Content-Length")
    case .none: break
    }
    if request.isLast {
      fields.append(HTTPHead.Field("Connection", "close"))
    } else if request.isOfOldVersion {
      fields.append(HTTPHead.Field("Connection", "keep-alive"))
    }
    return replacing(HTTPHead(startLine: "HTTP/1.1 \(status) \(reason)", fields: fields))
  }

  private enum FramedLength { case own, recorded, none }

  private func framedLength(_ status: Int, _ request: HTTPMessage) -> FramedLength {
    if case .request("HEAD", _) = request.start { return .recorded }
    switch status {
    case 304: return .recorded
    case 100..<200, 204: return .none
    default: return .own
    }
  }

  /// A response that says why there is none of the session.
  /// - Parameters:
  ///   - status: The status.
  ///   - text: What is said.
  /// - Returns: The response.
  static func refusal(_ status: Int, _ text: String) -> [UInt8] {
    let body = Array("\(text)\n".utf8)
    let head = HTTPHead(
      startLine: "HTTP/1.1 \(status) \(status < 500 ? "Refused" : "Not In The Session")",
      fields: [
        .init("Content-Type", "text/plain; charset=utf-8"),
        .init("Content-Length", String(body.count)), .init("Connection", "close"),
      ])
    return head.bytes + body
  }

}
