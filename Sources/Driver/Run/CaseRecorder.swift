import Capture
import RepriseCore

/// Keeps what passes between a case and its subject as a pcapng file in memory.
///
/// What a case says is bounded by its time and its steps; a subject that says far more is cut off at the limit.
final class CaseRecorder {
  private final class Sink: ByteSink {
    var bytes: [UInt8] = []

    func write(_ bytes: RawSpan) { bytes.withUnsafeBytes { self.bytes.append(contentsOf: $0) } }
  }

  private let sink = Sink()
  private var recorder: StreamRecorder?
  /// Where this is, beside the ends of the connections.
  private let vantage: SyntheticTCP.Vantage

  /// The most bytes of a recording.
  static let limit = 32 << 20

  /// Begins a recording.
  /// - Parameters:
  ///   - plan: The case.
  ///   - subject: What is driven, for people.
  ///   - application: What writes it, with its version.
  ///   - time: The time.
  init(of plan: CasePlan, _ subject: String, by application: String, at time: Timestamp) {
    var rotation = PcapngFiles.Rotation()
    rotation.limit = Self.limit
    let kind = plan.driven.kind
    vantage = kind == .broker ? .client : .nowhere
    let comments =
      ["case \(plan.name): \(plan.driven.title)", subject]
      + (plan.shownValues.isEmpty ? [] : [plan.shownValues])
    let beginning = PcapngFiles.Beginning(application: application, comments: comments) { writer in
      writer.addInterface(.raw, name: "driver", description: "reprise conform \(kind.rawValue)")
    }
    // Memory takes all that is written.
    recorder = try? StreamRecorder(to: sink, beginning, rotation: rotation, at: time)
  }

  /// Whether there is no room for more.
  var isFull: Bool { recorder?.isFull ?? true }

  func open(_ connection: Int, from client: Endpoint, to server: Endpoint, at time: Timestamp) {
    recorder?.open(
      connection, from: client, to: server,
      seenFrom: client.isOnOneHost(with: server) ? .everywhere : vantage, comments: [], at: time)
  }

  func note(_ connection: Int, _ comment: String) { recorder?.note(connection, comment) }

  func send(_ connection: Int, from sender: Peer, _ bytes: ArraySlice<UInt8>, at time: Timestamp) {
    recorder?.send(connection, from: sender, Array(bytes).span.bytes, at: time)
  }

  func end(_ connection: Int, by peer: Peer, _ end: StreamRecorder.End, at time: Timestamp) {
    recorder?.end(connection, by: peer, end, at: time)
  }

  /// Ends the recording.
  /// - Returns: The file.
  func finish(_ time: Timestamp) -> [UInt8] {
    try? recorder?.finish(time)
    recorder = nil
    return sink.bytes
  }
}
