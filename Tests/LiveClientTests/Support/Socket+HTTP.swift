import Foundation

/// As much of HTTP/1.1 as a server of the tests needs: one request for each connection.
extension Socket {
  /// Reads a request: its first line, and the body if its length is told.
  func readHTTPRequest() -> (line: String, body: [UInt8]) {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]), let byte = read(1).first {
      head.append(byte)
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    let length =
      lines.first { $0.lowercased().hasPrefix("content-length:") }
      .flatMap { $0.split(separator: " ").last.flatMap { Int($0) } } ?? 0
    return (lines.first ?? "", read(length))
  }

  /// Writes an answer; one to HEAD has no body.
  func writeHTTPAnswer(_ body: [UInt8], status: String = "200 OK", isHead: Bool = false) {
    let head =
      "HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    write([UInt8](head.utf8) + (isHead ? [] : body))
  }
}

extension ScriptedServer {
  /// A server of HTTP.
  /// - Parameter answer: Returns the body of the answer to a request, from its first line and its body.
  /// - Throws: `Child.Failure` when the system is out of sockets.
  convenience init(answering answer: @escaping @Sendable (String, String) -> String) throws {
    try self.init { socket in
      let (line, body) = socket.readHTTPRequest()
      socket.writeHTTPAnswer(Array(answer(line, String(decoding: body, as: UTF8.self)).utf8))
    }
  }
}
