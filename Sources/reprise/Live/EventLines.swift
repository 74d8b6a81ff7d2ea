import RepriseCore
import Synchronization
import Wire

/// Shows events in lines for people while they happen.
final class EventLines: Sendable {
  private let output: OutputFile
  private let writer: Mutex<EventTextWriter>
  /// Enough for a request with its envelope.
  private static let payloadLimit = 1_000

  init(_ output: OutputFile, usesColor: Bool, showsSecrets: Bool) {
    self.output = output
    writer = Mutex(
      EventTextWriter(
        usesColor: usesColor, showsSecrets: showsSecrets, payloadLimit: Self.payloadLimit))
  }

  /// Shows an event, unless it only says that a message has arrived.
  /// - Throws: ``OutputError``.
  func take(_ event: Event) throws {
    var line: [UInt8] = []
    let isShown = writer.withLock { writer in
      event.withView { view in
        if case .mqtt(let packet) = view.body, Self.isAcknowledgement(packet.type) { return false }
        writer.append(view, to: &line)
        return true
      }
    }
    guard isShown else { return }
    line.append(UInt8(ascii: "\n"))
    try output.write(line.span.bytes)
  }

  private static func isAcknowledgement(_ type: MQTTPacketType) -> Bool {
    switch type {
    case .puback, .pubrec, .pubrel, .pubcomp: true
    default: false
    }
  }
}
