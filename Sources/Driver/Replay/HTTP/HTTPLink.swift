import Glibc
import LiveClient
import RepriseCore
import SessionReplay
import Wire

/// A connection of a replay on which HTTP/1.1 is spoken.
final class HTTPLink {
  private let stream: CaseStream
  private var reader: HTTPMessageReader
  /// When it was begun.
  let begin: Timestamp

  /// Takes a stream.
  /// - Parameters:
  ///   - stream: The stream.
  ///   - now: The time.
  init(_ stream: CaseStream, at now: Timestamp) {
    (self.stream, begin) = (stream, now)
    // A client that has asked all it wants may say so by the end of what it sends (RFC 9293 section 3.6).
    stream.answersBehindEnd = stream.own == .server
    reader = HTTPMessageReader(of: stream.own.other)
  }

  // MARK: Its state

  var phase: CaseStream.Phase { stream.phase }
  var interest: pollfd { stream.interest }
  /// Whether it is over for both ends.
  var isOver: Bool { stream.isOver }
  /// Whether the other end sends nothing more; a server may still answer it.
  var hasEnded: Bool { stream.hasEnded || stream.isOver }
  /// Whether something waits to be sent.
  var hasUnsent: Bool { !stream.isOver && Int32(stream.interest.events) & POLLOUT != 0 }
  /// Whether anything came that may be HTTP.
  var hasBegun: Bool { reader.hasBegun }
  /// What is wrong with what came; nil as long as nothing is.
  var fault: HTTPMessageReader.Fault? { reader.fault }

  // MARK: What is said

  /// Does what the socket is ready for.
  /// - Parameters:
  ///   - events: What `poll` said.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  /// - Returns: The messages that came.
  func receive(_ events: Int16, _ buffer: inout [UInt8], _ now: Timestamp) -> [HTTPMessage] {
    var messages: [HTTPMessage] = []
    let had = hasEnded
    stream.service(events, &buffer, now) { bytes in
      reader.take(bytes) { heard in
        switch heard {
        case .message(let message): messages.append(message)
        case .awaitsLeave: stream.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), now)
        }
      }
    }
    if hasEnded, !had {
      reader.end { if case .message(let message) = $0 { messages.append(message) } }
    }
    return messages
  }

  /// Sends a request.
  /// - Parameters:
  ///   - request: The request.
  ///   - now: The time.
  func ask(_ request: HTTPMessage, _ now: Timestamp) {
    if case .request(let method, _) = request.start { reader.expect(method) }
    send(request.head.bytes + request.body, now)
  }

  /// Sends bytes.
  func send(_ bytes: [UInt8], _ now: Timestamp) { stream.send(bytes, now) }

  // MARK: The end

  /// Ends the connection, behind all that was said.
  func finish(_ now: Timestamp) { stream.finish(now) }

  /// Breaks the connection off.
  func reset(_ now: Timestamp) { stream.reset(now) }

  /// Ends the connection as it was ended.
  func close(_ how: ConnectionClosing.How, _ now: Timestamp) {
    if how == .reset { stream.reset(now) } else { stream.finish(now) }
  }
}
